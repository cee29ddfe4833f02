"""Runs as labelled arrays (xarray), in files of NetCDF 4 and folders of Zarr, and back."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.arguments import path_of
from dalembert.errors import DalembertError, DalembertWarning, DamagedStoreError, StoreError
from dalembert.model.mechanism import Mechanism
from dalembert.results import store_folder
from dalembert.results.ends import End
from dalembert.results.events import Change, Event
from dalembert.results.labels import library
from dalembert.results.records import Recorded, Records
from dalembert.results.store_folder import StoreFolder
from dalembert.results.store_lock import StoreLock
from dalembert.systems.kinds import system_of

EXTRA = "files"
LIBRARIES = {
    ".nc": ("xarray", "h5netcdf"),
    ".zarr": ("xarray", "zarr"),
}  # by the ending of the name
ENERGIES = ("kinetic_energy", "potential_energy", "work", "power_balance")
ALONG = {
    "times": "time",
    "q": "q",
    "qd": "qd",
    "work": "work",
    "controller_states": "controller_states",
    "modes": "modes",
    "held": "held_forces",
}  # fields and variables with time
HAPPENINGS: dict[str, Any] = {"event": Event, "change": Change}  # dimension -> what is along it
ENDS: dict[str, tuple[str, ...]] = {
    "end_time": (),
    "end_q": ("coordinate",),
    "end_qd": ("velocity",),
    "end_work": (),
    "end_controller_states": ("controller_state",),
}  # of several trajectories, as `End` has them
# group whose attributes say how many records are written, and what to go on from
CONTINUATION = "continuation"
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
STORES = ("zarr.json", ".zgroup")  # what makes a folder one of Zarr


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
    for name, values in energies.items():
        variables[name] = along, values, {"long_name": name.replace("_", " "), "units": "J"}
    if run.controller_states is not None:
        variables["controller_states"] = (*along, "controller_state"), run.controller_states
    if run.modes is not None:
        variables["modes"] = (
            (*along, "velocity"),
            run.modes,
            {"long_name": "0 rests, 1 or -1 slides, 2 moves freely"},
        )
    if run.held is not None:
        held = {"long_name": "forces that a sampled controller held", "units": "N m, N"}
        variables["held_forces"] = (*along, "velocity"), run.held, held
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
    attributes = {
        "mechanism": m.name,
        "method": run.method,
        "h": run.h,
        "forces": json.dumps(run.forces),
    }
    attributes |= {} if run.friction is None else {"friction": run.friction}
    return library("xarray", EXTRA).Dataset(variables, coordinates, attributes)


def _ends(end: End) -> dict[str, Any]:
    """Where each of several trajectories ended, as variables `end_time`, `end_q` and so on."""
    return {
        name: (("trajectory", *dims), values)
        for (name, dims), values in zip(ENDS.items(), end, strict=True)
        if values is not None
    }


def _ended(data: Any) -> End | None:
    """Where each of several trajectories ended, if a dataset tells."""
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


@dataclass(frozen=True)
class Stored(np.lib.mixins.NDArrayOperatorsMixin):
    """An array in a folder of Zarr, of which only what is looked at is read: `array[..., -1, :]`,
    `array[1000:2000]`.

    Anything else that NumPy does with it reads all of it.
    """

    folder: str
    name: str
    axis: int  # of time
    count: int  # of records: those that are written

    @cached_property
    def _zarr(self) -> Any:
        store = checked_store(store_folder.opened(self.folder))
        with reading(self.folder):
            return library("zarr", EXTRA).open_array(store, path=self.name, mode="r")

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "_zarr"}

    @property
    def shape(self) -> tuple[int, ...]:
        return *self._zarr.shape[: self.axis], self.count, *self._zarr.shape[self.axis + 1 :]

    @property
    def ndim(self) -> int:
        return len(self._zarr.shape)

    @property
    def dtype(self) -> np.dtype:
        return self._zarr.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> np.ndarray:
        keys = list(key) if isinstance(key, tuple) else [key]
        if any(k is Ellipsis for k in keys):
            at = next(i for i, k in enumerate(keys) if k is Ellipsis)
            keys[at : at + 1] = [slice(None)] * (self.ndim - len(keys) + 1)
        keys += [slice(None)] * (self.ndim - len(keys))
        if not all(
            isinstance(k, (int, np.integer)) or isinstance(k, slice) and (k.step or 1) > 0
            for k in keys
        ):
            return np.asarray(self)[key]
        places = [range(n)[k] for k, n in zip(keys, self.shape, strict=True)]
        with reading(self.folder):
            slices = tuple(
                slice(p.start, p.stop, p.step) if isinstance(p, range) else p for p in places
            )
            return np.asarray(self._zarr[slices])

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self[...], dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(
            *(np.asarray(x) if isinstance(x, Stored) else x for x in inputs), **options
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)


BLOCK = 2**16  # numbers of one array that are handled at a time


def part(run: Recorded, begin: int, end: int) -> Recorded:
    """Some records of a run, in memory."""
    at = np.s_[..., begin:end]
    states, modes, held = (
        None if values is None else np.asarray(values[(*at, slice(None))])
        for values in (run.controller_states, run.modes, run.held)
    )
    return replace(
        run,
        times=np.asarray(run.times[begin:end]),
        q=np.asarray(run.q[(*at, slice(None))]),
        qd=np.asarray(run.qd[(*at, slice(None))]),
        work=np.asarray(run.work[at]),
        controller_states=states,
        modes=modes,
        held=held,
    )


def parts(run: Recorded) -> Iterator[tuple[int, Recorded]]:
    """All records of a run, some at a time if they are in a folder, each part with the place of its
    first.
    """
    if not isinstance(run.q, Stored):
        yield 0, run
        return
    shape = run.q.shape
    size = max(1, BLOCK * shape[-2] // max(1, int(np.prod(shape))))
    for begin in range(0, len(run.times), size):
        yield begin, part(run, begin, min(begin + size, len(run.times)))


def _joined(units: list[str]) -> str:
    return ", ".join(dict.fromkeys(units))


def _texts(texts: Any) -> np.ndarray:
    """Texts of any length and letters, as all formats take them."""
    return np.array(list(texts), dtype=object)


def require(ending: str) -> None:
    """Find out whether the libraries for a kind of file are there, before there is something to
    lose.
    """
    for name in LIBRARIES[ending]:
        library(name, EXTRA)


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
    store_folder.seal_file(path)
    return path


def folder_of(given: Any, name: str = "store") -> Path:
    """A path where a folder of Zarr is or may be; `name` is that of the argument.

    Raises
    ------
    DalembertError, TypeError, ValueError
        There is something else; it is no path.
    """
    path = path_of(name, given)
    if path.exists() and not (
        path.is_dir()
        and (
            {item.name for item in path.iterdir()} <= {store_folder.OWN}
            or any((path / s).exists() for s in STORES)
        )
    ):
        raise DalembertError(
            f"{str(path)!r} is there and no Zarr folder: give another name, or remove it."
        )
    return path


def write_zarr(run: Records, folder: Any) -> Path:
    """Write a folder of Zarr; one that is there is replaced, but nothing else is."""
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
        _put_in_place(fresh, path.resolve())
    return path


def fresh_folder(path: Path) -> Path:
    """A name beside a folder, where nothing is: a folder there takes the other's place when it is
    complete.
    """
    fresh = folder_of(f"{path.resolve()}.partial")
    if fresh.exists():  # of a process that was killed
        shutil.rmtree(fresh)
    return fresh


def _put_in_place(fresh: Path, path: Path) -> None:
    """Replace a folder by another; a kill between leaves both under other names."""
    old = folder_of(f"{path}.old")
    if old.exists():
        shutil.rmtree(old)
    if path.exists():
        path.replace(old)
    fresh.replace(path)
    store_folder.on_disk(path.parent)
    if old.exists():
        shutil.rmtree(old)


@contextmanager
def writing(path: Any) -> Iterator[None]:
    """Errors of the file system, such as a full disk, as a StoreError."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{str(path)!r} cannot be written: {error.strerror or error}.", str(path)
        ) from error


@contextmanager
def reading(path: Any) -> Iterator[None]:
    """Errors of the libraries that read a file or folder without checksums as a DamagedStoreError."""
    try:
        yield
    except (DalembertError, IndexError):
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise DamagedStoreError(
            f"{str(path)!r} is damaged, it cannot be read: {reason}.", str(path)
        ) from error


def checked_store(folder: StoreFolder, read_only: bool = True) -> Any:
    """A folder as a store of Zarr, which checks each file when it is read."""
    library("zarr", EXTRA)
    from dalembert.results.zarr_store import CheckedStore

    return CheckedStore(folder, read_only)


def group_of(folder: StoreFolder, read_only: bool = True) -> Any:
    """The group of Zarr in a folder; what is written to it waits for the folder's commit."""
    zarr = library("zarr", EXTRA)
    with reading(folder.path):
        return zarr.open_group(
            checked_store(folder, read_only),
            mode="r" if read_only else "r+",
            use_consolidated=False,
        )


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
    is_checked = folder is not None or store_folder.is_sealed(path)
    with _opened(path, folder, lazy) as data, reading(path):
        if not is_checked:
            if store_folder.MARK in data.attrs:
                raise DamagedStoreError(
                    f"{str(path)!r} is damaged: the checksum at its end is not as it was written. "
                    "Take it from a copy, or compute it again.",
                    str(path),
                    path.name,
                )
            warn_without_checksums(path, "to_netcdf")
        for name in ("coordinate", "velocity"):
            stored, own = (
                tuple(data[name].values.tolist()),
                getattr(system_of(mechanism), f"{name}_names"),
            )
            if stored != own:
                raise DalembertError(
                    f"{str(path)!r} is a run of {data.attrs['mechanism']!r} with {name} names "
                    f"{_few(stored)}, but mechanism {system_of(mechanism).name!r} has {_few(own)}."
                )
        count = data.sizes["time"] if folder is None else written(folder)
        known = {field: name for field, name in ALONG.items() if name in data or name == "time"}
        axis = data["q"].dims.index("time")
        found = {
            field: Stored(str(path), name, axis if field != "times" else 0, count)
            if lazy
            else data[name].isel(time=slice(count)).values
            for field, name in known.items()
        }
        return {
            "mechanism": mechanism,
            "method": data.attrs["method"],
            "h": float(data.attrs["h"]),
            "reasons": tuple(np.atleast_1d(data["reason"].values).tolist()),
            "forces": json.loads(data.attrs["forces"]),
            "steps": data["steps"].values,
            "rejected": data["rejected"].values,
            "friction": data.attrs.get("friction"),
            **found,
            "parameters": {
                str(name): data["parameters"].values[..., k][()]
                for k, name in enumerate(data["parameter"].values)
            }
            if "parameters" in data
            else {},
            "ended": _ended(data),
            **{f"{dim}s": _rows(data, dim, kind) for dim, kind in HAPPENINGS.items()},
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
        expected, source, engine = (
            "a file that Run.to_netcdf wrote (a folder would be one of Zarr)",
            path,
            "h5netcdf",
        )
    else:
        expected, source, engine = (
            "a folder that Run.to_zarr or simulate(store=) wrote",
            checked_store(folder),
            "zarr",
        )
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


def warn_without_checksums(path: Path, writer: str) -> None:
    """Warn of a file or folder without checksums."""
    warnings.warn(
        DalembertWarning(
            f"{str(path)!r} has no checksums, as an earlier version wrote it: damage would not be "
            f"seen. Load it and write it again with {writer}."
        ),
        stacklevel=2,
    )


def _rows(data: Any, dim: str, kind: Any) -> tuple[Any, ...]:
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


def written(folder: StoreFolder) -> int:
    """Records of a run in a folder of Zarr: those that a run has got to which is being computed, or
    was cut off.
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
    return f"({', '.join(names[:4])}{', ...' if len(names) > 4 else ''})"
