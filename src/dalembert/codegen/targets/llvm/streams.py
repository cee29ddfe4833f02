"""Results larger than the caches go to memory past them, while the next block is computed.

A store to a line of memory that no cache holds reads the line first, unless the whole of it is
written at once. So the rows of a whole block are first stored to a stage, where they stand as they
will in memory, and go on from there by lines; some lines between two functions of the next block,
since only few can be on their way at a time.

A stream is { source, destination, next source, next destination } and a stage; a source of null is
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import Template

from dalembert.codegen.blocks import Port
from dalembert.codegen.targets.llvm.function_text import FunctionText
from dalembert.codegen.targets.llvm.machine import Machine

LINE = 64  # bytes
# bytes: where scratch arrays of kernels with streams begin; on a third of other places they took
PAGE = 4096
# twice as long
FROM = 12 << 20  # bytes: results that would push each other and all else out of the caches
BLOCK = (
    16 << 10
)  # bytes of a block at most: larger ones leave the nearest cache (a humanoid gained nothing)
HEAD = LINE  # bytes of a stream before its stage


@dataclass(frozen=True)
class Stream:
    """The stream of one output, by its place among the inputs and outputs; it is a value of this
    name in the kernel.
    """

    place: int
    port: Port
    machine: Machine

    @property
    def name(self) -> str:
        """Name of the stream's variable."""
        return f"%stream{self.place}"

    @property
    def row(self) -> int:
        """Bytes of a row."""
        return self.port.size * self.machine.size

    @property
    def block(self) -> int:
        """Bytes of a block's rows."""
        return self.row * self.machine.lanes

    def made(self, f: FunctionText) -> None:
        """Put code before the loop: an empty stream, and whether the call's results are many and
        one after the other.
        """
        f.lines.append(f"  {self.name} = alloca [{HEAD + self.block + LINE} x i8], align {LINE}")
        f.lines += [
            f"  store i64 0, ptr {f.put(f'getelementptr inbounds i64, ptr {self.name}, i64 {k}')}, "
            "align 8"
            for k in range(4)
        ]
        at = f.put(f"getelementptr inbounds i64, ptr %arguments, i64 {2 * self.place + 1}")
        stride = f.put(f"load i64, ptr {at}, align 8")
        dense = f.put(f"icmp eq i64 {stride}, {self.row}")
        total = f.put(f"mul i64 {f.put('sub i64 %end, %first')}, {self.row}")
        many = f.put(f"icmp sge i64 {total}, {FROM}")
        f.lines.append(f"  {self.name}_used = and i1 {dense}, {many}")

    def follows(self, f: FunctionText) -> None:
        """Put code at the beginning of a block: the last one is on its way, this one goes to the
        stage after it.
        """
        used = f.put(f"and i1 {self.name}_used, %full")
        rows = f.put(
            f"getelementptr inbounds ptr, ptr %rows, i64 {self.place * self.machine.lanes}"
        )
        f.lines.append(
            f"  call void @follow(ptr {self.name}, ptr {rows}, i64 {self.row}, i1 {used})"
        )

    def moves(self, part: int, parts: int) -> str:
        """A line that moves a part of the last block."""
        return f"  call void @move(ptr {self.name}, i64 {self.block}, i64 {part}, i64 {parts})"

    def ends(self) -> list[str]:
        """Lines that move the last block of all."""
        return [
            f"  call void @follow(ptr {self.name}, ptr null, i64 {self.row}, i1 false)",
            self.moves(0, 1),
            "  fence seq_cst",
        ]


def functions(machine: Machine) -> str:
    """Definitions of what streams call."""
    return "\n\n".join(
        [
            _follow(machine),
            MOVE.substitute(
                line=LINE, mask=LINE - 1, number=f"i{8 * machine.size}", size=machine.size
            ),
            "!1 = !{i32 1}",
        ]
    )


def _follow(machine: Machine) -> str:
    """Definition of follow(stream, rows, bytes of a row, used): the next block becomes the source;
    if used, the rows of the block that begins lead to the stage instead of to their destination, at
    the same place in a line.
    """
    lanes = "\n".join(
        f"""  %by{k} = mul i64 %row, {k}
  %row{k} = getelementptr inbounds i8, ptr %stage, i64 %by{k}
  %at{k} = getelementptr inbounds ptr, ptr %rows, i64 {k}
  store ptr %row{k}, ptr %at{k}, align 8"""
        for k in range(machine.lanes)
    )
    return f"""define internal void @follow(ptr noalias %stream, ptr %rows, i64 %row, i1 %used) noinline {{
  %next = getelementptr inbounds i64, ptr %stream, i64 2
  %waiting = load <2 x i64>, ptr %next, align 8
  store <2 x i64> %waiting, ptr %stream, align 8
  store i64 0, ptr %next, align 8
  br i1 %used, label %stages, label %done
stages:
  %destination = load i64, ptr %rows, align 8
  %inside = and i64 %destination, {LINE - 1}
  %place = add i64 %inside, {HEAD}
  %stage = getelementptr inbounds i8, ptr %stream, i64 %place
  store ptr %stage, ptr %next, align 8
  %goal = getelementptr inbounds i64, ptr %stream, i64 3
  store i64 %destination, ptr %goal, align 8
{lanes}
  br label %done
done:
  ret void
}}"""


# Definition of move(stream, bytes of a block, part, parts): a part of the whole lines of the source
# goes to its destination past the caches; with the first part, number by number, those before and
# behind them.
MOVE = Template("""\
define internal void @move(ptr noalias %stream, i64 %bytes, i64 %part, i64 %parts) noinline {
start:
  %source = load ptr, ptr %stream, align 8
  %nothing = icmp eq ptr %source, null
  br i1 %nothing, label %done, label %some
some:
  %goals = getelementptr inbounds i64, ptr %stream, i64 1
  %goal = load ptr, ptr %goals, align 8
  %address = ptrtoint ptr %goal to i64
  %rest = sub i64 0, %address
  %head = and i64 %rest, $mask
  %whole = sub i64 %bytes, %head
  %lines = udiv i64 %whole, $line
  %following = add i64 %part, 1
  %earlier = mul i64 %lines, %part
  %later = mul i64 %lines, %following
  %from = udiv i64 %earlier, %parts
  %to = udiv i64 %later, %parts
  %any = icmp ult i64 %from, %to
  br i1 %any, label %loop, label %ends
loop:
  %line = phi i64 [ %from, %some ], [ %after, %loop ]
  %along = mul i64 %line, $line
  %at = add i64 %along, %head
  %here = getelementptr inbounds i8, ptr %source, i64 %at
  %there = getelementptr inbounds i8, ptr %goal, i64 %at
  %data = load <8 x i64>, ptr %here, align $line
  store <8 x i64> %data, ptr %there, align $line, !nontemporal !1
  %after = add i64 %line, 1
  %more = icmp ult i64 %after, %to
  br i1 %more, label %loop, label %ends
ends:
  %first = icmp eq i64 %part, 0
  br i1 %first, label %outside, label %done
outside:
  %tail = mul i64 %lines, $line
  %inner = add i64 %tail, %head
  br label %each
each:
  %k = phi i64 [ 0, %outside ], [ %step, %copy ]
  %ahead = icmp eq i64 %k, %head
  %jumped = select i1 %ahead, i64 %inner, i64 %k
  %inside = icmp ult i64 %jumped, %bytes
  br i1 %inside, label %copy, label %done
copy:
  %left = getelementptr inbounds i8, ptr %source, i64 %jumped
  %right = getelementptr inbounds i8, ptr %goal, i64 %jumped
  %x = load $number, ptr %left, align $size
  store $number %x, ptr %right, align $size
  %step = add i64 %jumped, $size
  br label %each
done:
  ret void
}""")
