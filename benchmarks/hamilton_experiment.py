"""The experiment of Dunskaya and Pyatnitskiy (1996), repeated: which iteration finds the velocities
of a chain sooner?

`python benchmarks/hamilton_experiment.py [--quick] [--json FILE] [--plots FOLDER]` prints the
tables of docs/hamilton_experiment.md. Planar chains of n unit links, three initial states, 0.3 s of
exact motion, then some steps; every solver sees the same states and starts from its own last answer
(warm) or from zero (cold).
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from functools import cache, partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import dalembert as da
from dalembert import hamilton
from dalembert.expr.node import (
    select,
)  # da.where would guard, and so compute again, all that a branch needs
from dalembert.formulations.hamilton.krylov import inner

LENGTHS = (2, 3, 5, 10, 20, 50, 100, 200)
STEPS, TOLERANCES, RULES = (
    (1e-2, 1e-3, 1e-4),
    (1e-3, 1e-6, 1e-9),
    ("step", "residual", "true_error"),
)
METHODS = ("minimal_residuals", "conjugate_directions")
SHORT = {"minimal_residuals": "MR", "conjugate_directions": "CD"}
CAP = 10_000  # iterations of a solution; reached only by minimal residuals, n >= 20
WARM_UP, REFERENCE_STEP = 0.3, 1e-4  # s


@cache
def chain(n: int) -> hamilton.PlanarChain:
    """n uniform rods of length and mass 1."""
    return hamilton.planar_chain([1] * n, [1] * n)


@cache
def compiled(n: int) -> dict[str, Any]:
    """Right-hand side, sweep, and the step of each iteration as machine code."""
    system = chain(n)

    def configuration(s, k):
        return hamilton.ChainConfiguration(system, list(s), list(k))

    def step(f, state, numbers, s, k):
        """The state after an iteration: vectors and numbers in one array, so that a call allocates
        one result.
        """
        product = configuration(s, k).product
        vectors, rest = np.split(state, [(2 + numbers) * n])
        found = f(
            lambda x: np.array(product(list(x)), dtype=object),
            *vectors.reshape(-1, n),
            *rest[:numbers],
        )
        return np.concatenate([*found[: 2 + numbers], found[2 + numbers :]])

    def minimal_residuals(state, s, k):
        return step(hamilton.minimal_residual_step, state, 0, s, k)

    def conjugate_directions(state, s, k):
        return step(hamilton.conjugate_step, state, 1, s, k)

    return {
        "rates": da.function(lambda q, p: hamilton.state_equations(system, q, p)[1:], q=n, p=n),
        "sweep": da.function(lambda q, p: hamilton.velocities(system, q, p), q=n, p=n),
        "momenta": da.function(lambda q, z: hamilton.momenta(system, q, z), q=n, z=n),
        "product": da.function(lambda x, s, k: configuration(s, k).product(list(x)), x=n, s=n, k=n),
        "minimal_residuals": da.function(minimal_residuals, state=2 * n + 1, s=n, k=n),
        "conjugate_directions": da.function(conjugate_directions, state=3 * n + 2, s=n, k=n),
    }


def initial_states(n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Straight at 45 degrees and at rest; a smooth moving curve; random."""
    rng, x = np.random.default_rng(n), np.linspace(0, 1, n)
    return [
        (np.full(n, np.pi / 4), np.zeros(n)),
        (0.5 + np.sin(2 * x), np.cos(3 * x)),
        (rng.uniform(-np.pi, np.pi, n), rng.standard_normal(n)),
    ]


@cache
def motion(n: int, which: int) -> tuple[np.ndarray, np.ndarray]:
    """q and p after 0.3 s of exact motion (classical Runge-Kutta at 1e-4 s)."""
    q, z = initial_states(n)[which]
    return advanced(n, q, compiled(n)["momenta"](q, z), WARM_UP)


def advanced(
    n: int, q: np.ndarray, p: np.ndarray, duration: float
) -> tuple[np.ndarray, np.ndarray]:
    """The exact motion over a duration, in steps of 1e-4 s."""
    f = compiled(n)["rates"]
    for _ in range(round(duration / REFERENCE_STEP)):
        h = REFERENCE_STEP
        p1, q1 = f(q, p)
        p2, q2 = f(q + h / 2 * q1, p + h / 2 * p1)
        p3, q3 = f(q + h / 2 * q2, p + h / 2 * p2)
        p4, q4 = f(q + h * q3, p + h * p3)
        q, p = q + h / 6 * (q1 + 2 * q2 + 2 * q3 + q4), p + h / 6 * (p1 + 2 * p2 + 2 * p3 + p4)
    return q, p


@cache
def states(n: int, which: int, h: float, count: int) -> list[tuple[np.ndarray, ...]]:
    """sin q, cos q, p and z at steps of the exact motion, from the one before the first that
    counts.
    """
    q, p = motion(n, which)
    found = []
    for _ in range(count + 1):
        found.append((np.sin(q), np.cos(q), p, compiled(n)["sweep"](q, p)))
        q, p = advanced(n, q, p, h)
    return found


def solution(
    n: int,
    method: str,
    s: np.ndarray,
    k: np.ndarray,
    p: np.ndarray,
    start: np.ndarray,
    stop: hamilton.Stop,
):
    """One solution by a compiled iteration."""
    product, kernel = compiled(n)["product"], compiled(n)[method]
    state: Any = None

    def minimal_residuals(xi, y):
        nonlocal state
        state = kernel(np.concatenate([xi, y, [0.0]]) if state is None else state, s, k)
        return state[:n], state[n:-1], state[-1]

    def conjugate_directions(xi, r, d, square):
        nonlocal state
        state = kernel(np.concatenate([xi, r, d, [square, 0.0]]) if state is None else state, s, k)
        return state[:n], state[n : 2 * n], state[2 * n : -2], state[-2], state[-1]

    step = minimal_residuals if method == "minimal_residuals" else conjugate_directions
    iterate = getattr(hamilton, method)
    return iterate(
        lambda x: product(x, s, k), p, start, stop, CAP, chain(n).product_operations, step=step
    )


def run(
    n: int, which: int, method: str, rule: str, h: float, tolerance: float, warm: bool, count: int
) -> dict[str, float]:
    """Mean iterations, operations and error over the steps of a motion."""
    given = states(n, which, h, count)
    xi, found = given[0][3], []
    for s, k, p, z in given[1:]:
        stop = hamilton.Stop(rule, tolerance, exact=z)
        one = solution(n, method, s, k, p, xi if warm else np.zeros(n), stop)
        xi = one.z
        found.append(
            (
                one.iterations,
                one.operations.multiplications,
                float(np.linalg.norm(xi - z)),
                not one.converged,
            )
        )
    N, multiplications, error, capped = np.mean(found, axis=0)
    return {"N": N, "multiplications": multiplications, "error": error, "capped": capped}


def study(lengths=LENGTHS, steps=STEPS, tolerances=TOLERANCES, count=None) -> list[dict[str, Any]]:
    """Every run of the experiment."""
    rows = []
    cases = itertools.product(lengths, range(3), steps, tolerances, RULES, METHODS, (True, False))
    for n, which, h, tolerance, rule, method, warm in cases:
        if warm or h == steps[0]:  # a cold start does not know the step
            found = run(n, which, method, rule, h, tolerance, warm, count or (10 if n <= 20 else 4))
            case = {
                "n": n,
                "state": which,
                "h": h,
                "eps": tolerance,
                "rule": rule,
                "method": method,
                "warm": warm,
            }
            rows.append(case | found)
    return rows


def chosen(rows, **wanted):
    return [r for r in rows if all(r[k] == v for k, v in wanted.items())]


def middle(rows, key="N"):
    return median(r[key] for r in rows) if rows else float("nan")


def pairs(rows, **wanted):
    """Warm runs of both methods on the same problem."""
    MR, CD = (chosen(rows, method=m, warm=True, **wanted) for m in METHODS)
    return list(zip(MR, CD, strict=True))


def table(title: str, head: list[str], lines: list[list[Any]]) -> None:
    print(f"\n### {title}\n")
    for line in (head, ["---"] * len(head), *lines):
        print(
            "| "
            + " | ".join(
                x if isinstance(x, str) else f"{x:.3g}" if x < 1e4 else f"{x:.0f}" for x in line
            )
            + " |"
        )


def iterations_table(rows) -> None:
    lengths = sorted({r["n"] for r in rows})
    lines = []
    for rule, h, eps in (
        ("residual", 1e-2, 1e-6),
        ("residual", 1e-3, 1e-6),
        ("residual", 1e-4, 1e-3),
        ("step", 1e-4, 1e-3),
        ("step", 1e-3, 1e-6),
        ("true_error", 1e-3, 1e-6),
    ):
        for method in METHODS:
            cells = [
                middle(chosen(rows, rule=rule, h=h, eps=eps, method=method, warm=True, n=n))
                for n in lengths
            ]
            lines.append([rule, f"{h:g}", f"{eps:g}", SHORT[method], *cells])
    table(
        "Iterations per solution, warm start (medians; capped at 10000)",
        ["rule", "h", "eps", "", *(f"n = {n}" for n in lengths)],
        lines,
    )


def cheaper_by_source(MR) -> bool:
    """12n + 16nN < 6n^2 + 13n, the source's numbers of multiplications."""
    return 12 + 16 * MR["N"] < 6 * MR["n"] + 13


def verdict_table(rows) -> None:
    """Share of problems in which minimal residuals win, by three measures."""
    lines = []
    for rule, eps in itertools.product(RULES, sorted({r["eps"] for r in rows}, reverse=True)):
        cells: list[Any] = []
        for h in sorted({r["h"] for r in rows}, reverse=True):
            both = pairs(rows, rule=rule, eps=eps, h=h)
            by_source = np.mean([cheaper_by_source(a) for a, _ in both])
            by_count = np.mean([a["N"] < a["n"] for a, _ in both])
            fair = np.mean([a["N"] < b["N"] for a, b in both])
            cells.append(f"{by_source:.2f} / {by_count:.2f} / {fair:.2f}")
        lines.append([rule, f"{eps:g}", *cells])
    table(
        "Share of the problems in which minimal residuals win: by the source's formulas / against "
        "n directions, counted / against warm directions with the same rule",
        ["rule", "eps", *(f"h = {h:g}" for h in sorted({r["h"] for r in rows}, reverse=True))],
        lines,
    )


def trend_table(rows) -> None:
    """The source's conclusion by n, where it was drawn: loose tolerance, small step."""
    lengths = sorted({r["n"] for r in rows})
    lines = []
    for rule in RULES:
        for eps, h in ((1e-3, 1e-4), (1e-6, 1e-3)):
            both = [pairs(rows, rule=rule, eps=eps, h=h, n=n) for n in lengths]
            shares = [f"{np.mean([cheaper_by_source(a) for a, _ in one]):.2f}" for one in both]
            lines.append([rule, f"{eps:g}", f"{h:g}", *shares])
    table(
        "The source's trend: share of wins by its own formulas, by n",
        ["rule", "eps", "h", *(f"n = {n}" for n in lengths)],
        lines,
    )


def error_table(rows) -> None:
    lengths = sorted({r["n"] for r in rows})
    eps, lines = 1e-6, []
    for rule, method in itertools.product(RULES, METHODS):
        errors = [
            middle(chosen(rows, rule=rule, method=method, eps=eps, warm=True, n=n), "error")
            for n in lengths
        ]
        lines.append([rule, SHORT[method], *(e / eps for e in errors)])
    table(
        f"True error over eps where the rule stopped, eps = {eps:g} (medians over h)",
        ["rule", "", *(f"n = {n}" for n in lengths)],
        lines,
    )


def start_table(rows) -> None:
    h = max(r["h"] for r in rows)
    lines = []
    for rule, method in itertools.product(RULES, METHODS):
        warm, cold = (chosen(rows, rule=rule, method=method, warm=w, h=h) for w in (True, False))
        both = [
            (w, c)
            for w, c in zip(warm, cold, strict=True)
            if w["N"] > 0 and w["capped"] + c["capped"] == 0
        ]
        lines.append([rule, SHORT[method], median(c["N"] / w["N"] for w, c in both)])
    table(
        f"Cold start over warm start, iterations at h = {h:g} (medians)",
        ["rule", "", "ratio"],
        lines,
    )


@cache
def unrolled(n: int, method: str) -> Any:
    """Several iterations in one kernel, for timing: those after the residual's rule is met move
    nothing.
    """
    system, count = chain(n), 8 if n <= 50 else 2  # longer code leaves the instruction cache

    def iterations(state, s, k, bound):
        at = hamilton.ChainConfiguration(system, list(s), list(k))
        xi, y, d = state[:-1].reshape(3, n)
        made, square = state[-1], inner(y, y)
        for _ in range(count):
            going = square > bound[0]
            w = np.array(at.product(list(d)), dtype=object)
            conjugate, old = method == "conjugate_directions", square
            ratio = square / inner(d, w) if conjugate else inner(w, y) / inner(w, w)
            gamma = select(going, ratio, 0.0)
            xi, y, made = xi + gamma * d, y - gamma * w, made + select(going, 1.0, 0.0)
            square = inner(y, y)
            d = y + select(going, square / old, 0.0) * d if conjugate else y
        return np.concatenate([xi, y, d, [made, square]])

    kernel, product = (
        da.function(iterations, state=3 * n + 1, s=n, k=n, bound=1),
        compiled(n)["product"],
    )

    def solve(s, k, p, start, eps):
        r = p - product(start, s, k)
        state, bound = np.concatenate([start, r, r, [0.0, r @ r]]), np.array([eps * eps * (p @ p)])
        while state[-1] > bound[0] and state[-2] < CAP:
            state = kernel(state[:-1], s, k, bound)
        return state[:n], state[-2]

    return solve


def best(f, rounds: int = 7) -> float:
    """Microseconds of the fastest of some rounds."""
    f()
    start = time.perf_counter()
    f()
    repeat = max(1, min(1000, int(2e-3 / (time.perf_counter() - start))))
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(repeat):
            f()
        times.append((time.perf_counter() - start) / repeat)
    return min(times) * 1e6


def times(lengths) -> list[dict[str, float]]:
    """Time per solution, relative residual 1e-6, h = 1e-3, warm; median over the three states."""
    rows = []
    for n in lengths:
        found: dict[str, list[float]] = {}
        for which in range(3):
            (_, _, _, last), (s, k, p, _) = states(n, which, 1e-3, 4)[:2]
            q = np.arctan2(s, k)
            one = {
                "sweep": best(partial(compiled(n)["sweep"], q, p, out=np.empty(n))),
                "Cholesky": best(
                    partial(hamilton.velocities, chain(n), q, p, solver="cholesky"), 3
                ),
            }
            for method in METHODS:
                solve = partial(unrolled(n, method), s, k, p, last, 1e-6)
                one |= {SHORT[method]: best(solve, 5), "N " + SHORT[method]: solve()[1]}
            for key, value in one.items():
                found.setdefault(key, []).append(value)
        rows.append({"n": n, **{key: median(values) for key, values in found.items()}})
    return rows


def times_table(rows) -> None:
    keys = ["n", "sweep", "CD", "MR", "Cholesky", "N CD", "N MR"]
    table(
        "Time per solution [us], compiled, one core; relative residual 1e-6, h = 1e-3, warm "
        "(Cholesky: in Python)",
        keys,
        [[r[key] for key in keys] for r in rows],
    )


def closed_loop(n: int = 20, h: float = 1e-4, duration: float = 0.3) -> list[list[Any]]:
    """Explicit Euler, as the source has it, with solutions that are not exact: largest error of an
    angle at the end.
    """
    q0, z0 = initial_states(n)[1]
    f, p0 = compiled(n)["rates"], compiled(n)["momenta"](q0, z0)
    exact, lines = advanced(n, q0, p0, duration)[0], []
    gradient = da.function(lambda q, z: hamilton.lagrangian_gradient(chain(n), q, z), q=n, z=n)
    loose = [("minimal_residuals", e) for e in (1e-2, 1e-3, 1e-4)]
    for method, eps in [("sweep", 0.0), *loose, ("conjugate_directions", 1e-3)]:
        q, p, z, N = q0, p0, z0, []
        for _ in range(round(duration / h)):
            if method == "sweep":
                p_rate, z = f(q, p)
            else:
                one = solution(n, method, np.sin(q), np.cos(q), p, z, hamilton.Stop("step", eps))
                z, p_rate = one.z, gradient(q, one.z)
                N.append(one.iterations)
            q, p = q + h * z, p + h * p_rate
        lines.append(
            [
                method.replace("_", " "),
                f"{eps:g}" if eps else "exact",
                float(np.abs(q - exact).max()),
                float(np.mean(N or 0)),
            ]
        )
    return lines


def plots(folder: Path, rows, timed) -> None:
    """Iterations and times over n, as SVG; needs matplotlib."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "dalembert"
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    lengths = sorted({r["n"] for r in rows})
    styles = (("residual", 1e-3, 1e-6, "o-"), ("step", 1e-4, 1e-3, "o--"))
    for method, (rule, h, eps, style) in itertools.product(METHODS, styles):
        N = [
            middle(chosen(rows, rule=rule, h=h, eps=eps, method=method, warm=True, n=n))
            for n in lengths
        ]
        left.loglog(
            lengths,
            N,
            style,
            color=f"C{METHODS.index(method)}",
            label=f"{SHORT[method]}, {rule} {eps:g}, h = {h:g}",
        )
    left.loglog(
        lengths, [(6 * n + 1) / 16 for n in lengths], "k:", label="(6n + 1)/16: even by the source"
    )
    for key in ("sweep", "CD", "MR"):
        right.loglog([r["n"] for r in timed], [r[key] for r in timed], "o-", label=key)
    left.set(xlabel="links", ylabel="iterations per solution, warm")
    right.set(xlabel="links", ylabel="time per solution [us]")
    for axes in (left, right):
        axes.legend(fontsize=8)
        axes.grid(alpha=0.3)
    figure.savefig(folder / "hamilton_experiment.svg", metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short chains only")
    parser.add_argument("--json", type=Path, help="write all runs here")
    parser.add_argument("--plots", type=Path, help="draw into this folder (needs matplotlib)")
    options = parser.parse_args()
    lengths = LENGTHS[:4] if options.quick else LENGTHS
    rows, timed = study(lengths), times(lengths)
    for show in (iterations_table, verdict_table, trend_table, error_table, start_table):
        show(rows)
    times_table(timed)
    table(
        "Explicit Euler, n = 20, h = 1e-4, 0.3 s, warm, rule of the step",
        ["solver", "eps", "largest error of an angle", "N"],
        closed_loop(),
    )
    capped = sorted(r["n"] for r in rows if r["capped"] > 0)
    where = f", all with n >= {capped[0]}" if capped else ""
    print(f"\n{len(rows)} runs; {len(capped)} reached {CAP} iterations{where}.")
    if options.json:
        options.json.write_text(json.dumps({"runs": rows, "times": timed}), encoding="utf-8")
    if options.plots:
        plots(options.plots, rows, timed)


if __name__ == "__main__":
    main()
