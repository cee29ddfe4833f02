"""A posture that shows a mechanism well: within limits, loops closed, links not in one line."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator

import numpy as np

from dalembert.analysis.loop_closing import (
    assemble,
    project,
)
from dalembert.errors import DalembertError
from dalembert.model.joints import (
    Continuous,
    Free,
    Prismatic,
    Revolute,
)
from dalembert.model.limit_vectors import position_limits
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
from dalembert.model.parts import Joint
from dalembert.views.figures.plain_numbers import (
    numbers_of,
    pose_of,
)

FAILURES = (DalembertError, ValueError, TypeError, ArithmeticError)
BENDS = (0.6, -0.9, 1.1, -0.7, 0.6, 0.5)  # rad, of the hinges of a chain, in turn
SHAKE, SHAKES = 0.3, 3  # rad and m, of coordinates from which loops may close; tries
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
    """Coordinates with loops closed, within limits where those of some start are; a search with
    random starts, which takes long, comes last.
    """
    at_rest = np.zeros(mechanism.nv)
    lower, upper = position_limits(mechanism)
    beyond = None
    for start in _starts(mechanism, q):
        try:
            closed = np.asarray(project(mechanism, start, at_rest)[0], dtype=float)
        except FAILURES:
            continue
        if ((lower <= closed) & (closed <= upper)).all():
            return closed
        beyond = closed if beyond is None else beyond
    if beyond is not None:
        return beyond
    try:
        return np.asarray(assemble(mechanism, q), dtype=float)
    except FAILURES:
        return q


def _starts(mechanism: Mechanism, q: np.ndarray) -> Iterator[np.ndarray]:
    """Coordinates to close loops from: as given, neutral, with free bodies and slides raised or
    lowered from the base, moved a little.
    """
    neutral = np.array(mechanism.neutral(), dtype=float)
    yield q
    yield neutral
    for sign in (1.0, -1.0):
        yield _raised(mechanism, neutral, sign)
    steps = np.sqrt(2) * np.arange(1, mechanism.nv + 1)  # moves that are not alike
    for k in range(1, SHAKES + 1):
        yield mechanism.integrate(neutral, SHAKE * (2 * (k * steps % 1) - 1))


def _raised(mechanism: Mechanism, q: np.ndarray, sign: float) -> np.ndarray:
    """Coordinates with free bodies above the base, or below, and slides out as far."""
    origins = [pose_of(joint.origin)[:3, 3] for joint in mechanism.joints]
    height = max((float(np.linalg.norm(origin)) for origin in origins), default=1.0)
    gravity = numbers_of(mechanism.gravity)
    up = -gravity / np.linalg.norm(gravity) if gravity.any() else np.array([0.0, 0.0, 1.0])
    raised = q.copy()
    for joint in mechanism.independent_joints:
        at = mechanism.entries[joint.name].at_q
        if isinstance(joint.type, Free):
            raised[at.stop - 3 : at.stop] += sign * height * up
        elif isinstance(joint.type, Prismatic):
            raised[at] += height
    return raised


def _is_chain(mechanism: Mechanism) -> bool:
    """Whether bodies follow each other from the base, or close loops in one plane or several."""
    children = Counter(joint.parent for joint in mechanism.joints if not joint.is_fixed)
    is_free = any(joint.type.nv > 2 for joint in mechanism.joints)
    is_bent = max(children.values(), default=0) <= 1 or bool(mechanism.constraints)
    return is_bent and not is_free


def _shown(joint: Joint, bend: float) -> float:
    """The middle of a joint's limits, moved by the bend where links are in line there; the bend
    where the middle is 0 or no limits are given.
    """
    lower, upper = joint.limits.lower, joint.limits.upper
    if lower is None or upper is None:
        return bend
    low, high = as_float(lower[0]), as_float(upper[0])
    if not (np.isfinite([low, high]).all() and low < high):
        return bend
    middle, half = (low + high) / 2, (high - low) / 2
    if abs(middle) > CENTRED * 2 * half:
        if bend and abs(np.sin(middle)) < CENTRED:
            return _within(middle + bend, middle, half)
        return middle if bend or not low <= 0 <= high else 0.0
    return _within(bend, middle, half)


def _within(value: float, middle: float, half: float) -> float:
    """The value, or the nearest that is well within a range."""
    return float(np.clip(value, middle - 0.6 * half, middle + 0.6 * half))
