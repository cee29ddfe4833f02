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
    STRETCH,
    TWIST,
)
from dalembert.expr import known_zero
from dalembert.model.beam import (
    STIFFNESS_OF,
    Beam,
)
from dalembert.model.bending import Bending
from dalembert.model.numbers import Converter
from dalembert.spatial.vectors import (
    Scalar,
    dot,
)

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
    that of its stretch, and its damping by mass.
    """
    n = bending.count
    stiffness: Rows = [[0] * n for _ in range(n)]
    mass: Rows = [[0] * n for _ in range(n)]
    length = convert(beam.length)
    for direction, at in bending.at.items():
        if not (bending.is_curved and direction in bending.turning):
            modulus = convert(getattr(beam, STIFFNESS_OF[direction]))
            power = 3 if direction in (BEND_Y, BEND_Z) else 1
            _put(stiffness, at, _strains(bending, direction), modulus / length**power)
        inertia = beam.rotary_inertia[0] if direction == TWIST else beam.mass_per_length
        _put(mass, at, _squares(bending, direction), convert(inertia) * length)
    return Elasticity(*places, stiffness, _damping(beam, convert, stiffness, mass))


def _damping(beam: Beam, convert: Converter, stiffness: Rows, mass: Rows) -> Rows:
    if beam.damping is None:
        return [[0] * len(stiffness) for _ in stiffness]
    by_mass, by_stiffness = convert(beam.damping.mass), convert(beam.damping.stiffness)
    return [
        [m * by_mass + k * by_stiffness for m, k in zip(*rows, strict=True)]
        for rows in zip(mass, stiffness, strict=True)
    ]


def _strains(bending: Bending, direction: str) -> Rows:
    """Integrals of products of curvatures, or of slopes of twist and stretch, over xi."""
    functions = bending.functions[direction]
    strain = functions.slopes if direction in (TWIST, STRETCH) else functions.curvatures
    return _integrals(bending, strain)


def _squares(bending: Bending, direction: str) -> Rows:
    return _integrals(bending, bending.functions[direction].values)


def _integrals(bending: Bending, of: Callable[..., Any]) -> Rows:
    degree = None if bending.degree is None else 2 * bending.degree
    return products_to(1, of, of, bending.breaks, degree)


def _put(matrix: Rows, at: slice, block: Rows, factor: Scalar) -> None:
    """Set a block of a matrix; zeros stay exact."""
    for i, row in enumerate(block, at.start):
        for k, x in enumerate(row, at.start):
            matrix[i][k] = 0 if x == 0 else factor * x


def _times(matrix: Rows, vector: Sequence[Scalar]) -> list[Scalar]:
    products = []
    for row in matrix:
        total: Scalar = 0
        for number, x in zip(row, vector, strict=True):
            if not known_zero(number):
                total = total + number * x
        products.append(total)
    return products
