"""The trace method against 50-digit reference values, the identities of its pieces, and the errors of its source.

Reference: tests/data/reference/elementary_motions.json (origin in its "how computed"). Tolerance 1e-12 of the largest entry.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.formulations import elementary_motions as em

REFERENCE = Path(__file__).parents[1] / "data" / "reference"
CASES = {c["name"]: c for c in json.loads((REFERENCE / "elementary_motions.json").read_text())["cases"]}
LAGRANGE = {c["name"]: c for c in json.loads((REFERENCE / "euler_lagrange.json").read_text())["cases"]}
TOLERANCE = 1e-12
KINDS = ("Tx", "Ty", "Tz", "Rx", "Ry", "Rz")
EXPANDED = ("composite", "sums")
FORMS = (*EXPANDED, "recursion")


def mechanism_of(case):
    chain = [pair for i, joint in enumerate(case["joints"], 1)
             for pair in (*map(tuple, joint["constant"]), (joint["variable"], f"q{i}"))]
    return da.from_motions(chain, [(link["mass"], link["com"], link["inertia_com"]) for link in case["links"]])


@pytest.fixture(params=CASES)
def case(request):
    c = CASES[request.param]
    return mechanism_of(c), c


def agree(value, reference, tolerance=TOLERANCE):
    reference = np.asarray(reference, dtype=float)
    np.testing.assert_allclose(value, reference, rtol=0, atol=tolerance * max(1, np.abs(reference).max(initial=0)))


def evaluated(expressions, symbols, values):
    return np.array(da.evaluate(expressions, dict(zip(symbols, values, strict=True))), dtype=float)


def derivatives(expressions, symbols):
    """Derivatives of an array by each symbol, which is the first axis."""
    flat = [[da.derivative(e, x) if isinstance(e, da.Expr) else 0 for e in expressions.flat] for x in symbols]
    return np.array(flat, dtype=object).reshape(len(symbols), *expressions.shape)


# --- reference values -------------------------------------------------------------------------------------------------

def test_products_and_pseudo_inertias_are_those_of_the_reference(case):
    m, c = case
    agree(em.products(m, c["q"]), c["B"])
    agree(em.pseudo_inertias(m), c["pseudo_inertia"])


@pytest.mark.parametrize("form", EXPANDED)
def test_coefficients_are_those_of_the_reference(case, form):
    m, c = case
    q, qd = c["q"], np.array(c["qdot"])
    A0, a1 = em.inertia_coefficients(m, q, form), em.velocity_coefficients(m, q, form)
    agree(A0, c["a0"])
    agree(a1, c["a1"])
    agree(em.gravity_coefficients(m, q, form), c["a2"])
    agree(em.mass_matrix(m, q, form), c["a0"])
    agree(np.linalg.eigvalsh(A0), c["eig_a0"])
    agree(np.einsum("kji,j,i->k", a1, qd, qd), c["a_q"])
    agree(np.einsum("kji,j,i->k", em.velocity_matrices(m, q, form), qd, qd) / 2, c["a_q"])
    agree(em.coriolis_matrix(m, q, qd, form), LAGRANGE[c["name"]]["C"])


@pytest.mark.parametrize("form", FORMS)
def test_vectors_and_accelerations_are_those_of_the_reference(case, form):
    m, c = case
    q, qd = c["q"], c["qdot"]
    agree(em.coriolis_vector(m, q, qd, form), c["a_q"])
    agree(em.gravity_vector(m, q, form), c["a_g"])
    agree(em.bias_force(m, q, qd, form), np.add(c["a_q"], c["a_g"]))
    agree(em.inverse_dynamics(m, q, qd, c["qddot"], form=form), c["Q"])
    agree(em.forward_dynamics(m, q, qd, c["Q"]), c["qddot"])
    agree(em.kinetic_energy(m, q, qd), c["kinetic_energy"])
    agree(em.potential_energy(m, q), c["potential_energy"])
    agree(em.momenta(m, q, qd), np.array(c["a0"]) @ qd)


def test_relative_angles_are_the_transformed_absolute_ones():
    """Planar chain with angles a against the vertical: M_ab = m_ab cos(a - b), its textbook form; A_rel = S^T A_abs S."""
    c = CASES["planar_n3_relative_angles"]
    m, S = mechanism_of(c), np.tril(np.ones((3, 3)))
    absolute = S @ c["q"]
    lengths = np.array([1.0, 0.8, 0.0])                     # to the next joint
    A = np.zeros((3, 3))
    for i, link in enumerate(c["links"]):                   # arms of link i's centre of mass along the angles 0..i
        arm = np.where(np.arange(3) < i, lengths, 0.0)
        arm[i] = -link["com"][2]
        A += link["mass"] * np.outer(arm, arm)
        A[i, i] += link["inertia_com"][1][1]
    A *= np.cos(absolute[:, None] - absolute[None, :])
    agree(em.mass_matrix(m, c["q"]), S.T @ A @ S)


# --- elementary motions -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", range(1, 7))
def test_elementary_motion_is_the_exponential_of_its_operator(kind):
    D, x = em.elementary_operator(kind), 0.7
    T, power, series = em.elementary_matrix(kind, x), np.eye(4), np.zeros((4, 4))
    for k in range(25):
        series, power = series + power, power @ D * x / (k + 1)
    agree(T, series, 1e-15)
    agree(T[:3, :3] @ T[:3, :3].T, np.eye(3), 1e-15)
    assert np.linalg.det(T) == pytest.approx(1, abs=1e-15)
    assert kind > 3 or not (D @ D).any()
    assert np.array_equal(em.elementary_matrix(KINDS[kind - 1], x), T)


@pytest.mark.parametrize("kind", KINDS)
def test_derivative_of_an_elementary_motion_is_a_product_from_either_side(kind):
    with da.Graph():
        x = da.symbol("x")
        T, D = em.elementary_matrix(kind, x), em.elementary_operator(kind)
        rate = derivatives(T, [x])[0]
        for product in (T @ D, D @ T):
            agree(evaluated(rate - product, [x], [0.7]), np.zeros((4, 4)), 1e-16)


def test_elementary_motions_of_a_batch_are_stacked():
    x = np.array([0.1, -0.4, 2.0])
    agree(em.elementary_matrix("Ry", x), [em.elementary_matrix("Ry", float(v)) for v in x], 1e-16)


def test_the_cylindrical_joint_of_the_source_points_z_anywhere():
    """T_Z4(a) T_Z5(b) turns about x, then about the turned y: z goes to (sin b, -sin a cos b, cos a cos b)."""
    a, b = 0.5, -0.35
    (z, phi) = em.motions(mechanism_of(CASES["cylindrical_joint_2dof"]))
    agree(z.constant[:3, 2], [np.sin(b), -np.sin(a) * np.cos(b), np.cos(a) * np.cos(b)], 1e-15)
    assert (z.kind, phi.kind) == ("Tz", "Rz")


# --- derivatives of the products --------------------------------------------------------------------------------------

def test_derivatives_of_products_are_those_of_calculus():
    """On the chain with every kind of motion and turned offsets, by derivatives of expressions."""
    c = CASES["six_dof_all_motions"]
    m = mechanism_of(c)
    with da.Graph():
        q = da.symbols("q", m.nq)
        B, B1 = em.products(m, q), em.first_derivatives(m, q)
        first, second = (evaluated(derivatives(A, q), q, c["q"]) for A in (B, B1))
    agree(em.first_derivatives(m, c["q"]), np.moveaxis(first, 0, 1), 1e-14)
    B2 = em.second_derivatives(m, c["q"])
    agree(B2, np.moveaxis(second, 0, 2), 1e-14)
    assert np.array_equal(B2, np.swapaxes(B2, 1, 2))


def test_second_derivative_is_zero_where_one_of_the_motions_is_outboard():
    """Erratum of (12): j > i or k > i, not both."""
    m = mechanism_of(CASES["rrr_spatial"])
    B2 = em.second_derivatives(m, CASES["rrr_spatial"]["q"])
    for i, j, k in np.ndindex(3, 3, 3):
        assert B2[i, j, k].any() == (j <= i and k <= i)


def test_rate_of_products_is_the_sum_of_first_derivatives():
    """Eq. 9, and A0 from the rates: T = 1/2 sum S(B' I B'^T)."""
    c = CASES["six_dof_all_motions"]
    m, qd, h = mechanism_of(c), np.array(c["qdot"]), 1e-4
    rate = np.einsum("ij...,j->i...", em.first_derivatives(m, c["q"]), qd)
    near = [em.products(m, c["q"] + k * h * qd) for k in (-2, -1, 1, 2)]
    agree(rate, (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * h), 1e-11)
    energy = np.einsum("lab,lbc,lac->", rate, em.pseudo_inertias(m), rate) / 2
    agree(energy, c["kinetic_energy"])


def test_operators_in_base_coordinates_give_all_derivatives(case):
    """B_l^j = D^_j B_l; B_l^ji = D^_j D^_i B_l with the smaller index on the left; composites are sums outboard."""
    m, c = case
    B, D, B1 = em.products(m, c["q"]), em.base_operators(m, c["q"]), em.first_derivatives(m, c["q"])
    B2, I = em.second_derivatives(m, c["q"]), em.pseudo_inertias(m)
    for l in range(c["n"]):
        for i in range(l + 1):
            agree(D[i] @ B[l], B1[l, i])
            for j in range(i + 1):
                agree(D[j] @ D[i] @ B[l], B2[l, j, i])
    P = em.composite_pseudo_inertias(m, c["q"])
    agree(P, [sum(B[l] @ I[l] @ B[l].T for l in range(k, c["n"])) for k in range(c["n"])])


def test_the_order_of_operators_matters():
    c = CASES["rrr_spatial"]
    m = mechanism_of(c)
    D, B, B2 = em.base_operators(m, c["q"]), em.products(m, c["q"]), em.second_derivatives(m, c["q"])
    assert np.abs(D[1] @ D[0] @ B[2] - B2[2, 0, 1]).max() > 0.1


# --- identities of the coefficients -----------------------------------------------------------------------------------

@pytest.mark.parametrize("form", EXPANDED)
def test_christoffel_symbols_have_their_symmetries(case, form):
    """c_ijk = c_jik; c_kkk = 0, c_kjk = 0 for j <= k; c_ijk = -c_kji for i, k >= j (spec of the trace method)."""
    m, c = case
    s, n = em.christoffel_symbols(m, c["q"], form), c["n"]
    agree(s, np.swapaxes(s, 0, 1))
    for j in range(n):
        agree(s[j:, j, j:], -s[j:, j, j:].T)
        agree([s[k, j, k] for k in range(j, n)], np.zeros(n - j))


def test_coefficients_follow_from_the_energies():
    """a_g = dPi/dq; c_ijk and dA0/dq by derivatives of the expression of T; a_q = A0' qd - 1/2 d(qd^T A0 qd)/dq."""
    c = CASES["six_dof_all_motions"]
    m = mechanism_of(c)
    with da.Graph():
        q = da.symbols("q", m.nq)
        gravity = evaluated(da.gradient(em.potential_energy(m, q), q), q, c["q"])
        dM = evaluated(derivatives(em.mass_matrix(m, q), q), q, c["q"])
    agree(em.gravity_vector(m, c["q"]), gravity)
    agree(em.mass_matrix_derivatives(m, c["q"]), dM)
    agree(em.christoffel_symbols(m, c["q"]),
          (np.einsum("ikj->ijk", dM) + np.einsum("jki->ijk", dM) - np.einsum("kij->ijk", dM)) / 2)
    qd = np.array(c["qdot"])
    agree(em.coriolis_vector(m, c["q"], qd), np.einsum("ikj,i,j->k", dM, qd, qd) - np.einsum("kij,i,j->k", dM, qd, qd) / 2)


def test_coriolis_vector_derivatives_are_rows_of_the_velocity_matrices(case):
    """a_q is quadratic in qd, so that central differences are exact."""
    m, c = case
    q, qd, unit = c["q"], np.array(c["qdot"]), np.eye(c["n"])
    found = em.coriolis_vector_derivatives(m, q, qd)
    agree(found, em.velocity_matrices(m, q) @ qd)
    exact = [(em.coriolis_vector(m, q, qd + e) - em.coriolis_vector(m, q, qd - e)) / 2 for e in unit]
    agree(found, np.array(exact).T)


def test_energy_and_vertical_momentum_are_kept_without_forces():
    """First joint about the vertical: (A0 qd)_1 is constant. By RK4; halving the step divides the drift by 32 (order 4, 5)."""
    m, c = mechanism_of(CASES["rrr_spatial"]), CASES["rrr_spatial"]

    def f(x):
        return np.concatenate([x[3:], em.forward_dynamics(m, x[:3], x[3:], np.zeros(3))])

    def invariants(x):
        return np.array([em.kinetic_energy(m, x[:3], x[3:]) + em.potential_energy(m, x[:3]), em.momenta(m, x[:3], x[3:])[0]])

    drift = []
    for steps in (20, 40):
        x, h = np.concatenate([c["q"], c["qdot"]]), 0.2 / steps
        start = invariants(x)
        for _ in range(steps):
            k1 = f(x)
            k2 = f(x + h / 2 * k1)
            k3 = f(x + h / 2 * k2)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(x + h * k3))
        drift.append(np.abs(invariants(x) - start))
    assert (drift[0] < 1e-5).all()
    assert (drift[1] < np.maximum(drift[0] / 12, 1e-13)).all()


def test_splitting_a_constant_motion_or_adding_massless_bodies_changes_nothing():
    inertia = [(4, (0.02, 0, 0.2), (0.08, 0.002, 0.07, -0.004, 0.001, 0.02)), (3, (0.2, 0, 0), (0.01, 0, 0.05, 0, 0, 0.05))]
    one = da.from_motions("Rz(q1) Tz(0.4) Ry(0.3) Rx(q2)", inertia)
    split = da.from_motions("Rz(q1) Tz(0.1) Ry(0.1) Ry(0.2) Tx(0) Tx(0.3*sin(0.3)*-1) Tz(0.3*cos(0.3)) Rx(q2)", inertia)
    idle = da.from_motions("Rz(q1) Tz(0.1) Ty(q3) Tz(0.3) Ry(0.3) Rx(q2)", [inertia[0], None, inertia[1]]).lock({"q3": 0})
    state = ([0.4, -0.9], [1.3, -0.8], [0.5, 2.0])
    for other in (split, idle):
        for form in FORMS:
            agree(em.inverse_dynamics(other, *state, form=form), em.inverse_dynamics(one, *state), 1e-14)


@pytest.mark.parametrize("moments, possible", [((1, 2, 2.5), True), ((1, 2, 3), True), ((1, 2, 3.1), False)])
def test_pseudo_inertia_is_semidefinite_exactly_for_possible_moments(moments, possible):
    x, y, z = moments
    body = da.Body("body", 1, (0.3, -0.2, 0.1), (x, 0, y, 0, 0, z))
    m = da.Mechanism("m", [da.Body("base"), body], [da.Joint("j", da.Revolute(), "base", "body")])
    assert (np.linalg.eigvalsh(em.pseudo_inertias(m)[0])[0] >= -1e-15) == possible


def test_diagonal_entry_is_the_inertia_outboard_with_the_other_joints_locked():
    """Erratum: not of one link. From the composite's tensor about the joint's axis."""
    c = CASES["rrr_spatial"]
    m = mechanism_of(c)
    P, T = em.composite_pseudo_inertias(m, c["q"]), em.products(m, c["q"])
    for k, axis in enumerate([(0, 0, 1), (0, 1, 0), (0, 1, 0)]):
        about = np.linalg.inv(T[k]) @ P[k] @ np.linalg.inv(T[k]).T              # in the axes of the joint
        J = about[:3, :3]
        agree(em.inertia_coefficients(m, c["q"])[k, k], np.array(axis) @ (np.trace(J) * np.eye(3) - J) @ axis)


# --- what the source misprints: the size of the effect is in the reference --------------------------------------------

def operators_of(case):
    return [em.elementary_operator(joint["variable"]) for joint in case["joints"]]


def test_operators_left_of_the_joint_matrix_are_wrong_by_the_stated_amount(case):
    """Erratum of (12): B_i^j with D_j T_j where T_j = C_j T_Z(q_j)."""
    m, c = case
    T, D, I, n = em.joint_matrices(m, c["q"]), operators_of(c), em.pseudo_inertias(m), c["n"]
    B1 = np.zeros((n, n, 4, 4))
    for l, j in np.ndindex(n, n):
        if j <= l:
            factors = [D[i] @ T[i] if i == j else T[i] for i in range(l + 1)]
            B1[l, j] = np.linalg.multi_dot(factors) if l else factors[0]
    a0 = np.einsum("liab,lbc,lkac->ki", B1, I, B1)
    a2 = c["g"] * np.einsum("lka,la->k", B1[:, :, 2], I[:, :, 3])
    stated = c["effect_of_misprints"]["operator_left_of_constant_first_T"]
    agree(np.abs(a0 - em.inertia_coefficients(m, c["q"])).max(), stated["a0"])
    agree(np.abs(a2 - em.gravity_coefficients(m, c["q"])).max(), stated["a2"])


def test_first_derivatives_in_place_of_second_are_wrong_by_the_stated_amount(case):
    """Erratum of (1) and (6): S(B_l^j I_l B_l^kT) in a1."""
    m, c = case
    B1, I, n = em.first_derivatives(m, c["q"]), em.pseudo_inertias(m), c["n"]
    wrong = np.zeros((n, n, n))
    for k, j, i in np.ndindex(n, n, n):
        if i >= j:
            wrong[k, j, i] = (1 if i == j else 2) * sum(np.trace(B1[l, j] @ I[l] @ B1[l, k].T) for l in range(max(i, j, k), n))
    difference = np.abs(wrong - em.velocity_coefficients(m, c["q"])).max()
    agree(difference, c["effect_of_misprints"]["first_derivative_in_place_of_second_in_a1"])


def test_an_inertia_tensor_padded_to_4x4_is_wrong():
    """Erratum of the nomenclature: by 0.66 of 1.08 for the 3R chain."""
    c = CASES["rrr_spatial"]
    m = mechanism_of(c)
    B1, padded = em.first_derivatives(m, c["q"]), em.pseudo_inertias(m)
    for matrix, link in zip(padded, c["links"], strict=True):
        r = np.array(link["com"])
        matrix[:3, :3] = np.array(link["inertia_com"]) + link["mass"] * (r @ r * np.eye(3) - np.outer(r, r))
    wrong = np.einsum("liab,lbc,lkac->ki", B1, padded, B1)
    assert np.abs(wrong - em.inertia_coefficients(m, c["q"])).max() == pytest.approx(0.66, abs=0.005)


def test_gravity_points_down_unless_the_mechanism_says_otherwise():
    """Erratum of (1): + g with z up, as in (7)."""
    m = da.from_motions("Tz(q1)", [(2, (0, 0, 0), (0,) * 6)])
    agree(em.gravity_vector(m, [0.3]), [2 * 9.81])
    sideways = da.from_motions("Tx(q1) Tz(q2)", [None, (2, (0, 0, 0), (0,) * 6)], gravity=(3, 0, 4))
    for form in FORMS:
        agree(em.gravity_vector(sideways, [0.3, 0.1], form), [-6, -8])


# --- symbols ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("form", EXPANDED)
def test_coefficients_of_symbols_evaluate_to_those_of_numbers(case, form):
    m, c = case
    functions = (em.inertia_coefficients, em.velocity_coefficients, em.gravity_coefficients)
    with da.Graph():
        q = da.symbols("q", m.nq)
        for f in functions:
            agree(evaluated(f(m, q, form), q, c["q"]), f(m, c["q"], form))


def test_intermediate_matrices_of_symbols_evaluate_to_those_of_numbers():
    c = CASES["rrr_spatial"]
    m = mechanism_of(c)
    with da.Graph():
        q = da.symbols("q", m.nq)
        for f in (em.joint_matrices, em.products, em.first_derivatives, em.second_derivatives, em.base_operators,
                  em.composite_pseudo_inertias):
            agree(evaluated(f(m, q), q, c["q"]), f(m, c["q"]))


def test_pendulum_in_symbols_is_the_textbook_one():
    """A point mass m on a rod l, turning about y: a0 = m l^2, a2 = m g l sin q (hanging at q = 0)."""
    with da.Graph():
        q, m, l, g = da.symbols("q m l g")
        pendulum = da.from_motions("Ry(q)", [(m, (0, 0, -l), (0,) * 6)], gravity=(0, 0, -g))
        for form in FORMS:
            assert str(em.gravity_vector(pendulum, [q], form)[0]) in ("g*(m*l*sin(q))", "g*(sin(q)*(m*l))")
        values = {q: 0.3, m: 2.0, l: 0.5, g: 9.0}
        assert da.evaluate(em.mass_matrix(pendulum, [q])[0, 0], values) == pytest.approx(0.5, rel=1e-15)
        assert np.array_equal(em.velocity_coefficients(pendulum, [q]), [[[0.0]]])


@pytest.mark.parametrize("quantity, multiplications", [
    ("mass_matrix", (980, 250, None)), ("coriolis_matrix", (4300, 680, None)), ("inverse_dynamics", (5300, 1055, 460))])
def test_forms_cost_as_the_docs_say(quantity, multiplications):
    """Multiplications for the planar chain of 10 links: falls from sums to composite form to recursion."""
    m = da.planar_chain(10)
    for form, most in zip(("sums", "composite", "recursion"), multiplications, strict=True):
        if most is None:
            continue
        with da.Graph():
            q, qd, qdd = (da.symbols(x, 10) for x in ("q", "qd", "qdd"))
            arguments = {"mass_matrix": (q,), "coriolis_matrix": (q, qd)}.get(quantity, (q, qd, qdd))
            assert da.count_operations(getattr(em, quantity)(m, *arguments, form=form))["mul"] <= most * 1.01


# --- errors -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("call, message", [
    (lambda m: em.mass_matrix(m, [0.1, 0.2], form="sum"), "unknown form 'sum' (known: sums, composite). Did you mean 'sums'?"),
    (lambda m: em.mass_matrix(m, [0.1, 0.2], form="recursion"), "unknown form 'recursion' (known: sums, composite)."),
    (lambda m: em.gravity_vector(m, [0.1, 0.2], form="fast"), "unknown form 'fast' (known: recursion, sums, composite)."),
    (lambda m: em.elementary_matrix(7, 0.1), "unknown elementary motion 7 (known: Tx, Ty, Tz, Rx, Ry, Rz, 1 to 6)."),
    (lambda m: em.elementary_operator("Qz"), "unknown elementary motion 'Qz'"),
])
def test_an_unknown_name_is_an_error_that_lists_what_there_is(call, message):
    with pytest.raises(da.UnknownNameError) as caught:
        call(da.planar_chain(2))
    assert message in str(caught.value)


def test_a_coordinate_that_moves_no_mass_is_an_error_naming_joint_and_body():
    m = da.from_motions("Rz(q1) Tx(1) Rz(q2)", [(1, (1, 0, 0), (0,) * 6), None])
    assert em.mass_matrix(m, [0, 0])[1, 1] == 0
    with pytest.raises(da.SingularMassMatrixError) as caught:
        em.forward_dynamics(m, [0, 0], [0, 0], [0, 0])
    assert "joint 'q2': the inertia of body 'link2' and what it carries about this joint is 0, not positive" in str(caught.value)
    assert (caught.value.joint, caught.value.body, caught.value.pivot, caught.value.row) == ("q2", "link2", 0.0, None)
    mast = da.from_motions("Rz(q1) Ry(q2)", [None, (1, (0, 0, 1), (0,) * 6)])       # q2 = 0: the mass is on the first axis
    with pytest.raises(da.SingularMassMatrixError, match="joint 'q1' in row 2: the inertia"):
        em.forward_dynamics(mast, [[0, 0.5], [0, 1], [0, 0]], [0, 0], [0, 0])
    two = da.from_motions("Rz(q1) Rz(q2)", [None, (1, (1, 0, 0), (0, 0, 0.1, 0, 0, 0.3))])      # coaxial: rounding error
    with pytest.raises(da.SingularMassMatrixError, match="joint 'q1'"):
        em.forward_dynamics(two, [0.3, 0.4], [0, 0], [0, 0])
    with pytest.raises(da.SingularMassMatrixError, match="joint 'q1'"):
        em.inverse_mass_matrix(two, [0.3, 0.4])


def test_motion_of_the_base_is_4x4():
    with pytest.raises(da.ShapeError, match=r"base_rate has shape \(3, 3\), expected \(4, 4\)"):
        em.inverse_dynamics_on_moving_base(da.planar_chain(1), [0], [0], [0], np.eye(4), np.eye(3), np.zeros((4, 4)))
