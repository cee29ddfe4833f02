"""Linear stability of motions: matrices of deviations, their exponents, and maps of these over two
numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arguments import real_array
from dalembert.compiled.memo import kept
from dalembert.displays import brief_repr
from dalembert.errors import ConstraintError, DalembertError, ShapeError
from dalembert.expr import jacobian
from dalembert.native.function import CompiledFunction, function
from dalembert.spatial.arrays import Array, Values
from dalembert.systems.kinds import system_of
from dalembert.systems.system import System

ZERO = 1e-6  # of the largest exponent: one that is smaller is 0 but for rounding


def state_matrix(
    mechanism: Any,
    q: Values,
    qd: Values,
    internal_states: Values | None = None,
    t: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
) -> Array:
    """Matrix A of small deviations z' = A z of the whole state x = (q, qd, internal states).

    Unlike `linearize`, it has internal states: multipliers of the vakonomic principle, generators of
    programs with their servo constraints. Rows of constraints are kept by accelerations, so that
    each adds exponents of 0.

    Parameters
    ----------
    mechanism : Mechanism, or another System, whose velocities are rates of coordinates
    q, qd : (nq,), (nv,) arrays
        State [rad, m; rad/s, m/s].
    internal_states : (n,) array, optional
        By default those that a simulation begins with.
    t : float
        Time [s].
    parameters : {path: number or (N,)}, optional
        Numbers of the mechanism; of N values each, N matrices.

    Returns
    -------
    A : (k, k) or (N, k, k) array

    Raises
    ------
    DalembertError, ShapeError
        There are quaternions; a vector has the wrong length; multipliers that have no default are
        not given.

    Examples
    --------
    >>> import dalembert as da
    >>> da.state_matrix(da.planar_chain(1), [-1.5707963267948966], [0.0]).round(3)
    array([[  0.   ,   1.   ],
           [-14.715,   0.   ]])
    """
    system = _checked(mechanism)
    paths = tuple(parameters or ())
    state = [
        _vector("q", q, system.nq),
        _vector("qd", qd, system.nv),
        _internal(system, internal_states),
    ]
    numbers = (
        np.stack(
            np.broadcast_arrays(*[real_array(path, (parameters or {})[path]) for path in paths]),
            axis=-1,
        )
        if paths
        else np.zeros(0)
    )
    compiled = kept(system.source, ("state matrix", paths), lambda: _compiled(system, paths))
    rows = numbers.shape[:-1]
    given = [np.broadcast_to(x, (*rows, len(x))) for x in state]
    return compiled(*given, np.broadcast_to(float(t), rows), numbers)  # type: ignore[no-any-return]


def exponents(
    mechanism: Any,
    q: Values,
    qd: Values,
    internal_states: Values | None = None,
    t: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
) -> Array:
    """Growth exponents of small deviations: eigenvalues of `state_matrix`, the fastest growing first.

    Parameters
    ----------
    mechanism, q, qd, internal_states, t, parameters
        As for `state_matrix`.

    Returns
    -------
    s : (k,) or (N, k) array, complex
        Deviations grow as exp(s t) [1/s].

    Raises
    ------
    DalembertError, ShapeError
        There are quaternions; a vector has the wrong length; multipliers that have no default are
        not given.

    Examples
    --------
    >>> import dalembert as da
    >>> da.exponents(da.planar_chain(1), [1.5707963267948966], [0.0]).real.round(3)
    array([ 3.836, -3.836])
    """
    A = state_matrix(
        mechanism,
        q,
        qd,
        internal_states,
        t,
        parameters,
    )
    values = np.linalg.eigvals(A).astype(complex)
    order = np.argsort(-values.real, axis=-1, kind="stable")
    return np.take_along_axis(values, order, axis=-1)  # type: ignore[return-value]


def stable_multipliers(
    mechanism: Any,
    q: Values,
    qd: Values,
    reference: tuple[Values, Values, Values],
    internal_states: Values | None = None,
    t: float = 0.0,
) -> Array:
    """Multipliers to begin with on the stable manifold of a motion: `multipliers0` of `simulate`.

    Deviations from the reference then have no part that grows, to first order: w^T (x - x_ref) = 0
    for the left eigenvector w of each exponent with a positive real part. Forward integration holds
    the manifold for some time only, since what grows begins at rounding.

    Parameters
    ----------
    mechanism : Mechanism, or another System, with multipliers that are states
    q, qd : (nq,), (nv,) arrays
        State to begin with [rad, m; rad/s, m/s].
    reference : (q, qd, internal states)
        State of the motion at the same time.
    internal_states : (n,) array, optional
        To begin with, by default those of a simulation; entries that are multipliers are not read.
    t : float
        Time [s].

    Returns
    -------
    multipliers0 : (k,) array

    Raises
    ------
    ConstraintError
        There are no multipliers that are states; they cannot remove all that grows.
    DalembertError, ShapeError
        There are quaternions; a vector has the wrong length; multipliers that have no default are
        not given.

    Examples
    --------
    >>> import dalembert as da
    >>> steady = da.generators.SteadyAcceleration(1.0)
    >>> coupling = da.constraints.TwoWay("speed", lambda q, s, t: [q[0] - s[1]], steady)
    >>> cart = da.Mechanism("cart", (da.Body("rail"), da.Body("cart", 1.0)),
    ...                     (da.Joint("x", da.Prismatic((1, 0, 0)), "rail", "cart"),))
    >>> da.stable_multipliers(cart.constrained(coupling), [0.0], [0.95], ([0.0], [1.0], [0.0, 0.0, 0.0])).round(6)
    array([0.05])
    """
    system = _checked(mechanism)
    known = np.asarray(system.internal_states, dtype=float)
    free = np.isnan(known)
    if not free.any():
        raise ConstraintError(
            f"{system.name!r} has no multipliers that are states: the principle 'vakonomic' and "
            "TwoWay have them."
        )
    start = known if internal_states is None else np.array(internal_states, dtype=float)
    A = state_matrix(mechanism, *reference[:2], reference[2], t)
    values, left = np.linalg.eig(A.T)
    growing = left[:, values.real > ZERO * np.abs(values).max()].T
    conditions = np.concatenate([growing.real, growing.imag])
    before = np.concatenate([np.asarray(part, dtype=float) for part in reference])
    deviation = np.concatenate([np.asarray(q, float), np.asarray(qd, float), start]) - before
    at = np.flatnonzero(np.concatenate([np.zeros(system.nq + system.nv, bool), free]))
    deviation[at] = 0.0
    found, *_ = np.linalg.lstsq(conditions[:, at], -conditions @ deviation, rcond=None)
    left_over = conditions[:, at] @ found + conditions @ deviation
    if np.abs(left_over).max(initial=0.0) > ZERO * (1 + np.abs(deviation).max()):
        raise ConstraintError(
            f"multipliers of {system.name!r} cannot remove {len(growing)} growing exponents at this "
            "state: take another state, or a servo constraint."
        )
    return before[at] + found  # type: ignore[no-any-return]


@dataclass(frozen=True)
class StabilityMap:
    """Exponents of a motion over two numbers of a mechanism, as `stability_map` makes it.

    Attributes
    ----------
    paths : of the two numbers
    values : their values, (a,) and (b,)
    exponents : (a, b, k) [1/s], the fastest growing first
    zeros : number of exponents that are 0 at all values, as of drifts and constraints

    Examples
    --------
    >>> import dalembert as da
    >>> chart = da.stability_map(da.planar_chain(1), [1.57], [0.0], {"link1.mass": [1.0, 2.0], "gravity[1]": [-9.81, 9.81]})
    >>> chart.is_stable
    array([[False, False],
           [False, False]])
    """

    __repr__ = brief_repr

    paths: tuple[str, str]
    values: tuple[Array, Array]
    exponents: Array
    zeros: int

    @property
    def growth(self) -> Array:
        """Largest real part of the exponents that are not 0 everywhere, (a, b) [1/s]."""
        sizes = np.abs(self.exponents)
        order = np.argsort(sizes, axis=-1)[..., self.zeros :]
        return np.take_along_axis(self.exponents.real, order, axis=-1).max(axis=-1)  # type: ignore[no-any-return]

    @property
    def is_stable(self) -> Array:
        """Whether all exponents that are not 0 everywhere have negative real parts, (a, b)."""
        return self.growth < -ZERO * np.abs(self.exponents).max(axis=-1)  # type: ignore[no-any-return]

    def draw(self, axes: Any) -> Any:
        """Growth in colours on axes of Matplotlib, with the line between growth and decay.

        Examples
        --------
        >>> import dalembert as da
        >>> from matplotlib.figure import Figure
        >>> chart = da.stability_map(da.planar_chain(1), [1.57], [0.0], {"link1.mass": [1.0, 2.0], "gravity[1]": [-9.81, 9.81]})
        >>> axes = Figure().subplots()
        >>> chart.draw(axes).get_cmap().name
        'RdBu_r'
        """
        first, second = self.values
        most = float(np.abs(self.growth).max()) or 1.0
        mesh = axes.pcolormesh(
            first,
            second,
            self.growth.T,
            cmap="RdBu_r",
            vmin=-most,
            vmax=most,
            shading="nearest",
            rasterized=True,
        )
        if 0 < self.is_stable.mean() < 1:
            axes.contour(
                first,
                second,
                self.is_stable.T.astype(float),
                [0.5],
                colors="black",
            )
        axes.set_xlabel(self.paths[0])
        axes.set_ylabel(self.paths[1])
        return mesh


def stability_map(
    mechanism: Any,
    q: Values,
    qd: Values,
    numbers: Mapping[str, Sequence[float] | Array],
    internal_states: Values | None = None,
    t: float = 0.0,
) -> StabilityMap:
    """Exponents of a motion for all pairs of values of two numbers.

    Parameters
    ----------
    mechanism, q, qd, internal_states, t
        As for `state_matrix`.
    numbers : {path: (a,) values, path: (b,) values}

    Returns
    -------
    StabilityMap

    Raises
    ------
    DalembertError, ShapeError, UnknownNameError
        There are others than two numbers, or none at a path; there are quaternions; a vector has the
        wrong length; multipliers that have no default are not given.

    Examples
    --------
    >>> import numpy as np
    >>> import dalembert as da
    >>> steady = da.generators.SteadyAcceleration(1.0)
    >>> coupling = da.constraints.TwoWay("speed", lambda q, s, t: [q[0] - s[1]], steady)
    >>> cart = da.Mechanism("cart", (da.Body("rail"), da.Body("cart", 1.0)),
    ...                     (da.Joint("x", da.Prismatic((1, 0, 0)), "rail", "cart"),))
    >>> values = {"speed.alpha": [-2.0, 2.0], "speed.c": [-1.0, 1.0]}
    >>> da.stability_map(cart.constrained(coupling), [0.0], [1.0], values, [0.0, 0.0, 0.0]).is_stable
    array([[False,  True],
           [False, False]])
    """
    if len(numbers) != 2:
        raise ShapeError(
            f"numbers has {len(numbers)} entries, expected two: {{path: values, path: values}}.",
            "numbers",
        )
    paths = tuple(numbers)
    first, second = (np.atleast_1d(real_array(path, numbers[path])).astype(float) for path in paths)
    pairs = np.meshgrid(first, second, indexing="ij")
    given = {path: pair.ravel() for path, pair in zip(paths, pairs, strict=True)}
    found = exponents(
        mechanism,
        q,
        qd,
        internal_states,
        t,
        given,
    )
    sizes = np.sort(np.abs(found), axis=-1)
    zeros = int((sizes <= ZERO * sizes[:, -1:]).sum(axis=-1).min())
    shaped = found.reshape(len(first), len(second), -1)
    return StabilityMap(paths, (first, second), shaped, zeros)  # type: ignore[arg-type]


def _checked(mechanism: Any) -> System:
    """The system, whose velocities are rates of coordinates."""
    system = system_of(mechanism, "has no exponents")
    if system.nq != system.nv or system.quaternions:
        raise DalembertError(
            f"{system.name!r} has velocities that are no rates of its coordinates (quaternions): "
            "exponents of its whole state are not written; da.linearize has tangent coordinates."
        )
    return system


def _vector(name: str, values: Any, length: int) -> np.ndarray:
    """A vector of a length."""
    found = np.asarray(real_array(name, values), dtype=float)
    if found.shape != (length,):
        raise ShapeError(
            f"{name} has shape {found.shape}, expected ({length},).", name, found.shape, (length,)
        )
    return found


def _internal(system: System, given: Any) -> np.ndarray:
    """Internal states, given or those of the start."""
    n = len(system.internal_names)
    if given is not None:
        return _vector("internal_states", given, n)
    start = np.asarray(system.internal_states, dtype=float)
    if np.isnan(start).any():
        names = ", ".join(system.internal_names)
        raise ConstraintError(
            f"internal_states are needed: multipliers of {system.name!r} have no default ({names})."
        )
    return start


def _compiled(system: System, paths: tuple[str, ...]) -> CompiledFunction[Any]:
    """A as a function of q, qd, internal states, t and numbers at some paths."""
    for path in paths:
        system.number(path)  # raises if there is none

    def matrix(q: Any, qd: Any, internal: Any, t: Any, numbers: Any) -> Any:
        """A at a state."""
        own = system.replace(dict(zip(paths, numbers, strict=True)))
        own = own.with_internal(internal)
        rest = np.zeros(own.nv)
        rates = [
            own.rate(q, qd),
            own.forward_dynamics(q, qd, rest, t),
            own.internal_rates(q, qd, rest, t),
        ]
        return jacobian(np.concatenate(rates), np.concatenate([q, qd, internal]))

    n = len(system.internal_names)
    return function(
        matrix,
        q=system.nq,
        qd=system.nv,
        internal=n,
        t=(),
        numbers=len(paths),
    )
