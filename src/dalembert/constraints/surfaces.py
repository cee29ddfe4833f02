"""Surfaces that points of a mechanism keep to: planes, and zeros of functions of the place."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from dalembert.arguments import refused
from dalembert.constraints.expansions import expanded
from dalembert.errors import ConstraintError
from dalembert.expr import Expr, sqrt, where
from dalembert.model.content import content
from dalembert.model.numbered import Numbered, entries, named
from dalembert.model.numbers import Number, checked_vector, exact_text, unit_vector
from dalembert.spatial.vectors import ZERO_MATRIX, Matrix, Vector


class SurfacePoint(NamedTuple):
    """A surface near a point.

    height : of the point above the surface, to first order [m]
    normal : unit vector, upward
    turning : N with normal' = N p' of a point that moves [1/m]
    """

    height: Any
    normal: Vector
    turning: Matrix

    def tangents(self) -> tuple[Vector, Vector]:
        """Unit vectors along the surface, right-handed with the normal.

        Duff and others, Building an orthonormal basis, revisited, J. Computer Graphics Techniques 6
        (2017), listing 3.
        """
        x, y, z = self.normal
        sign = where(z < 0, -1.0, 1.0)
        a = -1 / (sign + z)
        b = x * y * a
        return (
            Vector((1 + sign * x * x * a, sign * b, -sign * x)),
            Vector((b, sign + y * y * a, -y)),
        )


class Surface(Numbered):
    """A surface in the base's axes, which a point is on, above or below."""

    has_functions = False

    @abstractmethod
    def at(self, p: Vector, number: Callable[[Number], Any]) -> SurfacePoint:
        """The surface near a point [m]; `number` converts its numbers."""


@dataclass(frozen=True)
class FlatSurface(Surface):
    """A plane through a point, with its normal."""

    point: tuple[Number, ...]
    normal: tuple[Number, ...]

    def at(self, p: Vector, number: Callable[[Number], Any]) -> SurfacePoint:
        """Height above the plane; its normal does not turn."""
        normal = Vector(number(x) for x in unit_vector(self.normal))
        start = Vector(number(x) for x in self.point)
        return SurfacePoint(normal.dot(p - start), normal, ZERO_MATRIX)

    def numbers(self) -> dict[str, Number]:
        """point[k], normal[k]."""
        return named("point", self.point) | named("normal", self.normal)

    def with_numbers(self, numbers: Mapping[str, Number]) -> FlatSurface:
        """The plane with other numbers."""
        numbers = self.numbers() | dict(numbers)
        return replace(
            self, point=entries(numbers, "point", 3), normal=entries(numbers, "normal", 3)
        )

    def identity(self) -> str | None:
        """Its numbers as text."""
        return exact_text([*self.numbers().values()])


@dataclass(frozen=True)
class LevelSurface(Surface):
    """The points with phi(p) = 0; phi grows upward."""

    name: str
    phi: Callable[..., Any]
    has_functions = True

    def at(self, p: Vector, number: Callable[[Number], Any]) -> SurfacePoint:
        """Height and normal by the derivatives of phi.

        Raises
        ------
        ConstraintError
            The gradient is 0: there is no normal.
        """
        value, gradient, hessian = expanded(self.phi, list(p))
        g = Vector(gradient)
        square = g.dot(g)
        if not isinstance(square, Expr) and not square > 0:
            raise ConstraintError(
                f"the surface of constraint {self.name!r} has no normal at {tuple(map(float, p))}: the "
                "gradient of its function is 0 there. Write it as a function that grows through 0.",
                self.name,
            )
        inverse = 1 / sqrt(square)
        normal = g * inverse
        H = Matrix(hessian) * inverse
        turning = H - Matrix.outer(normal, H @ normal)  # (1 - n n^T) H, H symmetric
        return SurfacePoint(value * inverse, normal, turning)

    def numbers(self) -> dict[str, Number]:
        """None: they are in the function."""
        return {}

    def with_numbers(self, numbers: Mapping[str, Number]) -> LevelSurface:
        """The surface itself."""
        return self

    def identity(self) -> str | None:
        """The function as text; None if that cannot be told."""
        return content(self.phi)


def surface_of(given: Any, name: str) -> Surface:
    """The surface of a constraint: (point, normal), or a function phi(p) of the place [x, y, z].

    Raises
    ------
    TypeError, ValueError
        It is neither; the normal has no length.
    """
    if isinstance(given, Surface):
        return given
    if callable(given):
        return LevelSurface(name, given)
    what = f"surface of constraint {name!r}"
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise refused(what, given, "(point, normal), or a function phi(p) of the place [x, y, z]")
    point = checked_vector(given[0], 3, f"the point of the {what}")
    normal = checked_vector(given[1], 3, f"the normal of the {what}")
    if not any(isinstance(x, Expr) or x for x in normal):
        raise ValueError(f"the {what} has a normal of length 0, expected a direction.")
    return FlatSurface(point, normal)
