"""Trees of long branches: O(n) forms of M^-1 b and of the bias, where M has few zeros.

Loops over bodies take the place of straight code for many bodies, where code is traced that may run
them.
"""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from dalembert.codegen.symbols import (
    outlined,
    scans_in,
)
from dalembert.expr import (
    Expr,
    free_symbols,
)
from dalembert.formulations.newton_euler.articulated_factors import (
    ArticulatedFactors,
    operations_of_factors,
)
from dalembert.formulations.newton_euler.inverse import bias_force
from dalembert.kinematics.frame_motion import (
    FrameMotion,
    by_loops,
    carried_point,
    path,
)
from dalembert.model.tree import Tree
from dalembert.spatial.motion_force import Motion
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import (
    Scalar,
    Vector,
)
from dalembert.tracing.bodies import (
    FINE,
    opened_body,
)
from dalembert.tracing.entry_vectors import EntryVector
from dalembert.tracing.likeness import alike
from dalembert.tracing.passes import path_motion
from dalembert.tracing.trace import ScanMemory

# products of L^T D L per velocity: beyond, articulated bodies always take fewer operations
PRODUCTS = 24
ROLLED_FROM = 32  # moving bodies: straight code takes longer to compile than runs gain by it


def is_long(mechanism: Any) -> bool:
    """Whether articulated bodies take fewer operations than factors of the mass matrix."""
    tree: Tree = mechanism.tree()
    if tree.has_followers:
        return False
    return operations_of_factors(tree) > PRODUCTS * tree.nv


def _rolled_trace(mechanism: Any, name: str, q: Any) -> Any:
    """The trace that runs loops over the bodies of a mechanism; None: straight code is taken."""
    from dalembert.tracing import rolled

    moving = sum(not joint.is_fixed for joint in mechanism.joints)
    trace = outlined.get()
    if trace is None or moving < ROLLED_FROM or not rolled.covers(mechanism, [name]):
        return None
    return trace if _reads(trace, q) else None


def _reads(trace: Any, q: Any) -> bool:
    """Whether registers of a trace have the values of coordinates, which may be other symbols."""
    known = trace.entries.one
    symbols = free_symbols([x for x in q if isinstance(x, Expr)])
    graph = next(iter(known)).graph
    return bool(symbols) and all(s.graph is graph and s in known for s in symbols)


def factors_of_tree(mechanism: Any, straight: Any, q: Any) -> ArticulatedFactors | RolledFactors:
    """Factors of the mass matrix by articulated bodies; straight: the mechanism for straight code.

    Raises
    ------
    SingularMassMatrixError
        The inertia about a joint is not positive; not looked at on expressions.
    """
    if trace := _rolled_trace(mechanism, "forward_dynamics", q):
        return RolledFactors(trace, mechanism, q)
    tree, (q,), _ = straight.at(q=q)
    return ArticulatedFactors.of(tree, q)


def bias_of_tree(mechanism: Any, straight: Any, q: Any, qd: Any) -> Any:
    """C qd + g (nv,)."""
    if trace := _rolled_trace(mechanism, "bias_force", q):
        from dalembert.tracing import rolled

        return trace.scanned(rolled.rolled(mechanism, ["bias_force"]), q, qd)[0]
    return bias_force(straight, q, qd)


@contextmanager
def loops_in(trace: Any) -> Iterator[None]:
    """A block whose code may have loops over bodies run in a trace."""
    token = by_loops.set(partial(_frame_motion, trace))
    try:
        with scans_in(trace):
            yield
    finally:
        by_loops.reset(token)


def _frame_motion(
    trace: Any,
    tree: Tree,
    q: Any,
    qd: Any,
    place: tuple[int, Transform],
    root: int,
) -> FrameMotion | None:
    """As `kinematics.frame_motion`, by a loop over the bodies of a long path."""
    i, X_frame = place
    bodies = path(tree, i, root)
    covered = not tree.has_followers and _is_numeric(tree, bodies)
    if len(bodies) < ROLLED_FROM or not covered or not _reads(trace, q):
        return None
    from dalembert.tracing import rolled

    scans = rolled.rolled_path(tree, len(q), bodies, qd is None)
    memory = ScanMemory(trace, scans.program)
    memory.put({"q": np.array(q)} | ({} if qd is None else {"qd": np.array(qd)}))
    memory.run(scans.program.items)
    filled = [name for name, entries in scans.filled.items() if entries.any()]
    entries, *vectors = memory.read("motion", *filled)
    numbers = iter(entries)
    p, body = path_motion([next(numbers) if there else 0.0 for there in scans.structure])
    arm = body.R.to_parent(X_frame.p)
    lever = p + arm
    known = dict(zip(filled, vectors, strict=True))

    def column(k: int) -> Motion:
        """Motion of the frame for an entry of qd."""
        m = [known[name][k] if on[k] else 0.0 for name, on in scans.filled.items()]
        angular = Vector(m[:3])
        return Motion(angular, Vector(m[3:]) + angular.cross(lever))

    columns = {k: column(k) for b in reversed(bodies) for k in tree.joint[b].dof}
    return FrameMotion(Transform(lever, body.R * X_frame.R), columns, *carried_point(body, arm))


def _is_numeric(tree: Tree, bodies: Sequence[int]) -> bool:
    """Whether joints of a path have no symbols."""
    numbers = [x for k in bodies for x in opened_body(tree, k, FINE)[1]]
    return not any(isinstance(x, Expr) for x in numbers)


class RolledFactors:
    """M = L D L^T by loops over bodies, with the interface of `spatial.sparse_ldl.SparseFactors`."""

    def __init__(self, trace: Any, mechanism: Any, q: Any):
        from dalembert.tracing import rolled

        program = rolled.rolled_factors(mechanism)
        *first, self._inward, self._outward = program.items
        self._trace = trace
        self._memory = ScanMemory(trace, program)
        self._memory.put({"q": q})
        self._memory.run(first)
        self.inverse_pivots = [*self._memory.read("inverse_pivots")[0]]
        self.order = range(mechanism.nv - 1, -1, -1)

    def inward(self, b: Mapping[int, Scalar]) -> dict[int, Scalar]:
        """L^-1 b, by entries."""
        return dict(enumerate(self.reduced(_full(b, len(self.order)))))

    def reduced(self, b: Sequence[Scalar]) -> list[Scalar]:
        """L^-1 b."""
        return self._product(self._inward, "reduced", b)

    def outward(self, y: Sequence[Scalar]) -> list[Scalar]:
        """L^-T y."""
        return self._product(self._outward, "outward", y)

    def _product(self, scan: Any, name: str, vector: Sequence[Scalar]) -> list[Scalar]:
        self._memory.put({"tau": np.array(vector)})
        self._memory.run([scan])
        return [*self._memory.read(name)[0]]

    def scaled(self, b: Sequence[Scalar]) -> list[Scalar]:
        """D^-1 b."""
        return [x * inverse for x, inverse in zip(b, self.inverse_pivots, strict=True)]

    def solved(self, b: Sequence[Scalar]) -> list[Scalar]:
        """x of M x = b."""
        return self.outward(self.scaled(self.reduced(b)))

    def gram(self, rows: Sequence[Mapping[int, Scalar]]) -> list[Any]:
        """Rows {column: number} of V D^-1 V^T, with rows of V."""
        scaled = [self.scaled(_full(row, len(self.order))) for row in rows]
        pairs = [(k, j) for k in range(len(rows)) for j in range(k + 1)]
        sums = {(k, j): self._sum(rows[j], scaled[k]) for k, j in pairs}
        every = range(len(rows))
        return [{j: sums[max(k, j), min(k, j)] for j in every} for k in every]

    def products(
        self, rows: Sequence[Mapping[int, Scalar]], vector: Sequence[Scalar]
    ) -> list[Scalar]:
        """V x, with rows of V."""
        return [self._sum(row, vector) for row in rows]

    def held(self, values: Sequence[Scalar]) -> Sequence[Scalar]:
        """Values of which many others are computed, in registers."""
        return [*self._trace.stored("c", [np.array(values)])[0]]

    def _sum(self, row: Mapping[int, Scalar], vector: Sequence[Scalar]) -> Scalar:
        """Product of a row and a vector, by a loop if its terms are alike."""
        terms = [x * vector[k] for k, x in sorted(row.items())]
        pieces = alike(self._trace.entries, terms)
        return EntryVector(self._trace, pieces).total() if pieces else sum(terms)


def _full(row: Mapping[int, Scalar], n: int) -> list[Scalar]:
    return [row.get(k, 0.0) for k in range(n)]
