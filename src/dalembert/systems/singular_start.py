"""Singular positions at states of floats, where rows of constraints depend on each other and not
beside them: in which runs begin, or at which they end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.errors import ConstraintError

BESIDE = 1e-3  # of coordinates: a position near by, in which rows are independent as usual
CORRECTIONS = 5  # of such a position towards the constraints
STATES = 3  # positions near by that are looked at
ALONG = 1e-6  # [s] along the velocities, over which the change of the rows is measured
NEARLY = 1e-2  # of a run that cannot go on: rows as close to dependent as this are named
NOTHING = 1e-6  # of the largest singular value: directions without one of more are free


def check_start(rows: Any, q: np.ndarray, qd: np.ndarray, t: float) -> None:
    """Raise a ConstraintError where several motions begin at a state of floats.

    In a singular position J has fewer independent rows than beside it. With J v = 0, velocities of a
    motion through it meet w^T J' v = 0 too, for each w^T J = 0: if these rows make up for those that
    J lacks, only one motion has these velocities.
    """
    rank = rows.rank(q, qd, t)
    if rank == len(rows.labels) or not rows.holonomic:
        return
    if rows.rank(_anywhere(rows, q), qd, t) == rank:
        return
    usual = max(rows.rank(beside, qd, t) for beside in _beside(rows, q, t))
    if usual <= rank:
        return
    J = _jacobian(rows, q, qd, t)
    left, values, _ = np.linalg.svd(J)
    lacking = left[:, int((values > NOTHING * values[0]).sum()) :]
    ahead, behind = (rows.system.integrate(q, way * qd) for way in (ALONG, -ALONG))
    change = _jacobian(rows, ahead, qd, t) - _jacobian(rows, behind, qd, t)
    moving = np.vstack([J, lacking.T @ change / (2 * ALONG)])
    if np.linalg.matrix_rank(moving, tol=NOTHING * values[0]) < usual:
        raise _undetermined(rows, q, t, lacking, (rank, usual))


def near_by(rows: Any, q: np.ndarray, qd: np.ndarray, t: float) -> str:
    """Sentences about rows that nearly follow from others at a state, and do not everywhere; empty: none."""
    pivots = [
        np.asarray(_response(rows, beside, qd, t).mobility.inverse_pivots, dtype=float)
        for beside in _beside(rows, q, t)
    ]
    usual = np.flatnonzero(max(pivots, key=np.count_nonzero))
    if not len(usual):
        return ""
    here = _response(rows, q, qd, t)
    sizes = np.maximum(np.asarray(here.scales, dtype=float)[usual], np.finfo(float).tiny)
    J = here.rows.jacobian.astype(float)[usual] / np.sqrt(sizes)[:, None]
    mobility = J @ np.array([here.inertia.solved(row) for row in J.tolist()]).T
    values, vectors = np.linalg.eigh(mobility)
    lost = int((values < NEARLY).sum())
    if not lost:
        return ""
    shares = np.abs(vectors[:, 0])
    names = [rows.labels[k] for k in usual]
    first = names[int(np.flatnonzero(shares > 0.99 * shares.max())[-1])]
    sharing = [name for name, share in zip(names, shares, strict=True) if share > 0.1]
    return (
        f" There the constraint {first!r} nearly follows from others. At {_position(rows.system, q)} "
        f"rows are near the rank {len(usual) - lost}, elsewhere {len(usual)} "
        f"({', '.join(sharing[:6])}): a singular position."
    )


def _response(rows: Any, q: np.ndarray, qd: np.ndarray, t: float) -> Any:
    return rows.response(rows.inertia(q, t), rows.rates(q, qd, t))


def _position(system: Any, q: np.ndarray) -> str:
    """Coordinates of a position by name."""
    named = zip(system.coordinate_names[:6], q.tolist(), strict=False)
    return ", ".join(f"{name} = {value:.4g}" for name, value in named)


def _jacobian(rows: Any, q: np.ndarray, qd: np.ndarray, t: float) -> np.ndarray:
    return rows.rates(q, qd, t).jacobian.astype(float)  # type: ignore[no-any-return]


def _anywhere(rows: Any, q: np.ndarray) -> np.ndarray:
    """A random position, in which as many rows are independent as in any."""
    change = np.random.default_rng(1).normal(size=rows.system.nv)
    return np.asarray(rows.system.integrate(q, change))


def _beside(rows: Any, q: np.ndarray, t: float) -> list[np.ndarray]:
    """Positions near by that meet the constraints."""
    rest = np.zeros(rows.system.nv)
    random = np.random.default_rng(0)
    _, values, right = np.linalg.svd(_jacobian(rows, q, rest, t))
    free = right[int((values > NOTHING * values[0]).sum()) :]
    found = []
    for _ in range(STATES if len(free) else 0):
        direction = random.normal(size=len(free)) @ free
        beside = rows.system.integrate(q, BESIDE * direction / np.abs(direction).max())
        for _ in range(CORRECTIONS):
            beside, _ = rows.projected(beside, rest, t, 1)
        found.append(beside)
    return found or [q]


def _undetermined(
    rows: Any, q: np.ndarray, t: float, lacking: np.ndarray, ranks: tuple[int, int]
) -> ConstraintError:
    """The error of a start from which several motions begin."""
    system = rows.system
    shares = np.abs(lacking).max(axis=1)
    names = [name for name, share in zip(rows.labels, shares, strict=True) if share > 0.1]
    rank, usual = ranks
    return ConstraintError(
        f"the motion of {system.name!r} is not determined from t = {t:g} s on: at "
        f"{_position(system, q)} its "
        f"rows have the rank {rank}, beside this singular position {usual}, and several motions "
        f"begin with these velocities (rows {', '.join(names[:6])}). Begin beside it, or with "
        "velocities along one of them.",
        names[0],
        rank,
    )
