"""The planar chain of n links with revolute joints, the source's worked example, in absolute
angles.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from dalembert.errors import ShapeError
from dalembert.expr import Expr, cos, sin
from dalembert.formulations.hamilton.configurations import (
    CanonicalSystem,
    Configuration,
    Operations,
)
from dalembert.formulations.hamilton.singular import check_pivot
from dalembert.model.joints import Revolute
from dalembert.model.mechanism import Mechanism
from dalembert.model.origins import Origin
from dalembert.model.parts import Body, Joint
from dalembert.spatial.arrays import Array, Values, check_rows, packed, unpacked
from dalembert.spatial.vectors import Scalar, dot

STANDARD_GRAVITY = 9.81  # m/s^2


def planar_chain(
    m: Sequence[Any],
    L: Sequence[Any],
    l: Sequence[Any] | None = None,
    J: Sequence[Any] | None = None,
    g: Any = STANDARD_GRAVITY,
) -> PlanarChain:
    """Planar chain on a fixed hinge: x down, y horizontal, q_i the absolute angle of link i from
    the downward vertical.

    Any number may be an expression.

    Parameters
    ----------
    m, L : sequences of n numbers
        Masses [kg] and lengths [m] of the links, from the base outward.
    l : sequence of n numbers, optional
        Distance of the centre of mass from the inboard hinge [m]; by default L/2.
    J : sequence of n numbers, optional
        Moments of inertia **about the centre of mass** [kg m^2]; by default those of uniform rods,
        m L^2 / 12.
    g : number
        Acceleration of gravity [m/s^2].

    Raises
    ------
    ShapeError
        The sequences have different lengths, or none.

    References
    ----------
    Dunskaya, Pyatnitskiy (1996), eqs. 3.5 to 3.10, corrected.

    Examples
    --------
    >>> import dalembert as da
    >>> chain = da.hamilton.planar_chain([1.0, 1.0], [0.5, 0.5])
    >>> da.hamilton.mass_matrix(chain, [0.1, 0.2]).round(4)
    array([[0.3333, 0.1244],
           [0.1244, 0.0833]])
    """
    masses = list(m)
    lengths = list(L)
    centres = [x / 2 for x in lengths] if l is None else list(l)
    inertias = (
        [a * x * x / 12 for a, x in zip(masses, lengths, strict=False)] if J is None else list(J)
    )
    sizes = {"m": len(masses), "L": len(lengths), "l": len(centres), "J": len(inertias)}
    if not masses or len(set(sizes.values())) > 1:
        raise ShapeError(
            "m, L, l, J have the lengths "
            + ", ".join(f"{k} {n}" for k, n in sizes.items())
            + "; expected one number per link in each.",
            "m",
            (len(masses),),
        )
    return PlanarChain(
        _scalars(masses), _scalars(lengths), _scalars(centres), _scalars(inertias), *_scalars([g])
    )


def _scalars(values: Sequence[Any]) -> tuple[Scalar, ...]:
    """Expressions as they are, other numbers as floats."""
    return tuple(x if isinstance(x, Expr) else float(x) for x in values)


class PlanarChain(CanonicalSystem):
    """A planar chain; see `planar_chain`.

    With M_{>i} the mass beyond link i,  c_i = m_i l_i + L_i M_{>i},  d_i = J_i + m_i l_i^2 + L_i^2 M_{>i}:

        A_ii = d_i,    A_ij = L_i c_j cos(q_i - q_j)  for i < j,    L0 = g sum_i c_i cos q_i,    a = 0     (3.5, 3.10)

    Attributes: m, L, l, J (tuples), g, c, d, name, nq = nv = n.

    Examples
    --------
    >>> import dalembert as da
    >>> chain = da.hamilton.planar_chain([1.0, 1.0], [0.5, 0.5])
    >>> chain.to_relative([0.1, 0.3]).round(3)
    array([0.1, 0.2])
    """

    def __init__(self, m: tuple, L: tuple, l: tuple, J: tuple, g: Any):
        self.m, self.L, self.l, self.J, self.g = m, L, l, J, g
        self.nq = self.nv = self.n = len(m)
        self.name = f"planar chain of {self.n} links"
        beyond: list[Any] = [0.0]  # M_{>i}
        for mass in reversed(m[1:]):
            beyond.insert(0, beyond[0] + mass)
        links = range(self.n)
        self.d0 = tuple(J[i] + m[i] * l[i] * l[i] for i in links)  # d without the links beyond
        self.c = tuple(m[i] * l[i] + L[i] * beyond[i] for i in links)
        self.d = tuple(self.d0[i] + L[i] * L[i] * beyond[i] for i in links)

    # --- as a system ---

    def at(self, t=0.0, external_forces=(), **vectors):
        """Configuration, checked scalars of the vectors, and the function that packs results."""
        if len(external_forces):
            raise TypeError(
                "a planar chain takes generalized forces (tau=, forces=), no external forces."
            )
        columns, rows = {}, {}
        for name, array in vectors.items():
            columns[name], size = unpacked(
                array, name, self.n, lambda *_: f"the chain has {self.n} links"
            )
            rows[name] = set() if size is None else {size}
        scalars = tuple(columns.values())
        return self.configuration(scalars[0]), scalars, partial(packed, batch=check_rows(rows))

    def configuration(self, q, t=0.0):
        """The chain at absolute angles q [rad]."""
        return ChainConfiguration(self, [sin(x) for x in q], [cos(x) for x in q])

    @property
    def product_operations(self):
        """Operations of one product M(q) z: 11 n - 4 multiplications, 10 n - 10 additions."""
        return Operations(11 * self.n - 4, 10 * self.n - 10)

    # --- what belongs to the chain alone ---

    def generalized_forces(self, moments: Values) -> Array:
        """Q_i = M_i - M_{i+1} of the control moments M_i, of link i-1 on link i: (n,) or (N, n) [N
        m].

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.planar_chain([1.0, 1.0], [1.0, 1.0]).generalized_forces([3.0, 1.0])
        array([2., 1.])
        """
        M = self._vectors("moments", moments)
        return M - np.concatenate([M[..., 1:], np.zeros_like(M[..., :1])], axis=-1)

    def to_relative(self, q: Values) -> Array:
        """Relative joint angles q_i - q_{i-1} of absolute ones: (n,) or (N, n) [rad]; velocities and
        accelerations as well.

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.planar_chain([1.0, 1.0], [1.0, 1.0]).to_relative([1.0, 3.0])
        array([1., 2.])
        """
        q = self._vectors("q", q)
        return np.concatenate([q[..., :1], q[..., 1:] - q[..., :-1]], axis=-1)

    def to_absolute(self, q_relative: Values) -> Array:
        """Absolute angles q = S q_rel of relative ones, S the lower triangle of ones: (n,) or (N, n)
        [rad].

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.planar_chain([1.0, 1.0], [1.0, 1.0]).to_absolute([1.0, 2.0])
        array([1., 3.])
        """
        return np.cumsum(self._vectors("q_relative", q_relative), axis=-1)

    def momenta_to_relative(self, p: Values) -> Array:
        """Momenta of the relative angles, p_rel = S^T p: (n,) or (N, n) [kg m^2/s]; generalized
        forces likewise (they are then the M_i).

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.planar_chain([1.0, 1.0], [1.0, 1.0]).momenta_to_relative([2.0, 1.0])
        array([3., 1.])
        """
        return np.cumsum(self._vectors("p", p)[..., ::-1], axis=-1)[..., ::-1]

    def momenta_to_absolute(self, p_relative: Values) -> Array:
        """Momenta of the absolute angles, p_i = p_rel,i - p_rel,i+1: (n,) or (N, n) [kg m^2/s];
        generalized forces likewise.

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.planar_chain([1.0, 1.0], [1.0, 1.0]).momenta_to_absolute([3.0, 1.0])
        array([2., 1.])
        """
        return self.generalized_forces(p_relative)

    def _vectors(self, name: str, values: Values) -> Array:
        """The array of vectors with one entry per link."""
        vectors = np.asarray(values)
        if vectors.ndim == 0 or vectors.shape[-1] != len(self.m):
            n = len(self.m)
            raise ShapeError(
                f"{name} has shape {vectors.shape}, expected ({n},) or (N, {n}).",
                name,
                vectors.shape,
                (n,),
            )
        return vectors

    def eigenvalue_bounds(self) -> tuple[Any, Any]:
        """min J_i <= eigenvalues of A <= max J_i + sum_k m_k (l_k^2 + sum_{v<k} L_v^2), at every q:
        two numbers [kg m^2].

        Examples
        --------
        >>> import dalembert as da
        >>> [round(float(x), 3) for x in da.hamilton.planar_chain([3.0], [1.0]).eigenvalue_bounds()]
        [0.25, 1.0]
        """
        squares = [x * x for x in self.L]
        above = sum(
            m * (l * l + sum(squares[:k]))
            for k, (m, l) in enumerate(zip(self.m, self.l, strict=True))
        )
        return min(self.J), max(self.J) + above

    def mechanism(self) -> Mechanism:
        """The same as a mechanism with **relative** joint angles: hanging down at 0, in the x-z
        plane, joints about -y.

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.planar_chain([1.0, 1.0], [1.0, 1.0]).mechanism().coordinate_names
        ('q1', 'q2')
        """
        bodies = [Body("base")]
        joints = []
        hinge = Origin()
        for k, J in enumerate(self.J):
            inertia = (J, 0, J, 0, 0, 0)
            link = Body(f"link{k + 1}", self.m[k], (0, 0, -self.l[k]), inertia)
            axis = Revolute((0, -1, 0))
            joints.append(Joint(f"q{k + 1}", axis, bodies[k].name, link.name, hinge))
            bodies.append(link)
            hinge = Origin((0, 0, -self.L[k]))  # of the next link
        return Mechanism(self.name, tuple(bodies), tuple(joints), (), (0, 0, -self.g))


class ChainConfiguration(Configuration):
    """A planar chain at a configuration: 4n multiplications for L s, L k, l s, l k; s = sin q, k =
    cos q.

    Examples
    --------
    >>> import dalembert as da
    >>> chain = da.hamilton.planar_chain([1.0, 1.0], [1.0, 1.0])
    >>> isinstance(chain.configuration([0.0, 0.0]), da.hamilton.ChainConfiguration)
    True
    """

    def __init__(self, chain: PlanarChain, s: Sequence[Scalar], k: Sequence[Scalar]):
        self.chain, self.s, self.k = chain, s, k
        links = range(chain.n)
        self.Ls = [chain.L[i] * s[i] for i in links]
        self.Lk = [chain.L[i] * k[i] for i in links]
        self.ls = [chain.l[i] * s[i] for i in links]
        self.lk = [chain.l[i] * k[i] for i in links]

    def _linear_momenta(self, z):
        """m_i v_i of the centres of mass, from the base outward (derivative of eq. 3.6)."""
        momenta = []
        X = Y = 0  # velocity of the inboard hinge
        for i, m in enumerate(self.chain.m):
            px = m * (X - z[i] * self.ls[i])
            py = m * (Y + z[i] * self.lk[i])
            momenta.append((px, py))
            if i < self.chain.n - 1:
                X = X - z[i] * self.Ls[i]
                Y = Y + z[i] * self.Lk[i]
        return momenta

    def product(self, z):
        """A z in the velocity form: 11n - 4 multiplications, 10n - 10 additions."""
        momenta = self._linear_momenta(z)
        result = []
        last = self.chain.n - 1
        Fx = Fy = 0  # momentum of the links beyond
        for i in reversed(range(last + 1)):
            px, py = momenta[i]
            value = self.chain.J[i] * z[i] + self.lk[i] * py - self.ls[i] * px
            if i < last:
                value = value + self.Lk[i] * Fy - self.Ls[i] * Fx
            result.append(value)
            Fx = Fx + px
            Fy = Fy + py
        return result[::-1]

    def gradient(self, z):
        """dL/dq_i = -z_i (k_i (l_i p_x,i + L_i F_x) + s_i (l_i p_y,i + L_i F_y)) - g c_i s_i  (3.8)."""
        momenta = self._linear_momenta(z)
        result = []
        chain = self.chain
        last = self.chain.n - 1
        Fx = Fy = 0
        for i in reversed(range(last + 1)):
            px, py = momenta[i]
            value = self.lk[i] * px + self.ls[i] * py
            if i < last:
                value = value + self.Lk[i] * Fx + self.Ls[i] * Fy
            result.append(-(z[i] * value) - chain.g * chain.c[i] * self.s[i])
            Fx = Fx + px
            Fy = Fy + py
        return result[::-1]

    @cached_property
    def _scaled(self):
        """c k and c s of the semiseparable form."""
        c, links = self.chain.c, range(self.chain.n)
        return [c[i] * self.k[i] for i in links], [c[i] * self.s[i] for i in links]

    def semiseparable_product(self, z):
        """A z (n,) as diagonal + rank-2 triangles: 9n - 8 multiplications, 8n - 12 additions, c s and
        c k stored.

        Examples
        --------
        >>> import dalembert as da
        >>> at_rest = da.hamilton.planar_chain([3.0, 3.0], [1.0, 1.0]).configuration([0.0, 0.0])
        >>> [round(x, 6) for x in at_rest.semiseparable_product([1.0, 1.0])]
        [5.5, 2.5]
        """
        ck, cs = self._scaled
        n, Lk, Ls = self.chain.n, self.Lk, self.Ls
        result = [d * x for d, x in zip(self.chain.d, z, strict=True)]
        below_k = below_s = above_k = above_s = 0
        for i in range(1, n):
            # outward, link i by all links below it
            below_k = below_k + Lk[i - 1] * z[i - 1]
            below_s = below_s + Ls[i - 1] * z[i - 1]
            result[i] = result[i] + ck[i] * below_k + cs[i] * below_s
            # inward, link j - 1 by all links above it
            j = n - i
            above_k = above_k + ck[j] * z[j]
            above_s = above_s + cs[j] * z[j]
            result[j - 1] = result[j - 1] + Lk[j - 1] * above_k + Ls[j - 1] * above_s
        return result

    def solution(self, b):
        """The quadratic program as a dynamic program over the hinge velocity u, value function u^T
        P u / 2 - sigma^T u.

        inward   w = m l t + P L t,  delta = J + m l^2 + L t^T P L t,  gamma = b + L t^T sigma,  t = (-s, k)
                 P <- P + m 1 - w w^T / delta,   sigma <- sigma - w gamma / delta
        outward  z = gamma/delta - (w/delta)^T u,   u <- u + L t z
        """
        chain = self.chain
        steps = []  # of the pass inward, by which the pass outward goes back
        Pxx = Pxy = Pyy = sx = sy = 0
        for i in reversed(range(chain.n)):
            tx = -self.Ls[i]
            ty = self.Lk[i]
            m = chain.m[i]
            Px = Pxx * tx + Pxy * ty
            Py = Pxy * tx + Pyy * ty
            wx = Px - m * self.ls[i]
            wy = Py + m * self.lk[i]
            delta = chain.d0[i] + (tx * Px + ty * Py)
            check_pivot(
                f"q{i + 1}", f"link{i + 1}", delta, chain.d[i], partial(chain.d.__getitem__, i)
            )
            gamma = b[i] + (tx * sx + ty * sy)
            vx = wx / delta
            vy = wy / delta
            rate = gamma / delta
            steps.append((vx, vy, rate, tx, ty))
            Pxx = Pxx + m - wx * vx
            Pxy = Pxy - wx * vy
            Pyy = Pyy + m - wy * vy
            sx = sx - wx * rate
            sy = sy - wy * rate

        z = []
        ux = uy = 0
        for vx, vy, rate, tx, ty in reversed(steps):
            z.append(rate - (vx * ux + vy * uy))
            ux = ux + tx * z[-1]
            uy = uy + ty * z[-1]
        return z

    def matrix(self):
        """A_ii = d_i, A_ij = L_i c_j cos(q_i - q_j) for i < j (3.10, corrected)."""
        ck, cs = self._scaled
        A = [list(self.chain.d) for _ in ck]
        for j in range(self.chain.n):
            for i in range(j):
                A[i][j] = A[j][i] = self.Lk[i] * ck[j] + self.Ls[i] * cs[j]
        return A

    @cached_property
    def potential(self):  # type: ignore[override]
        """Pi = -g sum_i c_i cos q_i."""
        return -(self.chain.g * dot(self.chain.c, self.k))

    def smallest_eigenvalue(self):
        """min J_i: A - diag(J) is the translational part, which is not negative."""
        return min(self.chain.J)
