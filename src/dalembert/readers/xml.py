"""XML of robot files as a tree of elements with exact lines. The file is hostile input: no document
types, no entities.

Robot files are written by many programs and read by forgiving ones. Dialects that others pass are
read with a finding: blanks or comments before the declaration, a version of 0.0, a wrong declared
encoding, prefixes without a namespace, null characters at the end.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from xml.parsers import expat

from dalembert.errors import ReadError
from dalembert.model.findings import Finding
from dalembert.model.origins import Source

MAX_ELEMENTS = (
    1_000_000  # and attributes; a link with its joint has some 40, so 20 000 links 800 000
)
MAX_DEPTH = 100  # elements inside one another; the deepest file known to us has 12
MAX_RUN = (
    4_000_000  # characters of a tag or a text, between two '<'; the longest known to us has 4000
)
TEXT_KEPT = 1000  # characters of a text that are kept; six numbers have some 150
CHUNK = 2**16  # bytes parsed at a time, so that a hostile file is refused early
SHOWN = 30  # characters of the file quoted in a message
SURROGATES = "surrogatepass"  # of texts: a lone surrogate is refused by the parser, with its line

ENCODINGS = frozenset(
    {  # names as `codecs` has them; others (UTF-7, ...) are no encodings of robot files
        "utf-8",
        "ascii",
        *(f"iso8859-{k}" for k in range(1, 17)),
        *(f"cp{k}" for k in range(1250, 1259)),
        "cp437",
        "cp850",
        "cp932",
        "koi8-r",
        "mac-roman",
        "gb2312",
        "gbk",
        "gb18030",
        "big5",
        "shift_jis",
        "euc_jp",
        "euc_kr",
    }
)
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"<\0\0\0", "utf-32-le"),
    (b"\0\0\0<", "utf-32-be"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
BLANKS = re.compile("[ \t\r\n\ufeff]*")
LINE_END = re.compile("\r\n?|\n")
LONG_RUN = re.compile(rb"<[^<]{%d}" % MAX_RUN)
DECLARATION = re.compile(r"<\?xml(?=[\s?])[^<>]{0,1000}?\?>", re.IGNORECASE)
STANDARD = re.compile(
    r"""<\?xml\s+version\s*=\s*(["'])1\.[0-9]+\1(?:\s+encoding\s*=\s*(["'])[A-Za-z][\w.-]*\2)?"""
    r"""(?:\s+standalone\s*=\s*(["'])(?:yes|no)\3)?\s*\?>""",
    re.ASCII,
)
DECLARED_ENCODING = re.compile(r"""encoding\s*=\s*["']?([\w.:-]{1,40})""", re.ASCII)

WORDS = {
    expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT: "Extra content after the root element",
    expat.errors.XML_ERROR_DUPLICATE_ATTRIBUTE: "an attribute is given twice",
    expat.errors.XML_ERROR_BAD_CHAR_REF: "invalid character number",
    expat.errors.XML_ERROR_UNCLOSED_TOKEN: "a tag, comment or text is not closed",
}


class Element:
    """An element: tag and attributes as they are written, children, file and line, and the first
    text that is not blank.
    """

    __slots__ = ("tag", "attributes", "children", "line", "text", "file")

    def __init__(self, tag: str, attributes: dict[str, str], line: int, file: str = ""):
        self.tag, self.attributes, self.line, self.file = tag, attributes, line, file
        self.children: list[Element] = []
        self.text = ""

    def __iter__(self) -> Iterator[Element]:
        return iter(self.children)

    @property
    def source(self) -> Source:
        """File and line of its start tag."""
        return Source(self.file, self.line)

    def error(self, message: str) -> ReadError:
        """The error of this element, with its file and line."""
        return ReadError(message, self.file, self.line)

    def get(self, attribute: str) -> str | None:
        """The attribute's text, None if it is absent."""
        return self.attributes.get(attribute)

    def find(self, tag: str) -> Element | None:
        """The first child of that tag."""
        return next((child for child in self.children if child.tag == tag), None)

    def all(self, tag: str) -> list[Element]:
        """All children of that tag."""
        return [child for child in self.children if child.tag == tag]

    def below(self) -> Iterator[Element]:
        """All elements inside, in the order of the file."""
        stack = self.children[::-1]
        while stack:
            element = stack.pop()
            yield element
            stack += reversed(element.children)

    def same_as(self, other: Element) -> bool:
        """Whether both say the same."""
        return (
            (self.tag, self.attributes, self.text) == (other.tag, other.attributes, other.text)
            and len(self.children) == len(other.children)
            and all(a.same_as(b) for a, b in zip(self.children, other.children, strict=True))
        )


class Document(NamedTuple):
    """A file's root element, remarks about its form, and the first line of each tag with a prefix."""

    root: Element
    remarks: list[Finding]
    prefixed: dict[str, int]


def parsed(data: bytes, file: str, encoding: str | None = None, depth: int = MAX_DEPTH) -> Document:
    """The tree of a file.

    Parameters
    ----------
    data : bytes
    file : str
        Name for messages.
    encoding : str, optional
        How the bytes are encoded where that is known, whatever the file declares.
    depth : int
        How deep elements may be nested.

    Raises
    ------
    ReadError
        The file is no XML, has a document type, or passes a limit.
    """
    remarks: list[Finding] = []
    text = data.decode(encoding, SURROGATES) if encoding else _decoded(data, file, remarks)
    text = _without_declaration(_without_end(text, file, remarks), file, remarks)
    plain = text.encode("utf-8", SURROGATES)
    if run := LONG_RUN.search(plain):
        raise ReadError(
            f"a tag, text or comment of more than MAX_RUN = {MAX_RUN} characters.",
            file,
            1 + plain.count(b"\n", 0, run.start()),
        )
    builder = _ElementBuilder(file, remarks, depth)
    try:
        for start in range(0, len(plain), CHUNK):
            builder.parser.Parse(plain[start : start + CHUNK], False)
        builder.parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ReadError(
            f"not well-formed XML: {builder.fault(error, plain)}.", file, error.lineno
        ) from None
    assert builder.root is not None
    return Document(builder.root, remarks, builder.prefixed)


def _decoded(data: bytes, file: str, remarks: list[Finding]) -> str:
    """The text by its byte order mark, by its zeros, or by what it declares."""
    bare = data.lstrip(b" \t\r\n")
    encoding = next(
        (name for mark, name in MARKS if data.startswith(mark) or bare.startswith(mark)), ""
    )
    if not encoding:
        encoding = "utf-8"
        declaration = DECLARATION.search(data[:4096].decode("latin-1"))
        declared = DECLARED_ENCODING.search(declaration[0]) if declaration else None
        if declared:
            known = _encoding(declared[1])
            if known.startswith(("utf-16", "utf-32")):
                remarks.append(
                    Finding(
                        "note",
                        "encoding",
                        f"{declared[1]} is declared, but the file has one byte a letter;",
                        "it is read as UTF-8.",
                        Source(file, 1),
                    )
                )
            elif known not in ENCODINGS:
                raise ReadError(
                    f"unknown text encoding {declared[1]!r}. Save the file as UTF-8.", file, 1
                )
            else:
                encoding = known
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = f"byte 0x{data[error.start]:02x}"
        raise ReadError(
            f"not well-formed XML: {byte} does not fit the encoding {encoding}. Save the file as "
            "UTF-8, or declare its encoding in the first line.",
            file,
            line,
        ) from None


def _encoding(name: str) -> str:
    """Python's name of an encoding; the name itself where there is none."""
    try:
        return codecs.lookup(name).name
    except LookupError:
        return name


def _without_end(text: str, file: str, remarks: list[Finding]) -> str:
    """The text without null characters behind it, as programs write that keep C's texts."""
    kept = text.rstrip("\0")
    if kept == text:
        return text
    source = Source(file, 1 + len(LINE_END.findall(kept)))
    why = "null characters stand there, which XML forbids;"
    remarks.append(
        Finding("note", "end of the file", why, "it is read all the same.", source),
    )
    return kept


def _without_declaration(text: str, file: str, remarks: list[Finding]) -> str:
    """The text with the XML declaration and all before it as line ends; findings where XML forbids
    what stood there.
    """
    begin = start = BLANKS.match(text).end()  # type: ignore[union-attr]
    while text.startswith("<!--", start) and (end := text.find("-->", start + 4)) >= 0:
        start = BLANKS.match(text, end + 3).end()  # type: ignore[union-attr]
    declaration = DECLARATION.match(text, start)
    if declaration is None:
        return text[:begin].replace("\ufeff", "") + text[begin:]
    source = Source(file, 1 + len(LINE_END.findall(text, 0, start)))
    if text[:start] not in ("", "\ufeff"):
        remarks.append(
            Finding(
                "note",
                "XML declaration",
                "blanks or comments stand before it, which XML forbids;",
                "it is read all the same.",
                source,
            )
        )
    if not STANDARD.fullmatch(declaration[0]):
        remarks.append(
            Finding(
                "note",
                "XML declaration",
                f"{quoted(declaration[0], 80)} is none of XML;",
                "the file is read all the same.",
                source,
            )
        )
    return "\n" * len(LINE_END.findall(text, 0, declaration.end())) + text[declaration.end() :]


def quoted(text: str, length: int = SHOWN) -> str:
    """A text of the file as it stands in messages: on one line, and not too long."""
    return repr(text if len(text) <= length else f"{text[: length - 3]}...")


class _ElementBuilder:
    """Receives the parser's events and builds the tree."""

    def __init__(self, file: str, remarks: list[Finding], depth: int):
        self.file, self.remarks, self.depth = file, remarks, depth
        self.root: Element | None = None
        self.open: list[Element] = []
        self.prefixed: dict[str, int] = {}
        self.count = 0
        self.instructions = 0
        self.parser: Any = expat.ParserCreate("utf-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.ProcessingInstructionHandler = self.instruction
        self.parser.StartDoctypeDeclHandler = self.document_type

    @property
    def line(self) -> int:
        """The line that is being read."""
        return self.parser.CurrentLineNumber

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        self.count += 1 + len(attributes)
        if self.count > MAX_ELEMENTS:
            raise ReadError(
                f"more than MAX_ELEMENTS = {MAX_ELEMENTS} XML elements and attributes.",
                self.file,
                self.line,
            )
        if len(self.open) >= self.depth:
            raise ReadError(
                f"elements are nested more than MAX_DEPTH = {self.depth} deep.",
                self.file,
                self.line,
            )
        element = Element(tag, attributes, self.line, self.file)
        if ":" in tag:
            self.prefixed.setdefault(tag, self.line)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        """End an element."""
        element = self.open.pop()
        element.text = element.text.strip()

    def characters(self, text: str) -> None:
        """Keep the first text of an element, which may come in pieces."""
        element = self.open[-1]
        if element.children and element.text or text.isspace() and not element.text:
            return
        element.text = (element.text + text)[:TEXT_KEPT]

    def instruction(self, target: str, data: str) -> None:
        """Remark the first processing instruction."""
        self.instructions += 1
        if self.instructions == 1:
            self.remarks.append(
                Finding(
                    "note",
                    "processing instruction",
                    f"<?{target[:SHOWN]}?> is not used.",
                    "",
                    Source(self.file, self.line),
                )
            )

    def document_type(self, *about: Any) -> None:
        """Refuse document types, and entities with them."""
        raise ReadError(
            "document type declarations and entities are not read. Remove <!DOCTYPE ...>.",
            self.file,
            self.line,
        )

    def fault(self, error: expat.ExpatError, data: bytes) -> str:
        """The parser's complaint in words."""
        at = self.parser.ErrorByteIndex
        near = data[at : at + 4 * SHOWN].decode("utf-8", "replace")[:SHOWN]
        inside = f"<{self.open[-1].tag[:SHOWN]}> of line {self.open[-1].line}" if self.open else ""
        reason = expat.errors.messages.get(error.code, "")
        if reason == expat.errors.XML_ERROR_NO_ELEMENTS:
            return f"the file ends inside {inside}" if inside else "there is no XML element"
        if reason == expat.errors.XML_ERROR_TAG_MISMATCH:
            return f"{quoted('</' + near.partition('>')[0] + '>')} where {inside} is still open"
        if reason == expat.errors.XML_ERROR_SYNTAX and not self.open:
            return f"Start tag expected, found {quoted(near)}"
        if reason == expat.errors.XML_ERROR_INVALID_TOKEN:
            comment = data.rfind(b"<!--", 0, at) > data.rfind(b"-->", 0, at)
            reason = (
                "invalid comment, in which -- stands"
                if comment
                else "invalid character"
                if near and not near[0].isprintable()
                else "invalid token"
            )
        if reason == expat.errors.XML_ERROR_UNDEFINED_ENTITY:
            name = re.search(rb"&([^;\s<>&]{1,60});", data[at:])
            reason = (
                f"Entity {name[1].decode('utf-8', 'replace')!r} not defined" if name else reason
            )
        return (
            f"{WORDS.get(reason, reason)}, near {quoted(near)}"
            if near
            else WORDS.get(reason, reason)
        )
