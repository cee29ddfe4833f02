"""Vakonomic forces: the action of L + mu^T psi is stationary, and its multipliers are states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dalembert.constraints.evaluated import evaluated
from dalembert.expr import array, derivative, gradient, jacobian
from dalembert.model.constraint import Constraint


class VakonomicTerms(NamedTuple):
    """Terms of multipliers mu in the equations of motion.

        (M + inertia) v' + psi_v^T mu' = tau - bias + force

    inertia : (mu^T psi)_vv (nv, nv)
    force : ad_v^T pi + G^T (mu^T psi)_q - pi_q G v - pi_t (nv,), with pi = psi_v^T mu and q' = G v
    """

    inertia: np.ndarray
    force: np.ndarray


def vakonomic_terms(
    system: Any, constraints: Sequence[Constraint], mu: Any, q: Any, qd: Any, t: Any
) -> VakonomicTerms:
    """The terms of some constraints on velocities, with multipliers mu (k,) in their order."""

    def make(q: Any, qd: Any, mu: Any, time: Any) -> VakonomicTerms:
        """Terms on symbols."""
        rows = [constraint.rates(system, q, qd, time[0]).velocity for constraint in constraints]
        S = mu @ np.concatenate(rows)
        pi = gradient(S, qd)
        rate = np.asarray(system.rate(q, qd))
        G = jacobian(rate, qd)
        carried = jacobian(pi, q) @ rate + array([derivative(p, time[0]) for p in pi])
        turned = np.asarray(system.lie_poisson(qd, pi))
        return VakonomicTerms(jacobian(pi, qd), turned + G.T @ gradient(S, q) - carried)

    return VakonomicTerms(
        *evaluated(
            make,
            "vakonomic",
            q,
            qd,
            mu,
            [t],
        )
    )
