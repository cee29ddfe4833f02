"""`simulate` against motions that are known: tables in quadruple precision, elliptic functions, constants of the motion.

Each in (q, qd) and in (q, p). A table's `sensitivity` says how far an error of the start is carried; angles that are no
binary numbers have one, so that rows count only as far as it leaves the digits that are compared.
"""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import dalembert as da
from reference import PENDULUMS, pendulum, reference, table

FORMS = ("newton_euler", "hamilton")
TIGHT = dict(method="dop853", rtol=1e-13, atol=1e-13)

@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", PENDULUMS)
def test_pendulums_of_many_links_move_as_the_tables_say(case, form):
    n = PENDULUMS[case][0]
    rows = table("pendulums", case)[0]
    sensitivity = np.array(reference("pendulums", case).get("sensitivity", {"values": np.ones(len(rows))})["values"], dtype=float)
    rows = rows[:len(rows) // 2 if sensitivity.max() == 1 else int(np.argmax(np.append(sensitivity, np.inf) > 1e3))]
    assert rows[-1, 0] >= 2
    relative = np.eye(n) - np.eye(n, k=-1)                            # joint angles of absolute ones
    run = da.simulate(pendulum(*PENDULUMS[case]), relative @ rows[0, 1:n + 1], np.zeros(n), rows[:, 0], formulation=form, **TIGHT)
    assert run.reason == "finished" and run.energy_drift < 1e-10
    assert np.abs(run.q @ np.linalg.inv(relative).T - rows[:, 1:n + 1]).max() < 1e-7
    assert np.abs(run.qd @ np.linalg.inv(relative).T - rows[:, n + 1:]).max() < 1e-6


@pytest.mark.parametrize("form", FORMS)
def test_a_simple_pendulum_moves_by_elliptic_functions(form):
    """sin(theta/2) = k sn(K - w t, k) from rest at theta_0, k = sin(theta_0/2); the period of IFToMM A01 is 4 K / w."""
    w, k = np.sqrt(9.81), np.sin(np.pi / 4)
    K = ellipk(k * k)
    assert 4 * K / w == pytest.approx(float(reference("pendulums", "A01_simple_pendulum")["period"]), rel=1e-14)
    run = da.simulate(pendulum(1, 1, 0), [np.pi / 2], [0], 10.0, record=0.1, formulation=form, **TIGHT)
    sn, cn, _, _ = ellipj(K - w * run.times, k * k)
    assert np.abs(run.q[:, 0] - 2 * np.arcsin(k * sn)).max() < 1e-10
    assert np.abs(run.qd[:, 0] + 2 * k * w * cn).max() < 1e-9
    rows = table("pendulums", "A01_simple_pendulum")[0]
    run = da.simulate(pendulum(1, 1, 0), [-np.pi / 2], [0], rows[:, 0], formulation=form, **TIGHT)
    assert np.abs(np.stack([np.sin(run.q[:, 0]), -np.cos(run.q[:, 0])], 1) - rows[:, 1:3]).max() < 1e-10


@pytest.mark.parametrize("form", FORMS)
def test_a_driven_cart_with_a_pole(form):
    cart = da.Mechanism("cart-pole", [da.Body("base"), da.Body("cart", 1), da.Body("pole", 0.1, (0, 0, 0.5))],
                        [da.Joint("x", da.Prismatic((1, 0, 0)), "base", "cart"),
                         da.Joint("theta", da.Revolute((0, 1, 0)), "cart", "pole")])
    rows = table("pendulums", "cart_pole")[0]
    run = da.simulate(cart, rows[0, 1:3], [0, 0], rows[:, 0], forces=lambda t, q, qd: np.array([da.sin(2 * t), 0]),
                      formulation=form, **TIGHT)
    assert run.forces["forces"] == "traced" and np.abs(run.power_balance).max() < 1e-11
    assert np.abs(np.hstack([run.q, run.qd]) - rows[:, 1:]).max() < 1e-8


@pytest.mark.parametrize("form", FORMS)
def test_furutas_pendulum(form):
    L1, J, m, l, Jp = (reference("pendulums", "furuta")["parameters"][k] for k in ("L1", "J_arm", "m_p", "l_com", "J_p_transverse"))
    furuta = da.Mechanism("Furuta", [da.Body("base"), da.Body("arm", 0, (0, 0, 0), (0, 0, 0, 0, 0, J)),
                                     da.Body("rod", m, (0, 0, -l), (Jp, 0, Jp, 0, 0, 0))],
                          [da.Joint("phi", da.Revolute((0, 0, 1)), "base", "arm"),
                           da.Joint("theta", da.Revolute((1, 0, 0)), "arm", "rod", da.Origin((L1, 0, 0)))])
    rows = table("pendulums", "furuta")[0]
    run = da.simulate(furuta, rows[0, 1:3], rows[0, 3:], rows[:, 0], formulation=form, **TIGHT)
    assert np.abs(np.hstack([run.q, run.qd]) - rows[:, 1:]).max() < 1e-8
    assert np.ptp(run.momenta[:, 0]) < 1e-12                          # about the vertical


# --- bodies that turn -------------------------------------------------------------------------------------------------

def turning(moments, mass=1.5, com=(0, 0, 0)):
    xx, yy, zz = moments
    return da.Mechanism("top", [da.Body("ground"), da.Body("body", mass, com, (xx, 0, yy, 0, 0, zz))],
                        [da.Joint("joint", da.Spherical(), "ground", "body")])


def eulers_top(moments, omega, t):
    """Angular velocity of a free body by elliptic functions, I1 < I2 < I3, from omega_2 = 0 (Landau, Lifshitz, section 37).

    With L^2 > 2 T I2:  (cn, sn, dn) of s t;  with L^2 < 2 T I2 the axes 1 and 3 change places.
    """
    I1, I2, I3 = moments
    energy, L2 = np.dot(moments, omega**2), np.dot(moments**2, omega**2)
    if (L2 < energy * I2) == (I1 < I3):
        return eulers_top(moments[::-1], omega[::-1] * [1, -1, 1], t)[:, ::-1] * [1, -1, 1]
    s = np.sqrt((I3 - I2) * (L2 - energy * I1) / (I1 * I2 * I3)) * np.sign((I3 - I1) * omega[2] * omega[0])
    sn, cn, dn, _ = ellipj(s * t, (I2 - I1) * (energy * I3 - L2) / ((I3 - I2) * (L2 - energy * I1)))
    return np.stack([omega[0] * cn, np.sqrt((energy * I3 - L2) / (I2 * (I3 - I2))) * sn, omega[2] * dn], 1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("omega", [(0.8, 0, 1.2), (1.2, 0, 0.3)], ids=["about the largest moment", "about the smallest"])
def test_eulers_top_by_elliptic_functions(form, omega):
    moments, omega = np.array([1.0, 2.0, 3.0]), np.array(omega)
    run = da.simulate(turning(moments), [1, 0, 0, 0], omega, 20.0, record=0.5, formulation=form, **TIGHT)
    assert np.abs(run.qd - eulers_top(moments, omega, run.times)).max() < 1e-10
    R = da.placement(run.mechanism, run.q, "body")[:, :3, :3]
    spatial = np.einsum("kij,kj->ki", R, run.momenta)
    assert np.abs(spatial - spatial[0]).max() < 1e-10 and np.ptp(run.kinetic_energy) < 1e-11


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("case", "error"), [("euler_top", 1e-9), ("dzhanibekov", 1e-7)])
def test_free_rotations_of_the_tables(case, error, form):
    """The second turns over from its middle axis again and again: a start that is off by e is off by e exp(rate t) then."""
    rows = table("rigid_body", case)[0]
    moments = [float(x) for x in reference("rigid_body", case)["parameters"]["I"]]
    run = da.simulate(turning(moments), rows[0, 4:], rows[0, 1:4], rows[:, 0], formulation=form, **TIGHT)
    assert np.abs(np.hstack([run.qd, run.q]) - rows[:, 1:]).max() < error
    if case == "dzhanibekov":
        assert run.qd[:, 1].min() < -4.9 and run.qd[:, 1].max() > 4.9


@pytest.mark.parametrize("form", FORMS)
def test_the_heavy_top_of_the_benchmark(form):
    rows = table("rigid_body", "heavy_top_benchmark")[0]
    top = turning((0.234375, 0.46875, 0.234375), 15, (0, 1, 0))
    run = da.simulate(top, rows[0, 4:8], rows[0, 1:4], rows[:, 0], formulation=form, **TIGHT)
    assert np.abs(da.center_of_mass(top, run.q) - rows[:, 8:]).max() < 1e-7
    assert np.abs(run.qd - rows[:, 1:4]).max() < 1e-5 and run.energy_drift < 1e-10      # of 150 rad/s
    R = da.placement(top, run.q, "body")[:, :3, :3]
    vertical = np.einsum("ki,ki->k", R[:, 2], run.momenta)
    assert np.abs(vertical - vertical[0]).max() < 1e-9 * np.abs(run.momenta).max()


def test_lagranges_top_falls_and_rises_as_the_table_says():
    """From rest it makes cusps; theta, and the rates of precession and spin, from the quaternion's attitude."""
    rows = table("rigid_body", "lagrange_top_cusped")[0]
    top = turning((0.03, 0.03, 0.02), 1, (0, 0, 0.3))
    half = rows[0, 2] / 2
    spin = [0, 0, rows[0, 6]]
    for form in FORMS:
        run = da.simulate(top, [np.cos(half), np.sin(half), 0, 0], spin, rows[:, 0], formulation=form, **TIGHT)
        axis = da.placement(top, run.q, "body")[:, :3, 2]
        assert np.abs(axis[:, 2] - np.cos(rows[:, 2])).max() < 1e-8
        direction = np.stack([np.sin(rows[:, 1]), -np.cos(rows[:, 1])], 1) * np.sin(rows[:, 2:3])
        assert np.abs(axis[:, :2] - direction).max() < 1e-8


# --- energies over long times ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("form", FORMS)
def test_the_discrete_gradient_keeps_the_energy_over_1e5_steps(form):
    run = da.simulate(pendulum(2, 0.5, 1 / 12), [2.0, 0.5], [0, 0], 500, method="discrete_gradient", h=5e-3, record=0.5,
                      formulation=form)
    assert run.reason == "finished" and run.steps == 100_000 and run.energy_drift < 1e-10


@pytest.mark.parametrize("form", FORMS)
def test_the_implicit_midpoint_rule_keeps_energy_in_bounds_over_1e6_steps(form):
    run = da.simulate(pendulum(2, 0.5, 1 / 12), [1.0, 0.5], [0, 0], 5e3, method="implicit_midpoint", h=5e-3, record=5,
                      formulation=form)
    tenths = [np.abs(part).max() for part in np.array_split(run.power_balance[1:], 10)]
    assert run.reason == "finished" and run.steps == 1_000_000
    assert 1e-6 < max(tenths) / run.kinetic_energy.max() < 5e-3 and tenths[-1] < 2 * max(tenths[:2])
