"""Generators: small autonomous systems whose output is a program, with its exact derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arguments import check_whole, real_array
from dalembert.errors import ShapeError, public_names
from dalembert.expr import Expr, array


class Generator(ABC):
    """An autonomous system x' = rate(x) with the output y = output(x), a program that moves.

    Derive from `TimeGenerator` or `StateGenerator`. `rate` and `output` take one state (n,) and run
    on floats and on expressions alike.

    Examples
    --------
    >>> import dalembert as da
    >>> swing = da.generators.Harmonic(frequency=2.0, amplitude=0.5)
    >>> swing.state_names, swing.state
    (('x', 'v'), array([0., 1.]))
    """

    __dir__ = public_names

    @property
    @abstractmethod
    def state_names(self) -> tuple[str, ...]:
        """Names of the n entries of the state."""

    @property
    @abstractmethod
    def state(self) -> np.ndarray:
        """The state at the beginning, (n,)."""

    @abstractmethod
    def rate(self, state: Any) -> np.ndarray:
        """Rate of change of a state (n,) of floats or expressions, (n,) [per s].

        Examples
        --------
        >>> import dalembert as da
        >>> da.generators.Harmonic(frequency=2.0, amplitude=0.5).rate([0.5, 0.0])
        array([ 0., -2.])
        """

    @abstractmethod
    def output(self, state: Any) -> np.ndarray:
        """The program y at a state (n,) of floats or expressions, (m,).

        Examples
        --------
        >>> import dalembert as da
        >>> da.generators.Harmonic(frequency=2.0, amplitude=0.5).output([0.5, 0.0])
        array([0.5])
        """

    @abstractmethod
    def derivatives(self, state: Any, order: int) -> list[np.ndarray]:
        """The program and its derivatives by time, [y, y', ..., y^(order)], exact.

        Parameters
        ----------
        state : (n,) array of floats or expressions, or (N, n) of floats
        order : int
            Highest derivative, 0 or more.

        Returns
        -------
        list of arrays (m,), or (N, m) for N states.

        Raises
        ------
        ShapeError, ValueError
            The state has another length; order is no whole number.

        Examples
        --------
        >>> import dalembert as da
        >>> swing = da.generators.Harmonic(frequency=2.0, amplitude=0.5)
        >>> swing.derivatives([0.5, 0.0], 2)
        [array([0.5]), array([0.]), array([-2.])]
        """

    @abstractmethod
    def states(self, times: Any) -> np.ndarray:
        """States (K, n) at times of shape (K,) [s]; the first time has the state of the beginning.

        Raises
        ------
        ShapeError, ValueError, DalembertError
            Times do not increase; the state could not go on, the message says when.

        Examples
        --------
        >>> import dalembert as da
        >>> da.generators.SteadyAcceleration(2.0).states([0.0, 1.0])
        array([[0., 0.],
               [1., 2.]])
        """

    def __getstate__(self) -> dict[str, Any]:
        """The fields, without formulas that were traced from them."""
        kept = {}
        for name, value in self.__dict__.items():
            if not isinstance(getattr(type(self), name, None), cached_property):
                kept[name] = value
        return kept

    def sampled(self, times: Any, order: int = 2) -> list[np.ndarray]:
        """The program along times of shape (K,) [s], from the state of the beginning: [y, y', ...],
        each (K, m).

        Raises
        ------
        ShapeError, ValueError, DalembertError
            As for `states` and `derivatives`.

        Examples
        --------
        >>> import dalembert as da
        >>> y, yd, ydd = da.generators.SteadyAcceleration(2.0).sampled([0.0, 1.0])
        >>> y.ravel(), ydd.ravel()
        (array([0., 1.]), array([2., 2.]))
        """
        return self.derivatives(self.states(times), order)

    def derivative(self, order: int = 1) -> Generator:
        """The generator of the same state whose output is y^(order), as of programs for velocities.

        Raises
        ------
        ValueError
            order is no whole number.

        Examples
        --------
        >>> import dalembert as da
        >>> speed = da.generators.SteadyAcceleration(2.0, velocity=1.0).derivative()
        >>> speed.output(speed.state)
        array([1.])
        """
        check_whole("order", order, 0)
        return DifferentiatedGenerator(self, order)


@dataclass(frozen=True, eq=False)
class DifferentiatedGenerator(Generator):
    """A derivative of the program of another generator, on the same state."""

    generator: Generator
    order: int

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the state of the generator."""
        return self.generator.state_names

    @property
    def state(self) -> np.ndarray:
        """The state of the generator at the beginning."""
        return self.generator.state

    def rate(self, state: Any) -> np.ndarray:
        """Rate of the generator."""
        return self.generator.rate(state)

    def output(self, state: Any) -> np.ndarray:
        """The derivative at a state (n,)."""
        return self.generator.derivatives(state, self.order)[-1]

    def derivatives(self, state: Any, order: int) -> list[np.ndarray]:
        """The derivative and its derivatives, each (m,) or (N, m)."""
        check_whole("order", order, 0)
        return self.generator.derivatives(state, self.order + order)[self.order :]

    def states(self, times: Any) -> np.ndarray:
        """States (K, n) of the generator at times of shape (K,) [s]."""
        return self.generator.states(times)


def checked_state(generator: Generator, state: Any) -> np.ndarray:
    """A state (n,) or states (N, n) as an array.

    Raises
    ------
    ShapeError, TypeError, ValueError
    """
    n = len(generator.state)
    x = array(state) if _has_expressions(state) else real_array("state", state)
    if x.ndim not in (1, 2) or x.shape[-1] != n:
        raise ShapeError(
            f"state has shape {x.shape}, expected ({n},) or (N, {n}): "
            f"{', '.join(generator.state_names)} of {type(generator).__name__}.",
            "state",
            x.shape,
            (n,),
        )
    return x


def _has_expressions(state: Any) -> bool:
    return any(isinstance(entry, Expr) for entry in np.array(state, dtype=object).flat)
