"""An elastic arm of two links that falls from rest, its deflections 25 times enlarged."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import dalembert as da

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
tube = da.Beam.of_section(
    0.8,
    da.beams.tube(0.0133, 0.0008),
    da.beams.material("steel"),
    damping=da.Rayleigh(stiffness=2e-4),
)
links = [da.Body(name, beam=tube, modes={"bend_y": 2}) for name in ("upper", "lower")]
hinge, end = da.Revolute((0, 0, 1)), da.Origin((0.8, 0, 0))
joints = [
    da.Joint("shoulder", hinge, "base", "upper", rotor_inertia=0.5),
    da.Joint("elbow", hinge, "upper", "lower", end, rotor_inertia=0.5),
    da.Joint("grip", da.Fixed(), "lower", "load", end),
]
along = np.linspace(0, 0.8, 17)
frames = [
    da.Frame(f"{link}{k}", link, da.Origin((x, 0, 0)))
    for link in ("upper", "lower")
    for k, x in enumerate(along)
]
arm = da.Mechanism(
    "arm", [da.Body("base"), *links, da.Body("load", 2.0)], joints, frames, gravity=(0, -9.81, 0)
)
run = da.simulate(arm, arm.neutral(), np.zeros(arm.nv), 0.85, record=0.085)

figure, axes = plt.subplots(figsize=(6.4, 4.8))
shown = run.q.copy()
shown[:, 2:] *= 25
ways = np.array([da.placement(arm, shown, frame.name)[:, :2, 3] for frame in frames])
for k, shade in enumerate(plt.get_cmap("viridis")(np.linspace(0.05, 0.9, len(run.times)))):
    axes.plot(*ways[:, k].T, color=shade, linewidth=2.5)
    axes.plot(*ways[-1, k], "o", color=shade, markersize=8)
axes.plot(0, 0, "^", color="#17324d", markersize=12)
axes.set(title="It falls, and bends", xlabel="x [m]", ylabel="y [m]", aspect="equal")
figure.savefig("elastic_arm.png")
