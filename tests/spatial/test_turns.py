"""Rotations by rotation vectors beside closed forms and SciPy."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from dalembert.spatial.turns import (
    SMALL_TERMS,
    TERMS,
    AngleFunctions,
    rate_map,
    rate_map_change,
    turn_by,
)
from dalembert.spatial.vectors import Vector

STEP = 1e-6


@pytest.mark.parametrize("terms, angle", [(SMALL_TERMS, 1.0), (TERMS, np.pi), (TERMS, 0.3)])
def test_functions_are_those_of_the_angle(terms, angle):
    found = AngleFunctions.of(angle**2, terms)
    s, c = np.sin(angle), np.cos(angle)
    closed = [s / angle, (1 - c) / angle**2, (angle - s) / angle**3]
    assert np.allclose(found[:3], closed, rtol=0, atol=2e-15)
    changes = [s / angle**3 - 2 * (1 - c) / angle**4, (1 - c) / angle**4 - 3 * (angle - s) / angle**5]
    assert np.allclose(found[3:], np.array(changes) / 2, rtol=0, atol=1e-13)


def test_turn_is_that_of_the_rotation_vector():
    theta = Vector((0.4, -1.1, 2.0))
    assert np.allclose(turn_by(theta).matrix(), Rotation.from_rotvec(theta).as_matrix(), rtol=0, atol=1e-14)


def test_angular_velocity_turns_the_axes():
    theta, rate = np.array([0.4, -1.1, 0.7]), np.array([0.3, 0.8, -0.5])
    before, after = (Rotation.from_rotvec(theta + h * rate) for h in (-STEP, STEP))
    turned = (before.inv() * after).as_rotvec() / (2 * STEP)
    assert np.allclose(rate_map(Vector(theta), Vector(rate)), turned, rtol=0, atol=1e-9)


@pytest.mark.parametrize("theta", [(0.4, -1.1, 0.7), (0, 0, 0.9), (0, 0, 0)])
@pytest.mark.parametrize("by", [(0.3, 0.8, -0.5), (0, 0, 1)])
@pytest.mark.parametrize("rate", [(-0.2, 0.6, 0.1), (0, 0, 1)])
def test_change_of_the_angular_velocity_along_a_direction(theta, rate, by):
    before, after = (rate_map(Vector(np.add(theta, h * np.array(by))), Vector(rate)) for h in (-STEP, STEP))
    change = (np.array(after) - np.array(before)) / (2 * STEP)
    found = np.array(rate_map_change(Vector(theta), Vector(rate), Vector(by)), dtype=float)
    assert np.allclose(found, change, rtol=0, atol=1e-9)
