"""Linkages in the vertical x-z plane, of uniform rods; gravity is along -z."""

from __future__ import annotations

import math

from dalembert.arguments import check_whole
from dalembert.loops.assembly import (
    Assembly,
    assembly,
    block,
    hinge,
    other_side,
    pin,
    positive,
    rod,
    slide,
    triangle,
)
from dalembert.model.mechanism import Mechanism
from dalembert.model.origins import Origin
from dalembert.model.parts import Body, Frame

MOST_LOOPS = 5000


def four_bar(
    crank: float = 0.4,
    coupler: float = 1.0,
    rocker: float = 0.8,
    ground: float = 1.0,
    mass_per_length: float = 1.0,
    angle: float = math.pi / 2,
    crossed: bool = False,
) -> Assembly:
    """Four-bar linkage: crank and rocker on the ground, and a coupler pinned to both.

    Joints are crank, coupler (relative to the crank) and rocker; the loop closes at the pin between
    coupler and rocker, and the crank is driven.

    Parameters
    ----------
    crank, coupler, rocker, ground : float
        Lengths [m]; the crank turns on the origin, the rocker on (ground, 0, 0).
    mass_per_length : float
        Of the rods [kg/m].
    angle : float
        Of the crank at the start [rad].
    crossed : bool
        Whether the coupler crosses the line of the ground pivots at the start.

    Raises
    ------
    ValueError, DalembertError
        A length is not positive; the rods do not reach each other at that angle.

    Examples
    --------
    >>> import dalembert as da
    >>> mechanism, q = da.loops.four_bar(angle=1.0)
    >>> mechanism.coordinate_names
    ('crank', 'coupler', 'rocker')
    >>> q.round(3)
    array([ 1.   , -0.526,  1.438])
    """
    positive(
        crank=crank,
        coupler=coupler,
        rocker=rocker,
        ground=ground,
        density=mass_per_length,
    )
    lengths = {"crank": crank, "coupler": coupler, "rocker": rocker}
    bodies = [rod(name, length, mass_per_length * length) for name, length in lengths.items()]
    joints = (
        hinge("crank", "base", "crank"),
        hinge("coupler", "crank", "coupler", (crank, 0, 0)),
        hinge("rocker", "base", "rocker", (ground, 0, 0)),
    )
    closed = pin("pin", ("coupler", (coupler, 0, 0)), ("rocker", (rocker, 0, 0)))
    tree = Mechanism("four-bar", (Body("base"), *bodies), joints)
    x, z = crank * math.cos(angle), crank * math.sin(angle)
    span = math.hypot(ground - x, z)
    side = -1 if crossed else 1
    to_rocker = math.atan2(-z, ground - x)  # direction from the crank's end to the rocker's pivot
    turn = side * triangle(span, coupler, rocker, "the four-bar")
    coupler_angle = to_rocker + turn
    end_x, end_z = x + coupler * math.cos(coupler_angle), z + coupler * math.sin(coupler_angle)
    rocker_angle = math.atan2(end_z, end_x - ground)
    mechanism = tree.constrained(closed, actuated=["crank"])
    return assembly(mechanism, angle, coupler_angle - angle, rocker_angle)


def slider_crank(
    crank: float = 0.2,
    rod_length: float = 0.6,
    offset: float = 0.0,
    mass_per_length: float = 1.0,
    slider_mass: float = 0.5,
    angle: float = math.pi / 3,
) -> Assembly:
    """Slider crank: a crank, a rod, and a slider along x.

    Joints are crank, rod (relative to the crank) and slider; the loop closes at the pin between rod
    and slider, and the crank is driven.

    Parameters
    ----------
    crank, rod_length : float
        Lengths [m]; the crank turns on the origin.
    offset : float
        Height of the slider's line [m].
    mass_per_length, slider_mass : float
        Of the rods [kg/m]; of the slider [kg].
    angle : float
        Of the crank at the start [rad].

    Raises
    ------
    ValueError, DalembertError
        A length or mass is not positive; the rod does not reach the slider's line at that angle.

    Examples
    --------
    >>> import dalembert as da
    >>> da.loops.slider_crank(angle=0.0).q.round(3)
    array([0. , 0. , 0.8])
    """
    positive(
        crank=crank,
        rod_length=rod_length,
        density=mass_per_length,
        slider_mass=slider_mass,
    )
    lengths = {"crank": crank, "rod": rod_length}
    bodies = [rod(name, length, mass_per_length * length) for name, length in lengths.items()]
    joints = (
        hinge("crank", "base", "crank"),
        hinge("rod", "crank", "rod", (crank, 0, 0)),
        slide("slider", "base", "slider", (0, 0, offset)),
    )
    closed = pin("pin", ("rod", (rod_length, 0, 0)), ("slider", (0, 0, 0)))
    parts = (Body("base"), *bodies, block("slider", slider_mass))
    tree = Mechanism("slider-crank", parts, joints)
    rise = offset - crank * math.sin(angle)
    along = other_side(rod_length, rise, "the slider-crank")
    rod_angle = math.atan2(rise, along)
    x = crank * math.cos(angle) + along
    mechanism = tree.constrained(closed, actuated=["crank"])
    return assembly(mechanism, angle, rod_angle - angle, x)


def n_four_bar(
    n: int, length: float = 1.0, mass: float = 1.0, angle: float = math.pi / 2
) -> Assembly:
    """Row of n four-bars of equal rods, which share their cranks (IFToMM benchmark A02).

    Joints are crank0, coupler1, crank1, ...: coupler k (relative to crank k - 1) is pinned to crank
    k.

    Parameters
    ----------
    n : int
        Number of loops; there are n + 1 cranks and n couplers.
    length, mass : float
        Of each rod [m], [kg].
    angle : float
        Of the cranks at the start [rad]; at 0 and pi the motion forks.

    Raises
    ------
    ValueError
        n is no number of loops; a length or mass is not positive.

    Examples
    --------
    >>> import dalembert as da
    >>> mechanism, q = da.loops.n_four_bar(2)
    >>> mechanism.nq, [c.name for c in mechanism.constraints]
    (5, ['pin1', 'pin2'])
    """
    check_whole("n", n, 1)
    if n > MOST_LOOPS:
        raise ValueError(f"n={n}: expected at most {MOST_LOOPS} loops.")
    positive(length=length, mass=mass)
    bodies, joints = (
        [Body("base"), rod("crank0", length, mass)],
        [hinge("crank0", "base", "crank0")],
    )
    pins = []
    q = [angle]
    for k in range(1, n + 1):
        crank, coupler = f"crank{k}", f"coupler{k}"
        bodies += [rod(coupler, length, mass), rod(crank, length, mass)]
        joints.append(hinge(coupler, f"crank{k - 1}", coupler, (length, 0, 0)))
        joints.append(hinge(crank, "base", crank, (k * length, 0, 0)))
        pins.append(pin(f"pin{k}", (coupler, (length, 0, 0)), (crank, (length, 0, 0))))
        q += [-angle, angle]
    tree = Mechanism(f"{n}-four-bar", tuple(bodies), tuple(joints))
    return assembly(tree.constrained(*pins), *q)


def scissor_lift(
    stages: int = 2,
    length: float = 1.0,
    mass: float = 2.0,
    platform_mass: float = 10.0,
    roller_mass: float = 0.2,
    angle: float = 0.5,
) -> Assembly:
    """Scissor lift: crossed bars in stages, a platform on top; a roller on the ground lifts it.

    Bars left1, left2, ... rise from the left, right1, ... from the right; each right bar turns on
    the middle of its left one. The roller on the ground is driven.

    Parameters
    ----------
    stages : int
        Number of crosses.
    length, mass : float
        Of each bar [m], [kg].
    platform_mass, roller_mass : float
        Of the platform and of each of the two rollers [kg].
    angle : float
        Of the bars above the horizontal at the start [rad].

    Raises
    ------
    ValueError
        `stages` is no number of crosses; a length or mass is not positive; the angle is not between
        0 and pi/2.

    Examples
    --------
    >>> import dalembert as da
    >>> mechanism, q = da.loops.scissor_lift(1)
    >>> mechanism.coordinate_names
    ('left1', 'right1', 'platform', 'top roller', 'roller')
    """
    check_whole("stages", stages, 1)
    positive(
        length=length,
        mass=mass,
        platform_mass=platform_mass,
        roller_mass=roller_mass,
    )
    if not 0 < angle < math.pi / 2 or stages > MOST_LOOPS:
        raise ValueError(f"angle={angle!r}, stages={stages}: expected 0 < angle < pi/2 [rad].")
    half = length / 2
    bodies, joints, pins = [Body("base")], [], []
    q: list[float] = []
    for k in range(1, stages + 1):
        left, right, below = f"left{k}", f"right{k}", f"right{k - 1}" if k > 1 else "base"
        bodies += [rod(left, length, mass), rod(right, length, mass, -half)]
        joints.append(hinge(left, below, left, (half if k > 1 else 0, 0, 0)))
        joints.append(hinge(right, left, right, (half, 0, 0)))
        q += [angle if k == 1 else 2 * angle - math.pi, math.pi - 2 * angle]
        foot = (f"left{k - 1}", (length, 0, 0)) if k > 1 else ("roller", (0, 0, 0))
        pins.append(pin(f"pin{k}", (right, (-half, 0, 0)), foot))
    last = f"left{stages}", f"right{stages}"
    reach = length * math.cos(angle)
    bodies += [rod("platform", length, platform_mass), block("top roller", roller_mass)]
    bodies.append(block("roller", roller_mass))
    joints += [
        hinge("platform", last[1], "platform", (half, 0, 0)),
        slide("top roller", "platform", "top roller"),
        slide("roller", "base", "roller"),
    ]
    pins.append(pin("top pin", (last[0], (length, 0, 0)), ("top roller", (0, 0, 0))))
    q += [angle - math.pi, reach, reach]
    top = Frame("top", "platform", Origin((half, 0, 0)))
    tree = Mechanism("scissor lift", tuple(bodies), tuple(joints), (top,))
    return assembly(tree.constrained(*pins, actuated=["roller"]), *q)
