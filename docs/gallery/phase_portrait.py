"""Angle and momentum: level curves of Hamilton's function, and a damped motion that crosses them."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import dalembert as da

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
pendulum = da.hamilton.planar_chain(m=[1.0], L=[1.0], l=[0.5], J=[1 / 12])
angle, momentum = np.meshgrid(np.linspace(-4, 4, 121), np.linspace(-4, 4, 121))
states = angle.reshape(-1, 1), momentum.reshape(-1, 1)
level = da.hamilton.hamiltonian(pendulum, *states).reshape(angle.shape)
starts = np.array([[-3.9], [-3.9], [2.9]]), np.array([[10.0], [7.5], [0.0]])
damp = lambda t, q, qd: -0.12 * qd  # noqa: E731
run = da.simulate(pendulum, *starts, 12.0, control=damp, formulation="hamilton")

figure, axes = plt.subplots()
axes.contour(angle, momentum, level, 14, colors="#9fb3c4", linewidths=0.8)
axes.contour(angle, momentum, level, [9.81 / 2], colors="#17324d", linewidths=1.6)
for q, qd in zip(run.q, run.qd):
    axes.plot(q[:, 0], qd[:, 0] / 3)
axes.set(
    title="A pendulum in angle and momentum",
    xlabel="q [rad]",
    ylabel="p [kg m²/s]",
    xlim=(-4, 4),
    ylim=(-4, 4),
)
figure.savefig("phase_portrait.png")
