"""The stick figure that animations show: frames, centres of mass, links between them, and the trace
of the tip.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dalembert.errors import UnknownNameError
from dalembert.kinematics.poses import world_poses
from dalembert.model.constraint import FramePlace
from dalembert.model.mechanism import Mechanism, without_warnings
from dalembert.model.numbers import as_float
from dalembert.model.parts import Frame
from dalembert.spatial.vectors import Matrix
from dalembert.views.figures.beam_curves import (
    POINTS,
    SEEN,
    foot_of,
    magnified,
    parts_on_beams,
    with_sections,
)
from dalembert.views.figures.constraint_marks import ConstraintMarks, Rim

if TYPE_CHECKING:
    from dalembert.results.run import Run

MOST_TOGETHER = 8  # trajectories in one figure: the first of a run
AFLOAT = ("free", "planar")  # types of joints under which a body moves about, on no stick
OBLIQUE = (-0.9, 0.4)  # azimuth and elevation of the eye, unless the motion is planar [rad]


class StickFigure(NamedTuple):
    """N trajectories at K times: F frames, and the centres of mass of B bodies with mass.

    The index of a point counts frames first, then centres of mass. Frames without names are places
    of constraints.
    """

    names: list[str]  # of the first frames; bodies' frames come first
    bodies: int
    times: np.ndarray  # (K,) [s]
    frames: np.ndarray  # (N, K, F, 12): origin [m], then the frame's axes in world axes
    masses: np.ndarray  # (N, K, B, 3): centres of mass [m]
    sticks: list[list[int]]  # pairs of frames
    weights: list[list[float]]  # the frame that each centre of mass belongs to, and the mass [kg]
    trace: int  # the point whose way is drawn
    closed: list[int]  # points that constraints are about
    rods: list[list[int]]  # pairs of points at a constant distance
    rims: list[Rim]  # of bodies that roll
    floors: list[np.ndarray]  # corners (4, 3) of planes that points keep to [m]
    beams: np.ndarray  # (N, K, bent beams, points, 3): centre lines [m]

    @property
    def points(self) -> np.ndarray:
        """All points (N, K, F + B, 3) [m]."""
        return np.concatenate([self.frames[..., :3], self.masses], axis=2)


def figure_of(
    run: Run, times: np.ndarray, trace: str | None = None, magnify: float = 1.0
) -> StickFigure:
    """The figure at any times [s], between the records along the shortest way; `trace` names a
    frame, deflections of elastic bodies are magnified.

    Raises
    ------
    UnknownNameError
        There is no such frame.
    """
    m = run.own_mechanism()
    coordinates = magnified(m, _coordinates(run, times), magnify)
    bodies = [b for b in m.bodies if as_float(b.mass) > 0]
    names = list(m.frame_names)
    if trace is not None and trace not in names:
        raise UnknownNameError("frame", trace, tuple(names))
    index = {name: k for k, name in enumerate(names)}
    own = [run.own_mechanism(k) for k in range(len(coordinates))]
    pairs = list(zip(own, coordinates, strict=True))
    T = np.stack([placed(mechanism, q) for mechanism, q in pairs])
    com = [
        np.stack(
            [
                X[:, :, :3] @ [as_float(x) for x in mechanism.body(b.name).com] + X[:, :, 3]
                for mechanism, X in zip(own, T[..., index[b.name], :, :], strict=True)
            ]
        )
        for b in bodies
    ]
    masses = np.stack(com, axis=2) if com else np.zeros((*T.shape[:2], 0, 3))
    frames = np.concatenate([T[..., 3], *(T[..., k] for k in range(3))], axis=-1)
    marks = ConstraintMarks.of(m)
    sticks = _sticks(m, index, marks)
    marks = marks.moved(len(names))
    figure = StickFigure(
        names,
        len(m.bodies),
        times,
        frames,
        masses,
        sticks,
        [[index[b.name], as_float(b.mass)] for b in bodies],
        0,
        marks.closed,
        marks.rods,
        marks.rims,
        [floor.corners(frames) for floor in marks.floors],
        np.stack([centre_lines(mechanism, q) for mechanism, q in pairs]),
    )
    return figure._replace(trace=_tip(figure.points) if trace is None else index[trace])


def _sticks(m: Mechanism, index: dict[str, int], marks: ConstraintMarks) -> list[list[int]]:
    """Pairs of frames that a stick joins; on a bent beam it stands on the centre line."""
    bent = {body.name for body in m.elastic_bodies}
    sticks = [
        [index[j.parent], index[j.child]]
        for j in m.joints
        if j.type.name not in AFLOAT and j.parent not in bent
    ]
    sticks += [[index[f.body], index[f.name]] for f in m.frames if f.body not in bent]
    sticks += [
        [index[place.body], len(index) + k]
        for k, place in enumerate(marks.places)
        if place.body not in bent
    ]
    first = len(index) + len(marks.places)
    feet = [index[part] for part, _ in _feet(m)]
    return [*sticks, *([first + k, part] for k, part in enumerate(feet))]


def _feet(mechanism: Mechanism) -> list[tuple[str, FramePlace]]:
    """Parts that stand off the bent beam that carries them, and the places below them."""
    parts = [
        (part, foot_of(mechanism.body(body), origin))
        for body, part, origin in parts_on_beams(mechanism)
    ]
    return [(part, foot) for part, foot in parts if foot is not None]


def centre_lines(mechanism: Mechanism, q: np.ndarray) -> np.ndarray:
    """Points (K, bent beams, points, 3) of the centre lines."""
    if not mechanism.elastic_bodies:
        return np.zeros((len(q), 0, POINTS, 3))
    with_frames, names = with_sections(mechanism)
    places = [FramePlace(name) for row in names for name in row]
    points = placements(with_frames, q, places)[..., 3]
    return points.reshape(len(q), len(names), POINTS, 3)


def placed(mechanism: Mechanism, q: np.ndarray) -> np.ndarray:
    """Placements (K, F, 3, 4) of links, frames, places of constraints and feet on bent beams."""
    named = [FramePlace(name) for name in mechanism.frame_names]
    feet = [foot for _, foot in _feet(mechanism)]
    if feet:
        frames = [Frame(f"{SEEN} foot {k}", f.body, f.origin) for k, f in enumerate(feet)]
        with without_warnings():
            mechanism = replace(mechanism, frames=(*mechanism.frames, *frames))
        feet = [FramePlace(frame.name) for frame in frames]
    places = [*named, *ConstraintMarks.of(mechanism).places, *feet]
    return placements(mechanism, q, places)


def placements(mechanism: Mechanism, q: np.ndarray, places: Sequence[FramePlace]) -> np.ndarray:
    """Placements (K, F, 3, 4) = [R, p] of places on bodies in the world, of all in one pass."""
    tree, (scalars,), pack = mechanism.at(q=q)
    poses = world_poses(tree, scalars)
    rows = []
    for place in places:
        i, X = tree.placed(place, as_float)
        pose = poses[i]
        p = pose.point_to_parent(X.p)
        R = Matrix(X.R.to_child(row) for row in pose.R.matrix())
        rows.append([[*R[k], p[k]] for k in range(3)])
    return np.asarray(pack(rows))


def _coordinates(run: Run, times: np.ndarray) -> np.ndarray:
    """q (N, K, nq) of the first trajectories at the times; where one has ended it stays."""
    every = (run.q if run.q.ndim == 3 else run.q[None])[:MOST_TOGETHER]
    last = np.maximum.accumulate(
        np.where(np.isfinite(every).all(axis=2), np.arange(every.shape[1]), 0), axis=1
    )
    every = np.take_along_axis(every, last[..., None], axis=1)
    if len(run.times) == 1:
        return np.repeat(every, len(times), axis=1)
    at = np.clip(np.searchsorted(run.times, times, side="right") - 1, 0, len(run.times) - 2)
    spacing = run.times[at + 1] - run.times[at]
    part = np.clip((times - run.times[at]) / np.where(spacing > 0, spacing, 1.0), 0.0, 1.0)[:, None]
    move, way = run.mechanism.integrate, run.mechanism.difference
    return np.stack(
        [np.where(part == 0, q[at], move(q[at], part * way(q[at + 1], q[at]))) for q in every]
    )


def _tip(points: np.ndarray) -> int:
    """The point that comes farthest round; of equals the last, which hangs on the others."""
    reach = np.linalg.norm(np.ptp(points, axis=1), axis=-1).max(axis=0)
    return int(np.flatnonzero(reach >= reach.max() * (1 - 1e-9))[-1])
