"""Warnings about beams that bend farther than their kinematics hold."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from dalembert.beams.shape_functions import TWIST
from dalembert.errors import (
    DalembertWarning,
    caller_level,
)
from dalembert.model.elastic.bending import Bending
from dalembert.model.linkage import Linkage
from dalembert.model.numbers import as_float
from dalembert.model.parts import Body

# Turns of cross-sections of an element [rad] up to which its centre line holds to some percent: a
# tangent without terms of the order n is wrong by theta^n / n!.
LIMITS = {"first_order": 0.3, "second_order": 0.8, "third_order": 1.2}
SINGULAR = 5.0  # rad; rotation vectors of several axes fail at a turn, 6.28 rad


def warn_of_turns(mechanism: Linkage, q: Any, where: str) -> None:
    """Warn if cross-sections of a beam turn farther against the start of their element than its
    kinematics hold, in states q (..., nq).
    """
    for body in mechanism.elastic_bodies:
        bending = body.bending
        assert bending is not None and body.beam is not None
        limit = _limit(bending)
        delta = np.asarray(q, dtype=float)[..., mechanism.body_entries[body.name].at_q]
        delta = delta.reshape(-1, body.elements, bending.count)
        length = as_float(body.beam.length) / body.elements
        turns = np.fmax.reduce(_turns(bending, delta, length), axis=0)  # NaN: no record
        worst = int(np.argmax(np.nan_to_num(turns)))
        if turns[worst] > limit:
            warnings.warn(
                _message(body, worst, float(turns[worst]), limit, where),
                DalembertWarning,
                stacklevel=caller_level(),
            )


def _limit(bending: Bending) -> float:
    """Largest turn of the cross-sections of an element [rad]."""
    if bending.kinematics in LIMITS:
        return LIMITS[bending.kinematics]
    resolved = float(len(bending.nodes.nodes))  # by the quadrature of the centre line
    return resolved if bending.axis is not None else min(resolved, SINGULAR)


def _turns(bending: Bending, delta: np.ndarray, length: float) -> np.ndarray:
    """Largest |theta| of each element in each state, (states, elements) [rad]."""
    along = [*bending.nodes.nodes, 1.0]
    square = np.zeros((*delta.shape[:2], len(along)))
    for direction in bending.turning:
        unit = np.array([bending.turns_by(direction, xi) for xi in along], dtype=float)
        turns = delta[..., bending.at[direction]] @ unit.T
        square += (turns if direction == TWIST else turns / length) ** 2
    return np.sqrt(square.max(axis=-1))


def _message(body: Body, element: int, turn: float, limit: float, where: str) -> str:
    bending = body.bending
    assert bending is not None
    which = f" element {element + 1} of {body.elements} of" if body.elements > 1 else ""
    parts = body.elements * max(2, int(np.ceil(turn / limit)))
    exact = ", or kinematics='exact'" if bending.kinematics in LIMITS else ""
    return (
        f"{where}:{which} body {body.name!r} bends by {turn:.2f} rad; kinematics "
        f"{bending.kinematics!r} with {bending.count} modes hold to {limit:g} rad. Use "
        f"elements={parts}{exact}."
    )
