"""No two different things are printed alike, in any format; what is printed still means the same."""

import itertools
import random
import re

import numpy as np
import pytest

import dalembert as da
from dalembert.closed_forms.algebra.sums import Cosine
from dalembert.closed_forms.printing.documents import printer
from dalembert.closed_forms.printing.names import Names, entry, free_prefix
from dalembert.closed_forms.printing.naming import latex_symbol, look, mathml_symbol
from dalembert.closed_forms.printing.notation import LATEX, MATHML, TEXT

from . import robots

HOSTILE = """c1 s1 c12 c_12 s123 k1 p1 z1 h1 g1 M11 M_11 C_112 c112 Gamma112 Γ112 qd1 qdd1 q1 q_1 Q1 qq1 wx1 vz1 omega_x1 T U Pi Π L
    E M g h tau tau1 τ1 lambda1 lambda_1 λ1 λ_1 x1 x_1 x_{1} X1 alpha \\alpha α cos sin sqrt where abs omicron o ο a-b a_b ab 'a-b'
    е e E_kin E_pot Ω Ω µ μ K K MX1 MX_1 m1 m_1 Ixx1 theta_dot theta theta_ddot I_{xx1} f_{ext} f_ext 50% $x$ #1 a&b ~ ^{} \\
    плечо θ é é ﬁ fi x² x2 ２ x２ c1..2 c1,2 [M]_11 M[1,1] T_tool[1,2] N11 b1 r1 Q1 lambda in def pi e1 1e1 0 _ __ a' a′""".split()
HOSTILE += ["a b", "a  b", "a\u00a0b", "a b ", "x y", "M:1:2", "1/2", "x + y", "x\ny", "\ue000", "c1 s1", 'a"b']


def letters():
    return ["M", "c", "C", "h", "g", "T", r"\Pi", "Y", r"\tau", "L", "E", "p", "b", "r", "Q", "N"]


def things(names, n, symbols):
    """Everything that a document can print, as (thing, text, LaTeX, MathML, look)."""
    found = []
    for name in symbols:
        found.append((("name", name), names.text(name), latex_symbol(names.symbol(name)), mathml_symbol(names.symbol(name)),
                      names.symbol(name).look))
    for letter, count in (("M", 2), ("c", 3), ("C", 2), ("h", 1), ("g", 1), ("T", 0), (r"\Pi", 0), ("L", 0), (r"\tau", 1), ("N", 2)):
        for at in itertools.product(range(1, min(n, 3) + 1), repeat=count):
            label = names.label(letter, *at)
            found.append(((letter, at), names.text_label(letter, *at), latex_symbol(label), mathml_symbol(label), label.look))
    for size in (1, 2, 3) if names.numbers else ():
        for angle in itertools.combinations(names.numbers, size):
            for kind in "cs":
                symbol, text = names.angle(kind, angle)
                found.append(((kind, angle), text, latex_symbol(symbol), mathml_symbol(symbol), symbol.look))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_everything_has_a_print_of_its_own_in_every_format(seed):
    rng = random.Random(seed)
    n = rng.choice((1, 2, 3, 9, 10, 12, 23))
    q = [f"q{k}" for k in range(1, n + 1)] if seed % 3 else rng.sample(HOSTILE, min(n, 12))
    rates = {f"\ue100{dots}{name}": (name, dots) for name in q for dots in (1, 2)}
    others = rng.sample([x for x in HOSTILE if x not in q], rng.choice((1, 5, 20, 60)))
    names = Names(q, rates, others, letters())
    names.tell_from_angles("c", itertools.product(range(1, min(n, 3) + 1), repeat=3))
    prefix = free_prefix("k", [*q, *others], letters())
    parts = [f"{prefix}{k}" for k in range(1, 13)]
    found = things(names, n, [*q, *rates, *others, *parts])
    for column in range(1, 5):
        seen = {}
        for thing in found:
            if column == 1 and thing[0][0] == "name" and thing[0][1] in rates:
                continue                                             # in plain text rates are printed by their own names
            assert seen.setdefault(thing[column], thing[0]) == thing[0], (thing, seen[thing[column]])


@pytest.mark.parametrize("a, b", [("lambda1", "lambda_1"), ("x1", "x_1"), ("x_1", "x_{1}"), ("alpha", r"\alpha"), ("alpha", "α"),
                                  ("K", "\u212a"), ("a", "а"), ("omicron", "o"), ("é", "e\u0301"), ("px2", "p_x2"), ("ﬁ", "fi")])
def test_two_symbols_that_would_look_alike_are_told_apart(a, b):
    names = Names(["q1"], {}, [a, b])
    for written in (names.text, lambda x: latex_symbol(names.symbol(x)), lambda x: mathml_symbol(names.symbol(x)),
                    lambda x: names.symbol(x).look, lambda x: look(names.text(x))):
        assert written(a) != written(b)


def equations_with(symbol, other="b", **options):
    """A double pendulum whose masses have these names."""
    a, b = da.symbols("a b") if symbol is None else (da.symbol(symbol), da.symbol(other))
    return da.equations(da.from_motions("Rz(q1) Tx(2) Rz(q2)", inertia=[(a, (1, 0, 0), (0,) * 6), (b, (1, 0, 0), (0,) * 6)],
                                        gravity=(0, -1, 0)), **options)


def test_a_symbol_that_looks_like_an_angle_has_angles_written_out():
    with da.Graph():
        text = equations_with("c1", "s12").text("gravity_vector", "potential_energy")
        assert "cos(q1)" in text and "sin(q1 + q2)" in text and "(c1 + 2 s12) cos(q1)" in text
        assert not re.search(r"\bc12\b|\bs1\b", text)


def test_a_symbol_that_looks_like_an_entry_has_entries_in_brackets():
    with da.Graph():
        eom = equations_with("M11", "C_112")
        assert "\nM[1,1] = " in eom.text("mass_matrix") and "C[1,1] = " in eom.text("coriolis_matrix")
        assert eom.printed_names.label("M", 1, 1).entry and "[M]" in eom.mathml("mass_matrix").replace("</mo>", "").replace(
            '<mo stretchy="false">', "").replace("<mi>", "").replace("</mi>", "")
        eom = equations_with("T", "U")
        assert eom.text("kinetic_energy").splitlines()[1].startswith("E_kin = ")
        assert eom.text("potential_energy").splitlines()[1].startswith("E_pot = ")


def test_a_symbol_is_never_printed_as_a_rate():
    with da.Graph():
        eom = equations_with("qd1", "theta_dot")
        latex = eom.latex("kinetic_energy")
        assert r"\mathit{qd}_{1}" in latex and r"\theta_{\mathrm{dot}}" in latex and r"\dot{\theta}" not in latex
        assert "qd1" not in eom.velocities and latex.count(r"\dot{") > 3


def test_christoffel_symbols_are_not_cosines():
    text = da.equations(robots.planar(3), "inertial").text("christoffel")
    assert "Gamma123 = " in text and not re.search(r"^c\d", text, re.M) and re.search(r" s23\b", text)
    assert r"\Gamma_{123}" in da.equations(robots.planar(3), "inertial").latex("christoffel")


def test_the_pitch_of_a_screw_is_no_coriolis_force():
    m = da.Mechanism("screw", (da.Body("base"), da.Body("nut", 1, (0, 0, 0), (1, 0, 0, 1, 0, 1)), da.Body("arm", 1, (1, 0, 0), (1, 0, 0, 1, 0, 1))),
                     (da.Joint("thread", da.Helical((0, 0, 1), 0.5), "base", "nut"),
                      da.Joint("hinge", da.Revolute((0, 0, 1)), "nut", "arm", da.Origin((1, 0, 0)))))
    eom = da.equations(m, "geometry")
    assert "h1" in eom.symbols and eom.printed_names.text_label("h", 1) == "h[1]" and "h1" in eom.text("mass_matrix")
    assert latex_symbol(eom.printed_names.label("h", 1)) == "[h]_{1}"


def value(text, point):
    """A formula of the text output as a number; names are looked up, angles by their definition in the legend."""
    spaced = re.sub(r"\^", "**", text)
    tokens = re.findall(r"'[^']*'|[^\W\d][\w.]*(?:\[[\d,]+\])?|\d+\.?\d*(?:e[-+]?\d+)?|\*\*|[-+/(),]|<=?", spaced)
    out, before = [], ""
    for token in tokens:
        word = token[0].isalnum() or token[0] in "'_"
        if before and (word or token == "(") and (before[-1] in ")'_]" or before[-1].isalnum()) and not (
                token == "(" and before in ("cos", "sin", "sqrt")):
            out.append("*")
        out.append(f"point[{token!r}]" if word and not token[0].isdigit() and token not in ("cos", "sin", "sqrt") else token)
        before = token
    return eval("".join(out), {"point": point, "cos": np.cos, "sin": np.sin, "sqrt": np.sqrt})


@pytest.mark.parametrize("names", [("a", "b"), ("c1", "s12"), ("M11", "g1"), ("q1", "qd2"), ("x1", "x_1"), ("cos", "k1"), ("a b", "a-b"), ("U", "T")])
def test_text_read_back_gives_the_numbers(names):
    with da.Graph():
        eom = equations_with(*names)
        q, qd, masses = (0.3, -0.8), (1.1, 0.7), (1.3, 0.6)
        point = {eom.printed_names.text(n): x for n, x in zip((*eom.coordinates, *eom.velocities, *names), (*q, *qd, *masses))}
        for line in eom.legend().splitlines():
            if match := re.fullmatch(r"(\S+) = ((?:cos|sin)\(.*\))", line):
                point[match[1]] = value(match[2], point)
        if eom.printed_names.numbers:
            for kind, f in (("c", np.cos), ("s", np.sin)):
                point |= {f"{kind}1": f(q[0]), f"{kind}2": f(q[1]), f"{kind}12": f(sum(q))}
        plain = da.equations(da.from_motions("Rz(q1) Tx(2) Rz(q2)", inertia=[(1.3, (1, 0, 0), (0,) * 6), (0.6, (1, 0, 0), (0,) * 6)],
                                             gravity=(0, -1, 0)))
        for quantity in ("mass_matrix", "gravity_vector", "coriolis_vector"):
            right = da.evaluate(eom.entries(quantity), dict(zip((*eom.coordinates, *eom.velocities, *names), (*q, *qd, *masses))))
            lines = eom.text(quantity).splitlines()[1:]
            found = [value(line.partition(" = ")[2], point) for line in lines]
            wanted = right[np.triu_indices(2)] if right.ndim == 2 else right
            assert np.allclose(found, wanted, rtol=1e-12), (quantity, lines)
        assert plain.name


def test_twelve_coordinates_tell_one_from_two():
    eom = da.equations(da.planar_chain(12), "all", budget=10**6)
    text, latex, page = eom.text("gravity_vector"), eom.latex("gravity_vector"), eom.mathml("gravity_vector")
    assert "c1..12" in text and "c1_2 " in text and not re.search(r"\bc12\b", text)
    assert r"c_{1\ldots 12}" in latex and "c_{1,2}" in latex and "c_{12}" not in latex
    assert "<mi>1…12</mi>" in page and "<mi>1,2</mi>" in page
    legend = eom.legend()
    assert "c1_2 = cos(q1 + q2)" in legend and "c1..12 = cos(q1 + q2 + q3 +" in legend
    names = eom.printed_names
    assert names.angle("c", ["q12"])[1] == "c12" and names.angle("c", ["q1", "q2"])[1] == "c1_2"


@pytest.mark.parametrize("notation", [TEXT, LATEX, MATHML])
def test_cosines_of_twelve_coordinates_are_all_different(notation):
    q = [f"q{k}" for k in range(1, 13)]
    target = printer(type("", (), {"printed_names": Names(q), "digits": 6}), notation)
    angles = [c for size in range(1, 6) for c in itertools.combinations(q, size)]
    texts = {target.factor(Cosine(kind, tuple((x, 1) for x in angle)), e) for angle in angles for kind in "cs" for e in (1, 2)}
    assert len(texts) == 4 * len(angles)


def test_entries_have_names_that_no_symbol_has():
    with da.Graph():
        eom = equations_with("M:1:2", "c:1:1:2")
        assert entry("M", 1, 2) != "M:1:2" and "'M:1:2'" in eom.text("mass_matrix", "kinetic_energy", "coriolis_vector")


def test_python_source_says_what_it_renamed_and_renames_apart():
    with da.Graph():
        eom = equations_with("a-b", "a b")
        code = {}
        exec(eom.python("mass_matrix"), code)
        assert code["NAMES"] == {"a_b": "a-b", "a_b_2": "a b"} and eom.names("python")["a b"] == "a_b_2"
        wrong = code["mass_matrix"]([0.3, 0.4], a_b=1.3, a_b_2=0.6)
        assert np.allclose(wrong, da.evaluate(eom.mass_matrix, {"q1": 0.3, "q2": 0.4, "a-b": 1.3, "a b": 0.6}), rtol=1e-14)
        assert "NAMES" not in equations_with("a", "b").python()


@pytest.mark.parametrize("names", [("k１", "k1"), ("ｋ1", "p1"), ("K1", "k-1"), ("q", "qd"), ("mass_matrix", "c1"), ("NAMES", "x y")])
def test_python_source_is_right_whatever_the_names(names):
    with da.Graph():
        a, b = map(da.symbol, names)
        links = [(a, (1, 0, 0), (0,) * 6), (b, (1, 0, 0), (0, 0, 0, 0, 0, a + b)), (a + b, (1, 0, 0), (0,) * 6)]
        eom = da.equations(da.from_motions("Rz(q1) Tx(2) Rz(q2) Tx(2) Rz(q3)", inertia=links, gravity=(0, -1, 0)))
        code = {}
        exec(eom.python("mass_matrix", "gravity_vector"), code)
        q = [0.3, -0.8, 0.4]
        numbers = dict(zip(names, (1.3, 0.6)))
        words = {eom.names("python")[n]: x for n, x in numbers.items()}
        point = dict(zip(eom.coordinates, q)) | numbers
        for quantity in ("mass_matrix", "gravity_vector"):
            assert np.allclose(code[quantity](q, **words), da.evaluate(eom.entries(quantity), point), rtol=1e-13)


def test_sympy_symbols_are_identifiers_with_a_map():
    pytest.importorskip("sympy")
    with da.Graph():
        eom = equations_with("a-b", "a_b")
        M = eom.to_sympy("mass_matrix")
        assert {str(s) for s in M.free_symbols} == {"a_b_2", "a_b", "q2"} and eom.names("sympy")["a-b"] == "a_b_2"
        point = {eom.names("sympy")[n]: x for n, x in (("a-b", 1.3), ("a_b", 0.6), ("q2", 0.4))}
        found = np.array(M.subs({s: point[str(s)] for s in M.free_symbols}).tolist(), dtype=float)
        assert np.allclose(found, da.evaluate(eom.mass_matrix, {"q2": 0.4, "a-b": 1.3, "a_b": 0.6}), rtol=1e-14)


def test_names_gives_the_print_of_every_name():
    with da.Graph():
        eom = equations_with("x1", "x_1")
        assert eom.names("latex")["x1"] == "x_{1}" and eom.names("latex")["x_1"] == r"\text{x\_1}"
        assert eom.names()["q1"] == "q1" and "<msub>" in eom.names("mathml")["x1"]
        with pytest.raises(da.UnknownNameError, match="unknown format 'word' .known: text, latex"):
            eom.names("word")
