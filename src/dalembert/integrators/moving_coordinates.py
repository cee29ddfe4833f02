"""Options of methods that step coordinates apart from velocities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


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
