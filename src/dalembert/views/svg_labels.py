"""Names beside points of an SVG, which do not cover each other."""

from __future__ import annotations

import html
from collections.abc import (
    Iterator,
    Sequence,
)
from typing import NamedTuple

import numpy as np

from dalembert.views.fonts import drawable

SIZE = 11.5  # of letters [pixels]
LETTER = 0.58  # width of a letter, of its size
LONGEST = 28  # letters of a name
FARTHER = (0.0, 16.0, 36.0, 60.0, 90.0, 125.0)  # pixels that a name is moved away to find room
SQUARE = 4.0  # pixels, of the squares that solids cover
GAP = 5.0  # pixels between a thing and its name


class Anchor(NamedTuple):
    """A thing with a name: its place, and how far it reaches [pixels]."""

    name: str
    place: np.ndarray  # (2,)
    radius: float


class Area(NamedTuple):
    """A rectangle [pixels]."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Area) -> float:
        """Area that two rectangles share."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(wide, 0.0) * max(high, 0.0)


class Covered(NamedTuple):
    """Squares of a picture that solids cover."""

    squares: np.ndarray  # (H, W) of booleans
    size: tuple[float, float]  # of the picture [pixels]

    @classmethod
    def of(cls, corners: np.ndarray, size: tuple[float, float]) -> Covered:
        """Squares that triangles (P, 3, 2) cover [pixels], found at points within them."""
        shape = (int(size[1] / SQUARE) + 1, int(size[0] / SQUARE) + 1)
        squares = np.zeros(shape, dtype=bool)
        extents = np.ptp(corners, axis=1).max(axis=1, initial=0.0)
        for least, most, parts in ((0, 8, 2), (8, 40, 8), (40, np.inf, 40)):
            chosen = corners[(extents >= least) & (extents < most)]
            points = np.einsum("sk,pkc->psc", _weights(parts), chosen).reshape(-1, 2)
            at = (points / SQUARE).astype(int).clip(0, np.array(shape)[::-1] - 1)
            squares[at[:, 1], at[:, 0]] = True
        return cls(squares, size)

    def below(self, area: Area) -> float:
        """Area of a rectangle that solids cover."""
        left, top, right, bottom = (max(int(x / SQUARE), 0) for x in area)
        return float(self.squares[top : bottom + 1, left : right + 1].sum()) * SQUARE**2


def _weights(parts: int) -> np.ndarray:
    """Barycentric coordinates (S, 3) of points spread over a triangle."""
    steps = [(i, j, parts - i - j) for i in range(parts + 1) for j in range(parts + 1 - i)]
    return np.array(steps) / parts


def labels_of(anchors: Sequence[Anchor], covered: Covered) -> Iterator[str]:
    """Texts beside the anchors, each at the best of some places; from farther ones a line leads to
    the thing.
    """
    taken = [_around(anchor) for anchor in anchors]
    for k, anchor in enumerate(anchors):
        name = shortened(anchor.name)
        others = taken[:k] + taken[k + 1 :]
        places = [(away, area) for away in FARTHER for area in _places(anchor, name, away)]
        costs = [_cost(area, others, covered) + 3 * away for away, area in places]
        away, area = places[int(np.argmin(costs))]
        taken.append(area)
        if away:
            yield _leader(anchor, area)
        x, y = area.left, area.bottom - 0.25 * SIZE
        yield (
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{SIZE}" fill="currentColor">'
            f"{html.escape(name)}</text>"
        )


def _leader(anchor: Anchor, area: Area) -> str:
    """A thin line from a thing to its name."""
    x, y = anchor.place
    end_x = min(max(x, area.left), area.right)
    end_y = min(max(y, area.top), area.bottom)
    return (
        f'<path stroke="currentColor" stroke-opacity=".55" d="M{x:.1f} {y:.1f}'
        f'L{end_x:.1f} {end_y:.1f}"/>'
    )


def shortened(name: str) -> str:
    """A name with invisible letters spelled out, and its middle left out where it is long."""
    name = drawable(name, None)
    if len(name) <= LONGEST:
        return name
    return f"{name[: LONGEST - 9]}…{name[-8:]}"


def _around(anchor: Anchor) -> Area:
    """The square about an anchor."""
    x, y = anchor.place
    r = anchor.radius
    return Area(x - r, y - r, x + r, y + r)


def _places(anchor: Anchor, name: str, farther: float) -> list[Area]:
    """Areas of a name to the right, left, above, below, and in the corners."""
    width, height = LETTER * SIZE * len(name), 1.2 * SIZE
    x, y = anchor.place
    away = anchor.radius + GAP + farther
    corner = 0.7 * (anchor.radius + farther) + GAP
    places = [
        (x + away, y - height / 2),
        (x - away - width, y - height / 2),
        (x + corner, y - corner - height),
        (x + corner, y + corner),
        (x - corner - width, y - corner - height),
        (x - corner - width, y + corner),
        (x - width / 2, y - away - height),
        (x - width / 2, y + away),
    ]
    return [Area(left, top, left + width, top + height) for left, top in places]


def _cost(area: Area, others: Sequence[Area], covered: Covered) -> float:
    """Area that other things and solids cover, and the part that lies beyond the picture."""
    inside = area.overlap(Area(0.0, 0.0, *covered.size))
    whole = (area.right - area.left) * (area.bottom - area.top)
    beyond = whole - inside
    return 3 * sum(map(area.overlap, others)) + covered.below(area) + 10 * beyond
