"""Ways to stay on constraints: what each leaves of residuals and of energy, its order, and what it refuses."""

import dataclasses

import numpy as np
import pytest

import dalembert as da
from dalembert.integrators import METHODS, records
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.method_choice import method_for, stabilisation_for
from dalembert.simulation.options import Constraining, Model
from dalembert.systems.kinds import system_of

G = 9.81
pytestmark = pytest.mark.usefixtures("quickly_compiled")


class Pendulum(da.System):
    """A mass on a rod in Cartesian coordinates."""

    name, coordinate_names = "pendulum", ("x", "y")
    constraints = (da.constraints.Holonomic("rod", lambda q, t: [(q @ q - 0.49) / 1.4], "m"),)

    def mass_matrix(self, q, t=0.0):
        return [[1.3, 0], [0, 1.3]]

    def bias_force(self, q, qd, t=0.0):
        return np.array([0, G * 1.3])

    def potential_energy(self, q, t=0.0):
        return G * 1.3 * q[1]


class Skate(Pendulum):
    """A skate on an incline, whose blade turns steadily: x = sin^2(t)/2, y = (t - sin(2t)/2)/2 from rest, with g sin = 1."""

    name, coordinate_names = "skate", ("x", "y", "heading")
    constraints = (da.constraints.Velocity("blade", lambda q, qd, t: [da.sin(q[2]) * qd[0] - da.cos(q[2]) * qd[1]], "m/s"),)

    def mass_matrix(self, q, t=0.0):
        return np.eye(3)

    def bias_force(self, q, qd, t=0.0):
        return np.array([-1.0, 0, 0])

    def potential_energy(self, q, t=0.0):
        return -q[0]


class Program(Pendulum):
    """A mass that a force moves as x = cos(t + 0.3)."""

    name, coordinate_names = "program", ("x",)
    constraints = (da.constraints.Holonomic("program", lambda q, t: [q[0] - da.cos(t + 0.3)], "m"),)

    def mass_matrix(self, q, t=0.0):
        return [[1.0]]

    def bias_force(self, q, qd, t=0.0):
        return np.zeros(1)

    def potential_energy(self, q, t=0.0):
        return 0 * q[0]


START = [0.7 * np.sin(1), -0.7 * np.cos(1)], [0, 0]
SKATE = [0, 0, 0], [0, 0, 1.0]


@pytest.fixture(scope="module")
def exact():
    """End of the pendulum at 1 s, from its angle."""
    own = da.lagrangian_system(lambda q, qd, t: 1.3 * 0.49 / 2 * qd[0] ** 2 + 1.3 * G * 0.7 * da.cos(q[0]), "angle")
    angle = da.simulate(own, [1.0], [0.0], 1.0, method="dop853", rtol=1e-13, atol=1e-13).q[-1, 0]
    return 0.7 * np.array([np.sin(angle), -np.cos(angle)])


FORMS = [("rk4", "projection", 4), ("rk4", "baumgarte", 4), ("rk4", "ggl", 4), ("rk4", "none", 4), ("gauss4", "none", 4),
         ("rattle", None, 2), ("generalized_alpha", None, 2), ("radau_iia", "index3", 5), ("radau_iia", "index2", 5),
         ("radau_iia", "ggl", 5), ("radau_iia", "projection", 5), ("radau_iia", "none", 5)]


@pytest.mark.parametrize("method, stabilisation, order", FORMS)
def test_each_form_has_the_order_of_its_method(method, stabilisation, order, exact):
    h = {2: 0.02, 4: 0.01, 5: 0.05}[order]
    options = {"method": method, "stabilisation": stabilisation, "record": 1.0}
    options |= {"time_constant": 0.1} if stabilisation == "baumgarte" else {}
    errors = [np.abs(da.simulate(Pendulum(), *START, 1.0, h=step, **options).q[-1] - exact).max() for step in (h, h / 2)]
    assert 1e-10 < errors[1] < 1e-3 and abs(np.log2(errors[0] / errors[1]) - order) < 0.4


@pytest.mark.parametrize("method, stabilisation", [("rk4", "projection"), ("rk4", "baumgarte"), ("rk4", "ggl"), ("rk4", "none"),
                                                   ("radau_iia", "ggl"), ("radau_iia", "index2"), ("generalized_alpha", None)])
def test_a_skate_moves_as_its_closed_form_says(method, stabilisation):
    options = {"time_constant": 0.2} if stabilisation == "baumgarte" else {}
    h = 0.002 if METHODS[method].order == 2 else 0.02
    run = da.simulate(Skate(), *SKATE, 10.0, method=method, h=h, stabilisation=stabilisation, record=1.0, **options)
    t = run.times
    expected = np.array([np.sin(t) ** 2 / 2, (t - np.sin(2 * t) / 2) / 2, t]).T
    assert np.abs(run.q - expected).max() < (1e-5 if METHODS[method].order == 2 else 3e-7)
    assert (run.residual == 0).all() and run.velocity_residual.max() < 1e-6
    np.testing.assert_allclose(run.multipliers[:, 0], -2 * np.sin(t), atol=1e-4)      # reaction across the blade, with g sin along x


def test_residuals_are_those_that_each_form_promises():
    """Over 20 swings with steps that are long: to rounding, bounded, or growing."""
    largest = {}
    for method, stabilisation in (("rk4", "projection"), ("rattle", None), ("radau_iia", "ggl"), ("radau_iia", "index3"), ("radau_iia", "index2"),
                                  ("rk4", "ggl"), ("rk4", "baumgarte"), ("rk4", "none")):
        options = {"time_constant": 0.05} if stabilisation == "baumgarte" else {}
        run = da.simulate(Pendulum(), *START, 40.0, method=method, h=0.01, stabilisation=stabilisation, record=0.1, **options)
        halves = np.array_split(run.residual, 2)
        largest[method, run.stabilisation] = (*(part.max() for part in halves), run.velocity_residual.max())
    for form in (("rk4", "projection"), ("rattle", "projection"), ("radau_iia", "ggl")):
        assert max(largest[form]) < 1e-14
    assert largest["radau_iia", "index3"][1] < 1e-14 and 1e-13 < largest["radau_iia", "index3"][2] < 1e-4
    assert largest["radau_iia", "index2"][2] < 1e-14 and largest["radau_iia", "index2"][1] > 1e-12
    assert largest["rk4", "none"][1] > 1.5 * largest["rk4", "none"][0] > 1e-8         # drifts
    assert 1e-12 < largest["rk4", "baumgarte"][1] < 1.1 * largest["rk4", "baumgarte"][0] < 1e-6
    assert 1e-14 < largest["rk4", "ggl"][1] < largest["rk4", "none"][1] / 100


TABLE = {      # largest error of x, error of x at 60 s, largest errors of v and u from 1 s on, first u
    "index3": (7e-15, 2e-16, 1.6e-6, 1.9e-4, 2.06), "index2": (5.6e-12, 3.8e-12, 2e-14, 1.6e-6, 2.06),
    "none": (3.00, 3.00, 5e-2, 4e-14, -0.94), "baumgarte": (3.7e-3, 5e-11, 1.4e-3, 5e-3, -0.60), "ggl": (7e-15, 4e-16, 7e-15, 1.6e-6, 2.06)}


@pytest.mark.parametrize("stabilisation", TABLE)
def test_radau_iia_from_a_velocity_that_is_off_by_a_twentieth(stabilisation):
    """The force that moves a mass as x = cos(t + 0.3) by index 3, 2, 1, with feedback and GGL: h = 0.05 up to 60 s.

    An inconsistent start makes the first force of indices 2 and 3 a blow, and index 1 drift by 0.05 t.
    """
    asked = Constraining(stabilisation, 0.2 if stabilisation == "baumgarte" else None)
    form = stabilisation_for(Program(), "radau_iia", asked)
    motion = FirstOrderSystem(Model(Program()), stabilisation=form)
    start = np.zeros(motion.nx)
    start[:2] = np.cos(0.3), -np.sin(0.3) - 0.05
    p = motion.constants
    t = 0.05 * np.arange(1, 1201)
    x = motion.code.propagator(method_for(motion, "radau_iia")).run(start[None], [0, *t], 0.05, p, 1).x[0]
    if motion.unknowns:
        u = x[:, motion.unknown_places["multipliers"]]
    else:
        feedback = 5.0 if stabilisation == "baumgarte" else 0.0      # 1/T
        gap, slip = x[:, :1] - np.cos(t + 0.3)[:, None], x[:, 1:2] + np.sin(t + 0.3)[:, None]
        u = -np.cos(t + 0.3)[:, None] - 2 * feedback * slip - feedback**2 * gap
    errors = np.abs(np.array([x[:, 0] - np.cos(t + 0.3), x[:, 1] + np.sin(t + 0.3), u[:, 0] + np.cos(t + 0.3)]))
    late = t > 1 - 1e-9
    said = TABLE[stabilisation]
    for value, expected in zip((errors[0].max(), errors[0, -1], errors[1, late].max(), errors[2, late].max()), said):
        assert value < 2 * expected and (expected < 1e-12 or value > 0.9 * expected)
    assert abs(u[0, 0] - said[4]) < 6e-3


def test_velocities_of_half_explicit_stages_meet_the_constraints_and_its_order_is_four(exact):
    """At every state at which accelerations are asked for; positions at the ends of steps."""
    motion = FirstOrderSystem(Model(Pendulum()))
    p = motion.constants
    half_explicit, manifold, f = method_for(motion, "half_explicit4"), motion.manifold.bound(p), motion.function(p)
    slips, errors = [], []

    def asked(t, x):
        slips.append(abs(x[:2] @ x[2:4]))
        return f(t, x)

    x, k = np.array([*START[0], 0, 0, 0.0]), [f(0.0, np.array([*START[0], 0, 0, 0.0]))]
    for step in range(5):
        x, _, k = half_explicit.step(asked, step / 20, x, 1 / 20, k[-1], manifold)
    assert len(slips) == 25 and max(slips) < 1e-14
    for h in (0.01, 0.005):      # whatever the error
        run = da.simulate(Pendulum(), *START, 1.0, method="half_explicit4", h=h, longest_step=h, rtol=1, atol=1, record=1.0)
        assert run.steps == round(1 / h)
        errors.append(np.abs(run.q[-1] - exact).max())
    assert 1e-10 < errors[1] < 1e-7 and 3.6 < np.log2(errors[0] / errors[1]) < 4.4
    run = da.simulate(Pendulum(), *START, 1.0, method="half_explicit4", rtol=1e-9, atol=1e-11)
    assert np.abs(run.q[-1] - exact).max() < 1e-8 and run.residual.max() < 1e-14 and run.velocity_residual.max() < 1e-14


@pytest.mark.parametrize("method", ["dopri5", "dop853", "half_explicit4"])
def test_steps_go_on_with_accelerations_at_the_projected_state_also_after_rejections(method):
    motion = FirstOrderSystem(Model(Pendulum()))
    p = motion.constants
    f, steps = motion.function(p), []

    def seen(t, x, t1, x1, h, k):
        steps.append((t, x, t1, x1))
        assert np.array_equal(k[0], f(t, x)) and np.array_equal(k[-1], f(t1, x1))
        return 0.0

    pair, x = method_for(motion, method), np.array([*START[0], 0, 0, 0.0])
    *_, last = records(pair, f, x, np.array([0, 2.0]), 0.5, 1000, 1e-7, 1e-7, motion.manifold.bound(p), watch=seen)
    assert last.t == 2.0 and last.rejected > 0 and len(steps) == last.steps > 3
    for (_, _, t1, x1), (t, x, *_) in zip(steps, steps[1:]):
        assert t == t1 and np.array_equal(x, x1) and abs(x[:2] @ x[:2] - 0.49) < 1e-15


def test_a_run_says_how_constraints_were_met_and_keeps_it_in_files(tmp_path):
    run = da.simulate(Pendulum(), *START, 0.1, method="rk4", stabilisation="baumgarte", time_constant=0.01)
    assert "constraints: errors fade with a time constant (Baumgarte); largest residuals" in run.summary()
    assert run.multipliers.shape == (101, 1) and run.residual.shape == run.velocity_residual.shape == (101,)
    pytest.importorskip("xarray")
    read = da.Run.load(Pendulum(), run.to_netcdf(tmp_path / "run.nc"))
    assert read.stabilisation == "baumgarte"
    np.testing.assert_array_equal(read.velocity_residual, run.velocity_residual)
    free = da.simulate(da.planar_chain(1), [0.5], [0.0], 0.1)
    assert free.stabilisation is free.multipliers is free.residual is free.velocity_residual is None
    assert "constraints" not in free.summary()


def test_a_constrained_system_takes_dop853_where_nothing_else_is_asked_for():
    run = da.simulate(Pendulum(), *START, 1.0)
    assert (run.method, run.stabilisation) == ("dop853", "projection") and run.energy_drift < 1e-8
    assert da.simulate(Pendulum(), *START, 0.1, method="rk4").method == "rk4"
    several = da.simulate(Pendulum(), [START[0], [0.0, -0.7]], [[0, 0], [1.0, 0]], 0.2, method="radau_iia")
    np.testing.assert_array_equal(several.q[0], da.simulate(Pendulum(), *START, 0.2, method="radau_iia").q)
    assert several.residual.shape == (2, len(several.times))


def test_errors_along_the_constraints_choose_the_step():
    """What projection takes away is no error: tolerances are met with no more steps than the angle alone would take."""
    run = da.simulate(Pendulum(), *START, 10.0, rtol=1e-8, atol=1e-8, method="dop853")
    fine = da.simulate(Pendulum(), *START, 10.0, rtol=1e-12, atol=1e-13, method="dop853")
    assert np.abs(run.q[-1] - fine.q[-1]).max() < 1e-6
    motion = FirstOrderSystem(Model(Pendulum()))
    manifold = motion.manifold.bound(motion.constants)
    x = np.array([*START[0], 0, 0, 0.0])
    along = np.array([0.7 * np.cos(1), 0.7 * np.sin(1)])
    for error, left in (([*START[0], *START[0], 0.5], [0, 0, 0, 0, 0.5]), ([*along, *along, 0], [*along, *along, 0])):
        np.testing.assert_allclose(manifold.landed(0.0, x, (1e-7 * np.array(error),))[2], 1e-7 * np.array(left), atol=1e-13)


@pytest.mark.parametrize("options, message", [
    ({"stabilisation": "baumgarte"}, "'baumgarte' needs time_constant="),
    ({"stabilisation": "baumgarte", "time_constant": 0.0}, "time_constant=0.0: expected a positive time"),
    ({"stabilisation": "baumgarte", "time_constant": 0.01, "h": 0.02, "method": "rk4"},
     r"time_constant=0.01 s is 0.5 steps of 0.02 s, in which 'rk4' does not follow the feedback: give 0.06 s or more, or h=0.00333"),
    ({"time_constant": 0.1}, "time_constant=0.1 is that of Baumgarte's feedback"),
    ({"stabilisation": "index3", "method": "rk4"}, "'rk4' has not: take method='radau_iia' or 'generalized_alpha', or one of projection"),
    ({"stabilisation": "none", "method": "rattle"}, "rattle solves for ends of steps on the constraints: leave stabilisation= out"),
    ({"stabilisation": "ggl", "method": "generalized_alpha"}, "generalized_alpha solves for ends of steps .*'index3'.*: leave stabilisation= out"),
    ({"method": "rk4", "rho_inf": 0.8}, "rho_inf=0.8 is the damping of 'generalized_alpha', and 'rk4' has none"),
    ({"method": "generalized_alpha", "rho_inf": 1.5}, "rho_inf=1.5: expected 0 .* to 1"),
    ({"stabilisation": "projections"}, "Did you mean 'projection'")])
def test_what_makes_no_sense_is_refused_with_numbers(options, message):
    with pytest.raises((ValueError, da.UnknownNameError), match=message):
        da.simulate(Pendulum(), *START, 1.0, **options)


def test_forces_that_are_no_jt_lambda_are_left_to_methods_that_do_not_solve_for_them():
    driven = da.planar_chain(2).constrained(da.constraints.Holonomic("bent", lambda q, t: [q[1] - 0.5]), principle="servo")
    for options in ({"stabilisation": "ggl"}, {"method": "radau_iia", "stabilisation": "index3"}, {"formulation": "hamilton"}):
        with pytest.raises((ValueError, da.DalembertError), match="servo"):
            da.simulate(driven, [0.1, 0.5], [0, 0], 0.1, **options)


def test_a_system_without_constraints_has_nothing_to_stabilise():
    with pytest.raises(ValueError, match="stabilisation='ggl': 'planar chain' has no constraints"):
        da.simulate(da.planar_chain(1), [0.5], [0.0], 0.1, stabilisation="ggl")


def test_generalized_alpha_damps_what_vibrates_fast_and_leaves_the_rest():
    """A mass on a stiff spring that begins beside its rest: a step leaves -rho_inf of infinitely fast vibrations."""
    stiff = da.lagrangian_system(lambda q, qd, t: qd[0] ** 2 / 2 - 9e4 * q[0] ** 2 / 2, "q")      # 300 rad/s: 12 rad in a step
    ends = {rho: da.simulate(stiff, [0.0], [1.0], 4.0, method="generalized_alpha", rho_inf=rho, h=0.04, record=0.04) for rho in (0.3, 1.0)}
    amplitude = {rho: np.abs(run.q[-40:, 0]).max() * 300 for rho, run in ends.items()}
    assert amplitude[0.3] < 1e-10 and 0.9 < amplitude[1.0] < 1.1
    slow = da.lagrangian_system(lambda q, qd, t: qd[0] ** 2 / 2 - q[0] ** 2 / 2, "q")
    run = da.simulate(slow, [1.0], [0.0], 6.0, method="generalized_alpha", h=0.01)
    assert np.abs(run.q[:, 0] - np.cos(run.times)).max() < 1e-3


class OnASpring(Pendulum):
    """A mass on a rigid rod, and another below it on a spring of 10 MN/m: 4 kHz beside swings of a second."""

    name, coordinate_names = "on a spring", ("x1", "y1", "x2", "y2")
    constraints = (da.constraints.Holonomic("rod", lambda q, t: [(q[:2] @ q[:2] - 1) / 2], "m"),)
    stiffness = 1e7

    def mass_matrix(self, q, t=0.0):
        return np.eye(4)

    def stretch(self, q):
        d = q[2:] - q[:2]
        return d, da.sqrt(d @ d) - 1

    def bias_force(self, q, qd, t=0.0):
        d, s = self.stretch(q)
        pull = self.stiffness * s / (s + 1) * d
        return np.array([-pull[0], G - pull[1], pull[0], G + pull[1]])

    def potential_energy(self, q, t=0.0):
        return self.stiffness / 2 * self.stretch(q)[1] ** 2 + G * (q[1] + q[3])


class OnARod(OnASpring):
    """The same with a second rod in place of the spring."""

    stiffness = 0.0
    constraints = (*OnASpring.constraints, da.constraints.Holonomic(
        "second", lambda q, t: [((q[2:] - q[:2]) @ (q[2:] - q[:2]) - 1) / 2], "m"))


@pytest.mark.parametrize("method, stabilisation, bound", [("radau_iia", "ggl", 1e-5), ("radau_iia", "index3", 1e-5), ("radau_iia", "projection", 1e-5),
                                                          ("radau_iia", "none", 1e-5), ("generalized_alpha", None, 1e-2)])
def test_a_stiff_spring_beside_a_constraint_takes_steps_of_the_slow_motion(method, stabilisation, bound):
    """Steps of 20 ms, in which the spring would swing 14 times; it stretches by 4e-6 m."""
    q = np.array([np.sin(0.8), -np.cos(0.8), np.sin(0.8) + np.sin(0.5), -np.cos(0.8) - np.cos(0.5)])
    rigid = da.simulate(OnARod(), q, np.zeros(4), 2.0, rtol=1e-11, atol=1e-12, record=2.0)
    run = da.simulate(OnASpring(), q, np.zeros(4), 2.0, method=method, stabilisation=stabilisation, h=0.02, record=0.1)
    assert run.reason == "finished" and run.steps == 100
    assert np.abs(run.q[-1] - rigid.q[-1]).max() < bound


def some(forms, quick):
    """Parameters of a test, `quick` of them always, the others where slow tests run."""
    return [pytest.param(*form, marks=() if form in quick else pytest.mark.slow) for form in forms]


@pytest.mark.parametrize("method, stabilisation", some([
    ("rk4", "projection"), ("dop853", None), ("half_explicit4", None), ("rattle", None), ("generalized_alpha", None), ("radau_iia", "ggl"),
    ("radau_iia", "index3")], [("dop853", None), ("generalized_alpha", None), ("rattle", None)]))
def test_a_loop_of_ball_joints_closes_with_quaternions_of_unit_length(method, stabilisation):
    rods = [da.Body(name, 1.0, (0.25, 0.05, 0.0), (0.02, 0.001, 0.0, 0.03, 0.002, 0.04)) for name in ("one", "two")]
    joints = (da.Joint("s1", da.Spherical(), "base", "one"), da.Joint("s2", da.Spherical(), "one", "two", da.Origin((0.5, 0, 0))))
    pin = da.constraints.Closure("pin", da.Spherical(), ("two", (0.5, 0, 0)), ("base", (0.6, 0.3, 0.2)))
    loop = da.Mechanism("balls", (da.Body("base"), *rods), joints).constrained(pin)
    system, random = system_of(loop), np.random.default_rng(3)
    start = system.project(system.integrate(system.neutral(), 0.5 * random.normal(size=6)), 0.3 * random.normal(size=6))
    exact = da.simulate(loop, *start, 0.2, rtol=1e-11, atol=1e-12, record=0.2).q[-1]
    run = da.simulate(loop, *start, 0.2, method=method, stabilisation=stabilisation, h=0.002, record=0.02)
    lengths = np.linalg.norm(run.q.reshape(-1, 2, 4), axis=2)
    assert np.abs(lengths - 1).max() < 1e-15 and run.residual.max() < 1e-14
    assert np.abs(run.q[-1] - exact).max() < (5e-3 if METHODS[method].order == 2 else 1e-4)


@pytest.mark.parametrize("method, stabilisation, formulation", some([
    ("rk4", "ggl", None), ("half_explicit4", None, None), ("rattle", None, None), ("rattle", None, "hamilton"), ("generalized_alpha", None, None),
    ("radau_iia", "projection", None), ("radau_iia", "ggl", None), ("radau_iia", "index3", None), ("radau_iia", "index2", None)],
    [("half_explicit4", None, None), ("generalized_alpha", None, None), ("radau_iia", "ggl", None)]))
def test_rows_that_follow_from_others_change_no_motion(method, stabilisation, formulation):
    """A loop in a plane closed by a ball, one of whose rows is 0, and one whose gap stands there twice."""
    loop, start = four_bar()
    gap, = loop.constraints
    again = da.constraints.Holonomic("again", lambda q, t: [2 * gap.phi(q, t)[0] + gap.phi(q, t)[1]], "m")
    ball = da.constraints.Closure("ball", da.Spherical(), ("coupler", (0.9, 0, 0)), ("rocker", (0.7, 0, 0)))
    alone = dataclasses.replace(loop, constraints=(), principles=())
    options = {"method": method, "stabilisation": stabilisation, "formulation": formulation, "h": 0.005, "record": 0.5}
    ends = [da.simulate(mechanism, *start, 0.5, **options).q[-1] for mechanism in (loop, alone.constrained(gap, again), alone.constrained(ball))]
    assert max(np.abs(ends[0] - end).max() for end in ends) < 1e-9


def four_bar():
    """Of the open case: crank 0.4, coupler 0.9, rocker 0.7, ground 1 m."""
    sizes = {"crank": (0.4, 0.8), "coupler": (0.9, 1.5), "rocker": (0.7, 1.1)}
    rods = [da.Body(name, m, (l / 2, 0, 0), (0, 0, m * l * l / 12, 0, 0, m * l * l / 12)) for name, (l, m) in sizes.items()]
    z = da.Revolute((0, 0, 1))
    joints = (da.Joint("a", z, "base", "crank"), da.Joint("b", z, "crank", "coupler", da.Origin((0.4, 0, 0))),
              da.Joint("d", z, "base", "rocker", da.Origin((1, 0, 0))))
    tree = da.Mechanism("four-bar", (da.Body("base"), *rods), joints, gravity=(0, -9.81, 0))

    def gap(q, t):
        x, y = [0.4 * f(q[0]) + 0.9 * f(q[0] + q[1]) - 0.7 * f(q[2]) for f in (da.cos, da.sin)]
        return [x - 1, y]

    loop = tree.constrained(da.constraints.Holonomic("gap", gap, "m"))
    q, qd = [0.9, 0.4406286981 - 0.9, 1.4811343608], [2, -0.5656636963 - 2, 0.5873986104]
    return loop, system_of(loop).project(q, qd)


def test_a_four_bar_keeps_its_loop_and_its_energy_for_a_minute():
    loop, start = four_bar()
    crank, relative, rocker = da.forward_dynamics(loop, *start, np.zeros(3))
    np.testing.assert_allclose([crank, crank + relative, rocker], [-18.3677588192, 6.7940119426, -2.7450721473], rtol=1e-8)
    run = da.simulate(loop, *start, 60.0, record=1.0)
    assert run.method == "dop853" and run.residual.max() < 1e-12 and run.velocity_residual.max() < 1e-12
    energy = 12.8134136003
    assert np.abs(run.power_balance).max() < 1e-6 * energy and abs(run.energy[0] - energy) < 1e-7
    for t, crank, rate in ((2, -0.959497273, 7.9124327119), (10, 0.0680650434, -5.1484614646)):
        assert abs(run.q[t, 0] - crank) < 1e-6 and abs(run.qd[t, 0] - rate) < 1e-5
    plain = da.simulate(loop, *start, 60.0, method="rk4", h=0.01, stabilisation="none", record=10.0)
    assert 3.5e-2 < plain.residual[-1] < 4.5e-2 and 5e-4 < plain.residual[1] < 2e-3      # what index 1 alone does
    fine = da.simulate(loop, *start, 60.0, method="rk4", h=0.01, record=10.0)
    assert fine.residual.max() < 1e-12 and fine.velocity_residual.max() < 1e-12


@pytest.mark.parametrize("steps", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("method, options", [("rk4", {}), ("rattle", {}), ("rattle", {"formulation": "hamilton"}), ("half_explicit4", {}),
                                             ("dop853", {"longest_step": 0.005})])
def test_residuals_stay_at_rounding_over_many_steps(method, options, steps):
    """At the end of every step of the short run, and at 20 000 times of the long one."""
    loop, start = four_bar()
    every = 0.005 * max(1, steps // 20_000)
    run = da.simulate(loop, *start, 0.005 * steps, method=method, h=0.005, record=every, **options)
    assert run.steps >= steps and run.reason == "finished"
    assert run.residual.max() < 1e-12 and run.velocity_residual.max() < 1e-12


@pytest.mark.parametrize("stabilisation", ["baumgarte", "ggl"])
def test_a_stabilisation_changes_steps_of_a_method_or_is_refused(stabilisation):
    """Of a body on a ball joint and a rod, that begins beside the rod: methods that move coordinates by velocities cannot slip back."""
    body = da.Body("body", 1.0, (0, 0, -0.5), (0.1, 0, 0.2, 0, 0, 0.3))
    ball = da.Mechanism("ball", (da.Body("base"), body), (da.Joint("ball", da.Spherical(), "base", "body"),))
    system = system_of(ball.constrained(da.constraints.Distance("rod", ("base", (0, 0, 1)), ("body", (0.3, 0, -1)), 2.0)))
    unlike, refused = set(), set()
    for name in ("explicit_euler", "semi_implicit_euler", "rk4", "lie_rk4", "dopri5", "dop853", "implicit_midpoint", "gauss4", "gauss6"):
        ends = []
        try:
            for way in ("none", stabilisation):
                form = stabilisation_for(system, name, Constraining(way, 0.2 if way == "baumgarte" else None))
                motion = FirstOrderSystem(Model(system), stabilisation=form)
                x = np.array([*ball.neutral(), 0.1, 0.2, 0.3, *np.zeros(motion.nx - 7)])
                numbers = motion.function(motion.constants), x, np.array([0, 0.01]), 0.01, 1, 1e-3, 1e-3
                ends.append([*records(method_for(motion, name), *numbers, motion.manifold.bound(motion.constants))][-1].x)
        except ValueError as error:
            refused.add(name) if repr(stabilisation) in str(error) else pytest.fail(str(error))
        else:
            unlike |= {name} if np.abs(ends[1] - ends[0])[:7].max() > 1e-7 else set()
    assert refused == ({"semi_implicit_euler", "lie_rk4"} if stabilisation == "ggl" else set()) and len(unlike | refused) == 9


@pytest.mark.parametrize("method", ["explicit_euler", "semi_implicit_euler", "symplectic_euler", "rk4", "implicit_midpoint"])
@pytest.mark.filterwarnings("ignore:the energy changed")
def test_ends_of_long_steps_are_projected_to_rounding(method):
    """Methods without control of the step leave the constraints by parts of a thousand; a pendulum of 0.7 m at 3 m/s."""
    run = da.simulate(Pendulum(), [0.0, -0.7], [3.0, 0.0], 1.0, method=method, h=0.02)
    assert run.reason == "finished" and run.residual.max() < 1e-12 and run.velocity_residual.max() < 1e-12
