"""Multipliers and reactions: physical units, one sign rule, the same however a loop is closed, scaled, signed or tilted."""

from dataclasses import replace

import numpy as np
import pytest
from test_constrained_mechanisms import PIN, START, tree

import dalembert as da
from dalembert import constraints as kinds
from dalembert.systems.kinds import system_of

TAU = np.array([0.7, -0.2, 0.4])
COUPLER, ROCKER = ("coupler", (1, 0, 0)), ("rocker", (0.8, 0, 0))
SAME = [da.Revolute((0, 0, 1)), da.Continuous((0, 0, -2)), da.Universal((0, 0, 1), (1, 0, 0)), da.Cylindrical((0, 0, 1))]


def start(mechanism):
    return system_of(mechanism).project(*START)


def turned(mechanism, R):
    """The mechanism with everything on the base, and gravity, turned by a rotation."""
    rotation = ((tuple(R[1]), R[0]),)

    def moved(origin):
        return da.Origin(rotations=rotation) * origin

    joints = tuple(replace(j, origin=moved(j.origin)) if j.parent == "base" else j for j in mechanism.joints)
    matrix = rotation_matrix(R)
    return replace(mechanism, joints=joints, gravity=tuple(matrix @ mechanism.gravity))


def rotation_matrix(R):
    angle, axis = R
    a = np.array(axis)
    cross = np.cross(np.eye(3), a)          # a x, as a matrix
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def force_in_plane(mechanism, q, qd):
    return da.reactions(mechanism, q, qd, TAU)["pin"][3:5]


@pytest.fixture(scope="module")
def four_bar():
    """A four-bar of `da.constraints.Closure`, a state, its accelerations and the force of the pin."""
    mechanism = tree().constrained(PIN)
    q, qd = start(mechanism)
    return mechanism, q, qd, system_of(mechanism).forward_dynamics(q, qd, TAU), force_in_plane(mechanism, q, qd)


@pytest.mark.parametrize("joint", SAME, ids=lambda joint: joint.name)
def test_a_planar_loop_moves_alike_however_it_is_closed(four_bar, joint):
    _, q, qd, qdd, force = four_bar
    other = tree().constrained(kinds.Closure("pin", joint, COUPLER, ROCKER))
    assert np.allclose(da.constraint_residual(other, q, qd), 0, atol=1e-14)
    assert np.allclose(system_of(other).forward_dynamics(q, qd, TAU), qdd, atol=1e-11)
    assert np.allclose(force_in_plane(other, q, qd), force, atol=1e-11)


def test_the_force_of_the_pin_is_newtons(four_bar):
    """Force on the rocker from its own balance of moments, and from that of crank and coupler together."""
    mechanism, q, qd, qdd, force = four_bar
    free = tree()
    rest = da.inverse_dynamics(free, q, qd, qdd) - TAU          # moments that the pin has about the joints
    place = da.placement(free.attach(da.Body("tip"), "rocker", origin=(0.8, 0, 0)), q, "tip")[:2, 3]
    arms = place - np.array([(0, 0), da.placement(free, q, "coupler")[:2, 3], (1, 0)])
    moments = arms[:, 0] * force[1] - arms[:, 1] * force[0]
    assert np.allclose(rest, moments * [-1, -1, 1], atol=1e-11)


def test_first_and_second_swapped_turns_the_reaction_round(four_bar):
    _, q, qd, qdd, force = four_bar
    swapped = tree().constrained(kinds.Closure("pin", da.Spherical(), ROCKER, COUPLER))
    assert np.allclose(system_of(swapped).forward_dynamics(q, qd, TAU), qdd, atol=1e-11)
    assert np.allclose(da.reactions(swapped, q, qd, TAU)["pin"][3:5], -force, atol=1e-11)


@pytest.mark.parametrize("scale", [-1.0, 1e-3, 40.0])
def test_scales_and_signs_do_not_change_forces(four_bar, scale):
    from test_constrained_mechanisms import gap

    mechanism, q, qd, qdd, _ = four_bar
    scaled = tree().constrained(kinds.Holonomic("gap", lambda q, t: [scale * x for x in gap(q, t)], "m"))
    J = da.constraint_jacobian(mechanism, q)
    assert np.allclose(system_of(scaled).forward_dynamics(q, qd, TAU), qdd, atol=1e-11)
    assert np.allclose(da.reactions(scaled, q, qd, TAU)["gap"], J.T @ da.multipliers(mechanism, q, qd, TAU), atol=1e-11)


def test_a_rod_in_place_of_the_rocker_carries_the_force_that_a_massless_rocker_does():
    """The same loop by distance: coupler's end at 0.8 m from the pivot, the rocker left out."""
    light = tree().replace({f"rocker.{n}": 1e-9 for n in ("mass", "inertia[0,0]", "inertia[2,2]", "inertia[1,1]")}).constrained(PIN)
    q, qd = start(light)
    short = replace(tree(), bodies=tree().bodies[:3], joints=tree().joints[:2])
    rod = short.constrained(kinds.Distance("rod", ("base", (1, 0, 0)), COUPLER, 0.8))
    tau = np.array([0.7, -0.2, 0])
    by_pin, by_rod = system_of(light).forward_dynamics(q, qd, tau), system_of(rod).forward_dynamics(q[:2], qd[:2], tau[:2])
    assert np.allclose(by_pin[:2], by_rod, atol=1e-6)
    wrench = da.reactions(rod, q[:2], qd[:2], tau[:2])["rod"]
    assert np.allclose(wrench[3:], -da.reactions(light, q, qd, tau)["pin"][3:], atol=1e-6) and not wrench[:3].any()
    multiplier = da.multipliers(rod, q[:2], qd[:2], tau[:2])
    assert np.isclose(abs(multiplier[0]), np.linalg.norm(wrench))


@pytest.mark.parametrize("joint", [da.Spherical(), da.Revolute((0, 0, 1)), da.Fixed()], ids=lambda joint: joint.name)
@pytest.mark.parametrize("seed", range(2))
def test_a_tilted_loop_has_the_same_motion_and_the_turned_force(four_bar, seed, joint):
    """Rows out of the plane repeat others; a weld is one where the rocker has a hinge at its end."""
    _, q, qd, qdd, force = four_bar
    rng = np.random.default_rng(seed)
    axis = rng.standard_normal(3)
    R = float(rng.uniform(0, 3)), tuple(axis / np.linalg.norm(axis))
    free, second, tau = tree(), ROCKER, TAU
    if joint.name == "fixed":
        hinge = da.Joint("c", da.Revolute((0, 0, 1)), "rocker", "end", da.Origin(ROCKER[1]))
        free = replace(free, bodies=(*free.bodies, da.Body("end", 0, inertia=(0, 0, 0, 0, 0, 1e-9))), joints=(*free.joints, hinge))
        second, tau = "end", [*TAU, 0]
        q, qd = ([*x, x[0] + x[1] - x[2]] for x in (q, qd))
    tilted = turned(free, R).constrained(kinds.Closure("pin", joint, COUPLER, second))
    assert np.abs(da.constraint_residual(tilted, q, qd)).max() < 1e-13
    assert np.allclose(system_of(tilted).forward_dynamics(q, qd, tau)[:3], qdd, atol=1e-6)
    wrench = da.reactions(tilted, q, qd, tau)["pin"]
    assert np.allclose(wrench, [0, 0, 0, *rotation_matrix(R)[:, :2] @ force], atol=1e-6)


def test_a_weld_carries_the_moment_of_a_cut_beam():
    """A bar that hangs on a hinge is welded to the base in its middle: force and moment of a cantilever of half its weight."""
    rod = da.Body("rod", 2.0, (0.5, 0, 0), (0.01, 0, 0.1, 0, 0, 0.1))
    tree = da.Mechanism("bar", (da.Body("base"), rod), (da.Joint("root", da.Free(), "base", "rod"),))
    welded = tree.constrained(kinds.Closure("weld", da.Fixed(), "base", "rod"))
    q, qd = welded.neutral(), np.zeros(6)
    assert np.allclose(da.reactions(welded, q, qd, np.zeros(6))["weld"], [0, -9.81, 0, 0, 0, 2 * 9.81])
    tilted = tree.constrained(kinds.Closure("weld", da.Fixed(), ("base", (0, 0, 1), (0.3, -0.2, 1.1)), "rod"))
    q, qd = system_of(tilted).project(q, qd)
    moment = np.cross(da.center_of_mass(tilted, q) - [0, 0, 1], [0, 0, 2 * 9.81])
    assert np.allclose(da.reactions(tilted, q, qd, np.zeros(6))["weld"], [*moment, 0, 0, 2 * 9.81], atol=1e-12)


def test_batches_are_stacks_of_single_states(four_bar):
    mechanism, q, qd, *_ = four_bar
    rng = np.random.default_rng(1)
    qs, qds, taus = q + 0.01 * rng.standard_normal((3, 3)), rng.standard_normal((3, 3)), rng.standard_normal((3, 3))
    states = list(zip(qs, qds, taus, strict=True))
    assert np.allclose(da.constraint_residual(mechanism, qs), [da.constraint_residual(mechanism, q) for q, *_ in states])
    assert np.allclose(da.constraint_residual(mechanism, qs, qds), [da.constraint_residual(mechanism, q, qd) for q, qd, _ in states])
    assert np.allclose(da.constraint_jacobian(mechanism, qs), [da.constraint_jacobian(mechanism, q) for q, *_ in states])
    assert np.allclose(da.multipliers(mechanism, qs, qds, taus), [da.multipliers(mechanism, *s) for s in states])
    pins = da.reactions(mechanism, qs, qds, taus)["pin"]
    assert pins.shape == (3, 6) and np.allclose(pins, [da.reactions(mechanism, *s)["pin"] for s in states])
    assert np.allclose(da.compile(mechanism).constraint_reactions(qs, qds, taus), pins)
    with pytest.raises(da.ShapeError, match="qd has shape"):
        da.reactions(mechanism, q, [1.0], TAU)
    with pytest.raises(da.DalembertError, match="has no constraints: mechanism.constrained"):
        da.reactions(tree(), q, qd, TAU)


def test_runs_record_reactions(four_bar):
    mechanism, q, qd, *_ = four_bar
    run = da.simulate(mechanism, q, qd, 0.05, h=0.01, method="dop853")
    found = run.observables["constraint_reactions"]
    assert run.system.recorded["constraint_reactions"].labels[:2] == ("pin.moment_x", "pin.moment_y")
    for k in (0, -1):
        assert np.allclose(found[k], da.reactions(mechanism, run.q[k], run.qd[k], np.zeros(3))["pin"], atol=1e-9)


def test_forces_that_are_not_along_rows_are_left_out_or_refused():
    swing = da.generators.Harmonic(frequency=2.0, amplitude=0.1)
    led = tree().constrained(PIN, kinds.Servo("swing", "a", swing, ["a"], frequency=5.0))
    q, qd = start(tree().constrained(PIN))
    assert list(da.reactions(led, q, qd, TAU)) == ["pin"]
    sled = da.Mechanism("sleigh", (da.Body("base"), da.Body("sled", 1.0, inertia=(1, 0, 1, 0, 0, 1))), (da.Joint("plane", da.Planar(), "base", "sled"),))
    by_states = sled.constrained(kinds.Knife("edge", "sled", (0, 1, 0)), principle="vakonomic")
    with pytest.raises(da.ConstraintError, match="depend on states that have no default \\(edge.mu\\)"):
        da.reactions(by_states, np.zeros(3), np.ones(3), np.zeros(3))
    driven = sled.constrained(kinds.Knife("edge", "sled", (0, 1, 0)), principle="servo")
    assert da.reactions(driven, np.zeros(3), np.zeros(3), np.zeros(3)) == {}
