"""Vectors given as tables go by their names; numbers that become too large are an error of every formulation."""

import dataclasses

import numpy as np
import pytest

import dalembert as da
from dalembert.formulations import elementary_motions, lagrange, newton_euler

pandas = pytest.importorskip("pandas")

ARM = da.planar_chain(3)
Q = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
NAMES = list(ARM.coordinate_names)
TABLE = pandas.DataFrame(Q, columns=NAMES)[NAMES[::-1]]                # the same in another order
SYSTEM = da.lagrangian_system(lambda q, qd, t: (qd[0]**2 + 2 * qd[1]**2) / 2 - q[0]**2 - 3 * q[1]**2, "x y")
WAYS = {"plain": lambda q: da.mass_matrix(ARM, q), "compiled": lambda q: da.compile(ARM).mass_matrix(q),
        "elementary motions": lambda q: elementary_motions.mass_matrix(ARM, q),
        "function": lambda q: da.compile(ARM).function(["mass_matrix"])(q)[0],
        "simulated": lambda q: da.simulate(ARM, q, np.zeros(3), 0.01).q[..., -1, :]}


@pytest.mark.parametrize("way", WAYS)
def test_columns_of_a_table_go_by_their_names(way):
    expected = WAYS[way](Q)
    np.testing.assert_array_equal(WAYS[way](TABLE), expected)
    np.testing.assert_array_equal(WAYS[way](TABLE[NAMES]), expected)
    np.testing.assert_array_equal(WAYS[way](TABLE.iloc[1]), WAYS[way](Q[1]))           # a series of one state
    np.testing.assert_array_equal(WAYS[way](pandas.DataFrame(Q)), expected)            # no names


@pytest.mark.parametrize("way", WAYS)
def test_entries_go_by_their_names_and_all_are_named(way):
    named = dict(zip(NAMES[::-1], Q[1][::-1], strict=True))
    np.testing.assert_array_equal(WAYS[way](named), WAYS[way](Q[1]))
    with pytest.raises(da.ShapeError, match=f"q has 1 of 3 entries by name; these are missing: {', '.join(NAMES[1:])}"):
        WAYS[way]({NAMES[0]: 1.0})
    with pytest.raises(da.UnknownNameError, match=f"entry of q.*{NAMES[0]}"):
        WAYS[way](named | {f"{NAMES[0]}x": 1.0})


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("columns", [["a", "b", "c"], [*NAMES[:2], "c"], [NAMES[0], NAMES[0], NAMES[1]]])
def test_columns_of_other_names_are_refused(way, columns):
    with pytest.raises(da.ShapeError, match=f"q has the columns {', '.join(columns)}; expected {', '.join(NAMES)}, in any order"):
        WAYS[way](pandas.DataFrame(Q, columns=columns))


def test_velocities_of_a_table_and_of_a_lagrangian_go_by_their_names():
    rates = pandas.DataFrame([[1.0, 2.0, 3.0]], columns=list(ARM.velocity_names)[::-1])
    np.testing.assert_array_equal(da.coriolis_vector(ARM, Q[:1], rates), da.coriolis_vector(ARM, Q[:1], [[3.0, 2.0, 1.0]]))
    table = pandas.DataFrame({"y": [1.0], "x": [2.0]})
    expected = SYSTEM.bias_force([[2.0, 1.0]], [[2.0, 1.0]])
    np.testing.assert_array_equal(SYSTEM.bias_force(table, table), expected)
    np.testing.assert_allclose(da.compile(SYSTEM).bias_force(table, table, [0.0]), expected, rtol=1e-15)


@pytest.mark.parametrize("speed", [1e160, 1e300])
@pytest.mark.parametrize("name", ["bias_force", "coriolis_vector", "kinetic_energy", "inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("formulation", [newton_euler, lagrange, elementary_motions])
def test_results_that_become_too_large_are_an_error(formulation, name, speed):
    arm = da.planar_chain(2)
    more = ([0.0, 0.0],) if "dynamics" in name else ()
    with pytest.raises(da.OverflowedError, match="the result is -?(inf|nan): numbers became too large"):
        getattr(formulation, name)(arm, [0.3, 0.4], [speed, speed], *more)


def test_results_of_flexible_joints_that_become_too_large_are_an_error():
    arm = da.planar_chain(2)
    geared = tuple(dataclasses.replace(j, rotor_inertia=(0.1,), gear_ratio=(10,)) for j in arm.joints)
    flexible = lagrange.flexible_joints(dataclasses.replace(arm, joints=geared), 100.0)
    q, qd = [0.1, 0.2, 0.1, 0.2], [1e200, -1e200, 1e200, 1e200]
    for name, more in (("kinetic_energy", ()), ("inverse_dynamics", ([0.0] * 4,)), ("forward_dynamics", ([1.0, 1.0],))):
        with pytest.raises(da.OverflowedError, match="numbers became too large"):
            getattr(flexible, name)(q, qd, *more)
