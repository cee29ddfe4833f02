"""Runge-Kutta of order 4 that turns quaternions by rotations, so that they keep their length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.expr import cos, sin, sqrt
from dalembert.expr.scalars import Scalar
from dalembert.integrators.method_kinds import GGL, QUASI_MOMENTA, FixedStep, Rate, Vector

TINY = 1e-300  # added to the square of an angle: sin(a)/a is then 1 at 0


def step(
    f: Rate, t: Scalar, x: Vector, h: Scalar, *, quaternions: Sequence[tuple[int, int]] = ()
) -> Any:
    """x(t + h), where move(x, K) adds to vectors, and turns each quaternion (w, x, y, z) about its
    angular velocity.

        x_2 = move(x, K1/2),  x_3 = move(x, K2/2),  x_4 = move(x_2, K3 - K1/2),   K_i = h times the rates at x_i
        x(t + h) = move(move(x, (3 K1 + 2 K2 + 2 K3 - K4)/12), (-K1 + 2 K2 + 2 K3 + 3 K4)/12)

    Entries of no quaternion take the steps of rk4, a free body's position too: its rate is that of
    f.

    quaternions : for each, where it begins in x, and where its angular velocity does [rad/s, in the
        turning body's axes]

    Celledoni, Marthinsen, Owren, Commutator-free Lie group methods, Future Gener. Comp. Sy. 19
    (2003) 341-352.
    """

    def slope(t: Any, x: Any) -> Any:
        """The slope with the angular velocities behind it, times h."""
        return h * np.concatenate([f(t, x), *(x[w : w + 3] for _, w in quaternions)])

    def move(x: Any, k: Any) -> Any:
        """The state moved by an increment, its quaternions turned."""
        y = x + k[: len(x)]
        for n, (at, _) in enumerate(quaternions):
            turn = len(x) + 3 * n
            y[at : at + 4] = _turned(x[at : at + 4], k[turn : turn + 3])
        return y

    k1 = slope(t, x)
    x2 = move(x, k1 / 2)
    k2 = slope(t + h / 2, x2)
    k3 = slope(t + h / 2, move(x, k2 / 2))
    k4 = slope(t + h, move(x2, k3 - k1 / 2))
    return move(
        move(x, (3 * k1 + 2 * k2 + 2 * k3 - k4) / 12), (-k1 + 2 * k2 + 2 * k3 + 3 * k4) / 12
    )


def _turned(q: Any, turn: Any) -> Any:
    """Quaternion after a turn by a vector of angles [rad] in its body's axes: q exp(turn/2).

    What changes is added, with cos(a) - 1 = -2 sin(a/2)^2: rounding of a cosine close to 1, the
    same in every step of a steady turn, would change the length by 2e-12 in 10^5 steps, and with it
    the momenta.
    """
    quarter = sqrt(sum(turn * turn) + TINY) / 4
    s = sin(quarter)
    less, (x, y, z) = -2 * s * s, turn * (s * cos(quarter) / (2 * quarter))
    return q + np.array(
        [
            q[0] * less - q[1] * x - q[2] * y - q[3] * z,
            q[1] * less + q[0] * x + q[2] * z - q[3] * y,
            q[2] * less + q[0] * y + q[3] * x - q[1] * z,
            q[3] * less + q[0] * z + q[1] * y - q[2] * x,
        ]
    )


def needs(quaternions: Sequence[tuple[int, int]] = (), **known: Any) -> dict[str, Any]:
    """Options of the step: where quaternions and their angular velocities begin in x."""
    return {"quaternions": tuple(quaternions)}


METHOD = FixedStep(
    "lie_rk4",
    4,
    step,
    needs=needs,
    refuses={
        QUASI_MOMENTA: "lie_rk4 turns quaternions by angular velocities, which a state (q, p) has "
        "not: take another method, "
        "or a formulation in (q, qd).",
        GGL: "lie_rk4 turns quaternions by angular velocities alone, which 'ggl' would not change: "
        "take 'projection' or 'baumgarte', or method='rk4'.",
    },
)
