"""What is printed of a quantity: its lines, and the named parts that they use."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from dalembert.equations.forms import Name, Sum, Term

REPEATED, LONG = 3, 3      # a sum in parentheses that occurs so often gets a name; one of so many terms, if it occurs twice

Line = tuple[tuple[int, ...], Sum]                   # an entry's place, and its form as it is printed


@dataclass(frozen=True)
class Sheet:
    """Entries of a quantity: an array of forms, its lines (of equal or zero entries one is enough), parts, remarks."""

    quantity: str
    title: str
    letter: str
    forms: np.ndarray
    lines: tuple[Line, ...]
    parts: tuple[tuple[str, Sum], ...] = ()
    remark: str = ""
    factored: bool = False
    uses: tuple[str, ...] = ()      # quantities whose entries stand in the lines

    @property
    def is_symmetric(self) -> bool:
        """Whether the lines are those of the upper triangle."""
        return self.quantity == "mass_matrix"

    @property
    def terms(self) -> int:
        """Number of terms of all lines, parentheses multiplied out; for factored forms of all lines and parts as printed."""
        if self.factored:
            return sum(len(form.terms) for _, form in self.parts) + sum(len(form.terms) for _, form in self.lines)
        return sum(len(form) for _, form in self.lines)


def lines_of(forms: np.ndarray, symmetric: bool) -> tuple[Line, ...]:
    """One line per entry that is not zero; of a symmetric matrix the upper triangle, of c_ijk = c_jik the first."""
    def again(at: tuple[int, ...], form: Sum) -> bool:
        return len(at) > 1 and at[0] > at[1] and (symmetric or len(at) == 3 and forms[at[1], at[0], at[2]] == form)

    lines = [(at, form) for at, form in np.ndenumerate(forms) if form.terms and not again(at, form)]
    return tuple(sorted(lines, key=lambda line: line[0][2:]))                     # c_ijk: k by k


def with_names(lines: tuple[Line, ...], known: dict[Sum, str], prefix: str,
               varying: Container[str]) -> tuple[tuple[Line, ...], tuple[tuple[str, Sum], ...]]:
    """Lines with repeated sums of parameters as names k1, k2, ..., and the definitions that they use.

    `known` holds the names given so far, so that one sum has one name on all sheets; `varying`: names that are no
    parameters.
    """
    counts = _inner_sums((form for _, form in lines), varying)
    for form, count in counts.items():
        if form not in known and (count >= REPEATED or count > 1 and len(form.terms) >= LONG):
            known[form] = f"{prefix}{len(known) + 1}"
    changed = tuple((at, _named(form, known, varying)) for at, form in lines)
    return changed, tuple((name, form) for form, name in known.items() if form in counts)


def _inner_sums(forms: Iterable[Sum], varying: Container[str]) -> dict[Sum, int]:
    """Sums of parameters in parentheses, without sines, cosines and varying names, and how often they occur."""
    counts: dict[Sum, int] = {}
    stack = list(forms)[::-1]
    while stack:
        for term in stack.pop().terms:
            for factor, _ in term.factors:
                if isinstance(factor, Sum):
                    inner = [f for t in factor.terms for f, _ in t.factors]
                    if all(isinstance(f, Name) and f.name not in varying for f in inner):
                        counts[factor] = counts.get(factor, 0) + 1
                    else:
                        stack.append(factor)
    return counts


def _named(form: Sum, names: Mapping[Sum, str], varying: Container[str]) -> Sum:
    """The form with some sums in parentheses replaced by names."""
    if not any(isinstance(f, Sum) for t in form.terms for f, _ in t.factors):
        return form
    return Sum(tuple(Term(t.number, tuple(sorted(
        ((Name(names[f]) if f in names else _named(f, names, varying) if isinstance(f, Sum) else f, e)
         for f, e in t.factors),
        key=lambda x: not isinstance(x[0], Name) or x[0].name in varying))) for t in form.terms))
