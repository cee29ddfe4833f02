"""The work of one sample: a user's function, or a simulation, and the arrays that it leaves."""

from __future__ import annotations

import inspect
import re
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import ShapeError, UnknownNameError
from dalembert.results.record_selection import trajectory
from dalembert.results.run import Run
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.formulation import formulation_for
from dalembert.simulation.method_choice import method_for
from dalembert.simulation.options import Contact, Model
from dalembert.simulation.saturation import check_gears
from dalembert.simulation.simulate import simulate
from dalembert.sweeps.identity import identity
from dalembert.systems.kinds import system_of
from dalembert.systems.system import System

STATES = ("q", "qd")
WITHOUT = ("mechanism", *STATES, "parameters", "progress", "store", "resume")
OPTIONS = tuple(
    name for name in inspect.signature(simulate).parameters if name not in WITHOUT
)  # of a simulation
DECISIVE = (
    "formulation",
    "friction",
    "stops",
    "method",
    "saturate",
)  # options on which it depends whether numbers can be inputs
COLLECTED = ("final", "records")
QUANTITIES = ("kinetic_energy", "potential_energy", "work")
SINGLE = "result"  # name of a result that has none
MOST_EXACT = 2**53  # integers up to it are floats too

Arrays = dict[str, tuple[tuple[str, ...], np.ndarray]]  # name -> names of dimensions, values


class Outcome(NamedTuple):
    """Outcome of sample k: arrays, or an error's message with the error's origin."""

    k: int
    arrays: Arrays
    error: str = ""
    raised: str = ""


def computed(
    work: Callable[..., Any], batch: Sequence[tuple[int, dict[str, Any]]]
) -> tuple[list[Outcome], float]:
    """Outcomes of a batch of samples, and the time it took [s]; runs where the executor wants."""
    begin = time.perf_counter()
    together = getattr(work, "together", None)
    found = together(batch) if together else [outcome(k, work, sample) for k, sample in batch]
    return found, time.perf_counter() - begin


def outcome(k: int, work: Callable[..., Any], sample: dict[str, Any]) -> Outcome:
    """Outcome of one sample; an exception ends nothing but the sample."""
    try:
        return Outcome(k, arrays_of(work(**sample)))
    except (Exception, SystemExit) as error:
        return Outcome(k, {}, f"{type(error).__name__}: {error}", traceback.format_exc())


def arrays_of(result: Any) -> Arrays:
    """A function's result as named arrays: numbers as floats, complex numbers, truth values, or
    texts.

    Raises
    ------
    ShapeError, TypeError
        A value has no such form; dimensions do not fit.
    """
    if isinstance(result, Run):
        result = final(result)
    table = result if isinstance(result, Mapping) else {SINGLE: result}
    if not table:
        raise ShapeError(
            "the function returned no results: expected a number, an array, or {name: number or "
            "array}."
        )
    return {str(name): _array(str(name), value) for name, value in table.items()}


def _array(name: str, value: Any) -> tuple[tuple[str, ...], np.ndarray]:
    dims: tuple[str, ...] | None = None
    if (
        isinstance(value, tuple)
        and len(value) == 2
        and not isinstance(value[0], (int, float, complex, np.ndarray))
    ):
        dims = (value[0],) if isinstance(value[0], str) else tuple(value[0])
        value = value[1]
    array = np.asarray(value)
    if array.dtype.kind in "iu" and np.abs(array.astype(float)).max(initial=0) > MOST_EXACT:
        raise ShapeError(
            f"result {name!r} has integers beyond 2^53, which floats do not hold: return them as "
            "texts.",
            name,
        )
    kind = {"b": bool, "c": complex, "U": object}.get(array.dtype.kind, float)
    if array.dtype.kind not in "biufcU":
        raise TypeError(
            f"result {name!r} is {type(value).__name__}, expected a number, a text, or an array of "
            "them."
        )
    dims = tuple(f"{name}_{k}" for k in range(array.ndim)) if dims is None else dims
    if len(dims) != array.ndim:
        raise ShapeError(
            f"result {name!r} has shape {array.shape}, but dimensions {dims}.", name, array.shape
        )
    return dims, array.astype(kind)


def final(run: Run, row: int | None = None) -> dict[str, Any]:
    """End of a run of one trajectory, or of trajectory `row`: time, states, energies and how it
    went.
    """
    if row is None and run.q.ndim != 2:
        raise ShapeError(
            f"the function returned a Run of {len(run.q)} trajectories: return one, or {{name: "
            f"array}}."
        )
    end = run.end if row is None else run.end.trajectory(row)
    own: Any = np.s_[...] if row is None else row
    at_end = *(values[own] for values in run.end_energies), end.work
    T, P, W = (
        np.append(getattr(run, name)[own], last)
        for name, last in zip(QUANTITIES, at_end, strict=True)
    )
    scale = max(np.nanmax(T), np.nanmax(P) - np.nanmin(P), np.finfo(float).tiny)
    return {
        "time": end.t,
        "q": ("coordinate", end.q),
        "qd": ("velocity", end.qd),
        "kinetic_energy": T[-1],
        "potential_energy": P[-1],
        "work": W[-1],
        "energy_drift": np.nanmax(np.abs(T + P - (T + P)[0] - W)) / scale,
        **_observables(run, {name: values[own] for name, values in run.end_observables.items()}),
        **_counts(run, row),
    }


def records(run: Run, row: int) -> dict[str, Any]:
    """All records of trajectory `row` of a run of several; NaN where it ended early."""
    return {
        "time": ("record", run.times),
        "q": (("record", "coordinate"), run.q[row]),
        "qd": (("record", "velocity"), run.qd[row]),
        **_counts(run, row),
        **{name: ("record", getattr(run, name)[row]) for name in QUANTITIES},
        **_observables(run, {n: run.observables[n][row] for n in run.system.recorded}, "record"),
    }


def _observables(run: Run, arrays: dict[str, Any], *leading: str) -> dict[str, Any]:
    """Observables of the system as results; their names are the same for all samples."""
    axes = {name: (*leading, *run.observables.declared[name].axes) for name in arrays}
    return {name: (axes[name], values) if axes[name] else values for name, values in arrays.items()}


def _counts(run: Run, row: int | None) -> dict[str, Any]:
    return {"steps": run.steps if row is None else run.steps[row], "reason": run.reasons[row or 0]}


@dataclass
class Simulated:
    """The simulation of a system, with some of its numbers, its initial states and options from the
    sample.

    Of a sample, `q`, `qd`, `q[elbow]`, `qd[0]` are initial states, names of `simulate`'s options
    are these, anything else is the path of a number of the mechanism, or a parameter of the
    Lagrangian. Samples of the same options run side by side in vector lanes, their numbers as
    inputs; where these cannot be inputs, samples that differ in initial states alone.
    """

    called = {
        name: f"initial_{name}" for name in STATES
    }  # among the results, which have such names too

    mechanism: Any
    options: dict[str, Any]
    collect: Any = "final"
    _last: Any = field(default=("", None), repr=False)  # numbers and mechanism of the sample before
    _inputs: dict[str, bool] = field(
        default_factory=dict, repr=False
    )  # whether numbers are inputs, by options

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_last": ("", None), "_inputs": {}}

    def check(self, names: Sequence[str]) -> None:
        """See that every name is one.

        Raises
        ------
        UnknownNameError, ValueError
            It is neither the path of a number, an initial state nor an option; `collect` is none; a
            duration is missing.
        """
        if not (callable(self.collect) or self.collect in COLLECTED):
            raise ValueError(
                f"collect={self.collect!r}: expected 'final', 'records', or a function of the Run."
            )
        for name in self.options:
            if name not in (*STATES, *OPTIONS):
                raise UnknownNameError("option of simulate", name, (*STATES, *OPTIONS))
        if "t" not in {*self.options, *names}:
            raise ValueError(
                "t is missing: give the duration, t=2.0, or the times of the records [s]."
            )
        for name in names:
            if name not in OPTIONS and not self._place(name):
                self._check_number(name)

    def _check_number(self, name: str) -> None:
        self.system.number(name)

    @property
    def system(self) -> System:
        """The equations of motion that are simulated."""
        return system_of(self.mechanism)

    def labels(self) -> dict[str, tuple[str, ...]]:
        """Names along the dimensions of states."""
        return {"coordinate": self.system.coordinate_names, "velocity": self.system.velocity_names}

    def __call__(self, **sample: Any) -> Any:
        return self._collected(self._run([sample]), 0)

    def together(self, batch: Sequence[tuple[int, dict[str, Any]]]) -> list[Outcome]:
        """Outcomes of a batch whose samples go side by side in one run."""
        groups: dict[tuple[Any, ...], list[tuple[int, dict[str, Any]]]] = {}
        known: dict[
            int, str
        ] = {}  # of the objects of this batch, of which many samples may have the same
        for k, sample in batch:
            options, numbers = self._parted(sample)
            same = options | ({} if self._are_inputs(options, numbers) else numbers)
            known |= {id(v): identity(v) for v in same.values() if id(v) not in known}
            groups.setdefault(tuple((name, known[id(v)]) for name, v in same.items()), []).append(
                (k, sample)
            )
        return [found for members in groups.values() for found in self._group(members)]

    def _group(self, members: list[tuple[int, dict[str, Any]]]) -> list[Outcome]:
        try:
            run = self._run([sample for _, sample in members])
        except Exception:  # of some of them: each finds its own
            half = len(members) // 2
            if not half:
                return [outcome(k, self, sample) for k, sample in members]
            return self._group(members[:half]) + self._group(members[half:])
        return [
            outcome(k, self._collected, {"run": run, "row": row})
            for row, (k, _) in enumerate(members)
        ]

    def _run(self, samples: Sequence[dict[str, Any]]) -> Run:
        """Trajectories of samples with the same options; with the same numbers where these are no
        inputs.
        """
        own, numbers = self._parted(samples[0])
        options = self.options | own
        inputs = self._are_inputs(own, numbers)
        mechanism = self.mechanism if inputs else self._with(numbers)
        q, qd = (options.pop(name, None) for name in STATES)
        q = np.tile(
            self.system.neutral() if q is None else np.asarray(q, dtype=float), (len(samples), 1)
        )
        qd = np.tile(
            np.zeros(self.system.nv) if qd is None else np.asarray(qd, dtype=float),
            (len(samples), 1),
        )
        for row, sample in enumerate(samples):
            for name, value in sample.items():
                if place := self._place(name):
                    {"q": q, "qd": qd}[place[0]][row, place[1]] = value
        parameters = (
            {name: [sample[name] for sample in samples] for name in numbers} if inputs else None
        )
        return simulate(mechanism, q, qd, parameters=parameters, **options)

    def _parted(self, sample: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Options of `simulate` in a sample, and numbers of the mechanism."""
        options = {name: value for name, value in sample.items() if name in OPTIONS}
        return options, {
            name: value
            for name, value in sample.items()
            if name not in OPTIONS and not self._place(name)
        }

    def _are_inputs(self, options: dict[str, Any], numbers: dict[str, Any]) -> bool:
        """Whether the numbers of a mechanism can be inputs of its simulation; it does not depend on
        their values.
        """
        if not numbers:
            return False
        some = {name: value for name, value in (self.options | options).items() if name in DECISIVE}
        if (key := identity(some)) not in self._inputs:
            method = some.pop("method", None) or "rk4"
            formulation = formulation_for(method, some.pop("formulation", None))
            is_saturated = some.pop("saturate", False)
            try:
                own = {name: self.system.number(name) for name in numbers}
                if is_saturated and self.system.mechanism is not None:
                    check_gears(self.system.mechanism, tuple(own))
                model = Model(self.mechanism, formulation, parameters=own)
                method_for(FirstOrderSystem(model, contact=Contact(**some)), method)
                self._inputs[key] = True
            except (
                Exception
            ):  # runs that cannot go together, or a wrong option, as the samples will say
                self._inputs[key] = False
        return self._inputs[key]

    def _with(self, numbers: dict[str, Any]) -> Any:
        """The mechanism with these numbers; the same object as the time before if they are the
        same.
        """
        (known, last), key = self._last, identity(numbers)
        if last is None or key != known:
            last = self.system.replace(numbers).source if numbers else self.mechanism
            self._last = key, last
        return last

    def _collected(self, run: Run, row: int) -> Any:
        if callable(self.collect):
            return self.collect(trajectory(run, row))
        return (final if self.collect == "final" else records)(run, row)

    def _place(self, name: str) -> tuple[str, Any] | None:
        """'q' or 'qd', and which entries of it a name of a sample means; None if it is not of
        initial states.
        """
        match = re.fullmatch(r"(qd?)(?:\[(.*)\])?", name)
        if not match:
            return None
        which, entry = match.groups()
        known = self.system.coordinate_names if which == "q" else self.system.velocity_names
        if entry is None:
            return which, np.s_[:]
        if entry in known:
            return which, known.index(entry)
        if entry.isdigit() and int(entry) < len(known):
            return which, int(entry)
        raise UnknownNameError(f"entry of {which}", entry, known)
