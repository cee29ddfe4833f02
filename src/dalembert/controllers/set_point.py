"""Controllers that go to a posture and stay there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arguments import put, vector
from dalembert.controllers.checks import (
    ask_goal,
    check_drives,
    gains,
    named_arguments,
    system_under,
)
from dalembert.errors import public_names
from dalembert.systems.system import System


@dataclass(frozen=True, eq=False)
class SetPoint:
    """A mechanism, the posture to go to, and checked gains: the base of the controllers below."""

    mechanism: Any
    q_ref: Any
    K_p: Any
    K_d: Any
    unchanging = True  # traced once
    __dir__ = public_names

    def __post_init__(self) -> None:
        system = self.system
        if callable(self.q_ref):
            raise TypeError(
                f"{type(self).__name__}: q_ref is a {type(self.q_ref).__name__}, a function of "
                "time; it goes to a posture, numbers (nq,), such as Hold(q).q. ComputedTorque, "
                "FeedForward and Passivity follow references."
            )
        nv = system.nv
        put(self, q_ref=vector(self.q_ref, "q_ref", system.nq))
        put(self, K_p=gains(self.K_p, "K_p", nv), K_d=gains(self.K_d, "K_d", nv))
        check_drives(system, self.K_p + self.K_d)
        system.difference(self.q_ref, self.q_ref)  # checks its quaternions
        ask_goal(system, self.q_ref)

    @cached_property
    def system(self) -> System:
        """The equations of motion of the model."""
        return system_under(self)

    def _spring_and_damper(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return self.K_p * self.system.difference(self.q_ref, q) - self.K_d * qd


@named_arguments
@dataclass(frozen=True, eq=False)
class PD(SetPoint):
    """Spring and damper on each joint.

        tau = K_p e - K_d qd,    e = q_ref - q

    e is `mechanism.difference`: continuous joints go the shorter way round, a quaternion's e is its
    rotation vector in the child's axes. V = T + Pi + 1/2 e^T K_p e decreases with dV/dt = -qd^T K_d
    qd less friction's power, so that every motion ends at an equilibrium, K_p e = dPi/dq: short of
    q_ref where gravity or springs load a joint. For a quaternion this needs equal gains about its
    three axes.

    Parameters
    ----------
    mechanism : Mechanism
    q_ref : (nq,) array
        Set point [rad, m, unit quaternions].
    K_p, K_d : number or (nv,) array, >= 0
        Stiffness [N m/rad, N/m] and damping [N m s/rad, N s/m].

    Raises
    ------
    ShapeError, ValueError, QuaternionError
    ModelError
        The mechanism has elastic bodies; a gain of a flexible joint is not 0.

    References
    ----------
    Siciliano, Sciavicco, Villani, Oriolo, Robotics (2009), section 8.5.1.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> control = da.controllers.PD(arm, [0.5, 0.0], K_p=100.0, K_d=20.0)
    >>> control(0.0, [0.0, 0.0], [0.0, 0.0])
    array([50.,  0.])
    """

    def __call__(self, t: Any, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return self._spring_and_damper(q, qd)


@named_arguments
@dataclass(frozen=True, eq=False)
class GravityPD(SetPoint):
    """PD that carries the load of gravity and springs at the posture where the mechanism is.

        tau = K_p e - K_d qd + dPi/dq

    V = T + 1/2 e^T K_p e decreases with dV/dt = -qd^T K_d qd less friction's power. With K_p, K_d >
    0 the set point is the only equilibrium, asymptotically stable from everywhere (LaSalle) but for
    rotations by half a turn; with Coulomb friction the mechanism may stop where |K_p e| is less
    than it. Parameters and errors as for `PD`.

    References
    ----------
    Takegaki and Arimoto, A new feedback method for dynamic control of manipulators (1981);
    Siciliano et al. (2009), eq. 8.51.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(2)
    >>> control = da.controllers.GravityPD(arm, [0.5, 0.0], K_p=100.0, K_d=20.0)
    >>> control(0.0, [0.5, 0.0], [0.0, 0.0]).round(3)
    array([17.218,  4.305])
    """

    def __call__(self, t: Any, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        rest = np.zeros(self.system.nv)
        return self._spring_and_damper(q, qd) + self.system.inverse_dynamics(q, rest, rest)
