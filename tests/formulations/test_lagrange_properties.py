"""Properties of D, C and G with numbers, bounds of eigenvalues over the workspace, passivity along runs."""

import json

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
import oracles
from dalembert import lagrange
from dalembert.formulations.lagrange.intervals import enclosures
from formulations.test_identities import tree
from readers.test_motions import CASES, mechanism_of
from trees import seeds

REFERENCE = json.loads((oracles.DATA / "reference" / "euler_lagrange.json").read_text())
BOUNDS = REFERENCE["workspace_bounds"]
FOUND = 1e-6      # relative: the source's search and ours stop there; what is proved holds exactly


# --- properties at a state ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", seeds(3, 6))
def test_properties_hold_on_trees_with_every_joint_type(seed):
    m, q, qd, _ = tree(seed)
    for p in lagrange.properties(m, q, qd):
        assert p.holds, p


def test_properties_fail_where_they_should():
    """The wrist's matrix is singular; a Coriolis matrix that is not Christoffel's keeps qd^T N qd = 0 but is not skew."""
    from model.test_validation import wrist

    failed = [p.name for p in lagrange.properties(wrist(), REFERENCE["singular_wrist"]["q"], [1, 1, 1]) if not p.holds]
    assert failed == ["D positive definite: -smallest/largest eigenvalue"]
    m, case = mechanism_of(CASES["rrr_spatial"]), REFERENCE["cases"][0]
    qd, N = np.array(case["qdot"]), np.array(case["N"])
    C = lagrange.coriolis_matrix(m, case["q"], qd)
    wrong = C + np.outer([1.0, -2.0, 0.5], np.cross(qd, [0, 0, 1]))
    assert np.allclose(wrong @ qd, C @ qd)
    other = N + 2 * C - 2 * wrong
    assert abs(qd @ other @ qd) < 1e-12 and np.abs(other + other.T).max() > 1


def test_a_property_prints_its_number():
    text = str(lagrange.Property("D = D^T", 2e-16, 1e-12))
    assert text == "holds   2.0e-16 <= 1e-12  D = D^T"
    assert str(lagrange.Property("x", 1.0, 1e-12)).startswith("FAILS")


# --- bounds over the workspace --------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def rrr():
    return lagrange.eigenvalue_bounds(mechanism_of(CASES["rrr_spatial"]), tolerance=1e-3)


def test_eigenvalues_of_the_spatial_arm_are_proved_to_lie_within_the_source_s_search(rrr):
    case = BOUNDS["rrr_spatial"]
    for found, searched in ((rrr.smallest, case["lambda_min"]), (rrr.largest, case["lambda_max"])):
        assert found.lower <= searched * (1 + FOUND) and searched * (1 - FOUND) <= found.upper
        assert found.upper - found.lower <= 1.01e-3 * searched
    assert rrr.smallest.upper == pytest.approx(case["lambda_min"], rel=FOUND)
    assert rrr.largest.lower == pytest.approx(case["lambda_max"], rel=FOUND)
    assert rrr.positive_definite and rrr.method == "branch_and_bound"


def test_the_bounds_are_attained_where_they_say_and_hold_at_samples(rrr):
    m = mechanism_of(CASES["rrr_spatial"])
    for found, k in ((rrr.smallest, 0), (rrr.largest, -1)):
        value = np.linalg.eigvalsh(da.mass_matrix(m, found.q))[k]
        assert found.lower <= value * (1 + 1e-12) and value <= found.upper * (1 + 1e-12)
    q = np.random.default_rng(5).uniform(-np.pi, np.pi, (20_000, 3))
    values = np.linalg.eigvalsh(da.mass_matrix(m, q))
    assert rrr.smallest.lower <= values.min() and values.max() <= rrr.largest.upper


def test_largest_eigenvalue_grows_with_the_stroke_of_a_slide():
    """Kolyubin's last line is wrong for prismatic joints: no bound without limits."""
    m = mechanism_of(CASES["cylindrical_rpp"])
    for stroke in (1.0, 4.0, 8.0):
        b = lagrange.eigenvalue_bounds(m, [-np.pi, 0, 0], [np.pi, stroke, stroke])
        case = BOUNDS[f"cylindrical_rpp_stroke_{stroke}"]
        assert b.smallest.lower <= case["lambda_min"] * (1 + 1e-12) and b.largest.upper >= case["lambda_max"] * (1 - 1e-12)
        assert b.smallest.upper == pytest.approx(case["lambda_min"], rel=FOUND)
        assert b.largest.lower == pytest.approx(case["lambda_max"], rel=FOUND)
    with pytest.raises(da.DalembertError, match="'q2' has no limits: eigenvalues .* have no bounds over an unlimited stroke"):
        lagrange.eigenvalue_bounds(m)


def test_planar_2r_bounds_are_the_closed_form_s():
    from formulations.test_lagrange import planar_2r

    case = REFERENCE["closed_form_2R"]["eigenvalue_bounds"]
    b = lagrange.eigenvalue_bounds(planar_2r(), tolerance=1e-6)
    for found, expected in ((b.smallest, case["lambda_min"]), (b.largest, case["lambda_max"])):
        assert found.lower - 1e-12 <= expected <= found.upper + 1e-12 and found.upper - found.lower <= 1.1e-6 * expected


def test_a_sampled_bound_is_an_estimate_from_within(rrr):
    m = mechanism_of(CASES["rrr_spatial"])
    b = lagrange.eigenvalue_bounds(m, method="sampling")
    assert b.smallest.lower == -np.inf and b.largest.upper == np.inf and b.positive_definite is None
    assert rrr.smallest.lower <= b.smallest.upper <= 1.001 * rrr.smallest.upper
    assert 0.999 * rrr.largest.lower <= b.largest.lower <= rrr.largest.upper
    free = lagrange.eigenvalue_bounds(da.random_tree(1, 3, ["spherical", "revolute"]), method="sampling")
    assert free.smallest.upper > 0


def test_limits_units_budget_and_floating_bases():
    arm = da.planar_chain(3)
    few = lagrange.eigenvalue_bounds(arm, max_boxes=200)
    full = lagrange.eigenvalue_bounds(arm, tolerance=0.02)
    assert few.smallest.lower < full.smallest.lower <= full.smallest.upper                  # wider, still bounds
    floating = da.planar_chain(1).floating().replace({"base.mass": 1, **{f"base.inertia[{k},{k}]": 0.1 for k in range(3)}})
    b = lagrange.eigenvalue_bounds(floating, length=0.5, tolerance=1e-2)
    assert b.positive_definite
    q = np.array(b.smallest.q)
    D = da.mass_matrix(floating, q) * np.outer(*[[1, 1, 1, 0.5, 0.5, 0.5, 1]] * 2)
    assert b.smallest.lower <= np.linalg.eigvalsh(D)[0] <= b.smallest.upper * (1 + 1e-12)


@pytest.mark.parametrize("call, error, message", [
    (lambda: lagrange.eigenvalue_bounds(da.planar_chain(2), method="brand_and_bound"), da.UnknownNameError, "Did you mean"),
    (lambda: lagrange.eigenvalue_bounds(da.planar_chain(2), [0, 1], [1, 0]), ValueError, "'q2': lower bound 1.0 is above upper"),
    (lambda: lagrange.eigenvalue_bounds(da.planar_chain(2), [0], [1]), ValueError, r"lower has shape \(1,\), expected \(2,\)"),
    (lambda: lagrange.eigenvalue_bounds(da.planar_chain(2, mass=da.symbol("m")), method="sampling"), da.DalembertError,
     "'planar chain' has symbols without values: m. Give them values"),
    (lambda: lagrange.eigenvalue_bounds(da.random_tree(1, 3, ["spherical"])), da.DalembertError,
     "attitude of joint 'joint2' .*use method='sampling'"),
])
def test_bounds_that_do_not_exist_are_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_interval_arithmetic_encloses_the_values():
    rng = np.random.default_rng(0)
    with da.Graph():
        x, y = da.symbols("x y")
        terms = [x * x, x * y - x / (2 + y * y), da.sin(x) * da.cos(3 * y), -da.sqrt(x * x + 1), da.cos(x) - x, da.constant(2.5)]
        low = rng.uniform(-8, 8, (2, 200))
        high = low + 10.0 ** rng.uniform(-6, 1, (2, 200))
        a, b = enclosures(terms, {x: (low[0], high[0]), y: (low[1], high[1])}, 200)
        for _ in range(50):
            at = low + rng.uniform(0, 1, low.shape) * (high - low)
            values = np.array(da.evaluate(terms, {x: at[0], y: at[1]}))
            assert (a <= values).all() and (values <= b).all()
        narrow = np.zeros(200), np.full(200, 1e-9)
        a, b = enclosures(terms[:4], {x: narrow, y: narrow}, 200)
        assert (b - a).max() < 1e-8                                                     # not merely safe, also tight
        with pytest.raises(da.DalembertError, match="no interval rule for 'tanh'"):
            enclosures([da.tanh(x)], {x: narrow}, 200)


# --- passivity ------------------------------------------------------------------------------------------------------

def run(m, q, qd, end, tau, count):
    dynamics = da.compile(m)

    def rates(t, x):
        return np.concatenate([x[m.nv:], dynamics.forward_dynamics(x[:m.nv], x[m.nv:], tau(t, x[m.nv:]))])

    t = np.linspace(0, end, count)
    done = solve_ivp(rates, (0, end), [*q, *qd], method="DOP853", rtol=1e-12, atol=1e-12, t_eval=t)
    assert done.success
    q, qd = done.y[:m.nv].T, done.y[m.nv:].T
    return t, q, qd, np.array([tau(s, v) for s, v in zip(t, qd)])


def test_energy_balance_of_the_source_s_run():
    case = REFERENCE["passivity"]
    m = mechanism_of(CASES["rrr_spatial"])
    t, q, qd, tau = run(m, case["q0"], case["qdot0"], 2.0, lambda t, v: np.array(
        [3 * np.sin(2 * t), 20 * np.cos(3 * t), -4 * np.sin(t)]) - 0.2 * v, 2001)
    assert np.allclose(q[-1], case["q_end"], rtol=0, atol=1e-8)
    b = lagrange.passivity_balance(m, t, q, qd, tau)
    assert b.holds and b.work == pytest.approx(case["work"], abs=1e-7) and b.dissipated == 0
    assert b.energy_change == pytest.approx(case["H_end"] - case["H0"], abs=1e-7)
    assert abs(b.defect) < 1e-8 and np.isnan(b.lower_bound)
    coarse = lagrange.passivity_balance(m, t[::5], q[::5], qd[::5], tau[::5])
    assert coarse.holds and abs(b.defect) < coarse.quadrature_error < 1e-2                 # the estimate is honest
    assert not lagrange.passivity_balance(m, t, q, qd, 1.001 * tau).holds


def test_friction_of_the_mechanism_is_part_of_the_balance():
    m = da.planar_chain(2)
    m = da.Mechanism("damped", m.bodies, tuple(da.Joint(j.name, j.type, j.parent, j.child, j.origin, viscous=0.3, stiffness=2)
                                               for j in m.joints))
    t, q, qd, tau = run(m, [0.3, 0.2], [0, 0], 3.0, lambda t, v: np.array([np.sin(t), 0.1]), 3001)
    b = lagrange.passivity_balance(m, t, q, qd, tau)
    assert b.holds and b.dissipated > 1 and abs(b.defect) < 1e-7


def test_the_printed_passivity_bound_is_violated_and_the_corrected_one_holds():
    """Pendulum with Pi = -m g l cos q, damped by tau = -qd, let go at q = pi/2: it gives 9.81 J, more than H(0) = 0."""
    case = REFERENCE["passivity_counterexample"]
    bob = da.Body("bob", 1, (0, 0, -1))
    m = da.Mechanism("pendulum", [da.Body("base"), bob], [da.Joint("q", da.Revolute((0, -1, 0)), "base", "bob")])
    t, q, qd, tau = run(m, [np.pi / 2], [0], 60.0, lambda t, v: -v, 6001)
    least, greatest = lagrange.potential_bounds(m, tolerance=1e-9)
    assert least.lower == pytest.approx(-9.81, rel=1e-8) and greatest.upper == pytest.approx(9.81, rel=1e-8)
    b = lagrange.passivity_balance(m, t, q, qd, tau, potential_minimum=least.lower)
    assert b.holds and b.work == pytest.approx(case["work"], abs=1e-6)
    assert b.work < -case["H0"] - 9 and b.work >= b.lower_bound - 1e-6                     # printed bound: -H(0) = 0
    with pytest.raises(da.ShapeError, match="at least 5 increasing times"):
        lagrange.passivity_balance(m, t[::-1], q, qd, tau)
