"""Work and precision on closed loops beside other engines.

`python benchmarks/loops.py [--quick] [--write docs/loops_benchmark.md]` measures four loops, an
ensemble, and chains of loops of growing length; it renews the tables of the page and its diagram.
Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dalembert as da
from dalembert.integrators import METHODS
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.options import Actions, Model
from loop_cases import CASES, Case, forces, mechanism, n_four_bar
from report import machine

TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11)
MOST = 1_000_000  # steps
WHOLE = "da.simulate"
AIM = 1e-6  # error at which engines are compared
STEPS = {
    "MuJoCo": (1e3, 2e3, 5e3, 1e4, 2e4, 5e4),
    "Exudyn": (1e3, 5e3, 2e4),
}  # in the duration
START, END = "<!-- measured -->", "<!-- end of measured -->"
LEAST = {"Exudyn": 20, "MuJoCo": 20, "Pinocchio, C++": 5, "SymPy and numba": 1}  # times its speed


class Point(NamedTuple):
    """Seconds of processor time of a run, and its error."""

    seconds: float
    error: float


class Curve(NamedTuple):
    """Points of an engine on a case."""

    case: str
    engine: str
    points: list[Point]

    def seconds_at(self, error: float) -> tuple[float, bool]:
        """Least processor time at an error, and whether it was reached or follows from the order."""
        reached = [p.seconds for p in self.points if p.error <= error]
        if reached:
            return min(reached), True
        best = min(self.points, key=lambda p: p.error)
        others = [p for p in self.points if p.seconds < best.seconds and p.error > best.error]
        if not others:
            return float("nan"), False
        other = min(others, key=lambda p: p.error)
        order = np.log(other.error / best.error) / np.log(best.seconds / other.seconds)
        return best.seconds * (best.error / error) ** (1 / order), False


def ours(case: Case) -> Callable[[float], Point]:
    """`da.simulate` of the whole motion, its end recorded, by its tolerance."""
    system, law = mechanism(case), forces(case)
    options: dict[str, Any] = {"method": "dop853"} | ({"forces": law} if law else {})

    def run(tolerance: float) -> Point:
        """Processor time and error of a run."""
        start = time.process_time()
        run = da.simulate(
            system,
            case.q,
            case.qd,
            [0.0, case.duration],
            rtol=tolerance,
            atol=tolerance,
            **options,
        )
        return Point(time.process_time() - start, case.error(run.q[-1]))

    return run


def solver(system: Any, law: Any) -> Callable[..., Any]:
    """Machine code of whole motions, from velocities (N, nv) of a case, by a tolerance."""
    motion = FirstOrderSystem(Model(system), Actions(forces=law))
    propagator = motion.code.propagator(METHODS["dop853"])
    p = np.atleast_1d(motion.constants)

    def run(case: Case, qd: np.ndarray, tolerance: float) -> Any:
        """The trajectories."""
        x = np.zeros((len(qd), motion.nx))
        x[:, : system.nq] = case.q
        x[:, system.nq : system.nq + system.nv] = qd
        times = np.array([0.0, case.duration])
        return propagator.run(x, times, 1e-4 * case.duration, p, MOST, tolerance, tolerance)

    return run


def alone(case: Case) -> Callable[[float], Point]:
    """The solve alone, as the others are timed, by its tolerance."""
    system = mechanism(case)
    solve = solver(system, forces(case))

    def run(tolerance: float) -> Point:
        """Processor time and error of a run."""
        start = time.process_time()
        found = solve(case, case.qd[None], tolerance)
        return Point(time.process_time() - start, case.error(found.x[0, -1, : system.nq]))

    return run


def engines(name: str, case: Case) -> Iterator[tuple[str, list[Callable[[], Any]]]]:
    """Runs of each peer that is there, by settings."""
    try:
        import loop_engines as peers
    except ImportError as error:
        print(f"no peers: {error}", file=sys.stderr)
        return
    frequency = 2000.0 if name == "squeezer" else 10.0
    yield (
        "Pinocchio, C++",
        [
            partial(peers.pinocchio, case, tolerance, f)
            for tolerance in TOLERANCES
            for f in (0.0, frequency)
        ],
    )
    steps = {k: [case.duration / n for n in counts] for k, counts in STEPS.items()}
    yield "MuJoCo", [partial(peers.mujoco, case, h, f) for h in steps["MuJoCo"] for f in (1.0, 2.0)]
    yield "Exudyn", [partial(peers.exudyn, case, h) for h in steps["Exudyn"]]
    from loop_sympy import sympy_numba

    yield (
        "SymPy and numba",
        [partial(sympy_numba, name, case, tolerance) for tolerance in TOLERANCES],
    )


def measured(name: str, repeats: int) -> tuple[list[Curve], float]:
    """Curves of all engines on a case, and how long the first run of ours took [s]."""
    case = CASES[name]()
    run = ours(case)
    start = time.perf_counter()
    run(AIM)
    first = time.perf_counter() - start
    for _ in range(6):
        run(AIM)  # checks of starts are compiled by now

    def fastest(call: Callable[[], Any], times: int) -> Point | None:
        """The fastest of some repeats."""
        found = [end for end in (call() for _ in range(times)) if end is not None]
        if not found:
            return None
        end = min(found, key=lambda e: e.seconds)
        return end if isinstance(end, Point) else Point(end.seconds, case.error(end.q))

    curves = [
        Curve(case.name, engine, [fastest(partial(call, t), 5 * repeats) for t in TOLERANCES])
        for engine, call in (("dalembert", alone(case)), (WHOLE, run))
    ]
    for engine, calls in engines(name, case):
        times = repeats if engine in ("Pinocchio, C++", "SymPy and numba") else 1
        points = [p for p in (fastest(call, times) for call in calls) if p is not None]
        print(f"{case.name}: {engine} measured", file=sys.stderr, flush=True)
        curves.append(Curve(case.name, engine, points))
    return curves, first


def table(curves: list[Curve], firsts: dict[str, float]) -> str:
    """Processor times at an error of AIM in Markdown, and how many times ours fits."""
    names = list(dict.fromkeys(c.engine for c in curves))
    lines = [["", "first use, s", *(f"{n}, ms" for n in names), "times", "aims met"]]
    lines.append(["---"] * len(lines[0]))
    for case in dict.fromkeys(c.case for c in curves):
        own = {c.engine: c.seconds_at(AIM) for c in curves if c.case == case}
        fast = own["dalembert"][0]
        cells = [f"{'' if sure else '~'}{1e3 * s:.3g}" for s, sure in own.values()]
        ratios = {n: s / fast for n, (s, _) in own.items() if n not in ("dalembert", WHOLE)}
        times = ", ".join(f"{n.split(',')[0]} {r:.3g}" for n, r in ratios.items())
        met = [n.split(",")[0] for n, r in ratios.items() if r >= LEAST[n]]
        lines.append([case, f"{firsts[case]:.2f}", *cells, times, ", ".join(met)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def ensemble(count: int = 1024) -> str:
    """Four-bars of crank rates from 1 to 3 rad/s side by side, per trajectory beside one alone."""
    case = CASES["four-bar"]()
    system = mechanism(case)
    rates = np.linspace(1.0, 3.0, count)
    qd = rates[:, None] * case.qd / case.qd[0]
    solve = solver(system, None)

    def simulated(starts: np.ndarray) -> Any:
        """`da.simulate` from these velocities."""
        times = [0.0, case.duration]
        return da.simulate(system, case.q, starts, times, method="dop853", rtol=1e-8, atol=1e-8)

    def seconds(run: Callable[..., Any], *given: Any) -> float:
        """The shortest of some runs."""
        found = []
        for _ in range(5):
            start = time.process_time()
            run(*given)
            found.append(time.process_time() - start)
        return min(found)

    def solved(starts: np.ndarray) -> float:
        """The solve alone."""
        return seconds(solve, case, starts, 1e-8)

    simulated(qd[:8])
    some = qd[:: count // 16]
    words = []
    for name, of in (("solve", solved), ("`da.simulate`", lambda v: seconds(simulated, v))):
        alone = np.mean([of(np.atleast_2d(row)) for row in some])
        together = of(qd) / count
        words.append(
            f"{name} {1e3 * together:.3f} ms per trajectory, one alone {1e3 * alone:.3f} ms, "
            f"{alone / together:.1f} times"
        )
    return f"An ensemble of {count} four-bars, crank rates 1 to 3 rad/s, rtol 1e-8: {'; '.join(words)}."


def chains(counts: tuple[int, ...]) -> str:
    """Cost of N four-bars side by side through their singular positions, in Markdown."""
    lines = [["N", "first use, s", "run, ms", "per four-bar and step, us", "error"], ["---"] * 5]
    for n in counts:
        case = n_four_bar(n, 2.0)
        system = mechanism(case)

        def run(case: Case = case, system: Any = system) -> tuple[float, Any]:
            start = time.process_time()
            found = da.simulate(
                system,
                case.q,
                case.qd,
                [0.0, case.duration],
                method="dop853",
                rtol=1e-9,
                atol=1e-9,
            )
            return time.process_time() - start, found

        first = run()[0]
        runs = [run() for _ in range(8)]  # after the first few, checks of starts are compiled
        seconds, found = min(runs, key=lambda r: r[0])
        error = case.error(found.q[-1])
        steps = int(np.max(found.steps)) + int(np.max(found.rejected))
        per = f"{1e6 * seconds / steps / n:.2f}"
        lines.append(
            [
                str(n),
                f"{first:.2f}",
                f"{1e3 * seconds:.1f}",
                per,
                "" if np.isnan(error) else f"{error:.1e}",
            ]
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def diagram(curves: list[Curve], file: Path) -> None:
    """Processor time over error, a panel for each case."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "loops"
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(c.case for c in curves))
    figure, axes = plt.subplots(
        1, len(names), figsize=(3.6 * len(names), 3.6), layout="constrained"
    )
    marks = dict(zip(dict.fromkeys(c.engine for c in curves), "osxD^v", strict=False))
    for ax, name in zip(np.atleast_1d(axes), names, strict=True):
        for curve in (c for c in curves if c.case == name):
            points = sorted((p for p in curve.points if 0 < p.error < 1), key=lambda p: p.error)
            ax.loglog(
                [p.error for p in points],
                [1e3 * p.seconds for p in points],
                marks[curve.engine] + ("-" if curve.engine == "dalembert" else ":"),
                markersize=4,
                label=curve.engine,
            )
        ax.set(title=name, xlabel="error at the end")
        ax.invert_xaxis()
        ax.grid(alpha=0.3)
    np.atleast_1d(axes)[0].set_ylabel("processor time [ms]")
    np.atleast_1d(axes)[-1].legend(fontsize="small")
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats, shorter chains")
    parser.add_argument("--cases", default=",".join(CASES), help="names between commas")
    parser.add_argument("--write", type=Path, help="the page whose tables are renewed")
    given = parser.parse_args()
    os.environ["DALEMBERT_CACHE"] = "off"  # first uses are first ones
    curves: list[Curve] = []
    firsts: dict[str, float] = {}
    for name in given.cases.split(","):
        found, first = measured(name, 2 if given.quick else 5)
        curves += found
        firsts[found[0].case] = first
    print(table(curves, firsts), flush=True)
    counts = (2, 10, 40) if given.quick else (2, 10, 40, 100, 400, 1000)
    here = machine()
    head = (
        f"Measured {here['date']} on {here['cpu']}, {here['cores']} cores (virtual, shared), Python "
        f"{here['python']}, dalembert {here['versions']['dalembert']}, llvmlite "
        f"{here['versions']['llvmlite']}, NumPy {here['versions']['numpy']}; processor time of the "
        f"solve, the fastest of some runs, at an error of {AIM:g}; `~` follows from the order."
    )
    text = "\n\n".join([head, table(curves, firsts), ensemble(), chains(counts)])
    print(text)
    if given.write:
        page = given.write.read_text()
        before, rest = page.split(START)
        after = rest.split(END)[1]
        given.write.write_text(f"{before}{START}\n{text}\n\n{END}{after}")
        diagram(curves, given.write.with_suffix(".svg"))


if __name__ == "__main__":
    main()
