"""Sparse polynomials in normal form: the ring in which closed forms of equations are derived.

A monomial is one integer: the number of an inertial parameter (all terms are linear in these) in
the lowest bits, above it one field of bits per cosine, sine, length or coordinate with its
exponent. A product adds the integers. Relations such as sin^2 = 1 - cos^2 are applied inside the
product, so that equal functions are equal polynomials.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from fractions import Fraction
from typing import Any

from dalembert.errors import DalembertError

PARAMETER_BITS = 16  # 65 535 parameters: 6553 links of ten each
PARAMETER = (1 << PARAMETER_BITS) - 1
WIDTH = 6  # bits of an exponent: 0..31 and a guard, which no sum of two of them passes
GUARD = 1 << (WIDTH - 1)
SQUARE = 2  # the bit that a squared sine or root sets in its field of two bits

Angle = tuple[tuple[Any, int], ...]  # sum of coordinates, and phases: (number, whole factor)
Key = tuple[
    str, Hashable
]  # ("x", name), ("inverse", name), ("cos", angle), ("sin", angle), ("root", n)


class Phase(str):
    """An angle that is no sum of coordinates, by its text; `value`: a polynomial."""

    value: Any


class NotPolynomial(DalembertError):
    """An expression is no polynomial in sines, cosines, lengths and parameters; the text says
    which.
    """


class TooLarge(DalembertError):
    """A polynomial has more terms than the ring's limit."""


class Ring:
    """Variables, their relations, and the limit on terms of one polynomial."""

    def __init__(self, limit: int = 100_000):
        self.limit = limit
        self.shift: dict[Key, int] = {}
        self.parameters: list[str] = [""]  # by number; 0 is none
        self._width: dict[Key, int] = {}
        self._fields: list[tuple[Key, int, int]] = []
        self._next = PARAMETER_BITS
        self._mask = 0  # bits that are zero in a normal form
        self._guards = 0
        self._rules: dict[
            int, tuple[tuple[int, Any], ...]
        ] = {}  # bit -> (what to add to the monomial, factor)
        self._inverses: list[tuple[int, int]] = []  # fields of a variable and of its inverse

    def parameter(self, name: str) -> Poly:
        """A new inertial parameter; products of two of them are refused."""
        if len(self.parameters) > PARAMETER:
            raise TooLarge(f"more than {PARAMETER} inertial parameters.")
        self.parameters.append(name)
        return Poly(self, {len(self.parameters) - 1: 1})

    def variable(self, name: Hashable) -> Poly:
        """The variable of this name."""
        return Poly(self, {1 << self._field(("x", name), WIDTH): 1})

    def inverse(self, name: Hashable) -> Poly:
        """1 / (the variable of this name)."""
        key = ("inverse", name)
        is_new = key not in self.shift
        pair = self._field(("x", name), WIDTH), self._field(key, WIDTH)
        if is_new:
            self._inverses.append(pair)
        return Poly(self, {1 << pair[1]: 1})

    def reciprocal(self, p: Poly) -> Any:
        """1 / p of a single term of variables and their inverses.

        Raises
        ------
        NotPolynomial
        """
        ((m, c), *others) = p.terms.items()
        powers = self.exponents(m)
        if others or m & PARAMETER or any(key[0] not in ("x", "inverse") for key, _ in powers):
            raise NotPolynomial("a quotient of sums.")
        product: Any = Fraction(1) / c
        for (kind, name), e in powers:
            factor = self.inverse(name) if kind == "x" else self.variable(name)
            for _ in range(e):
                product = factor * product
        return product

    def cancelled(self, D: dict[int, Any]) -> dict[int, Any]:
        """Terms without variables that stand beside their inverses."""
        found: dict[int, Any] = {}
        for m, c in D.items():
            for above, below in self._inverses:
                common = min(m >> above & GUARD - 1, m >> below & GUARD - 1)
                m -= common * ((1 << above) + (1 << below))
            found[m] = found.get(m, 0) + c
        return found

    def cos_sin(self, angle: Hashable) -> tuple[Poly, Poly]:
        """Cosine and sine of an angle, with sin^2 = 1 - cos^2."""
        c = 1 << self._field(("cos", angle), WIDTH)
        s = 1 << self._field(("sin", angle), 2)
        self._rules[SQUARE * s] = ((-2 * s, 1), (2 * c - 2 * s, -1))
        return Poly(self, {c: 1}), Poly(self, {s: 1})

    def root(self, n: int) -> Poly:
        """Square root of a whole number that no square divides."""
        r = 1 << self._field(("root", n), 2)
        self._rules[SQUARE * r] = ((-2 * r, n),)
        return Poly(self, {r: 1})

    def unit_quaternion(self, names: Iterable[Hashable]) -> list[Poly]:
        """Variables w, x, y, z with z^2 = 1 - w^2 - x^2 - y^2."""
        *others, last = names
        z = 1 << self._field(("x", last), 2)
        squares = [2 << self._field(("x", name), WIDTH) for name in others]
        self._rules[SQUARE * z] = ((-2 * z, 1), *((square - 2 * z, -1) for square in squares))
        return [self.variable(name) for name in others] + [Poly(self, {z: 1})]

    def _field(self, key: Key, width: int) -> int:
        if key not in self.shift:
            self.shift[key] = self._next
            self._width[key] = width
            self._mask |= (GUARD if width == WIDTH else SQUARE) << self._next
            self._guards |= GUARD << self._next if width == WIDTH else 0
            self._next += width
        return self.shift[key]

    def exponents(self, monomial: int) -> list[tuple[Key, int]]:
        """Variables of a monomial with their exponents, in the order the variables were made."""
        if len(self._fields) < len(self.shift):
            self._fields = [
                (key, ((1 << self._width[key]) - 1) << shift, shift)
                for key, shift in self.shift.items()
            ]
        return [
            (key, (monomial & field) >> shift)
            for key, field, shift in self._fields
            if monomial & field
        ]

    def reduce(self, monomial: int, coefficient: Any, into: dict[int, Any]) -> None:
        """Add a term that is not in normal form."""
        bits = monomial & self._mask
        if bits & self._guards:
            raise TooLarge(f"an exponent passes {GUARD - 1}.")
        for delta, factor in self._rules[bits & -bits]:
            m = monomial + delta
            if m & self._mask:
                self.reduce(m, coefficient * factor, into)
            else:
                into[m] = into.get(m, 0) + coefficient * factor

    def total(self, polynomials: Iterable[Any]) -> Any:
        """Sum of polynomials and numbers."""
        D: dict[int, Any] = {}
        for p in polynomials:
            for m, c in (p.terms if isinstance(p, Poly) else {0: p}).items():
                D[m] = D.get(m, 0) + c
        return _clean(self, D)


class LieDerivative:
    """Derivative of polynomials along a motion under which variables have these rates: sum of dp/dx
    times the rate of x.
    """

    def __init__(self, ring: Ring, rates: Iterable[tuple[Key, Any]]):
        self.ring, self.every = ring, 0
        self._owner: dict[
            int, Any
        ] = {}  # bit -> field, shift, width, rate of x less one power of x
        for key, rate in rates:
            shift = ring.shift[key]
            bits = ring._width[key]
            width = (1 << bits) - 1
            terms = rate.terms.items() if isinstance(rate, Poly) else [(0, rate)]
            entry = (~(width << shift), shift, width, [(m - (1 << shift), c) for m, c in terms])
            self.every |= width << shift
            self._owner |= {1 << bit: entry for bit in range(shift, shift + bits)}

    def __call__(self, p: Any) -> Any:
        if not isinstance(p, Poly):
            return 0
        ring = self.ring
        every = self.every
        owner = self._owner
        D: dict[int, Any] = {}
        mask, get = ring._mask, D.get
        for m, c in p.terms.items():
            touched = m & every
            while touched:
                others, shift, width, rate = owner[touched & -touched]
                touched &= others
                scaled = c * (m >> shift & width)
                for change, factor in rate:
                    k = m + change
                    if k & mask:
                        ring.reduce(k, scaled * factor, D)
                    else:
                        D[k] = get(k, 0) + scaled * factor
        return _clean(ring, D)


def _clean(ring: Ring, D: dict[int, Any]) -> Any:
    if ring._inverses:
        D = ring.cancelled(D)
    if not all(D.values()):
        D = {m: c for m, c in D.items() if c}
    if len(D) > ring.limit:
        raise TooLarge(f"a polynomial has {len(D)} terms, more than {ring.limit}.")
    return Poly(ring, D) if D else 0


class Poly:
    """A polynomial that is not zero (zero is the number 0): monomial -> coefficient, int or
    Fraction.
    """

    __slots__ = ("ring", "terms")

    def __init__(self, ring: Ring, terms: dict[int, Any]):
        self.ring, self.terms = ring, terms

    def __len__(self) -> int:
        return len(self.terms)

    def __add__(self, other: Any) -> Any:
        if other.__class__ is not Poly:
            if other == 0:
                return self
            other = Poly(self.ring, {0: other})
        a, b = (
            (self.terms, other.terms)
            if len(self.terms) >= len(other.terms)
            else (other.terms, self.terms)
        )
        D = a.copy()
        for m, c in b.items():
            if m not in D:
                D[m] = c
            elif total := D[m] + c:
                D[m] = total
            else:
                del D[m]
        return Poly(self.ring, D) if D else 0

    __radd__ = __add__

    def __neg__(self) -> Poly:
        return Poly(self.ring, {m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if other.__class__ is not Poly:
            if other == 0:
                return 0
            return (
                self
                if other == 1
                else Poly(self.ring, {m: c * other for m, c in self.terms.items()})
            )
        a, b = (
            (self.terms, other.terms)
            if len(self.terms) <= len(other.terms)
            else (other.terms, self.terms)
        )
        if any(m & PARAMETER for m in a) and any(m & PARAMETER for m in b):
            raise NotPolynomial(
                "a product of two inertial parameters: equations are linear in them."
            )
        ring = self.ring
        D: dict[int, Any] = {}
        mask = ring._mask
        get = D.get
        pairs = list(b.items())
        for ma, ca in a.items():
            for mb, cb in pairs:
                m = ma + mb
                if m & mask:
                    ring.reduce(m, ca * cb, D)
                else:
                    D[m] = get(m, 0) + ca * cb
        return _clean(ring, D)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self * (Fraction(1) / other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.ring.reciprocal(self) * other


def terms_in(values: Iterable[Any]) -> int:
    """Number of terms of polynomials and numbers together."""
    return sum(len(p) if isinstance(p, Poly) else bool(p) for p in values)


def terms_of(p: Any) -> Collection[tuple[int, Any]]:
    """(monomial, coefficient) of the terms of a polynomial; a number is none."""
    return p.terms.items() if isinstance(p, Poly) else ()


def plain(x: Any) -> Any:
    """A whole number as int."""
    return x.numerator if isinstance(x, Fraction) and x.denominator == 1 else x
