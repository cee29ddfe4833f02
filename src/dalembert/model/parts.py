"""The parts of a mechanism: bodies, joints, frames; frozen data with numbers as they were given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import (
    dataclass,
    field,
    replace,
)
from typing import Any

from dalembert.arguments import (
    check_instance,
    check_text,
    check_whole,
)
from dalembert.call_faults import explained_class
from dalembert.displays import brief_repr
from dalembert.errors import ModelError
from dalembert.model.elastic.beam import (
    MODES,
    Beam,
    check_beam,
    shapes_of,
)
from dalembert.model.elastic.bending import Bending
from dalembert.model.elastic.transmissions import Transmission
from dalembert.model.friction_laws import Stribeck
from dalembert.model.joints import (
    Fixed,
    JointType,
)
from dalembert.model.numbered import (
    Part,
    entries,
    named,
    numbers_as_text,
)
from dalembert.model.numbers import (
    Converter,
    Number,
    checked,
    checked_vector,
)
from dalembert.model.origins import (
    NOWHERE,
    Origin,
    Source,
)
from dalembert.model.visuals import Visual
from dalembert.spatial.inertias import Inertia
from dalembert.spatial.vectors import (
    Matrix,
    Vector,
)

TENSOR = tuple(
    f"inertia[{indices}]" for indices in ("0,0", "0,1", "1,1", "0,2", "1,2", "2,2")
)  # entries of Body.inertia
OF_INERTIA = "Ixx, Ixy, Iyy, Ixz, Iyz, Izz; principal moments are (Ixx, 0, Iyy, 0, 0, Izz)"


@explained_class
@dataclass(frozen=True)
class Body(Part):
    """A body (link): rigid, or elastic along a beam.

    mass [kg]; com: centre of mass [m]; inertia: tensor about the centre of mass in the body's axes
    [kg m^2] as (Ixx, Ixy, Iyy, Ixz, Iyz, Izz) with Ixy = - integral xy dm. beam: a `Beam`, whose
    mass is beside this one, which rides on the beam's start. modes: number of shape functions of
    its deflections along y and along z (2 of a beam, 0: it is rigid), or {direction: number or shape
    functions} of the directions 'bend_y', 'bend_z', 'twist', 'stretch'. elements: number of equal
    parts of the beam, each with such modes in axes of its own at the end of the part before; large
    deflections are small ones of many elements. visuals: shapes of it in pictures; bodies that differ in
    these alone are equal.

    Examples
    --------
    >>> import dalembert as da
    >>> rod = da.Body("rod", *da.solids.cylinder(2.0, 0.01, 0.5))
    >>> rod.mass, rod.com
    (2.0, (0, 0, 0))
    """

    __repr__ = brief_repr

    name: str
    mass: Number = 0
    com: tuple[Number, ...] = (0, 0, 0)
    inertia: tuple[Number, ...] = (0, 0, 0, 0, 0, 0)
    source: Source = field(default=NOWHERE, compare=False)
    beam: Beam | None = None
    modes: Any = None
    elements: int = 1
    visuals: tuple[Visual, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        check_text("the name of a body", self.name)
        check_instance(f"beam of body {self.name!r}", self.beam, (Beam, type(None)), "a da.Beam")
        modes = (MODES if self.beam else ()) if self.modes is None else self.modes
        object.__setattr__(self, "modes", shapes_of(modes, self.name))
        check_whole(f"elements of body {self.name!r}", self.elements, 1)
        if self.beam is not None:
            check_beam(self.beam, self.modes, self.name, self.elements)
        elif self.modes or self.elements != 1:
            raise ModelError(f"body {self.name!r} has modes but no beam. Give beam=da.Beam(...).")
        check_instance("visuals", self.visuals, (list, tuple), "a list of da.Visual(...)")
        for shape in self.visuals:
            check_instance(f"a visual of body {self.name!r}", shape, Visual, "a da.Visual")
        object.__setattr__(self, "visuals", tuple(self.visuals))
        object.__setattr__(self, "mass", checked(self.mass, f"mass of body {self.name!r}"))
        object.__setattr__(self, "com", checked_vector(self.com, 3, f"com of body {self.name!r}"))
        inertia = checked_vector(
            self.inertia, 6, f"inertia of body {self.name!r}", entries=OF_INERTIA
        )
        object.__setattr__(self, "inertia", inertia)

    @property
    def bending(self) -> Bending | None:
        """Displacements of the cross-sections of an element by its coordinates; None of a rigid
        body.
        """
        return Bending(self.modes, self.beam.kinematics) if self.beam and self.modes else None

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
        """mass, com[k], inertia[i,j], and those of the beam."""
        return {
            "mass": self.mass,
            **named("com", self.com),
            **dict(zip(TENSOR, self.inertia, strict=True)),
            **(self.beam.numbers() if self.beam else {}),
        }

    def with_numbers(self, numbers: Mapping[str, Number]) -> Body:
        """The body with other numbers, by the names of `numbers()`."""
        numbers = self.numbers() | dict(numbers)
        try:
            beam = self.beam and self.beam.with_numbers(numbers)
        except ModelError as error:
            raise ModelError(f"body {self.name!r}: {error}") from None
        return replace(
            self,
            mass=numbers["mass"],
            com=entries(numbers, "com", 3),
            inertia=tuple(numbers[name] for name in TENSOR),
            beam=beam,
        )

    def identity(self) -> str | None:
        """Name and numbers as text; None for a class derived from it, or shape functions without
        identity.
        """
        parts: list[Any] = [repr(self.name), numbers_as_text(self)]
        if self.beam is not None:
            of_modes = [(d, f.identity()) for d, f in self.modes]
            known = None not in dict(of_modes).values()
            parts += [self.beam.identity(), of_modes if known else None, self.elements]
        return None if type(self) is not Body or None in parts else " ".join(map(str, parts))


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

    __repr__ = brief_repr

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

    __repr__ = brief_repr

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


@explained_class
@dataclass(frozen=True)
class Joint(Part):
    """Connection of a child body to its parent.

    viscous [N m s/rad, N s/m], coulomb [N m, N], rotor_inertia [kg m^2] behind gear_ratio (motor
    turns per joint turn, 1/m for a translation), stiffness [N m/rad, N/m] about rest [rad, m]: one
    number per velocity entry, a single number for all. friction: law of dry friction in
    simulations, where it is another than Coulomb's. transmission: spring and damper from the joint
    that is its motor.

    Examples
    --------
    >>> import dalembert as da
    >>> elbow = da.Joint("elbow", da.Revolute((0, 1, 0)), "upper", "lower", da.Origin((0.3, 0, 0)), viscous=0.1)
    >>> elbow.type.nv
    1
    """

    __repr__ = brief_repr

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
    transmission: Transmission | None = None

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
        check_instance(
            f"transmission of joint {self.name!r}",
            self.transmission,
            (Transmission, type(None)),
            "a da.Transmission, or nothing",
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
        offset of a follower; OF_FRICTION; stiffness and damping of a
        transmission.
        """
        numbers = self.origin.numbers() | self.type.numbers()
        for name in PER_VELOCITY:
            numbers |= named(name, getattr(self, name))
        if self.mimic:
            numbers |= {"multiplier": self.mimic.multiplier, "offset": self.mimic.offset}
        if self.friction:
            numbers |= dict(zip(OF_FRICTION, self.friction, strict=True))
        return numbers | (self.transmission.numbers() if self.transmission else {})

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
            transmission=self.transmission and self.transmission.with_numbers(numbers),
            **changes,
        )

    def identity(self) -> str | None:
        """Names, type, origin and numbers as text; None where its type has none."""
        of_type = self.type.identity()
        of_origin = self.origin.identity()
        if type(self) is not Joint or of_type is None or of_origin is None:
            return None
        leader = self.mimic and self.mimic.joint
        names = (self.name, of_type, self.parent, self.child, leader, of_origin)
        if self.transmission is None:
            return repr(names) + numbers_as_text(self)
        through = self.transmission.identity()
        return through and repr((*names, through)) + numbers_as_text(self)


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

    __repr__ = brief_repr

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
