"""The sheets of a mechanism's quantities: in full from polynomials, or in factored form from traced
expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import numpy as np

from dalembert.closed_forms.algebra.ring import PARAMETER, Poly, TooLarge, terms_in, terms_of
from dalembert.closed_forms.algebra.sums import ZERO, Sum, Term, object_array, opposite
from dalembert.closed_forms.algebra.writing import Writer
from dalembert.closed_forms.derivation import polynomial_equations as polynomials
from dalembert.closed_forms.derivation.constraint_expressions import ConstraintExpressions
from dalembert.closed_forms.derivation.mechanism_context import MechanismContext
from dalembert.closed_forms.printing.sheets import Sheet, named_entries
from dalembert.closed_forms.quantities import accelerations as accelerating
from dalembert.closed_forms.quantities import frames
from dalembert.closed_forms.quantities import multipliers as multiplier_sheets
from dalembert.closed_forms.quantities.entry_products import (
    Entries,
    Products,
    by_entries,
    by_references,
    combined,
)
from dalembert.closed_forms.quantities.passive_terms import passive_forces, spring_energy
from dalembert.closed_forms.quantities.verified_forms import ClosedForms
from dalembert.expr import derivative
from dalembert.spatial.inertias import HALF

CHRISTOFFEL = 3  # times as many characters as the budget may be printed of all Christoffel symbols
SHORT = 60  # terms up to which velocities are multiplied out in energies and Coriolis terms
LONGEST = 240  # terms of a matrix of a frame that is written out
POLYNOMIAL = 4000  # terms of a polynomial on the way to it
Terms = tuple[Term, ...]

QUANTITIES = {
    "mass_matrix": "Mass matrix",
    "christoffel": "Christoffel symbols",
    "coriolis_matrix": "Coriolis matrix",
    "coriolis_vector": "Coriolis vector",
    "gravity_vector": "Gravity vector",
    "kinetic_energy": "Kinetic energy",
    "potential_energy": "Potential energy of gravity and springs",
    "regressor": "Regressor",
    "passive_force": "Forces of springs and friction",
    "equations_of_motion": "Equations of motion",
    "accelerations": "Accelerations",
}
LETTERS = dict(
    zip(QUANTITIES, ("M", "c", "C", "h", "g", "T", r"\Pi", "Y", "f", r"\tau", r"\tau"), strict=True)
)
OF_CHRISTOFFEL = ("christoffel", "coriolis_matrix", "coriolis_vector", "regressor")
BY_ENTRIES = ("kinetic_energy", "passive_force", "equations_of_motion", "accelerations")
OF_CONSTRAINTS = {
    **QUANTITIES,
    **{name: title for name, (title, _) in multiplier_sheets.QUANTITIES.items()},
}
LETTERS_OF_CONSTRAINTS = {
    **LETTERS,
    **{name: letter for name, (_, letter) in multiplier_sheets.QUANTITIES.items()},
}
OF_ANY_LENGTH = ("christoffel", "regressor", *BY_ENTRIES)  # decided about elsewhere, or never long


def made(p: MechanismContext, eom: ClosedForms, quantity: str) -> Sheet:
    """The sheet of a quantity: in full, or in factored form where that is too long or no
    polynomial.
    """
    if ":" in quantity:
        return _of_frame(p, eom, quantity)
    if quantity in multiplier_sheets.QUANTITIES and p.rows is not None:
        return _of_constraints(p, eom, p.rows, quantity)
    if quantity == "mass_matrix":
        why = p.why_factored = p.why_factored or p.why_long
    else:
        eom.sheet("mass_matrix")  # its length decides about all quantities
        why = why_no_christoffel(p, eom) if quantity in OF_CHRISTOFFEL else p.why_factored
    if not why or quantity in BY_ENTRIES:
        sheet = eom.drafts.get(quantity) or MAKE[quantity](p, eom)
        if quantity in OF_ANY_LENGTH or (size := eom.length(sheet)) <= p.budget:
            return sheet
        terms = p.derived.size if quantity == "mass_matrix" else sheet.terms
        why = f"the {QUANTITIES[quantity].lower()} has {terms} terms, {size} characters in full"
        if quantity == "mass_matrix":
            p.why_factored = why
    if quantity == "christoffel":
        expressions = _christoffel_of(p, eom.entries("mass_matrix"))
    else:
        expressions = p.traced(quantity)
    return eom.factored(quantity, expressions, why)


def _of_frame(p: MechanismContext, eom: ClosedForms, quantity: str) -> Sheet:
    """The sheet of a placement or Jacobian, in sums of angles along runs of parallel axes."""
    expressions = np.array(
        frames.numbers(p.symbolic.twin, p.symbolic.vectors[0], quantity), dtype=object
    )
    if p.tree.elastic and p.derived is None:
        return eom.factored(quantity, expressions, p.why_factored)
    normal = p.normal_in(p.in_order, POLYNOMIAL, p.angles)
    try:
        if terms_in(normal.scalar(x) for x in expressions.flat) <= LONGEST:
            forms = object_array(normal.forms(expressions.flat), expressions.shape)
            return eom.in_full(quantity, forms)
    except TooLarge:
        pass
    return eom.factored(quantity, expressions, "the entries are long")


def _of_constraints(
    p: MechanismContext, eom: ClosedForms, rows: ConstraintExpressions, quantity: str
) -> Sheet:
    """The sheet of rows of constraints, of their forces, or of the multipliers."""
    if quantity == "multipliers":
        forces = [(-1, "coriolis_vector"), (-1, "gravity_vector"), (1, "passive_force")]
        return multiplier_sheets.made(eom, rows, p.normal, forces)
    expressions = rows.quantities[quantity]
    try:
        forms = object_array(p.normal.forms(expressions.flat), expressions.shape)
        sheet = eom.in_full(quantity, forms)
        if (size := eom.length(sheet)) <= p.budget:
            return sheet
        why = f"the {eom.titles[quantity].lower()} have {size} characters in full"
    except TooLarge as error:
        why = str(error).rstrip(".")
    return eom.factored(quantity, expressions, why)


def why_no_christoffel(p: MechanismContext, eom: ClosedForms) -> str:
    """Why Christoffel symbols are not printed in full; empty where they are."""
    eom.sheet("mass_matrix")
    terms = p.christoffel_terms(lambda done: eom.progress("Christoffel symbols", done))
    if terms < inf and "christoffel" not in eom.drafts:
        sheet = eom.drafts["christoffel"] = MAKE["christoffel"](p, eom)
        size = eom.length(sheet)
        if size > CHRISTOFFEL * p.budget:
            p.why_no_christoffel = (
                f"the Christoffel symbols have {sheet.terms} terms, {size} characters in full"
            )
    return p.why_factored or p.why_no_christoffel


def _christoffel_of(p: MechanismContext, M: np.ndarray) -> np.ndarray:
    if p.mechanism.nq != p.tree.nv:
        raise TooLarge(
            "Christoffel symbols of long equations with quasi-velocities have no closed form here; "
            "coriolis_matrix gives the Coriolis matrix."
        )
    D = np.asarray(derivative(M, p.symbolic.vectors[0]))  # [j, k, i]
    return (D.transpose(2, 0, 1) + D.transpose(1, 2, 0) - D) * HALF


def mass_matrix(p: MechanismContext, eom: ClosedForms) -> Sheet:
    """M(q), upper triangle."""
    n = p.tree.nv
    entries: Entries = {(i, j): p.derived.M[i][j] for i in range(n) for j in range(i, n)}
    forms = np.full((n, n), ZERO, dtype=object)
    for at, value in entries.items():
        forms[at] = forms[at[::-1]] = p.writer.form(value)
    return by_references(p.writer, eom, "mass_matrix", forms, entries)


def gravity_vector(p: MechanismContext, eom: ClosedForms) -> Sheet:
    """g(q) = dU/dq."""
    return _in_full(p, eom, "gravity_vector", p.derived.g)


def christoffel(p: MechanismContext, eom: ClosedForms) -> Sheet:
    """c_ijk, k by k; a symbol that equals another one, or its negative, refers to the first."""
    known: dict[int, Sum] = {}
    forms = np.full((p.tree.nv,) * 3, ZERO, dtype=object)
    for at, twice in p.derived.twice.items():
        if id(twice) not in known:
            known[id(twice)] = p.writer.form(twice * HALF)
        forms[at] = known[id(twice)]
    entries = {at: twice * HALF for at, twice in p.derived.twice.items() if at[0] <= at[1]}
    return by_references(p.writer, eom, "christoffel", forms, entries)


def coriolis_matrix(p: MechanismContext, eom: ClosedForms) -> Sheet:
    """C_kj = sum_i c_ijk v_i."""
    n = p.tree.nv
    v = p.names[1]
    if p.christoffel_terms() <= SHORT:
        return _in_full(p, eom, "coriolis_matrix", polynomials.coriolis_matrix(p.derived), (n, n))

    def products(k: int, j: int) -> Products:
        """Products that entry (k, j) is the sum of."""
        return [((i, j, k), 1, (v[i],)) for i in range(n)]

    return by_entries(eom, "coriolis_matrix", "christoffel", (n, n), products)


def coriolis_vector(p: MechanismContext, eom: ClosedForms) -> Sheet:
    """h = C qd."""
    n = p.tree.nv
    v = p.names[1]
    if p.christoffel_terms() <= SHORT:
        return _in_full(p, eom, "coriolis_vector", polynomials.coriolis_vector(p.derived))
    c = eom.sheet("christoffel").forms

    def products(k: int) -> Products:
        """With symbols that are equal in i and j once."""
        found: Products = []
        for i, j in np.ndindex(n, n):
            is_symmetric = c[i, j, k] == c[j, i, k]
            if i <= j or not is_symmetric:
                rates = (v[min(i, j)], v[max(i, j)])
                found.append(((i, j, k), 2 if i < j and is_symmetric else 1, rates))
        return found

    return by_entries(eom, "coriolis_vector", "christoffel", (n,), products)


def kinetic_energy(p: MechanismContext, eom: ClosedForms) -> Sheet:
    """T = 1/2 qd^T M qd."""
    n = p.tree.nv
    v = p.names[1]

    def products() -> Products:
        """Products that the energy is the sum of."""
        pairs = ((i, j) for i in range(n) for j in range(i, n))
        return [((i, j), HALF if i == j else 1, (v[i], v[j])) for i, j in pairs]

    mass_matrix = eom.sheet("mass_matrix")
    if not p.why_factored and _is_short(mass_matrix):
        form = combined(products(), mass_matrix.forms)
        return eom.in_full("kinetic_energy", object_array([form], ()))
    return by_entries(eom, "kinetic_energy", "mass_matrix", (), products)


def potential_energy(p: MechanismContext, eom: ClosedForms) -> Sheet:
    """Gravity and springs; with base parameters up to a constant."""
    form = Sum(p.writer.form(p.derived.U).terms + spring_energy(p).terms)
    return eom.in_full("potential_energy", object_array([form], ()))


def regressor(p: MechanismContext, eom: ClosedForms) -> Sheet:
    """Y with tau = Y theta: coefficients of the base parameters."""
    n = p.tree.nv
    d = p.derived
    ring = p.derived.ring
    numbers = {ring.parameters.index(x.name): column for column, x in enumerate(p.parameters)}
    writer = Writer(ring, p.by_kind)
    forms = np.full((n, len(numbers)), ZERO, dtype=object)
    for k, force in enumerate(polynomials.inverse_dynamics(d)):
        columns: dict[int, dict[int, Any]] = {}
        for monomial, number in terms_of(force):
            columns.setdefault(monomial & PARAMETER, {})[monomial & ~PARAMETER] = number
        for parameter, terms in columns.items():
            if parameter in numbers:
                forms[k, numbers[parameter]] = writer.form(Poly(ring, terms))
    return eom.in_full("regressor", forms)


def passive_force(p: MechanismContext, eom: ClosedForms) -> Sheet:
    """f = -k (q - rest) - d qd - f_c sign(qd)."""
    return eom.in_full("passive_force", object_array(passive_forces(p), (p.tree.nv,)))


def equations_of_motion(p: MechanismContext, eom: ClosedForms) -> Sheet:
    """tau = M qdd + h + g - f, row by row; in terms of the entries of these where that is long."""
    resisting = [opposite(form).terms for form in passive_forces(p)]
    if p.rows is not None:
        kept = p.normal.forms(p.rows.forces, by_rates=True)
        pairs = zip(resisting, kept, strict=True)
        resisting = [terms + opposite(form).terms for terms, form in pairs]
    is_short = (
        not p.why_factored
        and p.christoffel_terms() <= SHORT
        and _is_short(eom.sheet("mass_matrix"))
    )
    if is_short:
        rows = [p.writer.by_rates(row).terms for row in polynomials.inverse_dynamics(p.derived)]
        forms = _with_terms(rows, resisting)
        return eom.in_full("equations_of_motion", forms)
    sheets = [eom.sheet(name) for name in ("mass_matrix", "coriolis_vector", "gravity_vector")]
    named = [named_entries(s.forms, eom.letters[s.quantity]) for s in sheets]
    forms, short = (
        _with_terms(_rows(p.names[2], *entries), resisting)
        for entries in ([s.forms for s in sheets], named)
    )
    return eom.abridged("equations_of_motion", forms, short, [s.quantity for s in sheets])


def _rows(qdd: Sequence[str], M: np.ndarray, h: np.ndarray, g: np.ndarray) -> list[Terms]:
    """M qdd + h + g, row by row."""
    rows = []
    for k in range(len(qdd)):
        inertial = combined([((k, j), 1, (a,)) for j, a in enumerate(qdd)], M)
        others = (combined([((k,), 1, ())], vector) for vector in (h, g))
        rows.append(inertial.terms + sum((form.terms for form in others), start=()))
    return rows


def _with_terms(rows: Sequence[Terms], more: Sequence[Terms]) -> np.ndarray:
    sums = [Sum(row + extra) for row, extra in zip(rows, more, strict=True)]
    return object_array(sums, (len(sums),))


def accelerations(p: MechanismContext, eom: ClosedForms) -> Sheet:
    """qdd = M^-1 (tau - h - g + f)."""
    forces = [(-1, "coriolis_vector"), (-1, "gravity_vector"), (1, "passive_force")]
    if p.rows is not None:
        multiplier_sheets.check_along_rows(eom.name, p.rows, "accelerations")
        forces.append((1, "constraint_forces"))
    return accelerating.made(eom, p.normal, forces)


def _is_short(sheet: Sheet) -> bool:
    return sum(len(form) for form in set(sheet.forms.flat)) <= SHORT


def _in_full(
    p: MechanismContext,
    eom: ClosedForms,
    quantity: str,
    values: Any,
    shape: tuple[int, ...] | None = None,
) -> Sheet:
    """A sheet of polynomials in full, by default a vector."""
    flat = [x for row in values for x in row] if shape else values
    forms = [p.writer.form(x) for x in flat]
    return eom.in_full(quantity, object_array(forms, shape or (len(forms),)))


MAKE: dict[str, Callable[[MechanismContext, ClosedForms], Sheet]] = {
    "mass_matrix": mass_matrix,
    "christoffel": christoffel,
    "coriolis_matrix": coriolis_matrix,
    "coriolis_vector": coriolis_vector,
    "gravity_vector": gravity_vector,
    "kinetic_energy": kinetic_energy,
    "potential_energy": potential_energy,
    "regressor": regressor,
    "passive_force": passive_force,
    "equations_of_motion": equations_of_motion,
    "accelerations": accelerations,
}
