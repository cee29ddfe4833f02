"""Every quantity of every robot against Pinocchio (which agrees with MuJoCo, see the oracles' README)."""

import numpy as np
import pytest

import dalembert as da
import oracles

TOLERANCE = 1e-10      # relative to the largest entry, conventions.md; seen: 2e-15, and 1.1e-14 for the inverse mass matrix


def assert_agrees(ours, theirs):
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= TOLERANCE * np.abs(theirs).max()


@pytest.fixture(params=oracles.ROBOTS)
def case(request):
    name = request.param
    arm, o, k = oracles.robot(name), oracles.values(name), oracles.order(name)
    assert {j.name for j in arm.independent_joints} == {j["name"] for j in oracles.INDEX[name]["joints"]}
    return arm, oracles.coordinates(name, o["q"]), o, k, oracles.INDEX[name]["tip_frame"]


def square(o, key, k):
    return o[key][:, k][:, :, k]


def test_inverse_dynamics(case):
    arm, q, o, k, _ = case
    assert_agrees(da.inverse_dynamics(arm, q, o["v"][:, k], o["a"][:, k]), o["tau_id"][:, k])


def test_forward_dynamics(case):
    arm, q, o, k, _ = case
    assert_agrees(da.forward_dynamics(arm, q, o["v"][:, k], o["tau"][:, k]), o["a_fd"][:, k])


def test_mass_matrix_and_its_inverse(case):
    arm, q, o, k, _ = case
    assert_agrees(da.mass_matrix(arm, q), square(o, "M", k))
    assert_agrees(da.inverse_mass_matrix(arm, q), square(o, "Minv", k))


def test_bias_force_and_gravity_vector(case):
    arm, q, o, k, _ = case
    assert_agrees(da.bias_force(arm, q, o["v"][:, k]), o["bias"][:, k])
    assert_agrees(da.gravity_vector(arm, q), o["g"][:, k])


def test_coriolis_matrix_entry_by_entry(case):
    arm, q, o, k, _ = case
    assert_agrees(da.coriolis_matrix(arm, q, o["v"][:, k]), square(o, "C", k))


@pytest.mark.parametrize("axes, key", [("local", "J_local"), ("world", "J_world"), ("aligned", "J_lwa")])
def test_jacobian(case, axes, key):
    arm, q, o, k, tip = case
    assert_agrees(da.jacobian(arm, q, tip, axes), oracles.angular_first(o[key])[:, :, k])


def test_jacobian_rate(case):
    arm, q, o, k, tip = case
    assert_agrees(da.jacobian_rate(arm, q, o["v"][:, k], tip, "local"), oracles.angular_first(o["dJ_local"])[:, :, k])


def test_tip_velocity_and_acceleration(case):
    arm, q, o, k, tip = case
    v, a = o["v"][:, k, None], o["a"][:, k, None]
    J, J_rate = da.jacobian(arm, q, tip, "local"), da.jacobian_rate(arm, q, v[..., 0], tip, "local")
    assert_agrees((J @ v)[..., 0], oracles.angular_first(o["tip_v_local"]))
    assert_agrees((J @ a + J_rate @ v)[..., 0], oracles.angular_first(o["tip_a_local"]))


def test_placement(case):
    arm, q, o, _, tip = case
    T = da.placement(arm, q, tip)
    assert_agrees(T[:, :3, 3], o["tip_p"])
    assert_agrees(T[:, :3, :3], o["tip_R"])


def test_center_of_mass_and_centroidal_momentum(case):
    arm, q, o, k, _ = case
    assert_agrees(da.center_of_mass(arm, q), o["com"])
    assert_agrees(da.centroidal_momentum(arm, q, o["v"][:, k]), oracles.angular_first(o["hg"]))


def test_energies_and_momenta(case):
    arm, q, o, k, _ = case
    v = o["v"][:, k]
    assert_agrees(da.kinetic_energy(arm, q, v), o["kin"])
    assert_agrees(da.potential_energy(arm, q), o["pot"])
    assert_agrees(da.momenta(arm, q, v), np.einsum("nij,nj->ni", square(o, "M", k), v))


def test_mujoco_agrees_where_it_accepts_the_model(case):
    arm, q, o, k, _ = case
    if "mj_M" not in o or "free" in {j.type.name for j in arm.joints}:
        pytest.skip("MuJoCo refuses this model, or names its floating base's velocity in world axes (test_convert)")
    assert_agrees(da.mass_matrix(arm, q), square(o, "mj_M", k))
    assert_agrees(da.bias_force(arm, q, o["v"][:, k]), o["mj_bias"][:, k])


def test_exact_angles_change_nothing_beyond_the_rounding_of_the_file(case):
    """The files write pi/2 with 11 digits or more: 1e-9 rad covers what reading them exactly can change."""
    arm, q, o, _, _ = case
    exact = da.load(arm.file, base="free" if "free" in {j.type.name for j in arm.joints} else "fixed",
                    mimic="independent", passive=False)
    assert np.abs(da.mass_matrix(exact, q) - da.mass_matrix(arm, q)).max() <= 1e-9 * np.abs(o["M"]).max()
