"""Calls of compiled code: the batch, and results, new or given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dalembert.codegen.blocks import Port
from dalembert.codegen.program import Register
from dalembert.errors import ShapeError
from dalembert.spatial.arrays import check_rows

MOST_THREADS = 65_536  # more are as many


def common_rows(inputs: Mapping[str, np.ndarray]) -> int | None:
    """Number of states in a batch of vectors (n,) or (N, n); None for a single state."""
    return check_rows({name: {len(a)} if a.ndim == 2 else set() for name, a in inputs.items()})


def results_for(
    ports: Sequence[Port | Register], rows: int | None, out: Any, dtype: Any = np.float64
) -> list[np.ndarray]:
    """An array for each output, given and checked, or new.

    Raises
    ------
    ShapeError, TypeError, ValueError
        The arrays given have other shapes; a kernel cannot write to them; rows or arrays overlap in
        memory.
    """
    shapes = [p.shape if rows is None else (rows, *p.shape) for p in ports]
    if out is None:
        return [np.empty(shape, dtype) for shape in shapes]
    if not isinstance(out, (np.ndarray, list, tuple)):
        raise TypeError(
            f"out is a {type(out).__name__}: expected an array, or a sequence of one array for "
            "each result."
        )
    given = [out] if isinstance(out, np.ndarray) else list(out)
    if len(given) != len(shapes):
        raise ShapeError(f"out holds {len(given)} arrays, expected {len(shapes)}.", "out")
    for a, shape, port in zip(given, shapes, ports, strict=True):
        if (
            not isinstance(a, np.ndarray)
            or a.dtype != dtype
            or not (a.flags.writeable and a.flags.aligned)
        ):
            raise TypeError(
                f"out for {port.name} must be a writeable {np.dtype(dtype).name} array."
            )
        if a.shape != shape:
            raise ShapeError(
                f"out for {port.name} has shape {a.shape}, expected {shape}.", "out", a.shape, shape
            )
        if a.size and not (a if rows is None else a[0]).flags.c_contiguous:
            raise TypeError(
                f"out for {port.name} must have contiguous {'entries' if rows is None else 'rows'}."
            )
        if rows is not None and rows > 1 and abs(a.strides[0]) < a[0].nbytes:
            raise ValueError(
                f"out for {port.name} has rows that overlap in memory ({a[0].nbytes} bytes each, "
                f"{a.strides[0]} from one to the next): each row needs memory of its own."
            )
    for k, port in enumerate(ports):
        for other in range(k):
            if np.shares_memory(given[k], given[other]):
                raise ValueError(
                    f"out for {port.name} overlaps out for {ports[other].name} in memory: each "
                    "result needs memory of its own."
                )
    return given


def apart(inputs: Mapping[str, np.ndarray], results: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """The inputs, copied where a result overlaps them."""
    return {
        name: a.copy() if any(np.may_share_memory(a, r) for r in results) else a
        for name, a in inputs.items()
    }


def thread_count(threads: Any) -> int:
    """A number of threads, or an error."""
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)):
        raise TypeError(f"threads={threads!r}: expected a whole number.")
    if threads < 1:
        raise ValueError(
            f"threads={threads}: expected 1 or more; os.cpu_count() is the number of processors."
        )
    return min(int(threads), MOST_THREADS)


def number_or_array(result: np.ndarray) -> Any:
    """A result without axes as float."""
    return result.item() if result.ndim == 0 else result
