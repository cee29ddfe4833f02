"""Equalities of a compiled model as constraints: exact here, where MuJoCo's are soft."""

from __future__ import annotations

from collections.abc import (
    Iterator,
    Sequence,
)
from dataclasses import dataclass
from typing import Any

from dalembert.constraints.closures import Closure
from dalembert.constraints.couplings import (
    Cam,
    Coupling,
)
from dalembert.constraints.state_functions import Holonomic
from dalembert.model.constraint import (
    Constraint,
    FramePlace,
)
from dalembert.model.findings import Finding
from dalembert.model.joints import (
    Fixed,
    Spherical,
)
from dalembert.readers.mjcf.compiling import (
    CompiledModel,
    mujoco_module,
)
from dalembert.readers.mjcf.exact_numbers import (
    IDENTITY,
    AngleReading,
    exact,
)

CONNECT, WELD, JOINT, TENDON = range(4)  # mjtEq
OF_JOINT = 1  # mjtWrap of a joint in a fixed tendon
COEFFICIENTS = 5  # of a polynomial


@dataclass(frozen=True)
class DependentLength:
    """y = y0 + a0 + a1 (x - x0) + ... + a4 (x - x0)^4, as an equality has it.

    Examples
    --------
    >>> from dalembert.readers.mjcf.equalities import DependentLength
    >>> DependentLength((0.0, 2.0, 1.0, 0.0, 0.0), 1.0, 0.5)(2.0)
    3.5
    """

    coefficients: tuple[float, ...]
    x0: float
    y0: float

    @property
    def is_linear(self) -> bool:
        """Whether y is a line over x."""
        return not any(self.coefficients[2:])

    @property
    def at_zero(self) -> float:
        """y of the line at x = 0."""
        return self.y0 + self.coefficients[0] - self.coefficients[1] * self.x0

    def __call__(self, x: Any) -> Any:
        """y at a number or expression x."""
        step = x - self.x0
        value: Any = 0
        for a in reversed(self.coefficients):
            value = value * step + a
        return value + self.y0


@dataclass(frozen=True)
class TendonRelation:
    """Rows of two fixed tendons, the second a polynomial of the first: [y(q) - polynomial(x(q))].

    Examples
    --------
    >>> from dalembert.readers.mjcf.equalities import DependentLength, TendonRelation
    >>> square = DependentLength((0.0, 0.0, 1.0, 0.0, 0.0), 0.0, 0.0)
    >>> TendonRelation(((0, 1.0),), ((1, 2.0),), square)([3.0, 1.0], 0.0)
    [-1.0]
    """

    dependent: tuple[tuple[int, float], ...]
    leading: tuple[tuple[int, float], ...]
    polynomial: DependentLength

    def __call__(self, q: Any, t: Any) -> list[Any]:
        """The row at coordinates q."""
        y, x = (sum(c * q[k] for k, c in of) for of in (self.dependent, self.leading))
        return [y - self.polynomial(x)]


class Equalities:
    """Makes constraints of the equalities of a model."""

    def __init__(
        self, compiled: CompiledModel, reading: AngleReading, sites: Sequence[str], enabled: bool
    ):
        self.compiled, self.reading, self.sites = compiled, reading, sites
        self.enabled = enabled
        self.remarks: list[Finding] = []

    def constraints(self) -> Iterator[Constraint]:
        """All that are active; the others are remarked."""
        model = self.compiled.model
        for k in range(model.neq):
            kind = int(model.eq_type[k])
            if not self.enabled or not model.eq_active0[k]:
                self._remark(k, "note", "it is not active, and left out.")
            elif kind in (CONNECT, WELD):
                yield self._closure(k, kind == WELD)
            elif kind == JOINT:
                yield self._joint_relation(k)
            elif kind == TENDON and self._is_of_joints(k):
                yield self._tendon_relation(k)
            else:
                self._remark(k, "error", "an equality of its kind is not read.")

    def _name(self, k: int) -> str:
        return self.compiled.name("equality", k)

    def _remark(self, k: int, severity: str, why: str) -> None:
        source = self.compiled.source("equality", k)
        self.remarks.append(Finding(severity, f"equality {self._name(k)!r}", why, "", source))

    # --- frames that are held together ---

    def _closure(self, k: int, is_weld: bool) -> Closure:
        """Two frames that are held together at a point, or altogether."""
        model = self.compiled.model
        ends = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        if model.eq_objtype[k] == mujoco_module().mjtObj.mjOBJ_SITE:
            first, second = (FramePlace.of(self.sites[i], "a frame") for i in ends)
        else:
            data = model.eq_data[k]
            points = (data[3:6], data[0:3]) if is_weld else (data[0:3], data[3:6])
            turns = (data[6:10] if is_weld else IDENTITY, IDENTITY)
            first, second = (self._place(*end) for end in zip(ends, points, turns, strict=True))
        return Closure(
            self._name(k),
            Fixed() if is_weld else Spherical(),
            first,
            second,
            self.compiled.source("equality", k),
        )

    def _place(self, body: int, position: Any, quaternion: Any) -> FramePlace:
        origin = self.reading.origin(position, quaternion)
        return FramePlace(self.compiled.name("body", body), origin)

    # --- relations of coordinates ---

    def _polynomial(self, k: int, x0: float, y0: float) -> DependentLength:
        a = tuple(float(x) for x in self.compiled.model.eq_data[k][:COEFFICIENTS])
        return DependentLength(a, float(x0), float(y0))

    def _joint_relation(self, k: int) -> Constraint:
        """The relation of a joint that is a polynomial of another, or stands still."""
        model = self.compiled.model
        dependent, leader = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        y0 = model.qpos0[model.jnt_qposadr[dependent]]
        x0 = model.qpos0[model.jnt_qposadr[leader]] if leader >= 0 else 0
        polynomial = self._polynomial(k, x0, y0)
        name, follower = self._name(k), self.compiled.name("joint", dependent)
        source = self.compiled.source("equality", k)
        if leader < 0:
            standing = y0 + polynomial.coefficients[0]
            return Coupling(name, {follower: 1}, exact(standing), source=source)
        driver = self.compiled.name("joint", leader)
        if polynomial.is_linear:
            factors = {follower: 1, driver: exact(-polynomial.coefficients[1])}
            return Coupling(name, factors, exact(polynomial.at_zero), source=source)
        return Cam(name, driver, follower, polynomial, source=source)

    def _is_of_joints(self, k: int) -> bool:
        """Whether the tendons of an equality are fixed ones, sums of coordinates."""
        model = self.compiled.model
        ends = [int(t) for t in (model.eq_obj1id[k], model.eq_obj2id[k]) if t >= 0]
        return all(model.wrap_type[model.tendon_adr[t]] == OF_JOINT for t in ends)

    def _tendon_relation(self, k: int) -> Constraint:
        """The relation of a fixed tendon whose length is a polynomial of another's, or stays."""
        model = self.compiled.model
        dependent, leader = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        y0 = model.tendon_length0[dependent]
        x0 = model.tendon_length0[leader] if leader >= 0 else 0
        polynomial = self._polynomial(k, x0, y0)
        terms, of_leader = self._terms(dependent), self._terms(leader)
        name, source = self._name(k), self.compiled.source("equality", k)
        if leader >= 0 and not polynomial.is_linear:
            at = model.jnt_qposadr
            y, x = (tuple((int(at[j]), c) for j, c in of.items()) for of in (terms, of_leader))
            return Holonomic(name, TendonRelation(y, x, polynomial), source=source)
        offset = polynomial.at_zero if leader >= 0 else y0 + polynomial.coefficients[0]
        for joint, c in of_leader.items():
            terms[joint] = terms.get(joint, 0.0) - polynomial.coefficients[1] * c
        factors = {self.compiled.name("joint", joint): exact(c) for joint, c in terms.items()}
        return Coupling(name, factors, exact(offset), source=source)

    def _terms(self, tendon: int) -> dict[int, float]:
        """Coefficients of a fixed tendon by number of the joint; none of no tendon."""
        model = self.compiled.model
        terms: dict[int, float] = {}
        if tendon < 0:
            return terms
        start = int(model.tendon_adr[tendon])
        for w in range(start, start + int(model.tendon_num[tendon])):
            joint = int(model.wrap_objid[w])
            terms[joint] = terms.get(joint, 0.0) + float(model.wrap_prm[w])
        return terms
