"""Numbers of controllers: gains and references as vectors, checked where they are given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property, wraps
from typing import Any

import numpy as np

from dalembert.arguments import put, real_array
from dalembert.errors import DalembertError, ModelError, ShapeError, public_names
from dalembert.expr import array
from dalembert.model.constraint import check_unconstrained
from dalembert.model.units import ask_degrees
from dalembert.purity.examine import check_arguments
from dalembert.systems.kinds import is_system, system_of
from dalembert.systems.system import System

Reference = Callable[[Any], tuple[Any, Any, Any]]  # t -> q, qd, qdd


def named_arguments(kind: type) -> type:
    """A class whose arguments are told by name where one of them is another: `k_p` is no stiffness
    `K_p`.

    K_p, K_d are stiffness and damping [N m/rad, N m s/rad]; k_p, k_d are per inertia [1/s^2, 1/s].
    """
    names = [f.name for f in fields(kind) if f.init]  # type: ignore[arg-type]
    made = kind.__init__  # type: ignore[misc]

    @wraps(made)
    def checked(self: Any, *arguments: Any, **named: Any) -> None:
        """The constructor, after a check of the names of its arguments."""
        for name in named:
            if name not in names:
                near = [n for n in names if n.lower() == name.lower()]
                unit = {
                    "K": "stiffness [N m/rad] and damping [N m s/rad]",
                    "k": "per inertia [1/s^2, 1/s]",
                }
                hint = (
                    f" Did you mean {near[0]}: K_p, K_d are {unit['K']}, k_p, k_d {unit['k']}?"
                    if near
                    else ""
                )
                raise TypeError(
                    f"{kind.__name__} has no argument {name!r} (it takes {', '.join(names)}).{hint}"
                )
        made(self, *arguments, **named)

    kind.__init__ = checked  # type: ignore[misc]
    return kind


def gains(given: Any, name: str, n: int, least: float = 0.0) -> np.ndarray:
    """A number or one per entry, as (n,) of floats >= least.

    Raises
    ------
    ShapeError, ValueError
        There are not n; one is smaller.
    """
    found = real_array(name, given)
    if found.shape not in ((), (n,)):
        raise ShapeError(
            f"{name} has shape {found.shape}, expected one number or ({n},).",
            name,
            found.shape,
            (n,),
        )
    found = np.broadcast_to(found, (n,)).copy()
    if not (found >= least).all():
        k = int(np.argmin(found >= least))
        raise ValueError(f"{name}[{k}] is {found[k]:g}, expected a number of at least {least:g}.")
    return found


def system_under(controller: Any) -> System:
    """The system that the first field of a controller stands for.

    Raises
    ------
    TypeError
        It is something else.
    ModelError
        It has elastic bodies or flexible joints, whose coordinates no actuator drives.
    """
    if is_system(controller.mechanism):
        system = system_of(controller.mechanism)
        _refuse_elastic(system, type(controller).__name__)
        return system
    raise TypeError(
        f"{type(controller).__name__}: the mechanism comes first, expected a Mechanism, as da.load "
        f"makes, not a {type(controller.mechanism).__name__}."
    )


def _refuse_elastic(system: System, name: str) -> None:
    """Raise for a law that would drive the deflections of elastic bodies."""
    mechanism = system.mechanism
    if mechanism is not None and mechanism.elastic_bodies:
        bodies = ", ".join(repr(body.name) for body in mechanism.elastic_bodies[:3])
        raise ModelError(
            f"{name} drives every coordinate, but no actuator acts on the deflections of {bodies} of "
            f"{mechanism.name!r}. ElasticPD drives the joints alone; {name} of the rigid mechanism, "
            "mechanism.without('elasticity'), can be wrapped in a function that adds zeros."
        )
    flexible = _flexible_joints(system)
    if flexible and name != "PD":
        raise ModelError(
            f"{name} drives every coordinate, but flexible joints ({', '.join(flexible)}) are driven by "
            "their motors alone. Take PD with gains of the motors, and 0 on these joints."
        )


def check_drives(system: System, gains: np.ndarray) -> None:
    """Raise for gains (nv,) on flexible joints, which only their motors drive."""
    for joint, k in _flexible_joints(system).items():
        if gains[k] != 0:
            raise ModelError(
                f"gains of joint {joint!r} are not 0, but its motor alone drives it: give K_p and K_d "
                f"of {joint!r} as 0, and those of the motor."
            )


def _flexible_joints(system: System) -> dict[str, int]:
    """Entries in qd of joints that are driven through springs, by name."""
    mechanism = system.mechanism
    if mechanism is None:
        return {}
    return {j.name: mechanism.entries[j.name].at_v.start for j in mechanism.flexible_joints}


def check_bodies(controller: Tracking) -> None:
    """Raise a TypeError if the model of a controller has no bodies, whose inertias its law is
    linear in.
    """
    if controller.system.mechanism is None:
        raise TypeError(
            f"{type(controller).__name__}: {controller.system.name!r} is no Mechanism, whose "
            "bodies this law needs. ComputedTorque and FeedForward take any system."
        )
    check_unconstrained(controller.system.mechanism, type(controller).__name__)


def is_unchanging(function: Any) -> bool:
    """Whether a reference or controller works on symbols and is the same for ever, as those of this
    package are.
    """
    return getattr(function, "unchanging", False) is True


def followed(
    reference: Reference, t: Any, system: System
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, qd, qdd of a reference at a time, as vectors.

    Raises
    ------
    ShapeError, TypeError
        One of them has another length; there are none.
    """
    given = reference(t)
    if not np.iterable(given):
        raise TypeError(
            f"the reference returned {given!r} ({type(given).__name__}), expected q, qd, qdd."
        )
    found = [array(v) for v in given]
    if [v.shape for v in found] != [(system.nq,), (system.nv,), (system.nv,)]:
        raise ShapeError(
            f"the reference returned shapes {', '.join(str(v.shape) for v in found)}, expected q, "
            f"qd, qdd of shapes ({system.nq},), ({system.nv},), ({system.nv},).",
            "reference",
        )
    return found[0], found[1], found[2]


def ask_goal(system: System, q: np.ndarray) -> None:
    """Warn if a posture to go to has an angle that looks like one in degrees."""
    if system.mechanism is not None:
        ask_degrees(system.mechanism, q)


@dataclass(frozen=True, eq=False)
class Tracking:
    """A mechanism and the reference that it follows: the base of the tracking controllers."""

    mechanism: Any
    reference: Reference
    __dir__ = public_names

    @cached_property
    def system(self) -> System:
        """The equations of motion of the model."""
        return system_under(self)

    @property
    def unchanging(self) -> bool:
        """Whether it is traced once: so is its reference."""
        return is_unchanging(self.reference)

    def _check(self, **given: Any) -> None:
        """Put gains of each joint; refuse what cannot be followed: errors of q and qd are their
        differences.

        Raises
        ------
        ShapeError, ValueError, TypeError, DalembertError
            Gains or reference have another length; a gain is negative; the mechanism is none, or
            the reference no function; a joint has a quaternion.
        """
        system = self.system
        if not callable(self.reference):
            raise TypeError(
                f"{type(self).__name__}: the reference is {self.reference!r} "
                f"({type(self.reference).__name__}), expected a function t -> (q, qd, qdd): "
                "controllers.Hold([...]) holds a posture q, Sinusoids and Quintic move, and so do "
                "da.generators of time."
            )
        for joint in system.quaternions:
            raise DalembertError(
                f"{type(self).__name__} tracks coordinates whose rates are qd, but joint {joint!r} "
                f"of mechanism {system.name!r} has a quaternion: use controllers.PD or GravityPD, "
                "for set points."
            )
        check_arguments(self.reference, "the reference", ("t",))
        put(self, **{name: gains(value, name, system.nv) for name, value in given.items()})
        q, _, _ = followed(self.reference, 0.0, system)
        points = getattr(self.reference, "points", None)  # of a path: its goal is not at its start
        ask_goal(system, points if isinstance(points, np.ndarray) else q)
