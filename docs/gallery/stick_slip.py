"""Stick and slip: a block on a rough table is pulled by a spring whose end moves steadily."""

from pathlib import Path

import matplotlib.pyplot as plt

import dalembert as da

plt.style.use(Path(__file__).with_name("gallery.mplstyle"))
block = da.Mechanism(
    "block",
    [da.Body("table"), da.Body("block", 2.0)],
    [da.Joint("slide", da.Prismatic((1, 0, 0)), "table", "block", coulomb=3.0)],
)
law = da.Stribeck(static=1.5, velocity=0.2)
pull = lambda t, q, qd: [20 * (0.1 * t - q[0])]  # noqa: E731
run = da.simulate(block, [0.0], [0.0], 25.0, friction=law, control=pull)

figure, (place, force) = plt.subplots(2, 1, sharex=True, figsize=(6.4, 4.8))
place.plot(run.times, 0.1 * run.times, color="0.6", linestyle="--", label="end of the spring")
place.plot(run.times, run.q[:, 0], label="block")
place.set(title="Stick and slip", ylabel="place [m]")
place.legend(loc="upper left")
sticks = run.modes[:, 0] == 0
force.plot(run.times, 20 * (0.1 * run.times - run.q[:, 0]), color="#2a9d8f")
force.fill_between(run.times, 0, 6.4, where=sticks, color="#e8ecf0", label="at rest")
force.axhline(4.5, color="#d9583b", linestyle=":", label="static friction")
force.set(xlabel="t [s]", ylabel="force of the spring [N]", ylim=(0, 6.4))
force.legend(loc="upper right", ncols=2)
figure.savefig("stick_slip.png")
