"""A mass matrix that is singular within rounding is refused by every formulation; a sound one passes, however it is scaled."""

import dataclasses

import numpy as np
import pytest

import dalembert as da
from dalembert.formulations import elementary_motions, hamilton, lagrange, newton_euler
from dalembert.model import pivots

WAYS = {
    "newton_euler": lambda m, q, qd, tau: newton_euler.forward_dynamics(m, q, qd, tau),
    "by factors": lambda m, q, qd, tau: newton_euler.forward.forward_dynamics_by_factors(m, q, qd, tau),
    "derivatives": lambda m, q, qd, tau: newton_euler.forward_dynamics_derivatives(m, q, qd, tau),
    "inverse": lambda m, q, qd, tau: newton_euler.inverse_mass_matrix(m, q),
    "lagrange": lambda m, q, qd, tau: lagrange.forward_dynamics(m, q, qd, tau),
    "elementary_motions": lambda m, q, qd, tau: elementary_motions.forward_dynamics(m, q, qd, tau),
    "hamilton": lambda m, q, qd, tau: hamilton.velocities(m, q, tau),
    "cholesky": lambda m, q, qd, tau: hamilton.velocities(m, q, tau, solver="cholesky")}


def tensor(rng, ratio):
    """A rod of unit moments in a random direction, about which its moment is `ratio`."""
    a = rng.normal(size=3)
    a /= np.linalg.norm(a)
    I = np.eye(3) - (1 - ratio) * np.outer(a, a)
    return a, (I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2])


def rod(seed, joint, ratio=0.0, com=0.0):
    rng = np.random.default_rng(seed)
    a, I = tensor(rng, ratio)
    joint = da.Revolute(tuple(a)) if joint == "about" else joint
    return da.Mechanism("rod", [da.Body("base"), da.Body("rod", 1.0, tuple(com * a), I)], [da.Joint("j", joint, "base", "rod")])


def gimbal(seed, ratio=0.0):
    """Three turns in a row, the first two bodies massless."""
    bodies = [da.Body("base"), da.Body("ring1"), da.Body("ring2"), da.Body("rod", 1.0, (0, 0, 0), tensor(np.random.default_rng(seed), ratio)[1])]
    joints = [da.Joint(f"j{k}", da.Revolute(axis), bodies[k].name, bodies[k + 1].name)
              for k, axis in enumerate(((0, 0, 1), (0, 1, 0), (1, 0, 0)))]
    return da.Mechanism("gimbal", bodies, joints)


MAKE = {"ball": lambda seed, ratio=0.0: rod(seed, da.Spherical(), ratio), "free": lambda seed, ratio=0.0: rod(seed, da.Free(), ratio, 0.7),
        "gimbal": gimbal, "about its axis": lambda seed, ratio=0.0: rod(seed, "about", ratio, 0.4)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", MAKE)
def test_thin_rods_in_any_direction_are_refused_by_all_formulations(kind, way):
    for seed in range(30):
        m = MAKE[kind](seed)
        q, qd = m.random_state(seed)
        with pytest.raises(da.SingularMassMatrixError):
            WAYS[way](m, q, qd, np.ones(m.nv))


@pytest.mark.parametrize("kind", MAKE)
def test_thin_rods_are_refused_in_compiled_code_and_batches(kind):
    for seed in range(3):
        m = MAKE[kind](seed)
        q = np.array([m.random_state(s)[0] for s in range(3)])
        tau = np.ones((3, m.nv))
        with pytest.raises(da.SingularMassMatrixError, match="joint 'j"):
            da.compile(m).forward_dynamics(q, 0 * tau, tau)
        with pytest.raises(da.SingularMassMatrixError, match="joint 'j"):
            newton_euler.forward_dynamics(m, q, 0 * tau, tau)


@pytest.mark.parametrize("kind", MAKE)
def test_rods_that_are_not_quite_thin_pass(kind):
    """Their moments are in the ratio 1e-9: results keep about 16 - 9 digits."""
    for seed in range(10):
        m = MAKE[kind](seed, 1e-9)
        q, qd = m.random_state(seed)
        tau = np.ones(m.nv)
        found = {name: way(m, q, qd, tau) for name, way in WAYS.items() if name not in ("derivatives", "inverse", "hamilton", "cholesky")}
        for name, qdd in found.items():
            np.testing.assert_allclose(qdd, found["newton_euler"], rtol=1e-4, atol=1e-4 * np.abs(qdd).max(), err_msg=name)
    m = MAKE[kind](0, 1e-9)
    q, qd = m.random_state(0)
    np.testing.assert_allclose(da.compile(m).forward_dynamics(q, qd, np.ones(m.nv)), newton_euler.forward_dynamics(m, q, qd, np.ones(m.nv)),
                               rtol=1e-4)


def scaled(m, seed):
    """The mechanism with bodies from 1e-9 to 1e6 kg."""
    rng = np.random.default_rng(seed)
    factors = 10.0 ** rng.uniform(-9, 6, len(m.bodies))
    return dataclasses.replace(m, bodies=tuple(dataclasses.replace(
        b, mass=float(b.mass) * f, inertia=tuple(float(x) * f for x in b.inertia)) for b, f in zip(m.bodies, factors, strict=True)))


def sized(m, length, mass):
    """The mechanism of another size."""
    def moved(origin):
        return dataclasses.replace(origin, xyz=tuple(float(x) * length for x in origin.xyz))

    bodies = tuple(dataclasses.replace(b, mass=float(b.mass) * mass, com=tuple(float(x) * length for x in b.com),
                                       inertia=tuple(float(x) * mass * length**2 for x in b.inertia)) for b in m.bodies)
    return dataclasses.replace(m, bodies=bodies, joints=tuple(dataclasses.replace(j, origin=moved(j.origin)) for j in m.joints))


@pytest.mark.parametrize("way", WAYS)
def test_sound_mechanisms_of_any_scale_pass(way):
    for seed in range(6):
        tree = da.random_tree(seed, 4)
        for m in (scaled(tree, seed), sized(tree, 1e-4, 1e-9), sized(tree, 1e3, 1e6), da.planar_chain(12)):
            q, qd = m.random_state(seed)
            WAYS[way](m, q, qd, np.ones(m.nv))


def test_the_margin_of_a_pivot_covers_its_rounding_error():
    """Against an elimination in exact arithmetic of matrices whose entries are rounded."""
    from fractions import Fraction

    rng = np.random.default_rng(4)
    for _ in range(60):
        n = int(rng.integers(2, 6))
        J = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-4, 4, n)
        J[:, -1] = J[:, 0] * rng.normal() + 10.0 ** rng.uniform(-9, 0) * J[:, -1]
        M = J.T @ J
        exact = [[sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x, y, strict=True)) for y in J.T] for x in J.T]
        for k in reversed(range(n)):
            for i in range(k):
                factor = exact[k][i] / exact[k][k]
                for j in range(i + 1):
                    exact[i][j] -= factor * exact[k][j]
        pivot, margin = pivots.eliminated(M, np.diag(M))
        true = np.array([float(exact[k][k]) for k in range(n)])
        sound = np.logical_and.accumulate((pivot > margin)[::-1])[::-1]      # up to the first that is refused
        assert (np.abs(pivot - true) <= margin)[sound].all()
