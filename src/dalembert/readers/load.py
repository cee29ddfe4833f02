"""`load`: a file, bytes or text to a mechanism."""

from __future__ import annotations

import json
import os
from collections.abc import (
    Iterable,
    Mapping,
)
from dataclasses import replace
from pathlib import Path
from typing import Any

from dalembert import data as embedded
from dalembert.arguments import (
    check_choice,
    check_flag,
)
from dalembert.errors import MissingFileError, ModelError, ReadError
from dalembert.model.findings import listed
from dalembert.model.joints import Free
from dalembert.model.mechanism import Mechanism, without_warnings
from dalembert.readers.foreign_formats import JSON, refuse_foreign
from dalembert.readers.formats import ReadingOptions, format_of
from dalembert.readers.mesh_folders import folders_of
from dalembert.spatial.angles import SNAP

MAX_FILE_BYTES = 32 * 2**20  # the largest robot file known to us has 2 MiB
BASES = ("fixed", "free")
MIMICS = ("exact", "independent")
WORLD = "world"  # name of the base of formats that have a world
MAX_TOLERANCE = 0.1  # rad, of angle_tolerance


def load(
    source: str | bytes | os.PathLike,
    base: str = "fixed",
    mimic: str = "exact",
    passive: bool = True,
    lock: Mapping[str, Any] | None = None,
    exact_angles: bool = True,
    strict: bool = False,
    angle_tolerance: float = SNAP,
    constraints: str | bytes | os.PathLike | None = None,
    mesh_folders: Iterable[str | os.PathLike] = (),
) -> Mechanism:
    """Mechanism from a robot file: URDF, MJCF, SDF or this package's TOML.

    Parameters
    ----------
    source : path, bytes or text
        A file's path; or its content as bytes or text (text that starts with '<' is XML, that has
        line breaks TOML); or the name of an embedded robot, of which there is no file (`da.data`).
    base : {'fixed', 'free'}
        Whether the root link is fixed to the world or floats on a free joint.
    mimic : {'exact', 'independent'}
        Followers are reduced exactly (no entry in q), or made independent joints.
    passive : bool
        False drops friction, damping and springs.
    lock : mapping, optional
        Joints to fix: {joint: value}.
    exact_angles : bool
        In URDF and SDF, angles within `angle_tolerance` of a multiple of pi/12 are read as that multiple,
        and rounding noise as 0: angles below 1e-9 rad, components of an axis below 1e-9 of the
        largest, lengths below 1e-12 of the model's size. False keeps every number.
    strict : bool
        Refuse findings of severity error, which otherwise give a warning: content that would be
        lost, masses, moments and limits that are missing or impossible.
    angle_tolerance : float
        [rad]; 1e-5 serves files that write 1.5708 and 3.1416, 1e-3 those that write 1.571. Angles
        near 0 stay as they are.
    constraints : path, bytes or text, optional
        A TOML file beside a robot file that has no such tables: [[constraint]] with the frames and
        driven joints that go with them, as loops of a URDF file; [[body]] with beams of links that
        are elastic; [[joint]] with transmissions of joints that are flexible; [[actuator]] with
        motors, their rotors and limits.

    Raises
    ------
    MissingFileError, ReadError, ModelError
        There is no such file; it cannot be read (file and line are named); it is not a sound
        mechanism.
    UnknownNameError, ValueError
        An option is unknown, or out of its range.

    Warns
    -----
    DalembertWarning
        Once, for what is doubtful or not used; `mechanism.check()` lists everything.

    Examples
    --------
    >>> import dalembert as da
    >>> text = ('<robot name="pendulum"><link name="base"/><link name="rod"><inertial><mass value="1"/>'
    ...         '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>'
    ...         '<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/></joint></robot>')
    >>> da.load(text)
    <Mechanism 'pendulum': 2 bodies, 1 joints, nq = 1, nv = 1>
    """
    for name, value, known in (("base", base, BASES), ("mimic", mimic, MIMICS)):
        check_choice(name, value, known)
    for flag, given in (("passive", passive), ("exact_angles", exact_angles), ("strict", strict)):
        check_flag(flag, given)
    _check_tolerance(angle_tolerance, exact_angles)
    folders = tuple(map(str, folders_of(mesh_folders)))
    options = ReadingOptions(mimic, exact_angles, angle_tolerance, None, folders, base)
    with without_warnings():
        located = _located(source)
        mechanism = _read(located, options)
        if isinstance(located, Path) and (better := embedded.better_name(located)):
            mechanism = replace(mechanism, name=better)
        if constraints is not None:
            mechanism = _constrained(mechanism, constraints)
        if base == "free":
            mechanism = _floating(mechanism)
        if strict and (errors := [f for f in mechanism.findings() if f.severity == "error"]):
            raise ModelError(listed(errors), tuple(errors))
        if not passive:
            mechanism = mechanism.without("friction", "springs")
        if lock is not None:
            mechanism = mechanism.lock(lock)
    mechanism.warn()
    return mechanism


def _located(source: Any) -> Any:
    """The source; of the name of an embedded robot, its file."""
    is_path = isinstance(source, (str, os.PathLike)) and not _is_text(source)
    return embedded.resolved(Path(source)) if is_path else source


def _read(source: Any, options: ReadingOptions) -> Mechanism:
    """The mechanism of a source by its format."""
    data, file, encoding = content_of(source)
    if _is_json(data):
        raise ReadError(f"this is {JSON}", file, 1)
    refuse_foreign(data, file)
    return format_of(data, file).read(data, file, options._replace(encoding=encoding))


def _floating(mechanism: Mechanism) -> Mechanism:
    """The mechanism with its base on a free joint; as it is, where all that hangs on a world
    without mass floats already.

    Raises
    ------
    ReadError
        A single joint hangs on a world without mass, whose own motion nothing would determine.
    """
    base = mechanism.bodies[0].name
    if base != WORLD:
        return mechanism.floating()
    fixed = {base}
    for joint in mechanism.joints:
        if joint.is_fixed and joint.parent in fixed:
            fixed.add(joint.child)
    heavy = any(b.mass != 0 or any(b.inertia) for b in mechanism.bodies if b.name in fixed)
    hanging = [j for j in mechanism.joints if j.parent in fixed and not j.is_fixed]
    if heavy or not hanging:
        return mechanism.floating()
    if all(isinstance(joint.type, Free) for joint in hanging):
        return mechanism
    if len(hanging) == 1:
        what = f"joint {hanging[0].name!r} alone hangs on body {base!r}"
        fix = "Give it a mass, or put a free joint in place of this one in the file."
        where = hanging[0].source
        raise ReadError(f"base='free': {what}, which has no mass. {fix}", where.file, where.line)
    return mechanism.floating()


def _constrained(mechanism: Mechanism, source: Any) -> Mechanism:
    """The mechanism with the constraints of a file."""
    from dalembert.readers.constraint_tables import with_constraints

    data, file, _ = content_of(source)
    return with_constraints(mechanism, data, file)


def _check_tolerance(tolerance: Any, exact_angles: bool) -> None:
    if (
        isinstance(tolerance, bool)
        or not isinstance(tolerance, (int, float))
        or not 0 <= tolerance <= MAX_TOLERANCE
    ):
        raise ValueError(
            f"angle_tolerance is {tolerance!r}; expected rad, from 0 to {MAX_TOLERANCE}: multiples "
            "of pi/12 are 0.26 apart."
        )
    if not exact_angles and tolerance != SNAP:
        raise ValueError(
            "exact_angles=False keeps all angles as they are written; leave angle_tolerance out."
        )


def content_of(source: Any) -> tuple[bytes, str, str | None]:
    """(bytes, name for messages, encoding where it is known).

    Raises
    ------
    MissingFileError, ReadError
        There is no such file; it cannot be opened, is empty or too large.
    TypeError
        It is neither a path, nor bytes, nor a text.
    """
    if isinstance(source, (bytes, bytearray)):
        return _limited(bytes(source), "<bytes>"), "<bytes>", None
    if _is_text(source):
        data = source.lstrip("\ufeff").encode("utf-8", errors="surrogatepass")
        return _limited(data, "<text>"), "<text>", "utf-8"
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"source is {type(source).__name__}; expected a path, bytes or text.")
    path = Path(source)
    name = embedded.name_in_messages(path)
    try:
        with open(path, "rb", opener=_opened) as stream:
            return _limited(stream.read(MAX_FILE_BYTES + 1), name), name, None
    except (FileNotFoundError, ValueError):  # ValueError: a null character in the name
        raise MissingFileError("there is no such file.", str(path)) from None
    except OSError as error:
        raise ReadError(f"cannot be opened ({error.strerror}).", str(path)) from None


def _is_text(source: Any) -> bool:
    """Whether a text is the content of a file, or nothing, and no path."""
    if not isinstance(source, str):
        return False
    begin = source.lstrip("\ufeff \t\r\n")[:1]
    return begin in ("", "<") or "\n" in source


def _opened(path: str, flags: int) -> int:
    """The file's descriptor; a pipe that nobody writes into counts as empty, where `open` would
    wait for ever.
    """
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    os.set_blocking(descriptor, True)
    return descriptor


def _limited(data: bytes, file: str) -> bytes:
    if len(data) > MAX_FILE_BYTES:
        raise ReadError(f"larger than MAX_FILE_BYTES = {MAX_FILE_BYTES // 2**20} MiB.", file)
    if not data.strip():
        raise ReadError("the file is empty.", file)
    return data


def _is_json(data: bytes) -> bool:
    """Whether the content is an object or a list of JSON; TOML begins with no brace, and its lists
    are no JSON.
    """
    begin = data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not begin.startswith(b"["):
        return begin.startswith(b"{")
    try:
        return isinstance(json.loads(begin), list)
    except (ValueError, RecursionError):
        return False
