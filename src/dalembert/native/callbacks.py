"""Calls of Python functions from a program: machine code that hands over numbers and takes what comes
back.

The function is given a float and fresh arrays, which it may keep. A vector of doubles of the right
length is read where it is; anything else goes through a Python function that converts it or raises.
The interpreter lock is held all the time: such kernels are called through `ctypes.PYFUNCTYPE`,
which raises what a function raised.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dalembert.codegen.program import Callback, Program
from dalembert.codegen.targets.llvm.items import OUTSIDE, RAISED
from dalembert.native.builtin import (
    ALIGNED,
    AXES,
    DATA,
    DTYPE,
    FLAGS,
    SHAPE,
    STRIDES,
    TYPE,
    FunctionBody,
)

DECLARED = (
    "ptr @PyFloat_FromDouble(double)",
    "void @Py_DecRef(ptr)",
    "ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)",
)
SPARE = -(
    2**63
)  # flag: the place before the arguments may be used (PY_VECTORCALL_ARGUMENTS_OFFSET)
COMMON, EACH = (
    3,
    8,
)  # objects: type, dtype, empty; per function itself, its converter, length and dtype of 3 vectors

Function = tuple[
    Callable[..., Any], Callable[[Any], np.ndarray]
]  # and what converts its result, or raises


class Outside:
    """The objects that calls need, in the order of their functions' numbers; they live as long as
    this.
    """

    def __init__(self, program: Program, functions: Sequence[Function]):
        lengths = {c.function: [r.size for r in c.takes[1:]] for c in program.callbacks}
        objects: list[Any] = [np.ndarray, np.dtype(float), np.empty]
        for number, (function, convert) in enumerate(functions):
            arguments = [x for length in lengths[number] for x in (length, objects[1])]
            objects += [function, convert, *arguments, *[None] * (EACH - 2 - len(arguments))]
        self._objects = objects
        self._table = (ctypes.c_void_p * len(objects))(*map(id, objects))
        self.address = ctypes.addressof(self._table)


def definitions(program: Program) -> list[str]:
    """LLVM assembly of the program's callbacks, and what they call."""
    callbacks = program.callbacks
    return [
        *(f"declare {d}" for d in DECLARED if callbacks),
        *(_definition(program.size, k, callback) for k, callback in enumerate(callbacks)),
    ]


def _definition(end: int, number: int, call: Callback) -> str:
    """void call<number>(ptr scratch), of one lane, whose memory ends at a place."""
    body, m = FunctionBody(), len(call.takes)
    raised = body.put(f"getelementptr inbounds double, ptr %scratch, i64 {end + RAISED}")
    body.expect("i64", body.put(f"load i64, ptr {raised}, align 8"), "0", "done")
    objects = body.field("%scratch", 8 * (end + OUTSIDE), "ptr")
    empty, own = body.field(objects, 16, "ptr"), COMMON + EACH * call.function
    function, convert = (body.field(objects, 8 * k, "ptr") for k in (own, own + 1))
    body.lines += [f"  store ptr null, ptr {_argument(body, k)}, align 8" for k in range(m)]
    t = body.field("%scratch", 8 * call.takes[0].start, "double")
    _own(body, 0, f"call ptr @PyFloat_FromDouble(double {t})")
    for k, register in enumerate(call.takes[1:], 1):
        size = body.put(f"getelementptr inbounds ptr, ptr {objects}, i64 {own + 2 * k}")
        array = _own(
            body, k, f"call ptr @PyObject_Vectorcall(ptr {empty}, ptr {size}, i64 2, ptr null)"
        )
        data = body.field(array, DATA, "ptr")
        for entry, place in enumerate(range(register.start, register.stop)):
            x, to = (
                body.field("%scratch", 8 * place, "double"),
                body.put(f"getelementptr double, ptr {data}, i64 {entry}"),
            )
            body.lines.append(f"  store double {x}, ptr {to}, align 8")
    found = body.put(
        f"call ptr @PyObject_Vectorcall(ptr {function}, ptr {_argument(body, 0)}, i64 {SPARE + m}, "
        "ptr null)"
    )
    body.unless(body.put(f"icmp ne ptr {found}, null"), "failed")
    body.expect("ptr", body.field(found, TYPE, "ptr"), body.field(objects, 0, "ptr"), "convert")
    body.expect("ptr", body.field(found, DTYPE, "ptr"), body.field(objects, 8, "ptr"), "convert")
    body.expect(
        "i32",
        body.put(f"and i32 {body.field(found, FLAGS, 'i32')}, {ALIGNED}"),
        str(ALIGNED),
        "convert",
    )
    body.expect("i32", body.field(found, AXES, "i32"), "1", "convert")
    size = body.field(body.field(found, SHAPE, "ptr"), 0, "i64")
    body.lines += [
        f"  %fits = icmp eq i64 {size}, {call.gives.size}",
        "  br i1 %fits, label %plain, label %convert",
        "plain:",
        "  br label %read",
        "convert:",
        f"  store ptr {found}, ptr %returned, align 8",
    ]
    converted = body.put(
        f"call ptr @PyObject_Vectorcall(ptr {convert}, ptr %returned, i64 1, ptr null)"
    )
    body.lines.append(f"  call void @Py_DecRef(ptr {found})")
    body.lines += [
        f"  %wrong = icmp eq ptr {converted}, null",
        "  br i1 %wrong, label %failed, label %right",
        "right:",
        "  br label %read",
        "read:",
        f"  %result = phi ptr [ {found}, %plain ], [ {converted}, %right ]",
    ]
    data, stride = (
        body.field("%result", DATA, "ptr"),
        body.field(body.field("%result", STRIDES, "ptr"), 0, "i64"),
    )
    for entry, place in enumerate(range(call.gives.start, call.gives.stop)):
        at = body.put(f"getelementptr i8, ptr {data}, i64 {body.put(f'mul i64 {stride}, {entry}')}")
        x, to = (
            body.put(f"load double, ptr {at}, align 8"),
            body.put(f"getelementptr double, ptr %scratch, i64 {place}"),
        )
        body.lines.append(f"  store double {x}, ptr {to}, align 8")
    body.lines += [
        "  call void @Py_DecRef(ptr %result)",
        "  br label %clean",
        "failed:",
        f"  store i64 1, ptr {raised}, align 8",
        "  br label %clean",
        "clean:",
    ]
    for k in range(m):
        body.lines.append(
            f"  call void @Py_DecRef(ptr {body.field('%arguments', 8 * (1 + k), 'ptr')})"
        )
    return "\n".join(
        [
            f"define internal void @call{number}(ptr %scratch) noinline {{",
            "entry:",
            f"  %arguments = alloca [{1 + m} x ptr], align 8",
            "  %returned = alloca ptr, align 8",
            *body.lines,
            "  br label %done",
            "done:",
            "  ret void",
            "}",
        ]
    )


def _argument(body: FunctionBody, k: int) -> str:
    return body.put(f"getelementptr inbounds ptr, ptr %arguments, i64 {1 + k}")


def _own(body: FunctionBody, k: int, made: str) -> str:
    """A new object as an argument, if there is memory for it."""
    made, at = body.put(made), _argument(body, k)
    body.lines.append(f"  store ptr {made}, ptr {at}, align 8")
    body.unless(body.put(f"icmp ne ptr {made}, null"), "failed")
    return made
