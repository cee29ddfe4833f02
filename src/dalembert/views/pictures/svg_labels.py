"""Names beside points of an SVG, which do not cover each other."""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Sequence,
)
from typing import NamedTuple

import numpy as np

from dalembert.closed_forms.printing.markup import html_text
from dalembert.displays import shortened

SIZE = 11.5  # of letters [pixels]
LETTER = 0.58  # width of a letter, of its size
LONGEST = 28  # letters of a name
FARTHER = (0.0, 16.0, 36.0, 60.0, 90.0, 125.0)  # pixels that a name is moved away to find room
SQUARE = 4.0  # pixels, of the squares that solids cover
POINTS_OF = ((0, 8, 2), (8, 40, 8), (40, np.inf, 40))  # points across triangles, by their extent
FEW = 6  # names that find room beside their things
GAP = 5.0  # pixels between a thing and its name
CLEAR = 2.0  # pixels between a name and a line that leads to it
FAR = 14.0  # pixels from a thing beyond which a line leads to its name


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
        columns, rows = (int(length / SQUARE) + 1 for length in size)
        squares = np.zeros((rows, columns), dtype=bool)
        extents = np.ptp(corners, axis=1).max(axis=1, initial=0.0)
        for least, most, parts in POINTS_OF:
            chosen = corners[(extents >= least) & (extents < most)]
            points = _weights(parts) @ chosen  # (P, S, 2)
            x, y = (points / SQUARE).astype(int).reshape(-1, 2).T
            squares[y.clip(0, rows - 1), x.clip(0, columns - 1)] = True
        return cls(squares, size)

    def below(self, area: Area) -> float:
        """Area of a rectangle that solids cover."""
        left, top, right, bottom = (max(int(x / SQUARE), 0) for x in area)
        return float(self.squares[top : bottom + 1, left : right + 1].sum()) * SQUARE**2


def _weights(parts: int) -> np.ndarray:
    """Barycentric coordinates (S, 3) of points spread over a triangle."""
    steps = [(i, j, parts - i - j) for i in range(parts + 1) for j in range(parts + 1 - i)]
    return np.array(steps) / parts


def labels_of(
    anchors: Sequence[Anchor], covered: Covered, lines: Sequence[Area] = ()
) -> Iterator[str]:
    """Texts beside the anchors, or in a column beside the solids where many would cover them; they
    keep off solids and lines.
    """
    column = _column(anchors, covered) if len(anchors) > FEW else None
    if column is None:
        return _near(anchors, covered, lines)
    return _in_column(anchors, column, covered.size[1])


def room_of(names: Sequence[str]) -> float:
    """Width of a column of names, where they are many [pixels]."""
    if len(names) <= FEW:
        return 0.0
    return max(len(shortened(name, LONGEST)) for name in names) * LETTER * SIZE + 4 * GAP


def _column(anchors: Sequence[Anchor], covered: Covered) -> float | None:
    """The left edge of a column of names to the right of the solids; None without room for it."""
    columns = np.flatnonzero(covered.squares.any(axis=0))
    begin = (float(columns[-1]) + 2) * SQUARE + 3 * GAP if len(columns) else 0.0
    widest = room_of([anchor.name for anchor in anchors]) - 4 * GAP
    return begin if begin + widest < covered.size[0] else None


def _in_column(anchors: Sequence[Anchor], left: float, height: float) -> Iterator[str]:
    """Names below each other in the order of their things, each with a line to its own."""
    ordered = sorted(anchors, key=lambda anchor: float(anchor.place[1]))
    spacing = 1.35 * SIZE
    rows: list[float] = []
    for anchor in ordered:
        least = rows[-1] + spacing if rows else SIZE
        rows.append(max(float(anchor.place[1]), least))
    excess = max(rows[-1] - (height - 3 * SIZE), 0.0)
    for k in reversed(range(len(rows))):  # back up into the picture
        most = rows[k + 1] - spacing if k + 1 < len(rows) else rows[k] - excess
        rows[k] = min(rows[k], most)
    for anchor, y in zip(ordered, rows, strict=True):
        yield _line(anchor, f"L{left - 3 * GAP:.1f} {y:.1f}H{left - GAP / 2:.1f}")
        yield _text_at(anchor, left, y + 0.35 * SIZE)


def _text_at(anchor: Anchor, x: float, y: float) -> str:
    """The name of an anchor."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{SIZE}" fill="currentColor">'
        f"{html_text(shortened(anchor.name, LONGEST))}</text>"
    )


def _near(anchors: Sequence[Anchor], covered: Covered, lines: Sequence[Area]) -> Iterator[str]:
    """Texts each at the best of some places; from farther ones a line leads to the thing."""
    taken = [*(_around(anchor) for anchor in anchors), *lines]
    for k, anchor in enumerate(anchors):
        name = shortened(anchor.name, LONGEST)
        others = taken[:k] + taken[k + 1 :]
        places = [(away, area) for away in FARTHER for area in _places(anchor, name, away)]
        costs = [_cost(area, others, covered) + 3 * away for away, area in places]
        away, area = places[int(np.argmin(costs))]
        taken.append(area)
        if _distance(anchor, area) > FAR:
            yield _leader(anchor, area)
        yield _text_at(anchor, area.left, area.bottom - 0.25 * SIZE)


def _end(anchor: Anchor, area: Area) -> np.ndarray:
    """The point around an area that is nearest to a thing."""
    low, high = np.reshape(area, (2, 2))
    return np.clip(anchor.place, low - CLEAR, high + CLEAR)


def _distance(anchor: Anchor, area: Area) -> float:
    return float(np.linalg.norm(_end(anchor, area) - anchor.place))


def _leader(anchor: Anchor, area: Area) -> str:
    """A thin line from a thing to its name."""
    x, y = _end(anchor, area)
    return _line(anchor, f"L{x:.1f} {y:.1f}")


def _line(anchor: Anchor, steps: str) -> str:
    """A line from a dot on a thing, which stands out from dark solids."""
    x, y = anchor.place
    way = f"M{x:.1f} {y:.1f}{steps}"
    return (
        f'<path fill="none" stroke="#fff" stroke-opacity=".35" stroke-width="2.4" d="{way}"/>'
        f'<path fill="none" stroke="currentColor" stroke-opacity=".6" d="{way}"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" fill="currentColor" stroke="#fff" '
        'stroke-opacity=".6"/>'
    )


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
