"""Recursive Newton-Euler equations: inverse and forward dynamics, mass and Coriolis matrices,
energies, derivatives.
"""

from dalembert.formulations.newton_euler.coriolis import coriolis_matrix
from dalembert.formulations.newton_euler.derivatives import (
    forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
    linearize,
)
from dalembert.formulations.newton_euler.energy import (
    centroidal_momentum,
    kinetic_energy,
    momenta,
    potential_energy,
)
from dalembert.formulations.newton_euler.forward import forward_dynamics
from dalembert.formulations.newton_euler.inverse import (
    bias_force,
    coriolis_vector,
    gravity_vector,
    inverse_dynamics,
)
from dalembert.formulations.newton_euler.mass_matrix import inverse_mass_matrix, mass_matrix
from dalembert.formulations.newton_euler.passivity import reference_force, reference_regressor
from dalembert.formulations.newton_euler.regressor import regressor, regressor_parameters

__all__ = [
    "bias_force",
    "centroidal_momentum",
    "coriolis_matrix",
    "coriolis_vector",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "gravity_vector",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_mass_matrix",
    "kinetic_energy",
    "linearize",
    "mass_matrix",
    "momenta",
    "potential_energy",
    "reference_force",
    "reference_regressor",
    "regressor",
    "regressor_parameters",
]


def __dir__() -> list[str]:
    return __all__
