"""States and vectors as arrays of floats, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dalembert.errors import ParameterError
from dalembert.spatial.arrays import in_order
from dalembert.systems.kinds import system_of
from dalembert.systems.system import System


def numeric_system(source: Any, purpose: str) -> System:
    """The system that stands for a mechanism or another object, all of whose numbers have values.

    Raises
    ------
    TypeError, ParameterError
        There is none; a symbol has no value.
    """
    system = system_of(source, purpose)
    if missing := system.undetermined():
        raise ParameterError(
            f"{system.name!r} has no values of {', '.join(missing)}, and this analysis needs numbers: "
            "replace({name: value}) gives them.",
            tuple(missing),
        )
    return system


def checked_state(system: System, q: Any, qd: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """q (nq,) and qd (nv,), by default 0, of one state.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
        A vector has the wrong length, or an entry that is not finite; a quaternion is not of unit
        length.
    """
    qd = np.zeros(system.nv) if qd is None else qd
    q = in_order(q, "q", system.coordinate_names)
    qd = in_order(qd, "qd", system.velocity_names)
    q = np.asarray(q, dtype=float)
    qd = np.asarray(qd, dtype=float)
    if system.mechanism is not None:
        system.mechanism.opened(q=q, qd=qd)
    System.check(system, q, qd)
    if q.ndim != 1 or qd.ndim != 1:
        raise ValueError(f"one state of {system.name!r} at a time: q and qd are (n,) here.")
    return q, qd


def search_start(system: System, q: Any) -> Any:
    """Coordinates where a search begins, as given in full or by name; others are neutral."""
    neutral = system.neutral()
    if isinstance(q, Mapping):
        return dict(zip(system.coordinate_names, neutral, strict=True)) | dict(q)
    return neutral if q is None else q


def each_state(function: Callable[..., Any], mechanism: Any, **vectors: Any) -> Any:
    """Results of a function at one state of floats or expressions, or stacked over a batch.

    Raises
    ------
    ShapeError, ValueError, QuaternionError
    """
    columns, graph, _ = mechanism.opened(**vectors)
    kind = float if graph is None else object
    arrays = []
    for column in columns:
        entries = np.broadcast_arrays(*column)
        arrays.append(np.stack(entries, -1).astype(kind))
    if all(a.ndim == 1 for a in arrays):
        return function(*arrays)
    count = max(len(a) for a in arrays if a.ndim == 2)
    batches = [np.broadcast_to(a, (count, a.shape[-1])) for a in arrays]
    results = [function(*row) for row in zip(*batches, strict=True)]
    if isinstance(results[0], tuple):
        fields = zip(*results, strict=True)
        return type(results[0])(*map(np.stack, fields))
    return np.stack(results)
