"""Closed forms with values put in for names, or to some order in small quantities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from typing import Any

import numpy as np

from dalembert.closed_forms.algebra.ring import TooLarge, terms_in
from dalembert.closed_forms.algebra.sums import object_array
from dalembert.closed_forms.printing.names import ENTRY
from dalembert.closed_forms.printing.sheets import Sheet
from dalembert.closed_forms.quantities.verification import STATES, Verifier
from dalembert.closed_forms.quantities.verified_forms import ClosedForms
from dalembert.errors import UnknownNameError
from dalembert.expr import (
    Expr,
    constant,
    derivative,
    evaluate,
    free_symbols,
    import_nodes,
    substitute,
    symbol,
    to_text,
    topological,
)
from dalembert.expr.differentiation import directional
from dalembert.spatial.angles import PiMultiple, cos_sin, snapped

LONGEST = 2000  # terms of a quantity that is written out
NODES, REACH = (
    15,
    0.35,
)  # points at which small quantities are tried, as shares of their random values
HIGHEST = 4  # order of small quantities


class FormChange(ABC):
    """A change of closed forms; `remark` describes it."""

    remark: str

    @abstractmethod
    def of(self, eom: ClosedForms, entries: np.ndarray) -> np.ndarray:
        """Changed expressions."""

    @abstractmethod
    def values(self, verifier: Verifier, entries: np.ndarray) -> np.ndarray:
        """Values of the changed expressions at the verifier's states, found from the unchanged
        expressions.
        """


@dataclass(frozen=True)
class Substitution(FormChange):
    """Values, exact numbers or expressions, for names."""

    given: tuple[tuple[str, Any], ...]

    @property
    def remark(self) -> str:  # type: ignore[override]
        """The change in words."""
        return "at " + ", ".join(
            f"{name} = {to_text(x) if isinstance(x, Expr) else x}" for name, x in self.given
        )

    def of(self, eom: ClosedForms, entries: np.ndarray) -> np.ndarray:
        """Entries with the values."""
        values = {symbol(name, eom.graph): x for name, x in self.given}
        turned = _turned(entries, {s: x for s, x in values.items() if isinstance(x, PiMultiple)})
        plain = {s: float(x) if isinstance(x, PiMultiple) else x for s, x in values.items()}
        return np.asarray(substitute(turned, plain), dtype=object)

    def values(self, verifier: Verifier, entries: np.ndarray) -> np.ndarray:
        """Entries at the verifier's states, with the values."""
        numbers = {
            name: evaluate(x, verifier.point) if isinstance(x, Expr) else float(x)
            for name, x in self.given
        }
        return np.broadcast_to(
            evaluate(entries, {**verifier.point, **numbers}), (STATES, *entries.shape)
        )


def _turned(entries: np.ndarray, angles: Mapping[Expr, PiMultiple]) -> np.ndarray:
    """Expressions with cosines and sines of sums that have exact angles in them by the addition
    theorems.
    """
    new: dict[Expr, Any] = {}
    for node in topological([x for x in entries.flat if isinstance(x, Expr)] if angles else []):
        if node.op not in ("cos", "sin") or not {*angles} & {*free_symbols(node)}:
            continue
        rates = {s: derivative(node.args[0], s) for s in angles}
        if any(x.op != "exact" for x in rates.values()):
            continue  # no sum with constant factors
        turns = sum((Fraction(rates[s].value) * x.turns for s, x in angles.items()), Fraction(0))
        rest = substitute(node.args[0], dict.fromkeys(angles, 0))
        c, s = cos_sin(rest)
        C, S = cos_sin(PiMultiple(turns), exact=True)
        new[node] = c * C - s * S if node.op == "cos" else s * C + c * S
    return np.asarray(substitute(entries, new), dtype=object)


@dataclass(frozen=True)
class Small(FormChange):
    """Taylor's polynomial in some names together, up to an order."""

    names: tuple[str, ...]
    order: int

    @property
    def remark(self) -> str:  # type: ignore[override]
        """The change in words."""
        order = ("zeroth", "first", "second", "third", "fourth")[self.order]
        return f"to {order} order in {', '.join(self.names)}"

    def of(self, eom: ClosedForms, entries: np.ndarray) -> np.ndarray:
        """Entries as Taylor polynomials."""
        xs = np.array([symbol(name, eom.graph) for name in self.names], dtype=object)
        along = np.array([symbol(f"{ENTRY}{name}", eom.graph) for name in self.names], dtype=object)
        at_zero = dict.fromkeys(xs, 0) | dict(zip(along, xs, strict=True))
        total: Any = substitute(entries, at_zero)
        part: Any = entries
        for k in range(1, self.order + 1):
            part = directional(part, xs, along)
            total = total + np.asarray(substitute(part, at_zero), dtype=object) * Fraction(
                1, factorial(k)
            )
        return np.asarray(total, dtype=object)

    def values(self, verifier: Verifier, entries: np.ndarray) -> np.ndarray:
        """Entries at the verifier's states, as polynomials through Chebyshev's nodes."""
        nodes = REACH * np.cos(
            np.pi * (np.arange(NODES) + 0.5) / NODES
        )  # of Chebyshev: the values as a polynomial
        found = []
        for x in nodes:
            scaled = {name: verifier.point[name] * x for name in self.names}
            found.append(
                np.broadcast_to(
                    evaluate(entries, {**verifier.point, **scaled}), (STATES, *entries.shape)
                )
            )
        flat = np.array(found).reshape(NODES, -1)
        series = np.polynomial.chebyshev.Chebyshev.fit
        low = [
            sum(
                series(nodes, column, NODES - 1)
                .convert(kind=np.polynomial.Polynomial)
                .coef[: self.order + 1]
            )
            for column in flat.T
        ]
        return np.array(low).reshape(STATES, *entries.shape)


class ChangeVerifier(Verifier):
    """Compares changed forms with numbers from the unchanged ones."""

    def __init__(self, original: ClosedForms, change: FormChange):
        super().__init__()
        self.original = original
        self.change = change
        self.point = original.verifier.point

    @property
    def right(self) -> Mapping[str, np.ndarray]:
        """Nothing: see `compare`."""
        return {}

    @property
    def sizes(self) -> Mapping[str, float]:
        """Sizes of the unchanged quantities."""
        return self.original.verifier.sizes

    def compare(self, quantity: str, expressions: np.ndarray) -> None:
        """Compare with what the change makes of the unchanged entries' numbers."""
        right = self.change.values(self.original.verifier, self.original.entries(quantity))
        self.check(quantity, self.evaluated(expressions), right)


class Changeable(ClosedForms):
    """Closed forms of a model that have changed ones."""

    def substitute(self, values: Mapping[Any, Any]) -> ChangedForms:
        """Closed forms with values for some names: {"q2": 0, "l1": 2 * l2}.

        Keys are names or symbols of these forms, or names of the model's coordinates; values
        numbers or expressions. Numbers stay exact; of coordinates, a float within 1e-9 of a
        multiple of pi/12 is that angle. Each entry is compared with the unchanged one at random
        states with these values.

        Raises
        ------
        UnknownNameError, TypeError, ValueError

        Examples
        --------
        >>> import dalembert as da
        >>> forms = da.equations(da.planar_chain(1))
        >>> forms.substitute({"g": 10}).entries("gravity_vector")
        array([10*MX1*cos(q1)], dtype=object)
        """
        with self.graph:
            return substituted(self, values)

    def at(self, **values: Any) -> ChangedForms:
        """Closed forms at some values, eom.at(q2=0, qd1=0); see `substitute`.

        Examples
        --------
        >>> import dalembert as da
        >>> forms = da.equations(da.planar_chain(1))
        >>> forms.at(q1=0).entries("gravity_vector")
        array([g*MX1], dtype=object)
        """
        return self.substitute(values)

    def small_angles(self, *names: str, order: int = 1) -> ChangedForms:
        """Closed forms to an order in small quantities together: coordinates, by default all of
        them, and whatever else is named (qd1). Velocities count as small only where they are named.

        Each entry is compared with the low terms of a polynomial through numbers of the unchanged
        one.

        Raises
        ------
        UnknownNameError, ValueError

        Examples
        --------
        >>> import dalembert as da
        >>> forms = da.equations(da.planar_chain(1))
        >>> forms.small_angles().entries("gravity_vector")
        array([g*MX1], dtype=object)
        """
        with self.graph:
            return to_order(self, names, order)


class ChangedForms(Changeable):
    """Closed forms with values put in, or to some order; all that `ClosedForms` can do."""

    def __init__(self, original: ClosedForms, change: FormChange):
        self.original, self.change = original, change
        self.titles, self.letters = original.titles, original.letters  # type: ignore[misc]
        self.law, self.programmed, self.minimal = (
            original.law,
            original.programmed,
            original.minimal,
        )
        model = original.model
        super().__init__(
            model,
            original._context,
            original.digits,
            original.progress,
        )

    def _verifier(self) -> ChangeVerifier:
        return ChangeVerifier(self.original, self.change)

    @property
    def _origin(self) -> tuple[Any, ...]:
        return ChangedForms, (self.original, self.change)

    @property
    def shown(self) -> tuple[str, ...]:
        """The original's."""
        return self.original.shown

    @property
    def remark(self) -> str:
        """All changes in their order."""
        before = f"{self.original.remark}, then " if isinstance(self.original, ChangedForms) else ""
        return before + self.change.remark

    def described(self, quantity: str) -> tuple[str, str]:
        """The original's."""
        return self.original.described(quantity)

    def _owner(self, quantity: str) -> ClosedForms:
        return self

    def _made(self, quantity: str) -> Sheet:
        p = self._context
        expressions = self.change.of(self, self.original.entries(quantity))
        normal = p.normal_in(p.in_order)
        entries = [constant(x, self.graph) for x in expressions.flat]
        try:
            if terms_in(normal.scalar(x) for x in entries) <= LONGEST:
                by_rates = quantity in (
                    "kinetic_energy",
                    "lagrangian",
                    "energy",
                    "equations_of_motion",
                    "momenta",
                )
                forms = object_array(normal.forms(entries, by_rates), expressions.shape)
                return self.in_full(quantity, forms, remark=self.remark)
        except TooLarge:
            pass
        return self.factored(
            quantity, object_array(entries, expressions.shape), f"{self.remark}, long"
        )


def substituted(eom: ClosedForms, values: Mapping[Any, Any]) -> ChangedForms:
    """Closed forms with values for names, symbols or coordinates' own names; see
    `ClosedForms.substitute`.
    """
    pairs = []
    for key, x in values.items():
        name = _name_of(eom, key.name if isinstance(key, Expr) else key)
        if isinstance(x, Expr):
            x = x if x.graph is eom.graph else import_nodes(x, eom.graph)
        elif not isinstance(x, (int, float, Fraction, np.number)) or isinstance(x, bool):
            raise TypeError(
                f"the value of {name!r} is a {type(x).__name__}: expected a number or an "
                "expression."
            )
        else:
            x = (
                isinstance(x, float) and name in eom.coordinates and snapped(float(x))
            ) or _exactly(x)
        pairs.append((name, x))
    return ChangedForms(eom, Substitution(tuple(pairs)))


def _exactly(x: Any) -> Any:
    if not np.isfinite(float(x)):
        raise ValueError(f"the value {x} is not finite.")
    return (
        x
        if isinstance(x, (int, Fraction))
        else int(x)
        if float(x).is_integer()
        else Fraction(repr(float(x)))
    )


def to_order(eom: ClosedForms, names: Sequence[Any], order: int) -> ChangedForms:
    """Closed forms to some order in small quantities; see `ClosedForms.small_angles`."""
    if isinstance(order, bool) or not isinstance(order, int) or not 0 <= order <= HIGHEST:
        raise ValueError(f"order = {order!r}: expected a whole number from 0 to {HIGHEST}.")
    chosen = [_name_of(eom, x.name if isinstance(x, Expr) else x) for x in names] or list(
        eom.coordinates
    )
    return ChangedForms(eom, Small(tuple(dict.fromkeys(chosen)), order))


def _name_of(eom: ClosedForms, name: str) -> str:
    """A name in the closed forms: itself, or that of a coordinate of the model."""
    known = (*eom.coordinates, *eom.velocities, *eom.accelerations, *eom.symbols)
    if name in known:
        return name
    if name in eom.coordinate_names:
        return eom.coordinates[eom.coordinate_names.index(name)]
    raise UnknownNameError("name", name, (*known, *eom.coordinate_names))
