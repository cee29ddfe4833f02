"""Beams whose mass is a line: forces and inertia by the tangents t_j at nodes, without the slices.

    A_j = U t_j + 2 omega x t_j' + t_j'',   g_j = w_j a + sum_k G_jk A_k
    force = m a + sum_j w_j A_j,   moment = sum_j t_j x g_j,   on coordinates  sum_j dt_j/d delta . g_j

with the acceleration a of the beam's start and the field U of the body that carries it (section 8 of
docs/newton_euler.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dalembert.formulations.newton_euler.body_rates import Rates, outward_step
from dalembert.model.elastic.line_masses import LineMass
from dalembert.model.joints.traced import COLUMNS, PLACEMENT
from dalembert.model.tree import TreeJoint
from dalembert.spatial.inertias import Inertia
from dalembert.spatial.motion_force import NO_MOTION, Force, combined
from dalembert.spatial.vectors import Matrix, Scalar, Vector, dot, summed

Scalars = Sequence[Scalar]
LOWER = ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2))  # entries of a symmetric matrix


class LineForces(NamedTuple):
    """Forces that a line needs: on the body that carries it, and along its coordinates."""

    on_carrier: Force
    along: list[Scalar]


def line_forces(
    mass: LineMass,
    joint: TreeJoint,
    state: tuple[Scalars, Scalars, Scalars | None],
    carrier: Rates,
) -> LineForces:
    """Forces for a motion (q, qd, qdd; None: zero) of the line; joint: that of a slice."""
    q, qd, qdd = state
    delta, v = joint.coordinates(q), joint.velocities(qd)
    v_rate = [0] * len(v) if qdd is None else joint.velocities(qdd)
    start = outward_step(carrier, joint.origin, NO_MOTION, NO_MOTION)
    tangents, columns = _tangents(mass, delta)
    A = _accelerations(mass, (delta, v, v_rate), start)
    g = [
        start.a * w + summed(A, weights) for w, weights in zip(mass.first, mass.second, strict=True)
    ]
    force = start.a * mass.mass + summed(A, mass.first)
    moment = total([t.cross(f) for t, f in zip(tangents, g, strict=True)])
    turned = [
        [f.dot(c) for f, c in zip(g, of_nodes, strict=True)]
        for of_nodes in zip(*columns, strict=True)
    ]
    along = [dot(turned[variable], numbers) for variable, numbers in mass.chain]
    return LineForces(joint.origin.force_to_parent(Force(moment, force)), along)


def _tangents(mass: LineMass, delta: Scalars) -> tuple[list[Vector], list[list[Vector]]]:
    """t_j, and their derivatives by the local variables."""
    line, length = mass.line, mass.length
    tangents = [t for (t,) in line.at_nodes(PLACEMENT, delta, delta, length)]
    return tangents, line.at_nodes(COLUMNS, delta, delta, length)


def _accelerations(
    mass: LineMass, state: tuple[Scalars, Scalars, Scalars], start: Rates
) -> list[Vector]:
    """A_j = U t_j + 2 omega x t_j' + t_j''."""
    tangents, _ = _tangents(mass, state[0])
    rates = mass.line.rates_at_nodes(state, mass.length)
    twice = start.w + start.w
    return [
        start.U @ t + twice.cross(rate) + bend
        for t, (rate, bend) in zip(tangents, rates, strict=True)
    ]


class LineInertia(NamedTuple):
    """Inertia of a line on the body that carries it, forces on this for unit accelerations of the
    coordinates, and their mass matrix.
    """

    on_carrier: Inertia
    forces: list[Force]
    M: list[list[Scalar]]


def line_inertia(mass: LineMass, joint: TreeJoint, q: Scalars) -> LineInertia:
    """Inertia of the line at coordinates."""
    tangents, columns = _tangents(mass, joint.coordinates(q))
    carried = [summed(tangents, weights) for weights in mass.second]  # sum_k G_jk t_k
    by_axis, carried_by_axis = list(zip(*tangents, strict=True)), list(zip(*carried, strict=True))
    lower = [dot(by_axis[i], carried_by_axis[k]) for i, k in LOWER]
    body = Inertia(mass.mass, summed(tangents, mass.first), Matrix.symmetric(*lower))
    by_variable = list(zip(*columns, strict=True))
    of_nodes = [
        [Force(s.cross(c), c * w) for s, w, c in zip(carried, mass.first, column, strict=True)]
        for column in by_variable
    ]
    forces = [combined(of_nodes[variable], numbers) for variable, numbers in mass.chain]
    return LineInertia(
        body.to_parent(joint.origin),
        [joint.origin.force_to_parent(f) for f in forces],
        _mass_matrix(mass, by_variable),
    )


def _mass_matrix(mass: LineMass, columns: Sequence[Sequence[Vector]]) -> list[list[Scalar]]:
    """Sum over nodes of dt_j/d delta_i . G_jk dt_k/d delta_l, with columns dt_j/dy by variable."""
    G, n = mass.second, len(mass.chain)
    products = {
        (a, b): [
            [c.dot(d) * g for d, g in zip(other, row, strict=True)]
            for c, row in zip(one, G, strict=True)
        ]
        for a, one in enumerate(columns)
        for b, other in enumerate(columns)
    }
    M: list[list[Scalar]] = [[0] * n for _ in range(n)]
    for column, (b, numbers) in enumerate(mass.chain):
        spread = [[dot(row, numbers) for row in products[a, b]] for a in range(len(columns))]
        for row in range(column + 1):
            a, weights = mass.chain[row]
            M[row][column] = M[column][row] = dot(spread[a], weights)
    return M


def total(values: Sequence[Any]) -> Any:
    """Sum of vectors or matrices."""
    return sum(values[1:], values[0])
