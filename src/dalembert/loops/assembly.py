"""Parts that loops are made of: uniform rods, pins of planar linkages, triangles that close them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dalembert.constraints import Closure
from dalembert.errors import DalembertError
from dalembert.model.joints import JointType, Prismatic, Revolute, Spherical
from dalembert.model.mechanism import Mechanism
from dalembert.model.origins import Origin
from dalembert.model.parts import Body, Joint
from dalembert.spatial.arrays import VectorArray

UPWARDS = Revolute((0, -1, 0))  # in the vertical x-z plane: positive angles rise
Point = Sequence[float]


class Assembly(NamedTuple):
    """A mechanism with constraints, and coordinates that meet them.

    mechanism : the tree with its constraints
    q : (nq,) [rad, m]

    Examples
    --------
    >>> import dalembert as da
    >>> mechanism, q = da.loops.four_bar()
    >>> mechanism.constraints[0].name, q.shape
    ('pin', (3,))
    """

    mechanism: Mechanism
    q: VectorArray


def assembly(mechanism: Mechanism, *q: float) -> Assembly:
    """The assembly with coordinates as an array."""
    return Assembly(mechanism, np.array(q, dtype=float))


def positive(**lengths: float) -> None:
    """Raise a ValueError where a length or mass is not a positive number."""
    for name, x in lengths.items():
        if isinstance(x, bool) or not isinstance(x, (int, float)) or not 0 < x < math.inf:
            raise ValueError(f"{name}={x!r}: expected a positive number.")


def rod(name: str, length: float, mass: float, start: float = 0.0) -> Body:
    """A thin uniform rod along x, which begins at x = start [m]."""
    moment = mass * length**2 / 12
    return Body(
        name,
        mass,
        (start + length / 2, 0, 0),
        (0, 0, moment, 0, 0, moment),
    )


def block(name: str, mass: float, size: float = 0.1) -> Body:
    """A uniform cube about its frame's origin."""
    moment = mass * size**2 / 6
    return Body(
        name,
        mass,
        (0, 0, 0),
        (moment, 0, moment, 0, 0, moment),
    )


def disc(name: str, mass: float, radius: float) -> Body:
    """A flat uniform disc in the plane of x and y."""
    flat = mass * radius**2 / 4
    return Body(name, mass, (0, 0, 0), (flat, 0, flat, 0, 0, 2 * flat))


def hinge(name: str, parent: str, child: str, at: Point = (0, 0, 0)) -> Joint:
    """A joint of a planar linkage in the vertical x-z plane."""
    return joint(name, UPWARDS, parent, child, at)


def slide(name: str, parent: str, child: str, at: Point = (0, 0, 0)) -> Joint:
    """A joint along x."""
    return joint(name, Prismatic((1, 0, 0)), parent, child, at)


def joint(
    name: str, joint_type: JointType, parent: str, child: str, at: Point = (0, 0, 0)
) -> Joint:
    """A joint of any type at a point of its parent."""
    return Joint(name, joint_type, parent, child, Origin(tuple(at)))


def pin(name: str, first: tuple[str, Point], second: tuple[str, Point]) -> Closure:
    """Two points that stay together."""
    return Closure(name, Spherical(), first, second)


def triangle(base: float, left: float, right: float, what: str) -> float:
    """Angle between the base and the left side of a triangle [rad].

    Raises
    ------
    DalembertError
        The sides make no triangle.
    """
    cosine = (base**2 + left**2 - right**2) / (2 * base * left)
    if not abs(cosine) <= 1:
        raise DalembertError(
            f"{what} cannot be closed: sides of {left:.6g} m and {right:.6g} m do not span "
            f"{base:.6g} m. Change a length, or the angle at which it begins."
        )
    return math.acos(cosine)


def other_side(rod_length: float, across: float, what: str) -> float:
    """How far a rod reaches along, whose end is away by some length across [m].

    Raises
    ------
    DalembertError
        The rod is too short.
    """
    if abs(across) > rod_length:
        raise DalembertError(
            f"{what} cannot be closed: a rod of {rod_length:.6g} m does not span "
            f"{abs(across):.6g} m. Change a length, or the angle at which it begins."
        )
    return math.sqrt(rod_length**2 - across**2)
