"""Constraints on velocities that are holonomic in disguise, told by brackets, with their integrals."""

import numpy as np
import pytest

import dalembert as da
from dalembert.constraints import Velocity

AXES = {"x": da.Prismatic((1, 0, 0)), "y": da.Prismatic((0, 1, 0)), "yaw": da.Revolute((0, 0, 1)), "spin": da.Revolute((0, 1, 0))}


def carrier(names, *constraints):
    """Bodies on one chain of joints of these names."""
    names = names.split()
    joints = [da.Joint(name, AXES[name], parent, f"{name} body") for name, parent in zip(names, ["base", *(f"{name} body" for name in names)])]
    bodies = [da.Body("base"), *(da.Body(f"{name} body", 0.1, (0, 0, 0), (0.1, 0, 0.1, 0, 0, 0.1)) for name in names)]
    return da.Mechanism("carrier", bodies, joints).constrained(*constraints)


def psi(function):
    return Velocity("psi", function)


def test_a_rolling_disc_is_nonholonomic_of_degree_three():
    found = da.integrability(carrier("x y yaw spin", psi(
        lambda q, qd, t: [qd[0] - 0.5 * da.cos(q[2]) * qd[3], qd[1] - 0.5 * da.sin(q[2]) * qd[3]])))
    assert (found.nonholonomic, found.integrals, found.growth, found.degree) == (2, 0, (2, 3, 4), 3)
    assert not any(row.alone or row.together for row in found.rows)


def test_a_wheel_on_a_line_is_holonomic():
    found = da.integrability(carrier("x spin", psi(lambda q, qd, t: [qd[0] - 0.35 * qd[1]])))
    assert (found.nonholonomic, found.integrals) == (0, 1)
    assert found.rows[0].integral.text == "x - 0.35*spin"
    assert str(found).splitlines()[1] == "  psi: holonomic, x - 0.35*spin is constant"


@pytest.mark.parametrize("names, function, text, factor", [
    ("x y", lambda q, qd, t: [(1 + q[0] * q[0]) * (q[0] * qd[0] + q[1] * qd[1])], "0.5*x*x + 0.5*y*y", "1/(1 + x*x)"),
    ("x y", lambda q, qd, t: [q[1] * qd[0] - q[0] * qd[1]], "x*(1/y)", "1/(y*y)"),
    ("x y", lambda q, qd, t: [qd[0] - 2 * t * qd[1] - 2 * q[1]], "x - 2*t*y", ""),
    ("x y yaw", lambda q, qd, t: [da.cos(q[2]) * qd[0] - q[0] * da.sin(q[2]) * qd[2] + 2 * q[1] * qd[1]], "x*cos(yaw) + y*y", "")])
def test_integrals_in_closed_form(names, function, text, factor):
    found = da.integrability(carrier(names, psi(function)))
    (row,) = found.rows
    assert found.nonholonomic == 0 and row.alone and (row.integral.text, row.integral.factor) == (text, factor)


def test_an_integral_is_constant_along_the_motion():
    mechanism = carrier("x y", psi(lambda q, qd, t: [(1 + q[0] * q[0]) * (q[0] * qd[0] + q[1] * qd[1])]))
    integral = da.integrability(mechanism).rows[0].integral
    run = da.simulate(mechanism, *da.project(mechanism, [0.3, 0.8], [1.0, 0.0]), 1.0, rtol=1e-10, atol=1e-12)
    values = [integral.value(q) for q in run.q]
    assert np.ptp(values) < 1e-8 and abs(values[0] - (0.3**2 + 0.8**2) / 2) < 1e-15


def test_a_knife_edge_is_nonholonomic_unless_its_heading_is_held():
    knife = Velocity("knife", lambda q, qd, t: [da.sin(q[2]) * qd[0] - da.cos(q[2]) * qd[1]])
    still = Velocity("still", lambda q, qd, t: [qd[2]])
    free = da.integrability(carrier("x y yaw", knife))
    assert (free.nonholonomic, free.growth, str(free.rows[0])) == (1, (2, 3), "knife: nonholonomic")
    held = da.integrability(carrier("x y yaw", knife, still))
    assert (held.nonholonomic, held.integrals) == (0, 2)
    assert [str(row) for row in held.rows] == ["knife: holonomic together with the others", "still: holonomic, yaw is constant"]


def test_holonomic_rows_count_as_no_integrals():
    rail = da.constraints.Holonomic("rail", lambda q, t: [q[1] - 0.5 * q[0]])
    found = da.integrability(carrier("x y yaw", rail, psi(lambda q, qd, t: [qd[2] - qd[0]])))
    assert (found.nonholonomic, found.integrals, [row.row for row in found.rows]) == (0, 1, ["psi"])


def test_rows_that_brackets_do_not_tell_are_refused():
    with pytest.raises(da.DalembertError, match="'psi' of 'carrier' is no linear form of the velocities"):
        da.integrability(carrier("x y", psi(lambda q, qd, t: [qd[0] * qd[0] + qd[1] * qd[1] - 1])))
    with pytest.raises(da.DalembertError, match="has no constraints on velocities alone"):
        da.integrability(carrier("x y", da.constraints.Holonomic("rail", lambda q, t: [q[0]])))
