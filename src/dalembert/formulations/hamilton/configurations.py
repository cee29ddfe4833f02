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
        """With so many times another count."""
        return Operations(
            self.multiplications + times * other.multiplications,
            self.additions + times * other.additions,
            self.divisions + times * other.divisions,
        )


class Configuration(ABC):
    """A system at a configuration (and time), over any scalar: products with A, its inverse, and
    the gradient of L.

    z are velocities (quasi-velocities of spherical and free joints); every vector is a sequence of
    scalars.

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
        """A z in O(n), A not formed."""

    @abstractmethod
    def solution(self, b: Scalars) -> list[Scalar]:
        """z with A z = b, exact in O(n)."""

    @abstractmethod
    def gradient(self, z: Scalars) -> list[Scalar]:
        """dL/dq with z held: along the (quasi-)velocity directions."""

    @abstractmethod
    def matrix(self) -> list[list[Scalar]]:
        """A."""

    @abstractmethod
    def smallest_eigenvalue(self) -> Any:
        """A lower bound of the eigenvalues of A: a number, or one per row of a batch."""

    def sizes(self) -> np.ndarray | None:
        """Sizes of the terms of the diagonal entries of A, (n,) or (N, n); None where the entries'
        own sizes will do.
        """
        return None

    def lie_poisson(self, z: Scalars, p: Scalars) -> Scalars:
        """ad*_z p of the joints whose velocities are no rates of coordinates; 0 elsewhere."""
        return [0.0] * len(z)

    def dissipative(self, z: Scalars) -> Scalars:
        """Forces without a potential that belong to the system: friction, external forces."""
        return [0.0] * len(z)

    def time_derivative(self, z: Scalars) -> Scalar:
        """dL/dt with q and z held."""
        return 0.0

    def momenta(self, z: Scalars) -> list[Scalar]:
        """p = dL/dz = A z + a."""
        return plus(self.product(z), self.linear)

    def right_side(self, p: Scalars) -> list[Scalar]:
        """b = p - a of A z = b."""
        return (
            list(p) if self.linear is None else [x - a for x, a in zip(p, self.linear, strict=True)]
        )

    def momentum_rate(self, z: Scalars, p: Scalars) -> list[Scalar]:
        """dL/dq + ad*_z p + the system's own forces."""
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
        """The door: configuration at q, the vectors as scalars (q first), and the function that
        packs results.
        """

    @abstractmethod
    def configuration(self, q: Scalars, t: Scalar = 0.0) -> Configuration:
        """Configuration at scalars."""

    def rate(self, q: Scalars, z: Scalars) -> Scalars:
        """Time derivative of q."""
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
