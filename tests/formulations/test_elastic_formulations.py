"""Every formulation beside Newton and Euler's on arms with elastic links, for all kinematics."""

import numpy as np
import pytest

import dalembert as da
from dalembert.formulations import elementary_motions, hamilton, lagrange
from dalembert.reports.identities import identities
from elastic_arms import arm, state

CASES = [("first_order", "plane"), ("second_order", "plane"), ("third_order", "plane"), ("exact", "plane"), ("second_order", "space")]


@pytest.fixture(params=CASES, ids="-".join, scope="module")
def case(request):
    mechanism = arm(*request.param)
    q, qd, qdd = state(mechanism)
    M = da.mass_matrix(mechanism, q)
    return mechanism, q, qd, qdd, M


def assert_near(found, right, rtol=1e-12):
    np.testing.assert_allclose(found, right, atol=rtol * np.abs(right).max())


@pytest.mark.parametrize("formulation", [lagrange, elementary_motions], ids=["lagrange", "elementary_motions"])
def test_quantities_are_those_of_newton_and_euler(case, formulation):
    mechanism, q, qd, qdd, M = case
    tau = da.inverse_dynamics(mechanism, q, qd, qdd)
    assert_near(formulation.mass_matrix(mechanism, q), M)
    assert_near(formulation.gravity_vector(mechanism, q), da.gravity_vector(mechanism, q))
    assert_near(formulation.coriolis_vector(mechanism, q, qd), da.coriolis_vector(mechanism, q, qd))
    assert_near(formulation.inverse_dynamics(mechanism, q, qd, qdd), tau)
    assert_near(formulation.forward_dynamics(mechanism, q, qd, tau), qdd, 1e-8)
    assert_near(formulation.kinetic_energy(mechanism, q, qd), qd @ M @ qd / 2)
    assert_near(formulation.potential_energy(mechanism, q), da.potential_energy(mechanism, q))
    assert_near(formulation.momenta(mechanism, q, qd), M @ qd)


def test_hamiltons_momenta_velocities_and_energy(case):
    mechanism, q, qd, _, M = case
    p = hamilton.momenta(mechanism, q, qd)
    assert_near(p, M @ qd)
    assert_near(hamilton.velocities(mechanism, q, p), qd, 1e-9)
    assert_near(hamilton.hamiltonian(mechanism, q, p), qd @ M @ qd / 2 + da.potential_energy(mechanism, q))
    tau = da.inverse_dynamics(mechanism, q, qd, 0 * qd)     # without accelerations p' = M' qd
    assert_near(hamilton.momentum_rate(mechanism, q, qd, p) + tau, M_rate(mechanism, q, qd) @ qd, 1e-6)


def M_rate(mechanism, q, qd, step=1e-6):
    return (da.mass_matrix(mechanism, q + step * qd) - da.mass_matrix(mechanism, q - step * qd)) / (2 * step)


@pytest.mark.parametrize("solver", ["sweep", "cholesky", "conjugate_directions"])
def test_velocities_of_all_solvers(case, solver):
    mechanism, q, qd, _, M = case
    np.testing.assert_allclose(hamilton.velocities(mechanism, q, M @ qd, solver=solver), qd, atol=1e-5 * np.abs(qd).max())


def test_christoffel_symbols_and_properties(case):
    mechanism, q, qd, _, M = case
    c = lagrange.christoffel_symbols(mechanism, q)
    C = lagrange.coriolis_matrix(mechanism, q, qd)
    assert_near(np.einsum("ijk,i->kj", c, qd), C)
    N = M_rate(mechanism, q, qd) - 2 * C
    assert_near(N, -N.T, 1e-6)
    assert_near(elementary_motions.christoffel_symbols(mechanism, q), c)
    wrong = [str(p) for p in lagrange.properties(mechanism, q, qd) if not p.holds]
    assert not wrong, wrong


def test_identities_hold(case):
    mechanism, q, qd, qdd, _ = case
    wrong = [check for check in identities(mechanism, q, qd, qdd) if not check.holds]
    assert not wrong, wrong


def test_rigid_rods_have_mass_in_every_formulation():
    beam = da.Beam(2.0, mass_per_length=3.0)
    rod = da.Mechanism("rod", [da.Body("base"), da.Body("rod", beam=beam, modes=0)], [da.Joint("hinge", da.Revolute((0, 1, 0)), "base", "rod")])
    assert lagrange.mass_matrix(rod, [0.3]) == pytest.approx(8.0)
    assert elementary_motions.mass_matrix(rod, [0.3]) == pytest.approx(8.0)
    assert lagrange.link_names(rod) == ("rod at 0.2113", "rod at 0.7887")
