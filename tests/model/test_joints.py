"""Joint types one by one: customs, continuous joints, planes."""

import math

import numpy as np
import pytest

import dalembert as da
from dalembert.expr import Expr
from dalembert.model.numbers import as_float


def test_a_custom_joint_can_be_a_revolute_joint():
    def hinge(q):
        c, s = da.cos(q[0]), da.sin(q[0])
        return ((c, -s, 0), (s, c, 0), (0, 0, 1)), (0, 0, 0)

    body = da.Body("link", 2.0, (0.3, 0.1, 0), (0.1, 0, 0.2, 0, 0, 0.3))
    own, built_in = (da.Mechanism("m", [da.Body("base"), body], [da.Joint("j", t, "base", "link", da.Origin((0, 0, 1)))])
                     for t in (da.Custom(hinge), da.Revolute()))
    for f in (da.mass_matrix, da.gravity_vector):
        assert np.allclose(f(own, [0.7]), f(built_in, [0.7]), rtol=1e-15, atol=1e-15)


def test_a_continuous_joint_has_one_coordinate_and_differences_the_shorter_way():
    body = da.Body("link", 1.5, (0.25, 0, 0), (0, 0, 0.03, 0, 0, 0.03))
    m = da.Mechanism("wheel", [da.Body("base"), body], [da.Joint("j", da.Continuous((0, 1, 0)), "base", "link")])
    assert (m.nq, m.nv) == (1, 1)
    assert m.difference([3.0], [3.0 + 2 * math.pi])[0] == pytest.approx(0, abs=1e-15)
    assert m.difference([-3.0], [3.0])[0] == pytest.approx(2 * math.pi - 6)
    with da.Graph():
        step = m.difference(np.array([da.symbol("a")]), np.array([da.symbol("b")]))[0]
        assert isinstance(step, Expr)
        assert da.evaluate(step, {da.symbol("a"): -3.0, da.symbol("b"): 3.0}) == pytest.approx(2 * math.pi - 6)


def test_the_plane_of_a_planar_joint_is_right_handed_and_cyclic():
    for axis, x in (((0, 0, 1), (1, 0, 0)), ((1, 0, 0), (0, 1, 0)), ((0, 1, 0), (0, 0, 1))):
        plane = da.Planar(axis).converted(as_float).plane()
        assert tuple(map(float, plane[0])) == x
        assert np.allclose(np.cross(*np.array(plane, float)), axis)


def _planes(normals):
    return np.array([da.Planar(tuple(map(float, n))).plane() for n in normals])


def test_the_axes_of_a_plane_are_unit_vectors_across_a_normal_of_any_length():
    rng = np.random.default_rng(2)
    normals = [*rng.normal(size=(200, 3)), (0, 0, 2), (0, -3, 0), (1e-200, 0, 0), (1, 1, 0), (-2, -3, -6), (0, 1e-17, -5)]
    for normal, plane in zip(normals, _planes(normals), strict=True):
        axes = np.vstack([plane, np.array(normal) / np.linalg.norm(np.array(normal) / np.abs(normal).max())
                          / np.abs(normal).max()])
        assert axes @ axes.T == pytest.approx(np.eye(3), abs=1e-14) and np.linalg.det(axes) == pytest.approx(1)


def test_the_axes_of_a_plane_turn_continuously_with_its_normal():
    """For a normal that is off by e they move by less than 10 e / (distance from the one singular normal)."""
    rng = np.random.default_rng(3)
    axes = [*np.eye(3), *-np.eye(3)]
    corners = [np.array([i, j, k]) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1) if i or j or k]
    normals = np.array([*axes * 8, *corners, *rng.normal(size=(300, 3))])
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    for size in (1e-3, 1e-9, 6e-17, 0.0):
        moved = normals + size * rng.uniform(-1, 1, normals.shape)
        change = np.abs(_planes(moved) - _planes(normals)).max(axis=(1, 2))
        distance = np.linalg.norm(normals + np.array([2, 3, 6]) / 7, axis=1)
        assert (change * distance < 20 * size + 2e-15).all(), size


def test_a_plane_with_a_negative_normal_keeps_x_and_changes_y():
    for k in range(3):
        normal, x = np.eye(3)[k], np.eye(3)[(k + 1) % 3]
        for n in (normal, -normal):
            assert np.array(da.Planar(tuple(n)).plane(), float).tolist() == np.array([x, np.cross(n, x)]).tolist()


def test_an_axis_normalises_exactly_where_its_norm_is_rational():
    from fractions import Fraction

    assert da.Revolute((3, 0, 4)).unit_axis == (Fraction(3, 5), 0, Fraction(4, 5))
    assert da.Revolute((0, 0, -2)).unit_axis == (0, 0, -1)
    assert da.Revolute((1, 1, 0)).unit_axis == pytest.approx((0.5**0.5, 0.5**0.5, 0))


def test_joint_types_are_immutable_and_comparable():
    assert da.Revolute((0, 0, 1)) == da.Revolute((0, 0, 1)) != da.Continuous((0, 0, 1))
    with pytest.raises(AttributeError):
        da.Revolute().axis = (1, 0, 0)
    with pytest.raises(ValueError, match="axis has 2 entries, expected 3"):
        da.Revolute((0, 1))
    with pytest.raises(TypeError, match=r"axis\[0\] is True"):
        da.Revolute((True, 0, 0))
