"""Jacobians: derivatives of placements, and the forces that they carry to the joints."""

from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from trees import DIFFERENCES, close, derivative, seeds, tree


@pytest.mark.parametrize("seed", seeds(8))
def test_jacobians_are_derivatives_of_placements(seed):
    m, q, qd, _ = tree(seed)
    for frame in (m.bodies[-1].name, *(f.name for f in m.frames[:1])):
        T, T_rate = da.placement(m, q, frame), derivative(lambda t, f=frame: da.placement(m, m.integrate(q, t * qd), f))
        w = T_rate[:3, :3] @ T[:3, :3].T
        omega, v, p, R = np.array([w[2, 1], w[0, 2], w[1, 0]]), T_rate[:3, 3], T[:3, 3], T[:3, :3]
        for axes, expected in (("aligned", (omega, v)), ("world", (omega, v - np.cross(omega, p))),
                               ("local", (R.T @ omega, R.T @ v))):
            J = da.jacobian(m, q, frame, axes)
            assert close(J @ qd, np.concatenate(expected), DIFFERENCES, 1 + np.abs(J @ qd).max())
            rate = derivative(lambda t, f=frame, a=axes: da.jacobian(m, m.integrate(q, t * qd), f, a))
            assert close(da.jacobian_rate(m, q, qd, frame, axes), rate, DIFFERENCES, 1 + np.abs(rate).max())


@pytest.mark.parametrize("seed", seeds(5, 10))
def test_external_forces_act_by_the_jacobian_of_the_same_axes(seed):
    m, q, qd, qdd = tree(seed)
    wrench, frame = np.array([0.2, -0.4, 0.6, 1.0, -2.0, 3.0]), m.frames[0].name
    for axes in ("aligned", "local", "world"):
        load = [da.ExternalForce(frame, wrench[3:], wrench[:3], expressed_in=axes)]
        difference = da.inverse_dynamics(m, q, qd, qdd) - da.inverse_dynamics(m, q, qd, qdd, load)
        expected = da.jacobian(m, q, frame, axes).T @ wrench
        assert close(difference, expected, 1e-11, 1 + np.abs(expected).max())
        found = da.forward_dynamics(m, q, qd, da.inverse_dynamics(m, q, qd, qdd, load), load)
        assert np.allclose(found, qdd, rtol=0, atol=1e-8)


def test_a_planar_arm_has_the_jacobian_of_books():
    """Links of 1 m: the end of the second is at (cos q1 + cos q12, sin q1 + sin q12) (Craig, Introduction to Robotics, section 5.7)."""
    arm = da.from_dh([da.DHParameters(a=1), da.DHParameters(a=1)], inertia=[(1, (0, 0, 0), (0,) * 6)] * 2)
    arm = replace(arm, frames=(da.Frame("end", arm.bodies[-1].name, da.Origin((1, 0, 0))),))
    q1, q2 = 0.3, 0.9
    s1, c1, s12, c12 = np.sin(q1), np.cos(q1), np.sin(q1 + q2), np.cos(q1 + q2)
    J = da.jacobian(arm, [q1, q2], "end")
    np.testing.assert_allclose(J, [[0, 0], [0, 0], [1, 1], [-s1 - s12, -s12], [c1 + c12, c12], [0, 0]], atol=1e-15)
