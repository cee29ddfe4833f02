"""Vectors of other engines against their own numbers, and both ways round."""

import numpy as np
import pytest

import dalembert as da
import oracles

FLOATING = [name for name in oracles.ROBOTS if oracles.INDEX[name]["floating_base"]]


def order_in(name):
    return [j["name"] for j in sorted(oracles.INDEX[name]["joints"], key=lambda j: j["idx_v"])]


def depth_first(arm):
    """Moving joints in the order of a walk that finishes each branch before the next."""
    found, stack = [], [j for j in reversed(arm.joints) if j.parent == arm.bodies[0].name]
    while stack:
        joint = stack.pop()
        found += [joint.name] * (not joint.is_fixed)
        stack += [j for j in reversed(arm.joints) if j.parent == joint.child]
    return found


@pytest.mark.parametrize("name", oracles.ROBOTS)
def test_pinocchio_vectors_give_its_forces(name):
    arm, o = oracles.robot(name), oracles.values(name)
    ours = da.convert.from_pinocchio(arm, o["q"], o["v"], o["a"], o["tau_id"], joint_order=order_in(name))
    tau = da.inverse_dynamics(arm, ours.q, ours.qd, ours.qdd)
    assert np.abs(tau - ours.tau).max() <= 1e-10 * np.abs(tau).max()
    back = da.convert.to_pinocchio(arm, *ours, joint_order=order_in(name))
    for given, returned in zip((o["q"], o["v"], o["a"], o["tau_id"]), back, strict=True):
        assert np.allclose(given, returned, rtol=0, atol=1e-13 * max(1, np.abs(given).max()))


@pytest.mark.parametrize("name", FLOATING)
def test_mujoco_vectors_of_floating_bases_give_its_forces(name):
    arm, o = oracles.robot(name), oracles.values(name)
    order = depth_first(arm)      # MuJoCo's; in simple_humanoid the legs come in another order than in Pinocchio
    ours = da.convert.from_mujoco(arm, o["mj_qpos"], o["mj_qvel"], o["mj_qacc"], o["mj_tau_id"], order)
    tau = da.inverse_dynamics(arm, ours.q, ours.qd, ours.qdd)
    assert np.abs(tau - ours.tau).max() <= 1e-10 * np.abs(tau).max()
    back = da.convert.to_mujoco(arm, *ours, joint_order=order)
    for given, returned in zip((o["mj_qpos"], o["mj_qvel"], o["mj_qacc"], o["mj_tau_id"]), back, strict=True):
        assert np.allclose(given, returned, rtol=0, atol=1e-12 * max(1, np.abs(given).max()))


def planar_and_spherical():
    bodies = [da.Body("base")] + [da.Body(f"b{k}", 1.5, (0.1, 0.2, -0.1), (0.2, 0.01, 0.3, 0, 0.02, 0.25)) for k in (1, 2)]
    return da.Mechanism("test", bodies, [da.Joint("slide", da.Planar((0, 0, 1)), "base", "b1"),
                                         da.Joint("ball", da.Spherical(), "b1", "b2", da.Origin((0.3, 0, 0)))])


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_power_is_the_same_in_both_conventions(engine):
    arm = planar_and_spherical()
    q, qd = arm.random_state(3)
    tau = np.arange(1.0, 7.0)
    theirs = getattr(da.convert, f"to_{engine}")(arm, q, qd, None, tau)
    assert theirs.qd @ theirs.tau == pytest.approx(qd @ tau, rel=1e-14)


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_conversion_both_ways_is_the_identity(engine):
    arm = planar_and_spherical()
    states = [arm.random_state(seed) for seed in range(5)]
    q, qd = np.array([s[0] for s in states]), np.array([s[1] for s in states])
    back = getattr(da.convert, f"from_{engine}")(arm, *getattr(da.convert, f"to_{engine}")(arm, q, qd, 2 * qd, 3 * qd))
    for given, returned in zip((q, qd, 2 * qd, 3 * qd), back, strict=True):
        assert np.allclose(given, returned, rtol=0, atol=1e-14)


def test_planar_acceleration_is_the_derivative_of_the_velocity_in_child_axes():
    arm, h = planar_and_spherical(), 1e-6
    q, qd = arm.random_state(3)
    qdd = np.linspace(-1, 1, 6)
    after, before = (da.convert.to_pinocchio(arm, arm.integrate(q, s * h * qd), qd + s * h * qdd).qd for s in (1, -1))
    assert np.allclose(da.convert.to_pinocchio(arm, q, qd, qdd).qdd, (after - before) / (2 * h), atol=1e-8)


def test_classical_and_spatial_acceleration_are_inverse_to_each_other():
    arm = da.random_tree(4, 3, ["free"])
    q, qd = arm.random_state(1)
    classical = da.convert.classical_acceleration(arm, q, qd, 0 * qd)
    assert np.abs(classical).max() > 0
    assert np.allclose(da.convert.spatial_acceleration(arm, q, qd, classical), 0, atol=1e-15)


def test_an_unknown_or_missing_joint_is_named():
    arm = planar_and_spherical()
    q, _ = arm.random_state(1)
    with pytest.raises(da.UnknownNameError, match="unknown joint 'bal'.*Did you mean 'ball'"):
        da.convert.to_mujoco(arm, q, joint_order=["slide", "bal"])
    with pytest.raises(da.ShapeError, match="ball missing"):
        da.convert.to_mujoco(arm, q, joint_order=["slide"])


@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_one_vector_goes_with_many(engine):
    arm = da.random_tree(4, 3, ["free", "planar", "revolute"])
    q, qd = np.array([arm.random_state(s)[0] for s in range(4)]), arm.random_state(9)[1]
    found = getattr(da.convert, f"to_{engine}")(arm, q, qd, qd, qd)
    for k in range(4):
        one = getattr(da.convert, f"to_{engine}")(arm, q[k], qd, qd, qd)
        assert all(np.allclose(batch[k], single) for batch, single in zip(found, one, strict=True))
    back = getattr(da.convert, f"from_{engine}")(arm, *found)
    assert np.allclose(back.qd, qd)
