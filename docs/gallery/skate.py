"""One constraint, two principles: a skate on an incline, as real skates go and as the vakonomic principle has it."""

from pathlib import Path

import matplotlib.pyplot as plt

import dalembert as da

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
bodies = [da.Body("ice"), da.Body("skate", 1.0, (0, 0, 0), (1, 0, 1, 0, 0, 1))]
plane = da.Joint("plane", da.Planar((0, 0, 1)), "ice", "skate")
free = da.Mechanism("skate", bodies, [plane], gravity=(1.0, 0, 0))
edge = da.constraints.Knife("edge", "skate", (0, 1, 0))
start = [0, 0, 0], [1, 0, 0], 12.0  # angle, x, y; turning; seconds
real = da.simulate(free.constrained(edge), *start)
vakonomic = free.constrained(edge, principle="vakonomic")

figure, axes = plt.subplots(figsize=(6.4, 4.8))
axes.plot(real.q[:, 2], -real.q[:, 1], linewidth=2.4, label="d'Alembert and Chetaev")
for momentum, line in ((0.0, "-"), (0.15, "--"), (0.3, ":")):
    run = da.simulate(vakonomic, *start[:2], 7.0, multipliers0=[momentum])
    axes.plot(
        run.q[:, 2], -run.q[:, 1], line, color="#d9583b", label=f"vakonomic, μ(0) = {momentum:g}"
    )
axes.annotate(
    "downhill",
    (3.6, -2.2),
    (3.6, -0.9),
    ha="center",
    arrowprops={"arrowstyle": "-|>", "color": "0.4"},
    color="0.4",
)
axes.set(title="A skate on an incline", xlabel="across [m]", ylabel="up [m]", aspect="equal")
axes.legend(loc="lower right")
figure.savefig("skate.png")
