"""Inversion of an elastic arm for the way of its tip: the force of a joint that makes a frame follow
a program.

The tip of an elastic link does not follow the joint at once: zeros of the transfer function lie in
the right half-plane (non-minimum phase), so that a causal inversion grows without bound. The
bounded one acts before the program begins and after it ends.

Bayo, A finite-element approach to control the end-point motion of a single-link flexible robot,
Journal of Robotic Systems 4 (1987) 63-75.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arguments import check_instance
from dalembert.controllers.samples import Samples
from dalembert.errors import DalembertError, ModelError
from dalembert.formulations.newton_euler import inverse_dynamics, linearize
from dalembert.generators import TimeGenerator
from dalembert.generators.motion_data import positive
from dalembert.kinematics.jacobians import jacobian
from dalembert.kinematics.poses import placement
from dalembert.model.joints import Prismatic
from dalembert.model.mechanism import Mechanism
from dalembert.model.parts import Joint
from dalembert.spatial.arrays import VectorArray

FADED = 12.0  # time constants of the slowest zero before and after the program: e^-12 = 6e-6
AT_REST = 1e-6  # of the largest force: elastic forces of a start in equilibrium
VANISHING = 1e-9  # of the largest product: an output that forces do not accelerate at once


@dataclass(frozen=True, eq=False)
class TipInversion:
    """The force of a joint that makes a frame follow a program, by the linear model.

    Attributes
    ----------
    times : (K,) [s]; the program begins at `lead`.
    force : (K,) of the joint [N m, N]
    coordinates : (K, nv) displacements from the equilibrium [rad, m]
    zeros : (k,) of the transfer function from the force to the frame [1/s]
    lead : float, time of actuation before the program [s]

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(1.0, EIz=5.0, mass_per_length=0.5)
    >>> arm = da.Mechanism("arm", [da.Body("hub"), da.Body("link", beam=beam, modes={"bend_y": 2})],
    ...     [da.Joint("hinge", da.Revolute((0, 0, 1)), "hub", "link")],
    ...     [da.Frame("tip", "link", da.Origin((1.0, 0, 0)))], gravity=(0, 0, 0))
    >>> move = da.generators.Polynomial([0.0], [0.5], duration=1.0)
    >>> print(da.controllers.tip_inversion(arm, move, "tip", "hinge"))      # doctest: +ELLIPSIS
    arm: non-minimum phase, 4 zeros, in the right half-plane ... [1/s]
    the force acts ... s before the program and after it; at most ...
    """

    mechanism: Mechanism
    times: VectorArray
    force: VectorArray
    coordinates: np.ndarray
    zeros: np.ndarray
    lead: float
    entry: int

    @property
    def is_minimum_phase(self) -> bool:
        """Whether no zero lies in the right half-plane."""
        return bool((self.zeros.real <= 0).all())

    def control(self) -> Samples:
        """The forces (nv,) as a function of time, whose 0 is that of `times`: for `simulate`.

        Examples
        --------
        >>> import dalembert as da
        >>> beam = da.Beam(1.0, EIz=5.0, mass_per_length=0.5)
        >>> arm = da.Mechanism("arm", [da.Body("hub"), da.Body("link", beam=beam, modes={"bend_y": 2})],
        ...     [da.Joint("hinge", da.Revolute((0, 0, 1)), "hub", "link")],
        ...     [da.Frame("tip", "link", da.Origin((1.0, 0, 0)))], gravity=(0, 0, 0))
        >>> move = da.generators.Polynomial([0.0], [0.5], duration=1.0)
        >>> inversion = da.controllers.tip_inversion(arm, move, "tip", "hinge")
        >>> inversion.control()(0.0, None, None).shape
        (3,)
        """
        forces = np.zeros((len(self.times), self.mechanism.nv))
        forces[:, self.entry] = self.force
        return Samples(self.times, forces)

    def __str__(self) -> str:
        unstable = self.zeros[self.zeros.real > 0]
        phase = "minimum phase" if self.is_minimum_phase else "non-minimum phase"
        zeros = ", ".join(f"{z:.4g}" for z in np.sort_complex(unstable)[:4])
        lines = [
            f"{self.mechanism.name}: {phase}, {len(self.zeros)} zeros"
            + (f", in the right half-plane {zeros} [1/s]" if len(unstable) else ""),
            f"the force acts {self.lead:.3g} s before the program and after it; at most "
            f"{np.abs(self.force).max():.4g}",
        ]
        return "\n".join(lines)


def tip_inversion(
    mechanism: Mechanism,
    program: TimeGenerator,
    frame: str,
    joint: str,
    q: Any = None,
    step: float = 1e-3,
) -> TipInversion:
    """Force of a joint that makes a frame follow a program of one coordinate, by the linear model
    about an equilibrium.

        y(s) = C (s^2 - A_2 s - A_1)^-1 B tau(s),    tau = y''_program / (s^2 G) at s = i w

    y is the angle of the frame's place about the joint's axis [rad], or its way along the axis of a
    prismatic joint [m]. The quotient is taken by Fourier's transform over a time in which the
    force fades at both ends (Bayo's method): the solution that stays bounded.

    Parameters
    ----------
    mechanism : Mechanism
        At rest, without constraints.
    program : generator of time
        Of one output that is at rest before 0 and from its last time on, as `Polynomial`.
    frame, joint : str
        The frame that follows; the joint that drives, revolute or prismatic.
    q : (nq,) array, optional
        Equilibrium; by default the neutral coordinates.
    step : float
        Of the samples [s].

    Returns
    -------
    TipInversion

    Raises
    ------
    ModelError
        The joint has no single axis; the coordinates are no equilibrium; there are constraints.
    DalembertError
        A zero lies on the imaginary axis, so that no force fades; the program moves on.
    UnknownNameError, TypeError, ValueError, ShapeError

    Notes
    -----
    The linear model leaves out terms of the second order: centrifugal ones, and of gravity where
    the arm turns far. Simulate with `control` to see what is left.

    References
    ----------
    Bayo (1987); Kwon and Book, A time-domain inverse dynamic tracking control of a single-link
    flexible manipulator, Journal of Dynamic Systems, Measurement, and Control 116 (1994) 193-200.

    Examples
    --------
    >>> import dalembert as da
    >>> beam = da.Beam(1.0, EIz=5.0, mass_per_length=0.5, damping=da.Rayleigh(stiffness=1e-3))
    >>> arm = da.Mechanism("arm", [da.Body("hub"), da.Body("link", beam=beam, modes={"bend_y": 2})],
    ...     [da.Joint("hinge", da.Revolute((0, 0, 1)), "hub", "link")],
    ...     [da.Frame("tip", "link", da.Origin((1.0, 0, 0)))], gravity=(0, 0, 0))
    >>> inversion = da.controllers.tip_inversion(arm, da.generators.Polynomial([0.0], [0.5], 1.0), "tip", "hinge")
    >>> inversion.is_minimum_phase
    False
    """
    check_instance("program", program, TimeGenerator, "a generator of time")
    driving = mechanism.joint(joint)
    q = mechanism.neutral() if q is None else np.asarray(q, dtype=float)
    A1, A2, B = _linear_model(mechanism, q, driving)
    C = _output(mechanism, q, frame, driving)
    zeros = _zeros(A1, A2, B, C, mechanism.name)
    lead = FADED / np.abs(zeros.real).min() if len(zeros) else 0.0
    duration = _duration(program)
    times = np.arange(0.0, 2 * lead + duration + step, positive("step", step))
    wanted = program.values(times - lead, 2)[2][:, 0]
    s = 2j * np.pi * np.fft.rfftfreq(len(times), step)[:, None, None]
    identity = np.eye(len(A1))
    # x = s^-2 X(s) y'' / (C X), with X = s^2 (s^2 - A_2 s - A_1)^-1 B: bounded at s = 0
    motion = np.linalg.solve(_shifted(identity, A2, A1, s), B[:, None])[..., 0]
    through = motion @ C
    force = np.fft.irfft(np.fft.rfft(wanted) / through, len(times))
    accelerations = np.fft.irfft(
        np.fft.rfft(wanted)[:, None] * (motion / through[:, None]), len(times), axis=0
    )
    coordinates = _integrated(accelerations, times)
    entry = mechanism.entries[joint].at_v.start
    return TipInversion(mechanism, times, force, coordinates, zeros, lead, entry)


def _shifted(identity: np.ndarray, A2: np.ndarray, A1: np.ndarray, s: np.ndarray) -> np.ndarray:
    """1 - A_2 / s - A_1 / s^2, with s = 0 a little beside it: accelerations of forces."""
    beside = np.where(s == 0, 1e-6j * np.abs(s[1]), s)
    return identity - A2 / beside - A1 / beside**2  # type: ignore[no-any-return]


def _linear_model(
    mechanism: Mechanism, q: np.ndarray, joint: Joint
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A_1, A_2 and B of x'' = A_1 x + A_2 x' + B tau."""
    if mechanism.constraints:
        raise ModelError(
            f"{mechanism.name!r} has constraints: tip_inversion is for open chains. Use "
            "mechanism.without('constraints') or a servo constraint."
        )
    if joint.type.nv != 1 or not hasattr(joint.type, "axis") or joint.mimic is not None:
        raise ModelError(
            f"joint {joint.name!r} is {joint.type.name}: tip_inversion drives a revolute or "
            "prismatic joint."
        )
    rest = np.zeros(mechanism.nv)
    held = inverse_dynamics(mechanism, q, rest, rest)
    elastic = [k for entry in mechanism.body_entries.values() for k in entry.at_v]
    loads = np.abs(held[elastic]).max(initial=0.0)
    if loads > AT_REST * max(np.abs(held).max(initial=0.0), 1.0):
        raise ModelError(
            f"q is no equilibrium of the elastic bodies: a force of {loads:.3g} is left on them. "
            "da.static_deflection(mechanism, q) finds it."
        )
    A, B = linearize(mechanism, q, rest, held)
    n = mechanism.nv
    k = mechanism.entries[joint.name].at_v.start
    return A[n:, :n], A[n:, n:], B[n:, k]


def _output(mechanism: Mechanism, q: np.ndarray, frame: str, joint: Joint) -> np.ndarray:
    """C (nv,): rate of the angle of the frame's place about the joint's axis, or of its way."""
    T = placement(mechanism, q, joint.child)
    given: Any = joint.type
    axis = T[:3, :3] @ [float(x) for x in given.axis]
    axis /= np.linalg.norm(axis)
    J = jacobian(mechanism, q, frame, "aligned")[3:]
    if isinstance(joint.type, Prismatic):
        return axis @ J  # type: ignore[no-any-return]
    arm = placement(mechanism, q, frame)[:3, 3] - T[:3, 3]
    across = np.cross(axis, arm)
    if not np.linalg.norm(across) > 0:
        raise ModelError(
            f"frame {frame!r} lies on the axis of joint {joint.name!r}: it has no angle about it."
        )
    return across @ J / (across @ across)  # type: ignore[no-any-return]


def _zeros(A1: np.ndarray, A2: np.ndarray, B: np.ndarray, C: np.ndarray, name: str) -> np.ndarray:
    """Zeros of C (s^2 - A_2 s - A_1)^-1 B: motions in which the output stays at rest."""
    direct = C @ B
    if abs(direct) <= VANISHING * np.abs(C).max() * np.abs(B).max():
        raise DalembertError(
            f"{name!r}: the force does not accelerate the frame at once (C B = {direct:.3g}), so that "
            "the inversion needs higher derivatives. Take another frame or other modes."
        )
    n = len(A1)
    kept = np.eye(n) - np.outer(B, C) / direct
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    A[n:, :n], A[n:, n:] = kept @ A1, kept @ A2
    values = np.linalg.eigvals(A)
    values = values[np.argsort(np.abs(values))][2:]  # two of the output's own chain are 0
    still = np.abs(values.real) < 1e-9 * np.abs(values).max(initial=1.0)
    if still.any():
        raise DalembertError(
            f"{name!r}: the zero {values[still][0]:.4g} 1/s lies on the imaginary axis, so that no "
            "force fades. Give the beam damping, or take another frame."
        )
    return values  # type: ignore[no-any-return]


def _duration(program: TimeGenerator) -> float:
    """The time at which a program of one coordinate comes to rest."""
    end = getattr(program, "duration", None)
    if end is None:
        raise DalembertError(
            "the program does not say its duration: take one from rest to rest, such as "
            "da.generators.Polynomial."
        )
    return float(end)


def _integrated(accelerations: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Displacements from accelerations, at rest at the beginning (trapezoidal rule twice)."""
    step = times[1] - times[0]
    displacement = accelerations
    for _ in range(2):
        middle = (displacement[1:] + displacement[:-1]) * (step / 2)
        displacement = np.vstack([np.zeros_like(middle[:1]), np.cumsum(middle, axis=0)])
    return displacement
