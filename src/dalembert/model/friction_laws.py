"""Laws of dry friction that differ from Coulomb's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Stribeck(NamedTuple):
    """Friction that sticks, larger at rest than where it slides fast: a law of a `Joint`, or of
    some or all joints in `simulate(friction=)`.

        F(v) = F_c (1 + (static - 1) exp(-(v/velocity)^2)),    at rest |r| <= static F_c

    with the joint's Coulomb friction F_c. Of a joint each is a number; for `simulate` a number for
    all joints, or {joint name: number}.

    Attributes
    ----------
    static : number or dict
        Ratio of friction at rest to F_c, at least 1.
    velocity : number or dict
        Speed at which the difference has fallen to 1/e [rad/s, m/s]; 0: sliding friction is F_c at
        any velocity.

    References
    ----------
    Armstrong-Helouvry, Dupont, Canudas de Wit, A survey of models, analysis tools and compensation
    methods for the control of machines with friction, Automatica 30 (1994) 1083-1138, section 2.

    Examples
    --------
    >>> import dalembert as da
    >>> da.Stribeck(static=1.5, velocity=0.02).static
    1.5
    """

    static: Any | Mapping[str, float] = 1.0
    velocity: Any | Mapping[str, float] = 0.0
