"""Residuals, Jacobian, multipliers and reactions of constraints: of one state by plain functions, of
a batch by compiled ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dalembert.compiled.memo import dynamics_of
from dalembert.errors import ConstraintError, DalembertError
from dalembert.spatial.arrays import Array, Values, check_rows, in_order, unpacked
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.kinds import system_of

Plain = Callable[..., Any]  # of the rows of a system, a state and the time
Source = Any  # a mechanism with constraints, or another system that has some


def _position(rows: ConstraintSet, q: Any, t: Any) -> Any:
    return rows.position(q, t)


def _velocity(rows: ConstraintSet, q: Any, qd: Any, t: Any) -> Any:
    return rows.rates(q, qd, t).velocity


def _jacobian(rows: ConstraintSet, q: Any, qd: Any, t: Any) -> Any:
    return rows.rates(q, qd, t).jacobian


def _multipliers(rows: ConstraintSet, q: Any, qd: Any, tau: Any, t: Any) -> Any:
    return rows.system.multipliers(q, qd, tau, t)


def _reactions(rows: ConstraintSet, q: Any, qd: Any, tau: Any, t: Any) -> Any:
    return np.concatenate([*rows.system.reactions(q, qd, tau, t).values(), np.zeros(0)])


def _evaluated(
    source: Source, name: str, plain: Plain, vectors: Mapping[str, Any], t: Any
) -> np.ndarray:
    """A quantity of constraints: of one state by a plain function, of a batch as compiled code."""
    system = system_of(source, "has no constraints")
    if not system.constraints:
        raise DalembertError(
            f"{system.name!r} has no constraints: mechanism.constrained(...) gives it some."
        )
    if "tau" in vectors and np.isnan(np.asarray(system.internal_states, dtype=float)).any():
        said = ", ".join(system.internal_names)
        raise ConstraintError(
            f"forces of constraints of {system.name!r} depend on states that have no default "
            f"({said}): simulate it, and take them from the run."
        )
    checked: dict[str, Any] = {}
    rows: dict[str, set[int]] = {}
    for key, values in vectors.items():
        names = system.coordinate_names if key == "q" else system.velocity_names
        values = in_order(values, key, names)
        columns, size = unpacked(values, key, len(names), partial(_said, system.name, names))
        if key == "q" and system.mechanism is not None:
            system.mechanism.check_quaternions(key, columns)
        checked[key] = np.array(columns).T if size is not None else np.asarray(columns)
        rows[key] = set() if size is None else {size}
    if check_rows(rows) is None and np.ndim(t) == 0:
        return np.asarray(plain(ConstraintSet(system), *checked.values(), t))
    if name not in system.quantities:
        return np.zeros((check_rows(rows) or len(t), 0))
    compiled = getattr(dynamics_of(system.source), name)
    return compiled(*checked.values(), t=t)  # type: ignore[no-any-return]


def _said(name: str, names: Sequence[str], vector: str, length: int) -> str:
    """Why a vector has a length."""
    few = ", ".join(names if len(names) <= 4 else [*names[:2], "...", names[-1]])
    return f"{name!r} has {length} ({few})"


def constraint_residual(
    mechanism: Source, q: Values, qd: Values | None = None, t: Any = 0.0
) -> Array:
    """Residuals of constraints: 0 where they are met.

    Parameters
    ----------
    mechanism : Mechanism, or another system with constraints
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array, optional
        Velocities [rad/s, m/s].
    t : float or (N,) array
        Time [s].

    Returns
    -------
    residual : (k,) or (N, k) array
        Rows that have a position [m, rad; those of a function in its own unit], in the order of the
        constraints; with qd then the velocities of all rows [per s].

    Raises
    ------
    ShapeError, TypeError, ValueError, QuaternionError
        A vector has the wrong length, no numbers, or one that is not finite; a quaternion is not of
        unit length.
    DalembertError
        There are no constraints.

    Examples
    --------
    >>> import dalembert as da
    >>> pin = da.constraints.Closure("pin", da.Spherical(), ("link2", (1, 0, 0)), ("base", (1.5, 0, 0)))
    >>> arm = da.planar_chain(2).constrained(pin)
    >>> da.constraint_residual(arm, [0.5, -1.0]).round(3)
    array([-0.255,  0.   ,  0.   ])
    """
    positions = _evaluated(mechanism, "constraint_residual", _position, {"q": q}, t)
    if qd is None:
        return positions
    velocities = _evaluated(mechanism, "constraint_velocity", _velocity, {"q": q, "qd": qd}, t)
    if positions.ndim < velocities.ndim:  # a single q with many qd
        positions = np.broadcast_to(positions, (len(velocities), positions.size))
    return np.concatenate([positions, velocities], axis=-1)


def constraint_jacobian(
    mechanism: Source, q: Values, qd: Values | None = None, t: Any = 0.0
) -> Array:
    """Jacobian of constraints: J qdd = bias holds their rows, and J^T lambda is their force.

    Parameters
    ----------
    mechanism : Mechanism, or another system with constraints
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array, optional
        Velocities [rad/s, m/s], which matter to functions that are not linear in them; by default 0.
    t : float or (N,) array
        Time [s].

    Returns
    -------
    J : (k, nv) or (N, k, nv) array
        Rows in the order of the constraints; of moments [1, 1/m], of forces [m, 1].

    Raises
    ------
    ShapeError, TypeError, ValueError, QuaternionError
        A vector has the wrong length, no numbers, or one that is not finite; a quaternion is not of
        unit length.
    DalembertError
        There are no constraints.

    Examples
    --------
    >>> import dalembert as da
    >>> gears = da.constraints.Coupling.gear("gears", "q1", "q2", -0.5)
    >>> da.constraint_jacobian(da.planar_chain(2).constrained(gears), [0.5, -0.25])
    array([[0.5, 1. ]])
    """
    speeds = np.zeros(system_of(mechanism, "has no constraints").nv) if qd is None else qd
    return _evaluated(mechanism, "constraint_jacobian", _jacobian, {"q": q, "qd": speeds}, t)


def multipliers(mechanism: Source, q: Values, qd: Values, tau: Values, t: Any = 0.0) -> Array:
    """Multipliers lambda of constraints, which count as applied forces.

        M qdd + bias = tau + J^T lambda

    Parameters
    ----------
    mechanism : Mechanism, or another system with constraints
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities [rad/s, m/s].
    tau : (nv,) or (N, nv) array
        Joint forces [N m; N for prismatic joints].
    t : float or (N,) array
        Time [s].

    Returns
    -------
    multipliers : (k,) or (N, k) array
        One of each row of `constraint_jacobian`; of `da.constraints.Closure` moments [N m], then
        forces [N]; of a function J over its unit. Of rows that depend on each other, which
        `da.degrees_of_freedom(mechanism, q).not_unique` names, they are not unique: those with the
        least sum of J M^-1 J^T lambda^2, row by row, by its diagonal.

    Raises
    ------
    ShapeError, TypeError, ValueError, QuaternionError
        A vector has the wrong length, no numbers, or one that is not finite; a quaternion is not of
        unit length.
    DalembertError
        There are no constraints.
    SingularMassMatrixError, ConstraintError
        Accelerations are not determined.

    Examples
    --------
    >>> import dalembert as da
    >>> slide = da.Joint("slide", da.Prismatic((0, 0, 1)), "base", "mass")
    >>> mass = da.Mechanism("mass", (da.Body("base"), da.Body("mass", 2.0)), (slide,))
    >>> hung = mass.constrained(da.constraints.Distance("rod", ("base", (0, 0, 3)), "mass", 1.0))
    >>> da.multipliers(hung, [2.0], [0.0], [0.0]).round(2)        # the rod pulls
    array([-19.62])
    """
    vectors = {"q": q, "qd": qd, "tau": tau}
    return _evaluated(mechanism, "multipliers", _multipliers, vectors, t)


def reactions(
    mechanism: Source, q: Values, qd: Values, tau: Values, t: Any = 0.0
) -> dict[str, Array]:
    """Forces of constraints in physical units; they do not depend on how a constraint is scaled or
    signed.

    Parameters
    ----------
    mechanism : Mechanism, or another system with constraints
    q : (nq,) or (N, nq) array
        Coordinates [rad; m for prismatic joints; unit quaternions].
    qd : (nv,) or (N, nv) array
        Velocities [rad/s, m/s].
    tau : (nv,) or (N, nv) array
        Joint forces [N m; N for prismatic joints].
    t : float or (N,) array
        Time [s].

    Returns
    -------
    reactions : dict of (6,) or (nv,) arrays by constraint; of a batch (N, 6), (N, nv)
        Wrench on the body of `second` for `Closure` and `Distance`, on the body of `frame` for
        `Rolling`, `PointContact` and `Knife`: moment about that frame's origin, then force, in the
        base's axes [N m, N]. For all others the generalized force J^T lambda [N m, N]. Programs and
        constraints on velocities by the vakonomic principle, whose forces are not along rows, are
        left out. Where rows depend on each other, reactions are not unique: see `multipliers`.

    Raises
    ------
    ShapeError, TypeError, ValueError, QuaternionError
        A vector has the wrong length, no numbers, or one that is not finite; a quaternion is not of
        unit length.
    DalembertError
        There are no constraints.
    SingularMassMatrixError, ConstraintError
        Accelerations are not determined.

    Examples
    --------
    >>> import dalembert as da
    >>> slide = da.Joint("slide", da.Prismatic((0, 0, 1)), "base", "mass")
    >>> mass = da.Mechanism("mass", (da.Body("base"), da.Body("mass", 2.0)), (slide,))
    >>> hung = mass.constrained(da.constraints.Distance("rod", ("base", (0, 0, 3)), "mass", 1.0))
    >>> da.reactions(hung, [2.0], [0.0], [0.0])["rod"].round(2)
    array([ 0.  ,  0.  ,  0.  ,  0.  ,  0.  , 19.62])
    """
    vectors = {"q": q, "qd": qd, "tau": tau}
    found = _evaluated(mechanism, "constraint_reactions", _reactions, vectors, t)
    system = system_of(mechanism)
    reacting = ConstraintSet(system).principles.rows.reacting
    ends = np.cumsum([system.nv if c.acts_on is None else 6 for c in reacting])
    parts = np.split(found, ends[:-1], axis=-1)
    return {c.name: part for c, part in zip(reacting, parts, strict=False)}
