"""Impacts of joints on their stops: Newton's law of restitution for all stops that are met at the
same time.

    M (v+ - v) = p,    p = 0 but at stops

    0 <= p   perpendicular to   v+ + e v >= 0    at each stop that is moved into or rested at, along the way out of it

An impulse only pushes, and a joint that is pushed leaves its stop with the part e of the velocity
that it came with. The kinetic energy changes by 1/2 sum p (1 - e) v, which is never more than 0,
whatever the restitutions are. A joint that leaves its stop takes no part. A locked joint, which
cannot move, has an impulse of either sign, and the velocity 0 after it; the impact that stops one,
at the start of a motion, is plastic for all.

Pfeiffer, Glocker, Multibody Dynamics with Unilateral Contacts (1996), chapter 8.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import absolute, array, minimum
from dalembert.integrators.choice import chosen
from dalembert.simulation.lcp import UNBOUNDED, Scalars, bounded
from dalembert.simulation.repetition import Repeat, repeated


class Impact(NamedTuple):
    """What an impact leaves."""

    velocity: np.ndarray  # (n,) after it
    impulse: np.ndarray  # (n,) along the entries of qd [N m s, N s]
    met: list[Any]  # (n,) velocities with which stops were moved into, else 0


def impact(
    N: np.ndarray,
    v: np.ndarray,
    out: Scalars,
    restitution: Scalars,
    locked: Scalars,
    repeat: Repeat = repeated,
) -> Impact:
    """Velocities after an impact, over any scalar; those before it if no stop is moved into.

    Parameters
    ----------
    N : (n, n) inverse of the mass matrix
    v : (n,) velocities before the impact
    out : (n,) 1 or -1, the way out of the stop that an entry is at; 0 at none
    restitution : (n,) from 0 to 1
    locked : (n,) 1 where an entry cannot move, with `out` 1; else 0
    """
    leaving = [o * own for o, own in zip(out, v, strict=True)]
    met = [
        chosen(s < 0, own, chosen(lock * absolute(own) > 0, own, 0.0))
        for s, lock, own in zip(leaving, locked, v, strict=True)
    ]
    any_met = chosen(sum(absolute(own) for own in met) > 0, 1.0, 0.0)
    taking_part = [
        any_met * absolute(o) * chosen(s > 0, lock, 1.0)
        for o, s, lock in zip(out, leaving, locked, strict=True)
    ]
    elastic = chosen(
        sum(lock * absolute(own) for lock, own in zip(locked, v, strict=True)) > 0, 0.0, 1.0
    )
    rebound = [
        (1 - lock) * elastic * e * minimum(s, 0.0)
        for s, e, lock in zip(leaving, restitution, locked, strict=True)
    ]
    lower = [chosen(lock > 0, -UNBOUNDED, 0.0) for lock in locked]
    o = array(list(out))
    p, _ = bounded(
        o[:, None] * N * o,
        array([s + back for s, back in zip(leaving, rebound, strict=True)]),
        lower,
        [UNBOUNDED] * len(v),
        taking_part,
        repeat,
    )
    p = o * p
    after = [
        chosen(_comes_to_rest(*of) > 0, 0.0, own)
        for own, *of in zip(v + N @ p, p, rebound, taking_part, locked, strict=True)
    ]
    return Impact(array(after), p, met)


def _comes_to_rest(p: Any, rebound: Any, takes_part: Any, lock: Any) -> Any:
    """1 where the law makes a velocity 0, which rounding must not change: pushed without a rebound,
    or locked.
    """
    return takes_part * chosen(
        lock > 0, 1.0, chosen(absolute(p) > 0, chosen(rebound < 0, 0.0, 1.0), 0.0)
    )


def is_short(out: Any, v: Any, acceleration: Any, room: Any, least: Any) -> Any:
    """1 where a flight from a stop ends within the time `least` [s], else 0.

    It ends at the same stop after 2 v/|a|, if a leads back there, or at the other one after room/v.
    """
    away, rate = out * v, out * acceleration
    back = chosen(-rate * least > 2 * away, 1.0, 0.0)
    across = chosen(room < away * least, 1.0, 0.0)
    return chosen(away > 0, back + across - back * across, 0.0)
