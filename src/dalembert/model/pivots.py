"""When the equations of motion do not determine the accelerations: pivots that are not positive."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import numpy as np

from dalembert.errors import SingularMassMatrixError
from dalembert.expr import Expr, evaluate
from dalembert.model.tree import Tree
from dalembert.spatial.vectors import Scalar

ROUNDING = 16 * np.finfo(float).eps      # a pivot below this part of its diagonal entry of M is rounding error

guards: ContextVar[list[tuple[int, Expr]] | None] = ContextVar("guards", default=None)


def guard(k: int, pivot: Expr) -> None:
    """Hand on a pivot of entry k in qd, which must be positive for the accelerations to be determined."""
    if (collected := guards.get()) is not None:
        collected.append((k, pivot))


def check_pivot(tree: Tree, k: int, pivot: Scalar, diagonal: Scalar) -> None:
    """Raise if a pivot is not positive within rounding; k is its entry in qd, `diagonal` that entry of M.

    Expressions, whose values are not known, are handed to `guards` where there are any.
    """
    pivot, diagonal = _number(pivot), _number(diagonal)
    if isinstance(pivot, Expr):
        guard(k, pivot)
        return
    if isinstance(diagonal, Expr):
        diagonal = 0.0                                        # unknown: only a pivot that is not positive is refused
    bad = np.asarray(pivot) <= ROUNDING * np.abs(np.asarray(diagonal))
    if bad.any():
        joint = next(j for j in tree.joint[1:] if k in j.dof and not j.is_follower)
        refuse(bad, pivot, joint.name, joint.body)


def refuse(bad: Any, pivot: Scalar, joint: str, body: str, consequence: str = "its acceleration is not determined") -> None:
    """Raise if a pivot is bad, in a batch with its first bad row; joint and body are those it belongs to."""
    bad = np.atleast_1d(bad)
    if not bad.any():
        return
    row = int(np.argmax(bad)) if bad.size > 1 else None
    value = float(np.broadcast_to(pivot, bad.shape)[row or 0])
    where = f" in row {row}" if row is not None else ""
    raise SingularMassMatrixError(
        f"joint {joint!r}{where}: the inertia of body {body!r} and what it carries about this joint is {value:.3g}, not "
        f"positive, so {consequence}. Give the body an inertia (or the joint a rotor inertia), or fix the joint.",
        joint, body, value, row)


def _number(x: Scalar) -> Scalar:
    """The value of a constant expression; anything else as it is."""
    return float(evaluate(x)) if isinstance(x, Expr) and x.op in ("exact", "float") else x
