"""Rotors in closed forms: the parameters of their carriers hold them as if they were locked, and
each has a single parameter, its moment about its axis, where that is a coordinate axis.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Sequence,
)
from typing import (
    Any,
    NamedTuple,
)

from dalembert.closed_forms.derivation.run_inertia import RunInertia
from dalembert.model.rotors import Spin
from dalembert.model.tree import Tree
from dalembert.spatial.rotations import (
    Dense,
    Rotation,
    coordinate_axis,
)
from dalembert.spatial.vectors import (
    AXES,
    ZERO,
    Matrix,
)


class LockedRotor(NamedTuple):
    """A rotor about coordinate axis `axis` of its body, whose axes those of its carrier have there."""

    body: int
    carrier: int
    axis: int
    axes: Rotation

    def alone(self, moment: Any) -> RunInertia:
        """Inertia of a moment about the axis, in the axes of the rotor."""
        axis = AXES[self.axis]
        return RunInertia(0, ZERO, Matrix.outer(axis, axis) * moment)

    def on_carrier(self, moment: Any) -> RunInertia:
        """The same in the axes of its carrier."""
        return self.alone(moment).turned(self.axes)


def locked_rotors(tree: Tree, scalar: Callable[[Any], Any]) -> list[LockedRotor]:
    """Rotors about coordinate axes of their own, with numbers as scalars of an algebra."""
    rotors = []
    for i in tree.outward():
        joint = tree.joint[i]
        if isinstance(joint.type, Spin) and (aligned := coordinate_axis(joint.type.axis)):
            axes = Dense(Matrix(map(scalar, row) for row in joint.origin.R.matrix()))
            rotors.append(LockedRotor(i, tree.parent[i], aligned[0], axes))
    return rotors


def reduced(rotors: Sequence[LockedRotor], bodies: Sequence[RunInertia]) -> list[RunInertia]:
    """Bodies for equations, of bodies with locked rotors: carriers lose the moments that rotors have
    by themselves.
    """
    found = list(bodies)
    for rotor in rotors:
        moment = bodies[rotor.body].I[rotor.axis][rotor.axis]
        found[rotor.body] = rotor.alone(moment)
        found[rotor.carrier] = found[rotor.carrier] + rotor.on_carrier(-moment)
    return found


def locked(rotors: Sequence[LockedRotor], bodies: Sequence[RunInertia]) -> list[RunInertia]:
    """Bodies of a tree with their rotors locked on them."""
    found = list(bodies)
    for rotor in rotors:
        found[rotor.carrier] = found[rotor.carrier] + bodies[rotor.body].turned(rotor.axes)
    return found
