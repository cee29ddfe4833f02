"""The dynamics of a mechanism at one state, for `dalembert dynamics`."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import Console

import dalembert as da
from dalembert.commandline import VectorError
from dalembert.commandline.closed_start import typed_accelerations, typed_state
from dalembert.commandline.output import line
from dalembert.commandline.tables import show_matrix, show_multipliers, show_state
from dalembert.commandline.typed_vectors import typed_vector
from dalembert.model.mechanism import Mechanism
from dalembert.model.units import ask_degrees
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.kinds import system_of


def dynamics_at(
    mechanism: Mechanism,
    q: str | None,
    qd: str | None,
    qdd: str | None,
    tau: str | None,
    gravity: str | None,
) -> dict[str, Any]:
    """All quantities by their public names; `tau` given: forward dynamics, else inverse dynamics.

    Raises
    ------
    VectorError, UnknownNameError
        A vector as typed does not fit the mechanism.
    SingularMassMatrixError
        Forward dynamics is not determined.
    """
    if gravity is not None:
        field = typed_vector(gravity, "--gravity", ("x", "y", "z"), np.zeros(3), mechanism)
        mechanism = mechanism.replace({f"gravity[{k}]": float(x) for k, x in enumerate(field)})

    def rates(text: str | None, option: str) -> np.ndarray:
        """Typed velocities, accelerations or forces; 0 where not typed."""
        return typed_vector(
            text, option, mechanism.velocity_names, np.zeros(mechanism.nv), mechanism
        )

    try:
        at_q, at_qd = typed_state(mechanism, q, qd)
        M = da.mass_matrix(mechanism, at_q)
    except da.QuaternionError as error:
        raise VectorError(f"--{error}", "--q") from None
    ask_degrees(mechanism, at_q)
    if tau is None:
        given = typed_accelerations(mechanism, at_q, at_qd, qdd)
    else:
        given = rates(tau, "--tau")
    found = (
        {"qdd": given, "tau": da.inverse_dynamics(mechanism, at_q, at_qd, given)}
        if tau is None
        else {"tau": given, "qdd": da.forward_dynamics(mechanism, at_q, at_qd, given)}
    )
    return {
        "mechanism": mechanism.name,
        "coordinate_names": list(mechanism.coordinate_names),
        "velocity_names": list(mechanism.velocity_names),
        "q": at_q,
        "qd": at_qd,
        "mass_matrix": M,
        "coriolis_matrix": da.coriolis_matrix(mechanism, at_q, at_qd),
        "gravity_vector": da.gravity_vector(mechanism, at_q),
        "bias_force": da.bias_force(mechanism, at_q, at_qd),
        "passive_force": da.passive_force(mechanism, at_q, at_qd),
        "kinetic_energy": da.kinetic_energy(mechanism, at_q, at_qd),
        "potential_energy": da.potential_energy(mechanism, at_q),
        **found,
        **_of_constraints(mechanism, at_q, at_qd, found["tau"]),
    }


def _of_constraints(
    mechanism: Mechanism, q: np.ndarray, qd: np.ndarray, tau: np.ndarray
) -> dict[str, Any]:
    """Rows of constraints and their multipliers; nothing of a mechanism without any."""
    if not mechanism.constraints:
        return {}
    rows = ConstraintSet(system_of(mechanism))
    values = da.multipliers(mechanism, q, qd, tau)
    return {
        "constraint_rows": list(rows.labels),
        "multipliers": values,
        "not_unique": list(rows.not_unique(q, qd)),
    }


def show_dynamics(
    out: Console, mechanism: Mechanism, quantities: dict[str, Any], result: str
) -> None:
    """Print the quantities with names and units; `result` is 'tau' or 'qdd'."""
    line(out, f"mechanism {mechanism.name}", "bold")
    show_state(
        out,
        mechanism,
        quantities["q"],
        **{
            "qd": quantities["qd"],
            "gravity g": quantities["gravity_vector"],
            "bias C qd + g": quantities["bias_force"],
            "passive": quantities["passive_force"],
            "tau": quantities["tau"],
            "qdd": quantities["qdd"],
        },
    )
    line(
        out,
        {"tau": "tau by inverse dynamics of qdd", "qdd": "qdd by forward dynamics of tau"}[result]
        + "; units rad, m, s, N m, N.",
    )
    if mechanism.constraints:
        line(out)
        line(out, "Multipliers of the constraints, which count as applied forces", "bold")
        show_multipliers(
            out,
            quantities["constraint_rows"],
            quantities["multipliers"],
            quantities["not_unique"],
        )
    for title, name in (("Mass matrix M", "mass_matrix"), ("Coriolis matrix C", "coriolis_matrix")):
        line(out)
        line(out, title, "bold")
        show_matrix(out, quantities[name])
    line(out)
    line(
        out,
        f"Kinetic energy {quantities['kinetic_energy']:.6g} J, potential energy "
        f"{quantities['potential_energy']:.6g} J (gravity and springs).",
    )
