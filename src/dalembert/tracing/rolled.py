"""Long chains and large trees: quantities traced once per kind of body, as scans over all bodies.

What a body hands to its neighbours is zero in some entries, which depends on what it was handed
itself: in a planar chain five of nine entries of the rates. Bodies of one kind that are handed the
same structure share a step. Where that makes too many steps, bodies are sorted more coarsely and no
structure is handed on.
"""

from __future__ import annotations

from collections.abc import (
    Iterable,
    Mapping,
    Sequence,
)
from dataclasses import (
    dataclass,
    field,
    replace,
)
from functools import cached_property
from types import SimpleNamespace
from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.codegen.blocks import (
    Block,
    Port,
    block_of,
)
from dalembert.codegen.passes.specializing import (
    pruned,
    settled,
    turn_of,
    turned,
)
from dalembert.codegen.program import (
    STATUS,
    BlockTable,
    Clear,
    Item,
    Program,
    Register,
    Scan,
    Turns,
)
from dalembert.codegen.symbols import (
    vector_of_symbols,
    without_collection,
)
from dalembert.expr import (
    Expr,
    Graph,
    absolute,
    constant,
    equal,
    free_symbols,
    known_zero,
    where,
)
from dalembert.formulations.newton_euler.mass_matrix import composite_diagonal
from dalembert.model.linkage import QUATERNION_TOLERANCE
from dalembert.model.mechanism import Mechanism
from dalembert.model.pivots import (
    ALWAYS,
    guards,
    undetermined,
)
from dalembert.model.tree import Tree
from dalembert.spatial.inertias import NO_INERTIA
from dalembert.tracing.bodies import (
    ALIGNED,
    FINE,
    OBLIQUE,
    Kind,
    sorted_bodies,
)
from dalembert.tracing.passes import (
    ALGORITHMS,
    FACTORS,
    PATH,
    PATH_AT_REST,
    Algorithm,
    BodyView,
    Pass,
)

STATES = 4  # random ones, to learn usual inertias from
MAX_STEPS = 24  # per scan with fine kinds: some 0.1 s of compile time each
MAX_KINDS = 24  # with axes along coordinate axes told from others

Structure = tuple[bool, ...]  # whether entries are not zero
Shape = tuple[tuple[str, Structure], ...]  # of what is stored for a body, by name


def covers(mechanism: Mechanism, names: Sequence[str]) -> bool:
    """Whether there are scans for these quantities of this mechanism: followers, beams
    and transmissions couple joints, and have none.
    """
    return (
        bool(names)
        and set(names) <= ALGORITHMS.keys()
        and not any(joint.mimic or joint.transmission for joint in mechanism.joints)
        and not mechanism.elastic_bodies
        and mechanism._graph is None
    )


def rolled(mechanism: Mechanism, names: Sequence[str], doubtful: float = 0.0) -> Program:
    """The scans of some quantities of ALGORITHMS.

    Inputs and outputs are as `quantities.traced` has them; a pivot is in doubt below the part
    `doubtful` of the joint's usual inertia.
    """
    with Graph(), without_collection():
        bodies = _Bodies(mechanism)
        scale = np.zeros(mechanism.nv)
        if "forward_dynamics" in names:
            if doubtful:
                scale = doubtful * _usual_inertias(bodies)
            scale[[k for _, _, k, _ in undetermined(bodies.tree, mechanism.neutral().tolist())]] = (
                ALWAYS
            )
        return _built(bodies, {name: ALGORITHMS[name] for name in names}, scale)[1]


def rolled_factors(mechanism: Mechanism) -> Program:
    """Scans of L, D and L^-1 b, L^-T b with M = L D L^T, an item each at the end of the program.

    Inputs are q and the vector b (`tau`), outputs 1 / D and both products.
    """
    with Graph(), without_collection():
        bodies = _Bodies(mechanism)
        return _built(bodies, FACTORS, np.zeros(mechanism.nv))[1]


class PathScans(NamedTuple):
    """Loops for the motion of the last body of a path, with its columns about the path's origin.

    program : outputs are `motion`, of the entries that are not 0, and vectors `columns`
    structure : entries of `MOTION` that are not 0
    filled : entries of each vector that are not 0
    """

    program: Program
    structure: Structure
    filled: Mapping[str, np.ndarray]


def rolled_path(tree: Tree, nq: int, path: Sequence[int], at_rest: bool) -> PathScans:
    """The loops for a path of bodies, the first of which the carrier of the motion carries."""
    joints = [tree.joint[k] for k in path]
    n = len(path)
    alone = tree.replace(
        parent=(-1, *range(n)),
        joint=(None, *joints),
        inertia=(NO_INERTIA,) * (n + 1),
        place={},
    )
    bodies = _Bodies(SimpleNamespace(nq=nq, nv=tree.nv, quaternions={}), alone)
    algorithm = {"path": PATH_AT_REST if at_rest else PATH}
    with Graph(), without_collection():
        builder, program = _built(bodies, algorithm, np.zeros(tree.nv))
    structure = dict(builder.stored.shape[n])["motion"]
    place = int(builder.stored.places["motion"][n])
    last = Register("motion", (sum(structure),), place)
    vectors = [Register(name, (tree.nv,), at) for name, at in builder.columns.items()]
    return PathScans(replace(program, outputs=(last, *vectors)), structure, builder.filled)


def _usual_inertias(bodies: _Bodies) -> np.ndarray:
    """Largest diagonal entries of the mass matrix at some random states."""
    states = np.array([bodies.mechanism.random_state(seed)[0] for seed in range(STATES)])
    tree, (q,), pack = bodies.mechanism.at(q=states)
    return np.asarray(pack(composite_diagonal(tree, q))).max(axis=0, initial=0.0)


def _built(
    bodies: _Bodies, algorithms: Mapping[str, Algorithm], scale: np.ndarray
) -> tuple[_Builder, Program]:
    """A builder and its program, of fine kinds of bodies unless these take too many steps."""
    try:
        builder = _Builder(bodies, algorithms, scale, False)
        return builder, builder.built()
    except _TooManySteps:
        builder = _Builder(bodies, algorithms, scale, True)
        return builder, builder.built()


class _TooManySteps(Exception):
    """Fine kinds would take too many steps."""


class _Bodies:
    """The moving bodies of a mechanism, sorted finely and coarsely."""

    def __init__(self, mechanism: Any, tree: Tree | None = None):
        self.mechanism = mechanism
        self.tree = mechanism.tree() if tree is None else tree
        joints = self.tree.joint[1:]
        self.at_q = np.array(
            [0, *(j.at_q.start for j in joints)]
        )  # first entries by body; 0 is the base
        self.at_v = np.array([0, *(j.dof.start for j in joints)])
        self.children = np.bincount(self.tree.parent[1:], minlength=self.tree.n + 1).tolist()

    @cached_property
    def fine(self) -> tuple[list[Kind], list[tuple[int, int]]]:
        """Bodies sorted into kinds that differ in numbers alone."""
        return sorted_bodies(self.tree, FINE)

    @cached_property
    def coarse(self) -> tuple[list[Kind], list[tuple[int, int]]]:
        """Bodies sorted into fewer kinds, with more entries each."""
        found = sorted_bodies(self.tree, ALIGNED)
        return found if len(found[0]) <= MAX_KINDS else sorted_bodies(self.tree, OBLIQUE)


class _Builder:
    """Lays out the memory and makes the scans."""

    def __init__(
        self, bodies: _Bodies, algorithms: Mapping[str, Algorithm], scale: np.ndarray, coarse: bool
    ):
        self.bodies, self.tree, self.algorithms, self.scale, self.coarse = (
            bodies,
            bodies.tree,
            algorithms,
            scale,
            coarse,
        )
        self.kinds, self.place = bodies.coarse if coarse else bodies.fine
        mechanism = bodies.mechanism
        lengths = {"q": mechanism.nq, "qd": mechanism.nv, "qdd": mechanism.nv, "tau": mechanism.nv}
        wanted = {name for a in algorithms.values() for name in a.inputs}
        self.inputs = tuple(Port(name, (n,)) for name, n in lengths.items() if name in wanted)
        self.outputs = [
            Port(name, () if a.single else (mechanism.nv,)) for name, a in algorithms.items()
        ]
        if "forward_dynamics" in algorithms or mechanism.quaternions:
            self.outputs.append(Port(STATUS, ()))
        self.size = 0
        self.at = {port.name: self.taken(port.size) for port in self.inputs}
        first = self.size  # of what is zero when a block begins
        self.zeros = self.taken(
            max(one.width for a in algorithms.values() for one in a.passes) if coarse else 0
        )
        self.out = {port.name: self.taken(1) for port in self.outputs if not port.shape}
        self.cleared = slice(first, self.size)
        for name, a in algorithms.items():
            if not a.single:  # a result alone takes the place of the vector that it answers
                over = (
                    a.inputs[-1] if len(algorithms) == 1 and a.inputs[-1] in ("qdd", "tau") else ""
                )
                self.out[name] = self.at[over] if over else self.taken(mechanism.nv)
        names = [name for a in algorithms.values() for name in a.columns]
        self.columns = {name: self.taken(mechanism.nv) for name in names}
        self.filled = {name: np.zeros(mechanism.nv, dtype=bool) for name in names}
        self.stored = _Stored(self.tree.n)
        self.turn = np.full(
            mechanism.nq, -1
        )  # places of sine and cosine by entry of q; -1: none are taken

    def taken(self, size: int) -> int:
        """A new stretch of the memory."""
        self.size += size
        return self.size - size

    def turns(self, entries: np.ndarray) -> np.ndarray:
        """Places of sines and cosines of entries of q."""
        fresh = entries[self.turn[entries] < 0]
        self.turn[fresh] = self.taken(2 * len(fresh)) + 2 * np.arange(len(fresh))
        return self.turn[entries]

    def built(self) -> Program:
        """The program of all algorithms."""
        tables: list[BlockTable] = []
        scans = []
        for name, algorithm in self.algorithms.items():
            if not algorithm.continues:
                self.stored = _Stored(self.tree.n)
            for one in algorithm.passes:
                begins = one is algorithm.passes[0] and not algorithm.continues
                steps, order = _Scanning(self, name, one, self.stored, begins).scan()
                scans.append(Scan(order + [len(tables), 0]))
                tables += steps
        angles = np.flatnonzero(self.turn >= 0)
        turns = np.stack([self.at["q"] + angles, self.turn[angles], self.turn[angles] + 1], axis=1)
        items: list[Item] = [Turns(turns)] if len(turns) else []
        if self.cleared.stop > self.cleared.start:
            items.append(Clear(self.cleared.start, self.cleared.stop))
        return Program(
            tuple([Register(*port, self.at[port.name]) for port in self.inputs]),
            tuple([Register(*port, self.out[port.name]) for port in self.outputs]),
            self.size,
            tuple(tables),
            (*items, *scans),
        )


class _Stored:
    """Data that the passes of an algorithm store for each body: its shape, and its places by name."""

    def __init__(self, n: int):
        self.shape: list[Shape] = [()] * (n + 1)
        self.places: dict[str, np.ndarray] = {}


class _Trace(NamedTuple):
    """Results of a step, and which entries of them are not zero."""

    kind: Kind
    given: Structure | None
    shape: Shape
    carried: list[Any]
    structure: Structure  # of what it hands on
    stored: dict[str, list[Any]]
    structures: dict[str, Structure]
    after: Shape  # of all that is stored then


@dataclass(eq=False)
class _Group:
    """A step in the making: its block, its bodies with the rows of their kind's numbers, places
    of what is handed on.
    """

    number: int
    trace: _Trace
    block: Block
    angles: tuple[int, ...]
    bodies: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    handed: list[tuple[int, int, int]] = field(
        default_factory=list
    )  # where it is read, stored, and added to


class _Scanning:
    """A pass of an algorithm as a scan."""

    def __init__(
        self, builder: _Builder, name: str, one: Pass, stored: _Stored, checks_quaternions: bool
    ):
        self.b, self.tree, self.one, self.stored = builder, builder.tree, one, stored
        self.single = builder.algorithms[name].single
        self.checks_quaternions = checks_quaternions
        self.vectors = {
            "last" if x in ("qdd", "tau") else x: builder.at[x]
            for x in builder.algorithms[name].inputs
        }
        self.out = builder.out[name]
        self.number: dict[Any, int] = {}  # of a trace, by kind and what it is given
        self.traces: list[_Trace] = []
        self.groups: dict[Any, _Group] = {}
        self.order: list[tuple[int, int]] = []
        self.free: dict[int, list[int]] = {}  # stretches given back, by size
        self.read: Structure = ()  # entries of what is handed on that are of use

    def scan(self) -> tuple[list[BlockTable], np.ndarray]:
        """Tables of the steps, and the order of their rows."""
        if self.one.outward:
            self._outward()
        else:
            self._inward()
        tables = [self._table(group) for group in self.groups.values()]
        return tables, np.array(self.order, dtype=np.int64).reshape(-1, 2)

    def _outward(self) -> None:
        """A body's values are kept until its last child has read them, which may then take their
        place.
        """
        traces: list[Any] = [None] * (self.tree.n + 1)
        for i in self.tree.outward():
            j = self.tree.parent[i]
            traces[i] = self._traced(i, self.traces[traces[j]].structure if j else None)
        handed = self._of_use([trace.structure for trace in self.traces])
        waiting = list(self.b.bodies.children)
        at = [0] * (self.tree.n + 1)
        for i in self.tree.outward():
            j = self.tree.parent[i]
            waiting[j] -= 1
            if j and not waiting[j]:
                self._give_back(at[j], handed[traces[j]])
            own = handed[traces[i]] if waiting[i] or self.b.coarse else ()
            at[i] = self._taken(own)
            self._put(i, traces[i], own, False, (at[j], at[i], 0))

    def _inward(self) -> None:
        """The first child of a body stores what it hands to it, the others add to that."""
        sums: list[Structure | None] = [None] * (self.tree.n + 1)
        traces: list[Any] = [None] * (self.tree.n + 1)
        for i in self.tree.inward():
            traces[i] = self._traced(i, (True,) * self.one.width if self.b.coarse else sums[i])
            structure = self.traces[traces[i]].structure
            j = self.tree.parent[i]
            before = sums[j] if j else structure
            if before is not structure:
                sums[j] = (
                    structure
                    if before is None
                    else tuple([a or b for a, b in zip(before, structure, strict=True)])
                )
        handed = self._of_use([structure or () for structure in sums])
        at: dict[int, int] = {}
        for i in self.tree.inward():
            j = self.tree.parent[i]
            zeros = self.b.zeros
            own = at.get(i, zeros)
            before = at.get(j, zeros)
            added = bool(j) and (self.b.coarse or j in at)
            if i in at:
                self._give_back(own, handed[i])
            if j and j not in at:
                at[j] = self._taken(handed[j])
            self._put(i, traces[i], handed[j] if j else (), added, (own, at.get(j, 0), before))

    def _of_use(self, structures: Sequence[Structure]) -> list[Structure]:
        """The structures without entries that no result depends on."""
        reading = [
            (_dependence(t.carried, t.given), _dependence(sum(t.stored.values(), []), t.given))
            for t in self.traces
        ]
        read = [False] * self.one.width
        found = {entry for _, by_stored in reading for entries in by_stored for entry in entries}
        while found:
            for entry in found:
                read[entry] = True
            found = {
                entry
                for by_handed, _ in reading
                for handed, entries in enumerate(by_handed)
                if read[handed]
                for entry in entries
                if not read[entry]
            }
        self.read = tuple(read)
        known = {
            s: tuple([a and b for a, b in zip(s, read, strict=True)]) if s else ()
            for s in set(structures)
        }
        return [known[s] for s in structures]

    def _taken(self, structure: Structure) -> int:
        """A stretch for the entries that are not zero, used again if one was given back."""
        size = sum(structure)
        known = self.free.get(size)
        return known.pop() if known else self.b.taken(size)

    def _give_back(self, place: int, structure: Structure) -> None:
        self.free.setdefault(sum(structure), []).append(place)

    # --- one body ---

    def _traced(self, i: int, given: Structure | None) -> int:
        """Number of the trace of the body's kind for what it is given."""
        key = (self.b.place[i][0], given, self.stored.shape[i])
        number = self.number.get(key)
        if number is None:
            if not self.b.coarse and len(self.traces) == MAX_STEPS:
                raise _TooManySteps
            number = self.number[key] = len(self.traces)
            self.traces.append(self._trace(self.b.kinds[key[0]], given, key[2]))
        return number

    def _trace(self, kind: Kind, given: Structure | None, shape: Shape) -> _Trace:
        joint = kind.joint
        body = BodyView(
            kind.tree,
            [*vector_of_symbols("q", joint.type.nq)],
            [*vector_of_symbols("qd", joint.type.nv)],
            [*vector_of_symbols("last", joint.type.nv)],
            None if given is None else _opened("carried", given),
            {name: _opened(name, structure) for name, structure in shape},
        )
        token = guards.set([])
        try:
            found = self.one.step(body)
            pivots = guards.get() or []
        finally:
            guards.reset(token)
        stored = found.stored | self._status(kind, body, pivots)
        if self.single:
            stored["total"] = [vector_of_symbols("total", 1)[0] + found.total]
        structures = {name: self._stored_structure(name, x) for name, x in stored.items()}
        apart = {STATUS, "total", *self.b.columns}
        after = dict(shape) | {name: s for name, s in structures.items() if name not in apart}
        return _Trace(
            kind,
            given,
            shape,
            found.carried,
            self._structure(found.carried),
            stored,
            structures,
            tuple(after.items()),
        )

    def _status(
        self, kind: Kind, body: BodyView, pivots: Iterable[tuple[int, Any]]
    ) -> dict[str, list[Any]]:
        """The status after a look at this body; the first one that is not 0 stays."""
        at_q, at_v = kind.starts
        sound = []
        if self.checks_quaternions and (k := kind.joint.type.quaternion_at) is not None:
            sound.append(
                (
                    -1 - (at_q + k),
                    absolute(sum(x * x for x in body.q[k : k + 4]) - 1) < QUATERNION_TOLERANCE,
                )
            )
        sound += [(at_v + (1 + k), constant(pivot) > kind.scales[k]) for k, pivot in pivots]
        status: Any = vector_of_symbols(STATUS, 1)[0]
        for code, condition in sound:
            status = where(equal(status, 0) & ~condition, code, status)
        return {STATUS: [status]} if sound else {}

    def _stored_structure(self, name: str, values: Sequence[Any]) -> Structure:
        """Entries that are stored: of a joint's part of a vector, all or none."""
        if name == "out":
            return (True,) * len(values)
        own = self._structure(values)
        return (any(own),) * len(own) if name in self.b.columns else own

    def _structure(self, values: Iterable[Any]) -> Structure:
        return tuple([self.b.coarse or not known_zero(x) for x in values])

    # --- one step ---

    def _put(
        self, i: int, trace: int, handed: Structure, added: bool, places: tuple[int, int, int]
    ) -> None:
        """Add body i to the step of its trace that hands on these entries, added to what is there
        or not.
        """
        group = self.groups.get((trace, handed, added))
        if group is None:
            block, angles = self._block(self.traces[trace], handed, added)
            group = self.groups[trace, handed, added] = _Group(
                len(self.groups), self.traces[trace], block, angles
            )
        self.order.append((group.number, len(group.bodies)))
        group.bodies.append(i)
        group.rows.append(self.b.place[i][1])
        group.handed.append(places)
        self.stored.shape[i] = group.trace.after

    def _block(
        self, trace: _Trace, handed: Structure, added: bool
    ) -> tuple[Block, tuple[int, ...]]:
        """The block of a step, and the entries of its q that sines and cosines are taken of."""
        nq, nv = trace.kind.joint.type.nq, trace.kind.joint.type.nv
        sizes = {"q": nq, "qd": nv, "last": nv, "sum": sum(handed), STATUS: 1, "total": 1}
        sizes |= {name: sum(structure) for name, structure in trace.shape}
        given = zip(_opened("carried", trace.given), self.read, strict=True) if trace.given else ()
        inputs: dict[str, Any] = {
            "numbers": trace.kind.symbols,
            "carried": [x for x, read in given if read and isinstance(x, Expr)],
        }
        inputs |= {name: vector_of_symbols(name, size) for name, size in sizes.items()}
        on = _entries(trace.carried, handed)
        outputs = {"on": [x + s for x, s in zip(on, inputs["sum"], strict=True)] if added else on}
        outputs |= {
            name: _entries(values, trace.structures[name]) for name, values in trace.stored.items()
        }
        return turned(
            block_of(inputs, {name: values for name, values in outputs.items() if values}), "q"
        )

    def _table(self, group: _Group) -> BlockTable:
        """The table of a step's bodies."""
        bodies = np.array(group.bodies)
        kind = group.trace.kind
        b = self.b
        at_v = b.bodies.at_v[bodies]
        scales = b.scale[at_v[:, None] + np.arange(kind.joint.type.nv)]
        block, numbers = settled(group.block, np.hstack([kind.numbers[group.rows], scales]))
        block = pruned(block)
        places = self._places(group, bodies)
        names = [p.name for p in (*block.inputs[1:], *block.outputs)]
        table = (
            np.stack([places[name] for name in names], axis=1)
            if names
            else np.zeros((len(bodies), 0), dtype=np.int64)
        )
        return BlockTable(block, table, numbers)

    def _places(self, group: _Group, bodies: np.ndarray) -> dict[str, np.ndarray]:
        """Places of the ports of a step's bodies, by name; values that are stored get new ones."""
        trace = group.trace
        b = self.b
        count = len(bodies)
        at_q = b.bodies.at_q[bodies]
        at_v = b.bodies.at_v[bodies]
        places = dict(zip(("carried", "on", "sum"), np.array(group.handed).T, strict=True))
        for name, start in self.vectors.items():
            places[name] = start + (at_q if name == "q" else at_v)
        places["out"] = self.out + at_v
        places["total"] = np.full(count, self.out)
        places[STATUS] = np.full(count, b.out.get(STATUS, 0))
        places |= {name: start + at_v for name, start in b.columns.items()}
        for entry in group.angles:
            places[turn_of(entry)] = b.turns(at_q + entry)
        for name, structure in trace.structures.items():
            if name in b.columns:
                b.filled[name][at_v[:, None] + np.arange(len(structure))] = any(structure)
            if name not in places:
                size = sum(structure)
                stored = self.stored.places.setdefault(
                    name, np.zeros(self.tree.n + 1, dtype=np.int64)
                )
                stored[bodies] = b.taken(size * count) + size * np.arange(count)
        for name, _ in trace.after:
            if name != "out":
                places[name] = self.stored.places[name][bodies]
        return places


def _opened(name: str, structure: Structure) -> list[Any]:
    """Values with zeros where they are known to be."""
    symbols = iter(vector_of_symbols(name, sum(structure)))
    return [next(symbols) if s else 0.0 for s in structure]


def _entries(values: Sequence[Any], structure: Structure) -> list[Any]:
    """The entries that a structure has."""
    return [x for x, s in zip(values, structure, strict=True) if s] if structure else []


def _dependence(values: Iterable[Any], carried: Structure | None) -> list[list[int]]:
    """Entries of the carried data on which each value depends."""
    entry = {x: k for k, x in enumerate(_opened("carried", carried or ())) if isinstance(x, Expr)}
    return [
        [entry[s] for s in free_symbols(x) if s in entry] if isinstance(x, Expr) else []
        for x in values
    ]
