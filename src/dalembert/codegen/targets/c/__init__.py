"""C99 target: a function without allocation that needs nothing but math.h, and a test of it with
vectors.

A straight program reads all inputs before an output is written, so that they may overlap. Other
programs run on a memory, which may be large and is the caller's.

Every function returns a status. Straight code adds up its inputs, and its results, each number once:
if a sum is finite, so is each of its terms. The Panda's mass matrix takes 3 % longer for it (gcc
-O2); with a loop over its 49 entries it took 29 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import Template
from typing import Any

from dalembert import __version__
from dalembert.codegen.blocks import Block
from dalembert.codegen.program import Program
from dalembert.codegen.targets.c import statements
from dalembert.codegen.targets.c.interface import Interface, comment
from dalembert.codegen.targets.c.statements import BlockCode, InputText, ItemCode, moved
from dalembert.codegen.targets.c.vector_test import test_of
from dalembert.codegen.verifier import verify

# Of the test, of an output's largest entry: another library, fused operations, times a mass
# matrix's condition.
TOLERANCE = 1e-10
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


def files(
    program: Program,
    name: str = "function",
    notes: Sequence[str] = (),
    vectors: Sequence[Any] | None = None,
    prefix: str = "",
    tolerance: float = TOLERANCE,
) -> dict[str, str]:
    """Name -> text of the files NAME.h, NAME.c and NAME_test.c, all of them ASCII.

        int NAME(const double *input, ..., double *output, ...);

    It returns the status: 0; INPUT_NOT_FINITE; the program's output STATUS, if there is one and it
    is not 0; or RESULT_NOT_FINITE. A program with records has them before its outputs, one after the
    other for each goal, and the goals and their number behind them; then come the number of repeats
    and functions outside, as far as they are needed, and, but for straight programs, `double *work`,
    with place for NAME_WORK numbers.

    Parameters
    ----------
    program : Program
    name : str
        Any text: NAME is a safe identifier of it, behind the prefix.
    notes : sequence of str
        Lines for the comment in the header: the quantity, units.
    vectors : sequence of (N, n) arrays, optional
        Test inputs, one array per input of the program; normally distributed numbers if not given.
    prefix : str
        Text that NAME begins with: letters, digits and underscores, or nothing.
    tolerance : float
        Of the test, relative to the largest entry of each output.

    Raises
    ------
    ProgramError
        The program is malformed, or the vectors do not fit it.
    """
    verify(program)
    write = _straight if program.block else _in_memory
    interface, source = write(program, name, prefix)
    return {
        f"{interface.name}.h": interface.header(notes),
        f"{interface.name}.c": source,
        f"{interface.name}_test.c": test_of(program, interface, vectors, tolerance),
    }


def _straight(program: Program, name: str, prefix: str) -> tuple[Interface, str]:
    """Interface and source of a block."""
    block = program.block
    assert block
    parts = len(statements.cut(block, statements.PART))
    interface = Interface(program, name, prefix, [f"part_{p + 1}" for p in range(parts)])
    sources = [
        InputText(f"{x.identifier}[{{}}]", (f"const double *{x.identifier}",))
        for x in interface.inputs
    ]
    code = BlockCode(block, interface.v, sources)
    terms = [f"{x.identifier}[{i}]" for x in interface.inputs for i in range(x.size)]
    places = {port.name: results for port, results in zip(block.outputs, block.results)}
    results = [places[x.name] for x in interface.outputs]
    targets = [
        (f"{x.identifier}[{i}]", k)
        for x, ks in zip(interface.outputs, results, strict=True)
        for i, k in enumerate(ks)
    ]
    computed = dict.fromkeys(k for _, k in targets if k in code.run_of)
    status = [code.value(k) for register in interface.status for k in places[register.name]]
    body = [
        interface.look_at_inputs(terms),
        code.statements(),
        *(f"    (void){x.identifier};\n" for x in interface.arguments if not x.size),
        code.stores(targets),
        interface.return_status(status, [code.value(k) for k in computed]),
    ]
    return interface, _source(interface, _used(block), code.functions(), "".join(body))


def _used(block: Block) -> set[str]:
    """Operations that results need."""
    return {block.code[k].op for run in statements.cut(block, statements.PART) for k in run}


def _in_memory(program: Program, name: str, prefix: str) -> tuple[Interface, str]:
    """Interface and source of a program on a memory."""
    called = ItemCode(program, "v").names()
    interface = Interface(program, name, prefix, called)
    items = ItemCode(program, interface.v)
    records = len(program.records)
    lines: list[str] = []
    for x, register in zip(interface.inputs, program.inputs, strict=True):
        lines += moved(x.size, f"work[{register.start} + i]", f"{x.identifier}[i]")
    lines += items.statements(program.items, interface.outputs[:records])
    registers = [r for r in program.outputs if r not in interface.status]
    for x, register in zip(interface.outputs[records:], registers, strict=True):
        lines += moved(x.size, f"{x.identifier}[i]", f"work[{register.start} + i]")
    body = [
        interface.look_at_inputs(),
        *(f"    {line}\n" for line in lines),
        interface.return_status([f"work[{register.start}]" for register in interface.status]),
    ]
    used = set().union(*(_used(table.block) for table in program.tables))
    return interface, _source(interface, used, items.definitions(), "".join(body))


def _source(interface: Interface, used: set[str], parts: str, body: str) -> str:
    """The C file of a function with its parts and body, in which these operations are used."""
    helpers = "".join(f"{text}\n\n" for op, text in HELPERS.items() if op in used)
    helpers += ALL_FINITE if "all_finite(" in body else ""
    about = comment([f"Generated by dalembert {__version__}; see {interface.name}.h."])
    return SOURCE.substitute(
        about=about,
        name=interface.name,
        helpers=helpers,
        parts=parts,
        signature=interface.signature(),
        body=body,
    )
