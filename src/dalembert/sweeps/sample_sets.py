"""The samples of a sweep: every combination of some values, or values that go together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any

import numpy as np

from dalembert.errors import DalembertError, ShapeError

SAMPLE = "sample"  # dimension of values that go together
HELD = 24  # bytes: of a sample its number, status, error and value, while a sweep goes on
MOST_HELD = 2**32  # bytes of all samples


class SampleSet:
    """Values of named parameters, and sample k among them, without a list of all samples.

    given: {name: values}, of which all combinations are samples, the last name running fastest;
    with `paired` they go together, entry by entry; a sequence of {name: value} gives the samples
    one by one.
    called: names of parameters among the results, where those differ.
    """

    def __init__(
        self, given: Any, paired: bool = False, called: Mapping[str, str] = MappingProxyType({})
    ):
        paired = paired or not isinstance(given, Mapping)
        table = given if isinstance(given, Mapping) else _table(_listed_values("samples", given))
        _check_count(
            {str(name): len(v) for name, v in table.items() if hasattr(v, "__len__")}, paired
        )
        self.values = {str(name): _sequence(str(name), values) for name, values in table.items()}
        if not self.values:
            raise ShapeError(
                "there are no parameters: give {name: values}, or a list of {name: value}."
            )
        lengths = {name: len(values) for name, values in self.values.items()}
        if paired and len(set(lengths.values())) > 1:
            raise ShapeError(f"values that go together have different lengths: {_listed(lengths)}.")
        _check_count(lengths, paired)
        self.paired = paired
        self._called = called
        self.dims = (SAMPLE,) if paired else tuple(called.get(name, name) for name in lengths)
        self.shape = (next(iter(lengths.values())),) if paired else tuple(lengths.values())
        if not len(self):
            raise ShapeError(f"there are no samples: {_listed(lengths)} values.")

    def __len__(self) -> int:
        return math.prod(self.shape)

    def __getitem__(self, k: int) -> dict[str, Any]:
        """Sample k of all, in C order."""
        places = np.unravel_index(k, self.shape)
        places = places * len(self.values) if self.paired else places
        return {
            name: _item(values, int(at))
            for (name, values), at in zip(self.values.items(), places, strict=True)
        }

    def place(self, k: int) -> tuple[int, ...]:
        """Place of sample k in the arrays of results."""
        return tuple(int(at) for at in np.unravel_index(k, self.shape))

    def text(self, k: int) -> str:
        """Sample k for messages."""
        shown = ", ".join(f"{name}={_short(value)}" for name, value in self[k].items())
        return f"sample {k} ({shown})"

    def coordinates(self) -> Iterator[tuple[str, tuple[str, ...], np.ndarray]]:
        """(name, dimensions, values) of each parameter; objects as text. Vectors cannot have the
        name of their dimension.
        """
        for given, values in self.values.items():
            name = self._called.get(given, given)
            array = (
                values
                if isinstance(values, np.ndarray)
                else np.array([_short(v) for v in values], dtype=object)
            )
            own = tuple(f"{name}_{axis}" for axis in range(array.ndim - 1))
            yield (
                (f"{name}_values" if own and not self.paired else name),
                (SAMPLE if self.paired else name, *own),
                array,
            )


def _check_count(lengths: Mapping[str, int], paired: bool) -> None:
    """Raise a ShapeError if there are more samples than memory should hold, before they are made."""
    count = (
        max(lengths.values(), default=0) if paired else math.prod(n for n in lengths.values() if n)
    )
    if count * HELD > MOST_HELD:
        raise ShapeError(
            f"{count} samples ({_listed(lengths)}) would take {count * HELD / 1e9:.3g} GB of "
            f"memory before the first result; at most {MOST_HELD // HELD} fit into "
            f"{MOST_HELD / 1e9:.3g} GB. Sweep over parts of them, each with a store of its own."
        )


def _listed_values(name: str, values: Any) -> list[Any]:
    """The values of an iterable as a list, as long as it ends."""
    found = list(islice(values, MOST_HELD // HELD + 1))
    _check_count({name: len(found)}, True)
    return found


def _table(rows: list[Any]) -> dict[str, list[Any]]:
    """Columns of samples that are given one by one."""
    for k, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise ShapeError(f"sample {k} is {_short(row)}: expected {{name: value}}.")
        if row.keys() != rows[0].keys():
            raise ShapeError(
                f"sample {k} has the parameters {_names(row)}, the first one {_names(rows[0])}."
            )
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _sequence(name: str, values: Any) -> np.ndarray | list[Any]:
    """Numbers as an array, anything else as a list."""
    if "/" in name or not name:
        raise DalembertError(
            f"parameter {name!r}: a name must have letters and no '/', as files name variables so."
        )
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise ShapeError(
            f"parameter {name!r}: {_short(values)} is one value, expected a sequence; constants "
            "are options.",
            name,
        )
    if (
        isinstance(values, range)
        and -(2**63) <= min(values, default=0) <= max(values, default=0) < 2**63
    ):
        return np.arange(values.start, values.stop, values.step)
    values = values if isinstance(values, np.ndarray) else _listed_values(name, values)
    try:
        array = np.asarray(values)
    except ValueError:  # vectors of different lengths
        return list(values)
    return array if array.dtype.kind in "biuf" and array.ndim else list(values)


def _item(values: Any, k: int) -> Any:
    """A Python number, an array of one's own, or the object."""
    value = values[k]
    return (
        value.item()
        if isinstance(value, np.generic)
        else value.copy()
        if isinstance(value, np.ndarray)
        else value
    )


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else getattr(value, "__name__", None) or repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _names(row: Mapping[str, Any]) -> str:
    return ", ".join(map(repr, row)) or "none"


def _listed(lengths: Mapping[str, int]) -> str:
    return ", ".join(f"{name!r} {n}" for name, n in lengths.items())
