"""Compiled quantities of a system that is no tree of bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.codegen.symbols import without_collection
from dalembert.errors import ParameterError, unknown_attribute
from dalembert.expr import Graph
from dalembert.formulations.newton_euler.derivatives import RESULT_TYPES
from dalembert.model.external_forces import ExternalForce
from dalembert.model.numbers import is_symbolic
from dalembert.native.function import CompiledFunction, only_result
from dalembert.spatial.arrays import Array
from dalembert.systems.system import System
from dalembert.tracing.quantities import OF_MOTION, QUANTITIES

if TYPE_CHECKING:
    from dalembert.codegen.sources import Described


CALLS = """

Takes q (nq,) [rad, m], qd, qdd, tau, p (nv,) [SI], the time t [s], by position or by name, and
`parameters` (m,) if the system has any; batches (N, ...) in the leading axis. Options: out= for the
results, threads= for a batch. It is compiled at its first call.

Raises
------
ShapeError, TypeError
    An input has the wrong length, or batches differ; it is left out, or holds no numbers.
ValueError, OverflowedError
    An input is not finite; a result is not finite.
"""  # help on every quantity


@dataclass(frozen=True)
class Gathered:
    """Results of quantities of which some are named tuples.

    names : of the quantities
    make : of their results
    """

    names: tuple[str, ...]
    make: Callable[[tuple[Any, ...]], Any]

    def __call__(self, arrays: tuple[Any, ...]) -> Any:
        rest = iter(arrays)
        found = []
        for name in self.names:
            fields = RESULT_TYPES.get(name)
            found.append(fields(*islice(rest, len(fields._fields))) if fields else next(rest))
        return self.make(tuple(found))


class SystemDynamics:
    """The quantities of a system as machine code; see `compile`.

    Every quantity is a `CompiledFunction` of q (nq,) [rad, m], qd, qdd, tau, p (nv,) [SI] and the
    time t [s], 0 unless given, as its plain function, and of `parameters` (m,) if the system has
    any; batches (N, ...) in the leading axis; options out= for results, threads= for a batch.
    Shape and unit of its results stand in its help. It is compiled at its first call.

    Raises
    ------
    ShapeError, TypeError
        An input has the wrong length, or batches differ; it is left out, or holds no numbers.
    ValueError, OverflowedError
        An input is not finite; a result is not finite.
    ParameterError, UnknownNameError
        A parameter has no value and is not named; there is none of that name.

    Examples
    --------
    >>> import dalembert as da
    >>> pendulum = da.lagrangian_system(lambda q, qd, t: qd[0]**2 / 2 + 9.81 * da.cos(q[0]), "angle")
    >>> da.compile(pendulum).forward_dynamics([0.5], [0.0], [0.0]).round(3)
    array([-4.703])
    """

    lagrangian: CompiledFunction[float | Array]
    momenta: CompiledFunction[Array]
    energy: CompiledFunction[float | Array]
    kinetic_energy: CompiledFunction[float | Array]
    potential_energy: CompiledFunction[float | Array]
    energy_rate: CompiledFunction[float | Array]
    mass_matrix: CompiledFunction[Array]
    bias_force: CompiledFunction[Array]
    lagrangian_gradient: CompiledFunction[Array]
    generalized_forces: CompiledFunction[Array]
    inverse_dynamics: CompiledFunction[Array]
    forward_dynamics: CompiledFunction[Array]
    velocities: CompiledFunction[Array]

    def __init__(self, system: System, parameters: Sequence[str] = (), tree: Any = None):
        self._equations, self.system = system, system.source
        self._tree = tree
        self.parameters = tuple(parameters) or system.parameters
        for name in self.parameters:
            system.number(name)  # raises if it is none
        if missing := [name for name in system.parameters if name not in self.parameters]:
            raise ParameterError(
                f"{system.name!r} has no values of {', '.join(missing)}: name them among the "
                "parameters, or give them values by replace({name: value}).",
                tuple(missing),
            )
        self._functions: dict[Any, CompiledFunction[Any]] = {}

    def __repr__(self) -> str:
        inputs = f", inputs {', '.join(self.parameters)}" if self.parameters else ""
        return f"<SystemDynamics of {self._equations.name!r}{inputs}>"

    def function(self, names: Sequence[str]) -> CompiledFunction[tuple[Any, ...]]:
        """Several quantities as one function, which returns a tuple of their results.

        Raises
        ------
        UnknownNameError
            A quantity is unknown.

        Examples
        --------
        >>> import dalembert as da
        >>> pendulum = da.lagrangian_system(lambda q, qd, t: qd[0]**2 / 2 + 9.81 * da.cos(q[0]), "angle")
        >>> M, h = da.compile(pendulum).function(["mass_matrix", "bias_force"])([0.5], [0.0])
        >>> h.round(3)
        array([4.703])
        """
        if self._tree is not None and all(map(self._is_of_tree, names)):
            of_tree: Any = self._tree.function(names)
            return of_tree  # type: ignore[no-any-return]
        return self._compiled(tuple(names), tuple)

    def _is_of_tree(self, name: str) -> bool:
        """Whether constraints change nothing of a quantity of a mechanism."""
        return name.partition(":")[0] in QUANTITIES and name not in OF_MOTION

    def source(
        self, target: str, names: Sequence[str], prefix: str | None = None
    ) -> dict[str, str]:
        """Source code of quantities, a function for each: file name -> text; as `Dynamics.source`.

        Raises
        ------
        UnknownNameError, ValueError
            A target or quantity is unknown; there are no names.

        Examples
        --------
        >>> import dalembert as da
        >>> pendulum = da.lagrangian_system(lambda q, qd, t: qd[0]**2 / 2 + 9.81 * da.cos(q[0]), "angle")
        >>> list(da.compile(pendulum).source("numpy", ["mass_matrix"]))
        ['system_mass_matrix.py']
        """
        from dalembert.codegen import sources

        described = {name: self._described(name) for name in sources.checked_names(names)}
        return sources.texts(described, target, self._equations.name if prefix is None else prefix)

    def write(
        self,
        folder: Any,
        target: str,
        names: Sequence[str],
        prefix: str | None = None,
        overwrite: bool = False,
    ) -> list[Path]:
        """Write the files of `source` to a folder, made if need be; their paths; as
        `Dynamics.write`.

        Raises
        ------
        DalembertError
            A file is there already with other text, and `overwrite` is not given.

        Examples
        --------
        >>> import dalembert as da
        >>> import tempfile
        >>> pendulum = da.lagrangian_system(lambda q, qd, t: qd[0]**2 / 2 + 9.81 * da.cos(q[0]), "angle")
        >>> [file.name for file in da.compile(pendulum).write(tempfile.mkdtemp(), "numpy", ["mass_matrix"])]
        ['system_mass_matrix.py']
        """
        from dalembert.codegen import sources

        return sources.write(folder, self.source(target, names, prefix), overwrite)

    def _described(self, name: str) -> Described:
        from dalembert.codegen.sources import Described, notes

        if self._tree is not None and self._is_of_tree(name):
            return self._tree._described(name)
        program = self.function([name]).program
        text = f"{name} of the system '{self._equations.name}'."
        entries = {**self._entry_names, "parameters": self.parameters}
        return Described(program, notes(text, program, entries), {})

    @property
    def _entry_names(self) -> dict[str, tuple[str, ...]]:
        """Names of the entries of vectors."""
        return {
            **dict.fromkeys(("qd", "qdd", "tau", "p"), self._equations.velocity_names),
            "q": self._equations.coordinate_names,
        }

    def __dir__(self) -> list[str]:
        return sorted(
            (*self._equations.quantities, "function", "parameters", "source", "system", "write")
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> CompiledFunction[Any]:
            if (
                found := self.__dict__.get("_functions", {}).get(((name,), only_result))
            ) is not None:
                return found
            if name.startswith("_") or name not in self._equations.quantities:
                raise unknown_attribute(self, name)
            if self._tree is not None and self._is_of_tree(name):
                return getattr(self._tree, name)
            return self._compiled((name,), only_result)

    def _compiled(
        self, names: tuple[str, ...], make: Callable[[tuple[Any, ...]], Any]
    ) -> CompiledFunction[Any]:
        if (names, make) not in self._functions:
            with Graph(), without_collection():
                inputs, outputs = self._equations.traced(names)
            if "parameters" in inputs:
                of_name = dict(zip(self._equations.parameters, inputs["parameters"], strict=True))
                inputs["parameters"] = np.array(
                    [of_name[name] for name in self.parameters], dtype=object
                )
            shapes = {name: () if name == "t" else (len(x),) for name, x in inputs.items()}
            arrays = {name: np.asarray(x, dtype=object) for name, x in outputs.items()}
            gather = make if arrays.keys() == set(names) else Gathered(names, make)
            function: CompiledFunction[Any] = CompiledFunction(
                "_".join(names), shapes, inputs, arrays, gather, checked=True
            )
            function.entry_names = self._entry_names
            if self._tree is not None:
                function.refuse = partial(_refuse_external_forces, names)
            if self._equations.constraints and not self.parameters:
                function.explain = partial(self._explain, names)
            if "parameters" in shapes and (values := self._values) is not None:
                function.defaults["parameters"] = values
            function.__doc__ = "\n".join(map(self._said, names)) + CALLS
            self._functions[names, make] = function
        return self._functions[names, make]

    def _explain(self, names: tuple[str, ...], inputs: Mapping[str, np.ndarray], rows: int) -> None:
        """Raise the plain functions' error at a state where a result is not finite."""
        for row in range(rows):
            state = {name: a if a.ndim == 1 else a[row % len(a)] for name, a in inputs.items()}
            state |= {"t": state["t"][0]} if "t" in state else {}
            for name in names:
                quantity = self._equations.quantity(name)
                quantity.function(*(state[i] for i in quantity.inputs))

    @property
    def _values(self) -> np.ndarray | None:
        """Numbers of the parameters in the system; None where one has no value."""
        numbers = [self._equations.number(path) for path in self.parameters]
        if any(is_symbolic(x) or np.isnan(float(x)) for x in numbers):
            return None
        return np.array(numbers, dtype=float)

    def _said(self, name: str) -> str:
        """Inputs, results and description of a quantity, for help."""
        quantity = self._equations.quantity(name)
        inputs = ", ".join("t=0.0" if name == "t" else name for name in quantity.inputs)
        return f"{name}({inputs}): {quantity.result}, {quantity.description}."

    def __getstate__(self) -> Any:
        return {"system": self._equations, "parameters": self.parameters, "tree": self._tree}

    def __setstate__(self, state: Any) -> None:
        self.__init__(**state)  # type: ignore[misc]


def _refuse_external_forces(
    names: Sequence[str], arrays: Sequence[Any], named: Mapping[str, Any]
) -> None:
    """Raise a TypeError that says how external forces act, if some are given."""
    entries = [x for given in arrays if isinstance(given, (list, tuple)) for x in given]
    if "external_forces" in named or any(isinstance(x, ExternalForce) for x in entries):
        raise TypeError(
            f"{', '.join(names)} takes no external forces: add what they do to tau. It is the "
            "inverse_dynamics of the tree, mechanism.without('constraints'), less that with "
            "external_forces=; the plain functions and da.simulate take them as they are."
        )
