"""Passivity: motors cannot take more energy out of an arm than it had above its lowest posture."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import dalembert as da

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
arm = da.planar_chain(2)
random = np.random.default_rng(4)
start = np.tile([-0.5, 0.6], (24, 1)), np.zeros((24, 2))
push = random.normal(size=(24, 2))
waves = random.uniform(1, 4, (24, 2))


def control(t, q, qd):
    return [0.8 * da.sin(3.1 * t) - 0.5 * qd[0], 0.4 * da.cos(2.3 * t) - 0.2 * qd[1]]


run = da.simulate(arm, start[0] + 0.5 * push, waves - 2.5, 8.0, control=control)
stored = run.kinetic_energy[:, :1] + run.potential_energy[:, :1]
lowest = -9.81 * (0.5 + 1.5)  # both links hang
figure, axes = plt.subplots()
axes.plot(run.times, (run.work / (stored - lowest)).T, color="#1f5f99", alpha=0.35, linewidth=1)
axes.axhline(-1, color="#d9583b", linewidth=2.2)
axes.text(8, -0.985, "the bound: $-(H(0) - \\Pi_{min})$", color="#d9583b", ha="right", va="bottom")
axes.set(
    title="Energy supplied by the motors",
    xlabel="t [s]",
    ylabel="supplied / stored at first",
    xlim=(0, 8),
    ylim=(-1.08, 0.3),
)
figure.savefig("passivity.png")
