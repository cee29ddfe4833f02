"""The motion of the demo stays within limits, also where files have zeros for limits that nobody gave."""

from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.commandline.demonstrated_motion import demonstrated

START, GOAL = np.zeros(2), np.array([1.5, -1.0])


@pytest.mark.parametrize(("velocity", "effort"), [(1.0, 30.0), (0, 0), (0.5, None)])
def test_the_motion_is_as_slow_as_limits_want_it(velocity, effort):
    chain = da.planar_chain(2)
    limits = da.Limits(-2, 2, velocity=velocity, effort=effort)
    joints = tuple(replace(joint, limits=limits) for joint in chain.joints)
    arm = replace(chain, joints=joints).replace(gravity=(0, 0, 0))
    motion = demonstrated(arm, START, GOAL)
    times = np.linspace(0, motion.duration, 200)
    reference = motion.control.reference
    q, qd, qdd = (np.array(rows) for rows in zip(*map(reference, times), strict=True))
    assert motion.duration == (2.0 if velocity == 0 else pytest.approx(15 / 8 * 1.5 / (0.6 * velocity)))
    assert np.abs(q[-1] - GOAL).max() < 1e-12 and (np.abs(qd[-1]) < 1e-12).all()
    assert velocity == 0 or np.abs(qd).max() <= 0.6 * velocity * (1 + 1e-9)
    tau = da.inverse_dynamics(arm, q, qd, qdd)
    assert not effort or np.abs(tau).max() <= effort
