"""Times of first use, in a process of its own: `python benchmarks/startup.py ROBOT QUANTITY,...` prints them as JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time


def measured(robot: str, quantities: str) -> dict[str, float]:
    """Seconds in a fresh process with an empty cache.

    Keys: import; load; trace; first (trace and compile); again (from the cache); and the number of values traced.
    """
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, __file__, robot, quantities], capture_output=True, text=True, check=True,
                              env=os.environ | {"DALEMBERT_CACHE": folder})
    return json.loads(done.stdout)


def main(robot: str, quantities: str) -> None:
    times, start = {}, time.perf_counter()

    def lap(name: str) -> None:
        nonlocal start
        times[name] = time.perf_counter() - start
        start = time.perf_counter()

    import dalembert
    from dalembert.compiled.quantities import traced

    lap("import")
    from robots import mechanism

    arm, names = mechanism(robot), quantities.split(",")
    lap("load")
    programs = [traced(arm, [name]) for name in names]
    lap("trace")
    dynamics = dalembert.compile(arm)
    for name in names:
        dynamics.function([name])
    lap("first")
    dynamics = dalembert.compile(arm)
    for name in names:
        dynamics.function([name])
    lap("again")
    print(json.dumps(times | {"values": sum(len(p.code) for p in programs)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
