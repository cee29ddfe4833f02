"""Other engines, each called in its own fastest way; results come back in this package's
conventions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Contender(NamedTuple):
    """One way to compute a quantity for the first `states` states: `call` does it, `result` is what
    it left, as this package has it.
    """

    name: str
    how: str
    call: Callable[[], object]
    result: Callable[[], list[np.ndarray]]
    states: int


def address(a: np.ndarray) -> int:
    """Where the entries of a row-major array of doubles begin."""
    assert a.dtype == np.float64 and a.flags.c_contiguous
    return a.ctypes.data


def difference(ours: list[np.ndarray], theirs: list[np.ndarray]) -> float:
    """Largest difference of any entry, relative to the largest entry of the same matrix in the same
    state.
    """
    worst = 0.0
    for a, b in zip(ours, theirs, strict=True):
        a, b = a[: len(b)].reshape(len(b), -1), b.reshape(len(b), -1)
        worst = max(worst, float(np.max(np.abs(a - b).max(1) / np.abs(b).max(1))))
    return worst
