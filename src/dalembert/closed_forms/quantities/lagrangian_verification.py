"""Closed forms of a Lagrangian beside its compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, cast

import numpy as np

from dalembert.closed_forms.derivation.constraint_expressions import Moment
from dalembert.closed_forms.derivation.derivation_context import SEED
from dalembert.closed_forms.derivation.lagrangian_context import DIRECT, LagrangianContext
from dalembert.closed_forms.quantities.rows_at_states import RowsAtStates
from dalembert.closed_forms.quantities.verification import STATES, Verifier, size_of_terms
from dalembert.compiled.dynamics import compile
from dalembert.compiled.systems import SystemDynamics
from dalembert.errors import DalembertError
from dalembert.expr import evaluate, substitute
from dalembert.formulations.lagrange.symbolic_system import LagrangianSystem
from dalembert.systems.kinds import system_of

STEP = 0.01  # of differences of order six: to some 1e-13
WEIGHTS = ((1, 45 / 60), (2, -9 / 60), (3, 1 / 60))  # of such a difference, by multiple of the step
TRIED = 200  # random states, of which some lie where L is defined
SIZED = ("lagrangian", "mass_matrix", "momenta", "bias_force", "generalized_forces", "linear_terms")
ENERGIES = ("kinetic_energy", "potential_energy", "energy")


class LagrangianVerifier(Verifier):
    """Verifier of a Lagrangian's forms; parameters have random values.

    rows: of constraints, if there are any.
    """

    rows: RowsAtStates | None = None

    def __init__(self, p: LagrangianContext):
        super().__init__()
        self.system = p.system
        self.dynamics = compile(p.system)
        self.is_quadratic = p.is_quadratic
        self.expressions = p.expressions
        self.context = p
        columns = self._states(p)
        n = p.system.nq
        self.q = columns[:n].T
        self.qd = columns[n : 2 * n].T
        self.qdd = columns[2 * n : 3 * n].T
        self.t = columns[-1]

    def _states(self, p: LagrangianContext) -> np.ndarray:
        """Random q, qd, qdd and t at which everything is finite, (3 nq + 1, states); with random
        parameters they make `point`.

        Raises
        ------
        DalembertError
            There are none.
        """
        rng = np.random.default_rng(SEED)
        names = [*chain.from_iterable(p.names), "t"]
        drawn = rng.uniform(0.3, 1.7, len(p.parameters)).tolist()
        parameters = dict(zip(p.parameters, drawn, strict=True))
        if p.rows is not None:
            parameters |= dict.fromkeys(p.rows.meanings, 1.0)  # until forces are known
        entries = np.concatenate([array.ravel() for array in p.expressions.values()])
        for lower in (-1.5, 0.1):  # roots and logarithms may need positive numbers
            columns = rng.uniform(lower, 1.5, (len(names), TRIED))
            results = evaluate(entries, parameters | dict(zip(names, columns, strict=True)))
            results = np.broadcast_to(results, (TRIED, len(entries)))
            finite = np.flatnonzero(np.isfinite(results).all(axis=1))[:STATES]
            if len(finite) == STATES:
                columns = columns[:, finite]
                self.point = parameters | dict(zip(names, columns, strict=True))
                return columns
        raise DalembertError(
            f"the Lagrangian of {p.system.name!r} or its derivatives are not finite at random "
            "states (coordinates, velocities and parameters of 0.1 to 1.7): nothing can be "
            "verified."
        )

    @cached_property
    def sizes(self) -> dict[str, float]:
        """Sizes of the terms of the system's expressions; parts of the bias and of L are
        differences of these.
        """
        whole = {
            name: size_of_terms(self.expressions[name].flat, self.point)
            for name in SIZED
            if name in self.expressions
        }
        sizes = {}
        for name in (*self.expressions, "accelerations", "multipliers"):
            sum_of_terms = "lagrangian" if name in ENERGIES else "bias_force"
            sizes[name] = whole.get(name) or whole[sum_of_terms]
        return sizes

    def add_forces(self, names: Sequence[str]) -> None:
        """Give forces and multipliers random values."""
        super().add_forces(names)
        if self.context.rows is not None:
            parameters = {name: self.point[name] for name in self.system.parameters}
            system = system_of(self.system.replace(parameters))
            moments = [*map(Moment, self.q, self.qd, self.qdd, self.t)]
            self.rows = RowsAtStates(self.context.rows, system, moments)
            self.point |= self.rows.point

    def compare(self, quantity: str, expressions: np.ndarray) -> None:
        """Compare the expressions of a quantity with compiled functions; accelerations with those
        of compiled mass matrix and forces.
        """
        if quantity not in ("accelerations", "multipliers"):
            super().compare(quantity, expressions)
            return
        if quantity == "multipliers" and self.rows is not None:
            multipliers = self._compiled(quantity, self.qd, tau=self.tau)
            self.check(quantity, self.evaluated(expressions), multipliers)
            return
        right = self.right
        force = self.tau + right["generalized_forces"] - right["bias_force"]
        if self.rows is not None:
            force = force + right["constraint_forces"]
        accelerations = np.linalg.solve(right["mass_matrix"], force[..., None])[..., 0]
        self.check(quantity, self.evaluated(expressions), accelerations)

    @cached_property
    def right(self) -> dict[str, np.ndarray]:
        """Quantities by compiled code."""
        right = {name: self._compiled(name, self.qd) for name in DIRECT}
        inertial = np.einsum("nij,nj->ni", right["mass_matrix"], self.qdd)
        force = inertial + right["bias_force"] - right["generalized_forces"]
        if self.rows is not None:
            right |= self.rows.right
            force = force - right["constraint_forces"]
        right["equations_of_motion"] = force
        if self.is_quadratic:
            right |= self._terms(right["lagrangian"])
        return right

    def _terms(self, lagrangian: np.ndarray) -> dict[str, np.ndarray]:
        """Terms of the equations: the bias is a polynomial of degree 2 in v, and gives its parts at
        +-v, at unit velocities and at rest; L and the momenta likewise.
        """
        v = self.qd
        zero = np.zeros_like(v)
        bias_at_rest = self._bias(zero)
        b = self._compiled("momenta", zero)
        L0 = self._compiled("lagrangian", zero)
        g = self._potential_forces()

        def quadratic(v: np.ndarray) -> np.ndarray:
            """Terms h(v) of the bias that are quadratic in v."""
            return (self._bias(v) + self._bias(-v)) / 2 - bias_at_rest

        units = [np.broadcast_to(e, v.shape) for e in np.eye(v.shape[1])]
        c = self._christoffel(quadratic, units)
        linear = np.array([(self._bias(e) - self._bias(-e)) / 2 for e in units])
        A = linear.transpose(1, 2, 0)  # N + dM/dt: antisymmetric and symmetric
        dM_dt = (A + A.transpose(0, 2, 1)) / 2
        return {
            "christoffel": c,
            "coriolis_matrix": np.einsum("nijk,ni->nkj", c, v),
            "coriolis_vector": quadratic(v),
            "linear_terms": b,
            "gyroscopic_matrix": (A - A.transpose(0, 2, 1)) / 2,
            "gravity_vector": g,
            "potential_energy": -L0,
            "kinetic_energy": lagrangian - np.einsum("ni,ni->n", b, v) - L0,
            "time_terms": np.einsum("nij,nj->ni", dM_dt, v) + bias_at_rest - g,
        }

    @staticmethod
    def _christoffel(
        quadratic: Callable[[np.ndarray], np.ndarray], units: Sequence[np.ndarray]
    ) -> np.ndarray:
        """Christoffel symbols c_ijk of h_k = c_ijk v_i v_j: half of h(e_i + e_j) - h(e_i) - h(e_j)."""
        n = len(units)
        c = np.empty((len(units[0]), n, n, n))
        squares = [quadratic(e) for e in units]
        for i, j in np.ndindex(n, n):
            mixed = quadratic(units[i] + units[j]) - squares[i] - squares[j]
            c[:, i, j] = mixed / 2
        return c

    def _potential_forces(self) -> np.ndarray:
        """The bias of L at rest, as a Lagrangian of its own."""
        system = self.system
        zeros = np.zeros(system.nq, dtype=object)
        q, qd, t = (cast(Any, system.symbols[key]) for key in ("q", "qd", "t"))
        potential = substitute(system.quantities["lagrangian"].expressions, {x: 0 for x in qd})
        resting = LagrangianSystem("potential", system.coordinate_names, potential, zeros, q, qd, t)
        return self._compiled("bias_force", np.zeros_like(self.q), dynamics=compile(resting))

    def linearized(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Mass matrix, A, B and joint forces of the linear model at rest: differences of order six
        of compiled forces.
        """
        zero = np.zeros_like(q)

        def force(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
            """Bias less the generalized forces."""
            return self._bias(qd, q) - self._compiled("generalized_forces", qd, q)

        def slopes(displaced: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
            """Derivatives of a force by displacements along each entry."""
            columns = []
            for step in np.eye(q.shape[1]) * STEP:
                forward = sum(weight * displaced(k * step) for k, weight in WEIGHTS)
                backward = sum(weight * displaced(-k * step) for k, weight in WEIGHTS)
                columns.append((forward - backward) / STEP)
            return np.stack(columns, axis=-1)

        K = slopes(lambda step: force(q + step, zero))
        D = slopes(lambda step: force(q, zero + step))
        M = self._compiled("mass_matrix", zero, q)
        nothing = np.zeros_like(K)
        rates = [nothing, np.broadcast_to(np.eye(q.shape[1]), K.shape)]
        accelerations = [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]
        A = np.block([rates, accelerations])
        B = np.concatenate([nothing, np.linalg.inv(M)], axis=1)
        return M, A, B, force(q, zero)

    def _bias(self, qd: np.ndarray, q: np.ndarray | None = None) -> np.ndarray:
        return self._compiled("bias_force", qd, q)

    def _compiled(
        self,
        name: str,
        qd: np.ndarray,
        q: np.ndarray | None = None,
        dynamics: SystemDynamics | None = None,
        **more: np.ndarray,
    ) -> np.ndarray:
        """A compiled quantity at the states, with other velocities, or coordinates."""
        dynamics = dynamics or self.dynamics
        q = self.q if q is None else q
        inputs: dict[str, Any] = {"q": q, "qd": qd, "t": self.t, **more}
        if names := dynamics.system.parameters:
            inputs["parameters"] = np.array([self.point[name] for name in names])
        return np.asarray(getattr(dynamics, name)(**inputs))
