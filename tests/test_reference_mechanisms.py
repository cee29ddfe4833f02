"""Mechanisms with known motions: accelerations against closed forms, constants along solutions, short integrations.

The tables in data/reference were computed in quadruple precision by two formulations each; their rows carry 18 digits.
"""


import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from reference import DOWN_Y, PENDULUMS, pendulum, reference, table

EXACT = dict(rtol=1e-12, atol=1e-12)


def energy(mechanism, q, qd):
    return da.kinetic_energy(mechanism, q, qd) + da.potential_energy(mechanism, q)


def constant(values, rtol=1e-12):
    """Whether a quantity keeps its first value along all rows."""
    scale = np.abs(values).max()
    np.testing.assert_allclose(values, np.broadcast_to(values[0], values.shape), rtol=0, atol=rtol * scale)


def conserved(mechanism, q, qd):
    """Whether kinetic plus potential energy keeps its value along all rows, to 1e-13 of the largest kinetic energy."""
    scale = da.kinetic_energy(mechanism, q, qd).max()
    total = energy(mechanism, q, qd)
    np.testing.assert_allclose(total, np.full(len(q), total[0]), rtol=1e-13, atol=1e-13 * scale)


def integrated(mechanism, q, qd, times, tau=lambda t: 0.0):
    """(q, qd) at some times by DOP853 at tight tolerance; quaternions are normalised where forces are evaluated."""
    def rates(t, x):
        q, qd = mechanism.normalize(x[:mechanism.nq]), x[mechanism.nq:]
        force = np.zeros(mechanism.nv)
        force[0] = tau(t)
        return np.concatenate([mechanism.rate(q, qd), da.forward_dynamics(mechanism, q, qd, force)])

    done = solve_ivp(rates, (times[0], times[-1]), [*q, *qd], method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times)
    assert done.success
    return done.y[:mechanism.nq].T, done.y[mechanism.nq:].T


# --- pendulums ------------------------------------------------------------------------------------------------------

def pendulum_accelerations(theta, rates, com, inertia):
    """Second derivatives of the absolute angles by Lagrange's equations of a chain of unit links of mass 1.

        sum_j a_ij (cos(t_i - t_j) t_j'' + sin(t_i - t_j) t_j'^2) + g b_i sin t_i = 0

    with a_ii = com^2 + inertia + (links beyond), a_ij = com + (links beyond the outer of i, j), b_i = com + (beyond i).
    """
    n = len(theta)
    beyond = np.arange(n - 1, -1, -1.0)
    a = np.minimum(beyond[:, None], beyond) + com
    a[np.diag_indices(n)] = com**2 + inertia + beyond
    d = theta[:, None] - theta
    return np.linalg.solve(a * np.cos(d), -(a * np.sin(d)) @ rates**2 - 9.81 * (com + beyond) * np.sin(theta))


def pendulum_states(case):
    n, com, inertia = PENDULUMS[case]
    rows, _ = table("pendulums", case)
    theta, rates = rows[:, 1:n + 1], rows[:, n + 1:]
    relative = np.eye(n) - np.eye(n, k=-1)                   # joint angles from absolute angles
    return pendulum(n, com, inertia), theta, rates, theta @ relative.T, rates @ relative.T


@pytest.mark.parametrize("case", PENDULUMS)
def test_pendulum_accelerations_and_energy_along_the_solution(case):
    mechanism, theta, rates, q, qd = pendulum_states(case)
    accelerations = np.cumsum(da.forward_dynamics(mechanism, q, qd, np.zeros_like(qd)), axis=1)
    for row in range(len(q)):
        expected = pendulum_accelerations(theta[row], rates[row], *PENDULUMS[case][1:])
        np.testing.assert_allclose(accelerations[row], expected, rtol=1e-11, atol=1e-11)
    conserved(mechanism, q, qd)


@pytest.mark.parametrize("case", ["double_pendulum_chaotic_exact_start", "rod_chain_3"])
def test_pendulum_integrated_for_one_second(case):
    mechanism, _, _, q, qd = pendulum_states(case)
    times = table("pendulums", case)[1]["t"]
    few = times <= 1
    found_q, found_qd = integrated(mechanism, q[0], qd[0], times[few])
    np.testing.assert_allclose(found_q, q[few], atol=1e-9)
    np.testing.assert_allclose(found_qd, qd[few], atol=1e-9)


def test_simple_pendulum_of_the_IFToMM_library():
    mechanism = pendulum(1, 1, 0)
    _, c = table("pendulums", "A01_simple_pendulum")
    q, qd = np.arctan2(c["x"], -c["y"])[:, None], (c["x"] * c["vy"] - c["y"] * c["vx"])[:, None]
    qdd = da.forward_dynamics(mechanism, q, qd, np.zeros_like(q))
    np.testing.assert_allclose(qdd[:, 0], -9.81 * c["x"], rtol=1e-14)
    conserved(mechanism, q, qd)
    period = float(reference("pendulums", "A01_simple_pendulum")["period"])
    back_q, back_qd = integrated(mechanism, q[0], qd[0], [0, period])
    np.testing.assert_allclose([back_q[-1], back_qd[-1]], [q[0], qd[0]], atol=1e-10)


# --- carts and driven pivots ----------------------------------------------------------------------------------------

def cart_pole():
    """Cart 1 kg along x, bob 0.1 kg at 0.5 m on a massless pole, angle from the upward vertical about y."""
    return da.Mechanism("cart-pole", [da.Body("base"), da.Body("cart", 1), da.Body("pole", 0.1, (0, 0, 0.5))],
                        [da.Joint("x", da.Prismatic((1, 0, 0)), "base", "cart"),
                         da.Joint("theta", da.Revolute((0, 1, 0)), "cart", "pole")])


def test_cart_pole_accelerations():
    """(M + m) x'' + m l (t'' cos t - t'^2 sin t) = F,  l t'' + x'' cos t = g sin t."""
    M, m, l, g = 1, 0.1, 0.5, 9.81
    _, c = table("pendulums", "cart_pole")
    s, cs, F = np.sin(c["theta"]), np.cos(c["theta"]), np.sin(2 * c["t"])
    xdd = (F + m * l * c["theta_dot"]**2 * s - m * g * s * cs) / (M + m * s**2)
    thetadd = (g * s - xdd * cs) / l
    q, qd = np.stack([c["x"], c["theta"]], 1), np.stack([c["x_dot"], c["theta_dot"]], 1)
    found = da.forward_dynamics(cart_pole(), q, qd, np.stack([F, 0 * F], 1))
    np.testing.assert_allclose(found, np.stack([xdd, thetadd], 1), **EXACT)


def test_cart_pole_integrated_with_its_driving_force():
    rows, c = table("pendulums", "cart_pole")
    few = c["t"] <= 2
    q, qd = integrated(cart_pole(), rows[0, 1:3], rows[0, 3:], c["t"][few], lambda t: np.sin(2 * t))
    np.testing.assert_allclose(np.hstack([q, qd]), rows[few, 1:], atol=1e-9)


def test_kapitza_pendulum_by_a_pivot_of_given_motion():
    """The pivot's slide has a given motion y = a cos(w t); its row of the equations gives the force that drives it."""
    mechanism = da.Mechanism("Kapitza", [da.Body("base"), da.Body("pivot", 2), da.Body("bob", 1, (0, -0.3, 0))],
                             [da.Joint("y", da.Prismatic((0, 1, 0)), "base", "pivot"),
                              da.Joint("theta", da.Revolute((0, 0, 1)), "pivot", "bob")], gravity=DOWN_Y)
    _, c = table("pendulums", "kapitza")
    t = c["t"]
    y, yd, ydd = 0.02 * np.cos(150 * t), -3 * np.sin(150 * t), -450 * np.cos(150 * t)
    q, qd = np.stack([y, c["theta"]], 1), np.stack([yd, c["theta_dot"]], 1)
    M, h = da.mass_matrix(mechanism, q), da.bias_force(mechanism, q, qd)
    thetadd = -(M[:, 1, 0] * ydd + h[:, 1]) / M[:, 1, 1]
    np.testing.assert_allclose(thetadd, -(9.81 + ydd) * np.sin(c["theta"]) / 0.3, **EXACT)


def test_furuta_pendulum():
    """Lagrange's equations of T = 1/2 (a + b sin^2 t) p'^2 + 1/2 b t'^2 + k cos t p' t', Pi = - m g l cos t."""
    given = reference("pendulums", "furuta")["parameters"]
    L1, J, m, l, Jp = (given[k] for k in ("L1", "J_arm", "m_p", "l_com", "J_p_transverse"))
    mechanism = da.Mechanism("Furuta", [da.Body("base"), da.Body("arm", 0, (0, 0, 0), (0, 0, 0, 0, 0, J)),
                                        da.Body("rod", m, (0, 0, -l), (Jp, 0, Jp, 0, 0, 0))],
                             [da.Joint("phi", da.Revolute((0, 0, 1)), "base", "arm"),
                              da.Joint("theta", da.Revolute((1, 0, 0)), "arm", "rod", da.Origin((L1, 0, 0)))])
    rows, c = table("pendulums", "furuta")
    a, b, k = J + m * L1**2, Jp + m * l**2, m * L1 * l
    s, cs, pd, td = np.sin(c["theta"]), np.cos(c["theta"]), c["phi_dot"], c["theta_dot"]
    M = np.array([[a + b * s**2, k * cs], [k * cs, b + 0 * s]]).transpose(2, 0, 1)
    h = np.stack([2 * b * s * cs * pd * td - k * s * td**2, -b * s * cs * pd**2 + m * 9.81 * l * s], 1)
    q, qd = rows[:, 1:3], rows[:, 3:]
    np.testing.assert_allclose(da.mass_matrix(mechanism, q), M, rtol=1e-13, atol=1e-18)
    found = da.forward_dynamics(mechanism, q, qd, np.zeros_like(qd))
    np.testing.assert_allclose(found, np.linalg.solve(M, -h[:, :, None])[:, :, 0], rtol=1e-10, atol=1e-10)
    conserved(mechanism, q, qd)
    constant(da.momenta(mechanism, q, qd)[:, 0], 1e-13)               # about the vertical


# --- rigid bodies and tops ------------------------------------------------------------------------------------------

def quaternions(c):
    return np.stack([c[k] for k in ("qw", "qx", "qy", "qz")], 1)


def body_on(joint_type, mass, com, moments, gravity=(0, 0, -9.81)):
    xx, yy, zz = moments
    return da.Mechanism("body", [da.Body("ground"), da.Body("body", mass, com, (xx, 0, yy, 0, 0, zz))],
                        [da.Joint("joint", joint_type, "ground", "body")], gravity=gravity)


def euler_accelerations(omega, rotation, mass, com, moments, gravity):
    """J w' = c x R^T m g - w x J w with the tensor J about the fixed point."""
    com = np.asarray(com, float)
    J = np.diag(np.asarray(moments, float)) + mass * (com @ com * np.eye(3) - np.outer(com, com))
    moment = np.cross(com, mass * np.einsum("nij,i->nj", rotation, np.asarray(gravity, float)))
    return np.linalg.solve(J, (moment - np.cross(omega, omega @ J)).T).T


@pytest.mark.parametrize("case", ["euler_top", "dzhanibekov"])
def test_free_rotation_of_an_asymmetric_body(case):
    moments = [float(x) for x in reference("rigid_body", case)["parameters"]["I"]]
    rows, c = table("rigid_body", case)
    q, omega = quaternions(c), rows[:, 1:4]
    top = body_on(da.Spherical(), 1.5, (0, 0, 0), moments)
    expected = -np.cross(omega, omega * moments) / moments
    np.testing.assert_allclose(da.forward_dynamics(top, q, omega, 0 * omega), expected, **EXACT)
    constant(da.kinetic_energy(top, q, omega), 1e-14)
    # the same body thrown: no moment of gravity, angular momentum about the centre of mass fixed in the world
    thrown = body_on(da.Free(), 1.5, (0, 0, 0), moments)
    q, qd = np.hstack([q, np.tile([1.0, 2, 3], (len(q), 1))]), np.hstack([omega, 0 * omega])
    qdd = da.forward_dynamics(thrown, q, qd, 0 * qd)
    np.testing.assert_allclose(qdd[:, :3], expected, **EXACT)
    rotation = da.placement(thrown, q, "body")[:, :3, :3]
    falling = np.einsum("nij,nj->ni", rotation, qdd[:, 3:])
    np.testing.assert_allclose(falling, np.tile((0, 0, -9.81), (len(q), 1)), **EXACT)
    constant(da.centroidal_momentum(thrown, q, qd)[:, :3], 1e-14)


def test_euler_top_integrated():
    rows, c = table("rigid_body", "euler_top")
    top = body_on(da.Spherical(), 1.5, (0, 0, 0), (1, 2, 3))
    few = c["t"] <= 2
    q, omega = integrated(top, quaternions(c)[0], rows[0, 1:4], c["t"][few])
    np.testing.assert_allclose(np.hstack([omega, q]), rows[few, 1:], atol=1e-10)


HEAVY_TOP = dict(mass=15, com=(0, 1, 0), moments=(0.234375, 0.46875, 0.234375))


def test_heavy_top_accelerations_energy_and_momentum():
    rows, c = table("rigid_body", "heavy_top_benchmark")
    top, q, omega = body_on(da.Spherical(), **HEAVY_TOP), quaternions(c), rows[:, 1:4]
    rotation = da.placement(top, q, "body")[:, :3, :3]
    np.testing.assert_allclose(da.center_of_mass(top, q), rows[:, 8:], rtol=1e-14, atol=1e-14)
    expected = euler_accelerations(omega, rotation, gravity=(0, 0, -9.81), **HEAVY_TOP)
    np.testing.assert_allclose(da.forward_dynamics(top, q, omega, 0 * omega), expected, rtol=1e-11, atol=1e-10)
    conserved(top, q, omega)
    momentum = np.einsum("nij,nj->ni", rotation, da.momenta(top, q, omega))
    constant(momentum[:, 2], 1e-12)                                  # gravity has no moment about the vertical


def test_heavy_top_integrated_for_a_fifth_of_a_second():
    rows, c = table("rigid_body", "heavy_top_benchmark")
    few = c["t"] <= 0.2
    q, omega = integrated(body_on(da.Spherical(), **HEAVY_TOP), quaternions(c)[0], rows[0, 1:4], c["t"][few])
    np.testing.assert_allclose(np.hstack([omega, q]), rows[few, 1:8], atol=1e-8)      # spin 150 rad/s: 4e-10 relative
    published = np.array(reference("rigid_body", "heavy_top_benchmark")["published"]["values"])
    np.testing.assert_allclose(q[-1], published, atol=6e-6)          # 5 decimals


LAGRANGE_TOP = dict(mass=1, com=(0, 0, 0.3), moments=(0.03, 0.03, 0.02))      # 0.12 about the fixed point
A, C_, MGL = 0.12, 0.02, 2.943


def euler_angle_top():
    """The top on three revolute joints z, x, z through the fixed point; the two rings have no mass."""
    xx, yy, zz = LAGRANGE_TOP["moments"]
    return da.Mechanism("top", [da.Body("ground"), da.Body("outer"), da.Body("inner"),
                                da.Body("top", 1, LAGRANGE_TOP["com"], (xx, 0, yy, 0, 0, zz))],
                        [da.Joint("phi", da.Revolute((0, 0, 1)), "ground", "outer"),
                         da.Joint("theta", da.Revolute((1, 0, 0)), "outer", "inner"),
                         da.Joint("psi", da.Revolute((0, 0, 1)), "inner", "top")])


@pytest.mark.parametrize("case", ["lagrange_top_cusped", "lagrange_top_loops"])
def test_lagrange_top_in_Euler_angles_and_as_a_spherical_joint(case):
    rows, c = table("rigid_body", case)
    q, qd = rows[:, 1:4], rows[:, 4:]
    s, cs = np.sin(c["theta"]), np.cos(c["theta"])
    pd, td, w3 = c["phi_dot"], c["theta_dot"], c["psi_dot"] + c["phi_dot"] * cs
    thetadd = (A * pd**2 * s * cs - C_ * w3 * pd * s + MGL * s) / A
    phidd = (C_ * w3 - 2 * A * pd * cs) * td / (A * s)
    psidd = pd * td * s - phidd * cs
    rings = euler_angle_top()
    found = da.forward_dynamics(rings, q, qd, 0 * qd)
    np.testing.assert_allclose(found, np.stack([phidd, thetadd, psidd], 1), rtol=1e-10, atol=1e-9)
    conserved(rings, q, qd)
    constant(da.momenta(rings, q, qd)[:, [0, 2]], 1e-13)             # about the vertical and about the axis
    # the same motion on a spherical joint
    pose = da.placement(rings, q, "top")
    omega = np.einsum("nij,nj->ni", da.jacobian(rings, q, "top", expressed_in="local")[:, :3], qd)
    ball = body_on(da.Spherical(), **LAGRANGE_TOP)
    half = 0.5 * q
    quaternion = np.stack([np.cos(half[:, 1]) * np.cos(half[:, 0] + half[:, 2]),
                           np.sin(half[:, 1]) * np.cos(half[:, 0] - half[:, 2]),
                           np.sin(half[:, 1]) * np.sin(half[:, 0] - half[:, 2]),
                           np.cos(half[:, 1]) * np.sin(half[:, 0] + half[:, 2])], 1)
    np.testing.assert_allclose(da.placement(ball, quaternion, "body"), pose, atol=1e-13)
    expected = euler_accelerations(omega, pose[:, :3, :3], gravity=(0, 0, -9.81), **LAGRANGE_TOP)
    found = da.forward_dynamics(ball, quaternion, omega, 0 * omega)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(energy(ball, quaternion, omega), energy(rings, q, qd), rtol=1e-12)


def test_regular_precession_of_the_lagrange_top():
    """A cos(theta) phi'^2 - C w3 phi' + m g l = 0: then the nutation angle stays, both precessions."""
    result = {k: float(v) for k, v in reference("rigid_body", "lagrange_top_regular")["result"].items()}
    for kind in ("slow", "fast"):
        qd = [result[f"phi_dot_{kind}"], 0, result[f"psi_dot_{kind}"]]
        qdd = da.forward_dynamics(euler_angle_top(), [0.4, 0.6, 1.0], qd, np.zeros(3))
        np.testing.assert_allclose(qdd, 0, atol=2e-12)


# --- manipulators ---------------------------------------------------------------------------------------------------

def puma560(rotors=True, friction=False):
    """PUMA 560 with rotor inertias; the motors' friction at the joints: viscous B G^2, Coulomb Tc |G| (forward)."""
    given = reference("manipulators_and_bicycle", "puma560")
    arm = da.load("puma560", passive=False)
    values = {}
    for k, joint in enumerate(arm.independent_joints):
        gear = given["gear"][k]
        if rotors:
            values |= {f"{joint.name}.rotor_inertia": given["rotor_inertia"][k], f"{joint.name}.gear_ratio": gear}
        if friction:
            values |= {f"{joint.name}.viscous": given["viscous_at_motor"][k] * gear**2,
                       f"{joint.name}.coulomb": given["coulomb_at_motor"][k][0] * abs(gear)}
    return arm.replace(values)


PRINTED = dict(rtol=0, atol=5.1e-5)      # 4 decimals


def test_puma560_against_published_values():
    """Values printed by the Robotics Toolbox, in its order: rne(q, qd, qdd)."""
    case = reference("manipulators_and_bicycle", "puma560")
    published, q = case["published"], np.array(case["q_n"])
    arm, rough = puma560(), puma560(friction=True)
    zero, one = np.zeros(6), np.ones(6)
    M = da.mass_matrix(arm, q)
    np.testing.assert_allclose(M, published["inertia_qn"], **PRINTED)
    np.testing.assert_allclose(M @ (1, 2, 3, 1, 2, 3), published["itorque_qn_qdd_123123"], **PRINTED)
    np.testing.assert_allclose(da.gravity_vector(arm, q), published["gravload_qn"], **PRINTED)
    np.testing.assert_allclose(da.inverse_dynamics(rough, q, zero, zero), published["rne_z_z"], **PRINTED)
    np.testing.assert_allclose(da.inverse_dynamics(rough, q, zero, one), published["rne_z_one"], rtol=0, atol=2e-5)
    np.testing.assert_allclose(da.inverse_dynamics(rough, q, one, one), published["rne_one_one"], **PRINTED)
    np.testing.assert_allclose(da.inverse_dynamics(rough, q, one, zero), published["rne_one_zero"], **PRINTED)
    weightless = rough.replace({"gravity[2]": 0})
    np.testing.assert_allclose(da.inverse_dynamics(weightless, q, one, one), published["rne_one_one_nograv"], **PRINTED)
    fast = np.array([1.0, 2, 3, 1, 2, 3])
    np.testing.assert_allclose(da.coriolis_vector(arm, q, fast), published["coriolis_qn_qd_123123"] @ fast, rtol=0,
                               atol=3e-4)                            # 4 decimals times the rates
    accel = published["accel_qn"]
    found = da.forward_dynamics(rough, q, accel["qd"], accel["torque"])
    np.testing.assert_allclose(found, accel["qdd"], **PRINTED)


def test_puma560_against_values_of_another_engine():
    case = reference("manipulators_and_bicycle", "puma560")
    own, q, arm = case["own_values_from_pinocchio"], np.array(case["q_n"]), puma560()
    np.testing.assert_allclose(da.mass_matrix(arm, q), own["inertia_qn"], **EXACT)
    np.testing.assert_allclose(da.gravity_vector(arm, q), own["gravload_qn"], **EXACT)
    C = da.coriolis_matrix(arm, q, [1, 2, 3, 1, 2, 3])
    np.testing.assert_allclose(C, own["coriolis_matrix_qd_123123"], **EXACT)
    tool = arm.bodies[-1].name
    pose, J = da.placement(arm, q, tool), da.jacobian(arm, q, tool)
    np.testing.assert_allclose(pose[:3, 3], own["tool_position_qn"], **EXACT)
    np.testing.assert_allclose(pose[:3, :3], own["tool_rotation_qn"], **EXACT)
    J = J[[3, 4, 5, 0, 1, 2]]                                        # linear part first, as the toolbox
    np.testing.assert_allclose(J, own["J_world_aligned_qn"], **EXACT)
    manipulability = [np.sqrt(np.linalg.det(part @ part.T)) for part in (J, J[:3], J[3:])]
    np.testing.assert_allclose(manipulability, own["manipulability_qn"], rtol=1e-9)
    Ji = np.linalg.inv(J)
    np.testing.assert_allclose(Ji.T @ da.mass_matrix(arm, q) @ Ji, case["published"]["inertia_x_qn"], **PRINTED)


def test_puma560_rotors_add_gear_squared_times_inertia():
    case = reference("manipulators_and_bicycle", "puma560")
    q = np.array(case["q_n"])
    difference = da.mass_matrix(puma560(), q) - da.mass_matrix(puma560(rotors=False), q)
    np.testing.assert_allclose(difference, np.diag(case["reflected_rotor_inertia"]), rtol=1e-12, atol=1e-14)


def test_planar_2R_in_the_vertical_plane():
    case = reference("manipulators_and_bicycle", "planar_2R")
    p = case["parameters"]
    arm = da.Mechanism("2R", [da.Body("base"), da.Body("a", p["m1"], (p["lc1"], 0, 0), (0, 0, 0, 0, 0, p["I1"])),
                              da.Body("b", p["m2"], (p["lc2"], 0, 0), (0, 0, 0, 0, 0, p["I2"]))],
                       [da.Joint("q1", da.Revolute((0, 0, 1)), "base", "a"),
                        da.Joint("q2", da.Revolute((0, 0, 1)), "a", "b", da.Origin((p["l1"], 0, 0)))], gravity=DOWN_Y)
    q, v, a = (case["state"][k] for k in "qva")
    np.testing.assert_allclose(da.mass_matrix(arm, q), case["M"], rtol=1e-14)
    np.testing.assert_allclose(da.coriolis_matrix(arm, q, v), case["C"], rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(da.gravity_vector(arm, q), case["g"], rtol=1e-14)
    np.testing.assert_allclose(da.inverse_dynamics(arm, q, v, a), case["tau"], rtol=1e-14)
    # closed forms, at other states
    l1, lc1, lc2, m1, m2, I1, I2 = (p[k] for k in ("l1", "lc1", "lc2", "m1", "m2", "I1", "I2"))
    rng = np.random.default_rng(2)
    for q1, q2 in rng.uniform(-3, 3, (5, 2)):
        M12 = m2 * (lc2**2 + l1 * lc2 * np.cos(q2)) + I2
        M22 = m2 * lc2**2 + I2
        M11 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * np.cos(q2)) + I1 + I2
        np.testing.assert_allclose(da.mass_matrix(arm, [q1, q2]), [[M11, M12], [M12, M22]], rtol=1e-14)
        outer = m2 * lc2 * 9.81 * np.cos(q1 + q2)
        np.testing.assert_allclose(da.gravity_vector(arm, [q1, q2]),
                                   [(m1 * lc1 + m2 * l1) * 9.81 * np.cos(q1) + outer, outer], rtol=1e-13, atol=1e-14)


def test_scara():
    case = reference("manipulators_and_bicycle", "scara")
    arm = da.load("scara", passive=False)
    M, g = da.mass_matrix(arm, case["q"]), da.gravity_vector(arm, case["q"])
    np.testing.assert_allclose(M, case["M"], rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(g, case["g"], rtol=1e-14, atol=1e-14)
    assert M[2, 2] == pytest.approx(2.1, rel=1e-15) and abs(g[2]) == pytest.approx(2.1 * 9.81, rel=1e-15)
    moved = np.array(case["q"]) + (1.3, 0, -0.2, 0)
    np.testing.assert_allclose(da.mass_matrix(arm, moved), M, rtol=1e-13, atol=1e-14)


def test_stanford_arm_against_another_engine():
    """At the 20 stored states: mass matrix, inverse dynamics, forward dynamics to its backward error."""
    import oracles

    values, arm = oracles.values("stanford_arm"), oracles.robot("stanford_arm")
    assert [j.type.name for j in arm.independent_joints].count("prismatic") == 1
    at = oracles.order("stanford_arm")
    q, v, a, tau = oracles.coordinates("stanford_arm", values["q"]), *(values[k][:, at] for k in ("v", "a", "tau"))
    np.testing.assert_allclose(da.mass_matrix(arm, q), values["M"][:, at][:, :, at], rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(da.inverse_dynamics(arm, q, v, a), values["tau_id"][:, at], rtol=1e-10, atol=1e-10)
    found = da.forward_dynamics(arm, q, v, tau)
    np.testing.assert_allclose(da.inverse_dynamics(arm, q, v, found), tau, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found, values["a_fd"][:, at], rtol=1e-8, atol=1e-8)
    assert q.shape == (20, 6)
