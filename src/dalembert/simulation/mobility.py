"""Mobility of a system at a state: accelerations of its velocities under forces along them, on
constraints or without.

    qdd = N (force + r) + drift,    N = M^-1 - M^-1 J^T (J M^-1 J^T)^-1 J M^-1

On constraints N has no inverse: entries that rest may share their reactions in many ways. The
reactions of least sum of squares are found by a firm diagonal beside N, as `lcp.semidefinite` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import absolute, array
from dalembert.simulation.elementwise import at_most, less, where
from dalembert.simulation.lcp import CORRECTIONS, balanced, is_firm
from dalembert.spatial.ldl import Factors, factorised, solved, unchecked
from dalembert.systems.constraint_response import Response
from dalembert.systems.constraint_set import ConstraintSet

FIRM = 1e-6  # of the trace of N: reactions that are shared have digits as those of it are lost
SOFT = 1e-3  # of that, where mobilities are compared
NOTHING = 1e-200  # mobility where all entries are held
SWEEPS = 3  # corrections of coordinates and velocities, each of which leaves FIRM of the residual
STILL = 1e-4  # of an entry's own mobility: an entry with less cannot move


class Unheld(NamedTuple):
    """State under forces without the reactions of entries that rest.

    M, force : mass matrix and all forces but reactions; t, q, qd : the state
    """

    M: Any
    force: Any
    t: Any
    q: Any
    qd: Any


class Mobility(NamedTuple):
    """Accelerations of forces at a state.

    N : (n, n)
    drift : (n,) accelerations without forces, or 0
    firm : (n, n) diagonal matrix beside N in laws of reactions, or 0
    response : of the constraints, if there are any
    inertia : factors of M
    """

    N: np.ndarray
    drift: Any = 0.0
    firm: Any = 0.0
    response: Response | None = None
    inertia: Factors | None = None

    @classmethod
    def at(cls, rows: ConstraintSet | None, state: Unheld) -> Mobility:
        """Mobility on the rows of constraints, if there are any."""
        inertia = factorised([list(row) for row in state.M], unchecked)
        n = len(state.M)
        free = array([solved(inertia, row) for row in np.eye(n).tolist()])
        if rows is None:
            return cls(free, inertia=inertia)
        of_rows = rows.rates(state.q, state.qd, state.t)
        response = rows.response(inertia, of_rows)
        N = array([list(row - response.towards(of_rows.jacobian @ row)) for row in free])
        trace = sum(N[i, i] for i in range(n))
        return cls(N, response.towards(of_rows.bias), FIRM * trace * np.eye(n), response, inertia)

    def without_motion(self, held: np.ndarray, qdd: Any, force: Any) -> Any:
        """1 for entries (n,) that forces cannot move while entries of 1 are held, else 0.

        Those that constraints move with time are not among them: their qdd under the force is none
        that rounding leaves.
        """
        if not is_firm(self.firm):
            return 0.0
        firm = self.N + SOFT * self.firm
        none = np.zeros(len(held))
        left = [
            row[i] + row @ balanced(firm, row, held, none) for i, row in enumerate(self.N)
        ]  # of an entry's own mobility
        own = array([self.N[i, i] for i in range(len(held))])
        moves = where(
            less(SOFT * self.firm[0, 0], own), 1.0, 0.0
        )  # an entry at a dead point does not
        size = absolute(self.N) @ absolute(array(list(force))) + absolute(self.drift)
        rests = where(at_most(absolute(qdd), STILL * size), 1.0, 0.0)
        return rests * moves * where(less(array(left), STILL * own), 1.0, 0.0)


class HeldInLoops(NamedTuple):
    """Motion on constraints with some entries held."""

    qdd: np.ndarray
    reaction: np.ndarray  # of held entries, else 0
    power: Any  # of constraints that do work [W]


def held_in_loops(
    mobility: Mobility, state: Unheld, held: np.ndarray, holding: np.ndarray
) -> HeldInLoops:
    """Accelerations where held entries (n,) of 1, else 0, have none, and reactions of the holding
    ones among them.
    """
    assert mobility.response is not None and mobility.inertia is not None
    N = mobility.N
    free = N @ state.force + mobility.drift
    firm = N + mobility.firm
    none = np.zeros(len(held))
    reaction = none
    for _ in range(CORRECTIONS):
        reaction = reaction + balanced(firm, free + N @ reaction, holding, none)
    qdd = where(less(0.0, held), 0.0, free + N @ reaction)
    rows = mobility.response.rows
    pushed = array(solved(mobility.inertia, list(state.force + reaction)))
    multipliers = mobility.response.multipliers(rows.bias - rows.jacobian @ pushed)
    return HeldInLoops(qdd, reaction, -sum(array(multipliers) * rows.leftover))


def projected_beside(
    rows: ConstraintSet, moving: Sequence[Any], q: Any, qd: Any, t: Any
) -> tuple[Any, Any]:
    """The state nearby on the constraints, in the metric of M, whose entries of 0 in `moving` (nv,)
    stay as they are.
    """
    M = np.asarray(rows.system.mass_matrix(q, t))
    inertia = factorised(M.tolist(), unchecked, moving)
    of_rows = rows.rates(q, qd, t)
    if rows.holonomic:
        of_positions = rows.position_rates(q, qd, t)
        for _ in range(SWEEPS):
            step = _towards(inertia, of_positions.jacobian, rows.position(q, t))
            q = rows.system.integrate(q, -step)
    for _ in range(SWEEPS):
        qd = qd - _towards(inertia, of_rows.jacobian, rows.rates(q, qd, t).velocity)
    return q, qd


def _towards(inertia: Factors, J: np.ndarray, residual: Any) -> Any:
    """The step (nv,) of least kinetic energy that changes J qd by a residual, which entries that do
    not move may leave.
    """
    columns = array([solved(inertia, list(row)) for row in J])
    mobility = J @ columns.T
    trace = sum(mobility[k, k] for k in range(len(J))) + NOTHING
    L = factorised((mobility + FIRM * trace * np.eye(len(J))).tolist(), unchecked)
    return columns.T @ array(solved(L, list(residual)))
