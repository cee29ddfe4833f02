"""Numbers, symbols and coordinates of a mechanism as polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, cast

from dalembert.equations.chain import Angle
from dalembert.equations.ring import NotPolynomial, Poly, Ring
from dalembert.expr import Expr, topological
from dalembert.model.joints import Free, Spherical
from dalembert.model.tree import Tree
from dalembert.spatial.rotations import from_quaternion
from dalembert.spatial.vectors import Vector

MAX_POWER = 16      # whole exponents up to this one are multiplied out


class Polynomials:
    """The algebra of a ring: variables ("q", k) are coordinates, texts are symbols."""

    def __init__(self, ring: Ring):
        self.ring = ring
        self._known: dict[Any, Any] = {}

    def coordinate(self, k: int) -> Poly:
        return self.ring.variable(("q", k))

    def cos_sin(self, angle: Angle) -> tuple[Any, Any]:
        return self.ring.cos_sin(angle) if angle else (1, 0)

    def quaternion(self, k: int) -> list[Poly]:
        return self.ring.unit_quaternion(("q", k + j) for j in range(4))

    def scalar(self, x: Any) -> Any:
        """A number exactly (a float by the shortest decimal that names it), an expression of constants and symbols."""
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
        if node.op in ("add", "sub", "mul"):
            (b,) = rest
            return a + b if node.op == "add" else a - b if node.op == "sub" else a * b
        if node.op == "neg":
            return -a
        if node.op == "div" and not isinstance(rest[0], Poly):
            return a * (Fraction(1) / rest[0])
        if node.op == "power" and isinstance(rest[0], int) and 0 <= rest[0] <= MAX_POWER:
            return self._whole_power(a, rest[0])
        if node.op == "sqrt" and isinstance(a, int):
            return self._root(a)
        return self._other(node, args)

    def _symbol(self, name: str) -> Any:
        return self.ring.variable(name)

    def _other(self, node: Expr, args: Sequence[Any]) -> Any:
        """What is no polynomial but for sines and cosines of a symbol."""
        if node.op in ("cos", "sin"):
            symbol, sign = (node.args[0].args[0], -1) if node.args[0].op == "neg" else (node.args[0], 1)
            if symbol.op == "symbol":
                c, s = self.ring.cos_sin(symbol.name)
                return c if node.op == "cos" else s * sign
        raise NotPolynomial(f"the expression {node}.")

    def _whole_power(self, a: Any, n: int) -> Any:
        power = 1
        for _ in range(n):
            power = power * a
        return power

    def _root(self, n: int) -> Any:
        """sqrt(n) as a whole number times square roots of primes."""
        product, p = 1, 2
        while n > 1:
            while n % (p * p) == 0:
                product, n = product * p, n // (p * p)
            if n % p == 0:
                product, n = product * self.ring.root(p), n // p
            p += 1
        return product

    def velocities(self, tree: Tree) -> list[Any]:
        """Per entry of qd the derivative along it, for the variables that the ring has now."""
        rates: list[list[Any]] = [[] for _ in range(tree.nv)]
        for joint in tree.joint[1:]:
            if joint.is_follower:
                continue
            if isinstance(joint.type, (Spherical, Free)):
                for dof, pairs in zip(joint.dof, self._quaternion_rates(joint), strict=True):
                    rates[dof] = pairs
            else:
                for dof, k in zip(joint.dof, range(joint.at_q.start, joint.at_q.stop), strict=True):
                    rates[dof] = self._rates_of_coordinate(k)
        return [self.ring.derivation(pairs) for pairs in rates]

    def _rates_of_coordinate(self, k: int) -> list[Any]:
        pairs: list[Any] = []
        for key in list(self.ring.shift):
            kind, name = key[0], cast(Any, key[1])
            if key == ("x", ("q", k)):
                pairs.append((key, 1))
            elif kind in ("cos", "sin") and not isinstance(name, str):
                factor = dict(name).get(k, 0)
                if factor:
                    c, s = self.ring.cos_sin(name)
                    pairs.append((key, s * -factor if kind == "cos" else c * factor))
        return pairs

    def _quaternion_rates(self, joint: Any) -> list[list[Any]]:
        """Rates of w, x, y, z and, for a free joint, of the origin, along each velocity in the child's axes."""
        k = joint.at_q.start
        q = self.quaternion(k)
        names = [("x", ("q", k + j)) for j in range(joint.type.nq)]
        found = []
        for j in range(joint.type.nv):
            rate = joint.type.rate([*q, 0, 0, 0], [0] * j + [2] + [0] * (joint.type.nv - 1 - j)) if j < 3 else (
                [0] * 4 + list(from_quaternion(*q).to_parent(Vector(int(i == j - 3) for i in range(3)))))
            half = Fraction(1, 2) if j < 3 else 1
            found.append([(name, r * half) for name, r in zip(names, rate, strict=False)
                          if not isinstance(r, (int, Fraction, float)) and name in self.ring.shift])
        return found
