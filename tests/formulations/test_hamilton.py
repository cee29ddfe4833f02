"""Hamilton's form against 40-digit reference values, its source's corrections, and the identities of the chain.

Reference: tests/data/reference/hamiltonian_qp.json (origin in its "how computed"). Tolerance 1e-12 of the largest entry.
"""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert import hamilton

REFERENCE = Path(__file__).parents[1] / "data" / "reference"
DATA = json.loads((REFERENCE / "hamiltonian_qp.json").read_text())
ROBOTS = {c["name"]: c for c in json.loads((REFERENCE / "elementary_motions.json").read_text())["cases"]}
STATIC = {c["name"]: c for c in DATA["static_cases"]}
TOLERANCE = 1e-12
EVERY_CASE = pytest.mark.parametrize("name", STATIC)
LENGTHS = (1, 2, 5, 20, 200)


def chain_of(parameters):
    return hamilton.planar_chain(*(parameters[k] for k in ("m", "L", "l", "J", "g")))


def unit_chain(n):
    return hamilton.planar_chain([1] * n, [1] * n)


def random_chain(n, seed=0):
    rng = np.random.default_rng(seed)
    m, L, l, J = rng.uniform(0.5, 2, (4, n))
    return hamilton.planar_chain(m, L, l, J * 0.1), rng.uniform(-3, 3, n), rng.standard_normal(n)


def agree(value, reference, tolerance=TOLERANCE):
    reference = np.asarray(reference, dtype=float)
    np.testing.assert_allclose(value, reference, rtol=0, atol=tolerance * max(1, np.abs(reference).max(initial=0)))


def gradient(f, x):
    """Central differences of fourth order."""
    e, h = np.eye(len(x)), 1e-3
    return np.array([(8 * (f(x + h * d) - f(x - h * d)) - f(x + 2 * h * d) + f(x - 2 * h * d)) / (12 * h) for d in e])


# --- reference values -------------------------------------------------------------------------------------------------

@EVERY_CASE
def test_every_intermediate_of_the_static_cases(name):
    c = STATIC[name]
    chain, q, qd = chain_of(c["parameters"]), c["q"], c["qdot"]
    Q = chain.generalized_forces(c["M"])
    at = chain.configuration(q)
    agree(hamilton.mass_matrix(chain, q), c["A"])
    agree(np.linalg.eigvalsh(hamilton.mass_matrix(chain, q)), c["eig_A"])
    agree(hamilton.momenta(chain, q, qd), c["p"])
    agree(at.right_side(c["p"]), c["b"])
    assert at.linear is None and c["a"] == [0] * chain.n                       # a natural system
    agree(hamilton.lagrangian_gradient(chain, q, qd), c["dLdq"])
    agree(Q, c["Q"])
    found = hamilton.state_equations(chain, q, c["p"], Q)
    agree(found.p_rate, c["pdot"])
    agree(found.q_rate, qd)
    agree(hamilton.kinetic_energy(chain, q, qd), c["T"])
    agree(hamilton.potential_energy(chain, q), c["Pi"])
    agree(-at.potential, c["L0"])
    agree(hamilton.hamiltonian(chain, q, c["p"]), c["H"])
    agree(sum(hamilton.lagrangian_gradient(chain, q, qd)), c["sum_dLdq"])
    agree(-chain.g * np.dot(chain.c, np.sin(q)), c["minus_g_sum_c_sin_q"])


@EVERY_CASE
def test_the_accelerations_of_the_static_cases_follow_from_the_momentum_rates(name):
    """p' = A q'' + A' q' with A' by differences along the motion: the accelerations that Lagrange's form gives."""
    c = STATIC[name]
    chain, q, qd = chain_of(c["parameters"]), np.array(c["q"]), np.array(c["qdot"])
    A_rate = gradient(lambda t: hamilton.mass_matrix(chain, q + t[0] * qd), np.zeros(1))[0]
    agree(hamilton.mass_matrix(chain, q) @ c["qddot"] + A_rate @ qd, c["pdot"], 1e-9)


@EVERY_CASE
def test_kinetic_energy_as_printed_misses_the_factor_one_half(name):
    """(3.10) as printed gives sum m_i[...] + 1/2 sum J z^2."""
    c = STATIC[name]
    chain = chain_of(c["parameters"])
    rotation = 0.5 * np.dot(chain.J, np.square(c["qdot"]))
    T = hamilton.kinetic_energy(chain, c["q"], c["qdot"])
    agree(2 * (T - rotation) + rotation, c["quadratic_form_as_printed"])


def test_a_step_of_the_source_and_its_iterates():
    c, step = STATIC["n2"], DATA["euler_step"]
    chain, h = chain_of(c["parameters"]), step["h"]
    rates = hamilton.state_equations(chain, c["q"], c["p"], chain.generalized_forces(c["M"]))
    q, p = c["q"] + h * rates.q_rate, c["p"] + h * rates.p_rate                      # (3.1): both from the old state
    agree(q, step["q1"])
    agree(p, step["p1"])
    z = hamilton.velocities(chain, q, p)
    agree(z, step["z1"])
    product = chain.configuration(q.tolist()).product
    found = hamilton.minimal_residuals(lambda x: np.array(product(x)), p, np.array(c["qdot"]),
                                       hamilton.Stop("residual", 1e-3), keep=True)
    for given, xi in zip(step["minimal_residual_iterates"], found.iterates, strict=False):
        agree(xi, given["xi"])
        agree(product(xi) - p, given["y"])
        agree(np.linalg.norm(xi - z), given["true_error"])
    m = len(step["minimal_residual_iterates"])
    agree(found.gammas[:m], [given["gamma"] for given in step["minimal_residual_iterates"]])
    agree(np.linalg.eigvalsh(hamilton.mass_matrix(chain, q)), step["eig_A1"])


def turntable_case():
    c = DATA["nonnatural_case"]
    return hamilton.turntable(chain_of(c["parameters"]), c["parameters"]["R"], c["parameters"]["Omega"]), c


def test_non_natural_case_of_the_turntable():
    system, c = turntable_case()
    at = system.configuration(c["q"])
    agree(at.linear, c["a"])
    agree(-at.potential, c["L0"])
    agree(hamilton.mass_matrix(system, c["q"]), c["A"])
    p = hamilton.momenta(system, c["q"], c["qdot"])
    agree(p, c["p"])
    agree(at.right_side(p), c["b"])
    agree(hamilton.lagrangian_gradient(system, c["q"], c["qdot"]), c["dLdq"])
    agree(hamilton.hamiltonian(system, c["q"], p), c["jacobi_integral"])
    agree(hamilton.velocities(system, c["q"], p), c["qdot"])


@pytest.mark.parametrize("case", DATA["spatial_cases"], ids=lambda c: c["robot"])
def test_spatial_cases(case):
    robot, q, qd = ROBOTS.get(case["robot"]), case["q"], case["qdot"]
    if robot is None:
        m = chain_of(STATIC["n3"]["parameters"]).mechanism()
    else:
        chain = [pair for i, joint in enumerate(robot["joints"], 1)
                 for pair in (*map(tuple, joint["constant"]), (joint["variable"], f"q{i}"))]
        m = da.from_motions(chain, [(link["mass"], link["com"], link["inertia_com"]) for link in robot["links"]])
    p = hamilton.momenta(m, q, qd)
    agree(p, case["p"])
    agree(hamilton.lagrangian_gradient(m, q, qd), case["dLdq"])
    agree(hamilton.lagrangian_gradient(m.replace({"gravity[2]": 0.0}), q, qd), case["dKdq"])
    agree(hamilton.velocities(m, q, p), qd)
    offset = hamilton.hamiltonian(m, q, p) - case["H"]
    assert abs(offset) < TOLERANCE * abs(case["H"])


# --- trajectories ---------------------------------------------------------------------------------------------------

def moved(right_hand_side, q, p, times):
    """States (q, p) at some times, DOP853."""
    n = len(q)
    found = solve_ivp(lambda t, x: np.concatenate(right_hand_side(t, x[:n], x[n:])), (0, times[-1]), [*q, *p], "DOP853",
                      times, rtol=1e-13, atol=1e-13)
    return np.split(found.y, 2)


@pytest.mark.parametrize("case", DATA["trajectories"], ids=lambda c: c["case"] + (" driven" if c["torque"] else ""))
def test_trajectories_and_the_balance_of_power(case):
    chain = chain_of(STATIC[case["case"]]["parameters"])
    torque = case["torque"]
    amplitude, frequency, viscous = (np.array(torque[k]) if torque else np.zeros(chain.n) for k in ("amp", "w", "visc"))
    f = da.function(lambda q, p, Q: hamilton.state_equations(chain, q, p, Q)[1:], q=chain.n, p=chain.n, Q=chain.n)
    z = da.function(lambda q, p: hamilton.velocities(chain, q, p), q=chain.n, p=chain.n)

    def moments(t, qd):
        return chain.generalized_forces(amplitude * np.sin(frequency * t) - viscous * chain.to_relative(qd))

    def rates(t, q, x):
        Q = moments(t, z(q, x[:-1]))
        p_rate, qd = f(q, x[:-1], Q)
        return qd, p_rate, [Q @ qd]                                              # the last: work

    times, n = [s["t"] for s in case["states"]], chain.n
    found = solve_ivp(lambda t, x: np.concatenate(rates(t, x[:n], x[n:])), (0, times[-1]), [*case["q0"], *case["p0"], 0],
                      "DOP853", times, rtol=1e-13, atol=1e-13).y
    for state, x in zip(case["states"], found.T, strict=True):
        agree(x[:n], state["q"], 1e-10)
        agree(x[n:-1], state["p"], 1e-10)
        H = hamilton.hamiltonian(chain, x[:n], x[n:-1])
        agree(H, state["H"], 1e-10)
        agree(H - case["H0"] - x[-1], 0, 1e-10)                                  # dH/dt = Q . qd


def test_spatial_trajectory_keeps_energy_and_the_momentum_about_the_vertical():
    case = DATA["spatial_trajectory"]
    robot = ROBOTS[case["robot"]]
    chain = [pair for i, joint in enumerate(robot["joints"], 1)
             for pair in (*map(tuple, joint["constant"]), (joint["variable"], f"q{i}"))]
    m = da.from_motions(chain, [(link["mass"], link["com"], link["inertia_com"]) for link in robot["links"]])
    f = da.function(lambda q, p: hamilton.state_equations(m, q, p)[:2], q=m.nq, p=m.nv)
    q, p = moved(lambda t, q, p: f(q, p), case["q0"], case["p0"], [s["t"] for s in case["states"]])
    for k, state in enumerate(case["states"]):
        agree(q[:, k], state["q"], 1e-10)
        agree(p[:, k], state["p"], 1e-10)
        agree(hamilton.hamiltonian(m, q[:, k], p[:, k]), state["H"], 1e-10)
        agree(p[0, k], case["p0"][0], 1e-13)


def test_jacobis_integral_of_the_turntable_is_constant_and_the_energy_is_not():
    system, c = turntable_case()
    f = da.function(lambda q, p: hamilton.state_equations(system, q, p)[:2], q=3, p=3)
    q, p = moved(lambda t, q, p: f(q, p), c["q"], c["p"], [0.5, 1.0])
    H = hamilton.hamiltonian(system, q.T, p.T)
    agree(H, [c["jacobi_integral"]] * 2, 1e-10)
    T = hamilton.kinetic_energy(system, q.T, hamilton.velocities(system, q.T, p.T))
    assert abs(T - hamilton.kinetic_energy(system, c["q"], c["qdot"])).min() > 0.01


# --- the chain ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("n", LENGTHS)
def test_products_in_both_forms_are_those_of_the_dense_matrix(n):
    chain, q, z = random_chain(n)
    at, A = chain.configuration(q.tolist()), hamilton.mass_matrix(chain, q)
    scale = np.abs(A).max() * np.abs(z).max()
    assert np.abs(at.product(z) - A @ z).max() <= 1e-13 * scale
    assert np.abs(at.semiseparable_product(z) - A @ z).max() <= 1e-13 * scale


@pytest.mark.parametrize("n", (1, 2, 5))
def test_gradient_of_the_chain_is_that_of_the_lagrangian(n):
    chain, q, z = random_chain(n)

    def L(q):
        return hamilton.kinetic_energy(chain, q, z) - hamilton.potential_energy(chain, q)

    agree(hamilton.lagrangian_gradient(chain, q, z), gradient(L, q), 1e-9)
    with da.Graph():
        symbols = da.symbols("q", n)
        traced = da.gradient(L(symbols), symbols)
        agree(np.array(da.evaluate(traced, dict(zip(symbols, q, strict=True))), float),
              hamilton.lagrangian_gradient(chain, q, z), 1e-12)


@pytest.mark.parametrize("n", LENGTHS)
def test_velocity_terms_of_the_gradient_cancel_in_the_sum(n):
    chain, q, z = random_chain(n)
    found = hamilton.lagrangian_gradient(chain, q, z)
    assert abs(found.sum() + chain.g * np.dot(chain.c, np.sin(q))) <= 1e-13 * n * np.abs(found).max()


def test_total_momentum_without_gravity_is_kept_even_by_explicit_euler():
    """Angular momentum about the hinge; the single p_i are not kept."""
    c = STATIC["n3"]
    chain = hamilton.planar_chain(*(c["parameters"][k] for k in "mLlJ"), g=0)
    f = da.function(lambda q, p: hamilton.state_equations(chain, q, p)[:2], q=3, p=3)
    q, p = np.array(c["q"]), np.array(c["p"])
    for _ in range(1000):
        q_rate, p_rate = f(q, p)
        q, p = q + 4e-3 * q_rate, p + 4e-3 * p_rate
    assert abs(p.sum() - sum(c["p"])) <= 1e-14
    assert np.abs(p - c["p"]).min() > 0.01


@pytest.mark.parametrize("h", (0.004, 0.002, 0.001))
def test_explicit_euler_adds_energy_as_the_reference_says(h):
    (row,) = (r for r in DATA["integrator_drift_n3"] if (r["case"], r["method"], r["h"]) == ("gravity", "euler", h))
    c = STATIC["n3"]
    chain = chain_of(c["parameters"])
    f = da.function(lambda q, p: (*hamilton.state_equations(chain, q, p)[:2], hamilton.hamiltonian(chain, q, p)), q=3, p=3)
    q, p, energies = np.array(c["q"]), np.array(c["p"]), []
    for _ in range(round(row["t_end"] / h) + 1):
        q_rate, p_rate, H = f(q, p)
        energies.append(H)
        q, p = q + h * q_rate, p + h * p_rate
    drift = np.abs(np.array(energies) - energies[0])
    assert abs(drift[-1] / row["final_dH"] - 1) < 1e-5                            # 6 digits are stored
    assert abs(drift.max() / row["max_abs_dH"] - 1) < 1e-3                        # of samples further apart


@EVERY_CASE
def test_absolute_and_relative_angles(name):
    """q = S q_rel with S the unit lower triangle of ones: A_rel = S^T A S, p_rel = S^T p, and the forces are the M_i."""
    c = STATIC[name]
    chain, q, qd, M = chain_of(c["parameters"]), np.array(c["q"]), np.array(c["qdot"]), np.array(c["M"])
    m, S = chain.mechanism(), np.tri(chain.n)
    q_rel, qd_rel = chain.to_relative(q), chain.to_relative(qd)
    agree(S @ q_rel, q)
    agree(chain.to_absolute(q_rel), q)
    agree(hamilton.mass_matrix(m, q_rel), S.T @ c["A"] @ S)
    agree(da.mass_matrix(m, q_rel), S.T @ c["A"] @ S)                             # Newton-Euler
    p_rel = chain.momenta_to_relative(c["p"])
    agree(p_rel, S.T @ c["p"])
    agree(chain.momenta_to_absolute(p_rel), c["p"])
    agree(chain.momenta_to_relative(chain.generalized_forces(M)), M)
    found, absolute = hamilton.state_equations(m, q_rel, p_rel, M), c["pdot"]
    agree(found.qd, qd_rel)
    agree(chain.momenta_to_absolute(found.p_rate), absolute)
    agree(hamilton.hamiltonian(m, q_rel, p_rel), c["H"])


@EVERY_CASE
def test_power_of_the_control_moments(name):
    c = STATIC[name]
    chain, qd, M = chain_of(c["parameters"]), np.array(c["qdot"]), np.array(c["M"])
    agree(chain.generalized_forces(M) @ qd, M @ chain.to_relative(qd))
    agree(hamilton.energy_rate(chain, c["q"], c["p"], chain.generalized_forces(M)), M @ chain.to_relative(qd))


@pytest.mark.parametrize("row", DATA["condition_numbers_unit_chain"]["rows"], ids=lambda r: r["n"])
def test_bounds_of_the_eigenvalues_hold_and_the_lower_one_is_tight(row):
    chain = unit_chain(row["n"])
    low, high = chain.eigenvalue_bounds()
    for q in (np.zeros(chain.n), np.pi * (np.arange(chain.n) % 2)):
        values = np.linalg.eigvalsh(hamilton.mass_matrix(chain, q))
        assert low <= values[0] * (1 + 1e-12) and values[-1] <= high
        assert abs(values[-1] / values[0] / row["straight"][2] - 1) < 1e-3
    assert chain.n < 200 or values[0] < 1.0001 * low


@pytest.mark.parametrize("n", LENGTHS)
def test_exact_sweep_is_the_dense_solution(n):
    chain, q, z = random_chain(n)
    A = hamilton.mass_matrix(chain, q)
    p = A @ z
    for solver in ("sweep", "cholesky"):
        found = hamilton.velocities(chain, q, p, solver=solver)
        assert np.abs(A @ found - p).max() <= 1e-12 * np.abs(A).max() * np.abs(found).max()
    agree(hamilton.inverse_mass_matrix(chain, q) @ A, np.eye(n), 1e-10)


# --- batches, expressions, errors -------------------------------------------------------------------------------------

def test_batches_and_expressions_give_the_values_of_single_states():
    chain, *_ = random_chain(4)
    rng = np.random.default_rng(1)
    q, p, tau = rng.standard_normal((3, 5, 4))
    batch = hamilton.state_equations(chain, q, p, tau)
    compiled = da.function(lambda q, p, tau: hamilton.state_equations(chain, q, p, tau), q=4, p=4, tau=4)
    for k in range(5):
        single = hamilton.state_equations(chain, q[k], p[k], tau[k])
        for a, b, c in zip(single, batch, compiled(q[k], p[k], tau[k]), strict=True):
            agree(a, b[k])
            agree(a, c)
    assert hamilton.hamiltonian(chain, q, p).shape == (5,)
    agree(hamilton.velocities(chain, q, p, solver="cholesky"), batch.qd, 1e-11)


def test_parameters_of_a_chain_may_be_symbols():
    with da.Graph():
        m, L, l, J, g, q, qd = da.symbols("m L l J g q qd")
        chain = hamilton.planar_chain([m], [L], [l], [J], g)
        p = hamilton.momenta(chain, [q], [qd])
        pairs = dict(m=2, L=1, l=0.5, J=0.2, g=9.81, q=0.7, qd=1.5)
        c = STATIC["n1"]
        agree(da.evaluate(p, pairs), c["p"])
        agree(da.evaluate(hamilton.lagrangian_gradient(chain, [q], [qd]), pairs), c["dLdq"])


def test_systems_and_solvers_pickle():
    system, c = turntable_case()
    solver = hamilton.Solver("conjugate_directions")
    hamilton.velocities(system, c["q"], c["p"], solver=solver)
    copy, chain, again = pickle.loads(pickle.dumps((system, unit_chain(2), solver)))
    agree(hamilton.lagrangian_gradient(copy, c["q"], c["qdot"]), c["dLdq"])
    assert chain.c == unit_chain(2).c and again.iterations == solver.iterations


def test_errors_say_what_and_where():
    with pytest.raises(da.ShapeError, match="m, L, l, J have the lengths m 2, L 1, l 1, J 1"):
        hamilton.planar_chain([1, 2], [1], J=[1])
    massless = hamilton.planar_chain([1, 0], [1, 1], J=[0.1, 0])
    with pytest.raises(da.SingularMassMatrixError, match="joint 'q2': the inertia of body 'link2'") as caught:
        hamilton.velocities(massless, [0.1, 0.2], [1, 1])
    assert (caught.value.joint, caught.value.body) == ("q2", "link2")
    with pytest.raises(da.SingularMassMatrixError, match="not positive definite"):
        hamilton.velocities(massless, [0.1, 0.2], [1, 1], solver="cholesky")
    with pytest.raises(da.UnknownNameError, match="unknown solver 'swep'.*Did you mean 'sweep'"):
        hamilton.velocities(unit_chain(2), [0, 0], [1, 1], solver="swep")
    with pytest.raises(da.ShapeError, match="p has shape .*the chain has 2 links"):
        hamilton.velocities(unit_chain(2), [0, 0], [1, 1, 1])
    with pytest.raises(TypeError, match="no external forces"):
        hamilton.state_equations(unit_chain(2), [0, 0], [1, 1], external_forces=[da.ExternalForce("tip")])
    with pytest.raises(TypeError, match="str is no system: expected a da.Mechanism"):
        hamilton.momenta("arm", [0], [0])
    with pytest.raises(da.ShapeError, match="a returns 1 entries, expected 2"):
        hamilton.nonnatural(unit_chain(2), a=lambda q, t: [q[0]])


def test_a_massless_link_with_coincident_masses_is_found_in_a_batch():
    chain = hamilton.planar_chain([1, 1], [1, 1], [1, 0], [0, 0])                 # second mass in its hinge, no inertia
    with pytest.raises(da.SingularMassMatrixError, match="'q2' in row 0"):
        hamilton.velocities(chain, np.zeros((3, 2)), np.ones((3, 2)))


@pytest.mark.parametrize("change", ["to_relative", "to_absolute", "momenta_to_relative", "momenta_to_absolute", "generalized_forces"])
def test_changes_of_coordinates_take_an_entry_per_link(change):
    chain = da.hamilton.planar_chain([1.0, 1.0], [1.0, 1.0])
    for wrong, shape in (([1.0], r"\(1,\)"), (2.0, r"\(\)"), ([[1.0, 2.0, 3.0]], r"\(1, 3\)")):
        with pytest.raises(da.ShapeError, match=rf"has shape {shape}, expected \(2,\) or \(N, 2\)"):
            getattr(chain, change)(wrong)
