"""Loops that close: by the closed form, from what is held, in all branches, and not at all."""

import numpy as np
import pytest

import dalembert as da
from dalembert import constraints
from dalembert.systems.kinds import system_of
from four_bars import four_bar_angles, loop, pinned, tree


@pytest.mark.parametrize("make", [loop, pinned])
def test_branches_of_a_four_bar_are_those_of_the_cosine_theorem(make):
    found = da.assemblies(make(), [1.2, -0.8, 1.5], fixed=["a"])
    expected = [four_bar_angles(1.2, sign=s) for s in (1, -1)]
    assert len(found) == 2 and found.held == ("a",) and found.freedoms == 0
    for branch, q in zip(found, expected):
        turns = (branch.q - q) / (2 * np.pi)
        assert np.abs(turns - turns.round()).max() < 1e-12 and branch.residual < 1e-13
    assert str(found).splitlines()[0] == "four-bar: 2 branches with a held; da.assemble keeps the first."
    assert np.array_equal(da.assemble(make(), [1.2, -0.8, 1.5], fixed=["a"]), found[0].q)


def test_a_search_begins_where_entries_are_named_and_others_are_neutral():
    assert np.array_equal(da.assemble(loop(), {"a": 1.2}, fixed=["a"]), da.assemble(loop(), [1.2, 0, 0], fixed=["a"]))
    with pytest.raises(da.UnknownNameError, match="crank"):
        da.assemble(loop(), {"crank": 1.2})


def test_corrections_are_least_in_the_metric_of_the_masses():
    """No other configuration of the loop lies nearer to the start, to second order of the correction."""
    start = four_bar_angles(1.2) + 1e-4 * np.array([1.0, -2.0, 0.5])
    q = da.assemble(loop(), start)
    M = da.mass_matrix(tree(), q)
    B = da.minimal_form(loop(), q, np.zeros(3)).B[:, 0]
    step = q - start
    assert abs(B @ M @ step) < 1e-3 * np.sqrt((B @ M @ B) * (step @ M @ step))


def test_loops_that_do_not_reach_are_refused_with_their_gap():
    with pytest.raises(da.ConstraintError, match=r"'pin\[0\]' of 'four-bar' stays 0.05 m open: no configuration was found .* Do its lengths reach"):
        da.assemble(pinned(coupler=0.5, rocker=0.05))


def test_what_is_held_too_much_is_named():
    with pytest.raises(da.ConstraintError, match="with a, b held. 1 entries of qd may move, for rows of the rank 2: more is fixed than"):
        da.assemble(pinned(), [1.2, -0.5, 1.5], fixed=["a", "b"])
    with pytest.raises(da.UnknownNameError, match="crank"):
        da.assemble(loop(), [1.2, -0.5, 1.5], fixed=["crank"])


def test_large_corrections_are_said():
    with pytest.warns(da.DalembertWarning, match="closes far from the start: [abd] moved by .* rad. da.assemblies lists"):
        da.assemble(loop(), [1.2, 2.5, -1.5])


def test_assemblies_stay_within_limits_where_they_can():
    tight = da.Mechanism("tight", tree().bodies, tuple(
        da.Joint(j.name, j.type, j.parent, j.child, j.origin, limits=da.Limits(-2.9, 0) if j.name == "d" else da.Limits()) for j in tree().joints),
        gravity=(0, -9.81, 0)).constrained(*pinned().constraints)
    with pytest.warns(da.DalembertWarning, match="far from the start"):
        q = da.assemble(tight, [1.2, -0.8, 1.5], fixed=["a"])
    assert -2.9 <= q[2] <= 0 and abs(q[0] - 1.2) < 1e-15
    assert da.assemblies(tight, q, fixed=["a"])[1].beyond == ("d",)


def test_projection_meets_positions_then_velocities():
    q, qd = da.project(loop(), four_bar_angles(1.2) + 0.05, [2.0, 0.0, 0.0])
    system = system_of(loop())
    rows = system.constraints[0].rates(system, q, qd)
    assert np.abs(system.constraints[0].position(system, q)).max() < 1e-14 and np.abs(rows.velocity).max() < 1e-14
    M = da.mass_matrix(tree(), q)
    B = da.minimal_form(loop(), q, qd).B
    assert np.abs(B.T @ M @ (qd - [2.0, 0, 0])).max() < 1e-2      # metric of the start


def test_redundant_rows_project_as_their_independent_ones():
    start = four_bar_angles(1.2) + 0.05, [2.0, 0.0, 0.0]
    one, two = da.project(loop(), *start), da.project(pinned(), *start)
    assert np.abs(one[0] - two[0]).max() < 1e-13 and np.abs(one[1] - two[1]).max() < 1e-13


def test_rows_that_contradict_each_other_are_refused():
    rates = [constraints.Velocity(name, lambda q, qd, t, r=r: [qd[0] - r]) for name, r in (("slow", 1.0), ("fast", 2.0))]
    with pytest.raises(da.ConstraintError, match="no velocities meet all rows at this configuration, where some contradict"):
        da.project(da.planar_chain(2).constrained(*rates), [0.1, 0.2], [0.0, 0.0])


def test_time_moves_what_a_constraint_says():
    drive = constraints.Holonomic("drive", lambda q, t: [q[0] - da.sin(2 * t)])
    q, qd = da.project(da.planar_chain(2).constrained(drive), [0.5, 0.2], [0.0, 0.0], t=0.3)
    assert abs(q[0] - np.sin(0.6)) < 1e-15 and abs(qd[0] - 2 * np.cos(0.6)) < 1e-14


def test_names_and_numbers_that_are_missing_are_named():
    with pytest.raises(TypeError, match=r"names of joints.*expected a list, as \['crank'\]"):
        da.assemble(loop(), [1.2, -0.8, 1.5], fixed="a")
    l = da.symbol("l", da.Graph())
    with pytest.raises(da.ParameterError, match="'four-bar' has no values of l, and this analysis needs numbers"):
        da.degrees_of_freedom(pinned().replace({"pin.second_origin[0]": l}))
    with pytest.raises(da.UnknownNameError, match="joint"):
        da.inverse_dynamics(loop(), four_bar_angles(1.2), [0.0] * 3, [0.0] * 3, weights={"crank": 2.0})
