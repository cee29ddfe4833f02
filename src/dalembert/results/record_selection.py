"""Some of the records of a run, or one of its trajectories, in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dalembert.compiled.memo import dynamics_of
from dalembert.results.records import Recorded


def selected(run: Recorded, at: slice) -> Recorded:
    """Some records of a run, in memory."""

    def rows(values: Any) -> Any:
        """Values of the selected records."""
        return None if values is None else np.asarray(values[..., at, :])

    def taken(name: str, values: Any) -> Any:
        """An observable at the selected records."""
        declared = run.observables.declared[name]
        if not declared.is_of_records:
            return values
        return np.asarray(values[(..., at, *[slice(None)] * len(declared.axes))])

    return replace(
        run,
        times=np.asarray(run.times[at]),
        q=rows(run.q),
        qd=rows(run.qd),
        work=np.asarray(run.work[..., at]),
        controller_states=rows(run.controller_states),
        recorded={name: taken(name, values) for name, values in run.recorded.items()},
    )


def thinned(run: Recorded, most: int) -> tuple[Recorded, int]:
    """The run with every k-th of its records, at most so many; and k, 1 if it has no more than
    that.
    """
    step = -(-len(run.times) // most)
    return (run, step) if step == 1 else (selected(run, slice(None, None, step)), step)


def trajectory(run: Recorded, row: int) -> Recorded:
    """Trajectory `row` of a run of several alone, with its own mechanism, up to its end."""
    end = run.end.trajectory(row)
    made = max(int(np.isfinite(run.work[row]).sum()), 1)
    between = int(end.t > run.times[made - 1])  # records behind the times asked for: 1 or 0

    def until(records: Any, last: Any) -> Any:
        """Records (K,) or (K, n), with the state at the end."""
        added = [np.asarray(last)[None]] * between
        return np.concatenate([records[:made], *added])

    def taken(name: str, values: Any) -> Any:
        """An observable of the trajectory."""
        is_of_records = run.observables.declared[name].is_of_records
        return values[row][: made + between] if is_of_records else values

    states = run.controller_states
    if states is not None:
        states = until(states[row], end.controller_states)
    events = [event for event in run.events if event.trajectory == row]
    changes = [change for change in run.changes if change.trajectory == row]
    return replace(
        run,
        mechanism=run.own_mechanism(row),
        times=until(run.times, end.t),
        q=until(run.q[row], end.q),
        qd=until(run.qd[row], end.qd),
        work=until(run.work[row], end.work),
        ended=None,
        reasons=run.reasons[row : row + 1],
        steps=run.steps[row],
        rejected=run.rejected[row],
        controller_states=states,
        recorded={name: taken(name, values) for name, values in run.recorded.items()},
        events=tuple(event._replace(trajectory=0) for event in events),
        changes=tuple(change._replace(trajectory=0) for change in changes),
        parameters={path: float(values[row]) for path, values in run.parameters.items()},
        dynamics=dynamics_of(run.mechanism, tuple(run.parameters)),
    )
