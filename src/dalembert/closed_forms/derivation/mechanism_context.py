"""Derivation context of a mechanism: its symbols, its equations as polynomials, base parameters, and
the numbers of all names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import Any, NamedTuple, cast

from dalembert.closed_forms.algebra.polynomials import Normal, Polynomials
from dalembert.closed_forms.algebra.ring import (
    PARAMETER,
    Angle,
    NotPolynomial,
    Poly,
    Ring,
    TooLarge,
    terms_in,
)
from dalembert.closed_forms.algebra.sums import ZERO, Builder, Sum
from dalembert.closed_forms.algebra.writing import Writer
from dalembert.closed_forms.derivation import polynomial_equations
from dalembert.closed_forms.derivation.beam_moments import has_exact_moments
from dalembert.closed_forms.derivation.constraint_expressions import ConstraintExpressions, Moment
from dalembert.closed_forms.derivation.coordinates import motion_names
from dalembert.closed_forms.derivation.derivation_context import DerivationContext
from dalembert.closed_forms.derivation.grouping import (
    BASE,
    Parameter,
    bodies,
    grouped,
    is_nothing,
    minimal,
    raw_values,
    without,
)
from dalembert.closed_forms.derivation.link_chain import exact
from dalembert.closed_forms.derivation.locked_rotors import locked_rotors, reduced
from dalembert.closed_forms.derivation.meanings import parameter, symbols_of_beams, unit_at
from dalembert.closed_forms.derivation.run_inertia import RunInertia
from dalembert.closed_forms.derivation.selection import (
    Selection,
    numbers_of_bodies,
    select,
    unused,
)
from dalembert.closed_forms.derivation.symbol_values import random_symbols, value_of
from dalembert.closed_forms.derivation.symbolic_mechanism import SymbolicMechanism, on_tree
from dalembert.expr import Expr, constant, free_symbols, import_nodes, symbol
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import is_symbolic
from dalembert.model.on_tree import OnTree
from dalembert.model.tree_builder import tree_of
from dalembert.systems.constrained_mechanism import ConstrainedMechanism

LARGEST = 20_000  # terms of M that are derived at all: base parameters are found from them
LARGEST_CHRISTOFFEL = 40_000  # terms of all Christoffel symbols that are derived
TIME = "t"  # name of the time in constraints that depend on it
SHORTEST = 2  # characters of a term of M at the least, on the average
# names of parameters about joint frames
OURS = re.compile(r"(m[xyz]?|I[xyz]{2}|[XYZ]{2}|M[XYZM]|Ia)\d+")


class BaseParameter(NamedTuple):
    """A base parameter: name, body, the combination of inertial parameters that it stands for, and
    its number.

    grouping is in the parameters of the bodies about their joint frames' origins (m2, mx2 = m c_x,
    Ixx2, ...) and in lengths; value [kg, kg m, kg m^2] is None where the mechanism has symbols.
    """

    name: str
    body: str
    grouping: Any
    value: float | None


class MechanismContext(DerivationContext):
    """Derivation context of a mechanism.

    derived: its equations as polynomials, or None where it has none; why_long: why the mass matrix
    is not even tried in full; own: a value for each symbol of the mechanism; numbers: of all
    printed names; grouped: whether inertial parameters are combined to base parameters; nothing:
    base parameters that are zero here, which are not printed; minimal: whether these are as few as
    possible. Repeated sums look like no entry with one of the `letters`.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        selection: Selection,
        formulation: str,
        budget: int,
        letters: Iterable[str] = (),
    ):
        taken = {*selection.symbols, *selection.values}
        motion = motion_names(mechanism, numbers_of_bodies(mechanism), taken)
        of_beams = symbols_of_beams(selection.symbols)
        motion = motion._replace(symbols={**motion.symbols, **of_beams})
        super().__init__(selection.graph, motion, budget)
        self.choose_prefixes(taken, letters)
        self.mechanism = mechanism
        self.selection = selection
        self.formulation = formulation
        self.symbols = dict(selection.symbols)
        self.values = dict(selection.values)
        self.units = dict(motion.units) | {
            name: unit_at(mechanism, path)
            for name, path in self.symbols.items()
            if not path.startswith("in ")
        }
        self.own = random_symbols(mechanism)
        self.mark = _mark(self.own)
        self.tree = tree_of(selection.mechanism, self._number, exact=True)
        self.rotors = self._named_rotors()
        self.has_integrals = _has_symbols_of_beams(selection.mechanism)

        self.grouped = selection.grouped
        self.minimal = True
        self.why_long = ""
        self.derived: Any = None
        self.parameters: list[Parameter] = []
        self.nothing: set[str] = set()
        self._raw = Polynomials(Ring())  # of the parameters that base parameters are made of
        self._derive_or_factor()

        if mechanism.constraints:
            self.rows = self._constrained()
        self.numbers = self.own | self.values
        self.numbers |= {name: value_of(x, self.numbers) for name, x in self.rotors.items()}
        self.base_parameters = self._valued_parameters() if self.grouped else []
        if not self.own:
            self.values = dict(self.numbers)

    # --- symbols ---

    def _number(self, x: Any) -> Any:
        """A number of the model: exact, expressions in the graph of this context."""
        if isinstance(x, Expr) and x.graph is not self.graph:
            return import_nodes(x, self.graph)
        return exact(x)

    def _named_rotors(self) -> dict[str, Any]:
        """Rotor inertias that are not zero, by name; the names are symbols of this context."""
        rotors: dict[str, Any] = {}
        entries = zip(self._rotor_names, self.mechanism.velocity_names, self.names[1], strict=True)
        for (name, entry, velocity), x in zip(entries, self.tree.rotor, strict=True):
            if isinstance(x, Expr) or x != 0:
                rotors[name] = x
                self.symbols[name] = f"{entry}: rotor inertia times gear ratio squared"
                self.units[name] = "kg m²" if self.units[velocity] == "rad/s" else "kg"
        return rotors

    @property
    def _rotor_names(self) -> list[str]:
        return [f"Ia{k + 1}{self.mark}" for k in range(self.tree.nv)]

    def _explain(self, name: str, k: int) -> str:
        """Say what an inertial parameter of body k is; the body's name."""
        body = self.tree.joint[k].body
        self.symbols[name], self.units[name] = parameter(name, body)
        return body

    @property
    def in_order(self) -> list[str]:
        """Symbols in the order of factors as written: inertial parameters, lengths, gravity."""

        def place(name: str) -> tuple[bool, bool]:
            """Place of a symbol by its unit."""
            unit = self.units.get(name, "")
            return not unit.startswith("kg"), unit == "m/s²"

        return sorted(self.symbols, key=place)

    # --- polynomials ---

    def _derive_or_factor(self) -> None:
        """Derive the equations as polynomials, or say why they are factored."""
        try:
            self._derive()
        except (NotPolynomial, TooLarge) as error:
            if not has_exact_moments(self.tree):  # at the nodes of the compiled functions, then
                self.tree = tree_of(self.selection.mechanism, self._number)
            self.why_factored = str(error).rstrip(".")
            self.minimal = not self.grouped
            # without parameters where a constant placement is no polynomial
            self.grouped = self.grouped and bool(self.parameters)

    def _derive(self) -> None:
        """Derive the equations; with base parameters where inertias are grouped."""
        algebra = Polynomials(Ring(LARGEST))
        for name in self.in_order:  # written in the order in which they are made
            algebra.ring.variable(name)
        rotors = [
            algebra.ring.variable(name) if name in self.rotors else 0 for name in self._rotor_names
        ]
        if self.grouped:
            self.parameters = grouped(self.tree, self._raw, self.mark)
            inertias = self._base_bodies(
                {p.name: algebra.ring.parameter(p.name) for p in self.parameters}, algebra.scalar
            )
        else:
            inertias = [RunInertia.of(body, algebra.scalar) for body in self.tree.inertia]
        derived = polynomial_equations.derive(self.tree, algebra, inertias, rotors, LARGEST)
        if self.grouped:
            self.parameters, self.minimal = minimal(derived, self.parameters)
            numbers = raw_values(self.tree, self.mark) | {
                name: self._exact_number(name) for name in self.selection.values
            }
            self.nothing = {p.name for p in self.parameters if is_nothing(p.grouping, numbers)}
            without(derived, (algebra.ring.parameters.index(name) for name in self.nothing))
        self.derived = derived
        self.writer = Writer(algebra.ring, self.by_kind, by_degree=bool(self.tree.elastic))
        if derived.size * SHORTEST > self.budget:
            self.why_long = f"the mass matrix has {derived.size} terms"

    def _base_bodies(
        self, symbols: Mapping[str, Any], scalar: Callable[[Any], Any]
    ) -> list[RunInertia]:
        """Inertias of base parameters, with numbers as scalars of an algebra."""
        found = bodies(BASE, lambda name: symbols.get(name, 0), self.tree.n, self.mark)
        return reduced(locked_rotors(self.tree, scalar), found)

    def _exact_number(self, name: str) -> Any:
        """The number that a symbol of ours stands for, exactly."""
        path = self.selection.symbols[name]
        x = self._number(self.mechanism.number(path.lstrip("-")))
        return -x if path.startswith("-") and isinstance(x, (int, Fraction)) else x

    def christoffel_terms(self, progress: Callable[[float], None] = lambda done: None) -> float:
        """Terms of all Christoffel symbols; infinite where they are too many to print."""
        if self.why_factored or self.why_no_christoffel:
            return inf
        if self.derived.twice is None:
            try:
                polynomial_equations.christoffel(self.derived, LARGEST_CHRISTOFFEL, progress)
            except TooLarge as error:
                self.why_no_christoffel = str(error).rstrip(".")
                return inf
        return terms_in(p for (i, j, _), p in self.derived.twice.items() if i <= j)

    @property
    def angles(self) -> list[Angle]:
        """Sums of coordinates along runs of parallel axes."""
        return [link.angle for link in self.derived.links if link.angle] if self.derived else []

    @cached_property
    def normal(self) -> Normal:
        """Normal forms; symbols in the order of the equations in full."""
        ring = self.derived.ring if self.derived else Ring()
        lengths = (name for kind, name in ring.shift if kind == "x" and isinstance(name, str))
        return self.normal_in([*ring.parameters[1:], *lengths, *self.symbols], angles=self.angles)

    # --- constraints ---

    def _constrained(self) -> ConstraintExpressions:
        """Rows of constraints in the printed names, with the time, on which they may depend."""
        taken = {*self.varying, *self.symbols, *self.own}
        clock = unused(TIME, taken)
        t = symbol(clock, self.graph)
        q, qd, qdd = self.symbolic.vectors
        moment = Moment(q, qd, qdd, t)
        system = ConstrainedMechanism(cast(Mechanism, self.symbolic.twin))
        rows = ConstraintExpressions.at(system, moment, taken)
        held = {s.name for x in rows.quantities.values() for s in free_symbols(x)}
        self.symbols |= rows.meanings | ({clock: "time"} if clock in held else {})
        self.units[clock] = "s"
        self.varying |= {*rows.meanings, clock}
        self.motion = self.motion.with_rates(rows.rates)
        return replace(rows, clock=clock)

    # --- base parameters ---

    def _valued_parameters(self) -> list[BaseParameter]:
        """Base parameters with what they stand for; their numbers, and those of the parameters in
        them, come to `numbers`.
        """
        raw = {
            name: value_of(x, self.numbers) for name, x in raw_values(self.tree, self.mark).items()
        }
        values = self.numbers | raw
        used = set[str]()
        builder = Builder(self.graph)
        writer = Writer(self._raw.ring, self.by_kind)
        found = []
        for p in self.parameters:
            grouping = constant(builder.expression(writer.form(p.grouping)), self.graph)
            used |= {s.name for s in free_symbols(grouping)}
            self.numbers[p.name] = number = value_of(grouping, values)
            body = self._explain(p.name, p.body)
            found.append(BaseParameter(p.name, body, grouping, None if self.own else number))
        for name in (name for name in raw if name in used):
            self._explain(name, int(re.sub("[^0-9]", "", name)))
            self.numbers[name] = raw[name]
        return found

    @cached_property
    def groupings(self) -> dict[str, Sum]:
        """Base parameters in print, without parameters of bodies that are exactly zero."""
        if not self.grouped:
            return {}
        writer = Writer(self._raw.ring, self.by_kind)
        raw = raw_values(self.tree, self.mark)
        zeros = {name for name, x in raw.items() if not isinstance(x, Expr) and x == 0}
        return {
            p.name: ZERO if p.name in self.nothing else writer.form(_without(p.grouping, zeros))
            for p in self.parameters
        }

    # --- expressions, where polynomials are too long or do not exist ---

    @cached_property
    def symbolic(self) -> SymbolicMechanism:
        """The mechanism with symbols, of base parameters where inertias are grouped."""

        def named(name: str) -> Expr:
            """A symbol of the context's graph."""
            return symbol(name, self.graph)

        if self.grouped:
            acting = (p.name for p in self.parameters if p.name not in self.nothing)
            inertias = self._base_bodies({name: named(name) for name in acting}, lambda x: x)
        else:
            inertias = [RunInertia.of(body, lambda x: x) for body in self.tree.inertia]
        return SymbolicMechanism(
            self.selection.mechanism,
            self.tree,
            self.graph,
            self.names,
            inertias,
            [named(name) if name in self.rotors else 0 for name in self._rotor_names],
            [p.name for p in self.parameters],
            self.grouped,
            self.formulation,
        )

    def traced(self, quantity: str) -> Any:
        """A quantity as expressions; see `SymbolicMechanism.traced`.

        Raises
        ------
        NotPolynomial
            There are no base parameters for a regressor.
        """
        if quantity == "regressor" and not self.grouped:
            raise NotPolynomial(
                f"no base parameters were found ({self.why_factored}): da.regressor has a column "
                "for each inertial parameter of each body."
            )
        return self.symbolic.traced(quantity)

    def ungrouped_twin(self, values: dict[str, Any]) -> OnTree:
        """The mechanism with symbols for masses, centres of mass and inertias; their numbers are
        added to `values`.
        """
        if not self.grouped:
            return self.symbolic.twin
        chosen = select(self.mechanism, self.selection.wishes, False)
        values |= {name: x for name, x in chosen.values.items() if name not in values}
        return on_tree(chosen.mechanism, tree_of(chosen.mechanism, self._number, exact=True))


def _has_symbols_of_beams(mechanism: Mechanism) -> bool:
    """Whether there are elastic links, with symbols for their lengths and masses."""
    beams = [body.beam for body in mechanism.elastic_bodies if body.beam]
    numbers = [x for beam in beams for x in (beam.length, *beam.inertias[0].numbers)]
    return bool(numbers) and all(map(is_symbolic, numbers))


def _mark(names: Iterable[str]) -> str:
    """The shortest ending of names of parameters with which they differ from all these names."""
    mark = ""
    while any(name.endswith(mark) and OURS.fullmatch(name.removesuffix(mark)) for name in names):
        mark += "_"
    return mark


def _without(p: Any, names: Container[str]) -> Any:
    """A combination of inertial parameters without some of them."""
    if not isinstance(p, Poly):
        return p
    terms = {m: c for m, c in p.terms.items() if p.ring.parameters[m & PARAMETER] not in names}
    return Poly(p.ring, terms) if terms else 0
