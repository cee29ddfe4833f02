"""Parts that ride on bent beams off their axes or beyond their ends, as notes."""

from __future__ import annotations

import math
from collections.abc import (
    Iterator,
    Sequence,
)

from dalembert.model.elastic.beam import Beam
from dalembert.model.findings import Finding
from dalembert.model.numbers import (
    as_float,
    is_symbolic,
)
from dalembert.model.origins import (
    Origin,
    Source,
)
from dalembert.model.parts import (
    Body,
    Frame,
    Joint,
)
from dalembert.spatial.vectors import Vector

NOISE = 1e-12  # of the beam's length
ON_AXIS = 1e-6  # of the beam's length: files round lengths to 6 digits


def beam_findings(
    bodies: Sequence[Body], joints: Sequence[Joint], frames: Sequence[Frame]
) -> Iterator[Finding]:
    """Joints and frames on elastic bodies that are not on the axes of their beams."""
    beams = {body.name: body.beam for body in bodies if body.beam is not None and body.modes}
    if not beams:
        return
    for joint in joints:
        if (beam := beams.get(joint.parent)) is not None:
            what = f"joint {joint.name!r}"
            yield from _off_axis(what, joint.parent, joint.origin, beam, joint.source)
    for frame in frames:
        if (beam := beams.get(frame.body)) is not None:
            what = f"frame {frame.name!r}"
            yield from _off_axis(what, frame.body, frame.origin, beam, frame.source)


def _off_axis(
    what: str, body: str, origin: Origin, beam: Beam, source: Source
) -> Iterator[Finding]:
    """Notes about a place on a beam that is off its axis, or beyond an end."""
    length = as_float(beam.length)
    x, y, z = place_on(beam, origin)
    if any(map(is_symbolic, (length, x, y, z))):
        return
    slack = ON_AXIS * length
    x, y, z = (0.0 if abs(coordinate) < NOISE * length else coordinate for coordinate in (x, y, z))
    across = math.hypot(y, z)
    if across > slack:
        yield Finding(
            "note",
            what,
            f"it is {across:.4g} m off the axis of the beam of body {body!r} (x = {x:.4g}, "
            f"y = {y:.4g}, z = {z:.4g} m): it rides on the cross-section at x = "
            f"{min(max(x, 0.0), length):.4g} m.",
            "",
            source,
        )
    if not -slack <= x <= length + slack:
        end, beyond = ("start", -x) if x < 0 else ("end", x - length)
        yield Finding(
            "note",
            what,
            f"it is {beyond:.4g} m beyond the {end} of the beam of body {body!r}, of length "
            f"{length:.4g} m: the {end} carries it rigidly.",
            "",
            source,
        )


def place_on(beam: Beam, origin: Origin) -> Vector:
    """Origin of a place on a body, in the axes of its beam [m].

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.model.elastic.beam_findings import place_on
    >>> place_on(da.Beam(1.0, origin=da.Origin((0.1, 0, 0))), da.Origin((1.1, 0, 0)))[0]
    1.0
    """
    start = beam.origin.transform(as_float)
    placed = Vector(map(as_float, origin.xyz))
    return start.R.to_child(placed - start.p)
