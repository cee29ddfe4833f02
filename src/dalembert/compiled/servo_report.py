"""Servo constraints at a state: relative degrees, conditioning, forces, and internal dynamics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dalembert.compiled.linear_stability import ZERO, state_matrix
from dalembert.constraints.programs import Servo
from dalembert.errors import ConstraintError, DalembertError
from dalembert.generators import Hold
from dalembert.spatial.arrays import Array, Values
from dalembert.systems.constrained_mechanism import with_constraints
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.kinds import system_of
from dalembert.systems.principles import Principles, State
from dalembert.systems.system import System

MOST, CLOSE = 50, 1e-10  # steps towards an equilibrium; the last one, relative to q


class ServoReport(NamedTuple):
    """Servo constraints of a system at a state.

    Attributes
    ----------
    outputs : names of the outputs (k,)
    degrees : relative degree of each: the derivative in which forces stand; the index of the
        equations without feedback is one more
    actuators : names of the entries of tau that act (m,)
    W : (k, m) accelerations of the outputs that forces of 1 bring
    condition : condition number of W
    controls : forces of the actuators (m,) [N m, N]
    free : number of states beside outputs and their derivatives: those of the internal dynamics
    exponents : of the internal dynamics and of the errors at an equilibrium near by with programs
        held (2 nv,) [1/s]; None: there is no equilibrium, or it is not known
    equilibrium : coordinates of that (nq,), or None
    """

    outputs: tuple[str, ...]
    degrees: tuple[int, ...]
    actuators: tuple[str, ...]
    W: Array
    condition: float
    controls: Array
    free: int
    exponents: Array | None
    equilibrium: Array | None

    @property
    def is_minimum_phase(self) -> bool | None:
        """Whether no deviation grows at the equilibrium; None: it is not known."""
        if not self.free:
            return True
        if self.exponents is None:
            return None
        most = np.abs(self.exponents).max(initial=0.0)
        return bool(self.exponents.real.max(initial=0.0) <= ZERO * most)


def servo_report(
    mechanism: Any, q: Values, qd: Values, internal_states: Values | None = None, t: float = 0.0
) -> ServoReport:
    """Servo constraints of a mechanism at a state: forces, conditioning and internal dynamics.

    Parameters
    ----------
    mechanism : Mechanism, or another System, with `constraints.Servo`
    q, qd : (nq,), (nv,) arrays
        State [rad, m; rad/s, m/s].
    internal_states : (n,) array, optional
        States of the generators, by default those to begin with.
    t : float
        Time [s].

    Returns
    -------
    ServoReport

    Raises
    ------
    DalembertError, ConstraintError
        There are no servo constraints; the actuators do not move an output.

    Examples
    --------
    >>> import dalembert as da
    >>> lift = da.generators.SteadyAcceleration(2.0)
    >>> servo = da.constraints.Servo("lift", "q2", lift, ["q2"], frequency=5.0)
    >>> report = da.servo_report(da.planar_chain(2).constrained(servo), [-1.5, 0.0], [0.0, 0.0])
    >>> report.degrees, report.free, report.is_minimum_phase
    ((2,), 2, True)
    """
    system = system_of(mechanism, "has no servo constraints")
    if internal_states is not None:
        system = system.with_internal(np.asarray(internal_states, dtype=float))
    principles = ConstraintSet(system).principles
    if not principles.servos:
        raise DalembertError(
            f"{system.name!r} has no servo constraints: da.constraints.Servo leads an output."
        )
    state = State(np.asarray(q, dtype=float), np.asarray(qd, dtype=float), t)
    force = system.applied(
        state.q,
        state.qd,
        np.zeros(system.nv),
        t,
    )
    motion = principles.motion(force, *state)
    led = principles.led(state)
    W = np.asarray(led.jacobian @ principles.pushed(state), dtype=float)
    free = freedoms_left(principles, state, led.degrees)
    held = _exponents(system, state) if free else (None, None)
    return ServoReport(
        outputs=led.names,
        degrees=led.degrees,
        actuators=tuple(system.velocity_names[k] for k in principles.actuated),
        W=W,
        condition=float(np.linalg.cond(W)),
        controls=np.asarray(motion.controls, dtype=float),
        free=free,
        exponents=held[0],
        equilibrium=held[1],
    )


def freedoms_left(principles: Principles, state: State, degrees: tuple[int, ...]) -> int:
    """Number of states that outputs and rows of constraints leave free."""
    system = principles.system
    J = np.asarray(principles.rows.rates(*state).jacobian, dtype=float)
    rank = int(np.linalg.matrix_rank(J)) if J.size else 0
    return max(0, 2 * (system.nv - rank) - sum(degrees))


def check_internal_dynamics(mechanism: Any, q: Array, qd: Array, internal: Array, t: float) -> None:
    """Raise a ConstraintError where servo constraints leave an internal dynamics that is unstable.

    It is looked at near the state, at an equilibrium with the programs held; where there is none, or
    where there are quaternions, nothing is said.
    """
    principles = ConstraintSet(system_of(mechanism)).principles
    if not principles.servos or any(servo.allow_unstable for servo in principles.servos):
        return
    report = servo_report(
        mechanism,
        q,
        qd,
        internal,
        t,
    )
    if report.is_minimum_phase is not False:
        return
    assert report.exponents is not None and report.equilibrium is not None
    fastest = report.exponents.real.max()
    where = ", ".join(f"{x:.4g}" for x in report.equilibrium)
    raise ConstraintError(
        f"the servo constraints of {principles.system.name!r} ({', '.join(report.outputs)}, relative "
        f"degrees {', '.join(map(str, report.degrees))}) leave {report.free} states free, and these "
        f"grow with the exponent {fastest:.4g} 1/s about the equilibrium q = ({where}): the output is "
        "not of minimum phase, and forces that follow it are unbounded. Lead another output, plan the "
        "motion as a whole (stable inversion begins before the program does), or give "
        "allow_unstable=True.",
        report.outputs[0],
    )


def _exponents(system: System, state: State) -> tuple[Array | None, Array | None]:
    """Exponents at an equilibrium near by with the programs held, and its coordinates."""
    if system.nq != system.nv or system.quaternions:
        return None, None
    held = _held(system, state)
    q = np.array(state.q, dtype=float)
    rest = np.zeros(system.nv)
    n = system.nv
    for _ in range(MOST):
        A = _matrix(held, q, state.t)
        found = held.forward_dynamics(
            q,
            rest,
            rest,
            state.t,
        )
        step, *_ = np.linalg.lstsq(A[n : 2 * n, :n], -np.asarray(found, dtype=float), rcond=None)
        if not np.isfinite(step).all():
            return None, None
        q, _ = held.project(q + step, rest, state.t)
        if np.abs(step).max() <= CLOSE * (1 + np.abs(q).max()):
            values = np.linalg.eigvals(_matrix(held, q, state.t)[: 2 * n, : 2 * n])
            return values.astype(complex), q  # type: ignore[return-value]
    return None, None


def _matrix(held: System, q: Array, t: float) -> Array:
    return state_matrix(
        held,
        q,
        np.zeros(held.nv),
        held.internal_states,
        t,
    )


def _held(system: System, state: State) -> System:
    """The system whose programs stay where they are."""
    principles = ConstraintSet(system).principles
    constraints = []
    for constraint in system.constraints:
        if isinstance(constraint, Servo):
            r = constraint.program.output(principles.states_of(constraint))
            constraint = replace(constraint, program=Hold(np.asarray(r, float)), initial=None)
        constraints.append(constraint)
    return with_constraints(system, tuple(constraints), tuple(system.principles))
