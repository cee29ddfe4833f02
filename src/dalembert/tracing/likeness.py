"""Neighbouring entries that were traced one by one, and are computed alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from dalembert.expr import Expr, substitute
from dalembert.expr.graph import COMMUTATIVE, LEAVES
from dalembert.tracing.entry_vectors import VectorEntries, VectorPiece

MOST = 300  # operations of an entry; neighbours of more may share values
FEWEST = 8  # entries of a piece on the mean, or all are computed one by one
SYMBOL, NUMBER = "", "0"  # heads of keys, which no operation has
Key = tuple[Any, ...]


class _Shape(NamedTuple):
    """An expression with its symbols numbered, and their registers and entries."""

    text: Any
    places: tuple[tuple[str, int], ...]


class _TooLong(Exception):
    """An expression has more than MOST operations, or symbols of no register."""


def alike(entries: VectorEntries, values: Sequence[Any]) -> list[VectorPiece] | None:
    """Pieces of entries each of which is computed from the neighbours of what the one before is
    computed from; None if most entries differ.
    """
    known: dict[int, _Shape | None] = {}

    def shape(k: int) -> _Shape | None:
        """Shape of an entry, which is found when it is asked for."""
        if k not in known:
            known[k] = _shape(entries, values[k])
        return known[k]

    pieces: list[VectorPiece] = []
    first = 0
    while first < len(values):
        size, moving = _run(map(shape, range(first, len(values))))
        new = {entries.of(*place): entries.row(*place) for place in moving}
        pieces.append(VectorPiece(size, substitute(values[first], new) if new else values[first]))
        first += size
        if len(pieces) * FEWEST > len(values):
            return None
    return pieces


def terms_of(entries: VectorEntries, x: Any, fewest: int) -> list[Any]:
    """Terms of a sum, in the order in which they are added; operands of a node have no order. None
    of a sum of too few.
    """
    terms: list[Any] = []
    while isinstance(x, Expr) and x.op == "add":
        a, b = x.args
        if a.op != "add" and b.op == "add":
            a, b = b, a
        terms.append(b)
        x = a
    terms = [x, *reversed(terms)]
    if len(terms) < fewest:
        return []
    shapes = [_shape(entries, term) for term in terms[:2]]
    if None not in shapes and len(shapes) == 2 and shapes[1] < shapes[0]:  # type: ignore[operator]
        terms[:2] = reversed(terms[:2])
    return terms


def _run(shapes: Iterator[_Shape | None]) -> tuple[int, list[tuple[str, int]]]:
    """Number of shapes from the first on that are alike, and its places that move on."""
    shape = next(shapes)
    if shape is None:
        return 1, []
    moves: list[int] = []
    size = 1
    for other in shapes:
        if other is None or other.text != shape.text:
            break
        if size == 1:
            moves = [int(a != b) for a, b in zip(shape.places, other.places, strict=True)]
        there = [
            (name, entry + move * size)
            for (name, entry), move in zip(shape.places, moves, strict=True)
        ]
        if there != [*other.places]:
            break
        size += 1
    if size == 1:
        return 1, []
    return size, [place for place, move in zip(shape.places, moves, strict=True) if move]


def _shape(entries: VectorEntries, x: Any) -> _Shape | None:
    """Shape of an expression or a number; None of what is too long."""
    if not isinstance(x, Expr):
        return _Shape((NUMBER, repr(float(x))), ())
    numbers: dict[tuple[str, int], int] = {}

    def numbered(key: Key) -> Key:
        """A key with symbols by the order of their first occurrence."""
        head, *rest = key
        if head == SYMBOL:
            return SYMBOL, numbers.setdefault((rest[0], rest[1]), len(numbers))
        return key if head == NUMBER else (head, *map(numbered, rest))

    try:
        text = numbered(_key(entries, x, [MOST]))
    except _TooLong:
        return None
    return _Shape(text, tuple(numbers))


def _key(entries: VectorEntries, node: Expr, left: list[int]) -> Key:
    """Structure of an expression, with operands of sums and products in the order of their own."""
    left[0] -= 1
    if left[0] < 0 or node.op == "symbol" and node not in entries.one:
        raise _TooLong
    if node.op == "symbol":
        return SYMBOL, *entries.one[node]
    if node.op in LEAVES:
        return NUMBER, repr(node.args)
    keys = [_key(entries, arg, left) for arg in node.args]
    return node.op, *(sorted(keys) if node.op in COMMUTATIVE else keys)
