"""Symmetric systems of few entries over any scalar by A = L D L^T, in an order that keeps them few.

Entries that are 0 by structure are not stored. A may be singular: pivots that the caller takes for
rounding are left out, and with them the rows that follow from others.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Mapping,
    Sequence,
)
from heapq import (
    heapify,
    heappop,
    heappush,
)
from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import known_zero
from dalembert.spatial.ldl import Factors
from dalembert.spatial.vectors import Scalar

Entries = Mapping[int, Scalar]  # of a row, by column
NOTHING = 0  # the usual entry of long rows, left out before others are looked at
Column = list[tuple[int, Scalar]]  # entries of L below its 1


class SparseFactors(NamedTuple):
    """A = L D L^T with L unit lower triangular in the order of the pivots.

    order : rows in the order in which they are eliminated
    columns : of L, by row, whose ones are not stored
    inverse_pivots : 1 / D by row; 0 of rows that are left out
    """

    order: Sequence[int]
    columns: list[Column]
    inverse_pivots: list[Scalar]

    @classmethod
    def of(cls, factors: Factors) -> SparseFactors:
        """The factors L^T D L of a matrix, without entries that are 0."""
        n = len(factors.L)
        columns = [
            [(i, x) for i, x in enumerate(row[:k]) if not known_zero(x)]
            for k, row in enumerate(factors.L)
        ]
        return cls(range(n - 1, -1, -1), columns, factors.inverse_pivots)

    def inward(self, b: Entries) -> dict[int, Scalar]:
        """L^-1 b, by the entries that are not 0."""
        x = dict(b)
        place = self._place
        waiting = [(place(k), k) for k in x]
        heapify(waiting)
        while waiting:
            _, k = heappop(waiting)
            for i, entry in self.columns[k]:
                if i in x:
                    x[i] = x[i] - entry * x[k]
                else:
                    x[i] = -entry * x[k]
                    heappush(waiting, (place(i), i))
        return x

    @property
    def _place(self) -> Callable[[int], int]:
        """Place of a row in the order."""
        if isinstance(self.order, range):
            return self.order.index  # found without a search
        return {k: at for at, k in enumerate(self.order)}.__getitem__

    def outward(self, y: Sequence[Scalar]) -> list[Scalar]:
        """L^-T y."""
        x = list(y)
        for k in reversed(self.order):
            for i, entry in self.columns[k]:
                x[k] = x[k] - entry * x[i]
        return x

    def scaled(self, b: Sequence[Scalar]) -> list[Scalar]:
        """D^-1 b."""
        return [x * inverse for x, inverse in zip(b, self.inverse_pivots, strict=True)]

    def reduced(self, b: Sequence[Scalar]) -> list[Scalar]:
        """L^-1 b of a vector without structure."""
        x = list(b)
        for k in self.order:
            for i, entry in self.columns[k]:
                x[i] = x[i] - entry * x[k]
        return x

    def solved(self, b: Sequence[Scalar]) -> list[Scalar]:
        """x of A x = b; of a singular A, with 0 for the rows that are left out."""
        return self.outward(self.scaled(self.reduced(b)))

    def gram(self, rows: Sequence[Entries]) -> list[Any]:
        """Rows {column: number} of V D^-1 V^T, with rows of V."""
        return gram(rows, self.inverse_pivots)

    def products(self, rows: Sequence[Entries], vector: Sequence[Scalar]) -> list[Scalar]:
        """V x, with rows of V."""
        return [dot(row, vector) for row in rows]

    def held(self, values: Sequence[Scalar]) -> Sequence[Scalar]:
        """Values of which many others are computed: as they are."""
        return values


def entries_of(row: np.ndarray) -> dict[int, Scalar]:
    """Entries of a row that are not 0 by structure."""
    if row.dtype != object:
        at = np.flatnonzero(row)
        return dict(zip(at.tolist(), row[at].tolist(), strict=True))
    entries = enumerate(row.tolist())
    return {k: x for k, x in entries if x is not NOTHING and not known_zero(x)}


def linked(rows: Sequence[Iterable[int]]) -> list[list[int]]:
    """Numbers of rows in groups that are linked by entries in common; empty rows are in none."""
    holders: dict[int, list[int]] = {}
    for k, row in enumerate(rows):
        for entry in row:
            holders.setdefault(entry, []).append(k)
    groups: list[list[int]] = []
    seen: set[int] = set()
    for entry in [*holders]:
        waiting, group = [entry], []
        while waiting:
            fresh = [k for k in holders.pop(waiting.pop(), ()) if k not in seen]
            seen.update(fresh)
            group += fresh
            waiting += [other for k in fresh for other in rows[k]]
        groups.append(group)
    return [group for group in groups if group]


def held_by_count(rows: Sequence[Collection[int]]) -> set[int]:
    """Numbers of rows that hold all their entries by count: the largest of the sets of rows that have
    most rows beyond their entries.

    All rows but those on paths from an entry to which no row is matched: Dulmage, Mendelsohn,
    Coverings of bipartite graphs, Canad. J. Math. 10 (1958) 517-534.
    """
    entry_of = _matching(rows)
    matched = {*entry_of.values()}
    holders: dict[int, list[int]] = {}
    for k, row in enumerate(rows):
        for entry in row:
            holders.setdefault(entry, []).append(k)
    waiting = [entry for entry in holders if entry not in matched]
    free: set[int] = set()
    while waiting:
        fresh = {*holders[waiting.pop()]} - free
        free |= fresh
        waiting += [entry_of[k] for k in fresh]
    return {k for k, row in enumerate(rows) if row} - free


def _matching(rows: Sequence[Collection[int]]) -> dict[int, int]:
    """An entry of as many rows as possible that no other row has, by row."""
    entry_of: dict[int, int] = {}
    row_of: dict[int, int] = {}
    left: set[int] = set()  # entries from which no path leads to one without a row
    for first in range(len(rows)):
        came_from: dict[int, int] = {}
        waiting, end = [first], None
        while waiting and end is None:
            k = waiting.pop()
            fresh = [entry for entry in rows[k] if entry not in came_from and entry not in left]
            came_from |= dict.fromkeys(fresh, k)
            end = next((entry for entry in fresh if entry not in row_of), None)
            waiting += [row_of[entry] for entry in fresh if entry in row_of]
        if end is None:
            left |= came_from.keys()
        while end is not None:  # rows along the path move on by one entry
            k = came_from[end]
            row_of[end] = k
            before = entry_of.get(k)
            entry_of[k] = end
            end = before
    return entry_of


def dot(row: Entries, vector: Sequence[Scalar]) -> Scalar:
    """Product of a row and a vector."""
    return sum(x * vector[entry] for entry, x in row.items())


def gram(vectors: Sequence[Entries], weights: Sequence[Scalar] | None = None) -> list[Any]:
    """Rows {column: number} of V W V^T, with vectors as the rows of V, and a diagonal W."""
    holders: dict[int, list[int]] = {}
    for k, vector in enumerate(vectors):
        for entry in vector:
            holders.setdefault(entry, []).append(k)
    rows: list[dict[int, Scalar]] = [{} for _ in vectors]
    for k, vector in enumerate(vectors):
        for entry, x in vector.items():
            weighted = x if weights is None else x * weights[entry]
            for j in holders[entry]:
                if j <= k:
                    rows[k][j] = rows[k].get(j, 0) + weighted * vectors[j][entry]
    for k, row in enumerate(rows):
        for j in [j for j in row if j < k]:
            rows[j][k] = row[j]
    return rows


def eliminated(
    A: Sequence[Entries], inverse: Callable[[int, Scalar], Scalar], order: Sequence[int] = ()
) -> SparseFactors:
    """Factors of a symmetric A, given by whole rows.

    inverse(k, pivot) gives 1 / D of row k, or 0 to leave the row out.
    order: of elimination; by default of least degree, in which few entries are added
    """
    order = order or least_degree([row.keys() for row in A])
    rest = [dict(row) for row in A]
    done: set[int] = set()
    columns: list[Column] = [[] for _ in A]
    inverse_pivots: list[Scalar] = [0] * len(A)
    for k in order:
        done.add(k)
        inverse_pivots[k] = inverse(k, rest[k][k]) if k in rest[k] else 0
        if known_zero(inverse_pivots[k]):
            continue
        coupled = [i for i, x in rest[k].items() if i not in done and not known_zero(x)]
        columns[k] = [(i, rest[k][i] * inverse_pivots[k]) for i in coupled]
        for i, entry in columns[k]:
            for j in coupled:
                if j <= i:
                    left = rest[i].get(j, 0) - entry * rest[k][j]
                    rest[i][j] = rest[j][i] = left
    return SparseFactors(order, columns, inverse_pivots)


def least_degree(neighbours: Sequence[Iterable[int]]) -> list[int]:
    """An order of elimination: always the row that is coupled to the fewest others.

    Tinney, Walker, Direct solutions of sparse network equations by optimally ordered triangular
    factorization, Proc. IEEE 55 (1967) 1801-1809.
    """
    graph = [set(row) - {k} for k, row in enumerate(neighbours)]
    waiting = [(len(row), k) for k, row in enumerate(graph)]
    heapify(waiting)
    order: list[int] = []
    done: set[int] = set()
    while waiting:
        degree, k = heappop(waiting)
        if k in done or degree != len(graph[k]):
            continue
        done.add(k)
        order.append(k)
        for i in graph[k]:
            graph[i] |= graph[k]
            graph[i] -= {i, k}
            heappush(waiting, (len(graph[i]), i))
    return order
