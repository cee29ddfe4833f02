"""Linear equations for the stages of a step, with exact derivatives of f: (B / (gamma h) - J) k = b.

In the form B x' = f(t, x) of equations of motion

    q' = rate(q, v),   v' = a,   0 = Q + tau - bias(q, v, t) - M(q) a

B is 0 for accelerations a. The equations are reduced to as many as there are accelerations, with the
matrix M + gamma h D + (gamma h)^2 K of K = -d/dq and D = -d/dv of the forces out of balance: no inverse of M
is formed, and as the step becomes short the matrix becomes M.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import absolute
from dalembert.integrators.choice import chosen
from dalembert.integrators.triangular import TriangularFactors

DIFFERENCE = float(np.finfo(float).eps) ** (1 / 3)  # of central differences, relative
LOST = 1e-13  # of a pivot, relative to its entry on the way: no digits are left
DEPENDENT = 1e-9  # of a pivot of a constraint: it follows from others


class Places(NamedTuple):
    """Entries of x: coordinates, velocities, others that are solved for together, and those on which
    nothing depends.

    balanced : accelerations, then multipliers, which are solved for first and have no rates
    multipliers : how many of these are multipliers
    """

    q: Sequence[int]
    v: Sequence[int]
    solved: Sequence[int]
    balanced: Sequence[int]
    last: Sequence[int]
    multipliers: int = 0

    def lists(self) -> tuple[list[int], list[int], list[int], list[int]]:
        """Coordinates, velocities, others that are solved for, and the last ones."""
        return list(self.q), list(self.v), list(self.solved), list(self.last)

    @classmethod
    def full(cls, n: int) -> Places:
        """Places where nothing is known of n entries: all are solved for together."""
        return cls((), (), range(n), (), ())


@dataclass(frozen=True)
class LinearisedRate:
    """f with its derivatives.

    rate(t, x) -> f
    slopes(t, x) -> df/dx (n, n) and df/dt (n,)
    inertia(t, x) -> [[M, -J^T], [-J, 0]], of an f of accelerations and multipliers
    keep(stem, arrays) -> the arrays, from where they are computed once
    """

    rate: Callable[[Any, Any], Any]
    slopes: Callable[[Any, Any], tuple[Any, Any]]
    inertia: Callable[[Any, Any], Any] | None = None
    keep: Callable[[str, Sequence[Any]], Sequence[Any]] = lambda stem, arrays: arrays

    def __call__(self, t: Any, x: Any) -> Any:
        return self.rate(t, x)


def linearised(f: Callable[..., Any]) -> LinearisedRate:
    """f with its derivatives; by differences, if it has none."""
    return f if isinstance(f, LinearisedRate) else LinearisedRate(f, partial(differences, f))


class StageEquations:
    """Equations of the stages of a step from (t, x), with by = gamma h.

    by_time : df/dt (n,)
    """

    def __init__(self, f: LinearisedRate, t: Any, x: Any, by: Any, places: Places | None = None):
        self._places = places or Places.full(len(x))
        self._n, self._by, self._keep = len(x), by, f.keep
        J, by_time = f.keep("slope", f.slopes(t, x))
        self.by_time = by_time
        q, v, solved, last = self._places.lists()
        self._last_rows = J[last]
        by_place = J[np.ix_(solved, q)]
        moving = TriangularFactors.of(np.eye(len(q)) - by * J[np.ix_(q, q)])
        along = moving.solved(by * J[np.ix_(q, v)])
        by_velocity = J[np.ix_(solved, v)] + by_place @ along
        shares = J[np.ix_(v, solved)]
        matrix = np.diag(self.rated(np.ones(self._n))[solved] / by) - J[np.ix_(solved, solved)]
        matrix = matrix - by * (by_velocity @ shares)
        factors = TriangularFactors.of(matrix, partial(_inverse, self._places))
        self._moving, self._shares = moving, shares
        self._along, self._by_place, self._by_velocity = f.keep(
            "stage", [along, by_place, by_velocity]
        )
        self._factors = TriangularFactors(*f.keep("factor", factors))

    def rated(self, x: Any) -> Any:
        """B x: 0 in place of accelerations and multipliers, of which there are no rates."""
        x = np.array(x)
        entries = list(self._places.balanced)
        x[entries] = 0.0 * x[entries]
        return x

    def solved(self, b: Any) -> Any:
        """k with (B / by - J) k = b, both (n,)."""
        q, v, solved, last = self._places.lists()
        (b,) = self._keep("right", [b])
        b, by = np.asarray(b), self._by
        moved = self._moving.solved(by * b[q])
        right = b[solved] + self._by_place @ moved + by * (self._by_velocity @ b[v])
        k = np.array(b)
        k[solved] = self._factors.solved(right)
        k[v] = by * (b[v] + self._shares @ k[solved])
        k[q] = moved + self._along @ k[v]
        others = [*q, *v, *solved]
        k[last] = by * (b[last] + self._last_rows[:, others] @ k[others])
        (k,) = self._keep("k", [k])
        return k


def consistent(f: LinearisedRate, t: Any, x: Any, first: Any, places: Places | None) -> Any:
    """x with accelerations and multipliers such that forces are in balance, where f is `first`: it is
    linear in them.
    """
    if not (places and places.balanced):
        return x
    assert f.inertia is not None
    entries = list(places.balanced)
    x = np.array(x)
    inertia = TriangularFactors.of(f.inertia(t, x), partial(_inverse, places))
    x[entries] = x[entries] + inertia.solved(np.asarray(first)[entries])
    return x


def differences(f: Callable[..., Any], t: float, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """df/dx (n, n) and df/dt (n,) by central differences, of an f that has no derivatives."""
    steps = DIFFERENCE * np.maximum(1.0, np.abs(x))
    columns = [(f(t, x + d) - f(t, x - d)) / (2 * d.max()) for d in np.diag(steps)]
    later, earlier = t + DIFFERENCE * max(1.0, abs(t)), t - DIFFERENCE * max(1.0, abs(t))
    return np.array(columns).T, (f(later, x) - f(earlier, x)) / (later - earlier)


def _inverse(places: Places, k: int, pivot: Any, largest: Any) -> Any:
    """1 / pivot; infinite if no digits of it are left, so that the step is refused, but 0 of a
    constraint that follows from others.
    """
    if isinstance(pivot, float):
        pivot = np.float64(pivot)
    forces = len(places.balanced) - places.multipliers
    if forces <= k < len(places.balanced):
        follows = absolute(pivot) <= DEPENDENT * largest
        return chosen(follows, 0.0 * pivot, 1 / chosen(follows, 1.0 + 0.0 * pivot, pivot))
    lost = absolute(pivot) <= LOST * largest
    return 1 / chosen(lost, 0.0 * pivot, pivot)
