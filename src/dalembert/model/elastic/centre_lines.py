"""Centre lines of bent beams: places of cross-sections, with derivatives by the coordinates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from dalembert.beams.integrals import (
    cumulative_weights,
    products_to,
)
from dalembert.beams.shape_functions import (
    BEND_Y,
    BEND_Z,
    STRETCH,
    TWIST,
)
from dalembert.expr import Graph, symbol
from dalembert.model.elastic.bending import (
    AXIS_OF,
    Bending,
    on_axes,
    total_of,
)
from dalembert.model.joints.traced import (
    BY_Q,
    COLUMNS,
    PLACEMENT,
    RATES,
    TracedMotion,
    derived,
    plain,
)
from dalembert.spatial.turns import rate_map, rate_map_change, turn_by
from dalembert.spatial.vectors import (
    AXES,
    ZERO,
    Scalar,
    Vector,
    dot,
    summed,
)

HALF = Fraction(1, 2)
REMEMBERED = 8  # evaluations of a line, and one of unit rates for each coordinate
Scalars = Sequence[Scalar]
Rows = list[list[Any]]


class CentreLine(ABC):
    """Places p of the cross-sections of a beam from its start, by its coordinates delta."""

    @abstractmethod
    def place(self, delta: Scalars, length: Scalar, xi: Any) -> Vector:
        """p at xi."""

    @abstractmethod
    def columns(self, delta: Scalars, length: Scalar, xi: Any) -> list[Vector]:
        """dp/d delta_i."""

    @abstractmethod
    def rates(self, delta: Scalars, v: Scalars, length: Scalar, xi: Any) -> list[Vector]:
        """Rates of the columns for the rates v of the coordinates."""

    @abstractmethod
    def motion(
        self, state: tuple[Scalars, Scalars, Scalars], length: Scalar, xi: Any
    ) -> tuple[Vector, Vector]:
        """Velocity and acceleration p', p'' for delta, its rates, and theirs."""

    @abstractmethod
    def along(self, delta: Scalars, length: Scalar, xi: Any, force: Vector) -> list[Scalar]:
        """Products of the columns with a force."""

    @abstractmethod
    def by_delta(self, delta: Scalars, v: Scalars, length: Scalar, xi: Any) -> list[Vector]:
        """Derivatives by delta_i of the rates times v."""


@lru_cache(maxsize=256)
def line_of(bending: Bending) -> CentreLine:
    """The centre line of a kinematics."""
    return QuadraticLine(bending) if bending.is_polynomial else tangents_of(bending)


@lru_cache(maxsize=256)
def tangents_of(bending: Bending) -> TurnedLine:
    """The centre line by its tangents, of any kinematics."""
    return TurnedLine(bending)


class QuadraticLine(CentreLine):
    """Places in the first or second order of the coordinates:

    p = (x + u, v, w)
        + integral of (-1/2 (v'^2 + w'^2), u' v' - 1/2 twist w', u' w' + 1/2 twist v')
    """

    def __init__(self, bending: Bending):
        self.bending = bending
        self._columns: dict[Any, list[Vector]] = {}
        self._forms: dict[Any, list[Form]] = {}

    def place(self, delta, length, xi):
        """Straight part + 1/2 delta^T H delta."""
        straight = zip(*self._straight(xi), strict=True)
        place = [total_of(row, delta) for row in straight]
        place[0] = place[0] + length * xi
        for k, form in enumerate(self._quadratic(xi)):
            if not form.is_zero:
                place[k] = place[k] + dot(delta, form.times(delta, length)) / 2
        return Vector(place)

    def columns(self, delta, length, xi):
        """Straight part + H delta."""
        bent = self.rates(delta, delta, length, xi)
        return [a + b for a, b in zip(self._straight(xi), bent, strict=True)]

    def rates(self, delta, v, length, xi):
        """H v."""
        rows = [form.times(v, length) for form in self._quadratic(xi)]
        return [Vector(column) for column in zip(*rows, strict=True)]

    def motion(self, state, length, xi):
        """Columns times rates, and columns times their rates with rates of columns times rates."""
        delta, v, v_rate = state
        columns = self.columns(delta, length, xi)
        bent = summed(self.rates(delta, v, length, xi), v)
        return summed(columns, v), summed(columns, v_rate) + bent

    def along(self, delta, length, xi, force):
        """Each column times the force."""
        return [column.dot(force) for column in self.columns(delta, length, xi)]

    def by_delta(self, delta, v, length, xi):
        """Zero: places have no third order."""
        return [ZERO] * self.bending.count

    def _straight(self, xi: Any) -> list[Vector]:
        key = _exactly(xi)
        if key not in self._columns:
            self._columns[key] = self._straight_columns(xi)
        return self._columns[key]

    def _straight_columns(self, xi: Any) -> list[Vector]:
        along = {STRETCH: AXES[0], BEND_Y: AXES[1], BEND_Z: AXES[2], TWIST: ZERO}
        return [
            along[direction] * number
            for direction, functions in self.bending.shapes
            for number in functions.values(xi)
        ]

    def _quadratic(self, xi: Any) -> list[Form]:
        key = _exactly(xi)
        if key not in self._forms:
            forms = [Form(self.bending.count) for _ in AXES]
            if self.bending.kinematics != "first_order":
                self._fill(forms, xi)
            self._forms[key] = forms
        return self._forms[key]

    def _fill(self, forms: list[Form], xi: Any) -> None:
        x, y, z = forms
        for across, form in ((BEND_Y, y), (BEND_Z, z)):
            self._put(x.over_length, across, across, xi, -1)
            self._put(form.over_length, STRETCH, across, xi, 1)
        self._put(y.entries, TWIST, BEND_Z, xi, -HALF)
        self._put(z.entries, TWIST, BEND_Y, xi, HALF)

    def _put(self, rows: Rows, one: str, other: str, xi: Any, factor: Any) -> None:
        """Set the integrals from 0 to xi of phi' psi'^T, of twist phi psi'^T, on both sides of the
        diagonal.
        """
        bending = self.bending
        if one not in bending.at or other not in bending.at:
            return
        functions = bending.functions[one]
        left = functions.values if one == TWIST else functions.slopes
        right = bending.functions[other].slopes
        degree = None if bending.degree is None else 2 * bending.degree
        products = products_to(xi, left, right, bending.breaks, degree, bending.points)
        for i, row in enumerate(products, bending.at[one].start):
            for k, number in enumerate(row, bending.at[other].start):
                rows[i][k] = rows[k][i] = factor * number


def _exactly(xi: Any) -> tuple[type, Any]:
    """A key that tells 1/2 from 0.5: numbers at rational places are rational."""
    return type(xi), xi


class Form:
    """A symmetric matrix H = entries + over_length / length of numbers."""

    def __init__(self, n: int):
        self.entries: Rows = [[0] * n for _ in range(n)]
        self.over_length: Rows = [[0] * n for _ in range(n)]

    @property
    def is_zero(self) -> bool:
        """Whether it has no entries."""
        return not any(map(any, self.entries + self.over_length))

    def times(self, v: Scalars, length: Scalar) -> list[Scalar]:
        """H v."""
        products = []
        for row, over in zip(self.entries, self.over_length, strict=True):
            product = total_of(row, v)
            if any(over):
                product = product + total_of(over, v) / length
            products.append(product)
        return products


class TurnedLine(CentreLine):
    """Places by quadrature of r' = (1 + u') exp([theta]x) e_x, exact or to an order in the
    coordinates.

    Local variables y of a cross-section are its turns about the axes about which it turns, and u'.
    """

    def __init__(self, bending: Bending):
        self.bending = bending
        self.variables = (*bending.turning, *((STRETCH,) if STRETCH in bending.at else ()))
        self.nodes = bending.nodes.nodes
        self.tangents = _tangents(self.variables, bending.kinematics)
        numbers = [[bending.turns_by(d, xi) for d in self.variables] for xi in self.nodes]
        self.numbers = dict(zip(self.variables, zip(*numbers, strict=True), strict=True))
        self._weighted: dict[Any, dict[str, list[list[float]]]] = {}
        self._evaluated: dict[Any, tuple[list[Any], list[list[Vector]]]] = {}

    def place(self, delta, length, xi):
        """Integral of the tangents."""
        tangents = [node[0] for node in self.at_nodes(PLACEMENT, delta, delta, length)]
        weights = cumulative_weights(self.nodes, self.bending.breaks, xi)
        return Vector(total_of(weights, row) * length for row in zip(*tangents, strict=True))

    def columns(self, delta, length, xi):
        """Integrals of the derivatives of the tangents."""
        return self._integrals(self.at_nodes(COLUMNS, delta, delta, length), length, xi)

    def rates(self, delta, v, length, xi):
        """Integrals of their rates."""
        return self._integrals(self.at_nodes(RATES, delta, v, length), length, xi)

    def motion(self, state, length, xi):
        """Integrals of the rates of tangents, and of their rates."""
        weights = cumulative_weights(self.nodes, self.bending.breaks, xi)
        velocity, acceleration = (
            summed(vectors, weights) * length
            for vectors in zip(*self.rates_at_nodes(state, length), strict=True)
        )
        return velocity, acceleration

    def along(self, delta, length, xi, force):
        """Sums over nodes of the derivatives of tangents times the force."""
        columns = self.at_nodes(COLUMNS, delta, delta, length)
        products = [[c.dot(force) for c in of_nodes] for of_nodes in zip(*columns, strict=True)]
        along = []
        for direction, _ in self.bending.shapes:
            of_nodes = products[self.variables.index(direction)]
            unit = length if direction == TWIST else 1
            along += [dot(of_nodes, weights) * unit for weights in self._weights(xi)[direction]]
        return along

    def rates_at_nodes(
        self, state: tuple[Scalars, Scalars, Scalars], length: Scalar
    ) -> list[tuple[Vector, Vector]]:
        """t_j' and t_j'' for delta, its rates, and theirs."""
        delta, v, v_rate = state
        columns = self.at_nodes(COLUMNS, delta, delta, length)
        changes = self.at_nodes(RATES, delta, v, length)
        found = []
        for k, (of_node, changed) in enumerate(zip(columns, changes, strict=True)):
            y_rate = self.local_variables(v, k, length)
            y_bend = self.local_variables(v_rate, k, length)
            bend = summed(of_node, y_bend) + summed(changed, y_rate)
            found.append((summed(of_node, y_rate), bend))
        return found

    def by_delta(self, delta, v, length, xi):
        """Integrals of the derivatives of rates times v."""
        return self._integrals(self.at_nodes(BY_Q, delta, v, length), length, xi)

    def at_nodes(
        self, which: int, delta: Scalars, v: Scalars, length: Scalar
    ) -> list[list[Vector]]:
        """Vectors at all nodes: the sections of a beam share them."""
        scalars = [*delta, *v, length]
        key = (which, *map(id, scalars))  # of scalars that are held with the vectors
        if key not in self._evaluated:
            if len(self._evaluated) > REMEMBERED + len(delta):
                self._evaluated.clear()
            nodes = [
                self.tangents.vectors(
                    which,
                    self.local_variables(delta, k, length) + self.local_variables(v, k, length),
                )
                for k in range(len(self.nodes))
            ]
            self._evaluated[key] = scalars, nodes
        return self._evaluated[key][1]

    def local_variables(self, delta: Scalars, node: int, length: Scalar) -> list[Scalar]:
        """Local variables of a node."""
        at, variables = self.bending.at, []
        for direction in self.variables:
            y = total_of(self.numbers[direction][node], delta[at[direction]])
            variables.append(y if direction == TWIST else y / length)
        return variables

    def _integrals(self, of_nodes: list[list[Vector]], length: Scalar, xi: Any) -> list[Vector]:
        """Integrals from 0 to xi of vectors for each variable, times its derivative by each
        coordinate.
        """
        weighted = self._weights(xi)
        integrals = []
        for direction, _ in self.bending.shapes:
            column = self.variables.index(direction)
            entries = list(zip(*(node[column] for node in of_nodes), strict=True))
            for weights in weighted[direction]:
                integral = Vector(total_of(weights, row) for row in entries)
                integrals.append(integral * length if direction == TWIST else integral)
        return integrals

    def _weights(self, xi: Any) -> dict[str, list[list[float]]]:
        """Weights of the nodes for each coordinate of a direction."""
        if xi not in self._weighted:
            weights = cumulative_weights(self.nodes, self.bending.breaks, xi)
            self._weighted[xi] = {
                direction: [
                    [w * float(x) for w, x in zip(weights, column, strict=True)]
                    for column in zip(*rows, strict=True)
                ]
                for direction, rows in self.numbers.items()
            }
        return self._weighted[xi]


@lru_cache(maxsize=64)
def _tangents(variables: tuple[str, ...], kinematics: str) -> TracedMotion:
    """Tangent r' of a cross-section by its local variables, with derivatives."""
    if kinematics == "exact":
        return _exact_tangents(variables)
    with Graph():
        symbols = [symbol(name) for name in variables]
        theta, stretch = _turns_and_stretch(variables, symbols)
        tangent = TANGENTS[kinematics](theta, stretch)
        columns = [derived(e, x) for x in symbols for e in tangent]
        return TracedMotion(symbols, [], list(tangent), columns, rows=3)


def _exact_tangents(variables: tuple[str, ...]) -> TracedMotion:
    """R e_x (1 + u'), its derivatives R (T_i x e_x) (1 + u') and R e_x, and their rates, by the
    angular velocities T_i that sections have too.
    """
    with Graph():
        symbols = [symbol(name) for name in variables]
        theta, stretch = _turns_and_stretch(variables, symbols)
        R, longer = turn_by(theta), 1 + stretch
        axes = [AXES[AXIS_OF[name]] for name in variables if name != STRETCH]
        spins = [rate_map(theta, axis) for axis in axes]
        bent = [spin.cross(AXES[0]) for spin in spins]
        columns = [R.to_parent(x) * longer for x in bent]
        if STRETCH in variables:
            columns.append(R.to_parent(AXES[0]))

        def rates(v: Sequence[Any]) -> list[Any]:
            """Entries of the rates of the columns."""
            by, stretching = _turns_and_stretch(variables, v)
            omega = summed(spins, v[: len(axes)]) if axes else ZERO
            changes = [rate_map_change(theta, axis, by).cross(AXES[0]) for axis in axes]
            found = [
                R.to_parent((omega.cross(x) + change) * longer + x * stretching)
                for x, change in zip(bent, changes, strict=True)
            ]
            if STRETCH in variables:
                found.append(R.to_parent(omega.cross(AXES[0])))
            return [e for vector in found for e in vector]

        entries = [plain(e) for column in columns for e in column]
        return TracedMotion(symbols, [], list(R.to_parent(AXES[0]) * longer), entries, 3, rates)


def _turns_and_stretch(variables: Sequence[str], y: Sequence[Any]) -> tuple[Vector, Scalar]:
    """Rotation vector and u' by local variables, or their rates."""
    if STRETCH in variables:
        return on_axes(variables[:-1], y[:-1]), y[-1]
    return on_axes(variables, y), 0


def _first_order(theta: Vector, stretch: Scalar) -> Vector:
    return AXES[0] * (1 + stretch) + theta.cross(AXES[0])


def _second_order(theta: Vector, stretch: Scalar) -> Vector:
    once = theta.cross(AXES[0])
    return (AXES[0] + once) * (1 + stretch) + theta.cross(once) * HALF


def _third_order(theta: Vector, stretch: Scalar) -> Vector:
    """exp([theta]x) e_x without terms of the fourth order and more, stretched."""
    once = theta.cross(AXES[0])
    twice = theta.cross(once)
    turned = AXES[0] + once + twice * HALF + theta.cross(twice) * Fraction(1, 6)
    return turned * (1 + stretch)


TANGENTS = {
    "first_order": _first_order,
    "second_order": _second_order,
    "third_order": _third_order,
}
