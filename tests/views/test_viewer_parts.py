"""Parts of the viewer that need no browser: geometry, coordinates, diagrams, the server."""

import io
import re
import time
import warnings

import numpy as np
import pytest
import rich.console
from hypothesis import given, settings
from hypothesis import strategies as st

import dalembert as da
from dalembert.closed_forms.printing.number_text import number
from dalembert.displays import shortened
from dalembert.views.diagrams.charts import LEFT, RIGHT
from dalembert.views.pictures.viewpoint import plane_normal
from dalembert.views.viewer import quaternions
from dalembert.views.viewer.loop_motion import moved
from dalembert.views.viewer.nodes import swept_shapes
from dalembert.views.viewer.nodes.creases import creased
from dalembert.views.viewer.nodes.force_arrows import driven_joints
from dalembert.views.viewer.nodes.mass_marks import ellipsoid_of
from dalembert.views.viewer.nodes.moving_places import MovingPlaces
from dalembert.views.viewer.nodes.robot_meshes import corners, robot_meshes
from dalembert.views.viewer.nodes.scene_setting import FOV, Surroundings, framed
from dalembert.views.viewer.panels.coordinate_controls import coordinates_of, folders_of
from dalembert.views.viewer.panels.diagram_panels import (
    WIDTH,
    cursor_html,
    curves_html,
    diagrams_of,
    values_at,
)
from dalembert.views.viewer.panels.equation_panel import EquationPage
from dalembert.views.viewer.playing_clock import PlayingClock
from dalembert.views.viewer.run_states import RunStates, ViewedState


def is_closed(faces):
    """Whether each edge has one face on either side."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    return {tuple(e) for e in edges} == {tuple(e[::-1]) for e in edges} and len({tuple(e) for e in edges}) == len(edges)


def volume(vertices, faces):
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-3, 3), min_size=3, max_size=3))
def test_angles_and_quaternions_give_each_other_back(angles):
    roll, pitch, yaw = angles[0], angles[1] / 2, angles[2]
    q = quaternions.from_rpy(roll, pitch, yaw)
    R = quaternions.matrix(q)
    expected = np.array(da.Origin.rpy((0, 0, 0), roll, pitch, yaw).transform(float).R.matrix(), float)
    np.testing.assert_allclose(R, expected, atol=1e-12)
    np.testing.assert_allclose(quaternions.matrix(quaternions.quaternion(R)), R, atol=1e-12)
    np.testing.assert_allclose(quaternions.to_rpy(q), (roll, pitch, yaw), atol=1e-7)


def test_arrows_are_closed_and_turn_by_the_right_hand():
    points = swept_shapes.arc(np.zeros(3), np.array([0, 0, 2.0]), 1.0, 2.0)
    assert np.cross(points[0], points[1])[2] > 0 and np.linalg.norm(points, axis=1) == pytest.approx(1)
    for way in (points, swept_shapes.straight(np.zeros(3), np.array([1.0, 2, 3]))):
        vertices, faces = swept_shapes.arrow_vertices(way, 0.05), swept_shapes.arrow_faces(len(way))
        assert faces.max() == len(vertices) - 1 and is_closed(faces) and volume(vertices, faces) > 0
        np.testing.assert_allclose(vertices[-1], way[-1], atol=1e-12)


def test_sharp_edges_are_kept_and_round_ones_shared():
    cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    sides = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    faces = np.concatenate([sides[:, [0, 1, 2]], sides[:, [0, 2, 3]]])
    vertices, split = creased(cube, faces)
    assert len(vertices) == 24
    np.testing.assert_array_equal(vertices[split], cube[faces])
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    ring = np.array([[np.cos(a), np.sin(a), z] for z in (0, 1) for a in angles])
    k = np.arange(24)
    wall = np.concatenate([np.stack([k, (k + 1) % 24, 24 + k], 1), np.stack([(k + 1) % 24, 24 + (k + 1) % 24, 24 + k], 1)])
    assert len(creased(ring, wall)[0]) == 48


def test_placements_of_bodies_frames_and_ends():
    mechanism, q = da.loops.four_bar()
    places = MovingPlaces(mechanism).at(q).at(0)
    for body, pose in zip(mechanism.bodies, places.bodies, strict=True):
        np.testing.assert_allclose(pose, np.asarray(da.placement(mechanism, q, body.name))[:3], atol=1e-12)
    assert len(places.ends) == 2 and np.linalg.norm(places.ends[0][:, 3] - places.ends[1][:, 3]) < 1e-9
    assert MovingPlaces(mechanism).ends_of_constraints() == [(mechanism.constraints[0].name, 1)]


def test_beams_bend():
    arm = da.planar_chain(1).elastic({"link1": da.Beam(1.0, EIz=10.0, mass_per_length=1.0)}, modes={"bend_y": 1})
    straight, bent = (MovingPlaces(arm).at([0.0, tip]).at(0).sections[0, :, :, 3] for tip in (0.0, 0.1))
    assert np.ptp(straight[:, 1]) < 1e-12 and np.diff(bent[:, 1], 2).min() * np.diff(bent[:, 1], 2).max() >= 0 and np.ptp(bent[:, 1]) > 0.05


def test_coordinates_have_units_limits_and_angles():
    arm = da.Mechanism("m", [da.Body("base"), da.Body("a", 1.0, inertia=(1, 0, 1, 0, 0, 1)), da.Body("b", 1.0, inertia=(1, 0, 1, 0, 0, 1)),
                             da.Body("c", 1.0, inertia=(1, 0, 1, 0, 0, 1))],
                       [da.Joint("free", da.Free(), "base", "a"), da.Joint("turn", da.Revolute((0, 0, 1)), "a", "b", limits=da.Limits(-1, 2)),
                        da.Joint("slide", da.Prismatic((0, 0, 1)), "b", "c", limits=da.Limits(0, 0.0123456))])
    q = arm.neutral()
    found = {c.name: c for c in coordinates_of(arm, q)}
    assert [*found] == ["free.roll", "free.pitch", "free.yaw", "free.px", "free.py", "free.pz", "turn", "slide"]
    assert (found["turn"].unit, found["turn"].low, found["turn"].high, found["turn"].group) == ("°", -57.2, 114.5, "joints")
    assert (found["slide"].unit, found["slide"].low, found["slide"].high) == ("m", 0.0, 0.01234)
    turned = found["free.yaw"].put(q, 30.0)
    assert found["free.yaw"].value(turned) == pytest.approx(30) and np.linalg.norm(turned[:4]) == pytest.approx(1)
    assert found["turn"].value(found["turn"].put(q, 400.0)) == 114.5


def test_many_sliders_are_folded_by_chains():
    g1 = da.load("g1")
    folders = folders_of(coordinates_of(g1, g1.neutral()))
    assert [(folder.title, len(folder.coordinates)) for folder in folders] == [
        ("left_hip_pitch_joint and 5 more", 6), ("right_hip_pitch_joint and 5 more", 6), ("waist_yaw_joint and 2 more", 3),
        ("left_shoulder_pitch_joint and 6 more", 7), ("right_shoulder_pitch_joint and 6 more", 7)]
    chain = da.planar_chain(30)
    assert [len(f.coordinates) for f in folders_of(coordinates_of(chain, chain.neutral()))] == [12, 12, 6]
    assert [f.title for f in folders_of(coordinates_of(chain.lock({name: 0 for name in chain.coordinate_names[2:]}), [0, 0]))] == ["Joints"]


def test_moved_loops_are_closed_or_stop():
    mechanism, q = da.loops.four_bar()
    crank = coordinates_of(mechanism, q)[0]
    at, is_there = moved(mechanism, q, crank, crank.value(q) + 30)
    assert is_there and np.abs(da.constraint_residual(mechanism, at)).max() < 1e-9
    assert at[0] - q[0] == pytest.approx(np.deg2rad(30), abs=1e-2)
    pin = da.constraints.Distance("rod", "tip", ("base", (1.0, 0, 0)), 0.5)
    chain = da.planar_chain(2).constrained(pin)
    q = da.assemble(chain, [0.9, 0.4])
    elbow = coordinates_of(chain, q)[0]
    at, is_there = moved(chain, q, elbow, 179.0)      # farther than the rod reaches
    assert not is_there and np.abs(da.constraint_residual(chain, at)).max() < 1e-9


def test_the_clock_plays_and_begins_again():
    now = [0.0]
    clock = PlayingClock(1.0, 3.0, lambda: now[0])
    clock.set_speed(2.0)
    now[0] = 5.0
    assert clock.advance() == 1.0
    clock.play(True)
    now[0] = 5.5
    assert clock.advance() == 2.0
    now[0] = 9.0
    assert clock.advance() == 3.0 and clock.advance() == 1.0
    clock.seek(7.0)
    assert clock.t == 3.0


@pytest.fixture(scope="module")
def states():
    chain = da.planar_chain(2)
    run = da.simulate(chain, [[0.5, 0.2], [1.0, 0.3]], np.zeros((2, 2)), 0.4, h=0.01, record=0.1, control=da.controllers.GravityPD(chain, [0.3, 0.1], 5.0, 1.0))
    return RunStates(chain, run)


def test_states_between_records(states):
    k = states.at(0.15, 1)
    np.testing.assert_allclose(k.q, (states.q[1][1] + states.q[1][2]) / 2)
    np.testing.assert_array_equal(k.tau, states.tau[1][1])
    assert states.count == 2 and (states.largest_forces() > 0).all()
    with pytest.raises(da.ShapeError, match="another mechanism"):
        RunStates(da.planar_chain(3), states.run)


def test_diagrams_show_values_and_escape_names(states):
    drawn = diagrams_of(states, 0)
    assert [d.up for d in drawn] == ["joint angles [deg]", "joint velocities [deg/s]", "applied torques [N m]", "energies [J]"]
    np.testing.assert_allclose(values_at(drawn[0], 0.4), np.rad2deg(states.q[0][-1]))
    page = curves_html(drawn[0]._replace(up="<u>")) + cursor_html(drawn[0]._replace(names=("<i>", "&")), 0.2)
    assert "\\u" not in page and "<u>" not in page and "<i>" not in page and "&lt;i&gt;" in page
    assert f"left:{100 * (LEFT + (WIDTH - LEFT - RIGHT) / 2) / WIDTH:.2f}%" in page      # half of the run


def test_equations_have_their_values():
    chain = da.planar_chain(2)
    page = EquationPage(chain, chain)
    page.form(lambda: True)
    q, qd = np.array([0.4, 0.9]), np.array([0.3, -0.2])
    html = page.html(ViewedState(q, qd, da.gravity_vector(chain, q), 0.0))
    for value in (*np.asarray(da.mass_matrix(chain, q))[[0, 0, 1], [0, 1, 1]], *da.gravity_vector(chain, q)):
        assert f"= {number(float(value))}<" in html
    assert html.count("<math") >= 7 and "Inertial parameters" in html
    big = EquationPage(da.planar_chain(9), da.planar_chain(9))
    big.form(lambda: True)
    assert "9 degrees of freedom" in big.html(ViewedState(np.zeros(9), np.zeros(9), None, 0.0)) and not big.rows


def test_ellipsoids_have_the_inertia():
    body = da.Body("a", 3.0, (0.1, 0, 0), (0.02, 0.001, 0.03, 0, 0, 0.04))
    e = ellipsoid_of(body, 0)
    squares = np.square(e.semi_axes)
    moments = 3.0 / 5 * (squares.sum() - squares)
    np.testing.assert_allclose(e.axes @ np.diag(moments) @ e.axes.T, np.array(body.tensor(), float), atol=1e-12)
    assert ellipsoid_of(da.Body("b"), 0) is None and ellipsoid_of(da.Body("c", 1.0), 0) is None


def test_the_ground_is_against_gravity_and_planar_motions_are_seen_from_the_front():
    arm = da.planar_chain(3)
    meshes, findings = robot_meshes(arm)
    assert not findings and {mesh.body for mesh in meshes} >= {1, 2, 3}
    points, bodies = corners(meshes)
    assert len(points) == len(bodies) == 8 * len(meshes)
    places = MovingPlaces(arm).at([0.3, 0.2, 0.4]).at(0)
    up = -np.array([float(x) for x in arm.gravity]) / 9.81
    around = Surroundings.of(places.bodies[..., 3], up, plane_normal(arm, places.bodies))
    np.testing.assert_allclose(around.axes[:, 2], up, atol=1e-12)
    assert around.is_planar and np.linalg.det(around.axes) == pytest.approx(1)
    assert 0.1 < around.cell / around.radius < 0.5


@pytest.mark.parametrize("aspect", [0.5, 1.6])
@pytest.mark.parametrize("normal", [None, np.array([0.0, 1, 0])])
def test_the_camera_shows_the_whole_motion_and_stands_no_farther_than_it_must(aspect, normal):
    points = np.array([[0.2, -0.1, 0], [1.4, 0.3, 2.0], [0.5, 0.2, 0.7]])
    around = Surroundings.of(points, np.array([0.0, 0, 1]), normal)
    position, target = framed(around, aspect)
    forward = (target - position) / np.linalg.norm(target - position)
    right = np.cross(forward, [0, 0, 1]) / np.linalg.norm(np.cross(forward, [0, 0, 1]))
    box = np.array([[x, y, z] for x in (0.2, 1.4) for y in (-0.1, 0.3) for z in (0, 2.0)])
    seen = [abs((box - position) @ axis / ((box - position) @ forward) / (np.tan(FOV / 2) * wide)).max()
            for axis, wide in ((right, aspect), (np.cross(right, forward), 1.0))]
    assert 0.6 < max(seen) < 0.87
    position, _ = framed(around, aspect, covered=0.5)                      # all above the middle of the picture
    assert ((box - position) @ np.cross(right, forward)).min() > -1e-9


def test_numbers_and_names_are_short():
    numbers = (1000.0, -0.05, 0.0, 1e-7, float("nan"), 2.5e8, float("-inf"), da.symbol("m"))
    assert [number(x, 3) for x in numbers] == ["1000", "−0.05", "0", "1·10⁻⁷", "–", "2.5·10⁸", "−∞", "m"]
    assert len(shortened("a" * 100)) == 40 and shortened("x\u202ey") == r"x\u202ey"


def test_forces_are_drawn_at_joints_with_an_axis():
    chain = da.planar_chain(2)
    assert [(j.body, j.at, j.turns) for j in driven_joints(chain)] == [(1, slice(0, 1), True), (2, slice(1, 2), True)]


# --- the server -----------------------------------------------------------------------------------


def test_a_viewer_is_of_this_machine_and_ends(states):
    pytest.importorskip("viser", reason="viser is not installed (extra view)")
    with da.view(states.mechanism, states.run, dark=True) as viewer:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", viewer.url) and viewer.server.get_host() == "127.0.0.1"
        assert f'src="{viewer.url}"' in viewer._repr_html_()
        viewer.seek(0.4)
        np.testing.assert_allclose(viewer.state.q, states.q[0][-1])
        with viewer.lock:                                        # the newest of several wishes counts
            viewer._slider_moved(viewer.sliders.coordinates[0], 5.0)
            viewer.clock.seek(0.2)
            viewer._seek()
        for _ in range(500):
            if viewer.is_sought:
                time.sleep(0.01)
        with viewer.lock:
            assert viewer.state.t == pytest.approx(0.2)
        viewer.update([0.1, 0.2])
        np.testing.assert_allclose(viewer.state.tau, da.gravity_vector(states.mechanism, [0.1, 0.2]))
        with pytest.raises(da.ShapeError):
            viewer.update([0.1])
        with pytest.raises(da.DalembertError, match="no browser shows the page"):
            viewer.screenshot("a.png")
        with pytest.raises(da.DalembertError, match="port .* is taken"):
            da.view(states.mechanism, port=int(viewer.url.rpartition(":")[2]))
    assert "closed" in repr(viewer) and "iframe" not in viewer._repr_html_()
    viewer.close()


def test_faults_of_threads_are_told_once(monkeypatch):
    pytest.importorskip("viser", reason="viser is not installed (extra view)")
    with da.view(da.planar_chain(1)) as viewer:
        monkeypatch.setattr(viewer.stage, "show", lambda state, shown: 1 / 0)
        with pytest.warns(da.DalembertWarning, match="could not show a state: ZeroDivisionError") as told:
            for _ in range(3):
                viewer.changed.set()
                while viewer.changed.is_set():
                    time.sleep(0.01)
            with viewer.lock:
                assert "not up to date.</b> ZeroDivisionError" in viewer.message.content and len(told) == 1
        monkeypatch.undo()
        viewer.update([0.3])
    assert not any(thread.is_alive() for thread in viewer.threads)


def test_viser_greets_nobody(capsys, monkeypatch):
    pytest.importorskip("viser", reason="viser is not installed (extra view)")
    in_notebook = io.StringIO()                                  # where rich writes besides the standard output
    monkeypatch.setattr(rich, "_console", rich.console.Console(file=in_notebook))
    da.view(da.planar_chain(1)).close()
    assert in_notebook.getvalue() == "" and capsys.readouterr().out == "" and not rich.get_console().quiet


def test_another_host_is_said_aloud():
    pytest.importorskip("viser", reason="viser is not installed (extra view)")
    with pytest.warns(da.DalembertWarning, match="without a password"):
        da.view(da.planar_chain(1), host="0.0.0.0").close()


def test_symbols_missing_meshes_and_elastic_links(tmp_path):
    pytest.importorskip("viser", reason="viser is not installed (extra view)")
    with da.view(da.planar_chain(1).replace({"link1.mass": da.expr.symbol("m")})) as viewer:
        assert viewer.stage.mechanism.symbols == ()
    (tmp_path / "r.urdf").write_text('<robot name="r"><link name="a"><visual><geometry><mesh filename="x.stl"/></geometry></visual></link></robot>')
    with pytest.warns(da.DalembertWarning, match="its file is not found"):
        da.view(da.load(tmp_path / "r.urdf")).close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arm = da.planar_chain(1).elastic({"link1": da.Beam(1.0, EIz=10.0, mass_per_length=1.0)}, modes={"bend_y": 1})
        with da.view(arm) as viewer:
            before = viewer.stage.robot.beams[0].vertices.copy()
            viewer.update([0.0, 0.1])
            assert np.abs(viewer.stage.robot.beams[0].vertices - before).max() > 0.05
