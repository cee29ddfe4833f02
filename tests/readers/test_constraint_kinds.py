"""Every kind of constraint in TOML files: read as in Python, written back equal, faults with their lines."""

import math

import numpy as np
import pytest

import dalembert as da
from dalembert import constraints
from dalembert.readers.constraint_tables import KINDS
from dalembert.readers.toml import read_toml, write_toml

HEAD = """\
name = "rig"
gravity = [0, 0, -10]

[[body]]
name = "base"
[[body]]
name = "arm"
[[body]]
name = "bar"

[[joint]]
name = "turn"
type = "revolute"
parent = "base"
child = "arm"
axis = [0, 1, 0]
[[joint]]
name = "slide 1"
type = "prismatic"
parent = "base"
child = "bar"
axis = [1, 0, 0]

[[constraint]]
name = "c"
"""
FIRST = HEAD.count("\n") + 1      # line behind the name
PLANE = ((0, 0, 0), (0, 0, 1))
CASES = {
    "closure": ('type = "universal"\naxis = [1, 0, 0]\nsecond_axis = [0, 1, 0]\nfirst = { body = "arm", xyz = [1, 0, 0], rpy = [0, 0, "pi/2"] }\n'
                'second = "bar"\n',
                constraints.Closure("c", da.Universal((1, 0, 0), (0, 1, 0)), ("arm", (1, 0, 0), (0, 0, math.pi / 2)), "bar")),
    "distance": ('first = { body = "arm", xyz = [1, 0, 0] }\nsecond = "bar"\nlength = 2\n',
                 constraints.Distance("c", ("arm", (1, 0, 0)), "bar", 2)),
    "coupling": ('factors = { turn = 2, "slide 1" = -3 }\noffset = 1\n',
                 constraints.Coupling("c", {"turn": 2, "slide 1": -3}, 1)),
    "gear": ('driver = "turn"\ndriven = "slide 1"\nratio = -4\n', constraints.Coupling.gear("c", "turn", "slide 1", -4)),
    "rack": ('pinion = "turn"\nrack = "slide 1"\nradius = 2\noffset = 1\n', constraints.Coupling.rack("c", "turn", "slide 1", 2, 1)),
    "screw": ('turn = "turn"\nslide = "slide 1"\npitch = 3\n', constraints.Coupling.screw("c", "turn", "slide 1", 3)),
    "cam": ('driver = "turn"\nfollower = "slide 1"\nunit = "m"\nprofile = { points = [[0, 0], [1, 2], [3, 0]], ends = "clamped" }\n',
            constraints.Cam("c", "turn", "slide 1", constraints.ProfileTable([(0, 0), (1, 2), (3, 0)], "clamped"), "m")),
    "rolling": ('frame = { body = "arm", xyz = [0, 0, 1] }\nradius = 2\nsurface = { normal = [0, 0, 1] }\n',
                constraints.Rolling("c", ("arm", (0, 0, 1)), 2, PLANE)),
    "point_contact": ('frame = "arm"\nsurface = { point = [0, 0, 3], normal = [0, 0, 1] }\n',
                      constraints.PointContact("c", "arm", ((0, 0, 3), (0, 0, 1)))),
    "knife": ('frame = "arm"\naxis = [0, 1, 0]\n', constraints.Knife("c", "arm", (0, 1, 0))),
}


def text(kind):
    return f'{HEAD}kind = "{kind}"\n{CASES[kind][0]}'


def test_every_kind_has_a_case():
    assert CASES.keys() | {"servo"} == KINDS.keys()      # tests/readers/test_program_tables.py has that one


@pytest.mark.parametrize("kind", CASES)
def test_a_kind_is_read_as_in_python_and_written_back_equal(kind):
    mechanism = read_toml(text(kind), "rig.toml")
    read, = mechanism.constraints
    expected = CASES[kind][1]
    if kind == "closure":      # angles of files stay exact
        assert (read.type, read.second) == (expected.type, expected.second)
        assert np.allclose([float(x) for x in read.numbers().values()], [float(x) for x in expected.numbers().values()])
    else:
        assert read == expected
    assert read.source.line == FIRST - 2 and read_toml(write_toml(mechanism)) == mechanism


@pytest.mark.parametrize("kind", CASES)
def test_a_typo_in_a_key_is_found_with_its_line_and_a_hint(kind):
    lines = CASES[kind][0].splitlines()
    for k, line in enumerate(lines):
        key = line.partition(" =")[0]
        wrong = [*lines[:k], line.replace(key, key + "x", 1), *lines[k + 1:]]
        with pytest.raises(da.ModelError) as caught:
            read_toml(f'{HEAD}kind = "{kind}"\n' + "\n".join(wrong), "rig.toml")
        message = str(caught.value)
        if key == "type":
            assert "the key 'type' is missing" in message
        else:
            assert f"rig.toml, line {FIRST + 1 + k}: constraint 'c': unknown key '{key}x' for a {kind}" in message
            assert f"Did you mean {key!r}?" in message


@pytest.mark.parametrize(("kind", "old", "new", "message"), [
    ("coupling", "turn = 2", "tunr = 2", "constraint 'c' (rig.toml, line 24): it names the joint 'tunr', which does not exist. Did you mean 'turn'?"),
    ("coupling", "turn = 2", "turn = true", "line 27: constraint 'c', factors: turn is true; expected a number"),
    ("coupling", 'factors = { turn = 2, "slide 1" = -3 }', "factors = {}", "constraint 'c': factors of coupling 'c' name no joint"),
    ("gear", '"turn"', '"trun"', "it names the joint 'trun', which does not exist. Did you mean 'turn'?"),
    ("distance", "length = 2", "length = -2", "constraint 'c': length of distance 'c'"),
    ("distance", "length = 2", "length = 0", "constraint 'c': length of distance 'c'"),
    ("cam", "[1, 2], [3, 0]", "[1, 2], [1, 0]", "line 30: constraint 'c', profile: points of a profile: the driver's coordinate 1 stands after 1, expected"),
    ("cam", '"clamped"', '"periodik"', "line 30: constraint 'c', profile: unknown ends 'periodik' (known: clamped, natural, periodic)"),
    ("cam", "points = [[0, 0], [1, 2], [3, 0]], ", "", "constraint 'c', profile: the key 'points' is missing"),
    ("cam", "points", "polynomial = [1], points", "unknown key 'points' for a profile with a polynomial"),
    ("rolling", "normal = [0, 0, 1]", "normal = [0, 0, 0]", "the surface of constraint 'c' has a normal of length 0"),
    ("rolling", "normal = ", "norml = ", "line 29: constraint 'c', surface: unknown key 'norml' (known: point, normal). Did you mean 'normal'?"),
    ("rolling", "radius = 2", "radius = -2", "constraint 'c': radius of constraint 'c'"),
    ("knife", "axis = [0, 1, 0]", "axis = [0, 0, 0]", "constraint 'c': axis of knife 'c' has length 0"),
    ("point_contact", '"arm"', '"armm"', "it names the frame 'armm', which does not exist. Did you mean 'arm'?"),
])
def test_faults_are_errors_with_file_and_line(kind, old, new, message):
    assert old in CASES[kind][0]
    with pytest.raises(da.ModelError) as caught:
        read_toml(f'{HEAD}kind = "{kind}"\n' + CASES[kind][0].replace(old, new), "rig.toml")
    assert message in str(caught.value)


def test_a_radius_of_three_is_an_ellipsoid():
    mechanism = read_toml(text("rolling").replace("radius = 2", "radius = [1, 2, 3]"))
    assert mechanism.constraints[0].radius == (1, 2, 3) and read_toml(write_toml(mechanism)) == mechanism


def test_a_polynomial_profile_moves_its_follower():
    mechanism = read_toml(text("cam").replace('points = [[0, 0], [1, 2], [3, 0]], ends = "clamped"', "polynomial = [1, 0, 0.5]"))
    assert read_toml(write_toml(mechanism)) == mechanism
    from dalembert.systems.kinds import system_of

    system = system_of(mechanism)
    assert system.constraints[0].position(system, [2.0, 3.0]) == pytest.approx([0.0])
    assert system.constraints[0].rates(system, [2.0, 3.0], [1.0, 2.0]).velocity == pytest.approx([0.0])


@pytest.mark.parametrize("constraint", [
    constraints.Rolling("c", "arm", 1, lambda p: p[2]), constraints.PointContact("c", "arm", lambda p: p[2]),
    constraints.Cam("c", "turn", "slide 1", lambda x: x), constraints.Velocity("c", lambda q, qd, t: [qd[0]]),
], ids=lambda c: type(c).__name__)
def test_functions_of_python_are_refused_by_name(constraint):
    mechanism = read_toml(HEAD[:HEAD.index("[[constraint]]")]).constrained(constraint)
    with pytest.raises(da.ReadError, match="constraint 'c' cannot be written: .*(Python function|no table)"):
        write_toml(mechanism)
