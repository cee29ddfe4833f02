"""Mass matrix, gravity and Coriolis forces by links in axes of their runs."""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.closed_forms.derivation.run_inertia import (
    NOTHING,
    Column,
    RunInertia,
    is_nonzero,
)
from dalembert.closed_forms.derivation.run_links import Link
from dalembert.spatial.vectors import ZERO, ZERO_MATRIX, Matrix, Scalar, Vector


def composites(links: Sequence[Link], bodies: Sequence[RunInertia]) -> list[RunInertia]:
    """Per link the inertia of all that hangs on it, in its run's axes; bodies[i]: of body i in its
    own axes.

    Of the base's entry only mass and first moment count, which is all that gravity needs of it.
    """
    total = [NOTHING] * len(links)
    for n in range(len(links) - 1, 0, -1):
        link = links[n]
        if link.body:
            total[n] = total[n] + bodies[link.body].turned(link.turn)
        if link.moments is not None:
            total[n] = total[n] + link.moments.inertia
        carried = total[n] if link.parent else total[n]._replace(I=ZERO_MATRIX)
        total[link.parent] = total[link.parent] + carried.turned(link.carry).shifted(link.shift)
    return total


def mass_matrix(links: Sequence[Link], total: Sequence[RunInertia], nv: int) -> list[list[Scalar]]:
    """M by composite bodies: momenta for unit velocities, carried inward to the axes of all freedoms
    below them; of freedoms that several links share they are added up on the way.
    """
    M: list[list[Scalar]] = [[0] * nv for _ in range(nv)]
    momenta: list[Momenta] = [{} for _ in links]  # of links further out, by dof
    for n in range(len(links) - 1, 0, -1):
        link = links[n]
        own = _own_momenta(link, total[n])
        for a, column in enumerate(link.columns):
            for b, (other, L, f) in enumerate(own[a:], a):
                mass = link.moments.masses[a][b] if link.moments else column.power(L, f)
                _add(M, column.dof, other.dof, mass, a != b)
            for dof, (L, f) in momenta[n].items():
                _add(M, column.dof, dof, column.power(L, f))
        for column, L, f in own:
            _gather(momenta[n], column.dof, L, f)
        if link.parent:
            for dof, (L, f) in momenta[n].items():
                f = link.carry.to_parent(f)
                L = link.carry.to_parent(L) + link.shift.cross(f)
                _gather(momenta[link.parent], dof, L, f)
    return M


Momenta = dict[int, tuple[Vector, Vector]]


def _own_momenta(link: Link, total: RunInertia) -> list[tuple[Column, Vector, Vector]]:
    """Moment and force for a unit velocity of each freedom of a link."""
    if link.moments is None:
        return [(column, *total.momentum(column)) for column in link.columns]
    return [
        (column, *pair) for column, pair in zip(link.columns, link.moments.momenta, strict=True)
    ]


def _gather(momenta: Momenta, dof: int, L: Vector, f: Vector) -> None:
    if dof in momenta:
        moment, force = momenta[dof]
        L, f = moment + L, force + f
    momenta[dof] = L, f


def _add(M: list[list[Scalar]], i: int, j: int, value: Scalar, twice: bool = True) -> None:
    """Add the coupling of two freedoms; twice where they share an entry."""
    M[i][j] = M[i][j] + value
    if twice:
        M[j][i] = M[j][i] + value


def gravity_forces(
    links: Sequence[Link], total: Sequence[RunInertia], gravity: Vector, nv: int
) -> list[Scalar]:
    """Gradient of the gravity potential, freedom by freedom: minus the power of gravity on the
    composite body.
    """
    g: list[Scalar] = [0] * nv
    field_at = [gravity]
    for n, link in enumerate(links[1:], 1):
        field_at.append(link.carry.to_child(field_at[link.parent]))
        moment = total[n].h.cross(field_at[n])
        force = field_at[n] * total[n].m
        for column in link.columns:
            g[column.dof] = g[column.dof] - column.power(moment, force)
        if link.moments is not None:
            for column, (_, P) in zip(link.columns, link.moments.momenta, strict=True):
                g[column.dof] = g[column.dof] - field_at[n].dot(P)
    return g


def coriolis_forces(
    links: Sequence[Link], bodies: Sequence[RunInertia], rates: Sequence[Scalar]
) -> list[Scalar]:
    """C(q, qd) qd by the recursion of Newton and Euler at rest accelerations, without gravity.

    Outward: angular velocity w and acceleration dw, acceleration a of each link's origin; with U =
    [dw] + [w][w] the force on a body is m a + U h. Inward: forces and moments about the origins.
    """
    motion = [(ZERO, ZERO, ZERO)]
    for link in links[1:]:
        motion.append(_carried_motion(link, *motion[link.parent], rates))
    wrenches = [(ZERO, ZERO)] * len(links)
    tau: list[Scalar] = [0] * len(rates)
    for n in range(len(links) - 1, 0, -1):
        link = links[n]
        moment, force = wrenches[n]
        if link.body:
            own_moment, own_force = _inertial(bodies[link.body].turned(link.turn), *motion[n])
            moment, force = moment + own_moment, force + own_force
        for column in link.columns:
            # term by term: expressions add from the left
            power = tau[column.dof] + column.angular.dot(moment)
            tau[column.dof] = power + column.linear.dot(force)
        moment = link.carry.to_parent(moment)
        force = link.carry.to_parent(force)
        outer_moment, outer_force = wrenches[link.parent]
        outer_moment = outer_moment + moment + link.shift.cross(force)
        wrenches[link.parent] = outer_moment, outer_force + force
    return tau


def _carried_motion(
    link: Link, w: Vector, dw: Vector, a: Vector, rates: Sequence[Scalar]
) -> tuple[Vector, Vector, Vector]:
    """w, dw and a of a link from those of its parent."""
    if any(map(is_nonzero, link.shift)):
        a = a + _moving(w, dw) @ link.shift
    w, dw, a = (link.carry.to_child(x) for x in (w, dw, a))
    turning = sum((c.angular * rates[c.dof] for c in link.columns), start=ZERO)
    sliding = sum((c.linear * rates[c.dof] for c in link.columns), start=ZERO)
    total = w + turning
    return total, dw + w.cross(turning), a + w.cross(sliding) + total.cross(sliding)


def _moving(w: Vector, dw: Vector) -> Matrix:
    """U = [dw] + [w][w]: U r is the acceleration of a point at r, relative to the origin's."""
    x, y, z = w
    dx, dy, dz = dw
    return Matrix(
        (
            (-(y * y + z * z), x * y - dz, x * z + dy),
            (x * y + dz, -(x * x + z * z), y * z - dx),
            (x * z - dy, y * z + dx, -(x * x + y * y)),
        )
    )


def _inertial(body: RunInertia, w: Vector, dw: Vector, a: Vector) -> tuple[Vector, Vector]:
    """(moment, force) of a moving body: I dw + w x I w + h x a, m a + U h."""
    U = _moving(w, dw)
    x, y, z = w
    dx, dy, dz = dw
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.I
    # products of inertia meet what stands in U already: I_xy (dy - x z) is -I_xy U_zx
    moment = Vector(
        (
            xx * dx + (zz - yy) * (y * z) - xy * U[2][0] + xz * U[1][0] + yz * (y * y - z * z),
            yy * dy + (xx - zz) * (x * z) + xy * U[2][1] - yz * U[0][1] + xz * (z * z - x * x),
            zz * dz + (yy - xx) * (x * y) - xz * U[1][2] + yz * U[0][2] + xy * (x * x - y * y),
        )
    )
    return moment + body.h.cross(a), a * body.m + U @ body.h
