"""Where motions begin: between their stops, coordinates in radians."""

from __future__ import annotations

import warnings

import numpy as np

from dalembert.errors import DalembertWarning, caller_level
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float, half_unit, is_symbolic
from dalembert.model.units import ask_degrees
from dalembert.simulation.reactions import Reactions
from dalembert.systems.system import System

# of a stop's size, at least 1: a start that misses it by as little was computed to be there
ROUNDING = 1e-9
# rad, m; the most that rounding of a limit to its own digits excuses: 1.57 for pi/2 misses 8e-4
DIGITS = 1e-2


def start_of(system: System, reactions: Reactions | None, q: np.ndarray) -> np.ndarray:
    """q (..., nq) to begin with: joints that miss a stop by rounding stand at it.

    Raises
    ------
    ValueError
        A joint begins beyond a stop by more than rounding, of doubles or of the limit's own digits.

    Warns
    -----
    DalembertWarning
        A joint was moved to its stop; a coordinate looks like one in degrees.
    """
    if system.mechanism is not None:
        ask_degrees(system.mechanism, q)
    return q if reactions is None else _within(reactions, q)


def _within(law: Reactions, q: np.ndarray) -> np.ndarray:
    q = q.copy()
    for i in np.flatnonzero(law.stopping):
        own = q[..., law.place[i]]
        nearest = np.clip(own, law.lower[i], law.upper[i])
        beyond = np.abs(own - nearest)
        worst = np.unravel_index(np.argmax(beyond), beyond.shape)
        name, stop = law.mechanism.velocity_names[i], float(nearest[worst])
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
