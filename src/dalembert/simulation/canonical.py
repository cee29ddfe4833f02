"""Mechanisms in (q, p): the equations of Hamilton, whose velocities come from momenta and not from accelerations."""

from __future__ import annotations

import numpy as np

from dalembert.compiled.function import function
from dalembert.formulations import hamilton
from dalembert.model.mechanism import Mechanism
from dalembert.simulation.forms import OfMechanism, along, compiled, compiled_velocities
from dalembert.simulation.kept import kept

DOUBTFUL = 1e-3      # error of velocities that come back from their momenta: the mass matrix is looked at again


class Canonical(OfMechanism):
    """A mechanism in (q, p); p are quasi-momenta of spherical and free joints.

        A(q) z = p  (exact sweep),   q' = rate(q, z),   p' = dL/dq (q, z) + ad*_z p + friction + tau
    """

    canonical = True

    def __init__(self, mechanism: Mechanism):
        super().__init__(mechanism, "hamilton")

    def started(self, q, qd, t):
        m = self.system
        momenta = kept(m, "momenta", lambda: function(lambda q, qd: hamilton.momenta(m, q, qd), q=m.nq, qd=m.nv))
        back = compiled_velocities(self)(np.full(len(q), t), q, momenta(q, np.ones_like(qd)))
        if not np.allclose(back, 1, rtol=0, atol=DOUBTFUL):
            hamilton.velocities(m, q, momenta(q, qd))      # raises where A is singular, and names the joint
        return momenta(q, qd)

    def velocities(self, t, q, y):
        return hamilton.velocities(self.system, q, y)

    def rates(self, t, q, y, qd, tau):
        return self.system.rate(q, qd), hamilton.momentum_rate(self.system, q, qd, y) + tau

    def energy(self, q, y):
        return hamilton.hamiltonian(self.system, q, y)

    def called(self):
        return compiled(self)

    def recorded(self, t, q, y):
        return along(t, compiled_velocities(self), q, y)
