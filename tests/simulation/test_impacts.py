"""The law of impacts: its closed forms and conditions on numbers, and the same text compiled."""

import itertools

import numpy as np
import pytest

from dalembert.expr import Graph
from dalembert.native.routine import Routine
from dalembert.simulation.impacts import impact, is_short
from dalembert.simulation.lcp import bounded
from dalembert.simulation.repetition import traced
from dalembert.tracing.trace import Trace


def random_case(rng, n):
    """A mass matrix, velocities and stops of n entries, some of which rest."""
    L = rng.normal(size=(n, n)) + np.eye(n) * rng.choice([0.1, 1.0])
    v = rng.normal(size=n) * rng.choice([0.0, 1.0, 1.0], n)
    locked = 1.0 * (rng.random(n) < 0.15)
    return L @ L.T + 1e-3 * np.eye(n), v, np.where(locked, 1.0, rng.choice([-1.0, 0.0, 1.0], n)), rng.random(n), locked


def test_one_stop_gives_back_a_part_of_the_velocity_and_moves_all_joints():
    rng = np.random.default_rng(0)
    L = rng.normal(size=(3, 3))
    N, v, e = np.linalg.inv(L @ L.T), np.array([0.3, -2.0, 0.5]), 0.6
    found = impact(N, v, [0.0, 1.0, 0.0], [e] * 3, [0.0] * 3)
    assert np.abs(found.velocity - (v + N[:, 1] * (1 + e) * 2.0 / N[1, 1])).max() < 1e-13 and list(found.met) == [0.0, -2.0, 0.0]
    assert abs(found.velocity[1] - e * 2.0) < 1e-14 and abs(found.impulse[1] - (1 + e) * 2.0 / N[1, 1]) < 1e-13


def test_two_stops_that_are_met_together_both_give_back_their_part():
    """Sliders of 2 kg and 1 kg, one on the other, M = [[3, 1], [1, 1]], at both upper stops: v+ = -e v."""
    found = impact(np.linalg.inv([[3.0, 1.0], [1.0, 1.0]]), np.array([0.375, 0.25]), [-1.0, -1.0], [0.5, 0.5], [0.0, 0.0])
    assert np.abs(found.velocity - [-0.1875, -0.125]).max() < 1e-15 and (found.impulse < 0).all()


def test_nothing_happens_where_no_stop_is_moved_into():
    found = impact(np.eye(2), np.array([1.0, -1.0]), [1.0, 0.0], [0.5, 0.5], [0.0, 0.0])
    assert (found.velocity == [1.0, -1.0]).all() and (found.impulse == 0).all() and list(found.met) == [0.0, 0.0]


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_impulses_push_complement_velocities_and_never_add_energy(n):
    rng, hits = np.random.default_rng(n), 0
    for _ in range(150):
        M, v, out, e, locked = random_case(rng, n)
        found = impact(np.linalg.inv(M), v, out, e, locked)
        p, after = out * found.impulse, out * found.velocity
        assert np.abs(M @ (found.velocity - v) - found.impulse).max() < 1e-8 * (1 + np.abs(found.impulse).max())
        part = (out != 0) & (locked == 0) & (out * v <= 0)
        slack = after + (0 if (locked * v).any() else e) * np.minimum(out * v, 0)
        scale = 1e-9 * (1 + np.abs(v).max() + np.abs(np.linalg.inv(M) @ found.impulse).max())
        assert (p[locked == 0] >= 0).all() and (slack[part] > -scale).all() and np.abs((p * slack)[part]).max(initial=0) < scale * (
            1 + np.abs(p).max())
        assert (p[~part & (locked == 0)] == 0).all()
        assert (found.velocity[(locked > 0) & (np.abs(found.impulse).max() > 0)] == 0).all()
        before, now = v @ M @ v, found.velocity @ M @ found.velocity
        assert now <= before * (1 + 1e-9) + 1e-12
        hits += p.any()
    assert hits > 20


def test_the_law_is_the_one_case_of_all_that_holds():
    """All 2^n cases of stops that push or do not."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        M, v, out, e, _ = random_case(rng, 3)
        out = np.where(out == 0, 1.0, out)
        v = -out * np.abs(v)
        N = out[:, None] * np.linalg.inv(M) * out
        goal, found = (1 - 0 * e) * out * v + e * out * v, impact(np.linalg.inv(M), v, out, e, np.zeros(3))
        for case in itertools.product((False, True), repeat=3):
            push, p = np.array(case), np.zeros(3)
            p[push] = np.linalg.solve(N[np.ix_(push, push)], -goal[push])
            if (p >= 0).all() and (N @ p + goal >= -1e-10).all():
                assert np.abs(out * found.impulse - p).max() < 1e-7 * (1 + np.abs(p).max())
                break
        else:
            raise AssertionError("no case holds")


def test_compiled_text_gives_the_same_velocities():
    n, rng = 3, np.random.default_rng(9)
    sizes = {"N": n * n, "v": n, "out": n, "e": n, "locked": n}
    with Graph():
        trace = Trace(sizes | {"after": n, "impulse": n})
        N, *rest = [trace.registers[name] for name in sizes]
        found = impact(N.reshape(n, n), *rest, repeat=traced(trace))
        trace.give({"after": found.velocity, "impulse": found.impulse})
    routine = Routine(trace.program(tuple(sizes), ("after", "impulse")))
    cases = [random_case(rng, n) for _ in range(40)]
    given = [np.array([np.linalg.inv(M).ravel() for M, *_ in cases]), *(np.array([c[k] for c in cases]) for k in range(1, 5))]
    after, impulse = routine(*given)
    for k, (M, *rest) in enumerate(cases):
        alone = impact(np.linalg.inv(M), *rest)
        assert np.abs(after[k] - alone.velocity).max() < 1e-9 * (1 + np.abs(alone.velocity).max())
        assert np.abs(impulse[k] - alone.impulse).max() < 1e-8 * (1 + np.abs(alone.impulse).max())


def test_complementarity_on_numbers_is_the_compiled_one():
    r, a = bounded(np.array([[0.5]]), np.array([1.5]), [-3.0], [3.0], [1.0])
    assert r == [-3.0] and a == [0.0]
    r, a = bounded(np.eye(2), np.array([1.0, -5.0]), [-2.0, -2.0], [2.0, 2.0], [1.0, 1.0])
    assert r.tolist() == [-1.0, 2.0] and a.tolist() == [0.0, -3.0]


def test_flights_end_at_the_same_stop_or_at_the_other():
    assert is_short(1.0, 1.0, -200.0, 10.0, 0.0101) == 1 and is_short(1.0, 1.0, -200.0, 10.0, 0.0099) == 0      # 2 v/a = 0.01
    assert is_short(-1.0, -1.0, 0.0, 1e-3, 1.1e-3) == 1 and is_short(-1.0, -1.0, 0.0, 1e-3, 0.9e-3) == 0        # room/v
    assert is_short(0.0, 1.0, -200.0, 0.0, 1.0) == 0 and is_short(1.0, 0.0, -200.0, 1.0, 1.0) == 0
