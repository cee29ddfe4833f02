"""Sums that are a product of two sums: a x + b x + 2 a y + 2 b y = (a + b) (x + 2 y)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from dalembert.closed_forms.algebra.common_numbers import readable_number
from dalembert.closed_forms.algebra.ring import plain
from dalembert.closed_forms.algebra.sums import (
    Cosine,
    Factors,
    Sum,
    Term,
    content,
)


class _Coefficient(NamedTuple):
    """A sum of parameters times other factors: number * common * (rest, whose first number is 1).

    terms: the same multiplied out.
    """

    number: Any
    common: Factors
    rest: Sum
    terms: list[Term]


def as_products(terms: Sequence[Term], is_parameter: Callable[[Any], bool]) -> list[Term]:
    """Terms with those that are a sum of parameters times a sum of other factors as one product:
    a x + b x + 2 a y + 2 b y = (a + b) (x + 2 y)."""
    by_others: dict[Any, list[Term]] = {}
    for t in terms:
        others = tuple(x for x in t.factors if not is_parameter(x[0]))
        own = tuple(x for x in t.factors if is_parameter(x[0]))
        by_others.setdefault(others, []).append(Term(t.number, own))
    alike: dict[Any, list[_Coefficient]] = {}  # by the rest up to a factor
    for others, coefficient in by_others.items():
        number, common, rest = content(coefficient)
        first = Fraction(rest[0].number)
        key = tuple(Term(t.number / first, t.factors) for t in rest)
        flat = [Term(t.number, t.factors + others) for t in coefficient]
        alike.setdefault(key, []).append(
            _Coefficient(number * first, common + others, Sum(rest), flat)
        )
    products: list[Term] = []
    for key, members in alike.items():
        if min(len(key), len(members)) < 2:
            products += [t for member in members for t in member.terms]
        else:
            products.append(_product_of_sums(members, is_parameter))
    return products


def _product_of_sums(members: Sequence[_Coefficient], is_parameter: Callable[[Any], bool]) -> Term:
    """Coefficients with one rest as the product of the rest and the sum of what it multiplies:
    parameters, the rest, other factors, the sum, cosines.
    """
    inner = members[0].rest
    first = inner.terms[0].number
    number, common, others = content(
        [Term(plain(m.number / first), m.common) for m in members], readable_number
    )
    at = next((k for k, (f, _) in enumerate(common) if not is_parameter(f)), len(common))
    turned = next((k for k, (f, _) in enumerate(common) if isinstance(f, Cosine)), len(common))
    return Term(
        number,
        (*common[:at], (inner, 1), *common[at:turned], (Sum(others), 1), *common[turned:]),
    )
