"""Triangles that are seen, from back to front: found at points of a raster, so that triangles which
pass each other, pierce each other or lie in each other are drawn in the right order.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import NamedTuple

import numpy as np

ACROSS = 900  # points of the raster along the longer side of a picture
MOST_SAMPLES = 1_500_000  # points of all triangles together: more triangles make it coarser
SAME = 1e-3  # of the size of a picture: triangles that are nearer to each other touch
FLATTEST = 1e-9  # twice the area of a triangle that is a line, in squares of the raster
LONG = 3.0  # steps of the raster: the length of a triangle that is more than a dot
EQUAL = 1e-6  # of the size: depths at a side that two triangles share
TORN = 3  # points at which each of two triangles hides the other: they pierce each other


class RasterSamples(NamedTuple):
    """Points of a raster within triangles."""

    triangles: np.ndarray  # (S,) index of the triangle
    points: np.ndarray  # (S,) index of the point
    depths: np.ndarray  # (S,) of the triangle there


class Order(NamedTuple):
    """Triangles that are seen, from back to front, and whether others pierce them."""

    seen: np.ndarray  # (S,) indices
    is_torn: np.ndarray  # (S,)


def seen_order(
    corners: np.ndarray, depths: np.ndarray, opaque: np.ndarray, across: int = ACROSS
) -> Order:
    """The order in which triangles hide each other.

    corners (P, 3, 2) in the picture, depths (P, 3) of the corners, which grow towards the viewer,
    opaque (P,) is False of triangles that others are seen through, across are points of the raster
    along the longer side.

    Examples
    --------
    >>> import numpy as np
    >>> triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> depths = np.array([[1.0] * 3, [0.0] * 3])                     # the first hides the second
    >>> seen_order(np.stack([triangle, triangle]), depths, np.array([True, True])).seen.tolist()
    [0]
    """
    if not len(corners):
        return Order(np.zeros(0, int), np.zeros(0, bool))
    size = float(np.ptp(corners.reshape(-1, 2), axis=0).max())
    raster = Raster.of(corners, size / across)
    places = raster.places(corners)
    samples = _samples(places, depths, raster.width)
    nearest, owner = _nearest(samples, opaque, raster.count(corners))
    behind = nearest[samples.points] - samples.depths
    is_seen = (behind <= EQUAL * size) & (opaque[samples.triangles] | (owner[samples.points] < 0))
    is_seen |= (behind < 0) & ~opaque[samples.triangles]
    seen = np.zeros(len(corners), dtype=bool)
    seen[samples.triangles[is_seen]] = True
    slivers = _slivers(places, samples)
    middles = np.rint(places[slivers].mean(axis=1)).astype(int) @ [1, raster.width]
    is_near = depths[slivers].mean(axis=1) > nearest[middles] - LONG * raster.spacing
    seen[slivers[is_near]] = True  # outlines of solids stay straight
    hiding = _hiding(samples, seen, owner, behind, SAME * size)
    ordered = _ordered(np.flatnonzero(seen), depths.mean(axis=1), hiding)
    return Order(ordered, np.isin(ordered, [*hiding.torn]))


class Hiding(NamedTuple):
    """Triangles that hide each triangle somewhere, and triangles that pierce each other."""

    by: dict[int, list[int]]
    torn: set[int]


class Raster(NamedTuple):
    """Points at equal distances in the rectangle around triangles."""

    low: np.ndarray  # (2,) the first point
    spacing: float
    width: int  # points in a row

    @classmethod
    def of(cls, corners: np.ndarray, finest: float) -> Raster:
        """Points as near as that, or farther where those in the triangles would be too many."""
        low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
        area = float(np.abs(_doubled(corners)).sum()) / 2
        spacing = max(finest, float(np.sqrt(area / MOST_SAMPLES)), 1e-300)
        return cls(low, spacing, int((high[0] - low[0]) / spacing) + 2)

    def places(self, corners: np.ndarray) -> np.ndarray:
        """Corners in steps of the raster."""
        return (corners - self.low) / self.spacing

    def count(self, corners: np.ndarray) -> int:
        """Points of the raster, with a row beyond."""
        return self.width * (int(self.places(corners)[..., 1].max()) + 2)


def _doubled(corners: np.ndarray) -> np.ndarray:
    """Twice the area of triangles (P, 3, 2), which is negative of those that turn clockwise."""
    sides = corners[:, 1:] - corners[:, :1]
    return np.asarray(sides[:, 0, 0] * sides[:, 1, 1] - sides[:, 0, 1] * sides[:, 1, 0])


def _samples(places: np.ndarray, depths: np.ndarray, width: int) -> RasterSamples:
    """Points of the raster within triangles (P, 3, 2) in its steps, row by row."""
    first = np.ceil(places[..., 1].min(axis=1)).astype(int)
    last = np.floor(places[..., 1].max(axis=1)).astype(int)
    rows, y = _counted(first, last)
    begin, end = _spans(places[rows], y)
    spans, x = _counted(np.ceil(begin).astype(int), np.floor(end).astype(int))
    triangles = rows[spans]
    way = np.stack([x, y[spans]], axis=1) - places[triangles, 0]
    rise = (_slopes(places, depths)[triangles] * way).sum(axis=1)
    return RasterSamples(triangles, y[spans] * width + x, depths[triangles, 0] + rise)


def _slivers(places: np.ndarray, samples: RasterSamples) -> np.ndarray:
    """Indices of triangles that are long, but so thin that no point lies in them."""
    counts = np.bincount(samples.triangles, minlength=len(places))
    lengths = np.ptp(places, axis=1).max(axis=1)
    return np.flatnonzero((counts == 0) & (lengths > LONG))


def _counted(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers from each first to its last: indices of the pairs, and the numbers."""
    counts = np.maximum(last - first + 1, 0)
    owners = np.repeat(np.arange(len(first)), counts)
    starts = np.cumsum(counts) - counts
    return owners, first[owners] + np.arange(len(owners)) - starts[owners]


def _spans(places: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Begin and end in triangles (R, 3, 2) of rows at y (R,)."""
    begin, end = np.full(len(y), np.inf), np.full(len(y), -np.inf)
    for k in range(3):
        start, way = places[:, k], places[:, (k + 1) % 3] - places[:, k]
        part = (y - start[:, 1]) / np.where(way[:, 1] == 0, 1, way[:, 1])
        crosses = (way[:, 1] != 0) & (part >= 0) & (part <= 1)
        x = start[:, 0] + part * way[:, 0]
        begin = np.where(crosses, np.minimum(begin, x), begin)
        end = np.where(crosses, np.maximum(end, x), end)
    none = ~np.isfinite(begin)
    return np.where(none, 1.0, begin), np.where(none, 0.0, end)


def _slopes(places: np.ndarray, depths: np.ndarray) -> np.ndarray:
    """Slopes (P, 2) of the depth of triangles along x and y of the raster."""
    sides, rise = places[:, 1:] - places[:, :1], depths[:, 1:] - depths[:, :1]
    (ax, ay), (bx, by) = sides[:, 0].T, sides[:, 1].T
    slopes = [rise[:, 0] * by - rise[:, 1] * ay, rise[:, 1] * ax - rise[:, 0] * bx]
    doubled = _doubled(places)
    is_line = np.abs(doubled) < FLATTEST
    return np.stack(slopes, axis=1) / np.where(is_line, np.inf, doubled)[:, None]


def _nearest(
    samples: RasterSamples, opaque: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Depth of the nearest opaque triangle at each point, and its index; -1 where there is none."""
    nearest, owner = np.full(count, -np.inf), np.full(count, -1)
    solid = opaque[samples.triangles]
    triangles, points, depths = (part[solid] for part in samples)
    np.maximum.at(nearest, points, depths)
    wins = depths >= nearest[points]
    owner[points[wins]] = triangles[wins]
    return nearest, owner


def _hiding(
    samples: RasterSamples, seen: np.ndarray, owner: np.ndarray, behind: np.ndarray, same: float
) -> Hiding:
    """Triangles that hide seen ones, or are seen before them; of two that pierce each other the one
    that is in front at more points.
    """
    others = owner[samples.points]
    chosen = seen[samples.triangles] & (others >= 0) & (np.abs(behind) > same)
    first, second = samples.triangles[chosen], others[chosen]
    is_hidden = behind[chosen] > 0
    first, second = np.where(is_hidden, first, second), np.where(is_hidden, second, first)
    total = len(seen)
    pairs, counts = np.unique(first * total + second, return_counts=True)
    count_of = dict(zip(pairs.tolist(), counts.tolist(), strict=True))
    by: defaultdict[int, list[int]] = defaultdict(list)
    torn: set[int] = set()
    for pair, count in count_of.items():
        hidden, front = divmod(pair, total)
        opposite = front * total + hidden
        if (count, pair) > (count_of.get(opposite, 0), opposite):
            by[hidden].append(front)
        if min(count, count_of.get(opposite, 0)) >= TORN:
            torn |= {hidden, front}
    return Hiding(by, torn)


def _ordered(seen: np.ndarray, depths: np.ndarray, hiding: Hiding) -> np.ndarray:
    """Each triangle before all that hide it; of several that could follow, and in a circle of
    triangles that hide each other, the farthest.
    """
    farthest_first = seen[np.argsort(depths[seen], kind="stable")].tolist()
    waits = dict.fromkeys(farthest_first, 0)
    for triangle in farthest_first:
        for after in hiding.by.get(triangle, ()):
            waits[after] += 1
    rank = {triangle: k for k, triangle in enumerate(farthest_first)}
    ready = [rank[triangle] for triangle, count in waits.items() if count == 0]
    ordered: list[int] = []
    for candidate in farthest_first:
        if not ready and candidate in waits:
            ready = [rank[candidate]]  # a circle
        while ready:
            triangle = farthest_first[heapq.heappop(ready)]
            if waits.pop(triangle, None) is None:
                continue
            ordered.append(triangle)
            for after in hiding.by.get(triangle, ()):
                if after in waits:
                    waits[after] -= 1
                    if waits[after] == 0:
                        heapq.heappush(ready, rank[after])
    return np.array(ordered, dtype=int)
