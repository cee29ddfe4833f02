"""C99 target: one function without allocation that needs nothing but math.h, and a test of it with vectors.

The text is straight-line code. Long programs are cut into static functions, with the values that cross from one to
another in a scratch array on the stack. All inputs are read before an output is written, so that they may overlap.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import Template
from typing import Any

import numpy as np

from dalembert import __version__
from dalembert.codegen import numpy_source
from dalembert.codegen.program import CONDITIONS, Port, Program, ProgramError, verify
from dalembert.codegen.text import INFIX, identifiers, known_as, numbered, operand, plain

PART = 400              # statements per function: C99 promises 511 names in a block, and compile time stays linear
                        # (46 000 operations, gcc -O2: 10 s, in one function 44 s)
TOLERANCE = 1e-10       # of an output's largest entry: another library, fused operations, times a mass matrix's condition
VECTORS, SEED = 10, 0   # test vectors, if the caller has none
CALLED = ("scratch", "minimum", "maximum")                                               # no port has these names,
TESTING = ("vector", "vectors", "found", "difference", "worst", "k", "printf")           # no function these

FUNCTIONS = {"power": "pow", "abs": "fabs", "min": "minimum", "max": "maximum"}      # others by their own name
FORMS = {"neg": "-{}", "not": "!{}", "and": "{} && {}", "or": "{} || {}", "select": "{} ? {} : {}"}
HELPERS = {      # as NumPy has them: NaN wins
    "min": "static double minimum(double a, double b) { return a < b || isnan(a) ? a : b; }",
    "max": "static double maximum(double a, double b) { return a > b || isnan(a) ? a : b; }",
    "sign": "static double sign(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x == 0.0 ? 0.0 : x; }",
}
HEADER = Template("""\
$about
#ifndef $guard
#define $guard

#ifdef __cplusplus
extern "C" {
#endif

$signature;

#ifdef __cplusplus
}
#endif

#endif
""")
SOURCE = Template("""\
$about
#include <math.h>

#include "$name.h"

$helpers$parts$signature
{
$body}
""")
TEST = Template("""\
$about
#include <math.h>
#include <stdio.h>

#include "$name.h"

struct vector {
$members};

static const struct vector vectors[$count] = {
    $rows
};

/* Largest difference of n numbers, relative to the largest finite one of the right ones; infinities and NaN must agree. */
static double difference(const double *found, const double *right, int n)
{
    double largest = 0.0, scale = 0.0;
    for (int i = 0; i < n; i++) {
        if (isfinite(right[i]))
            scale = fmax(scale, fabs(right[i]));
        if (found[i] == right[i] || (isnan(found[i]) && isnan(right[i])))
            continue;
        if (!isfinite(found[i]) || !isfinite(right[i]))
            return INFINITY;
        largest = fmax(largest, fabs(found[i] - right[i]));
    }
    return scale > 0.0 ? largest / scale : largest;
}

int main(void)
{
    double worst = 0.0;
    for (int k = 0; k < $count; k++) {
        struct vector found;
        $name($arguments);
$checks    }
    printf("$name: $count vectors, largest relative error %.2g (tolerance $tolerance)\\n", worst);
    return worst <= $tolerance ? 0 : 1;
}
""")


def files(program: Program, name: str = "function", notes: Sequence[str] = (),
          vectors: Sequence[Any] | None = None, tolerance: float = TOLERANCE) -> dict[str, str]:
    """Name -> text of the files NAME.h, NAME.c and NAME_test.c, all of them ASCII.

        void NAME(const double *input, ..., double *output, ...);

    Parameters
    ----------
    program : Program
    name : str
        Any text: NAME is a safe identifier of it.
    notes : sequence of str
        Lines for the comment in the header: what it computes, units.
    vectors : sequence of (N, n) arrays, optional
        Test inputs, one array per input of the program; normally distributed numbers if not given.
    tolerance : float
        Of the test, relative to the largest entry of each output.

    Raises
    ------
    ProgramError
        The program is malformed, or the vectors do not fit it.
    """
    verify(program)
    writer = _Writer(program, name)
    return {f"{writer.name}.h": writer.header(notes), f"{writer.name}.c": writer.source(),
            f"{writer.name}_test.c": writer.test(_test_inputs(program, vectors), tolerance)}


class _Writer:
    """A program with its identifiers, cut into parts."""

    def __init__(self, program: Program, name: str):
        self.program, self.label = program, name
        self.parts = _parts(program)
        self.part_of = {k: p for p, part in enumerate(self.parts) for k in part}
        self.slot, self.slots = _slots(program, self.parts, self.part_of)
        called = [*CALLED, *(f"part_{p + 1}" for p in range(len(self.parts)))]
        (self.name,) = map(_no_macro, identifiers([name], [*called, *TESTING]))
        ports = [*map(_no_macro, identifiers([port.name for port in (*program.inputs, *program.outputs)], called))]
        self.inputs, self.outputs = ports[:len(program.inputs)], ports[len(program.inputs):]
        self.v = numbered("v", ports)

    # --- the three files ---

    def header(self, notes: Sequence[str]) -> str:
        def listed(names: list[str], ports: Sequence[Port]) -> list[str]:
            return [f"  {known_as(x, port.name)}: {_size(port)}" for x, port in zip(names, ports, strict=True)]

        about = [f"{known_as(self.name, self.label)}, generated by dalembert {__version__}.", *notes, "",
                 "Inputs:", *listed(self.inputs, self.program.inputs),
                 "Outputs, which may overlap the inputs; matrices row by row:", *listed(self.outputs, self.program.outputs)]
        return HEADER.substitute(about=_comment(about), guard=f"{self.name.upper()}_H", signature=self.signature())

    def source(self) -> str:
        used = {self.program.code[k].op for k in self.part_of}
        helpers = "".join(f"{text}\n\n" for op, text in HELPERS.items() if op in used)
        parts = "".join(f"static void part_{p + 1}({self.part_parameters(p)})\n{{\n{self.part_body(p)}}}\n\n"
                        for p in range(len(self.parts) - 1))
        about = _comment([f"Generated by dalembert {__version__}; see {self.name}.h."])
        return SOURCE.substitute(about=about, name=self.name, helpers=helpers, parts=parts, signature=self.signature(),
                                 body=self.main_body())

    def test(self, given: list[np.ndarray], tolerance: float) -> str:
        right = numpy_source.compiled(self.program)(*given)
        count = len(given[0]) if given else 1
        ports = [*zip(self.inputs, self.program.inputs, given, strict=True),
                 *zip(self.outputs, self.program.outputs, right, strict=True)]
        tables = [np.reshape(values, (count, port.size)) for _, port, values in ports]
        rows = ["{" + ",\n     ".join(_numbers(table[k]) for table in tables) + "}" for k in range(count)]
        about = [f"Test of {self.name} on {count} vectors evaluated with NumPy, generated by dalembert {__version__}.",
                 f"    cc -std=c99 -O2 {self.name}.c {self.name}_test.c -lm && ./a.out"]
        return TEST.substitute(
            about=_comment(about), name=self.name, count=count, rows=",\n    ".join(rows), tolerance=float(tolerance),
            members="".join(f"    double {x}[{max(port.size, 1)}];\n" for x, port, _ in ports),
            arguments=", ".join([*(f"vectors[k].{x}" for x in self.inputs), *(f"found.{x}" for x in self.outputs)]),
            checks="".join(f"        worst = fmax(worst, difference(found.{x}, vectors[k].{x}, {port.size}));\n"
                           for x, port in zip(self.outputs, self.program.outputs, strict=True)))

    # --- pieces of the function ---

    def signature(self) -> str:
        parameters = [*(f"const double *{x}" for x in self.inputs), *(f"double *{x}" for x in self.outputs)]
        return f"void {self.name}({', '.join(parameters) or 'void'})"

    def part_inputs(self, p: int) -> list[str]:
        """Identifiers of the inputs that a part reads."""
        code = self.program.code
        read = {code[a].args[0] for k in self.parts[p] for a in code[k].args if code[a].op == "input"}
        return [self.inputs[i] for i in sorted(read)]

    def part_parameters(self, p: int) -> str:
        return ", ".join([*(f"const double *{x}" for x in self.part_inputs(p)), "double *restrict scratch"])

    def part_body(self, p: int) -> str:
        lines = [f"    const {self.kind(k)} {self.v}{k} = {self.value(k, p)};\n" for k in self.parts[p]]
        return "".join([*lines, *(f"    scratch[{self.slot[k]}] = {self.v}{k};\n" for k in self.parts[p] if k in self.slot)])

    def main_body(self) -> str:
        last = len(self.parts) - 1
        lines = [f"    double scratch[{self.slots}];      /* values that later parts need */\n"] if self.slots else []
        lines += [f"    part_{p + 1}({', '.join([*self.part_inputs(p), 'scratch'])});\n" for p in range(last)]
        lines.append(self.part_body(last))
        code = self.program.code
        passed = {k: f"{self.v}{k}" for places in self.program.results for k in places if code[k].op == "input"}
        read = {*(x for p in range(last + 1) for x in self.part_inputs(p)), *(self.inputs[code[k].args[0]] for k in passed)}
        empty = [x for x, places in zip(self.outputs, self.program.results, strict=True) if not places]
        lines += [f"    (void){x};\n" for x in [*(x for x in self.inputs if x not in read), *empty]]
        lines += [f"    const double {x} = {self.operand(k, last)};\n" for k, x in passed.items()]      # outputs may overlap
        for x, places in zip(self.outputs, self.program.results, strict=True):
            lines += [f"    {x}[{i}] = {passed.get(k) or self.operand(k, last)};\n" for i, k in enumerate(places)]
        return "".join(lines)

    def kind(self, k: int) -> str:
        return "int" if self.program.code[k].op in CONDITIONS else "double"

    def value(self, k: int, p: int) -> str:
        op, args = self.program.code[k]
        operands = [self.operand(a, p) for a in args]
        if op in INFIX:
            return f" {INFIX[op]} ".join(operands)
        return FORMS[op].format(*operands) if op in FORMS else f"{FUNCTIONS.get(op, op)}({', '.join(operands)})"

    def operand(self, k: int, p: int) -> str:
        """A value as part p sees it."""
        op, args = self.program.code[k]
        if op == "constant":
            return operand(args[0])
        if op == "input":
            return f"{self.inputs[args[0]]}[{args[1]}]"
        if self.part_of[k] == p:
            return f"{self.v}{k}"
        return f"(scratch[{self.slot[k]}] != 0.0)" if op in CONDITIONS else f"scratch[{self.slot[k]}]"


def _parts(program: Program) -> list[list[int]]:
    """Places of the operations that the results need, in runs of PART; constants and inputs are written where used."""
    needed = {k for places in program.results for k in places}
    for k in reversed(range(len(program.code))):
        if k in needed and program.code[k].op not in ("constant", "input"):
            needed.update(program.code[k].args)
    run = [k for k in sorted(needed) if program.code[k].op not in ("constant", "input")]
    return [run[i:i + PART] for i in range(0, len(run), PART)] or [[]]


def _slots(program: Program, parts: list[list[int]], part_of: dict[int, int]) -> tuple[dict[int, int], int]:
    """Place in the scratch array of each value that crosses from one part to a later one, and the length of the array."""
    last = {k: len(parts) - 1 for places in program.results for k in places}
    for k, p in sorted(part_of.items()):
        last |= {a: max(last.get(a, 0), p) for a in program.code[k].args}
    ending: list[list[int]] = [[] for _ in parts]
    slot: dict[int, int] = {}
    free: list[int] = []
    count = 0
    for p, part in enumerate(parts):
        for k in part:
            if last[k] > p:
                if not free:
                    free, count = [count], count + 1
                slot[k] = free.pop()
                ending[last[k]].append(slot[k])
        free += ending[p]
    return slot, count


def _test_inputs(program: Program, vectors: Sequence[Any] | None) -> list[np.ndarray]:
    if vectors is None:
        rng = np.random.default_rng(SEED)
        return [rng.standard_normal((VECTORS, port.size)) for port in program.inputs]
    given = [np.asarray(v, dtype=float) for v in vectors]
    count = len(given[0]) if given and given[0].ndim else 0
    if [v.shape for v in given] != [(count, port.size) for port in program.inputs] or (given and not count):
        raise ProgramError(f"test vectors have shapes {[v.shape for v in given]}, expected (N, n) with n = "
                           f"{[port.size for port in program.inputs]} and one N > 0.")
    return given


def _size(port: Port) -> str:
    return f"{' x '.join(map(str, port.shape))} numbers" if port.shape else "1 number"


def _numbers(row: np.ndarray) -> str:
    """An initializer of doubles; C99 has no empty one."""
    special = {"nan": "NAN", "inf": "INFINITY", "-inf": "-INFINITY"}
    return f"{{{', '.join(special.get(repr(x), repr(x)) for x in row.tolist()) or '0.0'}}}"


def _no_macro(identifier: str) -> str:
    """Names all in capitals may be macros: M_PI, EOF, and any of the program that includes the header."""
    return f"{identifier}_" if len(identifier) > 1 and identifier.isupper() else identifier


def _comment(lines: Sequence[str]) -> str:
    """A comment that no text can end: one line of ASCII each, without comment signs and trigraphs."""
    signs = re.compile(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)")
    return "/* " + "\n".join(f" * {signs.sub(' ', plain(line))}".rstrip() for line in lines)[3:] + " */\n"
