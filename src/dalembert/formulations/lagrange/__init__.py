"""Lagrange's equations: the standard procedure step by step, a user's own Lagrangian, properties
and models built on it.
"""

from dalembert.formulations.lagrange.bounds import (
    EigenvalueBounds,
    Range,
    eigenvalue_bounds,
    potential_bounds,
)
from dalembert.formulations.lagrange.christoffel import (
    brackets,
    christoffel_symbols,
    coriolis_matrix,
    mass_matrix_derivatives,
)
from dalembert.formulations.lagrange.energies import (
    kinetic_energy,
    mass_matrix,
    momenta,
    potential_energy,
)
from dalembert.formulations.lagrange.euler_lagrange import (
    bias_force,
    coriolis_vector,
    forward_dynamics,
    gravity_vector,
    inverse_dynamics,
    inverse_mass_matrix,
)
from dalembert.formulations.lagrange.flexible import FlexibleJoints, flexible_joints
from dalembert.formulations.lagrange.geometry import (
    link_jacobians,
    link_names,
    link_velocities,
    mass_centers,
)
from dalembert.formulations.lagrange.operational import OperationalSpace, operational_space
from dalembert.formulations.lagrange.properties import (
    PassivityBalance,
    Property,
    passivity_balance,
    properties,
)
from dalembert.formulations.lagrange.symbolic_system import LagrangianSystem, lagrangian_system

__all__ = [
    "EigenvalueBounds",
    "FlexibleJoints",
    "LagrangianSystem",
    "OperationalSpace",
    "PassivityBalance",
    "Property",
    "Range",
    "bias_force",
    "brackets",
    "christoffel_symbols",
    "coriolis_matrix",
    "coriolis_vector",
    "eigenvalue_bounds",
    "flexible_joints",
    "forward_dynamics",
    "gravity_vector",
    "inverse_dynamics",
    "inverse_mass_matrix",
    "kinetic_energy",
    "lagrangian_system",
    "link_jacobians",
    "link_names",
    "link_velocities",
    "mass_centers",
    "mass_matrix",
    "mass_matrix_derivatives",
    "momenta",
    "operational_space",
    "passivity_balance",
    "potential_bounds",
    "potential_energy",
    "properties",
]


def __dir__() -> list[str]:
    return __all__
