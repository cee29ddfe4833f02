"""Statements of C for blocks and items.

Long blocks are cut into static functions, with the values that cross from one to another in a
scratch array on the stack. All inputs are read before an output is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from dalembert.codegen.blocks import CONDITIONS, Block
from dalembert.codegen.passes.cutting import cut, slots
from dalembert.codegen.program import (
    REPEATS,
    BlockTable,
    Callback,
    Clear,
    Goals,
    Item,
    Program,
    Scan,
    Turns,
)
from dalembert.codegen.targets.text import INFIX, ArrayArgument, operand

# Statements per function: C99 promises 511 names in a block, and compile time stays linear (46 000
# operations, gcc -O2: 10 s, in one function 44 s).
PART = 400
FUNCTIONS = {
    "power": "pow",
    "abs": "fabs",
    "min": "minimum",
    "max": "maximum",
}  # others by their own name
FORMS = {"neg": "-{}", "not": "!{}", "and": "{} && {}", "or": "{} || {}", "select": "{} ? {} : {}"}


class InputText(NamedTuple):
    """Entries of a block's input, as a form with a place for the number of the entry, and the
    parameters that it needs.
    """

    form: str
    parameters: tuple[str, ...]


class BlockCode:
    """Functions and statements of a block; the stem is that of names of its functions."""

    def __init__(self, block: Block, v: str, sources: Sequence[InputText], stem: str = ""):
        self.block, self.v, self.sources, self.stem = block, v, sources, stem
        self.runs = cut(block, PART) or [[]]
        self.run_of = {k: number for number, run in enumerate(self.runs) for k in run}
        self.last = len(self.runs) - 1
        read = {self.last: [k for places in block.results for k in places]}
        self.slot, self.slots = slots(block, self.runs, read)

    def names(self) -> list[str]:
        """Names of the functions."""
        return [f"{self.stem}part_{number + 1}" for number in range(self.last)]

    def functions(self) -> str:
        """Definitions of the functions of all runs but the last."""
        return "".join(
            f"static void {name}({', '.join([*self._parameters(number), 'double *scratch'])})\n"
            f"{{\n{self._run(number)}}}\n\n"
            for number, name in enumerate(self.names())
        )

    def statements(self) -> str:
        """Statements that compute all values."""
        lines = []
        if self.slots:
            about = "/* values that later parts need */"
            lines.append(f"    double scratch[{self.slots}];      {about}\n")
        for number, name in enumerate(self.names()):
            arguments = [p.split("*")[-1] for p in self._parameters(number)]
            lines.append(f"    {name}({', '.join([*arguments, 'scratch'])});\n")
        return "".join([*lines, self._run(self.last)])

    def stores(self, targets: Iterable[tuple[str, int]]) -> str:
        """Statements that store values; inputs among them are read first."""
        targets = list(targets)
        code = self.block.code
        passed = {k: f"{self.v}{k}" for _, k in targets if code[k].op == "input"}
        lines = [f"    const double {x} = {self.value(k)};\n" for k, x in passed.items()]
        lines += [f"    {target} = {passed.get(k) or self.value(k)};\n" for target, k in targets]
        return "".join(lines)

    def value(self, k: int) -> str:
        """A value as the statements see it."""
        return self._operand(k, self.last)

    def _parameters(self, number: int) -> list[str]:
        """Declarations that a run needs, in the order of the inputs."""
        code = self.block.code
        read = {
            code[a].args[0]
            for k in self.runs[number]
            for a in code[k].args
            if code[a].op == "input"
        }
        return list(
            dict.fromkeys(p for port in sorted(read) for p in self.sources[port].parameters)
        )

    def _run(self, number: int) -> str:
        """Values of a run, and those of them that later ones need."""
        lines = []
        for k in self.runs[number]:
            op, args = self.block.code[k]
            kind = "int" if op in CONDITIONS else "double"
            text = operation(op, [self._operand(a, number) for a in args])
            lines.append(f"    const {kind} {self.v}{k} = {text};\n")
        lines += [
            f"    scratch[{self.slot[k]}] = {self.v}{k};\n"
            for k in self.runs[number]
            if k in self.slot
        ]
        return "".join(lines)

    def _operand(self, k: int, number: int) -> str:
        """A value as a run sees it."""
        op, args = self.block.code[k]
        if op == "constant":
            return operand(args[0])
        if op == "input":
            return self.sources[args[0]].form.format(args[1])
        if self.run_of[k] == number:
            return f"{self.v}{k}"
        slot = f"scratch[{self.slot[k]}]"
        return f"({slot} != 0.0)" if op in CONDITIONS else slot


def operation(op: str, operands: list[str]) -> str:
    """An expression."""
    if op in INFIX:
        return f" {INFIX[op]} ".join(operands)
    if op in FORMS:
        return FORMS[op].format(*operands)
    return f"{FUNCTIONS.get(op, op)}({', '.join(operands)})"


class TableCode:
    """The function of a table's block, and the table; of one row, places are numbers in the text."""

    def __init__(self, number: int, table: BlockTable, v: str):
        self.name = f"table_{number + 1}"
        self.table = table
        self.many = len(table.places) > 1 and len(table.ports) > 0
        self.constants = 0 if table.numbers is None else table.numbers.shape[1]
        numbers = InputText("numbers[{}]", ("const double *numbers",))
        sources = [*[numbers] * table.constants, *map(self._source, range(len(table.inputs)))]
        self.code = BlockCode(table.block, v, sources, f"{self.name}_")

    def names(self) -> list[str]:
        """Names that the file may not use otherwise."""
        stems = ("places", "numbers")
        return [self.name, *self.code.names(), *(f"{stem}_{self.name}" for stem in stems)]

    def definitions(self) -> str:
        """The table, and the functions; a block without outputs does nothing."""
        block, table = self.table.block, self.table
        if not block.outputs:
            return ""
        text = ""
        if self.many:
            text += _constants(f"places_{self.name}", "int", table.places.tolist())
        if self.constants:
            assert table.numbers is not None
            text += _constants(f"numbers_{self.name}", "double", table.numbers.tolist())
        targets = [
            (self._source(port).form.format(entry), k)
            for port, results in enumerate(block.results, len(table.inputs))
            for entry, k in enumerate(results)
        ]
        parameters = ["double *work"]
        parameters += ["const int *places"] * self.many
        parameters += ["const double *numbers"] * bool(self.constants)
        body = self.code.statements() + self.code.stores(targets)
        head = f"static void {self.name}({', '.join(parameters)})"
        return f"{text}{self.code.functions()}{head}\n{{\n{body}}}\n\n"

    def call(self, row: int | str) -> str:
        """The statement that runs a row."""
        if not self.table.block.outputs:
            return ";"
        arguments = ["work", *[f"places_{self.name}[{row}]"] * self.many]
        arguments += [f"numbers_{self.name}[{row}]"] * bool(self.constants)
        return f"{self.name}({', '.join(arguments)});"

    def _source(self, port: int) -> InputText:
        if self.many:
            work = ("const double *work", "const int *places")
            return InputText(f"work[places[{port}] + {{}}]", work)
        start = self.table.places[0, port]
        return InputText(f"work[{start} + {{}}]", ("const double *work",))


class ItemCode:
    """Functions and statements of the items of a program, whose memory is the array `work`."""

    def __init__(self, program: Program, v: str):
        self.program = program
        self.tables = [TableCode(number, table, v) for number, table in enumerate(program.tables)]

    def names(self) -> list[str]:
        """Names that the file may not use otherwise."""
        stems = ("runs", "scan", "angles", "turns", "turn")
        numbers = range(1, len(self.program.every_item) + 1)
        return [
            *(name for table in self.tables for name in table.names()),
            *(f"{stem}_{k}" for stem in stems for k in numbers),
        ]

    def definitions(self) -> str:
        """Definitions of the tables and functions that the items use."""
        text = "".join(table.definitions() for table in self.tables)
        for item in self.program.every_item:
            number = self.program.number(item)
            if isinstance(item, Turns):
                text += _turns(number, item)
            elif isinstance(item, Scan) and not item.single:
                text += self._scan(number, item)
        return text

    def statements(self, items: Sequence[Item], records: Sequence[ArrayArgument]) -> list[str]:
        """Lines that run items, without their indentation."""
        return [line for item in items for line in self._item(item, records)]

    def _item(self, item: Item, records: Sequence[ArrayArgument]) -> list[str]:
        number = self.program.number(item)
        if isinstance(item, Scan):
            if not item.single:
                return [f"scan_{number}(work);"]
            table, row = item.order[0].tolist()
            return [self.tables[table].call(row)]
        if isinstance(item, Turns):
            return [f"turns_{number}(work);"]
        if isinstance(item, Clear):
            clear = f"work[{item.start} + i] = 0.0;"
            return [f"for (int i = 0; i < {item.stop - item.start}; i++)", f"    {clear}"]
        if isinstance(item, Callback):
            time, *vectors = item.takes
            arguments = [f"work[{time.start}]"]
            arguments += [f"work + {register.start}" for register in (*vectors, item.gives)]
            return [f"call_{item.function + 1}({', '.join(arguments)});"]
        inner = self.statements(item.items, records)
        if isinstance(item, Goals):
            head = "for (int goal = 0; goal < goals_count; goal++) {"
            inner = [f"work[{item.goal}] = goals[goal];"] * (item.goal is not None) + inner
            for x, register in zip(records, item.records, strict=True):
                place = f"{x.identifier}[goal * {x.size} + i]"
                inner += moved(x.size, place, f"work[{register.start} + i]")
        else:
            most = "repeats" if item.most == REPEATS else str(item.most)
            going = "" if item.until is None else f" && work[{item.until}] == 0.0"
            turn = f"turn_{number}"  # no loop has the name of one around it
            head = f"for (int {turn} = 0; {turn} < {most}{going}; {turn}++) {{"
        return [head, *(f"    {line}" for line in inner), "}"]

    def _scan(self, number: int, scan: Scan) -> str:
        """The loop over runs of rows."""
        runs = f"runs_{number}"
        rows = f"int row = {runs}[i][1]; row < {runs}[i][1] + {runs}[i][2]; row++"
        used = sorted({table for table, _, _ in scan.runs})
        cases = [f"            case {k}: {self.tables[k].call('row')} break;\n" for k in used]
        return "".join(
            [
                _constants(runs, "int", scan.runs),
                f"static void scan_{number}(double *work)\n{{\n",
                f"    for (int i = 0; i < {len(scan.runs)}; i++)\n",
                f"        for ({rows})\n",
                f"            switch ({runs}[i][0]) {{\n",
                *cases,
                "            }\n}\n\n",
            ]
        )


def moved(count: int, target: str, source: str) -> list[str]:
    """Lines that move numbers with index i."""
    return [f"for (int i = 0; i < {count}; i++)", f"    {target} = {source};"] if count else []


def _turns(number: int, turns: Turns) -> str:
    angles = f"angles_{number}"
    count = len(turns.places)
    lines = [
        line
        for column, function in ((1, "sin"), (2, "cos"))
        for line in moved(
            count, f"work[{angles}[i][{column}]]", f"{function}(work[{angles}[i][0]])"
        )
    ]
    body = "".join(f"    {line}\n" for line in lines)
    table = _constants(angles, "int", turns.places.tolist())
    return f"{table}static void turns_{number}(double *work)\n{{\n{body}}}\n\n"


def _constants(name: str, real: str, rows: Sequence[Sequence[Any]]) -> str:
    """Definition of a table of constants."""
    text = ",\n    ".join(f"{{{', '.join(map(repr, row))}}}" for row in rows)
    return f"static const {real} {name}[{len(rows)}][{len(rows[0])}] = {{\n    {text}\n}};\n\n"
