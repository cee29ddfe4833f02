"""Integrability of constraints on velocities: brackets of Frobenius, and integrals where these are
quadratures.

Motions that the rows allow are fields of directions X with J X = 0. Their brackets [X, Y] lead
where no single one of them leads; with these added until nothing new comes, the fields span the
directions that can be reached. Each dimension that they do not span belongs to an integral.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.analysis.freedoms import consistent_states
from dalembert.analysis.quadrature import Integral, exact_integral
from dalembert.analysis.states import numeric_system
from dalembert.errors import DalembertError
from dalembert.expr import (
    Graph,
    count_operations,
    evaluate,
    free_symbols,
    jacobian,
    known_zero,
    symbol,
)
from dalembert.systems.constraint_set import ConstraintSet

RANK = 1e-8  # singular value, relative to the largest, below which it is taken as 0
CLOSED = 1e-8  # of w and dw: a form with w ^ dw below it is integrable
LONGEST = 200_000  # operations of a bracket; longer ones are not formed
POINTS = 6  # random states at which forms are compared


@dataclass(frozen=True)
class RowIntegrability:
    """Integrability of a row psi = a(q, t) . qd + b(q, t) on velocities.

    row : its name
    alone : whether the row by itself is the rate of a function, but for a factor
    together : whether it is so along the motions that all constraints allow
    integral : function of q and t that stays constant, where it was found in closed form

    Examples
    --------
    >>> import dalembert as da
    >>> wheel = da.constraints.Velocity("wheel", lambda q, qd, t: [qd[0] - 0.5 * qd[1]])
    >>> row = da.integrability(da.planar_chain(2).constrained(wheel)).rows[0]
    >>> row.alone, row.integral.text
    (True, 'q1 - 0.5*q2')
    """

    row: str
    alone: bool
    together: bool
    integral: Integral | None

    def __str__(self) -> str:
        if self.integral is not None:
            times = f" ({self.integral.factor} times it is exact)" if self.integral.factor else ""
            return f"{self.row}: holonomic, {self.integral.text} is constant{times}"
        if self.alone:
            return f"{self.row}: holonomic, but no integral was found in closed form"
        if self.together:
            return f"{self.row}: holonomic together with the others"
        return f"{self.row}: nonholonomic"


@dataclass(frozen=True)
class Integrability:
    """Integrability of the constraints on velocities of a system; it prints as a list.

    name : of the system
    rows : tuple of RowIntegrability, of the rows without a position
    growth : dimensions that the allowed motions and their brackets of order 1, 2, ... span
    nonholonomic : number of rows that no integral replaces
    integrals : number of independent integrals of the rows on velocities
    is_whole : whether all brackets were formed; else `growth` may go on

    Examples
    --------
    >>> import dalembert as da
    >>> wheel = da.constraints.Velocity("wheel", lambda q, qd, t: [qd[0] - 0.5 * qd[1]])
    >>> da.integrability(da.planar_chain(2).constrained(wheel)).nonholonomic
    0
    """

    name: str
    rows: tuple[RowIntegrability, ...]
    growth: tuple[int, ...]
    nonholonomic: int
    integrals: int
    is_whole: bool = True

    @property
    def degree(self) -> int:
        """Degree of nonholonomy: order of brackets that still lead somewhere new; 1 of a holonomic
        system.
        """
        return len(self.growth)

    def __str__(self) -> str:
        growth = ", ".join(map(str, self.growth))
        words = "" if self.is_whole else "; brackets of higher order are too long to form"
        lines = [
            f"{self.name}: {self.nonholonomic} nonholonomic rows, {self.integrals} integrals; "
            f"growth ({growth}), degree of nonholonomy {self.degree}{words}"
        ]
        return "\n".join([*lines, *(f"  {row}" for row in self.rows)])


class Forms:
    """Rows of a system as one-forms of z = (q, t), in symbols of the current graph.

    z : symbols (nq + 1,)
    a : coefficients (k, nv + 1) of (qd dt, dt)
    moved : rates of z (nq + 1, nv + 1) for a unit of each velocity, and of time
    """

    def __init__(self, system: Any):
        rows = ConstraintSet(system)
        self.names = [*_identifiers(system.coordinate_names), "t"]
        self.z = np.array([symbol(name) for name in self.names], dtype=object)
        q, t = self.z[:-1], self.z[-1]
        found = rows.rates(q, np.zeros(system.nv), t)
        self.a = np.column_stack([found.jacobian, found.velocity])
        moved = [[*system.rate(q, unit), 0.0] for unit in np.eye(system.nv)]
        self.moved = np.array([*moved, [0.0] * system.nq + [1.0]], dtype=object).T
        self.of_positions = [bool(x) for x in _has_position(rows)]
        self.labels = rows.labels

    def at(self, expressions: Any, points: np.ndarray) -> np.ndarray:
        """Values of expressions at points (N, nq + 1)."""
        array = np.asarray(expressions, dtype=object)
        values = dict(zip(self.z, points.T, strict=True))
        found = [evaluate(x, values) if hasattr(x, "graph") else x for x in array.flat]
        columns = [np.broadcast_to(x, len(points)) for x in found]
        return np.stack(columns, -1).astype(float).reshape(len(points), *array.shape)


def check_linear(rows: ConstraintSet, q: np.ndarray, qd: np.ndarray) -> None:
    """Raise a DalembertError if a row is no linear form of the velocities."""
    here, still = rows.rates(q, qd, 0.3).jacobian, rows.rates(q, 0 * qd, 0.3).jacobian
    bent = np.abs(here - still).max(axis=1) > 1e-9 * (1.0 + np.abs(here).max())
    if bent.any():
        raise DalembertError(
            f"{rows.labels[int(np.argmax(bent))]!r} of {rows.system.name!r} is no linear form of the "
            "velocities: brackets do not tell whether it is integrable."
        )


def _has_position(rows: ConstraintSet) -> Sequence[bool]:
    return rows.is_position.tolist()  # type: ignore[no-any-return]


def _identifiers(names: Sequence[str]) -> list[str]:
    """Names of coordinates as words of a formula."""
    words = ["".join(c if c.isalnum() else "_" for c in name) for name in names]
    return [f"{word}_" if word == "t" or words.count(word) > 1 else word for word in words]


def allowed_fields(forms: Forms, point: np.ndarray) -> list[np.ndarray]:
    """Fields (nq + 1,) of z that span what the forms allow near a point, in symbols.

    The forms are eliminated by Gauss and Jordan, with the pivots of the point.
    """
    rows = forms.a.copy()
    dependent: dict[int, int] = {}
    for _ in range(len(rows)):
        values = np.abs(forms.at(rows, point[None])[0])
        values[list(dependent.values()), :] = 0.0
        values[:, -1] = 0.0  # time passes by itself
        r, c = map(int, np.unravel_index(int(np.argmax(values)), values.shape))
        if values[r, c] < 1e-9:
            break
        rows[r] = rows[r] / rows[r, c]
        for k in range(len(rows)):
            if k != r:
                rows[k] = rows[k] - rows[r] * rows[k, c]
        dependent[c] = r
    fields = []
    for free in range(rows.shape[1]):
        if free in dependent:
            continue
        direction = np.array([0.0] * rows.shape[1], dtype=object)
        direction[free] = 1.0
        for c, r in dependent.items():
            direction[c] = -rows[r, free]
        fields.append(forms.moved @ direction)
    return fields


def bracket(X: np.ndarray, Y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """[X, Y] = dY/dz X - dX/dz Y."""
    return np.asarray(jacobian(Y, z) @ X - jacobian(X, z) @ Y)


class Span:
    """Directions at some points that fields span, with one field after the other."""

    def __init__(self, forms: Forms, points: np.ndarray):
        self.forms, self.points = forms, points
        self.fields: list[np.ndarray] = []
        self._values = np.zeros((len(points), 0, len(forms.z)))

    @property
    def dimension(self) -> int:
        """Greatest rank at the points."""
        return max(map(self._rank, self._values))

    def add(self, field: np.ndarray) -> bool:
        """Add a field if it leads out of the span."""
        values = self.forms.at(field, self.points)[:, None]
        more = np.concatenate([self._values, values], axis=1)
        if max(map(self._rank, more)) == self.dimension:
            return False
        self.fields.append(field)
        self._values = more
        return True

    def _rank(self, values: np.ndarray) -> int:
        largest = np.abs(values).max(initial=0.0)
        return int(np.linalg.matrix_rank(values, tol=RANK * largest)) if len(values) else 0


def closure(
    forms: Forms, fields: list[np.ndarray], points: np.ndarray
) -> tuple[list[np.ndarray], list[int], bool]:
    """Fields with the brackets that lead out of them, dimensions by order, and whether all were
    formed.
    """
    span = Span(forms, points)
    for field in fields:
        span.add(field)
    growth = [span.dimension]
    latest = list(fields)
    while latest:
        added = []
        for k, X in enumerate(fields):
            for Y in latest if len(growth) > 1 else latest[k + 1 :]:
                if span.dimension == len(forms.z):
                    break
                Z = bracket(X, Y, forms.z)
                if sum(count_operations(list(Z)).values()) > LONGEST:
                    return span.fields, growth, False
                if span.add(Z):
                    added.append(Z)
        latest = added
        if added:
            growth.append(span.dimension)
    return span.fields, growth, True


def is_closed_form(forms: Forms, row: np.ndarray, points: np.ndarray) -> bool:
    """Whether w ^ dw = 0 for a form w of coordinates and time."""
    w = forms.at(row, points)
    slopes = forms.at(jacobian(row, forms.z), points)
    dw = np.swapaxes(slopes, 1, 2) - slopes  # (i, j): dw_j/dz_i - dw_i/dz_j
    cyclic = np.einsum("ni,njk->nijk", w, dw)
    cyclic = cyclic + np.einsum("nijk->njki", cyclic) + np.einsum("nijk->nkij", cyclic)
    largest = np.abs(w).max()
    change = max(np.abs(dw).max(), largest)
    return bool(np.abs(cyclic).max() <= CLOSED * largest * change)


def integrability(mechanism: Any) -> Integrability:
    """Constraints on velocities that are constraints of positions in disguise, and their integrals.

    Rows psi = a(q, t) . qd + b(q, t) are integrable where the motions that they allow, and their
    brackets (Frobenius), stay in a surface. Its equation is sought in closed form for each row:
    powers of the row's own factors as an integrating factor, then sums of products of coordinates,
    their sines and cosines, and logarithms.

    Parameters
    ----------
    mechanism : Mechanism, LagrangianSystem or System
        With numbers for its symbols.

    Returns
    -------
    Integrability
        Number of nonholonomic rows, growth of the brackets' span, and of each row whether it is
        integrable, alone or with the others, and its integral.

    Raises
    ------
    DalembertError
        There are no constraints on velocities; a row is not linear in the velocities.
    ConstraintError
        The constraints cannot be met.

    References
    ----------
    Neimark, Fufaev, Dynamics of Nonholonomic Systems (1972), chapter I; Murray, Li, Sastry, A
    Mathematical Introduction to Robotic Manipulation (1994), section 7.2 (growth vector).

    Examples
    --------
    >>> import dalembert as da
    >>> wheel = da.constraints.Velocity("wheel", lambda q, qd, t: [qd[0] - 0.5 * qd[1]])
    >>> print(da.integrability(da.planar_chain(2).constrained(wheel)))
    planar chain: 0 nonholonomic rows, 1 integrals; growth (1), degree of nonholonomy 1
      wheel: holonomic, q1 - 0.5*q2 is constant
    """
    system = numeric_system(mechanism, "has no constraints")
    if not system.constraints:
        raise DalembertError(f"{system.name!r} has no constraints on velocities alone.")
    states = consistent_states(system)
    rates = np.linspace(0.5, 1.5, system.nv)
    check_linear(ConstraintSet(system), states[0][0], rates)
    points = np.array([[*q, 0.0] for q, _ in states])
    if _depends_on_time(system):
        points[:, -1] = np.linspace(0.3, 0.9, len(points))
    with Graph():
        return _of_forms(Forms(system), system, points)


def _of_forms(forms: Forms, system: Any, points: np.ndarray) -> Integrability:
    """Integrability of forms at points that meet the constraints."""
    if all(forms.of_positions):
        raise DalembertError(f"{system.name!r} has no constraints on velocities alone.")
    fields = allowed_fields(forms, points[0])
    ambient = system.nv
    has_time = _has_time(forms)
    if has_time:
        ambient += 1
    else:
        fields = fields[:-1]  # time by itself
    found, growth, is_whole = closure(forms, fields, points)
    integrals = ambient - growth[-1]
    independent = ambient - growth[0]
    rows = []
    for k, has_position in enumerate(forms.of_positions):
        if not has_position:
            rows.append(_row(forms, k, found, points, system))
    shown = [x - 1 for x in growth] if has_time else growth
    return Integrability(
        name=system.name,
        rows=tuple(rows),
        growth=tuple(shown),
        nonholonomic=independent - integrals,
        integrals=integrals - _rank_of_positions(forms, points[0]),
        is_whole=is_whole,
    )


def _rank_of_positions(forms: Forms, point: np.ndarray) -> int:
    """Number of independent rows that have a position."""
    rows = forms.a[forms.of_positions]
    if not len(rows):
        return 0
    values = forms.at(rows, point[None])[0]
    return int(np.linalg.matrix_rank(values))


def _depends_on_time(system: Any) -> bool:
    with Graph():
        return _has_time(Forms(system))


def _has_time(forms: Forms) -> bool:
    """Whether rows hold the time, or terms without velocities."""
    moving = any(s.name == "t" for s in free_symbols(list(forms.a.flat)))
    return moving or not all(known_zero(x) for x in forms.a[:, -1])


def _row(
    forms: Forms, k: int, fields: Sequence[np.ndarray], points: np.ndarray, system: Any
) -> RowIntegrability:
    """Integrability of one row."""
    row = forms.a[k]
    across = forms.at(np.array(fields), points)  # (N, fields, nq + 1)
    is_plain = system.nq == system.nv and not system.quaternions
    together = alone = False
    integral = None
    if is_plain:
        w = forms.at(row, points)
        off = np.einsum("nfi,ni->nf", across, w)
        largest = np.abs(w).max()
        reach = np.abs(across).max()
        together = bool(np.abs(off).max() <= 1e-7 * largest * reach)
        rng = np.random.default_rng(1)
        anywhere = rng.uniform(0.2, 1.3, (POINTS, len(forms.z)))
        alone = is_closed_form(forms, row, anywhere)
        integral = exact_integral(forms.names, forms.z, row) if alone else None
    return RowIntegrability(forms.labels[k], alone, together or alone, integral)
