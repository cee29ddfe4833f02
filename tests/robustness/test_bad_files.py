"""Robot files that are wrong, hostile or strange: one clear error with file, line and fix, in bounded time."""

import os
import pickle
import re
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.model import numbers, validation
from dalembert.readers import arithmetic, toml_tables, unread, urdf_content, urdf_elements, xml
from dalembert.readers import load as load_module

DATA = Path(__file__).parents[1] / "data"
BASE = '<link name="base"/>'
INERTIA = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def link(name="a", inertial=f'<mass value="1"/>{INERTIA}'):
    return f'<link name="{name}"><inertial>{inertial}</inertial></link>'


def joint(name="j", kind="revolute", parent="base", child="a", inner=f'<axis xyz="0 0 1"/>{LIMIT}'):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inner}</joint>'


def robot(*parts):
    """Text of a URDF with one part a line: the first part stands in line 2."""
    return "\n".join(['<robot name="r">', *parts, "</robot>"])


def arm(*more, a=None, j=None):
    """base -j- a, in lines 2 to 4; more parts from line 5."""
    return robot(BASE, a or link(), j or joint(), *more)


def refused(text, tmp_path, message, line=None, kind=da.ReadError, **options):
    """Load a text or bytes from a file and check the one-line message of its error."""
    file = tmp_path / "robot.urdf"
    file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", errors="surrogatepass"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DalembertWarning)
        with pytest.raises(kind) as caught:
            da.load(file, **options)
    said = str(caught.value)
    assert re.search(message, said), said
    assert "\n" not in said and len(said) < 2000
    assert str(file) in said
    if line is not None:
        assert f"{file}, line {line}" in said, said
    assert str(pickle.loads(pickle.dumps(caught.value))) == said
    return caught.value


# --- not XML, or hostile XML ----------------------------------------------------------------------------------------

BOMB = ('<!DOCTYPE r [<!ENTITY a0 "aaaaaaaaaa">'
        + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10)) + "]>")

NOT_XML = {
    "truncated": (arm()[:-40], "not well-formed XML: .+", 4),
    "truncated in a tag": (arm()[:200], "not well-formed XML", None),
    "empty": (b"", "the file is empty", None),
    "only blanks": (b" \n\t ", "the file is empty", None),
    "only a comment": ("<!-- nothing -->", "not well-formed XML|no XML element", None),
    "garbage": (b"<" + bytes(range(256)), "not well-formed XML: (invalid character|byte 0x.* does not fit)", None),
    "zeros": (bytes(1000), "not well-formed XML", None),
    "machine code": (b"\x7fELF" + bytes(range(256)) * 40, "not well-formed XML", None),
    "text before": ("hello " + arm(), "not well-formed XML: Start tag expected", 1),
    "text after": (arm() + "\nhello", "not well-formed XML: Extra content", 6),
    "two roots": (arm() + arm(), "not well-formed XML: Extra content", None),
    "two equal attributes": ('<robot name="a" name="b"/>', "not well-formed XML: an attribute is given twice, near 'name=", 1),
    "null character": ('<robot name="a\0b"/>', "not well-formed XML: [Ii]nvalid character", 1),
    "control character by number": (robot('<link name="a&#27;[2J"/>'), "not well-formed XML: invalid character number", 2),
    "unfinished comment": (robot("<!--  \x9b2J -- \n\n" + "x" * 1000, BASE), "not well-formed XML: .*omment", None),
    "long comment": (robot(f"<!--{'x' * 10_000_100}-->", BASE), "comment of more than MAX_RUN = 4000000 characters", 2),
    "long attribute": (robot(f"<link name='{'x' * 10_000_100}'/>"), "a tag, text or comment of more than MAX_RUN", 2),
    "undefined entity": (robot('<link name="&foo;"/>'), "Entity 'foo' not defined", 2),
    "undefined entity in text": (robot("&foo;", BASE), "Entity 'foo' not defined", 2),
    "entity bomb": (BOMB + "<robot>&a9;</robot>", "document type declarations and entities are not read. Remove", 1),
    "entity bomb in an attribute": (BOMB + '<robot name="&a9;"/>', "document type declarations .* Remove", 1),
    "entity bomb in UTF-16": (f'<?xml version="1.0" encoding="utf-16"?>\n{BOMB}<robot name="&a9;"/>'.encode("utf-16"),
                              "document type declarations", 2),
    "entity in UTF-7": (b'<?xml version="1.0" encoding="utf-7"?>+ADwAIQ-DOCTYPE r [+ADwAIQ-ENTITY e "x">]>'
                        b'<robot name="&e;"><link name="a"/></robot>', "document type declarations|encoding", None),
    "external entity": ('<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]>\n<robot>&x;<link name="a"/></robot>',
                        "document type declarations", 1),
    "external entity from the network": ('<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd">\n' + arm(),
                                         "document type declarations", 1),
    "parameter entity": ('\n<!DOCTYPE r [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x"> %p;]>' + arm(),
                         "document type declarations|not well-formed", None),
    "deep": ("<robot>" + "<a>" * 100_000 + "</a>" * 100_000 + "</robot>",
             "nested more than MAX_DEPTH = 100 deep", 1),
    "unknown encoding": (b'<?xml version="1.0" encoding="klingon"?>' + arm().encode(), "encoding.*klingon", 1),
    "UTF-8 declared, ISO-8859-1 inside": ('<robot name="\xfc"><link name="a"/></robot>'.encode("latin-1"),
                                          "not well-formed XML: .*(encod|UTF-8)", 1),
    "UTF-16 declared, ASCII inside": (b'<?xml version="1.0" encoding="utf-16"?><robot/>',
                                      "not well-formed XML|no <link>", 1),
    "lone surrogate": ('<robot name="\ud800"><link name="a"/></robot>', "not well-formed XML", 1),
    "SDF": ('<sdf version="1.6"><model name="x"/></sdf>', "model 'x' has no <link>", 1),
    "xacro macro": ('<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r">\n<link name="a"/>\n<xacro:include '
                    'filename="arm.xacro"/></robot>', "<xacro:include> is not expanded.*`xacro FILE > EXPANDED`", 3),
    "xacro property": ('<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r"><xacro:property name="m" value="1"/>'
                       '<link name="a"><inertial><mass value="${m}"/></inertial></link></robot>', "<xacro:property>", 1),
    "web page": ("<html><body>404 not found</body></html>", "root element is <html>, expected <robot>", 1),
    "nearly a robot": ("<robots/>", "root element is <robots>, expected <robot>", 1),
}


@pytest.mark.parametrize("case", NOT_XML)
def test_file_that_is_no_robot_gives_one_error(case, tmp_path):
    text, message, line = NOT_XML[case]
    refused(text, tmp_path, message, line)


def test_document_type_is_not_read_from_comments():
    assert da.load("<!-- <!DOCTYPE r> --><robot name='r'><link name='a'/></robot>").nv == 0


def test_errors_in_text_and_bytes_have_a_place_too():
    for source, name in ((arm(j=joint(kind="revolut")), "<text>"), (arm(j=joint(kind="revolut")).encode(), "<bytes>")):
        with pytest.raises(da.ReadError, match=f"^{name}, line 4: ") as caught:
            da.load(source)
        assert (caught.value.file, caught.value.line) == (name, 4)


# --- wrong content --------------------------------------------------------------------------------------------------

def with_mass(text):
    return arm(a=link(inertial=f'<mass value="{text}"/>{INERTIA}'))


NUMBERS = {text: (with_mass(text), f"<mass> value: {re.escape(repr(text))} is not a decimal number", 3)
           for text in ("nan", "NaN", "inf", "-inf", "Infinity", "1,5", "0x10", "1_000", "--1", "+-1", "1e", "1e+", ".",
                        "+", "e3", "1.2.3", "1 2", "1d3", "one", "١٢", "１", "½", "1\u2212", "0b1", "1/2",
                        "1j", "true", "None", "__import__('os')")}
NUMBERS |= {text: (with_mass(text), f"'{text}' is too {size} for a number", 3)
            for text, size in (("1e999", "large"), ("-1e309", "large"), ("1e999999999999", "large"),
                               ("1e-999", "small"), ("1e-999999999999", "small"))}
NUMBERS |= {
    "empty number": (with_mass(""), "link 'a': <mass> has an empty attribute 'value'", 3),
    "blank number": (with_mass("  "), "link 'a': <mass> has an empty attribute 'value'", 3),
    "xacro arithmetic": (with_mass("${mass}"), "'\\$\\{mass\\}' is not expanded: this is a source of xacro. Run `xacro", 3),
    "xacro in a vector": (arm(j=joint(inner='<origin xyz="0 0 ${a + 1}"/>')), "is not expanded: this is a source of xacro", 4),
    "long number": (with_mass("1" * 4000), "number of 4000 characters .* at most 100 are read", 3),
    "number of a million digits": (with_mass("1" * 10**6), "1000000 characters, the limit MAX_ATTRIBUTE is 4096", 3),
    "two numbers in xyz": (arm(j=joint(inner='<origin xyz="1 2"/>')), "xyz='1 2' has 2 numbers, expected 3", 4),
    "four numbers in rpy": (arm(j=joint(inner='<origin rpy="1 2 3 4"/>')), "rpy='1 2 3 4' has 4 numbers", 4),
    "commas in xyz": (arm(j=joint(inner='<origin xyz="1, 2, 3"/>')), "'1,' is not a decimal number.*Separate numbers by spaces", 4),
    "commas alone in xyz": (arm(j=joint(inner='<origin xyz="1,2,3"/>')), "origin of joint 'j': xyz='1,2,3' has commas, expected 3", 4),
    "one number in xyz": (arm(j=joint(inner='<origin xyz="1"/>')), "xyz='1' has 1 number, expected 3", 4),
    "empty xyz": (arm(j=joint(inner='<origin xyz=""/>')), "origin of joint 'j': <origin> has an empty attribute 'xyz'", 4),
    "many numbers in xyz": (arm(j=joint(inner=f'<origin xyz="{"1 " * 2000}"/>')), "has 2000 numbers, expected 3", 4),
    "two numbers in axis": (arm(j=joint(inner='<axis xyz="0 1"/>')), "axis of joint 'j': xyz='0 1' has 2 numbers", 4),
    "letters in inertia": (arm(a=link(inertial='<mass value="1"/><inertia ixx="a" iyy="1" izz="1"/>')),
                           "<inertia> ixx: 'a'", 3),
    "letters in limit": (arm(j=joint(inner='<limit lower="a" upper="1"/>')), "<limit> lower: 'a'", 4),
    "letters in damping": (arm(j=joint(inner='<dynamics damping="a"/>')), "<dynamics> damping: 'a'", 4),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_text_that_is_no_number_is_refused(case, tmp_path):
    text, message, line = NUMBERS[case]
    refused(text, tmp_path, message, line)


CHILD = '<parent link="base"/><child link="a"/>'
FOLLOW = '<axis xyz="0 0 1"/>' + LIMIT
STRUCTURE = {
    "link without a name": (robot("<link/>"), "<link> has no attribute 'name'", 2),
    "link with an empty name": (robot('<link name=""/>'), "<link> has an empty attribute 'name'", 2),
    "joint without a name": (arm(j=f'<joint type="fixed">{CHILD}</joint>'), "<joint> has no attribute 'name'", 4),
    "joint without a type": (arm(j=f'<joint name="j">{CHILD}</joint>'), "<joint> has no attribute 'type'", 4),
    "joint without a parent": (arm(j='<joint name="j" type="fixed"><child link="a"/></joint>'),
                               "joint 'j' has no <parent link=...>", 4),
    "joint without a child": (arm(j='<joint name="j" type="fixed"><parent link="base"/></joint>'),
                              "joint 'j' has no <child link=...>", 4),
    "parent without a link": (arm(j='<joint name="j" type="fixed"><parent/><child link="a"/></joint>'),
                              "joint 'j': <parent> has no attribute 'link'", 4),
    "child without a link": (arm(j='<joint name="j" type="fixed"><parent link="base"/><child/></joint>'),
                             "joint 'j': <child> has no attribute 'link'", 4),
    "axis without numbers": (arm(j=joint(inner="<axis/>")), "<axis> has no attribute 'xyz'", 4),
    "mass without a value": (arm(a=link(inertial="<mass/>")), "<mass> has no attribute 'value'", 3),
    "mimic without a joint": (arm(j=joint(inner="<mimic/>")), "<mimic> has no attribute 'joint'", 4),
    "unknown joint type": (arm(j=joint(kind="revolut")),
                           r"unknown joint type 'revolut' \(known: fixed, .*\). Did you mean 'revolute'\?", 4),
    "joint type in capitals": (arm(j=joint(kind="Prismatic")), r"Did you mean 'prismatic'\?", 4),
    "joint type of nobody": (arm(j=joint(kind="xyzzy")), r"unknown joint type 'xyzzy' \(known: [a-z, ]+\)\.$", 4),
    "very long joint type": (arm(j=joint(kind="revolut" * 500)), "unknown joint type 'revolutrev.*\\.\\.\\.'", 4),
    "no links": (robot(), "the robot has no <link>", 1),
    "link name of a million letters": (robot(f'<link name="{"x" * 10**6}"/>'), "the limit MAX_ATTRIBUTE is 4096", 2),
}
MODEL = {
    "two links of one name": (robot(BASE, link(), link(), joint()),
                              "body 'a' .*: the name is used 2 times .*line 3.*line 4.*Rename all but one", 4),
    "two joints of one name": (arm(link("b"), joint(child="b")), "joint 'j' .* used 2 times .*Rename all but one", 4),
    "two parents": (arm(link("b"), joint("k", child="b"), joint("m", parent="b")),
                    "body 'a' .* child of joints 'j' and 'm'.* one joint per child", 7),
    "the same joint twice": (arm(joint("k")), "body 'a' .* child of joints 'j' and 'k'", 5),
    "cycle": (robot(link(), link("b"), joint(parent="b"), joint("k", parent="a", child="b")),
              "bodies 'a', 'b' .*: their joints form a cycle. Remove one joint", 2),
    "cycle beside the base": (robot(BASE, link(), link("b"), joint(parent="b"), joint("k", parent="a", child="b")),
                              "bodies 'a', 'b' .*: their joints form a cycle. Remove one joint", 3),
    "joint of a link with itself": (arm(j=joint(parent="a")),
                                    "joint 'j' .* connects body 'a' to itself. Name another", 4),
    "several roots": (robot(BASE, link(), link("b"), joint()),
                      "2 bodies without a parent .*'base', 'b'.*Connect them", 4),
    "unknown child": (arm(j=joint(child="aa")),
                      r"joint 'j' .* child body 'aa', which does not exist. Did you mean 'a'\?", 4),
    "unknown parent": (arm(j=joint(parent="xyzzy")),
                       "parent body 'xyzzy', which does not exist. Known: 'a', 'base'", 4),
    "axis of length 0": (arm(j=joint(inner='<axis xyz="0 0 0"/>')),
                         r"joint 'j' .*axis has length 0. A revolute joint needs a direction, for example \[0", 4),
    "slide axis of length 0": (arm(j=joint(kind="prismatic", inner='<axis xyz="0 -0.0 0e5"/>')),
                               "axis has length 0", 4),
    "lower above upper": (arm(j=joint(inner='<limit lower="1" upper="-1"/>')),
                          "joint 'j' .*lower limit 1 is above its upper limit -1. Exchange them", 4),
    "negative damping": (arm(j=joint(inner='<dynamics damping="-1"/>')), "joint 'j' .*viscous is -1, below 0", 4),
    "negative friction": (arm(j=joint(inner='<dynamics friction="-2"/>')), "joint 'j' .*coulomb is -2, below 0", 4),
    "follower of nobody": (arm(link("b"), joint("k", child="b", inner=FOLLOW + '<mimic joint="jj"/>')),
                           r"joint 'k' .*joint to follow 'jj', which does not exist. Did you mean 'j'\?", 6),
    "follower of itself": (arm(j=joint(inner=FOLLOW + '<mimic joint="j"/>')), "joint 'j' .*follows itself", 4),
    "followers in a ring": (arm(link("b"), joint("k", child="b", inner=FOLLOW + '<mimic joint="j"/>'),
                                j=joint(inner=FOLLOW + '<mimic joint="k"/>')),
                            r"joint 'j' .*follows itself \(j -> k -> j\)", 4),
    "follower of a fixed joint": (arm(link("b"), joint("k", child="b", inner=FOLLOW + '<mimic joint="j"/>'),
                                      j=joint(kind="fixed", inner="")), "joint 'k' .*follows 'j', a fixed joint", 6),
    "follower of a floating joint": (arm(link("b"), joint("k", child="b", inner=FOLLOW + '<mimic joint="j"/>'),
                                         j=joint(kind="floating", inner="")),
                                     "joint 'k' .*follows 'j', a free joint", 6),
    "101 followers in a row": (robot(BASE, *(link(f"l{k}") + joint(
        f"j{k}", "continuous", child=f"l{k}", inner=f'<mimic joint="j{k - 1}"/>' if k else "") for k in range(103))),
        "joint 'j102' .*more than MAX_FOLLOWING = 100 followers", 105),
}


@pytest.mark.parametrize("case", STRUCTURE)
def test_missing_or_unknown_part_is_named(case, tmp_path):
    text, message, line = STRUCTURE[case]
    refused(text, tmp_path, message, line)


def test_names_given_twice_hide_no_names_that_do_not_exist():
    text = arm(link("b"), joint(child="b"), joint("k", parent="b", child="tool"))
    with pytest.raises(da.ModelError) as error:
        da.load(text)
    assert [re.findall("used 2 times|'tool', which", finding.why) for finding in error.value.findings] == [["used 2 times"], ["'tool', which"]]


@pytest.mark.parametrize("case", MODEL)
def test_parts_that_form_no_tree_are_named(case, tmp_path):
    text, message, line = MODEL[case]
    error = refused(text, tmp_path, message, line, kind=da.ModelError)
    assert error.findings and all(f.severity == "error" for f in error.findings)


def test_all_faults_of_a_model_are_found_at_once(tmp_path):
    text = arm(link("b"), joint("k", child="nobody"), joint("m", child="b", inner='<axis xyz="0 0 0"/>'))
    error = refused(text, tmp_path, "'nobody'.*; .*axis has length 0", kind=da.ModelError)
    assert len(error.findings) == 2


def test_strict_refuses_what_load_only_warns_of(tmp_path):
    cases = {
        "negative mass": (f'<mass value="-1"/>{INERTIA}', "body 'a' .*mass is -1 kg, below 0. Give a positive mass"),
        "triangle": ('<mass value="1"/><inertia ixx="1" iyy="1" izz="5" ixy="0" ixz="0" iyz="0"/>',
                     r"body 'a' .*principal moments 1, 1, 5 kg m\^2 break I1 \+ I2 >= I3. Are they about the centre"),
        "indefinite": ('<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="2" ixz="0" iyz="0"/>',
                       "body 'a' .*principal moments -1, 1, 3 .*not all positive. Check the signs of the products"),
    }
    for name, (inertial, message) in cases.items():
        text = arm(a=link(inertial=inertial))
        with pytest.warns(da.DalembertWarning, match=message):
            model = da.load(text)
        assert [f.severity for f in model.check()] == ["error"], name
        refused(text, tmp_path, message, 3, kind=da.ModelError, strict=True)


def test_many_faults_are_counted_and_all_kept(tmp_path):
    bad = '<mass value="-1"/>' + INERTIA
    text = robot(BASE, *(link(f"l{k}", bad) + joint(f"j{k}", child=f"l{k}") for k in range(200)))
    error = refused(text, tmp_path, "body 'l0' and 199 more alike .*line 3.: its mass is -1 kg, below 0. Give a positive mass.$", kind=da.ModelError, strict=True)
    assert len(error.findings) == 200


def test_semidefinite_inertia_passes_strict():
    for moments in ('ixx="1" iyy="1" izz="2"', 'ixx="0" iyy="0" izz="0"'):
        inertia = f'<inertia {moments} ixy="0" ixz="0" iyz="0"/>'
        assert da.load(arm(a=link(inertial=f'<mass value="1"/>{inertia}')), strict=True).nv == 1


def test_zero_axis_of_a_fixed_joint_is_not_looked_at():
    for inner in ('<axis xyz="0 0 0"/>', '<axis xyz="none"/>', "<axis/>"):
        assert da.load(arm(j=joint(kind="fixed", inner=inner))).nv == 0


@pytest.mark.parametrize("com", ["1e155", "1e200", "1e308"])
@pytest.mark.parametrize("kind", ["revolute", "floating"])
def test_numbers_at_the_end_of_the_range_of_doubles_warn_of_units_only(com, kind):
    far = link(inertial=f'<origin xyz="{com} 0 0"/><mass value="1"/>{INERTIA}')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", da.DalembertWarning)
        found = da.load(arm(a=far, j=joint(kind=kind))).check()
    assert any("Are these millimetres" in str(finding) for finding in found)


def test_tiny_and_huge_axes_are_scaled():
    for axis, unit in (("0 0 1e-300", (0, 0, 1)), ("1e-300 0 1e-300", (0.5**0.5, 0, 0.5**0.5)),
                       ("1e308 0 1e308", (0.5**0.5, 0, 0.5**0.5)), ("5e-324 0 0", (1, 0, 0))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", da.DalembertWarning)
            model = da.load(arm(j=joint(inner=f'<axis xyz="{axis}"/>{LIMIT}')))
        with pytest.warns(da.DalembertWarning, match="axis has length (?!0;).*it is scaled to 1"):
            model.warn()
        np.testing.assert_allclose(da.jacobian(model, [0.0], "a")[:3, 0], unit, atol=1e-15)


def test_missing_inertial_parts_are_warned_of():
    with pytest.warns(da.DalembertWarning, match="link 'a' .*has no <mass>; taken as 0"):
        da.load(arm(a=link(inertial=INERTIA)))
    with pytest.warns(da.DalembertWarning, match="link 'a' .*has no <inertia>"):
        da.load(arm(a=link(inertial='<mass value="1"/>')))
    with pytest.warns(da.DalembertWarning, match="<inertia> lacks ixz, iyz"):
        da.load(arm(a=link(inertial='<mass value="1"/><inertia ixx="1" ixy="0" iyy="1" izz="1"/>')))


def escaped(name):
    """A name as an XML attribute."""
    for plain, reference in (("&", "&amp;"), ("<", "&lt;"), ('"', "&quot;"), ("\n", "&#10;"), ("\t", "&#9;")):
        name = name.replace(plain, reference)
    return name


# --- names ----------------------------------------------------------------------------------------------------------

def test_strange_names_are_kept_and_shown_on_one_line(tmp_path):
    """Names are data: never evaluated, never a path, always quoted in messages."""
    strange = ["__import__('os').system('x')", "it's \"quoted\"", "two\nlines", "tab\there", "../../etc/passwd",
               "%s{0}${x}", "x" * 4000, " blank ", "a.b[0]", "\u202egnp", "\x9b2J", "<&>", "\U0001f916"]
    parts = [BASE]
    for k, name in enumerate(map(escaped, strange)):
        parts += [link(name), joint(f"{name} {k}", "continuous", child=name, inner="")]
    model = da.load(robot(*parts))
    assert [b.name for b in model.bodies] == ["base", *strange]
    assert model.coordinate_names == tuple(f"{name} {k}" for k, name in enumerate(strange))
    assert da.placement(model, model.neutral(), strange[2]).shape == (4, 4)
    for name in strange:
        assert model.number(f"{name}.mass") == 1
        if len(name) > 100:
            continue
        error = refused(robot(BASE, link(escaped(name))), tmp_path, "2 bodies without a parent", 3, kind=da.ModelError)
        assert "\x9b" not in str(error) and "\u202e" not in str(error)


# --- random damage --------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", [0, pytest.param(range(1, 40), marks=pytest.mark.slow)])
def test_damaged_file_is_read_or_refused_with_one_line(seed):
    """200 copies of a robot file, each with some bytes changed, cut or put in: never another kind of exception."""
    whole = da.data.path("scara").read_bytes()
    pieces = [b"<", b">", b'"', b"/", b"&#10;", b"\x00", b"\xff", b"1e308", b"-1", b"nan", b"0 0 0", b"fixed",
              b"planar", b"floating", b'<link name="x"/>', b'<mimic joint="j1"/>', b"<!--", b"1e-308", b"link1"]
    for s in np.atleast_1d(seed):
        rng = np.random.default_rng(int(s))
        for _ in range(200):
            data = bytearray(whole)
            values = [m.span(1) for m in re.finditer(b'="([^"]*)"', whole)]
            for _ in range(rng.integers(1, 4)):
                kind, at = rng.integers(4), int(rng.integers(len(data)))
                piece = pieces[rng.integers(len(pieces))]
                if kind == 0:
                    data[at] = rng.integers(256)
                elif kind == 1:
                    data[at:at] = piece
                elif kind == 2:
                    del data[at:at + int(rng.integers(1, 200))]
                else:
                    start, end = values[rng.integers(len(values))]
                    data[start:end] = piece
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", da.DalembertWarning)
                try:
                    model = da.load(bytes(data))
                    assert da.mass_matrix(model, model.neutral()).shape == (model.nv, model.nv)
                except da.ModelError as error:
                    assert str(error).isprintable() and len(str(error)) < 2000
                except da.OverflowedError as error:      # 1e308 where a number stood
                    assert "numbers became too large" in str(error)


def test_angle_beyond_the_resolution_of_multiples_of_pi_is_kept():
    for angle in ("1e300", "1e308", "12345678901.5"):
        model = da.load(arm(j=joint(inner=f'<origin rpy="{angle} 0 0"/><axis xyz="0 0 1"/>{LIMIT}')))
        assert float(model.number("j.rotation[0]")) == float(angle)


# --- where a file comes from ----------------------------------------------------------------------------------------

def test_missing_file_and_directory_are_named(tmp_path):
    for name in ("nowhere.urdf", "nowhere.toml", "a\0b", "nowhere"):
        with pytest.raises(da.MissingFileError, match="there is no such file"):
            da.load(tmp_path / name if "\0" not in name else name)
    with pytest.raises(FileNotFoundError):
        da.load("nowhere.urdf")
    with pytest.raises(da.ReadError, match="cannot be opened .*irectory") as caught:
        da.load(tmp_path)
    assert caught.value.file == str(tmp_path)
    with pytest.raises(da.ReadError, match="cannot be opened"):
        da.load("x" * 5000)
    for nothing in ("", " ", b"", "\n"):
        with pytest.raises(da.ReadError, match="the file is empty"):
            da.load(nothing)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name here")
def test_a_pipe_that_nobody_writes_into_counts_as_empty(tmp_path):
    os.mkfifo(tmp_path / "robot.urdf")
    with pytest.raises(da.ReadError, match="the file is empty"):
        da.load(tmp_path / "robot.urdf")


@pytest.mark.parametrize("text", ['{"robot": {"links": []}}', '\n [1, 2]', '{"a": ', '[{"name": "a"}]'])
def test_json_is_called_json(text):
    for source in (text.encode(), "\ufeff" + text + "\n"):
        with pytest.raises(da.ReadError, match="this is JSON. Robot files are URDF, MJCF or SDF .XML., or TOML"):
            da.load(source)


def test_what_is_no_robot_file_is_said_to_be_neither(tmp_path):
    with pytest.raises(da.ReadError, match="not XML, which begins with '<', and not TOML: Expected"):
        da.load(b"solid mesh\nfacet normal 0 0 0\n")
    (tmp_path / "a.toml").write_text("robot")
    with pytest.raises(da.ReadError, match="a.toml.*: not TOML: Expected"):
        da.load(tmp_path / "a.toml")


def test_source_of_another_type_is_a_type_error():
    for source in (None, 3, 3.5, ["a"], {"a": 1}):
        with pytest.raises(TypeError, match=f"source is {type(source).__name__}; expected a path, bytes or text"):
            da.load(source)


def test_unknown_options_have_a_hint():
    with pytest.raises(da.UnknownNameError, match="unknown base 'floating' .known: fixed, free"):
        da.load(arm(), base="floating")
    with pytest.raises(da.UnknownNameError, match="Did you mean 'exact'"):
        da.load(arm(), mimic="exakt")
    with pytest.raises(da.UnknownNameError, match="unknown joint 'jj' .*Did you mean 'j'"):
        da.load(arm(), lock={"jj": 0})


# --- limits of time and memory --------------------------------------------------------------------------------------

HOSTILE = {      # Python expression for the bytes, message
    "file above MAX_FILE_BYTES": ("b'<robot>' + b' ' * (32 * 2**20)", "larger than MAX_FILE_BYTES = 32 MiB"),
    "elements": ("b'<robot>' + b'<a/>x' * 1_000_001 + b'</robot>'", "more than MAX_ELEMENTS = 1000000"),
    "attributes": ("b'<robot>' + b'<a b=\"1\" c=\"1\" d=\"1\" e=\"1\" f=\"1\"/>' * 900_000 + b'</robot>'",
                   "MAX_ELEMENTS"),
    "attributes of one element": ("('<robot ' + ' '.join(f'a{i}=\"1\"' for i in range(1_000_000)) + '/>').encode()",
                                  "MAX_RUN"),
    "links": ("b'<robot>' + b''.join(b'<link name=\"l%d\"/>' % k for k in range(20_001)) + b'</robot>'",
              "20001 links, the limit MAX_LINKS is 20000"),
    "joints": ("b'<robot><link name=\"a\"/>' + b'<joint/>' * 20_001 + b'</robot>'",
               "20001 joints, the limit MAX_LINKS is 20000"),
    "open elements": ("b'<robot>' + b'<a>' * 5_000_000", "MAX_DEPTH = 100"),
    "long attribute": ("b'<robot name=\"' + b'x' * (30 * 2**20) + b'\"/>'", "MAX_RUN"),
    "comments": ("b'<robot>' + b'x<!---->' * 4_000_000 + b'</robot>'", "no <link>"),
    "names to compare": ("('<robot>' + ''.join(f'<link name=\"link{k}\"/><joint name=\"j{k}\" type=\"fixed\">'"
                         "f'<parent link=\"link{k}\"/><child link=\"lonk{k}\"/></joint>' for k in range(6000))"
                         " + '</robot>').encode()", "which does not exist. Did you mean .*and [0-9]+ more"),
    "repeated names": ("('<robot>' + ''.join(f'<link name=\"l{k // 2}\"/>' for k in range(20_000))"
                       " + '</robot>').encode()",
                       "body 'l0' and 9999 more alike .*used 2 times"),
}
MEASURE = """
import resource, sys, warnings
import dalembert as da
warnings.simplefilter("ignore")
da.load("<robot name='r'><link name='a'/></robot>")
data = {data}
before = resource.getrusage(resource.RUSAGE_SELF)
try:
    da.load(data)
    said = "loaded"
except da.ModelError as error:
    said = str(error)
after = resource.getrusage(resource.RUSAGE_SELF)
print(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))      # of this program, not of its parent
print(int(peak.split()[1]) / 1024 - len(data) / 2**20)      # without the caller's own copy
print(ascii(said[:3000]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells the peak of memory on Linux")
@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_file_is_refused_within_5_seconds_and_500_megabytes(case):
    pytest.importorskip("resource")
    data, message = HOSTILE[case]
    done = subprocess.run([sys.executable, "-c", MEASURE.format(data=data)], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    seconds, megabytes, said = done.stdout.splitlines()
    assert re.search(message, said), said
    assert float(seconds) < 5, f"{seconds} s of processor time"
    assert float(megabytes) < 500


BAD_INERTIA = "xx = 1, yy = 1, zz = 5"
SEVERAL = {
    "urdf": robot(BASE, link(inertial='<mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="5"/>'), link("b", '<mass value="one"/>'),
                  joint(kind="bent"), joint("k", child="b", inner='<axis xyz="1 2"/>')),
    "sdf": '<sdf version="1.9"><model name="m"><link name="base"/><link name="a"><inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>5</izz>'
           '</inertia></inertial></link><link name="b"><inertial><mass>one</mass></inertial></link><joint name="j" type="bent"><parent>base</parent>'
           '<child>a</child></joint><joint name="k" type="revolute"><parent>base</parent><child>b</child><axis><xyz>1 2</xyz></axis></joint></model></sdf>',
    "toml": f'[[body]]\nname = "base"\n[[body]]\nname = "a"\nmass = 1\ninertia = {{ {BAD_INERTIA} }}\n[[body]]\nname = "b"\nmass = ["one"]\n'
            '[[joint]]\nname = "j"\ntype = "bent"\n[[joint]]\nname = "k"\ntype = "revolute"\naxis = [1, 2]\nparent = "base"\nchild = "b"\n',
    "tree": arm(link("b"), a=link(inertial='<mass value="-1"/>' + INERTIA)),
}


def test_an_effort_of_a_follower_is_told_to_bound_no_drive():
    follower = joint("k", child="b", inner=f'<axis xyz="0 0 1"/>{LIMIT}<mimic joint="j" multiplier="2"/>')
    with_limit, without = arm(link("b"), follower), arm(link("b"), follower.replace(' effort="1"', ""))
    said = [[str(f) for f in da.load(text).check() if "follows 'j'" in f.why] for text in (with_limit, without)]
    assert [("bounds no drive" in note) for note, in said] == [True, False]
    assert da.effort_limits(da.load(with_limit)) == [1]      # that of the leader


@pytest.mark.parametrize("case", SEVERAL)
def test_all_faults_of_a_file_are_told_at_once(case):
    """Of links, of joints, and inertias that are impossible, which do not wait until the rest is mended."""
    with pytest.raises(da.ModelError) as caught:
        da.load(SEVERAL[case])
    said = [str(finding) for finding in caught.value.findings]
    expected = ["one", "bent", "k'.*2|axis", "principal moments"] if case != "tree" else ["2 bodies without a parent", "below 0"]
    assert len(said) == len(expected) and all(any(re.search(e, s) for s in said) for e in expected), said


@pytest.mark.parametrize("text", [
    '<sdf version="1.9"><model name="m"><link name="NAME"/></model></sdf>', '[[body]]\nname = "NAME"\n',
    '<robot name="r"><link name="NAME"/></robot>', '<mujoco><worldbody><body name="NAME"/></worldbody></mujoco>',
    '<mujoco><worldbody><site name="NAME"/></worldbody></mujoco>', '[[body]]\nname = "a"\n[[frame]]\nname = "NAME"\nbody = "a"\n'])
def test_very_long_names_are_refused_in_a_short_line(text):
    if "mujoco" in text:
        pytest.importorskip("mujoco")
    with pytest.raises(da.ModelError, match="has 100000 characters, the limit MAX") as caught:
        da.load(text.replace("NAME", "x" * 100_000))
    assert len(str(caught.value)) < 500


def test_long_chains_of_frames_are_placed(tmp_path):
    """Each is placed in the next."""
    frames = "".join(f'<frame name="f{k}" attached_to="f{k + 1}"><pose>1 0 0 0 0 0</pose></frame>' for k in range(2000))
    text = f'<sdf version="1.9"><model name="m"><link name="a"/>{frames}<frame name="f2000" attached_to="a"/></model></sdf>'
    assert float(da.load(text).frames[0].origin.xyz[0]) == 2000


def test_limits_are_those_of_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "files.md").read_text()
    rows = dict(re.findall(r"^\| (`MAX.*?) \| (.*?) \|", page, re.MULTILINE))
    documented = {name.strip("` "): value.replace(" ", "") for names, values in rows.items()
                  for name, value in zip(names.split(","), values.split(","))}
    modules = (arithmetic, load_module, numbers, toml_tables, unread, urdf_content, urdf_elements, validation, xml)
    for name, value in documented.items():
        found = {getattr(module, name) for module in modules if hasattr(module, name)}
        assert found == {int(value) if value.isdigit() else int(value.removesuffix("MiB")) * 2**20}, name


@pytest.mark.parametrize("n", [2_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_long_chain_loads_and_evaluates(n):
    """No recursion limit; about 1 ms a link to read and 0.1 ms a link to evaluate."""
    parts = [link("l0")]
    for k in range(1, n):
        parts += [link(f"l{k}"), joint(f"j{k}", "continuous", f"l{k - 1}", f"l{k}",
                                       '<origin xyz="0.01 0 0"/><axis xyz="0 1 0"/>')]
    model = da.load(robot(*parts), strict=True)
    assert model.nv == n - 1
    q, zero = np.zeros(n - 1), np.zeros(n - 1)
    gravity = da.gravity_vector(model, q)
    outboard = np.arange(n - 1, 0, -1.0)            # masses beyond joint k, each 0.01 m further out than the last
    np.testing.assert_allclose(gravity, -9.81 * 0.01 * outboard * (outboard - 1) / 2, rtol=1e-10, atol=1e-9)
    np.testing.assert_array_equal(da.inverse_dynamics(model, q, zero, zero), gravity)
    assert np.isfinite(da.forward_dynamics(model, q, zero, gravity)).all()
    assert pickle.loads(pickle.dumps(model)) == model


# --- other files (open case O13) ------------------------------------------------------------------------------------

MESHES = ("package://nowhere/x.stl", "package://../../../../etc/passwd", "file:///home/u/x.stl", "meshes\\a.STL",
          "C:\\a\\b.DAE", "../../../etc/passwd", "/dev/zero", "http://127.0.0.1:9/x.stl", "")


def test_mesh_files_are_never_opened(tmp_path):
    """No other file is opened and no socket made while loading, and the missing meshes are no warning."""
    visual = "".join(f'<visual><geometry><mesh filename="{m}"/></geometry></visual>'
                     f'<collision><geometry><mesh filename="{m}" scale="x"/></geometry></collision>' for m in MESHES)
    file = tmp_path / "meshes.urdf"
    file.write_text(robot(BASE, link().replace("</link>", visual + "</link>"), joint()))
    script = textwrap.dedent("""
        import sys, warnings
        warnings.simplefilter("error")
        import dalembert as da
        da.load("<robot name='r'><link name='a'/></robot>")
        opened = []
        sys.addaudithook(lambda event, args: opened.append((event, str(args[0])))
                         if event == "open" or event.startswith(("socket", "subprocess", "os.")) else None)
        model = da.load(sys.argv[1])
        seen = list(opened)
        print(sorted({name for _, name in seen if not name.endswith((".py", ".pyc")) and "__pycache__" not in name}))
        print(sum("is left out" in str(f) for f in model.check()), len(model.bodies[1].visuals), model.nv)
    """)
    done = subprocess.run([sys.executable, "-c", script, str(file)], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 0, done.stderr
    opened, rest = done.stdout.splitlines()
    assert opened == str([str(file)])
    assert rest == "2 8 1"      # the mesh without a name, and the scales that are no numbers
