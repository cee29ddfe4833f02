"""Times of first use, in a process of its own: `python benchmarks/startup.py ROBOT QUANTITY,...`
prints them as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time

RUNS = 3  # the quickest counts: what else the machine does only adds


def measured(robot: str, quantities: str) -> dict[str, float]:
    """Seconds in a fresh process with an empty cache, each the least of some runs.

    Keys: import (with NumPy); load and first (trace and compile), both with their modules, which
    are imported at their first use; again (from the cache); trace alone; and the number of values
    traced.
    """
    found = [_run(robot, quantities) for _ in range(RUNS)]
    return {key: min(times[key] for times in found) for key in found[0]}


def _run(robot: str, quantities: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, __file__, robot, quantities],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"DALEMBERT_CACHE": folder},
        )
    return json.loads(done.stdout)


def main(robot: str, quantities: str) -> None:
    times, start = {}, time.perf_counter()

    def lap(name: str) -> None:
        nonlocal start
        times[name] = time.perf_counter() - start
        start = time.perf_counter()

    import numpy  # noqa: F401      (dalembert imports it, as all that it needs, at the first use)

    import dalembert

    lap("import")
    from robots import mechanism

    arm, names = mechanism(robot), quantities.split(",")
    lap("load")
    dynamics = dalembert.compile(arm)
    for name in names:
        dynamics.function([name])
    lap("first")
    dynamics = dalembert.compile(arm)
    for name in names:
        dynamics.function([name])
    lap("again")
    from dalembert.tracing.quantities import traced

    programs = [traced(arm, [name]) for name in names]
    lap("trace")
    print(json.dumps(times | {"values": sum(len(p.code) for p in programs)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
