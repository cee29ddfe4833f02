"""Meshes in pictures, pages and films: found in the folders of the model, coarse, else shapes in their place."""

import dataclasses
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from test_mesh_files import FACES, stl

import dalembert as da
from dalembert.views.figures.stick_figure import figure_of
from dalembert.views.meshes import picture_meshes
from dalembert.views.meshes.coarsening import coarser
from dalembert.views.motions.films import Film
from dalembert.views.pictures.scene import scene_of
from dalembert.views.solids.solid_data import Solid
from dalembert.views.solids.triangles import triangles_of

REFUSED = ["../secret/a.stl", "/etc/passwd", "https://example.org/a.stl", "a\0.stl", "c:<script>alert(1)</script>/a.stl"]
MISSING = ["</desc></svg><script>alert(1)</script>.stl", "nowhere.stl"]


@pytest.fixture
def arm_of(tmp_path):
    """A function from the name of a mesh to a pendulum whose link has it, beside a secret."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a.stl").write_bytes(stl())
    file = tmp_path / "arm" / "arm.urdf"
    file.parent.mkdir()
    file.write_text("<robot/>")
    (file.parent / "a.stl").write_bytes(stl())

    def make(name, **options):
        plain = da.planar_chain(1)
        seen = da.Visual("mesh", (0.1, 0.1, 0.1), mesh=name, **options)
        bodies = [dataclasses.replace(b, visuals=(seen,) * (b.name == "link1")) for b in plain.bodies]
        return dataclasses.replace(plain, bodies=bodies, file=str(file))

    picture_meshes._KEPT.clear()
    yield make
    picture_meshes._KEPT.clear()


def roles(mechanism):
    return {shape.role for shape in scene_of(mechanism).shapes if shape.body == "link1"}


def test_pictures_pages_and_films_show_the_meshes_of_a_file(arm_of, tmp_path):
    pytest.importorskip("trimesh", reason="trimesh is not installed (extra view)")
    arm = arm_of("a.stl", colour=(1, 0, 0, 1))
    shape, = (s for s in scene_of(arm).shapes if s.body == "link1")
    assert len(shape.faces) == 4 and shape.vertices.max() == pytest.approx(0.1) and shape.colour == (0.9, 0, 0, 1)
    run = da.simulate(arm, [0.3], [0], 0.1, record=0.05)
    assert [len(s.faces) for s in Film(run, figure_of(run, run.times), "").shapes if s.body == "link1"] == [4]
    page = run.animate(tmp_path / "r.html").read_text()
    assert '"colour":[0.9,0.0,0.0,1.0]' in page and "<desc>" not in arm.picture()


def test_a_file_that_changes_is_read_again(arm_of):
    pytest.importorskip("trimesh", reason="trimesh is not installed (extra view)")
    arm = arm_of("a.stl")
    scene_of(arm)
    (path, *_), = picture_meshes._KEPT
    shape, = (s for s in scene_of(arm).shapes if s.body == "link1")
    assert len(picture_meshes._KEPT) == 1
    path.write_bytes(stl(faces=FACES[:3]))
    changed, = (s for s in scene_of(arm).shapes if s.body == "link1")
    assert [len(shape.faces), len(changed.faces)] == [4, 3]


@pytest.mark.parametrize("name", [*REFUSED, *MISSING])
def test_names_lead_to_no_other_file_and_into_no_markup(name, arm_of, tmp_path):
    arm = arm_of(name)
    run = da.simulate(arm, [0.3], [0], 0.1, record=0.05)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        page = run.animate(tmp_path / "r.html").read_text()
        picture = arm.picture()
    assert bool(said) == (name in REFUSED)
    assert roles(arm) == {"fallback"} and "<desc>mesh" in picture
    assert "<script" not in picture and page.count("<script") == 1 and "alert(1)</script>" not in page


def test_without_the_extra_shapes_are_drawn_and_the_picture_says_why(arm_of, monkeypatch):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.warns(da.DalembertWarning, match="pip install 'dalembert\\[view\\]'"):
        picture = arm_of("a.stl").picture()
    assert "dalembert[view]" in picture and roles(arm_of("a.stl")) == {"fallback"}


def test_coarser_surfaces_keep_shapes_and_edges():
    fine = triangles_of(Solid("ball", "sphere", np.eye(4), (1.0,)), 80)
    vertices, faces = coarser(fine, 300)
    assert 100 < len(faces) <= 300
    assert np.abs(np.linalg.norm(vertices, axis=1) - 1).max() < 0.05
    x, y = (a.ravel() for a in np.meshgrid(np.linspace(0, 1, 20), np.linspace(0, 1, 20)))
    first = np.arange(400).reshape(20, 20)[:-1, :-1].ravel()
    square = np.concatenate([np.stack([first, first + 1, first + 21], 1), np.stack([first, first + 21, first + 20], 1)])
    roof = np.stack([x, y, -np.abs(x - 0.5)], axis=1)                     # a ridge at x = 0.5, z = 0
    vertices, faces = coarser((roof, square), 100)
    assert len(faces) <= 100
    np.testing.assert_allclose(vertices[:, 2], -np.abs(vertices[:, 0] - 0.5), atol=0.01)
    far = np.concatenate([np.full((70_000, 3), 1e9), roof])               # vertices of no triangle
    assert all(map(np.array_equal, coarser((far, square + 70_000), 100), (vertices, faces)))
    nothing = np.zeros((3, 3)), np.array([[0, 1, 2]])
    assert [len(coarser(surface, 5)[1]) for surface in (nothing, (nothing[0][:0], nothing[1][:0]))] == [0, 0]


def test_surfaces_without_order_become_coarse_too():
    rng = np.random.default_rng(1)
    vertices, faces = coarser((rng.normal(size=(6000, 3)), np.arange(6000).reshape(-1, 3)), 100)
    assert len(faces) <= 100 and np.isfinite(vertices).all()


def test_meshes_of_any_numbers_are_drawn_in_numbers(arm_of):
    pytest.importorskip("trimesh", reason="trimesh is not installed (extra view)")
    folder = Path(arm_of("a.stl").file).parent
    corners = ["0 0 0", "1e300 0 0", "0 -1e300 0", "0 0 1e300"]
    (folder / "far.obj").write_text("".join(f"v {corner}\n" for corner in corners) + "f 1 2 3\nf 1 3 4\n")
    (folder / "line.obj").write_text("".join(f"v {k} 0 0\n" for k in range(50)) + "".join(f"f {k + 1} {k + 2} {k + 3}\n" for k in range(40)))
    with pytest.warns(da.DalembertWarning, match="FARTHEST"):
        assert "nan" not in arm_of("far.obj").picture()
    assert "nan" not in arm_of("line.obj").picture()
