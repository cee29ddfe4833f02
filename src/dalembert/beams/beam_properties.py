"""Properties that vary along a beam."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dalembert.beams.beam_quadrature import rational


@dataclass(frozen=True)
class BeamProperty:
    """A property along a beam: on each piece the polynomial through values at equal distances.

    Parameters
    ----------
    breaks : tuple of numbers
        Ends of the pieces in x / length, from 0 to 1.
    values : tuple of tuples of numbers
        Values of each piece, from its start to its end; a single value is constant.

    Examples
    --------
    >>> import dalembert as da
    >>> da.beams.tapered(4.0, 2.0).at(0.5)
    3.0
    """

    breaks: tuple[Any, ...]
    values: tuple[tuple[Any, ...], ...]

    @property
    def degree(self) -> int:
        """Highest degree of the polynomials."""
        return max(len(piece) - 1 for piece in self.values)

    @property
    def numbers(self) -> tuple[Any, ...]:
        """All values, from start to end."""
        return tuple(x for piece in self.values for x in piece)

    def with_values(self, numbers: Sequence[Any]) -> BeamProperty:
        """The same pieces with other values, in the order of `numbers`.

        Examples
        --------
        >>> import dalembert as da
        >>> da.beams.tapered(4.0, 2.0).with_values((6.0, 2.0)).at(0.5)
        4.0
        """
        remaining = iter(numbers)
        values = tuple(tuple(next(remaining) for _ in piece) for piece in self.values)
        return replace(self, values=values)

    def between(self, left: Any, right: Any) -> BeamProperty:
        """The property of a part of the beam, along that part.

        Parameters
        ----------
        left, right : number
            Ends of the part in x / length.

        Returns
        -------
        BeamProperty

        Examples
        --------
        >>> import dalembert as da
        >>> da.beams.tapered(4.0, 2.0).between(0.5, 1).numbers
        (3.0, 2.0)
        """
        breaks, values = [left], []
        for start, end, piece in zip(self.breaks[:-1], self.breaks[1:], self.values, strict=True):
            low, high = max(start, left), min(end, right)
            if low < high:
                breaks.append(high)
                values.append(
                    _between(piece, [(x - start) / _ratio(end - start) for x in (low, high)])
                )
        width = _ratio(right - left)
        return BeamProperty(tuple((x - left) / width for x in breaks), tuple(values))

    def weights(self, xi: Any) -> list[Any]:
        """Weights of `numbers` whose sum is the property at xi; exact where xi is; at a break those of
        the piece behind it.

        Examples
        --------
        >>> import dalembert as da
        >>> da.beams.tapered(4.0, 2.0).weights(0.25)
        [0.75, 0.25]
        """
        own = min(bisect_right(self.breaks, xi) - 1, len(self.values) - 1)
        result: list[Any] = []
        for k, piece in enumerate(self.values):
            if k != own:
                result += [0] * len(piece)
                continue
            left, right = self.breaks[k : k + 2]
            result += _cardinals((xi - left) / _ratio(right - left), len(piece))
        return result

    def at(self, xi: Any, convert: Callable[[Any], Any] = lambda x: x) -> Any:
        """The property at xi, its numbers converted.

        Examples
        --------
        >>> import dalembert as da
        >>> da.beams.pieces(((0.4, 8.0), (1, 5.0))).at(0.7)
        5.0
        """
        weighted = zip(self.weights(xi), self.numbers, strict=True)
        terms = [convert(x) * w if w != 1 else convert(x) for w, x in weighted if w != 0]
        return sum(terms[1:], terms[0])

    def integral(self, power: int = 0) -> Any:
        """Integral of the property times xi^power over the beam, xi from 0 to 1.

        Examples
        --------
        >>> import dalembert as da
        >>> da.beams.tapered(4.0, 2.0).integral()
        3.0
        """
        rule = rational(self.breaks, self.degree + power)
        terms = [self.at(xi) * (w * xi**power) for xi, w in zip(*rule, strict=True)]
        return sum(terms[1:], terms[0])


def tapered(*values: Any) -> BeamProperty:
    """A property that runs linearly from its value at the start of a beam to that at its end; of more
    values, at equal distances, the polynomial through them.

    Parameters
    ----------
    *values : numbers
        Two or more.

    Returns
    -------
    BeamProperty

    Raises
    ------
    ValueError
        There are fewer than two.

    Examples
    --------
    >>> import dalembert as da
    >>> da.beams.tapered(4.0, 2.0).at(1)
    2.0
    """
    if len(values) < 2:
        raise ValueError(f"tapered has {len(values)} values; give two or more.")
    return BeamProperty((0, 1), (tuple(values),))


def pieces(ends_and_values: Sequence[tuple[Any, Any]]) -> BeamProperty:
    """A property by pieces.

    Parameters
    ----------
    ends_and_values : sequence of (end, value)
        End of each piece in x / length, rising, the last 1; a number, or a sequence of values as of
        `tapered`.

    Returns
    -------
    BeamProperty

    Raises
    ------
    ValueError
        The ends do not rise to 1; a piece has no value.

    Examples
    --------
    >>> import dalembert as da
    >>> stepped = da.beams.pieces(((0.4, 8.0), (1, (8.0, 2.0))))
    >>> stepped.at(0.2), round(stepped.at(0.7), 9)
    (8.0, 5.0)
    """
    pairs = [tuple(pair) for pair in ends_and_values]
    ends = tuple(pair[0] for pair in pairs)
    breaks = (0, *ends)
    if not pairs or ends[-1] != 1 or any(a >= b for a, b in zip(breaks[:-1], ends, strict=True)):
        raise ValueError(f"pieces end at {ends}; give ends of x / length that rise to 1.")
    values = tuple(tuple(v) if isinstance(v, (tuple, list)) else (v,) for _, v in pairs)
    if not all(values):
        raise ValueError("a piece has no value; give a number, or (start, end).")
    return BeamProperty(breaks, values)


def _between(piece: tuple[Any, ...], ends: Sequence[Any]) -> tuple[Any, ...]:
    """Values of a piece at equal distances between two places of it, in [0, 1]."""
    count = len(piece)
    first, width = ends[0], ends[1] - ends[0]
    places = [first + width * Fraction(k, max(count - 1, 1)) for k in range(count)]
    return tuple(_weighted(_cardinals(place, count), piece) for place in places)


def _weighted(weights: Sequence[Any], values: Sequence[Any]) -> Any:
    """Sum of values times weights; weights of 0 and 1 leave symbols as they are."""
    total: Any = None
    for weight, value in zip(weights, values, strict=True):
        if weight == 0:
            continue
        term = value if weight == 1 else value * weight
        total = term if total is None else total + term
    return total


def _ratio(x: Any) -> Any:
    """A divisor that keeps whole numbers exact."""
    return Fraction(x) if isinstance(x, int) else x


def _cardinals(t: Any, count: int) -> list[Any]:
    """At t in [0, 1], the polynomials that are 1 at one of equidistant points and 0 at the others."""
    result = []
    for k in range(count):
        value: Any = 1
        for m in range(count):
            if m != k:
                value = value * (t * (count - 1) - m) / _ratio(k - m)
        result.append(value)
    return result
