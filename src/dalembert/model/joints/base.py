"""Interface of joint types: placement of the child, motion subspace and its rate, coordinates and
their manifold.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

from dalembert.expr import known_zero
from dalembert.model.numbered import Numbered, entries, named
from dalembert.model.numbers import (
    Converter,
    Number,
    as_exact,
    checked_vector,
    exact_text,
    unit_vector,
)
from dalembert.spatial.motion_force import NO_MOTION, Motion
from dalembert.spatial.screws import Screw
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Scalar

Scalars = Sequence[Scalar]
Type = TypeVar("Type", bound="JointType")


# Types that are exactly what their name and numbers say, in the order of their imports.
BUILT_IN: list[type[JointType]] = []


def built_in(joint_type: type[Type]) -> type[Type]:
    """Decorator of this package's own types."""
    BUILT_IN.append(joint_type)
    return joint_type


class JointType(Numbered):
    """Relative motion of a child body, given by coordinates q and velocities v.

    The child's placement in the joint's frame is `placement(q)`; its spatial velocity, in the
    child's axes and at the child's origin, is S(q) v with the columns of `subspace(q)`.

    Lists q have nq entries [rad, m; unit quaternions], lists v and steps nv [rad/s, m/s; rad, m];
    entries are numbers or expressions.

    Examples
    --------
    >>> import dalembert as da
    >>> isinstance(da.Revolute(), da.JointType)
    True
    """

    name: ClassVar[str]
    coordinates: ClassVar[tuple[str, ...]]  # names of the entries of q
    velocities: ClassVar[
        tuple[str, ...]
    ]  # names of the entries of v: 'angular...' in rad/s, others in m/s
    constant_subspace: ClassVar[bool] = True
    parameters: ClassVar[tuple[str, ...]] = ()  # fields that hold numbers: 'axis', 'pitch'

    # --- facts of a class's own text: a class derived from it must state them again, as it may do anything ---

    quaternion_freedoms: ClassVar[int] = (
        0  # 3 or 6: q is a quaternion, alone or before the origin, v the twist
    )
    takes_symbols: ClassVar[bool] = (
        False  # whether symbols may stand for its parameters in placement and subspace
    )

    def screws(self) -> tuple[Screw, ...] | None:
        """The row of elementary screws that it is made of; None where its freedoms do not act one
        after the other.

            placement(q) = exp(s_1 q_at1) exp(s_2 q_at2) ...

        Closed forms, exact locks, elementary motions and compiled code follow from them.

        Examples
        --------
        >>> import dalembert as da
        >>> [screw.turns for screw in da.Cylindrical((0, 0, 1)).screws()], da.Spherical().screws()
        ([False, True], None)
        """
        return None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for fact in ("screws", "quaternion_freedoms", "takes_symbols"):
            if fact not in cls.__dict__:
                setattr(cls, fact, JointType.__dict__[fact])

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        """Number of velocities (freedoms)."""
        return len(self.velocities)

    def identity(self) -> str | None:
        """Text that is the same for two joints if, and only if, they move alike, now and in later
        versions of their code.

        Compiled code is kept on disk under it. None, unless a type of your own gives such a text,
        means that nothing is kept: its name says nothing about what its methods do. A text must
        hold every number that they use, and change whenever their code does.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Prismatic((1, 0, 0)).identity() == da.Prismatic((0, 1, 0)).identity()
        False
        """
        if type(self) not in BUILT_IN:
            return None
        return f"{self.name} {exact_text([*self.numbers().values()])}"

    def numbers(self) -> dict[str, Number]:
        """The numbers of its `parameters`: axis[k], pitch, ...

        Examples
        --------
        >>> import dalembert as da
        >>> da.Helical((0, 0, 1), pitch=0.01).numbers()
        {'axis[0]': 0, 'axis[1]': 0, 'axis[2]': 1, 'pitch': 0.01}
        """
        numbers: dict[str, Number] = {}
        for name in self.parameters:
            value = getattr(self, name)
            numbers |= named(name, value) if isinstance(value, tuple) else {name: value}
        return numbers

    def with_numbers(self: Type, numbers: Mapping[str, Number]) -> Type:
        """The type with other numbers, by the names of `numbers()`.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Helical((0, 0, 1), pitch=0.01).with_numbers({"pitch": 0.02}).pitch
        0.02
        """
        numbers, changes = self.numbers() | dict(numbers), {}
        for name in self.parameters:
            value = getattr(self, name)
            changes[name] = (
                entries(numbers, name, len(value)) if isinstance(value, tuple) else numbers[name]
            )
        return replace(self, **changes) if changes else self  # type: ignore[type-var]      # a type's parameters are fields

    def converted(self, convert: Converter) -> JointType:
        """The same joint with each of its numbers converted.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Revolute((0, 0, 2)).converted(float).axis
        (0.0, 0.0, 1.0)
        """
        return self

    @abstractmethod
    def placement(self, q: Scalars) -> Transform:
        """Placement of the child in the joint's frame: rotation R (3, 3) and origin p (3,) [m].

        Examples
        --------
        >>> import dalembert as da
        >>> da.Prismatic((1, 0, 0)).placement([0.3]).p
        (0.3, 0.0, 0.0)
        """

    @abstractmethod
    def subspace(self, q: Scalars) -> tuple[Motion, ...]:
        """Columns of the motion subspace S (6, nv), in the child's axes at its origin: angular [1, 1/m],
        linear [m, 1].

        Examples
        --------
        >>> import dalembert as da
        >>> da.Revolute((0, 0, 1)).subspace([0.3])[0].angular
        (0, 0, 1)
        """

    def subspace_rate(self, q: Scalars, v: Scalars) -> tuple[Motion, ...]:
        """Rates of the columns' components along the motion, (6, nv); zero where S is constant.

        Examples
        --------
        >>> import dalembert as da
        >>> planar = da.Planar((0, 0, 1)).converted(float)
        >>> planar.subspace_rate([0.0, 0.0, 0.0], [2.0, 0.0, 0.0])[1].linear
        (-0.0, -2.0, -0.0)
        """
        return (NO_MOTION,) * self.nv

    def subspace_rate_derivatives(self, q: Scalars, v: Scalars) -> tuple[Motion, ...]:
        """Derivatives of the motion subspace_rate(q, v) v by each entry of q, v held: nq motions (6,),
        zero where S is constant.

        Examples
        --------
        >>> import dalembert as da
        >>> planar = da.Planar((0, 0, 1)).converted(float)
        >>> planar.subspace_rate_derivatives([0.0, 0.0, 0.0], [2.0, 1.0, 0.0])[0].linear
        (-2.0, 0.0, 0.0)
        """
        return (NO_MOTION,) * self.nv

    @property
    def freed(self) -> tuple[int, ...]:
        """Coordinates 0..5 (angular x, y, z, linear x, y, z) that S spans as unit vectors, or () if
        it is no such S.
        """
        if not self.constant_subspace:
            return ()
        found = []
        for column in self.subspace(self.neutral()):
            entries = [*column.angular, *column.linear]
            at = [k for k, e in enumerate(entries) if not known_zero(e)]
            if (
                len(at) != 1
                or not isinstance(entries[at[0]], (int, float))
                or abs(entries[at[0]]) != 1
            ):
                return ()
            found.append(at[0])
        return tuple(found)

    # --- the manifold of the coordinates; where q is a vector these are sum and difference ---

    def rate(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """Time derivative of q for the velocities v: (nq,) [rad/s, m/s; 1/s of quaternions].

        Examples
        --------
        >>> import dalembert as da
        >>> da.Spherical().rate([1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 2.0])
        [0.0, 0.0, 0.0, 1.0]
        """
        return list(v)

    def integrate(self, q: Scalars, step: Scalars) -> list[Scalar]:
        """q moved by a step (nv,) [rad, m] along the velocity directions: (nq,).

        Examples
        --------
        >>> import dalembert as da
        >>> da.Prismatic((1, 0, 0)).integrate([0.3], [0.2])
        [0.5]
        """
        return [a + b for a, b in zip(q, step, strict=True)]

    def difference(self, q1: Scalars, q0: Scalars) -> list[Scalar]:
        """Step (nv,) [rad, m] from q0 to q1, (nq,) each: integrate(q0, step) = q1.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Continuous((0, 0, 1)).difference([-3.0], [3.0])      # the shorter way round
        [0.28318530717958623]
        """
        return [a - b for a, b in zip(q1, q0, strict=True)]

    def neutral(self) -> list[float]:
        """Coordinates (nq,) [rad, m] at which the child's frame coincides with the joint's frame.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Spherical().neutral()
        [1.0, 0.0, 0.0, 0.0]
        """
        return [0.0] * self.nq

    def random(self, rng: Any) -> list[float]:
        """Random coordinates (nq,): angles in (-pi, pi) rad, displacements in (-1, 1) m.

        Examples
        --------
        >>> import dalembert as da
        >>> import numpy as np
        >>> len(da.Free().random(np.random.default_rng(0)))
        7
        """
        return [
            float(rng.uniform(-math.pi, math.pi) if "angle" in c else rng.uniform(-1, 1))
            for c in self.coordinates
        ]

    quaternion_at: ClassVar[int | None] = None  # where in q a unit quaternion starts


class AxisJoint(JointType):
    """A joint with an axis: stored as given, of unit length where it is used."""

    axis: tuple[Number, Number, Number]
    parameters: ClassVar[tuple[str, ...]] = ("axis",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", checked_vector(self.axis, 3, "axis"))

    @property
    def unit_axis(self) -> tuple[Any, ...]:
        """Axis of unit length, exact where its norm is rational; the length is checked by
        `validate`.
        """
        return unit_vector(tuple(as_exact(a) for a in self.axis))
