"""Slider crank of the IVP test set (Simeon) as a mechanism: its rod is a beam with two sines across and a quadratic field along.

The beam has the printed model in all entries but the mass of the axial field: integrals of xi-quadratics give FM/15 [[8, 1], [1, 2]],
printed is FM [[8, 1], [1, 2]].
"""

import numpy as np
import pytest

import dalembert as da
from reference import reference
from simeon import slider_crank

pytestmark = pytest.mark.usefixtures("quickly_compiled")
AXIAL = ((0, 4, -4), (0, -1, 2))      # displacement of the middle, and of the end
CASE = "flexible_slider_crank"


def mechanism(p):
    """Crank and slider on the base, the rod on the crank, its end pinned to the slider; the crank turns with a given speed."""
    area, z = p["BB"] * p["HH"], da.Revolute((0, 0, 1))
    rod = da.Beam(p["L2"], EA=p["E"] * area, EIz=p["E"] * area * p["HH"]**2 / 12, mass_per_length=p["rho"] * area, kinematics="first_order")
    modes = {"bend_y": da.beams.pinned_pinned(2), "stretch": da.beams.ShapePolynomials(AXIAL)}
    section = p["J2"] - p["M2"] * p["L2"]**2 / 3      # rotary inertia of the undeformed rod
    bodies = [da.Body("base"), da.Body("crank", p["M1"], inertia=(p["J1"], 0, p["J1"], 0, 0, p["J1"])),
              da.Body("rod", inertia=(section, 0, section, 0, 0, section), beam=rod, modes=modes), da.Body("slider", p["M3"])]
    joints = [da.Joint("phi1", z, "base", "crank"), da.Joint("psi", z, "crank", "rod", da.Origin((p["L1"], 0, 0))),
              da.Joint("x3", da.Prismatic((1, 0, 0)), "base", "slider")]
    tree = da.Mechanism("slider crank", bodies, joints, gravity=(0, 0, 0))
    pin = da.constraints.Closure("pin", z, ("rod", (p["L2"], 0, 0)), ("slider", (0, 0, 0)))
    drive = da.constraints.Holonomic("drive", lambda q, t: [q[0] - p["omega"] * t], "rad")
    return tree, tree.constrained(pin, drive)


def relative(q):
    """Coordinates of the table with the angle of the rod relative to the crank."""
    return np.array([q[0], q[1] - q[0], *q[2:]])


@pytest.fixture(scope="module")
def case():
    return reference("ivp_test_set", CASE)


def test_mass_matrix_and_stiffness_are_the_printed_ones(case):
    """At a bent state; rows and columns of the joints by absolute angles."""
    p = case["parameters"]
    tree, _ = mechanism(p)
    state = np.array([0.4, -0.3, 0.4, 2e-4, -3e-5, 1e-5, 2e-5])
    to_relative = np.eye(7)
    to_relative[1, 0] = -1
    M = to_relative.T @ da.mass_matrix(tree, relative(state)) @ to_relative
    printed = slider_crank(p, 1 / 15)
    np.testing.assert_allclose(M, printed.mass_matrix(state), rtol=1e-7, atol=1e-12)      # pi is printed with 8 digits
    found = M[5:, 5:] * 15 / (p["rho"] * p["BB"] * p["HH"] * p["L2"])
    np.testing.assert_allclose(found, [[8, 1], [1, 2]], rtol=1e-12)
    zero = np.zeros(7)
    K = da.inverse_dynamics_derivatives(tree, zero, zero, zero).dtau_dq[3:, 3:]
    stiffness, slender = p["E"] * p["BB"] * p["HH"] / p["L2"], p["HH"] / p["L2"]
    expected = stiffness * np.array([[np.pi**4 / 24 * slender**2, 0, 0, 0], [0, 2 / 3 * np.pi**4 * slender**2, 0, 0], [0, 0, 16 / 3, -8 / 3], [0, 0, -8 / 3, 7 / 3]])
    np.testing.assert_allclose(K, expected, rtol=1e-12, atol=1e-6)


def motion(system, case, coordinates=lambda q: q):
    """Start of the test set, with what the loop leaves open; states at its end."""
    p = case["parameters"]
    q, qd = np.split(np.array(case["initial"]["y"], float), 2)
    rod = p["L2"] + q[6]
    q[1:3] = 0, p["L1"] + rod
    qd[1] = -p["L1"] * qd[0] / rod
    return da.simulate(system, coordinates(q), coordinates(qd), [0, case["t_end"]], method="dop853", rtol=1e-10, atol=1e-13)


def test_motion_is_that_of_the_lagrangian_and_near_the_table(case):
    p = case["parameters"]
    run = motion(mechanism(p)[1], case, relative)
    q, qd = run.q[-1].copy(), run.qd[-1].copy()
    q[1], qd[1] = q[1] + q[0], qd[1] + qd[0]
    other = motion(slider_crank(p, 1 / 15), case)
    np.testing.assert_allclose(q, other.q[-1], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(qd, other.qd[-1], rtol=1e-5, atol=1e-7)
    assert np.abs(run.observables["constraint_residual"]).max() < 1e-12
    difference = abs(np.concatenate([q, qd]) - np.array(case["published"]["values"][:14], float))
    assert 1e-8 < difference[1] < 1e-7 and 1e-8 < difference[2] < 1e-7      # rad, m: 7e-8, 6e-8
    assert (difference[3:5] < 2e-8).all()      # of 1.9e-4 and 2.4e-5 m
    assert (1e-8 < difference[5:7]).all() and (difference[5:7] < 1e-7).all()      # of 5e-6 and 8e-6 m: the axial vibration is another
    assert (difference[8:] < 1e-3).all()
