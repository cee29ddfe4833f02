"""The experiment of Polyanina, repeated: does a mass follow a program that a generator gives through
their common constraint?

`python benchmarks/program_experiment.py [--plot FILE]` prints the tables of
docs/program_experiment.md, and draws its figure. A cart of 1 kg on a rail, x1, is tied to the speed
of a generator, x1 = x2'; the generator has a constant force (Q = 1, example A) or is harmonic
(example B). m, Q and the time scale of the printed figures are not given in the source.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as da

PRECISE = {"method": "dop853", "rtol": 1e-12, "atol": 1e-13}
# figure -> alpha, c
FIGURES = {
    "1": (1.0, 0.0),
    "2, 0 < alpha < 1": (0.1, 0.0),
    "2, alpha = -1": (-1.0, 0.0),
    "2, alpha = -2": (-2.0, 0.0),
    "3": (1.0, 0.5),
    "4": (3.0, 1.0),
    "5": (3.0, 30.0),
    "stable": (-3.0, 4.0),
}
EPS = 0.3  # phase of the harmonic program
START = np.cos(EPS), -np.sin(EPS)  # x1, x1' on it
ERROR = -0.05  # m/s, of the initial velocity
TIMES = [0.0, 1.0, 2.0, 5.0, 10.0]  # s


def cart(*constraints: Any) -> da.Mechanism:
    """A cart of 1 kg on a rail, with constraints."""
    joint = da.Joint("x1", da.Prismatic((1, 0, 0)), "rail", "cart")
    bodies = da.Body("rail"), da.Body("cart", 1.0)
    return da.Mechanism("cart", bodies, (joint,)).constrained(*constraints)


def coupled(generator: Any, alpha: float = 1.0, c: float = 0.0) -> da.Mechanism:
    """The source's system: cart and generator feel the reaction of x1 = x2'."""
    relation = da.constraints.TwoWay(
        "speed", lambda q, s, t: [q[0] - s[1]], generator, alpha=alpha, c=c
    )
    return cart(relation)


def figures(times: Any) -> da.Run:
    """Example A in each figure, a trajectory each: from rest, with an error of the velocity and
    p*(0) = 0.
    """
    alpha, c = np.array([*FIGURES.values()]).T
    numbers = {"speed.alpha": alpha, "speed.c": c}
    system = coupled(da.generators.SteadyAcceleration(1.0))
    start = [0.0], [1.0 + ERROR]
    return da.simulate(system, *start, times, multipliers0=[0.0], parameters=numbers, **PRECISE)


def example_b(multiplier: float, times: Any) -> da.Run:
    """A motion from data on the sought motion."""
    x1, speed = START
    system = coupled(da.generators.Harmonic(1.0, 1.0, EPS))
    return da.simulate(system, [x1], [speed], times, multipliers0=[multiplier], **PRECISE)


def servo(times: Any, frequency: float = 5.0, **generator: Any) -> da.Run:
    """The same program as a servo constraint, with an error of the velocity: S1, and S4."""
    program = da.generators.Harmonic(1.0, 1.0, EPS, **generator).derivative()
    relation = da.constraints.Servo("program", "x1", program, ["x1"], frequency=frequency)
    x1 = program.output(program.state)[0]
    speed = program.derivatives(program.state, 1)[1][0]
    return da.simulate(cart(relation), [x1], [speed + ERROR], times, **PRECISE)


def map_of(generator: Any, internal: list[float], size: int = 81) -> da.StabilityMap:
    """Growth over alpha and c about the program."""
    values = {"speed.alpha": np.linspace(-8, 4, size), "speed.c": np.linspace(-4, 4, size)}
    return da.stability_map(coupled(generator), [0.0], [1.0], values, internal)


def table_of_figures() -> list[str]:
    """x1 and x2 in each figure, against the program."""
    rows = [
        "| figure | alpha | c | exponents that are not 0 | x1(5) [5] | x1(10) [10] | x2(10) [50] |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    run = figures(TIMES)
    for k, (name, (alpha, c)) in enumerate(FIGURES.items()):
        s = np.roots([1, c, -alpha])
        real = ", ".join(f"{x:.5g}" for x in sorted(s.real)[::-1])
        shown = f"± {abs(s[0].imag):.5g} i" if s[0].imag else real
        x1, x2 = run.q[k, :, 0], run.internal_states[k, :, 0]
        values = f"{x1[3]:.5f} | {x1[4]:.5f} | {x2[4]:.5f}"
        rows.append(f"| {name} | {alpha:g} | {c:g} | {shown} | {values} |")
    return rows


def table_of_answers() -> list[str]:
    """x1 of example B: the source's system with two multipliers at the start, and S1."""
    t = np.array(TIMES)
    rows = {
        "sought: a w cos(w t + eps)": np.cos(t + EPS),
        "source's system, p*(0) = 0": example_b(0.0, TIMES).q[:, 0],
        "source's system, p*(0) = m x1''(0)": example_b(-np.cos(EPS), TIMES).q[:, 0],
        "servo constraint (S1), started 0.05 m/s off": servo(TIMES).q[:, 0],
    }
    head = ["| motion | t = 1 | 2 | 5 | 10 |", "| --- | --- | --- | --- | --- |"]
    return head + [
        f"| {name} | {' | '.join(f'{x:.6f}' for x in values[1:])} |"
        for name, values in rows.items()
    ]


def draw(file: Path) -> None:
    """The source's figures, the maps, and the answer."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "program", "font.size": 8}):
        figure = Figure((11, 8), layout="constrained")
        panels = figure.subplots(3, 3).ravel()
        times = np.linspace(0, 5, 101)
        run = figures(times)
        for axes, title in zip(panels, "12345"):
            for k, (name, (alpha, c)) in enumerate(FIGURES.items()):
                if name[0] == title:
                    (line,) = axes.plot(times, run.q[k, :, 0], label=f"α = {alpha:g}, c = {c:g}")
                    axes.plot(times, run.internal_states[k, :, 0], ":", color=line.get_color())
            axes.plot(times, times, "k", lw=0.6, label="program of x1")
            axes.plot(times, times**2 / 2, "k:", lw=0.6, label="of x2 (dotted)")
            axes.set(title=f"Source's figure {title}", xlabel="t [s]")
            axes.legend(fontsize=7)
        charts = {
            "Example A: growth [1/s]": map_of(da.generators.SteadyAcceleration(1.0), [0.0, 0, 0]),
            "Example B: growth [1/s]": map_of(da.generators.Harmonic(1.0, 1.0), [0.0, 0, 0]),
        }
        for axes, (title, chart) in zip(panels[5:], charts.items()):
            figure.colorbar(chart.draw(axes), ax=axes)
            axes.set(title=title, xlabel="α", ylabel="c [1/s]")
        wide = np.linspace(0, 10, 201)
        axes = panels[7]
        axes.plot(wide, example_b(0.0, wide).q[:, 0], label="source's system, p*(0) = 0")
        axes.plot(wide, example_b(-np.cos(EPS), wide).q[:, 0], label="p*(0) = m x1''(0)")
        axes.plot(wide, servo(wide).q[:, 0], label="servo constraint")
        axes.plot(wide, np.cos(wide + EPS), "k:", label="sought")
        axes.set_ylim(-3, 3)
        axes.legend(fontsize=7)
        axes.set(title="Example B: x1", xlabel="t [s]")
        axes = panels[8]
        run = servo(wide)
        axes.semilogy(
            wide,
            np.abs(run.observables["program_residual"][:, 0]) + 1e-17,
            label="servo constraint",
        )
        axes.semilogy(
            wide, np.abs(ERROR) * wide * np.exp(-5 * wide) + 1e-17, "k:", label="0.05 t exp(-5 t)"
        )
        axes.legend(fontsize=7)
        axes.set(title="Error of the servo constraint", xlabel="t [s]")
        figure.savefig(file, metadata={"Date": None})


def main() -> None:
    """Print the tables, and draw the figure where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--plot", type=Path, help="file of the figure, as docs/program_experiment.svg"
    )
    given = parser.parse_args()
    print("\n".join([*table_of_figures(), "", *table_of_answers()]))
    if given.plot:
        draw(given.plot)


if __name__ == "__main__":
    main()
