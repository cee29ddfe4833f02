"""The source's iterations for A z = b, without A: minimal residuals and conjugate directions, with
stop rules and counters.

Vectors are arrays with the entries first, (n,) or (n, N) for a batch, of floats or any other
scalar; each row of a batch stops on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.arguments import check_choice
from dalembert.errors import DalembertError
from dalembert.expr import Expr
from dalembert.formulations.hamilton.configurations import Operations

RULES = ("step", "estimate", "residual", "error", "true_error")
# iterations: minimal residuals need about kappa log(1/eps) of them, kappa = 5 n^2 for a chain
LIMIT = 100_000

FREE = Operations()

Product = Callable[[Any], Any]


class Stop(NamedTuple):
    """When an iteration stops; eps is `tolerance`.

    step        |xi_{m+1} - xi_m| < eps, the source's rule; says little about the error, which can be kappa times larger
    estimate    |y_m| <= eps / gamma_max with the largest gamma so far, the source's (3.4)
    residual    |y_m| <= eps |b|
    error       |y_m| <= eps lambda_min: bounds the error by eps; `smallest` is a lower bound of the eigenvalues of A
    true_error  |xi_m - z| <= eps with the exact z given as `exact`: for studies

    Examples
    --------
    >>> import dalembert as da
    >>> da.hamilton.Stop("residual", 1e-9).rule
    'residual'
    """

    rule: str
    tolerance: float
    smallest: Any = None
    exact: Any = None

    def checked(self) -> Stop:
        """Itself, or the error that says what is wrong.

        Examples
        --------
        >>> import dalembert as da
        >>> da.hamilton.Stop("residual", 1e-9).checked().tolerance
        1e-09
        """
        check_choice("stop rule", self.rule, RULES)
        if not self.tolerance > 0:
            raise ValueError(f"tolerance is {self.tolerance}, expected a positive number.")
        return self

    @property
    def looks_first(self) -> bool:
        """Whether the rule looks at an iterate before the next product, or at the step that it
        makes.
        """
        return self.rule in ("residual", "error", "true_error")


class Solution(NamedTuple):
    """Velocities z, and what they cost: iterations (a number or one per row), norm of the last
    residual known, operations.

    `gammas` are the steps' lengths gamma_m (alpha_m of conjugate directions), `iterates` the xi_m
    where they were asked for.

    Examples
    --------
    >>> import dalembert as da
    >>> solver = da.hamilton.Solver("conjugate_directions")
    >>> da.hamilton.solve(da.planar_chain(2), [0.3, -0.2], [3.058, 0.99], solver).converged
    True
    """

    z: Any
    iterations: Any
    residual: Any
    converged: Any
    operations: Operations
    gammas: list[Any]
    iterates: list[Any]


class NotConvergedError(DalembertError, ArithmeticError):
    """An iteration reached its limit; `iterations`, `residual` and `tolerance` say where it stood."""

    def __init__(
        self, message: str, iterations: int = 0, residual: float = 0.0, tolerance: float = 0.0
    ):
        super().__init__(message)
        self.iterations, self.residual, self.tolerance = iterations, residual, tolerance


def inner(a: Any, b: Any) -> Any:
    """a . b, row by row of a batch; of expressions in pairs, so that no long chain of sums is left
    to wait for.
    """
    if a.dtype != object:
        return a @ b if a.ndim == 1 else np.einsum("kn,kn->n", a, b)
    terms = list(a * b)
    while len(terms) > 1:
        terms = [x + y for x, y in zip(terms[::2], terms[1::2], strict=False)] + terms[
            len(terms) // 2 * 2 :
        ]
    return terms[0]


def minimal_residual_step(product: Product, xi: Any, y: Any) -> tuple[Any, Any, Any]:
    """xi_{m+1}, y_{m+1} and gamma_m, y = A xi - b (3.3), by a single product: the residual is
    updated, not recomputed.

    Examples
    --------
    >>> import dalembert as da
    >>> import numpy as np
    >>> A = np.array([[2.0, 0.5], [0.5, 1.0]])
    >>> xi, y, gamma = da.hamilton.minimal_residual_step(lambda x: A @ x, np.zeros(2), np.array([-1.0, 0.0]))
    >>> xi.round(4)
    array([0.4706, 0.    ])
    """
    w = product(y)
    gamma = quotient(inner(w, y), inner(w, w))
    return xi - gamma * y, y - gamma * w, gamma


def conjugate_step(
    product: Product, xi: Any, r: Any, d: Any, square: Any
) -> tuple[Any, Any, Any, Any, Any]:
    """xi, r, d, r . r of the next iterate, and alpha; r = b - A xi, d the direction, square = r .
    r.

    Examples
    --------
    >>> import dalembert as da
    >>> import numpy as np
    >>> A = np.array([[2.0, 0.5], [0.5, 1.0]])
    >>> r = np.array([1.0, 0.0])
    >>> xi, *_ = da.hamilton.conjugate_step(lambda x: A @ x, np.zeros(2), r, r, r @ r)
    >>> xi
    array([0.5, 0. ])
    """
    w = product(d)
    alpha = quotient(square, inner(d, w))
    r = r - alpha * w
    following = inner(r, r)
    return xi + alpha * d, r, r + quotient(following, square) * d, following, alpha


def quotient(a: Any, b: Any) -> Any:
    """a / b, and 0 for the rows of a batch that have come to rest (0 / 0)."""
    if isinstance(a, np.ndarray) and a.ndim:
        return np.divide(a, b, out=np.zeros_like(a), where=b != 0)
    return a / b if type(b) is Expr or b != 0 else 0.0


def minimal_residuals(
    product: Product,
    b: Any,
    start: Any,
    stop: Stop,
    limit: int = LIMIT,
    cost: Operations = FREE,
    keep: bool = False,
    step: Callable[..., Any] | None = None,
) -> Solution:
    """Minimal residuals (3.3): y_0 = A xi_0 - b;  w = A y,  gamma = w.y / w.w,  xi -= gamma y,  y
    -= gamma w.

    16n - 4 multiplications and 15n - 13 additions an iteration for the planar chain; |y| shrinks by
    (kappa-1)/(kappa+1) or better, D(xi) grows, 1/lambda_max <= gamma <= 1/lambda_min.

    Parameters
    ----------
    product : callable
        x -> A x, on arrays (n,) or (n, N).
    b, start : arrays (n,) or (n, N)
        Right-hand side, and xi_0.
    stop : Stop
    limit : int
        Most iterations.
    cost : Operations
        Of one product, for the count.
    keep : bool
        Whether to return all iterates.
    step : callable, optional
        Compiled form of `minimal_residual_step` without its product.

    Raises
    ------
    NotConvergedError
        The limit of iterations was reached.

    Examples
    --------
    >>> import dalembert as da
    >>> import numpy as np
    >>> A = np.array([[2.0, 0.5], [0.5, 1.0]])
    >>> stop = da.hamilton.Stop("residual", 1e-12)
    >>> found = da.hamilton.minimal_residuals(lambda x: A @ x, np.array([1.0, 0.0]), np.zeros(2), stop)
    >>> found.z.round(4)
    array([ 0.5714, -0.2857])
    """
    n = len(b)
    xi = start
    run = _Iterations(stop, b, limit, keep)
    looks_first = stop.looks_first
    y = product(xi) - b
    advance = step or (lambda xi, y: minimal_residual_step(product, xi, y))
    while looks_first or not run.full():
        square = inner(y, y)
        if looks_first and (run.done(square, xi) or run.full()):
            break
        following, next_y, gamma = advance(xi, y)
        xi, y = run.taken(xi, following, gamma), run.taken(y, next_y, None)
        if not looks_first and run.done_by_step(square, gamma):
            break
    norm = Operations(n, n - 1)
    spent = cost.plus(Operations(0, n)).plus(norm if looks_first else FREE)
    return run.solution(
        xi, square, spent.plus(cost.plus(norm, 3).plus(Operations(2 * n, 2 * n, 1)), run.count)
    )


def conjugate_directions(
    product: Product,
    b: Any,
    start: Any,
    stop: Stop,
    limit: int = LIMIT,
    cost: Operations = FREE,
    keep: bool = False,
    step: Callable[..., Any] | None = None,
) -> Solution:
    """Conjugate directions.

        r_0 = d_0 = b - A xi_0;   w = A d,  alpha = r.r / d.w,  xi += alpha d,  r' = r - alpha w,  d = r' + (r'.r' / r.r) d

    16n - 4 multiplications and 15n - 12 additions an iteration for the planar chain; n of them in
    exact arithmetic.

    Parameters
    ----------
    product : callable
        x -> A x, on arrays (n,) or (n, N).
    b, start : arrays (n,) or (n, N)
        Right-hand side, and xi_0.
    stop : Stop
    limit : int
        Most iterations.
    cost : Operations
        Of one product, for the count.
    keep : bool
        Whether to return all iterates.
    step : callable, optional
        Compiled form of `conjugate_step` (`minimal_residual_step`) without its product.

    Raises
    ------
    NotConvergedError
        The limit of iterations was reached.

    Examples
    --------
    >>> import dalembert as da
    >>> import numpy as np
    >>> A = np.array([[2.0, 0.5], [0.5, 1.0]])
    >>> stop = da.hamilton.Stop("residual", 1e-12)
    >>> found = da.hamilton.conjugate_directions(lambda x: A @ x, np.array([1.0, 0.0]), np.zeros(2), stop)
    >>> found.z.round(4), int(found.iterations)
    (array([ 0.5714, -0.2857]), 2)
    """
    n = len(b)
    xi = start
    run = _Iterations(stop, b, limit, keep)
    looks_first = stop.looks_first
    r = b - product(xi)
    d = r
    square = inner(r, r)
    advance = step or (lambda *state: conjugate_step(product, *state))
    while not (looks_first and run.done(square, xi) or run.full()):
        length = None if looks_first else inner(d, d)
        following, r, d, square, alpha = advance(xi, r, d, square)
        xi = run.taken(xi, following, alpha)
        if not looks_first and run.done_by_step(length, alpha):
            break
    norm = Operations(n, n - 1)
    spent = cost.plus(Operations(0, n)).plus(norm)
    products = 2 if looks_first else 3  # the length of the step needs d . d
    return run.solution(
        xi,
        square,
        spent.plus(cost.plus(norm, products).plus(Operations(3 * n, 3 * n, 2)), run.count),
    )


class _Iterations:
    """Counts iterations, judges them, and freezes the rows of a batch that are done."""

    def __init__(self, stop: Stop, b: Any, limit: int, keep: bool):
        if limit < 1:
            raise ValueError(f"limit is {limit}, expected at least one iteration.")
        self.stop = stop.checked()
        self.limit = limit
        self.keep = keep
        self.count = 0
        self.gammas: list[Any] = []
        self.iterates: list[Any] = []
        self.largest: Any = 0.0
        self.rows = b.shape[1:]
        self.active: Any = np.ones(self.rows, bool) if self.rows else True
        self.iterations: Any = np.zeros(self.rows, int) if self.rows else 0
        self.bound = stop.tolerance**2  # all is judged by squares
        if stop.rule == "residual":
            self.bound = self.bound * inner(b, b)
        elif stop.rule == "error":
            if stop.smallest is None or not np.all(np.asarray(stop.smallest) > 0):
                raise ValueError(
                    "the rule 'error' needs a positive lower bound of the eigenvalues, not "
                    f"{stop.smallest}."
                )
            self.bound = self.bound * stop.smallest**2

    def done(self, square: Any, xi: Any) -> bool:
        """Whether the iterate is good enough by the residual (or the true error)."""
        if self.stop.rule == "true_error":
            square = inner(xi - self.stop.exact, xi - self.stop.exact)
        return self._settle(square <= self.bound)

    def done_by_step(self, square: Any, gamma: Any) -> bool:
        """Whether the step just made, of length gamma sqrt(square), is short enough."""
        if self.stop.rule == "estimate":
            gamma = self.largest = (
                np.maximum(self.largest, gamma) if self.rows else max(self.largest, gamma)
            )
        length = gamma * gamma * square
        return self._settle(
            length < self.bound if self.stop.rule == "step" else length <= self.bound
        )

    def _settle(self, good: Any) -> bool:
        if not self.rows:
            self.active = not good
            return not self.active
        self.active = self.active & ~good
        return not self.active.any()

    def full(self) -> bool:
        """Whether the limit is reached."""
        return self.count >= self.limit

    def taken(self, old: Any, new: Any, gamma: Any) -> Any:
        """The next iterate; rows that are done keep theirs."""
        if gamma is not None:
            if self.keep:
                self.iterates.append(old)
            self.gammas.append(gamma)
            self.count += 1
            self.iterations = self.iterations + self.active if self.rows else self.count
        return np.where(self.active, new, old) if self.rows else new

    def solution(self, xi: Any, square: Any, operations: Operations) -> Solution:
        """The solution with its counts, after the last iteration."""
        converged = ~self.active if self.rows else not self.active
        return Solution(
            xi,
            self.iterations,
            square**0.5,
            converged,
            operations,
            self.gammas,
            [*self.iterates, xi],
        )


METHODS: dict[str, Callable[..., Solution]] = {
    "minimal_residuals": minimal_residuals,
    "conjugate_directions": conjugate_directions,
}


def required(solution: Solution, stop: Stop, method: str, names: Sequence[str] = ()) -> Solution:
    """The solution, or an error if it did not converge."""
    if np.all(solution.converged):
        return solution
    residual = float(np.max(solution.residual))
    raise NotConvergedError(
        f"{method} made {int(np.max(solution.iterations))} iterations, its residual is "
        f"{residual:.3g}, and rule {stop.rule!r} with tolerance {stop.tolerance:g} is not met. Use "
        "solver='sweep', which is exact, or a larger tolerance.",
        int(np.max(solution.iterations)),
        residual,
        stop.tolerance,
    )
