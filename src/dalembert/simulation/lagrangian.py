"""A user's own Lagrangian in (q, qd) and in (q, p).

Its energy is the function of Jacobi h = p . qd - L, which changes by the power of the forces less dL/dt.
"""

from __future__ import annotations

import numpy as np

from dalembert.expr import free_symbols
from dalembert.formulations.lagrange.system import LagrangianSystem
from dalembert.simulation.forms import NONE, Form, along, compiled
from dalembert.simulation.kept import dynamics_of

OWN, CANONICAL = "lagrange", "hamilton"      # names of the formulations
NEARLY = 1e-6                                # of the smallest singular value at the start


class _OfLagrangian(Form):
    """What both forms share."""

    def __init__(self, system: LagrangianSystem):
        if system.parameters:
            raise ValueError(f"{system.name!r} has parameters without values: {', '.join(system.parameters)}. Give them by "
                             "system.replace({name: value}).")
        self.system, self.quaternions = system, {}

    def check(self, q, qd, numbers=NONE):
        self.system.lagrangian(q, qd)

    def power(self, t, q, qd, tau):
        return self.system.energy_rate(q, qd, tau, t)

    def energy(self, q, y):
        if any(s.name == "t" for s in free_symbols(self.system.quantities["energy"].expressions)):
            raise ValueError(f"the energy of {self.system.name!r} is a function of time too, which discrete_gradient does "
                             "not keep: take another method.")
        return self.system.energy(q, self.velocities(0.0, q, y))

    def called(self, numbers=NONE):
        return compiled(self, numbers)

    def singular(self, t, q, qd, stuck):
        M = along(t, lambda t, q, qd: dynamics_of(self.system).mass_matrix(q, qd, t), q, qd)
        signs = np.linalg.slogdet(M)[0]
        changed = np.flatnonzero(signs != signs[0])
        if changed.size:
            return int(changed[0]), self._says(*_singular_between(M[changed[0] - 1], M[changed[0]]))
        first = np.abs(np.diag(M[0]))
        scale = np.where(first > 0, first, 1.0) ** -0.5                 # whatever the units
        values, right = np.linalg.svd(M[[0, -1]] * scale[:, None] * scale)[1:]
        if stuck and values[1, -1] < NEARLY * values[0, -1]:
            return len(M) - 1, self._says("nearly singular", right[1, -1])
        return None

    def _says(self, how: str, null: np.ndarray) -> str:
        name = self.system.coordinate_names[int(np.argmax(np.abs(null)))]
        return f"the mass matrix of {self.system.name!r} is {how}: coordinate {name!r}"

    def move(self, q, step):
        return q + step

    def normalize(self, q):
        return q


class Lagrangian(_OfLagrangian):
    """M qdd = Q + tau - bias, in (q, qd)."""

    formulation = OWN

    def started(self, q, qd, t, numbers=NONE):
        self.system.forward_dynamics(q, qd, np.zeros(self.system.nv), t)      # raises where M is singular
        return qd

    def velocities(self, t, q, y):
        return y

    def rates(self, t, q, y, qd, tau):
        return qd, self.system.forward_dynamics(q, qd, tau, t)

    def recorded(self, t, q, y, numbers=NONE):
        return y


class LagrangianMomenta(_OfLagrangian):
    """p' = dL/dq + Q + tau in (q, p), of a Lagrangian quadratic in qd."""

    formulation, canonical = CANONICAL, True

    def started(self, q, qd, t, numbers=NONE):
        p = self.system.momenta(q, qd, t)
        self.system.velocities(q, p, t)
        return p

    def velocities(self, t, q, y):
        return self.system.velocities(q, y, t)

    def rates(self, t, q, y, qd, tau):
        return qd, self.system.lagrangian_gradient(q, qd, t) + self.system.generalized_forces(q, qd, t) + tau

    def recorded(self, t, q, y, numbers=NONE):
        return along(t, lambda t, q, p: dynamics_of(self.system).velocities(q, p, t), q, y)


def _singular_between(before: np.ndarray, after: np.ndarray) -> tuple[str, np.ndarray]:
    """What there is between two mass matrices of different signs, and the velocities that have no inertia there."""
    low, high, sign = 0.0, 1.0, np.linalg.slogdet(before)[0]
    for _ in range(40):
        middle = (low + high) / 2
        same = np.linalg.slogdet(before + middle * (after - before))[0] == sign
        low, high = (middle, high) if same else (low, middle)
    return "singular", np.linalg.svd(before + high * (after - before))[2][-1]
