"""Quasi-velocities of a user's choice, solved for the velocities in closed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from dalembert.arguments import check_instance
from dalembert.closed_forms.algebra import cramer
from dalembert.closed_forms.algebra.polynomials import Normal
from dalembert.closed_forms.algebra.ring import NotPolynomial, Poly, TooLarge, terms_in
from dalembert.closed_forms.algebra.sums import Builder
from dalembert.closed_forms.derivation.constraint_expressions import check_two_sided
from dalembert.closed_forms.derivation.derivation_context import SEED
from dalembert.constraints.state_functions import Velocity
from dalembert.errors import DalembertError, UnknownNameError
from dalembert.expr import Expr, evaluate, free_symbols, known_zero, substitute
from dalembert.formulations.lagrange.quasi_velocities import QuasiVelocities
from dalembert.formulations.lagrange.symbolic_system import LagrangianSystem
from dalembert.spatial import linear_algebra
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.kinds import system_of

MOST = 4  # velocities that are solved for together in closed form
LONGEST = 60  # terms of the rows of these
SINGULAR = 1e-9  # of the largest singular value: rows depend on each other
TRIED = 20  # random states, of which some lie where everything is finite

Definition = str | Callable[..., Any]


class NamedRows(NamedTuple):
    """Rows W qd + w0 with their names, and the names of the rates of these."""

    names: tuple[str, ...]
    rates: tuple[str, ...]
    W: np.ndarray
    w0: np.ndarray


def quasi_velocities(system: LagrangianSystem, velocities: Any) -> QuasiVelocities:
    """Quasi-velocities of a system: names of coordinates, whose rates they are, or {name: function
    (q, qd, t), or coordinate}.

    Raises
    ------
    UnknownNameError, TypeError, ValueError
        There is no coordinate of a name; a definition is none.
    DalembertError
        There are too many or too few; they are not linear in the velocities, or depend on each
        other and on constraints.
    """
    chosen = _definitions(system, velocities)
    own = _defined(system, chosen)
    kept = _independent(system, _rows_of_constraints(system))
    n, count = system.nq, len(own.names) + len(kept.names)
    if count != n:
        raise DalembertError(
            f"{system.name!r} has {n} velocities and {len(kept.names)} rows of constraints: "
            f"{n - len(kept.names)} quasi-velocities are independent, not {len(own.names)} "
            f"({', '.join(own.names)})."
        )
    W = np.concatenate([own.W, kept.W])
    w0 = np.concatenate([own.w0, kept.w0])
    names = (*own.names, *kept.names)
    _check_independent(system, names, W)
    B = _inverse(system, W)
    dependent = _dependent_names(system, own.names, n)
    return QuasiVelocities(
        system,
        own.names,
        own.rates,
        dependent,
        W,
        w0,
        B,
        b=-(B @ w0),
    )


def _dependent_names(system: LagrangianSystem, own: Sequence[str], n: int) -> tuple[str, ...]:
    """Names w3, ... of the quasi-velocities that constraints keep at 0, none of which is taken."""
    taken = {*own, *system.parameters, *system.coordinate_names}
    numbers = range(len(own) + 1, n + 1)
    letters = ("w", "W", "w_", "quasi_velocity_")
    letter = next(x for x in letters if not any(f"{x}{k}" in taken for k in numbers))
    return tuple(f"{letter}{k}" for k in numbers)


# --- rows ---


def _definitions(system: LagrangianSystem, velocities: Any) -> dict[str, Definition]:
    """Definition of each quasi-velocity by name; rates of coordinates have the name of these."""
    if isinstance(velocities, str):
        velocities = velocities.replace(",", " ").split()
    if not isinstance(velocities, Mapping):
        expected = "names of coordinates, or {name: function of (q, qd, t), or coordinate}"
        check_instance("velocities", velocities, Sequence, expected)
        velocities = {f"{name}_dot": name for name in velocities}
    for name, definition in velocities.items():
        check_instance("the name of a quasi-velocity", name, str, "a text such as 'v'")
        if isinstance(definition, str):
            if definition not in system.coordinate_names:
                raise UnknownNameError("coordinate", definition, system.coordinate_names)
        elif not callable(definition):
            raise TypeError(
                f"quasi-velocity {name!r} is {definition!r}: expected a function of (q, qd, t), or "
                "the name of a coordinate, whose rate it is."
            )
    return dict(velocities)


def _defined(system: LagrangianSystem, chosen: Mapping[str, Definition]) -> NamedRows:
    """Rows of definitions, traced and checked like constraints on velocities."""
    qd = cast(np.ndarray, system.symbols["qd"])
    functions: list[Velocity] = []
    rates: list[str] = []
    for name, definition in chosen.items():
        rate = f"{name}_dot"
        if isinstance(definition, str):
            k = system.coordinate_names.index(definition)
            functions.append(Velocity(name, lambda q, qd, t, k=k: [qd[k]]))
            if name == qd[k].name:
                rate = system.symbols["qdd"][k].name  # type: ignore[index]
        else:
            functions.append(Velocity(name, definition))
        rates.append(rate)
    free = system.unconstrained().constrained(*functions)
    rows = _rows_of_constraints(free)
    if len(rows.names) != len(chosen):
        raise DalembertError(
            f"quasi-velocities {', '.join(chosen)} have {len(rows.names)} entries: each function "
            "gives one."
        )
    return NamedRows(tuple(chosen), tuple(rates), rows.W, rows.w0)


def _rows_of_constraints(system: LagrangianSystem) -> NamedRows:
    """Rows of constraints on velocities, J qd + leftover, as expressions of the system's symbols."""
    n = system.nq
    if not system.constraints:
        return NamedRows((), (), np.zeros((0, n), dtype=object), np.zeros(0, dtype=object))
    q, qd, t = (cast(Any, system.symbols[key]) for key in ("q", "qd", "t"))
    rows = ConstraintSet(system_of(system))
    check_two_sided(rows)
    if rows.principles.act_otherwise:
        raise DalembertError(
            f"constraints of {system.name!r} act by the principles 'vakonomic' or 'servo': forms "
            "without multipliers are those of d'Alembert's principle, 'chetaev' or 'gauss'."
        )
    found = rows.rates(q, qd, t)
    moving = {s.name for s in free_symbols(found.jacobian)} & {x.name for x in qd}
    if moving:
        raise DalembertError(
            f"constraints or quasi-velocities of {system.name!r} are not linear in "
            f"{', '.join(sorted(moving))}: there is no form without multipliers. da.equations "
            "prints the one with multipliers."
        )
    names = tuple(label.replace("[", "_").replace("]", "") for label in rows.labels)
    at_rest = dict.fromkeys(qd, 0)
    w0 = np.asarray(substitute(found.leftover, at_rest), dtype=object)
    return NamedRows(names, names, np.asarray(found.jacobian, dtype=object), w0)


def _independent(system: LagrangianSystem, rows: NamedRows) -> NamedRows:
    """Rows without those that are 0, as of a plane loop out of its plane, or follow from others."""
    if not rows.names:
        return rows
    numbers = _numbers(system, rows.W, random=True)
    basis = np.zeros((0, numbers.shape[1]))
    kept = []
    for k, row in enumerate(numbers):
        rest = row - basis.T @ (basis @ row)
        rest = rest - basis.T @ (basis @ rest)
        size = float(np.linalg.norm(rest))
        if size > SINGULAR * max(float(np.linalg.norm(row)), 1.0):
            basis = np.vstack([basis, rest / size])
            kept.append(k)
    names = tuple(rows.names[k] for k in kept)
    return NamedRows(names, names, rows.W[kept], rows.w0[kept])


def _check_independent(system: LagrangianSystem, names: Sequence[str], W: np.ndarray) -> None:
    """Raise a DalembertError where rows depend on each other at random states."""
    numbers = _numbers(system, W, random=True)
    _, values, right = np.linalg.svd(numbers.T)
    if values[-1] <= SINGULAR * values[0]:
        taken = [name for name, x in zip(names, right[-1], strict=True) if abs(x) > 0.1]
        raise DalembertError(
            f"quasi-velocities and constraints of {system.name!r} depend on each other: "
            f"{', '.join(taken)}. Choose others."
        )


def _numbers(system: LagrangianSystem, W: np.ndarray, random: bool) -> np.ndarray:
    """W where coordinates are 0, or random: where all is finite.

    Raises
    ------
    DalembertError
        It is nowhere.
    """
    rng = np.random.default_rng(SEED)
    symbols = free_symbols(W)
    coordinates = set() if random else {*system.coordinate_names}
    for _ in range(TRIED):
        values = rng.uniform(0.1, 1.5, len(symbols))
        point = {
            x: 0.0 if x.name in coordinates else v for x, v in zip(symbols, values, strict=True)
        }
        numbers = np.asarray(evaluate(W, point), dtype=float)
        if np.isfinite(numbers).all():
            return numbers
    raise DalembertError(
        f"constraints or quasi-velocities of {system.name!r} are not finite at random states."
    )


# --- the inverse ---


def _inverse(system: LagrangianSystem, W: np.ndarray) -> np.ndarray:
    """B = W^-1 in expressions: velocities that stand alone in a row one after the other, the rest
    together by Cramer's rule, or by elimination where that is too long.
    """
    n = len(W)
    units = np.eye(n, dtype=int).astype(object)
    rows: dict[int, np.ndarray] = {i: W[i].copy() for i in range(n)}
    right = {i: units[i] for i in range(n)}
    solved: dict[int, np.ndarray] = {}
    while alone := _alone(rows, solved):
        i, k = alone
        solved[k] = _divided(right.pop(i), rows.pop(i)[k])
        for j, row in rows.items():
            if not known_zero(row[k]):
                right[j] = right[j] - row[k] * solved[k]
    unknown = [k for k in range(n) if k not in solved]
    if unknown:
        A = np.array([rows[i][unknown] for i in rows], dtype=object)
        known = np.array([right[i] for i in rows], dtype=object)
        together = _together(system, A, known)
        solved |= zip(unknown, together, strict=True)
    return np.array([solved[k] for k in range(n)], dtype=object)


def _alone(rows: Mapping[int, np.ndarray], solved: Mapping[int, Any]) -> tuple[int, int] | None:
    """A row, and the only velocity in it that is not known yet."""
    for i, row in rows.items():
        unknown = [k for k, x in enumerate(row) if k not in solved and not known_zero(x)]
        if len(unknown) == 1:
            return i, unknown[0]
    return None


def _divided(row: np.ndarray, by: Any) -> np.ndarray:
    """A row divided by an entry."""
    is_number = not isinstance(by, Expr) or by.op == "exact"
    is_one = is_number and float(evaluate(by)) == 1
    return row if is_one else row / by


def _together(system: LagrangianSystem, A: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solution of A x = right: by Cramer's rule where that is short, else by elimination."""
    if len(A) <= MOST:
        try:
            return _by_determinants(system, A) @ right
        except (TooLarge, NotPolynomial):
            pass
    rows, columns = _pivots(system, A)
    found = np.zeros((len(A), right.shape[1]), dtype=object)
    ordered = A[np.ix_(rows, columns)]
    found[columns] = linear_algebra.solve(ordered.tolist(), right[rows])
    return found


def _pivots(system: LagrangianSystem, A: np.ndarray) -> tuple[list[int], list[int]]:
    """Rows and columns in an order in which no pivot is 0 where coordinates are 0, if there is one,
    else at a random state.
    """
    numbers = _numbers(system, A, random=False)
    if np.linalg.cond(numbers) > 1 / SINGULAR:
        numbers = _numbers(system, A, random=True)
    rows, columns = [*range(len(A))], [*range(len(A))]
    for k in range(len(A)):
        rest = np.abs(numbers[k:, k:])
        i, j = (int(x) + k for x in np.unravel_index(int(np.argmax(rest)), rest.shape))
        numbers[[k, i]] = numbers[[i, k]]
        numbers[:, [k, j]] = numbers[:, [j, k]]
        rows[k], rows[i] = rows[i], rows[k]
        columns[k], columns[j] = columns[j], columns[k]
        below = numbers[k + 1 :, k] / numbers[k, k]
        numbers[k + 1 :] -= below[:, None] * numbers[k]
    return rows, columns


def _by_determinants(system: LagrangianSystem, A: np.ndarray) -> np.ndarray:
    """A^-1 with fractions reduced."""
    n = len(A)
    names = tuple(x.name for x in cast(Any, system.symbols["q"]))
    normal = Normal({"q": names})
    entries = np.array([[normal.scalar(x) for x in row] for row in A], dtype=object)
    has_functions = any(atom.op != "div" for atom in normal.atoms)
    if has_functions or terms_in(entries.flat) > LONGEST:
        raise TooLarge("the rows are long.")
    entries = _without_zeros(normal, entries)
    columns = [[int(i == j) for i in range(n)] for j in range(n)]
    found = cramer.solved(entries, columns, normal, lambda k: f"Delta{k}")
    builder = Builder(cast(Any, system.symbols["t"]).graph)
    forms = np.array([[builder.expression(x) for x in column.forms] for column in found])
    return np.asarray(forms.T, dtype=object)


def _without_zeros(normal: Normal, entries: np.ndarray) -> np.ndarray:
    """Entries with polynomials that are 0 as the number 0."""
    found = entries.copy()
    for at, x in np.ndenumerate(entries):
        if isinstance(x, Poly) and not normal.forms_in_one_basis([x])[0].terms:
            found[at] = 0
    return found
