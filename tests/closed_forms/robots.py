"""Robots of the tests of closed forms, by elementary motions; all inertial parameters different unless said."""

from functools import cache

import numpy as np

import dalembert as da

PUMA = ("Rz(q1) Tz(0.6) Rx(pi/2) Rz(q2) Tx(0.43) Rz(q3) Tz(0.15) Tx(0.02) Rx(-pi/2) Rz(q4) Tz(0.44) Rx(pi/2) Rz(q5) "
        "Rx(-pi/2) Rz(q6)")
UR5 = "Rz(q1) Tz(0.6) Rx(pi/2) Rz(q2) Tx(0.43) Rz(q3) Tx(0.15) Rz(q4) Tz(0.11) Rx(pi/2) Rz(q5) Tz(0.09) Rx(-pi/2) Rz(q6)"
STANFORD = "Rz(q1) Rx(-pi/2) Rz(q2) Tz(0.2) Rx(pi/2) Rz(-pi/2) Tz(q3) Rz(q4) Rx(-pi/2) Rz(q5) Rx(pi/2) Rz(q6)"
SCARA = "Rz(q1) Tx(0.3) Rz(q2) Tx(0.25) Tz(q3) Rz(q4)"
PANDA = ("Rz(q1) Rx(-pi/2) Rz(q2) Rx(pi/2) Tz(0.316) Rz(q3) Tx(0.0825) Rx(pi/2) Rz(q4) Tx(-0.0825) Rx(-pi/2) Tz(0.384) "
         "Rz(q5) Rx(pi/2) Rz(q6) Tx(0.088) Rx(pi/2) Rz(q7)")
DENSE = {"puma": PUMA, "ur5": UR5, "stanford": STANFORD, "scara": SCARA, "panda": PANDA}


def bodies(n, seed=0):
    """(mass, com, tensor) of n clouds of points, with three decimals."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(n):
        points, masses = rng.uniform(-0.3, 0.3, (8, 3)), rng.uniform(0.1, 0.6, 8)
        com = masses @ points / masses.sum()
        r = points - com
        second = (r * masses[:, None]).T @ r
        tensor = np.trace(second) * np.eye(3) - second
        found.append((round(float(masses.sum()), 3), com.round(3).tolist(), tensor.round(4).tolist()))
    return found


def arm(chain, name="arm", gravity=(0, 0, -9.81)):
    return da.from_motions(chain, inertia=bodies(chain.count("q")), gravity=gravity, name=name)


def dense(name):
    return arm(DENSE[name], name)


@cache
def closed_forms(name):
    """Closed forms of a dense arm with symbols for all numbers, derived once for tests that only read them."""
    return da.equations(dense(name), "all")


def planar(n):
    return arm(" Tx(0.3) ".join(f"Rz(q{k})" for k in range(1, n + 1)), f"planar {n}R", (0, -9.81, 0))


def spatial(n):
    """n revolute joints, turned by quarter turns against each other, with two offsets on every link."""
    parts = [f"Rz(q{k}) Tz({0.1 + k / 100}) Tx({0.3 + k / 100}) Rx({'' if k % 2 else '-'}pi/2)" for k in range(1, n + 1)]
    return arm(" ".join(parts), f"spatial {n}R")
