"""Flexible joints as a system: coordinates of the links and of the motors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dalembert.formulations.lagrange.flexible import FlexibleJoints
from dalembert.systems.mechanism_system import MechanismSystem
from dalembert.systems.system import System


class FlexibleJointsSystem(System):
    """A mechanism on flexible joints; forces tau act on links and motors, each along its own
    velocity.
    """

    positive_definite = True

    def __init__(self, flexible: FlexibleJoints):
        self._own, self.name = flexible, f"{flexible.mechanism.name} on flexible joints"
        self.coordinate_names = flexible.coordinate_names
        self._links = MechanismSystem(flexible.mechanism)

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the entries of qd, qdd and tau."""
        return self._own.velocity_names

    @property
    def source(self) -> FlexibleJoints:
        """The mechanism with flexible joints."""
        return self._own

    def mass_matrix(self, q, t=0.0):
        """[[M, S], [S^T, B]] (nv, nv)."""
        return self._own.mass_matrix(q)

    def bias_force(self, q, qd, t=0.0):
        """Forces of inertia and of potentials but M qdd (nv,)."""
        rest = np.zeros(self.nv)
        return self._own.coriolis_matrix(q, qd) @ qd + self._own.inverse_dynamics(q, rest, rest)

    def potential_energy(self, q, t=0.0):
        """Potential energy [J]."""
        return self._own.potential_energy(q)

    def generalized_forces(self, q, qd, t=0.0):
        """Friction of the joints and dampers of the springs."""
        return self.bias_force(q, qd) - self._own.inverse_dynamics(q, qd, np.zeros(self.nv))

    def kinetic_energy(self, q, qd, t=0.0):
        """Kinetic energy [J]."""
        return self._own.kinetic_energy(q, qd)

    def inverse_dynamics(self, q, qd, qdd, t=0.0):
        """Forces of the accelerations (nv,)."""
        return self._own.inverse_dynamics(q, qd, qdd)

    def forward_dynamics(self, q, qd, tau, t=0.0):
        """Accelerations of the forces (nv,)."""
        rest = np.zeros(self.nv)
        return self._solved(self._own.mass_matrix(q), tau - self._own.inverse_dynamics(q, qd, rest))

    @property
    def quaternions(self) -> Mapping[str, int]:
        """Offsets in q of the quaternions, by joint."""
        return self._links.quaternions

    @property
    def angular_velocities(self) -> Mapping[str, int]:
        """Offsets in qd of the quaternions' angular velocities, by joint."""
        return self._links.angular_velocities

    def rate(self, q, qd):
        """Rates of links' and motors' coordinates."""
        n, nv = self._links.nq, self._links.nv
        return np.concatenate([self._links.rate(q[..., :n], qd[..., :nv]), qd[..., nv:]], axis=-1)

    def integrate(self, q, step):
        """Coordinates after a step along the velocities."""
        n, nv = self._links.nq, self._links.nv
        return np.concatenate(
            [self._links.integrate(q[..., :n], step[..., :nv]), q[..., n:] + step[..., nv:]],
            axis=-1,
        )

    def difference(self, q_1, q_0):
        """Step along the velocities from q_0 to q_1."""
        n, q_1, q_0 = self._links.nq, np.asarray(q_1), np.asarray(q_0)
        links = self._links.difference(q_1[..., :n], q_0[..., :n])
        return np.concatenate([links, q_1[..., n:] - q_0[..., n:]], axis=-1)

    def normalize(self, q):
        """Coordinates with quaternions of unit length."""
        n = self._links.nq
        return (
            np.concatenate([self._links.normalize(q[..., :n]), q[..., n:]], axis=-1)
            if self.quaternions
            else q
        )

    def neutral(self):
        """Coordinates to begin with (nq,)."""
        return np.concatenate([self._links.neutral(), np.zeros(len(self._own.motors))])

    @property
    def coordinate_units(self) -> list[str]:
        """Units of the entries of q."""
        links = self._links.coordinate_units
        return [*links, *(links[m.at_q] for m in self._own.motors)]

    @property
    def velocity_units(self) -> list[str]:
        """Units of the entries of qd."""
        links = self._links.velocity_units
        return [*links, *(links[m.at_v] for m in self._own.motors)]


SYSTEM_OF = (FlexibleJoints, FlexibleJointsSystem)
