"""Rotors that ride on links: against rotors that are bodies and turn, in every formulation; textbook arms; conservation."""

import numpy as np
import pytest

import dalembert as da
from dalembert.formulations import elementary_motions, hamilton, lagrange, newton_euler
from geared_rotors import geared

ARGUMENTS = {
    "mass_matrix": 1, "bias_force": 2, "coriolis_matrix": 2, "kinetic_energy": 2, "momenta": 2,
    "inverse_dynamics": 3, "forward_dynamics": 3,
}


def state():
    mechanism, explicit = geared()
    rng = np.random.default_rng(3)
    return mechanism, explicit, *rng.standard_normal((3, mechanism.nv))


def agree(found, expected):
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max(), rtol=1e-12)


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("formulation", (newton_euler, lagrange, elementary_motions))
def test_rotors_move_as_bodies_that_turn(formulation, name):
    mechanism, explicit, *vectors = state()
    function = getattr(formulation, name)
    arguments = vectors[: ARGUMENTS[name]]
    expected = getattr(newton_euler, name)(explicit, *arguments)
    assert np.abs(expected - getattr(newton_euler, name)(mechanism.without("rotors"), *arguments)).max() > 1e-3
    agree(function(mechanism, *arguments), expected)


def test_derivatives_and_momentum_are_those_of_bodies_that_turn():
    mechanism, explicit, q, qd, tau = state()
    for name in ("inverse_dynamics_derivatives", "forward_dynamics_derivatives"):
        for found, expected in zip(*(getattr(da, name)(m, q, qd, tau) for m in (mechanism, explicit)), strict=True):
            agree(found, expected)
    agree(da.centroidal_momentum(mechanism, q, qd), da.centroidal_momentum(explicit, q, qd))
    agree(da.centroidal_momentum_matrix(mechanism, q), da.centroidal_momentum_matrix(explicit, q))
    names, theta = da.regressor_parameters(mechanism)
    agree(da.regressor(mechanism, q, qd, tau) @ theta, da.inverse_dynamics(mechanism, q, qd, tau))
    p = da.momenta(mechanism, q, qd)
    agree(hamilton.velocities(mechanism, q, p), qd)
    agree(hamilton.momentum_rate(mechanism, q, qd, p), hamilton.momentum_rate(explicit, q, qd, p))


def test_compiled_quantities_are_those_of_bodies_that_turn():
    mechanism, explicit, q, qd, tau = state()
    compiled = da.compile(mechanism)
    agree(compiled.inverse_dynamics(q, qd, tau), da.inverse_dynamics(explicit, q, qd, tau))
    agree(compiled.forward_dynamics(q, qd, tau), da.forward_dynamics(explicit, q, qd, tau))
    agree(compiled.mass_matrix(q), da.mass_matrix(explicit, q))


def test_the_two_link_arm_with_motors_has_the_matrix_of_its_textbook():
    # Sciavicco, Siciliano, Modelling and control of robot manipulators (2000), section 4.3.2; the inertia of link 1 is
    # with the motor of link 2 on it, locked
    a1, l1, l2, m1, m2, I1, I2, motor = 1.0, 0.4, 0.5, 5.0, 3.0, 0.4, 0.3, 2.0
    k1, k2, J1, J2 = 80, 120, 1e-4, 2e-4
    with_motor = da.Body("link1", m1, (l1, 0, 0), (0, 0, 0, 0, 0, I1))
    bodies = da.Body("base"), with_motor, da.Body("link2", m2, (l2, 0, 0), (0, 0, 0, 0, 0, I2))
    joints = da.Joint("q1", da.Revolute(), "base", "link1"), da.Joint("q2", da.Revolute(), "link1", "link2", da.Origin((a1, 0, 0)))
    arm = da.Mechanism("arm", bodies, joints).attach(da.Body("motor2", motor, inertia=(0, 0, 0, 0, 0, J2)), "link1", origin=(a1, 0, 0))
    arm = arm.with_actuators(da.Actuator("rotor1", "q1", k1, J1, "base"), da.Actuator("rotor2", "q2", k2, J2, "link1"))
    c2 = np.cos(0.7)
    b12 = I2 + m2 * (l2**2 + a1 * l2 * c2) + k2 * J2
    b11 = I1 + m1 * l1**2 + k1**2 * J1 + I2 + m2 * (a1**2 + l2**2 + 2 * a1 * l2 * c2) + J2 + motor * a1**2
    b22 = I2 + m2 * l2**2 + k2**2 * J2
    agree(da.mass_matrix(arm, [0.3, 0.7]), [[b11, b12], [b12, b22]])


def test_a_rotor_turns_its_free_carrier_the_other_way():
    """A floating body with a flywheel: what the wheel gains the body loses, about an axis that turns with it."""
    wheel = da.Joint("wheel", da.Continuous((0, 0, 1)), "ship", "disc")
    ship = da.Body("ship", 3.0, (0, 0, 0), (2, 0, 3, 0, 0, 4))
    disc = da.Body("disc", 0.1, (0, 0, 0), (1e-5, 0, 1e-5, 0, 0, 2e-5))
    motor = da.Actuator("motor", "wheel", 200, 1e-3, "ship")
    craft = da.Mechanism("ship", (ship, disc), (wheel,)).with_actuators(motor).floating().replace(gravity=(0, 0, 0))
    rates = [0.3, -0.2, 0.1, 0, 0, 0, 5.0]
    run = da.simulate(craft, craft.neutral(), rates, 2.0, control=lambda t, q, qd: [0, 0, 0, 0, 0, 0, da.sin(3 * t)], rtol=1e-10)
    momentum = [da.centroidal_momentum(craft, q, qd) for q, qd in zip(run.q, run.qd, strict=True)]
    np.testing.assert_allclose(momentum - momentum[0], 0, atol=1e-8)
    assert abs(momentum[0][2] - (0.1 * (4 + 2e-5) + 5 * 2e-5 + 200 * 5 * 1e-3)) < 1e-12
    assert np.abs(run.power_balance).max() < 1e-8


def geared_chain():
    return da.planar_chain(2).with_actuators(da.Actuator("rotor1", "q1", 80, 1e-4, "base"), da.Actuator("rotor2", "q2", 120, 2e-4, "link1"))


def test_closed_forms_have_a_parameter_for_each_rotor():
    found = da.equations(geared_chain())
    M = found.mass_matrix.astype(str)
    assert "YY3" not in M[0, 0] and "Ia1" in M[0, 0]      # the second rotor is locked on link 1, the first on the base
    assert "120*YY3" in M[0, 1] and "14400*YY3" in M[1, 1]
    assert {p.name: p.value for p in found.base_parameters}["YY3"] == 2e-4
    assert found.report() and max(found.verified.values()) < 1e-14
    alone = da.equations(geared_chain(), grouped=False, symbols=["rotor2.*"])
    assert {"n2", "Jm2"} == {s for s, path in alone.symbols.items() if path.startswith("rotor2")}
    assert str(alone.mass_matrix[1, 1]).endswith("n2*(n2*Jm2)")


@pytest.mark.parametrize("formulation", ("lagrange", "elementary_motions", "newton_euler"))
def test_derivations_of_spatial_rotors_are_verified(formulation):
    mechanism, _ = geared()
    short = da.Mechanism("short", mechanism.bodies[:3], mechanism.joints[:2], actuators=(da.Actuator("m", "b", 12, 1e-3, "arm1"),))
    found = da.equations(short, formulation=formulation)
    found.report()
    assert formulation != "newton_euler" or found.regressor.shape[0] == 2
    assert max(found.verified.values()) < 1e-13


def test_a_rotor_rides_on_the_tip_of_an_elastic_link():
    """Against a follower that turns there."""
    beam = da.Beam(1.0, EIy=50.0, EIz=80.0, GJ=20.0, mass_per_length=0.4)
    link = da.Body("link", beam=beam, modes={"bend_y": 1, "bend_z": 1})
    hand = da.Body("hand", 0.5, (0.1, 0, 0), (0.01, 0, 0.02, 0, 0, 0.02))
    wrist = da.Joint("wrist", da.Revolute((0, 0, 1)), "link", "hand", da.Origin((1.0, 0, 0)))
    arm = da.Mechanism("arm", (da.Body("base"), link, hand), (da.Joint("hinge", da.Revolute((0, 1, 0)), "base", "link"), wrist))
    moment = 1e-3
    rotor = da.Body("rotor", 0.2, (0, 0, 0), (moment / 2, 0, moment / 2, 0, 0, moment))
    locked = arm.attach(rotor, "link", origin=(1.0, 0, 0)).with_actuators(da.Actuator("motor", "wrist", 30, moment, "link"))
    spin = da.Joint("spin", da.Continuous((0, 0, 1)), "link", "rotor", da.Origin((1.0, 0, 0)), mimic=da.Mimic("wrist", 30))
    explicit = da.Mechanism("arm", (*arm.bodies, rotor), (*arm.joints, spin))
    q, qd, tau = 0.1 * np.random.default_rng(2).standard_normal((3, arm.nv))
    agree(da.mass_matrix(locked, q), da.mass_matrix(explicit, q))
    agree(da.inverse_dynamics(locked, q, qd, tau), da.inverse_dynamics(explicit, q, qd, tau))
    agree(lagrange.bias_force(locked, q, qd), da.bias_force(explicit, q, qd))
    agree(da.forward_dynamics(locked, q, qd, tau), da.forward_dynamics(explicit, q, qd, tau))
