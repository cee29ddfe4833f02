"""Linkages that move in space."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dalembert.errors import DalembertError
from dalembert.loops.assembly import Assembly, assembly, joint, pin, positive, slide
from dalembert.model.joints import Revolute, Universal
from dalembert.model.mechanism import Mechanism
from dalembert.model.parts import Body


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

    Joints are slider, rod (a universal joint on the slider) and crank; the loop closes at a ball
    joint between rod and crank, and the crank is driven.

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
    positive(crank=crank, rod_length=rod_length, crank_mass=crank_mass, rod_mass=rod_mass)
    positive(slider_mass=slider_mass)
    bodies = (
        Body("base"),
        Body("slider", slider_mass, (0, 0, 0), (1e-3, 0, 1e-3, 0, 0, 1e-3)),
        Body("rod", rod_mass, (-rod_length / 2, 0, 0), (4e-4, 0, 4e-3, 0, 0, 4e-3)),
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
    along = rod_length**2 - end_y**2 - end_z**2
    if along < 0:
        raise DalembertError(
            f"the spatial slider-crank cannot be closed: its rod of {rod_length:.6g} m does not "
            f"reach the slider's line, {math.hypot(end_y, end_z):.6g} m away."
        )
    x = centre[0] + math.sqrt(along)
    tilt = math.acos(math.sqrt(along) / rod_length)
    mechanism = tree.constrained(ball, actuated=["crank"])
    return assembly(mechanism, x, math.atan2(-end_z, -end_y), tilt, angle)
