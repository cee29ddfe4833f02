"""Fixed joint: the child does not move in the parent."""

from dataclasses import dataclass

from dalembert.model.joints.base import JointType, built_in
from dalembert.spatial.transforms import Transform


@built_in
@dataclass(frozen=True)
class Fixed(JointType):
    """No freedom.

    Examples
    --------
    >>> import dalembert as da
    >>> da.Fixed().nv
    0
    """

    name = "fixed"
    coordinates = ()
    velocities = ()

    def screws(self):
        """No screw."""
        return ()

    def placement(self, q):
        """The identity."""
        return Transform()

    def subspace(self, q):
        """No column."""
        return ()
