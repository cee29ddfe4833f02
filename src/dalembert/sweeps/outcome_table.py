"""Results of a sweep as arrays over all samples, in memory or in a folder of Zarr, written as they
come.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.errors import DalembertError, ShapeError
from dalembert.results import storage, store_folder
from dalembert.results.labels import library
from dalembert.results.store_folder import StoreFolder
from dalembert.results.store_lock import StoreLock
from dalembert.sweeps.sample_sets import SampleSet
from dalembert.sweeps.trials import Arrays, Outcome

MISSING, DONE, FAILED = 0, 1, 2  # status of a sample
BLOCK = 2**20  # bytes: about as much of one array is written at a time
MOST_ROWS = 2**14  # samples of a block
BUFFER = 2**24  # bytes of results that wait to be written
PATIENCE = 1.0  # s that they wait
SWEEP = "dalembert_sweep"  # attribute of a folder: the identity of the sweep in it
RESULTS = "dalembert_results"  # attribute: names of the results, once all have their arrays
NUMBERS = "bifc"  # kinds of arrays that hold no texts
STATUS, ERROR = "status", "error"


class OutcomeTable:
    """Arrays of the results, each shaped as the samples, and then as the result; status and error
    of each sample.

    In a folder a sample's results and its status are written in one step: a sample that is marked
    as done is there.
    """

    def __init__(
        self,
        samples: SampleSet,
        labels: Mapping[str, Sequence[str]],
        folder: StoreFolder | None = None,
    ):
        self.samples = samples
        self._labels = labels
        self.dims: dict[str, tuple[str, ...]] = {}
        self.arrays: dict[str, Any] = {}
        self.constants: dict[str, tuple[tuple[str, ...], np.ndarray]] = {}
        self._waiting: list[Outcome] = []
        self._size = 0
        self._since = time.monotonic()
        self.folder = folder
        self._group = None if folder is None else storage.group_of(folder, read_only=False)
        for name, dims, values in samples.coordinates():
            self._constant(name, dims, values)
        self._create(STATUS, (), (), np.dtype(np.int8), 0)
        self._create(ERROR, (), (), np.dtype(object), "")
        if self._group is not None:
            for name in self._group.attrs.get(RESULTS, ()):
                self.arrays[name] = self._group[name]
                self.dims[name] = tuple(self.arrays[name].attrs["_ARRAY_DIMENSIONS"])
            consolidated(self._group)
        self._commit()

    @property
    def status(self) -> np.ndarray:
        """MISSING, DONE or FAILED of every sample, flat."""
        return np.asarray(self.arrays[STATUS][...]).reshape(-1)

    def put(self, found: Outcome) -> Outcome:
        """Take the outcome of a sample; written soon. What does not fit to the results before is an
        error of the sample.
        """
        if not found.error:
            try:
                self._fit(found.arrays)
            except ShapeError as error:
                found = Outcome(found.k, {}, f"ShapeError: {error}", "")
        self._waiting.append(found)
        self._size += sum(values.nbytes for _, values in found.arrays.values()) + 64
        if self._size > BUFFER:
            self.flush()
        return found

    def flush_when_due(self) -> None:
        """Write what has waited long enough."""
        if time.monotonic() - self._since > PATIENCE:
            self.flush()

    def flush(self) -> None:
        """Write what waits: results, and which samples are done."""
        good = [o for o in self._waiting if not o.error]
        bad = [o for o in self._waiting if o.error]
        for name in good[0].arrays if good else ():
            self._write(name, [o.k for o in good], [o.arrays[name][1] for o in good])
        if bad:
            self._write(ERROR, [o.k for o in bad], [o.error for o in bad])
        if self._waiting:
            self._write(
                STATUS,
                [o.k for o in self._waiting],
                [FAILED if o.error else DONE for o in self._waiting],
            )
        self._commit()
        self._waiting = []
        self._size = 0
        self._since = time.monotonic()

    def _commit(self) -> None:
        if self.folder is not None:
            self.folder.commit()

    def results(self) -> list[str]:
        """Names of the results."""
        return [name for name in self.arrays if name not in (STATUS, ERROR)]

    def _fit(self, arrays: Arrays) -> None:
        """See that results have the names, dimensions and kinds of those before; the first ones set
        them.
        """
        if not self.results():
            self._begin(arrays)
        if arrays.keys() != {*self.results()}:
            raise ShapeError(
                f"results {', '.join(arrays)}, but {', '.join(self.results())} of other samples."
            )
        leading = len(self.samples.shape)
        for name, (dims, values) in arrays.items():
            array = self.arrays[name]
            others = (tuple(self.arrays[name].shape[leading:]), self.dims[name][leading:])
            if (values.shape, dims) != others:
                raise ShapeError(
                    f"result {name!r} has shape {values.shape} and dimensions {dims}, but "
                    f"{others[0]} and {others[1]} of other samples.",
                    name,
                    values.shape,
                    others[0],
                )
            texts = array.dtype.kind not in NUMBERS
            if (
                (values.dtype == object) != texts
                or not texts
                and not np.can_cast(values.dtype, array.dtype)
            ):
                raise ShapeError(
                    f"result {name!r} is of kind {_kind(values.dtype)}, but {_kind(array.dtype)} "
                    "of other samples.",
                    name,
                )

    def _begin(self, arrays: Arrays) -> None:
        """Make the arrays of the results."""
        taken = {
            *self.samples.dims,
            STATUS,
            ERROR,
            *(name for name, *_ in self.samples.coordinates()),
        }
        lengths: dict[str, int] = {}
        for name, (dims, values) in arrays.items():
            if name in taken or "/" in name:
                raise DalembertError(
                    f"result {name!r}: there is a parameter of that name, or it has a '/'. Call it "
                    "something else."
                )
            for dim, length in zip(dims, values.shape, strict=True):
                if dim in taken or lengths.setdefault(dim, length) != length:
                    raise DalembertError(
                        f"result {name!r} has {length} entries along {dim!r}, which is a parameter "
                        "or of another length. Call it something else."
                    )
        for name, (dims, values) in arrays.items():
            blank = {"b": False, "O": ""}.get(values.dtype.kind, np.nan)
            self._create(name, dims, values.shape, values.dtype, blank)
        for dim, names in self._labels.items():
            if lengths.get(dim) == len(names):
                self._constant(dim, (dim,), np.array(list(names), dtype=object))
        if self._group is not None:
            self._group.attrs[RESULTS] = list(arrays)
            consolidated(self._group)

    def _create(
        self, name: str, dims: tuple[str, ...], shape: tuple[int, ...], dtype: np.dtype, blank: Any
    ) -> None:
        full, self.dims[name] = (*self.samples.shape, *shape), (*self.samples.dims, *dims)
        if self._group is None:
            self.arrays[name] = np.full(full, blank, dtype)
        elif name in self._group and name in (STATUS, ERROR):
            self.arrays[name] = self._group[name]
        else:
            rows = max(1, min(BLOCK // max(1, dtype.itemsize * math.prod(shape)), MOST_ROWS))
            self.arrays[name] = self._group.create_array(
                name,
                shape=full,
                chunks=(*blocked(self.samples.shape, rows), *shape),
                dtype=str if dtype.kind == "O" else dtype,
                fill_value=blank if dtype.kind in "fcO" else None,
                overwrite=True,
                attributes={"_ARRAY_DIMENSIONS": list(self.dims[name])},
            )

    def _constant(self, name: str, dims: tuple[str, ...], values: np.ndarray) -> None:
        """An array that does not depend on the sample's result: of parameters, or names along a
        dimension.
        """
        if self._group is not None and name not in self._group:
            array = self._group.create_array(
                name,
                shape=values.shape,
                chunks=values.shape,
                fill_value=None,
                dtype=str if values.dtype.kind == "O" else values.dtype,
                attributes={"_ARRAY_DIMENSIONS": list(dims)},
            )
            array[...] = values
        self.constants[name] = dims, values

    def _write(self, name: str, places: list[int], values: list[Any]) -> None:
        """Values of some samples into an array, block by block; a block is replaced as a whole."""
        array = self.arrays[name]
        shape = self.samples.shape
        at = np.array(np.unravel_index(places, shape)).T  # (K, dimensions of the samples)
        kind = array.dtype if array.dtype.kind in NUMBERS else np.dtype(object)
        stacked = np.empty((len(values), *array.shape[len(shape) :]), kind)
        for k, value in enumerate(values):
            stacked[k, ...] = value  # not a 0-d array as an entry of texts
        if self._group is None:
            array[tuple(at.T)] = stacked
            return
        lengths = np.array(array.chunks[: len(shape)])
        blocks, which = np.unique(at // lengths, axis=0, return_inverse=True)
        for number, block in enumerate(blocks):
            mine = which.reshape(-1) == number
            region = tuple(
                slice(int(b), int(b + n)) for b, n in zip(block * lengths, lengths, strict=True)
            )
            old = np.array(array[region], dtype=stacked.dtype)
            old[tuple((at[mine] - block * lengths).T)] = stacked[mine]
            array[region] = old


def consolidated(group: Any) -> None:
    """Gather what describes the arrays, for those who open the folder."""
    library("zarr", storage.EXTRA).consolidate_metadata(group.store)


def blocked(shape: tuple[int, ...], rows: int) -> tuple[int, ...]:
    """Lengths of blocks of at most `rows` entries that are neighbours in C order."""
    lengths: list[int] = []
    for n in reversed(shape):
        lengths.insert(0, max(1, min(n, rows)))
        rows //= n
    return tuple(lengths)


@contextmanager
def table_of(
    samples: SampleSet, labels: Mapping[str, Sequence[str]], store: Any, identity: dict[str, str]
) -> Iterator[OutcomeTable]:
    """The table of a sweep. A folder of it is locked; it is new, or of the same sweep and as it was
    written.

    Raises
    ------
    LockedStoreError, DamagedStoreError, DalembertError
        Another process writes the folder; it is damaged; there is something else of that name, or
        another sweep.
    """
    if store is None:
        yield OutcomeTable(samples, labels)
        return
    path = storage.folder_of(store)
    storage.require(".zarr")
    with StoreLock(path):
        with storage.reading(path):
            table = OutcomeTable(samples, labels, _opened(path, identity))
        yield table


def _opened(path: Path, identity: dict[str, str]) -> StoreFolder:
    folder = StoreFolder(path)
    if store_folder.is_empty(path):
        zarr = library("zarr", storage.EXTRA)
        zarr.open_group(
            storage.checked_store(folder, read_only=False),
            mode="w",
            zarr_format=2,
            attributes={SWEEP: identity, store_folder.MARK: store_folder.FORMAT},
        )
        return folder
    if not folder.has_ledger:
        storage.warn_without_checksums(path, "to_zarr")
    folder.recover()
    folder.verify()
    stored = storage.group_of(folder).attrs.get(SWEEP)
    if stored is None:
        raise DalembertError(
            f"{str(path)!r} is a Zarr folder without a sweep: give another name, or remove it."
        )
    other = [name for name in identity if stored.get(name) != identity[name]]
    if other:
        verb = "is" if len(other) == 1 else "are"
        raise DalembertError(
            f"{str(path)!r} is of another sweep: {', '.join(other)} {verb} not "
            "the same. Give another folder, or remove it."
        )
    return folder


def _kind(dtype: np.dtype) -> str:
    return {"b": "truth value", "f": "number", "c": "complex number"}.get(dtype.kind, "text")
