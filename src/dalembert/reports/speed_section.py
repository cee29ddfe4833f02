"""Speed of the generated machine code on this machine."""

from __future__ import annotations

import datetime
import os
import platform
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dalembert.closed_forms.printing.markup import joined
from dalembert.compiled.dynamics import compile as compiled
from dalembert.errors import DalembertError
from dalembert.model.magnitudes import check_magnitudes
from dalembert.model.mechanism import Mechanism
from dalembert.native.kernel import host
from dalembert.reports.report_parts import (
    Provenance,
    ReportColumn,
    ReportSection,
    counted,
    is_too_large,
    note,
    paragraph,
    table,
)
from dalembert.reports.timing import Times, side_by_side

STATES, ROUNDS = 512, 7  # in a batch; of the measurement
KEY, TITLE = "speed", "Speed on this machine"
QUANTITIES = {
    "inverse_dynamics": ("inverse dynamics", ("q", "qd", "qdd")),
    "forward_dynamics": ("forward dynamics", ("q", "qd", "tau")),
    "mass_matrix": ("mass matrix", ("q",)),
}


class SpeedRow(NamedTuple):
    """A quantity, and times per state."""

    title: str
    times: Times


def speed_section(mechanism: Mechanism, seed: int) -> ReportSection:
    """Nanoseconds per state of the main quantities, or why they cannot be measured."""
    start = time.perf_counter()
    if mechanism.symbols:
        return ReportSection(KEY, TITLE, paragraph("A mechanism with symbols is not compiled."))
    if why := is_too_large(mechanism, "Speeds are measured"):
        return ReportSection(KEY, TITLE, paragraph(why))
    tree = mechanism.without("constraints") if mechanism.constraints else mechanism
    try:
        check_magnitudes(tree, "measured")
        rows = _measured(tree, seed)
    except DalembertError as error:
        return ReportSection(KEY, TITLE, paragraph(f"Speeds cannot be measured: {error}"))
    columns = [
        ReportColumn("quantity", lambda r: r.title),
        ReportColumn("ns per state", lambda r: _nanoseconds(r.times.median), True),
        ReportColumn("10 % of rounds below", lambda r: _nanoseconds(r.times.spread[0]), True),
        ReportColumn("90 % below", lambda r: _nanoseconds(r.times.spread[1]), True),
        ReportColumn("million states per second", lambda r: f"{1e-6 / r.times.median:.3g}", True),
    ]
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    lanes = host()[0].lanes
    content = [
        table("Machine code of the model, one thread", columns, rows),
        note(
            f"{processor()}, {today}; medians of {ROUNDS} rounds over {STATES} random states in a "
            f"batch, {counted(lanes, 'state')} in a vector, seconds of processor time.",
            " Constraints are left out." if mechanism.constraints else "",
        ),
    ]
    provenance = Provenance(
        "Speeds",
        f"da.compile, timed on {processor()} on {today}, seed {seed}",
        time.perf_counter() - start,
    )
    return ReportSection(KEY, TITLE, joined(content, "\n"), (provenance,))


def _measured(mechanism: Mechanism, seed: int) -> list[SpeedRow]:
    rng = np.random.default_rng(seed)
    states = [mechanism.random_state(rng) for _ in range(STATES)]
    q, qd = (np.array(x) for x in zip(*states, strict=True))
    vectors = {"q": q, "qd": qd, "qdd": qd[::-1].copy(), "tau": qd[::-1].copy()}
    dynamics: Any = compiled(mechanism)
    rows = []
    for name, (title, inputs) in QUANTITIES.items():
        arguments = [vectors[key] for key in inputs]
        method = getattr(dynamics, name)
        result = method(*arguments)  # compiles it
        call = partial(method, *arguments, out=result)
        rows.append(SpeedRow(title, side_by_side({name: call}, STATES, ROUNDS)[name]))
    return rows


def _nanoseconds(seconds: float) -> str:
    return f"{seconds * 1e9:.0f}"


def processor() -> str:
    """The processor's name as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [x.split(":", 1)[1].strip() for x in lines if x.startswith("model name")]
    name = names[0] if names else platform.processor() or platform.machine()
    return f"{name} ({os.cpu_count()} cores)"
