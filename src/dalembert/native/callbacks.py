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
    "void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
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
        *(_CallText(program.size, k, callback).text() for k, callback in enumerate(callbacks)),
    ]


class _CallText:
    """Text of void call<number>(ptr scratch), of one lane, whose memory ends at a place."""

    def __init__(self, end: int, number: int, callback: Callback):
        self.body = FunctionBody()
        self.end = end
        self.number = number
        self.callback = callback
        self.count = len(callback.takes)

    def text(self) -> str:
        """Definition of the function."""
        body, m = self.body, self.count
        raised = body.put(f"getelementptr inbounds double, ptr %scratch, i64 {self.end + RAISED}")
        body.expect("i64", body.put(f"load i64, ptr {raised}, align 8"), "0", "done")
        objects = body.field("%scratch", 8 * (self.end + OUTSIDE), "ptr")
        own = COMMON + EACH * self.callback.function
        function, convert = (body.field(objects, 8 * k, "ptr") for k in (own, own + 1))
        self._arguments(objects, own)
        called = f"ptr {self._argument(0)}, i64 {SPARE + m}, ptr null"
        found = body.put(f"call ptr @PyObject_Vectorcall(ptr {function}, {called})")
        body.unless(body.put(f"icmp ne ptr {found}, null"), "failed")
        self._vector(found, objects)
        self._converted(found, convert)
        self._result()
        calling, body.lines = body.lines, []
        self._released()
        return "\n".join(
            [
                f"define internal void @call{self.number}(ptr %scratch) noinline {{",
                "entry:",
                f"  %arguments = alloca [{1 + m} x ptr], align 8",
                "  %returned = alloca ptr, align 8",
                *calling,
                "  br label %clean",
                "failed:",
                f"  store i64 1, ptr {raised}, align 8",
                "  br label %clean",
                "clean:",
                *body.lines,
                "  br label %done",
                "done:",
                "  ret void",
                "}",
            ]
        )

    def _arguments(self, objects: str, own: int) -> None:
        """Put code that makes a float and arrays of the registers."""
        body, (time, *vectors) = self.body, self.callback.takes
        empty = body.field(objects, 16, "ptr")
        for k in range(self.count):
            body.lines.append(f"  store ptr null, ptr {self._argument(k)}, align 8")
        t = body.field("%scratch", 8 * time.start, "double")
        self._own(0, f"call ptr @PyFloat_FromDouble(double {t})")
        for k, register in enumerate(vectors, 1):
            size = body.put(f"getelementptr inbounds ptr, ptr {objects}, i64 {own + 2 * k}")
            called = f"ptr {empty}, ptr {size}, i64 2, ptr null"
            array = self._own(k, f"call ptr @PyObject_Vectorcall({called})")
            data = body.field(array, DATA, "ptr")
            source = body.put(f"getelementptr double, ptr %scratch, i64 {register.start}")
            body.lines.append(
                f"  call void @llvm.memcpy.p0.p0.i64(ptr align 8 {data}, ptr align 8 {source}, "
                f"i64 {8 * register.size}, i1 false)"
            )

    def _vector(self, found: str, objects: str) -> None:
        """Put code that goes to `convert` unless an object is a vector of doubles that fits."""
        body = self.body
        for place, kind in ((TYPE, 0), (DTYPE, 8)):
            wanted = body.field(objects, kind, "ptr")
            body.expect("ptr", body.field(found, place, "ptr"), wanted, "convert")
        aligned = body.put(f"and i32 {body.field(found, FLAGS, 'i32')}, {ALIGNED}")
        body.expect("i32", aligned, str(ALIGNED), "convert")
        body.expect("i32", body.field(found, AXES, "i32"), "1", "convert")
        size = body.field(body.field(found, SHAPE, "ptr"), 0, "i64")
        body.expect("i64", size, str(self.callback.gives.size), "convert")

    def _converted(self, found: str, convert: str) -> None:
        """Put code for an object that is no such vector; %result is one."""
        body = self.body
        body.lines += [
            "  br label %plain",
            "plain:",
            "  br label %read",
            "convert:",
            f"  store ptr {found}, ptr %returned, align 8",
            f"  %converted = call ptr @PyObject_Vectorcall(ptr {convert}, ptr %returned, i64 1, "
            "ptr null)",
            f"  call void @Py_DecRef(ptr {found})",
            "  %wrong = icmp eq ptr %converted, null",
            "  br i1 %wrong, label %failed, label %right",
            "right:",
            "  br label %read",
            "read:",
            f"  %result = phi ptr [ {found}, %plain ], [ %converted, %right ]",
        ]

    def _result(self) -> None:
        """Put code that copies %result to its register."""
        body, gives = self.body, self.callback.gives
        data = body.field("%result", DATA, "ptr")
        stride = body.field(body.field("%result", STRIDES, "ptr"), 0, "i64")
        for entry, place in enumerate(range(gives.start, gives.stop)):
            offset = body.put(f"mul i64 {stride}, {entry}")
            at = body.put(f"getelementptr i8, ptr {data}, i64 {offset}")
            x = body.put(f"load double, ptr {at}, align 8")
            to = body.put(f"getelementptr double, ptr %scratch, i64 {place}")
            body.lines.append(f"  store double {x}, ptr {to}, align 8")
        body.lines.append("  call void @Py_DecRef(ptr %result)")

    def _released(self) -> None:
        """Put code that gives the arguments back."""
        for k in range(self.count):
            argument = self.body.field("%arguments", 8 * (1 + k), "ptr")
            self.body.lines.append(f"  call void @Py_DecRef(ptr {argument})")

    def _argument(self, k: int) -> str:
        return self.body.put(f"getelementptr inbounds ptr, ptr %arguments, i64 {1 + k}")

    def _own(self, k: int, made: str) -> str:
        """A new object as an argument, if there is memory for it."""
        made = self.body.put(made)
        at = self._argument(k)
        self.body.lines.append(f"  store ptr {made}, ptr {at}, align 8")
        self.body.unless(self.body.put(f"icmp ne ptr {made}, null"), "failed")
        return made
