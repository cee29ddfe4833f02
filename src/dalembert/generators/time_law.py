"""Functions of time, and paths run through by a time law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arguments import check_instance, put, refused
from dalembert.errors import ShapeError
from dalembert.expr import array, sqrt
from dalembert.generators.formula import Formula, total_derivatives
from dalembert.generators.generator import Generator
from dalembert.generators.motion_data import as_column, number
from dalembert.generators.piecewise import PiecewiseGenerator
from dalembert.generators.state_generator import StateGenerator
from dalembert.generators.time_generator import TimeGenerator
from dalembert.purity.examine import check_arguments


@dataclass(frozen=True, eq=False)
class FunctionOfTime(TimeGenerator):
    """A function of time as a generator, with exact derivatives.

    Parameters
    ----------
    function : function t -> (m,) array
        [rad, m], written with `da.sin`, ...; traced once for each order of derivatives.

    Raises
    ------
    TypeError, ShapeError
        It is no function of one argument; it returns something else than a list of coordinates.

    Examples
    --------
    >>> import dalembert as da
    >>> wave = da.generators.FunctionOfTime(lambda t: [da.exp(-t), t**3])
    >>> wave.values(0.0, 3)[3]
    array([-1.,  6.])
    """

    function: Callable[[Any], Any]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise refused("function", self.function, "a function t -> y, or a generator of time")
        check_arguments(self.function, "the function", ("t",))
        self._formula(0)

    @cached_property
    def _formulas(self) -> dict[int, Formula]:
        """Formulas of y, y', ..., y^(order) by order."""
        return {}

    def _formula(self, order: int) -> Formula:
        if order not in self._formulas:
            self._formulas[order] = total_derivatives(
                lambda state: self.function(state[0]), self.rate, 1, order
            )
        return self._formulas[order]

    def values(self, t: Any, order: int) -> list[Any]:
        """[y, y', ..., y^(order)] at a time [s], each (m,), or (N, m) for times (N,)."""
        rows = self._formula(order)([t])
        return [rows[..., k, :] + 0 * as_column(t) for k in range(order + 1)]


def path_of(path: Any) -> TimeGenerator:
    """A path r(s): a generator of time, whose time is s, or a traced function; piecewise
    polynomials go on beyond their ends, where they keep their tangents.

    Raises
    ------
    TypeError, ShapeError
    """
    if isinstance(path, PiecewiseGenerator):
        return path.extended()
    return path if isinstance(path, TimeGenerator) else FunctionOfTime(path)


def check_law(law: Any) -> None:
    """See that a time law is a generator of one output.

    Raises
    ------
    TypeError, ShapeError
    """
    check_instance("law", law, Generator, "a generator whose output moves along the path")
    shape = np.shape(law.output(law.state))
    if shape != (1,):
        raise ShapeError(
            f"the law has outputs of shape {shape}, expected one: the way along the path.",
            "law",
            shape,
            (1,),
        )


@dataclass(frozen=True, eq=False)
class PathWithTimeLaw(StateGenerator):
    """A path r(s) whose parameter s follows a time law: y = r(s), y' = r_s s', ...

    Parameters
    ----------
    path : function s -> (m,) array, or generator of time
        The path [rad, m], written with `da.sin`, ..., or a `Spline`, `Fourier`, ... whose time is
        s.
    law : Generator
        Its output, of one entry, is s; its state is the state.

    Raises
    ------
    ShapeError, TypeError
        The law is no generator, or has more than one output; the path is none.

    Examples
    --------
    >>> import dalembert as da
    >>> law = da.generators.Trapezoid(0.0, 3.0, velocity=1.0, acceleration=2.0)
    >>> circle = da.generators.PathWithTimeLaw(lambda s: [da.cos(s), da.sin(s)], law)
    >>> y, yd = circle.derivatives([0.25], 1)
    >>> round(float(yd @ yd) ** 0.5, 12)
    0.5
    """

    path: Any
    law: Generator

    def __post_init__(self) -> None:
        check_law(self.law)
        put(self, path=path_of(self.path))

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the state of the law."""
        return self.law.state_names

    @property
    def state(self) -> np.ndarray:
        """State of the law at the beginning, (n,)."""
        return self.law.state

    def rate(self, state: Any) -> np.ndarray:
        """Rate of the law at a state (n,): (n,) [per s]."""
        return self.law.rate(state)

    def output(self, state: Any) -> np.ndarray:
        """The point of the path at a state (n,) of the law: (m,)."""
        return array(self.path.values(self.law.output(state)[0], 0)[0])


@dataclass(frozen=True, eq=False)
class PathByLength(StateGenerator):
    """A path r(s) run through by its length: the speed |y'| is that of the time law.

        s' = l' / |r_s|,    y = r(s)

    Parameters
    ----------
    path : function s -> (m,) array, or generator of time
        The path [m], as for `PathWithTimeLaw`; its tangent r_s is nowhere 0.
    law : Generator
        Its output, of one entry, is the length l [m]; `path_length` says how long a path is.
    begin : float
        s at the beginning.

    Raises
    ------
    ShapeError, TypeError, ValueError
        The law is no generator, or has more than one output; the path is none; a number is not
        finite.

    Examples
    --------
    >>> import dalembert as da
    >>> ellipse = lambda s: [2 * da.cos(s), da.sin(s)]
    >>> length = da.generators.path_length(ellipse, 0.0, 6.283185307179586)
    >>> law = da.generators.Trapezoid(0.0, length, velocity=1.0, acceleration=2.0)
    >>> round_trip = da.generators.PathByLength(ellipse, law)
    >>> y, yd, ydd = round_trip.sampled([0.0, 3.0, law.duration])
    >>> round(float(yd[1] @ yd[1]), 9), y[2].round(9)
    (1.0, array([ 2., -0.]))
    """

    path: Any
    law: Generator
    begin: float = 0.0

    def __post_init__(self) -> None:
        check_law(self.law)
        put(self, path=path_of(self.path), begin=number("begin", self.begin))
        if not tangent_length(self.path, self.begin) > 0:
            raise ValueError(
                f"the tangent of the path is 0 at s = {self.begin:g}, so that its length does not "
                "say where it is. A clamped Spline rests at its ends: take natural ones."
            )

    @property
    def state_names(self) -> tuple[str, ...]:
        """The parameter of the path, and names of the state of the law."""
        return ("s", *self.law.state_names)

    @property
    def state(self) -> np.ndarray:
        """The parameter and the state of the law at the beginning, (1 + n,)."""
        return np.array([self.begin, *self.law.state])

    def rate(self, state: Any) -> np.ndarray:
        """Rates of a state (1 + n,): (1 + n,) [per s]."""
        speed = self.law.derivatives(state[1:], 1)[1][0]
        return array([speed / tangent_length(self.path, state[0]), *self.law.rate(state[1:])])

    def output(self, state: Any) -> np.ndarray:
        """The point of the path at a state (1 + n,): (m,)."""
        return array(self.path.values(state[0], 0)[0])


def tangent_length(path: TimeGenerator, s: Any) -> Any:
    """|r_s| of a path."""
    tangent = path.values(s, 1)[1]
    return sqrt((tangent * tangent).sum())


@dataclass(frozen=True, eq=False)
class _Travelled(StateGenerator):
    """The length of a path up to its parameter, which runs like the time."""

    path: TimeGenerator
    begin: float
    state_names = ("s", "length")

    @property
    def state(self) -> np.ndarray:
        """The parameter at the beginning, and length 0."""
        return np.array([self.begin, 0.0])

    def rate(self, state: Any) -> np.ndarray:
        """Rates of a state (2,)."""
        return array([1.0, tangent_length(self.path, state[0])])

    def output(self, state: Any) -> np.ndarray:
        """The length, (1,)."""
        return array(state[1:])


def path_length(path: Any, start: float, end: float) -> float:
    """Length of a path r(s) from s = start to s = end > start [m].

    Parameters
    ----------
    path : function s -> (m,) array, or generator of time

    Raises
    ------
    TypeError, ValueError, ShapeError
        The path is none; end is not after start.

    Examples
    --------
    >>> import dalembert as da
    >>> round(da.generators.path_length(lambda s: [da.cos(s), da.sin(s)], 0.0, 2.0), 9)
    2.0
    """
    first, last = number("start", start), number("end", end)
    if not last > first:
        raise ValueError(f"end is {last:g}, expected a number after start = {first:g}.")
    curve = path_of(path)
    stops = curve.breaks if isinstance(curve, PiecewiseGenerator) else np.zeros(0)
    inner = [s for s in stops if first < s < last]  # where it is not smooth
    return float(_Travelled(curve, first).states([first, *inner, last])[-1, 1])
