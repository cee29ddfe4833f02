"""Gears, racks, screws and cams move as followers, helical joints and closed forms do."""

import numpy as np
import pytest

import dalembert as da
from dalembert import constraints as kinds
from dalembert.systems.kinds import system_of

X = (1, 0, 0)
INERTIA = (0.01, 0, 0.02, 0, 0, 0.03)


def test_a_gear_moves_as_a_follower():
    bodies = (da.Body("base"), da.Body("one", 1, (0, 0.1, 0.2), INERTIA), da.Body("two", 2, (0.3, 0, -0.1), INERTIA))
    one = da.Joint("one", da.Revolute(X), "base", "one", viscous=0.3)
    two = da.Joint("two", da.Revolute((0, 1, 0)), "one", "two", da.Origin((0, 0, 0.4)), stiffness=2.0)
    follower = da.Joint("two", da.Revolute((0, 1, 0)), "one", "two", da.Origin((0, 0, 0.4)), stiffness=2.0, mimic=da.Mimic("one", -1.5, 0.2))
    geared = da.Mechanism("geared", bodies, (one, two)).constrained(kinds.Coupling.gear("gear", "one", "two", -1.5, 0.2))
    mimic = da.Mechanism("mimic", bodies, (one, follower))
    found = system_of(geared).forward_dynamics([0.4, 0.2 - 1.5 * 0.4], [0.7, -1.5 * 0.7], [0.3, 0.0])
    known = da.forward_dynamics(mimic, [0.4], [0.7], [0.3])
    assert np.allclose(found, known[0] * np.array([1, -1.5]), atol=1e-12)
    run = da.simulate(geared, [0.4, -0.4], [0.7, -1.05], [0, 1], method="dop853", rtol=1e-10, atol=1e-12)
    assert np.abs(run.q[-1] - np.array([1, -1.5]) * run.q[-1, 0] - [0, 0.2]).max() < 1e-14


@pytest.mark.parametrize("way", ["screw", "rack", "closure"])
def test_a_screw_moves_as_a_helical_joint(way):
    """By a coupling of turn and slide; or by a nut, a closure of the type of the joint."""
    h = 0.05
    nut = da.Body("nut", 2, (0.1, 0.05, 0), INERTIA)
    helical = da.Mechanism("helical", (da.Body("base"), nut), (da.Joint("h", da.Helical(X, pitch=h), "base", "nut"),), gravity=(3, -4, 2))
    known = da.forward_dynamics(helical, [0.4], [0.7], [0.3])[0]
    tree = da.Mechanism("tree", (da.Body("base"), da.Body("middle"), nut), (
        da.Joint("turn", da.Revolute(X), "base", "middle"), da.Joint("slide", da.Prismatic(X), "middle", "nut")), gravity=(3, -4, 2))
    constraint = {"screw": kinds.Coupling.screw("thread", "turn", "slide", h), "rack": kinds.Coupling.rack("thread", "turn", "slide", h),
                  "closure": kinds.Closure("thread", da.Helical(X, pitch=h), "base", "nut")}[way]
    mechanism = tree.constrained(constraint)
    state = [0.4, 0.4 * h], [0.7, 0.7 * h]
    assert np.abs(da.constraint_residual(mechanism, *state)).max() < 1e-15
    assert np.allclose(system_of(mechanism).forward_dynamics(*state, [0.3, 0]), [known, known * h], atol=1e-12)
    whole_turn = [0.4 + 2 * np.pi, 0.4 * h]
    assert (np.abs(da.constraint_residual(mechanism, whole_turn)).max() > 0.1) == (way != "closure")      # a pose has no number of turns
    if way == "closure":
        force = da.reactions(mechanism, *state, [0.3, 0])["thread"]
        assert np.isclose(force[0], -h * force[3])


def rise(angle):
    return 0.02 * (1 - da.cos(angle)) + 0.003 * da.sin(2 * angle)


def cam(profile):
    bodies = da.Body("base"), da.Body("shaft", 1, inertia=INERTIA), da.Body("valve", 0.5)
    joints = da.Joint("shaft", da.Revolute(X), "base", "shaft"), da.Joint("valve", da.Prismatic((0, 0, 1)), "base", "valve", stiffness=100.0)
    return da.Mechanism("cam", bodies, joints).constrained(kinds.Cam("cam", "shaft", "valve", profile, "m"))


def test_a_cam_moves_as_its_reduced_equation():
    """(J + m f'^2) a + m f' f'' w^2 = -f' (m g + k f)."""
    mechanism = cam(rise)
    angle, w = 0.8, 3.0
    f, df, ddf = rise(angle), 0.02 * np.sin(angle) + 0.006 * np.cos(2 * angle), 0.02 * np.cos(angle) - 0.012 * np.sin(2 * angle)
    m, J, k = 0.5, INERTIA[0], 100.0
    known = -(df * (m * 9.81 + k * f) + m * df * ddf * w * w) / (J + m * df * df)
    qdd = system_of(mechanism).forward_dynamics([angle, f], [w, df * w], [0, 0])
    assert np.allclose(qdd, [known, df * known + ddf * w * w], rtol=1e-12)
    push = m * (qdd[1] + 9.81) + k * f
    assert np.allclose(da.reactions(mechanism, [angle, f], [w, df * w], [0, 0])["cam"], [-df * push, push])
    run = da.simulate(mechanism, [angle, f], [w, df * w], [0, 1], method="dop853", rtol=1e-10, atol=1e-12)
    assert abs(run.q[-1, 1] - rise(run.q[-1, 0])) < 1e-15 and run.energy_drift < 1e-9


def test_a_spline_is_a_profile():
    angles = np.linspace(0, 2 * np.pi, 41)
    spline = da.generators.Spline(rise(angles)[:, None], angles)
    by_spline, by_function = cam(spline), cam(rise)
    q, qd = [2.0, rise(2.0)], [1.0, 0.0]
    J = [da.constraint_jacobian(mechanism, q)[0] for mechanism in (by_spline, by_function)]
    assert np.allclose(*J, atol=1e-4) and not np.allclose(*J, atol=1e-12)
    q, qd = da.project(by_spline, q, qd)
    run = da.simulate(by_spline, q, qd, [0, 0.3], method="dop853", rtol=1e-8, atol=1e-10)
    assert abs(run.q[-1, 1] - rise(run.q[-1, 0])) < 1e-5 and abs(run.residual).max() < 1e-14
