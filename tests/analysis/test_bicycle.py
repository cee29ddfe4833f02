"""The bicycle benchmark from a mechanism that rolls: eigenvalues and matrices of its linear model."""


import numpy as np
import pytest

import dalembert as da
from bicycle import DATA, bicycle, upright

FREE = ["roll", "steer", "rear spin"]


@pytest.fixture(scope="module")
def mechanism():
    return bicycle()


def model(mechanism, speed):
    return da.linearize(mechanism, *upright(mechanism, speed), np.zeros(mechanism.nv), independent=FREE)


def test_a_bicycle_has_three_velocities_and_seven_freedoms_of_place(mechanism):
    found = da.degrees_of_freedom(mechanism, upright(mechanism, 0.0)[0])
    assert (found.dof, found.configuration_dof, found.redundant, found.position) == (3, 7, (), "regular")


@pytest.mark.parametrize("speed", range(11))
def test_eigenvalues_are_the_published_ones(mechanism, speed):
    values = np.linalg.eigvals(model(mechanism, float(speed)).A)
    expected = np.array([complex(*map(float, x)) for x in DATA["eigenvalues"][str(speed)]])
    kept = np.sort_complex(values[np.abs(values) > 1e-4])
    assert len(kept) == 4
    for x in expected:
        assert np.abs(kept - x).min() < 1e-10 * max(1.0, abs(x))


def test_matrices_are_the_published_ones(mechanism):
    """M q'' + v C1 q' + (g K0 + v^2 K2) q = forces of roll and steer."""
    still, one = model(mechanism, 0.0), model(mechanism, 1.0)
    names, columns = still.states, [mechanism.velocity_names.index(name) for name in FREE[:2]]
    at = [names.index(name) for name in FREE[:2]]
    rates = [names.index(f"{name} rate") for name in FREE[:2]]
    M = np.linalg.inv(still.B[np.ix_(rates, columns)])
    C1 = -M @ one.A[np.ix_(rates, rates)]
    K0 = -M @ still.A[np.ix_(rates, at)] / DATA["parameters"]["g"]
    K2 = M @ (still.A - one.A)[np.ix_(rates, at)]
    for name, found in {"M": M, "C1": C1, "K0": K0, "K2": K2}.items():
        expected = np.array(DATA[name], dtype=float)
        assert np.abs(found - expected).max() < 1e-10 * max(1.0, np.abs(expected).max()), name
