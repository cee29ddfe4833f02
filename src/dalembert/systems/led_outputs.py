"""Forces of actuators that lead outputs along programs, by their relative degrees.

    e^(r) = J qdd + b = -c_0 e - ... - c_(r-1) e^(r-1),    qdd = a + C u

a are accelerations without u under all other forces, C those of each actuator's unit force.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.constraints.evaluated import evaluated
from dalembert.constraints.programs import Servo
from dalembert.errors import ConstraintError
from dalembert.expr import Expr, array, derivative, evaluate, free_symbols, jacobian, sqrt

PROBES = 4  # states at which a matrix is looked at for zeros that its expressions do not show
VANISHES = 1e-9  # of the terms of a sum: what is left of them is rounding
SINGULAR = 1e-10  # of a row of W, what other rows leave of it

Flow = Callable[[Any, Any, Any], tuple[Any, Any]]  # (q, qd, t) -> a (nv,), C (nv, m)


class Led(NamedTuple):
    """Rows that programs ask of accelerations: J qdd = rate, and the relative degree of each."""

    jacobian: np.ndarray
    rate: np.ndarray
    degrees: tuple[int, ...]


class _Chain:
    """Derivatives of an error along the motion, on symbols of a state."""

    def __init__(self, servo: Servo, system: Any, symbols: Sequence[Any]):
        self.servo, self.system = servo, system
        self.q, self.qd, self.states, self.time = symbols
        self.rate = np.asarray(system.rate(self.q, self.qd))
        self.program = array(servo.program.rate(self.states))

    def drift(self, e: Any) -> Any:
        """e' but for what accelerations add."""
        found = jacobian(array([e]), self.q)[0] @ self.rate + derivative(e, self.time[0])
        return found + jacobian(array([e]), self.states)[0] @ self.program

    def row(self, e: Any, flow: Flow) -> tuple[Any, Any, int]:
        """J, the right-hand side, and the relative degree of one error."""
        errors = [e]
        for _ in range(2 * self.system.nv):
            J = jacobian(array([errors[-1]]), self.qd)[0]
            after = self.drift(errors[-1])
            if not _vanishes(J, np.eye(len(J))):
                a, C = flow(self.q, self.qd, self.time[0])
                if not _vanishes(J, C):
                    feedback = self._feedback(errors)
                    return J, -after - feedback, len(errors)
                after = after + J @ a
            errors.append(after)
        raise ConstraintError(
            f"no derivative of the output of {self.servo.name!r} depends on the forces of "
            f"{', '.join(self.servo.actuators)}: take other actuators, or another output.",
            self.servo.name,
        )

    def _feedback(self, errors: Sequence[Any]) -> Any:
        gains = self.servo.gains(len(errors))
        return sum(c * e for c, e in zip(gains, errors, strict=True))


def led(servo: Servo, system: Any, flow: Flow, q: Any, qd: Any, t: Any, states: Any) -> Led:
    """Rows of a servo constraint at a state.

    Raises
    ------
    ConstraintError
        Its actuators do not move its output.
    """
    degrees: list[int] = []

    def make(*given: Any) -> tuple[Any, Any]:
        """J and the right-hand side on symbols."""
        chain = _Chain(servo, system, given)
        errors = servo.residual(
            system,
            chain.q,
            chain.qd,
            chain.states,
            chain.time[0],
        )
        rows = [chain.row(e, flow) for e in array(errors)]
        degrees.extend(row[2] for row in rows)
        return np.array([row[0] for row in rows]), array([row[1] for row in rows])

    J, rate = evaluated(
        make,
        f"led by {servo.name}",
        q,
        qd,
        states,
        [t],
    )
    return Led(J, rate, tuple(degrees))


def _vanishes(J: np.ndarray, C: np.ndarray) -> bool:
    """Whether J C is 0 at every state, as far as some states tell."""
    terms = array(J) @ array(C)
    sizes = array([abs(x) for x in array(J)]) @ array(np.abs(C))
    names = free_symbols(np.concatenate([np.ravel(terms), np.ravel(sizes)]))
    rng = np.random.default_rng(5)
    for _ in range(PROBES):
        values = dict(zip(names, rng.uniform(0.3, 1.2, len(names)), strict=True))
        value, size = (np.asarray(evaluate(x, values), dtype=float) for x in (terms, sizes))
        if (np.abs(value) > VANISHES * size).any():
            return False
    return True


def least_norm(W: np.ndarray, b: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """u (m,) of least norm with W u = b, W (k, m) of rank k.

    Raises
    ------
    ConstraintError
        A row follows from others; not looked at on expressions.
    """
    basis: list[np.ndarray] = []
    u: Any = np.zeros(W.shape[1])
    for k, row in enumerate(W):
        left = row
        for direction in basis:  # rows that stand at right angles
            left = left - (left @ direction) * direction
        length = sqrt(left @ left)
        if not isinstance(length, Expr) and not length > SINGULAR * sqrt(row @ row):
            raise ConstraintError(
                f"the actuators cannot lead the output {names[k]!r} at this state: W = J M^-1 B has "
                f"the rank {len(basis)} in its first {k + 1} rows. The output, or its place, is "
                "singular: take other actuators, or a program that stays away from it.",
                names[k],
                len(basis),
            )
        direction = left / length
        u = u + (b[k] - row @ u) / length * direction
        basis.append(direction)
    return u  # type: ignore[no-any-return]
