"""Recursive Newton-Euler equations: inverse and forward dynamics, mass and Coriolis matrices, energies."""

from dalembert.formulations.newton_euler.coriolis import coriolis_matrix
from dalembert.formulations.newton_euler.energy import centroidal_momentum, kinetic_energy, momenta, potential_energy
from dalembert.formulations.newton_euler.forward import forward_dynamics
from dalembert.formulations.newton_euler.inverse import bias_force, coriolis_vector, gravity_vector, inverse_dynamics
from dalembert.formulations.newton_euler.mass_matrix import inverse_mass_matrix, mass_matrix

__all__ = ["bias_force", "centroidal_momentum", "coriolis_matrix", "coriolis_vector", "forward_dynamics",
           "gravity_vector", "inverse_dynamics", "inverse_mass_matrix", "kinetic_energy", "mass_matrix", "momenta",
           "potential_energy"]
