"""A controller that does not know its load: thirty payloads side by side, in one call."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import dalembert as da
from dalembert import data

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
arm = da.load(data.path("panda"), lock=["panda_finger_joint1"])
start, goal = (
    np.array([0, -0.8, 0, -2.4, 0, 1.6, 0.8]),
    np.array([0.6, 0.2, -0.3, -1.6, 0.2, 2.0, 0.2]),
)
law = da.controllers.ComputedTorque(
    arm, da.controllers.Quintic([start, goal], [0.0, 1.5]), k_p=60.0
)
loads = np.linspace(0, 3, 31)  # kg, beside the hand's own 0.73
run = da.simulate(
    arm, start, 0 * start, 2.5, control=law, parameters={"panda_hand.mass": 0.73 + loads}
)

figure, axes = plt.subplots()
hand = da.placement(arm, run.q.reshape(-1, 7), "panda_hand")[:, :3, 3].reshape(31, -1, 3)
fault = 1e3 * np.linalg.norm(hand - hand[:1], axis=2)
for line, shade in zip(fault, plt.get_cmap("viridis")(loads / 3)):
    axes.plot(run.times, line, color=shade, linewidth=1)
figure.colorbar(plt.cm.ScalarMappable(plt.Normalize(0, 3)), ax=axes, label="payload [kg]")
axes.set(title="What an unknown payload costs", xlabel="t [s]", ylabel="hand off its way [mm]")
figure.savefig("unknown_payload.png")
