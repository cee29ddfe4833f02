"""Symbols to trace with, calls of programs that stay apart, and tracing without the garbage
collector.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from dalembert.expr import symbol

# While it is set, code that is traced may have a program of scans called with vectors of expressions:
# it gets symbols that stand for the outputs.
outlined: ContextVar[Callable[..., list[np.ndarray]] | None] = ContextVar("outlined", default=None)


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
