"""Named parts: what is equal, in whatever form and up to sign, is written once."""

import itertools
import re

import numpy as np
import pytest

import dalembert as da
from dalembert import data
from dalembert.closed_forms.algebra.factored import Parts, factored
from dalembert.closed_forms.algebra.fingerprints import Fingerprints
from dalembert.closed_forms.algebra.sharing import width
from dalembert.closed_forms.algebra.sums import Builder, Sum, factors_in, object_array
from dalembert.closed_forms.printing.names import entry
from dalembert.expr import cos, evaluate, sin, symbols

from . import robots


@pytest.fixture(scope="module")
def panda():
    return da.equations(da.load(data.path("panda")).lock(["panda_finger_joint1"]))


def test_fingerprints_know_equal_functions():
    with da.Graph():
        a, b, q1, q2, x = symbols("a b q1 q2 x")
        equal = [(a - b, -(b - a)), (a * a - b * b, (a - b) * (a + b)), (a * cos(q1)**2 + a * sin(q1)**2, a + 0 * b),
                 (cos(q1 + q2), cos(q1) * cos(q2) - sin(q1) * sin(q2)), (sin(2 * q1), 2 * sin(q1) * cos(q1)),
                 (cos(q1 - 2 * q2), cos(2 * q2 - q1)), (a / (b * x), (a / x) / b), (x**2 * 0.5, x * x / 2),
                 (cos(a * b + q1), cos(a * b) * cos(q1) - sin(a * b) * sin(q1)), (sin(-a * b), -sin(a * b))]
        different = [(a, b), (cos(q1), cos(q2)), (cos(q1), sin(q1)), (da.exp(a), da.exp(b)), (da.sqrt(a), da.exp(a)),
                     (a * 0.1, a * 0.2)]
        prints, (one, other) = Fingerprints(), (a - b, b - a)
        prints.add([one, other, *(x for pair in (*equal, *different) for x in pair)])
        assert all(prints[x] == prints[y] for x, y in equal)
        assert all(prints.key(x) != prints.key(y) for x, y in different)
        assert prints.key(one) == prints.key(other) and prints.sign(one) == -prints.sign(other)


def test_terms_that_cancel_inside_parentheses_are_gone():
    """-Iyy1 + (Izz1 + Iyy1 + Ixx1) - Ixx1 is Izz1, and (A) cos(a)^2 + (A) sin(a)^2 is A."""
    with da.Graph():
        x, y, z, q = symbols("Ixx1 Iyy1 Izz1 q1")
        trace = z + y + x
        A = x * y - z
        outputs = [trace - y - x, A * cos(q)**2 + A * sin(q)**2, (x + z) / 2 - z, trace * q]
        parts, forms = factored(outputs, "p", ["q1"])
        assert [factors_in(f) for f in forms[:2]] == [1, 3] and not parts


def test_parts_are_used_again_up_to_sign_and_on_other_sheets():
    with da.Graph() as graph:
        a, b, c, d, q = symbols("a b c d q1")
        inner, turned = a * a * cos(q) - b * b * c * sin(q), b * b * c * sin(q) - a * a * cos(q)
        parts = Parts("p", ["q1"])
        first = parts.forms([inner * c, inner * d])
        second = parts.forms([turned * c * d, turned + d])
        assert list(parts.definitions) == ["p1"] and list(parts.needed(second)) == ["p1"]
        built = Builder(graph, parts.definitions).array(object_array([*first, *second], (4,)))
        point = dict(zip("abcd", (0.3, 0.7, -1.1, 0.4), strict=True)) | {"q1": 0.8}
        assert evaluate(built, point) == pytest.approx(evaluate([inner * c, inner * d, turned * c * d, turned + d], point))


def test_lines_of_the_panda(panda):
    """106 and 244 lines with lines of at most 170 characters, before links were written in their own axes."""
    lines = panda.text("mass_matrix", "coriolis_vector", "gravity_vector").splitlines()
    assert len(panda.text("mass_matrix").splitlines()) <= 73 and len(lines) <= 187
    assert max(map(len, lines)) <= 115


def test_no_part_of_the_panda_is_written_twice(panda):
    for quantity in ("mass_matrix", "coriolis_vector", "gravity_vector"):
        panda.sheet(quantity)
    values = {name: np.abs(evaluate(x, panda.verifier.point)) for name, x in _expressions(panda).items()}
    keys = [tuple(np.round(v / 10.0**np.floor(np.log10(v)), 9)) for v in values.values()]
    assert len(keys) == len(set(keys))


def _expressions(eom):
    builder = Builder(eom.graph, eom.parts.definitions)
    return {name: builder.expression(form) for name, form in eom.parts.definitions.items()}


def test_each_sheet_has_the_parts_that_it_needs(panda):
    """Also alone: the gravity vector uses parts of the mass matrix."""
    text = panda.text("gravity_vector")
    defined = {line.split(" = ")[0] for line in text.splitlines()[1:]}
    used = {word.strip("()-") for line in text.splitlines()[1:] for word in line.split(" = ")[1].split()}
    assert {x.split("^")[0] for x in used if x.startswith("p")} <= defined
    both = panda.text("mass_matrix", "gravity_vector").splitlines()
    assert len(both) == len(set(both))


@pytest.mark.parametrize("chain", [robots.SCARA, robots.UR5, "Rx(q1) Tx(0.3) Rx(q2) Tz(q3) Ry(q4) Ty(0.1) Rz(q5)"])
def test_coriolis_forces_in_factored_form(chain):
    """Entries are compared with the compiled function when they are made; budget=0 asks for the factored form."""
    eom = da.equations(robots.arm(chain), budget=0)
    assert eom.sheet("coriolis_vector").factored and eom.verified["coriolis_vector"] < 1e-12


def test_sums_that_several_sums_have_in_common_are_parts_up_to_sign_and_factor():
    """p1 = a b^2 + c d stands in three sums, once negative, once times 2 x."""
    with da.Graph() as graph:
        a, b, c, d, x, y = symbols("a b c d x y")
        outputs = [a * b**2 + c * d + x * y, y - a * b**2 - c * d, 2 * x * a * b**2 + x * y + 2 * x * c * d]
        parts, forms = factored(outputs, "p", [])
        assert list(parts) == ["p1"] and parts["p1"] == factored([a * b**2 + c * d], "p", [])[1][0]
        assert [len(form.terms) for form in forms] == [2, 2, 2]
        built = Builder(graph, parts).array(object_array(forms, (3,)))
        point = dict(zip("abcdxy", (0.3, 0.7, -1.1, 0.4, 0.9, -0.2), strict=True))
        assert evaluate(built, point) == pytest.approx(evaluate(outputs, point))


def test_a_sum_that_becomes_another_s_multiple_is_one_term():
    with da.Graph() as graph:
        a, b, c, d, q = symbols("a b c d q")
        S = a * c * d + b * c * d * d
        outputs = [q * (S + q) + (2 * S - 3 * q), S * S, -S, (a + b) * (S - (b + a) * q) + (a + b) * S]
        parts, forms = factored(outputs, "p", [])
        built = Builder(graph, parts).array(object_array(forms, (4,)))
        point = dict(zip("abcdq", (0.3, 0.7, -1.1, 0.4, 0.9), strict=True))
        assert evaluate(built, point) == pytest.approx(evaluate(outputs, point))


def test_no_entry_is_the_name_of_a_part(panda):
    """M33 = p32 stood there, and p32 in other entries: now M33 does; so -h4 in place of p141."""
    text = panda.text("mass_matrix", "coriolis_vector", "gravity_vector")
    lines = dict(line.split(" = ") for line in text.splitlines() if " = " in line)
    assert not any(line.lstrip("-").startswith("p") and line.lstrip("-p").isdigit() for line in lines.values())
    assert lines["M13"].startswith("M33 c2") and len([x for x in lines if x[0] == "M"]) == 28
    defined = set()
    for name, right in lines.items():                            # each name is defined before it is used
        used = set(re.findall(r"\b(?:p|M|h|g)\d+\b", right))
        assert used <= defined, (name, used - defined)
        defined.add(name)


def test_no_two_terms_stand_together_often_enough_for_a_name(panda):
    """A name of 4 characters and a line of its own would not be shorter."""
    panda.text("mass_matrix")
    sheet, together = panda.sheet("mass_matrix"), {}
    forms = [form for _, form in sheet.parts] + [form for at, form in sheet.lines if entry("M", *(k + 1 for k in at)) not in
                                                 dict(sheet.parts)]
    while forms:
        form = forms.pop()
        forms += [f for t in form.terms for f, _ in t.factors if isinstance(f, Sum)]
        for one, other in itertools.combinations(sorted(form.terms, key=str), 2):
            key = one.factors, other.factors, abs(one.number), other.number * (1 if one.number > 0 else -1)
            together.setdefault(key, []).append(width([one, other]))
    for key, widths in together.items():
        assert sum(w - 4 for w in widths) <= widths[0] + 12, (key, widths)


def test_a_sheet_alone_defines_entries_of_others_that_it_uses(panda):
    text = panda.text("coriolis_vector")
    assert set(re.findall(r"\bM\d\d\b", text)) <= {line.split(" = ")[0] for line in text.splitlines()}
    code = {}
    exec(panda.python("mass_matrix", "coriolis_vector"), code)
    q, qd = panda.mechanism.random_state(4)
    assert np.allclose(code["mass_matrix"](q), da.mass_matrix(panda.mechanism, q), atol=1e-12)


def test_numbers_of_springs_have_no_parts():
    """A sum that occurs twice in a stiffness had a part without a name."""
    with da.Graph():
        a, b, c, d = symbols("a b c d")
        S = a * b + c * d + a * d + b * c
        eom = da.equations(da.planar_chain(1).replace({"q1.stiffness": S * (1 + S * S)}))
        eom.text("passive_force", "potential_energy")
        assert max(eom.verified.values()) < 1e-12
