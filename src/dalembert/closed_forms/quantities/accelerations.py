"""The sheet of the accelerations, of mechanisms and Lagrangians of one to three freedoms: qdd =
M^-1 (tau - h - g).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.closed_forms.algebra.cramer import (
    CramerSolution,
    blocks,
    by_names,
    check_freedoms,
    is_long,
    renamed,
    solved,
)
from dalembert.closed_forms.algebra.polynomials import Normal
from dalembert.closed_forms.algebra.ring import NotPolynomial, TooLarge
from dalembert.closed_forms.algebra.sums import Name, Sum, Term, object_array, single
from dalembert.closed_forms.printing.names import entry, entry_at
from dalembert.closed_forms.printing.sheets import Sheet, named_entries
from dalembert.closed_forms.quantities.verified_forms import ClosedForms
from dalembert.expr import symbol


def made(eom: ClosedForms, normal: Normal, pieces: Sequence[tuple[int, str]]) -> Sheet:
    """The sheet of M qdd = tau + sum of sign * quantity for `pieces`.

    normal: whose ring has the names of the coordinates, velocities and symbols.

    Raises
    ------
    DalembertError
        There are more than three freedoms.
    """
    M = eom.entries("mass_matrix")
    shown = eom.sheet("mass_matrix").forms
    coupled = np.array([[1 if form.terms else 0 for form in row] for row in shown], dtype=object)
    check_freedoms(max(map(len, blocks(coupled))), "accelerations")
    force = np.array([symbol(name, eom.graph) for name in eom.forces], dtype=object)
    for sign, quantity in pieces:
        force = force + eom.entries(quantity) * sign
    solution = _multiplied_out(eom, normal, M, force)
    uses = tuple[str, ...]()
    pieces = [(sign, quantity) for sign, quantity in pieces if eom.sheet(quantity).lines]
    if solution is None:
        solution, uses = (
            _of_entries(eom, pieces),
            ("mass_matrix", *(quantity for _, quantity in pieces)),
        )
    tau = {name: Name(entry(r"\tau", k + 1)) for k, name in enumerate(eom.forces)}
    short = renamed(solution.short, tau)
    filled: dict[str, Any] = {name: form for name, form in solution.parts.items()}
    for quantity in uses:
        sheet = eom.sheet(quantity)
        filled |= {entry_at(sheet.letter, at): form for at, form in np.ndenumerate(sheet.forms)}
    forms = solution.forms if not uses else renamed(renamed(solution.short, filled), filled)
    return eom.solved(
        "accelerations",
        object_array([*forms], (len(forms),)),
        short,
        solution.parts,
        uses,
        eom.accelerations,
    )


def _multiplied_out(
    eom: ClosedForms, normal: Normal, M: np.ndarray, force: np.ndarray
) -> CramerSolution | None:
    """Numerators and determinants as polynomials; None where they are long."""
    try:
        entries = np.array([[normal.scalar(x) for x in row] for row in M], dtype=object)
        F = [normal.scalar(x) for x in force]
        return (
            None if is_long(entries, F) else solved(entries, [F], normal, eom.determinant_name)[0]
        )
    except (TooLarge, NotPolynomial):
        return None


def _of_entries(eom: ClosedForms, pieces: Sequence[tuple[int, str]]) -> CramerSolution:
    """Numerators and determinants in terms of the entries of M and of the forces."""
    F = [[single(Name(name))] for name in eom.forces]
    for sign, quantity in pieces:
        sheet = eom.sheet(quantity)
        for own, form in zip(F, named_entries(sheet.forms, sheet.letter), strict=True):
            own.extend(Term(t.number * sign, t.factors) for t in form.terms)
    M = eom.sheet("mass_matrix")
    shown = np.array([[1 if form.terms else 0 for form in row] for row in M.forms], dtype=object)
    forces = [Sum(tuple(terms)) for terms in F]
    return by_names(shown, forces, lambda i, j: entry(M.letter, i + 1, j + 1), eom.determinant_name)
