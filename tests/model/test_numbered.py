"""Parts and joint types own their numbers and their identity: nothing else has a list of them."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

import dalembert as da
from dalembert.model.numbered import Part
from dalembert.model.parts import Frame


def arm():
    origin = da.Origin((0, 0, 1), (("x", 0.5), ((0, 0, 1), 0.25)))
    joints = (da.Joint("hip", da.Universal((1, 0, 0), (0, 0.6, 0.8)), "base", "thigh", origin, viscous=(0.1, 0.2)),
              da.Joint("screw", da.Helical((0, 1, 0), 0.02), "thigh", "nut", stiffness=3),
              da.Joint("second", da.Helical((0, 1, 0), 0.02), "nut", "other", mimic=da.Mimic("screw", 2, 0.1)))
    bodies = (da.Body("base"), *(da.Body(name, 1.5, (0.1, 0, 0), (0.2, 0, 0.3, 0, 0.01, 0.4)) for name in ("thigh", "nut", "other")))
    return da.Mechanism("arm", bodies, joints, (da.Frame("tool", "nut", origin),))


def test_every_number_of_every_part_is_its_own_to_tell_and_to_replace():
    m = arm()
    base = m.identity()
    for part in (*m.parts, *(j.type for j in m.joints), *(j.origin for j in m.joints)):
        assert part.with_numbers({}) == part
        for k, name in enumerate(part.numbers()):
            changed = part.with_numbers({name: 7 + k, "unknown": 3})
            assert changed.numbers() == part.numbers() | {name: 7 + k}
            assert type(changed) is type(part) and changed.identity() != part.identity()
    for part in m.parts:
        for name in part.numbers():
            path = f"{part.name}.{name}"
            assert m.replace({path: 7}).number(path) == 7 and m.replace({path: 7}).identity() != base
    assert m.replace({"screw.stiffness": 5}).number("screw.stiffness[0]") == 5
    assert m.replace({"nut.inertia[2, 1]": 5}).number("nut.inertia[1,2]") == 5


def test_numbers_told_apart_by_their_kind_and_origins_by_their_axes():
    m = arm()
    assert m.replace({"nut.mass": 1}).identity() != m.replace({"nut.mass": 1.0}).identity()
    frame = m.frames[0]
    turned = replace(frame, origin=da.Origin((0, 0, 1), (("y", 0.5), ((0, 0, 1), 0.25))))
    assert turned.numbers() == frame.numbers() and turned.identity() != frame.identity()


@pytest.mark.parametrize("base", [da.Body, da.Frame, da.Joint, da.Origin])
def test_a_part_of_a_class_of_ones_own_has_no_identity(base):
    part = next(p for p in (*arm().parts, da.Origin()) if type(p) is base)
    own = type("Own", (base,), {})
    assert part.identity() is not None
    assert own(**{name: getattr(part, name) for name in base.__dataclass_fields__}).identity() is None


@dataclass(frozen=True)
class Spring(Part):
    """A spring between two frames: a kind of part that the package does not know."""

    name: str
    first: str
    second: str
    stiffness: float = 1.0

    def numbers(self):
        return {"stiffness": self.stiffness}

    def with_numbers(self, numbers):
        return replace(self, stiffness=numbers.get("stiffness", self.stiffness))

    def identity(self):
        return repr(self)


@dataclass(frozen=True, repr=False)
class Sprung(da.Mechanism):
    """A mechanism with springs."""

    PARTS: ClassVar[tuple[str, ...]] = (*da.Mechanism.PARTS, "springs")
    springs: tuple[Spring, ...] = ()


def test_a_new_kind_of_part_has_paths_without_an_edit_elsewhere():
    m = Sprung("sprung", (da.Body("base"), da.Body("load", 1)), (da.Joint("j", da.Prismatic(), "base", "load"),),
               (Frame("hook", "load"),), springs=(Spring("coil", "base", "hook", 40.0),))
    changed = m.replace({"coil.stiffness": 50.0, "load.mass": 2})
    assert (changed.number("coil.stiffness"), changed.number("load.mass"), m.number("coil.stiffness")) == (50.0, 2, 40.0)
    with pytest.raises(da.UnknownNameError, match="number of 'coil'"):
        m.number("coil.damping")
