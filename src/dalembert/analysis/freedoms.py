"""Degrees of freedom of systems with constraints, by the rank of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.analysis.elimination import dependent_rows, metric_root
from dalembert.analysis.loop_closing import (
    Closing,
    consistent_velocities,
    first_branch,
    random_coordinates,
)
from dalembert.analysis.states import checked_state, numeric_system
from dalembert.errors import ConstraintError
from dalembert.model.findings import Finding
from dalembert.model.mechanism import Mechanism
from dalembert.systems.constraint_set import ConstraintSet

AROUND = (0.3, 0.3, 0.03, 0.03)  # sizes of random steps from a configuration [rad, m]
FAR, FEW = 4, 40  # random configurations, of systems of at most so many velocities
SINGULAR = 1e-7  # of a row's own length: what others leave of it at a singular position
FLAT = 1e-6  # of a quadratic form, relative to its largest value: no sign


@dataclass(frozen=True)
class RedundantRow:
    """A row that follows from others.

    row : its name
    others : names of the rows that it follows from; none: it holds nothing that moves

    Examples
    --------
    >>> import dalembert as da
    >>> twice = [da.constraints.Holonomic(name, lambda q, t: [q[0] - q[1]]) for name in ("one", "two")]
    >>> da.degrees_of_freedom(da.planar_chain(2).constrained(*twice)).redundant[0].others
    ('one',)
    """

    row: str
    others: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.row} follows from {', '.join(self.others)}"
            if self.others
            else (f"{self.row} holds nothing that moves")
        )


@dataclass(frozen=True)
class Freedoms:
    """Degrees of freedom of a system; it prints as a list, and int(...) is `dof`.

    name : of the system
    velocities : nv
    rows : names of the rows of constraints
    rank : of the rows at random states that meet them
    dof : freedoms of the velocities, nv - rank
    configuration_dof : freedoms of the coordinates; more than `dof` by the velocity rows
    gruebler : nv less the number of rows, which redundant ones falsify
    redundant : rows that follow from others at every state
    ranks : those found, at random states; several: the rank changes from branch to branch
    rank_here : at the configuration that was given, else None
    lost : rows that follow from others at that configuration alone
    not_unique : rows whose multipliers are not unique, there or at random states: those that follow
        from others, and the others
    position : words about it: 'regular', or singular with what passes through it; empty without one

    Examples
    --------
    >>> import dalembert as da
    >>> pin = da.constraints.Closure("pin", da.Spherical(), "tip", ("base", (1.2, 0, 0)))
    >>> freedoms = da.degrees_of_freedom(da.planar_chain(3).constrained(pin))
    >>> int(freedoms), freedoms.gruebler
    (1, 0)
    """

    name: str
    velocities: int
    rows: tuple[str, ...]
    rank: int
    dof: int
    configuration_dof: int
    redundant: tuple[RedundantRow, ...]
    ranks: tuple[int, ...]
    rank_here: int | None = None
    lost: tuple[RedundantRow, ...] = ()
    position: str = ""
    not_unique: tuple[str, ...] = ()

    @property
    def gruebler(self) -> int:
        """Count of nv less rows."""
        return self.velocities - len(self.rows)

    def __int__(self) -> int:
        return self.dof

    def __str__(self) -> str:
        rows, velocities = len(self.rows), self.velocities
        lines = [
            f"{self.name}: {self.dof} degree{'s' * (self.dof != 1)} of freedom",
            f"  {velocities} velocit{'ies' if velocities != 1 else 'y'}, "
            f"{rows} row{'s' * (rows != 1)} of rank {self.rank} "
            f"(Gruebler's count: {self.gruebler})",
        ]
        if self.configuration_dof != self.dof:
            lines.append(f"  {self.configuration_dof} freedoms of the configuration")
        lines += [f"  redundant: {row}" for row in self.redundant]
        if len(self.ranks) > 1:
            lines.append(
                f"  the rank is not the same everywhere: {', '.join(map(str, self.ranks))}"
            )
        if self.position:
            lines.append(f"  here: rank {self.rank_here}, {self.position}")
        lines += [f"  here also redundant: {row}" for row in self.lost]
        if self.not_unique:
            lines.append(f"  multipliers not unique: {', '.join(self.not_unique)}")
        return "\n".join(lines)


class RowsAt:
    """Rows of all constraints at a state, in units in which mass counts 1."""

    def __init__(self, system: Any, q: np.ndarray, qd: np.ndarray, t: float):
        self.set = ConstraintSet(system)
        self.found = self.set.rates(q, qd, t)
        self.J = np.asarray(self.found.jacobian, dtype=float)
        self.W = metric_root(np.asarray(system.mass_matrix(q, t), dtype=float))
        self.scaled = self.J @ self.W

    def redundant(self, within: float) -> list[RedundantRow]:
        """Rows that follow from others."""
        labels = self.set.labels
        return [
            RedundantRow(labels[row], tuple(labels[k] for k in others))
            for row, others in dependent_rows(self.scaled, within)
        ]

    def sharing(self, redundant: Sequence[RedundantRow]) -> tuple[str, ...]:
        """Names, in their order, of rows that follow from others, and of the others."""
        names = {name for row in redundant for name in (row.row, *row.others)}
        return tuple(label for label in self.set.labels if label in names)


def consistent_states(
    system: Any, t: float = 0.0, near: np.ndarray | None = None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Random states that meet all constraints: around a configuration, or else around the one where a
    run begins and far from it.

    Raises
    ------
    ConstraintError
        None was found.
    """
    rng = np.random.default_rng(0)
    closing = Closing(system, (), t)
    starts = [] if near is not None else _far_starts(system, rng)
    base = near
    if base is None:
        base, is_closed = closing.closed(system.neutral())
        if not is_closed:
            base = first_branch(system, system.neutral(), [], t, rng)
    starts += [_moved(closing, base, size, rng) for size in AROUND]
    states = []
    for start in starts:
        q, is_closed = closing.closed(start)
        if is_closed:
            states.append(_at_random_velocities(closing, q, rng))
    return states or [_at_random_velocities(closing, base, rng)]


def _far_starts(system: Any, rng: np.random.Generator) -> list[np.ndarray]:
    """Random configurations; none of a system of many coordinates, where these hardly ever close."""
    count = FAR if system.nv <= FEW else 0
    return [random_coordinates(system, rng) for _ in range(count)]


def _moved(closing: Closing, q: np.ndarray, size: float, rng: np.random.Generator) -> np.ndarray:
    """A configuration moved by a random step that the rows allow to first order [rad, m]."""
    N = null_space_within(closing.jacobian(q))
    step = N @ rng.standard_normal(N.shape[1])
    largest = np.abs(step).max(initial=0.0)
    if largest:
        step = size / largest * step
    return np.asarray(closing.system.normalize(closing.system.integrate(q, step)))


def _at_random_velocities(
    closing: Closing, q: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The state with velocities that meet the constraints."""
    return q, consistent_velocities(closing, q, rng.standard_normal(closing.system.nv))


def degrees_of_freedom(mechanism: Any, q: Any = None, t: float = 0.0) -> Freedoms:
    """Degrees of freedom by the rank of the constraints, at random states that meet them and at a given
    configuration.

    States are taken around q, on its branch, or else around the one where a run begins and at random.
    Rows that follow from others at all of them are redundant; where the rank at q is less than
    around it, the position is singular, and the second derivatives of the rows along the
    motions that are free there say whether several motions pass through it (a bifurcation) or none.

    Parameters
    ----------
    mechanism : Mechanism, LagrangianSystem or System
    q : (nq,) array, optional
        A configuration that meets the constraints [rad; m for prismatic joints; unit quaternions].
    t : float
        Time [s].

    Returns
    -------
    Freedoms
        Numbers of freedoms (int), ranks, names of redundant rows, and words about q.

    Raises
    ------
    ConstraintError
        The constraints cannot be met, or q does not meet them; the message has the gap.
    ShapeError, ValueError, QuaternionError
        q is no configuration.

    References
    ----------
    Wojtyra, Joint reactions in rigid body mechanisms with dependent constraints (2009); Mueller,
    Higher-order analysis of kinematic singularities (2019), for the tangent cone.

    Examples
    --------
    >>> import dalembert as da
    >>> pin = da.constraints.Closure("pin", da.Spherical(), "tip", ("base", (1.2, 0, 0)))
    >>> print(da.degrees_of_freedom(da.planar_chain(3).constrained(pin)))
    planar chain: 1 degree of freedom
      3 velocities, 3 rows of rank 2 (Gruebler's count: 0)
      redundant: pin[1] holds nothing that moves
      multipliers not unique: pin[1]
    """
    system = numeric_system(mechanism, "has no degrees of freedom")
    if not system.constraints:
        return Freedoms(system.name, system.nv, (), 0, system.nv, system.nv, (), (0,))
    near = None if q is None else _checked_position(system, q, t)
    states = consistent_states(system, t, near)
    found = [(RowsAt(system, *state, t), state) for state in states]
    redundant = [rows.redundant(1e-9) for rows, _ in found]
    best = min(range(len(found)), key=lambda k: len(redundant[k]))
    rows, state = found[best]
    always = {row.row for row in redundant[best]}
    count = len(rows.J)
    rank = count - len(redundant[best])
    freedoms = {
        "name": system.name,
        "velocities": system.nv,
        "rows": rows.set.labels,
        "rank": rank,
        "dof": system.nv - rank,
        "configuration_dof": system.nv - _holonomic_rank(rows.set, state, t),
        "redundant": tuple(redundant[best]),
        "ranks": tuple(sorted({count - len(rows) for rows in redundant})),
        "not_unique": rows.sharing(redundant[best]),
    }
    if near is not None:
        freedoms |= _position(system, near, t, rank, always)
    return Freedoms(**freedoms)  # type: ignore[arg-type]


def _holonomic_rank(rows: ConstraintSet, state: Any, t: float) -> int:
    """Rank of the rows of holonomic constraints."""
    if not rows.holonomic:
        return 0
    q, qd = state
    J = rows.position_rates(q, qd, t).jacobian
    return len(J) - len(dependent_rows(np.asarray(J, dtype=float)))


def _checked_position(system: Any, given: Any, t: float) -> np.ndarray:
    """A configuration that meets the constraints."""
    q, rest = checked_state(system, given)
    rows = RowsAt(system, q, rest, t)
    phi = np.asarray(rows.set.position(q, t), dtype=float)
    if not len(phi):
        return q
    reach = np.abs(rows.J).sum(axis=1).max()
    worst = int(np.argmax(np.abs(phi)))
    if abs(phi[worst]) > 1e-6 * (1.0 + reach):
        label = rows.set.position_labels[worst]
        raise ConstraintError(
            f"q of {system.name!r} does not meet {label!r}, which is {phi[worst]:.3g}: begin at "
            "da.assemble(mechanism, q).",
            label,
        )
    return q


def _position(system: Any, q: np.ndarray, t: float, rank: int, always: set[str]) -> dict[str, Any]:
    """Fields of `Freedoms` about a configuration."""
    rest = np.zeros(system.nv)
    rows = RowsAt(system, q, rest, t)
    redundant = rows.redundant(SINGULAR)
    here = len(rows.J) - len(redundant)
    words = "regular" if here >= rank else _through(system, rows, q, t, rank - here)
    lost = tuple(row for row in redundant if row.row not in always) if here < rank else ()
    return {
        "rank_here": here,
        "lost": lost,
        "position": words,
        "not_unique": rows.sharing(redundant),
    }


def _through(system: Any, rows: RowsAt, q: np.ndarray, t: float, lost: int) -> str:
    """Words about the motions through a singular position, by the tangent cone of second order.

    w^T (d/dt J) v = 0 for each w with w^T J = 0 and v with J v = 0
    """
    N = rows.W @ null_space_within(rows.scaled)
    left = null_space_within(rows.scaled.T)
    forms = [_quadratic_form(system, rows.set, q, t, N, w) for w in left.T]
    largest = max((np.abs(form).max(initial=0.0) for form in forms), default=0.0)
    telling = [form for form in forms if largest and np.abs(form).max() > FLAT * largest]
    words = f"singular: {N.shape[1]} velocities are free, {lost} more than elsewhere"
    if len(telling) != 1:
        return f"{words}; terms of second order do not tell which motions pass"
    values = np.linalg.eigvalsh(telling[0])
    positive = (values > FLAT * np.abs(values).max()).any()
    negative = (values < -FLAT * np.abs(values).max()).any()
    regular = (np.abs(values) > FLAT * np.abs(values).max()).all()
    if positive and negative:
        two = "two motions cross" if N.shape[1] == 2 else "motions cross"
        return f"{words}; a bifurcation, where {two}"
    if regular:
        return f"{words}, but none leads away: it is locked, and shakes"
    return f"{words}; terms of second order do not tell which motions pass"


def null_space_within(J: np.ndarray) -> np.ndarray:
    """Null space of rows at a singular position, to `SINGULAR`."""
    _, values, right = np.linalg.svd(J)
    rank = int((values > SINGULAR * values.max(initial=0.0)).sum())
    return right[rank:].T


def _quadratic_form(
    system: Any, rows: ConstraintSet, q: np.ndarray, t: float, N: np.ndarray, w: np.ndarray
) -> np.ndarray:
    """Matrix of w^T (d/dt J) v over v = N z."""

    def value(v: np.ndarray) -> float:
        """The form at one v; terms of time and of rest are taken off."""
        along, back = (-rows.rates(q, s * v, t).bias for s in (1.0, -1.0))
        still = -rows.rates(q, 0 * v, t).bias
        return float(w @ ((along + back) / 2 - still))

    d = N.shape[1]
    form = np.zeros((d, d))
    for i in range(d):
        form[i, i] = value(N[:, i])
    for i in range(d):
        for j in range(i):
            both = value(N[:, i] + N[:, j]) - form[i, i] - form[j, j]
            form[i, j] = form[j, i] = both / 2
    return form


def constraint_findings(mechanism: Mechanism) -> list[Finding]:
    """Findings about the constraints of a mechanism: loops that do not close, rows that are redundant,
    and no freedom left.
    """
    if not mechanism.constraints or mechanism.symbols:
        return []
    sources = {constraint.name: constraint.source for constraint in mechanism.constraints}

    def finding(severity: str, row: str, why: str, fix: str) -> Finding:
        """The finding of a row."""
        name = next((n for n in sources if row == n or row.startswith(f"{n}[")), "")
        what = f"constraint {name!r}" if name else f"mechanism {mechanism.name!r}"
        return Finding(severity, what, why, fix, sources.get(name, mechanism.bodies[0].source))

    try:
        found = degrees_of_freedom(mechanism)
    except ConstraintError as error:
        fix = "Look at its frames and lengths."
        return [finding("error", error.constraint, f"it cannot be met: {error}", fix)]
    findings = [_redundancy(finding, row) for row in found.redundant]
    if not found.dof:
        why = "its constraints leave it no degree of freedom."
        findings.append(finding("warning", "", why, "Is a loop closed twice?"))
    return findings


def _redundancy(finding: Any, row: RedundantRow) -> Finding:
    """The note of a redundant row: its multiplier is not unique."""
    why = f"its row {row}: the motion is the same without it, and its reaction is not unique."
    result: Finding = finding("note", row.row, why, "")
    return result
