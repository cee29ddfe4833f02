"""The sheets of a mechanism's quantities: in full from polynomials, or in factored form from traced
expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, combinations_with_replacement
from math import inf
from typing import Any

import numpy as np

from dalembert.closed_forms.algebra.cramer import renamed
from dalembert.closed_forms.algebra.factored import DRAFT, factored
from dalembert.closed_forms.algebra.ring import PARAMETER, Poly, TooLarge, plain, terms_in, terms_of
from dalembert.closed_forms.algebra.sums import ZERO, Call, Name, Sum, Term, content, object_array
from dalembert.closed_forms.algebra.writing import Writer
from dalembert.closed_forms.derivation import polynomial_equations as deriving
from dalembert.closed_forms.derivation.derivation_context import Problem
from dalembert.closed_forms.printing.names import entry
from dalembert.closed_forms.printing.sheets import Sheet, by_first, named_entries
from dalembert.closed_forms.quantities import accelerations as accelerating
from dalembert.closed_forms.quantities import frames
from dalembert.closed_forms.quantities.verified_forms import ClosedForms
from dalembert.expr import derivative
from dalembert.spatial.inertias import HALF

PLAIN = 2500  # characters of a quantity up to which each entry is written for itself
CHRISTOFFEL = 3  # times as many characters as the budget may be printed of all Christoffel symbols
FEW = 4  # terms of an entry that is never written by another
SHORT = 60  # terms up to which velocities are multiplied out in energies and Coriolis terms
LONGEST = 240  # terms of a matrix of a frame that is written out
POLYNOMIAL = 4000  # terms of a polynomial on the way to it

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
BY_ENTRIES = (
    "kinetic_energy",
    "passive_force",
    "equations_of_motion",
    "accelerations",
)  # never long


def made(p: Problem, eom: ClosedForms, quantity: str) -> Sheet:
    """The sheet of a quantity: in full, or in factored form where that is too long or no
    polynomial.
    """
    if ":" in quantity:
        return _of_frame(p, eom, quantity)
    if quantity == "mass_matrix":
        why = p.why_factored = p.why_factored or p.why_long
    else:
        eom.sheet("mass_matrix")  # its length decides about all quantities
        why = why_no_christoffel(p, eom) if quantity in OF_CHRISTOFFEL else p.why_factored
    if not why or quantity in BY_ENTRIES:
        sheet = eom.drafts.get(quantity) or MAKE[quantity](p, eom)
        size = eom.length(sheet)
        if size <= p.budget or quantity in ("christoffel", "regressor", *BY_ENTRIES):
            return sheet
        terms = p.derived.size if quantity == "mass_matrix" else sheet.terms
        why = f"the {QUANTITIES[quantity].lower()} has {terms} terms, {size} characters in full"
        if quantity == "mass_matrix":
            p.why_factored = why
    return eom.factored(
        quantity,
        p.traced(quantity)
        if quantity != "christoffel"
        else (_christoffel_of(p, eom.entries("mass_matrix"))),
        why,
    )


def _of_frame(p: Problem, eom: ClosedForms, quantity: str) -> Sheet:
    """The sheet of a placement or Jacobian, in sums of angles along runs of parallel axes."""
    expressions = np.array(frames.numbers(p.twin, p.vectors[0], quantity), dtype=object)
    normal = p.new_normal(POLYNOMIAL)
    try:
        if terms_in(normal.scalar(x) for x in expressions.flat) <= LONGEST:
            forms = object_array(normal.forms(expressions.flat), expressions.shape)
            return eom.in_full(quantity, forms)
    except TooLarge:
        pass
    return eom.factored(quantity, expressions, "the entries are long")


def why_no_christoffel(p: Problem, eom: ClosedForms) -> str:
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


def _christoffel_of(p: Problem, M: np.ndarray) -> np.ndarray:
    if p.mechanism.nq != p.tree.nv:
        raise TooLarge(
            "Christoffel symbols of long equations with quasi-velocities have no closed form here; "
            "coriolis_matrix gives the Coriolis matrix."
        )
    D = np.asarray(derivative(M, p.vectors[0]))  # [j, k, i]
    return (D.transpose(2, 0, 1) + D.transpose(1, 2, 0) - D) * HALF


def mass_matrix(p: Problem, eom: ClosedForms) -> Sheet:
    """M(q), upper triangle."""
    entries: Entries = {
        at: p.derived.M[at[0]][at[1]] for at in combinations_with_replacement(range(p.tree.nv), 2)
    }
    forms = np.full((p.tree.nv,) * 2, ZERO, dtype=object)
    for at, value in entries.items():
        forms[at] = forms[at[::-1]] = p.writer.form(value)
    return _by_references(p, eom, "mass_matrix", forms, entries)


def gravity_vector(p: Problem, eom: ClosedForms) -> Sheet:
    """g(q) = dU/dq."""
    return eom.in_full("gravity_vector", _forms(p, p.derived.g, (p.tree.nv,)))


def christoffel(p: Problem, eom: ClosedForms) -> Sheet:
    """c_ijk, k by k; a symbol that equals another one, or its negative, refers to the first."""
    known: dict[int, Sum] = {}
    forms = np.full((p.tree.nv,) * 3, ZERO, dtype=object)
    for at, twice in p.derived.twice.items():
        if id(twice) not in known:
            known[id(twice)] = p.writer.form(twice * HALF)
        forms[at] = known[id(twice)]
    entries = {at: twice * HALF for at, twice in p.derived.twice.items() if at[0] <= at[1]}
    return _by_references(p, eom, "christoffel", forms, entries)


def coriolis_matrix(p: Problem, eom: ClosedForms) -> Sheet:
    """C_kj = sum_i c_ijk v_i."""
    n, v = p.tree.nv, p.names[1]
    if p.christoffel_terms() <= SHORT:
        return eom.in_full(
            "coriolis_matrix", _forms(p, chain(*deriving.coriolis_matrix(p.derived)), (n, n))
        )
    return _by_entries(
        eom,
        "coriolis_matrix",
        "christoffel",
        (n, n),
        lambda k, j: [((i, j, k), 1, (v[i],)) for i in range(n)],
    )


def coriolis_vector(p: Problem, eom: ClosedForms) -> Sheet:
    """h = C qd."""
    n, v, d = p.tree.nv, p.names[1], p.derived
    if p.christoffel_terms() <= SHORT:
        h = [
            d.ring.total(x * rate for x, rate in zip(row, d.rates, strict=True))
            for row in deriving.coriolis_matrix(d)
        ]
        return eom.in_full("coriolis_vector", _forms(p, h, (n,)))
    c = eom.sheet("christoffel").forms
    rates = {(i, j): (v[min(i, j)], v[max(i, j)]) for i in range(n) for j in range(n)}

    def products(k: int) -> Products:
        """With symbols that are equal in i and j once."""
        pairs = [(i, j) for i, j in rates if i <= j or c[i, j, k] != c[j, i, k]]
        return [
            ((i, j, k), 2 if i < j and c[i, j, k] == c[j, i, k] else 1, rates[i, j])
            for i, j in pairs
        ]

    return _by_entries(eom, "coriolis_vector", "christoffel", (n,), products)


def kinetic_energy(p: Problem, eom: ClosedForms) -> Sheet:
    """T = 1/2 qd^T M qd."""
    n, v = p.tree.nv, p.names[1]
    if not p.why_factored and _is_short(eom.sheet("mass_matrix")):
        return eom.in_full(
            "kinetic_energy",
            object_array([p.writer.by_rates(deriving.kinetic_energy(p.derived))], ()),
        )
    return _by_entries(
        eom,
        "kinetic_energy",
        "mass_matrix",
        (),
        lambda: [
            ((i, j), HALF if i == j else 1, (v[i], v[j])) for i in range(n) for j in range(i, n)
        ],
    )


def potential_energy(p: Problem, eom: ClosedForms) -> Sheet:
    """Gravity and springs; with base parameters up to a constant."""
    form = p.writer.form(p.derived.U)
    return eom.in_full("potential_energy", object_array([Sum(form.terms + _springs(p).terms)], ()))


def regressor(p: Problem, eom: ClosedForms) -> Sheet:
    """Y with tau = Y theta: coefficients of the base parameters."""
    n, d, ring, qd = p.tree.nv, p.derived, p.derived.ring, p.derived.rates
    qdd = [ring.variable(("qdd", i)) for i in range(n)]
    tau: list[list[Any]] = [[d.g[k], *(d.M[k][j] * qdd[j] for j in range(n))] for k in range(n)]
    for (i, j, k), twice in d.twice.items():
        tau[k].append(twice * qd[i] * qd[j] * HALF)
    numbers = {ring.parameters.index(x.name): column for column, x in enumerate(p.parameters)}
    writer = Writer(ring, p.by_kind)
    forms = np.full((n, len(numbers)), ZERO, dtype=object)
    for k in range(n):
        columns: dict[int, dict[int, Any]] = {}
        for m, c in terms_of(ring.total(tau[k])):
            columns.setdefault(m & PARAMETER, {})[m & ~PARAMETER] = c
        for x, column in columns.items():
            if x in numbers:
                forms[k, numbers[x]] = writer.form(Poly(ring, column))
    return eom.in_full("regressor", forms)


def passive_force(p: Problem, eom: ClosedForms) -> Sheet:
    """f = -k (q - rest) - d qd - f_c sign(qd)."""
    return eom.in_full("passive_force", object_array(_passive(p), (p.tree.nv,)))


def equations_of_motion(p: Problem, eom: ClosedForms) -> Sheet:
    """tau = M qdd + h + g - f, row by row; in terms of the entries of these where that is long."""
    n, passive, d = p.tree.nv, _passive(p), p.derived
    resisting = [tuple(Term(-t.number, t.factors) for t in form.terms) for form in passive]
    if (
        not p.why_factored
        and p.christoffel_terms() <= SHORT
        and _is_short(eom.sheet("mass_matrix"))
    ):
        qdd = [d.ring.variable(("qdd", k)) for k in range(n)]
        C = deriving.coriolis_matrix(d)
        rows = [
            d.ring.total(
                [
                    *(M * a for M, a in zip(d.M[k], qdd, strict=True)),
                    *(x * v for x, v in zip(C[k], d.rates, strict=True)),
                    d.g[k],
                ]
            )
            for k in range(n)
        ]
        return eom.in_full(
            "equations_of_motion",
            object_array(
                [
                    Sum(p.writer.by_rates(row).terms + more)
                    for row, more in zip(rows, resisting, strict=True)
                ],
                (n,),
            ),
        )
    sheets = [
        eom.sheet(quantity) for quantity in ("mass_matrix", "coriolis_vector", "gravity_vector")
    ]
    made = []
    for entries in (
        [s.forms for s in sheets],
        [named_entries(s.forms, eom.letters[s.quantity]) for s in sheets],
    ):
        M, h, g = entries
        made.append(
            object_array(
                [
                    Sum(
                        _combined([((k, j), 1, (a,)) for j, a in enumerate(p.names[2])], M).terms
                        + _combined([((k,), 1, ())], h).terms
                        + _combined([((k,), 1, ())], g).terms
                        + resisting[k]
                    )
                    for k in range(n)
                ],
                (n,),
            )
        )
    forms, short = made
    return eom.abridged("equations_of_motion", forms, short, [s.quantity for s in sheets])


def accelerations(p: Problem, eom: ClosedForms) -> Sheet:
    """qdd = M^-1 (tau - h - g + f)."""
    return accelerating.made(
        eom, p.normal, [(-1, "coriolis_vector"), (-1, "gravity_vector"), (1, "passive_force")]
    )


# --- pieces ----------------------------------------------------------------------------------------------------------


def _is_short(sheet: Sheet) -> bool:
    return sum(len(form) for form in set(sheet.forms.flat)) <= SHORT


def _by_references(
    p: Problem, eom: ClosedForms, quantity: str, forms: np.ndarray, entries: Entries
) -> Sheet:
    """A sheet in full; where it is long, entries are written by what they add to later ones: M12 =
    M22 + ....
    """
    sheet = eom.in_full(quantity, forms)
    if eom.length(sheet) <= PLAIN:
        return sheet
    letter = eom.letters[quantity]
    short = by_first(forms, letter)
    later: dict[str, Any] = {}
    for at in sorted(entries, key=lambda at: (at[2:], at), reverse=True):
        value = entries[at]
        if short[at] is not forms[at] or len(terms_of(value)) < FEW:
            continue
        rest, name = min(
            ((value - other, name) for name, other in later.items()),
            default=(value, ""),
            key=lambda x: terms_in([x[0]]),
        )
        if terms_in([rest]) <= len(terms_of(value)) / 2:
            short[at] = Sum((Term(1, ((Name(name), 1),)), *p.writer.form(rest).terms))
        later[entry(letter, *(k + 1 for k in at))] = value
    return eom.in_full(quantity, forms, short)


Entries = Mapping[tuple[int, ...], Any]  # place -> polynomial
Products = list[
    tuple[tuple[int, ...], Any, tuple[str, ...]]
]  # (an entry's place, number, velocities)


def _forms(p: Problem, values: Iterable[Any], shape: tuple[int, ...]) -> np.ndarray:
    return object_array([p.writer.form(x) for x in values], shape)


def _by_entries(
    eom: ClosedForms,
    quantity: str,
    other: str,
    shape: tuple[int, ...],
    products: Callable[..., Products],
) -> Sheet:
    """A sheet of sums of products of another quantity's entries with velocities, printed in terms
    of these entries.
    """
    sheet = eom.sheet(other)
    named = named_entries(sheet.forms, eom.letters[other])
    places = [products(*at) for at in np.ndindex(shape)]
    forms, short = (
        object_array([combine(x, entries) for x in places], shape)
        for combine, entries in ((_combined, sheet.forms), (_by_names, named))
    )
    return eom.abridged(quantity, forms, short, (other,))


def _combined(products: Products, entries: np.ndarray) -> Sum:
    """Sum of number * entry * velocities."""
    terms = []
    for at, number, names in products:
        form: Sum = entries[at]
        powers = {Name(name): names.count(name) for name in names}
        if len(form.terms) == 1:
            ((own, factors),) = form.terms
            terms.append(Term(plain(own * number), (*factors, *powers.items())))
        elif form.terms:
            terms.append(Term(number, ((form, 1), *powers.items())))
    return Sum(tuple(terms))


def _by_names(products: Products, named: np.ndarray) -> Sum:
    """Sum of number * name of an entry * velocities, each name once."""
    rates: dict[Any, list[Term]] = {}
    for at, number, names in products:
        for sign, ((name, _),) in named[at].terms:
            powers = {Name(x): names.count(x) for x in names}
            rates.setdefault(name, []).append(Term(plain(number * sign), tuple(powers.items())))
    terms = []
    for name, products_of_rates in rates.items():
        number, common, rest = (
            content(products_of_rates) if len(products_of_rates) > 1 else (1, (), products_of_rates)
        )
        if len(rest) > 1:
            terms.append(Term(number, ((name, 1), *common, (Sum(tuple(rest)), 1))))
        else:
            terms.append(Term(rest[0].number, ((name, 1), *rest[0].factors)))
    return Sum(tuple(terms))


def _passive(p: Problem) -> list[Sum]:
    """-k (q - rest) - d qd - f sign(qd) of each entry of qd."""
    q, v = p.names[:2]
    rows: list[list[Term]] = [[] for _ in v]
    for joint in p.tree.joint[1:]:
        springs = joint.type.nq == joint.type.nv
        for m, k in enumerate(joint.dof):
            rate = Sum((Term(joint.factor, ((Name(v[k]), 1),)),))
            resisting: list[tuple[Any, Any]] = [
                (joint.viscous[m], rate),
                (joint.coulomb[m], Call("sign", (rate,))),
            ]
            if springs:
                own = Term(joint.factor, ((Name(q[joint.at_q.start + m]), 1),))
                resisting.append(
                    (
                        joint.stiffness[m],
                        Sum((own, *_expression_terms(joint.offset - joint.rest[m]))),
                    )
                )
            rows[k] += [
                Term(plain(-t.number * joint.factor), (*t.factors, (x, 1)))
                for number, x in resisting
                for t in _expression_terms(number)
            ]
    return [Sum(tuple(_flat(t) for t in row)) for row in rows]


def _flat(term: Term) -> Term:
    """A product with a sum of one term multiplied out."""
    number, factors = term.number, list[tuple[Any, int]]()
    for factor, e in term.factors:
        inner = factor.terms if isinstance(factor, Sum) else ()
        if len(inner) == 1:
            number = plain(number * inner[0].number ** e)
            factors += [(f, e * power) for f, power in inner[0].factors]
        else:
            factors.append((factor, e))
    return Term(number, tuple(factors))


def _springs(p: Problem) -> Sum:
    """1/2 k (q - rest)^2 of each spring."""
    terms: list[Term] = []
    for joint in p.tree.joint[1:]:
        if joint.type.nq != joint.type.nv:
            continue  # no springs there (validated)
        for k, stiffness, rest in zip(joint.dof, joint.stiffness, joint.rest, strict=True):
            q = p.names[0][joint.at_q.start + k - joint.dof.start]
            x = Sum((Term(joint.factor, ((Name(q), 1),)), *_expression_terms(joint.offset - rest)))
            terms += [
                _flat(Term(plain(t.number * HALF), (*t.factors, (x, 2))))
                for t in _expression_terms(stiffness)
            ]
    return Sum(tuple(terms))


def _expression_terms(x: Any) -> tuple[Term, ...]:
    """A number or expression of symbols as terms."""
    parts, forms = factored([x], DRAFT, ())
    for name, part in reversed(parts.items()):  # written out again: they stand on no sheet
        forms = [*renamed(forms, {name: part})]
    return forms[0].terms


MAKE: dict[str, Callable[[Problem, ClosedForms], Sheet]] = {
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
