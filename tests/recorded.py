"""Fixtures of tests that write and draw runs."""

import numpy as np
import pytest

import dalembert as da


@pytest.fixture(scope="module")
def tree():
    """One trajectory with quaternions, lengths and angles."""
    mechanism = da.random_tree(8, 4, ["free", "spherical", "prismatic", "revolute"])
    return da.simulate(mechanism, *mechanism.random_state(1), 0.2, record=0.02)


@pytest.fixture(scope="module")
def several():
    """Three trajectories; the second does not go on, and its records are NaN."""
    chain = da.planar_chain(2)
    return da.simulate(chain, [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], [0, 0], 0.2, record=0.02,
                       control=np.array([[0, 0], [1e95, 0], [1, 0]]))
