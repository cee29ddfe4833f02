"""Mechanisms with numbers to draw: symbols stand for 1."""

from __future__ import annotations

import numpy as np

from dalembert.model.magnitudes import check_magnitudes
from dalembert.model.mechanism import (
    Mechanism,
    without_warnings,
)
from dalembert.model.numbers import as_float
from dalembert.model.origins import Origin

SYMBOL = 1.0  # [m, kg, ...], of each symbol in a picture


def with_numbers(mechanism: Mechanism) -> Mechanism:
    """The mechanism with `SYMBOL` for each of its symbols.

    Raises
    ------
    OverflowedError
        It has numbers that are too large for a picture.
    """
    check_magnitudes(mechanism, "drawn")
    if not mechanism.symbols:
        return mechanism
    with without_warnings():
        return mechanism.replace(dict.fromkeys(mechanism.symbols, SYMBOL))


def pose_of(origin: Origin) -> np.ndarray:
    """Pose (4, 4) of a constant placement without symbols."""
    transform = origin.transform(as_float)
    pose = np.eye(4)
    pose[:3, :3] = np.array(transform.R.matrix(), dtype=float)
    pose[:3, 3] = np.array(transform.p, dtype=float)
    return pose


def numbers_of(values: tuple[object, ...]) -> np.ndarray:
    """Numbers without symbols as an array of floats."""
    return np.array([as_float(x) for x in values], dtype=float)
