"""Forward and inverse dynamics of mechanisms with constraints, of one state or a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dalembert.analysis.states import each_state, numeric_system
from dalembert.analysis.tangent_model import TangentLinearization, tangent_linearization
from dalembert.errors import ConstraintError, DalembertError, ShapeError
from dalembert.formulations.newton_euler.derivatives import ForwardDynamicsDerivatives
from dalembert.kinematics.forces import external_joint_forces
from dalembert.model.mechanism import Mechanism
from dalembert.systems import constrained_derivatives
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.driving_forces import driving_forces
from dalembert.systems.kinds import system_of

OFF = 1e-7  # of J qdd = k, relative to its terms: accelerations that are off by more break it


def forward_dynamics(
    mechanism: Mechanism, q: Any, qd: Any, tau: Any, external_forces: Any, t: float
) -> np.ndarray:
    """Accelerations with multipliers (nv,) or (N, nv)."""
    system = system_of(mechanism)
    internal = zip(system.internal_names, system.internal_states, strict=True)
    if missing := [name for name, value in internal if np.isnan(value)]:
        raise DalembertError(
            f"accelerations of {mechanism.name!r} depend on {', '.join(missing)}, which have no "
            "value: simulate(..., multipliers0=...) gives them one."
        )

    def accelerations(q: Any, qd: Any, tau: Any) -> Any:
        """Accelerations at one state."""
        return system.forward_dynamics(q, qd, tau, t)

    applied = np.asarray(tau) + external_joint_forces(mechanism, q, external_forces)
    return each_state(accelerations, mechanism, q=q, qd=qd, tau=applied)  # type: ignore[no-any-return]


def inverse_dynamics(
    mechanism: Mechanism, state: Sequence[Any], external_forces: Any, weights: Any, t: float
) -> np.ndarray:
    """Forces of the driven joints (nv,) or (N, nv) at q, qd, qdd."""
    system = system_of(mechanism)
    principles = ConstraintSet(system).principles
    principles.check_along_rows("inverse dynamics", actuators_too=True)
    rows = principles.rows
    w = None if weights is None else _weights(mechanism, system.driven, weights)

    def forces(q: Any, qd: Any, qdd: Any, external: Any) -> Any:
        """Forces at one state."""
        required = system.required_force(q, qd, qdd, t) - external
        found = rows.rates(q, qd, t)
        if required.dtype != object and rows.constraints:
            _check_accelerations(rows, found, qdd)
        return driving_forces(required, found.jacobian, system.driven, w, system.undriven)

    q, qd, qdd = state
    external = external_joint_forces(mechanism, q, external_forces)
    return each_state(forces, mechanism, q=q, qd=qd, qdd=qdd, external=external)  # type: ignore[no-any-return]


def forward_dynamics_derivatives(
    mechanism: Mechanism, q: Any, qd: Any, tau: Any, t: float
) -> ForwardDynamicsDerivatives:
    """Derivatives of accelerations with multipliers."""
    system = system_of(mechanism)

    def found(q: Any, qd: Any, tau: Any) -> ForwardDynamicsDerivatives:
        """Derivatives at one state."""
        return constrained_derivatives.forward_dynamics_derivatives(system, q, qd, tau, t)

    return each_state(found, mechanism, q=q, qd=qd, tau=tau)  # type: ignore[no-any-return]


def linearize(
    mechanism: Mechanism, state: Sequence[Any], t: float, independent: Sequence[str]
) -> TangentLinearization:
    """The linear model at q, qd, tau."""
    return tangent_linearization(numeric_system(mechanism, "has no state"), state, t, independent)


def _weights(mechanism: Mechanism, driven: Sequence[int], weights: Any) -> np.ndarray:
    """Weights of the driven entries, all positive."""
    if isinstance(weights, Mapping):
        of_entry: dict[int, Any] = {}
        for name, weight in weights.items():
            mechanism.joint(name)  # raises if there is none
            of_entry |= dict.fromkeys(mechanism.entries[name].at_v, weight)
        weights = [of_entry.get(k, 1.0) for k in driven]
    w = np.asarray(weights, dtype=float)
    if w.shape != (len(driven),) or not (w > 0).all():
        names = ", ".join(mechanism.velocity_names[k] for k in driven)
        raise ShapeError(
            f"weights are {w}, expected {len(driven)} positive numbers, of the driven joints' "
            f"entries: {names}.",
            "weights",
            w.shape,
            (len(driven),),
        )
    return w


def _check_accelerations(rows: ConstraintSet, found: Any, qdd: np.ndarray) -> None:
    """Raise a ConstraintError if accelerations break J qdd = k."""
    off = found.jacobian @ qdd - found.bias
    size = 1.0 + np.abs(found.jacobian) @ np.abs(qdd) + np.abs(found.bias)
    worst = int(np.argmax(np.abs(off) / size))
    if abs(off[worst]) > OFF * size[worst]:
        raise ConstraintError(
            f"qdd breaks {rows.labels[worst]!r} of {rows.system.name!r}: J qdd = "
            f"{float(found.bias[worst] + off[worst]):.6g}, expected {float(found.bias[worst]):.6g}. "
            "Give qdd = B v' + drift of da.minimal_form, with v' of the independent joints.",
            rows.labels[worst],
        )
