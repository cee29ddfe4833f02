"""Other kinds of files that people take for robot files, and advice on each."""

from __future__ import annotations

from dalembert.errors import ReadError
from dalembert.readers.formats import (
    FORMATS,
    root_tag,
)

READ = "Robot files are URDF, MJCF or SDF (XML), or TOML."
ARCHIVE = "an archive. Unpack it, and load the robot file inside."
USD = "USD, the scenes of Omniverse and Isaac Sim, which is not read. Export it as URDF or MJCF."
MESH = "a mesh, a shape without joints and masses. Load the robot file that names it."
BINARY_MJCF = (
    "a compiled model of MuJoCo, which is not read. Load the MJCF file that it comes from."
)
WEBOTS = (
    "a model of Webots, which is not read. Export it as URDF: Webots has a menu entry for that."
)
DART = "a model of DART, which is not read. Write it as URDF or SDF."
SRDF = "an SRDF file, which has groups of joints for planners. Load the URDF file beside it."
MANIFEST = "the manifest of a package. Load the robot file in its folders."
LAUNCH = "a launch file of ROS. Load the robot file that it names."
JSON = f"JSON. {READ}"
YAML = f"YAML. {READ}"

SIGNATURES = {
    b"PK\3\4": ARCHIVE,
    b"\x1f\x8b": ARCHIVE,
    b"BZh": ARCHIVE,
    b"\xfd7zXZ": ARCHIVE,
    b"#usda": USD,
    b"PXR-USDC": USD,
    b"#VRML": WEBOTS,
    b"glTF": MESH,
    b"ISO-10303-21": MESH,
}
ENDINGS = {
    ".7z .bz2 .gz .tar .tgz .xz .zip": ARCHIVE,
    ".usd .usda .usdc .usdz": USD,
    ".3mf .dae .glb .gltf .iges .igs .obj .ply .step .stl .stp": MESH,
    ".mjb": BINARY_MJCF,
    ".proto .wbt": WEBOTS,
    ".skel": DART,
    ".srdf": SRDF,
    ".json": JSON,
    ".yaml .yml": YAML,
}
ROOTS = {"COLLADA": MESH, "package": MANIFEST, "launch": LAUNCH, "skel": DART}


def refuse_foreign(data: bytes, file: str) -> None:
    """Raise for a file of another kind, by how it begins or the ending of its name.

    Raises
    ------
    ReadError
    """
    if meaning := _meaning(data, file):
        raise ReadError(f"this is {meaning}", file, 1)


def _meaning(data: bytes, file: str) -> str:
    """Kind of a file, with advice; '' of robot files and unknown kinds."""
    by_signature = (m for signature, m in SIGNATURES.items() if data.startswith(signature))
    if meaning := next(by_signature, ""):
        return meaning
    ending = f".{file.lower().rpartition('.')[2]}"
    by_ending = next((m for endings, m in ENDINGS.items() if ending in endings.split()), "")
    tag = root_tag(data)
    is_ours = any(tag in form.roots for form in FORMATS.values())
    if is_ours and by_ending != SRDF:
        return ""
    return ROOTS.get(tag) or by_ending
