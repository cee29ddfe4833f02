"""Initial states of as many trajectories as are given, between their stops, coordinates in radians."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import DalembertWarning, ShapeError, caller_level
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float, half_unit, is_symbolic
from dalembert.model.units import ask_degrees
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.reactions import Reactions
from dalembert.spatial.arrays import in_order

BOUND = 1e100  # of a state: beyond it, energies are no numbers

# of a stop's size, at least 1: a start that misses it by as little was computed to be there
ROUNDING = 1e-9
# rad, m; the most that rounding of a limit to its own digits excuses: 1.57 for pi/2 misses 8e-4
DIGITS = 1e-2


class Start(NamedTuple):
    """States x (N, nx) to begin with, and whether one was given without a leading axis."""

    x: np.ndarray
    single: bool


def start_of(motion: FirstOrderSystem, q: Any, qd: Any) -> Start:
    """States to begin with; joints that miss a stop by rounding stand at it.

    Raises
    ------
    ShapeError, ValueError, TypeError, QuaternionError, SingularMassMatrixError
        These are no states, or of different numbers of trajectories; accelerations are not
        determined; a joint begins beyond a stop by more than rounding, of doubles or of the limit's
        own digits.

    Warns
    -----
    DalembertWarning
        A joint was moved to its stop; a coordinate looks like one in degrees.
    """
    q = _array(in_order(q, "q", motion.system.coordinate_names))
    qd = _array(in_order(qd, "qd", motion.system.velocity_names))
    motion.formulation.check(q, qd, motion.numbers)  # shapes, numbers, quaternions
    q = np.asarray(q, dtype=float)
    qd = np.asarray(qd, dtype=float)
    _check_size("q", q)
    _check_size("qd", qd)
    if motion.system.mechanism is not None:
        ask_degrees(motion.system.mechanism, q)
    if motion.reactions is not None:
        q = _within(motion.reactions, q)
    counts = _counts(motion, q, qd)
    x = np.zeros((max(counts, default=1), motion.nx))
    q_start, y_start, _, states = motion.split(x)  # views
    q_start[:] = q
    y_start[:] = qd
    states[:] = motion.states
    motion.internal_in(x)[:] = motion.internal
    y_start[:] = motion.formulation.started(
        q_start, y_start, motion.begin, motion.numbers, motion.internal_in(x)
    )
    motion.begin_unknowns(x)
    return Start(x, single=not counts)


def _array(values: Any) -> Any:
    """A list of numbers as an array, which kernels take at once; anything else as it is."""
    is_list = isinstance(values, (list, tuple)) and all(type(x) in (int, float) for x in values)
    return np.array(values, dtype=float) if is_list else values


def _check_size(name: str, values: np.ndarray) -> None:
    """See that no number of a state is beyond BOUND."""
    if np.maximum.reduce(np.abs(values), axis=None, initial=0.0) < BOUND:
        return
    large = np.argwhere(~(np.abs(values) < BOUND))
    raise ValueError(
        f"{name}{large[0].tolist()} is {values[tuple(large[0])]:g}: energies of numbers "
        f"beyond {BOUND:g} are none. Is it in radians, metres, and seconds?"
    )


def _counts(motion: FirstOrderSystem, q: np.ndarray, qd: np.ndarray) -> set[int]:
    """Numbers of trajectories that all is given for, if not once: 1 and another, at most."""
    given = {
        "q": q,
        "qd": qd,
        "forces or parameters": motion.constants,
        "states of the controller": motion.states,
        "multipliers0": motion.internal,
    }
    counts = {name: len(values) for name, values in given.items() if values.ndim == 2}
    if len({*counts.values()} - {0, 1}) > 1:
        said = ", ".join(
            f"{name} for {count} (shape {given[name].shape})" for name, count in counts.items()
        )
        raise ShapeError(
            f"numbers of trajectories differ: {said}. Give each once, or for every trajectory.",
            next(iter(counts)),
        )
    if 0 in counts.values():
        raise ShapeError(
            f"there are 0 trajectories: q has shape {q.shape}, qd {qd.shape}, numbers of forces "
            f"and parameters {motion.constants.shape}; expected one state, or N of them with N of "
            "at least 1.",
            "q",
            q.shape,
        )
    return {*counts.values()}


def _within(law: Reactions, q: np.ndarray) -> np.ndarray:
    q = q.copy()
    for i in np.flatnonzero(law.stopping):
        own = q[..., law.place[i]]
        nearest = np.clip(own, law.lower[i], law.upper[i])
        beyond = np.abs(own - nearest)
        worst = np.unravel_index(np.argmax(beyond), beyond.shape)
        name = law.mechanism.velocity_names[i]
        stop = float(nearest[worst])
        rounding = ROUNDING * max(1.0, abs(stop))
        if beyond[worst] > max(rounding, min(_half_unit(law.mechanism, name, stop), DIGITS)):
            raise ValueError(
                f"joint {name!r} begins at {own[worst]:g}, beyond its stops at {law.lower[i]:g} "
                f"and {law.upper[i]:g}: begin between them, or leave it out of stops=."
            )
        if beyond[worst] > rounding:
            warnings.warn(
                f"joint {name!r} begins at {own[worst]:.9g}, beyond its stop at {stop:.9g} by "
                "rounding of that limit: it begins at the stop.",
                DalembertWarning,
                stacklevel=caller_level(),
            )
        q[..., law.place[i]] = nearest
    return q


def _half_unit(mechanism: Mechanism, name: str, stop: float) -> float:
    """Half a unit of the last digit of the joint's limit at a stop."""
    joint = mechanism.joint(name) if name in mechanism._joints else None
    bounds = (joint.limits.lower or ()) + (joint.limits.upper or ()) if joint else ()
    return max(
        (
            half_unit(bound)
            for bound in bounds
            if not is_symbolic(bound) and as_float(bound) == stop
        ),
        default=0.0,
    )
