"""Symbols to trace with, calls of programs that stay apart, and tracing without the garbage
collector.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from dalembert.expr import symbol

# The `tracing.trace.Trace` that traced code may have run programs of scans on vectors of expressions:
# it gets symbols that stand for the outputs.
outlined: ContextVar[Any] = ContextVar("outlined", default=None)


@contextmanager
def scans_in(trace: Any) -> Iterator[None]:
    """A block whose code may have programs of scans run in a trace."""
    token = outlined.set(trace)
    try:
        yield
    finally:
        outlined.reset(token)


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
