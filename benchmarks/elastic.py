"""Work and precision of elastic links.

`python benchmarks/elastic.py [--quick] [--write docs/elastic_benchmark.md]` measures the arm of two
links that Gulyaev and Zavrazhina published, with damping, natural frequencies over configurations, an
ensemble, and chains of growing length; it renews the tables of the page and its diagram.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dalembert as da
from dalembert.codegen.symbols import vector_of_symbols
from elastic_peers import Link, exudyn_runs
from loops import END, START
from report import machine

REFERENCE = Path(__file__).parents[1] / "tests" / "data" / "reference"
TABLE = "D_damped_eta2e-4"  # t, angles of both links, deflections of their ends
LENGTH, STIFFNESS, DENSITY = 0.8, 129.4, 0.24661502330679877  # m, N m^2, kg/m
AXIAL = 6.597e8  # N, of Exudyn's cables: 100 times the source's, so that they hardly stretch
DAMPING = 2e-4  # s, of Kelvin and Voigt
DURATION, CALM = 4.2, 2.5  # s, of the run; before the links pass each other a second time
TOLERANCES = (1e-2, 4e-3, 2e-3, 1e-3, 4e-4, 1e-4, 3e-5, 1e-5, 1e-6)
CURVES = (
    ("exact", 3, "rodas5p"),
    ("exact", 4, "rodas5p"),
    ("exact", 5, "rodas5p"),
    ("exact", 6, "rodas5p"),
    ("third_order", 3, "rodas5p"),
    ("second_order", 3, "rodas5p"),
    ("exact", 3, "dop853"),
    ("exact", 5, "dop853"),
)
WARM = 6  # runs after which all checks of starts are compiled
COUNT = 256  # arms of an ensemble
CONFIGURATIONS = 1000
CHAINS = (2, 5, 10, 20, 40)
STATES = 64  # at which chains are evaluated
STEPPED = 10  # beams of the longest chain that is simulated


class Row(NamedTuple):
    """A run: seconds of processor time, steps, errors [m] up to CALM and to the end."""

    rtol: float
    seconds: float
    steps: int
    calm: float
    whole: float


class Measured(NamedTuple):
    """Runs of a kinematics, a number of modes of each link and a method; seconds of the first use."""

    kinematics: str
    modes: int
    method: str
    first: float
    rows: list[Row]

    @property
    def name(self) -> str:
        """How a diagram calls it."""
        return f"{self.kinematics}, {self.modes} modes, {self.method}"

    def seconds_at(self, error: float, whole: bool = False) -> float:
        """Least processor time with an error; infinite if none is as small."""
        reached = [r.seconds for r in self.rows if (r.whole if whole else r.calm) <= error]
        return min(reached, default=np.inf)


def arm(kinematics: str, modes: int) -> da.Mechanism:
    """The arm in the plane: equal links, x along gravity, with a sphere of 2 kg at the end."""
    beam = da.Beam(
        LENGTH,
        EIy=STIFFNESS,
        EIz=STIFFNESS,
        mass_per_length=DENSITY,
        kinematics=kinematics,
        damping=da.Rayleigh(stiffness=DAMPING),
    )
    axis, end = da.Revolute((0, 0, 1)), da.Origin((LENGTH, 0, 0))
    links = [da.Body(name, beam=beam, modes={"bend_y": modes}) for name in ("upper", "lower")]
    sphere = da.Body("sphere", 2.0, (0.05, 0, 0), (0.002, 0, 0.002, 0, 0, 0.002))
    joints = [
        da.Joint("shoulder", axis, "base", "upper"),
        da.Joint("elbow", axis, "upper", "lower", end),
        da.Joint("grip", da.Fixed(), "lower", "sphere", end),
    ]
    return da.Mechanism(
        "arm",
        [da.Body("base"), *links, sphere],
        joints,
        [da.Frame("end", "lower", end)],
        gravity=(9.81, 0, 0),
    )


def moments(mechanism: da.Mechanism) -> Callable[..., Any]:
    """10 (1 - cos 6 t) N m on both joints."""

    def control(t, q, qd):
        moment = 10 * (1 - da.cos(6 * t))
        return [moment, moment, *[0] * (mechanism.nv - 2)]

    return control


def angles_and_deflections(mechanism: da.Mechanism, q: np.ndarray) -> np.ndarray:
    """Angles of the links' starts and deflections of their ends, (K, 4), of states (K, nq)."""
    upper, lower, end = (da.placement(mechanism, q, name) for name in ("upper", "lower", "end"))
    angles = [np.arctan2(X[:, 1, 0], X[:, 0, 0]) for X in (upper, lower)]
    across = [
        np.einsum("ki,ki->k", X[:, :3, 1], after[:, :3, 3] - X[:, :3, 3])
        for X, after in ((upper, lower), (lower, end))
    ]
    return np.stack([*angles, *across], axis=1)


@cache
def references() -> tuple[np.ndarray, np.ndarray]:
    """Rows t, angles, deflections: of another program, and of exact beams with 8 modes, rtol 1e-10."""
    of_others = json.loads((REFERENCE / "flexible_links.json").read_text())[TABLE]["rows"]
    converged = json.loads((REFERENCE / "exact_arm.json").read_text())["damped"]["rows"]
    return np.array(of_others), np.array(converged)[1:, [0, 3, 4, 5, 6]]


@cache
def times() -> np.ndarray:
    """Times of both, from the start."""
    return np.unique([0.0, *(t for rows in references() for t in rows[:, 0])])


def errors(mechanism: da.Mechanism, run: Any) -> tuple[float, float]:
    """Largest difference [m] to the other program's rows up to CALM, and to the converged ones over
    the whole run; of angles, times the length.
    """
    found = []
    for rows, until in zip(references(), (CALM, DURATION), strict=True):
        rows = rows[rows[:, 0] <= until]
        at = np.searchsorted(run.times, rows[:, 0])
        off = angles_and_deflections(mechanism, run.q[at]) - rows[:, 1:]
        off[:, :2] = LENGTH * ((off[:, :2] + np.pi) % (2 * np.pi) - np.pi)
        found.append(float(np.abs(off).max()))
    return found[0], found[1]


def seconds(run: Callable[[], Any], repeats: int) -> float:
    """The shortest processor time of some runs."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found)


def curve(kinematics: str, modes: int, method: str, tolerances: Any, repeats: int) -> Measured:
    """`da.simulate` of the arm by tolerance, in one call each."""
    mechanism = arm(kinematics, modes)
    rest, control = np.zeros(mechanism.nq), moments(mechanism)

    def simulated(rtol: float) -> Any:
        """The whole run."""
        options = {"method": method, "rtol": rtol, "atol": rtol / 100}
        return da.simulate(mechanism, rest, rest, times(), control, **options)

    start = time.process_time()
    simulated(1e-3)
    first = time.process_time() - start
    for _ in range(WARM):
        simulated(1e-2)
    rows = []
    for rtol in tolerances:
        run = simulated(rtol)
        least = seconds(lambda rtol=rtol: simulated(rtol), repeats)
        rows.append(Row(rtol, least, int(run.steps), *errors(mechanism, run)))
    return Measured(kinematics, modes, method, first, rows)


def frequencies(kinematics: str, modes: int, equilibrium: bool) -> float:
    """Seconds for natural frequencies at CONFIGURATIONS, joints held."""
    mechanism = arm(kinematics, modes)
    q = np.zeros((CONFIGURATIONS, mechanism.nq))
    q[:, 1] = np.linspace(-np.pi, np.pi, CONFIGURATIONS)

    def found() -> Any:
        """Frequencies at all of them."""
        return da.natural_frequencies(mechanism, q, locked="all", equilibrium=equilibrium)

    found()
    return seconds(found, 5)


class Ensemble(NamedTuple):
    """Seconds per arm side by side and alone, and the largest difference of their ends."""

    together: float
    alone: float
    difference: float


def ensemble(method: str, modes: int = 3, t: float = 1.0) -> Ensemble:
    """COUNT arms from different angles at rest, at equal tolerance."""
    mechanism = arm("exact", modes)
    q = np.zeros((COUNT, mechanism.nq))
    q[:, :2] = np.random.default_rng(0).uniform(-0.5, 0.5, (COUNT, 2))
    qd, some = np.zeros_like(q), 16
    options = {"method": method, "rtol": 1e-5, "atol": 1e-7, "record": t}

    def simulated(rows: Any) -> Any:
        """Arms of some rows."""
        return da.simulate(mechanism, q[rows], qd[rows], t, moments(mechanism), **options)

    alone = [simulated(k).q[-1] for k in range(some)]
    together = simulated(slice(None)).q[:some, -1]
    per_arm = seconds(lambda: [simulated(k) for k in range(some)], 3) / some
    difference = np.abs(together - np.array(alone)).max()
    return Ensemble(seconds(lambda: simulated(slice(None)), 3) / COUNT, per_arm, float(difference))


def chain(count: int, kinematics: str = "exact", modes: int = 2) -> da.Mechanism:
    """A hanging chain of equal beams in the plane."""
    beam = da.Beam(
        0.5,
        EIy=100.0,
        EIz=100.0,
        mass_per_length=0.3,
        kinematics=kinematics,
        damping=da.Rayleigh(stiffness=1e-3),
    )
    names = [f"beam {k}" for k in range(count)]
    bodies = [da.Body(name, beam=beam, modes={"bend_y": modes}) for name in names]
    joints = [
        da.Joint(
            f"joint {k}",
            da.Revolute((0, 0, 1)),
            names[k - 1] if k else "base",
            name,
            da.Origin((0.5 if k else 0, 0, 0)),
        )
        for k, name in enumerate(names)
    ]
    return da.Mechanism("chain", [da.Body("base"), *bodies], joints, gravity=(9.81, 0, 0))


def operations(mechanism: da.Mechanism) -> tuple[int, int]:
    """Operations of inverse and forward dynamics."""
    with da.Graph():
        q, qd, x = (
            vector_of_symbols(name, n)
            for name, n in (("q", mechanism.nq), ("qd", mechanism.nv), ("x", mechanism.nv))
        )
        found = [f(mechanism, q, qd, x) for f in (da.inverse_dynamics, da.forward_dynamics)]
        inverse, forward = (sum(da.count_operations(list(x)).values()) for x in found)
    return inverse, forward


def chains(counts: tuple[int, ...]) -> str:
    """Cost of chains of n beams, in Markdown."""
    lines = [
        [
            "beams",
            "operations, inverse",
            "forward dynamics",
            "per beam",
            "per state, ns",
            "per beam and state, ns",
            "compiled in, s",
            "a step of rodas5p, us",
        ]
    ]
    lines.append(["---"] * len(lines[0]))
    rng = np.random.default_rng(0)
    for n in counts:
        mechanism = chain(n)
        inverse, forward = operations(mechanism)
        q = rng.uniform(-0.5, 0.5, (STATES, mechanism.nq))
        q[:, n:] *= 0.02
        qd, tau = rng.uniform(-1, 1, (2, STATES, mechanism.nv))
        compiled = da.compile(mechanism)
        first = seconds(lambda c=compiled, x=(q, qd, tau): c.forward_dynamics(*x), 1)
        per_state = seconds(lambda c=compiled, x=(q, qd, tau): c.forward_dynamics(*x), 50) / STATES
        step = f"{1e6 * stepped(mechanism, q[0]):.1f}" if n <= STEPPED else ""
        cells = [n, inverse, forward, forward // n, round(1e9 * per_state)]
        cells += [f"{1e9 * per_state / n:.1f}", f"{first:.2f}", step]
        lines.append([str(x) for x in cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def stepped(mechanism: da.Mechanism, q: np.ndarray) -> float:
    """Seconds of a step of rodas5p, from rest."""
    rest = np.zeros(mechanism.nv)

    def run() -> Any:
        """Half a second."""
        return da.simulate(mechanism, q, rest, 0.5, method="rodas5p", rtol=1e-4, atol=1e-6)

    steps = int(run().steps)
    return seconds(run, 5) / steps


def targets(found: list[Measured], others: dict[str, Any]) -> str:
    """Aims beside measured numbers, in Markdown."""
    exact = [m for m in found if m.kinematics == "exact"]
    second = [m for m in found if m.kinematics == "second_order"]
    near = 1e3 * min(m.seconds_at(1e-4) for m in exact)
    far = 1e3 * min(m.seconds_at(1e-5, whole=True) for m in exact)
    b = 1e3 * min(m.seconds_at(2e-4) for m in second)
    side = others["ensemble"]
    ratio = side.alone / side.together
    slowest = 1e3 * max(others["frequencies"].values())
    rows = [
        (f"exact beams, 1e-4 m to {CALM} s, within 60 ms", f"{near:.1f} ms", near <= 60),
        (f"exact beams, 1e-5 m over {DURATION} s, within 210 ms", f"{far:.1f} ms", far <= 210),
        (
            f"second order, 2e-4 m to {CALM} s, faster than exact beams",
            f"{b:.1f} ms, exact beams to 1e-4 m {near:.1f} ms",
            b < near,
        ),
        (
            f"natural frequencies at {CONFIGURATIONS} configurations within 50 ms",
            f"{slowest:.1f} ms at most",
            slowest <= 50,
        ),
        (
            f"{COUNT} arms in lanes, at least 4 times one at a time",
            f"{ratio:.1f} times",
            ratio >= 4,
        ),
    ]
    lines = [["aim", "measured", "met"], ["---"] * 3]
    lines += [[aim, value, "yes" if met else "**no**"] for aim, value, met in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def table(found: list[Measured]) -> str:
    """All runs in Markdown."""
    head = ["kinematics", "modes", "method", "first use, s", "rtol", "steps", "run, ms"]
    head += [f"error to {CALM} s, m", f"to {DURATION} s, m"]
    lines = [head, ["---"] * len(head)]
    for m in found:
        for k, r in enumerate(m.rows):
            own = [m.kinematics, str(m.modes), m.method, f"{m.first:.2f}"] if not k else [""] * 4
            numbers = [f"{r.rtol:g}", str(r.steps), f"{1e3 * r.seconds:.1f}"]
            lines.append([*own, *numbers, f"{r.calm:.1e}", f"{r.whole:.1e}"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def peers(found: list[Measured]) -> str:
    """Exudyn on the same arm in the same run, in Markdown; nothing where it is not installed."""
    try:
        import exudyn  # noqa: F401
    except ImportError:
        return ""
    rows, _ = references()
    rows = rows[rows[:, 0] <= CALM]
    exact = [m for m in found if m.kinematics == "exact"]
    head = ["Exudyn: elements a link", "step, ms", "run, ms", f"error to {CALM} s, m"]
    lines = [[*head, "exact beams to that error, ms", "times as fast"]]
    lines.append(["---"] * len(lines[0]))
    link = Link(LENGTH, STIFFNESS, AXIAL, DENSITY, DAMPING)
    for elements, h, took, motion in exudyn_runs(link, DURATION):
        at = [int(np.argmin(np.abs(motion[:, 0] - t))) for t in rows[:, 0]]
        off = motion[at, 1:] - rows[:, 1:]
        off[:, :2] *= LENGTH
        error = float(np.abs(off).max())
        ours = min(m.seconds_at(error) for m in exact)
        cells = [str(elements), f"{1e3 * h:g}", f"{1e3 * took:.0f}", f"{error:.1e}"]
        lines.append([*cells, f"{1e3 * ours:.1f}", f"{took / ours:.0f}"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def diagram(found: list[Measured], file: Path) -> None:
    """Processor time over error, up to CALM and over the whole run."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "elastic"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
    marks = itertools.cycle("osD^vxP*")
    for m in found:
        mark = next(marks) + ("-" if m.method == "rodas5p" else ":")
        for ax, of in zip(axes, ("calm", "whole"), strict=True):
            points = [(getattr(r, of), 1e3 * r.seconds) for r in m.rows]
            ax.loglog(*zip(*points, strict=True), mark, markersize=4, label=m.name)
    for ax, t in zip(axes, (CALM, DURATION), strict=True):
        ax.set(title=f"up to {t} s", xlabel="largest error [m]")
        ax.invert_xaxis()
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("processor time [ms]")
    axes[1].legend(fontsize="x-small")
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer tolerances, shorter chains")
    parser.add_argument("--write", type=Path, help="the page whose tables are renewed")
    given = parser.parse_args()
    os.environ["DALEMBERT_CACHE"] = "off"  # first uses are first ones
    warnings.simplefilter("ignore", da.DalembertWarning)  # explicit steps are known to be held down
    tolerances, repeats = (TOLERANCES[2::2], 3) if given.quick else (TOLERANCES, 7)
    found = [
        curve(*case, tolerances if case[2] == "rodas5p" else (1e-4, 1e-6), repeats)
        for case in CURVES
    ]
    others: dict[str, Any] = {"ensemble": ensemble("rodas5p")}
    others["frequencies"] = {
        (modes, equilibrium): frequencies("second_order", modes, equilibrium)
        for modes in (3, 5)
        for equilibrium in (False, True)
    }
    here = machine()
    head = (
        f"Measured {here['date']} on {here['cpu']}, {here['cores']} cores (virtual, shared), Python "
        f"{here['python']}, dalembert {here['versions']['dalembert']}, llvmlite "
        f"{here['versions']['llvmlite']}, NumPy {here['versions']['numpy']}; processor time on one "
        "core, the fastest of some runs."
    )
    side = others["ensemble"]
    lanes = (
        f"{COUNT} arms, exact beams with 3 modes, 1 s at rtol 1e-5: {1e3 * side.together:.3f} ms per "
        f"arm, one alone {1e3 * side.alone:.3f} ms; ends differ by {side.difference:.0e}."
    )
    chained = chains(CHAINS[:3] if given.quick else CHAINS)
    parts = [head, targets(found, others), peers(found), lanes, table(found), chained]
    text = "\n\n".join(part for part in parts if part)
    print(text)
    if given.write:
        page = given.write.read_text()
        before, rest = page.split(START)
        after = rest.split(END)[1]
        given.write.write_text(f"{before}{START}\n{text}\n\n{END}{after}")
        diagram(found, given.write.with_suffix(".svg"))


if __name__ == "__main__":
    main()
