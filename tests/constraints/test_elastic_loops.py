"""Closed loops with elastic links: places of constraints move with the cross-sections."""

import numpy as np
import pytest

import dalembert as da


def four_bar(stiffness=1.0, modes=None):
    beam = da.Beam(1.0, EIz=20.0 * stiffness, mass_per_length=0.5)
    bodies = [da.Body("base"), da.Body("crank", 1.0, (0.1, 0, 0), (0, 0, 0.01, 0, 0, 0.01)),
              *(da.Body(name, beam=beam, modes={"bend_y": 2} if modes is None else modes) for name in ("coupler", "rocker"))]
    z = da.Revolute((0, 0, 1))
    joints = [da.Joint("q1", z, "base", "crank"), da.Joint("q2", z, "crank", "coupler", da.Origin((0.3, 0, 0))), da.Joint("q3", z, "base", "rocker", da.Origin((0.9, 0, 0)))]
    tree = da.Mechanism("four-bar", bodies, joints, gravity=(0, -9.81, 0))
    return tree.constrained(da.constraints.Closure("pin", z, ("coupler", (1.0, 0, 0)), ("rocker", (1.0, 0, 0))))


def start(loop):
    return da.assemble(loop, [0.5, 0.5, 1.2] + [0.0] * (loop.nq - 3), fixed=["q1"])


def test_the_loop_stays_closed_at_the_bent_ends_and_keeps_its_energy():
    loop = four_bar()
    run = da.simulate(loop, start(loop), np.zeros(loop.nv), 0.5)
    assert run.residual.max() < 1e-12 and run.energy_drift < 1e-8
    tips = da.Mechanism("tree", loop.bodies, loop.joints, [da.Frame("a", "coupler", da.Origin((1, 0, 0))), da.Frame("b", "rocker", da.Origin((1, 0, 0)))])
    np.testing.assert_allclose(da.placement(tips, run.q, "a")[:, :3, 3], da.placement(tips, run.q, "b")[:, :3, 3], atol=1e-12)
    assert abs(run.q[:, 3:]).max() > 1e-3      # it does bend


def test_frames_at_the_ends_close_the_same_loop():
    z = da.Revolute((0, 0, 1))
    loop = four_bar()
    frames = [da.Frame(name, body, da.Origin((1.0, 0, 0))) for name, body in (("a", "coupler"), ("b", "rocker"))]
    named = da.Mechanism("four-bar", loop.bodies, loop.joints, frames, gravity=(0, -9.81, 0)).constrained(da.constraints.Closure("pin", z, "a", "b"))
    q = start(loop)
    qd, tau = np.zeros(loop.nv), np.zeros(loop.nv)
    np.testing.assert_allclose(da.forward_dynamics(named, q, qd, tau), da.forward_dynamics(loop, q, qd, tau), rtol=1e-9, atol=1e-9)


def test_stiff_links_move_as_rigid_ones():
    stiff, rigid = four_bar(1e4), four_bar(modes=0)
    ends = [da.simulate(loop, start(loop), np.zeros(loop.nv), 0.3).q[-1, :3] for loop in (stiff, rigid)]
    np.testing.assert_allclose(*ends, atol=2e-4)


def test_an_external_force_at_a_point_of_a_beam_is_refused():
    loop = four_bar()
    push = da.ExternalForce("coupler", force=(0, 1, 0), point=(0.5, 0, 0))
    with pytest.raises(da.ModelError, match="Put a da.Frame"):
        da.inverse_dynamics(loop.without("constraints"), [0.0] * 7, [0.0] * 7, [0.0] * 7, external_forces=[push])


def test_links_keep_their_shapes_where_joints_close_the_loop():
    loop, rigid = four_bar(), four_bar(modes=0)
    angles = [0.5, 0.5, 1.2]
    for shape in (np.zeros(4), np.array([0.02, -0.01, 0.0, 0.03])):
        q = np.concatenate([angles, shape])
        for closed in (da.assemble(loop, q), da.assemble(loop, q, fixed=["q1"]), da.project(loop, q, np.zeros(7))[0]):
            assert np.array_equal(closed[3:], shape)
    np.testing.assert_allclose(start(loop)[:3], start(rigid), atol=1e-12)
    branches, expected = (da.assemblies(each, [0.5, 0.5, 1.2] + [0.0] * (each.nq - 3), fixed=["q1"]) for each in (loop, rigid))
    assert len(branches) == len(expected) == 2
    for branch, other in zip(branches, expected):
        turns = (branch.q[:3] - other.q) / (2 * np.pi)
        assert np.abs(turns - turns.round()).max() < 1e-12 and not branch.q[3:].any()


def test_links_bend_where_joints_cannot_close_the_loop():
    beam = da.Beam(0.5, EIz=20.0, EA=1e5, mass_per_length=0.5)
    tree = da.Mechanism("clamped", [da.Body("base"), da.Body("link", beam=beam, modes={"bend_y": 2, "stretch": 1})], [da.Joint("wall", da.Fixed(), "base", "link")])
    loop = tree.constrained(da.constraints.Closure("pin", da.Spherical(), ("link", (0.5, 0, 0)), ("base", (0.5, 0.01, 0))))
    q = da.assemble(loop)
    tip = da.placement(da.Mechanism("free", tree.bodies, tree.joints, [da.Frame("tip", "link", da.Origin((0.5, 0, 0)))]), q, "tip")
    np.testing.assert_allclose(tip[:3, 3], [0.5, 0.01, 0], atol=1e-12)
    np.testing.assert_allclose(da.project(loop, np.zeros(3), np.zeros(3))[0], q, atol=1e-9)
