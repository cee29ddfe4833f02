"""Machine code of a program on this machine, by LLVM."""

from __future__ import annotations

import ctypes
import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from dalembert.codegen.llvm import Machine, assembly
from dalembert.codegen.program import Program

SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
OPTIMISATION = 2        # of code generation; the graph is already simplified, and 3 gains nothing
SPLIT_FROM = 256        # states: below it handing a batch to a second thread costs more than it saves


@cache
def host() -> tuple[Machine, str]:
    """What kernels are made for on this machine, and the processor's features for LLVM."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    lanes = 8 if features.get("avx512f") else 4 if features.get("avx") else 2
    fused = bool(features.get("fma")) or llvm.get_process_triple().startswith(("aarch64", "arm64"))
    return Machine(lanes, fused), features.flatten() + (",-prefer-256-bit" if lanes == 8 else "")


def _engine(text: str) -> Any:
    """Execution engine with the code of a module; it owns its target machine, so each has its own."""
    triple = llvm.get_process_triple()
    module = llvm.parse_assembly(text)
    module.triple = triple
    target = llvm.Target.from_triple(triple).create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=host()[1], opt=OPTIMISATION,
        reloc="pic", codemodel="small")      # constants by short addresses: a third faster than the default for JIT
    engine = llvm.create_mcjit_compiler(module, target)
    engine.finalize_object()
    return engine


class Kernel:
    """Callable machine code; it lives as long as this object."""

    def __init__(self, program: Program, finite_inputs: bool = True):
        machine, _ = host()
        self.program = program
        self._engine = _engine(assembly(program, Machine(machine.lanes, machine.fused, finite_inputs)))
        self._call = SIGNATURE(self._engine.get_function_address("kernel"))

    def run(self, arrays: list[np.ndarray], rows: int, threads: int = 1) -> int:
        """Compute `rows` states from and into arrays (inputs, then outputs) with contiguous rows.

        An array without a batch axis, or with one row, serves all states. Returns the first state with an input that
        is not finite (of its block), or -1; the interpreter lock is released meanwhile.
        """
        arguments = np.empty((len(arrays), 2), dtype=np.int64)
        for k, a in enumerate(arrays):
            many = a.ndim and a.shape[0] == rows and rows > 1
            arguments[k] = a.ctypes.data, a.strides[0] if many else 0
        address = arguments.ctypes.data
        parts = min(threads, max(1, rows // SPLIT_FROM))
        if parts <= 1:
            return self._call(address, 0, rows)
        ends = [rows * k // parts for k in range(parts + 1)]
        found = list(_pool(os.getpid()).map(lambda k: self._call(address, ends[k], ends[k + 1]), range(parts)))
        return next((row for row in found if row >= 0), -1)


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The pool of threads of a process: after a fork, the child makes its own."""
    return ThreadPoolExecutor(max_workers=os.cpu_count(), thread_name_prefix="dalembert")
