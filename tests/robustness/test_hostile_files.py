"""Nothing of a robot file is lost in silence: each small file of a corpus is an error, a finding, or clean.

`error` is raised by `load`; `lost` is an error among the findings, a warning of `load`, and refused by `strict=True`;
`warning` and `note` are findings of that severity, with the line; `clean` has no finding at all.
"""

import random
import re
import warnings

import pytest

import dalembert as da
from dalembert import data

TENSOR = '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>'
MASS, LIMIT, AXIS = '<mass value="1"/>', '<limit lower="-1" upper="1" effort="1" velocity="1"/>', '<axis xyz="0 0 1"/>'


def robot(link=f"<inertial>{MASS}{TENSOR}</inertial>", joint=AXIS + LIMIT, more="", kind="revolute", head="",
          ends='<parent link="base"/><child link="a"/>'):
    """Lines: 1 robot, 2 base, 3 link a, 4 joint j, 5 more."""
    return (f'{head}<robot name="r">\n<link name="base"/>\n<link name="a">{link}</link>\n'
            f'<joint name="j" type="{kind}">{ends}{joint}</joint>\n{more}</robot>')


def inertial(inner):
    return robot(link=f"<inertial>{inner}</inertial>")


def findings(text, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DalembertWarning)
        return da.load(text, **options).check()


SECOND = {
    "inertial": robot(link=f"<inertial>{MASS}{TENSOR}</inertial><inertial><mass value='2'/>{TENSOR}</inertial>"),
    "mass": inertial(f'{MASS}<mass value="2"/>{TENSOR}'),
    "inertia": inertial(f'{MASS}{TENSOR}<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'),
    "origin of an inertial": inertial(f'<origin xyz="0 0 0"/><origin xyz="0 0 1"/>{MASS}{TENSOR}'),
    "origin": robot(joint=f'{AXIS}{LIMIT}<origin xyz="1 0 0"/><origin xyz="0 1 0"/>'),
    "axis": robot(joint=f'{AXIS}{LIMIT}<axis xyz="1 0 0"/>'),
    "limit": robot(joint=f'{AXIS}{LIMIT}<limit lower="-2" upper="2" effort="1" velocity="1"/>'),
    "dynamics": robot(joint=f'{AXIS}{LIMIT}<dynamics damping="1"/><dynamics friction="1"/>'),
    "parent": robot(ends='<parent link="base"/><parent link="a"/><child link="a"/>'),
    "child": robot(ends='<parent link="base"/><child link="a"/><child link="b"/>'),
    "mimic": robot(joint=f'{AXIS}{LIMIT}<mimic joint="k"/><mimic joint="k" multiplier="2"/>'),
    "text": robot(joint=f'{AXIS}{LIMIT}<dynamics damping="1"/><dynamics damping="1">2</dynamics>'),
    "child element": robot(joint=f'{AXIS}{LIMIT}<dynamics/><dynamics><damping>2</damping></dynamics>'),
}
ERRORS = {f"second {name}": (text, f"has a second <{name.split()[0] if ' ' not in name[:8] else name}>|has a second <", None)
          for name, text in SECOND.items()} | {
    "number in a child of mass": (inertial(f"<mass><value>1</value></mass>{TENSOR}"), "<mass> has no attribute 'value'", 3),
    "number as text of mass": (inertial(f"<mass>5</mass>{TENSOR}"), "no attribute 'value'. It has the text '5'; write <mass value=", 3),
    "mass in capitals": (inertial(f'<mass VALUE="5"/>{TENSOR}'), "no attribute 'value'. Did you mean it by 'VALUE'", 3),
    "attribute misspelt": (inertial(f'<mass vaule="5"/>{TENSOR}'), "no attribute 'value'. Did you mean it by 'vaule'", 3),
    "parent in capitals": (robot(ends='<Parent link="base"/><child link="a"/>'),
                           "joint 'j' has no <parent link=...>. Did you mean it by <Parent> in line 4", 4),
    "parent with a name": (robot(ends='<parent name="base"/><child link="a"/>'), "joint 'j': <parent> has no attribute 'link'", 4),
    "child with an empty link": (robot(ends='<parent link="base"/><child link=" "/>'), "joint 'j': <child> has an empty attribute 'link'", 4),
    "links in capitals": ('<robot name="r">\n<Link name="a"/></robot>', "no <link>. Did you mean it by <Link> in line 2", 1),
    "comment in a number": (inertial(f'<mass value="1<!-- 2 -->"/>{TENSOR}'), "not well-formed XML", 3),
    "comment in a vector": (robot(joint=AXIS + LIMIT + '<origin xyz="1 <!-- --> 0 0"/>'), "not well-formed XML", 4),
    "child of nobody, misspelt link": (robot(more='<Link name="b"/><joint name="k" type="fixed"><parent link="a"/><child link="b"/></joint>'),
                                       "'b', which does not exist.*<Link> in <robot> .*it is not read. Did you mean <link>", 5),
    "joint in a link": (robot(more='<link name="b"><joint name="k" type="fixed"><parent link="a"/><child link="b"/></joint></link>'),
                        "without a parent.*<joint> in <link>.*It belongs in <robot>", 5),
    "link in a joint": (robot(more='<joint name="k" type="fixed"><parent link="a"/><child link="b"/><link name="b"/></joint>'),
                        "'b', which does not exist.*<link> in <joint>.*It belongs in <robot>", 5),
    "joint type in the plural": (robot(kind="revolutes"), "Did you mean 'revolute'", 4),
    "two declarations": (robot(head='<?xml version="1.0"?>\n<?xml version="1.0"?>\n'), "not well-formed XML", 2),
    "xacro by another prefix": ('<robot name="r" xmlns:x="http://ros.org/wiki/xacro">\n<x:macro name="m"/></robot>',
                                "<xacro:macro> is not expanded: this is a source of xacro. Run `xacro FILE", 2),
    "xacro without a namespace": ('<robot name="r">\n<xacro:include filename="a"/></robot>', "<xacro:include> is not expanded", 2),
    "mass by xacro": (inertial(f'<mass value="${{m}}"/>{TENSOR}'), "is not expanded: this is a source of xacro", 3),
    "origin by xacro": (robot(joint=f'{AXIS}{LIMIT}<origin xyz="${{a}} 0 0"/>'), "is not expanded: this is a source of xacro", 4),
    "UTF-7": (b'<?xml version="1.0" encoding="utf-7"?>\n' + robot().encode(), "unknown text encoding 'utf-7'. Save the file as UTF-8", 1),
    "encoding that is Python's": (b'<?xml version="1.0" encoding="unicode_escape"?>' + robot().encode(), "unknown text encoding", 1),
    "encoding that is a path": (b'<?xml version="1.0" encoding="../../x"?>' + robot().encode(), "unknown text encoding", 1),
    "Latin-1 declared as UTF-8": ('<?xml version="1.0" encoding="utf-8"?>\n' + robot(more="<!-- \xfc -->")).encode("latin-1"),
    "Latin-1 without a declaration": robot(more="<!-- \xfc -->").encode("latin-1"),
}
for latin in ("Latin-1 declared as UTF-8", "Latin-1 without a declaration"):
    ERRORS[latin] = (ERRORS[latin], "byte 0xfc does not fit the encoding utf-8. Save the file as UTF-8", 6 if "decl" in latin[:13] else 5)

LOST = {
    **{f"mass in a <{host}> of a joint": (robot(joint=f"{LIMIT}<{host}>{MASS}</{host}>"), f"<mass> in <{host}> .*is not read", 4)
       for host in ("gazebo", "transmission", "material")},
    "equal second mass": (inertial(f"{MASS}{MASS}{TENSOR}"), "second <mass> in <inertial> .*it repeats the first", 3),
    "equal second limit": (robot(joint=AXIS + LIMIT + LIMIT), "second <limit> in <joint> .*it repeats the first", 4),
    "damping as a child": (robot(joint=f"{AXIS}{LIMIT}<dynamics><damping>100</damping></dynamics>"),
                           "<damping> in <dynamics> .*not read. It is an attribute: <dynamics damping=", 4),
    "lower as a child": (robot(joint=AXIS + '<limit effort="1" velocity="1"><lower>-1</lower><upper>1</upper></limit>'),
                         "<lower> in <limit> .*It is an attribute", 4),
    "text of dynamics": (robot(joint=f"{AXIS}{LIMIT}<dynamics>0.5</dynamics>"), "<dynamics> .*its text '0.5' is not read. Write <dynamics damping=", 4),
    "text of an origin": (robot(joint=f"{AXIS}{LIMIT}<origin>1 2 3</origin>"), "<origin> .*its text '1 2 3' is not read", 4),
    "text of an axis": (robot(joint=f'<axis xyz="1 0 0">0 0 1</axis>{LIMIT}'), "its text '0 0 1' is not read", 4),
    "CDATA in an origin": (robot(joint=f"{AXIS}{LIMIT}<origin><![CDATA[1 2 3]]></origin>"), "its text '1 2 3' is not read", 4),
    "text of an inertial": (inertial(f"{MASS}{TENSOR} 7 kg"), "its text '7 kg' is not read. Numbers are attributes", 3),
    "text of a link": (robot(link=f"<inertial>{MASS}{TENSOR}</inertial>mass = 3"), "its text 'mass = 3' is not read", 3),
    "origin misspelt": (robot(joint=f'{AXIS}{LIMIT}<orgin xyz="1 0 0"/>'), "<orgin> in <joint> .*not read. Did you mean <origin>", 4),
    "origin in capitals": (robot(joint=f'{AXIS}{LIMIT}<Origin xyz="1 0 0"/>'), "Did you mean <origin>", 4),
    "origin with a prefix": (robot(joint=f'{AXIS}{LIMIT}<x:origin xyz="1 0 0"/>'), "<x:origin> in <joint> .*Did you mean <origin>", 4),
    "inertial misspelt": (robot(link=f"<inertal>{MASS}{TENSOR}</inertal>"), "<inertal> in <link> .*Did you mean <inertial>", 3),
    "inertial in capitals": (robot(link=f"<INERTIAL>{MASS}{TENSOR}</INERTIAL>"), "Did you mean <inertial>", 3),
    "dynamic": (robot(joint=f'{AXIS}{LIMIT}<dynamic damping="1"/>'), "Did you mean <dynamics>", 4),
    "limits": (robot(joint=AXIS + LIMIT.replace("limit ", "limits ")), "Did you mean <limit>", 4),
    "mimick": (robot(joint=f'{AXIS}{LIMIT}<mimick joint="k"/>'), "Did you mean <mimic>", 4),
    "mass in a link": (robot(link=f"<mass value='2'/><inertial>{MASS}{TENSOR}</inertial>"), "<mass> in <link> .*It belongs in <inertial>", 3),
    "inertia in a joint": (robot(joint=AXIS + LIMIT + TENSOR), "<inertia> in <joint> .*It belongs in <inertial>", 4),
    "origin in a link": (robot(link=f"<origin xyz='1 0 0'/><inertial>{MASS}{TENSOR}</inertial>"), "<origin> in <link> .*belongs in <inertial> or <joint>", 3),
    "limit in the robot": (robot(more=LIMIT), "<limit> in <robot> .*It belongs in <joint>", 5),
    "dynamics in an axis": (robot(joint=f'<axis xyz="0 0 1"><dynamics damping="1"/></axis>{LIMIT}'), "<dynamics> in <axis> .*It belongs in <joint>", 4),
    "mass in a mass": (inertial(f'<mass value="1">{MASS}</mass>{TENSOR}'), "<mass> in <mass> .*It belongs in <inertial>", 3),
    "inertial in a visual": (robot(link=f"<visual><inertial>{MASS}{TENSOR}</inertial></visual>"), "<inertial> in <visual> .*It belongs in <link>", 3),
    "inertial in a group": (robot(link=f"<group><inertial>{MASS}{TENSOR}</inertial></group>"), "<inertial> in <group> .*It belongs in <link>", 3),
    "attribute of another element": (inertial(f'<mass value="1" ixx="3"/>{TENSOR}'), "<mass ixx> .*It belongs in <inertia>", 3),
    "limits of a joint": (robot().replace('type="revolute"', 'type="revolute" lower="-3" upper="3"'), "<joint lower> .*It belongs in <limit>", 4),
    "damping of a limit": (robot(joint=AXIS + LIMIT.replace("/>", ' damping="3"/>')), "<limit damping> .*It belongs in <dynamics>", 4),
    "rpy misspelt": (robot(joint=f'{AXIS}{LIMIT}<origin xyz="1 0 0" rpz="1 0 0"/>'), "<origin rpz> .*Did you mean 'rpy'", 4),
    "RPY": (robot(joint=f'{AXIS}{LIMIT}<origin xyz="1 0 0" RPY="1 0 0"/>'), "<origin RPY> .*Did you mean 'rpy'", 4),
    "damping in capitals": (robot(joint=f'{AXIS}{LIMIT}<dynamics Damping="1"/>'), "<dynamics Damping> .*Did you mean 'damping'", 4),
    "multiplier misspelt": (robot(joint=f'{AXIS}{LIMIT}<mimic joint="k" multiplyer="3"/>', more='<link name="b"/><joint name="k" '
                                  f'type="continuous"><parent link="base"/><child link="b"/>{AXIS}</joint>'), "Did you mean 'multiplier'", 4),
    "mass 0 with moments": (inertial('<mass value="0"/>' + TENSOR), "body 'a' .*it has moments of inertia but no mass", 3),
    "mass 0": (inertial('<mass value="0"/>' + TENSOR.replace("0.1", "0")), "body 'a' .*moves on joint 'j' and has no mass", 3),
    "no inertial": (robot(link=""), "body 'a' .*moves on joint 'j' and has no mass", 3),
    "negative mass": (inertial('<mass value="-1"/>' + TENSOR), "body 'a' .*its mass is -1 kg, below 0", 3),
    "negative mass of the base": (robot().replace('<link name="base"/>', f'<link name="base"><inertial><mass value="-1"/>{TENSOR}</inertial></link>'),
                                  "body 'base' .*its mass is -1 kg, below 0", 2),
    "impossible moments of the base": (robot().replace('<link name="base"/>', '<link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" '
                                       'izz="5" ixy="0" ixz="0" iyz="0"/></inertial></link>'), "body 'base' .*break I1 . I2 >= I3", 2),
    "negative moment on the base": (robot(more='<link name="b"><inertial><mass value="1"/><inertia ixx="-1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
                                    '</inertial></link><joint name="k" type="fixed"><parent link="base"/><child link="b"/></joint>'),
                                    "body 'b' .*are not all positive", 5),
    "moments of few digits that are far off": (inertial(MASS + '<inertia ixx="0.1" iyy="0.1" izz="0.3" ixy="0" ixz="0" iyz="0"/>'),
                                               "body 'a' .*break I1 . I2 >= I3. Are they", 3),
    "negative effort": (robot(joint=AXIS + LIMIT.replace('effort="1"', 'effort="-1"')), "joint 'j' .*its effort limit is -1, below 0", 4),
    "negative speed": (robot(joint=AXIS + LIMIT.replace('velocity="1"', 'velocity="-2"')), "joint 'j' .*its velocity limit is -2, below 0", 4),
    "no mass": (inertial(TENSOR), "link 'a' .*has no <mass>", 3),
    "no inertia": (inertial(MASS), "link 'a' .*has no <inertia>", 3),
    "no izz": (inertial(MASS + '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0"/>'), "<inertia> lacks izz", 3),
}
WARNINGS = {
    "unknown element": (robot(joint=f'{AXIS}{LIMIT}<safety_controller k_velocity="1"/>'), "not used .*<safety_controller>", 4),
    "unknown attribute": (robot(joint=f'{AXIS}{LIMIT}<dynamics damping="1" K="1"/>'), "not used .*<dynamics K>", 4),
    "foreign namespace": (inertial(f'<mass xmlns="http://x.org" value="1"/>{TENSOR}'), "not used .*<mass xmlns>", 3),
    "text of the robot": (robot(more="hello"), "not used .*text in <robot>: 'hello'", 1),
    "comment as text": (robot(joint=AXIS + LIMIT + "# the elbow"), "not used .*text in <joint>: '# the elbow'", 4),
    "follower that is fixed": (robot(kind="fixed", joint='<mimic joint="k"/>'), "it is fixed and is to follow 'k'; its <mimic> is not used", 4),
    "no ixy": (inertial(MASS + '<inertia ixx="1" iyy="1" iyz="0" izz="1" ixz="0"/>'), "<inertia> lacks ixy; taken as 0", 3),
    "rpy in degrees": (robot(joint=f'{AXIS}{LIMIT}<origin rpy="90 0 0"/>'), "joint 'j' .*its origin turns by 90 rad, 14.3 full turns. Are these degrees", 4),
    "inertial rpy in degrees": (inertial(f'<origin rpy="0 0 45"/>{MASS}{TENSOR}'), "link 'a' .*turns by 45 rad.*Are these degrees", 3),
    "limits in degrees": (robot(joint=AXIS + LIMIT.replace("1", "180", 2)), "joint 'j' .*it has a limit of -180 rad, 28.6 full turns. Are these degrees", 4),
    "origin in millimetres": (robot(joint=f'{AXIS}{LIMIT}<origin xyz="0 600 0"/>'), "joint 'j' .*its origin is 600 m away. Are these millimetres", 4),
    "centre of mass in millimetres": (inertial(f'<origin xyz="0 0 300"/>{MASS}{TENSOR}'), "body 'a' .*centre of mass is 300 m away", 3),
    "moments in kg mm^2": (inertial(MASS + '<inertia ixx="2000" iyy="2000" izz="1000" ixy="0" ixz="0" iyz="0"/>'), "radius of gyration is 44.7.* m.*millimetres", 3),
    "revolute without a limit": (robot(joint=AXIS), "it has no <limit>", 4),
    "shapes in a joint": (robot(joint=f"{AXIS}{LIMIT}<visual/>"), "not used .*<visual> in <joint>", 4),
    "name of xacro": (robot().replace('"j"', '"${side}_j"'), "joint '..side._j' .*its name has arithmetic or a command of xacro", 4),
    "command of xacro as name": (robot(ends='<parent link="base"/><child link="$(arg a)"/>').replace('"a"', '"$(arg a)"'),
                                 "link '..arg a.' .*command of xacro", 3),
    "limit without bounds": (robot(joint=AXIS + '<limit effort="1" velocity="1"/>'), "its <limit> has no lower and upper", 4),
}
NOTES = {
    "no axis": (robot(joint=LIMIT), "it has no <axis>; read as .1, 0, 0.", 4),
    "no velocity": (robot(joint=AXIS + LIMIT.replace('velocity="1"', "")), "its <limit> has no velocity; read as no limit there", 4),
    "no effort of a wheel": (robot(kind="continuous", joint=f"{AXIS}<limit/>"), "its <limit> has no velocity and effort", 4),
    "no name": (robot().replace(' name="r"', ""), "<robot> .*it has no name; called 'robot'", 1),
    "axis of a fixed joint": (robot(kind="fixed", joint=AXIS), "<axis> of fixed joints", 4),
    "damping of a fixed joint": (robot(kind="fixed", joint='<dynamics damping="1"/>'), "<dynamics> of fixed joints", 4),
    "limits of a continuous joint": (robot(kind="continuous"), "<limit> with lower or upper of continuous joints", 4),
    "equal limits": (robot(joint=AXIS + '<limit lower="0" upper="0" effort="1" velocity="1"/>'), "both limits are 0; read as no limit", 4),
    "moments of rounding noise": (inertial(MASS + '<inertia ixx="1e-20" iyy="1e-20" izz="-1e-20" ixy="1e-21" ixz="0" iyz="0"/>'
                                  '<origin xyz="1 0 0"/>'), "body 'a' .*are rounding noise; they count as 0", 3),
    "moments broken by their digits": (inertial(MASS + '<inertia ixx="0.0011" iyy="0.0012" izz="0.0024" ixy="0" ixz="0" iyz="0"/>'),
                                       "body 'a' .*by no more than rounding to the digits given", 3),
    "limit of 0": (robot(joint=AXIS + LIMIT.replace('effort="1"', 'effort="0"')), "1 joint .'j'. .*is 0, with which nothing moves", 4),
    "angles and lengths of rounding noise": (robot(joint=f'{LIMIT}<axis xyz="1e-17 1 0"/><origin xyz="0.3 1e-18 0" rpy="-3.6e-16 0 0"/>'),
                                             "3 numbers .*read as 0: rounding of the program.*largest is -3.6e-16 .joint 'j', rpy", 4),
    "shapes": (robot(more='<material name="m"/><gazebo><joint name="x"><parent link="y"/></joint></gazebo>'
                          '<transmission><joint name="j"/></transmission>'), "<material> .*<gazebo>", 5),
    "version 0.0": (robot(head='<?xml version="0.0"?>'), "XML declaration .*is none of XML; the file is read all the same", 1),
    "no version": (robot(head="<?xml ?>"), "is none of XML", 1),
    "declaration in capitals": (robot(head='<?XML version="1.0"?>'), "is none of XML", 1),
    "blank line before": (robot(head='\n  <?xml version="1.0"?>\n'), "XML declaration .*blanks or comments stand before it", 2),
    "comment before": (robot(head='<!-- Copyright -->\n<?xml version="1.0"?>\n'), "blanks or comments stand before it", 2),
    "mark after blanks": (b"\n\xef\xbb\xbf" + robot(head='<?xml version="1.0"?>').encode(), "blanks or comments stand before it", 2),
    "null characters at the end": (robot() + "\n\0\0", "end of the file .*null characters stand there", 6),
    "spherical joint": (robot().replace('type="revolute"', 'type="spherical"'), "joint 'j' .*URDF has no spherical joints", 4),
    "UTF-16 declared, UTF-8 written": (robot(head='<?xml version="1.0" encoding="utf-16"?>').encode(), "utf-16 is declared", 1),
    "processing instruction": (robot(more="<?mass 5?>"), "processing instruction .*<.mass.> is not used", 5),
}
CLEAN = {
    "plain": robot(),
    "declaration": robot(head='<?xml version="1.0" encoding="utf-8" standalone="yes"?>\n'),
    "XML 1.1": robot(head="<?xml version='1.1'?>"),
    "namespaces that stand for nothing": robot().replace('<robot ', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" xmlns:x="y" '),
    "byte order mark": b"\xef\xbb\xbf" + robot(head='<?xml version="1.0"?>').encode(),
    "UTF-16": robot(head='<?xml version="1.0" encoding="utf-16"?>').encode("utf-16"),
    "UTF-16 without a mark": robot(head='<?xml version="1.0" encoding="utf-16"?>').encode("utf-16-be"),
    "UTF-32": robot().encode("utf-32"),
    "Latin-1": robot(head='<?xml version="1.0" encoding="iso-8859-1"?>', more="<!-- \xfc -->").encode("latin-1"),
    "comments": robot(more="<!-- <link name='b'/> <!DOCTYPE r> -->"),
    "floats of all kinds": inertial('<mass value=" +1.50e+00 "/>' + TENSOR),
    "tabs and line ends": robot(joint=AXIS + LIMIT + '<origin xyz="\t1\n 2\r\n3 " rpy=" 0  0 0"/>'),
    "old line ends": robot().replace("\n", "\r"),
}


def refused(text, message, line, **options):
    with pytest.raises(da.ModelError) as caught:
        findings(text, **options)
    said = str(caught.value)
    assert re.search(message, said), said
    assert line is None or f", line {line}" in said, said
    assert said.isprintable() and len(said) < 2000


@pytest.mark.parametrize("case", ERRORS)
def test_a_file_that_contradicts_itself_is_refused(case):
    text, message, line = ERRORS[case]
    refused(text, message, line)


@pytest.mark.parametrize("case", LOST)
def test_lost_mechanics_are_a_warning_and_refused_by_strict(case):
    text, message, line = LOST[case]
    with pytest.warns(da.DalembertWarning, match=message):
        da.load(text)
    found = [f for f in findings(text) if re.search(message, str(f))]
    assert [f.severity for f in found] == ["error"] and found[0].source.line == line
    refused(text, message, line, strict=True)


@pytest.mark.parametrize("case", WARNINGS | NOTES)
def test_content_that_is_not_used_is_a_finding(case):
    severity = "warning" if case in WARNINGS else "note"
    text, message, line = (WARNINGS | NOTES)[case]
    found = [f for f in findings(text, strict=True) if re.search(message, str(f))]
    assert [(f.severity, f.source.line) for f in found] == [(severity, line)], findings(text)


@pytest.mark.parametrize("case", CLEAN)
def test_a_sound_file_has_no_finding(case):
    assert not findings(CLEAN[case], strict=True)


def test_lines_are_right_in_files_of_many_lines():
    text = robot(more="\n" * 100_000 + '<link name="b"/>\n<joint name="k" type="fixed"><parent/><child link="b"/></joint>')
    refused(text, "joint 'k': <parent> has no attribute 'link'", 100_006)
    text = robot(head='<?xml version="1.0"?>' + "\n" * 70_000, joint=f'{AXIS}{LIMIT}<orgin xyz="1 0 0"/>')
    assert [f.source.line for f in findings(text) if "orgin" in str(f)] == [70_004]


# --- random damage to the content of real files ---------------------------------------------------------------------

OPTIONAL = {"origin", "dynamics", "inertial", "limit", "mimic", "mass"}      # of a joint or link; absent means 0 or none
TAG = re.compile(r"<(/?)(\w+)((?:\s[^<>]*?)?)(/?)>")


def mutants(text, seed, count):
    """(what was done, text) with an element or attribute of mechanics repeated, renamed, emptied or moved."""
    rng = random.Random(seed)
    spans = [m for m in TAG.finditer(text) if m[2] in
             {"origin", "mass", "inertia", "axis", "limit", "dynamics", "parent", "child", "mimic"} and m[4]]
    for _ in range(count):
        tag = rng.choice(spans)
        kind = rng.choice(("repeat", "rename", "capital", "prefix", "attribute", "text", "child", "nan", "comma", "letter"))
        whole, name, inner = tag[0], tag[2], tag[3]
        attribute = rng.choice(re.findall(r"[\w:]+(?==)", inner) or [""])
        if not attribute:
            continue
        value = re.search(rf'{attribute}="([^"]*)"', inner)
        if value is None:
            continue
        new = {"repeat": whole + whole.replace(value[1], "7"), "rename": whole.replace(f"<{name}", f"<{name[:-1]}"),
               "capital": whole.replace(f"<{name}", f"<{name.capitalize()}"),
               "prefix": whole.replace(f"<{name}", f"<x:{name}"),
               "attribute": whole.replace(f"{attribute}=", f"{attribute}_="),
               "text": f"<{name}>{value[1]}</{name}>", "child": f"<{name}><{attribute}>{value[1]}</{attribute}></{name}>",
               "nan": whole.replace(value[1], "nan"), "comma": whole.replace(value[1], value[1].replace(" ", ",") + ",1"),
               "letter": whole.replace(value[1], value[1] + "e")}[kind]
        line = text.count("\n", 0, tag.start()) + 1
        yield f"{kind} in line {line}: {new}", text[:tag.start()] + new + text[tag.end():]


@pytest.mark.parametrize("model", ["ur5", "panda", "kinova", "scara"])
@pytest.mark.parametrize("seed", [0, pytest.param(range(1, 20), marks=pytest.mark.slow)])
def test_changed_mechanics_are_never_accepted_in_silence(model, seed):
    """A damaged file is an error, has a finding that the whole one has not, or is the same mechanism."""
    text = data.path(model).read_text()
    text = re.sub(r"<(visual|collision)>.*?</\1>", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DalembertWarning)
        whole = da.load(text)
        known = {str(f) for f in whole.check()}
        for s in [seed] if isinstance(seed, int) else seed:
            for what, damaged in mutants(text, s, 40):
                try:
                    mechanism = da.load(damaged)
                except da.ModelError as error:
                    assert str(error).isprintable()
                    continue
                new = [f for f in mechanism.check() if str(f) not in known]
                assert new or mechanism == whole, what


# --- rounding noise of the programs that write files ----------------------------------------------------------------

def noisy(text, seed=0):
    """The text with 1e-17 to 1e-13 for each 0 of an origin or axis, and each other number off by 1e-16 of itself."""
    rng = random.Random(seed)

    def number(match):
        x = float(match[0])
        return f"{rng.choice((-1, 1)) * 10**rng.uniform(-17, -13):.3e}" if x == 0 else repr(x * (1 + rng.uniform(-2e-16, 2e-16)))

    return re.sub(r'(?<=(?:xyz|rpy)=")[^"]*', lambda m: re.sub(r"\S+", number, m[0]), text)


@pytest.mark.parametrize("model", ["ur5", "puma560"])
def test_noise_of_an_export_leaves_the_equations_as_they_are(model):
    """The same zeros, multiples of pi and axes: closed forms of the noisy file are as short as those of the clean one."""
    text = data.path(model).read_text()
    clean, dirty, kept = (da.load(t, exact_angles=e) for t, e in ((text, True), (noisy(text), True), (noisy(text), False)))
    for a, b in zip(clean.joints, dirty.joints, strict=True):
        assert a.origin.rotations == b.origin.rotations
        assert [x == 0 for x in a.origin.xyz] == [x == 0 for x in b.origin.xyz]
        assert getattr(a.type, "unit_axis", None) == getattr(b.type, "unit_axis", None)
    q = [0.3] * clean.nq
    assert da.mass_matrix(dirty, q) == pytest.approx(da.mass_matrix(kept, q), rel=1e-10, abs=1e-10)      # pi/2 of ur5 is off by 5e-12
    assert any("read as 0" in f.why for f in dirty.check()) and not any("read as 0" in f.why for f in kept.check())


@pytest.mark.parametrize("origin, numbers", [
    ('xyz="1e-6 2e-7 0" rpy="1e-4 0 0"', (1e-6, 2e-7, 0)),           # a micro robot; an offset of a calibration
    ('xyz="1 1e-10 1e-9"', (1, 1e-10, 1e-9)),
    ('xyz="5e6 1e-10 0"', (5e6, 1e-10, 0)),                          # in coordinates of the country
    ('xyz="1e-15 1e-20 0"', (1e-15, 1e-20, 0)),
    ('xyz="0 0 0" rpy="2e-9 0 0"', (0, 0, 0)),
])
def test_small_numbers_that_are_no_noise_are_kept(origin, numbers):
    model = da.load(robot(joint=f'{AXIS}{LIMIT}<origin {origin}/>', link=""))
    assert tuple(map(float, model.joint("j").origin.xyz)) == numbers
    assert [float(angle) for _, angle in model.joint("j").origin.rotations] == [float(x) for x in re.findall(r'rpy="(\S+)', origin)]
    assert not any("read as 0" in f.why for f in model.check())


@pytest.mark.parametrize("text, tolerance, turns", [("1.5708", 1e-5, "1/2"), ("3.1416", 1e-4, "1"), ("-0.7854", 1e-5, "-1/4")])
def test_angle_tolerance_reads_files_of_few_digits(text, tolerance, turns):
    source = robot(joint=f'{AXIS}{LIMIT}<origin rpy="{text} 1e-5 0"/>')
    assert da.load(source).number("j.rotation[1]") == pytest.approx(float(text), abs=0)
    model = da.load(source, angle_tolerance=tolerance)
    assert model.number("j.rotation[1]").turns == pytest.approx(float(eval(turns)))
    assert float(model.number("j.rotation[0]")) == 1e-5              # a small angle is no rounding
    assert any("read as exact multiples of pi/12" in f.why for f in model.check())


@pytest.mark.parametrize("tolerance", [-1, 0.2, "a", None, True, float("nan")])
def test_a_wrong_angle_tolerance_is_refused(tolerance):
    with pytest.raises(ValueError, match="angle_tolerance is .*; expected rad, from 0 to 0.1"):
        da.load(robot(), angle_tolerance=tolerance)
    with pytest.raises(ValueError, match="leave angle_tolerance out"):
        da.load(robot(), exact_angles=False, angle_tolerance=1e-5)
    with pytest.raises(da.ReadError, match="angle_tolerance= is for URDF, MJCF and SDF files"):
        da.load('name = "m"\n[[body]]\nname = "a"\n', angle_tolerance=1e-5)
