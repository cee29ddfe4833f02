"""Files and lines that described parts, and constant placements."""

from __future__ import annotations

from collections.abc import (
    Mapping,
    Sequence,
)
from dataclasses import (
    dataclass,
    replace,
)
from typing import Any

from dalembert.arguments import refused
from dalembert.displays import brief_repr
from dalembert.expr import known_zero
from dalembert.model.numbered import (
    Numbered,
    entries,
    named,
    numbers_as_text,
)
from dalembert.model.numbers import (
    Converter,
    Number,
    as_exact,
    checked,
    checked_vector,
    exact_text,
    several,
)
from dalembert.spatial.angles import (
    PiMultiple,
    cos_sin,
)
from dalembert.spatial.rotations import (
    NO_ROTATION,
    Dense,
    Rotation,
    about_axis_cos_sin,
)
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import (
    AXES,
    Vector,
)

AXIS_LETTERS = {"x": AXES[0], "y": AXES[1], "z": AXES[2]}
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

    __repr__ = brief_repr

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
        return repr(axes) + numbers_as_text(self) if type(self) is Origin else None
