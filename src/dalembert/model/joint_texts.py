"""Entries and parameters of joints as texts, for tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dalembert.model.linkage import Linkage
from dalembert.model.parts import Joint


def entries_text(mechanism: Linkage, joint: Joint) -> str:
    """Numbers of the joint's entries in qd, counted from 0 as in Python; a follower's are in
    brackets, a fixed joint has none.
    """
    if joint.is_fixed:
        return ""
    at = mechanism.entries[joint.name].at_v
    shown = f"{at.start}" if len(at) == 1 else f"{at.start} to {at.stop - 1}"
    return shown if joint.mimic is None else f"({shown})"


def parameters_text(joint: Joint, number: Callable[[Any], str]) -> str:
    """The axis of a joint, and other parameters of its type by name; `number` writes a number."""
    parts = []
    for name in joint.type.parameters:
        value = getattr(joint.type, name)
        text = " ".join(map(number, value)) if isinstance(value, tuple) else number(value)
        parts.append(text if name == "axis" else f"{name.replace('_', ' ')} {text}")
    return ", ".join(parts)
