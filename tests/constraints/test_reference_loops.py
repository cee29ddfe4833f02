"""Loops of the IFToMM library and the IVP test set as mechanisms, against solutions in quadruple precision."""

import numpy as np
import pytest

import dalembert as da
from dalembert import constraints as kinds
from dalembert.systems.kinds import system_of
from reference import DOWN_Y, reference, table

Z = da.Revolute((0, 0, 1))
PRECISE = {"method": "dop853", "rtol": 1e-11, "atol": 1e-13}


def disc(name, mass, com, inertia):
    """A body of a planar mechanism, with its moment of inertia about the centre of mass."""
    return da.Body(name, mass, (*com, 0), (inertia, 0, inertia, 0, 0, inertia))


def numbers(case):
    return {name: float(value) for name, value in reference("closed_loops", case)["parameters"].items()}


def squeezer():
    """Andrews' squeezing mechanism: seven bodies, three points where loops close."""
    p = type("Parameters", (), numbers("A03_andrews"))
    bodies = (da.Body("base"), disc("K1", p.m1, (p.ra, 0), p.i1), disc("K2", p.m2, (-p.da, 0), p.i2), disc("K3", p.m3, (p.sb, -p.sa), p.i3),
              disc("K5", p.m5, (p.ta, p.tb), p.i5), disc("K4", p.m4, (0, p.ea - p.e), p.i4), disc("K7", p.m7, (-p.ub, -p.ua), p.i7),
              disc("K6", p.m6, (p.zf - p.fa, 0), p.i6))
    joints = [da.Joint(name, Z, parent, child, da.Origin((*at, 0))) for name, parent, child, at in (
        ("be", "base", "K1", (0, 0)), ("th", "K1", "K2", (p.rr, 0)), ("ga", "base", "K3", (p.xb, p.yb)),
        ("de", "base", "K5", (p.xa, p.ya)), ("ph", "K5", "K4", (p.zt, 0)), ("ep", "base", "K7", (p.xa, p.ya)), ("om", "K7", "K6", (0, -p.u)))]
    point = ("K2", (-p.d, 0, 0))
    ends = {"K3": (0, -p.ss, 0), "K4": (0, -p.e, 0), "K6": (p.zf, 0, 0)}
    loops = [kinds.Closure(f"to {body}", da.Spherical(), point, (body, end)) for body, end in ends.items()]
    return da.Mechanism("squeezer", bodies, joints, gravity=(0, 0, 0)).constrained(*loops)


def squeezing(t, q, qd):
    """Moment of the motor, and the spring from D on K3 to C."""
    p = numbers("A03_andrews")
    c, s = da.cos(q[2]), da.sin(q[2])
    arm = p["sd"] * c + p["sc"] * s, p["sd"] * s - p["sc"] * c
    r = p["xb"] + arm[0] - p["xc"], p["yb"] + arm[1] - p["yc"]
    length = da.sqrt(r[0] * r[0] + r[1] * r[1])
    pull = -p["c0"] * (length - p["l0"]) / length
    return [p["mom"], 0, pull * (arm[0] * r[1] - arm[1] * r[0]), 0, 0, 0, 0]


def test_the_squeezer_moves_as_its_reference():
    """Angles to 1e-9, and the forces of the pins: its multipliers are those of the test set with the other sign."""
    mechanism = squeezer()
    order = mechanism.coordinate_names
    rows, columns = table("closed_loops", "A03_andrews")
    times = rows[:7, 0]
    q = np.array([float(reference("closed_loops", "A03_andrews")["initial"][name]) for name in order])
    assert np.abs(da.constraint_residual(mechanism, q)).max() < 1e-15
    run = da.simulate(mechanism, q, np.zeros(7), times, forces=squeezing, **PRECISE)
    assert np.abs(run.q - np.stack([columns[name] for name in order], 1)[:7]).max() < 1e-8
    for k in (0, 3):
        state = [[columns[f"{dots}{name}"][k] for name in order] for dots in ("", "d_")]
        tau = [float(x) for x in squeezing(0, *state)]
        found = da.multipliers(mechanism, *state, tau).reshape(3, 3)[:, :2].ravel()
        known = [columns[f"lam{j}"][k] for j in range(1, 7)]
        assert np.allclose(np.abs(found), np.abs(known), rtol=1e-7, atol=1e-6)
        qdd = system_of(mechanism).forward_dynamics(*state, tau)
        assert np.allclose(qdd, [columns[f"dd_{name}"][k] for name in order], rtol=1e-8, atol=1e-6)


@pytest.mark.parametrize("closure", ["rod", "point on circle", "function"])
def test_a_point_on_a_rod_is_the_pendulum(closure):
    """IFToMM A01: a point mass on two slides, held at the distance 1 from the origin."""
    slides = da.Joint("x", da.Prismatic((1, 0, 0)), "base", "carriage"), da.Joint("y", da.Prismatic((0, 1, 0)), "carriage", "mass")
    tree = da.Mechanism("point", (da.Body("base"), da.Body("carriage"), da.Body("mass", 1)), slides, gravity=DOWN_Y)
    held = {"rod": kinds.Distance("rod", "base", "mass", 1), "point on circle": kinds.PointContact("rod", "mass", lambda p: p[0]**2 + p[1]**2 - 1),
            "function": kinds.Holonomic("rod", lambda q, t: [q[0]**2 + q[1]**2 - 1], "m^2")}[closure]
    pendulum = tree.constrained(held)
    rows, columns = table("pendulums", "A01_simple_pendulum")
    run = da.simulate(pendulum, [-1, 0], [0, 0], columns["t"], **PRECISE)
    assert np.abs(np.concatenate([run.q, run.qd], 1) - rows[:, 1:]).max() < 1e-8
    force = da.reactions(pendulum, run.q[1], run.qd[1], np.zeros(2))["rod"]
    pull = run.qd[1] @ run.qd[1] - 9.81 * run.q[1, 1]                     # m v^2 / L + m g cos
    inward = force[3:5] if len(force) == 6 else force
    assert np.allclose(inward, -pull * run.q[1], atol=1e-7)


def test_the_four_bar_moves_as_its_reference():
    lengths = {"crank": 0.4, "coupler": 1.0, "rocker": 0.8}
    bodies = [disc(name, length, (length / 2, 0), length**3 / 12) for name, length in lengths.items()]
    joints = (da.Joint("a", Z, "base", "crank"), da.Joint("b", Z, "crank", "coupler", da.Origin((0.4, 0, 0))),
              da.Joint("d", Z, "base", "rocker", da.Origin((1, 0, 0))))
    pin = kinds.Closure("pin", da.Revolute((0, 0, 1)), ("coupler", (1, 0, 0)), ("rocker", (0.8, 0, 0)))
    mechanism = da.Mechanism("four-bar", (da.Body("base"), *bodies), joints, gravity=DOWN_Y).constrained(pin)
    rows, columns = table("closed_loops", "four_bar")
    angles, rates = rows[0, 1:4], rows[0, 4:7]
    run = da.simulate(mechanism, *([x[0], x[1] - x[0], x[2]] for x in (angles, rates)), columns["t"], **PRECISE)
    for found, known in ((run.q, rows[:, 1:4]), (run.qd, rows[:, 4:7])):
        absolute = np.stack([found[:, 0], found[:, 0] + found[:, 1], found[:, 2]], 1)
        assert np.abs(absolute - known).max() < 1e-7
    assert run.energy_drift < 1e-9


def governor():
    """IFToMM A05: a shaft, two rods with point masses, a slider on the shaft."""
    rod = 3000 * 0.01 * 0.01
    across, axial = rod * (1 + 0.01**2) / 12, rod * 0.01**2 / 6
    slider = 3000 * 0.1**3
    com = (rod * 0.5 + 5) / (rod + 5)
    about = across + rod * (com - 0.5)**2 + 5 * (1 - com)**2
    bodies = [da.Body("base"), da.Body("shaft", rod, (0, 0, 0.5), (across, 0, across, 0, 0, axial)),
              da.Body("slider", slider, inertia=(slider * 0.1**2 / 6, 0, slider * 0.1**2 / 6, 0, 0, slider * 0.1**2 / 6))]
    joints = [da.Joint("phi", Z, "base", "shaft"), da.Joint("s", da.Prismatic((0, 0, 1)), "shaft", "slider")]
    for k, side in ((1, 1), (2, -1)):
        bodies.append(da.Body(f"rod{k}", rod + 5, (side * com, 0, 0), (axial, 0, about, 0, 0, about)))
        joints.append(da.Joint(f"beta{k}", da.Revolute((0, side, 0)), "shaft", f"rod{k}", da.Origin((side * 0.05, 0, 1))))
    return da.Mechanism("governor", bodies, joints)


def springs(t, q, qd):
    """Spring-dampers from the slider to the middles of the rods."""
    total, on_rods = 0, []
    for beta, rate in zip(q[2:], qd[2:], strict=True):
        c, s = da.cos(beta), da.sin(beta)
        x, z = 0.5 * c, 1 - 0.5 * s - q[1]
        length = da.sqrt(x * x + z * z)
        dx, dz = -0.5 * s, -0.5 * c
        speed = (x * dx * rate + z * (dz * rate - qd[1])) / length
        force = 800000.0 * (length - 0.5) + 40000.0 * speed
        total = total + force * z / length
        on_rods.append(-force * (x * dx + z * dz) / length)
    return [0, total, *on_rods]


@pytest.mark.parametrize("case", ["A05_flyball_governor", "A05_flyball_governor_slow"])
def test_the_flyball_governor_moves_as_its_reference(case):
    rows, columns = table("closed_loops", case)
    times = rows[:3, 0]
    run = da.simulate(governor(), rows[0, 1:5], rows[0, 5:], times, forces=springs, **PRECISE)
    assert np.abs(run.q - rows[:3, 1:5]).max() < 1e-8 and np.abs(run.qd - rows[:3, 5:]).max() < 1e-6


CROSS = da.Universal((1, 0, 0), (0, 0, 1))


def slider_crank(cut):
    """The spatial slider-crank, cut at the ball between crank and rod, or at the cross between rod and slider, and its start."""
    crank, slider = da.Body("crank", 0.12, (0, 0, 0.04), (1e-4, 0, 1e-4, 0, 0, 1e-5)), da.Body("slider", 2)
    rod = da.Body("rod", 0.5, (-0.15 if cut == "ball" else 0.15, 0, 0), (4e-4, 0, 4e-3, 0, 0, 4e-3))
    turns = da.Joint("theta", da.Revolute((1, 0, 0)), "base", "crank", da.Origin((0, 0.1, 0.12)))
    slides = da.Joint("x", da.Prismatic((1, 0, 0)), "base", "slider")
    _, columns = table("closed_loops", "spatial_slider_crank")
    x, theta, alpha, beta = (columns[name][0] for name in ("x", "theta", "alpha", "beta"))
    dx, dtheta, dalpha, dbeta = (columns[f"{name}_dot"][0] for name in ("x", "theta", "alpha", "beta"))
    if cut == "ball":
        joint = da.Joint("cross", CROSS, "slider", "rod")
        closure = kinds.Closure("ball", da.Spherical(), ("crank", (0, 0, 0.08)), ("rod", (-0.3, 0, 0)))
        state = [x, theta, alpha, beta], [dx, dtheta, dalpha, dbeta]
    else:
        joint = da.Joint("ball", da.Spherical(), "crank", "rod", da.Origin((0, 0, 0.08)))
        closure = kinds.Closure("cross", CROSS, "slider", ("rod", (0.3, 0, 0)))
        (c, s), (cb, sb) = ((np.cos(angle / 2), np.sin(angle / 2)) for angle in (alpha - theta, beta))
        spin = dalpha - dtheta
        state = [x, theta, c * cb, s * cb, -s * sb, c * sb], [dx, dtheta, spin * np.cos(beta), -spin * np.sin(beta), dbeta]
    tree = da.Mechanism(f"cut at the {cut}", (da.Body("base"), slider, crank, rod), (slides, turns, joint))
    return tree.constrained(closure), state


@pytest.mark.parametrize("cut", ["ball", "cross"])
def test_the_spatial_slider_crank_moves_as_its_reference_wherever_it_is_cut(cut):
    mechanism, state = slider_crank(cut)
    assert np.abs(da.constraint_residual(mechanism, *state)).max() < 1e-15
    rows, columns = table("closed_loops", "spatial_slider_crank")
    run = da.simulate(mechanism, *state, rows[:6, 0], **PRECISE)
    assert np.abs(run.q[:, :2] - np.stack([columns["x"], columns["theta"]], 1)[:6]).max() < 1e-8


def test_a_joint_carries_the_same_wrench_in_the_tree_and_as_a_cut():
    """Force of the ball on the rod, from its balance of forces where the cross is cut."""
    (by_ball, one), (by_cross, other) = slider_crank("ball"), slider_crank("cross")
    tau = np.zeros(4), np.zeros(5)
    ball = da.reactions(by_ball, *one, tau[0])["ball"]
    cross = da.reactions(by_cross, *other, tau[1])["cross"]
    assert not ball[:3].any()
    weight = np.array([0, 0, -9.81 * 0.5])
    run = da.simulate(by_ball, *one, [0, 1e-4, 2e-4], **PRECISE)
    com = [da.placement(by_ball.attach(da.Body("com"), "rod", origin=(-0.15, 0, 0)), q, "com")[:3, 3] for q in run.q]
    inertia = 0.5 * (com[2] - 2 * com[1] + com[0]) / 1e-8
    assert np.allclose(ball[3:] + cross[3:] + weight, inertia, atol=2e-3)


@pytest.mark.parametrize("rtol", [1e-8, 1e-10])
@pytest.mark.parametrize("turn", [da.Origin(), da.Origin(rotations=(((1 / 3, 2 / 3, 2 / 3), 1.9),))], ids=["upright", "turned"])
@pytest.mark.parametrize("base_is", ["first", "second"])
def test_the_bricard_mechanism_moves_as_its_reference(base_is, turn, rtol):
    """IFToMM A04: six hinges at right angles hold five rods; one row follows from others on the constraints, and nowhere else."""
    X, Y = da.Revolute((1, 0, 0)), da.Revolute((0, 1, 0))
    along, across = 0.1**2 / 6, (1 + 0.1**2) / 12
    tree = [("a", Y, "base", (0, 0, 0), (1, 0, 0)), ("b", Z, "r1", (1, 0, 0), (0, -1, 0)), ("c", X, "r2", (0, -1, 0), (0, 0, 1)),
            ("d", Y, "r3", (0, 0, 1), (-1, 0, 0)), ("e", Z, "r4", (-1, 0, 0), (0, 1, 0))]
    bodies, joints = [da.Body("base")], []
    for k, (name, joint, parent, at, direction) in enumerate(tree, 1):
        moments = [along if x else across for x in direction]
        bodies.append(da.Body(f"r{k}", 1, tuple(x / 2 for x in direction), (moments[0], 0, moments[1], 0, 0, moments[2])))
        joints.append(da.Joint(name, joint, parent, f"r{k}", turn * da.Origin(at) if parent == "base" else da.Origin(at)))
    ends = [("base", turn * da.Origin((0, 0, 1))), ("r5", (0, 1, 0))]
    closure = kinds.Closure("f", X, *(ends if base_is == "first" else reversed(ends)))
    gravity = tuple(np.array(turn.transform(float).R.matrix()) @ DOWN_Y)
    mechanism = da.Mechanism("bricard", bodies, joints, gravity=gravity).constrained(closure)
    assert np.abs(da.constraint_residual(mechanism, np.zeros(5))).max() < 1e-15
    rows, columns = table("closed_loops", "A04_bricard")
    run = da.simulate(mechanism, np.zeros(5), np.zeros(5), rows[:, 0], method="dop853", rtol=rtol, atol=rtol / 100)
    assert np.abs(run.q[:, 0] - columns["a"]).max() < 100 * rtol
