"""Universal joint: two rotations in a row; q = (parent-side angle, child-side angle), v = rates."""

from dataclasses import dataclass, replace
from typing import ClassVar

from dalembert.expr import cos, sin
from dalembert.model.joints.base import JointType, built_in
from dalembert.model.numbers import Number, as_exact, checked_vector, unit_vector
from dalembert.spatial.motion_force import NO_MOTION, Motion
from dalembert.spatial.rotations import about_axis_cos_sin
from dalembert.spatial.screws import Screw
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import ZERO, Vector


@built_in
@dataclass(frozen=True)
class Universal(JointType):
    """Rotation about an axis fixed in the parent, then about an axis fixed in the child.

    Examples
    --------
    >>> import dalembert as da
    >>> da.Universal((1, 0, 0), (0, 1, 0)).nv
    2
    """

    axis: tuple[Number, Number, Number] = (1, 0, 0)
    second_axis: tuple[Number, Number, Number] = (0, 1, 0)
    name: ClassVar[str] = "universal"
    coordinates = ("first angle", "second angle")
    velocities = ("first angular rate", "second angular rate")
    takes_symbols = True
    constant_subspace = False
    parameters = ("axis", "second_axis")

    def __post_init__(self):
        for field in self.parameters:
            object.__setattr__(self, field, checked_vector(getattr(self, field), 3, field))

    def converted(self, convert):
        """The joint with axes of unit length, its numbers converted."""

        def unit(axis):
            """An axis of unit length, converted."""
            return tuple(convert(a) for a in unit_vector(tuple(as_exact(x) for x in axis)))

        return replace(self, axis=unit(self.axis), second_axis=unit(self.second_axis))

    def _turns(self, q):
        return (
            about_axis_cos_sin(axis, cos(angle), sin(angle))
            for axis, angle in zip((self.axis, self.second_axis), q, strict=True)
        )

    def screws(self):
        """Turns about the first and the second axis."""
        return Screw(0, Vector(self.axis)), Screw(1, Vector(self.second_axis))

    def placement(self, q):
        """Turn by q[0] about the first axis, then by q[1] about the second."""
        first, second = self._turns(q)
        return Transform(ZERO, first * second)

    def subspace(self, q):
        """S = [R_2^T a_1, a_2; 0 0]: both axes in the child's axes."""
        _, second = self._turns(q)
        return Motion(second.to_child(Vector(self.axis)), ZERO), Motion(
            Vector(self.second_axis), ZERO
        )

    def subspace_rate(self, q, v):
        """Rate of the first axis, seen from the turning child."""
        first, second = self.subspace(q)
        return first.cross(second).scaled(
            v[1]
        ), NO_MOTION  # the first axis, seen from the turning child

    def subspace_rate_derivatives(self, q, v):
        """Derivative by the second angle; by the first 0."""
        first, second = self.subspace(q)
        return NO_MOTION, first.cross(second).cross(second).scaled(v[0] * v[1])
