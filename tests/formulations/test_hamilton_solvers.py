"""Iterations for A z = p - a: what their stop rules promise, and how many operations everything takes, as exact integers.

Numbers of iterations are compared with the reference as trends only: h, starts and cases of the source are not known.
"""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert import hamilton

DATA = json.loads((Path(__file__).parents[1] / "data" / "reference" / "hamiltonian_qp.json").read_text())
METHODS = ("minimal_residuals", "conjugate_directions")
SIZES = (2, 5, 10, 20)


class Counted:
    """A float that counts its operations; a structural zero is free."""

    count = dict.fromkeys(("mul", "add", "div"), 0)

    def __init__(self, value):
        self.value = float(value)

    def _made(self, operation, value):
        Counted.count[operation] += 1
        return Counted(value)

    def __add__(self, other):
        return self if type(other) is int and other == 0 else self._made("add", self.value + float(other))

    def __sub__(self, other):
        return self if type(other) is int and other == 0 else self._made("add", self.value - float(other))

    def __rsub__(self, other):
        return -self if type(other) is int and other == 0 else self._made("add", float(other) - self.value)

    def __mul__(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented                                                    # entry by entry
        return 0 if type(other) is int and other == 0 else self._made("mul", self.value * float(other))

    def __truediv__(self, other):
        return self._made("div", self.value / float(other))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return Counted(-self.value)

    def __abs__(self):
        return Counted(abs(self.value))

    def __float__(self):
        return self.value

    def __pow__(self, exponent):      # the root of a norm, once per solution
        return Counted(self.value ** exponent)

    def __lt__(self, other):
        return self.value < float(other)

    def __le__(self, other):
        return self.value <= float(other)

    def __gt__(self, other):
        return self.value > float(other)


def counted(f):
    """f() and (multiplications, additions, divisions)."""
    Counted.count = dict.fromkeys(("mul", "add", "div"), 0)
    result = f()
    return result, tuple(Counted.count.values())


def numbers(values):
    return [Counted(x) for x in values]


def floats(values):
    return np.array([float(x) for x in values])


def state(n, seed=0):
    """A chain, q and qd: a smooth curve, folding."""
    rng = np.random.default_rng(seed)
    chain = hamilton.planar_chain([1] * n, [1] * n)
    return chain, np.cumsum(rng.uniform(-0.5, 0.5, n)), rng.standard_normal(n)


def at(chain, q):
    """Configuration of counted numbers; sines and cosines are given."""
    return hamilton.ChainConfiguration(chain, numbers(np.sin(q)), numbers(np.cos(q)))


def product_of(configuration):
    return lambda x: np.array(configuration.product(list(x)))


# --- operations -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("n", SIZES)
def test_operations_of_the_products(n):
    chain, q, z = state(n)
    (configuration), scaling = counted(lambda: at(chain, q))
    assert scaling == (4 * n, 0, 0)
    assert counted(lambda: configuration.product(numbers(z)))[1] == (11 * n - 4, 10 * n - 10, 0)
    assert chain.product_operations == (11 * n - 4, 10 * n - 10, 0)
    assert counted(lambda: configuration._scaled)[1] == (2 * n, 0, 0)
    assert counted(lambda: configuration.semiseparable_product(numbers(z)))[1] == (9 * n - 8, 8 * n - 12, 0)
    assert counted(lambda: configuration.gradient(numbers(z)))[1] == (12 * n - 4, 10 * n - 10, 0)


def a_step(chain, q, p, h, solve):
    """A step of the source from given sines and cosines: all that it costs."""
    configuration = at(chain, q.tolist())
    z = solve(configuration, p)
    gradient = configuration.gradient(z)
    Q = numbers(np.zeros(chain.n))
    return [a + h * b for a, b in zip(numbers(q), z)], [a + h * (b + c) for a, b, c in zip(p, gradient, Q)], z


def without_solution(chain, q, p, z):
    """What a step costs besides the solution: scaled sines, momentum rate, updates."""
    return np.array(counted(lambda: a_step(chain, q, p, 0.01, lambda configuration, p: numbers(z)))[1])


def solution_of(method, chain, q, p, start, stop, limit):
    """A solution on counted numbers, its own counters and the counted operations."""
    configuration = at(chain, q)
    return counted(lambda: getattr(hamilton, method)(product_of(configuration), np.array(p), np.array(numbers(start)), stop,
                                                     limit, chain.product_operations))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("N", (1, 3))
def test_operations_of_a_step_with_minimal_residuals(n, N):
    """29n + 16nN multiplications, 24n + 15nN additions to leading order: exactly these; not 12n + 16nN, as printed."""
    chain, q, z = state(n)
    p = numbers(hamilton.momenta(chain, q, z))
    solution, spent = solution_of("minimal_residuals", chain, q, p, 0.9 * z, hamilton.Stop("step", 1e-300), N)
    judging = 2 * N                                                                  # gamma^2 |y|^2, in place of roots
    assert spent == (solution.operations[0] + judging, *solution.operations[1:])
    total = without_solution(chain, q, p, z) + solution.operations
    assert solution.iterations == N
    assert tuple(total) == (29 * n - 8 + N * (16 * n - 4), 24 * n - 20 + N * (15 * n - 13), N)


@pytest.mark.parametrize("n", SIZES)
def test_operations_of_a_step_with_n_conjugate_directions(n):
    """16n^2 + 26n - 8 multiplications, 15n^2 + 13n - 21 additions, 2n divisions; not 6n^2 + 13n, as printed."""
    chain, q, z = state(n)
    p = numbers(hamilton.momenta(chain, q, z))
    solution, spent = solution_of("conjugate_directions", chain, q, p, 0 * z, hamilton.Stop("residual", 1e-300), n)
    assert spent == (solution.operations[0] + n + 1, solution.operations[1] + n - 1, 2 * n)      # + |b| of the rule
    total = without_solution(chain, q, p, z) + solution.operations
    assert solution.iterations == n
    assert tuple(total) == (16 * n * n + 26 * n - 8, 15 * n * n + 13 * n - 21, 2 * n)
    error = np.abs(floats(solution.z) - z).max()
    assert error < 1e-9 if n < 10 else error > 1e-6                                  # n directions end it but for rounding


@pytest.mark.parametrize("n", SIZES)
def test_operations_of_a_step_with_the_exact_sweep(n):
    """Fewer than 43n - 3 multiplications and 32n - 10 additions, with as many divisions: L s and L k serve the sweep too."""
    chain, q, z = state(n)
    p = numbers(hamilton.momenta(chain, q, z))
    (*_, found), spent = counted(lambda: a_step(chain, q, p, 0.01, lambda configuration, p: configuration.solution(p)))
    assert np.abs(floats(found) - z).max() < 1e-11
    assert spent == (37 * n - 14, 32 * n - 27, 3 * n)
    assert spent[0] < 29 * n - 8 + 16 * n - 4                                        # one minimal residual costs more


class AsWritten:
    """The formulas of the spec term by term: zeros at the base and at the tip take part as any other number."""

    def __init__(self, chain, q):
        self.chain, self.n = chain, chain.n
        self.s, self.k = numbers(np.sin(q)), numbers(np.cos(q))
        self.ls, self.lk = ([l * x for l, x in zip(chain.l, v)] for v in (self.s, self.k))
        self.Ls, self.Lk = ([L * x for L, x in zip(chain.L, v)] for v in (self.s, self.k))

    def momenta(self, z):
        """Outward: m v of the mass centres."""
        found, (X, Y) = [], numbers([0, 0])
        for i, m in enumerate(self.chain.m):
            found.append((m * (X - z[i] * self.ls[i]), m * (Y + z[i] * self.lk[i])))
            X, Y = X - z[i] * self.Ls[i], Y + z[i] * self.Lk[i]
        return found

    def product(self, z):
        """2.1 (a)."""
        found, (Fx, Fy), momenta = [], numbers([0, 0]), self.momenta(z)
        for i in reversed(range(self.n)):
            px, py = momenta[i]
            found.insert(0, self.chain.J[i] * z[i] + self.lk[i] * py - self.ls[i] * px + self.Lk[i] * Fy - self.Ls[i] * Fx)
            Fx, Fy = Fx + px, Fy + py
        return found

    def gradient(self, z):
        """2.2."""
        found, (Fx, Fy), momenta = [], numbers([0, 0]), self.momenta(z)
        for i in reversed(range(self.n)):
            px, py = momenta[i]
            value = self.lk[i] * px + self.Lk[i] * Fx + self.ls[i] * py + self.Ls[i] * Fy
            found.insert(0, -(z[i] * value) - self.chain.g * self.chain.c[i] * self.s[i])
            Fx, Fy = Fx + px, Fy + py
        return found

    def solution(self, b):
        """2.3: w = m l t + L P t,  delta = (J + m l^2) + L^2 t.P t,  gamma = b + L t.sigma,  u <- u + L z t."""
        kept, (Pxx, Pxy, Pyy, sx, sy, ux, uy) = [], numbers(np.zeros(7))
        for i in reversed(range(self.n)):
            tx, ty, L, m = -self.s[i], self.k[i], Counted(self.chain.L[i]), self.chain.m[i]
            Px, Py = Pxx * tx + Pxy * ty, Pxy * tx + Pyy * ty
            wx, wy = m * -self.ls[i] + L * Px, m * self.lk[i] + L * Py
            delta = self.chain.d0[i] + L * L * (tx * Px + ty * Py)
            gamma = b[i] + L * (tx * sx + ty * sy)
            vx, vy, rate = wx / delta, wy / delta, gamma / delta
            Pxx, Pxy, Pyy = Pxx + m - wx * vx, Pxy - wx * vy, Pyy + m - wy * vy
            sx, sy = sx - wx * rate, sy - wy * rate
            kept.append((vx, vy, rate, L, tx, ty))
        z = []
        for vx, vy, rate, L, tx, ty in reversed(kept):
            z.append(rate - (vx * ux + vy * uy))
            speed = L * z[-1]
            ux, uy = ux + speed * tx, uy + speed * ty
        return z


@pytest.mark.parametrize("n", SIZES)
def test_operations_of_the_formulas_as_they_are_written(n):
    """29n + 16nN and 24n + 15nN are exact where zeros are counted; so is 43n, 32n, 3n of the exact sweep.

    The gradient's zeros are 4 products and 10 sums: 43n - 4, 32n - 10. The spec's 43n - 3 goes with the same 32n - 10 and 3n:
    one product more that does not grow with n, but every product of the formulas is made once for each link.
    """
    chain, q, z = state(n)
    p = numbers(hamilton.momenta(chain, q, z))
    at_q, scaling = counted(lambda: AsWritten(chain, q))
    found, sweep = counted(lambda: at_q.solution(p))
    product, multiplying = counted(lambda: at_q.product(numbers(z)))
    gradient, rate = counted(lambda: at_q.gradient(numbers(z)))
    assert np.abs(floats(found) - z).max() < 1e-11 and np.abs(floats(product) - floats(p)).max() < 1e-12
    assert np.abs(floats(gradient) - hamilton.lagrangian_gradient(chain, q, z)).max() < 1e-11
    updates, residual, iteration = (2 * n, 3 * n, 0), (0, n, 0), (5 * n, 5 * n, 1)      # h z, h p', p' + Q; A xi - b; below
    assert scaling == (4 * n, 0, 0) and multiplying == (11 * n, 10 * n, 0) and rate == (12 * n, 10 * n, 0)
    assert sweep == (25 * n, 19 * n, 3 * n)
    total = np.array([scaling, multiplying, residual, rate, updates]).sum(axis=0)
    assert tuple(total) == (29 * n, 24 * n, 0)
    assert tuple(np.array([multiplying, iteration]).sum(axis=0)) == (16 * n, 15 * n, 1)      # w.y, w.w, |y|^2, xi, y: each n
    exact = np.array([scaling, sweep, rate, updates]).sum(axis=0)
    assert tuple(exact) == (43 * n, 32 * n, 3 * n)
    configuration = at(chain, q)
    zeros = np.array(rate) - counted(lambda: configuration.gradient(numbers(z)))[1]
    assert tuple(zeros) == (4, 10, 0) and tuple(exact - zeros) == (43 * n - 4, 32 * n - 10, 3 * n)


# --- what the iterations and rules promise ---------------------------------------------------------------------------

def problem(n, seed=0):
    chain, q, z = state(n, seed)
    A = hamilton.mass_matrix(chain, q)
    return chain, q, z, A, A @ z


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", (2, 5, 10))
def test_iterations_run_to_convergence_solve_the_system(method, n):
    chain, q, z, A, p = problem(n)
    found = hamilton.velocities(chain, q, p, solver=hamilton.Solver(method, "residual", 1e-13))
    assert np.abs(A @ found - p).max() <= 1e-12 * np.abs(p).max()


@pytest.mark.parametrize("n", (3, 10, 20))
def test_minimal_residuals_keep_their_bounds(n):
    """1/lambda_max <= gamma <= 1/lambda_min, contraction (kappa-1)/(kappa+1), D increases and stays below H."""
    chain, q, z, A, p = problem(n)
    values = np.linalg.eigvalsh(A)
    found = hamilton.minimal_residuals(lambda x: A @ x, p, np.zeros(n), hamilton.Stop("residual", 1e-6), keep=True)
    gammas = np.array(found.gammas)
    assert (1 / values[-1] <= gammas * (1 + 1e-12)).all() and (gammas <= (1 + 1e-12) / values[0]).all()
    norms = np.array([np.linalg.norm(A @ xi - p) for xi in found.iterates])
    kappa = values[-1] / values[0]
    assert (norms[1:] <= norms[:-1] * (kappa - 1) / (kappa + 1) * (1 + 1e-9)).all()
    H = hamilton.hamiltonian(chain, q, p)
    D = hamilton.objective(chain, np.tile(q, (len(norms), 1)), p, np.array(found.iterates))
    assert (np.diff(D) > -1e-12 * abs(H)).all() and (D <= H * (1 + 1e-12 * np.sign(H))).all()


def test_gap_of_the_objective_is_the_energy_of_the_error():
    chain, q, z, A, p = problem(5)
    e = np.random.default_rng(1).standard_normal(5)
    gap = hamilton.hamiltonian(chain, q, p) - hamilton.objective(chain, q, p, z + e)
    assert abs(gap / (e @ A @ e / 2) - 1) < 1e-10


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", (3, 10, 20))
def test_rule_of_the_error_bounds_the_error_and_rule_of_the_step_does_not(method, n):
    chain, q, z, A, p = problem(n)
    for tolerance in (1e-3, 1e-6):
        rigorous = hamilton.velocities(chain, q, p, solver=hamilton.Solver(method, "error", tolerance))
        assert np.linalg.norm(rigorous - z) <= tolerance
        if method == "minimal_residuals":
            source = hamilton.velocities(chain, q, p, solver=hamilton.Solver(method, "step", tolerance))
            assert np.linalg.norm(source - z) > 3 * tolerance


def test_lower_estimate_of_gamma_weakens_the_rule():
    """(3.4) stops later with a larger gamma: the running maximum is the stronger test, a smaller constant the weaker."""
    chain, q, z, A, p = problem(10)
    runs = {rule: hamilton.minimal_residuals(lambda x: A @ x, p, np.zeros(10), hamilton.Stop(rule, 1e-3))
            for rule in ("step", "estimate")}
    assert runs["estimate"].iterations >= runs["step"].iterations


def test_steps_of_minimal_residuals_are_not_monotone():
    given = DATA["euler_step"]["minimal_residual_iterates"]
    c = next(c for c in DATA["static_cases"] if c["name"] == "n2")
    chain = hamilton.planar_chain(*(c["parameters"][k] for k in ("m", "L", "l", "J", "g")))
    q, p = DATA["euler_step"]["q1"], np.array(DATA["euler_step"]["p1"])
    A = hamilton.mass_matrix(chain, q)
    found = hamilton.minimal_residuals(lambda x: A @ x, p, np.array(given[0]["xi"]), hamilton.Stop("residual", 1e-3), keep=True)
    steps = np.linalg.norm(np.diff(found.iterates, axis=0), axis=1)
    m = min(len(steps), len(given))
    assert np.allclose(steps[:m], [g["step"] for g in given[:m]], rtol=1e-9)
    assert steps[1] > steps[0] > steps[2]
    early = hamilton.minimal_residuals(lambda x: A @ x, p, np.array(given[0]["xi"]), hamilton.Stop("step", 0.03))
    assert early.iterations == 1 and np.linalg.norm(early.z - DATA["euler_step"]["z1"]) > 0.14


def test_iterations_grow_as_the_condition_and_as_its_root():
    """Trend of the reference: kappa of a straight chain is 4.86 n^2, so O(n^2) and O(n) iterations."""
    counts = {method: [] for method in METHODS}
    for n in (5, 10, 20):
        chain, q = state(n)[0], np.full(n, np.pi / 4)
        for method in METHODS:
            solver = hamilton.Solver(method, "residual", 1e-6, warm=False)
            for seed in range(5):
                hamilton.velocities(chain, q, np.random.default_rng(seed).standard_normal(n), solver=solver)
            counts[method].append(solver.iterations / 5)
    MR, CG = counts["minimal_residuals"], counts["conjugate_directions"]
    assert MR[1] > 2.5 * MR[0] and MR[2] > 2.5 * MR[1]
    assert CG[0] <= 5 and CG[2] <= 30 and all(a > 5 * b for a, b in zip(MR, CG))


@pytest.mark.parametrize("method", METHODS)
def test_warm_start_and_extrapolation_save_iterations(method):
    chain, q, z = state(10)
    counts = {}
    for name, options in {"cold": {"warm": False}, "warm": {}, "extrapolated": {"extrapolate": True}}.items():
        solver = hamilton.Solver(method, "error", 1e-4, **options)
        for k in range(8):                                                          # along a motion
            here, rate = q + 1e-3 * k * z, z * (1 + 0.1 * np.sin(1e-2 * k))
            solver.solve(chain, chain.configuration(here.tolist()), hamilton.momenta(chain, here, rate).tolist())
        counts[name] = solver.iterations
        assert solver.solutions == 8
    assert counts["cold"] > counts["warm"] > counts["extrapolated"]


def test_reset_forgets_the_last_answer_and_the_counts():
    chain, q, z, A, p = problem(5)
    solver = hamilton.Solver("conjugate_directions", "error", 1e-10)
    hamilton.velocities(chain, q, p, solver=solver)
    first = solver.iterations
    hamilton.velocities(chain, q, p, solver=solver)
    assert solver.iterations == first and solver.solutions == 2                      # at the answer already
    solver.reset()
    assert (solver.iterations, solver.solutions, solver.operations) == (0, 0, (0, 0, 0))
    hamilton.velocities(chain, q, p, solver=solver)
    assert solver.iterations == first
    solver.reset(start=z)
    hamilton.velocities(chain, q, p, solver=solver)
    assert solver.iterations == 0


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_a_batch_stop_on_their_own(method):
    chain, *_ = state(6)
    rng = np.random.default_rng(2)
    q, z = rng.uniform(-3, 3, (4, 6)), rng.standard_normal((4, 6))
    p = hamilton.momenta(chain, q, z)
    together = hamilton.solve(chain, q, p, hamilton.Solver(method, "error", 1e-8))
    assert np.linalg.norm(together.z.T - z, axis=1).max() <= 1e-8
    alone = [hamilton.solve(chain, q[k], p[k], hamilton.Solver(method, "error", 1e-8)).iterations for k in range(4)]
    assert np.abs(together.iterations - alone).max() <= (1 if method == "conjugate_directions" else 0)


def test_iterations_solve_spatial_trees():
    for seed in (6, 13):
        m = da.random_tree(seed, 6)
        q, qd = m.random_state(seed)
        for method in METHODS:
            solver = hamilton.Solver(method, "error", 1e-6)
            found = hamilton.velocities(m, q, hamilton.momenta(m, q, qd), solver=solver)
            assert np.linalg.norm(found - qd) <= 1.01e-6
            assert solver.operations.multiplications > solver.iterations * 5 * m.nv


def test_faults_of_iterations_say_what_to_do():
    chain, q, z, A, p = problem(20)
    with pytest.raises(hamilton.NotConvergedError, match="minimal_residuals made 10 iterations.*Use solver='sweep'") as caught:
        hamilton.velocities(chain, q, p, solver=hamilton.Solver("minimal_residuals", limit=10))
    assert caught.value.iterations == 10 and caught.value.residual > 0
    with pytest.raises(da.UnknownNameError, match="unknown stop rule 'stepp'.*Did you mean 'step'"):
        hamilton.Solver("minimal_residuals", "stepp")
    with pytest.raises(ValueError, match="tolerance is 0, expected a positive number"):
        hamilton.Solver("minimal_residuals", "step", 0)
    with pytest.raises(da.UnknownNameError, match="unknown iteration 'gauss'"):
        hamilton.Solver("gauss")
    point = hamilton.planar_chain([1], [1], [1], [0])
    with pytest.raises(ValueError, match="rule 'error' needs a positive lower bound"):
        hamilton.velocities(point, [0], [1], solver="minimal_residuals")
    with da.Graph(), pytest.raises(TypeError, match="minimal_residuals stops by values: expressions take solver='sweep'"):
        hamilton.velocities(chain, da.symbols("q", 20), da.symbols("p", 20), solver="minimal_residuals")


def test_the_experiment_runs_and_its_ways_to_solve_agree():
    path = Path(__file__).parents[2] / "benchmarks" / "hamilton_experiment.py"
    spec = importlib.util.spec_from_file_location("hamilton_experiment", path)
    experiment = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(experiment)
    experiment.WARM_UP = 0.01
    rows = experiment.study((3,), (1e-3,), (1e-3,), 2)
    assert len(rows) == 3 * 3 * 2 * 2 and not any(r["capped"] for r in rows)
    assert all(r["error"] <= 1e-3 for r in rows if r["rule"] == "true_error")
    (_, _, _, last), (s, k, p, z) = experiment.states(3, 1, 1e-3, 2)[:2]
    for method in METHODS:
        plain = experiment.solution(3, method, s, k, p, last, hamilton.Stop("residual", 1e-9))
        xi, N = experiment.unrolled(3, method)(s, k, p, last, 1e-9)
        assert N == plain.iterations and np.allclose(xi, plain.z, rtol=0, atol=1e-12) and np.allclose(xi, z, rtol=0, atol=1e-6)
