"""Static deflection: closed forms of beams and frames, large deflections, buckling, errors."""

import numpy as np
import pytest

import dalembert as da
from elastic_arms import BEAMS, EJ, LENGTH, cantilever, numbers, sphere, two_links

PUSH = da.ExternalForce("tip", force=(0, 1e-4, 0))


def test_a_tip_force_bends_a_cantilever_by_pl3_over_3ei():
    rod = cantilever(3, EI=2.0, length=1.5)
    found = da.static_deflection(rod, rod.neutral(), external_forces=[PUSH])
    np.testing.assert_allclose(found.sag("tip")[1], 1e-4 * 1.5**3 / (3 * 2.0), rtol=1e-7)
    np.testing.assert_allclose(da.placement(rod, found.q, "tip")[1, 0], 1e-4 * 1.5**2 / (2 * 2.0), rtol=1e-7)


def test_own_weight_bends_a_cantilever_by_ql4_over_8ei():
    rod = cantilever(4, EI=1e4, gravity=(0, -9.81, 0))
    np.testing.assert_allclose(da.static_deflection(rod, rod.neutral()).sag("tip")[1], -9.81 / (8 * 1e4), rtol=1e-6)


def test_sag_of_a_two_link_arm_against_castigliano():
    """Tip weight on an L-shaped frame, shoulder and elbow held: the lower link bends as a cantilever, the upper by its force and moment."""
    weight = 1e-5
    arm = two_links(4)
    psi = 0.7
    found = da.static_deflection(arm, {"elbow": psi}, external_forces=[da.ExternalForce("tip", force=(0, -weight, 0))])
    arms = [lambda s: LENGTH - s + LENGTH * np.cos(psi), lambda s: (LENGTH - s) * np.cos(psi)]      # of the weight about a place s of each link
    s = np.linspace(0, LENGTH, 2001)
    exact = sum(np.trapezoid(f(s)**2, s) for f in arms) * weight / EJ
    np.testing.assert_allclose(-found.sag("tip")[1], exact, rtol=1e-6)


def test_holding_forces_are_those_of_the_bent_mechanism():
    arm = two_links(3, gravity=(0, -9.81, 0))
    found = da.static_deflection(arm, {"shoulder": 0.3, "elbow": 0.5})
    rest = np.zeros(arm.nv)
    np.testing.assert_allclose(found.tau, da.inverse_dynamics(arm, found.q, rest, rest), atol=1e-12)
    assert np.abs(found.tau[2:]).max() < 1e-10 < found.tau[:2].min() and found.free == arm.velocity_names[2:]


@pytest.fixture(scope="module")
def straight():
    return cantilever(4, kinematics="exact")


@pytest.mark.parametrize("row", BEAMS["elastica_end_force"]["table"][:3], ids=lambda row: f"{row['PL2_over_EI']}")
def test_the_elastica_by_exact_kinematics(row, straight):
    rod = straight
    load = da.ExternalForce("tip", force=(0, row["PL2_over_EI"], 0))
    placed = da.placement(rod, da.static_deflection(rod, rod.neutral(), external_forces=[load]).q, "tip")
    np.testing.assert_allclose(placed[:2, 3], numbers([row["tip_x_over_L"], row["tip_deflection_over_L"]]), atol=1e-5)


def test_an_end_moment_bends_a_beam_to_half_a_circle():
    rod = cantilever(2, kinematics="exact")
    moment = np.pi
    found = da.static_deflection(rod, rod.neutral(), external_forces=[da.ExternalForce("tip", moment=(0, 0, moment))])
    np.testing.assert_allclose(da.placement(rod, found.q, "tip")[:2, 3], [0, 2 / np.pi], atol=1e-6)


def column(part, modes=4):
    """A column with part of its critical tip weight pi^2 EI / 4 l^2."""
    weight = part * np.pi**2 * 100.0 / 4
    return cantilever(modes, da.Body("load", weight / 9.81), gravity=(-9.81, 0, 0), EI=100.0, mass=1e-9)


def test_a_column_buckles_under_its_tip_weight():
    rod = column(0.5)
    assert da.static_deflection(rod, rod.neutral()).critical_load_factor == pytest.approx(2.0, rel=1e-5)
    fine = column(0.5, modes=6)
    assert da.static_deflection(fine, fine.neutral()).critical_load_factor == pytest.approx(2.0, rel=1e-8)
    rod = column(1.01)
    with pytest.raises(da.EquilibriumError, match="buckles at 0.9901 of the loads") as caught:
        da.static_deflection(rod, rod.neutral())
    assert caught.value.critical_load_factor == pytest.approx(1 / 1.01, rel=1e-5) and caught.value.row is None


def test_frequencies_vanish_at_the_critical_load():
    """w^2 falls with the load, to 0 at the critical one."""
    w = [da.natural_frequencies(rod, rod.neutral(), equilibrium=True)[0] for rod in (column(0.9), column(0.99))]
    assert 0 < w[1] < w[0] / 3
    with pytest.raises(da.EquilibriumError, match="buckles"):
        da.natural_frequencies(column(1.01), column(0.5).neutral(), equilibrium=True)


def test_a_dead_load_changes_the_frequencies():
    """Pulled at the tip: the first frequency of a cantilever rises; about sqrt(1 + P/P_cr) for small P."""
    rod = cantilever(6)
    pull = da.ExternalForce("tip", force=(0.1, 0, 0))
    ratio = da.natural_frequencies(rod, rod.neutral(), external_forces=[pull])[0] / da.natural_frequencies(rod, rod.neutral())[0]
    assert ratio == pytest.approx(np.sqrt(1 + 0.1 / (np.pi**2 / 4)), rel=2e-3)


def test_a_turning_beam_stretches():
    """u(l) = tan(k l)/k - l, k = Omega sqrt(rho A / EA)."""
    rod = cantilever({"stretch": 6}, joint=da.Revolute((0, 0, 1)), length=10.0, EI=1.4e4, mass=1.2, EA=2.8e7)
    found = da.static_deflection(rod, rod.neutral(), qd={"root": 6.0})
    np.testing.assert_allclose(found.sag("tip")[0], float(BEAMS["spin_up_beam"]["steady_state_tip_extension"]), rtol=1e-9)


def test_free_joints_fall_into_equilibrium():
    arm = two_links(3, gravity=(9.81, 0, 0))      # hangs along x
    found = da.static_deflection(arm, {"shoulder": 0.4, "elbow": -0.3}, free="all")
    np.testing.assert_allclose(found.q, 0, atol=1e-10)
    assert np.isnan(found.critical_load_factor)      # joints have no springs
    with pytest.raises(da.EquilibriumError, match=r"unstable.*joint that falls"):
        da.static_deflection(da.planar_chain(1), [np.pi / 2], free=["q1"])      # upright


def test_free_joints_fall_to_the_equilibrium_that_is_near():
    """A pendulum with a rod that bends hangs straight, from wherever it begins; where it is level its stiffness is 0."""
    pendulum = cantilever(2, sphere(), da.Revolute((0, 0, 1)), gravity=(0, -9.81, 0), EI=50.0)
    for angle in (-np.pi, -2.0, -1.0, 0.0):
        found = da.static_deflection(pendulum, {"root": angle}, free=["root"])
        np.testing.assert_allclose(found.q, [-np.pi / 2, 0, 0], atol=1e-9)


def test_batches_of_states_and_loads():
    rod = cantilever(3, kinematics="third_order")
    loads = np.array([[0, 0.1, 0], [0, 0.5, 0], [0, 1.0, 0]])
    batch = da.static_deflection(rod, rod.neutral(), external_forces=[da.ExternalForce("tip", loads)])
    assert batch.q.shape == (3, 3) and batch.iterations.shape == (3,)
    for load, q in zip(loads, batch.q, strict=True):
        np.testing.assert_allclose(da.static_deflection(rod, rod.neutral(), external_forces=[da.ExternalForce("tip", load)]).q, q, atol=1e-10)


def test_loads_too_large_for_one_step_are_put_on_in_steps(straight):
    rod = straight      # Newton's method alone finds another branch
    found = da.static_deflection(rod, rod.neutral(), external_forces=[da.ExternalForce("tip", force=(0, 30.0, 0))])
    assert found.load_steps > 1 and found.residual < 1e-9
    assert da.placement(rod, found.q, "tip")[1, 3] > 0.85


def test_errors_say_what_to_do():
    with pytest.raises(da.DalembertError, match=r"nothing moves. Name joints in free=\[...\] \(known: q1, q2\)"):
        da.static_deflection(da.planar_chain(2), [0.0, 0.0])
    with pytest.raises(da.EquilibriumError, match="no static equilibrium near: Newton's method holds 0") as caught:
        da.static_deflection(da.planar_chain(1), [0.0], tau=[100.0], free=["q1"])      # more than its weight
    assert caught.value.load_factor < 0.1 and caught.value.residual > 90
