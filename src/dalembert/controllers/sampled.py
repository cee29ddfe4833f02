"""Controllers that run once every period, as on a computer: the force is held in between, and may
come late.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from dalembert.arguments import put, real_array, refused
from dalembert.errors import ShapeError, public_names
from dalembert.expr import Expr
from dalembert.purity.examine import check_arguments

LAW = "the law of Sampled"
MOST_WAITING = 1_000_000  # forces that wait for the end of their delay
ARGUMENTS = ("k", "t", "q", "qd", "memory")


@dataclass(frozen=True, eq=False)
class Sampled:
    """A law that runs once every period; its force is held until the next one takes effect.

        tau(t) = tau_k for t_k + delay <= t < t_k+1 + delay,    t_k = t_0 + k period,    tau(t) = 0 before
        tau_k, memory_k+1 = law(k, t_k, q(t_k), qd(t_k), memory_k),    k = 0, 1, 2, ...

    with t_0 the time at which the run begins. What the law remembers between samples is its memory,
    one for each trajectory. Steps of the integrator end at samples and where a force takes effect.
    A law of operations that expressions know is compiled, any other is called.

    Parameters
    ----------
    law : function (k, t, q, qd, memory) -> (tau, memory)
        k counts from 0; tau (nv,) [N m, N]; memory has the form of the given one.
    period : float, > 0
        Time between samples [s].
    delay : float, >= 0
        Time from a sample until its force takes effect [s]: a part of a period, or more than one.
    memory : number, array, or tuple or dict of these, nested
        Its value before k = 0; shapes do not change.

    Raises
    ------
    TypeError, ValueError, ShapeError
        There is no law, or it takes other arguments; a time or the memory makes no sense.

    Examples
    --------
    >>> import dalembert as da
    >>> def law(k, t, q, qd, integral):
    ...     return -50 * q - 5 * qd - integral, integral + 0.01 * q
    >>> control = da.controllers.Sampled(law, period=0.01, memory=[0.0])
    >>> run = da.simulate(da.planar_chain(1), [0.1], [0.0], 0.1, control=control)
    >>> run.forces["control"]
    'sampled'
    """

    law: Callable[..., Any]
    period: float
    delay: float = 0.0
    memory: Any = ()
    layout: MemoryLayout = field(init=False, repr=False)
    __dir__ = public_names

    def __post_init__(self) -> None:
        if not callable(self.law):
            raise TypeError(
                f"Sampled: the law is {self.law!r} ({type(self.law).__name__}), expected a "
                "function (k, t, q, qd, memory) -> (tau, memory)."
            )
        check_arguments(self.law, LAW, ARGUMENTS)
        put(self, period=_time(self.period, "period"), delay=_time(self.delay, "delay"))
        put(self, layout=MemoryLayout.of(self.memory, "memory"))
        if not self.period > 0:
            raise ValueError(f"Sampled: period={self.period:g}, expected a positive time [s].")
        if self.delay > MOST_WAITING * self.period:
            raise ValueError(
                f"Sampled: delay={self.delay:g} s is more than {MOST_WAITING} periods of "
                f"{self.period:g} s: as many forces would wait. Give a shorter delay, or a longer "
                "period."
            )
        put(self, memory=self.layout.nested(self.layout.flat(self.memory)))

    @staticmethod
    def of(controller: Callable[..., Any], period: float, delay: float = 0.0) -> Sampled:
        """A controller (t, q, qd) -> tau that runs once every period; it has no memory.

        Raises
        ------
        TypeError
            It has states, which a differential equation moves: write a law whose memory they are.

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(1)
        >>> pd = da.controllers.GravityPD(arm, [0.0], 25.0, 10.0)
        >>> da.controllers.Sampled.of(pd, period=0.01).period
        0.01
        """
        if np.size(getattr(controller, "states", ())):
            raise TypeError(
                f"Sampled.of: a {type(controller).__name__} has states with a rate. Write a law "
                "(k, t, q, qd, memory) -> (tau, memory) that moves them from sample to sample."
            )
        return Sampled(partial(_of_controller, controller), period, delay)

    @cached_property
    def flat_law(self) -> Callable[..., Any]:
        """The law with its memory as a vector."""
        return partial(_flat_law, self.law, self.layout)

    @property
    def described(self) -> list[Any]:
        """Period, delay and memory at the beginning, as a file keeps them."""
        return [self.period, self.delay, *self.layout.flat(self.memory).tolist()]

    def __call__(self, *_: Any) -> Any:
        raise TypeError(
            "a Sampled controller runs at samples alone: give it to simulate as control=. Others, "
            "such as Limited, belong into its law."
        )


def _of_controller(
    controller: Callable[..., Any], k: Any, t: Any, q: Any, qd: Any, memory: Any
) -> tuple[Any, Any]:
    return controller(t, q, qd), memory


def _flat_law(
    law: Callable[..., Any],
    layout: MemoryLayout,
    k: Any,
    t: Any,
    q: Any,
    qd: Any,
    memory: np.ndarray,
) -> np.ndarray:
    """tau and the memory behind it, as one vector of floats or expressions."""
    found = law(k, t, q, qd, layout.nested(memory))
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise TypeError(
            f"{LAW} returned a {type(found).__name__}, expected two things, (tau, memory); without "
            "a memory, (tau, ())."
        )
    tau = np.asarray(found[0])
    if tau.shape != (len(qd),):
        raise ShapeError(
            f"{LAW} returned tau of shape {tau.shape}, expected ({len(qd)},): one force per entry "
            "of qd.",
            "tau",
            tau.shape,
            (len(qd),),
        )
    remembered = () if found[1] is None and not layout.size else found[1]
    return np.concatenate([_numbers(tau, "tau"), layout.flat(remembered)])


@dataclass(frozen=True)
class MemoryLayout:
    """How a memory is put together: the shape of an array, or parts with names.

    Attributes
    ----------
    name : in messages
    shape : of an array; () of a number
    parts : of a tuple or dict, with their keys
    make : a tuple, named tuple or dict from its parts
    """

    name: str
    shape: tuple[int, ...] = ()
    parts: Mapping[Any, MemoryLayout] | None = None
    make: Any = None

    @staticmethod
    def of(value: Any, name: str) -> MemoryLayout:
        """The layout of a memory.

        Raises
        ------
        TypeError, ValueError
            There is something else than finite numbers, arrays of them, tuples and dicts.
        """
        if isinstance(value, Mapping):
            parts = {key: MemoryLayout.of(x, f"{name}[{key!r}]") for key, x in value.items()}
            return MemoryLayout(name, (), parts, dict)
        if isinstance(value, tuple):
            parts = {k: MemoryLayout.of(x, f"{name}[{k}]") for k, x in enumerate(value)}
            return MemoryLayout(name, (), parts, getattr(type(value), "_make", tuple))
        try:
            array = _numbers(np.asarray(value), name).astype(float)
        except (ValueError, OverflowError):
            raise refused(
                f"Sampled: {name}", value, "real numbers, in rows of one length"
            ) from None
        if not np.isfinite(array).all():
            raise ValueError(f"Sampled: {name} is {value!r}, expected finite numbers.")
        return MemoryLayout(name, array.shape)

    @property
    def size(self) -> int:
        """Number of numbers."""
        if self.parts is None:
            return int(np.prod(self.shape, dtype=int))
        return sum(part.size for part in self.parts.values())

    def flat(self, value: Any) -> np.ndarray:
        """A memory as a vector.

        Raises
        ------
        ShapeError, TypeError
            It has another form.
        """
        if self.parts is None:
            array = _numbers(np.asarray(value), self.name)
            if array.shape != self.shape:
                raise ShapeError(
                    f"{LAW} returned {self.name} of shape {array.shape}, expected {self.shape} as "
                    "it was given.",
                    self.name,
                    array.shape,
                    self.shape,
                )
            return array.reshape(-1)
        keys = (
            value
            if isinstance(value, Mapping)
            else range(len(value))
            if isinstance(value, (tuple, list))
            else [None]
        )
        if set(keys) != set(self.parts):
            expected = (
                f"entries {', '.join(map(repr, self.parts))}" if self.parts else "nothing, ()"
            )
            raise ShapeError(
                f"{LAW} returned {self.name} = {value!r:.60}, expected {expected} as it was given.",
                self.name,
            )
        return np.concatenate(
            [np.zeros(0), *(part.flat(value[key]) for key, part in self.parts.items())]
        )

    def nested(self, vector: np.ndarray) -> Any:
        """A memory from a vector."""
        if self.parts is None:
            number = vector if self.shape else vector[0]
            return (
                number.item() if isinstance(number, np.floating) else vector.reshape(self.shape)[()]
            )
        ends = np.cumsum([part.size for part in self.parts.values()], dtype=int)
        values = [
            part.nested(vector[end - part.size : end])
            for part, end in zip(self.parts.values(), ends, strict=True)
        ]
        return (
            dict(zip(self.parts, values, strict=True)) if self.make is dict else self.make(values)
        )


def _numbers(array: np.ndarray, name: str) -> np.ndarray:
    """An array of real numbers or expressions.

    Raises
    ------
    TypeError
        It holds something else.
    """
    symbolic = array.dtype == object and all(
        isinstance(x, (Expr, int, float, np.number)) for x in array.flat
    )
    if array.dtype.kind not in "fiub" and not symbolic:
        raise TypeError(
            f"{LAW} has {name} of {array.dtype.name} numbers ({array.tolist()!r:.60}), expected "
            "real ones."
        )
    return array if symbolic else array.astype(float)


def _time(value: Any, name: str) -> float:
    try:
        found = real_array(name, value)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.ndim or not np.isfinite(found) or found < 0:
        raise ValueError(f"Sampled: {name}={value!r:.60}, expected a time [s].")
    return float(found)
