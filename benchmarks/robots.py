"""Robots, states and quantities that are measured."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dalembert as da
from native import CACHE

SEED = 1743
QUANTITIES = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
    "regressor",
)  # native loops know them by these places
STEP = "rk4_step"  # of an ensemble: classical Runge-Kutta with constant joint forces
STEP_SIZE = 1e-3  # s
INPUTS = {
    name: ("q",)
    if name == "mass_matrix"
    else ("q", "qd", "tau" if name.startswith(("forward", STEP)) else "qdd")
    for name in (*QUANTITIES, STEP)
}
CHAINS = (10, 50, 100, 500, 1000)  # links
JOINT_STATES = 80_000  # states times links: longer chains get fewer states


class Robot(NamedTuple):
    """A robot file and what becomes of it; `links`: the file is written when needed, a planar chain
    of so many.
    """

    title: str
    path: Path
    locked: tuple[str, ...] = ()
    floating: bool = False
    links: int = 0
    quantities: tuple[str, ...] = (*QUANTITIES, STEP)


ROBOTS = {
    "panda": Robot(
        "Panda, fingers locked",
        da.data.path("panda"),
        ("panda_finger_joint1", "panda_finger_joint2"),
    ),
    "ur5": Robot("UR5", da.data.path("ur5")),
    "g1": Robot("G1 humanoid, floating", da.data.path("g1"), floating=True, quantities=QUANTITIES),
    **{
        f"chain{n}": Robot(
            f"Planar chain, n = {n}", CACHE / f"chain{n}.urdf", links=n, quantities=QUANTITIES[:2]
        )
        for n in CHAINS
    },
}


class States(NamedTuple):
    """Random states, row-major: q (N, nq), qd, qdd, tau (N, nv)."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray

    def inputs(self, quantity: str) -> list[np.ndarray]:
        return [getattr(self, name) for name in INPUTS[quantity]]

    def first(self, count: int) -> States:
        return States(*(x[:count] for x in self))


@cache
def mechanism(name: str) -> da.Mechanism:
    """The robot as all engines have it: followers independent, nothing dissipative, angles as in
    the file.
    """
    robot = ROBOTS[name]
    if robot.links:
        robot.path.parent.mkdir(parents=True, exist_ok=True)
        robot.path.write_text(chain_urdf(robot.links))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DalembertWarning)
        return da.load(
            robot.path,
            base="free" if robot.floating else "fixed",
            mimic="independent",
            passive=False,
            lock=dict.fromkeys(robot.locked, 0.0),
        )


@cache
def states(name: str, count: int) -> States:
    """Random states, the same in every run; fewer of long chains."""
    robot, rng = mechanism(name), np.random.default_rng(SEED)
    if ROBOTS[name].links:
        count = min(count, JOINT_STATES // ROBOTS[name].links)
    q, qd = (
        np.array(x) for x in zip(*(robot.random_state(rng) for _ in range(count)), strict=True)
    )
    return States(q, qd, rng.standard_normal(qd.shape), rng.standard_normal(qd.shape))


def chain_urdf(n: int) -> str:
    """`da.planar_chain(n)` as a URDF file, but joints about +y, for which engines have their
    quickest joint.

    Links are thin rods of 1 kg and 1 m; about their own axis, which does not matter in the plane,
    0.001 kg m^2. The base is one as well: there are engines that want it to have an inertia.
    """
    link = (
        '<link name="link{k}"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>'
        '<inertia ixx="0.001" iyy="{I}" izz="{I}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    joint = (
        '<joint name="q{k}" type="revolute"><limit lower="-4" upper="4" effort="1" velocity="1"/>'
        '<parent link="link{parent}"/><child link="link{k}"/><origin xyz="{x} 0 0"/><axis xyz="0 1 '
        '0"/></joint>'
    )
    parts = [link.format(k=k, I=repr(1 / 12)) for k in range(n + 1)]
    parts += [joint.format(k=k, parent=k - 1, x=int(k > 1)) for k in range(1, n + 1)]
    return "\n".join(['<robot name="chain">', *parts, "</robot>\n"])
