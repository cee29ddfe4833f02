"""Placements of all that the viewer moves: bodies, frames, sections of bent beams, ends of
constraints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.model.constraint import FramePlace
from dalembert.model.mechanism import Mechanism
from dalembert.views.figures.beam_curves import (
    POINTS,
    with_sections,
)
from dalembert.views.figures.constraint_marks import (
    ROLES,
    ConstraintMarks,
)
from dalembert.views.figures.stick_figure import placements


class ViewedPlaces(NamedTuple):
    """Placements at K postures, each (K, number, 3, 4) = [R, p] in world axes.

    bodies, frames : in the order of the mechanism
    sections : of bent beams, (K, beams, POINTS, 3, 4)
    ends : frames of constraints, in the order of `ConstraintMarks.places`
    """

    bodies: np.ndarray
    frames: np.ndarray
    sections: np.ndarray
    ends: np.ndarray

    def at(self, k: int) -> ViewedPlaces:
        """The placements at one posture, without the axis of postures."""
        return ViewedPlaces(*(part[k] for part in self))


class MovingPlaces:
    """Finds the placements of one mechanism at any postures."""

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism
        self.with_frames, names = with_sections(mechanism)
        self.bodies = len(mechanism.bodies)
        self.frames = len(mechanism.frames)
        self.beams = len(names)
        sections = [FramePlace(name) for row in names for name in row]
        self.names = [part.name for part in (*mechanism.bodies, *mechanism.frames)]
        named = [FramePlace(name) for name in self.names]
        self.listed = [*named, *sections, *ConstraintMarks.of(mechanism).places]

    def at(self, q: np.ndarray) -> ViewedPlaces:
        """Placements at postures (K, nq) [rad, m]."""
        q = np.atleast_2d(np.asarray(q, dtype=float))
        found = placements(self.with_frames, q, self.listed) if self.listed else None
        assert found is not None
        cuts = np.cumsum([self.bodies, self.frames, self.beams * POINTS])
        bodies, frames, sections, ends = np.split(found, cuts, axis=1)
        shape = (len(q), self.beams, POINTS, 3, 4)
        return ViewedPlaces(bodies, frames, sections.reshape(shape), ends)

    def ends_of_constraints(self) -> list[tuple[str, int]]:
        """Name of each constraint with the index of the frame that its reaction acts at."""
        found = []
        count = 0
        for constraint in self.mechanism.constraints:
            places = [getattr(constraint, role, None) for role in ROLES]
            number = sum(isinstance(place, FramePlace) for place in places)
            if number:
                found.append((constraint.name, count + number - 1))
            count += number
        return found
