"""Between memory and lanes: rows of arrays are loaded as vectors and transposed, and results
likewise.
"""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.codegen.blocks import Port
from dalembert.codegen.program import Register
from dalembert.codegen.targets.llvm.function_text import FunctionText

ALONE = -1  # first entry of a group of single entries


def groups(ports: Sequence[Port | Register], lanes: int) -> list[tuple[int, int]]:
    """(port, first entry) of runs of as many entries as there are lanes; the last run of a port may
    overlap its neighbour, and a port of fewer entries is one run of single entries (first entry
    ALONE).
    """
    return [
        (number, min(first, port.size - lanes) if port.size >= lanes else ALONE)
        for number, port in enumerate(ports)
        for first in range(0, port.size if port.size >= lanes else min(port.size, 1), lanes)
    ]


def entries(port: Port | Register, first: int, lanes: int) -> range:
    """The entries of a group."""
    return range(first, first + lanes) if first >= 0 else range(port.size)


def loaded(f: FunctionText, port: int, first: int | str, size: int) -> list[str]:
    """Entries of a group, each in all lanes; the first entry may be a value."""
    lanes, real = f.machine.lanes, f.machine.real
    if first != ALONE:
        return f.transposed(
            [
                f.put(
                    f"load {f.vector}, ptr {_entry(f, port, lane, first)}, align {f.machine.size}"
                )
                for lane in range(lanes)
            ]
        )
    found = []
    for entry in range(size):
        result = "poison"
        for lane in range(lanes):
            x = f.put(f"load {real}, ptr {_entry(f, port, lane, entry)}, align {f.machine.size}")
            result = f.put(f"insertelement {f.vector} {result}, {real} {x}, i32 {lane}")
        found.append(result)
    return found


def stored(f: FunctionText, columns: Sequence[str], port: int, first: int | str) -> None:
    """Store the entries of a group, each given in all lanes."""
    lanes, real = f.machine.lanes, f.machine.real
    if first != ALONE:
        for lane, row in enumerate(f.transposed(list(columns))):
            f.lines.append(
                f"  store {f.vector} {row}, ptr {_entry(f, port, lane, first)}, align "
                f"{f.machine.size}"
            )
        return
    for entry, value in enumerate(columns):
        for lane in range(lanes):
            x = f.put(f"extractelement {f.vector} {value}, i32 {lane}")
            f.lines.append(
                f"  store {real} {x}, ptr {_entry(f, port, lane, entry)}, align {f.machine.size}"
            )


def _entry(f: FunctionText, port: int, lane: int, entry: int | str) -> str:
    """Address of an entry of a lane's row; the row's address is loaded once per function."""
    at = port * f.machine.lanes + lane
    place = f.once(f"%a{at}", f"getelementptr inbounds ptr, ptr %rows, i64 {at}")
    row = f.once(f"%r{at}", f"load ptr, ptr {place}, align 8")
    return f.put(f"getelementptr inbounds {f.machine.real}, ptr {row}, i64 {entry}")


class Addresses:
    """Head and per-block code of a kernel that fills %rows with the addresses of each lane's row,
    for each port.

    Lanes beyond the last state repeat it.
    """

    def __init__(self, f: FunctionText, ports: int):
        self.f, self.ports = f, ports
        self.bases: list[str] = []
        self.strides: list[str] = []
        for port in range(ports):
            for values, offset in ((self.bases, 0), (self.strides, 1)):
                at = f.put(f"getelementptr inbounds i64, ptr %arguments, i64 {2 * port + offset}")
                values.append(f.put(f"load i64, ptr {at}, align 8"))

    def block(self) -> None:
        """Branches to %whole or %ragged, which meet in %look."""
        f, lanes = self.f, self.f.machine.lanes
        f.lines += ["  br i1 %full, label %whole, label %ragged", "whole:"]
        for port, (base, stride) in enumerate(zip(self.bases, self.strides, strict=True)):
            address = f.put(f"add i64 {base}, {f.put(f'mul i64 %block, {stride}')}")
            for lane in range(lanes):  # from row to row by the stride
                self._place(port, lane, address)
                address = f.put(f"add i64 {address}, {stride}")
        f.lines += ["  br label %look", "ragged:"]
        for lane in range(lanes):
            state = f.put(f"add i64 %block, {lane}")
            inside = f.put(f"icmp slt i64 {state}, %last")
            state = f.put(f"select i1 {inside}, i64 {state}, i64 %last")
            for port, (base, stride) in enumerate(zip(self.bases, self.strides, strict=True)):
                self._place(
                    port, lane, f.put(f"add i64 {base}, {f.put(f'mul i64 {state}, {stride}')}")
                )
        f.lines += ["  br label %look", "look:"]

    def _place(self, port: int, lane: int, address: str) -> None:
        at = self.f.put(
            f"getelementptr inbounds i64, ptr %rows, i64 {port * self.f.machine.lanes + lane}"
        )
        self.f.lines.append(f"  store i64 {address}, ptr {at}, align 8")
