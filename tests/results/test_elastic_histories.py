"""Section forces and errors of elastic links: statics, a pendulum's closed form, balance against strains."""

import numpy as np
import pytest

import dalembert as da
from elastic_arms import cantilever, two_links

HINGE = da.Revolute((0, 0, 1))


def at_rest(rod, x, q=None, body="rod", **options):
    rest = np.zeros(rod.nv)
    return da.section_forces_at(rod, rod.neutral() if q is None else q, rest, rest, body, x, **options)


def test_section_forces_of_statics():
    """Own weight, a tip body, a tip force and moment on a straight cantilever."""
    rod = cantilever(2, da.Body("load", 2.0), gravity=(0, -9.81, 0), EI=1e3)
    push = da.ExternalForce("tip", force=(3.0, 4.0, 0), moment=(0, 0, 5.0))
    x = np.array([0, 0.2, 0.7, 1.0])
    found = at_rest(rod, x, external_forces=[push])
    np.testing.assert_allclose(found.N, 3.0, rtol=1e-12)
    np.testing.assert_allclose(found.V_y, 4.0 - 9.81 * (1 - x + 2.0), rtol=1e-12)
    np.testing.assert_allclose(found.M_z, 5.0 + (4.0 - 2 * 9.81) * (1 - x) - 9.81 * (1 - x)**2 / 2, rtol=1e-12)
    np.testing.assert_allclose(found.force[:, 2], 0, atol=1e-12)


def test_section_forces_of_a_falling_rod():
    """A stiff rod on a hinge at angle a, rate w: integrals of its inertia and weight beyond x, written out."""
    rod = cantilever(3, joint=HINGE, gravity=(0, -9.81, 0), EI=1e9)
    a, w, x = 0.4, 2.0, np.array([0.1, 0.5, 0.9])
    alpha = -1.5 * 9.81 * np.cos(a)      # of a rod of length 1 on a hinge
    q, qd, qdd = (np.array([first, 0, 0, 0]) for first in (a, w, alpha))
    found = da.section_forces_at(rod, q, qd, qdd, "rod", x)
    rest = 1 - x
    np.testing.assert_allclose(found.N, w**2 * (1 - x**2) / 2 - 9.81 * np.sin(a) * rest, rtol=1e-10)
    np.testing.assert_allclose(found.V_y, -(alpha * (1 - x**2) / 2 + 9.81 * np.cos(a) * rest), rtol=1e-10)
    moment = alpha * (1 / 3 - x / 2 + x**3 / 6) + 9.81 * np.cos(a) * rest**2 / 2      # integral of (s - x)(alpha s + g cos a)
    np.testing.assert_allclose(found.M_z, -moment, rtol=1e-10)


@pytest.mark.parametrize("elements", [1, 3])
def test_balance_and_strains_agree_as_modes_grow(elements):
    """M = EI v'' of the shape functions against the balance, in static equilibrium."""
    beam = da.Beam(1.0, EIy=50.0, EIz=da.beams.tapered(50.0, 30.0), mass_per_length=da.beams.tapered(2.0, 1.0))
    body = da.Body("rod", beam=beam, modes={"bend_y": 5 if elements == 1 else 3}, elements=elements)
    rod = da.Mechanism("rod", [da.Body("wall"), body], [da.Joint("clamp", da.Fixed(), "wall", "rod")], gravity=(0, -9.81, 0))
    q = da.static_deflection(rod, rod.neutral()).q
    x = np.array([0.05, 0.4, 0.8])
    found = at_rest(rod, x, q)
    np.testing.assert_allclose(da.strain_forces(rod, q, "rod", x)[:, 3], found.M_z, rtol=2e-3, atol=1e-3)
    exact = -9.81 * (2 * (1 - x)**2 / 2 - ((1 - x)**2 * (2 * 1 + x) / 6))      # of the undeformed beam: integral of (2 - s)(s - x)
    np.testing.assert_allclose(found.M_z, exact, rtol=2e-2)


def test_balance_and_strains_agree_where_a_beam_bends_far_about_both_axes():
    rod = cantilever({"bend_y": 4, "bend_z": 4}, kinematics="exact")
    load = [da.ExternalForce("tip", force=(0.3, 0.6, 1.0))]
    q = da.static_deflection(rod, rod.neutral(), external_forces=load).q
    found = at_rest(rod, [0.0, 0.5], q, external_forces=load)
    strained = da.strain_forces(rod, q, "rod", [0.0, 0.5])
    np.testing.assert_allclose(strained[:, 2:], found.moment[:, 1:], rtol=1e-2)


@pytest.mark.parametrize("kinematics", ["second_order", "exact"])
def test_section_forces_of_the_carrying_link_hold_the_carried(kinematics):
    """At the end of the upper link: minus the force of the lower link and load; at its start the reaction of the base."""
    arm = two_links(2, gravity=(0, -9.81, 0), kinematics=kinematics)
    rng = np.random.default_rng(1)
    q, qd = arm.random_state(3)
    qdd = rng.standard_normal(arm.nv)
    found = da.section_forces_at(arm, q, qd, qdd, "upper", [0.0, 0.8])
    lower = da.section_forces_at(arm, q, qd, qdd, "lower", [0.0])
    turn = q[1]      # of the elbow, from the axes of the upper link's end
    R = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    np.testing.assert_allclose(found.force[1], R @ lower.force[0], rtol=1e-10)
    np.testing.assert_allclose(found.M_z[1], lower.M_z[0], rtol=1e-10)
    tau = da.inverse_dynamics(arm, q, qd, qdd)
    np.testing.assert_allclose([-found.M_z[0], -lower.M_z[0]], tau[:2], rtol=1e-10)      # joints turn about z without friction


def test_section_forces_in_space_with_twist():
    """A cranked load: torsion and bending about both axes."""
    beam = da.Beam(1.0, EIy=50.0, EIz=50.0, GJ=20.0, mass_per_length=1e-9, rotary_inertia=(1e-9, 0, 0))
    rod = da.Mechanism("rod", [da.Body("wall"), da.Body("rod", beam=beam, modes={"bend_y": 2, "bend_z": 2, "twist": 1}), da.Body("load", 1.0, (0, 0.3, 0))],
                       [da.Joint("clamp", da.Fixed(), "wall", "rod"), da.Joint("tip", da.Fixed(), "rod", "load", da.Origin((1.0, 0, 0)))])
    found = at_rest(rod, [0.0, 0.5])
    np.testing.assert_allclose(found.M_x, -9.81 * 0.3, rtol=1e-7)
    np.testing.assert_allclose(found.M_y, [9.81, 9.81 / 2], rtol=1e-7)
    np.testing.assert_allclose(found.V_z, -9.81, rtol=1e-7)


@pytest.fixture(scope="module")
def swing():
    section = da.beams.rectangle(height=0.01, width=0.02)
    beam = da.Beam.of_section(1.0, section, da.beams.material("steel"))
    rod = da.Mechanism("rod", [da.Body("base"), da.Body("rod", beam=beam, modes={"bend_y": 2})], [da.Joint("hinge", HINGE, "base", "rod", viscous=0.1)],
                       [da.Frame("tip", "rod", da.Origin((1.0, 0, 0)))], gravity=(0, -9.81, 0))
    return da.simulate(rod, [0.0] * 3, [0.0] * 3, 0.2, record=0.02)


def test_section_forces_over_a_run(swing):
    found = da.section_forces(swing, "rod", [0.0, 0.25, 0.5])
    assert found.force.shape == (11, 3, 3) and found.times is not None
    np.testing.assert_allclose(found.M_z[:, 0], 0.1 * swing.qd[:, 0], atol=1e-9)      # at the hinge friction alone
    peak = found.largest("M_z")
    k = np.argmax(np.abs(found.M_z).max(axis=1))
    assert peak.time == swing.times[k] and peak.value == found.M_z[peak.record[0]][found.x == peak.x]
    stress = found.stresses()
    np.testing.assert_allclose(stress.normal, np.abs(found.N) / 2e-4 + np.abs(found.M_z) * 0.005 / (0.02 * 0.01**3 / 12), rtol=1e-10)
    assert found.largest("von_mises").value >= found.largest("normal").value > 1e5
    assert da.section_forces(swing, "rod").force.shape == (11, 21, 3)


def test_tip_error_is_the_difference_to_the_rigid_mechanism(swing):
    error = da.tip_error(swing, "tip")
    rigid = np.stack([np.cos(swing.q[:, 0]), np.sin(swing.q[:, 0]), 0 * swing.times], axis=-1)
    real = np.array([da.placement(swing.mechanism, q, "tip")[:3, 3] for q in swing.q])
    np.testing.assert_allclose(error.displacement, real - rigid, atol=1e-15)
    slope = swing.q[:, 1] * 2      # of xi^2 at the end of a beam of length 1; the second function has no slope there
    np.testing.assert_allclose(error.rotation[:, 2], slope, atol=1e-12)
    assert error.largest == (error.distance.max(), swing.times[error.distance.argmax()]) and error.angle.max() > 0
    with pytest.raises(da.UnknownNameError, match="tip"):
        da.tip_error(swing, "tipp")


def test_errors_say_what_to_do(swing):
    rod = swing.mechanism
    with pytest.raises(da.DalembertError, match=r"x = 1.2 m is not on the beam of body 'rod', from 0 to 1 m"):
        at_rest(rod, 1.2)
    with pytest.raises(da.DalembertError, match="body 'base' is rigid"):
        at_rest(rod, 0.0, body="base")
    with pytest.raises(da.UnknownNameError, match="rod"):
        at_rest(rod, 0.0, body="rid")
    with pytest.raises(da.UnknownNameError, match="M_z"):
        at_rest(rod, 0.0).largest("M_zz")
    with pytest.raises(da.ModelError, match="no section"):
        bare = cantilever(1)
        at_rest(bare, 0.0).stresses()
    pushed = da.simulate(rod, [0.0] * 3, [0.0] * 3, 0.02, record=0.01, external_forces=[da.ExternalForce("tip", force=(0, 1.0, 0))])
    with pytest.raises(da.DalembertError, match="external_forces="):
        da.section_forces(pushed, "rod")
    found = da.section_forces(pushed, "rod", 0.5, external_forces=[da.ExternalForce("tip", force=(0, 1.0, 0))])
    assert np.isfinite(found.force).all()
