"""Degrees of freedom by rank: redundant rows, singular positions, loops that do not close."""

import numpy as np
import pytest

import dalembert as da
from dalembert import constraints
from dalembert.analysis.freedoms import constraint_findings
from four_bars import loop, pinned


def test_a_four_bar_has_one_freedom_however_it_is_closed():
    one, two = da.degrees_of_freedom(loop()), da.degrees_of_freedom(pinned())
    assert (int(one), one.rank, one.gruebler, one.redundant) == (1, 2, 1, ())
    assert (int(two), two.rank, two.gruebler, [r.row for r in two.redundant]) == (1, 2, 0, ["pin[2]"])
    assert "redundant: pin[2] holds nothing that moves" in str(two)


def test_a_loop_closed_twice_names_what_its_rows_follow_from():
    twice = loop().constrained(constraints.Holonomic("again", loop().constraints[0].phi, "m"))
    found = da.degrees_of_freedom(twice)
    assert found.dof == 1 and [str(r) for r in found.redundant] == [f"again[{k}] follows from gap[{k}]" for k in (0, 1)]


def test_a_rolling_disc_has_fewer_velocities_than_configurations():
    joints = [da.Joint(name, type, parent, name) for name, type, parent in (
        ("x", da.Prismatic((1, 0, 0)), "base"), ("y", da.Prismatic((0, 1, 0)), "x"), ("yaw", da.Revolute((0, 0, 1)), "y"), ("spin", da.Revolute((0, 1, 0)), "yaw"))]
    bodies = [da.Body("base"), *(da.Body(n, 0.1, (0, 0, 0), (0.1, 0, 0.1, 0, 0, 0.1)) for n in ("x", "y", "yaw", "spin"))]
    rolls = constraints.Velocity("rolls", lambda q, qd, t: [qd[0] - 0.5 * da.cos(q[2]) * qd[3], qd[1] - 0.5 * da.sin(q[2]) * qd[3]])
    found = da.degrees_of_freedom(da.Mechanism("disc", bodies, joints).constrained(rolls))
    assert (found.dof, found.configuration_dof, found.velocities) == (2, 4, 4)


def test_a_folded_parallelogram_is_a_bifurcation():
    found = da.degrees_of_freedom(loop(rocker=0.4), [0.0, 0.0, 0.0])
    assert found.dof == 1 and found.rank_here == 1
    assert found.position.startswith("singular: 2 velocities are free, 1 more than elsewhere; a bifurcation, where two motions cross")
    assert [r.row for r in found.lost] == ["gap[0]"]


def test_a_stretched_loop_that_just_reaches_is_locked():
    found = da.degrees_of_freedom(pinned(coupler=0.5, rocker=0.1), [0.0, 0.0, np.pi])
    assert found.position.endswith("but none leads away: it is locked, and shakes")


def test_a_regular_position_is_said_to_be_regular():
    assert da.degrees_of_freedom(loop(), da.assemble(loop(), [1.2, -0.8, 1.5])).position == "regular"
    with pytest.raises(da.ConstraintError, match=r"q of 'four-bar' does not meet 'gap\[\d\]'"):
        da.degrees_of_freedom(loop(), [1.2, -0.5, 1.5])


def test_a_tree_has_its_velocities():
    assert int(da.degrees_of_freedom(da.planar_chain(3))) == 3


def test_findings_name_constraints_that_are_redundant_or_cannot_be_met():
    assert constraint_findings(loop()) == []
    (note,) = constraint_findings(pinned())
    assert note.severity == "note" and str(note).startswith("constraint 'pin': its row pin[2] holds nothing that moves")
    (error,) = constraint_findings(pinned(coupler=0.5, rocker=0.05))
    assert error.severity == "error" and "stays 0.05 m open" in str(error)
    hold = constraints.Holonomic("hold", lambda q, t: [q[0] - 1.2])
    *_, warning = constraint_findings(pinned().constrained(hold))
    assert "leave it no degree of freedom" in str(warning)


@pytest.mark.parametrize("name, dof, rank, rows", [("bricard", 1, 4, 5), ("scissor_lift", 1, 6, 9), ("stewart_platform", 6, 18, 18), ("delta_robot", 3, 6, 6)])
def test_usual_loops_have_the_freedoms_of_the_literature(name, dof, rank, rows):
    """Bricard's loop is over-constrained and moves; the branch of q counts, not one that is folded."""
    mechanism, q = getattr(da.loops, name)()
    found = da.degrees_of_freedom(mechanism, q)
    assert (found.dof, found.rank, len(found.rows), found.position) == (dof, rank, rows, "regular")


def test_a_cart_of_two_wheels_steers_without_being_told_where_it_is():
    """Two wheels hold its axle: x, y and heading are nonholonomic, while the difference of turns of its wheels tells the heading."""
    mechanism, q = da.loops.differential_drive()
    found = da.degrees_of_freedom(mechanism, q)
    assert (found.dof, found.configuration_dof) == (2, 5)
    brackets = da.integrability(mechanism)
    assert (brackets.nonholonomic, brackets.integrals, brackets.growth) == (2, 1, (2, 3, 4))
