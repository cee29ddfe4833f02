"""Boundary problem of all links: conditions at base, hinges and payload in their initial parameters.

Rows of numbers stand for affine functions of a link's 13 unknowns, the last entry for the constant.
Unknowns: N0, a_x; coefficients of v, of w (4 each); twisting moment GJ gamma', eps_x; drive: the
acceleration of the hinge, or its moment where the acceleration is given.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import SingularMassMatrixError
from dalembert.initial_parameters.link_fields import FundamentalSolutions
from dalembert.initial_parameters.link_frames import LinkFrames, skew
from dalembert.initial_parameters.link_row import LinkRow

UNKNOWNS = 13
N0, A_X, V, W, TWIST, EPS_X, DRIVE = 0, 1, slice(2, 6), slice(6, 10), 10, 11, 12
TINY = 1e-300
SINGULAR = 1e-14  # reciprocal condition number of the scaled rows


class Drive(NamedTuple):
    """Motion or moment of each hinge.

    given: whether its acceleration is given (N,)
    acceleration: where it is [rad/s^2]
    moment: where it is not [N m]
    """

    given: np.ndarray
    acceleration: np.ndarray
    moment: np.ndarray


class Iterate(NamedTuple):
    """Values of the latest pass that the next one needs.

    root_force, root_acceleration: N0 [N], a_x [m/s^2] (N,)
    tip_force: on the sections at the tips, in the axes of the links (N, 3) [N]
    theta: rotations of the tips (N, 3) [rad]
    qdd: accelerations of the hinges (N,) [rad/s^2]
    """

    root_force: np.ndarray
    root_acceleration: np.ndarray
    tip_force: np.ndarray
    theta: np.ndarray
    qdd: np.ndarray


class Conditions(NamedTuple):
    """Knowns of the boundary problem besides the solutions along the links.

    frames: axes of the links
    tip_force: on the sections at the tips in the latest pass (N, 3)
    weight: acceleration of gravity turned over, in the axes of the links (N, 3)
    theta_rate: of the rotations of the tips (N, 3)
    past_tip: known part of the accelerations v_tt, w_tt at the tips (N, 2)
    past_theta: known part of theta_tt there (N, 3)
    inverse_square: 1/h^2
    """

    frames: LinkFrames
    tip_force: np.ndarray
    weight: np.ndarray
    theta_rate: np.ndarray
    past_tip: np.ndarray
    past_theta: np.ndarray
    inverse_square: float


class Ends(NamedTuple):
    """Rows of a section of each link (N, 3, 14): acceleration, angular acceleration, force and moment
    on its positive face, and rotation.
    """

    a: np.ndarray
    eps: np.ndarray
    force: np.ndarray
    moment: np.ndarray
    theta: np.ndarray


def root_rows(row: LinkRow, solutions: FundamentalSolutions) -> Ends:
    """Rows of the sections at the roots."""
    T, s = solutions.at_root()
    v = _in_unknowns(T[:, 0], s[:, 0], V)
    w = _in_unknowns(T[:, 1], s[:, 1], W)
    EIz, EIy = row.EI.T[..., None]
    unit = _units(len(row))
    return Ends(
        a=_stacked(unit[A_X], v[:, 2], w[:, 2]),
        eps=_stacked(unit[EPS_X], w[:, 3], v[:, 3]),
        force=_stacked(unit[N0], -EIz * v[:, 1], -EIy * w[:, 1]),
        moment=_stacked(unit[TWIST], -EIy * w[:, 0], EIz * v[:, 0]),
        theta=np.zeros((len(row), 3, UNKNOWNS + 1)),
    )


def tip_rows(row: LinkRow, solutions: FundamentalSolutions, known: Conditions, products) -> Ends:
    """Rows of the sections at the tips."""
    tip = solutions.tip
    v = _in_unknowns(tip[:, 0, :, :4], tip[:, 0, :, 4], V)
    w = _in_unknowns(tip[:, 1, :, :4], tip[:, 1, :, 4], W)
    unit = _units(len(row))
    one = unit[UNKNOWNS]
    l = row.length[:, None]
    EIz, EIy = row.EI.T[..., None]
    density = row.mass_per_length[:, None]

    wx, wy, wz = known.frames.omega.T[..., None]
    centripetal = wy**2 + wz**2
    twice = 2 * known.inverse_square  # X_tt = 2 X / h^2 + past
    past = known.past_tip[..., None] * one[:, None]
    v_tt = twice * v[:, 0] + past[:, 0]
    w_tt = twice * w[:, 0] + past[:, 1]
    a = _stacked(
        unit[A_X] - centripetal * l * one,
        v[:, 4] + l * v[:, 5] + v_tt + products * wx * wy * l * one,
        w[:, 4] - l * w[:, 5] + w_tt + products * wx * wz * l * one,
    )
    theta = _stacked(l / row.GJ[:, None] * unit[TWIST], -w[:, 1], v[:, 1])
    theta_tt = twice * theta + known.past_theta[..., None] * one[:, None]

    latest = known.tip_force[:, :1]  # N(l) of the latest pass, as a factor of slopes
    distributed = (known.weight[:, :1] - centripetal * l / 2) * one
    axial = unit[N0] + density * l * (unit[A_X] + distributed)
    return Ends(
        a=a,
        eps=_stacked(unit[EPS_X], w[:, 5], v[:, 5]) + theta_tt,
        force=_stacked(axial, -EIz * v[:, 3] + latest * v[:, 1], -EIy * w[:, 3] + latest * w[:, 1]),
        moment=_stacked(unit[TWIST], -EIy * w[:, 2], EIz * v[:, 2]),
        theta=theta,
    )


def _in_unknowns(matrix: np.ndarray, constant: np.ndarray, columns: slice) -> np.ndarray:
    """Rows of coefficients of one plane as rows of all unknowns (N, k, 14)."""
    rows = np.zeros(matrix.shape[:2] + (UNKNOWNS + 1,))
    rows[..., columns] = matrix
    rows[..., UNKNOWNS] = constant
    return rows


def _units(n: int) -> np.ndarray:
    """Row of each unknown, and of the constant 1 (14, N, 14)."""
    return np.broadcast_to(np.eye(UNKNOWNS + 1)[:, None], (UNKNOWNS + 1, n, UNKNOWNS + 1))


def _stacked(*rows: np.ndarray) -> np.ndarray:
    return np.stack(rows, axis=1)


def payload_rows(row: LinkRow, tip: Ends, known: Conditions) -> np.ndarray:
    """Momentum balances of the payload (6, 14).

    F = -M (a_C - g), m = -d/dt(J omega_P) + r x F + (theta x r) x F of the latest pass
    """
    M, r, J = row.payload.mass, row.payload.centre, row.payload.inertia
    a, eps, force, moment, theta = (rows[-1] for rows in tip)
    omega = known.frames.omega[-1]
    omega_P = omega + known.theta_rate[-1]
    a_C = a - skew(r) @ eps
    a_C[:, UNKNOWNS] += skew(omega) @ skew(omega) @ r + known.weight[-1]
    lever = skew(r) @ force + skew(known.tip_force[-1]) @ skew(r) @ theta
    turned = moment + J @ eps - lever
    turned[:, UNKNOWNS] += skew(omega_P) @ J @ omega_P
    return np.concatenate([force + M * a_C, turned])


def across(e: np.ndarray) -> np.ndarray:
    """Two directions across e and each other (2, 3)."""
    first = skew(e) @ np.eye(3)[np.argmin(np.abs(e))]
    first /= np.sqrt(first @ first)
    return np.array([first, skew(e) @ first])


def assembled(row, root: Ends, tip: Ends, known: Conditions, drive: Drive) -> np.ndarray:
    """Rows of all conditions (13 N, 13 N + 1), zero at the solution: 7 of the base, 13 of each hinge
    between two links, 6 of the payload.
    """
    size = UNKNOWNS * len(row)
    rows = np.zeros((size, size + 1))
    for n, e in enumerate(row.axis):
        first = max(UNKNOWNS * n - 6, 0)
        about = first + 6
        _place(rows, first, n, [root.a[n], root.eps[n], e @ root.moment[n]])
        _subtract_acceleration(rows[first + 3 : about], n, e, drive)
        _add_moment(rows[about], n, drive)
        rows[first + 3 : about, -1] -= known.frames.turning[n]
        if n:
            B = known.frames.to_link[n]
            moment = B @ tip.moment[n - 1]
            _place(rows, first, n - 1, [-B @ tip.a[n - 1], -B @ tip.eps[n - 1]])
            _place(rows, about + 1, n, [root.force[n], across(e) @ root.moment[n]])
            _place(rows, about + 1, n - 1, [-B @ tip.force[n - 1], -across(e) @ moment])
            _place(rows, about + 6, n - 1, [e @ moment])
            _add_moment(rows[about + 6], n, drive)
    _place(rows, size - 6, len(row) - 1, [payload_rows(row, tip, known)])
    return rows


def _place(rows: np.ndarray, first: int, link: int, blocks: list[np.ndarray]) -> None:
    """Add blocks of rows of a link's unknowns, each below the last."""
    block = np.vstack(blocks)
    here = rows[first : first + len(block)]
    here[:, UNKNOWNS * link : UNKNOWNS * (link + 1)] += block[:, :UNKNOWNS]
    here[:, -1] += block[:, UNKNOWNS]


def _subtract_acceleration(rows: np.ndarray, n: int, e: np.ndarray, drive: Drive) -> None:
    """Subtract the angular acceleration of a hinge, qdd e (3 rows)."""
    if drive.given[n]:
        rows[:, -1] -= drive.acceleration[n] * e
    else:
        rows[:, UNKNOWNS * n + DRIVE] -= e


def _add_moment(condition: np.ndarray, n: int, drive: Drive) -> None:
    """Add the moment of a hinge to e m + M = 0."""
    if drive.given[n]:
        condition[UNKNOWNS * n + DRIVE] += 1
    else:
        condition[-1] += drive.moment[n]


def solved(rows: np.ndarray) -> np.ndarray:
    """Unknowns of the links (N, 13); not finite where they are not determined."""
    matrix, height, width = _scaled(rows)
    try:
        unknowns = np.linalg.solve(matrix, -rows[:, -1] / height) / width
    except np.linalg.LinAlgError:
        unknowns = np.full(len(rows), np.nan)
    return unknowns.reshape(-1, UNKNOWNS)


def _scaled(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Matrix of the conditions with largest entries 1, and what its rows and columns are divided by."""
    matrix = rows[:, :-1]
    height = np.maximum(np.abs(matrix).max(axis=1), TINY)
    matrix = matrix / height[:, None]
    width = np.maximum(np.abs(matrix).max(axis=0), TINY)
    return matrix / width, height, width


def check_determined(row: LinkRow, rows: np.ndarray, t: float) -> None:
    """See that the conditions determine the accelerations of all hinges. (Coefficients of solutions that
    have grown alike are determined badly too; of these the step is told.)

    Raises
    ------
    SingularMassMatrixError
        They do not; the message names the hinge that nothing holds.
    """
    matrix, *_ = _scaled(rows)
    if not np.isfinite(matrix).all():
        return
    values = np.linalg.svd(matrix, compute_uv=False)
    pivot = float(values[-1] / values[0])
    if pivot > SINGULAR:
        return
    directions = np.linalg.svd(matrix)[2]
    n, unknown = divmod(int(np.argmax(np.abs(directions[-1]))), UNKNOWNS)
    if unknown not in (DRIVE, EPS_X):
        return
    name, link = row.joint_names[n], row.names[n]
    raise SingularMassMatrixError(
        f"joint {name!r}: its acceleration is not determined at t = {t:g} s (reciprocal condition "
        f"{pivot:.1e}). Link {link!r} and all that it carries have no inertia about its axis: a "
        "straight link has none about its own x, as its torsion is quasi-static. Give the body at "
        f"the tip an inertia about that axis, or accelerations={{{name!r}: ...}}.",
        joint=name,
        body=link,
        pivot=pivot,
    )


def latest(unknowns: np.ndarray, tip: Ends, drive: Drive) -> Iterate:
    """Values of a solution that the next pass needs."""
    ones = np.ones((len(unknowns), 1))
    u = np.concatenate([unknowns, ones], axis=1)[..., None]
    qdd = np.where(drive.given, drive.acceleration, unknowns[:, DRIVE])
    return Iterate(
        unknowns[:, N0],
        unknowns[:, A_X],
        (tip.force @ u)[..., 0],
        (tip.theta @ u)[..., 0],
        qdd,
    )


def coefficients(unknowns: np.ndarray) -> np.ndarray:
    """Coefficients of the solutions of v and w (N, 2, 4)."""
    return np.stack([unknowns[:, V], unknowns[:, W]], axis=1)


def moments(unknowns: np.ndarray, drive: Drive) -> Any:
    """Moments of the hinges (N,) [N m]."""
    return np.where(drive.given, unknowns[:, DRIVE], drive.moment)
