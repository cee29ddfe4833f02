"""What an event costs: ms per event, of one trajectory and of 256, less the same motion without
events.

python benchmarks/events.py [repeats]
"""

import sys
import time
import warnings
from dataclasses import replace

import numpy as np

import dalembert as da
from dalembert import data
from dalembert.model.joints import Prismatic
from dalembert.model.mechanism import Mechanism
from dalembert.model.parts import Body, Joint, Limits

MANY = 256


def ball():
    """Bounces without loss: stops."""
    m = Mechanism(
        "ball",
        (Body("base"), Body("ball", 1)),
        (Joint("fall", Prismatic((0, 0, 1)), "base", "ball", limits=Limits((0,), None)),),
    )
    return m, [1.0], 0.2, 20.0, {"h": 5e-3, "record": 0.1}, {"stops": {"fall": 1.0}}, {}


def panda():
    """Collapses and comes to rest, joint by joint: Coulomb friction of 0.5 N m and N that sticks."""
    with warnings.catch_warnings(action="ignore"):
        m = da.load(data.path("panda"), lock=["panda_finger_joint1"])
    m = replace(m, joints=tuple(j if j.is_fixed else replace(j, coulomb=0.5) for j in m.joints))
    options = {"h": 2e-3, "record": 0.03, "control": np.zeros(7)}
    return m, [0, -0.5, 0, -2.0, 0, 1.5, 0.7], 0.1, 3.0, options, {}, {"friction": "sign"}


def chain():
    """A double pendulum that passes a level: a traced function."""
    return (
        da.planar_chain(2),
        [1.0, 0.5],
        0.1,
        10.0,
        {"h": 2e-3, "record": 0.03},
        {"events": lambda t, q, qd: q[0]},
        {},
    )


def seconds(f, repeats):
    """The least time of this process for a call, behind one that compiles, and what it gave."""
    found, times = f(), []
    for _ in range(repeats):
        start = time.process_time()
        found = f()
        times.append(time.process_time() - start)
    return min(times), found


def main(repeats=9):
    print(
        f"{'case':8}{'trajectories':>13}{'events':>8}{'ms':>10}{'without':>9}{'ms per event':>14}"
    )
    for case in (ball, panda, chain):
        m, q, spread, duration, options, with_events, without = case()
        many = np.array(q) + spread * np.random.default_rng(0).random((MANY, len(q)))
        for start in (np.array(q, dtype=float), many):

            def simulated(own, m=m, start=start, duration=duration, options=options):
                return seconds(
                    lambda: da.simulate(m, start, np.zeros(m.nv), duration, **options, **own),
                    repeats,
                )

            times, (run, _) = zip(*map(simulated, (with_events, without)), strict=True)
            count = len(run.events) + sum(c.t > 0 for c in run.changes)
            print(
                f"{case.__name__:8}{len(np.atleast_2d(start)):>13}{count:>8}{times[0] * 1e3:>10.2f}{times[1] * 1e3:>9.2f}"
                f"{(times[0] - times[1]) / count * 1e3:>14.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
