"""Shapes of bodies for pictures."""

import pytest

import dalembert as da


def test_shapes_are_no_part_of_the_mechanics():
    """Bodies with and without them are equal, and have the same identity."""
    shape = da.Visual("cylinder", (0.05, 0.4), da.Origin((0, 0, 0.2)), (1, 0, 0, 1))
    plain, shown = da.Body("rod", 1.0), da.Body("rod", 1.0, visuals=[shape])
    assert shown == plain and shown.identity() == plain.identity() and shown.visuals == (shape,)


@pytest.mark.parametrize("wrong, part", [(dict(kind="ball", sizes=(1,)), "kind of a visual"), (dict(kind="box", sizes=(1, 2)), "sizes of a box"),
                                         (dict(kind="sphere", sizes=(1,), colour=(1, 0, 0)), "colour of a sphere"),
                                         (dict(kind="mesh", sizes=(1, 1, 1), mesh=3), "the mesh of a visual")])
def test_wrong_shapes_are_refused(wrong, part):
    with pytest.raises((da.DalembertError, TypeError, ValueError), match=part):
        da.Visual(**wrong)


def test_a_body_takes_shapes_alone():
    with pytest.raises(TypeError, match="a visual of body 'rod'"):
        da.Body("rod", visuals=["box"])
