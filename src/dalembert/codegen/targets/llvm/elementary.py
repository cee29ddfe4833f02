"""Elementary functions on vectors of lanes: sine and cosine inline, others lane by lane from the C
library.

Sine and cosine share one reduction by pi/2 in three parts; fdlibm's polynomials follow. At most 1.5
ulp off for
|x| <= BOUND (1.3 found). Lanes beyond take the library's functions.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from fractions import Fraction

from dalembert.codegen.passes.specializing import FUSED
from dalembert.codegen.targets.llvm.function_text import FunctionText
from dalembert.codegen.targets.llvm.machine import Machine

BOUND = 1e6  # rad; beyond it (and for NaN) a lane takes the library's sine and cosine
TWO_OVER_PI = 0.6366197723675814
# 1.5 2^52: adding it rounds to an integer, whose low bits are then those of the sum
MAGIC = 6755399441055744.0
HALF_PI = (
    1.5707963267948966,
    6.123233995736765e-17,
    1.082856673921914e-32,
)  # pi/2 in three doubles of one sign
SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)  # fdlibm k_sin.c
COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)  # fdlibm k_cos.c

LIBRARY = {
    "tan": "tan",
    "asin": "asin",
    "acos": "acos",
    "atan2": "atan2",
    "exp": "exp",
    "log": "log",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "hypot": "hypot",
    "power": "pow",
}  # called lane by lane
BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
COMPARE = {"less": "olt", "less_equal": "ole", "equal": "oeq"}
LOGICAL = {"and": "and", "or": "or"}


def _short_parts() -> tuple[float, ...]:
    """pi/2 in parts of 33 bits, enough for an error of 1e-33."""
    rest = sum(map(Fraction, HALF_PI))
    parts: list[float] = []
    for _ in range(4):
        x = float(rest)
        bits = struct.unpack("<Q", struct.pack("<d", x))[0] & ~((1 << 20) - 1)
        parts.append(struct.unpack("<d", struct.pack("<Q", bits))[0])
        rest -= Fraction(parts[-1])
    return tuple(parts)


SHORT_PARTS = _short_parts()


def angles(name: str, rows: Iterable[Sequence[int]], machine: Machine) -> str:
    """Definition of a table for `turns`: rows of places in the scratch array of an angle, its sine
    and its cosine.
    """
    texts = [
        f"[3 x i32] [{', '.join(f'i32 {machine.align * place}' for place in row)}]" for row in rows
    ]
    return f"@{name} = internal constant [{len(texts)} x [3 x i32]] [{', '.join(texts)}], align 4"


def turns(machine: Machine, constants: dict[tuple[str, str], int]) -> str:
    """Definition of turns(scratch, table, count): for each row (angle, sine, cosine) of places
    [bytes] in the array, sine and cosine of the angle [rad] in all lanes; where more angles are
    side by side than there are lanes, of several rows.
    """
    f = FunctionText(machine.wide, constants)
    narrow = machine.real != "double"
    v = f.machine.doubles
    at_once = f.machine.lanes // machine.lanes
    places = [_row(f, at) for at in range(at_once)]
    x = _joined(f, [row[0] for row in places])
    x = f.put(f"fpext {f.vector} {x} to {v}") if narrow else x
    fast = _sine_cosine(f, x)
    size = f.put(f"call {v} @llvm.fabs.v{f.machine.lanes}f64({v} {x})")
    beyond = f.put(f"fcmp ugt {v} {size}, {f.const(BOUND, 'double')}")
    f.lines += [f"  br i1 {f.any_lane(beyond)}, label %slow, label %done, !prof !0", "slow:"]
    late = [
        f.put(f"call {v} @slow_{function}({v} {x}, {v} {value}, {f.bits} {beyond})")
        for function, value in zip(("sin", "cos"), fast, strict=True)
    ]
    f.lines += ["  br label %done", "done:"]
    found = [
        f.put(f"phi {v} [ {early}, %loop ], [ {library}, %slow ]")
        for early, library in zip(fast, late, strict=True)
    ]
    for column, value in enumerate(found, 1):
        value = f.put(f"fptrunc {v} {value} to {f.vector}") if narrow else value
        _parted(f, value, [row[column] for row in places])
    return f"""define internal void @{machine.turns}(ptr noalias %scratch, ptr noalias %table, i64 %count) noinline {{
entry:
  br label %loop
loop:
  %row = phi i64 [ 0, %entry ], [ %next, %done ]
{f.body()}
  %next = add i64 %row, {at_once}
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %finished
finished:
  ret void
}}"""


def _row(f: FunctionText, ahead: int) -> list[str]:
    """Addresses of an angle, its sine and cosine, by some row of the table from %row on, or the
    last one.
    """
    row = "%row"
    if ahead:
        row = f.put(f"add i64 %row, {ahead}")
        inside = f.put(f"icmp slt i64 {row}, %count")
        row = f.put(f"select i1 {inside}, i64 {row}, i64 {f.put('sub i64 %count, 1')}")
    found = []
    for column in range(3):
        at = f.put(f"getelementptr inbounds [3 x i32], ptr %table, i64 {row}, i64 {column}")
        place = f.put(f"zext i32 {f.put(f'load i32, ptr {at}, align 4')} to i64")
        found.append(f.put(f"getelementptr inbounds i8, ptr %scratch, i64 {place}"))
    return found


def _joined(f: FunctionText, places: list[str]) -> str:
    """A vector of all lanes at a place, or of one number at each of several places."""
    if len(places) == 1:
        return f.load(places[0])
    x = "poison"
    for lane, place in enumerate(places):
        number = f.put(f"load {f.machine.real}, ptr {place}, align {f.machine.size}")
        x = f.put(f"insertelement {f.vector} {x}, {f.machine.real} {number}, i32 {lane}")
    return x


def _parted(f: FunctionText, value: str, places: list[str]) -> None:
    """The reverse of `_joined`."""
    if len(places) == 1:
        f.store(value, places[0])
        return
    for lane, place in enumerate(places):
        number = f.put(f"extractelement {f.vector} {value}, i32 {lane}")
        f.lines.append(f"  store {f.machine.real} {number}, ptr {place}, align {f.machine.size}")


def _sine_cosine(f: FunctionText, x: str) -> tuple[str, str]:
    """Sine and cosine of doubles within the bound."""
    v = f.machine.doubles
    n = f"<{f.machine.lanes} x i64>"

    def const(value: float) -> str:
        """A vector of a number."""
        return f.const(value, "double")

    def fma(a: str, b: str, c: str) -> str:
        """a b + c."""
        return f.fma(a, b, c, "double")

    def polynomial(coefficients: tuple[float, ...]) -> str:
        """A polynomial of six coefficients, by pairs: half as long a chain of operations as one
        after the other.
        """
        first, second, third = (
            fma(const(odd), z, const(even))
            for even, odd in zip(coefficients[::2], coefficients[1::2])
        )
        return fma(fma(third, w, second), w, first)

    def signed(value: str, sign: str) -> str:
        """The value, negated where the highest bit is set."""
        flipped = f.put(f"xor {n} {f.put(f'bitcast {v} {value} to {n}')}, {sign}")
        return f.put(f"bitcast {n} {flipped} to {v}")

    shifted = fma(x, const(TWO_OVER_PI), const(MAGIC))
    r = _reduced(f, x, f.put(f"fsub {v} {shifted}, {const(MAGIC)}"))
    z = f.put(f"fmul {v} {r}, {r}")
    w = f.put(f"fmul {v} {z}, {z}")
    sine = fma(f.put(f"fmul {v} {r}, {z}"), polynomial(SINE), r)
    highest = f.all_lanes(str(-(2**63)), "i64")
    sign = f.put(f"and {n} {f.put(f'bitcast {v} {r} to {n}')}, {highest}")
    joined = f.put(f"or {n} {f.put(f'bitcast {v} {sine} to {n}')}, {sign}")
    sine = f.put(f"bitcast {n} {joined} to {v}")  # the sine of -0 is -0
    cosine = fma(w, polynomial(COSINE), fma(z, const(-0.5), const(1.0)))
    quadrant = f.put(f"bitcast {v} {shifted} to {n}")
    first = f.put(
        f"shl {n} {quadrant}, {f.all_lanes('63', 'i64')}"
    )  # bit 0: whether they change places
    odd = f.put(f"icmp slt {n} {first}, {f.all_lanes('0', 'i64')}")
    s = f.put(f"select {f.bits} {odd}, {v} {cosine}, {v} {sine}")
    c = f.put(f"select {f.bits} {odd}, {v} {sine}, {v} {cosine}")
    second = f.put(f"shl {n} {quadrant}, {f.all_lanes('62', 'i64')}")  # bit 1: the sign
    second = f.put(f"and {n} {second}, {highest}")
    return signed(s, second), signed(c, f.put(f"xor {n} {first}, {second}"))


def _reduced(f: FunctionText, x: str, quotient: str) -> str:
    """x - quotient pi/2 with one rounding that matters: by fma; or by parts of pi/2 so short that
    their products are exact, with what the second subtraction lost (where the result is small,
    nothing).
    """
    v = f.machine.doubles

    def less_product(r: str, part: float) -> str:
        """r less the quotient times a part of pi/2."""
        if f.machine.fused:
            return f.fma(quotient, f.const(-part, "double"), r, "double")
        number = f.const(part, "double")
        return f.put(f"fsub {v} {r}, {f.put(f'fmul {v} {quotient}, {number}')}")

    if f.machine.fused:
        for part in HALF_PI:
            x = less_product(x, part)
        return x
    first, second, third, fourth = SHORT_PARTS
    before = less_product(x, first)
    r = less_product(before, second)
    lost = less_product(f.put(f"fsub {v} {before}, {r}"), second)
    small = f.put(f"fmul {v} {quotient}, {f.const(third, 'double')}")
    correction = f.put(f"fsub {v} {small}, {lost}")
    return less_product(f.put(f"fsub {v} {r}, {correction}"), fourth)  # a difference: -0 stays -0


def slow(function: str, f: FunctionText) -> str:
    """Definition of slow_sin or slow_cos: lanes of x where the mask is set by the library, the
    others from `fast`.
    """
    v, value = f.machine.doubles, "%fast"
    for lane in range(f.machine.lanes):
        x = f.put(f"extractelement {v} %x, i32 {lane}")
        at = f.put(f"extractelement {v} %fast, i32 {lane}")
        y = f.put(f"call double @{function}(double {x})")
        chosen = f.put(
            f"select i1 {f.put(f'extractelement {f.bits} %mask, i32 {lane}')}, double {y}, double "
            f"{at}"
        )
        value = f.put(f"insertelement {v} {value}, double {chosen}, i32 {lane}")
    return (
        f"define internal {v} @slow_{function}({v} %x, {v} %fast, {f.bits} %mask) noinline cold "
        f"{{\n{f.body()}\n"
        f"  ret {v} {value}\n}}"
    )


def kind(op: str, f: FunctionText) -> str:
    """Type of an operation's result."""
    return f.bits if op in COMPARE or op in LOGICAL or op == "not" else f.vector


def operation(f: FunctionText, op: str, x: list[str]) -> str:
    """The result of an operation other than sine and cosine."""
    v = f.vector
    if op in BINARY:
        return f.put(f"{BINARY[op]} {v} {x[0]}, {x[1]}")
    if op == "neg":
        return f.put(f"fneg {v} {x[0]}")
    if op in FUSED:
        product, addend = FUSED[op]
        factor = x[0] if product > 0 else f.put(f"fneg {v} {x[0]}")
        return f.fma(factor, x[1], x[2] if addend > 0 else f.put(f"fneg {v} {x[2]}"))
    if op in COMPARE:
        return f.put(f"fcmp {COMPARE[op]} {v} {x[0]}, {x[1]}")
    if op in LOGICAL:
        return f.put(f"{LOGICAL[op]} {f.bits} {x[0]}, {x[1]}")
    if op == "not":
        return f.put(f"xor {f.bits} {x[0]}, {f.all_lanes('true', 'i1')}")
    if op == "select":
        return f.put(f"select {f.bits} {x[0]}, {v} {x[1]}, {v} {x[2]}")
    if op in ("sqrt", "abs"):
        return f.put(
            f"call {v} @llvm.{ {'sqrt': 'sqrt', 'abs': 'fabs'}[op] }.{f.machine.suffix}({v} {x[0]})"
        )
    if op in ("min", "max"):  # the first operand where it is NaN, like NumPy's
        first = f.put(f"fcmp {'ole' if op == 'min' else 'oge'} {v} {x[0]}, {x[1]}")
        nan = f.put(f"fcmp uno {v} {x[0]}, {x[0]}")
        return f.put(
            f"select {f.bits} {f.put(f'or {f.bits} {first}, {nan}')}, {v} {x[0]}, {v} {x[1]}"
        )
    if op == "sign":
        up = f.put(f"uitofp {f.bits} {f.put(f'fcmp ogt {v} {x[0]}, {f.const(0.0)}')} to {v}")
        down = f.put(f"uitofp {f.bits} {f.put(f'fcmp olt {v} {x[0]}, {f.const(0.0)}')} to {v}")
        nan = f.put(f"fcmp uno {v} {x[0]}, {x[0]}")
        return f.put(f"select {f.bits} {nan}, {v} {x[0]}, {v} {f.put(f'fsub {v} {up}, {down}')}")
    return _lane_by_lane(f, LIBRARY[op], x)


def _lane_by_lane(f: FunctionText, function: str, operands: list[str]) -> str:
    """A library function called for each lane, in double precision."""
    narrow = f.machine.real != "double"
    result = "poison"
    for lane in range(f.machine.lanes):
        elements = [f.put(f"extractelement {f.vector} {x}, i32 {lane}") for x in operands]
        if narrow:
            elements = [f.put(f"fpext {f.machine.real} {x} to double") for x in elements]
        value = f.put(f"call double @{function}({', '.join(f'double {x}' for x in elements)})")
        if narrow:
            value = f.put(f"fptrunc double {value} to {f.machine.real}")
        result = f.put(f"insertelement {f.vector} {result}, {f.machine.real} {value}, i32 {lane}")
    return result
