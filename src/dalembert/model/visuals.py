"""Shapes of bodies for pictures: solids and meshes as files give them; no mechanics follows from
them.
"""

from __future__ import annotations

from dataclasses import (
    dataclass,
    field,
)
from typing import Any

from dalembert.arguments import (
    check_choice,
    check_flag,
    check_text,
)
from dalembert.displays import brief_repr
from dalembert.model.numbers import (
    as_float,
    checked_vector,
    is_symbolic,
)
from dalembert.model.origins import (
    NOWHERE,
    Origin,
    Source,
)

LEAST_SIZE = 1e-12  # [m] of shapes, and of factors of meshes: smaller and larger ones have
MOST_SIZE = 1e12  # no picture in the numbers of graphics
SIZES = {  # the numbers of each kind [m]
    "box": ("length along x", "along y", "along z"),
    "sphere": ("radius",),
    "ellipsoid": ("semi-axis along x", "along y", "along z"),
    "cylinder": ("radius", "length along z"),
    "capsule": ("radius", "length along z between the centres of its caps"),
    "mesh": ("factor along x", "along y", "along z"),
}


@dataclass(frozen=True)
class Visual:
    """A shape on a body, for pictures alone.

    kind: a key of `SIZES`, which says what its sizes are [m, above 0; of a mesh factors, which are
    not 0]. origin: of its
    centre (of a mesh, its own origin) in the body's axes. colour: (red, green, blue, opacity) from
    0 to 1, None where none is given. mesh: the file of a mesh as it is written, which is opened
    only by what draws it. seen: whether it is what is seen; else it is
    what collides.

    Examples
    --------
    >>> import dalembert as da
    >>> da.Visual("cylinder", (0.05, 0.4), da.Origin((0, 0, 0.2))).kind
    'cylinder'
    """

    __repr__ = brief_repr

    kind: str
    sizes: tuple[Any, ...]
    origin: Origin = Origin()
    colour: tuple[float, ...] | None = None
    mesh: str = ""
    seen: bool = True
    source: Source = field(default=NOWHERE, compare=False)

    def __post_init__(self) -> None:
        check_choice("kind of a visual", self.kind, tuple(SIZES))
        check_text("the mesh of a visual", self.mesh)
        check_flag("seen", self.seen)
        object.__setattr__(self, "sizes", self._checked_sizes())
        if (self.kind == "mesh") != bool(self.mesh):
            expected = "needs the file of its mesh" if self.kind == "mesh" else "has no mesh"
            raise ValueError(f"mesh is {self.mesh!r}; a visual of kind {self.kind!r} {expected}.")
        if self.colour is not None:
            object.__setattr__(self, "colour", self._checked_colour())

    def _checked_sizes(self) -> tuple[Any, ...]:
        what = f"sizes of a {self.kind}"
        sizes = checked_vector(self.sizes, len(SIZES[self.kind]), what)
        for size in sizes:
            if is_symbolic(size):
                continue
            if self.kind == "mesh" and size == 0:
                raise ValueError("sizes of a mesh are factors other than 0.")
            if self.kind != "mesh" and as_float(size) <= 0:
                raise ValueError(f"{what} are above 0 m; {size} is not.")
            if not LEAST_SIZE <= abs(as_float(size)) <= MOST_SIZE:
                raise ValueError(f"{what} are from {LEAST_SIZE:g} to {MOST_SIZE:g}; {size} is not.")
        return sizes

    def _checked_colour(self) -> tuple[Any, ...]:
        what = f"colour of a {self.kind}"
        colour = checked_vector(self.colour, 4, what)
        if not all(0 <= as_float(x) <= 1 for x in colour):
            raise ValueError(f"{what} is {colour}; expected numbers from 0 to 1.")
        return colour
