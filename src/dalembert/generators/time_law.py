"""A path run through by a time law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arguments import check_instance, refused
from dalembert.errors import ShapeError
from dalembert.expr import array
from dalembert.generators.generator import Generator
from dalembert.generators.state_generator import StateGenerator
from dalembert.generators.time_generator import TimeGenerator
from dalembert.purity.examine import check_arguments


@dataclass(frozen=True, eq=False)
class PathWithTimeLaw(StateGenerator):
    """A path r(s) whose parameter s follows a time law: y = r(s), y' = r_s s', ...

    Parameters
    ----------
    path : function s -> (m,) array, or generator of time
        The path [rad, m], written with `da.sin`, ..., or a `Spline`, `Fourier`, ... whose time is
        s: traced.
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

    path: Callable[[Any], Any]
    law: Generator

    def __post_init__(self) -> None:
        check_instance("law", self.law, Generator, "a generator whose output is s")
        if not isinstance(self.path, TimeGenerator):
            if not callable(self.path):
                raise refused("path", self.path, "a function s -> r, or a generator of time")
            check_arguments(self.path, "the path", ("s",))
        s = self.law.output(self.law.state)
        if s.shape != (1,):
            raise ShapeError(
                f"the law has {len(s)} outputs, expected one, the parameter s of the path.",
                "law",
                s.shape,
                (1,),
            )
        self.output(self.law.state)

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
        s = self.law.output(state)[0]
        point = self.path.values(s, 0)[0] if isinstance(self.path, TimeGenerator) else self.path(s)
        y = array(point)
        if y.ndim != 1 or not y.size:
            raise ShapeError(
                f"the path returned shape {y.shape}, expected (m,): a list of coordinates.",
                "path",
                y.shape,
            )
        return y
