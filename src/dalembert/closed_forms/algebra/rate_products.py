"""Sums of products of velocities as products of sums: x^2 + 2 x y + y^2 = (x + y)^2."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, islice
from math import isqrt
from typing import Any

from dalembert.closed_forms.algebra.common_numbers import readable_number
from dalembert.closed_forms.algebra.products_of_sums import as_products
from dalembert.closed_forms.algebra.ring import plain
from dalembert.closed_forms.algebra.sums import (
    Sum,
    Term,
    content,
    single,
    united,
)

Numbers = dict[Any, Any]  # of variables, or of pairs of them
FEWEST, MOST = 3, 16  # terms of a sum of squares and products that may be a product


def with_rate_products(form: Sum, is_rate: Callable[[Any], bool]) -> Sum:
    """A form whose sums in parentheses are written as products of sums of velocities, with whole
    numbers, and of other factors, where they are such products.
    """
    return Sum(tuple(_with_products(term, is_rate) for term in form.terms))


def _with_products(term: Term, is_rate: Callable[[Any], bool]) -> Term:
    """A term with the sums in it written so."""
    number, factors = term.number, []
    for factor, e in term.factors:
        product = single(factor)
        if isinstance(factor, Sum):
            product = _as_product(factor, e, is_rate)
        number = plain(number * Fraction(product.number) ** e)
        factors += [(f, k * e) for f, k in product.factors]
    return Term(number, united(factors))


def _as_product(form: Sum, power: int, is_rate: Callable[[Any], bool]) -> Term:
    """A sum in parentheses as a product, or alone."""
    apart = _rates_apart(form, is_rate) if power == 1 else None
    if apart is not None:
        return _with_products(apart, is_rate)
    inner = with_rate_products(form, is_rate)
    is_pure = power == 1 and _is_of(inner.terms, is_rate)
    return _product(inner.terms) if is_pure else single(inner)


def _rates_apart(form: Sum, is_rate: Callable[[Any], bool]) -> Term | None:
    """A sum as the product of a sum of velocities and one of other factors; None if it is none."""
    terms = list(islice(_multiplied_out(form.terms), MOST + 1))
    if not FEWEST <= len(terms) <= MOST:
        return None
    products = as_products(terms, lambda factor: not is_rate(factor))
    return _with_readable_number(products[0], is_rate) if len(products) == 1 else None


def _with_readable_number(product: Term, is_rate: Callable[[Any], bool]) -> Term:
    """A product whose number is best before, or within, the parentheses of the other factors."""
    factors = list(product.factors)
    for k, (factor, e) in enumerate(factors):
        if isinstance(factor, Sum) and e == 1 and not _is_of(factor.terms, is_rate):
            terms = [Term(t.number * product.number, t.factors) for t in factor.terms]
            number, common, rest = content(terms, readable_number)
            factors[k : k + 1] = [*common, (Sum(rest), 1)]
            return Term(number, tuple(factors))
    return product


def _multiplied_out(terms: Sequence[Term]) -> Iterator[Term]:
    """Terms without sums in parentheses."""
    for number, factors in terms:
        at = next((k for k, (f, e) in enumerate(factors) if isinstance(f, Sum) and e == 1), None)
        if at is None:
            yield Term(number, united(factors))
            continue
        others = factors[:at] + factors[at + 1 :]
        for inner in factors[at][0].terms:
            yield from _multiplied_out([Term(plain(number * inner.number), inner.factors + others)])


def _is_of(terms: Sequence[Term], is_rate: Callable[[Any], bool]) -> bool:
    return all(term.factors and all(is_rate(f) for f, _ in term.factors) for term in terms)


def _product(terms: Sequence[Term]) -> Term:
    """A sum of products of velocities as a product."""
    number, common, rest = content(terms)
    pair = _linear_factors(rest) if FEWEST <= len(rest) <= MOST else None
    if pair is None:
        return Term(number, (*common, (Sum(rest), 1)))
    whole = [content(linear) for linear in pair]
    for scale, _, _ in whole:
        number = plain(number * Fraction(scale))
    first, second = sorted((inner for *_, inner in whole), key=len)
    return Term(number, (*common, *united([(Sum(first), 1), (Sum(second), 1)])))


def _linear_factors(terms: Sequence[Term]) -> tuple[list[Term], list[Term]] | None:
    """The sums whose product is a quadratic form, a (x + u) (x + v); None if there are none.

    a x^2 + b x + c with b^2 - 4 a c = s^2: u, v = (b +- s) / (2 a), with a number in both.
    """
    form = _quadratic(terms)
    if form is None:
        return None
    names = list(dict.fromkeys(name for pair in form for name in pair))
    x = next((name for name in names if form.get((name, name))), None)
    if x is None:
        return None
    others = [name for name in names if name != x]
    a = form[x, x]
    b = {y: form.get((x, y), form.get((y, x), 0)) for y in others}
    root = _root(_discriminant(form, a, b), others)
    if root is None:
        return None
    pair = []
    for sign, scale in ((-1, a), (1, 1)):
        numbers = {y: (b[y] + sign * root[y]) / (2 * a) for y in others} | {x: Fraction(1)}
        pair.append([_linear(name, numbers[name] * scale) for name in names if numbers[name]])
    return pair[0], pair[1]


def _linear(name: Any, number: Fraction) -> Term:
    return Term(plain(number), ((name, 1),))


def _quadratic(terms: Sequence[Term]) -> Numbers | None:
    """Numbers of squares and products in their order; None where terms are of another degree."""
    form: Numbers = {}
    for number, factors in terms:
        names = [f for f, e in factors for _ in range(e)]
        if len(names) != 2:
            return None
        form[names[0], names[1]] = Fraction(number)
    return form


def _discriminant(form: Numbers, a: Any, b: Mapping[Any, Any]) -> Numbers:
    """b^2 - 4 a c by pairs of the other variables."""
    found: Numbers = {}
    for y, z in combinations_with_replacement(b, 2):
        c = form.get((y, z), form.get((z, y), 0))
        found[y, z] = b[y] * b[z] * (1 if y == z else 2) - 4 * a * c
    return found


def _root(square: Numbers, names: Sequence[Any]) -> Numbers | None:
    """The linear form with this square, or None."""
    root: Numbers = dict.fromkeys(names, Fraction(0))
    first = next((y for y in names if square[y, y]), None)
    if first is not None:
        size = _rational_root(square[first, first])
        if size is None:
            return None
        root[first] = size
        for y, z in square:
            if first in (y, z) and y != z:
                root[z if y == first else y] = square[y, z] / (2 * size)
    for y, z in square:
        if square[y, z] != root[y] * root[z] * (1 if y == z else 2):
            return None
    return root


def _rational_root(x: Fraction) -> Fraction | None:
    if x < 0:
        return None
    root = Fraction(isqrt(x.numerator), isqrt(x.denominator))
    return root if root * root == x else None
