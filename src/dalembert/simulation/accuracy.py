"""Warnings about a finished run: trajectories that ended early, a poor balance of power."""

from __future__ import annotations

import warnings

import numpy as np

from dalembert.compiled.memo import quantities_of
from dalembert.errors import DalembertWarning, caller_level
from dalembert.integrators import METHODS, FixedStep
from dalembert.results.records import along, is_wanted_end
from dalembert.results.run import Run

POOR = (
    0.01  # energy gained or lost, of the largest T or range of Pi: a motion that is only a picture
)
RECORDS = 17  # looked at, of all: what is lost stays lost
STATES = 20_000  # looked at, of all trajectories together
ROUNDING = 1e-9  # of |Pi| and |work|, whose differences are known no better


def warn_of_early_ends(run: Run) -> None:
    """Warn once of all trajectories that neither finished nor came to a terminal event."""
    early = [k for k, reason in enumerate(run.reasons) if not is_wanted_end(reason)]
    if not early:
        return
    reason = run.reasons[early[0]].rstrip(".")
    text = f"the run ended early: {reason}."
    if run.q.ndim == 3:
        count = f"{len(early)} of {len(run.reasons)} trajectories ended early"
        text = f"{count}; trajectory {early[0]}: {reason}."
    warnings.warn(text, DalembertWarning, stacklevel=caller_level())


def warn_of_drift(run: Run) -> None:
    """Warn if the energy of a run changed by other than the work done, beyond `POOR` of its scale.

        max - min of (T + Pi - work) <= POOR max(T, max Pi - min Pi)

    A few of the records are looked at.
    """
    if len(run.times) < 2:
        return
    trajectories = run.q.shape[0] if run.q.ndim == 3 else 1
    T, P, work = _energies(run, max(2, min(RECORDS, STATES // trajectories)))
    series = np.array([T, P, work, T + P - work])
    most, least = np.fmax.reduce(series, axis=-1), np.fmin.reduce(series, axis=-1)  # NaN: no value
    _, potential, _, gained = most - least
    scale = np.fmax(most[0], potential)
    largest = np.fmax(most, -least)
    known = ROUNDING * (largest[1] + largest[2])
    ended_well = [is_wanted_end(reason) for reason in run.reasons]  # others say why
    poor = (gained > POOR * scale + known) & ended_well
    if not np.count_nonzero(poor):
        return
    share = np.atleast_1d(gained / (scale + known))
    worst = int(np.argmax(np.where(poor, share, 0.0)))
    which = (
        ""
        if run.q.ndim == 2
        else f" of trajectory {worst} ({poor.sum()} of {trajectories} are as poor)"
    )
    warnings.warn(
        f"the energy{which} changed by {np.atleast_1d(gained)[worst]:.3g} J other than by work, "
        f"{share[worst]:.2g} of its scale: {_remedy(run)}.",
        DalembertWarning,
        stacklevel=caller_level(),
    )


def _energies(run: Run, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """T, Pi and work, (K,) or (N, K), of about `count` of the records, the last of them included."""
    last = len(run.times) - 1
    step = max(1, -(-last // count))
    at = slice(last % step, None, step)
    times = np.asarray(run.times[at])
    work = np.asarray(run.work[..., at])
    q, qd = (np.asarray(values[..., at, :]) for values in (run.q, run.qd))
    mechanism = run.system.mechanism
    if mechanism is None or run.parameters:
        return *run._energies_at(times, q, qd), work
    T, P = quantities_of(mechanism, "kinetic_energy", "potential_energy")
    if q.ndim == 2:  # of one trajectory all records are numbers
        return T(q, qd), P(q), work
    both = along(times, lambda t, q, qd: np.stack([T(q, qd), P(q)], axis=-1), q, qd)
    return both[..., 0], both[..., 1], work


def _remedy(run: Run) -> str:
    if isinstance(METHODS[run.method], FixedStep):
        return (
            f"the step h={run.h:g} s is too long for {run.method!r}. Take a smaller h=, or an "
            "adaptive method, method='dop853'"
        )
    return f"the tolerances are too coarse for {run.method!r}. Give smaller ones, rtol= and atol="
