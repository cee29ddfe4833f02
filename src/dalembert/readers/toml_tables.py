"""Tables of TOML files as the readers see them: values checked, each with its place in the file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import (
    Callable,
    Iterator,
)
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dalembert.errors import (
    DalembertError,
    ReadError,
    nearest,
)
from dalembert.expr import Expr
from dalembert.model.joints import (
    JOINT_TYPES,
    JointType,
)
from dalembert.model.numbers import (
    Literal,
    Number,
)
from dalembert.model.origins import (
    AXIS_LETTERS,
    Origin,
    Source,
)
from dalembert.model.parts import Frame
from dalembert.model.validation import MAX_LINKS
from dalembert.readers.arithmetic import parse_number
from dalembert.spatial.angles import PiMultiple

DECIMALS = ("exact", "double")  # meaning of a number with a point or exponent
PARTS = ("body", "joint", "frame", "constraint", "actuator")  # tables [[...]] of a file
ORIGIN_KEYS = ("xyz", "rpy", "rotations")
MAX_NAMED = 25  # known names in a message
MAX_LINES = 1_000_000  # MAX_LINKS bodies and joints take some 700 000
MAX_KEY_PARTS = 8  # of a.b.c = 1; the parser's time grows with their square


def document_of(data: bytes | str, file: str) -> Table:
    """The whole of a file as a table.

    Raises
    ------
    ReadError
        The file is not TOML.
    """
    text = data if isinstance(data, str) else _decoded(data, file)
    lines = _checked_lines(text, file)
    document = Table(_parsed(text, file), "the file", file, lines, 0)
    lines.doubles = document.choice("decimals", DECIMALS, "exact") == "double"
    return document


def _checked_lines(text: str, file: str) -> LineIndex:
    """Lines of a text that is not too large for the parser."""
    if text.count("\n") >= MAX_LINES:
        raise ReadError(f"more than MAX_LINES = {MAX_LINES} lines.", file)
    lines = LineIndex(text)
    for name, headers in lines.headers.items():
        if len(headers) > MAX_LINKS:
            raise ReadError(
                f"{len(headers)} tables [[{name}]]; the limit MAX_LINKS is {MAX_LINKS}.", file
            )
    if lines.deep_key:
        raise ReadError(f"a key of more than {MAX_KEY_PARTS} parts.", file, lines.deep_key)
    return lines


def _decoded(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReadError(
            "not UTF-8 text; save the file in that encoding. Robot files are URDF, MJCF or SDF "
            "(XML), or TOML.",
            file,
            data.count(b"\n", 0, error.start) + 1,
        ) from None


def _parsed(text: str, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text, parse_float=_decimal)
    except tomllib.TOMLDecodeError as error:
        message, line = str(error), 0
        if position := re.search(r" \(at line (\d+), column (\d+)\)$", message):
            message, line = (
                f"{message[: position.start()]} (column {position[2]})",
                int(position[1]),
            )
        neither = "" if file.lower().endswith(".toml") else "not XML, which begins with '<', and "
        raise ReadError(f"{neither}not TOML: {message}.", file, line) from None
    except RecursionError:
        raise ReadError("lists or tables are nested too deeply.", file) from None
    except ValueError as error:  # an integer of thousands of digits
        raise ReadError(f"not TOML: {error}.", file) from None


def _decimal(text: str) -> Literal | ValueError:
    """The decimal, or the reason why it is none, to be reported with its key."""
    try:
        return Literal(text.replace("_", ""))
    except ValueError as error:
        return error


@dataclass
class Table:
    """A table of the file: hands out its values checked, and knows where it stands."""

    data: dict[str, Any]
    label: str  # in messages
    file: str
    lines: LineIndex
    line: int  # of the header
    path: tuple[str, ...] = ()  # keys from the header's table to this one

    @property
    def source(self) -> Source:
        """File and line of the table."""
        return Source(self.file, self.line)

    def error(self, why: str, key: str = "") -> ReadError:
        """The error for this table, with the line of a key."""
        return ReadError(
            f"{self.label}: {why}", self.file, self.lines.line(self.line, *self.path, key)
        )

    def allow(self, *keys: str, of: str = "") -> None:
        """Error for any other key."""
        for key in self.data:
            if key not in keys:
                owner = f" for {of}" if of else ""
                raise self.error(f"unknown key {key!r}{owner} {_known(key, keys)}", key)

    def required(self, key: str, default: Any = None) -> Any:
        """The value of a key, which has to be there if there is no default."""
        value = self.data.get(key, default)
        if value is None:
            raise self.error(f"the key {key!r} is missing.")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        """The text under a key."""
        return self.as_text(key, self.required(key, default))

    def as_text(self, key: str, value: Any) -> str:
        """A text that is not empty."""
        if not isinstance(value, str) or not value:
            raise self.error(
                f"{key} is {_described(value)}; expected a text in quotes that is not empty.", key
            )
        return value

    def name(self, noun: str) -> str:
        """The part's name, which from here on stands in its messages."""
        name = self.text("name")
        self.label = f"{noun} {name!r}"
        return name

    def choice(self, key: str, choices: tuple[str, ...], default: str | None = None) -> str:
        """The text under a key, checked against the known texts."""
        return self.as_choice(key, self.required(key, default), choices)

    def as_choice(self, key: str, value: Any, choices: tuple[str, ...]) -> str:
        """A text that is one of the known ones."""
        value = self.as_text(key, value)
        if value not in choices:
            raise self.error(f"unknown {key} {value!r} {_known(value, choices)}", key)
        return value

    def as_number(self, key: str, value: Any, angle: bool = False) -> Number:
        """A number, or arithmetic in quotes; multiples of pi stay exact where an angle may stand."""
        if isinstance(value, ValueError):
            raise self.error(f"{key}: {value}.", key)
        try:
            x = parse_number(value, key) if isinstance(value, str) else value
            if isinstance(x, bool) or not isinstance(x, (int, float, Fraction, PiMultiple, Expr)):
                raise ValueError(
                    f'{key} is {_described(x)}; expected a number, or arithmetic in quotes as "pi/2".'
                )
            if isinstance(x, int):
                float(x)
        except OverflowError:
            raise self.error(f"{key} is too large for a number.", key) from None
        except ValueError as error:
            raise self.error(str(error), key) from None
        as_double = value is x and isinstance(x, Literal) and self.lines.doubles
        return float(x) if as_double or isinstance(x, PiMultiple) and not angle else x

    def as_numbers(
        self, key: str, values: Any, length: int, expected: str, angle: bool = False
    ) -> tuple[Number, ...]:
        """A list of so many numbers."""
        checked = self.checked_list(key, values, length, expected)
        return tuple(self.as_number(key, x, angle) for x in checked)

    def number(self, key: str, default: Number | None = None) -> Number:
        """The number under a key."""
        return self.as_number(key, self.required(key, default))

    def vector(
        self, key: str, length: int, default: tuple[Number, ...] | None = None, angle: bool = False
    ) -> tuple[Number, ...]:
        """The numbers under a key."""
        if default is not None and key not in self.data:
            return default
        expected = f"a list of {length} numbers"
        return self.as_numbers(key, self.required(key), length, expected, angle)

    def per_velocity(
        self, key: str, nv: int, default: Number | None = None, angle: bool = False
    ) -> tuple[Number, ...]:
        """A number for all velocities of a joint, or a list with a number for each."""
        value = self.data.get(key, default)
        if key in self.data and not nv:
            raise self.error(f"{key} on a fixed joint, which has no velocity.", key)
        values = value if isinstance(value, list) else [value] * nv
        expected = f"a number or a list of {nv}, one per velocity of the joint"
        return self.as_numbers(key, values, nv, expected, angle)

    def checked_list(self, key: str, value: Any, length: int | None, expected: str) -> list[Any]:
        """A value that has to be a list, of a length if one is given."""
        if not isinstance(value, list) or length is not None and len(value) != length:
            size = f" of {len(value)}" if isinstance(value, list) else ""
            raise self.error(f"{key} is {_described(value)}{size}; expected {expected}.", key)
        return value

    def made(self, key: str, make: Callable[..., Any], *values: Any, **named: Any) -> Any:
        """An object of values of the table; its refusal is an error with the line of the key that it
        begins with, else of another.
        """
        try:
            return make(*values, **named)
        except (TypeError, ValueError, DalembertError) as error:
            first = str(error).split(" ")[0]
            raise self.error(str(error), first if first in self.data else key) from None

    def table(self, key: str, value: Any = None, expected: str = "") -> Table:
        """The table under a key."""
        value = self.data[key] if value is None else value
        if not isinstance(value, dict):
            expected = expected or f"a table, as {key} = {{ ... }}"
            raise self.error(f"{key} is {_described(value)}; expected {expected}.", key)
        return Table(
            value, f"{self.label}, {key}", self.file, self.lines, self.line, (*self.path, key)
        )

    def tables(self, plural: str) -> Iterator[Table]:
        """The tables [[kind]], each with the line of its header."""
        entries = self.data.get(plural, [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise self.error(
                f"{plural} is {_described(entries)}; write a table [[{plural}]] for each.", plural
            )
        starts = self.lines.headers[plural]
        if len(starts) != len(entries):  # written as a list of inline tables
            starts = [self.lines.line(0, plural)] * len(entries)
        for k, (entry, line) in enumerate(zip(entries, starts, strict=True), 1):
            yield Table(entry, f"{plural} number {k}", self.file, self.lines, line)


def _known(name: str, names: tuple[str, ...]) -> str:
    """End of the message about an unknown name: the known ones, and the nearest of them."""
    similar = nearest(name, names)
    hint = f" Did you mean {similar!r}?" if similar else ""
    listed = [*names[:MAX_NAMED], "..."] if len(names) > MAX_NAMED else names
    return f"(known: {', '.join(listed)}).{hint}"


def _described(value: Any) -> str:
    """A value of the file in words."""
    words: dict[type, Callable[[Any], str]] = {
        bool: lambda v: str(v).lower(),
        str: repr,
        dict: lambda v: "a table",
        int: str,
        Literal: repr,
    }
    return words.get(type(value), lambda v: f"a {type(v).__name__}")(value)


class LineIndex:
    """Lines of the headers and keys of a file, which the parser does not tell."""

    # Strings (closed or not) and comments; a multi-line string may hold what looks like a header.
    SKIPPED = re.compile(
        r'"""(?:[^"\\]++|\\.|"(?!""))*+"{0,5}'
        r"|'''(?:[^']++|'(?!''))*+'{0,5}"
        r'|"(?:[^"\\\n]++|\\[^\n])*+"?'
        r"|'[^'\n]*+'?|#[^\n]*+",
        re.DOTALL,
    )
    HEADER = re.compile(r"[ \t]*\[\[[ \t]*(\w+)[ \t]*\]\]")
    DEEP_KEY = re.compile(rf'(?<![\w"-])(?:(?:[\w-]++|"")[ \t]*+\.[ \t]*+){{{MAX_KEY_PARTS}}}')

    def __init__(self, text: str):
        bare = self.SKIPPED.sub(_emptied, text)
        deep = self.DEEP_KEY.search(bare)
        self.deep_key = bare.count("\n", 0, deep.start()) + 1 if deep else 0
        self.doubles = False
        self.lines = bare.split("\n")
        self.headers: dict[str, list[int]] = {plural: [] for plural in PARTS}
        for number, line in enumerate(self.lines, 1):
            if (match := self.HEADER.match(line)) and match[1] in self.headers:
                self.headers[match[1]].append(number)

    def _end(self, start: int) -> int:
        """Line of the next header [[...]] after a line, from 0; the number of lines if there is none."""
        end = start
        while end < len(self.lines) and not (start and self.HEADER.match(self.lines[end])):
            end += 1
        return end

    def within(self, start: int, header: re.Pattern[str]) -> list[int]:
        """Lines of the headers inside the table whose header is in line `start`."""
        lines = range(start, self._end(start))
        return [k + 1 for k in lines if header.match(self.lines[k])]

    def line(self, start: int, *keys: str) -> int:
        """Line of the innermost of these keys that is found in the table whose header is in line
        `start`.
        """
        end = self._end(start)
        for key in filter(None, reversed(keys)):
            pattern = re.compile(rf"[ \t]*(?:\[\[?[ \t]*(?:\w+\.)*)?{re.escape(key)}[ \t]*[=\].]")
            for k in range(max(start - 1, 0), end):
                if pattern.match(self.lines[k]):
                    return k + 1
        return start


def _emptied(token: re.Match[str]) -> str:
    """An empty string, or nothing in place of a comment, over as many lines."""
    content = token[0]
    return ("" if content[0] == "#" else '""') + "\n" * content.count("\n")


def origin_under(table: Table) -> Origin:
    """Placement under the key `origin`, by default none."""
    if "origin" not in table.data:
        return Origin()
    origin = table.table("origin")
    origin.allow(*ORIGIN_KEYS)
    return origin_of(origin)


def origin_of(origin: Table) -> Origin:
    """Translation xyz with rpy or with a list of rotations, the keys of a table."""
    xyz = origin.vector("xyz", 3, (0, 0, 0))
    if "rotations" not in origin.data:
        return Origin.rpy(xyz, *origin.vector("rpy", 3, (0, 0, 0), angle=True))
    if "rpy" in origin.data:
        raise origin.error("it has both rpy and rotations; keep one.", "rpy")
    expected = "pairs of an axis and an angle, as [['z', 0.3], [[0.6, 0.8, 0], 'pi/2']]"
    turns = []
    for turn in origin.checked_list("rotations", origin.data["rotations"], None, expected):
        axis, angle = origin.checked_list("rotations", turn, 2, expected)
        if not isinstance(axis, str):
            axis = origin.as_numbers("rotations", axis, 3, expected)
        elif axis not in AXIS_LETTERS:
            raise origin.error(
                f"rotation about {axis!r}; expected 'x', 'y', 'z' or a vector of length 1.",
                "rotations",
            )
        turns.append((axis, origin.as_number("rotations", angle, angle=True)))
    return Origin(xyz, tuple(turns))


def frame_of(table: Table) -> Frame:
    """The frame of a table [[frame]]."""
    name = table.name("frame")
    table.allow("name", "body", "origin")
    return Frame(name, table.text("body"), origin_under(table), table.source)


def joint_type_of(table: Table) -> JointType:
    """Joint type under the key `type`, with its axes."""
    joint_class = JOINT_TYPES[table.choice("type", tuple(JOINT_TYPES))]
    values = {
        key: table.vector(key, 3)
        if isinstance(getattr(joint_class, key), tuple)
        else table.number(key)
        for key in joint_class.parameters
    }
    return joint_class(**values)


def origin_entry(origin: Origin) -> dict[str, Any]:
    """The entry `origin`, or nothing where it is none."""
    entries = origin_entries(origin)
    return {"origin": entries} if entries else {}


def origin_entries(origin: Origin) -> dict[str, Any]:
    """Origin with rpy where that gives the same rotations back."""
    entries = unless((0, 0, 0), xyz=origin.xyz)
    turns = dict(origin.rotations)
    rpy = tuple(turns.get(axis, 0) for axis in "xyz")
    if Origin.rpy(origin.xyz, *rpy) == origin:
        entries |= unless((0, 0, 0), rpy=rpy)
    else:
        entries["rotations"] = origin.rotations
    return entries


def unless(default: Any, **entry: Any) -> dict[str, Any]:
    """The entry, or nothing where it has its default value."""
    return {key: value for key, value in entry.items() if value != default}
