"""The third source's program control: its coupling exactly as it writes it, corrected, and servo constraints."""

import numpy as np
import pytest

import dalembert as da
from masses import EPS, PRECISE, REFERENCE, START, Masses, harmonic, led, speed, steady

pytestmark = pytest.mark.usefixtures("quickly_compiled")
FIGURES = {name: case for name, case in REFERENCE["figures"].items()}


def coupled(coupling, q, qd, times, mu, masses=(1.0,), **options):
    return da.simulate(Masses(coupling, masses=masses), q, qd, times, multipliers0=[mu], **PRECISE | options)


# --- example A: a generator of constant force ---

@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_the_source(name):
    case = FIGURES[name]
    run = coupled(steady(case["alpha"], case["c"]), [0.0], [0.95], case["t"], 0.0)
    found = {"x1": run.q[:, 0], "x2": run.internal_states[:, 0], "dx1": run.qd[:, 0], "p": run.internal_states[:, 2]}
    for key, values in found.items():
        np.testing.assert_allclose(values, case[key], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(run.internal_states[:, 1], run.q[:, 0], rtol=1e-10, atol=1e-12)       # x2' = x1 is kept
    assert np.abs(run.power_balance / (1 + run.kinetic_energy)).max() < 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_the_coupling_has_the_closed_form(seed):
    """e = [(d0 - s2 e0) exp(s1 t) - (d0 - s1 e0) exp(s2 t)]/(s1 - s2) for random m, alpha, c, Q and p0."""
    rng = np.random.default_rng(seed)
    m, Q, c, p0, e0 = rng.uniform(0.5, 2, 5)
    alpha = rng.uniform(-3, 2)
    run = coupled(steady(alpha, c, Q), [0.0], [Q + e0], [0, 0.5, 1.0, 2.0], p0, masses=(m,))
    s1, s2 = np.roots([1, c, -alpha / m]).astype(complex)
    t, d0 = run.times, p0 / m
    e = ((d0 - s2 * e0) * np.exp(s1 * t) - (d0 - s1 * e0) * np.exp(s2 * t)) / (s1 - s2)
    np.testing.assert_allclose(run.qd[:, 0] - Q, e.real, rtol=1e-9, atol=1e-11)


def test_the_stable_manifold_and_the_feedback_on_it():
    data = REFERENCE["stable_manifold"]
    run = coupled(steady(), [0.0], [0.95], data["t"], data["p0"], rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(run.qd[:, 0] - 1, data["dx1_minus_Q"], atol=1e-11)
    feedback = da.simulate(Masses(), [0.0], [0.95], [0, 60.0], control=lambda t, q, qd: -(qd - 1.0), **PRECISE)
    assert abs(feedback.qd[-1, 0] - 1) < 1e-13                           # p* = -sqrt(m) (x1' - Q) as a feedback is robust


def test_slowed_growth_is_no_stability():
    """Figure 5 looks well over 5 s; its exponent is +0.09967."""
    run = coupled(steady(3.0, 30.0), [0.0], [0.95], [0, 5.0, 150.0], 0.0)
    assert abs(run.qd[1, 0] - 1) < 0.09 and abs(run.qd[2, 0] - 1) > 1e4


def test_only_the_velocity_error_dies_in_the_stable_region():
    run = coupled(steady(-3.0, 4.0), [0.0], [0.95], [0, 30.0], 0.0)
    assert abs(run.qd[-1, 0] - 1) < 1e-12 and run.q[-1, 0] - 30 == pytest.approx(-0.05 * 4 / 3, abs=1e-10)


@pytest.mark.parametrize("alpha, position, rate", [(-400.0, 0.05 / 20, 0.05), (1e-6, 0.05 * 5, 0.05)])
def test_small_and_large_alpha_leave_the_error_of_the_velocity(alpha, position, rate):
    """For alpha -> -inf positions come near, to e0 sqrt(m/|alpha|), and the velocity swings by e0 for ever; for alpha -> 0 nothing is led."""
    run = coupled(steady(alpha), [0.0], [0.95], np.linspace(0, 5, 501), 0.0)
    assert np.abs(run.q[:, 0] - run.times).max() == pytest.approx(position, rel=1e-3)
    assert np.abs(run.qd[:, 0] - 1).max() == pytest.approx(rate, rel=1e-3)


def test_chetaevs_reading_of_example_a_does_not_control_the_plant():
    """m x1'' = 0, x2'' = Q - lambda with Phi = x1 - x2', hence lambda = Q - v0: the generator is dragged along."""

    class Uncoupled(Masses):
        def generalized_forces(self, q, qd, t=0.0):
            return np.array([0, 1.0])                                   # Q = 1 on the generator

    relation = da.constraints.Velocity("speed", lambda q, qd, t: [q[0] - qd[1]])
    run = da.simulate(Uncoupled(relation, masses=(1.0, 1.0)), [0.0, 0], [0.95, 0], [0, 1.0, 5.0], **PRECISE)
    np.testing.assert_allclose(run.qd[:, 0], 0.95, atol=1e-14)
    np.testing.assert_allclose(run.observables["multipliers"][:, 0], 1 - 0.95, atol=1e-12)


# --- assembly ---

def curved(q, s, t):
    """A relation that is not separable, with x*, v and t in it."""
    return [q[0] * s[1] - 1.0 + 0.2 * s[0] * s[1] ** 2 * da.cos(t)]


@pytest.mark.parametrize("phi", [curved, lambda q, s, t: [q[0] * s[1] - 1.0]])
def test_the_assembly_has_the_terms_that_the_print_misses(phi):
    """(2) and (3) by finite differences: d/dt (v + mu Phi_v) = f + mu Phi_x, dPhi/dt = 0 with -Phi_q q' on the right."""
    coupling = da.constraints.TwoWay("curved", phi, da.generators.Harmonic(1.3, 1.0))
    system = Masses(coupling, masses=(2.0,))
    q, qd, s, mu, t = np.array([0.7]), np.array([0.4]), np.array([0.3, 1.2]), 0.6, 0.8
    own = system.with_internal([*s, mu])
    a, (xd, vd, mu_rate) = own.forward_dynamics(q, qd, np.zeros(1), t), own.internal_rates(q, qd, np.zeros(1), t)
    h = 1e-5

    def at(dt, dq=0.0, dx=0.0, dv=0.0):
        """Phi along the motion, displaced."""
        return phi(q + dt * qd + dq, s + dt * np.array([xd, vd]) + [dx, dv], t + dt)[0]

    def momentum(dt):
        return s[1] + dt * vd + (mu + dt * mu_rate) * (at(dt, dv=h) - at(dt, dv=-h)) / (2 * h)

    assert abs(at(h) - at(-h)) / (2 * h) < 1e-9
    slope = mu * (at(0, dx=h) - at(0, dx=-h)) / (2 * h)
    assert (momentum(1e-4) - momentum(-1e-4)) / 2e-4 == pytest.approx(-1.3 ** 2 * s[0] + slope, abs=1e-6)
    assert 2.0 * a[0] == pytest.approx(mu * (at(0, dq=h) - at(0, dq=-h)) / (2 * h), abs=1e-8)


def test_the_coupling_is_the_vakonomic_constraint_on_plant_and_generator_together():
    """TwoWay with alpha = 1, c = 0 against the general vakonomic equations of q = (x1, x2)."""

    class Both(Masses):
        def generalized_forces(self, q, qd, t=0.0):
            return np.array([0, -1.3 ** 2 * q[1]])

    coupling = da.constraints.TwoWay("curved", curved, da.generators.Harmonic(1.3, 1.0), initial=[0.0, 1.25])
    relation = da.constraints.Velocity("curved", lambda q, qd, t: curved(q[:1], [q[1], qd[1]], t))
    one = coupled(coupling, [0.8], [0.1], [0, 0.5, 1.0], 0.2, masses=(2.0,))
    two = da.simulate(Both(relation, masses=(2.0, 1.0), principles=("vakonomic",)), [0.8, 0], [0.1, 1.25], [0, 0.5, 1.0],
                      multipliers0=[0.2], **PRECISE)
    np.testing.assert_allclose(one.q[:, 0], two.q[:, 0], atol=1e-10)
    np.testing.assert_allclose(one.internal_states, np.column_stack([two.q[:, 1], two.qd[:, 1], two.internal_states]), atol=1e-10)


def test_multipliers_of_a_coupling_have_no_default():
    with pytest.raises(da.ConstraintError, match=r"multipliers0= is needed: speed.mu of 'masses'"):
        da.simulate(Masses(steady()), [0.0], [0.95], 1.0)


# --- example B: a harmonic generator, and the open problem ---

def test_the_sought_motion_is_no_solution_of_the_sources_system():
    data = REFERENCE["harmonic_eq10"]
    for key, mu in (("p0_zero", 0.0), ("p0_mx1dd", -np.cos(EPS))):
        run = coupled(harmonic(), [np.cos(EPS)], [-np.sin(EPS)], [0, *data["t"]], mu, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(run.q[1:, 0], data[f"x1_{key}"], rtol=1e-8)
        np.testing.assert_allclose(run.internal_states[1:, 0], data[f"x2_{key}"], rtol=1e-8)
    sought = np.cos(np.array(data["t"]) + EPS)
    np.testing.assert_allclose(sought, data["sought_x1"], rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_inserting_the_sought_motion_leaves_m_a_w4(seed):
    m, w, a = np.random.default_rng(seed).uniform(0.5, 2, 3)
    t = np.linspace(0, 5, 9)
    x2 = [a * w ** k * np.sin(w * t + EPS + k * np.pi / 2) for k in range(5)]       # and its derivatives
    np.testing.assert_allclose(m * x2[4] - x2[2] - w ** 2 * x2[0], m * a * w ** 4 * np.sin(w * t + EPS), atol=1e-12)


def test_s1_the_servo_constraint_has_the_error_law():
    run = da.simulate(Masses(led()), *START, 60.0, record=0.1, **PRECISE)
    error = run.observables["program_residual"][:, 0]
    np.testing.assert_allclose(error, -0.05 * run.times * np.exp(-5 * run.times), atol=5e-11)
    assert np.abs(error).max() == pytest.approx(0.003678794, abs=1e-9) and run.times[np.abs(error).argmax()] == pytest.approx(0.2)
    assert np.abs(error[run.times > 5]).max() < 1e-9 and np.abs(run.power_balance).max() < 1e-10
    np.testing.assert_allclose(run.internal_states[:, 0], np.sin(run.times + EPS), atol=1e-10)      # it is not disturbed
    late = run.times > 5
    np.testing.assert_allclose(run.observables["controls"][late, 0], -np.cos(run.times[late] + EPS), atol=2e-8)
    np.testing.assert_allclose(run.observables["controls"][0, 0], -np.cos(EPS) + 10 * 0.05, atol=1e-12)


def test_without_feedback_an_error_of_the_velocity_grows_with_time():
    """Index 1 without stabilisation: 0.05 t (the trap), as a feedback slower than the motion shows."""
    run = da.simulate(Masses(led(frequency=1e-9)), *START, [0, 30.0, 60.0], **PRECISE)
    np.testing.assert_allclose(run.observables["program_residual"][:, 0], -0.05 * run.times, atol=1e-6)


def test_s3_a_compensated_coupling_keeps_the_program_with_another_amplitude():
    alpha, c, kappa, m, w = -4.0, 4.0, 2.0, 1.0, 1.0

    class Compensated(Masses):
        internal_names, internal_states = ("x2", "v2", "pt"), np.array([np.sin(EPS), np.cos(EPS), 0.0])

        def generalized_forces(self, q, qd, t=0.0):
            return np.array([-m * w ** 2 * q[0] + self.internal_states[2]])

        def internal_rates(self, q, qd, tau, t=0.0):
            x2, v2, pt = self.internal_states
            return np.array([v2, qd[0] + kappa * (q[0] - v2), alpha * (qd[0] + w ** 2 * x2) - c * pt])

    run = da.simulate(Compensated(), *START, 60.0, record=0.02, **PRECISE)
    late = run.times > 30
    assert np.hypot(run.q[late, 0], run.qd[late, 0]).max() == pytest.approx(0.977714, abs=1e-6)
    np.testing.assert_allclose(run.q[late, 0], run.internal_states[late, 1], atol=1e-10)


def test_s4_a_robust_generator_comes_to_its_amplitude():
    data = REFERENCE["limit_cycle_generator"]
    servo = led(attraction=0.5, initial=[0.1, 0.0])
    run = da.simulate(Masses(servo), [0.0], [-0.1], 60.0, record=0.01, **PRECISE)
    amplitude = np.hypot(run.internal_states[:, 0], run.internal_states[:, 1])
    assert amplitude[-1] == pytest.approx(data["amplitude_at_60"], abs=1e-11)
    assert run.times[np.argmax(amplitude >= 0.99)] == pytest.approx(data["t_amp_0.99"], abs=0.01)
    assert np.abs(run.observables["program_residual"][:, 0]).max() < 1e-11


# --- servo constraints on mechanisms ---

def double_pendulum(*constraints):
    rods = [da.Body(name, 1.0, (1.0, 0, 0), (0,) * 6) for name in ("upper", "lower")]
    joints = [da.Joint("shoulder", da.Revolute((0, 0, 1)), "base", "upper"),
              da.Joint("elbow", da.Revolute((0, 0, 1)), "upper", "lower", da.Origin((1.0, 0, 0)))]
    arm = da.Mechanism("double pendulum", (da.Body("base"), *rods), tuple(joints), gravity=(0, -9.81, 0),
                       frames=(da.Frame("tip", "lower", da.Origin((1.0, 0, 0))),))
    return arm.constrained(*constraints)


def reached(x, y):
    """Angles of the two links with the tip at a point, elbow bent to the right."""
    elbow = np.arccos((x * x + y * y - 2) / 2)
    return np.array([np.arctan2(y, x) - np.arctan2(np.sin(elbow), 1 + np.cos(elbow)), elbow])


@pytest.mark.parametrize("duration", [6.0, pytest.param(60.0, marks=pytest.mark.slow)])
def test_the_tip_of_a_double_pendulum_follows_a_superellipse(duration):
    curve = da.generators.Superellipse((0.4, 0.3), center=(1.2, 0.0), exponent=6, attraction=1.0)
    tip = da.constraints.FramePoint("tip", axes="xy")
    servo = da.constraints.Servo("tip", tip, curve, ["shoulder", "elbow"], frequency=10.0)
    arm = double_pendulum(servo)
    q = reached(1.6, 0.0)
    J = da.jacobian(arm, q, "tip")[3:5]
    qd = np.linalg.solve(J, curve.rate(curve.state))
    run = da.simulate(arm, q, qd, duration, method="dop853", rtol=1e-11, atol=1e-13)
    assert np.abs(run.observables["program_residual"]).max() < 1e-8
    assert np.abs(run.power_balance).max() < 1e-8 * (1 + run.kinetic_energy.max())
    assert run.observables.declared["controls"].labels == ("shoulder", "elbow")
    np.testing.assert_allclose(run.q[-1], reached(*(curve.state if duration < 1 else run.internal_states[-1])), atol=1e-7)


def test_a_servo_leads_a_point_of_a_closed_loop():
    """The pin of a four-bar along its crank's angle: controls are those of inverse dynamics by virtual work."""
    lengths = {"crank": 0.4, "coupler": 1.0, "rocker": 0.8}
    bodies = [da.Body(n, l, (l / 2, 0, 0), (0, 0, l ** 3 / 12, 0, 0, l ** 3 / 12)) for n, l in lengths.items()]
    z = da.Revolute((0, 0, 1))
    joints = (da.Joint("a", z, "base", "crank"), da.Joint("b", z, "crank", "coupler", da.Origin((0.4, 0, 0))),
              da.Joint("d", z, "base", "rocker", da.Origin((1, 0, 0))))
    tree = da.Mechanism("four-bar", (da.Body("base"), *bodies), joints, gravity=(0, -9.81, 0))
    pin = da.constraints.Closure("pin", da.Spherical(), ("coupler", (1, 0, 0)), ("rocker", (0.8, 0, 0)))
    turn = da.generators.SteadyAcceleration(0.5, position=1.2, velocity=2.0)
    motor = da.constraints.Servo("motor", "a", turn, ["a"], frequency=10.0)
    closed = tree.constrained(pin, motor)
    from dalembert.systems.kinds import system_of

    plain = da.constraints.Holonomic("drive", lambda q, t: [q[0] - 1.2 - 2.0 * t - 0.25 * t * t])
    driven = tree.constrained(pin, plain)
    q, qd = system_of(driven).project([1.2, -0.5, 1.9], [2.0, 0, 0])
    run = da.simulate(closed, q, qd, [0, 0.5, 1.0], **PRECISE)
    other = da.simulate(driven, q, qd, [0, 0.5, 1.0], **PRECISE)
    np.testing.assert_allclose(run.q, other.q, atol=1e-9)
    np.testing.assert_allclose(run.observables["controls"][:, 0], other.observables["multipliers"][:, -1], atol=1e-6)
    assert np.abs(run.power_balance).max() < 1e-8


def test_an_under_actuated_output_has_its_relative_degree():
    """Two masses with a spring, force on the first, output the second: u = (m1 + m2) r'' + m1 m2 r''''/k = -2.96 cos t."""
    data = REFERENCE["two_mass_servo"]

    class Sprung(Masses):
        def bias_force(self, q, qd, t=0.0):
            return data["k"] * (q[0] - q[1]) * np.array([1.0, -1.0])

        def potential_energy(self, q, t=0.0):
            return data["k"] * (q[0] - q[1]) ** 2 / 2

    program = da.generators.Harmonic(1.0, 1.0, np.pi / 2)
    servo = da.constraints.Servo("second", "x2", program, ["x1"], frequency=5.0)
    system = Sprung(servo, masses=(data["m1"], data["m2"]))
    x1 = 1 - data["m2"] / data["k"]
    run = da.simulate(system, [x1, 1.0], [0, 0], [0, 1.0, 2.0, 10.0], **PRECISE)
    np.testing.assert_allclose(run.observables["controls"][:, 0], -2.96 * np.cos(run.times), atol=1e-9)
    off = da.simulate(system, [x1, 1.01], [0, 0], [0, 1.0, 10.0], **PRECISE)
    s = 5.0 * off.times
    law = off.observables["program_residual"][:, 0]
    assert abs(law[0] - 0.01) < 1e-15 and abs(law[-1]) < 1e-13 and abs(law[1]) < 0.01 * (1 + s[1]) ** 3 * np.exp(-s[1]) * 20


def test_a_velocity_has_relative_degree_one_and_a_relation_may_be_no_difference():
    program = da.generators.Harmonic(1.0, 0.5).derivative()
    servo = da.constraints.Servo("speed", lambda q, qd, t: [qd[0]], program, ["x1"], frequency=4.0)
    run = da.simulate(Masses(servo, masses=(2.0,)), [0.0], [0.7], [0, 0.5, 1.0], **PRECISE)
    np.testing.assert_allclose(run.observables["program_residual"][:, 0], 0.2 * np.exp(-4 * run.times), atol=1e-12)
    relation = da.constraints.Servo("product", lambda q, program, t: [q[0] * program[0] - 1.0 - 0.1 * da.sin(t)],
                                    da.generators.Harmonic(1.0, 0.3, center=1.0), ["x1"], frequency=4.0)
    kept = da.simulate(Masses(relation), [1.0], [0.1 - 0.3], [0, 1.0, 3.0], **PRECISE)
    assert np.abs(kept.observables["program_residual"]).max() < 1e-10       # b is a total derivative, not by parts


def test_faults_of_programs_are_named():
    with pytest.raises(ValueError, match="frequency of 'program' is 0: expected that of the error"):
        led(frequency=0)
    with pytest.raises(TypeError, match="the program of 'p' is 3"):
        da.constraints.Servo("p", "x1", 3, ["x1"], frequency=1.0)
    with pytest.raises(TypeError, match="the generator of 'p' is LimitCycle.*second order"):
        da.constraints.TwoWay("p", speed, da.generators.LimitCycle(1.0))
    swing = da.generators.Harmonic(1.0, 1.0)
    for servo, message in (
            (da.constraints.Servo("p", "x3", swing, ["x1"], frequency=1.0), "coordinate of output of 'p' 'x3'"),
            (da.constraints.Servo("p", "x1", swing, ["y"], frequency=1.0), "actuator 'y' of p is no joint"),
            (da.constraints.Servo("p", "x2", swing, ["x1"], frequency=1.0), "no derivative of the output of 'p' depends on the forces of x1"),
            (da.constraints.Servo("p", ["x1", "x2"], da.generators.Harmonic(1.0, [1.0, 1.0]), ["x1"], frequency=1.0), "no derivative|2 outputs"),
            (da.constraints.Servo("p", lambda q, t: [q[0], q[1]], swing, ["x1", "x2"], frequency=1.0), r"output of 'p' has shape \(2,\), its program \(1,\)")):
        with pytest.raises(da.DalembertError, match=message):
            da.simulate(Masses(servo, masses=(1.0, 1.0)), [0.0, 0], [1.0, 0], 0.1)


def test_a_singular_place_of_the_output_is_named():
    tip = da.constraints.FramePoint("tip", axes="xy")
    servo = da.constraints.Servo("tip", tip, da.generators.LimitCycle(0.5, center=(1.5, 0)), ["shoulder", "elbow"], frequency=5.0)
    with pytest.raises(da.ConstraintError, match=r"the actuators cannot lead the output 'tip\[0\]' at this state: W = J M\^-1 B"):
        da.simulate(double_pendulum(servo), [0.0, 0.0], [0.0, 0.0], 0.1)


# --- internal dynamics and limits ---

def cart_pole(a, allow_unstable=False, effort=None):
    """A cart with a hanging pendulum of a point mass at 1 m; output x + a sin(angle), which the cart's drive leads."""
    limits = da.Limits(effort=effort)
    joints = (da.Joint("x", da.Prismatic((1, 0, 0)), "rail", "cart", limits=limits),
              da.Joint("swing", da.Revolute((0, 0, 1)), "cart", "bob"))
    bodies = da.Body("rail"), da.Body("cart", 2.0), da.Body("bob", 1.0, (0, -1.0, 0), (0,) * 6)
    program = da.generators.Harmonic(1.0, 0.1)
    servo = da.constraints.Servo("y", lambda q, t: [q[0] + a * da.sin(q[1])], program, ["x"], frequency=5.0,
                                 allow_unstable=allow_unstable)
    return da.Mechanism("cart and pole", bodies, joints, gravity=(0, -9.81, 0)).constrained(servo)


def test_an_output_that_is_not_of_minimum_phase_is_refused():
    """Linear: x'' = -theta'' - g theta and y = x + a theta = 0 give (a - 1) theta'' = g theta: unstable for a > 1."""
    report = da.servo_report(cart_pole(2.0), [0.0, 0.0], [0.1, 0.0])
    assert report.degrees == (2,) and report.free == 2 and report.is_minimum_phase is False
    assert report.exponents.real.max() == pytest.approx(np.sqrt(9.81 / 1.0), rel=1e-6)
    with pytest.raises(da.ConstraintError, match=r"leave 2 states free, and these grow with the exponent 3\.132 1/s .* not of minimum phase"):
        da.simulate(cart_pole(2.0), [0.0, 0.0], [0.1, 0.0], 0.5)
    da.simulate(cart_pole(2.0, allow_unstable=True), [0.0, 0.0], [0.1, 0.0], 0.1)
    stable = da.servo_report(cart_pole(0.5), [0.0, 0.0], [0.1, 0.0])
    assert stable.is_minimum_phase and stable.exponents.imag.max() == pytest.approx(np.sqrt(9.81 / 0.5), rel=1e-6)
    run = da.simulate(cart_pole(0.5), [0.0, 0.0], [0.1, 0.0], 0.5, method="dop853")
    assert np.abs(run.observables["program_residual"]).max() < 1e-10


def test_the_report_of_a_servo_has_its_conditioning_and_forces():
    lift = da.generators.SteadyAcceleration(2.0)
    servo = da.constraints.Servo("lift", ["q1", "q2"], da.generators.Harmonic(1.0, [0.1, 0.2]), ["q1", "q2"], frequency=5.0)
    arm = da.planar_chain(2)
    report = da.servo_report(arm.constrained(servo), [0.3, -0.4], [0.1, 0.2])
    np.testing.assert_allclose(report.W, da.inverse_mass_matrix(arm, [0.3, -0.4]), rtol=1e-10)
    assert report.condition == pytest.approx(np.linalg.cond(report.W)) and report.free == 0 and report.is_minimum_phase
    e, ed = np.array([0.3, -0.4]), np.array([0.1, 0.2]) - [0.1, 0.2]
    expected = da.inverse_dynamics(arm, [0.3, -0.4], [0.1, 0.2], -10 * ed - 25 * e)
    np.testing.assert_allclose(report.controls, expected, rtol=1e-10)
    with pytest.raises(da.DalembertError, match="'planar chain' has no servo constraints"):
        da.servo_report(arm, [0.3, -0.4], [0.1, 0.2])
    assert lift.state_names == ("x", "v")


def test_forces_beyond_the_effort_of_an_actuator_are_told():
    with pytest.warns(da.DalembertWarning, match=r"the program asks .* of actuator 'x' at t = .* beyond its effort of 0.05"):
        da.simulate(cart_pole(0.5, effort=0.05), [0.0, 0.0], [0.1, 0.0], 0.2)


def test_programs_have_principles_of_their_own():
    arm = da.planar_chain(2).constrained(da.constraints.Servo("s", "q1", da.generators.Harmonic(1.0, 0.1), ["q1"], frequency=5.0),
                                         da.constraints.TwoWay("w", lambda q, s, t: [q[1] - s[1]], da.generators.Harmonic(1.0, 0.1)),
                                         da.constraints.Holonomic("h", lambda q, t: [q[0]], one_sided=True), principle="gauss")
    assert arm.principles == ("servo", "vakonomic", "gauss")
    moved = arm.replace({"s.frequency": 7.0, "w.alpha": -2.0})
    assert moved.number("s.frequency") == 7.0 and moved.number("w.alpha") == -2.0 and moved.number("w.c") == 0.0
    alone = da.planar_chain(2).constrained(arm.constraints[0])
    servo, = da.planar_chain(1).attach(alone, "link1", name="second").constraints
    assert (servo.name, servo.output, servo.actuators) == ("second_s", "second_q1", ("second_q1",))
    with pytest.raises(da.ModelError, match="'w' is a function of the coordinates"):
        da.planar_chain(1).attach(arm, "link1", name="second")
    point = da.constraints.Servo("p", da.constraints.FramePoint("tip", (0.1, 0, 0), "xy"), da.generators.LimitCycle(0.1), ["q1", "q2"], frequency=5.0)
    led_arm = da.planar_chain(2).constrained(point)
    assert led_arm.number("p.output_origin[0]") == 0.1
    assert led_arm.replace({"p.output_origin[0]": 0.2}).constraints[0].output.point[0] == 0.2
    assert led_arm.identity() == da.planar_chain(2).constrained(point).identity() != led_arm.replace({"p.frequency": 6.0}).identity()


def test_a_coupling_moves_a_closed_loop():
    """A pendulum in Cartesian coordinates with a rod, and in its angle: the same coupled motion, closure met and energy booked."""

    class Weight(Masses):
        def bias_force(self, q, qd, t=0.0):
            return np.array([0, 9.81])

        def potential_energy(self, q, t=0.0):
            return 9.81 * q[1]

    class Angle(Masses):
        def bias_force(self, q, qd, t=0.0):
            return np.array([9.81 * da.sin(q[0])])

        def potential_energy(self, q, t=0.0):
            return -9.81 * da.cos(q[0])

    generator, options = da.generators.Harmonic(2.0, 0.4), {"alpha": -2.0, "c": 1.0}
    rod = da.constraints.Holonomic("rod", lambda q, t: [(q @ q - 1) / 2])
    wide = Weight(da.constraints.TwoWay("w", lambda q, s, t: [q[0] - s[1] * da.cos(s[0])], generator, **options), rod, masses=(1.0, 1.0))
    own = Angle(da.constraints.TwoWay("w", lambda q, s, t: [da.sin(q[0]) - s[1] * da.cos(s[0])], generator, **options))
    x = generator.state[1]
    angle = np.arcsin(x)
    one = coupled_with(wide, [x, -np.cos(angle)], [0.0, 0.0])
    two = coupled_with(own, [angle], [0.0])
    np.testing.assert_allclose(one.q[:, 0], np.sin(two.q[:, 0]), atol=1e-9)
    np.testing.assert_allclose(one.internal_states, two.internal_states, atol=1e-9)
    assert np.abs(one.observables["constraint_residual"]).max() < 1e-14 and np.abs(one.power_balance).max() < 1e-9
    assert np.abs(one.observables["program_residual"]).max() < 1e-9


def coupled_with(system, q, qd):
    return da.simulate(system, q, qd, [0, 0.5, 1.0], multipliers0=[0.3], **PRECISE)
