"""Usual loops: assembled, with the freedoms that books give them, moving as stored references say."""

import math

import numpy as np
import pytest

import dalembert as da
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.kinds import system_of
from reference import table

LOOPS = {
    "four_bar": (da.loops.four_bar, {}, 1),
    "crossed four_bar": (da.loops.four_bar, {"crossed": True, "angle": 0.3}, 1),
    "slider_crank": (da.loops.slider_crank, {"offset": 0.1, "angle": 1.0}, 1),
    "n_four_bar": (da.loops.n_four_bar, {"n": 3}, 1),
    "scissor_lift": (da.loops.scissor_lift, {"stages": 3}, 1),
    "five_bar": (da.loops.five_bar, {}, 2),
    "stewart_platform": (da.loops.stewart_platform, {}, 6),
    "delta_robot": (da.loops.delta_robot, {"angle": -0.2}, 3),
    "bricard": (da.loops.bricard, {}, 1),
    "flyball_governor": (da.loops.flyball_governor, {"link": 0.4}, 2),
    "differential_drive": (da.loops.differential_drive, {}, 2),
    "spatial_slider_crank": (da.loops.spatial_slider_crank, {"angle": 0.4}, 1),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_assembled_and_has_its_freedoms(name):
    make, options, freedoms = LOOPS[name]
    mechanism, q = make(**options)
    rows = ConstraintSet(system_of(mechanism))
    assert np.abs(rows.position(q)).max() < 1e-14
    J = rows.rates(q, np.zeros(mechanism.nv), 0.0).jacobian.astype(float)
    assert mechanism.nv - np.linalg.matrix_rank(J, tol=1e-9) == freedoms
    assert not [f for f in mechanism.check() if f.severity != "note"]


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_written_to_a_file_and_read_back_equal(name, tmp_path):
    make, options, _ = LOOPS[name]
    mechanism, _ = make(**options)
    da.save(mechanism, tmp_path / "loop.toml")
    assert da.load(tmp_path / "loop.toml") == mechanism


def moved(assembly, qd, times, **options):
    """Coordinates at some times, from a state with velocities near those given."""
    mechanism, q = assembly
    state = system_of(mechanism).project(q, qd)
    run = da.simulate(mechanism, *state, times, method="dop853", rtol=1e-10, atol=1e-12, **options)
    return run.q


def test_the_four_bar_moves_as_its_reference():
    rows, columns = table("closed_loops", "four_bar")
    times = rows[:6, 0]
    q = moved(da.loops.four_bar(), [2.0, columns["w2"][0] - 2.0, columns["w3"][0]], times)
    absolute = np.stack([q[:, 0], q[:, 0] + q[:, 1], q[:, 2]], axis=1)
    assert np.abs(absolute - rows[:6, 1:4]).max() < 1e-7


def test_the_row_of_four_bars_moves_as_its_reference():
    rows, columns = table("pendulums", "A02_N_four_bar_N2")
    times = rows[:2, 0]
    q = moved(da.loops.n_four_bar(2), [-1.0, 1.0, -1.0, 1.0, -1.0], times)
    assert np.abs(np.cos(q[-1, 0]) - columns["x_B0"][1]) < 1e-7
    assert np.abs(np.sin(q[-1, 0]) - columns["y_B0"][1]) < 1e-7


def test_the_spatial_slider_crank_moves_as_its_reference():
    rows, columns = table("closed_loops", "spatial_slider_crank")
    times = rows[:6, 0]
    start = [columns[name][0] for name in ("x_dot", "alpha_dot", "beta_dot", "theta_dot")]
    q = moved(da.loops.spatial_slider_crank(), start, times)
    assert np.abs(q - rows[:6, [2, 3, 4, 1]]).max() < 1e-7


def test_bricards_mechanism_moves_as_its_reference():
    rows, columns = table("closed_loops", "A04_bricard")
    q = moved(da.loops.bricard(), np.zeros(5), rows[:3, 0])
    assert np.abs(q[:, 0] - columns["a"][:3]).max() < 1e-7 and abs(columns["a"][2]) > 0.1


def test_the_stewart_platform_stands_on_the_forces_of_its_legs():
    mechanism, q = da.loops.stewart_platform()
    rows = ConstraintSet(system_of(mechanism))
    J = rows.rates(q, np.zeros(24), 0.0).jacobian.astype(float)
    g = da.gravity_vector(mechanism, q)
    slides = [mechanism.entries[f"slide{k}"].at_v.start for k in range(1, 7)]
    unknown = np.concatenate([np.eye(24)[:, slides], J.T], axis=1)      # g = S tau + J^T lambda
    solved = np.linalg.lstsq(unknown, g, rcond=None)[0]
    assert np.abs(unknown @ solved - g).max() < 1e-10
    tree, mass = mechanism.tree(), 8.0 + 12 * 1.0
    assert sum(tree.inertia[i].m for i in tree.outward()) == pytest.approx(mass)
    assert np.ptp(solved[:6]) < 1e-10 and solved[0] > 0      # by symmetry all legs push alike


def test_a_scissor_lift_rises_as_its_bars_say():
    for angle in (0.3, 1.2):
        mechanism, q = da.loops.scissor_lift(3, length=0.8, angle=angle)
        top = da.placement(mechanism, q, "top")[:3, 3]
        assert np.allclose(top, (0.4, 0, 3 * 0.8 * math.sin(angle)), atol=1e-12)


def test_the_platform_of_a_delta_robot_does_not_turn():
    q = moved(da.loops.delta_robot(), [0, 0, 0, 0.1, 0.2, 0, 1.0, 0, 0], [0.0, 0.1])
    assert np.abs(q[-1, 7:] - q[0, 7:]).max() > 0.05
    assert np.abs(q[:, 0] - 1).max() < 1e-12 and np.abs(q[:, 1:4]).max() < 1e-9


def test_a_governor_stays_where_its_balls_balance_the_collar():
    """Virtual work of the arms' angle a: m w^2 r sin a = (m + M) g cos a, with arms and links alike."""
    a, m, M = 0.7, 5.0, 3.0
    assembled = da.loops.flyball_governor(angle=a)
    radius = 0.05 + 0.5 * math.cos(a)
    spin = math.sqrt((m + M) * 9.81 * math.cos(a) / (m * radius * math.sin(a)))
    assert np.abs(moved(assembled, [spin, 0, 0, 0], [0.0, 0.5])[:, 2:] - a).max() < 1e-9
    assert np.abs(moved(assembled, [1.1 * spin, 0, 0, 0], [0.0, 0.5])[:, 2:] - a).max() > 1e-2


@pytest.mark.parametrize(("make", "options", "message"), [
    (da.loops.four_bar, {"coupler": 0.1}, "the four-bar cannot be closed: sides of 0.1 m and 0.8 m do not span 1.0"),
    (da.loops.four_bar, {"crank": -1}, "crank=-1: expected a positive number"),
    (da.loops.slider_crank, {"offset": 1.0, "angle": 0.0}, "the slider-crank cannot be closed: a rod of 0.6 m does not span 1 m"),
    (da.loops.five_bar, {"distal": 0.1}, "the five-bar cannot be closed"),
    (da.loops.spatial_slider_crank, {"rod_length": 0.1}, "the spatial slider-crank cannot be closed"),
    (da.loops.delta_robot, {"forearm": 0.2}, "the delta robot cannot be closed"),
    (da.loops.flyball_governor, {"link": 0.1}, "the governor cannot be closed"),
    (da.loops.n_four_bar, {"n": 0}, "n=0 .*expected a whole number"),
    (da.loops.scissor_lift, {"angle": 2.0}, "angle=2.0"),
])
def test_lengths_that_cannot_close_are_refused(make, options, message):
    with pytest.raises((da.DalembertError, ValueError), match=message):
        make(**options)
