"""Random trees with every joint type, and what tests of formulations on them share.

Tolerances: 1e-12 of the largest entry between our own paths (conventions.md); derivatives by differences to 1e-8.
"""

import functools

import numpy as np
import pytest

import dalembert as da

TREES, OWN, DIFFERENCES = 200, 1e-12, 1e-8


def seeds(small, count=TREES):
    """All trees when slow checks run, the first few by default; in the first eight is every joint type twice or more."""
    return [pytest.param(s, marks=() if s < small else pytest.mark.slow) for s in range(count)]


EVERY_TREE = pytest.mark.parametrize("seed", seeds(8))


@functools.lru_cache(maxsize=4)
def tree(seed):
    """A tree, smaller where it is in the default run, and q, qd, qdd."""
    rng = np.random.default_rng(seed)
    m = da.random_tree(seed, int(rng.integers(4, 9 if seed < 20 else 15)))
    q, qd = m.random_state(rng)
    return m, q, qd, rng.standard_normal(m.nv)


def close(a, b, scale=None, tolerance=OWN):
    scale = np.abs(b).max(initial=0) if scale is None else scale
    return np.shape(a) == np.shape(b) and np.abs(np.asarray(a) - b).max(initial=0) <= tolerance * scale


def derivative(f, h=1e-4):
    """f'(0), central differences of fourth order."""
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


def loads(m):
    """A wrench in each way to express it."""
    frames = [m.bodies[-1].name, m.frames[0].name, m.bodies[1].name]
    return [da.ExternalForce(frame, (1.0, -2.0, 3.0), (0.3, 0.1, -0.2), (0.1, 0, 0.2), axes)
            for frame, axes in zip(frames, ("local", "aligned", "world"), strict=True)]
