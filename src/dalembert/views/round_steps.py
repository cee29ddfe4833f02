"""Round numbers 1, 2 and 5 times a power of ten: lengths, distances between lines, ticks of axes."""

from __future__ import annotations

import numpy as np

LEADING = (1, 2, 5, 10)
ROUNDING = 1e-9  # of a step, by which it may miss


def round_length(length: float) -> float:
    """The largest round number that is not above a length; 1 for a length of 0."""
    if not length > 0:
        return 1.0
    power = _power(length)
    return max(k * power for k in LEADING if k * power <= length * (1 + ROUNDING))


def round_step(extent: float, most: int) -> float:
    """The smallest round distance between lines of which at most `most` cross an extent."""
    least = extent / most if extent > 0 else 1.0
    power = _power(least)
    return next(k * power for k in LEADING if k * power >= least * (1 - ROUNDING))


def _power(x: float) -> float:
    """The power of ten at or below x."""
    return float(10.0 ** np.floor(np.log10(x) + ROUNDING))


def round_ticks(low: float, high: float, most: int) -> list[float]:
    """About `most` round values within a range.

    Examples
    --------
    >>> round_ticks(-0.3, 1.1, 4)
    [0.0, 0.5, 1.0]
    """
    step = round_step(high - low, most)
    first = int(np.ceil(low / step - ROUNDING))
    last = int(np.floor(high / step + ROUNDING))
    return [k * step for k in range(first, last + 1)]
