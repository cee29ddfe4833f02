"""Kinds of bodies: bodies with one type of joint and the same structural zeros, so that one step of
an algorithm serves all.

A body's numbers (placement and axes of its joint, inertia, rotors, springs, friction) become
symbols where the bodies of a kind differ, and stay numbers where they agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import (
    dataclass,
    replace,
)
from itertools import islice
from typing import Any

import numpy as np

from dalembert.codegen.symbols import vector_of_symbols
from dalembert.model.tree import (
    Tree,
    TreeJoint,
)
from dalembert.spatial.inertias import (
    NO_INERTIA,
    Inertia,
)
from dalembert.spatial.rotations import (
    NO_ROTATION,
    AxisTurn,
    Dense,
    Identity,
    Product,
    Rotation,
    coordinate_axis,
)
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import (
    Matrix,
    Vector,
)

PER_VELOCITY = ("viscous", "coulomb", "stiffness", "rest")
COMMON = 16  # a fine kind with a 16th of all bodies is kept on every level
FINE, ALIGNED, OBLIQUE = 0, 1, 2  # levels of sorting, from many kinds to few
SELF, BASE, PARENT = (
    1,
    0,
    -1,
)  # numbers of the body, the base and another parent in the tree of one body

Numbers = tuple[Any, ...]


@dataclass(eq=False)
class Kind:
    """A body as an algorithm sees it, and the numbers of all bodies of this kind.

    tree : the body SELF alone; its parent is BASE or PARENT
    symbols : what stands for its numbers where bodies differ, then for where it starts in q and qd,
        then for a scale of each of its velocities
    numbers : (bodies, symbols) their values, without the scales
    """

    tree: Tree
    symbols: np.ndarray
    numbers: np.ndarray

    @property
    def joint(self) -> TreeJoint:
        """The joint of the body."""
        return self.tree.joint[SELF]

    @property
    def on_base(self) -> bool:
        """Whether the bodies hang on the base."""
        return self.tree.parent[SELF] == BASE

    @property
    def starts(self) -> tuple[Any, Any]:
        """Symbols of the first entries in q and qd."""
        return self.symbols[-2 - self.joint.type.nv], self.symbols[-1 - self.joint.type.nv]

    @property
    def scales(self) -> np.ndarray:
        """Symbols of the scales of the joint's subspace."""
        return self.symbols[len(self.symbols) - self.joint.type.nv :]


def sorted_bodies(tree: Tree, level: int) -> tuple[list[Kind], list[tuple[int, int]]]:
    """Kinds, and for each moving body its kind and its row there; entry 0 stands for the base.

    Kinds of the level FINE agree in all structural zeros and ones. Others, but for COMMON ones,
    agree only in the joint's type, in whether they have rotors and hang on the base, and on the
    level ALIGNED in axes along a coordinate axis.
    """
    opened = [opened_body(tree, i, FINE) for i in tree.outward()]
    keys: list[Any] = [
        (skeleton, tuple([x if x in (0, 1, -1) else None for x in numbers]))
        for skeleton, numbers in opened
    ]
    if level > FINE:
        count = Counter(keys)
        for k, key in enumerate(keys):
            if count[key] * COMMON < tree.n:
                opened[k] = opened_body(tree, k + 1, level)
                keys[k] = opened[k][0]
    members: dict[Any, list[int]] = {}
    place = [(-1, -1)]
    number = {key: n for n, key in enumerate(dict.fromkeys(keys))}
    for i, key in enumerate(keys, 1):
        place.append((number[key], len(members.setdefault(key, []))))
        members[key].append(i)
    kinds = [
        _kind(tree, bodies, opened[bodies[0] - 1][0], [opened[i - 1][1] for i in bodies])
        for bodies in members.values()
    ]
    return kinds, place


def _kind(tree: Tree, bodies: list[int], skeleton: Any, rows: list[Numbers]) -> Kind:
    """The kind of some bodies with their common skeleton and their numbers."""
    numbers = np.array(rows, dtype=float).reshape(len(rows), -1)
    differing = np.flatnonzero((numbers != numbers[:1]).any(axis=0))
    joints = [tree.joint[i] for i in bodies]
    starts = np.array([(joint.at_q.start, joint.dof.start) for joint in joints], dtype=float)
    symbols = vector_of_symbols("number", len(differing) + 2 + joints[0].type.nv)
    values: list[Any] = numbers[0].tolist()
    for k, x in zip(differing, symbols, strict=False):
        values[k] = x
    return Kind(
        _alone(tree, bodies[0], skeleton, iter(values)),
        symbols,
        np.hstack([numbers[:, differing], starts]),
    )


def opened_body(tree: Tree, i: int, level: int) -> tuple[Any, Numbers]:
    """All about a body and its joint but its numbers, and these in order."""
    joint = tree.joint[i]
    body = tree.inertia[i]
    kind, of_type = _opened_type(joint.type, level < OBLIQUE)
    turn, of_turn = _opened_turn(joint.origin.R, level > FINE)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.J
    numbers = (
        *of_type,
        *of_turn,
        *joint.origin.p,
        body.m,
        *body.h,
        xx,
        xy,
        yy,
        xz,
        yz,
        zz,
        *(x for name in PER_VELOCITY for x in getattr(joint, name)),
        *(tree.rotor[k] for k in joint.dof),
    )
    rotors = any(
        tree.rotor[k] for k in joint.dof
    )  # without any, articulated_step leaves exact zeros
    return (kind, turn, tree.parent[i] == 0, rotors), numbers


def _alone(tree: Tree, i: int, skeleton: Any, numbers: Iterator[Any]) -> Tree:
    """A tree of one body from what `opened_body` found."""
    kind, turn, on_base, _ = skeleton
    joint = tree.joint[i]
    joint_type = _closed_type(joint.type, kind, numbers)
    R = _closed_turn(turn, numbers)
    origin = Transform(Vector(islice(numbers, 3)), R)
    inertia = Inertia(
        next(numbers), Vector(islice(numbers, 3)), Matrix.symmetric(*islice(numbers, 6))
    )
    n = joint_type.nv
    values = {name: list(islice(numbers, n)) for name in PER_VELOCITY}
    rotor = list(islice(numbers, n))
    alone = replace(
        joint,
        type=joint_type,
        origin=origin,
        at_q=slice(0, joint_type.nq),
        dof=range(n),
        rotor=rotor,
        **values,
    )
    return Tree(
        tree.name,
        tree.gravity,
        (-1, BASE if on_base else PARENT),
        (None, alone),
        (NO_INERTIA, inertia),
        {},
        n,
        tuple(rotor),
    )


def _opened_type(joint_type: Any, keeps_aligned: bool) -> tuple[Any, Numbers]:
    """A joint's type but for its oblique axes and its pitch; the type itself where these cannot be
    symbols.
    """
    if not joint_type.takes_symbols:
        return joint_type, ()
    fixed: list[Any] = []
    numbers: list[Any] = []
    for name in joint_type.parameters:
        value = getattr(joint_type, name)
        vector = value if isinstance(value, tuple) else None
        aligned = keeps_aligned and vector is not None and coordinate_axis(vector) is not None
        fixed.append(vector if aligned else None)
        numbers += [] if aligned else [value] if vector is None else vector
    return (type(joint_type), *fixed), tuple(numbers)


def _closed_type(joint_type: Any, kind: Any, numbers: Iterator[Any]) -> Any:
    if not joint_type.takes_symbols:
        return joint_type
    given = {}
    for name, fixed in zip(joint_type.parameters, kind[1:], strict=True):
        if fixed is None:
            given[name] = (
                tuple(islice(numbers, 3))
                if isinstance(getattr(joint_type, name), tuple)
                else next(numbers)
            )
    return replace(joint_type, **given)


def _opened_turn(R: Rotation, dense: bool) -> tuple[Any, Numbers]:
    """Factors of a constant rotation by their axes (3: a matrix), and their numbers."""
    if isinstance(R, Identity) and not dense:
        return (), ()
    if isinstance(R, AxisTurn) and not dense:
        return (R.k,), (R.c, R.s)
    if isinstance(R, Product) and not dense:
        parts = [_opened_turn(factor, False) for factor in R.factors]
        return tuple(k for kinds, _ in parts for k in kinds), tuple(
            x for _, numbers in parts for x in numbers
        )
    return (3,), tuple(x for row in R.matrix() for x in row)


def _closed_turn(kinds: tuple[int, ...], numbers: Iterator[Any]) -> Rotation:
    R: Rotation = NO_ROTATION
    for k in kinds:
        R = R * (
            Dense(Matrix([list(islice(numbers, 3)) for _ in range(3)]))
            if k == 3
            else AxisTurn(k, next(numbers), next(numbers))
        )
    return R
