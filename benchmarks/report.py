"""Measured numbers as tables in Markdown."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import dalembert as da
from narrow import NAME
from native import cpu_name
from robots import ROBOTS, mechanism
from targets import TARGETS, Target

PACKAGES = ("llvmlite", "numpy", "pin", "mujoco", "casadi", "frax", "jax")
VECTORS = {"avx2": "AVX2", "fma": "FMA", "avx512f": "AVX-512"}
OURS = ("dalembert", NAME)
PEERS = ("Pinocchio", "MuJoCo", "CasADi", "frax")


def machine() -> dict[str, Any]:
    """What was measured on, and with what."""
    try:
        flags = next(
            line
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("flags")
        ).split()
    except (OSError, StopIteration):
        flags = []
    versions = {"dalembert": da.__version__, **{package: _version(package) for package in PACKAGES}}
    return {
        "date": datetime.date.today().isoformat(),
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "vectors": {title: flag in flags for flag, title in VECTORS.items()},
        "system": platform.system(),
        "python": platform.python_version(),
        "compiler": _compiler(),
        "versions": versions,
    }


def _compiler() -> str:
    try:
        return subprocess.run(
            ["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "none"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def page(results: dict[str, Any]) -> str:
    """The measured part of docs/benchmarks.md, of as much as was measured."""
    robots = [name for name, found in results["robots"].items() if found and not ROBOTS[name].links]
    lines = [name for name, found in results["robots"].items() if found and ROBOTS[name].links]
    sections = {"single": _single, "threads": _threads, "startup": _startup, "chains": _long_chains}
    parts = [_setting(results), *(_robot(name, results["robots"][name]) for name in robots)]
    if lines:
        parts.append(_chains({name: results["robots"][name] for name in lines}))
    parts += [section(results[part]) for part, section in sections.items() if part in results]
    counted = [
        (ROBOTS[name].title, quantity.replace("_", " "), row)
        for name, found in results["robots"].items()
        for quantity, row in found.items()
        if "operations" in row
    ]
    if counted:
        parts.append(_limits(counted, results["peak"]))
    return "\n\n".join([*parts, _targets(results)]) + "\n\n"


def _setting(results: dict[str, Any]) -> str:
    m = results["machine"]
    has = [title for title, there in m["vectors"].items() if there]
    lacks = [title for title, there in m["vectors"].items() if not there]
    made = ", ".join(f"{name} {number}" for name, number in m["versions"].items())
    return (
        f"Measured {m['date']} on {m['cpu']}, {m['cores']} cores (virtual, shared), "
        f"{' and '.join(has) or 'no vectors'}"
        + (f", no {', '.join(lacks)}" if lacks else "")
        + f"; {m['system']}, Python {m['python']}, gcc {m['compiler']}; {made}. Medians of at most "
        f"{results['rounds']} "
        "rounds."
        + "".join(f"\nLeft out: {what}: {why}." for what, why in results["left_out"].items())
    )


def _robot(name: str, found: dict[str, Any]) -> str:
    rows = [([quantity.replace("_", " ")], row) for quantity, row in found.items()]
    return (
        f"### {ROBOTS[name].title}, nv = {mechanism(name).nv}\n\nns per state, one thread, median "
        "(10 % .. 90 %).\n\n" + _batches(["quantity"], rows)
    )


def _chains(found: dict[str, Any]) -> str:
    rows = [
        ([str(ROBOTS[name].links), quantity.replace("_", " ")], row)
        for name, quantities in found.items()
        for quantity, row in quantities.items()
    ]
    return "### Planar chains\n\nns per state, one thread, median (10 % .. 90 %).\n\n" + _batches(
        ["n", "quantity"], rows
    )


def _batches(titles: Sequence[str], rows: Sequence[tuple[list[str], dict[str, Any]]]) -> str:
    """Times of all engines, and ratios: median over rounds, in parentheses that of the quietest
    tenth of the rounds.
    """
    engines = [e for e in (*OURS, *PEERS) if any(e in row["times"] for _, row in rows)]
    cells = []
    for labels, row in rows:
        times = [_nanoseconds(row["times"].get(e)) for e in engines]
        ratios = [_ratio(row["ratios"]["dalembert"].get(e)) for e in engines if e in PEERS]
        gap = "-" if row["difference"] is None else f"{row['difference']:.0e}"
        cells.append([*labels, str(row["states"]), *times, *ratios, gap])
    return _table(
        [*titles, "states", *engines, *(f"times {e}" for e in engines if e in PEERS), "difference"],
        cells,
    )


def _ratio(ratio: tuple[float, float] | None) -> str:
    return "-" if ratio is None else f"{ratio[0]:.1f} ({ratio[1]:.1f})"


def _single(found: dict[str, Any]) -> str:
    rows = [
        [name, f"{t['median'] * 1e6:.2f} ({t['low'] * 1e6:.2f} .. {t['high'] * 1e6:.2f})"]
        for name, t in found.items()
    ]
    return "### One state from Python\n\nPanda, inverse dynamics.\n\n" + _table(
        ["call", "us"], rows
    )


def _threads(found: dict[str, Any]) -> str:
    rows = [
        [
            quantity.replace("_", " "),
            _nanoseconds(row["one"]),
            _nanoseconds(row["two"]),
            f"{row['ratio']:.2f} ({row['quiet']:.2f})",
        ]
        for quantity, row in found.items()
    ]
    return (
        "### Two threads\n\nPanda, 100 000 states, ns per state; and multiply-adds in registers, "
        "which share only the "
        "processors: where two threads of these gain nothing, two processors are one core's.\n\n"
        + _table(["quantity", "one thread", "two threads", "times faster"], rows)
    )


def _startup(found: dict[str, Any]) -> str:
    rows = [
        [
            ROBOTS[robot].title,
            what.replace("_", " ") if what != "all" else "all six",
            str(times["values"]),
            *(f"{times[k]:.3f}" for k in ("import", "load", "trace", "first", "again")),
        ]
        for robot, quantities in found.items()
        for what, times in quantities.items()
    ]
    titles = [
        "robot",
        "quantity",
        "values traced",
        "import",
        "load",
        "trace",
        "trace and compile",
        "from the cache",
    ]
    return (
        "### First use\n\nSeconds in a fresh process with an empty cache, the quickest of "
        "three.\n\n" + _table(titles, rows)
    )


def _long_chains(found: dict[str, Any]) -> str:
    rows = []
    for quantity, costs in found.items():
        for links, cost in costs.items():
            label = [quantity.replace("_", " "), links]
            rows.append(
                [*label, "-", "-", "-", "-", cost["failed"]]
                if "failed" in cost
                else [
                    *label,
                    str(cost["states"]),
                    f"{cost['per_joint'] * 1e9:.1f}",
                    f"{cost['first']:.2f}",
                    f"{cost['memory'] / 1e6:.0f}",
                    "",
                ]
            )
    titles = [
        "quantity",
        "links",
        "states",
        "ns per joint and state",
        "trace and compile s",
        "memory of the process MB",
        "",
    ]
    return (
        "### Growth with the length\n\nPlanar chains, each in a fresh process with an empty "
        "cache.\n\n" + _table(titles, rows)
    )


def _limits(counted: Sequence[tuple[str, str, dict[str, Any]]], peak: float) -> str:
    rows = []
    for robot, quantity, row in counted:
        seconds = row["times"]["dalembert"]["median"]
        rates = row["operations"] / seconds, row["bytes"] / seconds
        rows.append(
            [
                robot,
                quantity,
                str(row["operations"]),
                str(row["bytes"]),
                f"{rates[0] / 1e9:.1f}",
                f"{rates[1] / 1e9:.1f}",
                *(f"{row['limits'][x]:.2f}" for x in ("peak", "copying", "writing")),
            ]
        )
    titles = [
        "robot",
        "quantity",
        "operations",
        "bytes",
        "Gop/s",
        "GB/s",
        "part of peak",
        "part of copying",
        "part of writing",
    ]
    return (
        "### Distance from the hardware's limits\n\n"
        f"Peak of one core: {peak / 1e9:.1f} Gop/s (multiply-adds in registers, each two "
        "operations).\n\n" + _table(titles, rows)
    )


def _targets(results: dict[str, Any]) -> str:
    """Every target that was measured. Bounds are for AVX-512; here: half of each ratio where the
    processor has none.
    """
    wide = results["machine"]["vectors"]["AVX-512"]
    rows, met, full = [], 0, 0
    for target in TARGETS:
        value = _value(target, results)
        if value is None:
            continue
        here = target if wide else target.narrow()
        met, full = met + here.met(value), full + target.met(value)
        row = [
            target.text,
            _bound(target),
            *([] if wide else [_bound(here)]),
            _shown(target, value),
            _verdict(here, value),
        ]
        if wide:
            narrow = _value(target, results, NAME) if target.key[0] == "ratio" else None
            row += (
                ["-", "-", ""]
                if narrow is None
                else [
                    _bound(target.narrow()),
                    _shown(target, narrow),
                    _verdict(target.narrow(), narrow),
                ]
            )
        rows.append(row)
    count = f"{met} of {len(rows)} measured targets are met"
    if wide:
        titles = [
            "target",
            "bound",
            "measured",
            "",
            "bound with AVX2 only",
            "measured with AVX2 only",
            "",
        ]
        return f"### Targets\n\n{count}.\n\n" + _table(titles, rows)
    return (
        f"### Targets\n\n{count}; with the full bounds {full}. The full bounds are for processors "
        "with AVX-512. This "
        "one has none: half as many states fit a vector, and half of each bound on ratios "
        "applies.\n\n" + _table(["target", "full bound", "bound here", "measured", ""], rows)
    )


def _verdict(target: Target, value: float) -> str:
    return "met" if target.met(value) else "**missed**"


def _bound(target: Target) -> str:
    return f"{'at least' if target.least else 'at most'} {_shown(target, target.bound)}"


def _shown(target: Target, value: float) -> str:
    return target.form.format(value, us=value * 1e6, mb=value / 1e6)


def _value(target: Target, results: dict[str, Any], ours: str = "dalembert") -> float | None:
    """The measured number that a target is about, if it was measured."""
    kind, *where = target.key
    try:
        if kind == "ratio":
            return results["robots"][where[0]][where[1]]["ratios"][ours][where[2]][0]
        if kind == "single":
            return results["single"][where[0]]["median"]
        if kind == "threads":
            return results["threads"][where[0]]["ratio"]
        if kind == "startup":
            return results["startup"][where[0]][where[1]][where[2]]
        if kind == "chains":
            return results["chains"][where[0]][where[1]][where[2]]
        if kind == "growth":
            costs = results["chains"][where[0]]
            return costs["10000"]["per_joint"] / costs["100"]["per_joint"]
        row = results["robots"][where[0]][where[1]]
    except KeyError:
        return None
    return max(row["limits"].values())


def _nanoseconds(t: dict[str, float] | None) -> str:
    return (
        "-"
        if t is None
        else f"{_digits(t['median'])} ({_digits(t['low'])} .. {_digits(t['high'])})"
    )


def _digits(seconds: float) -> str:
    ns = seconds * 1e9
    return f"{ns:.1f}" if ns < 100 else f"{ns:.0f}"


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
