"""The embedded robots: file, description, licence and origin of each."""

from __future__ import annotations

from typing import NamedTuple

OWN = "this project"
COLLECTION = "example-robot-data"


class EmbeddedRobot(NamedTuple):
    """A robot file of the package; the folder of the file has its licence and its origin in full."""

    file: str
    about: str
    licence: str
    origin: str


ROBOTS = {
    "panda": EmbeddedRobot(
        "panda/panda.urdf",
        "Franka Emika Panda, arm with a gripper",
        "Apache-2.0",
        COLLECTION,
    ),
    "ur5": EmbeddedRobot(
        "ur5/ur5.urdf",
        "Universal Robots UR5, arm",
        "BSD-2-Clause",
        COLLECTION,
    ),
    "iiwa14": EmbeddedRobot(
        "iiwa14/iiwa14.urdf",
        "KUKA LBR iiwa 14, arm",
        "BSD-2-Clause",
        "pybullet",
    ),
    "kinova": EmbeddedRobot(
        "kinova/kinova.urdf",
        "Kinova Jaco, arm of joints without limits",
        "BSD-3-Clause",
        COLLECTION,
    ),
    "xarm7": EmbeddedRobot(
        "xarm7/xarm7.urdf",
        "UFACTORY xArm7, arm",
        "BSD-3-Clause",
        COLLECTION,
    ),
    "puma560": EmbeddedRobot(
        "own/puma560.urdf",
        "PUMA 560, parameters of 1986",
        "BSD-3-Clause",
        OWN,
    ),
    "stanford_arm": EmbeddedRobot(
        "own/stanford_arm.urdf",
        "Stanford arm, with a sliding joint",
        "BSD-3-Clause",
        OWN,
    ),
    "scara": EmbeddedRobot(
        "own/scara.urdf",
        "SCARA arm",
        "BSD-3-Clause",
        OWN,
    ),
    "g1": EmbeddedRobot(
        "g1/g1.urdf",
        "Unitree G1, humanoid: base='free'",
        "BSD-3-Clause",
        COLLECTION,
    ),
    "simple_humanoid": EmbeddedRobot(
        "simple_humanoid/simple_humanoid.urdf",
        "humanoid of simple shapes: base='free'",
        "BSD-2-Clause",
        COLLECTION,
    ),
    "solo12": EmbeddedRobot(
        "solo12/solo12.urdf",
        "Solo 12, quadruped: base='free'",
        "BSD-3-Clause",
        COLLECTION,
    ),
    "cartpole": EmbeddedRobot(
        "cartpole/cartpole.urdf",
        "pole on a cart",
        "Zlib",
        "pybullet",
    ),
    "double_pendulum": EmbeddedRobot(
        "double_pendulum/double_pendulum.urdf",
        "double pendulum of hardware",
        "BSD-2-Clause",
        COLLECTION,
    ),
    "furuta": EmbeddedRobot(
        "own/furuta.toml",
        "rotary inverted pendulum, with a geared motor and friction",
        "BSD-3-Clause",
        OWN,
    ),
    "heavy_top": EmbeddedRobot(
        "own/heavy_top.toml",
        "Lagrange's top on a spherical joint",
        "BSD-3-Clause",
        OWN,
    ),
    "satellite": EmbeddedRobot(
        "own/satellite.toml",
        "satellite with an arm, free in space",
        "BSD-3-Clause",
        OWN,
    ),
    "four_bar": EmbeddedRobot(
        "own/four_bar.toml",
        "four-bar linkage, a closed loop",
        "BSD-3-Clause",
        OWN,
    ),
    "rolling_disc": EmbeddedRobot(
        "own/rolling_disc.toml",
        "disc that rolls on the floor",
        "BSD-3-Clause",
        OWN,
    ),
    "flexible_joints": EmbeddedRobot(
        "own/flexible_joints.toml",
        "arm whose gears yield",
        "BSD-3-Clause",
        OWN,
    ),
    "elastic_arm": EmbeddedRobot(
        "own/elastic_arm.toml",
        "arm of elastic links with a payload",
        "BSD-3-Clause",
        OWN,
    ),
}
