"""The derivatives of `derivatives.py` in another way: of the traced expressions, node by node.

They check the recursion, and are fewer operations for mechanisms of few joints, above all planar
ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.expr import Graph, evaluate, jacobian, substitute, symbols
from dalembert.formulations.newton_euler.derivatives import (
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    linearization,
)
from dalembert.formulations.newton_euler.forward import forward_dynamics
from dalembert.formulations.newton_euler.inverse import inverse_dynamics
from dalembert.formulations.newton_euler.linearization import Linearization
from dalembert.formulations.newton_euler.mass_matrix import inverse_mass_matrix, mass_matrix
from dalembert.model.mechanism import Mechanism


def inverse_dynamics_derivatives(
    mechanism: Mechanism, q: Any, qd: Any, qdd: Any
) -> InverseDynamicsDerivatives:
    """Derivatives of the expressions of `inverse_dynamics`, which are traced and evaluated where
    the state is of floats.
    """

    def traced(q, qd, qdd):
        """Derivatives of the forces, differentiated as expressions."""
        tau = inverse_dynamics(mechanism, q, qd, qdd)
        by_q = along_velocities(mechanism, tau, q)
        by_qd = jacobian(tau, qd)
        return by_q, by_qd, mass_matrix(mechanism, q)

    return InverseDynamicsDerivatives(*_on_any(mechanism, traced, q=q, qd=qd, qdd=qdd))


def forward_dynamics_derivatives(
    mechanism: Mechanism, q: Any, qd: Any, tau: Any
) -> ForwardDynamicsDerivatives:
    """-M^-1 times the derivatives of the expressions of `inverse_dynamics`, and M^-1."""

    def traced(q, qd, tau):
        """Derivatives of the accelerations, from those of the forces at these accelerations."""
        qdd = forward_dynamics(mechanism, q, qd, tau)
        at = symbols("input acceleration", len(qdd))
        force = inverse_dynamics(mechanism, q, qd, at)
        pairs = dict(zip(at, qdd, strict=True))
        inverse = inverse_mass_matrix(mechanism, q)
        by_q = -(inverse @ substitute(along_velocities(mechanism, force, q), pairs))
        by_qd = -(inverse @ substitute(jacobian(force, qd), pairs))
        return by_q, by_qd, inverse

    return ForwardDynamicsDerivatives(*_on_any(mechanism, traced, q=q, qd=qd, tau=tau))


def linearize(mechanism: Mechanism, q: Any, qd: Any, tau: Any) -> Linearization:
    """The linear model of the motion from these derivatives."""
    return linearization(mechanism, qd, forward_dynamics_derivatives(mechanism, q, qd, tau))


def along_velocities(mechanism: Mechanism, values: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Derivatives of expressions by q along the velocity directions: (len(values), nv)."""
    by_entries = jacobian(values, q)
    if mechanism.nq == mechanism.nv:
        return by_entries
    rates = np.array([mechanism.rate(q, e) for e in np.eye(mechanism.nv)], dtype=object)
    return by_entries @ rates.T


def _on_any(mechanism: Mechanism, traced, **vectors):
    """A function of expressions on expressions, or traced once and evaluated on floats."""
    arrays = {name: np.asarray(a) for name, a in vectors.items()}
    mechanism.at(**arrays)
    if any(a.dtype == object for a in arrays.values()):
        return traced(*arrays.values())
    with Graph():
        inputs = {name: symbols(f"input {name}", a.shape[-1]) for name, a in arrays.items()}
        outputs = traced(*inputs.values())
        rows = np.broadcast_shapes(*(a.shape[:-1] for a in arrays.values()))
        values = {
            s: np.broadcast_to(a[..., k], rows).astype(float)
            for name, a in arrays.items()
            for k, s in enumerate(inputs[name])
        }
        return [
            np.array(np.broadcast_to(evaluate(o, values), (*rows, *o.shape)), dtype=float)
            for o in outputs
        ]
