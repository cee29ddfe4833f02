"""Closed forms in quasi-velocities beside compiled functions of the equations with multipliers."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dalembert.closed_forms.derivation.derivation_context import SEED
from dalembert.closed_forms.derivation.quasi_velocity_context import QuasiVelocityContext
from dalembert.closed_forms.quantities.verification import STATES, Verifier, size_of_terms
from dalembert.compiled.dynamics import compile
from dalembert.errors import DalembertError
from dalembert.expr import derivative, evaluate, jacobian

TRIED = 200  # random states, of which some lie where everything is finite


class QuasiVelocityVerifier(Verifier):
    """Verifier of forms in quasi-velocities, which inverts w = W qd + w0 in numbers.

    q, qd, qdd: states that keep the constraints, of random u and u'; resting: qdd where u' = 0.
    """

    def __init__(self, context: QuasiVelocityContext):
        super().__init__()
        self.context, self.frame = context, context.frame
        self.free = compile(self.frame.system.unconstrained())
        self.point = self._states()
        frame = self.frame
        self.q = self._vector(frame.q)
        self.t = self.point["t"]
        self.W = self._evaluated(frame.W)
        self.B = np.linalg.inv(self.W)
        self.basis = self.B[:, :, : len(frame.names)]
        w0 = self._evaluated(frame.w0)
        u = self._vector(frame.u)
        dependent = self._vector(frame.w_dependent)
        kept = np.zeros_like(dependent)
        self.qd = self._solved(_joined(u, kept) - w0)
        self.all_qd = self._solved(_joined(u, dependent) - w0)
        self.drift = self._drift()
        u_dot = self._vector(frame.u_dot)
        self.qdd = self._solved(_joined(u_dot, kept) - self.drift)
        self.resting = self._solved(-self.drift)

    def _states(self) -> dict[str, Any]:
        """Random values of all names at which everything is finite.

        Raises
        ------
        DalembertError
            There are none.
        """
        frame, context = self.frame, self.context
        rng = np.random.default_rng(SEED)
        symbols = (frame.q, frame.u, frame.u_dot, frame.w_dependent)
        names = [*(x.name for vector in symbols for x in vector), "t"]
        drawn = rng.uniform(0.3, 1.7, len(context.parameters)).tolist()
        parameters = dict(zip(context.parameters, drawn, strict=True))
        entries = np.concatenate([np.ravel(x) for x in (frame.W, *context.expressions.values())])
        for lower in (-1.2, 0.1):
            columns = rng.uniform(lower, 1.2, (len(names), TRIED))
            values = evaluate(entries, parameters | dict(zip(names, columns, strict=True)))
            values = np.broadcast_to(values, (TRIED, len(entries)))
            finite = np.flatnonzero(np.isfinite(values).all(axis=1))[:STATES]
            if len(finite) == STATES:
                return parameters | dict(zip(names, columns[:, finite], strict=True))
        raise DalembertError(
            f"equations of {frame.name!r} in {', '.join(frame.names)} are not finite at random "
            "states (of 0.1 to 1.2): nothing can be verified."
        )

    def _vector(self, symbols: np.ndarray) -> np.ndarray:
        """Values of symbols at the states (states, n)."""
        return np.array([self.point[x.name] for x in symbols]).reshape(-1, STATES).T

    def _evaluated(self, expressions: np.ndarray, **more: Any) -> np.ndarray:
        array = np.asarray(expressions, dtype=object)
        found = evaluate(array, {**self.point, **more})
        values = np.asarray(found, dtype=float)
        return np.broadcast_to(values, (STATES, *array.shape))

    def _solved(self, rows: np.ndarray) -> np.ndarray:
        """x of W x = rows, state by state."""
        return _times(self.B, rows)

    def _drift(self) -> np.ndarray:
        """Derivative of W qd + w0 with qd held (states, n)."""
        frame = self.frame
        qd: Any = frame.system.symbols["qd"]
        rows = frame.W @ qd + frame.w0
        drift = np.asarray(jacobian(rows, frame.q)) @ qd + np.asarray(derivative(rows, frame.t))
        return self._evaluated(drift, **{x.name: self.qd[:, k] for k, x in enumerate(qd)})

    @cached_property
    def sizes(self) -> dict[str, float]:
        """Sizes of the terms of the expressions."""
        found = {
            name: size_of_terms(x.flat, self.point) for name, x in self.context.expressions.items()
        }
        return {**found, "accelerations": found["equations_of_motion"]}

    @cached_property
    def right(self) -> dict[str, np.ndarray]:
        """Quantities of the reduced equations, from those in all velocities."""
        M, Q = self._compiled("mass_matrix"), self._compiled("generalized_forces")
        bias = self._compiled("bias_force")
        rest = np.zeros_like(self.qd)
        inertial = bias + self._compiled("lagrangian_gradient", rest)

        def inertia(qdd: np.ndarray) -> np.ndarray:
            """M qdd."""
            return _times(M, qdd)

        def S(qdd: np.ndarray) -> np.ndarray:
            """Appell's function of accelerations."""
            force = inertia(qdd) / 2 + inertial
            return np.einsum("ni,ni->n", qdd, force)

        resting = inertia(self.resting) + bias
        moving = inertia(self.qdd) + bias - Q
        momenta = self._compiled("momenta")
        basis = self.basis
        return {
            "rates": self.qd,
            "mass_matrix": basis.transpose(0, 2, 1) @ M @ basis,
            "bias_force": self._reduced(resting),
            "generalized_forces": self._reduced(Q),
            "equations_of_motion": self._reduced(moving),
            "acceleration_energy": S(self.qdd) - S(self.resting),
            "lagrangian": self._compiled("lagrangian", self.all_qd),
            "momenta": _times(self.B.transpose(0, 2, 1), momenta),
            "hamel_coefficients": self._coefficients(),
            "hamel_drift": self._coefficients_of_time(),
        }

    def _reduced(self, force: np.ndarray) -> np.ndarray:
        """The force on the independent quasi-velocities."""
        return _times(self.basis.transpose(0, 2, 1), force)

    def _coefficients(self) -> np.ndarray:
        """gamma of the derivatives of W, not of B: -dw_l(X_i, X_j)."""
        slopes = self._evaluated(np.asarray(jacobian(self.frame.W, self.frame.q)))  # [l, k, s]
        curl = slopes - slopes.transpose(0, 1, 3, 2)
        return -np.einsum("nlks,nsi,nkj->nlij", curl, self.basis, self.basis)

    def _coefficients_of_time(self) -> np.ndarray:
        """gamma[l, 0, j] of the derivatives of W and w0."""
        frame = self.frame
        slopes = self._evaluated(np.asarray(jacobian(frame.W, frame.q)))
        curl = slopes - slopes.transpose(0, 1, 3, 2)
        b = -self._solved(self._evaluated(frame.w0))
        by_time = self._evaluated(np.asarray(derivative(frame.W, frame.t)))
        by_q = self._evaluated(np.asarray(jacobian(frame.w0, frame.q)))
        found = -np.einsum("nlks,ns,nkj->nlj", curl, b, self.basis)
        return found - np.einsum("nlk,nkj->nlj", by_time - by_q, self.basis)

    def compare(self, quantity: str, expressions: np.ndarray) -> None:
        """Compare the expressions of a quantity; accelerations with those that multipliers give."""
        if quantity != "accelerations":
            super().compare(quantity, expressions)
            return
        basis = self.basis
        gram = basis.transpose(0, 2, 1) @ basis
        weights = np.linalg.solve(gram, self.tau[..., None])[..., 0]
        tau = _times(basis, weights)  # forces on the coordinates that are self.tau on u
        dynamics = compile(self.frame.system)
        inputs = self._inputs(self.qd, dynamics)
        qdd = dynamics.forward_dynamics(**inputs, tau=tau)
        rates = _times(self.W, qdd) + self.drift
        independent = rates[:, : basis.shape[2]]
        self.check(quantity, self.evaluated(expressions), independent)

    def _compiled(self, name: str, qd: np.ndarray | None = None) -> np.ndarray:
        """A compiled quantity of the system without constraints."""
        inputs = self._inputs(self.qd if qd is None else qd, self.free)
        return np.asarray(getattr(self.free, name)(**inputs))

    def _inputs(self, qd: np.ndarray, dynamics: Any) -> dict[str, Any]:
        inputs: dict[str, Any] = {"q": self.q, "qd": qd, "t": self.t}
        if names := dynamics.system.parameters:
            inputs["parameters"] = np.array([self.point[name] for name in names])
        return inputs


def _times(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Products of matrices and vectors, state by state."""
    return np.einsum("nij,nj->ni", matrices, vectors)


def _joined(independent: np.ndarray, dependent: np.ndarray) -> np.ndarray:
    """All quasi-velocities (states, n)."""
    return np.concatenate([independent, dependent], axis=1)
