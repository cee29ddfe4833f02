"""Joints at rest: which of them stick, or stay at their stops, and which move off.

    qdd = N (force + r),    lower <= r <= upper

An entry at rest accelerates only against a reaction that is at its bound: of dry friction F [-F,
F], of a lower stop [0, inf), of an upper one (-inf, 0], of both their sum, of a locked joint any. A
moving entry has r = -F sign(qd).

Brogliato, Nonsmooth Mechanics (2016), chapter 5.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import absolute, maximum, minimum, sign
from dalembert.integrators.choice import chosen
from dalembert.simulation.lcp import UNBOUNDED, Scalars, bounded
from dalembert.simulation.repetition import Repeat, repeated

SLACK = 1e-10  # of the reactions: a held entry moves once its reaction is as much beyond its bound


class Resting(NamedTuple):
    """What each entry of qd does, (n,) each."""

    acceleration: list[Any]
    held: list[Any]  # 1 at rest, else 0
    way: list[Any]  # of sliding friction: 1, -1, or 0
    lower: list[Any]  # of the reaction, with a slack
    upper: list[Any]


def resting(
    N: np.ndarray,
    force: np.ndarray,
    qd: np.ndarray,
    out: Scalars,
    locked: Scalars,
    friction: np.ndarray,
    kinetic: np.ndarray,
    repeat: Repeat = repeated,
) -> Resting:
    """What entries do from velocities qd on, in which those that rest are 0, over any scalar.

    Parameters
    ----------
    N : (n, n) inverse of the mass matrix
    force : (n,) all but the reactions
    out, locked : as those of `impact`
    friction : (n,) floats F at rest
    kinetic : (n,) of entries that slide
    """
    rubs, F = [1.0 if f > 0 else 0.0 for f in friction], friction.tolist()
    rests = [
        chosen(absolute(own) > 0, 0.0, maximum(rub, absolute(o)))
        for own, rub, o in zip(qd, rubs, out, strict=True)
    ]
    way = [rub * sign(own) for rub, own in zip(rubs, qd, strict=True)]
    lower = [
        chosen(lock > 0, -UNBOUNDED, chosen(o < 0, -UNBOUNDED, -f))
        for o, lock, f in zip(out, locked, F, strict=True)
    ]
    upper = [
        chosen(lock > 0, UNBOUNDED, chosen(o > 0, UNBOUNDED, f))
        for o, lock, f in zip(out, locked, F, strict=True)
    ]
    driving = force - kinetic * way
    r, a = bounded(N, N @ driving, lower, upper, rests, repeat)
    held = [one * chosen(absolute(x) > 0, 0.0, 1.0) for one, x in zip(rests, a, strict=True)]
    acceleration = [chosen(one > 0, 0.0, x) for one, x in zip(held, N @ (driving + r), strict=True)]
    way = [
        chosen(one > 0, rub * sign(x), own)
        for one, x, rub, own in zip(rests, a, rubs, way, strict=True)
    ]
    slack = [SLACK * (reduce(maximum, absolute(r)) + f) + 1 / UNBOUNDED for f in F]
    return Resting(
        acceleration,
        held,
        way,
        [maximum(low - s, -UNBOUNDED) for low, s in zip(lower, slack, strict=True)],
        [minimum(high + s, UNBOUNDED) for high, s in zip(upper, slack, strict=True)],
    )
