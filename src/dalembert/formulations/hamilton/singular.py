"""When the momenta do not determine the velocities: pivots of the exact solution that are not
positive.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dalembert.expr import Expr
from dalembert.model.pivots import ROUNDING, refuse
from dalembert.spatial.vectors import Scalar

SUSPICIOUS = 1e-6  # of the scale: only below it is the diagonal entry of A worth forming


def check_pivot(
    joint: str, body: str, pivot: Scalar, scale: Scalar, diagonal: Callable[[], Scalar]
) -> None:
    """Raise if a pivot is not positive within rounding of its diagonal entry of A; expressions are
    not checked.
    """
    if not (
        isinstance(pivot, Expr)
        or isinstance(scale, Expr)
        or np.all(np.asarray(pivot > SUSPICIOUS * scale))
    ):
        refuse(
            ~np.asarray(pivot > ROUNDING * abs(diagonal())),
            pivot,
            joint,
            body,
            "its velocity is not determined by the momenta",
        )
