"""All benchmarks beside the peers: `python benchmarks/run.py [--write docs/benchmarks.md]`.

Results of all engines are compared before anything is timed. Native programs are built at the first
run (some minutes) and kept in the folder $DALEMBERT_BENCH_CACHE, by default in the system's folder
for temporary files.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import chains
import dalembert as da
import narrow
from dalembert.codegen.program import Program
from dalembert.reports.timing import Times, side_by_side
from dalembert.tracing.quantities import traced
from ensemble import rk4_step
from limits import at_most, multiply_adds, operations, peak_operations
from native import BuildError
from peers import Contender, difference
from peers.casadi import CasADi
from peers.frax import Frax
from peers.mujoco import MuJoCo
from peers.pinocchio import Pinocchio
from report import machine, page
from robots import QUANTITIES, ROBOTS, STEP, States, mechanism, states
from startup import measured

AGREEMENT = 1e-9  # of the largest entry: beyond it two engines do not compute the same;
LONG_AGREEMENT = 1e-6  # of long chains, whose mass matrices' condition grows like n^4
MEMORY = 64 * 2**20  # bytes of one engine's vectors and results; larger quantities get fewer states
MANY = 100_000  # states for the comparison of one thread with two
LINKS = {
    "Pinocchio": 500,
    "MuJoCo": 1000,
    "CasADi": 50,
    "frax": 50,
}  # longest chains: beyond, hours or tens of GB
COMPILED_ALWAYS = 100  # links; longer chains only if a process of its own compiles them
WITHIN = 20.0  # s
STARTUPS = (
    ("panda", "inverse_dynamics"),
    ("panda", "all"),
    ("g1", "inverse_dynamics"),
    ("g1", "inverse_dynamics_derivatives"),
)
ALIVE: list[Any] = []  # what CasADi's buffers hold by address only
LEFT_OUT: dict[str, str] = {}  # what is not measured, and why


def batches(name: str, count: int, rounds: int) -> dict[str, Any]:
    """Seconds per state of each quantity of a robot by each engine, with the ratios and the largest
    difference.
    """
    return {
        quantity: _batch(name, quantity, count, rounds)
        for quantity in ROBOTS[name].quantities
        if _compiles(name, quantity)
    }


def _batch(name: str, quantity: str, count: int, rounds: int) -> dict[str, Any]:
    program = _program(name, quantity)
    size = 8 * sum(port.size for port in (*program.inputs, *program.outputs)) if program else 0
    chosen = states(name, min(count, max(256, MEMORY // size // 256 * 256)) if size else count)
    ours = [_ours(name, quantity, chosen)]
    if narrow.wide() and program:
        ours.append(narrow.contender(program, quantity, chosen))
    peers = _contenders(name, quantity, chosen)
    gaps = _compared(
        f"{name} {quantity}",
        ours[0],
        [*ours[1:], *peers],
        LONG_AGREEMENT if ROBOTS[name].links else AGREEMENT,
    )
    quickest = [
        _quickest([c for c in peers if c.name == peer])
        for peer in dict.fromkeys(c.name for c in peers)
    ]
    engines = [*ours, *quickest]
    limits = at_most(program, len(chosen.q)) if program else {}
    times = side_by_side(
        {c.name: c.call for c in engines} | limits,
        {c.name: c.states for c in engines} | dict.fromkeys(limits, len(chosen.q)),
        rounds,
    )

    def ratios(engine: str) -> dict[str, tuple[float, float]]:
        return {
            c.name: (times[engine].ratio(times[c.name]), times[engine].quiet_ratio(times[c.name]))
            for c in quickest
        }

    found = {
        "states": len(chosen.q),
        "times": {engine: _numbers(t) for engine, t in times.items() if engine not in limits},
        "ratios": {c.name: ratios(c.name) for c in ours},
        "how": {c.name: c.how for c in quickest},
        "difference": max(gaps, default=None),
    }
    if program:
        found |= {
            "operations": operations(program),
            "bytes": size,
            "limits": {limit: times["dalembert"].ratio(times[limit]) for limit in limits},
        }
    print(
        f"{name} {quantity}: "
        + ", ".join(f"{engine} {t.median * 1e9:.1f} ns" for engine, t in times.items())
        + "".join(
            f", {r:.1f} ({quiet:.1f}) x {engine}"
            for engine, (r, quiet) in ratios("dalembert").items()
        ),
        flush=True,
    )
    return found


def _compiles(name: str, quantity: str) -> bool:
    """Whether this package has a form of the code that suits the chain: the straight one takes
    minutes when it is long.
    """
    links = ROBOTS[name].links
    cost = chains.measured(links, quantity, WITHIN) if links > COMPILED_ALWAYS else {}
    if "failed" in cost:
        _leave_out(f"{name} {quantity}", cost["failed"])
    return "failed" not in cost


def _program(name: str, quantity: str) -> Program | None:
    """What the kernel computes; none where it goes in loops over the bodies, whose operations
    nobody has counted.
    """
    program = rk4_step(name).program if quantity == STEP else traced(mechanism(name), [quantity])
    return program if program.block else None


def _ours(name: str, quantity: str, chosen: States) -> Contender:
    compiled, inputs = (
        rk4_step(name) if quantity == STEP else da.compile(mechanism(name)),
        chosen.inputs(quantity),
    )
    method = compiled if quantity == STEP else getattr(compiled, quantity)
    found = method(*inputs)  # compiles it; the method is taken afterwards, as a user's loop does
    out = found if isinstance(found, tuple) else (found,)
    method = compiled if quantity == STEP else getattr(compiled, quantity)
    return Contender(
        "dalembert",
        "from Python, out=",
        partial(method, *inputs, out=found),
        lambda: [*out],
        len(chosen.q),
    )


def _contenders(name: str, quantity: str, chosen: States) -> list[Contender]:
    makers: dict[str, Callable[[], Any]] = {
        "Pinocchio": lambda: Pinocchio(name, chosen),
        "MuJoCo": lambda: MuJoCo(name, chosen),
        "CasADi": lambda: CasADi(name, Pinocchio(name, chosen)),
        "frax": lambda: Frax(name, chosen),
    }
    found = []
    for peer, made in makers.items():
        if ROBOTS[name].links <= LINKS[peer]:
            try:
                found += made().contenders(quantity)
            except (BuildError, ImportError) as error:
                _leave_out(peer, str(error))
    return found


def _leave_out(what: str, why: str) -> None:
    if what not in LEFT_OUT:
        print(f"left out: {what}: {why}", file=sys.stderr)
    LEFT_OUT[what] = why


def _compared(
    what: str, ours: Contender, peers: Sequence[Contender], agreement: float
) -> list[float]:
    """Largest relative differences of the peers' results from ours, which must be small."""
    ours.call()
    gaps = []
    for peer in peers:
        peer.call()
        gaps.append(difference(ours.result(), peer.result()))
        if not gaps[-1] < agreement:
            raise SystemExit(f"{what}: {peer.name} differs by {gaps[-1]:.1e}")
    if gaps:
        print(f"{what}: largest relative difference {max(gaps):.1e}", flush=True)
    return gaps


def _quickest(ways: Sequence[Contender]) -> Contender:
    if len(ways) == 1:
        return ways[0]
    times = side_by_side(
        {str(k): way.call for k, way in enumerate(ways)},
        {str(k): way.states for k, way in enumerate(ways)},
        rounds=5,
    )
    return ways[min(range(len(ways)), key=lambda k: times[str(k)].spread[0])]


def single_calls(rounds: int) -> dict[str, Any]:
    """Seconds of one call from Python: inverse dynamics of the Panda at one state."""
    chosen = states("panda", 1)
    compiled = da.compile(mechanism("panda"))
    inputs = [x[0].copy() for x in chosen.inputs("inverse_dynamics")]
    out = compiled.inverse_dynamics(*inputs)  # compiles it
    ways: dict[str, Callable[[], object]] = {
        "dalembert, out=": partial(compiled.inverse_dynamics, *inputs, out=out),
        "dalembert": partial(compiled.inverse_dynamics, *inputs),
    }
    for peer, made in (
        ("Pinocchio", _single_pinocchio),
        ("MuJoCo", _single_mujoco),
        ("CasADi", _single_casadi),
    ):
        try:
            ways |= made(chosen)
        except (BuildError, ImportError) as error:
            _leave_out(peer, str(error))
    return {name: _numbers(t) for name, t in side_by_side(ways, 1, rounds).items()}


def _single_pinocchio(chosen: States) -> dict[str, Callable[[], object]]:
    import pinocchio

    p = Pinocchio("panda", chosen)
    return {
        "Pinocchio, pin.rnea": partial(
            pinocchio.rnea, p.model, p.model.createData(), p.q[0], p.v[0], p.a[0]
        )
    }


def _single_mujoco(chosen: States) -> dict[str, Callable[[], object]]:
    import mujoco

    m = MuJoCo("panda", chosen)
    m.data.qpos[:], m.data.qvel[:], m.data.qacc[:] = m.q[0], m.v[0], m.a[0]
    return {"MuJoCo, mj_inverse, state already set": partial(mujoco.mj_inverse, m.model, m.data)}


def _single_casadi(chosen: States) -> dict[str, Callable[[], object]]:
    p = Pinocchio("panda", chosen)
    external = CasADi("panda", p).external("inverse_dynamics")
    buffer, evaluate = external.buffer()
    vectors, result = [p.q[0].copy(), p.v[0].copy(), p.a[0].copy()], np.zeros(7)
    for k, x in enumerate(vectors):
        buffer.set_arg(k, memoryview(x))
    buffer.set_res(0, memoryview(result))
    ALIVE.extend((buffer, *vectors, result))
    return {
        "CasADi, buffer API, inputs already set": evaluate,
        "CasADi, plain call": partial(external, *vectors),
    }


def threads(rounds: int) -> dict[str, Any]:
    """Seconds per state with one and two threads, and how many times faster two are; and so for
    multiply-adds in registers, which share nothing but the processors.
    """
    found = {}

    def compare(name: str, ways: dict[str, Callable[[], object]]) -> None:
        times = side_by_side(ways, MANY, rounds, clock=time.perf_counter)
        found[name] = {
            "one": _numbers(times["1"]),
            "two": _numbers(times["2"]),
            "ratio": times["2"].ratio(times["1"]),
            "quiet": times["2"].quiet_ratio(times["1"]),
        }

    compare("multiply-adds in registers", {str(n): partial(multiply_adds, n) for n in (1, 2)})
    compiled = da.compile(mechanism("panda"))
    chosen = states("panda", MANY)
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        out = getattr(compiled, quantity)(*chosen.inputs(quantity))
        call = getattr(compiled, quantity)
        compare(
            quantity,
            {str(n): partial(call, *chosen.inputs(quantity), out=out, threads=n) for n in (1, 2)},
        )
    return found


def startups() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for robot, what in STARTUPS:
        found.setdefault(robot, {})[what] = measured(
            robot, ",".join(QUANTITIES) if what == "all" else what
        )
        print(f"first use, {robot} {what}: {found[robot][what]}", flush=True)
    return found


def long_chains() -> dict[str, dict[str, Any]]:
    """Cost of long chains, {quantity: {links: numbers}}; the longer ones of a quantity are not
    tried where one failed.
    """
    found: dict[str, dict[str, Any]] = {}
    for quantity in QUANTITIES[:2]:
        found[quantity] = costs = {}
        for links in chains.LENGTHS:
            costs[str(links)] = cost = chains.measured(links, quantity)
            print(f"chain of {links} links, {quantity}: {cost}", flush=True)
            if "failed" in cost:
                break
    return found


def _numbers(times: Times) -> dict[str, float]:
    low, high = times.spread
    return {"median": times.median, "low": low, "high": high, "rounds": len(times.rounds)}


PARTS: dict[str, Callable[[int], Any]] = {
    "single": single_calls,
    "threads": threads,
    "startup": lambda rounds: startups(),
    "chains": lambda rounds: long_chains(),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--write", type=Path, help="page whose measured part is renewed")
    parser.add_argument("--json", type=Path, help="file for all numbers")
    parser.add_argument("--states", type=int, default=8192)
    parser.add_argument(
        "--rounds", type=int, default=31, help="at most; fewer where engines are slow"
    )
    parser.add_argument("--robots", nargs="*", default=list(ROBOTS), choices=list(ROBOTS))
    parser.add_argument(
        "--parts", nargs="*", default=list(PARTS), choices=list(PARTS), help="besides the robots"
    )
    options = parser.parse_args()
    results = {
        "rounds": options.rounds,
        "peak": peak_operations(),
        "robots": {name: batches(name, options.states, options.rounds) for name in options.robots},
        **{part: PARTS[part](options.rounds) for part in options.parts},
    }
    results |= {
        "machine": machine(),
        "peak": max(results["peak"], peak_operations()),
        "left_out": LEFT_OUT,
    }
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    text = page(results)
    if options.write:
        before, rest = options.write.read_text(encoding="utf-8").split("<!-- measured -->\n", 1)
        after = rest.split("<!-- end of measured -->", 1)[1]
        options.write.write_text(
            f"{before}<!-- measured -->\n{text}<!-- end of measured -->{after}", encoding="utf-8"
        )
    else:
        print(text)


if __name__ == "__main__":
    main()
