"""Equations of motion of multibody systems: formed, explained, compiled and integrated."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "dalembert.readers.load": ("load",),
    "dalembert.writers.save": ("save",),
    "dalembert.readers.dh": ("DHParameters", "from_dh"),
    "dalembert.readers.motions": ("from_motions",),
    "dalembert.readers.generators": ("planar_chain", "random_tree"),
    "dalembert.model.mechanism": ("Mechanism",),
    "dalembert.model.parts": ("Body", "Frame", "Joint", "Limits", "Mimic"),
    "dalembert.model.elastic.transmissions": ("Transmission",),
    "dalembert.model.origins": ("Origin", "Source"),
    "dalembert.model.visuals": ("Visual",),
    "dalembert.model.actuators": ("Actuator",),
    "dalembert.model.limit_vectors": ("effort_limits", "position_limits", "velocity_limits"),
    "dalembert.model.elastic.beam": ("Beam",),
    "dalembert.model.elastic.tip_loads": ("TipLoad", "tip_load"),
    "dalembert.model.elastic.beam_damping": ("ModalDamping", "Rayleigh"),
    "dalembert.model.joints": (
        "Continuous",
        "Custom",
        "Cylindrical",
        "Fixed",
        "Free",
        "Helical",
        "JointType",
        "Planar",
        "Prismatic",
        "Revolute",
        "Spherical",
        "Universal",
    ),
    "dalembert.views.viewer.browser_view": ("Viewer", "view"),
    "dalembert.model.external_forces": ("ExternalForce",),
    "dalembert.model.findings": ("Finding",),
    "dalembert.spatial.inertias": ("Inertia",),
    "dalembert.kinematics.poses": ("center_of_mass", "placement"),
    "dalembert.kinematics.jacobians": ("jacobian", "jacobian_rate"),
    "dalembert.kinematics.momentum": ("center_of_mass_jacobian", "centroidal_momentum_matrix"),
    "dalembert.kinematics.forces": ("passive_force",),
    "dalembert.formulations.newton_euler": (
        "bias_force",
        "centroidal_momentum",
        "coriolis_matrix",
        "coriolis_vector",
        "gravity_vector",
        "inverse_mass_matrix",
        "kinetic_energy",
        "mass_matrix",
        "momenta",
        "potential_energy",
        "regressor",
        "regressor_parameters",
    ),
    "dalembert.analysis.constrained_functions": (
        "forward_dynamics",
        "forward_dynamics_derivatives",
        "inverse_dynamics",
        "inverse_dynamics_derivatives",
        "linearize",
    ),
    "dalembert.analysis.integrability": ("integrability",),
    "dalembert.analysis.minimal_form": ("minimal_form",),
    "dalembert.analysis.section_forces": (
        "SectionForces",
        "SectionPeak",
        "section_forces_at",
        "strain_forces",
    ),
    "dalembert.analysis.vibration_model": ("DampedFrequencies", "VibrationModel"),
    "dalembert.analysis.freedoms": ("degrees_of_freedom",),
    "dalembert.analysis.loop_closing": ("assemble", "assemblies", "project"),
    "dalembert.formulations.lagrange": ("LagrangianSystem", "lagrangian_system"),
    "dalembert.systems.system": ("System",),
    "dalembert.tracing.quantity": ("Quantity",),
    "dalembert.compiled.dynamics": ("Dynamics", "compile"),
    "dalembert.compiled.constraint_forces": (
        "constraint_jacobian",
        "constraint_residual",
        "multipliers",
        "reactions",
    ),
    "dalembert.compiled.linear_stability": (
        "StabilityMap",
        "exponents",
        "stability_map",
        "stable_multipliers",
        "state_matrix",
    ),
    "dalembert.compiled.linear_response": (
        "StateSpaceModel",
        "frequency_response",
        "state_space",
    ),
    "dalembert.compiled.modal_convergence": (
        "ModalComparison",
        "ModalConvergence",
        "modal_convergence",
    ),
    "dalembert.compiled.natural_vibrations": (
        "FrequencyMap",
        "ModeShapes",
        "damped_frequencies",
        "frequency_map",
        "mode_shapes",
        "natural_frequencies",
        "vibration_model",
    ),
    "dalembert.compiled.servo_report": ("servo_report",),
    "dalembert.compiled.static_deflection": ("StaticDeflection", "static_deflection"),
    "dalembert.native.function": ("function",),
    "dalembert.results.elastic_histories": ("TipError", "section_forces", "tip_error"),
    "dalembert.results.run": ("Run",),
    "dalembert.model.friction_laws": ("Stribeck",),
    "dalembert.simulation.contact_motion": ("least_constraint",),
    "dalembert.initial_parameters.elastic_line": ("elastic_line",),
    "dalembert.initial_parameters.houbolt": ("houbolt_damping",),
    "dalembert.initial_parameters.line_run": ("LineRun",),
    "dalembert.simulation.simulate": ("resume", "simulate"),
    "dalembert.sweeps.sweep": ("Sweep", "sweep"),
    "dalembert.reports.report_file": ("report",),
    "dalembert.closed_forms.equations": ("Equations", "equations", "quasi_velocity_equations"),
    "dalembert.closed_forms.printing.expressions": ("latex", "text"),
    "dalembert.expr": (
        "Expr",
        "Graph",
        "absolute",
        "acos",
        "array",
        "asin",
        "atan2",
        "constant",
        "cos",
        "cosh",
        "count_operations",
        "derivative",
        "equal",
        "evaluate",
        "exp",
        "free_symbols",
        "gradient",
        "hypot",
        "import_nodes",
        "log",
        "maximum",
        "minimum",
        "power",
        "sign",
        "sin",
        "sinh",
        "sqrt",
        "substitute",
        "symbol",
        "symbols",
        "tan",
        "tanh",
        "where",
    ),
    "dalembert.errors": (
        "ConstraintError",
        "DalembertError",
        "DalembertWarning",
        "DamagedStoreError",
        "EquilibriumError",
        "LockedStoreError",
        "MissingFileError",
        "ModelError",
        "OverflowedError",
        "ParameterError",
        "QuaternionError",
        "ReadError",
        "RememberingError",
        "ShapeError",
        "SingularConfigurationError",
        "SingularMassMatrixError",
        "StoreError",
        "UnknownNameError",
    ),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = {
    "constraints": "dalembert.constraints",
    "controllers": "dalembert.controllers",
    "convert": "dalembert.convert",
    "data": "dalembert.data",
    "generators": "dalembert.generators",
    "hamilton": "dalembert.formulations.hamilton",
    "lagrange": "dalembert.formulations.lagrange",
    "loops": "dalembert.loops",
    "ports": "dalembert.analysis.ports",
    "beams": "dalembert.beams",
    "solids": "dalembert.spatial.solids",
}

_OF_MECHANISMS = (
    "dalembert.kinematics.",
    "dalembert.formulations.newton_euler",
    "dalembert.analysis.constrained_functions",
)  # homes of functions of one

__all__ = sorted(
    (*_HOME, *_MODULES)
)  # `__init__.pyi` tells type checkers the same; tests/stubs.py writes it


def __getattr__(name: str) -> Any:
    """Public names are imported when first used: `import dalembert` stays fast."""
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
        if inspect.isfunction(value):
            value = _public(value, name == "save" or _HOME[name].startswith(_OF_MECHANISMS))
    elif name in _MODULES:
        value = importlib.import_module(_MODULES[name])
    else:
        from dalembert.errors import unknown_attribute

        raise unknown_attribute(sys.modules[__name__], name)
    globals()[name] = value
    return value


def import_views() -> None:
    """Import the package that shows runs, when something is first to be shown."""
    importlib.import_module("dalembert.views")


def _public(function: Callable[..., Any], takes_mechanism: bool) -> Callable[..., Any]:
    """A function that says how it is called where it is called otherwise; it is pickled by its
    public name.
    """
    from dalembert.call_faults import explained

    checked = explained(function)
    if takes_mechanism:
        checked = _of_mechanism(checked)
    checked.__module__ = __name__
    return checked


def _of_mechanism(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function (mechanism, ...) that says so where something else comes first."""
    from dalembert.model.mechanism import Mechanism

    @functools.wraps(function)
    def checked(mechanism: Any, *arguments: Any, **named: Any) -> Any:
        """The function, called with a mechanism; raises TypeError where something else comes first."""
        if not isinstance(mechanism, Mechanism):
            raise TypeError(
                f"{function.__name__}(mechanism, ...): the mechanism comes first, expected a "
                f"Mechanism, as da.load makes, not a {type(mechanism).__name__}."
            )
        return function(mechanism, *arguments, **named)

    return checked


def __dir__() -> list[str]:
    return list(__all__)
