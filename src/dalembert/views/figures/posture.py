"""A posture that shows a mechanism well: within limits, with loops closed, links not in one line."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np

from dalembert.analysis.loop_closing import (
    assemble,
    project,
)
from dalembert.errors import DalembertError
from dalembert.model.joints import (
    Continuous,
    Prismatic,
    Revolute,
)
from dalembert.model.limit_vectors import position_limits
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.model.parts import Joint

FAILURES = (DalembertError, ValueError, TypeError, ArithmeticError)
BENDS = (0.6, -0.9, 1.1, -0.7, 0.6, 0.5)  # rad, of the hinges of a chain, in turn
CENTRED = 0.05  # of the range of a joint: a middle that counts as 0


def posture(mechanism: Mechanism) -> np.ndarray:
    """Coordinates (nq,) for a picture of a mechanism without symbols [rad, m].

    Limits are kept to; a chain of hinges is bent, a tree stands straight; where loops cannot be
    closed they are drawn open.
    """
    q = np.array(mechanism.neutral(), dtype=float)
    bends = iter(BENDS * mechanism.nq if _is_chain(mechanism) else ())
    for joint in mechanism.independent_joints:
        if isinstance(joint.type, (Revolute, Continuous, Prismatic)):
            is_hinge = not isinstance(joint.type, Prismatic)
            bend = next(bends, 0.0) if is_hinge else 0.0
            q[mechanism.entries[joint.name].at_q] = _shown(joint, bend)
    if not mechanism.constraints:
        return q
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _closed(mechanism, q)


def _closed(mechanism: Mechanism, q: np.ndarray) -> np.ndarray:
    """Coordinates with loops closed, near q or near neutral ones, within limits where one of both
    is; a search with random starts, which takes long, comes last.
    """
    at_rest = np.zeros(mechanism.nv)
    lower, upper = position_limits(mechanism)
    found = []
    for start in (q, np.array(mechanism.neutral(), dtype=float)):
        try:
            found.append(np.asarray(project(mechanism, start, at_rest)[0], dtype=float))
        except FAILURES:
            continue
        if ((lower <= found[-1]) & (found[-1] <= upper)).all():
            return found[-1]
    if found:
        return found[0]
    try:
        return np.asarray(assemble(mechanism, q), dtype=float)
    except FAILURES:
        return q


def _is_chain(mechanism: Mechanism) -> bool:
    """Whether bodies follow each other from the base, without loops."""
    children = Counter(joint.parent for joint in mechanism.joints if not joint.is_fixed)
    is_free = any(joint.type.nv > 2 for joint in mechanism.joints)
    return max(children.values(), default=0) <= 1 and not mechanism.constraints and not is_free


def _shown(joint: Joint, bend: float) -> float:
    """The middle of a joint's limits; the bend where that is 0 or no limits are given."""
    lower, upper = joint.limits.lower, joint.limits.upper
    if lower is None or upper is None:
        return bend
    low, high = as_float(lower[0]), as_float(upper[0])
    if not (np.isfinite([low, high]).all() and low < high):
        return bend
    middle, half = (low + high) / 2, (high - low) / 2
    if abs(middle) > CENTRED * 2 * half:
        return middle if bend or not low <= 0 <= high else 0.0
    return float(np.clip(bend, middle - 0.6 * half, middle + 0.6 * half))
