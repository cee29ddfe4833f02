"""Eigenfunctions of uniform beams, without differences of large numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, copysign, cos, cosh, exp, floor, isfinite, pi, sin, sinh
from typing import Any

import numpy as np

from dalembert.beams.shape_functions import BEND_Y, TWIST, ShapeFunctions, bends, check_count

MORE_POINTS = 15  # of quadrature than the largest wave number, for rounding errors alone
SAMPLES = 401  # places at which the largest deflection is sought
LEAST_WAVE_NUMBER = 0.02  # below it a loaded beam moves as under a static force
ROUNDING = 1e-12  # below it a function that is held at an end is 0 there
NEAR = 1e-6  # of a root: within it counts may be wrong
HALVINGS = 200  # of an interval; it ends at neighbouring numbers
Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Eigenfunctions(ShapeFunctions):
    """Functions a sin(b xi) + b cos(b xi) + c exp(-b xi) + d exp(-b (1 - xi)), b the wave number.

    Parameters
    ----------
    waves : rows of 5 numbers
        Wave number and the factors of the four terms, of each function.

    Examples
    --------
    >>> import dalembert as da
    >>> sines = da.beams.pinned_pinned(2)
    >>> [round(x, 12) for x in sines.values(0.25)]
    [0.707106781187, 1.0]
    """

    waves: Rows

    @property
    def count(self) -> int:  # type: ignore[override]
        """Number of functions."""
        return len(self.waves)

    @property
    def points(self) -> int:  # type: ignore[override]
        """Nodes of quadrature for products of four of them."""
        return ceil(max((row[0] for row in self.waves), default=0)) + MORE_POINTS

    def values(self, xi: Any) -> Sequence[float]:
        """phi_i(xi)."""
        return self._derivatives(float(xi), 0)

    def slopes(self, xi: Any) -> Sequence[float]:
        """d phi_i / d xi."""
        return self._derivatives(float(xi), 1)

    def curvatures(self, xi: Any) -> Sequence[float]:
        """d^2 phi_i / d xi^2."""
        return self._derivatives(float(xi), 2)

    def _derivatives(self, xi: float, order: int) -> list[float]:
        result = []
        for wave_number, *factors in self.waves:
            terms = _terms(wave_number, xi, order)
            total = sum(a * x for a, x in zip(factors, terms, strict=True))
            vanishes = xi in (0, 1) and abs(total) < ROUNDING
            result.append(0.0 if vanishes else wave_number**order * total)
        return result

    def identity(self) -> str:
        """The numbers."""
        return f"eigenfunctions {self.waves!r}"


def _terms(wave_number: float, xi: float, order: int) -> list[float]:
    """The four terms, differentiated by wave number times xi."""
    s, c = sin(wave_number * xi), cos(wave_number * xi)
    waves = [(s, c), (c, -s), (-s, -c), (-c, s)][order]
    sign = -1 if order % 2 else 1
    return [*waves, sign * exp(-wave_number * xi), exp(-wave_number * (1 - xi))]


def clamped_free(count: int, direction: str = BEND_Y) -> Eigenfunctions:
    """Eigenfunctions of a uniform beam that is clamped at its start and free at its end.

        bending: 1 + cos b cosh b = 0,   twist and stretch: sin(b xi), cos b = 0

    The largest displacement is 1 in size; the strain at the start is positive.

    Parameters
    ----------
    count : int
        Number of functions.
    direction : str
        'bend_y', 'bend_z', 'twist' or 'stretch'.

    Returns
    -------
    Eigenfunctions

    Raises
    ------
    UnknownNameError, ValueError
        There is no such direction; the number is below 1 or above 64.

    Examples
    --------
    >>> import dalembert as da
    >>> modes = da.beams.clamped_free(2)
    >>> [round(row[0], 9) for row in modes.waves]
    [1.875104069, 4.694091133]
    >>> [round(x, 9) for x in modes.values(1)]
    [1.0, -1.0]
    """
    return clamped_loaded(count, direction=direction)


def clamped_loaded(
    count: int,
    mass_ratio: float = 0,
    inertia_ratio: float = 0,
    offset: float = 0,
    direction: str = BEND_Y,
) -> Eigenfunctions:
    """Eigenfunctions of a uniform beam that is clamped at its start and carries a rigid body at its
    end. Scaled as those of `clamped_free`.

    Parameters
    ----------
    count : int
        Number of functions.
    mass_ratio : float
        Mass of the body over that of the beam.
    inertia_ratio : float
        Bending: its moment of inertia about its centre of mass over (mass of the beam x length^2).
        Twist: that about x over (rotary inertia about x x length).
    offset : float
        Distance of its centre of mass beyond the end, over the length; bending alone.
    direction : str
        'bend_y', 'bend_z', 'twist' or 'stretch'.

    Returns
    -------
    Eigenfunctions

    Raises
    ------
    UnknownNameError, ValueError
        There is no such direction; a number is negative, not finite, or so large that the first
        function is that of a static force.

    References
    ----------
    Wittrick, Williams, Quarterly Journal of Mechanics and Applied Mathematics 24 (1971): the count
    of eigenvalues by which no root is passed over.

    Examples
    --------
    >>> import dalembert as da
    >>> loaded = da.beams.clamped_loaded(2, mass_ratio=1)
    >>> [round(row[0], 9) for row in loaded.waves]
    [1.24791741, 4.031139437]
    """
    twice = bends(direction)
    check_count("count", count)
    for name, ratio in (("mass_ratio", mass_ratio), ("inertia_ratio", inertia_ratio)):
        if not (isfinite(ratio) and ratio >= 0):
            raise ValueError(f"{name} is {ratio:g}; give a finite number, 0 or more.")
    if not isfinite(offset):
        raise ValueError(f"offset is {offset:g}; give a finite number.")
    if not twice:
        return _sines(_loaded_bar(count, inertia_ratio if direction == TWIST else mass_ratio))
    load = _Load(mass_ratio, inertia_ratio, offset)
    waves = _clamped_waves(count, load.count_below, load.conditions)
    if waves[0][0] < LEAST_WAVE_NUMBER:
        raise ValueError(
            f"the load is so heavy that the first wave number is {waves[0][0]:.1e}; take "
            "da.beams.legendre or craig_bampton."
        )
    return Eigenfunctions(waves)


def pinned_pinned(count: int) -> Eigenfunctions:
    """Sines sin(k pi xi): eigenfunctions of a uniform beam with pinned ends, whose axes are those of
    the chord, or of twist and stretch between held ends.

    Parameters
    ----------
    count : int
        Number of functions.

    Returns
    -------
    Eigenfunctions

    Raises
    ------
    ValueError
        The number is below 1 or above 64.

    Examples
    --------
    >>> import dalembert as da
    >>> da.beams.pinned_pinned(1).values(0.5)
    [1.0]
    """
    check_count("count", count)
    return _sines([k * pi for k in range(1, count + 1)])


def clamped_clamped(count: int) -> Eigenfunctions:
    """Eigenfunctions of bending of a uniform beam whose ends are clamped, cos b cosh b = 1.

    Parameters
    ----------
    count : int
        Number of functions.

    Returns
    -------
    Eigenfunctions

    Raises
    ------
    ValueError
        The number is below 1 or above 64.

    Examples
    --------
    >>> import dalembert as da
    >>> [round(row[0], 9) for row in da.beams.clamped_clamped(2).waves]
    [4.730040745, 7.853204624]
    """
    check_count("count", count)
    return Eigenfunctions(_clamped_waves(count, _clamped_below, _held))


@dataclass(frozen=True)
class _Load:
    """A rigid body at the end of a clamped beam, in units of the beam."""

    mass: float
    inertia: float
    offset: float

    def count_below(self, b: float) -> int:
        """Number of eigenvalues below a wave number: with the end held, and negative ones of the
        dynamic stiffness of the end.
        """
        c, s, C, S = cos(b), sin(b), cosh(b), sinh(b)
        held = 1 - c * C
        at_end = [
            [b**3 * (c * S + s * C) / held, -(b**2) * s * S / held],
            [-(b**2) * s * S / held, b * (s * C - c * S) / held],
        ]
        D = np.array(at_end) - b**4 * np.array(self._mass_matrix())
        return _clamped_below(b) + int((np.linalg.eigvalsh(D) < 0).sum())

    def conditions(self, b: float) -> list[list[float]]:
        """Rows of the conditions at the end: moment and shear force of the body's inertia."""
        (m, mr), (_, j) = self._mass_matrix()
        value, slope, curvature, third = (_terms(b, 1, order) for order in range(4))
        rows = zip(value, slope, curvature, third, strict=True)
        conditions = [
            (t * b**3 + b**4 * (m * v + mr * b * p), k * b**2 - b**4 * (mr * v + j * b * p))
            for v, p, k, t in rows
        ]
        return [list(row) for row in zip(*conditions, strict=True)]

    def _mass_matrix(self) -> list[list[float]]:
        """Inertia against deflection and slope of the end."""
        static = self.mass * self.offset
        return [[self.mass, static], [static, self.inertia + static * self.offset]]


def _clamped_below(b: float) -> int:
    """Number of eigenvalues of a beam with clamped ends below a wave number."""
    k = floor(b / pi)
    sign = copysign(1, 1 - cos(b) * cosh(b))
    return k - (1 if (-1) ** k * sign < 0 else 0)


def _root(
    is_above: Callable[[float], bool], low: float = LEAST_WAVE_NUMBER / 2, high: float = 1.0
) -> float:
    """Least number above a low one at which a condition holds, by halving."""
    while not is_above(high):
        low, high = high, high + 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if is_above(middle) else (middle, high)
    return high


def _loaded_bar(count: int, ratio: float) -> list[float]:
    """Wave numbers of a bar with a mass at its end, cos b = ratio b sin b."""
    roots = []
    for k in range(count):
        sign = -1 if k % 2 else 1
        start = k * pi

        def is_above(x: float, start: float = start, sign: int = sign) -> bool:
            """Whether a wave number is at the root or above."""
            b = start + x
            return sign * (cos(b) - ratio * b * sin(b)) <= 0

        roots.append(start + _root(is_above, 0.0))
    return roots


def _sines(wave_numbers: Sequence[float]) -> Eigenfunctions:
    """Sines of largest value 1."""
    return Eigenfunctions(tuple((b, 1 / sin(min(b, pi / 2)), 0.0, 0.0, 0.0) for b in wave_numbers))


def _held(b: float) -> list[list[float]]:
    """Rows of the conditions of a clamped end."""
    return [_terms(b, 1, 0), _terms(b, 1, 1)]


def _clamped_waves(
    count: int, count_below: Callable[[float], int], conditions: Callable[[float], Any]
) -> Rows:
    """Eigenfunctions of a beam that is clamped at its start: null vectors of four conditions."""
    waves = []
    for k in range(1, count + 1):
        counted = _root(lambda b, k=k: count_below(b) >= k)  # type: ignore[misc]
        b = _polished(counted, lambda b: float(np.linalg.det(_matrix(b, conditions(b)))))
        factors = np.linalg.svd(_matrix(b, conditions(b)))[2][-1]
        largest = max(abs(factors @ _terms(b, x, 0)) for x in np.linspace(0, 1, SAMPLES))
        strain = factors @ _terms(b, 0, 2)
        waves.append((b, *(factors / copysign(largest, strain)).tolist()))
    return tuple(waves)


def _matrix(b: float, conditions: Any) -> np.ndarray:
    """Rows of a clamped start, then of the end, each of length 1."""
    rows = np.array([_terms(b, 0, 0), _terms(b, 0, 1), *conditions])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _polished(root: float, f: Callable[[float], float]) -> float:
    """The zero of a function beside a counted root, whose digits end where counts are rounded."""
    low, high = root * (1 - NEAR), root * (1 + NEAR)
    if f(low) * f(high) > 0:
        return root
    rises = f(high) > 0
    return _root(lambda b: (f(b) > 0) == rises, low, high)
