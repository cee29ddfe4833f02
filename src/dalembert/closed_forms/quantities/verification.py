"""Every entry that is printed is first compared with the compiled function at random states."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.closed_forms.derivation.derivation_context import (
    SEED,
    Problem,
    value_of,
    with_values,
)
from dalembert.closed_forms.derivation.grouping import BASE
from dalembert.closed_forms.quantities.frames import numbers
from dalembert.compiled.dynamics import Dynamics, compile
from dalembert.errors import DalembertError
from dalembert.expr import Expr, evaluate, topological
from dalembert.formulations import newton_euler
from dalembert.kinematics.forces import passive_force
from dalembert.kinematics.poses import placement
from dalembert.model.numbers import as_float

STATES = 5
TOLERANCE = 1e-10  # of the largest entry; closed forms of arms of 10 joints are exact to some 1e-14


class VerificationError(DalembertError):
    """A closed form and the compiled function disagree: a fault of this package. `quantity`,
    `entry`, `difference`.
    """

    def __init__(
        self, message: str, quantity: str = "", entry: tuple[int, ...] = (), difference: float = 0.0
    ):
        super().__init__(message)
        self.quantity, self.entry, self.difference = quantity, entry, difference


def size_of_terms(expressions: Iterable[Any], point: Mapping[str, Any]) -> float:
    """Largest value of expressions whose sums add the absolute values of their terms: rounding is
    relative to it.
    """
    outputs = [x for x in expressions if isinstance(x, Expr)]
    order = topological(outputs)
    values = np.abs(
        np.broadcast_to(
            evaluate(np.array(order, dtype=object), point), (STATES, len(order))
        ).astype(float)
    ).T
    size: dict[Expr, np.ndarray] = {}
    for node, value in zip(order, values, strict=True):
        a, b = (size.get(arg, value) for arg in (*node.args, None, None)[:2])
        if node.op in ("add", "sub"):
            value = a + b
        elif node.op == "mul":
            value = a * b
        elif node.op == "neg":
            value = a
        size[node] = value
    return max((float(size[x].max()) for x in outputs), default=0.0)


class Verifier(ABC):
    """Compares forms with compiled functions at random states.

    point: values of all names at the states; largest: the relative difference found, by quantity.
    """

    point: dict[str, Any]
    tau: np.ndarray

    def __init__(self) -> None:
        self.largest: dict[str, float] = {}

    def add_forces(self, names: Sequence[str]) -> None:
        """Give joint forces random values, by name."""
        self.tau = np.random.default_rng(SEED + 1).uniform(-1, 1, (STATES, len(names)))
        self.point |= {name: self.tau[:, k] for k, name in enumerate(names)}

    @property
    @abstractmethod
    def right(self) -> Mapping[str, np.ndarray]:
        """Quantities by compiled code at the states, (states, ...)."""

    def evaluated(self, expressions: np.ndarray) -> np.ndarray:
        """Values of expressions at the states, (states, ...)."""
        return np.broadcast_to(evaluate(expressions, self.point), (STATES, *expressions.shape))

    @property
    @abstractmethod
    def sizes(self) -> Mapping[str, float]:
        """Size of the terms that the compiled functions add up, by quantity: where a quantity is
        exactly zero, these cancel but for rounding.
        """

    def linearized(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Mass matrix, A, B and joint forces of the linear model at rest, in numbers."""
        raise NotImplementedError

    @cached_property
    def size(self) -> float:
        """Size of anything that has none of its own in `sizes`."""
        return max(self.sizes.values(), default=0.0)

    def compare(self, quantity: str, expressions: np.ndarray) -> None:
        """Compare the expressions of a quantity with the compiled function; raises as `check`."""
        self.check(quantity, self.evaluated(expressions), self.right[quantity])

    def check(self, quantity: str, found: np.ndarray, right: np.ndarray) -> None:
        """Raise VerificationError unless closed forms and functions agree, relative to the largest
        entry or, where that is larger, to the terms that it is the sum of.
        """
        scale = max(
            float(np.abs(right).max(initial=0.0)), self.sizes.get(quantity, self.size), 1e-300
        )
        gap = np.abs(found - right)
        self.largest[quantity] = float(gap.max(initial=0.0)) / scale
        if not self.largest[quantity] <= TOLERANCE:
            entry = tuple(map(int, np.unravel_index(int(np.argmax(gap)), gap.shape)))[1:]
            raise VerificationError(
                f"{quantity}{list(entry)}: closed form and compiled function differ by "
                f"{gap.max():.3g}; this is a fault of dalembert, please report it.",
                quantity,
                entry,
                float(gap.max()),
            )


class MechanismVerifier(Verifier):
    """Verifier of a mechanism's forms; its own symbols have random values."""

    def __init__(self, problem: Problem):
        super().__init__()
        self.problem, self.values = problem, dict(problem.numbers)
        self.mechanism = (
            with_values(problem.mechanism, problem.own) if problem.own else problem.mechanism
        )
        states = [self.mechanism.random_state(seed) for seed in range(SEED, SEED + STATES)]
        self.q, self.qd = (np.array(x) for x in zip(*states, strict=True))
        self.qdd = np.random.default_rng(SEED).standard_normal(self.qd.shape)
        self.point: dict[str, Any] = dict(self.values)
        for names, array in zip(problem.names, (self.q, self.qd, self.qdd), strict=True):
            self.point |= {name: array[:, k] for k, name in enumerate(names)}

    @cached_property
    def right(self) -> dict[str, np.ndarray]:
        """Quantities at the states; Christoffel symbols by unit velocities, C(q, e_i)[k, j] =
        c_ijk.
        """
        n, q, qd = self.mechanism.nv, self.q, self.qd
        states = np.concatenate([q, np.repeat(q, n, axis=0)])
        rates = np.concatenate([qd, np.tile(np.eye(n), (STATES, 1))])
        M, C, g = self.dynamics.function(["mass_matrix", "coriolis_matrix", "gravity_vector"])(
            states, rates
        )
        c = (
            C[STATES:].reshape(STATES, n, n, n).transpose(0, 1, 3, 2)
        )  # [state, i, k, j] -> [state, i, j, k]
        C, g = C[:STATES], g[:STATES]
        M = (
            compile(self.mechanism, self.problem.formulation).mass_matrix(q)
            if self.problem.formulation == "hamilton"
            else (M[:STATES])
        )
        h = np.einsum("nkj,nj->nk", C, qd)
        return {
            "mass_matrix": M,
            "coriolis_matrix": C,
            "gravity_vector": g,
            "christoffel": c,
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
        first = placement(self.mechanism, self.q, self.mechanism.bodies[1].name)[:, :3, 3]
        for body in self.mechanism.bodies[1:]:
            T, m = placement(self.mechanism, self.q, body.name), as_float(body.mass)
            c = T[:, :3, 3] + T[:, :3, :3] @ np.array([as_float(x) for x in body.com])
            r, above = (float(np.linalg.norm(x, axis=1).max()) for x in (c - first, c))
            mass, lever, height = mass + m, lever + m * r, height + m * above
            second += m * r**2 + max(abs(as_float(x)) for x in body.inertia)
        gravity = float(np.linalg.norm([as_float(x) for x in self.mechanism.gravity]))
        rate, acceleration = (float(np.abs(x).max(initial=0.0)) for x in (self.qd, self.qdd))
        M = second + float(np.abs(self.right["mass_matrix"]).max(initial=0.0))
        weight = gravity * (lever + (mass * M) ** 0.5)  # |g_k| <= |g| sqrt(m M_kk)
        forces = M * (acceleration + rate**2) + weight
        passive = float(np.abs(passive_force(self.mechanism, self.q, self.qd)).max(initial=0.0))
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

    def linearized(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Mass matrix, A, B and joint forces of the linear model at rest."""
        zero = np.zeros_like(q)
        tau = newton_euler.inverse_dynamics(self.mechanism, q, zero, zero)
        A, B = newton_euler.linearize(self.mechanism, q, zero, tau)
        return newton_euler.mass_matrix(self.mechanism, q), A, B, tau

    @cached_property
    def dynamics(self) -> Dynamics:
        """The compiled functions of the formulation; for hamilton, which has not all of them, those
        of newton_euler.
        """
        other = self.problem.formulation == "hamilton"
        return compile(self.mechanism, "newton_euler" if other else self.problem.formulation)

    def compare(self, quantity: str, expressions: np.ndarray) -> None:
        """The same; potential energy of grouped parameters up to a constant, the regressor column
        by column, too.
        """
        found = self.evaluated(expressions)
        if quantity == "accelerations":
            dynamics = (
                compile(self.mechanism) if self.problem.formulation == "hamilton" else self.dynamics
            )
            return self.check(
                quantity, found, np.asarray(dynamics.forward_dynamics(self.q, self.qd, self.tau))
            )
        if quantity == "potential_energy":
            right = np.asarray(self.dynamics.potential_energy(self.q))
            return self.check(
                quantity, found + (right[0] - found[0] if self.problem.grouped else 0), right
            )
        if ":" in quantity:
            right = numbers(self.mechanism, self.q, quantity)
            self.sizes[quantity] = 1 + float(np.abs(right).max(initial=0.0))
            return self.check(quantity, found, right)
        if quantity in ("equations_of_motion", "passive_force"):
            passive = passive_force(self.mechanism, self.q, self.qd)
            right = passive if quantity == "passive_force" else self.right["forces"] - passive
            return self.check(quantity, found, right)
        if quantity != "regressor":
            return self.check(quantity, found, self.right[quantity])
        # Columns of base parameters are those of the inertial parameters that stand for themselves
        # in them; newton_euler alone has a regressor.
        parameters = self.problem.parameters
        Y = compile(self.mechanism).regressor(self.q, self.qd, self.qdd)
        columns = [10 * (p.body - 1) + BASE.index(p.name[:2]) for p in parameters]
        self.check(
            quantity,
            found,
            Y[..., columns] * [p.name not in self.problem.nothing for p in parameters],
        )
        theta = np.array([self.values[p.name] for p in parameters])
        rotors = np.array([value_of(x, self.values) for x in self.problem.tree.rotor])
        self.check(
            "regressor times base parameters",
            found @ theta,
            self.right["forces"] - rotors * self.qdd,
        )
