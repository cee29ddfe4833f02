"""A mechanism of beams on revolute joints as a row of links; anything else is refused by name."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, NoReturn

import numpy as np

from dalembert.beams.shape_functions import BEND_Y, BEND_Z, TWIST
from dalembert.errors import DalembertWarning, ModelError, caller_level
from dalembert.initial_parameters.houbolt import Levels
from dalembert.initial_parameters.link_row import LinkRow, Payload
from dalembert.model.elastic.beam import Beam
from dalembert.model.joints import Revolute
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float, is_symbolic
from dalembert.model.parts import PER_VELOCITY, Body, Joint, Origin

INSTEAD = "da.simulate integrates any mechanism with elastic links."
AT_TIP = 1e-9  # of the length: how far a hinge may stand from the tip
UNUSED = tuple(name for name in PER_VELOCITY if name not in ("gear_ratio", "rest"))


class Placed(NamedTuple):
    """A body on fixed joints: the link (or the base) that carries it, and its place there.

    R: rotation to the axes of the carrier (3, 3)
    p: place of its origin there (3,) [m]
    """

    carrier: str
    R: np.ndarray
    p: np.ndarray


class ReadRow(NamedTuple):
    """Links of a mechanism with their bodies, and the root of the first (3,) [m]."""

    row: LinkRow
    bodies: tuple[Body, ...]
    root: np.ndarray


def read_row(mechanism: Mechanism) -> ReadRow:
    """Links of a mechanism, from the base to the tip.

    Raises
    ------
    ModelError
        It is no row of beams on revolute joints with rigid bodies at the last tip; a number is
        missing.
    """
    if mechanism.constraints:
        _refuse(f"mechanism {mechanism.name!r} has constraints; a row of links has none.")
    if mechanism.with_rotors:
        _refuse(f"mechanism {mechanism.name!r} has rotors of actuators; hinges are ideal.")
    placed = _placed(mechanism)
    joints, bodies = _links(mechanism, placed)
    root, mountings, axes = _mountings(joints, bodies, placed)
    sections = [_section(body) for body in bodies]
    length, density, EA, GJ, EIz, EIy = np.array(sections).T
    row = LinkRow(
        tuple(body.name for body in bodies),
        tuple(joint.name for joint in joints),
        length,
        density,
        EA,
        GJ,
        np.stack([EIz, EIy], axis=1),
        axes,
        mountings,
        _payload(mechanism, bodies[-1], placed),
        np.array([_number(x, "gravity") for x in mechanism.gravity]),
    )
    return ReadRow(row, bodies, root)


def _refuse(message: str) -> NoReturn:
    raise ModelError(f"elastic_line: {message} {INSTEAD}")


def _number(x: Any, name: str) -> float:
    """A number of the model as a float."""
    if is_symbolic(x):
        _refuse(f"{name} is a symbol; give its number by mechanism.replace.")
    return float(as_float(x))


def _matrix(origin: Origin, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (3, 3) and translation (3,) of a constant placement."""
    transform = origin.transform(lambda x: _number(x, name))
    return np.array(transform.R.matrix(), dtype=float), np.array(transform.p, dtype=float)


def _placed(mechanism: Mechanism) -> dict[str, Placed]:
    """Places of all bodies on what carries them: links and the base carry themselves."""
    placed = {mechanism.bodies[0].name: _own(mechanism.bodies[0])}
    bodies = {body.name: body for body in mechanism.bodies}
    for joint in mechanism.joints:
        child = bodies[joint.child]
        if not joint.is_fixed:
            placed[child.name] = _own(child)
            continue
        if child.beam is not None:
            _refuse(
                f"beam of body {child.name!r} is on the fixed joint {joint.name!r}; a link hangs on "
                "a revolute joint (which accelerations={...: 0} holds)."
            )
        on = placed[joint.parent]
        R, p = _matrix(joint.origin, f"origin of joint {joint.name!r}")
        placed[child.name] = Placed(on.carrier, on.R @ R, on.p + on.R @ p)
    return placed


def _beam(body: Body) -> Beam:
    """Beam of a link."""
    assert body.beam is not None
    return body.beam


def _own(body: Body) -> Placed:
    return Placed(body.name, np.eye(3), np.zeros(3))


def _links(mechanism: Mechanism, placed) -> tuple[tuple[Joint, ...], tuple[Body, ...]]:
    """Joints and bodies of the row, from the base on."""
    bodies = {body.name: body for body in mechanism.bodies}
    if bodies[mechanism.bodies[0].name].beam is not None:
        _refuse(f"the base {mechanism.bodies[0].name!r} is a beam; the base does not move.")
    joints = tuple(joint for joint in mechanism.joints if not joint.is_fixed)
    if not joints:
        _refuse(f"mechanism {mechanism.name!r} has no joint that moves.")
    carrier = mechanism.bodies[0].name
    for joint in joints:
        _check_joint(joint)
        if placed[joint.parent].carrier != carrier:
            _refuse(
                f"joint {joint.name!r} branches off body {joint.parent!r}; links hang in one row, "
                f"here on body {carrier!r}."
            )
        _check_link(bodies[joint.child])
        carrier = joint.child
    return joints, tuple(bodies[joint.child] for joint in joints)


def _check_joint(joint: Joint) -> None:
    """See that a joint is a hinge and no more."""
    if not isinstance(joint.type, Revolute) or joint.mimic is not None:
        kind = "a follower" if joint.mimic is not None else f"of type {joint.type.name!r}"
        _refuse(f"joint {joint.name!r} is {kind}; links hang on revolute joints.")
    for name in UNUSED:
        if any(_number(x, f"{name} of joint {joint.name!r}") for x in getattr(joint, name)):
            _refuse(
                f"joint {joint.name!r} has {name}; hinges are ideal. Put a moment that depends on "
                "angles and rates into control=."
            )


def _check_link(body: Body) -> None:
    """See that a body is an undamped beam and no more."""
    if body.beam is None:
        _refuse(f"body {body.name!r} moves and has no beam; all links are elastic.")
    if _number(body.mass, f"mass of body {body.name!r}"):
        _refuse(
            f"body {body.name!r} has a mass of {float(as_float(body.mass)):g} kg besides its beam's; "
            "rigid bodies are at the tip of the last link alone."
        )
    if not body.beam.is_uniform:
        _refuse(f"the beam of body {body.name!r} has properties that vary; the method has none.")
    if body.beam.damping is not None:
        _refuse(f"the beam of body {body.name!r} has damping; the method knows of none.")
    if any(_number(x, f"rotary_inertia of body {body.name!r}") for x in body.beam.rotary_inertia):
        warnings.warn(
            f"elastic_line: rotary_inertia of body {body.name!r} is left out: sections have none in "
            "this method, and torsion is quasi-static.",
            DalembertWarning,
            stacklevel=caller_level(),
        )


def _section(body: Body) -> list[float]:
    """length, mass_per_length, EA, GJ, EIz, EIy of a link; EA and GJ infinite where none is given."""
    beam = _beam(body)
    for name in ("EIy", "EIz", "mass_per_length"):
        if getattr(beam, name) is None:
            raise ModelError(
                f"elastic_line: the beam of body {body.name!r} has no {name}, which it needs: links "
                "bend in both planes. Give it: nothing is estimated."
            )
    values = []
    for name in ("length", "mass_per_length", "EA", "GJ", "EIz", "EIy"):
        x = getattr(beam, name)
        values.append(np.inf if x is None else _number(x, f"{name} of body {body.name!r}"))
    return values


def _mountings(joints, bodies, placed) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Root of the first link (3,), mountings of the links (N, 3, 3), and axes of their hinges (N, 3)."""
    mountings, axes = [], []
    root = np.zeros(3)
    before: Body | None = None
    for joint, body in zip(joints, bodies, strict=True):
        on = placed[joint.parent]
        R, p = _matrix(joint.origin, f"origin of joint {joint.name!r}")
        R, p = on.R @ R, on.p + on.R @ p
        if before is None:
            root = p
        else:
            section, tip, length = _tip(before)
            _check_near(
                joint, "is", section.T @ (p - tip), length, f"the tip of body {before.name!r}"
            )
            R = section.T @ R
        own, start = _beam_axes(body)
        length = _number(_beam(body).length, "length")
        _check_near(joint, f"of beam {body.name!r} is", -start, length, "its start")
        mountings.append(R @ own)
        axis = own.T @ [_number(x, f"axis of joint {joint.name!r}") for x in joint.type.axis]
        axes.append(axis / np.sqrt(axis @ axis))
        before = body
    return root, np.array(mountings), np.array(axes)


def _check_near(joint: Joint, what: str, offset: np.ndarray, length: float, place: str) -> None:
    """See that a joint is at an end of a beam."""
    if np.abs(offset).max() > AT_TIP * length:
        _refuse(
            f"joint {joint.name!r} {what} {offset.round(9).tolist()} m off {place}; hinges are at the "
            "ends of beams."
        )


def _beam_axes(body: Body) -> tuple[np.ndarray, np.ndarray]:
    """Rotation from the beam's axes to the body's (3, 3), and the beam's start there (3,)."""
    return _matrix(_beam(body).origin, f"origin of the beam of body {body.name!r}")


def _tip(body: Body) -> tuple[np.ndarray, np.ndarray, float]:
    """Rotation of a beam's axes to the body's (3, 3), place of its tip there (3,), its length."""
    B, start = _beam_axes(body)
    length = _number(_beam(body).length, f"length of body {body.name!r}")
    return B, start + length * B[:, 0], length


def _payload(mechanism: Mechanism, last: Body, placed: dict[str, Placed]) -> Payload:
    """All rigid bodies on the tip of the last link together."""
    B, tip, length = _tip(last)
    base = mechanism.bodies[0].name
    parts = []
    for body in mechanism.bodies:
        on = placed[body.name]
        if body.beam is not None or on.carrier == base:
            continue
        mass = _number(body.mass, f"mass of body {body.name!r}")
        com = [_number(x, f"com of body {body.name!r}") for x in body.com]
        tensor = np.array([[_number(x, "inertia") for x in line] for line in body.tensor()])
        if on.carrier != last.name and (mass or tensor.any()):
            _refuse(
                f"body {body.name!r} is on link {on.carrier!r}; rigid bodies are at the tip of the "
                f"last link, {last.name!r}."
            )
        if on.carrier == last.name:
            if B[:, 0] @ (on.p - tip) < -AT_TIP * length:
                _refuse(f"body {body.name!r} is on link {last.name!r} before its tip, not at it.")
            parts.append((mass, B.T @ (on.p + on.R @ com - tip), B.T @ on.R @ tensor @ on.R.T @ B))
    return _together(parts)


def _together(parts: list[tuple[float, np.ndarray, np.ndarray]]) -> Payload:
    """Masses with their centres and tensors as one body."""
    mass = sum(m for m, _, _ in parts)
    centre = sum((m * c for m, c, _ in parts), np.zeros(3)) / (mass or 1)
    inertia = np.zeros((3, 3))
    for m, c, J in parts:
        d = c - centre
        inertia += J + m * (d @ d * np.eye(3) - np.outer(d, d))
    return Payload(mass, centre, inertia)


def levels_of(mechanism: Mechanism, bodies, x: np.ndarray, q, qd, h: float):
    """Last levels of deflection, slope and rotations of the tips by the coordinates of the links' shape
    functions, which changed at steady rates before.

    x : (S + 1, N) [m]; q, qd : of the mechanism (nq,)
    """
    deflection, slope = np.zeros((2, 2) + x.shape + (2,))
    twist = np.zeros((2, x.shape[1]))
    for n, body in enumerate(bodies):
        if body.name not in mechanism.body_entries:
            continue
        entry = mechanism.body_entries[body.name]
        states = np.array([q[entry.at_q], qd[list(entry.at_v)]])
        xi = (x[:, n] / x[-1, n]).tolist()
        first = 0
        for direction, functions in body.modes:
            own = states[:, first : first + functions.count]
            first += functions.count
            values = np.array([functions.values(s) for s in xi], dtype=float)
            slopes = np.array([functions.slopes(s) for s in xi], dtype=float)
            if direction in (BEND_Y, BEND_Z):
                _check_clamped(body, direction, own, values[0], slopes[0])
                plane = (BEND_Y, BEND_Z).index(direction)
                deflection[:, :, n, plane] = own @ values.T
                slope[:, :, n, plane] = own @ slopes.T / x[-1, n]
            elif direction == TWIST:
                twist[:, n] = own @ values[-1]
    theta = np.stack([twist, -slope[:, -1, :, 1], slope[:, -1, :, 0]], axis=-1)
    return tuple(_past(field, h) for field in (deflection, slope, theta))


def _check_clamped(body: Body, direction: str, coordinates, values, slopes) -> None:
    """See that a link that begins bent is tangent to its axes at its root."""
    if coordinates.any() and (np.abs(values).max() > AT_TIP or np.abs(slopes).max() > AT_TIP):
        _refuse(
            f"shape functions of body {body.name!r} in {direction} move or turn its root; the axes of "
            "a link are tangent to it there. Begin straight, or with clamped shape functions."
        )


def _past(field: np.ndarray, h: float) -> Levels:
    """Levels of a field that changed at a steady rate; `field` has value and rate (2, ...)."""
    value, rate = field
    return Levels(value, value - h * rate, value - 2 * h * rate)
