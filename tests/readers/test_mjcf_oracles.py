"""MJCF files of others against values that MuJoCo gave for them (tests/data/oracles/README.md)."""

import json
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import dalembert as da

pytest.importorskip("mujoco")

DATA = Path(__file__).parents[1] / "data"
INDEX = json.loads((DATA / "oracles" / "mjcf_index.json").read_text())
MODELS = tuple(INDEX)
TENDONS = ("dm_control_suite__fish",)      # with springs
WEIGHTLESS = ("dm_control_suite__fish",)      # the flag of gravity is off


@cache
def model(name):
    """The mechanism as the values have it: without its constraints."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DalembertWarning)
        return da.load(DATA / INDEX[name]["model_file"], exact_angles=False).without("constraints")


@cache
def values(name):
    with np.load(DATA / "oracles" / "mjcf_mujoco.npz") as file:
        return {key.partition("/")[2]: file[key] for key in file.files if key.startswith(f"{name}/")}


def state(name, acceleration="qacc", force="tau_id"):
    """(mechanism, values, vectors as ours); forces of tendons, which are not read, are applied."""
    m, o = model(name), values(name)
    x = da.convert.from_mujoco(m, o["qpos"], o["qvel"], o[acceleration], o[force])
    if name in TENDONS:
        by_tendons = da.convert.from_mujoco(m, o["qpos"], o["qvel"], None, o["passive"]).tau - da.passive_force(m, x.q, x.qd)
        x = x._replace(tau=x.tau + by_tendons)
    return m, o, x


def near(ours, theirs, bound=1e-12):
    return np.abs(ours - theirs).max() <= bound * max(np.abs(theirs).max(), 1e-300)


@pytest.mark.parametrize("name", MODELS)
def test_coordinates_are_those_of_mujoco_in_its_order(name):
    m, meta = model(name), INDEX[name]
    assert (m.nq, m.nv) == (meta["nq"], meta["nv"])
    assert [j.name for j in m.independent_joints] == [j["name"] for j in meta["joints"]]
    assert [m.entries[j.name].at_q.start for j in m.independent_joints] == [j["qposadr"] for j in meta["joints"]]
    assert np.allclose([float(x) for x in m.gravity], [0, 0, 0] if name in WEIGHTLESS else meta["gravity"])


@pytest.mark.parametrize("name", MODELS)
def test_mass_matrix_forces_and_energies_are_those_of_mujoco(name):
    m, o, x = state(name)
    columns = [da.convert.from_mujoco(m, o["qpos"], np.broadcast_to(row, o["qvel"].shape)).qd for row in np.eye(m.nv)]
    T = np.stack(columns, axis=-1)      # our velocities by MuJoCo's
    M = np.swapaxes(T, -1, -2) @ da.mass_matrix(m, x.q) @ T
    assert near(M, o["M"])
    passive = da.convert.to_mujoco(m, x.q, x.qd, None, da.passive_force(m, x.q, x.qd)).tau
    errors = [f.what for f in m.check() if f.severity == "error" and f.what != "<option>"]
    if name in TENDONS:
        assert errors == ["tendon 'fins_sym'"]
    else:
        assert not errors and np.abs(passive - o["passive"]).max() <= 1e-12 * np.abs(o["passive"]).max()
    scale = np.abs(M @ o["qacc"][..., None])[..., 0].max() + np.abs(o["bias"]).max()
    assert np.abs(da.inverse_dynamics(m, x.q, x.qd, x.qdd) - x.tau).max() <= 1e-12 * scale
    rotors = 0.5 * np.einsum("ni,i,ni->n", x.qd, [float(r) for j in m.independent_joints for r in j.rotor_inertia], x.qd)
    assert near(da.kinetic_energy(m, x.q, x.qd), o["kinetic"]) or near(da.kinetic_energy(m, x.q, x.qd) - rotors, o["kinetic"])
    assert near(da.center_of_mass(m, x.q), o["com"], 1e-11)


@pytest.mark.parametrize("name", MODELS)
def test_accelerations_are_those_of_mujoco(name):
    m, o, x = state(name, "qacc_fd", "qfrc_applied")
    assert near(da.forward_dynamics(m, x.q, x.qd, x.tau), x.qdd, 1e-10)
