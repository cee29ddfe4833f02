"""A run: its records, and their files, diagrams and films."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arguments import path_of
from dalembert.displays import display, in_notebook
from dalembert.errors import ShapeError
from dalembert.integrators.method_kinds import (
    BAUMGARTE,
    GGL,
    INDEX_2,
    INDEX_3,
    NONE,
    NULL_SPACE,
    PARTITIONING,
    PROJECTION,
    SWITCHES,
)
from dalembert.kinematics.forces import SIGN, STICK
from dalembert.model.mechanism import Mechanism
from dalembert.results import run_files, storage, stored_arrays
from dalembert.results.columns import columns
from dalembert.results.dataset import dataset
from dalembert.results.labels import header, library
from dalembert.results.limit_peaks import (
    LimitPeak,
    limit_lines,
    limit_peaks,
)
from dalembert.results.records import NOT_UNIQUE, Records
from dalembert.whole_files import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from xarray import Dataset

HELD = {
    PROJECTION: "met at the end of each step",
    BAUMGARTE: "errors fade with a time constant (Baumgarte)",
    GGL: "velocities of coordinates corrected (Gear, Gupta, Leimkuhler)",
    NONE: "not stabilised, errors grow",
    NULL_SPACE: "met at the end of each step, equations in their null space",
    PARTITIONING: "dependent coordinates follow from independent ones",
    INDEX_2: "velocities met in each step (index 2)",
    INDEX_3: "positions met in each step (index 3)",
}
LAWS = {STICK: "sticks at rest", SIGN: "-F sign(qd), does not stick"}


@dataclass(frozen=True, repr=False)
class Run(Records):
    """Trajectories of a mechanism or Lagrangian: of one state, arrays start with K times; of N
    states, with N, then K.

    A trajectory may end before the last of its times: at an event that is terminal, where a state
    is no longer a number, where the step becomes too small; its reason says why. A single one then
    has its last record there, whose time lies between two of those that were asked for. Of several,
    which share `times`, one that ended has NaN at later times, and `end` tells when and in which
    state each ended.

    Examples
    --------
    >>> import dalembert as da
    >>> run = da.simulate(da.planar_chain(1), [0.5], [0.0], 1.0, record=0.25)
    >>> run.times
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """

    def __repr__(self) -> str:
        return f"<Run: {self._extent()}, {self.method}, stopped: {self.reason}>"

    def _repr_html_(self) -> str | None:
        return in_notebook("run_html", self)

    def _extent(self) -> str:
        """Trajectories, the time that they take, and records."""
        count = "1 trajectory" if self.q.ndim == 2 else f"{len(self.q)} trajectories"
        return (
            f"{count} of {self.system.name!r}, {self.times[0]:g} s to {self.times[-1]:g} s, "
            f"{len(self.times)} records"
        )

    @property
    def energy_drift(self) -> float:
        """Largest |power balance|, relative to the largest T, or to the range of Pi if that is
        larger.
        """
        found, start = [], None
        for _, part in stored_arrays.parts(self):
            T, P = part.kinetic_energy, part.potential_energy
            start = T[..., :1] + P[..., :1] if start is None else start
            found.append(
                [
                    np.fmax.reduce(values, axis=-1)
                    for values in (T, P, -P, np.abs(T + P - start - part.work))
                ]
            )
        highest, top, bottom, worst = np.fmax.reduce(found)
        return float(
            np.fmax.reduce(
                worst / np.fmax(np.fmax(highest, top + bottom), np.finfo(float).tiny), axis=None
            )
        )

    @cached_property
    def limit_peaks(self) -> tuple[LimitPeak, ...]:
        """How near the run came to each limit of position, velocity and effort, or how far beyond
        it; efforts are those of the control, where that is known.

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(1).with_actuators(da.Actuator("motor", "q1", 50, effort=0.1))
        >>> run = da.simulate(arm, [0.5], [0.0], 0.1, control=[-8.0])
        >>> print(run.limit_peaks[0], run.limit_peaks[0].is_passed)
        q1 8 N m of 5 at 0 s True
        """
        return limit_peaks(self)

    @property
    def limits_passed(self) -> tuple[LimitPeak, ...]:
        """The `limit_peaks` that are beyond their limits.

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(1).with_actuators(da.Actuator("motor", "q1", 50, effort=0.1))
        >>> da.simulate(arm, [0.5], [0.0], 0.1, control=[-8.0], saturate=True).limits_passed
        ()
        """
        return tuple(peak for peak in self.limit_peaks if peak.is_passed)

    def to_csv(self, file: str | os.PathLike[str]) -> Path:
        """Write times, coordinates, velocities, energies and observables of one trajectory as CSV
        with a row of names.

        A name that a spreadsheet would take for a formula, like '=x', gets an apostrophe in front:
        "'=x".

        Raises
        ------
        ShapeError, StoreError
            There are several trajectories; the file cannot be written.

        Examples
        --------
        >>> import dalembert as da
        >>> run = da.simulate(da.planar_chain(1), [0.5], [0.0], 0.1)
        >>> run.to_csv("swing.csv").name
        'swing.csv'
        """
        self._check_single("CSV holds")
        path = path_of("file", file)
        with storage.writing(path), whole_file(path) as out:
            writer = csv.writer(out)
            for begin, part in stored_arrays.parts(self):
                table = columns(part)
                if not begin:
                    writer.writerow(map(header, table))
                rows = np.column_stack([*table.values()]).tolist()
                writer.writerows(map(repr, row) for row in rows)
        return path

    def to_dataframe(self) -> DataFrame:
        """The records of one trajectory as a `pandas.DataFrame` with the columns of `to_csv`, the
        time as its index.

        Raises
        ------
        ShapeError, DalembertError
            There are several trajectories; pandas is not installed.

        Examples
        --------
        >>> import dalembert as da
        >>> run = da.simulate(da.planar_chain(1), [0.5], [0.0], 0.1)
        >>> list(run.to_dataframe().columns)[:2]
        ['q1', 'rate of q1']
        """
        self._check_single("a DataFrame holds")
        table = {name: np.asarray(values) for name, values in columns(self).items()}
        frame: DataFrame = library("pandas", storage.EXTRA).DataFrame(table)
        return frame.set_index("time")

    def _check_single(self, says: str) -> None:
        """See that there is one trajectory.

        Raises
        ------
        ShapeError
        """
        if self.q.ndim != 2:
            raise ShapeError(
                f"{says} one trajectory, not {len(self.q)}: write them one by one.",
                "q",
                self.q.shape,
            )

    def to_xarray(self) -> Dataset:
        """The run as an `xarray.Dataset` (needs the extra `files`).

        Dimensions `time`, `trajectory` if there are several, `coordinate` and `velocity`, these
        with the names of the entries and their units; variables q, qd, kinetic_energy,
        potential_energy, work, power_balance, steps, rejected, reason, with their units as
        attributes.

        Raises
        ------
        DalembertError
            xarray is not installed.

        Examples
        --------
        >>> import dalembert as da
        >>> run = da.simulate(da.planar_chain(1), [0.5], [0.0], 0.1)
        >>> run.to_xarray()["q"].shape
        (101, 1)
        """
        return dataset(self)

    def to_netcdf(self, file: str | os.PathLike[str]) -> Path:
        """Write the dataset as a file of NetCDF 4 (needs the extra `files`).

        Raises
        ------
        StoreError, DalembertError
            The file cannot be written; a library is not installed.

        Examples
        --------
        >>> import dalembert as da
        >>> run = da.simulate(da.planar_chain(1), [0.5], [0.0], 0.1)
        >>> run.to_netcdf("swing.nc").name
        'swing.nc'
        """
        return run_files.write_netcdf(self, file)

    def to_zarr(self, folder: str | os.PathLike[str]) -> Path:
        """Write the dataset as a folder of Zarr (needs the extra `files`); replaces one that is
        there.

        Raises
        ------
        DalembertError
            There is something else of that name.

        Examples
        --------
        >>> import dalembert as da
        >>> run = da.simulate(da.planar_chain(1), [0.5], [0.0], 0.1)
        >>> run.to_zarr("swing.zarr").name
        'swing.zarr'
        """
        return run_files.write_zarr(self, folder)

    @staticmethod
    def load(mechanism: Mechanism, file: str | os.PathLike[str], lazy: bool = False) -> Run:
        """The run of a mechanism that `to_netcdf`, `to_zarr` or `simulate(store=)` wrote.

        lazy: of a folder of Zarr read only what is looked at: run.q[..., -1, :], run.qd[1000:2000];
        and write files, and find the energy drift, some records at a time. The folder must stay as
        it is.

        Raises
        ------
        DalembertError
            There is none, or it is of a mechanism with other names.

        Examples
        --------
        >>> import dalembert as da
        >>> arm = da.planar_chain(1)
        >>> file = da.simulate(arm, [0.5], [0.0], 0.1).to_zarr("swing.zarr")
        >>> da.Run.load(arm, file).reason
        'finished'
        """
        return Run(**run_files.read(mechanism, file, lazy))

    def plot(
        self,
        *names: str | os.PathLike[str],
        file: str | os.PathLike[str] | None = None,
        degrees: bool = False,
        ax: Any = None,
    ) -> Figure:
        """Diagrams as a Matplotlib figure: of some quantities, or of all of them.

        The reference of a controller is dashed, limits of joints that were approached are dotted.
        What is 0 but for rounding is drawn as 0, with a note of its size. Up to 8 joints share a
        panel; of many trajectories the first 50 are drawn. Needs the extra `plot`.

        Parameters
        ----------
        names : str
            'q', 'qd', 'tau', 'phase', 'energies', 'power_balance', or observables; a name with an
            ending, as 'run.png', is a file.
        file : path, optional
            A .png, .svg or .pdf to write.
        degrees : bool
            Angles in degrees.
        ax : matplotlib Axes, or a list of them, optional
            Where the panels are drawn, one in each; by default a new figure.

        Raises
        ------
        UnknownNameError, ValueError
            A name is neither a quantity nor an observable; the name of the file has another
            ending.
        ShapeError
            Another number of axes than of panels.
        DalembertError
            Matplotlib is not installed.

        Examples
        --------
        >>> import dalembert as da
        >>> figure = da.simulate(da.planar_chain(1), [0.5], [0.0], 0.1).plot("q", degrees=True)
        >>> figure.axes[0].get_ylabel()
        'joint angles [deg]'
        """
        return display("plot")(self, names, file, degrees, ax)

    def animate(
        self,
        file: str | os.PathLike[str],
        fps: float = 30.0,
        speed: float = 1.0,
        trace: str | None = None,
        magnify: float = 1.0,
    ) -> Path:
        """Write the motion as a page (.html) or a film (.gif, .mp4): shaded solids on a ground.

        Of several trajectories the first 8 are drawn together. The page needs no network: play,
        pause, speed, a slider, drag to turn, wheel to zoom; `page.html#1.5` opens it at 1.5 s,
        standing still. A film is seen from one place; it needs the extra `plot`, MP4 also the
        program ffmpeg.

        Parameters
        ----------
        file : path
        fps : float
            Pictures per second of a film; at most 50 in a GIF.
        speed : float
            1 is real time, 0.1 ten times slower.
        trace : str, optional
            Frame whose way is drawn; by default of the point that comes farthest round.
        magnify : float
            Factor of the deflections of elastic bodies that are drawn.

        Raises
        ------
        ValueError, UnknownNameError
            The name has another ending; fps, speed or magnify is not positive; the film has too many
            pictures; no such frame.
        DalembertError
            A library or ffmpeg is not installed, or ffmpeg failed.

        Examples
        --------
        >>> import dalembert as da
        >>> da.simulate(da.planar_chain(1), [0.5], [0.0], 0.1).animate("swing.html").name
        'swing.html'
        """
        path: Path = display("animate")(self, file, fps, speed, trace, magnify)
        return path

    def view(
        self,
        port: int = 0,
        dark: bool = False,
        host: str = "127.0.0.1",
        mesh_folders: Sequence[str | os.PathLike[str]] = (),
    ) -> Any:
        """Show the run in the browser, with its mechanism: `da.view(run.mechanism, run)`, with its
        options.

        Needs the extra `view`.

        Raises
        ------
        DalembertError
            The system has no bodies; viser is not installed.

        Examples
        --------
        >>> import dalembert as da
        >>> with da.simulate(da.planar_chain(1), [0.5], [0.0], 0.1).view() as viewer:
        ...     viewer.is_open
        True
        """
        return display("view")(self, port=port, dark=dark, host=host, mesh_folders=mesh_folders)

    def summary(self) -> str:
        """Summary in a few lines: duration, method, energies, reason of the end.

        Examples
        --------
        >>> import dalembert as da
        >>> print(da.simulate(da.planar_chain(1), [0.5], [0.0], 0.1).summary().splitlines()[0])
        1 trajectory of 'planar chain', 0 s to 0.1 s, 101 records
        """
        ways = (
            ", ".join(f"{name} {kind}" for name, kind in self.forces.items() if kind != "none")
            or "none"
        )
        return "\n".join(
            [
                self._extent(),
                f"method {self.method}, {int(self.steps.sum())} steps, {int(self.rejected.sum())} "
                f"rejected; forces: {ways}",
                f"energy drift {self.energy_drift:.2g} of the largest energy",
                *self._constraint_lines(),
                *([f"Coulomb friction: {LAWS[self.friction]}"] if self.friction in LAWS else []),
                *self._event_lines(),
                *limit_lines(self, self.limit_peaks),
                f"stopped: {self.reason}",
            ]
        )

    def _event_lines(self) -> list[str]:
        """Numbers of events and of changes of sticking and stops, where there are any."""
        events, changes = len(self.events), len(self.changes)
        if not events and not changes:
            return []
        return [
            f"{events} event{'s' * (events != 1)}, {changes} change{'s' * (changes != 1)} of "
            "sticking and stops"
        ]

    def _constraint_lines(self) -> list[str]:
        """How constraints were met, and how well."""
        if self.residual is None or self.velocity_residual is None:
            return []
        way = HELD.get(str(self.stabilisation), "not known")
        positions, velocities = (
            float(np.fmax.reduce(rows, axis=None))
            for rows in (self.residual, self.velocity_residual)
        )
        switches = self.recorded.get(SWITCHES)
        often = "" if switches is None else f" (switched {int(np.nanmax(switches))} times)"
        lines = [
            f"constraints: {way}{often}; largest residuals {positions:.2g} of positions, "
            f"{velocities:.2g} of velocities"
        ]
        if self.not_unique:
            lines.append(f"multipliers: {NOT_UNIQUE} {', '.join(self.not_unique)}")
        return lines
