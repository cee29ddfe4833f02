"""Cross-sections of beams: areas, moments of area, constants of torsion, and stresses."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, pi
from typing import Any, NamedTuple

import numpy as np

from dalembert.beams.materials import check_positive
from dalembert.errors import ModelError
from dalembert.expr import Expr

TERMS = 12  # of series of a rectangle; the next is below 1e-16
ZETA_5 = 1.0369277551433699  # sum of 1 / n^5


class Stress(NamedTuple):
    """Largest stresses of a section [Pa].

    normal : by axial force and bending, in size, at the outer fibre where they add up
    shear : by torsion
    von_mises : sqrt(normal^2 + 3 shear^2), as if both were at one place

    Examples
    --------
    >>> import dalembert as da
    >>> bar = da.beams.round_bar(0.02)
    >>> round(bar.stress((100.0, 0, 0), (0, 0, 0)).normal)      # N / area
    318310
    """

    normal: Any
    shear: Any
    von_mises: Any


@dataclass(frozen=True)
class CrossSection:
    """Cross-section of a beam, by its properties about its centroid and principal axes y and z.

    Parameters
    ----------
    area : number
        [m^2].
    Iy, Iz : number
        Moments of area: integral of z^2, against deflection along z; of y^2, along y [m^4].
    J : number, optional
        Torsion constant: moment = G J times twist per length [m^4].
    outer : (2,) numbers, optional
        Distances of the outer fibres along y and z from the centroid [m].
    torsion_modulus : number, optional
        Moment of torsion over the largest shear stress [m^3].
    is_round : bool
        Whether the outer fibres lie on a circle; if not, some lie at the corners (outer).

    Raises
    ------
    ModelError
        A number is not positive.

    Examples
    --------
    >>> import dalembert as da
    >>> plate = da.beams.rectangle(height=0.01, width=0.06)
    >>> plate.Iz < plate.Iy
    True
    """

    area: Any
    Iy: Any
    Iz: Any
    J: Any = None
    outer: tuple[Any, ...] | None = None
    torsion_modulus: Any = None
    is_round: bool = False

    def __post_init__(self) -> None:
        for name, unit in (("area", "m^2"), ("Iy", "m^4"), ("Iz", "m^4"), ("J", "m^4")):
            check_positive(f"{name} of a section", getattr(self, name), unit)
        for distance in self.outer or ():
            check_positive("the distance of an outer fibre", distance, "m")
        check_positive("torsion_modulus of a section", self.torsion_modulus, "m^3")

    def stress(self, force: Any, moment: Any) -> Stress:
        """Largest stresses under a section force and moment. Shear by transverse forces is left out:
        in slender beams it is small.

        Parameters
        ----------
        force : (3,) or (N, 3) numbers
            Along x, y, z of the beam [N].
        moment : (3,) or (N, 3) numbers
            About x, y, z [N m].

        Returns
        -------
        Stress
            Each of shape () or (N,) [Pa].

        Raises
        ------
        ModelError
            The section has no outer fibres, or no modulus of torsion and a moment of torsion.

        Examples
        --------
        >>> import dalembert as da
        >>> strip = da.beams.rectangle(height=0.02, width=0.03)
        >>> round(strip.stress((0, 0, 0), (0, 0, 10.0)).normal)     # 6 M / (width height^2)
        5000000
        """
        Fx, Mx, My, Mz = (
            np.asarray(force, float)[..., 0],
            *np.moveaxis(np.asarray(moment, float), -1, 0),
        )
        y, z = self._outer_fibres()
        by_z, by_y = Mz * y / self.Iz, My * z / self.Iy
        bending = np.hypot(by_z, by_y) if self.is_round else np.abs(by_z) + np.abs(by_y)
        normal = np.abs(Fx) / self.area + bending
        shear = self._torsion_stress(Mx)
        return Stress(normal, shear, np.sqrt(normal**2 + 3 * shear**2))

    def _outer_fibres(self) -> tuple[Any, ...]:
        if self.outer is None:
            raise ModelError("the section has no outer fibres; give outer=(y, z) [m].")
        return self.outer

    def _torsion_stress(self, moment: Any) -> Any:
        if self.torsion_modulus is not None:
            return np.abs(moment) / self.torsion_modulus
        if np.any(moment != 0):
            raise ModelError(
                "the section has no torsion_modulus [m^3], which its moment of torsion needs."
            )
        return np.zeros_like(moment)


def rectangle(height: Any, width: Any) -> CrossSection:
    """Solid rectangle: height along y, width along z.

        Iz = width height^3 / 12,  Iy = height width^3 / 12

    J and the shear stress by torsion are Saint-Venant's series, to rounding; of symbols the section
    has none.

    Parameters
    ----------
    height, width : number
        [m].

    Returns
    -------
    CrossSection

    Raises
    ------
    ModelError
        A side is not positive.

    References
    ----------
    Timoshenko, Goodier, Theory of Elasticity (1970), section 109.

    Examples
    --------
    >>> import dalembert as da
    >>> round(da.beams.rectangle(1, 1).J, 6), round(da.beams.rectangle(1, 2).J / 2, 4)
    (0.140577, 0.2287)
    """
    _check_lengths(height=height, width=width)
    J, modulus = (None, None) if _symbolic(height, width) else _torsion_of_rectangle(height, width)
    return CrossSection(
        width * height,
        height * width**3 / 12,
        width * height**3 / 12,
        J,
        (height / 2, width / 2),
        modulus,
    )


def round_bar(diameter: Any) -> CrossSection:
    """Solid circle.

        Iy = Iz = pi diameter^4 / 64,  J = 2 Iy

    Parameters
    ----------
    diameter : number
        [m].

    Returns
    -------
    CrossSection

    Raises
    ------
    ModelError
        The diameter is not positive.

    Examples
    --------
    >>> import dalembert as da
    >>> round(da.beams.round_bar(0.02).Iy * 1e9, 6)
    7.853982
    """
    _check_lengths(diameter=diameter)
    return _ring(diameter, 0)


def tube(diameter: Any, wall: Any) -> CrossSection:
    """Round tube.

        Iy = Iz = pi (diameter^4 - inner^4) / 64,  J = 2 Iy,  inner = diameter - 2 wall

    Parameters
    ----------
    diameter : number
        Outer [m].
    wall : number
        Thickness [m].

    Returns
    -------
    CrossSection

    Raises
    ------
    ModelError
        A number is not positive; the wall is half of the diameter or more.

    Examples
    --------
    >>> import dalembert as da
    >>> round(da.beams.tube(0.0133, 0.0008).area * 1e6, 6)
    31.415927
    """
    _check_lengths(diameter=diameter, wall=wall)
    _check_walls(wall, diameter)
    return _ring(diameter, diameter - 2 * wall)


def box(height: Any, width: Any, wall: Any) -> CrossSection:
    """Rectangular tube: height along y, width along z, both outside.

    J = 4 A^2 wall / perimeter by Bredt, A and the perimeter those of the middle of the wall: for a
    wall that is thin beside the sides (square tube: 2.4 percent low at a wall of side/20, 5.4 percent
    at side/10, against a solution of Saint-Venant's equation).

    Parameters
    ----------
    height, width, wall : number
        [m].

    Returns
    -------
    CrossSection

    Raises
    ------
    ModelError
        A number is not positive; the wall is half of a side or more.

    Examples
    --------
    >>> import dalembert as da
    >>> square = da.beams.box(0.05, 0.05, 0.002)
    >>> round(square.Iy * 1e8, 3), round(square.J * 1e8, 3)
    (14.771, 22.118)
    """
    _check_lengths(height=height, width=width, wall=wall)
    _check_walls(wall, height, width)
    h, w = height - 2 * wall, width - 2 * wall
    across, along = height - wall, width - wall
    return CrossSection(
        height * width - h * w,
        (height * width**3 - h * w**3) / 12,
        (width * height**3 - w * h**3) / 12,
        2 * wall * (across * along) ** 2 / (across + along),
        (height / 2, width / 2),
        2 * wall * across * along,
    )


def i_profile(height: Any, width: Any, web: Any, flange: Any) -> CrossSection:
    """I-profile without fillets: height along y, flanges of a width along z.

    J = sum of side thickness^3 / 3 over web and flanges: thin walls, free to warp.

    Parameters
    ----------
    height, width : number
        [m].
    web, flange : number
        Thickness [m].

    Returns
    -------
    CrossSection

    Raises
    ------
    ModelError
        A number is not positive; the flanges fill the height, or the web the width.

    Examples
    --------
    >>> import dalembert as da
    >>> profile = da.beams.i_profile(0.1, 0.055, 0.0041, 0.0057)     # IPE 100, without its fillets
    >>> round(profile.Iz * 1e8), round(profile.Iy * 1e8, 1)
    (163, 15.9)
    """
    _check_lengths(height=height, width=width, web=web, flange=flange)
    _check_walls(flange, height)
    _check_walls(web / 2, width)
    inside = height - 2 * flange
    J = (2 * width * flange**3 + inside * web**3) / 3
    symbolic = _symbolic(web, flange)
    return CrossSection(
        2 * width * flange + inside * web,
        (2 * flange * width**3 + inside * web**3) / 12,
        (width * height**3 - (width - web) * inside**3) / 12,
        J,
        (height / 2, width / 2),
        None if symbolic else J / max(web, flange),
    )


def _ring(diameter: Any, inner: Any) -> CrossSection:
    second = pi * (diameter**4 - inner**4) / 64
    radius = diameter / 2
    return CrossSection(
        pi * (diameter**2 - inner**2) / 4,
        second,
        second,
        2 * second,
        (radius, radius),
        2 * second / radius,
        is_round=True,
    )


def _torsion_of_rectangle(height: float, width: float) -> tuple[float, float]:
    """Torsion constant J and modulus W of a rectangle by Saint-Venant's series, n odd, z = n pi a / 2b.

        J = a b^3 (1/3 - 64 b / (pi^5 a) sum tanh(z) / n^5)
        W = J / (b (1 - 8 / pi^2 sum 1 / (n^2 cosh z)))

    tanh(z) is 1 less its distance from it, of which few terms count.
    """
    a = float(max(height, width))
    b = float(min(height, width))
    tanhs = 31 / 32 * ZETA_5
    reciprocals = 0.0  # of cosh
    for n in range(1, 2 * TERMS, 2):
        decay = exp(-n * pi * a / (2 * b))
        square = decay * decay
        tanhs -= 2 * square / (1 + square) / n**5
        reciprocals += 2 * decay / (1 + square) / n**2
    J = a * b**3 * (1 / 3 - 64 / pi**5 * b / a * tanhs)
    return J, J / (b * (1 - 8 / pi**2 * reciprocals))


def _symbolic(*numbers: Any) -> bool:
    return any(isinstance(x, Expr) for x in numbers)


def _check_lengths(**lengths: Any) -> None:
    for name, value in lengths.items():
        check_positive(f"{name} of a section", value, "m")


def _check_walls(wall: Any, *sides: Any) -> None:
    for side in sides:
        if not _symbolic(wall, side) and not 2 * wall < side:
            raise ModelError(
                f"a section has walls of {wall:g} m within {side:g} m; give thinner ones."
            )
