"""Step 6: G, and the equations of motion D(q) qdd + C(q, qd) qd + G(q) = tau, both ways round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.formulations.lagrange.christoffel import coriolis
from dalembert.formulations.lagrange.energies import inertia
from dalembert.formulations.lagrange.geometry import Geometry, T, opened
from dalembert.formulations.lagrange.solving import factors_of, solved
from dalembert.kinematics.forces import external_wrenches, passive
from dalembert.model.mechanism import Mechanism
from dalembert.spatial.arrays import Array, Values, finite
from dalembert.spatial.ldl import inverted


def gravity_vector(mechanism: Mechanism, q: Values) -> Array:
    """Forces that hold the mechanism against gravity.

        G_k = dPi_g/dq_k = - sum_i m_i g^T J_v,i e_k

    q : (nq,) or (N, nq) [rad, m]. Returns (nv,) or (N, nv) [N m, N]. Springs are not part of it. Errors as for
    `mass_matrix`.
    """
    geometry, _ = opened(mechanism, q=q)
    return weight(geometry)


def weight(geometry: Geometry) -> np.ndarray:
    """G at a configuration."""
    G = geometry.pack([0.0] * geometry.tree.nv)
    for link in geometry.links:
        G = G - link.m * _applied(T(link.J_v), geometry.gravity[link.body])
    return G


@finite
def coriolis_vector(mechanism: Mechanism, q: Values, qd: Values) -> Array:
    """Coriolis and centrifugal forces C(q, qd) qd. Shapes as for `bias_force`."""
    geometry, (qd,) = opened(mechanism, q=q, qd=qd)
    return _applied(coriolis(geometry, qd), qd)


@finite
def bias_force(mechanism: Mechanism, q: Values, qd: Values) -> Array:
    """Coriolis, centrifugal and gravity forces C(q, qd) qd + G(q).

    q : (nq,) or (N, nq) [rad, m]; qd : (nv,) or (N, nv) [rad/s, m/s]. Returns (nv,) or (N, nv) [N m, N]. Springs and
    friction are not part of it. Errors as for `mass_matrix`.
    """
    geometry, (qd,) = opened(mechanism, q=q, qd=qd)
    return _applied(coriolis(geometry, qd), qd) + weight(geometry)


@finite
def inverse_dynamics(mechanism: Mechanism, q: Values, qd: Values, qdd: Values, external_forces: Any = ()) -> Array:
    """Joint forces that produce the given accelerations, by Lagrange's equations.

        tau = D(q) qdd + C(q, qd) qd + G(q) - passive_force - sum_i J_i(q)^T f_i

    Arguments, result and errors as for `newton_euler.inverse_dynamics`.

    References
    ----------
    Kolyubin, Dynamics of robotic systems: the Lagrange method, algorithm and eq. 13. O(n^3): for speed, newton_euler.
    """
    tree, (q, qd, qdd, loads), pack = mechanism.at(q=q, qd=qd, qdd=qdd, external_forces=external_forces)
    geometry = Geometry(mechanism, tree, q, pack)
    return _applied(inertia(geometry), pack(qdd)) - _driving(geometry, qd, loads)


@finite
def forward_dynamics(mechanism: Mechanism, q: Values, qd: Values, tau: Values, external_forces: Any = ()) -> Array:
    """Accelerations that joint forces produce: the inverse of `inverse_dynamics`.

        qdd = D(q)^-1 (tau + passive_force - C(q, qd) qd - G(q) + sum_i J_i(q)^T f_i)

    by D = L^T diag(d) L. Arguments and results as for `inverse_dynamics`; Coulomb friction at rest is 0.

    Raises
    ------
    SingularMassMatrixError
        D is not positive definite; joint and body are named. Not checked on expressions.
    ShapeError, ValueError, QuaternionError, UnknownNameError
    """
    tree, (q, qd, tau, loads), pack = mechanism.at(q=q, qd=qd, tau=tau, external_forces=external_forces)
    geometry = Geometry(mechanism, tree, q, pack)
    b = pack(tau) + _driving(geometry, qd, loads)
    return solved(factors_of(geometry, inertia(geometry)), b[..., None])[..., 0]


def _driving(geometry: Geometry, qd: Sequence[Any], loads: Any) -> np.ndarray:
    """All forces but the actuators' and D qdd: passive and external ones, - C qd - G."""
    velocity = geometry.pack(qd)
    force = geometry.pack(passive(geometry.tree, geometry.q, qd)) - weight(geometry)
    force = force - _applied(coriolis(geometry, velocity), velocity)
    for i, wrench in external_wrenches(geometry.tree, geometry.q, loads).items():
        R = geometry.pose[i].R
        in_frame = geometry.pack([*R.to_parent(wrench.moment), *R.to_parent(wrench.force)])
        force = force + _applied(geometry.J[i], in_frame)
    return force


@finite
def inverse_mass_matrix(mechanism: Mechanism, q: Values) -> Array:
    """Inverse of the mass matrix. q : (nq,) or (N, nq). Returns (nv, nv) or (N, nv, nv).

    Raises
    ------
    SingularMassMatrixError
        As for `forward_dynamics`.
    """
    geometry, _ = opened(mechanism, q=q)
    D = inertia(geometry)
    return geometry.pack(inverted(factors_of(geometry, D)), shape=D.shape[-2:])


def _applied(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x with the batch in front of both."""
    return (A @ x[..., None])[..., 0]
