"""Derivatives and regressor against the oracles, against differences along the manifold, on every joint type."""

import numpy as np
import pytest

import dalembert as da
import oracles
from model.test_validation import wrist


def assert_agrees(ours, theirs, tolerance=1e-10):
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= tolerance * np.abs(theirs).max()


SMALL = [name for name in oracles.ROBOTS if oracles.robot(name).nv <= 9]


@pytest.mark.parametrize("name", [*SMALL, *(pytest.param(n, marks=pytest.mark.slow) for n in oracles.ROBOTS if n not in SMALL)])
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


@pytest.mark.parametrize("seed", range(8))
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


@pytest.mark.parametrize("joints", [["spherical"], ["free"], ["free", "revolute", "spherical"], ["revolute", "universal"]])
def test_linearization_predicts_how_a_neighbour_moves(joints):
    """Two close motions, integrated for a short time: their difference grows as exp(A t) says."""
    m = da.random_tree(9, 3, joints).without("friction")
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
