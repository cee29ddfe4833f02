"""Elastic links in space beside a Lagrangian of its own: kinetic energy by integrals of places and turns, no code of the package in it.

A base that moves along x (parametric excitation), a hub that turns about z, a beam that bends, twists and stretches with rotary inertia, a body that stands off its end.
"""

import numpy as np
import pytest

import dalembert as da

LENGTH, EI_Y, EI_Z, GJ, EA, RHO = 0.8, 120.0, 90.0, 70.0, 6e4, 0.25
ROTARY = np.array([3e-3, 1e-3, 2e-3])
MASS, CENTRE, INERTIA = 1.5, np.array([0.1, 0.2, -0.05]), np.array([[0.02, 0.001, 0], [0.001, 0.03, 0.002], [0, 0.002, 0.04]])
GRAVITY = np.array([1.0, 2.0, -9.0])
MODES = {"bend_y": 2, "bend_z": 1, "twist": 2, "stretch": 1}
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
NODES, WEIGHTS = (NODES + 1) / 2, WEIGHTS / 2


def mechanism(kinematics):
    beam = da.Beam(LENGTH, EA=EA, EIy=EI_Y, EIz=EI_Z, GJ=GJ, mass_per_length=RHO, rotary_inertia=tuple(ROTARY), kinematics=kinematics)
    load = da.Body("load", MASS, tuple(CENTRE), tuple(INERTIA[np.tril_indices(3)]))
    bodies = [da.Body("base"), da.Body("cart", 0.7), da.Body("link", beam=beam, modes=MODES), load]
    joints = [da.Joint("slide", da.Prismatic((1, 0, 0)), "base", "cart"), da.Joint("hub", da.Revolute((0, 0, 1)), "cart", "link"),
              da.Joint("grip", da.Fixed(), "link", "load", da.Origin((LENGTH, 0, 0)))]
    return da.Mechanism("arm", bodies, joints, gravity=tuple(GRAVITY))


def theta(delta, xi):
    """(twist, -w', v') and u', by the polynomials xi^2, 3 xi^2 - 2 xi^3 of deflections, and xi, xi^2 - xi of twist and stretch."""
    v1, v2, w1, t1, t2, u1 = delta
    return np.array([t1 * xi + t2 * (xi - xi**2), -2 * xi * w1 / LENGTH, (2 * xi * v1 + (6 * xi - 6 * xi**2) * v2) / LENGTH]), u1 / LENGTH


def cross(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def turn(t):
    """exp([t]x) by its series."""
    K, R, power = cross(t), np.eye(3), np.eye(3)
    for k in range(1, 25):
        power = power @ K / k
        R = R + power
    return R


def tangent(t, stretch, kinematics):
    K, e = cross(t), np.array([1.0, 0, 0])
    if kinematics == "exact":
        return (1 + stretch) * turn(t) @ e
    return (1 + stretch) * (e + K @ e) + K @ K @ e / 2 if kinematics == "second_order" else (1 + stretch) * e + K @ e


def section(q, xi, kinematics):
    """Place and turn of a cross-section in the inertial axes."""
    at = xi * NODES
    place = sum(w * tangent(*theta(q[2:], s), kinematics) for w, s in zip(WEIGHTS, at, strict=True)) * xi * LENGTH
    A = turn(np.array([0, 0, q[1]]))
    return np.array([q[0], 0, 0]) + A @ place, A @ turn(theta(q[2:], xi)[0])


def parts(q, kinematics):
    """(mass, inertia, place, turn) of all that moves."""
    yield 0.7, np.zeros((3, 3)), np.array([q[0], 0, 0]), np.eye(3) + 0 * q[0]
    for weight, xi in zip(WEIGHTS, NODES, strict=True):
        yield weight * LENGTH * RHO, weight * LENGTH * np.diag(ROTARY), *section(q, xi, kinematics)
    place, R = section(q, 1.0, kinematics)
    yield MASS, INERTIA, place + R @ CENTRE, R


def mass_matrix(q, kinematics):
    """sum m J^T J + W^T I W, with derivatives by complex steps."""
    h = 1e-30
    moved = [list(parts(q + 1j * h * unit, kinematics)) for unit in np.eye(len(q))]
    M = np.zeros((len(q), len(q)))
    for k, (m, inertia, _, R) in enumerate(parts(q, kinematics)):
        J = np.array([each[k][2].imag / h for each in moved]).T
        spins = [R.T @ each[k][3].imag / h for each in moved]
        W = np.array([[S[2, 1], S[0, 2], S[1, 0]] for S in spins]).T
        M += m * J.T @ J + W.T @ inertia @ W
    return M


def potential(q, kinematics):
    return -sum(m * GRAVITY @ place for m, _, place, _ in parts(q, kinematics))


def bias(q, qd, kinematics, h=1e-4):
    """Lagrange's equations for qdd = 0, with gravity: derivatives of M by differences of the fourth order."""
    units = np.eye(len(q))
    by_q = np.array([(8 * (mass_matrix(q + h * e, kinematics) - mass_matrix(q - h * e, kinematics))
                      - mass_matrix(q + 2 * h * e, kinematics) + mass_matrix(q - 2 * h * e, kinematics)) / (12 * h) for e in units])
    centrifugal = np.einsum("kij,j,k->i", by_q, qd, qd) - np.einsum("ijk,j,k->i", by_q, qd, qd) / 2
    return centrifugal + np.array([potential(q + 1e-30j * e, kinematics).imag / 1e-30 for e in units])


@pytest.mark.parametrize("kinematics", ["second_order", *(pytest.param(name, marks=pytest.mark.slow) for name in ("first_order", "exact"))])
def test_inertia_and_gyroscopic_forces_are_those_of_a_lagrangian(kinematics):
    arm = mechanism(kinematics)
    shapes = dict(arm.body("link").modes)
    assert [f(0.5) for f in (shapes["bend_y"].values, shapes["bend_z"].values, shapes["stretch"].values)] == [[0.25, 0.5], [0.25], [0.5]]
    scale = shapes["twist"].values(0.5)[1] / 0.25      # of the second twist beside xi - xi^2
    q = np.array([0.3, 0.7, 0.06, -0.03, 0.08, 0.2, -0.1, 0.02])
    qd = np.array([0.5, 1.5, 0.4, -0.6, 0.8, 1.1, -0.7, 0.3])
    own, rates = (x * np.array([1, 1, 1, 1, 1, 1, scale, 1]) for x in (q, qd))
    unit = np.diag([1, 1, 1, 1, 1, 1, scale, 1])
    np.testing.assert_allclose(da.mass_matrix(arm, q), unit @ mass_matrix(own, kinematics) @ unit, rtol=0, atol=1e-9)
    elastic = da.passive_force(arm, q, qd)
    found = da.inverse_dynamics(arm, q, qd, np.zeros(arm.nv)) + elastic
    np.testing.assert_allclose(found, unit @ bias(own, rates, kinematics), rtol=0, atol=1e-8)


def curvature(t, rate):
    """R^T R' of the turn along the beam, by a complex step."""
    S = turn(t).T @ turn(t + 1e-30j * rate).imag / 1e-30
    return np.array([S[2, 1], S[0, 2], S[1, 0]])


def strain_energy(delta):
    """1/2 int EA u'^2 + kappa C kappa, with exact curvature."""
    total = 0
    for weight, xi in zip(WEIGHTS, NODES, strict=True):
        h = 1e-5
        (before, _), (t, stretch), (after, _) = (theta(delta, x) for x in (xi - h, xi, xi + h))
        kappa = curvature(t, (after - before) / (2 * h * LENGTH))
        total += weight * LENGTH * (EA * stretch**2 + kappa @ (np.array([GJ, EI_Y, EI_Z]) * kappa)) / 2
    return total


@pytest.mark.parametrize("kinematics", ["second_order", pytest.param("exact", marks=pytest.mark.slow)])
def test_strain_energy_is_that_of_the_curvature_to_its_order(kinematics):
    arm = mechanism(kinematics).replace(gravity=(0, 0, 0))
    scale = dict(arm.body("link").modes)["twist"].values(0.5)[1] / 0.25
    errors = []
    for part in (0.2, 0.1):
        q = np.array([0, 0, *(part * np.array([0.3, -0.2, 0.4, 1.0, -0.8, 0.1]))])
        errors.append(abs(da.potential_energy(arm, q) - strain_energy(q[2:] * np.array([1, 1, 1, 1, scale, 1]))))
    assert max(errors) < 1e-8 if kinematics == "exact" else errors[0] / errors[1] > 2**3.8, errors
