"""Kinds of methods: a fixed step, a step that the method chooses, a library's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np

# Kinds of states x = (q, y, ...), for methods that do not go with all of them: y are velocities, or
# momenta, or momenta beside quaternions; the energy depends on numbers that are inputs.
VELOCITIES, MOMENTA, QUASI_MOMENTA, INPUTS = "velocities", "momenta", "quasi_momenta", "inputs"
# Of a system: it has constraints; some of them are on velocities alone.
CONSTRAINED, NONHOLONOMIC = "constrained", "nonholonomic"

Vector = np.ndarray[Any, Any]  # (n,) of floats or expressions
Rate = Callable[[Any, Any], Any]  # f(t, x) -> x'

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

    @property
    def implicit(self) -> bool:
        """Whether a step solves equations."""
        return SOLUTION in self.memory


class Manifold(Protocol):
    """States that a system may have, in x = (q, qd, ...): quaternions of unit length, constraints
    met.

    Attributes
    ----------
    is_constrained : whether there are constraints
    """

    is_constrained: bool

    def __call__(self, t: Any, x: Any) -> Any:
        """The state nearby that is one: positions, then velocities."""

    def normalized(self, x: Any) -> Any:
        """The state with quaternions of unit length."""

    def position(self, t: Any, q: Any) -> Any:
        """phi of holonomic constraints (k,)."""

    def velocity(self, t: Any, q: Any, qd: Any) -> Any:
        """phi' of the same (k,)."""

    def response(self, t: Any, q: Any, qd: Any) -> Any:
        """M, the Jacobian J and the bias of constraints at a state: `rows`, and `towards(r)`, the
        step M^-1 J^T (J M^-1 J^T)^-1 r.
        """


class Constrained(FixedStep):
    """A fixed step that solves for its end with the constraints of the system.

    step(f, t, x, h, manifold=, **options) -> x on the constraints of the `Manifold`, if there is
    one. f gives accelerations under constraint forces.
    """


class Adaptive(NamedTuple):
    """A pair of orders, and the path between the ends of its steps.

    step(f, t, x, h, first) -> (x, errors, k): values k of f from first = f(t, x) to f(t + h, x)
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
