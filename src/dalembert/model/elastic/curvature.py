"""Elastic and damping forces of beams that bend and twist far, by the curvature of their axes."""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Sequence,
)
from dataclasses import dataclass
from functools import (
    cached_property,
    lru_cache,
)

from dalembert.beams.beam_quadrature import Rule
from dalembert.beams.shape_functions import TWIST
from dalembert.expr import (
    Graph,
    known_zero,
    symbol,
)
from dalembert.model.elastic.beam import (
    STIFFNESS_OF,
    Beam,
)
from dalembert.model.elastic.bending import (
    AXIS_OF,
    Bending,
    on_axes,
    total_of,
)
from dalembert.model.elastic.elasticity import BeamForces
from dalembert.model.joints.traced import (
    Plan,
    derived,
)
from dalembert.model.numbers import Converter
from dalembert.spatial.turns import rate_map, rate_map_change
from dalembert.spatial.vectors import (
    AXES,
    Scalar,
    dot,
    summed,
)

Rows = list[list[Scalar]]
ENERGY, FORCE, DAMPING_FORCE, STIFFNESS, DAMPING, DAMPING_BY_Y = range(6)


@dataclass(frozen=True)
class CurvatureForces(BeamForces):
    """Forces of a beam with moments C kappa and C kappa' damping on its coordinates.

        kappa = T(theta) theta',  U = 1/2 integral of kappa^T C kappa dx,
        C = diag(GJ, EIy, EIz)

    Of a beam that does not twist by coordinates, kappa_x has no energy.

    bending : displacements; length : of the beam; rule : quadrature along it
    moduli : C by axis, at each node; damping : time [s]
    """

    bending: Bending
    length: Scalar
    rule: Rule
    moduli: tuple[tuple[Scalar, ...], ...]
    damping: Scalar

    def energy(self, q: Sequence[Scalar]) -> Scalar:
        """Strain energy U [J]."""
        delta = q[self.at_q]
        weights = self.rule.weights
        densities = [node[0] for node in self._at_nodes(ENERGY, delta, delta)]
        return total_of(weights, densities) * self.length

    def forces(
        self, q: Sequence[Scalar], qd: Sequence[Scalar], elastic: bool = True
    ) -> list[Scalar]:
        """Elastic and damping forces, or those of damping alone, on the entries of at_v."""
        delta, rates = q[self.at_q], qd[self.at_v.start : self.at_v.stop]
        total: list[Scalar] = [0.0] * self.bending.count
        if elastic:
            total = self._integral(self._at_nodes(FORCE, delta, rates))
        if self.is_damped:
            damping = self._integral(self._at_nodes(DAMPING_FORCE, delta, rates))
            total = [a + b * self.damping for a, b in zip(total, damping, strict=True)]
        return [-x for x in total]

    def derivatives(
        self, q: Sequence[Scalar], qd: Sequence[Scalar]
    ) -> Iterator[tuple[int, int, Scalar, Scalar]]:
        """Minus the derivatives of the forces by q and qd, by rows and columns of the mechanism."""
        delta, rates = q[self.at_q], qd[self.at_v.start : self.at_v.stop]
        by_q = self._matrix(STIFFNESS, delta, rates)
        by_qd = [[0.0] * len(row) for row in by_q]
        if self.is_damped:
            turned = self._matrix(DAMPING_BY_Y, delta, rates)
            by_q = _sum(by_q, turned, self.damping)
            by_qd = _sum(by_qd, self._matrix(DAMPING, delta, rates), self.damping)
        for row, of_q, of_qd in zip(self.at_v, by_q, by_qd, strict=True):
            for column, stiffness, damping in zip(self.at_v, of_q, of_qd, strict=True):
                yield row, column, stiffness, damping

    @cached_property
    def is_damped(self) -> bool:
        """Whether it loses energy."""
        return not known_zero(self.damping)

    # --- at the nodes, by the local variables y = (theta, theta') about the axes of turning ---

    @cached_property
    def _scales(self) -> list[Scalar]:
        """Powers of 1 / length in the local variables."""
        over = 1 / self.length
        turns = [1 if direction == TWIST else over for direction in self.bending.turning]
        return [*turns, *(over * scale for scale in turns)]

    def _local(self, node: int, delta: Sequence[Scalar]) -> list[Scalar]:
        y: list[Scalar] = [0.0] * len(self._scales)
        for variables, x in zip(_numbers(self.bending, self.rule)[node], delta, strict=True):
            for k, number in variables:
                y[k] = y[k] + x * number
        turning = self.bending.turning  # in the form of sections, which share what they compute
        turned = [
            x if direction == TWIST else x / self.length
            for x, direction in zip(y, turning * 2, strict=True)
        ]
        m = len(turning)
        return [*turned[:m], *(x / self.length for x in turned[m:])]

    def _at_nodes(
        self, which: int, delta: Sequence[Scalar], rates: Sequence[Scalar]
    ) -> list[list[Scalar]]:
        plan = _plan(self.bending.turning, which)
        return [
            plan.at([*self._local(k, delta), *self._local(k, rates), *moduli])
            for k, moduli in enumerate(self.moduli)
        ]

    def _integral(self, of_nodes: list[list[Scalar]]) -> list[Scalar]:
        """Integral of forces on local variables, on the coordinates."""
        total: list[Scalar] = [0.0] * self.bending.count
        nodes = zip(self.rule.weights, _numbers(self.bending, self.rule), of_nodes, strict=True)
        for weight, numbers, forces in nodes:
            scaled = [f * s for f, s in zip(forces, self._scales, strict=True)]
            for i, variables in enumerate(numbers):
                for k, number in variables:
                    total[i] = total[i] + scaled[k] * (weight * number)
        return [x * self.length for x in total]

    def _matrix(self, which: int, delta: Sequence[Scalar], rates: Sequence[Scalar]) -> Rows:
        """Integral of a matrix on local variables, on the coordinates."""
        of_nodes = self._at_nodes(which, delta, rates)
        n = self.bending.count
        total: Rows = [[0.0] * n for _ in range(n)]
        nodes = zip(self.rule.weights, _numbers(self.bending, self.rule), of_nodes, strict=True)
        for weight, numbers, entries in nodes:
            for c, column in enumerate(numbers):
                scaled = self._combined(entries, column, weight)
                for r, row in enumerate(numbers):
                    for k, number in row:
                        total[r][c] = total[r][c] + scaled[k] * number
        return [[x * self.length for x in row] for row in total]

    def _combined(
        self, entries: list[Scalar], column: list[tuple[int, float]], weight: float
    ) -> list[Scalar]:
        """Forces on local variables by a coordinate, from their matrix by columns."""
        m = len(self._scales)
        total: list[Scalar] = [0.0] * m
        for k, number in column:
            of_variable = entries[k * m : (k + 1) * m]
            factor = self._scales[k] * (weight * number)
            total = [t + x * factor for t, x in zip(total, of_variable, strict=True)]
        return [x * scale for x, scale in zip(total, self._scales, strict=True)]


@lru_cache(maxsize=256)
def _numbers(bending: Bending, rule: Rule) -> list[list[list[tuple[int, float]]]]:
    """Derivatives of the local variables at each node by each coordinate, times powers of the
    length: (variable, number).
    """
    m = len(bending.turning)
    of_nodes = []
    for xi in rule.nodes:
        numbers: list[list[tuple[int, float]]] = [[] for _ in range(bending.count)]
        for k, direction in enumerate(bending.turning):
            turns, bends = (bending.turns_by(direction, xi, order) for order in (0, 1))
            for i, (turn, bend) in enumerate(
                zip(turns, bends, strict=True), bending.at[direction].start
            ):
                numbers[i] = [(k, float(turn)), (k + m, float(bend))]
        of_nodes.append(numbers)
    return of_nodes


@lru_cache(maxsize=64)
def _plan(turning: tuple[str, ...], which: int) -> Plan:
    """Energy, forces or stiffness of a unit of length, by its local variables, their rates and C."""
    with Graph():
        y = [symbol(f"{order} {d}") for order in ("turn", "bend") for d in turning]
        rates = [symbol(f"rate of {x.name}") for x in y]
        C = [symbol(name) for name in ("GJ", "EIy", "EIz")]
        turns, bends = y[: len(turning)], y[len(turning) :]
        theta = on_axes(turning, turns)
        axes = [AXES[AXIS_OF[direction]] for direction in turning]
        T = [rate_map(theta, axis) for axis in axes]
        kappa = summed(T, bends)
        # d kappa / d theta_j = dT_j/dx + kappa x T_j: fewer operations than derivatives of kappa
        along = on_axes(turning, bends)
        changes = [rate_map_change(theta, axis, along) for axis in axes]
        by_turns = [change + kappa.cross(t) for change, t in zip(changes, T, strict=True)]
        moments = [c * k for c, k in zip(C, kappa, strict=True)]
        by_y = [*by_turns, *T]
        rate = [dot([row[k] for row in by_y], rates) for k in range(3)]
        damped = [c * k for c, k in zip(C, rate, strict=True)]
        forces = [dot(row, moments) for row in by_y]
        damping_forces = [dot(row, damped) for row in by_y]
        outputs = {
            ENERGY: lambda: [dot(kappa, moments) / 2],
            FORCE: lambda: forces,
            DAMPING_FORCE: lambda: damping_forces,
            STIFFNESS: lambda: [derived(f, x) for x in y for f in forces],
            DAMPING: lambda: [derived(f, v) for v in rates for f in damping_forces],
            DAMPING_BY_Y: lambda: [derived(f, x) for x in y for f in damping_forces],
        }
        return Plan([*y, *rates, *C], outputs[which]())


def curvature_forces(
    beam: Beam, bending: Bending, places: tuple[str, slice, range], convert: Converter
) -> CurvatureForces:
    """The forces of a beam, its numbers converted."""
    properties = [beam.along(STIFFNESS_OF[d]) if d in bending.at else None for d in AXIS_OF]
    rule = bending.along([along for along in properties if along])
    moduli = tuple(
        tuple(along.at(xi, convert) if along else 0 for along in properties) for xi in rule.nodes
    )
    damping = convert(beam.damping.retardation) if beam.damping else 0
    return CurvatureForces(*places, bending, convert(beam.length), rule, moduli, damping)


def _sum(one: Rows, other: Rows, factor: Scalar) -> Rows:
    pairs = zip(one, other, strict=True)
    return [[a + b * factor for a, b in zip(*rows, strict=True)] for rows in pairs]
