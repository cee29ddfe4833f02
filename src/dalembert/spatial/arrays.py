"""Between arrays at the door and scalars inside: columns of floats, expressions, or arrays of shape
(N,).
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, Protocol, SupportsFloat, TypeAlias, TypeVar

import numpy as np

from dalembert.arguments import shown
from dalembert.errors import OverflowedError, ShapeError, UnknownNameError
from dalembert.expr import Expr
from dalembert.spatial.vectors import Scalar


class Columns(Protocol):
    """A table or series of pandas, polars or xarray."""

    def to_numpy(self) -> Any:
        """The numbers as an array."""


Array: TypeAlias = np.ndarray[
    tuple[int, ...], np.dtype[np.float64]
]  # of expressions, an array of objects
VectorArray: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]
State: TypeAlias = np.ndarray[tuple[int], Any] | Sequence[SupportsFloat]  # a vector (n,)
Batch: TypeAlias = (
    np.ndarray[tuple[int, int], Any] | Sequence[np.ndarray[Any, Any] | Sequence[SupportsFloat]]
)  # (N, n)
Values: TypeAlias = State | Batch | np.ndarray[Any, Any] | Columns

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Explain = Callable[[str, int], str]  # (name, length) -> why this length

KINDS = {"U": "texts", "S": "bytes", "b": "truth values", "c": "complex numbers", "M": "dates"}


def unpacked(array: Any, name: str, length: int, says: Explain) -> tuple[list[Scalar], int | None]:
    """Entries of a vector as scalars, and the number of rows (None for a single state).

    (length,) gives floats or expressions; (N, length) gives arrays of shape (N,). `says(name,
    length)` explains the expected length in an error.
    """
    a = _shaped(array, name, length, says)
    if a.dtype == object and any(isinstance(x, Expr) for x in a.flat):
        if a.ndim == 2:
            raise ShapeError(
                f"{name} has shape {a.shape}: expressions are taken for one state at a time.",
                name,
                a.shape,
            )
        return [_scalar(x, name, k) for k, x in enumerate(a.tolist())], None
    a = _real(a, name)
    check_finite(a, name)
    return (a.tolist(), None) if a.ndim == 1 else (list(a.T), len(a))


def floats(array: Any, name: str, length: int, says: Explain) -> np.ndarray:
    """A vector as (length,) or (N, length) float64 array with contiguous rows; not checked for
    finite entries.
    """
    if (
        type(array) is np.ndarray
        and array.dtype == np.float64
        and array.ndim in (1, 2)
        and array.shape[-1] == length
    ):
        return (
            array
            if array.strides[-1] == array.itemsize and array.flags.aligned
            else np.ascontiguousarray(array)
        )
    return np.ascontiguousarray(_real(_shaped(array, name, length, says), name))


def _shaped(array: Any, name: str, length: int, says: Explain) -> np.ndarray:
    """An array of shape (length,) or (N, length)."""
    masked = sys.modules.get("numpy.ma")  # imported where masked arrays are, and only there
    if masked is not None and isinstance(array, masked.MaskedArray):
        array = masked.filled(array.astype(float), np.nan)
    try:
        a = np.asarray(array)
    except ValueError:
        raise ShapeError(
            f"{name} has rows of different lengths, expected ({length},) or (N, {length}): "
            f"{says(name, length)}.",
            name,
            (),
            (length,),
        ) from None
    if a.ndim not in (1, 2) or a.shape[-1] != length:
        turned = a.ndim == 2 and a.shape[0] == length
        advice = f" States are rows: did you mean {name}.T?" if turned else ""
        has = f"has shape {a.shape}" if a.ndim else f"is {shown(array)}"
        raise ShapeError(
            f"{name} {has}, expected ({length},) or (N, {length}): {says(name, length)}.{advice}",
            name,
            a.shape,
            (length,),
        )
    return a


def _real(a: np.ndarray, name: str) -> np.ndarray:
    """The array as float64, or a TypeError."""
    if a.dtype.kind not in "fiuO":
        held = KINDS.get(a.dtype.kind, f"{a.dtype} values")
        raise TypeError(f"{name} holds {held}, expected real numbers.")
    strange = (
        [x for x in a.flat if x is None or isinstance(x, (bool, np.bool_, str))]
        if a.dtype == object
        else []
    )
    if strange:
        raise TypeError(
            f"{name} holds {strange[0]!r} ({type(strange[0]).__name__}), expected real numbers."
        )
    try:
        with np.errstate(over="ignore"):  # to infinity, which is refused as such
            return a.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} holds values that are not real numbers ({error}).") from None


def check_finite(a: np.ndarray, name: str) -> None:
    """Raise a ValueError that names row and entry of the first number that is not finite."""
    if not np.isfinite(a).all():
        place = np.argwhere(~np.isfinite(a))[0]
        row = f" in row {place[0]}" if a.ndim == 2 else ""
        raise ValueError(
            f"{name} has the entry {a[tuple(place)]} at index {place[-1]}{row}; expected finite "
            "numbers."
        )


def check_range(a: np.ndarray, converted: np.ndarray, name: str) -> None:
    """Raise a ValueError that names row and entry of the first finite number that became infinite
    when it was converted.
    """
    if not np.isfinite(converted).all():
        place = np.argwhere(~np.isfinite(converted))[0]
        row = f" in row {place[0]}" if a.ndim == 2 else ""
        largest = np.finfo(converted.dtype).max
        raise ValueError(
            f"{name} has the entry {a[tuple(place)]} at index {place[-1]}{row}; expected finite "
            f"numbers of {converted.dtype}, which end at {largest:.3g}."
        )


def _scalar(x: Any, name: str, k: int) -> Scalar:
    if isinstance(x, bool) or not (isinstance(x, (int, float, Expr)) or hasattr(x, "numerator")):
        raise TypeError(
            f"{name}[{k}] is {x!r} ({type(x).__name__}), expected a number or an expression."
        )
    return x


def packed(
    values: Any, batch: int | None = None, shape: tuple[int, ...] | None = None
) -> np.ndarray:
    """Nested sequences of scalars as an array; with a batch of N rows the result has N as leading
    axis.

    A float array, or an object array if any scalar is an expression.
    """
    shape = _shape(values) if shape is None else shape
    flat = list(_flat(values))
    if any(isinstance(x, Expr) for x in flat):
        out = np.empty(len(flat), dtype=object)
        for k, x in enumerate(flat):
            out[k] = x
        return out.reshape(shape)
    if batch is None:
        return finite_results(np.array(flat, dtype=float).reshape(shape))
    out = np.empty((batch, len(flat)))
    for k, x in enumerate(flat):
        out[:, k] = x
    return finite_results(out.reshape((batch, *shape)))


def single(value: Any) -> Any:
    """A number instead of an array without axes; expressions and other arrays as they are."""
    return value.item() if getattr(value, "ndim", 1) == 0 else value


def finite_results(out: np.ndarray) -> np.ndarray:
    """The results of finite inputs, or an error: numbers became too large on the way."""
    if not np.isfinite(out).all():
        index = tuple(map(int, np.argwhere(~np.isfinite(out))[0]))
        where = f"entry {index} of the result" if index else "the result"
        raise OverflowedError(
            f"{where} is {out[index]}: numbers became too large. Are the inputs, "
            "masses and lengths in SI units?",
            index,
        )
    return out


def finite(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The function with an OverflowedError where a result of numbers, or a field of a named tuple,
    is not finite.
    """

    @functools.wraps(function)
    def checked(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        """The function; raises OverflowedError where a result is not finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = function(*arguments, **named)
        for part in found if isinstance(found, tuple) else (found,):
            if isinstance(part, (np.ndarray, float)) and np.asarray(part).dtype != object:
                finite_results(np.asarray(part))
        return found

    return checked


def in_order(values: Any, name: str, names: Sequence[str]) -> Any:
    """The columns of a table (of pandas or polars), the entries of a series or of {name: value}, in
    the order of the names.

    Anything else, and a table whose columns have numbers for names, is returned as it is.

    Raises
    ------
    ShapeError
        The columns have other names; {name: value} lacks some.
    UnknownNameError
        {name: value} has another name.
    """
    if isinstance(values, Mapping):
        return _named_in_order(values, name, names)
    if isinstance(values, (np.ndarray, list, tuple)) or not hasattr(values, "to_numpy"):
        return values
    labels = list(getattr(values, "columns", getattr(values, "index", ())))
    if not any(isinstance(label, str) for label in labels):
        return values
    if len(labels) != len(names) or set(labels) != set(names):
        few = ", ".join(map(str, labels[:6])) + (", ..." if len(labels) > 6 else "")
        raise ShapeError(
            f"{name} has the columns {few}; expected {', '.join(names)}, in any order. For columns "
            f"that mean these in their order take {name}.to_numpy().",
            name,
            np.shape(values),
            (len(names),),
        )
    return values[list(names)].to_numpy()


def _named_in_order(values: Mapping[str, Any], name: str, names: Sequence[str]) -> Any:
    for given in values:
        if given not in names:
            raise UnknownNameError(f"entry of {name}", str(given), tuple(names))
    if missing := [each for each in names if each not in values]:
        few = ", ".join(missing[:6]) + (", ..." if len(missing) > 6 else "")
        raise ShapeError(
            f"{name} has {len(values)} of {len(names)} entries by name; these are missing: {few}.",
            name,
            (len(values),),
            (len(names),),
        )
    return np.stack(np.broadcast_arrays(*(values[each] for each in names)), axis=-1)


def _shape(values: Any) -> tuple[int, ...]:
    return (
        (len(values), *_shape(values[0]))
        if isinstance(values, (list, tuple)) and values
        else (0,)
        if isinstance(values, (list, tuple))
        else ()
    )


def _flat(values: Any) -> Iterable[Scalar]:
    if isinstance(values, (list, tuple)):
        for value in values:
            yield from _flat(value)
    else:
        yield values


def graph_of(scalars: Iterable[Scalar]) -> Any:
    """The graph of the first expression among scalars, or None."""
    return next((x.graph for x in scalars if isinstance(x, Expr)), None)


def check_rows(rows: dict[str, set[int]]) -> int | None:
    """The common number of rows of a batch (None for a single state; 1 goes with any)."""
    sizes = set().union(*rows.values())
    if len(sizes - {1}) > 1:
        raise ShapeError(
            "the vectors have different numbers of rows: "
            + ", ".join(f"{name} {r}" for name, found in rows.items() for r in sorted(found))
            + "."
        )
    return next(iter(sizes - {1}), 1) if sizes else None
