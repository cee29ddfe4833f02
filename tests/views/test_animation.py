"""Motions as a page and as films: they hold the placements, show all of the motion, keep time, and say what they need."""

import dataclasses
import json
import re
import shutil
import subprocess
import sys
from base64 import b64decode

import numpy as np
import pytest

import dalembert as da
from dalembert.views.figures.stick_figure import figure_of
from dalembert.views.motions import animation, films
from dalembert.views.solids.solid_data import COLOURS

TITLE = "маятник </title><script>alert(1)</script> {{data}} $\\frac$"
FFMPEG = pytest.mark.skipif(shutil.which("ffmpeg") is None or shutil.which("ffprobe") is None, reason="ffmpeg is not installed")


@pytest.fixture(scope="module")
def one():
    chain = dataclasses.replace(da.planar_chain(3), name=TITLE)
    return da.simulate(chain, [0.3, -0.5, 0.2], [0, 0, 0], 0.5, record=0.05)


def data_of(page):
    return json.loads(re.search(r"^const run = (.*);$", page, re.MULTILINE)[1])


def unpacked(rows):
    """The numbers of packed rows."""
    steps = np.frombuffer(b64decode(rows["steps"]), "<u2").reshape(*rows["shape"], -1)
    return rows["low"] + rows["step"] * steps


def frames_of(gif):
    """Pictures (K, H, W, 3) of a GIF and for how long each is shown [ms]."""
    from PIL import Image

    pictures, delays = [], []
    with Image.open(gif) as image:
        for k in range(image.n_frames):
            image.seek(k)
            pictures.append(np.asarray(image.convert("RGB")))
            delays.append(image.info["duration"])
    return np.array(pictures), delays


# --- the figure ---

@pytest.mark.parametrize("name", ["one", "tree"])
def test_the_page_holds_placements_and_centres_of_mass(name, request, tmp_path):
    run = request.getfixturevalue(name)
    found, m = data_of(run.animate(tmp_path / "r.html").read_text(encoding="utf-8")), run.mechanism
    assert found["names"] == list(m.frame_names) and found["times"] == run.times.tolist()
    frames, = unpacked(found["frames"])
    for k, frame in enumerate(m.frame_names):
        T = da.placement(m, run.q, frame)
        exact = np.concatenate([T[:, :3, 3], T[:, :3, 0], T[:, :3, 1]], axis=1)      # origin, then two axes
        np.testing.assert_allclose(frames[:, k], exact, atol=2e-5 * abs(frames).max())
    tree, _, _ = m.at()
    moved = {b.name for b in m.bodies if tree.place[b.name][0] != 0}      # others do not count in center_of_mass
    joined = {(found["names"][a], found["names"][b]) for a, b in found["sticks"]}
    assert {(j.parent, j.child) for j in m.joints if j.type.name != "free"} <= joined
    moving = [(w, k) for k, w in enumerate(found["weights"]) if found["names"][w[0]] in moved]
    axes = np.stack([frames[..., 3:6], frames[..., 6:9], np.cross(frames[..., 3:6], frames[..., 6:9])], axis=-1)
    mean = sum(w[1] * (frames[:, w[0], :3] + axes[:, w[0]] @ found["masses"][0][k]) for w, k in moving) / sum(w[1] for w, _ in moving)
    np.testing.assert_allclose(mean, da.center_of_mass(m, run.q), atol=5e-5 * abs(frames).max())


def test_between_records_the_figure_goes_the_shortest_way(tree):
    times = np.array([0.0, 0.01, 0.02, 0.193])
    m, figure = tree.mechanism, figure_of(tree, times)
    fine = da.simulate(m, tree.q[0], tree.qd[0], t=np.array([0, 0.01, 0.02]), method="dopri5")
    for k, name in enumerate(m.frame_names):
        exact = da.placement(m, fine.q, name)[:, :3, 3]
        np.testing.assert_allclose(figure.frames[0, :3, k, :3], exact, atol=2e-3)      # of accelerations over 0.01 s
        np.testing.assert_allclose(figure.frames[0, [0, 2], k, :3], exact[[0, 2]], atol=1e-8)


def test_a_trajectory_that_ended_stays_where_it_was(several):
    figure = figure_of(several, several.times)
    assert np.isfinite(figure.points).all()
    np.testing.assert_array_equal(figure.points[1], np.repeat(figure.points[1, :1], len(several.times), axis=0))


def test_the_trace_is_of_the_tip_or_of_the_frame_asked_for(one):
    assert figure_of(one, one.times).trace == one.mechanism.frame_names.index("tip")
    assert figure_of(one, one.times, "link2").trace == one.mechanism.frame_names.index("link2")
    with pytest.raises(da.UnknownNameError, match="unknown frame 'tap'.*Did you mean 'tip'"):
        figure_of(one, one.times, "tap")


def test_a_planar_motion_is_seen_along_its_normal(one, tree):
    pytest.importorskip("matplotlib")
    right, up, _ = film_of(one).camera
    np.testing.assert_allclose([right, up], [[1, 0, 0], [0, 0, 1]], atol=1e-15)
    right, up, _ = film_of(tree).camera
    np.testing.assert_allclose([right @ right, up @ up, right @ up], [1, 1, 0], atol=1e-15)


# --- page ---

def test_the_page_is_whole_and_needs_nothing_else(one, tmp_path):
    page = one.animate(tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count("<script>") == page.count("</script>") == 1 and "&lt;script&gt;alert(1)" in page
    assert "default-src 'none'" in page and not re.search(r"https?:|src=|href=|@import", page)
    assert "{{data}} $\\frac$</title>" in page      # the name, not filled again


def test_a_page_of_several_trajectories_holds_the_first_of_them(several, tmp_path):
    found = data_of(several.animate(tmp_path / "r.html", speed=0.3).read_text(encoding="utf-8"))
    frames = unpacked(found["frames"])
    assert (len(frames), found["speed"]) == (3, 0.3)
    np.testing.assert_allclose(frames[2, :, -1, :3], da.placement(several.mechanism, several.q[2], "tip")[:, :3, 3],
                               atol=1e-4)
    many = da.simulate(da.planar_chain(1), np.linspace(0, 1, 12)[:, None], [0], 0.1, record=0.05)
    assert len(data_of(many.animate(tmp_path / "m.html").read_text())["masses"]) == 8


def test_long_runs_are_thinned_out_in_the_page(tmp_path):
    run = da.simulate(da.planar_chain(1), [0.5], [0], 3.0, record=1e-3)
    times = data_of(run.animate(tmp_path / "r.html").read_text())["times"]
    assert len(times) == animation.MOST_RECORDS and (times[0], times[-1]) == (0, 3) and np.diff(times).max() < 0.005


def test_the_page_holds_solids_of_its_bodies_and_the_camera_of_a_planar_motion(one, tmp_path):
    found = data_of(one.animate(tmp_path / "r.html").read_text(encoding="utf-8"))
    assert {found["names"][s["body"]] for s in found["solids"]} == {"base", "link1", "link2", "link3"}
    link = next(s for s in found["solids"] if found["names"][s["body"]] == "link2")
    vertices = unpacked(link["vertices"])
    assert np.ptp(vertices, axis=0).max() == pytest.approx(1.05, abs=0.05)
    np.testing.assert_allclose(found["view"], [-np.pi / 2, 0], atol=1e-12)
    assert found["planar"] and found["step"] == 0.5 and [label for label, _ in found["labels"]] == ["q1", "q2", "q3", "tip"]


def test_a_base_stands_on_a_pedestal_where_its_arm_swings_below_it(tmp_path):
    upper, lower = (da.Body(name, 1.0, (0, 0, 0.2), (0.01, 0, 0.01, 0, 0, 0.01)) for name in ("upper", "lower"))
    hinges = da.Joint("pan", da.Revolute((0, 0, 1)), "base", "upper"), da.Joint("lift", da.Revolute((0, 1, 0)), "upper", "lower", da.Origin((0, 0.3, 0.4)))
    arm = da.Mechanism("arm", (da.Body("base"), upper, lower), hinges, (da.Frame("tip", "lower", da.Origin((0, 0, 0.8))),))
    grey = [round(x, 3) for x in COLOURS["pedestal"]]
    for lift, stands in ((3.0, True), (0.1, False)):
        run = da.simulate(arm, [0.0, lift], [0, 0], 0.02, record=0.01)
        found = data_of(run.animate(tmp_path / "r.html").read_text())
        pedestals = [s for s in found["solids"] if s["colour"] == grey]
        assert [found["names"][s["body"]] for s in pedestals] == ["base"] * stands and (found["height"] < -0.2) == stands


def test_the_page_has_a_picture_and_the_summary_for_readers_without_scripts(one, tmp_path):
    page = one.animate(tmp_path / "r.html").read_text(encoding="utf-8")
    still = page[page.index("<noscript>"):page.index("</noscript>")]
    assert "<svg" in still and "energy drift" in still and "<script" not in still


STAGE = """() => { const image = pen.getImageData(0, 0, view.width, view.height).data, box = [1e9, 1e9, -1, -1];
  for (let i = 0; i < image.length; i += 4) if (image[i + 3] > 200 && Math.max(image[i], image[i + 1], image[i + 2]) - Math.min(image[i], image[i + 1], image[i + 2]) > 40) {
    const x = i / 4 % view.width, y = Math.floor(i / 4 / view.width);
    if (x > view.width - 80 && y > view.height - 80) continue;
    box[0] = Math.min(box[0], x); box[1] = Math.min(box[1], y); box[2] = Math.max(box[2], x); box[3] = Math.max(box[3], y); }
  return [(box[2] - box[0]) / view.width, (box[3] - box[1]) / view.height]; }"""


@pytest.mark.parametrize("is_glass", [True, False], ids=["WebGL", "painter"])
def test_the_arm_fills_the_stage_and_moves_in_a_browser(is_glass, one, browser, tmp_path):
    from browser import open_page

    path = one.animate(tmp_path / "r.html", trace="tip")
    if not is_glass:
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('getContext("webgl"', 'getContext("none"'), encoding="utf-8")
    with open_page(browser, f"{path.as_uri()}#0", dark=is_glass, width=900, height=600) as page:
        assert page.evaluate("program !== null") == is_glass
        placed = np.array(page.evaluate("run.frames[0].map(frames => frames.at(-1))")).reshape(-1, 4, 3)
        T = da.placement(one.mechanism, one.q, "tip")[:, :3]
        np.testing.assert_allclose(placed, T.transpose(0, 2, 1)[:, [3, 0, 1, 2]], atol=1e-4)
        np.testing.assert_allclose(page.evaluate("run.times.map((_, k) => centreOf(0, k, 2))"), figure_of(one, one.times).masses[0, :, 2], atol=1e-4)
        assert max(page.evaluate(STAGE)) > 0.6
        before = page.evaluate("view.toDataURL()")
        page.evaluate("document.activeElement.blur()")
        page.get_by_label("Time").fill("6")
        assert page.get_by_label("Time").get_attribute("aria-valuetext") == "0.300 seconds"
        moved = page.evaluate("view.toDataURL()")
        assert moved != before
        page.locator("#view").focus()
        page.keyboard.press("ArrowRight")
        assert page.evaluate("view.toDataURL()") != moved
        page.get_by_role("button", name="Reset view").click()
        assert page.evaluate("view.toDataURL()") == moved
        page.get_by_role("button", name="Play").click()
        assert page.get_by_role("button", name="Pause").count() == 1
        assert page.title().startswith("маятник </title><script>")


def test_the_page_fits_a_phone(one, browser, tmp_path):
    from browser import open_page

    with open_page(browser, f"{one.animate(tmp_path / 'r.html').as_uri()}#0", width=360, height=640) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert page.evaluate("view.clientHeight") > 250
        page.evaluate("run.labels = [['first', 1], ['second', 1], ['third', 1]]")
        heights = page.evaluate("() => { const seen = []; pen.fillText = (name, x, y) => seen.push(y); names(run.frames[0][0]); return seen; }")
        assert np.diff(sorted(heights)).min() >= 15


# --- films ---

@pytest.mark.parametrize(("fps", "speed", "count"), [(30, 1, 16), (20, 0.5, 21), (50, 2, 13)])
def test_a_gif_plays_in_real_time(one, fps, speed, count, tmp_path):
    pytest.importorskip("matplotlib")
    pictures, delays = frames_of(one.animate(tmp_path / "r.gif", fps=fps, speed=speed))
    assert pictures.shape == (count, animation.HEIGHT, animation.WIDTH, 3)
    assert abs(np.cumsum(delays) - 1000 / fps * np.arange(1, count + 1)).max() <= 5      # hundredths of a second
    assert (abs(np.diff(pictures.astype(int), axis=0)).max(axis=(1, 2, 3)) > 0).all()   # it moves


def windowed(film, points):
    """Points (..., 3) as parts of the picture's width and height."""
    ax = films.Stage(film, set()).ax
    return ax.transAxes.inverted().transform(ax.transData.transform(film.camera.seen(points).reshape(-1, 2)))


def film_of(run):
    return films.Film(run, figure_of(run, run.times), run.mechanism.name)


def test_a_film_is_at_one_scale():
    pytest.importorskip("matplotlib")
    m = da.planar_chain(1)
    run = da.simulate(m, [0.3], [0], 1.0, record=0.1)
    shown = windowed(film_of(run), da.center_of_mass(m, run.q)) * [animation.WIDTH, animation.HEIGHT]
    true = da.center_of_mass(m, run.q)[:, [0, 2]]
    A = np.zeros((2 * len(true), 3))                 # shown = scale true + offset, by least squares
    A[:, 0], A[::2, 1], A[1::2, 2] = true.ravel(), 1, 1
    (scale, *offset), residuals, *_ = np.linalg.lstsq(A, shown.ravel(), rcond=None)
    assert scale > 100 and abs(A @ [scale, *offset] - shown.ravel()).max() < 1e-6


@pytest.mark.parametrize("make", [None, da.loops.four_bar, da.loops.differential_drive, da.loops.flyball_governor],
                         ids=lambda make: getattr(make, "__name__", "tree"))
def test_solids_rims_and_floors_of_a_film_fill_the_room_between_title_and_clock(make, tree):
    pytest.importorskip("matplotlib")
    if make is None:
        run = tree
    else:
        mechanism, q = make()
        run = da.simulate(mechanism, q, np.zeros(mechanism.nv), 1e-3, method="dop853")
    film = film_of(run)
    inside = windowed(film, film.reached)
    assert inside[:, 0].min() > 0.04 and inside[:, 0].max() < 0.96
    assert inside[:, 1].min() > 0.12 and inside[:, 1].max() < 0.91
    assert (np.ptp(inside, axis=0) / [0.9, 0.77]).max() > 0.99


def test_a_film_shows_shaded_solids_their_shadow_and_a_tinted_second_trajectory(tree, several):
    pytest.importorskip("matplotlib")
    picture = next(film_of(tree).pictures(1)).reshape(-1, 3).astype(int)
    assert len(np.unique(picture, axis=0)) > 500
    grey = (np.ptp(picture, axis=1) < 6) & (picture[:, 0] > 180) & (picture[:, 0] < 230)
    assert grey.sum() > 200
    first, second = (film_of(several).surface(n, 0).colours[:, :3].mean(axis=0) for n in (0, 1))
    assert second[0] > first[0] + 0.1      # towards orange


@FFMPEG
def test_an_mp4_has_all_pictures_at_its_rate(several, tmp_path):
    pytest.importorskip("matplotlib")
    path = several.animate(tmp_path / "бег %d.mp4", fps=25)
    found = json.loads(subprocess.run(["ffprobe", "-v", "error", "-of", "json", "-show_streams", path], capture_output=True,
                                      check=True).stdout)["streams"][0]
    assert (found["nb_frames"], found["r_frame_rate"]) == ("6", "25/1")
    assert (found["width"], found["height"], found["pix_fmt"]) == (animation.WIDTH, animation.HEIGHT, "yuv420p")


@FFMPEG
def test_a_failure_of_ffmpeg_is_said_in_its_words(one, tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "r.mp4").mkdir()
    with pytest.raises(da.DalembertError, match=r"ffmpeg failed with exit code \d+: .*r\.mp4"):
        one.animate(tmp_path / "r.mp4")


def test_what_an_animation_needs_is_said(one, monkeypatch, tmp_path):
    with pytest.raises(ValueError, match=r"ends in \.html, \.htm, \.gif, \.mp4"):
        one.animate(tmp_path / "r.avi")
    monkeypatch.setenv("PATH", str(tmp_path))
    pytest.importorskip("matplotlib")
    with pytest.raises(da.DalembertError, match=r"ffmpeg is not installed.*apt install ffmpeg.*\.gif and \.html do without"):
        one.animate(tmp_path / "r.mp4")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(da.DalembertError, match=r"matplotlib is not installed: pip install 'dalembert\[plot\]'"):
        one.animate(tmp_path / "r.gif")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("options", "says"), [
    ({"fps": 60}, "a GIF shows at most 50 pictures per second"), ({"fps": 0}, "expected positive numbers"),
    ({"speed": float("nan")}, "expected positive numbers"), ({"speed": 1e-3}, "are 15001 pictures, more than the 1500 of a .gif film: give a larger speed")])
def test_films_that_cannot_be_are_refused(one, options, says, tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match=says):
        one.animate(tmp_path / "r.gif", **options)
