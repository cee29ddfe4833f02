"""A user's script that uses every part of the public interface; `mypy --strict` accepts it and knows every type."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import dalembert as da


class Spring(da.System):
    name, coordinate_names = "spring", ("x",)

    def mass_matrix(self, q: NDArray[np.float64], t: float = 0.0) -> list[list[float]]:
        return [[2.0]]

    def bias_force(self, q: NDArray[np.float64], qd: NDArray[np.float64], t: float = 0.0) -> list[float]:
        return [3.0 * q[0]]

    def potential_energy(self, q: NDArray[np.float64], t: float = 0.0) -> float:
        return float(1.5 * q[0] ** 2)


def damping(t: float, q: NDArray[np.float64], qd: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(-qd)


arm = da.load(da.data.path("panda"), base="fixed", lock={"panda_finger_joint1": 0.0})
chain = da.from_dh([da.DHParameters(a=0.4), da.DHParameters(a=0.3)], inertia=[da.solids.cylinder(2.0, 0.02, 0.4)] * 2)
links = [da.Body("base"), da.Body("rod", 1.0, (0.5, 0, 0), (0.0, 0, 0.1, 0, 0, 0.1))]
pendulum = da.Mechanism("pendulum", tuple(links), (da.Joint("hinge", da.Revolute((0, 1, 0)), "base", "rod"),))
heavy = arm.replace({"panda_link7.mass": 2.0}).without("friction")
loaded = arm.attach(da.Body("payload", 0.5, inertia=(0.001, 0.0, 0.001, 0.0, 0.0, 0.001)), "panda_hand")
q, qd = arm.random_state(1)
M, C, g = da.mass_matrix(arm, q), da.coriolis_matrix(arm, q, qd), da.gravity_vector(arm, q)
push = da.ExternalForce("panda_hand", force=(0, 0, 10))
qdd = da.forward_dynamics(arm, q, qd, g, [push])
A, B = da.linearize(arm, q, qd, g)[:2]
T, tool, J = da.kinetic_energy(arm, q, qd), da.placement(arm, q, "panda_hand"), da.jacobian(arm, q, "panda_hand")
Jc, AG = da.center_of_mass_jacobian(arm, q), da.centroidal_momentum_matrix(arm, q)
dynamics = da.compile(arm, parameters=["panda_link7.mass"])
M2, tau = dynamics.mass_matrix(q, parameters=[1.0]), dynamics.inverse_dynamics(q, qd, qdd, threads=2)
both = dynamics.function(["mass_matrix", "bias_force"])(q, qd)
sources: dict[str, str] = dynamics.source("c", ["mass_matrix"])
squares = da.function(damping, t=(), q=(3,), qd=(3,))
slope = squares.jacobian("qd")(0.0, np.ones(3), np.ones(3))
swing = da.lagrangian_system(lambda q, qd, t: 0.5 * qd[0] ** 2 + da.cos(q[0]), "q")
compiled, by_hand = da.compile(swing).mass_matrix([0.1], [0.0], 0.0), swing.forward_dynamics([0.1], [0.0], [0.0], 0.0)
control = da.controllers.GravityPD(arm, q, 100.0, 20.0)
run = da.simulate(arm, q, qd, 0.01, control=control, forces=damping, method="rk4")
drift, energy, end = run.energy_drift, run.energy, run.end.q
spring = da.compile(Spring()).forward_dynamics([0.1], [0.0], [0.0], 0.0)
rubbing = da.simulate(pendulum, [0.1], [0.0], 0.01, friction=da.Stribeck(static=1.5), external_forces=[da.ExternalForce("rod", (0, 0, 1))])
canonical = da.simulate(chain, [0.1, 0.2], [0, 0], 0.01, formulation="hamilton", solver="conjugate_directions")
counts, drawn = canonical.solutions, canonical.observables
written: Path = run.to_csv("run.csv")
p = da.hamilton.momenta(arm, q, qd)
H, bounds = da.hamilton.hamiltonian(arm, q, p), da.lagrange.christoffel_symbols(arm, q)
moved = da.convert.to_pinocchio(arm, q, qd).q
eom = da.equations(chain, symbols="inertial")
printed: str = eom.latex("mass_matrix") + da.text(da.sin(da.symbol("x")))
x, y = da.symbol("x"), da.symbols("y", 3)
slopes, value = da.gradient(x * da.exp(x) + 1, y), da.evaluate(da.sqrt(da.constant(4)))
found = da.sweep(pendulum, {"rod.mass": [1.0, 2.0]}, ThreadPoolExecutor(1), q=[0.1], qd=[0.0], t=0.01)
energies, failures = found["kinetic_energy"], found.errors
