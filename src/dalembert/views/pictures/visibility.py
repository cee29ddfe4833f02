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
    samples = _samples(corners, depths, size / across)
    nearest, owner = _nearest(samples, opaque)
    behind = nearest[samples.points] - samples.depths
    is_seen = (behind <= 0) & (opaque[samples.triangles] | (owner[samples.points] < 0))
    is_seen |= (behind < 0) & ~opaque[samples.triangles]
    seen = np.zeros(len(corners), dtype=bool)
    seen[samples.triangles[is_seen]] = True
    hiding = _hiding(samples, seen, owner, behind, SAME * size)
    ordered = _ordered(np.flatnonzero(seen), depths.mean(axis=1), hiding)
    return Order(ordered, np.isin(ordered, [*hiding.torn]))


class Hiding(NamedTuple):
    """Triangles that hide each triangle somewhere, and triangles that pierce each other."""

    by: dict[int, list[int]]
    torn: set[int]


def _samples(corners: np.ndarray, depths: np.ndarray, finest: float) -> RasterSamples:
    """Points of the raster within the triangles, row by row; they are as near as that, or farther where
    they would be too many.
    """
    sides = corners[:, 1:] - corners[:, :1]
    doubled = sides[:, 0, 0] * sides[:, 1, 1] - sides[:, 0, 1] * sides[:, 1, 0]
    coarse = float(np.sqrt(np.abs(doubled).sum() / 2 / MOST_SAMPLES))
    spacing = max(finest, coarse, 1e-300)
    places = (corners - corners.reshape(-1, 2).min(axis=0)) / spacing
    width = int(places[..., 0].max()) + 2
    first = np.ceil(places[..., 1].min(axis=1)).astype(int)
    last = np.floor(places[..., 1].max(axis=1)).astype(int)
    rows, y = _counted(first, last)
    begin, end = _spans(places[rows], y)
    spans, x = _counted(np.ceil(begin).astype(int), np.floor(end).astype(int))
    triangles = rows[spans]
    slopes = _slopes(sides / spacing, depths, doubled / spacing**2)[triangles]
    way = np.stack([x, y[spans]], axis=1) - places[triangles, 0]
    return RasterSamples(
        triangles, y[spans] * width + x, depths[triangles, 0] + (slopes * way).sum(axis=1)
    )


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


def _slopes(sides: np.ndarray, depths: np.ndarray, doubled: np.ndarray) -> np.ndarray:
    """Slopes (P, 2) of the depth of triangles along x and y of the raster."""
    rise = depths[:, 1:] - depths[:, :1]
    (ax, ay), (bx, by) = sides[:, 0].T, sides[:, 1].T
    slopes = [rise[:, 0] * by - rise[:, 1] * ay, rise[:, 1] * ax - rise[:, 0] * bx]
    return np.stack(slopes, axis=1) / np.where(doubled == 0, np.inf, doubled)[:, None]


def _nearest(samples: RasterSamples, opaque: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Depth of the nearest opaque triangle at each point, and its index; -1 where there is none."""
    count = int(samples.points.max(initial=0)) + 1
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
    """Each triangle before all that hide it; of several that could follow, and in a circle of triangles
    that hide each other, the farthest.
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
