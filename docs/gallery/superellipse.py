"""A program that attracts: an arm is led along a nearly rectangular curve, from beside it."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import dalembert as da

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
arm = da.planar_chain(2)
curve = da.generators.Superellipse(
    (0.4, 0.3), center=(1.2, 0.0), exponent=6, attraction=0.3, speed=0.8, initial=(1.3, 0.1)
)
tip = da.constraints.FramePoint("tip", axes="xz")
led = arm.constrained(da.constraints.Servo("tip", tip, curve, ["q1", "q2"], frequency=8.0))
run = da.simulate(led, [0.7, -1.7], [0, 0], 5.0)

figure, axes = plt.subplots(figsize=(6.4, 4.8))
program = curve.states(run.times)
axes.plot(*program.T, color="#e0a030", linewidth=4, alpha=0.6, label="program")
axes.plot(*da.placement(arm, run.q, "tip")[:, [0, 2], 3].T, label="tip")
for k in (0, 120, 480, 760):
    points = [da.placement(arm, run.q[k], name)[[0, 2], 3] for name in ("link1", "link2", "tip")]
    axes.plot(
        *np.array(points).T,
        "o-",
        color="#17324d",
        alpha=0.35 + k / 1600,
        linewidth=4,
        markerfacecolor="white",
    )
axes.set(title="Led along a limit cycle", xlabel="x [m]", ylabel="z [m]", aspect="equal")
axes.legend(loc="upper left")
figure.savefig("superellipse.png")
