"""Flat vectors whose parts have names: states x and parameters p of a motion."""

from __future__ import annotations

from typing import Any


class Sections:
    """Named sections of a flat vector, in a row: `Sections(q=7, y=7, work=1)`.

    Attributes
    ----------
    size : length of the vector
    slices : name -> slice
    """

    def __init__(self, **lengths: int):
        self.size, self.slices = 0, {}
        for name, length in lengths.items():
            self.slices[name] = slice(self.size, self.size + length)
            self.size += length

    def part(self, vector: Any, name: str) -> Any:
        """The section of vectors (..., size)."""
        return vector[..., self.slices[name]]

    def parts(self, vector: Any) -> list[Any]:
        """All sections of vectors (..., size) in their order."""
        return [vector[..., section] for section in self.slices.values()]
