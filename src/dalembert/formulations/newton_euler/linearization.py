"""Linear models of motions about a state, which print as tables with names and units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from dalembert.model.linkage import is_angular
from dalembert.spatial.arrays import Array

ROUNDING = 1e-12  # of the largest eigenvalue
MOST_SHOWN = 12  # states of a model that prints as a table


class StateMatrices(NamedTuple):
    """A and B of x' = A x + B u."""

    A: Array
    B: Array


class Linearization(StateMatrices):
    """x' = A x + B u about a state, a pair (A, B) in SI units; it prints as a table with
    eigenvalues.

    x = (step of q, step of qd) in tangent coordinates, u = step of tau.

    Examples
    --------
    >>> import dalembert as da
    >>> da.linearize(da.planar_chain(1), [-1.5707963], [0.0], [0.0])
    x' = A x + B u, eigenvalues +- 3.836i 1/s
                         q1  q1 rate  |  tau q1
    q1 [rad]              0        1  |       0
    q1 rate [rad/s]  -14.71        0  |       3
    """

    _mechanism: Any = None
    _entries: tuple[Sequence[int], Sequence[int]] = ((), ())  # of q and of qd that are states

    def of_mechanism(
        self,
        mechanism: Any,
        of_q: Sequence[int] | None = None,
        of_qd: Sequence[int] | None = None,
    ) -> Self:
        """The pair, with the mechanism that it is of; of_q, of_qd: entries that are states, by
        default all.
        """
        every = range(mechanism.nv)
        self._mechanism = mechanism
        self._entries = every if of_q is None else of_q, every if of_qd is None else of_qd
        return self

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the entries of x."""
        steps, rates = self._entries
        names = self.inputs
        return (*(names[k] for k in steps), *(f"{names[k]} rate" for k in rates))

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the entries of tau."""
        return self._mechanism.velocity_names if self._mechanism else ()

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the states."""
        steps, rates = self._entries
        holders = self._mechanism.holders if self._mechanism else ()
        kinds = [kind for holder in holders for kind in holder.type.velocities]
        units = ["rad" if is_angular(kind) else "m" for kind in kinds]
        return (*(units[k] for k in steps), *(f"{units[k]}/s" for k in rates))

    def __repr__(self) -> str:
        A, B = np.asarray(self.A), np.asarray(self.B)
        is_short = A.ndim == 2 and 0 < len(A) == len(self.states) <= MOST_SHOWN
        if not (is_short and A.dtype != object and np.isfinite(A).all()):
            states = f", states {', '.join(self.states)}" if self.states else ""
            return f"<{type(self).__name__}: A {A.shape}, B {B.shape}{states}>"
        return f"x' = A x + B u, eigenvalues {_eigenvalues(A)} 1/s\n{self._table(A, B)}"

    def _table(self, A: np.ndarray, B: np.ndarray) -> str:
        """Rows with names and units, columns of A and, behind a line, of B."""
        named = zip(self.states, self.units, strict=True)
        labels = ["", *(f"{name} [{unit}]" for name, unit in named)]
        columns = [
            *map(_column, self.states, A.T),
            ["|"] * len(labels),
            *map(_column, [f"tau {name}" for name in self.inputs], B.T),
        ]
        return "\n".join("  ".join(row).rstrip() for row in zip(_even(labels, str.ljust), *columns))


def _column(title: str, numbers: np.ndarray) -> list[str]:
    """Texts of one width: the title and numbers of four digits."""
    return _even([title, *(f"{x + 0.0:.4g}" for x in numbers)], str.rjust)


def _even(texts: Sequence[str], justified: Callable[[str, int], str]) -> list[str]:
    width = max(map(len, texts))
    return [justified(text, width) for text in texts]


def _eigenvalues(A: np.ndarray) -> str:
    """Eigenvalues in their order, conjugate ones once, with rounding left out."""
    values = np.linalg.eigvals(A)
    least = ROUNDING * np.abs(values).max(initial=0.0)
    kept = [x for x in sorted(values, key=lambda x: (x.real, x.imag)) if x.imag >= -least]
    return ", ".join(_complex(x, least) for x in kept)


def _complex(x: complex, least: float) -> str:
    real = f"{x.real:.4g}" if abs(x.real) > least else ""
    if abs(x.imag) <= least:
        return real or "0"
    return f"{real} +- {x.imag:.4g}i".strip()
