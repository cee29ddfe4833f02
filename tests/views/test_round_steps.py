import numpy as np
import pytest

from dalembert.views.round_steps import round_length, round_step, round_ticks


@pytest.mark.parametrize("size", [1e-300, 3e-12, 0.07, 1.0, 1000.0, 8e15, 1e300])
@pytest.mark.parametrize("most", [3, 4, 9])
def test_axes_of_any_range_have_a_few_round_ticks(size, most):
    step = round_step(size, most)
    assert any(step / 10.0 ** np.floor(np.log10(step) + 1e-9) == pytest.approx(k) for k in (1, 2, 5))
    for low in (0.0, -0.3 * size, 0.4 * size):
        ticks = round_ticks(low, low + size, most)
        assert most / 2.5 - 1 <= len(ticks) <= most + 1
        assert all(low - 1e-6 * step <= tick <= low + size + 1e-6 * step for tick in ticks)


def test_round_lengths_are_not_above_the_length():
    assert [round_length(x) for x in (0.0, 0.019, 0.02, 1.0, 49.9, 50.0)] == [1.0, 0.01, 0.02, 1.0, 20.0, 50.0]
