"""Jacobian of the centre of mass and centroidal momentum matrix: against differences, sums over bodies and runs."""

import numpy as np
import pytest

import dalembert as da

MASSLESS = da.Mechanism("massless", (da.Body("base", 3), da.Body("pin")), (da.Joint("j", da.Prismatic(), "base", "pin"),))


def trees():
    yield from (da.random_tree(seed, 6) for seed in range(6))
    yield da.planar_chain(3).attach(da.Body("box", 2, (0.1, 0.2, 0)), "tip")
    follower = da.Joint("b", da.Revolute((0, 1, 0)), "one", "two", da.Origin((0.5, 0, 0.1)), mimic=da.Mimic("a", -2, 0.3))
    body = (1.5, (0.2, 0.1, 0.05), (0.1, 0, 0.2, 0, 0.01, 0.3))
    yield da.Mechanism("follower", (da.Body("base"), da.Body("one", *body), da.Body("two", *body)),
                       (da.Joint("a", da.Revolute((1, 0, 0)), "base", "one"), follower))


@pytest.mark.parametrize("m", [*trees()], ids=lambda m: m.name)
def test_the_jacobian_is_the_difference_of_the_centre_of_mass_along_each_velocity(m):
    q, _ = m.random_state(1)
    J, h = da.center_of_mass_jacobian(m, q), 1e-5
    differences = [(da.center_of_mass(m, m.integrate(q, h * e)) - da.center_of_mass(m, m.integrate(q, -h * e))) / (2 * h)
                   for e in np.eye(m.nv)]
    np.testing.assert_allclose(J, np.transpose(differences), atol=1e-9 * max(1, np.abs(J).max()))      # h^2 and rounding / h


@pytest.mark.parametrize("m", [*trees()], ids=lambda m: m.name)
def test_the_matrix_gives_the_momentum_summed_over_bodies_and_the_weight(m):
    q, qd = m.random_state(2)
    A = da.centroidal_momentum_matrix(m, q)
    np.testing.assert_allclose(A @ qd, da.centroidal_momentum(m, q, qd), rtol=0, atol=1e-12 * max(1, np.abs(A).max()))
    mass = sum(inertia.m for inertia in m.tree().inertia)      # without links that are fixed to the base
    np.testing.assert_allclose(A[3:], mass * da.center_of_mass_jacobian(m, q), atol=1e-12 * np.abs(A).max())
    bare = m.without("springs")
    weight = -A[3:].T @ np.array(m.gravity, dtype=float)
    np.testing.assert_allclose(weight, da.gravity_vector(bare, q), atol=1e-12 * max(1, np.abs(weight).max()))


def test_batches_are_their_rows_and_compiled_code_is_equal():
    m = da.random_tree(3, 5)
    q = np.array([m.random_state(seed)[0] for seed in range(4)])
    compiled = da.compile(m)
    for name in ("center_of_mass_jacobian", "centroidal_momentum_matrix"):
        batch = getattr(da, name)(m, q)
        np.testing.assert_allclose(batch, [getattr(da, name)(m, row) for row in q], rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(getattr(compiled, name)(q), batch, rtol=1e-12, atol=1e-12)
        assert getattr(da, name)(m, q[:0]).shape == (0, *batch.shape[1:])


def test_expressions_are_the_momentum_of_the_chain():
    m = da.planar_chain(2)
    q, qd = da.symbols("q", 2), da.symbols("qd", 2)
    difference = da.centroidal_momentum_matrix(m, q) @ qd - da.centroidal_momentum(m, q, qd)
    values = dict(zip((*q, *qd), (0.3, -0.2, 1.0, 0.5), strict=True))
    np.testing.assert_allclose(da.evaluate(difference, values), 0, atol=1e-14)


def test_along_a_run_without_gravity_the_momentum_of_a_floating_chain_is_constant():
    base = {"base.mass": 2, "base.inertia[0,0]": 0.3, "base.inertia[1,1]": 0.4, "base.inertia[2,2]": 0.5}
    m = da.planar_chain(3).replace(base, gravity=(0, 0, 0)).floating()
    q, qd = m.random_state(4)
    run = da.simulate(m, q, qd, 0.5, rtol=1e-10, atol=1e-12)
    momentum = np.einsum("kij,kj->ki", da.centroidal_momentum_matrix(m, run.q), run.qd)
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-8 * np.abs(momentum).max())
    centre = np.gradient(da.center_of_mass(m, run.q), run.times, axis=0, edge_order=2)      # moves on evenly
    velocity = np.einsum("kij,kj->ki", da.center_of_mass_jacobian(m, run.q), run.qd)
    np.testing.assert_allclose(centre, velocity, atol=1e-6 * np.abs(velocity).max())


@pytest.mark.parametrize("name", ["center_of_mass_jacobian", "centroidal_momentum_matrix"])
def test_bodies_without_mass_have_no_centre(name):
    with pytest.raises(da.DalembertError, match="'massless': the moving bodies have no mass"):
        getattr(da, name)(MASSLESS, [0.1])
    with pytest.raises(da.ShapeError, match="q has shape"):
        getattr(da, name)(da.planar_chain(2), [0.1])
