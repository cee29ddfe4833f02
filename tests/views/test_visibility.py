"""Triangles from back to front: at each place of a picture the nearest is drawn last."""

import numpy as np

from dalembert.views.pictures.painter import ColouredSurface, painted
from dalembert.views.pictures.viewpoint import Camera
from dalembert.views.pictures.visibility import seen_order

FRONT = Camera(np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))


def depth_at(triangle, depths, point):
    """Depth of a triangle at a point of the picture; None outside."""
    weights = np.linalg.solve(np.vstack([triangle.T, np.ones(3)]), [*point, 1.0])
    return weights @ depths if weights.min() >= 0 else None


def last_drawn(order, corners, depths, point):
    return next((t for t in reversed(order) if depth_at(corners[t], depths[t], point) is not None), None)


def test_the_nearest_triangle_is_drawn_last():
    rng = np.random.default_rng(3)
    corners = rng.uniform(0, 1, (20, 1, 2)) + rng.normal(0, 0.3, (20, 3, 2))
    layers = np.arange(20.0)[:, None] + 100 * corners[..., 0]              # parallel planes, oblique to the picture
    order = seen_order(corners, layers, np.ones(20, bool)).seen.tolist()
    by_mean = np.argsort(layers.mean(axis=1)).tolist()
    wrong = {"order": 0, "mean": 0}
    for point in rng.uniform(0, 1, (200, 2)):
        here = {t: d for t in range(20) if (d := depth_at(corners[t], layers[t], point)) is not None}
        if here:
            nearest = max(here, key=here.get)
            wrong["order"] += last_drawn(order, corners, layers, point) != nearest
            wrong["mean"] += last_drawn(by_mean, corners, layers, point) != nearest
    assert wrong["order"] == 0 < wrong["mean"]


def test_a_long_triangle_below_a_small_one_that_is_farther_in_the_mean():
    corners = np.array([[[0, 0], [10, 0], [0, 1]], [[0.1, 0.1], [0.4, 0.1], [0.1, 0.4]]], float)
    depths = np.array([[0, 10, 0], [1, 1, 1]], float)
    assert seen_order(corners, depths, np.ones(2, bool)).seen.tolist() == [0, 1]


def test_triangles_behind_others_are_left_out_but_for_those_seen_through():
    triangle = np.array([[0, 0], [1, 0], [0, 1]], float)
    corners, depths = np.stack([triangle] * 3), np.array([[0] * 3, [1] * 3, [2] * 3], float)
    assert seen_order(corners, depths, np.array([True, True, True])).seen.tolist() == [2]
    assert seen_order(corners, depths, np.array([True, True, False])).seen.tolist() == [1, 2]
    assert seen_order(corners[:0], depths[:0], np.ones(0, bool)).seen.tolist() == []


def test_three_triangles_in_a_circle_are_all_drawn():
    third = np.exp(2j * np.pi * np.arange(3) / 3)
    corners, depths = [], []
    for turn in third:                                                    # each is above the next at its tip
        outline = turn * np.array([-1 - 0.5j, 1.4 - 0.5j, 1.4 - 0.2j])
        corners.append(np.stack([outline.real, outline.imag], axis=1))
        depths.append([0.0, 1.0, 1.0])
    assert sorted(seen_order(np.array(corners), np.array(depths), np.ones(3, bool)).seen) == [0, 1, 2]


def test_triangles_that_pierce_each_other_are_split():
    vertices = np.array([[0, 0, -1], [2, 0, 1], [1, 2, 0], [0, 0.2, 1], [2, 0.2, -1], [1, 2.2, 0]], float)
    surface = ColouredSurface(vertices, np.array([[0, 1, 2], [3, 4, 5]]), np.array([[1.0, 0, 0, 1], [0, 0, 1.0, 1]]))
    found = painted(surface, FRONT)
    assert len(found.corners) > 20
    colours = found.colours[:, 0] > found.colours[:, 2]                   # red
    flat = [c for c in found.corners]
    for point, is_red in (([1.5, 0.6], True), ([0.5, 0.6], False)):
        order = range(len(flat))
        assert colours[last_drawn(order, flat, np.zeros((len(flat), 3)), point)] == is_red
