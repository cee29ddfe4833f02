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
    "end_internal_states": ("internal_state",),
}  # of several trajectories, as `End` has them
OBSERVABLE, RECORDS, RUN = "observable", "records", "run"  # attribute of a variable, its values
CONSTRAINTS = "constraints"  # attribute: their names
UNMARKED = ("modes", "held_forces")  # observables of files of earlier versions
STATES = (("coordinate",), ("velocity",))


def dataset(run: Records, start: Any = None) -> Any:
    """The run as an `xarray.Dataset`; see `Run.to_xarray`. start: T + Pi at the first record, if it
    is not the run's own.
    """
    several = () if run.q.ndim == 2 else ("trajectory",)
    observables = _observables(run, (*several, "time"))
    variables = _states(run, (*several, "time")) | _energies(run, (*several, "time"), start)
    variables |= observables | _outcome(run, several) | happenings(run.events, run.changes)
    attributes = {"mechanism": run.system.name, "method": run.method, "h": run.h}
    attributes["forces"] = json.dumps(run.forces)
    attributes[CONSTRAINTS] = json.dumps([c.name for c in run.system.constraints])
    if run.friction is not None:
        attributes["friction"] = run.friction
    if run.saturated:
        attributes["saturated"] = 1
    if run.stabilisation is not None:
        attributes["stabilisation"] = run.stabilisation
    coordinates = _coordinates(run, list(observables))
    return library("xarray", EXTRA).Dataset(variables, coordinates, attributes)


def _states(run: Records, along: tuple[str, ...]) -> dict[str, Any]:
    """Variables of coordinates, velocities and states of the controller."""
    found: dict[str, Any] = {}
    for name, axis, words, units in (
        ("q", "coordinate", "coordinates", run.system.coordinate_units),
        ("qd", "velocity", "velocities", run.system.velocity_units),
    ):
        attributes = {"long_name": words, "units": _joined(units)}
        found[name] = (*along, axis), getattr(run, name), attributes
    if run.controller_states is not None:
        found["controller_states"] = (*along, "controller_state"), run.controller_states
    return found


def _energies(run: Records, along: tuple[str, ...], start: Any) -> dict[str, Any]:
    """Variables of energies; start: T + Pi at the first record."""
    start = run.energy[..., :1] if start is None else start
    values = {name: getattr(run, name) for name in ENERGIES[:-1]}
    values[ENERGIES[-1]] = run.energy - start - run.work
    unit = run.system.quantities["kinetic_energy"].unit
    return {
        name: (along, energy, {"long_name": name.replace("_", " "), "units": unit})
        for name, energy in values.items()
    }


def _outcome(run: Records, several: tuple[str, ...]) -> dict[str, Any]:
    """Variables of each trajectory: numbers that were inputs, its end, counts of steps."""
    found: dict[str, Any] = {}
    if run.parameters:
        shape = (len(run.q), len(run.parameters)) if several else (len(run.parameters),)
        found["parameters"] = (*several, "parameter"), np.broadcast_to(run.numbers, shape)
    if run.ended:
        found |= _ends(run.ended)
    reasons = _texts(run.reasons)
    found["steps"] = several, run.steps
    found["rejected"] = several, run.rejected
    found["reason"] = several, reasons if several else reasons[0]
    return found


def _coordinates(run: Records, observables: Sequence[str]) -> dict[str, Any]:
    """Labels along the axes."""
    system = run.system
    found = {
        "time": ("time", run.times, {"units": "s"}),
        "coordinate": ("coordinate", _texts(system.coordinate_names)),
        "velocity": ("velocity", _texts(system.velocity_names)),
        "coordinate_unit": ("coordinate", _texts(system.coordinate_units)),
        "velocity_unit": ("velocity", _texts(system.velocity_units)),
    }
    if run.parameters:
        found["parameter"] = "parameter", _texts(run.parameters)
    for name in observables:
        declared = run.observables.declared[name]
        if declared.labels:
            axis = declared.axes[-1]
            found[axis] = axis, _texts(declared.labels)
    return found


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
