"""A system of one's own with constraints moves on them, by every method that can, with the forces that keep it there."""

import re

import numpy as np
import pytest

import dalembert as da
from dalembert import constraints
from dalembert.integrators import METHODS, Constrained, FixedStep
from dalembert.integrators.method_kinds import CONSTRAINED

G = 9.81
OTHERS = "discrete_gradient", "generalized_alpha", "radau5", "symplectic_euler"      # without both residuals at rounding
METHOD_NAMES = [name for name, m in METHODS.items() if name not in OTHERS and CONSTRAINED not in m.refuses]
pytestmark = pytest.mark.usefixtures("quickly_compiled")


class Pendulum(da.System):
    """A mass on a rod in Cartesian coordinates."""

    name, coordinate_names = "pendulum", ("x", "y")
    mass, length = 1.3, 0.7      # kg, m

    @property
    def constraints(self):
        return (constraints.Holonomic("rod", lambda q, t: [q @ q - self.length ** 2], "m^2"),)

    def mass_matrix(self, q, t=0.0):
        return [[self.mass, 0], [0, self.mass]]

    def bias_force(self, q, qd, t=0.0):
        return np.array([0, G * self.mass])

    def potential_energy(self, q, t=0.0):
        return G * self.mass * q[1]


class Dumbbell(da.System):
    """Two masses on a rigid rod in space, one of them held at the origin: a spherical pendulum."""

    name, masses, length = "dumbbell", (0.4, 1.1), 0.5
    coordinate_names = ("x1", "y1", "z1", "x2", "y2", "z2")
    constraints = (constraints.Holonomic("ball", lambda q, t: q[:3], "m"),
                   constraints.Holonomic("rod", lambda q, t: [sum((q[3:] - q[:3]) ** 2) - 0.25], "m^2"))

    def mass_matrix(self, q, t=0.0):
        return np.diag(np.repeat(self.masses, 3))

    def bias_force(self, q, qd, t=0.0):
        return G * np.array([0, 0, self.masses[0], 0, 0, self.masses[1]])

    def potential_energy(self, q, t=0.0):
        return G * (self.masses[0] * q[2] + self.masses[1] * q[5])


class Sleigh(Pendulum):
    """A sleigh on a knife edge, which does not slip sideways; and one whose pivot moves, of a pendulum."""

    name, coordinate_names = "sleigh", ("x", "y", "heading")
    constraints = (constraints.Velocity("knife", lambda q, qd, t: [da.sin(q[2]) * qd[0] - da.cos(q[2]) * qd[1]], "m/s"),)

    def mass_matrix(self, q, t=0.0):
        return np.diag([2.0, 2.0, 0.3])

    def bias_force(self, q, qd, t=0.0):
        return np.zeros(3)

    def potential_energy(self, q, t=0.0):
        return 0 * q[0]


class Driven(Pendulum):
    """A pendulum whose pivot moves sideways as its program says."""

    @property
    def constraints(self):
        return (constraints.Holonomic("rod", lambda q, t: [(q[0] - 0.1 * da.sin(3 * t)) ** 2 + q[1] ** 2 - self.length ** 2], "m^2"),)


ANGLE = 1.0
START = [0.7 * np.sin(ANGLE), -0.7 * np.cos(ANGLE)]


@pytest.fixture(scope="module")
def minimal():
    """The pendulum in its angle, from the same start."""
    own = da.lagrangian_system(lambda q, qd, t: 1.3 * 0.49 / 2 * qd[0] ** 2 + 1.3 * G * 0.7 * da.cos(q[0]), "angle")
    return da.simulate(own, [ANGLE], [0.0], 1.0, method="dop853", rtol=1e-13, atol=1e-13)


def tension(run):
    """Of the rod, from the motion: m (g cos + v^2/L)."""
    return 1.3 * (-G * run.q[:, 1] / 0.7 + (run.qd ** 2).sum(axis=1) / 0.7)


@pytest.mark.parametrize("method", METHOD_NAMES)
def test_a_pendulum_in_cartesian_coordinates_is_one_in_its_angle(method, minimal):
    kind = METHODS[method]
    run = da.simulate(Pendulum(), START, [0, 0], 1.0, method=method)
    assert run.reason == "finished"
    assert np.abs(run.observables["constraint_residual"]).max() < 1e-14
    assert np.abs((run.q * run.qd).sum(axis=1)).max() < 1e-14
    np.testing.assert_allclose(run.observables["multipliers"][:, 0], -tension(run) / 1.4, rtol=1e-12, atol=1e-12)
    error = np.abs(run.q[-1] - 0.7 * np.array([np.sin(minimal.q[-1, 0]), -np.cos(minimal.q[-1, 0])])).max()
    most = 1e-6 if method == "rodas5p" else 1e-8      # by its own default tolerances
    assert error < {1: 2e-2, 2: 1e-5}.get(kind.order, most)


def test_rattle_is_of_order_two_symmetric_and_keeps_energy_in_bounds():
    assert isinstance(METHODS["rattle"], Constrained) and isinstance(METHODS["rattle"], FixedStep)
    exact = da.simulate(Pendulum(), START, [0, 0], 1.0, method="dop853", rtol=1e-13, atol=1e-13).q[-1]
    errors = [np.abs(da.simulate(Pendulum(), START, [0, 0], 1.0, method="rattle", h=h, record=1.0).q[-1] - exact).max()
              for h in (0.02, 0.01, 0.005)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert (np.abs(orders - 2) < 0.1).all(), orders
    there = da.simulate(Pendulum(), START, [0, 0], 0.5, method="rattle", h=0.01)
    back = da.simulate(Pendulum(), there.q[-1], -there.qd[-1], 0.5, method="rattle", h=0.01)
    np.testing.assert_allclose(back.q[-1], START, atol=1e-13)


@pytest.mark.parametrize("method, bound", [("rattle", 2e-3), ("rk4", 1e-3)])
def test_1e5_steps_drift_neither_off_the_constraints_nor_in_energy(method, bound):
    start = Dumbbell().project([0, 0, 0, 0.3, 0.0, -0.4], [0, 0, 0, 0.1, 1.2, 0.2])
    run = da.simulate(Dumbbell(), *start, 1000.0, method=method, h=0.01, record=2.0)
    assert run.steps == 100_000
    assert np.abs(run.observables["constraint_residual"]).max() <= 1e-12
    early, late = (np.abs(half).max() for half in np.array_split(run.power_balance, 2))
    if method == "rattle":
        assert late < 1.2 * early < bound                             # bounded without trend
    else:
        assert late < bound
    moment = 1.1 * np.cross(run.q[:, 3:], run.qd[:, 3:])[:, 2]        # about the vertical
    np.testing.assert_allclose(moment, moment[0], atol=1e-9 if method == "rattle" else 1e-5)


def test_multipliers_of_a_spherical_pendulum_are_its_tension():
    start = Dumbbell().project([0, 0, 0, 0.3, 0.0, -0.4], [0, 0, 0, 0.1, 1.2, 0.2])
    run = da.simulate(Dumbbell(), *start, 1.0, method="dop853")
    r, v = run.q[:, 3:], run.qd[:, 3:]
    pull = 1.1 * ((v ** 2).sum(axis=1) / 0.5 - G * r[:, 2] / 0.5)     # of the rod on the moving mass
    found = run.observables["multipliers"]
    np.testing.assert_allclose(found[:, 3], -pull / (2 * 0.5), rtol=1e-10)
    expected = np.array([0, 0, 0.4 * G]) - (pull / 0.5)[:, None] * r     # the ball carries both
    np.testing.assert_allclose(found[:, :3], expected, rtol=1e-9, atol=1e-9)
    assert run.observables.declared["multipliers"].labels == ("ball[0]", "ball[1]", "ball[2]", "rod") and run.energy_drift < 1e-8


def test_rows_on_velocities_alone_and_rows_that_move_with_time():
    q, qd = Sleigh().project([0.1, 0.2, 0.4], [1.0, 0.9, 0.5])
    run = da.simulate(Sleigh(), q, qd, 2.0, method="dop853")
    slip = np.sin(run.q[:, 2]) * run.qd[:, 0] - np.cos(run.q[:, 2]) * run.qd[:, 1]
    assert np.abs(slip).max() < 1e-13 and run.energy_drift < 1e-9
    speed = np.hypot(*run.qd[:, :2].T)
    np.testing.assert_allclose(speed, speed[0], rtol=1e-9)             # it goes round a circle
    np.testing.assert_allclose(run.q[:, 2], q[2] + qd[2] * run.times, atol=1e-9)
    with pytest.raises(ValueError, match="one on velocities alone needs method='rk4'"):
        da.simulate(Sleigh(), q, qd, 1.0, method="rattle")
    start = Driven().project(START, [0, 0])
    for options, bound in (({"method": "dop853"}, 1e-8), ({"method": "rattle", "h": 1e-3}, 5e-5)):
        moved = da.simulate(Driven(), *start, [0, 0.5, 1.0], **options)
        assert np.abs(moved.observables["constraint_residual"]).max() < 1e-14
        assert np.abs(moved.power_balance).max() < bound               # the pivot does work
    late = da.simulate(Driven(), *Driven().project(START, [0, 0], 0.3), [0.3, 0.6])
    assert np.abs(late.observables["constraint_residual"]).max() < 1e-14


def test_forces_events_batches_and_interpreted_steps_go_with_constraints():
    def push(t, q, qd):
        return [0.3 * da.sin(t), 0]

    def called(t, q, qd):
        return [0.3 * np.sin(float(t)), 0]

    def low(t, q, qd):
        return q[0]

    for method in ("dop853", "rattle"):
        several = da.simulate(Pendulum(), [START, [0.0, -0.7]], [[0, 0], [1.0, 0]], 0.2, control=push, method=method)
        alone, other = (da.simulate(Pendulum(), START, [0, 0], 0.2, control=force, method=method) for force in (push, called))
        np.testing.assert_array_equal(several.q[0], alone.q)
        np.testing.assert_allclose(alone.q, other.q, atol=1e-9)
    for force, options in ((push, {"method": "rattle"}), (called, {"method": "dop853", "record": 0.1})):
        event, = da.simulate(Pendulum(), START, [0, 0], 0.6, control=force, events=low, **options).events
        assert abs(event.q[0]) < 1e-12 and abs(event.q @ event.q - 0.49) < 1e-13
    sampled = da.controllers.Sampled(lambda k, t, q, qd, m: (-q, m), 0.01)
    held = da.simulate(Pendulum(), START, [0, 0], 0.2, control=sampled)
    assert np.abs(held.observables["constraint_residual"]).max() < 1e-14


def test_compiled_quantities_and_files_have_multipliers(tmp_path):
    pytest.importorskip("xarray")
    compiled, state = da.compile(Pendulum()), (np.array(START), np.array([0.5, 0.3]), np.array([0.1, 0.2]))
    np.testing.assert_allclose(compiled.multipliers(*state, 0.0), Pendulum().multipliers(*state), rtol=1e-13)
    qdd = compiled.forward_dynamics(*state, 0.0)
    np.testing.assert_allclose(Pendulum().required_force(state[0], state[1], qdd) - state[2],
                               2 * state[0] * compiled.multipliers(*state, 0.0), rtol=1e-12)
    run = da.simulate(Pendulum(), START, [0, 0], 0.1)
    read = da.Run.load(Pendulum(), run.to_netcdf(tmp_path / "run.nc"))
    np.testing.assert_array_equal(read.observables["multipliers"], run.observables["multipliers"])
    assert read.observables.declared["multipliers"].unit == "J/(m^2)"


def test_what_does_not_know_constraints_says_so():
    with pytest.raises(da.DalembertError, match="'pendulum' has constraints: da.linearize"):
        da.equations(Pendulum()).linearize()
    with pytest.raises(TypeError, match="expected a Mechanism, as da.load makes, not a Pendulum"):
        da.linearize(Pendulum(), START, [0, 0], [0, 0])
    for method in ("discrete_gradient", "radau5"):
        with pytest.raises(ValueError, match=f"{method}.*take.*method='"):
            da.simulate(Pendulum(), START, [0, 0], 0.1, method=method)
    fading = da.simulate(Pendulum(), START, [0, 0], 1.0, method="radau5", stabilisation="baumgarte", time_constant=0.01)
    assert 1e-16 < fading.residual.max() < 1e-8 and fading.energy_drift < 1e-6


def test_states_off_constraints_are_refused_and_rows_that_depend_share_the_force():
    with pytest.raises(da.ConstraintError, match=r"'rod' of 'pendulum' is 0\.0\d+, expected 0: begin at a state that meets it, as system.project"):
        da.simulate(Pendulum(), [0.75, 0.0], [0, 0], 0.1)
    with pytest.raises(da.ConstraintError, match="'the rate of rod' of 'pendulum' is 1.4"):
        da.simulate(Pendulum(), [0.7, 0.0], [1.0, 0], 0.1)
    q, qd = Pendulum().project([1.5, 0.4], [1.0, 0])
    assert abs(q @ q - 0.49) < 1e-15 and abs(q @ qd) < 1e-15

    class Twice(Pendulum):
        constraints = property(lambda self: (*Pendulum.constraints.fget(self), constraints.Holonomic("again", lambda q, t: [3 * q @ q - 1.47])))

    run, once = (da.simulate(system(), START, [0, 0], 0.1) for system in (Twice, Pendulum))
    np.testing.assert_allclose(run.q, once.q, atol=1e-9)                 # rows that follow from others change nothing
    shares = np.outer(tension(run) / -1.4, [1 / 2, 1 / 6])               # least norm: alike, however rows are scaled
    np.testing.assert_allclose(run.observables["multipliers"], shares, rtol=1e-9)


class Lifted(Pendulum):
    """A pendulum that is lifted until its rod stands upright, and cannot be lifted further."""

    name = "lifted"
    constraints = (constraints.Holonomic("rod", lambda q, t: [q @ q - 0.49], "m^2"),
                   constraints.Holonomic("lift", lambda q, t: q[1] + 0.4 - 0.5 * t, "m"))     # one row may be a number


@pytest.mark.parametrize("method, reason", [("rk4", r"after t = 2\.\d+ s: ('lift'|'the rate of rod') of 'lifted' is -?\d.*, expected 0: the step is too long, or no state meets it\."),
                                            ("rattle", r"does not settle.* There the constraint 'lift' nearly follows from others\."),
                                            ("dop853", r"step became too small.* There the constraint '(lift|rod)' nearly follows from others\.")])
def test_a_motion_that_constraints_end_says_which_and_has_no_record_off_them(method, reason):
    run = da.simulate(Lifted(), *Lifted().project([0.5, -0.4], [0, 0.5]), 4.0, method=method, h=0.01, record=0.01)
    assert re.search(reason, run.reason), run.reason
    assert 2.1 < run.times[-1] <= 2.21 and np.abs(run.observables["constraint_residual"]).max() < 1e-6


@pytest.mark.parametrize("declared, error, message", [
    ((3,), TypeError, "an entry of constraints is 3 .int.; expected a tuple of da.constraints.Holonomic and Velocity"),
    (constraints.Holonomic("rod", lambda q, t: [q[0]]), TypeError, "constraints=Holonomic.*expected a tuple of"),
    ((constraints.Holonomic("rod", lambda q, t: []),), da.ShapeError, r"constraint 'rod' gives shape \(0,\), expected rows \(k,\)"),
    ((constraints.Velocity("rod", lambda q, qd, t: [qd]),), da.ShapeError, r"constraint 'rod' gives shape \(1, 2\)"),
    ((constraints.Holonomic("rod", lambda q, t: [q[0]]), constraints.Holonomic("rod", lambda q, t: [q[1]])), da.DalembertError, "two constraints of 'pendulum' have the name 'rod'")])
def test_declarations_that_are_none_are_refused_by_name(declared, error, message):
    system = type("Wrong", (Pendulum,), {"constraints": declared})()
    for use in (lambda: da.simulate(system, START, [0, 0], 0.1), lambda: system.project(START, [0, 0])):
        with pytest.raises(error, match=message):
            use()
