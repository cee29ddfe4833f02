"""C99 target: one function without allocation that needs nothing but math.h, and a test of it with vectors.

The text is straight-line code. Long programs are cut into static functions, with the values that cross from one to
another in a scratch array on the stack. All inputs are read before an output is written, so that they may overlap. Scans
over bodies become loops over tables; their work array, which may be large, is the caller's.

Every function returns a status. Straight-line code adds up its inputs, and its results, each number once: if a sum is
finite, so is each of its terms. The Panda's mass matrix takes 3 % longer for it (gcc -O2); with a loop over its 49
entries it took 29 %.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from string import Template
from typing import Any

import numpy as np

from dalembert import __version__
from dalembert.codegen.program import (
    CODES,
    CONDITIONS,
    INPUT_NOT_FINITE,
    RESULT_NOT_FINITE,
    Port,
    Program,
    ProgramError,
    results_and_status,
    verify,
)
from dalembert.codegen.rolled import Rolled, Scan, Step, verify_rolled
from dalembert.codegen.targets import numpy_source
from dalembert.codegen.targets.text import INFIX, identifiers, known_as, numbered, operand, plain

WIDTH = 100  # columns of a long statement
PART = (
    400  # statements per function: C99 promises 511 names in a block, and compile time stays linear
)
# (46 000 operations, gcc -O2: 10 s, in one function 44 s)
TOLERANCE = 1e-10  # of an output's largest entry: another library, fused operations, times a mass matrix's condition
VECTORS, SEED = 10, 0  # test vectors, if the caller has none
CALLED = (
    "scratch",
    "minimum",
    "maximum",
    "work",
    "inputs_finite",
    "status",
    "all_finite",
)  # no port has these names,
TESTING = ("vector", "vectors", "found", "difference", "worst", "k", "printf")  # no function these

FUNCTIONS = {
    "power": "pow",
    "abs": "fabs",
    "min": "minimum",
    "max": "maximum",
}  # others by their own name
FORMS = {"neg": "-{}", "not": "!{}", "and": "{} && {}", "or": "{} || {}", "select": "{} ? {} : {}"}
HELPERS = {  # as NumPy has them: NaN wins
    "min": "static double minimum(double a, double b) { return a < b || isnan(a) ? a : b; }",
    "max": "static double maximum(double a, double b) { return a > b || isnan(a) ? a : b; }",
    "sign": "static double sign(double x) { return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x == 0.0 ? 0.0 : x; }",
}
ALL_FINITE = """\
static int all_finite(const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return 0;
    return 1;
}

"""
HEADER = Template("""\
$about
#ifndef $guard
#define $guard

#ifdef __cplusplus
extern "C" {
#endif

$sizes$signature;

#ifdef __cplusplus
}
#endif

#endif
""")
SOURCE = Template("""\
$about
#include <math.h>

#include "$name.h"

#if defined(_M_FP_FAST) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "the status needs infinities and NaN: compile without -ffast-math, or with -fno-finite-math-only behind it"
#endif

$helpers$parts$signature
{
$body}
""")
TEST = Template("""\
$about
#include <math.h>
#include <stdio.h>

#include "$name.h"

${work}struct vector {
$members    int status;
};

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
        found.status = $name($arguments);
        if (found.status != vectors[k].status)
            worst = INFINITY;
$checks    }
    printf("$name: $count vectors, largest relative error %.2g (tolerance $tolerance)\\n", worst);
    return worst <= $tolerance ? 0 : 1;
}
""")


def files(
    program: Program | Rolled,
    name: str = "function",
    notes: Sequence[str] = (),
    vectors: Sequence[Any] | None = None,
    prefix: str = "",
    tolerance: float = TOLERANCE,
) -> dict[str, str]:
    """Name -> text of the files NAME.h, NAME.c and NAME_test.c, all of them ASCII.

        int NAME(const double *input, ..., double *output, ...);

    It returns the status: 0; INPUT_NOT_FINITE; what the program's output STATUS says, if there is one and it is not 0; or
    RESULT_NOT_FINITE. A rolled program has one more argument, `double *work`, with place for NAME_WORK numbers.

    Parameters
    ----------
    program : Program or Rolled
    name : str
        Any text: NAME is a safe identifier of it, behind the prefix.
    notes : sequence of str
        Lines for the comment in the header: what it computes, units.
    vectors : sequence of (N, n) arrays, optional
        Test inputs, one array per input of the program; normally distributed numbers if not given.
    prefix : str
        What NAME begins with: letters, digits and underscores, or nothing.
    tolerance : float
        Of the test, relative to the largest entry of each output.

    Raises
    ------
    ProgramError
        The program is malformed, or the vectors do not fit it.
    """
    writer: Any = (
        _Loops(program, name, prefix)
        if isinstance(program, Rolled)
        else _Straight(program, name, prefix)
    )
    face = writer.face
    return {
        f"{face.name}.h": face.header(notes),
        f"{face.name}.c": writer.source(),
        f"{face.name}_test.c": face.test(_test_inputs(program, vectors), tolerance),
    }


class _Face:
    """Identifiers of a function and its ports, and what follows from these alone: header and test."""

    def __init__(self, program: Program | Rolled, name: str, prefix: str, called: Sequence[str]):
        self.program, self.label = program, prefix + name
        called = [*CALLED, *called]
        self.name = prefix + next(
            map(_no_macro, identifiers([name], [] if prefix else [*called, *TESTING]))
        )
        self.places, self.status = results_and_status(program)
        self.results = [program.outputs[k] for k in self.places]
        ports = [port.name for port in (*program.inputs, *self.results)]
        ports = [*map(_no_macro, identifiers(ports, called))]
        self.inputs, self.outputs = ports[: len(program.inputs)], ports[len(program.inputs) :]
        self.v = numbered("v", ports)
        macro = (
            self.name.upper() if self.name.islower() else self.name
        )  # other names stay apart in their case
        self.size, self.guard = f"{macro}_WORK" if isinstance(program, Rolled) else "", f"{macro}_H"

    def signature(self) -> str:
        parameters = [
            *(f"const double *{x}" for x in self.inputs),
            *(f"double *{x}" for x in self.outputs),
        ]
        parameters += ["double *work"] if self.size else []
        return f"int {self.name}({', '.join(parameters) or 'void'})"

    @property
    def arrays(self) -> list[tuple[str, Port]]:
        """Identifier and port of each input and result."""
        return [
            *zip(self.inputs, self.program.inputs, strict=True),
            *zip(self.outputs, self.results, strict=True),
        ]

    def look_at_inputs(self, terms: Sequence[str] = ()) -> str:
        """The statement that checks the inputs, before results are written, which may overlap them."""
        ports = self.arrays[: len(self.inputs)]
        return _statement(f"const int inputs_finite = {_finite(ports, terms)};")

    def return_status(self, status: Sequence[str], terms: Sequence[str] = ()) -> str:
        """The statements that end the function; `status`: the value of the program's status, if it has one."""
        lines = [f"    if (!inputs_finite)\n        return {INPUT_NOT_FINITE};\n"]
        lines += [f"    if ({x} != 0.0)\n        return (int){x};\n" for x in status]
        finite = _finite(self.arrays[len(self.inputs) :], terms)
        return "".join([*lines, _statement(f"return {finite} ? 0 : {RESULT_NOT_FINITE};")])

    def header(self, notes: Sequence[str]) -> str:
        listed = [f"  {known_as(x, port.name)}: {_size(port)}" for x, port in self.arrays]
        results = listed[len(self.inputs) :]
        about = [
            f"{known_as(self.name, self.label)}, generated by dalembert {__version__}.",
            *notes,
            "",
            "Inputs:",
            *listed[: len(self.inputs)],
            "Outputs, which may overlap the inputs; matrices row by row:",
            *results,
        ]
        about += (
            [f"work: room for {self.size} numbers, whatever they are; one for each thread"]
            if self.size
            else []
        )
        about += ["Returns a status:", *(f"  {line}" for line in CODES)]
        sizes = (
            f"#define {self.size} {self.program.size}\n\n"
            if isinstance(self.program, Rolled)
            else ""
        )
        return HEADER.substitute(
            about=_comment(about), guard=self.guard, sizes=sizes, signature=self.signature()
        )

    def test(self, given: list[np.ndarray], tolerance: float) -> str:
        *right, status = numpy_source.compiled(self.program, reports=True)(*given)
        count = len(given[0]) if given else 1
        vectors = zip(self.arrays, [*given, *right], strict=True)
        tables = [np.reshape(values, (count, port.size)) for (_, port), values in vectors]
        codes = np.broadcast_to(status, (count,)).tolist()
        rows = [[*(_numbers(table[k]) for table in tables), str(codes[k])] for k in range(count)]
        about = [
            f"Test of {self.name} on {count} vectors evaluated with NumPy, generated by dalembert {__version__}.",
            f"    cc -std=c99 -O2 {self.name}.c {self.name}_test.c -lm && ./a.out",
        ]
        arguments = [
            *(f"vectors[k].{x}" for x in self.inputs),
            *(f"found.{x}" for x in self.outputs),
        ]
        return TEST.substitute(
            rows=",\n    ".join("{" + ",\n     ".join(row) + "}" for row in rows),
            about=_comment(about),
            name=self.name,
            count=count,
            tolerance=float(tolerance),
            work=f"static double work[{self.size}];\n\n" if self.size else "",
            members="".join(f"    double {x}[{max(port.size, 1)}];\n" for x, port in self.arrays),
            arguments=", ".join([*arguments, "work"] if self.size else arguments),
            checks="".join(
                f"        worst = fmax(worst, difference(found.{x}, vectors[k].{x}, {port.size}));\n"
                for x, port in self.arrays[len(self.inputs) :]
            ),
        )


class _Straight:
    """A program cut into parts."""

    def __init__(self, program: Program, name: str, prefix: str = ""):
        verify(program)
        self.program = program
        self.parts = _parts(program)
        self.part_of = {k: p for p, part in enumerate(self.parts) for k in part}
        self.slot, self.slots = _slots(program, self.parts, self.part_of)
        self.face = _Face(program, name, prefix, [f"part_{p + 1}" for p in range(len(self.parts))])
        self.inputs, self.outputs, self.v = self.face.inputs, self.face.outputs, self.face.v

    def source(self) -> str:
        parts = "".join(
            f"static void part_{p + 1}({self.part_parameters(p)})\n{{\n{self.part_body(p)}}}\n\n"
            for p in range(len(self.parts) - 1)
        )
        return _source(
            self.face, {self.program.code[k].op for k in self.part_of}, parts, self.main_body()
        )

    def part_inputs(self, p: int) -> list[str]:
        """Identifiers of the inputs that a part reads."""
        code = self.program.code
        read = {
            code[a].args[0] for k in self.parts[p] for a in code[k].args if code[a].op == "input"
        }
        return [self.inputs[i] for i in sorted(read)]

    def part_parameters(self, p: int) -> str:
        return ", ".join([*(f"const double *{x}" for x in self.part_inputs(p)), "double *scratch"])

    def part_body(self, p: int) -> str:
        lines = [
            f"    const {self.kind(k)} {self.v}{k} = {self.value(k, p)};\n" for k in self.parts[p]
        ]
        return "".join(
            [
                *lines,
                *(
                    f"    scratch[{self.slot[k]}] = {self.v}{k};\n"
                    for k in self.parts[p]
                    if k in self.slot
                ),
            ]
        )

    def main_body(self) -> str:
        code, last = self.program.code, len(self.parts) - 1
        results = [self.program.results[k] for k in self.face.places]
        given = [*zip(self.inputs, self.program.inputs, strict=True)]
        lines = [
            self.face.look_at_inputs([f"{x}[{i}]" for x, port in given for i in range(port.size)])
        ]
        lines += (
            [f"    double scratch[{self.slots}];      /* values that later parts need */\n"]
            if self.slots
            else []
        )
        lines += [
            f"    part_{p + 1}({', '.join([*self.part_inputs(p), 'scratch'])});\n"
            for p in range(last)
        ]
        lines.append(self.part_body(last))
        passed = {k: f"{self.v}{k}" for places in results for k in places if code[k].op == "input"}
        lines += [f"    (void){x};\n" for x, port in self.face.arrays if not port.size]
        lines += [
            f"    const double {x} = {self.operand(k, last)};\n" for k, x in passed.items()
        ]  # outputs may overlap
        for x, places in zip(self.outputs, results, strict=True):
            lines += [
                f"    {x}[{i}] = {passed.get(k) or self.operand(k, last)};\n"
                for i, k in enumerate(places)
            ]
        computed = [
            k for k in dict.fromkeys(k for places in results for k in places) if k in self.part_of
        ]
        status = [
            self.operand(k, last) for port in self.face.status for k in self.program.results[port]
        ]
        lines.append(self.face.return_status(status, [self.operand(k, last) for k in computed]))
        return "".join(lines)

    def kind(self, k: int) -> str:
        return "int" if self.program.code[k].op in CONDITIONS else "double"

    def value(self, k: int, p: int) -> str:
        op, args = self.program.code[k]
        return _operation(op, [self.operand(a, p) for a in args])

    def operand(self, k: int, p: int) -> str:
        """A value as part p sees it."""
        op, args = self.program.code[k]
        if op == "constant":
            return operand(args[0])
        if op == "input":
            return f"{self.inputs[args[0]]}[{args[1]}]"
        if self.part_of[k] == p:
            return f"{self.v}{k}"
        return (
            f"(scratch[{self.slot[k]}] != 0.0)" if op in CONDITIONS else f"scratch[{self.slot[k]}]"
        )


class _Loops:
    """A rolled program: a function for each step, tables, and loops over bodies."""

    def __init__(self, rolled: Rolled, name: str, prefix: str = ""):
        verify_rolled(rolled)
        self.rolled = rolled
        called = ["turns", "i", "row", *(f"runs_{s}" for s in range(1, len(rolled.scans) + 1))]
        called += [
            f"{what}_{s}_{k}"
            for s, scan in enumerate(rolled.scans, 1)
            for k in range(1, len(scan.steps) + 1)
            for what in ("step", "places", "numbers")
        ]
        self.face = _Face(rolled, name, prefix, called)

    def source(self) -> str:
        steps = [
            (f"{s}_{k}", step)
            for s, scan in enumerate(self.rolled.scans, 1)
            for k, step in enumerate(scan.steps, 1)
        ]
        parts = [self.step(*one) for one in steps]
        parts += [
            _table(f"runs_{s}", "int", scan.runs()) for s, scan in enumerate(self.rolled.scans, 1)
        ]
        if len(self.rolled.turns):
            parts.append(_table("turns", "int", self.rolled.turns.tolist()))
        return _source(
            self.face,
            {i.op for _, step in steps for i in step.program.code},
            "".join(parts),
            self.main_body(),
        )

    def step(self, label: str, step: Step) -> str:
        """The function of a step and its tables; one without outputs does nothing."""
        code, v = step.program.code, self.face.v
        if not step.program.outputs:
            return ""

        def value(k: int) -> str:
            op, args = code[k]
            return operand(args[0]) if op == "constant" else f"{v}{k}"

        lines = []
        for k, (op, args) in enumerate(code):
            if op == "input":
                found = (
                    f"numbers[{args[1]}]"
                    if args[0] == 0
                    else f"work[places[{args[0] - 1}] + {args[1]}]"
                )
            elif op != "constant":
                found = _operation(op, [value(a) for a in args])
            else:
                continue
            lines.append(f"    const {'int' if op in CONDITIONS else 'double'} {v}{k} = {found};\n")
        for port, places in enumerate(step.program.results, len(step.program.inputs) - 1):
            lines += [
                f"    work[places[{port}] + {n}] = {value(k)};\n" for n, k in enumerate(places)
            ]
        tables = _table(f"places_{label}", "int", step.places.tolist())
        if step.numbers.shape[1]:
            tables += _table(f"numbers_{label}", "double", step.numbers.tolist())
        numbers = ", const double *numbers" if step.numbers.shape[1] else ""
        return f"{tables}static void step_{label}(double *work, const int *places{numbers})\n{{\n{''.join(lines)}}}\n\n"

    def main_body(self) -> str:
        rolled, face = self.rolled, self.face

        def loop(count: int, statement: str) -> str:
            return f"    for (int i = 0; i < {count}; i++)\n        {statement};\n" if count else ""

        stretches = rolled.stretches()
        lines = [
            loop(port.size, f"work[{at.start} + i] = {x}[i]")
            for x, port, at in zip(face.inputs, rolled.inputs, stretches, strict=False)
        ]
        results = [stretches[len(face.inputs) :][k] for k in face.places]
        status = [f"work[{stretches[len(face.inputs) :][k].start}]" for k in face.status]
        lines.append(
            loop(
                rolled.cleared.stop - rolled.cleared.start,
                f"work[{rolled.cleared.start} + i] = 0.0",
            )
        )
        lines += [
            loop(len(rolled.turns), f"work[turns[i][{k}]] = {f}(work[turns[i][0]])")
            for k, f in ((1, "sin"), (2, "cos"))
        ]
        lines += [_scan(s, scan) for s, scan in enumerate(rolled.scans, 1)]
        lines += [
            loop(port.size, f"{x}[i] = work[{at.start} + i]")
            for x, port, at in zip(face.outputs, face.results, results, strict=True)
        ]
        return "".join([face.look_at_inputs(), *lines, face.return_status(status)])


def _scan(s: int, scan: Scan) -> str:
    """The loop over runs of bodies of one kind."""
    lines = [
        f"    for (int i = 0; i < {len(scan.runs())}; i++)\n",
        f"        for (int row = runs_{s}[i][1]; row < runs_{s}[i][1] + runs_{s}[i][2]; row++)\n",
        f"            switch (runs_{s}[i][0]) {{\n",
    ]
    for k, step in enumerate(scan.steps):
        numbers = f", numbers_{s}_{k + 1}[row]" if step.numbers.shape[1] else ""
        call = (
            f"step_{s}_{k + 1}(work, places_{s}_{k + 1}[row]{numbers}); "
            if step.program.outputs
            else ""
        )
        lines.append(f"            case {k}: {call}break;\n")
    return "".join([*lines, "            }\n"])


def _finite(ports: Sequence[tuple[str, Port]], terms: Sequence[str]) -> str:
    """A condition that holds where all entries of the ports are finite: a sum of these terms, if any, tells most often."""
    looks = [f"all_finite({x}, {port.size})" for x, port in ports if port.size] or ["1"]
    exact = looks[0] if len(looks) == 1 else f"({' && '.join(looks)})"
    return f"isfinite({_sum(terms)}) || {exact}" if terms else exact


def _sum(terms: Sequence[str]) -> str:
    """Of halves, which a processor adds side by side."""
    if len(terms) < 3:
        return " + ".join(terms)
    half = len(terms) // 2
    return " + ".join(
        f"({_sum(part)})" if len(part) > 1 else part[0] for part in (terms[:half], terms[half:])
    )


def _statement(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=4 * " ", subsequent_indent=8 * " ") + "\n"


def _table(name: str, kind: str, rows: Sequence[Sequence[Any]]) -> str:
    text = ",\n    ".join(f"{{{', '.join(map(repr, row))}}}" for row in rows)
    return f"static const {kind} {name}[{len(rows)}][{len(rows[0])}] = {{\n    {text}\n}};\n\n"


def _source(face: _Face, used: set[str], parts: str, body: str) -> str:
    """The C file of a function with its parts and body, in which these operations are used."""
    helpers = "".join(f"{text}\n\n" for op, text in HELPERS.items() if op in used)
    helpers += ALL_FINITE if "all_finite(" in body else ""
    about = _comment([f"Generated by dalembert {__version__}; see {face.name}.h."])
    return SOURCE.substitute(
        about=about,
        name=face.name,
        helpers=helpers,
        parts=parts,
        signature=face.signature(),
        body=body,
    )


def _operation(op: str, operands: list[str]) -> str:
    if op in INFIX:
        return f" {INFIX[op]} ".join(operands)
    return (
        FORMS[op].format(*operands)
        if op in FORMS
        else f"{FUNCTIONS.get(op, op)}({', '.join(operands)})"
    )


def _parts(program: Program) -> list[list[int]]:
    """Places of the operations that the results need, in runs of PART; constants and inputs are written where used."""
    needed = {k for places in program.results for k in places}
    for k in reversed(range(len(program.code))):
        if k in needed and program.code[k].op not in ("constant", "input"):
            needed.update(program.code[k].args)
    run = [k for k in sorted(needed) if program.code[k].op not in ("constant", "input")]
    return [run[i : i + PART] for i in range(0, len(run), PART)] or [[]]


def _slots(
    program: Program, parts: list[list[int]], part_of: dict[int, int]
) -> tuple[dict[int, int], int]:
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


def _test_inputs(program: Program | Rolled, vectors: Sequence[Any] | None) -> list[np.ndarray]:
    if vectors is None:
        rng = np.random.default_rng(SEED)
        return [rng.standard_normal((VECTORS, port.size)) for port in program.inputs]
    given = [np.asarray(v, dtype=float) for v in vectors]
    count = len(given[0]) if given and given[0].ndim else 0
    if [v.shape for v in given] != [(count, port.size) for port in program.inputs] or (
        given and not count
    ):
        raise ProgramError(
            f"test vectors have shapes {[v.shape for v in given]}, expected (N, n) with n = "
            f"{[port.size for port in program.inputs]} and one N > 0."
        )
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
    return (
        "/* "
        + "\n".join(f" * {signs.sub(' ', plain(line))}".rstrip() for line in lines)[3:]
        + " */\n"
    )
