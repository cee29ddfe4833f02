"""Every entry that is printed is first compared with the compiled function at random states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.compiled.dynamics import Dynamics, compile
from dalembert.errors import DalembertError
from dalembert.expr import evaluate, free_symbols
from dalembert.model.mechanism import Mechanism
from dalembert.model.numbers import is_symbolic
from dalembert.model.paths import numbers

STATES, SEED = 5, 1743
TOLERANCE = 1e-10      # of the largest entry; closed forms of arms of 10 joints are exact to some 1e-14


class VerificationError(DalembertError):
    """A closed form and the compiled function disagree: a fault of this package. `quantity`, `entry`, `difference`."""

    def __init__(self, message: str, quantity: str = "", entry: tuple[int, ...] = (), difference: float = 0.0):
        super().__init__(message)
        self.quantity, self.entry, self.difference = quantity, entry, difference


def random_symbols(mechanism: Mechanism) -> dict[str, float]:
    """A value for each symbol of a mechanism."""
    names = sorted({s.name for _, x in numbers(mechanism) if is_symbolic(x) for s in free_symbols(x)})
    rng = np.random.default_rng(SEED)
    return {name: float(rng.uniform(0.3, 1.7)) for name in names}


def with_values(mechanism: Mechanism, values: Mapping[str, float]) -> Mechanism:
    """The mechanism with numbers for its symbols."""
    return mechanism.replace({path: float(evaluate(x, values)) for path, x in numbers(mechanism) if is_symbolic(x)})


class Verifier:
    """Compares forms with the compiled functions of a mechanism of numbers; `values` are those of the symbols."""

    def __init__(self, mechanism: Mechanism, values: Mapping[str, float], names: Sequence[Sequence[str]],
                 formulation: str = "newton_euler"):
        self.mechanism, self.values, self.names, self.formulation = mechanism, dict(values), names, formulation
        self.largest: dict[str, float] = {}
        states = [mechanism.random_state(seed) for seed in range(SEED, SEED + STATES)]
        self.q, self.qd = (np.array(x) for x in zip(*states, strict=True))
        self.qdd = np.random.default_rng(SEED).standard_normal(self.qd.shape)
        n = mechanism.nv
        self.units = np.repeat(self.q, n, axis=0), np.tile(np.eye(n), (STATES, 1))      # each state with each unit velocity

    @cached_property
    def right(self) -> dict[str, np.ndarray]:
        """Quantities by compiled code: at the states, and C(q, e_i)[k, j] = c_ijk at unit velocities."""
        n, q, qd = self.mechanism.nv, self.q, self.qd
        states, rates = np.concatenate([q, self.units[0]]), np.concatenate([qd, self.units[1]])
        M, C, g = self.dynamics.function(["mass_matrix", "coriolis_matrix", "gravity_vector"])(states, rates)
        c = C[STATES:].reshape(STATES, n, n, n).transpose(0, 1, 3, 2)      # [state, i, k, j] -> [state, i, j, k]
        M, C, g = M[:STATES], C[:STATES], g[:STATES]
        h = np.einsum("nkj,nj->nk", C, qd)
        return {"mass_matrix": M, "coriolis_matrix": C, "gravity_vector": g, "christoffel": c, "coriolis_vector": h,
                "kinetic_energy": np.einsum("nij,ni,nj->n", M, qd, qd) / 2,
                "forces": np.einsum("nij,nj->ni", M, self.qdd) + h + g}

    @cached_property
    def dynamics(self) -> Dynamics:
        return compile(self.mechanism, self.formulation)

    @cached_property
    def potential_energy(self) -> np.ndarray:
        return np.asarray(self.dynamics.potential_energy(self.q))      # type: ignore[attr-defined]

    @cached_property
    def point(self) -> dict[str, Any]:
        """Values of all names at the states."""
        point: dict[str, Any] = dict(self.values)
        for names, array in zip(self.names, (self.q, self.qd, self.qdd), strict=True):
            point |= {name: array[:, k] for k, name in enumerate(names)}
        return point

    def evaluated(self, expressions: np.ndarray) -> np.ndarray:
        """Values of expressions at the states, (states, ...)."""
        return np.broadcast_to(evaluate(expressions, self.point), (STATES, *expressions.shape))

    def check(self, quantity: str, found: np.ndarray, right: np.ndarray) -> None:
        """Raise VerificationError unless what closed forms give is what compiled functions give."""
        scale = max(float(np.abs(right).max(initial=0.0)), 1e-30)
        gap = np.abs(found - right)
        self.largest[quantity] = float(gap.max(initial=0.0)) / scale
        if not self.largest[quantity] <= TOLERANCE:
            entry = tuple(map(int, np.unravel_index(int(np.argmax(gap)), gap.shape)))[1:]
            raise VerificationError(f"{quantity}{list(entry)}: closed form and compiled function differ by {gap.max():.3g}; "
                                    "this is a fault of dalembert, please report it.", quantity, entry, float(gap.max()))
