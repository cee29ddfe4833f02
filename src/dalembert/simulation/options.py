"""Arguments of `simulate` in groups: system, forces, laws of contact, steps, and recording.

Fields have the names of the arguments, so that a file tells them by these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from dalembert.arguments import check_choice, check_flag, real_array, refused
from dalembert.errors import ShapeError
from dalembert.integrators import METHODS, FixedStep, Method
from dalembert.integrators.fixed_point import HUGE
from dalembert.integrators.method_kinds import BAUMGARTE, STABILISATIONS, LinearlyImplicit
from dalembert.kinematics.forces import STICK
from dalembert.model.friction_laws import Stribeck
from dalembert.native.calls import thread_count
from dalembert.native.propagator import StepControl
from dalembert.results.even_times import Even
from dalembert.simulation.progress import Progress

STEP = 1e-3  # s
STEPS_OF_FEEDBACK = 3.0  # in the time constant of Baumgarte's feedback, at least
FIXED, ADAPTIVE = "rk4", "dop853"  # methods where none is given
DAMPED = "generalized_alpha"  # the method with rho_inf
ATTEMPTS = 1_000_000  # steps between two records of an adaptive method
RECORDS = 1000  # of a duration, unless times or a spacing are given
RTOL, ATOL = 1e-9, 1e-12  # of adaptive methods
STIFF_RTOL = 1e-6  # of methods for stiff systems, with an absolute tolerance of a hundredth of it
EPS = np.finfo(float).eps
SMALLEST = 1e-300  # of atol: what is 0 and has no error passes with atol=0
TOO_MANY = 1e8  # numbers in all records: beyond it, ask for fewer
MOST_RECORDS = 1e12  # in a folder
TOO_MANY_STEPS = 1e9  # minutes to hours
OPTIONAL = (
    "record",
    "rtol",
    "atol",
    "longest_step",
    "rho_inf",
    "time_constant",
)  # numbers that may be left out


@dataclass(frozen=True)
class Model:
    """A system whose equations are integrated, in which formulation, with which numbers, and with
    which multipliers at the start where these are states.
    """

    mechanism: Any
    formulation: str | None = None
    solver: Any = None
    parameters: Mapping[str, Any] | None = None
    multipliers0: Any = None


@dataclass(frozen=True)
class Actions:
    """Forces along the velocities, of actuators and others, and on frames; saturate: whether those
    of actuators obey limits of effort.
    """

    control: Any = None
    forces: Any = None
    external_forces: Any = None
    saturate: bool = False


@dataclass(frozen=True)
class Contact:
    """Laws of dry friction and of stops."""

    friction: str | Stribeck = STICK
    stops: Any = None


NO_ACTIONS = Actions()
DRY_FRICTION = Contact()


@dataclass(frozen=True)
class Constraining:
    """How a motion stays on its constraints.

    stabilisation : of `integrators.method_kinds`; None: the method's own, else projection
    time_constant : of the errors with Baumgarte's feedback [s]

    Raises
    ------
    TypeError, ValueError, UnknownNameError
        The time constant is no positive number, or goes with another stabilisation; there is no
        such stabilisation.
    """

    stabilisation: str | None = None
    time_constant: float | None = None

    def __post_init__(self) -> None:
        check_number("time_constant", self.time_constant)
        if self.stabilisation is not None:
            check_choice("stabilisation", self.stabilisation, STABILISATIONS)
        if self.stabilisation != BAUMGARTE:
            if self.time_constant is not None:
                raise ValueError(
                    f"time_constant={self.time_constant:g} is that of Baumgarte's feedback: give "
                    "stabilisation='baumgarte' as well."
                )
            return
        if self.time_constant is None:
            raise ValueError(
                "stabilisation='baumgarte' needs time_constant= [s], in which errors of constraints "
                "fade: ten steps or so, and less than the times that the motion is about."
            )
        if not 0 < self.time_constant < HUGE:
            raise ValueError(f"time_constant={self.time_constant!r}: expected a positive time [s].")

    def check_step(self, method: str, h: float) -> None:
        """See that the errors fade slowly enough for a step [s] of a method of fixed step.

        Raises
        ------
        ValueError
        """
        least = STEPS_OF_FEEDBACK * h
        if self.time_constant is not None and self.time_constant < least * (1 - 1e-9):
            raise ValueError(
                f"time_constant={self.time_constant:g} s is {self.time_constant / h:.2g} steps of "
                f"{h:g} s, in which {method!r} does not follow the feedback: give {least:g} s or "
                f"more, or h={self.time_constant / STEPS_OF_FEEDBACK:g} or less."
            )


class Pace(NamedTuple):
    """Step of a method [s], of adaptive ones the first, and steps between two records, of these
    attempted ones at most.
    """

    h: float
    repeats: int


class Schedule(NamedTuple):
    """Times of the records [s], and the paces between two of them.

    last: pace between the last two records, if it is another
    """

    times: Any
    pace: Pace
    last: Pace | None


@dataclass(frozen=True)
class Stepping:
    """A method of integration by name, its step [s], tolerances, greatest step [s] and threads;
    damping of 'generalized_alpha'.

    Raises
    ------
    TypeError, ValueError
        A number is none; tolerances are given for a method of fixed step.
    """

    method: str | None = None
    h: float = STEP
    rtol: float | None = None
    atol: float | None = None
    longest_step: float | None = None
    threads: int = 1
    rho_inf: float | None = None

    def __post_init__(self) -> None:
        for name in ("h", "rtol", "atol", "threads", "longest_step", "rho_inf"):
            check_number(name, getattr(self, name))
        thread_count(self.threads)
        if not isinstance(self.method, (str, type(None))):
            raise TypeError(
                f"method={self.method!r}: expected the name of a method, such as 'rk4'."
            )
        given = self._given_tolerances
        if given and isinstance(METHODS.get(self.name), FixedStep):
            options = " and ".join(f"{option}={value:g}" for option, value in given.items())
            raise ValueError(
                f"{options} with method={self.name!r}, whose steps are fixed and have no "
                "tolerance: take an adaptive method such as 'dop853', or give the step h=."
            )
        for option, value in given.items():
            if not (np.isfinite(value) and value >= 0):
                raise ValueError(f"{option}={value!r}: expected a tolerance of 0 or more.")
        if self.rho_inf is not None and self.name != DAMPED:
            raise ValueError(
                f"rho_inf={self.rho_inf:g} is the damping of {DAMPED!r}, and {self.name!r} has none."
            )
        if self.rtol == 0 == self.atol:
            raise ValueError(
                "rtol=0 and atol=0 leave no error that a step may have: give one of them."
            )

    @property
    def _given_tolerances(self) -> dict[str, float]:
        options = {"rtol": self.rtol, "atol": self.atol}
        return {option: value for option, value in options.items() if value is not None}

    @property
    def name(self) -> str:
        """Name of the method; by default of one that chooses its steps where that is asked for."""
        if self.method is not None:
            return self.method
        return ADAPTIVE if self._given_tolerances or self.longest_step is not None else FIXED

    def on_constraints(self) -> Stepping:
        """The same for a system with constraints, which needs small errors: by default a method that
        chooses its steps.
        """
        return self if self.method is not None else replace(self, method=ADAPTIVE)

    def control(self, method: Method) -> StepControl:
        """Numbers by which the method chooses its steps.

        Raises
        ------
        ValueError
            The greatest step is not positive and finite, or the method has a fixed one.
        """
        is_stiff = isinstance(method, LinearlyImplicit)
        rtol = (STIFF_RTOL if is_stiff else RTOL) if self.rtol is None else self.rtol
        default = rtol / 100 if is_stiff and rtol else ATOL
        atol = default if self.atol is None else max(self.atol, SMALLEST)
        return StepControl(rtol, atol, self.threads, self._greatest_step(method))

    def _greatest_step(self, method: Method) -> float:
        if self.longest_step is None:
            return HUGE
        if isinstance(method, FixedStep):
            raise ValueError(
                f"longest_step= is for methods that choose their step; {method.name!r} has a fixed "
                "one: give h=."
            )
        if not 0 < self.longest_step < HUGE:
            raise ValueError(f"longest_step={self.longest_step!r}: expected a positive time [s].")
        return float(self.longest_step)


@dataclass(frozen=True)
class Recording:
    """Times of the records, and where a run and its progress go.

    Raises
    ------
    TypeError, ShapeError, ValueError
        A time is none; a run is to go on without a folder.
    """

    t: Any
    record: float | None = None
    progress: Progress = None
    store: Any = None
    resume: bool = False

    def __post_init__(self) -> None:
        check_number("t", self.t)
        check_number("record", self.record)
        check_flag("resume", self.resume)
        if self.resume and self.store is None:
            raise ValueError(
                "resume=True without store=: a run goes on from the folder that it was written to."
            )

    @property
    def begin(self) -> float:
        """Time of the initial state [s]."""
        return 0.0 if self._is_duration else float(np.ravel(np.asarray(self.t))[0])

    @property
    def _is_duration(self) -> bool:
        """Whether one time is given."""
        return isinstance(self.t, (int, float)) or np.size(self.t) == 1

    @property
    def is_even(self) -> bool:
        """Whether records are at equal distances, or a duration is given."""
        if self._is_duration:
            return True
        times = np.ravel(np.asarray(self.t, dtype=float))
        mean = float(times[-1] - times[0]) / (len(times) - 1)
        return bool(np.allclose(np.diff(times), mean, rtol=1e-9, atol=rounding_of(times)))

    def schedule(self, h: float, method: Method, size: int, longest: float) -> Schedule:
        """Times of the records of `size` numbers, and the paces of a method with steps up to h.

        Of a stored run there are as many times as are wanted.
        """
        stored = self.store is not None
        times = self._times(h, method, size)
        if not isinstance(method, FixedStep):
            return Schedule(
                times, Pace(min(h, float(times[-1] - times[0]), longest), ATTEMPTS), None
            )
        spacing, rest = (float(times[k] - times[k - 1]) for k in (1, -1))
        if not self._is_duration:
            spacing = rest = float(times[-1] - times[0]) / (len(times) - 1)
            if not self.is_even:
                raise ValueError(
                    "methods of fixed step need times t at equal distances; give a duration, or "
                    "use method='dopri5'."
                )
        pace = _pace(spacing, h)
        last = _pace(rest, h)
        if pace.repeats * (len(times) - 1) > TOO_MANY_STEPS and not stored:
            raise ValueError(
                f"{pace.repeats * (len(times) - 1):.3g} steps of {h:g} s are more than "
                f"{TOO_MANY_STEPS:.0e}: give a larger h."
            )
        return Schedule(times, pace, None if abs(rest - spacing) <= 1e-9 * spacing else last)

    def _times(self, h: float, method: Method, size: int) -> Any:
        given = np.array(self.t, dtype=float, ndmin=1)
        finite = np.count_nonzero(np.isfinite(given)) == given.size
        if given.ndim != 1 or not finite or not 0 < h < np.inf:
            raise ValueError(
                f"t={self.t!r}, h={h!r}: expected a duration or times [s], and a positive step."
            )
        if len(given) == 1:
            times = _evenly(
                float(given[0]), self.record, h if isinstance(method, FixedStep) else 0.0
            )
            if self.store is not None:
                return times
            if len(times) * size > TOO_MANY:
                raise ValueError(
                    f"{len(times)} records are {len(times) * size:.3g} numbers, more than "
                    f"{TOO_MANY:.0e}: give record= a larger spacing [s]."
                )
            return times[:]
        if self.record is not None:
            raise ValueError(
                "record= is the spacing of the records of a duration; t gives their times already."
            )
        if not (np.diff(given) > 0).all():
            raise ValueError("the times t must increase.")
        return given


def check_number(name: str, value: Any) -> None:
    """See that an option is a real number: t one or several, record and longest_step one or None.

    Raises
    ------
    TypeError, ShapeError
        It is something else: a text, None, a bool, several; t is empty.
    """
    is_plain = type(value) is float or type(value) is int and abs(value) <= TOO_MANY_STEPS
    if is_plain or value is None and name in OPTIONAL:
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
