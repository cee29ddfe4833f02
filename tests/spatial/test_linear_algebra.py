"""Systems, factors and inverses over floats, exact numbers, expressions and batches."""

from fractions import Fraction

import numpy as np
import pytest

from dalembert.errors import ShapeError
from dalembert.expr import Expr, evaluate, symbols
from dalembert.spatial.linear_algebra import SingularMatrixError, inverse, solve


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def positive(rng, n):
    B = rng.normal(size=(n, n))
    return B @ B.T + n * np.eye(n)


def nested(batch):
    """A batch (N, n, m) as a nested list of arrays (N,)."""
    return [[batch[:, i, j] for j in range(batch.shape[2])] for i in range(batch.shape[1])]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_floats_agree_with_numpy(rng, n):
    A, b, B = rng.normal(size=(n, n)), rng.normal(size=n), rng.normal(size=(n, 3))
    assert solve(A, b).dtype == float
    np.testing.assert_allclose(solve(A, b), np.linalg.solve(A, b), rtol=1e-11)
    np.testing.assert_allclose(solve(A.tolist(), B.tolist()), np.linalg.solve(A, B), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(inverse(A) @ A, np.eye(n), atol=1e-11)


def test_exact_numbers_give_exact_results():
    A = [[2, 1, 0], [1, 3, Fraction(1, 2)], [0, Fraction(1, 2), 5]]
    x = solve(A, [1, 2, 3])
    assert all(type(entry) is Fraction for entry in x)
    assert [sum(a * s for a, s in zip(row, x, strict=True)) for row in A] == [1, 2, 3]
    assert (inverse(A).dot(np.array(A, dtype=object)) == np.eye(3, dtype=int)).all()


def test_expressions_agree_with_floats(rng):
    n = 3
    names, M, b = symbols("m", (n, n)), positive(rng, n), rng.normal(size=n)
    values = {names[i, j]: M[i, j] for i in range(n) for j in range(n)}
    for symbolic, expected in ((solve(names, b), np.linalg.solve(M, b)), (inverse(names), np.linalg.inv(M))):
        np.testing.assert_allclose(evaluate(symbolic, values), expected, rtol=1e-12, atol=1e-14)


def test_pivots_of_expressions_skip_constant_zeros():
    a, b = symbols("a b")
    x = solve([[0, a], [b, 0]], [a, b])
    assert all(isinstance(entry, Expr) for entry in x)
    np.testing.assert_allclose(evaluate(x, {a: 2.0, b: 5.0}), [1.0, 1.0])


def test_each_lane_of_a_batch_chooses_its_own_rows(rng):
    N, n = 50, 4
    A, b = rng.normal(size=(N, n, n)), rng.normal(size=(N, n))
    A[0, 0, 0] = A[1, 1, 0] = 0.0
    x = solve(nested(A), list(b.T))
    np.testing.assert_allclose(np.stack(list(x), axis=1), np.linalg.solve(A, b[..., None])[..., 0], rtol=1e-9, atol=1e-12)


def test_small_inertias_are_not_taken_for_zero():
    np.testing.assert_allclose(solve([[1e-300, 0.0], [0.0, 1.0]], [1e-300, 1.0]), [1.0, 1.0])


def test_singular_matrices_are_errors_with_pivot_and_value():
    with pytest.raises(SingularMatrixError, match="singular: pivot 1 is 0") as error:
        solve([[1.0, 2.0], [2.0, 4.0]], [1.0, 1.0])
    assert (error.value.pivot, error.value.value) == (1, 0.0)
    a, _ = symbols("a b")
    with pytest.raises(SingularMatrixError, match="pivot 0 is 0"):
        solve([[0, a], [0, a]], [1, 1])
    with pytest.raises(SingularMatrixError, match="pivot 0 is 0.0"):
        solve([[np.array([1.0, 0.0])]], [np.array([1.0, 1.0])])


def test_shapes_are_checked():
    with pytest.raises(ShapeError, match=r"shape \(2, 3\), expected a square"):
        solve([[1, 2, 3], [4, 5, 6]], [1, 2])
    with pytest.raises(ShapeError, match="3 rows, expected 2"):
        solve([[1, 2], [3, 4]], [1, 2, 3])
