"""Mass along the centre line of a beam as one part, by the tangents of the line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dalembert.beams.beam_properties import BeamProperty
from dalembert.beams.beam_quadrature import Rule
from dalembert.beams.integrals import cumulative_weights
from dalembert.beams.shape_functions import TWIST
from dalembert.model.elastic.centre_lines import TurnedLine
from dalembert.spatial.vectors import Scalar

Rows = list[list[Scalar]]


@dataclass(frozen=True, eq=False)
class LineMass:
    """Slices of mass m_i on a centre line. Their places are sums over the tangents t_j at nodes, and
    so are their sums, with constant weights:

        r_i = length sum_j W_ij t_j,   sum_i m_i r_i = sum_j w_j t_j,
        sum_i m_i r_i r_i^T = sum_jk G_jk t_j t_k^T

    bodies : the slices in the tree
    rule : quadrature of their mass; density : mass per length [kg/m]
    """

    bodies: tuple[int, ...]
    line: TurnedLine
    rule: Rule
    density: BeamProperty
    length: Scalar

    @cached_property
    def mass(self) -> Scalar:
        """The mass [kg]."""
        return self._integrals(lambda weights: weights.sum(keepdims=True))[0] * self.length

    @cached_property
    def first(self) -> list[Scalar]:
        """Weights w_j [kg m]."""
        factor = self.length * self.length
        return [x * factor for x in self._integrals(lambda weights: weights @ self._cumulative)]

    @cached_property
    def second(self) -> Rows:
        """Weights G_jk [kg m^2]; symmetric."""
        W, factor = self._cumulative, self.length * self.length * self.length
        n = W.shape[1]
        flat = self._integrals(lambda weights: _symmetric((W.T * weights) @ W).ravel())
        return [[x * factor for x in flat[k : k + n]] for k in range(0, n * n, n)]

    @cached_property
    def chain(self) -> list[tuple[int, list[Scalar]]]:
        """The local variable that each coordinate changes, and how much at the nodes."""
        found = []
        for direction, _ in self.line.bending.shapes:
            unit = 1 if direction == TWIST else 1 / self.length
            columns = zip(*self.line.numbers[direction], strict=True)
            variable = self.line.variables.index(direction)
            found += [(variable, [float(x) * unit for x in column]) for column in columns]
        return found

    @cached_property
    def _cumulative(self) -> np.ndarray:
        """W."""
        nodes, breaks = self.line.nodes, self.line.bending.breaks
        return np.array([cumulative_weights(nodes, breaks, xi) for xi in self.rule.nodes])

    def _integrals(self, of: Callable[[np.ndarray], np.ndarray]) -> list[Scalar]:
        """Numbers that are linear in the weights of slices, these times the density."""
        weights = np.array(self.rule.weights, dtype=float)
        shares = np.array([self.density.weights(xi) for xi in self.rule.nodes], dtype=float)
        parts = [
            [x * number for x in of(weights * share).tolist()]
            for share, number in zip(shares.T, self.density.numbers, strict=True)
        ]
        return [sum(values[1:], values[0]) for values in zip(*parts, strict=True)]


def _symmetric(A: np.ndarray) -> np.ndarray:
    """A without what rounding left beside symmetry."""
    return (A + A.T) / 2
