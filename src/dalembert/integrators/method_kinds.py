"""Kinds of methods: a fixed step, a step that the method chooses, a library's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np

from dalembert.integrators.stage_equations import consistent

# Kinds of states x = (q, y, ...), for methods that do not go with all of them: y are velocities, or
# momenta, or momenta beside quaternions; the energy depends on numbers that are inputs.
VELOCITIES, MOMENTA, QUASI_MOMENTA, INPUTS = "velocities", "momenta", "quasi_momenta", "inputs"
# Of a system: it has constraints; some of them are on velocities alone; friction sticks in it, or
# joints stop.
CONSTRAINED, NONHOLONOMIC, CONTACT = "constrained", "nonholonomic", "contact"
# Stabilisations of constraints, for every method: ends of steps are projected; errors fade with a
# time constant; positions move at corrected velocities; none; accelerations come from equations in
# the null space of the rows; dependent coordinates are solved for in each evaluation. Of some
# methods: the equations that are solved in the step, of index 2 or 3.
PROJECTION, BAUMGARTE, GGL, NONE = "projection", "baumgarte", "ggl", "none"
NULL_SPACE, PARTITIONING = "null_space", "partitioning"
INDEX_2, INDEX_3 = "index2", "index3"
MINIMAL = (NULL_SPACE, PARTITIONING)
GENERAL = (PROJECTION, BAUMGARTE, GGL, NONE, *MINIMAL)
MET = (PROJECTION, *MINIMAL)  # ends of steps are on the constraints
STABILISATIONS = (*GENERAL, INDEX_2, INDEX_3)
# Unknowns beside q, y, work and states of the controller that a method has in x.
MULTIPLIERS, SLIPS, ACCELERATIONS = "multipliers", "slips", "accelerations"
# Accelerations and multipliers in x, of which f has no rates: forces out of balance, Q + tau - bias -
# M qdd + J^T lambda, and accelerations off the constraints, J qdd - k.
BALANCED, BALANCING = "balanced_accelerations", "balancing_multipliers"
# Numbers that stay in a step of coordinate partitioning: which entries are dependent, and how often
# others became so.
DEPENDENT_ENTRIES, SWITCHES = "dependent_entries", "switches"

Vector = np.ndarray[Any, Any]  # (n,) of floats or expressions
Rate = Callable[[Any, Any], Any]  # f(t, x) -> x'
Errors = tuple[Any, ...]  # estimates of one error, of different orders

STEEP = 8.0  # of `Adaptive.bend`

Refusals = Mapping[
    str, str
]  # kind of state -> why the method is not for it; {formulation}, {joints} are filled in
NO_REFUSALS: Refusals = MappingProxyType({})

# Name of what a step leaves to the next -> how many times as long as x it is, 0 for one number; all
# are 0 where there was no step before, or where it leads no more.
Lengths = Mapping[str, int]
NO_MEMORY: Lengths = MappingProxyType({})
SOLUTION = "z"  # of an implicit step, from which the next one begins to search
VALUE: Lengths = MappingProxyType({"first": 1, "known": 0})  # of f at the end, and whether there is


# Stabilisation that a step has of its own -> unknowns that x has for it.
Own = Mapping[str, tuple[str, ...]]
NOTHING_OF_ITS_OWN: Own = MappingProxyType({})


def nothing(**given: Any) -> dict[str, Any]:
    """Options of a step that needs to know nothing of the system."""
    return {}


class FixedStep(NamedTuple):
    """step(f, t, x, h, **options) -> x; with a SOLUTION in its `memory` it is implicit and takes
    `solve` too, a `fixed_point.Solver`.

    needs(**given) -> options, of all that is known of the system: nq, nv, move, quaternions,
    energy, energy_gradient, resting, along (see `methods.method`); a ValueError says what is
    missing.
    """

    name: str
    order: int
    step: Callable[..., Any]
    memory: Lengths = NO_MEMORY
    needs: Callable[..., dict[str, Any]] = nothing
    refuses: Refusals = NO_REFUSALS
    own: Own = NOTHING_OF_ITS_OWN

    @property
    def implicit(self) -> bool:
        """Whether a step solves equations."""
        return SOLUTION in self.memory

    @property
    def numbers(self) -> tuple[float, ...]:
        """Numbers that the step was made with."""
        options = getattr(self.step, "keywords", {})
        return tuple(value for value in options.values() if isinstance(value, float))


class ConstraintResponse(Protocol):
    """Motion that forces along rows of constraints cause at a state."""

    def multipliers(self, residual: Any) -> Any:
        """(J M^-1 J^T)^-1 r (k,)."""

    def towards(self, residual: Any) -> Any:
        """M^-1 J^T (J M^-1 J^T)^-1 r (nv,): the step of velocities that changes J qd by r."""


class Manifold(Protocol):
    """States that a system may have, in x = (q, y, ...): quaternions of unit length, constraints
    met.

    Attributes
    ----------
    is_constrained : whether there are constraints
    """

    is_constrained: bool

    @property
    def holonomic(self) -> np.ndarray:
        """Whether each row of constraints holds coordinates (k,)."""

    def __call__(self, t: Any, x: Any) -> Any:
        """The state nearby that is one: positions, then velocities, if ends of steps are projected."""

    def normalized(self, x: Any) -> Any:
        """The state with quaternions of unit length."""

    def met(self, t: Any, x: Any, errors: Errors = ()) -> tuple[Any, Errors]:
        """The state nearby, and the errors of x."""

    @property
    def lands(self) -> bool:
        """Whether ends of steps are projected onto constraints."""

    def landed(self, t: Any, x: Any, errors: Any = ()) -> list[Any]:
        """Margin of the constraints, the state nearby that is one, then the parts of errors of x
        that projection leaves.

        The margin is 1 where rows are independent, and 0 where one comes to follow from others.
        """

    def crossing(self, f: Rate, crossed: Any) -> Rate:
        """f of the states nearby that meet the constraints, if `crossed` is above 0; `least` becomes
        the least margin of all of them.
        """

    def rate(self, q: Any, qd: Any) -> Any:
        """Rates of coordinates (nq,), linear in the velocities qd."""

    def velocities(self, t: Any, q: Any, y: Any) -> Any:
        """qd of a state whose y are velocities or momenta."""

    def position(self, t: Any, q: Any) -> Any:
        """phi of holonomic constraints."""

    def velocity(self, t: Any, q: Any, y: Any) -> Any:
        """phi' and psi of all constraints (k,)."""

    def responses(self, t: Any, q: Any, y: Any) -> tuple[Any, Any]:
        """`ConstraintResponse` along rows of positions, None if there are none, and along all rows."""

    def impulse(self, response: Any, residual: Any) -> Any:
        """The change of y that changes J qd by r."""

    def linearised(self, t: Any, x: Any, by_rate: Any, by_place: Any) -> Any:
        """The motion about a state of velocities, of which `corrected(r)` are the accelerations that
        take away a residual r of these, and `multipliers(r)` and `along(...)` those of constraint
        forces that change J qdd by r. In a step velocities change by `by_rate`, coordinates by
        `by_place` of accelerations.
        """

    def push(self, response: Any, ahead: Any) -> Any:
        """The change of velocities (nv,), along forces of constraints at one state, that meets the
        constraints at a state near by; their `responses` are given.
        """


def met(manifold: Any, t: Any, x: Any, errors: Errors = ()) -> tuple[Any, Errors]:
    """x brought back to a manifold, if there is one, and the errors of x that are left then."""
    if manifold is None:
        return x, errors
    return manifold.met(t, x, errors)  # type: ignore[no-any-return]


class Constrained(FixedStep):
    """A fixed step that meets the constraints of the system by itself.

    step(f, t, x, h, manifold=, parts=, stabilisation=, **options) -> x. With a stabilisation of its
    `own` f takes the unknowns that x has for it, such as multipliers, in place of those that would
    follow from the state; their rates are 0.
    """


class Adaptive(NamedTuple):
    """A pair of orders, and the path between the ends of its steps.

    step(f, t, x, h, first, manifold) -> (x, errors, k): x brought back to the manifold, its errors,
    values k of f from first = f(t, x) to f(t + h, x)
    between(x, new, h, [*k, *extra], part) -> x(t + part h), after extra(f, t, x, h, k) if there is
    that coefficients(x, new, h, [*k, *extra]) -> Bernstein coefficients of the same bend(h, k) ->
    by how much it differs at most from the cubic through both ends, entry by entry, and h times its
    rate by at
        most STEEP times as much, where the values of `extra` are within 6 (max k - min k) of (max k
        + min k)/2
    """

    name: str
    order: int
    step: Callable[..., Any]
    between: Callable[..., Any]
    coefficients: Callable[..., list[Any]]
    bend: Callable[..., Any]
    extra: Callable[..., Any] | None = None
    needs: Callable[..., dict[str, Any]] = nothing
    refuses: Refusals = NO_REFUSALS
    memory: Lengths = VALUE
    own: Own = NOTHING_OF_ITS_OWN


class LinearlyImplicit(Adaptive):
    """A pair of orders whose stages are solved for by derivatives of f: its f is a `LinearisedRate`.

    begin(f, t, x, first) -> x to begin with, whose forces are in balance
    """

    @property
    def begin(self) -> Callable[..., Any]:
        """State to begin with, for a state and the value of f there."""
        return partial(consistent, places=getattr(self.step, "keywords", {}).get("places"))


class External(NamedTuple):
    """steps(f, times, x, h, rtol, atol, jacobian, watch): a library's method, which is called and
    not compiled.
    """

    name: str
    order: int
    steps: Callable[..., Any]
    needs: Callable[..., dict[str, Any]] = nothing
    refuses: Refusals = NO_REFUSALS
    memory: Lengths = NO_MEMORY


Method = FixedStep | Adaptive | External
Watch = Callable[
    ..., Any
]  # (t, x, t1, x1, h, k) of a step, with values k of f -> 0, or a code to stop before it
