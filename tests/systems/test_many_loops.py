"""Mechanisms of many loops: long code runs in loops over rows, and starts take linear time."""

import numpy as np
import pytest

import dalembert as da
from dalembert.codegen.passes import rolling

pytestmark = pytest.mark.usefixtures("quickly_compiled")


@pytest.mark.parametrize("options", [{"method": "dop853", "rtol": 1e-9}, {"method": "rk4", "h": 0.01}], ids=["dop853", "rk4"])
def test_loops_of_a_mechanism_move_alike_in_rows_and_in_straight_code(monkeypatch, options):
    ends = []
    n = 4
    for most in (10 ** 9, 200):
        monkeypatch.setattr(rolling, "FROM", most)
        mechanism, q = da.loops.n_four_bar(n)  # a new one, for which no code is kept
        qd = np.array([[-1.0, 1.0] * n + [-1.0]]).ravel()
        ends.append(da.simulate(mechanism, q, qd, 0.5, record=0.5, **options).q[-1])
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-11)
    assert np.abs(ends[0] - q).max() > 0.4
