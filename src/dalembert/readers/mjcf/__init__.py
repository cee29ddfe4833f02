"""MJCF, the model files of MuJoCo, as MuJoCo compiles them.

The file is read by this package, with the files that it includes from its own folder. MuJoCo gets
what of it is mechanics, an element a line, and opens no file itself; what it makes of defaults,
angles, frames and geoms is the mechanism.
"""

from __future__ import annotations

from pathlib import Path

from dalembert.errors import ReadError
from dalembert.model.findings import Finding
from dalembert.model.mechanism import Mechanism
from dalembert.model.parts import Frame
from dalembert.readers.formats import ReadingOptions
from dalembert.readers.mjcf.attached_models import add_attached
from dalembert.readers.mjcf.body_chains import BodyChains
from dalembert.readers.mjcf.canonical_xml import CanonicalModel
from dalembert.readers.mjcf.compiling import (
    CompiledModel,
    compiled_model,
    mujoco_module,
)
from dalembert.readers.mjcf.disabled_forces import Enabled
from dalembert.readers.mjcf.equalities import Equalities
from dalembert.readers.mjcf.exact_numbers import (
    AngleReading,
    exact_vector,
)
from dalembert.readers.mjcf.finite_numbers import check_finite
from dalembert.readers.mjcf.geom_visuals import visuals_of_geoms
from dalembert.readers.mjcf.includes import (
    MAX_NESTED,
    IncludedFiles,
)
from dalembert.readers.mjcf.lost_mechanics import lost_mechanics
from dalembert.readers.mjcf.model_folder import ModelFolder
from dalembert.readers.mjcf.motors import Motors
from dalembert.readers.read_file import causes_named
from dalembert.readers.xacro import refuse_xacro
from dalembert.readers.xml import (
    Element,
    parsed,
)


def read(data: bytes, file: str, options: ReadingOptions) -> Mechanism:
    """Mechanism of an MJCF file; see `formats.Reader`."""
    mujoco_module(file)
    document = parsed(data, file, options.encoding, MAX_NESTED)
    refuse_xacro(document, file)
    root = document.root
    if root.tag == "mujocoinclude":
        why = "<mujocoinclude> is a part of a model: load the file that includes it."
        raise root.error(why)
    if root.tag != "mujoco":
        raise root.error(f"the root element is <{root.tag[:60]}>, expected <mujoco>.")
    folder = ModelFolder(file, options.mesh_folders)
    included = IncludedFiles(folder, file)
    canonical = CanonicalModel()
    canonical.add(included.expand(root))
    add_attached(canonical, included)
    compiled = compiled_model(canonical, folder, file)
    check_finite(compiled)
    reading = AngleReading(options.angle_tolerance if options.exact_angles else None)
    found = [*document.remarks, *included.remarks, *compiled.remarks, *canonical.unread.findings()]
    try:
        return _mechanism(compiled, reading, _name(root, file), found)
    except ValueError as error:  # a product of numbers of the file that is too large
        raise ReadError(str(error), file) from None


def _mechanism(
    compiled: CompiledModel, reading: AngleReading, name: str, remarks: list[Finding]
) -> Mechanism:
    """The mechanism of a compiled model."""
    model = compiled.model
    enabled = Enabled.of(model)
    visuals, without = visuals_of_geoms(compiled, reading)
    chains = BodyChains(compiled, reading, visuals)
    chains.collect()
    frames, renamed = _frames(compiled, reading, chains)
    equalities = Equalities(compiled, reading, [f.name for f in frames], enabled.equality)
    constraints = tuple(equalities.constraints())
    motors = Motors(compiled, [joint.name for joint in chains.joints])
    actuators = motors.actuators()
    remarks = [*remarks, *renamed, *_undrawn(compiled, without), *lost_mechanics(compiled)]
    remarks += [*equalities.remarks, *_softness(constraints), *motors.remarks]
    with causes_named(remarks):
        mechanism = Mechanism(
            name,
            tuple(chains.bodies),
            tuple(chains.joints),
            frames,
            exact_vector(model.opt.gravity) if enabled.gravity else (0, 0, 0),
            file=compiled.file,
            remarks=tuple(remarks),
            actuators=actuators,
        )
        return mechanism.constrained(*constraints) if constraints else mechanism


def _name(root: Element, file: str) -> str:
    """The model's name; else that of its file."""
    given = (root.get("model") or "").strip()
    return given or ("model" if file.startswith("<") else Path(file).stem) or "model"


def _frames(
    compiled: CompiledModel, reading: AngleReading, chains: BodyChains
) -> tuple[tuple[Frame, ...], list[Finding]]:
    """A frame for each site, and remarks on those that have another name here."""
    model = compiled.model
    frames, renamed = [], []
    for s in range(model.nsite):
        given = compiled.name("site", s)
        name = chains.body_names.new(given)
        source = compiled.source("site", s)
        if name != given:
            why = f"a body has its name; the frame is called {name!r}."
            renamed.append(Finding("note", f"site {given!r}", why, "", source))
        body = compiled.name("body", int(model.site_bodyid[s]))
        origin = reading.origin(model.site_pos[s], model.site_quat[s])
        frames.append(Frame(name, body, origin, source))
    return tuple(frames), renamed


def _undrawn(compiled: CompiledModel, geoms: list[int]) -> list[Finding]:
    """The note on geoms that have no shape here."""
    if not geoms:
        return []
    what = f"{len(geoms)} geom{'s' * (len(geoms) > 1)}"
    why = "not drawn: planes, fields of heights and meshes without a file have no shape here."
    return [Finding("note", what, why, "", compiled.source("geom", geoms[0]))]


def _softness(constraints: tuple) -> list[Finding]:
    """The note on what equalities are in MuJoCo."""
    if not constraints:
        return []
    what = f"{len(constraints)} equalit{'ies' if len(constraints) > 1 else 'y'}"
    why = "MuJoCo holds them by soft forces; here they hold exactly."
    return [Finding("note", what, why, "", constraints[0].source)]
