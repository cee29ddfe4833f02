"""The tennis racket: a body that spins about its middle axis turns over, again and again."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import dalembert as da

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
racket = da.Body("racket", 0.5, (0, 0, 0), (2e-3, 0, 1e-3, 0, 0, 2.6e-3))
ball = da.Joint("free", da.Spherical(), "space", "racket")
body = da.Mechanism("racket", [da.Body("space"), racket], [ball], gravity=(0, 0, 0))
random = np.random.default_rng(1)
directions = random.normal(size=(40, 3))
spins = np.vstack(
    [[8.0, 0.002, 0.002], 10 * directions / np.linalg.norm(directions, axis=1)[:, None]]
)
run = da.simulate(body, body.neutral(), spins, 16.0, h=2e-3)

figure = plt.figure(figsize=(9, 4.2))
history, sphere = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")
for k, axis in enumerate("xyz"):
    history.plot(run.times, run.qd[0, :, k], label=axis)
history.set(
    title="Spin about the middle axis x",
    xlabel="t [s]",
    ylabel="angular velocity [rad/s]",
    ylim=(-14, 16),
)
history.legend(ncols=3, loc="upper right")
momentum = run.qd * [2e-3, 1e-3, 2.6e-3]
momentum /= np.linalg.norm(momentum, axis=2, keepdims=True)
for way in momentum[1:]:
    sphere.plot(*way.T, color="#9fb3c4", linewidth=0.8)
sphere.plot(*momentum[0].T, color="#d9583b", linewidth=1.8)
sphere.set(title="Ways of the angular momentum", aspect="equal")
sphere.set_axis_off()
figure.savefig("tennis_racket.png")
