"""Machine code of a program on this machine, by LLVM."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
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


def _target() -> Any:
    """Target machine of this host; an engine owns the one it is given, so each gets its own."""
    _, features = host()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=OPTIMISATION,
        reloc="pic", codemodel="small")      # constants by short addresses: a third faster than the default for JIT


def object_code(program: Program, machine: Machine) -> bytes:
    """Relocatable code of a program's kernel for this processor."""
    module = llvm.parse_assembly(assembly(program, machine))
    module.triple = llvm.get_process_triple()
    return _target().emit_object(module)


def _engine(code: bytes) -> Any:
    """Execution engine that holds object code."""
    empty = llvm.parse_assembly("")
    empty.triple = llvm.get_process_triple()
    engine = llvm.create_mcjit_compiler(empty, _target())
    engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def compiled_text(text: str) -> Any:
    """Execution engine with the code of some LLVM assembly."""
    host()
    module = llvm.parse_assembly(text)
    module.triple = llvm.get_process_triple()
    return _engine(_target().emit_object(module))


class Kernel:
    """Callable machine code; it lives as long as this object."""

    def __init__(self, code: bytes):
        self._engine = _engine(code)
        self.address: int = self._engine.get_function_address("kernel")
        self._call = SIGNATURE(self.address)

    @staticmethod
    def of(program: Program, finite_inputs: bool = True) -> Kernel:
        """The kernel of a program, compiled now."""
        machine, _ = host()
        return Kernel(object_code(program, Machine(machine.lanes, machine.fused, finite_inputs)))

    def run(self, inputs: Sequence[np.ndarray], results: Sequence[np.ndarray], rows: int, threads: int = 1) -> int:
        """Compute `rows` states from inputs (n,) or (N, n) into results, all with contiguous rows.

        An input without a batch axis, or with one row, serves all states; results of one state need no batch axis.
        Returns the first state with an input that is not finite (of its block), or -1; the interpreter lock is
        released meanwhile.
        """
        strides = [a.strides[0] if a.ndim == 2 and len(a) > 1 else 0 for a in inputs]
        strides += [a.strides[0] if rows > 1 else 0 for a in results]
        arguments = np.array([(a.ctypes.data, s) for a, s in zip([*inputs, *results], strides, strict=True)], dtype=np.int64)
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
