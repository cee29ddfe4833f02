"""Doubts about the numbers of beams: units, slenderness, and sections that do not agree with themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import pi, sqrt
from typing import Any

from dalembert.beams.shape_functions import BEND_Y, BEND_Z, STRETCH, TWIST
from dalembert.model.elastic.beam import STIFFNESS_OF, Beam
from dalembert.model.findings import Finding
from dalembert.model.numbers import as_float, is_symbolic
from dalembert.model.parts import Body

HIGHEST = 1e7  # rad/s of a first frequency
STOUT, THIN = 10, 1e5  # length over radius of gyration
CRITICAL = 1  # damping ratio
DISAGREEMENT = 30  # of squares of radii of gyration
# First eigenvalue of a clamped beam: of bending b^2, of bars b.
FIRST = {BEND_Y: 1.8751040687**2, BEND_Z: 1.8751040687**2, TWIST: pi / 2, STRETCH: pi / 2}
ACROSS = ((BEND_Y, "EIz", "rotary_inertia[2]"), (BEND_Z, "EIy", "rotary_inertia[1]"))


def beam_doubts(bodies: Sequence[Body]) -> list[Finding]:
    """Doubtful numbers of elastic bodies; symbols are passed over."""
    doubts: list[Finding] = []
    for body in bodies:
        beam = body.beam
        if beam is None or any(is_symbolic(x) for x in beam.numbers().values()):
            continue
        doubts += _frequencies(body, beam)
        doubts += _slenderness(body, beam)
        doubts += _disagreements(body, beam)
        doubts += _overdamping(body, beam)
        doubts += _missing_direction(body)
    return doubts


def _frequencies(body: Body, beam: Beam) -> Iterator[Finding]:
    for direction, _ in body.modes:
        bends = direction in (BEND_Y, BEND_Z)
        stiffness = _mean(beam, STIFFNESS_OF[direction])
        inertia = _mean(beam, "rotary_inertia[0]" if direction == TWIST else "mass_per_length")
        lengths = as_float(beam.length) ** (2 if bends else 1)
        frequency = FIRST[direction] / lengths * sqrt(stiffness / inertia)
        if frequency > HIGHEST:
            yield _of(
                body,
                f"clamped, its first frequency in {direction} is {frequency:.3g} rad/s "
                f"({STIFFNESS_OF[direction]} = {stiffness:.3g}, length {as_float(beam.length):g} m); "
                "no simulation follows it.",
                "Are the numbers in SI units? A beam so stiff is rigid: modes=0.",
            )


def _slenderness(body: Body, beam: Beam) -> Iterator[Finding]:
    radii = _radii(beam)
    for direction, _ in body.modes:
        if direction not in radii:
            continue
        ratio = as_float(beam.length) / radii[direction]
        shown = f"its length is {ratio:.3g} times the radius of gyration {radii[direction]:.3g} m"
        if ratio < STOUT:
            why = f"{shown} of its section in {direction}: shear, which is left out, is not small."
            yield _of(body, why, f"Take a finer model below {STOUT}, or check EA and EI.")
        if ratio > THIN:
            why = f"{shown} of its section in {direction}; no beam is so thin."
            yield _of(body, why, "Check EA and EI: are they in SI units?")


def _disagreements(body: Body, beam: Beam) -> Iterator[Finding]:
    radii, mass = _radii(beam), _mean(beam, "mass_per_length")
    for direction, stiffness, rotary in ACROSS:
        inertia = _mean(beam, rotary)
        if direction not in radii or not inertia or not mass:
            continue
        by_mass = sqrt(inertia / mass)
        if not 1 / DISAGREEMENT < (by_mass / radii[direction]) ** 2 < DISAGREEMENT:
            yield _of(
                body,
                f"{rotary} has a radius of gyration of {by_mass:.3g} m, and {stiffness} beside EA "
                f"of {radii[direction]:.3g} m.",
                "Rotary inertia is density times moments of area [kg m]; da.Beam.of_section has it.",
            )


def _overdamping(body: Body, beam: Beam) -> Iterator[Finding]:
    ratio = as_float(beam.numbers().get("damping_ratio", 0))
    if ratio >= CRITICAL:
        why = f"a modal damping of ratio {ratio:g} lets no mode vibrate."
        yield _of(body, why, f"Is it in per cent? {ratio:g} % is {ratio / 100:g}.")


def _missing_direction(body: Body) -> Iterator[Finding]:
    """A note about a beam that twists, and bends in one plane alone."""
    directions = {direction for direction, _ in body.modes}
    missing = {BEND_Y, BEND_Z} - directions
    if TWIST in directions and len(missing) == 1:
        along = missing.pop()
        yield Finding(
            "note",
            f"body {body.name!r}",
            f"it twists and bends, but has no coordinates {along}: it gives way sideways under 1.23 "
            f"times the load of Prandtl, were it ever so stiff in {along}.",
            f"Give it {along} where loads act in that direction.",
            body.source,
        )


def _radii(beam: Beam) -> dict[str, float]:
    """Radii of gyration by EI / EA, by direction of deflection; none without EA."""
    along = _mean(beam, "EA")
    stiffness = {direction: _mean(beam, name) for direction, name, _ in ACROSS}
    return {d: sqrt(EI / along) for d, EI in stiffness.items() if EI and along}


def _mean(beam: Beam, name: str) -> Any:
    """Mean of a property along the beam; 0 where it is not given."""
    return as_float(beam.along(name).integral()) if beam.has(name) else 0


def _of(body: Body, why: str, fix: str) -> Finding:
    return Finding("warning", f"body {body.name!r}", why, fix, body.source)
