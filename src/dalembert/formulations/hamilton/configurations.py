"""The Lagrangian L = 1/2 z^T A z + a^T z + L0 by its parts, as Hamilton's form needs it at a
configuration.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.spatial.vectors import Scalar

Scalars = Sequence[Scalar]


class Operations(NamedTuple):
    """Numbers of operations; additions are sums and differences.

    Examples
    --------
    >>> import dalembert as da
    >>> da.hamilton.Operations(4, 3).plus(da.hamilton.Operations(1, 1), times=2)
    Operations(multiplications=6, additions=5, divisions=0)
    """

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0

    def plus(self, other: Operations, times: int = 1) -> Operations:
        """With so many times another count.

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.Operations(3, 2).plus(da.hamilton.Operations(1, 1), times=2)
        Operations(multiplications=5, additions=4, divisions=0)
        """
        return Operations(
            self.multiplications + times * other.multiplications,
            self.additions + times * other.additions,
            self.divisions + times * other.divisions,
        )


class Configuration(ABC):
    """A system at a configuration (and time), over any scalar: products with A, its inverse, and
    the gradient of L.

    z (nv,) [rad/s, m/s] are velocities (quasi-velocities of spherical and free joints); every
    vector is a sequence of nv scalars. The lengths are checked by `at` of the system.

    Raises
    ------
    SingularMassMatrixError
        A is singular within rounding, in `solution`; not looked at on expressions.

    Examples
    --------
    >>> import dalembert as da
    >>> chain = da.hamilton.planar_chain([1.0, 1.0], [1.0, 1.0])
    >>> isinstance(chain.configuration([0.0, 0.0]), da.hamilton.Configuration)
    True
    """

    potential: Scalar = 0.0  # -L0 [J]
    linear: Scalars | None = None  # a, the terms linear in the velocities; None: there are none

    @abstractmethod
    def product(self, z: Scalars) -> list[Scalar]:
        """A z in O(n), A not formed: (nv,) [kg m^2/s, kg m/s].

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.planar_chain([1.0], [1.0]).configuration([0.5]).product([2.0])
        [0.6666666666666666]
        """

    @abstractmethod
    def solution(self, b: Scalars) -> list[Scalar]:
        """z with A z = b, exact in O(n): (nv,) [rad/s, m/s].

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.planar_chain([1.0], [1.0]).configuration([0.5]).solution([2.0])
        [6.0]
        """

    @abstractmethod
    def gradient(self, z: Scalars) -> list[Scalar]:
        """dL/dq with z held, along the (quasi-)velocity directions: (nv,) [N m, N].

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.planar_chain([1.0], [1.0]).configuration([0.0]).gradient([2.0])
        [-0.0]
        """

    @abstractmethod
    def matrix(self) -> list[list[Scalar]]:
        """A: nv rows of nv scalars [kg m^2, kg m, kg].

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.planar_chain([1.0], [1.0]).configuration([0.5]).matrix()
        [[0.3333333333333333]]
        """

    @abstractmethod
    def smallest_eigenvalue(self) -> Any:
        """A lower bound of the eigenvalues of A: a number, or one per row of a batch.

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.planar_chain([3.0], [1.0]).configuration([0.5]).smallest_eigenvalue()
        0.25
        """

    def sizes(self) -> np.ndarray | None:
        """Sizes of the terms of the diagonal entries of A, (n,) or (N, n); None where the entries'
        own sizes will do.

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.planar_chain([1.0], [1.0]).configuration([0.5]).sizes()
        """
        return None

    def lie_poisson(self, z: Scalars, p: Scalars) -> Scalars:
        """ad*_z p of the joints whose velocities are no rates of coordinates, 0 elsewhere: (nv,) [N m,
        N].

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.planar_chain([1.0], [1.0]).configuration([0.5]).lie_poisson([2.0], [0.7])
        [0.0]
        """
        return [0.0] * len(z)

    def dissipative(self, z: Scalars) -> Scalars:
        """Forces without a potential that belong to the system, friction and external forces: (nv,) [N
        m, N].

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.planar_chain([1.0], [1.0]).configuration([0.5]).dissipative([2.0])
        [0.0]
        """
        return [0.0] * len(z)

    def time_derivative(self, z: Scalars) -> Scalar:
        """dL/dt with q and z held: number [W].

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.planar_chain([1.0], [1.0]).configuration([0.5]).time_derivative([2.0])
        0.0
        """
        return 0.0

    def momenta(self, z: Scalars) -> list[Scalar]:
        """p = dL/dz = A z + a: (nv,) [kg m^2/s, kg m/s].

        Examples
        --------
        >>> import dalembert as da
        >>> chain = da.hamilton.planar_chain([1.0], [1.0], g=0)
        >>> table = da.hamilton.turntable(chain, radius=0.5, rate=2.0)
        >>> table.configuration([0.0]).momenta([0.0])
        [1.1666666666666665]
        """
        return plus(self.product(z), self.linear)

    def right_side(self, p: Scalars) -> list[Scalar]:
        """b = p - a of A z = b: (nv,) [kg m^2/s, kg m/s].

        Examples
        --------
        >>> import dalembert as da
        >>> chain = da.hamilton.planar_chain([1.0], [1.0], g=0)
        >>> table = da.hamilton.turntable(chain, radius=0.5, rate=2.0)
        >>> table.configuration([0.0]).right_side([0.0])
        [-1.1666666666666665]
        """
        return (
            list(p) if self.linear is None else [x - a for x, a in zip(p, self.linear, strict=True)]
        )

    def momentum_rate(self, z: Scalars, p: Scalars) -> list[Scalar]:
        """p' = dL/dq + ad*_z p + the system's own forces: (nv,) [N m, N].

        Examples
        --------
        >>> import dalembert as da
        >>> at_rest = da.hamilton.planar_chain([1.0], [1.0]).configuration([0.0])
        >>> at_rest.momentum_rate([0.0], [0.0])
        [0.0]
        """
        return plus(plus(self.gradient(z), self.lie_poisson(z, p)), self.dissipative(z))


class CanonicalSystem(ABC):
    """A system in Hamilton's form: `dalembert.formulations.hamilton` takes it in place of a
    mechanism.

    Examples
    --------
    >>> import dalembert as da
    >>> isinstance(da.hamilton.planar_chain([1.0], [1.0]), da.hamilton.System)
    True
    """

    name: str
    nq: int
    nv: int

    @abstractmethod
    def at(
        self, t: Scalar = 0.0, external_forces: Any = (), **vectors: Any
    ) -> tuple[Configuration, tuple[list[Scalar], ...], Callable[..., Any]]:
        """The door: configuration at q, the vectors, (n,) or (N, n) each, as scalars (q first), and
        the function that packs results.

        Raises
        ------
        ShapeError, TypeError, ValueError
            A vector has the wrong length, or batches differ; it holds no finite numbers.

        Examples
        --------
        >>> import dalembert as da
        >>> chain = da.hamilton.planar_chain([1.0], [1.0])
        >>> configuration, (q,), pack = chain.at(q=[0.5])
        >>> pack(configuration.product([2.0])).shape
        (1,)
        """

    @abstractmethod
    def configuration(self, q: Scalars, t: Scalar = 0.0) -> Configuration:
        """Configuration at q (nq,) [rad, m] of scalars and t [s].

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.planar_chain([1.0], [1.0], g=10.0).configuration([0.0]).potential
        -5.0
        """

    def rate(self, q: Scalars, z: Scalars) -> Scalars:
        """Time derivative of q (nq,) for the velocities z (nv,): (nq,) [rad/s, m/s].

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.planar_chain([1.0], [1.0]).rate([0.5], [2.0])
        [2.0]
        """
        return list(z)

    @property
    def changeable(self) -> tuple[Any, ...]:
        """Parts whose numbers may change between two runs: the system itself."""
        return (self,)

    @property
    def product_operations(self) -> Operations:
        """Operations of one product A z."""
        raise NotImplementedError


def plus(a: Scalars, b: Scalars | None) -> list[Scalar]:
    """Sum of two vectors; None is zero."""
    return list(a) if b is None else [x + y for x, y in zip(a, b, strict=True)]
