"""Interface of constraints: rows phi(q, t) = 0, or psi(q, qd, t) = 0 alone, that a motion keeps."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from dalembert.arguments import check_choice, check_text, refused
from dalembert.errors import DalembertError, UnknownNameError
from dalembert.model.numbered import Numbered, Part
from dalembert.model.numbers import Number, checked_vector
from dalembert.model.origins import NOWHERE, Origin, Source
from dalembert.spatial.angles import snapped

ROUNDED = 1e-14  # rad, of angles as floats
PRINCIPLES = ("chetaev", "vakonomic", "servo", "gauss")


class Moving(Protocol):
    """A system whose coordinates move along its velocities."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def mechanism(self) -> Any:
        """The mechanism whose equations these are, if there is one."""

    @property
    def nq(self) -> int:
        """Number of coordinates."""

    @property
    def nv(self) -> int:
        """Number of velocities."""

    def rate(self, q: Any, qd: Any) -> Any:
        """Rates of the coordinates (nq,)."""


class ConstraintRates(NamedTuple):
    """Rows of a constraint on velocities and accelerations at a state.

    velocity : (k,) J qd + phi_t, or psi: 0 where the constraint holds
    jacobian : J (k, nv), the derivative of the velocity by qd
    bias : (k,) J qdd = bias on accelerations
    leftover : (k,) velocity - J qd: 0 of constraints whose forces do no work
    """

    velocity: np.ndarray
    jacobian: np.ndarray
    bias: np.ndarray
    leftover: np.ndarray


class Constraint(Part):
    """Rows that the motion of a system keeps at 0, of one state of floats or expressions.

    A kind of one's own gives `name`, `position` (if it has one) and `rates`.

    Attributes
    ----------
    name : str
    unit : of the rows, or of each, joined by commas; of velocities times a second: the unit of the
        multipliers is that of energy over it
    is_holonomic : whether each row has a `position`
    position_count : number of the first rows that have one, where not all have
    count : number of rows, where it is known without a system
    one_sided : whether the motion keeps its rows at 0 or more
    principle : of kinds that have one of their own
    has_functions : whether functions of a user's own are part of it
    source : file and line in which it was described
    """

    name: str
    unit: str = ""
    is_holonomic: bool = True
    position_count: int = 0
    count: int | None = None
    one_sided: bool = False
    principle: ClassVar[str] = ""
    has_functions: bool = True
    source: Source = NOWHERE

    @property
    def has_position(self) -> bool:
        """Whether there is a `position`: of all rows, or of the first ones."""
        return self.is_holonomic or self.position_count > 0

    @property
    def acts_on(self) -> FramePlace | None:
        """The place at whose origin its reaction is a wrench; None: it is a generalized force."""
        return None

    @property
    def places(self) -> tuple[FramePlace, ...]:
        """Places on bodies among its fields, and of what it is about."""
        values = [getattr(value, "place", value) for value in vars(self).values()]
        return tuple(value for value in values if isinstance(value, FramePlace))

    @property
    def frames(self) -> tuple[str, ...]:
        """Names of the bodies and frames that it is about."""
        return ()

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints that it is about."""
        return ()

    def renamed(self, new: Callable[[str], str]) -> Constraint:
        """The constraint in a mechanism whose parts have other names.

        Examples
        --------
        >>> import dalembert as da
        >>> rod = da.constraints.Holonomic("rod", lambda q, t: [q[0]])
        >>> rod.renamed(lambda name: f"left_{name}").name
        'left_rod'
        """
        return replace(self, name=new(self.name))  # type: ignore[type-var]

    def numbers(self) -> dict[str, Number]:
        """Its numbers by name; none, unless said otherwise."""
        return {}

    def with_numbers(self, numbers: Mapping[str, Number]) -> Constraint:
        """The constraint with other numbers."""
        return self

    def identity(self) -> str | None:
        """Text that is equal for equal constraints; None: it cannot be told."""
        return None

    def position(self, system: Moving, q: Any, t: Any = 0.0) -> Any:
        """phi (k,); none of a constraint on velocities alone.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> arm = system_of(da.planar_chain(1))
        >>> da.constraints.Holonomic("rod", lambda q, t: [q[0] - 1]).position(arm, [0.5])
        array([-0.5])
        """
        return np.zeros(0)

    @abstractmethod
    def rates(self, system: Moving, q: Any, qd: Any, t: Any = 0.0) -> ConstraintRates:
        """Rows on velocities and accelerations.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> arm = system_of(da.planar_chain(1))
        >>> da.constraints.Holonomic("rod", lambda q, t: [q[0] ** 2]).rates(arm, [0.5], [2.0]).velocity
        array([2.])
        """

    def reaction(self, system: Moving, q: Any, qd: Any, t: Any, multipliers: Any) -> Any:
        """Force of its multipliers: the wrench (6,) at the place that it `acts_on`, moment first, in
        the base's axes [N m, N], or the generalized force J^T lambda (nv,) [N m, N].

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> arm = system_of(da.planar_chain(1))
        >>> da.constraints.Holonomic("rod", lambda q, t: [q[0] ** 2]).reaction(arm, [0.5], [0.0], 0.0, [3.0])
        array([3.])
        """
        return self.rates(system, q, qd, t).jacobian.T @ np.asarray(multipliers)


class ProgramConstraint(Constraint):
    """Relation to a program that forces of its own keep, with internal states: it has no multipliers
    of rows.
    """

    is_holonomic = False

    @abstractmethod
    def start(self, system: Moving) -> dict[str, float]:
        """Internal states by name, and their values to begin with; NaN where there is no default.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> swing = da.generators.Harmonic(frequency=2.0, amplitude=0.5)
        >>> servo = da.constraints.Servo("swing", "q1", swing, ["q1"], frequency=5.0)
        >>> servo.start(system_of(da.planar_chain(1)))
        {'x': 0.0, 'v': 1.0}
        """

    @abstractmethod
    def residual(self, system: Moving, q: Any, qd: Any, states: Any, t: Any = 0.0) -> Any:
        """The relation (k,), 0 where it is met.

        Examples
        --------
        >>> import dalembert as da
        >>> from dalembert.systems.kinds import system_of
        >>> swing = da.generators.Harmonic(frequency=2.0, amplitude=0.5)
        >>> servo = da.constraints.Servo("swing", "q1", swing, ["q1"], frequency=5.0)
        >>> servo.residual(system_of(da.planar_chain(1)), [0.7], [0.0], swing.state)
        array([0.7])
        """

    def rates(self, system: Moving, q: Any, qd: Any, t: Any = 0.0) -> ConstraintRates:
        """No rows."""
        none = np.zeros(0)
        return ConstraintRates(none, np.zeros((0, system.nv)), none, none)


@dataclass(frozen=True)
class FramePlace(Numbered):
    """A frame on a body, by name or by its placement on it.

    body : name of a body or frame
    origin : placement in the axes of that
    """

    body: str
    origin: Origin = Origin()

    @classmethod
    def of(cls, given: Any, role: str) -> FramePlace:
        """The place that is given as a name, (body, point) or (body, point, (roll, pitch, yaw)).

        Examples
        --------
        >>> from dalembert.model.constraint import FramePlace
        >>> FramePlace.of(("rod", (0.5, 0, 0)), "first").origin.xyz
        (0.5, 0, 0)
        """
        if isinstance(given, cls):
            return given
        if isinstance(given, str):
            check_text(role, given)
            return cls(given)
        expected = "the name of a frame, (body, point) or (body, point, (roll, pitch, yaw))"
        if not isinstance(given, Sequence) or len(given) not in (2, 3):
            raise refused(role, given, expected)
        body, point, *turn = given
        check_text(f"the body of {role}", body)
        if isinstance(point, Origin) and not turn:
            return cls(body, point)
        xyz = checked_vector(point, 3, f"the point of {role}")
        angles = checked_vector(turn[0], 3, f"roll, pitch, yaw of {role}", True) if turn else ()
        return cls(body, Origin.rpy(xyz, *map(_exact, angles)))

    def numbers(self) -> dict[str, Number]:
        """origin[k], rotation[k]."""
        return self.origin.numbers()

    def with_numbers(self, numbers: Mapping[str, Number]) -> FramePlace:
        """The place with other numbers."""
        return replace(self, origin=self.origin.with_numbers(numbers))

    def identity(self) -> str | None:
        """Name and numbers as text."""
        of_origin = self.origin.identity()
        return None if of_origin is None else f"{self.body!r} {of_origin}"

    def renamed(self, new: Callable[[str], str]) -> FramePlace:
        """The place in a mechanism whose parts have other names.

        Examples
        --------
        >>> from dalembert.model.constraint import FramePlace
        >>> FramePlace("rod").renamed(lambda name: f"left_{name}").body
        'left_rod'
        """
        return replace(self, body=new(self.body))


def _exact(angle: Number) -> Number:
    """A float next to a multiple of pi / 12 as that: its sine and cosine have exact zeros."""
    multiple = snapped(angle, ROUNDED) if isinstance(angle, float) else None
    return angle if multiple is None else multiple


def check_unconstrained(mechanism: Any, purpose: str) -> None:
    """Raise a DalembertError if a mechanism has constraints, which a function of trees would leave
    out.
    """
    if names := [constraint.name for constraint in getattr(mechanism, "constraints", ())]:
        raise DalembertError(
            f"{purpose} knows no constraints, and {mechanism.name!r} has {', '.join(names)}: take "
            "da.compile, da.minimal_form, or of a mechanism da.forward_dynamics, "
            "da.inverse_dynamics, da.linearize, which know them, or its tree, "
            "mechanism.without('constraints')."
        )


def of_role(role: str, part: Numbered) -> dict[str, Number]:
    """Numbers of a part of a constraint, with its role before their names: 'first_origin[0]'."""
    return {f"{role}_{name}": value for name, value in part.numbers().items()}


def in_role(role: str, numbers: Mapping[str, Number]) -> dict[str, Number]:
    """The numbers that `of_role` named, by their own names."""
    start = f"{role}_"
    return {key.removeprefix(start): x for key, x in numbers.items() if key.startswith(start)}


def check_names(owner: str, constraints: Sequence[Constraint]) -> None:
    """See that constraints of a system have names, each its own.

    Raises
    ------
    DalembertError
    """
    names = [constraint.name for constraint in constraints]
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise DalembertError(
                f"a constraint of {owner!r} has the name {name!r}, by which runs record "
                "multipliers: give it a text."
            )
        if names.count(name) > 1:
            raise DalembertError(
                f"two constraints of {owner!r} have the name {name!r}, by which runs record "
                "multipliers: give each its own."
            )


def principles_of(
    constraints: Sequence[Constraint], principle: str | Mapping[str, str]
) -> tuple[str, ...]:
    """Principles of constraints: the same for all, or by name, the first for constraints left out.

    Raises
    ------
    UnknownNameError
        There is no such principle, or no constraint of a name.

    Examples
    --------
    >>> import dalembert as da
    >>> from dalembert.model.constraint import principles_of
    >>> rows = [da.constraints.Holonomic(name, lambda q, t: [q[0]]) for name in ("left", "right")]
    >>> principles_of(rows, {"right": "servo"})
    ('chetaev', 'servo')
    """
    chosen = principle if isinstance(principle, Mapping) else {}
    default = PRINCIPLES[0] if isinstance(principle, Mapping) else principle
    names = [getattr(constraint, "name", "") for constraint in constraints]
    if unknown := [name for name in chosen if name not in names]:
        raise UnknownNameError("constraint", unknown[0], tuple(names))
    own = [getattr(constraint, "principle", "") for constraint in constraints]
    principles = tuple(o or chosen.get(name, default) for o, name in zip(own, names, strict=True))
    for name in principles:
        check_choice("principle", name, PRINCIPLES)
    return principles
