"""Integrals of products of shape functions along a beam."""

from __future__ import annotations

from collections.abc import (
    Callable,
    Sequence,
)
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from dalembert.beams.beam_quadrature import (
    Rule,
    gauss,
    rational,
)
from dalembert.beams.shape_functions import TRANSCENDENTAL, ShapeFunctions

Rows = list[list[Any]]
Functions = Callable[[Any], Sequence[Any]]


def breaks_of(*shapes: ShapeFunctions) -> tuple[Any, ...]:
    """Ends of the pieces on which all shape functions are smooth.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.beams.integrals import breaks_of
    >>> breaks_of(da.beams.legendre(2))
    (0, 1)
    """
    return tuple(sorted({0, 1, *(x for s in shapes for x in s.breaks)}))


def degree_of(*shapes: ShapeFunctions) -> int | None:
    """Highest degree of shape functions; None: some are no polynomials.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.beams.integrals import degree_of
    >>> degree_of(da.beams.legendre(2))
    3
    """
    degrees = [s.degree for s in shapes]
    known = [d for d in degrees if d is not None]
    return max(known, default=0) if len(known) == len(degrees) else None


def points_of(*shapes: ShapeFunctions) -> int:
    """Nodes of quadrature on a piece that integrate products of four of the functions.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.beams.integrals import points_of
    >>> points_of(da.beams.clamped_free(2))
    20
    """
    return max(
        (s.points if s.degree is None else 2 * s.degree for s in shapes), default=TRANSCENDENTAL
    )


def rule_of(
    breaks: Sequence[Any], degree: int | None, exact: bool = False, points: int = TRANSCENDENTAL
) -> Rule:
    """Quadrature of polynomials of a degree on pieces; exact: in rational numbers. Without a degree
    some points on each piece.

    Examples
    --------
    >>> from dalembert.beams.integrals import rule_of
    >>> len(rule_of((0, 1), 5).nodes)
    3
    """
    if exact and degree is not None:
        return rational(breaks, degree)
    return gauss(breaks, points if degree is None else degree // 2 + 1)


def products_to(
    xi: Any,
    rows: Functions,
    columns: Functions,
    breaks: Sequence[Any],
    degree: int | None,
    points: int = TRANSCENDENTAL,
) -> Rows:
    """Integrals of row_i(s) column_k(s) over s from 0 to xi; exact for polynomials at a rational
    xi.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.beams.integrals import products_to
    >>> phi = da.beams.legendre(1)
    >>> products_to(1, phi.slopes, phi.slopes, (0, 1), 2)     # of 2 xi, squared
    [[Fraction(4, 3)]]
    """
    ends = [*(x for x in breaks if x < xi), xi]
    if len(ends) < 2:
        return [[0] * len(columns(0)) for _ in rows(0)]
    rule = rule_of(ends, degree, isinstance(xi, (int, Fraction)), points)
    total: Rows = [[0] * len(columns(0)) for _ in rows(0)]
    for x, weight in zip(*rule, strict=True):
        right = [(k, b) for k, b in enumerate(columns(x)) if b != 0]  # elements are 0 elsewhere
        for i, a in enumerate(rows(x)):
            if a != 0:
                for k, b in right:
                    total[i][k] = total[i][k] + weight * a * b
    return total


@cache
def cumulative_weights(nodes: tuple[Any, ...], breaks: tuple[Any, ...], xi: Any) -> list[float]:
    """Weights of values at Gauss nodes whose sum is the integral from 0 to xi of the polynomials
    through them, piece by piece.

    Examples
    --------
    >>> from dalembert.beams.integrals import cumulative_weights
    >>> from dalembert.beams.beam_quadrature import gauss
    >>> nodes = gauss((0, 1), 3).nodes
    >>> weights = cumulative_weights(nodes, (0, 1), 0.5)
    >>> round(sum(w * x**2 for w, x in zip(weights, nodes)), 12)
    0.041666666667
    """
    points = len(nodes) // (len(breaks) - 1)
    weights: list[float] = []
    for k, (left, right) in enumerate(zip(breaks[:-1], breaks[1:], strict=True)):
        own = np.array(nodes[k * points : (k + 1) * points], dtype=float)
        half = (float(right) - float(left)) / 2
        t = (own - float(left)) / half - 1
        end = min(max((float(xi) - float(left)) / half - 1, -1.0), 1.0)
        weights += (half * _integrals_of_cardinals(t, end)).tolist()
    return weights


def _integrals_of_cardinals(t: np.ndarray, end: float) -> np.ndarray:
    """Integrals from -1 to an end of the polynomials that are 1 at a node and 0 at the others."""
    legendre = np.polynomial.legendre
    V = legendre.legvander(t, len(t) - 1)
    unit = np.eye(len(t))
    antiderivatives = [legendre.legint(row, lbnd=-1) for row in unit]
    ends = np.array([legendre.legval(end, row) for row in antiderivatives])
    return np.linalg.solve(V.T, ends)  # type: ignore[no-any-return]
