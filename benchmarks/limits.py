"""What the processor can do at most, and what a kernel asks of it."""

from __future__ import annotations

import ctypes
import time
from collections import Counter
from functools import cache
from typing import Any

import numpy as np

from native import HERE, library

SINE_AND_COSINE = 41      # operations of one evaluation of both in codegen/llvm/elementary.py: 16 multiply-adds, 9 others
NOT_COUNTED = ("constant", "input", "neg", "sin", "cos")      # a sign goes into the multiply-add that follows
PEAK_ROUNDS = 1_000_000


@cache
def _loop() -> ctypes.CDLL:
    found = library((HERE / "limits.c",))
    found.multiply_adds.restype = ctypes.c_double
    found.multiply_adds.argtypes = [ctypes.c_long, ctypes.c_void_p]
    return found


def peak_operations() -> float:
    """Operations per second of a loop of multiply-adds in registers, the best of some runs."""
    loop, out, found = _loop(), np.empty(8), 0.0
    for _ in range(7):
        start = time.perf_counter()
        done = loop.multiply_adds(PEAK_ROUNDS, out.ctypes.data)
        found = max(found, done / (time.perf_counter() - start))
    return found


@cache
def copy_bandwidth(size: int) -> float:
    """Bytes read and written per second by copying arrays of this many bytes altogether, the best of some runs."""
    source, target = np.ones(size // 16), np.empty(size // 16)
    copies, found = max(4, 20_000_000 // size), 0.0
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(copies):
            np.copyto(target, source)
        found = max(found, copies * (source.nbytes + target.nbytes) / (time.perf_counter() - start))
    return found


def operations(program: Any) -> int:
    """Floating-point operations of a program for one state; sine and cosine of one angle are evaluated together."""
    count = Counter(i.op for i in program.code)
    angles = {i.args[0] for i in program.code if i.op in ("sin", "cos")}
    return sum(n for op, n in count.items() if op not in NOT_COUNTED) + SINE_AND_COSINE * len(angles)
