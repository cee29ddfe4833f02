"""`Run.tau`: the forces at the records are those that moved the mechanism."""

import copy
import pickle

import numpy as np
import pytest

import dalembert as da

ARM = da.planar_chain(2)
T = np.linspace(0, 0.2, 201)


def balanced(run, tau):
    """Whether forces give the accelerations that the velocities show, by central differences."""
    dt = run.times[1] - run.times[0]
    qdd = (run.qd[..., 2:, :] - run.qd[..., :-2, :]) / (2 * dt)
    q, qd, inside = run.q[..., 1:-1, :], run.qd[..., 1:-1, :], tau[..., 1:-1, :]
    return np.allclose(inside, da.inverse_dynamics(run.mechanism, q, qd, qdd), atol=1e-2)      # of dt^2 times a jerk's rate


class Integral:
    """A controller with states."""

    states = np.zeros(2)

    def __call__(self, t, q, qd, states):
        return 20 * (0.5 - q) - 4 * qd + 10 * states

    def rate(self, t, q, qd, states):
        return 0.5 - q


LAWS = {
    "traced": (lambda t, q, qd: -3 * qd + da.sin(t), None), "constant": ([1.0, 2.0], None), "both": ([1.0, 2.0], lambda t, q, qd: -qd),
    "called": (lambda t, q, qd: [-3 * float(qd[0]), 0.5], None), "states": (Integral(), None),
    "controller": (da.controllers.GravityPD(ARM, [0.5, 0.5], 20.0, 4.0), [0.5, 0.0])}


@pytest.mark.parametrize("name", LAWS)
def test_forces_explain_the_accelerations(name):
    control, forces = LAWS[name]
    run = da.simulate(ARM, [0.3, -0.2], [0, 0], T, control=control, forces=forces)
    assert run.tau.shape == run.qd.shape and balanced(run, run.tau)
    assert not balanced(run, run.tau + 0.02)


def test_forces_are_those_of_the_law():
    run = da.simulate(ARM, [0.3, -0.2], [0, 0], T, control=LAWS["traced"][0], forces=[0.5, -0.5])
    np.testing.assert_allclose(run.tau, -3 * run.qd + np.sin(T)[:, None] + [0.5, -0.5], rtol=0, atol=1e-14)
    states = da.simulate(ARM, [0.3, -0.2], [0, 0], T, control=Integral())
    np.testing.assert_allclose(states.tau, 20 * (0.5 - states.q) - 4 * states.qd + 10 * states.controller_states, atol=1e-13)


def test_forces_of_several_trajectories():
    constants = np.array([[0, 0], [1e95, 0], [1.0, 2.0]])      # the second does not go on
    run = da.simulate(ARM, [[0.1, 0.2]] * 3, [0, 0], T, control=constants, forces=lambda t, q, qd: -qd)
    np.testing.assert_allclose(run.tau, constants[:, None] - run.qd, atol=1e-14)
    assert np.isnan(run.tau[1, 1:]).all() and np.isfinite(run.tau[[0, 2]]).all()


def test_without_forces_they_are_zero():
    run = da.simulate(ARM, [0.3, -0.2], [0, 0], T)
    assert not run.tau.any() and run.tau.shape == run.qd.shape


def test_copies_keep_forces_that_were_asked_for_and_say_where_they_are_not_known():
    run = da.simulate(ARM, [0.3, -0.2], [0, 0], T, control=LAWS["traced"][0])
    for other in (pickle.loads(pickle.dumps(run)), copy.deepcopy(run)):
        with pytest.raises(da.DalembertError, match="the forces of this run are not known"):
            other.tau  # noqa: B018
    tau = run.tau
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(run)).tau, tau)


def test_diagrams_show_forces_where_there_are_any():
    pytest.importorskip("matplotlib")
    run = da.simulate(ARM, [0.3, -0.2], [0, 0], T, control=LAWS["traced"][0])
    for shown, with_forces in ((run, True), (da.simulate(ARM, [0.3, -0.2], [0, 0], T), False), (pickle.loads(pickle.dumps(run)), False)):
        found = [ax for ax in shown.plot().axes if ax.get_ylabel() == "applied torques [N m]"]
        assert len(found) == with_forces
        for ax in found:
            np.testing.assert_array_equal([line.get_ydata() for line in ax.get_lines()], run.tau.T)
