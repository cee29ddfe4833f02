"""Elastic links in the tree: sections that share coordinates, seen by every algorithm."""

import numpy as np
import pytest

import dalembert as da
from dalembert.beams.beam_quadrature import gauss
from dalembert.formulations.newton_euler.inverse import required_forces
from dalembert.formulations.newton_euler.mass_matrix import composite_mass_matrix
from dalembert.model.elastic.bending import Bending
from elastic_arms import MODES, arm, state

KINEMATICS = ("first_order", "second_order", "third_order", "exact")
CASES = [(kinematics, modes, 1) for kinematics in KINEMATICS for modes in MODES] + [
    ("second_order", "plane", 3), pytest.param("exact", "space", 2, marks=pytest.mark.slow)]


def central(f, q, step=1e-6):
    return np.array([(np.asarray(f(q + step * e)) - f(q - step * e)) / (2 * step) for e in np.eye(len(q))]).T


@pytest.mark.parametrize("kinematics, modes, elements", CASES)
def test_algorithms_agree_on_an_elastic_arm(kinematics, modes, elements):
    mechanism = arm(kinematics, modes, elements)
    q, qd, qdd = state(mechanism)
    M = da.mass_matrix(mechanism, q)
    tau = da.inverse_dynamics(mechanism, q, qd, qdd)
    np.testing.assert_allclose(M @ qdd + da.bias_force(mechanism, q, qd) - da.passive_force(mechanism, q, qd), tau, atol=1e-12 * abs(tau).max())
    np.testing.assert_allclose(da.kinetic_energy(mechanism, q, qd), qd @ M @ qd / 2, rtol=1e-13)
    np.testing.assert_allclose(da.forward_dynamics(mechanism, q, qd, tau), qdd, atol=1e-8)
    np.testing.assert_allclose(da.momenta(mechanism, q, qd), M @ qd, atol=1e-13)
    np.testing.assert_allclose(da.coriolis_matrix(mechanism, q, qd) @ qd, da.coriolis_vector(mechanism, q, qd), atol=1e-12)


@pytest.mark.parametrize("kinematics, modes, elements", CASES)
def test_forces_are_derivatives_of_energies(kinematics, modes, elements):
    """Gravity, elastic forces and d/dt(dT/dqd) - dT/dq by differences."""
    mechanism = arm(kinematics, modes, elements)
    q, qd, qdd = state(mechanism)
    rest = 0 * qd
    static = da.inverse_dynamics(mechanism, q, rest, rest)
    np.testing.assert_allclose(static, central(lambda q: da.potential_energy(mechanism, q), q), atol=1e-6 * abs(static).max())
    step = 1e-6
    momentum = [da.momenta(mechanism, q + s * qd, qd) for s in (step, -step)]
    rate = (momentum[0] - momentum[1]) / (2 * step) - central(lambda q: da.kinetic_energy(mechanism, q, qd), q)
    np.testing.assert_allclose(da.coriolis_vector(mechanism, q, qd), rate, atol=1e-8)


@pytest.mark.parametrize("kinematics, modes, elements", CASES)
def test_derivatives_and_jacobians_of_an_elastic_arm(kinematics, modes, elements):
    mechanism = arm(kinematics, modes, elements)
    q, qd, qdd = state(mechanism)
    found = da.inverse_dynamics_derivatives(mechanism, q, qd, qdd)
    for exact, f, x in ((found.dtau_dq, lambda q: da.inverse_dynamics(mechanism, q, qd, qdd), q), (found.dtau_dqd, lambda qd: da.inverse_dynamics(mechanism, q, qd, qdd), qd)):
        np.testing.assert_allclose(exact, central(f, x), atol=1e-7 * abs(exact).max())
    for frame in ("load", "middle"):
        J = da.jacobian(mechanism, q, frame)
        np.testing.assert_allclose(J[3:], central(lambda q, frame=frame: da.placement(mechanism, q, frame)[:3, 3], q), atol=1e-8)
        J_rate = da.jacobian_rate(mechanism, q, qd, frame)
        step = 1e-6
        np.testing.assert_allclose(J_rate, (da.jacobian(mechanism, q + step * qd, frame) - da.jacobian(mechanism, q - step * qd, frame)) / (2 * step), atol=1e-7)


@pytest.mark.parametrize("kinematics", KINEMATICS[:2])
def test_rotary_inertia_at_few_places_is_that_at_many(kinematics, monkeypatch):
    few = arm(kinematics, "space")
    q, *_ = state(few)
    M = da.mass_matrix(few, q)
    monkeypatch.setattr(Bending, "turning_slices", lambda self, exact, varying: gauss(self.breaks, 20))
    many = da.Mechanism("many", few.bodies, few.joints, few.frames)
    assert many.tree().n > few.tree().n + 10
    np.testing.assert_allclose(da.mass_matrix(many, q), M, rtol=0, atol=1e-9 * abs(M).max())


@pytest.mark.parametrize("modes", MODES)
@pytest.mark.parametrize("kinematics", KINEMATICS[1:])
def test_mass_along_a_line_moves_as_its_slices(kinematics, modes):
    mechanism = arm(kinematics, modes, origin=da.Origin((0.1, 0, 0.05), (("z", 0.2),)))
    tree, (q, qd, qdd), _ = mechanism.at(**dict(zip(("q", "qd", "qdd"), state(mechanism))))
    q = [20 * x for x in q]
    slices = tree.replace(lines=())
    assert len(tree.lines) == 2
    forces = [required_forces(t, q, qd, qdd, t.gravity, {}) for t in (tree, slices)]
    np.testing.assert_allclose(*forces, atol=1e-13 * max(map(abs, forces[0])))
    np.testing.assert_allclose(*[composite_mass_matrix(t, q) for t in (tree, slices)], atol=1e-13)


def test_coordinates_stand_after_the_joints_under_the_names_of_their_bodies():
    mechanism = arm()
    names = [f"{body}.{c}" for body in ("upper", "lower") for c in ("bend_y1", "bend_y2", "bend_z1", "twist1", "stretch1")]
    assert mechanism.coordinate_names == mechanism.velocity_names == ("shoulder", "elbow", *names)


def test_coordinates_are_numbered_through_the_elements():
    names = arm(elements=2).coordinate_names[2:12]
    assert [name.removeprefix("upper.") for name in names] == [f"{d}{2 * e + k}" if d == "bend_y" else f"{d}{e + 1}" for e in (0, 1) for d, k in (
        ("bend_y", 1), ("bend_y", 2), ("bend_z", 1), ("twist", 1), ("stretch", 1))]


@pytest.mark.parametrize("x, element", [(0.0, 0), (0.3, 0), (0.4, 0), (0.41, 1), (0.8, 1)])
def test_places_on_a_beam_move_with_their_element(x, element):
    """A place before the second element does not move with its coordinates."""
    mechanism = arm("exact", elements=2)
    mechanism = da.Mechanism("arm", mechanism.bodies, mechanism.joints, [da.Frame("spot", "upper", da.Origin((x, 0, 0)))])
    q, _ = mechanism.random_state(1)
    J = da.jacobian(mechanism, q, "spot")
    assert np.any(J[:, 2:7]) == (x > 0) and np.any(J[:, 7:12]) == (element == 1)


def test_compiled_code_equals_plain_functions():
    mechanism = arm()
    q, qd, qdd = state(mechanism)
    dynamics = da.compile(mechanism)
    tau = da.inverse_dynamics(mechanism, q, qd, qdd)
    np.testing.assert_allclose(dynamics.inverse_dynamics(q, qd, qdd), tau, atol=1e-11 * abs(tau).max())
    np.testing.assert_allclose(dynamics.forward_dynamics(q, qd, tau), qdd, atol=1e-8)


def test_a_beam_without_modes_is_a_rigid_rod():
    beam = da.Beam(2.0, mass_per_length=3.0)
    rod = da.Mechanism("rod", [da.Body("base"), da.Body("rod", beam=beam, modes=0)], [da.Joint("hinge", da.Revolute((0, 1, 0)), "base", "rod")])
    np.testing.assert_allclose(da.mass_matrix(rod, [0.3]), 3.0 * 2.0**3 / 3, rtol=1e-14)


@pytest.mark.parametrize("numbers, message", [
    ({"EIz": -1.0}, "EIz of a beam is -1"), ({"length": 0.0}, "length of a beam is 0"), ({"mass_per_length": 0}, "mass_per_length of a beam is 0")])
def test_numbers_that_no_beam_has_are_refused(numbers, message):
    with pytest.raises(da.ModelError, match=message):
        da.Beam(**{"length": 1.0, "EIy": 1.0, "EIz": 1.0, "mass_per_length": 1.0} | numbers)


def test_a_missing_number_is_named():
    with pytest.raises(da.ModelError, match="body 'rod' has no EIy"):
        da.Body("rod", beam=da.Beam(1.0, EIz=1.0, mass_per_length=1.0))
    with pytest.raises(da.UnknownNameError, match="bend_y"):
        da.Body("rod", beam=da.Beam(1.0, EIz=1.0, mass_per_length=1.0), modes={"bend": 1})
