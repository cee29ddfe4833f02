"""Constraints on the motion of a system, by kind: loops, couplings, rolling, functions, programs."""

from dalembert.constraints.cam_profiles import ProfilePolynomial, ProfileTable
from dalembert.constraints.closures import Closure, Distance
from dalembert.constraints.contacts import Knife, PointContact, Rolling
from dalembert.constraints.couplings import Cam, Coupling
from dalembert.constraints.state_functions import Holonomic, Velocity
from dalembert.model.constraint import Constraint

__all__ = [
    "Cam",
    "Closure",
    "Constraint",
    "Coupling",
    "Distance",
    "Holonomic",
    "Knife",
    "PointContact",
    "ProfilePolynomial",
    "ProfileTable",
    "Rolling",
    "Velocity",
]


def __dir__() -> list[str]:
    return list(__all__)
