"""Chains of elementary motions: against the stored reference cases, the two ways to write them, and errors."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.model.numbers import Literal
from dalembert.spatial.angles import PiMultiple

REFERENCE = Path(__file__).parents[1] / "data" / "reference"
CASES = {c["name"]: c for c in json.loads((REFERENCE / "elementary_motions.json").read_text())["cases"]}
LAGRANGE = {c["name"]: c for c in json.loads((REFERENCE / "euler_lagrange.json").read_text())["cases"]}
TOLERANCE = 1e-12      # of the largest entry: between our own paths and 50-digit numbers rounded to doubles


def mechanism_of(case):
    chain = [pair for i, joint in enumerate(case["joints"], 1)
             for pair in (*map(tuple, joint["constant"]), (joint["variable"], f"q{i}"))]
    return da.from_motions(chain, [(link["mass"], link["com"], link["inertia_com"]) for link in case["links"]])


def agree(value, reference):
    np.testing.assert_allclose(value, reference, rtol=0, atol=TOLERANCE * max(1, np.abs(reference).max()))


@pytest.mark.parametrize("name", CASES)
def test_reference_chain_has_its_equations_of_motion(name):
    case, lagrange = CASES[name], LAGRANGE[name]
    mechanism, q, qd = mechanism_of(case), case["q"], case["qdot"]
    agree(da.mass_matrix(mechanism, q), case["a0"])
    agree(da.gravity_vector(mechanism, q), case["a2"])
    agree(da.coriolis_vector(mechanism, q, qd), case["a_q"])
    agree(da.coriolis_matrix(mechanism, q, qd), lagrange["C"])
    agree(da.forward_dynamics(mechanism, q, qd, case["Q"]), case["qddot"])
    agree(da.kinetic_energy(mechanism, q, qd), case["kinetic_energy"])
    agree(da.potential_energy(mechanism, q), case["potential_energy"])


@pytest.mark.parametrize("name", CASES)
def test_reference_chain_has_its_placements(name):
    case = CASES[name]
    mechanism = mechanism_of(case)
    for k, B in enumerate(case["B"], 1):
        agree(da.placement(mechanism, case["q"], f"link{k}"), B)


def test_text_and_pairs_and_kinds_say_the_same():
    with da.Graph():
        text = da.from_motions("Tz(0.333) Rz(q1)Rx(-pi/2)\n  Tx ( 2*(l - 1) ) Tz(q2) Ry(0.1)")
        pairs = da.from_motions([("Tz", "0.333"), ("Rz", "q1"), ("Rx", "-pi/2"), ("Tx", 2 * (da.symbol("l") - 1)),
                                 ("Tz", da.symbol("q2")), ("Ry", Literal("0.1"))])
        kinds = da.from_motions([(3, "0.333"), (6, "q1"), (4, -np.pi / 2),
                                 (np.int64(1), "2*(l - 1)"), (3, "q2"), (5, "0.1")])
        assert text == pairs == kinds


def test_constant_motions_become_exact_origins():
    with da.Graph():
        l = da.symbol("l")
        chain = da.from_motions("Tz(0.333) Rz(q1) Rx(-pi/2) Tx(l) Ty(0.2) Rz(q) Tx(0.1) Rz(pi/4) Tx(2)")
        first, second = chain.joints
        assert [j.name for j in chain.joints] == ["q1", "q"] and [b.name for b in chain.bodies] == ["base", "link1", "link2"]
        assert first.origin == da.Origin((0, 0, Literal("0.333"))) and first.origin.xyz[2].text == "0.333"
        assert second.origin == da.Origin((l, 0, Fraction(-1, 5)), (("x", PiMultiple(Fraction(-1, 2))),))
        (tool,) = chain.frames
        assert (tool.name, tool.body) == ("tool", "link2")
        assert tool.origin.xyz == (da.sqrt(da.constant(2)) + Fraction(1, 10), da.sqrt(da.constant(2)), 0)


def test_symbolic_constants_take_values():
    with da.Graph():
        symbolic = da.from_motions("Rz(q1) Tx(l) Ry(b) Rz(q2) Tx(2*l)")
        numbers = da.from_motions("Rz(q1) Tx(0.7) Ry(0.4) Rz(q2) Tx(1.4)")
        T = da.placement(symbolic, [0.3, 0.5], "tool")
        agree(np.array(da.evaluate(T, {"l": 0.7, "b": 0.4}), dtype=float), da.placement(numbers, [0.3, 0.5], "tool"))


def test_none_is_a_massless_body_between_the_motions_of_one_joint():
    chain = da.from_motions("Tz(q1) Rz(q2)", [None, (2, (0.1, 0, 0), (0.01, 0, 0.02, 0, 0, 0.02))])
    assert chain.body("link1").mass == 0
    agree(da.mass_matrix(chain, [0.3, 0.7]), np.diag([2, 0.04]))


@pytest.mark.parametrize(("chain", "message"), [
    ("Rz(q1)\n foo", "line 2, column 2: 'foo' is no motion"),
    ("Rz(q1) Sx(1)", "line 1, column 8: unknown motion 'Sx' (known: Tx, Ty, Tz, Rx, Ry, Rz"),
    ("Rz(q1) Rz(q1)", "line 1, column 8: the coordinate q1 occurs twice"),
    ("Rz(2*q1)", "line 1, column 1, Rz is 2*q1, but q1 is the name of a coordinate. A coordinate stands alone"),
    ("Rz(q1) Tz(1", "the parenthesis after Tz is not closed"),
    ("Rz(q1) Tx(1/0)", "line 1, column 8, Tx: the quotient is not a finite number"),
    ("Rz(q1) Tx()", "an empty text instead of a number"),
    ("Tz(1)", "the chain has no coordinate"),
    ("", "the chain has no coordinate"),
    ([("Rz",)], "motion 1: ('Rz',); expected a pair"),
    ([(7, "q1")], "motion 1: unknown motion 7"),
    ([("Rz", "q1"), ("Tx", True)], "motion 2, Tx is True (bool)"),
    ([("Rz", "q1"), ("Tx", float("nan"))], "motion 2, Tx is nan"),
])
def test_bad_chain_is_an_error_that_says_where(chain, message):
    with pytest.raises(da.ReadError) as caught:
        da.from_motions(chain)
    assert message in str(caught.value)


@pytest.mark.parametrize("chain", [
    "Tx(" * 30_000, "(" * 90_000, "Rx(1)" * 15_000, "Rz(q) " + "x" * 200_000, "Rz('" * 20_000,
], ids=range(5))
def test_hostile_chain_is_refused(chain):
    with pytest.raises(da.ReadError) as caught:
        da.from_motions(chain)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(("inertia", "message"), [
    ([], "inertia has 0 entries, expected 1, one per joint"),
    ([(1, (0, 0, 0))], "inertia of body 'link1' is (1, (0, 0, 0)); expected (mass, com, tensor about the centre of mass)"),
    ([("m +", (0, 0, 0), (0,) * 6)], "mass of body 'link1': a number is missing"),
    ([(1, (0, 0), (0,) * 6)], "com of body 'link1' has 2 entries, expected 3"),
    ([(1, 5, (0,) * 6)], "com of body 'link1' is 5; expected a list"),
    ([(1, (0, 0, 0), (0,) * 5)], "inertia of body 'link1' has 5 entries, expected 6"),
    ([(1, (0, 0, 0), [[1, 2, 0], [3, 1, 0], [0, 0, 1]])], "is not symmetric: entry [1][0] is 3, entry [0][1] is 2"),
])
def test_bad_inertia_is_an_error_that_names_the_body(inertia, message):
    with pytest.raises(da.ReadError) as caught:
        da.from_motions("Rz(q1)", inertia)
    assert message in str(caught.value)
