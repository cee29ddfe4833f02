"""Mass matrix, energies, gravity and Christoffel symbols as polynomials: Lagrange's equations with nothing left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dalembert.equations.chain import Link, RunInertia, chain, composites, mass_matrix
from dalembert.equations.polynomials import Polynomials
from dalembert.equations.ring import Poly, Ring, TooLarge, terms_in
from dalembert.model.joints import Free, Spherical
from dalembert.model.tree import Tree
from dalembert.spatial.inertias import Inertia
from dalembert.spatial.vectors import ZERO

Bodies = Sequence[Inertia | None]      # tensor about the body's origin in place of second moments; scalars of the ring


@dataclass
class Derivation:
    """Equations of motion as polynomials (or numbers).

        M qdd + C(q, qd) qd + g = tau,   C_kj = sum_i c_ijk v_i

    M: nv rows; U: potential energy of gravity; g: its gradient; twice[i, j, k] = 2 c_ijk where it is not zero, with
    [i, j, k] as in conventions.md (for quasi-velocities not symmetric in i, j).
    """

    algebra: Polynomials
    tree: Tree
    links: list[Link]
    M: list[list[Any]]
    U: Any
    g: list[Any]
    twice: dict[tuple[int, int, int], Any] | None = field(default=None)

    @property
    def ring(self) -> Ring:
        """The ring of all its polynomials."""
        return self.algebra.ring


def derive(tree: Tree, algebra: Polynomials, bodies: Bodies, gravity: Sequence[Any], links: list[Link] | None = None,
           rotor: Sequence[Any] = (), budget: int = 20_000) -> Derivation:
    """M by composite bodies, the gravity potential and its gradient.

    Raises
    ------
    NotPolynomial, TooLarge
    """
    links = chain(tree, algebra) if links is None else links
    total = composites(links, bodies)
    M = mass_matrix(links, total, tree.nv)
    for k, inertia in enumerate(rotor):
        M[k][k] = M[k][k] + inertia
    if (size := terms_in(M[i][j] for i in range(tree.nv) for j in range(i, tree.nv))) > budget:
        raise TooLarge(f"the mass matrix has {size} terms.")
    base: RunInertia | None = total[0]
    h = base.h if base is not None else ZERO
    U = sum((x * -y for x, y in zip(gravity, h, strict=True)), start=0)
    along = algebra.velocities(tree)
    return Derivation(algebra, tree, links, M, U, [along[k](U) for k in range(tree.nv)])


def christoffel(d: Derivation, budget: int = 100_000, progress: Callable[[float], None] = lambda done: None) -> None:
    """Add the Christoffel symbols to a derivation.

        2 c_ijk = X_i M_jk + X_j M_ki - X_k M_ij + gamma^l_ij M_lk - gamma^l_jk M_li + gamma^l_ki M_lj

    with X_i the derivative along velocity i and [X_i, X_j] = gamma^l_ij X_l (zero but among quasi-velocities).

    Raises
    ------
    TooLarge
        All symbols together have more terms than the budget.
    """
    n, M = d.tree.nv, d.M
    along = d.algebra.velocities(d.tree)
    D: dict[tuple[int, int, int], Any] = {}
    for j in range(n):
        for k in range(j, n):
            for i in range(n):
                D[j, k, i] = D[k, j, i] = along[i](M[j][k])
        progress((j + 1) / (n + 1))
    gamma = _structure(d.tree)
    found: dict[tuple[int, int, int], Any] = {}
    size = 0
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if not gamma and j < i:
                    if (j, i, k) in found:
                        found[i, j, k] = found[j, i, k]
                    continue
                value = D[j, k, i] + D[k, i, j] - D[i, j, k]
                for (a, b), (l, sign) in gamma.items():
                    if (a, b) == (i, j):
                        value = value + M[l][k] * sign
                    if (a, b) == (j, k):
                        value = value - M[l][i] * sign
                    if (a, b) == (k, i):
                        value = value + M[l][j] * sign
                if isinstance(value, Poly) or value:
                    found[i, j, k] = value
                    size += len(value) if isinstance(value, Poly) else 1
        if size > budget:
            raise TooLarge(f"the Christoffel symbols have more than {budget} terms.")
    d.twice = found


def _structure(tree: Tree) -> dict[tuple[int, int], tuple[int, int]]:
    """gamma^l_ij as (i, j) -> (l, sign), velocities in the child's axes: [X_a, X_b] = e_abc X_c, [X_a, V_b] = e_abc V_c."""
    gamma = {}
    for joint in tree.joint[1:]:
        if not isinstance(joint.type, (Spherical, Free)):
            continue
        first = joint.dof.start
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            for shift in (0, 3)[:1 + isinstance(joint.type, Free)]:
                gamma[first + a, first + shift + b] = (first + shift + c, 1)
                gamma[first + a, first + shift + c] = (first + shift + b, -1)
                if shift:
                    gamma[first + shift + b, first + a] = (first + shift + c, -1)
                    gamma[first + shift + c, first + a] = (first + shift + b, 1)
    return gamma


def coriolis_matrix(d: Derivation) -> list[list[Any]]:
    """C_kj = sum_i c_ijk v_i with the velocities as variables ("qd", i)."""
    assert d.twice is not None
    v = [d.ring.variable(("qd", i)) for i in range(d.tree.nv)]
    C: list[list[Any]] = [[[] for _ in v] for _ in v]
    for (i, j, k), value in d.twice.items():
        C[k][j].append(v[i] * value * Fraction(1, 2))
    return [[d.ring.total(entry) if entry else 0 for entry in row] for row in C]


def kinetic_energy(d: Derivation) -> Any:
    """T = 1/2 sum M_ij v_i v_j."""
    v = [d.ring.variable(("qd", i)) for i in range(d.tree.nv)]
    return d.ring.total(v[i] * v[j] * d.M[i][j] * Fraction(1, 2) for i in range(d.tree.nv) for j in range(d.tree.nv))
