"""Numbers of a mechanism that are too large for squares and products of them in doubles."""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Sequence,
)
from typing import Any

from dalembert.errors import OverflowedError
from dalembert.model.linkage import Linkage
from dalembert.model.numbers import (
    as_float,
    is_symbolic,
)
from dalembert.model.origins import Source

MOST_METRES = 1e30  # the visible universe has 1e27
MOST_KILOGRAMS = 1e60  # and 1e53
MOST_MOMENT = 1e100  # kg m^2
LARGE = "Are the numbers in SI units?"


def check_magnitudes(mechanism: Linkage, purpose: str) -> None:
    """Refuse lengths, masses and moments of inertia whose products are no doubles.

    Raises
    ------
    OverflowedError
        The message says that the mechanism cannot be ... `purpose`, and where the number stands.
    """
    for where, numbers, most, unit, source in _quantities(mechanism):
        for number in numbers:
            if is_symbolic(number) or abs(as_float(number)) <= most:
                continue
            place = f" ({source})" if str(source) else ""
            raise OverflowedError(
                f"mechanism {mechanism.name!r} cannot be {purpose}: {where}{place} has "
                f"{as_float(number):.4g} {unit}, more than {most:g}. {LARGE}"
            )


def _quantities(mechanism: Linkage) -> Iterator[tuple[str, Sequence[Any], float, str, Source]]:
    """Names, numbers, the most that these may be, units and sources."""
    for body in mechanism.bodies:
        name = f"body {body.name!r}"
        yield f"the mass of {name}", (body.mass,), MOST_KILOGRAMS, "kg", body.source
        yield f"the centre of mass of {name}", body.com, MOST_METRES, "m", body.source
        yield f"the inertia of {name}", body.inertia, MOST_MOMENT, "kg m^2", body.source
    for joint in mechanism.joints:
        where = f"the origin of joint {joint.name!r}"
        yield where, joint.origin.xyz, MOST_METRES, "m", joint.source
