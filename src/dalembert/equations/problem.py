"""A mechanism on its way to closed forms: its symbols, the derivation, base parameters, and the numbers of all names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from dalembert.equations import derivation as deriving
from dalembert.equations.chain import chain, composites, exact, gravity_forces, mass_matrix
from dalembert.equations.factored import Expressions
from dalembert.equations.forms import Builder, Writer
from dalembert.equations.grouping import Parameter, as_bodies, grouped, is_nothing, minimal, raw_values, without
from dalembert.equations.polynomials import Polynomials
from dalembert.equations.ring import NotPolynomial, Ring, TooLarge, terms_in
from dalembert.equations.selection import Selection, select
from dalembert.equations.sheets import object_array
from dalembert.expr import Expr, evaluate, free_symbols, import_nodes, jacobian, symbol
from dalembert.formulations import newton_euler
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import as_float, is_symbolic
from dalembert.model.paths import numbers
from dalembert.model.tree import Tree
from dalembert.spatial.inertias import HALF, Inertia
from dalembert.spatial.vectors import IDENTITY, Matrix, Vector

LARGEST = 20_000           # terms of M that are derived at all: base parameters are found from them
OURS = re.compile(r"(m[xyz]?|I[xyz]{2}|[XYZ]{2}|M[XYZM]|Ia)\d+")      # names of parameters about joint frames
SEED = 1743                # of values for symbols that have none, and of states
CHRISTOFFEL_BUDGET = 4     # times as many terms as M may have for all Christoffel symbols


def random_symbols(mechanism: Mechanism) -> dict[str, float]:
    """A value for each symbol of a mechanism."""
    names = sorted({s.name for _, x in numbers(mechanism) if is_symbolic(x) for s in free_symbols(x)})
    rng = np.random.default_rng(SEED)
    return {name: float(rng.uniform(0.3, 1.7)) for name in names}


def with_values(mechanism: Mechanism, values: Mapping[str, float]) -> Mechanism:
    """The mechanism with numbers for its symbols."""
    return mechanism.replace({path: float(evaluate(x, values)) for path, x in numbers(mechanism) if is_symbolic(x)})


class BaseParameter(NamedTuple):
    """A base parameter: name, body, the combination of inertial parameters that it stands for, and its number.

    grouping is in the parameters of the bodies about their joint frames' origins (m2, mx2 = m c_x, Ixx2, ...) and in
    lengths; value [kg, kg m, kg m^2] is None where the mechanism has symbols.
    """

    name: str
    body: str
    grouping: Any
    value: float | None


class Problem:
    """What closed forms are made from.

    derived: polynomials, or None where the mechanism has none; why_factored: why forms in full are not printed, or "".
    names: printed names of q, qd, qdd; symbols, values: as of `Equations`; own: a value for each symbol of the mechanism.
    """

    def __init__(self, mechanism: Mechanism, selection: Selection, formulation: str, budget: int):
        self.mechanism, self.selection, self.formulation, self.budget = mechanism, selection, formulation, budget
        self.graph, self.grouped = selection.graph, selection.grouped
        taken = {*selection.symbols, *selection.values}
        self.names = _coordinate_names(mechanism, taken)
        self.varying = {name for group in self.names for name in group}
        self.group_prefix, self.part_prefix = free_prefix("k", taken), free_prefix("p", taken)
        self.symbols, self.values = dict(selection.symbols), dict(selection.values)
        self.own = random_symbols(mechanism)
        self.mark = _mark(self.own)
        self.tree = Tree(selection.mechanism, self.number, exact=True)
        self.rotors: dict[str, Any] = {}
        for k, (entry, x) in enumerate(zip(mechanism.velocity_names, self.tree.rotor, strict=True)):
            if isinstance(x, Expr) or x != 0:
                self.rotors[self._rotor_names[k]] = x
                self.symbols[self._rotor_names[k]] = f"{entry}: rotor inertia times gear ratio squared"
        self.why_factored = self.why_no_christoffel = ""
        self.derived: deriving.Derivation | None = None
        self.parameters: list[Parameter] = []
        self.nothing: set[str] = set()                 # base parameters that are zero here: not printed
        self.minimal = True
        try:
            self._derive()
        except (NotPolynomial, TooLarge) as error:
            self.why_factored, self.minimal = str(error).rstrip("."), not self.grouped
            self.grouped = self.grouped and bool(self.parameters)      # none where a constant placement is no polynomial
        self._describe()

    def number(self, x: Any) -> Any:
        """A number of the model: exact, expressions in this problem's graph."""
        return import_nodes(x, self.graph) if isinstance(x, Expr) and x.graph is not self.graph else exact(x)

    def _derive(self) -> None:
        tree = self.tree
        algebra = Polynomials(Ring())
        rotor = [algebra.ring.variable(name) if name in self.rotors else 0 for name in self._rotor_names]
        if self.grouped:
            raw = Polynomials(Ring())
            self._raw, self.parameters = raw, grouped(tree, raw, self.mark)
            bodies = as_bodies({p.name: algebra.ring.parameter(p.name) for p in self.parameters}, tree.n, self.mark)
        else:
            bodies = [None, *(_scalars(body, algebra) for body in tree.inertia[1:])]
        gravity = [algebra.scalar(x) for x in tree.gravity]
        found = deriving.derive(tree, algebra, bodies, gravity, rotor=rotor, budget=max(LARGEST, self.budget))
        if self.grouped:
            self.parameters, self.minimal = minimal(found, self.parameters)
            numbers = raw_values(tree, self.mark) | {name: self._exact_number(name) for name in self.selection.values}
            self.nothing = {p.name for p in self.parameters if is_nothing(p.grouping, numbers)}
            without(found, (algebra.ring.parameters.index(name) for name in self.nothing))
        self.links, self.derived = found.links, found
        if (size := terms_in(found.M[i][j] for i in range(tree.nv) for j in range(i, tree.nv))) > self.budget:
            self.why_factored = f"the mass matrix has {size} terms"
        self.writer = Writer(algebra.ring, self.by_kind)

    def numbers(self) -> dict[str, float]:
        """Values of all printed names, those of the mechanism's own symbols at random."""
        known = self.own | self.values
        for name, inertia in self.rotors.items():
            known[name] = value_of(inertia, known)
        if not self.grouped:
            return known
        raw = self._raw_values(known)
        for p in self.base_parameters:
            known[p.name] = value_of(p.grouping, raw)
        return known

    def _exact_number(self, name: str) -> Any:
        """The number that a symbol of ours stands for, exactly."""
        path = self.selection.symbols[name]
        x = self.number(self.mechanism.number(path.lstrip("-")))
        return -x if path.startswith("-") and isinstance(x, (int, Fraction)) else x

    def _raw_values(self, known: Mapping[str, float]) -> dict[str, float]:
        return {**known, **{name: value_of(x, known) for name, x in raw_values(self.tree, self.mark).items()}}

    def _describe(self) -> None:
        """Say what the names of grouped parameters stand for, and give their numbers where all are known."""
        if not self.own:
            self.values |= {name: value_of(x, self.values) for name, x in self.rotors.items()}
        if not self.grouped:
            return
        for p in self.parameters:
            self.symbols[p.name] = f"{self.tree.joint[p.body].body}: {_kind_of(p.name)}, grouped"
        if not self.own:
            self.values |= {b.name: b.value for b in self.base_parameters if b.value is not None}

    @property
    def by_kind(self) -> dict[str, tuple[str, ...]]:
        """Printed names by kind of variable."""
        return dict(zip(("q", "qd", "qdd"), self.names, strict=True))

    @property
    def _rotor_names(self) -> list[str]:
        return [f"Ia{k + 1}{self.mark}" for k in range(self.tree.nv)]

    @cached_property
    def base_parameters(self) -> tuple[BaseParameter, ...]:
        """The fewest combinations of inertial parameters that determine the forces."""
        writer = Writer(self._raw.ring, self.by_kind)
        builder = Builder(self.graph)
        raw = None if self.own else self._raw_values(self.values)
        found, self.groupings = [], {}
        for p in self.parameters:
            form = writer.form(p.grouping)
            expression = builder.expression(form)
            self.groupings[p.name] = form
            value = None if raw is None else value_of(expression, raw)
            found.append(BaseParameter(p.name, self.tree.joint[p.body].body, expression, value))
        return tuple(found)

    def christoffel_terms(self, progress: Callable[[float], None] = lambda done: None) -> int | None:
        """Terms of all Christoffel symbols, or None where they are too many to print."""
        d = self.derived
        if self.why_factored or d is None or self.why_no_christoffel:
            return None
        if d.twice is None:
            try:
                deriving.christoffel(d, CHRISTOFFEL_BUDGET * self.budget, progress)
            except TooLarge as error:
                self.why_no_christoffel = str(error).rstrip(".")
                return None
        return terms_in(p for (i, j, _), p in (d.twice or {}).items() if i <= j)

    # --- expressions, where polynomials are too long or do not exist ---

    @cached_property
    def _expression_chain(self) -> tuple[Any, Any]:
        links = chain(self.tree, Expressions(self.graph, self.names[0]))
        bodies = [None, *(Inertia(b.m, b.h, b.tensor()) for b in self.tree.inertia[1:])]
        if self.grouped:
            bodies = self._named_bodies
        return links, composites(links, bodies)

    @cached_property
    def _named_bodies(self) -> list[Inertia | None]:
        """Grouped inertias with symbols, the tensor in place of second moments."""
        symbols = {p.name: symbol(p.name, self.graph) for p in self.parameters if p.name not in self.nothing}
        return as_bodies(symbols, self.tree.n, self.mark)

    @cached_property
    def twin(self) -> Mechanism:
        """The mechanism with symbols, base parameters where inertias are grouped, for functions of formulations."""
        tree = self.tree
        if self.grouped:
            second = [(b, IDENTITY * (b.J.trace * HALF) - b.J) for b in self._named_bodies[1:] if b]      # J = tr(I)/2 1 - I
            tree = _with_inertias(tree, [Inertia(b.m, b.h, J) for b, J in second])
        return _Traced.of(self.selection.mechanism, tree)

    def twin_of_numbers(self, values: Mapping[str, float], mechanism: Mechanism) -> Mechanism:
        """A mechanism of numbers with the inertias of `twin` for these values."""
        if not self.grouped:
            return mechanism
        def number(x: Any) -> float:
            return value_of(x, values)

        bodies = [Inertia(number(b.m), Vector(map(number, b.h)), Matrix(tuple(map(number, row)) for row in b.J))
                  for b in self.twin.tree().inertia[1:]]
        return _Traced.of(mechanism, _with_inertias(mechanism.tree(), bodies))

    def ungrouped_twin(self, values: dict[str, Any]) -> Mechanism:
        """As `twin`, but with masses, centres of mass and inertias; their numbers are added to `values`."""
        if not self.grouped:
            return self.twin
        chosen = select(self.mechanism, self.selection.wishes, False)
        values |= {name: x for name, x in chosen.values.items() if name not in values}
        return _Traced.of(chosen.mechanism, Tree(chosen.mechanism, self.number, exact=True))

    @cached_property
    def vectors(self) -> list[np.ndarray]:
        """q, qd and qdd as symbols."""
        return [object_array([symbol(name, self.graph) for name in group], (len(group),)) for group in self.names]

    def traced_mass_matrix(self) -> list[Any]:
        """Entries of M from composite bodies along the chain, in runs of parallel axes where there are any."""
        try:
            M = mass_matrix(*self._expression_chain, self.tree.nv)
        except NotPolynomial:
            return self.traced("mass_matrix")
        for k, inertia in enumerate(symbol(name, self.graph) if name in self.rotors else 0 for name in self._rotor_names):
            M[k][k] = M[k][k] + inertia
        return [x for row in M for x in row]

    def traced_gravity(self) -> list[Any]:
        """Entries of g in the same way."""
        try:
            return gravity_forces(*self._expression_chain, self.tree.gravity, self.tree.nv)
        except NotPolynomial:
            return self.traced("gravity_vector")

    def traced_regressor(self) -> np.ndarray:
        """Derivatives of the traced inverse dynamics by the base parameters, (nv, base parameters)."""
        tau = newton_euler.inverse_dynamics(self.twin, *self.vectors)
        theta = [symbol(p.name, self.graph) for p in self.parameters]
        return jacobian(tau, object_array(theta, (len(theta),)))

    def traced(self, quantity: str, alone: bool = False) -> list[Any]:
        """Entries of a quantity from the traced expression graph of the formulation."""
        alone = alone or quantity in ("mass_matrix", "gravity_vector")      # functions of q
        module = import_module(f"dalembert.formulations.{self.formulation}")
        function: Any = getattr(module, quantity, None) or getattr(newton_euler, quantity)
        found = function(self.twin, *self.vectors[:1 if alone else 2])
        return list(np.array(found, dtype=object).flat)


def _with_inertias(tree: Tree, inertias: Sequence[Inertia]) -> Tree:
    """The tree with these inertias of the moving bodies."""
    twin = object.__new__(Tree)
    twin.__dict__ |= tree.__dict__
    twin.inertia = [tree.inertia[0], *inertias]
    return twin


class _Traced(Mechanism):
    """A mechanism whose tree is given."""

    @staticmethod
    def of(mechanism: Mechanism, tree: Tree) -> _Traced:
        """The mechanism with this tree."""
        twin = object.__new__(_Traced)
        twin.__dict__ |= mechanism.__dict__
        twin.__dict__["_given"] = tree
        return twin

    def tree(self, graph: Any = None, exact: bool = False) -> Tree:
        return self.__dict__["_given"]


def _scalars(body: Inertia, algebra: Polynomials) -> Inertia:
    """Inertia with the tensor in place of second moments, in the algebra's scalars."""
    tensor = body.tensor()
    return Inertia(algebra.scalar(body.m), Vector(algebra.scalar(x) for x in body.h),
                   Matrix(tuple(algebra.scalar(x) for x in row) for row in tensor))


def _coordinate_names(mechanism: Mechanism, taken: set[str]) -> tuple[tuple[str, ...], ...]:
    for prefix in ("q", "q_", "Q"):
        names = tuple(tuple(f"{prefix}{dots}{k + 1}" for k in range(n))
                      for dots, n in (("", mechanism.nq), ("d", mechanism.nv), ("dd", mechanism.nv)))
        if not taken & {name for group in names for name in group}:
            break
    return names


def free_prefix(letter: str, taken: set[str]) -> str:
    """A prefix for numbered names, none of which is taken."""
    return next(p for p in (letter, letter.upper(), letter * 2, letter * 3, letter * 4)
                if not any(name.startswith(p) and name[len(p):].isdigit() for name in taken))


def _mark(names: Iterable[str]) -> str:
    """What to end names of parameters in, so that they differ from these names."""
    names = set(names)
    return next("_" * n for n in range(len(names) + 1)
                if not any(name.endswith("_" * n) and OURS.fullmatch(name[:len(name) - n]) for name in names))


def _kind_of(name: str) -> str:
    letters = name.rstrip("_").rstrip("0123456789")
    return {"MM": "mass", "MX": "m cx", "MY": "m cy", "MZ": "m cz"}.get(letters, f"I{letters.lower()}")


def value_of(x: Any, values: Mapping[str, float]) -> float:
    """The number that a number or expression is for these values of symbols."""
    return float(evaluate(x, values)) if isinstance(x, Expr) else as_float(x)
