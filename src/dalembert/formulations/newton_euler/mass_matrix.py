"""Mass matrix by composite rigid bodies, and its inverse."""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.formulations.newton_euler.line_dynamics import line_inertia
from dalembert.model.mechanism import Mechanism
from dalembert.model.pivots import PivotCheck
from dalembert.model.tree import Tree
from dalembert.spatial.arrays import Array, Values
from dalembert.spatial.inertias import Inertia
from dalembert.spatial.ldl import factorised, inverted
from dalembert.spatial.motion_force import Force
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Scalar


def composite_step(parent: Inertia, X: Transform, composite: Inertia) -> Inertia:
    """Composite inertia of the parent with a child's composite body added."""
    return parent + composite.to_parent(X)


def mass_matrix(mechanism: Mechanism, q: Values) -> Array:
    """Joint-space inertia by composite rigid bodies, rotors included.

        T = 1/2 qd^T M(q) qd

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    M : (nv, nv) or (N, nv, nv) array
        Symmetric [kg m^2, kg m, kg]; positive definite unless a joint moves no inertia.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    References
    ----------
    Featherstone, Rigid Body Dynamics Algorithms (2008), Table 6.2.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.mass_matrix(arm, [0.3, -0.2]).round(3)
    array([[2.647, 0.823],
           [0.823, 0.333]])
    """
    tree, (q,), pack = mechanism.at(q=q)
    return pack(composite_mass_matrix(tree, q), shape=(tree.nv, tree.nv))


def composite_mass_matrix(tree: Tree, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """The same on scalars."""
    M: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    for full, entries in zip(M, mass_matrix_entries(tree, q), strict=True):
        for column, value in entries.items():
            full[column] = value
    return M


def mass_matrix_entries(tree: Tree, q: Sequence[Scalar]) -> list[dict[int, Scalar]]:
    """Rows of the same by column, without entries between bodies of different branches."""
    M: list[dict[int, Scalar]] = [{} for _ in range(tree.nv)]
    composite = list(tree.beside_lines)
    X = {i: tree.joint[i].placement(q) for i in tree.bodies}
    S = {i: tree.joint[i].subspace(q) for i in tree.bodies}

    def add(row, column, value):
        """Add a value to an entry."""
        M[row][column] = M[row].get(column, 0.0) + value

    outboard: list[dict[int, Force]] = [{} for _ in composite]  # by column, in the body's axes
    for line in tree.lines:
        j, joint = tree.parent[line.bodies[0]], tree.joint[line.bodies[0]]
        inertia, forces, own = line_inertia(line, joint, q)
        composite[j] = composite[j] + inertia
        for r, row in enumerate(joint.dof):
            _add(outboard[j], row, forces[r])
            for c, column in enumerate(joint.dof):
                add(row, column, own[r][c])
    for i in reversed(tree.bodies):
        rows = list(zip(tree.joint[i].dof, S[i], strict=True))
        for column, F in outboard[i].items():
            for row, r in rows:
                value = F.dot(r)
                add(row, column, value)
                add(column, row, value)  # a follower and its leader share an entry: twice
        for b, (column, s) in enumerate(rows):
            F = composite[i].momentum(s)  # force for a unit acceleration of this freedom
            for row, r in rows[: b + 1]:
                value = F.dot(r)
                add(row, column, value)
                if row != column:
                    add(column, row, value)
            _add(outboard[i], column, F)
        if j := tree.parent[i]:
            for column, F in outboard[i].items():
                _add(outboard[j], column, X[i].force_to_parent(F))
            composite[j] = composite_step(composite[j], X[i], composite[i])
    for k, rotor in enumerate(tree.rotor):
        add(k, k, rotor)
    return M


def _add(forces: dict[int, Force], column: int, force: Force) -> None:
    """Add the force of a column: of followers and sections several bodies have one."""
    forces[column] = forces[column] + force if column in forces else force


def composite_diagonal(tree: Tree, q: Sequence[Scalar]) -> list[Scalar]:
    """Diagonal of the mass matrix on scalars, in O(n)."""
    diagonal = list(tree.rotor)
    composite = list(tree.inertia)
    for i in tree.inward():
        joint = tree.joint[i]
        for k, s in zip(joint.dof, joint.subspace(q), strict=True):
            diagonal[k] = diagonal[k] + composite[i].momentum(s).dot(s)
        if j := tree.parent[i]:
            composite[j] = composite_step(composite[j], joint.placement(q), composite[i])
    return diagonal


def inverse_mass_matrix(mechanism: Mechanism, q: Values) -> Array:
    """Inverse of the mass matrix, by its factors M = L^T D L (zeros of branches are kept).

    Parameters
    ----------
    mechanism : Mechanism
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].

    Returns
    -------
    (nv, nv) or (N, nv, nv) array
        Symmetric [1/(kg m^2), 1/(kg m), 1/kg].

    Raises
    ------
    SingularMassMatrixError
        The inertia about a joint is not positive; joint and body are named. Not checked on
        expressions.
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length or an entry that is not finite; a quaternion is not of unit
        length.

    References
    ----------
    Featherstone, Rigid Body Dynamics Algorithms (2008), section 6.5.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> da.inverse_mass_matrix(arm, [0.3, -0.2]).round(3)
    array([[ 1.631, -4.03 ],
           [-4.03 , 12.954]])
    """
    tree, (q,), pack = mechanism.at(q=q)
    M = composite_mass_matrix(tree, q)
    factors = factorised(M, PivotCheck.of_tree(tree, q, lambda: M))
    return pack(inverted(factors), shape=(tree.nv, tree.nv))
