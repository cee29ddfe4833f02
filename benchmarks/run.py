"""All benchmarks beside the peers: `python benchmarks/run.py [--write docs/benchmarks.md]`.

Results of all engines are compared before anything is timed. Native programs are built at the first run (some minutes)
and kept in the folder $DALEMBERT_BENCH_CACHE, by default in the system's folder for temporary files.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as da
from dalembert.commandline.timing import Times, side_by_side
from dalembert.compiled.quantities import traced
from limits import copy_bandwidth, operations, peak_operations, traffic
from native import BuildError
from peers import Contender, difference
from peers.casadi import CasADi
from peers.mujoco import MuJoCo
from peers.pinocchio import Pinocchio
from report import machine, page
from robots import QUANTITIES, ROBOTS, States, mechanism, states
from startup import measured

AGREEMENT = 1e-9              # of the largest entry: beyond it two engines do not compute the same
MEMORY = 64 * 2**20           # bytes of one engine's results; larger quantities get fewer states
MANY = 100_000                # states for the comparison of one thread with two
STARTUPS = (("panda", "inverse_dynamics"), ("panda", "all"), ("g1", "inverse_dynamics"),
            ("g1", "inverse_dynamics_derivatives"))


def batches(name: str, count: int, rounds: int) -> dict[str, Any]:
    """Seconds per state of each quantity of a robot by each engine, with the ratios and the largest difference."""
    found = {}
    for quantity in QUANTITIES:
        program = traced(mechanism(name), [quantity])
        fit = max(256, min(count, MEMORY // traffic(program) // 256 * 256))
        chosen = States(*(x[:fit] for x in states(name, count)))
        ours = _ours(name, quantity, chosen)
        peers = _contenders(name, quantity, chosen)
        gaps = _compared(f"{name} {quantity}", ours, peers)
        quickest = [_quickest([c for c in peers if c.name == peer]) for peer in dict.fromkeys(c.name for c in peers)]
        times = side_by_side({c.name: c.call for c in (ours, *quickest)}, len(chosen.q), rounds)
        found[quantity] = {
            "states": len(chosen.q), "times": {engine: _numbers(t) for engine, t in times.items()},
            "ratios": {c.name: times["dalembert"].ratio(times[c.name]) for c in quickest},
            "how": {c.name: c.how for c in quickest}, "difference": max(gaps, default=None),
            "operations": operations(program), "bytes": traffic(program),
            "copy_bandwidth": copy_bandwidth(traffic(program) * len(chosen.q))}
        print(f"{name} {quantity}: " + ", ".join(f"{engine} {t.median * 1e9:.1f} ns" for engine, t in times.items())
              + "".join(f", {r:.1f} x {engine}" for engine, r in found[quantity]["ratios"].items()), flush=True)
    return found


def _ours(name: str, quantity: str, chosen: States) -> Contender:
    compiled, inputs = da.compile(mechanism(name)), chosen.inputs(quantity)
    found = getattr(compiled, quantity)(*inputs)      # compiles it; the method is taken afterwards, as a user's loop does
    out = found if isinstance(found, tuple) else (found,)
    method = getattr(compiled, quantity)
    return Contender("dalembert", "from Python, out=", partial(method, *inputs, out=found), lambda: [*out])


def _contenders(name: str, quantity: str, chosen: States) -> list[Contender]:
    found = []
    pinocchio = Pinocchio(name, chosen)
    for made in (lambda: pinocchio, lambda: MuJoCo(name, chosen), lambda: CasADi(name, pinocchio)):
        try:
            found += made().contenders(quantity)
        except (BuildError, ImportError) as error:
            print(f"left out: {error}", file=sys.stderr)
    return found


def _compared(what: str, ours: Contender, peers: Sequence[Contender]) -> list[float]:
    """Largest relative differences of the peers' results from ours, which must be small."""
    ours.call()
    gaps = []
    for peer in peers:
        peer.call()
        gaps.append(difference(ours.result(), peer.result()))
        if not gaps[-1] < AGREEMENT:
            raise SystemExit(f"{what}: {peer.name} differs by {gaps[-1]:.1e}")
    if gaps:
        print(f"{what}: largest relative difference {max(gaps):.1e}", flush=True)
    return gaps


def _quickest(ways: Sequence[Contender]) -> Contender:
    times = side_by_side({str(k): way.call for k, way in enumerate(ways)}, rounds=3) if len(ways) > 1 else {}
    return ways[min(range(len(ways)), key=lambda k: times[str(k)].median if times else 0)]


def single_calls(rounds: int) -> dict[str, Any]:
    """Seconds of one call from Python: inverse dynamics of the Panda at one state."""
    import mujoco
    import pinocchio

    chosen = States(*(x[:1] for x in states("panda", 1)))
    ours = da.compile(mechanism("panda"))
    q, qd, qdd = (x[0].copy() for x in chosen.inputs("inverse_dynamics"))
    out = ours.inverse_dynamics(q, qd, qdd)      # compiles it
    theirs = Pinocchio("panda", chosen)
    data, v = theirs.model.createData(), [x[0].copy() for x in (theirs.q, theirs.v, theirs.a)]
    body = MuJoCo("panda", chosen)
    body.data.qpos[:], body.data.qvel[:], body.data.qacc[:] = body.q[0], body.v[0], body.a[0]
    ways: dict[str, Callable[[], object]] = {
        "dalembert, out=": partial(ours.inverse_dynamics, q, qd, qdd, out=out),
        "dalembert": partial(ours.inverse_dynamics, q, qd, qdd),
        "Pinocchio, pin.rnea": partial(pinocchio.rnea, theirs.model, data, *v),
        "MuJoCo, mj_inverse, state already set": partial(mujoco.mj_inverse, body.model, body.data)}
    try:
        external = CasADi("panda", theirs).external("inverse_dynamics")
        buffer, evaluate = external.buffer()
        result = np.zeros(7)
        for k, x in enumerate(v):
            buffer.set_arg(k, memoryview(x))
        buffer.set_res(0, memoryview(result))
        ways |= {"CasADi, buffer API, inputs already set": evaluate, "CasADi, plain call": partial(external, *v)}
    except BuildError as error:
        print(f"left out: {error}", file=sys.stderr)
    return {name: _numbers(t) for name, t in side_by_side(ways, 1, rounds).items()}


def threads(rounds: int) -> dict[str, Any]:
    """Seconds per state with one and two threads, and how many times faster two are."""
    found = {}
    compiled = da.compile(mechanism("panda"))
    chosen = states("panda", MANY)
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        out = getattr(compiled, quantity)(*chosen.inputs(quantity))
        call = getattr(compiled, quantity)
        ways = {str(n): partial(call, *chosen.inputs(quantity), out=out, threads=n) for n in (1, 2)}
        times = side_by_side(ways, MANY, rounds)
        found[quantity] = {"one": _numbers(times["1"]), "two": _numbers(times["2"]), "ratio": times["2"].ratio(times["1"])}
    return found


def startups() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for robot, what in STARTUPS:
        found.setdefault(robot, {})[what] = measured(robot, ",".join(QUANTITIES) if what == "all" else what)
        print(f"first use, {robot} {what}: {found[robot][what]}", flush=True)
    return found


def _numbers(times: Times) -> dict[str, float]:
    low, high = times.spread
    return {"median": times.median, "low": low, "high": high}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--write", type=Path, help="page whose measured part is renewed")
    parser.add_argument("--json", type=Path, help="file for all numbers")
    parser.add_argument("--states", type=int, default=8192)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--robots", nargs="*", default=list(ROBOTS), choices=list(ROBOTS))
    options = parser.parse_args()
    results = {"machine": machine(), "rounds": options.rounds, "peak": peak_operations(),
               "robots": {name: batches(name, options.states, options.rounds) for name in options.robots},
               "single": single_calls(options.rounds), "threads": threads(options.rounds), "startup": startups()}
    results["peak"] = max(results["peak"], peak_operations())
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    text = page(results)
    if options.write:
        before, rest = options.write.read_text(encoding="utf-8").split("<!-- measured -->\n", 1)
        after = rest.split("<!-- end of measured -->", 1)[1]
        options.write.write_text(f"{before}<!-- measured -->\n{text}<!-- end of measured -->{after}", encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
