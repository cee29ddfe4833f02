"""The motion of a mechanism, for `dalembert simulate`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from rich.console import Console

import dalembert as da
from dalembert.commandline import VectorError
from dalembert.commandline.closed_start import typed_goal, typed_state
from dalembert.commandline.controllers import BANDWIDTH, controller
from dalembert.commandline.output import line, progress_bar
from dalembert.commandline.simulation_options import Files, TypedState
from dalembert.commandline.tables import show_state
from dalembert.commandline.typed_vectors import typed_vector
from dalembert.commandline.written_files import check_writable
from dalembert.errors import DalembertError, DalembertWarning
from dalembert.model.mechanism import Mechanism
from dalembert.results import storage
from dalembert.results.labels import library
from dalembert.results.record_selection import selected
from dalembert.results.run import Run
from dalembert.simulation.options import Actions, Constraining, Contact, Model, Recording, Stepping
from dalembert.simulation.simulate import Simulation
from dalembert.views.diagrams import run_diagrams
from dalembert.views.fonts import EXTRA
from dalembert.views.motions import animation

OUTPUTS: dict[str, Callable[[Run, Path], Any]] = {
    ".csv": Run.to_csv,
    ".nc": Run.to_netcdf,
    ".zarr": Run.to_zarr,
}


def streamed(files: Files) -> dict[str, Any]:
    """Options of `simulate` for a run that is written while it is computed."""
    return {"store": files.output, "resume": files.resume} if _is_folder(files.output) else {}


def check_files(files: Files, duration: float) -> None:
    """See that all of a run of some time [s] can be written in the end, before it begins.

    Raises
    ------
    VectorError, DalembertError
        The ending of a name is none of those that are known, a film too long; a library or
        program is not installed.
    """
    check_writable("--output", files.output, tuple(OUTPUTS))
    check_writable("--plot", files.plot, run_diagrams.PLOTS)
    check_writable("--animate", files.animate, (*animation.PAGES, *animation.FILMS))
    _check_folder(files)
    if files.output is not None and files.output.suffix.lower() in storage.LIBRARIES:
        storage.require(files.output.suffix.lower())
    if files.plot is not None:
        library("matplotlib", EXTRA)
    if files.animate is not None and duration > 0:
        try:
            animation.ready(files.animate, duration, speed=files.speed)
        except ValueError as error:
            raise VectorError(f"--animate {error}", "--animate") from None


def _check_folder(files: Files) -> None:
    """See that a run that is written while it is computed begins, or goes on, on purpose."""
    if files.resume and not _is_folder(files.output):
        raise VectorError(
            "--resume goes on with a run in a .zarr folder: name it with --output.", "--resume"
        )
    if _is_folder(files.output) and files.output.exists() and not files.resume:
        raise VectorError(
            f"--output {str(files.output)!r} is there already: --resume goes on with a run that "
            "was cut off; or give another name, or remove it.",
            "--output",
        )


def write_files(files: Files, run: Run) -> list[str]:
    """Write all that are wanted; their names."""
    if files.output is not None and not _is_folder(files.output):
        OUTPUTS[files.output.suffix.lower()](run, files.output)
    if files.plot is not None:
        run.plot(files.plot)
    if files.animate is not None:
        run.animate(files.animate, speed=files.speed, magnify=files.magnify)
    wanted = files.output, files.plot, files.animate
    return [str(path) for path in wanted if path is not None]


def _is_folder(output: Path | None) -> TypeGuard[Path]:
    """Whether a run is written while it is computed."""
    return output is not None and output.suffix.lower() == ".zarr"


@contextmanager
def wrong_usage() -> Iterator[None]:
    """Errors in times, steps and other numbers as typed are wrong usage."""
    try:
        yield
    except da.QuaternionError as error:
        raise VectorError(f"--{error}", "--q") from None
    except ValueError as error:
        if isinstance(error, DalembertError):
            raise
        raise VectorError(str(error)) from None


def simulated(
    typed: TypedState,
    model: Model,
    contact: Contact,
    stepping: Stepping,
    recording: Recording,
    constraining: Constraining,
) -> Run:
    """The run from a state as typed, under constant joint forces and a controller as typed.

    Raises
    ------
    VectorError, UnknownNameError
        A vector, method or controller as typed is none.
    SingularMassMatrixError
        Accelerations are not determined.
    """
    mechanism = model.mechanism
    names = mechanism.velocity_names
    zero = np.zeros(mechanism.nv)
    q, qd = typed_state(mechanism, typed.q, typed.qd)
    tau = None if typed.tau is None else typed_vector(typed.tau, "--tau", names, zero, mechanism)
    law = _controller(mechanism, typed, q)
    actions = Actions(law, tau) if law is not None else Actions(tau)
    actions = replace(actions, saturate=typed.saturate)
    with progress_bar() as progress, warnings.catch_warnings():
        # The command ends with an error that says it.
        warnings.filterwarnings("ignore", "the run ended early", DalembertWarning)
        recording = replace(recording, progress=progress)
        simulation = Simulation(model, actions, contact, stepping, recording, constraining)
        return simulation.run(q, qd)


def _controller(mechanism: Mechanism, typed: TypedState, q: np.ndarray) -> Any:
    """The controller as typed, sampled if a period is typed, by default about the initial posture
    q; None if none is.
    """
    if typed.controller is None:
        if typed.sampled is not None:
            raise VectorError(
                "--sampled is the period of a controller: give --controller as well.", "--sampled"
            )
        if typed.goal is not None:
            raise VectorError(
                "--goal is the set point of a controller: give --controller as well.", "--goal"
            )
        if typed.bandwidth is not None:
            raise VectorError(
                "--bandwidth is that of a controller: give --controller as well.", "--bandwidth"
            )
        if typed.delay is not None:
            raise VectorError(
                "--delay is that of a sampled controller: give --controller and --sampled as well.",
                "--delay",
            )
        return None
    if typed.delay is not None and typed.sampled is None:
        raise VectorError(
            "--delay is that of a sampled controller: give --sampled as well.", "--delay"
        )
    bandwidth = BANDWIDTH if typed.bandwidth is None else typed.bandwidth
    if not np.isfinite(bandwidth):
        raise VectorError(
            f"--bandwidth {bandwidth}: expected a finite number [rad/s].", "--bandwidth"
        )
    goal = typed_goal(mechanism, typed.goal, q)
    try:
        law = controller(typed.controller, mechanism, goal, bandwidth)
    except da.QuaternionError as error:
        raise VectorError(f"--{'q' if typed.goal is None else 'goal'}: {error}", "--goal") from None
    if typed.sampled is None:
        return law
    try:
        return da.controllers.Sampled.of(law, typed.sampled, typed.delay or 0.0)
    except ValueError as error:
        raise VectorError(f"--sampled: {error}", "--sampled") from None


def as_json(run: Run, files: list[str]) -> dict[str, Any]:
    """How the run went and where it ended."""
    q, qd = run.final()
    last = selected(run, slice(-1, None))
    return {
        "mechanism": run.mechanism.name,
        "method": run.method,
        "h": run.h,
        "t": float(run.times[-1]),
        "records": len(run.times),
        "steps": int(run.steps),
        "rejected": int(run.rejected),
        "reason": run.reason,
        "coordinate_names": list(run.mechanism.coordinate_names),
        "velocity_names": list(run.mechanism.velocity_names),
        "q": q.tolist(),
        "qd": qd.tolist(),
        "kinetic_energy": float(last.kinetic_energy[-1]),
        "potential_energy": float(last.potential_energy[-1]),
        "work": float(last.work[-1]),
        "energy_drift": run.energy_drift,
        "limits_passed": [peak._asdict() for peak in run.limits_passed],
        "observables": {
            name: (values[-1] if last.observables.declared[name].is_of_records else values).tolist()
            for name, values in last.observables.known().items()
        },
        "files": files,
    }


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
