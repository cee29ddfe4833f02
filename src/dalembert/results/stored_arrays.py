"""Arrays of a run in a folder, of which what is looked at is read; runs some records at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.results import store_folder
from dalembert.results.labels import library
from dalembert.results.record_selection import selected
from dalembert.results.records import Recorded
from dalembert.results.storage import EXTRA, checked_store, reading

BLOCK = 2**16  # numbers of one array that are handled at a time


@dataclass(frozen=True)
class Stored(np.lib.mixins.NDArrayOperatorsMixin):
    """An array in a folder of Zarr, of which only what is looked at is read: `array[..., -1, :]`,
    `array[1000:2000]`.

    Anything else that NumPy does with it reads all of it.
    """

    folder: str
    name: str
    axis: int  # of time
    count: int  # of records: those that are written

    @cached_property
    def _zarr(self) -> Any:
        store = checked_store(store_folder.opened(self.folder))
        with reading(self.folder):
            return library("zarr", EXTRA).open_array(store, path=self.name, mode="r")

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "_zarr"}

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the records that there are."""
        return *self._zarr.shape[: self.axis], self.count, *self._zarr.shape[self.axis + 1 :]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._zarr.shape)

    @property
    def dtype(self) -> np.dtype:
        """Type of the numbers."""
        return self._zarr.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> np.ndarray:
        keys = list(key) if isinstance(key, tuple) else [key]
        if any(k is Ellipsis for k in keys):
            at = next(i for i, k in enumerate(keys) if k is Ellipsis)
            keys[at : at + 1] = [slice(None)] * (self.ndim - len(keys) + 1)
        keys += [slice(None)] * (self.ndim - len(keys))
        if not all(
            isinstance(k, (int, np.integer)) or isinstance(k, slice) and (k.step or 1) > 0
            for k in keys
        ):
            return np.asarray(self)[key]
        places = [range(n)[k] for k, n in zip(keys, self.shape, strict=True)]
        with reading(self.folder):
            slices = tuple(
                slice(p.start, p.stop, p.step) if isinstance(p, range) else p for p in places
            )
            return np.asarray(self._zarr[slices])

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self[...], dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(
            *(np.asarray(x) if isinstance(x, Stored) else x for x in inputs), **options
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)


def parts(run: Recorded) -> Iterator[tuple[int, Recorded]]:
    """All records of a run, some at a time if they are in a folder, each part with the place of its
    first.
    """
    if not isinstance(run.q, Stored):
        yield 0, run
        return
    shape = run.q.shape
    size = max(1, BLOCK * shape[-2] // max(1, int(np.prod(shape))))
    for begin in range(0, len(run.times), size):
        yield begin, selected(run, slice(begin, begin + size))
