"""URDF robot files to mechanisms. The file is hostile input: no entities, no network, no other file is opened."""

from __future__ import annotations

import difflib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from dalembert.errors import ReadError
from dalembert.model.joints import Continuous, Fixed, Free, JointType, Planar, Prismatic, Revolute
from dalembert.model.mechanism import GRAVITY, Mechanism
from dalembert.model.numbers import Literal, Number
from dalembert.model.parts import Body, Joint, Limits, Mimic, Origin, Source
from dalembert.model.validation import MAX_LINKS, Finding
from dalembert.spatial.angles import snapped
from dalembert.spatial.rotations import Rotation
from dalembert.spatial.vectors import Matrix

MAX_ELEMENTS = 1_000_000      # and attributes; a link with its joint has some 40, so MAX_LINKS links 800 000 (300 MB)
MAX_UNUSED = 20               # kinds of elements and attributes listed as not used; the rest is counted
MAX_ATTRIBUTE = 4096          # characters; the longest names and numbers known to us have 100
PARSER_LIMIT = re.compile("too big|too long|Buffer size")      # 10 MB (XML_MAX_TEXT_LENGTH of libxml2)
LONG_PARTS = {"Comment": "a comment", "PI": "a processing instruction", "CData": "a CDATA section"}
PARSER_ADVICE = re.compile(r"[,;.]? (?:use|try|see) xml.*", re.IGNORECASE | re.DOTALL)      # on options of the parser
JOINT_KINDS: dict[str, type[JointType]] = {"fixed": Fixed, "revolute": Revolute, "continuous": Continuous,
                                           "prismatic": Prismatic, "planar": Planar, "floating": Free}
AXIS_DEFAULT = (1, 0, 0)
MOMENTS = ("ixx", "ixy", "iyy", "ixz", "iyz", "izz")      # the order of Body.inertia

# What is read, by element; the rest of a file is reported as not used, with a warning unless it is no dynamics.
ATTRIBUTES = {"robot": {"name", "version"}, "link": {"name"}, "joint": {"name", "type"}, "inertial": set(),
              "origin": {"xyz", "rpy"}, "mass": {"value"}, "inertia": set(MOMENTS), "parent": {"link"}, "child": {"link"},
              "axis": {"xyz"}, "limit": {"lower", "upper", "velocity", "effort"}, "dynamics": {"damping", "friction"},
              "mimic": {"joint", "multiplier", "offset"}}
CHILDREN = {"robot": {"link", "joint"}, "link": {"inertial"}, "inertial": {"origin", "mass", "inertia"},
            "joint": {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"}}
OTHER_ROOTS = {"mujoco": "MJCF", "sdf": "SDF"}
XACRO = "http://www.ros.org/wiki/xacro"      # elements of this namespace stand for others, which only xacro knows
NOT_DYNAMICS = {"<visual>", "<collision>", "<material>", "<gazebo>", "<transmission>"}


def read_urdf(data: bytes, file: str = "", *, encoding: str | None = None, mimic: str = "exact",
              exact_angles: bool = True) -> Mechanism:
    """Mechanism of a URDF file.

    Parameters
    ----------
    data : bytes
        The file. Its own declaration, or `encoding`, decides how it is decoded.
    file : str
        Name for messages.
    mimic : {'exact', 'independent'}
        Followers are reduced exactly, or become joints of their own.
    exact_angles : bool
        Angles within 1e-9 rad of a multiple of pi/12 are read as that multiple.

    Raises
    ------
    ReadError, ModelError
        The file is not a sound URDF; line and fix are named.
    """
    reader = _Reader(file, exact_angles, mimic)
    robot = _root(data, file, encoding)
    if robot.tag in OTHER_ROOTS:
        raise ReadError(f"{OTHER_ROOTS[robot.tag]} files are not supported yet (supported: URDF, TOML).", file,
                        _line(robot))
    if robot.tag != "robot":
        raise ReadError(f"the root element is <{robot.tag}>, expected <robot>.", file, _line(robot))
    if (macro := next(robot.iter(f"{{{XACRO}}}*"), None)) is not None:
        raise ReadError(f"<xacro:{etree.QName(macro).localname}> is not expanded: this is a source of xacro. Run "
                        "`xacro FILE > robot.urdf` and load that.", file, _line(macro))
    return reader.mechanism(robot)


def _root(data: bytes, file: str, encoding: str | None) -> etree._Element:
    """Root element, with the parser's error as a ReadError."""
    parser = etree.iterparse(io.BytesIO(data), events=("start",), resolve_entities=False, no_network=True,
                             load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True, encoding=encoding)
    count = 0
    try:
        for _, element in parser:
            if not count and element.getroottree().docinfo.internalDTD is not None:
                raise _doctype_error(data, file)
            count += 1 + len(element.attrib)
            if count > MAX_ELEMENTS:
                raise ReadError(f"more than MAX_ELEMENTS = {MAX_ELEMENTS} XML elements and attributes.", file,
                                _line(element))
    except etree.XMLSyntaxError as error:
        if _declaration_line(data):
            raise _doctype_error(data, file) from None
        first = parser.error_log[0] if len(parser.error_log) else None
        why, line = (first.message, first.line) if first else (error.msg, error.lineno)
        if PARSER_LIMIT.search(why):
            what = next((text for mark, text in LONG_PARTS.items() if why.startswith(mark)), "a text or an attribute")
            raise ReadError(f"{what} of more than 10 MB, which is not read. Shorten it.", file, line or 0) from None
        why = PARSER_ADVICE.sub("", why).strip().rstrip(".")
        why = "".join(c if c.isprintable() else " " for c in why[:200])      # the parser quotes what the file has
        raise ReadError(f"not well-formed XML: {why}.", file, line or 0) from None
    except LookupError as error:
        raise ReadError(f"unknown text encoding ({error}).", file) from None
    return parser.root


def _doctype_error(data: bytes, file: str) -> ReadError:
    return ReadError("document type declarations and entities are not read. Remove <!DOCTYPE ...>.", file,
                     _declaration_line(data))


def _declaration_line(data: bytes) -> int:
    """Line of a document type declaration, 0 if none is seen (as in encodings that do not contain ASCII)."""
    before, found, _ = data.replace(b"\x00", b"").partition(b"<!DOCTYPE")      # zeros: UTF-16 of ASCII
    return before.count(b"\n") + 1 if found else 0


@dataclass
class _Reader:
    """Collects parts and remarks of one file."""

    file: str
    exact_angles: bool
    mimic: str
    remarks: list[Finding] = field(default_factory=list)
    unused: dict[str, list[int]] = field(default_factory=dict)               # what -> lines
    angles: list[tuple[float, int]] = field(default_factory=list)            # difference [rad], line

    def mechanism(self, robot) -> Mechanism:
        name = robot.get("name") or "robot"
        links, connections = ([e for e in robot if e.tag == tag] for tag in ("link", "joint"))
        for what, found in (("links", links), ("joints", connections)):
            if len(found) > MAX_LINKS:
                raise ReadError(f"{len(found)} {what}, the limit MAX_LINKS is {MAX_LINKS}.", self.file,
                                _line(found[MAX_LINKS]))
        if not links:
            raise ReadError("the robot has no <link>.", self.file, robot.sourceline)
        self._note_unused(robot)
        bodies = [self._body(e) for e in links]
        joints = [self._joint(e) for e in connections]
        self._summarise()
        return Mechanism(name, tuple(bodies), tuple(joints), gravity=GRAVITY, file=self.file, remarks=tuple(self.remarks))

    # --- links ---

    def _body(self, element) -> Body:
        name, source = self._required(element, "name"), self._source(element)
        self._note_unused(element)
        inertial = element.find("inertial")
        if inertial is None:
            return Body(name, source=source)
        self._note_unused(inertial)
        what = f"link {name!r}"
        xyz, turns = self._pose(inertial.find("origin"))
        mass = self._child_number(inertial, "mass", "value", what)
        tensor = self._tensor(inertial, what)
        if turns:
            rotation = Origin((0, 0, 0), turns).transform(_plain).R
            tensor = _rotated(rotation, tensor)
        return Body(name, mass, xyz, tensor, source)

    def _tensor(self, inertial, what) -> tuple[Number, ...]:
        element = inertial.find("inertia")
        if element is None:
            self._remark("warning", what, "it has no <inertia>;", "its moments are taken as 0.", inertial)
            return (0,) * 6
        missing = [m for m in MOMENTS if element.get(m) is None]
        if missing:
            self._remark("warning", what, f"<inertia> lacks {', '.join(missing)};", "taken as 0.", element)
        return tuple(self._number(element, m) if element.get(m) is not None else 0 for m in MOMENTS)

    def _child_number(self, parent, tag, attribute, what) -> Number:
        element = parent.find(tag)
        if element is None:
            self._remark("warning", what, f"it has no <{tag}>;", "taken as 0.", parent)
            return 0
        return self._number(element, attribute)

    # --- joints ---

    def _joint(self, element) -> Joint:
        name, source = self._required(element, "name"), self._source(element)
        self._note_unused(element)
        kind = self._kind(element, name)
        parent, child = (self._required(self._part(element, role, name), "link") for role in ("parent", "child"))
        kind_type = JOINT_KINDS[kind]
        axis = self._axis(element, name, needed="axis" in kind_type.parameters)
        joint_type = kind_type(axis) if "axis" in kind_type.parameters else kind_type()      # type: ignore[call-arg]
        xyz, turns = self._pose(element.find("origin"))
        friction = element.find("dynamics")
        viscous, coulomb = ((self._number(friction, a, 0) for a in ("damping", "friction"))
                            if friction is not None and joint_type.nv else (0, 0))
        return Joint(name, joint_type, parent, child, Origin(xyz, turns), self._limits(element, joint_type, name),
                     viscous=viscous, coulomb=coulomb, mimic=self._mimic(element, name), source=source)

    def _kind(self, element, name) -> str:
        kind = self._required(element, "type")
        if kind not in JOINT_KINDS:
            near = difflib.get_close_matches(kind, JOINT_KINDS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ReadError(f"joint {name!r}: unknown joint type {_short(kind)} "
                            f"(known: {', '.join(JOINT_KINDS)}).{hint}", self.file, element.sourceline)
        return kind

    def _axis(self, element, name, needed) -> tuple[Number, ...]:
        axis = element.find("axis")
        if axis is None or not needed:            # exporters write zero axes on fixed joints: never looked at
            return AXIS_DEFAULT
        return self._vector(axis, "xyz", f"axis of joint {name!r}")

    def _limits(self, element, joint_type, name) -> Limits:
        limit = element.find("limit")
        if not joint_type.nv or joint_type.nq != joint_type.nv:
            return Limits()
        bounded = joint_type.name in ("revolute", "prismatic")
        if limit is None:
            if bounded:
                self._remark("warning", f"joint {name!r}", "it has no <limit>;", "it is read without limits.", element)
            return Limits()

        def bound(attribute):
            return (self._number(limit, attribute),) * joint_type.nv if limit.get(attribute) is not None else None

        lower, upper = (bound("lower"), bound("upper")) if bounded else (None, None)
        if bounded and (lower is None) != (upper is None) or (bounded and lower is None and upper is None):
            missing = " and ".join(n for n, value in (("lower", lower), ("upper", upper)) if value is None)
            self._remark("warning", f"joint {name!r}", f"its <limit> has no {missing};", "read as no limit there.", limit)
        if lower is not None and lower == upper:
            self._remark("note", f"joint {name!r}", f"both limits are {lower[0]};", "read as no limit.", limit)
            lower = upper = None
        return Limits(lower, upper, bound("velocity"), bound("effort"))

    def _mimic(self, element, name) -> Mimic | None:
        mimic = element.find("mimic")
        if mimic is None:
            return None
        leader = self._required(mimic, "joint")
        if self.mimic == "independent":
            self._remark("note", f"joint {name!r}", f"it follows {leader!r};", "made independent, as asked.", mimic)
            return None
        self._remark("note", f"joint {name!r}", f"it follows {leader!r}:", "reduced exactly, it has no entry in q.", mimic)
        return Mimic(leader, self._number(mimic, "multiplier", 1), self._number(mimic, "offset", 0))

    # --- numbers, attributes, places ---

    def _pose(self, element) -> tuple[tuple[Number, ...], tuple[tuple[str, Number], ...]]:
        if element is None:
            return (0, 0, 0), ()
        self._note_unused(element)
        xyz = self._vector(element, "xyz", "origin") if element.get("xyz") is not None else (0, 0, 0)
        angles = self._vector(element, "rpy", "origin") if element.get("rpy") is not None else (0, 0, 0)
        roll, pitch, yaw = (self._angle(a, element.sourceline) for a in angles)
        return xyz, Origin.rpy(xyz, roll, pitch, yaw).rotations

    def _angle(self, angle: Number, line: int) -> Number:
        multiple = snapped(float(angle)) if self.exact_angles else None
        if multiple is None:
            return angle
        self.angles.append((float(angle) - float(multiple), line))
        return multiple

    def _vector(self, element, attribute, what) -> tuple[Number, ...]:
        parts = self._required(element, attribute).split()
        if len(parts) != 3:
            raise ReadError(f"{what}: {attribute}={_short(element.get(attribute))} has {len(parts)} numbers, "
                            "expected 3 separated by spaces.", self.file, element.sourceline)
        return tuple(self._literal(p, element, attribute) for p in parts)

    def _number(self, element, attribute, default: Number | None = None) -> Number:
        text = element.get(attribute)
        if text is None and default is not None:
            return default
        return self._literal(self._required(element, attribute).strip(), element, attribute)

    def _literal(self, text, element, attribute) -> Literal:
        try:
            return Literal(text)
        except ValueError as error:
            raise ReadError(f"<{element.tag}> {attribute}: {error}.", self.file, element.sourceline) from None

    def _part(self, element, tag, name):
        part = element.find(tag)
        if part is None:
            raise ReadError(f"joint {name!r} has no <{tag} link=...>.", self.file, element.sourceline)
        return part

    def _required(self, element, attribute) -> str:
        text = element.get(attribute)
        if text is None or not text.strip():
            raise ReadError(f"<{element.tag}> has no attribute {attribute!r}.", self.file, element.sourceline)
        if len(text) > MAX_ATTRIBUTE:
            raise ReadError(f"<{element.tag} {attribute}> has {len(text)} characters, the limit MAX_ATTRIBUTE is "
                            f"{MAX_ATTRIBUTE}.", self.file, element.sourceline)
        return text

    def _source(self, element) -> Source:
        return Source(self.file, element.sourceline or 0)

    # --- what is said about the file ---

    def _remark(self, severity, what, why, fix, element) -> None:
        self.remarks.append(Finding(severity, what, why, fix, self._source(element)))

    def _note_unused(self, element) -> None:
        """Remember attributes and children of an element that are not used."""
        for what in _unused_in(element):
            self.unused.setdefault(what, []).append(element.sourceline or 0)
        for child in element:
            if child.tag in ("axis", "limit", "dynamics", "mimic", "mass", "inertia", "parent", "child"):
                for what in _unused_in(child):
                    self.unused.setdefault(what, []).append(child.sourceline or 0)
            elif child.tag not in CHILDREN.get(element.tag, ()):
                self.unused.setdefault(f"<{child.tag}>", []).append(child.sourceline or 0)

    def _summarise(self) -> None:
        """One finding for all that is not used, one for all angles read as multiples of pi."""
        for severity, expected in (("note", True), ("warning", False)):
            found = {what: min(at) for what, at in self.unused.items() if (what in NOT_DYNAMICS) == expected}
            if found:
                listed = ", ".join(f"{what[:60]} ({len(self.unused[what])}, first in line {at})"
                                   for what, at in list(found.items())[:MAX_UNUSED])
                listed += f" and {len(found) - MAX_UNUSED} more" if len(found) > MAX_UNUSED else ""
                self.remarks.append(Finding(severity, "not used", f"{listed}.", "", Source(self.file, min(found.values()))))
        if self.angles:
            worst, line = max(self.angles, key=lambda found: abs(found[0]))
            why = f"read as exact multiples of pi/12; the largest difference is {worst:.2g} rad."
            self.remarks.append(Finding("note", f"{len(self.angles)} angles", why, "exact_angles=False keeps the decimals.",
                                        Source(self.file, line)))


def _unused_in(element) -> Iterator[str]:
    known = ATTRIBUTES.get(element.tag)
    for attribute in element.attrib:
        if known is not None and attribute not in known:
            yield f"<{element.tag} {attribute}>"


def _short(text: str) -> str:
    """An attribute as shown in messages."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _line(element) -> int:
    return element.sourceline or 0


def _plain(x: Any) -> Any:
    return x


def _rotated(rotation: Rotation, tensor: tuple[Number, ...]) -> tuple[Number, ...]:
    """R I R^T: the inertia tensor in the link's axes; the centre of mass is not turned."""
    I = rotation.conjugate_symmetric(Matrix.symmetric(*tensor))
    return I[0][0], I[0][1], I[1][1], I[0][2], I[1][2], I[2][2]
