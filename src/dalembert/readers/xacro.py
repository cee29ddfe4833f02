"""Sources of xacro, whose commands and arithmetic are not expanded here."""

from __future__ import annotations

import re

from dalembert.errors import ReadError
from dalembert.readers.xml import Document

EXPRESSION = re.compile(r"\$(\{|\(|\\?\{)")  # arithmetic or a command of xacro in a text
EXPAND = "this is a source of xacro. Run `xacro FILE > EXPANDED` and load that."


def refuse_xacro(document: Document, file: str) -> None:
    """Raise for elements that only xacro knows: they stand for others.

    Raises
    ------
    ReadError
    """
    prefixes = {"xacro"} | {
        name.partition(":")[2]
        for name, space in document.root.attributes.items()
        if name.startswith("xmlns:") and space.rstrip("/").endswith("xacro")
    }
    for tag, line in document.prefixed.items():
        prefix, _, name = tag.partition(":")
        if prefix in prefixes:
            raise ReadError(f"<xacro:{name[:60]}> is not expanded: {EXPAND}", file, line)
