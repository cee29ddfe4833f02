"""Placements of frames and the centre of mass, against closed forms and sums over bodies."""

import numpy as np
import pytest

import dalembert as da
from trees import OWN, close, seeds, tree


def test_a_frame_of_a_planar_chain_is_where_trigonometry_puts_it():
    """Links of 1 m along x, joints about -y: a joint is at the sum of (cos, 0, sin) of the angles of the links before it."""
    chain, q = da.planar_chain(3), np.array([0.3, -0.5, 0.9])
    angles = np.cumsum(q)
    ends = np.cumsum(np.stack([np.cos(angles), 0 * angles, np.sin(angles)], 1), axis=0)
    for k in (1, 2):
        T = da.placement(chain, q, chain.bodies[k + 1].name)
        np.testing.assert_allclose(T[:3, 3], ends[k - 1], atol=1e-15)
        assert np.trace(T[:3, :3]) == pytest.approx(1 + 2 * np.cos(angles[k]))


@pytest.mark.parametrize("seed", seeds(4, 12))
def test_the_centre_of_mass_is_the_mean_of_those_of_the_moving_bodies(seed):
    m, q, *_ = tree(seed)
    other, _ = m.random_state(99)
    moments, masses = np.zeros(3), 0.0
    for body in m.bodies[1:]:
        T = da.placement(m, q, body.name)
        if np.array_equal(T, da.placement(m, other, body.name)):
            continue                                         # it is fixed to the base
        moments += float(body.mass) * (T[:3, :3] @ np.array(body.com, float) + T[:3, 3])
        masses += float(body.mass)
    assert close(da.center_of_mass(m, q), moments / masses, tolerance=OWN)


@pytest.mark.parametrize("seed", seeds(4, 12))
def test_placements_are_motions_and_batches_their_rows(seed):
    m, *_ = tree(seed)
    q = np.array([m.random_state(k)[0] for k in range(3)])
    for frame in m.frame_names[::2]:
        T = da.placement(m, q, frame)
        assert close(T[:, :3, :3] @ np.swapaxes(T[:, :3, :3], 1, 2), np.tile(np.eye(3), (3, 1, 1)))
        assert (T[:, 3] == [0, 0, 0, 1]).all() and close(T[1], da.placement(m, q[1], frame))
