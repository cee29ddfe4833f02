"""Interface of shape functions: displacements along a beam by coordinates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

# Displacements of cross-sections: deflections along y and z of the beam's axes, turn about x, and
# displacement along x; in the order of the coordinates.
BEND_Y, BEND_Z, TWIST, STRETCH = "bend_y", "bend_z", "twist", "stretch"
DIRECTIONS = (BEND_Y, BEND_Z, TWIST, STRETCH)


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

    Examples
    --------
    >>> import dalembert as da
    >>> da.beams.legendre(2).count
    2
    """

    count: int
    breaks: tuple[float, ...] = (0, 1)
    degree: int | None = None

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
