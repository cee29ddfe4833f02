"""Classical nonholonomic systems as Lagrangians with constraints, with the start and the table of each (tests/data/reference)."""

from functools import cache

import numpy as np

import dalembert as da
from dalembert.constraints import Velocity
from reference import table

FILE = "nonholonomic"


def sleigh(m=1, inertia=0.5, a=0.3):
    """Chaplygin's sleigh: the mass centre lies a ahead of the knife edge at (x, y)."""

    def lagrangian(q, qd, t):
        (_, _, theta), (x, y, w) = q, qd
        return m * (x * x + y * y) / 2 + m * a * w * (y * da.cos(theta) - x * da.sin(theta)) + (inertia + m * a * a) * w * w / 2

    knife = Velocity("knife", lambda q, qd, t: [qd[1] * da.cos(q[2]) - qd[0] * da.sin(q[2])], "m/s")
    return da.lagrangian_system(lagrangian, "x y theta", name="sleigh").constrained(knife)


SLEIGH_VELOCITIES = {"v": lambda q, qd, t: qd[0] * da.cos(q[2]) + qd[1] * da.sin(q[2]), "omega": "theta"}


def knife_edge(m=1, inertia=0.1, weight=9.81 / 2):
    """A skate on an incline, x down the slope."""
    knife = Velocity("knife", lambda q, qd, t: [qd[0] * da.sin(q[2]) - qd[1] * da.cos(q[2])], "m/s")
    return da.lagrangian_system(lambda q, qd, t: m * (qd[0]**2 + qd[1]**2) / 2 + inertia * qd[2]**2 / 2 + m * weight * q[0],
                                "x y theta", name="skate").constrained(knife)


def upright_disk(m=1, R=0.5, axial=0.125, diametral=0.0625):
    """A disk that rolls upright: (x, y) of its centre, heading phi, turn psi."""

    def rolls(q, qd, t):
        return [qd[0] - R * qd[3] * da.cos(q[2]), qd[1] - R * qd[3] * da.sin(q[2])]

    return da.lagrangian_system(lambda q, qd, t: m * (qd[0]**2 + qd[1]**2) / 2 + diametral * qd[2]**2 / 2 + axial * qd[3]**2 / 2,
                                "x y phi psi", name="disk").constrained(Velocity("rolling", rolls, "m/s"))


def coin(m=1, r=0.2, A=0.01, C=0.02, g=9.81):
    """A thin disk that rolls on a plane: contact (x, y), yaw, inclination theta, turn psi."""

    def lagrangian(q, qd, t):
        (_, _, yaw, theta, _), (x, y, yaw_rate, theta_rate, psi_rate) = q, qd
        c, s, ct, st = da.cos(yaw), da.sin(yaw), da.cos(theta), da.sin(theta)
        along, across = x * c + y * s, y * c - x * s                 # of the contact, along the tangent e and the normal n
        v = (along + r * yaw_rate * ct, across + r * theta_rate * st, r * theta_rate * ct)       # of the centre; u = -ct n + st z
        spin = psi_rate - yaw_rate * ct
        return (m * (v[0]**2 + v[1]**2 + v[2]**2) + A * (theta_rate**2 + (yaw_rate * st)**2) + C * spin**2) / 2 - m * g * r * st

    def rolls(q, qd, t):
        """The contact moves along the tangent as much as the rim rolls off."""
        (_, _, yaw, _, _), (x, y, _, _, psi_rate) = q, qd
        return [x + r * psi_rate * da.cos(yaw), y + r * psi_rate * da.sin(yaw)]

    return da.lagrangian_system(lagrangian, "x y yaw theta psi", name="coin").constrained(Velocity("rolling", rolls, "m/s"))


# The angular velocity of the coin along the tangent, in the disk towards the centre, and along the axis.
COIN = {"omega1": "theta", "omega2": lambda q, qd, t: qd[2] * da.sin(q[3]), "omega3": lambda q, qd, t: qd[4] - qd[2] * da.cos(q[3])}


def snakeboard(m=6, board=0.016, rotor=0.072, wheel=0.0013, half=0.2):
    """A snakeboard of length 2 half, whose axles turn by phi and -phi."""

    def lagrangian(q, qd, t):
        x, y, th, psi, phi = qd
        return m * (x * x + y * y) / 2 + board * th**2 / 2 + rotor * (th + psi)**2 / 2 + wheel * ((th + phi)**2 + (th - phi)**2) / 2

    def axles(q, qd, t):
        (_, _, th, _, phi), (x, y, turn, _, _) = q, qd
        return [-da.sin(th + phi) * x + da.cos(th + phi) * y + half * da.cos(phi) * turn,
                -da.sin(th - phi) * x + da.cos(th - phi) * y - half * da.cos(phi) * turn]

    def forces(q, qd, t):
        return [0, 0, 0, 0.3 * da.cos(3 * t), 0.004 * da.cos(3 * t + 0.5)]

    return da.lagrangian_system(lagrangian, "x y theta psi phi", forces, "snakeboard").constrained(Velocity("axles", axles, "m/s"))


def roller_racer(m=1, I1=0.1, I2=0.01, d1=0.5, d2=0.2):
    """Two links, each on an axle, with a joint between them."""

    def axles(q, qd, t):
        (_, _, th, al), (x, y, turn, steer) = q, qd
        return [-da.sin(th) * x + da.cos(th) * y,
                -da.sin(th + al) * x + da.cos(th + al) * y + (d1 * da.cos(al) + d2) * turn + d2 * steer]

    return da.lagrangian_system(
        lambda q, qd, t: m * (qd[0]**2 + qd[1]**2) / 2 + I1 * qd[2]**2 / 2 + I2 * (qd[2] + qd[3])**2 / 2, "x y theta alpha",
        lambda q, qd, t: [0, 0, 0, 0.05 * da.cos(4 * t) - 0.3 * q[3]], "roller racer").constrained(Velocity("axles", axles, "m/s"))


def forward(q, qd, t):
    """Speed along the heading theta."""
    return qd[0] * da.cos(q[2]) + qd[1] * da.sin(q[2])


# System, its independent velocities, start (q, qd), and the columns of its table.
CASES = {
    "chaplygin_sleigh": (sleigh, SLEIGH_VELOCITIES, ([0, 0, 0], [0.1, 0, 2]), "x y theta x_dot y_dot theta_dot"),
    "knife_edge_incline": (knife_edge, {"v": forward, "omega": "theta"}, ([0, 0, 0], [0, 0, 2]), "x y theta"),
    "rolling_thin_disk": (coin, "yaw theta psi", ([0, 0, 0, 1.2, 0], [1.6, 0, 0.5, 0.1, -8]),
                          "x_contact y_contact yaw theta psi yaw_dot theta_dot psi_dot"),
    "snakeboard": (snakeboard, {"v": forward, "rotor": "psi", "steering": "phi"},
                   ([0, 0, 0, 0, 0.3], [0.2, 0, 0.2 * np.tan(0.3) / 0.2, 0, 0]), "x y theta psi phi v_forward psi_dot phi_dot"),
    "roller_racer": (roller_racer, {"v": forward, "steering": "alpha"},
                     ([0, 0, 0, 0.4], [0.1, 0, 0.1 * np.sin(0.4) / (0.5 * np.cos(0.4) + 0.2), 0]), "x y theta alpha v_forward alpha_dot"),
}


@cache
def motion(case):
    """The run of a case, and its table: both with the same columns."""
    make, _, (q, qd), names = CASES[case]
    rows, columns = table(FILE, case)
    run = da.simulate(make(), q, qd, columns["t"], method="dop853", rtol=1e-12, atol=1e-13)
    found = {name: run.q[:, k] for k, name in enumerate(make().coordinate_names)}
    found |= {f"{name}_dot": run.qd[:, k] for k, name in enumerate(make().coordinate_names)}
    found |= {f"{name}_contact": found[name] for name in "xy"}
    theta = found["theta"]
    found["v_forward"] = found["x_dot"] * np.cos(theta) + found["y_dot"] * np.sin(theta)
    return run, np.stack([found[name] for name in names.split()], 1), rows[:, 1:]
