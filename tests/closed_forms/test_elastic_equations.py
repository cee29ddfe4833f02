"""Closed forms of mechanisms with elastic links: exact integrals, textbook forms, fallbacks."""

import numpy as np
import pytest

import dalembert as da
from dalembert.closed_forms.derivation.expression_algebra import Expressions
from dalembert.closed_forms.derivation.link_chain import chain, exact
from dalembert.expr import Graph, evaluate
from dalembert.model.tree_builder import tree_of

KINEMATICS = ("first_order", "second_order", "third_order", "exact")


def symbolic_arm(links=1, kinematics="second_order", gravity=False):
    """Hub with inertia J (first link), beams, and a payload; l, EI, rho, m, J, g are symbols."""
    l, EI, rho, m, J, g = da.symbols("l EI rho m J g")
    beam = da.Beam(l, EIz=EI, mass_per_length=rho, kinematics=kinematics)
    bodies = [da.Body("base"), *(da.Body(f"link{k + 1}", inertia=(0, 0, 0, 0, 0, J if k == 0 else 0), beam=beam, modes={"bend_y": 2})
                                 for k in range(links)), da.Body("load", m)]
    parents = ["base", *(f"link{k + 1}" for k in range(links))]
    joints = [da.Joint(f"q{k + 1}", da.Revolute((0, 0, 1)), parents[k], parents[k + 1], da.Origin((l if k else 0, 0, 0))) for k in range(links)]
    joints.append(da.Joint("grip", da.Fixed(), parents[-1], "load", da.Origin((l, 0, 0))))
    return da.Mechanism("elastic arm", bodies, joints, gravity=(0, -g if gravity else 0, 0))


def numeric_arm(kinematics="second_order", axis=(0, 0, 1), rotary=(0, 0, 0), modes=None):
    beam = da.Beam(0.8, EIy=120.0, EIz=90.0, EA=6e5, GJ=70.0, mass_per_length=0.25, rotary_inertia=rotary, kinematics=kinematics,
                   damping=da.Rayleigh(0.1, 2e-4))
    bodies = [da.Body("base"), *(da.Body(name, beam=beam, modes=modes or {"bend_y": 1}) for name in ("upper", "lower")),
              da.Body("load", 2.0, (0.05, 0.02, 0), (0.002, 0, 0.003, 0, 0, 0.004))]
    joints = [da.Joint("shoulder", da.Revolute((0, 0, 1)), "base", "upper", da.Origin((0, 0, 0), (("x", 0.3),))),
              da.Joint("elbow", da.Revolute(axis), "upper", "lower", da.Origin((0.8, 0, 0)), viscous=0.2),
              da.Joint("grip", da.Fixed(), "lower", "load", da.Origin((0.8, 0, 0)))]
    return da.Mechanism("arm", bodies, joints, [da.Frame("middle", "lower", da.Origin((0.4, 0.01, 0)))])


def test_flexible_arm_is_the_textbooks():
    """Hub, beam and payload, phi = xi^2 and 3 xi^2 - 2 xi^3: integrals by hand, to the first order of deflections."""
    forms = da.equations(symbolic_arm(kinematics="first_order"))
    assert forms.text("mass_matrix").splitlines()[1:] == [
        "M11 = J + m l^2 + 1/3 rho l^3 + m delta1_1^2 + 2 m delta1_1 delta1_2 + m delta1_2^2 + 1/5 rho l delta1_1^2 "
        "+ 8/15 rho l delta1_1 delta1_2 + 13/35 rho l delta1_2^2",
        "M12 = l (m + 1/4 rho l)", "M13 = l (m + 7/20 rho l)", "M22 = m + 1/5 rho l", "M23 = m + 4/15 rho l", "M33 = m + 13/35 rho l"]
    assert forms.text("passive_force").splitlines()[1:] == ["f2 = -4 EI delta1_1/l^3", "f3 = -12 EI delta1_2/l^3"]
    assert forms.text("potential_energy").splitlines()[1] == "U = 2 EI delta1_1^2/l^3 + 6 EI delta1_2^2/l^3"


def test_stiffening_is_in_the_second_order():
    """The term of qd1^2 in the deflection's equation: rho l (1/5 - 4/15) delta, spin-softening less foreshortening."""
    by_order = [da.equations(symbolic_arm(kinematics=k)).small_angles().text("christoffel") for k in ("first_order", "second_order")]
    assert "c121 = m delta1_1 + m delta1_2 + 1/5 rho l delta1_1 + 4/15 rho l delta1_2" in by_order[0]
    assert "c121 = -1/3 m delta1_1 - 1/15 rho l delta1_1 - 1/30 rho l delta1_2" in by_order[1]


def test_two_links_share_the_turn_of_the_tip():
    """The second link stands at q1 + 2 delta/l + q2; long equations have moments of mass as named parts."""
    forms = da.equations(symbolic_arm(2))
    text = forms.text("mass_matrix")
    assert "cos(2 delta1_1/l + q2)" in text and "q1" not in text
    assert len(text) < 5000
    assert forms.entries("mass_matrix").shape == (6, 6)
    assert max(forms.verified.values()) < 1e-12


def test_names_say_what_is_bent_and_how():
    forms = da.equations(symbolic_arm())
    assert forms.coordinates == ("q1", "delta1_1", "delta1_2")
    assert forms.names("latex")["delta1_2"] == r"\delta_{1,2}"
    legend = forms.legend()
    assert "link1.bend_y2, deflection along y by xi^2 (3 - 2 xi), xi = x/length" in legend
    assert forms.units["deltad1_1"] == "m/s" and forms.symbols["rho"] == "link1.mass_per_length"


def test_numbers_of_beams_become_symbols_with_places_at_their_ends():
    forms = da.equations(numeric_arm(modes={"bend_y": 1}))
    assert forms.symbols["EIz1"] == "upper.EIz" and forms.values["rho2"] == 0.25
    assert "l1" in forms.symbols and "l2" not in forms.symbols      # the middle of link 2 needs its number
    assert r"\mathit{EI}_{z1}" in forms.latex("passive_force")


@pytest.mark.parametrize("kinematics", KINEMATICS)
def test_all_kinematics_are_derived_and_compared(kinematics):
    """Those whose places are no polynomials as traced expressions."""
    forms = da.equations(numeric_arm(kinematics))
    for quantity in ("mass_matrix", "coriolis_vector", "gravity_vector", "passive_force", "potential_energy", "placement:load", "jacobian:middle"):
        forms.sheet(quantity)
    assert max(forms.verified.values()) < 1e-10


@pytest.mark.parametrize("modes, rotary", [
    ({"bend_y": 1, "bend_z": 1}, (0, 0, 0)), ({"bend_y": 1}, (1e-3, 2e-3, 3e-3)), ({"stretch": 1}, (0, 0, 0)),
    pytest.param({"bend_z": 1, "twist": 1}, (2e-3, 0, 0), marks=pytest.mark.slow)])
def test_space_and_rotary_inertia(modes, rotary):
    forms = da.equations(numeric_arm(axis=(0, 1, 0), modes=modes, rotary=rotary), symbols=["upper.mass_per_length"])
    for quantity in ("mass_matrix", "coriolis_vector", "gravity_vector"):
        forms.sheet(quantity)
    assert max(forms.verified.values()) < 1e-10


def test_bending_with_twist_has_forces_of_the_second_order():
    """theta = (gamma (2 xi - xi^2), -2 eta xi/l, 2 delta xi/l), by hand."""
    l, EIy, EIz, GJ = da.symbols("l EIy EIz GJ")
    beam = da.Beam(l, EIy=EIy, EIz=EIz, GJ=GJ, mass_per_length=1, rotary_inertia=(1, 0, 0))
    twist = da.beams.ShapePolynomials(((0, 2, -1),))
    arm = da.Mechanism("arm", [da.Body("base"), da.Body("link", beam=beam, modes={"bend_y": 1, "bend_z": 1, "twist": twist})],
                       [da.Joint("hub", da.Revolute((0, 0, 1)), "base", "link")], gravity=(0, 0, 0))
    forms = da.equations(arm)
    sympy = pytest.importorskip("sympy")
    symbols = {str(x): x for x in forms.to_sympy("passive_force").free_symbols}
    delta, eta, gamma, l, EIy, EIz = (symbols[name] for name in ("delta1_1", "eta1_1", "gamma1_1", "l", "EIy", "EIz"))
    # theta_x' theta_y' theta_z = theta_z' theta_x' theta_y = -4 delta eta gamma (2 xi - 2 xi^2)/l^4, theta_y' theta_z' theta_x with 2 xi - xi^2
    U3 = -2 * (EIy - EIz) * delta * eta * gamma / (3 * l**3)
    found = forms.to_sympy("passive_force")
    expected = [-4 * EIz * delta / l**3, -4 * EIy * eta / l**3, -sympy.Rational(4, 3) * symbols["GJ"] * gamma / l]
    rest = [sympy.simplify(a - b + sympy.diff(U3, x)) for a, b, x in zip(list(found)[1:], expected, (delta, eta, gamma))]
    assert rest == [0, 0, 0]


def test_rotary_inertia_in_the_plane_is_exact():
    """int j phi'^2/l dxi = 4/3 j/l beside the mass: M22 = rho l/5 + 4 j/(3 l)."""
    l, rho, j = da.symbols("l rho j")
    beam = da.Beam(l, EIz=1, mass_per_length=rho, rotary_inertia=(0, 0, j), kinematics="first_order")
    arm = da.Mechanism("arm", [da.Body("base"), da.Body("link", beam=beam, modes={"bend_y": 1})],
                       [da.Joint("hub", da.Revolute((0, 0, 1)), "base", "link")], gravity=(0, 0, 0))
    assert "M22 = 4 j/(3 l) + 1/5 rho l" in da.equations(arm).text("mass_matrix")


def test_moments_of_mass_are_sums_over_slices():
    """One source of truth: polynomials of the moments beside the slices of the tree, at q1 = 0."""
    beam = da.Beam(0.8, EIz=90.0, EIy=120.0, mass_per_length=0.25)
    arm = da.Mechanism("arm", [da.Body("base"), da.Body("link", beam=beam)], [da.Joint("hub", da.Revolute((0, 0, 1)), "base", "link")])
    q = np.array([0.0, 0.02, -0.01, 0.03, 0.01])
    with Graph() as graph:
        names = [f"x{k}" for k in range(arm.nq)]
        found = chain(tree_of(arm, exact, exact=True), Expressions(graph, names))[2].moments
        values = evaluate(np.array([*found.inertia.h, *sum(found.masses, [])], dtype=object), dict(zip(names, q)))
    tree = arm.tree()
    members = [i for i in tree.outward() if tree.joint[i].is_section]
    m = np.array([tree.inertia[i].m for i in members])
    p = np.array([tree.joint[i].placement(list(q)).p for i in members])
    J = np.array([[s.linear for s in tree.joint[i].subspace(list(q))] for i in members])
    np.testing.assert_allclose(values, [*(m @ p), *np.einsum("s,sik,sjk->ij", m, J, J).ravel()], atol=1e-15)


def test_changes_and_exports():
    forms = da.equations(symbolic_arm())
    straight = forms.at(delta1_1=0, delta1_2=0)
    assert "M11 = J + m l^2 + 1/3 rho l^3" in straight.text("mass_matrix")
    assert "M13 = m + 7/20 rho" in forms.substitute({"l": 1}).at(delta1_1=0, delta1_2=0).text("mass_matrix")
    linear = forms.linearize([0, 0, 0])
    assert "K22 = 4 EI/l^3" in linear.text("stiffness_matrix")
    assert "deltadd1_1 = " in forms.text("accelerations")
    for formulation in ("lagrange", "hamilton"):
        report = da.equations(symbolic_arm(), formulation=formulation).report()
        assert r"\varphi_2 = \xi^{2} \, (3 - 2 \, \xi)" in report
    sympy = pytest.importorskip("sympy")
    M = forms.to_sympy("mass_matrix")
    by_name = {symbol.name: symbol for symbol in M.free_symbols}
    still = M[1, 1].subs({by_name[name]: 0 for name in ("delta1_1", "delta1_2", "m")})
    assert sympy.expand(still - by_name["rho"] * by_name["l"] / 5) == 0


def test_refusals_name_the_elastic_links():
    arm = symbolic_arm()
    with pytest.raises(da.DalembertError, match="elastic links .link1."):
        da.equations(arm, grouped=True)
    with pytest.raises(da.DalembertError, match="formulation='lagrange'"):
        da.equations(arm).report()
    with pytest.raises(da.DalembertError, match="cannot be grouped"):
        _ = da.equations(arm).base_parameters
    with pytest.raises(da.DalembertError, match="elastic links .upper, lower."):
        da.regressor(numeric_arm(), [0] * 4, [0] * 4, [0] * 4)


def test_elements_and_tapered_beams():
    """Integrals by hand: EI from 100 to 50 N m^2 is 4 (EI_1 + EI_2)/2/l^3 for xi^2; an element is half as long."""
    def arm(elements=1, **properties):
        beam = da.Beam(0.8, **{"EIz": 90.0, "mass_per_length": 0.25} | properties)
        return da.Mechanism("arm", [da.Body("base"), da.Body("link", beam=beam, modes={"bend_y": 1}, elements=elements)],
                            [da.Joint("hub", da.Revolute((0, 0, 1)), "base", "link")])

    tapered = da.equations(arm(EIz=da.beams.tapered(100.0, 50.0), mass_per_length=da.beams.tapered(0.4, 0.2)))
    assert "f2 = -2 EIz1_2 delta1_1/l1^3 - 2 EIz1_1 delta1_1/l1^3" in tapered.text("passive_force")
    halves = da.equations(arm(elements=2))
    assert "f2 = -32 EIz1 delta1_1/l1^3" in halves.text("passive_force")
    assert "cos(4 delta1_1/l1)" in halves.text("mass_matrix") and "element 2 by xi^2" in halves.legend()


def test_loops_close_at_the_bent_ends():
    """A four-bar linkage with an elastic rocker: the place of the pin has the symbol of the rocker's length."""
    z, beam = da.Revolute((0, 0, 1)), da.Beam(1.0, EIz=20.0, mass_per_length=0.5)
    bodies = [da.Body("base"), da.Body("crank", 1.0), da.Body("coupler", 1.0), da.Body("rocker", beam=beam, modes={"bend_y": 1})]
    joints = [da.Joint("q1", z, "base", "crank"), da.Joint("q2", z, "crank", "coupler", da.Origin((0.3, 0, 0))), da.Joint("q3", z, "base", "rocker", da.Origin((0.9, 0, 0)))]
    loop = da.Mechanism("four-bar", bodies, joints, gravity=(0, -9.81, 0)).constrained(da.constraints.Closure("pin", z, ("coupler", (1.0, 0, 0)), ("rocker", (1.0, 0, 0))))
    forms = da.equations(loop)
    last = forms.text("equations_of_motion").splitlines()[-1]
    assert last.startswith("tau4 = ") and "lambda_pin" in last and "4 EIz3 delta3_1/l3^3" in last
    assert max(forms.verified.values()) < 1e-10


QUARTER = np.pi / 2
LYING = {"along x": (da.Origin(), (0.8, 0.1, 0)), "along z": (da.Origin(rotations=(("y", -QUARTER),)), (0.1, 0, 0.8)), "along -y": (da.Origin(rotations=(("z", -QUARTER),)), (0, -0.8, 0)),
         "off the origin": (da.Origin((0.1, 0, 0)), (0.9, 0, 0)), "oblique": (da.Origin(rotations=(("z", 0.3),)), (0.8 * np.cos(0.3), 0.8 * np.sin(0.3), 0)), "between": (da.Origin(rotations=(("y", -QUARTER),)), (0, 0.1, 0.2))}


@pytest.mark.parametrize("symbols", [None, "geometry"])
@pytest.mark.parametrize("lying", LYING)
def test_beams_lie_in_any_direction_of_their_bodies(lying, symbols):
    """A place at the end of a beam has the symbol of its length, whatever axis of the body the beam is along."""
    origin, end = LYING[lying]
    beam = da.Beam(0.8, EIy=120.0, EIz=90.0, mass_per_length=0.25, origin=origin)
    bodies = [da.Body("base"), da.Body("link", beam=beam, modes={"bend_y": 1}), da.Body("load", 2.0)]
    joints = [da.Joint("hub", da.Revolute((0, 0, 1)), "base", "link"), da.Joint("grip", da.Fixed(), "link", "load", da.Origin(end))]
    forms = da.equations(da.Mechanism("arm", bodies, joints, gravity=(0, -9.81, 0)), symbols=symbols)
    assert ("l1" in forms.text("mass_matrix")) == (lying in ("along x", "along z"))
    assert forms.text("equations_of_motion") and max(forms.verified.values()) < 1e-10
