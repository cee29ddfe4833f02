"""Matrices of small motions about states of a mechanism, compiled where many are asked for."""

from __future__ import annotations

from collections.abc import (
    Mapping,
    Sequence,
)
from typing import (
    Any,
    NamedTuple,
)

import numpy as np

from dalembert.analysis.states import numeric_system
from dalembert.arguments import check_instance
from dalembert.compiled.memo import (
    PLAIN,
    kept,
)
from dalembert.errors import (
    DalembertError,
    UnknownNameError,
)
from dalembert.formulations.newton_euler.derivatives import inverse_dynamics_derivatives
from dalembert.formulations.newton_euler.inverse import bias_force
from dalembert.kinematics.forces import (
    passive_force,
    stiffness_and_damping,
)
from dalembert.kinematics.jacobians import (
    jacobian,
    jacobian_rate,
)
from dalembert.model.external_forces import opened_loads
from dalembert.model.mechanism import Mechanism
from dalembert.native.function import (
    CompiledFunction,
    function,
)
from dalembert.spatial.arrays import (
    Array,
    finite_results,
)

FEW = 8  # states that plain functions take together
ALL = "all"  # joints


class TangentMatrices(NamedTuple):
    """Forces of a motion without accelerations, and their derivatives, (N, nv) and (N, nv, nv).

    force : joint forces that hold the motion [N m, N]
    stiffness, velocity, mass : derivatives by q (along `integrate`), qd and qdd
    """

    force: Array
    stiffness: Array
    velocity: Array
    mass: Array


def checked_mechanism(mechanism: Any, purpose: str) -> Mechanism:
    """The mechanism, if it is one with numbers and without constraints.

    Raises
    ------
    TypeError, DalembertError, ParameterError
    """
    check_instance("mechanism", mechanism, Mechanism, "a da.Mechanism")
    numeric_system(mechanism, purpose)
    if mechanism.constraints:
        raise DalembertError(
            f"{mechanism.name!r} {purpose}: it has constraints, whose tangent model "
            "da.linearize(mechanism, q, qd, tau) gives."
        )
    return mechanism


def full_coordinates(mechanism: Mechanism, q: Any) -> Array:
    """Coordinates (nq,) or (N, nq), given in full or by name, where others are neutral (0).

    Raises
    ------
    UnknownNameError, ShapeError, ValueError, QuaternionError
    """
    if isinstance(q, Mapping):
        q = _named(q, mechanism.coordinate_names, mechanism.neutral())
    (columns,), _, pack = mechanism.opened(q=q)
    return pack(columns)


def full_velocities(mechanism: Mechanism, qd: Any) -> Array:
    """Velocities (nv,) or (N, nv), given in full or by name, where others are 0.

    Raises
    ------
    UnknownNameError, ShapeError, ValueError
    """
    if isinstance(qd, Mapping):
        qd = _named(qd, mechanism.velocity_names, np.zeros(mechanism.nv))
    (columns,), _, pack = mechanism.opened(qd=qd)
    return pack(columns)


def _named(values: Mapping[str, Any], names: Sequence[str], others: np.ndarray) -> np.ndarray:
    for name in values:
        if name not in names:
            raise UnknownNameError("coordinate", name, tuple(names))
    columns = [values.get(name, other) for name, other in zip(names, others, strict=True)]
    return np.stack(np.broadcast_arrays(*columns), axis=-1) if columns else others


def entries_named(mechanism: Mechanism, names: Any) -> list[int]:
    """Entries of qd of joints, elastic bodies or single velocities, by name; 'all' joints. A joint goes
    before a body of its name.

    Raises
    ------
    UnknownNameError
    """
    holders = {holder.name: holder for holder in reversed(mechanism.holders)}
    if isinstance(names, str) and names == ALL:
        names = [holder.name for holder in mechanism.holders if not holder.is_body]
    found: list[int] = []
    for name in (names,) if isinstance(names, str) else names:
        if name in holders:
            found += holders[name].entry.at_v
        elif name in mechanism.velocity_names:
            found.append(mechanism.velocity_names.index(name))
        else:
            raise UnknownNameError("joint", name, (*holders, *mechanism.velocity_names))
    return sorted({*found})


def tangent_matrices(mechanism: Mechanism, q: Array, qd: Array | None = None) -> TangentMatrices:
    """Forces and matrices at states q (N, nq), qd (N, nv), by default at rest.

    The first few are found by the plain functions; compiling takes as long as several of them.
    """
    rates = np.broadcast_to(np.zeros(mechanism.nv) if qd is None else qd, (len(q), mechanism.nv))
    turning = tuple(np.flatnonzero(np.any(rates, axis=0)).tolist())
    uses = kept(mechanism, ("uses of tangent matrices", turning), lambda: [0])
    uses[0] += 1
    if len(q) <= FEW and uses[0] <= PLAIN:
        return _matrices(mechanism, q, rates)
    compiled = kept(mechanism, ("tangent matrices", turning), lambda: _compiled(mechanism, turning))
    return TangentMatrices(*(finite_results(x) for x in compiled(q, rates[:, turning])))


def _matrices(mechanism: Mechanism, q: Any, qd: Any) -> TangentMatrices:
    force = bias_force(mechanism, q, qd) - passive_force(mechanism, q, qd)
    rest = np.zeros(mechanism.nv)
    return TangentMatrices(force, *inverse_dynamics_derivatives(mechanism, q, qd, rest))


def _compiled(mechanism: Mechanism, turning: Sequence[int]) -> CompiledFunction[Any]:
    """The matrices as functions of q and of the velocities that are not 0."""

    def matrices(q: Any, rates: Any) -> Any:
        """Forces and derivatives at a state."""
        qd = np.zeros(mechanism.nv, dtype=object)
        qd[list(turning)] = rates
        return tuple(_matrices(mechanism, q, qd))

    return function(matrices, q=mechanism.nq, rates=len(turning))


def passive_matrices(
    mechanism: Mechanism, q: Array, qd: Array | None = None
) -> tuple[Array, Array]:
    """Stiffness and damping of springs, friction and beams at states (N, nq), (N, nv, nv) each."""
    n = mechanism.nv
    rates = np.zeros((len(q), n)) if qd is None else np.broadcast_to(qd, (len(q), n))
    stiffness, damping = np.zeros((2, len(q), n, n))
    columns, _, _ = mechanism.opened(q=q, qd=rates)
    for row, column, k, d in stiffness_and_damping(mechanism.tree(), *columns):
        stiffness[:, row, column] += k
        damping[:, row, column] += d
    return stiffness, damping


def external_matrices(mechanism: Mechanism, q: Array, external_forces: Any) -> tuple[Array, Array]:
    """Generalized forces of external forces at states (N, nq), (N, nv), and their derivatives along
    the velocity directions, (N, nv, nv).
    """
    n = mechanism.nv
    loads, _ = opened_loads(external_forces)
    if not loads:
        return np.zeros((len(q), n)), np.zeros((len(q), n, n))
    forces = np.zeros((len(q), n))
    by_q = np.zeros((len(q), n, n))
    steps = np.tile(np.eye(n), (len(q), 1))
    states = np.repeat(q, n, axis=0)
    for load in external_forces:
        J = jacobian(mechanism, q, load.frame, load.expressed_in)
        J_rate = jacobian_rate(mechanism, states, steps, load.frame, load.expressed_in)
        force, moment, point = (
            np.asarray(x, dtype=float) for x in (load.force, load.moment, load.point)
        )
        wrench = np.concatenate([moment + np.cross(point, force), force], axis=-1)
        wrench = np.broadcast_to(wrench, (len(q), 6))[..., None]
        forces += (np.swapaxes(J, -1, -2) @ wrench)[..., 0]
        rates = J_rate.reshape(len(q), n, 6, n)  # along each step
        by_q += np.einsum("nsij,nik->njs", rates, wrench)
    return forces, by_q
