"""Motion of bodies in their own axes, from the base outward, and the forces that it needs."""

from __future__ import annotations

from typing import NamedTuple

from dalembert.spatial.inertias import Inertia
from dalembert.spatial.motion_force import Force, Motion
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import ZERO, ZERO_MATRIX, Matrix, Vector


class Rates(NamedTuple):
    """Motion of a body in its own axes.

    w angular velocity, dw angular acceleration, a acceleration of the origin (gravity taken off),
    and U = [dw]x + [w]x [w]x: the point r of the body accelerates with a + U r.
    """

    w: Vector
    dw: Vector
    a: Vector
    U: Matrix


def acceleration_field(w: Vector, dw: Vector) -> Matrix:
    """U = [dw]x + [w]x [w]x."""
    x, y, z = w
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return Matrix(
        (
            (-(yy + zz), xy - dw[2], xz + dw[1]),
            (xy + dw[2], -(xx + zz), yz - dw[0]),
            (xz - dw[1], yz + dw[0], -(xx + yy)),
        )
    )


def outward_step(parent: Rates, X: Transform, velocity: Motion, rate: Motion) -> Rates:
    """Rates of a body from its parent's; velocity = S qd and rate = S qdd + S' qd of its joint, in
    its axes.
    """
    w_parent = X.R.to_child(parent.w)
    w = w_parent + velocity.angular
    dw = X.R.to_child(parent.dw) + w_parent.cross(velocity.angular) + rate.angular
    a = (
        X.R.to_child(parent.a + parent.U @ X.p)
        + (w_parent + w).cross(velocity.linear)
        + rate.linear
    )
    return Rates(w, dw, a, acceleration_field(w, dw))


def body_wrench(inertia: Inertia, rates: Rates) -> Force:
    """Newton's and Euler's equation: the force that the motion of a body needs."""
    return inertia.wrench(rates.a, rates.U)


def base_rates(gravity: Vector) -> Rates:
    """The base at rest; gravity enters as its acceleration upward."""
    return Rates(ZERO, ZERO, -gravity, ZERO_MATRIX)
