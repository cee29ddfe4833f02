"""Public functions of mechanisms whose results depend on constraints: the tree's functions, and
theirs where a mechanism has constraints.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from dalembert.errors import DalembertError
from dalembert.formulations import newton_euler
from dalembert.formulations.newton_euler.derivatives import (
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
)
from dalembert.formulations.newton_euler.linearization import Linearization
from dalembert.model.mechanism import Mechanism
from dalembert.spatial.arrays import Array, Values

P = ParamSpec("P")
R = TypeVar("R")


def _constrained() -> Any:
    """The functions of mechanisms with constraints, imported when the first one is met."""
    return importlib.import_module("dalembert.analysis.constrained_motion")


def of_tree(function: Callable[..., Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator of a function of mechanisms with constraints: others go to the tree's function, whose
    help it takes on, with its own words after the first lines.
    """

    def with_tree(constrained: Callable[P, R]) -> Callable[P, R]:
        """The function that looks at the mechanism."""

        @functools.wraps(constrained)
        def chosen(*arguments: P.args, **named: P.kwargs) -> R:
            """The tree's results, or those of a mechanism with constraints."""
            mechanism = arguments[0]
            assert isinstance(mechanism, Mechanism)
            if mechanism.constraints:
                return constrained(*arguments, **named)
            named.pop("t", None)
            result: R = function(*arguments, **named)
            return result

        start, mark, rest = inspect.getdoc(function).partition("Parameters\n-----")  # type: ignore[union-attr]
        own = inspect.getdoc(constrained)
        chosen.__doc__ = f"{start.rstrip()}\n\n{own}\n\n{mark}{rest}"
        return chosen

    return with_tree


@of_tree(newton_euler.forward_dynamics)
def forward_dynamics(
    mechanism: Mechanism,
    q: Values,
    qd: Values,
    tau: Values,
    external_forces: Any = (),
    t: float = 0.0,
) -> Array:
    """With constraints, at the time t [s]: M qdd + bias = tau + J^T lambda, J qdd = k. A
    ConstraintError says where rows depend on each other.
    """
    result: Array = _constrained().forward_dynamics(mechanism, q, qd, tau, external_forces, t)
    return result


@of_tree(newton_euler.inverse_dynamics)
def inverse_dynamics(
    mechanism: Mechanism,
    q: Values,
    qd: Values,
    qdd: Values,
    external_forces: Any = (),
    weights: Any = None,
    t: float = 0.0,
) -> Array:
    """With constraints, at the time t [s]: forces of the driven joints (`actuated`), 0 of the others,
    with M qdd + bias = tau + J^T lambda. Where several do, sum w tau^2 is least: weights (m,) are w
    of the entries of driven joints, in their order, or {joint: w}; 1 unless given. A ConstraintError
    says where they cannot hold the motion, or where qdd breaks J qdd = k.
    """
    state = (q, qd, qdd)
    result: Array = _constrained().inverse_dynamics(mechanism, state, external_forces, weights, t)
    return result


@of_tree(newton_euler.forward_dynamics_derivatives)
def forward_dynamics_derivatives(
    mechanism: Mechanism, q: Values, qd: Values, tau: Values, t: float = 0.0
) -> ForwardDynamicsDerivatives:
    """With constraints, at the time t [s]: derivatives of the accelerations with multipliers, by any
    step, also by one that leaves the constraints.
    """
    found: ForwardDynamicsDerivatives = _constrained().forward_dynamics_derivatives(
        mechanism, q, qd, tau, t
    )
    return found


@of_tree(newton_euler.inverse_dynamics_derivatives)
def inverse_dynamics_derivatives(
    mechanism: Mechanism, q: Values, qd: Values, qdd: Values
) -> InverseDynamicsDerivatives:
    """With constraints: not given, as forces of drives that share a motion change with the rows; a
    DalembertError says so.
    """
    raise DalembertError(
        f"inverse_dynamics_derivatives of {mechanism.name!r}, which has constraints: take those of "
        "its tree, mechanism.without('constraints'), or derive da.compile(mechanism)."
        "inverse_dynamics."
    )


@of_tree(newton_euler.linearize)
def linearize(
    mechanism: Mechanism,
    q: Values,
    qd: Values,
    tau: Values,
    t: float = 0.0,
    independent: Sequence[str] = (),
) -> Linearization:
    """With constraints, at the time t [s]: A (d, d) and B (d, nv) in tangent coordinates of the states
    that meet them, steps of independent coordinates and then of independent velocities, chosen by
    `independent` (names of joints or velocities) or by the rows; a `TangentLinearization`, of one
    state, names them and has the basis.
    """
    found: Linearization = _constrained().linearize(mechanism, (q, qd, tau), t, independent)
    return found
