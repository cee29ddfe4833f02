"""The dynamics of a mechanism at one state, and every identity they satisfy, for `dalembert demo`."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
from rich.console import Console

import dalembert as da
from dalembert.commandline.compilation import show_compiled
from dalembert.commandline.identities import identities
from dalembert.commandline.measurement import PACKAGES, installed, measure, show
from dalembert.commandline.output import Column, left, line, show_table
from dalembert.commandline.summary import summarize
from dalembert.commandline.tables import show_findings, show_matrix, show_state
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float

SEED = 1743      # of the state shown: the year of d'Alembert's treatise
STATES, ROUNDS = 1024, 5      # of the comparison of speeds
DURATION = 2.0                # of the simulated motion [s]
FEW_JOINTS = 12               # degrees of freedom up to which closed forms are shown


def demonstrate(out: Console, mechanism: Mechanism) -> bool:
    """Print mechanism, dynamics and identities; whether all of them hold."""
    summarize(out, mechanism)
    show_findings(out, [f for f in mechanism.check() if f.severity != "note"])
    q, qd, qdd = random_motion(mechanism)
    line(out)
    line(out, f"A random motion (seed {SEED}) and the joint forces tau that it needs", "bold")
    show_state(out, mechanism, q, qd=qd, qdd=qdd, g=da.gravity_vector(mechanism, q),
               tau=da.inverse_dynamics(mechanism, q, qd, qdd))
    for title, matrix in (("Mass matrix M(q)", da.mass_matrix(mechanism, q)),
                          ("Coriolis matrix C(q, qd)", da.coriolis_matrix(mechanism, q, qd))):
        line(out)
        line(out, title, "bold")
        show_matrix(out, matrix)
    line(out)
    line(out, f"Kinetic energy T = {da.kinetic_energy(mechanism, q, qd):.6g} J, potential energy Pi = "
              f"{da.potential_energy(mechanism, q):.6g} J")
    line(out)
    checked = identities(mechanism, q, qd, qdd)
    show_table(out, [left("identity", [i.text for i in checked])],
               [Column("residual", [f"{i.residual:.1e}" for i in checked]),
                Column("tolerance", [f"{i.tolerance:.0e}" for i in checked]),
                left("", ["PASS" if i.holds else "FAIL" for i in checked])])
    line(out)
    line(out, f"{sum(i.holds for i in checked)} of {len(checked)} identities hold; residuals are relative to the "
              "largest entry.", "bold")
    agree = show_compiled(out, mechanism)
    return agree and all(i.holds for i in checked)


def show_closed_forms(out: Console, mechanism: Mechanism, file: Path) -> None:
    """Print the gravity vector in closed form, and write all closed forms to an HTML file."""
    line(out)
    if mechanism.nv > FEW_JOINTS:
        line(out, f"Closed forms are not derived here for {mechanism.nv} degrees of freedom: see dalembert equations.")
        return
    line(out, "Equations in closed form, each entry compared with the compiled function", "bold")
    eom = da.equations(mechanism)
    for text in eom.text("gravity_vector").splitlines():
        _wrapped(out, text)
    eom.write(file)
    line(out, f"All of them, with what the names mean: {file}")


def show_motion(out: Console, mechanism: Mechanism) -> None:
    """Simulate the mechanism under PD control with gravity compensation, from one random posture to another."""
    q, goal = (random_motion(mechanism, SEED + k)[0] for k in range(2))
    gains = 20 * np.diagonal(da.mass_matrix(mechanism, q))
    control = da.controllers.GravityPD(mechanism, goal, gains, gains / 2)
    run = da.simulate(mechanism, q, np.zeros(mechanism.nv), DURATION, control=control)
    line(out)
    line(out, "A simulated motion, by PD control with gravity compensation", "bold")
    balance = (f"balance of power: T + Pi less the work done stays within {np.abs(run.power_balance).max():.1e} J of its "
               f"first value, while {run.work[-1]:.3g} J of work are done")
    for text in (*run.summary().splitlines(), balance):
        _wrapped(out, text)


def _wrapped(out: Console, text: str) -> None:
    """A line of text, or as many as the terminal needs."""
    for part in textwrap.wrap(text, out.width, subsequent_indent="  ") or [""]:
        line(out, part)


def compare_speed(out: Console, mechanism: Mechanism, path: Path) -> None:
    """Print speeds beside the other engines that are installed; `mechanism` without what these cannot have."""
    line(out)
    if not installed():
        line(out, f"No other engine is installed here ({', '.join(PACKAGES.values())}): no speeds are compared.")
        return
    line(out, "Speed beside other engines", "bold")
    show(out, measure(mechanism, path, False, STATES, ROUNDS))


def random_motion(mechanism: Mechanism, seed: int = SEED) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q within the joints' limits, random qd and qdd."""
    rng = np.random.default_rng(seed)
    q, qd = mechanism.random_state(rng)
    for joint in mechanism.independent_joints:
        lower, upper = joint.limits.lower, joint.limits.upper
        if lower is not None and upper is not None:
            q[mechanism.entries[joint.name].at_q] = rng.uniform([as_float(x) for x in lower], [as_float(x) for x in upper])
    return q, qd, rng.standard_normal(mechanism.nv)
