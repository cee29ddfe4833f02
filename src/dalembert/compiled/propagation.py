"""Methods of integration over traced functions, as machine code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dalembert.expr import jacobian
from dalembert.integrators import External, Method
from dalembert.native.propagator import Propagator
from dalembert.tracing.integration import Function, propagation_of, right_hand_side


def propagator(
    f: Function,
    nx: int,
    parameters: int,
    method: Method,
    manifold: Any = None,
    calls: Sequence[int] = (),
    watch: Any = None,
    derivatives: Any = None,
) -> Propagator:
    """The propagator of a method over x' = f(t, x, p), for x (nx,) and p (parameters,).

    manifold, calls, watch, derivatives: as those of `propagation_of`; not for methods of a library.
    """
    if not isinstance(method, External):
        program = propagation_of(f, nx, parameters, method, manifold, calls, watch, derivatives)
        return Propagator(method, program)

    def slopes(t: Any, x: Any, p: Any) -> Any:
        """df/dx as expressions."""
        return jacobian(f(t, x, p), x)

    return Propagator(method, [right_hand_side(g, nx, parameters) for g in (f, slopes)])
