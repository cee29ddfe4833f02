"""Linear equations of motion about an equilibrium, in symbols."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.closed_forms.algebra.cramer import check_freedoms, solved
from dalembert.closed_forms.algebra.sums import object_array
from dalembert.closed_forms.printing.sheets import Sheet
from dalembert.closed_forms.quantities.changes import Changeable, Substitution, substituted
from dalembert.closed_forms.quantities.verification import STATES, Verifier, size_of_terms
from dalembert.closed_forms.quantities.verified_forms import ClosedForms
from dalembert.errors import DalembertError, ShapeError, UnknownNameError
from dalembert.expr import Expr, evaluate, free_symbols, jacobian, substitute, symbol, topological

TOLERANCE = 1e-9  # of the terms of a force that is to vanish
HOLD = "hold"

# Quantity: title, and the letter of its entries.
QUANTITIES = {
    "equilibrium_forces": ("Joint forces at the equilibrium", r"\tau"),
    "mass_matrix": ("Mass matrix", "M"),
    "damping_matrix": ("Damping matrix", "D"),
    "stiffness_matrix": ("Stiffness matrix", "K"),
    "state_matrix": ("State matrix", "A"),
    "input_matrix": ("Input matrix", "B"),
}


class LinearEquations(ClosedForms):
    """Linear equations of motion about an equilibrium q0 with the joint forces tau0, in closed
    form.

        M dqdd + D dqd + K dq = dtau,        d/dt (dq; dqd) = A (dq; dqd) + B dtau
        A = [[0, 1], [-M^-1 K, -M^-1 D]],    B = [[0], [M^-1]]

    with M = M(q0), K = d(g - f)/dq and D = -df/dqd at rest. Each entry is compared with
    `da.linearize`. `entries(name)` gives the expressions of "mass_matrix", "damping_matrix",
    "stiffness_matrix", "equilibrium_forces" and, for one to three freedoms, of "state_matrix" and
    "input_matrix".
    """

    titles = {name: title for name, (title, _) in QUANTITIES.items()}
    letters = {name: letter for name, (_, letter) in QUANTITIES.items()}
    law = (("M", "", "q_ddot"), ("D", "", "q_dot"), ("K", "", "q")), ("tau",)
    programmed = ("mass_matrix", "damping_matrix", "stiffness_matrix")

    def __init__(self, eom: Movable, q: Any, tau: Any):
        self.eom = eom
        self._given = (q, tau)
        with eom.graph:
            self.equilibrium = _coordinates(eom, q)
            force = eom.resting_force()
            self._expressions_at = self._derived(eom, force)
            _check_rest(eom, self._expressions_at["equilibrium_forces"], tau)
            super().__init__(eom.model, eom._context, eom.digits, eom.progress)

    def _verifier(self) -> LinearVerifier:
        return LinearVerifier(self.eom, dict(self.equilibrium.given))

    def _derived(self, eom: Movable, force: np.ndarray) -> dict[str, np.ndarray]:
        """Matrices and forces at the equilibrium, as expressions."""
        q, qd = (
            [symbol(name, eom.graph) for name in names]
            for names in (eom.coordinates, eom.velocities)
        )
        found = {
            "mass_matrix": eom.entries("mass_matrix"),
            "damping_matrix": jacobian(force, np.array(qd, dtype=object)),
            "stiffness_matrix": jacobian(force, np.array(q, dtype=object)),
            "equilibrium_forces": force,
        }
        at_rest = dict.fromkeys(qd, 0)
        placed = {
            name: _with_numbers(
                self.equilibrium.of(eom, np.asarray(substitute(x, at_rest), dtype=object))
            )
            for name, x in found.items()
        }
        times = [
            name
            for name, x in placed.items()
            if "t" in {s.name for s in free_symbols(x)} and "t" in eom.symbols
        ]
        if times:
            raise DalembertError(
                f"no equilibrium of {eom.name!r}: {', '.join(times)} depend on time."
            )
        return placed

    @property
    def _origin(self) -> tuple[Any, ...]:
        return LinearEquations, (self.eom, *self._given)

    @property
    def shown(self) -> tuple[str, ...]:
        """Quantities that are not zero; state and input matrix for one to three freedoms."""
        few = len(self.accelerations) <= 3
        return tuple(
            name
            for name in QUANTITIES
            if (few or name not in ("state_matrix", "input_matrix"))
            and any(form.terms for form in self.sheet(name).forms.flat)
        )

    def _owner(self, quantity: str) -> ClosedForms:
        return self

    def _made(self, quantity: str) -> Sheet:
        normal = self._context.normal
        if quantity in ("state_matrix", "input_matrix"):
            return self._of_states(quantity)
        entries = self._expressions_at[quantity]
        return self.in_full(quantity, object_array(normal.forms(entries.flat), entries.shape))

    def _of_states(self, quantity: str) -> Sheet:
        """A or B, by Cramer's rule column by column."""
        n = len(self.accelerations)
        check_freedoms(n, "state and input matrices")
        normal = self._context.normal
        M, D, K = (
            np.array(
                [[normal.scalar(x) for x in row] for row in self._expressions_at[name]],
                dtype=object,
            )
            for name in ("mass_matrix", "damping_matrix", "stiffness_matrix")
        )
        nothing = np.zeros((n, n), dtype=object)
        one = np.eye(n, dtype=object)
        if quantity == "input_matrix":
            above, right = nothing, one
        else:
            above = np.concatenate([nothing, one], axis=1)
            right = np.concatenate([-K, -D], axis=1)
        columns = solved(M, [list(column) for column in right.T], normal, self.determinant_name)
        top = normal.forms([int(x) for x in above.flat])
        forms, short = (
            [*top, *(getattr(column, kind)[i] for i in range(n) for column in columns)]
            for kind in ("forms", "short")
        )
        shape = (2 * n, len(right.T))
        return self.solved(
            quantity, object_array(forms, shape), object_array(short, shape), columns[0].parts, ()
        )


class Movable(Changeable):
    """Closed forms of a machine that moves as it may: they have linear equations about its
    positions of rest.
    """

    @abstractmethod
    def resting_force(self) -> np.ndarray:
        """The joint forces that hold the machine still, with their dependence on slow velocities:
        (nv,) expressions [N m, N].

        Examples
        --------
        >>> import dalembert as da
        >>> da.equations(da.planar_chain(1)).resting_force()
        array([g*MX1*cos(q1)], dtype=object)
        """

    def linearize(self, q: Any = None, tau: Any = None) -> Any:
        """Linear equations of motion about an equilibrium, in symbols; see `LinearEquations`.

            M dqdd + D dqd + K dq = dtau

        Parameters
        ----------
        q : (nq,) sequence or mapping, optional
            Coordinates of the equilibrium [rad, m], all, or some by name: numbers (multiples of
            pi/12 are exact) or expressions; the others stay symbols. Velocities are zero; Coulomb
            friction counts as zero there.
        tau : (nv,) sequence or "hold", optional
            Joint forces of the equilibrium [N m, N], by default none; "hold": those that it takes.

        Raises
        ------
        ShapeError, UnknownNameError
            q or tau has another length; there is no coordinate of a name.
        DalembertError
            The machine is not at rest there with these forces; it depends on time; a joint has
            quasi-velocities; there are constraints.

        Examples
        --------
        >>> import dalembert as da
        >>> import math
        >>> linear = da.equations(da.planar_chain(1)).linearize(q=[-math.pi / 2])
        >>> linear.shown
        ('mass_matrix', 'stiffness_matrix', 'state_matrix', 'input_matrix')
        """
        if self._context.rows is not None:
            raise DalembertError(
                f"{self.name!r} has constraints: da.linearize gives its linear model on them in "
                "numbers, da.quasi_velocity_equations(...).linearize in closed form."
            )
        if len(self.coordinates) != len(self.velocities):
            raise DalembertError(
                f"{self.name!r} has quasi-velocities: da.linearize gives its linear model in "
                "numbers."
            )
        return LinearEquations(self, q, tau)


def _coordinates(eom: Movable, q: Any) -> Substitution:
    """Values of coordinates by name: numbers, exact multiples of pi, expressions."""
    if not isinstance(q, Mapping):
        q = () if q is None else q
        if len(q) not in (0, len(eom.coordinates)):
            raise ShapeError(
                f"q has {len(q)} values, expected {len(eom.coordinates)}: "
                f"{', '.join(eom.coordinates)}."
            )
        q = dict(zip(eom.coordinates, q, strict=False))
    place = substituted(eom, q).change
    assert isinstance(place, Substitution)
    for name, _ in place.given:
        if name not in eom.coordinates:
            raise UnknownNameError("coordinate", name, eom.coordinates)
    return place


def _with_numbers(expressions: np.ndarray) -> np.ndarray:
    """Expressions with cosines and sines of numbers as numbers."""
    nodes = topological([x for x in expressions.flat if isinstance(x, Expr)])
    known = {
        node: float(evaluate(node))
        for node in nodes
        if node.op in ("cos", "sin") and not free_symbols(node)
    }
    return np.asarray(substitute(expressions, known), dtype=object)


def _check_rest(eom: Movable, force: np.ndarray, tau: Any) -> None:
    """Raise DalembertError unless the joint forces are those that the rest needs."""
    if isinstance(tau, str) and tau == HOLD:
        return
    given = np.zeros(len(force), dtype=object) if tau is None else np.array(list(tau), dtype=object)
    if len(given) != len(force):
        raise ShapeError(f"tau has {len(given)} values, expected {len(force)}.")
    left = [x - y for x, y in zip(force, given, strict=True)]
    point = eom.verifier.point
    for k, (x, needed) in enumerate(zip(left, force, strict=True)):
        value = np.abs(
            np.asarray(evaluate(x, point) if isinstance(x, Expr) else x, dtype=float)
        ).max()
        terms = [y for y in (needed, given[k]) if isinstance(y, Expr)]
        size = max(
            size_of_terms(terms, point),
            *(abs(float(y)) for y in (needed, given[k]) if not isinstance(y, Expr)),
            0.0,
        )
        if value > TOLERANCE * size:
            raise DalembertError(
                f"{eom.name!r} is not at rest there: joint force {k + 1} has to be {needed}, not "
                f"{given[k]}. Give tau= these forces, or tau={HOLD!r} for the forces that hold it."
            )


class LinearVerifier(Verifier):
    """Compares linear equations with `da.linearize` at the equilibrium, for random values of what
    is left open.
    """

    def __init__(self, eom: Movable, equilibrium: Mapping[str, Any]):
        super().__init__()
        self.eom = eom
        self.point = dict(eom.verifier.point)
        self.point |= {name: np.zeros(STATES) for name in eom.velocities}
        for name, x in equilibrium.items():
            value = evaluate(x, eom.verifier.point) if isinstance(x, Expr) else float(x)
            self.point[name] = np.broadcast_to(np.asarray(value, dtype=float), (STATES,))
        self.q = np.stack([self.point[name] for name in eom.coordinates], axis=1)

    @cached_property
    def right(self) -> dict[str, np.ndarray]:
        """Matrices of numbers: K = -M A21, D = -M A22."""
        M, A, B, tau = self.eom.verifier.linearized(self.q)
        n = M.shape[-1]
        return {
            "mass_matrix": M,
            "stiffness_matrix": -M @ A[:, n:, :n],
            "damping_matrix": -M @ A[:, n:, n:],
            "state_matrix": A,
            "input_matrix": B,
            "equilibrium_forces": tau,
        }

    @cached_property
    def sizes(self) -> dict[str, float]:
        """As of the equations themselves; divided by the least eigenvalue of M for accelerations."""
        M = self.right["mass_matrix"]
        least = float(np.abs(np.linalg.eigvalsh(M)).min())
        force = max(self.eom.verifier.size, 1e-300)
        return {
            "mass_matrix": float(np.abs(M).max()),
            "stiffness_matrix": force,
            "damping_matrix": force,
            "equilibrium_forces": force,
            "state_matrix": force / least,
            "input_matrix": 1 / least,
        }
