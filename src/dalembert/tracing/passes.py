"""Passes of each quantity that is compiled as scans over bodies: the part of a body, in the
foundation's step functions.

A pass goes outward (parents before children) or inward. Its step sees one body with what its parent
carries to it, or with the sum of what its children carry to it, and with what earlier passes stored
for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import (
    dataclass,
    field,
)
from typing import NamedTuple

from dalembert.formulations.newton_euler.articulated_factors import JointFactors
from dalembert.formulations.newton_euler.body_rates import (
    Rates,
    acceleration_field,
    base_rates,
    body_wrench,
    outward_step,
)
from dalembert.formulations.newton_euler.forward import (
    Articulated,
    acceleration_step,
    articulated_step,
    freed_inertia,
)
from dalembert.formulations.newton_euler.inverse import (
    gravity_wrench,
    inward_step,
    joint_motion,
)
from dalembert.kinematics.forces import (
    passive,
    spring_energy,
)
from dalembert.kinematics.frame_motion import (
    OriginMotion,
    joint_step,
)
from dalembert.model.pivots import PivotCheck
from dalembert.model.tree import Tree
from dalembert.spatial.inertias import (
    ArticulatedInertia,
    Inertia,
)
from dalembert.spatial.ldl import (
    Factors,
    unchecked,
)
from dalembert.spatial.motion_force import (
    NO_FORCE,
    NO_MOTION,
    Force,
    Motion,
    combined,
)
from dalembert.spatial.rotations import Dense
from dalembert.spatial.sparse_ldl import SparseFactors
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import (
    ZERO,
    Matrix,
    Scalar,
    Vector,
)
from dalembert.tracing.bodies import (
    PARENT,
    SELF,
)

Scalars = list[Scalar]


@dataclass
class BodyView:
    """A body in a tree of its own, its joint's entries of the vectors, the data from its neighbour
    (None: there is none), and the data stored by earlier passes.
    """

    tree: Tree
    q: Scalars
    qd: Scalars
    last: Scalars  # qdd or tau
    carried: Scalars | None
    stored: dict[str, Scalars] = field(default_factory=dict)

    @property
    def X(self) -> Transform:
        """Placement in the parent."""
        return self.tree.joint[SELF].placement(self.q)

    @property
    def S(self) -> tuple[Motion, ...]:
        """Motion subspace of its joint."""
        return self.tree.joint[SELF].subspace(self.q)

    @property
    def inertia(self) -> Inertia:
        """Inertia about its origin, with what is fixed to it."""
        return self.tree.inertia[SELF]


class Found(NamedTuple):
    """Data that a step hands to the children, or to the parent, and that it stores; 'out' are
    entries of the result.
    """

    carried: Scalars
    stored: dict[str, Scalars]
    total: Scalar = 0.0  # the body's term of a result that is one number


class Pass(NamedTuple):
    """Direction, number of values that bodies hand on, and the step of one body."""

    outward: bool
    width: int
    step: Callable[[BodyView], Found]


# --- inverse dynamics and its kin: motion outward, forces inward ----------------------------------------------------------


def _wrench_of_motion(body: BodyView, gravity: Vector, accelerations: Scalars | None) -> Found:
    if body.carried is None:
        parent = base_rates(gravity)
    else:
        w, dw, a = (Vector(body.carried[k : k + 3]) for k in (0, 3, 6))
        parent = Rates(w, dw, a, acceleration_field(w, dw))
    _, velocity, rate = joint_motion(body.tree, SELF, body.q, body.qd, accelerations)
    rates = outward_step(parent, body.X, velocity, rate)
    return Found(
        [*rates.w, *rates.dw, *rates.a], {"wrench": _flat(body_wrench(body.inertia, rates))}
    )


def _of_accelerated(body: BodyView) -> Found:
    return _wrench_of_motion(body, body.tree.gravity, body.last)


def _of_bias(body: BodyView) -> Found:
    return _wrench_of_motion(body, body.tree.gravity, None)


def _of_velocities(body: BodyView) -> Found:
    return _wrench_of_motion(body, ZERO, None)


def _of_gravity(body: BodyView) -> Found:
    up = body.X.R.to_child(-body.tree.gravity if body.carried is None else Vector(body.carried))
    return Found([*up], {"wrench": _flat(gravity_wrench(body.inertia, up))})


def _of_momentum(body: BodyView) -> Found:
    v = _velocity(body)
    return Found([*v.angular, *v.linear], {"wrench": _flat(body.inertia.momentum(v))})


def _collected(body: BodyView) -> Found:
    """The joint's share of the wrenches of the body and all that it carries."""
    f = {SELF: _force(body.stored["wrench"]), PARENT: NO_FORCE}
    if body.carried is not None:
        f[SELF] = f[SELF] + _force(body.carried)
    tau: Scalars = [0.0] * body.tree.nv
    inward_step(body.tree, SELF, body.X, body.S, f, tau)
    return Found(_flat(f[PARENT]), {"out": tau})


def _of_actuators(body: BodyView) -> Found:
    found = _collected(body)
    given = passive(body.tree, body.q, body.qd)
    tau = [
        t + r * a - p
        for t, r, a, p in zip(found.stored["out"], body.tree.rotor, body.last, given, strict=True)
    ]
    return Found(found.carried, {"out": tau})


def _with_rotors(body: BodyView) -> Found:
    found = _collected(body)
    p = [x + r * v for x, r, v in zip(found.stored["out"], body.tree.rotor, body.qd, strict=True)]
    return Found(found.carried, {"out": p})


# --- forward dynamics by articulated bodies ---------------------------------------------------------------------------


def _articulated(body: BodyView) -> Found:
    """Articulated inertia and bias force to the parent; V and D^-1 u are kept."""
    I_A = ArticulatedInertia.of(body.inertia)
    p_A = _force(body.stored["wrench"])
    S = body.S
    X = body.X
    if body.carried is not None:
        I_A, p_A = I_A + _articulated_inertia(body.carried), p_A + _force(body.carried[21:])
    driving = [t + p for t, p in zip(body.last, passive(body.tree, body.q, body.qd), strict=True)]
    u = [x - p_A.dot(s) for x, s in zip(driving, S, strict=True)]

    I_a, p_a, kept = articulated_step(
        body.tree, SELF, PivotCheck.of_tree(body.tree, body.q, list), I_A, p_A, S, u
    )
    stored = {"V": [x for v in kept.V for x in _flat(v)], "out": kept.accelerations}
    if body.tree.parent[SELF] != PARENT:
        return Found([], stored)
    moved = I_a.to_parent(X)
    force = X.force_to_parent(p_a)
    return Found([*_entries_of_inertia(moved), *_flat(force)], stored)


def _accelerated(body: BodyView) -> Found:
    V = tuple(_force(body.stored["V"][k : k + 6]) for k in range(0, len(body.stored["V"]), 6))
    parent = NO_MOTION if body.carried is None else _motion(body.carried)
    a, qdd = acceleration_step(parent, body.X, Articulated(body.S, V, body.stored["out"]))
    return Found([*a.angular, *a.linear], {"out": qdd})


# --- motion along a path of bodies ----------------------------------------------------------------------------------------

COLUMNS = tuple(f"column{k}" for k in range(6))  # of motions about the path's origin


def _on_path(body: BodyView) -> Found:
    return _path_step(body, body.qd)


def _on_path_at_rest(body: BodyView) -> Found:
    return _path_step(body, None)


def _path_step(body: BodyView, qd: Scalars | None) -> Found:
    """Placement in the carrier's axes, and velocity and bias of the origin."""
    if body.carried is None:
        p, parent = ZERO, OriginMotion()
    else:
        p, parent = path_motion(body.carried)
    moved, step = joint_step(body.tree.joint[SELF], body.q, qd, parent)
    p = p + step.arm
    about = [Motion(s.angular, s.linear - s.angular.cross(p)) for s in step.subspace]
    columns = [[*m.angular, *m.linear] for m in about]
    stored = {name: [c[k] for c in columns] for k, name in enumerate(COLUMNS)}
    motion = [*(x for row in moved.R.matrix() for x in row), *p]
    if qd is not None:
        motion += [x for m in (moved.velocity, moved.bias) for v in m for x in v]
    return Found(motion, {**stored, "motion": motion})


def path_motion(x: Scalars) -> tuple[Vector, OriginMotion]:
    """Place of a body's origin and its motion, from the entries that a path hands on."""
    R = Dense(Matrix((x[0:3], x[3:6], x[6:9])))
    if len(x) == 12:
        return Vector(x[9:12]), OriginMotion(R)
    return Vector(x[9:12]), OriginMotion(R, _motion(x[12:18]), _motion(x[18:24]))


# --- factors L D L^T of the mass matrix ---------------------------------------------------------------------------------


def _factored(body: BodyView) -> Found:
    """Articulated inertia to the parent; V and factors of D are kept."""
    I_A = ArticulatedInertia.of(body.inertia)
    if body.carried is not None:
        I_A = I_A + _articulated_inertia(body.carried)
    I_a, V, D = freed_inertia(body.tree, SELF, unchecked, I_A, body.S)
    L = [x for k, row in enumerate(D.L) for x in row[:k]]
    stored = {"V": [x for v in V for x in _flat(v)], "L": L, "out": D.inverse_pivots}
    if body.tree.parent[SELF] != PARENT:
        return Found([], stored)
    return Found(_entries_of_inertia(I_a.to_parent(body.X)), stored)


def _joint_factors(body: BodyView) -> JointFactors:
    """The joint by what `_factored` kept; its pivots are not read again."""
    V = tuple(_force(body.stored["V"][k : k + 6]) for k in range(0, len(body.stored["V"]), 6))
    L = iter(body.stored["L"])
    rows = [[next(L) for _ in range(k)] + [0] * (len(V) - k) for k in range(len(V))]
    return JointFactors(body.X, body.S, V, SparseFactors.of(Factors(rows, [])))


def _collected_factor(body: BodyView) -> Found:
    p = NO_FORCE if body.carried is None else _force(body.carried)
    y, force = _joint_factors(body).inward(p, body.last)
    on_base = body.tree.parent[SELF] != PARENT
    return Found([] if on_base else _flat(force), {"out": y})


def _spread_factor(body: BodyView) -> Found:
    parent = NO_MOTION if body.carried is None else _motion(body.carried)
    x, a = _joint_factors(body).outward(parent, body.last)
    return Found([*a.angular, *a.linear], {"out": x})


def _articulated_inertia(x: Scalars) -> ArticulatedInertia:
    return ArticulatedInertia(
        Matrix.symmetric(*x[:6]), Matrix((x[6:9], x[9:12], x[12:15])), Matrix.symmetric(*x[15:21])
    )


def _entries_of_inertia(inertia: ArticulatedInertia) -> Scalars:
    (xx, _, _), (xy, yy, _), (xz, yz, zz) = inertia.I
    (aa, _, _), (ab, bb, _), (ac, bc, cc) = inertia.M
    coupling = [x for row in inertia.H for x in row]
    return [xx, xy, yy, xz, yz, zz, *coupling, aa, ab, bb, ac, bc, cc]


# --- energies, inertias ---------------------------------------------------------------------------------------------------


def _kinetic(body: BodyView) -> Found:
    v = _velocity(body)
    twice = body.inertia.momentum(v).dot(v)
    for rotor, rate in zip(body.tree.rotor, body.qd, strict=True):
        twice = twice + rotor * rate * rate
    return Found([*v.angular, *v.linear], {}, twice * 0.5)


def _potential(body: BodyView) -> Found:
    """Mass and first moment to the parent, as far as the base, which they are lifted from."""
    m, h = body.inertia.m, body.inertia.h
    if body.carried is not None:
        m, h = m + body.carried[0], h + Vector(body.carried[1:])
    springs = spring_energy(body.tree, body.q, 0)
    moment = body.X.R.to_parent(h) + body.X.p * m
    if body.tree.parent[SELF] == PARENT:
        return Found([m, *moment], {}, springs)
    return Found([], {}, springs - body.tree.gravity.dot(moment))


# --- the quantities -------------------------------------------------------------------------------------------------------


class Algorithm(NamedTuple):
    """Input vectors and passes.

    single : whether the result is one number (else an entry per velocity)
    continues : whether its passes see what those of the algorithm before it stored
    columns : names of stored results of joints that lie in vectors of an entry per velocity
    """

    inputs: tuple[str, ...]
    passes: tuple[Pass, ...]
    single: bool = False
    continues: bool = False
    columns: tuple[str, ...] = ()


ALGORITHMS = {
    "inverse_dynamics": Algorithm(
        ("q", "qd", "qdd"), (Pass(True, 9, _of_accelerated), Pass(False, 6, _of_actuators))
    ),
    "forward_dynamics": Algorithm(
        ("q", "qd", "tau"),
        (Pass(True, 9, _of_bias), Pass(False, 27, _articulated), Pass(True, 6, _accelerated)),
    ),
    "bias_force": Algorithm(("q", "qd"), (Pass(True, 9, _of_bias), Pass(False, 6, _collected))),
    "coriolis_vector": Algorithm(
        ("q", "qd"), (Pass(True, 9, _of_velocities), Pass(False, 6, _collected))
    ),
    "gravity_vector": Algorithm(("q",), (Pass(True, 3, _of_gravity), Pass(False, 6, _collected))),
    "momenta": Algorithm(("q", "qd"), (Pass(True, 6, _of_momentum), Pass(False, 6, _with_rotors))),
    "kinetic_energy": Algorithm(("q", "qd"), (Pass(True, 6, _kinetic),), single=True),
    "potential_energy": Algorithm(("q",), (Pass(False, 4, _potential),), single=True),
}


FACTORS = {
    "inverse_pivots": Algorithm(("q",), (Pass(False, 21, _factored),)),
    "reduced": Algorithm(("q", "tau"), (Pass(False, 6, _collected_factor),), continues=True),
    "outward": Algorithm(("q", "tau"), (Pass(True, 6, _spread_factor),), continues=True),
}


PATH = Algorithm(
    ("q", "qd"), (Pass(True, 24, _on_path),), single=True, continues=True, columns=COLUMNS
)
PATH_AT_REST = Algorithm(
    ("q",), (Pass(True, 12, _on_path_at_rest),), single=True, continues=True, columns=COLUMNS
)


def _velocity(body: BodyView) -> Motion:
    parent = NO_MOTION if body.carried is None else _motion(body.carried)
    return body.X.motion_to_child(parent) + combined(body.S, body.qd)


def _flat(f: Force) -> Scalars:
    return [*f.moment, *f.force]


def _force(x: Scalars) -> Force:
    return Force(Vector(x[:3]), Vector(x[3:6]))


def _motion(x: Scalars) -> Motion:
    return Motion(Vector(x[:3]), Vector(x[3:6]))
