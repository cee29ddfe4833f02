"""Relations to a program that a generator gives: kept by actuators, or by the source's coupling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any, ClassVar

import numpy as np

from dalembert.arguments import check_instance, check_text, refused
from dalembert.constraints.evaluated import evaluated
from dalembert.constraints.places import opened
from dalembert.errors import ConstraintError, ShapeError, UnknownNameError
from dalembert.expr import Graph, array, derivative, gradient, jacobian, known_zero, symbol, symbols
from dalembert.generators import Generator, SecondOrderGenerator
from dalembert.model.constraint import FramePlace, Moving, ProgramConstraint, in_role, of_role
from dalembert.model.content import content
from dalembert.model.numbered import entries, named
from dalembert.model.numbers import Number, checked_vector, is_symbolic
from dalembert.model.origins import NOWHERE, Source
from dalembert.spatial.linear_algebra import solve

AXES = "xyz"
SCALES = ("alpha", "c")  # numbers of a coupling
WITH_PROGRAM = "program"  # name of the argument that makes an output the whole relation


@dataclass(frozen=True)
class FramePoint:
    """Coordinates of a point of a mechanism in world axes, an output that a program leads.

    frame : name of a body or frame
    point : in its axes [m]
    axes : some of 'xyz': of a planar mechanism the two of its plane

    Examples
    --------
    >>> import dalembert as da
    >>> da.constraints.FramePoint("tip", axes="xy").axes
    'xy'
    """

    frame: str
    point: tuple[Any, ...] = (0.0, 0.0, 0.0)
    axes: str = AXES

    def __post_init__(self) -> None:
        check_text("axes of a FramePoint", self.axes)
        if not self.axes or set(self.axes) - set(AXES) or len({*self.axes}) < len(self.axes):
            raise UnknownNameError("axes of a FramePoint", self.axes, ("x", "xy", "xz", AXES))

    @property
    def place(self) -> FramePlace:
        """The place of the point."""
        return FramePlace.of((self.frame, self.point), "a FramePoint")

    def at(self, system: Moving, constraint: ProgramConstraint, q: Any) -> np.ndarray:
        """The coordinates at q (k,).

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> swing = da.generators.Harmonic(frequency=2.0, amplitude=0.5)
        >>> tip = da.constraints.FramePoint("tip", axes="x")
        >>> servo = da.constraints.Servo("swing", tip, swing, ["q1"], frequency=5.0)
        >>> tip.at(system_of(da.planar_chain(1)), servo, [0.0])
        array([1.])
        """
        position = list(opened(system, constraint, q).motion(self.place).pose.p)
        return array([position[AXES.index(axis)] for axis in self.axes])


@dataclass(frozen=True)
class Servo(ProgramConstraint):
    """An output that actuators lead along a program (Appell-Beghin): the generator is not disturbed.

        e = y(q, t) - r,    e'' + 2 damping frequency e' + frequency^2 e = 0

    Its forces u act along the actuators alone, and follow from the equations of motion (index 1).
    An output of relative degree r has the error polynomial of r/2 such factors, and for odd r a
    factor of the first order.

    Parameters
    ----------
    name : str
    output : function (q, t) -> (k,), or (q, qd, t); names of coordinates; or a FramePoint
        y; a function (q, program, t) gives the whole error e, for relations that are no difference.
    program : of `da.generators`
        r, its output (k,).
    actuators : sequence of str
        Joints that act.
    initial : (n,) array, optional
        State of the generator at the start, by default its own.
    frequency : float
        Of the error [rad/s]: about 5 to 20 over the time in which the program changes.
    damping : float
        Of the error, by default critical.
    allow_unstable : bool
        Whether to go on where the internal dynamics is unstable, which is refused otherwise.

    Raises
    ------
    TypeError, UnknownNameError, ValueError
        An argument is none of these; frequency is not positive.

    Examples
    --------
    >>> import dalembert as da
    >>> swing = da.generators.Harmonic(frequency=2.0, amplitude=0.5)
    >>> servo = da.constraints.Servo("swing", "q1", swing, ["q1"], frequency=10.0)
    >>> arm = da.planar_chain(1).constrained(servo)
    >>> run = da.simulate(arm, [0.0], [1.0], 1.0)
    >>> bool(abs(run.observables["program_residual"]).max() < 1e-9)
    True
    """

    name: str
    output: Any
    program: Any
    actuators: Sequence[str]
    initial: Any = None
    frequency: Number | None = None
    damping: Number = 1.0
    allow_unstable: bool = False
    source: Source = field(default=NOWHERE, compare=False)
    principle: ClassVar[str] = "servo"

    def __post_init__(self) -> None:
        expected = "a generator, of da.generators"
        check_instance(
            f"the program of {self.name!r}",
            self.program,
            Generator,
            expected,
        )
        if isinstance(self.actuators, str) or not all(isinstance(a, str) for a in self.actuators):
            raise refused(
                f"actuators of {self.name!r}", self.actuators, "a list of names of joints"
            )
        object.__setattr__(self, "actuators", tuple(self.actuators))
        if isinstance(self.output, (list, tuple)):
            object.__setattr__(self, "output", tuple(self.output))
        elif not (callable(self.output) or isinstance(self.output, (str, FramePoint))):
            expected = "a function (q, t), names of coordinates, or a FramePoint"
            raise refused(f"output of {self.name!r}", self.output, expected)
        if self.frequency is None or not (is_symbolic(self.frequency) or self.frequency > 0):
            raise ValueError(
                f"frequency of {self.name!r} is {self.frequency!r}: expected that of the error, a "
                "positive number [rad/s]. Without feedback an error at the start stays, or grows."
            )
        _check_start(self.name, self.initial, self.program)

    @property
    def has_functions(self) -> bool:  # type: ignore[override]
        """Whether the output is a function, or the generator a user's own."""
        is_own = not type(self.program).__module__.startswith("dalembert.")
        return is_own or callable(self.output)

    @property
    def frames(self) -> tuple[str, ...]:
        """Name of the frame of its output, if that is a point."""
        return (self.output.frame,) if isinstance(self.output, FramePoint) else ()

    def renamed(self, new: Callable[[str], str]) -> Servo:
        """The servo constraint in a mechanism whose parts have other names."""
        output = self.output
        if isinstance(output, FramePoint):
            output = replace(output, frame=new(output.frame))
        elif isinstance(output, str):
            output = new(output)
        elif isinstance(output, tuple):
            output = tuple(map(new, output))
        actuators = tuple(map(new, self.actuators))
        return replace(
            self,
            name=new(self.name),
            output=output,
            actuators=actuators,
        )

    def numbers(self) -> dict[str, Number]:
        """frequency, damping, and those of a point: 'output_origin[0]', ..."""
        assert self.frequency is not None
        found = {"frequency": self.frequency, "damping": self.damping}
        if isinstance(self.output, FramePoint):
            found |= of_role("output", self.output.place)
        return found

    def with_numbers(self, numbers: Mapping[str, Number]) -> Servo:
        """The servo constraint with other numbers."""
        own = {key: numbers[key] for key in ("frequency", "damping") if key in numbers}
        if isinstance(self.output, FramePoint) and (moved := in_role("output", numbers)):
            place = self.output.place.with_numbers(self.output.place.numbers() | moved)
            return replace(self, output=replace(self.output, point=place.origin.xyz), **own)
        return replace(self, **own)

    def identity(self) -> str | None:
        """Fields as text; None where a function cannot be told from others."""
        fields = (
            self.name,
            self.output,
            self.program,
            self.actuators,
            _start(self.initial, self.program).tolist(),
        )
        return content((*fields, self.frequency, self.damping, self.allow_unstable))

    def start(self, system: Moving) -> dict[str, float]:
        """States of the generator to begin with."""
        return _named_start(self.initial, self.program)

    def residual(self, system: Moving, q: Any, qd: Any, states: Any, t: Any = 0.0) -> Any:
        """The error e (k,)."""
        program = array(self.program.output(states))
        q, qd = np.asarray(q), np.asarray(qd)
        if callable(self.output):
            names = [*signature(self.output).parameters]
            if len(names) == 3 and names[1] == WITH_PROGRAM:
                return np.atleast_1d(array(self.output(q, program, t)))
            velocity = () if len(names) == 2 else (qd,)
            y = np.atleast_1d(array(self.output(q, *velocity, t)))
        elif isinstance(self.output, FramePoint):
            y = self.output.at(system, self, q)
        else:
            y = self._coordinates(system, q)
        if y.shape != program.shape:
            raise ShapeError(
                f"output of {self.name!r} has shape {y.shape}, its program {program.shape}: "
                "expected the same.",
                self.name,
                y.shape,
                program.shape,
            )
        return y - program

    def _coordinates(self, system: Any, q: np.ndarray) -> np.ndarray:
        names = (self.output,) if isinstance(self.output, str) else self.output
        known = system.coordinate_names
        for name in names:
            if name not in known:
                raise UnknownNameError(f"coordinate of output of {self.name!r}", name, known)
        return array([q[known.index(name)] for name in names])

    def gains(self, degree: int) -> list[Any]:
        """Coefficients c_0, ..., c_(r-1) of the error's polynomial of a degree r.

        Examples
        --------
        >>> import dalembert as da
        >>> swing = da.generators.Harmonic(frequency=2.0, amplitude=0.5)
        >>> da.constraints.Servo("swing", "q1", swing, ["q1"], frequency=5.0).gains(2)
        [25.0, 10.0]
        """
        w: Any = self.frequency
        polynomial: list[Any] = [1.0]
        for _ in range(degree // 2):
            polynomial = _product(polynomial, [w * w, 2 * self.damping * w, 1.0])
        if degree % 2:
            polynomial = _product(polynomial, [w, 1.0])
        return polynomial[:-1]


@dataclass(frozen=True)
class TwoWay(ProgramConstraint):
    """A relation between a system and a generator of the second order that feels its reaction.

        M q'' + bias = tau + Phi_q^T mu
        (Alpha + H) v' + Phi_v^T (mu' + c mu) = Alpha f + Phi_x^T mu - H_vq q' - H_vx v - H_vt
        Phi_q q' + Phi_x v + Phi_v v' + Phi_t = 0,    v = x',  x'' = f(x, v) of the generator alone

    H are second derivatives of mu^T Phi. Multipliers mu are states, which `simulate` is given as
    `multipliers0`. With alpha = 1 and c = 0 these are the vakonomic equations, whose spectrum is
    symmetric: no motion is asymptotically stable. A `Servo` leads a system along a program.

    Parameters
    ----------
    name : str
    phi : function (q, s, t) -> (m,)
        Of coordinates, and of the generator's state s = (x, v).
    generator : of `da.generators`, of the second order
        x'' = f(x, x'), with the state (x, v).
    initial : (2 k,) array, optional
        Its state at the start, by default its own.
    alpha : number or (k,)
        Scale of the generator's inertia and force.
    c : number or (m,)
        Damping of the multipliers [1/s].

    Raises
    ------
    TypeError, ShapeError
        An argument is none of these; the generator is of another order.

    Examples
    --------
    >>> import dalembert as da
    >>> swing = da.generators.Harmonic(frequency=1.0, amplitude=1.0)
    >>> coupling = da.constraints.TwoWay("speed", lambda q, s, t: [q[0] - s[1]], swing)
    >>> coupling.order
    1
    """

    name: str
    phi: Callable[..., Any]
    generator: Any
    initial: Any = None
    alpha: Number = 1.0
    c: Number = 0.0
    source: Source = field(default=NOWHERE, compare=False)
    principle: ClassVar[str] = "vakonomic"

    def __post_init__(self) -> None:
        kind = (
            SecondOrderGenerator,
            "a generator of the second order, x'' = f(x, x'), of da.generators",
        )
        check_instance(f"the generator of {self.name!r}", self.generator, *kind)
        if not callable(self.phi):
            raise refused(f"phi of {self.name!r}", self.phi, "a function (q, s, t) of its rows")
        _check_start(self.name, self.initial, self.generator)
        for name, count in (("alpha", self.order), ("c", None)):
            value = getattr(self, name)
            if np.ndim(value):
                entries = checked_vector(value, count or len(value), f"{name} of {self.name!r}")
                object.__setattr__(self, name, tuple(entries))

    @property
    def order(self) -> int:
        """Number of coordinates x of the generator."""
        return len(self.generator.state_names) // 2

    def renamed(self, new: Callable[[str], str]) -> TwoWay:
        """The coupling in a mechanism whose parts have other names."""
        return replace(self, name=new(self.name))

    def numbers(self) -> dict[str, Number]:
        """alpha and c."""
        found: dict[str, Number] = {}
        for name in SCALES:
            value = getattr(self, name)
            found |= named(name, value) if isinstance(value, tuple) else {name: value}
        return found

    def with_numbers(self, numbers: Mapping[str, Number]) -> TwoWay:
        """The coupling with other numbers."""
        changed = self.numbers() | dict(numbers)
        fields: dict[str, Any] = {}
        for name in SCALES:
            value = getattr(self, name)
            is_vector = isinstance(value, tuple)
            fields[name] = entries(changed, name, len(value)) if is_vector else changed[name]
        return replace(self, **fields)

    def identity(self) -> str | None:
        """Fields as text; None where a function cannot be told from others."""
        start = _start(self.initial, self.generator).tolist()
        return content((self.name, self.phi, self.generator, start, self.alpha, self.c))

    def start(self, system: Moving) -> dict[str, float]:
        """States of the generator to begin with, and multipliers, which have no default."""
        found = _named_start(self.initial, self.generator)
        with Graph():
            q, state = symbols("q", system.nq), symbols("s", 2 * self.order)
            m = len(self._rows(q, state, symbol("t")))
        multipliers = ["mu"] if m == 1 else [f"mu[{k}]" for k in range(m)]
        return found | dict.fromkeys(multipliers, float("nan"))

    def residual(self, system: Moving, q: Any, qd: Any, states: Any, t: Any = 0.0) -> Any:
        """Phi (m,)."""
        return self._rows(np.asarray(q), np.asarray(states)[: 2 * self.order], t)

    def _rows(self, q: Any, state: Any, t: Any) -> np.ndarray:
        return np.atleast_1d(array(self.phi(q, state, t)))

    def force(self, system: Moving, q: Any, states: Any, t: Any) -> np.ndarray:
        """Phi_q^T mu along the velocities of the system (nv,).

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> swing = da.generators.Harmonic(frequency=1.0, amplitude=1.0)
        >>> coupling = da.constraints.TwoWay("speed", lambda q, s, t: [q[0] - s[1]], swing)
        >>> coupling.force(system_of(da.planar_chain(1)), [0.0], [0.0, 1.0, 0.3], 0.0)
        array([0.3])
        """

        def make(q: Any, qd: Any, states: Any, time: Any) -> tuple[Any]:
            """G^T Phi_q^T mu, where q' = G qd."""
            n = 2 * self.order
            S = states[n:] @ self._rows(q, states[:n], time[0])
            G = jacobian(np.asarray(system.rate(q, qd)), qd)
            return (G.T @ gradient(S, q),)

        rest = np.zeros(system.nv)
        (found,) = evaluated(
            make,
            f"force of {self.name}",
            q,
            list(rest),
            states,
            [t],
        )
        return found

    def state_rates(self, system: Moving, q: Any, qd: Any, states: Any, t: Any) -> np.ndarray:
        """Rates of x, v and mu.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> swing = da.generators.Harmonic(frequency=1.0, amplitude=1.0)
        >>> coupling = da.constraints.TwoWay("speed", lambda q, s, t: [q[0] - s[1]], swing)
        >>> coupling.state_rates(system_of(da.planar_chain(1)), [1.0], [0.5], [0.2, 1.0, 0.3], 0.0)
        array([1. , 0.5, 0.7])
        """

        def make(*given: Any) -> tuple[Any]:
            """Rates on symbols."""
            return (self._state_rates(system, *given),)

        (found,) = evaluated(
            make,
            f"rates of {self.name}",
            q,
            qd,
            states,
            [t],
        )
        return found

    def _check_generator(self, P: np.ndarray) -> None:
        """See that each row of Phi has velocities of the generator, P = Phi_v (k, order)."""
        for row, of_row in enumerate(P):
            if all(known_zero(x) for x in of_row):
                raise ConstraintError(
                    f"row {row} of coupling {self.name!r} does not depend on velocities of its generator, "
                    "so that it couples nothing: phi(q, (x, v), t) takes them behind x.",
                    self.name,
                )

    def _state_rates(self, system: Moving, q: Any, qd: Any, states: Any, time: Any) -> np.ndarray:
        k, t = self.order, time[0]
        alpha, c = (array(np.ravel(getattr(self, name))) for name in SCALES)
        x, v, mu = states[:k], states[k : 2 * k], states[2 * k :]
        Phi = self._rows(q, states[: 2 * k], t)
        S = mu @ Phi
        P = jacobian(Phi, v)
        self._check_generator(P)
        pi = gradient(S, v)
        q_rate = np.asarray(system.rate(q, qd))
        f = array(self.generator.acceleration(x, v))
        carried = jacobian(pi, q) @ q_rate + jacobian(pi, x) @ v + _time_rates(pi, t)
        force = alpha * f + gradient(S, x) - carried
        rows = -(jacobian(Phi, q) @ q_rate + jacobian(Phi, x) @ v + _time_rates(Phi, t))
        m = len(mu)
        # multipliers stand first, whose columns have pivots for alpha = 0 too
        matrix = np.zeros((m + k, m + k), dtype=object)
        matrix[:m, m:] = P
        matrix[m:, :m] = P.T
        matrix[m:, m:] = jacobian(pi, v) + alpha * np.eye(k, dtype=int)
        found = solve(matrix, np.concatenate([rows, force]))
        return np.concatenate([v, found[m:], found[:m] - c * mu])


def _time_rates(values: np.ndarray, t: Any) -> np.ndarray:
    """Partial derivatives by time."""
    return array([derivative(value, t) for value in values])


def _product(first: list[Any], second: list[Any]) -> list[Any]:
    """Product of two polynomials by rising powers."""
    found: list[Any] = [0.0] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            found[i + j] = found[i + j] + a * b
    return found


def _start(initial: Any, generator: Any) -> np.ndarray:
    """The state of a generator to begin with."""
    return np.array(generator.state if initial is None else initial, dtype=float)


def _named_start(initial: Any, generator: Any) -> dict[str, float]:
    """States of a generator by name."""
    values = _start(initial, generator).tolist()
    return dict(zip(generator.state_names, values, strict=True))


def _check_start(name: str, initial: Any, generator: Any) -> None:
    start = _start(initial, generator)
    n = len(generator.state_names)
    if start.shape != (n,) or not np.isfinite(start).all():
        raise ShapeError(
            f"initial of {name!r} has shape {start.shape}, expected ({n},) finite numbers: "
            f"{', '.join(generator.state_names)}.",
            "initial",
            start.shape,
            (n,),
        )
