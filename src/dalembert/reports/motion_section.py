"""The motion of a report: a film, diagrams, the balance of power, and how limits were kept."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dalembert.closed_forms.printing.markup import Markup, element, joined
from dalembert.closed_forms.printing.number_text import number
from dalembert.errors import DalembertError
from dalembert.model.limit_vectors import effort_limits, velocity_limits
from dalembert.model.mechanism import Mechanism
from dalembert.reports.example_motion import ExampleMotion, example_motion
from dalembert.reports.film import film
from dalembert.reports.report_parts import (
    Provenance,
    ReportColumn,
    ReportSection,
    counted,
    largest,
    note,
    paragraph,
    table,
    verdict,
)
from dalembert.results.limit_peaks import LimitPeak
from dalembert.views.diagrams.charts import charts
from dalembert.views.diagrams.panels import Panel, PanelData

MOST_NAMED = 12  # coordinates in a sentence
WIDTH, HEIGHT = 440.0, 190.0  # of a diagram in its own units
KEY, TITLE = "motion", "A simulated motion"
AT_REST = 1e-9  # rad, m, per second, N m or N: smaller variations are noise of numbers
NOUNS = {
    "lower": "lowest position",
    "upper": "highest position",
    "velocity": "speed",
    "effort": "effort",
}


def motion_section(mechanism: Mechanism, run: Any, q: Any, t: float | None) -> ReportSection:
    """The run that is given, or an example; else why there is none."""
    start = time.perf_counter()
    try:
        if run is None:
            motion = example_motion(mechanism, q, t)
        else:
            motion = ExampleMotion(_single(run), "The run is the one that was given.", ())
        limits = limits_of(motion.run)
        content = _content(mechanism, motion, limits)
    except DalembertError as error:
        return ReportSection(KEY, TITLE, paragraph(f"No motion is shown: {error}"))
    passed = sum(peak.is_passed for peak in limits)
    words = (
        f"motion: {passed or 'none'} of {counted(len(limits), 'limit')} passed" if limits else ""
    )
    provenance = Provenance(
        "Motion",
        f"da.simulate, method {motion.run.method}, step {motion.run.h:g} s, "
        f"{int(motion.run.steps.sum())} steps; {motion.run.reason}",
        time.perf_counter() - start,
    )
    return ReportSection(KEY, TITLE, content, (provenance,), (words, not passed) if words else None)


def _single(run: Any) -> Any:
    """The run, if it has one trajectory of a mechanism."""
    if run.q.ndim != 2:
        raise DalembertError(f"the run has {len(run.q)} trajectories: a report shows a single one.")
    return run


def _content(mechanism: Mechanism, motion: ExampleMotion, limits: list[LimitPeak]) -> Markup:
    """Words, film, diagrams and limits."""
    run = motion.run
    parts = [paragraph(motion.words), film(run), _charts(run)]
    parts += [paragraph(line) for line in _balances(run)]
    if limits:
        parts.append(_limit_table(limits))
    else:
        parts.append(paragraph("The model gives no limits of positions, speeds or efforts."))
    if _has_empty_limits(mechanism):
        parts.append(note("Limits of 0 are left out: files write them where none is known."))
    parts += [paragraph(f"Warning: {words}") for words in motion.warnings]
    return joined(parts, "\n")


def _balances(run: Any) -> Iterator[str]:
    """Sentences on energy and constraints."""
    change = run.energy[-1] - run.energy[0]
    yield (
        f"The energy T + Π changes by {number(change)} J while drives and friction do "
        f"{number(run.work[-1])} J of work; the difference stays below "
        f"{number(largest(run.power_balance), 2)} J, which is the error of the integration."
    )
    if run.residual is not None:
        yield (
            f"Constraints are met to {number(largest(run.residual), 2)} in positions and "
            f"{number(largest(run.velocity_residual), 2)} in velocities."
        )
    still = [
        name
        for name, column in zip(run.system.coordinate_names, run.q.T, strict=True)
        if np.ptp(np.nan_to_num(column)) < AT_REST
    ]
    if still:
        yield f"At rest all the time: {', '.join(still[:MOST_NAMED])}{' ...' * (len(still) > MOST_NAMED)}."
    if run.reason != "finished":
        yield f"The run ended early: {run.reason}."


def _has_empty_limits(mechanism: Mechanism) -> bool:
    """Whether limits of speed or effort are 0."""
    limits = np.concatenate([velocity_limits(mechanism), effort_limits(mechanism)])
    return bool((limits == 0).any())


# --- diagrams ---


def _charts(run: Any) -> Markup:
    """Diagrams of coordinates, velocities, applied forces, energies and the balance of power."""
    data = PanelData(run, liveliest=True)
    joints = data.panels(["q", "qd", "tau"])
    moving = [panel for panel in joints if _extent(panel) > AT_REST]
    others = data.panels(["energies", "power_balance"])
    drawn = sum(len(panel.names) for panel in joints if panel.quantity == "q")
    few = ""
    if drawn < run.system.nq:
        few = f"Drawn are the {drawn} of {run.system.nq} coordinates that vary most."
    figures = element("div", charts([*moving, *others], WIDTH, HEIGHT), class_="charts")
    return joined([figures, note(few) if few else ""])


def _extent(panel: Panel) -> float:
    """The largest variation of a curve."""
    return float(np.ptp(np.nan_to_num(panel.y), axis=1).max(initial=0.0))


# --- limits ---


def limits_of(run: Any) -> list[LimitPeak]:
    """How near the run came to each limit of the model; 0 is written where no limit is known."""
    return [p for p in run.limit_peaks if p.limit or p.kind in ("lower", "upper")]


def _limit_table(peaks: Sequence[LimitPeak]) -> Markup:
    columns = [
        ReportColumn("joint", lambda p: p.name),
        ReportColumn("limit", lambda p: NOUNS[p.kind]),
        ReportColumn("in the run", lambda p: f"{number(p.value)} {p.unit}", True),
        ReportColumn("bound", lambda p: f"{number(p.limit)} {p.unit}", True),
        ReportColumn("used", _used, True),
        ReportColumn("verdict", lambda p: verdict(not p.is_passed, "kept", "passed")),
    ]
    return table("Limits of the model beside the run", columns, peaks)


def _used(peak: LimitPeak) -> str:
    """The share of a limit that is used; of bounds of positions none."""
    is_share = peak.kind not in ("lower", "upper")
    return f"{100 * peak.value / peak.limit:.0f} %" if is_share else ""
