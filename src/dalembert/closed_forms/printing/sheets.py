"""Printed sheets of a quantity: its lines, and the named parts that they use."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dalembert.closed_forms.algebra.ring import plain
from dalembert.closed_forms.algebra.sums import ZERO, Name, Sum, Term, factors_in, opposite, single
from dalembert.closed_forms.printing.names import entry_at

REPEATED, LONG = (
    3,
    3,
)  # a sum in parentheses that occurs so often gets a name; one of so many terms, if it occurs twice

DIGITS = 4  # digits of a factor with which a named sum is used again

Line = tuple[tuple[int, ...], Sum]  # an entry's place, and its form as it is printed
Key = tuple[tuple[Any, Fraction], ...]


@dataclass(frozen=True)
class Sheet:
    """Entries of a quantity: an array of forms, its lines (of equal or zero entries one is enough),
    parts, remarks.
    """

    quantity: str
    title: str
    letter: str
    forms: np.ndarray
    lines: tuple[Line, ...]
    parts: tuple[tuple[str, Sum], ...] = ()
    remark: str = ""
    factored: bool = False
    uses: tuple[str, ...] = ()  # quantities whose entries stand in the lines
    left: tuple[str, ...] = ()  # names on the left sides, in place of the letter with an index

    @property
    def is_symmetric(self) -> bool:
        """Whether the lines are those of the upper triangle."""
        return self.quantity == "mass_matrix"

    @property
    def terms(self) -> int:
        """Number of terms of all lines, parentheses multiplied out; for factored forms of all lines
        and parts as printed.
        """
        if self.factored:
            return sum(len(form.terms) for _, form in self.parts) + sum(
                len(form.terms) for _, form in self.lines
            )
        return sum(len(form) for _, form in self.lines)


def lines_of(forms: np.ndarray, quantity: str, short: np.ndarray | None = None) -> tuple[Line, ...]:
    """A line per entry that is not zero; of the mass matrix the upper triangle, of Christoffel
    symbols c_ijk = c_jik the first, of Hamel's coefficients gamma_lij = -gamma_lji the first.

    short: forms to be printed in place of these.
    """

    def again(at: tuple[int, ...], form: Sum) -> bool:
        """Whether an earlier entry of a symmetric quantity is equal."""
        if quantity == "hamel_coefficients":
            return at[1] > at[2]
        if quantity == "mass_matrix":
            return at[0] > at[1]
        is_lower = quantity == "christoffel" and at[0] > at[1]
        return is_lower and forms[at[1], at[0], at[2]] == form

    printed: Any = forms if short is None else short
    lines: list[Line] = [
        (at, printed[at])
        for at, form in np.ndenumerate(forms)
        if form.terms and not again(at, form)
    ]
    return tuple(sorted(lines, key=lambda line: line[0][2:]))  # c_ijk: k by k


def by_first(forms: Any, letter: str) -> np.ndarray:
    """Entries, an entry that is equal or opposite to an earlier entry by its name."""
    named = named_entries(forms, letter)
    short = forms.copy()
    for at, form in np.ndenumerate(named):
        if (
            form.terms
            and form.terms[0] != single(Name(entry_at(letter, at)))
            and factors_in(forms[at]) > 1
        ):
            short[at] = form
    return short


def named_entries(forms: Any, letter: str) -> np.ndarray:
    """Entries that are not zero as names M:1:2, c:1:2:3; entries that are equal or opposite by the
    name of the first.
    """
    first: dict[Sum, tuple[str, int]] = {}
    named = np.full(forms.shape, ZERO, dtype=object)
    for at in sorted(np.ndindex(forms.shape), key=lambda at: (at[2:], at)):
        form: Sum = forms[at]
        if form.terms:
            if form not in first:
                name = entry_at(letter, at)
                first[form] = (name, 1)
                first[opposite(form)] = (name, -1)
            name, sign = first[form]
            named[at] = Sum((single(Name(name), sign),))
    return named


class Groups:
    """Names k1, k2, ... for sums of parameters that repeat, up to a factor, in lines of any sheet.

    definitions: name -> sum. varying: names that are no parameters.
    """

    def __init__(self, prefix: str, varying: Container[str]):
        self.prefix, self.varying = prefix, varying
        self.definitions: dict[str, Sum] = {}
        self._names: dict[Key, str] = {}

    def named(self, lines: Iterable[Line]) -> tuple[Line, ...]:
        """Lines with the names of sums that repeat in them, or have a name already."""
        lines = tuple(lines)
        counts: dict[Key, int] = {}
        for form in self._inner_sums(form for _, form in lines):
            key = _up_to_factor(form)
            counts[key] = counts.get(key, 0) + 1
            if key not in self._names and (
                counts[key] >= REPEATED or counts[key] > 1 and len(form.terms) >= LONG
            ):
                self._names[key] = name = f"{self.prefix}{len(self.definitions) + 1}"
                self.definitions[name] = form
        return tuple((at, self._replaced(form)) for at, form in lines)

    def _inner_sums(self, forms: Iterable[Sum]) -> Iterator[Sum]:
        """Sums of parameters in parentheses, without sines, cosines and varying names."""
        stack = list(forms)[::-1]
        while stack:
            for term in stack.pop().terms:
                for factor, _ in term.factors:
                    if isinstance(factor, Sum):
                        inner = [f for t in factor.terms for f, _ in t.factors]
                        if all(isinstance(f, Name) and f.name not in self.varying for f in inner):
                            yield factor
                        else:
                            stack.append(factor)

    def _replaced(self, form: Sum) -> Sum:
        """The form with sums in parentheses replaced by names, or by multiples of these."""
        if not any(isinstance(f, Sum) for t in form.terms for f, _ in t.factors):
            return form
        terms = []
        for number, factors in form.terms:
            changed = []
            for factor, power in factors:
                if isinstance(factor, Sum):
                    ratio, factor = self._multiple(factor)
                    number = plain(number * Fraction(ratio) ** power) if ratio != 1 else number
                changed.append((factor, power))
            changed.sort(key=lambda x: not isinstance(x[0], Name) or x[0].name in self.varying)
            terms.append(Term(number, tuple(changed)))
        return Sum(tuple(terms))

    def _multiple(self, form: Sum) -> tuple[Any, Any]:
        """(number, factor) that a sum in parentheses is written as."""
        name = self._names.get(_up_to_factor(form), "")
        if name:
            ratio = (
                Fraction(form.terms[0].number)
                / dict((factors, number) for number, factors in self.definitions[name].terms)[
                    form.terms[0].factors
                ]
            )
            if ratio in (1, -1) or Fraction(f"{float(ratio):.{DIGITS}g}") == ratio:
                return ratio, Name(name)
        return 1, self._replaced(form)


def _up_to_factor(form: Sum) -> Key:
    """Terms relative to the first, in an order of their own: equal for all multiples of a sum."""
    terms = sorted(form.terms, key=lambda t: [(str(f), e) for f, e in t.factors])
    return tuple((t.factors, Fraction(t.number) / Fraction(terms[0].number)) for t in terms)
