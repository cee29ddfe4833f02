"""Factors L D L^T of symmetric matrices of few entries, singular ones too."""

import numpy as np
import pytest

from dalembert.expr import evaluate, known_zero, symbols, where
from dalembert.spatial.ldl import factorised, unchecked
from dalembert.spatial.sparse_ldl import (
    SparseFactors,
    eliminated,
    gram,
    held_by_count,
    least_degree,
)


def entries(A):
    return [{j: x for j, x in enumerate(row) if not known_zero(x)} for row in A]


def banded(n, width, rng):
    A = np.eye(n) * 2.0 * width
    for d in range(1, width):
        off = rng.uniform(-1, 1, n - d)
        A += np.diag(off, d) + np.diag(off, -d)
    return A


@pytest.mark.parametrize("n, width", [(1, 1), (4, 4), (30, 3)])
def test_solutions_are_those_of_numpy(n, width):
    rng = np.random.default_rng(n)
    A, b = banded(n, width, rng), rng.normal(size=n)
    factors = eliminated(entries(A.tolist()), lambda k, pivot: 1 / pivot)
    np.testing.assert_allclose(factors.solved(b), np.linalg.solve(A, b), rtol=1e-12)
    sparse = factors.inward({n // 2: 1.0})
    np.testing.assert_allclose([sparse.get(k, 0.0) for k in range(n)], factors.reduced(np.eye(n)[n // 2]), atol=1e-15)


def test_factors_of_a_tree_are_taken_over_without_their_zeros():
    M = [[4.0, 1.0, 2.0], [1.0, 3.0, 0.0], [2.0, 0.0, 5.0]]
    factors = SparseFactors.of(factorised(M, unchecked))
    assert [len(column) for column in factors.columns] == [0, 1, 1]
    np.testing.assert_allclose(factors.solved([1.0, 2.0, 3.0]), np.linalg.solve(M, [1, 2, 3]), rtol=1e-13)


def test_an_arrow_is_eliminated_from_its_tips():
    n = 50
    arrow = [{0: 2.0 * n, **{k: 1.0 for k in range(1, n)}}, *({0: 1.0, k: 3.0} for k in range(1, n))]
    factors = eliminated(arrow, lambda k, pivot: 1 / pivot)
    assert sum(map(len, factors.columns)) == n - 1                      # nothing is added; from the hub it would be n^2/2
    assert least_degree([row.keys() for row in arrow]).index(0) >= n - 2


def test_rows_that_follow_from_others_are_left_out():
    J = np.array([[1.0, 2, 0], [0, 1, 1], [1, 3, 1]])                   # the third is the sum of the others
    A = gram(entries(J.tolist()))
    np.testing.assert_allclose([[row.get(j, 0.0) for j in range(3)] for row in A], J @ J.T)
    factors = eliminated(A, lambda k, pivot: where(pivot > 1e-12, lambda: 1 / pivot, 0.0))
    assert sum(x == 0 for x in factors.inverse_pivots) == 1
    b = J @ [0.3, -1.0, 2.0]
    np.testing.assert_allclose(J @ J.T @ factors.solved(b), b, rtol=1e-12)


def test_expressions_agree_with_floats():
    rng = np.random.default_rng(1)
    A, names = banded(4, 2, rng), symbols("a", (4, 4))
    rows = [{j: names[max(i, j), min(i, j)] for j in range(4) if abs(i - j) < 2} for i in range(4)]
    solved = eliminated(rows, lambda k, pivot: 1 / pivot).solved([1.0, 2.0, 3.0, 4.0])
    values = {names[i, j]: A[i, j] for i in range(4) for j in range(4)}
    np.testing.assert_allclose(evaluate(np.array(solved), values), np.linalg.solve(A, [1, 2, 3, 4]), rtol=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_rows_without_freedom_by_count_are_those_of_all_subsets(seed):
    """The union of all subsets of rows that have most rows beyond their entries."""
    rng = np.random.default_rng(seed)
    rows = [set(rng.choice(7, size=rng.integers(0, 4), replace=False).tolist()) for _ in range(7)]
    subsets = [[k for k in range(7) if rows[k] and mask >> k & 1] for mask in range(128)]
    beyond = [len(subset) - len(set().union(*(rows[k] for k in subset))) for subset in subsets]
    wanted = {k for subset, most in zip(subsets, beyond) if most == max(beyond) for k in subset}
    assert held_by_count(rows) == wanted


def test_rows_of_long_chains_are_counted():
    rows = [{k, k + 1, k + 2} for n in range(3000) for k in (2 * n, 2 * n, 2 * n)]           # a third row too many each
    assert len(held_by_count(rows)) == 9000
