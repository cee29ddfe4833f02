"""Internal states of a system to begin with; multipliers of the vakonomic principle are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dalembert.arguments import real_array
from dalembert.errors import ConstraintError, ShapeError, UnknownNameError
from dalembert.systems.system import System


def internal_start(system: System, multipliers0: Any) -> np.ndarray:
    """Values to begin with, (n,) or (N, n); multipliers0: (k,), (N, k), or {constraint: (k,)}, of
    the k states that have no default.

    Raises
    ------
    ConstraintError
        Multipliers have no default, and none are given; there are none.
    ShapeError, TypeError, UnknownNameError
        There are others than k; they are no numbers; there is no constraint of a name.
    """
    start = np.asarray(system.internal_states, dtype=float)
    names = [name for name, x in zip(system.internal_names, start, strict=True) if np.isnan(x)]
    if multipliers0 is None:
        if names:
            raise _needed(system, names)
        return start
    if not names:
        raise ConstraintError(
            f"multipliers0={multipliers0!r}: no constraint of {system.name!r} has multipliers that "
            "are states. The principle 'vakonomic' and TwoWay have them: leave multipliers0 out."
        )
    values = _values(names, multipliers0)
    whole = np.broadcast_to(start, (*values.shape[:-1], len(start))).copy()
    whole[..., np.isnan(start)] = values
    return whole


def _needed(system: System, names: list[str]) -> ConstraintError:
    """The error of multipliers that are not given."""
    return ConstraintError(
        f"multipliers0= is needed: {', '.join(names)} of {system.name!r} are states, whose values at "
        "the start choose one of many motions, and 0 is no default. A motion that stays near a known "
        "one begins on its stable manifold: da.stable_multipliers(...) gives these values.",
        names[0].partition(".")[0],
    )


def _values(names: list[str], given: Any) -> np.ndarray:
    """The given multipliers, (k,) or (N, k)."""
    if isinstance(given, Mapping):
        known = tuple(dict.fromkeys(name.rpartition(".")[0] for name in names))
        if unknown := [name for name in given if name not in known]:
            raise UnknownNameError("constraint with multipliers", unknown[0], known)
        if missing := [name for name in known if name not in given]:
            raise UnknownNameError("multipliers0 of", missing[0], tuple(given))
        parts = [np.atleast_1d(real_array(f"multipliers0[{c!r}]", given[c])) for c in known]
        given = np.concatenate(parts, axis=-1)
    values = np.atleast_1d(real_array("multipliers0", given)).astype(float)
    if values.ndim > 2 or values.shape[-1] != len(names) or not np.isfinite(values).all():
        raise ShapeError(
            f"multipliers0 has shape {values.shape}, expected ({len(names)},) or (N, {len(names)}) "
            f"finite numbers: {', '.join(names)}.",
            "multipliers0",
            values.shape,
            (len(names),),
        )
    return values
