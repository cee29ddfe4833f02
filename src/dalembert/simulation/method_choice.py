"""A method of integration with what it must know of a motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dalembert.errors import ParameterError
from dalembert.expr import sqrt
from dalembert.integrators import METHODS, Method, method
from dalembert.integrators.method_kinds import (
    CONSTRAINED,
    INPUTS,
    MOMENTA,
    NONHOLONOMIC,
    QUASI_MOMENTA,
    VELOCITIES,
)
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.manifold import normalized


def method_for(motion: FirstOrderSystem, name: str) -> Method:
    """The method of a name, for a motion.

    Raises
    ------
    UnknownNameError, ValueError, ParameterError
        There is none; it does not go with the form of the equations.
    """
    refusals = METHODS[name].refuses if name in METHODS else {}
    for kind in _kinds_of_state(motion):
        if kind in refusals:
            raise _refused(motion, kind, refusals[kind])

    def energy(x: Any) -> Any:
        """The energy, which changes by the work done alone."""
        q, y, *_ = motion.split(normalized(motion.formulation, x))
        return motion.formulation.energy(q, y)

    return method(
        name,
        nq=motion.system.nq,
        nv=motion.system.nv,
        move=motion.system.integrate,
        quaternions=motion.quaternions,
        energy=energy,
        resting=bool(motion.reactions),
        along=lambda f: _along_directions(motion, f),
    )


def _kinds_of_state(motion: FirstOrderSystem) -> list[str]:
    """Kinds of state that x is, for methods that do not go with all of them."""
    kinds = [INPUTS] if motion.formulation.paths else []
    constraints = motion.system.constraints
    if constraints:
        kinds.append(CONSTRAINED)
    if not all(constraint.is_holonomic for constraint in constraints):
        kinds.append(NONHOLONOMIC)
    if not motion.formulation.canonical:
        return [*kinds, VELOCITIES]
    return [*kinds, MOMENTA, QUASI_MOMENTA] if motion.quaternions else [*kinds, MOMENTA]


def _refused(motion: FirstOrderSystem, kind: str, why: str) -> Exception:
    """The error of a method that is not for a kind of state."""
    formulation = motion.formulation
    said = why.format(formulation=formulation.name, joints=", ".join(formulation.quaternions))
    return ParameterError(said, formulation.paths) if kind == INPUTS else ValueError(said)


def _along_directions(motion: FirstOrderSystem, f: Callable[..., Any]) -> Callable[..., Any]:
    """f at points that leave the unit spheres of quaternions: the slope at their directions, to
    scale.

    The energy depends on directions alone, so that scaling quaternions back to unit length does
    not change it.
    """

    def slope(t: Any, x: Any) -> Any:
        """Rates; of quaternions, for the direction alone."""
        rates = f(t, normalized(motion.formulation, x)).copy()
        for at in motion.formulation.quaternions.values():
            length = sqrt(sum(c * c for c in x[at : at + 4]))
            rates[at : at + 4] = rates[at : at + 4] * length
        return rates

    return slope
