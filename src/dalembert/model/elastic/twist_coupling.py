"""Bending about both axes with twist: strain energy of the third order in the deflections."""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Sequence,
)
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import prod
from typing import Any

from dalembert.beams.beam_properties import BeamProperty
from dalembert.beams.integrals import rule_of
from dalembert.expr import known_zero
from dalembert.model.elastic.beam import (
    STIFFNESS_OF,
    Beam,
)
from dalembert.model.elastic.bending import (
    AXIS_OF,
    Bending,
)
from dalembert.model.elastic.elasticity import BeamForces
from dalembert.model.numbers import Converter
from dalembert.spatial.vectors import Scalar

TURNS = tuple(AXIS_OF)  # directions that turn the sections about x, y, z
FEW = 64  # triples of coordinates, as of 4 in each direction: closed forms have no more
ROUNDING = 1e-14  # of the largest integral: a smaller one is 0
Triple = tuple[int, int, int]


@dataclass(frozen=True)
class TwistCoupling(BeamForces):
    """Forces of a strain energy of the third order, sum_m c_m delta_i delta_j delta_k.

    With theta = (twist, -w', v') the curvature is theta' - 1/2 theta x theta' + ..., so that to the
    third order

        U = 1/2 integral of C . theta'^2 + (C_x - C_y) theta_x' theta_y' theta_z
            + (C_y - C_z) theta_y' theta_z' theta_x + (C_z - C_x) theta_z' theta_x' theta_y dx

    with C = (GJ, EIy, EIz). Without these a beam that is bent across z would buckle sideways, with
    twist, under 1.23 times the load of Prandtl.

    terms : coefficients c_m by the places of three coordinates of different directions
    """

    terms: tuple[tuple[Triple, Scalar], ...]

    def energy(self, q: Sequence[Scalar]) -> Scalar:
        """Strain energy [J]."""
        total: Scalar = 0
        for (i, j, k), c in self.terms:
            total = total + c * (q[i] * q[j] * q[k])
        return total

    def forces(
        self, q: Sequence[Scalar], qd: Sequence[Scalar], elastic: bool = True
    ) -> list[Scalar]:
        """Elastic forces on the entries of at_v; none by damping."""
        forces: list[Scalar] = [0] * len(self.at_v)
        if elastic:
            for places, c in self.terms:
                for i, j, k in _each(places):
                    row = i - self.at_q.start
                    forces[row] = forces[row] - c * (q[j] * q[k])
        return forces

    def derivatives(
        self, q: Sequence[Scalar], qd: Sequence[Scalar]
    ) -> Iterator[tuple[int, int, Scalar, Scalar]]:
        """Second derivatives of the energy by rows and columns of the mechanism."""
        shift = self.at_v.start - self.at_q.start
        for places, c in self.terms:
            for i, j, k in permutations(places):
                yield i + shift, j + shift, c * q[k], 0

    @property
    def is_damped(self) -> bool:
        """Whether it loses energy: never."""
        return False


def _each(places: Triple) -> Iterator[Triple]:
    """Each place first, beside the others."""
    i, j, k = places
    return iter(((i, j, k), (j, i, k), (k, i, j)))


def twist_coupling(
    beam: Beam, bending: Bending, places: tuple[str, slice, range], convert: Converter
) -> TwistCoupling:
    """The coupling of a beam with coordinates of all three directions, its numbers converted."""
    over = 1 / convert(beam.length) ** 3
    start = places[1].start
    totals: dict[Triple, Scalar] = {}
    for axis, direction in enumerate(TURNS):
        along = beam.along(STIFFNESS_OF[direction])
        unit = along.with_values([0] * len(along.numbers))  # integrals do not depend on the numbers
        of_numbers = _integrals(bending, axis, unit)
        for number, integrals in zip(along.numbers, of_numbers, strict=True):
            value = convert(number) * over
            for triple, integral in integrals.items():
                at: Any = tuple(start + i for i in triple)
                totals[at] = totals.get(at, 0) + value * integral
    terms = ((at, c) for at, c in totals.items() if not known_zero(c))
    return TwistCoupling(*places, tuple(terms))


@lru_cache(maxsize=256)
def _integrals(bending: Bending, axis: int, along: BeamProperty) -> list[dict[Triple, Any]]:
    """Integrals of -1/2 theta_a' (theta x theta')_a times the weight of each number; rational where
    they are few.
    """
    exact = prod(bending.functions[direction].count for direction in TURNS) <= FEW
    breaks = tuple(sorted({*bending.breaks, *along.breaks}))
    degree = None if bending.degree is None else 3 * bending.degree + along.degree
    totals: list[dict[Triple, Any]] = [{} for _ in along.numbers]
    for xi, weight in zip(*rule_of(breaks, degree, exact, bending.points), strict=True):
        densities = _densities(bending, axis, xi)
        for total, share in zip(totals, along.weights(xi), strict=True):
            for triple, density in densities if share else ():
                total[triple] = total.get(triple, 0) + weight * share * density
    least = 0 if exact else ROUNDING * max((abs(x) for t in totals for x in t.values()), default=0)
    return [{triple: x for triple, x in t.items() if abs(x) > least} for t in totals]


def _densities(bending: Bending, axis: int, xi: Any) -> list[tuple[Triple, Any]]:
    """-1/2 theta_a' (theta_b theta_c' - theta_c theta_b') of unit coordinates."""
    turns, bends = ([_numbered(bending, a, xi, order) for a in range(3)] for order in (0, 1))
    first, second = (axis + 1) % 3, (axis + 2) % 3
    densities = []
    for b, c, sign in ((first, second, -1), (second, first, 1)):
        for i, x in bends[axis]:
            for j, y in turns[b]:
                for k, z in bends[c]:
                    densities.append((_in_order(i, j, k), sign * x * y * z / 2))
    return densities


def _numbered(bending: Bending, axis: int, xi: Any, order: int) -> list[tuple[int, Any]]:
    """Places of coordinates, and their turns about an axis or the derivatives of these by xi."""
    direction = TURNS[axis]
    numbers = bending.turns_by(direction, xi, order)
    return [(i, x) for i, x in enumerate(numbers, bending.at[direction].start) if x]


def _in_order(i: int, j: int, k: int) -> Triple:
    low, middle, high = sorted((i, j, k))
    return low, middle, high
