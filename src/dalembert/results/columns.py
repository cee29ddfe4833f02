"""Records of one trajectory as named columns: of CSV, and of a pandas DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from dalembert.results.observables import Observable
from dalembert.results.records import Records


def columns(run: Records) -> dict[str, np.ndarray]:
    """Columns by name: time, states, energies, then the entries of observables."""
    system = run.system
    rates = [f"rate of {name}" for name in system.velocity_names]
    found = {"time": run.times}
    found |= dict(zip(system.coordinate_names, run.q.T, strict=True))
    found |= dict(zip(rates, run.qd.T, strict=True))
    found |= {
        "kinetic energy": run.kinetic_energy,
        "potential energy": run.potential_energy,
        "work": run.work,
    }
    for name, values in run.observables.known().items():
        declared = run.observables.declared[name]
        if declared.is_of_records:
            found |= _entries(name, declared, run, values)
    return found


def _entries(name: str, declared: Observable, run: Records, values: Any) -> dict[str, np.ndarray]:
    """Columns of an observable: one, or one for each of its entries."""
    sizes = values.shape[1:]
    if not sizes:
        return {name: values}
    before = [_along(axis, n, run) for axis, n in zip(declared.axes, sizes[:-1], strict=False)]
    last = declared.names(run.system) or tuple(map(str, range(sizes[-1])))
    labels = product(*before, last)
    flat = values.reshape(len(values), -1).T
    return {
        f"{name} of {' '.join(label)}": column for label, column in zip(labels, flat, strict=True)
    }


def _along(axis: str, size: int, run: Records) -> Sequence[str]:
    """Names of the entries along an axis, as an observable on it alone has them, else numbers."""
    alone = (d.names(run.system) for d in run.observables.declared.values() if d.axes == (axis,))
    numbers = tuple(map(str, range(size)))
    return next((names for names in alone if len(names) == size), numbers)
