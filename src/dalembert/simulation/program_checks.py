"""Looks at programs: at the internal dynamics before a run, and at limits of actuators after it."""

from __future__ import annotations

import warnings

import numpy as np

from dalembert.compiled.servo_report import check_internal_dynamics
from dalembert.errors import DalembertWarning, caller_level
from dalembert.model.numbers import as_float, is_symbolic
from dalembert.results.run import Run
from dalembert.simulation.first_order_system import FirstOrderSystem

ROUNDING = 1e-9  # of a limit


def check_programs(motion: FirstOrderSystem, x: np.ndarray) -> None:
    """See that outputs that actuators lead leave no unstable internal dynamics, at the first state.

    Raises
    ------
    ConstraintError
    """
    if not motion.system.internal_names or motion.formulation.paths:
        return
    q, qd, *_ = motion.split(x[0])
    check_internal_dynamics(motion.system, q, qd, motion.internal_in(x[0]), motion.begin)


def warn_of_efforts(run: Run) -> None:
    """Warn of actuators of programs whose forces are beyond the efforts of their joints."""
    mechanism = run.system.mechanism
    if mechanism is None or run.parameters or not any(j.limits.effort for j in mechanism.joints):
        return
    if "controls" not in run.system.recorded:  # before all that runs declare, which takes longer
        return
    names = run.observables.declared["controls"].labels
    efforts = {k: _effort(run, name) for k, name in enumerate(names)}
    limits = {k: limit for k, limit in efforts.items() if limit is not None}
    if not limits:
        return
    controls = np.abs(np.asarray(run.observables["controls"]))
    for k, limit in limits.items():
        name = names[k]
        own = controls[..., k]
        most = float(np.nanmax(own))
        if most > limit * (1 + ROUNDING):
            record = np.unravel_index(np.nanargmax(own), own.shape)[-1]
            warnings.warn(
                f"the program asks {most:.4g} of actuator {name!r} at t = {run.times[record]:.4g} s, "
                f"beyond its effort of {limit:.4g}: slow the program, or lower the frequency of its "
                "error.",
                DalembertWarning,
                stacklevel=caller_level(),
            )


def _effort(run: Run, name: str) -> float | None:
    """Limit of the force along an entry of qd, if its joint has one."""
    mechanism = run.system.mechanism
    assert mechanism is not None
    at = mechanism.velocity_names.index(name)
    for joint in mechanism.independent_joints:
        entry = mechanism.entries[joint.name]
        if at in entry.at_v and joint.limits.effort:
            value = joint.limits.effort[list(entry.at_v).index(at)]
            return None if is_symbolic(value) else as_float(value)
    return None
