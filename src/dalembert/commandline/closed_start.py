"""States as typed, closed where a mechanism has constraints: entries that are named stay, the others
follow.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

import dalembert as da
from dalembert.analysis.elimination import metric_root
from dalembert.analysis.loop_closing import Closing, consistent_velocities
from dalembert.commandline.output import say
from dalembert.commandline.typed_vectors import typed_entries, typed_vector
from dalembert.errors import DalembertWarning
from dalembert.model.mechanism import Mechanism
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.kinds import system_of

MOVED = 1e-9  # correction of an entry of less is rounding [rad, m]


def typed_state(
    mechanism: Mechanism, q: str | None, qd: str | None
) -> tuple[np.ndarray, np.ndarray]:
    """q (nq,) and qd (nv,) as typed; of a mechanism with constraints, a state that meets them.

    Raises
    ------
    VectorError, UnknownNameError
        A vector as typed does not fit the mechanism.
    ConstraintError
        The constraints cannot be met with these entries.
    """
    names = mechanism.velocity_names
    at_q = typed_vector(q, "--q", mechanism.coordinate_names, mechanism.neutral(), mechanism)
    at_qd = typed_vector(qd, "--qd", names, np.zeros(mechanism.nv), mechanism)
    if not mechanism.constraints:
        return at_q, at_qd
    closed = _closed(mechanism, at_q, q, "loops were closed")
    kept = typed_entries(qd, names)
    closing = Closing(system_of(mechanism), kept)
    moving = consistent_velocities(closing, closed, at_qd)
    _say_moved(mechanism, "velocities were made consistent", kept, moving - at_qd, 1)
    return closed, moving


def typed_goal(mechanism: Mechanism, goal: str | None, q: np.ndarray) -> np.ndarray:
    """Set point (nq,) as typed, with the coordinates q where none are; it meets constraints too.

    Raises
    ------
    VectorError, UnknownNameError
        The vector as typed does not fit the mechanism.
    ConstraintError
        The constraints cannot be met with these entries.
    """
    at = typed_vector(goal, "--goal", mechanism.coordinate_names, q, mechanism)
    if goal is None or not mechanism.constraints:
        return at
    return _closed(mechanism, at, goal, "loops were closed at the goal")


def typed_accelerations(
    mechanism: Mechanism, q: np.ndarray, qd: np.ndarray, typed: str | None
) -> np.ndarray:
    """qdd (nv,) as typed; of a mechanism with constraints, accelerations that meet them.

    Raises
    ------
    VectorError, UnknownNameError
        The vector as typed does not fit the mechanism.
    ConstraintError
        No accelerations meet the constraints.
    """
    names = mechanism.velocity_names
    qdd = typed_vector(typed, "--qdd", names, np.zeros(mechanism.nv), mechanism)
    if not mechanism.constraints:
        return qdd
    system = system_of(mechanism)
    kept = typed_entries(typed, names)
    rows = ConstraintSet(system).rates(q, qd, 0.0)
    moving = [k for k in range(system.nv) if k not in kept]
    W = metric_root(da.mass_matrix(mechanism, q)[np.ix_(moving, moving)])
    gap = rows.bias - rows.jacobian @ qdd
    step = np.zeros(system.nv)
    step[moving] = W @ np.linalg.lstsq(rows.jacobian[:, moving] @ W, gap, rcond=None)[0]
    _say_moved(mechanism, "accelerations were made consistent", kept, step, 2)
    return qdd + step


def _closed(mechanism: Mechanism, q: np.ndarray, typed: str | None, done: str) -> np.ndarray:
    """Coordinates near q that meet all constraints, with those that were typed as they are."""
    names = mechanism.velocity_names
    held = _held(mechanism, typed_entries(typed, mechanism.coordinate_names))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)  # corrections are said below
        closed = da.assemble(mechanism, q, fixed=[names[k] for k in held])
    _say_moved(mechanism, done, held, mechanism.difference(closed, q))
    return closed


def _held(mechanism: Mechanism, typed: Sequence[int]) -> list[int]:
    """Entries of qd of the coordinates that were typed; of a quaternion all of its joint's."""
    held: list[int] = []
    for holder in mechanism.holders:
        entry = holder.entry
        places = range(mechanism.nq)[entry.at_q]
        of_joint = [k for k in typed if k in places]
        if of_joint and holder.type.nq != holder.type.nv:
            held += entry.at_v
        else:
            held += [entry.at_v[k - places.start] for k in of_joint]
    return held


def _say_moved(
    mechanism: Mechanism, done: str, held: Sequence[int], step: np.ndarray, rates: int = 0
) -> None:
    """Tell what a correction moved most; `rates` counts its derivatives by time."""
    if np.abs(step).max(initial=0.0) <= MOVED:
        return
    system = system_of(mechanism)
    names = system.velocity_names
    k = int(np.argmax(np.abs(step)))
    unit = system.velocity_units[k].removesuffix("/s") + ("", "/s", "/s^2")[rates]
    kept = f" with {', '.join(names[i] for i in held)} as typed" if held else ""
    count = int((np.abs(step) > MOVED).sum())
    say(
        "note",
        f"{done}{kept}: {count} {'entry' if count == 1 else 'entries'} moved, most of all "
        f"{names[k]}, by {step[k]:.5g} {unit}.",
    )
