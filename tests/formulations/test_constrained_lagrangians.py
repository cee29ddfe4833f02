"""Lagrangians with constraints move as the tables of classical systems say, and their parameters and files go with them."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dalembert as da
from dalembert.constraints import Closure, Holonomic, Velocity
from dalembert.systems.kinds import system_of
from nonholonomic import CASES, coin, motion, sleigh, upright_disk
from reference import reference, table
from simeon import slider_crank

pytestmark = pytest.mark.usefixtures("quickly_compiled")


@pytest.mark.parametrize("case", CASES)
def test_classical_nonholonomic_systems_move_as_their_tables_say(case):
    run, found, expected = motion(case)
    assert run.reason == "finished"
    np.testing.assert_allclose(found, expected, atol=1e-9 if case == "rolling_thin_disk" else 1e-10)


def test_an_upright_disk_rolls_round_a_circle():
    run = da.simulate(upright_disk(), [0, 0, 0, 0], [1.5, 0, 0.7, 3], [0, 2.5, 5], rtol=1e-12, atol=1e-13)
    t, radius = run.times, 15 / 7
    expected = np.stack([radius * np.sin(0.7 * t), radius * (1 - np.cos(0.7 * t)), 0.7 * t, 3 * t], 1)
    np.testing.assert_allclose(run.q, expected, atol=1e-11)
    centripetal = 1.5 * 0.7 * np.stack([-np.sin(0.7 * t), np.cos(0.7 * t)], 1)      # the ground's force, m v phi'
    np.testing.assert_allclose(run.observables["multipliers"], centripetal, atol=1e-10)


def car_axis():
    """Car axis of the IVP test set: two rows that move with time, forces of a user's own."""
    eps, mass, length, rest, r, w = 0.01, 10, 1, 0.5, 0.1, 10
    k = mass * eps**2 / 2

    def road(t):
        y = r * da.sin(w * t)
        return da.sqrt(length**2 - y * y), y

    def forces(q, qd, t):
        (xl, yl, xr, yr), (xb, yb) = q, road(t)
        left, right = da.hypot(xl, yl), da.hypot(xr - xb, yr - yb)
        return [(rest - left) * xl / left, (rest - left) * yl / left - k, (rest - right) * (xr - xb) / right, (rest - right) * (yr - yb) / right - k]

    def axle(q, t):
        (xl, yl, xr, yr), (xb, yb) = q, road(t)
        return [xb * xl + yb * yl, (xl - xr)**2 + (yl - yr)**2 - length**2]

    system = da.lagrangian_system(lambda q, qd, t: k * (qd @ qd) / 2, "xl yl xr yr", forces, "car axis")
    return system.constrained(Holonomic("axle", axle, "m^2"))


def test_the_car_axis_has_positions_and_multipliers_of_the_table():
    rows, columns = table("closed_loops", "car_axis")
    start = reference("closed_loops", "car_axis")["initial"]
    run = da.simulate(car_axis(), start["q"], start["v"], columns["t"], method="dop853", rtol=1e-11, atol=1e-13)
    found = np.hstack([run.q, run.qd, run.observables["multipliers"]])
    np.testing.assert_allclose(found, rows[:, 1:], rtol=1e-9, atol=1e-10)
    published = np.array(reference("closed_loops", "car_axis")["published"]["values"], float)
    np.testing.assert_allclose(found[-1], published, rtol=1e-9)      # they agree to 7e-10 with the table
    assert np.abs(run.observables["constraint_residual"]).max() < 1e-15
    assert np.abs(run.power_balance).max() < 1e-12                   # with the work of rows that move


def test_the_flexible_slider_crank_has_the_digits_that_are_certain():
    case = reference("ivp_test_set", "flexible_slider_crank")
    q, qd = np.split(np.array(case["initial"]["y"], float), 2)
    rod = 0.3 + q[6]      # the loop gives what nine digits leave open; elastic coordinates stay
    q[1:3] = 0, 0.15 + rod
    qd[1] = -0.15 * qd[0] / rod
    run = da.simulate(slider_crank(case["parameters"]), q, qd, [0, 0.1], method="dop853", rtol=1e-11, atol=1e-14)
    published = np.array(case["published"]["values"], float)
    np.testing.assert_allclose(run.q[-1], published[:7], rtol=4e-8)
    np.testing.assert_allclose(run.qd[-1], published[7:14], rtol=3e-7)
    np.testing.assert_allclose(run.observables["multipliers"][-1], -published[21:], rtol=1e-7)      # its sign is the other one
    assert np.abs(run.observables["constraint_residual"]).max() < 1e-14


def squeezer(p):
    """Andrews' squeezing mechanism in the angles of the IVP test set: seven bodies, six rows (Hairer, Wanner, section VII.7)."""
    sin, cos = da.sin, da.cos

    def lagrangian(q, qd, t):
        be, th, ga, ph, de, om, ep = q
        dbe, dth, dga, dph, dde, dom, dep = qd
        # each mass centre is a sum of arms: (length along, length across, angle, its rate)
        bodies = [("1", [(p["ra"], 0, be, dbe)], dbe),
                  ("2", [(p["rr"], 0, be, dbe), (-p["da"], 0, be + th, dbe + dth)], dbe + dth),
                  ("3", [(p["sb"], -p["sa"], ga, dga)], dga),
                  ("4", [(p["zt"], 0, de, dde), (0, -(p["e"] - p["ea"]), ph + de, dph + dde)], dph + dde),
                  ("5", [(p["ta"], p["tb"], de, dde)], dde),
                  ("6", [(0, -p["u"], ep, dep), (p["zf"] - p["fa"], 0, om + ep, dom + dep)], dom + dep),
                  ("7", [(-p["ub"], -p["ua"], ep, dep)], dep)]
        T = 0
        for number, arms, spin in bodies:
            vx = sum((-a * sin(angle) - b * cos(angle)) * rate for a, b, angle, rate in arms)
            vy = sum((a * cos(angle) - b * sin(angle)) * rate for a, b, angle, rate in arms)
            T = T + p["m" + number] * (vx * vx + vy * vy) / 2 + p["i" + number] * spin**2 / 2
        spring = da.hypot(p["sd"] * cos(ga) + p["sc"] * sin(ga) + p["xb"] - p["xc"], p["sd"] * sin(ga) - p["sc"] * cos(ga) + p["yb"] - p["yc"])
        return T - p["c0"] * (spring - p["l0"])**2 / 2

    def loops(q, t):
        be, th, ga, ph, de, om, ep = q
        x, y = p["rr"] * cos(be) - p["d"] * cos(be + th), p["rr"] * sin(be) - p["d"] * sin(be + th)
        return [x - p["ss"] * sin(ga) - p["xb"], y + p["ss"] * cos(ga) - p["yb"],
                x - p["e"] * sin(ph + de) - p["zt"] * cos(de) - p["xa"], y + p["e"] * cos(ph + de) - p["zt"] * sin(de) - p["ya"],
                x - p["zf"] * cos(om + ep) - p["u"] * sin(ep) - p["xa"], y - p["zf"] * sin(om + ep) + p["u"] * cos(ep) - p["ya"]]

    system = da.lagrangian_system(lagrangian, "be th ga ph de om ep", lambda q, qd, t: [p["mom"], 0, 0, 0, 0, 0, 0], "squeezer")
    return system.constrained(Holonomic("loops", loops, "m"))


def test_andrews_squeezer_has_angles_rates_and_multipliers_of_the_table():
    case = reference("closed_loops", "A03_andrews")
    rows, columns = table("closed_loops", "A03_andrews")
    system = squeezer({name: float(x) for name, x in case["parameters"].items()})
    start = [float(x) for x in case["initial"].values()]
    run = da.simulate(system, start, np.zeros(7), columns["t"], method="dop853", rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(run.q, rows[:, 1:8], atol=1e-9)
    np.testing.assert_allclose(run.qd, rows[:, 8:15], rtol=1e-8, atol=1e-5)      # of 1e3 rad/s
    multipliers = np.stack([columns[f"lam{k}"] for k in range(1, 7)], 1)
    np.testing.assert_allclose(run.observables["multipliers"], -multipliers, atol=1e-7)      # of 100 N; their sign is the other one
    assert np.abs(run.observables["constraint_residual"]).max() < 1e-15


@pytest.fixture(scope="module")
def rod():
    """A mass on a rod whose length is a parameter of the constraint alone, in a plane of parameters m, g."""
    with da.Graph():
        m, g, length = da.symbols("m g length")
        system = da.lagrangian_system(lambda q, qd, t: m * (qd @ qd) / 2 - m * g * q[1], "x y", name="rod")
        return system.constrained(Holonomic("rod", lambda q, t: [q @ q - length**2], "m^2"))


def test_parameters_of_functions_of_constraints_are_those_of_the_system(rod):
    assert rod.parameters == ("g", "length", "m")
    values = {"m": 1.3, "g": 9.81, "length": 0.7}
    q, qd, tau = [0.7 * np.sin(1), -0.7 * np.cos(1)], [0.7 * np.cos(1) * 2, 0.7 * np.sin(1) * 2], [0.0, 0.0]
    pull = 1.3 * (9.81 * np.cos(1) + 0.7 * 4)
    compiled = da.compile(rod, parameters=["length", "g", "m"])
    multiplier, = compiled.multipliers(q, qd, tau, parameters=[0.7, 9.81, 1.3])
    assert np.isclose(multiplier, -pull / 1.4, rtol=1e-13)
    assert np.allclose(compiled.constraint_residual(q, parameters=[0.6, 9.81, 1.3]), 0.49 - 0.36, rtol=1e-13)
    fixed = rod.replace(values)
    assert fixed.parameters == () and np.allclose(da.compile(fixed).multipliers(q, qd, tau), multiplier, rtol=1e-13)
    copy = pickle.loads(pickle.dumps(fixed))
    assert copy.identity() == fixed.identity() != rod.replace({**values, "length": 0.8}).identity()
    runs = [da.simulate(*start, parameters=given) for start, given in
            ((((fixed), q, [0, 0], 0.5), None), (((copy), q, [0, 0], 0.5), None), ((rod, q, [0, 0], 0.5), values))]
    for run in runs[1:]:
        np.testing.assert_allclose(run.q, runs[0].q, atol=1e-13)


def test_sweeps_vary_parameters_of_constraints(rod):
    lengths = [0.5, 0.8]
    samples = [{"length": length, "q": [length, 0.0]} for length in lengths]
    found = da.sweep(rod.replace({"m": 1, "g": 9.81}), samples, executor=lambda: ThreadPoolExecutor(1), qd=[0, 0], t=0.1, rtol=1e-12, atol=1e-12)
    for k, length in enumerate(lengths):
        pendulum = da.lagrangian_system(lambda q, qd, t, length=length: length**2 * qd[0]**2 / 2 + 9.81 * length * da.cos(q[0]), "angle")
        angle = da.simulate(pendulum, [np.pi / 2], [0], [0, 0.1], rtol=1e-12, atol=1e-12).q[-1, 0]
        np.testing.assert_allclose(found["q"][k], [length * np.sin(angle), -length * np.cos(angle)], atol=1e-11)


def test_a_pendulum_of_two_functions_is_one_of_one(rod):
    fixed = rod.replace({"m": 1, "g": 9.81, "length": 1})
    twice = fixed.constrained(Holonomic("wall", lambda q, t: [q[0] - 0.6]))
    assert [c.name for c in twice.constraints] == ["rod", "wall"] and twice.principles == ("chetaev", "chetaev")
    assert repr(twice) == "<LagrangianSystem 'rod' of x, y with rod, wall>"
    np.testing.assert_allclose(system_of(twice).forward_dynamics([0.6, -0.8], [0, 0], [0, 0]), 0, atol=1e-14)


def test_what_is_no_constraint_of_a_lagrangian_is_refused_by_name():
    free = da.lagrangian_system(lambda q, qd, t: qd @ qd / 2, "x y")
    pin = Closure("pin", da.Spherical(), "tip", "base")
    with pytest.raises(TypeError, match="expected da.constraints.Holonomic or Velocity: other kinds are about bodies of a mechanism"):
        free.constrained(pin)
    with pytest.raises(da.UnknownNameError, match="no constraint named 'wall'|unknown constraint 'wall'"):
        free.constrained(Holonomic("rod", lambda q, t: [q[0]]), principle={"wall": "servo"})
    with pytest.raises(da.UnknownNameError, match="principle"):
        free.constrained(Holonomic("rod", lambda q, t: [q[0]]), principle="hertz")
    with pytest.raises(da.DalembertError, match="two constraints of 'system' have the name 'rod'"):
        free.constrained(Holonomic("rod", lambda q, t: [q[0]]), Velocity("rod", lambda q, qd, t: [qd[0]]))
    with pytest.raises(ValueError, match="phi of constraint 'rod' has other values than its expressions: it branches on a value"):
        free.constrained(Holonomic("rod", lambda q, t: [3.0 if q[0] == 0 else q[0]]))
    with pytest.raises(TypeError, match=r"of constraint 'rod' takes \(q, t\), but is called as .* of constraint 'rod'\(q, qd, t\)"):
        free.constrained(Velocity("rod", lambda q, t: [q[0]]))
    with pytest.raises(da.ShapeError, match=r"of constraint 'rod' gives shape \(1, 2\), expected rows"):
        free.constrained(Holonomic("rod", lambda q, t: [q]))
    fast = da.lagrangian_system(lambda q, qd, t: -da.sqrt(1 - qd[0]**2), "x")
    with pytest.raises(da.DalembertError, match="is not quadratic in qd: it has no constraints, which need a mass matrix"):
        fast.constrained(Holonomic("rod", lambda q, t: [q[0]]))


def test_constraints_take_energy_only_where_they_move():
    run, _, _ = motion("chaplygin_sleigh")
    assert run.energy_drift < 1e-11
    _, columns = table("nonholonomic", "rolling_thin_disk")
    assert abs(system_of(coin()).energy([0, 0, 0, 1.2, 0], [1.6, 0, 0.5, 0.1, -8]) - 3.83794719238103336) < 1e-13
    assert da.simulate(sleigh(), [0, 0, 0], [0.1, 0, 2], 1.0).energy_drift < 1e-8
