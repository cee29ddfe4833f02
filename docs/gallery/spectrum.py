"""How the frequencies of an elastic arm change with the angle of its elbow."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import dalembert as da

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
tube = da.Beam.of_section(0.8, da.beams.tube(0.0133, 0.0008), da.beams.material("steel"))
links = [da.Body(name, beam=tube, modes={"bend_y": 3}) for name in ("upper", "lower")]
hinge, end = da.Revolute((0, 0, 1)), da.Origin((0.8, 0, 0))
joints = [
    da.Joint("shoulder", hinge, "base", "upper"),
    da.Joint("elbow", hinge, "upper", "lower", end),
    da.Joint("grip", da.Fixed(), "lower", "load", end),
]
arm = da.Mechanism(
    "arm", [da.Body("base"), *links, da.Body("load", 2.0)], joints, gravity=(0, 0, 0)
)
angles = np.linspace(0, 0.97 * np.pi, 60)

figure, axes = plt.subplots()
for locked, color, label in (
    (["shoulder", "elbow"], "#1f5f99", "joints held"),
    (["elbow"], "#d9583b", "shoulder free"),
):
    frequencies = da.natural_frequencies(arm, {"elbow": angles}, locked=locked) / (2 * np.pi)
    shown = frequencies[:, :4]
    axes.semilogy(np.degrees(angles), np.where(shown > 0.1, shown, np.nan), color=color)
    axes.plot([], [], color=color, label=label)
axes.set(
    title="Frequencies of an elastic arm",
    xlabel="elbow [°]",
    ylabel="frequency [Hz]",
    xlim=(0, 175),
)
axes.set_xticks(range(0, 176, 25))
axes.legend()
figure.savefig("spectrum.png")
