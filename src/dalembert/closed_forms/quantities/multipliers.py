"""The sheet of the multipliers of one to three rows of constraints: J M^-1 J^T lambda = k - J M^-1
f.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm, prod
from typing import Any

import numpy as np

from dalembert.closed_forms.algebra import cramer
from dalembert.closed_forms.algebra.polynomials import Normal
from dalembert.closed_forms.algebra.ring import NotPolynomial, Poly, TooLarge, terms_in
from dalembert.closed_forms.algebra.sums import ZERO, Name, object_array
from dalembert.closed_forms.derivation.constraint_expressions import ConstraintExpressions
from dalembert.closed_forms.printing.names import entry
from dalembert.closed_forms.printing.sheets import Sheet
from dalembert.closed_forms.quantities.verified_forms import ClosedForms
from dalembert.errors import DalembertError
from dalembert.expr import symbol
from dalembert.spatial import linear_algebra

# Quantities of constraints: title, and the letter of their entries.
QUANTITIES: dict[str, tuple[str, str]] = {
    "constraints": ("Constraints, each 0", r"\phi"),
    "velocity_constraints": ("Constraints on velocities, each 0", r"\psi"),
    "constraint_jacobian": ("Jacobian of the constraints", "J"),
    "constraint_bias": ("Right side of the constraints on accelerations", "k"),
    "constraint_forces": ("Forces of the constraints", "R"),
    "multipliers": ("Multipliers", r"\lambda"),
}
SHOWN = ("constraints", "velocity_constraints", "constraint_jacobian", "constraint_bias")
LARGEST = 4  # velocities that M couples
DENOMINATOR = 1000  # common denominator of coefficients that are made whole numbers
LONGEST = 400  # terms of the polynomials of which determinants are made


def made(
    eom: ClosedForms,
    rows: ConstraintExpressions,
    normal: Normal,
    pieces: Sequence[tuple[int, str]],
) -> Sheet:
    """The sheet of lambda for the force f = tau + sum of sign * quantity for `pieces`.

    Raises
    ------
    DalembertError
        There are more than three rows, rows follow from others, or forces are not along rows.
    """
    check_along_rows(eom.name, rows, "multipliers")
    verifier: Any = eom.verifier
    verifier.rows.check_independent()
    acting = [k for k, row in enumerate(rows.jacobian) if _acts(normal, row)]
    check_rows(eom.name, len(acting))
    M = eom.entries("mass_matrix")
    force = np.array([symbol(name, eom.graph) for name in eom.forces], dtype=object)
    for sign, quantity in pieces:
        force = force + eom.entries(quantity) * sign
    left = tuple(x.name for x in rows.unknowns)
    try:
        A, b = _equations(normal, M, rows.jacobian[acting], rows.bias[acting], force)
        solution = cramer.solved(A, [b], normal, eom.determinant_name)[0]
    except (TooLarge, NotPolynomial) as error:
        found = np.zeros(len(left), dtype=object)
        found[acting] = _eliminated(M, rows.jacobian[acting], rows.bias[acting], force)
        return eom.factored("multipliers", found, str(error).rstrip("."))
    tau = {name: Name(entry(r"\tau", k + 1)) for k, name in enumerate(eom.forces)}
    forms = np.full(len(left), ZERO, dtype=object)
    short = forms.copy()
    forms[acting] = object_array(solution.forms, (len(acting),))
    short[acting] = cramer.renamed(solution.short, tau)
    return eom.solved("multipliers", forms, short, solution.parts, (), left)


def _acts(normal: Normal, row: np.ndarray) -> bool:
    """Whether a row of the Jacobian holds a velocity, which that of a plane loop out of its plane
    does not.
    """
    try:
        return any(form.terms for form in normal.forms(row))
    except TooLarge:
        return True


def check_along_rows(name: str, rows: ConstraintExpressions, what: str) -> None:
    """Raise a DalembertError where forces that keep constraints are not J^T lambda."""
    if not rows.are_along_rows:
        raise DalembertError(
            f"{what} of {name!r} have no closed form by the principles 'vakonomic' and 'servo', "
            "whose forces are not along the rows: the equations of motion hold them by name."
        )


def check_rows(name: str, count: int) -> None:
    """Raise a DalembertError where there are too many rows."""
    if count > cramer.MOST:
        raise DalembertError(
            f"multipliers in closed form are for one to {cramer.MOST} rows of constraints; "
            f"{name!r} has {count}. da.compile has their numbers; da.quasi_velocity_equations gives "
            "equations without them."
        )


def _equations(
    normal: Normal, M: np.ndarray, J: np.ndarray, k: np.ndarray, force: np.ndarray
) -> tuple[np.ndarray, list[Any]]:
    """J M^-1 J^T and k - J M^-1 f as polynomials, both times the determinants of M.

    Raises
    ------
    TooLarge, NotPolynomial
    """

    def polynomials(x: np.ndarray) -> np.ndarray:
        """Entries as polynomials, zeros as the number 0."""
        return object_array([normal.scalar(entry) for entry in x.flat], x.shape)

    M, J, k, force = (polynomials(x) for x in (M, J, k, force))
    blocks = cramer.blocks(M)
    if max(map(len, blocks)) > LARGEST:
        raise TooLarge(f"the mass matrix couples {max(map(len, blocks))} velocities.")
    if terms_in([*M.flat, *J.flat, *force]) > LONGEST:
        raise TooLarge("mass matrix, constraints and forces are long.")
    determinants = [cramer.minor(M, block, block) for block in blocks]
    along = np.zeros(J.shape, dtype=object)  # J M^-1 times the determinants
    for at, block in enumerate(blocks):
        others = prod((D for i, D in enumerate(determinants) if i != at), start=1)
        adjugate = [[cramer.cofactor(M, block, i, j) * others for j in block] for i in block]
        along[:, block] = J[:, block] @ np.array(adjugate, dtype=object)
    whole = prod(determinants, start=1)
    scale = [1 / _content(row) for row in along]
    A = (along @ J.T) * np.array(scale, dtype=object)[:, None]
    b = [(whole * x - row @ force) * s for x, row, s in zip(k, along, scale, strict=True)]
    return A, b


def _content(row: np.ndarray) -> Fraction:
    """The greatest number that all coefficients in a row are multiples of; the largest of them, if
    they are long decimals.
    """
    polynomials = [x.terms.values() if isinstance(x, Poly) else [x] for x in row]
    numbers = [Fraction(x) for coefficients in polynomials for x in coefficients if x]
    if not numbers:
        return Fraction(1)
    below = lcm(*(x.denominator for x in numbers))
    if below > DENOMINATOR:
        return max(map(abs, numbers))
    return Fraction(gcd(*(x.numerator * (below // x.denominator) for x in numbers)), below)


def _eliminated(M: np.ndarray, J: np.ndarray, k: np.ndarray, force: np.ndarray) -> np.ndarray:
    """lambda by elimination."""
    right = np.concatenate([J.T, force[:, None]], axis=1)
    columns = linear_algebra.solve(M.tolist(), right)
    free = J @ columns[:, -1]
    return np.asarray(linear_algebra.solve((J @ columns[:, :-1]).tolist(), k - free))
