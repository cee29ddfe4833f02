"""Rodas5P: its order conditions, stability, steps on stiff equations, and steps refused."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

from dalembert.compiled.propagation import propagator
from dalembert.integrators import method, records, rodas5p
from dalembert.integrators.stage_equations import LinearisedRate, StageEquations
from dalembert.integrators.triangular import TriangularFactors

STEP = method("rodas5p").step
STAGES = len(rodas5p.C)


def lower(rows):
    return np.array([[*row, *np.zeros(STAGES - len(row))] for row in rows])


def tableau():
    """alpha, beta = alpha + Gamma of the method in its usual form, and Gamma (Hairer, Wanner II, IV.7)."""
    Gamma = np.linalg.inv(np.eye(STAGES) / rodas5p.GAMMA - lower(rodas5p.COUPLING))
    alpha = lower(rodas5p.A) @ Gamma
    return alpha, alpha + Gamma, Gamma


def trees(order):
    """Rooted trees of an order, as tuples of their branches."""
    def forests(order, largest):
        if order == 0:
            yield ()
        for size in range(min(order, largest), 0, -1):
            for count in range(1, order // size + 1):
                for group in combinations_with_replacement(trees(size), count):
                    for others in forests(order - size * count, size - 1):
                        yield (*group, *others)
    return list(forests(order - 1, order - 1))


def size(tree):
    return 1 + sum(map(size, tree))


def density(tree):
    return size(tree) * np.prod([density(branch) for branch in tree])


def weight(tree, alpha, beta):
    """Elementary weights of the stages: a vertex with one branch has beta, others alpha."""
    matrix = beta if len(tree) == 1 else alpha
    return np.prod([np.ones(STAGES), *(matrix @ weight(branch, alpha, beta) for branch in tree)], axis=0)


def test_there_are_as_many_trees_as_there_should_be():
    assert [len(trees(order)) for order in range(1, 6)] == [1, 1, 2, 4, 9]


@pytest.mark.parametrize(("last", "orders"), [((1,), 5), ((0,), 4)])
def test_conditions_of_order_5_hold_and_of_order_4_for_the_estimate(last, orders):
    alpha, beta, Gamma = tableau()
    b = np.array([*rodas5p.A[-1], *last]) @ Gamma
    for order in range(1, orders + 1):
        for tree in trees(order):
            assert abs(b @ weight(tree, alpha, beta) - 1 / density(tree)) < 1e-13
    missed = [abs(b @ weight(tree, alpha, beta) - 1 / density(tree)) for tree in trees(orders + 1)]
    assert max(missed) > 1e-4


def test_nodes_are_sums_of_the_rows():
    alpha, _, Gamma = tableau()
    assert np.allclose(alpha.sum(axis=1), rodas5p.C, atol=1e-13, rtol=0)
    assert np.allclose(Gamma.sum(axis=1), rodas5p.D, atol=1e-13, rtol=0)


def grown(z):
    """|R(z)|, by a step of the method over x' = z x of a complex z."""
    A = np.array([[z.real, -z.imag], [z.imag, z.real]])
    f = LinearisedRate(lambda t, x: A @ x, lambda t, x: (A, np.zeros(2)))
    x, *_ = STEP(f, 0.0, np.array([1.0, 0.0]), 1.0, A[:, 0])
    return np.hypot(*x)


def test_it_is_l_stable():
    left = [r * np.exp(1j * angle) for r in np.geomspace(1e-2, 1e6, 60) for angle in np.linspace(np.pi / 2, np.pi, 7)]
    assert max(grown(z) for z in left) < 1 + 1e-9
    assert grown(complex(-1e9)) < 1e-7 and grown(1e9j) < 1e-7
    assert abs(grown(-0.1 + 0.3j) - np.exp(-0.1)) < 1e-6


def van_der_pol(t, x, p):
    return np.array([x[1], p[0] * (1 - x[0] * x[0]) * x[1] - x[0]])


# mu = 1000, from (2, 0): Mazzia, Magherini, Test Set for Initial Value Problem Solvers (2008), problem VDPOL, in time
# and velocity of x'' = mu (1 - x^2) x' - x
VAN_DER_POL = [1.706167732170483, -0.8928097010247975e-3]


def test_van_der_pols_oscillator_of_mu_1000_takes_few_steps():
    pair = propagator(van_der_pol, 2, 1, method("rodas5p"))
    times, mu = np.array([0.0, 2000.0]), np.array([1000.0])
    for rtol, steps in ((1e-6, 500), (1e-9, 2000)):
        found = pair.run(np.array([[2.0, 0.0]]), times, 1e-4, mu, 10_000, rtol=rtol, atol=rtol)
        assert np.abs(found.x[0, -1] / VAN_DER_POL - 1).max() < 300 * rtol and found.steps[0, -1] < steps
    *_, last = records(method("rodas5p"), lambda t, x: van_der_pol(t, x, mu), [2.0, 0.0], times, 1e-4, 10_000, 1e-6, 1e-6)
    assert np.abs(last.x / VAN_DER_POL - 1).max() < 3e-4 and last.steps < 500


def test_order_4_between_the_ends_of_a_step():
    """x' = -x^2 + cos t: the polynomial in a step against steps that end there."""
    f = lambda t, x: -x * x + np.cos(t)  # noqa: E731
    errors = []
    for h in (0.2, 0.1, 0.05):
        x = np.array([0.5])
        new, _, k = STEP(f, 0.3, x, h, f(0.3, x))
        *_, exact = records(method("dop853"), f, x, np.array([0.3, 0.3 + 0.4 * h]), h, 1000, 1e-13, 1e-14)
        errors.append(abs(rodas5p.between(x, new, h, k, 0.4) - exact.x)[0])
    assert np.all(np.log2(errors[:-1] / np.array(errors[1:])) > 4.5)


def test_coefficients_are_those_of_the_polynomial_and_bend_bounds_it():
    from dalembert.integrators.search import hermite, value

    random = np.random.default_rng(3)
    x, new, *k = random.normal(size=(8, 5))
    k[1], h = new - x, 0.7
    own, cubic = rodas5p.coefficients(x, new, h, k), hermite(x, new, k[0], k[-1], h)
    off = []
    for s in np.linspace(0, 1, 41):
        assert np.allclose(value(own, s), rodas5p.between(x, new, h, k, s), atol=1e-13)
        off.append(np.abs(value(own, s) - value(cubic, s)))
    bound = rodas5p.bend(h, k)
    assert (np.max(off, axis=0) <= bound).all() and (np.max(off, axis=0) > bound / 20).all()


def test_factors_solve_and_a_lost_pivot_refuses_the_step():
    random = np.random.default_rng(1)
    A = random.normal(size=(6, 6)) + 8 * np.eye(6)
    b = random.normal(size=6)
    assert np.allclose(A @ TriangularFactors.of(A).solved(b).astype(float), b, atol=1e-13)
    singular = LinearisedRate(lambda t, x: x, lambda t, x: (np.eye(2), np.zeros(2)))
    with np.errstate(all="ignore"):
        k = StageEquations(singular, 0.0, np.ones(2), 1.0).solved(np.ones(2))
    assert not np.isfinite(k.astype(float)).any()


def test_a_pole_of_the_solution_ends_it_with_a_reason():
    """x' = x^2 from 1 has its pole at t = 1."""
    *_, last = records(method("rodas5p"), lambda t, x: x * x, [1.0], np.array([0.0, 2.0]), 0.1, 100_000, 1e-8, 1e-8)
    assert last.failed and abs(last.t - 1) < 1e-6


def test_long_states_and_several_trajectories_are_as_single_ones():
    """60 rates from 1 to 1e6 per second: a state longer than the rows of loops; closed form of logistic growth."""
    rates = np.geomspace(1, 1e6, 60)

    def growth(t, x, p):
        return rates * x * (p[0] - x)

    pair = propagator(growth, 60, 1, method("rodas5p"))
    p, times = np.linspace(0.5, 2.0, 5)[:, None], np.array([0.0, 0.1, 3.0])
    together = pair.run(np.full((5, 60), 0.1), times, 1e-7, p, 1000, rtol=1e-7, atol=1e-9)
    alone = [pair.run(np.full((1, 60), 0.1), times, 1e-7, row, 1000, rtol=1e-7, atol=1e-9) for row in p]
    assert np.array_equal(np.concatenate([run.x for run in alone]), together.x) and together.steps.max() < 400
    exact = p / (1 + (p / 0.1 - 1) * np.exp(-rates * p * 3.0))
    assert np.abs(together.x[:, -1] - exact).max() < 1e-5
