"""Numbers that look like degrees or millimetres, as questions: models and coordinates are in
radians and metres.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import (
    Iterator,
    Sequence,
)
from typing import Any

import numpy as np

from dalembert.errors import (
    DalembertWarning,
    caller_level,
)
from dalembert.model.findings import Finding
from dalembert.model.linkage import (
    Linkage,
    is_angular,
)
from dalembert.model.numbers import (
    Number,
    as_float,
    is_symbolic,
)
from dalembert.model.parts import (
    Body,
    Frame,
    Joint,
)
from dalembert.spatial.angles import PiMultiple

LONG = 20.0  # m; links and radii of gyration beyond it are rare, in millimetres nearly all are
TURN = 2 * math.pi + 1e-3  # rad; constant angles beyond a turn are rare, in degrees nearly all are
DEGREES = (13.0, 720.0)  # limits and coordinates of two turns and more, in half degrees
QUESTION = "Are these degrees? They are read as radians: 90 degrees are 1.5708."


def unit_findings(
    bodies: Sequence[Body], joints: Sequence[Joint], frames: Sequence[Frame]
) -> list[Finding]:
    """Questions about angles of more than a turn, limits of whole degrees, and lengths of more than
    20 m.
    """
    doubts: list[Finding] = []
    parts: list[tuple[str, Any]] = [
        *(("joint", j) for j in joints),
        *(("frame", f) for f in frames),
    ]
    for kind, part in parts:
        if (angle := beyond_a_turn(angle for _, angle in part.origin.rotations)) is not None:
            doubts.append(
                degrees_finding(f"{kind} {part.name!r}", "its origin turns by", angle, part.source)
            )
    for joint in joints:
        if (limit := _limit_in_degrees(joint)) is not None:
            doubts.append(
                degrees_finding(f"joint {joint.name!r}", "it has a limit of", limit, joint.source)
            )
    lengths = [*_long(bodies, joints)]
    if lengths:
        _, label, why, source = max(lengths, key=lambda length: length[0])
        others = (
            f", and {len(lengths) - 1} more lengths are above {LONG:g} m"
            if len(lengths) > 1
            else ""
        )
        doubts.append(
            Finding(
                "warning",
                label,
                f"{why}{others}.",
                "Are these millimetres? Lengths are read as metres, moments as kg m^2.",
                source,
            )
        )
    return doubts


def _long(bodies: Sequence[Body], joints: Sequence[Joint]) -> Iterator[tuple[float, str, str, Any]]:
    """Lengths above LONG: size, part, words and source."""
    for joint in joints:
        if (size := _size(joint.origin.xyz)) > LONG:
            yield size, f"joint {joint.name!r}", f"its origin is {size:.6g} m away", joint.source
    for body in bodies:
        for label, size, away in _sizes(body):
            if size > LONG:
                yield size, f"body {body.name!r}", f"its {label} {size:.6g} m{away}", body.source


def degrees_finding(label: str, why: str, angle: float, source: Any) -> Finding:
    """The question whether an angle is in degrees."""
    return Finding(
        "warning",
        label,
        f"{why} {angle:g} rad, {abs(angle) / (2 * math.pi):.1f} full turns.",
        QUESTION,
        source,
    )


def beyond_a_turn(angles: Any) -> float | None:
    """The first angle of more than a turn; multiples of pi are meant as they are."""
    return next(
        (
            as_float(a)
            for a in angles
            if not isinstance(a, PiMultiple) and not is_symbolic(a) and abs(as_float(a)) > TURN
        ),
        None,
    )


def in_degrees(x: Number) -> bool:
    """Whether an angle of a joint looks like one in degrees: two turns or more, and a multiple of
    half a degree.
    """
    if isinstance(x, PiMultiple) or is_symbolic(x):
        return False
    return DEGREES[0] <= abs(as_float(x)) <= DEGREES[1] and (2 * as_float(x)).is_integer()


def ask_degrees(mechanism: Linkage, q: Any) -> None:
    """Warn if a coordinate that is an angle looks like one in degrees.

    Warns
    -----
    DalembertWarning
    """
    q = np.asarray(q)
    if q.dtype != object and not np.abs(q).max(initial=0.0) >= DEGREES[0]:
        return
    columns = np.moveaxis(q, -1, 0)
    for holder in mechanism.holders:
        for column, name in zip(columns[holder.entry.at_q], holder.type.coordinates, strict=True):
            if not is_angular(name) or column.dtype == object:
                continue
            size = np.abs(column).ravel()
            suspicious = size[(size >= DEGREES[0]) & (size <= DEGREES[1]) & (size % 0.5 == 0)]
            if suspicious.size:
                owner = "body" if holder.is_body else "joint"
                warnings.warn(
                    f"{owner} {holder.name!r} is at {suspicious[0]:g} rad, "
                    f"{suspicious[0] / (2 * math.pi):.1f} full "
                    f"turns. {QUESTION}",
                    DalembertWarning,
                    stacklevel=caller_level(),
                )
                return


def _limit_in_degrees(joint: Joint) -> float | None:
    for bounds in (joint.limits.lower, joint.limits.upper):
        for bound, name in zip(bounds or (), joint.type.velocities):
            if "angular" in name and in_degrees(bound):
                return as_float(bound)
    return None


def _sizes(body: Body) -> list[tuple[str, float, str]]:
    """Distance of the centre of mass from the body's origin, its greatest radius of gyration, and
    the length of its beam [m], in words.
    """
    beam = [] if body.beam is None else [("beam is", _size((body.beam.length,)), " long")]
    if any(map(is_symbolic, (body.mass, *body.com, *body.inertia))):
        return beam
    mass = as_float(body.mass)
    moments = [abs(as_float(body.inertia[k])) for k in (0, 2, 5)]
    return [
        ("centre of mass is", _size(body.com), " away"),
        ("radius of gyration is", math.sqrt(max(moments) / mass) if mass > 0 else 0.0, ""),
        *beam,
    ]


def _size(vector: Sequence[Number]) -> float:
    return 0.0 if any(map(is_symbolic, vector)) else math.hypot(*map(as_float, vector))
