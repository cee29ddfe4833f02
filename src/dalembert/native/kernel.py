"""Machine code of a program on this machine, by LLVM, which is imported when it is needed."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from dalembert.codegen.program import Program
from dalembert.codegen.targets.llvm import DOUBTFUL, FINE, Machine, assembly
from dalembert.codegen.targets.llvm.machine import ALIGNMENT
from dalembert.codegen.verifier import verify
from dalembert.native.once import once

SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
HELD_SIGNATURE = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
SIZE_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int64)
OPTIMISATION = 2  # of code generation; the graph is already simplified, and 3 gains nothing
QUICK = 0  # of long code: made 4 times as fast, and up to 1.9 times as slow
LONG = 8_000_000  # characters of assembly
SPLIT_FROM = 256  # states: below it handing a batch to a second thread costs more than it saves
SPLIT_LARGE_FROM = 32


@cache
def host() -> tuple[Machine, str]:
    """The target of kernels on this machine, and the processor's features for LLVM."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    lanes = 8 if features.get("avx512f") else 4 if features.get("avx") else 2
    fused = bool(features.get("fma")) or llvm.get_process_triple().startswith(("aarch64", "arm64"))
    return Machine(lanes, fused), features.flatten() + (",-prefer-256-bit" if lanes == 8 else "")


def machine_for(dtype: Any = np.float64, checked: bool = True) -> Machine:
    """The machine of kernels for some kind of numbers: twice as many single-precision numbers fit a
    vector.
    """
    machine, _ = host()
    if np.dtype(dtype) == np.float64:
        return replace(machine, checked=checked)
    return replace(machine, lanes=2 * machine.lanes, checked=checked, real="float")


def _target(is_long: bool = False) -> Any:
    """Target machine of this host."""
    import llvmlite.binding as llvm

    _, features = host()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=features,
        opt=QUICK if is_long else OPTIMISATION,
        reloc="pic",
        codemodel="small",
    )  # constants by short addresses: a third faster than the default for JIT


def object_code(program: Program, machine: Machine, calls: Sequence[str] | None = None) -> bytes:
    """Relocatable code of a program's kernel for this processor; calls: of its callbacks."""
    if program.block is None:  # a single block is as it was traced
        verify(program)
    return object_of_text(assembly(program, machine, calls))


def linked(code: bytes, *names: str) -> Any:
    """Object code in this process; `linked(...)[name]` is the address of a function. It lives as
    long as this object.

    JITLink puts code and constants side by side, so that short addresses reach them in a process of
    any size; LLVM's older linker, which Windows keeps, ends the process where they are 2 GB apart.
    """
    import llvmlite.binding as llvm

    host()
    library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
    for name in names:
        library.export_symbol(name)
    compiler = llvm.create_lljit_compiler(use_jit_link=sys.platform != "win32")
    return library.link(compiler, "code")


def object_of_text(text: str) -> bytes:
    """Relocatable code of some LLVM assembly."""
    import llvmlite.binding as llvm

    host()
    module = llvm.parse_assembly(text)
    module.triple = llvm.get_process_triple()
    return _target(len(text) > LONG).emit_object(module)


class Kernel:
    """Callable machine code; it lives as long as this object.

    held : it keeps the interpreter lock, and what is raised in it is raised by the call
    """

    def __init__(self, code: bytes, held: bool = False):
        sized = b"work_bytes" in code
        self._code = linked(code, "kernel", *(["work_bytes"] if sized else []))
        self.address: int = self._code["kernel"]
        self._call = (HELD_SIGNATURE if held else SIGNATURE)(self.address)
        self.work_bytes: int = SIZE_SIGNATURE(self._code["work_bytes"])() if sized else 0
        self._works = threading.local()

    @staticmethod
    def of(program: Program, checked: bool = True) -> Kernel:
        """The kernel of a program, compiled now."""
        return Kernel(object_code(program, machine_for(checked=checked)))

    def run(
        self,
        inputs: Sequence[np.ndarray],
        results: Sequence[np.ndarray],
        rows: int,
        threads: int = 1,
        extra: Sequence[int] = (),
    ) -> int:
        """Compute `rows` states from inputs (n,) or (N, n) into results, all with contiguous rows.

        An input without a batch axis, or with one row, serves all states; results of one state need
        no batch axis. `extra` numbers go to the kernel behind addresses and strides.

        Returns the first state of a block with an input that is not finite, or else DOUBTFUL if a
        result is not finite or a status not 0, or else FINE; the interpreter lock is released
        meanwhile.
        """
        strides = [a.strides[0] if a.ndim == 2 and len(a) > 1 else 0 for a in inputs]
        strides += [a.strides[0] if rows > 1 else 0 for a in results]
        arrays = zip([*inputs, *results], strides, strict=True)
        addresses = [(address_of(a), stride) for a, stride in arrays]
        parts = min(threads, max(1, rows // (SPLIT_LARGE_FROM if self.work_bytes else SPLIT_FROM)))
        if parts <= 1:
            return self._part(addresses, extra, 0, rows)
        ends = [rows * k // parts for k in range(parts + 1)]
        found = list(
            _pool(os.getpid()).map(
                lambda k: self._part(addresses, extra, ends[k], ends[k + 1]), range(parts)
            )
        )
        return next((row for row in found if row >= 0), DOUBTFUL if DOUBTFUL in found else FINE)

    def call(self, arguments: np.ndarray, rows: int) -> int:
        """`run` with addresses, strides and extra numbers that the caller has put together; not for
        kernels whose memory is the caller's.
        """
        return self._call(address_of(arguments), 0, rows)

    def _part(
        self, addresses: Sequence[tuple[int, int]], extra: Sequence[int], first: int, end: int
    ) -> int:
        """Compute some states; a kernel with a large memory is given this thread's, which is kept."""
        if self.work_bytes:
            if not hasattr(self._works, "array"):
                self._works.array = np.zeros(self.work_bytes + ALIGNMENT, dtype=np.uint8)
            address = address_of(self._works.array)
            addresses = [*addresses, (address + -address % ALIGNMENT, 0)]
        arguments = np.array([*(x for pair in addresses for x in pair), *extra], dtype=np.int64)
        return self._call(address_of(arguments), first, end)


def address_of(a: Any) -> int:
    """Address of an array's first number: of a writable one by a call that takes a quarter of the
    time.
    """
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(a))
    except (TypeError, ValueError, BufferError):
        return int(a.__array_interface__["data"][0])


@once
def _pool(process: int) -> ThreadPoolExecutor:
    """The pool of threads of a process: after a fork, the child makes its own."""
    return ThreadPoolExecutor(max_workers=os.cpu_count(), thread_name_prefix="dalembert")
