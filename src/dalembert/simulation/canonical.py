"""Mechanisms in (q, p): the equations of Hamilton, whose velocities come from momenta and not from accelerations."""

from __future__ import annotations

import numpy as np

from dalembert.compiled.function import function
from dalembert.formulations import hamilton
from dalembert.simulation.forms import NONE, OfMechanism, along, compiled, compiled_velocities, rows_of
from dalembert.simulation.kept import kept

DOUBTFUL = 1e-3      # error of velocities that come back from their momenta: the mass matrix is looked at again


class Canonical(OfMechanism):
    """A mechanism in (q, p); p are quasi-momenta of spherical and free joints.

        A(q) z = p  (exact sweep),   q' = rate(q, z),   p' = dL/dq (q, z) + ad*_z p + friction + tau
    """

    canonical = True

    def started(self, q, qd, t, numbers=NONE):
        m = self.system
        sizes = {"q": m.nq, "qd": m.nv, "numbers": len(self.paths)}
        momenta = kept(m, ("momenta", self.paths), lambda: function(
            lambda q, qd, numbers: hamilton.momenta(self.at(numbers).system, q, qd), **sizes))
        back = compiled_velocities(self)(np.full(len(q), t), q, momenta(q, np.ones_like(qd), numbers), numbers)
        p, wrong = momenta(q, qd, numbers), ~(np.abs(back - 1) <= DOUBTFUL).all(axis=1)
        if wrong.any():
            rows = np.broadcast_to(numbers, (len(q), len(self.paths)))
            for own, *state in zip(rows[wrong], q[wrong], p[wrong], strict=True):
                hamilton.velocities(self.at(own).system, *state)      # raises where A is singular, and names the joint
        return p

    def velocities(self, t, q, y):
        return hamilton.velocities(self.system, q, y)

    def rates(self, t, q, y, qd, tau):
        return self.system.rate(q, qd), hamilton.momentum_rate(self.system, q, qd, y) + tau

    def energy(self, q, y):
        return hamilton.hamiltonian(self.system, q, y)

    def called(self, numbers=NONE):
        return compiled(self, numbers)

    def recorded(self, t, q, y, numbers=NONE):
        return along(t, compiled_velocities(self), q, y, rows_of(numbers, q))
