"""Identities of mechanics on random trees with every joint type, and near singular values.

Tolerances: 1e-12 of the largest entry between our own paths (conventions.md); derivatives by central differences
(step 1e-5, Richardson) agree to 1e-8.
"""

import functools

import numpy as np
import pytest

import dalembert as da
from trees import DIFFERENCES, OWN, derivative, seeds


@functools.lru_cache(maxsize=4)
def tree(seed):
    rng = np.random.default_rng(seed)
    m = da.random_tree(seed, int(rng.integers(4, 15)))
    q, qd = m.random_state(rng)
    return m, q, qd, rng.standard_normal(m.nv)


def close(a, b, tolerance, scale=None):
    scale = np.abs(b).max(initial=0) if scale is None else scale
    return np.abs(np.asarray(a) - b).max(initial=0) <= tolerance * scale


@pytest.mark.parametrize("seed", seeds(10))
def test_mass_matrix_coriolis_gravity_and_dynamics_agree(seed):
    m, q, qd, qdd = tree(seed)
    M, C = da.mass_matrix(m, q), da.coriolis_matrix(m, q, qd)
    g, h, passive = da.gravity_vector(m, q), da.bias_force(m, q, qd), da.passive_force(m, q, qd)
    assert np.array_equal(M, M.T)
    assert m.nv == 0 or np.linalg.eigvalsh(M)[0] > 0
    assert close(qd @ M @ qd / 2, da.kinetic_energy(m, q, qd), OWN)
    assert close(M @ qd, da.momenta(m, q, qd), OWN)
    assert close(C @ qd + g, h, OWN)
    assert close(da.coriolis_vector(m, q, qd), h - g, OWN, np.abs(h).max(initial=0))
    tau = da.inverse_dynamics(m, q, qd, qdd)
    assert close(tau, M @ qdd + h - passive, OWN)
    columns = [da.inverse_dynamics(m, q, 0 * qd, e) for e in np.eye(m.nv)]
    at_rest = da.inverse_dynamics(m, q, 0 * qd, 0 * qd)
    assert close(np.array(columns).T - at_rest[:, None], M, OWN, np.abs(M).max() + np.abs(at_rest).max())


@pytest.mark.parametrize("seed", seeds(10))
def test_forward_dynamics_inverts_inverse_dynamics(seed):
    """By the backward error: dense and recursive solutions of ill-conditioned trees differ more than their residuals."""
    m, q, qd, qdd = tree(seed)
    tau = da.inverse_dynamics(m, q, qd, qdd)
    M, bias = da.mass_matrix(m, q), da.bias_force(m, q, qd) - da.passive_force(m, q, qd)
    found = da.forward_dynamics(m, q, qd, tau)
    scale = np.abs(M).max() * np.abs(found).max() + np.abs(bias).max() + np.abs(tau).max()
    assert close(M @ found + bias, tau, OWN, scale)
    inverse = da.inverse_mass_matrix(m, q)
    assert close(M @ inverse, np.eye(m.nv), OWN, np.abs(M).max() * np.abs(inverse).max())
    assert np.array_equal(inverse, inverse.T)


@pytest.mark.parametrize("seed", seeds(10))
def test_rate_of_the_mass_matrix_minus_twice_coriolis_is_skew(seed):
    m, q, qd, _ = tree(seed)
    M_rate = derivative(lambda t: da.mass_matrix(m, m.integrate(q, t * qd)))      # not from the same derivative as C
    C = da.coriolis_matrix(m, q, qd)
    assert close(C + C.T, M_rate, DIFFERENCES, 1 + np.abs(M_rate).max())


@pytest.mark.parametrize("seed", seeds(8))
def test_coriolis_matrix_is_that_of_the_christoffel_formula(seed):
    """The formula of conventions.md: derivatives X_i M along the velocities and the brackets gamma by differences."""
    m, q, qd, _ = tree(seed)
    n = m.nv
    dM = np.array([derivative(lambda t, e=e: da.mass_matrix(m, m.integrate(q, t * e))) for e in np.eye(n)])
    M, gamma = da.mass_matrix(m, q), brackets(m)
    C = np.zeros((n, n))
    for i in range(n):
        C += 0.5 * qd[i] * (dM[i] + dM[:, :, i].T - dM[:, i, :])      # X_i M_jk + X_j M_ki - X_k M_ij at [k, j]
        C += 0.5 * qd[i] * (np.einsum("lj,lk->kj", gamma[:, i, :], M) - np.einsum("ljk,l->kj", gamma, M[:, i])
                            + np.einsum("lk,lj->kj", gamma[:, :, i], M))
    assert close(da.coriolis_matrix(m, q, qd), C, DIFFERENCES, 1 + np.abs(dM).max() * np.abs(qd).max())


def brackets(m):
    """gamma[l, i, j] of [X_i, X_j] = gamma^l_ij X_l: 0 but for velocities in the child's axes of spherical, free joints."""
    gamma = np.zeros((m.nv,) * 3)
    for joint in m.independent_joints:
        if joint.type.name in ("spherical", "free"):
            k = m.entries[joint.name].at_v.start
            for i in range(3):
                j, l = (i + 1) % 3, (i + 2) % 3
                gamma[k + l, k + i, k + j] += 1
                gamma[k + l, k + j, k + i] -= 1
                if joint.type.name == "free":                         # rotation with translation
                    gamma[k + 3 + l, k + i, k + 3 + j] += 1
                    gamma[k + 3 + l, k + 3 + j, k + i] -= 1
                    gamma[k + 3 + l, k + 3 + i, k + j] += 1
                    gamma[k + 3 + l, k + j, k + 3 + i] -= 1
    return gamma


@pytest.mark.parametrize("seed", seeds(10))
def test_gravity_vector_is_the_gradient_of_the_potential(seed):
    m, q, _, _ = tree(seed)
    bare = m.without("springs")
    gradient = [derivative(lambda t, e=e: da.potential_energy(bare, m.integrate(q, t * e))) for e in np.eye(m.nv)]
    assert close(np.array(gradient), da.gravity_vector(m, q), DIFFERENCES, 1 + abs(da.potential_energy(bare, q)))


@pytest.mark.parametrize("seed", seeds(10))
def test_power_balance(seed):
    """d(T + Pi)/dt = (tau + friction force) qd + power of external forces."""
    m, q, qd, qdd = tree(seed)
    force = da.ExternalForce(m.bodies[-1].name, (1.0, -2.0, 3.0), (0.3, 0.1, -0.2), expressed_in="local")
    tau = da.inverse_dynamics(m, q, qd, qdd, [force])
    friction = da.passive_force(m.without("springs"), q, qd)
    J = da.jacobian(m, q, m.bodies[-1].name, "local")
    power = (tau + friction) @ qd + (J @ qd) @ [0.3, 0.1, -0.2, 1, -2, 3]

    def energy(t):
        at = m.integrate(q, t * qd + t * t / 2 * qdd)
        return da.kinetic_energy(m, at, qd + t * qdd) + da.potential_energy(m, at)

    scale = 1 + np.abs(tau) @ np.abs(qd) + abs(energy(0))
    assert abs(derivative(energy) - power) <= DIFFERENCES * scale


@pytest.mark.parametrize("seed", seeds(8))
def test_rate_of_momentum_is_force(seed):
    """On a free base without external forces but gravity: dP/dt = m g, dL_c/dt = 0."""
    m = da.random_tree(seed, 6, ["free", "revolute", "spherical", "universal", "planar"])
    free = da.Joint("base free", da.Free(), "world", "base")
    m = da.Mechanism("floating", (da.Body("world"), *m.bodies), (free, *m.joints), gravity=m.gravity)
    m = m.without("friction", "springs", "rotors")
    q, qd = m.random_state(seed)
    m = m.replace({"base.mass": 2.0, "base.inertia[0,0]": 0.1, "base.inertia[1,1]": 0.1, "base.inertia[2,2]": 0.1})
    qdd = da.forward_dynamics(m, q, qd, np.zeros(m.nv))
    rate = derivative(lambda t: da.centroidal_momentum(m, m.integrate(q, t * qd + t * t / 2 * qdd), qd + t * qdd))
    mass = sum(float(b.mass) for b in m.bodies)
    assert close(rate, np.array([0, 0, 0, *(mass * float(g) for g in m.gravity)]), DIFFERENCES, 1 + np.abs(rate).max())


@pytest.mark.parametrize("seed", seeds(5, 10))
def test_a_batch_equals_its_rows_and_an_empty_batch_is_empty(seed):
    m, *_ = tree(seed)
    states = [m.random_state(s) for s in range(4)]
    q, qd = np.array([s[0] for s in states]), np.array([s[1] for s in states])
    for f, args in ((da.inverse_dynamics, (q, qd, 2 * qd)), (da.forward_dynamics, (q, qd, qd)), (da.mass_matrix, (q,)),
                    (da.coriolis_matrix, (q, qd)), (da.gravity_vector, (q,)), (da.kinetic_energy, (q, qd)),
                    (da.potential_energy, (q,)), (da.centroidal_momentum, (q, qd)), (m.rate, (q, qd)),
                    (m.integrate, (q, qd))):
        batch = f(m, *args) if not hasattr(f, "__self__") else f(*args)
        rows = [f(m, *(a[k] for a in args)) if not hasattr(f, "__self__") else f(*(a[k] for a in args)) for k in range(4)]
        assert np.allclose(batch, rows, rtol=1e-12, atol=1e-12 * max(1, np.abs(batch).max()))
        empty = [a[:0] for a in args]
        assert (f(m, *empty) if not hasattr(f, "__self__") else f(*empty)).shape == (0, *batch.shape[1:])


@pytest.mark.parametrize("seed", seeds(5, 10))
def test_one_row_goes_with_many(seed):
    m, q, qd, qdd = tree(seed)
    many = np.stack([qdd, 2 * qdd, -qdd])
    assert np.allclose(da.inverse_dynamics(m, q, qd, many)[1], da.inverse_dynamics(m, q, qd, 2 * qdd), rtol=1e-12)
    assert np.array_equal(da.inverse_dynamics(m, q, qd, many), da.inverse_dynamics(m, q[None], qd, many))


# --- near singular values ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("angle", [0.0, 1e-300, 1e-16, 1e-9, np.pi - 1e-12, np.pi, -np.pi, 2 * np.pi, 1e5])
def test_identities_hold_at_special_angles(angle):
    m = da.random_tree(7, 9, ["revolute", "universal", "planar", "continuous", "helical", "custom"])
    q, qd = np.full(m.nq, angle), np.linspace(-1, 1, m.nv)
    M, C = da.mass_matrix(m, q), da.coriolis_matrix(m, q, qd)
    assert np.isfinite(M).all() and np.linalg.eigvalsh(M)[0] > 0
    assert close(C @ qd, da.coriolis_vector(m, q, qd), OWN)


@pytest.mark.parametrize("q", [(1, 0, 0, 0), (-1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 0, -1), (1 - 5e-17, 1e-8, 0, 0)])
def test_a_quaternion_and_its_opposite_are_the_same_attitude(q):
    m = da.random_tree(3, 4, ["spherical", "free"]).without("springs")
    full, qd = m.neutral(), np.linspace(-1, 1, m.nv)
    other = full.copy()
    for joint in m.independent_joints:
        at = m.entries[joint.name].at_q.start
        full[at:at + 4], other[at:at + 4] = q, np.negative(q)
    assert close(da.mass_matrix(m, full), da.mass_matrix(m, other), OWN)
    assert close(m.difference(full, other), np.zeros(m.nv), 1.0, 1e-12)
    moved = m.integrate(full, 1e-3 * qd)
    assert np.allclose(m.difference(moved, full), 1e-3 * qd, rtol=0, atol=1e-14)
    assert np.allclose(m.difference(moved, other), 1e-3 * qd, rtol=0, atol=1e-14)


@pytest.mark.parametrize("joints", [["revolute"], ["revolute", "spherical", "universal"]])
def test_a_chain_of_100_joints_keeps_the_accuracy(joints):
    rng = np.random.default_rng(5)
    tree = da.random_tree(5, 100, joints)
    chain = da.Mechanism("chain", tree.bodies, [da.Joint(j.name, j.type, f"body{k}" if k else "base", j.child, j.origin)
                                                for k, j in enumerate(tree.joints)])
    q, qd = chain.random_state(rng)
    tau = rng.standard_normal(chain.nv)
    qdd = da.forward_dynamics(chain, q, qd, tau)
    M, bias = da.mass_matrix(chain, q), da.bias_force(chain, q, qd)
    scale = np.abs(M).max() * np.abs(qdd).max() + np.abs(bias).max() + 1
    assert close(M @ qdd + bias, tau, OWN, scale)
    assert close(da.coriolis_matrix(chain, q, qd) @ qd + da.gravity_vector(chain, q), bias, OWN)


def test_small_machines_are_not_rounded_away():
    """A micro-robot: masses of 1e-9 kg and moments of 1e-16 kg m^2 obey the same identities."""
    body = da.Body("link", 1e-9, (1e-4, 2e-5, 0), (1e-16, 1e-18, 2e-16, 0, 0, 2.5e-16))
    m = da.Mechanism("micro", [da.Body("base"), body], [da.Joint("pin", da.Revolute((0, 1, 0)), "base", "link")])
    inertia = 2e-16 + 1e-9 * (1e-4**2)
    assert da.mass_matrix(m, [0.3])[0, 0] == pytest.approx(inertia, rel=1e-14)
    assert da.forward_dynamics(m, [0.3], [0.0], [1e-12])[0] == pytest.approx(
        (1e-12 - da.gravity_vector(m, [0.3])[0]) / inertia, rel=1e-12)
