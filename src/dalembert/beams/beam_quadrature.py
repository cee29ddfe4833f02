"""Quadrature along a beam, piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np


class Rule(NamedTuple):
    """Integral over [0, 1] = sum of weights times the values at the nodes."""

    nodes: tuple[Any, ...]
    weights: tuple[Any, ...]


def gauss(breaks: Sequence[float], points: int) -> Rule:
    """Gauss-Legendre quadrature of some points on each piece: exact to degree 2 points - 1.

    Examples
    --------
    >>> from dalembert.beams.beam_quadrature import gauss
    >>> nodes, weights = gauss((0, 1), 2)
    >>> round(sum(w * x**3 for x, w in zip(nodes, weights)), 12)
    0.25
    """
    return _repeated(breaks, *np.polynomial.legendre.leggauss(points))


def radau(breaks: Sequence[float], points: int) -> Rule:
    """Gauss-Radau quadrature of some points on each piece, the first at its start: exact to degree
    2 points - 2.

    Examples
    --------
    >>> from dalembert.beams.beam_quadrature import radau
    >>> nodes, weights = radau((0, 1), 2)
    >>> nodes[0], round(sum(w * x**2 for x, w in zip(nodes, weights)), 12)
    (0.0, 0.333333333333)
    """
    legendre = np.polynomial.legendre
    zeros = [0.0] * (points - 1)
    x = np.sort(legendre.legroots([*zeros, 1.0, 1.0]))  # of P_(points - 1) + P_points
    x[0] = -1.0
    last = legendre.legval(x, [*zeros, 1.0])
    return _repeated(breaks, x, (1 - x) / (points * last) ** 2)


def _repeated(breaks: Sequence[float], x: np.ndarray, w: np.ndarray) -> Rule:
    """A rule on [-1, 1] on each piece."""
    nodes: list[float] = []
    weights: list[float] = []
    for left, right in _pieces(breaks):
        half = (float(right) - float(left)) / 2
        nodes += (float(left) + half * (1 + x)).tolist()
        weights += (half * w).tolist()
    return Rule(tuple(nodes), tuple(weights))


def rational(breaks: Sequence[Any], degree: int) -> Rule:
    """Quadrature at equal distances on each piece, exact in rational numbers to a degree.

    Examples
    --------
    >>> from dalembert.beams.beam_quadrature import rational
    >>> nodes, weights = rational((0, 1), 3)
    >>> sum(w * x**3 for x, w in zip(nodes, weights))
    Fraction(1, 4)
    """
    unit = _equidistant(degree + 1)
    nodes: list[Fraction] = []
    weights: list[Fraction] = []
    for left, right in _pieces(breaks):
        width = Fraction(right) - Fraction(left)
        nodes += [Fraction(left) + width * x for x in unit.nodes]
        weights += [width * w for w in unit.weights]
    return Rule(tuple(nodes), tuple(weights))


def _pieces(breaks: Sequence[Any]) -> list[tuple[Any, Any]]:
    return list(zip(breaks[:-1], breaks[1:], strict=True))


@cache
def _equidistant(points: int) -> Rule:
    """Open Newton-Cotes rule at the middles of equal parts."""
    nodes = [Fraction(2 * k + 1, 2 * points) for k in range(points)]
    weights = [_integral_of_cardinal(nodes, k) for k in range(points)]
    return Rule(tuple(nodes), tuple(weights))


def _integral_of_cardinal(nodes: list[Fraction], k: int) -> Fraction:
    """Integral over [0, 1] of the polynomial that is 1 at node k and 0 at the others."""
    row = [Fraction(1)]
    for m, x in enumerate(nodes):
        if m == k:
            continue
        scale = 1 / (nodes[k] - x)
        shifted = [Fraction(0), *row]
        row = [scale * (a - x * b) for a, b in zip(shifted, [*row, Fraction(0)], strict=True)]
    return sum((c / (power + 1) for power, c in enumerate(row)), Fraction(0))
