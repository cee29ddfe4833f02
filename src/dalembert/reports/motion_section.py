"""The motion of a report: a film, diagrams, the balance of power, and how limits were kept."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.closed_forms.printing.markup import Markup, element, joined
from dalembert.closed_forms.printing.number_text import number
from dalembert.errors import DalembertError
from dalembert.model.limit_vectors import effort_limits, velocity_limits
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float
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
from dalembert.results.labels import force_units
from dalembert.views.diagrams.charts import charts
from dalembert.views.diagrams.panels import Panel, PanelData, forces_of

MOST_NAMED = 12  # coordinates in a sentence
WIDTH, HEIGHT = 440.0, 190.0  # of a diagram in its own units
KEY, TITLE = "motion", "A simulated motion"
AT_REST = 1e-9  # rad, m, per second, N m or N: smaller variations are noise of numbers
TOUCH = 1e-9  # of a limit: beyond it counts as passed


class LimitRow(NamedTuple):
    """A limit of an entry, and the value of the run that comes nearest to it or farthest beyond."""

    entry: str
    what: str
    value: float
    limit: float
    unit: str

    @property
    def share(self) -> float:
        """The value as a part of the limit."""
        return abs(self.value / self.limit) if self.limit else np.inf

    @property
    def is_kept(self) -> bool:
        """Whether the limit is not passed."""
        if self.what == "lowest position":
            return self.value >= self.limit - TOUCH
        if self.what == "highest position":
            return self.value <= self.limit + TOUCH
        return abs(self.value) <= self.limit * (1 + TOUCH)


def motion_section(mechanism: Mechanism, run: Any, q: Any, t: float | None) -> ReportSection:
    """The run that is given, or an example; else why there is none."""
    start = time.perf_counter()
    try:
        if run is None:
            motion = example_motion(mechanism, q, t)
        else:
            motion = ExampleMotion(_single(run), "The run is the one that was given.", ())
        content = _content(mechanism, motion)
    except DalembertError as error:
        return ReportSection(KEY, TITLE, paragraph(f"No motion is shown: {error}"))
    rows = limit_rows(mechanism, motion.run)
    passed = [row for row in rows if not row.is_kept]
    words = f"motion: {counted(len(passed), 'limit')} passed of {len(rows)}" if rows else ""
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


def _content(mechanism: Mechanism, motion: ExampleMotion) -> Markup:
    """Words, film, diagrams and limits."""
    run = motion.run
    parts = [paragraph(motion.words), film(run), _charts(run)]
    parts += [paragraph(line) for line in _balances(run)]
    rows = limit_rows(mechanism, run)
    if rows:
        parts.append(_limit_table(rows))
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
    moving = [panel for panel in data.panels(["q", "qd", "tau"]) if _extent(panel) > AT_REST]
    others = data.panels(["energies", "power_balance"])
    drawn = {name for panel in moving for name in panel.names if panel.quantity == "q"}
    count = run.system.nq
    few = f"Drawn are the {len(drawn)} of {count} coordinates that vary most." * (
        len(drawn) < count
    )
    figures = element("div", charts([*moving, *others], WIDTH, HEIGHT), class_="charts")
    return joined([figures, note(few) if few else ""])


def _extent(panel: Panel) -> float:
    """The largest variation of a curve."""
    return float(np.ptp(np.nan_to_num(panel.y), axis=1).max(initial=0.0))


# --- limits ---


def limit_rows(mechanism: Mechanism, run: Any) -> list[LimitRow]:
    """All limits of the model, and the values of the run beside them."""
    rows = [*_positions(mechanism, run)]
    rows += _magnitudes(mechanism, run.qd, velocity_limits(mechanism), "speed", _speed_units(run))
    forces = forces_of(run)
    if forces is not None:
        units = force_units(run.system)
        rows += _magnitudes(mechanism, forces[0], effort_limits(mechanism), "effort", units)
    return rows


def _speed_units(run: Any) -> Sequence[str]:
    units: Sequence[str] = run.system.velocity_units
    return units


def _positions(mechanism: Mechanism, run: Any) -> Iterator[LimitRow]:
    """Lowest and highest positions of joints with one coordinate."""
    for joint in mechanism.independent_joints:
        if joint.type.nq != 1 or joint.type.nv != 1:
            continue
        at = range(mechanism.nq)[mechanism.entries[joint.name].at_q][0]
        unit = run.system.coordinate_units[at]
        q = run.q[:, at]
        if joint.limits.lower is not None:
            low = as_float(joint.limits.lower[0])
            yield LimitRow(joint.name, "lowest position", float(np.nanmin(q)), low, unit)
        if joint.limits.upper is not None:
            high = as_float(joint.limits.upper[0])
            yield LimitRow(joint.name, "highest position", float(np.nanmax(q)), high, unit)


def _magnitudes(
    mechanism: Mechanism, values: np.ndarray, limits: np.ndarray, what: str, units: Sequence[str]
) -> Iterator[LimitRow]:
    for k, limit in enumerate(limits):
        if np.isfinite(limit) and limit > 0:
            name = mechanism.velocity_names[k]
            yield LimitRow(name, what, largest(values[:, k]), float(limit), units[k])


def _limit_table(rows: Sequence[LimitRow]) -> Markup:
    columns = [
        ReportColumn("joint", lambda r: r.entry),
        ReportColumn("limit of", lambda r: r.what),
        ReportColumn("in the run", lambda r: f"{number(r.value)} {r.unit}", True),
        ReportColumn("limit", lambda r: f"{number(r.limit)} {r.unit}", True),
        ReportColumn("used", _used, True),
        ReportColumn("verdict", lambda r: verdict(r.is_kept, "kept", "passed")),
    ]
    return table("Limits of the model beside the run", columns, rows)


def _used(row: LimitRow) -> str:
    """The share of a limit that is used; of bounds of positions none."""
    if "position" in row.what or not np.isfinite(row.share):
        return ""
    return f"{100 * row.share:.0f} %"
