"""From the normal form to few terms: sums of angles inside runs of parallel axes, and the theorem of Pythagoras.

In a group of angles that share coordinates (the run of axes 2 and 3 of an arm: q2, q2 + q3) products become cosines and
sines of sums of coordinates, which are unique: c2 c23 + s2 s23 is cos q3. Then terms are merged in pairs, wherever two
become one: cos a + cos b = 2 cos((a+b)/2) cos((a-b)/2) and its like, x - x c^2 = x s^2, x c^2 + x s^2 = x. The same is done
from the full Fourier form, and of both the shorter result is kept, for each product of parameters and lengths by itself.
The order of all steps depends on the terms alone: equal equations print equally on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import lcm
from typing import Any

from dalembert.equations.ring import Poly, Ring, plain

Vector = tuple[int, ...]                          # whole factors of a group's coordinates
Factor = tuple[tuple[Vector, str, int], ...]      # product of powers of "c" or "s" of sums of angles, sorted; () is 1
Trig = tuple[int, ...]                            # one factor per group, by its number there; 0 is 1
Terms = dict[Trig, int]
Parts = dict[int, dict[Trig, Any]]                # monomial without sines and cosines -> their products -> coefficient
HALF = Fraction(1, 2)
REWRITTEN = ("1 - 2 s^2", "2 c^2 - 1", "c^2 - s^2", "double")      # what cos 2q is written as
OTHER = {"c": "s", "s": "c"}
LONGEST = 300                                     # terms of a polynomial that is brought into one basis
SHIFT = 32                                        # coefficients are whole multiples of 2^-32: products have dyadic ones


class Group:
    """Angles that share coordinates, and the factors that occur of them."""

    def __init__(self, ring: Ring, angles: list[Any]):
        self.angles = angles
        used = {k for a in angles for k, _ in _parts(a)}
        self.coordinates: list[Any] = sorted(used, key=lambda k: (isinstance(k, str), k))
        self.vectors = [tuple(dict(_parts(a)).get(k, 0) for k in self.coordinates) for a in angles]
        self._fields = [(ring.shift["cos", a], ring.shift["sin", a]) for a in angles]
        self.mask = sum(63 << c | 3 << s for c, s in self._fields)
        self.table: list[Factor] = [()]
        self._numbers: dict[Factor, int] = {(): 0}
        self._known: tuple[dict[int, list[tuple[int, int]]], ...] = ({}, {})
        self._squares: dict[int, list[tuple[int, int]]] = {}
        self._products: dict[tuple[int, int, bool], tuple[int, int] | None] = {}

    def number(self, factor: Factor) -> int:
        """Number of a factor in the table."""
        found = self._numbers.get(factor)
        if found is None:
            found = self._numbers[factor] = len(self.table)
            self.table.append(factor)
        return found

    def factors(self, bits: int, full: bool) -> list[tuple[int, int]]:
        """Part of a monomial that belongs to this group as (factor, coefficient times 2^SHIFT): as it is, or, with
        several angles or `full`, in sums of angles."""
        full = full or len(self.angles) > 1
        found = self._known[full].get(bits)
        if found is None:
            exponents = [(bits >> c & 63, bits >> s & 3) for c, s in self._fields]
            series = self._fourier(exponents) if full else {self._powers(exponents): Fraction(1)}
            found = self._known[full][bits] = [(self.number(f), int(v * 2**SHIFT)) for f, v in series.items()]
        return found

    def _powers(self, exponents: list[tuple[int, int]]) -> Factor:
        return tuple(sorted((v, t, e) for v, pair in zip(self.vectors, exponents, strict=True)
                            for t, e in zip("cs", pair, strict=True) if e))

    def _fourier(self, exponents: list[tuple[int, int]]) -> dict[Factor, Fraction]:
        """Real Fourier series of a product of powers, through z = exp(i angle): complex coefficients (a, b) = a + i b."""
        series: dict[Vector, tuple[Any, Any]] = {(0,) * len(self.coordinates): (Fraction(1), Fraction(0))}
        half = Fraction(1, 2)
        for vector, (cosines, sines) in zip(self.vectors, exponents, strict=True):
            for pair in [(half, 0, half, 0)] * cosines + [(0, -half, 0, half)] * sines:
                product: dict[Vector, tuple[Any, Any]] = {}
                for k, (a, b) in series.items():
                    for sign, (c, d) in ((1, pair[:2]), (-1, pair[2:])):
                        at = tuple(x + sign * y for x, y in zip(k, vector, strict=True))
                        r, i = product.get(at, (0, 0))
                        product[at] = (r + a * c - b * d, i + a * d + b * c)
                series = product
        found: dict[Factor, Fraction] = {}
        for k, (a, b) in sorted(series.items()):
            lead = next((x for x in k if x), 0)
            if lead == 0 and a:
                found[()] = a
            elif lead > 0:                            # conjugate pairs: 2 a cos - 2 b sin
                found |= {((k, t, 1),): v for t, v in (("c", 2 * a), ("s", -2 * b)) if v}
        return found

    def squares(self, f: int) -> list[tuple[int, int]]:
        """(base, twin) of each square c^2 or s^2 in a factor: without it, and with s^2 or c^2 in its place."""
        found = self._squares.get(f)
        if found is None:
            found = []
            for k, kind, e in self.table[f]:
                if e >= 2:
                    base = _changed(self.table[f], (k, kind, -2))
                    found.append((self.number(base), self.number(_changed(base, (k, OTHER[kind], 2)))))
            self._squares[f] = found
        return found

    def product(self, f: int, other: int, same: bool) -> tuple[int, int] | None:
        """The sum (difference, if not `same`) of two cosines or two sines as (product, coefficient), where it is one."""
        key = (f, other, same)
        if key not in self._products:
            self._products[key] = self._product(self.table[f], self.table[other], same)
        return self._products[key]

    def _product(self, f: Factor, other: Factor, same: bool) -> tuple[int, int] | None:
        if any(len(x) > 1 or x and x[0][2] > 1 for x in (f, other)) or f == other:
            return None
        zero = (0,) * len(self.coordinates)
        (k1, kind1), (k2, kind2) = (x[0][:2] if x else (zero, "c") for x in (f, other))
        if kind1 != kind2 or any((a + b) % 2 for a, b in zip(k1, k2, strict=True)):
            return None
        plus = tuple((a + b) // 2 for a, b in zip(k1, k2, strict=True))
        minus = tuple((a - b) // 2 for a, b in zip(k1, k2, strict=True))
        if kind1 == "s":                              # sin a + sin b, sin a - sin b
            pair, value = ((plus, "s"), (minus, "c")) if same else ((plus, "c"), (minus, "s")), 2
        else:                                         # cos a + cos b, cos a - cos b
            pair, value = ((plus, "c"), (minus, "c")) if same else ((plus, "s"), (minus, "s")), 2 if same else -2
        made: Factor = ()
        for k, kind in pair:
            lead = next((x for x in k if x), 0)
            if lead < 0:
                k, value = tuple(-x for x in k), value * (-1 if kind == "s" else 1)
            if lead:
                made = _changed(made, (k, kind, 1))
        return self.number(made), value


def _parts(angle: Any) -> Any:
    return ((angle, 1),) if isinstance(angle, str) else angle


def _changed(factor: Factor, *changes: tuple[Vector, str, int]) -> Factor:
    """The factor with exponents changed."""
    powers = {(k, t): e for k, t, e in factor}
    for k, t, e in changes:
        powers[k, t] = powers.get((k, t), 0) + e
    return tuple(sorted((k, t, e) for (k, t), e in powers.items() if e))


def _squared(factor: Factor) -> list[Vector]:
    """Angles of which a factor has a product of two or more sines and cosines."""
    powers: dict[Vector, int] = {}
    for v, _, e in factor:
        powers[v] = powers.get(v, 0) + e
    return [v for v, e in powers.items() if e > 1]


def _in_basis(factor: Factor, v: Vector, way: str) -> list[tuple[Factor, Fraction]]:
    """A factor with angle v in powers, or in its double, as a sum of factors."""
    double, one = tuple(2 * x for x in v), Fraction(1)
    powers = {(k, t): e for k, t, e in factor}
    if way != "double":
        if powers.get((double, "s")) == 1:
            return [(_changed(factor, (double, "s", -1), (v, "c", 1), (v, "s", 1)), 2 * one)]
        if powers.get((double, "c")) == 1:
            base = _changed(factor, (double, "c", -1))
            c, s = (_changed(base, (v, t, 2)) for t in "cs")
            return {"1 - 2 s^2": [(base, one), (s, -2 * one)], "2 c^2 - 1": [(base, -one), (c, 2 * one)],
                    "c^2 - s^2": [(c, one), (s, -one)]}[way]
        return [(factor, one)]
    cosines, sines = powers.get((v, "c"), 0), powers.get((v, "s"), 0)
    base = _changed(factor, (v, "c", -cosines), (v, "s", -sines))
    if (cosines, sines) == (1, 1):
        return [(_changed(base, (double, "s", 1)), HALF)]
    if (cosines, sines) in ((2, 0), (0, 2)):
        return [(base, HALF), (_changed(base, (double, "c", 1)), HALF if cosines else -HALF)]
    return [(factor, one)]


class Compactor:
    """Compact forms of the polynomials of one ring; joint: all sums of coordinates are one group, for cos(q1 - q2) of what
    has no common axis."""

    def __init__(self, ring: Ring, joint: bool = False):
        self.ring = ring
        angles = [name for kind, name in ring.shift if kind == "cos"]
        sets: list[set[Any]] = []
        for angle in angles:
            touching = [g for g in sets if {k for a in g for k, _ in _parts(a)} & {k for k, _ in _parts(angle)}]
            if joint and not isinstance(angle, str):
                touching = [g for g in sets if not any(isinstance(a, str) for a in g)]
            sets = [g for g in sets if g not in touching] + [{angle}.union(*touching)]
        made = [Group(ring, sorted(g, key=lambda a: (len(_parts(a)), str(a)))) for g in sets]
        self.groups = sorted(made, key=lambda g: (isinstance(g.coordinates[0], str), g.coordinates[0]))
        self._trig = sum(g.mask for g in self.groups)
        self._none = (0,) * len(self.groups)

    def factors(self, t: Trig) -> list[Factor]:
        """The factors, group by group."""
        return [g.table[f] for g, f in zip(self.groups, t, strict=True)]

    def terms(self, p: Any) -> dict[int, dict[Trig, Any]]:
        """Of a polynomial or number: monomial without sines and cosines -> product of sines and cosines -> coefficient."""
        if not isinstance(p, Poly):
            return {0: {self._none: p}} if p else {}
        denominator = lcm(*(c.denominator for c in p.terms.values()))
        parts: dict[int, list[tuple[int, int]]] = {}
        for m, c in sorted(p.terms.items()):
            parts.setdefault(m & ~self._trig, []).append((m, int(c * denominator) << SHIFT))
        found, unit = {}, denominator << SHIFT
        for rest, items in parts.items():
            best = self._merged(self._split(items, False))
            if len(best) > 1:
                other = self._merged(self._split(items, True))
                best = min(best, other, key=self._length)
            if best:
                found[rest] = {t: plain(Fraction(v, unit)) for t, v in best.items()}
        return self._in_one_basis(found)

    # --- one basis per polynomial: c s, c^2 and s^2, or sin 2q and cos 2q ---

    def _in_one_basis(self, parts: Parts) -> Parts:
        """The parts with each angle in powers, or in its double, where both occur: in whichever has fewer terms."""
        if sum(map(len, parts.values())) > LONGEST:                # nobody will read it
            return parts
        for g, group in enumerate(self.groups):
            used = {f for terms in parts.values() for t in terms for f in group.table[t[g]]}
            doubled = {v for v, _, _ in used}
            squares = {v for t in {t[g] for terms in parts.values() for t in terms} for v in _squared(group.table[t])}
            for v in sorted(squares):
                if tuple(2 * x for x in v) in doubled:
                    ways = [self._rewritten(parts, g, v, way) for way in REWRITTEN]
                    parts = min(ways, key=lambda x: sum(map(len, x.values())))
        return parts

    def _rewritten(self, parts: Parts, g: int, v: Vector, way: str) -> Parts:
        """The parts with angle v of group g in one basis."""
        group, known = self.groups[g], dict[int, list[tuple[int, Fraction]]]()
        found: Parts = {}
        for rest, terms in parts.items():
            total: dict[Trig, Any] = {}
            for t, value in terms.items():
                if t[g] not in known:
                    known[t[g]] = [(group.number(f), x) for f, x in _in_basis(group.table[t[g]], v, way)]
                for f, x in known[t[g]]:
                    new = _with(t, g, f)
                    total[new] = total.get(new, 0) + value * x
            total = {t: x for t, x in total.items() if x}
            if way != "double":
                total = self._merged(total, sums=False)
            if total:
                found[rest] = {t: plain(Fraction(x)) for t, x in total.items()}
        return found

    def _split(self, items: Iterable[tuple[int, int]], full: bool) -> Terms:
        D: Terms = {}
        for m, c in items:
            products: list[tuple[Trig, int]] = [((), c)]
            for group in self.groups:
                factors = group.factors(m & group.mask, full)
                products = [(t + (f,), v * w >> SHIFT) for t, v in products for f, w in factors]
            for t, v in products:
                D[t] = D.get(t, 0) + v
        return {t: v for t, v in D.items() if v}

    def _length(self, D: Terms) -> tuple[int, int]:
        return len(D), sum(e for t in D for f in self.factors(t) for _, _, e in f)

    def order(self, t: Trig) -> Any:
        """What terms are ordered by: few factors first; by the factors themselves, not by their numbers."""
        factors = self.factors(t)
        return sum(map(len, factors)), factors

    def _merged(self, D: Terms, sums: bool = True) -> Terms:
        """Terms merged in pairs until no pair becomes one term; sums: of cosines or sines as products, too."""
        if len(D) < 2:
            return D
        groups = range(len(self.groups))
        near: dict[tuple[int, Trig], dict[int, None]] = {}         # (group, the other factors) -> factors there are

        def put(t: Trig, v: int) -> None:
            total = D.get(t, 0) + v
            if total:
                D[t] = total
            else:
                D.pop(t, None)
            for g in groups:
                others = near.setdefault((g, t[:g] + t[g + 1:]), {})
                if total:
                    others[t[g]] = None
                else:
                    others.pop(t[g], None)

        for t in [*D]:
            put(t, 0)
        work = sorted(D, key=self.order, reverse=True)
        while work:
            t = work.pop()
            v = D.get(t)
            if v is None:
                continue
            for g in groups:
                others = near[g, t[:g] + t[g + 1:]]
                if len(others) < 2:
                    continue
                found = self._partner(t, g, v, D, others, sums)
                if found:
                    partner, factor, value = found
                    put(t, -v)
                    put(partner, -D[partner])
                    new = _with(t, g, factor)
                    put(new, value)
                    work.append(new)
                    break
        return D

    def _partner(self, t: Trig, g: int, v: int, D: Terms, others: dict[int, None],
                 sums: bool) -> tuple[Trig, int, int] | None:
        """(partner, new factor, its coefficient): x - x c^2 = x s^2, x c^2 + x s^2 = x, sums of cosines or sines."""
        group = self.groups[g]
        for base, twin in group.squares(t[g]):
            if base in others and D[_with(t, g, base)] == -v:
                return _with(t, g, base), twin, -v
            if twin in others and D[_with(t, g, twin)] == v:
                return _with(t, g, twin), base, v
        if not sums:
            return None
        for f in sorted(others, key=group.table.__getitem__) if len(others) > 2 else others:
            w = D[_with(t, g, f)]
            if f != t[g] and abs(w) == abs(v) and (product := group.product(t[g], f, v == w)):
                return _with(t, g, f), product[0], product[1] * v
        return None


def _with(t: Trig, g: int, factor: int) -> Trig:
    return t[:g] + (factor,) + t[g + 1:]
