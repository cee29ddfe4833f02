"""A user's own Lagrangian L(q, qd, t), with generalized forces: its equations of motion on floats
and expressions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from dalembert.arguments import check_function, check_instance, check_text, shown
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
from dalembert.model.content import digest
from dalembert.model.numbers import several
from dalembert.purity.examine import check_arguments, fits, remembering
from dalembert.purity.judge import judged
from dalembert.purity.reachable import Memory
from dalembert.spatial.arrays import Array, Values, check_rows, in_order, unpacked

MOST_COORDINATES = 10_000


def lagrangian_system(
    L: Callable[..., Any],
    coordinates: str | int | Sequence[str],
    forces: Callable[..., Any] | None = None,
    name: str = "system",
) -> LagrangianSystem:
    """Equations of motion of a Lagrangian that is given as a Python function.

        d/dt dL/dqd - dL/dq = Q(q, qd, t) + tau

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

    Symbols that L and Q use besides, of the current graph, are the system's `parameters`.

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
    lagrangian = _scalar(_traced(L, "L", q, qd, t), graph)
    Q = (
        [0] * len(names)
        if forces is None
        else list(np.ravel(np.array(_traced(forces, "forces", q, qd, t), dtype=object)))
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


def _traced(f: Callable[..., Any], name: str, q: np.ndarray, qd: np.ndarray, t: Expr) -> Any:
    """f(q, qd, t) as expressions, which have its values.

    Raises
    ------
    RememberingError, TypeError, ValueError
        It remembers something; it takes other arguments; it branches on a value, so that its
        expressions are others.
    """
    check_arguments(f, name, ("q", "qd", "t"))
    rows = np.random.default_rng(3).uniform(-1, 1, (5, 2 * len(q)))
    states = [(x[: len(q)], x[len(q) :], 0.7 * k) for k, x in enumerate(rows)]
    memory = Memory(f, name)
    looked = judged(memory, states, lambda state: f(state[0].copy(), state[1].copy(), state[2]))
    if looked.remembers:
        raise remembering(name, looked.remembers)
    _check_symbols(f, name, q, qd, t)
    with comparing() as compared:
        found = f(q.copy(), qd.copy(), t)
    memory.restore()
    known = [
        (s, r)
        for s, r in zip(states, looked.results, strict=False)
        if r is not None and r.dtype.kind in "fiu"
    ]
    own = {s.name for s in free_symbols(found)} <= {s.name for s in (*q, *qd, t)}
    tried = [s for s, _ in known]
    results = [r for _, r in known]
    if compared or known and own and not fits(found, (q, qd, t), tried, results, near=1e-3):
        raise ValueError(
            f"{name} has other values than its expressions: it branches on a value, or makes a "
            "number of one, and is a constant of symbols there. Write branches as "
            "da.where(condition, a, b)."
        )
    return found


def _check_symbols(
    f: Callable[..., Any], name: str, q: np.ndarray, qd: np.ndarray, t: Expr
) -> None:
    """Raise a ValueError if f uses a symbol of its own that has the name of a coordinate, a
    velocity or the time.

    Symbols are told apart by their names; for this look at f the system's are called as no other
    is.
    """
    others = [
        [symbol(f"{vector}[{k}] of a Lagrangian", t.graph) for k in range(len(q))]
        for vector in ("q", "qd")
    ]
    time = symbol("time of a Lagrangian", t.graph)
    found = np.array(f(_vector(others[0]), _vector(others[1]), time), dtype=object)
    hidden = {s.name for s in (*others[0], *others[1], time)}
    _check_names(name, {s.name for s in free_symbols(found)} - hidden, tuple(s.name for s in q))


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
    parameters : names of the symbols that L and Q hold besides q, qd, t; `replace` gives them
        values.

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
        known = {s.name for s in [*q, *qd, t]}
        self.parameters = tuple(s.name for s in free_symbols([L, *Q]) if s.name not in known)

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
        return LagrangianSystem(
            self.name,
            self.coordinate_names,
            substitute(L, pairs),
            np.asarray(substitute(Q, pairs)),
            q,
            qd,
            t,
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
        return f"<LagrangianSystem {self.name!r} of {', '.join(self.coordinate_names)}>"

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
        return _rebuilt, (
            self.name,
            self.coordinate_names,
            pack([self._L, *self._Q, *self._q, *self._qd, self._t]),
        )


def _rebuilt(name: str, coordinate_names: tuple[str, ...], packed: Any) -> LagrangianSystem:
    """A system from what pickle keeps, in a graph of its own."""
    n = len(coordinate_names)
    with Graph():
        L, *rest, t = unpack(packed)
        Q, q, qd = (_vector(rest[k : k + n]) for k in (0, n, 2 * n))
        return LagrangianSystem(name, coordinate_names, L, Q, q, qd, t)


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
