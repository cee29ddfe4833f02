"""Vectors as typed: '0.1,-0.2', or by name 'elbow=0.1,root.px=0.3'; names between commas."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from dalembert.commandline import VectorError
from dalembert.displays import visible
from dalembert.errors import DalembertError, UnknownNameError
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import Literal

MAX_SHOWN = 12  # names written out in a message
NAMES = re.compile(r"(?<!\\),")  # between names whose own commas are written '\,'
DEGREES = re.compile(r"\s*([-+]?\d+\.?\d*) ?(?:deg|degrees|°)\s*")
PATHS = re.compile(r"(?<!\\),(?![^\[]*\])")  # between paths, which may be inertia[0,1]


def typed_names(text: str, separator: re.Pattern[str] = NAMES) -> list[str]:
    """Names between commas."""
    return [name.replace("\\,", ",").strip() for name in separator.split(text)]


def typed_vector(
    text: str | None, option: str, names: Sequence[str], default: np.ndarray, mechanism: Mechanism
) -> np.ndarray:
    """The vector that `text` gives: all entries in order, or some by name and the rest as in
    `default`.

    Raises
    ------
    VectorError, UnknownNameError
        Wrong count, a bad number, a name given twice; a name that is none of `names`.
    """
    if text is None:
        return default
    text = os.fsencode(text).decode(
        "utf-8", "surrogateescape"
    )  # names as typed, also in an ASCII locale
    if "=" in text:
        return _named(text, option, names, default, mechanism)
    values = [_number(part, option) for part in text.split(",")] if text.strip() else []
    if len(values) != len(names):
        listed = ", ".join(names[:MAX_SHOWN]) + (", ..." if len(names) > MAX_SHOWN else "")
        raise VectorError(
            f"{option} has {len(values)} number{'s' * (len(values) != 1)}, expected {len(names)}: "
            f"mechanism {mechanism.name!r} has {listed}.",
            option,
        )
    return np.array(values, dtype=float)


def typed_numbers(text: str | None, option: str) -> dict[str, float]:
    """Numbers by names that are not known yet, as 'hand=0.5,finger=0.1'.

    Raises
    ------
    VectorError
        It has another form, a bad number, or a name twice.
    """
    numbers: dict[str, float] = {}
    end = 0
    for match in _pairs(text or "", {}):
        end = match.end()
        name = match["name"]
        if name in numbers:
            raise VectorError(f"{option} gives {name!r} twice.", option)
        numbers[name] = _number(match["value"], f"{option} {name}")
    _check_all_read((text or "")[end:], option)
    return numbers


def typed_entries(text: str | None, names: Sequence[str]) -> list[int]:
    """Places of the entries that a text gives by name; none where it gives all in order."""
    if text is None or "=" not in text:
        return []
    spelled = _spellings(names)
    known = [spelled.get(match["name"], match["name"].strip()) for match in _pairs(text, spelled)]
    return [names.index(name) for name in known if name in names]


def _pairs(text: str, spelled: Mapping[str, str]) -> Iterator[re.Match[str]]:
    """Each name=value of a text, up to the first thing that is none; names may hold , and =."""
    known = "|".join(re.escape(name) for name in sorted(spelled, key=len, reverse=True))
    named = re.compile(rf"\s*(?P<name>{known}|.+?)\s*=(?P<value>[^=,]*)(?:,|\Z)", re.DOTALL)
    end = 0
    while match := named.match(text, end):
        yield match
        end = match.end()


def _named(
    text: str, option: str, names: Sequence[str], default: np.ndarray, mechanism: Mechanism
) -> np.ndarray:
    vector = default.copy()
    seen = set()
    end = 0
    spelled = _spellings(names)
    for match in _pairs(text, spelled):
        name = match["name"]
        end = match.end()
        name = spelled.get(name, name.strip())
        if name not in names:
            raise _unknown(name, option, names, mechanism)
        if name in seen:
            raise VectorError(f"{option} gives {name!r} twice.", option)
        seen.add(name)
        vector[names.index(name)] = _number(match["value"], f"{option} {name}")
    _check_all_read(text[end:], option)
    return vector


def _check_all_read(rest: str, option: str) -> None:
    if rest := rest.strip():
        raise VectorError(f"{option}: {rest!r} is not of the form name=number.", option)


def _spellings(names: Sequence[str]) -> dict[str, str]:
    """Ways to type each name: as it is, and as tables, errors and terminals show it, with
    backslashes.
    """
    shown = {
        text: name
        for name in names
        for text in (
            visible(name),
            visible(name).encode("ascii", "backslashreplace").decode(),
            repr(name)[1:-1],
        )
    }
    return shown | {name: name for name in names}


def _unknown(name: str, option: str, names: Sequence[str], mechanism: Mechanism) -> DalembertError:
    joint = next((j for j in mechanism.joints if j.name == name), None)
    if joint is not None and joint.mimic is not None:
        return VectorError(
            f"{option}: joint {name!r} follows {joint.mimic.joint!r}; give that one.", option
        )
    if joint is not None and joint.is_fixed:
        return VectorError(f"{option}: joint {name!r} is fixed and has no entry.", option)
    return UnknownNameError(f"entry of {option}", name, tuple(names))


def _number(text: str, where: str) -> float:
    try:
        return float(Literal(text.strip()))
    except ValueError as error:
        raise VectorError(f"{where}: {error}.{_in_radians(text)}", where.split()[0]) from None


def _in_radians(text: str) -> str:
    """How an angle in degrees is typed."""
    if not (angle := DEGREES.fullmatch(text)):
        return ""
    return f" Angles are in radians: {text.strip()} is {math.radians(float(angle[1])):.5g}."
