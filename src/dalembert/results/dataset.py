"""Runs as labelled arrays (xarray)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.results.ends import End
from dalembert.results.events import Change, Event
from dalembert.results.labels import library
from dalembert.results.observables import Observable
from dalembert.results.records import Records
from dalembert.results.storage import EXTRA

ENERGIES = ("kinetic_energy", "potential_energy", "work", "power_balance")
HAPPENINGS: dict[str, Any] = {"event": Event, "change": Change}  # dimension -> what is along it
ENDS: dict[str, tuple[str, ...]] = {
    "end_time": (),
    "end_q": ("coordinate",),
    "end_qd": ("velocity",),
    "end_work": (),
    "end_controller_states": ("controller_state",),
}  # of several trajectories, as `End` has them
OBSERVABLE, RECORDS, RUN = "observable", "records", "run"  # attribute of a variable, its values
UNMARKED = ("modes", "held_forces")  # observables of files of earlier versions
STATES = (("coordinate",), ("velocity",))


def dataset(run: Records, start: Any = None) -> Any:
    """The run as an `xarray.Dataset`; see `Run.to_xarray`. start: T + Pi at the first record, if it
    is not the run's own.
    """
    m, several = run.system, () if run.q.ndim == 2 else ("trajectory",)
    units = m.coordinate_units, m.velocity_units
    along = (*several, "time")
    variables: dict[str, Any] = {
        "q": (
            (*along, "coordinate"),
            run.q,
            {"long_name": "coordinates", "units": _joined(units[0])},
        ),
        "qd": (
            (*along, "velocity"),
            run.qd,
            {"long_name": "velocities", "units": _joined(units[1])},
        ),
    }
    energies = {name: getattr(run, name) for name in ENERGIES[:-1]}
    energies[ENERGIES[-1]] = (
        run.energy - (run.energy[..., :1] if start is None else start) - run.work
    )
    unit = m.quantities["kinetic_energy"].unit
    for name, values in energies.items():
        variables[name] = along, values, {"long_name": name.replace("_", " "), "units": unit}
    if run.controller_states is not None:
        variables["controller_states"] = (*along, "controller_state"), run.controller_states
    observables = _observables(run, along)
    variables |= observables
    if run.parameters:
        sizes = (len(run.q), len(run.parameters)) if several else len(run.parameters)
        variables["parameters"] = (*several, "parameter"), np.broadcast_to(run.numbers, sizes)
    variables |= _ends(run.ended) if run.ended else {}
    variables |= happenings(run.events, run.changes)
    variables |= {
        "steps": (several, run.steps),
        "rejected": (several, run.rejected),
        "reason": (several, _texts(run.reasons) if several else _texts(run.reasons)[0]),
    }
    coordinates = {
        "time": ("time", run.times, {"units": "s"}),
        "coordinate": ("coordinate", _texts(m.coordinate_names)),
        "velocity": ("velocity", _texts(m.velocity_names)),
        "coordinate_unit": ("coordinate", _texts(units[0])),
        "velocity_unit": ("velocity", _texts(units[1])),
    }
    coordinates |= {"parameter": ("parameter", _texts(run.parameters))} if run.parameters else {}
    for name in observables:
        declared = run.observables.declared[name]
        if declared.labels:
            coordinates[declared.axes[-1]] = declared.axes[-1], _texts(declared.labels)
    attributes = {
        "mechanism": m.name,
        "method": run.method,
        "h": run.h,
        "forces": json.dumps(run.forces),
    }
    attributes |= {} if run.friction is None else {"friction": run.friction}
    return library("xarray", EXTRA).Dataset(variables, coordinates, attributes)


def _observables(run: Records, along: tuple[str, ...]) -> dict[str, Any]:
    """Variables of the observables, with their declarations as attributes."""
    found = {}
    for name, values in run.observables.known().items():
        declared = run.observables.declared[name]
        attributes = {
            "long_name": declared.description,
            "units": declared.unit,
            OBSERVABLE: RECORDS if declared.is_of_records else RUN,
            "source": declared.source,
        }
        dims = (*(along if declared.is_of_records else ()), *declared.axes)
        found[name] = dims, values, {key: text for key, text in attributes.items() if text}
    return found


def observables_in(data: Any) -> dict[str, Observable]:
    """Declarations of the observables in a dataset; earlier versions marked none."""
    found = {}
    for name, variable in data.variables.items():
        attributes, dims = variable.attrs, variable.dims
        if OBSERVABLE not in attributes and name not in UNMARKED:
            continue
        axes = tuple(d for d in dims if d not in ("trajectory", "time"))
        labels = data[axes[-1]].values if axes and axes[-1] in data.coords else ()
        found[name] = Observable(
            axes,
            attributes.get("units", ""),
            attributes.get("long_name", ""),
            () if axes[-1:] in STATES else tuple(map(str, labels)),
            is_of_records=attributes.get(OBSERVABLE) != RUN,
            source=attributes.get("source", ""),
        )
    return found


def _ends(end: End) -> dict[str, Any]:
    """Ends of several trajectories, as variables `end_time`, `end_q` and so on."""
    return {
        name: (("trajectory", *dims), values)
        for (name, dims), values in zip(ENDS.items(), end, strict=True)
        if values is not None
    }


def ended_of(data: Any) -> End | None:
    """Ends of several trajectories, if a dataset tells."""
    values: list[Any] = [data[name].values if name in data else None for name in ENDS]
    return End(*values) if "end_time" in data else None


def happenings(events: Sequence[Event], changes: Sequence[Change]) -> dict[str, Any]:
    """Events, and changes of friction and stops, as variables along `event` and `change`; none
    where there are none.
    """
    found: dict[str, Any] = {}
    for (dim, kind), rows in zip(HAPPENINGS.items(), (events, changes), strict=True):
        for field, values in zip(kind._fields, zip(*rows, strict=True), strict=False):
            dims = (
                (dim, {"q": "coordinate", "qd": "velocity"}[field])
                if field in ("q", "qd")
                else (dim,)
            )
            found[f"{dim}_{field}"] = (
                dims,
                _texts(values) if isinstance(values[0], str) else np.array(values),
            )
    return found


def happened_in(data: Any, dim: str, kind: Any) -> tuple[Any, ...]:
    """Events or changes in a dataset."""
    if f"{dim}_t" not in data:
        return ()
    columns = [data[f"{dim}_{field}"].values for field in kind._fields]
    return tuple(
        kind(
            *(v if isinstance(v, np.ndarray) else getattr(v, "item", lambda v=v: v)() for v in row)
        )
        for row in zip(*columns, strict=True)
    )


def _joined(units: list[str]) -> str:
    return ", ".join(dict.fromkeys(units))


def _texts(texts: Any) -> np.ndarray:
    """Texts of any length and letters, as all formats take them."""
    return np.array(list(texts), dtype=object)
