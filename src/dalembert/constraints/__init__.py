"""Constraints on the motion of a system, by kind: loops, couplings, rolling, functions, programs."""

from dalembert.constraints.cam_profiles import ProfilePolynomial, ProfileTable
from dalembert.constraints.closures import Closure, Distance
from dalembert.constraints.contacts import Knife, PointContact, Rolling
from dalembert.constraints.couplings import Cam, Coupling
from dalembert.constraints.programs import FramePoint, Servo, TwoWay
from dalembert.constraints.state_functions import Holonomic, Velocity
from dalembert.model.constraint import Constraint

__all__ = [
    "Cam",
    "Closure",
    "Constraint",
    "Coupling",
    "Distance",
    "FramePoint",
    "Holonomic",
    "Knife",
    "PointContact",
    "ProfilePolynomial",
    "ProfileTable",
    "Rolling",
    "Servo",
    "TwoWay",
    "Velocity",
]


def __dir__() -> list[str]:
    return list(__all__)
