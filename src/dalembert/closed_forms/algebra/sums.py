"""Sums of products as they are printed: the order of terms and factors is that of a textbook, and
always the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, NamedTuple

import numpy as np

from dalembert.closed_forms.algebra.common_numbers import common_number, readable_number
from dalembert.closed_forms.algebra.ring import plain
from dalembert.expr import Graph, constant, cos, sin, symbol
from dalembert.expr.node import BUILD

Factors = tuple[tuple[Any, int], ...]  # powers of factors
ENDLESS = 100  # the same for printing a number that no decimal is: 1/12


def _kept_hash(x: Any) -> int:
    """The hash of a dataclass, calculated once: forms are deep."""
    found = x.__dict__.get("_hash")
    if found is None:
        found = x.__dict__["_hash"] = hash(tuple(x.__dict__.values()))
    return found


@dataclass(frozen=True)
class Name:
    """A symbol, coordinate, parameter or named part."""

    name: str


@dataclass(frozen=True)
class Cosine:
    """Cosine or sine ("c", "s") of a sum of coordinates, or other forms, with whole factors."""

    kind: str
    angle: Factors

    __hash__ = _kept_hash


@dataclass(frozen=True)
class Call:
    """A function of expressions, by its name in `dalembert.expr`."""

    op: str
    args: tuple[Sum, ...]


class Term(NamedTuple):
    """A number times powers of factors."""

    number: Any
    factors: Factors


@dataclass(frozen=True)
class Sum:
    """A sum of terms; as a factor it stands in parentheses. No terms: zero."""

    terms: tuple[Term, ...]

    __hash__ = _kept_hash

    def __len__(self) -> int:
        """Number of terms when parentheses are multiplied out (roots and calls count as one
        factor).
        """
        return sum(
            prod(len(f) for f, power in t.factors if isinstance(f, Sum) and power == 1)
            for t in self.terms
        )


def single(factor: Any, number: Any = 1) -> Term:
    """A factor times a number."""
    return Term(number, ((factor, 1),))


def angle_sum(angle: Iterable[tuple[Any, int]]) -> Sum:
    """The angle of a `Cosine` as a sum."""
    terms: list[Term] = []
    for x, k in angle:
        terms += (
            [single(Name(x), k)]
            if isinstance(x, str)
            else [Term(t.number * k, t.factors) for t in x.terms]
        )
    return Sum(tuple(terms))


def inner_forms(factor: Any) -> tuple[Sum, ...]:
    """The sums that a factor is made of: itself, arguments of a function, an angle; none of a name."""
    if isinstance(factor, Sum):
        return (factor,)
    return (
        factor.args
        if isinstance(factor, Call)
        else (angle_sum(factor.angle),)
        if isinstance(factor, Cosine)
        else ()
    )


def names_in(form: Sum) -> Iterator[str]:
    """Names in a form, also inside parentheses, functions and angles."""
    for term in form.terms:
        for factor, _ in term.factors:
            if isinstance(factor, Name):
                yield factor.name
            else:
                for inner in inner_forms(factor):
                    yield from names_in(inner)


def sole_factor(form: Sum) -> Any:
    """The factor that a form is, with nothing else, or None."""
    ((number, factors),) = form.terms if len(form.terms) == 1 else (Term(0, ()),)
    return factors[0][0] if number == 1 and [e for _, e in factors] == [1] else None


def factors_in(form: Sum) -> int:
    """Factors in a form, also within parentheses."""
    return sum(
        1
        if not t.factors
        else sum(factors_in(f) if isinstance(f, Sum) else 1 for f, _ in t.factors)
        for t in form.terms
    )


def factor_order(factor: Any) -> Any:
    """Order of factors: roots of numbers, names, sums, functions, cosines."""
    if isinstance(factor, Name):
        return 0, factor.name[:1].islower(), len(factor.name), factor.name
    if isinstance(factor, Call):
        is_number = factor.op == "sqrt" and not factor.args[0].terms[0].factors
        return (-1 if is_number else 2), factor.op, str(factor.args)
    return (3, str(factor.angle), factor.kind) if isinstance(factor, Cosine) else (1,)


ZERO = Sum(())


def object_array(entries: Sequence[Any], shape: tuple[int, ...]) -> np.ndarray:
    """Entries in row-major order as an array of objects."""
    made = np.empty(len(entries), dtype=object)
    made[:] = entries
    return made.reshape(shape)


def opposite(form: Sum) -> Sum:
    """The negative of a form."""
    return Sum(tuple(Term(-t.number, t.factors) for t in form.terms))


def content(
    terms: Sequence[Term], number_of: Callable[[Sequence[Any]], Any] = common_number
) -> tuple[Any, Factors, tuple[Term, ...]]:
    """(number, factors, rest): the factors that all terms have in common pulled out; the first term
    of the rest is positive. number_of: the number that is pulled out.
    """
    number = number_of([t.number for t in terms])
    common = _common_factors([dict(t.factors) for t in terms])
    rest = []
    for t in terms:
        left = t.number if number == 1 else plain(Fraction(t.number) / number)
        factors = tuple((f, e - common.get(f, 0)) for f, e in t.factors if e != common.get(f, 0))
        rest.append(Term(left, factors))
    return number, tuple(common.items()), _flat(rest)


def _common_factors(powers: Sequence[dict[Any, int]]) -> dict[Any, int]:
    """Powers of factors that stand in all terms, above the line or below it."""
    first, *others = powers
    if not others:
        return first
    return {
        f: min((p.get(f, 0) for p in powers), key=abs)
        for f, e in first.items()
        if all(p.get(f, 0) * e > 0 for p in others)
    }


def _flat(terms: Sequence[Term]) -> tuple[Term, ...]:
    """Terms, a sum in parentheses alone as its own terms."""
    found: list[Term] = []
    for term in terms:
        inner = sole_factor(Sum((term._replace(number=abs(term.number)),)))
        if isinstance(inner, Sum):
            found += [Term(t.number * term.number, t.factors) for t in inner.terms]
        else:
            found.append(term)
    return tuple(found)


def outside(form: Sum) -> Sum:
    """A sum of several terms with their common factors in front of parentheses."""
    if len(form.terms) < 2:
        return form
    number, factors, rest = content(form.terms, readable_number)
    return Sum((Term(number, united([*factors, (Sum(rest), 1)])),)) if factors else form


def united(factors: Iterable[tuple[Any, int]]) -> Factors:
    """Powers of equal factors as one."""
    powers: dict[Any, int] = {}
    for f, e in factors:
        powers[f] = powers.get(f, 0) + e
    return tuple((f, e) for f, e in powers.items() if e)


class Builder:
    """Expressions of forms in one graph; named parts are filled in."""

    def __init__(self, graph: Graph, parts: Mapping[str, Sum] | None = None):
        self.graph = graph
        self.parts = dict(parts or {})
        self._known: dict[Any, Any] = {}

    def array(self, forms: np.ndarray) -> np.ndarray:
        """Expressions of an array of forms."""
        made = {
            form: constant(self.expression(form), self.graph) for form in dict.fromkeys(forms.flat)
        }
        return object_array([made[form] for form in forms.flat], forms.shape)

    def expression(self, form: Sum) -> Any:
        """The expression of a form; a number where it holds none."""
        if (alone := sole_factor(form)) is not None:
            return self._factor(alone)  # also conditions, which are no numbers
        total: Any = 0
        for number, factors in form.terms:
            product: Any = number if abs(number) != 1 or not factors else 1
            for factor, power in factors:
                value = self._factor(factor)
                if power < 0:
                    product = product / (value if power == -1 else value**-power)
                else:
                    for _ in range(power):
                        product = product * value
            total = total - product if number == -1 and factors else total + product
        return total

    def _factor(self, factor: Any) -> Any:
        found = self._known.get(factor)
        if found is None:
            found = self._known[factor] = self._made(factor)
        return found

    def _made(self, factor: Any) -> Any:
        if isinstance(factor, Name):
            part = self.parts.get(factor.name)
            return symbol(factor.name, self.graph) if part is None else self.expression(part)
        if isinstance(factor, Sum):
            return self.expression(factor)
        if isinstance(factor, Cosine):
            angle = self.expression(angle_sum(factor.angle))
            return cos(angle) if factor.kind == "c" else sin(angle)
        function: Callable[..., Any] = BUILD[factor.op]
        return function(*(constant(self.expression(a), self.graph) for a in factor.args))
