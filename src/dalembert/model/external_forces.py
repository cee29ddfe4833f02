"""External forces on a mechanism."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arguments import check_choice
from dalembert.spatial.arrays import unpacked
from dalembert.spatial.motion_force import Force
from dalembert.spatial.vectors import Vector

AXES_OF_EXPRESSION = ("world", "local", "aligned")


@dataclass(frozen=True, eq=False)
class ExternalForce:
    """A force and a moment **on** the mechanism, at a frame.

    frame : name of a link or frame.
    force, moment : (3,) or (N, 3), [N], [N m].
    point : (3,) or (N, 3), where the force acts [m].
    expressed_in : 'aligned' (world axes, point from the frame's origin), 'local' (the frame's axes
        and origin) or 'world' (world axes, point from the world's origin). Generalized forces are
        J^T (moment; force) with the Jacobian of the same name, for point = 0.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> push = da.ExternalForce("tip", force=(0, 0, 5.0))
    >>> da.inverse_dynamics(arm, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [push]).round(2)
    array([ 9.62, -0.09])
    """

    frame: str
    force: Any = (0.0, 0.0, 0.0)
    moment: Any = (0.0, 0.0, 0.0)
    point: Any = (0.0, 0.0, 0.0)
    expressed_in: str = "aligned"

    def __post_init__(self) -> None:
        check_choice("axes", self.expressed_in, AXES_OF_EXPRESSION)

    def opened(self) -> tuple[str, str, Force, Vector, set[int]]:
        """(frame, axes, (moment; force) (6,) [N m; N], point (3,) [m], numbers of rows) with scalars
        inside.

        Examples
        --------
        >>> import dalembert as da
        >>> frame, axes, wrench, point, rows = da.ExternalForce("hand", force=(0, 0, 5.0)).opened()
        >>> frame, wrench.force
        ('hand', (0.0, 0.0, 5.0))
        """
        vectors, sizes = {}, set()
        for name in ("moment", "force", "point"):
            columns, rows = unpacked(
                getattr(self, name),
                f"{name} at frame {self.frame!r}",
                3,
                lambda *_: "a vector in space has 3 entries",
            )
            vectors[name] = Vector(columns)
            sizes |= set() if rows is None else {rows}
        return (
            self.frame,
            self.expressed_in,
            Force(vectors["moment"], vectors["force"]),
            vectors["point"],
            sizes,
        )


def opened_loads(external_forces: Any) -> tuple[list[tuple], set[int]]:
    """Scalars of all external forces, and the numbers of rows among them."""
    if isinstance(external_forces, (ExternalForce, np.ndarray)) or not isinstance(
        external_forces, Iterable
    ):
        raise TypeError(
            "external_forces is a sequence of da.ExternalForce, for example "
            "[da.ExternalForce('hand', ...)]."
        )
    loads, sizes = [], set()
    for load in external_forces:
        if not isinstance(load, ExternalForce):
            raise TypeError(
                f"external_forces holds {type(load).__name__}, expected da.ExternalForce."
            )
        *opened, rows = load.opened()
        loads.append(tuple(opened))
        sizes |= rows
    return loads, sizes
