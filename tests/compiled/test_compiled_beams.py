"""Compiled quantities of mechanisms with elastic links beside the plain functions; numbers of beams as inputs."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import dalembert as da
from elastic_arms import arm, state, two_links

KINEMATICS = ("first_order", "second_order", "third_order", "exact")
OF_STATE = {"mass_matrix": 1, "gravity_vector": 1, "potential_energy": 1, "coriolis_matrix": 2, "bias_force": 2, "kinetic_energy": 2,
            "momenta": 2, "passive_force": 2, "inverse_dynamics": 3}
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc: generated C is not compiled")


def bent_arm(kinematics="second_order"):
    return two_links(1, (0, -9.81, 0), da.Rayleigh(0.1, 2e-4), kinematics)


def assert_near(found, right, rtol=1e-12):
    np.testing.assert_allclose(found, right, atol=rtol * np.abs(right).max())


@pytest.mark.parametrize("kinematics", KINEMATICS)
def test_quantities_and_batches_of_all_kinematics(kinematics):
    mechanism = bent_arm(kinematics)
    dynamics = da.compile(mechanism)
    states = [state(mechanism), mechanism.random_state(5) + (np.ones(mechanism.nv),)]
    batch = [np.array(x) for x in zip(*states)]
    quantities = OF_STATE if kinematics == "second_order" else ("mass_matrix", "inverse_dynamics")
    for name in quantities:
        right = np.array([getattr(da, name)(mechanism, *x[:OF_STATE[name]]) for x in states])
        assert_near(getattr(dynamics, name)(*batch[:OF_STATE[name]]), right)
    q, qd, qdd = states[0]
    tau = da.inverse_dynamics(mechanism, q, qd, qdd)
    np.testing.assert_allclose(dynamics.forward_dynamics(q, qd, tau), qdd, atol=1e-7)
    for frame in ("tip", "load"):
        assert_near(dynamics.jacobian(q, frame), da.jacobian(mechanism, q, frame))
        assert_near(dynamics.placement(q, frame), da.placement(mechanism, q, frame))


def test_derivatives_and_linear_models():
    mechanism = bent_arm()
    q, qd, qdd = state(mechanism)
    tau = da.inverse_dynamics(mechanism, q, qd, qdd)
    dynamics = da.compile(mechanism)
    for name, inputs in (("inverse_dynamics_derivatives", (q, qd, qdd)), ("forward_dynamics_derivatives", (q, qd, tau)), ("linearize", (q, qd, tau))):
        for found, right in zip(getattr(dynamics, name)(*inputs), getattr(da, name)(mechanism, *inputs)):
            assert_near(found, right, 1e-8)


def test_beams_in_space():
    mechanism = arm("second_order", "space")
    q, qd, qdd = state(mechanism)
    assert_near(da.compile(mechanism).inverse_dynamics(q, qd, qdd), da.inverse_dynamics(mechanism, q, qd, qdd))


def test_numbers_of_beams_are_inputs_also_per_state():
    mechanism = bent_arm()
    q, qd, qdd = state(mechanism)
    paths = ["upper.EIz", "lower.mass_per_length", "load.mass", "upper.damping_stiffness"]
    dynamics = da.compile(mechanism, parameters=paths)
    sweep = np.array([[100.0, 0.2, 1.5, 1e-3], [80.0, 0.3, 2.5, 0.0]])
    right = [da.inverse_dynamics(mechanism.replace(dict(zip(paths, row))), q, qd, qdd) for row in sweep]
    assert_near(dynamics.inverse_dynamics(q, qd, qdd, parameters=sweep), np.array(right))


def test_a_length_is_an_input_with_one_symbol_for_the_places_at_the_end():
    l = da.symbols("l")
    beam = da.Beam(l, EIz=90.0, mass_per_length=0.25)
    bodies = [da.Body("base"), da.Body("link", beam=beam, modes={"bend_y": 2}), da.Body("load", 2.0)]
    joints = [da.Joint("hub", da.Revolute((0, 0, 1)), "base", "link"), da.Joint("grip", da.Fixed(), "link", "load", da.Origin((l, 0, 0)))]
    mechanism = da.Mechanism("arm", bodies, joints)
    dynamics = da.compile(mechanism, parameters=["l"])
    q, qd = np.array([0.3, 0.02, -0.01]), np.array([1.0, 0.2, 0.1])
    for length in (0.5, 1.2):
        longer = mechanism.replace({"l": length})
        assert_near(dynamics.mass_matrix(q, parameters=[length]), da.mass_matrix(longer, q))
        assert_near(dynamics.bias_force(q, qd, parameters=[length]), da.bias_force(longer, q, qd))
    with pytest.raises(da.ModelError, match="in proportion to the length"):
        da.compile(bent_arm(), parameters=["upper.length"]).mass_matrix([0] * 4, parameters=[0.7])


@needs_gcc
def test_generated_c_is_the_plain_function(tmp_path):
    mechanism = bent_arm()
    q, qd, qdd = state(mechanism)
    da.compile(mechanism).write(tmp_path, "c", ["mass_matrix", "inverse_dynamics"], prefix="arm")
    sources = [path.name for path in tmp_path.glob("*.c") if not path.name.endswith("_test.c")]
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O0", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, *sources, "-lm", "-o", "arm.so"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "arm.so"))
    tau = np.zeros(mechanism.nv)
    assert library.arm_inverse_dynamics(*(x.ctypes.data_as(ctypes.c_void_p) for x in (q, qd, qdd, tau))) == 0
    assert_near(tau, da.inverse_dynamics(mechanism, q, qd, qdd))


def test_generated_numpy_is_the_plain_function(tmp_path):
    mechanism = bent_arm()
    q, qd, qdd = state(mechanism)
    ((name, text),) = da.compile(mechanism).source("numpy", ["inverse_dynamics"]).items()
    module = {}
    exec(text, module)
    tau, _ = module[name.removesuffix(".py")](q, qd, qdd)
    assert_near(tau, da.inverse_dynamics(mechanism, q, qd, qdd))


def test_equal_beams_share_code_and_other_kinematics_do_not():
    program = [da.compile(bent_arm(k)).function(["mass_matrix"]) for k in ("second_order", "second_order", "first_order")]
    q, _ = bent_arm().random_state(2)
    M = [f(q)[0] for f in program]
    np.testing.assert_array_equal(M[0], M[1])
    assert np.abs(M[0] - M[2]).max() > 1e-4
    assert bent_arm().identity() == bent_arm().identity() != bent_arm("first_order").identity()
