"""Models of SDF files as mechanisms. The file is hostile input: nothing of it is evaluated, no
other file is opened.

A model without a joint to the world floats in SDF; here its only root link is the base, held where
it stands, or freed by `load(base="free")`. Several roots hang on a body 'world', on free joints
unless they are static. A link that is the child of two joints closes a loop by the second of these.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import (
    dataclass,
    field,
)

from dalembert.constraints.closures import Closure
from dalembert.constraints.couplings import Coupling
from dalembert.expr import known_zero
from dalembert.model.joints import (
    Fixed,
    Free,
)
from dalembert.model.linkage import GRAVITY
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import (
    Literal,
    Number,
)
from dalembert.model.origins import Origin
from dalembert.model.parts import (
    Body,
    Frame,
    Joint,
)
from dalembert.readers.formats import ReadingOptions
from dalembert.readers.read_faults import ReadFaults
from dalembert.readers.read_file import (
    MOMENTS,
    causes_named,
    limited,
    turned_tensor,
)
from dalembert.readers.sdf.pose_graph import (
    MODEL,
    WORLD,
    PoseGraph,
    joined,
    links_of,
    seen_from,
)
from dalembert.readers.sdf.sdf_elements import SdfFile
from dalembert.readers.sdf.sdf_joints import SdfJoints
from dalembert.readers.sdf.sdf_shapes import shapes_of
from dalembert.readers.xacro import refuse_xacro
from dalembert.readers.xml import (
    Element,
    parsed,
)

WORLD_GRAVITY = (0, 0, Literal("-9.8"))  # of a <world> that says none
VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")
FLATTEN = "`gz sdf -p FILE` writes included models into one file."


def read(data: bytes, file: str, options: ReadingOptions) -> Mechanism:
    """Mechanism of an SDF file; see `formats.Reader`.

    Raises
    ------
    ReadError, ModelError
        The file is not a sound SDF; line and fix are named.
    """
    document = parsed(data, file, options.encoding)
    refuse_xacro(document, file)
    tolerance = options.angle_tolerance if options.exact_angles else None
    return _SdfReader(SdfFile(file, tolerance, document.remarks), options).mechanism(document.root)


@dataclass
class _SdfReader:
    """Collects the parts of all models of one file."""

    file: SdfFile
    options: ReadingOptions
    bodies: list[Body] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    constraints: list[Closure | Coupling] = field(default_factory=list)
    faults: ReadFaults = field(default_factory=ReadFaults)

    def mechanism(self, root: Element) -> Mechanism:
        """The mechanism of an <sdf>."""
        found = VERSION.match(root.get("version") or "")
        version = (int(found[1]), int(found[2])) if found else (1, 7)
        world = root.find("world")
        self.file.take(root, "model", "world")
        models = root.all("model")
        gravity: tuple[Number, ...] = GRAVITY
        if world is not None:
            self.file.take(world, "model", "gravity")
            models += world.all("model")
            given = world.find("gravity")
            gravity = WORLD_GRAVITY if given is None else self.file.numbers(given, 3, "gravity")
        self._refuse_others(root, world)
        if not models:
            raise root.error("there is no <model>.")
        prefixes = self._prefixes(models)
        readers = [
            _ModelReader(self, model, version, prefix)
            for model, prefix in zip(models, prefixes, strict=True)
        ]
        self.faults.tell(self.bodies)
        self._hang(readers)
        bodies, joints = self.file.without_noise(self.bodies, self.joints)
        remarks = tuple(self.file.findings())
        with causes_named(remarks):
            return Mechanism(
                models[0].get("name") or "model",
                tuple(bodies),
                tuple(joints),
                tuple(self.frames),
                gravity,
                file=self.file.name,
                remarks=remarks,
                constraints=tuple(self.constraints),
                principles=("chetaev",) * len(self.constraints),
            )

    def _prefixes(self, models: list[Element]) -> list[str]:
        """Texts before the names of parts of each model; none of a single one."""
        names = [self.file.identifier(model) for model in models]
        if len(models) == 1:
            return [""]
        count = Counter(names)
        prefixes = [name if count[name] == 1 else f"{name}_{k}" for k, name in enumerate(names, 1)]
        for model, name in zip(models, names, strict=True):
            if count[name] > 1:
                why = "several models have its name;"
                fix = "names of its parts begin with a number of its own."
                self.file.remark("warning", f"model {name!r}", why, fix, model)
        return [f"{prefix}::" for prefix in prefixes]

    def _refuse_others(self, root: Element, world: Element | None) -> None:
        """Raise for content that is in other files, or in a form that is not read."""
        for parent in (root, world):
            for tag in ("include", "joint") if parent is not None else ():
                assert parent is not None
                if (element := parent.find(tag)) is not None:
                    raise element.error(f"<{tag}> in <{parent.tag}> is not read. {FLATTEN}")

    def _hang(self, readers: list[_ModelReader]) -> None:
        """Put root links on the world, unless there is one alone, and it is where the model is."""
        roots = [(reader, link) for reader in readers for link in reader.roots()]
        on_world = any(joint.parent == WORLD for joint in self.joints)
        if len(roots) == 1 and not on_world:
            reader, link = roots[0]
            is_moved = not _is_nowhere(reader.in_world(link))
            if is_moved and self.options.base == "free":
                why, fix = "it floats;", "its place in the world is that of its free joint."
                self.file.remark("note", f"link {link!r}", why, fix, reader.model)
            if not is_moved or self.options.base == "free":
                return
        self.bodies.insert(0, Body(WORLD))
        for reader, link in roots:
            self._hang_one(reader, link, len(roots) == 1 and not on_world)

    def _hang_one(self, reader: _ModelReader, link: str, is_base: bool) -> None:
        name = reader.renamed(link)
        held = is_base or reader.is_static
        place = reader.in_world(link)
        joint_type = Fixed() if held else Free()
        source = reader.model.source
        self.joints.insert(0, Joint(f"{name}.root", joint_type, WORLD, name, place, source=source))
        if not held:
            why = "no joint connects it with the world: it floats on a free joint,"
            self.file.remark("note", f"link {name!r}", why, f"{name}.root.", reader.model)


class _ModelReader:
    """Reads one model into the parts of a file."""

    def __init__(self, parts: _SdfReader, model: Element, version: tuple[int, ...], prefix: str):
        self.parts = parts
        self.file = parts.file
        self.model = model
        self.prefix = prefix
        self.file.take(model, "link", "joint", "frame", "pose", "static")
        self._refuse_nested()
        self.graph = PoseGraph(self.file, model)
        self.readers = SdfJoints(self.file, self.graph, version, parts.options.mimic)
        self.is_static = self.file.flag(model, "static")
        self.inner: dict[str, str] = {}  # link -> the joint that carries it
        parts.bodies += parts.faults.each(self._body, self._all_links())
        joints = limited(model, "joint")
        gears = [joint for joint in joints if joint.get("type") == "gearbox"]
        others = [joint for joint in joints if joint.get("type") != "gearbox"]
        parts.faults.each(self._read_joint, others)
        parts.faults.each(self._read_gearbox, gears)
        parts.frames += self._frames()

    def _all_links(self) -> list[Element]:
        links = links_of(self.model)
        if not links:
            raise self.model.error(f"model {self.model.get('name')!r} has no <link>.")
        for link in limited(self.model, "link"):
            if link.get("name") == WORLD:
                why = "a link has the name of the world;"
                self.file.remark("note", "link 'world'", why, "it is taken for it.", link)
        return links

    def _refuse_nested(self) -> None:
        for tag in ("model", "include"):
            if (element := self.model.find(tag)) is not None:
                raise element.error(
                    f"<{tag}> in <model> is not read. Merge the models into one. {FLATTEN}"
                )

    def renamed(self, name: str) -> str:
        """The name of a part among all models."""
        return name if name == WORLD else f"{self.prefix}{name}"

    def roots(self) -> Iterator[str]:
        """Links that no joint carries."""
        for link in links_of(self.model):
            if (name := link.get("name") or "") not in self.inner:
                yield name

    def in_world(self, name: str) -> Origin:
        """Placement of a frame of the model in the world."""
        return joined(self.graph.pose, self.graph.place(name))

    # --- links ---

    def _body(self, link: Element) -> Body:
        name = self.file.identifier(link)
        owner = f"link {name!r}"
        self.file.take(link, "inertial", "pose", "visual", "collision", "gravity")
        gravity = link.find("gravity")
        if gravity is not None and not self.file.flag(link, "gravity"):
            self.file.remark("error", owner, "it is to feel no gravity;", "it does.", gravity)
        visuals = shapes_of(link, self.file)
        source = link.source
        inertial = link.find("inertial")
        if inertial is None:
            why = "it has no <inertial>;"
            fix = "taken as 1 kg with moments of 1 kg m^2, the defaults of SDF."
            self.file.remark("warning", owner, why, fix, link)
            return Body(
                self.renamed(name), 1, (0, 0, 0), (1, 0, 1, 0, 0, 1), source, visuals=visuals
            )
        self.file.take(inertial, "pose", "mass", "inertia")
        if (inertial.get("auto") or "").lower() in ("true", "1"):
            why = "its inertia is to be computed from its shapes, which is not done;"
            self.file.remark("error", owner, why, "write <mass> and <inertia>.", inertial)
        mass = self._missing(inertial, "mass", owner)
        origin = self.file.pose(inertial, owner)
        tensor = self._tensor(inertial, owner, origin)
        return Body(self.renamed(name), mass, origin.xyz, tensor, source, visuals=visuals)

    def _missing(self, parent: Element, tag: str, owner: str) -> Number:
        """The number of a child; an error, where SDF's default of 1 stands for it."""
        if parent.find(tag) is None:
            why = f"it has no <{tag}>;"
            self.file.remark("error", owner, why, "taken as 1, the default of SDF.", parent)
        return self.file.number(parent, tag, 1, owner)

    def _tensor(self, inertial: Element, owner: str, origin: Origin) -> tuple[Number, ...]:
        inertia = inertial.find("inertia")
        if inertia is None:
            why = "it has no <inertia>;"
            fix = "its moments are taken as 1 kg m^2, the default of SDF."
            self.file.remark("error", owner, why, fix, inertial)
            return (1, 0, 1, 0, 0, 1)
        self.file.take(inertia, *MOMENTS)
        entries = [
            self._missing(inertia, name, owner)
            if name[1] == name[2]
            else self.file.number(inertia, name, 0, owner)
            for name in MOMENTS
        ]
        return turned_tensor(tuple(entries), origin)

    def _frames(self) -> Iterator[Frame]:
        for element in limited(self.model, "frame"):
            name = element.get("name") or ""
            link = self.graph.link_of(name)
            self.file.take(element, "pose")
            if link == MODEL:
                link = self._canonical_link()
            if link == WORLD:
                link = next(self.roots(), WORLD)
            origin = seen_from(self.graph.place(link), self.graph.place(name))
            source = element.source
            yield Frame(self.renamed(name), self.renamed(link), origin, source)

    def _canonical_link(self) -> str:
        """The link that the frame of the model is fixed to."""
        first = links_of(self.model)[0].get("name") or ""
        return self.model.get("canonical_link") or first

    # --- joints ---

    def _read_joint(self, element: Element) -> None:
        """Add a joint, or the closure of a loop where its child has a joint already."""
        name = self.file.identifier(element)
        owner = f"joint {name!r}"
        parent = self._end(element, "parent", owner)
        child = self._end(element, "child", owner)
        if child == WORLD:
            raise element.error(f"{owner}: its child is the world. Exchange parent and child.")
        place = self.graph.place(name)
        in_parent = self._seen_from(parent, place)
        in_child = seen_from(self.graph.place(child), place)
        data = self.readers.data(element)
        source = element.source
        if child in self.inner:
            first = (self.renamed(parent), in_parent)
            second = (self.renamed(child), in_child)
            closure = Closure(self.renamed(name), data.type, first, second, source)
            self.parts.constraints.append(closure)
            why = f"link {child!r} has joint {self.inner[child]!r} already: it closes a loop,"
            self.file.remark(
                "note", owner, why, "as a constraint without friction, springs and limits.", element
            )
            return
        self.inner[child] = name
        between = self.renamed(child)
        if not _is_nowhere(in_child):
            between = self._put_between(name, child, in_child, element)
        joint = Joint(
            self.renamed(name),
            data.type,
            self.renamed(parent),
            between,
            in_parent,
            source=source,
            **data.numbers,
        )
        self.parts.joints.append(joint)

    def _put_between(self, joint: str, child: str, in_child: Origin, element: Element) -> str:
        """The name of a body without mass in a joint's frame, to which the child is fixed."""
        name = f"{self.renamed(joint)}.frame"
        source = element.source
        self.parts.bodies.append(Body(name, source=source))
        origin = seen_from(in_child, Origin())
        fixed = f"{self.renamed(joint)}.fixed"
        self.parts.joints.append(
            Joint(fixed, Fixed(), name, self.renamed(child), origin, source=source)
        )
        return name

    def _end(self, joint: Element, tag: str, owner: str) -> str:
        """The link of the parent or child of a joint."""
        return self.graph.link_of(self.file.text(joint, tag, owner))

    def _seen_from(self, parent: str, place: Origin) -> Origin:
        if parent == WORLD:
            return joined(self.graph.pose, place)
        return seen_from(self.graph.place(parent), place)

    def _read_gearbox(self, element: Element) -> None:
        """theta_2 = -ratio theta_1, the turns of child and parent against a reference body."""
        name = self.file.identifier(element)
        owner = f"joint {name!r}"
        reference = self.graph.link_of(self.file.text(element, "gearbox_reference_body", owner))
        factors = {}
        ratio = self.file.number(element, "gearbox_ratio", 1, owner)
        for tag, axis, factor in (("parent", "axis", ratio), ("child", "axis2", 1)):
            link = self._end(element, tag, owner)
            turn = self._turn(element, link, reference, axis)
            if turn is None:
                why = f"link {link!r} does not turn about its <{axis}> on {reference!r};"
                self.file.remark("error", owner, why, "the gearbox is not read.", element)
                return
            factors[self.renamed(self.inner[link])] = factor * turn
        source = element.source
        coupling = Coupling(self.renamed(name), factors, 0, "rad", source)
        self.parts.constraints.append(coupling)

    def _turn(self, element: Element, link: str, reference: str, tag: str) -> int | None:
        """1 or -1 where the joint between two links is a hinge along an axis of a gearbox, or
        against it.
        """
        joint = next(
            (j for j in self.model.all("joint") if j.get("name") == self.inner.get(link)), None
        )
        if joint is None or self.readers.kind(joint) not in ("revolute", "continuous"):
            return None
        if self._end(joint, "parent", "") != reference:
            return None
        ours = self._direction(joint, "axis")
        theirs = self._direction(element, tag)
        product = sum(a * b for a, b in zip(ours, theirs, strict=True))
        return None if abs(abs(product) - 1) > 1e-6 else 1 if product > 0 else -1

    def _direction(self, joint: Element, tag: str) -> list[float]:
        """An axis of a joint in the model's axes."""
        axis = self.readers.axis(joint, joint.find(tag))
        place = self.graph.place(joint.get("name") or "")
        turned = Origin((0, 0, 0), place.rotations).moved(axis)
        length = sum(float(x) ** 2 for x in turned) ** 0.5 or 1.0
        return [float(x) / length for x in turned]


def _is_nowhere(origin: Origin) -> bool:
    """Whether a placement is none."""
    return all(map(known_zero, origin.xyz)) and not origin.rotations
