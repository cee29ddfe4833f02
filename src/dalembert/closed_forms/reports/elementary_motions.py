"""The trace method: 4x4 matrices of elementary motions, their derivatives, pseudo-inertias,
coefficients a0, a1, a2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.closed_forms.printing.documents import markdown_text
from dalembert.closed_forms.reports.derivation_steps import DerivationSteps
from dalembert.formulations import elementary_motions as method


def write(steps: DerivationSteps) -> None:
    """The report, a section per step of the source."""
    rows = method.motions(steps.verifier.mechanism)
    steps.section(
        "Elementary motions",
        "Each step is a variable motion with the constant motions before it:",
        "\n".join(map(_described, range(1, len(rows) + 1), rows)),
    )
    _placements(steps, rows)
    _derivatives(steps, rows)
    steps.section("Pseudo-inertias", r"$$I_i = \int \rho \rho^T dm, \qquad \rho = (x, y, z, 1)^T$$")
    inertias = zip(
        method.pseudo_inertias(steps.mechanism), method.pseudo_inertias(steps.numbers), strict=True
    )
    for i, (I, right) in enumerate(inertias, 1):
        steps.array(f"I_{{{i}}}", I, right)
    _coefficients(steps)
    steps.equations()


def _described(k: int, row: Any) -> str:
    """A step in words."""
    on = f"step {row.parent}" if row.parent else "the base"
    carried = f", carries {markdown_text(row.body)}" if row.body else ""
    return f"{k}. {markdown_text(row.name)}: {markdown_text(row.kind)}, on {on}{carried}"


def _placements(steps: DerivationSteps, rows: Sequence[Any]) -> None:
    """Matrices of the steps, and their products."""
    symbolic = steps.mechanism
    true = steps.verifier.mechanism
    q = steps.states["q"]
    steps.section("Matrices of the steps", "$$T_i = C_i\\, T(q_i)$$")
    T = method.joint_matrices(symbolic, steps.q)
    right = method.joint_matrices(true, q)
    for i in range(len(rows)):
        steps.array(f"T_{{{i + 1}}}", T[i], right[:, i])
    steps.section("Placements of the bodies", "$$B_i = B_p T_i$$")
    B = method.products(symbolic, steps.q)
    right = method.products(true, q)
    for i, row in enumerate(rows):
        product = f"B_{{{row.parent}}} T_{{{i + 1}}}" if row.parent else f"T_{{{i + 1}}}"
        steps.array(f"B_{{{i + 1}}}", B[i], right[:, i], product)


def _derivatives(steps: DerivationSteps, rows: Sequence[Any]) -> None:
    """First and second derivatives of the placements."""
    symbolic = steps.mechanism
    true = steps.verifier.mechanism
    q = steps.states["q"]
    steps.section(
        "First derivatives",
        r"$$B_i^j = \partial B_i / \partial q_j = T_1 \cdots T_j D_j T_{j+1} \cdots T_i, "
        r"\qquad B_i^j = B_p^j T_i \ \text{for } j \text{ before step } i$$",
    )
    B1 = method.first_derivatives(symbolic, steps.q)
    right = method.first_derivatives(true, q)
    for i, j in np.ndindex(B1.shape[:2]):
        _derivative(steps, rows[i].parent, i, (j,), B1[i, j], right[:, i, j])
    steps.section(
        "Second derivatives",
        r"$$B_i^{jk} = \partial B_i^j / \partial q_k, \qquad B_i^{jk} = B_p^{jk} T_i \ "
        r"\text{for } j, k \text{ before step } i$$",
    )
    B2 = method.second_derivatives(symbolic, steps.q)
    right = method.second_derivatives(true, q)
    for i, j, k in np.ndindex(B2.shape[:3]):
        if k >= j:
            _derivative(steps, rows[i].parent, i, (j, k), B2[i, j, k], right[:, i, j, k])


def _derivative(
    steps: DerivationSteps,
    parent: int,
    i: int,
    along: tuple[int, ...],
    entries: np.ndarray,
    right: np.ndarray,
) -> None:
    """A derivative of B_i that is not zero; where it is long and those of the parent are not, by
    the product with T_i.
    """
    if all(isinstance(x, (int, float)) and x == 0 for x in entries.flat):
        return
    index = ("" if max(along) < 9 else ",").join(str(k + 1) for k in along)
    product = f"B_{{{parent}}}^{{{index}}} T_{{{i + 1}}}" if parent and max(along) < i else ""
    steps.array(f"B_{{{i + 1}}}^{{{index}}}", entries, right, product)


def _coefficients(steps: DerivationSteps) -> None:
    """Coefficients a0, a1 and a2 of the equations of motion."""
    true = steps.verifier.mechanism
    q = steps.states["q"]
    qd = steps.states["qd"]
    steps.section(
        "Coefficients $a_0$: the mass matrix",
        r"$$a_{0,ki} = \sum_l S\left(B_l^i I_l B_l^{kT}\right)$$",
        "Traces $S$, collected; rotors are added.",
    )
    steps.sheet("mass_matrix", method.mass_matrix(true, q), "a_{0,%s}")
    steps.section(
        "Coefficients $a_1$: products of velocities",
        r"$$a_{1,kji} = \sigma \sum_l S\left(B_l^{ji} I_l "
        r"B_l^{kT}\right), \qquad \sigma = 1 \text{ for } i = j, \text{ else } 2$$",
        r"As the symbols $c_{ijk} = a_{1,kji} / \sigma$:",
    )
    steps.sheet("christoffel", method.christoffel_symbols(true, q))
    steps.sheet("coriolis_vector", method.coriolis_vector(true, q, qd))
    steps.section("Coefficients $a_2$: gravity", r"$$a_{2,k} = -g^T \sum_l m_l B_l^k r_l$$")
    steps.sheet("gravity_vector", method.gravity_coefficients(true, q), "a_{2,%s}")
