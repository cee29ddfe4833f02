"""Linear systems with the mass matrix as an array, the batch in front: to rows of scalars and back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dalembert.formulations.lagrange.geometry import Geometry
from dalembert.model import pivots
from dalembert.model.pivots import PivotCheck
from dalembert.model.tree import Tree
from dalembert.spatial import ldl
from dalembert.spatial.ldl import Factors


def factors_of(geometry: Geometry, D: np.ndarray) -> Factors:
    """Factors of the mass matrix D, (nv, nv) or (N, nv, nv).

    Raises SingularMassMatrixError, which names joint and body, where a pivot is no more than its
    rounding error.
    """
    return ldl.factorised(
        ldl.rows_of(D), PivotCheck.of_tree(geometry.tree, geometry.q, lambda: ldl.rows_of(D))
    )


def factorised(
    M: np.ndarray,
    joints: tuple[str, ...],
    bodies: tuple[str, ...],
    sizes: Callable[[], np.ndarray] | None = None,
) -> Factors:
    """Factors of another inertia M, (n, n) or (N, n, n), whose entries have these names in the
    error.

    `sizes` gives the sizes of the terms of the diagonal entries of M, by default these entries
    themselves.
    """
    return ldl.factorised(ldl.rows_of(M), PivotCheck.of_matrix(M, joints, bodies, sizes))


def solved(factors: Factors, b: np.ndarray) -> np.ndarray:
    """x (..., n, m) with M x = b (..., n, m)."""
    columns = zip(*ldl.rows_of(b), strict=True)
    rows = zip(*(ldl.solved(factors, column) for column in columns), strict=True)
    return ldl.stacked(list(rows)) if b.size else b


def entry_sizes(geometry: Geometry) -> np.ndarray:
    """Sizes of the terms of the diagonal entries of M, (nv,) or (N, nv)."""
    return pivots.stacked([pivots.sizes(geometry.tree, geometry.q)])[..., 0, :]


def entry_names(tree: Tree) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Joint and body of each entry of qd."""
    joints = {
        k: joint for joint in reversed(tree.joint[1:]) if not joint.is_follower for k in joint.dof
    }
    return tuple(joints[k].name for k in range(tree.nv)), tuple(
        joints[k].body for k in range(tree.nv)
    )
