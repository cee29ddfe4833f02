"""Generators of second order: uniformly accelerated and harmonic motion, and its limit cycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arguments import put, real_array, vector
from dalembert.expr import array
from dalembert.generators.motion_data import coordinates, limit, per_coordinate
from dalembert.generators.state_generator import SecondOrderGenerator


@dataclass(frozen=True, eq=False)
class SteadyAcceleration(SecondOrderGenerator):
    """Uniformly accelerated motion x'' = value, with the state (x, x') and the output x.

    Parameters
    ----------
    value : number or (m,) array
        The acceleration [rad/s^2, m/s^2].
    position, velocity : number or (m,) array
        At the beginning [rad, m; per s].

    Raises
    ------
    ShapeError, ValueError, TypeError
        Lengths differ; a number is not finite.

    Examples
    --------
    >>> import dalembert as da
    >>> fall = da.generators.SteadyAcceleration(-9.81, position=2.0)
    >>> fall.derivatives(fall.state, 3)
    [array([2.]), array([0.]), array([-9.81]), array([0.])]
    """

    value: Any
    position: Any = 0.0
    velocity: Any = 0.0

    def __post_init__(self) -> None:
        value = coordinates("value", self.value)
        put(
            self,
            value=value,
            position=per_coordinate("position", self.position, value.size),
            velocity=per_coordinate("velocity", self.velocity, value.size),
        )

    @property
    def state(self) -> np.ndarray:
        """Position and velocity at the beginning, (2 m,)."""
        return np.concatenate([self.position, self.velocity])

    def acceleration(self, x: Any, v: Any) -> np.ndarray:
        """The constant value (m,), whatever x and v of shape (m,) are."""
        return self.value


@dataclass(frozen=True, eq=False)
class Harmonic(SecondOrderGenerator):
    """Harmonic motion x = center + amplitude sin(frequency t + phase), with the state (x, x').

        x'' = -w^2 u - mu (w^2 u^2 + x'^2 - w^2 a^2) x',    u = x - center

    With attraction mu > 0 it is a limit cycle of amplitude a: every motion but rest in the center
    tends to it. With mu = 0, the default, each amplitude stays as it is.

    Parameters
    ----------
    frequency : number or (m,) array, > 0
        w [rad/s].
    amplitude : number or (m,) array
        a [rad, m].
    phase, center : number or (m,) array
        [rad; rad, m]
    attraction : number or (m,) array, >= 0
        mu [s/rad^2, s/m^2].
    initial : (2 m,) array, optional
        State (x, x') at the beginning, by default that of the amplitude and phase.

    Raises
    ------
    ShapeError, ValueError, TypeError
        Lengths differ; a number is not finite or has the wrong sign.

    Examples
    --------
    >>> import dalembert as da
    >>> swing = da.generators.Harmonic(1.0, 1.0, attraction=0.5, initial=[0.1, 0.0])
    >>> x, v = swing.states([0.0, 60.0])[-1]
    >>> round(float(x**2 + v**2), 9)
    1.0
    """

    frequency: Any
    amplitude: Any
    phase: Any = 0.0
    center: Any = 0.0
    attraction: Any = 0.0
    initial: Any = None

    def __post_init__(self) -> None:
        names = ("frequency", "amplitude", "phase", "center", "attraction")
        m = max(real_array(name, getattr(self, name)).size for name in names)
        numbers = {name: per_coordinate(name, getattr(self, name), m) for name in names}
        limit("frequency", numbers["frequency"], m)
        if (numbers["attraction"] < 0).any():
            raise ValueError(
                f"attraction is {numbers['attraction'].min():g}: below 0 the cycle repels."
            )
        if self.initial is not None:
            numbers["initial"] = vector(self.initial, "initial", 2 * m)
        put(self, **numbers)

    @property
    def state(self) -> np.ndarray:
        """Position and velocity at the beginning, (2 m,)."""
        if self.initial is not None:
            return self.initial.copy()
        x = self.center + self.amplitude * np.sin(self.phase)
        v = self.amplitude * self.frequency * np.cos(self.phase)
        return np.concatenate([x, v])

    def acceleration(self, x: Any, v: Any) -> np.ndarray:
        """x'' (m,) [rad/s^2, m/s^2] at x and v = x', each of shape (m,)."""
        x, v = array(x), array(v)
        w2 = self.frequency**2
        u = x - self.center
        excess = w2 * (u * u) + v * v - w2 * self.amplitude**2
        return -w2 * u - self.attraction * excess * v
