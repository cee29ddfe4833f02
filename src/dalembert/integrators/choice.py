"""A choice over any scalar, and over arrays of conditions."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dalembert.expr import Expr
from dalembert.expr.entrywise import entrywise
from dalembert.expr.node import select


def chosen(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b: both are there already, so that nothing needs to be
    guarded.
    """
    if isinstance(condition, np.ndarray):
        return np.where(condition, a, b)
    if not isinstance(condition, Expr):
        return a if condition else b
    if (vector := entrywise(partial(select, condition), a, b)) is not None:
        return vector
    if isinstance(a, np.ndarray):
        return np.frompyfunc(lambda x, y: select(condition, x, y), 2, 1)(a, b)
    return select(condition, a, b)
