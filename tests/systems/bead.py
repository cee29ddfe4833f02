"""A kind of object that tests register: a bead on a hoop that turns steadily. One file, which the package does not know."""

from dataclasses import dataclass

from dalembert.expr import cos, sin
from dalembert.systems.system import System

GRAVITY = 9.81      # m/s^2


@dataclass(frozen=True)
class Bead:
    """A bead of a mass [kg] on an upright hoop of a radius [m], which turns about its vertical diameter [rad/s]."""

    mass: float = 0.2
    radius: float = 0.4
    turning: float = 3.0


class BeadEquations(System):
    """m R^2 (a'' - w^2 sin a cos a) + m g R sin a = tau, with the angle a from the lowest point [rad]."""

    name, coordinate_names = "bead", ("angle",)

    def __init__(self, bead):
        self.bead = bead

    def mass_matrix(self, q, t=0.0):
        return [[self.bead.mass * self.bead.radius**2]]

    def bias_force(self, q, qd, t=0.0):
        bead = self.bead
        return [bead.mass * bead.radius * sin(q[0]) * (GRAVITY - bead.radius * bead.turning**2 * cos(q[0]))]

    def potential_energy(self, q, t=0.0):
        """Of the weight and, as the hoop turns, of the centrifugal force [J]."""
        bead = self.bead
        return -bead.mass * bead.radius * (GRAVITY * cos(q[0]) + bead.radius * bead.turning**2 * sin(q[0]) ** 2 / 2)


SYSTEM_OF = (Bead, BeadEquations)
