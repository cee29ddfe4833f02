"""Equations with multipliers in closed form: of Lagrangians and systems with constraints."""


import numpy as np
import pytest

import dalembert as da
from dalembert.constraints import (
    Closure,
    Coupling,
    Distance,
    Holonomic,
    Knife,
    Rolling,
    Servo,
    Velocity,
)
from nonholonomic import sleigh, snakeboard

pytestmark = pytest.mark.usefixtures("quickly_compiled")


@pytest.fixture(scope="module")
def pendulum():
    """A mass on a rod in Cartesian coordinates, in symbols."""
    with da.Graph():
        m, g, length = da.symbols("m g l")
        free = da.lagrangian_system(lambda q, qd, t: m * (qd @ qd) / 2 - m * g * q[1], "x y", name="pendulum")
        return da.equations(free.constrained(Holonomic("rod", lambda q, t: [q @ q - length**2], "m^2")))


def test_repeated_sums_look_like_no_entry_of_constraints():
    """k is the letter of their right sides; a name that looks like an entry stands in quotes."""
    scara = da.from_dh(
        [(0.3, 0, 0, 0), (0.2, 0, 0, 0), (0, 0, 0, 0, "prismatic")],
        inertia=[(mass, (-0.1, 0, 0), (0, 0, 0.1, 0, 0, 0.1)) for mass in (3, 2, 1)],
    )
    text = da.equations(scara.constrained(Coupling("gear", {"q1": 1, "q2": 2}))).text("equations_of_motion")
    assert "K1 = " in text and "'" not in text


def test_a_pendulum_on_a_rod_prints_its_rows_and_its_multiplier(pendulum):
    assert pendulum.text("constraints", "constraint_jacobian", "constraint_bias", "equations_of_motion", "multipliers", "accelerations") == """Constraints, each 0
phi1 = -l^2 + x^2 + y^2

Jacobian of the constraints
J11 = 2 x
J12 = 2 y

Right side of the constraints on accelerations
k1 = -2 x_dot^2 - 2 y_dot^2

Equations of motion
tau1 = m x_ddot - 2 x lambda_rod
tau2 = m y_ddot - 2 y lambda_rod + m g

Multipliers
Delta = x^2 + y^2
lambda_rod = -(m x_dot^2 + m y_dot^2 - m g y + tau1 x + tau2 y)/(2 Delta)

Accelerations
x_ddot = (2 x lambda_rod + tau1)/m
y_ddot = (2 y lambda_rod - m g + tau2)/m
"""
    assert {*pendulum.shown, "multipliers", "accelerations"} <= {*pendulum.verified} and max(pendulum.verified.values()) < 1e-13


def test_documents_have_the_law_with_multipliers_and_say_what_they_are(pendulum, tmp_path):
    page = pendulum.write(tmp_path / "rod.html").read_text()
    assert "<msup><mrow><mi>𝑱</mi></mrow><mrow><mn>T</mn></mrow></msup>" in page and "multiplier of constraint rod" in page
    assert r"\boldsymbol{J}^{T} \, \boldsymbol{\lambda}" in pendulum.write(tmp_path / "rod.tex").read_text().replace(r"{\boldsymbol", r"\boldsymbol") \
        or r"J^{T} \, \lambda" in pendulum.write(tmp_path / "rod.tex").read_text()
    assert r"\lambda_{\mathrm{rod}}" in pendulum.latex("equations_of_motion")
    assert "<mi>rod</mi>" in pendulum.mathml("equations_of_motion")
    names = {"__name__": "rod"}
    exec(pendulum.python("constraint_jacobian", "constraint_bias"), names)
    assert names["constraint_bias"]([0.6, -0.8], [0.8, 0.6]) == [-2.0] if "constraint_bias" in names else True


def test_a_knife_edge_has_the_force_that_the_motion_says():
    with da.Graph():
        eom = da.equations(sleigh(*da.symbols("m I a")))
    assert eom.text("velocity_constraints", "multipliers") == """Constraints on velocities, each 0
psi1 = -x_dot sin(theta) + y_dot cos(theta)

Multipliers
Delta = I + m a^2
lambda_knife = (m I x_dot theta_dot cos(theta) + m I y_dot theta_dot sin(theta) + m a tau3 - tau2 (I + m a^2) cos(theta) + tau1 (I + m a^2) sin(theta))/Delta
"""      # m v omega I/(I + m a^2) where no force acts
    assert eom.at(m=2).text("constraint_bias") == "Right side of the constraints on accelerations (at m = 2)\nk1 = theta_dot (x_dot cos(theta) + y_dot sin(theta))\n"


@pytest.mark.parametrize("make", [snakeboard, lambda: da.lagrangian_system(lambda q, qd, t: qd @ qd / 2 - q[0], "x y z").constrained(
    Holonomic("left side", lambda q, t: [q[0] * q[1] - da.sin(t)]), Velocity("right side", lambda q, qd, t: [qd[2] * q[0] - t * qd[1] - t]))])
def test_rows_of_any_kind_are_verified(make):
    eom = da.equations(make())
    assert eom.text(*eom.shown, "multipliers", "accelerations") and max(eom.verified.values()) < 1e-12
    names = [name for name in eom.symbols if "lambda" in name]
    assert names in (["lambda_axles1", "lambda_axles2"], ["lambda1", "lambda2"])


def test_a_system_of_ones_own_prints_its_multipliers():
    class Rod(da.System):
        name, coordinate_names = "rod", ("x", "y")
        constraints = (Holonomic("rod", lambda q, t: [q @ q - 0.49], "m^2"),)

        def mass_matrix(self, q, t=0.0):
            return np.diag([1.5, 1.5])

        def bias_force(self, q, qd, t=0.0):
            return [0, 1.5 * 9.81]

        def potential_energy(self, q, t=0.0):
            return 1.5 * 9.81 * q[1]

    assert da.equations(Rod()).text("multipliers") == ("Multipliers\nDelta = x^2 + y^2\n"
                                                       "lambda_rod = -0.5 (1.5 x_dot^2 + 1.5 y_dot^2 + tau1 x + tau2 y - 14.715 y)/Delta\n")


def test_many_rows_and_many_coupled_velocities_say_what_to_do():
    free = da.lagrangian_system(lambda q, qd, t: qd @ qd / 2, "x y z u v")
    four = free.constrained(*(Holonomic(f"row{k}", lambda q, t, k=k: [q[k] - q[k + 1]**2]) for k in range(4)))
    with pytest.raises(da.DalembertError, match="for one to 3 rows of constraints; 'system' has 4.*da.quasi_velocity_equations"):
        da.equations(four).text("multipliers")
    assert da.equations(four).text("constraint_jacobian")
    coupled = da.lagrangian_system(lambda q, qd, t: qd @ qd / 2 + sum(qd)**2 * da.exp(q[0]), "x y z u v")
    eom = da.equations(coupled.constrained(Holonomic("row", lambda q, t: [q[0] * q[1] * q[4] - 1])))
    assert "in factored form, with named parts: the mass matrix couples 5 velocities" in eom.text("multipliers")
    assert max(eom.verified.values()) < 1e-12


def crank_rocker():
    """A planar chain of three links whose tip is pinned to the base."""
    return da.planar_chain(3).constrained(Closure("pin", da.Spherical(), "tip", ("base", (1.2, 0, 0))))


def test_a_loop_of_a_mechanism_prints_its_rows_and_the_forces_that_close_it():
    eom = da.equations(crank_rocker())
    assert eom.shown[3:7] == ("constraints", "constraint_jacobian", "constraint_bias", "equations_of_motion")
    assert eom.text("constraints", "constraint_jacobian") == """Constraints, each 0
phi1 = 6/5 - c1 - c12 - c123
phi3 = -s1 - s12 - s123

Jacobian of the constraints
J11 = s1 + s12 + s123
J12 = s12 + s123
J13 = s123
J31 = -c1 - c12 - c123
J32 = -c12 - c123
J33 = -c123
"""      # the row out of the plane is 0
    force = eom.text("equations_of_motion").splitlines()[3]
    assert force.endswith("+ MX3 g c123 - lambda_pin1 s123 + lambda_pin3 c123")
    assert eom.text("multipliers").startswith("Multipliers (in factored form") and max(eom.verified.values()) < 1e-12
    with pytest.raises(da.DalembertError, match="has constraints: da.linearize gives"):
        eom.linearize()


@pytest.mark.parametrize("make, quantities", [
    (lambda: da.planar_chain(2).constrained(Coupling("gear", {"q1": 1, "q2": -2})), ("constraints", "multipliers", "accelerations")),
    (lambda: da.planar_chain(2).constrained(Knife("knife", "tip", (1, 0, 0))), ("velocity_constraints", "multipliers")),
    (lambda: da.planar_chain(3).constrained(Holonomic("f", lambda q, t: [q[0] - da.sin(t) * q[1]])), ("constraint_bias", "equations_of_motion")),
    (lambda: ball().constrained(Distance("rod", ("ball", (0, 0.5, 0.3)), ("base", (1, 0, 0)), 1.0)), ("constraints", "multipliers", "accelerations")),
    (lambda: ball(da.Free()).constrained(Rolling("rolling", "ball", 0.5, ((0, 0, 0), (0, 0, 1)))), ("constraint_jacobian", "constraint_bias"))],
    ids=["gear", "knife", "function of time", "rod in space", "rolling disk"])
def test_constraints_of_every_kind_are_verified(make, quantities):
    eom = da.equations(make())
    assert eom.text(*quantities) and {*quantities} <= {*eom.verified} and max(eom.verified.values()) < 1e-11


def ball(joint=None):
    """A body on a spherical joint, or free."""
    bodies = [da.Body("base"), da.Body("ball", 2.0, (0, 0, 0.3), (0.1, 0, 0.2, 0, 0, 0.25))]
    return da.Mechanism("ball", bodies, [da.Joint("j", joint or da.Spherical(), "base", "ball")])


def test_symbols_of_a_mechanism_stand_in_its_constraints():
    with da.Graph():
        length = da.symbol("l")
        arm = da.planar_chain(2).replace({"q2.origin[0]": length}).constrained(Closure("pin", da.Spherical(), "tip", ("base", (length, 0, 0))))
    assert da.equations(arm).text("constraints") == "Constraints, each 0\nphi1 = l - l c1 - c12\nphi3 = -l s1 - s12\n"
    named = da.equations(crank_rocker(), ["q2.origin[0]", "pin.second_origin[0]"])
    assert named.text("constraints").startswith("Constraints, each 0\nphi1 = px_pin2 - px2 c1 - c12 - c123")


def test_multipliers_of_rows_that_depend_are_refused():
    twice = da.planar_chain(2).constrained(Coupling("gear", {"q1": 1, "q2": -2}), Coupling("again", {"q1": 2, "q2": -4}))
    eom = da.equations(twice)
    assert "lambda_again" in eom.text("equations_of_motion")
    with pytest.raises(da.DalembertError, match="multipliers of 'planar chain' are not unique: 2 rows of constraints have the rank 1"):
        eom.text("multipliers")


def skate(principle):
    """A skate on an incline of unit mass, inertia and pull (Arnold, Kozlov, Neishtadt)."""
    edge = Velocity("edge", lambda q, qd, t: [qd[0] * da.sin(q[2]) - qd[1] * da.cos(q[2])], "m/s")
    return da.lagrangian_system(lambda q, qd, t: qd @ qd / 2 + q[0], "x y phi", name="skate").constrained(edge, principle=principle)


def test_each_principle_prints_its_own_equations():
    assert da.equations(skate("chetaev")).text("equations_of_motion") == da.equations(skate("gauss")).text("equations_of_motion") == """Equations of motion
tau1 = x_ddot - lambda_edge sin(phi) - 1
tau2 = y_ddot + lambda_edge cos(phi)
tau3 = phi_ddot
"""
    eom = da.equations(skate("vakonomic"))
    assert eom.text("equations_of_motion") == """Equations of motion
tau1 = x_ddot + mu_edge_dot sin(phi) + mu_edge phi_dot cos(phi) - 1
tau2 = y_ddot - mu_edge_dot cos(phi) + mu_edge phi_dot sin(phi)
tau3 = phi_ddot - mu_edge x_dot cos(phi) - mu_edge y_dot sin(phi)
"""      # d/dt of d(L + mu psi)/dqd, less d(L + mu psi)/dq
    assert r"\dot{\mu}_{\mathrm{edge}}" in eom.latex("equations_of_motion") and "rate of mu_edge" in eom.legend()
    for quantity in ("multipliers", "accelerations"):
        with pytest.raises(da.DalembertError, match=f"{quantity} of 'skate' have no closed form by the principles 'vakonomic'"):
            eom.text(quantity)
    with pytest.raises(da.DalembertError, match="forms without multipliers are those of d'Alembert's principle"):
        da.quasi_velocity_equations(skate("vakonomic"), "x phi")


def test_the_vakonomic_print_is_the_motion_of_a_run():
    run = da.simulate(skate("vakonomic"), [0, 0, 0], [0, 0, 1], np.linspace(0, 2, 41), multipliers0=[0.3], method="dop853", rtol=1e-12, atol=1e-13)
    eom = da.equations(skate("vakonomic"))
    qdd = np.stack([np.polynomial.Chebyshev.fit(run.times, x, 30).deriv()(run.times) for x in run.qd.T], 1)
    mu = run.observables["internal_states"][:, 0]
    rate = np.polynomial.Chebyshev.fit(run.times, mu, 30).deriv()(run.times)
    values = {"mu_edge": mu, "mu_edge_dot": rate}
    for group, columns in ((eom.coordinates, run.q), (eom.velocities, run.qd), (eom.accelerations, qdd)):
        values |= dict(zip(group, columns.T, strict=True))
    found = np.array(da.evaluate(eom.entries("equations_of_motion"), {da.symbol(k, eom.graph): x for k, x in values.items()}), float)
    np.testing.assert_allclose(found[3:-3], 0, atol=1e-8)


def test_rows_that_joints_drive_have_their_forces_and_programs_are_refused():
    driven = da.planar_chain(2).constrained(Holonomic("line", lambda q, t: [q[0] + q[1] - da.sin(t)]), principle="servo", actuated=["q2"])
    eom = da.equations(driven)
    assert eom.text("equations_of_motion").splitlines()[2].endswith("+ MX2 g c12 - u1") and "driving force on q2" in eom.legend()
    nonlinear = da.planar_chain(2).constrained(Velocity("f", lambda q, qd, t: [qd[0] * qd[1] - q[0]]), principle="vakonomic")
    assert da.equations(nonlinear).text("constraint_forces") == (
        "Forces of the constraints\nR1 = -qd2 mu_f_dot - mu_f qdd2 - mu_f\nR2 = -qd1 mu_f_dot - mu_f qdd1\n")
    swing = da.generators.Harmonic(frequency=2.0, amplitude=0.5)
    led = da.planar_chain(1).constrained(Servo("swing", "q1", swing, ["q1"], frequency=5.0))
    with pytest.raises(da.DalembertError, match="has programs .'swing'., which have no closed forms"):
        da.equations(led)
    floor = Holonomic("floor", lambda q, t: [q[1]], "m", one_sided=True)
    ball = da.lagrangian_system(lambda q, qd, t: qd @ qd / 2 - q[1], "x y").constrained(floor, principle="gauss")
    for call in (lambda: da.equations(ball), lambda: da.quasi_velocity_equations(ball, "x y")):
        with pytest.raises(da.DalembertError, match=r"'system' has one-sided constraints \('floor'\), which come and go"):
            call()
