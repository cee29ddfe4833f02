"""`compile`: the quantities of a mechanism as machine code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dalembert.compiled.kernel import Kernel
from dalembert.compiled.quantities import GUARD, QUANTITIES, Loads, traced
from dalembert.errors import ShapeError, SingularMassMatrixError, UnknownNameError
from dalembert.model.loads import check_rows
from dalembert.model.mechanism import Mechanism
from dalembert.spatial.arrays import check_finite, floats


def compile(mechanism: Mechanism, parameters: Sequence[str] = ()) -> Dynamics:
    """The quantities of a mechanism as machine code for this processor.

    Parameters
    ----------
    mechanism : Mechanism
    parameters : sequence of str
        Paths of numbers that stay inputs ('payload.mass'), given per call, also per state; all others are folded into
        the code.

    Returns
    -------
    Dynamics
        Each quantity is a method of the name of the plain function, without the mechanism; compiled at its first use.

    Raises
    ------
    UnknownNameError
        A path is not in the mechanism.
    """
    return Dynamics(mechanism, parameters)


class Dynamics:
    """Compiled quantities of a mechanism; see `compile`.

    Every method takes one state or a batch (N states in the leading axis; one row goes with many), `out=` for the
    results, `threads=` for a batch, and `parameters=` for the numbers left as inputs (by default the mechanism's). Results
    equal those of the plain functions to rounding and do not depend on N, place or threads.
    """

    def __init__(self, mechanism: Mechanism, parameters: Sequence[str] = ()):
        self.mechanism, self.parameters = mechanism, tuple(parameters)
        self._defaults = np.array([float(mechanism.number(path)) for path in self.parameters])
        self._functions: dict[tuple[tuple[str, ...], Loads], Function] = {}

    def function(self, names: Sequence[str], loads: Loads = ()) -> Function:
        """Several quantities as one function that shares their work: names such as 'mass_matrix', 'jacobian:tool'.

        The result takes q, qd, qdd, tau as far as the quantities need them, and returns a tuple of their results.
        """
        if isinstance(names, str):
            raise UnknownNameError("list of quantities", names, (f"[{names!r}]",))
        key = (tuple(names), tuple(loads))
        if key not in self._functions:
            self._functions[key] = Function(self, *key)
        return self._functions[key]

    def _single(self, name: str, vectors: dict[str, Any], external_forces=(), **options: Any) -> Any:
        loads = tuple((f.frame, f.expressed_in) for f in external_forces)
        for k, load in enumerate(external_forces):
            vectors |= {f"force{k}": load.force, f"moment{k}": load.moment, f"point{k}": load.point}
        return self.function([name], loads)._call(vectors, bare=True, **options)

    def __getstate__(self):
        return {"mechanism": self.mechanism, "parameters": self.parameters}

    def __setstate__(self, state):
        self.__init__(**state)      # type: ignore[misc]


class Function:
    """Some quantities of a mechanism, compiled together."""

    def __init__(self, dynamics: Dynamics, names: tuple[str, ...], loads: Loads):
        self.dynamics, self.names = dynamics, names
        self.program = traced(dynamics.mechanism, names, dynamics.parameters, loads)
        self.kernel = Kernel(self.program)
        self.outputs = tuple(p for p in self.program.outputs if p.name != GUARD)


    def __call__(self, *vectors: Any, out: Any = None, threads: int = 1, parameters: Any = None) -> Any:
        """Results of the quantities, in the order of their names; inputs in the order q, qd, qdd, tau."""
        names = [p.name for p in self.program.inputs if p.name != "parameters"]
        if len(vectors) != len(names):
            raise ShapeError(f"{len(vectors)} vectors given, expected {len(names)}: {', '.join(names)}.")
        return self._call(dict(zip(names, vectors, strict=True)), out=out, threads=threads, parameters=parameters)

    def _call(self, vectors: dict[str, Any], out: Any = None, threads: int = 1, parameters: Any = None,
              bare: bool = False) -> Any:
        mechanism = self.dynamics.mechanism
        if self.dynamics.parameters:
            vectors = vectors | {"parameters": self.dynamics._defaults if parameters is None else parameters}
        inputs = {p.name: floats(vectors[p.name], p.name, p.size, self._says) for p in self.program.inputs}
        rows = check_rows({name: {len(a)} if a.ndim == 2 else set() for name, a in inputs.items()})
        if "q" in inputs and mechanism.nq != mechanism.nv:
            mechanism.at(q=inputs["q"])                           # quaternions of unit length
        results = self._results(rows, out, bare)
        margins = [np.empty(rows or 1)] if len(self.program.outputs) > len(self.outputs) else []
        for name, a in inputs.items():
            if out is not None and any(np.may_share_memory(a, r) for r in results):
                inputs[name] = a.copy()
        row = self.kernel.run([*inputs.values(), *results, *margins], 1 if rows is None else rows, threads)
        if row >= 0:
            for name, a in inputs.items():
                check_finite(a, name)
        if margins and not (margins[0] > 0).all():
            self._look_again(np.flatnonzero(~(margins[0] > 0)), inputs)
        return self._shaped(results, bare)

    def _says(self, name: str, length: int) -> str:
        if name == "parameters":
            return f"one number per parameter ({', '.join(self.dynamics.parameters[:4])})"
        return self.dynamics.mechanism._says(name, length) if name in ("q", "qd", "qdd", "tau") else "a vector in space"

    def _results(self, rows: int | None, out: Any, bare: bool) -> list[np.ndarray]:
        """Arrays for the outputs: those given, checked, or new ones."""
        shapes = [p.shape if rows is None else (rows, *p.shape) for p in self.outputs]
        if out is None:
            return [np.empty(shape) for shape in shapes]
        given = [out] if isinstance(out, np.ndarray) else list(out)
        if len(given) != len(shapes):
            raise ShapeError(f"out holds {len(given)} arrays, expected {len(shapes)}.", "out")
        for a, shape, port in zip(given, shapes, self.outputs, strict=True):
            if not isinstance(a, np.ndarray) or a.dtype != np.float64 or not a.dtype.isnative or not a.flags.writeable:
                raise TypeError(f"out for {port.name} must be a writeable float64 array.")
            if a.shape != shape:
                raise ShapeError(f"out for {port.name} has shape {a.shape}, expected {shape}.", "out", a.shape, shape)
            if not a.flags.c_contiguous and not _rows_contiguous(a):
                raise TypeError(f"out for {port.name} must have contiguous rows.")
        return given

    def _shaped(self, results: list[np.ndarray], bare: bool) -> Any:
        """Results per quantity: an array, a number, or the named tuple of a quantity with several."""
        found, queue = [], list(results)
        for name in self.names:
            fields = [p for p in self.outputs if p.name.startswith(name + ".")]
            if fields:
                parts, queue = queue[:len(fields)], queue[len(fields):]
                found.append(_tuple_type(name)(*parts))
            else:
                first, queue = queue[0], queue[1:]
                found.append(first.item() if first.ndim == 0 else first)
        return found[0] if bare else tuple(found)

    def _look_again(self, rows: np.ndarray, inputs: dict[str, np.ndarray]) -> None:
        """The plain function on each doubtful state: it raises where accelerations are not determined."""
        mechanism = self.dynamics.mechanism
        for row in rows:
            state = {name: a if a.ndim == 1 else a[row % len(a)] for name, a in inputs.items()}
            if self.dynamics.parameters:
                mechanism = self.dynamics.mechanism.replace(
                    dict(zip(self.dynamics.parameters, map(float, state["parameters"]), strict=True)))
            for name in self.names:
                quantity = QUANTITIES[name.split(":")[0]]
                if "mass_matrix" in name or "forward" in name or name == "linearize":
                    try:
                        quantity.function(mechanism, *(state[i] for i in quantity.inputs))
                    except SingularMassMatrixError as error:
                        where = f" in row {row}" if any(a.ndim == 2 for a in inputs.values()) else ""
                        message = str(error).replace(f"joint {error.joint!r}", f"joint {error.joint!r}{where}", 1)
                        raise SingularMassMatrixError(message, error.joint, error.body, error.pivot,
                                                      int(row) if where else None) from None


def _rows_contiguous(a: np.ndarray) -> bool:
    """Whether each state's entries lie side by side."""
    return a.ndim > 0 and (len(a) == 0 or a[0].flags.c_contiguous)


def _tuple_type(name: str) -> Callable[..., Any]:
    import dalembert.formulations.newton_euler.derivatives as derivatives

    return {"inverse_dynamics_derivatives": derivatives.InverseDynamicsDerivatives,
            "forward_dynamics_derivatives": derivatives.ForwardDynamicsDerivatives,
            "linearize": derivatives.Linearization}[name]


def _method(name: str) -> Callable[..., Any]:
    """The method of a quantity: the plain function's arguments without the mechanism."""
    quantity = QUANTITIES[name]

    def method(self: Dynamics, *vectors: Any, external_forces: Any = (), out: Any = None, threads: int = 1,
               parameters: Any = None, frame: str | None = None, expressed_in: str | None = None, **named: Any) -> Any:
        given = dict(zip(quantity.inputs, vectors, strict=False)) | named
        extra = vectors[len(quantity.inputs):]
        if quantity.framed:
            frame, expressed_in = (*extra, frame, expressed_in)[:2] if extra else (frame, expressed_in)
        elif extra:
            listed = ", ".join(quantity.inputs)
            raise TypeError(f"{name} takes {len(quantity.inputs)} vectors ({listed}), {len(vectors)} given.")
        missing = [i for i in quantity.inputs if i not in given]
        if missing or set(given) - set(quantity.inputs):
            wrong = ", ".join(missing or sorted(set(given) - set(quantity.inputs)))
            raise TypeError(f"{name} takes {', '.join(quantity.inputs)}: {'missing' if missing else 'unknown'} {wrong}.")
        full = ":".join([name, *(x for x in (frame, expressed_in) if x)]) if quantity.framed else name
        return self._single(full, given, external_forces, out=out, threads=threads, parameters=parameters)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = (quantity.function.__doc__ or "").split("\n\n")[0] + f"\n\nCompiled; as dalembert.{name}.\n"
    return method


for _name in QUANTITIES:
    setattr(Dynamics, _name, _method(_name))

