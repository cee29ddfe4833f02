"""Programs of servo constraints in TOML files: generators by type and numbers, and outputs."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from dalembert import generators
from dalembert.constraints import FramePoint
from dalembert.generators import Generator
from dalembert.model.numbers import as_float
from dalembert.readers.toml_tables import Table, unless

# Types of programs by the names that files give them.
PROGRAMS: dict[str, type[Any]] = {
    "fourier": generators.Fourier,
    "harmonic": generators.Harmonic,
    "limit_cycle": generators.LimitCycle,
    "polynomial": generators.Polynomial,
    "s_curve": generators.SCurve,
    "spline": generators.Spline,
    "steady_acceleration": generators.SteadyAcceleration,
    "superellipse": generators.Superellipse,
    "trapezoid": generators.Trapezoid,
}
AS_THEY_ARE = ("ends", "clockwise")  # arguments that are no numbers
MOST = 100_000  # numbers of a program in a file


def program_of(table: Table) -> Generator:
    """The generator of the table `program`: its type, and the arguments of that.

    Raises
    ------
    ReadError
        The type is unknown, or has not these arguments; a value makes no sense.
    """
    program = table.table("program", table.required("program"), "{ type = ..., ... }")
    kind = program.choice("type", tuple(PROGRAMS))
    arguments = inspect.signature(PROGRAMS[kind]).parameters
    program.allow("type", *arguments, of=f"a program of type {kind}")
    for key, argument in arguments.items():
        if argument.default is argument.empty:
            program.required(key)
    given = {key: _value(program, key, x) for key, x in program.data.items() if key != "type"}
    return program.made("type", PROGRAMS[kind], **given)  # type: ignore[no-any-return]


def _value(table: Table, key: str, value: Any) -> Any:
    """A number or lists of numbers; a text or a truth value where the argument is none."""
    if key in AS_THEY_ARE:
        return value
    if isinstance(value, list):
        if len(value) > MOST:
            raise table.error(f"it has {len(value)} entries, at most {MOST} are read.", key)
        return [_value(table, key, entry) for entry in value]
    number = table.as_number(key, value)
    return number if isinstance(number, int) else as_float(number)


def program_entries(program: Generator) -> dict[str, Any]:
    """Entries of a generator.

    Raises
    ------
    ValueError
        It has no type in files, or holds a function of Python.
    """
    program_class = type(program)
    kinds = {known: kind for kind, known in PROGRAMS.items()}
    if program_class not in kinds:
        raise ValueError(f"its program is a {program_class.__name__}, which has no table")
    entries: dict[str, Any] = {"type": kinds[program_class]}
    for name, parameter in inspect.signature(program_class).parameters.items():
        value = getattr(program, name, None)
        if value is None or _is_default(value, parameter.default):
            continue
        entries[name] = _plain(value)
    return entries


def _is_default(value: Any, default: Any) -> bool:
    """Whether a value is that of an argument that is left out."""
    if default is inspect.Parameter.empty or default is None:
        return False
    return value is default or bool(np.all(np.asarray(value) == np.asarray(default)))


def _plain(value: Any) -> Any:
    """A value as files have it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    raise ValueError("its program has a Python function")


def output_of(table: Table) -> Any:
    """The output that a program leads: names of coordinates, or a point of a frame."""
    value = table.required("output")
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return tuple(table.as_text("output", name) for name in value)
    point = table.table("output", value, "names of coordinates, or { frame = ..., axes = ... }")
    point.allow("frame", "point", "axes", of="a point")
    place = [as_float(x) for x in point.vector("point", 3, (0, 0, 0))]
    return point.made("", FramePoint, point.text("frame"), tuple(place), point.text("axes", "xyz"))


def output_entry(output: Any) -> Any:
    """An output as files have it.

    Raises
    ------
    ValueError
        It is a function of Python.
    """
    if isinstance(output, str):
        return output
    if isinstance(output, tuple):
        return list(output)
    if isinstance(output, FramePoint):
        place: Mapping[str, Any] = unless((0.0, 0.0, 0.0), point=tuple(output.point))
        return {"frame": output.frame, **place, "axes": output.axes}
    raise ValueError("its output is a Python function")
