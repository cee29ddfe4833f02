"""Trees of long branches: O(n) forms of M^-1 b and of the bias, where M has few zeros.

Loops over bodies take the place of straight code for many bodies, where code is traced that may run
them.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import (
    Any,
    NamedTuple,
)

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
    OriginMotion,
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
# moving bodies: straight code runs three times faster, and takes longer to compile from there on
ROLLED_FROM = 64


def is_long(mechanism: Any) -> bool:
    """Whether articulated bodies take fewer operations than factors of the mass matrix."""
    tree: Tree = mechanism.tree()
    if tree.shares_entries:
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
        make = partial(RolledFactors, trace, mechanism, q)
        return _once(make, RolledFactors, id(mechanism), *q)  # type: ignore[no-any-return]
    tree, (q,), _ = straight.at(q=q)
    return ArticulatedFactors.of(tree, q)


def bias_of_tree(mechanism: Any, straight: Any, q: Any, qd: Any) -> Any:
    """C qd + g (nv,)."""
    if trace := _rolled_trace(mechanism, "bias_force", q):
        from dalembert.tracing import rolled

        return trace.scanned(rolled.rolled(mechanism, ["bias_force"]), q, qd)[0]
    return bias_force(straight, q, qd)


# Results of loops in a block that changes no register which they read.
_results: ContextVar[dict[Any, Any] | None] = ContextVar("results", default=None)


@contextmanager
def loops_in(trace: Any) -> Iterator[None]:
    """A block whose code may have loops over bodies run in a trace."""
    token = by_loops.set(partial(_frame_motion, trace))
    try:
        with scans_in(trace):
            yield
    finally:
        by_loops.reset(token)


@contextmanager
def loops_run_once() -> Iterator[None]:
    """A block that changes no register which is read, so that equal loops run once in it."""
    token = _results.set({})
    try:
        yield
    finally:
        _results.reset(token)


def _once(make: Callable[[], Any], *key: Any) -> Any:
    """The result of a loop, which an equal one before may have made."""
    results = _results.get()
    if results is None:
        return make()
    if key not in results:
        results[key] = make()
    return results[key]


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
    covered = not tree.shares_entries and _is_numeric(tree, bodies)
    if len(bodies) < ROLLED_FROM or not covered or not _reads(trace, q):
        return None
    key = id(tree), i, root, *q, qd is None, *(() if qd is None else qd)
    moved = _once(partial(_path_motion, trace, tree, q, qd, bodies), *key)
    p, body = moved.last
    arm = body.R.to_parent(X_frame.p)
    lever = p + arm
    columns = {
        k: Motion(m.angular, m.linear + m.angular.cross(lever)) for k, m in moved.columns.items()
    }
    return FrameMotion(Transform(lever, body.R * X_frame.R), columns, *carried_point(body, arm))


class PathMotion(NamedTuple):
    """Motion of the last body of a path, and columns about the path's origin.

    tree : whose path it is, which stays alive as long as its motion
    last : place and motion of the body's origin
    """

    tree: Tree
    last: tuple[Vector, OriginMotion]
    columns: dict[int, Motion]


def _path_motion(trace: Any, tree: Tree, q: Any, qd: Any, bodies: Sequence[int]) -> PathMotion:
    """The motion along a path, by a loop over its bodies."""
    from dalembert.tracing import rolled

    scans = rolled.rolled_path(tree, len(q), bodies, qd is None)
    memory = ScanMemory(trace, scans.program)
    memory.put({"q": np.array(q)} | ({} if qd is None else {"qd": np.array(qd)}))
    memory.run(scans.program.items)
    filled = [name for name, entries in scans.filled.items() if entries.any()]
    entries, *vectors = memory.read("motion", *filled)
    numbers = iter(entries)
    last = path_motion([next(numbers) if there else 0.0 for there in scans.structure])
    known = dict(zip(filled, vectors, strict=True))

    def column(k: int) -> Motion:
        """Motion for an entry of qd."""
        m = [known[name][k] if on[k] else 0.0 for name, on in scans.filled.items()]
        return Motion(Vector(m[:3]), Vector(m[3:]))

    columns = {k: column(k) for b in reversed(bodies) for k in tree.joint[b].dof}
    return PathMotion(tree, last, columns)


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
        whole = _full(b, len(self.order))
        return _once(  # type: ignore[no-any-return]
            lambda: dict(enumerate(self.reduced(whole))), "inward", id(self), *whole
        )

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
        numbers = map(id, rows)
        _, products = _once(lambda: (rows, self._gram(rows)), "gram", id(self), *numbers)
        return products  # type: ignore[no-any-return]

    def _gram(self, rows: Sequence[Mapping[int, Scalar]]) -> list[Any]:
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
