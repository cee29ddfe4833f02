"""Solutions along the links: Runge-Kutta steps of the initial-parameter method, orthogonalised.

In each plane of each link the state is Y = (y, y', y'', y''', a, eps, 1): a deflection with its
derivatives, two constants (acceleration of the link's origin, angular acceleration of its axes), and
1 for what is known. All links and planes are integrated at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dalembert.initial_parameters.link_frames import LinkFrames
from dalembert.initial_parameters.link_row import LinkRow

SIGN = np.array([-1.0, 1.0])  # of eps x in the accelerations of v and w, turned over


class Grid(NamedTuple):
    """Nodes along every link.

    x: (S + 1, N) [m]
    step: (N,) [m]
    orthogonal: nodes at which the solutions are made orthogonal
    """

    x: np.ndarray
    step: np.ndarray
    orthogonal: tuple[int, ...]

    @classmethod
    def of(cls, row: LinkRow, segments: int, orthogonalisations: int) -> Grid:
        """Equal intervals, with orthogonalisations at about equal distances."""
        x = np.linspace(0, 1, segments + 1)[:, None] * row.length
        inner = np.linspace(0, segments, orthogonalisations + 2)[1:-1].round().astype(int)
        return cls(x, row.length / segments, tuple(sorted({*inner.tolist()} - {0, segments})))


class AxialForce(NamedTuple):
    """Quadratic axial force along the links, N(x) = N0 + rho F (a x - W x^2 / 2).

    root: N0 (N,) [N]
    density: rho F (N,) [kg/m]
    a: acceleration of the root along the link less gravity (N,) [m/s^2]
    W: omega_y^2 + omega_z^2 (N,) [1/s^2]
    """

    root: np.ndarray
    density: np.ndarray
    a: np.ndarray
    W: np.ndarray

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.root + self.density * (self.a * x - self.W * x**2 / 2)

    def slope(self, x: np.ndarray) -> np.ndarray:
        """dN/dx [N/m]."""
        return self.density * (self.a - self.W * x)

    def integral(self, x: np.ndarray) -> np.ndarray:
        """Integral of N from the root [N m]."""
        return self.root * x + self.density * (self.a * x**2 / 2 - self.W * x**3 / 6)


class Load(NamedTuple):
    """Accelerations that are known: of past levels at nodes and midway (S + 1 and S, N, 2), of gravity
    (N, 2), and of the products of angular velocities, per x (N, 2).
    """

    nodes: np.ndarray
    middles: np.ndarray
    gravity: np.ndarray
    products: np.ndarray


def past_accelerations(grid: Grid, deflection, slope) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations at the nodes and midway, there by Hermite's cubic (S + 1 and S, N, 2)."""
    bend = (slope[:-1] - slope[1:]) * grid.step[:, None] / 8
    return deflection, (deflection[:-1] + deflection[1:]) / 2 + bend


class Elimination(NamedTuple):
    """Orthogonalisation at a node, F = Q R and p = Q^T z: coefficients before it are
    R^-1 (coefficients after it - p).

    node: its index
    R: (N, 2, 4, 4)
    p: (N, 2, 4)
    """

    node: int
    R: np.ndarray
    p: np.ndarray

    def before(self, coefficients: np.ndarray) -> np.ndarray:
        """Coefficients before the node, of those after it (N, 2, 4, ...)."""
        return np.linalg.solve(self.R, coefficients)


class FundamentalSolutions(NamedTuple):
    """Four solutions and a particular one in both planes of every link.

    values: y, y', y'', y''' at the nodes (S + 1, N, 2, 4, 5), at an orthogonalisation those before it
    tip: state of the last piece at the tip, without the 1 (N, 2, 6, 5)
    eliminations: in their order along the links
    """

    values: np.ndarray
    tip: np.ndarray
    eliminations: list[Elimination]

    def at_root(self) -> tuple[np.ndarray, np.ndarray]:
        """T (N, 2, 4, 4) and s (N, 2, 4): coefficients at the root are T c + s of those at the tip."""
        T = np.zeros(self.tip.shape[:2] + (4, 5))
        T[..., :4] = np.eye(4)
        for node in reversed(self.eliminations):
            T[..., 4] -= node.p
            T = node.before(T)
        return T[..., :4], T[..., 4]

    def fields(self, c: np.ndarray) -> np.ndarray:
        """y, y', y'', y''' at the nodes (S + 1, N, 2, 4) of the coefficients at the tip (N, 2, 4)."""
        fields = np.empty(self.values.shape[:-1])
        last = len(self.values)
        for node in reversed(self.eliminations):
            fields[node.node + 1 : last] = _combined(self.values[node.node + 1 : last], c)
            c = node.before((c - node.p)[..., None])[..., 0]
            last = node.node + 1
        fields[:last] = _combined(self.values[:last], c)
        return fields


def _combined(values: np.ndarray, c: np.ndarray) -> np.ndarray:
    return (values[..., :4] @ c[..., None])[..., 0] + values[..., 4]


def fundamental_solutions(row, grid, force, load, inverse_square) -> FundamentalSolutions:
    """Solutions from the roots to the tips of all links.

        EI y'''' = N y'' + N' y' - (2 rho F / h^2) y - rho F (a +- eps x + known accelerations)

    The particular one begins at 0, the others with unit y'', y''', a and eps.
    """
    steps = _interval_maps(row, grid, force, load, inverse_square)
    scale = _scale(row, inverse_square)
    Y = np.zeros((len(row), 2, 7, 5))
    Y[..., 2:6, :4] = np.eye(4)
    Y[..., 6, 4] = 1
    values = np.empty((len(grid.x),) + Y.shape[:2] + (4, 5))
    values[0] = Y[..., :4, :]
    eliminations = []
    for node, step in enumerate(steps, 1):
        Y = step @ Y
        values[node] = Y[..., :4, :]
        if node in grid.orthogonal:
            eliminations.append(_orthogonalise(node, Y, scale))
    return FundamentalSolutions(values, Y[..., :6, :], eliminations)


def _scale(row: LinkRow, inverse_square: float) -> np.ndarray:
    """Factors that give the entries of a state one size (N, 2, 6, 1)."""
    length = row.length[:, None]
    b = np.maximum(row.growth(inverse_square), 1 / length)
    unit = row.EI * b**4 / row.mass_per_length[:, None]  # acceleration of a unit deflection
    entries = [np.ones_like(b), 1 / b, 1 / b**2, 1 / b**3, 1 / unit, length / unit]
    return np.stack(entries, axis=-1)[..., None]


def _orthogonalise(node: int, Y: np.ndarray, scale: np.ndarray) -> Elimination:
    """Make the solutions of a state Y (N, 2, 7, 5) orthogonal, in place."""
    scaled = Y[..., :6, :] * scale
    Q, R = np.linalg.qr(scaled[..., :4])
    z = scaled[..., 4:]
    p = Q.swapaxes(-1, -2) @ z
    Y[..., :6, :4] = Q / scale
    Y[..., :6, 4:] = (z - Q @ p) / scale
    return Elimination(node, R, p[..., 0])


def _interval_maps(row, grid, force, load, inverse_square) -> np.ndarray:
    """Maps of a state over each interval (S, N, 2, 7, 7): a step of Runge and Kutta."""
    x = grid.x
    nodes = _fourth_derivatives(row, force, x, load.nodes, load, inverse_square)
    middle = (x[:-1] + x[1:]) / 2
    middles = _fourth_derivatives(row, force, middle, load.middles, load, inverse_square)
    dx = grid.step[:, None, None, None]
    start = np.eye(7)
    k1 = _slope(nodes[:-1], np.broadcast_to(start, middles.shape[:-1] + (7, 7)))
    k2 = _slope(middles, start + dx / 2 * k1)
    k3 = _slope(middles, start + dx / 2 * k2)
    k4 = _slope(nodes[1:], start + dx * k3)
    return start + dx / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def _slope(fourth: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """dY/dx, where y'''' is `fourth` times the state."""
    slope = np.zeros(Y.shape)
    slope[..., :3, :] = Y[..., 1:4, :]
    slope[..., 3:4, :] = fourth[..., None, :] @ Y
    return slope


def _fourth_derivatives(row, force, x, past, load, inverse_square) -> np.ndarray:
    """Coefficients of y'''' in a state at places x (..., N): (..., N, 2, 7)."""
    density = row.mass_per_length[:, None]
    place = x[..., None]
    fourth = np.zeros(past.shape + (7,))
    fourth[..., 0] = -2 * density * inverse_square
    fourth[..., 1] = force.slope(x)[..., None]
    fourth[..., 2] = force(x)[..., None]
    fourth[..., 4] = -density
    fourth[..., 5] = SIGN * density * place
    fourth[..., 6] = -density * (past + load.products * place + load.gravity)
    return fourth / row.EI[..., None]


def axial_force(row: LinkRow, frames: LinkFrames, root, a_x, gravity) -> AxialForce:
    """Axial force of the links at its value and the acceleration at their roots (N,)."""
    W = frames.omega[:, 1] ** 2 + frames.omega[:, 2] ** 2
    return AxialForce(root, row.mass_per_length, a_x + gravity[:, 0], W)
