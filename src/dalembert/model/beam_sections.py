"""Cross-sections of beams as joints: all of a beam share its coordinates."""

from __future__ import annotations

from collections.abc import (
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dalembert.expr import (
    Graph,
    known_zero,
    symbol,
)
from dalembert.model.bending import Bending
from dalembert.model.joints.base import JointType
from dalembert.model.joints.traced import (
    BY_Q,
    COLUMNS,
    PLACEMENT,
    RATES,
    TracedMotion,
    derived,
    plain,
)
from dalembert.model.numbers import Number
from dalembert.model.parts import Body
from dalembert.spatial.rotations import (
    NO_ROTATION,
    AxisTurn,
    Dense,
)
from dalembert.spatial.transforms import Transform
from dalembert.spatial.turns import (
    rate_map,
    turn_by,
)
from dalembert.spatial.vectors import (
    ZERO,
    Matrix,
    Vector,
)

RANDOM = 0.02  # largest coordinate of a random state


@dataclass(frozen=True)
class BeamSection(JointType):
    """Joint that carries the cross-section at xi = x / length of a bent beam.

    bending : displacements by the coordinates; length : of the beam [m]
    turns : whether the child's axes turn with the section; if not they stay those of the beam, for
        a mass without rotary inertia
    """

    bending: Bending
    length: Number
    xi: Number
    turns: bool = True

    name = "beam section"
    constant_subspace = False

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the coordinates of the beam."""
        return self.bending.names

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of their rates."""
        return self.bending.names

    def numbers(self) -> dict[str, Number]:
        """No numbers of its own: the body has them."""
        return {}

    def with_numbers(self, numbers: Mapping[str, Number]) -> BeamSection:
        """The same: numbers are those of the body."""
        return self

    def identity(self) -> None:
        """None: the body has one."""
        return

    @property
    def is_still(self) -> bool:
        """Whether the section does not move with the coordinates, as at a clamped start."""
        return all(known_zero(x) for x in self._traced.outputs[COLUMNS])

    @property
    def _traced(self) -> TracedMotion:
        return _traced(self.bending, self.xi, self.turns)

    def placement(self, q: Sequence[Any]) -> Transform:
        """Place of the section, and its turn."""
        p, turn = _split(self._traced.at(PLACEMENT, [*q, self.length]))
        if not turn:
            return Transform(p)
        if (axis := self.bending.axis) is not None:
            return Transform(p, AxisTurn(axis, *turn))
        return Transform(p, Dense(Matrix((turn[:3], turn[3:6], turn[6:]))))

    def subspace(self, q: Sequence[Any]) -> Any:
        """Motions for unit rates of the coordinates."""
        return self._traced.motions(COLUMNS, [*q, self.length])

    def subspace_rate(self, q: Sequence[Any], v: Sequence[Any]) -> Any:
        """Their rates."""
        return self._traced.motions(RATES, [*q, self.length, *v])

    def subspace_rate_derivatives(self, q: Sequence[Any], v: Sequence[Any]) -> Any:
        """Derivatives of (dS/dt) v by q."""
        return self._traced.motions(BY_Q, [*q, self.length, *v])

    def random(self, rng: Any) -> list[float]:
        """Small deflections."""
        return [float(rng.uniform(-RANDOM, RANDOM)) for _ in range(self.nq)]


def _split(flat: list[Any]) -> tuple[Vector, list[Any]]:
    return Vector(flat[:3]), flat[3:]


@lru_cache(maxsize=1024)
def _traced(bending: Bending, xi: Any, turns: bool) -> TracedMotion:
    """Motion of a section as expressions of the coordinates and the length."""
    with Graph():
        q = [symbol(name) for name in bending.names]
        length = symbol("length")
        p = bending.place(q, length, xi)
        theta = bending.rotation_vector(q, length, xi) if turns else ZERO
        R = turn_by(theta) if turns else NO_ROTATION
        columns: list[Any] = []
        for x in q:
            angular = ZERO
            if not all(map(known_zero, theta)):
                angular = rate_map(theta, Vector(derived(e, x) for e in theta))
            columns += [*angular, *R.to_child(Vector(derived(e, x) for e in p))]
        return TracedMotion(q, [length], [*p, *_entries(R)], [plain(e) for e in columns])


def _entries(R: Any) -> list[Any]:
    if R is NO_ROTATION:
        return []
    if isinstance(R, AxisTurn):
        return [R.c, R.s]
    return [x for row in R.matrix() for x in row]


def start_of(body: Body) -> BeamSection:
    """The section at the start of an elastic body, which stands for its coordinates."""
    assert body.beam is not None and body.bending is not None
    return BeamSection(body.bending, body.beam.length, 0)
