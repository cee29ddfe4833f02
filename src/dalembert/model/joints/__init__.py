"""Joint types, a file for each. A new one is a file and a line here."""

from dalembert.model.joints.base import BUILT_IN
from dalembert.model.joints.base import JointType as JointType
from dalembert.model.joints.custom import Custom as Custom

# In the order of JOINT_TYPES, on which random trees depend.
# isort: off
from dalembert.model.joints.fixed import Fixed as Fixed
from dalembert.model.joints.revolute import Revolute as Revolute, Continuous as Continuous
from dalembert.model.joints.prismatic import Prismatic as Prismatic
from dalembert.model.joints.helical import Helical as Helical
from dalembert.model.joints.cylindrical import Cylindrical as Cylindrical
from dalembert.model.joints.universal import Universal as Universal
from dalembert.model.joints.planar import Planar as Planar
from dalembert.model.joints.spherical import Spherical as Spherical
from dalembert.model.joints.free import Free as Free
# isort: on

# Types by the names that files give them; those of `Custom` are functions, which no file names.
JOINT_TYPES: dict[str, type[JointType]] = {t.name: t for t in BUILT_IN if t is not Custom}
