"""Forces of passivity-based control: the Coriolis matrix times a velocity that is not the
mechanism's, and its regressor.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from dalembert.formulations.newton_euler.coriolis import field_wrench, subspace_derivative
from dalembert.formulations.newton_euler.inverse import inward_step
from dalembert.model.mechanism import Mechanism
from dalembert.model.tree import Tree
from dalembert.spatial.arrays import Array, Values
from dalembert.spatial.inertias import HALF, Inertia
from dalembert.spatial.motion_force import NO_FORCE, NO_MOTION, Motion, combined
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import IDENTITY, ZERO, ZERO_MATRIX, Matrix, Scalar, Vector


class Field(NamedTuple):
    """Terms of a body after the outward pass: placement and subspace of its joint, its velocity,
    and the reference's field.

    s is the twist that the reference velocities give the body, Ds its time derivative seen from the
    inertial frame.
    """

    X: Transform
    S: Sequence[Motion]
    v: Motion
    s: Motion
    Ds: Motion


def reference_force(mechanism: Mechanism, q: Values, qd: Values, qd_r: Any, qdd_r: Any) -> Array:
    """Joint forces of passivity-based control, in one recursion (O(n)).

        tau = M(q) qdd_r + C(q, qd) qd_r + g(q)

    with the matrix C of `coriolis_matrix`, which is not formed: C(q, qd) qd_r is the inverse
    dynamics of the acceleration field d/dt (sum_j qd_r,j X_j r). Rotors are part of it; springs,
    friction and external forces are not.

    Parameters
    ----------
    q : (nq,) or (N, nq) array
        Coordinates [rad, m, unit quaternions].
    qd, qd_r, qdd_r : (nv,) or (N, nv) array
        Velocities; velocities and accelerations of reference [rad/s, m/s; rad/s^2, m/s^2].

    Returns
    -------
    tau : (nv,) or (N, nv) array
        [N m, N]; for qd_r = qd the inverse dynamics of qdd_r.

    Raises
    ------
    ShapeError, ValueError, QuaternionError

    References
    ----------
    Slotine and Li, On the adaptive control of robot manipulators (1987), eq. 4; Niemeyer and
    Slotine, Performance in adaptive manipulator control (1991): the recursion. This field:
    docs/newton_euler.md.
    """
    tree, (q, qd, qd_r, qdd_r), pack = mechanism.at(q=q, qd=qd, qd_r=qd_r, qdd_r=qdd_r)
    fields = _fields(tree, q, qd, qd_r, qdd_r)
    f = {0: NO_FORCE}
    tau: list[Scalar] = [r * a for r, a in zip(tree.rotor, qdd_r, strict=True)]
    for i in tree.outward():
        f[i] = field_wrench(tree.inertia[i], *fields[i][2:])
    for i in tree.inward():
        inward_step(tree, i, fields[i].X, fields[i].S, f, tau)
    return pack(tau)


def reference_regressor(
    mechanism: Mechanism, q: Values, qd: Values, qd_r: Any, qdd_r: Any
) -> Array:
    """Regressor of `reference_force`, which is linear in the inertial parameters theta of
    `regressor_parameters`.

        M(q) qdd_r + C(q, qd) qd_r + g(q) = Y(q, qd, qd_r, qdd_r) theta + rotors qdd_r

    Arguments and errors as for `reference_force`. Returns Y (nv, 10 n) or (N, nv, 10 n); for qd_r =
    qd it is `regressor`.

    References
    ----------
    Slotine and Li (1987), eq. 6; the wrenches of a body as in `regressor`.
    """
    tree, (q, qd, qd_r, qdd_r), pack = mechanism.at(q=q, qd=qd, qd_r=qd_r, qdd_r=qdd_r)
    fields = _fields(tree, q, qd, qd_r, qdd_r)
    Y: list[list[Scalar]] = [[0.0] * (10 * tree.n) for _ in range(tree.nv)]
    for i in tree.outward():
        columns = [field_wrench(unit, *fields[i][2:]) for unit in unit_inertias()]
        k = i
        while k:  # from the body to the base
            for row, s in zip(tree.joint[k].dof, fields[k].S, strict=True):
                for c, f in enumerate(columns, start=10 * (i - 1)):
                    Y[row][c] = Y[row][c] + f.dot(s)
            columns, k = [fields[k].X.force_to_parent(f) for f in columns], tree.parent[k]
    return pack(Y, shape=(tree.nv, 10 * tree.n))


@cache
def unit_inertias() -> tuple[Inertia, ...]:
    """Inertias with one of the parameters m, m c, I (xx, xy, yy, xz, yz, zz) 1 and the others 0."""
    found = [Inertia(1, ZERO, ZERO_MATRIX)]
    found += [
        Inertia(0, Vector(1 if j == k else 0 for j in range(3)), ZERO_MATRIX) for k in range(3)
    ]
    for a, b in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)):
        tensor = Matrix(
            [[1 if (i, j) in ((a, b), (b, a)) else 0 for j in range(3)] for i in range(3)]
        )
        found.append(Inertia(0, ZERO, IDENTITY * (tensor.trace * HALF) - tensor))
    return tuple(found)


def _fields(tree: Tree, q: Any, qd: Any, qd_r: Any, qdd_r: Any) -> list[Field]:
    """The outward pass; gravity enters as an acceleration of the base upward."""
    base = Field(None, (), NO_MOTION, NO_MOTION, Motion(ZERO, -tree.gravity))  # type: ignore[arg-type]
    fields = [base]
    for i in tree.outward():
        joint = tree.joint[i]
        parent = fields[tree.parent[i]]
        X = joint.placement(q)
        S = joint.subspace(q)
        v = X.motion_to_child(parent.v) + combined(S, joint.velocities(qd))
        s = X.motion_to_child(parent.s) + combined(S, joint.velocities(qd_r))
        Ds = X.motion_to_child(parent.Ds) + combined(S, joint.velocities(qdd_r))
        Ds = Ds + combined(subspace_derivative(joint, q, qd, S, v), joint.velocities(qd_r))
        fields.append(Field(X, S, v, s, Ds))
    return fields
