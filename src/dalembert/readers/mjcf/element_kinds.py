"""Elements and attributes of MJCF that matter here, and what becomes of all others.

An element is kept, and shown to MuJoCo, if it is listed among the `CHILDREN` of its parent; of its
attributes, those of `READ` are shown. All else is named by a finding.
"""

from __future__ import annotations

TURNS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
POSE = ("pos", *TURNS)
DRIVE = (
    "armature",
    "class",
    "ctrllimited",
    "ctrlrange",
    "damping",
    "forcelimited",
    "forcerange",
    "gear",
    "joint",
    "name",
)
SERVO = ("dampratio", "inheritrange", "kp", "kv")
TENDON = (
    "armature",
    "class",
    "damping",
    "frictionloss",
    "limited",
    "name",
    "range",
    "springlength",
    "stiffness",
)

ACTUATORS = ("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder")
OTHER_ACTUATORS = ("adhesion", "dcmotor", "muscle", "orientation", "pid", "plugin")
TRANSMISSIONS = (  # of actuators that drive something else than a joint
    "body",
    "cranksite",
    "jointinparent",
    "site",
    "slidersite",
    "tendon",
)
OF_A_BODY = ("attach", "body", "joint", "freejoint", "geom", "site", "frame", "replicate")

CHILDREN: dict[str, tuple[str, ...]] = {
    "mujoco": (
        "compiler",
        "option",
        "default",
        "asset",
        "worldbody",
        "equality",
        "tendon",
        "actuator",
    ),
    "option": ("flag",),
    "default": (
        "default",
        "mesh",
        "material",
        "joint",
        "geom",
        "site",
        "equality",
        "tendon",
        *ACTUATORS,
    ),
    "asset": ("mesh", "material", "model"),
    "worldbody": OF_A_BODY,
    "body": ("inertial", *OF_A_BODY),
    "frame": OF_A_BODY,
    "replicate": OF_A_BODY,
    "equality": ("connect", "weld", "joint", "tendon"),
    "tendon": ("fixed", "spatial"),
    "fixed": ("joint",),
    "spatial": ("site", "geom", "pulley"),
    "actuator": ACTUATORS,
}

READ: dict[str, tuple[str, ...]] = {
    "mujoco": ("model",),
    "compiler": (
        "alignfree",
        "angle",
        "assetdir",
        "autolimits",
        "balanceinertia",
        "boundinertia",
        "boundmass",
        "conflict",
        "coordinate",
        "eulerseq",
        "exactmeshinertia",
        "fitaabb",
        "inertiafromgeom",
        "inertiagrouprange",
        "meshdir",
        "settotalmass",
        "strippath",
    ),
    "option": ("density", "gravity", "viscosity", "wind"),
    "flag": (
        "constraint",
        "contact",
        "damper",
        "equality",
        "frictionloss",
        "gravity",
        "limit",
        "passive",
        "spring",
    ),
    "default": ("class",),
    "mesh": (
        "builtin",
        "class",
        "content_type",
        "face",
        "file",
        "inertia",
        "maxhullvert",
        "name",
        "params",
        "refpos",
        "refquat",
        "scale",
        "vertex",
    ),
    "material": ("class", "name", "rgba"),
    "model": ("file", "name"),
    "attach": ("body", "frame", "model", "prefix"),
    "body": (*POSE, "childclass", "gravcomp", "mocap", "name"),
    "inertial": (*POSE, "diaginertia", "fullinertia", "mass"),
    "joint": (
        "actuatorfrclimited",
        "actuatorfrcrange",
        "armature",
        "axis",
        "class",
        "damping",
        "frictionloss",
        "limited",
        "name",
        "pos",
        "range",
        "ref",
        "springdamper",
        "springref",
        "stiffness",
        "type",
    ),
    "freejoint": ("align", "name"),
    "geom": (
        *POSE,
        "class",
        "conaffinity",
        "contype",
        "density",
        "fitscale",
        "fromto",
        "group",
        "mass",
        "material",
        "mesh",
        "name",
        "rgba",
        "shellinertia",
        "size",
        "type",
    ),
    "site": (*POSE, "class", "fromto", "name", "size", "type"),
    "frame": (*POSE, "childclass", "name"),
    "replicate": ("count", "euler", "offset", "sep"),
    "connect": ("active", "anchor", "body1", "body2", "class", "name", "site1", "site2"),
    "weld": ("active", "anchor", "body1", "body2", "class", "name", "relpose", "site1", "site2"),
    "equality/joint": ("active", "class", "joint1", "joint2", "name", "polycoef"),
    "equality/tendon": ("active", "class", "name", "polycoef", "tendon1", "tendon2"),
    "default/equality": ("active",),
    "default/tendon": TENDON,
    "fixed": TENDON,
    "spatial": TENDON,
    "fixed/joint": ("coef", "joint"),
    "spatial/site": ("site",),
    "spatial/geom": ("geom", "sidesite"),
    "pulley": ("divisor",),
    "general": (
        *DRIVE,
        "biasprm",
        "biastype",
        "dynprm",
        "dyntype",
        "gainprm",
        "gaintype",
        "inheritrange",
    ),
    "motor": DRIVE,
    "position": (*DRIVE, *SERVO, "timeconst"),
    "velocity": (*DRIVE, "kv"),
    "intvelocity": (*DRIVE, *SERVO, "actrange"),
    "damper": (*DRIVE, "kv"),
    "cylinder": (*DRIVE, "area", "bias", "diameter", "timeconst"),
}

# elements that change the mechanism itself, and cannot be left out
REFUSED = {
    "composite": "Write its bodies in the file: mujoco.MjSpec.from_file(FILE).to_xml() does.",
    "flexcomp": "Remove it; elastic links are rigid ones with da.Beam.",
    "deformable/flex": "Remove it; elastic links are rigid ones with da.Beam.",
    "geom/plugin": "Give the geom a shape of its own, or the body an <inertial>.",
    "mesh/plugin": "Give the mesh a file.",
}

FORCES = "Its forces are not computed: give them by simulate(forces=) or external_forces=."
# kept out of what is simulated, though it is mechanics: the fix that the finding has
LOST = {
    "equality/flex": "",
    "equality/flexstrain": "",
    "equality/flexvert": "",
    "body/plugin": FORCES,
    "joint springyield": "The joint's spring stays elastic.",
    "tendon springyield": "",
    "fixed springyield": "",
    "spatial springyield": "",
}
NAMES = frozenset(  # attributes that hold no numbers
    (
        "body body1 body2 childclass class file geom joint joint1 joint2 material mesh model name "
        "sidesite site site1 site2 tendon tendon1 tendon2"
    ).split()
)
# files do without them; the schema that MuJoCo prints does not say what they have
UNPRINTED = {
    "frame": READ["frame"],
    "replicate": READ["replicate"],
    "include": ("file", "prefix"),
}


def kind_of(parent: str, tag: str) -> str:
    """The key of an element in `READ`, 'equality/joint' where its meaning depends on its parent."""
    within = f"{parent}/{tag}"
    return within if within in READ else tag


def children_of(parent: str, tag: str) -> tuple[str, ...]:
    """Tags of the elements inside that are kept; inside the defaults of a tendon there are none."""
    return () if parent == "default" and tag != "default" else CHILDREN.get(tag, ())
