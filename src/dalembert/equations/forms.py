"""Sums of products as they are printed: the order of terms and factors is that of a textbook, and always the same."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm, prod
from typing import Any, NamedTuple

import numpy as np

from dalembert.equations.compaction import Compactor, Trig
from dalembert.equations.ring import PARAMETER, WIDTH, Poly, Ring, plain
from dalembert.expr import Graph, constant, cos, sin, symbol
from dalembert.expr.node import BUILD

SMALL = 8           # denominators up to this one are printed as fractions and pulled out of sums
REPEATED = 3        # a sum of parameters in parentheses that occurs this often gets a name
RATES = ("qd", "qdd")      # kinds of variables that are velocities and accelerations
LONG = 3            # or this many terms twice


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
    angle: tuple[tuple[Any, int], ...]

    __hash__ = _kept_hash


@dataclass(frozen=True)
class Call:
    """A function of expressions, by its name in `dalembert.expr`."""

    op: str
    args: tuple[Sum, ...]


class Term(NamedTuple):
    """A number times powers of factors."""

    number: Any
    factors: tuple[tuple[Any, int], ...]


@dataclass(frozen=True)
class Sum:
    """A sum of terms; as a factor it stands in parentheses. No terms: zero."""

    terms: tuple[Term, ...]

    __hash__ = _kept_hash

    def __len__(self) -> int:
        """Number of terms when parentheses are multiplied out (roots and calls count as one factor)."""
        return sum(prod(len(f) for f, power in t.factors if isinstance(f, Sum) and power == 1) for t in self.terms)


def angle_sum(angle: Iterable[tuple[Any, int]]) -> Sum:
    """The angle of a `Cosine` as a sum."""
    terms: list[Term] = []
    for x, k in angle:
        terms += [Term(k, ((Name(x), 1),))] if isinstance(x, str) else [Term(t.number * k, t.factors) for t in x.terms]
    return Sum(tuple(terms))


def sole_factor(form: Sum) -> Any:
    """The factor that a form is, with nothing else, or None."""
    ((number, factors),) = form.terms if len(form.terms) == 1 else (Term(0, ()),)
    return factors[0][0] if number == 1 and [e for _, e in factors] == [1] else None


def factors_in(form: Sum) -> int:
    """Factors in a form, those in parentheses included."""
    return sum(1 if not t.factors else sum(factors_in(f) if isinstance(f, Sum) else 1 for f, _ in t.factors)
               for t in form.terms)


ZERO = Sum(())


def object_array(entries: Sequence[Any], shape: tuple[int, ...]) -> np.ndarray:
    """Entries in row-major order as an array of objects."""
    made = np.empty(len(entries), dtype=object)
    made[:] = entries
    return made.reshape(shape)


# --- from polynomials ------------------------------------------------------------------------------------------------

class Writer:
    """Forms of the polynomials of a ring.

    names: printed names of its variables by kind, in the order in which factors are written ("q", "qd", ...); in place of
    a name an `Atom`. joint: as for `Compactor`.
    """

    def __init__(self, ring: Ring, names: Mapping[str, Sequence[Any]], joint: bool = False):
        self.ring, self.names, self.kinds = ring, names, list(names)
        self.compactor = Compactor(ring, joint)
        self._known: dict[int, tuple[tuple[Any, int], ...]] = {}
        self._trig: dict[Trig, tuple[tuple[Any, int], ...]] = {}

    def form(self, p: Any) -> Sum:
        """A polynomial or number in few terms."""
        by_trig: dict[Trig, list[Term]] = {}
        for rest, D in self.compactor.terms(p).items():
            for t, v in D.items():
                by_trig.setdefault(t, []).append(Term(plain(v), self._factors(rest)))
        terms: list[Term] = []
        for t in sorted(by_trig, key=self._trig_order):
            coefficient = sorted(by_trig[t], key=self._term_order)
            turned = self._cosines(t)
            if not turned:
                terms += coefficient
            elif len(coefficient) == 1:
                number, factors = coefficient[0]
                terms.append(Term(number, factors + turned))
            else:
                number, factors, inner = content(coefficient)
                terms.append(Term(number, factors + ((Sum(inner), 1),) + turned))
        return outside(Sum(tuple(terms)))

    def by_rates(self, p: Any) -> Sum:
        """The same as a sum of products of velocities and accelerations, accelerations first, each with its coefficient."""
        if not isinstance(p, Poly):
            return self.form(p)
        keys: Mapping[Any, int] = self.ring.shift
        mask = sum(((1 << WIDTH) - 1) << shift for (_, name), shift in keys.items()
                   if isinstance(name, tuple) and name[0] in RATES)
        parts: dict[int, dict[int, Any]] = {}
        for m, c in p.terms.items():
            parts.setdefault(m & mask, {})[m & ~mask] = c
        exponents: dict[int, list[Any]] = {m: [(*key, e) for key, e in self.ring.exponents(m)] for m in parts}
        order = {m: [(self.kinds.index(name[0]), name[1], e) for _, name, e in found] for m, found in exponents.items()}
        terms: list[Term] = []
        for m in sorted(parts, key=lambda m: (-max((k for k, *_ in order[m]), default=0), order[m])):
            form = self.form(Poly(self.ring, parts[m]))
            rates = self._factors(m)
            products = form.terms
            if rates and len(products) > 1:
                number, common, rest = content(products)
                products = (Term(number, (*common, (Sum(rest), 1))),)
            for number, factors in products:
                at = next((k for k, (f, _) in enumerate(factors) if isinstance(f, (Cosine, Call))), len(factors))
                terms.append(Term(number, factors[:at] + rates + factors[at:]))
        return Sum(tuple(terms))

    def _factors(self, monomial: int) -> tuple[tuple[Any, int], ...]:
        found = self._known.get(monomial)
        if found is None:
            parameter = monomial & PARAMETER
            named: list[tuple[Any, int]] = [(Name(self.ring.parameters[parameter]), 1)] if parameter else []
            rates: list[tuple[Any, Any, int]] = []
            name: Any
            for (kind, name), e in self.ring.exponents(monomial):
                if kind == "root":
                    named.append((Call("sqrt", (Sum((Term(name, ()),)),)), e))
                elif isinstance(name, str):
                    named.append((Name(name), e))
                else:                                            # coordinates before velocities and accelerations
                    made = self.names[name[0]][name[1]]
                    place = (self.kinds.index(name[0]), name[1])
                    rates += [(place, f, e * k) for f, k in
                              ([(Name(made), 1)] if isinstance(made, str) else self._atom(made))]
            rates.sort(key=lambda f: f[0])
            found = self._known[monomial] = _united(named + [f[1:] for f in rates])
        return found

    def _atom(self, atom: Atom) -> Sequence[tuple[Any, int]]:
        forms = tuple(self.form(p) for p in atom.args)
        if atom.op != "div":
            return ((Call(atom.op, forms), 1),)
        (form,) = forms
        if len(form.terms) == 1 and form.terms[0].number == 1:
            return [(f, -e) for f, e in form.terms[0].factors]
        return ((form, -1),)

    def _cosines(self, t: Trig) -> tuple[tuple[Any, int], ...]:
        found = self._trig.get(t)
        if found is None:
            listed = []
            for group, factor in zip(self.compactor.groups, self.compactor.factors(t), strict=True):
                for vector, kind, e in sorted(factor, key=lambda f: (_first(f[0]), f)):
                    angle = ((self._named(k), x) for k, x in zip(group.coordinates, vector, strict=True) if x)
                    listed.append((Cosine(kind, tuple(angle)), e))
            found = self._trig[t] = tuple(listed)
        return found

    def _named(self, k: Any) -> Any:
        """What a part of an angle is printed as."""
        return self.form(k.value) if isinstance(k, Phase) else k if isinstance(k, str) else self.names["q"][k]

    def _trig_order(self, t: Trig) -> Any:
        """Constants first, then few factors before many; factors by their coordinates."""
        factors = [(g, vector, kind, e) for g, f in enumerate(self.compactor.factors(t)) for vector, kind, e in f]
        return len(factors), [(g, _first(v)) for g, v, _, _ in factors], sum(e for *_, e in factors), factors

    def _term_order(self, term: Term) -> Any:
        return [self._rank(f) for f, _ in term.factors], [e for _, e in term.factors]

    def _rank(self, factor: Any) -> Any:
        """Parameters in their order, other names, functions."""
        if not isinstance(factor, Name):
            return len(self._places) + 1, str(factor)
        return self._places.get(factor.name, len(self._places)), factor.name

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.ring.parameters)}


class Atom(NamedTuple):
    """What a polynomial has for a variable but is none: a function of polynomials; op "div" is 1 / (its argument)."""

    op: str
    args: tuple[Any, ...]


class Phase(str):
    """An angle that is no sum of coordinates, by its text; `value`: a polynomial."""

    value: Any


def _united(factors: Sequence[tuple[Any, int]]) -> tuple[tuple[Any, int], ...]:
    """Powers of equal factors as one."""
    powers: dict[Any, int] = {}
    for f, e in factors:
        powers[f] = powers.get(f, 0) + e
    return tuple((f, e) for f, e in powers.items() if e)


def _first(vector: Sequence[int]) -> tuple[int, ...]:
    return tuple(k for k, x in enumerate(vector) if x)


def content(terms: Sequence[Term]) -> tuple[Any, tuple[tuple[Any, int], ...], tuple[Term, ...]]:
    """(number, factors, rest): what all terms have in common pulled out; the first term of the rest is positive."""
    numbers = [t.number for t in terms]
    number: Any = 1
    if all(isinstance(x, int) or isinstance(x, Fraction) and x.denominator <= SMALL for x in numbers):
        fractions = [Fraction(x) for x in numbers]
        number = plain(Fraction(gcd(*(x.numerator for x in fractions)), lcm(*(x.denominator for x in fractions))))
    elif len(set(map(abs, numbers))) == 1:
        number = abs(numbers[0])
    if numbers[0] < 0:
        number = -number
    powers = [dict(t.factors) for t in terms]
    common = {f: min((p.get(f, 0) for p in powers), key=abs) for f, e in powers[0].items()
              if all(p.get(f, 0) * e > 0 for p in powers)}                        # in all terms, above or below the line
    rest = tuple(Term(plain(Fraction(t.number) / number) if number != 1 else t.number,
                      tuple((f, e - common.get(f, 0)) for f, e in t.factors if e != common.get(f, 0))) for t in terms)
    return number, tuple(common.items()), rest


def outside(form: Sum) -> Sum:
    """A sum of several terms with their common factors in front of parentheses."""
    if len(form.terms) < 2:
        return form
    number, factors, rest = content(form.terms)
    return Sum((Term(number, (*factors, (Sum(rest), 1))),)) if factors else form


# --- names for sums that repeat --------------------------------------------------------------------------------------

def inner_sums(forms: Iterable[Sum], varying: Container[str]) -> dict[Sum, int]:
    """Sums of parameters in parentheses, without sines, cosines and varying names, and how often they occur."""
    counts: dict[Sum, int] = {}
    stack = list(forms)[::-1]
    while stack:
        for term in stack.pop().terms:
            for factor, _ in term.factors:
                if isinstance(factor, Sum):
                    inner = [f for t in factor.terms for f, _ in t.factors]
                    if all(isinstance(f, Name) and f.name not in varying for f in inner):
                        counts[factor] = counts.get(factor, 0) + 1
                    else:
                        stack.append(factor)
    return counts


def named(form: Sum, names: Mapping[Sum, str], varying: Container[str]) -> Sum:
    """The form with some sums in parentheses replaced by names."""
    if not any(isinstance(f, Sum) for t in form.terms for f, _ in t.factors):
        return form
    return Sum(tuple(Term(t.number, tuple(sorted(
        ((Name(names[f]) if f in names else named(f, names, varying) if isinstance(f, Sum) else f, e) for f, e in t.factors),
        key=lambda x: not isinstance(x[0], Name) or x[0].name in varying))) for t in form.terms))


# --- to expressions --------------------------------------------------------------------------------------------------

class Builder:
    """Expressions of forms in one graph; named parts are filled in."""

    def __init__(self, graph: Graph, parts: Mapping[str, Sum] | None = None):
        self.graph, self.parts = graph, dict(parts or {})
        self._known: dict[Any, Any] = {}

    def array(self, forms: np.ndarray) -> np.ndarray:
        """Expressions of an array of forms."""
        made = {form: constant(self.expression(form), self.graph) for form in dict.fromkeys(forms.flat)}
        return object_array([made[form] for form in forms.flat], forms.shape)

    def expression(self, form: Sum) -> Any:
        """The expression of a form; a number where it holds none."""
        if (alone := sole_factor(form)) is not None:
            return self._factor(alone)                                      # also conditions, which are no numbers
        total: Any = 0
        for number, factors in form.terms:
            product: Any = number if abs(number) != 1 or not factors else 1
            for factor, power in factors:
                value = self._factor(factor)
                if power < 0:
                    product = product / (value if power == -1 else value ** -power)
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
