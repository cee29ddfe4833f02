"""Kernels as a processor without AVX-512 would get them, on one that has it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from unittest.mock import patch

import numpy as np

from dalembert.codegen.program import STATUS, Program
from dalembert.native import kernel
from peers import Contender
from robots import States

NAME = "dalembert, AVX2 only"
LANES = 4  # doubles in a vector of AVX2


def wide() -> bool:
    """Whether kernels here use AVX-512."""
    return kernel.host()[0].lanes > LANES


def contender(program: Program, quantity: str, states: States) -> Contender:
    """The kernel of a program for AVX2 and fused multiply-add, called with the whole batch."""
    machine, features = kernel.host()
    with patch.object(kernel, "host", lambda: (replace(machine, lanes=LANES), narrowed(features))):
        made = kernel.Kernel.of(program)
    count = len(states.q)
    found = [np.empty((count, *port.shape)) for port in program.outputs]
    call = partial(made.run, states.inputs(quantity), found, count)
    results = [a for port, a in zip(program.outputs, found, strict=True) if port.name != STATUS]
    return Contender(NAME, "kernel for AVX2", call, lambda: results, count)


def narrowed(features: str) -> str:
    """LLVM's list of a processor's features without AVX-512 and what builds on it."""
    return ",".join(
        f"-{x[1:]}" if x.startswith(("+avx512", "+avx10")) else x for x in features.split(",")
    )
