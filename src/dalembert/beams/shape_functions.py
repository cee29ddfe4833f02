"""Interface of shape functions: displacements along a beam by coordinates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from dalembert.arguments import check_choice, check_whole

# Displacements of cross-sections: deflections along y and z of the beam's axes, turn about x, and
# displacement along x; in the order of the coordinates.
BEND_Y, BEND_Z, TWIST, STRETCH = "bend_y", "bend_z", "twist", "stretch"
DIRECTIONS = (BEND_Y, BEND_Z, TWIST, STRETCH)
MOST = 64  # functions or elements of a direction
TRANSCENDENTAL = 24  # points on each piece of functions that are no polynomials, if they say none


class ShapeFunctions(ABC):
    """Shape functions phi_i(xi) of one direction, on xi = x / length in [0, 1].

        displacement(x) = sum_i delta_i phi_i(x / length)

    A class of one's own gives `count`, `values`, `slopes`, `curvatures` and `identity`.

    Attributes
    ----------
    count : int
        Number of functions.
    breaks : tuple of float
        Ends of the pieces on which they are smooth, from 0 to 1.
    degree : int or None
        Degree of polynomials on the pieces; None: they are none.
    points : int
        Nodes of quadrature on a piece for functions that are no polynomials.

    Examples
    --------
    >>> import dalembert as da
    >>> da.beams.legendre(2).count
    2
    """

    count: int
    breaks: tuple[float, ...] = (0, 1)
    degree: int | None = None
    points: int = TRANSCENDENTAL

    @abstractmethod
    def values(self, xi: Any) -> Sequence[Any]:
        """phi_i(xi), (count,); exact where xi and the functions are.

        Examples
        --------
        >>> import dalembert as da
        >>> [float(x) for x in da.beams.legendre(2).values(1)]
        [1.0, 1.0]
        """

    @abstractmethod
    def slopes(self, xi: Any) -> Sequence[Any]:
        """d phi_i / d xi, (count,).

        Examples
        --------
        >>> import dalembert as da
        >>> [float(x) for x in da.beams.legendre(2).slopes(1)]
        [2.0, 0.0]
        """

    @abstractmethod
    def curvatures(self, xi: Any) -> Sequence[Any]:
        """d^2 phi_i / d xi^2, (count,).

        Examples
        --------
        >>> import dalembert as da
        >>> [float(x) for x in da.beams.legendre(2).curvatures(1)]
        [2.0, -6.0]
        """

    @abstractmethod
    def identity(self) -> str | None:
        """Text that is equal for the same functions alone; None where that cannot be told.

        Examples
        --------
        >>> import dalembert as da
        >>> da.beams.legendre(2).identity() == da.beams.legendre(3).identity()
        False
        """


def bends(direction: str) -> bool:
    """Whether a direction is a deflection, whose strain is a second derivative.

    Raises
    ------
    UnknownNameError
        There is no such direction.

    Examples
    --------
    >>> from dalembert.beams.shape_functions import bends
    >>> bends("bend_y"), bends("twist")
    (True, False)
    """
    check_choice("direction", direction, DIRECTIONS)
    return direction in (BEND_Y, BEND_Z)


def check_count(what: str, count: int, least: int = 1) -> None:
    """Raise if a number of functions or elements is none.

    Raises
    ------
    ValueError
        It is no whole number, below the least, or above 64.

    Examples
    --------
    >>> from dalembert.beams.shape_functions import check_count
    >>> check_count("elements", 0)
    Traceback (most recent call last):
        ...
    ValueError: elements=0 (int): expected a whole number, 1 or more.
    """
    check_whole(what, count, least)
    if count > MOST:
        raise ValueError(f"{what} is {count}; at most {MOST} are made.")
