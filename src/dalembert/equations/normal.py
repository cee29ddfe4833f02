"""Normal forms of expressions: polynomials in sines, cosines and symbols, and in whatever else is no polynomial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

from dalembert.equations.chain import Angle
from dalembert.equations.forms import RATES, Atom, Phase, Sum, Writer, factors_in
from dalembert.equations.polynomials import Polynomials
from dalembert.equations.ring import Poly, Ring, terms_in
from dalembert.expr import Expr


class Normal(Polynomials):
    """Polynomials of expressions of one graph.

    names: printed names of what varies, by kind ("q", "qd", ...); angles are sums of the first kind. A function that is no
    polynomial (exp, a root, 1 / x, a condition) is a variable of its own; so is the cosine of any other angle. angles:
    sums that forms are to be written in (by default both single coordinates and all their sums are tried).
    """

    def __init__(self, names: Mapping[str, Sequence[str]], limit: int = 20_000, angles: Iterable[Angle] = ()):
        super().__init__(Ring(limit))
        self.angles = tuple(angles)
        for angle in self.angles:
            self.ring.cos_sin(angle)
        self.atoms: list[Atom] = []
        self.names = {**names, "atom": self.atoms}
        self._numbers: dict[tuple[str, tuple[Any, ...]], Poly] = {}
        self._place = {name: (kind, k) for kind, group in names.items() for k, name in enumerate(group)}

    def size(self, expressions: Iterable[Any]) -> int:
        """Terms of some expressions as polynomials; errors as for `forms`."""
        return terms_in(self.scalar(x) for x in expressions)

    def forms(self, expressions: Iterable[Any], by_rates: bool = False) -> list[Sum]:
        """Forms of expressions and numbers, of several ways to write them the one with the fewest factors; by_rates: as sums
        of products of velocities and accelerations in any case.

        Raises
        ------
        TooLarge
        """
        polynomials = [self.scalar(x) for x in expressions]
        turning = sum(kind == "cos" and not isinstance(angle, str) for kind, angle in self.ring.shift)
        writers = [Writer(self.ring, self.names, joint) for joint in (False, True)[:1 + (turning > 1 and not self.angles)]]
        ways = [*(w.by_rates for w in writers), *(w.form for w in writers)]
        if by_rates:
            ways = ways[:len(writers)]
        elif not any(kind == "x" and isinstance(name, tuple) and name[0] in RATES for kind, name in self.ring.shift):
            ways = ways[len(writers):]
        known = {id(p): min((way(p) for way in ways), key=factors_in) for p in polynomials}      # equal entries are one
        return [known[id(p)] for p in polynomials]

    def _symbol(self, name: str) -> Any:
        return self.ring.variable(self._place.get(name, name))

    def _other(self, node: Expr, args: Sequence[Any]) -> Any:
        op = node.op
        if op in ("cos", "sin"):
            return self._cos_sin(node, args[0])["cs".index(op[0])]
        if op == "div":
            return args[0] * self._inverse(args[1])
        if op == "power" and isinstance(args[1], int):
            return self._inverse(self._whole_power(args[0], -args[1]) if args[1] < 0 else args[0])
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
            factor = self._atom("div", [Poly(self.ring, {1 << self.ring.shift[key]: 1})])
            for _ in range(e):
                product = product * factor
        return product

    def _atom(self, op: str, args: Sequence[Any]) -> Poly:
        key = op, tuple(tuple(sorted(p.terms.items())) if isinstance(p, Poly) else p for p in args)
        if key not in self._numbers:
            self._numbers[key] = self.ring.variable(("atom", len(self.atoms)))
            self.atoms.append(Atom(op, tuple(args)))
        return self._numbers[key]

    def _cos_sin(self, node: Expr, angle: Any) -> tuple[Any, Any]:
        """Cosine and sine: of sums of coordinates in terms of these, of other angles in terms of their text."""
        parts: list[Any] = []
        for m, c in angle.terms.items() if isinstance(angle, Poly) else ():
            ((key, e), *more) = self.ring.exponents(m) or [(("", ""), 0)]
            first = cast(Any, key[1])
            if more or e != 1 or not isinstance(c, int) or key[0] != "x" or isinstance(first, str) or first[0] != "q":
                break
            parts.append((first[1], c))
        else:
            if parts:
                parts.sort()
                sign = -1 if parts[0][1] < 0 else 1
                c, s = self.ring.cos_sin(tuple((k, f * sign) for k, f in parts))
                return c, s * sign
        phase = Phase(str(node.args[0]))
        phase.value = angle
        return self.ring.cos_sin(phase)
