"""Postures that follow a slider: loops stay closed, as the coordinate that is moved is held."""

from __future__ import annotations

import warnings

import numpy as np

from dalembert.analysis.loop_closing import assemble
from dalembert.errors import DalembertError
from dalembert.model.mechanism import Mechanism
from dalembert.views.viewer.panels.coordinate_controls import SliderCoordinate

STEP = 0.1  # rad or m, in which a coordinate of a loop is moved, so that it stays on its branch


def moved(
    mechanism: Mechanism, q: np.ndarray, coordinate: SliderCoordinate, value: float
) -> tuple[np.ndarray, bool]:
    """Coordinates (nq,) with another value of one, in the slider's unit; loops are closed.

    Returns the farthest posture on the way where the loops close, and whether that is the end.
    """
    if not mechanism.constraints:
        return coordinate.put(q, value), True
    begin = coordinate.exact(q)
    steps = max(1, int(np.ceil(abs(value - begin) * coordinate.factor / STEP)))
    for part in np.linspace(begin, value, steps + 1)[1:]:
        following = _closed(mechanism, coordinate.put(q, float(part)), coordinate)
        if following is None:
            return q, False
        q = following
    return q, True


def _closed(mechanism: Mechanism, q: np.ndarray, coordinate: SliderCoordinate) -> np.ndarray | None:
    held = (coordinate.holder,) if coordinate.group != "deflections" else ()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(assemble(mechanism, q, fixed=held), dtype=float)
    except (DalembertError, ValueError, ArithmeticError):
        return None
