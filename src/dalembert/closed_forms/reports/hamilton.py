"""Hamilton's equations: momenta, velocities from them, the function of Hamilton, its derivatives."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from dalembert.closed_forms.printing.names import entry
from dalembert.closed_forms.reports.beam_steps import write_beams
from dalembert.closed_forms.reports.derivation_steps import DerivationSteps
from dalembert.expr import constant, evaluate
from dalembert.formulations import hamilton

EXPLICIT = 3  # freedoms up to which the inverse of M is written by determinants


def write(steps: DerivationSteps) -> None:
    """The report, a section per step."""
    true = steps.verifier.mechanism
    q = steps.states["q"]
    qd = steps.states["qd"]
    if steps.eom.mechanism.elastic_bodies:
        write_beams(steps)
    steps.section("Potential energy")
    steps.sheet("potential_energy")
    steps.section("Kinetic energy", r"$$T = \tfrac12 \dot q^T M(q)\, \dot q$$")
    steps.sheet("mass_matrix", hamilton.mass_matrix(true, q))

    momenta = hamilton.momenta(true, q, qd)
    steps.section("Momenta", r"$$p_k = \partial T / \partial \dot q_k = \sum_j M_{kj}\, \dot q_j$$")
    M, M_values = _entries_of_M(steps)
    steps.entries("p", M @ steps.qd, momenta)
    kinetic = _velocities(steps, M, M_values, momenta)
    steps.section(
        "Function of Hamilton",
        r"$$H = \tfrac12 p^T M^{-1} p + \Pi = \tfrac12 \sum_k p_k \dot q_k + \Pi$$",
    )
    if kinetic is None:
        steps.text(r"with $\dot q$ of the step before, and $\Pi$ as above.")
    else:
        _check_hamiltonian(steps, kinetic, momenta)

    steps.section(
        "Derivatives by the coordinates",
        r"$$\frac{\partial H}{\partial q_k} = -\tfrac12 \sum_{i,j} "
        r"\frac{\partial M_{ij}}{\partial q_k}\, \dot q_i \dot q_j + \frac{\partial \Pi}{\partial q_k}$$",
        r"with $\dot q$ as found above:",
    )
    steps.entries(
        r"\partial H / \partial q_{%s}",
        -hamilton.lagrangian_gradient(steps.mechanism, steps.q, steps.qd),
        -hamilton.lagrangian_gradient(true, q, qd),
    )
    steps.section(
        "Equations of motion",
        r"$$\dot q_k = \frac{\partial H}{\partial p_k}, \qquad \dot p_k = "
        r"-\frac{\partial H}{\partial q_k} + \tau_k$$",
    )
    if steps.mechanism.nq != steps.mechanism.nv:
        steps.text(
            r"For spherical and free joints the velocities are those along the child's axes, and $\dot p$ has the "
            r"terms of Lie and Poisson $p \times \omega$ besides."
        )


def _velocities(
    steps: DerivationSteps, M: np.ndarray, M_values: np.ndarray, momenta: np.ndarray
) -> Any:
    """Print the velocities; the kinetic energy in terms of momenta, None where the inverse of M is
    not written.
    """
    qd = steps.states["qd"]
    steps.section("Velocities", r"$$\dot q = M^{-1} p = \partial H / \partial p$$")
    W = _inverse(steps, M, M_values) if len(M) <= EXPLICIT else None
    symbols = [steps.new_symbol(entry("p", k + 1), values) for k, values in enumerate(momenta.T)]
    p = np.array(symbols, dtype=object)
    if W is not None:
        steps.entries(r"\dot q", W @ p, qd)
        return p @ (W @ p) / 2
    names = ", ".join(f"${steps.target.name(x.name)}$" for x in p)
    steps.text(
        f"By elimination along the tree, without forming the inverse; {names} are the momenta:"
    )
    velocities = hamilton.velocities(steps.mechanism, steps.q, p)
    steps.entries(r"\dot q", velocities, qd, in_parts=True)
    return None


def _check_hamiltonian(steps: DerivationSteps, kinetic: Any, momenta: np.ndarray) -> None:
    """Print the kinetic energy in terms of momenta, and compare its sum with the potential one."""
    true = steps.verifier.mechanism
    q = steps.states["q"]
    qd = steps.states["qd"]
    values, potential = (
        np.asarray(evaluate(x, steps.point)) for x in (kinetic, steps.eom.potential_energy)
    )
    if steps.context.grouped:  # groups leave a constant out of the potential energy
        potential = potential + (steps.verifier.dynamics.potential_energy(q) - potential)[0]
    steps.array("H - \\Pi", kinetic, hamilton.kinetic_energy(true, q, qd))
    steps.check("H", values + potential, hamilton.hamiltonian(true, q, momenta))


def _entries_of_M(steps: DerivationSteps) -> tuple[np.ndarray, np.ndarray]:
    """M as symbols M_12, zeros as zeros, and its values."""
    forms = steps.eom.sheet("mass_matrix").forms
    n = steps.mechanism.nv
    values = steps.verifier.evaluated(steps.eom.entries("mass_matrix"))
    M = np.zeros((n, n), dtype=object)
    for i, j in combinations_with_replacement(range(n), 2):
        if forms[i, j].terms:
            M[i, j] = M[j, i] = steps.new_symbol(entry("M", i + 1, j + 1), values[:, i, j])
    return M, values


def _inverse(steps: DerivationSteps, M: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The inverse of M by determinants, as symbols W_12."""
    n = len(M)
    adjugate = np.empty((n, n), dtype=object)
    for i, j in np.ndindex(n, n):
        minor = np.delete(np.delete(M, j, 0), i, 1)
        adjugate[i, j] = _determinant(minor) * (-1) ** (i + j)
    determinant = _determinant(M)
    steps.array(r"\Delta", determinant, np.linalg.det(values))
    delta = steps.new_symbol("Delta", np.linalg.det(values))
    inverse = np.linalg.inv(values)
    W = np.zeros((n, n), dtype=object)
    for i, j in combinations_with_replacement(range(n), 2):
        (form,) = steps.normal.forms([constant(adjugate[i, j] / delta, steps.context.graph)])
        steps.check("W", steps.values([form])[:, 0], inverse[:, i, j])
        if form.terms:
            W[i, j] = W[j, i] = steps.new_symbol(entry("W", i + 1, j + 1), inverse[:, i, j])
            steps.formula(steps.target.label("W", i + 1, j + 1), form)
    return W


def _determinant(A: np.ndarray) -> Any:
    """By the first row."""
    if len(A) == 0:
        return 1
    total: Any = 0
    for k, x in enumerate(A[0]):
        minor = np.delete(A[1:], k, 1)
        total = total + x * _determinant(minor) * (-1) ** k
    return total
