"""Mechanisms in (q, p): the same motions as in (q, qd), and maps that are symplectic."""

import numpy as np
import pytest

import dalembert as da
from dalembert.expr import Graph, symbols
from dalembert.formulations import hamilton, newton_euler
from dalembert.simulation import simulate as module
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.options import Model
from dalembert.tracing import regrouping
from methods import IN_MOMENTA, each

SYMPLECTIC = ("implicit_midpoint", "gauss4", "gauss6", "symplectic_euler")
JOINTS = ("revolute", "continuous", "prismatic", "helical", "cylindrical", "universal", "planar", "spherical", "free")


def omega(n):
    return np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])


@pytest.mark.parametrize("joint", [j if j in ("universal", "free") else pytest.param(j, marks=pytest.mark.slow) for j in JOINTS])
def test_every_joint_type_moves_as_in_coordinates_and_velocities(joint):
    m = da.random_tree(3, 2, [joint]).without("friction")            # which jumps
    q, qd = m.random_state(4)
    runs = [da.simulate(m, q, 0.3 * qd, 0.3, method="dopri5", rtol=1e-11, atol=1e-12, record=0.1, formulation=f,
                        control=lambda t, q, qd: 0.2 * da.sin(3 * t) - 0.1 * qd) for f in (None, "hamilton")]
    assert {j.type.name for j in m.independent_joints} == {joint} and all(run.reason == "finished" for run in runs)
    for name in ("q", "qd", "work", "energy", "momenta"):
        right, found = (getattr(run, name) for run in runs)
        assert np.abs(found - right).max() < 1e-8 * max(1, np.abs(right).max()), name


@pytest.mark.parametrize("method", each(IN_MOMENTA, ("symplectic_euler", "rk4", "gauss4", "dopri5", "radau5")))
def test_every_method_goes_where_the_others_go(method):
    chain = da.planar_chain(2)
    right = da.simulate(chain, [0.3, -0.8], [0, 0], 0.4, method="dop853", rtol=1e-12, record=0.1)
    run = da.simulate(chain, [0.3, -0.8], [0, 0], 0.4, method=method, record=0.1, formulation="hamilton")
    error = {"explicit_euler": 2e-2, "symplectic_euler": 2e-2, "implicit_midpoint": 1e-4, "discrete_gradient": 1e-4}
    assert run.reason == "finished" and np.abs(run.q - right.q).max() < error.get(method, 1e-7)
    assert run.energy_drift < {"explicit_euler": 0.1, "symplectic_euler": 0.05, "implicit_midpoint": 1e-4,
                               "discrete_gradient": 1e-11}.get(method, 1e-7)


def step_map(mechanism, q, p, h, method, formulation):
    """(q, p) after one step, of many states at once."""
    qd = hamilton.velocities(mechanism, q, p)
    run = da.simulate(mechanism, q, qd, [0, h], h=h, method=method, formulation=formulation)
    return np.hstack([run.q[:, -1], run.momenta[:, -1]])


def defect(mechanism, method, formulation="hamilton", h=0.05, small=2e-3):
    """Largest entry of J^T Omega J - Omega of the map of one step, J by central differences of order 6."""
    n = mechanism.nv
    q, qd = mechanism.random_state(1)
    x = np.concatenate([q, hamilton.momenta(mechanism, q, qd)])
    offsets, weights = np.array([1, 2, 3, -1, -2, -3]), np.array([45, -9, 1, -45, 9, -1]) / 60
    shifted = x + small * np.kron(offsets[:, None], np.eye(2 * n))
    found = step_map(mechanism, shifted[:, :n], shifted[:, n:], h, method, formulation).reshape(6, 2 * n, 2 * n)
    J = np.einsum("k,kij->ji", weights, found) / small
    return np.abs(J.T @ omega(n) @ J - omega(n)).max()


CHAIN = da.planar_chain(2)
TREE = da.random_tree(2, 4, ["revolute", "prismatic", "helical", "universal"]).without("friction")


@pytest.mark.parametrize("method", SYMPLECTIC)
@pytest.mark.parametrize("mechanism", [CHAIN, pytest.param(TREE, marks=pytest.mark.slow)], ids=["chain", "tree"])
def test_a_step_is_a_symplectic_map(method, mechanism):
    assert defect(mechanism, method) < 1e-8


def test_a_step_of_a_tree_is_a_symplectic_map():
    assert defect(TREE, "implicit_midpoint") < 1e-8


def test_other_methods_and_the_midpoint_rule_on_velocities_are_not_symplectic():
    assert defect(CHAIN, "rk4", h=0.1) > 1e-6
    assert defect(CHAIN, "discrete_gradient") > 1e-6
    assert defect(CHAIN, "implicit_midpoint", "newton_euler") > 1e-6


@pytest.mark.parametrize(("method", "h", "bound"), [("implicit_midpoint", 5e-3, 1e-2), ("gauss4", 0.01, 1e-3),
                                                    ("symplectic_euler", 2e-3, 0.1)])
def test_energy_stays_bounded(method, h, bound):
    chain = da.planar_chain(2)
    run = da.simulate(chain, [0.5, 0.3], [0, 0], 20_000 * h, method=method, h=h, formulation="hamilton", record=20 * h)
    early, late = (np.abs(part).max() for part in np.split(run.power_balance[:-1], [len(run.times) // 2]))
    scale = run.kinetic_energy.max()
    assert run.reason == "finished" and 1e-14 < late / scale < bound and late < 2 * early


def test_accelerations_are_nowhere_computed(monkeypatch):
    """The right-hand side in (q, p) is its own computation; with forward dynamics broken, (q, qd) cannot be traced."""
    def forbidden(*_, **__):
        raise AssertionError("forward dynamics")

    for name in ("forward_dynamics", "inverse_dynamics", "bias_force", "coriolis_matrix", "coriolis_vector", "mass_matrix"):
        monkeypatch.setattr(newton_euler, name, forbidden)
    for name in ("forward_dynamics", "forward_dynamics_by_factors"):
        monkeypatch.setattr(regrouping, name, forbidden)
    monkeypatch.setattr(module, "warn_of_drift", lambda _: None)      # of its own: energies are compiled quantities
    m = da.random_tree(7, 4, ["free", "revolute", "spherical"]).without("friction")
    q, qd = m.random_state(1)
    run = da.simulate(m, q, 0.1 * qd, 0.02, formulation="hamilton")
    assert run.reason == "finished" and np.isfinite(run.qd).all()
    with Graph(), pytest.raises(AssertionError, match="forward dynamics"):
        motion = FirstOrderSystem(Model(m))
        motion.right_hand_side(symbols("t", 1)[0], symbols("x", motion.nx), np.zeros(1))


def test_forces_are_those_of_velocities_and_called_ones_agree():
    chain = da.planar_chain(2).replace({"q1.viscous": 0.4, "q2.stiffness": 3.0})

    def control(t, q, qd):
        return np.array([da.sin(2 * t) - 3 * qd[0], -2 * q[1]])

    options = {"t": 0.3, "h": 5e-3, "record": 0.1, "formulation": "hamilton"}
    traced = da.simulate(chain, [1.0, 0.5], [0.2, 0], control=control, **options)
    called = da.simulate(chain, [1.0, 0.5], [0.2, 0], control=lambda t, q, qd: control(float(t), q, qd), **options)
    assert (traced.forces["control"], called.forces["control"]) == ("traced", "called")
    assert np.abs(traced.q - called.q).max() < 1e-12 and np.abs(traced.qd - called.qd).max() < 1e-12
    right = da.simulate(chain, [1.0, 0.5], [0.2, 0], control=control, t=0.3, record=0.1, method="dop853")
    assert np.abs(traced.qd - right.qd).max() < 1e-7 and abs(traced.work[-1]) > 1e-3
    many = da.simulate(chain, [[1.0, 0.5], [0, 0]], [0.2, 0], control=control, **options)
    assert np.array_equal(many.q[0], traced.q) and np.array_equal(many.qd[0], traced.qd)


def test_momenta_that_are_conserved_are_kept_to_rounding():
    """Linear momenta of cyclic coordinates: p' = 0 exactly, whatever the step; in (q, qd) only to its error."""
    cart = da.Mechanism("cart", [da.Body("base"), da.Body("cart", 1), da.Body("pole", 0.5, (0, 0, 0.5), (.01, 0, .01, 0, 0, .01))],
                        [da.Joint("x", da.Prismatic((1, 0, 0)), "base", "cart"),
                         da.Joint("theta", da.Revolute((0, 1, 0)), "cart", "pole")])
    drift = {}
    for formulation in ("newton_euler", "hamilton"):
        run = da.simulate(cart, [0, 0.3], [0.2, 0], 5.0, h=0.02, formulation=formulation)
        drift[formulation] = np.abs(run.momenta[:, 0] - run.momenta[0, 0]).max()
    assert drift["hamilton"] < 1e-14 < 1e-9 < drift["newton_euler"]


def test_what_does_not_go_together_is_refused():
    body = da.random_tree(5, 1, ["free"])
    q, qd = body.random_state(0)
    with pytest.raises(ValueError, match="lie_rk4 turns quaternions by angular velocities"):
        da.simulate(body, q, qd, 0.1, method="lie_rk4", formulation="hamilton")
    with pytest.raises(da.UnknownNameError, match="unknown formulation 'hamiltn'.*Did you mean 'hamilton'"):
        da.simulate(body, q, qd, 0.1, formulation="hamiltn")
    massless = da.planar_chain(2).replace({"link2.mass": 0, **{f"link2.inertia[{i},{i}]": 0 for i in range(3)}})
    with pytest.raises(da.SingularMassMatrixError, match="q2"):
        da.simulate(massless, [0, 0], [0, 0], 1.0, formulation="hamilton")
    with pytest.raises(TypeError, match="a float cannot be simulated"):
        da.simulate(1.0, [0], [0], 1.0)
