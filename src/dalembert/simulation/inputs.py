"""Numbers of a mechanism or parameters of a system that are inputs of its motion: the same code
serves all their values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dalembert.compiled.memo import kept
from dalembert.errors import ModelError, ParameterError, ShapeError
from dalembert.expr import Graph, symbols
from dalembert.model.mechanism import Mechanism
from dalembert.model.paths import check_inputs
from dalembert.systems.kinds import system_of


def numbers_of(source: Any, given: Mapping[str, Any] | None) -> tuple[tuple[str, ...], np.ndarray]:
    """Paths of numbers, or names of symbols, and their values (m,), or (N, m) of N trajectories.

    Raises
    ------
    ParameterError, UnknownNameError, ShapeError, TypeError, ValueError, ModelError
        A number cannot be an input; there is none at a path; values are no numbers, or of no
        mechanism.
    """
    if not isinstance(given, (Mapping, type(None))):
        raise TypeError(
            f"parameters={given!r} ({type(given).__name__}): expected {{path: number}}, as "
            "{'hand.mass': 0.5}."
        )
    if not given:
        return (), np.zeros(0)
    paths = tuple(given)
    system = system_of(source, "cannot be simulated")
    if (mechanism := system.mechanism) is not None:
        kept(mechanism, ("inputs", paths), lambda: _check(mechanism, paths))
    elif not system.parameters:
        raise ParameterError(
            f"{system.name!r} has no parameters: its functions hold no symbols of their own.", paths
        )
    else:
        for path in paths:
            system.number(path)  # raises if it is none
    arrays = [np.asarray(value, dtype=float) for value in given.values()]
    lengths = {path: len(a) for path, a in zip(paths, arrays, strict=True) if a.ndim == 1}
    if any(a.ndim > 1 for a in arrays) or len({*lengths.values()} - {1}) > 1:
        shapes = ", ".join(f"{path!r} {a.shape}" for path, a in zip(paths, arrays, strict=True))
        raise ShapeError(
            f"parameters have shapes {shapes}: expected a number, or one per trajectory, of each.",
            "parameters",
        )
    values = np.stack(np.broadcast_arrays(*arrays), axis=-1)
    rows = values.reshape(-1, len(paths))
    for row in {
        tuple(rows.min(axis=0).tolist()),
        tuple(rows.max(axis=0).tolist()),
    }:  # admissible numbers are a range
        system.replace(dict(zip(paths, row, strict=True)))  # raises if it is none
    return paths, values


def _check(mechanism: Mechanism, paths: tuple[str, ...]) -> bool:
    """See that the numbers at some paths can be inputs."""
    check_inputs(mechanism, paths, "a simulation")
    with Graph():
        try:
            mechanism.replace(dict(zip(paths, symbols("input", len(paths)), strict=True)))
        except ModelError as error:  # of numbers that may be nothing but 0
            raise ParameterError(
                f"{', '.join(paths)} cannot be inputs of a simulation: {error}", paths
            ) from None
    return True
