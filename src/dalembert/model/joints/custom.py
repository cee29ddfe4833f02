"""A user's own joint, given by the placement of the child as a Python function of its coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dalembert.errors import ShapeError
from dalembert.expr import (
    Expr,
    Graph,
    constant,
    pack,
    symbol,
    unpack,
)
from dalembert.model.content import digest
from dalembert.model.joints.base import JointType, built_in
from dalembert.model.joints.traced import (
    BY_Q,
    COLUMNS,
    PLACEMENT,
    RATES,
    TracedMotion,
    derived,
    plain,
)
from dalembert.spatial.rotations import Dense
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Matrix, Vector, axial


@built_in
@dataclass(frozen=True)
class Custom(JointType):
    """Joint of any one to six freedoms.

    The motion subspace is found by derivatives: column j is (vee(R^T dR/dq_j); R^T dp/dq_j).

    Parameters
    ----------
    function : callable
        Takes the list of coordinates and gives (R, p): rows of the rotation matrix (child's axes to
        joint's) and the child's origin [m]. Written with `da.sin`, `da.cos`, ...; R must be a
        rotation for every q. It is called once, with symbols, when the joint is made: what it
        refers to may change later, the joint does not.
    coordinates : tuple of str
        Names of the coordinates; velocities are their rates. A name with 'angle' in it is an angle
        [rad].

    Examples
    --------
    >>> import dalembert as da
    >>> def screw(q):
    ...     c, s = da.cos(q[0]), da.sin(q[0])
    ...     return [[c, -s, 0], [s, c, 0], [0, 0, 1]], [0, 0, 0.01 * q[0]]
    >>> da.Custom(screw).nv
    1
    """

    function: Callable[[Sequence[Any]], tuple[Any, Any]]
    coordinates: tuple[str, ...] = ("angle",)  # type: ignore[misc]
    placed: str = field(init=False, repr=False)  # stands for the placement that the function gave
    name = "custom"
    constant_subspace = False

    def __post_init__(self) -> None:
        if not self.coordinates or isinstance(self.coordinates, str):
            raise TypeError(
                f"coordinates={self.coordinates!r}: expected the names of one to six, as ('angle', "
                "'slide')."
            )
        with Graph():
            q = [symbol(f"coordinate {k} of a custom joint") for k in range(len(self.coordinates))]
            R, p = (np.array(x, dtype=object) for x in self.function(q))
            for name, array, shape in (("R", R, (3, 3)), ("p", p, (3,))):
                if array.shape != shape:
                    raise ShapeError(
                        f"the function of a custom joint returned {name} of shape {array.shape}, "
                        f"expected {shape}: rows of the rotation matrix, and the origin.",
                        name,
                        array.shape,
                        shape,
                    )
            self._put(q, [constant(x) for x in (*R.flat, *p)])

    def _put(self, q: list[Expr], placement: list[Expr]) -> None:
        """Set what is derived from the placement (rows of R, p)."""
        object.__setattr__(self, "_trace", _traced(q, placement))
        object.__setattr__(self, "placed", digest(repr(pack(placement))))

    @property
    def velocities(self):  # type: ignore[override]
        """Names of the rates of the coordinates."""
        return tuple(
            ("angular rate of " if "angle" in c else "rate of ") + c for c in self.coordinates
        )

    def identity(self) -> str | None:
        """The expressions of its placement."""
        return f"custom {self.coordinates} {self.placed}" if type(self) is Custom else None

    def placement(self, q):
        """The function's placement at q."""
        flat = self._trace.at(PLACEMENT, q)  # type: ignore[attr-defined]
        return Transform(Vector(flat[9:]), Dense(Matrix((flat[:3], flat[3:6], flat[6:9]))))

    def subspace(self, q):
        """Columns of S, from derivatives of the placement by q."""
        return self._trace.motions(COLUMNS, q)  # type: ignore[attr-defined]

    def subspace_rate(self, q, v):
        """Rates of the columns of S, from its derivatives by q."""
        return self._trace.motions(RATES, [*q, *v])  # type: ignore[attr-defined]

    def subspace_rate_derivatives(self, q, v):
        """Derivatives of (dS/dt) v by q, v held."""
        return self._trace.motions(BY_Q, [*q, *v])  # type: ignore[attr-defined]

    def __getstate__(self):
        trace = self._trace  # type: ignore[attr-defined]
        return {
            "function": self.function,
            "coordinates": self.coordinates,
            "placement": pack(
                [*trace.inputs[: len(self.coordinates)], *map(trace.node, trace.placement)]
            ),
        }

    def __setstate__(self, state):
        packed = state.pop("placement")
        self.__dict__.update(state)
        with Graph():
            nodes = unpack(packed)
            n = len(self.coordinates)
            self._put(nodes[:n], nodes[n:])


def _traced(q: list[Expr], placement: list[Expr]) -> TracedMotion:
    """Motions of a placement (rows of R, p)."""
    flat = [plain(e) for e in placement]
    R = Matrix((flat[:3], flat[3:6], flat[6:9]))
    p = Vector(flat[9:])
    columns: list[Any] = []
    for x in q:
        dR = Matrix([[derived(e, x) for e in row] for row in R])
        dp = Vector(derived(e, x) for e in p)
        columns += [*(axial(R.T @ dR) * 0.5), *(R.T @ dp)]
    return TracedMotion(q, [], flat, columns)
