"""Quantities by name, and their programs: a formulation traced on symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from dalembert.arguments import check_choice
from dalembert.codegen.blocks import ProgramError
from dalembert.codegen.program import STATUS, Program, program_of
from dalembert.codegen.symbols import vector_of_symbols, without_collection
from dalembert.errors import DalembertError, UnknownNameError
from dalembert.expr import Graph, absolute, constant, count_operations
from dalembert.expr.node import select
from dalembert.formulations import newton_euler
from dalembert.formulations.newton_euler import differentiated
from dalembert.formulations.newton_euler.forward import forward_dynamics_by_factors
from dalembert.kinematics import forces, jacobians, momentum, poses
from dalembert.model.external_forces import ExternalForce
from dalembert.model.linkage import QUATERNION_TOLERANCE
from dalembert.model.mechanism import Mechanism
from dalembert.model.pivots import ALWAYS, eliminated, guards, sizes, stacked
from dalembert.tracing.quantity import Quantity, described
from dalembert.tracing.regrouping import FACTORS_UP_TO, ROLLED_FROM, on_regrouped_tree

DOUBTFUL = {
    "float64": 1e-12,
    "float32": 1e-5,
}  # of a joint's usual inertia: a smaller pivot is looked at again
# of its size: a pivot above it, and pivots that follow it, have errors far below their values
NEAR_SINGULAR = 1e-7
UNUSUAL = (
    1e-3  # of the usual pivot: one that is smaller is looked at again if it is also near singular
)
STATES = 8  # random ones, to learn usual inertias from


def _of_newton_euler(inputs: str, *names: str) -> dict[str, Quantity]:
    return {name: described(name, getattr(newton_euler, name), inputs) for name in names}


def _loaded(inputs: str, name: str) -> Quantity:
    return described(name, getattr(newton_euler, name), inputs, loaded=True)


QUANTITIES: dict[str, Quantity] = {
    "inverse_dynamics": _loaded("q qd qdd", "inverse_dynamics"),
    **_of_newton_euler("q qd qdd", "regressor", "inverse_dynamics_derivatives"),
    "forward_dynamics": _loaded("q qd tau", "forward_dynamics"),
    **_of_newton_euler("q qd tau", "forward_dynamics_derivatives", "linearize"),
    **_of_newton_euler(
        "q", "mass_matrix", "inverse_mass_matrix", "gravity_vector", "potential_energy"
    ),
    "bias_force": described("bias_force", newton_euler.bias_force, "q qd")._replace(
        description="C qd + g; without springs and friction"
    ),
    **_of_newton_euler(
        "q qd",
        "coriolis_vector",
        "coriolis_matrix",
        "kinetic_energy",
        "momenta",
        "centroidal_momentum",
    ),
    "passive_force": described("passive_force", forces.passive_force, "q qd"),
    "center_of_mass": described("center_of_mass", poses.center_of_mass, "q"),
    "center_of_mass_jacobian": described(
        "center_of_mass_jacobian", momentum.center_of_mass_jacobian, "q"
    ),
    "centroidal_momentum_matrix": described(
        "centroidal_momentum_matrix", momentum.centroidal_momentum_matrix, "q"
    ),
    "placement": described("placement", poses.placement, "q", framed=True),
    "jacobian": described("jacobian", jacobians.jacobian, "q", framed=True, turned=True),
    "jacobian_rate": described(
        "jacobian_rate", jacobians.jacobian_rate, "q qd", framed=True, turned=True
    ),
}

# Forces and accelerations do not change when inertial parameters are regrouped; energies do, by
# constants.
OF_FORCES = frozenset(
    (
        "inverse_dynamics",
        "inverse_dynamics_derivatives",
        "forward_dynamics",
        "forward_dynamics_derivatives",
        "linearize",
        "mass_matrix",
        "inverse_mass_matrix",
        "gravity_vector",
        "bias_force",
        "coriolis_vector",
        "coriolis_matrix",
        "passive_force",
    )
)

# Quantities that constraints change; all others are those of the tree.
OF_MOTION = (
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "linearize",
)

# The same quantities as derivatives of expressions: fewer operations than the recursion for some
# mechanisms of few joints.
DIFFERENTIATED = {
    name: getattr(differentiated, name)
    for name in ("inverse_dynamics_derivatives", "forward_dynamics_derivatives", "linearize")
}
BY_FACTORS = {
    "forward_dynamics": forward_dynamics_by_factors
}  # of the mass matrix, for mechanisms of few joints
FEW = 1200  # operations; above it these are not even tried, which takes long and was never worth it

FORMULATIONS = (
    "newton_euler",
    "lagrange",
    "elementary_motions",
    "hamilton",
)  # imported where they are asked for

Loads = tuple[tuple[str, str], ...]  # structure of external forces: (frame, axes) each


def known_formulation(name: str) -> str:
    """The name of a formulation, or an error that lists them."""
    asked = name[0] if isinstance(name, (list, tuple)) and len(name) == 1 else name
    if isinstance(asked, str) and asked in QUANTITIES:
        raise TypeError(
            f"{asked!r} is a quantity, and none is named when a mechanism is compiled: "
            f"da.compile(mechanism).{asked}(...)."
        )
    check_choice("formulation", name, FORMULATIONS)
    return name


def traced(
    mechanism: Mechanism,
    names: Sequence[str],
    parameters: Sequence[str] = (),
    loads: Loads = (),
    formulation: str = "newton_euler",
    dtype: Any = np.float64,
) -> Program:
    """The program of some quantities, sharing what they share: scans over the bodies of a large
    mechanism where the quantities allow it (see `rolled`), else straight-line code.

    Inputs: q, qd, qdd, tau as far as they are needed; `parameters`, a vector of the numbers at
    these paths, if there are any; force, moment and point of each external force. Outputs are named
    like the quantities, 'name.field' where a quantity has several; `status` comes last where a
    quantity divides by inertias or q has quaternions: 0, or 1 + the entry of qd whose pivot is the
    first that is not positive beyond doubt, or -1 - the entry of q where a quaternion starts that
    is not of unit length.

    Raises
    ------
    UnknownNameError, ProgramError
        A quantity, path or frame is unknown; the mechanism has symbols that are not among the
        parameters.
    """
    _check_tree_alone(mechanism, names)
    many = sum(not joint.is_fixed for joint in mechanism.joints) >= ROLLED_FROM
    if many and formulation == "newton_euler" and not parameters and not loads:
        from dalembert.tracing import rolled

        if rolled.covers(mechanism, names):
            return rolled.rolled(mechanism, names, DOUBTFUL[np.dtype(dtype).name])
    return straight(mechanism, names, parameters, loads, formulation, dtype)


def _check_tree_alone(mechanism: Mechanism, names: Sequence[str]) -> None:
    """Raise a DalembertError if constraints change one of the quantities."""
    for name in names:
        if mechanism.constraints and name in OF_MOTION:
            raise DalembertError(
                f"{name} of {mechanism.name!r} depends on its constraints: da.compile(mechanism) has "
                "it, and da.compile(mechanism.without('constraints')) that of the tree."
            )


def straight(
    mechanism: Mechanism,
    names: Sequence[str],
    parameters: Sequence[str] = (),
    loads: Loads = (),
    formulation: str = "newton_euler",
    dtype: Any = np.float64,
) -> Program:
    """The same as straight-line code for any mechanism: of the forms that are equal, the one of
    fewest operations.
    """
    chosen = [(name, *known_quantity(name, mechanism, formulation)) for name in names]
    if loads and not any(quantity.loaded for _, quantity, _ in chosen):
        raise TypeError(f"{', '.join(names)}: none of these takes external forces.")
    wanted = {i for _, quantity, _ in chosen for i in quantity.inputs}
    scale = cache(partial(_doubtful_pivots, mechanism, DOUBTFUL[np.dtype(dtype).name]))
    lengths = {"q": mechanism.nq, "qd": mechanism.nv, "qdd": mechanism.nv, "tau": mechanism.nv}
    with Graph(), without_collection():
        inputs = {name: vector_of_symbols(name, n) for name, n in lengths.items() if name in wanted}
        if parameters:
            inputs["parameters"] = vector_of_symbols("parameter", len(parameters))
            mechanism = mechanism.replace(dict(zip(parameters, inputs["parameters"], strict=True)))
        external = []
        for k, (frame, axes) in enumerate(loads):
            vectors = {
                part: vector_of_symbols(f"{part} {k}", 3) for part in ("force", "moment", "point")
            }
            inputs |= {f"{part}{k}": vector for part, vector in vectors.items()}
            external.append(ExternalForce(frame, expressed_in=axes, **vectors))
        try:
            forms, recursive = [mechanism], formulation == "newton_euler"
            if recursive and all(name.split(":")[0] in OF_FORCES for name in names):
                forms.insert(0, on_regrouped_tree(mechanism))
            outputs = [_outputs(form, chosen, inputs, external, scale) for form in forms]
            if recursive and DIFFERENTIATED.keys() & set(names) and min(map(_size, outputs)) <= FEW:
                other = [_made_by(DIFFERENTIATED, *one) for one in chosen]
                outputs += [_outputs(form, other, inputs, external, scale) for form in forms]
            if recursive and BY_FACTORS.keys() & set(names) and mechanism.nv <= FACTORS_UP_TO:
                other = [_made_by(BY_FACTORS, *one) for one in chosen]
                outputs.append(_outputs(forms[0], other, inputs, external, scale))
            return program_of(inputs, min(outputs, key=_size))
        except ProgramError as error:
            raise ProgramError(
                f"mechanism {mechanism.name!r}: {error} Name it in da.compile(..., "
                "parameters=[...]), or replace it by a number."
            ) from None


def _size(outputs: Mapping[str, Any]) -> int:
    """Number of operations that outputs need."""
    return sum(
        count_operations(
            [x for array in outputs.values() for x in np.asarray(array, dtype=object).flat]
        ).values()
    )


def _made_by(
    functions: Mapping[str, Callable[..., Any]],
    name: str,
    quantity: Quantity,
    arguments: tuple[str, ...],
) -> tuple[str, Quantity, tuple[str, ...]]:
    return name, quantity._replace(function=functions.get(name, quantity.function)), arguments


def _outputs(
    mechanism, chosen, inputs: Mapping[str, np.ndarray], external, scale: Callable[[], np.ndarray]
) -> dict[str, Any]:
    outputs: dict[str, Any] = {}
    token = guards.set([])
    try:
        for name, quantity, arguments in chosen:
            more = {"external_forces": external} if quantity.loaded and external else {}
            found = quantity.function(
                mechanism, *(inputs[i] for i in quantity.inputs), *arguments, **more
            )
            if hasattr(found, "_fields"):
                outputs |= {f"{name}.{field}": value for field, value in found._asdict().items()}
            else:
                outputs[name] = found
        pivots = guards.get() or []
    finally:
        guards.reset(token)
    sound = [
        (-1 - at, absolute(sum(x * x for x in inputs["q"][at : at + 4]) - 1) < QUATERNION_TOLERANCE)
        for at in mechanism.quaternions.values()
        if "q" in inputs
    ]
    sound += [(1 + k, constant(pivot) > float(scale()[k])) for k, pivot in pivots]
    if sound:
        outputs[STATUS] = 0.0
        for code, condition in reversed(sound):
            outputs[STATUS] = select(
                condition, outputs[STATUS], float(code)
            )  # `where` would compute all again, guarded
    return outputs


def _doubtful_pivots(mechanism: Mechanism, doubtful: float) -> np.ndarray:
    """Pivots up to which a state is looked at again, for each entry of qd, from pivots at some
    random states.

    It is ALWAYS where a pivot at one of these states is no more than its rounding error, and 0
    where symbols leave the mass matrix unknown.
    """
    states = np.array([mechanism.random_state(seed)[0] for seed in range(STATES)])
    if not mechanism.nv or newton_euler.mass_matrix(mechanism, states[0]).dtype == object:
        return np.zeros(mechanism.nv)
    M = newton_euler.mass_matrix(mechanism, states)
    tree, (q,), _ = mechanism.at(q=states)
    size = np.broadcast_to(stacked([sizes(tree, q)])[..., 0, :], M.shape[:-1])
    pivots, margins = eliminated(M, size)
    usual = np.einsum("nkk->nk", M).max(axis=0)
    limit = np.fmax(
        doubtful * usual, np.fmin(NEAR_SINGULAR * size.max(axis=0), UNUSUAL * pivots.min(axis=0))
    )
    return np.where((pivots > margins).all(axis=0), limit, ALWAYS)


def known_quantity(
    name: str, mechanism: Mechanism, formulation: str
) -> tuple[Quantity, tuple[str, ...]]:
    """Quantity, and frame and axes of a framed one; a frame's name may itself hold colons."""
    if not isinstance(name, str):
        raise UnknownNameError("quantity", name, tuple(QUANTITIES))
    stem, colon, place = name.partition(":")
    if stem not in QUANTITIES:
        raise UnknownNameError("quantity", stem, tuple(QUANTITIES))
    quantity = QUANTITIES[stem]
    if hasattr(newton_euler, stem):
        module = import_module(f"dalembert.formulations.{known_formulation(formulation)}")
        found = getattr(module, stem, None)
        if found is None:
            raise UnknownNameError(
                f"quantity of the formulation {formulation!r}",
                stem,
                tuple(q for q in QUANTITIES if hasattr(module, q)),
            )
        quantity = quantity._replace(function=found)
    if quantity.framed != bool(colon):
        raise UnknownNameError("quantity", name, (f"{stem}:FRAME" if quantity.framed else stem,))
    frame, _, axes = place.rpartition(":")
    if frame and quantity.turned and place not in mechanism.frame_names:
        return quantity, (frame, axes)
    return quantity, (place,) if colon else ()
