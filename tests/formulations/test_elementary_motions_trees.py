"""The trace method on random trees with every joint type: its three forms against Newton-Euler, on floats, batches, symbols.

Tolerances: as in trees.py.
"""

from functools import partial

import numpy as np
import pytest

import dalembert as da
from dalembert.formulations import elementary_motions as em
from trees import DIFFERENCES, EVERY_TREE, close, derivative, loads, tree

EXPANDED = ("composite", "sums")
FORMS = ("recursion", *EXPANDED)


@EVERY_TREE
def test_forms_agree_with_newton_euler(seed):
    m, q, qd, qdd = tree(seed)
    M, C, h, g = da.mass_matrix(m, q), da.coriolis_matrix(m, q, qd), da.bias_force(m, q, qd), da.gravity_vector(m, q)
    tau = da.inverse_dynamics(m, q, qd, qdd, loads(m))
    for form in FORMS:
        assert close(em.gravity_vector(m, q, form), g)
        assert close(em.bias_force(m, q, qd, form), h)
        assert close(em.coriolis_vector(m, q, qd, form), C @ qd, np.abs(h).max())
        assert close(em.inverse_dynamics(m, q, qd, qdd, loads(m), form), tau)
    for form in EXPANDED:
        assert close(em.mass_matrix(m, q, form), M)
        assert close(em.coriolis_matrix(m, q, qd, form), C)
    parts = sum(abs(float(b.mass)) * np.abs(da.placement(m, q, b.name)[:3, 3]).max() for b in m.bodies) * 10
    assert close(em.kinetic_energy(m, q, qd), da.kinetic_energy(m, q, qd))
    assert close(em.potential_energy(m, q), da.potential_energy(m, q), parts + abs(da.potential_energy(m, q)))
    assert close(em.momenta(m, q, qd), M @ qd)


@EVERY_TREE
def test_forward_dynamics_by_its_backward_error(seed):
    m, q, qd, tau = tree(seed)
    M, bias = da.mass_matrix(m, q), da.bias_force(m, q, qd) - da.passive_force(m, q, qd)
    found = em.forward_dynamics(m, q, qd, tau)
    assert close(M @ found + bias, tau, np.abs(M).max() * np.abs(found).max() + np.abs(bias).max() + np.abs(tau).max())
    inverse = em.inverse_mass_matrix(m, q)
    assert close(M @ inverse, np.eye(m.nv), np.abs(M).max() * np.abs(inverse).max())
    assert np.array_equal(inverse, inverse.T)


@EVERY_TREE
def test_christoffel_symbols_give_all_velocity_terms(seed):
    """Ordered pairs: C_kj = sum c_ijk qd_i in any case; dM = c_ijk + c_ikj is skew's other half; both forms equal."""
    m, q, qd, _ = tree(seed)
    c = em.christoffel_symbols(m, q)
    scale = np.abs(c).max(initial=0)
    assert close(em.christoffel_symbols(m, q, "sums"), c, scale)
    assert close(np.einsum("ijk,i->kj", c, qd), da.coriolis_matrix(m, q, qd))
    a_q = da.bias_force(m, q, qd) - da.gravity_vector(m, q)
    assert close(np.einsum("kji,j,i->k", em.velocity_coefficients(m, q), qd, qd), a_q, np.abs(da.bias_force(m, q, qd)).max())
    dM = em.mass_matrix_derivatives(m, q)
    change = derivative(lambda t: da.mass_matrix(m, m.integrate(q, t * qd)))
    assert close(np.einsum("ijk,i->jk", dM, qd), change, 1 + np.abs(change).max(), DIFFERENCES)
    e = np.eye(m.nv)[0]
    exact = (da.bias_force(m, q, qd + e) - da.bias_force(m, q, qd - e)) / 2            # quadratic in qd
    assert close(em.coriolis_vector_derivatives(m, q, qd)[:, 0], exact, np.abs(da.bias_force(m, q, qd + e)).max())


@EVERY_TREE
def test_derivatives_of_products_are_those_of_the_placements(seed):
    """Along the velocity directions: B^j of B, and B^jk of B^j, on every joint type."""
    m, q, qd, _ = tree(seed)
    B1, B2 = em.first_derivatives(m, q), em.second_derivatives(m, q)
    rate = derivative(lambda t: em.products(m, m.integrate(q, t * qd)))
    assert close(np.einsum("ijab,j->iab", B1, qd), rate, 1 + np.abs(rate).max(), DIFFERENCES)
    rate = derivative(lambda t: em.first_derivatives(m, m.integrate(q, t * qd)))
    assert close(np.einsum("ijkab,k->ijab", B2, qd), rate, 1 + np.abs(rate).max(), DIFFERENCES)
    for k, motion in enumerate(em.motions(m)):
        if motion.body:
            assert close(em.products(m, q)[k], da.placement(m, q, motion.body), 10)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical", "cylindrical", "universal", "planar", "spherical",
                                  "free", "custom", "follower"])
def test_chains_of_one_joint_type_agree_with_newton_euler(kind):
    for seed in range(3):
        m = da.random_tree(seed, 4, ["revolute", kind] if kind == "follower" else [kind])
        q, qd = m.random_state(seed)
        for form in FORMS:
            assert close(em.inverse_dynamics(m, q, qd, 2 * qd, form=form), da.inverse_dynamics(m, q, qd, 2 * qd))
        scale = np.abs(em.mass_matrix(m, q)).max()                              # symbols may all be zero
        assert close(em.christoffel_symbols(m, q), em.christoffel_symbols(m, q, "sums"), scale)


def test_freedoms_of_a_spherical_joint_do_not_commute():
    """The rule sigma = 2 (twice one symbol for two) is wrong there: a spinning body with three different moments."""
    body = da.Body("top", 1, (0, 0, 0), (1, 0, 2, 0, 0, 3))
    m = da.Mechanism("top", [da.Body("base"), body], [da.Joint("ball", da.Spherical(), "base", "top")])
    q, qd = m.neutral(), np.array([1.0, 2.0, 3.0])
    c, B2 = em.christoffel_symbols(m, q), em.second_derivatives(m, q)
    euler = np.cross(qd, np.array([1, 2, 3]) * qd)
    assert close(np.einsum("kji,j,i->k", em.velocity_coefficients(m, q), qd, qd), euler)
    assert np.abs(B2[0, 0, 1] - B2[0, 1, 0]).max() == 1                     # D2 D1 - D1 D2 = -D3
    doubled = [sum((1 if i == j else 2) * c[i, j, k] * qd[i] * qd[j] for j in range(3) for i in range(j, 3)) for k in range(3)]
    assert np.abs(doubled - euler).max() > 1


def test_a_joint_of_several_freedoms_is_a_row_of_motions():
    kinds = {"cylindrical": ["Tz", "Rz"], "universal": ["Rx", "Ry"], "planar": ["Tx", "Ty", "Rz"], "spherical": ["spherical"],
             "free": ["free"], "helical": ["H(0, 0, 1)"], "revolute": ["Rz"], "prismatic": ["Tz"]}
    types = [da.Cylindrical(), da.Universal(), da.Planar(), da.Spherical(), da.Free(), da.Helical(pitch=0.1), da.Revolute(),
             da.Prismatic()]
    for joint_type in types:
        m = da.Mechanism("m", [da.Body("base"), da.Body("body", 1)], [da.Joint("j", joint_type, "base", "body")])
        found = em.motions(m)
        assert [motion.kind for motion in found] == kinds[joint_type.name]
        assert [motion.body for motion in found] == [""] * (len(found) - 1) + ["body"]
        assert sorted(k for motion in found for k in motion.entries) == list(range(m.nv))
        assert [motion.parent for motion in found] == list(range(len(found)))
    assert [motion.name for motion in em.motions(da.random_tree(0, 1, "planar"))] == ["joint1.x", "joint1.y", "joint1.angle"]
    oblique = da.Mechanism("m", [da.Body("base"), da.Body("a", 1), da.Body("b", 1)],
                           [da.Joint("i", da.Revolute((3, 0, 4)), "base", "a"), da.Joint("j", da.Prismatic((0, -1, 0)), "a", "b")])
    assert [motion.kind for motion in em.motions(oblique)] == ["R(0.6, 0, 0.8)", "T(0, -1, 0)"]


@pytest.mark.parametrize("seed", range(4))
def test_a_moving_base_is_a_free_joint_with_given_motion(seed):
    m = da.random_tree(seed, 6)
    floating = m.floating()
    q, qd = floating.random_state(seed)
    qdd = np.random.default_rng(seed).standard_normal(floating.nv)
    base = m.bodies[0].name
    W, W_rate = np.zeros((2, 4, 4))
    for D, k in zip(("Rx", "Ry", "Rz", "Tx", "Ty", "Tz"), range(6), strict=True):
        W += em.elementary_operator(D) * qd[k]
        W_rate += em.elementary_operator(D) * qdd[k]
    B = da.placement(floating, q, base)
    tau = em.inverse_dynamics_on_moving_base(m, q[7:], qd[6:], qdd[6:], B, B @ W, B @ (W @ W + W_rate))
    assert close(tau, da.inverse_dynamics(floating, q, qd, qdd)[6:])
    at_rest = em.inverse_dynamics_on_moving_base(m, q[7:], qd[6:], qdd[6:], np.eye(4), np.zeros((4, 4)), np.zeros((4, 4)))
    assert close(at_rest, em.inverse_dynamics(m, q[7:], qd[6:], qdd[6:]))


@pytest.mark.parametrize("form", FORMS)
def test_a_batch_equals_its_rows_and_an_empty_batch_is_empty(form):
    m = da.random_tree(3, 5)
    states = [m.random_state(s) for s in range(3)]
    q, qd = np.array([s[0] for s in states]), np.array([s[1] for s in states])
    calls = [(partial(em.inverse_dynamics, external_forces=loads(m), form=form), (q, qd, 2 * qd)),
             (partial(em.gravity_vector, form=form), (q,))]
    if form in EXPANDED:
        calls += [(partial(f, form=form), (q,)) for f in (
            em.mass_matrix, em.christoffel_symbols, em.velocity_coefficients, em.velocity_matrices, em.mass_matrix_derivatives)]
    else:
        calls += [(em.forward_dynamics, (q, qd, qd)), (em.kinetic_energy, (q, qd)), (em.potential_energy, (q,)),
                  (em.momenta, (q, qd)), (em.second_derivatives, (q,)), (em.base_operators, (q,)), (em.joint_matrices, (q,)),
                  (em.coriolis_vector_derivatives, (q, qd)), (em.composite_pseudo_inertias, (q,)),
                  (em.inverse_mass_matrix, (q,))]
    for f, arguments in calls:
        batch, rows = f(m, *arguments), [f(m, *(a[k] for a in arguments)) for k in range(3)]
        assert close(batch, np.array(rows))
        assert f(m, *(a[:0] for a in arguments)).shape == (0, *np.shape(rows)[1:])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("form", FORMS)
def test_expressions_evaluate_to_the_floats(seed, form):
    m = da.random_tree(seed, 4)
    q, qd = m.random_state(seed)
    qdd = 2 * qd
    with da.Graph():
        s = [da.symbols(name, n) for name, n in (("q", m.nq), ("qd", m.nv), ("qdd", m.nv))]
        at = dict(zip(np.concatenate(s), np.concatenate([q, qd, qdd]), strict=True))
        found = {"tau": (em.inverse_dynamics(m, *s, form=form), da.inverse_dynamics(m, q, qd, qdd))}
        if form in EXPANDED:
            found |= {"M": (em.mass_matrix(m, s[0], form), da.mass_matrix(m, q)),
                      "C": (em.coriolis_matrix(m, s[0], s[1], form), da.coriolis_matrix(m, q, qd))}
        for name, (expressions, expected) in found.items():
            assert close(np.array(da.evaluate(expressions, at), dtype=float), expected), name


def test_forward_dynamics_of_symbols_evaluates_to_that_of_numbers():
    m = da.planar_chain(3)
    with da.Graph():
        q, qd, tau = (da.symbols(x, 3) for x in ("q", "qd", "tau"))
        values = np.linspace(-1, 1, 9)
        found = da.evaluate(em.forward_dynamics(m, q, qd, tau), dict(zip([*q, *qd, *tau], values, strict=True)))
    assert close(np.array(found, dtype=float), da.forward_dynamics(m, values[:3], values[3:6], values[6:]))


def test_a_mechanism_without_joints_has_empty_equations():
    m = da.Mechanism("block", [da.Body("base")], [])
    assert em.mass_matrix(m, []).shape == (0, 0) and em.inverse_dynamics(m, [], [], []).shape == (0,)
    assert em.forward_dynamics(m, [], [], []).shape == (0,) and em.inverse_mass_matrix(m, []).shape == (0, 0)
    assert em.motions(m) == () and em.products(m, []).shape == (0, 4, 4)
