"""Systems whose Lagrangian has terms linear in the velocities, or energies of a moving base: a(q,
t) and L0(q, t).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dalembert.errors import ShapeError
from dalembert.expr import (
    Expr,
    Graph,
    cos,
    derivative,
    evaluate,
    gradient,
    import_nodes,
    substitute,
    symbol,
    symbols,
)
from dalembert.formulations.hamilton.chain import PlanarChain
from dalembert.formulations.hamilton.configurations import CanonicalSystem, Configuration, plus
from dalembert.formulations.hamilton.trees import system_of
from dalembert.spatial.vectors import Scalar, dot


def nonnatural(
    system: Any,
    a: Callable[..., Any] | None = None,
    L0: Callable[..., Any] | None = None,
    name: str = "",
) -> NonNatural:
    """A system with further terms in its Lagrangian: a moving base, a turntable, gyroscopes,
    potentials of a user's own.

        L = 1/2 qd^T A(q) qd + a(q, t)^T qd + L0(q, t),    A and a first part of L0 of the system given

    Both are called once, with symbols; their derivatives are exact. H is then Jacobi's integral,
    not T + Pi.

    Parameters
    ----------
    system : Mechanism or PlanarChain
    a : callable, optional
        a(q, t): one number per velocity [kg m^2/s, kg m/s]; written with da.sin, da.where, ...
    L0 : callable, optional
        L0(q, t) [J], added to the system's.

    Raises
    ------
    ShapeError
        a has not one entry per velocity.

    Examples
    --------
    >>> import dalembert as da
    >>> chain = da.hamilton.planar_chain([1.0], [1.0])
    >>> driven = da.hamilton.nonnatural(chain, a=lambda q, t: [0.1 * da.cos(t)])
    >>> da.hamilton.momenta(driven, [0.0], [0.0])
    array([0.1])
    """
    return NonNatural(system_of(system), a, L0, name)


class NonNatural(CanonicalSystem):
    """A system with terms a(q, t) and L0(q, t); see `nonnatural`.

    Examples
    --------
    >>> import dalembert as da
    >>> chain = da.hamilton.planar_chain([1.0], [1.0])
    >>> da.hamilton.nonnatural(chain, L0=lambda q, t: -2.0 * q[0] ** 2).nv
    1
    """

    def __init__(
        self,
        system: CanonicalSystem,
        a: Callable[..., Any] | None,
        L0: Callable[..., Any] | None,
        name: str = "",
    ):
        self.system = system
        self.nq = system.nq
        self.nv = system.nv
        self.name = name or system.name
        self._inputs, self._terms = self._traced(a, L0)

    @property
    def product_operations(self):
        """Operations of one product with the mass matrix."""
        return self.system.product_operations

    def rate(self, q, z):
        """qd of the quasi-velocities z."""
        return self.system.rate(q, z)

    def at(self, t=0.0, external_forces=(), **vectors):
        """Configuration, checked scalars of the vectors, and the function that packs results."""
        inner, scalars, pack = self.system.at(t, external_forces, **vectors)
        return NonNaturalConfiguration(self, inner, scalars[0], t), scalars, pack

    def configuration(self, q, t=0.0):
        """The system at coordinates q and time t."""
        return NonNaturalConfiguration(self, self.system.configuration(q, t), q, t)

    def _traced(self, a_of: Any, L0_of: Any) -> tuple[list[Expr], dict[str, list[Any]]]:
        """Symbols q, t, z, and expressions of a, L0, of the derivatives of a^T z + L0 along the
        velocities' directions and by t.
        """
        with Graph():
            q = list(symbols("own q", self.nq))
            z = list(symbols("own z", self.nv))
            t = symbol("own t")
            a = [0.0] * self.nv if a_of is None else list(a_of(q, t))
            if len(a) != self.nv:
                raise ShapeError(
                    f"a returns {len(a)} entries, expected {self.nv}: one per velocity of "
                    f"{self.name!r}.",
                    "a",
                    (len(a),),
                    (self.nv,),
                )
            L0 = 0.0 if L0_of is None else L0_of(q, t)
            terms = dot(a, z) + L0
            along: list[Scalar] = [0.0] * self.nv
            by_t: Scalar = 0.0
            if isinstance(terms, Expr):
                change = dot(
                    list(gradient(terms, q)),
                    self.system.rate(q, directions := list(symbols("own v", self.nv))),
                )
                along = list(gradient(change, directions)) if isinstance(change, Expr) else along
                by_t = derivative(terms, t)
            return [*q, t, *z], {"a": a, "L0": [L0], "gradient": along, "by_t": [by_t]}

    def value(
        self, which: str, q: Sequence[Scalar], t: Scalar, z: Sequence[Scalar] = ()
    ) -> list[Any]:
        """Terms at scalars q (nq,), t, z (nv,): `which` is "a" (nv,), "L0" (1,), "gradient" (nv,) or
        "by_t" (1,).

        Examples
        --------
        >>> import dalembert as da
        >>> chain = da.hamilton.planar_chain([1.0], [1.0], g=0)
        >>> table = da.hamilton.turntable(chain, radius=0.5, rate=2.0)
        >>> [round(float(x), 3) for x in table.value("a", [0.0], 0.0)]
        [1.167]
        """
        expressions = self._terms[which]
        inputs = [*zip(self._inputs, [*q, t, *z], strict=False)]  # a and L0 have no velocities
        graph = next((x.graph for _, x in inputs if isinstance(x, Expr)), None)
        if graph is None:
            numbers = dict(inputs)
            return [evaluate(e, numbers) if isinstance(e, Expr) else e for e in expressions]
        nodes = {import_nodes(symbol, graph): x for symbol, x in inputs}
        return [
            substitute(import_nodes(e, graph), nodes) if isinstance(e, Expr) else e
            for e in expressions
        ]


class NonNaturalConfiguration(Configuration):
    """A system with terms a and L0 at a configuration and time."""

    def __init__(self, system: NonNatural, inner: Configuration, q: Sequence[Scalar], t: Scalar):
        self._system = system
        self._inner = inner
        self._q = q
        self._t = t
        self.linear = system.value("a", q, t)
        self.potential = inner.potential - system.value("L0", q, t)[0]

    def product(self, z):
        """M(q) z."""
        return self._inner.product(z)

    def solution(self, b):
        """z of M(q) z = b."""
        return self._inner.solution(b)

    def matrix(self):
        """The mass matrix M(q)."""
        return self._inner.matrix()

    def smallest_eigenvalue(self):
        """Smallest eigenvalue of M(q)."""
        return self._inner.smallest_eigenvalue()

    def gradient(self, z):
        """dL/dq with z held, along the velocity directions; terms of a and L0 included."""
        return plus(self._inner.gradient(z), self._system.value("gradient", self._q, self._t, z))

    def lie_poisson(self, z, p):
        """The term of quasi-velocities in the rate of the momenta."""
        return self._inner.lie_poisson(z, p)

    def dissipative(self, z):
        """Dissipative forces for the velocities z."""
        return self._inner.dissipative(z)

    def time_derivative(self, z):
        """Derivative of L by t."""
        return self._system.value("by_t", self._q, self._t, z)[0]


def turntable(chain: PlanarChain, radius: Any, rate: Any) -> NonNatural:
    """A planar chain in the horizontal plane of a turntable, its hinge at a radius, q_i from the
    radial direction.

        a = Omega A 1 + Omega R (c_i cos q_i),
        L0 = 1/2 Omega^2 1^T A 1 + Omega^2 R sum c_i cos q_i + 1/2 Omega^2 R^2 sum m_i

    radius R [m]; rate Omega [rad/s], constant. The chain's own gravity is kept (g = 0 for a
    horizontal plane).

    Examples
    --------
    >>> import dalembert as da
    >>> chain = da.hamilton.planar_chain([1.0], [1.0], g=0)
    >>> table = da.hamilton.turntable(chain, radius=0.5, rate=2.0)
    >>> da.hamilton.momenta(table, [0.0], [0.0]).round(4)
    array([1.1667])
    """
    ones = [1.0] * chain.n
    mass = sum(chain.m)

    def a(q, t):
        """Coefficients of the velocities in L: momenta that the table's rotation gives the links."""
        turned = chain.configuration(q).product(ones)
        return [
            rate * (x + radius * c * cos(angle))
            for x, c, angle in zip(turned, chain.c, q, strict=True)
        ]

    def L0(q, t):
        """Kinetic energy of the table's rotation."""
        offset = sum(c * cos(angle) for c, angle in zip(chain.c, q, strict=True))
        inertia = (
            sum(chain.configuration(q).product(ones)) + 2 * radius * offset + radius * radius * mass
        )
        return rate * rate * inertia * 0.5

    return NonNatural(chain, a, L0, f"{chain.name} on a turntable")
