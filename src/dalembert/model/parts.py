"""The parts of a mechanism: bodies, joints, frames; frozen data with numbers as they were given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dalembert.arguments import check_instance, check_text, refused
from dalembert.expr import known_zero
from dalembert.model.friction_laws import Stribeck
from dalembert.model.joints import Fixed, JointType
from dalembert.model.numbered import Numbered, Part, entries, named
from dalembert.model.numbers import (
    Converter,
    Number,
    as_exact,
    checked,
    checked_vector,
    exact_text,
    several,
)
from dalembert.spatial.angles import PiMultiple, cos_sin
from dalembert.spatial.inertias import Inertia
from dalembert.spatial.rotations import NO_ROTATION, Dense, Rotation, about_axis_cos_sin
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import AXES, Matrix, Vector

AXIS_LETTERS = {"x": AXES[0], "y": AXES[1], "z": AXES[2]}
TENSOR = tuple(
    f"inertia[{indices}]" for indices in ("0,0", "0,1", "1,1", "0,2", "1,2", "2,2")
)  # entries of Body.inertia
DENSE_FROM = 3  # a product of this many turns that are not quarter turns costs more than its matrix


@dataclass(frozen=True)
class Source:
    """File and line in which a part was described; line 0 means unknown.

    Examples
    --------
    >>> import dalembert as da
    >>> str(da.Source("arm.urdf", 12))
    'arm.urdf, line 12'
    """

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}" if self.line else self.file


NOWHERE = Source()


@dataclass(frozen=True)
class Origin(Numbered):
    """Constant placement: translation, then elementary rotations applied left to right.

    xyz : translation [m]. rotations : pairs (axis, angle [rad]), the axis 'x', 'y', 'z' or a unit
        vector; roll,
    pitch, yaw of a robot file are (('z', yaw), ('y', pitch), ('x', roll)).

    Examples
    --------
    >>> import dalembert as da
    >>> da.Origin.rpy((0, 0, 0.1), yaw=0.5).rotations
    (('z', 0.5),)
    """

    xyz: tuple[Number, ...] = (0, 0, 0)
    rotations: tuple[tuple[Any, Number], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "xyz", checked_vector(self.xyz, 3, "origin"))
        turns = []
        for turn in several(self.rotations, "rotations of an origin", "pairs (axis, angle)"):
            if not isinstance(turn, (tuple, list)) or len(turn) != 2:
                raise refused(
                    "a rotation of an origin", turn, "a pair (axis, angle), as ('z', 0.3)"
                )
            axis, angle = turn
            if isinstance(axis, str) and axis not in AXIS_LETTERS:
                raise ValueError(
                    f"rotation axis {axis!r}; expected 'x', 'y', 'z' or a vector of length 1."
                )
            turns.append(
                (
                    axis if isinstance(axis, str) else checked_vector(axis, 3, "rotation axis"),
                    checked(angle, "rotation angle", angle=True),
                )
            )
        object.__setattr__(self, "rotations", tuple(turns))

    @staticmethod
    def rpy(
        xyz: Sequence[Number] = (0, 0, 0), roll: Number = 0, pitch: Number = 0, yaw: Number = 0
    ) -> Origin:
        """R = Rz(yaw) Ry(pitch) Rx(roll); angles that are exactly 0 leave no rotation behind.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Origin.rpy((0, 0, 0.1), roll=0.2, yaw=0.5).rotations
        (('z', 0.5), ('x', 0.2))
        """
        turns = (("z", yaw), ("y", pitch), ("x", roll))
        return Origin(
            tuple(xyz), tuple((axis, angle) for axis, angle in turns if not known_zero(angle))
        )

    def transform(self, convert: Converter, exact: bool = False) -> Transform:
        """Placement with each number converted.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Origin.rpy((0, 0, 0.1), yaw=0.5).transform(float).p
        (0.0, 0.0, 0.1)
        """
        product: Rotation = NO_ROTATION
        oblique = 0
        for axis, angle in self.rotations:
            c, s = (
                convert(x)
                for x in cos_sin(angle if isinstance(angle, PiMultiple) else convert(angle), exact)
            )
            vector = (
                AXIS_LETTERS[axis] if isinstance(axis, str) else tuple(convert(a) for a in axis)
            )
            product = product * about_axis_cos_sin(vector, c, s)
            oblique += not (isinstance(c, (int, float)) and c in (0, 1, -1))
        if oblique >= DENSE_FROM and not exact:
            product = Dense(product.matrix())
        return Transform(Vector(convert(x) for x in self.xyz), product)

    def __mul__(self, inner: Origin) -> Origin:
        """The placement followed by another, parent <- self <- inner, in exact numbers."""
        return replace(self, xyz=self.moved(inner.xyz), rotations=self.rotations + inner.rotations)

    def moved(self, xyz: Sequence[Number]) -> tuple[Number, ...]:
        """The point that is at xyz from here, seen from the parent; exact numbers stay exact.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Origin((0, 0, 1)).moved((1, 0, 0))
        (1, 0, 1)
        """
        if all(map(known_zero, xyz)):
            return self.xyz
        step = self.transform(as_exact).R.to_parent(Vector(xyz))
        return tuple(a + b for a, b in zip(self.xyz, step, strict=True))

    def numbers(self) -> dict[str, Number]:
        """origin[k], rotation[k]: translation, and angles of the constant rotations in their order."""
        return named("origin", self.xyz) | named("rotation", [angle for _, angle in self.rotations])

    def with_numbers(self, numbers: Mapping[str, Number]) -> Origin:
        """The origin with other numbers, by the names of `numbers()`."""
        numbers = self.numbers() | dict(numbers)
        angles = entries(numbers, "rotation", len(self.rotations))
        turns = tuple(
            (axis, angle) for (axis, _), angle in zip(self.rotations, angles, strict=True)
        )
        return replace(self, xyz=entries(numbers, "origin", 3), rotations=turns)

    def identity(self) -> str | None:
        """Axes and numbers as text; None for a class derived from it."""
        axes = [axis if isinstance(axis, str) else exact_text(axis) for axis, _ in self.rotations]
        return repr(axes) + _text(self) if type(self) is Origin else None


@dataclass(frozen=True)
class Body(Part):
    """A rigid body (link).

    mass [kg]; com: centre of mass [m]; inertia: tensor about the centre of mass in the body's axes
    [kg m^2] as (Ixx, Ixy, Iyy, Ixz, Iyz, Izz) with Ixy = - integral xy dm.

    Examples
    --------
    >>> import dalembert as da
    >>> rod = da.Body("rod", *da.solids.cylinder(2.0, 0.01, 0.5))
    >>> rod.mass, rod.com
    (2.0, (0, 0, 0))
    """

    name: str
    mass: Number = 0
    com: tuple[Number, ...] = (0, 0, 0)
    inertia: tuple[Number, ...] = (0, 0, 0, 0, 0, 0)
    source: Source = field(default=NOWHERE, compare=False)

    def __post_init__(self) -> None:
        check_text("the name of a body", self.name)
        object.__setattr__(self, "mass", checked(self.mass, f"mass of body {self.name!r}"))
        object.__setattr__(self, "com", checked_vector(self.com, 3, f"com of body {self.name!r}"))
        object.__setattr__(
            self, "inertia", checked_vector(self.inertia, 6, f"inertia of body {self.name!r}")
        )

    def tensor(self) -> Matrix:
        """Inertia tensor about the centre of mass, with its numbers as given: (3, 3) [kg m^2].

        Examples
        --------
        >>> import dalembert as da
        >>> da.Body("rod", 2.0, inertia=(0.1, 0, 0.1, 0, 0, 0.02)).tensor()
        ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.02))
        """
        return Matrix.symmetric(*self.inertia)

    def spatial_inertia(self, convert: Converter) -> Inertia:
        """Inertia about the body's origin, with each number converted.

        Examples
        --------
        >>> import dalembert as da
        >>> da.Body("rod", 2.0, (0, 0, 0.5)).spatial_inertia(float).h
        (0.0, 0.0, 1.0)
        """
        return Inertia.of(
            convert(self.mass),
            Vector(convert(x) for x in self.com),
            Matrix.symmetric(*(convert(x) for x in self.inertia)),
        )

    def numbers(self) -> dict[str, Number]:
        """mass, com[k], inertia[i,j]."""
        return {
            "mass": self.mass,
            **named("com", self.com),
            **dict(zip(TENSOR, self.inertia, strict=True)),
        }

    def with_numbers(self, numbers: Mapping[str, Number]) -> Body:
        """The body with other numbers, by the names of `numbers()`."""
        numbers = self.numbers() | dict(numbers)
        return replace(
            self,
            mass=numbers["mass"],
            com=entries(numbers, "com", 3),
            inertia=tuple(numbers[name] for name in TENSOR),
        )

    def identity(self) -> str | None:
        """Name and numbers as text; None for a class derived from it."""
        return repr(self.name) + _text(self) if type(self) is Body else None


@dataclass(frozen=True)
class Limits:
    """Bounds of a joint: position [rad, m], speed and force; None where there is none.

    One number per velocity entry, or a single number for all: Limits(-1, 1).

    Examples
    --------
    >>> import dalembert as da
    >>> da.Limits(-1.5, 1.5, velocity=2.0, effort=80.0).effort
    80.0
    """

    lower: Any = None
    upper: Any = None
    velocity: Any = None
    effort: Any = None


@dataclass(frozen=True)
class Mimic:
    """A follower's coordinate: q = multiplier * q(joint) + offset.

    Examples
    --------
    >>> import dalembert as da
    >>> finger = da.Joint("finger2", da.Prismatic((0, 1, 0)), "hand", "right", mimic=da.Mimic("finger1", -1))
    >>> finger.mimic.multiplier
    -1
    """

    joint: str
    multiplier: Number = 1
    offset: Number = 0

    def __post_init__(self) -> None:
        check_text("the joint to follow", self.joint)
        for name in ("multiplier", "offset"):
            object.__setattr__(
                self, name, checked(getattr(self, name), f"{name} of a follower of {self.joint!r}")
            )


OF_FRICTION = ("static_ratio", "stribeck_velocity")  # numbers of a Stribeck law
PER_VELOCITY = ("viscous", "coulomb", "rotor_inertia", "gear_ratio", "stiffness", "rest")


@dataclass(frozen=True)
class Joint(Part):
    """Connection of a child body to its parent.

    viscous [N m s/rad, N s/m], coulomb [N m, N], rotor_inertia [kg m^2] behind gear_ratio (motor
    turns per joint turn, 1/m for a translation), stiffness [N m/rad, N/m] about rest [rad, m]: one
    number per velocity entry, a single number for all. friction: law of dry friction in
    simulations, where it is another than Coulomb's.

    Examples
    --------
    >>> import dalembert as da
    >>> elbow = da.Joint("elbow", da.Revolute((0, 1, 0)), "upper", "lower", da.Origin((0.3, 0, 0)), viscous=0.1)
    >>> elbow.type.nv
    1
    """

    name: str
    type: JointType
    parent: str
    child: str
    origin: Origin = Origin()
    limits: Limits = Limits()
    viscous: Any = 0
    coulomb: Any = 0
    rotor_inertia: Any = 0
    gear_ratio: Any = 1
    stiffness: Any = 0
    rest: Any = 0
    mimic: Mimic | None = None
    source: Source = field(default=NOWHERE, compare=False)
    friction: Stribeck | None = None

    def __post_init__(self) -> None:
        for role in ("name", "parent", "child"):
            check_text(f"the {role} of a joint", getattr(self, role))
        check_instance(f"origin of joint {self.name!r}", self.origin, Origin, "a da.Origin")
        check_instance(
            f"limits of joint {self.name!r}", self.limits, Limits, "da.Limits, as da.Limits(-1, 1)"
        )
        check_instance(
            f"mimic of joint {self.name!r}",
            self.mimic,
            (Mimic, type(None)),
            "a da.Mimic, or nothing",
        )
        if not isinstance(self.type, JointType):
            raise TypeError(
                f"type of joint {self.name!r} is {self.type!r}; expected a type, as "
                "da.Revolute((0, 0, 1))."
            )
        for name in PER_VELOCITY:
            entries = self._per_velocity(getattr(self, name))
            object.__setattr__(
                self, name, checked_vector(entries, self.type.nv, f"{name} of joint {self.name!r}")
            )
        object.__setattr__(self, "friction", self._checked_friction())
        bounds = {}
        for name in ("lower", "upper", "velocity", "effort"):
            if (bound := getattr(self.limits, name)) is not None:
                label = f"{name} limit of joint {self.name!r}"
                bounds[name] = checked_vector(
                    self._per_velocity(bound), self.type.nv, label, angle=True
                )
        object.__setattr__(self, "limits", Limits(**bounds))

    def _checked_friction(self) -> Stribeck | None:
        """The law of friction with numbers as a mechanism has them."""
        what = f"friction of joint {self.name!r}"
        check_instance(what, self.friction, (Stribeck, type(None)), "a da.Stribeck, or nothing")
        if self.friction is None:
            return None
        names = zip(Stribeck._fields, self.friction, strict=True)
        return Stribeck(*(checked(value, f"{name} of the {what}") for name, value in names))

    def _per_velocity(self, value: Any) -> tuple[Any, ...]:
        """An entry per velocity; a single number stands for all."""
        is_vector = isinstance(value, (tuple, list)) or bool(getattr(value, "ndim", 0))
        return tuple(value) if is_vector else (value,) * self.type.nv

    @property
    def is_fixed(self) -> bool:
        """Whether the joint has no freedom."""
        return isinstance(self.type, Fixed)

    def numbers(self) -> dict[str, Number]:
        """Numbers by name: origin[k], rotation[k]; the type's own; PER_VELOCITY[k]; multiplier and
        offset of a follower; OF_FRICTION.
        """
        numbers = self.origin.numbers() | self.type.numbers()
        for name in PER_VELOCITY:
            numbers |= named(name, getattr(self, name))
        if self.mimic:
            numbers |= {"multiplier": self.mimic.multiplier, "offset": self.mimic.offset}
        if self.friction:
            numbers |= dict(zip(OF_FRICTION, self.friction, strict=True))
        return numbers

    def with_numbers(self, numbers: Mapping[str, Number]) -> Joint:
        """The joint with other numbers, by the names of `numbers()`."""
        numbers = self.numbers() | dict(numbers)
        mimic = self.mimic and replace(
            self.mimic, multiplier=numbers["multiplier"], offset=numbers["offset"]
        )
        changes: dict[str, Any] = {
            name: entries(numbers, name, self.type.nv) for name in PER_VELOCITY
        }
        return replace(
            self,
            type=self.type.with_numbers(numbers),
            origin=self.origin.with_numbers(numbers),
            mimic=mimic,
            friction=self.friction and Stribeck(*(numbers[name] for name in OF_FRICTION)),
            **changes,
        )

    def identity(self) -> str | None:
        """Names, type, origin and numbers as text; None where its type has none."""
        of_type = self.type.identity()
        of_origin = self.origin.identity()
        if type(self) is not Joint or of_type is None or of_origin is None:
            return None
        leader = self.mimic and self.mimic.joint
        return repr((self.name, of_type, self.parent, self.child, leader, of_origin)) + _text(self)


@dataclass(frozen=True)
class Frame(Part):
    """A named frame on a body.

    Examples
    --------
    >>> import dalembert as da
    >>> tool = da.Frame("tool", "hand", da.Origin((0, 0, 0.1)))
    >>> tool.body
    'hand'
    """

    name: str
    body: str
    origin: Origin = Origin()
    source: Source = field(default=NOWHERE, compare=False)

    def __post_init__(self) -> None:
        check_text("the name of a frame", self.name)
        check_text(f"the body of frame {self.name!r}", self.body)
        check_instance(f"origin of frame {self.name!r}", self.origin, Origin, "a da.Origin")

    def numbers(self) -> dict[str, Number]:
        """origin[k], rotation[k]."""
        return self.origin.numbers()

    def with_numbers(self, numbers: Mapping[str, Number]) -> Frame:
        """The frame with other numbers, by the names of `numbers()`."""
        return replace(self, origin=self.origin.with_numbers(numbers))

    def identity(self) -> str | None:
        """Names and origin as text; None for a class derived from it."""
        of_origin = self.origin.identity()
        return (
            repr((self.name, self.body)) + of_origin if type(self) is Frame and of_origin else None
        )


def _text(numbered: Numbered) -> str:
    return exact_text([*numbered.numbers().values()])
