"""Sums that several sums have in common, up to sign and factor: a + b inside a + b + c and inside 2
x a + 2 x b - d.

All sums, those in parentheses too, are rows of one table, in which a factor may be another row. A
set of terms that several rows have, times any monomial, becomes a row of its own where that
shortens the print.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

from dalembert.closed_forms.algebra.ring import plain
from dalembert.closed_forms.algebra.sums import (
    Call,
    Cosine,
    Factors,
    Name,
    Sum,
    Term,
    angle_sum,
    content,
    factor_order,
    opposite,
    single,
)

NAME = 4  # characters of the name of a part
LINE = 4  # what one more line costs a reader, in characters
ROUNDS = 20  # searches for common sums, each after all of the one before are taken out
PLACES = 16  # places of one pair of terms that are compared with each other
DIGITS = 4  # of a factor with which a sum is used again

Pattern = frozenset[
    tuple[int, Any]
]  # number of factors in the table, coefficient: that of the first is 1


class Reference(NamedTuple):
    """A row of the table as a factor."""

    number: int


class Place(NamedTuple):
    """Occurrence of a pattern: a row, a number and factors."""

    row: int
    number: Any
    factors: Factors


class _Shared(NamedTuple):
    """A sum that stands at several places: its row (-1: a new one), its terms, and what it is
    multiplied by elsewhere.
    """

    row: int
    terms: tuple[Term, ...]
    others: dict[Place, Term]


class PatternTable:
    """Sums as rows; equal ones, up to sign, are one row."""

    def __init__(self) -> None:
        self.rows: list[tuple[Term, ...]] = []
        self._known: dict[frozenset[Term], int] = {}
        self._factors: list[Factors] = []
        self._numbers: dict[Factors, int] = {}

    def add(self, form: Sum, names: Mapping[str, Term]) -> Term:
        """A form as a factor: a row and its sign; `names` stand for rows."""
        terms = _collected(self._flat(t, names) for t in form.terms)
        for sign, key in ((1, frozenset(terms)), (-1, frozenset(opposite(Sum(terms)).terms))):
            if key in self._known:
                return single(Reference(self._known[key]), sign)
        self._known[frozenset(terms)] = len(self.rows)
        return single(Reference(self.append(terms)))

    def alias(self, form: Sum, names: Mapping[str, Term]) -> Term:
        """A form as a factor: where it is a name up to sign, the row of this."""
        if not form.terms:
            return Term(1, ())
        if len(form.terms) == 1 and _is_reference(term := self._flat(form.terms[0], names)):
            return term
        return self.add(form, names)

    def resolved(self, row: Term) -> Term:
        """The row that a row is, but for a sign."""
        while row.factors:
            terms = self.rows[row.factors[0][0].number]
            if len(terms) != 1 or not _is_reference(terms[0]):
                break
            row = terms[0]._replace(number=row.number * terms[0].number)
        return row

    def used(self, roots: Iterable[Term], known: Container[int]) -> tuple[list[int], Counter[int]]:
        """Rows that are needed, each after those in it, and how often each occurs in rows; known:
        not looked into.
        """
        order: dict[int, None] = {}
        uses: Counter[int] = Counter()

        def visit(k: int) -> None:
            """Add a row behind the rows that it refers to."""
            if k in order or k in known:
                return
            for inner in (
                f.number for t in self.rows[k] for f, _ in t.factors if isinstance(f, Reference)
            ):
                uses[inner] += 1
                visit(inner)
            order[k] = None

        for root in roots:
            for f, _ in root.factors:
                visit(f.number)
        return list(order), uses

    def append(self, terms: tuple[Term, ...]) -> int:
        """The number of a new row."""
        self.rows.append(terms)
        return len(self.rows) - 1

    def _flat(self, term: Term, names: Mapping[str, Term]) -> Term:
        """A term whose sums in parentheses, and names, are rows."""
        number = term.number
        factors = list[tuple[Any, int]]()
        for factor, e in term.factors:
            row = (
                self.add(factor, names)
                if isinstance(factor, Sum)
                else (names.get(factor.name) if isinstance(factor, Name) else None)
            )
            if row is not None:
                number = number * row.number ** (e % 2)
                factor = row.factors[0][0]
            factors.append((factor, e))
        return Term(number, in_order(factors))

    # --- patterns ---

    def share(self, frozen: Iterable[int]) -> None:
        """Take out what rows have in common while that shortens the print; frozen rows stay as they
        are.
        """
        kept = frozenset(frozen)
        for _ in range(ROUNDS):
            found = self._patterns()
            gains = {
                pattern: self._gain(pattern, places, kept) for pattern, places in found.items()
            }
            touched: set[int] = set()
            for pattern in sorted(found, key=lambda x: -gains[x]):
                places = [place for place in found[pattern] if place.row not in touched]
                if gains[pattern] > 0 and self._gain(pattern, places, kept) > 0:
                    touched |= self._take_out(pattern, places, kept)
            if not touched:
                break

    def _patterns(self) -> dict[Pattern, dict[Place, None]]:
        """Sets of two or more terms that stand at several places."""
        pairs: dict[Pattern, list[Place]] = {}
        for k, terms in enumerate(self.rows):
            for a, b in combinations(
                [t for t in terms if isinstance(t.number, (int, Fraction))], 2
            ):
                common, rest = _apart(a.factors, b.factors)
                pattern, number = _normal(
                    [(self._number(rest[0]), a.number), (self._number(rest[1]), b.number)]
                )
                pairs.setdefault(pattern, []).append(Place(k, number, common))
        found: dict[Pattern, dict[Place, None]] = {}
        for places in pairs.values():
            quotients = (
                [(place, self._quotient(place)) for place in places[:PLACES]]
                if len(places) > 1
                else []
            )
            for one, other in combinations(quotients, 2):
                equal = [(f, x) for f, x in one[1].items() if other[1].get(f) == x]
                pattern, number = _normal(equal)
                for place, _ in (one, other):
                    found.setdefault(pattern, {})[
                        place._replace(number=plain(place.number * number))
                    ] = None
        return found

    def _number(self, factors: Factors) -> int:
        """Number of a product of factors."""
        number = self._numbers.setdefault(factors, len(self._factors))
        if number == len(self._factors):
            self._factors.append(factors)
        return number

    def _quotient(self, place: Place) -> dict[int, Any]:
        """Terms of a row divided by what a pattern is multiplied by there, as far as that goes."""
        found = {}
        for number, factors in self.rows[place.row]:
            if (
                isinstance(number, (int, Fraction))
                and (rest := _divided(factors, place.factors)) is not None
            ):
                found[self._number(rest)] = ratio(number, place.number)
        return found

    def _times(self, place: Place, pattern: Pattern) -> set[Term]:
        """Terms of a pattern at a place."""
        return {
            Term(plain(place.number * x), in_order((*place.factors, *self._factors[f])))
            for f, x in pattern
        }

    def _shared(
        self, pattern: Pattern, places: Iterable[Place], frozen: Container[int]
    ) -> _Shared | None:
        """How a pattern can be a row, an existing one that is a multiple of it or a new one; None
        where it is not shared.
        """
        usable = [p for p in places if p.row not in frozen or self._is_whole(pattern, p)]
        if len(usable) < 2:
            return None
        usable.sort(key=lambda p: (not self._is_whole(pattern, p), p.row not in frozen))
        first = usable[0]
        if self._is_whole(pattern, first):
            row = first.row
            base = first.number
            terms = self.rows[first.row]
            usable = usable[1:]
        else:
            coefficients = dict(pattern)
            quotient = [f for f in self._quotient(first) if f in coefficients]
            number, _, terms = content(
                [Term(plain(coefficients[f] * first.number), self._factors[f]) for f in quotient]
            )
            row = -1
            base = ratio(first.number, number)
        others = {p: Term(ratio(p.number, base), p.factors) for p in usable if p.row not in frozen}
        others = {p: term for p, term in others.items() if is_short(term.number)}
        return _Shared(row, terms, others) if len(others) > (row < 0) else None

    def _is_whole(self, pattern: Pattern, place: Place) -> bool:
        """Whether a pattern is all of a row but for a number."""
        return len(pattern) == len(self.rows[place.row]) and not place.factors

    def _gain(self, pattern: Pattern, places: Iterable[Place], frozen: Container[int]) -> int:
        """Characters by which the print gets shorter."""
        shared = self._shared(pattern, places, frozen)
        if shared is None:
            return 0
        saved = 0 if shared.row >= 0 else -width(shared.terms) - NAME - LINE - len(" = ")
        for place, (number, factors) in shared.others.items():
            saved += width(self._times(place, pattern)) - width(
                [Term(number, (*factors, (Reference(0), 1)))]
            )
        return saved

    def _take_out(
        self, pattern: Pattern, places: Iterable[Place], frozen: Container[int]
    ) -> set[int]:
        """Replace a pattern by a row; the rows that were changed."""
        shared = self._shared(pattern, places, frozen)
        assert shared is not None
        row = shared.row if shared.row >= 0 else self.append(shared.terms)
        touched = {row}
        for place, (number, factors) in shared.others.items():
            if place.row not in touched:
                new = Term(number, in_order((*factors, (Reference(row), 1))))
                self._replace(self._times(place, pattern), place.row, new)
                touched.add(place.row)
        return touched

    def _replace(self, left: set[Term], row: int, new: Term) -> None:
        """Write a term in place of some others in a row."""
        assert left <= {*self.rows[row]}
        at = next(k for k, term in enumerate(self.rows[row]) if term in left)
        self.rows[row] = _collected(
            new if k == at else term
            for k, term in enumerate(self.rows[row])
            if k == at or term not in left
        )


def _collected(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Terms with different factors."""
    numbers: dict[Factors, Any] = {}
    for number, factors in terms:
        numbers[factors] = numbers.get(factors, 0) + number
    return tuple(Term(number, factors) for factors, number in numbers.items() if number)


def _is_reference(term: Term) -> bool:
    """Whether a term is a row, but for a sign."""
    return (
        term.number in (1, -1)
        and len(term.factors) == 1
        and isinstance(term.factors[0][0], Reference)
        and (term.factors[0][1] == 1)
    )


def in_order(factors: Iterable[tuple[Any, int]]) -> Factors:
    """Factors as they are written, equal ones as a power: names, rows, functions, cosines."""
    powers: dict[Any, int] = {}
    for f, e in factors:
        powers[f] = powers.get(f, 0) + e
    return tuple(
        sorted(
            ((f, e) for f, e in powers.items() if e),
            key=lambda x: (1, x[0].number) if isinstance(x[0], Reference) else factor_order(x[0]),
        )
    )


def _apart(a: Factors, b: Factors) -> tuple[Factors, tuple[Factors, Factors]]:
    """Common factors of two products, and what is left of both."""
    other = dict(b)
    common = in_order((f, min(e, other[f], key=abs)) for f, e in a if other.get(f, 0) * e > 0)
    return common, (_divided(a, common) or (), _divided(b, common) or ())


def _divided(factors: Factors, common: Factors) -> Factors | None:
    """Factors without some of them; None where these are not all there."""
    powers = dict(factors)
    for f, e in common:
        if powers.get(f, 0) * e <= 0 or abs(powers[f]) < abs(e):
            return None
        powers[f] -= e
    return tuple((f, e) for f, e in powers.items() if e)


def _normal(terms: Sequence[tuple[int, Any]]) -> tuple[Pattern, Any]:
    """A pattern whose first coefficient is 1, and what it is multiplied by."""
    number = min(terms)[1]
    return frozenset((f, ratio(x, number)) for f, x in terms), number


def ratio(a: Any, b: Any) -> Any:
    """a / b, exactly for exact numbers."""
    return 1 if a == b else -1 if a == -b else plain(Fraction(a) / Fraction(b))


def is_short(number: Any) -> bool:
    """Whether a number is written exactly in few digits."""
    return number in (1, -1) or Fraction(f"{float(number):.{DIGITS}g}") == number


# --- lengths ---------------------------------------------------------------------------------------------------------


def width(terms: Iterable[Term]) -> int:
    """Characters of a sum in plain text, roughly."""
    return sum(3 + _width(t) for t in terms) - 3


def _width(term: Term) -> int:
    number = abs(term.number)
    size = 0 if number == 1 and term.factors else len(f"{float(number):.6g}") + 1
    return max(size + sum(_factor_width(f) + 1 + 2 * (e != 1) for f, e in term.factors) - 1, 1)


def _factor_width(factor: Any) -> int:
    if isinstance(factor, Name):
        return len(factor.name)
    if isinstance(factor, Reference):
        return NAME
    if isinstance(factor, Sum):
        return 2 + width(factor.terms)
    if isinstance(factor, Cosine):
        return (
            len(factor.angle) + 1
            if all(k == 1 for _, k in factor.angle)
            else 5 + width(angle_sum(factor.angle).terms)
        )
    assert isinstance(factor, Call)
    return 2 + len(factor.op) + sum(2 + width(a.terms) for a in factor.args)
