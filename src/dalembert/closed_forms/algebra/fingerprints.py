"""Fingerprints of expressions: their values in a prime field, by which equal functions are known in
whatever form.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from hashlib import blake2b
from typing import Any

from dalembert.expr import Expr, topological

PRIME = 2**61 - 1
LARGEST_MULTIPLE = 10  # of an angle whose cosine is not drawn by itself
Pair = tuple[int, int]  # cosine and sine: c^2 + s^2 = 1


@cache
def _drawn(*key: Any) -> int:
    """A value for a symbol, or for a function of arguments, that looks random and is the same
    everywhere.
    """
    return int.from_bytes(blake2b(repr(key).encode(), digest_size=8).digest(), "big") % PRIME


def _quotient(a: int, b: int) -> int:
    return a * pow(b, -1, PRIME) % PRIME


def _on_circle(*key: Any) -> Pair:
    t = _drawn("half tangent", *key)
    return _quotient(1 - t * t, 1 + t * t), _quotient(2 * t, 1 + t * t)


def _turned(a: Pair, b: Pair, times: int) -> Pair:
    """Cosine and sine of a plus a whole multiple of b."""
    for _ in range(abs(times)):
        c, s = a
        C, S = b
        S = S if times > 0 else -S
        a = (c * C - s * S) % PRIME, (s * C + c * S) % PRIME
    return a


class Fingerprints:
    """Values of expressions in the field of 2^61 - 1 elements, exact and the same on every machine.

    Symbols have drawn values, cosines and sines lie on the circle and obey the addition theorem for
    whole multiples of symbols; any other function is drawn for its arguments. Two expressions with
    one fingerprint are equal but for an accident of probability 2^-61; the reverse holds for
    polynomials in all these.
    """

    def __init__(self) -> None:
        self._value: dict[Expr, int] = {}
        self._angle: dict[
            Expr, dict[Any, int]
        ] = {}  # symbol, or fingerprint of another angle -> whole factor

    def add(self, expressions: Iterable[Expr]) -> list[Expr]:
        """Take fingerprints of all nodes in expressions; the nodes in topological order."""
        order = topological(expressions)
        for node in order:
            if node not in self._value:
                self._value[node] = self._of(node)
        return order

    def __getitem__(self, node: Expr) -> int:
        return self._value[node]

    def sign(self, node: Expr) -> int:
        """-1 where the negative of the node has the smaller fingerprint, else 1."""
        return 1 if 2 * self._value[node] < PRIME else -1

    def key(self, node: Expr) -> int:
        """The fingerprint up to sign."""
        return min(self._value[node], -self._value[node] % PRIME)

    def _of(self, node: Expr) -> int:
        op = node.op
        if op in ("exact", "float"):
            return self._number(node.value)
        if op == "symbol":
            self._angle[node] = {node.name: 1}
            return _drawn("symbol", node.name)
        args = [self._value[a] for a in node.args]
        if op in ("add", "sub"):
            self._angle[node] = self._combined(node)
            return (args[0] + (args[1] if op == "add" else -args[1])) % PRIME
        if op == "neg":
            self._angle[node] = {x: -k for x, k in self._angle.get(node.args[0], {}).items()}
            return -args[0] % PRIME
        if op == "mul":
            return self._product(node, *args)
        if op == "div" and args[1]:
            return _quotient(*args)
        if op == "power" and args[0] and node.args[1].op == "exact":
            exponent = node.args[1].value
            if isinstance(exponent, int):
                return pow(args[0], exponent, PRIME)
        if op in ("cos", "sin"):
            return self._cosine(node.args[0])[op == "sin"]
        return _drawn(op, *args)

    def _number(self, x: Any) -> int:
        if isinstance(x, float):
            x = Fraction(repr(x)) if x - x == 0 else repr(x)
        if isinstance(x, (int, Fraction)):
            return _quotient(x.numerator, x.denominator)
        return _drawn("number", x)

    def _product(self, node: Expr, a: int, b: int) -> int:
        """The product; a whole multiple of an angle is an angle."""
        for factor, other in (node.args, node.args[::-1]):
            if factor.op != "exact" or other not in self._angle:
                continue
            multiple = factor.value
            if isinstance(multiple, int) and abs(multiple) < LARGEST_MULTIPLE:
                self._angle[node] = {x: k * multiple for x, k in self._angle[other].items()}
        return a * b % PRIME

    def _combined(self, node: Expr) -> dict[Any, int]:
        """A sum as an angle; terms that are no angles count as one each."""
        total: dict[Any, int] = {}
        for arg, sign in zip(node.args, (1, 1 if node.op == "add" else -1), strict=True):
            for x, k in self._parts(arg).items():
                total[x] = total.get(x, 0) + sign * k
        return total

    def _parts(self, angle: Expr) -> dict[Any, int]:
        if angle in self._angle:
            return self._angle[angle]
        v = self._value[angle]
        return {min(v, -v % PRIME): 1 if 2 * v < PRIME else -1}

    def _cosine(self, angle: Expr) -> Pair:
        pair: Pair = (1, 0)
        for x, k in self._parts(angle).items():
            pair = _turned(pair, _on_circle(x), k)
        return pair
