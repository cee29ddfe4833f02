"""Usual loops: linkages, parallel robots and carts as mechanisms with constraints, each assembled."""

from dalembert.loops.assembly import Assembly
from dalembert.loops.parallel_robots import five_bar, stewart_platform
from dalembert.loops.planar_loops import four_bar, n_four_bar, scissor_lift, slider_crank
from dalembert.loops.spatial_loops import spatial_slider_crank

__all__ = [
    "Assembly",
    "five_bar",
    "four_bar",
    "n_four_bar",
    "scissor_lift",
    "slider_crank",
    "spatial_slider_crank",
    "stewart_platform",
]


def __dir__() -> list[str]:
    return list(__all__)
