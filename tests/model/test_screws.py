"""Joints say which elementary screws they are made of: closed forms, locks and compiled code ask nothing else."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import dalembert as da
from dalembert.formulations import elementary_motions
from dalembert.model.joints import JOINT_TYPES
from dalembert.model.joints.base import AxisJoint
from dalembert.spatial.motion_force import Motion
from dalembert.spatial.rotations import about_axis
from dalembert.spatial.screws import Screw
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import ZERO, Vector


def test_every_built_in_type_has_screws_or_a_quaternion():
    for kind in JOINT_TYPES.values():
        assert (kind().screws() is None) == (kind().quaternion_freedoms > 0) == (kind().quaternion_at is not None)
        assert kind().quaternion_freedoms in (0, kind().nv)


@pytest.mark.parametrize("base", [da.Revolute, da.Universal, da.Spherical, da.Free, da.Planar])
def test_a_type_derived_from_another_does_not_take_over_its_facts(base):
    own = type("Own", (base,), {"placement": lambda self, q: Transform()})
    assert own().screws() is None and own.quaternion_freedoms == 0 and not own.takes_symbols
    again = type("Again", (own,), {"screws": lambda self: ()})
    assert again().screws() == ()


@dataclass(frozen=True)
class Slanted(AxisJoint):
    """A slide along x, then a turn about an axis: a type that the package does not know."""

    axis: tuple = (0, 0, 1)
    name: ClassVar[str] = "slanted"
    coordinates = ("displacement", "angle")
    velocities = ("rate", "angular rate")
    constant_subspace = False

    def converted(self, convert):
        return replace(self, axis=tuple(convert(a) for a in self.unit_axis))

    def screws(self):
        return Screw(0, Vector((1, 0, 0)), turns=False), Screw(1, Vector(self.axis))

    def placement(self, q):
        return Transform(Vector((q[0], 0, 0)), about_axis(self.axis, q[1]))

    def subspace(self, q):
        back = about_axis(self.axis, q[1])
        return (Motion(ZERO, back.to_child(Vector((1, 0, 0)))), Motion(Vector(self.axis), ZERO))

    def subspace_rate(self, q, v):
        first, turn = self.subspace(q)
        return -turn.scaled(v[1]).cross(first), turn.scaled(0)

    def subspace_rate_derivatives(self, q, v):
        first, turn = self.subspace(q)
        return turn.scaled(0), turn.cross(turn.cross(first)).scaled(v[0] * v[1])


def slanted():
    body = da.Body("one", 1.5, (0.5, 0, 0), (0.01, 0, 0.2, 0, 0, 0.2)), da.Body("two", 1, (0.3, 0, 0), (0.01, 0, 0.1, 0, 0, 0.1))
    joints = (da.Joint("slot", Slanted(), "base", "one"), da.Joint("q2", da.Revolute((0, 0, 1)), "one", "two", da.Origin((1, 0, 0))))
    return da.Mechanism("slanted", (da.Body("base"), *body), joints, gravity=(0, -9.81, 0))


def test_a_new_type_with_screws_has_closed_forms_exact_locks_and_elementary_motions():
    m = slanted()
    q, qd, tau = [0.4, 0.3, -0.5], [0.2, 1.0, -0.7], [1.0, 2.0, 3.0]
    assert [x.kind for x in elementary_motions.motions(m)] == ["Tx", "Rz", "Rz"]
    expected = da.forward_dynamics(m, q, qd, tau)
    np.testing.assert_allclose(elementary_motions.forward_dynamics(m, q, qd, tau), expected, rtol=1e-12)
    np.testing.assert_allclose(da.compile(m).forward_dynamics(q, qd, tau), expected, rtol=1e-12)
    form = da.equations(m)
    assert "cos" in form.text() or "c2" in form.text()
    locked = m.lock({"slot": [0.25, math.pi / 6]})
    assert locked.joint("slot").origin == da.Origin((0.25, 0, 0), (("z", math.pi / 6),))
    np.testing.assert_allclose(da.placement(locked, [0.2], "two"), da.placement(m, [0.25, math.pi / 6, 0.2], "two"), atol=1e-15)
