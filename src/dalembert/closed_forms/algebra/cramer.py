"""Linear equations of one to three unknowns in symbols: accelerations by Cramer's rule, the
determinant named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dalembert.closed_forms.algebra.polynomials import Normal
from dalembert.closed_forms.algebra.ring import Poly, plain, terms_in
from dalembert.closed_forms.algebra.sums import (
    Name,
    Sum,
    Term,
    content,
    object_array,
    opposite,
    single,
)
from dalembert.errors import DalembertError

MOST = 3  # unknowns
LONGEST = 60  # terms of all numerators that are multiplied out

Powers = dict[Any, int]


class CramerSolution(NamedTuple):
    """x of M x = F: forms in full, and the same with named determinants."""

    forms: list[Sum]
    short: list[Sum]
    parts: dict[str, Sum]


def blocks(M: np.ndarray) -> list[list[int]]:
    """Unknowns that depend on each other, set by set; zeros of M are the number 0."""
    found: list[set[int]] = []
    for i in range(len(M)):
        own = {i}
        for j in range(len(M)):
            if _is_there(M[i][j]) or _is_there(M[j][i]):
                own.add(j)
        touching = [s for s in found if s & own]
        found = [s for s in found if s not in touching] + [own.union(*touching)]
    return sorted(map(sorted, found))


def _is_there(x: Any) -> bool:
    return isinstance(x, Poly) or x != 0


def minor(M: np.ndarray, rows: Sequence[int], columns: Sequence[int]) -> Any:
    """Determinant of some rows and columns of a matrix of polynomials and numbers."""
    if not rows:
        return 1
    total: Any = 0
    for k, column in enumerate(columns):
        others = [*columns[:k], *columns[k + 1 :]]
        cofactor = minor(M, rows[1:], others) * (-1) ** k
        total = total + M[rows[0]][column] * cofactor
    return total


def cofactor(M: np.ndarray, block: Sequence[int], i: int, j: int) -> Any:
    """Entry i, j of the adjugate of a block: the inverse times the determinant."""
    rows = [k for k in block if k != j]
    columns = [k for k in block if k != i]
    sign = (-1) ** (block.index(i) + block.index(j))
    return minor(M, rows, columns) * sign


def check_freedoms(count: int, instead: str) -> None:
    """Raise DalembertError where there are too many unknowns."""
    if count > MOST:
        raise DalembertError(
            f"{instead[:1].upper()}{instead[1:]} in closed form are for one to {MOST} freedoms; "
            f"here are {count}. Mass matrix and forces are printed for any number; da.compile "
            "gives numbers."
        )


def solved(
    M: np.ndarray, columns: Sequence[Sequence[Any]], normal: Normal, name: Callable[[int], str]
) -> list[CramerSolution]:
    """M x = F for each column F of polynomials of one ring, each x a reduced fraction; name: of the
    k-th determinant.

    What has one determinant is in one basis.
    """
    n = len(M)
    forms, short = ([[Sum(())] * n for _ in columns] for _ in range(2))
    parts: dict[str, Sum] = {}
    for block in blocks(M):
        places = [(k, i) for k in range(len(columns)) for i in block]
        numerators = [
            normal.ring.total(cofactor(M, block, i, j) * columns[k][j] for j in block)
            for k, i in places
        ]
        below, *above = normal.forms_in_one_basis([minor(M, block, block), *numerators])
        number, factors, rest = _positive(below)
        named: Any = rest
        if len(rest.terms) > 1:
            label = name(len(parts))
            parts[label], named = rest, Name(label)
        for (k, i), form in zip(places, above, strict=True):
            if form.terms:
                forms[k][i] = quotient(form, number, factors, rest, rest)
                short[k][i] = quotient(form, number, factors, rest, named)
    return [CramerSolution(*pair, parts) for pair in zip(forms, short, strict=True)]


def _positive(determinant: Sum) -> tuple[Any, Powers, Sum]:
    """A determinant of M apart; it is positive, and so is the sum in it that gets a name."""
    number, factors, rest = apart(determinant)
    if number < 0 and len(rest) > 1:
        number = -number
        rest = tuple(sorted(opposite(Sum(rest)).terms, key=lambda t: t.number < 0))
    return number, factors, Sum(rest)


def apart(form: Sum) -> tuple[Any, Powers, tuple[Term, ...]]:
    """(number, factors, terms): a form as a product of these; terms of one alone is the number 1."""
    if len(form.terms) == 1:
        ((number, factors),) = form.terms
        sums = [f for f, e in factors if isinstance(f, Sum) and e == 1]
        inner = sums[-1] if sums else Sum((Term(1, ()),))
        return number, {f: e for f, e in factors if f is not inner}, inner.terms
    number, common, rest = content(form.terms)
    return number, dict(common), rest


def quotient(form: Sum, number: Any, factors: Mapping[Any, int], rest: Sum, named: Any) -> Sum:
    """form / (number factors rest) with factors in common cancelled; `named` is written in place of
    the rest.
    """
    own, powers, terms = apart(form)
    inner = Sum(terms)
    ratio = Fraction(own) / Fraction(number)
    for f, e in factors.items():
        powers[f] = powers.get(f, 0) - e
    if inner == rest:
        pass
    elif inner == opposite(rest):
        ratio = -ratio
    else:
        if len(inner.terms) > 1:
            powers[inner] = 1
        else:
            ratio = ratio * Fraction(inner.terms[0].number)
            powers = powers | dict(inner.terms[0].factors)
        if len(rest.terms) > 1:
            powers[named] = -1
    return Sum((Term(plain(ratio), tuple((f, e) for f, e in powers.items() if e)),))


def is_long(M: np.ndarray, F: Sequence[Any]) -> bool:
    """Whether numerators would be too long to multiply out, as far as numbers of terms say that
    before it is done.
    """
    n = len(F)
    return n > 1 and terms_in(M.flat) * terms_in(F) * (n - 1) > LONGEST * n


def by_names(
    M: np.ndarray, F: Sequence[Sum], label: Callable[[int, int], str], name: Callable[[int], str]
) -> CramerSolution:
    """M x = F in terms of names of the entries of M, zero entries as the number 0; F are forms."""
    normal = Normal({})
    entries = np.zeros(M.shape, dtype=object)
    for i, j in np.ndindex(M.shape):
        if _is_there(M[i][j]):
            entries[i, j] = normal.ring.variable(label(*sorted((i, j))))
    solution: list[Sum] = [Sum(())] * len(F)
    parts: dict[str, Sum] = {}
    for block in blocks(entries):
        (below,) = normal.forms([minor(entries, block, block)])
        named: Any = below.terms[0].factors[0][0]
        if len(block) > 1:
            determinant = name(len(parts))
            parts[determinant], named = below, Name(determinant)
        for i in block:
            shares = normal.forms([cofactor(entries, block, i, j) for j in block])
            terms = [
                _product(share, F[j])
                for j, share in zip(block, shares, strict=True)
                if share.terms and F[j].terms
            ]
            if terms:
                above = terms[0] if len(terms) == 1 else single(Sum(tuple(terms)))
                solution[i] = Sum((Term(above.number, (*above.factors, (named, -1))),))
    return CramerSolution(solution, solution, parts)


def _product(*forms: Sum) -> Term:
    """Forms multiplied, each of several terms in parentheses."""
    number: Any = 1
    powers: Powers = {}
    for form in forms:
        own, factors, rest = apart(form)
        number = number * own
        inner = rest[0].factors if len(rest) == 1 else ((Sum(rest), 1),)
        number = number * (rest[0].number if len(rest) == 1 else 1)
        for f, e in (*factors.items(), *inner):
            powers[f] = powers.get(f, 0) + e
    return Term(number, tuple(powers.items()))


def renamed(forms: Iterable[Sum], names: Mapping[str, Any]) -> np.ndarray:
    """Forms with names replaced by factors: by other names, or by sums."""
    changed = [_renamed(form, names) for form in forms]
    return object_array(changed, (len(changed),))


def _renamed(form: Sum, names: Mapping[str, Any]) -> Sum:
    terms = []
    for number, factors in form.terms:
        changed = [
            (
                names.get(f.name, f)
                if isinstance(f, Name)
                else _renamed(f, names)
                if isinstance(f, Sum)
                else f,
                e,
            )
            for f, e in factors
        ]
        terms.append(Term(number, tuple(changed)))
    return Sum(tuple(terms))
