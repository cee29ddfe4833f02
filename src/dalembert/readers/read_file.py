"""A file that is read: its angles, and findings about it, whatever its format."""

from __future__ import annotations

from collections.abc import (
    Iterable,
    Iterator,
)
from contextlib import contextmanager
from dataclasses import (
    dataclass,
    field,
)

from dalembert.errors import ModelError
from dalembert.expr import known_zero
from dalembert.model.findings import (
    Finding,
    listed,
)
from dalembert.model.numbers import (
    Number,
    as_exact,
)
from dalembert.model.origins import (
    Origin,
    Source,
)
from dalembert.model.parts import (
    Body,
    Joint,
)
from dalembert.model.validation import MAX_LINKS
from dalembert.readers.noise import (
    Zeroed,
    noise_finding,
    without_noise,
)
from dalembert.readers.unread import UnreadContent
from dalembert.readers.xml import Element
from dalembert.spatial.angles import (
    SNAP,
    snapped,
)
from dalembert.spatial.vectors import Matrix

MOMENTS = ("ixx", "ixy", "iyy", "ixz", "iyz", "izz")  # the order of Body.inertia


@dataclass
class ReadFile:
    """The file that is read.

    name : for messages
    tolerance : of angles that are read as multiples of pi/12 [rad]; None: numbers as they are
    remarks : findings about single places
    unread : content that is not used
    angles : those that are read as multiples, as differences [rad] and places
    zeroed : numbers that are read as 0
    """

    name: str
    tolerance: float | None
    remarks: list[Finding]
    unread: UnreadContent = field(default_factory=UnreadContent)
    angles: list[tuple[float, Source]] = field(default_factory=list)
    zeroed: list[Zeroed] = field(default_factory=list)

    def remark(self, severity: str, owner: str, why: str, fix: str, element: Element) -> None:
        """Remember a finding."""
        self.remarks.append(Finding(severity, owner, why, fix, element.source))

    def angle(self, angle: Number, element: Element, what: str) -> Number:
        """An angle [rad], as a multiple of pi/12 or 0 where it is as near to that."""
        if self.tolerance is None or known_zero(angle):
            return angle
        if abs(angle) <= SNAP:
            self.zeroed.append(Zeroed(float(angle), what, element.source))
            return 0
        multiple = snapped(float(angle), self.tolerance)
        if multiple is None:
            return angle
        self.angles.append((float(angle) - float(multiple), element.source))
        return multiple

    def without_noise(
        self, bodies: list[Body], joints: list[Joint]
    ) -> tuple[list[Body], list[Joint]]:
        """Bodies and joints with 0 for rounding noise, unless numbers stay as they are."""
        if self.tolerance is None:
            return bodies, joints
        bodies, joints, zeroed = without_noise(bodies, joints)
        self.zeroed += zeroed
        return bodies, joints

    def findings(self) -> Iterator[Finding]:
        """All findings about the file: its remarks, content that is not used, angles and noise."""
        yield from self.remarks
        yield from self.unread.findings()
        if self.angles:
            worst, source = max(self.angles, key=lambda angle: abs(angle[0]))
            what = f"{len(self.angles)} angle{'s' * (len(self.angles) != 1)}"
            why = f"read as exact multiples of pi/12; the largest difference is {worst:.2g} rad."
            yield Finding("note", what, why, "exact_angles=False keeps the decimals.", source)
        if self.zeroed:
            yield noise_finding(self.zeroed)


def limited(parent: Element, tag: str) -> list[Element]:
    """Children of a tag; at most MAX_LINKS, which bounds the time of all that follows.

    Raises
    ------
    ReadError
    """
    elements = parent.all(tag)
    if len(elements) > MAX_LINKS:
        many = f"{len(elements)} {tag}s, the limit MAX_LINKS is {MAX_LINKS}."
        raise elements[MAX_LINKS].error(many)
    return elements


def turned_tensor(tensor: tuple[Number, ...], origin: Origin) -> tuple[Number, ...]:
    """R I R^T, an inertia tensor in the axes of the frame that its own axes are placed in."""
    if not origin.rotations:
        return tensor
    rotation = Origin((0, 0, 0), origin.rotations).transform(as_exact).R
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = rotation.conjugate_symmetric(Matrix.symmetric(*tensor))
    return xx, xy, yy, xz, yz, zz


@contextmanager
def causes_named(remarks: Iterable[Finding]) -> Iterator[None]:
    """Errors of a mechanism together with those among the remarks on its file, which may name the
    cause.
    """
    try:
        yield
    except ModelError as error:
        findings = [*error.findings, *(f for f in remarks if f.severity == "error")]
        raise ModelError(listed(findings), tuple(findings)) from None
