"""Which quantities there are, and their programs: a formulation traced on symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from dalembert.codegen.program import Program, ProgramError, operations, program_of
from dalembert.compiled.calls import vector_of_symbols, without_collection
from dalembert.compiled.regrouping import Regrouped
from dalembert.errors import UnknownNameError
from dalembert.expr import Graph, minimum
from dalembert.formulations import newton_euler
from dalembert.formulations.newton_euler.singular import guards
from dalembert.kinematics import forces, jacobians, poses
from dalembert.model.loads import ExternalForce
from dalembert.model.mechanism import Mechanism

DOUBTFUL = 1e-12     # of a joint's usual inertia: a pivot below it is looked at again by the plain function
STATES = 8           # random ones, to learn usual inertias from
GUARD = "guard"      # the hidden output that must be positive where accelerations are determined


class Quantity(NamedTuple):
    """A function of the mechanism and of vectors; `framed` ones also of a frame ('placement:tool'), `turned` ones of a frame
    and axes ('jacobian:tool:local')."""

    function: Callable[..., Any]
    inputs: tuple[str, ...]
    framed: bool = False
    turned: bool = False
    loaded: bool = False      # takes external forces


def _plain(inputs: str, *names: str) -> dict[str, Quantity]:
    return {name: Quantity(getattr(newton_euler, name), tuple(inputs.split()),
                           loaded=name in ("inverse_dynamics", "forward_dynamics")) for name in names}


QUANTITIES: dict[str, Quantity] = {
    **_plain("q qd qdd", "inverse_dynamics", "regressor", "inverse_dynamics_derivatives"),
    **_plain("q qd tau", "forward_dynamics", "forward_dynamics_derivatives", "linearize"),
    **_plain("q", "mass_matrix", "inverse_mass_matrix", "gravity_vector", "potential_energy"),
    **_plain("q qd", "bias_force", "coriolis_vector", "coriolis_matrix", "kinetic_energy", "momenta", "centroidal_momentum"),
    "passive_force": Quantity(forces.passive_force, ("q", "qd")),
    "center_of_mass": Quantity(poses.center_of_mass, ("q",)),
    "placement": Quantity(poses.placement, ("q",), framed=True),
    "jacobian": Quantity(jacobians.jacobian, ("q",), framed=True, turned=True),
    "jacobian_rate": Quantity(jacobians.jacobian_rate, ("q", "qd"), framed=True, turned=True),
}

# Forces and accelerations do not change when inertial parameters are regrouped; energies do, by constants.
OF_FORCES = frozenset((
    "inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics", "forward_dynamics_derivatives", "linearize",
    "mass_matrix", "inverse_mass_matrix", "gravity_vector", "bias_force", "coriolis_vector", "coriolis_matrix",
    "passive_force"))

Loads = tuple[tuple[str, str], ...]      # structure of external forces: (frame, axes) each


def traced(mechanism: Mechanism, names: Sequence[str], parameters: Sequence[str] = (), loads: Loads = ()) -> Program:
    """The program of some quantities, sharing what they share: of the forms that are equal, the one of fewest operations.

    Inputs: q, qd, qdd, tau as far as they are needed; `parameters`, a vector of the numbers at these paths, if there
    are any; force, moment and point of each external force. Outputs are named like the quantities, 'name.field' where a
    quantity has several; `guard` comes last where a quantity divides by inertias.

    Raises
    ------
    UnknownNameError, ProgramError
        A quantity, path or frame is unknown; the mechanism has symbols that are not among the parameters.
    """
    chosen = [(name, *_found(name, mechanism)) for name in names]
    if loads and not any(quantity.loaded for _, quantity, _ in chosen):
        raise TypeError(f"{', '.join(names)}: none of these takes external forces.")
    wanted = {i for _, quantity, _ in chosen for i in quantity.inputs}
    scale = _usual_inertias(mechanism)
    lengths = {"q": mechanism.nq, "qd": mechanism.nv, "qdd": mechanism.nv, "tau": mechanism.nv}
    with Graph(), without_collection():
        inputs = {name: vector_of_symbols(name, n) for name, n in lengths.items() if name in wanted}
        if parameters:
            inputs["parameters"] = vector_of_symbols("parameter", len(parameters))
            mechanism = mechanism.replace(dict(zip(parameters, inputs["parameters"], strict=True)))
        external = []
        for k, (frame, axes) in enumerate(loads):
            vectors = {part: vector_of_symbols(f"{part} {k}", 3) for part in ("force", "moment", "point")}
            inputs |= {f"{part}{k}": vector for part, vector in vectors.items()}
            external.append(ExternalForce(frame, expressed_in=axes, **vectors))
        try:
            forms = [mechanism]
            if all(name.split(":")[0] in OF_FORCES for name in names):
                forms.append(Regrouped.of(mechanism))
            programs = [program_of(inputs, _outputs(form, chosen, inputs, external, scale)) for form in forms]
            return min(programs, key=operations)
        except ProgramError as error:
            raise ProgramError(f"mechanism {mechanism.name!r}: {error} Name its path in da.compile(..., parameters=[...]), "
                               "or replace it by a number.") from None


def _outputs(mechanism, chosen, inputs: Mapping[str, np.ndarray], external, scale: np.ndarray) -> dict[str, Any]:
    outputs: dict[str, Any] = {}
    token = guards.set([])
    try:
        for name, quantity, arguments in chosen:
            more = {"external_forces": external} if quantity.loaded and external else {}
            found = quantity.function(mechanism, *(inputs[i] for i in quantity.inputs), *arguments, **more)
            if hasattr(found, "_fields"):
                outputs |= {f"{name}.{field}": value for field, value in found._asdict().items()}
            else:
                outputs[name] = found
        pivots = guards.get()
    finally:
        guards.reset(token)
    if pivots:
        outputs[GUARD] = reduce(minimum, (pivot - DOUBTFUL * float(scale[k]) for k, pivot in pivots))
    return outputs


def _usual_inertias(mechanism: Mechanism) -> np.ndarray:
    """Largest diagonal entries of the mass matrix at some random states; zeros where symbols leave them unknown."""
    states = np.array([mechanism.random_state(seed)[0] for seed in range(STATES)])
    if newton_euler.mass_matrix(mechanism, states[0]).dtype == object:
        return np.zeros(mechanism.nv)
    return np.einsum("nkk->nk", newton_euler.mass_matrix(mechanism, states)).max(axis=0, initial=0.0)


def _found(name: str, mechanism: Mechanism) -> tuple[Quantity, tuple[str, ...]]:
    """Quantity, and frame and axes of a framed one; a frame's name may itself hold colons."""
    stem, _, place = name.partition(":")
    if stem not in QUANTITIES:
        raise UnknownNameError("quantity", stem, tuple(QUANTITIES))
    quantity = QUANTITIES[stem]
    if quantity.framed != bool(place):
        raise UnknownNameError("quantity", name, (f"{stem}:FRAME" if quantity.framed else stem,))
    frame, _, axes = place.rpartition(":")
    if frame and quantity.turned and place not in mechanism.frame_names:
        return quantity, (frame, axes)
    return quantity, (place,) if place else ()
