"""Inversion for the tip of an elastic link."""

import numpy as np
import pytest

import dalembert as da


def arm(damping=1e-3, gravity=(0, 0, 0), modes=2, frames=()):
    beam = da.Beam(1.0, EIz=5.0, mass_per_length=0.5, damping=da.Rayleigh(stiffness=damping))
    bodies = [da.Body("base"), da.Body("link", 1.0, (0, 0, 0), (0.05, 0, 0.05, 0, 0, 0.05), beam=beam, modes={"bend_y": modes}), da.Body("load", 0.2)]
    joints = [da.Joint("hinge", da.Revolute((0, 0, 1)), "base", "link"), da.Joint("grip", da.Fixed(), "link", "load", da.Origin((1.0, 0, 0)))]
    return da.Mechanism("arm", bodies, joints, frames, gravity=gravity)


MOVE = da.generators.Polynomial([0.0], [0.3], 1.0, degree=7)


def angle(mechanism, q, frame):
    place = da.placement(mechanism, q, frame)[:, :3, 3]
    return np.arctan2(place[:, 1], place[:, 0])


@pytest.mark.parametrize("damping", [0, 1e-3])
def test_the_tip_follows_the_program_and_the_joint_alone_does_not(damping):
    mechanism = arm(damping)
    inversion = da.controllers.tip_inversion(mechanism, MOVE, "load", "hinge")
    assert not inversion.is_minimum_phase and "non-minimum phase" in str(inversion)
    rest = np.zeros(3)
    run = da.simulate(mechanism, rest, rest, float(inversion.times[-1]), control=inversion.control(), method="dop853", record=0.02)
    wanted = np.array([MOVE(t - inversion.lead)[0][0] for t in run.times])
    error = np.abs(angle(mechanism, run.q, "load") - wanted).max()
    J = da.mass_matrix(mechanism, rest)[0, 0]
    rigid = da.simulate(mechanism, rest, rest, 1.5, control=lambda t, q, qd: [J * MOVE(t)[2][0], 0.0, 0.0], method="dop853", record=0.02)
    missed = np.abs(angle(mechanism, rigid.q, "load") - np.array([MOVE(t)[0][0] for t in rigid.times])).max()
    assert error < 2e-4 < 1e-2 < missed
    np.testing.assert_allclose(inversion.coordinates[-1, 0], 0.3, atol=1e-4)


def test_zeros_are_frequencies_of_the_arm_whose_frame_is_held():
    """Undamped zeros s: det of (s^2 M + K, -B; C, 0) = 0."""
    mechanism = arm(0)
    inversion = da.controllers.tip_inversion(mechanism, MOVE, "load", "hinge")
    rest = np.zeros(3)
    M, K = da.mass_matrix(mechanism, rest), da.inverse_dynamics_derivatives(mechanism, rest, rest, rest).dtau_dq
    C, B = da.jacobian(mechanism, rest, "load")[4], np.eye(3)[0]
    for s in inversion.zeros:
        pencil = np.block([[s**2 * M + K, -B[:, None]], [C[None], np.zeros((1, 1))]])
        scale = np.abs(np.linalg.det(np.block([[(1.1 * s) ** 2 * M + K, -B[:, None]], [C[None], np.zeros((1, 1))]])))
        assert abs(np.linalg.det(pencil)) < 1e-6 * scale
    np.testing.assert_allclose(np.sort(inversion.zeros.real), np.sort(-inversion.zeros.real), rtol=1e-6)      # in pairs


def test_the_output_of_the_joint_is_of_minimum_phase():
    near = da.Frame("hub", "link", da.Origin((0.0, 0.1, 0)))
    inversion = da.controllers.tip_inversion(arm(0.05, frames=[near]), MOVE, "hub", "hinge", step=5e-3)
    assert inversion.is_minimum_phase


def test_a_posture_that_is_no_equilibrium_a_zero_that_does_not_fade_and_other_joints_are_refused():
    with pytest.raises(da.ModelError, match="no equilibrium"):
        da.controllers.tip_inversion(arm(gravity=(0, -9.81, 0)), MOVE, "load", "hinge")
    near = da.Frame("hub", "link", da.Origin((0.0, 0.1, 0)))
    with pytest.raises(da.DalembertError, match="imaginary axis"):
        da.controllers.tip_inversion(arm(0, frames=[near]), MOVE, "hub", "hinge")
    with pytest.raises(da.ModelError, match="grip"):
        da.controllers.tip_inversion(arm(), MOVE, "load", "grip")
    with pytest.raises(da.ModelError, match="lies on the axis"):
        da.controllers.tip_inversion(arm(frames=[da.Frame("pin", "link")]), MOVE, "pin", "hinge")
    with pytest.raises(da.DalembertError, match="duration"):
        da.controllers.tip_inversion(arm(), da.generators.Sinusoids([1.0], [1.0]), "load", "hinge")
