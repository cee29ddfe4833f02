"""Everything that MuJoCo's schema knows: it changes the mechanism, or a finding names it, or it is refused."""

import warnings
import xml.etree.ElementTree as ET

import pytest

import dalembert as da
from dalembert.readers.mjcf.element_kinds import CHILDREN, READ, REFUSED, TRANSMISSIONS, kind_of
from dalembert.readers.mjcf.known_elements import known_attributes, known_elements

pytest.importorskip("mujoco")
NEEDS = {"damper": 'ctrlrange="0 1"', "intvelocity": 'actrange="0 1"'}
ACTUATORS = "".join(f'<{tag} name="a_{tag}" joint="j1" {NEEDS.get(tag, "")}/>' for tag in CHILDREN["actuator"])
MODEL = f"""<mujoco model="all"><compiler angle="radian"/><option><flag/></option>
<default><mesh/><material/><joint/><geom/><site/><equality/><tendon/><general/>
  <default class="other"><joint damping="1" axis="1 0 0"/><geom density="3"/><site pos="1 1 1"/><material rgba="0 0 1 1"/>
    <equality active="false"/><tendon stiffness="2"/><motor ctrlrange="-2 2"/></default></default>
<asset><mesh name="solid" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 1 2 3 0 3 2"/><material name="red"/></asset>
<worldbody>
  <body name="one"><inertial pos="0 0 0" mass="1" diaginertia=".1 .2 .25"/><joint name="j1"/><geom name="g1" size=".1"/><site name="s1"/>
    <frame><body name="two" pos="0 0 1"><joint name="j2" axis="0 1 0"/><geom name="g2" type="capsule" size=".1 .2"/><site name="s2"/></body></frame>
    <body name="three" pos="1 0 0" euler="1 0 2"><joint name="j3" axis="0 1 0" range="-1 1" stiffness="1" springref=".5" damping="1" frictionloss="1"/><geom name="g3" type="mesh" mesh="solid"/></body>
    <replicate count="2"><body name="copy"><joint name="jc"/><geom size=".1" pos="0 0 1"/></body></replicate></body>
  <body name="free" pos="0 0 3"><freejoint name="f"/><geom size=".1" pos=".1 .2 .3"/></body>
  <body name="still"><geom size=".1" material="red"/></body>
</worldbody>
<tendon><fixed name="t1"><joint joint="j1" coef="1"/></fixed><fixed name="t2"><joint joint="j2" coef="1"/></fixed>
  <spatial name="t3"><site site="s1"/><geom geom="g1"/><site site="s2"/><pulley divisor="2"/><site site="s1"/><site site="s2"/></spatial></tendon>
<equality><connect name="c" body1="two" body2="free" anchor="0 0 0"/><weld name="w" body1="two" body2="free"/>
  <joint name="e" joint1="j1" joint2="j2"/><tendon name="te" tendon1="t1" tendon2="t2"/></equality>
<actuator>{ACTUATORS}</actuator>
</mujoco>"""

# values that matter, by the element as `READ` has it; those of defaults are the same
ORIENTED = {"pos": ".1 .2 .3", "quat": "1 1 0 0", "axisangle": "1 0 0 .3", "euler": ".1 .2 .3", "xyaxes": "0 1 0 1 0 1", "zaxis": "1 1 0"}
FORCES = {"stiffness": "2", "damping": "2", "frictionloss": "2", "armature": ".1", "limited range": "true | 0 1"}
VALUES = {
    "mujoco": {"model": "other"},
    "compiler": {"angle": "degree", "autolimits": "false", "boundinertia": "9", "boundmass": "9", "eulerseq": "zyx",
                 "inertiafromgeom": "true", "inertiagrouprange": "4 5", "settotalmass": "9", "alignfree": "true"},
    "option": {"gravity": "1 2 3", "density": "1", "viscosity": "1", "wind density": "1 0 0 | 1"},
    "flag": {name: "disable" for name in ("gravity", "equality", "limit", "contact", "constraint", "spring", "damper", "frictionloss")},
    "material": {"rgba": "1 0 0 1"},
    "body": {**ORIENTED, "name": "new", "childclass": "other", "gravcomp": "1"},
    "still": {"mocap": "true"},
    "inertial": {**ORIENTED, "mass": "3", "diaginertia": ".2 .2 .2"},
    "joint": {"pos": "1 1 1", "axis": "1 1 0", "name": "new", "type": "slide", "range": "0 1", "limited range": "true | 0 1", "ref": ".3",
              "stiffness": "2", "damping": "2", "frictionloss": "2", "armature": ".1", "springref stiffness": ".3 | 2", "class": "other",
              "springdamper": "1 1", "actuatorfrcrange": "-1 1", "actuatorfrclimited actuatorfrcrange": "true | -1 1"},
    "freejoint": {"name": "new", "align": "true"},
    "geom": {**{k: v for k, v in ORIENTED.items() if k != "pos"}, "pos": "1 1 1", "class": "other", "contype conaffinity": "0 | 0", "density": "7", "group": "4",
             "mass": "7", "material": "red", "rgba": "1 0 0 1", "size": ".2 .3", "type size": "box | .1 .2 .3",
             "shellinertia": "true", "fromto type": "0 0 0 0 1 1 | capsule"},
    "site": {**ORIENTED, "name": "new", "class": "other", "fromto type": "0 0 0 0 1 1 | capsule"},
    "frame": {**ORIENTED, "childclass": "other"},
    "replicate": {"count": "3", "offset": "1 0 0", "euler": "0 0 1", "sep": "_"},
    "connect": {"active": "false", "anchor": "1 0 0", "name": "new", "body1": "one", "body2": "one", "class": "other"},
    "weld": {"active": "false", "anchor": "1 0 0", "name": "new", "body1": "one", "body2": "one", "class": "other", "relpose": "1 0 0 1 1 0 0"},
    "equality/joint": {"active": "false", "name": "new", "joint1": "j3", "joint2": "j3", "class": "other", "polycoef": "0 2 0 0 0"},
    "equality/tendon": {"active": "false", "name": "new", "tendon2": "t1", "class": "other", "polycoef": "0 2 0 0 0"},
    "default/equality": {"active": "false"},
    "fixed": {**FORCES, "class": "other"},
    "spatial": {**FORCES, "class": "other"},
    "fixed/joint": {"coef": "3", "joint": "j3"},
    "motor": {"name": "new", "gear": "3", "joint": "j3", "ctrlrange": "-1 1", "forcerange": "-1 1", "armature": ".1", "damping": "2", "class": "other"},
}


def load(tree):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DalembertWarning)
        return da.load(ET.tostring(tree, encoding="unicode"))


def elements():
    """(parent tag, element) of the model, each kind once, with the tree they are in."""
    tree, found = ET.fromstring(MODEL), {}
    for parent in [e for e in tree.iter() if e.tag != "default"] + [e for e in tree.iter() if e.tag == "default"]:
        for element in parent:
            found.setdefault((parent.tag, element.tag), element)
    return tree, {("", "mujoco"): tree} | found


def said(mechanism):
    return " ".join(map(str, mechanism.check()))


def told(mechanism):
    """All that is known of a mechanism: equality leaves out what is only seen."""
    return (mechanism.name, mechanism.bodies, mechanism.joints, mechanism.frames, mechanism.constraints, mechanism.actuators, mechanism.gravity,
            [b.visuals for b in mechanism.bodies], said(mechanism))


KINDS = sorted({(p, e) for p, e in elements()[1]})


@pytest.mark.parametrize("parent, tag", KINDS)
def test_every_other_attribute_is_named_by_a_finding(parent, tag):
    read = READ.get(kind_of(parent, tag), ())
    left_out = TRANSMISSIONS if tag in CHILDREN["actuator"] else ("hfield",)      # elements with these are left out as a whole
    others = [a for a in known_attributes(parent, tag) or () if a not in (*read, *left_out)]
    for k in range(0, len(others), 15):
        tree, by_kind = elements()
        by_kind[parent, tag].attrib.update(dict.fromkeys(others[k:k + 15], "1"))
        text = said(load(tree))
        assert not [a for a in others[k:k + 15] if f"<{tag} {a}>" not in text]


ALL = sorted({(p, t) for p, t in known_elements() if p in CHILDREN or p == "mujoco"})


@pytest.mark.parametrize("parent", sorted({p for p, _ in ALL} - {""}))
def test_every_other_element_is_named_by_a_finding_or_refused(parent):
    others = [t for p, t in ALL if p == parent and t not in CHILDREN.get(parent, ()) and t != "body"]
    for tag in others:
        if tag in REFUSED or f"{parent}/{tag}" in REFUSED:
            tree, by_kind = elements()
            ET.SubElement(next(e for (_, t), e in by_kind.items() if t == parent), tag)
            with pytest.raises(da.ReadError, match=f"<{tag}> in <{parent}> is not read"):
                load(tree)
    kept = [t for t in others if t not in REFUSED and f"{parent}/{t}" not in REFUSED]
    tree, by_kind = elements()
    for tag in kept:
        ET.SubElement(next(e for (_, t), e in by_kind.items() if t == parent), tag)
    text = said(load(tree)) if kept else ""
    assert not [t for t in kept if f"<{t}>" not in text]


def with_values(kind, names, values):
    tree, by_kind = elements()
    parent, _, tag = kind.rpartition("/")
    chosen = {"still": "worldbody/body[@name='still']", "geom": ".//geom[@name='g2']"}      # without an <inertial>
    element = tree.find(chosen[kind]) if kind in chosen else next(e for (p, t), e in by_kind.items() if t == tag and parent in ("", p))
    for name, value in zip(names.split(), values.split(" | ") if "|" in values else [values], strict=False):
        element.set(name, value)
    return tree



@pytest.mark.parametrize("kind", VALUES)
def test_attributes_that_are_read_change_the_mechanism_or_its_findings(kind):
    plain = told(load(elements()[0]))
    silent = []
    for names, values in VALUES[kind].items():
        try:
            if told(load(with_values(kind, names, values))) == plain:
                silent.append(names)
        except da.ReadError as error:      # some are refused, as a name that others use
            assert "MuJoCo refuses the model" in str(error)
    assert not silent
