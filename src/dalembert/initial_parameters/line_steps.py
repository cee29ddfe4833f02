"""Steps of the method: predictor and corrector of Adams for the joints, Houbolt's method for fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dalembert.errors import OverflowedError
from dalembert.initial_parameters import boundary_problem as boundary
from dalembert.initial_parameters.boundary_problem import Conditions, Drive, Iterate
from dalembert.initial_parameters.houbolt import Levels
from dalembert.initial_parameters.link_fields import (
    Grid,
    Load,
    axial_force,
    fundamental_solutions,
    past_accelerations,
)
from dalembert.initial_parameters.link_frames import LinkFrames, link_frames
from dalembert.initial_parameters.link_row import LinkRow

PREDICTOR = np.array([55.0, -59.0, 37.0, -9.0]) / 24  # Adams and Bashforth, order 4
MOST_PASSES, SETTLED = 100, 1e-12  # of an equilibrium, and the relative change that ends them
CORRECTOR = np.array([9.0, 19.0, -5.0, 1.0]) / 24  # Adams and Moulton, order 4


class Scheme(NamedTuple):
    """Options of the method.

    h: step [s]
    grid: nodes along the links
    passes: solutions of the boundary problem in a step
    products: whether accelerations have omega_x omega_y x and omega_x omega_z x
    hinge: axis of each hinge in the axes of the link before (N, 3), about which the rotation of its
        tip counts in the integrated angles; 0 where it does not
    drive: function (t, q, qd) -> Drive
    """

    h: float
    grid: Grid
    passes: int
    products: bool
    hinge: np.ndarray
    drive: Callable[[float, np.ndarray, np.ndarray], Drive]


@dataclass(frozen=True)
class LineState:
    """State after a step.

    t: time [s]
    turn: integrated angles, of the hinges and the rotations of tips about them (N,) [rad]
    rate, acceleration: theirs now and at three steps before, newest first (4, N) [rad/s, rad/s^2]
    deflection, slope: y and y' of the last levels, each (S + 1, N, 2) [m, -]
    theta: rotations of the tips of the last levels, each (N, 3) [rad]
    latest: values of the last pass
    """

    t: float
    turn: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray
    deflection: Levels
    slope: Levels
    theta: Levels
    latest: Iterate


class LineRecord(NamedTuple):
    """Quantities of one time, of N links with S + 1 nodes.

    q, qd, qdd, moments: of the hinges (N,) [rad, rad/s, rad/s^2, N m]
    axes: of the links, to those of the world (N, 3, 3)
    omega: angular velocities, in the axes of the links (N, 3) [rad/s]
    deflection: v and w (S + 1, N, 2) [m]
    theta: rotations of the tips (N, 3) [rad]
    stretch: u (S + 1, N) [m]
    section_forces, section_moments: on positive faces (S + 1, N, 3) [N, N m]
    correction: largest change of a hinge's rate in the last pass [rad/s]
    """

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    moments: np.ndarray
    axes: np.ndarray
    omega: np.ndarray
    deflection: np.ndarray
    theta: np.ndarray
    stretch: np.ndarray
    section_forces: np.ndarray
    section_moments: np.ndarray
    correction: float


class PassSolution(NamedTuple):
    """Results of one solution of the boundary problem.

    fields: function () -> y to y''' at the nodes (S + 1, N, 2, 4)
    rows: conditions that were solved
    """

    unknowns: np.ndarray
    latest: Iterate
    drive: Drive
    frames: LinkFrames
    weight: np.ndarray
    fields: Callable[[], np.ndarray]
    rows: np.ndarray


class StepEnd(NamedTuple):
    """End of a step: state, angles and rates of the hinges (N,), rates of the rotations of tips (N, 3),
    the last pass with its fields, and the change of rates in it (N,).
    """

    state: LineState
    q: np.ndarray
    qd: np.ndarray
    theta_rate: np.ndarray
    solution: PassSolution
    fields: np.ndarray
    change: np.ndarray


def steady(t: float, turn, rate, levels: tuple[Levels, ...]) -> LineState:
    """State with levels of deflection, slope and theta, whose angles had steady rates before."""
    n = len(turn)
    rest = np.zeros(n)
    forces = np.zeros((n, 3))
    iterate = Iterate(rest, rest, forces, levels[2].last, rest)
    deflection, slope, theta = levels
    rates = np.tile(rate, (4, 1))
    return LineState(t, turn, rates, np.zeros((4, n)), deflection, slope, theta, iterate)


def hinge_axes(row: LinkRow) -> np.ndarray:
    """Axes of the hinges in the axes of the links before (N, 3); 0 for the first."""
    axes = np.einsum("nij,nj->ni", row.mounting, row.axis)
    axes[0] = 0
    return axes


def about(hinge: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Rotations of the tips about the hinges that they carry (N,)."""
    carried = np.concatenate([np.zeros((1, 3)), theta[:-1]])
    return (hinge * carried).sum(axis=1)


def next_state(row: LinkRow, scheme: Scheme, state: LineState) -> StepEnd:
    """End of a step."""
    h, hinge = scheme.h, scheme.hinge
    t = state.t + h
    rate = state.rate[0] + h * PREDICTOR @ state.acceleration
    turn = state.turn + h * PREDICTOR @ state.rate
    theta = state.theta.predicted()
    iterate = state.latest._replace(theta=theta)
    for k in range(scheme.passes):
        q = turn - about(hinge, theta)
        qd = rate - about(hinge, state.theta.rate(theta, h))
        before = rate
        solution = solve_pass(row, scheme, state, (t, q, qd), iterate)
        if not k:
            boundary.check_determined(row, solution.rows, t)
        iterate = solution.latest
        theta = iterate.theta
        theta_tt = (2 * theta + state.theta.curvature()) / h**2
        acceleration = iterate.qdd + about(hinge, theta_tt)
        rate = state.rate[0] + h * CORRECTOR @ [acceleration, *state.acceleration[:3]]
        turn = state.turn + h * CORRECTOR @ [rate, *state.rate[:3]]
    fields = solution.fields()
    moved = LineState(
        t,
        turn,
        np.stack([rate, *state.rate[:3]]),
        np.stack([acceleration, *state.acceleration[:3]]),
        state.deflection.advanced(fields[..., 0]),
        state.slope.advanced(fields[..., 1]),
        state.theta.advanced(theta),
        iterate,
    )
    theta_rate = state.theta.rate(theta, h)
    q = turn - about(hinge, theta)
    qd = rate - about(hinge, theta_rate)
    return StepEnd(moved, q, qd, theta_rate, solution, fields, rate - before)


def beginning(row: LinkRow, scheme: Scheme, state: LineState) -> StepEnd:
    """Start as the end of a step: forces and accelerations of the method there, with the fields that
    are given.
    """
    theta = state.theta.last
    theta_rate = (theta - state.theta.before) / scheme.h
    q = state.turn - about(scheme.hinge, theta)
    qd = state.rate[0] - about(scheme.hinge, theta_rate)
    past = replace(
        state,
        deflection=state.deflection.earlier(),
        slope=state.slope.earlier(),
        theta=state.theta.earlier(),
    )
    iterate = state.latest
    for _ in range(scheme.passes):
        solution = solve_pass(row, scheme, past, (state.t, q, qd), iterate)
        boundary.check_determined(row, solution.rows, state.t)
        iterate = solution.latest._replace(theta=theta)
    solution = solution._replace(latest=iterate)
    fields = solution.fields()
    fields[..., 0], fields[..., 1] = state.deflection.last, state.slope.last
    return StepEnd(state, q, qd, theta_rate, solution, fields, np.zeros(len(row)))


def solve_pass(row, scheme, state, place, iterate: Iterate) -> PassSolution:
    """Solve the boundary problem at a time, angles and rates `place` with values of the latest pass."""
    t, q, qd = place
    drive = scheme.drive(t, q, qd)
    inverse_square = 1 / scheme.h**2
    theta_rate = state.theta.rate(iterate.theta, scheme.h)
    frames = link_frames(row, q, qd, iterate.theta, theta_rate)
    weight = -row.gravity @ frames.to_world  # A^T of each link
    force = axial_force(row, frames, iterate.root_force, iterate.root_acceleration, weight)
    past = state.deflection.curvature() * inverse_square
    load = _load(scheme, state, frames, weight, inverse_square)
    solutions = fundamental_solutions(row, scheme.grid, force, load, inverse_square)
    known = Conditions(
        frames,
        iterate.tip_force,
        weight,
        theta_rate,
        past[-1],
        state.theta.curvature() * inverse_square,
        inverse_square,
    )
    root = boundary.root_rows(row, solutions)
    tip = boundary.tip_rows(row, solutions, known, scheme.products)
    rows = boundary.assembled(row, root, tip, known, drive)
    unknowns = boundary.solved(rows)
    latest = boundary.latest(unknowns, tip, drive)
    c = boundary.coefficients(unknowns)
    return PassSolution(unknowns, latest, drive, frames, weight, lambda: solutions.fields(c), rows)


def _load(scheme, state, frames, weight, inverse_square) -> Load:
    """Known accelerations along the links."""
    deflection = state.deflection.curvature() * inverse_square
    slope = state.slope.curvature() * inverse_square
    nodes, middles = past_accelerations(scheme.grid, deflection, slope)
    products = scheme.products * frames.omega[:, :1] * frames.omega[:, 1:]
    return Load(nodes, middles, weight[:, 1:], products)


def record_of(row: LinkRow, scheme: Scheme, end: StepEnd) -> LineRecord:
    """Quantities of the end of a step."""
    x = scheme.grid.x
    solution, latest = end.solution, end.solution.latest
    force = axial_force(
        row, solution.frames, latest.root_force, latest.root_acceleration, solution.weight
    )
    frames = link_frames(row, end.q, end.qd, latest.theta, end.theta_rate)
    axial = force(x)
    slope, curvature, third = np.moveaxis(end.fields[..., 1:], -1, 0)
    shear = axial[..., None] * slope - row.EI * third
    about_z, about_y = np.moveaxis(row.EI * curvature, -1, 0)
    twisting = np.broadcast_to(solution.unknowns[:, boundary.TWIST], about_y.shape)
    return LineRecord(
        end.q,
        end.qd,
        latest.qdd,
        boundary.moments(solution.unknowns, solution.drive),
        frames.to_world,
        frames.omega,
        end.fields[..., 0],
        latest.theta,
        force.integral(x) / row.EA,
        np.stack([axial, shear[..., 0], shear[..., 1]], axis=-1),
        np.stack([twisting, -about_y, about_z], axis=-1),
        float(np.abs(end.change).max()),
    )


def equilibrium(row: LinkRow, scheme: Scheme, state: LineState) -> LineState:
    """State at rest, in which the links hang bent on hinges that are held at their angles.

    Raises
    ------
    OverflowedError
        Deflections of successive solutions do not come together: the load buckles the links.
    """
    n = len(row)
    rest = np.zeros(n)
    held = Drive(np.ones(n, dtype=bool), rest, rest)
    still = scheme._replace(h=np.inf, drive=lambda t, q, qd: held)
    iterate = state.latest
    q = state.turn - about(scheme.hinge, state.theta.last)
    for _ in range(MOST_PASSES):
        theta = iterate.theta
        solution = solve_pass(row, still, state, (state.t, q, rest), iterate)
        iterate = solution.latest
        if np.abs(iterate.theta - theta).max() <= SETTLED * np.abs(iterate.theta).max():
            break
    else:
        raise OverflowedError(
            f"links do not come to rest in {MOST_PASSES} solutions: gravity buckles them, or bends "
            "them too far for small deflections. Begin from given coordinates, or make them stiffer."
        )
    fields = solution.fields()
    levels = tuple(Levels(x, x, x) for x in (fields[..., 0], fields[..., 1], iterate.theta))
    turn = q + about(scheme.hinge, iterate.theta)
    bent = steady(state.t, turn, rest, levels)
    return replace(bent, latest=iterate)
