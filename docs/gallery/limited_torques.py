"""Motors with limits: a motion from posture to posture, and torques that stay within theirs."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import dalembert as da

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
arm = da.planar_chain(3, mass=[2.0, 1.5, 0.8], length=[0.5, 0.4, 0.3])
start, goal = np.array([0.3, 0.6, 0.4]), np.array([2.2, -0.9, -0.6])
path = da.controllers.Quintic([start, goal], [0.2, 1.2])
law = da.controllers.ComputedTorque(arm, path, k_p=100.0)
limits = np.array([30.0, 12.0, 3.0])  # N m
run = da.simulate(arm, start, [0, 0, 0], 2.0, control=da.controllers.Limited(law, limits))

figure, (side, torques) = plt.subplots(1, 2, figsize=(9, 4.2), width_ratios=(1, 1.3))
places = [
    da.placement(arm, run.q, name)[:, [0, 2], 3] for name in ("link1", "link2", "link3", "tip")
]
for k in range(0, len(run.times), 80):
    strength = 0.15 + 0.85 * k / len(run.times)
    side.plot(
        *np.array([place[k] for place in places]).T, color="#1f5f99", alpha=strength, linewidth=4
    )
side.plot(*places[-1].T, color="#d9583b")
side.set(title="The way", xlabel="x [m]", ylabel="z [m]", aspect="equal")
for k, limit in enumerate(limits):
    (line,) = torques.plot(run.times, run.tau[:, k], label=f"joint {k + 1}")
    torques.axhline(limit, color=line.get_color(), linestyle=":", linewidth=1)
    torques.axhline(-limit, color=line.get_color(), linestyle=":", linewidth=1)
torques.set(title="Torques and their limits", xlabel="t [s]", ylabel="torque [N m]")
torques.legend(ncols=3)
figure.savefig("limited_torques.png")
