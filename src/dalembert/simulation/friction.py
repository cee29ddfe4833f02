"""Laws of Coulomb friction in a simulation: how friction at rest and of slow sliding differ from
that of fast sliding.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from dalembert.errors import UnknownNameError
from dalembert.expr import exp
from dalembert.model.friction_laws import Stribeck
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float


def shape_of(mechanism: Mechanism, law: Stribeck | None) -> np.ndarray:
    """Ratio of friction at rest to that of fast sliding, and velocity at which the difference has
    fallen to 1/e, of each entry of qd (2, nv); joints that the law does not name have their own.

    Raises
    ------
    TypeError, ValueError, UnknownNameError
        A number is none, or too small; there is no such joint.
    """
    shape = np.array([np.ones(mechanism.nv), np.zeros(mechanism.nv)])
    for joint in mechanism.joints:
        if joint.friction is not None and joint.type.nv:
            entries = mechanism.entries[joint.name].at_v
            shape[:, entries] = np.array([[as_float(x)] for x in joint.friction])
    if law is not None:
        _put(shape[0], mechanism, "static", law.static, 1.0)
        _put(shape[1], mechanism, "velocity", law.velocity, 0.0)
    return shape


def kinetic(coulomb: np.ndarray, law: np.ndarray, qd: Any) -> list[Any]:
    """Friction of sliding entries (nv,), of floats or expressions [N m, N]; law: from
    `shape_of`.
    """
    found = []
    for F, ratio, velocity, v in zip(coulomb.tolist(), *law.tolist(), qd, strict=True):
        more = F * (ratio - 1)
        found.append(
            F + more * exp(-(v / velocity) * (v / velocity)) if more > 0 and velocity > 0 else F
        )
    return found


def _put(entries: np.ndarray, mechanism: Mechanism, name: str, given: Any, least: float) -> None:
    """Put a number of all joints, or numbers of some, in place of those of the entries of qd."""
    numbers = dict(given) if isinstance(given, Mapping) else dict.fromkeys(mechanism.entries, given)
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
        entries[mechanism.entries[joint].at_v] = value
