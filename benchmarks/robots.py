"""Robots, states and quantities that are measured."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dalembert as da

MODELS = Path(__file__).parents[1] / "tests" / "data" / "models"
SEED = 1743
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_dynamics_derivatives",
              "forward_dynamics_derivatives", "regressor")      # native loops know them by these places
INPUTS = {name: ("q",) if name == "mass_matrix" else ("q", "qd", "tau" if name.startswith("forward") else "qdd")
          for name in QUANTITIES}


class Robot(NamedTuple):
    """A robot file and what becomes of it."""

    title: str
    path: Path
    locked: tuple[str, ...] = ()
    floating: bool = False


ROBOTS = {
    "panda": Robot("Panda, fingers locked", MODELS / "panda" / "panda.urdf", ("panda_finger_joint1", "panda_finger_joint2")),
    "ur5": Robot("UR5", MODELS / "ur5" / "ur5.urdf"),
    "g1": Robot("G1 humanoid, floating", MODELS / "g1" / "g1.urdf", floating=True),
}


class States(NamedTuple):
    """Random states, row-major: q (N, nq), qd, qdd, tau (N, nv)."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray

    def inputs(self, quantity: str) -> list[np.ndarray]:
        return [getattr(self, name) for name in INPUTS[quantity]]


@cache
def mechanism(name: str) -> da.Mechanism:
    """The robot as all engines have it: followers independent, nothing dissipative, angles as in the file."""
    robot = ROBOTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DalembertWarning)
        return da.load(robot.path, base="free" if robot.floating else "fixed", mimic="independent", passive=False,
                       lock=dict.fromkeys(robot.locked, 0.0))


@cache
def states(name: str, count: int) -> States:
    """Random states, the same in every run."""
    robot, rng = mechanism(name), np.random.default_rng(SEED)
    q, qd = (np.array(x) for x in zip(*(robot.random_state(rng) for _ in range(count)), strict=True))
    return States(q, qd, rng.standard_normal(qd.shape), rng.standard_normal(qd.shape))
