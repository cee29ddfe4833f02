"""Checks beyond the identities of one formulation: others, machine code, derivatives, constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from dalembert.analysis import constrained_functions as dynamics
from dalembert.analysis.loop_closing import assemble, project
from dalembert.compiled.constraint_forces import constraint_jacobian, constraint_residual
from dalembert.compiled.dynamics import compile as compiled
from dalembert.errors import DalembertError
from dalembert.formulations import newton_euler
from dalembert.model.mechanism import Mechanism
from dalembert.reports.identities import (
    DIFFERENCED,
    STEP,
    IdentityCheck,
    along,
    difference,
)

SOLVED = 1e-9  # of the largest entry: forward dynamics solves with M, whose condition enters
OTHERS = {
    "lagrange": "Lagrange's equations",
    "elementary_motions": "elementary motions",
}
SHARED = ("mass_matrix", "gravity_vector", "inverse_dynamics")


class MechanismState(NamedTuple):
    """A random state and accelerations."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray

    def inputs(self, quantity: str) -> tuple[np.ndarray, ...]:
        """Arguments of a quantity."""
        return tuple(self) if quantity == "inverse_dynamics" else (self.q,)


def further_checks(mechanism: Mechanism, state: MechanismState) -> Iterator[IdentityCheck | str]:
    """Checks at a state of a tree; in place of a check that does not apply, why."""
    for name, title in OTHERS.items():
        yield _attempt(title, partial(_agreement, mechanism, state, name, title))
    yield _attempt("Hamilton's form", lambda: _hamilton(mechanism, state))
    yield _attempt("the machine code", lambda: _machine_code(mechanism, state))
    yield _attempt("derivatives", lambda: _derivatives(mechanism, state))


def constraint_checks(mechanism: Mechanism, seed: int) -> Iterator[IdentityCheck | str]:
    """Checks of constraints at a state that meets them."""
    yield _attempt("constraints", lambda: _constraints(mechanism, seed))


def _attempt(what: str, check: Callable[[], IdentityCheck]) -> IdentityCheck | str:
    """The check, or why it does not apply."""
    try:
        return check()
    except (DalembertError, NotImplementedError) as error:
        return f"{what}: {error}"


def _agreement(mechanism: Mechanism, state: MechanismState, name: str, title: str) -> IdentityCheck:
    """The same quantities by another formulation."""
    module = import_module(f"dalembert.formulations.{name}")
    gaps = []
    for quantity in SHARED:
        inputs = state.inputs(quantity)
        ours = getattr(newton_euler, quantity)(mechanism, *inputs)
        theirs = getattr(module, quantity)(mechanism, *inputs)
        gaps.append(difference(ours, theirs))
    return IdentityCheck(f"M, g and tau by {title} as by Newton-Euler", max(gaps), SOLVED)


def _hamilton(mechanism: Mechanism, state: MechanismState) -> IdentityCheck:
    """Velocities from momenta by Hamilton's form."""
    hamilton = import_module("dalembert.formulations.hamilton")
    p = newton_euler.momenta(mechanism, state.q, state.qd)
    found = hamilton.velocities(mechanism, state.q, p)
    M = newton_euler.mass_matrix(mechanism, state.q)
    return IdentityCheck(
        "Hamilton's velocities of p = M qd are qd", difference(M @ found, p), SOLVED
    )


def _machine_code(mechanism: Mechanism, state: MechanismState) -> IdentityCheck:
    """Compiled functions beside the plain ones."""
    code: Any = compiled(mechanism)
    gaps = []
    for quantity in ("mass_matrix", "inverse_dynamics"):
        inputs = state.inputs(quantity)
        plain = getattr(newton_euler, quantity)(mechanism, *inputs)
        gaps.append(difference(getattr(code, quantity)(*inputs), plain))
    return IdentityCheck("machine code gives M and tau of the plain functions", max(gaps), SOLVED)


def _derivatives(mechanism: Mechanism, state: MechanismState) -> IdentityCheck:
    """Derivatives of inverse dynamics beside differences."""
    q, qd, qdd = state
    found = dynamics.inverse_dynamics_derivatives(mechanism, q, qd, qdd)

    def tau(direction: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Joint forces at steps along a direction in q."""
        moved = mechanism.integrate(q, steps[:, None] * direction)
        ones = np.ones((len(steps), 1))
        result: np.ndarray = newton_euler.inverse_dynamics(mechanism, moved, qd * ones, qdd * ones)
        return result

    columns = [along(partial(tau, e)) for e in np.eye(mechanism.nv)]
    gap = difference(found.dtau_dq, np.array(columns).T.reshape(found.dtau_dq.shape))
    return IdentityCheck("derivatives of tau by q are those of differences", gap, DIFFERENCED)


def _constraints(mechanism: Mechanism, seed: int) -> IdentityCheck:
    """The Jacobian of the constraints beside the rate of their residuals."""
    rng = np.random.default_rng(seed)
    q = assemble(mechanism, mechanism.neutral())
    q, qd = project(mechanism, q, rng.standard_normal(mechanism.nv))
    free = rng.standard_normal(mechanism.nv)
    rows = np.atleast_1d(constraint_residual(mechanism, q))
    J = np.asarray(constraint_jacobian(mechanism, q))
    gaps = [difference(J @ qd, 0.0, J * np.abs(qd).max(initial=1e-300))]
    if len(rows) == len(J):
        moved = mechanism.integrate(q, STEP * np.array([[-2.0], [-1], [1], [2]]) * free)
        phi = np.array([constraint_residual(mechanism, x) for x in moved])
        rate = (phi[0] - phi[3] + 8 * (phi[2] - phi[1])) / (12 * STEP)
        gaps.append(difference(rate, J @ free, J))
    gaps.append(float(np.abs(rows).max(initial=0.0)))
    words = "constraints: residuals are zero, J qd = 0, and J is their derivative"
    return IdentityCheck(words, max(gaps), DIFFERENCED)
