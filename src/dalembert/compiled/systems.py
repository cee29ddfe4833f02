"""Compiled quantities of a user's own Lagrangian."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dalembert.compiled.function import CompiledFunction, only_result
from dalembert.formulations.lagrange.system import LagrangianSystem


class SystemDynamics:
    """The quantities of a `LagrangianSystem` as machine code; see `compile`.

    Every quantity is a `CompiledFunction` of q, qd, qdd, tau (vectors), t (a number) as its plain function, none of them
    left out, and of parameters (a vector) if the system has any; batches in the leading axis. It is compiled at its first
    call.
    """

    def __init__(self, system: LagrangianSystem):
        self.system = system
        self._functions: dict[Any, CompiledFunction] = {}

    def function(self, names: Sequence[str]) -> CompiledFunction:
        """Several quantities as one function, which returns a tuple of their results."""
        return self._compiled(tuple(names), tuple)

    def __getattr__(self, name: str) -> CompiledFunction:
        if name.startswith("_") or name not in self.system.quantities:
            known = ", ".join(self.system.quantities)
            raise AttributeError(f"{self.system.name!r} has no quantity {name!r} (known: {known}).")
        return self._compiled((name,), only_result)

    def _compiled(self, names: tuple[str, ...], make: Callable[[tuple[Any, ...]], Any]) -> CompiledFunction:
        if (names, make) not in self._functions:
            inputs, outputs = self.system.traced(names)
            shapes = {name: () if name == "t" else (len(x),) for name, x in inputs.items()}
            arrays = {name: np.asarray(x, dtype=object) for name, x in outputs.items()}
            self._functions[names, make] = CompiledFunction("_".join(names), shapes, inputs, arrays, make)
        return self._functions[names, make]

    def __getstate__(self) -> Any:
        return {"system": self.system}

    def __setstate__(self, state: Any) -> None:
        self.__init__(**state)      # type: ignore[misc]
