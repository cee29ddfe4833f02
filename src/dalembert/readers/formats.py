"""Formats of robot files. A new one is a module with the function `read`, and a line here."""

from __future__ import annotations

import re
from importlib import import_module
from typing import NamedTuple, Protocol

from dalembert.model.mechanism import Mechanism
from dalembert.spatial.angles import SNAP

# of UTF-8, UTF-16, UTF-32, and white space, before the first character
TAG = re.compile(rb"[A-Za-z_][\w.-]{0,60}", re.ASCII)
MARKS = b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"


class ReadingOptions(NamedTuple):
    """Options of `load` for the reader itself; a format has no use for some."""

    mimic: str = "exact"
    exact_angles: bool = True
    angle_tolerance: float = SNAP
    encoding: str | None = None
    mesh_folders: tuple[str, ...] = ()
    base: str = "fixed"


class Reader(Protocol):
    """A module that reads a format."""

    def read(self, data: bytes, file: str, options: ReadingOptions) -> Mechanism:
        """Mechanism of a file, whose parts say where they stand in it.

        Files are hostile input: no entities, no network, no other files, limits by named constants.

        Raises
        ------
        ReadError, ModelError
            The file is not in this format, or no sound mechanism; file, line and fix are named.
        """


class Format(NamedTuple):
    """Endings of names, the characters that content begins with where that tells it, and the module
    that reads it; of XML the tags of root elements too.

    Modules are imported when they are needed: most programs read one format.
    """

    endings: tuple[str, ...]
    begins: bytes
    module: str
    roots: tuple[str, ...] = ()

    def read(self, data: bytes, file: str, options: ReadingOptions) -> Mechanism:
        """Mechanism of a file, by the module."""
        reader: Reader = import_module(self.module)  # type: ignore[assignment]      # a module is one
        return reader.read(data, file, options)


FORMATS: dict[str, Format] = {
    "toml": Format((".toml",), b"", "dalembert.readers.toml"),
    "urdf": Format((".urdf", ".xml"), b"<", "dalembert.readers.urdf", ("robot",)),
    "sdf": Format((".sdf", ".world"), b"<", "dalembert.readers.sdf", ("sdf",)),
    "mjcf": Format((".mjcf", ".xml"), b"<", "dalembert.readers.mjcf", ("mujoco", "mujocoinclude")),
}
DEFAULT = "toml"


def format_of(data: bytes, file: str) -> Format:
    """Format of a file by the ending of its name, else by its first character, else TOML; of XML by
    its root element, whatever the ending.
    """
    begin = data.lstrip(MARKS)[:1]
    by_name = [f for f in FORMATS.values() if file.lower().endswith(f.endings)]
    by_content = [f for f in FORMATS.values() if f.begins and f.begins == begin]
    likely = [*by_name, *by_content, FORMATS[DEFAULT]]
    if not likely[0].roots:
        return likely[0]
    tag = root_tag(data)
    by_root = [f for f in FORMATS.values() if tag in f.roots]
    return [*by_root, *likely][0]


def root_tag(data: bytes) -> str:
    """Tag of the first element of XML in any encoding of robot files; '' if none is found."""
    plain = data.replace(b"\0", b"")  # UTF-16 and UTF-32 of letters
    start = 0
    while (start := plain.find(b"<", start)) >= 0:
        if plain.startswith(b"<!--", start):
            start = plain.find(b"-->", start) + 3
            if start < 3:
                return ""
        elif plain[start + 1 : start + 2] in (b"?", b"!"):
            start += 1
        else:
            tag = TAG.match(plain, start + 1)
            return tag[0].decode("ascii") if tag else ""
    return ""
