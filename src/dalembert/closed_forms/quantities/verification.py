"""Every entry that is printed is first compared with the compiled function at random states."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.closed_forms.derivation.derivation_context import SEED
from dalembert.errors import DalembertError
from dalembert.expr import Expr, evaluate, topological

STATES = 5
SMALLEST = 1e-300  # scale of what is zero everywhere
TOLERANCE = 1e-10  # of the largest entry; closed forms of arms of 10 joints are exact to some 1e-14


class VerificationError(DalembertError):
    """A closed form and the compiled function disagree: a fault of this package. `quantity`,
    `entry`, `difference`.
    """

    def __init__(
        self, message: str, quantity: str = "", entry: tuple[int, ...] = (), difference: float = 0.0
    ):
        super().__init__(message)
        self.quantity = quantity
        self.entry = entry
        self.difference = difference


def largest_size(array: Any) -> float:
    """Largest absolute value in an array; 0 in none."""
    return float(np.abs(array).max(initial=0.0))


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
    """Comparison of forms with compiled functions at random states.

    point: values of all names at the states, (states,) or numbers; tau: joint forces there.
    """

    point: dict[str, Any]
    tau: np.ndarray

    def __init__(self) -> None:
        self._gaps: dict[str, tuple[float, float]] = {}  # largest difference, largest entry

    def add_forces(self, names: Sequence[str]) -> None:
        """Give joint forces random values, by name."""
        self.tau = np.random.default_rng(SEED + 1).uniform(-1, 1, (STATES, len(names)))
        self.point |= {name: self.tau[:, k] for k, name in enumerate(names)}

    @property
    @abstractmethod
    def right(self) -> Mapping[str, np.ndarray]:
        """Quantities by compiled code at the states, (states, ...)."""

    @property
    @abstractmethod
    def sizes(self) -> Mapping[str, float]:
        """Size of the terms that the compiled functions add up, by quantity: where a quantity is
        exactly zero, these cancel but for rounding.
        """

    @cached_property
    def size(self) -> float:
        """Size of anything that has none of its own in `sizes`."""
        return max(self.sizes.values(), default=0.0)

    @property
    def largest(self) -> dict[str, float]:
        """Largest difference of each quantity that was compared, relative to the largest entry or
        to the terms that it is the sum of.
        """
        return {quantity: self.difference(quantity) for quantity in self._gaps}

    def difference(self, quantity: str) -> float:
        """The largest relative difference of a quantity."""
        gap, largest = self._gaps[quantity]
        return gap / max(largest, self.sizes.get(quantity, self.size), SMALLEST)

    def linearized(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Mass matrix, A, B and joint forces of the linear model at rest, in numbers."""
        raise NotImplementedError

    def evaluated(self, expressions: np.ndarray) -> np.ndarray:
        """Values of expressions at the states, (states, ...)."""
        return np.broadcast_to(evaluate(expressions, self.point), (STATES, *expressions.shape))

    def compare(self, quantity: str, expressions: np.ndarray) -> None:
        """Compare the expressions of a quantity with the compiled function; raises as `check`."""
        self.check(quantity, self.evaluated(expressions), self.right[quantity])

    def check(self, quantity: str, values: np.ndarray, right: np.ndarray) -> None:
        """Raise VerificationError unless closed forms and functions agree, relative to the largest
        entry or, where that is larger, to the terms that it is the sum of.
        """
        gaps = np.abs(values - right)
        gap, largest = largest_size(gaps), largest_size(right)
        self._gaps[quantity] = gap, largest
        # the sizes of terms, which take longer to find, are asked for where it is not enough alone
        if gap <= TOLERANCE * largest or self.difference(quantity) <= TOLERANCE:
            return
        _, *place = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
        entry = tuple(map(int, place))
        raise VerificationError(
            f"{quantity}{list(entry)}: closed form and compiled function differ by {gap:.3g}; this "
            "is a fault of dalembert, please report it.",
            quantity,
            entry,
            gap,
        )
