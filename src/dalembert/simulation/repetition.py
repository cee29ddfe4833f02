"""Loops of a step that is written over any scalar: run on numbers, or traced into a routine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dalembert.expr import maximum
from dalembert.tracing.trace import Trace

Vectors = Sequence[Any]
Step = Callable[
    ..., tuple[Vectors, Any]
]  # (*vectors) -> the next ones, and 1 where they are the last
Repeat = Callable[
    [Step, Vectors, int], Vectors
]  # (step, the first vectors, most steps) -> the last vectors


def repeated(step: Step, vectors: Vectors, most: int) -> Vectors:
    """The vectors after as many steps as are needed, on numbers."""
    for _ in range(most):
        vectors, over = step(*vectors)
        if over > 0:
            break
    return vectors


def traced(trace: Trace) -> Repeat:
    """`repeated` as a loop of a routine.

    Lanes wait for each other: a step from vectors that are the last must lead to the same vectors.
    """

    def repeat(step: Step, vectors: Vectors, most: int) -> Vectors:
        """The loop of the steps, in the trace."""
        names, registers = zip(*(trace.new("vector", len(v)) for v in vectors), strict=True)
        over_name, (over,) = trace.new("over", 1)
        trace.give(dict(zip(names, vectors, strict=True)) | {over_name: [0.0]})
        with trace.loop(over_name, most):
            following, last = step(*registers)
            trace.give(
                dict(zip(names, following, strict=True)) | {over_name: [maximum(over, last)]}
            )
        return registers

    return repeat
