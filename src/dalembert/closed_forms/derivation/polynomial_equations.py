"""Mass matrix, energies, gravity and Christoffel symbols as polynomials: Lagrange's equations with
nothing left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dalembert.closed_forms.algebra.polynomials import Polynomials
from dalembert.closed_forms.algebra.ring import Ring, TooLarge, terms_in
from dalembert.closed_forms.derivation.link_chain import (
    Link,
    RunInertia,
    chain,
    composites,
    mass_matrix,
)
from dalembert.closed_forms.derivation.velocity_derivatives import along_velocities
from dalembert.model.tree import Tree
from dalembert.spatial.inertias import HALF


@dataclass
class PolynomialEquations:
    """Equations of motion as polynomials (or numbers).

        M qdd + C(q, qd) qd + g = tau,   C_kj = sum_i c_ijk v_i

    M: nv rows; U: potential energy of gravity; g: its gradient; twice[i, j, k] = 2 c_ijk where it
    is not zero, with [i, j, k] as in conventions.md (for quasi-velocities not symmetric in i, j).
    """

    algebra: Polynomials
    tree: Tree
    links: list[Link]
    M: list[list[Any]]
    U: Any
    g: list[Any]
    twice: dict[tuple[int, int, int], Any] | None = None

    @property
    def ring(self) -> Ring:
        """The ring of all its polynomials."""
        return self.algebra.ring

    @property
    def rates(self) -> list[Any]:
        """The velocities as variables ("qd", i)."""
        return [self.ring.variable(("qd", i)) for i in range(self.tree.nv)]

    @property
    def size(self) -> int:
        """Terms of M's upper triangle."""
        return terms_in(x for i, row in enumerate(self.M) for x in row[i:])


def derive(
    tree: Tree,
    algebra: Polynomials,
    bodies: Sequence[RunInertia],
    rotor: Sequence[Any],
    budget: int,
) -> PolynomialEquations:
    """M by composite bodies, the gravity potential and its gradient.

    Raises
    ------
    NotPolynomial, TooLarge
    """
    gravity = [
        algebra.scalar(x) for x in tree.gravity
    ]  # first: names are written in the order they were made
    links = chain(tree, algebra)
    total = composites(links, bodies)
    M = mass_matrix(links, total, tree.nv)
    for k, inertia in enumerate(rotor):
        M[k][k] = M[k][k] + inertia
    found = PolynomialEquations(algebra, tree, links, M, 0, [])
    if found.size > budget:
        raise TooLarge(f"the mass matrix has {found.size} terms.")
    found.U = sum((x * -y for x, y in zip(gravity, total[0].h, strict=True)), start=0)
    found.g = [along(found.U) for along in along_velocities(tree, algebra)]
    return found


def christoffel(d: PolynomialEquations, budget: int, progress: Callable[[float], None]) -> None:
    """Add the Christoffel symbols to a derivation.

        2 c_ijk = X_i M_jk + X_j M_ki - X_k M_ij + gamma^l_ij M_lk - gamma^l_jk M_li + gamma^l_ki
        M_lj

    with X_i the derivative along velocity i and [X_i, X_j] = gamma^l_ij X_l (zero but among
    quasi-velocities).

    Raises
    ------
    TooLarge
        All symbols together have more terms than the budget.
    """
    n, M = d.tree.nv, d.M
    along = along_velocities(d.tree, d.algebra)
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
                for pair, other, share in (((i, j), k, 1), ((j, k), i, -1), ((k, i), j, 1)):
                    if pair in gamma:
                        l, sign = gamma[pair]
                        value = value + M[l][other] * (share * sign)
                if value:
                    found[i, j, k] = value
                    size += terms_in([value])
        if size > budget:
            raise TooLarge(f"the Christoffel symbols have more than {budget} terms.")
    d.twice = found


def _structure(tree: Tree) -> dict[tuple[int, int], tuple[int, int]]:
    """gamma^l_ij as (i, j) -> (l, sign), velocities in the child's axes: [X_a, X_b] = e_abc X_c,
    [X_a, V_b] = e_abc V_c.
    """
    gamma = {}
    for joint in tree.joint[1:]:
        if not joint.type.quaternion_freedoms:
            continue
        first, free = joint.dof.start, joint.type.quaternion_freedoms == 6
        for a, b in ((a, b) for a in range(3) for b in range(3) if a != b):
            c, sign = 3 - a - b, 1 if b == (a + 1) % 3 else -1
            gamma[first + a, first + b] = first + c, sign
            if free:
                gamma[first + a, first + 3 + b] = first + 3 + c, sign
                gamma[first + 3 + b, first + a] = first + 3 + c, -sign
    return gamma


def coriolis_matrix(d: PolynomialEquations) -> list[list[Any]]:
    """C_kj = sum_i c_ijk v_i."""
    v = d.rates
    C: list[list[Any]] = [[[] for _ in v] for _ in v]
    for (i, j, k), value in (d.twice or {}).items():
        C[k][j].append(v[i] * value * HALF)
    return [[d.ring.total(entry) for entry in row] for row in C]


def coriolis_vector(d: PolynomialEquations) -> list[Any]:
    """h = C v."""
    return [
        d.ring.total(x * v for x, v in zip(row, d.rates, strict=True)) for row in coriolis_matrix(d)
    ]


def inverse_dynamics(d: PolynomialEquations) -> list[Any]:
    """tau = M qdd + C v + g."""
    qdd = [d.ring.variable(("qdd", k)) for k in range(d.tree.nv)]
    inertial = [[x * a for x, a in zip(row, qdd, strict=True)] for row in d.M]
    h = coriolis_vector(d)
    return [d.ring.total([*inertial[k], h[k], d.g[k]]) for k in range(len(qdd))]


def kinetic_energy(d: PolynomialEquations) -> Any:
    """T = 1/2 sum M_ij v_i v_j."""
    v = list(enumerate(d.rates))
    return d.ring.total(a * b * d.M[i][j] * HALF for i, a in v for j, b in v)
