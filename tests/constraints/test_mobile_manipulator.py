"""A SCARA arm on a differential drive, of a URDF file with its wheels in a TOML file beside it."""

import math
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from reference import table

OWN = Path(__file__).parents[1] / "data" / "models" / "own"
ARM = ["joint1", "joint2", "joint3", "joint4"]
B, R = 0.25, 0.1      # half of the track, radius of the wheels [m]


@pytest.fixture(scope="module")
def mobile():
    return da.load(OWN / "mobile_scara.urdf", constraints=OWN / "mobile_scara_rolling.toml")


def torques(t, n):
    return [0, 0, 0, 0.4 * da.cos(t), 0.5, *[0.0] * n]


def driven(mechanism, duration, q=None, **options):
    q = np.zeros(mechanism.nq) if q is None else q
    n = mechanism.nv - 5
    return da.simulate(mechanism, q, np.zeros(mechanism.nv), duration, control=lambda t, q, qd: torques(t, n), method="dop853",
                       rtol=1e-10, atol=1e-12, record=duration / 4, **options)


def rk4(rates, x, duration, steps):
    h = duration / steps
    for k in range(steps):
        t = k * h
        k1 = rates(t, x)
        k2 = rates(t + h / 2, x + h / 2 * k1)
        k3 = rates(t + h / 2, x + h / 2 * k2)
        k4 = rates(t + h, x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x


def without_mass(mechanism, bodies):
    paths = ["mass", *(f"inertia[{i},{j}]" for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)))]
    return mechanism.replace({f"{body}.{path}": 0 for body in bodies for path in paths})


def compared(run, columns, row):
    names = ("theta", "x", "y", "phi_left", "phi_right")
    expected = [columns[name][row] for name in names]
    assert np.abs(run.q[-1] - expected).max() < 1e-8


def test_the_cart_of_the_file_is_the_differential_drive_of_the_reference(mobile):
    rows, columns = table("nonholonomic", "differential_drive")
    bare = without_mass(mobile.lock(ARM), ["link1", "link2", "link3", "link4"])
    compared(driven(bare, rows[4, 0]), columns, 4)


def test_the_generator_makes_the_differential_drive_of_the_reference():
    rows, columns = table("nonholonomic", "differential_drive")
    compared(driven(da.loops.differential_drive().mechanism, rows[4, 0]), columns, 4)


def test_with_its_arm_locked_it_moves_as_a_cart_with_its_centre_of_mass_aside(mobile):
    """d ahead and e to the left: (m + 2 I_w/r^2) v' - m e w' - m d w^2 = (left + right)/r,
    (I + 2 I_w b^2/r^2) w' - m e v' + m d v w = b (right - left)/r, with I about the middle of the axle.
    """
    locked = mobile.lock({"joint1": 0.5, "joint2": 0.8, "joint3": 0.1, "joint4": 0.3})
    M = da.mass_matrix(locked, np.zeros(5))
    m, md, me, moment, wheel = M[1, 1], M[0, 2], -M[0, 1], M[0, 0], M[3, 3]
    assert m == pytest.approx(10 + 7 + 5 + 1.5 + 0.6) and abs(me) > 0.5

    def rates(t, state):
        _, _, angle, _, _, v, w = state
        left, right = 0.4 * math.cos(t), 0.5
        A = np.array([[m + 2 * wheel / R ** 2, -me], [-me, moment + 2 * wheel * B ** 2 / R ** 2]])
        force = [(left + right) / R + md * w ** 2, B * (right - left) / R - md * v * w]
        return np.array([v * math.cos(angle), v * math.sin(angle), w, (v - B * w) / R, (v + B * w) / R, *np.linalg.solve(A, force)])

    x, y, angle, left, right, _, _ = rk4(rates, np.zeros(7), 2.0, 400)
    assert np.abs(driven(locked, 2.0).q[-1] - [angle, x, y, left, right]).max() < 1e-8


def test_with_its_arm_free_multipliers_and_maggis_equations_agree(mobile):
    """B^T (M (B u' + B' u) + bias - tau) = 0 with qd = B(q) u: turns of the wheels, and the arm's rates."""
    start = np.array([0, 0, 0, 0, 0, 0.3, 0.6, 0.05, 0.2])

    def parts(angle, rate):
        B_, B_rate = np.zeros((9, 6)), np.zeros((9, 6))
        B_[0, :2] = -R / (2 * B), R / (2 * B)
        B_[1, :2], B_[2, :2] = R / 2 * math.cos(angle), R / 2 * math.sin(angle)
        B_rate[1, :2], B_rate[2, :2] = -R / 2 * math.sin(angle) * rate, R / 2 * math.cos(angle) * rate
        B_[3:, :] = np.eye(6)
        return B_, B_rate

    dyn = da.compile(mobile.without("constraints"))

    def rates(t, state):
        q, u = state[:9], state[9:]
        B_, _ = parts(q[0], 0.0)
        qd = B_ @ u
        _, B_rate = parts(q[0], qd[0])
        tau = np.array([0, 0, 0, 0.4 * math.cos(t), 0.5, 0, 0, 0, 0])
        M, bias = dyn.mass_matrix(q), dyn.bias_force(q, qd)
        force = B_.T @ (tau - bias - M @ (B_rate @ u))
        return np.concatenate([qd, np.linalg.solve(B_.T @ M @ B_, force)])

    end = rk4(rates, np.concatenate([start, np.zeros(6)]), 0.5, 250)[:9]
    run = driven(mobile, 0.5, start)
    assert np.abs(run.q[-1] - end).max() < 1e-8
    assert np.abs(run.q[-1, 5:] - start[5:]).max() > 1e-3      # the arm swings as the cart turns
    by_gauss = mobile.without("constraints").constrained(*mobile.constraints, principle="gauss", actuated=mobile.actuated)
    assert np.abs(driven(by_gauss, 0.5, start).q[-1] - end).max() < 1e-8
