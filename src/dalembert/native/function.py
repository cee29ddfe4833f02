"""`function`: a Python function of vectors as machine code, with its exact derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar, overload

import numpy as np

from dalembert.codegen.blocks import CONDITIONS
from dalembert.codegen.program import STATUS, program_of
from dalembert.codegen.symbols import vector_of_symbols, without_collection
from dalembert.codegen.targets.llvm import FINE
from dalembert.errors import ShapeError, UnknownNameError
from dalembert.expr import Expr, Graph, constant, gradient, jacobian, pack, unpack
from dalembert.native import cache
from dalembert.native.builtin import Layout, builtin
from dalembert.native.calls import apart, common_rows, number_or_array, results_for, thread_count
from dalembert.native.kernel import Kernel, machine_for, object_code
from dalembert.spatial.arrays import Array, check_finite, finite_results, floats, in_order

RESERVED = ("out", "threads")  # arguments of calls besides the inputs
RESULT = "result"  # name of the output of a function that returns one array

Shape = tuple[int, ...]
Result = TypeVar("Result")


@overload
def function(
    f: Callable[..., Expr], /, **inputs: int | Shape
) -> CompiledFunction[float | Array]: ...
@overload
def function(
    f: Callable[..., np.ndarray[Any, Any]], /, **inputs: int | Shape
) -> CompiledFunction[Array]: ...
@overload
def function(f: Callable[..., Result], /, **inputs: int | Shape) -> CompiledFunction[Result]: ...
def function(f: Callable[..., Any], /, **inputs: int | Shape) -> CompiledFunction[Any]:
    """A Python function as machine code for this processor: `da.function(lambda q: da.sin(q).sum(),
    q=(7,))`.

    Parameters
    ----------
    f : callable
        It is called once, by keyword, with arrays of symbols (a scalar symbol for shape ()), and
        returns an array or number, or a tuple, dict or named tuple of them. Branches on values are
        written with `da.where`.
    **inputs : int or tuple of int
        Name and shape of each input, in the order of positional arguments.

    Returns
    -------
    CompiledFunction
        Takes each input as an array of its shape, or with a leading batch axis, and returns what f
        returned.

    Raises
    ------
    TypeError
        A shape is none; f returns something else than numbers and expressions.
    ProgramError
        The results depend on symbols that are not inputs.

    Examples
    --------
    >>> import dalembert as da
    >>> f = da.function(lambda q: da.sin(q).sum(), q=(2,))
    >>> round(f([0.5, 1.0]), 6)
    1.320897
    >>> f.gradient("q")([0.0, 0.0])
    array([1., 1.])
    """
    shapes = {name: _shape(name, shape) for name, shape in inputs.items()}
    with Graph(), without_collection():
        vectors = {
            name: vector_of_symbols(name, int(np.prod(shape, dtype=int)))
            for name, shape in shapes.items()
        }
        found = f(**{name: vectors[name].reshape(shape)[()] for name, shape in shapes.items()})
        make, outputs = _opened(found)
        label = str(getattr(f, "__name__", type(f).__name__))
        return CompiledFunction(label, shapes, vectors, outputs, make)


class CompiledFunction(Generic[Result]):
    """A traced function; see `function`. Compiled at its first call; values that are not finite
    pass through.

    Quantities of systems are `checked`: values that are not finite are errors, in inputs and in
    results, and the time t is 0 unless it is given.

    Examples
    --------
    >>> import dalembert as da
    >>> f = da.function(lambda x: x * x, x=())
    >>> f(3.0), f([1.0, 2.0])
    (9.0, array([1., 4.]))
    """

    def __init__(
        self,
        label: str,
        shapes: Mapping[str, Shape],
        vectors: Mapping[str, np.ndarray],
        outputs: Mapping[str, np.ndarray],
        make: Callable[[tuple[Any, ...]], Any],
        checked: bool = False,
    ):
        self.checked = checked
        self.defaults: dict[str, Any] = {name: 0.0 for name in shapes if checked and name == "t"}
        # raises an error that says more than a result that is not finite
        self.explain: Callable[[Mapping[str, np.ndarray], int], None] | None = None
        self.refuse: Callable[[Sequence[Any], Mapping[str, Any]], None] | None = None
        self.label = label
        self.shapes = shapes
        self._vectors = vectors
        self._outputs = outputs
        self._make = make
        self.program = program_of(vectors, outputs)
        self._front: Callable[..., Any] | None = None
        self.entry_names: Mapping[
            str, Sequence[str]
        ] = {}  # of inputs whose entries have names, for tables

    def __call__(self, *arrays: Any, **options: Any) -> Result:
        """Results for one state, or for a batch in the leading axis; inputs in their order or by
        name.

        Options: out= for the results, threads= for a batch.
        """
        if self._front is None:
            self._kernel = self._compiled()
            self._front = self._called_directly() or self._call
        return self._front(*arrays, **options)

    def _compiled(self) -> Kernel:
        """The kernel, from the cache if it is there."""
        machine = machine_for(checked=self.checked)
        p = self.program
        *_, code = cache.kept(
            (p.text(), repr(machine)), lambda: (p.inputs, p.outputs, object_code(p, machine))
        )
        return Kernel(code)

    def _called_directly(self) -> Callable[..., Any] | None:
        """A built-in that calls the kernel itself where it can; inputs that are no vectors are
        reshaped by Python.
        """
        if any(len(shape) != 1 for shape in self.shapes.values()):
            return None
        layout = Layout(
            tuple(n for (n,) in self.shapes.values()),
            tuple(p.shape for p in self.program.outputs),
            False,
        )
        plain = self._make is only_result and self.program.outputs[0].shape != ()
        return builtin(
            "function", self._kernel, layout, self._call, "", None if plain else self._assembled
        )

    def _assembled(self, results: Sequence[np.ndarray]) -> Any:
        return self._make(tuple(map(number_or_array, results)))

    def _call(self, *arrays: Any, out: Any = None, threads: int = 1, **named: Any) -> Any:
        given = self._named(arrays, named)
        threads = thread_count(threads)
        inputs = {name: self._vector(given[name], name) for name in self.shapes}
        rows = common_rows(inputs)
        results = results_for(self.program.outputs, rows, out)
        if out is not None:
            inputs = apart(inputs, results)
        if (
            self._kernel.run([*inputs.values()], results, 1 if rows is None else rows, threads)
            != FINE
        ):
            for name, a in inputs.items():
                check_finite(a, name)
            if self.explain is not None:
                self.explain(inputs, 1 if rows is None else rows)
            for a in results:
                finite_results(a)
        return self._assembled(results)

    def jacobian(self, name: str) -> CompiledFunction[Array]:
        """Derivatives of each result, of shape S, by an input of shape X: shape (*S, *X).

        Raises
        ------
        UnknownNameError
            There is no input of that name.

        Examples
        --------
        >>> import dalembert as da
        >>> f = da.function(lambda x: x * x, x=(2,))
        >>> f.jacobian("x")([1.0, 2.0])
        array([[2., 0.],
               [0., 4.]])
        """
        return self._derived("jacobian", name, _jacobian)

    def gradient(self, name: str) -> CompiledFunction[Array]:
        """Derivatives of each result, which must be a number, by an input of shape X: shape X.

        Raises
        ------
        UnknownNameError
            There is no input of that name.
        ShapeError
            A result is no number.

        Examples
        --------
        >>> import dalembert as da
        >>> f = da.function(lambda x: (x * x).sum(), x=(2,))
        >>> f.gradient("x")([1.0, 2.0])
        array([2., 4.])
        """
        return self._derived("gradient", name, self._gradient)

    def hessian(self, name: str) -> CompiledFunction[Array]:
        """Second derivatives of each result, which must be a number, by an input of shape X: shape
        (*X, *X).

        Raises
        ------
        UnknownNameError
            There is no input of that name.
        ShapeError
            A result is no number.

        Examples
        --------
        >>> import dalembert as da
        >>> f = da.function(lambda x: (x * x).sum(), x=(2,))
        >>> f.hessian("x")([1.0, 2.0])
        array([[2., 0.],
               [0., 2.]])
        """
        return self._derived("hessian", name, lambda y, x: _jacobian(self._gradient(y, x), x))

    def source(self, target: str) -> dict[str, str]:
        """File name -> text of the function as source code; target 'c', 'numpy' or 'llvm'.

        Raises
        ------
        UnknownNameError
            The target is unknown.

        Examples
        --------
        >>> import dalembert as da
        >>> f = da.function(lambda x: x * x, x=())
        >>> list(f.source("numpy"))
        ['lambda_.py']
        """
        from dalembert.codegen import sources

        return sources.texts({self.label: sources.Described(self.program, (), {})}, target, "")

    def _derived(
        self, what: str, name: str, by: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> CompiledFunction[Array]:
        """A new function of the same inputs, with the derivative of each result."""
        if name not in self.shapes:
            raise UnknownNameError("input", name, tuple(self.shapes))
        x = self._vectors[name].reshape(self.shapes[name])
        with without_collection():
            found = {key: by(y, x) for key, y in self._outputs.items()}
            label = f"{self.label}_{what}_{name}"
            return CompiledFunction(
                label, self.shapes, self._vectors, found, self._make, self.checked
            )

    def _gradient(self, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        if y.ndim:
            raise ShapeError(
                f"{self.label} returns shape {y.shape}, expected one number: for more use jacobian.",
                "",
                y.shape,
                (),
            )
        return np.asarray(
            gradient(y[()], x) if x.size else np.empty(x.shape, dtype=object), dtype=object
        )

    def _named(self, arrays: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        """Arguments by name."""
        if self.refuse is not None:
            self.refuse(arrays, named)
        given = dict(zip(self.shapes, arrays, strict=False))
        values = self.defaults | given | named
        if (
            len(arrays) > len(self.shapes)
            or given.keys() & named.keys()
            or values.keys() != self.shapes.keys()
        ):
            listed = ", ".join(f"{name} {shape}" for name, shape in self.shapes.items())
            found = ", ".join([*(f"{len(arrays)} by position" for _ in arrays[:1]), *named])
            raise TypeError(
                f"{self.label} takes {listed or 'no input'}, each once; given: {found or 'none'}."
            )
        return values

    def _vector(self, array: Any, name: str) -> np.ndarray:
        """An input as (n,) or (N, n)."""
        shape = self.shapes[name]
        size = int(np.prod(self.shapes[name], dtype=int))
        if len(shape) != 1:
            array = np.asanyarray(array)
            batch = array.shape[: max(0, array.ndim - len(shape))]
            if len(batch) > 1 or array.shape != (*batch, *shape):
                batched = str(("N", *shape)).replace("'", "")
                raise ShapeError(
                    f"{name} has shape {array.shape}, expected {shape} or {batched}: {self.label} "
                    "takes it so.",
                    name,
                    array.shape,
                    shape,
                )
            array = array.reshape(*batch, size)
        elif name in self.entry_names:
            array = in_order(array, name, self.entry_names[name])
        return floats(array, name, size, lambda *_: f"{self.label} takes it so")

    def __reduce__(self):
        flat = [x for a in (*self._vectors.values(), *self._outputs.values()) for x in a.flat]
        sizes = [a.shape for a in self._outputs.values()]
        return _rebuilt, (
            self.label,
            dict(self.shapes),
            list(self._outputs),
            sizes,
            pack(flat),
            self._make,
            self.checked,
        )


def _rebuilt(label, shapes, names, sizes, packed, make, checked=False) -> CompiledFunction[Any]:
    """A function from what pickle keeps."""
    nodes = np.empty(len(packed[1]), dtype=object)
    with Graph():
        nodes[:] = unpack(packed)
    counts = [int(np.prod(shape, dtype=int)) for shape in (*shapes.values(), *sizes)]
    parts = np.split(nodes, np.cumsum(counts)[:-1]) if counts else []
    vectors = dict(zip(shapes, parts, strict=False))
    outputs = {
        name: a.reshape(shape)
        for name, a, shape in zip(names, parts[len(shapes) :], sizes, strict=True)
    }
    return CompiledFunction(label, shapes, vectors, outputs, make, checked)


def _shape(name: str, shape: Any) -> Shape:
    """A shape as a tuple."""
    shape = (shape,) if isinstance(shape, int) else shape
    if (
        name in RESERVED
        or not isinstance(shape, tuple)
        or not all(type(n) is int and n >= 0 for n in shape)
    ):
        raise TypeError(
            f"{name}={shape!r}: expected the name of an input (not {', '.join(RESERVED)}) and its "
            "shape, for example q=(7,)."
        )
    return shape


def _opened(found: Any) -> tuple[Callable[[tuple[Any, ...]], Any], dict[str, np.ndarray]]:
    """How results are put together as f returned them, and the expressions of each."""
    make: Callable[[tuple[Any, ...]], Any] = only_result
    parts = {RESULT: found}
    if isinstance(found, Mapping):
        make = _Dict(tuple(found))
        parts = dict(zip(_ports(found), found.values(), strict=True))
    elif hasattr(found, "_fields"):
        make = type(found)._make
        parts = found._asdict()
    elif isinstance(found, tuple):
        make = tuple
        parts = {f"{RESULT}_{k}": value for k, value in enumerate(found, 1)}
    return make, {name: _expressions(name, value) for name, value in parts.items()}


def _ports(keys: Iterable[Any]) -> list[str]:
    """A name for each key, none of them another's or that of the status."""
    names: list[str] = []
    for key in keys:
        name = str(key)
        while name in names or name == STATUS:
            name += "_"
        names.append(name)
    return names


def _expressions(name: str, value: Any) -> np.ndarray:
    """Expressions of one result; numbers as constants."""
    array = np.array(value, dtype=object)
    nodes = np.empty(array.shape, dtype=object)
    for index, x in np.ndenumerate(array):
        node = nodes[index] = constant(x)
        if node.op in CONDITIONS:
            raise TypeError(
                f"{name} holds the condition {x}: for a number use da.where({x}, 1, 0)."
            )
    return nodes


def _jacobian(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.asarray(
        jacobian(y, x) if x.size else np.empty(y.shape + x.shape, dtype=object), dtype=object
    )


def only_result(results: tuple[Any, ...]) -> Any:
    """The one result of a function that returns no tuple."""
    return results[0]


class _Dict:
    """Results as a dict."""

    def __init__(self, keys: tuple[Any, ...]):
        self.keys = keys

    def __call__(self, results: tuple[Any, ...]) -> dict[Any, Any]:
        return dict(zip(self.keys, results, strict=True))
