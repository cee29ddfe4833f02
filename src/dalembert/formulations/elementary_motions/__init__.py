"""Equations of motion from 4x4 matrices of elementary motions (trace method): by sums, composite
form, recursion.
"""

from dalembert.formulations.elementary_motions.coefficients import (
    christoffel_symbols,
    coriolis_vector_derivatives,
    gravity_coefficients,
    inertia_coefficients,
    mass_matrix_derivatives,
    velocity_coefficients,
    velocity_matrices,
)
from dalembert.formulations.elementary_motions.matrices import (
    elementary_matrix,
    elementary_operator,
)
from dalembert.formulations.elementary_motions.products import (
    base_operators,
    composite_pseudo_inertias,
    first_derivatives,
    joint_matrices,
    products,
    pseudo_inertias,
    second_derivatives,
)
from dalembert.formulations.elementary_motions.sequence import ElementaryMotion, motions
from dalembert.formulations.elementary_motions.trace_method import (
    bias_force,
    coriolis_matrix,
    coriolis_vector,
    forward_dynamics,
    gravity_vector,
    inverse_dynamics,
    inverse_dynamics_on_moving_base,
    inverse_mass_matrix,
    kinetic_energy,
    mass_matrix,
    momenta,
    potential_energy,
)

__all__ = [
    "ElementaryMotion",
    "base_operators",
    "bias_force",
    "christoffel_symbols",
    "composite_pseudo_inertias",
    "coriolis_matrix",
    "coriolis_vector",
    "coriolis_vector_derivatives",
    "elementary_matrix",
    "elementary_operator",
    "first_derivatives",
    "forward_dynamics",
    "gravity_coefficients",
    "gravity_vector",
    "inertia_coefficients",
    "inverse_dynamics",
    "inverse_dynamics_on_moving_base",
    "inverse_mass_matrix",
    "joint_matrices",
    "kinetic_energy",
    "mass_matrix",
    "mass_matrix_derivatives",
    "momenta",
    "motions",
    "potential_energy",
    "products",
    "pseudo_inertias",
    "second_derivatives",
    "velocity_coefficients",
    "velocity_matrices",
]


def __dir__() -> list[str]:
    return __all__
