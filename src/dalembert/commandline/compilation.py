"""The machine code of a mechanism: size, time to make it, speed, and that it equals the reference,
for `dalembert demo`.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from rich.console import Console

import dalembert as da
from dalembert.commandline.output import TableColumn, left, line, show_table
from dalembert.model.mechanism import Mechanism
from dalembert.native.kernel import host
from dalembert.reports.timing import side_by_side
from dalembert.tracing.quantities import QUANTITIES, traced

SHOWN = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_vector", "coriolis_matrix")
STATES, ROUNDS = 2048, 9
TOLERANCE = 1e-11  # of the largest entry; forward dynamics solves with M, whose condition enters


def show_compiled(out: Console, mechanism: Mechanism) -> bool:
    """Print operations, times and differences per quantity; whether all agree with the plain
    functions.
    """
    rng = np.random.default_rng(0)
    q, qd = (
        np.array(x) for x in zip(*(mechanism.random_state(rng) for _ in range(STATES)), strict=True)
    )
    vectors = {"q": q, "qd": qd, "qdd": qd[::-1].copy(), "tau": qd[::-1].copy()}
    dynamics = da.compile(mechanism)
    rows = []
    agree = True
    for name in SHOWN:
        quantity = QUANTITIES[name]
        start = time.perf_counter()
        program = traced(mechanism, [name])
        middle = time.perf_counter()
        dynamics.function([name])
        end = time.perf_counter()
        call = getattr(dynamics, name)
        arguments = [vectors[i] for i in quantity.inputs]
        result = call(*arguments)
        reference = quantity.function(mechanism, *(a[:64] for a in arguments))
        difference = float(
            np.abs(result[:64] - reference).max()
            / max(np.abs(reference).max(), np.finfo(float).tiny)
        )
        agree &= difference <= TOLERANCE
        speed = side_by_side({name: partial(call, *arguments, out=result)}, STATES, ROUNDS)[name]
        rows.append(
            (name, program.operations(), middle - start, end - middle, speed.median, difference)
        )
    line(out)
    line(
        out,
        f"Machine code, {host()[0].lanes} states per vector, one thread, {STATES} states",
        "bold",
    )
    show_table(
        out,
        [left("quantity", [r[0] for r in rows])],
        [
            TableColumn("operations", [str(r[1]) for r in rows]),
            TableColumn("trace ms", [f"{r[2] * 1e3:.0f}" for r in rows]),
            TableColumn("first use ms", [f"{r[3] * 1e3:.0f}" for r in rows]),
            TableColumn("ns per state", [f"{r[4] * 1e9:.0f}" for r in rows]),
            TableColumn("difference", [f"{r[5]:.0e}" for r in rows]),
        ],
    )
    line(out, "first use: tracing and compiling; loading, if the cache has it. difference: from")
    line(out, "the plain functions, relative to the largest entry.")
    return agree
