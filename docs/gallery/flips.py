"""Chaos: when a double pendulum, let go at rest, first turns over; thousands of them side by side."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import dalembert as da

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
SIZE = 90
arm = da.planar_chain(2)
first, second = np.meshgrid(np.linspace(-np.pi, np.pi, SIZE), np.linspace(-np.pi, np.pi, SIZE))
hanging = -np.pi / 2
angles = np.stack([hanging + first, second - first], axis=-1).reshape(-1, 2)
run = da.simulate(arm, angles, [0, 0], 8.0, h=8e-3, record=0.04)
absolute = run.q.sum(axis=2) - hanging  # of the second rod, from the vertical
over = np.abs(absolute) > np.pi
time = np.where(over.any(axis=1), run.times[over.argmax(axis=1)], np.nan).reshape(SIZE, SIZE)

figure, axes = plt.subplots(figsize=(6.4, 5.4))
image = axes.imshow(
    time, origin="lower", extent=(-180, 180, -180, 180), cmap="magma_r", vmin=0, vmax=8
)
figure.colorbar(image, label="first flip of the second rod [s]")
axes.set(
    title="When does it turn over?",
    xlabel="first rod from the vertical [°]",
    ylabel="second rod [°]",
)
axes.set_xticks(range(-180, 181, 90))
axes.set_yticks(range(-180, 181, 90))
axes.grid(False)
figure.savefig("flips.png")
