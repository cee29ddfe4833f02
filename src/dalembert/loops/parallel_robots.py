"""Parallel robots: several chains carry one platform."""

from __future__ import annotations

import math

from dalembert.constraints import Distance
from dalembert.loops.assembly import (
    Assembly,
    assembly,
    disc,
    hinge,
    joint,
    other_side,
    pin,
    positive,
    rod,
    triangle,
)
from dalembert.model.joints import Free, Prismatic, Revolute, Universal
from dalembert.model.mechanism import Mechanism
from dalembert.model.origins import Origin
from dalembert.model.parts import Body, Frame, Joint

ARMS, LEGS = 3, 6


def five_bar(
    proximal: float = 0.4,
    distal: float = 0.6,
    base: float = 0.3,
    mass_per_length: float = 1.0,
    left: float = 2.2,
    right: float = 0.9,
) -> Assembly:
    """Planar 5R parallel robot: two driven links on the ground, and two that meet at the tool.

    Joints are left, left_distal, right, right_distal, in the vertical x-z plane; the links meet at
    the frame "tool" of left_distal, above the motors.

    Parameters
    ----------
    proximal, distal, base : float
        Lengths of the driven links, of the others, and distance of the motors [m].
    mass_per_length : float
        Of the links [kg/m].
    left, right : float
        Angles of the driven links at the start [rad].

    Raises
    ------
    ValueError, DalembertError
        A length is not positive; the links do not meet at these angles.

    Examples
    --------
    >>> import dalembert as da
    >>> mechanism, q = da.loops.five_bar()
    >>> da.placement(mechanism, q, "tool")[:3, 3].round(3)
    array([0.162, 0.   , 0.773])
    """
    positive(
        proximal=proximal,
        distal=distal,
        base=base,
        mass_per_length=mass_per_length,
    )
    starts = {"left": 0.0, "right": base}
    bodies, joints = [Body("base")], []
    for side, x in starts.items():
        bodies.append(rod(side, proximal, mass_per_length * proximal))
        bodies.append(rod(f"{side}_distal", distal, mass_per_length * distal))
        joints.append(hinge(side, "base", side, (x, 0, 0)))
        joints.append(hinge(f"{side}_distal", side, f"{side}_distal", (proximal, 0, 0)))
    tool = Frame("tool", "left_distal", Origin((distal, 0, 0)))
    tree = Mechanism("five-bar", tuple(bodies), tuple(joints), (tool,))
    closed = pin("pin", ("left_distal", (distal, 0, 0)), ("right_distal", (distal, 0, 0)))
    elbows = [
        (x + proximal * math.cos(angle), proximal * math.sin(angle))
        for x, angle in ((0.0, left), (base, right))
    ]
    (x1, z1), (x2, z2) = elbows
    span = math.hypot(x2 - x1, z2 - z1)
    across = math.atan2(z2 - z1, x2 - x1)
    inner = triangle(span, distal, distal, "the five-bar")
    mechanism = tree.constrained(closed, actuated=["left", "right"])
    left_angle, right_angle = across + inner, across + math.pi - inner
    return assembly(mechanism, left, left_angle - left, right, right_angle - right)


def delta_robot(
    base_radius: float = 0.2,
    arm: float = 0.3,
    forearm: float = 0.6,
    platform_radius: float = 0.06,
    half_width: float = 0.05,
    mass_per_length: float = 0.8,
    platform_mass: float = 0.5,
    angle: float = 0.3,
) -> Assembly:
    """Delta robot: three driven arms, and pairs of rods that carry a platform below without turning.

    Joints are platform (free), and the driven arm1, arm2, arm3: positive angles lower. Each rod is
    a distance; the six of them leave the platform three freedoms.

    Parameters
    ----------
    base_radius, platform_radius : float
        Of the circles of the arms' pivots and of the rods' ends on the platform [m].
    arm, forearm, half_width : float
        Lengths of arms and rods, and half the distance between the rods of a pair [m].
    mass_per_length : float
        Of arms, and of a pair of rods, half of whose mass counts for the arm's end and half for the
        platform [kg/m].
    platform_mass : float
        [kg]
    angle : float
        Of the arms below the horizontal at the start [rad].

    Raises
    ------
    ValueError, DalembertError
        A length or mass is not positive; the rods do not reach the platform.

    Examples
    --------
    >>> import dalembert as da
    >>> mechanism, q = da.loops.delta_robot()
    >>> len(mechanism.constraints), q[4:7].round(3)
    (6, array([ 0.   ,  0.   , -0.511]))
    """
    positive(
        base_radius=base_radius,
        arm=arm,
        forearm=forearm,
        platform_radius=platform_radius,
    )
    positive(
        half_width=half_width,
        density=mass_per_length,
        platform_mass=platform_mass,
    )
    lumped = mass_per_length * forearm / 2  # of a pair of rods, at each of its ends
    total = platform_mass + ARMS * lumped
    platform = disc("platform", total, platform_radius)
    bodies, joints = [Body("base"), platform], [joint("platform", Free(), "base", "platform")]
    rods = []
    for k in range(ARMS):
        name, turn = f"arm{k + 1}", 2 * math.pi / ARMS * k
        c, s = math.cos(turn), math.sin(turn)
        bodies.append(_arm(name, arm, mass_per_length * arm, lumped))
        pivot = Origin.rpy((base_radius * c, base_radius * s, 0.0), yaw=turn)
        joints.append(Joint(name, Revolute((0, 1, 0)), "base", name, pivot))
        for side in (-1, 1):
            y = side * half_width
            end = (platform_radius * c - y * s, platform_radius * s + y * c, 0.0)
            label = f"rod{k + 1}{'a' if side < 0 else 'b'}"
            rods.append(Distance(label, (name, (arm, y, 0)), ("platform", end), forearm))
    outward = base_radius + arm * math.cos(angle) - platform_radius
    below = other_side(forearm, outward, "the delta robot")
    depth = arm * math.sin(angle) + below
    tree = Mechanism("delta robot", tuple(bodies), tuple(joints))
    mechanism = tree.constrained(*rods, actuated=[f"arm{k + 1}" for k in range(ARMS)])
    return assembly(mechanism, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -depth, *[angle] * ARMS)


def _arm(name: str, length: float, mass: float, at_end: float) -> Body:
    """A thin rod along x with a point mass at its end."""
    total = mass + at_end
    com = (mass / 2 + at_end) * length / total
    about_start = mass * length**2 / 3 + at_end * length**2
    moment = about_start - total * com**2
    return Body(name, total, (com, 0, 0), (0, 0, moment, 0, 0, moment))


def stewart_platform(
    base_radius: float = 0.6,
    platform_radius: float = 0.35,
    height: float = 0.8,
    spread: float = 0.2,
    leg_mass: float = 1.0,
    platform_mass: float = 8.0,
) -> Assembly:
    """Stewart platform (6-UPS): six legs, each on a universal joint, that lengthen.

    Joints are platform (free), and leg1, slide1, ... leg6, slide6; the coordinate of a slide is the
    length of its leg. The legs end in ball joints on the platform; the slides are driven.

    Parameters
    ----------
    base_radius, platform_radius : float
        Of the circles on which the legs stand and end [m].
    height : float
        Of the platform above the base at the start [m].
    spread : float
        Half the angle between the two neighbours of a pair of legs [rad].
    leg_mass, platform_mass : float
        Of each of the two halves of a leg, and of the platform, a disc [kg].

    Raises
    ------
    ValueError
        A length or mass is not positive.

    Examples
    --------
    >>> import dalembert as da
    >>> mechanism, q = da.loops.stewart_platform()
    >>> mechanism.nv, len(mechanism.constraints)
    (24, 6)
    """
    positive(
        base_radius=base_radius,
        platform_radius=platform_radius,
        height=height,
    )
    positive(leg_mass=leg_mass, platform_mass=platform_mass)
    platform = disc("platform", platform_mass, platform_radius)
    bodies, joints = [Body("base"), platform], [joint("platform", Free(), "base", "platform")]
    balls = []
    q = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, height]
    for k in range(LEGS):
        pair, side = divmod(k, 2)
        foot_angle = 2 * math.pi / 3 * pair + (spread if side else -spread)
        end_angle = 2 * math.pi / 3 * pair + (1 if side else -1) * (math.pi / 3 - spread)
        foot = base_radius * math.cos(foot_angle), base_radius * math.sin(foot_angle), 0.0
        end = platform_radius * math.cos(end_angle), platform_radius * math.sin(end_angle), 0.0
        along = end[0] - foot[0], end[1] - foot[1], height
        length = math.hypot(*along)
        bodies += _halves(k + 1, leg_mass, length / 2)
        leg, half = f"leg{k + 1}", f"slide{k + 1}"
        joints.append(joint(leg, Universal((1, 0, 0), (0, 1, 0)), "base", leg, foot))
        joints.append(joint(half, Prismatic((0, 0, 1)), leg, half))
        balls.append(pin(f"ball{k + 1}", (half, (0, 0, 0)), ("platform", end)))
        tilt = math.asin(along[0] / length)
        q += [math.atan2(-along[1], along[2]), tilt, length]
    tree = Mechanism("Stewart platform", tuple(bodies), tuple(joints))
    driven = [f"slide{k + 1}" for k in range(LEGS)]
    return assembly(tree.constrained(*balls, actuated=driven), *q)


def _halves(number: int, mass: float, length: float) -> tuple[Body, Body]:
    """The two halves of a leg along z, thin rods: the lower one above, the other below its frame."""
    moment = mass * length**2 / 12
    inertia = (moment, 0, moment, 0, 0, mass * (length / 20) ** 2 / 2)
    lower = Body(f"leg{number}", mass, (0, 0, length / 2), inertia)
    upper = Body(f"slide{number}", mass, (0, 0, -length / 2), inertia)
    return lower, upper
