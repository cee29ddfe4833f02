"""Which quantities there are, and their programs: a formulation traced on symbols."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from dalembert.codegen.program import Program, program_of
from dalembert.errors import UnknownNameError
from dalembert.expr import Graph, minimum, symbol
from dalembert.formulations import newton_euler
from dalembert.formulations.newton_euler.singular import guards
from dalembert.kinematics import forces, jacobians, poses
from dalembert.model.loads import ExternalForce
from dalembert.model.mechanism import Mechanism

GUARD = "guard"      # the hidden output that must be positive where accelerations are determined


class Quantity(NamedTuple):
    """A function of the mechanism and of vectors; `framed` ones also of a frame and the axes ('jacobian:tool:local')."""

    function: Callable[..., Any]
    inputs: tuple[str, ...]
    framed: bool = False
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
    "jacobian": Quantity(jacobians.jacobian, ("q",), framed=True),
    "jacobian_rate": Quantity(jacobians.jacobian_rate, ("q", "qd"), framed=True),
}

Loads = tuple[tuple[str, str], ...]      # structure of external forces: (frame, axes) each


def traced(mechanism: Mechanism, names: Sequence[str], parameters: Sequence[str] = (), loads: Loads = ()) -> Program:
    """The program of some quantities, sharing what they share.

    Inputs: q, qd, qdd, tau as far as they are needed; `parameters`, a vector of the numbers at these paths, if there
    are any; force, moment and point of each external force. Outputs are named like the quantities, 'name.field' where a
    quantity has several; `guard` comes last where a quantity divides by inertias.

    Raises
    ------
    UnknownNameError, ProgramError
        A quantity, path or frame is unknown; the mechanism has symbols that are not among the parameters.
    """
    chosen = [(name, *_found(name)) for name in names]
    wanted = {i for _, quantity, _ in chosen for i in quantity.inputs}
    lengths = {"q": mechanism.nq, "qd": mechanism.nv, "qdd": mechanism.nv, "tau": mechanism.nv}
    with Graph(), _without_collection():
        inputs = {name: _vector(name, n) for name, n in lengths.items() if name in wanted}
        if parameters:
            inputs["parameters"] = _vector("parameter", len(parameters))
            mechanism = mechanism.replace(dict(zip(parameters, inputs["parameters"], strict=True)))
        external = []
        for k, (frame, axes) in enumerate(loads):
            vectors = {part: _vector(f"{part} {k}", 3) for part in ("force", "moment", "point")}
            inputs |= {f"{part}{k}": vector for part, vector in vectors.items()}
            external.append(ExternalForce(frame, expressed_in=axes, **vectors))
        return program_of(inputs, _outputs(mechanism, chosen, inputs, external))


def _outputs(mechanism, chosen, inputs: Mapping[str, np.ndarray], external) -> dict[str, Any]:
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
        margins = guards.get()
    finally:
        guards.reset(token)
    if margins:
        smallest: Any = margins[0]
        for margin in margins[1:]:
            smallest = minimum(smallest, margin)
        outputs[GUARD] = smallest
    return outputs


def _found(name: str) -> tuple[Quantity, tuple[str, ...]]:
    stem, *arguments = name.split(":")
    if stem not in QUANTITIES:
        raise UnknownNameError("quantity", stem, tuple(QUANTITIES))
    quantity = QUANTITIES[stem]
    if quantity.framed and not arguments:
        raise UnknownNameError("quantity", name, (f"{stem}:FRAME",))
    if not quantity.framed and arguments:
        raise UnknownNameError("quantity", name, (stem,))
    return quantity, tuple(arguments)


def _vector(name: str, n: int) -> np.ndarray:
    """Symbols that no symbol of a mechanism can be taken for."""
    out = np.empty(n, dtype=object)
    out[:] = [symbol(f"input {name}[{k}]") for k in range(n)]
    return out


@contextmanager
def _without_collection():
    """Tracing makes many objects and no cycles that are garbage before it ends."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


