"""`compile`: the quantities of a mechanism as machine code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict, TypeVar, Unpack, overload

import numpy as np

from dalembert.arguments import refused
from dalembert.codegen.program import STATUS
from dalembert.codegen.targets.llvm import DOUBTFUL, FINE
from dalembert.compiled.documentation import (
    DEFAULTS,
    compiled_docstring,
    compiled_signature,
    text_signature,
)
from dalembert.errors import (
    ShapeError,
    SingularMassMatrixError,
    UnknownNameError,
    unknown_attribute,
)
from dalembert.formulations.newton_euler import derivatives
from dalembert.formulations.newton_euler.linearization import Linearization
from dalembert.model.external_forces import ExternalForce, opened_loads
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import is_symbolic, several
from dalembert.model.paths import canonical_text, check_inputs
from dalembert.native import cache
from dalembert.native.builtin import Layout, builtin
from dalembert.native.calls import apart, common_rows, number_or_array, results_for, thread_count
from dalembert.native.kernel import Kernel, machine_for, object_code
from dalembert.spatial.arrays import (
    Array,
    Batch,
    State,
    Values,
    check_finite,
    check_range,
    finite_results,
    floats,
    in_order,
)
from dalembert.tracing.quantities import QUANTITIES, Loads, known_formulation, traced

if TYPE_CHECKING:
    from dalembert.codegen.sources import Described
    from dalembert.compiled.systems import SystemDynamics
    from dalembert.systems.kinds import OtherSystem


Loaded = Sequence[ExternalForce]
Declared = TypeVar("Declared", bound=Callable[..., Any])


class Options(TypedDict, total=False):
    """Keywords of every quantity."""

    out: Array | Sequence[Array] | None
    threads: int
    parameters: Values | None


class _Quantity:
    """Method of a quantity; the first access to it in an instance puts a built-in in front, which
    the instance keeps.
    """

    def __init__(self, method: Callable[..., Any]):
        self.name, self.method = method.__name__, method
        quantity = QUANTITIES[self.name]
        self.framed = quantity.framed
        self.method.__signature__ = compiled_signature(quantity.function)  # type: ignore[attr-defined]
        self.method.__doc__ = compiled_docstring(quantity.function)

    def __get__(self, dynamics: Dynamics | None, owner: Any = None) -> Callable[..., Any]:
        if dynamics is None:
            return self.method
        bound = MethodType(self.method, dynamics)
        if self.framed or dynamics.parameters:
            return bound
        return dynamics._put_in_front(self.name, bound)


if TYPE_CHECKING:

    def quantity(method: Declared) -> Declared:
        """Make a method the one of a compiled quantity."""
        return method
else:
    quantity = _Quantity


@overload
def compile(
    mechanism: Mechanism,
    formulation: str = "newton_euler",
    parameters: Sequence[str] = (),
    dtype: Any = np.float64,
) -> Dynamics: ...
@overload
def compile(mechanism: OtherSystem) -> SystemDynamics: ...
def compile(
    mechanism: Any,
    formulation: str = "newton_euler",
    parameters: Sequence[str] = (),
    dtype: Any = np.float64,
) -> Dynamics | SystemDynamics:
    """The quantities of a mechanism as machine code for this processor.

    Parameters
    ----------
    mechanism : Mechanism, LagrangianSystem, FlexibleJoints, or another System
        Of a mechanism with constraints there is a `SystemDynamics`, in double precision, whose
        quantities of motion take the time t, and no external forces: add J^T f to tau. Of systems
        that are no mechanisms as well, without the options below but `parameters`.
    formulation : str
        Whose algorithms are compiled; results are equal, speeds are not ('newton_euler' is the
        fastest).
    parameters : sequence of str
        Paths of numbers ('payload.mass') and names of symbols ('m2') that stay inputs, given per
        call, also per state; all others are folded into the code. Of another system its parameters,
        which are inputs, in an order of one's own.
    dtype : numpy.float64 or numpy.float32
        Kind of numbers in inputs and results, and of the computation: single precision is 1.2 to
        1.6 times as fast (Panda).

    Returns
    -------
    Dynamics or SystemDynamics
        Each quantity is a method of the name of the plain function, without the mechanism; compiled
        at its first use.

    Raises
    ------
    UnknownNameError, ParameterError, TypeError
        A path is not in the mechanism, or of an axis, a formulation is unknown; dtype is neither of
        the two.

    Examples
    --------
    >>> import dalembert as da
    >>> arm = da.planar_chain(1)
    >>> dyn = da.compile(arm, parameters=["link1.mass"])
    >>> dyn.gravity_vector([[0.0], [0.5]], parameters=[2.0]).round(3)
    array([[9.81 ],
           [8.609]])
    """
    if isinstance(mechanism, Mechanism) and not mechanism.constraints:
        # at once: other systems take 0.1 s to import
        return Dynamics(mechanism, formulation, parameters, dtype)
    from dalembert.compiled.systems import SystemDynamics
    from dalembert.systems.kinds import formulated, system_of

    system = system_of(mechanism, "does not compile")
    if system.mechanism is None:
        return SystemDynamics(system, parameters)
    if system.constraints:
        if _number_type(dtype) != np.float64:
            raise TypeError(
                f"dtype={dtype!r}: quantities of {system.name!r}, which has constraints, compute in "
                "float64."
            )
        tree = Dynamics(system.mechanism, formulation, parameters)
        given = formulated(system, formulation).with_inputs(parameters)
        return SystemDynamics(given, parameters, tree)
    return Dynamics(system.mechanism, formulation, parameters, dtype)


class Dynamics:
    """Compiled quantities of a mechanism; see `compile`.

    Every quantity takes one state or a batch (N states in the leading axis; one row goes with
    many), `out=` for the results, `threads=` for a batch, and `parameters=` for the numbers left as
    inputs (by default the mechanism's). Results equal those of the plain functions to rounding and
    do not depend on N, place or threads.

    Attributes
    ----------
    mechanism : Mechanism
    formulation : str
    parameters : tuple of str
        Paths of the numbers left as inputs.
    dtype : numpy.dtype

    Examples
    --------
    >>> import dalembert as da
    >>> da.compile(da.planar_chain(1)).kinetic_energy([0.0], [3.0])
    1.5
    """

    def __init__(
        self,
        mechanism: Mechanism,
        formulation: str = "newton_euler",
        parameters: Sequence[str] = (),
        dtype: Any = np.float64,
    ):
        if isinstance(parameters, str):
            raise TypeError(
                f"parameters={parameters!r}: expected a list of paths, as [{parameters!r}]."
            )
        self.mechanism = mechanism
        self.parameters = several(parameters, "parameters", "a list of paths, as ['hand.mass']")
        check_inputs(mechanism, self.parameters, "compiled code")
        self.formulation = known_formulation(formulation)
        self.dtype = _number_type(dtype)
        self._numbers = [mechanism.number(path) for path in self.parameters]
        self._functions: dict[tuple[tuple[str, ...], Loads], Function] = {}

    def __repr__(self) -> str:
        inputs = f", inputs {', '.join(self.parameters)}" if self.parameters else ""
        return f"<Dynamics of {self.mechanism.name!r} by {self.formulation!r}{inputs}>"

    # --- quantities ---

    @quantity
    def inverse_dynamics(
        self,
        q: Values,
        qd: Values,
        qdd: Values,
        external_forces: Loaded = (),
        **options: Unpack[Options],
    ) -> Array:
        return self._single(
            "inverse_dynamics", options, {"q": q, "qd": qd, "qdd": qdd}, external_forces
        )

    @quantity
    def forward_dynamics(
        self,
        q: Values,
        qd: Values,
        tau: Values,
        external_forces: Loaded = (),
        **options: Unpack[Options],
    ) -> Array:
        return self._single(
            "forward_dynamics", options, {"q": q, "qd": qd, "tau": tau}, external_forces
        )

    @quantity
    def mass_matrix(self, q: Values, **options: Unpack[Options]) -> Array:
        return self._single("mass_matrix", options, {"q": q})

    @quantity
    def inverse_mass_matrix(self, q: Values, **options: Unpack[Options]) -> Array:
        return self._single("inverse_mass_matrix", options, {"q": q})

    @quantity
    def coriolis_matrix(self, q: Values, qd: Values, **options: Unpack[Options]) -> Array:
        return self._single("coriolis_matrix", options, {"q": q, "qd": qd})

    @quantity
    def coriolis_vector(self, q: Values, qd: Values, **options: Unpack[Options]) -> Array:
        return self._single("coriolis_vector", options, {"q": q, "qd": qd})

    @quantity
    def gravity_vector(self, q: Values, **options: Unpack[Options]) -> Array:
        return self._single("gravity_vector", options, {"q": q})

    @quantity
    def bias_force(self, q: Values, qd: Values, **options: Unpack[Options]) -> Array:
        return self._single("bias_force", options, {"q": q, "qd": qd})

    @quantity
    def passive_force(self, q: Values, qd: Values, **options: Unpack[Options]) -> Array:
        return self._single("passive_force", options, {"q": q, "qd": qd})

    @overload  # a list of arrays is a batch
    def kinetic_energy(self, q: Batch, qd: Batch | State, **options: Unpack[Options]) -> Array: ...  # type: ignore[overload-overlap]
    @overload
    def kinetic_energy(self, q: State, qd: State, **options: Unpack[Options]) -> float: ...
    @overload
    def kinetic_energy(
        self, q: Values, qd: Values, **options: Unpack[Options]
    ) -> float | Array: ...
    @quantity
    def kinetic_energy(self, q: Values, qd: Values, **options: Unpack[Options]) -> float | Array:
        return self._single("kinetic_energy", options, {"q": q, "qd": qd})

    @overload  # a list of arrays is a batch
    def potential_energy(self, q: Batch, **options: Unpack[Options]) -> Array: ...  # type: ignore[overload-overlap]
    @overload
    def potential_energy(self, q: State, **options: Unpack[Options]) -> float: ...
    @overload
    def potential_energy(self, q: Values, **options: Unpack[Options]) -> float | Array: ...
    @quantity
    def potential_energy(self, q: Values, **options: Unpack[Options]) -> float | Array:
        return self._single("potential_energy", options, {"q": q})

    @quantity
    def momenta(self, q: Values, qd: Values, **options: Unpack[Options]) -> Array:
        return self._single("momenta", options, {"q": q, "qd": qd})

    @quantity
    def centroidal_momentum(self, q: Values, qd: Values, **options: Unpack[Options]) -> Array:
        return self._single("centroidal_momentum", options, {"q": q, "qd": qd})

    @quantity
    def center_of_mass(self, q: Values, **options: Unpack[Options]) -> Array:
        return self._single("center_of_mass", options, {"q": q})

    @quantity
    def center_of_mass_jacobian(self, q: Values, **options: Unpack[Options]) -> Array:
        return self._single("center_of_mass_jacobian", options, {"q": q})

    @quantity
    def centroidal_momentum_matrix(self, q: Values, **options: Unpack[Options]) -> Array:
        return self._single("centroidal_momentum_matrix", options, {"q": q})

    @quantity
    def placement(self, q: Values, frame: str, **options: Unpack[Options]) -> Array:
        return self._single(f"placement:{frame}", options, {"q": q})

    @quantity
    def jacobian(
        self, q: Values, frame: str, expressed_in: str = "aligned", **options: Unpack[Options]
    ) -> Array:
        return self._single(f"jacobian:{frame}:{expressed_in}", options, {"q": q})

    @quantity
    def jacobian_rate(
        self,
        q: Values,
        qd: Values,
        frame: str,
        expressed_in: str = "aligned",
        **options: Unpack[Options],
    ) -> Array:
        return self._single(f"jacobian_rate:{frame}:{expressed_in}", options, {"q": q, "qd": qd})

    @quantity
    def regressor(self, q: Values, qd: Values, qdd: Values, **options: Unpack[Options]) -> Array:
        return self._single("regressor", options, {"q": q, "qd": qd, "qdd": qdd})

    @quantity
    def inverse_dynamics_derivatives(
        self, q: Values, qd: Values, qdd: Values, **options: Unpack[Options]
    ) -> derivatives.InverseDynamicsDerivatives:
        return self._single("inverse_dynamics_derivatives", options, {"q": q, "qd": qd, "qdd": qdd})

    @quantity
    def forward_dynamics_derivatives(
        self, q: Values, qd: Values, tau: Values, **options: Unpack[Options]
    ) -> derivatives.ForwardDynamicsDerivatives:
        return self._single("forward_dynamics_derivatives", options, {"q": q, "qd": qd, "tau": tau})

    @quantity
    def linearize(
        self, q: Values, qd: Values, tau: Values, **options: Unpack[Options]
    ) -> Linearization:
        found = self._single("linearize", options, {"q": q, "qd": qd, "tau": tau})
        return found.of_mechanism(self.mechanism)  # type: ignore[no-any-return]

    # --- several quantities, and source code ---

    def function(self, names: Sequence[str], loads: Loads = ()) -> Function:
        """Several quantities as one function that shares their work: names such as 'mass_matrix',
        'jacobian:tool'.

        The result takes q, qd, qdd, tau as far as the quantities need them, and returns a tuple of
        their results.

        Raises
        ------
        UnknownNameError, ValueError
            A quantity or frame is unknown; a name comes twice.

        Examples
        --------
        >>> import dalembert as da
        >>> both = da.compile(da.planar_chain(1)).function(["mass_matrix", "gravity_vector"])
        >>> M, g = both([0.0])
        >>> g
        array([4.905])
        """
        if isinstance(names, str):
            raise UnknownNameError("list of quantities", names, (f"[{names!r}]",))
        names = tuple(names)
        if len(set(names)) < len(names):
            raise ValueError(f"a quantity is named twice in {list(names)}.")
        key = (names, tuple(loads))
        if key not in self._functions:
            self._functions[key] = Function(self, *key)
        return self._functions[key]

    def source(
        self, target: str, names: Sequence[str], prefix: str | None = None
    ) -> dict[str, str]:
        """Source code of quantities, a function for each: file name -> text.

        Parameters
        ----------
        target : 'c', 'numpy' or 'llvm'
            C99, which C++ compiles as well, with a header and a test for each function; or NumPy,
            over arrays of states.
        names : sequence of str
            Quantities as for `function`: 'mass_matrix', 'jacobian:tool'.
        prefix : str, optional
            Public names and files begin with it, made an identifier; by default with the
            mechanism's name, so that two robots link into one program. Without any if it is empty.

        Raises
        ------
        UnknownNameError, ValueError, ProgramError
            A target or quantity is unknown; there are no names; a symbol of the mechanism has no
            value.

        Examples
        --------
        >>> import dalembert as da
        >>> files = da.compile(da.planar_chain(1)).source("numpy", ["mass_matrix"])
        >>> list(files)
        ['planar_chain_mass_matrix.py']
        """
        from dalembert.codegen import sources

        described = {name: self._described(name) for name in sources.checked_names(names)}
        return sources.texts(described, target, self.mechanism.name if prefix is None else prefix)

    def write(
        self,
        folder: Any,
        target: str,
        names: Sequence[str],
        prefix: str | None = None,
        overwrite: bool = False,
    ) -> list[Path]:
        """Write the files of `source` to a folder, made if need be; their paths.

        Raises
        ------
        DalembertError
            A file is there already with other text, and `overwrite` is not given.

        Examples
        --------
        >>> import dalembert as da
        >>> import tempfile
        >>> files = da.compile(da.planar_chain(1)).write(tempfile.mkdtemp(), "c", ["mass_matrix"])
        >>> sorted(file.suffix for file in files)
        ['.c', '.c', '.h']
        """
        from dalembert.codegen import sources

        return sources.write(folder, self.source(target, names, prefix), overwrite)

    def _described(self, name: str) -> Described:
        """The program of a quantity in double precision, with notes and states to test it with."""
        from dalembert.codegen.sources import TESTED, Described, notes

        m = self.mechanism
        program = traced(m, [name], self.parameters, formulation=self.formulation)
        pairs = [m.random_state(seed) for seed in range(TESTED)]
        vectors = {
            vector: np.array(rows)
            for vector, rows in zip(("q", "qd"), zip(*pairs, strict=True), strict=True)
        }
        if self.parameters:
            known = [1.0 if is_symbolic(x) else float(x) for x in self._numbers]
            vectors["parameters"] = np.tile(known, (TESTED, 1))
        entries = {
            "q": m.coordinate_names,
            **dict.fromkeys(("qd", "qdd", "tau"), m.velocity_names),
            "parameters": self.parameters,
        }
        title = f"{name} of the mechanism '{m.name}'; SI units, angles in radians."
        return Described(program, notes(title, program, entries), vectors)

    def _values_of_parameters(self, given: Any = None) -> Any:
        """The numbers at `parameters`, by default the mechanism's."""
        if not self.parameters:
            raise TypeError(
                "parameters are given, but none were named in da.compile(mechanism, "
                "parameters=[...])."
            )
        if given is not None:
            return given
        if symbolic := [
            path for path, x in zip(self.parameters, self._numbers, strict=True) if is_symbolic(x)
        ]:
            raise TypeError(
                f"parameters are needed: {self.mechanism.name!r} has no value of "
                f"{', '.join(symbolic)}."
            )
        return [float(x) for x in self._numbers]

    def _single(
        self, name: str, options: Options, vectors: dict[str, Any], external_forces: Any = ()
    ) -> Any:
        if not options.keys() <= DEFAULTS.keys():
            _refuse(name, options)
        opened_loads(external_forces)
        loads = tuple((f.frame, f.expressed_in) for f in external_forces)
        for k, load in enumerate(external_forces):
            vectors |= {f"force{k}": load.force, f"moment{k}": load.moment, f"point{k}": load.point}
        return self.function([name], loads)._call(vectors, bare=True, **options)

    def _put_in_front(self, name: str, method: MethodType) -> Callable[..., Any]:
        """From now on, `self.name` is a built-in that calls the kernel itself where it can, else
        the method.
        """
        doc = f"{name}{text_signature(compiled_signature(QUANTITIES[name].function))}\n--\n\n{method.__doc__}"
        self.__dict__[name] = self.function([name]).in_front_of(name, method, doc, bare=True)
        return self.__dict__[name]

    def __dir__(self) -> list[str]:
        return sorted(
            (
                *QUANTITIES,
                "dtype",
                "formulation",
                "function",
                "mechanism",
                "parameters",
                "source",
                "write",
            )
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_attribute(self, name)

    def __getstate__(self):
        return {
            "mechanism": self.mechanism,
            "formulation": self.formulation,
            "parameters": self.parameters,
            "dtype": self.dtype.name,
        }

    def __setstate__(self, state):
        self.__init__(**state)  # type: ignore[misc]


def _refuse(name: str, options: Options) -> NoReturn:
    unknown = next(option for option in options if option not in DEFAULTS)
    known = ", ".join(DEFAULTS)
    raise TypeError(
        f"{name}() got an unexpected keyword argument {unknown!r}; options are {known}."
    )


class Function:
    """Some quantities of a mechanism, compiled together."""

    def __init__(self, dynamics: Dynamics, names: tuple[str, ...], loads: Loads):
        self.dynamics, self.names, self.loads = dynamics, names, loads
        self.inputs, outputs, code = _compiled(dynamics, names, loads)
        self.kernel = Kernel(code)
        self.outputs = tuple(p for p in outputs if p.name != STATUS)
        self._reports = len(self.outputs) < len(outputs)
        self._front: Callable[..., Any] | None = None

    def __call__(self, *vectors: Values, **options: Unpack[Options]) -> tuple[Array, ...]:
        """Results of the quantities, in the order of their names; inputs in the order q, qd, qdd,
        tau.

        Options: out= for the results, threads= for a batch, parameters= for numbers that were left
        as inputs. An energy of a single state is a float.
        """
        if self._front is None:
            self._front = self.in_front_of(
                "function", self._by_position, "Some quantities.", bare=False
            )
        results: tuple[Array, ...] = self._front(*vectors, **options)
        return results

    def __reduce__(self):
        return Dynamics.function, (self.dynamics, self.names, self.loads)

    def in_front_of(
        self, name: str, fallback: Callable[..., Any], doc: str, bare: bool
    ) -> Callable[..., Any]:
        """A built-in that calls the kernel itself where it can, else the fallback."""
        if self.dynamics.parameters or self.loads or self.kernel.work_bytes:
            return fallback
        layout = Layout(
            tuple(p.size for p in self.inputs),
            tuple(p.shape for p in self.outputs),
            self._reports,
            self.dynamics.dtype.name,
        )
        plain = bare and len(self.outputs) == 1 and self.outputs[0].shape != ()
        make = None if plain else partial(self._assembled, bare)
        return builtin(name, self.kernel, layout, fallback, doc, make) or fallback

    def _assembled(self, bare: bool, results: Sequence[np.ndarray]) -> Any:
        found = self._per_quantity(results)
        return found[0] if bare else found

    def _by_position(self, *vectors: Any, **options: Any) -> Any:
        names = [p.name for p in self.inputs if p.name != "parameters"]
        if len(vectors) != len(names):
            raise ShapeError(
                f"{len(vectors)} vectors given, expected {len(names)}: {', '.join(names)}."
            )
        return self._call(dict(zip(names, vectors, strict=True)), **options)

    def _call(
        self,
        vectors: dict[str, Any],
        out: Any = None,
        threads: int = 1,
        parameters: Any = None,
        bare: bool = False,
    ) -> Any:
        dtype, threads = self.dynamics.dtype, thread_count(threads)
        if self.dynamics.parameters or parameters is not None:
            vectors = vectors | {"parameters": self.dynamics._values_of_parameters(parameters)}
        inputs = {
            p.name: floats(self._in_order(p.name, vectors[p.name]), p.name, p.size, self._says)
            for p in self.inputs
        }
        rows = common_rows(inputs)
        results = results_for(self.outputs, rows, out, dtype)
        states = 1 if rows is None else rows
        status = [np.zeros(states, dtype)] if self._reports else []
        if out is not None:
            inputs = apart(inputs, results)
        given = inputs
        if dtype != np.float64:
            with np.errstate(over="ignore"):  # to infinity, which is refused as such
                inputs = {name: a.astype(dtype) for name, a in inputs.items()}
        found = self.kernel.run([*inputs.values()], [*results, *status], states, threads)
        if found != FINE:
            for name, a in given.items():
                check_finite(a, name)
                check_range(a, inputs[name], name)
            assert found == DOUBTFUL, (
                f"the kernel stopped at row {found}, whose inputs are finite: a fault of dalembert."
            )
            self._explain(inputs, results, status)
        return self._assembled(bare, results)

    def _explain(
        self,
        inputs: dict[str, np.ndarray],
        results: Sequence[np.ndarray],
        status: Sequence[np.ndarray],
    ) -> None:
        """Raise what the plain functions would at a state of finite inputs that the kernel doubts."""
        if self.dynamics.mechanism.quaternions and "q" in inputs:
            self.dynamics.mechanism.at(q=inputs["q"])
        rows = len(results[0]) if results[0].ndim > len(self.outputs[0].shape) else 1
        doubtful = np.any([codes != 0 for codes in status], axis=0) | np.zeros(rows, bool)
        for a in results:
            doubtful |= ~np.isfinite(a.reshape(rows, -1)).all(axis=1)
        self._look_again(np.flatnonzero(doubtful), inputs)
        for a in results:
            finite_results(a)

    def _in_order(self, name: str, values: Any) -> Any:
        mechanism = self.dynamics.mechanism
        if name not in ("q", "qd", "qdd", "tau"):
            return values
        return in_order(
            values, name, mechanism.coordinate_names if name == "q" else mechanism.velocity_names
        )

    def _says(self, name: str, length: int) -> str:
        if name == "parameters":
            return f"one number per parameter ({', '.join(self.dynamics.parameters[:4])})"
        return (
            self.dynamics.mechanism._says(name, length)
            if name in ("q", "qd", "qdd", "tau")
            else "a vector in space"
        )

    def _per_quantity(self, results: Sequence[np.ndarray]) -> tuple[Any, ...]:
        """An array, a number, or the named tuple of a quantity with several results."""
        arrays = {
            port.name: number_or_array(a) for port, a in zip(self.outputs, results, strict=True)
        }
        return tuple(
            arrays[name] if name in arrays else self._several(name, arrays) for name in self.names
        )

    def _several(self, name: str, arrays: Mapping[str, Any]) -> Any:
        """The named tuple of a quantity with several results."""
        kind = derivatives.RESULT_TYPES[name]
        found = kind(*(arrays[f"{name}.{field}"] for field in kind._fields))
        if isinstance(found, Linearization):
            found.of_mechanism(self.dynamics.mechanism)
        return found

    def _look_again(self, rows: np.ndarray, inputs: dict[str, np.ndarray]) -> None:
        """The plain function on each doubtful state: it raises where accelerations are not
        determined.
        """
        mechanism = self.dynamics.mechanism
        for row in rows:
            state = {name: a if a.ndim == 1 else a[row % len(a)] for name, a in inputs.items()}
            if self.dynamics.parameters:
                mechanism = self.dynamics.mechanism.replace(
                    dict(
                        zip(self.dynamics.parameters, map(float, state["parameters"]), strict=True)
                    )
                )
            for name in self.names:
                quantity = QUANTITIES[name.split(":")[0]]
                if "mass_matrix" in name or "forward" in name or name == "linearize":
                    try:
                        quantity.function(mechanism, *(state[i] for i in quantity.inputs))
                    except SingularMassMatrixError as error:
                        where = (
                            f" in row {row}" if any(a.ndim == 2 for a in inputs.values()) else ""
                        )
                        message = str(error).replace(
                            f"joint {error.joint!r}", f"joint {error.joint!r}{where}", 1
                        )
                        raise SingularMassMatrixError(
                            message,
                            error.joint,
                            error.body,
                            error.pivot,
                            int(row) if where else None,
                        ) from None


def _compiled(dynamics: Dynamics, names: tuple[str, ...], loads: Loads) -> cache.Entry:
    """Ports and object code of some quantities, from the cache if they are there."""
    text = canonical_text(dynamics.mechanism)
    options = (names, dynamics.formulation, dynamics.parameters, loads, dynamics.dtype.name)

    def make() -> cache.Entry:
        """Trace and compile the quantities for an entry of the cache."""
        program = traced(
            dynamics.mechanism,
            names,
            dynamics.parameters,
            loads,
            dynamics.formulation,
            dynamics.dtype,
        )
        return program.inputs, program.outputs, object_code(program, machine_for(dynamics.dtype))

    return make() if text is None else cache.kept((text, repr(options)), make)


def _number_type(dtype: Any) -> np.dtype:
    try:
        found = np.dtype(dtype)
    except Exception:  # NumPy raises errors of many classes here
        raise refused("dtype", dtype, "float64 or float32") from None
    if found not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise TypeError(f"dtype={dtype!r}: kernels compute in float64 or float32.")
    return found
