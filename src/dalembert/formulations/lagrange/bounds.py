"""Bounds of the mass matrix's eigenvalues over the workspace: certain ones by branch and bound, or
estimates by sampling.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.arguments import check_choice
from dalembert.errors import DalembertError
from dalembert.expr import Expr, Graph, free_symbols, jacobian, symbols, topological
from dalembert.formulations.lagrange.energies import mass_matrix, potential_energy
from dalembert.formulations.lagrange.intervals import Interval, enclosures
from dalembert.model.linkage import is_angular
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float

METHODS = ("branch_and_bound", "sampling")
MAX_WORK = 2e7  # operations times boxes: half a minute for each end; then the gap left is reported
CHUNK = 2048  # boxes treated at once
SAMPLES = 4096  # random configurations that a search starts from
CHAINS = 8  # of them that are improved
ROUNDS = 60  # of local search, each in a range 0.7 of the one before: to 1e-9 of the workspace
# backward error of eigenvalues, and of sums of their matrices, relative to n |D|
ROUNDING = 8 * np.finfo(float).eps


class Range(NamedTuple):
    """A smallest or largest value over the workspace: it is attained at q within [lower, upper].

    With branch and bound both ends are certain; of a sampled minimum (maximum) only that it is at
    most upper (at least lower), and the other end is infinite.

    Examples
    --------
    >>> import dalembert as da
    >>> least, greatest = da.lagrange.potential_bounds(da.planar_chain(1))
    >>> round(greatest.upper, 2)
    4.91
    """

    lower: float
    upper: float
    q: np.ndarray

    def negated(self) -> Range:
        """The range of minus the function.

        Examples
        --------
        >>> import dalembert as da
        >>> import numpy as np
        >>> da.lagrange.Range(1.0, 2.0, np.zeros(1)).negated().upper
        -1.0
        """
        return Range(-self.upper, -self.lower, self.q)


class EigenvalueBounds(NamedTuple):
    """Smallest and largest eigenvalue of D over the workspace, the method, and how many
    configurations and boxes it took.

    Examples
    --------
    >>> import dalembert as da
    >>> da.lagrange.eigenvalue_bounds(da.planar_chain(1)).positive_definite
    True
    """

    smallest: Range
    largest: Range
    method: str
    evaluations: int

    @property
    def positive_definite(self) -> bool | None:
        """True or False where that is certain over the whole workspace, else None."""
        return True if self.smallest.lower > 0 else False if self.smallest.upper <= 0 else None


def eigenvalue_bounds(
    mechanism: Mechanism,
    lower: Any = None,
    upper: Any = None,
    method: str = "branch_and_bound",
    length: float | None = None,
    tolerance: float = 1e-3,
    max_boxes: int | None = None,
    seed: int = 0,
) -> EigenvalueBounds:
    """Bounds 0 < lambda_1 <= D(q) <= lambda_n over the workspace lower <= q <= upper.

    Method 'branch_and_bound' proves them: over a box with centre m and half sides r,

        D(q) = D(m) + sum_i dD_i(m) (q - m)_i + R,    |R_ab| <= 1/2 sum_ij r_i r_j sup |d2D_ab/dq_i dq_j|

    with the supremum by interval arithmetic rounded outward; the smallest eigenvalue of the linear
    part is concave in q, so its least value is at a corner, and R lowers it by its norm at most.
    Boxes that cannot hold a smaller value than the best one known are dropped, others are halved.
    The work grows quickly with the number of coordinates that D depends on: two or three are
    practical; where max_boxes is reached, the wider bounds found until then are returned, which are
    as certain.

    Method 'sampling' estimates them: random configurations, the best ones improved by a shrinking
    local search. A sampled smallest value is never below the true one.

    Parameters
    ----------
    lower, upper : (nv,) arrays, optional
        Workspace [rad, m]; by default the joints' limits, and -pi, pi for angles without limits.
        Spherical and free joints turn anywhere in 'sampling'; in 'branch_and_bound' D must not
        depend on them (as for a floating base).
    length : float, optional
        Unit of length [m] for translations, so that eigenvalues of mixed joints have one unit (kg
        m^2): entries of D that belong to translations are multiplied by it once per index. By
        default 1 m.
    tolerance : float
        Gap to reach, as part of the bound.
    max_boxes : int, optional
        Boxes to look at for each end; by default what takes about half a minute.
    seed : int
        Of the samples.

    Raises
    ------
    UnknownNameError, DalembertError, ValueError
        The method is unknown; a displacement has no limits (eigenvalues then have none either); D
        depends on quaternions.

    Examples
    --------
    >>> import dalembert as da
    >>> bounds = da.lagrange.eigenvalue_bounds(da.planar_chain(2))
    >>> round(bounds.smallest.lower, 2), round(bounds.largest.upper, 2), bounds.positive_definite
    (0.07, 2.93, True)
    """
    check_choice("method", method, METHODS)
    _require_values(mechanism)
    search = _Search(
        mechanism,
        *workspace(mechanism, lower, upper),
        tolerance,
        max_boxes,
        np.random.default_rng(seed),
    )
    velocities = [name for holder in mechanism.holders for name in holder.type.velocities]
    unit = np.array([1.0 if is_angular(name) else length or 1.0 for name in velocities])
    scale = np.outer(unit, unit)

    def eigenvalues(q):
        """Eigenvalues of the mass matrix, scaled as the bounds are."""
        return np.linalg.eigvalsh(scale * mass_matrix(mechanism, q))

    proof = negative = None
    if method != "sampling":
        matrix, symbols = proof = _traced(mechanism, lambda m, q: mass_matrix(m, q) * scale)
        negative = -matrix, symbols
    smallest, first = search.least(lambda q: eigenvalues(q)[..., 0], proof)
    largest, second = search.least(lambda q: -eigenvalues(q)[..., -1], negative)
    return EigenvalueBounds(smallest, largest.negated(), method, first + second)


def potential_bounds(
    mechanism: Mechanism,
    lower: Any = None,
    upper: Any = None,
    tolerance: float = 1e-3,
    max_boxes: int | None = None,
    seed: int = 0,
) -> tuple[Range, Range]:
    """Least and greatest potential energy over the workspace, proved as in `eigenvalue_bounds` (of
    a 1 x 1 matrix).

    The least one is the P_min of the passivity bound (`passivity_balance`).

    Parameters
    ----------
    mechanism : Mechanism
    lower, upper : (nv,) arrays, optional
        Workspace [rad, m]; by default the joints' limits, and -pi, pi for angles without limits.
    tolerance : float
        Gap to reach, as part of the bound.
    max_boxes : int, optional
    seed : int
        Of the random starts.

    Returns
    -------
    least, greatest : Range
        [J].

    Raises
    ------
    UnknownNameError, ValueError, ShapeError
        An option or the workspace makes no sense.

    Examples
    --------
    >>> import dalembert as da
    >>> least, greatest = da.lagrange.potential_bounds(da.planar_chain(1))
    >>> round(least.lower, 2), round(greatest.upper, 2)
    (-4.91, 4.91)
    """
    _require_values(mechanism)
    search = _Search(
        mechanism,
        *workspace(mechanism, lower, upper),
        tolerance,
        max_boxes,
        np.random.default_rng(seed),
    )
    matrix, symbols = _traced(mechanism, lambda m, q: [[potential_energy(m, q)]])
    least, _ = search.least(lambda q: potential_energy(mechanism, q), (matrix, symbols))
    greatest, _ = search.least(lambda q: -potential_energy(mechanism, q), (-matrix, symbols))
    return least, greatest.negated()


def workspace(
    mechanism: Mechanism, lower: Any = None, upper: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the coordinates by velocity entry (nv,): the given bounds, else the joints' limits,
    else -pi, pi for angles.

    Entries of spherical and free joints are -pi, pi for rotation and 0 for translation, on which D
    does not depend.
    """
    lowest: list[float] = []
    highest: list[float] = []
    for joint in mechanism.independent_joints:
        stroke = 0.0 if joint.type.nq != joint.type.nv else math.inf
        reach = [math.pi if "angular" in name else stroke for name in joint.type.velocities]
        limits = joint.limits
        lowest += [-x for x in reach] if limits.lower is None else map(as_float, limits.lower)
        highest += reach if limits.upper is None else map(as_float, limits.upper)
    elastic = mechanism.nv - len(lowest)  # coordinates of bodies, which have no limits
    lowest += [-math.inf] * elastic
    highest += [math.inf] * elastic
    low = _side("lower", lowest if lower is None else lower, mechanism.nv)
    high = _side("upper", highest if upper is None else upper, mechanism.nv)
    for k, name in enumerate(mechanism.velocity_names):
        if not (math.isfinite(low[k]) and math.isfinite(high[k])):
            raise DalembertError(
                f"{name!r} has no limits: eigenvalues of the mass matrix have no bounds over an "
                "unlimited stroke. Give lower= and upper=."
            )
        if low[k] > high[k]:
            raise ValueError(f"{name!r}: lower bound {low[k]} is above upper bound {high[k]}.")
    return low, high


def _side(name: str, bounds: Any, nv: int) -> np.ndarray:
    """Lower or upper bounds as an array, its length checked."""
    array = np.array(bounds, dtype=float)
    if array.shape != (nv,):
        raise ValueError(
            f"{name} has shape {array.shape}, expected ({nv},): one bound per velocity entry."
        )
    return array


def _traced(mechanism: Mechanism, quantity: Callable[..., Any]) -> tuple[np.ndarray, np.ndarray]:
    """A matrix as expressions of the coordinates."""
    with Graph():
        q = symbols("q", mechanism.nq)
        return np.array(quantity(mechanism, q), dtype=object), q


def _require_values(mechanism: Mechanism) -> None:
    """Raise if numbers of the mechanism are symbols."""
    q = mechanism.neutral()
    numbers = [mass_matrix(mechanism, q), potential_energy(mechanism, q)]
    if names := [s.name for x in numbers for s in free_symbols(x)]:
        raise DalembertError(
            f"{mechanism.name!r} has symbols without values: {', '.join(dict.fromkeys(names))}. "
            "Give them values with mechanism.replace."
        )


class _Search(NamedTuple):
    """Search for the least value over the workspace."""

    mechanism: Mechanism
    low: np.ndarray
    high: np.ndarray
    tolerance: float
    max_boxes: int | None
    rng: np.random.Generator

    def least(self, value: Callable[[np.ndarray], Any], traced: Any) -> tuple[Range, int]:
        """The least value, which is the smallest eigenvalue of a matrix of expressions of q where
        `traced` is (matrix, q).

        Also the number of configurations and boxes looked at.
        """
        best, attained = self.sampled(value)
        if traced is None:
            return Range(-math.inf, best, attained), SAMPLES
        matrix, q = traced
        proved, boxes = self.proved(matrix, q, best, attained)
        return proved, SAMPLES + boxes

    def sampled(self, value: Callable[[np.ndarray], np.ndarray]) -> tuple[float, np.ndarray]:
        """The least value found, and where: random samples, then a shrinking local search around
        the best.
        """
        random, mechanism = self.rng.uniform, self.mechanism
        nv = len(self.low)
        neutral = np.tile(mechanism.neutral(), (SAMPLES, 1))
        samples = mechanism.integrate(neutral, random(self.low, self.high, (SAMPLES, nv)))
        values = value(samples)
        order = np.argsort(values)[:CHAINS]
        q = samples[order]
        best = values[order]
        for k in range(ROUNDS):
            step = random(-1, 1, (CHAINS, nv)) * (self.high - self.low) / 2 * 0.7**k
            for sign in (1.0, -1.0):
                moved = self.clipped(mechanism.integrate(q, sign * step))
                values = value(moved)
                better = values < best
                q = np.where(better[:, None], moved, q)
                best = np.where(better, values, best)
        k = int(np.argmin(best))
        return float(best[k]), q[k]

    def clipped(self, q: np.ndarray) -> np.ndarray:
        """Coordinates within the workspace; quaternions of unit length."""
        q = q.copy()
        for holder in self.mechanism.holders:
            if holder.type.nq != holder.type.nv:
                continue
            entry = holder.entry
            sides = slice(entry.at_v.start, entry.at_v.stop)
            q[..., entry.at_q] = np.clip(q[..., entry.at_q], self.low[sides], self.high[sides])
        return self.mechanism.normalize(q)

    def proved(
        self, matrix: np.ndarray, q: np.ndarray, best: float, attained: np.ndarray
    ) -> tuple[Range, int]:
        """Certain bounds of the smallest eigenvalue, by branch and bound, and how many boxes it
        took; `best` is the value at `attained`.
        """
        names = {s.name for s in free_symbols(matrix)}
        used = [k for k, s in enumerate(q) if s.name in names]  # the other coordinates: no matter
        model = _Taylor(matrix, [q[k] for k in used])
        most = model.affordable if self.max_boxes is None else self.max_boxes

        sides = _velocity_entries(self.mechanism, used)
        low, high = self.low[sides], self.high[sides]
        centers = ((high + low) / 2)[None]
        radii = np.nextafter((high - low) / 2, np.inf)[None]
        floor, boxes = math.inf, 0  # the least bound of all dropped boxes
        while len(centers):
            bound, value, share = model.bounds(centers, radii)
            boxes += len(centers)
            k = int(np.argmin(value))
            if value[k] < best:
                best, attained = float(value[k]), np.array(attained)
                attained[used] = centers[k]
            # Any other box holds no value that is better by more than the tolerance.
            hopeful = bound < best - self.tolerance * max(abs(best), np.finfo(float).tiny)
            if boxes + 2 * hopeful.sum() > most:
                return Range(min(floor, float(bound.min())), best, attained), boxes
            floor = min(floor, float(bound[~hopeful].min(initial=math.inf)))
            centers, radii = _halved(centers[hopeful], radii[hopeful], share[hopeful])
        return Range(min(floor, best), best, attained), boxes


def _velocity_entries(mechanism: Mechanism, coordinates: Sequence[int]) -> list[int]:
    """Entries of qd of some entries of q, none of which belongs to a quaternion."""
    velocities = []
    for k in coordinates:
        holder = next(h for h in mechanism.holders if h.entry.at_q.start <= k < h.entry.at_q.stop)
        entry, holder_type = holder.entry, holder.type
        if holder_type.nq != holder_type.nv:
            raise DalembertError(
                f"the values depend on the attitude of joint {holder.name!r} ({holder_type.name}): "
                "bounds are not proved over quaternions; use method='sampling'."
            )
        velocities.append(entry.at_v.start + k - entry.at_q.start)
    return velocities


def _halved(
    centers: np.ndarray, radii: np.ndarray, share: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each box cut in two across the side that adds most to its remainder."""
    if not len(centers):
        return centers, radii
    side = np.argmax(share, axis=1)
    rows = np.arange(len(centers))
    radii = radii.copy()
    radii[rows, side] = np.nextafter(radii[rows, side] / 2, np.inf)
    step = np.zeros_like(centers)
    step[rows, side] = radii[rows, side]
    return np.concatenate([centers - step, centers + step]), np.concatenate([radii, radii])


def _smallest(A: np.ndarray) -> np.ndarray:
    """Smallest eigenvalue of each matrix."""
    return np.linalg.eigvalsh(A)[..., 0]


def _largest(A: np.ndarray) -> np.ndarray:
    """Size of the largest entry of each matrix."""
    return np.abs(A).max(axis=(1, 2))


class _Taylor:
    """Second-order bounds of the smallest eigenvalue of a symmetric matrix D of expressions.

    values : D, then each dD_i, as entries of the lower triangle; [..., full] makes matrices of
    them. curvatures : d2D/dq_i dq_j for each of the pairs i >= j, pair by pair.
    """

    def __init__(self, matrix: np.ndarray, q: list[Expr]):
        self.n, self.q = len(matrix), q
        rows, columns = np.tril_indices(self.n)
        self.full = np.zeros((self.n, self.n), dtype=int)
        self.full[rows, columns] = self.full[columns, rows] = np.arange(len(rows))

        entries = matrix[rows, columns]
        first = np.asarray(jacobian(entries, q))
        second = np.asarray(jacobian(first, q))
        self.values = np.concatenate([entries[:, None], first], axis=1).T
        i, j = np.tril_indices(len(q))
        self.pairs = [*zip(i, j, strict=True)]
        self.curvatures = [*second[:, i, j].T.flat]

        operations = topological([x for x in self.curvatures if isinstance(x, Expr)])
        self.affordable = int(MAX_WORK / max(1, len(operations)))
        self.corners = np.array([*itertools.product((-1.0, 1.0), repeat=len(q))])

    def bounds(self, centers: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, ...]:
        """Bounds over each box: a lower bound, the value at its centre, and each side's share of
        the remainder.
        """
        chunks = [slice(k, k + CHUNK) for k in range(0, len(centers), CHUNK)]
        bounds = [self._chunk(centers[chunk], radii[chunk]) for chunk in chunks]
        return tuple(np.concatenate(x) for x in zip(*bounds, strict=True))

    def _chunk(self, centers: np.ndarray, radii: np.ndarray) -> tuple[np.ndarray, ...]:
        # D and dD at the centres, and how far rounding may have moved them
        points = {s: (c, c) for s, c in zip(self.q, centers.T, strict=True)}
        low, high = enclosures([*self.values.flat], points, len(centers))
        shape = (len(centers), *self.values.shape)
        middle = ((low + high) / 2).reshape(shape)
        error = (high - low).reshape(shape)
        D = middle[:, 0][:, self.full]
        dD = middle[:, 1:][:, :, self.full]

        # R, which takes up these errors too
        sides = zip(self.q, centers.T, radii.T, strict=True)
        boxes = {
            s: (np.nextafter(c - r, -np.inf), np.nextafter(c + r, np.inf)) for s, c, r in sides
        }
        remainder, share = self._remainder(boxes, radii)
        remainder = remainder + error[:, 0] + np.einsum("bi,bie->be", radii, error[:, 1:])
        norm = self._norm(remainder)
        size = _largest(D) + _largest(np.einsum("bi,bixy->bxy", radii, np.abs(dD)))
        margin = ROUNDING * (self.n + len(self.pairs)) * (size + norm)

        linear = np.einsum("ci,bi,bixy->bcxy", self.corners, radii, dD)
        least = _smallest(D[:, None] + linear).min(axis=1)  # concave in q: least at a corner
        lower = np.maximum(least - norm - margin, self._hull(boxes, len(centers)))
        return lower, _smallest(D) + margin, share  # the value is attained, errors included

    def _hull(self, boxes: dict[Expr, Interval], count: int) -> np.ndarray:
        """Lower bound by the intervals of D's entries themselves, better in large boxes."""
        low, high = enclosures([*self.values[0]], boxes, count)
        middle = ((high + low) / 2)[:, self.full]
        spread = self._norm((high - low) / 2)
        return _smallest(middle) - spread - ROUNDING * self.n * (_largest(middle) + spread)

    def _norm(self, entries: np.ndarray) -> np.ndarray:
        """Largest sum of a row of sizes of entries, which no spectral norm exceeds."""
        return entries[:, self.full].sum(axis=2).max(axis=1)

    def _remainder(
        self, boxes: dict[Expr, Interval], radii: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of |R| by entry of the lower triangle, and how much of them each side adds."""
        low, high = enclosures(self.curvatures, boxes, len(radii))
        total = np.zeros((len(radii), self.values.shape[1]))
        shape = (len(radii), len(self.pairs), self.values.shape[1])
        supremum = np.maximum(np.abs(low), np.abs(high)).reshape(shape)
        share = np.zeros_like(radii)
        for k, (i, j) in enumerate(self.pairs):
            half = 0.5 if i == j else 1.0  # of i, j and j, i only the former is in the list
            term = supremum[:, k] * (radii[:, i] * radii[:, j] * half)[:, None]
            total = total + term
            for side in (i, j):
                share[:, side] += term.sum(axis=1)
        return total, share
