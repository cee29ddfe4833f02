"""Numbers, symbols, coordinates and other expressions as polynomials, and what is no polynomial as
variables of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any

from dalembert.closed_forms.algebra.ring import (
    Angle,
    LieDerivative,
    NotPolynomial,
    Phase,
    Poly,
    Ring,
)
from dalembert.closed_forms.algebra.sums import Sum, factors_in
from dalembert.closed_forms.algebra.writing import RATES, Atom, Writer
from dalembert.expr import Expr, topological

MAX_POWER = 16  # whole exponents up to this one are multiplied out


class Polynomials:
    """The algebra of a ring: variables ("q", k) are coordinates, texts are symbols."""

    def __init__(self, ring: Ring):
        self.ring = ring
        self.beams: dict[int, Any] = {}  # moments of the mass of beams, by their first section
        self._known: dict[Any, Any] = {}

    def coordinate(self, k: int) -> Poly:
        """Coordinate k as a polynomial."""
        return self.ring.variable(("q", k))

    @property
    def polynomials(self) -> Polynomials:
        """The algebra of polynomials, which is this one."""
        return self

    def of_polynomial(self, p: Any) -> Any:
        """A polynomial of `polynomials` as a scalar."""
        return p

    def exact(self, p: Any) -> Any:
        """A polynomial with exact coefficients: floats by the shortest decimals that name them."""
        if not isinstance(p, Poly):
            return self.scalar(p)
        return Poly(self.ring, {m: self.scalar(c) for m, c in p.terms.items()})

    def derivative(self, p: Any, k: int) -> Any:
        """Derivative of a polynomial without angles by coordinate k."""
        self.coordinate(k)
        return LieDerivative(self.ring, [(("x", ("q", k)), 1)])(p)

    def cos_sin(self, angle: Angle) -> tuple[Any, Any]:
        """Cosine and sine of an angle as polynomials."""
        if angle[0][1] > 0:
            return self.ring.cos_sin(angle)
        c, s = self.ring.cos_sin(
            tuple((k, -factor) for k, factor in angle)
        )  # -sin(q2), not sin(-q2)
        return c, -s

    def quaternion(self, k: int) -> list[Poly]:
        """The quaternion at k as polynomials."""
        return self.ring.unit_quaternion(("q", k + j) for j in range(4))

    def scalar(self, x: Any) -> Any:
        """A number exactly (a float by the shortest decimal that names it), an expression of
        constants and symbols.
        """
        if isinstance(x, (Poly, int)):
            return x
        if isinstance(x, float):
            x = Fraction(repr(x))
        if isinstance(x, Fraction):
            return x.numerator if x.denominator == 1 else Fraction(x.numerator, x.denominator)
        if not isinstance(x, Expr):
            raise NotPolynomial(f"{x!r}.")
        for node in topological([x]):
            if node not in self._known:
                self._known[node] = self._node(node)
        return self._known[x]

    def _node(self, node: Expr) -> Any:
        if node.op in ("exact", "float"):
            return self.scalar(node.value)
        if node.op == "symbol":
            return self._symbol(node.name)
        a, *rest = args = [self._known[arg] for arg in node.args]
        if node.op == "add":
            return a + rest[0]
        if node.op == "sub":
            return a - rest[0]
        if node.op == "mul":
            return a * rest[0]
        if node.op == "neg":
            return -a
        if node.op == "div" and not isinstance(rest[0], Poly):
            return a * (Fraction(1) / rest[0])
        if node.op == "power" and isinstance(rest[0], int) and 0 <= rest[0] <= MAX_POWER:
            return prod([a] * rest[0])
        if node.op == "sqrt" and isinstance(a, int):
            return self._root(a)
        return self._other(node, args)

    def _symbol(self, name: str) -> Any:
        return self.ring.variable(name)

    def _other(self, node: Expr, args: Sequence[Any]) -> Any:
        """An expression that is no polynomial but for sines and cosines of a symbol, and quotients
        by products of symbols.
        """
        if node.op == "div":
            return args[0] / args[1]
        if node.op in ("cos", "sin"):
            symbol, sign = node.args[0], 1
            if symbol.op == "neg":
                symbol, sign = symbol.args[0], -1
            if symbol.op == "symbol":
                c, s = self.ring.cos_sin(symbol.name)
                return c if node.op == "cos" else s * sign
        raise NotPolynomial(f"the expression {node}.")

    def _root(self, n: int) -> Any:
        """sqrt(n) as a whole number times square roots of primes."""
        product, p = 1, 2
        while n > 1:
            while n % (p * p) == 0:
                product = product * p
                n = n // (p * p)
            if n % p == 0:
                product = product * self.ring.root(p)
                n = n // p
            p += 1
        return product


class Normal(Polynomials):
    """Polynomials of expressions of one graph.

    names: printed names of what varies, by kind ("q", "qd", ...); angles are sums of the first
    kind. A function that is no polynomial (exp, a root, 1 / x, a condition) is a variable of its
    own; so is the cosine of any other angle. angles: sums that forms are to be written in (by
    default both single coordinates and all their sums are tried).
    """

    def __init__(
        self, names: Mapping[str, Sequence[str]], limit: int = 20_000, angles: Iterable[Angle] = ()
    ):
        super().__init__(Ring(limit))
        self.angles = tuple(angles)
        for angle in self.angles:
            self.ring.cos_sin(angle)
        self.atoms: list[Atom] = []
        self.names = {**names, "atom": self.atoms}
        self._numbers: dict[tuple[str, tuple[Any, ...]], Poly] = {}
        self._place = {
            name: (kind, k) for kind, group in names.items() for k, name in enumerate(group)
        }

    def forms(self, expressions: Iterable[Any], by_rates: bool = False) -> list[Sum]:
        """Forms of expressions and numbers, of several ways to write them the one with the fewest
        factors; by_rates: as sums of products of velocities and accelerations in any case.

        Raises
        ------
        TooLarge
        """
        polynomials = [self.scalar(x) for x in expressions]
        writers, has_rates = self._writers, self._has_rates
        methods: list[Callable[[Any], Sum]] = []
        if by_rates or has_rates:
            methods += [w.by_rates for w in writers]
        if not by_rates:
            methods += [w.form for w in writers]
        written: dict[int, Sum] = {}  # equal entries are one
        for p in polynomials:
            written[id(p)] = min((method(p) for method in methods), key=factors_in)
        return [written[id(p)] for p in polynomials]

    @property
    def _has_rates(self) -> bool:
        """Whether the ring has velocities or accelerations."""
        names = (name for kind, name in self.ring.shift if kind == "x")
        return any(isinstance(name, tuple) and name[0] in RATES for name in names)

    def forms_in_one_basis(self, polynomials: Sequence[Any]) -> list[Sum]:
        """Forms of polynomials that belong together, as a numerator and its denominator."""
        return min(
            (w.forms(polynomials) for w in self._writers),
            key=lambda forms: sum(map(factors_in, forms)),
        )

    @property
    def _writers(self) -> list[Writer]:
        """Writers for the variables that the ring has now."""
        writers = [Writer(self.ring, self.names)]
        angles = (angle for kind, angle in self.ring.shift if kind == "cos")
        turning = sum(not isinstance(angle, str) for angle in angles)
        if turning > 1 and not self.angles:
            writers.append(Writer(self.ring, self.names, joint=True))
        return writers

    def _symbol(self, name: str) -> Any:
        return self.ring.variable(self._place.get(name, name))

    def _other(self, node: Expr, args: Sequence[Any]) -> Any:
        op = node.op
        if op in ("cos", "sin"):
            return self._cos_sin(node, args[0])["cs".index(op[0])]
        if op == "div":
            return args[0] * self._inverse(args[1])
        if op == "power" and isinstance(args[1], int):
            return self._inverse(prod([args[0]] * -args[1]) if args[1] < 0 else args[0])
        return self._atom(op, args)

    def _inverse(self, p: Any) -> Any:
        """1 / p: of a single term factor by factor."""
        if not isinstance(p, Poly):
            return Fraction(1) / p
        if len(p) > 1:
            return self._atom("div", [p])
        ((m, c),) = p.terms.items()
        product: Any = 1 if c == 1 else Fraction(1) / c
        for key, e in self.ring.exponents(m):
            variable = Poly(self.ring, {1 << self.ring.shift[key]: 1})
            product = prod([self._atom("div", [variable])] * e, start=product)
        return product

    def _atom(self, op: str, args: Sequence[Any]) -> Poly:
        key = op, tuple(tuple(sorted(p.terms.items())) if isinstance(p, Poly) else p for p in args)
        if key not in self._numbers:
            self._numbers[key] = self.ring.variable(("atom", len(self.atoms)))
            self.atoms.append(Atom(op, tuple(args)))
        return self._numbers[key]

    def _cos_sin(self, node: Expr, angle: Any) -> tuple[Any, Any]:
        """Cosine and sine: of sums of coordinates in terms of these, of other angles in terms of
        their text.
        """
        parts = self._coordinates_in(angle)
        if parts:
            sign = -1 if parts[0][1] < 0 else 1
            c, s = self.ring.cos_sin(tuple((k, factor * sign) for k, factor in parts))
            return c, s * sign
        phase = Phase(str(node.args[0]))
        phase.value = angle
        return self.ring.cos_sin(phase)

    def _coordinates_in(self, angle: Any) -> Angle:
        """A sum of coordinates with whole factors, by their numbers; empty if it is none."""
        parts: list[tuple[int, int]] = []
        for m, c in angle.terms.items() if isinstance(angle, Poly) else ():
            powers = self.ring.exponents(m)
            if len(powers) != 1 or not isinstance(c, int):
                return ()
            (((kind, name), e),) = powers
            if kind != "x" or e != 1 or not isinstance(name, tuple) or name[0] != "q":
                return ()
            parts.append((name[1], c))
        return tuple(sorted(parts))
