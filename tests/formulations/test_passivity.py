"""Forces of passivity-based control against M, C and g formed one by one."""

import numpy as np
import pytest

import dalembert as da
from dalembert.formulations import newton_euler


@pytest.mark.parametrize("kinds", [["revolute", "prismatic"], ["free", "spherical", "revolute"],
                                   ["universal", "planar", "cylindrical", "helical", "spherical", "continuous"]])
def test_reference_force_is_M_qdd_r_and_C_qd_r_and_g_and_linear_in_the_parameters(kinds):
    tree = da.random_tree(3, 5, kinds)
    q, qd = tree.random_state(1)
    qd_r, qdd_r = np.random.default_rng(2).normal(size=(2, tree.nv))
    right = da.mass_matrix(tree, q) @ qdd_r + da.coriolis_matrix(tree, q, qd) @ qd_r + da.gravity_vector(tree, q)
    scale = 1e-12 * np.abs(right).max()
    assert np.abs(newton_euler.reference_force(tree, q, qd, qd_r, qdd_r) - right).max() < scale
    Y, rotors = newton_euler.reference_regressor(tree, q, qd, qd_r, qdd_r), np.array(tree.tree().rotor, dtype=float)
    assert np.abs(Y @ da.regressor_parameters(tree)[1] + rotors * qdd_r - right).max() < scale
    same = newton_euler.reference_regressor(tree, q, qd, qd, qdd_r)
    assert np.abs(same - da.regressor(tree, q, qd, qdd_r)).max() < 1e-12 * np.abs(same).max()


def test_batches_are_rows():
    tree = da.random_tree(3, 4, ["revolute", "spherical"])
    states = [tree.random_state(k) for k in range(3)]
    Q, QD = (np.array([s[k] for s in states]) for k in (0, 1))
    for function in (newton_euler.reference_force, newton_euler.reference_regressor):
        rows = [function(tree, q, qd, 2 * qd, -qd) for q, qd in states]
        assert np.abs(function(tree, Q, QD, 2 * QD, -QD) - rows).max() < 1e-13
