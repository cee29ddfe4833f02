"""Constraints on the motion of a system, by kind: loops, couplings, rolling, functions, programs."""

from dalembert.constraints.closures import Closure
from dalembert.constraints.state_functions import Holonomic, Velocity
from dalembert.model.constraint import Constraint

__all__ = ["Closure", "Constraint", "Holonomic", "Velocity"]


def __dir__() -> list[str]:
    return list(__all__)
