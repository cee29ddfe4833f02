"""A user's own Lagrangian L(q, qd, t), with generalized forces: its equations of motion on floats
and expressions.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from dalembert.arguments import check_function, check_instance, check_text, shown
from dalembert.constraints.state_functions import Holonomic, Velocity
from dalembert.errors import (
    DalembertError,
    OverflowedError,
    ShapeError,
    UnknownNameError,
    public_names,
)
from dalembert.expr import (
    Expr,
    Graph,
    comparing,
    constant,
    current_graph,
    derivative,
    evaluate,
    free_symbols,
    gradient,
    import_nodes,
    jacobian,
    pack,
    substitute,
    symbol,
    unpack,
)
from dalembert.formulations.lagrange.christoffel import connection, contracted
from dalembert.formulations.lagrange.regular import solve_regular
from dalembert.formulations.lagrange.traced_rows import TracedRows
from dalembert.model.constraint import (
    PRINCIPLES,
    Constraint,
    check_names,
    check_unconstrained,
    principles_of,
)
from dalembert.model.content import digest
from dalembert.model.numbers import several
from dalembert.purity.examine import check_arguments, fits, remembering
from dalembert.purity.judge import judged
from dalembert.purity.reachable import Memory
from dalembert.spatial.arrays import Array, Values, check_rows, in_order, unpacked

MOST_COORDINATES = 10_000
_FUNCTION = {True: "phi", False: "psi"}  # field of a constraint's function, by whether holonomic


def lagrangian_system(
    L: Callable[..., Any],
    coordinates: str | int | Sequence[str],
    forces: Callable[..., Any] | None = None,
    name: str = "system",
) -> LagrangianSystem:
    """Equations of motion of a Lagrangian that is given as a Python function.

        d/dt dL/dqd - dL/dq = Q(q, qd, t) + tau

    Symbols that L and Q use besides, of the current graph, are the system's `parameters`.

    Parameters
    ----------
    L : callable
        L(q, qd, t) [J]: called once, with arrays of symbols q, qd and the symbol t; written with
        da.sin, da.where, ... Terms linear in qd, products of qd with t, and L that is not quadratic
        in qd are welcome.
    coordinates : str, sequence of str, or int
        Names ('x theta'), or a number of coordinates.
    forces : callable, optional
        Q(q, qd, t): generalized forces that have no potential, one per coordinate.

    Returns
    -------
    LagrangianSystem

    Raises
    ------
    ShapeError, TypeError, ValueError
        L gives no number, Q not one force per coordinate; names are missing or given twice; a
        symbol that L or Q uses has the name of a coordinate, of the time, or of what is made of a
        coordinate ('x_dot' beside 'x').

    Examples
    --------
    >>> import dalembert as da
    >>> pendulum = da.lagrangian_system(lambda q, qd, t: qd[0]**2 / 2 + 9.81 * da.cos(q[0]), "angle")
    >>> pendulum.forward_dynamics([0.5], [0.0], [0.0]).round(3)
    array([-4.703])
    """
    check_function("L", L, "(q, qd, t) -> number")
    if forces is not None:
        check_function("forces", forces, "(q, qd, t) -> one force per coordinate")
    check_text("the name of a system", name)
    names = _names(coordinates)
    graph = current_graph()
    q, qd = (_vector([symbol(n + suffix, graph) for n in names]) for suffix in ("", "_dot"))
    t = symbol("t", graph)
    state = {"q": q, "qd": qd, "t": t}
    lagrangian = _scalar(_traced(L, "L", state), graph)
    Q = (
        [0] * len(names)
        if forces is None
        else list(np.ravel(np.array(_traced(forces, "forces", state), dtype=object)))
    )
    if len(Q) != len(names):
        raise ShapeError(
            f"forces returns {len(Q)} entries, expected {len(names)}: one per coordinate "
            f"({', '.join(names)}).",
            "forces",
            (len(Q),),
            (len(names),),
        )
    return LagrangianSystem(
        name, names, lagrangian, _vector([_scalar(x, graph) for x in Q]), q, qd, t
    )


def _traced(f: Callable[..., Any], name: str, arguments: Mapping[str, Any]) -> Any:
    """f of the system's symbols q, qd and t, or of some of these, as expressions, which have its
    values.

    Raises
    ------
    RememberingError, TypeError, ValueError
        It remembers something; it takes other arguments; it branches on a value, so that its
        expressions are others.
    """
    check_arguments(f, name, tuple(arguments))
    states = _random_states(arguments)
    memory = Memory(f, name)
    looked = judged(memory, states, lambda state: f(*map(_copied, state)))
    if looked.remembers:
        raise remembering(name, looked.remembers)
    _check_symbols(f, name, arguments)
    symbols = tuple(arguments.values())
    with comparing() as compared:
        found = f(*map(_copied, symbols))
    memory.restore()
    known = [
        (s, r)
        for s, r in zip(states, looked.results, strict=False)
        if r is not None and r.dtype.kind in "fiu"
    ]
    own = {s.name for s in free_symbols(found)} <= {s.name for x in symbols for s in np.ravel(x)}
    tried = [s for s, _ in known]
    results = [r for _, r in known]
    if compared or known and own and not fits(found, symbols, tried, results, near=1e-3):
        raise ValueError(
            f"{name} has other values than its expressions: it branches on a value, or makes a "
            "number of one, and is a constant of symbols there. Write branches as "
            "da.where(condition, a, b)."
        )
    return found


def _random_states(arguments: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Five states at which functions of these arguments are tried."""
    rng = np.random.default_rng(3)
    n = len(arguments["q"])
    rows = rng.uniform(-1, 1, (5, 2 * n))
    states = []
    for k, row in enumerate(rows):
        values = {"q": row[:n], "qd": row[n:], "t": 0.7 * k}
        states.append(tuple(values[name] for name in arguments))
    return states


def _copied(x: Any) -> Any:
    """A vector as a copy, which a function may change; a number as it is."""
    return x.copy() if isinstance(x, np.ndarray) else x


def _check_symbols(f: Callable[..., Any], name: str, arguments: Mapping[str, Any]) -> None:
    """Raise a ValueError if f uses a symbol of its own that has the name of a coordinate, a
    velocity or the time.

    Symbols are told apart by their names; for this look at f the system's are called as no other
    is.
    """
    graph = arguments["t"].graph
    others: list[Any] = []
    for argument, symbols in arguments.items():
        if isinstance(symbols, np.ndarray):
            names = [f"{argument}[{k}] of a Lagrangian" for k in range(len(symbols))]
            others.append(_vector([symbol(n, graph) for n in names]))
        else:
            others.append(symbol("time of a Lagrangian", graph))
    found = np.array(f(*others), dtype=object)
    hidden = {s.name for x in others for s in np.ravel(x)}
    used = {s.name for s in free_symbols(found)} - hidden
    _check_names(name, used, tuple(s.name for s in arguments["q"]))


def _check_names(where: str, parameters: Iterable[str], coordinates: tuple[str, ...]) -> None:
    """Raise a ValueError if a parameter has the name of a symbol that a system makes."""
    made = _made_names(coordinates)
    for name in sorted(parameters):
        if name in made:
            raise ValueError(
                f"{where} uses a symbol {name!r}, which is the name of {made[name]}: for that take "
                f"{made[name, 1]}; give a parameter another name."
            )


def _made_names(coordinates: tuple[str, ...]) -> dict[Any, str]:
    """Meanings of the names of a system's own symbols, and under (name, 1) the text by which a
    function gets each.
    """
    found: dict[Any, str] = {"t": "the time", ("t", 1): "the argument t"}
    for k, n in enumerate(coordinates):
        for symbol_name, what, argument in (
            (n, f"coordinate {n!r}", f"q[{k}]"),
            (f"{n}_dot", f"the velocity of {n!r}", f"qd[{k}]"),
            (f"{n}_ddot", f"the acceleration of {n!r}", f"qdd[{k}]"),
            (f"force_on_{n}", f"the force on {n!r}", f"tau[{k}]"),
            (f"momentum_of_{n}", f"the momentum of {n!r}", f"p[{k}]"),
        ):
            found.setdefault(symbol_name, what)
            found.setdefault((symbol_name, 1), argument)
    return found


class KeptConstraints(NamedTuple):
    """Constraints of a system, and the principle of each."""

    constraints: tuple[Constraint, ...] = ()
    principles: tuple[str, ...] = ()


FREE = KeptConstraints()  # of a system without constraints


class TracedQuantity(NamedTuple):
    """Expressions of a quantity, and the vectors it takes besides the parameters."""

    expressions: Any
    inputs: tuple[str, ...]


class LagrangianSystem:
    """Equations of motion of a Lagrangian; see `lagrangian_system`.

    Every quantity is a method of vectors (n,) or batches (N, n), floats or expressions, and of the
    time t, a number or (N,):

        M(q, qd, t) qdd + bias_force(q, qd, t) = generalized_forces(q, qd, t) + tau

    M = d2L/dqd2, momenta p = dL/dqd, bias = (dp/dq) qd + dp/dt - dL/dq, energy = p . qd - L
    (Jacobi's function), whose rate is (Q + tau) . qd - dL/dt.

    Attributes
    ----------
    coordinate_names : names; also of the velocities and forces.
    parameters : names of the symbols that L, Q and constraints hold besides q, qd, t; `replace`
        gives them values.
    constraints : rows that the motion keeps at 0, as `constrained` made them.
    principles : the principle of each constraint.

    Raises
    ------
    ShapeError, TypeError, ValueError
        A vector has the wrong length, or batches differ; it holds no numbers, or one that is not
        finite.
    OverflowedError
        A result is not finite.

    Examples
    --------
    >>> import dalembert as da
    >>> pendulum = da.lagrangian_system(lambda q, qd, t: qd[0]**2 / 2 + 9.81 * da.cos(q[0]), "angle")
    >>> pendulum.mass_matrix([0.5])
    array([[1.]])
    """

    __dir__ = public_names

    def __init__(
        self,
        name: str,
        coordinate_names: tuple[str, ...],
        L: Any,
        Q: np.ndarray,
        q: np.ndarray,
        qd: np.ndarray,
        t: Expr,
        kept: KeptConstraints = FREE,
    ):
        self.name = name
        self.coordinate_names = tuple(coordinate_names)
        self.symbols = {
            "q": q,
            "qd": qd,
            "t": t,
            "qdd": _vector([symbol(n + "_ddot", t.graph) for n in coordinate_names]),
            "tau": _vector([symbol("force_on_" + n, t.graph) for n in coordinate_names]),
            "p": _vector([symbol("momentum_of_" + n, t.graph) for n in coordinate_names]),
        }
        self._L, self._Q, self._q, self._qd, self._t = L, Q, q, qd, t
        self.constraints, self.principles = kept
        known = {s.name for s in [*q, *qd, t]}
        rows = [row for constraint in kept.constraints for row in _function_of(constraint).rows]
        held = free_symbols([L, *Q, *rows])
        self.parameters = tuple(s.name for s in held if s.name not in known)

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.coordinate_names)

    @property
    def nv(self) -> int:
        """Number of velocities, the same."""
        return self.nq

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the entries of qd, qdd and tau."""
        return self.coordinate_names

    @property
    def cyclic(self) -> tuple[str, ...]:
        """Coordinates that L does not hold: without forces on them their momenta are constant."""
        used = {s.name for s in free_symbols(self._L)}
        return tuple(n for n in self.coordinate_names if n not in used)

    # --- the equations as expressions ---

    @cached_property
    def quantities(self) -> dict[str, TracedQuantity]:
        """Every quantity by name: its expressions in `symbols`, and which of them it takes."""
        q, qd, t, qdd, tau = (self.symbols[k] for k in ("q", "qd", "t", "qdd", "tau"))
        state = ("q", "qd", "t")
        p = gradient(self._L, qd)
        L_q = gradient(self._L, q)
        M = jacobian(p, qd)
        bias = jacobian(p, q) @ qd + derivative(p, t) - L_q
        return {
            "lagrangian": TracedQuantity(self._L, state),
            "momenta": TracedQuantity(p, state),
            "energy": TracedQuantity(p @ qd - self._L, state),
            "kinetic_energy": TracedQuantity(None, state),
            "potential_energy": TracedQuantity(None, state),
            "energy_rate": TracedQuantity(
                (self._Q + tau) @ qd - derivative(self._L, t), ("q", "qd", "tau", "t")
            ),
            "mass_matrix": TracedQuantity(M, state),
            "bias_force": TracedQuantity(bias, state),
            "lagrangian_gradient": TracedQuantity(L_q, state),
            "generalized_forces": TracedQuantity(self._Q, state),
            "inverse_dynamics": TracedQuantity(M @ qdd + bias - self._Q, ("q", "qd", "qdd", "t")),
            "forward_dynamics": TracedQuantity(None, ("q", "qd", "tau", "t")),
            "velocities": TracedQuantity(None, ("q", "p", "t")),
        }

    def _expressions(self, name: str) -> Any:
        """Expressions of a quantity; some are formed only when they are asked for."""
        found = self.quantities[name].expressions
        return getattr(self, "_" + name) if found is None else found

    def traced(self, names: Sequence[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Inputs and outputs of some quantities, as expressions for a compiler.

        Inputs are those of q, qd, qdd, tau, p, t (a vector of one entry) that occur, and
        `parameters` where there are any, as arrays of symbols (n,); outputs are expressions, named
        as the quantities.

        Raises
        ------
        UnknownNameError
            There is no quantity of a name.

        Examples
        --------
        >>> import dalembert as da
        >>> system = da.lagrangian_system(lambda q, qd, t: 2 * qd[0] ** 2 - q[0] ** 2, ("x",))
        >>> inputs, outputs = system.traced(["momenta"])
        >>> outputs["momenta"]
        array([2*x_dot + 2*x_dot], dtype=object)
        """
        outputs: dict[str, Any] = {}
        wanted: set[str] = set()
        for name in names:
            if name not in self.quantities:
                raise UnknownNameError("quantity", name, tuple(self.quantities))
            outputs[name] = self._expressions(name)
            wanted |= set(self.quantities[name].inputs)
        inputs: dict[str, np.ndarray] = {
            k: np.atleast_1d(np.array(self.symbols[k], dtype=object))
            for k in ("q", "qd", "qdd", "tau", "p", "t")
            if k in wanted
        }
        if self.parameters:
            inputs["parameters"] = _vector([symbol(n, self._t.graph) for n in self.parameters])
        return inputs, outputs

    @cached_property
    def _forward_dynamics(self) -> np.ndarray:
        """M^-1 (Q + tau - bias) by elimination."""
        return self._solved(*self._motion())

    def _motion(self) -> tuple[np.ndarray, np.ndarray]:
        """M, and Q + tau - bias."""
        force = self._Q + self.symbols["tau"] - self.quantities["bias_force"].expressions
        return self.quantities["mass_matrix"].expressions, force

    @cached_property
    def _velocities(self) -> np.ndarray:
        """M^-1 (p - b) by elimination, b the momenta at qd = 0."""
        return self._solved(*self._momentum_balance())

    def _momentum_balance(self) -> tuple[np.ndarray, np.ndarray]:
        """M, and p - b."""
        M = self._quadratic("velocities of momenta in closed form. Integrate it in (q, qd)")
        return M, self.symbols["p"] - self._at_rest(self.quantities["momenta"].expressions)

    @cached_property
    def _potential_energy(self) -> Any:
        """-L at qd = 0."""
        return -self._at_rest(self._L)

    @cached_property
    def _kinetic_energy(self) -> Any:
        return self.quantities["energy"].expressions - self._potential_energy

    def _at_rest(self, e: Any) -> Any:
        return substitute(e, {x: 0 for x in self._qd})

    def _solved(self, M: np.ndarray, b: np.ndarray) -> np.ndarray:
        return solve_regular(M, b, self.name, self.coordinate_names)

    # --- values ---

    def lagrangian(self, q: Values, qd: Values, t: Any = 0.0) -> float | Array:
        """L(q, qd, t): number or (N,) [J].

        Examples
        --------
        >>> import dalembert as da
        >>> system = da.lagrangian_system(lambda q, qd, t: 2 * qd[0] ** 2 - q[0] ** 2, ("x",))
        >>> float(system.lagrangian([1.0], [3.0]))
        17.0
        """
        return self._value("lagrangian", q=q, qd=qd, t=t)

    def momenta(self, q: Values, qd: Values, t: Any = 0.0) -> Array:
        """p = dL/dqd: (n,) or (N, n) [kg m^2/s, kg m/s].

        Examples
        --------
        >>> import dalembert as da
        >>> system = da.lagrangian_system(lambda q, qd, t: 2 * qd[0] ** 2 - q[0] ** 2, ("x",))
        >>> system.momenta([1.0], [3.0])
        array([12.])
        """
        return self._value("momenta", q=q, qd=qd, t=t)

    def energy(self, q: Values, qd: Values, t: Any = 0.0) -> float | Array:
        """Jacobi's function p . qd - L [J]: number or (N,).

        T + Pi where L = T - Pi with T quadratic in qd. Constant where L holds no t and no forces
        act.

        Examples
        --------
        >>> import dalembert as da
        >>> system = da.lagrangian_system(lambda q, qd, t: 2 * qd[0] ** 2 - q[0] ** 2, ("x",))
        >>> float(system.energy([1.0], [3.0]))
        19.0
        """
        return self._value("energy", q=q, qd=qd, t=t)

    def potential_energy(self, q: Values, qd: Values | None = None, t: Any = 0.0) -> float | Array:
        """-L at qd = 0 [J], that of moving frames included: number or (N,). qd changes nothing.

        Examples
        --------
        >>> import dalembert as da
        >>> system = da.lagrangian_system(lambda q, qd, t: 2 * qd[0] ** 2 - q[0] ** 2, ("x",))
        >>> float(system.potential_energy([2.0]))
        4.0
        """
        return self._value("potential_energy", q=q, qd=np.zeros(self.nv) if qd is None else qd, t=t)

    def kinetic_energy(self, q: Values, qd: Values, t: Any = 0.0) -> float | Array:
        """`energy` less `potential_energy` [J]: number or (N,). 1/2 qd^T M qd of a Lagrangian
        quadratic in qd.

        Examples
        --------
        >>> import dalembert as da
        >>> system = da.lagrangian_system(lambda q, qd, t: 2 * qd[0] ** 2 - q[0] ** 2, ("x",))
        >>> float(system.kinetic_energy([1.0], [3.0]))
        18.0
        """
        return self._value("kinetic_energy", q=q, qd=qd, t=t)

    def energy_rate(self, q: Values, qd: Values, tau: Values, t: Any = 0.0) -> float | Array:
        """Rate of `energy` along the motion, (Q + tau) . qd - dL/dt: number or (N,) [W].

        Examples
        --------
        >>> import dalembert as da
        >>> system = da.lagrangian_system(lambda q, qd, t: 2 * qd[0] ** 2 - q[0] ** 2, ("x",))
        >>> float(system.energy_rate([1.0], [3.0], [0.5]))
        1.5
        """
        return self._value("energy_rate", q=q, qd=qd, tau=tau, t=t)

    def mass_matrix(self, q: Values, qd: Values | None = None, t: Any = 0.0) -> Array:
        """M = d2L/dqd2: (n, n) or (N, n, n) [kg m^2, kg m, kg].

        Raises
        ------
        TypeError
            L is not quadratic in qd, and qd is not given.

        Examples
        --------
        >>> import dalembert as da
        >>> system = da.lagrangian_system(lambda q, qd, t: 2 * qd[0] ** 2 - q[0] ** 2, ("x",))
        >>> system.mass_matrix([1.0])
        array([[4.]])
        """
        if qd is None:
            held = {s.name for s in free_symbols(self.quantities["mass_matrix"].expressions)}
            if held & {s.name for s in self._qd}:
                raise TypeError(
                    f"the mass matrix of {self.name!r} depends on qd: mass_matrix(q, qd, t)."
                )
            qd = np.zeros(self.nv)
        return self._value("mass_matrix", q=q, qd=qd, t=t)

    def bias_force(self, q: Values, qd: Values, t: Any = 0.0) -> Array:
        """All of d/dt dL/dqd - dL/dq but M qdd: (n,) or (N, n) [N m, N].

        Examples
        --------
        >>> import dalembert as da
        >>> system = da.lagrangian_system(lambda q, qd, t: 2 * qd[0] ** 2 - q[0] ** 2, ("x",))
        >>> system.bias_force([1.0], [3.0])
        array([2.])
        """
        return self._value("bias_force", q=q, qd=qd, t=t)

    def lagrangian_gradient(self, q: Values, qd: Values, t: Any = 0.0) -> Array:
        """dL/dq: (n,) or (N, n) [N m, N]. With Q and other forces the rate of the momenta.

        Examples
        --------
        >>> import dalembert as da
        >>> system = da.lagrangian_system(lambda q, qd, t: 2 * qd[0] ** 2 - q[0] ** 2, ("x",))
        >>> system.lagrangian_gradient([1.0], [3.0])
        array([-2.])
        """
        return self._value("lagrangian_gradient", q=q, qd=qd, t=t)

    def generalized_forces(self, q: Values, qd: Values, t: Any = 0.0) -> Array:
        """Q(q, qd, t): (n,) or (N, n) [N m, N].

        Examples
        --------
        >>> import dalembert as da
        >>> damped = da.lagrangian_system(
        ...     lambda q, qd, t: 2 * qd[0] ** 2, ("x",), lambda q, qd, t: [-0.5 * qd[0]]
        ... )
        >>> damped.generalized_forces([1.0], [3.0])
        array([-1.5])
        """
        return self._value("generalized_forces", q=q, qd=qd, t=t)

    def inverse_dynamics(self, q: Values, qd: Values, qdd: Values, t: Any = 0.0) -> Array:
        """tau = M qdd + bias - Q, forces that must act besides Q: (n,) or (N, n) [N m, N].

        Examples
        --------
        >>> import dalembert as da
        >>> system = da.lagrangian_system(lambda q, qd, t: 2 * qd[0] ** 2 - q[0] ** 2, ("x",))
        >>> system.inverse_dynamics([1.0], [3.0], [0.5])
        array([4.])
        """
        check_unconstrained(self, "inverse_dynamics of a LagrangianSystem")
        return self._value("inverse_dynamics", q=q, qd=qd, qdd=qdd, t=t)

    def forward_dynamics(self, q: Values, qd: Values, tau: Values, t: Any = 0.0) -> Array:
        """qdd = M^-1 (Q + tau - bias): (n,) or (N, n) [rad/s^2, m/s^2].

        Raises
        ------
        SingularMassMatrixError
            M is singular within rounding; the coordinate that moves no inertia is named. Not
            checked on expressions.

        Examples
        --------
        >>> import dalembert as da
        >>> system = da.lagrangian_system(lambda q, qd, t: 2 * qd[0] ** 2 - q[0] ** 2, ("x",))
        >>> system.forward_dynamics([1.0], [3.0], [4.0])
        array([0.5])
        """
        check_unconstrained(self, "forward_dynamics of a LagrangianSystem")
        return self._solved(*self._values(self._motion(), q=q, qd=qd, tau=tau, t=t))

    def velocities(self, q: Values, p: Values, t: Any = 0.0) -> Array:
        """Velocities of momenta, of a Lagrangian quadratic in qd: (n,) or (N, n) [rad/s, m/s].

            M(q, t) qd = p - dL/dqd at qd = 0

        Raises
        ------
        SingularMassMatrixError
            M is singular within rounding. Not checked on expressions.
        DalembertError
            The Lagrangian is not quadratic in qd.

        Examples
        --------
        >>> import dalembert as da
        >>> system = da.lagrangian_system(lambda q, qd, t: 2 * qd[0] ** 2 - q[0] ** 2, ("x",))
        >>> system.velocities([1.0], [12.0])
        array([3.])
        """
        return self._solved(*self._values(self._momentum_balance(), q=q, p=p, t=t))

    # --- the parts of a Lagrangian that is quadratic in qd: L = 1/2 qd^T M qd + b^T qd + L_0 ---

    def christoffel_symbols(self, q: Values, t: Any = 0.0) -> Array:
        """c[i, j, k] = 1/2 (dM_kj/dq_i + dM_ki/dq_j - dM_ij/dq_k): (n, n, n) or (N, n, n, n).

        Raises
        ------
        DalembertError
            The Lagrangian is not quadratic in qd.

        Examples
        --------
        >>> import dalembert as da
        >>> polar = da.lagrangian_system(
        ...     lambda q, qd, t: (qd[0] ** 2 + (q[0] * qd[1]) ** 2) / 2, ("r", "phi")
        ... )
        >>> polar.christoffel_symbols([2.0, 0.0])[1, 1]
        array([-2.,  0.])
        """
        M = self._quadratic()
        dM = np.moveaxis(np.asarray(jacobian(M, self._q)), -1, 0)
        return self._values([connection(dM, None, np.zeros(0))], q=q, t=t)[0]

    def coriolis_matrix(self, q: Values, qd: Values, t: Any = 0.0) -> Array:
        """C_kj = sum_i c_ijk qd_i: (n, n) or (N, n, n) [kg m^2/s, kg m/s, kg/s].

        Raises
        ------
        DalembertError
            The Lagrangian is not quadratic in qd.

        Examples
        --------
        >>> import dalembert as da
        >>> polar = da.lagrangian_system(
        ...     lambda q, qd, t: (qd[0] ** 2 + (q[0] * qd[1]) ** 2) / 2, ("r", "phi")
        ... )
        >>> polar.coriolis_matrix([2.0, 0.0], [1.0, 3.0])
        array([[ 0., -6.],
               [ 6.,  2.]])
        """
        return contracted(self.christoffel_symbols(q, t), np.asarray(qd))

    def gyroscopic_matrix(self, q: Values, t: Any = 0.0) -> Array:
        """Skew matrix N_kj = db_k/dq_j - db_j/dq_k of the terms b(q, t)^T qd: they add N qd + db/dt
        to the bias.

        (n, n) or (N, n, n) [kg m^2/s, kg m/s, kg/s]. These forces do no work.

        Raises
        ------
        DalembertError
            The Lagrangian is not quadratic in qd.

        Examples
        --------
        >>> import dalembert as da
        >>> charge = da.lagrangian_system(
        ...     lambda q, qd, t: (qd[0] ** 2 + qd[1] ** 2) / 2 + q[0] * qd[1], ("x", "y")
        ... )
        >>> charge.gyroscopic_matrix([0.0, 0.0])
        array([[ 0., -1.],
               [ 1.,  0.]])
        """
        self._quadratic()
        by_q = np.asarray(jacobian(self._at_rest(self.quantities["momenta"].expressions), self._q))
        return self._values([by_q - by_q.T], q=q, t=t)[0]

    def _quadratic(self, missing: str = "Christoffel symbols. Use bias_force") -> np.ndarray:
        M = self.quantities["mass_matrix"].expressions
        if {s.name for s in free_symbols(M)} & {s.name for s in self._qd}:
            raise DalembertError(
                f"the Lagrangian of {self.name!r} is not quadratic in qd: it has no {missing}."
            )
        return M

    # --- constraints ---

    def constrained(
        self, *constraints: Constraint, principle: str | Mapping[str, str] = PRINCIPLES[0]
    ) -> LagrangianSystem:
        """The system with constraints, beside those that it has.

            M qdd + bias = Q + tau + J^T lambda,    J qdd = bias of the rows

        Its own quantities stay those without constraints; `da.simulate`, `da.compile`, `da.sweep`
        and `da.equations` take them into account. Symbols of their functions are parameters.

        Parameters
        ----------
        constraints : `da.constraints.Holonomic` or `Velocity`
            Functions phi(q, t) or psi(q, qd, t), each with a name; called once, with symbols.
        principle : {'chetaev', 'vakonomic', 'servo', 'gauss'}, or {constraint: principle}
            Law of the forces that keep these constraints; of those left out: 'chetaev'.

        Raises
        ------
        TypeError, ValueError
            A constraint is of another kind; its function takes other arguments, branches on a
            value, or uses a symbol that has the name of a coordinate.
        UnknownNameError, DalembertError
            A principle is unknown, or of a constraint that is not given; two constraints have one
            name; the Lagrangian is not quadratic in qd.

        Examples
        --------
        >>> import dalembert as da
        >>> rod = da.constraints.Holonomic("rod", lambda q, t: [q @ q - 1], "m^2")
        >>> free = da.lagrangian_system(lambda q, qd, t: qd @ qd / 2 - 9.81 * q[1], "x y")
        >>> da.simulate(free.constrained(rod), [1, 0], [0, 0], 1.0).reason
        'finished'
        """
        self._quadratic("constraints, which need a mass matrix of q and t alone")
        added = tuple(self._traced_constraint(constraint) for constraint in constraints)
        chosen = principles_of(constraints, principle)
        kept = KeptConstraints((*self.constraints, *added), (*self.principles, *chosen))
        check_names(self.name, kept.constraints)
        return LagrangianSystem(
            self.name, self.coordinate_names, self._L, self._Q, self._q, self._qd, self._t, kept
        )

    def unconstrained(self) -> LagrangianSystem:
        """The system without constraints.

        Examples
        --------
        >>> import dalembert as da
        >>> rod = da.constraints.Holonomic("rod", lambda q, t: [q @ q - 1], "m^2")
        >>> free = da.lagrangian_system(lambda q, qd, t: qd @ qd / 2 - 9.81 * q[1], "x y")
        >>> free.constrained(rod).unconstrained().constraints
        ()
        """
        return LagrangianSystem(
            self.name, self.coordinate_names, self._L, self._Q, self._q, self._qd, self._t
        )

    def _traced_constraint(self, constraint: Constraint) -> Constraint:
        """A constraint whose function is known by its expressions."""
        expected = (
            "da.constraints.Holonomic or Velocity: other kinds are about bodies of a mechanism"
        )
        check_instance("a constraint of a Lagrangian", constraint, (Holonomic, Velocity), expected)
        field = _FUNCTION[constraint.is_holonomic]
        arguments: dict[str, Any] = {"q": self._q, "qd": self._qd, "t": self._t}
        if constraint.is_holonomic:
            del arguments["qd"]
        where = f"{field} of constraint {constraint.name!r}"
        found = _traced(getattr(constraint, field), where, arguments)
        rows = np.atleast_1d(np.array(found, dtype=object))
        if rows.ndim != 1 or not rows.size:
            raise ShapeError(
                f"{where} gives shape {rows.shape}, expected rows (k,).", field, rows.shape
            )
        nodes = _vector([constant(x, self._t.graph) for x in rows])
        function = TracedRows(nodes, tuple(arguments.values()))
        return _with_function(constraint, function)

    # --- parameters ---

    def replace(self, values: Mapping[str, Any]) -> LagrangianSystem:
        """The system with values, numbers or expressions of one graph, for some of its parameters,
        by name.

        Raises
        ------
        UnknownNameError, ValueError
            There is no parameter of a name; a value has a symbol named as one of the system's own.

        Examples
        --------
        >>> import dalembert as da
        >>> m = da.symbol("m")
        >>> system = da.lagrangian_system(lambda q, qd, t: m * qd[0] ** 2 / 2, ("x",))
        >>> system.replace({"m": 3.0}).momenta([0.0], [2.0])
        array([6.])
        """
        for name in values:
            if name not in self.parameters:
                raise UnknownNameError("parameter", name, self.parameters)
        _check_names(
            "a value", (s.name for s in free_symbols(list(values.values()))), self.coordinate_names
        )
        graph = next((x.graph for x in values.values() if isinstance(x, Expr)), self._t.graph)
        pairs = {symbol(name, graph): x for name, x in values.items()}
        L, Q, *own = (
            import_nodes(x, graph) for x in (self._L, self._Q, self._q, self._qd, self._t)
        )
        q, qd, t = cast(tuple[np.ndarray, np.ndarray, Expr], own)
        constraints = tuple(
            _with_function(constraint, _function_of(constraint).replaced(pairs, graph))
            for constraint in self.constraints
        )
        return LagrangianSystem(
            self.name,
            self.coordinate_names,
            substitute(L, pairs),
            np.asarray(substitute(Q, pairs)),
            q,
            qd,
            t,
            KeptConstraints(constraints, self.principles),
        )

    # --- from symbols to values ---

    def _value(self, quantity: str, **vectors: Any) -> Any:
        return self._values([self._expressions(quantity)], **vectors)[0]

    def _values(self, expressions: Sequence[Any], t: Any, **vectors: Any) -> list[Any]:
        """Values of arrays of expressions at a state, or at a batch of them."""
        columns: dict[Any, Any] = {}
        rows: dict[str, set[int]] = {}
        for name, array in {
            **vectors,
            "t": np.array(t, dtype=object if isinstance(t, Expr) else None)[..., None],
        }.items():
            symbols = np.atleast_1d(np.array(self.symbols[name], dtype=object))
            array = array if name == "t" else in_order(array, name, self.coordinate_names)
            scalars, size = unpacked(array, name, len(symbols), self._says)
            rows[name] = set() if size is None else {size}
            columns |= zip(symbols, scalars, strict=True)
        batch = check_rows(rows)
        graph = next((x.graph for x in columns.values() if isinstance(x, Expr)), self._t.graph)
        if (
            self.parameters
            or graph is not self._t.graph
            or any(isinstance(x, Expr) for x in columns.values())
        ):
            if batch is not None:
                raise ShapeError(
                    f"a batch of {batch} states with symbols: parameters "
                    f"{', '.join(self.parameters)} need values (system.replace), and expressions "
                    "are taken for one state at a time."
                )
            return [self._substituted(e, columns, graph) for e in expressions]
        return [_finite(evaluate(e, columns), batch, np.shape(e)) for e in expressions]

    def _substituted(self, e: Any, columns: dict[Any, Any], graph: Graph) -> Any:
        if graph is not self._t.graph:
            e, columns = (
                import_nodes(e, graph),
                {import_nodes(s, graph): x for s, x in columns.items()},
            )
        return substitute(e, columns)

    def _says(self, name: str, length: int) -> str:
        if name == "t":
            return "one time per state"
        return f"{self.name!r} has {length} ({', '.join(self.coordinate_names[:4])})"

    def __repr__(self) -> str:
        kept = ", ".join(constraint.name for constraint in self.constraints)
        held = f" with {kept}" if kept else ""
        return f"<LagrangianSystem {self.name!r} of {', '.join(self.coordinate_names)}{held}>"

    def identity(self) -> str:
        """Text that is the same for systems with the same equations.

        Examples
        --------
        >>> import dalembert as da
        >>> free = da.lagrangian_system(lambda q, qd, t: qd[0] ** 2 / 2, ("x",))
        >>> bound = da.lagrangian_system(lambda q, qd, t: qd[0] ** 2 / 2 - q[0] ** 2, ("x",))
        >>> free.identity() == bound.identity()
        False
        """
        return digest(repr(self.__reduce__()[1]))

    def __reduce__(self):
        rows = [row for constraint in self.constraints for row in _function_of(constraint).rows]
        return _rebuilt, (
            self.name,
            self.coordinate_names,
            pack([self._L, *self._Q, *self._q, *self._qd, self._t, *rows]),
            [_described(constraint) for constraint in self.constraints],
            self.principles,
        )


def _rebuilt(
    name: str,
    coordinate_names: tuple[str, ...],
    packed: Any,
    described: Sequence[Any],
    principles: tuple[str, ...],
) -> LagrangianSystem:
    """A system from what pickle keeps, in a graph of its own."""
    n = len(coordinate_names)
    with Graph():
        L, *rest = unpack(packed)
        Q, q, qd = (_vector(rest[k : k + n]) for k in (0, n, 2 * n))
        t, *rows = rest[3 * n :]
        constraints = []
        for kind, fields, count in described:
            arguments = (q, t) if kind.is_holonomic else (q, qd, t)
            function = TracedRows(_vector(rows[:count]), arguments)
            constraints.append(kind(**fields, **{_FUNCTION[kind.is_holonomic]: function}))
            rows = rows[count:]
        kept = KeptConstraints(tuple(constraints), principles)
        return LagrangianSystem(name, coordinate_names, L, Q, q, qd, t, kept)


def _function_of(constraint: Constraint) -> TracedRows:
    """The function of a constraint of a system."""
    return cast(TracedRows, getattr(constraint, _FUNCTION[constraint.is_holonomic]))


def _with_function(constraint: Constraint, function: TracedRows) -> Constraint:
    """The constraint with another function."""
    changes = {_FUNCTION[constraint.is_holonomic]: function}
    return dataclasses.replace(constraint, **changes)  # type: ignore[type-var]


def _described(constraint: Constraint) -> tuple[type, dict[str, Any], int]:
    """Class, fields but for the function, and number of rows of a constraint."""
    function = _FUNCTION[constraint.is_holonomic]
    fields = {
        field.name: getattr(constraint, field.name)
        for field in dataclasses.fields(cast(Any, constraint))
        if field.name != function
    }
    return type(constraint), fields, len(_function_of(constraint).rows)


def _names(coordinates: str | int | Sequence[str]) -> tuple[str, ...]:
    expected = "names such as 'x theta', or a number"
    if isinstance(coordinates, int):
        if isinstance(coordinates, bool) or coordinates > MOST_COORDINATES:
            raise ValueError(
                f"coordinates is {shown(coordinates)}; expected {expected} of at most "
                f"{MOST_COORDINATES}."
            )
        coordinates = [f"q{k}" for k in range(1, coordinates + 1)]
    names = several(
        coordinates.replace(",", " ").split() if isinstance(coordinates, str) else coordinates,
        "coordinates",
        expected,
    )
    for name in names:
        check_instance("a coordinate", name, str, expected)
    twice = [n for n, count in Counter(names).items() if count > 1]
    if not all(names) or not names or twice or "t" in names:
        why = (
            f"{twice[0]!r} is given twice"
            if twice
            else "'t' is the time"
            if "t" in names
            else "names are needed"
        )
        raise ValueError(
            f"coordinates {coordinates!r}: {why}; expected names such as 'x theta', or a number."
        )
    for k, n in enumerate(names):
        made = _made_names(names[:k] + names[k + 1 :])
        if n in made:
            raise ValueError(
                f"coordinates {coordinates!r}: {n!r} is the name of {made[n]} too; take another."
            )
    return names


def _vector(entries: Sequence[Any]) -> np.ndarray:
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


def _scalar(x: Any, graph: Graph) -> Expr:
    """A number or expression as a node of the graph."""
    x = x.item() if isinstance(x, np.ndarray) and x.size == 1 else x
    if isinstance(x, (np.ndarray, list, tuple)):
        raise ShapeError(
            f"a Lagrangian or force is an array of shape {np.shape(x)}, expected one number or "
            "expression.",
            "L",
            np.shape(x),
            (),
        )
    return constant(x, graph)


def _finite(value: Any, batch: int | None, shape: tuple[int, ...]) -> Any:
    """The value with the batch in front; an error if it is not finite."""
    value = np.array(
        np.broadcast_to(value, (() if batch is None else (batch,)) + shape), dtype=float
    )
    if not np.isfinite(value).all():
        index = tuple(map(int, np.argwhere(~np.isfinite(value))[0]))
        raise OverflowedError(
            f"entry {index} of the result is {value[index]}: the Lagrangian, the forces or their "
            "derivatives are not finite at this state.",
            index,
        )
    return value[()]
