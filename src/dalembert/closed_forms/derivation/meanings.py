"""Meanings of the symbols of a mechanism, and their units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dalembert.beams.shape_functions import BEND_Y, BEND_Z, STRETCH, TWIST, ShapeFunctions
from dalembert.closed_forms.printing.expressions import text
from dalembert.closed_forms.printing.naming import Symbol
from dalembert.expr import Graph, free_symbols, symbol, to_text
from dalembert.model.mechanism import Mechanism
from dalembert.model.paths import GRAVITY

UNITS = {
    "mass": "kg",
    "com": "m",
    "inertia": "kg m²",
    "origin": "m",
    "pitch": "m/rad",
    "rotor_inertia": "kg m²",
    "rotation": "rad",
    "length": "m",
    "EA": "N",
    "EIy": "N m²",
    "EIz": "N m²",
    "GJ": "N m²",
    "mass_per_length": "kg/m",
    "rotary_inertia": "kg m",
    "damping_mass": "1/s",
    "damping_stiffness": "s",
    "beam_origin": "m",
    "beam_rotation": "rad",
}
OF_TURNING = {
    "stiffness": "N m/rad",
    "rest": "rad",
    "viscous": "N m s/rad",
    "coulomb": "N m",
    "offset": "rad",
}
OF_SLIDING = {"stiffness": "N/m", "rest": "m", "viscous": "N s/m", "coulomb": "N", "offset": "m"}
DISPLACED = {
    BEND_Y: "deflection along y",
    BEND_Z: "deflection along z",
    TWIST: "turn about x",
    STRETCH: "displacement along x",
}
STIFFNESSES = {"EIy": ("EI", "y"), "EIz": ("EI", "z")}  # base and subscript
PARAMETERS = {
    "m": ("mass", "kg"),
    **{f"m{x}": (f"m c{x}", "kg m") for x in "xyz"},
    **{f"I{x}{y}": (f"I{x}{y}", "kg m²") for x in "xyz" for y in "xyz"},
}  # of a body about a joint frame


def meanings_of(own: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """Symbols of a mechanism -> what they are: the path of a number, "-gravity[1]", or a number
    that has it in it.

    own: paths and numbers that have symbols.
    """
    alone: dict[str, str] = {}
    within: dict[str, str] = {}
    for path, x in own:
        sign, node = ("-", x.args[0]) if x.op == "neg" else ("", x)
        if node.op == "symbol":
            alone.setdefault(node.name, sign + path)
        for s in free_symbols(x):
            within.setdefault(s.name, f"in {path} = {to_text(x, truncate=True)}")
    return {name: alone.get(name, what) for name, what in within.items()}


def symbols_of_beams(symbols: Mapping[str, str]) -> dict[str, Symbol]:
    """Names of symbols for bending stiffnesses -> how they are set: EI with the axis below.

    symbols: name -> path of the number
    """
    found = {}
    for name, path in symbols.items():
        kind = path.rpartition(".")[2]
        if kind in STIFFNESSES and name.startswith(kind):
            base, axis = STIFFNESSES[kind]
            found[name] = Symbol(base, axis + name.removeprefix(kind))
    return found


def remarks_on_modes(mechanism: Mechanism) -> dict[str, str]:
    """Coordinates of elastic links -> what they displace, by which function of xi = x / length."""
    found = {}
    for body in mechanism.elastic_bodies:
        for direction, functions in body.modes:
            count = functions.count
            for k in range(body.elements * count):
                where = f" of element {k // count + 1}" if body.elements > 1 else ""
                remark = f", {DISPLACED[direction]}{where} {_shape(functions, k % count)}"
                found[f"{body.name}.{direction}{k + 1}"] = remark
    return found


def _shape(functions: ShapeFunctions, k: int) -> str:
    if functions.degree is None or len(functions.breaks) > 2:
        return f"by function {k + 1}"
    xi: Any = symbol("xi", Graph())
    return f"by {text(functions.values(xi)[k])}, xi = x/length"


def unit_at(mechanism: Mechanism, path: str) -> str:
    """The unit of a number of a mechanism by its path; empty where it has none."""
    path = path.lstrip("-")
    if path in GRAVITY:
        return "m/s²"
    part, _, suffix = path.rpartition(".")
    kind, _, at = suffix.rstrip("]").partition("[")
    if kind in UNITS:
        return UNITS[kind]
    if kind not in OF_TURNING:
        return ""
    joint = next((j for j in mechanism.joints if j.name == part), None)
    if joint is None or joint.type.nv == 0:
        return ""
    turns = (
        joint.type.velocities[int(at) if at else 0].startswith("angular")
        or joint.type.nv == 1
        and ("angle" in joint.type.coordinates[0])
    )
    return (OF_TURNING if turns else OF_SLIDING)[kind]


def parameter(name: str, body: str) -> tuple[str, str]:
    """Meaning of an inertial parameter about a joint frame's origin, and its unit: m2, mx2, Ixx2,
    MX2 or XX2 of a body.
    """
    letters = name.rstrip("_").rstrip("0123456789")
    grouped = letters.isupper()
    if grouped:
        letters = (
            "m"
            if letters == "MM"
            else f"m{letters[1].lower()}"
            if letters[0] == "M"
            else f"I{letters.lower()}"
        )
    what, unit = PARAMETERS[letters]
    place = ", grouped" if grouped else "" if what == "mass" else " about the joint frame's origin"
    return f"{body}: {what}{place}", unit
