"""What a simulation leaves: states at times, energies, balance of power, and why it stopped."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.errors import ShapeError
from dalembert.model.mechanism import Mechanism
from dalembert.simulation.kept import dynamics_of

FINISHED = "finished"


@dataclass(frozen=True)
class Run:
    """Trajectories of a mechanism: of one state, arrays start with K times; of N states, with N, then K.

    A trajectory that could not go on has NaN from there on, and its reason says why; a single one is cut there instead.
    """

    mechanism: Mechanism
    times: np.ndarray                          # (K,) [s]
    q: np.ndarray                              # (K, nq) or (N, K, nq)
    qd: np.ndarray                             # (K, nv) or (N, K, nv)
    work: np.ndarray                           # (K,) or (N, K) [J]: done by actuators, friction and the user's forces
    method: str
    h: float                                   # step [s]; of adaptive methods, the first one
    reasons: tuple[str, ...]                   # of each trajectory: 'finished', or what ended it and when
    forces: dict[str, str]                     # how each force was evaluated: none, constant, traced or called
    steps: np.ndarray = field(repr=False)      # () or (N,): accepted
    rejected: np.ndarray = field(repr=False)
    controller_states: np.ndarray | None = field(default=None, repr=False)      # (K, m) or (N, K, m); m = 0 if it has none

    @property
    def reason(self) -> str:
        """Why the run stopped; of several trajectories, of the first that did not finish."""
        return next((r for r in self.reasons if r != FINISHED), FINISHED)

    @cached_property
    def kinetic_energy(self) -> np.ndarray:
        """T [J], shaped as `work`."""
        return self._quantity("kinetic_energy", self.q, self.qd)

    @cached_property
    def potential_energy(self) -> np.ndarray:
        """Pi of gravity and springs [J], shaped as `work`."""
        return self._quantity("potential_energy", self.q)

    @property
    def energy(self) -> np.ndarray:
        """T + Pi [J], shaped as `work`."""
        return self.kinetic_energy + self.potential_energy

    @property
    def power_balance(self) -> np.ndarray:
        """T + Pi less its first value and the work done [J]: what the integrator gained or lost."""
        energy = self.energy
        return energy - energy[..., :1] - self.work

    @property
    def energy_drift(self) -> float:
        """Largest |power balance|, relative to the largest T, or to the range of Pi if that is larger."""
        T, P = self.kinetic_energy, self.potential_energy
        scale = np.maximum(np.nanmax(T, axis=-1), np.nanmax(P, axis=-1) - np.nanmin(P, axis=-1))
        scale = np.maximum(scale, np.finfo(float).tiny)
        return float(np.nanmax(np.nanmax(np.abs(self.power_balance), axis=-1) / scale))

    @cached_property
    def momenta(self) -> np.ndarray:
        """Generalized momenta p = M qd, shaped as qd."""
        return self._quantity("momenta", self.q, self.qd)

    def final(self) -> tuple[np.ndarray, np.ndarray]:
        """The last q and qd: where another run goes on."""
        return self.q[..., -1, :], self.qd[..., -1, :]

    def to_csv(self, file: Any) -> Path:
        """Write times, coordinates, velocities and energies of one trajectory as CSV with a row of names.

        Raises
        ------
        ShapeError
            There are several trajectories.
        """
        if self.q.ndim != 2:
            raise ShapeError(f"CSV holds one trajectory, not {len(self.q)}: write them one by one.", "q", self.q.shape)
        columns = np.column_stack([self.times, self.q, self.qd, self.kinetic_energy, self.potential_energy, self.work])
        names = ["time", *self.mechanism.coordinate_names, *(f"rate of {n}" for n in self.mechanism.velocity_names),
                 "kinetic energy", "potential energy", "work"]
        path = Path(file)
        with path.open("w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out)
            writer.writerow(names)
            writer.writerows(map(repr, row) for row in columns.tolist())
        return path

    def to_xarray(self) -> Any:
        """The run as an `xarray.Dataset` (needs the extra `files`).

        Dimensions `time`, `trajectory` if there are several, `coordinate` and `velocity`, these with the names of the
        entries and their units; variables q, qd, kinetic_energy, potential_energy, work, power_balance, steps, rejected,
        reason, with their units as attributes.
        """
        from dalembert.simulation import storage

        return storage.dataset(self)

    def to_netcdf(self, file: Any) -> Path:
        """Write the dataset as a file of NetCDF 4 (needs the extra `files`)."""
        from dalembert.simulation import storage

        return storage.write_netcdf(self, file)

    def to_zarr(self, folder: Any) -> Path:
        """Write the dataset as a folder of Zarr (needs the extra `files`); replaces one that is there.

        Raises
        ------
        DalembertError
            There is something else of that name.
        """
        from dalembert.simulation import storage

        return storage.write_zarr(self, folder)

    @staticmethod
    def load(mechanism: Mechanism, file: Any) -> Run:
        """The run of a mechanism that `to_netcdf` or `to_zarr` wrote.

        Raises
        ------
        DalembertError
            There is none, or it is of a mechanism with other names.
        """
        from dalembert.simulation import storage

        return Run(**storage.read(mechanism, file))

    def plot(self, file: Any = None) -> Any:
        """Coordinates, velocities, energies, power balance and phase portraits, as a Matplotlib figure (needs `plot`).

        With a file (.png, .svg, .pdf) the figure is saved there. Of many trajectories the first 50 are drawn.
        """
        from dalembert.simulation import pictures

        return pictures.plot(self, file)

    def animate(self, file: Any) -> Path:
        """Write the motion of one trajectory as a page (.html): a stick figure of frames and centres of mass.

        The page needs no network: play, pause, speed, a slider, drag to turn, wheel to zoom. `page.html#1.5` opens it at
        1.5 s, standing still.

        Raises
        ------
        ShapeError, ValueError
            There are several trajectories; the name has another ending.
        """
        from dalembert.simulation import pictures

        return pictures.animate(self, file)

    def summary(self) -> str:
        """A few lines: how long, how, what the energies did, why it stopped."""
        count = "1 trajectory" if self.q.ndim == 2 else f"{len(self.q)} trajectories"
        ways = ", ".join(f"{name} {kind}" for name, kind in self.forces.items() if kind != "none") or "none"
        return "\n".join([
            f"{count} of {self.mechanism.name!r}, {self.times[0]:g} s to {self.times[-1]:g} s, {len(self.times)} records",
            f"method {self.method}, {int(self.steps.sum())} steps, {int(self.rejected.sum())} rejected; forces: {ways}",
            f"energy drift {self.energy_drift:.2g} of the largest energy", f"stopped: {self.reason}"])

    def _quantity(self, name: str, *vectors: np.ndarray) -> np.ndarray:
        """A quantity at every record; NaN where the state is."""
        flat = [v.reshape(-1, v.shape[-1]) for v in vectors]
        good = np.all([np.isfinite(v).all(axis=-1) for v in flat], axis=0)
        found = np.asarray(getattr(dynamics_of(self.mechanism), name)(*(v[good] for v in flat)))
        out = np.full((len(good), *found.shape[1:]), np.nan)
        out[good] = found
        return out.reshape(*vectors[0].shape[:-1], *found.shape[1:])
