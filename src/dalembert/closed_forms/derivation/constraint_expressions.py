"""Rows of constraints, and the forces that keep them, as expressions of printed names."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dalembert.errors import DalembertError
from dalembert.expr import symbol
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.system import System
from dalembert.systems.vakonomic import vakonomic_terms


class Moment(NamedTuple):
    """A state with its accelerations and time, floats or expressions."""

    q: Any
    qd: Any
    qdd: Any
    t: Any


class KeepingForces:
    """Forces R that keep the constraints of a system, by the principle of each.

        R = J^T lambda + force(mu) - inertia(mu) qdd - psi_v^T mu' + B u

    lambda of rows by Chetaev or Gauss, mu and its rates of rows by the vakonomic principle, u of
    the driven joints where these keep rows (servo).

    Raises
    ------
    DalembertError
        The system has programs, whose forces are no functions of the state alone.
    """

    def __init__(self, rows: ConstraintSet):
        self.rows = rows
        principles = rows.principles
        if principles.programs:
            names = ", ".join(repr(c.name) for c in principles.programs)
            raise DalembertError(
                f"{rows.system.name!r} has programs ({names}), which have no closed forms: "
                "da.equations prints the system without them."
            )
        check_two_sided(rows)
        self.vakonomic = principles.vakonomic
        self.actuated = principles.actuated
        owners = [c for c in rows.constraints for _ in range(len(rows.some([c]).labels))]
        self.by_states = np.array([c in self.vakonomic for c in owners], dtype=bool)
        driven = np.array([c in principles.driven for c in owners], dtype=bool)
        self.by_rows = ~(self.by_states | driven)

    @property
    def are_along_rows(self) -> bool:
        """Whether all forces are J^T lambda."""
        return bool(self.by_rows.all())

    def names(self, taken: Collection[str]) -> tuple[tuple[str, ...], ...]:
        """Names of lambda, mu, mu' and u, none of which is taken."""
        labels = np.array(self.rows.labels, dtype=object)
        multipliers = row_names("lambda", labels[self.by_rows], taken)
        states = row_names("mu", labels[self.by_states], taken)
        rates = tuple(f"{name}_dot" for name in states)
        prefix = next(x for x in ("u", "u_", "drive_") if f"{x}1" not in taken)
        controls = tuple(f"{prefix}{k + 1}" for k in range(len(self.actuated)))
        return multipliers, states, rates, controls

    def at(self, moment: Moment, unknowns: Any) -> Any:
        """R (nv,) for lambda, mu, mu' and u in a row."""
        q, qd, qdd, t = moment
        J = self.rows.rates(q, qd, t).jacobian
        count = int(self.by_states.sum())
        ends = np.cumsum([int(self.by_rows.sum()), count, count])
        multipliers, states, rates, controls = np.split(np.asarray(unknowns), ends)
        force = J[self.by_rows].T @ multipliers
        if count:
            terms = vakonomic_terms(self.rows.system, self.vakonomic, states, q, qd, t)
            force = force + terms.force - terms.inertia @ qdd - J[self.by_states].T @ rates
        return force + np.eye(len(force), dtype=int)[self.actuated].T @ controls


def check_two_sided(rows: ConstraintSet) -> None:
    """Raise a DalembertError where constraints hold on one side alone."""
    if rows.one_sided:
        names = ", ".join(repr(c.name) for c in rows.one_sided)
        raise DalembertError(
            f"{rows.system.name!r} has one-sided constraints ({names}), which come and go: closed "
            "forms are those of a motion that keeps them, one_sided=False, or has none."
        )


@dataclass(frozen=True)
class ConstraintExpressions:
    """Rows of the constraints of a system, and their forces, as expressions.

    phi : rows that positions keep at 0
    psi : rows on velocities that have no phi
    jacobian, bias : J qdd = bias, (k, nv), (k,)
    forces : that keep them (nv,)
    unknowns : symbols in these: multipliers, states of multipliers, their rates, driving forces
    meanings : of these symbols, by name
    rates : name of a rate -> the name that it is the rate of
    are_along_rows : whether forces are J^T lambda
    clock : name of the time
    """

    phi: np.ndarray
    psi: np.ndarray
    jacobian: np.ndarray
    bias: np.ndarray
    forces: np.ndarray
    unknowns: np.ndarray
    meanings: dict[str, str]
    rates: dict[str, str]
    are_along_rows: bool
    clock: str = "t"

    @classmethod
    def at(cls, system: System, moment: Moment, taken: Collection[str]) -> ConstraintExpressions:
        """Rows at symbols of one graph; none of the names that are taken is one of an unknown."""
        rows = ConstraintSet(system)
        keeping = KeepingForces(rows)
        q, qd, _, t = moment
        found = rows.rates(q, qd, t)
        names = keeping.names(taken)
        every = [name for group in names for name in group]
        unknowns = np.array([symbol(name, q[0].graph) for name in every], dtype=object)
        on_velocities = found.velocity[~rows.is_position]
        arrays = (rows.position(q, t), on_velocities, found.jacobian, found.bias)
        phi, psi, J, bias = (np.asarray(x, dtype=object) for x in arrays)
        forces = np.asarray(keeping.at(moment, unknowns), dtype=object)
        _, states, rates, _ = names
        return cls(
            phi,
            psi,
            J,
            bias,
            forces,
            unknowns,
            _meanings(keeping, names),
            dict(zip(rates, states, strict=True)),
            keeping.are_along_rows,
        )

    @property
    def written_apart(self) -> tuple[str, ...]:
        """Names of the unknowns that are no states."""
        states = {*self.rates.values()}
        return tuple(x.name for x in self.unknowns if x.name not in states)

    @cached_property
    def quantities(self) -> dict[str, np.ndarray]:
        """Expressions by the names of quantities."""
        return {
            "constraints": self.phi,
            "velocity_constraints": self.psi,
            "constraint_jacobian": self.jacobian,
            "constraint_bias": self.bias,
            "constraint_forces": self.forces,
        }


def _meanings(keeping: KeepingForces, names: Sequence[Sequence[str]]) -> dict[str, str]:
    """Meaning of each unknown by name."""
    multipliers, states, rates, controls = names
    labels = np.array(keeping.rows.labels, dtype=object)
    acting = [keeping.rows.system.velocity_names[k] for k in keeping.actuated]
    pairs = [
        *zip(multipliers, (f"multiplier of constraint {x}" for x in labels[keeping.by_rows])),
        *zip(states, (f"multiplier of constraint {x}, a state" for x in labels[keeping.by_states])),
        *((rate, f"rate of {state}") for rate, state in zip(rates, states, strict=True)),
        *zip(controls, (f"driving force on {name}" for name in acting)),
    ]
    return dict(pairs)


def row_names(letter: str, labels: Sequence[str], taken: Collection[str]) -> tuple[str, ...]:
    """Names lambda_rod, or lambda_pin1, lambda_pin2 of a constraint of several rows; lambda1, ...
    where these are no words, or are taken.
    """
    names = []
    for label in labels:
        name, _, row = label.rstrip("]").partition("[")
        names.append(f"{letter}_{name}{int(row) + 1 if row else ''}")
    words = all(re.fullmatch(f"{letter}_[A-Za-z]+[0-9]*", name) for name in names)
    if words and len({*names}) == len(names) and not {*names} & {*taken}:
        return tuple(names)
    prefixes = (letter, "multiplier_", "multiplier_of_row_")
    numbers = range(1, len(labels) + 1)
    prefix = next(x for x in prefixes if not any(f"{x}{k}" in taken for k in numbers))
    return tuple(f"{prefix}{k}" for k in numbers)
