"""A run on its way to a folder of Zarr."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.results import storage, store_folder
from dalembert.results.dataset import ENDS, OBSERVABLE, RUN, dataset, happenings
from dalembert.results.disk import on_disk
from dalembert.results.events import Change, Event
from dalembert.results.labels import library
from dalembert.results.packing import packed, unpacked
from dalembert.results.record_selection import selected
from dalembert.results.run import Run
from dalembert.results.store_folder import StoreFolder

UNFINISHED = "not finished: `resume` goes on"
CHUNK = 2**17  # numbers of one array in a file
ARGUMENTS = "dalembert_arguments"  # attribute: how the run was called


class Recorder:
    """A run on its way to a folder: arrays of full length, NaN where nothing is written yet.

    Every part, the number of records, and the state to go on from are written in one step: whenever
    the process dies, the folder holds a run up to some record, and all that is needed to go on from
    it.
    """

    def __init__(self, folder: StoreFolder, start: Any):
        self._folder, self._start = folder, start
        self._group = storage.group_of(folder, read_only=False)

    @staticmethod
    def begin(
        path: Path, first: Run, count: int, arguments: dict[str, Any], state: dict[str, Any]
    ) -> Recorder:
        """A new folder for `count` records, of which there are the first ones."""
        start = first.energy[..., :1]
        data = dataset(replace(selected(first, slice(0, 1)), events=(), changes=()), start)
        reason = data["reason"]
        data["reason"] = reason.dims, np.full(reason.shape, UNFINISHED, dtype=object)
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
        for name in lengthened:
            recorder._create(name, data.variables[name], count)
        recorder._group.create_group(storage.CONTINUATION)
        recorder._consolidate()
        recorder.write(0, first, state)
        with storage.writing(path):
            fresh.path.replace(path.resolve())
            on_disk(path.resolve().parent)
        return Recorder(StoreFolder(path), start)

    def _create(self, name: str, variable: Any, count: int) -> None:
        """An array along time for `count` records of a variable."""
        sizes = zip(variable.dims, variable.shape, strict=True)
        lengths = {axis: n for axis, n in sizes if axis != "time"}
        numbers = max(1, int(np.prod(list(lengths.values()))))  # of a record
        rows = min(max(1, CHUNK // numbers), count)
        self._group.create_array(
            name,
            shape=[lengths.get(axis, count) for axis in variable.dims],
            dtype=variable.dtype,
            fill_value=np.nan if variable.dtype.kind == "f" else None,
            chunks=[max(1, lengths.get(axis, rows)) for axis in variable.dims],
            attributes={**variable.attrs, "_ARRAY_DIMENSIONS": list(variable.dims)},
        )

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
        for name, v in dataset(part, self._start).variables.items():
            if name not in self._group:  # an observable that was not recorded by earlier versions
                continue
            if "time" in v.dims:
                before = [slice(None)] * v.dims.index("time")
                self._group[name][(*before, slice(at, end))] = v.values
            elif name in ("steps", "rejected", *ENDS) or v.attrs.get(OBSERVABLE) == RUN:
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
            shape = list(array.shape)
            if "time" in dims and shape[dims.index("time")] != count:
                shape[dims.index("time")] = count
                array.resize(shape)
        for name, (dims, values) in happenings(*happened(self._group, count)).items():
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


def finished(folder: StoreFolder) -> bool:
    """Whether the run in a folder is complete."""
    return bool(storage.group_of(folder)[storage.CONTINUATION].attrs.get("finished", False))
