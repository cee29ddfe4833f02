"""Flow of mass: the sums over the points of a body that its moments stand for."""

import numpy as np
import pytest

from dalembert.spatial.flow import Flow
from dalembert.spatial.inertias import Inertia
from dalembert.spatial.motion_force import Motion
from dalembert.spatial.rotations import roll_pitch_yaw
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Matrix, Vector


def case(seed):
    """Points with masses, the velocities of a rigid motion, and their flow."""
    rng = np.random.default_rng(seed)
    points, masses, w, v = rng.uniform(-1, 1, (6, 3)), rng.uniform(0.1, 1, 6), *rng.standard_normal((2, 3))
    body = Inertia(masses.sum(), Vector(masses @ points), Matrix(((points * masses[:, None]).T @ points).tolist()))
    return rng, points, masses, v + np.cross(w, points), Flow.of(body, Motion(Vector(w), Vector(v)))


def summed(masses, points, velocities):
    """Momentum, angular momentum and the rate of the second moments."""
    outer = np.einsum("n,ni,nj->ij", masses, velocities, points)
    return masses @ velocities, masses @ np.cross(points, velocities), outer + outer.T


def assert_equal(flow, expected):
    for found, right in zip(flow, expected, strict=True):
        np.testing.assert_allclose(np.array(found, float), right, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_flow_of_a_rigid_body_is_the_sum_over_its_points_in_either_frame(seed):
    rng, points, masses, velocities, flow = case(seed)
    assert_equal(flow, summed(masses, points, velocities))
    X = Transform(Vector(rng.standard_normal(3)), roll_pitch_yaw(*rng.uniform(-3, 3, 3)))
    R = np.array(X.R.matrix(), float)
    assert_equal(flow.to_parent(X), summed(masses, np.array(X.p) + points @ R.T, velocities @ R.T))
    assert_equal(flow + flow, [2 * x for x in summed(masses, points, velocities)])


@pytest.mark.parametrize("seed", range(3))
def test_coriolis_force_and_couple_are_the_sums_over_points(seed):
    rng, points, masses, velocities, flow = case(seed)
    u, w, v = rng.standard_normal((3, 3))
    f = masses[:, None] * 2 * np.cross(u, velocities)
    found = flow.coriolis_force(Vector(u))
    np.testing.assert_allclose(found.force, f.sum(axis=0), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(found.moment, np.cross(points, f).sum(axis=0), rtol=1e-13, atol=1e-13)
    power = np.sum(f * (v + np.cross(w, points)))
    assert flow.coriolis_couple(Motion(Vector(w), Vector(v))).dot(Vector(u)) == pytest.approx(power, rel=1e-12)
