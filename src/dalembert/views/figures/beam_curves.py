"""Bent beams in a stick figure: points of their centre lines, and feet of what stands off them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dalembert.model.constraint import FramePlace
from dalembert.model.mechanism import Mechanism, without_warnings
from dalembert.model.numbers import as_float
from dalembert.model.origins import Origin
from dalembert.model.parts import Body, Frame

POINTS = 17  # of a centre line
NEAR = 1e-6  # of a beam's length: a part this near to its centre line stands on it
SEEN = "\0section"  # begins names of frames that no one sees


def with_sections(mechanism: Mechanism) -> tuple[Mechanism, list[list[str]]]:
    """The mechanism with frames along its bent beams, and their names by beam."""
    names: list[list[str]] = []
    frames: list[Frame] = []
    for body in mechanism.elastic_bodies:
        names.append([f"{SEEN} {k} {body.name}" for k in range(POINTS)])
        places = np.linspace(0.0, 1.0, POINTS)
        frames += [
            Frame(name, body.name, _at(body, part))
            for name, part in zip(names[-1], places, strict=True)
        ]
    with without_warnings():
        return replace(mechanism, frames=(*mechanism.frames, *frames)), names


def _at(body: Body, part: float) -> Origin:
    """The cross-section at a part of the length of a beam, in the body's axes."""
    assert body.beam is not None
    return body.beam.origin * Origin((as_float(body.beam.length) * part, 0, 0))


def foot_of(body: Body, origin: Origin) -> FramePlace | None:
    """The place on the centre line below a part of a bent body; None: the part stands on it."""
    assert body.beam is not None
    start = body.beam.origin.transform(as_float)
    length = as_float(body.beam.length)
    x, y, z = start.R.to_child(origin.transform(as_float).p - start.p)
    part = min(max(x / length, 0.0), 1.0)
    if np.hypot(np.hypot(y, z), x - part * length) <= NEAR * length:
        return None
    return FramePlace(body.name, _at(body, part))


def magnified(mechanism: Mechanism, q: np.ndarray, factor: float) -> np.ndarray:
    """Coordinates (..., nq) with deflections of the bodies times a factor."""
    scaled = q.copy()
    for entry in mechanism.body_entries.values():
        scaled[..., entry.at_q] *= factor
    return scaled


def parts_on_beams(mechanism: Mechanism) -> Iterator[tuple[str, str, Origin]]:
    """Bodies and frames that bent bodies carry: (body, name of the part, its place)."""
    bent = {body.name for body in mechanism.elastic_bodies}
    for joint in mechanism.joints:
        if joint.parent in bent:
            yield joint.parent, joint.child, joint.origin
    for frame in mechanism.frames:
        if frame.body in bent:
            yield frame.body, frame.name, frame.origin
