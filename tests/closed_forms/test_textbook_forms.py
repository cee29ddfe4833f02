"""Printed forms beside the textbooks', term by term."""

import re
from fractions import Fraction

import pytest

import dalembert as da
from dalembert.closed_forms.algebra.common_numbers import readable_number
from dalembert.closed_forms.algebra.rate_products import with_rate_products
from dalembert.closed_forms.algebra.sums import Name, Sum, Term
from dalembert.closed_forms.printing.names import Names
from dalembert.closed_forms.printing.notation import TEXT, Printer

from . import robots


@pytest.fixture(autouse=True)
def graph():
    with da.Graph():
        yield


def printed(chain, inertia, gravity, *quantities):
    """Lines of some quantities as a dict: left side -> right side."""
    eom = da.equations(da.from_motions(chain, inertia=inertia, gravity=gravity))
    return dict(line.split(" = ") for line in eom.text(*quantities).splitlines() if " = " in line)


def about_z(I):
    return (0, 0, 0, 0, 0, I)


def test_planar_2r_as_in_spong_and_in_docs():
    """Spong, Hutchinson, Vidyasagar, Robot Modeling and Control (2006), section 7.3.2; euler_lagrange.md, section 5."""
    m1, m2, l1, lc1, lc2, I1, I2, g = da.symbols("m1 m2 l1 lc1 lc2 I1 I2 g")
    links = [(m1, (lc1, 0, 0), about_z(I1)), (m2, (lc2, 0, 0), about_z(I2))]
    assert printed("Rz(q1) Tx(l1) Rz(q2)", links, (0, -g, 0), "mass_matrix", "christoffel", "coriolis_vector", "gravity_vector") == {
        "M11": "I1 + I2 + m1 lc1^2 + m2 l1^2 + m2 lc2^2 + 2 m2 lc2 l1 c2",
        "M12": "I2 + m2 lc2^2 + m2 lc2 l1 c2",
        "M22": "I2 + m2 lc2^2",
        "c121": "-m2 lc2 l1 s2", "c221": "c121", "c112": "-c121",
        "h1": "-m2 lc2 l1 qd2 (2 qd1 + qd2) s2",
        "h2": "m2 lc2 l1 qd1^2 s2",
        "g1": "g ((m1 lc1 + m2 l1) c1 + m2 lc2 c12)",
        "g2": "m2 lc2 g c12"}


def test_planar_3r_in_angle_sums():
    """Absolute angles by hand: M_ij sums m l l cos of differences of absolute angles, g_i sums of cosines of them."""
    m1, m2, m3, l1, l2, lc1, lc2, lc3, I1, I2, I3, g = da.symbols("m1 m2 m3 l1 l2 lc1 lc2 lc3 I1 I2 I3 g")
    links = [(m, (c, 0, 0), about_z(I)) for m, c, I in ((m1, lc1, I1), (m2, lc2, I2), (m3, lc3, I3))]
    found = printed("Rz(q1) Tx(l1) Rz(q2) Tx(l2) Rz(q3)", links, (0, -g, 0), "mass_matrix", "gravity_vector")
    assert found == {
        "M11": "I1 + I2 + I3 + m1 lc1^2 + m2 l1^2 + m2 lc2^2 + m3 l1^2 + m3 l2^2 + m3 lc3^2 + 2 l1 (m2 lc2 + m3 l2) c2 "
               "+ 2 m3 lc3 l1 c23 + 2 m3 lc3 l2 c3",
        "M12": "I2 + I3 + m2 lc2^2 + m3 l2^2 + m3 lc3^2 + l1 (m2 lc2 + m3 l2) c2 + m3 lc3 l1 c23 + 2 m3 lc3 l2 c3",
        "M13": "I3 + m3 lc3^2 + m3 lc3 l1 c23 + m3 lc3 l2 c3",
        "M22": "I2 + I3 + m2 lc2^2 + m3 l2^2 + m3 lc3^2 + 2 m3 lc3 l2 c3",
        "M23": "I3 + m3 lc3^2 + m3 lc3 l2 c3",
        "M33": "I3 + m3 lc3^2",
        "g1": "g ((m1 lc1 + m2 l1 + m3 l1) c1 + (m2 lc2 + m3 l2) c12 + m3 lc3 c123)",
        "g2": "g ((m2 lc2 + m3 l2) c12 + m3 lc3 c123)",
        "g3": "m3 lc3 g c123"}


def test_axis_along_a_negative_direction_leaves_no_minus_in_the_angle():
    """Trolley with a load on a rope of length l, phi about -y (by hand): x_load = x + l sin phi, z_load = -l cos phi."""
    M, m, g = da.symbols("M m g")
    bodies = da.Body("0"), da.Body("trolley", M), da.Body("rope"), da.Body("load", m)
    joints = (da.Joint("x", da.Prismatic((1, 0, 0)), "0", "trolley"), da.Joint("phi", da.Revolute((0, -1, 0)), "trolley", "rope"),
              da.Joint("l", da.Prismatic((0, 0, -1)), "rope", "load"))
    text = da.equations(da.Mechanism("crane", bodies, joints, gravity=(0, 0, -g))).text("mass_matrix", "gravity_vector")
    assert dict(line.split(" = ") for line in text.splitlines() if " = " in line) == {
        "M11": "M + m", "M12": "m q3 c2", "M13": "m s2", "M22": "m q3^2", "M33": "m", "g2": "m g q3 s2", "g3": "-m g c2"}


def test_cart_pole():
    """Tedrake, Underactuated Robotics, section 3.2, with the pole's inertia: angle from upright."""
    M, m, l, I, g = da.symbols("M m l I g")
    nothing = (0, 0, 0, 0, 0, 0)
    found = printed("Tx(q1) Ry(q2)", [(M, (0, 0, 0), nothing), (m, (0, 0, l), (0, 0, I, 0, 0, 0))], (0, 0, -g),
                    "mass_matrix", "coriolis_vector", "gravity_vector", "potential_energy")
    assert found == {"M11": "M + m", "M12": "m l c2", "M22": "I + m l^2", "h1": "-m l qd2^2 s2", "g2": "-m l g s2", "U": "m l g c2"}


def test_furuta_pendulum():
    """Cazzolato and Prime, J. Control Sci. Eng. (2011), equation 33 with a slender pendulum (inertia I across, 0 along it)."""
    J, L, m, l, I, g = da.symbols("J L m l I g")
    links = [(0, (0, 0, 0), about_z(J)), (m, (0, 0, l), (I, 0, I, 0, 0, 0))]
    found = printed("Rz(q1) Tx(L) Rx(q2)", links, (0, 0, -g), "mass_matrix", "coriolis_vector", "gravity_vector")
    assert found == {
        "M11": "J + m L^2 + (I + m l^2) s2^2", "M12": "-m l L c2", "M22": "I + m l^2",
        "h1": "qd2 s2 (m l L qd2 + 2 qd1 (I + m l^2) c2)", "h2": "-qd1^2 (I + m l^2) c2 s2", "g2": "-m l g s2"}


def test_scara():
    """As the planar 2R with the tool's masses at its end; the vertical joint is uncoupled and carries the weight."""
    m1, m2, m3, m4, a1, a2, lc1, lc2, I1, I2, I3, I4, g = da.symbols("m1 m2 m3 m4 a1 a2 lc1 lc2 I1 I2 I3 I4 g")
    links = [(m1, (lc1, 0, 0), about_z(I1)), (m2, (lc2, 0, 0), about_z(I2)), (m3, (0, 0, 0), about_z(I3)),
             (m4, (0, 0, 0), about_z(I4))]
    found = printed("Rz(q1) Tx(a1) Rz(q2) Tx(a2) Tz(q3) Rz(q4)", links, (0, 0, -g), "mass_matrix", "christoffel", "gravity_vector")
    assert found == {
        "k1": "m2 lc2 + m3 a2 + m4 a2",
        "M11": "I1 + I2 + I3 + I4 + m1 lc1^2 + m2 a1^2 + m2 lc2^2 + m3 a1^2 + m3 a2^2 + m4 a1^2 + m4 a2^2 + 2 a1 k1 c2",
        "M12": "I2 + I3 + I4 + m2 lc2^2 + m3 a2^2 + m4 a2^2 + a1 k1 c2",
        "M14": "I4", "M22": "I2 + I3 + I4 + m2 lc2^2 + m3 a2^2 + m4 a2^2", "M24": "I4", "M33": "m3 + m4", "M44": "I4",
        "c121": "-a1 k1 s2", "c221": "c121", "c112": "-c121", "g3": "g (m3 + m4)"}


def test_spherical_wrist_is_the_asymmetric_top_in_euler_angles():
    """T of a top with moments A, B, C in Euler angles z-y-z (Lurie, Analytical Mechanics, section 2.10)."""
    A, B, C = da.symbols("A B C")
    found = printed("Rz(q1) Ry(q2) Rz(q3)", [None, None, (0, (0, 0, 0), (A, 0, B, 0, 0, C))], (0, 0, 0), "mass_matrix")
    assert found == {"M11": "C c2^2 + A s2^2 c3^2 + B s2^2 s3^2", "M12": "-(A - B) s2 c3 s3", "M13": "C c2",
                     "M22": "B c3^2 + A s3^2", "M33": "C"}


def test_planar_chain_of_rods_comes_with_exact_fractions():
    m, l, g = da.symbols("m l g")
    eom = da.equations(da.planar_chain(2, mass=m, length=l, gravity=(0, 0, -g)))
    assert eom.text("mass_matrix").splitlines()[1:] == [
        "M11 = m l^2 (5/3 + c2)", "M12 = m l^2 (1/3 + 1/2 c2)", "M22 = 1/3 m l^2"]


def test_scara_of_point_masses_from_dh_rows_uses_the_name_of_what_is_common():
    """By hand: h1 = -a1 b qd2 (2 qd1 + qd2) s2, h2 = a1 b qd1^2 s2 with b = a2 (m2 / 2 + m3 + m4), the middle of link 2."""
    m1, m2, m3, m4, a1, a2, g = da.symbols("m1 m2 m3 m4 a1 a2 g")
    rows = [da.DHParameters(a1), da.DHParameters(a2, alpha="pi"), da.DHParameters(joint="prismatic"), da.DHParameters()]
    for at, k1 in ((0, "m2 + m3 + m4"), (-1, "1/2 m2 + m3 + m4")):
        links = [(m, (at * a / 2, 0, 0), (0,) * 6) for m, a in ((m1, a1), (m2, a2), (m3, 0), (m4, 0))]
        eom = da.equations(da.from_dh(rows, inertia=links, gravity=(0, 0, -g)))
        assert eom.text("coriolis_vector").splitlines()[1:] == [
            f"k1 = {k1}", "h1 = -a1 a2 k1 qd2 (2 qd1 + qd2) s2", "h2 = a1 a2 k1 qd1^2 s2"]
        energy = eom.text("kinetic_energy").splitlines()[-1]              # 1/2 M11 qd1^2 + M12 qd1 qd2 + ...
        assert re.findall(r"qd\d[\^2]*(?: qd\d)?", energy) == ["qd1^2", "qd1 qd2", "qd2^2", "qd3^2"]
        if not at:
            assert "M12 = a2 k1 (a2 + a1 c2)" in eom.text("mass_matrix")


@pytest.mark.parametrize("budget", [2500, 0])      # in full, and factored
def test_every_name_that_is_listed_is_used(budget):
    eom = da.equations(robots.dense("scara"), "all", budget=budget)
    for quantity in ("mass_matrix", "coriolis_vector", "gravity_vector", "kinetic_energy", "potential_energy"):
        left, right = zip(*(line.split(" = ") for line in eom.text(quantity).splitlines()[1:] if " = " in line))
        for name in left:
            assert not re.fullmatch(r"[kp]\d+", name) or any(re.search(rf"\b{name}\b", text) for text in right), (quantity, name)


def test_numbers_of_one_line_are_written_in_one_way():
    links = [(1, (0.1, 0, 0), about_z(0.01))] * 3
    lines = da.equations(da.from_motions("Rz(q1) Tx(0.2) Rz(q2) Tx(0.1) Rz(q3)", inertia=links)).text("mass_matrix")
    assert "M13 = ZZ3 + 1/5 MX3 c23 + 1/10 MX3 c3\n" in lines
    lines = da.equations(da.from_motions("Rz(q1) Tx(0.2) Rz(q2) Tx(0.11) Rz(q3)", inertia=links)).text("mass_matrix")
    assert "M13 = ZZ3 + 0.2 MX3 c23 + 0.11 MX3 c3\n" in lines and "M12 = ZZ2 + ZZ3 + 1/5 MX2 c2" not in lines
    I, m = da.symbols("I m")
    assert printed("Rz(q1)", [(m, ("1/4", 0, 0), about_z(I / 12 + m / 3))], (0, 0, 0), "mass_matrix") == {
        "M11": "1/12 I + 19/48 m"}                     # no decimal is these numbers


@pytest.mark.parametrize("numbers, size", [
    ((1, Fraction(-5, 2)), 1), ((Fraction(2, 5), -1), 1), ((2, 4), 2), ((-3, 3), -3), ((Fraction(4, 5), Fraction(2, 5)), Fraction(2, 5)),
    ((Fraction(1, 2), Fraction(-1, 2)), Fraction(1, 2)), ((2, 2, Fraction(4, 5), 2), 2), ((Fraction(6, 5), 2), 2),
    ((Fraction(1, 3), Fraction(1, 2)), 1), ((Fraction(13, 64), Fraction(7, 100)), 1)], ids=str)
def test_the_number_before_parentheses_leaves_few_fractions(numbers, size):
    assert readable_number(numbers) == size


def test_lengths_and_masses_in_numbers_stand_where_textbooks_have_them():
    """A revolute, a prismatic and a revolute joint in a vertical plane: g ((m1 + ... + 2/5 m2 + m2 q2) s1 + ...), no fifths in front."""
    eom = da.equations(da.from_motions("Rz(q1) Tx(0.4) Tx(q2) Tx(0.2) Rz(q3)", inertia=[(1, (0.5, 0, 0), about_z(0.1))] * 3, gravity=(0, -9.81, 0)))
    assert eom.text("potential_energy").splitlines()[1] == "U = g ((MX1 + MX2 + 2/5 MM2 + MM2 q2) s1 + MX3 s13)"
    h = eom.text("coriolis_vector")
    assert "h2 = -MX2 qd1^2 - 2/5 MM2 qd1^2 - MM2 q2 qd1^2 - MX3 (qd1 + qd3)^2 c3" in h
    assert "- MX3 qd3 (3/5 + q2) (2 qd1 + qd3) s3" in h


def test_the_kinetic_energy_has_the_entries_of_the_mass_matrix():
    eom = da.equations(robots.dense("scara"))
    entries = dict(line.split(" = ") for line in eom.text("mass_matrix").splitlines() if " = " in line)
    energy = eom.text("kinetic_energy").splitlines()[-1]
    assert f"({entries['M11']}) qd1^2 + ({entries['M12']}) qd1 qd2" in energy


def rates(text):
    """A sum of products of velocities, from text: '2 x y - z^2'."""
    words = text.replace("- ", "+ -").split(" + ")
    terms = [word.removeprefix("-").split() for word in words]
    numbers = [(-1 if word.startswith("-") else 1) * (int(t[0]) if t[0].isdigit() else 1) for word, t in zip(words, terms)]
    factors = [[f.partition("^") for f in t if not f.isdigit()] for t in terms]
    return Sum(tuple(Term(n, tuple((Name(x), int(e or 1)) for x, _, e in fs)) for n, fs in zip(numbers, factors)))


@pytest.mark.parametrize("text, product", [
    ("x^2 + 2 x y + y^2", "(x + y)^2"), ("x^2 - 2 x y + y^2", "(x - y)^2"), ("2 x y + 2 x z + y^2 + 2 y z + z^2", "(y + z) (2 x + y + z)"),
    ("x^2 - 3 x y + 2 y^2", "(x - 2 y) (x - y)"), ("6 x^2 + 12 x y + 6 y^2", "6 (x + y)^2"), ("x^2 + x y + y^2", None), ("x^2 - 2 y^2 + x z", None),
    ("x y + x z + y z", None), ("x^2 + 2 x y + y^2 + z^2", None)])
def test_squares_and_products_of_velocities_are_products_of_sums(text, product):
    found = with_rate_products(Sum((Term(1, ((Name("p"), 1), (rates(text), 1))),)), lambda f: f.name in "xyz")
    assert Printer(TEXT, Names(()), 6).sum(found) == f"p {product or f'({text})'}".replace("p 6", "6 p")
