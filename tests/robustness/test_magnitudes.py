"""Numbers at the ends of doubles: pictures, reports, closed forms and files refuse them in a line, and never with a traceback."""

import warnings
from dataclasses import replace

import pytest

import dalembert as da
from dalembert.displays import in_notebook


def arm(mass=1.0, com=0.5, length=1.0):
    """A 2R arm with these numbers in each link."""
    bodies = [da.Body("base"), *(da.Body(name, mass, (com, 0, 0), (mass, 0, mass, 0, 0, mass)) for name in "ab")]
    joints = [da.Joint("p", da.Revolute((0, 1, 0)), "base", "a"), da.Joint("q", da.Revolute((0, 1, 0)), "a", "b", da.Origin((length, 0, 0)))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DalembertWarning)
        return da.Mechanism("arm", bodies, joints)


WAYS = {
    "drawn": lambda mechanism, file: mechanism.picture(),
    "derived in closed form": lambda mechanism, file: da.equations(mechanism),
    "repaired": lambda mechanism, file: mechanism.repaired(),
    "written as URDF": lambda mechanism, file: da.save(mechanism, file),
}


@pytest.mark.parametrize("purpose", WAYS)
@pytest.mark.parametrize("numbers, where", [({"mass": 1e308}, "the mass of body 'a' has 1e.308 kg"), ({"com": -1e200}, "the centre of mass of body 'a'"),
                                            ({"length": 1e150}, "the origin of joint 'q' has 1e.150 m")])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_numbers_that_are_too_large_are_refused_in_a_line(purpose, numbers, where, tmp_path):
    with pytest.raises(da.OverflowedError, match=f"'arm' cannot be {purpose}: {where}.* SI units"):
        WAYS[purpose](arm(**numbers), tmp_path / "arm.urdf")
    assert in_notebook("mechanism_html", arm(**numbers)) is None


def test_a_report_says_why_it_has_no_picture(tmp_path):
    page = da.report(arm(length=1e200), tmp_path / "arm.html", t=0.1)
    text = page.read_text(encoding="utf-8")
    assert text.count("m, more than 1e+30") >= 4          # picture, properties, motion, speed


@pytest.mark.parametrize("size", [1e-300, 1e200])
def test_shapes_beyond_graphics_are_refused(size):
    for kind, sizes in (("sphere", (size,)), ("cylinder", (size, 1)), ("box", (1, size, 1))):
        with pytest.raises(ValueError, match="are from 1e-12 to 1e.12"):
            da.Visual(kind, sizes)
    with pytest.raises(ValueError, match="sizes of a mesh are from"):
        da.Visual("mesh", (1, size, 1), mesh="a.stl")


def test_things_in_the_wrong_place_are_named(tmp_path):
    good = arm()
    for make, message in (
        (lambda: da.view(good, [0, 0]), r"run=\[0, 0\] .list.: expected a Run, as da.simulate makes; q= is a posture"),
        (lambda: replace(good.body("a"), visuals=da.Visual("sphere", (1,))), "expected a list of da.Visual"),
        (lambda: da.simulate("panda", [0], [0], 1), r"da.load\('panda'\) makes a Mechanism"),
    ):
        with pytest.raises(TypeError, match=message):
            make()
