"""Elastic and damping forces of a bent beam, and its strain energy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import (
    Callable,
    Iterator,
    Sequence,
)
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dalembert.beams.integrals import products_to
from dalembert.beams.shape_functions import (
    BEND_Y,
    BEND_Z,
    TWIST,
    bends,
)
from dalembert.expr import known_zero
from dalembert.model.elastic.beam import (
    STIFFNESS_OF,
    Beam,
)
from dalembert.model.elastic.bending import Bending
from dalembert.model.numbers import Converter
from dalembert.spatial.vectors import (
    Scalar,
    dot,
)

# Rotary inertia against the slopes of a deflection.
_ROTARY_OF = {BEND_Y: "rotary_inertia[2]", BEND_Z: "rotary_inertia[1]"}
Rows = list[list[Scalar]]


@dataclass(frozen=True)
class BeamForces(ABC):
    """Elastic and damping forces of a beam, or of an element, on its coordinates.

    body : name of the body
    at_q, at_v : places of its coordinates and velocities
    """

    body: str
    at_q: slice
    at_v: range

    @abstractmethod
    def energy(self, q: Sequence[Scalar]) -> Scalar:
        """Strain energy [J]."""

    @abstractmethod
    def forces(
        self, q: Sequence[Scalar], qd: Sequence[Scalar], elastic: bool = True
    ) -> list[Scalar]:
        """Elastic and damping forces, or those of damping alone, on the entries of at_v."""

    @abstractmethod
    def derivatives(
        self, q: Sequence[Scalar], qd: Sequence[Scalar]
    ) -> Iterator[tuple[int, int, Scalar, Scalar]]:
        """Minus the derivatives of the forces by q and qd, by rows and columns of the mechanism:
        (row, column, by q, by qd).
        """

    @property
    @abstractmethod
    def is_damped(self) -> bool:
        """Whether it loses energy."""


@dataclass(frozen=True)
class Elasticity(BeamForces):
    """Linear forces -K delta - D delta'.

    stiffness, damping : K and D, (n, n)
    """

    stiffness: Rows
    damping: Rows

    def energy(self, q: Sequence[Scalar]) -> Scalar:
        """Strain energy, 1/2 delta^T K delta [J]."""
        delta = q[self.at_q]
        return dot(delta, _times(self.stiffness, delta)) / 2

    def forces(
        self, q: Sequence[Scalar], qd: Sequence[Scalar], elastic: bool = True
    ) -> list[Scalar]:
        """Elastic and damping forces, or those of damping alone, on the entries of at_v."""
        rates = qd[self.at_v.start : self.at_v.stop]
        total = _times(self.damping, rates)
        if elastic:
            strained = _times(self.stiffness, q[self.at_q])
            total = [a + b for a, b in zip(total, strained, strict=True)]
        return [-x for x in total]

    def derivatives(
        self, q: Sequence[Scalar], qd: Sequence[Scalar]
    ) -> Iterator[tuple[int, int, Scalar, Scalar]]:
        """K and D by rows and columns of the mechanism: (row, column, stiffness, damping)."""
        for row, of_k, of_d in zip(self.at_v, self.stiffness, self.damping, strict=True):
            for column, k, d in zip(self.at_v, of_k, of_d, strict=True):
                yield row, column, k, d

    @cached_property
    def is_damped(self) -> bool:
        """Whether it loses energy."""
        return not all(known_zero(x) for row in self.damping for x in row)


def elasticity(
    beam: Beam, bending: Bending, places: tuple[str, slice, range], convert: Converter
) -> Elasticity:
    """The linear elasticity of a beam, its numbers converted; of one that bends and twists far
    that of its stretch, and its damping by mass or by modes.
    """
    n = bending.count
    stiffness: Rows = [[0] * n for _ in range(n)]
    damping: Rows = [[0] * n for _ in range(n)]
    for direction, at in bending.at.items():
        K = _stiffness(beam, bending, direction, convert)
        is_curved = bending.is_curved and direction in bending.turning
        linear = [[0] * len(K) for _ in K] if is_curved else K
        _put(stiffness, at, linear)
        if beam.damping is not None:
            M = _mass(beam, bending, direction, convert)
            strained = K if beam.damping.is_modal else linear
            _put(damping, at, beam.damping.matrix(M, strained, convert))
    return Elasticity(*places, stiffness, damping)


def _stiffness(beam: Beam, bending: Bending, direction: str, convert: Converter) -> Rows:
    """Stiffness of a direction: modulus times products of curvatures, or of slopes of twist and
    stretch.
    """
    functions = bending.functions[direction]
    strain = functions.curvatures if bends(direction) else functions.slopes
    lengths = convert(beam.length) ** (3 if bends(direction) else 1)
    modulus = STIFFNESS_OF[direction]
    return _integrals(beam, modulus, bending, strain, lambda x: convert(x) / lengths)


def _mass(beam: Beam, bending: Bending, direction: str, convert: Converter) -> Rows:
    """Mass matrix of a direction of the clamped beam at rest."""
    functions, length = bending.functions[direction], convert(beam.length)
    inertia = "rotary_inertia[0]" if direction == TWIST else "mass_per_length"
    M = _integrals(beam, inertia, bending, functions.values, lambda x: convert(x) * length)
    if direction not in _ROTARY_OF or not beam.has_rotary_inertia:
        return M
    rotary = _ROTARY_OF[direction]
    turned = _integrals(beam, rotary, bending, functions.slopes, lambda x: convert(x) / length)
    return [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(M, turned, strict=True)]


def _integrals(
    beam: Beam,
    name: str,
    bending: Bending,
    of: Callable[..., Any],
    factor: Callable[[Any], Scalar],
) -> Rows:
    """Integrals over xi of a property times products of functions; `factor` converts its numbers."""
    along = beam.along(name)
    breaks = tuple(sorted({*bending.breaks, *along.breaks}))
    degree = None if bending.degree is None else 2 * bending.degree + along.degree

    def weighted(xi: Any) -> list[Any]:
        """Functions times the weight of each number of the property."""
        row = of(xi)
        return [x * w for w in along.weights(xi) for x in row]

    products = products_to(1, weighted, of, breaks, degree, bending.points)
    n = len(products[0])
    total: Rows = [[0] * n for _ in range(n)]
    for number, start in zip(along.numbers, range(0, len(products), n), strict=True):
        value = factor(number)
        for sums, row in zip(total, products[start : start + n], strict=True):
            sums[:] = [a if x == 0 else a + value * x for a, x in zip(sums, row, strict=True)]
    return total


def _put(matrix: Rows, at: slice, block: Rows) -> None:
    """Set a block of a matrix."""
    for row, entries in zip(matrix[at], block, strict=True):
        row[at] = entries


def _times(matrix: Rows, vector: Sequence[Scalar]) -> list[Scalar]:
    products = []
    for row in matrix:
        total: Scalar = 0
        for number, x in zip(row, vector, strict=True):
            if not known_zero(number):
                total = total + number * x
        products.append(total)
    return products
