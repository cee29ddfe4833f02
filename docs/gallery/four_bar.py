"""A four-bar linkage: postures over a turn of the crank, and curves of points of its coupler."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import dalembert as da

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
linkage, q = da.loops.four_bar()
q, qd = da.project(linkage, q, [6.0, 0, 0])
hold = lambda t, q, qd: [20 * (6.0 - qd[0]), 0, 0]  # noqa: E731
run = da.simulate(linkage, q, qd, 2 * np.pi / 6, control=hold)


def way(body, along, across=0.0):
    """Places of a point of a body [m]."""
    placement = da.placement(linkage, run.q, body)
    return (placement @ [along, 0, across, 1])[:, [0, 2]]


figure, axes = plt.subplots(figsize=(6.4, 4.8))
length = np.linalg.norm(way("coupler", 0)[0] - way("rocker", 0.8)[0])
joints = [way("crank", 0), way("coupler", 0), way("rocker", 0.8), way("rocker", 0)]
for k in range(0, len(run.times) - 1, 100):
    axes.plot(
        *np.array([joint[k] for joint in joints]).T, "o-", color="0.78", markersize=3, linewidth=1.2
    )
axes.plot(
    *np.array([joint[0] for joint in joints]).T,
    "o-",
    color="#17324d",
    linewidth=4,
    markerfacecolor="white",
)
for across in (-0.3, 0.0, 0.3, 0.6):
    axes.plot(*way("coupler", length / 2, across).T)
axes.set(title="Curves of the coupler", xlabel="x [m]", ylabel="z [m]", aspect="equal")
figure.savefig("four_bar.png")
