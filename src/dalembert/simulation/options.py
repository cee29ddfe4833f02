"""Options of `simulate` as the equations and methods take them: method and tolerances, times of
records, steps.
"""

from __future__ import annotations

from math import ceil
from typing import Any, cast

import numpy as np

from dalembert.arguments import check_flag, real_array, refused
from dalembert.errors import ShapeError
from dalembert.integrators import METHODS, Fixed, Method
from dalembert.integrators.fixed_point import HUGE
from dalembert.native.calls import thread_count
from dalembert.results.even_times import Even
from dalembert.simulation.event_loop import Pace
from dalembert.simulation.interpreted_propagator import ATTEMPTS

RECORDS = 1000  # of a duration, unless times or a spacing are given
RTOL, ATOL = 1e-9, 1e-12  # of adaptive methods
EPS = np.finfo(float).eps
SMALLEST = 1e-300  # of atol: what is 0 and has no error passes with atol=0
TOO_MANY = 1e8  # numbers in all records: beyond it, ask for fewer
MOST_RECORDS = 1e12  # in a folder
TOO_MANY_STEPS = 1e9  # minutes to hours
OPTIONAL = ("record", "rtol", "atol", "longest_step")  # numbers that may be left out


def check_number(name: str, value: Any) -> None:
    """See that an option is a real number: t one or several, record and longest_step one or None.

    Raises
    ------
    TypeError, ShapeError
        It is something else: a text, None, a bool, several; t is empty.
    """
    if type(value) is float or value is None and name in OPTIONAL:
        return
    expected = "a duration, or times [s]" if name == "t" else "one number"
    try:
        found = real_array(name, value)
    except TypeError:
        raise refused(name, value, expected) from None
    if name != "t" and found.ndim:
        raise refused(name, value, expected)
    if not found.size:
        raise ShapeError(
            f"t has shape {found.shape}, no times: expected a duration, or the times of the "
            "records [s].",
            "t",
            found.shape,
        )


def check_options(threads: Any, store: Any, resume: Any) -> None:
    thread_count(threads)
    check_flag("resume", resume)
    if resume and store is None:
        raise ValueError(
            "resume=True without store=: a run goes on from the folder that it was written to."
        )


def method_and_tolerances(
    name: str | None, rtol: float | None, atol: float | None
) -> tuple[str, float, float]:
    """Name and tolerances of the method.

    Raises
    ------
    ValueError
        Tolerances are given for a method of fixed step; they are none.
    """
    if not isinstance(name, (str, type(None))):
        raise TypeError(f"method={name!r}: expected the name of a method, such as 'rk4'.")
    given = {
        option: value for option, value in (("rtol", rtol), ("atol", atol)) if value is not None
    }
    name = ("dop853" if given else "rk4") if name is None else name
    if given and isinstance(METHODS.get(name), Fixed):
        options = " and ".join(f"{option}={value:g}" for option, value in given.items())
        raise ValueError(
            f"{options} with method={name!r}, whose steps are fixed and have no tolerance: take an "
            "adaptive method such as 'dop853', or give the step h=."
        )
    for option, value in given.items():
        if not (np.isfinite(value) and value >= 0):
            raise ValueError(f"{option}={value!r}: expected a tolerance of 0 or more.")
    if rtol == 0 == atol:
        raise ValueError("rtol=0 and atol=0 leave no error that a step may have: give one of them.")
    return name, RTOL if rtol is None else rtol, ATOL if atol is None else max(atol, SMALLEST)


def greatest_step(longest_step: float | None, way: Method) -> float:
    """Greatest step of a method [s].

    Raises
    ------
    ValueError
        It is not positive and finite; the method has a fixed step.
    """
    if longest_step is None:
        return HUGE
    if isinstance(way, Fixed):
        raise ValueError(
            f"longest_step= is for methods that choose their step; {way.name!r} has a fixed one: "
            "give h=."
        )
    if not 0 < longest_step < HUGE:
        raise ValueError(f"longest_step={longest_step!r}: expected a positive time [s].")
    return float(longest_step)


def record_times(
    t: Any, h: float, record: float | None, way: Method, size: int, stored: bool
) -> tuple[Any, Pace, Pace | None]:
    """Times of the records, the pace between two of them, and that between the last two if it is
    another.

    Of a stored run there are as many times as are wanted.
    """
    given = np.array(t, dtype=float, ndmin=1)
    if given.ndim != 1 or np.count_nonzero(np.isfinite(given)) < given.size or not 0 < h < np.inf:
        raise ValueError(
            f"t={t!r}, h={h!r}: expected a duration or times [s], and a positive step."
        )
    fixed, times = isinstance(way, Fixed), cast(Any, given)
    if len(given) == 1:
        times = _evenly(float(given[0]), record, h if fixed else 0.0)
        if len(times) * size > TOO_MANY and not stored:
            raise ValueError(
                f"{len(times)} records are {len(times) * size:.3g} numbers, more than "
                f"{TOO_MANY:.0e}: give record= a larger spacing [s]."
            )
        times = times if stored else times[:]
    elif record is not None:
        raise ValueError(
            "record= is the spacing of the records of a duration; t gives their times already."
        )
    elif not (np.diff(given) > 0).all():
        raise ValueError("the times t must increase.")
    if not fixed:
        return times, Pace(min(h, float(times[-1] - times[0])), ATTEMPTS), None
    spacing, rest = (float(times[k] - times[k - 1]) for k in (1, -1))
    if len(given) > 1:
        spacing = rest = float(times[-1] - times[0]) / (len(times) - 1)
        if not np.allclose(np.diff(given), spacing, rtol=1e-9, atol=rounding_of(given)):
            raise ValueError(
                "methods of fixed step need times t at equal distances; give a duration, or use "
                "method='dopri5'."
            )
    pace, last = _pace(spacing, h), _pace(rest, h)
    if pace.repeats * (len(times) - 1) > TOO_MANY_STEPS and not stored:
        raise ValueError(
            f"{pace.repeats * (len(times) - 1):.3g} steps of {h:g} s are more than "
            f"{TOO_MANY_STEPS:.0e}: give a larger h."
        )
    return times, pace, None if abs(rest - spacing) <= 1e-9 * spacing else last


def _pace(spacing: float, h: float) -> Pace:
    """As few equal steps of at most h as lead from record to record."""
    steps = max(1, ceil(spacing / h * (1 - 1e-9)))
    return Pace(spacing / steps, steps)


def _evenly(duration: float, record: float | None, least: float) -> Even:
    """Times at the spacing `record`, after the last of which a shorter one may lead to the end.

    By default a thousandth of the duration, or `least` if that is longer, about as long as divides
    it.
    """
    if not duration > 0:
        raise ValueError(
            f"t={duration!r}: expected a positive duration [s], or the times of the records."
        )
    if record is None:
        return Even(0.0, duration, max(1, round(duration / max(duration / RECORDS, least))) + 1)
    spacing = float(record)
    if not 0 < spacing < np.inf:
        raise ValueError(f"record={record!r}: expected a positive spacing [s].")
    if not (intervals := duration / spacing) < MOST_RECORDS:
        raise ValueError(
            f"record={record!r}: {intervals:.3g} records of {duration:g} s are more than "
            f"{MOST_RECORDS:.0e}: give record= a larger spacing [s]."
        )
    if abs(intervals - round(intervals)) <= 1e-9 * intervals and intervals > 0.5:
        return Even(0.0, duration, round(intervals) + 1)
    return Even(0.0, duration, int(intervals) + 2, spacing)


def rounding_of(times: np.ndarray) -> float:
    """Error of differences of the caller's times [s], which increase."""
    return float(4 * EPS * max(-times[0], times[-1]))
