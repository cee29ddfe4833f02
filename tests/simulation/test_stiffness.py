"""Stiffness recognised: modes that steps do not follow, warnings with numbers, the method chosen for elastic bodies."""

import re
import warnings

import numpy as np
import pytest

import dalembert as da
from dalembert.simulation.stiffness import LinearisedForces, diverging, step_of_modes

CHAIN = da.planar_chain(2)
SPRING, VISCOUS = 4e7, 100.0
SPRUNG = CHAIN.replace({"q2.stiffness": SPRING, "q2.viscous": VISCOUS})


def arm(stiffness, **joint):
    """An elastic link and a load in the plane, hanging along x."""
    beam = da.Beam(0.8, EIz=stiffness, mass_per_length=0.25, damping=da.Rayleigh(stiffness=2e-4))
    bodies = [da.Body("base"), da.Body("link", beam=beam, modes={"bend_y": 2}), da.Body("load", 2.0, (0.05, 0, 0), (0, 0, 0, 0, 0, 0.002))]
    joints = [da.Joint("shoulder", da.Revolute((0, 0, 1)), "base", "link", **joint),
              da.Joint("grip", da.Fixed(), "link", "load", da.Origin((0.8, 0, 0)))]
    return da.Mechanism("arm", bodies, joints, gravity=(9.81, 0, 0))


def warned(*args, **options):
    """The run, and what was warned of."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        run = da.simulate(*args, **options)
    return run, [str(w.message) for w in found]


@pytest.mark.parametrize(("name", "factor"), [
    ("explicit_euler", lambda z: 1 + z), ("rk4", lambda z: 1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24)])
def test_factors_of_modes_are_those_of_the_method(name, factor):
    z = np.array([-0.5, -2.0, -1.0 + 2.0j, 1.5j])
    found = step_of_modes(name, z / 0.1, 0.1)
    assert np.allclose(found.growth, np.abs(factor(z)), atol=1e-12)
    assert np.allclose(found.errors, np.abs(factor(z) - np.exp(z)), atol=1e-9)


@pytest.mark.parametrize(("name", "limit"), [
    ("rk4", 2.785), ("dopri5", 3.307), ("dop853", 6.35), ("explicit_euler", 2.0), ("semi_implicit_euler", 2.0)])
def test_limits_of_stability_along_the_negative_axis(name, limit):
    assert diverging(name, np.array([-1.0 + 0j]), 0.97 * limit) is None
    assert diverging(name, np.array([-1.0 + 0j]), 1.06 * limit) == -1


def test_undamped_vibrations_that_a_step_follows_are_none_of_its_business():
    assert diverging("explicit_euler", np.array([1j, -1j]), 0.05) is None      # grows slowly, as its energy tells
    assert diverging("semi_implicit_euler", np.array([1j]), 1.9) is None and diverging("semi_implicit_euler", np.array([1j]), 2.2)


def test_rates_of_linear_forces():
    free = LinearisedForces(np.diag([1.0, 2.0]), np.diag([0.2, 0.0]), np.diag([25.0, 8.0])).rates()
    assert np.allclose(np.sort(np.abs(free)), [2, 2, 5, 5]) and np.isclose(free[0].real, -0.1)
    assert not len(LinearisedForces(np.zeros((1, 1)), np.eye(1), np.eye(1)).rates())


def test_a_fixed_step_too_long_for_a_spring_is_told_with_a_step_that_is_not():
    run, (said, early) = warned(SPRUNG, [0.3, 0.0], [0, 0], 0.5)
    assert "ended early" in early
    assert "h=0.001 s is too long for 'rk4'" in said and "method='rodas5p'" in said
    exact = np.linalg.eigvals(da.linearize(SPRUNG, [0.0, 0.0], [0, 0], [0, 0]).A)
    frequency = float(re.search(r"a vibration of (\S+) rad/s", said)[1])
    assert abs(frequency / np.abs(exact.imag).max() - 1) < 0.01 and run.reason != "finished"
    h = float(re.search(r"Give h=(\S+),", said)[1])
    again, nothing = warned(SPRUNG, [0.3, 0.0], [0, 0], 0.5, h=h, record=0.1)
    assert again.reason == "finished" and not nothing and h > 1e-5


def test_motors_behind_stiff_springs_are_looked_at():
    geared = CHAIN.replace({"q1.rotor_inertia": 1e-5, "q1.gear_ratio": 100.0, "q2.rotor_inertia": 1e-5, "q2.gear_ratio": 100.0})
    flexible = geared.with_flexible_joints({"q1": 2e6, "q2": 2e6}, damping=10.0)
    rest = np.zeros(flexible.nq), np.zeros(flexible.nv)
    _, said = warned(flexible, *rest, 0.1, record=0.05)
    assert "h=0.001 s is too long for 'rk4'" in said[0]
    run, nothing = warned(flexible, *rest, 0.1, method="rodas5p")
    assert run.reason == "finished" and not nothing


def test_rigid_mechanisms_and_implicit_methods_hear_nothing():
    for system, options in ((CHAIN, {}), (SPRUNG, {"method": "rodas5p"}), (SPRUNG, {"h": 1e-5, "record": 0.01})):
        run, said = warned(system, [0.3, 0.0], [0, 0], 0.05, **options)
        assert run.reason == "finished" and not said


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
def test_steps_held_down_by_stability_are_told_with_numbers(method):
    damped = CHAIN.replace({"q2.stiffness": 4e7, "q2.viscous": 1e4})
    run, (said,) = warned(damped, [0.3, 0.0], [0, 0], 1.0, method=method, rtol=1e-6, atol=1e-6)
    assert re.search(rf"is stiff: {run.steps:.0f} steps of '{method}' were held down by stability", said)
    rate = float(re.search(r"a decay with a rate of (\S+) 1/s", said)[1])
    exact = np.linalg.eigvals(da.linearize(damped, run.q[-1], run.qd[-1], [0, 0]).A)
    assert abs(rate / np.abs(exact).max() - 1) < 0.02 and "Take method='rodas5p'" in said
    better, nothing = warned(damped, [0.3, 0.0], [0, 0], 1.0, method="rodas5p", rtol=1e-6, atol=1e-6)
    assert better.steps < run.steps / 10 and not nothing
    assert np.abs(better.q - run.q).max() < 1e-4


def test_gains_of_a_control_make_a_rigid_arm_stiff():
    def held(t, q, qd):
        return -1e6 * q - 1e5 * qd

    _, (said,) = warned(CHAIN, [0.3, 0.1], [0, 0], 0.2, method="dop853", rtol=1e-6, atol=1e-6, control=held)
    assert "is stiff" in said and "method='rodas5p'" in said


def test_long_motions_at_loose_tolerances_are_not_stiff():
    spring = CHAIN.replace({"q1.stiffness": 40.0, "q2.stiffness": 10.0, "q1.viscous": 1e-3})
    for rtol in (1e-3, 1e-9):
        run, said = warned(spring, [2.0, -1.0], [0, 0], 400.0 if rtol > 1e-5 else 40.0, method="dop853", rtol=rtol, atol=rtol)
        assert run.steps > 1000 and not [text for text in said if "stiff" in text]


def test_systems_of_a_users_own_are_looked_at_too():
    class Relaxation(da.System):
        """Van der Pol's oscillator of mu = 1000."""

        name, coordinate_names = "relaxation", ("x",)

        def mass_matrix(self, q, t=0.0):
            return [[1.0]]

        def bias_force(self, q, qd, t=0.0):
            return [q[0]]

        def generalized_forces(self, q, qd, t=0.0):
            return np.array([1000.0 * (1 - q[0] * q[0]) * qd[0]])

        def potential_energy(self, q, t=0.0):
            return q[0] * q[0] / 2

    _, (said,) = warned(Relaxation(), [2.0], [0.0], 20.0, method="dopri5", rtol=1e-5, atol=1e-5)
    assert "'relaxation' is stiff" in said and "a decay with a rate of 2.9" in said
    run, said = warned(Relaxation(), [2.0], [0.0], 2000.0, method="rodas5p", rtol=1e-7, atol=1e-7)
    assert not [text for text in said if "stiff" in text] and np.abs([run.q[-1, 0] / 1.706167732170483 - 1, run.qd[-1, 0] / -0.8928097010247975e-3 - 1]).max() < 1e-5


def test_elastic_bodies_get_the_stiff_method_where_rk4_would_diverge():
    start = lambda mechanism: (np.zeros(mechanism.nv), np.zeros(mechanism.nv), 1.0)  # noqa: E731
    soft, stiff = arm(50.0), arm(1e4)
    assert da.simulate(soft, *start(soft)).method == "rk4"
    run, said = warned(stiff, *start(stiff))
    assert run.method == "rodas5p" and not said and run.energy_drift < 1e-6
    assert da.simulate(stiff, *start(stiff), h=1e-4).method == "rk4"


def test_elastic_bodies_with_dry_friction_keep_the_default_and_are_warned_of():
    rough = arm(1e4, coulomb=0.1)
    run, said = warned(rough, np.zeros(rough.nv), np.zeros(rough.nv), 0.1, record=0.01)
    assert run.method == "rk4" and "h=0.001 s is too long for 'rk4'" in said[0]
