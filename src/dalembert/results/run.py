"""What a simulation leaves: states at times, energies, balance of power, and why it stopped."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from dalembert.arguments import path_of
from dalembert.compiled.memo import dynamics_of
from dalembert.errors import DalembertError, ShapeError, unknown_attribute
from dalembert.kinematics.forces import SIGN, STICK, coulomb
from dalembert.model.mechanism import Mechanism
from dalembert.results.displays import display
from dalembert.results.ends import End, last_records
from dalembert.results.events import Change, Event
from dalembert.results.labels import header
from dalembert.results.records import along, rows_of
from dalembert.spatial.arrays import Array
from dalembert.systems.kinds import system_of
from dalembert.systems.system import System

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

FINISHED = "finished"
INTERNAL = ("applied", "dynamics", "ended", "held", "law", "numbers", "own_mechanism")     # which `dir` does not list
LAWS = {STICK: "sticks at rest", SIGN: "-F sign(qd), does not stick"}


@dataclass(frozen=True)
class Run:
    """Trajectories of a mechanism or Lagrangian: of one state, arrays start with K times; of N states, with N, then K.

    A trajectory may end before the last of its times: at an event that is terminal, where a state is no longer a number,
    where the step becomes too small; its reason says why. A single one then has its last record there, whose time lies
    between two of those that were asked for. Of several, which share `times`, one that ended has NaN at later times, and
    `end` tells when and in which state each ended.

    Examples
    --------
    >>> import dalembert as da
    >>> run = da.simulate(da.planar_chain(1), [0.5], [0.0], 1.0, record=0.25)
    >>> run.times
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """

    mechanism: Any                             # as it was given to simulate
    times: Array                               # (K,) [s]
    q: Array                                   # (K, nq) or (N, K, nq)
    qd: Array                                  # (K, nv) or (N, K, nv)
    work: Array                                # (K,) or (N, K) [J]: done by actuators, friction and the user's forces
    method: str
    h: float                                   # step [s]; of adaptive methods, the first one
    reasons: tuple[str, ...]                   # of each trajectory: 'finished', or what ended it and when
    forces: dict[str, str]                     # how each force was evaluated: none, constant, traced or called
    steps: np.ndarray[tuple[int, ...], np.dtype[np.int64]] = field(repr=False)      # () or (N,): accepted
    rejected: np.ndarray[tuple[int, ...], np.dtype[np.int64]] = field(repr=False)
    controller_states: Array | None = field(default=None, repr=False)      # (K, m) or (N, K, m); m = 0 if it has none
    applied: Any = field(default=None, repr=False, compare=False)      # the function that `tau` evaluates
    events: tuple[Event, ...] = field(default=(), repr=False)          # (trajectory, t, q, qd, name), in order of time
    changes: tuple[Change, ...] = field(default=(), repr=False)        # what friction and stops did, and when
    modes: Array | None = field(default=None, repr=False)         # as qd: 0 rests, 1 or -1 slides, 2 moves freely
    friction: str | None = None                # Coulomb's: 'stick', 'sign' or 'none'; None: it is not known
    law: Any = field(default=None, repr=False, compare=False)          # the `Reactions` that `reactions` evaluates
    parameters: dict[str, Any] = field(default_factory=dict, repr=False)      # path -> number that was an input, or (N,)
    dynamics: Any = field(default=None, repr=False, compare=False)     # compiled with them as inputs; None: the mechanism's
    held: Array | None = field(default=None, repr=False)          # as qd: forces of a sampled controller [N m, N]
    ended: End | None = field(default=None, repr=False)                # of several trajectories: `end`; None: at records

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if not name.startswith("_") and name not in INTERNAL]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_attribute(self, name)

    @property
    def reason(self) -> str:
        """Why the run stopped; of several trajectories, of the first that did not finish."""
        return next((r for r in self.reasons if r != FINISHED), FINISHED)

    @cached_property
    def kinetic_energy(self) -> Array:
        """T [J], shaped as `work`; of a Lagrangian 1/2 qd^T M qd."""
        return self._quantity("kinetic_energy", self.q, self.qd)

    @cached_property
    def potential_energy(self) -> Array:
        """Pi of gravity and springs [J], shaped as `work`; of a Lagrangian -L at qd = 0."""
        return self._quantity("potential_energy", self.q)

    @property
    def energy(self) -> Array:
        """T + Pi [J], shaped as `work`; of a Lagrangian Jacobi's function p . qd - L."""
        return self.kinetic_energy + self.potential_energy

    @property
    def power_balance(self) -> Array:
        """T + Pi less its first value and the work done [J]: what the integrator gained or lost."""
        energy = self.energy
        return energy - energy[..., :1] - self.work

    @property
    def energy_drift(self) -> float:
        """Largest |power balance|, relative to the largest T, or to the range of Pi if that is larger."""
        from dalembert.results import storage

        found, start = [], None
        for _, part in storage.parts(self):
            T, P = part.kinetic_energy, part.potential_energy
            start = T[..., :1] + P[..., :1] if start is None else start
            found.append([np.fmax.reduce(values, axis=-1) for values in (T, P, -P, np.abs(T + P - start - part.work))])
        highest, top, bottom, worst = np.fmax.reduce(found)
        return float(np.fmax.reduce(worst / np.fmax(np.fmax(highest, top + bottom), np.finfo(float).tiny), axis=None))

    @cached_property
    def tau(self) -> Array:
        """Forces of control and forces [N m, N], shaped as qd: evaluated again at the records, when first asked for.

        Of a sampled controller they are those that acted, from each time on.

        Raises
        ------
        DalembertError
            They are not known: files and copies of a run do not keep the functions that gave them.
        """
        if set(self.forces.values()) == {"none"}:
            return np.zeros_like(self.qd)
        if self.held is not None and self.forces["forces"] == "none":
            return np.where(np.isfinite(self.work)[..., None], self.held, np.nan)
        if self.applied is None:
            raise DalembertError("the forces of this run are not known: files and copies keep no functions. Ask for run.tau "
                                 "where it was simulated.")
        others = self.applied(self.times, self.q, self.qd, self.controller_states)
        return others if self.held is None else others + self.held

    @cached_property
    def reactions(self) -> Array:
        """Forces of Coulomb friction and stops on the joints [N m, N], shaped as qd.

        Raises
        ------
        DalembertError
            They stick or stop, and what they do is not known: files and copies do not keep it.
        """
        if self.law is not None and self.modes is not None:
            return self.law.recorded(self.q, self.qd, self.tau, self.modes, self.numbers)
        if self.friction not in (SIGN, "none"):
            raise DalembertError("the reactions of this run are not known: files and copies do not keep what joints did. "
                                 "Ask for run.reactions where it was simulated.")
        if self.friction == "none":
            return np.zeros_like(self.qd)
        if self.qd.ndim == 2 or not self.parameters:
            return -coulomb(self.own_mechanism()) * np.sign(self.qd)
        return np.stack([-coulomb(self.own_mechanism(k)) * np.sign(qd) for k, qd in enumerate(self.qd)])

    @cached_property
    def system(self) -> System:
        """The equations of motion of the mechanism."""
        return system_of(self.mechanism)

    def own_mechanism(self, trajectory: int = 0) -> Any:
        """The mechanism of a trajectory: with its numbers, if the run has `parameters`."""
        if not self.parameters:
            return self.mechanism
        values = np.broadcast_to(self.numbers, (len(self.q) if self.q.ndim == 3 else 1, len(self.parameters)))[trajectory]
        return self.system.replace(dict(zip(self.parameters, values.tolist(), strict=True))).source

    @property
    def numbers(self) -> Array:
        """Values of the parameters, (m,) or (N, m)."""
        return np.stack(np.broadcast_arrays(*self.parameters.values()), axis=-1) if self.parameters else np.zeros(0)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but the functions that moved the mechanism."""
        return self.__dict__ | {"applied": None, "law": None}

    @cached_property
    def momenta(self) -> Array:
        """Generalized momenta p = M qd, shaped as qd."""
        return self._quantity("momenta", self.q, self.qd)

    @property
    def end(self) -> End:
        """Where each trajectory ended: t () or (N,) [s], q, qd, work, controller_states, from which another run goes on.

        The last record, or the state between two records at which an event or a failure ended it.
        """
        if self.ended is not None:
            return self.ended
        return last_records(self.times, self.q, self.qd, self.work, self.controller_states)

    def final(self) -> tuple[Array, Array]:
        """q and qd at the `end` of each trajectory: where another run goes on."""
        return self.end.q, self.end.qd

    def to_csv(self, file: str | os.PathLike[str]) -> Path:
        """Write times, coordinates, velocities and energies of one trajectory as CSV with a row of names.

        A name that a spreadsheet would take for a formula, like '=x', gets an apostrophe in front: "'=x".

        Raises
        ------
        ShapeError
            There are several trajectories.
        """
        if self.q.ndim != 2:
            raise ShapeError(f"CSV holds one trajectory, not {len(self.q)}: write them one by one.", "q", self.q.shape)
        from dalembert.results import storage

        names = ["time", *self.system.coordinate_names, *(f"rate of {n}" for n in self.system.velocity_names),
                 "kinetic energy", "potential energy", "work"]
        path = path_of("file", file)
        with path.open("w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out)
            writer.writerow(map(header, names))
            for _, part in storage.parts(self):
                energies = part.kinetic_energy, part.potential_energy, part.work
                columns = np.column_stack([part.times, part.q, part.qd, *energies])
                writer.writerows(map(repr, row) for row in columns.tolist())
        return path

    def to_xarray(self) -> Dataset:
        """The run as an `xarray.Dataset` (needs the extra `files`).

        Dimensions `time`, `trajectory` if there are several, `coordinate` and `velocity`, these with the names of the
        entries and their units; variables q, qd, kinetic_energy, potential_energy, work, power_balance, steps, rejected,
        reason, with their units as attributes.
        """
        from dalembert.results import storage

        return storage.dataset(self)

    def to_netcdf(self, file: str | os.PathLike[str]) -> Path:
        """Write the dataset as a file of NetCDF 4 (needs the extra `files`)."""
        from dalembert.results import storage

        return storage.write_netcdf(self, file)

    def to_zarr(self, folder: str | os.PathLike[str]) -> Path:
        """Write the dataset as a folder of Zarr (needs the extra `files`); replaces one that is there.

        Raises
        ------
        DalembertError
            There is something else of that name.
        """
        from dalembert.results import storage

        return storage.write_zarr(self, folder)

    @staticmethod
    def load(mechanism: Mechanism, file: str | os.PathLike[str], lazy: bool = False) -> Run:
        """The run of a mechanism that `to_netcdf`, `to_zarr` or `simulate(store=)` wrote.

        lazy: of a folder of Zarr read only what is looked at: run.q[..., -1, :], run.qd[1000:2000]; and write files, and
        find the energy drift, some records at a time. The folder must stay as it is.

        Raises
        ------
        DalembertError
            There is none, or it is of a mechanism with other names.
        """
        from dalembert.results import storage

        return Run(**storage.read(mechanism, file, lazy))

    def plot(self, file: str | os.PathLike[str] | None = None) -> Figure:
        """Coordinates, velocities, applied forces, phase portraits, energies, power balance: a Matplotlib figure.

        With a file (.png, .svg, .pdf) the figure is saved there. Up to 8 joints share a row of panels; of many
        trajectories the first 50 are drawn. Needs the extra `plot`.
        """
        return display("plot")(self, file)

    def animate(self, file: str | os.PathLike[str], fps: float = 30.0, speed: float = 1.0, trace: str | None = None) -> Path:
        """Write the motion as a page (.html) or a film (.gif, .mp4): a stick figure of frames and centres of mass.

        Of several trajectories the first 8 are drawn together. The page needs no network: play, pause, speed, a slider,
        drag to turn, wheel to zoom; `page.html#1.5` opens it at 1.5 s, standing still. A film is seen from one place; it
        needs the extra `plot`, MP4 also the program ffmpeg.

        Parameters
        ----------
        file : path
        fps : float
            Pictures per second of a film; at most 50 in a GIF.
        speed : float
            1 is real time, 0.1 ten times slower.
        trace : str, optional
            Frame whose way is drawn; by default of the point that comes farthest round.

        Raises
        ------
        ValueError, UnknownNameError
            The name has another ending; fps or speed is not positive; the film has too many pictures; no such frame.
        DalembertError
            A library or ffmpeg is not installed, or ffmpeg failed.
        """
        path: Path = display("animate")(self, file, fps, speed, trace)
        return path

    def summary(self) -> str:
        """A few lines: how long, how, what the energies did, why it stopped."""
        count = "1 trajectory" if self.q.ndim == 2 else f"{len(self.q)} trajectories"
        ways = ", ".join(f"{name} {kind}" for name, kind in self.forces.items() if kind != "none") or "none"
        return "\n".join([
            f"{count} of {self.system.name!r}, {self.times[0]:g} s to {self.times[-1]:g} s, {len(self.times)} records",
            f"method {self.method}, {int(self.steps.sum())} steps, {int(self.rejected.sum())} rejected; forces: {ways}",
            f"energy drift {self.energy_drift:.2g} of the largest energy",
            *([f"Coulomb friction: {LAWS[self.friction]}"] if self.friction in LAWS else []),
            *([f"{len(self.events)} events, {len(self.changes)} changes of sticking and stops"]
              if self.events or self.changes else []), f"stopped: {self.reason}"])

    @cached_property
    def end_energies(self) -> tuple[Array, Array]:
        """T and Pi [J] at the `end` of each trajectory, () or (N,) each."""
        t, q, qd, *_ = self.end
        t, q, qd = np.asarray(t)[..., None], q[..., None, :], qd[..., None, :]      # a record of each
        T, P = self._energies_at(t, q, qd)
        return T[..., 0], P[..., 0]

    def _energies_at(self, times: np.ndarray, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """T and Pi [J] of other states."""
        return self._quantity("kinetic_energy", q, qd, times=times), self._quantity("potential_energy", q, times=times)

    def _quantity(self, name: str, *vectors: np.ndarray, times: np.ndarray | None = None) -> np.ndarray:
        """A quantity at every record, or at states of other times; NaN where the state is."""
        times = self.times if times is None else times
        quantity = getattr(self.dynamics or dynamics_of(self.mechanism, tuple(self.parameters)), name)
        if self.parameters and self.system.mechanism is not None:
            return along(times, lambda t, *state: quantity(*state[:-1], parameters=state[-1]), *vectors,
                         rows_of(self.numbers, vectors[0]))
        inputs = self.system.quantities[name].inputs

        def valued(t: np.ndarray, q: np.ndarray, qd: np.ndarray, *numbers: np.ndarray) -> np.ndarray:
            state = {"q": q, "qd": qd, "t": t}
            return np.asarray(quantity(*(state[name] for name in inputs), *numbers))

        q, qd = vectors if len(vectors) == 2 else (vectors[0], np.zeros((*vectors[0].shape[:-1], self.system.nv)))
        return along(times, valued, q, qd, *([rows_of(self.numbers, q)] if self.parameters else []))
