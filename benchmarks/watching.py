"""What watching costs: runs with stops at all limits and one event, beside the same runs without
them.

    python benchmarks/watching.py [repeats]

Runs of 100,000 steps; medians of interleaved repeats, by the time of this process.
Nothing happens on the way: the search alone is measured.
"""

import sys
import time
import warnings
from dataclasses import replace

import numpy as np

import dalembert as da
from dalembert import data

METHODS = ("rk4", "dopri5", "dop853")


def panda():
    """Drifts through its workspace without gravity, between limits of seven joints."""
    with warnings.catch_warnings(action="ignore"):
        m = da.load(data.path("panda"), lock=["panda_finger_joint1"])
    m = replace(m, gravity=(0, 0, 0))
    limits = [j.limits for j in m.joints if not j.is_fixed]
    middle = np.array([(float(own.lower[0]) + float(own.upper[0])) / 2 for own in limits])
    return m, middle, np.array([0.01, -0.01, 0.01, -0.005, 0.01, 0.01, -0.01]), 100.0


def pendulum(n=1):
    """A chain that swings between limits that it does not reach."""
    chain = da.planar_chain(n)
    m = replace(
        chain, joints=tuple(replace(j, limits=da.Limits((-3.0,), (3.0,))) for j in chain.joints)
    )
    hanging = np.array([-np.pi / 2, *np.zeros(n - 1)])
    return m, hanging + 0.5, np.zeros(n), 100.0


def double():
    return pendulum(2)


def level(t, q, qd):
    """A level that is not passed."""
    return q[0] - 2.5


def height(m):
    """Height of the last body, by kinematics: a function of most coordinates."""
    frame = list(m.bodies)[-1].name

    def above(t, q, qd):
        return da.placement(m, q, frame)[2, 3] + 5.0

    return above


def main(repeats=5):
    print(
        f"{'case':10}{'method':8}{'event':8}{'steps':>8}{'us per step':>13}{'with':>8}{'ratio':>8}"
    )
    for case in (panda, pendulum, double):
        m, q, qd, duration = case()
        for event in (level, height(m)):
            for method in METHODS:

                def run(watched, m=m, q=q, qd=qd, duration=duration, event=event, method=method):
                    own = {"stops": True, "events": event} if watched else {}
                    start = time.process_time()
                    own |= {} if method == "rk4" else {"longest_step": 1e-3}  # as many steps as rk4
                    found = da.simulate(m, q, qd, duration, method=method, record=duration, **own)
                    return time.process_time() - start, found

                (_, plain), (_, watched) = run(False), run(True)
                assert (
                    np.array_equal(plain.q, watched.q) or np.abs(plain.q - watched.q).max() < 1e-6
                )
                assert not watched.events and not any(c.impact for c in watched.changes)
                times = np.array([[run(False)[0], run(True)[0]] for _ in range(repeats)])
                steps, (a, b) = int(plain.steps), np.median(times, axis=0)
                print(
                    f"{case.__name__:10}{method:8}{event.__name__:8}{steps:>8}{a / steps * 1e6:>13.3f}"
                    f"{b / steps * 1e6:>8.3f}{np.median(times[:, 1] / times[:, 0]):>8.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
