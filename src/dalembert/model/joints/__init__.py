"""Joint types, a file for each."""

from dalembert.model.joints.base import JointType
from dalembert.model.joints.custom import Custom
from dalembert.model.joints.cylindrical import Cylindrical
from dalembert.model.joints.fixed import Fixed
from dalembert.model.joints.free import Free
from dalembert.model.joints.helical import Helical
from dalembert.model.joints.planar import Planar
from dalembert.model.joints.prismatic import Prismatic
from dalembert.model.joints.revolute import Continuous, Revolute
from dalembert.model.joints.spherical import Spherical
from dalembert.model.joints.universal import Universal

JOINT_TYPES: dict[str, type[JointType]] = {
    t.name: t
    for t in (
        Fixed,
        Revolute,
        Continuous,
        Prismatic,
        Helical,
        Cylindrical,
        Universal,
        Planar,
        Spherical,
        Free,
    )
}

__all__ = [
    "JOINT_TYPES",
    "Continuous",
    "Custom",
    "Cylindrical",
    "Fixed",
    "Free",
    "Helical",
    "JointType",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Universal",
]
