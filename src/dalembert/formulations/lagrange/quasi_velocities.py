"""Equations in quasi-velocities, without multipliers: Maggi's, Appell's, and those of Boltzmann and
Hamel.

    w = W(q, t) qd + w0(q, t),    qd = B(q, t) w + b(q, t)

The first m of the n quasi-velocities w are independent, u; the others are the rows of constraints,
which are 0. Source: Neimark, Fufaev, Dynamics of nonholonomic systems (1972), chapters II, III.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dalembert.expr import (
    constant,
    derivative,
    gradient,
    jacobian,
    pack,
    substitute,
    symbol,
    unpack,
)
from dalembert.formulations.lagrange.symbolic_system import LagrangianSystem

HALF = Fraction(1, 2)


class ReducedEquations(NamedTuple):
    """M u' + bias = Q + B^T tau in m independent quasi-velocities: expressions (m, m), (m,), (m,)."""

    mass_matrix: np.ndarray
    bias_force: np.ndarray
    generalized_forces: np.ndarray

    def rows(self, rates: np.ndarray) -> np.ndarray:
        """M u' + bias - Q (m,)."""
        return self.mass_matrix @ rates + self.bias_force - self.generalized_forces


@dataclass(frozen=True)
class QuasiVelocities:
    """Quasi-velocities of a Lagrangian system with constraints, as expressions of its symbols.

    Attributes
    ----------
    system : the Lagrangian system, whose symbols q, qd, t the expressions hold
    names, rate_names : of the independent quasi-velocities u (m,), and of their rates
    dependent : names of the others (n - m,), the rows of constraints
    W, w0 : w = W qd + w0, (n, n), (n,)
    B, b : qd = B w + b, (n, n), (n,)
    """

    system: LagrangianSystem
    names: tuple[str, ...]
    rate_names: tuple[str, ...]
    dependent: tuple[str, ...]
    W: np.ndarray
    w0: np.ndarray
    B: np.ndarray
    b: np.ndarray

    @property
    def name(self) -> str:
        """Name of the system."""
        return self.system.name

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return self.system.coordinate_names

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the independent quasi-velocities."""
        return self.names

    @cached_property
    def q(self) -> np.ndarray:
        """Symbols of the coordinates (n,)."""
        return self.system.symbols["q"]  # type: ignore[return-value]

    @cached_property
    def t(self) -> Any:
        """Symbol of the time."""
        return self.system.symbols["t"]

    @cached_property
    def u(self) -> np.ndarray:
        """Symbols of the independent quasi-velocities (m,)."""
        return self._symbols(self.names)

    @cached_property
    def u_dot(self) -> np.ndarray:
        """Symbols of their rates (m,)."""
        return self._symbols(self.rate_names)

    @cached_property
    def w_dependent(self) -> np.ndarray:
        """Symbols of the quasi-velocities that constraints keep at 0 (n - m,)."""
        return self._symbols(self.dependent)

    def _symbols(self, names: Sequence[str]) -> np.ndarray:
        return np.array([symbol(name, self.t.graph) for name in names], dtype=object)

    @property
    def columns(self) -> np.ndarray:
        """Columns of B that belong to u: a basis (n, m) of the velocities that constraints allow."""
        return self.B[:, : len(self.names)]

    # --- motion ---

    @cached_property
    def velocities(self) -> np.ndarray:
        """qd = B u + b (n,), which meets the constraints."""
        return self.columns @ self.u + self.b

    @cached_property
    def convective(self) -> np.ndarray:
        """qdd but for B u' (n,): the derivative of B u + b with u held."""
        return self._along(self.velocities)

    @cached_property
    def accelerations(self) -> np.ndarray:
        """qdd = B u' + ... (n,)."""
        return self.columns @ self.u_dot + self.convective

    def _along(self, x: np.ndarray) -> np.ndarray:
        """Derivative of a vector along the motion, with u held."""
        return np.asarray(jacobian(x, self.q)) @ self.velocities + self._by_time(x)

    def _by_time(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(derivative(x, self.t))

    def moving(self, quantity: Any) -> np.ndarray:
        """A quantity of q, qd, t at the velocities that constraints allow."""
        qd: Any = self.system.symbols["qd"]
        at = dict(zip(qd, self.velocities, strict=True))
        return np.asarray(substitute(np.asarray(quantity, dtype=object), at), dtype=object)

    def _quantity(self, name: str) -> np.ndarray:
        """A quantity of the system at the velocities that constraints allow."""
        return self.moving(self.system.quantities[name].expressions)

    # --- Maggi ---

    @cached_property
    def maggi(self) -> ReducedEquations:
        """Maggi's equations: Lagrange's, multiplied by the transpose of B.

        B^T (M (B u' + ...) + bias - Q) = B^T tau
        """
        B = self.columns
        M = self._quantity("mass_matrix")
        force = M @ self.convective + self._quantity("bias_force")
        return ReducedEquations(
            B.T @ M @ B, B.T @ force, B.T @ self._quantity("generalized_forces")
        )

    # --- Appell ---

    @cached_property
    def potential_gradient(self) -> np.ndarray:
        """dPi/dq (n,), Pi = -L at qd = 0."""
        return -gradient(self._resting_lagrangian, self.q)

    @property
    def _resting_lagrangian(self) -> Any:
        """L at qd = 0."""
        qd: Any = self.system.symbols["qd"]
        L = self.system.quantities["lagrangian"].expressions
        return substitute(L, dict.fromkeys(qd, 0))

    @cached_property
    def acceleration_energy(self) -> Any:
        """Appell's function S(q, u, u', t), but for terms without u'.

        S = 1/2 qdd^T M qdd + qdd^T (bias - dPi/dq)
        """
        M = self._quantity("mass_matrix")
        inertial = self._quantity("bias_force") - self.potential_gradient

        def S(a: np.ndarray) -> Any:
            """S of accelerations qdd."""
            return a @ (M @ a) * HALF + a @ inertial

        return S(self.accelerations) - S(self.convective)

    @cached_property
    def appell(self) -> ReducedEquations:
        """Appell's equations: dS/du' = B^T (Q - dPi/dq + tau)."""
        rows = gradient(self.acceleration_energy, self.u_dot)
        at_rest = dict.fromkeys(self.u_dot, 0)
        B = self.columns
        force = self._quantity("generalized_forces")
        return ReducedEquations(
            np.asarray(jacobian(rows, self.u_dot)),
            np.asarray(substitute(rows, at_rest)) + B.T @ self.potential_gradient,
            B.T @ force,
        )

    # --- Boltzmann, Hamel ---

    @cached_property
    def lagrangian(self) -> Any:
        """L*(q, w, t): the Lagrangian in all quasi-velocities, before constraints make some 0."""
        w = np.concatenate([self.u, self.w_dependent])
        qd: Any = self.system.symbols["qd"]
        at = dict(zip(qd, self.B @ w + self.b, strict=True))
        return substitute(self.system.quantities["lagrangian"].expressions, at)

    def _kept(self, x: Any) -> Any:
        """An expression where constraints hold."""
        return substitute(x, dict.fromkeys(self.w_dependent, 0))

    @cached_property
    def momenta(self) -> np.ndarray:
        """p_l = dL*/dw_l of all quasi-velocities (n,), where constraints hold."""
        w = np.concatenate([self.u, self.w_dependent])
        return np.asarray(self._kept(gradient(self.lagrangian, w)))

    @cached_property
    def hamel_coefficients(self) -> np.ndarray:
        """gamma[l, i, j] of [X_i, X_j] = sum_l gamma[l, i, j] X_l, X_i the columns of B (n, m, m)."""
        m = len(self.names)
        X = self.columns
        slopes = np.asarray(jacobian(X, self.q))  # [k, j, s]
        along = np.einsum("si,kjs->ijk", X, slopes)  # derivative of X_j along X_i
        brackets = along - along.transpose(1, 0, 2)
        return np.asarray(np.einsum("lk,ijk->lij", self.W, brackets)).reshape(-1, m, m)

    @cached_property
    def hamel_drift(self) -> np.ndarray:
        """gamma[l, 0, j] of [X_0, X_j], X_0 = b d/dq + d/dt (n, m): 0 where b is and t is not in B."""
        X = self.columns
        slopes = np.asarray(jacobian(X, self.q))
        along = np.einsum("s,kjs->kj", self.b, slopes) + self._by_time(X)
        return self.W @ (along - np.asarray(jacobian(self.b, self.q)) @ X)

    @cached_property
    def boltzmann_hamel(self) -> ReducedEquations:
        """Equations of Boltzmann and Hamel, for j = 1 ... m:

        d/dt dL*/du_j - X_j L* - sum_l p_l (sum_i gamma[l, i, j] u_i + gamma[l, 0, j]) = Q*_j
        """
        m = len(self.names)
        p = self.momenta
        own = p[:m]
        gyroscopic = np.einsum("l,lij,i->j", p, self.hamel_coefficients, self.u)
        gyroscopic = gyroscopic + p @ self.hamel_drift
        along = np.asarray(gradient(self._kept(self.lagrangian), self.q)) @ self.columns
        bias = self._along(own) - along - gyroscopic
        Q = self.columns.T @ self._quantity("generalized_forces")
        return ReducedEquations(np.asarray(jacobian(own, self.u)), bias, Q)

    # --- files ---

    def __reduce__(self):
        arrays = (self.W, self.w0, self.B, self.b)
        graph = self.t.graph
        nodes = [constant(x, graph) for array in arrays for x in array.flat]
        names = (self.names, self.rate_names, self.dependent)
        return _rebuilt_frame, (self.system, names, pack(nodes))


def _rebuilt_frame(
    system: LagrangianSystem, names: tuple[tuple[str, ...], ...], packed: Any
) -> QuasiVelocities:
    """Quasi-velocities that pickle kept, in the graph of their system."""
    n = system.nq
    own, rates, dependent = names
    t: Any = system.symbols["t"]
    nodes = np.array(unpack(packed, t.graph), dtype=object)
    W, w0, B, b = np.split(nodes, np.cumsum([n * n, n, n * n]))
    return QuasiVelocities(
        system,
        own,
        rates,
        dependent,
        W.reshape(n, n),
        w0,
        B.reshape(n, n),
        b,
    )
