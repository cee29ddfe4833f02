"""How near a run came to limits of position, velocity and effort, and how far beyond them."""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Sequence,
)
from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.model.limit_vectors import (
    effort_limits,
    position_limits,
    velocity_limits,
)
from dalembert.results.records import Records
from dalembert.results.stored_arrays import parts
from dalembert.spatial.arrays import Array

ROUNDING = 1e-9  # of a limit, or of 1
MOST_NAMED = 3  # limits of a kind that a summary names
NOUNS = {"effort": ("effort",), "velocity": ("velocity",), "position": ("lower", "upper")}


class LimitPeak(NamedTuple):
    """The record at which a run came nearest to a limit, or went farthest beyond it.

    kind : 'lower', 'upper', 'velocity' or 'effort', as in `Limits`; name : of the coordinate or
    velocity; value, limit : there, of velocity and effort without their signs [unit]; unit : rad or
    m, rad/s or m/s, N m or N; t : time [s]; duration : time at the limit or beyond it [s];
    trajectory : its number
    """

    kind: str
    name: str
    value: float
    limit: float
    unit: str
    t: float
    duration: float
    trajectory: int

    @property
    def excess(self) -> float:
        """Value beyond the limit [unit], below 0 within it."""
        beyond = self.value - self.limit
        return -beyond if self.kind == "lower" else beyond

    @property
    def slack(self) -> float:
        """Excess that is rounding [unit]."""
        return ROUNDING * max(1.0, abs(self.limit))

    @property
    def is_passed(self) -> bool:
        """Whether the value is beyond the limit."""
        return self.excess > self.slack

    @property
    def is_reached(self) -> bool:
        """Whether the value is at the limit, or beyond it."""
        return self.excess >= -self.slack

    def __str__(self) -> str:
        of = f"{self.name} {self.value:.4g} {self.unit} of {self.limit:.4g}"
        return f"{of} at {self.t:.4g} s"


class _Tracker:
    """Peaks towards the limits (n,) of a kind, over parts of a run of some trajectories."""

    def __init__(self, kind: str, limits: np.ndarray, count: int):
        self.kind, self.limits = kind, limits
        self.slack = ROUNDING * np.maximum(1.0, np.abs(limits))
        shape = (count, len(limits))
        self.excess = np.full(shape, -np.inf)
        self.value, self.t, self.duration = np.zeros((3, *shape))

    def add(self, times: np.ndarray, weights: np.ndarray, values: np.ndarray) -> None:
        """Look at values (N, K, n) at times (K,), which stand for weights (K,) [s]."""
        values = values if self.kind in ("lower", "upper") else np.abs(values)
        excess = self.limits - values if self.kind == "lower" else values - self.limits
        excess = np.where(np.isfinite(values), excess, -np.inf)
        at = excess.argmax(axis=1)
        most = np.take_along_axis(excess, at[:, None], axis=1)[:, 0]
        there = np.take_along_axis(values, at[:, None], axis=1)[:, 0]
        is_more = most > self.excess
        self.value = np.where(is_more, there, self.value)
        self.t = np.where(is_more, times[at], self.t)
        self.excess = np.where(is_more, most, self.excess)
        self.duration += np.einsum("k,jki->ji", weights, excess >= -self.slack)

    def peaks(self, names: Sequence[str], units: Sequence[str]) -> Iterator[LimitPeak]:
        """The peaks of all entries that have a limit."""
        for k in np.flatnonzero(np.isfinite(self.limits)).tolist():
            yield self._peak(k, names[k], units[k])

    def _peak(self, k: int, name: str, unit: str) -> LimitPeak:
        """The peak of entry k over all trajectories."""
        row = int(self.excess[:, k].argmax())
        return LimitPeak(
            kind=self.kind,
            name=name,
            value=float(self.value[row, k]),
            limit=float(self.limits[k]),
            unit=unit,
            t=float(self.t[row, k]),
            duration=float(self.duration[row, k]),
            trajectory=row,
        )


def limit_peaks(run: Records) -> tuple[LimitPeak, ...]:
    """Peaks towards all limits of the mechanism of a run; efforts only where the control is known."""
    mechanism = run.system.mechanism
    sizes = run.q.shape[-1], run.qd.shape[-1]
    if mechanism is None or (mechanism.nq, mechanism.nv) != sizes:
        return ()
    limits = {}
    if has_control(run) and knows_control(run):
        limits["effort"] = effort_limits(mechanism)
    limits["velocity"] = velocity_limits(mechanism)
    limits["lower"], limits["upper"] = position_limits(mechanism)
    several = run.q.ndim == 3
    count = len(run.q) if several else 1
    trackers = [_Tracker(k, x, count) for k, x in limits.items() if np.isfinite(x).any()]
    if not trackers:
        return ()
    weights = _weights(np.asarray(run.times))
    for begin, part in parts(run):
        times = np.asarray(part.times)
        for tracker in trackers:
            values = _values(part, tracker.kind)
            values = values if several else values[None]
            tracker.add(times, weights[begin : begin + len(times)], values)
    return tuple(peak for tracker in trackers for peak in _named(tracker, run.system))


def _named(tracker: _Tracker, system: Any) -> Iterator[LimitPeak]:
    """Peaks with the names and units of their entries."""
    if tracker.kind in ("lower", "upper"):
        return tracker.peaks(system.coordinate_names, system.coordinate_units)
    units = system.velocity_units
    if tracker.kind == "effort":
        units = ["N m" if unit == "rad/s" else "N" for unit in units]
    return tracker.peaks(system.velocity_names, units)


def _values(run: Records, kind: str) -> Array:
    if kind == "effort":
        return np.asarray(run.control_forces)
    return np.asarray(run.qd if kind == "velocity" else run.q)


def _weights(times: np.ndarray) -> np.ndarray:
    """Time that each record stands for [s]."""
    steps = np.diff(times)
    before, after = np.append(0.0, steps), np.append(steps, 0.0)
    return (before + after) / 2


def has_control(run: Records) -> bool:
    """Whether a control acted."""
    return run.forces.get("control", "none") != "none"


def knows_control(run: Records) -> bool:
    """Whether forces of the control can be told: files keep no functions."""
    return run.applied is not None or run.held is not None


def limit_lines(run: Records, peaks: Sequence[LimitPeak]) -> Iterator[str]:
    """Lines of a summary about limits; none for a mechanism without any."""
    is_unknown = has_control(run) and not knows_control(run)
    kept = []
    for noun, kinds in NOUNS.items():
        of_noun = [peak for peak in peaks if peak.kind in kinds]
        passed = [peak for peak in of_noun if peak.is_passed]
        if noun == "effort" and is_unknown:
            yield from _unknown_line(run)
        elif noun == "effort" and run.saturated and of_noun:
            yield _reached_line([peak for peak in of_noun if peak.is_reached])
        elif passed:
            yield _passed_line(noun, passed)
        elif of_noun:
            kept.append(noun)
    if kept:
        *others, last = kept
        listed = f"{', '.join(others)} and {last}" if others else last
        yield f"limits of {listed}: none passed"


def _unknown_line(run: Records) -> Iterator[str]:
    """A line about efforts of a control that is not known, if they have limits."""
    mechanism = run.system.mechanism
    if mechanism is None or not np.isfinite(effort_limits(mechanism)).any():
        return
    if run.saturated:
        yield "limits of effort: obeyed; not known whether they were reached, as files keep no control"
    else:
        yield "limits of effort: not known whether they were passed, as files keep no control"


def _passed_line(noun: str, passed: list[LimitPeak]) -> str:
    """A line about limits that were passed, the farthest first."""
    passed.sort(key=lambda peak: -peak.excess / max(abs(peak.limit), peak.slack))
    return f"passed limits of {noun}: {_first_of(list(map(str, passed)))}"


def _reached_line(reached: Sequence[LimitPeak]) -> str:
    """A line about efforts that a saturated control could not pass."""
    if not reached:
        return "limits of effort: obeyed, none reached"
    named = [f"{peak.name} for {peak.duration:.3g} s" for peak in reached]
    return f"limits of effort: obeyed, reached by {_first_of(named)}"


def _first_of(texts: list[str]) -> str:
    more = len(texts) - MOST_NAMED
    return ", ".join(texts[:MOST_NAMED]) + (f"; {more} more" if more > 0 else "")
