"""Knife edges, discs and ellipsoids as constraints of mechanisms, against references in quadruple precision and closed forms."""

import numpy as np
import pytest

import dalembert as da
from dalembert import constraints as kinds
from dalembert.systems.kinds import system_of
from reference import table

FLAT = (0, 0, 0), (0, 0, 1)
WHEEL = (0, 0, 0), (np.pi / 2, 0, 0)                 # the disc's axis is y of the carriage
PRECISE = {"method": "dop853", "rtol": 1e-11, "atol": 1e-13}


def on_plane(name, *bodies, joints=(), gravity=(0, 0, -9.81)):
    """A first body that moves in the plane, q = (angle, x, y, ...), and what hangs on it."""
    first = da.Joint("plane", da.Planar((0, 0, 1)), "base", bodies[0].name)
    return da.Mechanism(name, (da.Body("base"), *bodies), (first, *joints), gravity=gravity)


def flat(name, mass, inertia, com=(0, 0, 0)):
    return da.Body(name, mass, com, (inertia, 0, inertia, 0, 0, inertia))


def moved(mechanism, q, qd, times, **options):
    run = da.simulate(mechanism, q, qd, times, **{**PRECISE, **options})
    assert np.abs(run.observables["constraint_velocity"]).max() < 1e-12
    return run


def test_a_knife_edge_on_an_incline_cycles():
    pull = 9.81 * np.sin(np.pi / 6)
    skate = on_plane("skate", flat("blade", 1, 0.1), gravity=(pull, 0, -8)).constrained(kinds.Knife("edge", "blade", (0, 1, 0)))
    rows, columns = table("nonholonomic", "knife_edge_incline")
    run = moved(skate, [0, 0, 0], [2, 0, 0], columns["t"])
    assert np.abs(run.q - rows[:, [3, 1, 2]]).max() < 1e-9
    wrench = da.reactions(skate, run.q[3], run.qd[3], np.zeros(3))["edge"]
    angle, turn, speed = run.q[3, 0], run.qd[3, 0], np.hypot(*run.qd[3, 1:]) * np.sign(np.sin(2 * columns["t"][3]))
    across = np.array([-np.sin(angle), np.cos(angle), 0])
    assert np.allclose(wrench, [0, 0, 0, *(across * (speed * turn + pull * np.sin(angle)))], atol=1e-8)


@pytest.mark.parametrize("axis", [(0, 1, 0), (0, -3, 0)])
def test_the_sleigh_turns_as_its_reference(axis):
    sleigh = on_plane("sleigh", flat("sleigh", 1, 0.5, (0.3, 0, 0))).constrained(kinds.Knife("edge", "sleigh", axis))
    rows, columns = table("nonholonomic", "chaplygin_sleigh")
    run = moved(sleigh, [0, 0, 0], [2, 0.1, 0], columns["t"])
    assert np.abs(run.q - rows[:, [3, 1, 2]]).max() < 1e-8 and run.energy_drift < 1e-9


def disc(radius, mass, axial, diametral):
    return da.Body("disc", mass, inertia=(diametral, 0, diametral, 0, 0, axial))


def test_an_upright_disc_rolls_in_a_circle():
    """A carriage holds the disc upright; the row of its height is empty."""
    R = 0.5
    wheel = da.Body("wheel", 1, inertia=(R**2 / 4, 0, R**2 / 2, 0, 0, R**2 / 4))
    axle = da.Joint("axle", da.Revolute((0, 1, 0)), "carriage", "wheel", da.Origin((0, 0, R)))
    upright = on_plane("upright", da.Body("carriage"), wheel, joints=[axle]).constrained(kinds.Rolling("rolling", ("wheel", *WHEEL), R, FLAT))
    J = da.constraint_jacobian(upright, [0.3, 1, 2, 0.4])
    assert not J[0].any() and np.linalg.matrix_rank(J) == 2
    t = np.linspace(0, 4, 5)
    run = moved(upright, [0, 0, 0, 0], [0.7, 3 * R, 0, 3], t)
    radius = 3 * R / 0.7
    known = [0.7 * t, radius * np.sin(0.7 * t), radius * (1 - np.cos(0.7 * t))]
    assert np.abs(run.q[:, :3] - np.stack(known, 1)).max() < 1e-9


def coin_state(row, r):
    """q and qd of a free disc: contact, yaw, inclination theta, turn psi, with their rates."""
    x, y, yaw, theta, psi, dyaw, dtheta, dpsi = row
    e, n = np.array([np.cos(yaw), np.sin(yaw), 0]), np.array([-np.sin(yaw), np.cos(yaw), 0])
    u = -np.cos(theta) * n + np.sin(theta) * np.array([0, 0, 1])
    k = np.cross(e, u)
    R = np.stack([e * np.cos(psi) + u * np.sin(psi), u * np.cos(psi) - e * np.sin(psi), k], 1)
    omega = -dtheta * e + dyaw * np.sin(theta) * u + (dpsi - dyaw * np.cos(theta)) * k
    center = np.array([x, y, 0]) + r * u
    from dalembert.spatial.rotations import quaternion_of

    return np.array([*quaternion_of(R), *center]), np.array([*(R.T @ omega), *(R.T @ np.cross(omega, r * u))])


def test_a_coin_rolls_and_wobbles_as_its_reference():
    """A free body with one constraint: height and no slip."""
    r = 0.2
    coin = da.Mechanism("coin", (da.Body("base"), disc(r, 1, 0.02, 0.01)), (da.Joint("free", da.Free(), "base", "disc"),))
    coin = coin.constrained(kinds.Rolling("rolling", "disc", r, FLAT))
    rows, columns = table("nonholonomic", "rolling_thin_disk")
    q, qd = coin_state(rows[0, 1:], r)
    assert np.abs(da.constraint_residual(coin, q, qd)).max() < 1e-14
    run = moved(coin, q, qd, columns["t"][:9])
    known = [coin_state(row[1:], r) for row in rows[:9]]
    assert np.abs(run.q[:, 4:] - [q[4:] for q, _ in known]).max() < 1e-8
    assert np.abs(run.qd - [qd for _, qd in known]).max() < 1e-6
    assert np.abs(np.abs(np.sum(run.q[:, :4] * [q[:4] for q, _ in known], axis=1)) - 1).max() < 1e-12
    assert run.energy_drift < 1e-9 and np.abs(run.observables["constraint_residual"]).max() < 1e-14


def test_the_force_on_a_coin_is_newtons():
    """Force and moment at the centre, from the accelerations alone."""
    r = 0.2
    coin = da.Mechanism("coin", (da.Body("base"), disc(r, 1, 0.02, 0.01)), (da.Joint("free", da.Free(), "base", "disc"),))
    rolling = coin.constrained(kinds.Rolling("rolling", "disc", r, FLAT))
    q, qd = coin_state(table("nonholonomic", "rolling_thin_disk")[0][0, 1:], r)
    qdd = system_of(rolling).forward_dynamics(q, qd, np.zeros(6))
    R = da.placement(coin, q, "disc")[:3, :3]
    wrench = da.inverse_dynamics(coin, q, qd, qdd)
    found = da.reactions(rolling, q, qd, np.zeros(6))["rolling"]
    assert np.allclose(found, [*(R @ wrench[:3]), *(R @ wrench[3:])], atol=1e-12)
    multipliers = da.multipliers(rolling, q, qd, np.zeros(6))
    assert np.allclose(multipliers, [found[5], *found[3:5]], atol=1e-12) and multipliers[0] > 0


def steered(name, sign):
    return da.Joint(name, da.Revolute((0, 0, 1)), "board", name, da.Origin((sign * 0.2, 0, 0)))


def test_the_snakeboard_moves_as_its_reference():
    """Knife edges on two axles; a coupling turns them against each other."""
    tree = on_plane("snakeboard", flat("board", 6, 0.016), flat("rotor", 0, 0.072), flat("front", 0, 0.0013), flat("back", 0, 0.0013),
                    joints=[da.Joint("psi", da.Revolute((0, 0, 1)), "board", "rotor"), steered("front", 1), steered("back", -1)])
    board = tree.constrained(kinds.Knife("front edge", "front", (0, 1, 0)), kinds.Knife("back edge", "back", (0, 1, 0)),
                             kinds.Coupling("steering", {"front": 1, "back": 1}))
    rows, columns = table("nonholonomic", "snakeboard")
    turn = 0.2 * np.tan(0.3) / 0.2

    def forces(t, q, qd):
        return [0, 0, 0, 0.3 * da.cos(3 * t), 0.004 * da.cos(3 * t + 0.5), 0]

    run = moved(board, [0, 0, 0, 0, 0.3, -0.3], [turn, 0.2, 0, 0, 0, 0], columns["t"][:9], forces=forces)
    known = np.stack([columns[name][:9] for name in ("theta", "x", "y", "psi", "phi")], 1)
    assert np.abs(run.q[:, :5] - known).max() < 1e-8


def test_the_roller_racer_moves_as_its_reference():
    links = flat("first", 1, 0.1), flat("second", 0, 0.01)
    racer = on_plane("racer", *links, joints=[da.Joint("alpha", da.Revolute((0, 0, 1)), "first", "second", da.Origin((0.5, 0, 0)))])
    racer = racer.constrained(kinds.Knife("rear", "first", (0, 1, 0)), kinds.Knife("front", ("second", (0.2, 0, 0)), (0, 1, 0)))
    rows, columns = table("nonholonomic", "roller_racer")
    turn = 0.1 * np.sin(0.4) / (0.5 * np.cos(0.4) + 0.2)

    def forces(t, q, qd):
        return [0, 0, 0, 0.05 * da.cos(4 * t) - 0.3 * q[3]]

    run = moved(racer, [0, 0, 0, 0.4], [turn, 0.1, 0, 0], columns["t"][:9], forces=forces)
    assert np.abs(run.q - np.stack([columns[name][:9] for name in ("theta", "x", "y", "alpha")], 1)).max() < 1e-8


@pytest.mark.parametrize("right", ["coupled", "rolls"])
def test_the_differential_drive_moves_as_its_reference(right):
    """One wheel rolls; the other turns as the cart does, by a coupling, or rolls too and holds the sideways velocity again."""
    b, r = 0.25, 0.1
    cart = da.Body("cart", 10, (0.15, 0, 0), (0.6, 0, 0.6, 0, 0, 0.6))
    wheels = [da.Body(name, 0, inertia=(0, 0, 0.02, 0, 0, 0)) for name in ("left", "right")]
    axles = [da.Joint(name, da.Revolute((0, 1, 0)), "cart", name, da.Origin((0, side * b, r))) for name, side in (("left", 1), ("right", -1))]
    tree = on_plane("cart", cart, *wheels, joints=axles)
    other = {"coupled": kinds.Coupling("right rolling", {"right": r, "left": -r, "plane.angle": -2 * b}),
             "rolls": kinds.Rolling("right rolling", ("right", *WHEEL), r, FLAT)}[right]
    drive = tree.constrained(kinds.Rolling("left rolling", ("left", *WHEEL), r, FLAT), other)
    rows, columns = table("nonholonomic", "differential_drive")

    def forces(t, q, qd):
        return [0, 0, 0, 0.4 * da.cos(t), 0.5 + 0 * t]

    run = moved(drive, np.zeros(5), np.zeros(5), columns["t"][:9], forces=forces)
    assert np.abs(run.q - np.stack([columns[name][:9] for name in ("theta", "x", "y", "phi_left", "phi_right")], 1)).max() < 1e-8


# --- surfaces ---------------------------------------------------------------------------------------------------------------


def ball(radius, mass=1.0):
    inertia = 0.4 * mass * radius**2
    body = da.Body("ball", mass, inertia=(inertia, 0, inertia, 0, 0, inertia))
    return da.Mechanism("ball", (da.Body("base"), body), (da.Joint("free", da.Free(), "base", "ball"),))


def test_a_ball_rolls_down_an_incline_with_five_sevenths_of_gravity():
    slope = np.array([-np.sin(0.3), 0, np.cos(0.3)])
    rolling = ball(0.1).constrained(kinds.Rolling("rolling", "ball", (0.1, 0.1, 0.1), ((0, 0, 0), tuple(slope))))
    q = np.array([1, 0, 0, 0, *(0.1 * slope)])
    qdd = system_of(rolling).forward_dynamics(q, np.zeros(6), np.zeros(6))
    down = np.array([-np.cos(0.3), 0, -np.sin(0.3)])
    assert np.allclose(qdd[3:], 5 / 7 * 9.81 * np.sin(0.3) * down) and np.allclose(np.cross(qdd[:3], 0.1 * slope), qdd[3:])


@pytest.mark.parametrize("bowl", [lambda p: 1 - p[0]**2 - p[1]**2 - p[2]**2, lambda p: da.exp(1 - da.sqrt(p[0]**2 + p[1]**2 + p[2]**2)) - 1])
def test_a_ball_in_a_bowl_is_a_pendulum(bowl):
    """In a vertical plane, without slip: the centre moves on a circle of R - r with 5/7 of gravity."""
    r = 0.2
    rolling = ball(r).constrained(kinds.Rolling("rolling", "ball", (r, r, r), bowl))
    angle, t = 0.9, np.linspace(0, 1, 3)
    run = moved(rolling, [1, 0, 0, 0, 0.8 * np.sin(angle), 0, -0.8 * np.cos(angle)], np.zeros(6), t)
    pendulum = da.Mechanism("pendulum", (da.Body("base"), da.Body("point", 1, (0, 0, -0.8))), (da.Joint("a", da.Revolute((0, -1, 0)), "base", "point"),),
                            gravity=(0, 0, -9.81 * 5 / 7))
    known = da.simulate(pendulum, [angle], [0], t, **PRECISE).q[:, 0]
    assert np.abs(run.q[:, 4] - 0.8 * np.sin(known)).max() < 1e-8 and np.abs(run.q[:, 5]).max() < 1e-12


def test_a_disc_on_a_cylinder_is_a_disc_on_a_plane_where_the_cylinder_is_straight():
    body = disc(0.2, 1, 0.02, 0.01)
    free = da.Mechanism("disc", (da.Body("base"), body), (da.Joint("free", da.Free(), "base", "disc"),))
    half = np.sqrt(0.5)
    q, qd = np.array([half, half, 0, 0, 0.3, 0, 0.2]), np.array([0, 0, -5.0, 1.0, 0, 0])
    flat_disc, pipe = (free.constrained(kinds.Rolling("rolling", "disc", 0.2, s)) for s in (FLAT, lambda p: 1 - p[1]**2 - (p[2] - 1)**2))
    for mechanism in (flat_disc, pipe):
        assert np.abs(da.constraint_residual(mechanism, q, qd)).max() < 1e-14
    one, other = (system_of(m).forward_dynamics(q, qd, np.zeros(6)) for m in (flat_disc, pipe))
    assert np.allclose(one, other, atol=1e-12)


def test_a_point_slides_on_a_bowl_as_a_spherical_pendulum():
    point = da.Mechanism("point", (da.Body("base"), da.Body("point", 1, inertia=(1, 0, 1, 0, 0, 1))), (da.Joint("free", da.Free(), "base", "point"),))
    bowl = point.constrained(kinds.PointContact("bowl", "point", lambda p: 1 - da.sqrt(p[0]**2 + p[1]**2 + p[2]**2)))
    q, qd = np.array([1, 0, 0, 0, 0.6, 0, -0.8]), np.array([0, 0, 0, 0, 1.5, 0])
    t = np.linspace(0, 2, 5)
    run = moved(bowl, q, qd, t)
    assert run.energy_drift < 1e-10
    momentum = run.q[:, 4] * run.qd[:, 4] - run.q[:, 5] * run.qd[:, 3]
    assert np.abs(momentum - 0.9).max() < 1e-9
    force = da.reactions(bowl, run.q[2], run.qd[2], np.zeros(6))["bowl"]
    at, v = run.q[2, 4:], run.qd[2, 3:]
    assert np.allclose(force, [0, 0, 0, *(-at * (v @ v - 9.81 * at[2]))], atol=1e-8)


# --- the rattleback ---------------------------------------------------------------------------------------------------------


def rattleback(skew=0.0):
    """An ellipsoid with its mass centre below its own, and principal axes turned by an angle about the vertical."""
    c, s = np.cos(skew), np.sin(skew)
    Ix, Iy, Iz = 0.0002, 0.0016, 0.0017
    tensor = (c * c * Ix + s * s * Iy, c * s * (Ix - Iy), s * s * Ix + c * c * Iy, 0, 0, Iz)
    stone = da.Body("stone", 1, (0, 0, -0.01), tensor)
    free = da.Mechanism("rattleback", (da.Body("base"), stone), (da.Joint("free", da.Free(), "base", "stone"),))
    return free.constrained(kinds.Rolling("rolling", "stone", (0.2, 0.03, 0.02), FLAT))


def test_a_rattleback_turns_round_in_one_sense_only():
    """Spun against its sense it stops, rocks and turns the other way; spun in its sense it goes on."""
    ends = {}
    for spin in (5.0, -5.0):
        stone = rattleback(0.03)
        q, qd = system_of(stone).project([1, 0, 0, 0, 0, 0, 0.02], [0.01, 0.02, spin, 0, 0, 0])
        run = da.simulate(stone, q, qd, [0, 2, 4], method="dop853", rtol=1e-9, atol=1e-11)
        assert run.energy_drift < 1e-7
        ends[spin] = run.qd[-1, 2]
    assert abs(ends[5.0] - 5) < 0.01 and ends[-5.0] > 3
