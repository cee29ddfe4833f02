"""Options that several commands share: the robot file and how it is read, states, JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from dalembert.commandline.application import Argument, Option
from dalembert.commandline.loading import existing, load

File = Annotated[
    Path,
    Argument(
        "Robot file: URDF, MJCF, SDF or TOML; or the name of an embedded robot, as "
        "`dalembert robots` lists.",
        "FILE",
        existing,
    ),
]
Base = Annotated[str, Option(help="Root link: fixed to the world, or free.", metavar="fixed|free")]
Tolerance = Annotated[
    float | None,
    Option(
        "--angle-tolerance",
        min=0,
        max=0.1,
        metavar="RAD",
        help=(
            "Angles of a URDF file as near to a multiple of pi/12 are read as that [1e-9]; 1e-5 "
            "where it writes 1.5708."
        ),
    ),
]
Constraints = Annotated[
    Path | None,
    Option(
        "--constraints",
        metavar="FILE",
        help="TOML file beside the robot file: loops, rolling, couplings; elastic links and "
        "flexible joints.",
    ),
]
MeshFolders = Annotated[
    Sequence[Path],
    Option(
        "--mesh-folders",
        metavar="FOLDER",
        show_default=False,
        repeated=True,
        help="Another folder of the model's meshes: a package, or a folder of packages; may be "
        "given several times.",
    ),
]
Json = Annotated[bool, Option("--json", help="Print JSON with all digits.")]
Q = Annotated[
    str | None,
    Option(
        metavar="Q",
        help="Coordinates: numbers in order '0.1,-0.2', or by name "
        "'elbow=0.1,root.px=0.3' with the rest neutral.",
    ),
]
Qd = Annotated[
    str | None, Option(metavar="QD", help="Velocities, in order or by name with the rest 0.")
]
Qdd = Annotated[
    str | None, Option(metavar="QDD", help="Accelerations for inverse dynamics, likewise.")
]
Tau = Annotated[
    str | None, Option(metavar="TAU", help="Joint forces for forward dynamics, likewise.")
]
Gravity = Annotated[
    str | None, Option(metavar="X,Y,Z", help="Acceleration of gravity, instead of the file's.")
]


class Reading(NamedTuple):
    """Options of the commands that load a robot file."""

    base: Base = "fixed"
    tolerance: Tolerance = None
    constraints: Constraints = None
    mesh_folders: MeshFolders = ()

    def load(self, file: Path, quiet: bool = False) -> Any:
        """The mechanism of a file."""
        return load(
            file,
            quiet,
            self.tolerance,
            base=self.base,
            constraints=self.constraints,
            mesh_folders=self.mesh_folders,
        )


AS_USUAL = Reading()
