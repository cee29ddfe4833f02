"""Identities that the equations of motion of any mechanism satisfy, each with its residual."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import dalembert as da
from dalembert.kinematics.forces import friction_force
from dalembert.model.mechanism import Mechanism

ALGEBRAIC = 1e-12  # of the largest entry: rounding of double precision
DIFFERENCED = (
    1e-9  # of the largest entry: five-point differences, step^4 truncation and rounding / step
)
STEP = 1e-3  # of the differences [s]: truncation and rounding are about 1e-12 there


class IdentityCheck(NamedTuple):
    """An identity, which holds where `residual <= tolerance`."""

    text: str
    residual: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """Whether the residual is within its tolerance."""
        return bool(self.residual <= self.tolerance)  # not a number: does not hold


def identities(
    mechanism: Mechanism, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> list[IdentityCheck]:
    """All identities at one state; residuals are relative to the largest entry.

    Raises
    ------
    SingularMassMatrixError
        The mass matrix is singular, so forward dynamics is not determined.
    """
    M = da.mass_matrix(mechanism, q)
    C = da.coriolis_matrix(mechanism, q, qd)
    g = da.gravity_vector(mechanism, q)
    bias = da.bias_force(mechanism, q, qd)
    tau = da.inverse_dynamics(mechanism, q, qd, qdd)
    T = da.kinetic_energy(mechanism, q, qd)
    p = da.momenta(mechanism, q, qd)
    return [
        IdentityCheck("M = M^T", difference(M, M.T), ALGEBRAIC),
        _positive(M),
        IdentityCheck("1/2 qd.M qd = kinetic energy T", difference(qd @ M @ qd / 2, T), ALGEBRAIC),
        IdentityCheck("M qd = momenta", difference(M @ qd, p), ALGEBRAIC),
        IdentityCheck("column j of M = ID(q, 0, e_j) - g", _columns(mechanism, q, M, g), ALGEBRAIC),
        IdentityCheck("C qd + g = bias force", difference(C @ qd + g, bias), ALGEBRAIC),
        _skew(mechanism, q, qd, C),
        IdentityCheck(
            "g = gradient of gravity's potential",
            _gravity(mechanism, q, g),
            DIFFERENCED,
        ),
        _round_trip(mechanism, q, qd, qdd, M, bias, tau),
        _power(mechanism, q, qd, qdd, tau),
    ]


def difference(a: Any, b: Any, scale: Any = 0.0) -> float:
    """Largest difference beside the largest entry of a, b and `scale`."""
    largest = max(np.max(np.abs(x), initial=0.0) for x in (a, b, scale))
    return float(np.max(np.abs(np.subtract(a, b)), initial=0.0) / largest) if largest else 0.0


def _positive(M: np.ndarray) -> IdentityCheck:
    eigenvalues = np.linalg.eigvalsh(M) if M.size else np.ones(1)
    text = f"M is positive definite: eigenvalues {eigenvalues[0]:.3g} to {eigenvalues[-1]:.3g}"
    return IdentityCheck(text, max(0.0, -float(eigenvalues[0])) if eigenvalues[0] else 1.0, 0.0)


def _columns(mechanism: Mechanism, q: np.ndarray, M: np.ndarray, g: np.ndarray) -> float:
    still = mechanism.without(
        "friction", "springs"
    )  # ID of a mechanism at rest, without its springs
    rest, unit = np.zeros(mechanism.nv), np.eye(mechanism.nv)
    elastic = da.passive_force(still, q, rest)  # of beams
    tau = da.inverse_dynamics(still, q, rest, unit)
    return difference(tau + elastic - g, M.T, elastic)  # row j: column j


def _skew(mechanism: Mechanism, q: np.ndarray, qd: np.ndarray, C: np.ndarray) -> IdentityCheck:
    rate = along(lambda s: da.mass_matrix(mechanism, mechanism.integrate(q, s[:, None] * qd)))
    N = rate - 2 * C
    return IdentityCheck("dM/dt - 2 C is skew", difference(N, -N.T, scale=rate), DIFFERENCED)


def _gravity(mechanism: Mechanism, q: np.ndarray, g: np.ndarray) -> float:
    """Difference of g and the gradient of the potential energy, less forces of beams and drives."""
    bare = mechanism.without("springs")

    def rate(direction: np.ndarray) -> float:
        """Derivative of the potential energy along one direction [J]."""
        return along(lambda s: da.potential_energy(bare, bare.integrate(q, s[:, None] * direction)))

    gradient = np.array([rate(e) for e in np.eye(mechanism.nv)])
    elastic = da.passive_force(bare, q, np.zeros(mechanism.nv))
    return difference(g, gradient + elastic, elastic)


def _round_trip(mechanism, q, qd, qdd, M, bias, tau) -> IdentityCheck:
    """Backward error: the image of the difference under M beside the sizes of the terms."""
    found = da.forward_dynamics(mechanism, q, qd, tau)
    scale = np.linalg.norm(M, np.inf) * np.max(np.abs(qdd), initial=0.0) if M.size else 0.0
    return IdentityCheck(
        "FD after ID gives qdd back",
        difference(M @ found, M @ qdd, (scale, *bias, *tau)),
        ALGEBRAIC,
    )


def _power(mechanism, q, qd, qdd, tau) -> IdentityCheck:
    def energy(s):
        """T + Pi at time s of the motion with the given velocities and accelerations."""
        moved = mechanism.integrate(q, s[:, None] * qd)
        faster = qd + s[:, None] * qdd
        return da.kinetic_energy(mechanism, moved, faster) + da.potential_energy(mechanism, moved)

    friction = friction_force(mechanism, q, qd)
    terms = (tau + friction) * qd
    return IdentityCheck(
        "d(T + Pi)/dt = (tau + friction).qd",
        difference(along(energy), terms.sum(), terms),
        DIFFERENCED,
    )


def along(function: Callable[[np.ndarray], Any]) -> Any:
    """Derivative at 0 of a function that takes a batch of steps: the five-point difference."""
    f = function(STEP * np.array([-2.0, -1.0, 1.0, 2.0]))
    return (f[0] - f[3] + 8 * (f[2] - f[1])) / (12 * STEP)
