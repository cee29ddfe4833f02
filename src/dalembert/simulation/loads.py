"""External forces on frames of a mechanism, as forces along its velocities."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dalembert.errors import ParameterError
from dalembert.formulations.newton_euler import inverse_dynamics
from dalembert.kinematics.poses import frame_place
from dalembert.model.external_forces import ExternalForce, opened_loads
from dalembert.model.mechanism import Mechanism

Given = Sequence[ExternalForce] | Callable[..., Sequence[ExternalForce]]
VECTORS = ("force", "moment", "point")
INERTIAL = re.compile(
    r"gravity(\[\d\])?|.*\.(mass|com|inertia|stiffness|rest|viscous|coulomb|rotor_inertia|gear_ratio)(\[[\d,]+\])?"
)


class Loads:
    """External forces given as numbers, (3,) or (N, 3) each.

    Attributes
    ----------
    numbers : force, moment and point of each, one after the other, (9 k,) or (N, 9 k)
    frames : frame and axes of each
    """

    def __init__(self, mechanism: Mechanism, given: Sequence[ExternalForce]):
        opened_loads(given)  # raises if these are none
        self._given = tuple(given)
        self._weightless = weightless(mechanism)
        self.frames = tuple((load.frame, load.expressed_in) for load in self._given)
        for load in self._given:
            frame_place(mechanism.tree(), load.frame)  # raises if there is no such frame
        vectors = [
            np.asarray(getattr(f, name), dtype=float) for f in self._given for name in VECTORS
        ]
        rows = np.broadcast_shapes(*(v.shape[:-1] for v in vectors))
        self.numbers = np.concatenate(
            [np.zeros((*rows, 0)), *(np.broadcast_to(v, (*rows, 3)) for v in vectors)], axis=-1
        )

    def along_velocities(self, q: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Generalized forces (nv,) with some numbers (9 k,)."""
        rows = [
            dict(zip(VECTORS, own, strict=True)) for own in numbers.reshape(-1, len(VECTORS), 3)
        ]
        loads = [replace(load, **row) for load, row in zip(self._given, rows, strict=True)]
        return generalized_force(self._weightless, q, loads)

    @property
    def described(self) -> dict[str, Any]:
        """The arguments of each `ExternalForce`, as JSON has them."""
        return {
            "loads": [
                [
                    f.frame,
                    *(np.asarray(getattr(f, name)).tolist() for name in VECTORS),
                    f.expressed_in,
                ]
                for f in self._given
            ]
        }


def loads_described(stored: dict[str, Any]) -> list[ExternalForce]:
    """External forces from their description."""
    return [ExternalForce(*row) for row in stored["loads"]]


def opened(system: Any, paths: tuple[str, ...], given: Given) -> Any:
    """External forces on a system as `Loads`, or as a function (t, q, qd) -> (nv,) of the given
    one.

    Raises
    ------
    ValueError, TypeError, UnknownNameError, ParameterError
        The system has no frames; they are no external forces; there is no such frame; places of
        frames are inputs.
    """
    if system.mechanism is None:
        raise ValueError(
            f"external_forces act on frames of a mechanism, and {system.name!r} has none: give "
            "forces= along its velocities."
        )
    if moving := [path for path in paths if not INERTIAL.fullmatch(path)]:
        raise ParameterError(
            f"{', '.join(moving)} cannot be inputs of a simulation with external_forces, whose "
            "arms they may change: use mechanism.replace.",
            paths,
        )
    if not callable(given):
        return Loads(system.mechanism, given)
    return _function_of(weightless(system.mechanism), given)


def _function_of(
    mechanism: Mechanism, given: Callable[..., Sequence[ExternalForce]]
) -> Callable[..., np.ndarray]:
    def along_velocities(t: Any, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """The forces along the velocities."""
        return generalized_force(mechanism, q, given(t, q, qd))

    along_velocities.traced = getattr(given, "traced", True)  # type: ignore[attr-defined]
    return along_velocities


def weightless(mechanism: Mechanism) -> Mechanism:
    """The mechanism without gravity, springs and friction."""
    return replace(mechanism.without("springs", "friction"), gravity=(0, 0, 0))


def generalized_force(
    mechanism: Mechanism, q: np.ndarray, loads: Sequence[ExternalForce]
) -> np.ndarray:
    """sum_i J_i(q)^T f_i: the forces that actuators need not give to a weightless mechanism at rest
    (nv,).
    """
    rest = np.zeros(mechanism.nv)
    return -inverse_dynamics(mechanism, q, rest, rest, external_forces=loads)
