"""The installation as a bug report needs it: versions, extras, processor, folder of compiled code."""

from __future__ import annotations

import platform
import re
from importlib.metadata import PackageNotFoundError, requires, version

from rich.console import Console

from dalembert import __version__
from dalembert.commandline.output import left, line, show_table
from dalembert.native import cache

NAME = "dalembert"
REQUIREMENT = re.compile(r"([\w.-]+)[^;]*(?:;.*extra == ['\"]([\w-]+)['\"])?")
ABSENT = "not installed"


def show_installation(out: Console) -> None:
    """Print what is installed, a line each."""
    line(out, f"{NAME} {__version__}, Python {platform.python_version()}", "bold")
    line(out, f"{platform.platform()}, {platform.machine()}")
    folder = cache.contents()[0]
    line(out, f"compiled code: {folder or 'kept nowhere'}")
    line(out)
    packages = required()
    show_table(
        out,
        [left("package", list(packages))],
        [
            left("version", [installed(name) for name in packages]),
            left("extra", [", ".join(extras) for extras in packages.values()]),
        ],
    )


def required() -> dict[str, list[str]]:
    """Packages that this one asks for, each with the extras that it belongs to."""
    try:
        given = requires(NAME) or []
    except PackageNotFoundError:  # sources that are not installed
        given = []
    found: dict[str, list[str]] = {}
    for match in filter(None, map(REQUIREMENT.match, given)):
        name, extra = match.groups()
        if name != NAME:
            found.setdefault(name, []).extend([extra] if extra else [])
    return found


def installed(package: str) -> str:
    """Version of a package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ABSENT
