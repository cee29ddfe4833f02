"""Models of other engines from the same robot file, where these engines are installed: for
`dalembert bench`.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from dalembert.readers.xml import Element, parsed

UNUSED = {
    "visual",
    "collision",
    "mimic",
    "dynamics",
    "transmission",
    "gazebo",
    "material",
    "mujoco",
}
ROOT_JOINT = "root_joint"  # of a floating base, as this package names it
IDEAL = (
    """<mujoco><compiler discardvisual="true" fusestatic="true" balanceinertia="false"/></mujoco>"""
)


def plain_urdf(path: Path, locked: Collection[str] = (), floating: bool = False) -> str:
    """Text of a URDF file without shapes, friction and followers; `locked` joints are fixed at 0.

    `floating`: the root link hangs on a floating joint, for readers that have no option for it.

    Raises
    ------
    ReadError
        The file is no XML.
    """
    tree = _plain(parsed(path.read_bytes(), str(path)).root)
    for joint in tree.iterfind("joint"):
        if joint.get("name") in locked:
            joint.set("type", "fixed")
    if floating:
        children = {c.get("link") for c in tree.iter("child")}
        names = [str(link.get("name")) for link in tree.iterfind("link")]
        root = next(name for name in names if name not in children)
        ground = next(name for name in ("world", "ground", "fixed ground") if name not in names)
        ElementTree.SubElement(tree, "link", name=ground)
        joint = ElementTree.SubElement(tree, "joint", name=ROOT_JOINT, type="floating")
        ElementTree.SubElement(joint, "parent", link=ground)
        ElementTree.SubElement(joint, "child", link=root)
    return ElementTree.tostring(tree, encoding="unicode")


def _plain(element: Element) -> ElementTree.Element:
    """An element without parts that are not used, or that have a prefix."""
    attributes = {name: x for name, x in element.attributes.items() if ":" not in name}
    copy = ElementTree.Element(element.tag, attributes)
    copy.extend(
        _plain(child) for child in element if child.tag not in UNUSED and ":" not in child.tag
    )
    return copy


def pinocchio_model(
    path: Path, locked: Collection[str] = (), floating: bool = False
) -> tuple[Any, list[str]]:
    """Pinocchio's model, and the names of its moving joints in its order."""
    import pinocchio

    text = plain_urdf(path, locked)
    model = (
        pinocchio.buildModelFromXML(text, pinocchio.JointModelFreeFlyer())
        if floating
        else pinocchio.buildModelFromXML(text)
    )
    return model, list(model.names)[1:]


def mujoco_model(
    path: Path, locked: Collection[str] = (), floating: bool = False
) -> tuple[Any, list[str]]:
    """MuJoCo's model without contacts and constraints, and the names of its joints in its order."""
    import mujoco

    mujoco.set_mju_user_warning(lambda text: None)  # no log file in the current folder
    text = plain_urdf(path, locked, floating)
    start = text.index(">", text.index("<robot")) + 1
    model = mujoco.MjModel.from_xml_string(text[:start] + IDEAL + text[start:])
    flags = mujoco.mjtDisableBit
    model.opt.disableflags |= (
        int(flags.mjDSBL_CONTACT) | int(flags.mjDSBL_CONSTRAINT) | int(flags.mjDSBL_WARMSTART)
    )
    return model, [model.joint(k).name for k in range(model.njnt)]
