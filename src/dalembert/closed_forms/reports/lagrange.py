"""Lagrange's equations: positions, Jacobians, energies, mass matrix, Christoffel symbols, equations
of motion.
"""

from __future__ import annotations

from dalembert.closed_forms.printing.documents import markdown_text
from dalembert.closed_forms.reports.beam_steps import write_beams
from dalembert.closed_forms.reports.derivation_steps import DerivationSteps
from dalembert.formulations import lagrange


def write(steps: DerivationSteps) -> None:
    """The report, a section per step of the standard procedure."""
    true = steps.verifier.mechanism
    q = steps.states["q"]
    qd = steps.states["qd"]
    if steps.eom.mechanism.elastic_bodies:
        write_beams(steps)
    else:
        _positions(steps)
    steps.section(
        "Potential energy",
        r"$$\Pi = -\sum_i m_i\, g^T c_i, \qquad g_k = \partial \Pi / \partial q_k$$",
    )
    steps.sheet("potential_energy")
    steps.sheet("gravity_vector", lagrange.gravity_vector(true, q))
    steps.section(
        "Kinetic energy and mass matrix",
        r"$$T = \tfrac12 \dot q^T M \dot q, \qquad M = \sum_i "
        r"\left(m_i J_{v,i}^T J_{v,i} + J_{\omega,i}^T R_i I_i R_i^T J_{\omega,i}\right)$$",
    )
    steps.sheet("mass_matrix", lagrange.mass_matrix(true, q))
    steps.sheet("kinetic_energy", lagrange.kinetic_energy(true, q, qd))
    steps.section(
        "Christoffel symbols",
        r"$$c_{ijk} = \tfrac12 \left(\frac{\partial M_{kj}}{\partial q_i} + \frac{\partial "
        r"M_{ki}}{\partial q_j} - \frac{\partial M_{ij}}{\partial q_k}\right), \qquad h_k = \sum_{i,j} c_{ijk}\, "
        r"\dot q_i \dot q_j$$",
    )
    steps.sheet("christoffel", lagrange.christoffel_symbols(true, q))
    steps.sheet("coriolis_vector", lagrange.coriolis_vector(true, q, qd))
    steps.equations()


def _positions(steps: DerivationSteps) -> None:
    """Positions of the mass centres, and Jacobians of the links."""
    symbolic = steps.context.ungrouped_twin(steps.point)
    true = steps.verifier.mechanism
    q = steps.states["q"]
    names = lagrange.link_names(true)
    steps.section(
        "Positions of the mass centres",
        r"$$\begin{pmatrix} c_i \\ 1 \end{pmatrix} = H_1(q_1) \cdots H_i(q_i) "
        r"\begin{pmatrix} c_i^{(i)} \\ 1 \end{pmatrix}$$",
        "In base axes; links: "
        + ", ".join(f"{k} {markdown_text(name)}" for k, name in enumerate(names, 1))
        + ".",
    )
    centers = lagrange.mass_centers(symbolic, steps.q)
    right = lagrange.mass_centers(true, q)
    for k in range(len(names)):
        steps.array(f"c_{{{k + 1}}}", centers[k], right[:, k])
    steps.section(
        "Jacobians of the links",
        r"$$\dot c_i = J_{v,i}\, \dot q, \qquad \omega_i = J_{\omega,i}\, \dot q$$",
    )
    jacobians = (lagrange.link_jacobians(symbolic, steps.q), lagrange.link_jacobians(true, q))
    for letter, J, right in zip(("v", r"\omega"), *jacobians, strict=True):
        for k in range(len(names)):
            steps.array(f"J_{{{letter},{k + 1}}}", J[k], right[:, k])
