"""The tree that algorithms run on is frozen; a mechanism is seen through another tree by what has `at`."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import dalembert as da
from dalembert.formulations import elementary_motions, newton_euler
from dalembert.model.on_tree import OnTree


def test_a_tree_is_frozen_and_replaced():
    tree = da.planar_chain(2).tree()
    with pytest.raises(FrozenInstanceError):
        tree.nv = 3
    with pytest.raises(TypeError):
        tree.inertia[1] = None
    heavy = tree.replace(inertia=[tree.inertia[0], *(i + i for i in tree.inertia[1:])])
    assert heavy.inertia[2].m == 2 * tree.inertia[2].m and heavy.joint is tree.joint
    assert not heavy.has_followers and da.planar_chain(2).tree().n == 2


@pytest.mark.parametrize("formulation", [newton_euler, elementary_motions])
def test_functions_take_a_mechanism_on_another_tree(formulation):
    m = da.random_tree(2, 3)
    q, qd = m.random_state(1)
    tree = m.tree()
    double = OnTree(m, lambda graph: tree.replace(inertia=[i + i for i in tree.inertia], rotor=[2 * r for r in tree.rotor]))
    np.testing.assert_allclose(formulation.mass_matrix(double, q), 2 * formulation.mass_matrix(m, q), rtol=1e-12, atol=1e-13)
    assert double.name == m.name and double.nv == m.nv and double.mechanism is m
    with pytest.raises(da.ShapeError, match=f"mechanism '{m.name}' has"):
        formulation.mass_matrix(double, q[:-1])
    with pytest.raises(AttributeError):
        double.nonsense      # noqa: B018
