"""The search of a step on numbers: polynomials that touch and pass, functions that are sampled, and where a zero is."""

import numpy as np
import pytest

from dalembert.integrators import METHODS, search
from dalembert.integrators.crossing import DONE, FIRST, Locating, located
from dalembert.integrators.method_kinds import STEEP
from dalembert.integrators.search import (
    CLEAR,
    FOUND,
    LEAST,
    SEARCHING,
    depth_of,
    following,
    restricted,
    sampled,
)


def found(c, side=-1.0):
    """The interval in which a depth with Bernstein coefficients c becomes 0 first; None if it does not."""
    a, w, state, looks = 0.0, 1.0, SEARCHING, 0
    while state == SEARCHING:
        looked = depth_of(restricted(c, a, w), side, w)
        before, looks = a, looks + 1
        a, w, state = following(a, w, [looked])
        side = looked.side if a > before else side
    assert looks < search.MOST
    return (a, a + w) if state == FOUND else None


def powers(c):
    """The polynomial of Bernstein coefficients, by interpolation."""
    s = np.linspace(0, 1, len(c))
    return np.polynomial.Polynomial.fit(s, [search.value(c, x) for x in s], len(c) - 1, domain=[0, 1], window=[0, 1])


@pytest.mark.parametrize("degree", [2, 3, 4, 7])
def test_the_first_zero_of_a_polynomial_is_in_the_interval_found(degree):
    rng = np.random.default_rng(degree)
    hits = 0
    for _ in range(300):
        c = [-rng.uniform(0.01, 1), *rng.uniform(-1, 0.5, degree)]
        zeros = sorted(z.real for z in powers(c).roots() if abs(z.imag) < 1e-12 and 0 < z.real <= 1)
        interval = found(c)
        assert (interval is None) == (not zeros)
        if zeros:
            hits += 1
            assert interval[0] - 1e-9 <= zeros[0] <= interval[1] + 1e-9
            assert not [z for z in zeros[1:] if interval[0] < z < interval[1]]
    assert 30 < hits < 270


def test_a_touch_counts_to_rounding_and_a_miss_does_not():
    """-(s - s0)^2 + gap as a quadratic, with s0 anywhere."""
    for s0 in (0.1, 1 / 3, 0.5, 0.987):
        for gap, counts in ((1e-12, True), (0.0, True), (-1e-14, False), (-1e-3, False)):
            c = [gap - s0 * s0, gap - s0 * s0 + s0, gap - (1 - s0) ** 2]
            assert (found(c) is not None) == counts, (s0, gap)


def test_what_begins_at_a_stop_and_leaves_it_counts_when_it_comes_back():
    assert found([0.0, -1.0, -1.0, -0.5], 0.0) is None
    back = found([0.0, -1.0, -1.0, 0.5], 0.0)
    assert back is not None and back[0] >= 0.5
    assert found([0.0, 0.0, -1.0, -1.0], 0.0) is None                  # from rest
    assert found([0.0, 1e-9, -1.0, -1.0], 0.0) is None                 # into it by the error of an extension, and out


def test_zeros_of_sampled_functions_are_told_apart():
    for spacing in (0.05, 0.1, 0.3):
        for first in np.linspace(0.01, 0.5, 7):
            zeros = np.arange(first, 1, spacing)
            a, w, state, side, seen = 0.0, 1.0, SEARCHING, -1.0, []

            def g(s, zeros=zeros):
                return -np.prod(zeros[:6] - s) * (-1) ** (len(zeros[:6]) + 1) if len(zeros) else -1.0

            side = np.sign(g(0.0))
            while a < 1 and state != CLEAR:
                looked = sampled(side, g(a + w), 0, None, w)
                before = a
                a, w, state = following(a, w, [looked])
                if state == FOUND:
                    seen.append((a, a + w))
                    a, side, state = a + w, looked.side, SEARCHING
                    w = min(LEAST, 1 - a)
                elif a > before:
                    side = looked.side
            assert len(seen) == len(zeros[:6]) and all(low <= z <= high for (low, high), z in zip(seen, zeros, strict=False))


def test_bounds_exclude_without_a_look():
    assert sampled(1.0, 0.5, 0, (0.1, 0.7), 1.0).fine == 1 and sampled(1.0, 0.5, 0, (-0.1, 0.7), 1.0).fine == 0
    assert sampled(-1.0, 0.5, -1, None, LEAST).changed == 0 and sampled(-1.0, 0.5, 1, None, LEAST).changed == 1


@pytest.mark.parametrize("name", ["dopri5", "dop853"])
def test_coefficients_are_those_of_the_dense_output(name):
    rng, method = np.random.default_rng(0), METHODS[name]
    A, x, h = rng.normal(size=(3, 3)), rng.normal(size=3), 0.7

    def f(t, x):
        return np.sin(A @ x + t)

    new, _, k = method.step(f, 0.0, x, h, f(0.0, x))
    k = [*k, *(method.extra(f, 0.0, x, h, k) if method.extra else ())]
    c = method.coefficients(x, new, h, k)
    part = restricted(c, 0.25, 0.5)
    for s in (0, 0.1, 0.37, 0.9, 1):
        assert np.abs(search.value(c, s) - method.between(x, new, h, k, s)).max() < 1e-15
        assert np.abs(search.value(part, s) - search.value(c, 0.25 + 0.5 * s)).max() < 1e-15
    low, high = search.hull(c)
    values = np.array([search.value(c, s) for s in np.linspace(0, 1, 100)])
    assert (values >= low).all() and (values <= high).all()


@pytest.mark.parametrize("name", ["dopri5", "dop853"])
def test_dense_output_is_within_its_bend_of_a_cubic(name):
    """Whatever the values of f are: it is linear in them, and does not change where all change by the same."""
    method, s = METHODS[name], np.linspace(0, 1, 1001)
    count = len(method.step(lambda t, x: 0 * x, 0.0, np.zeros(1), 1.0, np.zeros(1))[2])
    more = 3 if method.extra else 0

    def weights(j):
        """Of the value j of f, in the difference of dense output and cubic, along a step of length 1 from 0."""
        values = iter(np.eye(count + more)[j][:, None])
        new, _, k = method.step(lambda t, x: next(values), 0.0, np.zeros(1), 1.0, next(values))
        k = [*k, *values]
        return method.between(0.0, new[0], 1.0, [one[0] for one in k], s) - search.value(search.hermite(
            0.0, new[0], k[0][0], k[count - 1][0], 1.0), s)

    w = np.array([weights(j) for j in range(count + more)])
    assert np.abs(w.sum(axis=0)).max() < 1e-13
    most = np.array([0.5] * count + [6.0] * more)[:, None]           # from the middle of a range of 1
    for own, steep in ((w, 1), (np.diff(w) / np.diff(s), STEEP)):
        worst = np.sign(own) * most                                  # values of f that differ most at each s
        reach = (own * worst).sum(axis=0)
        bound = steep * method.bend(1.0, list(worst[:count]))
        assert (reach <= bound * (1 + 1e-12) + 1e-12).all() and (reach > 0.3 * bound).any()


def zero(depth, near, least=0.0, width=4e-16):
    now, looks = Locating(*map(np.float64, (FIRST, near, 0, 0, 0, 0, 0, 0.5))), 0
    while now.phase < DONE:
        s, looks = float(now.look), looks + 1
        now = Locating(*map(np.float64, located(now, near, least, np.float64(depth(s)), width)))
    return s, looks


def test_a_zero_near_a_place_is_found_in_few_looks():
    rng = np.random.default_rng(0)
    for _ in range(300):
        root = rng.random()
        near = float(np.clip(root + rng.normal() * 10 ** rng.uniform(-16, -1), 0, 1))
        s, looks = zero(lambda s, root=root: np.exp(3 * s) - np.exp(3 * root), near)
        assert abs(s - root) < 2e-15 and looks < 25


def test_where_there_is_no_zero_it_is_at_the_place_itself():
    assert zero(lambda s: -1.0, 0.3)[0] == 0.3 and zero(lambda s: 1.0, 0.3)[0] < 1e-15
    assert abs(zero(lambda s: s - 0.25, 0.3, 0.27)[0] - 0.27) < 1e-15      # nothing has happened at `least`
