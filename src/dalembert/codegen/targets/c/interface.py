"""Interface of a written C function: identifiers of its arguments, its header, its status."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from string import Template

from dalembert import __version__
from dalembert.codegen.program import (
    CODES,
    INPUT_NOT_FINITE,
    RESULT_NOT_FINITE,
    Callback,
    Program,
    results_and_status,
)
from dalembert.codegen.targets.text import beside, identifiers, known_as, numbered, plain

WIDTH = 100  # columns of a long statement
# No argument has these names,
CALLED = (
    "scratch",
    "minimum",
    "maximum",
    "work",
    "places",
    "numbers",
    "inputs_finite",
    "status",
    "all_finite",
    "i",
    "row",
    "turn",
    "goal",
    "goals",
    "goals_count",
    "repeats",
)
# no function these.
TESTING = ("vector", "vectors", "found", "difference", "worst", "k", "printf")
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


class ArrayArgument:
    """An input or result of the function: its identifier, name, and numbers of entries."""

    def __init__(self, identifier: str, name: str, shape: tuple[int, ...], records: bool):
        self.identifier, self.name, self.shape, self.records = identifier, name, shape, records
        self.size = 1
        for n in shape:
            self.size *= n
        self.count = f"goals_count * {self.size}" if records else str(self.size)

    def line(self) -> str:
        """A line of the header about it."""
        numbers = f"{' x '.join(map(str, self.shape))} numbers" if self.shape else "1 number"
        each = " for each goal" if self.records else ""
        return f"  {known_as(self.identifier, self.name)}: {numbers}{each}"


class Interface:
    """Identifiers of a function and its arguments, and what follows from these alone.

    called : names of other functions and variables of the file
    """

    def __init__(self, program: Program, name: str, prefix: str, called: Sequence[str]):
        self.program, self.label, self.beside = program, prefix + name, beside(program)
        called = [*CALLED, *called, *self.beside]
        self.name = prefix + next(
            map(_no_macro, identifiers([name], [] if prefix else [*called, *TESTING]))
        )
        places, status = results_and_status(program)
        results = [program.results[k] for k in places]
        self.results = [(program.results[k], k < len(program.records)) for k in places]
        self.status = [program.results[k] for k in status]
        names = [register.name for register in (*program.inputs, *results)]
        ports = [*map(_no_macro, identifiers(names, called))]
        inputs = zip(ports, program.inputs, strict=False)
        self.inputs = [ArrayArgument(x, r.name, r.shape, False) for x, r in inputs]
        outputs = zip(ports[len(self.inputs) :], self.results, strict=True)
        self.outputs = [ArrayArgument(x, r.name, r.shape, many) for x, (r, many) in outputs]
        self.v = numbered("v", ports)
        # other names stay apart in their case
        macro = self.name.upper() if self.name.islower() else self.name
        self.size = "" if program.block else f"{macro}_WORK"
        self.guard = f"{macro}_H"

    @property
    def arguments(self) -> list[ArrayArgument]:
        """Arrays of the inputs and outputs."""
        return [*self.inputs, *self.outputs]

    def callbacks(self) -> dict[str, Callback]:
        """Functions outside by their identifiers."""
        return {f"call_{c.function + 1}": c for c in self.program.callbacks()}

    def signature(self) -> str:
        """Declaration of the function."""
        parameters = [f"const double *{x.identifier}" for x in self.inputs]
        parameters += [f"double *{x.identifier}" for x in self.outputs]
        if self.program.goals:
            goals = self.program.goals.goal is not None
            parameters += ["const double *goals"] * goals + ["int goals_count"]
        parameters += ["int repeats"] if "repeats" in self.beside else []
        for name, callback in self.callbacks().items():
            vectors = ["const double *"] * (len(callback.takes) - 1)
            parameters.append(f"void (*{name})({', '.join(['double', *vectors, 'double *'])})")
        parameters += ["double *work"] if self.size else []
        return f"int {self.name}({', '.join(parameters) or 'void'})"

    def look_at_inputs(self, terms: Sequence[str] = ()) -> str:
        """The statement that checks the inputs, before results are written, which may overlap
        them.
        """
        return statement(f"const int inputs_finite = {_finite(self.inputs, terms)};")

    def return_status(self, status: Sequence[str], terms: Sequence[str] = ()) -> str:
        """The statements that end the function; `status`: the value of the program's status, if it
        has one.
        """
        lines = [f"    if (!inputs_finite)\n        return {INPUT_NOT_FINITE};\n"]
        lines += [f"    if ({x} != 0.0)\n        return (int){x};\n" for x in status]
        finite = _finite(self.outputs, terms)
        return "".join([*lines, statement(f"return {finite} ? 0 : {RESULT_NOT_FINITE};")])

    def header(self, notes: Sequence[str]) -> str:
        """Text of the header."""
        about = [
            f"{known_as(self.name, self.label)}, generated by dalembert {__version__}.",
            *notes,
            "",
            "Inputs:",
            *(x.line() for x in self.inputs),
            "Outputs, which may overlap the inputs; matrices row by row:",
            *(x.line() for x in self.outputs),
        ]
        about += [f"{x}: {text}" for x, text in self.beside.items()]
        about += (
            [f"work: room for {self.size} numbers, whatever they are; one for each thread"]
            if self.size
            else []
        )
        about += ["Returns a status:", *(f"  {line}" for line in CODES)]
        sizes = f"#define {self.size} {self.program.size}\n\n" if self.size else ""
        return HEADER.substitute(
            about=comment(about), guard=self.guard, sizes=sizes, signature=self.signature()
        )


def _finite(arguments: Sequence[ArrayArgument], terms: Sequence[str]) -> str:
    """A condition that holds where all entries are finite: a sum of these terms, if any, tells most
    often.
    """
    looks = [f"all_finite({x.identifier}, {x.count})" for x in arguments if x.size] or ["1"]
    exact = looks[0] if len(looks) == 1 else f"({' && '.join(looks)})"
    return f"isfinite({_sum(terms)}) || {exact}" if terms else exact


def _sum(terms: Sequence[str]) -> str:
    """A sum of halves, which a processor adds side by side."""
    if len(terms) < 3:
        return " + ".join(terms)
    half = len(terms) // 2
    return " + ".join(
        f"({_sum(part)})" if len(part) > 1 else part[0] for part in (terms[:half], terms[half:])
    )


def statement(text: str) -> str:
    """A statement of a function, in as many lines as it needs."""
    return textwrap.fill(text, WIDTH, initial_indent=4 * " ", subsequent_indent=8 * " ") + "\n"


def _no_macro(identifier: str) -> str:
    """Names all in capitals may be macros: M_PI, EOF, and any of the program that includes the
    header.
    """
    return f"{identifier}_" if len(identifier) > 1 and identifier.isupper() else identifier


def comment(lines: Sequence[str]) -> str:
    """A comment that no text can end: lines of ASCII, without comment signs and trigraphs."""
    signs = re.compile(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)")
    return (
        "/* "
        + "\n".join(f" * {signs.sub(' ', plain(line))}".rstrip() for line in lines)[3:]
        + " */\n"
    )
