"""Why a trajectory has come to numbers that are not finite: the last record is gone on from,
looking at forces.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.integrators import External, Method
from dalembert.integrators import records as records_of
from dalembert.simulation.applied_forces import CALLED, TRACED
from dalembert.simulation.first_order_system import FirstOrderSystem

STEPS = 20_000  # steps that are looked at


class _NotFinite(Exception):
    """A force that is not finite; its text says which, when and where."""


def force_without_number(
    motion: FirstOrderSystem,
    method: Method,
    x: np.ndarray,
    t: float,
    h: float,
    p: np.ndarray,
    tolerances: tuple[float, float],
) -> str:
    """The force that is not finite in the steps behind a state x (nx,) at time t of the motion, or
    an empty text.

    p: parameters of the trajectory (n,).
    """
    functions = {
        name: f
        for name, f in motion.forces.given.items()
        if motion.forces.kinds[name] in (TRACED, CALLED)
    }
    if not functions or isinstance(method, External) or not np.isfinite(x).all():
        return ""
    rate = motion.function(p=p)

    def looked_at(t: float, x: np.ndarray) -> np.ndarray:
        """The state, after a look at every function there."""
        for name, f in functions.items():
            try:
                _look(motion, name, f, t, x, p)
            except (
                ArithmeticError,
                ValueError,
            ) as error:  # as functions of `math` raise outside of their domain
                raise _NotFinite(
                    f"{name} has no value at t = {float(motion.clock(t, p)):.9g} s: {error}"
                ) from None
        return rate(t, x)

    try:
        for _ in records_of(
            method,
            looked_at,
            x,
            np.array([t, t + STEPS * h]),
            h,
            STEPS,
            *tolerances,
            motion.manifold and motion.manifold.bound(p),
        ):
            pass
    except _NotFinite as found:
        return str(found)
    except Exception:  # of a function that raises at states that are no numbers
        return ""
    return ""


def check_forces(motion: FirstOrderSystem, x: np.ndarray, t: float) -> None:
    """See that functions that are called give finite forces at the beginning, x (N, nx).

    Raises
    ------
    ValueError
    """
    p = motion.constants.reshape(-1, motion.constants.shape[-1])[0]
    for name, f in motion.forces.given.items():
        if motion.forces.kinds[name] == CALLED:
            try:
                _look(motion, name, f, t, x[0], p)
            except _NotFinite as found:
                raise ValueError(f"{found}: expected finite numbers.") from None


def check_events(motion: FirstOrderSystem, x: np.ndarray) -> None:
    """See that events have values where the first trajectory begins, x (N, nx); others end at once
    if they have none.

    Raises
    ------
    ValueError
    """
    if not motion.events.functions:
        return
    p = np.broadcast_to(motion.constants, (len(x), motion.constants.shape[-1]))[0]
    if found := event_without_number(motion, x[0], 0.0, np.append(p, np.ones(motion.extra))):
        raise ValueError(f"{found}: expected a number, whose sign changes at the event.")


def event_without_number(motion: FirstOrderSystem, x: np.ndarray, t: float, p: np.ndarray) -> str:
    """The event that has no value at a state x (nx,) at time t of the motion, or an empty text."""
    q, *_ = motion.split(x)
    clock = float(motion.clock(t, p))
    qd = motion.velocities_in(t, x, p)
    for name, g in zip(motion.events.names, motion.events.functions, strict=True):
        where = f"at t = {clock:.9g} s, with q = {q.tolist()}, qd = {qd.tolist()}"
        try:
            value = float(np.asarray(g(clock, q.copy(), qd.copy())).item())
        except (
            ArithmeticError,
            ValueError,
        ) as error:  # as functions of `math` raise outside of their domain
            return f"the event {name!r} has no value {where}: {error}"
        if np.isnan(value):
            return f"the event {name!r} gave nan {where}"
    return ""


def _look(
    motion: FirstOrderSystem, name: str, f: Any, t: float, x: np.ndarray, p: np.ndarray
) -> None:
    """Raise _NotFinite if a force is not finite at a state whose numbers are."""
    q, y, _, states = motion.split(x)
    if not np.isfinite(x).all():
        return
    q = motion.system.normalize(q)
    clock = float(motion.clock(t, p))
    qd = motion.velocities_in(t, x, p)
    own = (states,) if name == "control" and states.size else ()
    tau = np.asarray(f(clock, q.copy(), qd.copy(), *own), dtype=float)
    if not np.isfinite(tau).all():
        raise _NotFinite(
            f"{name} gave {tau.tolist()} at t = {clock:.9g} s, with q = {q.tolist()}, qd = "
            f"{qd.tolist()}"
        )
