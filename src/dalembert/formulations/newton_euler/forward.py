"""Forward dynamics by articulated bodies."""

from __future__ import annotations

from collections.abc import (
    Mapping,
    Sequence,
)
from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.formulations.newton_euler.body_rates import (
    Rates,
    base_rates,
    body_wrench,
    outward_step,
)
from dalembert.formulations.newton_euler.inverse import required_forces
from dalembert.formulations.newton_euler.line_dynamics import line_forces
from dalembert.formulations.newton_euler.mass_matrix import composite_mass_matrix
from dalembert.formulations.newton_euler.section_groups import (
    SectionGroup,
    freed_group,
)
from dalembert.kinematics.forces import (
    external_wrenches,
    passive,
)
from dalembert.model.mechanism import Mechanism
from dalembert.model.pivots import PivotCheck
from dalembert.model.tree import Tree
from dalembert.spatial.arrays import (
    Array,
    Values,
)
from dalembert.spatial.inertias import ArticulatedInertia
from dalembert.spatial.ldl import (
    Check,
    Factors,
    factorised,
    inverted,
    solved,
)
from dalembert.spatial.motion_force import (
    NO_MOTION,
    Force,
    Motion,
    combined,
)
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import (
    Scalar,
    dot,
)


class Articulated(NamedTuple):
    """Terms of a joint's articulated body for the pass outward: S, V = U D^-1, and D^-1 u."""

    S: tuple[Motion, ...]
    V: tuple[Force, ...]
    accelerations: list[Scalar]  # D^-1 u

    def joint_accelerations(self, a: Motion) -> list[Scalar]:
        """qdd_i = D^-1 u - V^T a, by the acceleration of the body that carries the joint."""
        return [x - v.dot(a) for x, v in zip(self.accelerations, self.V, strict=True)]


def forward_dynamics(
    mechanism: Mechanism, q: Values, qd: Values, tau: Values, external_forces: Any = ()
) -> Array:
    """Accelerations that joint forces produce (articulated bodies, O(n); the inverse of
    `inverse_dynamics`).

        M(q) qdd = tau + passive_force - C(q, qd) qd - g(q) + sum_i J_i(q)^T f_i

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities along the joints' motion subspaces [rad/s, m/s].
    tau : (nv,) or (N, nv) array
        Actuator forces [N m; N for prismatic joints].
    external_forces : sequence of ExternalForce, optional
        Forces on the mechanism [N; N m], each with its frame and axes.

    Returns
    -------
    qdd : (nv,) or (N, nv) array
        Accelerations [rad/s^2, m/s^2]. Coulomb friction of a joint at rest is taken as 0 (it does
        not stick here).

    Raises
    ------
    SingularMassMatrixError
        The inertia about a joint is not positive; joint and body are named. Not checked on
        expressions.
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.
    UnknownNameError
        There is no such link or frame.

    References
    ----------
    Featherstone, Rigid Body Dynamics Algorithms (2008), Table 7.1; mechanisms with followers, whose
    joints are coupled, by the factors of the mass matrix (section 6.5).

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.forward_dynamics(arm, [0.3, -0.2], [1.0, 0.5], [5.0, 1.0]).round(3)
    array([-7.705,  7.688])
    """
    return _accelerations(mechanism, q, qd, tau, external_forces, by_factors=False)


def forward_dynamics_by_factors(
    mechanism: Mechanism, q: Values, qd: Values, tau: Values, external_forces: Any = ()
) -> Array:
    """The same by the factors L^T D L of the mass matrix: O(n^3), but fewer operations for some
    mechanisms of few joints, and operations that wait less for each other.
    """
    return _accelerations(mechanism, q, qd, tau, external_forces, by_factors=True)


def _accelerations(
    mechanism: Mechanism, q: Any, qd: Any, tau: Any, external_forces: Any, by_factors: bool
) -> np.ndarray:
    tree, (q, qd, tau, loads), pack = mechanism.at(
        q=q, qd=qd, tau=tau, external_forces=external_forces
    )
    wrenches = external_wrenches(tree, q, loads)
    driving = [t + p for t, p in zip(tau, passive(tree, q, qd), strict=True)]
    solve = _by_mass_matrix if by_factors or tree.has_followers else _by_articulated_bodies
    return pack(solve(tree, q, qd, driving, wrenches))


def _by_mass_matrix(tree: Tree, q, qd, driving, wrenches: Mapping[int, Force]) -> list[Scalar]:
    bias = required_forces(tree, q, qd, None, tree.gravity, wrenches)
    M = composite_mass_matrix(tree, q)
    factors = factorised(M, PivotCheck.of_tree(tree, q, lambda: M))
    return solved(factors, [t - b for t, b in zip(driving, bias, strict=True)])


def _by_articulated_bodies(
    tree: Tree, q, qd, driving, wrenches: Mapping[int, Force]
) -> list[Scalar]:
    """Accelerations are counted from those of the motion with qdd = 0, so the bias enters as a
    force alone.
    """
    rates = {0: base_rates(tree.gravity)}
    X = {}
    S = {}
    I_A = {}
    p_A = {}
    for i in tree.bodies:  # bias forces, at qdd = 0
        X[i] = tree.joint[i].placement(q)
        S[i] = () if tree.joint[i].is_section else tree.joint[i].subspace(q)
        rates[i] = outward_step(rates[tree.parent[i]], X[i], *tree.joint[i].motion(q, qd, None))
        I_A[i] = ArticulatedInertia.of(tree.beside_lines[i])
        p_A[i] = body_wrench(tree.beside_lines[i], rates[i])
        if i in wrenches:
            p_A[i] = p_A[i] - wrenches[i]

    check = PivotCheck.of_tree(
        tree, q, lambda: composite_mass_matrix(tree, q)
    )  # formed where a pivot looks doubtful
    kept: dict[int, Articulated] = {}
    beams: dict[int, Articulated] = {}
    groups = {first: SectionGroup.of(tree, first, q) for first in tree.sections}
    for i in tree.inward():  # articulated inertias and bias forces
        j, dof = tree.parent[i], tree.joint[i].dof
        if tree.joint[i].is_section:
            if i in groups:
                u, p_s = _beam_forces(tree, groups[i], (q, qd), rates[j], p_A, driving)
                I_a, V, D = freed_group(tree, groups[i], q, I_A, check)
                p_a = p_s + combined(V, u)
                beams[i] = Articulated((), V, [dot(row, u) for row in inverted(D)])
                if j:
                    I_A[j], p_A[j] = I_A[j] + I_a, p_A[j] + p_a
            continue
        u = [driving[k] - p_A[i].dot(s) for k, s in zip(dof, S[i], strict=True)]
        I_a, p_a, kept[i] = articulated_step(tree, i, check, I_A[i], p_A[i], S[i], u)
        if j:
            I_A[j] = I_A[j] + I_a.to_parent(X[i])
            p_A[j] = p_A[j] + X[i].force_to_parent(p_a)

    return _carried_outward(tree, X, kept, beams, groups)


def _carried_outward(
    tree: Tree,
    X: Mapping[int, Transform],
    kept: Mapping[int, Articulated],
    beams: Mapping[int, Articulated],
    groups: Mapping[int, SectionGroup],
) -> list[Scalar]:
    """Accelerations beyond those at qdd = 0."""
    a = {0: NO_MOTION}
    qdd: list[Scalar] = [0.0] * tree.nv
    for i in tree.outward():
        dof = tree.joint[i].dof
        parent = a[tree.parent[i]]
        if i in beams:
            own = beams[i].joint_accelerations(parent)
            a |= groups[i].moved(parent, own)
        elif i in kept:
            a[i], own = acceleration_step(parent, X[i], kept[i])
        else:
            continue
        qdd[dof.start : dof.stop] = own
    return qdd


def _beam_forces(
    tree: Tree,
    group: SectionGroup,
    state: tuple[Sequence[Scalar], Sequence[Scalar]],
    carrier: Rates,
    p_A: Mapping[int, Force],
    driving: Sequence[Scalar],
) -> tuple[list[Scalar], Force]:
    """Driving forces u on the coordinates of a beam beyond the bias, and the bias on its carrier."""
    along, on_carrier = group.along(p_A), group.forces(p_A)
    if group.line is not None:
        joint = tree.joint[group.line.bodies[0]]
        force, own = line_forces(group.line, joint, (*state, None), carrier)
        along = [a + b for a, b in zip(along, own, strict=True)]
        on_carrier = on_carrier + force
    return [driving[k] - b for k, b in zip(group.dof, along, strict=True)], on_carrier


def acceleration_step(
    parent: Motion, X: Transform, kept: Articulated
) -> tuple[Motion, list[Scalar]]:
    """Acceleration of a body from its parent's, and of its joint: qdd_i = D^-1 u - V^T a, a_i = X a
    + S qdd_i.
    """
    a = X.motion_to_child(parent)
    qdd = kept.joint_accelerations(a)
    return a + combined(kept.S, qdd), qdd


def articulated_step(
    tree: Tree,
    i: int,
    check: Check,
    I_A: ArticulatedInertia,
    p_A: Force,
    S: tuple[Motion, ...],
    u: list[Scalar],
) -> tuple[ArticulatedInertia, Force, Articulated]:
    """Inertia and bias force that the articulated body i passes to its parent through its free
    joint.

    U = I_A S,  D = S^T U + rotors,  I_a = I_A - U D^-1 U^T,  p_a = p_A + U D^-1 u
    """
    I_a, V, D = freed_inertia(tree, i, check, I_A, S)
    D_inverse = inverted(D)
    accelerations = [dot(D_inverse[r], u) for r in range(len(S))]
    return I_a, p_A + combined(V, u), Articulated(S, V, accelerations)


def freed_inertia(
    tree: Tree,
    i: int,
    check: Check,
    I_A: ArticulatedInertia,
    S: tuple[Motion, ...],
) -> tuple[ArticulatedInertia, tuple[Force, ...], Factors]:
    """Inertia that the articulated body i passes to its parent, with V = U D^-1 and factors of D."""
    dof = tree.joint[i].dof
    U = tuple(I_A.apply(s) for s in S)
    D = [
        [U[c].dot(S[r]) + (tree.rotor[dof[r]] if r == c else 0) for c in range(len(S))]
        for r in range(len(S))
    ]
    size = I_A.I.trace + I_A.M.trace  # compiled code looks at doubtful states again
    factors = factorised(D, lambda r, pivot: check(dof[r], pivot, size))
    D_inverse = inverted(factors)
    V = tuple(combined(U, [D_inverse[r][c] for r in range(len(S))]) for c in range(len(S)))
    return I_A.minus(U, V, tree.freed(i)), V, factors
