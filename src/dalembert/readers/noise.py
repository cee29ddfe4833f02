"""Rounding noise of the programs that write robot files, read as zeros: -3.6e-16 m beside 0.3 m, an
axis (1e-17, 1, 0).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dalembert.model.findings import Finding
from dalembert.model.numbers import Number, as_float, is_symbolic
from dalembert.model.origins import Source
from dalembert.model.parts import Body, Joint
from dalembert.spatial.angles import SNAP

# of the model's size, or of a body's largest moment: doubles carry 1e-16, programs lose 3 digits
NOISE = 1e-12
LARGEST_NOISE = 1e-11  # m, whatever the size: a tenth of an atom
AXIS_NOISE = SNAP  # of the largest component: turns the axis by as little as angles are snapped


class Zeroed(NamedTuple):
    """A number that is read as 0."""

    value: float
    what: str
    source: Source


def without_noise(
    bodies: Sequence[Body], joints: Sequence[Joint]
) -> tuple[list[Body], list[Joint], list[Zeroed]]:
    """Bodies and joints with zeros for rounding noise, and the numbers that were.

    Lengths (origins, centres of mass) are noise below 1e-12 of the model's size, its longest origin
    or centre of mass, and below 1e-11 m; components of an axis below 1e-9 of its largest; products
    of inertia below 1e-12 of the body's largest moment.
    """
    lengths = [
        abs(as_float(x))
        for x in (*(x for b in bodies for x in b.com), *(x for j in joints for x in j.origin.xyz))
        if not is_symbolic(x)
    ]
    length = min(NOISE * max(lengths, default=0.0), LARGEST_NOISE)
    zeroed: list[Zeroed] = []

    def cleaned(
        part: Any, name: str, values: tuple[Number, ...], bound: float
    ) -> tuple[Number, ...]:
        """Values with noise set to 0, which is noted."""
        noise = [not is_symbolic(x) and 0 < abs(as_float(x)) < bound for x in values]
        if not any(noise):
            return values
        what = f"{'body' if isinstance(part, Body) else 'joint'} {part.name!r}, {name}"
        zeroed.extend(
            Zeroed(as_float(x), what, part.source)
            for x, is_noise in zip(values, noise, strict=True)
            if is_noise
        )
        return tuple(0 if is_noise else x for x, is_noise in zip(values, noise, strict=True))

    def body(b: Body) -> Body:
        """The body without noise in its centre of mass and products of inertia."""
        com = cleaned(b, "com", b.com, length)
        xx, xy, yy, xz, yz, zz = b.inertia
        products = cleaned(b, "products of inertia", (xy, xz, yz), NOISE * _largest((xx, yy, zz)))
        tensor = (xx, products[0], yy, products[1], products[2], zz)
        return (
            b if com is b.com and products == (xy, xz, yz) else replace(b, com=com, inertia=tensor)
        )

    def joint(j: Joint) -> Joint:
        """The joint without noise in its origin and axis."""
        xyz = cleaned(j, "origin", j.origin.xyz, length)
        kind: Any = j.type
        if "axis" in kind.parameters:
            axis = cleaned(j, "axis", kind.axis, AXIS_NOISE * _largest(kind.axis))
            kind = kind if axis is kind.axis else replace(kind, axis=axis)
        return (
            j
            if xyz is j.origin.xyz and kind is j.type
            else replace(j, origin=replace(j.origin, xyz=xyz), type=kind)
        )

    return [body(b) for b in bodies], [joint(j) for j in joints], zeroed


def _largest(values: Sequence[Number]) -> float:
    return max((abs(as_float(x)) for x in values if not is_symbolic(x)), default=0.0)


def noise_finding(zeroed: Sequence[Zeroed]) -> Finding:
    """The finding for all numbers that are read as 0."""
    worst = max(zeroed, key=lambda z: abs(z.value))
    why = f"read as 0: rounding of the program that wrote the file; the largest is {worst.value:.2g} ({worst.what})."
    return Finding(
        "note",
        f"{len(zeroed)} number{'s' if len(zeroed) > 1 else ''}",
        why,
        "exact_angles=False keeps them.",
        worst.source,
    )
