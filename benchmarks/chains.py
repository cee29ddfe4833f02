"""Cost of long chains, in a process of its own: `python benchmarks/chains.py LINKS QUANTITY` prints
it as JSON; with a method of integration for the quantity, that of `simulate`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LENGTHS = (100, 1000, 10_000)  # links
JOINT_STATES = 640_000  # states times links, for equal work
PATIENCE = 60.0  # s: the straight form of the code takes hours when it is long
ROUNDS = 15


def measured(links: int, quantity: str, patience: float = PATIENCE) -> dict[str, Any]:
    """What a planar chain costs, in a fresh process with an empty cache; {"failed": why} where it
    does not come to an end.

    Keys: model, first (trace and compile), per_joint (of a state) in seconds; memory, the most that
    the process had, in bytes; states.
    """
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [sys.executable, __file__, str(links), quantity],
                capture_output=True,
                text=True,
                timeout=patience,
                env=os.environ | {"DALEMBERT_CACHE": folder},
            )
        except subprocess.TimeoutExpired:
            return {"failed": f"not done within {patience:.0f} s"}
    if done.returncode:
        return {
            "failed": (done.stderr.strip().splitlines() or [f"ended with code {done.returncode}"])[
                -1
            ]
        }
    return json.loads(done.stdout)


def main(links: int, quantity: str) -> None:
    import numpy as np

    import dalembert as da
    from dalembert.reports.timing import side_by_side

    start = time.perf_counter()
    chain = da.planar_chain(links)
    model = time.perf_counter()
    compiled = da.compile(chain)
    states = max(64, JOINT_STATES // links)
    inputs = np.random.default_rng(0).standard_normal((3, states, links))
    getattr(compiled, quantity)(*inputs[:, :1])
    first = time.perf_counter()
    out = np.empty((states, links))
    method = getattr(compiled, quantity)
    times = side_by_side({"": lambda: method(*inputs, out=out)}, states * links, ROUNDS)[""]
    print(
        json.dumps(
            {
                "model": model - start,
                "first": first - model,
                "per_joint": times.median,
                "states": states,
                "memory": _memory(),
            }
        )
    )


def simulated(links: int, method: str) -> None:
    """Print the processor time of the first `simulate` of a planar chain, and of its steps."""
    import numpy as np

    import dalembert as da

    chain = da.planar_chain(links)
    q, qd = np.random.default_rng(0).uniform(-0.1, 0.1, links), np.zeros(links)
    options = {"method": method} | ({} if method in ("dopri5", "dop853") else {"h": 1e-3})
    start = time.process_time()
    da.simulate(chain, q, qd, 0.002, **options)
    first = time.process_time() - start
    for _ in range(6):  # energies are compiled once they are needed often
        da.simulate(chain, q, qd, 1.0, **options)
    start = time.process_time()
    run = da.simulate(chain, q, qd, 1.0, **options)
    cost = (time.process_time() - start) / float(run.steps) / links
    print(json.dumps({"first": first, "per_step_and_link": cost, "memory": _memory()}))


def _memory() -> int:
    """Bytes of memory that this process had at most."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS
    return 1024 * next(
        int(line.split()[1]) for line in lines if line.startswith("VmHWM")
    )  # getrusage has the parent's


if __name__ == "__main__":
    from dalembert.integrators import METHODS

    (simulated if sys.argv[2] in METHODS else main)(int(sys.argv[1]), sys.argv[2])
