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
from native import cpu_name
from robots import ROBOTS, mechanism
from targets import TARGETS, Target

PACKAGES = ("llvmlite", "numpy", "pin", "mujoco", "casadi")
VECTORS = {"avx2": "AVX2", "fma": "FMA", "avx512f": "AVX-512"}
PEERS = ("Pinocchio", "MuJoCo", "CasADi")


def machine() -> dict[str, Any]:
    """What was measured on, and with what."""
    try:
        flags = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")).split()
    except (OSError, StopIteration):
        flags = []
    versions = {"dalembert": da.__version__, **{package: _version(package) for package in PACKAGES}}
    return {"date": datetime.date.today().isoformat(), "cpu": cpu_name(), "cores": os.cpu_count(),
            "vectors": {title: flag in flags for flag, title in VECTORS.items()}, "system": platform.system(),
            "python": platform.python_version(), "compiler": _compiler(), "versions": versions}


def _compiler() -> str:
    try:
        return subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "none"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def page(results: dict[str, Any]) -> str:
    """The measured part of docs/benchmarks.md."""
    robots = [_robot(name, found) for name, found in results["robots"].items()]
    parts = [_setting(results), *robots, _single(results["single"]), _threads(results["threads"]),
             _startup(results["startup"]), _limits(results), _targets(results)]
    return "\n\n".join(parts) + "\n\n"


def _setting(results: dict[str, Any]) -> str:
    m = results["machine"]
    has = [title for title, there in m["vectors"].items() if there]
    lacks = [title for title, there in m["vectors"].items() if not there]
    made = ", ".join(f"{name} {number}" for name, number in m["versions"].items())
    return (f"Measured {m['date']} on {m['cpu']}, {m['cores']} cores (virtual, shared), {' and '.join(has) or 'no vectors'}"
            + (f", no {', '.join(lacks)}" if lacks else "")
            + f"; {m['system']}, Python {m['python']}, gcc {m['compiler']}; {made}. Medians of {results['rounds']} rounds.")


def _robot(name: str, found: dict[str, Any]) -> str:
    engines = [e for e in ("dalembert", *PEERS) if any(e in row["times"] for row in found.values())]
    rows = []
    for quantity, row in found.items():
        times = [_nanoseconds(row["times"].get(e)) for e in engines]
        ratios = [f"{row['ratios'][e]:.1f}" if e in row["ratios"] else "-" for e in engines[1:]]
        gap = "-" if row["difference"] is None else f"{row['difference']:.0e}"
        rows.append([quantity.replace("_", " "), str(row["states"]), *times, *ratios, gap])
    titles = ["quantity", "states", *engines, *(f"times {e}" for e in engines[1:]), "difference"]
    return (f"### {ROBOTS[name].title}, nv = {mechanism(name).nv}\n\nns per state, one thread, median (10 % .. 90 %).\n\n"
            + _table(titles, rows))


def _single(found: dict[str, Any]) -> str:
    rows = [[name, f"{t['median'] * 1e6:.2f} ({t['low'] * 1e6:.2f} .. {t['high'] * 1e6:.2f})"] for name, t in found.items()]
    return "### One state from Python\n\nPanda, inverse dynamics.\n\n" + _table(["call", "us"], rows)


def _threads(found: dict[str, Any]) -> str:
    rows = [[quantity.replace("_", " "), _nanoseconds(row["one"]), _nanoseconds(row["two"]), f"{row['ratio']:.2f}"]
            for quantity, row in found.items()]
    return ("### Two threads\n\nPanda, 100 000 states, ns per state.\n\n"
            + _table(["quantity", "one thread", "two threads", "times faster"], rows))


def _startup(found: dict[str, Any]) -> str:
    rows = [[ROBOTS[robot].title, what.replace("_", " ") if what != "all" else "all six", str(times["values"]),
             *(f"{times[k]:.3f}" for k in ("import", "load", "trace", "first", "again"))]
            for robot, quantities in found.items() for what, times in quantities.items()]
    titles = ["robot", "quantity", "values traced", "import", "load", "trace", "trace and compile", "from the cache"]
    return "### First use\n\nSeconds in a fresh process with an empty cache.\n\n" + _table(titles, rows)


def _limits(results: dict[str, Any]) -> str:
    rows = []
    for name, found in results["robots"].items():
        for quantity, row in found.items():
            seconds = row["times"]["dalembert"]["median"]
            rows.append([ROBOTS[name].title, quantity.replace("_", " "), str(row["operations"]), str(row["bytes"]),
                         f"{row['operations'] / seconds / 1e9:.1f}", f"{row['operations'] / seconds / results['peak']:.2f}",
                         f"{row['bytes'] / seconds / 1e9:.1f}", f"{row['bytes'] / seconds / row['copy_bandwidth']:.2f}"])
    titles = ["robot", "quantity", "operations", "bytes", "Gop/s", "part of peak", "GB/s", "part of copying"]
    peak = f"{results['peak'] / 1e9:.1f} Gop/s"
    return ("### Distance from the hardware's limits\n\n"
            f"Peak of one core: {peak} (multiply-adds in registers, each two operations).\n\n"
            + _table(titles, rows))


def _targets(results: dict[str, Any]) -> str:
    rows = []
    for target in TARGETS:
        value = _value(target, results)
        if value is None:
            continue
        bound = f"{'at least' if target.least else 'at most'} {_shown(target, target.bound)}"
        rows.append([target.text, bound, _shown(target, value), "met" if target.met(value) else "**missed**"])
    met = sum(row[-1] == "met" for row in rows)
    return (f"### Targets\n\n{met} of {len(rows)} measured targets are met.\n\n"
            + _table(["target", "bound", "measured", ""], rows))


def _shown(target: Target, value: float) -> str:
    return target.form.format(value, us=value * 1e6)


def _value(target: Target, results: dict[str, Any]) -> float | None:
    """The measured number that a target is about, if it was measured."""
    kind, *where = target.key
    try:
        if kind == "ratio":
            return results["robots"][where[0]][where[1]]["ratios"][where[2]]
        if kind == "single":
            return results["single"][where[0]]["median"]
        if kind == "threads":
            return results["threads"][where[0]]["ratio"]
        if kind == "startup":
            return results["startup"][where[0]][where[1]][where[2]]
        row = results["robots"][where[0]][where[1]]
    except KeyError:
        return None
    rates = row["operations"] / results["peak"], row["bytes"] / row["copy_bandwidth"]
    return max(rates) / row["times"]["dalembert"]["median"]


def _nanoseconds(t: dict[str, float] | None) -> str:
    return "-" if t is None else f"{_digits(t['median'])} ({_digits(t['low'])} .. {_digits(t['high'])})"


def _digits(seconds: float) -> str:
    ns = seconds * 1e9
    return f"{ns:.1f}" if ns < 100 else f"{ns:.0f}"


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
