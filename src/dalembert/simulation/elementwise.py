"""Choices entry by entry, of vectors of floats or of expressions, as NumPy has them for floats."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from dalembert.expr import array
from dalembert.integrators.choice import chosen

less: Any = np.frompyfunc(operator.lt, 2, 1)  # (a, b) -> a < b
at_most: Any = np.frompyfunc(operator.le, 2, 1)  # (a, b) -> a <= b
_chosen = np.frompyfunc(chosen, 3, 1)


def where(condition: Any, a: Any, b: Any) -> Any:
    """a where a condition holds, else b."""
    entries = _chosen(condition, a, b)
    return array(entries) if isinstance(entries, np.ndarray) else entries
