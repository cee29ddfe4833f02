"""Speed and memory of two source trees: `python benchmarks/compare.py OLD NEW [pattern ...]`.

OLD and NEW are folders that `import dalembert` finds the package in; patterns choose cases by name
('simulate*'). Each case prints the median of new over old with its 95 % interval. Both trees take
turns, in processes of their own with caches of their own; processor time counts, not time passed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from functools import partial
from typing import Any

import numpy as np

TURN = 5e-3  # s of one turn: below it a call is repeated
ROUNDS = 7  # pairs of turns of two processes, which take their medians
SERVERS = 7  # pairs of processes of one case: addresses change its speed by 10 %
PROCESSES = 15  # pairs of fresh processes of one case
Z = 1.96  # of a 95 % interval
Call = Callable[[], object]

# Cases in fresh processes with empty caches: first use, and the memory at the end.
FRESH = {
    "import": "import dalembert",
    "load UR5, M, C and g": "import robots, dalembert as da; d = da.compile(robots.mechanism('ur5'));"
    " [d.function([n]) for n in ('mass_matrix', 'coriolis_matrix', 'gravity_vector')]",
    "first inverse_dynamics of panda": "import robots, dalembert as da;"
    " da.compile(robots.mechanism('panda')).function(['inverse_dynamics'])",
    "first quantities of panda": "import robots, dalembert as da;"
    " d = da.compile(robots.mechanism('panda')); [d.function([n]) for n in robots.QUANTITIES]",
    "first inverse_dynamics of g1": "import robots, dalembert as da;"
    " da.compile(robots.mechanism('g1')).function(['inverse_dynamics'])",
    "first derivatives of g1": "import robots, dalembert as da;"
    " da.compile(robots.mechanism('g1')).function(['inverse_dynamics_derivatives'])",
    "first inverse_dynamics of 100 links": "import dalembert as da;"
    " da.compile(da.planar_chain(100)).function(['inverse_dynamics'])",
    "first simulate of panda": "import compare; compare.panda('rk4')()",
    "records of 1e6": "import dalembert as da;"
    " da.simulate(da.planar_chain(2), [0.5, 0.1], [0, 0], 1000.0, h=1e-3, record=1e-3)",
}


def kernel(robot: str, quantity: str) -> Call:
    """A quantity at many states, written into arrays that are there."""
    import dalembert as da
    from ensemble import rk4_step
    from robots import STEP, mechanism, states

    compiled = da.compile(mechanism(robot)) if quantity != STEP else None
    inputs = states(robot, 512).inputs(quantity)

    def method() -> Any:
        return getattr(compiled, quantity) if compiled else rk4_step(robot)

    out = method()(*inputs)  # compiles it; the method is taken again, as a user's loop does
    return partial(method(), *inputs, out=out)


def single(**options: Any) -> Call:
    """Inverse dynamics of the Panda at one state."""
    import dalembert as da
    from robots import mechanism, states

    compiled = da.compile(mechanism("panda"))
    inputs = [x[0].copy() for x in states("panda", 1).inputs("inverse_dynamics")]
    out = compiled.inverse_dynamics(*inputs)
    options = {"out": out} if options else {}
    return partial(compiled.inverse_dynamics, *inputs, **options)


def panda(method: str, trajectories: int = 1, **options: Any) -> Call:
    """A second of the Panda that falls."""
    import dalembert as da
    from robots import mechanism

    arm = mechanism("panda")
    start = [0.1, -0.4, 0.2, -1.5, 0.3, 1.2, 0.4]
    q = np.add(start, 0.01 * np.arange(trajectories)[:, None]) if trajectories > 1 else start
    return partial(da.simulate, arm, q, np.zeros_like(q), 1.0, method=method, **options)


def double_pendulum(**options: Any) -> Call:
    """Ten steps of a double pendulum: the cost of a call."""
    import dalembert as da

    arm = da.planar_chain(2)
    return partial(da.simulate, arm, [0.5, 0.1], [0.0, 0.0], 0.01, h=1e-3, **options)


def steps_of_double_pendulum() -> Call:
    """A million steps with two records."""
    import dalembert as da

    arm = da.planar_chain(2)
    return partial(da.simulate, arm, [0.5, 0.1], [0.0, 0.0], 100.0, record=100.0)


def called_control() -> Call:
    """A controller that needs numbers."""
    return double_pendulum(control=lambda t, q, qd: [-float(q[0]), -float(qd[1])])


def new_control() -> Call:
    """A controller that is made anew before each run, and traced."""

    simulate = double_pendulum()
    return lambda: simulate(control=lambda t, q, qd: -2.0 * q - 0.5 * qd)  # type: ignore[call-arg]


def cases() -> dict[str, Callable[[], Call]]:
    """What sets up each case that is called many times."""
    from robots import ROBOTS

    kernels: dict[str, Callable[[], Call]] = {
        f"{robot} {quantity}": partial(kernel, robot, quantity)
        for robot in ROBOTS
        for quantity in ROBOTS[robot].quantities
        if ROBOTS[robot].links <= 100
    }
    simulations: dict[str, Callable[[], Call]] = {
        **{
            f"panda {method}, {records} records": partial(panda, method, record=1 / records)
            for method in ("rk4", "dopri5", "dop853")
            for records in (1, 1000)
        },
        "panda rk4, 20000 steps": partial(panda, "rk4", h=5e-5, record=1.0),
        "panda dopri5, fine": partial(panda, "dopri5", rtol=1e-13, atol=1e-13, record=1.0),
        "panda dop853, fine": partial(panda, "dop853", rtol=1e-13, atol=1e-13, h=1e-5, record=1.0),
        "64 pandas rk4": partial(panda, "rk4", 64, record=0.1),
        "2R, ten steps": double_pendulum,
        "2R, a hundred thousand steps": steps_of_double_pendulum,
        "2R, called control": called_control,
        "2R, new traced control": new_control,
    }
    return {
        "one state, out=": partial(single, out=True),
        "one state": single,
        **kernels,
        **{f"simulate {name}": make for name, make in simulations.items()},
    }


def serve() -> None:
    """Answer each line [case, calls] with the seconds of a call, until the input ends."""
    prepared: dict[str, Call] = {}
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        name, calls = json.loads(line)
        if name not in prepared:
            prepared = {name: cases()[name]()}
            prepared[name]()
        call = prepared[name]
        call()  # brings data and code back into the caches
        start = time.process_time_ns()
        for _ in range(calls):
            call()
        print((time.process_time_ns() - start) * 1e-9 / calls, file=answers, flush=True)


class Tree:
    """A source tree: its process that answers, and fresh ones."""

    def __init__(self, source: str):
        path = os.pathsep.join((source, os.path.dirname(os.path.abspath(__file__))))
        self._folder = tempfile.TemporaryDirectory()
        self._environment = os.environ | {"PYTHONPATH": path, "DALEMBERT_CACHE": self._folder.name}
        # Modules are imported as of an installed package, whose byte code is kept.
        self._environment["PYTHONPYCACHEPREFIX"] = os.path.join(self._folder.name, "pycache")
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self._server: subprocess.Popen[str] | None = None

    def seconds(self, case: str, calls: int) -> float:
        """Of one call, in a turn of so many."""
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, sys.argv[0], "--serve"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=self._environment,
            )
        assert self._server.stdin and self._server.stdout
        print(json.dumps([case, calls]), file=self._server.stdin, flush=True)
        return float(self._server.stdout.readline())

    def fresh(self, code: str) -> tuple[float, float]:
        """Seconds and greatest memory [bytes] of a process of its own with an empty cache."""
        with tempfile.TemporaryDirectory() as folder:
            environment = self._environment | {"DALEMBERT_CACHE": folder}
            child = subprocess.Popen([sys.executable, "-c", code], env=environment)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise SystemExit(f"{code!r} ended with code {child.returncode}")
        return used.ru_utime + used.ru_stime, 1024.0 * used.ru_maxrss

    def stop(self) -> None:
        """End the process that answers; the next question starts another."""
        if self._server:
            self._server.communicate()
            self._server = None

    def close(self) -> None:
        """End the process and remove the cache."""
        self.stop()
        self._folder.cleanup()


def in_turn(trees: list[Any], rounds: int, measure: Callable[[Any], Any]) -> np.ndarray:
    """Measurements (rounds, 2, ...) of both trees, each first in every other round."""
    found = []
    for r in range(rounds):
        row = [measure(tree) for tree in trees[:: 1 - 2 * (r % 2)]]
        found.append(row[:: 1 - 2 * (r % 2)])
    return np.array(found)


def ratio_and_interval(pairs: np.ndarray) -> tuple[float, float, float]:
    """Median of the second over the first of pairs (n, 2), and its 95 % interval by ranks."""
    ratios = np.sort(pairs[:, 1] / pairs[:, 0])
    rank = max(0, round((len(ratios) - Z * math.sqrt(len(ratios))) / 2) - 1)
    return float(np.median(ratios)), float(ratios[rank]), float(ratios[-1 - rank])


def compared(trees: list[Tree], wanted: Callable[[str], bool]) -> Iterator[tuple[str, np.ndarray]]:
    """Each case that is wanted and its pairs of measurements, old and new."""
    for name in filter(wanted, cases()):
        seconds = in_turn(trees, 2, partial(Tree.seconds, case=name, calls=1)).min()
        calls = max(1, round(TURN / seconds))
        medians = []
        for _ in range(SERVERS):
            pairs = in_turn(trees, ROUNDS, partial(Tree.seconds, case=name, calls=calls))
            medians.append(np.median(pairs, axis=0))
            for tree in trees:
                tree.stop()
        yield name, np.array(medians)
    for name in filter(wanted, FRESH):
        in_turn(trees, 1, partial(Tree.fresh, code=FRESH[name]))  # compiles modules of Python
        found = in_turn(trees, PROCESSES, partial(Tree.fresh, code=FRESH[name]))
        yield name, found[..., 0]
        yield f"{name}, memory", found[..., 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("patterns", nargs="*", default=["*"])
    options = parser.parse_args()
    trees = [Tree(options.old), Tree(options.new)]
    print(f"{'case':45}{'old':>10}{'new':>10}{'ratio':>8}{'95 %':>16}")
    for name, pairs in compared(trees, lambda n: any(fnmatch(n, p) for p in options.patterns)):
        old, new = np.median(pairs, axis=0)
        ratio, low, high = ratio_and_interval(pairs)
        print(
            f"{name:45}{old:10.3g}{new:10.3g}{ratio:8.3f}{low:8.3f}{high:8.3f}"
            + ("  slower" if low > 1.05 else ""),
            flush=True,
        )
    for tree in trees:
        tree.close()


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--serve"] else main()
