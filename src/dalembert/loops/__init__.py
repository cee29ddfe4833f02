"""Usual loops: linkages, parallel robots and carts as mechanisms with constraints, each assembled."""

from dalembert.loops.assembly import Assembly
from dalembert.loops.carts import differential_drive
from dalembert.loops.parallel_robots import delta_robot, five_bar, stewart_platform
from dalembert.loops.planar_loops import four_bar, n_four_bar, scissor_lift, slider_crank
from dalembert.loops.spatial_loops import bricard, flyball_governor, spatial_slider_crank

__all__ = [
    "Assembly",
    "bricard",
    "delta_robot",
    "differential_drive",
    "five_bar",
    "flyball_governor",
    "four_bar",
    "n_four_bar",
    "scissor_lift",
    "slider_crank",
    "spatial_slider_crank",
    "stewart_platform",
]


def __dir__() -> list[str]:
    return list(__all__)
