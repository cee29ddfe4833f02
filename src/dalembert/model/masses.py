"""Whether masses and inertias are those of bodies: positive mass, moments that a distribution of
mass can have.
"""

from __future__ import annotations

from collections.abc import (
    Container,
    Iterable,
    Mapping,
    Sequence,
)

import numpy as np

from dalembert.model.findings import Finding
from dalembert.model.numbers import (
    Number,
    as_float,
    half_unit,
    is_symbolic,
)
from dalembert.model.parts import (
    Body,
    Joint,
)

INERTIA_SLACK = 1e-6  # of the largest moment: files round moments to 6 digits
DIGITS_SLACK = (
    0.05  # of the largest moment: the most that rounding to the file's own few digits excuses
)
NOISE = (
    1e-14  # of mass times the model's length squared: moments of a point mass computed in doubles
)
MOMENTS_NOISE = 1e-12  # of the largest moment in the model: moments of a body without mass


def inertia_findings(
    bodies: Sequence[Body], joints: Sequence[Joint], length: float
) -> list[Finding]:
    """Whether masses and inertias are those of positive mass (semidefinite is admissible); symbols
    are passed over.

    Moments that miss it by rounding, of doubles or of the file's digits, are notes. `length` is the
    model's size [m].
    """
    numeric = [b for b in bodies if not any(map(is_symbolic, (b.mass, *b.com, *b.inertia)))]
    if not numeric:
        return []
    tensors = np.array([[[as_float(x) for x in row] for row in b.tensor()] for b in numeric])
    scales = np.abs(tensors).max(axis=(1, 2))  # of size 1, moments do not overflow
    scaled = np.linalg.eigvalsh(tensors / np.where(scales > 0, scales, 1)[:, None, None])
    doubts: list[Finding] = []
    still = _carried(bodies, joints)[""] if joints else {body.name for body in bodies}
    for body, scale, moments in zip(numeric, scales.tolist(), scaled, strict=True):
        mass = as_float(body.mass)
        if mass < 0:
            doubts.append(
                _of(body, "error", f"its mass is {mass:g} kg, below 0.", "Give a positive mass.")
            )
            continue
        noise = NOISE * mass * length * length if mass > 0 else MOMENTS_NOISE * float(scales.max())
        if mass == 0 and any(as_float(x) for x in body.com):
            doubts.append(
                _of(
                    body,
                    "warning",
                    "it has a centre of mass but no mass.",
                    "Give a mass or remove it.",
                )
            )
        if mass == 0 and scale > noise and body.beam is None:
            severity = (
                "note" if body.name in still else "error"
            )  # of the base nothing depends on them
            doubts.append(
                _of(
                    body,
                    severity,
                    "it has moments of inertia but no mass.",
                    "Give a mass or remove them.",
                )
            )
        if scale > 0:
            doubts += _moment_findings(body, moments, scale, noise)
    return doubts


def _moment_findings(body: Body, moments: np.ndarray, scale: float, noise: float) -> list[Finding]:
    """Principal moments below 0, or one above the sum of the others; they are given divided by
    `scale`.
    """
    missing = float(max(-moments[0], moments[-1] - moments[0] - moments[1]))
    largest = float(np.abs(moments).max())
    if missing <= INERTIA_SLACK * largest:
        return []
    shown = ", ".join(f"{m * scale:.4g}" for m in moments.tolist())
    if missing * scale <= noise:
        return [
            _of(
                body,
                "note",
                f"its principal moments {shown} kg m^2 are rounding noise;",
                "they count as 0.",
            )
        ]
    if missing <= min(_digits(body.inertia) / scale, DIGITS_SLACK * largest):
        return [
            _of(
                body,
                "note",
                f"its principal moments {shown} kg m^2 break I1 + I2 >= I3",
                "by no more than rounding to the digits given.",
            )
        ]
    if moments[0] < -INERTIA_SLACK * largest:
        return [
            _of(
                body,
                "error",
                f"its principal moments {shown} kg m^2 are not all positive.",
                "Check the signs of the products of inertia (Ixy = -integral xy dm); "
                "mechanism.repaired() takes the nearest possible ones.",
            )
        ]
    return [
        _of(
            body,
            "error",
            f"its principal moments {shown} kg m^2 break I1 + I2 >= I3.",
            "Are they about the centre of mass? mechanism.repaired() takes the nearest possible ones.",
        )
    ]


def _digits(tensor: Sequence[Number]) -> float:
    """By how much I3 - I1 - I2 can be off because each decimal is rounded: half a unit of the last
    digit.
    """
    return sum(half_unit(x) for x in tensor) + sum(half_unit(tensor[k]) for k in (1, 3, 4))


def massless(
    bodies: Sequence[Body],
    joints: Sequence[Joint],
    constrained: bool = False,
    rotors: Container[str] = (),
) -> Iterable[Finding]:
    """Moving bodies, links on fixed joints lumped into them, without any mass or inertia."""
    groups = _carried(bodies, joints)
    carriers = {j.parent for j in joints if not j.is_fixed}
    by_name = {b.name: b for b in bodies}
    between: list[Body] = []
    for joint in joints:
        has_rotor = joint.name in rotors or any(map(_nonzero, joint.rotor_inertia))
        if joint.is_fixed or has_rotor:
            continue
        if any(_nonzero(x) for name in groups[joint.child] for x in _inertial(by_name[name])):
            continue
        body = by_name[joint.child]
        if groups[joint.child] & carriers:
            between.append(body)
        elif constrained:
            yield _of(
                body,
                "note",
                f"it moves on joint {joint.name!r} and has no mass.",
                "Its motion is that which constraints leave it.",
            )
        else:
            yield _of(
                body,
                "error",
                f"it moves on joint {joint.name!r} and has no mass: accelerations are not "
                "determined,",
                "so forward dynamics will refuse. Give it an inertia, fix the joint, or close a loop by "
                "constraints.",
            )
    if between:
        names = ", ".join(repr(b.name) for b in between[:3]) + (", ..." if len(between) > 3 else "")
        is_one = len(between) == 1
        yield Finding(
            "note",
            f"{len(between)} moving bod{'y' if is_one else 'ies'} ({names})",
            f"{'has' if is_one else 'have'} no mass of {'its' if is_one else 'their'} own.",
            "Other bodies hang on it." if is_one else "Other bodies hang on them.",
            between[0].source,
        )


def _carried(bodies: Sequence[Body], joints: Sequence[Joint]) -> Mapping[str, set[str]]:
    """Names of the bodies rigidly carried by each moving body ('' for the base), by the moving
    body's name.
    """
    carrier = {bodies[0].name: ""}
    groups: dict[str, set[str]] = {"": {bodies[0].name}}
    for joint in joints:
        carrier[joint.child] = carrier[joint.parent] if joint.is_fixed else joint.child
        groups.setdefault(carrier[joint.child], set()).add(joint.child)
    return groups


def _inertial(body: Body) -> tuple[Number, ...]:
    """Numbers any of which gives a body inertia."""
    has_mass = body.beam is not None and body.beam.mass_per_length is not None
    of_beam = body.beam.mass if has_mass else 0  # type: ignore[union-attr]
    return (body.mass, *body.inertia, of_beam)


def _nonzero(x: Number) -> bool:
    return is_symbolic(x) or as_float(x) != 0


def _of(body: Body, severity: str, why: str, fix: str) -> Finding:
    return Finding(severity, f"body {body.name!r}", why, fix, body.source)
