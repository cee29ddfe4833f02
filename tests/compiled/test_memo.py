"""Quantities are compiled where that pays."""

from functools import partial

import numpy as np

import dalembert as da
from dalembert.compiled.memo import quantities_of


def test_a_quantity_is_plain_at_first_and_compiled_once_it_is_used_often():
    arm, q, qd = da.planar_chain(2), [0.3, -0.2], [1.0, 0.5]
    uses = [quantities_of(arm, "kinetic_energy")[0] for _ in range(6)]
    is_plain = [isinstance(use, partial) for use in uses]
    assert is_plain == [True] * 4 + [False] * 2
    np.testing.assert_allclose(uses[-1](q, qd), uses[0](q, qd), rtol=1e-14, atol=0)


def test_a_quantity_of_a_long_chain_is_compiled_at_once():
    assert not isinstance(quantities_of(da.planar_chain(101), "kinetic_energy")[0], partial)
