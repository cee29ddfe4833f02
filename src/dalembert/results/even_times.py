"""Times at equal distances."""

from __future__ import annotations

from typing import Any

import numpy as np


class Even:
    """Times at equal distances, of which only those exist that are looked at; the last distance may
    be shorter.

    spacing: distance [s]; by default times are those of `np.linspace`.
    """

    def __init__(self, begin: float, end: float, count: int, spacing: float | None = None):
        self._begin, self._end, self._count = begin, end, count
        self._spacing = (end - begin) / (count - 1) if spacing is None else spacing

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, key: int | slice) -> Any:
        places: Any = range(self._count)[key]
        if isinstance(places, int):
            return self[places : places + 1][0]
        times = np.arange(places.start, places.stop, places.step) * self._spacing + self._begin
        for k in (0, -1) if places else ():
            if places[k] == self._count - 1:
                times[k] = self._end
        return times
