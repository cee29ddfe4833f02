"""The motion of a mechanism, for `dalembert simulate`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

import dalembert as da
from dalembert.commandline import VectorError
from dalembert.commandline.output import line
from dalembert.commandline.tables import show_state
from dalembert.commandline.vectors import typed_vector
from dalembert.errors import DalembertError
from dalembert.model.mechanism import Mechanism
from dalembert.simulation import pictures, storage
from dalembert.simulation.labels import library
from dalembert.simulation.run import Run

OUTPUTS: dict[str, Callable[[Run, Path], Any]] = {".csv": Run.to_csv, ".nc": Run.to_netcdf, ".zarr": Run.to_zarr}


class Files(NamedTuple):
    """Where a run goes to."""

    output: Path | None
    plot: Path | None
    animate: Path | None

    def check(self) -> None:
        """See that all can be written in the end, before a long run begins.

        Raises
        ------
        VectorError, DalembertError
            The ending of a name is none of those that are known; a library is not installed.
        """
        for option, path, endings in (("--output", self.output, tuple(OUTPUTS)), ("--plot", self.plot, pictures.PLOTS),
                                      ("--animate", self.animate, pictures.PAGES)):
            if path is not None and path.suffix.lower() not in endings:
                raise VectorError(f"{option} {str(path)!r}: the name must end in {', '.join(endings)}.", option)
            if path is not None and not path.parent.is_dir():
                raise VectorError(f"{option} {str(path)!r}: there is no folder {str(path.parent)!r}.", option)
        if self.output is not None and self.output.suffix.lower() in storage.LIBRARIES:
            storage.require(self.output.suffix.lower())
        if self.plot is not None:
            library("matplotlib", pictures.EXTRA)

    def write(self, run: Run) -> list[str]:
        """Write all that are wanted; their names."""
        if self.output is not None:
            OUTPUTS[self.output.suffix.lower()](run, self.output)
        if self.plot is not None:
            run.plot(self.plot)
        if self.animate is not None:
            run.animate(self.animate)
        return [str(path) for path in self if path is not None]


def simulated(mechanism: Mechanism, q: str | None, qd: str | None, tau: str | None, t: float, **options: Any) -> Run:
    """The run from a state as typed, under constant joint forces as typed.

    Raises
    ------
    VectorError, UnknownNameError
        A vector, time, step or method as typed is none.
    SingularMassMatrixError
        Accelerations are not determined.
    """
    names, zero = mechanism.velocity_names, np.zeros(mechanism.nv)
    at_q = typed_vector(q, "--q", mechanism.coordinate_names, mechanism.neutral(), mechanism)
    at_qd = typed_vector(qd, "--qd", names, zero, mechanism)
    control = None if tau is None else typed_vector(tau, "--tau", names, zero, mechanism)
    try:
        return da.simulate(mechanism, at_q, at_qd, t, control=control, **options)
    except da.QuaternionError as error:
        raise VectorError(f"--{error}", "--q") from None
    except ValueError as error:      # of times and steps; those of vectors were found above
        if isinstance(error, DalembertError):
            raise
        raise VectorError(str(error)) from None


def as_json(run: Run, files: list[str]) -> dict[str, Any]:
    """How the run went and where it ended."""
    q, qd = run.final()
    return {"mechanism": run.mechanism.name, "method": run.method, "h": run.h, "t": float(run.times[-1]),
            "records": len(run.times), "steps": int(run.steps), "rejected": int(run.rejected), "reason": run.reason,
            "coordinate_names": list(run.mechanism.coordinate_names), "velocity_names": list(run.mechanism.velocity_names),
            "q": q.tolist(), "qd": qd.tolist(), "kinetic_energy": float(run.kinetic_energy[-1]),
            "potential_energy": float(run.potential_energy[-1]), "work": float(run.work[-1]),
            "energy_drift": run.energy_drift, "files": files}


def show(out: Console, run: Run, files: list[str]) -> None:
    """Print the summary, the final state, and the files written."""
    for text in run.summary().splitlines():
        line(out, text)
    line(out)
    line(out, f"State at t = {run.times[-1]:g} s", "bold")
    q, qd = run.final()
    show_state(out, run.mechanism, q, qd=qd)
    for file in files:
        line(out, f"wrote {file}")
