"""From the normal form to few terms: sums of angles inside runs of parallel axes, and the theorem
of Pythagoras.

In a group of angles that share coordinates (the run of axes 2 and 3 of an arm: q2, q2 + q3)
products become cosines and sines of sums of coordinates, which are unique: c2 c23 + s2 s23 is cos
q3. Then terms are merged in pairs, wherever two become one: cos a + cos b = 2 cos((a+b)/2)
cos((a-b)/2) and its like, x - x c^2 = x s^2, x c^2 + x s^2 = x. The same is done from the full
Fourier form, and of both the shorter result is kept, for each product of parameters and lengths by
itself. The order of all steps depends on the terms alone: equal equations print equally on every
machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import lcm
from operator import or_
from typing import Any, NamedTuple

from dalembert.closed_forms.algebra.bases import (
    MULTIPLES,
    POWERS,
    Factor,
    Vector,
    changed,
    mixed,
    rewriter,
)
from dalembert.closed_forms.algebra.ring import Poly, Ring, plain

Trig = tuple[int, ...]  # a factor per group, by its number there; 0 is 1
Terms = dict[Trig, int]
Parts = dict[
    tuple[int, int], Terms
]  # (polynomial, monomial without sines and cosines) -> terms in these
OTHER = {"c": "s", "s": "c"}
# kind, whether it is a sum -> kinds of half the sum and of half the difference of the angles, factor:
# sin a + sin b = 2 sin((a+b)/2) cos((a-b)/2) and its like
PROSTHAPHAERESIS = {
    ("s", True): ("s", "c", 2),
    ("s", False): ("c", "s", 2),
    ("c", True): ("c", "c", 2),
    ("c", False): ("s", "s", -2),
}


class Share(NamedTuple):
    """A factor, by its number, times numerator / 2^shift."""

    factor: int
    numerator: int
    shift: int


class Group:
    """Angles that share coordinates, and the factors that occur of them."""

    def __init__(self, ring: Ring, angles: list[Any]):
        self.angles = angles
        self.coordinates: list[Any] = sorted(_coordinates(angles), key=_coordinate_order)
        self.vectors: list[Vector] = []
        for angle in angles:
            parts = dict(_parts(angle))
            self.vectors.append(tuple(parts.get(k, 0) for k in self.coordinates))
        self._fields = [(ring.shift["cos", a], ring.shift["sin", a]) for a in angles]
        self.mask = sum(63 << c | 3 << s for c, s in self._fields)
        self.table: list[Factor] = [()]
        self._numbers: dict[Factor, int] = {(): 0}
        self._known: tuple[dict[int, list[Share]], ...] = ({}, {})
        self._squares: dict[int, list[tuple[int, int]]] = {}
        self._products: dict[tuple[int, int, bool], tuple[int, int] | None] = {}

    def number(self, factor: Factor) -> int:
        """Number of a factor in the table."""
        found = self._numbers.get(factor)
        if found is None:
            found = self._numbers[factor] = len(self.table)
            self.table.append(factor)
        return found

    def factors(self, bits: int, full: bool) -> list[Share]:
        """Part of a monomial that belongs to this group: as it is, or, with several angles or
        `full`, in sums of angles.
        """
        full = full or len(self.angles) > 1
        found = self._known[full].get(bits)
        if found is None:
            exponents = [(bits >> c & 63, bits >> s & 3) for c, s in self._fields]
            series = self._fourier(exponents) if full else {self._powers(exponents): Fraction(1)}
            found = self._known[full][bits] = self.shares(series)
        return found

    def shares(self, series: Mapping[Factor, Fraction]) -> list[Share]:
        """A sum of factors whose coefficients have powers of 2 as denominators."""
        return [
            Share(self.number(f), x.numerator, x.denominator.bit_length() - 1)
            for f, x in series.items()
        ]

    def _powers(self, exponents: list[tuple[int, int]]) -> Factor:
        return tuple(
            sorted(
                (v, t, e)
                for v, pair in zip(self.vectors, exponents, strict=True)
                for t, e in zip("cs", pair, strict=True)
                if e
            )
        )

    def _fourier(self, exponents: list[tuple[int, int]]) -> dict[Factor, Fraction]:
        """Real Fourier series of a product of powers.

        With z = exp(i angle), 2 cos = z + 1/z and 2 sin = -i z + i/z: the product of n of them, of
        waves z^k with coefficients a + i b, is 2^n times the series.
        """
        waves: dict[Vector, tuple[int, int]] = {(0,) * len(self.coordinates): (1, 0)}
        count = 0
        for vector, (cosines, sines) in zip(self.vectors, exponents, strict=True):
            for is_sine in [False] * cosines + [True] * sines:
                waves = _times_wave(waves, vector, is_sine)
                count += 1
        series: dict[Factor, Fraction] = {}
        for k, (a, b) in sorted(waves.items()):
            lead = next((x for x in k if x), 0)
            if lead == 0 and a:
                series[()] = Fraction(a, 1 << count)
            elif lead > 0:  # conjugate pairs: 2 a cos - 2 b sin
                for kind, x in (("c", 2 * a), ("s", -2 * b)):
                    if x:
                        series[((k, kind, 1),)] = Fraction(x, 1 << count)
        return series

    def squares(self, f: int) -> list[tuple[int, int]]:
        """(base, twin) of each square c^2 or s^2 in a factor: without it, and with s^2 or c^2 in
        its place.
        """
        found = self._squares.get(f)
        if found is None:
            found = []
            for k, kind, e in self.table[f]:
                if e >= 2:
                    base = changed(self.table[f], (k, kind, -2))
                    found.append(
                        (self.number(base), self.number(changed(base, (k, OTHER[kind], 2))))
                    )
            self._squares[f] = found
        return found

    def product(self, f: int, other: int, same: bool) -> tuple[int, int] | None:
        """The sum (difference, if not `same`) of two cosines or two sines as (product,
        coefficient), where it is one.
        """
        key = (f, other, same)
        if key not in self._products:
            self._products[key] = self._product(self.table[f], self.table[other], same)
        return self._products[key]

    def _product(self, f: Factor, other: Factor, same: bool) -> tuple[int, int] | None:
        if f == other:
            return None
        first = self._wave(f)
        second = self._wave(other)
        if first is None or second is None or first[1] != second[1]:
            return None
        a, kind = first
        b, _ = second
        if any((x + y) % 2 for x, y in zip(a, b, strict=True)):
            return None  # halves of angles
        half_sum = tuple((x + y) // 2 for x, y in zip(a, b, strict=True))
        half_difference = tuple((x - y) // 2 for x, y in zip(a, b, strict=True))
        kind_of_sum, kind_of_difference, value = PROSTHAPHAERESIS[kind, same]
        product: Factor = ()
        for angle, wave in ((half_sum, kind_of_sum), (half_difference, kind_of_difference)):
            lead = next((x for x in angle if x), 0)
            if lead < 0:
                angle = tuple(-x for x in angle)
                value = -value if wave == "s" else value
            if lead:
                product = changed(product, (angle, wave, 1))
        return self.number(product), value

    def _wave(self, factor: Factor) -> tuple[Vector, str] | None:
        """Angle and kind of a single cosine or sine; 1 is the cosine of zero."""
        if not factor:
            return (0,) * len(self.coordinates), "c"
        (angle, kind, e), *others = factor
        return None if others or e > 1 else (angle, kind)


def _times_wave(
    waves: Mapping[Vector, tuple[int, int]], vector: Vector, is_sine: bool
) -> dict[Vector, tuple[int, int]]:
    """Waves times 2 cos or 2 sin of an angle."""
    product: dict[Vector, tuple[int, int]] = {}
    for k, (a, b) in waves.items():
        for sign in (1, -1):
            moved = tuple(x + sign * y for x, y in zip(k, vector, strict=True))
            real, imaginary = product.get(moved, (0, 0))
            # times -i z or i / z turns a + i b by a quarter
            u, v = (sign * b, -sign * a) if is_sine else (a, b)
            product[moved] = real + u, imaginary + v
    return product


def _parts(angle: Any) -> Any:
    return ((angle, 1),) if isinstance(angle, str) else angle


def _coordinates(angles: Iterable[Any]) -> set[Any]:
    """Coordinates in angles; a constant angle is its own."""
    return {k for angle in angles for k, _ in _parts(angle)}


def _coordinate_order(k: Any) -> Any:
    return isinstance(k, str), k


class Compactor:
    """Compact forms of the polynomials of one ring; joint: all sums of coordinates are one group,
    for cos(q1 - q2) of what has no common axis.
    """

    def __init__(self, ring: Ring, joint: bool = False):
        self.ring = ring
        angles = [name for kind, name in ring.shift if kind == "cos"]
        sets: list[set[Any]] = []
        for angle in angles:
            if joint and not isinstance(angle, str):
                touching = [g for g in sets if not any(isinstance(a, str) for a in g)]
            else:
                touching = [g for g in sets if _coordinates(g) & _coordinates([angle])]
            sets = [g for g in sets if g not in touching] + [{angle}.union(*touching)]
        groups = [Group(ring, sorted(g, key=lambda a: (len(_parts(a)), str(a)))) for g in sets]
        self.groups = sorted(groups, key=lambda g: _coordinate_order(g.coordinates[0]))
        self._trig = sum(g.mask for g in self.groups)
        self._none = (0,) * len(self.groups)

    def factors(self, t: Trig) -> list[Factor]:
        """The factors, group by group."""
        return [g.table[f] for g, f in zip(self.groups, t, strict=True)]

    def terms(self, p: Any) -> Mapping[int, Mapping[Trig, Any]]:
        """Terms of a polynomial or number: monomial without sines and cosines -> product of sines
        and cosines -> coefficient.
        """
        return self.terms_of_several([p])[0]

    def terms_of_several(self, polynomials: Sequence[Any]) -> list[dict[int, dict[Trig, Any]]]:
        """The same of several polynomials and numbers, in one basis."""
        units = [self._unit(p) for p in polynomials]
        parts: Parts = {}
        for k, (p, unit) in enumerate(zip(polynomials, units, strict=True)):
            for rest, items in self._by_rest(p, unit).items():
                if shortest := self._shortest(items):
                    parts[k, rest] = shortest
        compact: list[dict[int, dict[Trig, Any]]] = [
            {0: {self._none: p}} if p and not isinstance(p, Poly) else {} for p in polynomials
        ]
        for (k, rest), terms in self._in_one_basis(parts).items():
            compact[k][rest] = {t: plain(Fraction(v, units[k])) for t, v in terms.items()}
        return compact

    def _unit(self, p: Any) -> int:
        """A number by which all coefficients become whole, and stay so.

        Each sine and cosine halves a coefficient at most, once in sums of angles, once in
        multiples.
        """
        if not isinstance(p, Poly):
            return 1
        together = reduce(or_, p.terms) & self._trig
        degree = sum(e for _, e in self.ring.exponents(together))
        return lcm(*(c.denominator for c in p.terms.values())) << 2 * degree

    def _by_rest(self, p: Any, unit: int) -> dict[int, list[tuple[int, int]]]:
        """Terms of a polynomial, in units, by their monomial without sines and cosines."""
        items: dict[int, list[tuple[int, int]]] = {}
        for m, c in sorted(p.terms.items()) if isinstance(p, Poly) else ():
            items.setdefault(m & ~self._trig, []).append((m, int(c * unit)))
        return items

    def _shortest(self, items: list[tuple[int, int]]) -> Terms:
        """Terms merged as they are, or from the full Fourier form."""
        best = self._merged(self._split(items, False))
        if len(best) < 2:
            return best
        return min(best, self._merged(self._split(items, True)), key=self._length)

    def _in_one_basis(self, parts: Parts) -> Parts:
        """The parts with no angle beside a multiple of it, in the basis in which they have the
        fewest terms.
        """
        for g in range(len(self.groups)):
            for angle in mixed(self._factors(parts, g)):
                ways = [self._rewritten(parts, g, rewriter(angle, basis)) for basis in POWERS]
                shortest = {rest: min((x.get(rest, {}) for x in ways), key=len) for rest in parts}
                ways.append({rest: terms for rest, terms in shortest.items() if terms})
                multiples = self._rewritten(parts, g, rewriter(angle, MULTIPLES))
                if angle not in mixed(self._factors(multiples, g)):
                    ways.append(multiples)
                parts = min(ways, key=_size)
        return parts

    def _factors(self, parts: Parts, g: int) -> Iterable[Factor]:
        """Factors of a group."""
        return [self.groups[g].table[f] for f in {t[g] for terms in parts.values() for t in terms}]

    def _rewritten(
        self, parts: Parts, g: int, change: Callable[[Factor], Mapping[Factor, Fraction]]
    ) -> Parts:
        """The parts with each factor of a group changed to a sum of factors."""
        group = self.groups[g]
        shares = {
            f: group.shares(change(group.table[f]))
            for f in {t[g] for terms in parts.values() for t in terms}
        }
        unchanged = {f for f, sum_ in shares.items() if sum_ == [Share(f, 1, 0)]}
        rewritten = dict(parts)
        for rest, terms in parts.items():
            if unchanged.issuperset(t[g] for t in terms):
                continue
            total: Terms = {}
            for t, value in terms.items():
                for f, numerator, shift in shares[t[g]]:
                    new = _with(t, g, f)
                    total[new] = total.get(new, 0) + (value * numerator >> shift)
            nonzero = {t: x for t, x in total.items() if x}
            rewritten[rest] = self._merged(nonzero, sums=False)
        return {rest: terms for rest, terms in rewritten.items() if terms}

    def _split(self, items: Iterable[tuple[int, int]], full: bool) -> Terms:
        D: Terms = {}
        for m, c in items:
            products: list[tuple[Trig, int]] = [((), c)]
            for group in self.groups:
                factors = group.factors(m & group.mask, full)
                products = [
                    (t + (f,), v * numerator >> shift)
                    for t, v in products
                    for f, numerator, shift in factors
                ]
            for t, v in products:
                D[t] = D.get(t, 0) + v
        return {t: v for t, v in D.items() if v}

    def _length(self, D: Terms) -> tuple[int, int]:
        return len(D), sum(e for t in D for f in self.factors(t) for _, _, e in f)

    def order(self, t: Trig) -> Any:
        """Order of terms: few factors first; by the factors themselves, not by their numbers."""
        factors = self.factors(t)
        return sum(map(len, factors)), factors

    def _merged(self, terms: Terms, sums: bool = True) -> Terms:
        """Terms merged in pairs until no pair becomes one term; sums: of cosines or sines as
        products, too.
        """
        return terms if len(terms) < 2 else _Merging(self, terms, sums).merged()


class _Merging:
    """Terms that are merged in pairs.

    near: (group, factors of the other groups) -> factors of the group that terms have with these.
    """

    def __init__(self, compactor: Compactor, terms: Terms, sums: bool):
        self.compactor = compactor
        self.terms = terms
        self.sums = sums
        self.near: dict[tuple[int, Trig], dict[int, None]] = {}
        for t in [*terms]:
            self._add(t, 0)

    def merged(self) -> Terms:
        """The terms when no pair is left; few factors are merged first."""
        work = sorted(self.terms, key=self.compactor.order, reverse=True)
        while work:
            t = work.pop()
            if t in self.terms and (new := self._merge(t)) is not None:
                work.append(new)
        return self.terms

    def _merge(self, t: Trig) -> Trig | None:
        """Merge a term with another one; the term that they become, None where there is none."""
        for g in range(len(t)):
            pair = self._partner(t, g)
            if pair is not None:
                partner, factor, value = pair
                new = _with(t, g, factor)
                self._add(t, -self.terms[t])
                self._add(partner, -self.terms[partner])
                self._add(new, value)
                return new
        return None

    def _add(self, t: Trig, value: int) -> None:
        """Add to the coefficient of a term."""
        total = self.terms.get(t, 0) + value
        if total:
            self.terms[t] = total
        else:
            self.terms.pop(t, None)
        for g in range(len(t)):
            factors = self.near.setdefault((g, _others(t, g)), {})
            if total:
                factors[t[g]] = None
            else:
                factors.pop(t[g], None)

    def _partner(self, t: Trig, g: int) -> tuple[Trig, int, int] | None:
        """(partner, new factor, its coefficient): x - x c^2 = x s^2, x c^2 + x s^2 = x, sums of
        cosines or sines.
        """
        factors = self.near[g, _others(t, g)]
        if len(factors) < 2:
            return None
        terms = self.terms
        group = self.compactor.groups[g]
        v = self.terms[t]
        for base, twin in group.squares(t[g]):
            if base in factors and terms[_with(t, g, base)] == -v:
                return _with(t, g, base), twin, -v
            if twin in factors and terms[_with(t, g, twin)] == v:
                return _with(t, g, twin), base, v
        if not self.sums:
            return None
        for f in sorted(factors, key=group.table.__getitem__) if len(factors) > 2 else factors:
            w = terms[_with(t, g, f)]
            if f != t[g] and abs(w) == abs(v):
                product = group.product(t[g], f, v == w)
                if product:
                    return _with(t, g, f), product[0], product[1] * v
        return None


def _others(t: Trig, g: int) -> Trig:
    """Factors of the other groups."""
    return t[:g] + t[g + 1 :]


def _size(parts: Parts) -> tuple[int, int]:
    """Terms, and different products of sines and cosines."""
    return sum(map(len, parts.values())), len({t for terms in parts.values() for t in terms})


def _with(t: Trig, g: int, factor: int) -> Trig:
    return t[:g] + (factor,) + t[g + 1 :]
