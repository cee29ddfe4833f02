"""Closed forms of a mechanism beside its compiled functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.closed_forms.derivation.constraint_expressions import Moment
from dalembert.closed_forms.derivation.derivation_context import SEED
from dalembert.closed_forms.derivation.grouping import (
    BASE,
    Parameter,
)
from dalembert.closed_forms.derivation.locked_rotors import locked_rotors
from dalembert.closed_forms.derivation.mechanism_context import MechanismContext
from dalembert.closed_forms.derivation.symbol_values import value_of, with_values
from dalembert.closed_forms.quantities.frames import numbers
from dalembert.closed_forms.quantities.rows_at_states import RowsAtStates
from dalembert.closed_forms.quantities.verification import STATES, Verifier, largest_size
from dalembert.formulations import newton_euler
from dalembert.kinematics.forces import passive_force
from dalembert.kinematics.poses import placement
from dalembert.model.mechanism import Mechanism, without_warnings
from dalembert.model.numbers import as_float
from dalembert.model.tree import Tree
from dalembert.systems.kinds import system_of

if TYPE_CHECKING:
    from dalembert.compiled.dynamics import Dynamics


def _compiled(mechanism: Any, formulation: str = "newton_euler") -> Dynamics:
    """The compiled functions: machine code is not loaded before something is compared with it."""
    from dalembert.compiled.dynamics import compile

    return compile(mechanism, formulation)


def _without_constraints(mechanism: Mechanism) -> Mechanism:
    """The tree of the mechanism alone."""
    if not mechanism.constraints:
        return mechanism
    with without_warnings():  # the mechanism warned when it was made
        return replace(mechanism, constraints=(), principles=(), actuated=None)


def _weights(parameters: Sequence[Parameter], tree: Tree) -> np.ndarray:
    """Weights (10 n, p) of the columns of the regressor in those of base parameters."""
    weights = np.zeros((10 * tree.n, len(parameters)))
    rotors = {rotor.body: rotor for rotor in locked_rotors(tree, lambda x: x)}
    for k, parameter in enumerate(parameters):
        weights[10 * (parameter.body - 1) + BASE.index(parameter.name[:2]), k] = 1
        if (rotor := rotors.get(parameter.body)) is not None:
            first = 10 * (rotor.carrier - 1)
            weights[first : first + 10, k] -= rotor.on_carrier(1).ten()
    return weights


class MechanismVerifier(Verifier):
    """Verifier of a mechanism's forms; its own symbols have random values.

    mechanism: the tree alone; constrained: with its constraints; rows: of these, if there are any.
    """

    rows: RowsAtStates | None = None

    def __init__(self, context: MechanismContext):
        super().__init__()
        self.context = context
        self.values = dict(context.numbers)
        own, mechanism = context.own, context.mechanism
        self.constrained = with_values(mechanism, own) if own else mechanism
        self.mechanism = _without_constraints(self.constrained)
        states = [self.mechanism.random_state(seed) for seed in range(SEED, SEED + STATES)]
        self.q, self.qd = (np.array(x) for x in zip(*states, strict=True))
        self.qdd = np.random.default_rng(SEED).standard_normal(self.qd.shape)
        self.point: dict[str, Any] = dict(self.values)
        for names, array in zip(context.names, (self.q, self.qd, self.qdd), strict=True):
            self.point |= {name: array[:, k] for k, name in enumerate(names)}

    @cached_property
    def dynamics(self) -> Dynamics:
        """The compiled functions of the formulation; newton_euler's in place of hamilton's, which
        has not all of them.
        """
        formulation = self.context.formulation
        return _compiled(
            self.mechanism, "newton_euler" if formulation == "hamilton" else formulation
        )

    @cached_property
    def right(self) -> dict[str, np.ndarray]:
        """Quantities at the states; Christoffel symbols by unit velocities, C(q, e_i)[k, j] =
        c_ijk.
        """
        n = self.mechanism.nv
        q = self.q
        qd = self.qd
        states = np.concatenate([q, np.repeat(q, n, axis=0)])
        rates = np.concatenate([qd, np.tile(np.eye(n), (STATES, 1))])
        M, C, g = self.dynamics.function(["mass_matrix", "coriolis_matrix", "gravity_vector"])(
            states, rates
        )
        by_unit_velocity = C[STATES:].reshape(STATES, n, n, n)  # [state, i, k, j]
        M = M[:STATES]
        C = C[:STATES]
        g = g[:STATES]
        if self.context.formulation == "hamilton":
            M = _compiled(self.mechanism, "hamilton").mass_matrix(q)
        h = np.einsum("nkj,nj->nk", C, qd)
        return {
            "mass_matrix": M,
            "coriolis_matrix": C,
            "gravity_vector": g,
            "christoffel": by_unit_velocity.transpose(0, 1, 3, 2),
            "coriolis_vector": h,
            "kinetic_energy": np.einsum("nij,ni,nj->n", M, qd, qd) / 2,
            "forces": np.einsum("nij,nj->ni", M, self.qdd) + h + g,
        }

    @cached_property
    def sizes(self) -> dict[str, float]:
        """Sizes by the masses, their distances from the first body and from the origin, and the
        rates at the states.
        """
        mass = lever = height = second = 0.0  # sums of m, m r, m |c|, and m r^2 + I
        bodies = self.mechanism.bodies[1:] or self.mechanism.bodies
        first = placement(self.mechanism, self.q, bodies[0].name)[:, :3, 3]
        for body in bodies:
            T = placement(self.mechanism, self.q, body.name)
            m = as_float(body.mass)
            com = np.array(list(map(as_float, body.com)))
            c = T[:, :3, 3] + T[:, :3, :3] @ com
            r = float(np.linalg.norm(c - first, axis=1).max())
            mass += m
            lever += m * r
            height += m * float(np.linalg.norm(c, axis=1).max())
            second += m * r**2 + max(abs(as_float(x)) for x in body.inertia)
        gravity = float(np.linalg.norm([as_float(x) for x in self.mechanism.gravity]))
        rate = largest_size(self.qd)
        acceleration = largest_size(self.qdd)
        M = second + largest_size(self.right["mass_matrix"])
        weight = gravity * (lever + (mass * M) ** 0.5)  # |g_k| <= |g| sqrt(m M_kk)
        forces = M * (acceleration + rate**2) + weight
        passive = largest_size(passive_force(self.mechanism, self.q, self.qd))
        return {
            "mass_matrix": M,
            "christoffel": M,
            "coriolis_matrix": M * rate,
            "coriolis_vector": M * rate**2,
            "gravity_vector": weight,
            "kinetic_energy": M * rate**2,
            "potential_energy": gravity * height,
            "forces": forces,
            "equations_of_motion": forces + passive,
            "passive_force": passive,
            "regressor": acceleration + rate**2 + gravity,
            "regressor times base parameters": forces,
        }

    def add_forces(self, names: Sequence[str]) -> None:
        """Give forces and multipliers random values."""
        super().add_forces(names)
        if self.context.rows is not None:
            times = np.random.default_rng(SEED + 3).uniform(0, 1, STATES).tolist()
            moments = [*map(Moment, self.q, self.qd, self.qdd, times)]
            system = system_of(self.constrained)
            self.rows = RowsAtStates(self.context.rows, system, moments)
            self.point |= self.rows.point

    def compare(self, quantity: str, expressions: np.ndarray) -> None:
        """Compare the expressions of a quantity with the compiled function; raises as `check`."""
        values = self.evaluated(expressions)
        if quantity == "regressor":
            self._compare_regressor(values)
            return
        right = self._right_of(quantity)
        if quantity == "potential_energy" and self.context.grouped:
            values = values + (right[0] - values[0])  # a constant that grouping leaves open
        self.check(quantity, values, right)

    def _right_of(self, quantity: str) -> np.ndarray:
        """A quantity at the states, by compiled or plain functions."""
        if ":" in quantity:
            right = numbers(self.mechanism, self.q, quantity)
            self.sizes[quantity] = 1 + largest_size(right)
            return right
        if self.rows is not None:
            if quantity == "multipliers":
                times = self.point[self.rows.rows.clock]
                compiled: Any = _compiled(self.constrained)
                return np.asarray(compiled.multipliers(self.q, self.qd, self.tau, times))
            if quantity in self.rows.right:
                self.sizes[quantity] = 1 + largest_size(self.rows.right[quantity])
                return self.rows.right[quantity]
        kept = 0 if self.rows is None else self.rows.right["constraint_forces"]
        if quantity == "accelerations":
            dynamics = (
                _compiled(self.mechanism)
                if self.context.formulation == "hamilton"
                else self.dynamics
            )
            return np.asarray(dynamics.forward_dynamics(self.q, self.qd, self.tau + kept))
        if quantity == "potential_energy":
            return np.asarray(self.dynamics.potential_energy(self.q))
        if quantity in ("equations_of_motion", "passive_force"):
            passive = passive_force(self.mechanism, self.q, self.qd)
            if quantity == "passive_force":
                return passive
            return np.asarray(self.right["forces"] - passive - kept)
        return self.right[quantity]

    def _compare_regressor(self, values: np.ndarray) -> None:
        """Compare column by column, and the product with the base parameters.

        Columns of base parameters are those of the inertial parameters that stand for themselves in
        them, of a rotor without those of its moment on its carrier; newton_euler alone has a
        regressor.
        """
        p = self.context
        Y = _compiled(self.mechanism).regressor(self.q, self.qd, self.qdd)
        acting = [x.name not in p.nothing for x in p.parameters]
        weights = _weights(p.parameters, self.mechanism.tree())
        self.check("regressor", values, Y @ weights * acting)
        theta = np.array([self.values[x.name] for x in p.parameters])
        rotors = np.array([value_of(x, self.values) for x in p.tree.rotor])
        self.check(
            "regressor times base parameters",
            values @ theta,
            self.right["forces"] - rotors * self.qdd,
        )

    def linearized(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Mass matrix, A, B and joint forces of the linear model at rest."""
        zero = np.zeros_like(q)
        tau = newton_euler.inverse_dynamics(self.mechanism, q, zero, zero)
        A, B = newton_euler.linearize(self.mechanism, q, zero, tau)
        return newton_euler.mass_matrix(self.mechanism, q), A, B, tau
