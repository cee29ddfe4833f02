"""Stops: balls that bounce by Newton's law of restitution, come to rest, and stay there."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import dalembert as da

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
ball = da.Mechanism(
    "ball",
    [da.Body("floor"), da.Body("ball", 0.2)],
    [
        da.Joint(
            "height", da.Prismatic((0, 0, 1)), "floor", "ball", limits=da.Limits((0.0,), (2.0,))
        )
    ],
)
figure, axes = plt.subplots()
for rebound in (0.5, 0.7, 0.85):
    run = da.simulate(ball, [1.0], [0.0], 5.0, stops={"height": rebound}, record=0.005)
    axes.plot(run.times, run.q[:, 0], label=f"e = {rebound}")
    assert np.abs(run.power_balance).max() < 1e-9
axes.set(title="Impacts, and rest", xlabel="t [s]", ylabel="height [m]", ylim=(-0.02, 1.05))
axes.legend()
figure.savefig("bouncing.png")
