"""Integrals of one-forms in closed form: an integrating factor, and a sum of products.

    mu w = d phi,    mu = product of powers of factors in w

Both are found by linear algebra on values at random points, and checked at others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from dalembert.expr import Expr, evaluate, jacobian, topological
from dalembert.expr.python_text import to_text

SAMPLES, CHECKS = 80, 20  # points at which coefficients are found, and checked
FOUND = 1e-9  # residual, relative to the form, below which a fit is an identity
DEGREE = 3  # of the products
MOST_GENERATORS = 12  # of the products
ROUNDS = 30  # of weights
FUNCTIONS = ("sin", "cos", "exp", "sqrt", "log", "tan")
DENOMINATOR = 6  # of exponents of an integrating factor


@dataclass(frozen=True)
class Integral:
    """Function of coordinates and time that is constant along the motion.

    text : in names of coordinates
    factor : text of the integrating factor; empty: 1

    Examples
    --------
    >>> import dalembert as da
    >>> disc = da.constraints.Velocity("rod", lambda q, qd, t: [q[0] * qd[0] + q[1] * qd[1]])
    >>> da.integrability(da.planar_chain(2).constrained(disc)).rows[0].integral.value([3.0, 4.0])
    12.5
    """

    text: str
    factor: str
    coefficients: tuple[float, ...]
    terms: tuple[Expr, ...]
    symbols: tuple[Expr, ...]

    def value(self, q: Any, t: float = 0.0) -> float:
        """Its value at coordinates (nq,) and a time [s]: number.

        Examples
        --------
        >>> import dalembert as da
        >>> disc = da.constraints.Velocity("rod", lambda q, qd, t: [q[0] * qd[0] + q[1] * qd[1]])
        >>> da.integrability(da.planar_chain(2).constrained(disc)).rows[0].integral.value([1.0, 1.0])
        1.0
        """
        values = dict(zip(self.symbols, [*map(float, q), float(t)], strict=True))
        return float(np.dot(self.coefficients, evaluate(list(self.terms), values)))


class RandomPoints:
    """Expressions of z at random points where logarithms and roots of coordinates exist."""

    def __init__(self, z: np.ndarray, count: int, seed: int):
        rng = np.random.default_rng(seed)
        self.z = z
        self.values = dict(zip(z, rng.uniform(0.2, 1.3, (count, len(z))).T, strict=True))
        self.count = count

    def at(self, expressions: Any) -> np.ndarray:
        """Values (count, ...) of expressions."""
        array = np.asarray(expressions, dtype=object)
        found = [evaluate(x, self.values) if isinstance(x, Expr) else x for x in array.flat]
        columns = [np.broadcast_to(np.asarray(x, float), self.count) for x in found]
        return np.stack(columns, -1).reshape(self.count, *array.shape)


def exact_integral(names: Sequence[str], z: np.ndarray, row: np.ndarray) -> Integral | None:
    """The integral of an integrable form w = row dz; None where it was not found."""
    sampled = RandomPoints(z, SAMPLES, 2)
    w = sampled.at(row)
    slopes = sampled.at(jacobian(row, z))
    used = [
        k for k in range(len(z)) if np.abs(w[:, k]).max() > 0 or np.abs(slopes[:, :, k]).max() > 0
    ]
    factors = _factors(row, z[used])
    exponents = _exponents(sampled, w, slopes, factors)
    if exponents is None:
        return None
    mu: Any = 1.0
    for factor, exponent in zip(factors, exponents, strict=True):
        mu = mu if not exponent else mu * _power(factor, exponent)
    powers = [f for f, e in zip(factors, exponents, strict=True) if e]
    form = row * mu if isinstance(mu, Expr) else row
    levels = (_fitted(z, form, terms) for terms in _term_levels(row, z[used], powers))
    fitted = next((found for found in levels if found is not None), None)
    if fitted is None:
        return None
    chosen, coefficients = fitted
    text = _sum_text(coefficients, chosen)
    return Integral(
        text,
        to_text(mu) if isinstance(mu, Expr) else "",
        tuple(coefficients),
        tuple(chosen),
        tuple(z),
    )


def _power(x: Any, exponent: Fraction) -> Any:
    if exponent.denominator != 1:
        return x ** float(exponent)
    n = abs(exponent.numerator)
    whole = x
    for _ in range(n - 1):
        whole = whole * x
    return whole if exponent > 0 else 1 / whole


def _factors(row: Iterable[Any], z: np.ndarray) -> list[Expr]:
    """Factors of the entries of a form, and coordinates."""
    found: dict[Any, Expr] = {}

    def split(x: Any) -> None:
        """Collect the factors of an expression."""
        if not isinstance(x, Expr) or x.op in ("exact", "float", "constant"):
            return
        if x.op in ("mul", "div", "neg"):
            for argument in x.args:
                split(argument)
        else:
            found.setdefault(x, x)

    for entry in row:
        split(entry)
    for x in z:
        found.setdefault(x, x)
    return list(found.values())


def _exponents(
    sampled: RandomPoints, w: np.ndarray, slopes: np.ndarray, factors: Sequence[Expr]
) -> list[Fraction] | None:
    """Exponents p with d(log mu) ^ w = -dw, mu = product g^p; of the fewest factors that do."""
    n = w.shape[1]
    i, j = np.triu_indices(n, 1)
    dw = slopes[:, j, i] - slopes[:, i, j]
    largest = np.abs(slopes).max(initial=1.0)
    if np.abs(dw).max() <= FOUND * largest:
        return [Fraction(0)] * len(factors)
    columns = []
    for g in factors:
        value = sampled.at(g)
        slope = jacobian(np.array([g], dtype=object), sampled.z)
        rate = sampled.at(slope)[:, 0] / value[:, None]
        wedge = rate[:, i] * w[:, j] - rate[:, j] * w[:, i]
        columns.append(wedge.ravel())
    A, b = np.array(columns).T, -dw.ravel()
    for chosen in [[k] for k in range(len(factors))] + [list(range(len(factors)))]:
        p, *_ = np.linalg.lstsq(A[:, chosen], b, rcond=1e-10)
        rounded = [Fraction(float(x)).limit_denominator(DENOMINATOR) for x in p]
        neat = np.array([float(x) for x in rounded])
        left = A[:, chosen] @ neat - b
        if np.abs(left).max() <= FOUND * np.abs(b).max():
            exponents = [Fraction(0)] * len(factors)
            for k, exponent in zip(chosen, rounded, strict=True):
                exponents[k] = exponent
            return exponents
    return None


def _term_levels(
    row: Iterable[Any], z: np.ndarray, factors: Sequence[Expr]
) -> Iterator[list[Expr]]:
    """Products of coordinates and of functions in the form, by degree; then with factors and
    logarithms as well.
    """
    generators: dict[Any, Expr] = {x: x for x in z}
    nodes = [x for x in row if isinstance(x, Expr)]
    for node in [x for x in topological(nodes) if x.op in FUNCTIONS]:
        generators.setdefault(node, node)
        if node.op in ("sin", "cos"):
            for partner in (node.args[0].sin(), node.args[0].cos()):
                generators.setdefault(partner, partner)
    for degree in range(1, DEGREE + 1):
        yield _products(list(generators.values()), degree)
    for factor in factors:
        generators.setdefault(factor, factor)
        generators.setdefault(1 / factor, 1 / factor)
    logarithms = [x.log() for x in dict.fromkeys([*z, *factors])]
    yield [*_products(list(generators.values())[:MOST_GENERATORS], DEGREE), *logarithms]


def _products(generators: Sequence[Expr], degree: int) -> list[Expr]:
    """Products of up to so many generators, each once."""
    found: dict[Any, Expr] = {}
    for count in range(1, degree + 1):
        for choice in combinations_with_replacement(generators, count):
            product = choice[0]
            for x in choice[1:]:
                product = product * x
            if isinstance(product, Expr):
                found.setdefault(product, product)
    return list(found.values())


def _fitted(
    z: np.ndarray, form: np.ndarray, terms: Sequence[Expr]
) -> tuple[list[Expr], list[float]] | None:
    """Terms and coefficients whose gradient is a form, few of them; None where there are none."""
    gradients = jacobian(np.array(terms, dtype=object), z)
    sampled, checked = RandomPoints(z, SAMPLES, 3), RandomPoints(z, CHECKS, 4)
    A = np.moveaxis(sampled.at(gradients), 1, -1).reshape(-1, len(terms))
    b = sampled.at(form).ravel()
    lengths = np.linalg.norm(A, axis=0)
    lengths[lengths == 0] = 1.0
    x = _sparse(A / lengths, b) / lengths
    kept = np.flatnonzero(x)
    again = np.einsum("ntz,t->nz", checked.at(gradients), x)
    expected = checked.at(form)
    if np.abs(again - expected).max() > FOUND * np.abs(expected).max():
        return None
    return [terms[int(k)] for k in kept], [_neat(float(x[k])) for k in kept]


def _sparse(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solution of A x = b with few entries, by least squares whose weights follow the solution
    (FOCUSS).
    """
    weight = np.ones(A.shape[1])
    for _ in range(ROUNDS):
        y, *_ = np.linalg.lstsq(A * weight, b, rcond=1e-12)
        x = weight * y
        weight = np.abs(x)
    kept = np.abs(x) > 1e-6 * np.abs(x).max(initial=0.0)
    fitted = np.zeros(A.shape[1])
    fitted[kept] = np.linalg.lstsq(A[:, kept], b, rcond=None)[0]
    return fitted


def _neat(x: float) -> float:
    """A coefficient without its rounding, where it is a short number."""
    short = float(Fraction(x).limit_denominator(1000))
    return short if abs(short - x) <= 1e-8 * abs(x) else float(f"{x:.10g}")


def _sum_text(coefficients: Sequence[float], terms: Sequence[Expr]) -> str:
    """Text of a sum of terms."""
    text = ""
    for c, term in zip(coefficients, terms, strict=True):
        sign = "-" if c < 0 else "+"
        size = "" if abs(c) == 1 else f"{abs(c):.10g}*"
        text += (
            f" {sign} {size}{to_text(term)}" if text else f"{'-' * (c < 0)}{size}{to_text(term)}"
        )
    return text
