"""Lagrange's procedure: the source's reference numbers, equality with Newton-Euler, each step against another way.

Tolerances: 1e-12 of the largest entry between our own paths and 50-digit numbers (conventions.md; seen: 4e-15, and 1e-14 for
potential energies, which nearly cancel); the backward error where D is solved with; differences of fourth order to 1e-8.
"""

import json

import numpy as np
import pytest

import dalembert as da
import oracles
from dalembert import lagrange
from dalembert.formulations import newton_euler
from formulations.test_identities import brackets, close, tree
from model.test_validation import wrist
from readers.test_motions import CASES, mechanism_of
from trees import derivative, seeds

REFERENCE = json.loads((oracles.DATA / "reference" / "euler_lagrange.json").read_text())
LAGRANGE = {c["name"]: c for c in REFERENCE["cases"]}
OWN = 1e-12


def agree(found, expected, tolerance=OWN):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(np.abs(expected).max(), 1e-3))


# --- the source's numbers -------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", LAGRANGE)
def test_reference_cases_of_the_source(name):
    m, case = mechanism_of(CASES[name]), LAGRANGE[name]
    q, qd = case["q"], case["qdot"]
    D, c, C = lagrange.mass_matrix(m, q), lagrange.christoffel_symbols(m, q), lagrange.coriolis_matrix(m, q, qd)
    agree(D, case["D"])
    agree(np.linalg.eigvalsh(D), case["eig_D"])
    agree(c, case["christoffel"])
    agree(C, case["C"])
    agree(lagrange.coriolis_vector(m, q, qd), case["C_qdot"])
    agree(lagrange.gravity_vector(m, q), case["G"])
    rate = np.einsum("ijk,i->jk", lagrange.mass_matrix_derivatives(m, q), qd)
    agree(rate, case["Ddot"])
    agree(rate - 2 * C, case["N"])
    agree(lagrange.kinetic_energy(m, q, qd), case["K"])
    agree(lagrange.potential_energy(m, q), case["P"])
    agree(lagrange.forward_dynamics(m, q, qd, CASES[name]["Q"]), CASES[name]["qddot"])
    assert np.array_equal(c, np.swapaxes(c, 0, 1))


@pytest.mark.parametrize("name", LAGRANGE)
def test_symbols_of_serial_chains_obey_the_source_s_two_rules(name):
    """c_ijk = -c_kji for i, k >= j, and c_kjk = 0 for j <= k; D depends on q_2 ... q_n only."""
    m, q = mechanism_of(CASES[name]), LAGRANGE[name]["q"]
    c, dD = lagrange.christoffel_symbols(m, q), lagrange.mass_matrix_derivatives(m, q)
    size = max(np.abs(c).max(), np.abs(lagrange.mass_matrix(m, q)).max())
    for i, j, k in np.ndindex(c.shape):
        if i >= j and k >= j:
            assert abs(c[i, j, k] + c[k, j, i]) <= OWN * size
        if j <= k:
            assert abs(c[k, j, k]) <= OWN * size
    assert not dD[0].any()
    for k in range(m.nv):
        assert np.abs(dD[:k + 1, k, k]).max() <= OWN * size


def planar_2r():
    """The source's arm, from its numbers: relative angles, y up in the book, z here."""
    p = REFERENCE["closed_form_2R"]["parameters"]
    bodies = [da.Body("base")] + [da.Body(f"link{k + 1}", p["m"][k], (p["lc"][k], 0, 0), (0, 0, p["I"][k], 0, 0, p["I"][k]))
                                  for k in (0, 1)]
    joints = [da.Joint("q1", da.Revolute((0, -1, 0)), "base", "link1"),
              da.Joint("q2", da.Revolute((0, -1, 0)), "link1", "link2", da.Origin((p["l1"], 0, 0)))]
    return da.Mechanism("planar 2R", bodies, joints)


def test_planar_2r_has_the_textbook_s_closed_form():
    case = REFERENCE["closed_form_2R"]
    m, q, qd = planar_2r(), case["q"], case["qdot"]
    agree(lagrange.mass_matrix(m, q), case["D"])
    agree(lagrange.coriolis_matrix(m, q, qd), case["C"])
    agree(lagrange.gravity_vector(m, q), case["G"])
    agree(lagrange.forward_dynamics(m, q, qd, case["tau"]), case["qddot"])
    with da.Graph():
        s = dict(zip(("m1", "m2", "l1", "lc1", "lc2", "I1", "I2", "q1", "q2"),
                     da.symbols("m1 m2 l1 lc1 lc2 I1 I2 q1 q2"), strict=True))
        symbolic = m.replace({"link1.mass": s["m1"], "link2.mass": s["m2"], "link1.com[0]": s["lc1"], "link2.com[0]": s["lc2"],
                              "link1.inertia[1,1]": s["I1"], "link2.inertia[1,1]": s["I2"], "q2.origin[0]": s["l1"]})
        D = lagrange.mass_matrix(symbolic, [s["q1"], s["q2"]])
        C = lagrange.coriolis_matrix(symbolic, [s["q1"], s["q2"]], qd)
        h = -s["m2"] * s["l1"] * s["lc2"] * da.sin(s["q2"])
        d12 = s["m2"] * (s["lc2"]**2 + s["l1"] * s["lc2"] * da.cos(s["q2"])) + s["I2"]
        d11 = (s["m1"] * s["lc1"]**2 + s["m2"] * (s["l1"]**2 + s["lc2"]**2 + 2 * s["l1"] * s["lc2"] * da.cos(s["q2"]))
               + s["I1"] + s["I2"])
        book = [[d11, d12], [d12, s["m2"] * s["lc2"]**2 + s["I2"]]]
        at = dict(zip(s.values(), np.random.default_rng(0).uniform(0.3, 2, 9), strict=True))
        agree(da.evaluate(D, at), da.evaluate(book, at))
        agree(da.evaluate(C, at), da.evaluate([[h * qd[1], h * (qd[0] + qd[1])], [-h * qd[0], 0 * h]], at))


def test_singular_wrist_is_reported_not_factorised():
    case = REFERENCE["singular_wrist"]
    agree(lagrange.mass_matrix(wrist(), case["q"]), case["D"])
    with pytest.raises(da.SingularMassMatrixError, match="joint 'j2': the inertia of body 'c'") as error:
        lagrange.forward_dynamics(wrist(), case["q"], [0, 0, 0], [1, 1, 1])
    assert (error.value.joint, error.value.body, error.value.row) == ("j2", "c", None)
    with pytest.raises(da.SingularMassMatrixError, match="in row 1"):
        straight = wrist().replace({"c.inertia[0,0]": 0.01, "c.inertia[1,1]": 0.01, "c.inertia[2,2]": 0.005})
        lagrange.inverse_mass_matrix(straight, [[0.3, 0.5, 0.1], [0.3, 0, 0.1]])


# --- Newton-Euler, which shares no code with it ---------------------------------------------------------------------

@pytest.mark.parametrize("seed", seeds(10))
def test_equals_newton_euler_on_trees_with_every_joint_type(seed):
    m, q, qd, qdd = tree(seed)
    rng = np.random.default_rng(seed)
    loads = [da.ExternalForce(f.name, rng.standard_normal(3), rng.standard_normal(3), rng.standard_normal(3), axes)
             for f, axes in zip(m.frames, ("local", "world", "aligned"), strict=False)]
    for name, arguments in (("mass_matrix", (q,)), ("coriolis_matrix", (q, qd)), ("coriolis_vector", (q, qd)),
                            ("gravity_vector", (q,)), ("bias_force", (q, qd)), ("momenta", (q, qd)),
                            ("kinetic_energy", (q, qd)), ("inverse_dynamics", (q, qd, qdd, loads))):
        agree(getattr(lagrange, name)(m, *arguments), getattr(newton_euler, name)(m, *arguments))
    height = sum(abs(float(b.mass)) for b in m.bodies) * 9.81      # J per metre: energies of bodies cancel
    assert abs(lagrange.potential_energy(m, q) - newton_euler.potential_energy(m, q)) <= OWN * height
    M, bias, passive = lagrange.mass_matrix(m, q), da.bias_force(m, q, qd), da.passive_force(m, q, qd)
    assert np.array_equal(M, M.T)
    found = lagrange.forward_dynamics(m, q, qd, qdd)
    scale = np.abs(M).max() * np.abs(found).max() + np.abs(bias).max() + np.abs(qdd).max()
    assert close(M @ found + bias - passive, qdd, OWN, scale)
    inverse = lagrange.inverse_mass_matrix(m, q)
    assert close(M @ inverse, np.eye(m.nv), OWN, np.abs(M).max() * np.abs(inverse).max())


@pytest.mark.parametrize("name", oracles.ROBOTS)
def test_equals_newton_euler_on_robots(name):
    arm, o, k = oracles.robot(name), oracles.values(name), oracles.order(name)
    q, v, a = oracles.coordinates(name, o["q"])[:3], o["v"][:3, k], o["a"][:3, k]
    agree(lagrange.inverse_dynamics(arm, q, v, a), newton_euler.inverse_dynamics(arm, q, v, a))
    agree(lagrange.coriolis_matrix(arm, q, v), newton_euler.coriolis_matrix(arm, q, v))


# --- steps ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", seeds(3, 5))
def test_positions_velocities_and_jacobians_of_mass_centres(seed):
    m, q, qd, _ = tree(seed)
    names = lagrange.link_names(m)
    assert names == tuple(b.name for b in m.bodies if b.mass and m.tree().place[b.name][0])
    c, velocities, jacobians = lagrange.mass_centers(m, q), lagrange.link_velocities(m, q, qd), lagrange.link_jacobians(m, q)
    for k, name in enumerate(names):
        T, J = da.placement(m, q, name), da.jacobian(m, q, name)
        lever = T[:3, :3] @ np.array(m.body(name).com, dtype=float)
        agree(c[k], T[:3, 3] + lever)
        agree(jacobians.J_omega[k], J[:3])
        agree(jacobians.J_v[k], J[3:] + np.cross(J[:3].T, lever).T)
    agree(velocities.omega, jacobians.J_omega @ qd)
    moved = derivative(lambda t: lagrange.mass_centers(m, m.integrate(q, t * qd)))
    assert close(velocities.v, moved, 1e-8, 1 + np.abs(moved).max())


@pytest.mark.parametrize("seed", seeds(3, 5))
def test_derivatives_of_the_mass_matrix_and_brackets(seed):
    m, q, _, _ = tree(seed)
    expected = np.array([derivative(lambda t, e=e: da.mass_matrix(m, m.integrate(q, t * e))) for e in np.eye(m.nv)])
    assert close(lagrange.mass_matrix_derivatives(m, q), expected, 1e-8, 1 + np.abs(expected).max())
    gamma, c, D = lagrange.brackets(m), lagrange.christoffel_symbols(m, q), lagrange.mass_matrix(m, q)
    assert np.array_equal(gamma, brackets(m))                                       # written out in that test
    agree(c - np.swapaxes(c, 0, 1), np.einsum("lij,lk->ijk", gamma, D))             # torsion-free
    agree(c + np.swapaxes(c, 1, 2), lagrange.mass_matrix_derivatives(m, q))         # keeps the metric


def test_christoffel_symbols_are_those_of_the_traced_mass_matrix():
    m = da.random_tree(3, 6, ["revolute", "prismatic", "universal", "helical", "cylindrical", "planar", "follower", "custom"])
    q, _ = m.random_state(1)
    with da.Graph():
        s = da.symbols("q", m.nq)
        D = newton_euler.mass_matrix(m, s)
        d = np.array([[[da.derivative(D[j, k], x) if isinstance(D[j, k], da.Expr) else 0.0 for k in range(m.nv)]
                       for j in range(m.nv)] for x in s], dtype=object)
        d = np.array(da.evaluate(d, dict(zip(s, q, strict=True))), dtype=float)
    expected = (np.einsum("ikj->ijk", d) + np.einsum("jki->ijk", d) - np.einsum("kij->ijk", d)) / 2
    agree(lagrange.christoffel_symbols(m, q), expected)


def test_coriolis_force_is_the_part_of_lagrange_s_equations_without_accelerations():
    """d/dt dT/dqd - dT/dq at qdd = 0, derivatives of the traced T by two levels of differentiation."""
    m = da.random_tree(4, 5, ["revolute", "prismatic", "universal"])
    q, qd = m.random_state(2)
    with da.Graph():
        x, v = da.symbols("q", m.nq), da.symbols("v", m.nv)
        T = lagrange.kinetic_energy(m, x, v)
        p = da.gradient(T, v)
        force = [sum(da.derivative(e, s) * r for s, r in zip(x, v, strict=True)) for e in p] - da.gradient(T, x)
        found = np.array(da.evaluate(force, dict(zip([*x, *v], [*q, *qd], strict=True))), dtype=float)
    agree(lagrange.coriolis_vector(m, q, qd), found)


# --- over scalars ---------------------------------------------------------------------------------------------------

FUNCTIONS = {"mass_matrix": 1, "coriolis_matrix": 2, "gravity_vector": 1, "bias_force": 2, "kinetic_energy": 2,
             "potential_energy": 1, "inverse_dynamics": 3, "forward_dynamics": 3, "christoffel_symbols": 1, "mass_centers": 1,
             "inverse_mass_matrix": 1, "mass_matrix_derivatives": 1}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_batches_and_expressions_equal_single_states(name):
    f, count = getattr(lagrange, name), FUNCTIONS[name]
    for m in (da.random_tree(0, 4), da.random_tree(2, 3, ["free", "universal", "custom"])):
        states = [m.random_state(s) for s in range(3)]
        q, qd = np.array([s[0] for s in states]), np.array([s[1] for s in states])
        vectors = (q, qd, qd[::-1])[:count]
        rows = np.array([f(m, *(v[k] for v in vectors)) for k in range(3)])
        agree(f(m, *vectors), rows)
        assert f(m, *(v[:0] for v in vectors)).shape == (0, *rows.shape[1:])
        with da.Graph():
            symbols = [da.symbols(n, k) for n, k in (("q", m.nq), ("qd", m.nv), ("x", m.nv))][:count]
            at = dict(zip(np.concatenate(symbols), np.concatenate([v[0] for v in vectors]), strict=True))
            agree(np.array(da.evaluate(f(m, *symbols), at), dtype=float), rows[0], 1e-11)


def test_any_number_of_a_mechanism_may_be_a_symbol():
    with da.Graph():
        mass, length, g = da.symbols("m l g")
        rod = da.planar_chain(1, mass=mass, length=length, gravity=(0, 0, -g))
        at = {mass: 2.0, length: 0.5, g: 9.0}
        plain = da.planar_chain(1, mass=2.0, length=0.5, gravity=(0, 0, -9.0))
        for f, x in ((lagrange.mass_matrix, ([0.3],)), (lagrange.inverse_dynamics, ([0.3], [1.0], [2.0])),
                     (lagrange.forward_dynamics, ([0.3], [1.0], [2.0])), (lagrange.potential_energy, ([0.3],))):
            agree(np.array(da.evaluate(f(rod, *x), at), dtype=float), f(plain, *x))
        massless = rod.replace({"link1.mass": 0, "link1.inertia[1,1]": 0, "link1.inertia[2,2]": 0})
        assert lagrange.link_names(massless) == () and not lagrange.mass_matrix(massless, [0.1]).any()


def test_the_first_joint_does_not_occur_in_the_traced_mass_and_coriolis_matrix():
    floating = da.planar_chain(2).floating()
    for m in (da.planar_chain(3), floating):
        with da.Graph():
            q, qd = da.symbols("q", m.nq), da.symbols("qd", m.nv)
            held = {s.name for s in da.free_symbols([lagrange.mass_matrix(m, q), lagrange.coriolis_matrix(m, q, qd)])}
        first = m.independent_joints[0].type.nq
        assert not held & {f"q[{k}]" for k in range(first)}


def test_a_mechanism_that_cannot_move_has_empty_equations():
    fixed = da.Mechanism("m", [da.Body("base"), da.Body("b", 1)], [da.Joint("j", da.Fixed(), "base", "b")])
    assert lagrange.mass_matrix(fixed, []).shape == (0, 0) and lagrange.mass_centers(fixed, []).shape == (0, 3)
    assert lagrange.inverse_dynamics(fixed, [], [], []).shape == lagrange.forward_dynamics(fixed, [], [], []).shape == (0,)
