"""Passivity-based controllers of Slotine and Li, with known parameters and with estimates that
adapt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arguments import put, vector
from dalembert.controllers.checks import (
    Tracking,
    check_bodies,
    followed,
    gains,
    named_arguments,
)
from dalembert.expr import array
from dalembert.formulations import newton_euler
from dalembert.kinematics.forces import passive_force


@named_arguments
@dataclass(frozen=True, eq=False)
class Passivity(Tracking):
    """Passivity-based control: the mechanism's energy is shaped, its Coriolis forces are not
    cancelled.

        tau = M(q) qdd_r + C(q, qd) qd_r + g(q) - passive_force - K s
        qd_r = qd_d - L (q - q_d),    qdd_r = qdd_d - L (qd - qd_d),    s = qd - qd_r

    with q_d, qd_d, qdd_d the reference. The loop M ds/dt + C s + K s = 0 keeps V = 1/2 s^T M s
    decreasing, dV/dt = -s^T K s, as dM/dt - 2 C is skew: s, and with it the error, goes to 0
    exponentially.

    Parameters
    ----------
    mechanism, reference
        As for `ComputedTorque`.
    K : number or (nv,) array, >= 0
        Damping of s [N m s/rad, N s/m].
    L : number or (nv,) array, >= 0
        Rates at which errors die once s = 0 [1/s].

    Raises
    ------
    ShapeError, ValueError, DalembertError

    References
    ----------
    Slotine and Li, On the adaptive control of robot manipulators (1987); Slotine and Li, Applied
    Nonlinear Control (1991), section 9.2.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> control = da.controllers.Passivity(arm, da.controllers.Hold([0.5, 0.0]), K=10.0, L=5.0)
    >>> control(0.0, [0.5, 0.0], [0.0, 0.0]).round(3)
    array([17.218,  4.305])
    """

    K: Any
    L: Any

    def __post_init__(self) -> None:
        self._check(K=self.K, L=self.L)
        check_bodies(self)

    def __call__(self, t: Any, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        s, qd_r, qdd_r = sliding(self, t, q, qd)
        tau = newton_euler.reference_force(self.mechanism, q, qd, qd_r, qdd_r)
        return tau - passive_force(self.mechanism, q, qd) - self.K * s


@named_arguments
@dataclass(frozen=True, eq=False)
class AdaptivePassivity(Tracking):
    """Passivity-based control that does not know the inertial parameters, and adapts its estimates
    of them.

        tau = Y(q, qd, qd_r, qdd_r) p + rotors qdd_r - passive_force - K s
        dp/dt = -G Y^T s

    with Y of `newton_euler.reference_regressor`, p the estimates of `regressor_parameters`, qd_r,
    qdd_r, s of `Passivity`. V = 1/2 s^T M s + 1/2 (p - theta)^T G^-1 (p - theta) decreases, dV/dt =
    -s^T K s: s and the error go to 0. The estimates stay bounded; they go to the true values only
    if the reference excites them. Rotors, springs and friction are taken from the mechanism; of its
    masses, centres and moments of inertia nothing is used.

    Parameters
    ----------
    mechanism, reference, K, L
        As for `Passivity`.
    G : number or (10 n,) array, > 0
        Adaptation gains, per entry of `regressor_parameters` [its unit squared, per J].
    estimates : (10 n,) array, optional
        p at the start [kg, kg m, kg m^2]; by default 0. `run.controller_states` holds p along the
        run.

    Raises
    ------
    ShapeError, ValueError, DalembertError

    References
    ----------
    Slotine and Li (1987), eqs. 6 to 9; Applied Nonlinear Control (1991), eqs. 9.34 to 9.37.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> control = da.controllers.AdaptivePassivity(arm, da.controllers.Hold([0.5, 0.0]), K=10.0, L=5.0, G=0.1)
    >>> control.states.shape
    (20,)
    """

    K: Any
    L: Any
    G: Any
    estimates: Any = None

    def __post_init__(self) -> None:
        self._check(K=self.K, L=self.L)
        check_bodies(self)
        count = 10 * self.mechanism.tree().n
        G = gains(self.G, "G", count, least=np.finfo(float).tiny)
        given = np.zeros(count) if self.estimates is None else self.estimates
        put(self, G=G, estimates=vector(given, "estimates", count))

    @property
    def states(self) -> np.ndarray:
        """Estimates at the start."""
        return self.estimates

    def _regressor(
        self, t: Any, q: np.ndarray, qd: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Y (nv, 10 n), s, qdd_r."""
        s, qd_r, qdd_r = sliding(self, t, q, qd)
        return newton_euler.reference_regressor(self.mechanism, q, qd, qd_r, qdd_r), s, qdd_r

    def __call__(self, t: Any, q: np.ndarray, qd: np.ndarray, states: np.ndarray) -> np.ndarray:
        Y, s, qdd_r = self._regressor(t, q, qd)
        rotors = array(self.mechanism.tree().rotor)
        return Y @ states + rotors * qdd_r - passive_force(self.mechanism, q, qd) - self.K * s

    def rate(self, t: Any, q: np.ndarray, qd: np.ndarray, states: np.ndarray) -> np.ndarray:
        """dp/dt = -G Y^T s of the estimates p of n moving bodies: (10 n,) [SI], at q, qd (nv,) [rad,
        m; rad/s, m/s].

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(2)
        >>> reference = da.controllers.Hold([0.5, 0.0])
        >>> control = da.controllers.AdaptivePassivity(arm, reference, K=10.0, L=5.0, G=0.1)
        >>> control.rate(0.0, [0.5, 0.0], [0.0, 0.0], control.states).shape
        (20,)
        """
        Y, s, _ = self._regressor(t, q, qd)
        return -self.G * (Y.T @ s)


def sliding(
    controller: Passivity | AdaptivePassivity, t: Any, q: np.ndarray, qd: np.ndarray
) -> tuple[np.ndarray, ...]:
    """s, qd_r and qdd_r at a state: (nv,) each [rad/s, m/s; per s^2]."""
    q_d, qd_d, qdd_d = followed(controller.reference, t, controller.system)
    qd_r = qd_d + controller.L * controller.system.difference(q_d, q)
    return qd - qd_r, qd_r, qdd_d + controller.L * (qd_d - qd)
