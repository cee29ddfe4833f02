"""4x4 matrices over any scalar: elementary motions, their operators, pseudo-inertias, traces."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from dalembert.errors import UnknownNameError
from dalembert.expr import cos, known_zero, sin
from dalembert.readers.motions import KINDS
from dalembert.spatial.arrays import packed
from dalembert.spatial.inertias import Inertia
from dalembert.spatial.motion_force import Force, Motion
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Scalar, Vector


class Matrix4(tuple):
    """Four rows of four scalars; sums and products leave out entries that are the number 0."""

    __slots__ = ()
    __array_ufunc__ = None

    def __new__(cls, rows: Iterable[Iterable[Scalar]]):
        return tuple.__new__(cls, (tuple(row) for row in rows))

    def __add__(self, other):
        return Matrix4(map(_sum, a, b) for a, b in zip(self, other, strict=True))

    def __mul__(self, scalar: Scalar):
        return Matrix4((0 if known_zero(x) else x * scalar for x in row) for row in self)

    def __neg__(self):
        return Matrix4((-x for x in row) for row in self)

    def __matmul__(self, other):
        columns = tuple(zip(*other, strict=True))
        return Matrix4((_dot(row, column) for column in columns) for row in self)

    def times(self, column: Iterable[Scalar]) -> tuple[Scalar, ...]:
        """The product with a column of four."""
        column = tuple(column)
        return tuple(_dot(row, column) for row in self)

    @property
    def T(self) -> Matrix4:
        """The transpose."""
        return Matrix4(zip(*self, strict=True))

    @property
    def last_column(self) -> Vector:
        """The first three entries of the last column: an origin, or a first moment."""
        return Vector(row[3] for row in self[:3])


def trace(A: Matrix4, B: Matrix4) -> Scalar:
    """S(A B^T), the trace: the sum of the products of equal entries."""
    return _dot(chain(*A), chain(*B))


def _sum(a: Scalar, b: Scalar) -> Scalar:
    return b if known_zero(a) else a if known_zero(b) else a + b


def _dot(a: Iterable[Scalar], b: Iterable[Scalar]) -> Scalar:
    total = None
    for x, y in zip(a, b, strict=True):
        if not (known_zero(x) or known_zero(y)):
            total = x * y if total is None else total + x * y
    return 0 if total is None else total


def _with(entries: dict[tuple[int, int], Scalar], diagonal: Scalar) -> Matrix4:
    """Entries by (row, column) on a matrix that is diagonal otherwise."""
    return Matrix4(
        (entries.get((i, j), diagonal if i == j else 0) for j in range(4)) for i in range(4)
    )


IDENTITY4 = _with({}, 1)
ZERO4 = _with({}, 0)


# --- elementary motions ---------------------------------------------------------------------------------------------


def motion_matrix(kind: int, x: Scalar) -> Matrix4:
    """T_Zk(x) on scalars: translation along (kinds 1 to 3) or turn about (4 to 6) the axes x, y, z."""
    if kind <= 3:
        return _with({(kind - 1, 3): x}, 1)
    i, j, c, s = kind % 3, (kind + 1) % 3, cos(x), sin(x)  # turn about axis kind - 4: i to j
    return _with({(i, i): c, (i, j): -s, (j, i): s, (j, j): c}, 1)


def motion_operator(kind: int) -> Matrix4:
    """D_Zk on scalars: dT_Zk/dx = T_Zk D_Zk = D_Zk T_Zk."""
    if kind <= 3:
        return _with({(kind - 1, 3): 1}, 0)
    i, j = kind % 3, (kind + 1) % 3
    return _with({(i, j): -1, (j, i): 1}, 0)


def elementary_matrix(kind: int | str, value: Any) -> np.ndarray:
    """Matrix T_Zk(x) of an elementary motion.

    Parameters
    ----------
    kind : 1 to 6, or 'Tx', 'Ty', 'Tz', 'Rx', 'Ry', 'Rz'
        Translation along, or turn (right-handed) about x, y, z.
    value : number, expression or (N,) array
        Displacement [m] or angle [rad].

    Returns
    -------
    T : (4, 4) or (N, 4, 4) array
        T r = r' for columns r = (x, y, z, 1).

    Raises
    ------
    UnknownNameError

    References
    ----------
    Hroncova, Contribution to automatic formulation of equations of motion of spatial open kinematic
    chains.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> elementary_motions.elementary_matrix("Tx", 0.5)[:, 3]
    array([0.5, 0. , 0. , 1. ])
    """
    batch = len(value) if isinstance(value, np.ndarray) and value.ndim else None
    return packed(motion_matrix(_number(kind), value), batch)


def elementary_operator(kind: int | str) -> np.ndarray:
    """Constant matrix D_Zk (4, 4) with dT_Zk/dx = T_Zk D_Zk = D_Zk T_Zk and T_Zk = exp(D_Zk x).

    kind : 1 to 6, or 'Tx', 'Ty', 'Tz', 'Rx', 'Ry', 'Rz'. Raises UnknownNameError for anything else.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.formulations import elementary_motions
    >>> elementary_motions.elementary_operator("Rz")[:2, :2]
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    return packed(motion_operator(_number(kind)))


def _number(kind: Any) -> int:
    if kind in KINDS:
        return KINDS.index(kind) + 1
    if isinstance(kind, (int, np.integer)) and 1 <= kind <= len(KINDS):
        return int(kind)
    raise UnknownNameError("elementary motion", kind, (*KINDS, "1 to 6"))


# --- what the tree of the mechanism gives, as 4x4 matrices ----------------------------------------------------------


def placement_matrix(X: Transform) -> Matrix4:
    """[[R, p], [0, 1]]."""
    return Matrix4([*((*row, p) for row, p in zip(X.R.matrix(), X.p, strict=True)), (0, 0, 0, 1)])


def operator_of(s: Motion) -> Matrix4:
    """D = [[[omega]x, v], [0, 0]], the element of se(3) of a motion vector (omega; v)."""
    return Matrix4(
        [*((*row, v) for row, v in zip(s.angular.matrix(), s.linear, strict=True)), (0, 0, 0, 0)]
    )


def wrench_matrix(f: Force) -> Matrix4:
    """[[[n]x / 2, f], [0, 0]]: its trace with the operator of (omega; v) is the power n . omega + f
    . v.
    """
    return operator_of(Motion(f.moment * 0.5, f.force))


def pseudo_inertia(body: Inertia) -> Matrix4:
    """integral rho rho^T dm, rho = (x, y, z, 1): [[J, h], [h^T, m]] with second moments J and first
    moments h.
    """
    return Matrix4([*((*row, h) for row, h in zip(body.J, body.h, strict=True)), (*body.h, body.m)])


def carried(B: Matrix4, D: Matrix4) -> Matrix4:
    """B D B^-1 of an element D = (omega; v) of se(3): (R omega; R v + p x R omega)."""
    turn = Vector(B.times((D[2][1], D[0][2], D[1][0], 0))[:3])
    slide = Vector(B.times((*D.last_column, 0))[:3])
    return operator_of(Motion(turn, slide + B.last_column.cross(turn)))


def congruent(B: Matrix4, A: Matrix4) -> Matrix4:
    """B A B^T for a symmetric A, its upper half mirrored."""
    BA = B @ A
    upper = {(i, j): _dot(BA[i], B[j]) for i in range(4) for j in range(i, 4)}
    return Matrix4((upper[min(i, j), max(i, j)] for j in range(4)) for i in range(4))


def turned(B: Matrix4) -> Matrix4:
    """[[R, 0], [0, 1]] of B = [[R, p], [0, 1]]."""
    return Matrix4([*((*row[:3], 0) for row in B[:3]), (0, 0, 0, 1)])


def shift(d: Vector) -> Matrix4:
    """[[1, d], [0, 1]]."""
    return Matrix4([(1, 0, 0, d[0]), (0, 1, 0, d[1]), (0, 0, 1, d[2]), (0, 0, 0, 1)])


def about(d: Vector, D: Matrix4) -> Matrix4:
    """T^-1 D T with T = shift(d): the element (omega; v) about a point that is d away, (omega; v +
    omega x d).
    """
    moved = D.times((*d, 1))
    return Matrix4(
        [*((*row[:3], v) for row, v in zip(D[:3], moved[:3], strict=True)), (0, 0, 0, 0)]
    )
