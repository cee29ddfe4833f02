"""Options of methods that step coordinates apart from velocities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from dalembert.integrators.method_kinds import ACCELERATIONS, MULTIPLIERS, SLIPS

NO_PLACES = slice(0, 0)


class StateParts(NamedTuple):
    """Places of coordinates, velocities or momenta, and unknowns of a method in x, and how
    coordinates move along velocities.
    """

    q: slice
    y: slice
    move: Callable[[Any, Any], Any]
    multipliers: slice = NO_PLACES
    slips: slice = NO_PLACES
    accelerations: slice = NO_PLACES

    @property
    def unknowns(self) -> list[slice]:
        """Places that no rates belong to."""
        return [self.multipliers, self.slips, self.accelerations]

    def rated(self, x: Any) -> Any:
        """x with 0 in place of unknowns, whose size says nothing about errors of the state."""
        x = np.array(x)
        for places in self.unknowns:
            x[places] = 0.0 * x[places]
        return x


def parts_of(
    name: str, options: Mapping[str, Any], unknowns: Mapping[str, slice] | None = None
) -> StateParts:
    """Parts of the state of a method of that name, from options as `coordinates` gives them."""
    nq, nv = options["nq"], options["nv"]
    places = unknowns or {}
    return StateParts(
        slice(0, nq),
        slice(nq, nq + nv),
        options["move"],
        *(places.get(kind, NO_PLACES) for kind in (MULTIPLIERS, SLIPS, ACCELERATIONS)),
    )


def coordinates(name: str) -> Callable[..., dict[str, Any]]:
    """`needs` of a method of that name: where coordinates end, and how they move along velocities;
    by default q + step.
    """

    def needs(
        nq: int | None = None, nv: int | None = None, move: Any = None, **known: Any
    ) -> dict[str, Any]:
        """Options of the step.

        Raises
        ------
        ValueError
            nq is missing; there are other velocities than coordinates, and no `move`.
        """
        if nq is None:
            raise ValueError(
                f"{name} must know where coordinates end and velocities begin: give nq= (and nv=, "
                "if it is another number)."
            )
        if move is None and nv not in (None, nq):
            raise ValueError(
                f"{name} with {nq} coordinates and {nv} velocities: give move=, as q + step has no "
                "meaning."
            )
        return {"nq": nq, "nv": nq if nv is None else nv, "move": move or _added}

    return needs


def _added(q: Any, step: Any) -> Any:
    return q + step
