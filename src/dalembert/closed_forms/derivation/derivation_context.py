"""A mechanism on its way to closed forms: its symbols, the derivation, base parameters, and the
numbers of all names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from math import inf
from typing import Any, NamedTuple

import numpy as np

from dalembert.closed_forms.algebra.polynomials import Normal, Polynomials
from dalembert.closed_forms.algebra.ring import (
    PARAMETER,
    NotPolynomial,
    Poly,
    Ring,
    TooLarge,
    terms_in,
)
from dalembert.closed_forms.algebra.sums import ZERO, Builder, Sum
from dalembert.closed_forms.algebra.writing import Writer
from dalembert.closed_forms.derivation import polynomial_equations as deriving
from dalembert.closed_forms.derivation.coordinates import motion_names
from dalembert.closed_forms.derivation.expression_algebra import Expressions
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
from dalembert.closed_forms.derivation.link_chain import (
    RunInertia,
    chain,
    composites,
    coriolis_forces,
    exact,
    gravity_forces,
    mass_matrix,
    single_turns,
)
from dalembert.closed_forms.derivation.meanings import parameter, unit_at
from dalembert.closed_forms.derivation.selection import Selection, numbers_of_bodies, select
from dalembert.closed_forms.printing.names import free_prefix
from dalembert.expr import Expr, constant, evaluate, free_symbols, import_nodes, jacobian, symbol
from dalembert.formulations import newton_euler
from dalembert.model.mechanism import Mechanism, without_warnings
from dalembert.model.numbers import as_float, is_symbolic
from dalembert.model.on_tree import OnTree
from dalembert.model.paths import numbers
from dalembert.model.tree import Tree
from dalembert.spatial.inertias import HALF, Inertia
from dalembert.spatial.vectors import IDENTITY, Matrix, Vector

LARGEST = 20_000  # terms of M that are derived at all: base parameters are found from them
OURS = re.compile(
    r"(m[xyz]?|I[xyz]{2}|[XYZ]{2}|M[XYZM]|Ia)\d+"
)  # names of parameters about joint frames
SEED = 1743  # of values for symbols that have none, and of states
LARGEST_CHRISTOFFEL = 40_000  # terms of all Christoffel symbols that are derived
SHORTEST = 2  # characters of a term of M at the least, on the average


def random_symbols(mechanism: Mechanism) -> dict[str, float]:
    """A value for each symbol of a mechanism."""
    names = sorted(
        {s.name for _, x in numbers(mechanism) if is_symbolic(x) for s in free_symbols(x)}
    )
    rng = np.random.default_rng(SEED)
    return {name: float(rng.uniform(0.3, 1.7)) for name in names}


def with_values(mechanism: Mechanism, values: Mapping[str, float]) -> Mechanism:
    """The mechanism with numbers for its symbols; as they are ours, nobody is warned of them."""
    with without_warnings():
        return mechanism.replace(
            {path: float(evaluate(x, values)) for path, x in numbers(mechanism) if is_symbolic(x)}
        )


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


class Problem:
    """What closed forms are made from.

    derived: polynomials, or None where the mechanism has none; why_factored: why forms in full are
    not printed, or "", once that is decided (by the mass matrix); why_long: why the mass matrix is
    not even tried in full.
    names: printed names of q, qd, qdd; symbols, values: as of `Equations`; own: a value for each
    symbol of the mechanism.
    """

    def __init__(self, mechanism: Mechanism, selection: Selection, formulation: str, budget: int):
        self.mechanism, self.selection, self.formulation, self.budget = (
            mechanism,
            selection,
            formulation,
            budget,
        )
        self.graph, self.grouped = selection.graph, selection.grouped
        taken = {*selection.symbols, *selection.values}
        self.motion = motion_names(mechanism, numbers_of_bodies(mechanism), taken)
        self.names = self.motion[:3]
        self.varying = {name for group in self.names for name in group}
        taken |= self.varying
        self.group_prefix, self.part_prefix = free_prefix("k", taken), free_prefix("p", taken)
        self.symbols, self.values = dict(selection.symbols), dict(selection.values)
        self.units = dict(self.motion.units) | {
            name: unit_at(mechanism, path)
            for name, path in self.symbols.items()
            if not path.startswith("in ")
        }
        self.own = random_symbols(mechanism)
        self.mark = _mark(self.own)
        self.tree = Tree.of(selection.mechanism, self.number, exact=True)
        self.rotors: dict[str, Any] = {}
        for k, (entry, x) in enumerate(zip(mechanism.velocity_names, self.tree.rotor, strict=True)):
            if isinstance(x, Expr) or x != 0:
                self.rotors[self._rotor_names[k]] = x
                self.symbols[self._rotor_names[k]] = (
                    f"{entry}: rotor inertia times gear ratio squared"
                )
                turns = self.motion.units[self.names[1][k]] == "rad/s"
                self.units[self._rotor_names[k]] = "kg m²" if turns else "kg"
        self.why_factored = self.why_no_christoffel = self.why_long = ""
        self.derived: Any = None
        self._raw = Polynomials(Ring())  # of the parameters that base parameters are made of
        self.parameters: list[Parameter] = []
        self.nothing: set[str] = set()  # base parameters that are zero here: not printed
        self.minimal = True
        try:
            self._derive()
        except (NotPolynomial, TooLarge) as error:
            self.why_factored, self.minimal = str(error).rstrip("."), not self.grouped
            self.grouped = self.grouped and bool(
                self.parameters
            )  # none where a constant placement is no polynomial
        self.numbers = self.own | self.values  # of all printed names
        self.base_parameters: list[BaseParameter] = []
        self._count()

    def number(self, x: Any) -> Any:
        """A number of the model: exact, expressions in this problem's graph."""
        return (
            import_nodes(x, self.graph)
            if isinstance(x, Expr) and x.graph is not self.graph
            else exact(x)
        )

    def _derive(self) -> None:
        tree = self.tree
        algebra = Polynomials(Ring(LARGEST))
        rotor = [
            algebra.ring.variable(name) if name in self.rotors else 0 for name in self._rotor_names
        ]
        if self.grouped:
            self.parameters = grouped(tree, self._raw, self.mark)
            inertias = self._base_bodies(
                {p.name: algebra.ring.parameter(p.name) for p in self.parameters}
            )
        else:
            inertias = [RunInertia.of(body, algebra.scalar) for body in tree.inertia]
        found = deriving.derive(tree, algebra, inertias, rotor, LARGEST)
        if self.grouped:
            self.parameters, self.minimal = minimal(found, self.parameters)
            numbers = raw_values(tree, self.mark) | {
                name: self._exact_number(name) for name in self.selection.values
            }
            self.nothing = {p.name for p in self.parameters if is_nothing(p.grouping, numbers)}
            without(found, (algebra.ring.parameters.index(name) for name in self.nothing))
        self.derived = found
        if found.size * SHORTEST > self.budget:
            self.why_long = f"the mass matrix has {found.size} terms"
        self.writer = Writer(algebra.ring, self.by_kind)

    def _base_bodies(self, symbols: Mapping[str, Any]) -> list[RunInertia]:
        return bodies(BASE, lambda name: symbols.get(name, 0), self.tree.n, self.mark)

    def _exact_number(self, name: str) -> Any:
        """The number that a symbol of ours stands for, exactly."""
        path = self.selection.symbols[name]
        x = self.number(self.mechanism.number(path.lstrip("-")))
        return -x if path.startswith("-") and isinstance(x, (int, Fraction)) else x

    def _count(self) -> None:
        """Give the numbers of rotors and base parameters, and say what these stand for."""
        self.numbers |= {name: value_of(x, self.numbers) for name, x in self.rotors.items()}
        if self.grouped:
            own = {
                name: value_of(x, self.numbers)
                for name, x in raw_values(self.tree, self.mark).items()
            }
            raw = self.numbers | own
            builder, writer, used = (
                Builder(self.graph),
                Writer(self._raw.ring, self.by_kind),
                set[str](),
            )
            for p in self.parameters:
                grouping = constant(builder.expression(writer.form(p.grouping)), self.graph)
                used |= {s.name for s in free_symbols(grouping)}
                self.numbers[p.name] = value_of(grouping, raw)
                body = self._explain(p.name, p.body)
                value = None if self.own else self.numbers[p.name]
                self.base_parameters.append(BaseParameter(p.name, body, grouping, value))
            for name in [name for name in own if name in used]:
                self._explain(name, int(re.sub("[^0-9]", "", name)))
                self.numbers[name] = own[name]
        if not self.own:
            self.values = dict(self.numbers)

    def _explain(self, name: str, k: int) -> str:
        """Say what an inertial parameter of body k is; the body's name."""
        body = self.tree.joint[k].body
        self.symbols[name], self.units[name] = parameter(name, body)
        return body

    @property
    def by_kind(self) -> dict[str, tuple[str, ...]]:
        """Printed names by kind of variable."""
        return dict(zip(("q", "qd", "qdd"), self.names, strict=True))

    @property
    def in_order(self) -> list[str]:
        """Symbols in the order in which factors are written: inertial parameters first."""
        return sorted(self.symbols, key=lambda name: not self.units.get(name, "").startswith("kg"))

    @property
    def _rotor_names(self) -> list[str]:
        return [f"Ia{k + 1}{self.mark}" for k in range(self.tree.nv)]

    @cached_property
    def groupings(self) -> dict[str, Sum]:
        """Base parameters in print: name -> form, without parameters of bodies that are exactly
        zero.
        """
        if not self.grouped:
            return {}
        writer = Writer(self._raw.ring, self.by_kind)
        zeros = {
            name
            for name, x in raw_values(self.tree, self.mark).items()
            if not isinstance(x, Expr) and x == 0
        }
        return {
            p.name: ZERO if p.name in self.nothing else writer.form(_without(p.grouping, zeros))
            for p in self.parameters
        }

    def christoffel_terms(self, progress: Callable[[float], None] = lambda done: None) -> float:
        """Terms of all Christoffel symbols; infinite where they are too many to print."""
        if self.why_factored or self.why_no_christoffel:
            return inf
        if self.derived.twice is None:
            try:
                deriving.christoffel(self.derived, LARGEST_CHRISTOFFEL, progress)
            except TooLarge as error:
                self.why_no_christoffel = str(error).rstrip(".")
                return inf
        return terms_in(p for (i, j, _), p in self.derived.twice.items() if i <= j)

    def new_normal(self, limit: int) -> Normal:
        """Normal forms in sums of angles along runs of parallel axes, of polynomials with so many
        terms at most.
        """
        angles = [link.angle for link in self.derived.links if link.angle] if self.derived else []
        normal = Normal(self.by_kind, limit, angles)
        for name in self.in_order:
            normal.ring.variable(name)
        return normal

    @cached_property
    def normal(self) -> Normal:
        """Normal forms of expressions in the printed names, in which also products of inertial
        parameters occur.
        """
        angles = [link.angle for link in self.derived.links if link.angle] if self.derived else []
        normal = Normal(self.by_kind, angles=angles)
        ring = self.derived.ring if self.derived else Ring()
        usual = [
            *ring.parameters[1:],
            *(name for kind, name in ring.shift if kind == "x" and isinstance(name, str)),
        ]
        for name in (*usual, *self.symbols):  # written in the order in which they are made
            normal.ring.variable(name)
        return normal

    # --- expressions, where polynomials are too long or do not exist ---

    @cached_property
    def _expression_chain(self) -> tuple[Any, Any]:
        algebra = Expressions(self.graph, self.names[0])
        links = chain(self.tree, algebra, single_turns(chain(self.tree, algebra)))
        return links, composites(links, self._bodies)

    @property
    def _bodies(self) -> list[RunInertia]:
        """Inertias as expressions, with symbols of base parameters where there are any."""
        return (
            self._named_bodies
            if self.grouped
            else [RunInertia.of(b, lambda x: x) for b in self.tree.inertia]
        )

    @cached_property
    def _named_bodies(self) -> list[RunInertia]:
        """Grouped inertias with symbols."""
        return self._base_bodies(
            {
                p.name: symbol(p.name, self.graph)
                for p in self.parameters
                if p.name not in self.nothing
            }
        )

    @cached_property
    def twin(self) -> Any:
        """The mechanism with symbols, base parameters where inertias are grouped, for functions of
        formulations.
        """
        if not self.grouped:
            return _on_tree(self.selection.mechanism, self.tree)
        return _on_tree(
            self.selection.mechanism,
            self.tree,
            [Inertia(m, h, IDENTITY * (I.trace * HALF) - I) for m, h, I in self._named_bodies[1:]],
        )

    def twin_of_numbers(self, values: Mapping[str, float], mechanism: Mechanism) -> Any:
        """A mechanism of numbers with the inertias of `twin` for these values."""

        def numbers(row: Iterable[Any]) -> Vector:
            return Vector(value_of(x, values) for x in row)

        return (
            mechanism
            if not self.grouped
            else _on_tree(
                mechanism,
                mechanism.tree(),
                [
                    Inertia(value_of(m, values), numbers(h), Matrix(map(numbers, J)))
                    for m, h, J in self.twin.tree().inertia[1:]
                ],
            )
        )

    def ungrouped_twin(self, values: dict[str, Any]) -> Any:
        """As `twin`, but with masses, centres of mass and inertias; their numbers are added to
        `values`.
        """
        if not self.grouped:
            return self.twin
        chosen = select(self.mechanism, self.selection.wishes, False)
        values |= {name: x for name, x in chosen.values.items() if name not in values}
        return _on_tree(chosen.mechanism, Tree.of(chosen.mechanism, self.number, exact=True))

    @cached_property
    def vectors(self) -> list[np.ndarray]:
        """q, qd and qdd as symbols."""
        return [
            np.array([symbol(name, self.graph) for name in group], dtype=object)
            for group in self.names
        ]

    def traced(self, quantity: str) -> np.ndarray:
        """A quantity as expressions: M and g from composite bodies along the chain, in runs of
        parallel axes where there are any, the regressor by derivatives of the inverse dynamics,
        others by the formulation.

        Raises
        ------
        NotPolynomial
            There are no base parameters for a regressor.
        """
        if quantity == "regressor":
            if not self.grouped:
                raise NotPolynomial(
                    f"no base parameters were found ({self.why_factored}): da.regressor has a "
                    "column for each inertial parameter of each body."
                )
            tau = newton_euler.inverse_dynamics(self.twin, *self.vectors)
            return jacobian(
                tau, np.array([symbol(p.name, self.graph) for p in self.parameters], dtype=object)
            )
        if quantity in ("mass_matrix", "gravity_vector", "coriolis_vector"):
            try:
                return self._from_chain(quantity)
            except NotPolynomial:
                pass
        module = import_module(f"dalembert.formulations.{self.formulation}")
        function: Any = getattr(module, quantity, None) or getattr(newton_euler, quantity)
        vectors = self.vectors[: 2 if quantity.startswith("coriolis") else 1]
        return np.array(function(self.twin, *vectors), dtype=object)

    @property
    def _coriolis_forces(self) -> list[Any]:
        """C qd of links in their own axes."""
        algebra = Expressions(self.graph, self.names[0])
        turning = {k for k, link in enumerate(chain(self.tree, algebra)) if link.angle}
        return coriolis_forces(
            chain(self.tree, algebra, turning), self._bodies, list(self.vectors[1])
        )

    def _from_chain(self, quantity: str) -> np.ndarray:
        if quantity == "coriolis_vector":
            return np.array(self._coriolis_forces, dtype=object)
        if quantity == "gravity_vector":
            return np.array(
                gravity_forces(*self._expression_chain, self.tree.gravity, self.tree.nv),
                dtype=object,
            )
        M = mass_matrix(*self._expression_chain, self.tree.nv)
        for k, name in enumerate(self._rotor_names):
            M[k][k] = M[k][k] + (symbol(name, self.graph) if name in self.rotors else 0)
        return np.array(M, dtype=object)


def _on_tree(mechanism: Mechanism, tree: Tree, inertias: Sequence[Inertia] | None = None) -> OnTree:
    """The mechanism with this tree, and these inertias of the moving bodies."""
    own = tree if inertias is None else tree.replace(inertia=(tree.inertia[0], *inertias))
    return OnTree(mechanism, lambda graph: own)


def _mark(names: Iterable[str]) -> str:
    """What to end names of parameters in, so that they differ from these names."""
    names = set(names)
    return next(
        "_" * n
        for n in range(len(names) + 1)
        if not any(
            name.endswith("_" * n) and OURS.fullmatch(name[: len(name) - n]) for name in names
        )
    )


def _without(p: Any, names: Container[str]) -> Any:
    """A combination of inertial parameters without some of them."""
    if not isinstance(p, Poly):
        return p
    terms = {m: c for m, c in p.terms.items() if p.ring.parameters[m & PARAMETER] not in names}
    return Poly(p.ring, terms) if terms else 0


def value_of(x: Any, values: Mapping[str, float]) -> float:
    """The number that a number or expression is for these values of symbols."""
    return float(evaluate(x, values)) if isinstance(x, Expr) else as_float(x)
