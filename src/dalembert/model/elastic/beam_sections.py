"""Cross-sections of beams as joints: all of a beam share its coordinates."""

from __future__ import annotations

from collections.abc import (
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from functools import (
    cached_property,
    lru_cache,
)
from typing import Any

from dalembert.beams.shape_functions import TWIST
from dalembert.expr import (
    Graph,
    symbol,
)
from dalembert.model.elastic.bending import (
    AXIS_OF,
    Bending,
    on_axes,
    total_of,
)
from dalembert.model.elastic.centre_lines import (
    CentreLine,
    line_of,
)
from dalembert.model.joints.base import JointType
from dalembert.model.joints.traced import (
    BY_Q,
    COLUMNS,
    PLACEMENT,
    RATES,
    TracedMotion,
    plain,
)
from dalembert.model.numbers import Number
from dalembert.model.parts import Body
from dalembert.spatial.motion_force import (
    Force,
    Motion,
    combined,
)
from dalembert.spatial.rotations import (
    NO_ROTATION,
    AxisTurn,
    Dense,
    Rotation,
)
from dalembert.spatial.transforms import Transform
from dalembert.spatial.turns import (
    SMALL_TERMS,
    TERMS,
    rate_map,
    rate_map_change,
    turn_by,
)
from dalembert.spatial.vectors import (
    AXES,
    ZERO,
    Matrix,
    Vector,
    summed,
)

RANDOM = 0.02  # largest coordinate of a random state


@dataclass(frozen=True)
class BeamSection(JointType):
    """Joint that carries the cross-section at xi = x / length of a bent beam.

    bending : displacements by the coordinates; length : of the beam [m]
    turns : whether the child's axes turn with the section; if not they stay those of the beam, for
        a mass without rotary inertia
    elements : of the beam, whose coordinates are those of the joint
    """

    bending: Bending
    length: Number
    xi: Number
    turns: bool = True
    elements: int = 1

    name = "beam section"
    constant_subspace = False

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the coordinates of the beam."""
        return self.bending.names(self.elements)

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of their rates."""
        return self.bending.names(self.elements)

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
        return self.bending.is_still(self.xi)

    # --- the centre moves with p, the axes turn with R = exp([theta]x) ---

    @cached_property
    def _line(self) -> CentreLine:
        return line_of(self.bending)

    @cached_property
    def _turn(self) -> TracedMotion | None:
        """R and its angular velocities by the turns of the section; None where it does not turn."""
        if not self.turns or not any(map(any, self._turns_by.values())):
            return None
        return _turns(self.bending.turning, self.bending.kinematics)

    @cached_property
    def _turns_by(self) -> dict[str, list[Any]]:
        bending = self.bending
        return {direction: bending.turns_by(direction, self.xi) for direction in bending.turning}

    def _local(self, delta: Sequence[Any]) -> list[Any]:
        """Components of theta, or of its rate."""
        local = []
        for direction, numbers in self._turns_by.items():
            turn = total_of(numbers, delta[self.bending.at[direction]])
            local.append(turn if direction == TWIST else turn / self.length)
        return local

    def _angular(self, which: int, q: Sequence[Any], v: Sequence[Any]) -> list[Vector]:
        """Angular velocities for unit rates of the coordinates, their rates, ..."""
        angular = [ZERO] * self.nq
        if self._turn is None:
            return angular
        units = self._turn.vectors(which, self._local(q) + self._local(v))
        for unit, (direction, numbers) in zip(units, self._turns_by.items(), strict=True):
            scaled = unit if direction == TWIST else unit * (1 / self.length)
            angular[self.bending.at[direction]] = [scaled * x for x in numbers]
        return angular

    def _rotation(self, q: Sequence[Any]) -> Rotation:
        if self._turn is None:
            return NO_ROTATION
        entries = self._turn.at(PLACEMENT, self._local(q) * 2)
        if (axis := self.bending.axis) is not None:
            return AxisTurn(axis, *entries)
        return Dense(Matrix((entries[:3], entries[3:6], entries[6:])))

    def placement(self, q: Sequence[Any]) -> Transform:
        """Place of the section, and its turn."""
        return Transform(self._line.place(q, self.length, self.xi), self._rotation(q))

    def subspace(self, q: Sequence[Any]) -> tuple[Motion, ...]:
        """Motions for unit rates of the coordinates: omega_i, R^T p_i."""
        R = self._rotation(q)
        linear = [R.to_child(p) for p in self._line.columns(q, self.length, self.xi)]
        return _motions(self._angular(COLUMNS, q, q), linear)

    def subspace_rate(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Motion, ...]:
        """Their rates: omega_i', R^T p_i' - omega x R^T p_i."""
        rates = self._line.rates(q, v, self.length, self.xi)
        if self._turn is None:
            return _motions([ZERO] * self.nq, rates)
        R = self._rotation(q)
        S = self.subspace(q)
        omega = combined(S, v).angular
        linear = [R.to_child(p) - omega.cross(s.linear) for p, s in zip(rates, S, strict=True)]
        return _motions(self._angular(RATES, q, v), linear)

    # --- the same without columns: sums over nodes of all coordinates at once ---

    def motion(
        self, q: Sequence[Any], v: Sequence[Any], v_rate: Sequence[Any]
    ) -> tuple[Motion, Motion]:
        """Velocity S v, and its rate S v' + S' v."""
        velocity, acceleration = self._line.motion((q, v, v_rate), self.length, self.xi)
        if self._turn is None:
            return Motion(ZERO, velocity), Motion(ZERO, acceleration)
        R = self._rotation(q)
        units, changes = (
            self._turn.vectors(which, self._local(q) + self._local(v)) for which in (COLUMNS, RATES)
        )
        omega = summed(units, self._local(v))
        omega_rate = summed(units, self._local(v_rate)) + summed(changes, self._local(v))
        linear = R.to_child(velocity)
        turned = R.to_child(acceleration) - omega.cross(linear)
        return Motion(omega, linear), Motion(omega_rate, turned)

    def along(self, q: Sequence[Any], force: Force) -> list[Any]:
        """Forces S^T f on the coordinates."""
        on_line = self._rotation(q).to_parent(force.force)
        along = self._line.along(q, self.length, self.xi, on_line)
        if self._turn is None:
            return along
        units = self._turn.vectors(COLUMNS, self._local(q) * 2)
        for unit, (direction, numbers) in zip(units, self._turns_by.items(), strict=True):
            moment = unit.dot(force.moment)
            moment = moment if direction == TWIST else moment * (1 / self.length)
            for k, x in enumerate(numbers, self.bending.at[direction].start):
                along[k] = along[k] + moment * x
        return along

    def subspace_rate_derivatives(self, q: Sequence[Any], v: Sequence[Any]) -> tuple[Motion, ...]:
        """Derivatives of (dS/dt) v = (omega', R^T p'' - omega x R^T p') by q, where p' is the
        velocity and p'' the acceleration without that of the coordinates.
        """
        by_q = self._line.by_delta(q, v, self.length, self.xi)
        if self._turn is None:
            return _motions([ZERO] * self.nq, by_q)
        R = self._rotation(q)
        S, S_rate = self.subspace(q), self.subspace_rate(q, v)
        velocity = combined(S, v)
        rates = [R.to_child(p) for p in self._line.rates(q, v, self.length, self.xi)]
        acceleration = combined(S_rate, v).linear + velocity.angular.cross(velocity.linear)
        linear = []
        for s, s_rate, rate, p in zip(S, S_rate, rates, by_q, strict=True):
            turned = rate - s.angular.cross(velocity.linear)  # of R^T p' by the coordinate
            accelerated = R.to_child(p) - s.angular.cross(acceleration)
            spun = s_rate.angular + velocity.angular.cross(s.angular)
            linear.append(
                accelerated - spun.cross(velocity.linear) - velocity.angular.cross(turned)
            )
        return _motions(self._angular(BY_Q, q, v), linear)

    def random(self, rng: Any) -> list[float]:
        """Small deflections."""
        return [float(rng.uniform(-RANDOM, RANDOM)) for _ in range(self.nq)]


def _motions(angular: list[Vector], linear: list[Vector]) -> tuple[Motion, ...]:
    return tuple(Motion(a, b) for a, b in zip(angular, linear, strict=True))


@lru_cache(maxsize=64)
def _turns(turning: tuple[str, ...], kinematics: str) -> TracedMotion:
    """R = exp([theta]x) and the angular velocities in the turned axes for unit rates of theta, by
    the components of theta about the axes of some directions.
    """
    terms = TERMS if kinematics == "exact" else SMALL_TERMS
    with Graph():
        symbols = [symbol(direction) for direction in turning]
        theta = on_axes(turning, symbols)
        axes = [AXES[AXIS_OF[direction]] for direction in turning]
        columns = [plain(e) for axis in axes for e in rate_map(theta, axis, terms)]

        def rates(v: Sequence[Any]) -> list[Any]:
            """Entries of the rates of the columns."""
            by = on_axes(turning, v)
            return [e for axis in axes for e in rate_map_change(theta, axis, by, terms)]

        return TracedMotion(symbols, [], _entries(turn_by(theta, terms)), columns, 3, rates)


def _entries(R: Rotation) -> list[Any]:
    if isinstance(R, AxisTurn):
        return [R.c, R.s]
    return [x for row in R.matrix() for x in row]


def start_of(body: Body) -> BeamSection:
    """The section at the start of an elastic body, which stands for the coordinates of all its
    elements.
    """
    assert body.beam is not None and body.bending is not None
    return BeamSection(body.bending, body.beam.length, 0, elements=body.elements)
