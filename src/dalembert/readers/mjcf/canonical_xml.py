"""The model as MuJoCo gets it: the kept content of a file, an element a line, so that each line of
MuJoCo is a line of the file; and content that is not used.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import (
    dataclass,
    field,
)
from xml.sax.saxutils import quoteattr

from dalembert.errors import (
    ReadError,
    nearest,
)
from dalembert.model.origins import (
    NOWHERE,
    Source,
)
from dalembert.model.validation import MAX_LINKS
from dalembert.readers.mjcf.element_kinds import (
    ACTUATORS,
    LOST,
    NAMES,
    READ,
    REFUSED,
    TRANSMISSIONS,
    children_of,
    kind_of,
)
from dalembert.readers.mjcf.known_elements import (
    known_attributes,
    known_children,
)
from dalembert.readers.mjcf.unused_topics import (
    shown,
    topic_of,
)
from dalembert.readers.unread import UnreadContent
from dalembert.readers.xml import (
    Element,
)

NOT_FINITE = re.compile(r"(?<![\w.])[+-]?(nan|inf|infinity)(?![\w.])", re.IGNORECASE)
DECIMAL = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
MAX_KEPT = 20 * MAX_LINKS  # elements of the file
MAX_REPEATED = 5000  # copies of elements: MuJoCo's time grows with their square
MAX_PARAMETER = 200  # of a mesh that MuJoCo makes: time and memory grow with their square
MAX_MODELS = 100  # attached models
LIKE = 60  # characters of a name that are compared for a hint
FOLDERS = ("assetdir", "meshdir", "strippath")  # of the compiler, for files alone


@dataclass
class MeshFile:
    """A mesh that the model names."""

    name: str
    file: str
    ending: str
    source: Source
    document: DocumentFolders


@dataclass
class DocumentFolders:
    """Folders of the files that a document names.

    base: that of the document, from the folder of the model; of_compiler: options of its compiler.
    """

    base: str = ""
    of_compiler: dict[str, str] = field(default_factory=dict)


@dataclass
class ModelFile:
    """A model that the model attaches."""

    name: str | None
    file: str
    source: Source


@dataclass
class CanonicalModel:
    """Texts for MuJoCo, and the sources of their lines.

    starts: first line of each document by its name, '' of the model itself; unused: sources by label,
    as '<geom friction>'; lost: the same, of things that are mechanics; meshes, models: by the name
    of the file that stands in the text; attached: how often, by the name of a model.
    """

    lines: list[str] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    unread: UnreadContent = field(default_factory=UnreadContent)
    meshes: dict[str, MeshFile] = field(default_factory=dict)
    models: dict[str, ModelFile] = field(default_factory=dict)
    attached: Counter[str] = field(default_factory=Counter)
    starts: dict[str, int] = field(default_factory=lambda: {"": 0})
    folders: DocumentFolders = field(default_factory=DocumentFolders)
    count: int = 0
    repeated: int = 0

    def text(self, document: str = "") -> str:
        """A document, with empty lines in place of those before it."""
        start = self.starts[document]
        later = [other for other in self.starts.values() if other > start]
        return "\n" * start + "\n".join(self.lines[start : min(later, default=len(self.lines))])

    def begin(self, document: str, base: str) -> None:
        """Begin a document of an attached model, from a folder below that of the model."""
        self.starts[document] = len(self.lines)
        self.folders = DocumentFolders(base)

    def source(self, line: int) -> Source:
        """The file and line of a line of the text."""
        return self.sources[line - 1] if 0 < line <= len(self.sources) else NOWHERE

    def first(self, tag: str, file: str) -> Source:
        """The first element of a tag; the file if there is none."""
        starts = (f"<{tag}>", f"<{tag} ")
        found = (s for line, s in zip(self.lines, self.sources) if line.startswith(starts))
        return next(found, Source(file))

    def add(self, element: Element, parent: str = "", times: int = 1) -> None:
        """Write an element that is kept, and all inside."""
        self._count(element, times)
        tag = element.tag
        attributes = self._attributes(element, parent)
        if tag == "mesh" and parent == "asset":
            self._name_mesh(element, attributes)
        elif tag == "model":
            self._name_model(element, attributes)
        elif tag == "attach":
            self.attached[attributes.get("model", "")] += times
        written = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
        self._write(f"<{tag}{written}>", element)
        inside = times * _repetitions(element) if tag == "replicate" else times
        for child in element:
            if self._is_kept(child, element, parent):
                self.add(child, tag, inside)
        self._write(f"</{tag}>", element)

    def _count(self, element: Element, times: int) -> None:
        """Count an element and its copies."""
        self.count += 1
        if self.count > MAX_KEPT:
            raise element.error(f"more than MAX_KEPT = {MAX_KEPT} elements.")
        self.repeat(times - 1, "<replicate>", element.source)

    def repeat(self, copies: int, what: str, source: Source) -> None:
        """Count copies of elements."""
        self.repeated += copies
        if self.repeated > MAX_REPEATED:
            why = f"{what} makes more than MAX_REPEATED = {MAX_REPEATED} elements with all copies."
            raise ReadError(why, source.file, source.line)

    def _write(self, line: str, element: Element) -> None:
        self.lines.append(line)
        self.sources.append(element.source)

    def _attributes(self, element: Element, parent: str) -> dict[str, str]:
        """Attributes that are read; the others are noted."""
        kind = kind_of(parent, element.tag)
        known = known_attributes(parent, element.tag) or ()
        kept = {}
        for name, value in element.attributes.items():
            if name.startswith("xmlns:"):
                continue
            if name not in known and name not in READ.get(kind, ()):
                raise _unknown_attribute(element, name, known)
            if name not in READ.get(kind, ()):
                self._note(f"{element.tag} {name}", element)
                continue
            if name not in NAMES and NOT_FINITE.search(value):
                raise element.error(f"<{element.tag}> {name} is not finite. Give a number.")
            if name == "params":
                _check_parameters(value, element)
            if element.tag == "compiler" and name in FOLDERS:
                self.folders.of_compiler[name] = value
                continue
            kept[name] = value
        return kept

    def _is_kept(self, child: Element, element: Element, parent: str) -> bool:
        """Whether a child is shown to MuJoCo; if it is not, it is noted."""
        within = f"{element.tag}/{child.tag}"
        for name in (within, child.tag):
            if name in REFUSED:
                raise child.error(f"<{child.tag}> in <{element.tag}> is not read. {REFUSED[name]}")
        if child.tag == "deformable" and (flex := child.find("flex")):
            raise flex.error(f"<flex> in <deformable> is not read. {REFUSED['deformable/flex']}")
        kept = child.tag in children_of(parent, element.tag)
        if not kept and known_attributes(element.tag, child.tag) is None:
            known = known_children(element.tag)
            similar = nearest(child.tag[:LIKE], known)
            hint = f" Did you mean <{similar}>?" if similar else ""
            raise child.error(f"<{element.tag}> has no <{child.tag[:LIKE]}>.{hint}")
        if kept and child.tag == "geom" and "hfield" in child.attributes:
            self._note("geom hfield", child)
            return False
        if kept and element.tag == "actuator" and not _drives_a_joint(child):
            self._note(within, child)
            return False
        if not kept:
            self._note(within if within in LOST else child.tag, child)
        return kept

    def _note(self, label: str, element: Element) -> None:
        """Remember something that is not used."""
        if label in LOST:
            self.unread.lose(shown(label), LOST[label], element.source)
        else:
            self.unread.leave(shown(label), element.source, "note", topic_of(label))

    def _name_mesh(self, element: Element, attributes: dict[str, str]) -> None:
        """Give a mesh a name of its own, and a file's name that says nothing of this machine."""
        file = attributes.pop("file", None)
        ending = _ending(file, attributes.pop("content_type", ""))
        if file is None:
            return
        stem = re.split(r"[/\\]", file)[-1].rpartition(".")[0]
        name = attributes.setdefault("name", stem)
        alias = f"mesh{len(self.meshes)}.{ending}"
        attributes["file"] = alias
        self.meshes[alias] = MeshFile(name, file, ending, element.source, self.folders)

    def _name_model(self, element: Element, attributes: dict[str, str]) -> None:
        """Give an attached model a file's name that says nothing of this machine."""
        file = attributes.get("file")
        if not file:
            raise element.error("<model> has no file.")
        if len(self.starts) > 1:
            why = "<model> in a model that is attached itself is not read. Write both in one file."
            raise element.error(why)
        if len(self.models) >= MAX_MODELS:
            raise element.error(f"more than MAX_MODELS = {MAX_MODELS} models are attached.")
        attributes["file"] = f"model{len(self.models)}.xml"
        self.models[attributes["file"]] = ModelFile(element.get("name"), file, element.source)


def _drives_a_joint(actuator: Element) -> bool:
    """Whether an actuator is one of those that are read."""
    return actuator.tag in ACTUATORS and not {*TRANSMISSIONS} & {*actuator.attributes}


def _ending(file: str | None, content_type: str) -> str:
    """The ending that says how a mesh is coded."""
    by_type = {"model/stl": "stl", "model/obj": "obj", "model/vnd.mujoco.msh": "msh"}
    ending = (file or "").rpartition(".")[2].lower()
    return by_type.get(content_type, ending if ending in ("stl", "obj", "msh") else "stl")


def _repetitions(element: Element) -> int:
    """The count of a <replicate>, at most MAX_REPEATED + 2."""
    text = (element.get("count") or "").strip()
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise element.error(f"<replicate> count={text[:LIKE]!r}: expected a whole number.")
    return min(int(text), MAX_REPEATED + 2)


def _unknown_attribute(element: Element, name: str, known: tuple[str, ...]) -> ReadError:
    similar = nearest(name[:LIKE], known)
    hint = f" Did you mean {similar!r}?" if similar else ""
    return element.error(f"<{element.tag}> has no attribute {name[:LIKE]!r}.{hint}")


def _check_parameters(text: str, element: Element) -> None:
    """Raise for a shape of a mesh that is too fine."""
    numbers = [float(x) for x in DECIMAL.findall(text)]
    if max(numbers, default=0) > MAX_PARAMETER:
        raise element.error(f"<mesh> params: {text[:LIKE]!r} has a number above {MAX_PARAMETER}.")
