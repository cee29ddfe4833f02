"""Systems of the third source: a mass, and what leads it."""

import json
from pathlib import Path

import numpy as np

import dalembert as da

REFERENCE = json.loads((Path(__file__).parent / "data" / "reference" / "nonholonomic_control.json").read_text())
PRECISE = {"method": "dop853", "rtol": 1e-12, "atol": 1e-13}
EPS = 0.3      # phase of the harmonic program


class Masses(da.System):
    """Free masses on a line."""

    name = "masses"

    def __init__(self, *constraints, masses=(1.0,), principles=()):
        self.constraints, self.masses, self.principles = constraints, masses, principles
        self.coordinate_names = tuple(f"x{k + 1}" for k in range(len(masses)))

    def mass_matrix(self, q, t=0.0):
        return np.diag(self.masses)

    def bias_force(self, q, qd, t=0.0):
        return np.zeros(self.nv)

    def potential_energy(self, q, t=0.0):
        return 0 * q[0]


def speed(q, s, t):
    """x1 = x2': the relation of the source's examples."""
    return [q[0] - s[1]]


def steady(alpha=1.0, c=0.0, Q=1.0, name="speed"):
    """The coupling of example A."""
    return da.constraints.TwoWay(name, speed, da.generators.SteadyAcceleration(Q), alpha=alpha, c=c)


def harmonic(w=1.0, a=1.0, alpha=1.0, c=0.0):
    """The coupling of example B."""
    return da.constraints.TwoWay("speed", speed, da.generators.Harmonic(w, a, EPS), alpha=alpha, c=c)


def led(frequency=5.0, **given):
    """The mass of example B as a servo constraint, and its state on the program but for the speed."""
    program = da.generators.Harmonic(1.0, 1.0, EPS, **given).derivative()
    return da.constraints.Servo("program", "x1", program, ["x1"], frequency=frequency)


START = [np.cos(EPS)], [-np.sin(EPS) - 0.05]
