"""How an arm feels at its tip: velocities of equal kinetic energy, over its workspace."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import dalembert as da

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
arm = da.planar_chain(2, mass=[3.0, 1.5], length=[0.6, 0.5])
turn = np.linspace(0, 2 * np.pi, 61)
circle = np.stack([np.cos(turn), np.sin(turn)])

figure, axes = plt.subplots(figsize=(6.4, 5.2))
for shoulder in np.linspace(0.0, np.pi, 8):
    for elbow in (-0.5, -1.2, -1.9, -2.5):
        q = [-shoulder, -elbow]
        J = da.jacobian(arm, q, "tip")[[3, 5]]
        mobility = J @ da.inverse_mass_matrix(arm, q) @ J.T
        ellipse = 0.05 * np.linalg.cholesky(mobility) @ circle
        x, z = da.placement(arm, q, "tip")[[0, 2], 3]
        ratio = np.sqrt(np.linalg.cond(mobility))
        axes.fill(
            x + ellipse[0], z + ellipse[1], color=plt.get_cmap("viridis")(1.6 / ratio), alpha=0.75
        )
q = [-0.9, 1.2]
points = np.array([da.placement(arm, q, name)[[0, 2], 3] for name in ("link1", "link2", "tip")])
axes.plot(*points.T, "o-", color="#17324d", linewidth=5, markerfacecolor="white")
axes.set(
    title="Velocities of the tip at equal energy", xlabel="x [m]", ylabel="z [m]", aspect="equal"
)
figure.savefig("inertia_ellipses.png")
