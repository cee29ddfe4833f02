"""Still pictures: solids fill them, names are escaped and do not cover each other, planar mechanisms are seen along their normal."""

import dataclasses
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import dalembert as da
from dalembert.displays import shortened
from dalembert.views.pictures.scene import scene_of
from dalembert.views.pictures.still import picture_svg
from dalembert.views.pictures.svg_labels import LONGEST

NAME = "</svg><script>alert(1)</script> & \x00 \"'"
SVG = "{http://www.w3.org/2000/svg}"
MOVES = re.compile(r"M(-?\d+) (-?\d+)l([-\d ]+)z")


def corners_of(svg):
    """Points (P, 2) of the shaded triangles [pixels]."""
    group = [g for g in ElementTree.fromstring(svg).iter(f"{SVG}g") if g.get("stroke-linejoin")][0]
    found = []
    for path in group:
        for x, y, steps in MOVES.findall(path.get("d")):
            corner = np.array([int(x), int(y)])
            found += [corner, *(corner + np.cumsum(np.array(steps.split(), int).reshape(-1, 2), axis=0))]
    return np.array(found) / 10


@pytest.mark.parametrize("make", [lambda: da.planar_chain(3), lambda: da.random_tree(2, 6), lambda: da.loops.spatial_slider_crank()[0],
                                  lambda: da.loops.four_bar()[0]], ids=["chain", "tree", "spatial", "four-bar"])
def test_solids_fill_the_picture_and_stay_within(make):
    svg = picture_svg(make(), width=400)
    root, points = ElementTree.fromstring(svg), corners_of(svg)
    size = np.array([float(root.get("width")), float(root.get("height"))])
    assert (points >= 0).all() and (points <= size).all()
    assert (np.ptp(points, axis=0) / size).max() > 0.6
    assert len(svg) < 400_000


def test_names_cannot_leave_their_place():
    arm = dataclasses.replace(da.planar_chain(1), name=NAME, frames=(da.Frame(NAME, "link1"),))
    arm = dataclasses.replace(arm, joints=(dataclasses.replace(arm.joints[0], name=NAME),))
    root = ElementTree.fromstring(picture_svg(arm))
    shown = NAME.replace("\x00", "\\x00")
    assert root.find(f"{SVG}title").text == shown
    assert not [e for e in root.iter() if e.tag.endswith("script")]
    assert sum(e.text == shortened(NAME, LONGEST) for e in root.iter(f"{SVG}text")) == 2


def test_names_do_not_cover_each_other():
    texts = [(float(e.get("x")), float(e.get("y")), len(e.text)) for e in ElementTree.fromstring(picture_svg(da.planar_chain(6))).iter(f"{SVG}text")]
    assert len(texts) == 8      # 6 joints, a frame, the scale
    for k, (x, y, n) in enumerate(texts):
        assert not [1 for u, v, m in texts[:k] if abs(y - v) < 9 and x < u + 6 * m and u < x + 6 * n]


def test_planar_mechanisms_are_seen_along_their_normal_and_others_from_above():
    upright, flat = scene_of(da.planar_chain(2)), scene_of(dataclasses.replace(da.planar_chain(2), gravity=(0, 0, 0)))
    np.testing.assert_allclose([upright.camera.right, upright.camera.up], [[1, 0, 0], [0, 0, 1]], atol=1e-12)
    np.testing.assert_allclose([flat.camera.right, flat.camera.up], [[1, 0, 0], [0, 0, 1]], atol=1e-12)
    level = da.Mechanism("level", (da.Body("base"), da.Body("link", 1.0, (1, 0, 0))), (da.Joint("hinge", da.Revolute((0, 0, -1)), "base", "link"),))
    np.testing.assert_allclose(scene_of(level).camera.towards, [0, 0, 1], atol=1e-12)
    spatial = scene_of(*da.loops.stewart_platform()).camera
    assert not spatial.is_planar and spatial.towards[2] > 0.3 and spatial.up[2] > 0.8


def test_up_is_against_gravity():
    tree = dataclasses.replace(da.random_tree(2, 6), gravity=(0, -9.81, 0))
    assert scene_of(tree).camera.up[1] > 0.8


def test_bent_beams_and_rods_of_constraints_are_tubes():
    beam = da.Beam(0.8, EIz=12.0, mass_per_length=0.25)
    arm = da.Mechanism("arm", (da.Body("base"), da.Body("link", beam=beam, modes={"bend_y": 1})), (da.Joint("hinge", da.Revolute((0, 0, 1)), "base", "link"),))
    straight, bent = (scene_of(arm, [0.0, w]).surface.vertices for w in (0.0, 0.2))
    assert np.abs(straight[:, 1]).max() < 0.2 < np.abs(bent[:, 1]).max() + 0.05
    governor, q = da.loops.flyball_governor()
    without = dataclasses.replace(governor, constraints=(), principles=())
    assert len(scene_of(governor, q).surface.faces) > len(scene_of(without, q).surface.faces) + 40


def test_pictures_of_symbols_and_of_nothing():
    m, l = da.symbols("m l")
    assert "q2" in picture_svg(da.planar_chain(2, mass=m, length=l))
    assert picture_svg(da.Mechanism("nothing", (da.Body("ground"),), ())).endswith("</svg>")


def test_a_picture_is_written_and_shown(tmp_path):
    arm = da.planar_chain(2)
    picture = arm.picture([0.1, 0.2], tmp_path / "arm.svg", width=300)
    assert picture._repr_svg_() == picture == (tmp_path / "arm.svg").read_text(encoding="utf-8")
    assert 'width="300"' in picture and "q1" in picture and "q1" not in arm.picture(labels=False)
    assert "color-scheme:light dark" in picture and "prefers-color-scheme" in picture and "prefers-color-scheme" not in picture_svg(arm, standalone=False)
    for wrong, says in (({"file": tmp_path / "arm.png"}, r"ends in \.svg"), ({"q": [1.0]}, "shape"), ({"q": [[1.0, 2.0]]}, "one configuration"),
                        ({"width": -1}, "pixels")):
        with pytest.raises(ValueError, match=says):
            arm.picture(**wrong)


def test_few_frames_are_shown_and_many_are_not():
    few = da.planar_chain(2)
    many = dataclasses.replace(few, frames=tuple(da.Frame(f"site{k}", "link1") for k in range(9)))
    assert "tip" in few.picture() and "site" not in many.picture()
