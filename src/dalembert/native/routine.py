"""A program without goals as a function of arrays."""

from __future__ import annotations

import numpy as np

from dalembert.codegen.program import Program
from dalembert.native.kernel import Kernel
from dalembert.native.propagator import kernel_of

BYTES = 8  # of a number


class Routine:
    """A program compiled at its first call or from the cache, called with arrays."""

    def __init__(self, program: Program):
        self.program = program
        self._inputs = len(program.inputs)
        self._sizes = [r.size for r in (*program.inputs, *program.outputs)]
        self._ends = np.cumsum([0, *self._sizes]).tolist()
        # Arguments of the kernel for n lanes in one block: n times these, and the strides, and where
        # the block is.
        offsets = BYTES * np.array(self._ends[:-1])
        strides = BYTES * np.array(self._sizes)
        nothing = np.zeros_like(strides)
        self._places = np.array([*np.column_stack([offsets, nothing]).ravel(), 0, 0, 0])
        self._strides = np.array([*np.column_stack([nothing, strides]).ravel(), 0, 0, 1])
        self._base = np.array([1, 0] * len(strides) + [0, 0, 0])
        self._kernels: dict[bool, Kernel] = {}

    def __call__(self, *inputs: np.ndarray) -> list[np.ndarray]:
        """Results (n, size) of inputs (n, size), in their order; results of a lane do not depend on
        others.
        """
        n = len(inputs[0])
        if (n == 1) not in self._kernels:
            self._kernels[n == 1] = kernel_of(self.program, n == 1)
        block = np.empty(n * self._ends[-1])  # a single array: addresses are found in one go
        ends = self._ends
        parts = [
            block[n * at : n * to].reshape(n, to - at)
            for at, to in zip(ends, ends[1:], strict=False)
        ]
        for part, given in zip(parts, inputs, strict=False):
            part[:] = given
        kernel = self._kernels[n == 1]
        if kernel.work_bytes:
            kernel.run(
                parts[: self._inputs],
                parts[self._inputs :],
                n,
                extra=[0, 0, 1],
            )
        else:
            kernel.call(n * self._places + self._strides + block.ctypes.data * self._base, n)
        return parts[self._inputs :]
