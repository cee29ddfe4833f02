"""Maggi's, Appell's and Boltzmann's and Hamel's equations agree with each other, with the equations with multipliers, and with textbooks."""

import numpy as np
import pytest

import dalembert as da
from dalembert.constraints import Closure, Coupling, Holonomic, Velocity
from nonholonomic import CASES, COIN, SLEIGH_VELOCITIES, coin, motion, sleigh, upright_disk

FORMS = ("maggi", "appell", "boltzmann_hamel")
SYSTEMS = {**{name: case[:2] for name, case in CASES.items()}, "vertical_rolling_disk": (upright_disk, "phi psi")}
pytestmark = pytest.mark.usefixtures("quickly_compiled")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", SYSTEMS)
def test_each_form_is_that_of_the_equations_with_multipliers(case, form):
    make, velocities = SYSTEMS[case]
    eom = da.quasi_velocity_equations(make(), velocities, form)
    assert eom.text(*eom.shown, "accelerations", "mass_matrix", "bias_force")
    assert {*eom.shown, "accelerations"} <= {*eom.verified} and max(eom.verified.values()) < 1e-12


@pytest.mark.parametrize("case", CASES)
def test_forms_agree_along_the_motions_of_the_tables(case):
    run, _, _ = motion(case)
    make, velocities, *_ = CASES[case]
    numbers = []
    for form in FORMS:
        eom = da.quasi_velocity_equations(make(), velocities, form)
        q, qd, t = (eom.model.system.symbols[key] for key in ("q", "qd", "t"))
        along = {**dict(zip(q, run.q.T, strict=True)), **dict(zip(qd, run.qd.T, strict=True)), t: run.times}
        u = da.evaluate(eom.model.W @ qd + eom.model.w0, along)[:, :len(eom.velocities)]
        values = dict(zip((da.symbol(x, eom.graph) for x in eom.coordinates), run.q.T, strict=True)) | {t: run.times}
        values |= dict(zip((da.symbol(x, eom.graph) for x in eom.velocities), u.T, strict=True))
        assert np.allclose(da.evaluate(eom.entries("rates"), values), run.qd, atol=1e-9)      # the run keeps the constraints
        M, h, Q = (da.evaluate(eom.entries(name), values) for name in ("mass_matrix", "bias_force", "generalized_forces"))
        shape = (len(run.times), len(eom.velocities))
        force = np.broadcast_to(Q, shape) - np.broadcast_to(h, shape)
        numbers.append(np.linalg.solve(np.broadcast_to(M, (*shape, shape[1])), force[..., None])[..., 0])
        values |= dict(zip(eom.model.u_dot, numbers[-1].T, strict=True))
        qdd = np.array(da.evaluate(eom.model.accelerations, values), float)
        tau = np.zeros_like(run.q)
        np.testing.assert_allclose(qdd, da.compile(make()).forward_dynamics(run.q, run.qd, tau, run.times), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(numbers[1], numbers[0], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(numbers[2], numbers[0], rtol=1e-11, atol=1e-11)


@pytest.fixture(scope="module")
def symbolic_coin():
    with da.Graph():
        return coin(*da.symbols("m r A C g"))


TEXTBOOK = """Equations of motion
tau1 = (A + m r^2) omega1_dot - A omega2^2 cos(theta)/sin(theta) - (C + m r^2) omega2 omega3 + m r g cos(theta)
tau2 = A omega2_dot + A omega1 omega2 cos(theta)/sin(theta) + C omega1 omega3
tau3 = (C + m r^2) omega3_dot + m r^2 omega1 omega2
"""      # Neimark, Fufaev, chapter II: along the tangent, in the disk towards the centre, along the axis


@pytest.mark.parametrize("form", FORMS)
def test_a_rolling_coin_has_the_equations_of_a_textbook(symbolic_coin, form):
    eom = da.quasi_velocity_equations(symbolic_coin, COIN, form)
    assert eom.text("equations_of_motion") == TEXTBOOK
    assert r"\tau_{3} &= (C + m \, r^{2}) \, \dot{\omega}_{3} + m \, r^{2} \, \omega_{1} \, \omega_{2}" in eom.latex("equations_of_motion")
    if form == "appell":
        assert eom.text("acceleration_energy").startswith("Appell's function\nS = 1/2 (A + m r^2) omega1_dot^2 + 1/2 A omega2_dot^2")
    if form == "boltzmann_hamel":
        assert eom.text("hamel_coefficients") == (
            "Hamel's coefficients (those with lower indices exchanged are the negative)\ngamma212 = -cos(theta)/sin(theta)\n"
            "gamma312 = -1\ngamma423 = r sin(yaw)/sin(theta)\ngamma523 = -r cos(yaw)/sin(theta)\n")


def test_chaplygins_sleigh_has_the_equations_of_its_textbook():
    with da.Graph():
        system = sleigh(*da.symbols("m I a"))
    eom = da.quasi_velocity_equations(system, SLEIGH_VELOCITIES, "boltzmann_hamel")
    assert eom.text("rates", "equations_of_motion") == (
        "Rates of the coordinates\nx_dot = v cos(theta)\ny_dot = v sin(theta)\ntheta_dot = omega\n\n"
        "Equations of motion\ntau1 = m v_dot - m a omega^2\ntau2 = (I + m a^2) omega_dot + m a v omega\n")
    assert "velocity v, a quasi-velocity" in eom.legend()
    assert eom.at(omega=0).text("bias_force") == "Bias force (at omega = 0)\n0\n"


def test_rows_that_move_with_time_have_coefficients_of_time():
    """A skate on a turntable: its edge turns with the table, so that qd = B u + b."""

    def slips(q, qd, t):
        x, y = qd[0] + 0.4 * q[1], qd[1] - 0.4 * q[0]      # relative to the table
        return [x * da.sin(q[2] + 0.3 * t) - y * da.cos(q[2] + 0.3 * t)]

    free = da.lagrangian_system(lambda q, qd, t: (qd[0]**2 + qd[1]**2) + qd[2]**2 / 2 + q[0] * qd[1], "x y theta", lambda q, qd, t: [0, -qd[1], da.sin(t)])
    skate = free.constrained(Velocity("edge", slips))
    velocities = {"v": lambda q, qd, t: qd[0] * da.cos(q[2] + 0.3 * t) + qd[1] * da.sin(q[2] + 0.3 * t) + 0.1 * t, "omega": "theta"}
    rows = []
    for form in FORMS:
        eom = da.quasi_velocity_equations(skate, velocities, form)
        assert ("hamel_drift" in eom.shown) is (form == "boltzmann_hamel")
        rows.append(eom.entries("equations_of_motion"))
        eom.sheet("accelerations")
        assert max(eom.verified.values()) < 1e-12


def test_loops_take_rates_of_independent_coordinates(tmp_path):
    bar = da.planar_chain(3).constrained(Closure("pin", da.Spherical(), "tip", ("base", (1.2, 0, 0))))
    with pytest.raises(da.DalembertError, match=r"3 velocities and 2 rows of constraints: 1 quasi-velocities are independent, not 0"):
        da.quasi_velocity_equations(bar, ())      # the row out of the plane is none
    eom = da.quasi_velocity_equations(bar, "q1")
    assert eom.text("rates") == "Rates of the coordinates\nq1_dot = q1_dot\nq2_dot = -(s23/s3 + 1) q1_dot\nq3_dot = q1_dot (s2 + s23)/s3\n"
    with da.Graph():
        arm = da.planar_chain(2).replace({"q2.origin[0]": da.symbol("l")}).constrained(Coupling("gear", {"q1": 1, "q2": -2}))
    assert "M11 = 1.08333 + l^2 + 1.5 l c2" in da.quasi_velocity_equations(arm, "q1").text("mass_matrix")
    flat = da.lagrangian_system(lambda q, qd, t: qd @ qd / 2 - q[1], "x y").constrained(Holonomic("rod", lambda q, t: [q @ q - 1]))
    eom = da.quasi_velocity_equations(flat, "x")
    assert eom.velocities == ("x_dot",) and eom.accelerations == ("x_ddot",)
    assert eom.text("rates") == "Rates of the coordinates\nx_dot = x_dot\ny_dot = -x x_dot/y\n"
    page = eom.write(tmp_path / "rod.html").read_text()
    assert "Maggi" not in page and "<math>" in page and "Rates of the coordinates" in page


@pytest.mark.parametrize("velocities, error, message", [
    ("x", da.DalembertError, r"'sleigh' has 3 velocities and 1 rows of constraints: 2 quasi-velocities are independent, not 1 \(x_dot\)"),
    ("x z", da.UnknownNameError, "'z'"),
    ({"v": 3, "w": "theta"}, TypeError, r"quasi-velocity 'v' is 3: expected a function of \(q, qd, t\)"),
    ({"v": lambda q, qd, t: qd[0]**2, "w": "theta"}, da.DalembertError, "are not linear in x_dot"),
    ({"v": lambda q, qd, t: qd[0] * da.sin(q[2]) - qd[1] * da.cos(q[2]), "w": "theta"}, da.DalembertError, "depend on each other: v, knife"),
    ({"v": lambda q, qd, t: [qd[0], qd[1]], "w": "theta"}, da.DalembertError, "v, w have 3 entries: each function gives one")])
def test_quasi_velocities_that_are_none_are_refused_by_name(velocities, error, message):
    with pytest.raises(error, match=message):
        da.quasi_velocity_equations(sleigh(), velocities)


def test_forms_and_quantities_that_are_not_there_are_refused_by_name():
    with pytest.raises(da.UnknownNameError, match="unknown form 'kane'"):
        da.quasi_velocity_equations(sleigh(), SLEIGH_VELOCITIES, "kane")
    with pytest.raises(da.UnknownNameError, match="form='appell'"):
        da.quasi_velocity_equations(sleigh(), SLEIGH_VELOCITIES).text("acceleration_energy")
