"""Robot files that packages ship, read and compared with Pinocchio and MuJoCo:

    pip install --no-deps --target FOLDER example-robot-data pybullet icub-models ...
    PYTHONPATH=src python benchmarks/robot_files.py FOLDER [--page docs/robots.md]

Each URDF, MJCF and SDF file below FOLDER is loaded as a user loads it, for its findings and its
time, and once more as other engines have it: followers independent, nothing dissipative, without
constraints, angles as written. Mass matrix times accelerations, bias forces, placements of bodies
and accelerations by forward dynamics at random states are compared in the other engine's
conventions. Files without a moving joint are counted only.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dalembert as da
from dalembert.cli import BARE
from dalembert.commandline.peers import mujoco_model, pinocchio_model
from native import cpu_name

STATES, SEED = 5, 1
KINDS = {".urdf": "urdf", ".sdf": "sdf", ".xml": "xml"}
ROOT = re.compile(rb"<\s*(robot|mujoco|sdf)[\s>]")
FOLDERS = {
    "cmeel.prefix": "example-robot-data",
    "pybullet_data": "pybullet",
    "rtbdata": "rtb-data",
    "share": "icub-models",
}
COMMON = {"share", "example-robot-data", "robots", "iCub", "envs", "models", "assets", "urdf"}
START, END = "<!-- measured -->\n", "<!-- /measured -->\n"
PEERS = {"Pinocchio": "pin", "MuJoCo": "mujoco"}
READS = "reads it"
CLOSE = 1e-9  # what differs by more has a reason, which stands beside it


class Comparison(NamedTuple):
    """Largest differences relative to the largest entry, or why there is none; forward dynamics
    apart, which is as exact as M lets it be.
    """

    dynamics: float = 0.0
    accelerations: float = 0.0
    refusal: str = ""


class RobotFile(NamedTuple):
    """A file and the results on it."""

    package: str
    file: str
    seconds: float
    nq: int = 0
    nv: int = 0
    findings: dict[str, int] = {}
    refusal: str = ""
    pinocchio: Comparison | None = None
    mujoco: Comparison | None = None
    errors: str = ""


class Quantities(NamedTuple):
    """Values of one engine at all states, in its own conventions and order."""

    inertia_forces: np.ndarray
    bias: np.ndarray
    qdd: np.ndarray
    places: dict[str, np.ndarray]


def files(folder: Path) -> Iterator[Path]:
    """Robot files below a folder by package; of XML only those whose root element is of a robot."""
    for path in sorted(folder.rglob("*")):
        is_known = path.suffix.lower() in KINDS and path.is_file()
        if is_known and ROOT.search(path.read_bytes()[:20_000]) and not _is_configuration(path):
            yield path


def _is_configuration(path: Path) -> bool:
    """Whether an XML file of a <robot> says which programs run on it, and has no links."""
    text = path.read_bytes()
    return path.suffix.lower() == ".xml" and b"<robot" in text and b"<link" not in text


def package_of(path: Path, folder: Path) -> str:
    """Package that a file belongs to, by its folder."""
    name = path.relative_to(folder).parts[0]
    return FOLDERS.get(name, name.replace("_", "-"))


def short(path: Path, folder: Path) -> str:
    """Path of a file within its package, without folders that say nothing."""
    parts = path.relative_to(folder).parts[1:]
    return "/".join(part for part in parts if part not in COMMON)


def measured(path: Path, folder: Path) -> RobotFile:
    """Results on a file."""
    package, name = package_of(path, folder), short(path, folder)
    start = time.perf_counter()
    try:
        mechanism = da.load(path)
    except da.DalembertError as error:
        seconds = time.perf_counter() - start
        refusal = _without(str(error), path)
        return RobotFile(package, name, seconds, refusal=refusal, mujoco=_taken(path))
    seconds = time.perf_counter() - start
    findings = mechanism.check()
    counts = dict(Counter(finding.severity for finding in findings))
    errors = "; ".join(f"{f.what}: {f.why}" for f in findings if f.severity == "error")
    found = RobotFile(package, name, seconds, mechanism.nq, mechanism.nv, counts, errors=errors)
    if not mechanism.nv:
        return found
    bare = da.load(path, **BARE).without("constraints")
    found = found._replace(nq=bare.nq, nv=bare.nv)
    if path.suffix.lower() == ".sdf":  # which neither engine reads as it is installed
        return found
    if path.suffix.lower() == ".xml":
        return found._replace(mujoco=compared(bare, path, of_mujoco))
    return found._replace(
        pinocchio=compared(bare, path, of_pinocchio),
        mujoco=compared(bare, path, of_mujoco_urdf),
    )


def compared(mechanism: Any, path: Path, peer: Callable[..., Any]) -> Comparison:
    """Differences from another engine."""
    try:
        states, values = peer(mechanism, path)
        ours = own_values(mechanism, *states, [*values.places])
    except Exception as error:  # any objection of another engine to the model
        first = str(error).strip().splitlines() or [type(error).__name__]
        return Comparison(refusal=_without(first[0], path))
    scale = np.abs([*values.inertia_forces, *values.bias]).max()
    differences = [
        relative(ours.inertia_forces, values.inertia_forces, scale),
        relative(ours.bias, values.bias, scale),
        *(relative(ours.places[name], x, np.abs(x).max()) for name, x in values.places.items()),
    ]
    largest = np.abs(values.qdd).max()
    return Comparison(max(differences), relative(ours.qdd, values.qdd, largest))


def relative(ours: np.ndarray, theirs: np.ndarray, scale: float) -> float:
    """Largest difference by a scale; NaN where an entry is."""
    return float(np.abs(ours - theirs).max(initial=0) / (scale or 1))


def _taken(path: Path) -> Comparison | None:
    """Whether MuJoCo takes a file as it is; of URDF files without their meshes."""
    import mujoco

    try:
        mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        return Comparison(refusal=_without(str(error).strip().splitlines()[0], path))
    return Comparison(refusal=READS)


def own_values(mechanism, q, qd, qdd, tau, names) -> Quantities:
    """Values of this package."""
    try:
        accelerations = da.forward_dynamics(mechanism, q, qd, tau)
    except da.SingularMassMatrixError:
        accelerations = np.full(qd.shape, np.nan)
    return Quantities(
        np.einsum("nij,nj->ni", da.mass_matrix(mechanism, q), qdd),
        da.bias_force(mechanism, q, qd),
        accelerations,
        {name: da.placement(mechanism, q, name)[:, :3] for name in names},
    )


def random_states(mechanism: Any) -> tuple[np.ndarray, ...]:
    """q, qd, qdd, and tau of the size that M qdd has."""
    rng = np.random.default_rng(SEED)
    pairs = [mechanism.random_state(rng) for _ in range(STATES)]
    q, qd = (np.array(x) for x in zip(*pairs, strict=True))
    qdd = rng.standard_normal(qd.shape)
    tau = np.einsum("nij,nj->ni", da.mass_matrix(mechanism, q), rng.standard_normal(qd.shape))
    return q, qd, qdd, tau


def of_pinocchio(mechanism: Any, path: Path) -> tuple[Any, Quantities]:
    """States, and Pinocchio's values mapped to this package's conventions."""
    import pinocchio

    model, joints = pinocchio_model(path)
    data, body = model.createData(), pinocchio.FrameType.BODY
    names = [b.name for b in mechanism.bodies[1:] if model.existFrame(b.name, body)]

    def at(q, qd, qdd_at_rest, qdd, tau):
        forces = pinocchio.crba(model, data, q)
        M = np.triu(forces) + np.triu(forces, 1).T
        bias = pinocchio.nonLinearEffects(model, data, q, qd)
        pinocchio.framesForwardKinematics(model, data, q)
        places = [data.oMf[model.getFrameId(name, body)].homogeneous[:3] for name in names]
        return M @ qdd_at_rest + bias, M @ qdd + bias, _solved(M, tau - bias), places

    maps = (da.convert.to_pinocchio, da.convert.from_pinocchio)
    return _values(mechanism, names, joints, maps, at)


def of_mujoco_urdf(mechanism: Any, path: Path) -> tuple[Any, Quantities]:
    """States, and the values of MuJoCo's reader of URDF files."""
    return _of_mujoco(mechanism, *mujoco_model(path))


def of_mujoco(mechanism: Any, path: Path) -> tuple[Any, Quantities]:
    """States, and MuJoCo's values of its own file; joints have its order."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(path))
    flags = mujoco.mjtDisableBit
    model.opt.disableflags |= int(flags.mjDSBL_CONTACT) | int(flags.mjDSBL_CONSTRAINT)
    return _of_mujoco(mechanism, model, None)


def _of_mujoco(mechanism: Any, model: Any, joints: Any) -> tuple[Any, Quantities]:
    import mujoco

    data = mujoco.MjData(model)
    known = {model.body(k).name for k in range(1, model.nbody)}
    names = [b.name for b in mechanism.bodies[1:] if b.name in known]

    def product(qdd):
        forces = np.zeros(model.nv)
        mujoco.mj_mulM(model, data, forces, qdd)
        return forces

    def at(q, qd, qdd_at_rest, qdd, tau):
        data.qpos[:], data.qvel[:] = q, qd
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        bias = data.qfrc_bias.copy()
        accelerations = np.zeros((1, model.nv))
        mujoco.mj_solveM(model, data, accelerations, (tau - bias)[None])
        bodies = [data.body(name) for name in names]
        places = [np.c_[body.xmat.reshape(3, 3), body.xpos] for body in bodies]
        return product(qdd_at_rest) + bias, product(qdd) + bias, accelerations[0], places

    maps = (da.convert.to_mujoco, da.convert.from_mujoco)
    return _values(mechanism, names, joints, maps, at)


def _solved(M: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """Accelerations; NaN where M is singular."""
    try:
        return np.linalg.solve(M, forces)
    except np.linalg.LinAlgError:
        return np.full(len(forces), np.nan)


def _values(mechanism: Any, names: Any, joints: Any, maps: Any, at: Any) -> tuple[Any, Quantities]:
    """States, and an engine's values in this package's conventions.

    Accelerations of free and planar joints map with their velocities, so that the bias force, tau
    at qdd = 0 here, belongs to other accelerations there.
    """
    outward, inward = maps
    states = q, qd, qdd, tau = random_states(mechanism)
    theirs = outward(mechanism, q, qd, qdd, tau, joints)
    at_rest = outward(mechanism, q, qd, 0 * qdd, None, joints).qdd
    vectors = zip(theirs.q, theirs.qd, at_rest, theirs.qdd, theirs.tau, strict=True)
    parts = zip(*(at(*x) for x in vectors), strict=True)
    bias, forces, accelerations, places = (np.array(x) for x in parts)
    own = inward(mechanism, theirs.q, theirs.qd, accelerations, bias, joints)
    own_forces = inward(mechanism, theirs.q, theirs.qd, None, forces, joints).tau
    by_name = {name: places[:, k] for k, name in enumerate(names)}
    return states, Quantities(own_forces - own.tau, own.tau, own.qdd, by_name)


def _without(text: str, path: Path) -> str:
    """A message without the paths of the file and of the folders around it."""
    text = text.replace(str(path), path.name)
    for folder in [*path.parents][:-2]:
        text = text.replace(f"{folder}/", "").replace(f"'{folder}'", f"'{folder.name}'")
    return text


# --- the page


def page(rows: list[RobotFile], folder: Path) -> str:
    """Summary, packages and files in Markdown."""
    moving = [row for row in rows if row.nv or row.refusal]
    parts = [summary(rows, moving), packages(rows, versions(folder)), each(moving)]
    return "\n\n".join(parts) + "\n"


def summary(rows: list[RobotFile], moving: list[RobotFile]) -> str:
    """Counts, worst differences, machine and versions."""
    loaded = [row for row in rows if not row.refusal]
    engines = ", ".join(f"{name} {version(package)}" for name, package in PEERS.items())
    peers = [_agreement(name, [getattr(row, name.lower()) for row in loaded]) for name in PEERS]
    lines = [
        f"{len(rows)} files of {len({row.package for row in rows})} packages: {len(loaded)} load, "
        f"{len(rows) - len(loaded)} are refused; {len(rows) - len(moving)} have no moving joint.",
        *peers,
        _refused([row for row in rows if row.refusal]),
        f"Measured on {datetime.date.today().isoformat()} with {engines}; times on {cpu_name()}.",
    ]
    return "\n".join(lines)


def _refused(rows: list[RobotFile]) -> str:
    reading = [row.file for row in rows if row.mujoco and row.mujoco.refusal == READS]
    return (
        f"Of the refused, MuJoCo takes {len(rows) - len(reading)} neither; it reads "
        f"{', '.join(reading) or 'none'}."
    )


def _agreement(title: str, found: Iterable[Comparison | None]) -> str:
    asked = [comparison for comparison in found if comparison is not None]
    taken = [comparison for comparison in asked if not comparison.refusal]
    agreeing = [comparison for comparison in taken if comparison.dynamics < CLOSE]
    worst = max((comparison.dynamics for comparison in agreeing), default=0)
    exact = [c.accelerations for c in agreeing if not np.isnan(c.accelerations)]
    return (
        f"{title} takes {len(taken)} of {len(asked)} robots: {len(agreeing)} agree, to {worst:.0e} "
        f"of the largest entry, accelerations to {max(exact, default=0):.0e}; "
        f"{len(taken) - len(agreeing)} differ."
    )


def versions(folder: Path) -> dict[str, str]:
    """Versions of the packages that are installed in a folder."""
    found = (path.name.removesuffix(".dist-info") for path in folder.glob("*.dist-info"))
    pairs = (name.rpartition("-") for name in found)
    return {name.replace("_", "-"): number for name, _, number in pairs}


def packages(rows: list[RobotFile], known: dict[str, str]) -> str:
    """A line for each package."""
    lines = [
        "| package | version | files | with joints | load | refused | Pinocchio | MuJoCo |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for package in dict.fromkeys(row.package for row in rows):
        of_it = [row for row in rows if row.package == package]
        refused = sum(bool(row.refusal) for row in of_it)
        counts = (len(of_it), sum(row.nv > 0 for row in of_it), len(of_it) - refused, refused)
        peers = (_agreed([getattr(row, name.lower()) for row in of_it]) for name in PEERS)
        cells = [package, known.get(package, ""), *map(str, counts), *peers]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _agreed(found: Iterable[Comparison | None]) -> str:
    """How many agree, of how many that the engine takes."""
    taken = [
        comparison for comparison in found if comparison is not None and not comparison.refusal
    ]
    agreeing = sum(comparison.dynamics < CLOSE for comparison in taken)
    return f"{agreeing} of {len(taken)}" if taken else ""


def each(rows: list[RobotFile]) -> str:
    """A line for each file."""
    head = (
        "| package | file | nv | errors, warnings, notes | ms | Pinocchio | MuJoCo |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n"
    )
    return head + "\n".join(map(_line, rows))


def _line(row: RobotFile) -> str:
    begin = f"| {row.package} | {row.file} | "
    if row.refusal:
        mujoco = _of_peer(row.mujoco)
        return f"{begin}- | refused: {_cell(row.refusal)} | {row.seconds * 1e3:.0f} | | {mujoco} |"
    counts = ", ".join(str(row.findings.get(k, 0)) for k in ("error", "warning", "note"))
    peers = f"{_of_peer(row.pinocchio, row.errors)} | {_of_peer(row.mujoco, row.errors)}"
    return f"{begin}{row.nv} | {counts} | {row.seconds * 1e3:.0f} | {peers} |"


def _of_peer(found: Comparison | None, errors: str = "") -> str:
    """Differences, with the errors of the file where they are not small; or the refusal."""
    if found is None:
        return ""
    if found.refusal:
        return _cell(found.refusal)
    reason = f": {_cell(errors)}" if found.dynamics > CLOSE else ""
    if np.isnan(found.accelerations):
        return f"{found.dynamics:.0e}, M singular{reason}"
    return f"{found.dynamics:.0e}, {found.accelerations:.0e}{reason}"


def _cell(text: str) -> str:
    """Text as a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")[:120]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", type=Path, help="page whose measured part is replaced")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for path in files(arguments.folder):
        rows.append(measured(path, arguments.folder))
        if rows[-1].nv or rows[-1].refusal:
            print(_line(rows[-1]), file=sys.stderr)
    text = page(rows, arguments.folder)
    if arguments.page is None:
        print(text)
        return
    before, _, rest = arguments.page.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    arguments.page.write_text(f"{before}{START}{text}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
