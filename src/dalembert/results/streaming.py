"""Runs that go to a folder of Zarr while they are computed, and go on from there after a kill."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.errors import DalembertError
from dalembert.results import storage, store_folder
from dalembert.results.ends import End
from dalembert.results.record_selection import selected
from dalembert.results.recorder import Recorder, finished
from dalembert.results.records import FINISHED
from dalembert.results.run import Run
from dalembert.results.store_folder import StoreFolder
from dalembert.results.store_lock import StoreLock
from dalembert.results.stored_calls import compare

WORK = 2**22  # numbers that steps move, until they are written: about half a second
PART = 2**19  # numbers that are computed before they are written

Stretch = Callable[[np.ndarray, np.ndarray, Any], tuple[Run, np.ndarray, Any]]


def streamed(
    mechanism: Any,
    folder: Any,
    resume: bool,
    arguments: dict[str, Any],
    x: np.ndarray,
    times: Any,
    size: int,
    stretch: Stretch,
) -> Run:
    """A run that is written to a folder while it is computed, `size` records at a time; read from
    there where it is used.

    Parts have the same borders however often a run is cut off, so that it ends with the same bits.

    Parameters
    ----------
    folder, resume : path of the folder, and whether to go on with what is there.
    arguments : how the run was called, from `plain`.
    x : (N, nx) initial states.
    times : (K,), an array or `Even`.
    stretch : function (x, times, state) -> (Run, x, state)
        Goes on from x and the state of a method, None at first, at times[0] to each later time: the
        records, with that at times[0], and where to go on.

    Raises
    ------
    DalembertError
        There is something of that name; or, where it is to go on, a run that was called in another
        way.
    """
    path = storage.folder_of(folder)
    with StoreLock(path):
        if store_folder.is_empty(path):
            stream = _Stream(path, len(times), arguments, _begun(x))
        elif not resume:
            raise DalembertError(
                f"{str(path)!r} is there already: give another name, or remove it; a run that was "
                "cut off goes on with resume=True."
            )
        else:
            compare(path, arguments)
            store = _recovered(path)
            run = Run.load(mechanism, path, lazy=True)
            recorder, count, state = Recorder.open(store, selected(run, slice(0, 1)))
            if finished(store):
                return run
            stream = _Stream(path, len(times), arguments, state, recorder, count)
        while stream.goes_on:
            end = min(stream.count + size, len(times))
            begin = np.nan_to_num(stream.state["x"])
            stream.take(*stretch(begin, np.asarray(times[stream.count - 1 : end]), stream.method))
        stream.finish()
        return Run.load(mechanism, path, lazy=True)


def _begun(x: np.ndarray) -> dict[str, Any]:
    """The state of a run that begins, from which it goes on."""
    reasons = [FINISHED] * len(x)
    return {"x": x, "method": None, "reasons": reasons, "steps": None, "ended": False}


class _Stream:
    """A run on its way to a folder: records so far, and the state to go on from."""

    def __init__(
        self,
        path: Path,
        length: int,
        arguments: dict[str, Any],
        state: dict[str, Any],
        recorder: Recorder | None = None,
        count: int = 1,
    ):
        self._path, self._length, self._arguments = path, length, arguments
        self._recorder, self.state, self.count = recorder, state, count
        # of an earlier process, whose counts this one goes on with
        self._totals = state.get("totals", {})

    @property
    def goes_on(self) -> bool:
        """Whether there are records to come."""
        return self.count < self._length and not self.state["ended"]

    @property
    def method(self) -> Any:
        """The state of the method; None before the first part."""
        return self.state["method"]

    def take(self, part: Run, x: np.ndarray, method: Any) -> None:
        """Write the next part, and where to go on."""
        part = _after(part, self.state, anew=method is None)  # a library's method counts anew
        totals = _totals(part, self._totals)
        part = replace(part, recorded=part.recorded | totals)
        self.state = {
            "x": x,
            "method": method,
            "reasons": list(part.reasons),
            "steps": part.steps,
            "rejected": part.rejected,
            "end": part.ended and list(part.ended),
            "ended": part.q.ndim == 2 and part.reason != FINISHED,
            "totals": totals,
        }
        if self._recorder is None:
            self._recorder = Recorder.begin(
                self._path, part, self._length, self._arguments, self.state
            )
        else:
            self._recorder.write(self.count, selected(part, slice(1, None)), self.state)
        self.count += len(part.times) - 1

    def finish(self) -> None:
        """Say how the run went."""
        assert self._recorder is not None
        self._recorder.finish(tuple(self.state["reasons"]), self.count)


def _totals(part: Run, before: dict[str, Any]) -> dict[str, Any]:
    """Observables of the whole run so far, with those of earlier processes."""
    found = {}
    for name, declared in part.declared.items():
        if declared.total is not None:
            values = part.recorded[name]
            found[name] = declared.total(before[name], values) if name in before else values
    return found


def _recovered(path: Path) -> StoreFolder:
    """A folder to go on with, all of which is as it was written."""
    folder = StoreFolder(path)
    if not folder.has_ledger:
        storage.warn_without_checksums(path, "to_zarr")
    folder.recover()
    folder.verify()
    return folder


def records_of(size: int, work: float) -> int:
    """Records of a part: of `size` numbers each, computed in work/size steps."""
    return int(max(1, min(PART // size, WORK // work)))


def _after(part: Run, before: dict[str, Any], anew: bool) -> Run:
    """A part behind those before: steps counted on; of several trajectories those that stopped keep
    reasons, have NaN.
    """
    if before["steps"] is None:
        return part
    moved = np.isfinite(part.work).sum(axis=-1) > 1
    counts: dict[str, Any] = {
        name: np.where(moved, getattr(part, name) + (before[name] if anew else 0), before[name])
        for name in ("steps", "rejected")
    }
    part = replace(part, **counts)
    dead = np.array([reason != FINISHED for reason in before["reasons"]])
    if part.q.ndim == 2 or not dead.any():
        return part
    arrays: dict[str, Any] = {
        name: np.array(getattr(part, name)) for name in ("q", "qd", "work", "controller_states")
    }
    for values in arrays.values():
        values[dead] = np.nan
    reasons = [
        old if stopped else new
        for old, new, stopped in zip(before["reasons"], part.reasons, dead, strict=True)
    ]
    assert part.ended is not None
    return replace(
        part, reasons=tuple(reasons), ended=End(*before["end"]).where(dead, part.ended), **arrays
    )
