"""Sheets in terms of entries that a document has already: of the same quantity, or of another one
times velocities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dalembert.closed_forms.algebra.ring import plain, terms_in, terms_of
from dalembert.closed_forms.algebra.sums import (
    Name,
    Sum,
    Term,
    content,
    object_array,
    opposite,
    single,
)
from dalembert.closed_forms.algebra.writing import Writer, with_rates
from dalembert.closed_forms.printing.names import entry_at
from dalembert.closed_forms.printing.sheets import Sheet, by_first, named_entries
from dalembert.closed_forms.quantities.verified_forms import ClosedForms

PLAIN = 2500  # characters of a quantity up to which each entry is written for itself
FEW = 4  # terms of an entry that is never written by another

Entries = Mapping[tuple[int, ...], Any]  # place -> polynomial
# (an entry's place, number, velocities)
Products = list[tuple[tuple[int, ...], Any, tuple[str, ...]]]


def by_references(
    writer: Writer, eom: ClosedForms, quantity: str, forms: np.ndarray, entries: Entries
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
        differences = ((value - other, name) for name, other in later.items())
        rest, name = min(differences, default=(value, ""), key=lambda x: terms_in([x[0]]))
        if terms_in([rest]) <= len(terms_of(value)) / 2:
            short[at] = Sum((single(Name(name)), *writer.form(rest).terms))
        later[entry_at(letter, at)] = value
    return eom.in_full(quantity, forms, short)


def by_entries(
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
    of_place = [products(*at) for at in np.ndindex(shape)]
    forms = object_array([combined(x, sheet.forms) for x in of_place], shape)
    short = object_array([_by_names(x, named) for x in of_place], shape)
    return eom.abridged(quantity, forms, short, (other,))


def combined(products: Products, entries: np.ndarray) -> Sum:
    """Sum of number * entry * velocities."""
    terms = []
    for at, number, names in products:
        form: Sum = entries[at]
        rates = tuple({Name(name): names.count(name) for name in names}.items())
        if len(form.terms) == 1:
            ((own, factors),) = form.terms
            terms.append(Term(plain(own * number), with_rates(factors, rates)))
        elif form.terms:
            sign = -1 if form.terms[0].number < 0 else 1
            positive = form if sign > 0 else opposite(form)
            terms.append(Term(number * sign, ((positive, 1), *rates)))
    return Sum(tuple(terms))


def _by_names(products: Products, named: np.ndarray) -> Sum:
    """Sum of number * name of an entry * velocities, each name once."""
    by_name: dict[Any, list[Term]] = {}
    for at, number, names in products:
        powers = tuple({Name(x): names.count(x) for x in names}.items())
        for sign, ((name, _),) in named[at].terms:
            by_name.setdefault(name, []).append(Term(plain(number * sign), powers))
    terms = []
    for name, rates in by_name.items():
        if len(rates) == 1:
            terms.append(Term(rates[0].number, ((name, 1), *rates[0].factors)))
            continue
        number, common, rest = content(rates)
        if len(rest) > 1:
            terms.append(Term(number, ((name, 1), *common, (Sum(rest), 1))))
        else:
            terms.append(Term(rest[0].number, ((name, 1), *rest[0].factors)))
    return Sum(tuple(terms))
