"""What the processor can do at most, and what a kernel asks of it."""

from __future__ import annotations

import ctypes
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np

from native import HERE, library

SINE_AND_COSINE = (
    41  # operations of both in codegen/targets/llvm/elementary.py: 16 multiply-adds, 9 others
)
NOT_COUNTED = (
    "constant",
    "input",
    "neg",
    "sin",
    "cos",
)  # a sign goes into the multiply-add that follows
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


def at_most(program: Any, states: int) -> dict[str, Callable[[], object]]:
    """What the processor would have to do for some states if it were held up by nothing else: as
    many operations at their peak rate, as many bytes copied, the results alone written. Called in
    turn with a kernel, they see the same machine.
    """
    loop, out = _loop(), np.empty(8)
    rounds = round(operations(program) * states / loop.multiply_adds(1, out.ctypes.data))
    numbers = sum(port.size for port in (*program.inputs, *program.outputs)) * states
    source, target = np.ones(numbers // 2), np.empty(numbers // 2)
    results = np.empty(sum(port.size for port in program.outputs) * states)
    return {
        "peak": lambda: loop.multiply_adds(rounds, out.ctypes.data),
        "copying": lambda: np.copyto(target, source),
        "writing": lambda: results.fill(1.0),
    }


def multiply_adds(threads: int) -> None:
    """The loop of the peak, cut in equal parts for so many threads: what the machine's processors
    give together.
    """

    def part(_: int) -> None:
        _loop().multiply_adds(PEAK_ROUNDS // threads, np.empty(8).ctypes.data)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(part, range(threads)))


def operations(program: Any) -> int:
    """Floating-point operations of a straight program for one state; sine and cosine of one angle are
    evaluated together.
    """
    code = program.block.code
    count = Counter(i.op for i in code)
    angles = {i.args[0] for i in code if i.op in ("sin", "cos")}
    return sum(n for op, n in count.items() if op not in NOT_COUNTED) + SINE_AND_COSINE * len(
        angles
    )
