"""Location of a function's first zero within a step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import absolute, maximum, minimum
from dalembert.integrators.choice import chosen

EPS = np.finfo(float).eps
LEAST = 1e-300  # depth that is not 0
HUGE = 1e300


def resolution(t: Any, length: Any) -> Any:
    """Two units in the last place of the times in a step from t: a crossing is not known better
    [s].
    """
    return 2 * EPS * (absolute(t) + length)


def begun(end: Any, at_end: Any) -> tuple[Any, Any, Any, Any, Any]:
    """The bracket (0, end] of a crossing, as `narrowed` has it; at s = 0 nothing has happened."""
    return end, at_end, 0 * end, -maximum(absolute(at_end), LEAST), 0.5 + 0 * end


def narrowed(
    a: Any, fa: Any, b: Any, fb: Any, s: Any, f: Any, width: Any
) -> tuple[Any, Any, Any, Any, Any]:
    """The bracket a, b with values fa, fb of different sides, and the part of it at which to look
    next, after f at s.

    By inverse quadratic interpolation where that is safe, else by halves, over any scalar and
    arrays; width: to be reached.

    Chandrupatla, A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear
    function, Advances in Engineering Software 28 (1997) 145-149.
    """
    same = absolute(chosen(f >= 0, 1.0, 0.0) - chosen(fa >= 0, 1.0, 0.0)) < 0.5
    c, fc, b, fb = (
        chosen(same, a, b),
        chosen(same, fa, fb),
        chosen(same, b, a),
        chosen(same, fb, fa),
    )
    with np.errstate(all="ignore"):
        xi, phi = (s - b) / (c - b), (f - fb) / (fc - fb)
        inverse = f / (fb - f) * fc / (fb - fc) + (c - s) / (b - s) * f / (fc - f) * fb / (fc - fb)
        least = minimum(0.5, 0.5 * width / maximum(absolute(b - s), LEAST))
        safe = (
            chosen(
                phi * phi < xi,
                chosen((1 - phi) * (1 - phi) < 1 - xi, absolute(inverse), HUGE),
                HUGE,
            )
            < HUGE
        )
    return s, f, b, fb, minimum(maximum(chosen(safe, inverse, 0.5), least), 1 - least)


class Locating(NamedTuple):
    """The search for the zero of a depth near a place where a neighbouring function has one.

    look: where to look next; reach: how far it is from the last look, while there is no bracket; a,
    fa: the last look, and with b, fb, part, once there is one, the bracket of `narrowed`
    """

    phase: Any
    look: Any
    reach: Any
    a: Any
    fa: Any
    b: Any
    fb: Any
    part: Any


FIRST, DOWN, UP, NARROWING, LAST, DONE = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0  # phases
REACH = (
    2.0**-10
)  # of a step: how far from a place the zero is looked for first; then four times as far


def located(now: Locating, near: Any, least: Any, deep: Any, width: Any) -> Locating:
    """The next place to look, after the depth `deep` at now.look, for a zero near `near`, in
    (least, 1].

    At `least` nothing has happened. Where the depth is negative from `near` up to 1, the last look
    is at `near`: the neighbouring function says that it happens there. Otherwise it is where the
    depth is first seen to be 0 or more.
    """
    s, phase = now.look, now.phase
    first, down, up, narrowing = (
        _flag(absolute(phase - one) < 0.5) for one in (FIRST, DOWN, UP, NARROWING)
    )
    at_least = _flag(s <= least)
    at_end = _flag(s >= 1)
    f = chosen(down * at_least > 0, -maximum(absolute(deep), LEAST), deep)
    beyond = _flag(f >= 0)
    closed = down * (1 - beyond) + up * beyond
    narrow = narrowed(now.a, now.fa, now.b, now.fb, s, f, width)
    a, fa, b, fb, part = (
        chosen(narrowing > 0, new, chosen(closed > 0, begin, old))
        for new, begin, old in zip(
            narrow, (s, f, now.a, now.fa, 0.5), (s, f, now.b, now.fb, now.part), strict=True
        )
    )
    reach = chosen(first > 0, REACH, 4 * now.reach)
    none = (first + up) * (1 - beyond) * at_end  # up to the end: `near` it is
    there = first * beyond * at_least  # at the very beginning
    bracket = narrowing + closed
    found = bracket * _flag(absolute(b - a) <= width)
    away = chosen((first + down) * beyond > 0, maximum(s - reach, least), minimum(s + reach, 1.0))
    look = chosen(bracket > 0, chosen(found > 0, chosen(fa >= 0, a, b), a + part * (b - a)), away)
    look = chosen(none > 0, near, chosen(there > 0, s, look))
    following = chosen(
        bracket > 0, chosen(found > 0, LAST, NARROWING), chosen(beyond > 0, DOWN, UP)
    )
    following = chosen(none + there > 0, LAST, following)
    over = phase > NARROWING + 0.5
    return Locating(chosen(over, DONE, following), chosen(over, s, look), reach, a, fa, b, fb, part)


def _flag(condition: Any) -> Any:
    return chosen(condition, 1.0, 0.0)
