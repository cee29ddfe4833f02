"""From polynomials to sums of products with few terms, in the order of a textbook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

from dalembert.closed_forms.algebra.common_numbers import readable_number
from dalembert.closed_forms.algebra.compaction import Compactor, Trig
from dalembert.closed_forms.algebra.products_of_sums import as_products
from dalembert.closed_forms.algebra.rate_products import with_rate_products
from dalembert.closed_forms.algebra.ring import PARAMETER, WIDTH, Phase, Ring, plain
from dalembert.closed_forms.algebra.sums import (
    Call,
    Cosine,
    Factors,
    Name,
    Sum,
    Term,
    content,
    factors_in,
    outside,
    united,
)

RATES = ("qd", "qdd")  # kinds of variables that are velocities and accelerations


class Writer:
    """Forms of the polynomials of a ring.

    names: printed names of its variables by kind, in the order in which factors are written ("q",
    "qd", ...); in place of a name an `Atom`. joint: as for `Compactor`. by_degree: constants come
    before terms with coordinates, and these by their degree.
    """

    def __init__(
        self,
        ring: Ring,
        names: Mapping[str, Sequence[Any]],
        joint: bool = False,
        by_degree: bool = False,
    ):
        self.ring = ring
        self.names = names
        self.kinds = list(names)
        self.by_degree = by_degree
        self.compactor = Compactor(ring, joint)
        self._varying = {
            name for group in names.values() for name in group if isinstance(name, str)
        }
        self._rates = {name for kind in RATES for name in names.get(kind, ())}
        self._known: dict[int, Factors] = {}
        self._trig: dict[Trig, Factors] = {}

    def form(self, p: Any) -> Sum:
        """A polynomial or number in few terms."""
        return self._finished(self._written(self.compactor.terms(p)))

    def by_rates(self, p: Any) -> Sum:
        """The same as a sum of products of velocities and accelerations, accelerations first, each
        with its coefficient.
        """
        return self._finished(self._written_by_rates(self.compactor.terms(p)))

    def forms(self, polynomials: Sequence[Any]) -> list[Sum]:
        """Polynomials and numbers in one basis, each in the way that has fewer factors."""
        return [
            min(map(self._finished, self._both_ways(parts)), key=factors_in)
            for parts in self.compactor.terms_of_several(polynomials)
        ]

    def _both_ways(self, parts: Mapping[int, Mapping[Trig, Any]]) -> tuple[Sum, Sum]:
        """Forms of a compact polynomial: by velocities, and by sines and cosines."""
        return self._written_by_rates(parts), self._written(parts)

    def _finished(self, form: Sum) -> Sum:
        """A form with sums of velocities as products."""
        return with_rate_products(form, self._is_rate)

    def _is_rate(self, factor: Any) -> bool:
        return isinstance(factor, Name) and factor.name in self._rates

    def _written(self, parts: Mapping[int, Mapping[Trig, Any]]) -> Sum:
        """The form of a compact polynomial: terms with equal sines and cosines together."""
        by_trig: dict[Trig, list[Term]] = {}
        for rest, of_trig in parts.items():
            for trig, number in of_trig.items():
                by_trig.setdefault(trig, []).append(Term(plain(number), self._factors(rest)))
        coefficients = [
            (sorted(by_trig[trig], key=self._term_order), self._cosines(trig))
            for trig in sorted(by_trig, key=self._trig_order)
        ]
        flat = [
            Term(number, united(factors + turned))  # a sine may stand below, too
            for coefficient, turned in coefficients
            for number, factors in coefficient
        ]
        if len(together := _like_terms_together(flat)) < len(flat):
            products = as_products(together, self._is_parameter)
            return outside(Sum(tuple(products))) if products else Sum(())
        if len(flat) not in (2, 3):  # a product of two sums has four terms at least
            whole = as_products(flat, self._is_parameter)
            if len(whole) == 1:
                return Sum(tuple(whole))
        terms: list[Term] = []
        for coefficient, turned in coefficients:
            if turned and len(coefficient) > 1:
                number, factors, inner = content(
                    as_products(coefficient, self._is_parameter), readable_number
                )
                inside = inner[0].factors if len(inner) == 1 else ((Sum(inner), 1),)
                terms.append(Term(number, united(factors + inside + turned)))
            else:
                terms += [Term(number, united(factors + turned)) for number, factors in coefficient]
        return outside(Sum(tuple(terms)))

    def _written_by_rates(self, compact: Mapping[int, Mapping[Trig, Any]]) -> Sum:
        """The form of a compact polynomial by its products of velocities and accelerations."""
        by_rates: dict[int, dict[int, Mapping[Trig, Any]]] = {}
        mask = self._rates_mask
        for m, of_trig in compact.items():
            by_rates.setdefault(m & mask, {})[m & ~mask] = of_trig
        terms: list[Term] = []
        for m in sorted(by_rates, key=self._rates_order):
            rates = self._factors(m)
            products = self._written(by_rates[m]).terms
            if rates and len(products) > 1:
                number, common, rest = content(products, readable_number)
                products = (Term(number, united([*common, (Sum(rest), 1)])),)
            terms += [Term(number, with_rates(factors, rates)) for number, factors in products]
        return Sum(tuple(terms))

    @property
    def _rates_mask(self) -> int:
        """Bits of velocities and accelerations in monomials."""
        mask = 0
        for (_, name), shift in self.ring.shift.items():
            if isinstance(name, tuple) and name[0] in RATES:
                mask |= ((1 << WIDTH) - 1) << shift
        return mask

    def _rates_order(self, monomial: int) -> Any:
        """Accelerations before velocities, then by their numbers, powers before products."""
        powers: list[tuple[int, Any, int]] = []
        squares = 0  # of accelerations come before products with velocities
        for (_, name), e in self.ring.exponents(monomial):
            kind, number = cast(Any, name)
            powers.append((self.kinds.index(kind), number, -e))
            squares += e if kind == RATES[-1] else 0
        powers.sort()
        return -max((kind for kind, *_ in powers), default=0), -squares, powers

    def _is_parameter(self, factor: Any) -> bool:
        return isinstance(factor, Name) and factor.name not in self._varying

    def _factors(self, monomial: int) -> Factors:
        factors = self._known.get(monomial)
        if factors is None:
            factors = self._known[monomial] = self._new_factors(monomial)
        return factors

    def _new_factors(self, monomial: int) -> Factors:
        """Factors of a monomial: parameters and lengths, then coordinates before velocities and
        accelerations.
        """
        factors: list[tuple[Any, int]] = []
        if parameter := monomial & PARAMETER:
            factors.append((Name(self.ring.parameters[parameter]), 1))
        varying: list[tuple[Any, Any, int]] = []
        for (variable, name), e in self.ring.exponents(monomial):
            if variable == "root":
                factors.append((Call("sqrt", (Sum((Term(name, ()),)),)), e))
            elif variable == "inverse":
                factors.append((Name(cast(str, name)), -e))
            elif isinstance(name, str):
                factors.append((Name(name), e))
            else:
                kind, number = cast(Any, name)
                place = (self.kinds.index(kind), number)
                printed = self.names[kind][number]
                powers = [(Name(printed), 1)] if isinstance(printed, str) else self._atom(printed)
                varying += [(place, factor, e * k) for factor, k in powers]
        varying.sort(key=lambda x: x[0])
        return united(factors + [x[1:] for x in varying])

    def _atom(self, atom: Atom) -> Sequence[tuple[Any, int]]:
        forms = tuple(self.form(p) for p in atom.args)
        if atom.op != "div":
            return ((Call(atom.op, forms), 1),)
        (form,) = forms
        if len(form.terms) == 1 and form.terms[0].number == 1:
            return [(f, -e) for f, e in form.terms[0].factors]
        return ((form, -1),)

    def _cosines(self, t: Trig) -> Factors:
        factors = self._trig.get(t)
        if factors is None:
            found: list[tuple[Any, int]] = []
            for group, factor in zip(self.compactor.groups, self.compactor.factors(t), strict=True):
                for vector, kind, e in sorted(factor, key=lambda f: (_first(f[0]), f)):
                    parts = zip(group.coordinates, vector, strict=True)
                    angle = tuple((self._named(k), x) for k, x in parts if x)
                    found.append((Cosine(kind, angle), e))
            factors = self._trig[t] = tuple(found)
        return factors

    def _named(self, k: Any) -> Any:
        """Printed name of a part of an angle."""
        if isinstance(k, Phase):
            return self.form(k.value)
        return k if isinstance(k, str) else self.names["q"][k]

    def _trig_order(self, t: Trig) -> Any:
        """Constants first, then few factors before many; factors by their coordinates."""
        factors = []
        for g, factor in enumerate(self.compactor.factors(t)):
            factors += [(g, vector, kind, e) for vector, kind, e in factor]
        coordinates = [(g, _first(vector)) for g, vector, _, _ in factors]
        return len(factors), coordinates, sum(e for *_, e in factors), factors

    def _term_order(self, term: Term) -> Any:
        """By the first factors, then constants before coordinates, then by the other factors."""
        powers = [e for f, e in term.factors if isinstance(f, Name) and f.name in self._varying]
        degree = sum(powers)
        ranks = [self._rank(factor) for factor, _ in term.factors]
        first = degree if self.by_degree else 0
        return first, ranks[:1], degree, ranks, [e for _, e in term.factors]

    def _rank(self, factor: Any) -> Any:
        """Parameters in their order, other names, functions."""
        if not isinstance(factor, Name):
            return len(self._places) + 1, str(factor)
        return self._places.get(factor.name, len(self._places)), factor.name

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.ring.parameters)}


class Atom(NamedTuple):
    """A variable of a polynomial that is a function of polynomials; op "div" is 1 / (its argument)."""

    op: str
    args: tuple[Any, ...]


def with_rates(factors: Factors, rates: Factors) -> Factors:
    """Factors with velocities and accelerations before sines, cosines and other functions."""
    functions = (k for k, (f, _) in enumerate(factors) if isinstance(f, (Cosine, Call)))
    at = next(functions, len(factors))
    return factors[:at] + rates + factors[at:]


def _like_terms_together(terms: Sequence[Term]) -> list[Term]:
    """Terms with equal factors added up, without terms that cancel."""
    numbers: dict[Any, Any] = {}
    factors: dict[Any, Factors] = {}
    for number, own in terms:
        key = frozenset(own)
        numbers[key] = numbers.get(key, 0) + number
        factors.setdefault(key, own)
    return [Term(plain(number), factors[key]) for key, number in numbers.items() if number]


def _first(vector: Sequence[int]) -> tuple[int, ...]:
    return tuple(k for k, x in enumerate(vector) if x)
