"""Derivation context: the system from which closed forms are derived, and its names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cached_property

from dalembert.closed_forms.algebra.polynomials import Normal
from dalembert.closed_forms.algebra.ring import Angle
from dalembert.closed_forms.algebra.sums import Sum
from dalembert.closed_forms.derivation.constraint_expressions import ConstraintExpressions
from dalembert.closed_forms.derivation.coordinates import MotionNames
from dalembert.closed_forms.printing.names import free_prefix
from dalembert.expr import Graph

SEED = 1743  # of values for symbols that have none, and of states
NORMAL = 20_000  # terms of a polynomial in normal form


class DerivationContext(ABC):
    """Names, symbols and normal forms of a system; a subclass per way to state its equations: by a
    mechanism, or by a Lagrangian function.

    graph: of all expressions; motion: printed names of q, qd and qdd, with units and rates;
    symbols, values, units: by printed name, as of `ClosedForms`; varying: names that change along a
    motion; budget: characters of a quantity that are printed in full.
    why_factored, why_no_christoffel: why forms in full are not printed, or "", once that is decided
    (by the mass matrix).
    """

    graph: Graph
    motion: MotionNames
    symbols: dict[str, str]
    values: dict[str, float]
    units: dict[str, str]
    varying: set[str]
    budget: int
    group_prefix: str
    part_prefix: str
    rows: ConstraintExpressions | None = None  # of constraints, if there are any
    has_integrals = False  # whether coefficients are integrals along beams, in exact numbers

    def __init__(self, graph: Graph, motion: MotionNames, budget: int):
        self.graph = graph
        self.motion = motion
        self.budget = budget
        self.varying = {name for group in self.names for name in group}
        self.why_factored = self.why_no_christoffel = ""

    def choose_prefixes(self, taken: Iterable[str], letters: Iterable[str] = ()) -> None:
        """Choose the prefixes of repeated sums and of parts, which look like none of some names."""
        taken = {*taken, *self.varying}
        self.group_prefix, self.part_prefix = (free_prefix(x, taken, letters) for x in "kp")

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Printed names of q, qd and qdd."""
        return self.motion[:3]

    @property
    def by_kind(self) -> dict[str, tuple[str, ...]]:
        """Printed names by kind of variable; multipliers are written like accelerations, each with
        its coefficient.
        """
        q, qd, qdd = self.names
        unknowns = () if self.rows is None else self.rows.written_apart
        return {"q": q, "qd": qd, "qdd": (*qdd, *unknowns)}

    @property
    @abstractmethod
    def in_order(self) -> list[str]:
        """Symbols in the order in which factors are written."""

    @property
    def angles(self) -> list[Angle]:
        """Sums of coordinates that forms are written in, by default whichever is shortest."""
        return []

    @cached_property
    def groupings(self) -> dict[str, Sum]:
        """Base parameters in print: name -> form; empty where inertias are not grouped."""
        return {}

    def normal_in(
        self, symbols: Iterable[str], limit: int = NORMAL, angles: Iterable[Angle] = ()
    ) -> Normal:
        """New normal forms of expressions in the printed names: symbols in the order in which
        factors are written, of polynomials with so many terms at most.
        """
        normal = Normal(self.by_kind, limit, angles)
        for name in symbols:  # written in the order in which they are made
            normal.ring.variable(name)
        return normal

    @cached_property
    def normal(self) -> Normal:
        """Normal forms of all quantities, in which also products of inertial parameters occur."""
        return self.normal_in(self.in_order, angles=self.angles)
