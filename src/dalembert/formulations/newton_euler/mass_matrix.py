"""Mass matrix by composite rigid bodies, and its inverse."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dalembert.expr import Expr
from dalembert.expr.rules import ZERO
from dalembert.model.mechanism import Mechanism
from dalembert.model.pivots import PivotCheck
from dalembert.model.tree import Tree
from dalembert.spatial.arrays import Array, Values
from dalembert.spatial.inertias import Inertia
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
    q : (nq,) or (N, nq) array
        Coordinates [rad, m, unit quaternions].

    Returns
    -------
    M : (nv, nv) or (N, nv, nv) array
        Symmetric [kg m^2, kg m, kg]; positive definite unless a joint moves no inertia.

    Raises
    ------
    ShapeError, ValueError, QuaternionError

    References
    ----------
    Featherstone, Rigid Body Dynamics Algorithms (2008), Table 6.2.
    """
    tree, (q,), pack = mechanism.at(q=q)
    return pack(composite_mass_matrix(tree, q), shape=(tree.nv, tree.nv))


def composite_mass_matrix(tree: Tree, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """The same on scalars."""
    M: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    composite = list(tree.inertia)
    X = [None, *(tree.joint[i].placement(q) for i in tree.outward())]
    S = [(), *(tree.joint[i].subspace(q) for i in tree.outward())]

    def add(row, column, value):
        M[row][column] = M[row][column] + value

    for i in tree.inward():
        for b, (column, s) in enumerate(zip(tree.joint[i].dof, S[i], strict=True)):
            F = composite[i].momentum(s)                        # force for a unit acceleration of this freedom
            for row, r in list(zip(tree.joint[i].dof, S[i], strict=True))[:b + 1]:
                value = F.dot(r)
                add(row, column, value)
                if row != column:
                    add(column, row, value)
            j = i
            while tree.parent[j]:
                F, j = X[j].force_to_parent(F), tree.parent[j]
                for row, r in zip(tree.joint[j].dof, S[j], strict=True):
                    value = F.dot(r)
                    add(row, column, value)
                    add(column, row, value)                     # a follower and its leader share an entry: twice
        if tree.parent[i]:
            composite[tree.parent[i]] = composite_step(composite[tree.parent[i]], X[i], composite[i])
    for k, rotor in enumerate(tree.rotor):
        add(k, k, rotor)
    return M


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

    q : (nq,) or (N, nq) [rad, m]. Returns (nv, nv) or (N, nv, nv), symmetric.

    Raises
    ------
    SingularMassMatrixError
        A pivot of D is not positive: that joint moves no inertia when the joints inboard of it are free.

    References
    ----------
    Featherstone, Rigid Body Dynamics Algorithms (2008), section 6.5.
    """
    tree, (q,), pack = mechanism.at(q=q)
    M = composite_mass_matrix(tree, q)
    factors = factorised(M, PivotCheck(tree, q, lambda: M))
    return pack(inverted(factors), shape=(tree.nv, tree.nv))


def mass_matrix_diagonal(tree: Tree, q: Sequence[Scalar]) -> list[Scalar]:
    """Diagonal of the mass matrix alone, in O(n)."""
    diagonal, composite = list(tree.rotor), list(tree.inertia)
    for i in tree.inward():
        X = tree.joint[i].placement(q)
        for k, s in zip(tree.joint[i].dof, tree.joint[i].subspace(q), strict=True):
            diagonal[k] = diagonal[k] + composite[i].momentum(s).dot(s)
        if j := tree.parent[i]:
            composite[j] = composite_step(composite[j], X, composite[i])
    return diagonal


Rows = list[list[Scalar]]
Factors = tuple[Rows, list[Scalar]]


def factorised(M: list[list[Scalar]], check: Callable[[int, Scalar], None],
               free: Sequence[Scalar] | None = None) -> Factors:
    """M = L^T D L with L unit lower triangular, from the last entry to the first; (L, 1/D).

    check(k, pivot) raises where a pivot is not acceptable. free: 1 of entries that are unknown, 0 of those that are 0 in a
    solution: the factors are then those of M without their rows and columns.
    """
    n = len(M)
    A, L = [list(row) for row in M], [[0.0] * n for _ in range(n)]
    inverse_pivot: list[Scalar] = [0.0] * n
    for k in reversed(range(n)):
        check(k, A[k][k])
        inverse_pivot[k] = (1 if free is None else free[k]) / A[k][k]
        coupled = [i for i in range(k) if not _is_zero(A[k][i])]
        for i in coupled:
            L[k][i] = A[k][i] * inverse_pivot[k]
        for i in coupled:
            for j in range(i + 1):
                A[i][j] = A[i][j] - L[k][i] * A[k][j]
    return L, inverse_pivot


def solved(factors: Factors, b: Sequence[Scalar]) -> list[Scalar]:
    """x with L^T D L x = b."""
    L, inverse_pivot = factors
    x, n = list(b), len(b)
    for k in reversed(range(n)):
        for i in range(k):
            x[i] = x[i] - L[k][i] * x[k]
    for k in range(n):
        x[k] = x[k] * inverse_pivot[k]
        for i in range(k):
            x[k] = x[k] - L[k][i] * x[i]
    return x


def inverted(factors: Factors) -> Rows:
    """Symmetric inverse of L^T D L: (1 - P) D^-1 (1 - P)^T."""
    P, d = couplings(factors), factors[1]
    n = len(P)
    scaled = [[times(-p, x) for p, x in zip(row, d, strict=False)] + [d[k]] for k, row in enumerate(P)]
    upper = {(r, c): total(scaled[c][r], ((-p, x) for p, x in zip(P[r], scaled[c], strict=False)))
             for c in range(n) for r in range(c + 1)}
    return [[upper[min(r, c), max(r, c)] for c in range(n)] for r in range(n)]


def couplings(factors: Factors) -> Rows:
    """Rows of P, strictly lower triangular, with L^-1 = 1 - P; like L it is zero between branches.

    -P_ki is the acceleration of entry k outboard of i while i accelerates by 1 and all outboard of i move freely.
    """
    P: Rows = []
    for row in factors[0]:
        k = len(P)
        P.append([total(row[i], ((-row[j], P[j][i]) for j in range(i + 1, k))) for i in range(k)])
    return P


def total(start: Scalar, products: Iterable[tuple[Scalar, Scalar]]) -> Scalar:
    """The start plus a sum of products; those with a factor known to be 0 are left out."""
    for a, b in products:
        if not (_is_zero(a) or _is_zero(b)):
            start = start + a * b
    return start


def times(a: Scalar, b: Scalar) -> Scalar:
    """The product, the number 0 where a factor is known to be 0."""
    return total(0.0, [(a, b)])


def _is_zero(x: Scalar) -> bool:
    return x.kind == ZERO if type(x) is Expr else isinstance(x, (int, float)) and x == 0
