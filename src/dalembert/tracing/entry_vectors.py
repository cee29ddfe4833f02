"""Vectors whose entries are computed alike, by a single expression for many of them.

An integrator does the same with each entry of a state. An `EntryVector` says once what that is, so that
neither the time to trace it nor its machine code grows with the number of entries.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from dalembert.expr import Expr, absolute, free_symbols, maximum, substitute, symbol
from dalembert.expr.entrywise import Entrywise


class VectorEntries:
    """Symbols of the entries of registers: of one entry, or of another one in each row of a loop."""

    def __init__(self) -> None:
        self.one: dict[Expr, tuple[str, int]] = {}  # register and entry of a symbol
        self.rows: dict[Expr, tuple[str, int]] = {}  # register, and entry in row 0

    def of(self, name: str, entry: int) -> Any:
        """The symbol of one entry."""
        new = symbol(f"input {name}[{entry}]")
        self.one[new] = name, entry
        return new

    def row(self, name: str, first: int) -> Any:
        """The symbol of an entry that moves on by one from row to row."""
        new = symbol(f"row of {name}[{first}]")
        self.rows[new] = name, first
        return new

    def moved(self, x: Any, rows: int, to: Callable[[str, int], Any] | None = None) -> Any:
        """An expression of a row as it is some rows later; in symbols of rows, or in others."""
        if not isinstance(x, Expr) or not (rows or to):
            return x
        new = {}
        for s in free_symbols(x):
            if s in self.rows:
                name, first = self.rows[s]
                new[s] = (to or self.row)(name, first + rows)
        return substitute(x, new)


class EntrySource(Protocol):
    """A trace that has the registers of vectors."""

    entries: VectorEntries

    def vector_of(self, values: Any) -> EntryVector:
        """The vector of some values."""

    def reduced(self, vector: EntryVector, combined: Callable[[Any, Any], Any]) -> Any:
        """The entries combined to a single value."""


class VectorPiece(NamedTuple):
    """Neighbouring entries of a vector, by the expression of the first, which is that of a row."""

    size: int
    entry: Any


def _both_ways(function: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """Methods of an operator with a vector on the left, and on the right."""

    def of_left(self: EntryVector, other: Any) -> EntryVector:
        """The function with the vector as its first operand."""
        return self.entrywise(function, self, other)

    def of_right(self: EntryVector, other: Any) -> EntryVector:
        """The function with the vector as its second operand."""
        return self.entrywise(function, other, self)

    return of_left, of_right


class EntryVector(Entrywise):
    """A vector in pieces, whose expressions read registers of a trace."""

    __array_ufunc__ = None  # operators of arrays leave it to those here
    dtype = np.dtype(object)

    def __init__(self, source: EntrySource, pieces: Sequence[VectorPiece]):
        self.source = source
        self.pieces = pieces
        self.starts: list[int] = np.cumsum([0, *(piece.size for piece in pieces)]).tolist()

    def __len__(self) -> int:
        return self.starts[-1]

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        out = np.empty(len(self), dtype=object)
        out[:] = [*self]
        return out

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function is not np.concatenate or options:
            return NotImplemented
        vectors = [self.source.vector_of(v) for v in args[0]]
        return EntryVector(self.source, [piece for v in vectors for piece in v.pieces])

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            return self._entry(range(len(self))[index], self.source.entries.of)
        start, stop, step = index.indices(len(self))
        if step != 1:
            return np.asarray(self)[index]
        return EntryVector(self.source, self.cut({start, stop, *self.starts}, start, stop))

    def __setitem__(self, places: slice, values: Any) -> None:
        start, stop, _ = places.indices(len(self))
        changed: Any = np.concatenate([self[:start], values, self[stop:]])
        self.pieces, self.starts = changed.pieces, changed.starts

    def _entry(self, k: int, symbol_of: Callable[[str, int], Any] | None = None) -> Any:
        """The expression of entry k: that of a row which begins there, or in other symbols."""
        piece = int(np.searchsorted(self.starts, k, side="right")) - 1
        first = self.pieces[piece].entry
        return self.source.entries.moved(first, k - self.starts[piece], symbol_of)

    def cut(
        self, cuts: Collection[int], start: int = 0, stop: int | None = None
    ) -> list[VectorPiece]:
        """Pieces between cuts, among which are the ends of its own."""
        stop = len(self) if stop is None else stop
        ends = sorted(cut for cut in cuts if start <= cut <= stop)
        if ends == self.starts:
            return [*self.pieces]
        return [VectorPiece(b - a, self._entry(a)) for a, b in pairwise(ends)]

    def reshape(self, rows: int, columns: int) -> list[EntryVector]:
        """Rows of the vector as a matrix."""
        return [self[k * columns : (k + 1) * columns] for k in range(rows)]

    def entrywise(self, function: Callable[..., Any], *operands: Any) -> EntryVector:
        """A function of each entry."""
        vectors = {
            k: self.source.vector_of(x)
            for k, x in enumerate(operands)
            if isinstance(x, (EntryVector, np.ndarray))
        }
        # cut alike, so that each piece of the result has one expression
        cuts = {cut for vector in vectors.values() for cut in vector.starts}
        cut_alike = [vector.cut(cuts) for vector in vectors.values()]
        result = []
        for pieces in zip(*cut_alike, strict=True):
            entries = dict(enumerate(operands))
            entries |= {k: piece.entry for k, piece in zip(vectors, pieces, strict=True)}
            result.append(VectorPiece(pieces[0].size, function(*entries.values())))
        return EntryVector(self.source, result)

    def total(self) -> Any:
        """Sum of the entries."""
        return self.source.reduced(self, lambda total, entry: total + entry)

    def largest(self) -> Any:
        """Largest absolute value of the entries."""
        return self.source.reduced(self, lambda most, entry: maximum(most, absolute(entry)))

    __add__, __radd__ = _both_ways(operator.add)
    __sub__, __rsub__ = _both_ways(operator.sub)
    __mul__, __rmul__ = _both_ways(operator.mul)
    __truediv__, __rtruediv__ = _both_ways(operator.truediv)

    def __neg__(self) -> Any:
        return self.entrywise(operator.neg, self)
