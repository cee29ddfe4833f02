"""Ways to solve A z = p - a: the exact sweep, dense Cholesky, and the source's iterations, with a
memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dalembert.arguments import check_choice
from dalembert.errors import UnknownNameError
from dalembert.expr import Expr
from dalembert.formulations.hamilton.configurations import (
    CanonicalSystem,
    Configuration,
    Operations,
)
from dalembert.formulations.hamilton.dense import dense_solution
from dalembert.formulations.hamilton.krylov import LIMIT, METHODS, Solution, Stop, required
from dalembert.spatial.vectors import Scalar

DIRECT: dict[str, Callable[[Configuration, list[Scalar]], Sequence[Scalar]]] = {
    "sweep": lambda at, b: at.solution(b),
    "cholesky": lambda at, b: dense_solution(at.matrix(), b, at.sizes()),
}
SOLVERS = (*DIRECT, *METHODS)


class Solver:
    """The source's iterations for the velocities, repeated along a motion.

    Parameters
    ----------
    method : {'minimal_residuals', 'conjugate_directions'}
    rule, tolerance
        When to stop: see `Stop`. The default bounds the error of z by the tolerance [rad/s, m/s].
    warm : bool
        Start from the last answer, xi_0 = z^{s-1} (else from 0).
    extrapolate : bool
        Start from 2 z^{s-1} - z^{s-2}.
    limit : int
        Most iterations of one solution.

    Attributes
    ----------
    solutions, iterations, operations : what was done since the last `reset`; of a batch, the
        iterations of its slowest row.
    last : Solution

    Examples
    --------
    >>> import dalembert as da
    >>> solver = da.hamilton.Solver("minimal_residuals", tolerance=1e-8)
    >>> da.hamilton.velocities(da.planar_chain(2), [0.3, -0.2], [3.058, 0.99], solver=solver).round(3)
    array([0.999, 0.501])
    """

    def __init__(
        self,
        method: str,
        rule: str = "error",
        tolerance: float = 1e-9,
        warm: bool = True,
        extrapolate: bool = False,
        limit: int = LIMIT,
    ):
        check_choice("iteration", method, tuple(METHODS))
        self.method, self.rule, self.tolerance, self.limit = method, rule, tolerance, limit
        self.warm, self.extrapolate = warm, extrapolate
        Stop(rule, tolerance).checked()
        self.reset()

    def reset(self, start: Any = None) -> None:
        """Forget answers and counts, after a rejected step or an event; `start` is taken as the
        last answer.

        Examples
        --------
        >>> import dalembert as da
        >>> solver = da.hamilton.Solver("minimal_residuals")
        >>> solver.reset(start=[0.1, 0.2])
        >>> solver.solutions
        0
        """
        self.solutions = 0
        self.iterations = 0
        self.operations = Operations()
        self.last: Solution | None = None
        self._answers: list[np.ndarray] = (
            [] if start is None else [np.asarray(start, dtype=float).T]
        )

    def solve(self, system: CanonicalSystem, at: Configuration, b: Sequence[Scalar]) -> Solution:
        """z with A z = b, (nv,) each, within the rule.

        Raises
        ------
        NotConvergedError
            The limit is reached.

        Examples
        --------
        >>> import dalembert as da
        >>> chain = da.hamilton.planar_chain([1.0, 1.0], [1.0, 1.0])
        >>> solver = da.hamilton.Solver("conjugate_directions")
        >>> solver.solve(chain, chain.configuration([0.0, 0.5]), [1.0, 0.5]).iterations
        2
        """
        if any(isinstance(x, Expr) for x in b):
            raise TypeError(
                f"{self.method} stops by values: expressions take solver='sweep' (or 'cholesky')."
            )
        right = _array(b)
        stop = Stop(
            self.rule,
            self.tolerance,
            at.smallest_eigenvalue() if self.rule == "error" else None,
            _array(at.solution(b)) if self.rule == "true_error" else None,
        )
        found = METHODS[self.method](
            product_of(at, right),
            right,
            self._start(right),
            stop,
            self.limit,
            system.product_operations,
        )
        self.last = required(found, stop, self.method)
        self._answers = [*self._answers[-1:], found.z]
        self.solutions += 1
        self.iterations += int(np.max(found.iterations))
        self.operations = self.operations.plus(found.operations)
        return found

    def _start(self, right: np.ndarray) -> np.ndarray:
        if not self.warm or not self._answers:
            return np.zeros_like(right)
        last = self._answers[-1]
        start = (
            2 * last - self._answers[0] if self.extrapolate and len(self._answers) == 2 else last
        )
        return np.array(
            np.broadcast_to(start if start.ndim == right.ndim else start[:, None], right.shape)
        )


def solved(
    system: CanonicalSystem, at: Configuration, b: Sequence[Scalar], solver: str | Solver
) -> Sequence[Scalar]:
    """z with A z = b as scalars; a name of an iteration stands for a `Solver` that starts from 0."""
    if isinstance(solver, str) and solver in METHODS:
        solver = Solver(solver)
    if isinstance(solver, Solver):
        z = solver.solve(system, at, b).z
        return z.tolist() if z.ndim == 1 else list(z)
    if not isinstance(solver, str) or solver not in DIRECT:
        raise UnknownNameError("solver", solver, SOLVERS)
    return DIRECT[solver](at, list(b))


def product_of(at: Configuration, like: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """x -> A x on arrays (n,) or (n, N)."""
    return lambda x: _array(at.product(x.tolist() if x.ndim == 1 else list(x)), like.shape[1:])


def _array(x: Sequence[Scalar], rows: tuple[int, ...] | None = None) -> np.ndarray:
    """Scalars as an array with the entries first."""
    rows = np.broadcast_shapes(*(np.shape(a) for a in x)) if rows is None else rows
    return np.array([np.broadcast_to(a, rows) for a in x]) if rows else np.array(x)
