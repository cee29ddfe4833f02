"""Runs in files of NetCDF 4 and folders of Zarr, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.arguments import path_of
from dalembert.errors import DalembertError, DamagedStoreError
from dalembert.model.mechanism import Mechanism
from dalembert.results import store_folder
from dalembert.results.dataset import (
    CONSTRAINTS,
    HAPPENINGS,
    dataset,
    ended_of,
    happened_in,
    observables_in,
)
from dalembert.results.file_seals import is_sealed, seal_file
from dalembert.results.labels import library
from dalembert.results.records import Records
from dalembert.results.storage import (
    CONTINUATION,
    EXTRA,
    checked_store,
    folder_of,
    fresh_folder,
    group_of,
    put_in_place,
    reading,
    require,
    warn_without_checksums,
    writing,
)
from dalembert.results.store_folder import StoreFolder
from dalembert.results.store_lock import StoreLock
from dalembert.results.stored_arrays import Stored, parts
from dalembert.systems.kinds import system_of

ALONG = {
    "times": "time",
    "q": "q",
    "qd": "qd",
    "work": "work",
    "controller_states": "controller_states",
}  # fields and variables with time
NEEDED = (
    "coordinate",
    "velocity",
    "q",
    "qd",
    "work",
    "steps",
    "rejected",
    "reason",
    "mechanism",
    "method",
    "h",
    "forces",
)  # variables and attributes without which a dataset is no run


def write_netcdf(run: Records, file: Any) -> Path:
    """Write a file of NetCDF 4."""
    path = path_of("file", file)
    require(".nc")
    several = parts(run)
    _, first = next(several)
    start = first.energy[..., :1]
    data = dataset(first, start)
    data.attrs[store_folder.MARK] = store_folder.FORMAT
    with writing(path):
        data.to_netcdf(
            path, engine="h5netcdf", unlimited_dims=("time",) if first is not run else ()
        )
    for begin, piece in several:  # of a long run in a folder
        with library("h5netcdf", EXTRA).File(path, "a") as out:
            end = begin + len(piece.times)
            out.resize_dimension("time", end)
            for name, values in dataset(piece, start).variables.items():
                if "time" in values.dims:
                    out.variables[name][
                        (*[slice(None)] * values.dims.index("time"), slice(begin, end))
                    ] = values.values
    seal_file(path)
    return path


def write_zarr(run: Records, folder: Any) -> Path:
    """Write a folder of Zarr; a folder of Zarr that is there is replaced, but nothing else is."""
    require(".zarr")
    path = folder_of(folder, "folder")
    if isinstance(run.q, Stored) and path.resolve() == Path(run.q.folder).resolve():
        raise DalembertError(f"the run is read from that folder, {str(path)!r}: give another name.")
    data = dataset(run)
    data.attrs[store_folder.MARK] = store_folder.FORMAT
    with StoreLock(path), writing(path):
        fresh = fresh_folder(path)
        data.to_zarr(fresh, mode="w", zarr_format=2, consolidated=True)
        store_folder.seal(fresh)
        put_in_place(fresh, path.resolve())
    return path


def read(mechanism: Mechanism, file: Any, lazy: bool = False) -> dict[str, Any]:
    """The fields of a run that `write_netcdf`, `write_zarr` or `simulate` wrote; see `Run.load`."""
    path = path_of("file", file)
    if not path.exists():
        raise DalembertError(f"there is no run {str(path)!r}.")
    if not (path.is_dir() or path.is_file()):
        raise DalembertError(
            f"{str(path)!r} is neither a file nor a folder: it cannot be read as a run."
        )
    ending = ".zarr" if path.is_dir() else ".nc"
    require(ending)
    lazy = lazy and ending == ".zarr"
    folder = store_folder.opened(path) if ending == ".zarr" else None
    if folder is not None:
        folder.verify(contents=not lazy)
    is_checked = folder is not None or is_sealed(path)
    with _opened(path, folder, lazy) as data, reading(path):
        if not is_checked:
            _check_unsealed(data, path)
        _check_names(data, mechanism, path)
        count = data.sizes["time"] if folder is None else written(folder)
        arrays = _arrays(data, str(path) if lazy else None, count)
        return {"mechanism": mechanism, **arrays, **_outcome(data)}


def _check_unsealed(data: Any, path: Path) -> None:
    """Raise if a file without a checksum once had one; warn if it never had."""
    if store_folder.MARK in data.attrs:
        raise DamagedStoreError(
            f"{str(path)!r} is damaged: the checksum at its end is not as it was written. Take it "
            "from a copy, or compute it again.",
            str(path),
            path.name,
        )
    warn_without_checksums(path, "to_netcdf")


def _check_names(data: Any, mechanism: Any, path: Path) -> None:
    """Raise if entries of states, or constraints, have other names than in the mechanism."""
    system = system_of(mechanism)
    for name in ("coordinate", "velocity"):
        stored = tuple(data[name].values.tolist())
        known = getattr(system, f"{name}_names")
        if stored != known:
            raise DalembertError(
                f"{str(path)!r} is a run of {data.attrs['mechanism']!r} with {name} names "
                f"{_few(stored)}, but mechanism {system.name!r} has {_few(known)}."
            )
    if CONSTRAINTS not in data.attrs:  # of a file of earlier versions
        return
    stored = tuple(json.loads(data.attrs[CONSTRAINTS]))
    known = tuple(constraint.name for constraint in system.constraints)
    if stored != known:
        raise DalembertError(
            f"{str(path)!r} is a run with constraints {_few(stored)}, but mechanism "
            f"{system.name!r} has {_few(known)}."
        )


def _arrays(data: Any, folder: str | None, count: int) -> dict[str, Any]:
    """The first `count` records of a dataset; in a folder, where they are."""
    axis = data["q"].dims.index("time")
    declared = observables_in(data)

    def records(name: str) -> Any:
        """Records of a variable, read now or when they are looked at."""
        if name in declared and not declared[name].is_of_records:
            return data[name].values
        if folder is not None:
            return Stored(folder, name, 0 if name == "time" else axis, count)
        return data[name].isel(time=slice(count)).values

    found = {
        field: records(name) for field, name in ALONG.items() if name in data or name == "time"
    }
    recorded = {name: records(name) for name in declared}
    return {**found, "declared": declared, "recorded": recorded}


def _outcome(data: Any) -> dict[str, Any]:
    """How a run in a dataset was computed, and how it went."""
    parameters = {}
    if "parameters" in data:
        for k, name in enumerate(data["parameter"].values):
            parameters[str(name)] = data["parameters"].values[..., k][()]
    found = {f"{dim}s": happened_in(data, dim, kind) for dim, kind in HAPPENINGS.items()}
    return {
        "method": data.attrs["method"],
        "h": float(data.attrs["h"]),
        "reasons": tuple(np.atleast_1d(data["reason"].values).tolist()),
        "forces": json.loads(data.attrs["forces"]),
        "steps": data["steps"].values,
        "rejected": data["rejected"].values,
        "friction": data.attrs.get("friction"),
        "stabilisation": data.attrs.get("stabilisation"),
        "saturated": bool(data.attrs.get("saturated", False)),
        "parameters": parameters,
        "ended": ended_of(data),
        **found,
    }


def _opened(path: Path, folder: StoreFolder | None, lazy: bool) -> Any:
    """The dataset of a run in a file or folder; of a lazy one without its times, which would be
    read as an index.

    Raises
    ------
    DalembertError
        There is something else.
    """
    if folder is None:
        expected = "a file that Run.to_netcdf wrote (a folder would be one of Zarr)"
        source = path
        engine = "h5netcdf"
    else:
        expected = "a folder that Run.to_zarr or simulate(store=) wrote"
        source = checked_store(folder)
        engine = "zarr"
    try:
        data = library("xarray", EXTRA).open_dataset(
            source, engine=engine, drop_variables="time" if lazy else None
        )
    except DalembertError:
        raise
    except Exception as error:  # of the libraries, for files and folders of other kinds
        reason = "it has no group of Zarr" if folder is not None else str(error).partition("\n")[0]
        raise DalembertError(
            f"{str(path)!r} cannot be read as a run, expected {expected}: {reason}"
        ) from error
    if missing := [
        name for name in NEEDED if name not in data.variables and name not in data.attrs
    ]:
        data.close()
        raise DalembertError(
            f"{str(path)!r} is no run, expected {expected}: it has no {', '.join(missing)}."
        )
    if folder is not None and not folder.has_ledger:
        warn_without_checksums(path, "to_zarr")
    return data


def written(folder: StoreFolder) -> int:
    """Records of a run in a folder of Zarr, as far as a run has got that is being computed, or was
    cut off.
    """
    group = group_of(folder)
    with reading(folder.path):
        length = group["time"].shape[0]
        count = int(group[CONTINUATION].attrs["records"]) if CONTINUATION in group else length
    if not 0 < count <= length:
        raise DamagedStoreError(
            f"{str(folder.path)!r} is damaged: it says that {count} of {length} records are "
            "written.",
            str(folder.path),
        )
    return count


def _few(names: tuple[str, ...]) -> str:
    """The first names, in parentheses."""
    return f"({', '.join(names[:4])}{', ...' if len(names) > 4 else ''})"
