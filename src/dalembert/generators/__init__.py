"""Generators: dynamic systems whose output is a program for a mechanism, with exact derivatives.

Each has a `state`, its `rate(state)`, an `output(state)` and `derivatives(state, order)`. Those of
time alone are called with t too: references for the controllers.
"""

from dalembert.generators.fourier import Fourier, Hold, Sinusoids
from dalembert.generators.generator import Generator
from dalembert.generators.input_shaping import Shaped, Shaper, zv, zvd
from dalembert.generators.limit_cycles import LimitCycle, Superellipse
from dalembert.generators.oscillators import Harmonic, SteadyAcceleration
from dalembert.generators.piecewise import Hermite
from dalembert.generators.point_to_point import Polynomial, Quintic
from dalembert.generators.profiles import SCurve, Trapezoid
from dalembert.generators.splines import Spline
from dalembert.generators.state_generator import SecondOrderGenerator, StateGenerator
from dalembert.generators.time_generator import TimeGenerator
from dalembert.generators.time_law import (
    FunctionOfTime,
    PathByLength,
    PathWithTimeLaw,
    path_length,
)

__all__ = [
    "Fourier",
    "FunctionOfTime",
    "Generator",
    "Harmonic",
    "Hermite",
    "Hold",
    "LimitCycle",
    "PathByLength",
    "PathWithTimeLaw",
    "Polynomial",
    "Quintic",
    "SCurve",
    "SecondOrderGenerator",
    "Shaped",
    "Shaper",
    "Sinusoids",
    "Spline",
    "StateGenerator",
    "SteadyAcceleration",
    "Superellipse",
    "TimeGenerator",
    "Trapezoid",
    "path_length",
    "zv",
    "zvd",
]


def __dir__() -> list[str]:
    return __all__
