"""Memo of compiled programs, kept while a mechanism lives, so that simulating it again costs no
more than the motion.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dalembert.compiled.dynamics import compile as compiled
from dalembert.model.content import content
from dalembert.model.mechanism import Mechanism
from dalembert.tracing.quantities import QUANTITIES

MOST = 64
PLAIN = 4  # uses of a plain function, which together take less time than compiling it,
LONGEST = 100  # unless there are more velocities
_kept: dict[Hashable, tuple[Any, Any]] = {}
_changing = threading.Lock()  # held while entries are stored and dropped, not while they are made


def kept(mechanism: Any, key: Hashable, make: Callable[[], Any]) -> Any:
    """The value of `make` for this mechanism and key, made at the first use; the oldest entry is
    dropped.

    Joint types of a user's own are part of the key by all that they do and hold; where that cannot
    be told, nothing is kept.
    """
    changeable = getattr(mechanism, "changeable", ())
    types = content(changeable) if changeable else ""
    if types is None:
        return make()
    key = id(mechanism), types, key
    owner, found = _kept.get(key, (None, None))
    if owner is None or owner() is not mechanism:
        found = make()
        with _changing:
            while len(_kept) >= MOST:
                del _kept[next(iter(_kept))]
            _kept[key] = weakref.ref(mechanism), found
    return found


def dynamics_of(mechanism: Any, parameters: tuple[str, ...] = ()) -> Any:
    """Compiled quantities of a mechanism or a Lagrangian; of a mechanism with numbers that are
    inputs.
    """
    return kept(
        mechanism, ("dynamics", parameters), lambda: compiled(mechanism, parameters=parameters)
    )


@dataclass
class _Uses:
    """How often quantities were used, and what is compiled of them."""

    count: int = 0
    compiled: list[Callable[..., Any]] = field(default_factory=list)


def quantities_of(mechanism: Mechanism, *names: str) -> list[Callable[..., Any]]:
    """Quantities of a mechanism for a few states: at their first uses the plain functions, which
    are not worth compiling for them, then the compiled ones.
    """
    uses = kept(mechanism, ("at a few states", *names), _Uses)
    uses.count += 1
    if uses.count <= PLAIN and mechanism.nv <= LONGEST:
        return [partial(QUANTITIES[name].function, mechanism) for name in names]
    if not uses.compiled:
        dynamics = dynamics_of(mechanism)
        uses.compiled = [getattr(dynamics, name) for name in names]
    return uses.compiled
