"""Linear equations in quasi-velocities about a steady motion, in closed form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.closed_forms.algebra.ring import Poly, TooLarge
from dalembert.closed_forms.algebra.sums import object_array
from dalembert.closed_forms.printing.sheets import Sheet
from dalembert.closed_forms.quantities.changes import Substitution, substituted
from dalembert.closed_forms.quantities.lagrangian_verification import STEP, WEIGHTS
from dalembert.closed_forms.quantities.verification import STATES, TOLERANCE, Verifier
from dalembert.closed_forms.quantities.verified_forms import ClosedForms
from dalembert.errors import DalembertError, ShapeError
from dalembert.expr import (
    Expr,
    derivative,
    evaluate,
    free_symbols,
    jacobian,
    substitute,
    topological,
)

# Quantity: title, and the letter of its entries.
QUANTITIES: dict[str, tuple[str, str]] = {
    "equilibrium_forces": ("Forces of the steady motion", r"\tau"),
    "mass_matrix": ("Mass matrix", "M"),
    "damping_matrix": ("Damping and gyroscopic matrix", "D"),
    "stiffness_matrix": ("Stiffness matrix", "K"),
    "velocity_basis": ("Rates of the coordinates by quasi-velocities", "B"),
    "drift_matrix": ("Rates of the coordinates by coordinates", "N"),
}
SHOWN = ("mass_matrix", "damping_matrix", "stiffness_matrix")
ROUNDING = 1e-12  # of the largest coefficient: what is left of long decimals that cancel
DECIMALS = 10**12  # denominator of a long decimal
HOLD = "hold"


class SteadyEquations(ClosedForms):
    """Linear equations of motion about a steady motion q0, u0 with the forces tau0, in closed form.

        M du' + D du + K dq = dtau,    dq' = B du + N dq

    K is (m, n), with a column for each coordinate. `entries(name)` gives the expressions of
    "mass_matrix", "damping_matrix", "stiffness_matrix", "velocity_basis", "drift_matrix" and
    "equilibrium_forces"; each is compared with differences of the equations that it comes from.
    Where numbers are long decimals, coefficients of 1e-12 of the largest are rounding, and left out.
    """

    titles = {name: title for name, (title, _) in QUANTITIES.items()}
    letters = {name: letter for name, (_, letter) in QUANTITIES.items()}
    law = (("M", "", "u_dot"), ("D", "", "u"), ("K", "", "q")), ("tau",)
    programmed = SHOWN
    of_velocities = ", a quasi-velocity"

    def __init__(self, eom: Any, q: Any, u: Any, tau: Any):
        self.eom = eom
        self._given = (q, u, tau)
        with eom.graph:
            values = _named(eom.coordinates, q, "q") | _named(eom.velocities, u, "u")
            place = substituted(eom, values).change
            assert isinstance(place, Substitution)
            self.place = place
            self._at_place = self._derived()
            super().__init__(eom.model, eom._context, eom.digits, eom.progress)
            self._check_steady(tau)

    def _verifier(self) -> SteadyVerifier:
        return SteadyVerifier(self)

    def _derived(self) -> dict[str, np.ndarray]:
        """Matrices and forces at the steady motion, as expressions."""
        frame = self.eom.model
        rows = self.eom._context.expressions["equations_of_motion"]
        q, u, u_dot = frame.q, frame.u, frame.u_dot
        found = {
            "equilibrium_forces": rows,
            "mass_matrix": jacobian(rows, u_dot),
            "damping_matrix": jacobian(rows, u),
            "stiffness_matrix": jacobian(rows, q),
            "velocity_basis": frame.columns,
            "drift_matrix": jacobian(frame.velocities, q),
        }
        at_rest = dict.fromkeys(u_dot, 0)
        return {
            name: _with_numbers(self.place.of(self.eom, np.asarray(substitute(x, at_rest), object)))
            for name, x in found.items()
        }

    def _check_steady(self, tau: Any) -> None:
        """Raise a DalembertError unless the forces are those of the steady motion."""
        if isinstance(tau, str) and tau == HOLD:
            return
        m = len(self.velocities)
        given = np.zeros(m) if tau is None else np.array(list(tau), dtype=object)
        if len(given) != m:
            raise ShapeError(f"tau has {len(given)} values, expected {m}.")
        verifier: Any = self.verifier
        forces = verifier.right["equilibrium_forces"]
        gaps = np.abs(forces - verifier.evaluated(np.asarray(given, dtype=object)))
        if (gaps > TOLERANCE * (1 + verifier.sizes["stiffness_matrix"])).any():
            k = int(np.argmax(gaps.max(axis=0)))
            raise DalembertError(
                f"{self.name!r} does not move steadily there: the force on {self.velocities[k]!r} "
                f"has to be {forces[0, k]:.6g} (at a random state), not {given[k]}. Give tau= these "
                f"forces, or tau={HOLD!r} for the forces that hold it."
            )

    @property
    def _origin(self) -> tuple[Any, ...]:
        return SteadyEquations, (self.eom, *self._given)

    @property
    def shown(self) -> tuple[str, ...]:
        """Matrices that are not zero."""
        return tuple(
            name for name in SHOWN if any(form.terms for form in self.sheet(name).forms.flat)
        )

    def _owner(self, quantity: str) -> ClosedForms:
        return self

    def _made(self, quantity: str) -> Sheet:
        entries = self._at_place[quantity]
        normal = self._context.normal_in(self._context.in_order)
        try:
            polynomials = _without_rounding([normal.scalar(x) for x in entries.flat])
            forms = object_array(normal.forms(polynomials), entries.shape)
        except TooLarge as error:
            return self.factored(quantity, entries, str(error).rstrip("."))
        return self.in_full(quantity, forms)


def _named(names: Sequence[str], given: Any, what: str) -> dict[str, Any]:
    """Values by name; a sequence has them in order."""
    if isinstance(given, Mapping):
        return dict(given)
    values = () if given is None else list(given)
    if len(values) not in (0, len(names)):
        raise ShapeError(
            f"{what} has {len(values)} values, expected {len(names)}: {', '.join(names)}."
        )
    return dict(zip(names, values, strict=False))


def _with_numbers(expressions: np.ndarray) -> np.ndarray:
    """Expressions with all that holds no symbols as numbers."""
    nodes = topological([x for x in expressions.flat if isinstance(x, Expr)])
    known = {
        node: float(evaluate(node))
        for node in nodes
        if node.op in ("cos", "sin", "sqrt", "div") and not free_symbols(node)
    }
    return np.asarray(substitute(expressions, known), dtype=object)


def _without_rounding(polynomials: Sequence[Any]) -> list[Any]:
    """Polynomials without coefficients that are rounding of long decimals."""
    coefficients = [
        abs(c) for p in polynomials for c in (p.terms.values() if isinstance(p, Poly) else [p])
    ]
    least = ROUNDING * float(max(coefficients, default=0))

    def is_kept(c: Any) -> bool:
        """Whether a coefficient is no rounding."""
        return abs(c) > least or Fraction(c).denominator < DECIMALS

    found: list[Any] = []
    for p in polynomials:
        if isinstance(p, Poly):
            terms = {m: c for m, c in p.terms.items() if is_kept(c)}
            found.append(Poly(p.ring, terms) if terms else 0)
        else:
            found.append(p if is_kept(p) else 0)
    return found


class SteadyVerifier(Verifier):
    """Compares linear equations with differences of order six of the equations in all velocities,
    whose quasi-velocities are solved for in numbers.
    """

    def __init__(self, steady: SteadyEquations):
        super().__init__()
        eom = steady.eom
        self.frame = eom.model
        self.point = dict(eom.verifier.point)
        for name, x in steady.place.given:
            value = evaluate(x, eom.verifier.point) if isinstance(x, Expr) else float(x)
            self.point[name] = np.broadcast_to(np.asarray(value, dtype=float), (STATES,))
        self.q, self.u = (
            np.array([self.point[x.name] for x in symbols]).T
            for symbols in (self.frame.q, self.frame.u)
        )

    @cached_property
    def right(self) -> dict[str, np.ndarray]:
        """Matrices of numbers."""
        n, m = self.q.shape[1], self.u.shape[1]
        rest = np.zeros_like(self.u)
        here = np.concatenate([self.q, self.u, rest], axis=1)
        steps = [(k * sign, weight * sign) for k, weight in WEIGHTS for sign in (1, -1)]
        displaced = [here + k * STEP * e for e in np.eye(n + 2 * m) for k, _ in steps]
        found = self._reduced(np.array([here, *displaced]))
        weights = np.array([weight for _, weight in steps]) / STEP
        slopes = [
            np.einsum("ekni,k->nie", x[1:].reshape(n + 2 * m, len(steps), STATES, -1), weights)
            for x in found
        ]
        by_q, by_u, by_rate = slice(0, n), slice(n, n + m), slice(n + m, None)
        forces, rates = slopes
        return {
            "equilibrium_forces": found[0][0],
            "mass_matrix": forces[..., by_rate],
            "damping_matrix": forces[..., by_u],
            "stiffness_matrix": forces[..., by_q],
            "velocity_basis": rates[..., by_u],
            "drift_matrix": rates[..., by_q],
        }

    @cached_property
    def sizes(self) -> dict[str, float]:
        """Sizes of the matrices, and of the forces whose differences they are."""
        force = float(np.abs(self.right["equilibrium_forces"]).max(initial=0.0))
        K = float(np.abs(self.right["stiffness_matrix"]).max(initial=0.0))
        return dict.fromkeys(QUANTITIES, max(force, K, 1.0))

    def _reduced(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Forces M u' + h - Q and rates of the coordinates at states (count, states, n + 2 m) of
        (q, u, u').
        """
        frame = self.frame
        n, m = self.q.shape[1], self.u.shape[1]
        q, u, u_dot = np.split(states, [n, n + m], axis=-1)
        shape = states.shape[:2]
        values = {**self.point, **{x.name: q[..., k] for k, x in enumerate(frame.q)}}
        kept = np.zeros((*shape, n - m))

        def numbers(expressions: Any) -> np.ndarray:
            """Values at the states."""
            array = np.asarray(expressions, dtype=object)
            found = np.empty((*shape, *array.shape))
            for at, x in np.ndenumerate(array):
                found[(..., *at)] = evaluate(x, values) if isinstance(x, Expr) else x
            return found

        B = np.linalg.inv(numbers(frame.W))
        qd = np.einsum(
            "...ij,...j->...i", B, np.concatenate([u, kept], axis=-1) - numbers(frame.w0)
        )
        values |= {x.name: qd[..., k] for k, x in enumerate(frame.system.symbols["qd"])}
        rates = np.concatenate([u_dot, kept], axis=-1) - numbers(self._drift)
        qdd = np.einsum("...ij,...j->...i", B, rates)
        quantities = frame.system.quantities
        M, bias, Q = (
            numbers(quantities[name].expressions)
            for name in ("mass_matrix", "bias_force", "generalized_forces")
        )
        force = np.einsum("...ij,...j->...i", M, qdd) + bias - Q
        return np.einsum("...ik,...i->...k", B[..., :m], force), qd

    @cached_property
    def _drift(self) -> np.ndarray:
        """Derivative of W qd + w0 with qd held."""
        frame = self.frame
        qd: Any = frame.system.symbols["qd"]
        rows = frame.W @ qd + frame.w0
        return np.asarray(jacobian(rows, frame.q)) @ qd + np.asarray(derivative(rows, frame.t))
