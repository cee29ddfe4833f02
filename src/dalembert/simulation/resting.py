"""Joints at rest: which of them stick, or stay at their stops, and which move off.

    qdd = N (force + r),    lower <= r <= upper

An entry at rest accelerates only against a reaction that is at its bound: of dry friction F [-F,
F], of a lower stop [0, inf), of an upper one (-inf, 0], of both their sum, of a locked joint any. A
moving entry has r = -F sign(qd).

Brogliato, Nonsmooth Mechanics (2016), chapter 5.
"""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np

from dalembert.expr import absolute, array, maximum, minimum, sign
from dalembert.simulation.elementwise import less, where
from dalembert.simulation.lcp import UNBOUNDED, Scalars, is_firm, semidefinite
from dalembert.simulation.mobility import Mobility
from dalembert.simulation.repetition import Repeat, repeated

SHARED = 1e-9  # of the largest reaction: digits of reactions that entries share
SLACK = 1e-10  # of the reactions: a held entry moves once its reaction is as much beyond its bound


class Resting(NamedTuple):
    """Behaviour of each entry of qd, (n,) each.

    An entry that is held while friction slides, which `way` says, is at its bound: others that are
    held leave it no motion.
    """

    acceleration: np.ndarray
    held: np.ndarray  # 1 at rest, else 0
    way: np.ndarray  # of sliding friction: 1, -1, or 0
    lower: np.ndarray  # of the reaction, with a slack
    upper: np.ndarray


def resting(
    mobility: Mobility,
    force: np.ndarray,
    qd: np.ndarray,
    out: Scalars,
    locked: Scalars,
    friction: np.ndarray,
    kinetic: np.ndarray,
    repeat: Repeat = repeated,
) -> Resting:
    """Behaviour of entries from velocities qd on, in which resting entries are 0, over any scalar.

    Parameters
    ----------
    mobility : N, the inverse of the mass matrix, or that on constraints
    force : (n,) all but the reactions
    out, locked : as those of `impact`
    friction : (n,) floats F at rest
    kinetic : (n,) of entries that slide
    """
    out = array(list(out))
    locked = array(list(locked))
    rubs = (friction > 0) * 1.0
    rests = where(less(0.0, absolute(qd)), 0.0, maximum(rubs, absolute(out)))
    way = rubs * sign(qd)
    lower = where(less(0.0, locked), -UNBOUNDED, where(less(out, 0.0), -UNBOUNDED, -friction))
    upper = where(less(0.0, locked), UNBOUNDED, where(less(0.0, out), UNBOUNDED, friction))
    driving = force - kinetic * way
    N = mobility.N
    free = N @ driving + mobility.drift
    r, a = semidefinite(N, mobility.firm, free, lower, upper, rests, repeat)
    acceleration = N @ (driving + r) + mobility.drift
    stuck = rests * where(less(0.0, absolute(a)), 0.0, 1.0)
    largest = reduce(maximum, absolute(r))
    rounding = SHARED * largest if is_firm(mobility.firm) else 0.0
    within = where(less(lower + rounding, r), where(less(r, upper - rounding), 1.0, 0.0), 0.0)
    immobile = mobility.without_motion(stuck * within, acceleration, driving + r)
    carried = rests * (1 - within) * immobile
    held = maximum(stuck, carried)
    moving = where(less(0.0, rests), rubs * sign(a), way)
    slack = SLACK * (largest + friction) + 10 * rounding + 1 / UNBOUNDED
    return Resting(
        acceleration=where(less(0.0, held), 0.0, acceleration),
        held=held,
        way=where(less(0.0, carried), -rubs * sign(r), moving),
        lower=where(less(0.0, carried), -UNBOUNDED, maximum(lower - slack, -UNBOUNDED)),
        upper=where(less(0.0, carried), UNBOUNDED, minimum(upper + slack, UNBOUNDED)),
    )
