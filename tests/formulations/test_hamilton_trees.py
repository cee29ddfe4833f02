"""Hamilton's form on random trees with every joint type: against Newton-Euler, by differences, and on symbols.

Tolerances: as in trees.py.
"""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert import hamilton
from trees import DIFFERENCES, EVERY_TREE, close, derivative, loads, tree

PACKAGE = Path(hamilton.__file__).parent


# --- its own computation ----------------------------------------------------------------------------------------------

def test_no_other_formulation_is_loaded_by_the_right_hand_side():
    code = """
import sys
import dalembert as da
from dalembert.formulations import hamilton
m = da.random_tree(3, 8)
q, qd = m.random_state(3)
p = hamilton.momenta(m, q, qd)
hamilton.state_equations(m, q, p, qd, external_forces=[da.ExternalForce("body1", (1, 2, 3))])
hamilton.hamiltonian(m, q, p)
print([name for name in sys.modules if name.startswith("dalembert.formulations.") and "hamilton" not in name])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_acceleration_and_no_coriolis_term_is_in_the_package():
    """Every identifier of the package; accelerations of gravity apart."""
    names = set()
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names |= {getattr(node, field) for field in ("id", "attr", "arg", "name") if isinstance(getattr(node, field, None), str)}
    assert not [n for n in names if any(w in n.lower() for w in ("accel", "coriolis", "christoffel", "qdd", "bias_force", "forward"))]


def test_the_wrench_of_an_acceleration_is_never_asked_for(monkeypatch):
    """Newton's and Euler's equation of a body made to fail: Newton-Euler's forces fail with it, the right-hand side does not."""
    from dalembert.spatial.inertias import Inertia

    m, q, qd, tau = tree(4)
    p = hamilton.momenta(m, q, qd)
    before = hamilton.state_equations(m, q, p, tau)

    def fails(*_, **__):
        raise AssertionError("an acceleration was asked for")

    monkeypatch.setattr(Inertia, "wrench", fails)
    with pytest.raises(AssertionError, match="asked for"):
        da.bias_force(m, q, qd)
    assert all(np.array_equal(a, b) for a, b in zip(before, hamilton.state_equations(m, q, p, tau), strict=True))


# --- against Newton-Euler ---------------------------------------------------------------------------------------------

@EVERY_TREE
def test_momenta_energies_and_mass_matrix_are_those_of_newton_euler(seed):
    m, q, qd, _ = tree(seed)
    M = da.mass_matrix(m, q)
    p = hamilton.momenta(m, q, qd)
    parts = sum(abs(float(b.mass)) * np.abs(da.placement(m, q, b.name)[:3, 3]).max() for b in m.bodies) * 10
    T, Pi = da.kinetic_energy(m, q, qd), da.potential_energy(m, q)
    assert close(p, M @ qd) and close(hamilton.mass_matrix(m, q), M)
    assert close(hamilton.kinetic_energy(m, q, qd), T)
    assert close(hamilton.potential_energy(m, q), Pi, parts + abs(Pi))
    assert close(hamilton.hamiltonian(m, q, p), T + Pi, parts + abs(Pi) + T)
    inverse = hamilton.inverse_mass_matrix(m, q)
    assert close(M @ inverse, np.eye(m.nv), np.abs(M).max() * np.abs(inverse).max())


@EVERY_TREE
@pytest.mark.parametrize("solver", ["sweep", "cholesky"])
def test_velocities_solve_with_the_mass_matrix(seed, solver):
    """By the backward error."""
    m, q, _, p = tree(seed)
    M = da.mass_matrix(m, q)
    z = hamilton.velocities(m, q, p, solver=solver)
    assert close(M @ z, p, np.abs(M).max() * np.abs(z).max() + np.abs(p).max())


@EVERY_TREE
def test_momentum_rate_is_that_of_inverse_dynamics(seed):
    """p' = M qdd + M' qd with M qdd + C qd + g = Q and M' = C + C^T: p' = C^T qd - g + Q, for quasi-velocities as well."""
    m, q, qd, tau = tree(seed)
    p, C = da.momenta(m, q, qd), da.coriolis_matrix(m, q, qd)
    qdd = da.forward_dynamics(m, q, qd, tau, loads(m))
    Q = da.mass_matrix(m, q) @ qdd + da.bias_force(m, q, qd)                       # all forces, by Newton-Euler
    found = hamilton.state_equations(m, q, p, tau, external_forces=loads(m))
    terms = [C.T @ qd, da.gravity_vector(m, q), Q]
    scale = sum(np.abs(x).max(initial=0) for x in terms)
    assert close(found.p_rate, terms[0] - terms[1] + terms[2], scale * 10)
    assert close(found.q_rate, m.rate(q, found.qd))


@EVERY_TREE
def test_gradient_and_lie_poisson_term_by_differences(seed):
    """dL/dq along each (quasi-)velocity direction with qd held; what is left of C^T qd is the term of the quasi-velocities."""
    m, q, qd, _ = tree(seed)

    def L(q):
        return da.kinetic_energy(m, q, qd) - da.potential_energy(m, q)

    expected = np.array([derivative(lambda t, e=e: L(m.integrate(q, t * e))) for e in np.eye(m.nv)])
    found = hamilton.lagrangian_gradient(m, q, qd)
    assert close(found, expected, 1 + np.abs(expected).max(), DIFFERENCES)
    p = da.momenta(m, q, qd)
    term = hamilton.lie_poisson_term(m, q, qd, p)
    springs = da.passive_force(m, q, 0 * qd)
    left = da.coriolis_matrix(m, q, qd).T @ qd - da.gravity_vector(m, q) + springs - found
    assert close(term, left, 1 + np.abs(found).max() + np.abs(left).max())
    assert m.quaternions or not term.any()


@pytest.mark.parametrize("joint", ["spherical", "free"])
def test_lie_poisson_term_of_a_body_is_eulers_equation(joint):
    m = da.Mechanism("body", [da.Body("base"), da.Body("top", 2, (0, 0, 0), (1, 0, 2, 0, 0, 3))],
                     [da.Joint("j", {"spherical": da.Spherical, "free": da.Free}[joint](), "base", "top")], gravity=(0, 0, 0))
    w, v = np.array([0.4, -1.1, 0.7]), np.array([0.2, 0.5, -0.3])
    qd = w if joint == "spherical" else np.concatenate([w, v])
    p = hamilton.momenta(m, m.neutral(), qd)
    expected = np.cross([1, 2, 3] * w, w)                                         # I w' = I w x w
    if joint == "free":
        expected = np.concatenate([expected, np.cross(2 * v, w)])                 # m v' = m v x w, axes of the body
    assert close(hamilton.state_equations(m, m.neutral(), p).p_rate, expected)
    assert not hamilton.lagrangian_gradient(m, m.neutral(), qd).any()


def test_free_body_keeps_its_spatial_momentum():
    """p' = ad* p moves p along its coadjoint orbit: the momentum in the world is constant, whatever the body's is."""
    m = da.Mechanism("body", [da.Body("base"), da.Body("top", 2, (0.1, -0.2, 0.3), (1, 0.1, 2, 0, 0.2, 2.5))],
                     [da.Joint("j", da.Free(), "base", "top")], gravity=(0, 0, 0))
    q, qd = m.random_state(1)
    f = da.function(lambda q, p: hamilton.state_equations(m, q, p)[:2], q=7, p=6)

    def world(q, p):
        R = da.placement(m, q, "top")[:3, :3]
        return np.concatenate([R @ p[:3] + np.cross(q[4:], R @ p[3:]), R @ p[3:]])

    def rates(x):
        return np.concatenate(f(x[:7], x[7:]))

    x, h = np.concatenate([q, hamilton.momenta(m, q, qd)]), 1e-3
    first, start = world(q, x[7:]), x[7:].copy()
    for _ in range(1000):                                                         # classical Runge-Kutta
        k1 = rates(x)
        k2 = rates(x + h / 2 * k1)
        k3 = rates(x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + rates(x + h * k3))
    q = m.normalize(x[:7])
    assert np.abs(world(q, x[7:]) - first).max() <= 1e-10 and np.abs(x[7:] - start).max() > 0.1


@EVERY_TREE
def test_energy_rate_is_the_power_of_all_that_has_no_potential(seed):
    """dH/dt along the motion, by differences of H(q, p), against Q . qd."""
    m, q, qd, tau = tree(seed)
    p = hamilton.momenta(m, q, qd)
    rates = hamilton.state_equations(m, q, p, tau, external_forces=loads(m))
    found = derivative(lambda t: hamilton.hamiltonian(m, m.integrate(q, t * rates.qd), p + t * rates.p_rate))
    expected = hamilton.energy_rate(m, q, p, tau, external_forces=loads(m))
    scale = np.abs(rates.p_rate).max() * np.abs(qd).max()
    assert close(found, expected, 1 + scale, DIFFERENCES)


# --- batches, expressions, compiled -----------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", range(6))
def test_batches_and_compiled_expressions_give_the_values_of_single_states(seed):
    m = da.random_tree(seed, 6)
    states = [m.random_state(k) for k in range(4)]
    q, qd = (np.array(v) for v in zip(*states, strict=True))
    tau = np.random.default_rng(seed).standard_normal((4, m.nv))
    p = hamilton.momenta(m, q, qd)
    compiled = da.function(lambda q, p, tau: hamilton.state_equations(m, q, p, tau), q=m.nq, p=m.nv, tau=m.nv)
    for found in (hamilton.state_equations(m, q, p, tau), compiled(q, p, tau),
                  hamilton.state_equations(m, q, p, tau, solver="cholesky")):
        for k in range(4):
            single = hamilton.state_equations(m, q[k], p[k], tau[k])
            assert all(close(a[k], b, tolerance=1e-9) for a, b in zip(found, single, strict=True))
    T = da.kinetic_energy(m, q, qd) + da.potential_energy(m, q)
    assert np.allclose(hamilton.hamiltonian(m, q, p), T, rtol=1e-10, atol=1e-9)


def test_operation_counts_of_the_panda():
    """The right-hand side in (q, p) needs fewer operations than forward dynamics: no bias, no acceleration."""
    arm = da.load(Path(da.__file__).parent / "data" / "panda" / "panda.urdf", mimic="independent", passive=False,
                  lock={"panda_finger_joint1": 0, "panda_finger_joint2": 0})
    with da.Graph():
        q, v = da.symbols("q", 7), da.symbols("v", 7)
        state = da.count_operations(hamilton.state_equations(arm, q, v)[1])
        ours = da.count_operations(hamilton.velocities(arm, q, v))
        forward = da.count_operations(da.forward_dynamics(arm, q, v, np.zeros(7)))
    assert ours["mul"] < forward["mul"] and ours["add"] < forward["add"]
    assert state["mul"] <= min(689, forward["mul"]) and state["add"] <= min(609, forward["add"])


@pytest.mark.parametrize("name", ["mass_matrix", "momenta", "kinetic_energy", "inverse_mass_matrix"])
def test_quantities_compile_in_this_formulation(name):
    m = da.random_tree(6, 5)
    q, qd = m.random_state(0)
    arguments = (q, qd) if name in ("momenta", "kinetic_energy") else (q,)
    assert np.allclose(getattr(da.compile(m, formulation="hamilton"), name)(*arguments), getattr(da, name)(m, *arguments), rtol=1e-10,
                       atol=1e-10)


# --- forces, terms, errors --------------------------------------------------------------------------------------------

def test_forces_of_a_callable_are_added():
    m, q, qd, tau = tree(1)
    p = hamilton.momenta(m, q, qd)
    plain = hamilton.state_equations(m, q, p, tau)
    forced = hamilton.state_equations(m, q, p, tau, forces=lambda q, qd, t: -0.3 * qd + t, t=2.0)
    assert close(forced.p_rate, plain.p_rate - 0.3 * plain.qd + 2)
    rate = hamilton.energy_rate(m, q, p, tau, forces=lambda q, qd, t: -0.3 * qd)
    assert close(rate, hamilton.energy_rate(m, q, p, tau) - 0.3 * plain.qd @ plain.qd)


def test_terms_of_a_non_natural_mechanism_give_lagranges_equations():
    """Of any a(q, t), L0(q, t), against da.lagrangian_system made from the whole Lagrangian."""
    m = da.random_tree(2, 4, ["revolute", "prismatic", "universal"]).without("friction")
    n = m.nv
    w = np.linspace(0.5, 1.5, n)

    def a(q, t):
        return [x * da.sin(q[k] + t) + q[0] * q[-1] for k, x in enumerate(w)]

    def L0(q, t):
        return da.cos(q[0] * t) * 0.7 - q[-1] ** 2

    system = hamilton.nonnatural(m, a, L0)
    with da.Graph():
        lagrange = da.lagrangian_system(
            lambda q, qd, t: da.kinetic_energy(m, q, qd) - da.potential_energy(m, q) + np.dot(a(q, t), qd) + L0(q, t), n)
    q, qd = m.random_state(5)
    t = 0.4
    p = hamilton.momenta(system, q, qd, t)
    assert close(p, lagrange.momenta(q, qd, t))
    assert close(hamilton.hamiltonian(system, q, p, t), lagrange.energy(q, qd, t), 100)
    rates = hamilton.state_equations(system, q, p, t=t)
    qdd = lagrange.forward_dynamics(q, qd, np.zeros(n), t)
    along = derivative(lambda s: lagrange.momenta(q + s * qd, qd + s * qdd, t + s))
    assert close(rates.qd, qd, 10) and close(rates.p_rate, along, 1 + np.abs(along).max(), DIFFERENCES)
    assert close(hamilton.energy_rate(system, q, p, t=t), lagrange.energy_rate(q, qd, np.zeros(n), t), 100)
    compiled = da.function(lambda q, p, t: hamilton.state_equations(system, q, p, t=t)[1], q=n, p=n, t=())
    assert close(compiled(q, p, t), rates.p_rate)
    batch = hamilton.state_equations(system, [q, q], [p, p], t=t)
    assert close(batch.p_rate, [rates.p_rate] * 2)


def test_a_gyroscopic_term_of_a_free_body_goes_with_its_quasi_momenta():
    """A rotor of constant momentum k in a body: L gets k . w, p = I w + k, and I w' = (I w + k) x w."""
    m = da.Mechanism("gyrostat", [da.Body("base"), da.Body("top", 2, (0, 0, 0), (1, 0, 2, 0, 0, 3))],
                     [da.Joint("j", da.Spherical(), "base", "top")], gravity=(0, 0, 0))
    k, w = np.array([0.3, -0.2, 5.0]), np.array([0.4, -1.1, 0.7])
    system = hamilton.nonnatural(m, a=lambda q, t: list(k))
    p = hamilton.momenta(system, m.neutral(), w)
    assert close(p, [1, 2, 3] * w + k)
    assert close(hamilton.state_equations(system, m.neutral(), p).p_rate, np.cross([1, 2, 3] * w + k, w))


def test_a_potential_of_attitude_acts_along_the_quasi_velocities():
    """L0(q) of the quaternion against gravity on a mass: the same torque."""
    heavy = da.Mechanism("top", [da.Body("base"), da.Body("top", 2, (0, 0, 0.5), (1, 0, 1, 0, 0, 0.4))],
                         [da.Joint("j", da.Spherical(), "base", "top")])
    q, qd = heavy.random_state(3)
    light = heavy.replace({"gravity[2]": 0.0})
    system = hamilton.nonnatural(light, L0=lambda q, t: -2 * 9.81 * 0.5 * (1 - 2 * (q[1] ** 2 + q[2] ** 2)))
    assert close(hamilton.lagrangian_gradient(system, q, qd), hamilton.lagrangian_gradient(heavy, q, qd))


def test_massless_body_is_named():
    m = da.Mechanism("arm", [da.Body("base"), da.Body("upper", 1, (0, 0, 0.5), (0.1,) * 1 + (0, 0.1, 0, 0, 0.1)), da.Body("hand")],
                     [da.Joint("shoulder", da.Revolute((0, 1, 0)), "base", "upper"),
                      da.Joint("wrist", da.Revolute((0, 1, 0)), "upper", "hand")])
    with pytest.raises(da.SingularMassMatrixError, match="joint 'wrist'.*'hand'.*velocity is not determined") as caught:
        hamilton.velocities(m, [0.1, 0.2], [1, 1])
    assert caught.value.joint == "wrist"
    with pytest.raises(da.SingularMassMatrixError, match="in row 0"):
        hamilton.velocities(m, np.zeros((3, 2)), np.ones((3, 2)))
    ball = da.Mechanism("rod", [da.Body("base"), da.Body("rod", 1, (0, 0, 0.5), (0.1, 0, 0.1, 0, 0, 0))],
                        [da.Joint("ball", da.Spherical(), "base", "rod")])          # no inertia about its own axis
    with pytest.raises(da.SingularMassMatrixError, match="joint 'ball'"):
        hamilton.velocities(ball, ball.neutral(), [1, 1, 1])
