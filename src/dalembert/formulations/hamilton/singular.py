"""When the momenta do not determine the velocities: pivots of the exact solution that are not positive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.errors import SingularMassMatrixError
from dalembert.expr import Expr
from dalembert.spatial.vectors import Scalar

ROUNDING = 16 * np.finfo(float).eps      # a pivot below this part of its diagonal entry of A is rounding error
SUSPICIOUS = 1e-6                        # of the scale: only below it is the diagonal entry worth forming


def check_pivot(joint: str, body: str, pivot: Scalar, scale: Scalar, diagonal: Callable[[], Scalar]) -> None:
    """Raise if a pivot is not positive within rounding of its diagonal entry of A; expressions are not checked."""
    if isinstance(pivot, Expr) or isinstance(scale, Expr) or np.all(np.asarray(pivot > SUSPICIOUS * scale)):
        return
    bad = np.atleast_1d(~np.asarray(pivot > ROUNDING * abs(diagonal())))
    if bad.any():
        row = int(np.argmax(bad)) if bad.size > 1 else None
        raise singular(joint, body, float(np.broadcast_to(pivot, bad.shape)[row or 0]), row)


def singular(joint: str, body: str, pivot: Any, row: int | None = None) -> SingularMassMatrixError:
    """The error that names joint and body."""
    where = f" in row {row}" if row is not None else ""
    return SingularMassMatrixError(
        f"joint {joint!r}{where}: the inertia of body {body!r} and what it carries about this joint is {pivot:.3g}, not "
        "positive, so its velocity is not determined by the momenta. Give the body an inertia (or the joint a rotor "
        "inertia), or fix the joint.", joint, body, pivot, row)
