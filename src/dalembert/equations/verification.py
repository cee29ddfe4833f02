"""Every entry that is printed is first compared with the compiled function at random states."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.compiled.dynamics import Dynamics, compile
from dalembert.equations.grouping import BASE
from dalembert.equations.problem import SEED, Problem, value_of, with_values
from dalembert.errors import DalembertError
from dalembert.expr import evaluate

STATES = 5
TOLERANCE = 1e-10      # of the largest entry; closed forms of arms of 10 joints are exact to some 1e-14


class VerificationError(DalembertError):
    """A closed form and the compiled function disagree: a fault of this package. `quantity`, `entry`, `difference`."""

    def __init__(self, message: str, quantity: str = "", entry: tuple[int, ...] = (), difference: float = 0.0):
        super().__init__(message)
        self.quantity, self.entry, self.difference = quantity, entry, difference


class Verifier(ABC):
    """Compares forms with compiled functions at random states.

    point: values of all names at the states; largest: the relative difference found, by quantity.
    """

    point: Mapping[str, Any]

    def __init__(self) -> None:
        self.largest: dict[str, float] = {}

    @property
    @abstractmethod
    def right(self) -> Mapping[str, np.ndarray]:
        """Quantities by compiled code at the states, (states, ...)."""

    def evaluated(self, expressions: np.ndarray) -> np.ndarray:
        """Values of expressions at the states, (states, ...)."""
        return np.broadcast_to(evaluate(expressions, self.point), (STATES, *expressions.shape))

    def compare(self, quantity: str, expressions: np.ndarray) -> None:
        """Compare the expressions of a quantity with the compiled function; raises as `check`."""
        self.check(quantity, self.evaluated(expressions), self.right[quantity])

    def check(self, quantity: str, found: np.ndarray, right: np.ndarray, scale: float = 1e-30) -> None:
        """Raise VerificationError unless what closed forms give is what the functions give, relative to the largest entry
        (or to `scale`, if that is larger)."""
        scale = max(float(np.abs(right).max(initial=0.0)), scale)
        gap = np.abs(found - right)
        self.largest[quantity] = float(gap.max(initial=0.0)) / scale
        if not self.largest[quantity] <= TOLERANCE:
            entry = tuple(map(int, np.unravel_index(int(np.argmax(gap)), gap.shape)))[1:]
            raise VerificationError(f"{quantity}{list(entry)}: closed form and compiled function differ by {gap.max():.3g}; "
                                    "this is a fault of dalembert, please report it.", quantity, entry, float(gap.max()))


class MechanismVerifier(Verifier):
    """Verifier of a mechanism's forms; its own symbols have random values."""

    def __init__(self, problem: Problem):
        super().__init__()
        self.problem, self.values = problem, dict(problem.numbers)
        self.mechanism = with_values(problem.mechanism, problem.own) if problem.own else problem.mechanism
        states = [self.mechanism.random_state(seed) for seed in range(SEED, SEED + STATES)]
        self.q, self.qd = (np.array(x) for x in zip(*states, strict=True))
        self.qdd = np.random.default_rng(SEED).standard_normal(self.qd.shape)
        self.point: dict[str, Any] = dict(self.values)
        for names, array in zip(problem.names, (self.q, self.qd, self.qdd), strict=True):
            self.point |= {name: array[:, k] for k, name in enumerate(names)}

    @cached_property
    def right(self) -> dict[str, np.ndarray]:
        """Quantities at the states; Christoffel symbols by unit velocities, C(q, e_i)[k, j] = c_ijk."""
        n, q, qd = self.mechanism.nv, self.q, self.qd
        states = np.concatenate([q, np.repeat(q, n, axis=0)])
        rates = np.concatenate([qd, np.tile(np.eye(n), (STATES, 1))])
        M, C, g = self.dynamics.function(["mass_matrix", "coriolis_matrix", "gravity_vector"])(states, rates)
        c = C[STATES:].reshape(STATES, n, n, n).transpose(0, 1, 3, 2)      # [state, i, k, j] -> [state, i, j, k]
        C, g = C[:STATES], g[:STATES]
        M = compile(self.mechanism, self.problem.formulation).mass_matrix(q) if self.problem.formulation == "hamilton" else (
            M[:STATES])
        h = np.einsum("nkj,nj->nk", C, qd)
        return {"mass_matrix": M, "coriolis_matrix": C, "gravity_vector": g, "christoffel": c, "coriolis_vector": h,
                "kinetic_energy": np.einsum("nij,ni,nj->n", M, qd, qd) / 2,
                "forces": np.einsum("nij,nj->ni", M, self.qdd) + h + g}

    @cached_property
    def dynamics(self) -> Dynamics:
        """The compiled functions of the formulation; for hamilton, which has not all of them, those of newton_euler."""
        other = self.problem.formulation == "hamilton"
        return compile(self.mechanism, "newton_euler" if other else self.problem.formulation)

    def compare(self, quantity: str, expressions: np.ndarray) -> None:
        """The same; potential energy of grouped parameters up to a constant, the regressor column by column, too."""
        found = self.evaluated(expressions)
        if quantity == "potential_energy":
            right = np.asarray(self.dynamics.potential_energy(self.q))
            return self.check(quantity, found + (right[0] - found[0] if self.problem.grouped else 0), right)
        if quantity != "regressor":
            return self.check(quantity, found, self.right[quantity])
        # Columns of base parameters are those of the inertial parameters that stand for themselves in them; newton_euler
        # alone has a regressor.
        parameters = self.problem.parameters
        Y = compile(self.mechanism).regressor(self.q, self.qd, self.qdd)
        columns = [10 * (p.body - 1) + BASE.index(p.name[:2]) for p in parameters]
        self.check(quantity, found, Y[..., columns] * [p.name not in self.problem.nothing for p in parameters])
        theta = np.array([self.values[p.name] for p in parameters])
        rotors = np.array([value_of(x, self.values) for x in self.problem.tree.rotor])
        self.check("regressor times base parameters", found @ theta, self.right["forces"] - rotors * self.qdd)
