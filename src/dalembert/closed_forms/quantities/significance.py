"""Abbreviation by significance: leave out terms that hardly matter, and say by how much at most
that changes an entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.closed_forms.algebra.sums import Builder, Call, Cosine, Name, Sum, Term
from dalembert.errors import DalembertError
from dalembert.model.numbers import as_float

SEED = 1743


@dataclass(frozen=True)
class Abbreviation:
    """Mass matrix and gravity vector with terms left out.

    mass_matrix, gravity_vector : arrays of expressions
    mass_matrix_error, gravity_vector_error : arrays
        Bounds of what was left out, for all coordinates (prismatic ones within their limits) [as
        the entries].
    terms, terms_before : int
    """

    mass_matrix: np.ndarray
    gravity_vector: np.ndarray
    mass_matrix_error: np.ndarray
    gravity_vector_error: np.ndarray
    terms: int
    terms_before: int
    forms: Mapping[str, np.ndarray]


def abbreviate(eom: Any, significance: float, states: int) -> Abbreviation:
    """Leave out the smallest terms of each entry while their bounds together stay below a share of
    its scale.

    The scale of M_ij is sqrt(max M_ii max M_jj), that of g_i its largest value, both at random
    states; the bound of a term is the product of its numbers with |sin|, |cos| <= 1, so that it
    holds everywhere.

    Raises
    ------
    DalembertError
        The equations are printed in factored form, a symbol has no number, or a prismatic joint no
        limits.
    """
    if eom.why_factored:
        raise DalembertError(
            f"abbreviation needs equations in full, but {eom.why_factored}; raise budget=."
        )
    q = np.array([eom.mechanism.random_state(seed)[0] for seed in range(SEED, SEED + states)])
    bounds = _bounds(eom)
    dynamics = eom.verifier.dynamics
    builder = Builder(eom.graph)
    largest = np.abs(np.einsum("nkk->nk", dynamics.mass_matrix(q))).max(axis=0)
    scales = {
        "mass_matrix": np.sqrt(np.outer(largest, largest)),
        "gravity_vector": np.abs(dynamics.gravity_vector(q)).max(axis=0),
    }
    found: dict[str, Any] = {}
    forms: dict[str, Any] = {}
    terms = before = 0
    for name, scale in scales.items():
        entries = eom.sheet(name).forms
        forms[name] = np.empty_like(entries)
        errors = np.zeros(entries.shape)
        for at, entry in np.ndenumerate(entries):
            forms[name][at], errors[at], count = _shortened(entry, significance * scale[at], bounds)
            if at[0] <= at[-1]:
                terms = terms + len(forms[name][at].terms)
                before = before + count
        found |= {name: builder.array(forms[name]), f"{name}_error": errors}
    return Abbreviation(**found, terms=terms, terms_before=before, forms=forms)


def _bounds(eom: Any) -> dict[str, float]:
    """Largest absolute value of each name."""
    if eom._context.own:
        raise DalembertError(
            f"abbreviation needs a number for every symbol; {', '.join(eom._context.own)} have "
            "none."
        )
    bounds = {name: abs(value) for name, value in eom._context.numbers.items()}
    for joint in eom.mechanism.independent_joints:
        lower = joint.limits.lower
        upper = joint.limits.upper
        if lower is not None and upper is not None:
            names = eom.coordinates[eom.mechanism.entries[joint.name].at_q]
            bounds |= {
                name: max(abs(as_float(x)) for x in pair)
                for name, *pair in zip(names, lower, upper, strict=False)
            }
    return bounds


def _shortened(form: Sum, allowed: float, bounds: Mapping[str, float]) -> tuple[Sum, float, int]:
    """The form with its smallest terms left out, the bound of these, and the number of terms
    before.
    """
    terms = expanded(form)
    sizes = np.array([_size(t, bounds) for t in terms])
    order = np.argsort(sizes, kind="stable")
    errors = np.array([0.0, *np.cumsum(sizes[order])])  # with 0, 1, 2, ... terms left out
    count = int(np.flatnonzero(errors <= allowed)[-1])
    return Sum(tuple(terms[k] for k in sorted(order[count:]))), float(errors[count]), len(terms)


def expanded(form: Sum) -> list[Term]:
    """Terms with parentheses multiplied out."""
    found = []
    for term in form.terms:
        products = [Term(term.number, ())]
        for factor, power in term.factors:
            if isinstance(factor, Sum) and power == 1:
                inner = expanded(factor)
                products = [
                    Term(a.number * b.number, a.factors + b.factors)
                    for a in products
                    for b in inner
                ]
            else:
                products = [Term(a.number, (*a.factors, (factor, power))) for a in products]
        found += products
    return found


def _size(term: Term, bounds: Mapping[str, float]) -> float:
    """Bound of a term's absolute value."""
    size = abs(float(term.number))
    for factor, power in term.factors:
        if isinstance(factor, Name):
            if factor.name not in bounds:
                raise DalembertError(
                    f"abbreviation needs a bound for {factor.name}: give the joint limits; deflections "
                    "of elastic links have none, at(...) sets them to numbers."
                )
            size *= bounds[factor.name] ** power
        elif isinstance(factor, Sum):
            size *= sum(_size(t, bounds) for t in factor.terms) ** power
        elif isinstance(factor, Call):
            size *= float(factor.args[0].terms[0].number) ** (0.5 * power)  # roots of numbers
        else:
            assert isinstance(factor, Cosine)
    return size
