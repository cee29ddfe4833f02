"""Control of mechanisms with elastic links: actuators of the joints alone, deflections fed back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dalembert.arguments import check_instance, put, real_array, vector
from dalembert.compiled.static_deflection import static_deflection
from dalembert.controllers.checks import ask_goal, check_drives, gains, named_arguments
from dalembert.errors import ModelError, ShapeError, public_names
from dalembert.model.mechanism import Mechanism
from dalembert.systems.kinds import system_of


@named_arguments
@dataclass(frozen=True, eq=False)
class ElasticPD:
    """Spring and damper on each joint of a mechanism with elastic links, with feedback of
    deflections.

        tau = K_p (q_ref - q) - K_d qd + tau_ref - K_s (delta - delta_ref) - K_r delta'

    on the joints (of flexible ones on their motors, where gains of the joint are 0), 0 on the coordinates delta of the elastic bodies; q_ref with the static deflections
    delta_ref is an equilibrium under tau_ref. Without K_s and K_r measurement and actuator are
    collocated: the equilibrium is asymptotically stable where K_p is above a bound by gravity and
    the links are damped (De Luca and Siciliano 1993), whatever the number of modes. Feedback of
    deflections damps vibrations faster; it has no such proof: look at
    `da.damped_frequencies`.

    Parameters
    ----------
    mechanism : Mechanism
    q_ref : (m,) array
        Set point of the joints' coordinates, in their order [rad, m].
    K_p, K_d : number or (m,) array, >= 0
        Stiffness [N m/rad, N/m] and damping [N m s/rad, N s/m].
    K_s, K_r : (m, n) array, optional
        Gains of deflections [N m/m, and the like] and of their rates, by joint and elastic
        coordinate.

    Raises
    ------
    ModelError
        The mechanism has no elastic bodies, or joints whose coordinates are no vector.
    EquilibriumError
        The links have no static equilibrium at the set point.
    ShapeError, ValueError, TypeError

    References
    ----------
    De Luca and Siciliano, Regulation of flexible arms under gravity, IEEE Transactions on Robotics
    and Automation 9 (1993) 463-467.

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(1.0, EIz=5.0, mass_per_length=0.5)
    >>> arm = da.Mechanism("arm", [da.Body("hub"), da.Body("link", beam=beam, modes={"bend_y": 1})],
    ...     [da.Joint("hinge", da.Revolute((0, 0, 1)), "hub", "link")], gravity=(0, -9.81, 0))
    >>> control = da.controllers.ElasticPD(arm, [0.0], K_p=20.0, K_d=2.0)
    >>> control(0.0, control.q_equilibrium, [0.0, 0.0]).round(2)      # weight: 0.5 9.81 / 2
    array([2.45, 0.  ])
    """

    mechanism: Mechanism
    q_ref: Any
    K_p: Any
    K_d: Any
    K_s: Any = None
    K_r: Any = None
    q_equilibrium: np.ndarray = field(init=False)
    tau_ref: np.ndarray = field(init=False)
    unchanging = True  # traced once
    __dir__ = public_names

    def __post_init__(self) -> None:
        check_instance("mechanism", self.mechanism, Mechanism, "a Mechanism, as da.load makes")
        m, n = self._counts()
        start = self.mechanism.neutral()
        start[:m] = vector(self.q_ref, "q_ref", m)
        put(
            self,
            q_ref=start[:m].copy(),
            K_p=gains(self.K_p, "K_p", m),
            K_d=gains(self.K_d, "K_d", m),
            K_s=_matrix(self.K_s, "K_s", (m, n)),
            K_r=_matrix(self.K_r, "K_r", (m, n)),
        )
        system = system_of(self.mechanism)
        check_drives(system, np.concatenate([self.K_p + self.K_d, np.zeros(n)]))
        ask_goal(system, start)
        found = static_deflection(self.mechanism, start)
        put(self, q_equilibrium=found.q, tau_ref=found.tau[:m])

    def _counts(self) -> tuple[int, int]:
        """Numbers of coordinates of the joints and of the elastic bodies."""
        mechanism = self.mechanism
        if not mechanism.elastic_bodies:
            raise ModelError(
                f"{mechanism.name!r} has no elastic bodies: take da.controllers.GravityPD."
            )
        if mechanism.quaternions:
            names = ", ".join(map(repr, mechanism.quaternions))
            raise ModelError(
                f"joints {names} of {mechanism.name!r} have quaternions: ElasticPD is for joints whose "
                "coordinates are angles and displacements."
            )
        n = sum(len(entry.at_v) for entry in mechanism.body_entries.values())
        return mechanism.nv - n, n

    def __call__(self, t: Any, q: Any, qd: Any) -> np.ndarray:
        m = len(self.q_ref)
        q, qd = np.asarray(q), np.asarray(qd)
        deflection = q[m:] - self.q_equilibrium[m:]
        tau = self.K_p * (self.q_ref - q[:m]) - self.K_d * qd[:m] + self.tau_ref
        tau = tau - self.K_s @ deflection - self.K_r @ qd[m:]
        return np.concatenate([tau, np.zeros(len(q) - m)])


def _matrix(given: Any, name: str, shape: tuple[int, int]) -> np.ndarray:
    """Gains by joint and elastic coordinate; None: zeros."""
    found = np.zeros(shape) if given is None else real_array(name, given)
    if found.shape != shape:
        raise ShapeError(
            f"{name} has shape {found.shape}, expected {shape}: joints, elastic coordinates.",
            name,
            found.shape,
            shape,
        )
    return found
