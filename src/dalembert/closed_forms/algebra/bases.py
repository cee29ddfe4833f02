"""A basis per polynomial: each angle in powers of its cosine and sine, or in its multiples, never
in both.

c2 s2, c2^2 and s2^2 stand for one another with sin(2 q2) and cos(2 q2). Where a polynomial has an
angle and a multiple of it, all of it is written in the basis in which it has the fewest terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import comb, gcd

Vector = tuple[int, ...]  # whole factors of a group's coordinates
Factor = tuple[
    tuple[Vector, str, int], ...
]  # product of powers of "c" or "s" of sums of angles, sorted; () is 1
Series = dict[Factor, Fraction]
Powers = dict[tuple[int, int], Fraction]  # exponents of cosine and sine -> coefficient
COSINE_OF_DOUBLE: dict[str, Powers] = {
    "1 - 2 s^2": {(0, 0): Fraction(1), (0, 2): Fraction(-2)},
    "2 c^2 - 1": {(0, 0): Fraction(-1), (2, 0): Fraction(2)},
    "c^2 - s^2": {(2, 0): Fraction(1), (0, 2): Fraction(-1)},
}
POWERS = tuple(COSINE_OF_DOUBLE)  # bases of powers: they differ in what cos(2 a) becomes
MULTIPLES = "multiples"  # the basis of cosines and sines of multiples
SERIES = 3  # multiple from which on a sum of waves is a Fourier series
HALF = Fraction(1, 2)
# signs of the waves of k - multiple and k + multiple in twice a product: cos a cos b = (cos(a - b) +
# cos(a + b)) / 2 and its like
SIGNS = {"cc": (1, 1), "ss": (1, -1), "sc": (1, 1), "cs": (-1, 1)}


def direction(v: Vector) -> Vector:
    """The shortest angle that v is a whole multiple of."""
    shortest = gcd(*v)
    return tuple(x // shortest for x in v)


def changed(factor: Factor, *changes: tuple[Vector, str, int]) -> Factor:
    """The factor with exponents changed."""
    powers = {(k, t): e for k, t, e in factor}
    for k, t, e in changes:
        powers[k, t] = powers.get((k, t), 0) + e
    return tuple(sorted((k, t, e) for (k, t), e in powers.items() if e))


def mixed(factors: Iterable[Factor]) -> list[Vector]:
    """Angles that stand beside multiples of theirs; of each the greatest angle that all of these
    are multiples of.

    Not those of a Fourier series, which has the third multiple or a higher one, and no powers and
    products.
    """
    multiples: dict[Vector, set[Vector]] = {}
    products: set[Vector] = set()
    for factor in factors:
        waves = [direction(v) for v, _, e in factor for _ in range(e)]
        products |= {u for u in waves if waves.count(u) > 1}
        for v, _, _ in factor:
            multiples.setdefault(direction(v), set()).add(v)
    found = []
    for u, angles in multiples.items():
        orders = [gcd(*v) for v in angles]
        unit = gcd(*orders)
        if len(angles) > 1 and (u in products or max(orders) < SERIES * unit):
            found.append(tuple(x * unit for x in u))
    return sorted(found)


def rewriter(angle: Vector, basis: str) -> Callable[[Factor], Series]:
    """A function that brings what a factor has of multiples of an angle into a basis."""
    u, unit = direction(angle), gcd(*angle)

    def rewritten(factor: Factor) -> Series:
        """A factor in the basis."""
        own: list[tuple[int, str, int]] = []
        rest: Factor = ()
        for v, kind, e in factor:
            if direction(v) == u:
                own.append((gcd(*v) // unit, kind, e))
            else:
                rest += ((v, kind, e),)
        if basis == MULTIPLES:
            return _in_multiples(own, rest, angle)
        product: Powers = {(0, 0): Fraction(1)}
        for multiple, kind, e in own:
            for _ in range(e):
                product = _product(product, _in_powers(multiple, kind, basis))
        series: Series = {}
        for (c, s), x in product.items():
            if x:
                series[changed(rest, (angle, "c", c), (angle, "s", s))] = x
        return series

    return rewritten


def _in_powers(multiple: int, kind: str, basis: str) -> Powers:
    """Cosine or sine of a multiple in powers: real or imaginary part of (c + i s)^multiple."""
    if (multiple, kind) == (2, "c"):
        return COSINE_OF_DOUBLE[basis]
    first = "cs".index(kind)
    return {
        (multiple - k, k): Fraction((-1) ** (k // 2) * comb(multiple, k))
        for k in range(first, multiple + 1, 2)
    }


def _product(a: Powers, b: Powers) -> Powers:
    found: Powers = {}
    for (c, s), x in a.items():
        for (C, S), y in b.items():
            found[c + C, s + S] = found.get((c + C, s + S), Fraction(0)) + x * y
    return found


def _in_multiples(own: list[tuple[int, str, int]], rest: Factor, angle: Vector) -> Series:
    """A product of powers as a sum of cosines or sines of multiples."""
    waves: dict[tuple[int, str], Fraction] = {(0, "c"): Fraction(1)}
    for multiple, kind, e in own:
        for _ in range(e):
            waves = _modulated(waves, multiple, kind)
    return {
        changed(rest, (tuple(x * k for x in angle), kind, 1)) if k else rest: x
        for (k, kind), x in waves.items()
    }


def _modulated(
    waves: dict[tuple[int, str], Fraction], multiple: int, kind: str
) -> dict[tuple[int, str], Fraction]:
    """Waves times a cosine or sine of a multiple."""
    result: dict[tuple[int, str], Fraction] = {}
    for (k, wave), x in waves.items():
        of_difference, of_sum = SIGNS[wave + kind]
        product = "c" if wave == kind else "s"
        for j, sign in ((k - multiple, of_difference), (k + multiple, of_sum)):
            if product == "s":
                if j == 0:
                    continue
                sign = -sign if j < 0 else sign
            key = (abs(j), product)
            result[key] = result.get(key, Fraction(0)) + sign * HALF * x
    return {wave: x for wave, x in result.items() if x}
