"""Mass matrix, energies, gravity and Christoffel symbols as polynomials: Lagrange's equations with
nothing left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

from dalembert.closed_forms.algebra.polynomials import Polynomials
from dalembert.closed_forms.algebra.ring import Ring, TooLarge, terms_in
from dalembert.closed_forms.derivation.link_chain import chain
from dalembert.closed_forms.derivation.link_dynamics import composites, mass_matrix
from dalembert.closed_forms.derivation.run_inertia import RunInertia
from dalembert.closed_forms.derivation.run_links import Link
from dalembert.closed_forms.derivation.velocity_derivatives import along_velocities
from dalembert.model.tree import Tree
from dalembert.spatial.inertias import HALF

Place = tuple[int, int, int]


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
    twice: dict[Place, Any] | None = None

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
    heights = zip(gravity, total[0].h, strict=True)
    found.U = sum((x * -h for x, h in heights), start=0)
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
    D: dict[Place, Any] = {}  # [j, k, i]: derivative of M_jk along velocity i
    for j in range(n):
        for k in range(j, n):
            for i in range(n):
                D[j, k, i] = D[k, j, i] = along[i](M[j][k])
        progress((j + 1) / (n + 1))
    gamma = _structure(d.tree)

    def turning(pair: tuple[int, int], other: int) -> Any:
        """gamma^l_pair M_l,other."""
        l, sign = gamma.get(pair, (0, 0))
        return M[l][other] * sign

    twice: dict[Place, Any] = {}
    size = 0
    for k, i, j in product(range(n), repeat=3):
        if not gamma and j < i:  # symmetric
            if (j, i, k) in twice:
                twice[i, j, k] = twice[j, i, k]
            continue
        value = D[j, k, i] + D[k, i, j] - D[i, j, k]
        if gamma:
            value = value + turning((i, j), k) - turning((j, k), i) + turning((k, i), j)
        if value:
            twice[i, j, k] = value
            size += terms_in([value])
            if size > budget:
                raise TooLarge(f"the Christoffel symbols have more than {budget} terms.")
    d.twice = twice


def _structure(tree: Tree) -> dict[tuple[int, int], tuple[int, int]]:
    """gamma^l_ij as (i, j) -> (l, sign), velocities in the child's axes: [X_a, X_b] = e_abc X_c,
    [X_a, V_b] = e_abc V_c.
    """
    gamma = {}
    for joint in tree.joint[1:]:
        if not joint.type.quaternion_freedoms:
            continue
        w = joint.dof.start
        v = w + 3
        for a, b in permutations(range(3), 2):
            c = 3 - a - b
            sign = 1 if b == (a + 1) % 3 else -1
            gamma[w + a, w + b] = w + c, sign
            if joint.type.quaternion_freedoms == 6:  # free, not spherical
                gamma[w + a, v + b] = v + c, sign
                gamma[v + b, w + a] = v + c, -sign
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
    tau = []
    for row, h, g in zip(d.M, coriolis_vector(d), d.g, strict=True):
        inertial = (x * a for x, a in zip(row, qdd, strict=True))
        tau.append(d.ring.total([*inertial, h, g]))
    return tau
