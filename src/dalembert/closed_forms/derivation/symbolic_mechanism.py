"""A mechanism with symbols for numbers, and its quantities as expressions: printed where
polynomials are too long, or do not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from dalembert.closed_forms.algebra.ring import NotPolynomial
from dalembert.closed_forms.derivation.expression_algebra import Expressions
from dalembert.closed_forms.derivation.link_chain import base_turns, chain, single_turns
from dalembert.closed_forms.derivation.link_dynamics import (
    composites,
    coriolis_forces,
    gravity_forces,
    mass_matrix,
)
from dalembert.closed_forms.derivation.run_inertia import RunInertia
from dalembert.closed_forms.derivation.run_links import Link
from dalembert.closed_forms.derivation.symbol_values import value_of
from dalembert.expr import Graph, jacobian, symbol
from dalembert.formulations import newton_euler
from dalembert.model.mechanism import Mechanism
from dalembert.model.on_tree import OnTree
from dalembert.model.tree import Tree
from dalembert.spatial.inertias import HALF, Inertia
from dalembert.spatial.vectors import IDENTITY, Matrix, Vector


def on_tree(mechanism: Mechanism, tree: Tree, inertias: Sequence[Inertia] | None = None) -> OnTree:
    """The mechanism with this tree, and these inertias of the moving bodies."""
    if inertias is not None:
        tree = tree.replace(inertia=(tree.inertia[0], *inertias))
    return OnTree(mechanism, lambda graph: tree)


@dataclass
class SymbolicMechanism:
    """A mechanism with symbols for numbers.

    names: printed names of q, qd, qdd; bodies: inertias as expressions, of base parameters where
    `grouped`; rotors: rotor inertia of each entry of qd, a symbol or 0; parameters: names of base
    parameters.
    """

    mechanism: Mechanism
    tree: Tree
    graph: Graph
    names: tuple[tuple[str, ...], ...]
    bodies: list[RunInertia]
    rotors: list[Any]
    parameters: list[str]
    grouped: bool
    formulation: str

    @cached_property
    def vectors(self) -> list[np.ndarray]:
        """q, qd and qdd as symbols."""
        return [self._symbols(group) for group in self.names]

    def _symbols(self, names: Iterable[str]) -> np.ndarray:
        return np.array([symbol(name, self.graph) for name in names], dtype=object)

    @cached_property
    def twin(self) -> Any:
        """The mechanism for functions of formulations."""
        if not self.grouped:
            return on_tree(self.mechanism, self.tree)
        inertias = [Inertia(m, h, IDENTITY * (I.trace * HALF) - I) for m, h, I in self.bodies[1:]]
        return on_tree(self.mechanism, self.tree, inertias)

    def with_numbers(self, values: Mapping[str, float], mechanism: Mechanism) -> Any:
        """A mechanism of numbers with the inertias of `twin` for these values."""
        if not self.grouped:
            return mechanism

        def numbers(row: Iterable[Any]) -> Vector:
            """Numbers of a vector."""
            return Vector(value_of(x, values) for x in row)

        inertias = [
            Inertia(value_of(m, values), numbers(h), Matrix(map(numbers, J)))
            for m, h, J in self.twin.tree().inertia[1:]
        ]
        return on_tree(mechanism, mechanism.tree(), inertias)

    # --- quantities ---

    def traced(self, quantity: str) -> np.ndarray:
        """A quantity as expressions: M, g and h from links in runs of parallel axes, the regressor
        by derivatives of the inverse dynamics, others by the formulation.

        Raises
        ------
        NotPolynomial
            There are no base parameters for a regressor.
        """
        if quantity == "regressor":
            tau = newton_euler.inverse_dynamics(self.twin, *self.vectors)
            return jacobian(tau, self._symbols(self.parameters))
        if quantity in ("mass_matrix", "gravity_vector", "coriolis_vector"):
            try:
                return np.array(self._from_links(quantity), dtype=object)
            except NotPolynomial:
                pass
        module = import_module(f"dalembert.formulations.{self.formulation}")
        function: Any = getattr(module, quantity, None) or getattr(newton_euler, quantity)
        vectors = self.vectors[: 2 if quantity.startswith("coriolis") else 1]
        return np.array(function(self.twin, *vectors), dtype=object)

    @cached_property
    def _algebra(self) -> Expressions:
        return Expressions(self.graph, self.names[0])

    @cached_property
    def _links(self) -> tuple[list[Link], list[RunInertia]]:
        """Links, single turns in their own axes, and the inertia of all that hangs on each."""
        drafted = chain(self.tree, self._algebra)
        alone = base_turns(drafted) if self.tree.elastic else single_turns(drafted)
        links = chain(self.tree, self._algebra, alone)
        return links, composites(links, self.bodies)

    def _by_derivatives(self) -> np.ndarray:
        """C(q, qd) qd = M' qd - dT/dq."""
        q, qd, _ = self.vectors
        momenta = np.array(self._from_links("mass_matrix"), dtype=object) @ qd
        return jacobian(momenta, q) @ qd - jacobian([qd @ momenta / 2], q)[0]

    def _from_links(self, quantity: str) -> Any:
        nv = self.tree.nv
        if quantity == "coriolis_vector" and self.tree.elastic:
            return self._by_derivatives()
        if quantity == "coriolis_vector":  # links in their own axes
            turning = {k for k, link in enumerate(chain(self.tree, self._algebra)) if link.angle}
            links = chain(self.tree, self._algebra, turning)
            return coriolis_forces(links, self.bodies, list(self.vectors[1]))
        if quantity == "gravity_vector":
            return gravity_forces(*self._links, self.tree.gravity, nv)
        M = mass_matrix(*self._links, nv)
        for k, rotor in enumerate(self.rotors):
            M[k][k] = M[k][k] + rotor
        return M
