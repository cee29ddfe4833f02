"""Abbreviation by significance: leave out terms that hardly matter, and say by how much at most that changes an entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.equations.forms import Builder, Call, Cosine, Name, Sum, Term
from dalembert.equations.sheets import object_array
from dalembert.errors import DalembertError
from dalembert.expr.node import constant
from dalembert.model.numbers import as_float

SEED = 1743


@dataclass(frozen=True)
class Abbreviation:
    """Mass matrix and gravity vector with terms left out.

    mass_matrix, gravity_vector : arrays of expressions
    mass_matrix_error, gravity_vector_error : arrays
        Bounds of what was left out, for all coordinates (prismatic ones within their limits) [as the entries].
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
    """Leave out the smallest terms of each entry while their bounds together stay below a share of its scale.

    The scale of M_ij is sqrt(max M_ii max M_jj), that of g_i its largest value, both at random states; the bound of a
    term is the product of its numbers with |sin|, |cos| <= 1, so that it holds everywhere.

    Raises
    ------
    DalembertError
        The equations are printed in factored form, a symbol has no number, or a prismatic joint no limits.
    """
    if eom.why_factored:
        raise DalembertError(f"abbreviation needs equations in full, but {eom.why_factored}; raise budget=.")
    q = np.array([eom.mechanism.random_state(seed)[0] for seed in range(SEED, SEED + states)])
    bounds = _bounds(eom)
    M, g = eom.sheet("mass_matrix").forms, eom.sheet("gravity_vector").forms
    dynamics = eom._desk.verifier.dynamics
    largest = np.abs(np.einsum("nkk->nk", dynamics.mass_matrix(q))).max(axis=0)
    scales = {"mass_matrix": np.sqrt(np.outer(largest, largest)),
              "gravity_vector": np.abs(dynamics.gravity_vector(q)).max(axis=0)}
    builder = Builder(eom.graph)
    found: dict[str, Any] = {}
    counts = [0, 0]
    forms: dict[str, np.ndarray] = {}
    for name, entries in (("mass_matrix", M), ("gravity_vector", g)):
        kept, errors = [], []
        for at in np.ndindex(entries.shape):
            form, error, before = _shortened(entries[at], significance * scales[name][at], bounds)
            kept.append(form)
            errors.append(error)
            if len(at) == 1 or at[0] <= at[1]:
                counts[0] += len(form.terms)
                counts[1] += before
        forms[name] = object_array(kept, entries.shape)
        found[name] = object_array([constant(builder.expression(f), eom.graph) for f in kept], entries.shape)
        found[f"{name}_error"] = np.array(errors).reshape(entries.shape)
    return Abbreviation(**found, terms=counts[0], terms_before=counts[1], forms=forms)


def _bounds(eom: Any) -> dict[str, float]:
    """Largest absolute value of each name."""
    bounds = {name: abs(value) for name, value in eom.values.items()}
    if eom._problem.own:
        raise DalembertError(f"abbreviation needs a number for every symbol; {', '.join(eom._problem.own)} have none.")
    bounds |= {name: abs(x) for name, x in eom._problem.numbers().items()}
    for joint in eom.mechanism.independent_joints:
        entry = eom.mechanism.entries[joint.name]
        for k, name in enumerate(range(entry.at_q.start, entry.at_q.stop)):
            lower, upper = joint.limits.lower, joint.limits.upper
            if lower is not None and upper is not None and k < len(lower):
                bounds[eom.coordinates[name]] = max(abs(as_float(lower[k])), abs(as_float(upper[k])))
    return bounds


def _shortened(form: Sum, allowed: float, bounds: Mapping[str, float]) -> tuple[Sum, float, int]:
    """The form with its smallest terms left out, the bound of these, and the number of terms before."""
    terms = expanded(form)
    sizes = [_size(t, bounds) for t in terms]
    error, dropped = 0.0, set()
    for k in sorted(range(len(terms)), key=lambda k: (sizes[k], k)):
        if error + sizes[k] > allowed:
            break
        error += sizes[k]
        dropped.add(k)
    return Sum(tuple(t for k, t in enumerate(terms) if k not in dropped)), error, len(terms)


def expanded(form: Sum) -> list[Term]:
    """Terms with parentheses multiplied out."""
    found = []
    for term in form.terms:
        products = [Term(term.number, ())]
        for factor, power in term.factors:
            if isinstance(factor, Sum) and power == 1:
                inner = expanded(factor)
                products = [Term(a.number * b.number, a.factors + b.factors) for a in products for b in inner]
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
                raise DalembertError(f"abbreviation needs a bound for {factor.name}: give the joint limits.")
            size *= bounds[factor.name] ** power
        elif isinstance(factor, Sum):
            size *= sum(_size(t, bounds) for t in factor.terms) ** power
        elif isinstance(factor, Call):
            size *= float(factor.args[0].terms[0].number) ** (0.5 * power)      # roots of numbers
        else:
            assert isinstance(factor, Cosine)
    return size
