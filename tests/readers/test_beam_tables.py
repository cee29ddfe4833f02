"""Elastic bodies in TOML files: read, written back exactly, faults with their lines; beams beside a URDF file."""

from fractions import Fraction

import pytest

import dalembert as da
from dalembert.readers.toml import read_toml, write_toml

ARM = """\
name = "arm"

[[body]]
name = "base"

[[body]]
name = "link1"
mass = 0.3
inertia = { xx = 0.001, yy = 0.001, zz = 0.001 }
modes = { bend_y = 3, bend_z = { family = "polynomials", coefficients = [[0, 0, 1], [0, 0, "1/3", 0.5]] }, twist = 1 }

[body.beam]
length = 0.8
EIy = 129.4
EIz = "E*Iz"
GJ = 100
mass_per_length = 0.2466
rotary_inertia = [1e-5, 0, 0]
origin = { xyz = [0.1, 0, 0] }
kinematics = "third_order"
damping = { stiffness = 2e-4 }

[[body]]
name = "link2"
modes = 1

[body.beam]
length = 0.8
EIy = 129.4
EIz = 129.4
mass_per_length = 0.2466

[[joint]]
name = "shoulder"
type = "revolute"
parent = "base"
child = "link1"
axis = [0, 0, 1]

[[joint]]
name = "elbow"
type = "revolute"
parent = "link1"
child = "link2"
axis = [0, 1, 0]
origin = { xyz = [0.9, 0, 0] }
"""
URDF = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0.3 0 0"/><mass value="2.5"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<link name="tool"><inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/></joint>
<joint name="grip" type="fixed"><origin xyz="0.6 0 0.02"/><parent link="upper"/><child link="tool"/></joint></robot>"""
BESIDE = """\
[[body]]
name = "upper"
modes = { bend_y = 2 }

[body.beam]
length = 0.6
EIz = 129.4
mass_per_length = 0.25
"""


def test_a_file_says_all_that_a_beam_has():
    arm = read_toml(ARM)
    beam = arm.body("link1").beam
    assert (beam.length, beam.GJ, beam.EA, beam.kinematics) == (Fraction("0.8"), 100, None, "third_order")
    assert beam.damping == da.Rayleigh(0, Fraction("2e-4")) and beam.origin == da.Origin((Fraction("0.1"), 0, 0))
    assert arm.symbols == ("E", "Iz") and arm.body("link1").mass == Fraction("0.3")
    link1 = [f"link1.{c}" for c in ("bend_y1", "bend_y2", "bend_y3", "bend_z1", "bend_z2", "twist1")]
    assert arm.coordinate_names == ("shoulder", "elbow", *link1, "link2.bend_y1", "link2.bend_z1")
    assert dict(arm.body("link1").modes)["bend_z"].values(1) == [1, Fraction(1, 3) + Fraction("0.5")]


@pytest.mark.parametrize("change", [
    ("", ""), ("modes = 1", ""), ("modes = 1", "elements = 3"), ("modes = 1", "modes = 0"), ("modes = 1", "modes = { bend_z = 1 }"), ("0.2466\n\n[[joint]]", "0.2466\ndamping = {}\n\n[[joint]]"),
    ('modes = 1', 'modes = { bend_y = { family = "legendre", count = 2 }, bend_z = 2 }')])
def test_a_written_file_reads_back_as_the_same_mechanism(change):
    arm = read_toml(ARM.replace(*change) if change[0] else ARM)
    with arm._graph:
        again = read_toml(write_toml(arm))
    assert again == arm and again.identity() == arm.identity()


def test_doubles_and_names_with_dots_survive(tmp_path):
    beam = da.Beam(0.1 + 0.2, EIz=1 / 3, mass_per_length=0.7, rotary_inertia=(1e-7, 0.0, 0.0), damping=da.Rayleigh(0.1, 0.0))
    arm = da.Mechanism("arm", [da.Body("base"), da.Body('a.b "c"', beam=beam, modes={"bend_y": da.beams.ShapePolynomials(((0, 0, 0.1),))})],
                       [da.Joint("hinge", da.Revolute((0, 0, 1)), "base", 'a.b "c"')])
    da.save(arm, tmp_path / "arm.toml")
    assert da.load(tmp_path / "arm.toml") == arm


FAULTS = [
    ('EIy = 129.4\nEIz = "E*Iz"', 'EIy = -1\nEIz = "E*Iz"', "line 14: body 'link1', beam: EIy of a beam is -1"),
    ("EIy = 129.4\nEIz = 129.4", "EIz = 129.4", "line 27: body 'link2': the beam of body 'link2' has no EIy, .* nothing is estimated"),
    ("length = 0.8\nEIy = 129.4\nEIz = \"E", "EIy = 129.4\nEIz = \"E", "line 12: body 'link1', beam: the key 'length' is missing"),
    ("GJ = 100", "GJ = nan", "line 16: .*GJ: 'nan' is not a decimal number"),
    ("GJ = 100", "GJ = 1e999", "line 16: .*GJ"),
    ("GJ = 100", "GJ = true", "line 16: .*GJ is true; expected a number"),
    ("GJ = 100", "GJ = [1]", "line 16: .*GJ is"),
    ("GJ = 100", "GJp = 100", r"line 16: .*unknown key 'GJp' \(known: length, EA, .*\). Did you mean 'GJ'\?"),
    ("GJ = 100", "section = 3", "line 16: .*section"),
    ("length = 0.8\nEIy = 129.4\nEIz = \"E", "length = 0\nEIy = 129.4\nEIz = \"E", "line 13: .*length of a beam is 0"),
    ("[1e-5, 0, 0]", "[1e-5, 0]", "line 18: .*rotary_inertia is a list of 2"),
    ("[1e-5, 0, 0]", "[0, 0, 0]", "line 12: .*twists but has no rotary inertia about x"),
    ("xyz = [0.1, 0, 0]", "xzy = [0.1, 0, 0]", r"line 19: .*unknown key 'xzy'"),
    ("third_order", "third", r"line 20: .*unknown kinematics 'third' .*Did you mean 'third_order'\?"),
    ("stiffness = 2e-4", "stiffness = -2e-4", "line 21: .*stiffness of a Rayleigh damping is -0.0002"),
    ("damping = { stiffness = 2e-4 }", "damping = 0.1", r"line 21: .*damping is 0.1; expected a table"),
    ("modes = 1", "modes = -1", "line 25: .*modes is -1; expected 0 to 64"),
    ("modes = 1", "modes = 1000000000", "line 25: .*modes is 1000000000; expected 0 to 64"),
    ("modes = 1", "modes = 1.5", "line 25: .*expected a whole number"),
    ("modes = 1", "modes = true", "line 25: .*expected a whole number"),
    ("modes = 1", "modes = { bend = 1 }", r"line 25: .*unknown key 'bend' \(known: bend_y, bend_z, twist, stretch\)"),
    ("modes = 1", 'modes = { bend_y = { family = "lagrange" } }', "line 25: .*unknown family 'lagrange'"),
    ("modes = 1", 'modes = { bend_y = { family = "legendre", count = 65 } }', "line 25: .*count is 65"),
    ("modes = 1", 'modes = { bend_y = { family = "legendre", number = 2 } }', "line 25: .*unknown key 'number' for modes of the family 'legendre'"),
    ("modes = 1", 'modes = { bend_y = { family = "polynomials", coefficients = [[0, "a"]] } }', "line 25: .*a coefficient is a symbol"),
    ("modes = 1", f'modes = {{ bend_y = {{ family = "polynomials", coefficients = [{[0] * 101}] }} }}', "line 25: .*101 coefficients; at most 100"),
    ("[body.beam]\nlength = 0.8\nEIy = 129.4\nEIz = 129.4\nmass_per_length = 0.2466", "", "line 23: .*'link2' has modes but no beam"),
    ("[body.beam]\nlength = 0.8\nEIy = 129.4\nEIz = 129.4", "[body.beem]\nlength = 0.8", r"line 27: body 'link2': unknown key 'beem' .*Did you mean 'beam'\?"),
]


@pytest.mark.parametrize(("old", "new", "message"), FAULTS)
def test_faults_have_the_line_of_their_key(old, new, message):
    assert old in ARM
    with pytest.raises(da.ReadError, match=message):
        read_toml(ARM.replace(old, new), "arm.toml")


def test_classes_of_a_users_own_are_not_written():
    class Sine(da.beams.ShapeFunctions):
        count = 1

        def values(self, xi):
            return [da.sin(xi)]

        slopes = curvatures = values

        def identity(self):
            return None

    beam = da.Beam(1.0, EIz=1.0, mass_per_length=1.0)
    arm = da.Mechanism("arm", [da.Body("base"), da.Body("rod", beam=beam, modes={"bend_y": Sine()})], [da.Joint("hinge", da.Revolute((0, 0, 1)), "base", "rod")])
    with pytest.raises(da.ReadError, match="body 'rod' cannot be written: its shape functions in bend_y of class Sine has no table"):
        write_toml(arm)


def test_links_of_a_urdf_file_are_declared_elastic_beside_it(tmp_path):
    urdf, beside = tmp_path / "arm.urdf", tmp_path / "arm_elastic.toml"
    urdf.write_text(URDF)
    beside.write_text(BESIDE)
    arm = da.load(urdf, constraints=beside)
    assert arm.coordinate_names == ("hinge", "upper.bend_y1", "upper.bend_y2")
    assert arm == da.load(urdf).elastic({"upper": arm.body("upper").beam}, {"bend_y": 2})
    notes = [str(f) for f in arm.check()]
    assert f"body 'upper' ({beside}, line 1): its mass, 2.5 kg, centre at (0.3, 0, 0) m, and its moments of inertia are replaced by those of its beam, 0.15 kg, " \
        "centre at (0.3, 0, 0) m." in notes[0]
    assert f"joint 'grip' ({urdf}, line 5): it is 0.02 m off the axis of the beam" in notes[1]
    da.save(arm, tmp_path / "arm.toml")
    assert da.load(tmp_path / "arm.toml") == arm


@pytest.mark.parametrize(("old", "new", "message"), [
    ('"upper"', '"uper"', r"line 2: body 'uper': unknown name 'uper' \(known: base, upper, tool\). Did you mean 'upper'\?"),
    ("modes", "mass = 1\nmodes", "line 3: body 'upper': unknown key 'mass' for a body of the robot file"),
    ("EIz = 129.4", "", "line 5: .*has no EIz"),
    ("EIz = 129.4", "EIz = 0", "line 7: .*EIz of a beam is 0"),
    ("mass_per_length = 0.25", "", "line 5: .*has no mass_per_length"),
    ("mass_per_length = 0.25", "mass_per_length = 0.25\n[[body]]\nname = \"upper\"\n[body.beam]\nlength = 1", "line 10: body 'upper': it is declared twice"),
    ("[body.beam]", "[body.beem]", "line 5: .*unknown key 'beem'"),
])
def test_faults_beside_a_urdf_file_have_its_lines(old, new, message):
    with pytest.raises(da.ReadError, match=message):
        da.load(URDF, constraints=BESIDE.replace(old, new))


# --- families, sections, properties along a beam ---

LINK2 = """modes = 1

[body.beam]
length = 0.8
EIy = 129.4
EIz = 129.4
mass_per_length = 0.2466"""
FAMILIES = {
    "clamped_free": ('{ family = "clamped_free", count = 3 }', da.beams.clamped_free(3)),
    "clamped_clamped": ('{ family = "clamped_clamped", count = 2 }', da.beams.clamped_clamped(2)),
    "pinned_pinned": ('{ family = "pinned_pinned", count = 2 }', da.beams.pinned_pinned(2)),
    "craig_bampton": ('{ family = "craig_bampton", count = 1 }', da.beams.craig_bampton(1)),
    "static": ('{ family = "craig_bampton", count = 0 }', da.beams.craig_bampton(0)),
    "clamped_loaded": ('{ family = "clamped_loaded", count = 2, mass_ratio = 10, inertia_ratio = 0.02 }', da.beams.clamped_loaded(2, 10, 0.02)),
    "hermite": ('{ family = "hermite", elements = 3 }', da.beams.hermite(3)),
    "joined": ('{ family = "joined", of = [{ count = 1 }, { family = "pinned_pinned", count = 2 }] }', da.beams.joined(da.beams.legendre(1), da.beams.pinned_pinned(2))),
}


def with_link2(text, modes="modes = 1"):
    assert LINK2 in ARM
    return ARM.replace(LINK2, f"{modes}\n\n[body.beam]\n{text}")


@pytest.mark.parametrize("name", FAMILIES)
def test_families_of_shape_functions_by_name(name):
    table, functions = FAMILIES[name]
    arm = read_toml(ARM.replace("modes = 1", f"modes = {{ bend_y = {table} }}"))
    assert arm.body("link2").modes == (("bend_y", functions),)
    with arm._graph:
        text = write_toml(arm)
        assert read_toml(text) == arm
    if name not in ("clamped_loaded", "static"):
        assert f'family = "{name}"' in text


TUBE = """length = 0.8
section = { shape = "tube", diameter = 0.0133, wall = 0.0008 }
material = "steel"
"""


def test_a_section_and_a_material_give_the_numbers():
    beam = read_toml(with_link2(TUBE)).body("link2").beam
    expected = da.Beam.of_section(0.8, da.beams.tube(0.0133, 0.0008), da.beams.material("steel"))
    assert {k: float(x) for k, x in beam.numbers().items()} == {k: float(x) for k, x in expected.numbers().items()} and beam.section == expected.section
    stiffer = read_toml(with_link2(TUBE + "EIz = 500\n")).body("link2").beam
    assert stiffer.EIz == 500 and float(stiffer.EIy) == float(expected.EIy)
    own = read_toml(with_link2(TUBE.replace('"steel"', "{ E = 210e9, rho = 7850, nu = 0.3 }"))).body("link2").beam
    assert own == beam


@pytest.mark.parametrize("section", [
    '{ shape = "rectangle", height = 0.01, width = 0.02 }', '{ shape = "round_bar", diameter = 0.01 }', '{ shape = "box", height = 0.02, width = 0.02, wall = 0.001 }',
    '{ shape = "i_profile", height = 0.1, width = 0.055, web = 0.0041, flange = 0.0057 }', "{ area = 1e-4, Iy = 1e-9, Iz = 2e-9 }"])
def test_written_sections_keep_their_stresses(section):
    arm = read_toml(with_link2(TUBE.replace('{ shape = "tube", diameter = 0.0133, wall = 0.0008 }', section)))
    with arm._graph:
        again = read_toml(write_toml(arm))
    assert again == arm and again.body("link2").beam.section == arm.body("link2").beam.section is not None


def test_properties_vary_along_a_beam():
    text = "length = 0.8\nEIy = 100\nEIz = { tapered = [120, 60.5] }\nmass_per_length = { pieces = [[0.4, 0.3], [1, [0.3, 0.1]]] }\ndamping = { ratio = 0.01 }\n"
    arm = read_toml(with_link2(text))
    beam = arm.body("link2").beam
    assert beam.EIz == da.beams.tapered(120, Fraction("60.5")) and beam.damping == da.ModalDamping(Fraction("0.01"))
    assert beam.mass_per_length == da.beams.pieces([(Fraction("0.4"), Fraction("0.3")), (1, (Fraction("0.3"), Fraction("0.1")))])
    elements = read_toml(with_link2(text.replace("ratio", "mass"), "modes = 1\nelements = 2"))
    assert elements.body("link2").elements == 2 and len(elements.body_entries["link2"].at_v) == 4
    for each in (arm, elements):
        with each._graph:
            assert read_toml(write_toml(each)) == each


@pytest.mark.parametrize(("text", "message"), [
    (TUBE.replace("tube", "pipe"), "line 29: .*unknown shape 'pipe'"),
    (TUBE.replace("wall = 0.0008", "wall = 0.01"), "line 29: .*walls of 0.01 m within 0.0133 m"),
    (TUBE.replace("wall = 0.0008", "wall = -1"), "line 29: .*wall of a section is -1"),
    (TUBE.replace(", wall = 0.0008", ""), "line 29: .*the key 'wall' is missing"),
    (TUBE.replace('"steel"', '"still"'), r"line 30: .*unknown material 'still' .*Did you mean 'steel'\?"),
    (TUBE.replace('"steel"', "{ E = 1e9 }"), "line 30: .*the key 'rho' is missing"),
    (TUBE.replace('"steel"', "{ E = 1e9, rho = 1, nu = 0.7 }"), "line 30: .*nu of a material is 0.7"),
    (TUBE.replace('"steel"', "7"), "line 30: .*material is 7; expected a text"),
    ("length = 0.8\nmaterial = 'steel'\n", "line 29: .*it has a material and no section"),
    (TUBE.replace('material = "steel"', ""), "has no mass_per_length"),
    ("length = 0.8\nEIy = 1\nEIz = { tapered = [1] }\nmass_per_length = 1\n", "line 30: .*tapered has 1 values"),
    ("length = 0.8\nEIy = 1\nEIz = { tapered = [1, -2] }\nmass_per_length = 1\n", "line 30: .*EIz of a beam is -2"),
    (f"length = 0.8\nEIy = 1\nEIz = {{ tapered = {[1] * 101} }}\nmass_per_length = 1\n", "line 30: .*101 numbers along the beam; at most 100"),
    ("length = 0.8\nEIy = 1\nEIz = { pieces = [[0.5, 1], [0.4, 2]] }\nmass_per_length = 1\n", "line 30: .*rise to 1"),
    ("length = 0.8\nEIy = 1\nEIz = { }\nmass_per_length = 1\n", "line 30: .*EIz has either tapered or pieces"),
    ("length = 0.8\nEIy = 1\nEIz = 1\nmass_per_length = 1\ndamping = { ratio = -0.1 }\n", "line 32: .*ratio of a modal damping is -0.1"),
    ("length = 0.8\nEIy = 1\nEIz = 1\nmass_per_length = 1\ndamping = { ratio = 0.1, mass = 2 }\n", "line 32: .*unknown key 'mass' for a damping by the ratio"),
])
def test_faults_of_sections_and_properties_have_the_line_of_their_key(text, message):
    with pytest.raises(da.ReadError, match=message):
        read_toml(with_link2(text), "arm.toml")


@pytest.mark.parametrize("elements", ["0", "-1", "1001", "1.5", "true", '"a"'])
def test_a_number_of_elements_is_whole(elements):
    with pytest.raises(da.ReadError, match="line 26: body 'link2': elements is"):
        read_toml(ARM.replace("modes = 1", f"modes = 1\nelements = {elements}"), "arm.toml")


def test_nested_and_long_families_are_bounded():
    nested = '{ family = "joined", of = [' * 9 + "{ count = 1 }" + "] }" * 9
    for modes, message in ((nested, "nested too deeply"), ('{ family = "joined", of = [' + "{ count = 33 }, { count = 33 }" + "] }", "66 functions; at most 64"),
                           (f'{{ family = "eigenfunctions", waves = [{"[1, 0, 0, 0, 0]," * 65}] }}', "65 functions; at most 64"),
                           ('{ family = "clamped_loaded", count = 2, mass_ratio = "m" }', "is a symbol")):
        with pytest.raises(da.ReadError, match=message):
            read_toml(ARM.replace("modes = 1", f"modes = {{ bend_y = {modes} }}"))
