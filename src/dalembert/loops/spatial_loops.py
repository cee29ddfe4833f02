"""Linkages that move in space."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dalembert.constraints import Closure, Distance
from dalembert.loops.assembly import (
    Assembly,
    assembly,
    block,
    joint,
    other_side,
    pin,
    positive,
    slide,
)
from dalembert.model.joints import Prismatic, Revolute, Universal
from dalembert.model.mechanism import Mechanism
from dalembert.model.parts import Body

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def spatial_slider_crank(
    crank: float = 0.08,
    rod_length: float = 0.3,
    centre: Sequence[float] = (0.0, 0.1, 0.12),
    angle: float = 0.0,
    crank_mass: float = 0.12,
    rod_mass: float = 0.5,
    slider_mass: float = 2.0,
) -> Assembly:
    """Spatial slider crank (IFToMM benchmark): crank and slider along x, a rod askew between them.

    Joints are slider, rod (a universal joint on the slider) and crank; the loop closes at a ball
    joint between rod and crank, and the crank is driven.

    Parameters
    ----------
    crank, rod_length : float
        Lengths [m].
    centre : (3,) float
        Point about which the crank turns [m]; the slider moves on the x axis.
    angle : float
        Of the crank at the start [rad], about x from the direction of z.
    crank_mass, rod_mass, slider_mass : float
        [kg]; moments of inertia are those of the benchmark.

    Raises
    ------
    ValueError, DalembertError
        A length or mass is not positive; the rod does not reach the slider's line.

    Examples
    --------
    >>> import dalembert as da
    >>> mechanism, q = da.loops.spatial_slider_crank()
    >>> mechanism.nq, q.round(3)
    (4, array([ 0.2  , -2.034,  0.841,  0.   ]))
    """
    positive(
        crank=crank,
        rod_length=rod_length,
        crank_mass=crank_mass,
        rod_mass=rod_mass,
    )
    positive(slider_mass=slider_mass)
    bodies = (
        Body("base"),
        Body(
            "slider",
            slider_mass,
            (0, 0, 0),
            (1e-3, 0, 1e-3, 0, 0, 1e-3),
        ),
        Body(
            "rod",
            rod_mass,
            (-rod_length / 2, 0, 0),
            (4e-4, 0, 4e-3, 0, 0, 4e-3),
        ),
        Body("crank", crank_mass, (0, 0, crank / 2), (1e-4, 0, 1e-4, 0, 0, 1e-5)),
    )
    joints = (
        slide("slider", "base", "slider"),
        joint("rod", Universal((1, 0, 0), (0, 0, 1)), "slider", "rod"),
        joint("crank", Revolute((1, 0, 0)), "base", "crank", centre),
    )
    ball = pin("ball", ("rod", (-rod_length, 0, 0)), ("crank", (0, 0, crank)))
    tree = Mechanism("spatial slider-crank", bodies, joints)
    end_y = centre[1] - crank * math.sin(angle)
    end_z = centre[2] + crank * math.cos(angle)
    along = other_side(rod_length, math.hypot(end_y, end_z), "the spatial slider-crank")
    x = centre[0] + along
    tilt = math.acos(along / rod_length)
    mechanism = tree.constrained(ball, actuated=["crank"])
    return assembly(mechanism, x, math.atan2(-end_z, -end_y), tilt, angle)


def bricard(length: float = 1.0, mass: float = 1.0, width: float = 0.1) -> Assembly:
    """Bricard mechanism (IFToMM benchmark A04): five rods, hinges at right angles, a single freedom.

    Six hinges hold five bodies: the count of freedoms is 0, and one row depends on the others.

    Joints are hinge1 to hinge5, all 0 where the rods lie along the edges of a cube; the loop closes
    at a sixth hinge.

    Parameters
    ----------
    length, mass, width : float
        Of each rod, which has a square section [m], [kg].

    Raises
    ------
    ValueError
        A length or mass is not positive.

    Examples
    --------
    >>> import dalembert as da
    >>> mechanism, q = da.loops.bricard()
    >>> mechanism.nv, q
    (5, array([0., 0., 0., 0., 0.]))
    """
    positive(length=length, mass=mass, width=width)
    along = mass * width**2 / 6
    across = mass * (length**2 + width**2) / 12
    rods = [X, (0, -1, 0), Z, (-1, 0, 0), Y]  # from hinge to hinge
    axes = [Y, Z, X, Y, Z]
    bodies, joints = [Body("base")], []
    at: tuple[float, ...] = (0, 0, 0)
    for k, (direction, axis) in enumerate(zip(rods, axes, strict=True), 1):
        moments = [along if component else across for component in direction]
        inertia = (moments[0], 0, moments[1], 0, 0, moments[2])
        com = tuple(component * length / 2 for component in direction)
        bodies.append(Body(f"rod{k}", mass, com, inertia))
        joints.append(joint(f"hinge{k}", Revolute(axis), bodies[k - 1].name, f"rod{k}", at))
        at = tuple(component * length for component in direction)
    last = Closure("hinge6", Revolute(X), ("rod5", at), ("base", (0, 0, length)))
    tree = Mechanism("Bricard", tuple(bodies), tuple(joints), gravity=(0, -9.81, 0))
    return assembly(tree.constrained(last), *[0.0] * 5)


def flyball_governor(
    arm: float = 0.5,
    link: float = 0.5,
    height: float = 1.0,
    offset: float = 0.05,
    ball_mass: float = 5.0,
    collar_mass: float = 3.0,
    angle: float = 1.0,
) -> Assembly:
    """Flyball governor: two arms with balls on a spindle, and links that lift a collar.

    Joints are spindle (about z), collar (along z), left and right: positive angles lower the balls.
    The spindle is driven.

    Parameters
    ----------
    arm, link, height, offset : float
        Lengths of arms and links; height of the arms' pivots and their distance from the spindle
        [m]. Links go from the balls to the collar.
    ball_mass, collar_mass : float
        [kg]; arms and links are light.
    angle : float
        Of the arms below the horizontal at the start [rad].

    Raises
    ------
    ValueError, DalembertError
        A length or mass is not positive; the links do not reach the collar.

    Examples
    --------
    >>> import dalembert as da
    >>> da.loops.flyball_governor().q.round(3)
    array([0.   , 0.159, 1.   , 1.   ])
    """
    positive(arm=arm, link=link, height=height, offset=offset)
    positive(ball_mass=ball_mass, collar_mass=collar_mass)
    ball = 2 * ball_mass / 5 * (arm / 10) ** 2
    bodies = [Body("base"), block("spindle", 1.0), block("collar", collar_mass)]
    joints = [
        joint("spindle", Revolute(Z), "base", "spindle"),
        joint("collar", Prismatic(Z), "spindle", "collar"),
    ]
    links = []
    for side, sense in (("left", -1), ("right", 1)):
        end = (sense * arm, 0, 0)
        bodies.append(Body(side, ball_mass, end, (ball, 0, ball, 0, 0, ball)))
        pivot = (sense * offset, 0, height)
        joints.append(joint(side, Revolute((0, sense, 0)), "spindle", side, pivot))
        links.append(
            Distance(f"{side} link", (side, end), ("collar", (sense * offset, 0, 0)), link)
        )
    reach = arm * math.cos(angle)
    below = other_side(link, reach, "the governor")
    collar = height - arm * math.sin(angle) - below
    tree = Mechanism("flyball governor", tuple(bodies), tuple(joints))
    return assembly(tree.constrained(*links, actuated=["spindle"]), 0.0, collar, angle, angle)
