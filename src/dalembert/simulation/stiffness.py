"""Stiffness: vibrations and decays of the linearised motion that are too fast for steps of a method."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dalembert.compiled.memo import quantities_of
from dalembert.errors import DalembertWarning, caller_level
from dalembert.integrators import Adaptive, External, FixedStep, Method
from dalembert.integrators import method as method_of
from dalembert.integrators.method_kinds import LinearlyImplicit
from dalembert.integrators.stage_equations import differences
from dalembert.kinematics.forces import stiffness_and_damping
from dalembert.native.propagator import Trajectories
from dalembert.simulation.applied_forces import TRACED
from dalembert.simulation.first_order_system import FirstOrderSystem
from dalembert.simulation.options import FIXED
from dalembert.systems.constraint_set import ConstraintSet
from dalembert.systems.system import System
from dalembert.tracing.quantities import QUANTITIES

STIFF = "rodas5p"  # the method for stiff systems
INSTEAD = f"take method={STIFF!r}, which is for stiff systems"
UNFOLLOWED = 0.1  # error of a vibration in a step, relative to it: the step does not follow it
GROWTH = 1.01  # of a vibration in a step, from which it diverges
MANY = 1000  # steps of a run whose stiffness is worth looking at
LOOKS = 3  # records that are looked at
HALVINGS = 40  # of a step, until it is short enough


@dataclass(frozen=True)
class LinearisedForces:
    """Forces about a state: M qdd + D qd + K q = 0, (n, n) each."""

    M: np.ndarray
    D: np.ndarray
    K: np.ndarray

    def rates(self) -> np.ndarray:
        """lambda of the motions exp(lambda t), (2 n,), the fastest first [1/s]; none where M is
        singular.
        """
        n = len(self.M)
        try:
            forces = np.linalg.solve(self.M, np.hstack([-self.K, -self.D]))
        except np.linalg.LinAlgError:
            return np.zeros(0, dtype=complex)
        velocities = np.hstack([np.zeros((n, n)), np.eye(n)])
        found = np.linalg.eigvals(np.vstack([velocities, forces])).astype(complex)
        return found[np.argsort(-np.abs(found))]

    def along(self, directions: np.ndarray) -> LinearisedForces:
        """The same for motions along columns of a matrix."""
        return LinearisedForces(*(directions.T @ A @ directions for A in (self.M, self.D, self.K)))


def linearised_forces(
    motion: FirstOrderSystem, t: float, x: np.ndarray, p: np.ndarray, with_control: bool = True
) -> LinearisedForces:
    """Forces of springs, beams, dampers and traced control about a state (nx,); of systems other than
    mechanisms all forces.
    """
    system = motion.at(p, x).system
    q, y, *_ = motion.split(x)
    qd = motion.velocities_in(t, x, p)
    if system.mechanism is not None:
        found = _of_mechanism(system, q, qd)
    else:
        found = _of_system(system, q, qd, float(motion.clock(t, p)))
    if with_control and TRACED in motion.kinds.values():
        found = _controlled(motion, found, t, x, p)
    if not system.constraints:
        return found
    J = ConstraintSet(system).rates(q, qd, float(motion.clock(t, p))).jacobian
    _, sizes, rows = np.linalg.svd(np.asarray(J, dtype=float))
    rank = int((sizes > 1e-9 * max(sizes, default=0.0)).sum())
    return found.along(rows[rank:].T)


def _of_mechanism(system: System, q: np.ndarray, qd: np.ndarray) -> LinearisedForces:
    """M, and derivatives of the forces of springs, beams and dampers."""
    assert system.mechanism is not None
    mass_matrix: Any = partial(QUANTITIES["mass_matrix"].function, system.mechanism)
    if system.mechanism.elastic_bodies:  # whose plain functions take long
        (mass_matrix,) = quantities_of(system.mechanism, "mass_matrix")
    D, K = np.zeros((2, system.nv, system.nv))
    tree = system.mechanism.tree()
    for row, column, stiffness, damping in stiffness_and_damping(tree, list(q), list(qd)):
        K[row, column] += float(stiffness)
        D[row, column] += float(damping)
    return LinearisedForces(np.asarray(mass_matrix(q)), D, K)


def _of_system(system: System, q: np.ndarray, qd: np.ndarray, t: float) -> LinearisedForces:
    """M, and derivatives of all forces by differences, along the velocities."""
    rest = np.zeros(system.nv)

    def force(t: float, state: np.ndarray) -> np.ndarray:
        """Force at coordinates moved by a step, and velocities."""
        step, velocities = np.split(state, 2)
        moved = system.integrate(q, step)
        return np.asarray(system.applied(moved, velocities, rest, t), dtype=float)

    J, _ = differences(force, t, np.concatenate([rest, qd]))
    K, D = np.hsplit(-J, 2)
    return LinearisedForces(np.asarray(system.mass_matrix(q, t), dtype=float), D, K)


def _controlled(
    motion: FirstOrderSystem, free: LinearisedForces, t: float, x: np.ndarray, p: np.ndarray
) -> LinearisedForces:
    """Forces with those of a traced control."""
    system, clock = motion.system, float(motion.clock(t, p))
    q, y, _, states = motion.split(x)
    qd = motion.velocities_in(t, x, p)

    def force(t: float, state: np.ndarray) -> np.ndarray:
        """Control and forces at coordinates moved by a step, and velocities."""
        step, velocities = np.split(state, 2)
        tau = motion.forces(t, system.integrate(q, step), velocities, p, states)
        return np.asarray(tau, dtype=float)

    J, _ = differences(force, clock, np.concatenate([np.zeros(system.nv), qd]))
    K, D = np.hsplit(-J, 2)
    return LinearisedForces(free.M, free.D + D, free.K + K)


class StepOfModes(NamedTuple):
    """A step of a method over motions exp(lambda t).

    errors : |g - exp(lambda h)| of each, g of the method's factor
    growth : |g|
    """

    errors: np.ndarray
    growth: np.ndarray


def step_of_modes(name: str, rates: np.ndarray, h: float) -> StepOfModes:
    """A step of length h [s] of an explicit method over the motions of some rates (m,) [1/s]."""
    chosen = method_of(name, nq=1, nv=1)
    assert not isinstance(chosen, External)
    real = rates.imag == 0
    by_place = np.where(real, 0.0, -(np.abs(rates) ** 2))
    by_rate = np.where(real, rates.real, 2 * rates.real)

    def f(t: float, x: np.ndarray) -> np.ndarray:
        """The motion of each rate, x = (q, v)."""
        return np.array([x[1], by_place * x[0] + by_rate * x[1]])

    # velocities of the size of coordinates
    speed = np.maximum(np.abs(rates), 1e-300)
    columns = []
    for unit in (np.array([1.0, 0.0]), np.array([0.0, 1.0])):
        x = unit[:, None] * np.array([np.ones(len(rates)), speed])
        new = chosen.step(f, 0.0, x, h, *((f(0.0, x),) if isinstance(chosen, Adaptive) else ()))
        end = new[0] if isinstance(chosen, Adaptive) else new
        columns.append(end / np.array([np.ones(len(rates)), speed]))
    matrices = np.array(columns).transpose(2, 1, 0)
    factors = np.linalg.eigvals(matrices)
    factors[real] = matrices[real, 1, 1][:, None]  # of the velocity, on which nothing else acts
    exact = np.exp(rates * h)[:, None]
    errors = np.minimum(np.abs(factors - exact), np.abs(factors - exact.conj()))
    return StepOfModes(errors.max(axis=1), np.abs(factors).max(axis=1))


def is_explicit(method: Method) -> bool:
    """Whether steps of a method diverge from fast motions where they are too long."""
    if isinstance(method, FixedStep):
        return not method.implicit
    return isinstance(method, Adaptive) and not isinstance(method, LinearlyImplicit)


def has_elastic_bodies(system: System) -> bool:
    """Whether a mechanism has elastic bodies, and numbers alone."""
    mechanism = system.mechanism
    return mechanism is not None and not mechanism.symbols and bool(mechanism.elastic_bodies)


def has_springs(system: System) -> bool:
    """Whether a mechanism has elastic bodies, springs in its joints, or motors behind springs."""
    mechanism = system.mechanism
    if mechanism is None or mechanism.symbols:
        return False
    tree = mechanism.tree()
    return bool(tree.elasticities) or any(
        stiffness != 0 for joint in tree.joint[1:] for stiffness in joint.stiffness
    )


def diverging(name: str, rates: np.ndarray, h: float) -> complex | None:
    """Fastest motion that grows in steps of length h [s] of a method; None: there is none."""
    if not len(rates):
        return None
    found = step_of_modes(name, rates, h)
    grows = ~(found.growth <= GROWTH) & ~(found.errors <= UNFOLLOWED)
    return complex(rates[np.argmax(grows)]) if grows.any() else None


def needs_stiff_method(motion: FirstOrderSystem, x: np.ndarray, h: float) -> bool:
    """Whether a motion is stiff at the start, x (nx,): 'rk4' with steps h [s] would diverge; and
    whether the method for stiff systems goes with it.
    """
    if motion.system.constraints or motion.reactions or motion.formulation.canonical:
        return False
    return motion.traced and diverging(FIXED, rates_at(motion, x), h) is not None


def warn_of_step(motion: FirstOrderSystem, method: Method, x: np.ndarray, h: float) -> None:
    """Warn if a fixed step is too long for a mechanism with springs or beams at the start, x (nx,)."""
    if not (isinstance(method, FixedStep) and is_explicit(method) and has_springs(motion.system)):
        return
    rates = rates_at(motion, x)
    fastest = diverging(method.name, rates, h)
    if fastest is None:
        return
    growth = step_of_modes(method.name, np.array([fastest]), h).growth[0]
    warnings.warn(
        f"h={h:g} s is too long for {method.name!r}: at the start {motion.system.name!r} has "
        f"{_said(fastest)}, which would grow {growth:.2g} times in each step. Give h="
        f"{_long_enough(method.name, fastest, h):.1g}, or {INSTEAD}.",
        DalembertWarning,
        stacklevel=caller_level(),
    )


def rates_at(motion: FirstOrderSystem, x: np.ndarray) -> np.ndarray:
    """Rates of the linearised motion at the start, x (nx,) of the first trajectory; control, which is
    evaluated many times, is looked at where links are elastic.
    """
    p = motion.constants.reshape(-1, motion.constants.shape[-1])[0]
    with_control = has_elastic_bodies(motion.system)
    return linearised_forces(motion, 0.0, x, p, with_control).rates()


class Look(NamedTuple):
    """A trajectory at a record: the time [s], the state, and the step with which it goes on [s]."""

    t: float
    x: np.ndarray
    h: float


def _may_be_stiff(motion: FirstOrderSystem) -> bool:
    """Whether there are forces beside those of inertia and gravity."""
    mechanism = motion.system.mechanism
    if mechanism is None or TRACED in motion.kinds.values() or has_springs(motion.system):
        return True
    return any(damping != 0 for joint in mechanism.tree().joint[1:] for damping in joint.viscous)


def looks_at(found: Trajectories) -> tuple[int, float, list[Look]]:
    """The trajectory of most steps, how many these are, and some of its records."""
    row = int(np.argmax(found.steps[:, -1]))
    count = found.steps.shape[1]
    records = sorted({max(0, count * k // LOOKS - 1) for k in range(1, LOOKS + 1)})
    looks = [
        Look(float(found.t[row, k]), found.x[row, k].copy(), float(found.h[row, k]))
        for k in records
    ]
    return row, float(found.steps[row, -1]), looks


def _unfollowed(
    motion: FirstOrderSystem, method: Method, look: Look, p: np.ndarray
) -> complex | None:
    """Fastest motion that the step at a record does not follow; None: there is none."""
    if not np.isfinite(look.x).all():
        return None
    rates = linearised_forces(motion, look.t, look.x, p).rates()
    unfollowed = step_of_modes(method.name, rates, look.h).errors > UNFOLLOWED
    return complex(rates[np.argmax(unfollowed)]) if unfollowed.any() else None


def warn_of_stiffness(
    motion: FirstOrderSystem, method: Method, looks: tuple[int, float, list[Look]]
) -> None:
    """Warn if an explicit method that chooses its steps was held to them by stability: at most of the
    records looked at there is a motion that they do not follow.
    """
    row, steps, records = looks
    if isinstance(method, FixedStep) or not is_explicit(method) or steps < MANY:
        return
    if not _may_be_stiff(motion):
        return
    constants = motion.constants.reshape(-1, motion.constants.shape[-1])
    p = constants[min(row, len(constants) - 1)]
    *others, last = records
    fastest = _unfollowed(motion, method, last, p)
    if fastest is None:
        return
    held = [look for look in others if _unfollowed(motion, method, look, p) is not None]
    if 2 * len(held) < len(others):
        return
    t, _, h = last
    warnings.warn(
        f"{motion.system.name!r} is stiff: {steps:.0f} steps of {method.name!r} were held down by "
        f"stability, not by accuracy. At t = {t + motion.begin:.4g} s it has {_said(fastest)}, which "
        f"steps of {h:.2g} s do not follow. {INSTEAD.capitalize()}.",
        DalembertWarning,
        stacklevel=caller_level(),
    )


def _said(rate: complex) -> str:
    """A motion in words."""
    if rate.imag == 0:
        return f"a decay with a rate of {-rate.real:.3g} 1/s"
    return f"a vibration of {abs(rate.imag):.3g} rad/s with a damping rate of {-rate.real:.3g} 1/s"


def _long_enough(name: str, rate: complex, h: float) -> float:
    """A step [s] in which a motion does not grow."""
    rates = np.array([rate])
    for _ in range(HALVINGS):
        h = h / 1.25
        if step_of_modes(name, rates, h).growth[0] <= 1 + 1e-9:
            break
    return h
