"""Terms of springs and friction in the equations of motion of a mechanism."""

from __future__ import annotations

from typing import Any

from dalembert.closed_forms.algebra.cramer import renamed
from dalembert.closed_forms.algebra.factored import DRAFT, factored
from dalembert.closed_forms.algebra.ring import plain
from dalembert.closed_forms.algebra.sums import Call, Name, Sum, Term, single
from dalembert.closed_forms.derivation.mechanism_context import MechanismContext
from dalembert.model.elastic.elasticity import BeamForces, Elasticity
from dalembert.spatial.inertias import HALF


def passive_forces(p: MechanismContext) -> list[Sum]:
    """-k (q - rest) - d qd - f sign(qd) of each entry of qd; of beams -K delta - D delta'."""
    q, v = p.names[:2]
    rows: list[list[Term]] = [[] for _ in v]
    for joint in p.tree.joint[1:]:
        if joint.is_section:
            continue
        for m, k in enumerate(joint.dof):
            rate = Sum((single(Name(v[k]), joint.factor),))
            resisting = [(joint.viscous[m], rate), (joint.coulomb[m], Call("sign", (rate,)))]
            if joint.type.nq == joint.type.nv:  # no other joint has springs (validated)
                stretch = _stretch(joint, q[joint.at_q.start + m], joint.rest[m])
                resisting.append((joint.stiffness[m], stretch))
            rows[k] += [
                Term(plain(-t.number * joint.factor), (*t.factors, (x, 1)))
                for number, x in resisting
                for t in _terms_of_expression(number)
            ]
    for spring in p.tree.transmissions:
        resisting = [
            (spring.stiffness, _difference(q, spring.at_q)),
            (spring.damping, _difference(v, spring.at_v)),
        ]
        for k, sign in zip(spring.at_v, (1, -1), strict=True):
            for number, x in resisting:
                rows[k] += _products(number, Term(sign, ((x, 1),)))
    for beam in p.tree.elastic:
        for k, terms in zip(beam.at_v, _of_beam(p, beam), strict=True):
            rows[k] += terms
    return [Sum(tuple(map(_multiplied_out, row))) for row in rows]


def spring_energy(p: MechanismContext) -> Sum:
    """1/2 k (q - rest)^2 of all springs."""
    terms: list[Term] = []
    for joint in p.tree.joint[1:]:
        if joint.is_section or joint.type.nq != joint.type.nv:
            continue
        names = p.names[0][joint.at_q.start :]
        for q, stiffness, rest in zip(names, joint.stiffness, joint.rest, strict=False):
            squared = (_stretch(joint, q, rest), 2)
            terms += map(_multiplied_out, _products(stiffness, Term(HALF, (squared,))))
    for spring in p.tree.transmissions:
        wound = _difference(p.names[0], spring.at_q)
        terms += _products(spring.stiffness, Term(HALF, ((wound, 2),)))
    for beam in p.tree.elastic:
        terms += _energy_of_beam(p, beam)
    return Sum(tuple(terms))


def _of_beam(p: MechanismContext, beam: BeamForces) -> list[list[Term]]:
    """Forces of a beam on its coordinates."""
    q, v = p.names[:2]
    if not isinstance(beam, Elasticity):
        forces = beam.forces(list(p.symbolic.vectors[0]), list(p.symbolic.vectors[1]))
        return [list(_terms_of_expression(x)) for x in forces]
    found = []
    for stiffness, damping in zip(beam.stiffness, beam.damping, strict=True):
        row: list[Term] = []
        for numbers, names in ((stiffness, q[beam.at_q]), (damping, v[beam.at_v.start :])):
            for number, name in zip(numbers, names, strict=False):
                row += _products(number, Term(-1, ((Name(name), 1),)))
        found.append(row)
    return found


def _energy_of_beam(p: MechanismContext, beam: BeamForces) -> list[Term]:
    """Strain energy of a beam."""
    if not isinstance(beam, Elasticity):
        return list(_terms_of_expression(beam.energy(list(p.symbolic.vectors[0]))))
    names = p.names[0][beam.at_q]
    terms = []
    for i, row in enumerate(beam.stiffness):
        for j, stiffness in enumerate(row[i:], i):
            a, b = Name(names[i]), Name(names[j])
            product = Term(HALF, ((a, 2),)) if i == j else Term(1, ((a, 1), (b, 1)))
            terms += _products(stiffness, product)
    return terms


def _difference(names: Any, ends: tuple[int, int]) -> Sum:
    """Entry of a motor less that of its joint."""
    joint, motor = ends
    return Sum((single(Name(names[motor]), 1), single(Name(names[joint]), -1)))


def _products(number: Any, of: Term) -> list[Term]:
    """A number or expression times a term."""
    return [
        Term(plain(t.number * of.number), (*t.factors, *of.factors))
        for t in _terms_of_expression(number)
    ]


def _stretch(joint: Any, q: str, rest: Any) -> Sum:
    """Coordinate of a joint from the rest of its spring; a follower's is a multiple of q."""
    return Sum((single(Name(q), joint.factor), *_terms_of_expression(joint.offset - rest)))


def _multiplied_out(term: Term) -> Term:
    """A product with its sums of one term multiplied out."""
    number = term.number
    factors = list[tuple[Any, int]]()
    for factor, e in term.factors:
        inner = factor.terms if isinstance(factor, Sum) else ()
        if len(inner) == 1:
            number = plain(number * inner[0].number ** e)
            factors += [(f, e * power) for f, power in inner[0].factors]
        else:
            factors.append((factor, e))
    return Term(number, tuple(factors))


def _terms_of_expression(x: Any) -> tuple[Term, ...]:
    """A number or expression of symbols as terms."""
    parts, forms = factored([x], DRAFT, ())
    for name, part in reversed(parts.items()):  # written out again: they stand on no sheet
        forms = [*renamed(forms, {name: part})]
    return forms[0].terms
