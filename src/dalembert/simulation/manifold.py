"""States that a system may have: quaternions of unit length, and constraints met."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.expr import sqrt
from dalembert.simulation.formulation import Formulation
from dalembert.simulation.mobility import projected_beside
from dalembert.systems.constraint_set import ConstraintSet, Response


class StateManifold:
    """An `integrators.method_kinds.Manifold` in x = (q, y, ...), with the numbers and the clock of a
    motion.

    motion : the first-order system
    p : its parameters (n,), of floats or expressions; to be `bound` where they are not known yet
    """

    def __init__(self, motion: Any, p: Any = None):
        self._motion, self._p = motion, p
        self.is_constrained = bool(motion.system.constraints)

    def bound(self, p: Any) -> StateManifold:
        """The manifold with parameters."""
        return StateManifold(self._motion, p)

    @property
    def _constraints(self) -> ConstraintSet:
        return ConstraintSet(self._motion.at(self._p).system)

    def __call__(self, t: Any, x: Any) -> Any:
        x = self.normalized(x)
        if not self.is_constrained:
            return x
        q, y, *others = self._motion.state.parts(x)
        state = q, y, self._clock(t)
        if law := self._motion.reactions:
            moving = law.moving(self._motion.modes(self._p))
            return np.concatenate([*projected_beside(self._constraints, moving, *state), *others])
        return np.concatenate([*self._constraints.projected(*state), *others])

    def normalized(self, x: Any) -> Any:
        """x with quaternions of unit length."""
        return normalized(self._motion.formulation, x)

    def position(self, t: Any, q: Any) -> Any:
        """phi of holonomic constraints (k,)."""
        return self._constraints.position(q, self._clock(t))

    def velocity(self, t: Any, q: Any, qd: Any) -> Any:
        """phi' (k,)."""
        return self._constraints.rates(q, qd, self._clock(t)).velocity

    def response(self, t: Any, q: Any, qd: Any) -> Response:
        """Motion that forces of constraints cause at a state."""
        return self._constraints.responses(q, qd, self._clock(t))[1]

    def _clock(self, t: Any) -> Any:
        return self._motion.clock(t, self._p)


def normalized(formulation: Formulation, x: np.ndarray) -> np.ndarray:
    """x with quaternions of unit length."""
    if not formulation.quaternions:
        return x
    x = x.copy()
    for at in formulation.quaternions.values():
        x[at : at + 4] = x[at : at + 4] / sqrt(sum(c * c for c in x[at : at + 4]))
    return x
