"""Placements and Jacobians of frames in closed form: "placement:tool", "jacobian:tool",
"jacobian:tool:local".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import UnknownNameError
from dalembert.kinematics.jacobians import jacobian
from dalembert.kinematics.poses import placement
from dalembert.model.mechanism import Mechanism

AXES = ("aligned", "local", "world")


class Framed(NamedTuple):
    """A quantity of a frame."""

    kind: str
    frame: str
    axes: str


def framed(mechanism: Mechanism, quantity: str) -> Framed | None:
    """The quantity of a frame that a name stands for; None if it is none.

    Raises
    ------
    UnknownNameError
        The frame is not one of the mechanism's, or none is named.
    """
    kind, _, place = quantity.partition(":")
    if kind not in ("placement", "jacobian"):
        return None
    if not place:
        raise UnknownNameError(
            "quantity", quantity, tuple(f"{kind}:{name}" for name in mechanism.frame_names)
        )
    frame, _, axes = place.rpartition(":")
    if place in mechanism.frame_names or kind == "placement" or not frame:
        frame, axes = place, AXES[0]
    if frame not in mechanism.frame_names:
        raise UnknownNameError("frame", frame, mechanism.frame_names)
    if axes not in AXES:
        raise UnknownNameError("axes", axes, AXES)
    return Framed(kind, frame, axes)


def described(mechanism: Mechanism, quantity: str) -> tuple[str, str] | None:
    """Title and letter of a quantity of a frame: T of the frame, J of the frame."""
    found = framed(mechanism, quantity)
    if found is None:
        return None
    kind, frame, axes = found
    if kind == "placement":
        return f"Placement of {frame}", f"T:{frame}"
    seen = "" if axes == AXES[0] else f", {axes}"
    return f"Jacobian of {frame}, angular rows first, in {axes} axes", f"J:{frame}{seen}"


def numbers(mechanism: Mechanism, q: Any, quantity: str) -> np.ndarray:
    """A quantity of a frame for numbers or expressions q."""
    found = framed(mechanism, quantity)
    assert found is not None
    kind, frame, axes = found
    return (
        placement(mechanism, q, frame)
        if kind == "placement"
        else jacobian(mechanism, q, frame, axes)
    )
