"""Drake beside this package, both called from Python: `python benchmarks/drake_from_python.py`.

Wheels of Drake come without C++ headers, so that its functions are called once for each state, as
they are from Python; ours are called in the same way, and once with all states. The same URDF file
for both, without friction, followers as independent joints. Drake's order of coordinates is read
from its names.

Needs `pip install drake`. Medians of turns that alternate, by the processor time of the process.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import dalembert as da
from dalembert.commandline.peers import plain_urdf
from robots import ROBOTS, mechanism, states

COUNT, ROUNDS = 1000, 15
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")


class Drake:
    """A robot on a fixed base in Drake."""

    def __init__(self, name: str):
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import MultibodyPlant
        from pydrake.multibody.tree import MultibodyForces

        robot, ours = ROBOTS[name], mechanism(name)
        self.plant = MultibodyPlant(time_step=0.0)
        with TemporaryDirectory() as folder:
            file = Path(folder, "robot.urdf")
            file.write_text(plain_urdf(robot.path, robot.locked))
            Parser(self.plant).AddModels(str(file))
        root = self.plant.get_body(self.plant.GetBodyIndices(_model(self.plant))[0])
        if not self.plant.GetBodiesWeldedTo(self.plant.world_body()).count(root):
            self.plant.WeldFrames(self.plant.world_frame(), root.body_frame())
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()
        self.forces = MultibodyForces(self.plant)
        self.port = self.plant.get_applied_generalized_force_input_port()
        self.accelerations = self.plant.get_generalized_acceleration_output_port()
        self.order = [
            self.plant.GetJointByName(joint).velocity_start() for joint in ours.coordinate_names
        ]

    def state(self, q: np.ndarray, qd: np.ndarray) -> None:
        self.plant.SetPositions(self.context, q)
        self.plant.SetVelocities(self.context, qd)

    def inverse_dynamics(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        self.state(q, qd)
        self.forces.SetZero()
        self.plant.CalcForceElementsContribution(self.context, self.forces)
        return self.plant.CalcInverseDynamics(self.context, qdd, self.forces)

    def forward_dynamics(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        self.state(q, qd)
        self.port.FixValue(self.context, tau)
        return self.accelerations.Eval(self.context)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        self.plant.SetPositions(self.context, q)
        return self.plant.CalcMassMatrix(self.context)


def _model(plant: Any) -> Any:
    """The model that was read last."""
    from pydrake.multibody.tree import ModelInstanceIndex

    return ModelInstanceIndex(plant.num_model_instances() - 1)


def seconds(call: Callable[[], object]) -> float:
    """Processor time of one call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def row(name: str, quantity: str) -> str:
    """A line of the table: microseconds per state, and the largest difference of results."""
    drake, ours = Drake(name), da.compile(mechanism(name))
    given = states(name, COUNT).inputs(quantity)
    theirs = [_in_their_order(x, drake.order) for x in given]
    mine, other = getattr(ours, quantity), getattr(drake, quantity)
    results = np.array([other(*x) for x in zip(*theirs, strict=True)])
    results = results[:, drake.order]
    if quantity == "mass_matrix":
        results = results[..., drake.order]
    own = mine(*given)
    calls = (
        lambda: [other(*x) for x in zip(*theirs, strict=True)],
        lambda: [mine(*x) for x in zip(*given, strict=True)],
        lambda: mine(*given, out=own),
    )
    turns = np.array([[seconds(call) for call in calls] for _ in range(ROUNDS)])
    each, single, batch = np.median(turns, axis=0) / COUNT * 1e6
    times = median(turns[:, 0] / turns[:, 1])
    apart = np.max(np.abs(own - results)) / np.max(np.abs(results))
    title = ROBOTS[name].title
    return f"| {title} | {quantity} | {each:.3g} | {single:.2g} | {times:.0f} | {batch:.2g} | {apart:.0e} |"


def _in_their_order(x: np.ndarray, order: list[int]) -> np.ndarray:
    found = np.empty_like(x)
    found[:, order] = x
    return found


def main() -> None:
    print("| robot | quantity | Drake, us | ours, one state | ratio | ours, batch | difference |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in sys.argv[1:] or ("panda", "ur5"):
        for quantity in QUANTITIES:
            print(row(name, quantity), flush=True)


if __name__ == "__main__":
    main()
