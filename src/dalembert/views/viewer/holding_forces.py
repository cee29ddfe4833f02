"""Forces that hold a mechanism at rest, and reactions of its constraints."""

from __future__ import annotations

import warnings

import numpy as np

from dalembert.analysis.constrained_functions import inverse_dynamics
from dalembert.errors import DalembertError
from dalembert.model.mechanism import Mechanism
from dalembert.systems.kinds import system_of
from dalembert.views.viewer.run_states import ViewedState

FAILURES = (DalembertError, ValueError, TypeError, ArithmeticError, np.linalg.LinAlgError)


def holding_forces(mechanism: Mechanism, q: np.ndarray) -> np.ndarray | None:
    """Joint forces (nv,) with which a mechanism stays at rest, of least norm where loops leave a
    choice; None where there are none.
    """
    rest = np.zeros(mechanism.nv)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(inverse_dynamics(mechanism, q, rest, rest), dtype=float)
    except FAILURES:
        return None


def reactions_at(mechanism: Mechanism, state: ViewedState) -> dict[str, np.ndarray] | None:
    """Reactions of all constraints at a state, by name; None where they are not known."""
    if not mechanism.constraints or state.tau is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = system_of(mechanism).reactions(state.q, state.qd, state.tau, state.t)
    except FAILURES:
        return None
    return {name: np.asarray(value, dtype=float) for name, value in found.items()}
