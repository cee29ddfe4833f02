"""Consistent states: loops closed from what is held, branches of an assembly, and projection."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.analysis.elimination import dependent_columns, independent_rows, metric_root
from dalembert.analysis.minimal_form import entries_of
from dalembert.analysis.states import checked_state, numeric_system, search_start
from dalembert.errors import ConstraintError, DalembertWarning, caller_level
from dalembert.native.function import function
from dalembert.spatial.arrays import Array
from dalembert.systems.constraint_set import ConstraintSet

MOST = 200  # steps from one start
CLOSED = 1e-12  # residual relative to the rows' reach: steps go on to rounding
STALLED, STALLS = 0.9, 8  # share of the residual that a step leaves; such steps in a row end it
STUCK = 1e-14  # step, relative to the coordinates, that changes nothing any more
STARTS = 24  # random ones, where the given start leads nowhere, and for branches
SAME = 1e-6  # steps between two assemblies that are one [rad, m]
LARGE = 1.0  # correction [rad, m] that is said aloud


@dataclass(frozen=True)
class Branch:
    """A way in which loops close.

    q : (nq,) array [rad, m]
    correction : (nv,) array, step from the start to it [rad, m]
    residual : largest entry of phi that is left
    beyond : names of coordinates outside their joints' limits

    Examples
    --------
    >>> import dalembert as da
    >>> pin = da.constraints.Closure("pin", da.Spherical(), "tip", ("base", (1.2, 0, 0)))
    >>> triangle = da.planar_chain(3).constrained(pin)
    >>> da.assemblies(triangle, [0.5, -0.2, -2.5])[0].beyond
    ()
    """

    q: Array
    correction: Array
    residual: float
    beyond: tuple[str, ...]


@dataclass(frozen=True)
class Assemblies:
    """Branches of an assembly, the nearest to the start first; prints as a table.

    name : of the mechanism
    held : names of the coordinates that all branches share
    freedoms : those left to the mechanism with its `fixed` joints held
    branches : tuple of Branch
    coordinates : names of the entries of q

    Examples
    --------
    >>> import dalembert as da
    >>> pin = da.constraints.Closure("pin", da.Spherical(), "tip", ("base", (1.2, 0, 0)))
    >>> triangle = da.planar_chain(3).constrained(pin)
    >>> len(da.assemblies(triangle, [0.5, -0.2, -2.5], fixed=["q1"]))
    2
    """

    name: str
    held: tuple[str, ...]
    freedoms: int
    branches: tuple[Branch, ...]
    coordinates: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.branches)

    def __getitem__(self, k: int) -> Branch:
        return self.branches[k]

    def __iter__(self) -> Iterator[Branch]:
        return iter(self.branches)

    def __str__(self) -> str:
        held = f" with {', '.join(self.held)} held" if self.held else ""
        lines = [f"{self.name}: {len(self)} branches{held}; da.assemble keeps the first."]
        width = max(10, *map(len, self.coordinates)) + 1
        lines.append("branch" + "".join(f"{name:>{width}}" for name in self.coordinates))
        for k, branch in enumerate(self.branches):
            text = f"{k:6d}" + "".join(f"{x:{width}.4f}" for x in branch.q)
            beyond = f"  beyond limits: {', '.join(branch.beyond)}" if branch.beyond else ""
            lines.append(text + beyond)
        return "\n".join(lines)


class Closing:
    """Newton's steps of least size in the metric of M, damped, that close the loops of a system."""

    def __init__(self, system: Any, held: Sequence[int] = (), t: float = 0.0):
        self.system, self.t = system, t
        self.rows = ConstraintSet(system)
        self.held = list(held)
        self.moving = [k for k in range(system.nv) if k not in set(held)]
        self.rest = np.zeros(system.nv)
        self._position: Callable[..., Any] = self.rows.position
        self._slopes: Callable[..., Any] = self._rows_of_positions
        if any(constraint.has_functions for constraint in self.rows.holonomic):
            # derivatives of functions are those of expressions, which are traced once
            self._position = function(self._position, q=(system.nq,), t=())
            self._slopes = function(self._slopes, q=(system.nq,), t=())

    def residual(self, q: np.ndarray) -> np.ndarray:
        """phi (k,) of the holonomic rows."""
        return np.asarray(self._position(q, self.t), dtype=float)

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """J (k, nv) of the holonomic rows."""
        return np.asarray(self._slopes(q, self.t), dtype=float)

    def _rows_of_positions(self, q: Any, t: Any) -> np.ndarray:
        """J of floats or expressions."""
        if not self.rows.holonomic:
            return np.zeros((0, self.system.nv))
        return self.rows.position_rates(q, self.rest, t).jacobian  # type: ignore[no-any-return]

    def metric(self, q: np.ndarray) -> np.ndarray:
        """W (m, m) with W W^T = M^-1 of the entries that may move."""
        M = np.asarray(self.system.mass_matrix(q, self.t), dtype=float)
        return metric_root(M[np.ix_(self.moving, self.moving)])

    def closed(self, q: np.ndarray) -> tuple[np.ndarray, bool]:
        """q with all closures met, or as nearly as it gets; and whether they are."""
        W = self.metric(q)
        phi = self.residual(q)
        damping = 0.0
        stalls = 0
        for _ in range(MOST):
            J = self.jacobian(q)[:, self.moving]
            step = W @ _damped(J @ W, -phi, damping)
            tried = self._moved(q, step)
            after = self.residual(tried)
            before, now = np.linalg.norm(phi), np.linalg.norm(after)
            if now < before:
                stalls = stalls + 1 if now > STALLED * before else 0
                q, phi = tried, after
                damping = damping / 10 if damping > 1e-12 else 0.0
            else:
                damping = max(10 * damping, 1e-6)
            if self._is_met(phi, J) and now >= before or stalls == STALLS or damping > 1e12:
                break
        return q, self._is_met(phi, self.jacobian(q))

    def _moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """q moved by a step of the entries that may move."""
        whole = self.rest.copy()
        whole[self.moving] = step
        return np.asarray(self.system.normalize(self.system.integrate(q, whole)))

    def _is_met(self, phi: np.ndarray, J: np.ndarray) -> bool:
        reach = 1.0 + np.abs(J).sum(axis=1) if len(J) else 1.0
        return bool((np.abs(phi) <= CLOSED * reach).all())


def _damped(J: np.ndarray, right: np.ndarray, damping: float) -> np.ndarray:
    """Least x with J x = right, or with damping of all, as Levenberg's."""
    U, values, Vt = np.linalg.svd(J, full_matrices=False)
    largest = values.max(initial=0.0)
    kept = values > 1e-10 * largest
    factor = np.zeros_like(values)
    squares = values[kept] ** 2
    factor[kept] = values[kept] / (squares + damping * largest**2)
    along = factor * (U.T @ right)
    return Vt.T @ along  # type: ignore[no-any-return]


def random_coordinates(system: Any, rng: np.random.Generator) -> np.ndarray:
    """Random q (nq,): within limits where joints have them, angles in (-pi, pi), else from -1 to 1."""
    if system.mechanism is None:
        return system.neutral() + rng.uniform(-np.pi, np.pi, system.nq)  # type: ignore[no-any-return]
    q, _ = system.mechanism.random_state(rng)
    for joint in system.mechanism.independent_joints:
        at = system.mechanism.entries[joint.name].at_q
        lower, upper = _range(joint)
        if joint.type.nq == 1 and np.isfinite([lower, upper]).all():
            q[at] = rng.uniform(lower, upper)
    return np.asarray(q)


def _range(joint: Any) -> tuple[float, float]:
    """Limits of a joint, infinite where it has none."""
    lower, upper = joint.limits.lower, joint.limits.upper
    return (
        -np.inf if lower is None else float(np.ravel(lower)[0]),
        np.inf if upper is None else float(np.ravel(upper)[0]),
    )


def beyond_limits(system: Any, q: np.ndarray) -> tuple[str, ...]:
    """Names of joints outside their limits."""
    if system.mechanism is None:
        return ()
    names = []
    for joint in system.mechanism.independent_joints:
        lower, upper = _range(joint)
        x = q[system.mechanism.entries[joint.name].at_q]
        if joint.type.nq > 1:
            continue
        is_below = x[0] < lower - 1e-9
        is_above = x[0] > upper + 1e-9
        if is_below or is_above:
            names.append(joint.name)
    return tuple(names)


def with_held(system: Any, q: np.ndarray, start: np.ndarray, held: Sequence[int]) -> np.ndarray:
    """q whose held entries of qd stand as in a start."""
    step = np.zeros(system.nv)
    step[list(held)] = np.asarray(system.difference(start, q))[list(held)]
    return np.asarray(system.integrate(q, step))


def assemblies(
    mechanism: Any, q: Any = None, fixed: Sequence[str] = (), t: float = 0.0
) -> Assemblies:
    """Ways in which the loops of a mechanism close, from a start and from random ones.

    Where the loops leave freedoms, independent coordinates are held as in the first branch, so that
    the others are its alternatives: the elbow up and the elbow down.

    Parameters
    ----------
    mechanism : Mechanism, LagrangianSystem or System
    q : (nq,) array or {name: value}, optional
        Where the search begins [rad; m for prismatic joints; unit quaternions]; entries that are not
        named, by default all, are neutral.
    fixed : sequence of str
        Names of joints, or of entries of qd, that keep their values in q.
    t : float
        Time [s].

    Returns
    -------
    Assemblies
        Branches (nq,) with their corrections (nv,), the one that `assemble` keeps first, the others
        by their distance in the metric of M. A search from random starts may miss some.

    Raises
    ------
    ConstraintError
        No start leads to closed loops; the message has the gap that is left.
    ShapeError, ValueError, QuaternionError, UnknownNameError
        q is no configuration; a name of `fixed` is unknown.

    Examples
    --------
    >>> import dalembert as da
    >>> pin = da.constraints.Closure("pin", da.Spherical(), "tip", ("base", (1.2, 0, 0)))
    >>> triangle = da.planar_chain(3).constrained(pin)
    >>> print(da.assemblies(triangle, [0.5, -0.2, -2.5], fixed=["q1"]))
    planar chain: 2 branches with q1 held; da.assemble keeps the first.
    branch         q1         q2         q3
         0     0.5000    -0.2010    -2.5555
         1     0.5000    -2.7565     2.5555
    """
    system = numeric_system(mechanism, "has no loops")
    start = checked_state(system, search_start(system, q))[0]
    held = entries_of(system, fixed)
    rng = np.random.default_rng(0)
    first = first_branch(system, start, held, t, rng)
    closing = Closing(system, held, t)
    J = closing.jacobian(first)[:, closing.moving]
    M = np.asarray(system.mass_matrix(first, t), dtype=float)
    inertias = np.maximum(np.diag(M), 1e-12)
    scale = np.sqrt(inertias)
    elastic = np.flatnonzero(np.isin(closing.moving, elastic_entries(system)))
    free = _free_columns(J, scale[closing.moving], elastic)
    all_held = [*held, *(closing.moving[k] for k in free)]
    found = [first]
    alternative = Closing(system, all_held, t)
    for _ in range(STARTS if len(all_held) < system.nv else 0):
        anywhere = random_coordinates(system, rng)
        begun = with_held(system, anywhere, first, all_held)
        branch, is_closed = alternative.closed(begun)
        if is_closed and all(_apart(system, branch, other) for other in found):
            found.append(branch)
    found[1:] = sorted(found[1:], key=lambda branch: _distance(system, branch, start, M))
    branches = tuple(_branch(closing, branch, start) for branch in found)
    names = tuple(system.velocity_names[k] for k in all_held)
    return Assemblies(system.name, names, len(free), branches, tuple(system.coordinate_names))


def _free_columns(J: np.ndarray, scale: np.ndarray, wanted: np.ndarray) -> list[int]:
    """Columns of J that its rows leave independent, wanted ones where they can be."""
    rows = independent_rows(J)
    dependent = dependent_columns(J[rows], scale, [*wanted]) if rows else []
    return [k for k in range(J.shape[1]) if k not in dependent]


def _apart(system: Any, q: np.ndarray, other: np.ndarray) -> bool:
    """Whether two configurations differ, whole turns aside."""
    step = np.asarray(system.difference(q, other), dtype=float)
    is_angle = np.array([unit.startswith("rad") for unit in system.velocity_units])
    turned = step[is_angle] + np.pi
    step[is_angle] = turned % (2 * np.pi) - np.pi
    return bool(np.abs(step).max(initial=0.0) > SAME)


def _distance(system: Any, q: np.ndarray, start: np.ndarray, M: np.ndarray) -> float:
    step = np.asarray(system.difference(q, start), dtype=float)
    return float(step @ M @ step)


def _branch(closing: Closing, q: np.ndarray, start: np.ndarray) -> Branch:
    system = closing.system
    correction = np.asarray(system.difference(q, start), dtype=float)
    residual = float(np.abs(closing.residual(q)).max(initial=0.0))
    return Branch(q, correction, residual, beyond_limits(system, q))


def first_branch(
    system: Any, start: np.ndarray, held: list[int], t: float, rng: np.random.Generator
) -> np.ndarray:
    """The branch near a start, or of the random start that ends nearest; within limits if there is
    one. Elastic bodies keep their shapes where joints can close the loops.
    """
    if shapes := [k for k in elastic_entries(system) if k not in held]:
        try:
            return _first_branch(system, start, [*held, *shapes], t, rng)
        except ConstraintError:
            pass  # the links bend
    return _first_branch(system, start, held, t, rng)


def elastic_entries(system: Any) -> list[int]:
    """Entries of qd of elastic bodies."""
    entries = getattr(system.mechanism, "body_entries", {})
    return [k for entry in entries.values() for k in entry.at_v]


def _first_branch(
    system: Any, start: np.ndarray, held: list[int], t: float, rng: np.random.Generator
) -> np.ndarray:
    """The branch near a start, or of the random start that ends nearest."""
    closing = Closing(system, held, t)
    near, is_closed = closing.closed(start)
    if is_closed and not beyond_limits(system, near):
        return near
    found = [near] if is_closed else []
    nearest_gap = near
    for _ in range(STARTS):
        anywhere = random_coordinates(system, rng)
        q = with_held(system, anywhere, start, held)
        q, is_closed = closing.closed(q)
        if is_closed:
            found.append(q)
        elif np.linalg.norm(closing.residual(q)) < np.linalg.norm(closing.residual(nearest_gap)):
            nearest_gap = q
    if not found:
        raise _unclosed(closing, nearest_gap)
    M = np.asarray(system.mass_matrix(start, t), dtype=float)

    def rank(q: np.ndarray) -> tuple[int, float]:
        """Joints beyond their limits, then the distance from the start."""
        beyond = len(beyond_limits(system, q))
        return beyond, _distance(system, q, start, M)

    return min(found, key=rank)


def _unclosed(closing: Closing, q: np.ndarray) -> ConstraintError:
    """The error of loops that do not close, with the gap that is left."""
    system, rows = closing.system, closing.rows
    phi = closing.residual(q)
    worst = int(np.argmax(np.abs(phi)))
    label = rows.position_labels[worst]
    unit = _unit_of_row(rows, label)
    J = closing.jacobian(q)
    rank = len(independent_rows(J))
    message = (
        f"{label!r} of {system.name!r} stays {abs(phi[worst]):.3g}{' ' * bool(unit)}{unit} open: no "
        f"configuration was found that closes all loops, from the start and from {STARTS} others"
    )
    if closing.held:
        names = ", ".join(system.velocity_names[k] for k in closing.held)
        message += (
            f", with {names} held. {len(closing.moving)} entries of qd may move, for rows of the "
            f"rank {rank}"
        )
        over = len(closing.moving) < rank
        message += ": more is fixed than the loops leave free." if over else "."
    else:
        message += ". Do its lengths reach?"
    return ConstraintError(message, label, rank)


def _unit_of_row(rows: ConstraintSet, label: str) -> str:
    """Unit of a row that has a position, by its name."""
    name, _, index = label.removesuffix("]").partition("[")
    for constraint in rows.holonomic:
        if constraint.name in (label, name):
            units = constraint.unit.split(", ")
            k = int(index) if index and constraint.name == name else 0
            return units[min(k, len(units) - 1)]
    return ""


def assemble(mechanism: Any, q: Any = None, fixed: Sequence[str] = (), t: float = 0.0) -> Array:
    """Configuration with all closures met, near a given one.

    Newton's steps phi + J dq = 0 of least size in the metric of M lead from q to it; where these
    do not arrive, or arrive beyond limits of joints, random starts follow, and the nearest
    configuration is taken. `assemblies` lists the other branches. Elastic bodies keep their shapes
    where joints can close the loops.

    Parameters
    ----------
    mechanism : Mechanism, LagrangianSystem or System
    q : (nq,) array or {name: value}, optional
        Where the search begins [rad; m for prismatic joints; unit quaternions]; entries that are not
        named, by default all, are neutral.
    fixed : sequence of str
        Names of joints, or of entries of qd, that keep their values in q.
    t : float
        Time [s].

    Returns
    -------
    (nq,) array
        [rad, m]

    Raises
    ------
    ConstraintError
        No start leads to closed loops; the message has the gap that is left.
    ShapeError, ValueError, QuaternionError, UnknownNameError
        q is no configuration; a name of `fixed` is unknown.

    Warns
    -----
    DalembertWarning
        An entry moved by more than 1 rad or 1 m; a joint is beyond its limits.

    Examples
    --------
    >>> import dalembert as da
    >>> pin = da.constraints.Closure("pin", da.Spherical(), "tip", ("base", (1.2, 0, 0)))
    >>> triangle = da.planar_chain(3).constrained(pin)
    >>> q = da.assemble(triangle, [0.5, -0.2, -2.5], fixed=["q1"])
    >>> q.round(4)
    array([ 0.5   , -0.201 , -2.5555])
    """
    system = numeric_system(mechanism, "has no loops")
    start = checked_state(system, search_start(system, q))[0]
    found = first_branch(system, start, entries_of(system, fixed), t, np.random.default_rng(0))
    _say_correction(system, start, found)
    if beyond := beyond_limits(system, found):
        _warn(f"{system.name!r} closes only with {', '.join(beyond)} beyond the limits.")
    return found


def _say_correction(system: Any, start: np.ndarray, found: np.ndarray) -> None:
    """Warn of a configuration far from its start."""
    step = np.asarray(system.difference(found, start), dtype=float)
    k = int(np.argmax(np.abs(step))) if len(step) else 0
    if len(step) and abs(step[k]) > LARGE:
        unit = system.velocity_units[k].removesuffix("/s")
        _warn(
            f"{system.name!r} closes far from the start: {system.velocity_names[k]} moved by "
            f"{step[k]:.3g} {unit}. da.assemblies lists the branches."
        )


def _warn(message: str) -> None:
    warnings.warn(message, DalembertWarning, stacklevel=caller_level())


def project(mechanism: Any, q: Any, qd: Any, t: float = 0.0) -> tuple[Array, Array]:
    """State that meets the constraints near a given one: positions first, then velocities, each moved
    by the least steps in the metric of M.

    Redundant rows do no harm. Elastic bodies keep their shapes where joints can close the loops.

    Parameters
    ----------
    mechanism : Mechanism, LagrangianSystem or System
    q : (nq,) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) array
        Velocities [rad/s, m/s].
    t : float
        Time [s].

    Returns
    -------
    q : (nq,) array
        [rad, m]
    qd : (nv,) array
        [rad/s, m/s]

    Raises
    ------
    ConstraintError
        There is no such state near by; the message has the residual that is left.
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    Warns
    -----
    DalembertWarning
        A coordinate moved by more than 1 rad or 1 m.

    Examples
    --------
    >>> import dalembert as da
    >>> pin = da.constraints.Closure("pin", da.Spherical(), "tip", ("base", (1.2, 0, 0)))
    >>> triangle = da.planar_chain(3).constrained(pin)
    >>> q, qd = da.project(triangle, [0.5, -0.2, -2.5], [1.0, 0.0, 0.0])
    >>> q.shape, qd.shape
    ((3,), (3,))
    """
    system = numeric_system(mechanism, "has no constraints")
    start, qd = checked_state(system, q, qd)
    closing = Closing(system, (), t)
    found, is_closed = Closing(system, elastic_entries(system), t).closed(start)
    if not is_closed:
        found, is_closed = closing.closed(start)
    if not is_closed:
        raise _unclosed(closing, found)
    _say_correction(system, start, found)
    return found, consistent_velocities(closing, found, qd)


def consistent_velocities(closing: Closing, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Velocities (nv,) nearest to others in the metric of M that meet all rows, held entries being
    what they are.

    Raises
    ------
    ConstraintError
        Rows contradict each other.
    """
    rows, t = closing.rows, closing.t
    if not rows.constraints:
        return qd
    W = closing.metric(q)
    for _ in range(MOST):
        found = rows.rates(q, qd, t)
        step = np.zeros(len(qd))
        J = found.jacobian[:, closing.moving]
        step[closing.moving] = W @ _damped(J @ W, -found.velocity, 0.0)
        qd = qd + step
        if np.abs(step).max(initial=0.0) <= STUCK * (1.0 + np.abs(qd).max(initial=0.0)):
            break
    left = rows.rates(q, qd, t).velocity
    worst = int(np.argmax(np.abs(left)))
    reach = np.abs(found.jacobian[worst]) @ np.abs(qd)
    if abs(left[worst]) > 1e-9 * (1.0 + reach):
        raise ConstraintError(
            f"the rate of {rows.labels[worst]!r} of {closing.system.name!r} stays {left[worst]:.3g}, "
            "expected 0: no velocities meet all rows at this configuration, where some contradict "
            "others.",
            rows.labels[worst],
        )
    return qd
