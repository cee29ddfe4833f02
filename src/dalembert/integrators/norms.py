"""Sums and greatest entries of vectors of any scalar."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from dalembert.expr import absolute, maximum
from dalembert.expr.entrywise import Entrywise


def total(v: Any) -> Any:
    """Sum of the entries, from the first to the last."""
    return v.total() if isinstance(v, Entrywise) else sum(v)


def largest(v: Any) -> Any:
    """Greatest absolute value of the entries."""
    if isinstance(v, Entrywise):
        return v.largest()
    return reduce(maximum, absolute(v)) if v.dtype == object else np.abs(v).max()
