"""Runs that go to a folder of Zarr while they are computed, and go on from there after a kill."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.errors import DalembertError, DamagedStoreError
from dalembert.model.content import content
from dalembert.results import storage, store_folder
from dalembert.results.ends import End
from dalembert.results.events import Change, Event
from dalembert.results.labels import library
from dalembert.results.records import FINISHED
from dalembert.results.run import Run
from dalembert.results.store_folder import StoreFolder
from dalembert.results.store_lock import StoreLock

ARGUMENTS = "dalembert_arguments"  # attribute: how the run was called
CALLED = ("arguments", "kinds", "functions")  # its parts
UNFINISHED = "not finished: `resume` goes on"
WITHOUT = (
    "mechanism",
    "store",
    "resume",
    "threads",
    "progress",
)  # of the arguments: what a run does not depend on
WORK = 2**22  # numbers that steps move, until they are written: about half a second
PART = 2**19  # numbers that are computed before they are written
CHUNK = 2**17  # numbers of one array in a file


class Even:
    """Times at equal distances, of which only those exist that are looked at; the last distance may
    be shorter.

    spacing: distance [s]; by default times are those of `np.linspace`.
    """

    def __init__(self, begin: float, end: float, count: int, spacing: float | None = None):
        self._begin, self._end, self._count = begin, end, count
        self._spacing = (end - begin) / (count - 1) if spacing is None else spacing

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, key: int | slice) -> Any:
        places: Any = range(self._count)[key]
        if isinstance(places, int):
            return self[places : places + 1][0]
        at = np.arange(places.start, places.stop, places.step)
        return np.where(at == self._count - 1, self._end, at * self._spacing + self._begin)


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
        return _streamed(mechanism, path, resume, arguments, x, times, size, stretch)


def _streamed(
    mechanism: Any,
    path: Path,
    resume: bool,
    arguments: dict[str, Any],
    x: np.ndarray,
    times: Any,
    size: int,
    stretch: Stretch,
) -> Run:
    there = not store_folder.is_empty(path)
    if there and not resume:
        raise DalembertError(
            f"{str(path)!r} is there already: give another name, or remove it; a run that was cut "
            "off goes on with resume=True."
        )
    if there:
        compare(path, arguments)
        folder = _recovered(path)
        run = Run.load(mechanism, path, lazy=True)
        recorder, at, kept = Recorder.open(folder, storage.part(run, 0, 1))
        if finished(folder):
            return run
    else:
        kept = {
            "x": x,
            "method": None,
            "reasons": [FINISHED] * len(x),
            "steps": None,
            "ended": False,
        }
        at, recorder = 1, None
    while at < len(times) and not kept["ended"]:
        end = min(at + size, len(times))
        part, x, state = stretch(
            np.nan_to_num(kept["x"]), np.asarray(times[at - 1 : end]), kept["method"]
        )
        part = _after(part, kept, anew=state is None)  # a library's method counts anew
        kept = {
            "x": x,
            "method": state,
            "reasons": list(part.reasons),
            "steps": part.steps,
            "rejected": part.rejected,
            "end": part.ended and list(part.ended),
            "ended": part.q.ndim == 2 and part.reason != FINISHED,
        }
        if recorder is None:
            recorder = Recorder.begin(path, part, len(times), arguments, kept)
        else:
            recorder.write(at, storage.part(part, 1, len(part.times)), kept)
        at += len(part.times) - 1
    assert recorder is not None
    recorder.finish(tuple(kept["reasons"]), at)
    return Run.load(mechanism, path, lazy=True)


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


def plain(mechanism: Any, arguments: dict[str, Any], kinds: dict[str, str]) -> dict[str, Any]:
    """The arguments of `simulate` as JSON has them; of forces how they are evaluated, and what the
    mechanism is.
    """
    found = {
        name: np.asarray(value).tolist()
        for name, value in arguments.items()
        if name not in WITHOUT and (name not in kinds or kinds[name] == "constant")
    }
    functions = {
        name: content(value)
        for name, value in arguments.items()
        if name in kinds and callable(value)
    }
    known = {
        "arguments": found,
        "kinds": kinds,
        "mechanism": content(mechanism),
        "functions": functions,
    }
    return json.loads(
        json.dumps(known, default=lambda value: getattr(value, "__name__", type(value).__name__))
    )


def compare(path: Path, called: dict[str, Any]) -> None:
    """See that a run was called in the same way."""
    stored = _called(path)
    for name in {**stored["kinds"], **called["kinds"]}:
        before, now = (kinds.get(name, "none") for kinds in (stored["kinds"], called["kinds"]))
        if before != now:
            raise DalembertError(
                f"{str(path)!r} was simulated with {name} that was {before}, not {now}: give the "
                "same again."
            )
    other = [
        name
        for name in {**called["arguments"], **stored["arguments"]}
        if called["arguments"].get(name) != stored["arguments"].get(name)
    ]
    other += ["mechanism"] if called["mechanism"] != stored["mechanism"] else []
    for name, text in called[
        "functions"
    ].items():  # None where a function cannot be told from others
        before = stored.get("functions", {}).get(name)
        other += [name] if None not in (text, before) and text != before else []
    if other:
        raise DalembertError(
            f"{str(path)!r} was simulated with another {', '.join(sorted(other))}: it goes on only "
            "as it began. Give another name, or remove it."
        )


def stored_arguments(folder: Any) -> dict[str, Any]:
    """The arguments that the run in a folder was called with, but for functions."""
    path = storage.folder_of(folder)
    if not path.exists():
        raise DalembertError(f"there is no run {str(path)!r}.")
    return dict(_called(path)["arguments"])


def _called(path: Path) -> dict[str, Any]:
    storage.require(".zarr")
    attributes = storage.group_of(store_folder.opened(path)).attrs
    if ARGUMENTS not in attributes:
        raise DalembertError(
            f"{str(path)!r} is no run of simulate(store=...): there is nothing to go on with."
        )
    called = attributes[ARGUMENTS]
    if not (
        isinstance(called, dict) and all(isinstance(called.get(part), dict) for part in CALLED)
    ):
        raise DamagedStoreError(
            f"{str(path)!r} is damaged: how the run was called is not as it was written.", str(path)
        )
    return called


def finished(folder: StoreFolder) -> bool:
    """Whether the run in a folder is complete."""
    return bool(storage.group_of(folder)[storage.CONTINUATION].attrs.get("finished", False))


class Recorder:
    """A run on its way to a folder: arrays of full length, NaN where nothing is written yet.

    Every part, the number of records, and the state to go on from are written in one step: whenever
    the process dies, the folder holds a run up to some record, and all that is needed to go on from
    it.
    """

    def __init__(self, folder: StoreFolder, start: Any):
        self._folder, self._group, self._start = (
            folder,
            storage.group_of(folder, read_only=False),
            start,
        )

    @staticmethod
    def begin(
        path: Path, first: Run, count: int, arguments: dict[str, Any], state: dict[str, Any]
    ) -> Recorder:
        """A new folder for `count` records, of which there are the first ones."""
        start = first.energy[..., :1]
        data = storage.dataset(replace(storage.part(first, 0, 1), events=(), changes=()), start)
        data["reason"] = (
            data["reason"].dims,
            np.full(data["reason"].shape, UNFINISHED, dtype=object),
        )
        data.attrs |= {ARGUMENTS: arguments, store_folder.MARK: store_folder.FORMAT}
        lengthened = [name for name, v in data.variables.items() if "time" in v.dims]
        with storage.writing(path):
            fresh = StoreFolder(storage.fresh_folder(path))  # takes the name when it is complete
        data.drop_vars(lengthened).to_zarr(
            storage.checked_store(fresh, read_only=False),
            mode="w",
            zarr_format=2,
            consolidated=False,
        )
        recorder = Recorder(fresh, start)
        group = recorder._group
        for name in lengthened:
            v = data.variables[name]
            lengths = {d: n for d, n in zip(v.dims, v.shape, strict=True) if d != "time"}
            rows = max(1, CHUNK // max(1, int(np.prod(list(lengths.values())))))
            group.create_array(
                name,
                shape=[lengths.get(d, count) for d in v.dims],
                dtype=v.dtype,
                fill_value=np.nan if v.dtype.kind == "f" else None,
                chunks=[max(1, lengths.get(d, min(rows, count))) for d in v.dims],
                attributes={**v.attrs, "_ARRAY_DIMENSIONS": list(v.dims)},
            )
        group.create_group(storage.CONTINUATION)
        recorder._consolidate()
        recorder.write(0, first, state)
        with storage.writing(path):
            fresh.path.replace(path.resolve())
            store_folder.on_disk(path.resolve().parent)
        return Recorder(StoreFolder(path), start)

    @staticmethod
    def open(folder: StoreFolder, first: Run) -> tuple[Recorder, int, dict[str, Any]]:
        """The recorder of a folder whose first record is known, the number of records there, and
        the state to go on from.
        """
        recorder = Recorder(folder, first.energy[..., :1])
        found = recorder._group[storage.CONTINUATION].attrs
        return recorder, int(found["records"]), unpacked(found["state"])

    def write(self, at: int, part: Run, state: dict[str, Any]) -> None:
        """Write records from place `at` on, and that they are there."""
        end = at + len(part.times)
        for name, v in storage.dataset(part, self._start).variables.items():
            if "time" in v.dims:
                self._group[name][(*[slice(None)] * v.dims.index("time"), slice(at, end))] = (
                    v.values
                )
            elif name in ("steps", "rejected", *storage.ENDS):
                self._group[name][...] = v.values
        going = self._group[storage.CONTINUATION]
        if part.events or part.changes:
            going.require_group(f"{at:015d}").attrs.update(
                {"events": packed(part.events), "changes": packed(part.changes)}
            )
        going.attrs.update({"records": end, "state": packed(state)})
        self._folder.commit()

    def finish(self, reasons: tuple[str, ...], count: int) -> None:
        """Say how the run went; cut what was not reached."""
        self._group["reason"][...] = np.array(
            reasons if self._group["reason"].ndim else reasons[0], dtype=object
        )
        for _, array in self._group.arrays():
            dims = array.attrs["_ARRAY_DIMENSIONS"]
            if "time" in dims and array.shape[dims.index("time")] != count:
                array.resize(
                    [count if d == "time" else n for d, n in zip(dims, array.shape, strict=True)]
                )
        for name, (dims, values) in storage.happenings(*happened(self._group, count)).items():
            array = self._group.create_array(
                name,
                shape=values.shape,
                chunks=values.shape,
                fill_value=None,
                overwrite=True,
                dtype=str if values.dtype.kind == "O" else values.dtype,
                attributes={"_ARRAY_DIMENSIONS": list(dims)},
            )
            array[...] = values
        self._group[storage.CONTINUATION].attrs.update({"finished": True})
        self._consolidate()
        self._folder.commit()

    def _consolidate(self) -> None:
        library("zarr", storage.EXTRA).consolidate_metadata(self._group.store)


def happened(group: Any, records: int) -> tuple[list[Event], list[Change]]:
    """Events and changes that were written with the parts of a run, in order of trajectory and
    time.
    """
    found: tuple[list[Event], list[Change]] = [], []
    for name, part in sorted(group[storage.CONTINUATION].groups()):
        if int(name) < records:
            found[0].extend(Event(*row) for row in unpacked(part.attrs["events"]))
            found[1].extend(Change(*row) for row in unpacked(part.attrs["changes"]))
    return tuple(sorted(rows, key=lambda one: (one.trajectory, one.t)) for rows in found)  # type: ignore[return-value]


def packed(state: Any) -> Any:
    """A state as JSON that gives every number back to the last bit."""
    if isinstance(state, dict):
        return {name: packed(value) for name, value in state.items()}
    if isinstance(state, (list, tuple)):
        return [packed(value) for value in state]
    if isinstance(state, (np.ndarray, np.generic)):
        array = np.asarray(state)
        return {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "bytes": base64.b64encode(array.tobytes()).decode(),
        }
    return state


def unpacked(data: Any) -> Any:
    """What `packed` was given; tuples as lists."""
    if isinstance(data, list):
        return [unpacked(value) for value in data]
    if isinstance(data, dict):
        if data.keys() == {"dtype", "shape", "bytes"}:
            array = np.frombuffer(base64.b64decode(data["bytes"]), np.dtype(data["dtype"]))
            return array.reshape(data["shape"]).copy()
        return {name: unpacked(value) for name, value in data.items()}
    return data
