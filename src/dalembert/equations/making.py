"""The sheets of all quantities: in full from polynomials, or in factored form from traced expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dalembert.equations import derivation as deriving
from dalembert.equations.desk import VerifiedDesk
from dalembert.equations.factored import factored
from dalembert.equations.forms import ZERO, Name, Sum, Term, Writer
from dalembert.equations.problem import Problem
from dalembert.equations.ring import PARAMETER, NotPolynomial, Poly, TooLarge
from dalembert.equations.sheets import Line, Sheet, object_array, with_names
from dalembert.expr import Expr, derivative, symbol
from dalembert.model.joints import Free, Spherical

SHORT = 60      # terms up to which velocities are multiplied out in energies and Coriolis terms

QUANTITIES = {"mass_matrix": "Mass matrix", "christoffel": "Christoffel symbols", "coriolis_matrix": "Coriolis matrix",
              "coriolis_vector": "Coriolis vector", "gravity_vector": "Gravity vector", "kinetic_energy": "Kinetic energy",
              "potential_energy": "Potential energy of gravity and springs", "regressor": "Regressor"}


def mass_matrix(p: Problem, desk: VerifiedDesk) -> Sheet:
    """M(q), upper triangle."""
    n = p.tree.nv
    if p.why_factored:
        return factored_sheet(p, desk, "mass_matrix", "M", p.traced_mass_matrix(), (n, n), symmetric=True)
    assert p.derived is not None
    forms = [[ZERO] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            forms[i][j] = forms[j][i] = p.writer.form(p.derived.M[i][j])
    return printed(p, desk, "mass_matrix", "M", object_array([f for row in forms for f in row], (n, n)), symmetric=True)


def gravity_vector(p: Problem, desk: VerifiedDesk) -> Sheet:
    """g(q) = dU/dq."""
    if p.why_factored:
        return factored_sheet(p, desk, "gravity_vector", "g", p.traced_gravity(), (p.tree.nv,))
    assert p.derived is not None
    return printed(p, desk, "gravity_vector", "g", object_array([p.writer.form(x) for x in p.derived.g], (p.tree.nv,)))


def christoffel(p: Problem, desk: VerifiedDesk) -> Sheet:
    """c_ijk, k by k."""
    n = p.tree.nv
    if p.christoffel_terms(desk.progress) is None:
        return _factored_christoffel(p, desk)
    assert p.derived is not None and p.derived.twice is not None
    known: dict[int, Sum] = {}
    forms = np.full((n, n, n), ZERO, dtype=object)
    for (i, j, k), twice in p.derived.twice.items():
        if id(twice) not in known:
            known[id(twice)] = p.writer.form(twice / 2 if isinstance(twice, Poly) else half(twice))
        forms[i, j, k] = known[id(twice)]
    return printed(p, desk, "christoffel", "c", forms)


def coriolis_matrix(p: Problem, desk: VerifiedDesk) -> Sheet:
    """C_kj = sum_i c_ijk v_i."""
    n, d = p.tree.nv, p.derived
    terms = p.christoffel_terms(desk.progress)
    if terms is None or d is None:
        return factored_sheet(p, desk, "coriolis_matrix", "C", p.traced("coriolis_matrix"), (n, n))
    if terms <= SHORT:
        forms = [p.writer.form(x) for row in deriving.coriolis_matrix(d) for x in row]
        return printed(p, desk, "coriolis_matrix", "C", object_array(forms, (n, n)))
    c = desk.sheet("christoffel").forms
    forms = [_combined((c[i, j, k], 1, (p.names[1][i],)) for i in range(n)) for k in range(n) for j in range(n)]
    short = [_combined((_christoffel(i, j, k, c), 1, (p.names[1][i],)) for i in range(n))
             for k in range(n) for j in range(n)]
    lines = lines_of("C", object_array(short, (n, n)))
    return Sheet("coriolis_matrix", QUANTITIES["coriolis_matrix"], object_array(forms, (n, n)), lines,
                 remark="c_ijk: the Christoffel symbols")


def coriolis_vector(p: Problem, desk: VerifiedDesk) -> Sheet:
    """h = C qd."""
    n, d = p.tree.nv, p.derived
    terms = p.christoffel_terms(desk.progress)
    if terms is None or d is None:
        return factored_sheet(p, desk, "coriolis_vector", "h", p.traced("coriolis_vector"), (n,))
    v = p.names[1]
    if terms <= SHORT:
        C = deriving.coriolis_matrix(d)
        rates = [d.ring.variable(("qd", j)) for j in range(n)]
        forms = [p.writer.form(d.ring.total(C[k][j] * rates[j] for j in range(n))) for k in range(n)]
        return printed(p, desk, "coriolis_vector", "h", object_array(forms, (n,)))
    c = desk.sheet("christoffel").forms
    symmetric = not any(isinstance(j.type, (Spherical, Free)) for j in p.tree.joint[1:])

    pairs = [(i, j, 1 if i == j or not symmetric else 2) for i in range(n) for j in range(i if symmetric else 0, n)]
    forms = [_combined((c[i, j, k], count, (v[i], v[j])) for i, j, count in pairs) for k in range(n)]
    short = [_combined((_christoffel(i, j, k, c), count, (v[i], v[j])) for i, j, count in pairs) for k in range(n)]
    return Sheet("coriolis_vector", QUANTITIES["coriolis_vector"], object_array(forms, (n,)),
                 lines_of("h", object_array(short, (n,))), remark="c_ijk: the Christoffel symbols")


def kinetic_energy(p: Problem, desk: VerifiedDesk) -> Sheet:
    """T = 1/2 qd^T M qd."""
    n, d, v = p.tree.nv, p.derived, p.names[1]
    M = desk.sheet("mass_matrix")
    if d is not None and not p.why_factored and M.terms <= SHORT:
        return printed(p, desk, "kinetic_energy", "T", object_array([p.writer.form(deriving.kinetic_energy(d))], ()))

    def energy(entry: Callable[[int, int], Sum]) -> Sum:
        return _combined([(entry(i, j), half(1) if i == j else 1, (v[i], v[j])) for i in range(n) for j in range(i, n)])

    form = energy(lambda i, j: M.forms[i, j])
    short = energy(lambda i, j: _symbol(f"M:{i + 1}:{j + 1}", M.forms[i, j]))
    return Sheet("kinetic_energy", QUANTITIES["kinetic_energy"], object_array([form], ()),
                 (Line("T", (), short),), M.parts if M.factored else (), "M_ij: entries of the mass matrix")


def potential_energy(p: Problem, desk: VerifiedDesk) -> Sheet:
    """Gravity and springs; with base parameters up to a constant."""
    d = p.derived
    if p.why_factored or d is None:
        return factored_sheet(p, desk, "potential_energy", r"\Pi", [p.traced("potential_energy", alone=True)[0]], ())
    form = p.writer.form(d.U)
    return printed(p, desk, "potential_energy", r"\Pi", object_array([Sum(form.terms + _springs(p).terms)], ()))


def _springs(p: Problem) -> Sum:
    """1/2 k (q - rest)^2 of each spring."""
    terms: list[Term] = []
    for joint in p.tree.joint[1:]:
        if joint.type.nq != joint.type.nv:
            continue                                     # no springs there (validated)
        for k, stiffness, rest in zip(joint.dof, joint.stiffness, joint.rest, strict=True):
            q = p.names[0][joint.at_q.start + k - joint.dof.start]
            x = Sum((Term(joint.factor, ((Name(q), 1),)), *_expression_terms(joint.offset - rest)))
            terms += [Term(t.number * half(1), (*t.factors, (x, 2))) for t in _expression_terms(stiffness)]
    return Sum(tuple(terms))


def regressor(p: Problem, desk: VerifiedDesk) -> Sheet:
    """Y with tau = Y theta: coefficients of the base parameters."""
    n, d = p.tree.nv, p.derived
    if not p.grouped:
        raise NotPolynomial(f"no base parameters were found ({p.why_factored}): da.regressor has a column for each "
                            "inertial parameter of each body.")
    if p.why_factored or d is None or p.christoffel_terms(desk.progress) is None:
        Y = p.traced_regressor()
        return factored_sheet(p, desk, "regressor", "Y", [*Y.flat], Y.shape)
    ring = d.ring
    assemble: list[list[Any]] = [[] for _ in range(n)]
    qd, qdd = ([ring.variable((kind, i)) for i in range(n)] for kind in ("qd", "qdd"))
    for k in range(n):
        assemble[k] = [d.M[k][j] * qdd[j] for j in range(n)] + [d.g[k]]
    for (i, j, k), twice in (d.twice or {}).items():
        assemble[k].append(twice * qd[i] * qd[j] * half(1))
    forms = []
    numbers = [ring.parameters.index(x.name) for x in p.parameters]
    writer = Writer(ring, p.by_kind)
    for k in range(n):
        total = ring.total(assemble[k])
        columns: dict[int, dict[int, Any]] = {x: {} for x in numbers}
        for m, c in (total.terms if isinstance(total, Poly) else {}).items():
            if m & PARAMETER:
                columns[m & PARAMETER][m & ~PARAMETER] = c
        forms += [writer.form(Poly(ring, columns[x])) if columns[x] else ZERO for x in numbers]
    return printed(p, desk, "regressor", "Y", object_array(forms, (n, len(numbers))))


def printed(p: Any, desk: VerifiedDesk, quantity: str, base: str, forms: np.ndarray, symmetric: bool = False) -> Sheet:
    """A sheet of forms in full, with names for repeated sums of parameters; base: the letter of its entries."""
    lines, parts = with_names(lines_of(base, forms, symmetric), desk.group_names, p.group_prefix, p.varying)
    return Sheet(quantity, desk.titles[quantity], forms, lines, parts)


# --- factored forms ---------------------------------------------------------------------------------------------------


def factored_sheet(p: Any, desk: VerifiedDesk, quantity: str, base: str, outputs: Sequence[Any], shape: tuple[int, ...],
                   symmetric: bool = False) -> Sheet:
    """A sheet of expressions in factored form, with named parts."""
    parts, wanted = factored(outputs, p.part_prefix, p.names[0], 1 + desk.parts_made)
    desk.parts_made += len(parts)
    forms = object_array(wanted, shape)
    return Sheet(quantity, desk.titles[quantity], forms, lines_of(base, forms, symmetric), tuple(parts.items()),
                 f"in factored form, with named parts: {p.why_factored or p.why_no_christoffel}", True)


def _factored_christoffel(p: Problem, desk: VerifiedDesk) -> Sheet:
    n = p.tree.nv
    M = desk.entries("mass_matrix")
    q = [symbol(name, p.graph) for name in p.names[0]]
    if p.mechanism.nq != n:
        raise TooLarge("Christoffel symbols of long equations with quasi-velocities have no closed form here; "
                       "coriolis_matrix gives the Coriolis matrix.")
    D = derivative(M, object_array(q, (n,)))
    c = [(D[k, j, i] + D[k, i, j] - D[i, j, k]) * half(1) for i in range(n) for j in range(n) for k in range(n)]
    return factored_sheet(p, desk, "christoffel", "c", c, (n, n, n))


def half(x: Any) -> Any:
    """Half of an exact number."""
    half = Fraction(x) / 2
    return half.numerator if half.denominator == 1 else half


def _combined(products: Iterable[tuple[Sum, Any, tuple[str, ...]]]) -> Sum:
    """Sum of number * form * names."""
    terms = []
    for form, number, names in products:
        powers: dict[Any, int] = {}
        for name in names:
            powers[Name(name)] = powers.get(Name(name), 0) + 1
        if len(form.terms) == 1:
            (own, factors), = form.terms
            terms.append(Term(own * number, (*factors, *powers.items())))
        elif form.terms:
            terms.append(Term(number, ((form, 1), *powers.items())))
    return Sum(tuple(terms))


def _symbol(name: str, form: Sum) -> Sum:
    """A name that stands for a form; zero where that is zero."""
    return Sum((Term(1, ((Name(name), 1),)),)) if form.terms else ZERO


def _christoffel(i: int, j: int, k: int, c: np.ndarray) -> Sum:
    return _symbol(f"c:{i + 1}:{j + 1}:{k + 1}", c[i, j, k])


def _expression_terms(x: Any) -> tuple[Term, ...]:
    """A number or expression of symbols as terms."""
    if isinstance(x, Expr):
        return factored([x], "", ())[1][0].terms
    return (Term(x, ()),) if x else ()


def lines_of(base: str, forms: np.ndarray, symmetric: bool = False) -> tuple[Line, ...]:
    """One line per entry that is not zero; of a symmetric matrix the upper triangle, of c_ijk = c_jik the first."""
    lines = []
    for at in np.ndindex(forms.shape):
        form: Any = forms[at]
        if not form.terms or symmetric and at[0] > at[1]:
            continue
        if len(at) == 3 and at[0] > at[1] and forms[at[1], at[0], at[2]] == form:
            continue
        lines.append(Line(base, tuple(k + 1 for k in at), form))
    if forms.ndim == 3:
        lines.sort(key=lambda line: (line.numbers[2], line.numbers[0], line.numbers[1]))
    return tuple(lines)


MAKE: dict[str, Callable[[Problem, VerifiedDesk], Sheet]] = {
    "mass_matrix": mass_matrix, "christoffel": christoffel, "coriolis_matrix": coriolis_matrix,
    "coriolis_vector": coriolis_vector, "gravity_vector": gravity_vector, "kinetic_energy": kinetic_energy,
    "potential_energy": potential_energy, "regressor": regressor}
