"""Text of one function in LLVM assembly: numbered values over vectors of lanes."""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.codegen.targets.llvm.machine import Machine, literal

CHAINS = 3  # sums side by side


class FunctionText:
    """Lines of a function, and the constants of its module: (kind of number, bits) -> place in the
    table of that kind.
    """

    def __init__(self, machine: Machine, constants: dict[tuple[str, str], int]):
        self.machine, self.constants = machine, constants
        self.lines: list[str] = []
        self.head: dict[
            str, str
        ] = {}  # values that are needed all over the function, at its beginning
        self.count = 0
        self.vector, self.bits = machine.vector, machine.bits

    def put(self, text: str) -> str:
        """A new value."""
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def once(self, name: str, text: str) -> str:
        """A value of the function's head, put there once."""
        self.head.setdefault(name, f"  {name} = {text}")
        return name

    def label(self, stem: str) -> str:
        """A name for a block, used once."""
        self.count += 1
        return f"{stem}{self.count}"

    def body(self) -> str:
        """Text of the function's body."""
        return "\n".join([*self.head.values(), *self.lines])

    def all_lanes(self, text: str, kind: str = "double") -> str:
        """A vector constant with the same number in each lane."""
        return "<" + ", ".join([f"{kind} {text}"] * self.machine.lanes) + ">"

    def const(self, x: float, real: str = "") -> str:
        """A number in all lanes, from memory: there it is an operand of the arithmetic, where a
        literal would cost a broadcast of its own.
        """
        real = real or self.machine.real
        if x == 0:
            return self.all_lanes(literal(x), real)
        at = self.constants.setdefault((real, literal(x, real)), len(self.constants))
        vector = f"<{self.machine.lanes} x {real}>"
        return self.put(
            f"load {vector}, ptr @constant{at}, align "
            f"{self.machine.lanes * (8 if real == 'double' else 4)}"
        )

    def tables(self) -> list[str]:
        """Definitions of the constants."""
        wide = FunctionText(self.machine.wide, self.constants)
        return [
            f"@constant{at} = internal constant <{wide.machine.lanes} x {real}> "
            f"{wide.all_lanes(x, real)}, align 64"
            for (real, x), at in self.constants.items()
        ]

    def everywhere(self, x: str) -> str:
        """A number in all lanes."""
        v, lanes = self.vector, self.machine.lanes
        first = self.put(f"insertelement {v} poison, {self.machine.real} {x}, i32 0")
        return self.put(f"shufflevector {v} {first}, {v} poison, <{lanes} x i32> zeroinitializer")

    def load(self, address: str, kind: str = "") -> str:
        """A vector at an aligned place."""
        return self.put(f"load {kind or self.vector}, ptr {address}, align {self.machine.align}")

    def store(self, value: str, address: str, kind: str = "") -> None:
        """Store a vector."""
        self.lines.append(
            f"  store {kind or self.vector} {value}, ptr {address}, align {self.machine.align}"
        )

    def fma(self, a: str, b: str, c: str, real: str = "") -> str:
        """a b + c, rounded once where the processor can."""
        lanes, real = self.machine.lanes, real or self.machine.real
        v = f"<{lanes} x {real}>"
        if self.machine.fused:
            name = f"llvm.fma.v{lanes}f{64 if real == 'double' else 32}"
            return self.put(f"call {v} @{name}({v} {a}, {v} {b}, {v} {c})")
        return self.put(f"fadd {v} {self.put(f'fmul {v} {a}, {b}')}, {c}")

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
            rows = moved
            width = 2 * width
        return rows

    def _shuffled(self, a: str, b: str, places: list[int]) -> str:
        mask = ", ".join(f"i32 {p}" for p in places)
        return self.put(
            f"shufflevector {self.vector} {a}, {self.vector} {b}, <{len(places)} x i32> <{mask}>"
        )

    def any_lane(self, mask: str) -> str:
        """Whether a mask of lanes has a lane set."""
        lanes = self.machine.lanes
        return self.put(
            f"icmp ne i{lanes} {self.put(f'bitcast {self.bits} {mask} to i{lanes}')}, 0"
        )


class Zeros:
    """Code that adds 0 times each vector it is shown to a total: NaN once a number of them is
    infinite or NaN.

    Each vector is multiplied by 0 before it is added, since a sum of finite numbers may be
    infinite. Chains of operations side by side are waited for less than one long chain.
    """

    def __init__(self, f: FunctionText, total: str):
        self.f, self.chains, self.count = f, [total], 0

    def add(self, vectors: Sequence[str]) -> None:
        """Add vectors times 0, which are NaN where these are not finite."""
        f = self.f
        zeros = self.f.const(0.0)
        for x in vectors:
            self.count += 1
            if len(self.chains) < CHAINS:
                self.chains.append(f.put(f"fmul {f.vector} {x}, {zeros}"))
            else:
                self.chains[self.count % CHAINS] = f.fma(x, zeros, self.chains[self.count % CHAINS])

    def total(self) -> str:
        """The sum of all, by pairs."""
        f, rest = self.f, self.chains
        while len(rest) > 1:
            pairs = [
                f.put(f"fadd {f.vector} {a}, {b}")
                for a, b in zip(rest[::2], rest[1::2], strict=False)
            ]
            rest = pairs + rest[2 * len(pairs) :]
        return rest[0]
