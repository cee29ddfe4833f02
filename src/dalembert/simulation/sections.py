"""Flat vectors whose parts have names: states x and parameters p of a motion."""

from __future__ import annotations

from itertools import accumulate
from typing import Any


class Sections:
    """Named sections of a flat vector, one after the other: `Sections(q=7, y=7, work=1)`.

    Attributes
    ----------
    size : length of the vector
    slices : name -> slice
    """

    def __init__(self, **lengths: int):
        ends = [*accumulate(lengths.values())]
        self.size = ends[-1] if ends else 0
        self.slices = {
            name: slice(end - length, end)
            for (name, length), end in zip(lengths.items(), ends, strict=True)
        }

    def part(self, vector: Any, name: str) -> Any:
        """The section of vectors (..., size)."""
        return vector[..., self.slices[name]]

    def parts(self, vector: Any) -> dict[str, Any]:
        """All sections of vectors (..., size) by name."""
        return {name: vector[..., at] for name, at in self.slices.items()}
