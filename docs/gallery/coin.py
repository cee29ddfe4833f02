"""A coin that rolls and wobbles on a table: the way of its contact, and of its centre."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import dalembert as da

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
RADIUS, MASS = 0.1, 0.2
disc = (MASS * RADIUS**2 / 4, 0, MASS * RADIUS**2 / 4, 0, 0, MASS * RADIUS**2 / 2)
bodies = [da.Body("table"), da.Body("coin", MASS, (0, 0, 0), disc)]
flying = da.Mechanism("coin", bodies, [da.Joint("free", da.Free(), "table", "coin")])
coin = flying.constrained(da.constraints.Rolling("rolling", "coin", RADIUS, ((0, 0, 0), (0, 0, 1))))
tilt = np.pi / 2 - 0.35
upright = [np.cos(tilt / 2), np.sin(tilt / 2), 0, 0, 0, 0, RADIUS * np.sin(tilt)]
q, qd = da.project(coin, upright, [0, 1.2, -9.0, 0, 0, 0])
run = da.simulate(coin, q, qd, 4.0)

figure, axes = plt.subplots(figsize=(6.4, 5.0))
axis = da.placement(coin, run.q, "coin")[:, :3, 2]
lowest = RADIUS * axis[:, 2:] * axis[:, :2] / np.linalg.norm(axis[:, :2], axis=1)[:, None]
axes.plot(*(run.q[:, 4:6] + lowest).T, label="contact")
axes.plot(*run.q[:, 4:6].T, label="centre")
axes.set(title="A coin on a table", xlabel="x [m]", ylabel="y [m]", aspect="equal")
axes.legend()
figure.savefig("coin.png")
