"""Runs beside MuJoCo's `mj_step` and a Runge-Kutta loop over Pinocchio's forward dynamics: where the laws are the same, so is
the motion. Joints with rates are integrated by the same scheme, to rounding; of a floating base the quaternions' steps
differ by the error of the method."""

from functools import cache

import numpy as np
import pytest

import dalembert as da
import oracles
from dalembert.commandline.peers import mujoco_model, pinocchio_model

H, STEPS, RECORD = 1e-3, 400, 100      # s; steps in all, and between records


@cache
def case(name):
    """Mechanism, state, constant forces, and how a peer reads the file."""
    meta, arm = oracles.INDEX[name], oracles.robot(name)
    q, qd = arm.random_state(3)
    tau = 3 * np.random.default_rng(5).normal(size=arm.nv) * np.diag(da.mass_matrix(arm, q))      # some rad/s^2
    tau[:6] *= not meta["floating_base"]                           # nothing pushes a floating base
    return arm, q, 0.2 * qd, tau, (oracles.file_of(name), (), meta["floating_base"])


@cache
def ours(name, formulation=None):
    arm, q, qd, tau, _ = case(name)
    return da.simulate(arm, q, qd, STEPS * H, control=tau, h=H, record=RECORD * H, formulation=formulation)


def by_mujoco(name):
    mujoco = pytest.importorskip("mujoco")
    arm, q, qd, tau, how = case(name)
    model, joints = mujoco_model(*how)
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, H
    data = mujoco.MjData(model)
    given = da.convert.to_mujoco(arm, q, qd, 0 * qd, tau, joint_order=joints)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = given.q, given.qd, given.tau
    records = [(data.qpos.copy(), data.qvel.copy())]
    for _ in range(STEPS // RECORD):
        mujoco.mj_step(model, data, RECORD)
        records.append((data.qpos.copy(), data.qvel.copy()))
    return da.convert.from_mujoco(arm, *map(np.array, zip(*records)), joint_order=joints)


def by_pinocchio(name):
    pinocchio = pytest.importorskip("pinocchio")
    arm, q, qd, tau, how = case(name)
    model, joints = pinocchio_model(*how)
    data = model.createData()
    given = da.convert.to_pinocchio(arm, q, qd, 0 * qd, tau, joint_order=joints)
    q, v, tau = given.q, given.qd, given.tau
    records = [(q, v)]
    for step in range(1, STEPS + 1):
        a1 = pinocchio.aba(model, data, q, v, tau).copy()
        v2 = v + H / 2 * a1
        a2 = pinocchio.aba(model, data, pinocchio.integrate(model, q, H / 2 * v), v2, tau).copy()
        v3 = v + H / 2 * a2
        a3 = pinocchio.aba(model, data, pinocchio.integrate(model, q, H / 2 * v2), v3, tau).copy()
        v4 = v + H * a3
        a4 = pinocchio.aba(model, data, pinocchio.integrate(model, q, H * v3), v4, tau).copy()
        q = pinocchio.integrate(model, q, H / 6 * (v + 2 * v2 + 2 * v3 + v4))
        v = v + H / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        if step % RECORD == 0:
            records.append((q, v))
    return da.convert.from_pinocchio(arm, *map(np.array, zip(*records)), joint_order=joints)


def compared(name, found, run):
    arm = case(name)[0]
    q = np.array([arm.difference(a, b) for a, b in zip(found.q, run.q)])      # on the manifold: either sign of quaternions
    return np.abs(q).max(), np.abs(found.qd - run.qd).max() / np.abs(run.qd).max()


@pytest.mark.parametrize("peer", [by_mujoco, by_pinocchio])
@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_arms_move_as_by_the_peers_to_rounding(name, peer):
    run = ours(name)
    errors = compared(name, peer(name), run)
    assert run.reason == "finished" and np.ptp(run.q, axis=0).max() > 0.1 and max(errors) < 1e-9, errors


@pytest.mark.parametrize("name", ["solo12_floating", "simple_humanoid_floating"])
def test_floating_bases_move_as_by_mujoco_to_the_error_of_the_method(name):
    run = ours(name)
    errors = compared(name, by_mujoco(name), run)
    assert run.reason == "finished" and np.ptp(run.q, axis=0).max() > 0.1 and max(errors) < 1e-6, errors


@pytest.mark.parametrize("name", ["panda", "solo12_floating"])
def test_momenta_take_robots_where_velocities_do(name):
    errors = compared(name, ours(name, "hamilton"), ours(name))
    assert max(errors) < 1e-7, errors      # of two discretisations of order 4
