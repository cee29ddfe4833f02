"""Bodies of a mechanism made elastic, and rigid again."""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Mapping,
)
from dataclasses import replace
from typing import (
    Any,
    NamedTuple,
    TypeVar,
)

from dalembert.arguments import check_instance
from dalembert.errors import (
    UnknownNameError,
)
from dalembert.model.elastic.beam import Beam
from dalembert.model.findings import Finding
from dalembert.model.linkage import Linkage
from dalembert.model.numbers import (
    Number,
    as_float,
    is_symbolic,
)
from dalembert.model.origins import (
    NOWHERE,
    Source,
)
from dalembert.model.parts import Body

L = TypeVar("L", bound=Linkage)
NOISE = 1e-12  # of the largest coordinate of a place


class ElasticDeclaration(NamedTuple):
    """Beam, modes and elements of a body that is to be elastic, and the place that says so."""

    beam: Beam
    modes: Any = None
    elements: int = 1
    source: Source = NOWHERE

    def of(self, body: Body) -> Body:
        """The body with the beam's mass in place of its own; of an elastic body the beam is replaced.

        Raises
        ------
        ModelError, TypeError
            The beam lacks a number, or is none.
        """
        check_instance(f"beam of body {body.name!r}", self.beam, Beam, "a da.Beam")
        if body.beam is None:
            body = replace(body, mass=0, com=(0, 0, 0), inertia=(0,) * 6)
        return replace(body, beam=self.beam, modes=self.modes, elements=self.elements)

    def notes(self, body: Body) -> Iterator[Finding]:
        """The note that tells the mass of a rigid body, and that of the beam in its place."""
        if body.beam is not None:
            return
        beam = self.beam
        before = f"{_shown(body.mass)} kg, centre at ({_listed(body.com)}) m"
        middle = beam.origin.moved((beam.centre, 0, 0))
        after = f"{_shown(beam.mass)} kg, centre at ({_listed(middle)}) m"
        yield Finding(
            "note",
            f"body {body.name!r}",
            f"its mass, {before}, and its moments of inertia are replaced by those of its beam, "
            f"{after}.",
            "Masses that are not the beam's are bodies of their own: mechanism.attach.",
            self.source,
        )


def declared(mechanism: L, declarations: Mapping[str, ElasticDeclaration]) -> L:
    """The mechanism with bodies whose mass is that of a beam, and a note of each.

    Raises
    ------
    UnknownNameError, ModelError, TypeError
        There is no such body; a beam lacks a number, or is none.
    """
    names = tuple(body.name for body in mechanism.bodies)
    for name in declarations:
        if name not in names:
            raise UnknownNameError("body", name, names)
    bodies = {body.name: body for body in mechanism.bodies}
    notes: list[Finding] = []
    for name, declaration in declarations.items():
        rigid = bodies[name]
        bodies[name] = declaration.of(rigid)
        notes += declaration.notes(rigid)
    remarks = (*mechanism.remarks, *notes)
    return replace(mechanism, bodies=tuple(bodies.values()), remarks=remarks)


def rigid_again(body: Body) -> Body:
    """A body whose beam does not bend."""
    return replace(body, modes=0) if body.modes else body


def undamped(mechanism: L) -> L:
    """The mechanism with beams that lose no energy."""
    if all(body.beam is None or body.beam.damping is None for body in mechanism.bodies):
        return mechanism
    bodies = (
        b if b.beam is None else replace(b, beam=replace(b.beam, damping=None))
        for b in mechanism.bodies
    )
    return replace(mechanism, bodies=tuple(bodies))


def _shown(x: Number) -> str:
    return str(x) if is_symbolic(x) else f"{as_float(x) + 0.0:.6g}"


def _listed(vector: Any) -> str:
    """Numbers in words; rounding errors of others are 0."""
    sizes = [0.0 if is_symbolic(x) else abs(as_float(x)) for x in vector]
    noise = NOISE * max(sizes)
    return ", ".join(
        _shown(0 if not is_symbolic(x) and size < noise else x)
        for x, size in zip(vector, sizes, strict=True)
    )
