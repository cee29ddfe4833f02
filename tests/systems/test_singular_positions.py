"""Rows of constraints that depend on each other: always, in a loop closed twice, or at single positions."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert import constraints

REFERENCE = Path(__file__).parents[1] / "data" / "reference"
G = 9.81
Z = da.Revolute((0, 0, 1))
pytestmark = pytest.mark.usefixtures("quickly_compiled")


def rod(name, length=1.0, mass=1.0):
    inertia = mass * length ** 2 / 12
    return da.Body(name, mass, (length / 2, 0, 0), (0, 0, inertia, 0, 0, inertia))


def parallelograms(n, angle=0.0):
    """IFToMM A02: n parallelograms in a row, turned with gravity about z; cranks up, tips to the right at 1 m/s."""
    turned = da.Origin((0, 0, 0), (("z", angle),))
    bodies, closures = [da.Body("base"), da.Body("frame")], []
    joints = [da.Joint("turned", da.Fixed(), "base", "frame", turned)]
    for k in range(n + 1):
        bodies.append(rod(f"crank{k}"))
        joints.append(da.Joint(f"a{k}", Z, "frame", f"crank{k}", da.Origin((k, 0, 0))))
        if k:
            ends = (f"coupler{k}", (1, 0, 0)), (f"crank{k}", (1, 0, 0))
            closures.append(constraints.Closure(f"pin{k}", da.Spherical(), *ends))
        if k < n:
            bodies.append(rod(f"coupler{k + 1}"))
            joints.append(da.Joint(f"b{k + 1}", Z, f"crank{k}", f"coupler{k + 1}", da.Origin((1, 0, 0))))
    gravity = (G * np.sin(angle), -G * np.cos(angle), 0)
    tree = da.Mechanism(f"parallelograms{n}", tuple(bodies), tuple(joints), gravity=gravity)
    q, qd = (np.array([[a, -a] * n + [a]]).ravel() for a in (np.pi / 2, -1.0))
    return tree.constrained(*closures), q, qd


def reference_tip(n, end):
    """Tip of the first crank in the closed form."""
    rows = json.loads((REFERENCE / "pendulums.json").read_text())[f"A02_N_four_bar_N{n}"]["rows"]
    row, = (row for row in rows if abs(float(row[0]) - end) < 1e-9)
    return np.array([float(x) for x in row[1:3]])


def tip_errors(n, angle, rtol, end):
    """How far the first crank's tip is from the closed form at the end."""
    run = da.simulate(*parallelograms(n, angle), end, method="dop853", rtol=rtol, record=end)
    assert run.reason == "finished"
    tip = np.array([np.cos(run.q[-1, 0]), np.sin(run.q[-1, 0])])
    return np.abs(tip - reference_tip(n, end)).max(), run


@pytest.mark.parametrize("rtol", [1e-8, 1e-10, 1e-12])
@pytest.mark.parametrize("angle", [0.0, 2.7])
def test_parallelograms_pass_the_positions_in_which_all_links_lie_in_line(angle, rtol):
    error, run = tip_errors(2, angle, rtol, 10.0)
    assert error < max(1e-6 * rtol / 1e-8, 2e-9), error
    assert np.abs(run.observables["constraint_residual"]).max() < 1e-13


@pytest.mark.slow
@pytest.mark.parametrize("n, end", [(2, 10.0), (40, 20.0)])
def test_parallelograms_pass_them_turned_by_any_angle(n, end):
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi, 100)
    turned = {"turned.rotation[0]": angles, "gravity[0]": G * np.sin(angles), "gravity[1]": -G * np.cos(angles)}
    mechanism, *state = parallelograms(n, 0.3)
    q, qd = (np.tile(x, (100, 1)) for x in state)
    tip = reference_tip(n, end)
    for rtol in (1e-8, 1e-9, 1e-10, 1e-11, 1e-12):
        run = da.simulate(mechanism, q, qd, end, method="dop853", rtol=rtol, record=end, parameters=turned)
        crank = run.q[:, -1, 0]
        errors = np.abs(np.array([np.cos(crank), np.sin(crank)]).T - tip).max(axis=1)
        assert errors.max() < 1e-6, (rtol, errors.max(), angles[errors.argmax()])


def test_a_start_in_line_is_determined_by_velocities_and_refused_at_rest():
    mechanism, *_ = parallelograms(2, 0.3)
    for crank in (0.0, np.pi):
        q, way = crank * np.array([1, -1, 1, -1, 1]), np.array([1, -1, 1, -1, 1.0])
        with pytest.raises(da.ConstraintError, match="not determined from t = 0 s on: at .* rows have the rank 2, beside this singular position 4") as error:
            da.simulate(mechanism, q, 0 * way, 0.1)
        assert error.value.rank == 2
        run = da.simulate(mechanism, q, -4.0 * way, 0.3, method="dop853", record=0.1)
        assert run.reason == "finished" and np.abs(run.q @ np.array([1, 1, 0, 0, 0])).max() < 1e-9
        assert run.energy_drift < 1e-7


@pytest.mark.parametrize("method", ["gauss4", "implicit_midpoint", "rattle"])
def test_methods_that_do_not_pass_name_the_singular_position(method):
    run = da.simulate(*parallelograms(2), 1.0, method=method, h=0.01)
    wanted = r" (after )?t = 0\.7\d* s.* There the constraint 'pin\d\[.\]' nearly follows from others\. At a0 = [\d.]+, b1 = .* " \
             r"rows are near the rank [23], elsewhere 4 \(pin.*\): a singular position\. Take method='dop853', which passes it"
    assert re.search(wanted, f" {run.reason}"), run.reason


def test_rows_that_always_follow_from_others_are_no_singular_position():
    run = da.simulate(*parallelograms(2), 1.0, method="gauss4", h=0.01, record=1.0)           # its last record is far from one
    assert "no longer a number" in run.reason and "follows" not in run.reason


class ChangePoint(da.System):
    """A four-bar of links 1, 3, 2 on a base of 2 m in absolute angles: in line at crank angle 0, where its two ways of
    closing meet in curves.
    """

    name, coordinate_names = "change point", ("crank", "coupler", "rocker")
    a, b, c, d, masses = 1.0, 3.0, 2.0, 2.0, (1.0, 1.5, 1.2)

    def __init__(self, angle=0.0):
        self.turn = np.cos(angle), np.sin(angle)

    @property
    def constraints(self):
        return (constraints.Holonomic("loop", self.gap, "m"),)

    def gap(self, q, t):
        x = self.a * da.cos(q[0]) + self.b * da.cos(q[1]) - self.c * da.cos(q[2]) - self.d
        y = self.a * da.sin(q[0]) + self.b * da.sin(q[1]) - self.c * da.sin(q[2])
        (cos, sin), along = self.turn, (x, y)
        return [cos * along[0] - sin * along[1], sin * along[0] + cos * along[1]]

    def mass_matrix(self, q, t=0.0):
        m, n, k = self.masses
        coupled = n * self.a * self.b / 2 * da.cos(q[0] - q[1])
        return [[m * self.a ** 2 / 3 + n * self.a ** 2, coupled, 0], [coupled, n * self.b ** 2 / 3, 0], [0, 0, k * self.c ** 2 / 3]]

    def bias_force(self, q, qd, t=0.0):
        m, n, k = self.masses
        turning = n * self.a * self.b / 2 * da.sin(q[0] - q[1])
        weights = G * np.array([self.a * (m / 2 + n), self.b * n / 2, self.c * k / 2])
        return da.array([turning * qd[1] ** 2 + weights[0] * da.cos(q[0]), -turning * qd[0] ** 2 + weights[1] * da.cos(q[1]),
                         weights[2] * da.cos(q[2])])

    def potential_energy(self, q, t=0.0):
        m, n, k = self.masses
        return G * (self.a * (m / 2 + n) * da.sin(q[0]) + self.b * n / 2 * da.sin(q[1]) + self.c * k / 2 * da.sin(q[2]))

    def branch(self, crank):
        """Coupler and rocker on the way straight through: a function of half the crank angle, derivatives too."""
        reach = np.sqrt(self.a ** 2 + self.d ** 2 - 2 * self.a * self.d * np.cos(crank))
        cos = (reach ** 2 + self.c ** 2 - self.b ** 2) / (2 * reach * self.c)
        sin = np.sin(crank / 2) * np.sqrt(8 * (reach + self.c + self.b) * (1 - cos) / ((reach + 1) * 2 * reach * self.c))
        x, y = (self.a * np.cos(crank) - self.d) / reach, self.a * np.sin(crank) / reach
        rocker = x * cos - y * sin, x * sin + y * cos
        coupler = (self.d + self.c * rocker[0] - self.a * np.cos(crank)) / self.b, (self.c * rocker[1] - self.a * np.sin(crank)) / self.b
        return coupler, rocker

    def state(self, crank, rate):
        """The state of the branch with a crank angle and its rate."""
        step = 1e-30
        turns = [(np.arctan2(y.real, x.real), (x.real * y.imag - y.real * x.imag) / step) for x, y in self.branch(crank + step * 1j)]
        return [crank, *(angle for angle, _ in turns)], [rate, *(rate * slope for _, slope in turns)]


@pytest.mark.parametrize("angle, rtol", [(0.0, 1e-9), (0.0, 1e-12), (1.3, 1e-11)])
def test_a_linkage_passes_a_change_point_straight_through_on_its_curved_way(angle, rtol):
    linkage = ChangePoint(angle)
    start = linkage.state(1.0, 6.0)
    energy = linkage.energy(*map(np.array, start))

    def rate(t, crank):
        """Of the crank, as energy says."""
        q, qd = map(np.array, linkage.state(crank[0], 1.0))
        own = linkage.kinetic_energy(q, qd)
        return [np.sqrt((energy - linkage.potential_energy(q)) / own)]

    integrate = pytest.importorskip("scipy.integrate").solve_ivp
    end = 2.5                                                            # two passages
    crank = integrate(rate, (0, end), [1.0], method="DOP853", rtol=1e-12, atol=1e-12).y[0, -1]
    assert crank > 4 * np.pi + 0.1
    run = da.simulate(linkage, *start, end, method="dop853", rtol=rtol, record=0.05)
    np.testing.assert_allclose(np.cos(run.q[-1] - linkage.state(crank, 0.0)[0]), 1, atol=1e-14)
    assert abs(run.q[-1, 0] - crank) < max(1e3 * rtol, 1e-8) and run.energy_drift < max(1e3 * rtol, 1e-8)
    assert np.abs(run.observables["constraint_residual"]).max() < 1e-13


def bricard():
    """IFToMM A04: six hinges at right angles, closed by a point and a second one, which makes two rows too many."""
    m, length, side = 1.0, 1.0, 0.1
    axes = ((0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1))
    steps = ((1, 0, 0), (0, -1, 0), (0, 0, 1), (-1, 0, 0), (0, 1, 0))
    bodies, joints, origin = [da.Body("base")], [], (0, 0, 0)
    for k, (axis, step) in enumerate(zip(axes, steps)):
        moments = [m * (side ** 2 + side ** 2) / 12 if s else m * (length ** 2 + side ** 2) / 12 for s in step]
        bodies.append(da.Body(f"b{k}", m, tuple(s / 2 for s in step), (moments[0], 0, moments[1], 0, 0, moments[2])))
        joints.append(da.Joint(f"j{k}", da.Revolute(axis), bodies[-2].name, f"b{k}", da.Origin(origin)))
        origin = step
    closures = [constraints.Closure(f"point{x}", da.Spherical(), ("b4", (x, 1, 0)), ("base", (x, 0, 1))) for x in (0, 1)]
    return da.Mechanism("bricard", tuple(bodies), tuple(joints), gravity=(0, -G, 0)).constrained(*closures)


def test_bricards_mechanism_moves_with_two_rows_too_many():
    rows = json.loads((REFERENCE / "closed_loops.json").read_text())["A04_bricard"]["rows"]
    row, = (row for row in rows if abs(float(row[0]) - 9.0) < 1e-9)
    run = da.simulate(bricard(), np.zeros(5), np.zeros(5), 9.0, method="dop853", rtol=1e-9, record=9.0)
    first = np.array([np.cos(run.q[-1, 0]), 0, -np.sin(run.q[-1, 0])])
    assert np.abs(first - [float(x) for x in row[5:8]]).max() < 1e-6
    assert np.abs(run.observables["constraint_residual"]).max() < 1e-12


def test_a_loop_without_freedoms_by_count_moves_what_is_linked_to_it():
    """Bricard's loop with an arm of four hinges that holds one of its corners by a ball: eight rows, nine coordinates."""
    loop, _ = da.loops.bricard()
    bodies, joints, body = [*loop.bodies], [*loop.joints], "base"
    for k, (axis, at) in enumerate((((0, 0, 1), (0.3, 0.4, 0.2)), ((0, 1, 0), (0, 0, 0)), ((0, 1, 0), (0.9, 0, 0)), ((0, 0, 1), (0.8, 0, 0)))):
        bodies.append(da.Body(f"arm{k}", 0.3, (0.4, 0, 0) if k else (0.05, 0, 0), (0.01, 0, 0.02, 0, 0, 0.02)))
        joints.append(da.Joint(f"a{k}", da.Revolute(axis), body, f"arm{k}", da.Origin(at)))
        body = f"arm{k}"
    tree = da.Mechanism("armed", tuple(bodies), tuple(joints), gravity=(0, -G, 0))
    grip = constraints.Closure("grip", da.Spherical(), ("arm3", (0.6, 0, 0)), ("rod3", (0, 0, 1)))
    q = [0, 0, 0, 0, 0, 1.6415843, -2.9304526, 0.6124062, -1.5152796]
    mechanism = tree.constrained(*loop.constraints, grip)
    q, qd = da.project(mechanism, q, np.linspace(-2, 2, 9))
    ends = {}
    for method, options in {"rk4": {"h": 0.01}, "dop853": {"rtol": 1e-11}}.items():
        run = da.simulate(mechanism, q, qd, 4.0, method=method, record=4.0, **options)
        assert run.reason == "finished" and run.energy_drift < 1e-6, (method, run.reason, run.energy_drift)
        ends[method] = run.q[-1]
    np.testing.assert_allclose(ends["rk4"], ends["dop853"], atol=1e-5)


def test_multipliers_of_rows_that_depend_are_the_least_ones():
    from dalembert.systems.kinds import system_of

    mechanism = bricard()
    run = da.simulate(mechanism, np.zeros(5), np.zeros(5), 0.7, method="dop853", rtol=1e-9)
    q, qd, found = run.q[-1], run.qd[-1], run.observables["multipliers"][-1]
    system = system_of(mechanism)
    J = np.concatenate([c.rates(system, q, qd).jacobian for c in mechanism.constraints])
    force = system.mass_matrix(q) @ system.forward_dynamics(q, qd, np.zeros(5)) + system.bias_force(q, qd)
    assert np.linalg.matrix_rank(J, tol=1e-6) == 4
    own = np.diag(J @ np.linalg.solve(system.mass_matrix(q), J.T)).reshape(2, 3)
    sizes = np.sqrt(np.repeat(own.sum(axis=1), 3))                       # of each point, in any axes
    least = np.linalg.pinv((J / sizes[:, None]).T, rcond=1e-6) @ force / sizes
    np.testing.assert_allclose(found, least, atol=1e-9)
    np.testing.assert_allclose(system.multipliers(q, qd, np.zeros(5)), found, atol=1e-9)


def test_rows_that_contradict_each_other_are_named_with_their_rank():
    class Cart(da.System):
        name, coordinate_names = "cart", ("x", "y")
        constraints = (constraints.Holonomic("slow", lambda q, t: [q[0] - 0.1 * t * t], "m"),
                       constraints.Holonomic("fast", lambda q, t: [q[0] - 0.2 * t * t], "m"))

        def mass_matrix(self, q, t=0.0):
            return [[1, 0], [0, 1]]

        def bias_force(self, q, qd, t=0.0):
            return np.zeros(2)

        def potential_energy(self, q, t=0.0):
            return 0 * q[0]

    with pytest.raises(da.ConstraintError, match="'cart' contradict each other: 2 rows have the rank 1, .* miss '(slow|fast)' by 0.2") as error:
        da.simulate(Cart(), [0, 0], [0, 1], 0.1)
    assert error.value.rank == 1
