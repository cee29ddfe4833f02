"""The equations of motion as x' = f(t, x, p), compiled where the forces can be traced, called in Python where they cannot.

x = (q, qd, w, z): coordinates, velocities, the work [J] that actuators, friction and the user's forces have done, so that
T + Pi - w is constant but for the integrator's error, and the states of the controller, if it has any.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.compiled.marching import Marching
from dalembert.compiled.regrouping import Regrouped
from dalembert.errors import ShapeError
from dalembert.expr import Graph, sqrt, symbols
from dalembert.formulations import newton_euler
from dalembert.integrators import Method
from dalembert.kinematics.forces import passive_force
from dalembert.model.mechanism import Mechanism
from dalembert.simulation.controllers.checks import is_unchanging
from dalembert.simulation.kept import dynamics_of, kept

NONE, CONSTANT, TRACED, CALLED = "none", "constant", "traced", "called"

Force = Callable[[Any, np.ndarray, np.ndarray], Any]      # (t, q, qd) -> (nv,)


class Motion:
    """Right-hand side for a mechanism under forces on its joints.

    control, forces: None, numbers (nv,) or (N, nv), or functions of t, q, qd [N m, N]; a function is traced if it can be.
    A controller with an attribute `states` (m,) or (N, m), their initial values, is called with t, q, qd, states, and so is
    its `rate`, their time derivative.
    """

    def __init__(self, mechanism: Mechanism, control: Any = None, forces: Any = None):
        self.mechanism = mechanism
        self._given = {"control": control, "forces": forces}
        self.states = np.asarray(getattr(control, "states", ()), dtype=float)
        self._rate = control.rate if self.states.size else None
        self.kinds = {name: _kind(mechanism, name, given, self.states.shape[-1] if name == "control" else 0)
                      for name, given in self._given.items()}

    @cached_property
    def _rubbing(self) -> Mechanism:
        """The mechanism whose passive forces are friction alone: springs are in the potential energy."""
        return self.mechanism.without("springs")

    @property
    def traced(self) -> bool:
        """Whether all forces compile."""
        return CALLED not in self.kinds.values()

    @property
    def nx(self) -> int:
        """Length of x."""
        return self.mechanism.nq + self.mechanism.nv + 1 + self.states.shape[-1]

    @property
    def quaternions(self) -> list[tuple[int, int]]:
        """Where in x each quaternion begins, and where its angular velocity does."""
        m = self.mechanism
        return [(at, m.nq + m.entries[joint].at_v.start) for joint, at in m.quaternions.items()]

    def energy(self, x: np.ndarray) -> Any:
        """T + Pi less the work done: constant along every motion."""
        q, qd, work, _ = self.split(x)
        return newton_euler.kinetic_energy(self.mechanism, q, qd) + newton_euler.potential_energy(self.mechanism, q) - work

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """q, qd, work and states of the controller in x (..., nx)."""
        nq, at = self.mechanism.nq, self.mechanism.nq + self.mechanism.nv
        return x[..., :nq], x[..., nq:at], x[..., at], x[..., at + 1:]

    @property
    def constants(self) -> np.ndarray:
        """p: the forces given as numbers, one after the other."""
        given = [np.asarray(f, dtype=float) for name, f in self._given.items() if self.kinds[name] == CONSTANT]
        rows = np.broadcast_shapes(*(f.shape[:-1] for f in given))
        return np.concatenate([np.broadcast_to(f, (*rows, f.shape[-1])) for f in given], axis=-1) if given else np.zeros(0)

    def marching(self, method: Method) -> Marching:
        """The method over this motion as machine code."""
        traced = [f for name, f in self._given.items() if self.kinds[name] == TRACED]
        if not all(is_unchanging(f) for f in traced):      # what it refers to may have changed since it was traced last
            return self._marching(method)
        return kept(self.mechanism, (method.name, *self.kinds.values(), *traced), lambda: self._marching(method))

    def _marching(self, method: Method) -> Marching:
        project = self._project if self.mechanism.quaternions else None
        return Marching(self._right_hand_side, self.nx, self.constants.shape[-1], method, project)

    def function(self, row: int = 0) -> Callable[[float, np.ndarray], np.ndarray]:
        """f(t, x) on floats, for one trajectory, whose forces may be any Python functions."""
        mechanism, dynamics = self.mechanism, dynamics_of(self.mechanism)
        p = self.constants
        p = p[row % len(p)] if p.ndim == 2 else p

        def f(t: float, x: np.ndarray) -> np.ndarray:
            q, qd, _, states = self.split(x)
            if mechanism.quaternions:
                q = mechanism.normalize(q)
            tau = self._forces(t, q, qd, p, states)
            power = (tau + passive_force(self._rubbing, q, qd)) @ qd
            return np.concatenate([mechanism.rate(q, qd), dynamics.forward_dynamics(q, qd, tau), [power],
                                   self._rates(t, q, qd, states)])

        return f

    def _right_hand_side(self, t: Any, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        mechanism = self.mechanism
        q, qd, _, states = self.split(x)
        tau = self._forces(t, q, qd, p, states)
        accelerations = newton_euler.forward_dynamics(Regrouped.of(mechanism), q, qd, tau)
        power = sum((tau + passive_force(self._rubbing, q, qd)) * qd)
        return np.concatenate([mechanism.rate(q, qd), accelerations, [power], self._rates(t, q, qd, states)])

    def _rates(self, t: Any, q: np.ndarray, qd: np.ndarray, states: np.ndarray) -> np.ndarray:
        """Time derivative of the controller's states."""
        return _vector(self._rate(t, q, qd, states), "rate", len(states)) if self._rate else np.zeros(0)

    def _forces(self, t: Any, q: np.ndarray, qd: np.ndarray, p: np.ndarray, states: np.ndarray) -> np.ndarray:
        """Sum of the forces at a state."""
        tau, at = np.zeros(self.mechanism.nv), 0
        for name, given in self._given.items():
            if self.kinds[name] == CONSTANT:
                tau, at = tau + p[at:at + self.mechanism.nv], at + self.mechanism.nv
            elif self.kinds[name] != NONE:
                own = (states,) if name == "control" and self._rate else ()
                tau = tau + _vector(given(t, q, qd, *own), name, self.mechanism.nv)
        return tau

    def projected(self, x: np.ndarray) -> np.ndarray:
        """x with quaternions of unit length."""
        return self._project(x) if self.mechanism.quaternions else x

    def _project(self, x: np.ndarray) -> np.ndarray:
        x = x.copy()
        for at in self.mechanism.quaternions.values():
            x[at:at + 4] = x[at:at + 4] / sqrt(sum(c * c for c in x[at:at + 4]))
        return x


def _kind(mechanism: Mechanism, name: str, given: Any, states: int = 0) -> str:
    """How a force is given; functions are tried on symbols."""
    if given is None:
        return NONE
    if not callable(given):
        array = np.asarray(given)
        if array.dtype.kind not in "fiu" or array.ndim not in (1, 2) or array.shape[-1] != mechanism.nv:
            raise ShapeError(f"{name} has shape {array.shape}, expected a function of t, q, qd, or numbers "
                             f"({mechanism.nv},) or (N, {mechanism.nv}).", name, array.shape, (mechanism.nv,))
        return CONSTANT
    if is_unchanging(given):
        return TRACED
    with Graph():
        t, *rest = symbols("t", 1), symbols("q", mechanism.nq), symbols("qd", mechanism.nv)
        own = (symbols("z", states),) if states else ()
        try:
            _vector(given(t[0], *rest, *own), name, mechanism.nv)
            if own:
                _vector(given.rate(t[0], *rest, *own), "rate", states)
            return TRACED
        except ShapeError:
            raise
        except Exception:      # whatever a function does that is not meant for symbols: it is called with numbers instead
            return CALLED


def _vector(found: Any, name: str, nv: int) -> np.ndarray:
    array = np.asarray(found)
    if array.shape != (nv,):
        per = "one rate per state of the controller" if name == "rate" else "one force per entry of qd"
        raise ShapeError(f"{name} returned shape {array.shape}, expected ({nv},): {per}.", name,
                         array.shape, (nv,))
    return array
