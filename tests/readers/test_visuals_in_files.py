"""Shapes of bodies in robot files: URDF, and TOML back and forth."""

import pytest

import dalembert as da

GRIPPER = """<robot name="r"><material name="blue"><color rgba="0 0 1 0.5"/></material>
<link name="hand">
<visual><origin xyz="0 0 0.1" rpy="0 1.57 0"/><geometry><box size="1 2 3"/></geometry><material name="blue"/></visual>
<visual><geometry><mesh filename="package://arm/hand.stl" scale="0.001 0.001 -0.001"/></geometry><material name="red"><color rgba="1 0 0 1"/></material></visual>
<visual><geometry><capsule radius="0.1" length="0.5"/></geometry><material name="red"/></visual>
<collision><geometry><sphere radius="0.5"/></geometry></collision>
</link>
<link name="tool"><visual><geometry><cylinder radius="0.1" length="0.2"/></geometry></visual></link>
<joint name="mount" type="fixed"><parent link="hand"/><child link="tool"/></joint></robot>"""
BOX = '<geometry><box size="1 1 1"/></geometry>'
HOSTILE = {
    "negative": ('<geometry><cylinder radius="-1" length="1"/></geometry>', "sizes of a cylinder are above 0 m; -1 is not"),
    "words": ('<geometry><sphere radius="big"/></geometry>', "'big' is not a decimal number"),
    "nan": ('<geometry><sphere radius="nan"/></geometry>', "'nan' is not a decimal number"),
    "too few": ('<geometry><box size="1 1"/></geometry>', "sizes of a box has 2 entries, expected 3"),
    "no length": ('<geometry><cylinder radius="1"/></geometry>', "<cylinder> has no length"),
    "cone": ('<geometry><cone radius="1"/></geometry>', "its geometry is a <cone> .known: box"),
    "empty": ("<geometry/>", "its <geometry> is empty"),
    "nothing": ("", "it has no <geometry>"),
    "no file": ('<geometry><mesh scale="1 1 1"/></geometry>', "<mesh> has no filename"),
    "long file": (f'<geometry><mesh filename="{"x" * 5000}"/></geometry>', "more than 4096 characters"),
    "flat mesh": ('<geometry><mesh filename="x" scale="1 1 0"/></geometry>', "factors other than 0"),
    "origin": (f'<origin xyz="1 2"/>{BOX}', "xyz and rpy of its <origin> are not 3 numbers each"),
    "colour": (f'{BOX}<material name="m"><color rgba="1 2 3 4"/></material>', "a colour is not used: .*0 to 1"),
    "no colour": (f'{BOX}<material name="m"/>', "material 'm' has no colour"),
    "texture": (f'{BOX}<material name="m"><texture filename="x.png"/></material>', "a texture, which is not used, and no colour"),
    "second": (BOX + BOX, "a second <geometry> of a <visual> is not used"),
    "unknown": (f"{BOX}<glow/>", "<glow> of a <visual> is not used"),
}


def loaded(visual):
    return da.load(f'<robot name="r">\n<link name="a">\n<visual>{visual}</visual></link></robot>')


def test_shapes_of_links_are_read():
    hand, tool = da.load(GRIPPER).bodies
    box, mesh, capsule, ball = hand.visuals
    assert (box.kind, box.sizes, box.colour, box.seen) == ("box", (1, 2, 3), (0, 0, 1, 0.5), True)
    assert box.origin == da.Origin.rpy((0, 0, box.origin.xyz[2]), pitch=box.origin.rotations[0][1]) and float(box.origin.rotations[0][1]) == 1.57
    assert (mesh.kind, mesh.mesh, [float(x) for x in mesh.sizes]) == ("mesh", "package://arm/hand.stl", [0.001, 0.001, -0.001])
    assert (capsule.kind, capsule.colour, capsule.source.line) == ("capsule", (1, 0, 0, 1), 5)
    assert (ball.kind, ball.seen) == ("sphere", False)
    assert [v.kind for v in tool.visuals] == ["cylinder"]      # on a fixed joint, on its own body


def test_shapes_are_no_finding():
    assert not [f for f in da.load(GRIPPER).check() if "visual" in str(f) or "collision" in str(f) or f.what == "pictures"]


@pytest.mark.parametrize("visual, message", HOSTILE.values(), ids=HOSTILE)
def test_a_wrong_shape_is_a_note_and_no_more(visual, message):
    notes = [f for f in loaded(visual).check() if f.what == "pictures"]
    assert [(f.severity, f.source.line) for f in notes] == [("note", 3)]
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(str(notes[0]))


def test_many_wrong_shapes_are_few_notes():
    many = "".join(f'<visual><geometry><cone{k}/></geometry></visual><visual><glow/></visual>' for k in range(100))
    notes = [f for f in da.load(f'<robot name="r"><link name="a">{many}</link></robot>').check() if f.what == "pictures" or "more kinds" in f.what]
    assert len(notes) == 21 and "It stands 100 times" in str(notes[2]) and "more kinds" in str(notes[-1])


def test_toml_gives_all_shapes_back(tmp_path):
    arm = da.load(GRIPPER)
    ellipsoid = da.Visual("ellipsoid", (0.1, 0.2, 0.3), da.Origin((0, 0, 1), (((0.6, 0.8, 0), 0.25),)), (0, 1, 0, 1))
    bodies = (*arm.bodies, da.Body("ball", 1.0, visuals=[ellipsoid]))
    arm = da.Mechanism("arm", bodies, (*arm.joints, da.Joint("free", da.Free(), "tool", "ball")))
    da.save(arm, tmp_path / "arm.toml")
    assert [b.visuals for b in da.load(tmp_path / "arm.toml").bodies] == [b.visuals for b in arm.bodies]


@pytest.mark.parametrize("keys, message, line", [
    ('kind = "box"\nsize = [1, 1, -1]', "above 0 m", 8), ('kind = "ball"', "unknown kind 'ball'", 7), ('kind = "sphere"', "'radius' is missing", 6),
    ('kind = "sphere"\nradius = 1\nlength = 2', "unknown key 'length' for a sphere", 9), ('kind = "sphere"\nradius = "r"', "radius has symbols", 8),
    ('kind = "mesh"\nmesh = ""', "mesh is ''", 8), ('kind = "sphere"\nradius = 1\nseen = 1', "seen is 1; expected true or false", 9),
    ('kind = "sphere"\nradius = 1\ncolour = [1, 1]', "colour is a list of 2; expected 3 or 4 numbers", 9)])
def test_wrong_tables_are_refused_with_their_line(keys, message, line):
    with pytest.raises(da.ReadError, match=f"line {line}.*{message}"):
        da.load(f'[[body]]\nname = "a"\n[[body.visual]]\nkind = "mesh"\nmesh = "a.stl"\n[[body.visual]]\n{keys}\n')
