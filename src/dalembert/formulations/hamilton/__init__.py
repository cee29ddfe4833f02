"""Hamilton's semicanonical form: the state (q, p), the velocities by a quadratic program at each
evaluation.
"""

from dalembert.formulations.hamilton.canonical import (
    StateEquations,
    energy_rate,
    hamiltonian,
    inverse_mass_matrix,
    kinetic_energy,
    lagrangian_gradient,
    lie_poisson_term,
    mass_matrix,
    momenta,
    momentum_rate,
    objective,
    potential_energy,
    solve,
    state_equations,
    velocities,
)
from dalembert.formulations.hamilton.chain import ChainConfiguration, PlanarChain, planar_chain
from dalembert.formulations.hamilton.configurations import (
    CanonicalSystem,
    Configuration,
    Operations,
)
from dalembert.formulations.hamilton.krylov import (
    NotConvergedError,
    Solution,
    Stop,
    conjugate_directions,
    conjugate_step,
    minimal_residual_step,
    minimal_residuals,
)
from dalembert.formulations.hamilton.nonnatural import NonNatural, nonnatural, turntable
from dalembert.formulations.hamilton.velocity_solver import Solver

System = CanonicalSystem

__all__ = [
    "ChainConfiguration",
    "Configuration",
    "NonNatural",
    "NotConvergedError",
    "Operations",
    "PlanarChain",
    "Solution",
    "Solver",
    "StateEquations",
    "Stop",
    "System",
    "conjugate_directions",
    "conjugate_step",
    "energy_rate",
    "hamiltonian",
    "inverse_mass_matrix",
    "kinetic_energy",
    "lagrangian_gradient",
    "lie_poisson_term",
    "mass_matrix",
    "minimal_residual_step",
    "minimal_residuals",
    "momenta",
    "momentum_rate",
    "nonnatural",
    "objective",
    "planar_chain",
    "potential_energy",
    "solve",
    "state_equations",
    "turntable",
    "velocities",
]


def __dir__() -> list[str]:
    return __all__
