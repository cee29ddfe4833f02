"""The loop over blocks of states that every kernel is.

    i64 kernel(ptr base addresses and row strides [bytes], i64 first, i64 end)

computes states first .. end - 1 and returns FINE, or DOUBTFUL if a status is not 0 or a result not
finite, or stops at a block with an input that is not finite and returns its first state. Lanes
beyond the last state repeat it, so that a state's result depends neither on N, nor on its place,
nor on how a batch is split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dalembert.codegen.blocks import TURNS
from dalembert.codegen.targets.llvm.elementary import LIBRARY, slow, turns
from dalembert.codegen.targets.llvm.function_text import FunctionText
from dalembert.codegen.targets.llvm.rows import Addresses

FINE, DOUBTFUL = -1, -2
ARITY = {"atan2": 2, "hypot": 2, "pow": 2}


def kernel(
    f: FunctionText,
    name: str,
    ports: int,
    prepared: Iterable[str],
    read: Callable[[], str],
    compute: Callable[[], str],
    alone: str = "",
    late: Sequence[str] = (),
) -> str:
    """Definition of a kernel; `alone` is one that takes over where there is but one state.

    prepared : lines before the loop, which make %scratch
    read : puts code that reads a block and gives a vector that is not NaN in lanes whose inputs are
        finite
    compute : puts code that computes and stores and gives a mask of doubtful lanes
    late : lines behind the loop
    """
    v, lanes = f.vector, f.machine.lanes
    addresses = Addresses(f, ports)
    head, f.lines = f.lines, []
    addresses.block()
    finite = read()
    bad = f.any_lane(f.put(f"fcmp uno {v} {finite}, {f.const(0.0)}"))
    before, f.lines = f.lines, []
    doubtful = f.put(f"or i1 %doubtful, {f.any_lane(compute())}")
    return "\n".join(
        [
            f"define i64 @{name}(ptr noalias %arguments, i64 %first, i64 %end) {{",
            "start:",
            f"  %rows = alloca [{ports * lanes} x ptr], align 64",
            *prepared,
            *_handed_over(alone),
            "entry:",
            "  %last = sub i64 %end, 1",
            *head,
            "  %some = icmp slt i64 %first, %end",
            "  br i1 %some, label %loop, label %finished",
            "loop:",
            "  %block = phi i64 [ %first, %entry ], [ %next, %go ]",
            f"  %doubtful = phi i1 [ false, %entry ], [ {doubtful}, %go ]",
            f"  %next = add i64 %block, {lanes}",
            "  %full = icmp sle i64 %next, %end",
            *before,
            f"  br i1 {bad}, label %stop, label %go",
            "go:",
            *f.lines,
            "  %more = icmp slt i64 %next, %end",
            "  br i1 %more, label %loop, label %finished",
            "stop:",
            "  ret i64 %block",
            "finished:",
            f"  %seen = phi i1 [ false, %entry ], [ {doubtful}, %go ]",
            *late,
            f"  %status = select i1 %seen, i64 {DOUBTFUL}, i64 {FINE}\n  ret i64 %status",
            "}",
        ]
    )


def _handed_over(alone: str) -> list[str]:
    """Lines that let another kernel take over where there is but one state."""
    if not alone:
        return ["  br label %entry"]
    return [
        "  %count = sub i64 %end, %first",
        "  %one = icmp eq i64 %count, 1",
        "  br i1 %one, label %alone, label %entry",
        "alone:",
        f"  %own = call i64 @{alone}(ptr %arguments, i64 %first, i64 %end)",
        "  ret i64 %own",
    ]


def module(
    f: FunctionText, operations: Iterable[str], parts: Iterable[str], alone: bool = False
) -> str:
    """A module of some functions that use these operations, with what these call and the constants
    of f.

    alone : whether some of the functions are for a single state
    """
    machines = (f.machine, f.machine.alone) if alone else (f.machine,)
    wide = f.machine.wide
    own = [
        *(slow(name, FunctionText(wide, f.constants)) for name in TURNS),
        *(turns(m, f.constants) for m in machines),
    ]
    kinds = {(m.vector, m.suffix) for m in machines} | {(wide.doubles, f"v{wide.lanes}f64")}
    called = {LIBRARY[op] for op in operations if op in LIBRARY} | set(TURNS)
    declared = [
        f"declare double @{name}({', '.join(['double'] * ARITY.get(name, 1))}) memory(none)"
        for name in sorted(called)
    ]
    declared += [
        f"declare {k} @llvm.{name}.{suffix}({', '.join([k] * n)})"
        for k, suffix in sorted(kinds)
        for name, n in (("fma", 3), ("fabs", 1), ("sqrt", 1))
    ]
    return (
        "\n\n".join(
            [*f.tables(), *declared, *own, *parts, '!0 = !{!"branch_weights", i32 1, i32 1048576}']
        )
        + "\n"
    )
