"""How written functions are run, by the name of the target: one state, goals, repeats and functions outside."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest

from dalembert.codegen.program import INPUT_NOT_FINITE, RESULT_NOT_FINITE, results_and_status
from dalembert.codegen.targets.llvm import FINE
from dalembert.codegen.targets.text import beside
from dalembert.native.kernel import linked, object_of_text


def address(array):
    return ctypes.c_void_p(array.ctypes.data)


def arrays_for(program, goals):
    """An array for each record and output."""
    return [*(np.full((len(goals), r.size), np.nan) for r in program.records), *(np.full(r.size, np.nan) for r in program.outputs)]


def pointers(program, functions):
    """C functions of pointers that call functions of arrays."""
    calls = {c.function: c for c in program.callbacks}
    made = []
    for number, callback in sorted(calls.items()):
        sizes = [r.size for r in (*callback.takes[1:], callback.gives)]

        def called(t, *vectors, number=number, sizes=sizes):
            *given, result = (np.ctypeslib.as_array(v, (n,)) for v, n in zip(vectors, sizes, strict=True))
            result[:] = functions[number](t, *(v.copy() for v in given))

        made.append(ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.POINTER(ctypes.c_double)] * len(sizes))(called))
    return made


def by_c(folder, texts, program, row, goals=(), repeats=1, functions=()):
    """As a library that is loaded."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc: generated C is not compiled")
    for file, content in texts.items():
        (folder / file).write_text(content, encoding="ascii")
    header, source, _ = texts
    library = folder / f"{source}.so"
    if not library.exists():
        strict = "-std=c99 -O0 -Wall -Wextra -Wpedantic -Wshadow -Werror -shared -fPIC".split()
        subprocess.run(["gcc", *strict, source, "-lm", "-o", str(library)], cwd=folder, check=True)
    function = getattr(ctypes.CDLL(str(library)), header.removesuffix(".h"))
    places, _ = results_and_status(program)
    results, numbers = arrays_for(program, goals), np.array(goals, dtype=float)
    inputs = [np.ascontiguousarray(x, dtype=float) for x in row]
    arguments = [address(a) for a in (*inputs, *(results[k] for k in places))]
    if program.goals:
        arguments += [address(numbers)] * (program.goals.goal is not None) + [len(goals)]
    arguments += [repeats] if "repeats" in beside(program) else []
    outside = pointers(program, functions)
    work = re.search(r"_WORK (\d+)", texts[header])
    memory = np.full(int(work[1]) if work else 0, np.nan)
    status = function(*arguments, *outside, *([address(memory)] if work else []))
    return [*(results[k] for k in places), status]


def by_llvm(folder, texts, program, row, goals=(), repeats=1, functions=()):
    """As machine code; the status is that of the other languages."""
    ((file, text),) = texts.items()
    function, sized = file.removesuffix(".ll"), "@work_bytes" in text
    held = linked(object_of_text(text), function, *(["work_bytes"] if sized else []))
    kernel = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(held[function])
    work = np.zeros((ctypes.CFUNCTYPE(ctypes.c_int64)(held["work_bytes"])() if sized else 0) + 64, dtype=np.uint8)
    results, numbers, outside = arrays_for(program, goals), np.array(goals, dtype=float), pointers(program, functions)
    table = (ctypes.c_void_p * max(len(outside), 1))(*(ctypes.cast(f, ctypes.c_void_p).value for f in outside))
    inputs = [np.ascontiguousarray(x, dtype=float) for x in row]
    arguments = [x for a in (*inputs, *results) for x in (a.ctypes.data, 0)]
    arguments += [work.ctypes.data + -work.ctypes.data % 64, 0] if sized else []
    arguments += [numbers.ctypes.data, len(goals), repeats, ctypes.addressof(table)]
    code = kernel(np.array(arguments, dtype=np.int64).ctypes.data, 0, 1)
    places, status = results_and_status(program)
    doubt = [results[k][0] for k in status if results[k][0] != 0]
    found = 0 if code == FINE else INPUT_NOT_FINITE if code >= 0 else int((*doubt, RESULT_NOT_FINITE)[0])
    return [*(results[k] for k in places), found]


def by_python(folder, texts, program, row, goals=(), repeats=1, functions=()):
    """As a module."""
    space = {}
    ((file, text),) = texts.items()
    exec(text, space)
    extra = {"goals": list(goals), "repeats": repeats} | {f"call_{k}": f for k, f in enumerate(functions, 1)}
    given = [np.asarray(x, dtype=float).tolist() for x in row]
    return [*space[file.removesuffix(".py")](*given, **{name: extra[name] for name in beside(program)})]


RUNNERS = {"c": by_c, "numpy": by_python, "python": by_python, "llvm": by_llvm}
