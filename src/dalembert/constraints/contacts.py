"""Bodies on surfaces: discs and ellipsoids that roll, points that stay on a surface, knife edges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dalembert.constraints.closures import positive
from dalembert.constraints.places import Setting
from dalembert.constraints.support_points import TouchPoint, shape_of
from dalembert.constraints.surfaces import Surface, surface_of
from dalembert.constraints.wrench_rows import FrameConstraint, WrenchRow, WrenchRows
from dalembert.errors import ConstraintError
from dalembert.expr import known_zero
from dalembert.model.constraint import FramePlace, in_role, of_role
from dalembert.model.numbered import entries, named
from dalembert.model.numbers import Number, checked_vector, exact_text, several, unit_vector
from dalembert.model.origins import NOWHERE, Source
from dalembert.spatial.motion_force import Force
from dalembert.spatial.vectors import ZERO, Vector


class OneFrame(FrameConstraint):
    """A constraint on a frame against the base; its reaction acts on the frame's body."""

    frame: Any

    @property
    def acts_on(self) -> FramePlace:
        """The frame."""
        return self.frame  # type: ignore[no-any-return]

    @property
    def frames(self) -> tuple[str, ...]:
        """Name of the frame."""
        return (self.frame.body,)

    def renamed(self, new: Callable[[str], str]) -> OneFrame:
        """The constraint in a mechanism whose parts have other names."""
        return replace(self, name=new(self.name), frame=self.frame.renamed(new))  # type: ignore[type-var]

    def _place(self) -> None:
        """Set the frame from the forms in which it may be given."""
        role = f"the frame of constraint {self.name!r}"
        object.__setattr__(self, "frame", FramePlace.of(self.frame, role))


@dataclass(frozen=True)
class PointContact(OneFrame):
    """The origin of a frame stays on a surface, along which it slides freely.

    The multiplier is the normal force on the body [N], along the normal.

    frame : a name, (body, point) or (body, point, (roll, pitch, yaw)) [m, rad]
    surface : (point, normal) in the base's axes, or a function phi(p) of the place p = [x, y, z],
        which is 0 on the surface and grows along the normal

    Examples
    --------
    >>> import dalembert as da
    >>> foot = da.constraints.PointContact("foot", ("leg", (0, 0, -1)), ((0, 0, 0), (0, 0, 1)))
    >>> foot.numbers()["surface_normal[2]"]
    1
    """

    name: str
    frame: Any
    surface: Any
    source: Source = field(default=NOWHERE, compare=False)
    unit = "m"

    def __post_init__(self) -> None:
        self._place()
        object.__setattr__(self, "surface", surface_of(self.surface, self.name))

    @property
    def has_functions(self) -> bool:  # type: ignore[override]
        """Whether the surface is a function."""
        return self.surface.has_functions  # type: ignore[no-any-return]

    def numbers(self) -> dict[str, Number]:
        """Placement of the frame, 'frame_origin[0]', ...; of a plane 'surface_point[0]', ..."""
        return of_role("frame", self.frame) | of_role("surface", self.surface)

    def with_numbers(self, numbers: Mapping[str, Number]) -> PointContact:
        """The constraint with other numbers."""
        return replace(self, **_on_surface(self, numbers))

    def identity(self) -> str | None:
        """Name, place and surface as text; None if that cannot be told."""
        parts = [self.frame.identity(), self.surface.identity()]
        return None if None in parts else repr((type(self).__name__, self.name, *parts))

    def wrench_rows(self, setting: Setting) -> WrenchRows:
        """The force along the normal."""
        motion = setting.motion(self.frame)
        near = self.surface.at(motion.pose.p, setting.number)
        rate = near.turning @ motion.velocity.linear
        return WrenchRows(motion, [WrenchRow(Force(ZERO, near.normal), Force(ZERO, rate))])

    def residuals(self, setting: Setting) -> Sequence[Any]:
        """Height above the surface."""
        return [self.surface.at(setting.motion(self.frame).pose.p, setting.number).height]


@dataclass(frozen=True)
class Rolling(OneFrame):
    """A disc or an ellipsoid that rolls on a surface without slip.

    The first row keeps the contact point on the surface, the others its velocity at 0. Multipliers
    are the normal force and the two along the surface [N], at the contact.

    frame : a name, (body, point) or (body, point, (roll, pitch, yaw)) [m, rad], its origin in the
        centre
    radius : of a thin disc in the frame's plane of x and y, or semi-axes (a, b, c) of an ellipsoid
        along its axes: (r, r, r) is a ball [m]
    surface : (point, normal) in the base's axes, or a function phi(p) of the place p = [x, y, z],
        which is 0 on the surface and grows upward

    Raises
    ------
    ValueError
        A radius is negative, or two of three are 0.

    Examples
    --------
    >>> import dalembert as da
    >>> coin = da.constraints.Rolling("coin", "coin", 0.01, ((0, 0, 0), (0, 0, 1)))
    >>> coin.radius
    (0.01, 0.01, 0)
    """

    name: str
    frame: Any
    radius: Any
    surface: Any
    source: Source = field(default=NOWHERE, compare=False)
    unit = "m, m, m"
    is_holonomic = False
    position_count = 1

    def __post_init__(self) -> None:
        self._place()
        object.__setattr__(self, "surface", surface_of(self.surface, self.name))
        what = f"radius of constraint {self.name!r}"
        is_vector = isinstance(self.radius, (tuple, list)) or bool(getattr(self.radius, "ndim", 0))
        given = several(self.radius, what, "a") if is_vector else (self.radius, self.radius, 0)
        axes = checked_vector(given, 3, what)
        if sum(known_zero(x) for x in axes) > 1:
            raise ValueError(
                f"{what} is {given}: at most one semi-axis may be 0, as of a thin disc."
            )
        for x in axes:
            if not known_zero(x):
                positive(x, what)
        object.__setattr__(self, "radius", axes)

    @property
    def has_functions(self) -> bool:  # type: ignore[override]
        """Whether the surface is a function."""
        return self.surface.has_functions  # type: ignore[no-any-return]

    def numbers(self) -> dict[str, Number]:
        """Placement of the frame, 'frame_origin[0]', ...; radius[k]; 'surface_point[0]', ..."""
        placed = of_role("frame", self.frame) | of_role("surface", self.surface)
        return placed | named("radius", self.radius)

    def with_numbers(self, numbers: Mapping[str, Number]) -> Rolling:
        """The constraint with other numbers."""
        radius = entries(self.numbers() | dict(numbers), "radius", 3)
        return replace(self, radius=radius, **_on_surface(self, numbers))

    def identity(self) -> str | None:
        """Name, place, radii and surface as text; None if that cannot be told."""
        parts = [self.frame.identity(), self.surface.identity(), exact_text(self.radius)]
        return None if None in parts else repr((type(self).__name__, self.name, *parts))

    def _contact(self, setting: Setting) -> TouchPoint:
        """The contact of the body and the surface."""
        shape = shape_of([setting.number(x) for x in self.radius])
        surface: Surface = self.surface
        motion = setting.motion(self.frame)
        try:
            return shape.contact(motion, lambda p: surface.at(p, setting.number))
        except ZeroDivisionError:
            raise ConstraintError(
                f"the body of constraint {self.name!r} touches its surface in more than a point: a "
                "disc lies flat on it, or the body is not more curved than it. Begin elsewhere.",
                self.name,
            ) from None

    def wrench_rows(self, setting: Setting) -> WrenchRows:
        """Forces at the contact, whose point of the body does not move: rates of directions times its
        velocity are 0.
        """
        contact = self._contact(setting)
        directions = (contact.near.normal, *contact.near.tangents())
        rows = [
            WrenchRow(Force(contact.arm.cross(d), d), Force(contact.arm_rate.cross(d), ZERO))
            for d in directions
        ]
        return WrenchRows(contact.motion, rows)

    def residuals(self, setting: Setting) -> Sequence[Any]:
        """Height of the contact point above the surface."""
        return [self._contact(setting).near.height]


@dataclass(frozen=True)
class Knife(OneFrame):
    """A knife edge, a skate or a wheel of small width: the origin of a frame has no velocity along an
    axis of the frame.

    The multiplier is the side force on the body [N], along the axis.

    frame : a name, (body, point) or (body, point, (roll, pitch, yaw)) [m, rad]
    axis : direction across the edge, in the frame

    Raises
    ------
    ValueError
        The axis has length 0.

    Examples
    --------
    >>> import dalembert as da
    >>> da.constraints.Knife("skate", "sledge", (0, 1, 0)).is_holonomic
    False
    """

    name: str
    frame: Any
    axis: Any
    source: Source = field(default=NOWHERE, compare=False)
    unit = "m"
    is_holonomic = False

    def __post_init__(self) -> None:
        self._place()
        axis = checked_vector(self.axis, 3, f"axis of knife {self.name!r}")
        if all(map(known_zero, axis)):
            raise ValueError(f"axis of knife {self.name!r} has length 0, expected a direction.")
        object.__setattr__(self, "axis", axis)

    def numbers(self) -> dict[str, Number]:
        """Placement of the frame, 'frame_origin[0]', ...; axis[k]."""
        return of_role("frame", self.frame) | named("axis", self.axis)

    def with_numbers(self, numbers: Mapping[str, Number]) -> Knife:
        """The constraint with other numbers."""
        axis = entries(self.numbers() | dict(numbers), "axis", 3)
        frame = self.frame.with_numbers(in_role("frame", numbers))
        return replace(self, axis=axis, frame=frame)

    def identity(self) -> str | None:
        """Name, place and axis as text."""
        parts = [self.frame.identity(), exact_text(self.axis)]
        return None if None in parts else repr((type(self).__name__, self.name, *parts))

    def wrench_rows(self, setting: Setting) -> WrenchRows:
        """The force along the axis."""
        motion = setting.motion(self.frame)
        axis = Vector(setting.number(x) for x in unit_vector(self.axis))
        side = motion.pose.R.to_parent(axis)
        rate = motion.velocity.angular.cross(side)
        return WrenchRows(motion, [WrenchRow(Force(ZERO, side), Force(ZERO, rate))])

    def residuals(self, setting: Setting) -> Sequence[Any]:
        """None: the place is free."""
        return []


def _on_surface(constraint: Any, numbers: Mapping[str, Number]) -> dict[str, Any]:
    """Frame and surface of a constraint with other numbers."""
    return {
        "frame": constraint.frame.with_numbers(in_role("frame", numbers)),
        "surface": constraint.surface.with_numbers(in_role("surface", numbers)),
    }
