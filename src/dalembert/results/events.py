"""Events of a run, and what friction and stops did on the way."""

from __future__ import annotations

from typing import NamedTuple

from dalembert.spatial.arrays import Array


class Event(NamedTuple):
    """A zero of one of the functions in `events=`."""

    trajectory: int
    t: float  # [s]
    q: Array
    qd: Array
    name: str


class Change(NamedTuple):
    """Behaviour of an entry of qd from a time on: it 'slides forward', 'slides back' or 'sticks',
    'stops' at a limit, or 'moves' where it has no Coulomb friction.
    """

    trajectory: int
    t: float  # [s]
    entry: str  # of qd, by its name
    mode: str
    impact: float = 0.0  # velocity with which it hit a stop [rad/s, m/s]
