"""Runs that are written and drawn."""

import numpy as np
import pytest

import dalembert as da
from dalembert.compiled import cache, kernel


@pytest.fixture(scope="module", autouse=True)
def quickly_compiled(request):
    """Simulations compile without LLVM's optimisation, which takes a third of the time and computes the same numbers.

    Tests of compiled code and of its integrators run what users run; so do all tests where slow ones are asked for.
    """
    if "not slow" not in request.config.option.markexpr:
        yield
        return
    folder = cache.folder() and cache.folder() / "quickly"
    if folder:
        folder.mkdir(mode=0o700, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "OPTIMISATION", 0)
        patch.setattr(cache, "folder", lambda: folder)
        yield


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
