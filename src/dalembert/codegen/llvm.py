"""LLVM target: one kernel per program, W states side by side in the lanes of vectors.

The kernel is written as LLVM assembly: a loop over blocks of W states, which loads rows into lanes, runs straight-line
code, and stores. Lanes beyond the last state repeat it, so that a state's result depends neither on N, nor on its place,
nor on how a batch is split. Long programs are cut into functions with the crossing values in a scratch array: LLVM's
time grows faster than linearly in the size of a function (26 000 operations in one block took 25 s).

    i64 kernel(ptr base addresses and row strides [bytes], i64 first, i64 end)

computes states first .. end - 1 and returns -1, or stops at a block with an input that is not finite and returns its first
state. Entries of a row are side by side; rows of lanes are loaded as vectors and transposed, and results likewise.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from dalembert.codegen.program import Port, Program

CHUNK = 600             # operations per function: compile time is linear, and values still fit the registers and the stack
BOUND = 1e6             # rad; beyond it (and for NaN) a lane takes the library's sine and cosine
TWO_OVER_PI = 0.6366197723675814
MAGIC = 6755399441055744.0      # 1.5 2^52: adding it rounds to an integer, whose low bits are then those of the sum
SMALL = 1e-9            # rad; above it the rounding error of the reduction is an exact difference
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)      # pi/2 in three doubles
SINE = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)      # fdlibm k_sin.c
COSINE = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
          -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)      # fdlibm k_cos.c

LIBRARY = {"tan": "tan", "asin": "asin", "acos": "acos", "atan2": "atan2", "exp": "exp", "log": "log", "sinh": "sinh",
           "cosh": "cosh", "tanh": "tanh", "hypot": "hypot", "power": "pow"}      # called lane by lane
BINARY = {"add": "fadd contract", "sub": "fsub contract", "mul": "fmul contract", "div": "fdiv"}
COMPARE = {"less": "olt", "less_equal": "ole", "equal": "oeq"}
LEAVES = ("constant", "input")
LOGICAL = {"and": "and", "or": "or"}


@dataclass(frozen=True)
class Machine:
    """What a kernel is made for: lanes per vector, and whether fused multiply-add is one instruction."""

    lanes: int
    fused: bool
    finite_inputs: bool = True      # whether inputs that are not finite stop the kernel


def assembly(program: Program, machine: Machine, name: str = "kernel") -> str:
    """LLVM assembly of a program's kernel."""
    return _Writer(program, machine, name).module()


def literal(x: float) -> str:
    """A double by its bits."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


class _Function:
    """Text of one function: numbered values, each computed where first needed."""

    def __init__(self, machine: Machine, constants: dict[str, int] | None = None):
        self.lines: list[str] = []
        self.constants = {} if constants is None else constants
        self.rows: dict[int, str] = {}                           # loads of the rows' addresses, at the function's head
        self.loaded: dict[tuple[int, int], str] = {}             # entries of inputs, by port and entry
        self.machine, self.count = machine, 0
        self.vector = f"<{machine.lanes} x double>"
        self.integers = f"<{machine.lanes} x i64>"
        self.bits = f"<{machine.lanes} x i1>"

    def put(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def label(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def all_lanes(self, text: str, kind: str = "double") -> str:
        return "<" + ", ".join([f"{kind} {text}"] * self.machine.lanes) + ">"

    def const(self, x: float) -> str:
        """A number in all lanes, from memory: there it is an operand of the arithmetic, where a literal would cost a
        broadcast of its own."""
        if x == 0:
            return self.all_lanes(literal(x))
        at = self.constants.setdefault(literal(x), len(self.constants))
        address = f"getelementptr inbounds ({self.vector}, ptr @constants, i64 {at})"
        return self.put(f"load {self.vector}, ptr {address}, align {8 * self.machine.lanes}")

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c, rounded once where the processor can."""
        v = self.vector
        if self.machine.fused:
            return self.put(f"call {v} @llvm.fma.v{self.machine.lanes}f64({v} {a}, {v} {b}, {v} {c})")
        return self.put(f"fadd {v} {self.put(f'fmul {v} {a}, {b}')}, {c}")

    def less_product(self, r: str, quotient: str, part: float) -> str:
        """r - quotient part: rounded once by fma; without it `part` is so short that the product is exact."""
        if self.machine.fused:
            return self.fma(quotient, self.const(-part), r)
        return self.put(f"fsub {self.vector} {r}, {self.put(f'fmul {self.vector} {quotient}, {self.const(part)}')}")

    def reduced(self, x: str, quotient: str) -> tuple[str, str, str]:
        """x - quotient pi/2 as a sum of two, and a value of its sign: the rounded value, and what rounding took from it
        where that matters.

        The first part of pi/2 leaves no rounding error. That of the second is found from the difference before and after,
        which is exact while the result is not small; where it is small its own rounding is small too.
        """
        v = self.vector
        first, second, *rest = HALF_PI if self.machine.fused else SHORT_PARTS
        before = self.less_product(x, quotient, first)
        r = self.less_product(before, quotient, second)
        lost = self.less_product(self.put(f"fsub {v} {before}, {r}"), quotient, second)
        size = self.put(f"call {v} @llvm.fabs.v{self.machine.lanes}f64({v} {r})")
        large = self.put(f"fcmp ogt {v} {size}, {self.const(SMALL)}")
        lost = self.put(f"select {self.bits} {large}, {v} {lost}, {v} {self.const(0.0)}")
        signed = r                                                     # -0 stays -0 so far, and no sign changes later
        for part in rest:
            r = self.less_product(r, quotient, part)
        return r, lost, signed

    def sine_cosine(self, x: str) -> tuple[str, str]:
        """Sine and cosine of x [rad]; lanes beyond BOUND by the library, lane by lane."""
        v, n = self.vector, self.integers
        shifted = self.fma(x, self.const(TWO_OVER_PI), self.const(MAGIC))
        quotient = self.put(f"fsub {v} {shifted}, {self.const(MAGIC)}")
        r, low, signed = self.reduced(x, quotient)
        z = self.put(f"fmul {v} {r}, {r}")
        p = self.const(SINE[-1])
        for coefficient in SINE[-2::-1]:
            p = self.fma(p, z, self.const(coefficient))
        sine = self.put(f"fadd {v} {r}, {self.fma(self.put(f'fmul {v} {r}, {z}'), p, low)}")
        sign = self.put(f"and {n} {self.put(f'bitcast {v} {signed} to {n}')}, {self.all_lanes(str(-2**63), 'i64')}")
        joined = self.put(f"or {n} {self.put(f'bitcast {v} {sine} to {n}')}, {sign}")
        sine = self.put(f"bitcast {n} {joined} to {v}")                # the sine of -0 is -0
        p = self.const(COSINE[-1])
        for coefficient in COSINE[-2::-1]:
            p = self.fma(p, z, self.const(coefficient))
        half = self.put(f"fmul {v} {z}, {self.const(0.5)}")
        one_less = self.put(f"fsub {v} {self.const(1.0)}, {half}")
        lost = self.put(f"fsub {v} {self.put(f'fsub {v} {self.const(1.0)}, {one_less}')}, {half}")
        small = self.fma(self.put(f"fneg {v} {r}"), low, self.fma(self.put(f"fmul {v} {z}, {z}"), p, lost))
        cosine = self.put(f"fadd {v} {one_less}, {small}")
        quadrant = self.put(f"bitcast {v} {shifted} to {n}")
        one, zero = self.all_lanes("1", "i64"), self.all_lanes("0", "i64")
        odd = self.put(f"icmp ne {n} {self.put(f'and {n} {quadrant}, {one}')}, {zero}")
        s = self.put(f"select {self.bits} {odd}, {v} {cosine}, {v} {sine}")
        c = self.put(f"select {self.bits} {odd}, {v} {sine}, {v} {cosine}")
        next_quadrant = self.put(f"add {n} {quadrant}, {one}")
        s, c = self._signed(s, quadrant), self._signed(c, next_quadrant)
        return self._beyond_bound(x, s, c)

    def _signed(self, value: str, quadrant: str) -> str:
        """The value, negated where bit 1 of the quadrant is set."""
        v, n = self.vector, self.integers
        bit = self.put(f"and {n} {quadrant}, {self.all_lanes('2', 'i64')}")
        sign = self.put(f"shl {n} {bit}, {self.all_lanes('62', 'i64')}")
        flipped = self.put(f"xor {n} {self.put(f'bitcast {v} {value} to {n}')}, {sign}")
        return self.put(f"bitcast {n} {flipped} to {v}")

    def _beyond_bound(self, x: str, s: str, c: str) -> tuple[str, str]:
        """Library values in the lanes where |x| > BOUND or x is NaN: the other lanes do not change."""
        v, lanes = self.vector, self.machine.lanes
        size = self.put(f"call {v} @llvm.fabs.v{lanes}f64({v} {x})")
        beyond = self.put(f"fcmp ugt {v} {size}, {self.const(BOUND)}")
        any_beyond = self.put(f"icmp ne i{lanes} {self.put(f'bitcast {self.bits} {beyond} to i{lanes}')}, 0")
        here, slow, done = self.label("fast"), self.label("slow"), self.label("done")
        self.lines += [f"  br label %{here}", f"{here}:",
                       f"  br i1 {any_beyond}, label %{slow}, label %{done}, !prof !0", f"{slow}:"]
        slow_s = self.put(f"call {v} @slow_sin({v} {x}, {v} {s}, {self.bits} {beyond})")
        slow_c = self.put(f"call {v} @slow_cos({v} {x}, {v} {c}, {self.bits} {beyond})")
        self.lines += [f"  br label %{done}", f"{done}:"]
        return (self.put(f"phi {v} [ {s}, %{here} ], [ {slow_s}, %{slow} ]"),
                self.put(f"phi {v} [ {c}, %{here} ], [ {slow_c}, %{slow} ]"))

    def transposed(self, rows: list[str]) -> list[str]:
        """As many vectors as there are lanes, transposed: log2(lanes) rounds of shuffles."""
        lanes, width = self.machine.lanes, 1
        while width < lanes:
            keep = [j if not j & width else lanes + j - width for j in range(lanes)]
            swap = [j + width if not j & width else lanes + j for j in range(lanes)]
            moved = list(rows)
            for i in range(lanes):
                if not i & width:
                    moved[i] = self._shuffled(rows[i], rows[i + width], keep)
                    moved[i + width] = self._shuffled(rows[i], rows[i + width], swap)
            rows, width = moved, 2 * width
        return rows

    def _shuffled(self, a: str, b: str, places: list[int]) -> str:
        mask = ", ".join(f"i32 {p}" for p in places)
        return self.put(f"shufflevector {self.vector} {a}, {self.vector} {b}, <{len(places)} x i32> <{mask}>")

    def lane_by_lane(self, function: str, operands: list[str]) -> str:
        """A library function called for each lane."""
        v, result = self.vector, "poison"
        for lane in range(self.machine.lanes):
            arguments = ", ".join(f"double {self.put(f'extractelement {v} {x}, i32 {lane}')}" for x in operands)
            value = self.put(f"call double @{function}({arguments})")
            result = self.put(f"insertelement {v} {result}, double {value}, i32 {lane}")
        return result


def _short_parts() -> tuple[float, ...]:
    """pi/2 in parts of 33 bits, enough for an error of 1e-33."""
    from fractions import Fraction

    rest, parts = sum(map(Fraction, HALF_PI)), []
    for _ in range(4):
        x = float(rest)
        bits = struct.unpack("<Q", struct.pack("<d", x))[0] & ~((1 << 20) - 1)
        parts.append(struct.unpack("<d", struct.pack("<Q", bits))[0])
        rest -= Fraction(parts[-1])
    return tuple(parts)


SHORT_PARTS = _short_parts()


def _cut(items: list, weight) -> list[list]:
    """Runs of items of some CHUNK of weight each."""
    runs: list[list] = []
    total = CHUNK
    for item in items:
        if total >= CHUNK:
            runs.append([])
            total = 0
        runs[-1].append(item)
        total += weight(item)
    return runs


class _Writer:
    """The module of one program."""

    def __init__(self, program: Program, machine: Machine, name: str):
        self.program, self.machine, self.name = program, machine, name
        self.ports = (*program.inputs, *program.outputs)
        self.constants: dict[str, int] = {}                      # in @constants, by their text
        self.order = [k for k, i in enumerate(program.code) if i.op not in LEAVES]
        self.wanted = {place for places in program.results for place in places}
        self.chunks = _cut(self.order, self._weight)
        self.chunk_of = {k: number for number, chunk in enumerate(self.chunks) for k in chunk}
        lanes = machine.lanes
        self.checks = _cut(self._groups(program.inputs) if machine.finite_inputs else [], lambda _: lanes)
        self.writes = _cut(self._groups(program.outputs), lambda _: 5 * lanes)
        self.slot = self._slots()

    def _weight(self, k: int) -> int:
        """Size of a value's code in operations."""
        op = self.program.code[k].op
        return 40 if op in ("sin", "cos") else 3 * self.machine.lanes if op in LIBRARY else 1

    def _groups(self, ports: tuple[Port, ...]) -> list[tuple[int, int]]:
        """(port, first entry) of runs of as many entries as there are lanes; the last run of a port may overlap its
        neighbour, and a port of fewer entries is one run of single entries (first entry -1)."""
        lanes = self.machine.lanes
        return [(number, min(first, port.size - lanes) if port.size >= lanes else -1) for number, port in enumerate(ports)
                for first in range(0, port.size if port.size >= lanes else min(port.size, 1), lanes)]

    def _slots(self) -> dict[int, int]:
        """Scratch places of values that a later chunk needs; a place is used again after its last reader's chunk."""
        last: dict[int, int] = {}
        for k in self.order:
            for a in self._operands(k):
                if a in self.chunk_of and self.chunk_of[a] != self.chunk_of[k]:
                    last[a] = max(last.get(a, 0), self.chunk_of[k])
        last |= dict.fromkeys((k for k in self.wanted if k in self.chunk_of), len(self.chunks))      # read at the very end
        slot: dict[int, int] = {}
        free: list[int] = []
        released: dict[int, list[int]] = {}
        used = 0
        for number, chunk in enumerate(self.chunks):
            free += released.pop(number, [])
            for k in chunk:
                if k in last:
                    if not free:
                        free, used = [used], used + 1
                    slot[k] = free.pop()
                    released.setdefault(last[k] + 1, []).append(slot[k])
        self.scratch = max(used, 1)
        return slot

    def _operands(self, k: int) -> Iterable[int]:
        return self.program.code[k].args

    def module(self) -> str:
        lanes, v = self.machine.lanes, f"<{self.machine.lanes} x double>"
        parts = [self._slow("sin"), self._slow("cos"), *(self._chunk(n) for n in range(len(self.chunks))),
                 *(self._write(n) for n in range(len(self.writes))), *(self._check(n) for n in range(len(self.checks))),
                 self._kernel()]
        called = {LIBRARY[i.op] for i in self.program.code if i.op in LIBRARY} | {"sin", "cos"}
        arity = Counter({"atan2": 1, "hypot": 1, "pow": 1})
        declared = [f"declare double @{f}(double{', double' * arity[f]}) memory(none)" for f in sorted(called)]
        intrinsics = [f"declare {v} @llvm.{f}.v{lanes}f64({', '.join([v] * n)})"
                      for f, n in (("fma", 3), ("fabs", 1), ("sqrt", 1))]
        table = ", ".join(f"{v} <{', '.join([f'double {x}'] * lanes)}>" for x in self.constants)
        stored = [f"@constants = internal global [{len(self.constants)} x {v}] [{table}], align 64"] if table else []
        return "\n\n".join([*stored, *declared, *intrinsics, *parts, '!0 = !{!"branch_weights", i32 1, i32 1048576}']) + "\n"

    def _slow(self, function: str) -> str:
        """Lanes of x where the mask is set by the library's function, the others from `fast`."""
        f = _Function(self.machine, self.constants)
        v, value = f.vector, "%fast"
        for lane in range(self.machine.lanes):
            x = f.put(f"extractelement {v} %x, i32 {lane}")
            at = f.put(f"extractelement {v} %fast, i32 {lane}")
            y = f.put(f"call double @{function}(double {x})")
            chosen = f.put(f"select i1 {f.put(f'extractelement {f.bits} %mask, i32 {lane}')}, double {y}, double {at}")
            value = f.put(f"insertelement {v} {value}, double {chosen}, i32 {lane}")
        body = "\n".join(f.lines)
        return (f"define internal {v} @slow_{function}({v} %x, {v} %fast, {f.bits} %mask) noinline cold {{\n{body}\n"
                f"  ret {v} {value}\n}}")

    def _chunk(self, number: int) -> str:
        """Instructions of one chunk: void (lane addresses of inputs and outputs, scratch)."""
        f = _Function(self.machine, self.constants)
        v = f.vector
        values: dict[int, str] = {}
        turned: dict[str, tuple[str, str]] = {}

        def get(k: int) -> str:
            op, args = self.program.code[k]
            if op == "constant":
                return f.const(args[0])
            if k not in values:
                if op == "input":
                    values[k] = self._loaded(f, *args)
                else:
                    kind = f.bits if op in COMPARE or op in LOGICAL or op == "not" else v
                    values[k] = f.put(f"load {kind}, ptr {self._scratch_at(f, k)}, align {8 * self.machine.lanes}")
            return values[k]

        for k in self.chunks[number]:
            op, args = self.program.code[k]
            if op in ("sin", "cos"):
                x = get(args[0])
                if x not in turned:
                    turned[x] = f.sine_cosine(x)
                values[k] = turned[x][op == "cos"]
            else:
                values[k] = self._operation(f, op, [get(a) for a in args])
            if k in self.slot:
                kind = f.bits if op in COMPARE or op in LOGICAL or op == "not" else v
                f.lines.append(f"  store {kind} {values[k]}, ptr {self._scratch_at(f, k)}, align {8 * self.machine.lanes}")
        return self._procedure(f"chunk{number}", f)

    def _write(self, number: int) -> str:
        """Results, transposed from lanes to the rows of the outputs."""
        f = _Function(self.machine, self.constants)

        def value(k: int) -> str:
            op, args = self.program.code[k]
            if op == "constant":
                return f.const(args[0])
            if op == "input":
                return self._loaded(f, *args)
            return f.put(f"load {f.vector}, ptr {self._scratch_at(f, k)}, align 8")

        for output, first in self.writes[number]:
            port, places = len(self.program.inputs) + output, self.program.results[output]
            if first < 0:
                for entry, k in enumerate(places):
                    self._store(f, port, entry, value(k))
                continue
            columns = [value(k) for k in places[first:first + self.machine.lanes]]
            for lane, row in enumerate(f.transposed(columns)):
                at = f.put(f"getelementptr inbounds double, ptr {self._row(f, port, lane)}, i64 {first}")
                f.lines.append(f"  store {f.vector} {row}, ptr {at}, align 8")
        return self._procedure(f"write{number}", f)

    def _check(self, number: int) -> str:
        """Sum of 0 times each input of all lanes: NaN if one is infinite or NaN."""
        f = _Function(self.machine, self.constants)
        v, total, zeros = f.vector, "%total", f.const(0.0)
        for port, first in self.checks[number]:
            found = [self._loaded(f, port, e) for e in range(self.program.inputs[port].size)] if first < 0 else [
                self._row_vector(f, port, lane, first) for lane in range(self.machine.lanes)]
            for x in found:
                total = f.fma(x, zeros, total)
        body = "\n".join([*f.rows.values(), *f.lines])
        return (f"define internal {v} @check{number}(ptr noalias %rows, {v} %total) noinline {{\n{body}\n"
                f"  ret {v} {total}\n}}")

    def _procedure(self, name: str, f: _Function) -> str:
        body = "\n".join([*f.rows.values(), *f.lines])
        return (f"define internal void @{name}(ptr noalias %rows, ptr noalias %scratch) noinline {{\nentry:\n"
                f"{body}\n  ret void\n}}")

    def _operation(self, f: _Function, op: str, x: list[str]) -> str:
        v, lanes = f.vector, self.machine.lanes
        if op in BINARY:
            return f.put(f"{BINARY[op]} {v} {x[0]}, {x[1]}")
        if op == "neg":
            return f.put(f"fneg {v} {x[0]}")
        if op in COMPARE:
            return f.put(f"fcmp {COMPARE[op]} {v} {x[0]}, {x[1]}")
        if op in LOGICAL:
            return f.put(f"{LOGICAL[op]} {f.bits} {x[0]}, {x[1]}")
        if op == "not":
            return f.put(f"xor {f.bits} {x[0]}, {f.all_lanes('true', 'i1')}")
        if op == "select":
            return f.put(f"select {f.bits} {x[0]}, {v} {x[1]}, {v} {x[2]}")
        if op in ("sqrt", "abs"):
            return f.put(f"call {v} @llvm.{ {'sqrt': 'sqrt', 'abs': 'fabs'}[op] }.v{lanes}f64({v} {x[0]})")
        if op in ("min", "max"):                               # the first operand where it is NaN, like NumPy's
            first = f.put(f"fcmp {'ole' if op == 'min' else 'oge'} {v} {x[0]}, {x[1]}")
            nan = f.put(f"fcmp uno {v} {x[0]}, {x[0]}")
            return f.put(f"select {f.bits} {f.put(f'or {f.bits} {first}, {nan}')}, {v} {x[0]}, {v} {x[1]}")
        if op == "sign":
            up = f.put(f"uitofp {f.bits} {f.put(f'fcmp ogt {v} {x[0]}, {f.const(0.0)}')} to {v}")
            down = f.put(f"uitofp {f.bits} {f.put(f'fcmp olt {v} {x[0]}, {f.const(0.0)}')} to {v}")
            nan = f.put(f"fcmp uno {v} {x[0]}, {x[0]}")
            return f.put(f"select {f.bits} {nan}, {v} {x[0]}, {v} {f.put(f'fsub {v} {up}, {down}')}")
        return f.lane_by_lane(LIBRARY[op], x)

    def _scratch_at(self, f: _Function, k: int) -> str:
        return f.put(f"getelementptr inbounds {f.vector}, ptr %scratch, i64 {self.slot[k]}")

    def _row(self, f: _Function, port: int, lane: int) -> str:
        """Address of a lane's row, loaded once per function."""
        at = port * self.machine.lanes + lane
        if at not in f.rows:
            f.rows[at] = (f"  %a{at} = getelementptr inbounds ptr, ptr %rows, i64 {at}\n"
                          f"  %r{at} = load ptr, ptr %a{at}, align 8")
        return f"%r{at}"

    def _row_vector(self, f: _Function, port: int, lane: int, first: int) -> str:
        """Entries from `first` on of one lane's row, as many as there are lanes."""
        at = f.put(f"getelementptr inbounds double, ptr {self._row(f, port, lane)}, i64 {first}")
        return f.put(f"load {f.vector}, ptr {at}, align 8")

    def _loaded(self, f: _Function, port: int, entry: int) -> str:
        """An entry of an input in all lanes; its neighbours come with it."""
        lanes, size = self.machine.lanes, self.program.inputs[port].size
        if (port, entry) in f.loaded:
            return f.loaded[port, entry]
        if size >= lanes:
            first = min(entry // lanes * lanes, size - lanes)
            columns = f.transposed([self._row_vector(f, port, lane, first) for lane in range(lanes)])
            f.loaded |= {(port, first + k): column for k, column in enumerate(columns)}
            return f.loaded[port, entry]
        result = "poison"
        for lane in range(lanes):
            at = f.put(f"getelementptr inbounds double, ptr {self._row(f, port, lane)}, i64 {entry}")
            x = f.put(f"load double, ptr {at}, align 8")
            result = f.put(f"insertelement {f.vector} {result}, double {x}, i32 {lane}")
        f.loaded[port, entry] = result
        return result

    def _store(self, f: _Function, port: int, entry: int, value: str) -> None:
        for lane in range(self.machine.lanes):
            at = f.put(f"getelementptr inbounds double, ptr {self._row(f, port, lane)}, i64 {entry}")
            x = f.put(f"extractelement {f.vector} {value}, i32 {lane}")
            f.lines.append(f"  store double {x}, ptr {at}, align 8")

    def _kernel(self) -> str:
        """The loop over blocks: addresses of the lanes' rows, finiteness of their inputs, then the chunks."""
        lanes, ports = self.machine.lanes, len(self.ports)
        f = _Function(self.machine, self.constants)
        v = f.vector
        strides, bases = [], []
        for port in range(ports):
            at = f.put(f"getelementptr inbounds i64, ptr %arguments, i64 {2 * port}")
            bases.append(f.put(f"load i64, ptr {at}, align 8"))
            at = f.put(f"getelementptr inbounds i64, ptr %arguments, i64 {2 * port + 1}")
            strides.append(f.put(f"load i64, ptr {at}, align 8"))
        head, f.lines = f.lines, []

        def place(port: int, lane: int, address: str) -> None:
            at = f.put(f"getelementptr inbounds i64, ptr %rows, i64 {port * lanes + lane}")
            f.lines.append(f"  store i64 {address}, ptr {at}, align 8")

        for port in range(ports):                              # a whole block: from row to row by the stride
            address = f.put(f"add i64 {bases[port]}, {f.put(f'mul i64 %block, {strides[port]}')}")
            for lane in range(lanes):
                place(port, lane, address)
                address = f.put(f"add i64 {address}, {strides[port]}")
        whole, f.lines = f.lines, []
        for lane in range(lanes):                              # the last block: lanes beyond the end repeat the last state
            state = f.put(f"add i64 %block, {lane}")
            inside = f.put(f"icmp slt i64 {state}, %last")
            state = f.put(f"select i1 {inside}, i64 {state}, i64 %last")
            for port in range(ports):
                place(port, lane, f.put(f"add i64 {bases[port]}, {f.put(f'mul i64 {state}, {strides[port]}')}"))
        ragged, f.lines = f.lines, []
        zeros, total = f.const(0.0), f.const(0.0)
        for n in range(len(self.checks)):
            total = f.put(f"call {v} @check{n}(ptr %rows, {v} {total})")
        calls = [f"  call void @{part}{n}(ptr %rows, ptr %scratch)"
                 for part, cut in (("chunk", self.chunks), ("write", self.writes)) for n in range(len(cut))]
        bad = f.put(f"fcmp uno {v} {total}, {zeros}")
        mask = f.put(f"bitcast {f.bits} {bad} to i{lanes}")
        any_bad = f.put(f"icmp ne i{lanes} {mask}, 0")
        return "\n".join([
            f"define i64 @{self.name}(ptr noalias %arguments, i64 %first, i64 %end) {{", "entry:",
            f"  %rows = alloca [{ports * lanes} x ptr], align 64", f"  %scratch = alloca [{self.scratch} x {v}], align 64",
            "  %last = sub i64 %end, 1", *head, "  %some = icmp slt i64 %first, %end",
            "  br i1 %some, label %loop, label %finished", "loop:",
            "  %block = phi i64 [ %first, %entry ], [ %next, %go ]", f"  %next = add i64 %block, {lanes}",
            "  %full = icmp sle i64 %next, %end", "  br i1 %full, label %whole, label %ragged", "whole:", *whole,
            "  br label %look", "ragged:", *ragged, "  br label %look", "look:", *f.lines,
            f"  br i1 {any_bad}, label %stop, label %go", "go:", *calls,
            "  %more = icmp slt i64 %next, %end", "  br i1 %more, label %loop, label %finished", "stop:",
            "  ret i64 %block",
            "finished:", "  ret i64 -1", "}"])
