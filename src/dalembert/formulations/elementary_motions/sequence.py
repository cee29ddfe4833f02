"""Elementary motions of a mechanism: each joint as variable motions in a row, each with the
constant motions before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import cos, sin
from dalembert.formulations.elementary_motions.matrices import (
    IDENTITY4,
    ZERO4,
    Matrix4,
    motion_matrix,
    operator_of,
    placement_matrix,
    pseudo_inertia,
)
from dalembert.model.mechanism import Mechanism
from dalembert.model.tree import Tree, TreeJoint
from dalembert.spatial.arrays import packed
from dalembert.spatial.motion_force import Motion
from dalembert.spatial.rotations import coordinate_axis
from dalembert.spatial.screws import Screw
from dalembert.spatial.vectors import ZERO, Scalar

Coefficients = dict[tuple[int, ...], Scalar]  # by freedoms


def kind_of(screw: Screw) -> str:
    """Tx ... Rz, or T, R, H (helical) with the axis."""
    letter = "T" if not screw.turns else "R" if screw.motion.linear is ZERO else "H"
    aligned = coordinate_axis(screw.axis)
    if aligned is None or letter == "H" or aligned[1] < 0:
        axis = screw.motion.linear if letter == "T" else screw.axis
        return (
            f"{letter}({', '.join(f'{a:.6g}' if isinstance(a, float) else str(a) for a in axis)})"
        )
    return letter + "xyz"[aligned[0]]


def exponential(screw: Screw, x: Scalar) -> Matrix4:
    """exp(D x): 1 + x D for a translation, 1 + sin x D + (1 - cos x) D^2 for a turn, their product
    for both.
    """
    turn, slide = screw.motion
    sliding = IDENTITY4 + operator_of(Motion(ZERO, slide)) * x
    if not screw.turns:
        return sliding
    aligned = coordinate_axis(turn)
    if aligned is not None:
        k, sense = aligned
        turning = motion_matrix(4 + k, x if sense > 0 else -x)
    else:
        D = operator_of(Motion(turn, ZERO))
        turning = IDENTITY4 + D * sin(x) + D @ D * (1 - cos(x))
    return turning if slide is ZERO else turning @ sliding


@dataclass(frozen=True)
class MotionStep:
    """T_i = C_i T(q): constant motions, then a variable one with its freedoms.

    `screw` is that motion, or None where the joint's freedoms act together (spherical, free, custom
    joints). The body of a joint hangs on its last motion; the bodies between are massless.
    """

    name: str
    parent: int  # step before it, 0: base
    constant: Matrix4
    joint: TreeJoint
    screw: Screw | None
    body: str
    inertia: Matrix4  # pseudo-inertia
    freedoms: range  # their numbers in the sequence
    entries: tuple[int, ...]  # and their entries in qd

    @property
    def is_constant(self) -> bool:
        """Whether the operators do not depend on the coordinates."""
        return self.screw is not None or self.joint.type.constant_subspace

    def matrix(self, q: Sequence[Scalar]) -> Matrix4:
        """T_i."""
        if self.screw is None:
            return self.constant @ placement_matrix(
                self.joint.type.placement(self.joint.coordinates(q))
            )
        return self.constant @ exponential(self.screw, self.joint.coordinates(q)[self.screw.at])

    def operators(self, q: Sequence[Scalar]) -> list[Matrix4]:
        """D of each freedom: dT_i = T_i D dq; scaled by its factor for a follower."""
        if self.screw is None:
            return [operator_of(s) for s in self.joint.subspace(q)]
        D = operator_of(self.screw.motion)
        return [D * self.joint.factor if self.joint.is_follower else D]

    def operator_rates(self, q: Sequence[Scalar]) -> list[list[Matrix4]]:
        """[a][m], the derivative of the operator of freedom a along freedom m; zeros but for custom
        joints.
        """
        freedoms = range(len(self.entries))
        rates = None if self.screw else self.joint.subspace_derivatives(q)
        if rates is None:
            return [[ZERO4] * len(freedoms)] * len(freedoms)
        return [[operator_of(rates[m][a]) for m in freedoms] for a in freedoms]


class MotionState(NamedTuple):
    """The sequence at some coordinates; by step T_i and B_i = T_1 ... T_i, by freedom D, by pairs
    of one step dD.
    """

    T: dict[int, Matrix4]
    B: dict[int, Matrix4]
    D: dict[int, Matrix4]
    rate: dict[tuple[int, int], Matrix4]  # (a, m): of D_a along m

    def second(self, a: int, m: int) -> Matrix4:
        """T^-1 times the derivative of T D_a along m, a freedom of the same step: D_m D_a +
        dD_a/dm.
        """
        return self.D[m] @ self.D[a] + self.rate[a, m]


class MotionTree:
    """Steps 1..n of a mechanism, parents before children (0 is the base), and their freedoms 0..f-1
    in the same order.
    """

    def __init__(self, tree: Tree):
        self.tree, self.nv = tree, tree.nv
        self.step: dict[int, MotionStep] = {}
        self.step_of: list[int] = []  # by freedom
        self.entry: list[int] = []
        self.path: dict[int, list[int]] = {
            0: []
        }  # freedoms from the base to a step, its own included
        last = {0: 0}  # the step that carries a body
        for i in tree.outward():
            last[i] = self._add_joint(tree, i, last[tree.parent[i]])
        self.step_of_body = last

    def _add_joint(self, tree: Tree, i: int, parent: int) -> int:
        joint = tree.joint[i]
        row: tuple[Screw | None, ...] = joint.type.screws() or (None,)
        for place, screw in enumerate(row):
            name = (
                f"{joint.name}.{joint.type.coordinates[screw.at]}"
                if screw and len(row) > 1
                else joint.name
            )
            entries = tuple(joint.dof) if screw is None else (joint.dof[screw.at],)
            is_first = place == 0
            is_last = place == len(row) - 1
            number = len(self.step) + 1
            first = len(self.entry)
            self.step[number] = MotionStep(
                name,
                parent,
                placement_matrix(joint.origin) if is_first else IDENTITY4,
                joint,
                screw,
                joint.body if is_last else "",
                pseudo_inertia(tree.inertia[i]) if is_last else ZERO4,
                range(first, first + len(entries)),
                entries,
            )
            self.entry += entries
            self.step_of += [number] * len(entries)
            self.path[number] = [*self.path[parent], *self.step[number].freedoms]
            parent = number
        return parent

    def outward(self) -> range:
        """Steps, parents before children."""
        return range(1, len(self.step) + 1)

    def inward(self) -> range:
        """Steps, children before parents."""
        return range(len(self.step), 0, -1)

    def before(self, i: int) -> list[int]:
        """Freedoms from the base to the step before step i."""
        return self.path[self.step[i].parent]

    def at(self, q: Sequence[Scalar], base: Matrix4 = IDENTITY4) -> MotionState:
        """All matrices of the steps at coordinates q."""
        state = MotionState({}, {0: base}, {}, {})
        for i in self.outward():
            step = self.step[i]
            state.T[i] = step.matrix(q)
            state.B[i] = state.B[step.parent] @ state.T[i]
            state.D.update(zip(step.freedoms, step.operators(q), strict=True))
            for a, row in zip(step.freedoms, step.operator_rates(q), strict=True):
                state.rate.update(
                    ((a, m), rate) for m, rate in zip(step.freedoms, row, strict=True)
                )
        return state

    def gathered(self, values: Coefficients, rank: int) -> list:
        """Values by freedoms as nested lists over the entries of qd; freedoms of a follower and its
        leader add up.
        """
        array: Any = 0.0
        for _ in range(rank):
            array = [_copied(array) for _ in range(self.nv)]
        for freedoms, value in values.items():
            row = array
            *outer, inner = (self.entry[f] for f in freedoms)
            for k in outer:
                row = row[k]
            row[inner] = row[inner] + value
        return array


def _copied(array: Any) -> Any:
    return [_copied(x) for x in array] if isinstance(array, list) else array


class ElementaryMotion(NamedTuple):
    """A step of the sequence, for reading.

    name : of the coordinate; kind : Tx ... Rz, T/R/H(axis), or the joint type whose freedoms act
        together;
    parent : number of the step before it (0: base); body : the body it carries, '' for a massless
        one between;
    entries : of qd that move it; constant : (4, 4) constant motions C before it.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> elementary_motions.motions(da.planar_chain(2))[1].name
    'q2'
    """

    name: str
    kind: str
    parent: int
    body: str
    entries: tuple[int, ...]
    constant: np.ndarray


def motions(mechanism: Mechanism) -> tuple[ElementaryMotion, ...]:
    """The elementary motions 1..n of a mechanism, parents before children: T_i = C_i T(q_i).

    A joint of several freedoms is a row of motions with massless bodies between; the freedoms of
    spherical, free and custom joints do not follow one another and stay together in one step.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> [m.kind for m in elementary_motions.motions(da.planar_chain(2))]
    ['R(0, -1, 0)', 'R(0, -1, 0)']
    """
    sequence = MotionTree(mechanism.tree())
    return tuple(
        ElementaryMotion(
            s.name,
            kind_of(s.screw) if s.screw else s.joint.type.name,
            s.parent,
            s.body,
            s.entries,
            packed(s.constant),
        )
        for s in sequence.step.values()
    )
