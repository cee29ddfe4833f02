"""The dynamics of a mechanism at one state with every identity, a motion, closed forms and speeds,
for `dalembert demo`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

import dalembert as da
from dalembert.commandline.compilation import show_compiled
from dalembert.commandline.demonstrated_motion import demonstrated
from dalembert.commandline.measurement import PACKAGES, installed, measure, show
from dalembert.commandline.output import TableColumn, left, line, show_table
from dalembert.commandline.summary import summarize
from dalembert.commandline.tables import show_findings, show_matrix, show_state
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.reports.identities import identities

SEED = 1743  # of the state shown: the year of d'Alembert's treatise
STATES, ROUNDS = 1024, 5  # of the comparison of speeds
WHAT = {
    "start.svg": "a picture of the mechanism",
    "motion.html": "the motion, in a browser",
    "run.csv": "the run as a table",
    "report.html": "all of it on a page, with diagrams and all closed forms",
}
FEW_JOINTS = 12  # degrees of freedom up to which closed forms are shown


def demonstrate(out: Console, mechanism: Mechanism) -> bool:
    """Print mechanism, dynamics and identities; whether all of them hold."""
    summarize(out, mechanism)
    show_findings(out, [f for f in mechanism.check() if f.severity != "note"])
    q, qd, qdd = random_motion(mechanism)
    line(out)
    line(out, f"A random motion (seed {SEED}) and the joint forces tau that it needs", "bold")
    show_state(
        out,
        mechanism,
        q,
        qd=qd,
        qdd=qdd,
        g=da.gravity_vector(mechanism, q),
        tau=da.inverse_dynamics(mechanism, q, qd, qdd),
    )
    for title, matrix in (
        ("Mass matrix M(q)", da.mass_matrix(mechanism, q)),
        ("Coriolis matrix C(q, qd)", da.coriolis_matrix(mechanism, q, qd)),
    ):
        line(out)
        line(out, title, "bold")
        show_matrix(out, matrix)
    line(out)
    line(
        out,
        f"Kinetic energy T = {da.kinetic_energy(mechanism, q, qd):.6g} J, potential energy Pi = "
        f"{da.potential_energy(mechanism, q):.6g} J",
    )
    line(out)
    checked = identities(mechanism, q, qd, qdd)
    show_table(
        out,
        [left("identity", [i.text for i in checked])],
        [
            TableColumn("residual", [f"{i.residual:.1e}" for i in checked]),
            TableColumn("tolerance", [f"{i.tolerance:.0e}" for i in checked]),
            left("", ["PASS" if i.holds else "FAIL" for i in checked]),
        ],
    )
    line(out)
    line(
        out,
        f"{sum(i.holds for i in checked)} of {len(checked)} identities hold; residuals are "
        "relative to the largest entry.",
        "bold",
    )
    agree = show_compiled(out, mechanism)
    return agree and all(i.holds for i in checked)


def show_closed_forms(out: Console, mechanism: Mechanism, file: Path) -> list[Path]:
    """Print the gravity vector in closed form, write a report with all closed forms; the files
    written.
    """
    line(out)
    if mechanism.nv > FEW_JOINTS:
        wrapped(
            out,
            f"Closed forms are not derived here for {mechanism.nv} degrees of freedom: see "
            "dalembert equations.",
        )
        return [da.report(mechanism, file, without="speed")]
    wrapped(out, "Equations in closed form, each entry compared with the compiled function", "bold")
    for text in da.equations(mechanism).text("gravity_vector").splitlines():
        wrapped(out, text)
    wrapped(out, f"{file.name} says what each symbol is, and has the other equations.")
    # closed forms anew: named parts are numbered in the order in which they are asked for
    return [da.report(mechanism, file, without="speed")]


def show_textbook_arm(out: Console) -> None:
    """Print the equations of two uniform rods in full, as textbooks have them."""
    m1, m2, l1, l2, g = da.symbols("m1 m2 l1 l2 g")
    arm = da.planar_chain(2, mass=(m1, m2), length=(l1, l2), gravity=(0, 0, -g))
    forms = da.equations(arm)
    wrapped(out, "Two uniform rods in a vertical plane, M(q) qdd + h(q, qd) + g(q) = tau", "bold")
    for quantity in ("mass_matrix", "coriolis_vector", "gravity_vector"):
        for text in filter(None, forms.text(quantity).splitlines()[1:]):
            wrapped(out, text)
    wrapped(out, "c12 = cos(q1 + q2). dalembert equations FILE prints those of any file.")
    line(out)


def show_motion(out: Console, mechanism: Mechanism, folder: Path) -> list[Path]:
    """Move the mechanism from one random posture to another, within its limits; the files written
    into the folder.
    """
    start, goal = (random_motion(mechanism, SEED + k)[0] for k in range(2))
    motion = demonstrated(mechanism, start, goal)
    efforts = da.effort_limits(mechanism)
    limited = bool(np.isfinite(efforts).any() and efforts.all())
    rest = np.zeros(mechanism.nv)
    run = da.simulate(
        mechanism, start, rest, motion.duration, control=motion.control, saturate=limited
    )
    line(out)
    line(out, "A simulated motion", "bold")
    wrapped(
        out,
        f"{motion.duration:.3g} s from one random posture to another, {motion.words}",
    )
    for text in run.summary().splitlines():
        wrapped(out, text)
    change = run.energy[-1] - run.energy[0]
    wrapped(
        out,
        f"power balance: T + Pi changes by {change:.6g} J, actuators and friction do "
        f"{run.work[-1]:.6g} J of work; the difference stays within "
        f"{np.abs(run.power_balance).max():.1e} J",
    )
    mechanism.picture(start, folder / "start.svg")
    return [
        folder / "start.svg",
        run.animate(folder / "motion.html"),
        run.to_csv(folder / "run.csv"),
    ]


def show_files(out: Console, files: Sequence[Path]) -> None:
    """Print what was written, and what it is."""
    line(out)
    for file in files:
        line(out, f"wrote {file}: {WHAT[file.name]}")


def wrapped(out: Console, text: str, style: str = "") -> None:
    """A line of text, or as many as the terminal needs."""
    for part in textwrap.wrap(text, out.width, subsequent_indent="  ") or [""]:
        line(out, part, style)


def compare_speed(out: Console, mechanism: Mechanism, path: Path) -> None:
    """Print speeds beside the other engines that are installed; `mechanism` without what these
    cannot have.
    """
    line(out)
    if not installed():
        line(
            out,
            f"No other engine is installed here ({', '.join(PACKAGES.values())}): no speeds are "
            "compared.",
        )
        return
    line(out, "Speed beside other engines", "bold")
    show(out, measure(mechanism, path, False, STATES, ROUNDS))


def random_motion(
    mechanism: Mechanism, seed: int = SEED
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q within the joints' limits, random qd and qdd."""
    rng = np.random.default_rng(seed)
    q, qd = mechanism.random_state(rng)
    for joint in mechanism.independent_joints:
        lower, upper = joint.limits.lower, joint.limits.upper
        if lower is not None and upper is not None:
            q[mechanism.entries[joint.name].at_q] = rng.uniform(
                [as_float(x) for x in lower], [as_float(x) for x in upper]
            )
    return q, qd, rng.standard_normal(mechanism.nv)
