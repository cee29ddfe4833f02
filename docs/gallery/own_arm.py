"""Your own arm: a table of Denavit and Hartenberg, its postures, and the torque that holds them."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import dalembert as da

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
rows = [(0, "pi/2", 0.4, 0), (0.35, 0, 0, 0), (0.3, 0, 0, 0)]
links = [
    (4, (0, -0.2, 0), (0.06, 0, 0.02, 0, 0, 0.06)),
    (2, (-0.175, 0, 0), (0.001, 0, 0.02, 0, 0, 0.02)),
    (1, (-0.15, 0, 0), (0.0005, 0, 0.01, 0, 0, 0.01)),
]
arm = da.from_dh(rows, inertia=links, name="arm")

figure, (side, chart) = plt.subplots(1, 2, figsize=(9, 4.2), width_ratios=(1, 1.1))
shades = plt.get_cmap("viridis")(np.linspace(0.1, 0.85, 5))
for angle, shade in zip(np.linspace(1.4, -0.4, 5), shades):
    q = [0, angle, -0.9]
    points = np.array([(0, 0)] + [da.placement(arm, q, f"dh{k}")[[0, 2], 3] for k in (1, 2, 3)])
    side.plot(*points.T, color=shade, linewidth=5, solid_joinstyle="round")
    side.plot(*points[1:].T, "o", color="white", markersize=4, markeredgecolor="0.2")
side.set(title="Postures", xlabel="x [m]", ylabel="z [m]", aspect="equal")

shoulder, elbow = np.meshgrid(np.linspace(-np.pi / 2, np.pi / 2, 91), np.linspace(-2.5, 2.5, 91))
q = np.stack([0 * shoulder, shoulder, elbow], axis=-1).reshape(-1, 3)
torque = da.gravity_vector(arm, q)[:, 1].reshape(shoulder.shape)
levels = chart.contourf(shoulder, elbow, torque, 14, cmap="RdBu_r", vmin=-10, vmax=10)
figure.colorbar(levels, label="torque of the shoulder [N m]")
chart.set(title="What holds it", xlabel="shoulder [rad]", ylabel="elbow [rad]")
figure.savefig("own_arm.png")
