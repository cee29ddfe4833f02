"""A method of integration with what it must know of a motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dalembert.errors import ParameterError
from dalembert.expr import sqrt
from dalembert.integrators import METHODS, Method, method
from dalembert.integrators.method_kinds import (
    BALANCED,
    BAUMGARTE,
    CONSTRAINED,
    CONTACT,
    DEPENDENT_ENTRIES,
    GENERAL,
    GGL,
    INPUTS,
    MOMENTA,
    MULTIPLIERS,
    NONHOLONOMIC,
    PARTITIONING,
    PROJECTION,
    QUASI_MOMENTA,
    SWITCHES,
    VELOCITIES,
    Constrained,
    Own,
)
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.manifold import normalized
from dalembert.simulation.options import Constraining
from dalembert.simulation.stabilisation import Stabilisation
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.system import System

OTHER_PRINCIPLES = ("vakonomic", "servo")  # than those whose forces are J^T lambda


def stabilisation_for(system: System, name: str, asked: Constraining) -> Stabilisation:
    """How a system stays on its constraints by a method of a name.

    Raises
    ------
    ValueError
        There are no constraints; the method does not know what is asked for.
    """
    own = own_of(name)
    refusals = METHODS[name].refuses if name in METHODS else {}
    rows = ConstraintSet(system)
    if not rows.constraints:
        if asked.stabilisation is not None:
            raise ValueError(
                f"stabilisation={asked.stabilisation!r}: {system.name!r} has no constraints that a "
                "step could leave: leave it out."
            )
        return Stabilisation(unknowns=next(iter(own.values()), ()))
    default = next(iter(own)) if own and PROJECTION in refusals else PROJECTION
    chosen = asked.stabilisation or default
    if rows.principles.act_otherwise and chosen != PROJECTION:
        raise ValueError(
            f"stabilisation={chosen!r}: {system.name!r} has constraints that are kept otherwise than "
            f"by multipliers of rows (servo, TwoWay or vakonomic): take {PROJECTION!r} and "
            "method='dop853', or another whose steps end on the constraints."
        )
    if chosen in own:
        return Stabilisation(chosen, unknowns=own[chosen])
    if chosen in refusals:
        raise ValueError(refusals[chosen])
    if chosen not in GENERAL:
        others = [repr(other) for other in METHODS if chosen in own_of(other)]
        raise ValueError(
            f"stabilisation={chosen!r} has multipliers as unknowns of each step, which {name!r} has "
            f"not: take method={' or '.join(others)}, or one of {', '.join(GENERAL)}."
        )
    unknowns = (DEPENDENT_ENTRIES, SWITCHES) if chosen == PARTITIONING else ()
    return Stabilisation(chosen, asked.time_constant, unknowns)


def own_of(name: str) -> Own:
    """Stabilisations that steps of a method of a name have of their own."""
    return getattr(METHODS.get(name), "own", {})


def method_for(motion: FirstOrderSystem, name: str, rho_inf: float | None = None) -> Method:
    """The method of a name, for a motion; rho_inf: damping of 'generalized_alpha'.

    Raises
    ------
    UnknownNameError, ValueError, ParameterError
        There is none; it does not go with the form of the equations.
    """
    refusals = METHODS[name].refuses if name in METHODS else {}
    for kind in _kinds_of_state(motion):
        if kind in refusals:
            raise _refused(motion, kind, refusals[kind])

    _check_contact(motion, name)
    _check_principles(motion, name)
    _check_partition(motion)
    _check_massless(motion, name)

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
        stabilisation=motion.formulation.stabilisation.name,
        unknowns=motion.unknown_places,
        canonical=motion.formulation.canonical,
        rho_inf=rho_inf,
        along=lambda f: _along_directions(motion, f),
    )


def _check_contact(motion: FirstOrderSystem, name: str) -> None:
    """See that constraints are met in a way that leaves room for joints that stick and stop."""
    way = motion.formulation.stabilisation
    if not (motion.reactions and motion.system.constraints):
        return
    if way.name != PROJECTION or way.unknowns:
        raise ValueError(
            f"joints of {motion.system.name!r} stick or stop beside its constraints, whose reactions "
            f"{name!r} with stabilisation={way.name!r} does not solve for: take method='dop853' or "
            "'rk4' with 'projection', or friction='sign' without stops."
        )


def _check_principles(motion: FirstOrderSystem, name: str) -> None:
    """See that forces of constraints act as J^T lambda where a method solves for lambda by itself."""
    form = motion.formulation
    way = form.stabilisation
    others = {*getattr(motion.system.source, "principles", ())} & {*OTHER_PRINCIPLES}
    if not others or not (way.unknowns or way.name in (BAUMGARTE, GGL) or form.canonical):
        return
    raise ValueError(
        f"{motion.system.name!r} has constraints by the principle {min(others)!r}, whose forces are "
        f"not J^T lambda: {name!r} with stabilisation={way.name!r} and formulation={form.name!r} "
        "does not solve for them. Take method='dop853' or 'rk4' with 'projection', in (q, qd)."
    )


def _check_partition(motion: FirstOrderSystem) -> None:
    """See that independent velocities are entries of the state."""
    if motion.formulation.canonical and motion.stabilisation == PARTITIONING:
        raise ValueError(
            f"stabilisation={PARTITIONING!r} has independent velocities, which states (q, p) have "
            "not: take 'null_space' or 'projection', or a formulation in (q, qd)."
        )


def _check_massless(motion: FirstOrderSystem, name: str) -> None:
    """See that a method does without the inverse of M where links have no mass."""
    form = motion.formulation
    solves_for_rows = isinstance(METHODS.get(name), Constrained) or {MULTIPLIERS, BALANCED} & {
        *form.stabilisation.unknowns
    }
    if not motion.system.massless or not (form.canonical or solves_for_rows):
        return
    raise ValueError(
        f"{motion.system.name!r} has links without mass that move on joints, whose accelerations "
        f"{name!r} with formulation={form.name!r} takes from the inverse of the mass matrix: give "
        "them a small inertia, or take method='dop853' in (q, qd)."
    )


def _kinds_of_state(motion: FirstOrderSystem) -> list[str]:
    """Kinds of state that x is, for methods that do not go with all of them."""
    kinds = [INPUTS] if motion.formulation.paths else []
    constraints = ConstraintSet(motion.system).constraints
    if constraints:
        kinds.append(CONSTRAINED)
    if not all(constraint.is_holonomic for constraint in constraints):
        kinds.append(NONHOLONOMIC)
    if motion.reactions:
        kinds.append(CONTACT)
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
