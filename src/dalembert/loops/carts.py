"""Carts on wheels that roll without slip."""

from __future__ import annotations

from dalembert.constraints import Rolling
from dalembert.loops.assembly import Assembly, assembly, joint, positive
from dalembert.model.joints import Planar, Revolute
from dalembert.model.mechanism import Mechanism
from dalembert.model.origins import Origin
from dalembert.model.parts import Body, Frame
from dalembert.spatial.angles import PiMultiple

QUARTER_TURN = PiMultiple("1/2")
FLOOR = ((0, 0, 0), (0, 0, 1))  # a point, and the normal


def differential_drive(
    half_track: float = 0.25,
    wheel_radius: float = 0.1,
    mass: float = 6.0,
    com_ahead: float = 0.25,
    inertia: float = 0.18,
    wheel_mass: float = 2.0,
) -> Assembly:
    """Differential drive: a cart on a floor, with two driven wheels on one axle.

    Joints are cart (planar: angle, x, y), left and right: positive turns of the wheels drive ahead,
    and are driven. Both wheels keep the cart from sliding aside: one of the rows depends on the
    others.

    Parameters
    ----------
    half_track, wheel_radius : float
        Of the wheels [m]; the cart's frame is in the middle of the axle, x ahead.
    mass, com_ahead, inertia : float
        Of the cart without its wheels [kg]; how far its centre of mass is ahead of the axle [m];
        moment of inertia about the vertical through that [kg m^2].
    wheel_mass : float
        Of each wheel, a ring [kg].

    Raises
    ------
    ValueError
        A length, mass or moment of inertia is not positive.

    Examples
    --------
    >>> import dalembert as da
    >>> mechanism, q = da.loops.differential_drive()
    >>> mechanism.coordinate_names
    ('cart.angle', 'cart.x', 'cart.y', 'left', 'right')
    """
    positive(
        half_track=half_track,
        wheel_radius=wheel_radius,
        mass=mass,
        inertia=inertia,
    )
    positive(wheel_mass=wheel_mass)
    cart = Body(
        "cart",
        mass,
        (com_ahead, 0, 0),
        (inertia / 2, 0, inertia, 0, 0, inertia),
    )
    bodies = [Body("floor"), cart]
    joints = [joint("cart", Planar((0, 0, 1)), "floor", "cart", (0, 0, wheel_radius))]
    rolling = []
    axial = wheel_mass * wheel_radius**2
    for side, y in (("left", half_track), ("right", -half_track)):
        wheel = f"{side} wheel"
        ring = (axial / 2, 0, axial, 0, 0, axial / 2)
        bodies.append(Body(wheel, wheel_mass, (0, 0, 0), ring))
        joints.append(joint(side, Revolute((0, 1, 0)), "cart", wheel, (0, y, 0)))
        disc = (wheel, Origin((0, 0, 0), (("x", QUARTER_TURN),)))  # in the plane of its x and y
        rolling.append(Rolling(f"{side} rolling", disc, wheel_radius, FLOOR))
    front = Frame("front", "cart", Origin((2 * half_track, 0, 0)))
    tree = Mechanism("differential drive", tuple(bodies), tuple(joints), (front,))
    mechanism = tree.constrained(*rolling, actuated=["left", "right"])
    return assembly(mechanism, *[0.0] * mechanism.nq)
