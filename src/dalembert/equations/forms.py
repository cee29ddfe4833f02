"""Sums of products as they are printed: the order of terms and factors is that of a textbook, and always the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from typing import Any, NamedTuple

from dalembert.equations.compaction import Compactor, Trig
from dalembert.equations.ring import PARAMETER, Ring
from dalembert.expr import Graph, cos, sin, sqrt, symbol
from dalembert.expr.node import BUILD

SMALL = 8           # denominators up to this one are printed as fractions and pulled out of sums
REPEATED = 3        # a sum of parameters in parentheses that occurs this often gets a name
LONG = 3            # or this many terms twice


@dataclass(frozen=True)
class Name:
    """A symbol, coordinate, parameter or named part."""

    name: str


@dataclass(frozen=True)
class Cosine:
    """Cosine or sine ("c", "s") of a sum of coordinates with whole factors."""

    kind: str
    angle: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.kind, self.angle)))

    def __hash__(self) -> int:
        return self.__dict__["_hash"]


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

    def __hash__(self) -> int:
        found = self.__dict__.get("_hash")
        if found is None:
            found = hash(self.terms)
            object.__setattr__(self, "_hash", found)
        return found

    def __len__(self) -> int:
        """Number of terms when parentheses are multiplied out (roots and calls count as one factor)."""
        return sum(term_length(t) for t in self.terms)


def term_length(term: Term) -> int:
    length = 1
    for factor, power in term.factors:
        if isinstance(factor, Sum) and power == 1:
            length *= len(factor)
    return length


ZERO = Sum(())


# --- from polynomials ------------------------------------------------------------------------------------------------

class Writer:
    """Forms of the polynomials of a ring; coordinates and velocities by their printed names."""

    def __init__(self, ring: Ring, names: Mapping[str, Sequence[str]]):
        self.ring, self.names = ring, names
        self.compactor = Compactor(ring)
        self._known: dict[int, tuple[tuple[Any, int], ...]] = {}
        self._trig: dict[Trig, tuple[tuple[Any, int], ...]] = {}

    def form(self, p: Any) -> Sum:
        """A polynomial or number in few terms."""
        by_trig: dict[Trig, list[Term]] = {}
        for rest, D in self.compactor.terms(p).items():
            for t, v in D.items():
                by_trig.setdefault(t, []).append(Term(_plain(v), self._factors(rest)))
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

    def _factors(self, monomial: int) -> tuple[tuple[Any, int], ...]:
        found = self._known.get(monomial)
        if found is None:
            parameter = monomial & PARAMETER
            named: list[tuple[Any, int]] = [(Name(self.ring.parameters[parameter]), 1)] if parameter else []
            rates: list[tuple[Any, int]] = []
            name: Any
            for (kind, name), e in self.ring.exponents(monomial):
                if kind == "root":
                    named.append((Call("sqrt", (Sum((Term(name, ()),)),)), e))
                elif isinstance(name, str):
                    named.append((Name(name), e))
                else:                                            # coordinates before velocities and accelerations
                    rates.append((Name(self.names[name[0]][name[1]]), e))
            rates.sort(key=lambda f: (f[0].name.count("d"), len(f[0].name), f[0].name))
            found = self._known[monomial] = tuple(named + rates)
        return found

    def _cosines(self, t: Trig) -> tuple[tuple[Any, int], ...]:
        found = self._trig.get(t)
        if found is None:
            listed = []
            for group, factor in zip(self.compactor.groups, self.compactor.factors(t), strict=True):
                names = [k if isinstance(k, str) else self.names["q"][k] for k in group.coordinates]
                ordered = sorted(factor, key=lambda f: (_first(f[0]), f))
                listed += [(Cosine(kind, tuple((n, x) for n, x in zip(names, vector, strict=True) if x)), e)
                           for vector, kind, e in ordered]
            found = self._trig[t] = tuple(listed)
        return found

    def _trig_order(self, t: Trig) -> Any:
        """Constants first, then few factors before many; factors by their coordinates."""
        factors = [(g, vector, kind, e) for g, f in enumerate(self.compactor.factors(t)) for vector, kind, e in f]
        return len(factors), [(g, _first(v)) for g, v, _, _ in factors], sum(e for *_, e in factors), factors

    def _term_order(self, term: Term) -> Any:
        return [self._rank(f) for f, _ in term.factors], [e for _, e in term.factors]

    def _rank(self, factor: Any) -> Any:
        text = factor.name if isinstance(factor, Name) else str(factor)
        if not hasattr(self, "_places"):
            self._places = {name: k for k, name in enumerate(self.ring.parameters)}
        return (self._places.get(text, len(self._places)), text)


def _first(vector: Sequence[int]) -> tuple[int, ...]:
    return tuple(k for k, x in enumerate(vector) if x)


def _plain(x: Any) -> Any:
    return x.numerator if isinstance(x, Fraction) and x.denominator == 1 else x


def _small(x: Any) -> bool:
    return isinstance(x, int) or isinstance(x, Fraction) and x.denominator <= SMALL


def content(terms: Sequence[Term]) -> tuple[Any, tuple[tuple[Any, int], ...], tuple[Term, ...]]:
    """(number, factors, rest): what all terms have in common pulled out; the first term of the rest is positive."""
    numbers = [t.number for t in terms]
    number: Any = 1
    if all(map(_small, numbers)):
        fractions = [Fraction(x) for x in numbers]
        number = _plain(Fraction(gcd(*(x.numerator for x in fractions)), lcm(*(x.denominator for x in fractions))))
    elif len(set(map(abs, numbers))) == 1:
        number = abs(numbers[0])
    if numbers[0] < 0:
        number = -number
    powers = [dict(t.factors) for t in terms]
    common = {f: min(p.get(f, 0) for p in powers) for f in powers[0]}
    common = {f: e for f, e in common.items() if e > 0}
    rest = tuple(Term(_plain(Fraction(t.number) / number) if number != 1 else t.number,
                      tuple((f, e - common.get(f, 0)) for f, e in t.factors if e > common.get(f, 0))) for t in terms)
    return number, tuple(common.items()), rest


def outside(form: Sum) -> Sum:
    """A sum of several terms with their common factors in front of parentheses."""
    if len(form.terms) < 2:
        return form
    number, factors, rest = content(form.terms)
    if not factors and (abs(number) == 1 or any(not t.factors for t in form.terms)):
        return form
    if not factors and number < 0:
        return form
    return Sum((Term(number, (*factors, (Sum(rest), 1))),)) if factors else form


# --- names for sums that repeat --------------------------------------------------------------------------------------

def inner_sums(forms: Iterable[Sum]) -> dict[Sum, int]:
    """Sums of parameters in parentheses, without sines and cosines, and how often they occur."""
    counts: dict[Sum, int] = {}
    stack = list(forms)[::-1]
    while stack:
        for term in stack.pop().terms:
            for factor, _ in term.factors:
                if isinstance(factor, Sum):
                    if is_constant(factor):
                        counts[factor] = counts.get(factor, 0) + 1
                    else:
                        stack.append(factor)
    return counts


def is_constant(form: Sum) -> bool:
    """Whether a sum holds only names, and none of a coordinate or velocity (those of the latter begin with 'q')."""
    return all(isinstance(f, Name) and not f.name.startswith("q") for t in form.terms for f, _ in t.factors)


def named(form: Sum, names: Mapping[Sum, str]) -> Sum:
    """The form with some sums in parentheses replaced by names."""
    if not any(isinstance(f, Sum) for t in form.terms for f, _ in t.factors):
        return form
    return Sum(tuple(Term(t.number, tuple(sorted(
        ((Name(names[f]) if f in names else named(f, names) if isinstance(f, Sum) else f, e) for f, e in t.factors),
        key=lambda x: not isinstance(x[0], Name) or x[0].name.startswith("q")))) for t in form.terms))


# --- to expressions --------------------------------------------------------------------------------------------------

class Builder:
    """Expressions of forms in one graph; named parts are filled in."""

    def __init__(self, graph: Graph, parts: Mapping[str, Sum] | None = None):
        self.graph, self.parts = graph, dict(parts or {})
        self._known: dict[Any, Any] = {}

    def expression(self, form: Sum) -> Any:
        total: Any = self.graph and 0
        for term in form.terms:
            product: Any = term.number if abs(term.number) != 1 or not term.factors else 1
            for factor, power in term.factors:
                value = self._factor(factor)
                if power < 0:
                    product = product / (value if power == -1 else value ** -power)
                else:
                    for _ in range(power):
                        product = product * value
            total = total - product if term.number == -1 and term.factors else total + product
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
            angle = reduce(lambda a, b: a + b, (symbol(n, self.graph) * k for n, k in factor.angle))
            return cos(angle) if factor.kind == "c" else sin(angle)
        args = [self.expression(a) for a in factor.args]
        if factor.op == "sqrt":
            return sqrt(symbol("q", self.graph).like(args[0]) if isinstance(args[0], int) else args[0])
        function: Callable[..., Any] = BUILD[factor.op]
        return function(*args)
