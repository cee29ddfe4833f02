"""Meshes of robots: found in the folders of the model alone, read within bounds."""

import os
import struct

import numpy as np
import pytest

import dalembert as da

pytest.importorskip("trimesh", reason="trimesh is not installed (extra view)")
from dalembert.readers import mesh_folders
from dalembert.views.meshes import mesh_files
from dalembert.views.meshes.mesh_files import MeshFiles

TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


def stl(vertices=TETRAHEDRON, faces=FACES, count=None):
    triangles = b"".join(struct.pack("<12fH", 0, 0, 0, *vertices[f].ravel(), 0) for f in faces)
    return bytes(80) + struct.pack("<I", len(faces) if count is None else count) + triangles


def dae(nodes='<node id="a"><instance_geometry url="#g"><bind_material><technique_common><instance_material symbol="m" target="#m"/>'
              '</technique_common></bind_material></instance_geometry></node>', head="", library="", unit="0.001", effect="e", points="0 0 0 1 0 0 0 1 0 0 0 1"):
    return f"""<?xml version="1.0"?>{head}<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="{unit}"/><up_axis>Y_UP</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON><technique sid="t"><lambert><diffuse><color>1 0.5 0 1</color></diffuse></lambert></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#{effect}"/></material></library_materials>
<library_geometries><geometry id="g"><mesh><source id="p"><float_array id="pa" count="12">{points}</float_array>
<technique_common><accessor source="#pa" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4" material="m"><input semantic="VERTEX" source="#v" offset="0"/><p>{" ".join(map(str, FACES.ravel()))}</p></triangles></mesh></geometry></library_geometries>
<library_nodes>{library}</library_nodes>
<library_visual_scenes><visual_scene id="s">{nodes}</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>""".encode()


@pytest.fixture
def package(tmp_path):
    """A package of a robot beside what it has no business with; (robot file, root of the package)."""
    root = tmp_path / "arm_description"
    for folder in (root / "urdf", root / "meshes", tmp_path / "secret", tmp_path / "elsewhere" / "hand" / "meshes"):
        folder.mkdir(parents=True)
    (root / "urdf" / "arm.urdf").write_text("<robot/>")
    for file in (root / "meshes" / "a.stl", tmp_path / "secret" / "a.stl", tmp_path / "elsewhere" / "hand" / "meshes" / "h.stl"):
        file.write_bytes(stl())
    return root / "urdf" / "arm.urdf", root


def shown(files, name, sizes=(1, 1, 1)):
    return files.parts(da.Visual("mesh", sizes, mesh=name, source=da.Source("arm.urdf", 7)))


def only(parts):
    part, = parts
    return part


@pytest.mark.parametrize("name", ["package://arm_description/meshes/a.stl", "model://arm_description/meshes/a.stl", "PACKAGE://arm_description/meshes/a.stl",
                                  "package:///arm_description/meshes/a.stl", "package://arm_description/urdf/../meshes/a.stl"])
def test_meshes_of_the_package_are_found(package, name):
    assert len(only(shown(MeshFiles(str(package[0])), name)).faces) == 4


@pytest.mark.parametrize("name", ["../meshes/a.stl", "..\\meshes\\a.stl", "package://renamed/meshes/a.stl", "file://{root}/meshes/a.stl", "{root}/meshes/a.stl"])
def test_a_manifest_marks_the_root_of_a_package(package, name):
    file, root = package
    name = name.format(root=root)
    assert shown(MeshFiles(str(file)), name) == ()
    (root / "package.xml").write_text("<package/>")
    assert len(only(shown(MeshFiles(str(file)), name)).faces) == 4


def test_folders_of_the_user_are_looked_in(package, tmp_path):
    for folder in (tmp_path / "elsewhere", tmp_path / "elsewhere" / "hand"):
        assert shown(MeshFiles(str(package[0]), [folder]), "package://hand/meshes/h.stl")
    assert shown(MeshFiles("", [tmp_path / "elsewhere" / "hand"]), "meshes/h.stl")
    assert not shown(MeshFiles(str(package[0])), "package://hand/meshes/h.stl")


@pytest.mark.parametrize("name", ["../../secret/a.stl", "package://arm_description/../secret/a.stl", "package://../secret/a.stl", "{tmp}/secret/a.stl",
                                  "file://{tmp}/secret/a.stl", "link.stl", "linked/a.stl", "http://127.0.0.1:9/a.stl", "ftp://x/a.stl", "a\0.stl", "fifo.stl",
                                  "C:\\a.stl", "", "x" * 5000, "package://home/a.stl", "/dev/zero", ".", "loop.stl"])
def test_nothing_else_is_opened(package, tmp_path, name, monkeypatch):
    file, root = package
    (root / "package.xml").write_text("<package/>")
    (file.parent / "link.stl").symlink_to(tmp_path / "secret" / "a.stl")
    (file.parent / "linked").symlink_to(tmp_path / "secret")
    (file.parent / "loop.stl").symlink_to(file.parent / "loop.stl")
    os.mkfifo(file.parent / "fifo.stl")
    files = MeshFiles(str(file))
    if name:
        assert shown(files, name.format(tmp=tmp_path)) == ()
        assert [(f.severity, f.source.line) for f in files.findings()] == [("warning", 7)]
    else:
        with pytest.raises(mesh_folders.MeshError):
            files.folders.path(name)


@pytest.mark.parametrize("name", [r"\\evil\share\a.stl", "//evil/share/a.stl", "file:////evil/a.stl", "package://x///evil/a.stl"])
def test_names_of_other_machines_are_refused_before_they_are_looked_for(package, name, monkeypatch):
    """Windows would ask the machine as soon as the path is resolved."""
    monkeypatch.setattr(mesh_folders, "resolved", lambda path: pytest.fail(f"{path} is looked for"))
    with pytest.raises(mesh_folders.MeshError, match="another machine"):
        mesh_folders.MeshFolders(str(package[0])).path(name)


def test_home_is_no_package(tmp_path, monkeypatch):
    """A robot file in the home folder cannot call all of it its package."""
    home = tmp_path / "user"
    (home / "robots").mkdir(parents=True)
    (home / "robots" / "r.urdf").write_text("<robot/>")
    (home / "a.stl").write_bytes(stl())
    monkeypatch.setenv("HOME", str(home))
    assert not shown(MeshFiles(str(home / "robots" / "r.urdf")), "package://user/a.stl")
    monkeypatch.setenv("HOME", str(tmp_path / "other"))
    assert shown(MeshFiles(str(home / "robots" / "r.urdf")), "package://user/a.stl")


def volume(part):
    a, b, c = (part.vertices[part.faces[:, k]] for k in range(3))
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6


def test_formats_agree(package):
    file, root = package
    (root / "urdf" / "a.obj").write_text("mtllib a.mtl\nusemtl red\n" + "".join(f"v {x} {y} {z}\n" for x, y, z in TETRAHEDRON)
                                         + "".join("f " + " ".join(str(k + 1) for k in f) + "\n" for f in FACES))
    (root / "urdf" / "a.mtl").write_text("newmtl red\nKd 1 0.5 0\nmap_Kd ../../secret/picture.png\n")
    (root / "urdf" / "a.dae").write_bytes(dae())
    (root / "urdf" / "b.dae").write_bytes(dae(effect="broken", unit="1"))
    files = MeshFiles(str(file))
    obj, collada, broken = (only(shown(files, name)) for name in ("a.obj", "a.dae", "b.dae"))
    assert volume(only(shown(files, "package://arm_description/meshes/a.stl"))) == pytest.approx(1 / 6)
    assert volume(obj) == pytest.approx(1 / 6) and volume(collada) == pytest.approx(1e-9 / 6) and volume(broken) == pytest.approx(1 / 6)
    np.testing.assert_allclose(obj.colour, (1, 0.5, 0, 1), atol=0.01)
    np.testing.assert_allclose(collada.colour, (1, 0.5, 0, 1))
    assert broken.colour is None and not files.findings()
    assert volume(only(shown(files, "a.obj", (-2, 1, 1)))) == pytest.approx(2 / 6)      # a mirror turns the faces round


LAUGHS = '<!DOCTYPE d [<!ENTITY a "ha">' + "".join(f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 10}">' for k in range(9)) + "]>"
TWICE = "".join(f'<node id="n{k}">{f"<instance_node url=#n{k + 1}/>" * 2}</node>'.replace("=#", '="#').replace("/>", '"/>') for k in range(40))
HOSTILE = {
    "billion laughs": ("x.dae", dae(head=LAUGHS, points="&j;"), "document type"),
    "external entity": ("x.dae", dae(head='<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd">]>', points="&a;"), "document type"),
    "nodes twice and twice": ("x.dae", dae(nodes=TWICE.replace('<instance_node url="#n40"/>', "")), "more than MAX_NODES"),
    "circle": ("x.dae", dae(library='<node id="b"><instance_node url="#b"/></node>', nodes='<node id="c"><instance_node url="#b"/></node>'), "in a circle"),
    "deep": ("x.dae", dae(nodes="<node>" * 200 + "</node>" * 200), "nested too deeply"),
    "no XML": ("x.dae", b"PK\x03\x04", "no well-formed XML"),
    "nan": ("x.obj", b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "vertices that are no numbers"),
    "few points": ("x.dae", dae(points="0 0 0 1 0 0"), "its file"),
    "untrue count": ("x.stl", stl(count=2**32 - 1), "its file"),
    "no triangles": ("x.obj", b"v 0 0 0\n", "its file"),
    "far vertex": ("x.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "its file"),
    "format": ("x.blend", b"BLENDER", "its format '.blend' is not read"),
}


@pytest.mark.parametrize("name, data, message", HOSTILE.values(), ids=HOSTILE)
def test_a_wrong_mesh_is_a_finding(package, name, data, message):
    file, root = package
    (root / "urdf" / name).write_bytes(data)
    files = MeshFiles(str(file))
    assert shown(files, name) == () and shown(files, name) == ()
    finding, = files.findings()
    assert message in finding.why and "and 1 more" in finding.what


def test_limits_hold(package, monkeypatch):
    file, root = package
    grid = np.stack(np.meshgrid(*[np.arange(30.0)] * 2, [0.0], indexing="ij"), -1).reshape(-1, 3)
    corners = np.array([[k, k + 30, k + 1] for k in range(30 * 29 - 1)])
    (root / "urdf" / "fine.stl").write_bytes(stl(grid, corners))
    monkeypatch.setattr(mesh_files, "MAX_FACES", 300)
    files = MeshFiles(str(file))
    coarse = only(shown(files, "fine.stl"))
    assert 50 < len(coarse.faces) <= 300 and np.ptp(coarse.vertices, axis=0)[0] > 25
    assert [f.severity for f in files.findings()] == ["note"]
    for limit, why in (("MAX_READ_FACES", "triangles"), ("MAX_MESHES", "files of meshes"), ("MAX_TOTAL_BYTES", "MiB")):
        with monkeypatch.context() as patch:
            patch.setattr(mesh_files, limit, 0)
            files = MeshFiles(str(file))
            assert shown(files, "fine.stl") == () and why in files.findings()[0].why
    monkeypatch.setattr(mesh_folders, "MAX_MESH_BYTES", 10)
    assert shown(MeshFiles(str(file)), "fine.stl") == ()
