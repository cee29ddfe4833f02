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
from dalembert.simulation.elementwise import less, where
from dalembert.simulation.lcp import UNBOUNDED, Scalars, semidefinite
from dalembert.simulation.repetition import Repeat, repeated


class Impact(NamedTuple):
    """State after an impact."""

    velocity: np.ndarray  # (n,) after it
    impulse: np.ndarray  # (n,) along the entries of qd [N m s, N s]
    met: np.ndarray  # (n,) velocities with which stops were moved into, else 0


def impact(
    N: np.ndarray,
    v: np.ndarray,
    out: Scalars,
    restitution: Scalars,
    locked: Scalars,
    repeat: Repeat = repeated,
    firm: Any = 0.0,
) -> Impact:
    """Velocities after an impact, over any scalar; unchanged if no stop is moved into.

    Parameters
    ----------
    N : (n, n) inverse of the mass matrix
    v : (n,) velocities before the impact
    out : (n,) 1 or -1, the way out of the stop that an entry is at; 0 at none
    restitution : (n,) from 0 to 1
    locked : (n,) 1 where an entry cannot move, with `out` 1; else 0
    firm : (n, n) diagonal matrix beside N for the impulses, where N has no inverse
    """
    out, restitution, locked = (array(list(given)) for given in (out, restitution, locked))
    leaving = out * v
    met = where(less(leaving, 0.0), v, where(less(0.0, locked * absolute(v)), v, 0.0))
    any_met = where(less(0.0, sum(absolute(met))), 1.0, 0.0)
    taking_part = any_met * absolute(out) * where(less(0.0, leaving), locked, 1.0)
    elastic = where(less(0.0, sum(locked * absolute(v))), 0.0, 1.0)
    rebound = (1 - locked) * elastic * restitution * minimum(leaving, 0.0)
    lower = where(less(0.0, locked), -UNBOUNDED, 0.0)
    upper = np.full(len(v), UNBOUNDED)
    A = out[:, None] * N * out
    bounds = lower, upper, taking_part, repeat
    p, _ = semidefinite(A, firm, leaving + rebound, *bounds)
    p = out * p
    # velocities that the law makes 0, which rounding must not change: pushed without a rebound, or
    # locked
    stays = where(less(0.0, absolute(p)), where(less(rebound, 0.0), 0.0, 1.0), 0.0)
    stays = taking_part * where(less(0.0, locked), 1.0, stays)
    return Impact(where(less(0.0, stays), 0.0, v + N @ p), p, met)


def is_short(out: Any, v: Any, acceleration: Any, room: Any, least: Any) -> Any:
    """1 where a flight from a stop ends within the time `least` [s], else 0.

    It ends at the same stop after 2 v/|a|, if a leads back there, or at the other one after room/v.
    """
    away = out * v
    rate = out * acceleration
    back = where(less(2 * away, -rate * least), 1.0, 0.0)
    across = where(less(room, away * least), 1.0, 0.0)
    return where(less(0.0, away), back + across - back * across, 0.0)
