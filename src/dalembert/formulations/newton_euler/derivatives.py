"""Derivatives of the dynamics, exact: those of the traced expressions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import Graph, evaluate, jacobian, substitute, symbols
from dalembert.formulations.newton_euler.forward import forward_dynamics
from dalembert.formulations.newton_euler.inverse import inverse_dynamics
from dalembert.formulations.newton_euler.mass_matrix import inverse_mass_matrix, mass_matrix
from dalembert.model.mechanism import Mechanism


class InverseDynamicsDerivatives(NamedTuple):
    """Derivatives of tau, (nv, nv) or (N, nv, nv) each; by q along the velocity directions."""

    dtau_dq: np.ndarray
    dtau_dqd: np.ndarray
    mass_matrix: np.ndarray


class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of qdd, (nv, nv) or (N, nv, nv) each; by q along the velocity directions."""

    dqdd_dq: np.ndarray
    dqdd_dqd: np.ndarray
    dqdd_dtau: np.ndarray


class Linearization(NamedTuple):
    """x' = A x + B u about a state, x = (step of q, step of qd) in tangent coordinates."""

    A: np.ndarray
    B: np.ndarray


def inverse_dynamics_derivatives(mechanism: Mechanism, q: Any, qd: Any, qdd: Any) -> InverseDynamicsDerivatives:
    """Derivatives of `inverse_dynamics` by q, qd and qdd.

    Of floats by way of expressions: exact, and slow here; `compile` makes them fast. Shapes and errors as for
    `inverse_dynamics`. A derivative by q is that along `integrate(q, step)`, so of a quaternion along its three
    angular velocities.
    """
    def traced(q, qd, qdd):
        tau = inverse_dynamics(mechanism, q, qd, qdd)
        by_q, by_qd = along_velocities(mechanism, tau, q), jacobian(tau, qd)
        return by_q, by_qd, mass_matrix(mechanism, q)

    return InverseDynamicsDerivatives(*_on_any(mechanism, traced, q=q, qd=qd, qdd=qdd))


def forward_dynamics_derivatives(mechanism: Mechanism, q: Any, qd: Any, tau: Any) -> ForwardDynamicsDerivatives:
    """Derivatives of `forward_dynamics` by q, qd and tau.

        dqdd/dq = - M^-1 dID/dq (q, qd, qdd),    dqdd/dqd = - M^-1 dID/dqd,    dqdd/dtau = M^-1

    Shapes and errors as for `forward_dynamics`; by q along `integrate(q, step)`.
    """
    def traced(q, qd, tau):
        qdd = forward_dynamics(mechanism, q, qd, tau)
        at = symbols("acceleration", len(qdd))
        force = inverse_dynamics(mechanism, q, qd, at)
        pairs = dict(zip(at, qdd, strict=True))
        inverse = inverse_mass_matrix(mechanism, q)
        by_q = -(inverse @ substitute(along_velocities(mechanism, force, q), pairs))
        by_qd = -(inverse @ substitute(jacobian(force, qd), pairs))
        return by_q, by_qd, inverse

    inverse_mass_matrix(mechanism, q)                               # raises where accelerations are not determined
    return ForwardDynamicsDerivatives(*_on_any(mechanism, traced, q=q, qd=qd, tau=tau))


def linearize(mechanism: Mechanism, q: Any, qd: Any, tau: Any) -> Linearization:
    """Linear model of the motion about a state, in tangent coordinates.

        d/dt (dq; dqd) = A (dq; dqd) + B dtau,    A = [[G, 1], [dqdd/dq, dqdd/dqd]],    B = [[0], [M^-1]]

    dq is a step of `integrate`. G is 0 but for spherical and free joints, whose steps are seen from the moving child:
    -[w]x for the angular step, and for a free joint's linear step -[v]x times the angular and -[w]x times itself.
    Returns (2 nv, 2 nv) and (2 nv, nv), batch leading.
    """
    found = forward_dynamics_derivatives(mechanism, q, qd, tau)
    batch, n = found.dqdd_dq.shape[:-2], mechanism.nv
    dtype = found.dqdd_dq.dtype
    A, B = np.zeros((*batch, 2 * n, 2 * n), dtype), np.zeros((*batch, 2 * n, n), dtype)
    A[..., :n, n:] = np.eye(n)
    A[..., :n, :n] = _turning(mechanism, np.asarray(qd))
    A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = found
    return Linearization(A, B)


def _turning(mechanism: Mechanism, qd: np.ndarray) -> np.ndarray:
    """G of `linearize`: rate of a step that rides on joints whose velocity axes move with the child."""
    G = np.zeros((*qd.shape, mechanism.nv), qd.dtype if qd.dtype == object else float)
    for joint in mechanism.independent_joints:
        if joint.type.quaternion_at is None:
            continue
        k = mechanism.entries[joint.name].at_v.start
        blocks = [(0, 0, 0)] if joint.type.nv == 3 else [(0, 0, 0), (3, 3, 0), (3, 0, 3)]
        for row, column, velocity in blocks:
            for i in range(3):
                j, l = (i + 1) % 3, (i + 2) % 3
                G[..., k + row + i, k + column + j] = qd[..., k + velocity + l]
                G[..., k + row + j, k + column + i] = -qd[..., k + velocity + l]
    return G


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
        inputs = {name: symbols(name, a.shape[-1]) for name, a in arrays.items()}
        outputs = traced(*inputs.values())
        rows = np.broadcast_shapes(*(a.shape[:-1] for a in arrays.values()))
        values = {s: np.broadcast_to(a[..., k], rows).astype(float)
                  for name, a in arrays.items() for k, s in enumerate(inputs[name])}
        return [np.array(np.broadcast_to(evaluate(o, values), (*rows, *o.shape)), dtype=float) for o in outputs]
