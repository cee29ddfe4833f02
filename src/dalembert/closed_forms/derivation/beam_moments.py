"""Moments of the mass of beams: integrals over their slices, as polynomials of their coordinates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from dalembert.closed_forms.derivation.run_inertia import NOTHING, RunInertia
from dalembert.expr import known_zero
from dalembert.model.tree import Tree
from dalembert.spatial.rotations import Rotation
from dalembert.spatial.vectors import AXES, IDENTITY, ZERO, Matrix, Vector

Momentum = tuple[Vector, Vector]  # moment and force


class BeamMoments(NamedTuple):
    """Integrals over the mass of a beam, about its start in its axes.

    inertia : mass, first moment and tensor
    momenta : moment and force for a unit rate of each coordinate, at the start
    masses : of the coordinates, integrals of dr/d delta_i . dr/d delta_j
    """

    inertia: RunInertia
    momenta: list[Momentum]
    masses: list[list[Any]]

    def mapped(self, f: Callable[[Any], Any]) -> BeamMoments:
        """With a function applied to each number."""
        m, h, I = self.inertia
        inertia = RunInertia(f(m), Vector(map(f, h)), Matrix(map(f, row) for row in I))
        momenta = [(Vector(map(f, L)), Vector(map(f, P))) for L, P in self.momenta]
        return BeamMoments(inertia, momenta, [list(map(f, row)) for row in self.masses])

    def turned(self, R: Rotation) -> BeamMoments:
        """In axes that R turns to."""
        momenta = [(R.to_parent(L), R.to_parent(P)) for L, P in self.momenta]
        return BeamMoments(self.inertia.turned(R), momenta, self.masses)


class Slice(NamedTuple):
    """A point of a beam: its mass, place, and derivatives of the place by the coordinates.

    spin : inertia about the axis of bending; slopes : turns about it for unit rates
    """

    mass: Any
    place: Vector
    moves: list[Vector]
    axis: int
    spin: Any
    slopes: list[Any]


def moments(slices: Sequence[Slice]) -> BeamMoments:
    """Sums over the slices of a beam."""
    inertia = NOTHING
    n = len(slices[0].moves)
    momenta: list[Momentum] = [(ZERO, ZERO)] * n
    masses: list[list[Any]] = [[0] * n for _ in range(n)]
    for s in slices:
        r, about = s.place, AXES[s.axis]
        tensor = Matrix.diagonal(*(s.spin if k == s.axis else 0 for k in range(3)))
        around = IDENTITY * r.dot(r) - Matrix([x * y for y in r] for x in r)
        inertia = inertia + RunInertia(s.mass, r * s.mass, tensor + around * s.mass)
        for i, (move, slope) in enumerate(zip(s.moves, s.slopes, strict=True)):
            P = move * s.mass
            L, F = momenta[i]
            momenta[i] = L + r.cross(P) + about * (slope * s.spin), F + P
            for k in range(n):
                spin = slope * s.slopes[k] * s.spin
                masses[i][k] = masses[i][k] + P.dot(s.moves[k]) + spin
    return BeamMoments(inertia, momenta, masses)


def leaves(tree: Tree, members: Sequence[int], is_plane: bool) -> list[int]:
    """Sections of a beam that carry a mass at their centre and nothing else; rotary inertia in plane
    motion only.
    """
    carrying = set(tree.parent)
    ends = (i for i in members if i not in carrying and _is_zero(tree.inertia[i].h))
    return [i for i in ends if is_plane or _is_zero(tree.inertia[i].tensor())]


def resists_turning(tree: Tree, members: Sequence[int]) -> bool:
    """Whether the slices of a beam have rotary inertia."""
    slices = (piece for piece in tree.slices if piece.body in members)
    return not all(_is_zero(piece.inertia.tensor()) for piece in slices)


def _is_zero(numbers: Iterable[Any]) -> bool:
    return all(_is_zero(x) if isinstance(x, tuple) else known_zero(x) for x in numbers)


def has_exact_moments(tree: Tree) -> bool:
    """Whether the mass of all beams has moments that are polynomials of the coordinates."""
    for members in tree.sections.values():
        bending = tree.joint[members[0]].type.bending
        if not bending.is_polynomial or bending.degree is None:
            return False
        if resists_turning(tree, members):
            return False
    return True
