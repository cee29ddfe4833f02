"""The box-constrained law of reactions, against an enumeration of all cases."""

import itertools
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from dalembert.expr import Graph
from dalembert.native.routine import Routine
from dalembert.simulation.lcp import bounded
from dalembert.simulation.repetition import traced
from dalembert.tracing.trace import Trace


@cache
def compiled(n):
    sizes = {"A": n * n, "b": n, "lower": n, "upper": n, "asked": n, "reaction": n, "acceleration": n}
    with Graph():
        trace = Trace(sizes)
        A, *rest = [trace.registers[name] for name in sizes][:5]
        r, a = bounded(A.reshape(n, n), *rest, repeat=traced(trace))
        trace.give({"reaction": r, "acceleration": a})
    return Routine(trace.program(tuple(sizes)[:5], tuple(sizes)[5:]))


def box(A, b, lower, upper, asked=1.0):
    given = A.reshape(1, -1), b, lower, upper, np.broadcast_to(asked, b.shape)
    r, a = compiled(len(b))(*(np.clip(v.reshape(1, -1), -1e300, 1e300) for v in given))
    return SimpleNamespace(reaction=r[0], acceleration=a[0])


def enumerated(A, b, lower, upper):
    """The solution by trying each unknown at its lower bound, free, and at its upper bound."""
    for case in itertools.product((-1, 0, 1), repeat=len(b)):
        bound = np.array(case)
        free, r = bound == 0, np.where(bound < 0, lower, upper)
        if not np.isfinite(r[~free]).all():
            continue
        r[free] = np.linalg.solve(A[np.ix_(free, free)], -b[free] - A[np.ix_(free, ~free)] @ r[~free])
        a = A @ r + b
        if (r >= lower).all() and (r <= upper).all() and (bound[~free] * a[~free] <= 0).all():
            return r, a
    raise AssertionError("no case holds")


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_the_solution_is_the_one_that_all_cases_leave(n):
    rng = np.random.default_rng(n)
    ends = set()
    for _ in range(60):
        L = rng.normal(size=(n, n)) + np.eye(n) * rng.choice([0.05, 1.0])
        A, b = L @ L.T, 3 * rng.normal(size=n)
        kind = rng.integers(0, 3, n)                        # friction, a lower stop, an upper stop
        lower, upper = np.where(kind == 2, -np.inf, -rng.random(n) * (kind == 0)), np.where(
            kind == 1, np.inf, rng.random(n) * (kind == 0))
        found = box(A, b, lower, upper)
        r, a = enumerated(A, b, lower, upper)
        scale = np.abs(A) @ np.abs(r) + np.abs(b)
        assert np.abs(found.reaction - r).max() < 1e-8 * (1 + np.abs(r).max())
        assert np.abs(found.acceleration - a).max() < 1e-9 * scale.max()
        residual = found.reaction - np.clip(found.reaction - (A @ found.reaction + b), lower, upper)
        assert np.abs(residual).max() < 1e-9 * scale.max()
        ends |= set((1 * (found.reaction == upper) - (found.reaction == lower)).tolist())
    assert ends == {-1, 0, 1}


def test_what_is_not_asked_for_changes_nothing():
    rng = np.random.default_rng(7)
    L, b, ends = rng.normal(size=(5, 5)), 3 * rng.normal(size=5), rng.random(5)
    A, asked = L @ L.T, np.array([1, 0, 1, 1, 0])
    found, c = box(A, b, -ends, ends, asked), asked > 0
    r, a = enumerated(A[np.ix_(c, c)], b[c], -ends[c], ends[c])
    assert np.abs(found.reaction[c] - r).max() < 1e-12 and np.abs(found.acceleration[c] - a).max() < 1e-12
    assert (found.reaction[~c] == 0).all() and (found.acceleration[~c] == 0).all()


def test_a_reaction_exactly_at_its_bound_holds():
    found = box(np.array([[0.5]]), np.array([1.5]), np.array([-3.0]), np.array([3.0]))
    assert found.reaction == [-3.0] and found.acceleration == [0.0]
