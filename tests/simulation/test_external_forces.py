"""External forces on frames in runs: given as numbers, traced and called, beside forces along velocities that do the same."""

from functools import cache

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import DalembertError, ParameterError, UnknownNameError

ARM = da.planar_chain(2)
FRAME = ARM.frame_names[-1]
Q, QD = [0.3, -0.5], [0.2, 0.1]


@cache
def tree():
    """Three joints of several types, a spherical one among them, with a spring and friction."""
    return da.random_tree(4, 3, ("spherical", "revolute", "prismatic"))


def push(t, q, qd):
    """A force that turns with time and one that brakes, on different frames and in different axes."""
    return [da.ExternalForce(FRAME, force=(da.cos(t), da.sin(t), 0.0), point=(0.1, 0.2, 0.0)),
            da.ExternalForce(FRAME, moment=(0, 0, -qd[1]), expressed_in="local")]


def called(f):
    def numbers(t, q, qd):
        return f(t, q, qd)

    numbers.traced = False
    return numbers


def by_jacobian(m, frame, force, moment, expressed_in):
    """J^T (moment; force), by hand."""
    def tau(t, q, qd):
        return da.jacobian(m, q, frame, expressed_in).T @ np.array([*moment, *force])

    return tau


@pytest.mark.parametrize("expressed_in", ["aligned", "local", "world"])
def test_numbers_act_as_their_jacobian_says(expressed_in):
    force, moment = (3.0, 0.5, 0.0), (0.0, 0.0, 0.4)
    load = da.ExternalForce(FRAME, force, moment, expressed_in=expressed_in)
    run = da.simulate(ARM, Q, QD, 0.5, external_forces=[load])
    right = da.simulate(ARM, Q, QD, 0.5, forces=by_jacobian(ARM, FRAME, force, moment, expressed_in))
    assert np.abs(run.q - right.q).max() < 1e-13 and np.abs(run.work - right.work).max() < 1e-13
    assert np.abs(run.tau - right.tau).max() < 1e-13 and np.abs(run.q - da.simulate(ARM, Q, QD, 0.5).q).max() > 0.01
    assert run.forces["external_forces"] == "constant"


def test_functions_are_traced_or_called_with_equal_results():
    run = da.simulate(ARM, Q, QD, 0.1, external_forces=push)
    other = da.simulate(ARM, Q, QD, 0.1, external_forces=called(push))
    assert run.forces["external_forces"] == "traced" and other.forces["external_forces"] == "called"
    assert np.abs(run.q - other.q).max() < 1e-14 and np.abs(run.tau - other.tau).max() < 1e-14
    assert run.energy_drift < 1e-9


def test_a_wrench_on_a_tree_does_the_work_that_its_frame_moves():
    """Power of a force and a moment in world axes: f . v + m . w, of a frame behind joints of every kind."""
    m = tree()
    frame = m.frame_names[-1]
    load = da.ExternalForce(frame, force=(1.0, -2.0, 0.5), moment=(0.1, 0.2, -0.3))
    q, qd = m.neutral(), np.linspace(-0.4, 0.4, m.nv)
    run, plain = (da.simulate(m, q, qd, 0.2, external_forces=given) for given in ([load], None))
    twist = np.array([da.jacobian(m, own, frame) @ rate for own, rate in zip(run.q, run.qd, strict=True)])
    power = twist @ [0.1, 0.2, -0.3, 1.0, -2.0, 0.5]
    along = np.einsum("ki,ki->k", run.tau, run.qd)
    assert np.abs(power - along).max() < 1e-12 and run.energy_drift < 1e-9 and np.abs(run.q - plain.q).max() > 1e-4


def test_trajectories_have_forces_of_their_own():
    forces = np.array([[3.0, 0.5, 0.0], [-1.0, 2.0, 0.0]])
    run = da.simulate(ARM, [Q, Q], QD, 0.2, external_forces=[da.ExternalForce(FRAME, forces)])
    for k, force in enumerate(forces):
        own = da.simulate(ARM, Q, QD, 0.2, external_forces=[da.ExternalForce(FRAME, force)])
        assert np.abs(run.q[k] - own.q).max() < 1e-14
    with pytest.raises(da.ShapeError, match=r"differ: q for 3 \(shape \(3, 2\)\), forces or parameters for 2"):
        da.simulate(ARM, [Q, Q, Q], QD, 0.2, external_forces=[da.ExternalForce(FRAME, forces)])


def test_a_stored_run_goes_on_with_its_external_forces(tmp_path):
    pytest.importorskip("zarr")
    load = da.ExternalForce(FRAME, (3.0, 0.5, 0.0))
    run = da.simulate(ARM, Q, QD, 0.1, external_forces=[load], store=tmp_path / "run.zarr")
    again = da.resume(ARM, tmp_path / "run.zarr")
    assert np.array_equal(run.q[...], again.q[...])
    with pytest.raises(DalembertError, match="another external_forces"):
        da.simulate(ARM, Q, QD, 0.1, external_forces=[da.ExternalForce(FRAME, (3.0, 0.6, 0.0))],
                    store=tmp_path / "run.zarr", resume=True)
    with pytest.raises(DalembertError, match="external_forces that was constant, not none"):
        da.simulate(ARM, Q, QD, 0.1, store=tmp_path / "run.zarr", resume=True)


def test_forces_that_are_none_are_refused_by_name():
    with pytest.raises(UnknownNameError, match="elbow"):
        da.simulate(ARM, Q, QD, 0.1, external_forces=[da.ExternalForce("elbow")])
    with pytest.raises(TypeError, match="sequence of da.ExternalForce"):
        da.simulate(ARM, Q, QD, 0.1, external_forces=da.ExternalForce(FRAME))
    with pytest.raises(TypeError, match="external_forces holds int"):
        da.simulate(ARM, Q, QD, 0.1, external_forces=lambda t, q, qd: [3])
    with pytest.raises(ParameterError, match="whose arms they may change"):
        joint = ARM.joints[-1].name
        da.simulate(ARM, Q, QD, 0.1, parameters={f"{joint}.origin[0]": 1.0}, external_forces=[da.ExternalForce(FRAME)])
    pendulum = da.lagrangian_system(lambda q, qd, t: qd[0] ** 2 / 2 + da.cos(q[0]), ["phi"])
    with pytest.raises(ValueError, match="forces= along its velocities"):
        da.simulate(pendulum, [0.1], [0.0], 0.1, external_forces=[da.ExternalForce(FRAME)])
