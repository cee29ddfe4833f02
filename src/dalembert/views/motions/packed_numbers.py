"""Points and placements of pages as whole numbers of 16 bits in base64, which scripts unpack."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np

STEPS = 2**16 - 1  # across the range of a column


def packed(rows: np.ndarray) -> dict[str, Any]:
    """Rows (..., n) in steps of each column from its least value, which are 1/65535 of its range;
    rounding is within half of a step.

    Examples
    --------
    >>> import numpy as np
    >>> found = packed(np.array([[0.0, 2.0], [131.07, 2.0]]))
    >>> found["shape"], found["low"], [round(step, 6) for step in found["step"]], found["steps"]
    ([2], [0.0, 2.0], [0.002, 1.0], 'AAAAAP//AAA=')
    """
    columns = rows.reshape(-1, rows.shape[-1]) if rows.size else np.zeros((1, rows.shape[-1]))
    low = columns.min(axis=0)
    step = np.ptp(columns, axis=0) / STEPS
    step[step == 0] = 1.0
    return {
        "shape": list(rows.shape[:-1]),
        "low": low.tolist(),
        "step": step.tolist(),
        "steps": whole_numbers(np.rint((rows - low) / step)),
    }


def whole_numbers(numbers: np.ndarray) -> str:
    """Whole numbers from 0 to 2^16 - 1 as text."""
    return b64encode(numbers.astype("<u2").tobytes()).decode()
