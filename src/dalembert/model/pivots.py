"""When the equations of motion do not determine the accelerations: pivots that are not positive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import SingularMassMatrixError
from dalembert.expr import Expr, evaluate
from dalembert.model.tree import Tree
from dalembert.spatial import ldl
from dalembert.spatial.inertias import Inertia
from dalembert.spatial.motion_force import Motion
from dalembert.spatial.vectors import Scalar, Vector

UNDETERMINED = "its acceleration is not determined"
ROUNDING = (
    16 * np.finfo(float).eps
)  # error of an entry of M, as part of the terms that it is the sum of
SUSPICIOUS = 1e-6  # part of its size below which the margin of a pivot is worth forming
MOST_FREEDOMS = (
    96  # of a tree whose M is formed: it would cost more than a recursion along the bodies
)
ALWAYS = float(np.finfo(np.float32).max)  # a limit for pivots of compiled code that none is above

guards: ContextVar[list[tuple[int, Scalar]] | None] = ContextVar("guards", default=None)


def guard(k: int, pivot: Scalar) -> None:
    """Hand on a pivot of entry k in qd, which must be positive for the accelerations to be
    determined.
    """
    if (collected := guards.get()) is not None:
        collected.append((k, pivot))


class PivotCheck:
    """check(k, pivot, size=None) for `spatial.ldl.factorised`: whether the pivots of numbers are
    positive within rounding.

    A pivot above SUSPICIOUS times its size is not looked at further; the first that is not has
    `singular` decide once for all of them. The size is that of `sizes`, or is given by a recursion
    whose rounding errors are smaller. Pivots whose values are not known are handed to `guards`, all
    of them where `q` is (`symbolic`).

    names : entry -> joint and body for the error
    sizes : of the terms of the diagonal entries of the matrix, or None where its numbers are not
        known
    singular : sizes -> first singular pivot, or None
    """

    def __init__(
        self,
        names: Callable[[int], tuple[str, str]],
        sizes: Callable[[], Sequence[Scalar] | None],
        singular: Callable[[Sequence[Scalar]], Singular | None],
        symbolic: bool = False,
        consequence: str = UNDETERMINED,
    ):
        self.names = names
        self.singular = singular
        self.symbolic = symbolic
        self.consequence = consequence
        self._sizes = cache(sizes)
        self._looked = False

    @staticmethod
    def of_tree(
        tree: Tree, q: Sequence[Scalar], matrix: Callable[[], Any], consequence: str = UNDETERMINED
    ) -> PivotCheck:
        """The check of the mass matrix of a tree, which `matrix` forms where it must be looked at."""

        def of_entry(k: int) -> tuple[str, str]:
            """Joint and body of a row."""
            joint = next(j for j in tree.joint[1:] if k in j.dof and not j.is_follower)
            return joint.name, joint.body

        def known_sizes() -> list[Scalar] | None:
            """Sizes of the diagonal's entries; None for a mechanism with symbols."""
            try:
                return sizes(tree, q)
            except TypeError:  # of a mechanism with symbols
                return None

        def singular(size: Sequence[Scalar]) -> Singular | None:
            """The first state and row with a pivot that is too small, if any."""
            if tree.nv > MOST_FREEDOMS:
                return singular_leaf(tree, q)
            return first_singular(stacked(matrix()), stacked([size])[..., 0, :])

        return PivotCheck(
            of_entry, known_sizes, singular, any(isinstance(x, Expr) for x in q), consequence
        )

    @staticmethod
    def of_matrix(
        M: np.ndarray,
        joints: Sequence[str],
        bodies: Sequence[str],
        sizes: Callable[[], np.ndarray] | None = None,
    ) -> PivotCheck:
        """The check of a matrix (..., n, n) with names of its entries; sizes (..., n) are by
        default its diagonal's.
        """

        def known_sizes() -> Sequence[Scalar] | None:
            """Sizes of the diagonal's entries; None for symbols."""
            if M.dtype == object:
                return None
            return list(
                np.moveaxis(
                    np.abs(np.einsum("...kk->...k", M)) if sizes is None else sizes(), -1, 0
                )
            )

        return PivotCheck(
            lambda k: (joints[k], bodies[k]),
            known_sizes,
            lambda size: first_singular(M, stacked([size])[..., 0, :]),
        )

    def __call__(self, k: int, pivot: Scalar, size: Scalar = None) -> None:
        if self.symbolic or isinstance(_number(pivot), Expr):
            guard(k, pivot)
        pivot = _number(pivot)
        if isinstance(pivot, Expr):
            return
        if not self.symbolic and (known_sizes := self._sizes()) is not None:
            self._look(pivot, known_sizes[k] if size is None else _number(size))
        self._refuse(np.asarray(pivot) <= 0, pivot, k)

    def _look(self, pivot: Scalar, size: Scalar) -> None:
        if self._looked or np.all(np.asarray(pivot) > SUSPICIOUS * np.asarray(size)):
            return
        self._looked = True
        if singular := self.singular(self._sizes() or ()):
            self._refuse(singular.bad, singular.pivot, singular.k)

    def _refuse(self, bad: np.ndarray, pivot: Scalar, k: int) -> None:
        if np.any(bad):
            refuse(bad, pivot, *self.names(k), self.consequence)


class Singular(NamedTuple):
    """The first entry k of qd whose pivot is no more than its margin, the pivot, and the rows of a
    batch where it is so.
    """

    k: int
    pivot: np.ndarray
    bad: np.ndarray


def singular_leaf(tree: Tree, q: Sequence[Scalar]) -> Singular | None:
    """The first body that carries none and moves no inertia; of a batch, in its first state."""
    leaves = undetermined(tree, [np.ravel(_number(x))[0] for x in q])
    return Singular(leaves[0].entry, np.asarray(0.0), np.asarray(True)) if leaves else None


def first_singular(M: np.ndarray, size: np.ndarray) -> Singular | None:
    """The first pivot of `eliminated` that is no more than its margin, in the first row of a batch
    that has one.
    """
    pivots, margins = eliminated(M, size)
    bad = np.atleast_2d(pivots <= margins)
    if not bad.any():
        return None
    row = int(np.argmax(bad.any(axis=-1)))
    k = int(np.flatnonzero(bad[row])[-1])
    return Singular(k, pivots[..., k], bad[:, k])


def eliminated(M: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pivots of an elimination of M (..., n, n) from the last entry, without exchanges, and their
    margins.

    Pivot k is w^T M w for the vector w with w_k = 1 that gives M w no other entry k or eliminated
    before it. If the entries of M have errors up to ROUNDING sqrt(size_i size_j), that of the pivot
    is, to first order, at most

        margin_k = ROUNDING (sum_i |w_i| sqrt(size_i))^2

    which does not depend on units. The elimination itself adds no more than entries with such
    errors do (Higham, Accuracy and Stability of Numerical Algorithms, theorem 10.3). A pivot that
    is no more than its margin may be that of a singular matrix. Entries after the first such pivot
    mean nothing.
    """
    n = M.shape[-1]
    A, L, inverse = (
        M.astype(float),
        np.zeros(M.shape),
        np.zeros(M.shape),
    )  # inverse: of L, as far as it is known
    margins = np.zeros(M.shape[:-1])
    root = np.sqrt(size)
    with np.errstate(all="ignore"):
        for k in reversed(range(n)):
            row = A[..., k, :k]
            L[..., k, :k] = row / A[..., k, k, None]
            inverse[..., k, k] = 1.0
            inverse[..., k + 1 :, k] = -(inverse[..., k + 1 :, k + 1 :] @ L[..., k + 1 :, k, None])[
                ..., 0
            ]
            margins[..., k] = ROUNDING * (np.abs(inverse[..., :, k]) * root).sum(axis=-1) ** 2
            A[..., :k, :k] -= row[..., :, None] * L[..., k, None, :k]
    return np.einsum("...kk->...k", A).copy(), margins


def sizes(tree: Tree, q: Sequence[Scalar]) -> list[Scalar]:
    """Size of the terms that sum up to the diagonal entry of M for each entry of qd, rotors
    included.

    Of the bodies that freedom k moves, m, |h| and tr J are summed up and moved from frame to frame
    as if nothing cancelled,
    |h| -> |h| + m |p| and tr J -> tr J + 2 |p| |h| + m |p|^2; with its direction (omega; v) the
    size is

        2 |omega|^2 tr J + 2 |omega| |v| |h| + |v|^2 m
    """
    moved: list[Any] = [None, *(_magnitudes(inertia) for inertia in tree.inertia[1:])]
    sums: list[Scalar] = [abs(_number(rotor)) for rotor in tree.rotor]
    for i in tree.inward():
        m, h, J = moved[i]
        for k, s in zip(tree.joint[i].dof, tree.joint[i].subspace(q), strict=True):
            sums[k] = sums[k] + _size(moved[i], s)
        if parent := tree.parent[i]:
            p = _length(tree.joint[i].placement(q).p)
            magnitudes = moved[parent]
            moved[parent] = (
                magnitudes[0] + m,
                magnitudes[1] + (h + m * p),
                magnitudes[2] + (J + 2 * p * h + m * p * p),
            )
    return sums


class Undetermined(NamedTuple):
    """A body that hangs on its joint alone and has no inertia in a direction of it: (angular;
    linear) in the body's axes.
    """

    joint: str
    body: str
    entry: int
    direction: tuple[float, ...]


@np.errstate(all="ignore")
def moves_nothing(tree: Tree, q: Sequence[Scalar]) -> bool:
    """Whether a body that carries none that moves has no inertia along a velocity of its joint, as a
    mass at its pin.
    """
    carriers = set(tree.parent)
    for i in tree.outward():
        joint = tree.joint[i]
        if i in carriers or joint.is_follower or joint.is_section:  # slices of a beam have mass
            continue
        for s, k in zip(joint.subspace(q), joint.dof, strict=True):
            own = tree.inertia[i].momentum(s).dot(s) + tree.rotor[k]
            if _number(own) == 0:
                return True
    return False


@np.errstate(all="ignore")  # numbers beyond the range of doubles are found where M is computed
def undetermined(tree: Tree, q: Sequence[Scalar]) -> list[Undetermined]:
    """Bodies that carry none that moves, with a direction in which their joint moves no inertia,
    within rounding.
    """
    directions = []
    carriers = set(tree.parent)
    for i in tree.outward():
        joint = tree.joint[i]
        S = tree.joint[i].subspace(q)
        if i in carriers or joint.is_follower or joint.is_section:  # slices of a beam have mass
            continue
        rotors = [tree.rotor[k] for k in joint.dof]
        D = stacked(
            [
                [
                    tree.inertia[i].momentum(s).dot(r) + (rotors[b] if a == b else 0)
                    for a, r in enumerate(S)
                ]
                for b, s in enumerate(S)
            ]
        )
        magnitudes = _magnitudes(tree.inertia[i])
        size = stacked(
            [
                [
                    _size(magnitudes, s) + abs(_number(rotor))
                    for s, rotor in zip(S, rotors, strict=True)
                ]
            ]
        )[0]
        if (
            size.any()
            and np.isfinite(D).all()
            and np.isfinite(size).all()
            and (singular := first_singular(D, size))
        ):
            scale = np.where(size > 0, size, 1.0) ** -0.5
            weights = scale * np.linalg.eigh(D * np.outer(scale, scale))[1][:, 0]
            columns = np.array(
                [[_number(x) for x in (*s.angular, *s.linear)] for s in S], dtype=float
            )
            direction = weights @ columns
            directions.append(
                Undetermined(
                    joint.name,
                    joint.body,
                    joint.dof[singular.k],
                    tuple(direction / np.abs(direction).max()),
                )
            )
    return directions


def _size(magnitudes: tuple[Scalar, Scalar, Scalar], s: Motion) -> Scalar:
    """The size of the terms of s^T I s."""
    (m, h, J), turn, slide = magnitudes, _length(s.angular), _length(s.linear)
    return 2 * turn * turn * J + 2 * turn * slide * h + slide * slide * m


def _magnitudes(inertia: Inertia) -> tuple[Scalar, Scalar, Scalar]:
    """m, |h| and tr J."""
    return (
        abs(_number(inertia.m)),
        _length(inertia.h),
        sum(abs(_number(inertia.J[k][k])) for k in range(3)),
    )


def _length(v: Vector) -> Scalar:
    return np.sqrt(sum(np.square(_number(x)).astype(float) for x in v))


def stacked(rows: Sequence[Sequence[Scalar]]) -> np.ndarray:
    """Rows of numbers, some of which may be constants or batches (N,), as floats with the batch in
    front.
    """
    return ldl.stacked([[_number(x) for x in row] for row in rows]).astype(float)


def refuse(bad: Any, pivot: Scalar, joint: str, body: str, consequence: str = UNDETERMINED) -> None:
    """Raise if a pivot is bad, in a batch with its first bad row; joint and body are those it
    belongs to.
    """
    bad = np.atleast_1d(bad)
    if not bad.any():
        return
    row = int(np.argmax(bad)) if bad.size > 1 else None
    value = float(np.broadcast_to(pivot, bad.shape)[row or 0])
    where = f" in row {row}" if row is not None else ""
    raise SingularMassMatrixError(
        f"joint {joint!r}{where}: the inertia of body {body!r} and what it carries about this "
        f"joint is {value:.3g}, not positive, so {consequence}. Give the body an inertia (or the "
        "joint a rotor inertia), or fix the joint.",
        joint,
        body,
        value,
        row,
    )


def _number(x: Scalar) -> Scalar:
    """The value of a constant expression; anything else as it is."""
    return float(evaluate(x)) if isinstance(x, Expr) and x.op in ("exact", "float") else x
