"""Factors L^T D L of symmetric matrices over floats, exact numbers, expressions and batches."""

from fractions import Fraction

import numpy as np
import pytest

from dalembert.expr import Expr, evaluate, symbols
from dalembert.spatial.ldl import (
    couplings,
    factorised,
    inverted,
    rows_of,
    solved,
    stacked,
    unchecked,
)


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def positive(rng, *shape):
    B = rng.normal(size=(*shape, shape[-1]))
    return B @ np.swapaxes(B, -1, -2) + shape[-1] * np.eye(shape[-1])


@pytest.mark.parametrize("n", [1, 2, 5])
def test_floats_agree_with_numpy(rng, n):
    M, b = positive(rng, n), rng.normal(size=n)
    factors = factorised(M.tolist(), unchecked)
    L = np.array(factors.L) + np.eye(n)
    np.testing.assert_allclose(L.T / np.array(factors.inverse_pivots) @ L, M, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(solved(factors, b), np.linalg.solve(M, b), rtol=1e-12)
    np.testing.assert_allclose(inverted(factors), np.linalg.inv(M), rtol=1e-12, atol=1e-15)
    P = np.zeros((n, n))
    for k, row in enumerate(couplings(factors)):
        P[k, :k] = row
    np.testing.assert_allclose(np.linalg.inv(L), np.eye(n) - P, rtol=1e-12, atol=1e-15)


def test_exact_numbers_give_exact_results():
    A = [[Fraction(x) for x in row] for row in ([2, 1, 0], [1, 3, Fraction(1, 2)], [0, Fraction(1, 2), 5])]
    factors = factorised(A, unchecked)
    x, inverse = solved(factors, [1, 2, 3]), inverted(factors)
    assert [sum(a * s for a, s in zip(row, x, strict=True)) for row in A] == [1, 2, 3]
    assert (np.array(A).dot(np.array(inverse)) == np.eye(3, dtype=int)).all()


def test_expressions_agree_with_floats(rng):
    n = 3
    names, M, b = symbols("m", (n, n)), positive(rng, n), rng.normal(size=n)
    values = {names[i, j]: M[i, j] for i in range(n) for j in range(n)}
    factors = factorised(names.tolist(), unchecked)
    for symbolic, expected in ((solved(factors, b), np.linalg.solve(M, b)), (inverted(factors), np.linalg.inv(M))):
        np.testing.assert_allclose(evaluate(np.array(symbolic), values), expected, rtol=1e-12, atol=1e-14)


def test_a_batch_is_its_states_one_by_one(rng):
    M, b = positive(rng, 7, 4), rng.normal(size=(7, 4, 2))
    factors = factorised(rows_of(M), unchecked)
    columns = [solved(factors, column) for column in zip(*rows_of(b), strict=True)]
    np.testing.assert_allclose(stacked(list(zip(*columns, strict=True))), np.linalg.solve(M, b), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(stacked(inverted(factors)), np.linalg.inv(M), rtol=1e-11, atol=1e-13)


def test_branches_that_do_not_feel_each_other_keep_their_zeros():
    """Two branches on one root: entries 1 and 2 are coupled to 0 and not to each other."""
    a, b, c, d, e = symbols("a b c d e")
    factors = factorised([[a, b, c], [b, d, 0.0], [c, 0.0, e]], unchecked)
    assert factors.L[2][1] == 0.0 and couplings(factors)[2][1] == 0.0
    assert isinstance(inverted(factors)[2][1], Expr)      # but each moves when the other is pushed


def test_entries_that_are_not_free_are_left_out(rng):
    M, b = positive(rng, 4), rng.normal(size=4)
    free = [1, 0, 1, 1]
    among = [[x * free[i] * free[j] + (i == j) * (1 - free[i]) for j, x in enumerate(row)] for i, row in enumerate(M.tolist())]
    x = solved(factorised(among, unchecked, free), [r * f for r, f in zip(b, free, strict=True)])
    kept = [0, 2, 3]
    np.testing.assert_allclose(np.array(x)[kept], np.linalg.solve(M[np.ix_(kept, kept)], b[kept]), rtol=1e-12)
    assert x[1] == 0


def test_pivots_are_checked_from_the_last_entry_to_the_first():
    seen = []
    factorised([[4.0, 2.0], [2.0, 2.0]], lambda k, pivot: seen.append((k, pivot)))
    assert seen == [(1, 2.0), (0, 2.0)]
    np.testing.assert_allclose(solved(factorised([[1e-16, 0.0], [0.0, 1.0]], unchecked), [1e-16, 1.0]), [1.0, 1.0])
