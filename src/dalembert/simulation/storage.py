"""Runs as labelled arrays (xarray), in files of NetCDF 4 and folders of Zarr, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.errors import DalembertError
from dalembert.model.mechanism import Mechanism
from dalembert.simulation.labels import coordinate_units, library, velocity_units

if TYPE_CHECKING:
    from dalembert.simulation.run import Run

EXTRA = "files"
LIBRARIES = {".nc": ("xarray", "h5netcdf"), ".zarr": ("xarray", "zarr")}      # by the ending of the name
ENERGIES = ("kinetic_energy", "potential_energy", "work", "power_balance")
STORES = ("zarr.json", ".zgroup")                                             # what makes a folder one of Zarr


def dataset(run: Run) -> Any:
    """The run as an `xarray.Dataset`; see `Run.to_xarray`."""
    m, several = run.mechanism, () if run.q.ndim == 2 else ("trajectory",)
    units = coordinate_units(m), velocity_units(m)
    along = (*several, "time")
    variables: dict[str, Any] = {
        "q": ((*along, "coordinate"), run.q, {"long_name": "coordinates", "units": _joined(units[0])}),
        "qd": ((*along, "velocity"), run.qd, {"long_name": "velocities", "units": _joined(units[1])})}
    for name in ENERGIES:
        variables[name] = along, getattr(run, name), {"long_name": name.replace("_", " "), "units": "J"}
    if run.controller_states is not None:
        variables["controller_states"] = (*along, "controller_state"), run.controller_states
    variables |= {"steps": (several, run.steps), "rejected": (several, run.rejected),
                  "reason": (several, _texts(run.reasons) if several else _texts(run.reasons)[0])}
    coordinates = {
        "time": ("time", run.times, {"units": "s"}), "coordinate": ("coordinate", _texts(m.coordinate_names)),
        "velocity": ("velocity", _texts(m.velocity_names)), "coordinate_unit": ("coordinate", _texts(units[0])),
        "velocity_unit": ("velocity", _texts(units[1]))}
    return library("xarray", EXTRA).Dataset(variables, coordinates, {
        "mechanism": m.name, "method": run.method, "h": run.h, "forces": json.dumps(run.forces)})


def _joined(units: list[str]) -> str:
    return ", ".join(dict.fromkeys(units))


def _texts(texts: Any) -> np.ndarray:
    """Texts of any length and letters, as all formats take them."""
    return np.array(list(texts), dtype=object)


def require(ending: str) -> None:
    """Find out whether the libraries for a kind of file are there, before there is something to lose."""
    for name in LIBRARIES[ending]:
        library(name, EXTRA)


def write_netcdf(run: Run, file: Any) -> Path:
    """Write a file of NetCDF 4."""
    require(".nc")
    dataset(run).to_netcdf(Path(file), engine="h5netcdf")
    return Path(file)


def write_zarr(run: Run, folder: Any) -> Path:
    """Write a folder of Zarr; one that is there is replaced, but nothing else is."""
    require(".zarr")
    path = Path(folder)
    if path.exists() and not (path.is_dir() and (not any(path.iterdir()) or any((path / s).exists() for s in STORES))):
        raise DalembertError(f"{str(path)!r} is there and no Zarr folder: give another name, or remove it.")
    dataset(run).to_zarr(path, mode="w", zarr_format=2, consolidated=True)
    return path


def read(mechanism: Mechanism, file: Any) -> dict[str, Any]:
    """The fields of a run that `write_netcdf` or `write_zarr` wrote; see `Run.load`."""
    path = Path(file)
    if not path.exists():
        raise DalembertError(f"there is no run {str(path)!r}.")
    ending = ".zarr" if path.is_dir() else ".nc"
    require(ending)
    with library("xarray", EXTRA).open_dataset(path, engine=ending[1:].replace("nc", "h5netcdf")) as data:
        for name in ("coordinate", "velocity"):
            stored, own = tuple(data[name].values.tolist()), getattr(mechanism, f"{name}_names")
            if stored != own:
                raise DalembertError(f"{str(path)!r} is a run of {data.attrs['mechanism']!r} with {name} names "
                                     f"{_few(stored)}, but mechanism {mechanism.name!r} has {_few(own)}.")
        found = {name: data[name].values for name in ("q", "qd", "work", "steps", "rejected")}
        if "controller_states" in data:
            found["controller_states"] = data["controller_states"].values
        return {"mechanism": mechanism, "times": data["time"].values, "method": data.attrs["method"],
                "h": float(data.attrs["h"]), "reasons": tuple(np.atleast_1d(data["reason"].values).tolist()),
                "forces": json.loads(data.attrs["forces"]), **found}


def _few(names: tuple[str, ...]) -> str:
    return f"({', '.join(names[:4])}{', ...' if len(names) > 4 else ''})"
