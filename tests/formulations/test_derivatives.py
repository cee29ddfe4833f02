"""Derivatives and regressor against the oracles, against differences along the manifold, on every joint type."""

import numpy as np
import pytest

import dalembert as da
import oracles
from dalembert.formulations.newton_euler import differentiated
from dalembert.formulations.newton_euler.linearization import Linearization
from dalembert.tracing.quantities import traced
from formulations.test_tracing import locked_panda
from model.test_validation import wrist
from trees import seeds


def assert_agrees(ours, theirs, tolerance=1e-10):
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= tolerance * np.abs(theirs).max()


@pytest.mark.parametrize("name", oracles.ROBOTS)
def test_derivatives_of_the_dynamics_are_the_oracles(name):
    arm, o, k = oracles.robot(name), oracles.values(name), oracles.order(name)
    q, square = oracles.coordinates(name, o["q"]), np.ix_(range(20), k, k)
    inverse = da.inverse_dynamics_derivatives(arm, q, o["v"][:, k], o["a"][:, k])
    forward = da.forward_dynamics_derivatives(arm, q, o["v"][:, k], o["tau"][:, k])
    for found, key in zip((*inverse, *forward), ("dtau_dq", "dtau_dv", "M", "dqdd_dq", "dqdd_dv", "Minv"), strict=True):
        assert_agrees(found, o[key][square])


@pytest.mark.parametrize("name", oracles.ROBOTS)
def test_regressor_and_parameters_are_the_oracles(name):
    arm, o, k = oracles.robot(name), oracles.values(name), oracles.order(name)
    q = oracles.coordinates(name, o["q"])
    Y, (names, theta) = da.regressor(arm, q, o["v"][:, k], o["a"][:, k]), da.regressor_parameters(arm)
    assert_agrees(Y @ theta, o["tau_id"][:, k])
    theirs = [j["name"] for j in oracles.INDEX[name]["joints"]]
    blocks = np.array([10 * theirs.index(j.name) + np.arange(10) for j in arm.independent_joints]).ravel()
    assert_agrees(theta, o["params"].ravel()[blocks])
    Y_theirs = o["regressor"][:, k][:, :, blocks]
    assert_agrees(Y, Y_theirs)
    assert names[1] == f"{arm.independent_joints[0].type and arm.tree().joint[1].body}: m cx"


@pytest.mark.parametrize("seed", seeds(3, 12))
def test_derivatives_follow_the_manifold_on_every_joint_type(seed):
    m = da.random_tree(seed, 5, ["spherical", "free", "revolute", "universal", "custom", "continuous", "follower"])
    q, qd = m.random_state(seed)
    x, e, h = np.random.default_rng(seed).standard_normal(m.nv), np.eye(m.nv), 1e-5

    def difference(f):
        return np.array([(f(h * d) - f(-h * d)) / (2 * h) for d in e]).T

    for derivatives, f in ((da.inverse_dynamics_derivatives, da.inverse_dynamics),
                           (da.forward_dynamics_derivatives, da.forward_dynamics)):
        by_q, by_qd, by_x = derivatives(m, q, qd, x)
        scale = 1 + np.abs(by_q).max()
        assert np.abs(by_q - difference(lambda d, f=f: f(m, m.integrate(q, d), qd, x))).max() <= 1e-6 * scale
        assert np.abs(by_qd - difference(lambda d, f=f: f(m, q, qd + d, x))).max() <= 1e-6 * scale
        assert np.abs(by_x - difference(lambda d, f=f: f(m, q, qd, x + d))).max() <= 1e-6 * scale


BOTH = [(da.inverse_dynamics_derivatives, differentiated.inverse_dynamics_derivatives),
        (da.forward_dynamics_derivatives, differentiated.forward_dynamics_derivatives)]
TREES = [(0, 6, "every"), (0, 4, ["spherical", "free", "universal", "planar", "custom", "follower"]), *(
    pytest.param(*more, marks=pytest.mark.slow) for more in (
        (1, 6, "every"), (2, 6, "every"), (1, 4, ["spherical", "free", "universal", "planar", "custom", "follower"])))]


def both(m, q, qd, x):
    """Pairs (by recursion, of the expressions) of all derivatives."""
    return [pair for recursive, graph in BOTH for pair in zip(recursive(m, q, qd, x), graph(m, q, qd, x), strict=True)]


@pytest.mark.parametrize("seed, n, joints", TREES)
def test_the_recursion_gives_the_derivatives_of_the_expressions(seed, n, joints):
    """Also on symmetric configurations (angles 0 and pi/2, unit quaternions), and at rest, where friction is not smooth."""
    m = da.random_tree(seed, n, joints)
    states = [m.random_state(k) for k in (1, 2)]
    right_angles = np.where(m.neutral() == 0, np.pi / 2, m.neutral())
    q = np.array([*(s[0] for s in states), m.neutral(), right_angles if m.nq == m.nv else m.neutral()])
    qd = np.array([*(s[1] for s in states), np.ones(m.nv), np.zeros(m.nv)])
    x = np.random.default_rng(seed).standard_normal((4, m.nv))
    condition = np.linalg.cond(da.mass_matrix(m, q)).max()
    for found, expected in both(m, q, qd, x):
        assert_agrees(found, expected, 1e-14 * max(100, condition))


@pytest.mark.parametrize("bend", [1e-2, 1e-4, 1e-6])
def test_the_recursion_holds_near_a_singular_mass_matrix(bend):
    """A wrist of massless bends whose first and last axes nearly coincide; M condition as 1 / bend^2."""
    straight = wrist().replace({"c.inertia[0,0]": 0.01, "c.inertia[1,1]": 0.01, "c.inertia[2,2]": 0.005})
    q, qd, tau = np.array([0.3, bend, 0.1]), np.array([0.2, -0.1, 0.3]), np.ones(3)
    inverse, graph = (f(straight, q, qd, tau) for f in BOTH[0])
    for found, expected in zip(inverse, graph, strict=True):      # velocities of 0.3: terms of the size of M cancel
        assert np.abs(found - expected).max() <= 1e-14 * np.abs(inverse.mass_matrix).max()
    M, qdd = inverse.mass_matrix, da.forward_dynamics(straight, q, qd, tau)
    by_q, by_qd, by_tau = da.forward_dynamics_derivatives(straight, q, qd, tau)
    at = da.inverse_dynamics_derivatives(straight, q, qd, qdd)
    for found, force in ((by_q, -at.dtau_dq), (by_qd, -at.dtau_dqd), (by_tau, np.eye(3))):
        assert np.abs(M @ found - force).max() <= 1e-12 * (np.abs(M).max() * np.abs(found).max() + np.abs(force).max())


def test_derivatives_of_batches_rows_and_expressions_are_equal():
    m = da.random_tree(3, 6)
    q, qd = (np.array(x) for x in zip(*(m.random_state(k) for k in range(3)), strict=True))
    x = np.random.default_rng(0).standard_normal((3, m.nv))
    for function, _ in BOTH:
        batch, rows = function(m, q, qd, x), [function(m, *state) for state in zip(q, qd, x, strict=True)]
        with da.Graph():
            inputs = da.symbols("q", m.nq), da.symbols("qd", m.nv), da.symbols("x", m.nv)
            at = dict(zip(np.concatenate(inputs), np.concatenate([q[0], qd[0], x[0]]), strict=True))
            evaluated = [np.array(da.evaluate(e, at), float) for e in function(m, *inputs)]
        for k, part in enumerate(batch):
            assert_agrees(part, np.array([row[k] for row in rows]), 1e-13)
            assert_agrees(evaluated[k], rows[0][k], 1e-12)


def test_joints_on_different_branches_are_exactly_independent():
    m = oracles.robot("solo12_floating")
    q, qd = m.random_state(0)
    names = np.array([n.split(".")[0][:2] for n in m.velocity_names])
    apart = (names[:, None] != names[None]) & (np.arange(m.nv) >= 6)[:, None] & (np.arange(m.nv) >= 6)[None]
    assert apart.sum() == 108
    for part in da.inverse_dynamics_derivatives(m, q, qd, np.ones(m.nv)):
        assert not part[apart].any() and part[~apart].any()


def test_the_same_derivatives_with_symbols_in_the_mechanism():
    m = da.random_tree(5, 4, ["revolute", "universal", "prismatic"])
    path = f"{m.bodies[-1].name}.mass"
    q, qd = m.random_state(1)
    with da.Graph():
        mass = da.symbol("mass")
        found = da.inverse_dynamics_derivatives(m.replace({path: mass}), q, qd, qd)
        expected = da.inverse_dynamics_derivatives(m.replace({path: 2.5}), q, qd, qd)
        for ours, right in zip(found, expected, strict=True):
            assert_agrees(np.array(da.evaluate(ours, {mass: 2.5}), float), right, 1e-13)


COUNTS = [("panda", "inverse_dynamics_derivatives", 3200), ("panda", "forward_dynamics_derivatives", 5320),
          ("ur5", "inverse_dynamics_derivatives", 1803), ("ur5", "forward_dynamics_derivatives", 2971),
          pytest.param("g1_floating", "inverse_dynamics_derivatives", 27_800, marks=pytest.mark.slow),
          pytest.param("g1_floating", "forward_dynamics_derivatives", 96985, marks=pytest.mark.slow)]


@pytest.mark.parametrize("name, quantity, most", COUNTS)
def test_operation_gate_of_the_derivatives(name, quantity, most):
    """The counts reached (derivatives of the expressions took 6007, 8818, 1961, 3550, 86502, 193566), so that none is lost."""
    m = locked_panda() if name == "panda" else oracles.robot(name)
    assert traced(m, [quantity]).operations() <= most


def test_compiled_derivatives_take_the_form_of_fewer_operations():
    """A planar chain's flow of mass is hardly needed: differentiating its few expressions leaves 148 operations, not 195."""
    m = da.planar_chain(3)
    with da.Graph():
        x = da.symbols("q", 3), da.symbols("qd", 3), da.symbols("x", 3)
        recursive, graph = (sum(da.count_operations(np.array(f(m, *x))).values()) for f in BOTH[0])
    assert traced(m, ["inverse_dynamics_derivatives"]).operations() <= 148 < graph < recursive == 225


@pytest.mark.parametrize("joints", [["spherical"], ["free", "revolute"], ["revolute", "universal"]])
def test_linearization_predicts_how_a_neighbour_moves(joints):
    """Two close motions, integrated for a short time: their difference grows as exp(A t) says."""
    m = da.random_tree(9, 2, joints).without("friction")
    q, qd = m.random_state(1)
    tau, n = np.linspace(-1, 1, m.nv), m.nv
    A, B = da.linearize(m, q, qd, tau)
    assert np.allclose(B[n:], da.inverse_mass_matrix(m, q)) and not B[:n].any()
    h = 1e-4
    for direction in np.eye(2 * n):
        step = 1e-4 * direction
        rates = []
        for sign in (1, -1):
            near_q, near_qd = m.integrate(q, sign * step[:n]), qd + sign * step[n:]
            qs = []
            for t in (h, -h):
                near = m.integrate(near_q, t * near_qd + t * t / 2 * da.forward_dynamics(m, near_q, near_qd, tau))
                own = m.integrate(q, t * qd + t * t / 2 * da.forward_dynamics(m, q, qd, tau))
                qs.append(m.difference(near, own))
            dq_rate = (qs[0] - qs[1]) / (2 * h)
            dqd_rate = da.forward_dynamics(m, near_q, near_qd, tau) - da.forward_dynamics(m, q, qd, tau)
            rates.append(np.concatenate([dq_rate, dqd_rate]))
        predicted = A @ step
        assert np.abs((rates[0] - rates[1]) / 2 - predicted).max() <= 2e-6 * (1 + np.abs(A).max()) * 1e-2


def test_derivatives_that_do_not_depend_on_the_state_have_the_batch_too():
    m = da.planar_chain(1)
    for found in (da.inverse_dynamics_derivatives, da.forward_dynamics_derivatives):
        for n in (0, 1, 5):
            assert [x.shape for x in found(m, *np.zeros((3, n, 1)))] == [(n, 1, 1)] * 3


@pytest.mark.parametrize("function", [da.forward_dynamics_derivatives, da.linearize])
def test_a_singular_mass_matrix_is_an_error_not_infinite(function):
    ghost = da.Mechanism("m", [da.Body("base"), da.Body("link")], [da.Joint("j", da.Revolute(), "base", "link")])
    with pytest.raises(da.SingularMassMatrixError, match="joint 'j'"):
        function(ghost, [0], [0], [0])
    straight = wrist().replace({"c.inertia[0,0]": 0.01, "c.inertia[1,1]": 0.01, "c.inertia[2,2]": 0.005})
    with pytest.raises(da.SingularMassMatrixError, match="joint 'j0' in row 1"):
        function(straight, [[0.3, 0.5, 0.1], [0.3, 0, 0.1]], [1, 1, 1], [1, 1, 1])


def test_every_linear_model_prints():
    free = da.linearize(da.planar_chain(1).replace({"gravity[2]": 0}), [0.0], [0.0], [0.0])
    assert repr(free).startswith("x' = A x + B u, eigenvalues 0, 0 1/s\n")
    no_rates = Linearization(free.A[:1, :1], free.B[:1]).of_mechanism(da.planar_chain(1), [0], [])      # rows hold all velocities
    assert no_rates.states == ("q1",) and "q1 [rad]   0  |" in repr(no_rates)
    no_numbers = Linearization(free.A * np.nan, free.B).of_mechanism(da.planar_chain(1))
    assert repr(no_numbers) == "<Linearization: A (2, 2), B (2, 1), states q1, q1 rate>"
