"""Denavit-Hartenberg tables: against the written-out products of matrices, both conventions, exactness, errors."""

from fractions import Fraction

import numpy as np
import pytest

import dalembert as da
from dalembert.readers.toml import read_toml, write_toml
from dalembert.spatial.angles import PiMultiple

TOLERANCE = 1e-12      # of numbers of size 1: the same products in another order
PUMA = [("0", "pi/2", "0.67183", "0"), ("0.4318", 0, 0, 0), ("0.0203", "-pi/2", "0.15005", 0), (0, "pi/2", "0.4318", 0),
        (0, "-pi/2", 0, 0), (0, 0, 0, 0)]      # Corke and Armstrong-Helouvry (1994), standard convention
MIXED = [da.DHParameters(0.3, 0.4, 0.2, -0.7), da.DHParameters(-0.1, -1.1, 0.5, 0.6, "prismatic"),
         {"a": 0.2, "alpha": 2.0, "theta": 0.25}, (0.15, 0.9, -0.3, 1.2, "revolute"), (0, -0.4, 0.1, 0.3, "prismatic")]
LINKS = [(1 + 0.5 * k, (0.02 * k, -0.03, 0.05), (0.02, 0.001 * k, 0.03, -0.002, 0.0015, 0.04)) for k in range(5)]


def turn(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    T = np.eye(4)
    i, j = {"x": (1, 2), "z": (0, 1)}[axis]
    T[i, i], T[i, j], T[j, i], T[j, j] = c, -s, s, c
    return T


def shift(axis, length):
    T = np.eye(4)
    T["xyz".index(axis), 3] = length
    return T


def standard(a, alpha, d, theta):
    return turn("z", theta) @ shift("z", d) @ shift("x", a) @ turn("x", alpha)


def modified(a, alpha, d, theta):
    return turn("x", alpha) @ shift("x", a) @ turn("z", theta) @ shift("z", d)


def values(row):
    row = da.DHParameters(**row) if isinstance(row, dict) else da.DHParameters(*row)
    return [float(x) for x in row[:4]], row.joint


@pytest.mark.parametrize("convention", [standard, modified])
def test_frames_stand_where_the_product_of_matrices_puts_them(convention):
    arm = da.from_dh(MIXED, convention.__name__)
    q, T = [0.4, -0.2, 1.3, -0.9, 0.35], np.eye(4)
    for k, (row, x) in enumerate(zip(MIXED, q, strict=True), 1):
        (a, alpha, d, theta), joint = values(row)
        T = T @ (convention(a, alpha, d, theta + x) if joint == "revolute" else convention(a, alpha, d + x, theta))
        np.testing.assert_allclose(da.placement(arm, q, f"dh{k}"), T, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_inertia_given_in_the_frames_has_its_kinetic_energy(convention):
    arm = da.from_dh(MIXED, convention, inertia=LINKS)
    q, qd = np.array([0.4, -0.2, 1.3, -0.9, 0.35]), np.array([0.7, -0.3, 0.5, 1.1, -0.8])
    T = 0.0
    for k, (mass, com, (xx, xy, yy, xz, yz, zz)) in enumerate(LINKS, 1):
        J = da.jacobian(arm, q, f"dh{k}", expressed_in="local")           # angular part first, in the frame's axes
        omega, v = np.split(J @ qd, 2)
        v = v + np.cross(omega, com)
        T += 0.5 * mass * v @ v + 0.5 * omega @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ omega
    assert da.kinetic_energy(arm, q, qd) == pytest.approx(T, rel=TOLERANCE)
    assert qd @ da.mass_matrix(arm, q) @ qd / 2 == pytest.approx(T, rel=TOLERANCE)


def test_quarter_turns_leave_exact_numbers():
    arm = da.from_dh(PUMA, inertia=[(1, ("0.1", "0.2", "0.3"), ("0.01", "0.001", "0.02", 0, 0, "0.03"))] * 6)
    numbers = [x for body in arm.bodies for x in (*body.com, *body.inertia)] + [x for j in arm.joints for x in j.origin.xyz]
    assert all(isinstance(x, (int, Fraction)) for x in numbers)
    link = arm.body("link1")                                              # frame dh1 is turned by pi/2 about x
    assert link.com == (Fraction(1, 10), Fraction(-3, 10), Fraction(2, 10))
    assert link.inertia == (Fraction(1, 100), 0, Fraction(3, 100), Fraction(1, 1000), 0, Fraction(2, 100))


def test_table_with_oblique_exact_turns_survives_as_toml():
    with da.Graph():
        rows = [(0, "pi/4", "0.3", 0), ("l", "-pi/3", "0.2", "pi/6"), ("0.4", "pi/12", 0, 0.7)]
        inertia = [(1, ("0.1", 0, "0.2"), (1, 0, 1, 0, 0, 1)), None, (2, (0.1, 0, 0), (1, 2, 3, 4, 5, 6))]
        arm = da.from_dh(rows, inertia=inertia)
        assert read_toml(write_toml(arm)) == arm
        assert arm.body("link1").inertia == (1, 0, 1, 0, 0, 1)             # the same about every axis, exactly


def test_names_and_motions_of_the_table():
    arm = da.from_dh(MIXED, name="mixed")
    assert (arm.name, arm.coordinate_names) == ("mixed", ("q1", "q2", "q3", "q4", "q5"))
    assert [j.type.name for j in arm.joints] == ["revolute", "prismatic", "revolute", "revolute", "prismatic"]
    assert [b.name for b in arm.bodies] == ["base", "link1", "link2", "link3", "link4", "link5"]


def test_floats_of_quarter_turns_are_read_as_such():
    arm = da.from_dh([(0, np.pi / 2, 0, 0), (0, -np.pi / 2, 0, 0)])
    assert arm.joint("q2").origin.rotations == (("x", PiMultiple(Fraction(1, 2))),)


def test_symbols_stay_symbols():
    with da.Graph():
        inertia = [("m1", ("-l1/2", 0, 0), (0, 0, 0, 0, 0, "m1*l1**2/12")), None]
        arm = da.from_dh([("l1", 0, 0, 0), ("l2", 0, 0, 0)], inertia=inertia)
        link = arm.body("link1")
        assert link.mass is da.symbol("m1") and da.evaluate(link.com[0], {"l1": 3}) == 1.5


@pytest.mark.parametrize(("rows", "convention", "message"), [
    ([(0, 0, 0, 0)], "craig", "unknown convention 'craig' (known: standard, modified)"),
    ([], "standard", "the table has no rows"),
    ([(0, 0, 0)], "standard", "row 1 is (0, 0, 0); expected (a, alpha, d, theta)"),
    (["0 0 0 0"], "standard", "row 1 is '0 0 0 0'"),
    ([{"alfa": 0}], "standard", "unknown parameter of row 1: 'alfa' (known: a, alpha, d, theta, joint)."),
    ([{"alfa": 0}], "standard", "Did you mean 'alpha'?"),
    ([(0, 0, 0, 0, "revolut")], "standard", "Did you mean 'revolute'?"),
    ([(0, 0, 0, 0), (0, "pi/", 0, 0)], "standard", "row 2, alpha: a number is missing"),
    ([(0, 0, 0, "q1")], "standard", "row 1, theta is q1, but q1 is the name of a coordinate. It is added to theta"),
    ([(0, 0, float("inf"), 0)], "standard", "row 1, d is inf"),
])
def test_bad_table_is_an_error_that_names_the_row(rows, convention, message):
    with pytest.raises(da.DalembertError) as caught:
        da.from_dh(rows, convention)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["nan", "inf", "-Infinity", "1e999", "0x10", "1_000", "\u0661", "\u22121", "90\u00b0", "None", "1,5"])
def test_no_number_becomes_a_symbol(text):
    """In a row, a motion, an inertia and a TOML file: each is an error that quotes the text."""
    toml = f'''[[body]]
name = "a"
mass = "{text}"'''
    for make in (lambda: da.from_dh([(text, 0, 0, 0)]), lambda: da.from_dh([{"alpha": text}]), lambda: da.from_motions(f"Rz(q1) Tx({text})"),
                 lambda: da.from_motions([("Rz", "q1"), ("Rx", text)]), lambda: da.load(toml),
                 lambda: da.from_dh([(1, 0, 0, 0)], inertia=[(text, (0, 0, 0), (0,) * 6)]),
                 lambda: da.from_dh([(1, 0, 0, 0)], inertia=[(1, (text, 0, 0), (0,) * 6)])):
        with pytest.raises(da.ReadError) as caught:
            make()
        assert text.lstrip("-") in str(caught.value) or "unexpected" in str(caught.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, None, [1], 1j])
def test_no_number_of_python_is_taken(value):
    for make in (lambda: da.from_dh([(value, 0, 0, 0)]), lambda: da.from_motions([("Rz", "q1"), ("Tx", value)])):
        with pytest.raises(da.ReadError, match="expected"):
            make()


# --- fixed rows, base and tool --------------------------------------------------------------------------------------

BENT = [(0.3, 0.4, 0.2, -0.7), (0.1, -0.5, 0.25, 0.9, "fixed"), (-0.1, -1.1, 0.5, 0.6, "prismatic"), (0.2, 0.3, 0.1, 0.2, "fixed")]
BASE = da.Origin((0.1, -0.2, 0.5), (("z", 0.3), ("x", 0.7)))
TOOL = da.Origin((0.05, 0, 0.12), (("y", -0.4),))


def pose(origin):
    T = np.eye(4)
    X = origin.transform(float)
    T[:3, :3], T[:3, 3] = np.array(X.R.matrix(), dtype=float), X.p
    return T


@pytest.mark.parametrize("convention", [standard, modified])
def test_fixed_rows_base_and_tool_are_factors_of_the_product(convention):
    arm = da.from_dh(BENT, convention.__name__, inertia=LINKS[:4], base=BASE, tool=TOOL)
    assert arm.coordinate_names == ("q1", "q2") and [j.name for j in arm.joints] == ["q1", "fixed2", "q2", "fixed4"]
    q, T = [0.4, -0.2], pose(BASE)
    for k, (row, x) in enumerate(zip(BENT, (q[0], None, q[1], None), strict=True), 1):
        (a, alpha, d, theta), joint = values(row)
        T = T @ convention(a, alpha, d + (x if joint == "prismatic" else 0), theta + (x if joint == "revolute" else 0))
        np.testing.assert_allclose(da.placement(arm, q, f"dh{k}"), T, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(da.placement(arm, q, "tool"), T @ pose(TOOL), rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_a_fixed_row_is_the_moving_row_held_at_zero(convention):
    free = da.from_dh([(*row[:4], "revolute" if row[4:] == ("fixed",) else (row[4:] or ("revolute",))[0]) for row in BENT],
                      convention, inertia=LINKS[:4])
    held, fixed = free.lock(["q2", "q4"]), da.from_dh(BENT, convention, inertia=LINKS[:4])
    np.testing.assert_allclose(da.mass_matrix(fixed, [0.4, -0.2]), da.mass_matrix(held, [0.4, -0.2]), rtol=1e-13)
    np.testing.assert_allclose(da.gravity_vector(fixed, [0.4, -0.2]), da.gravity_vector(held, [0.4, -0.2]), rtol=1e-12)


def test_base_and_tool_stay_exact_and_wrong_ones_are_refused():
    l = da.symbol("l")
    arm = da.from_dh([(1, 0, 0, 0)], base=(0, 0, l), tool=(Fraction(1, 3), 0, 0), inertia=LINKS[:1])
    assert arm.number("q1.origin[2]") is l and arm.number("tool.origin[0]") == 1 + Fraction(1, 3)
    with pytest.raises(da.ReadError, match=r"base is \(1, 2\); expected da.Origin\(...\), or 3 lengths"):
        da.from_dh([(1, 0, 0, 0)], base=(1, 2))
    with pytest.raises(da.ReadError, match="tool is 'flange'; expected da.Origin"):
        da.from_dh([(1, 0, 0, 0)], tool="flange")
    with pytest.raises(da.UnknownNameError, match=r"known: revolute, prismatic, fixed"):
        da.from_dh([(1, 0, 0, 0, "fix")])
