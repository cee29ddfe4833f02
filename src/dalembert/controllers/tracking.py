"""Controllers that follow a trajectory by the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arguments import put
from dalembert.controllers.checks import Tracking, followed, gains, named_arguments


@named_arguments
@dataclass(frozen=True, eq=False)
class ComputedTorque(Tracking):
    """Inverse dynamics of the accelerations that let the error die away: the loop is linear and
    uncoupled.

        tau = M(q) (qdd_r + k_d ed + k_p e) + C(q, qd) qd + g(q) - passive_force,    e = q_r - q

    With the exact model edd + k_d ed + k_p e = 0 whatever the motion: exponentially stable for k_p,
    k_d > 0, critically damped (the default) for k_d = 2 sqrt(k_p).

    Parameters
    ----------
    mechanism : Mechanism
        The model; it may differ from the mechanism simulated. Joints without quaternions.
    reference : function t -> (q, qd, qdd)
        [rad, m; per s; per s^2], of operations that expressions know; `Hold`, `Sinusoids`,
        `Quintic` are such.
    k_p : number or (nv,) array, >= 0
        Squared natural frequencies [1/s^2].
    k_d : number or (nv,) array, >= 0, optional
        [1/s]

    Raises
    ------
    ShapeError, ValueError, DalembertError
        Gains or reference have another length; a gain is negative; a joint has a quaternion.

    References
    ----------
    Luh, Walker, Paul (1980); Siciliano et al. (2009), eqs. 8.57 to 8.60.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> control = da.controllers.ComputedTorque(arm, da.controllers.Hold([0.5, 0.0]), k_p=100.0)
    >>> control(0.0, [0.5, 0.0], [0.0, 0.0]).round(3)
    array([17.218,  4.305])
    """

    k_p: Any = 100.0
    k_d: Any = None

    def __post_init__(self) -> None:
        self._check(k_p=self.k_p)
        k_d = 2 * np.sqrt(self.k_p) if self.k_d is None else self.k_d
        put(self, k_d=gains(k_d, "k_d", self.system.nv))

    def __call__(self, t: Any, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        q_r, qd_r, qdd_r = followed(self.reference, t, self.system)
        wanted = qdd_r + self.k_d * (qd_r - qd) + self.k_p * self.system.difference(q_r, q)
        return self.system.inverse_dynamics(q, qd, wanted, t)


@named_arguments
@dataclass(frozen=True, eq=False)
class FeedForward(Tracking):
    """The model's forces along the reference, and a PD around it.

        tau = M(q_r) qdd_r + C(q_r, qd_r) qd_r + g(q_r) - passive_force(q_r, qd_r) + K_p e + K_d ed

    The feed-forward part depends on time alone. Exponentially stable about the reference for gains
    large enough against the change of the model's forces with q and qd; with smaller ones other
    equilibria may exist.

    Parameters
    ----------
    mechanism, reference
        As for `ComputedTorque`.
    K_p, K_d : number or (nv,) array, >= 0
        Stiffness [N m/rad, N/m] and damping [N m s/rad, N s/m].

    Raises
    ------
    ShapeError, ValueError, DalembertError

    References
    ----------
    Wen and Bayard, New class of control laws for robotic manipulators (1988); Kelly, Santibanez,
    Loria, Control of Robot Manipulators in Joint Space (2005), chapter 12: bounds of the gains.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> control = da.controllers.FeedForward(arm, da.controllers.Hold([0.5, 0.0]), K_p=100.0, K_d=20.0)
    >>> control(0.0, [0.5, 0.0], [0.0, 0.0]).round(3)
    array([17.218,  4.305])
    """

    K_p: Any
    K_d: Any

    def __post_init__(self) -> None:
        self._check(K_p=self.K_p, K_d=self.K_d)

    def __call__(self, t: Any, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        q_r, qd_r, qdd_r = followed(self.reference, t, self.system)
        given = self.system.inverse_dynamics(q_r, qd_r, qdd_r, t)
        return given + self.K_p * self.system.difference(q_r, q) + self.K_d * (qd_r - qd)
