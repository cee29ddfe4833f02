"""Work and precision of adaptive methods beside SciPy's on the same compiled right-hand side.

`python benchmarks/work_precision.py [--quick] [--write docs/work_precision.md]` measures a double
pendulum and the Panda, which swing freely, and renews the table of the page and its diagram (needs
SciPy; the diagram Matplotlib).
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.compiled.propagation import propagator
from dalembert.integrators import METHODS
from dalembert.tracing.regrouping import accelerations
from report import machine
from robots import mechanism

PAIRS = {"dopri5": "RK45", "dop853": "DOP853"}  # ours, SciPy's
VALUES = {"dopri5": 6, "dop853": 12}  # values of f in an attempted step
TOLERANCES = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)
AIM, AT = 50, 1e-9  # times SciPy's speed, at this tolerance
EXACT = 1e-13  # tolerance of the solution that errors are measured from
FIRST = 1e-3  # s, first step of both
MOST = 1_000_000  # steps


class Case(NamedTuple):
    """What moves, from where, for how long [s]."""

    title: str
    mechanism: Any
    q: np.ndarray
    duration: float


class Row(NamedTuple):
    """A run of ours and SciPy's: seconds, steps (accepted and not), largest error of an angle or
    rate at the end.
    """

    case: str
    method: str
    rtol: float
    ours: tuple[float, int, float]
    simulate: float  # s, of da.simulate, which records and checks
    scipys: tuple[float, int, float]

    @property
    def ratio(self) -> float:
        """How many times as fast ours is, from Python, for one trajectory."""
        return self.scipys[0] / self.ours[0]

    @property
    def per_step(self) -> float:
        """The same per step."""
        return self.ratio * self.ours[1] / self.scipys[1]


def cases() -> tuple[Case, ...]:
    """A double pendulum of unit rods and the Panda, without motors, and not so long that errors
    outgrow all bounds.
    """
    return (
        Case("double pendulum, 4 s", da.planar_chain(2), np.array([-0.8, -0.5]), 4.0),
        Case(
            "Panda, 1 s", mechanism("panda"), np.array([0.1, -0.4, 0.2, -1.5, 0.3, 1.2, 0.4]), 1.0
        ),
    )


def rates(case: Case) -> Callable[..., np.ndarray]:
    """x' of x = (q, qd) without forces, as `da.simulate` has it."""
    n = case.mechanism.nv

    def f(t: Any, x: Any, p: Any = None) -> np.ndarray:
        return np.concatenate([x[n:], accelerations(case.mechanism, x[:n], x[n:], np.zeros(n))])

    return f


def measured(case: Case, rounds: int, tolerances: tuple[float, ...] = TOLERANCES) -> list[Row]:
    """All methods at all tolerances."""
    n, f = case.mechanism.nv, rates(case)
    compiled = da.function(
        lambda x: f(0.0, x), x=2 * n
    )  # of arrays alone: calls that need no conversion
    x, times = np.concatenate([case.q, np.zeros(n)]), np.array([0.0, case.duration])
    own = {name: propagator(f, 2 * n, 0, METHODS[name]) for name in PAIRS}

    def ours(name: str, rtol: float) -> Any:
        return own[name].run(x[None], times, FIRST, np.zeros(0), MOST, rtol, rtol)

    def simulated(name: str, rtol: float) -> Any:
        return da.simulate(
            case.mechanism, case.q, np.zeros(n), times, method=name, h=FIRST, rtol=rtol, atol=rtol
        )

    def scipys(name: str, rtol: float) -> Any:
        return solve_ivp(
            lambda t, x: compiled(x),
            times,
            x,
            method=PAIRS[name],
            rtol=rtol,
            atol=rtol,
            first_step=FIRST,
            t_eval=times[1:],
        )

    right, rows = scipys("dop853", EXACT).y[:, -1], []
    for name, rtol in itertools.product(PAIRS, tolerances):
        found, other = ours(name, rtol), scipys(name, rtol)
        steps = int(found.steps[0, -1] + found.rejected[0, -1])
        tried = round((other.nfev - 1) / VALUES[name])
        errors = [np.abs(y - right).max() for y in (found.x[0, -1], other.y[:, -1])]
        seconds = [_seconds(partial(run, name, rtol), rounds) for run in (ours, simulated, scipys)]
        rows.append(
            Row(
                case.title,
                name,
                rtol,
                (seconds[0], steps, errors[0]),
                seconds[1],
                (seconds[2], tried, errors[1]),
            )
        )
    return rows


def _seconds(run: Callable[[], Any], rounds: int) -> float:
    """The shortest of some rounds, and of as many more as fit a tenth of a second each."""
    found, end = [], time.perf_counter() + 0.1 * rounds
    while len(found) < rounds or (time.perf_counter() < end and len(found) < 50 * rounds):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


def table(rows: list[Row]) -> str:
    """Rows in Markdown."""
    head = [
        "",
        "method",
        "rtol",
        "steps",
        "error",
        "ms",
        "`da.simulate` ms",
        "SciPy's steps",
        "error",
        "ms",
        "ratio",
        "per step",
    ]
    lines = [head, ["---"] * len(head)]
    for r in rows:
        lines.append(
            [
                r.case,
                f"{r.method} / {PAIRS[r.method]}",
                f"{r.rtol:.0e}",
                str(r.ours[1]),
                f"{r.ours[2]:.1e}",
                f"{1e3 * r.ours[0]:.2f}",
                f"{1e3 * r.simulate:.2f}",
                str(r.scipys[1]),
                f"{r.scipys[2]:.1e}",
                f"{1e3 * r.scipys[0]:.1f}",
                f"{r.ratio:.0f}",
                f"{r.per_step:.0f}",
            ]
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def verdict(rows: list[Row]) -> str:
    """What the aim says of the rows at its tolerance."""
    there = {
        case: min(min(r.ratio, r.per_step) for r in rows if r.case == case and r.rtol == AT)
        for case in dict.fromkeys(r.case for r in rows)
    }
    found = "; ".join(
        f"{case}: {ratio:.0f} times, {'met' if ratio >= AIM else 'missed'}"
        for case, ratio in there.items()
    )
    return f"The aim is {AIM} times SciPy's speed at rtol {AT:.0e}, per run and per step. The least of both: {found}."


def diagram(rows: list[Row], file: Path) -> None:
    """Time over error, one panel for each case."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "dalembert"
    titles = list(dict.fromkeys(r.case for r in rows))
    figure, panels = plt.subplots(
        1, len(titles), figsize=(10, 4), layout="constrained", squeeze=False
    )
    for axes, title in zip(panels[0], titles, strict=True):
        for k, name in enumerate(PAIRS):
            own = [r for r in rows if (r.case, r.method) == (title, name)]
            axes.loglog(
                [r.ours[2] for r in own],
                [1e3 * r.ours[0] for r in own],
                "o-",
                color=f"C{k}",
                label=name,
            )
            axes.loglog(
                [r.scipys[2] for r in own],
                [1e3 * r.scipys[0] for r in own],
                "s--",
                color=f"C{k}",
                label=f"SciPy {PAIRS[name]}",
            )
        axes.set(title=title, xlabel="largest error at the end", ylabel="time [ms]")
        axes.invert_xaxis()
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def page(rows: list[Row]) -> str:
    """The measured part of docs/work_precision.md."""
    m = machine()
    return (
        f"Measured {m['date']} on {m['cpu']}, {m['cores']} cores (virtual, shared), Python "
        f"{m['python']}, dalembert "
        f"{m['versions']['dalembert']}, llvmlite {m['versions']['llvmlite']}, NumPy "
        f"{m['versions']['numpy']}; the "
        "shortest of some runs, one trajectory, from "
        f"Python.\n\n{table(rows)}\n\n{verdict(rows)}\n\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round of each")
    parser.add_argument(
        "--write", type=Path, help="page whose measured part is renewed, with the diagram beside it"
    )
    options = parser.parse_args()
    rows = [row for case in cases() for row in measured(case, 1 if options.quick else 5)]
    print(page(rows))
    if options.write:
        before, rest = options.write.read_text(encoding="utf-8").split("<!-- measured -->\n", 1)
        after = rest.split("<!-- end of measured -->", 1)[1]
        options.write.write_text(
            f"{before}<!-- measured -->\n{page(rows)}<!-- end of measured -->{after}",
            encoding="utf-8",
        )
        diagram(rows, options.write.with_suffix(".svg"))


if __name__ == "__main__":
    main()
