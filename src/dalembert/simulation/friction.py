"""Laws of Coulomb friction in a simulation: how friction at rest and of slow sliding differ from
that of fast sliding.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import UnknownNameError
from dalembert.expr import exp
from dalembert.model.mechanism import Mechanism

PerJoint = float | Mapping[str, float]


class Stribeck(NamedTuple):
    """Friction that sticks, larger at rest than where it slides fast: a law for
    `simulate(friction=)`.

        F(v) = F_c (1 + (static - 1) exp(-(v/velocity)^2)),    at rest |r| <= static F_c

    with the joint's Coulomb friction F_c. Each is one number, or {joint name: number} of some
    joints.

    Parameters
    ----------
    static : ratio of friction at rest to F_c, at least 1
    velocity : at which the difference has fallen to 1/e [rad/s, m/s]; 0: sliding friction is F_c at
        any velocity

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

    static: PerJoint = 1.0
    velocity: PerJoint = 0.0

    def of_entries(self, mechanism: Mechanism) -> np.ndarray:
        """Both, for each entry of qd (2, nv).

        Raises
        ------
        TypeError, ValueError, UnknownNameError
            A number is none, or too small; there is no such joint.
        """
        given = ("static", self.static, 1.0), ("velocity", self.velocity, 0.0)
        return np.array([_of_entries(mechanism, *one) for one in given])


def kinetic(coulomb: np.ndarray, law: np.ndarray, qd: Any) -> list[Any]:
    """Friction of sliding entries (nv,), of floats or expressions [N m, N]; law:
    `Stribeck.of_entries`.
    """
    found = []
    for F, ratio, velocity, v in zip(coulomb.tolist(), *law.tolist(), qd, strict=True):
        more = F * (ratio - 1)
        found.append(
            F + more * exp(-(v / velocity) * (v / velocity)) if more > 0 and velocity > 0 else F
        )
    return found


def _of_entries(mechanism: Mechanism, name: str, given: Any, least: float) -> np.ndarray:
    numbers = dict(given) if isinstance(given, Mapping) else dict.fromkeys(mechanism.entries, given)
    found = np.full(mechanism.nv, least)
    for joint, value in numbers.items():
        if joint not in mechanism.entries:
            raise UnknownNameError("joint", joint, tuple(mechanism.entries))
        if not isinstance(value, Real) or isinstance(value, bool):
            raise TypeError(f"friction: {name} of joint {joint!r} is {value!r}, expected a number.")
        if not least <= float(value) < np.inf:
            raise ValueError(
                f"friction: {name} of joint {joint!r} is {value!r}, expected a number of at least "
                f"{least:g}."
            )
        found[mechanism.entries[joint].at_v] = value
    return found
