"""Symbols to trace with, and tracing without the garbage collector."""

from __future__ import annotations

import gc
from contextlib import contextmanager

import numpy as np

from dalembert.expr import symbol


def vector_of_symbols(name: str, n: int) -> np.ndarray:
    """Symbols that no symbol of a mechanism can be taken for."""
    out = np.empty(n, dtype=object)
    out[:] = [symbol(f"input {name}[{k}]") for k in range(n)]
    return out


@contextmanager
def without_collection():
    """Tracing makes many objects and no cycles that are garbage before it ends."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
