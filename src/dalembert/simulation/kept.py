"""What is compiled for a mechanism, kept while it lives, so that simulating it again costs no more than the motion."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import Any

from dalembert.compiled.dynamics import compile as compiled

MOST = 64
_kept: dict[tuple[int, Hashable], tuple[Any, Any]] = {}


def kept(mechanism: Any, key: Hashable, make: Callable[[], Any]) -> Any:
    """What `make` gave for this mechanism and key the last time, or gives now; what was made first goes first."""
    owner, found = _kept.get((id(mechanism), key), (None, None))
    if owner is None or owner() is not mechanism:
        found = make()
        while len(_kept) >= MOST:
            _kept.pop(next(iter(_kept)))
        _kept[id(mechanism), key] = weakref.ref(mechanism), found
    return found


def dynamics_of(mechanism: Any, parameters: tuple[str, ...] = ()) -> Any:
    """Compiled quantities of a mechanism or a Lagrangian; of a mechanism with numbers that are inputs."""
    return kept(mechanism, ("dynamics", parameters), lambda: compiled(mechanism, parameters=parameters))
