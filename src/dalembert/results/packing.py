"""States as JSON that gives every number back to the last bit."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np


def packed(state: Any) -> Any:
    """A state as JSON that gives every number back to the last bit."""
    if isinstance(state, dict):
        return {name: packed(value) for name, value in state.items()}
    if isinstance(state, (list, tuple)):
        return [packed(value) for value in state]
    if isinstance(state, (np.ndarray, np.generic)):
        array = np.asarray(state)
        return {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "bytes": base64.b64encode(array.tobytes()).decode(),
        }
    return state


def unpacked(data: Any) -> Any:
    """The value that was packed; tuples as lists."""
    if isinstance(data, list):
        return [unpacked(value) for value in data]
    if isinstance(data, dict):
        if data.keys() == {"dtype", "shape", "bytes"}:
            array = np.frombuffer(base64.b64decode(data["bytes"]), np.dtype(data["dtype"]))
            return array.reshape(data["shape"]).copy()
        return {name: unpacked(value) for name, value in data.items()}
    return data
