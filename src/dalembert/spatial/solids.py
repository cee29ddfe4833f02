"""Inertias of homogeneous solids about their centres of mass, and Steiner's theorem, over any
scalar.

Each function returns (mass, com, inertia) as `Body`, `from_dh` and `from_motions` take it:
da.Body("rod", *cylinder(...)). Exact numbers and symbols stay exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import Expr
from dalembert.spatial.arrays import packed
from dalembert.spatial.vectors import IDENTITY, ZERO, Matrix, Scalar, Vector

__all__ = [
    "MassProperties",
    "box",
    "capsule",
    "cylinder",
    "ellipsoid",
    "mesh",
    "point",
    "sphere",
    "steiner",
    "tube",
]

# volume of a mesh, as part of that of its bounding cube, below which it is rounding error
FLAT = 1e-12


class MassProperties(NamedTuple):
    """mass [kg], com [m], inertia (Ixx, Ixy, Iyy, Ixz, Iyz, Izz) about com [kg m^2] with Ixy = -
    integral xy dm.

    Examples
    --------
    >>> import dalembert as da
    >>> mass, com, inertia = da.solids.sphere(5.0, 0.1)
    >>> mass
    5.0
    """

    mass: Scalar
    com: tuple[Scalar, ...]
    inertia: tuple[Scalar, ...]


def point(mass: Scalar) -> MassProperties:
    """A mass point.

    Raises
    ------
    ValueError
        A mass or length is negative or not finite.

    Examples
    --------
    >>> import dalembert as da
    >>> [round(x, 4) for x in da.solids.point(2.0).inertia]
    [0, 0, 0, 0, 0, 0]
    """
    return _diagonal(0, 0, 0, mass=mass)


def box(mass: Scalar, a: Scalar, b: Scalar, c: Scalar) -> MassProperties:
    """Box with edges a, b, c along x, y, z: I = m/12 diag(b^2 + c^2, a^2 + c^2, a^2 + b^2).

    Raises
    ------
    ValueError
        A mass or length is negative or not finite.

    Examples
    --------
    >>> import dalembert as da
    >>> [round(x, 4) for x in da.solids.box(12.0, 1.0, 2.0, 3.0).inertia]
    [13.0, 0, 10.0, 0, 0, 5.0]
    """
    _check(mass=mass, a=a, b=b, c=c)
    third = mass * Fraction(1, 12)
    return _diagonal(
        third * (b * b + c * c), third * (a * a + c * c), third * (a * a + b * b), mass=mass
    )


def ellipsoid(mass: Scalar, a: Scalar, b: Scalar, c: Scalar) -> MassProperties:
    """Ellipsoid with semi-axes a, b, c along x, y, z: I = m/5 diag(b^2 + c^2, a^2 + c^2, a^2 + b^2).

    Raises
    ------
    ValueError
        A mass or length is negative or not finite.

    Examples
    --------
    >>> import dalembert as da
    >>> [round(x, 4) for x in da.solids.ellipsoid(5.0, 1.0, 2.0, 3.0).inertia]
    [13.0, 0, 10.0, 0, 0, 5.0]
    """
    _check(mass=mass, a=a, b=b, c=c)
    fifth = mass * Fraction(1, 5)
    return _diagonal(
        fifth * (b * b + c * c), fifth * (a * a + c * c), fifth * (a * a + b * b), mass=mass
    )


def sphere(mass: Scalar, radius: Scalar) -> MassProperties:
    """Ball: I = 2/5 m r^2.

    Raises
    ------
    ValueError
        A mass or length is negative or not finite.

    Examples
    --------
    >>> import dalembert as da
    >>> [round(x, 4) for x in da.solids.sphere(5.0, 0.1).inertia]
    [0.02, 0, 0.02, 0, 0, 0.02]
    """
    return ellipsoid(mass, radius, radius, radius)


def cylinder(mass: Scalar, radius: Scalar, length: Scalar) -> MassProperties:
    """Cylinder along z (a disc for length 0, a thin rod for radius 0).

    Raises
    ------
    ValueError
        A mass or length is negative or not finite.

    Examples
    --------
    >>> import dalembert as da
    >>> [round(x, 4) for x in da.solids.cylinder(12.0, 0.1, 0.5).inertia]
    [0.28, 0, 0.28, 0, 0, 0.06]
    """
    return tube(mass, 0, radius, length)


def tube(
    mass: Scalar, inner_radius: Scalar, outer_radius: Scalar, length: Scalar
) -> MassProperties:
    """Hollow cylinder along z: I_zz = m/2 (r_i^2 + r_o^2), I_xx = I_yy = I_zz/2 + m/12 length^2.

    Raises
    ------
    ValueError
        A mass or length is negative or not finite.
        inner_radius is the larger one.

    Examples
    --------
    >>> import dalembert as da
    >>> [round(x, 4) for x in da.solids.tube(12.0, 0.05, 0.1, 0.5).inertia]
    [0.2875, 0, 0.2875, 0, 0, 0.075]
    """
    _check(mass=mass, inner_radius=inner_radius, outer_radius=outer_radius, length=length)
    if (
        not any(isinstance(x, Expr) for x in (inner_radius, outer_radius))
        and inner_radius > outer_radius
    ):
        raise ValueError(
            f"inner_radius {inner_radius} m is larger than outer_radius {outer_radius} m."
        )
    along = mass * (inner_radius * inner_radius + outer_radius * outer_radius) * Fraction(1, 2)
    across = along * Fraction(1, 2) + mass * length * length * Fraction(1, 12)
    return _diagonal(across, across, along, mass=mass)


def capsule(mass: Scalar, radius: Scalar, length: Scalar) -> MassProperties:
    """Cylinder of that length along z, closed by two half balls of its radius.

    A half ball's mass centre is 3/8 r from its flat face, about whose centre its moments are 2/5 m
    r^2.

    Raises
    ------
    ValueError
        A mass or length is negative or not finite.

    Examples
    --------
    >>> import dalembert as da
    >>> [round(x, 4) for x in da.solids.capsule(1.0, 0.1, 0.5).inertia]
    [0.0364, 0, 0.0364, 0, 0, 0.0048]
    """
    _check(mass=mass, radius=radius, length=length)
    if not isinstance(radius, Expr) and radius == 0:
        return cylinder(mass, radius, length)
    middle = mass * length / (length + radius * Fraction(4, 3))
    ends, rr, ll = mass - middle, radius * radius, length * length
    along = middle * rr * Fraction(1, 2) + ends * rr * Fraction(2, 5)
    across = middle * (rr * Fraction(1, 4) + ll * Fraction(1, 12)) + ends * (
        rr * Fraction(2, 5) + ll * Fraction(1, 4) + length * radius * Fraction(3, 8)
    )
    return _diagonal(across, across, along, mass=mass)


def mesh(mass: Scalar, vertices: Any, faces: Any) -> MassProperties:
    """Solid inside a closed surface of triangles, by the tetrahedra between its faces and a point.

    vertices : (V, 3) [m]. faces : (F, 3) numbers of vertices, counter-clockwise seen from outside
        (all clockwise: turned).
    The inertia is about the centre of mass, in the axes of the vertices.

    Raises
    ------
    ValueError
        An edge has not one face on each side; the volume is zero.

    References
    ----------
    Tonon, Explicit exact formulas for the 3-D tetrahedron inertia tensor (2005): over a tetrahedron
    with corners 0, a, b, c, integral x x^T dV = V/20 (a a^T + b b^T + c c^T + s s^T) with s = a + b
    + c.

    Examples
    --------
    >>> import dalembert as da
    >>> corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    >>> faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    >>> [round(float(x), 3) for x in da.solids.mesh(1.0, corners, faces).com]
    [0.25, 0.25, 0.25]
    """
    _check(mass=mass)
    points = np.asarray(vertices, dtype=float)
    triangles = np.asarray(faces, dtype=int)
    _check_closed(points, triangles)
    center = points.mean(axis=0)  # near by: little cancellation
    corners = (points - center)[triangles]
    volumes = np.linalg.det(corners) / 6
    volume = volumes.sum()
    size = np.ptp(points, axis=0).max()
    if not abs(volume) > FLAT * size**3:
        raise ValueError(
            f"the mesh encloses a volume of {volume:.3g} m^3 in a cube of {size:.3g} m: no solid."
        )
    total = corners.sum(axis=1)
    first = np.einsum("f,fi->i", volumes, total) / 4 / volume
    second = np.einsum("f,fki,fkj->ij", volumes, corners, corners) + np.einsum(
        "f,fi,fj->ij", volumes, total, total
    )
    second = second / 20 / volume - np.outer(first, first)
    tensor = np.trace(second) * np.eye(3) - second
    lower = (tensor[i, j] for i, j in ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)))
    return MassProperties(
        mass, tuple(map(float, center + first)), tuple(mass * float(x) for x in lower)
    )


def _check_closed(points: np.ndarray, triangles: np.ndarray) -> None:
    if (
        points.ndim != 2
        or points.shape[1:] != (3,)
        or triangles.ndim != 2
        or triangles.shape[1:] != (3,)
    ):
        raise ValueError(
            f"vertices have shape {points.shape} and faces {triangles.shape}, expected (V, 3) and "
            "(F, 3)."
        )
    if triangles.size and not 0 <= triangles.min() <= triangles.max() < len(points):
        raise ValueError(
            f"faces name vertex {triangles.max()} or {triangles.min()}; there are 0 to "
            f"{len(points) - 1}."
        )
    edges = Counter((int(t[k]), int(t[(k + 1) % 3])) for t in triangles for k in range(3))
    odd = [edge for edge, count in edges.items() if count != edges[edge[::-1]] or count > 1]
    if odd or not edges:
        where = (
            f"edge {odd[0]}, of {len(odd)}, has not one face on each side"
            if odd
            else "it has no faces"
        )
        raise ValueError(
            f"the mesh is not a closed surface with faces all turned the same way: {where}."
        )


def steiner(tensor: Any, mass: Scalar, r: Sequence[Scalar]) -> np.ndarray:
    """Inertia tensor about a point at r from the centre of mass, from that about the centre: (3, 3)
    [kg m^2].

        I_O = I_c + m (|r|^2 1 - r r^T):    I_ii,O = I_ii,c + m d_i^2,    I_ij,O = I_ij,c - m r_i r_j

    with d_i the distance of the parallel axes. Back to the centre with -mass.

    References
    ----------
    Kolyubin, eq. 15; its eq. 14 adds m d^2 to every entry, which is right for the diagonal only.

    Examples
    --------
    >>> import dalembert as da
    >>> da.solids.steiner([[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]], 2.0, (1.0, 0, 0))
    array([[0.1, 0. , 0. ],
           [0. , 2.1, 0. ],
           [0. , 0. , 2.1]])
    """
    r = Vector(r)
    return packed(Matrix(tensor) + IDENTITY * (mass * r.dot(r)) - Matrix.outer(r, r) * mass)


def _check(**numbers: Scalar) -> None:
    for name, x in numbers.items():
        if not isinstance(x, Expr) and not x >= 0:
            raise ValueError(f"{name} is {x}; expected a number that is not negative.")


def _diagonal(xx: Scalar, yy: Scalar, zz: Scalar, mass: Scalar) -> MassProperties:
    _check(**{} if isinstance(mass, Expr) else {"mass": mass})
    return MassProperties(mass, tuple(ZERO), (xx, 0, yy, 0, 0, zz))


def __dir__() -> list[str]:
    return __all__
