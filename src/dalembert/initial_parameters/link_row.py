"""A row of elastic links on hinges with a rigid payload at its tip: the system of the method, as
arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Payload:
    """Rigid body at the tip of the last link, in the axes of the cross-section there.

    mass: [kg]
    centre: centre of mass, from the tip (3,) [m]
    inertia: about the centre of mass (3, 3) [kg m^2]
    """

    mass: float
    centre: np.ndarray
    inertia: np.ndarray


@dataclass(frozen=True)
class LinkRow:
    """Straight elastic links, each on a hinge at the tip of the one before; the first hangs on the
    base.

    The axes of a link have x along it and are tangent to it at its root. EI of a plane resists
    deflection in it: v along y by EIz, w along z by EIy.

    names: of the links (N,)
    joint_names: of their hinges (N,)
    length: (N,) [m]
    mass_per_length: (N,) [kg/m]
    EA, GJ: (N,), infinite of links that do not stretch or twist [N, N m^2]
    EI: of v and w (N, 2) [N m^2]
    axis: of the hinge, unit vector in the axes of the link (N, 3)
    mounting: rotation from the axes of a link at angle 0 to those of the cross-section that carries
        it (of the first: to those of the world) (N, 3, 3)
    payload: at the tip of the last link
    gravity: acceleration in the axes of the world (3,) [m/s^2]
    """

    names: tuple[str, ...]
    joint_names: tuple[str, ...]
    length: np.ndarray
    mass_per_length: np.ndarray
    EA: np.ndarray
    GJ: np.ndarray
    EI: np.ndarray
    axis: np.ndarray
    mounting: np.ndarray
    payload: Payload
    gravity: np.ndarray

    def __len__(self) -> int:
        return len(self.names)

    def growth(self, inverse_square: float) -> np.ndarray:
        """b of the solutions along the links, exp(b x / sqrt 2), at 1/h^2 (N, 2) [1/m]:
        b^4 = 2 mass_per_length / (EI h^2).
        """
        return (2 * self.mass_per_length[:, None] * inverse_square / self.EI) ** 0.25

    def masses_beyond(self) -> np.ndarray:
        """Mass that hangs on the tip of each link (N,) [kg]."""
        masses = self.mass_per_length * self.length
        return np.cumsum(masses[::-1])[::-1] - masses + self.payload.mass

    def first_frequencies(self) -> np.ndarray:
        """First frequency of each link, clamped at its root, with all that it carries as a point mass
        at its tip (N, 2) [rad/s]; by Rayleigh's quotient with the static deflection.
        """
        mass = self.masses_beyond() + 33 / 140 * self.mass_per_length * self.length
        return np.sqrt(3 * self.EI / (self.length**3 * mass)[:, None])
