"""The search of a step for the first thing that happens in it: along its continuous extension, over
any scalar.

A step is run through by the fraction s of it, from 0 to 1. Polynomials of s are given by their
Bernstein coefficients, whose least and greatest bound all values: this proves that a stop is not
met. An interval [a, a + w] in which a zero cannot be excluded is halved until a function has
changed sign at its end and nowhere before, or it is as short as `LEAST` for functions that are
sampled, `TINY` for polynomials: a stop that they touch to rounding is met.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import comb
from typing import Any, NamedTuple

from dalembert.expr import absolute, maximum, minimum, sign
from dalembert.integrators.choice import chosen

LEAST = 1 / 32  # of a step: zeros of a sampled function that are farther apart are told apart
TINY = 2.0**-26  # of a step: a polynomial changes by less than rounding where its slope is 0
MOST = 2000  # intervals of a step
SEARCHING, CLEAR, FOUND = 0.0, 1.0, 2.0
NO_SIDE = 2.0  # of a function without a value


# --- polynomials by their Bernstein coefficients, a row each, of any number of entries ---


def hermite(x: Any, x1: Any, rate: Any, rate1: Any, h: Any) -> list[Any]:
    """The cubic with these values and rates at the ends of a step h."""
    return [x, x + h * rate / 3, x1 - h * rate1 / 3, x1]


def through(
    n: int, x: Any, x1: Any, first: Any, last: Any, terms: Sequence[tuple[int, int, Any]]
) -> list[Any]:
    """The polynomial of degree n

        x + s (x1 - x) + sum_ij r_ij s^i (1 - s)^j,

    with terms (i, j, r_ij), whose slopes by s at the ends are `first` and `last`: exactly, so that
    what begins at a stop and leaves it is not on the other side by rounding.
    """
    change, c = x1 - x, [x, x + first / n]
    for k in range(2, n - 1):
        own = [comb(n - i - j, k - i) / comb(n, k) * r for i, j, r in terms if i <= k <= n - j]
        c.append(x + (k / n) * change + sum(own))
    return [*c, x1 - last / n, x1]


def slopes(q: Sequence[Any], h: Any) -> list[Any]:
    """The derivative by time of a polynomial over a step h."""
    n = len(q) - 1
    return [(n / h) * (b - a) for a, b in zip(q, q[1:], strict=False)]


def parabola(v: Any, middle: Any, v1: Any, noise: Any) -> list[Any]:
    """The quadratic with these ends and this middle coefficient, but for a bend that may be noise
    of this size.

    A slope of coordinates is a difference divided by the step: in a very short step nothing is left
    of it.
    """
    straight = (v + v1) / 2
    bend = middle - straight
    return [v, straight + bend - maximum(minimum(bend, noise), -noise), v1]


def value(c: Sequence[Any], s: Any) -> Any:
    """The polynomial at s (de Casteljau)."""
    c = list(c)
    while len(c) > 1:
        c = [_between(a, b, s) for a, b in zip(c, c[1:], strict=False)]
    return c[0]


def restricted(c: Sequence[Any], a: Any, w: Any) -> list[Any]:
    """Coefficients of the polynomial as one of the part of [a, a + w] (de Casteljau, twice)."""
    rest = maximum(1 - a, TINY / 2)
    part = chosen(w >= rest, 1.0, w / rest)
    return _left(_right(c, a), part)


def _left(c: Sequence[Any], s: Any) -> list[Any]:
    """Coefficients on [0, s]."""
    c, first = list(c), []
    while c:
        first.append(c[0])
        c = [_between(a, b, s) for a, b in zip(c, c[1:], strict=False)]
    return first


def _right(c: Sequence[Any], s: Any) -> list[Any]:
    """Coefficients on [s, 1]."""
    c, last = list(c), []
    while c:
        last.append(c[-1])
        c = [_between(a, b, s) for a, b in zip(c, c[1:], strict=False)]
    return last[::-1]


def _between(a: Any, b: Any, s: Any) -> Any:
    """Between a and b; b exactly where s is 1."""
    return (1 - s) * a + s * b


def hull(c: Sequence[Any]) -> tuple[Any, Any]:
    """Least and greatest coefficient: bounds of the values."""
    return reduce(minimum, c), reduce(maximum, c)


# --- looking at an interval ---


class Looked(NamedTuple):
    """Findings in an interval about each function: each 1 or 0, and on which side of 0 the function
    is at its end.

    free: it has no zero there; changed: it has gone through 0 at the end; fine: no shorter interval
    would tell more
    """

    free: Any
    changed: Any
    fine: Any
    side: Any


def never() -> Looked:
    """A function that is not watched."""
    return Looked(1.0, 0.0, 1.0, 0.0)


def depth_of(d: Sequence[Any], side: Any, w: Any) -> Looked:
    """A depth, a polynomial on an interval of length w: it happens when it becomes 0, without fail.

    side : -1, or 0 if it was 0 where the step began: then it is to become negative first, or stay
        positive
    """
    high = reduce(maximum, d[:-1])
    end = d[-1]
    short = w <= LEAST
    free = chosen(
        high <= 0, chosen(end < 0, 1.0, chosen(end <= 0, chosen(side < 0, 0.0, 1.0), 0.0)), 0.0
    )
    through = chosen(
        side < 0, chosen(end >= 0, 1.0, 0.0), chosen(end > 0, chosen(short, 1.0, 0.0), 0.0)
    )
    rising = chosen(
        reduce(minimum, [b - a for a, b in zip(d, d[1:], strict=False)]) >= 0, through, 0.0
    )
    finest = chosen(w <= TINY, 1.0, 0.0)
    touched = chosen(side < 0, finest * (1 - free), 0.0)
    fine = chosen(side < 0, maximum(rising, finest), chosen(short, 1.0, 0.0))
    return Looked(free, maximum(through, touched), maximum(free, fine), chosen(end < 0, -1.0, side))


def sampled(
    before: Any, after: Any, direction: float, bounds: tuple[Any, Any] | None, w: Any
) -> Looked:
    """A function that was on side `before` at the beginning of an interval of length w, with the
    value `after` at its end.

    direction : 1 or -1 counts rising or falling zeros alone; bounds : of its values in between, if
        known
    """
    side = sign(after)
    turned = chosen(side * before <= 0, absolute(before), 0.0)
    changed = turned if direction == 0 else chosen(before * direction < 0, turned, 0.0)
    short = chosen(w <= LEAST, 1.0, 0.0)
    if bounds is None:
        return Looked(0.0, changed, short, side)
    free = excluded(bounds)
    return Looked(free, chosen(free > 0, 0.0, changed), maximum(free, short), side)


def missing(value: Any) -> Any:
    """1 where a value is NaN, else 0."""
    return chosen(value <= 0, 0.0, chosen(value > 0, 0.0, 1.0))


def or_missing(looked: Looked, before: Any, after: Any, w: Any) -> Looked:
    """Findings in an interval of length w about a function that may have no value at its ends: that
    is found like a zero.
    """
    nothing = maximum(missing(after), chosen(absolute(before) > 1, 1.0, 0.0))
    short = chosen(w <= LEAST, 1.0, 0.0)
    return Looked(
        minimum(looked.free, 1 - nothing),
        maximum(looked.changed, nothing),
        chosen(nothing > 0, short, looked.fine),
        chosen(missing(after) > 0, NO_SIDE, looked.side),
    )


def excluded(bounds: tuple[Any, Any]) -> Any:
    """1 where 0 is not between bounds, else 0."""
    return chosen(bounds[0] > 0, 1.0, chosen(bounds[1] < 0, 1.0, 0.0))


class Search(NamedTuple):
    """State of a search: the interval [a, a + w], and how it stands."""

    a: Any
    w: Any
    state: Any


def following(a: Any, w: Any, looked: Sequence[Looked]) -> Search:
    """The interval to look at next: the halved one, the next one, or the one in which something
    happens.
    """
    fine, free = (
        reduce(minimum, [getattr(one, name) for one in looked]) for name in ("fine", "free")
    )
    changed = reduce(maximum, [one.changed for one in looked])
    after = chosen(w >= 1 - a, 1.0, a + w)
    advances = chosen(fine > 0, chosen(changed > 0, 0.0, 1.0), 0.0)
    state = chosen(
        fine > 0, chosen(changed > 0, FOUND, chosen(after >= 1, CLEAR, SEARCHING)), SEARCHING
    )
    width = chosen(
        fine > 0, chosen(changed > 0, w, minimum(chosen(free > 0, 2 * w, w), 1 - after)), w / 2
    )
    return Search(chosen(advances > 0, after, a), width, state)
