"""A mechanism with constraints is data: edited, told apart, replaced, and moved as its loop says."""

import numpy as np
import pytest

import dalembert as da
from dalembert import constraints

Z = da.Revolute((0, 0, 1))
LENGTHS = {"crank": 0.4, "coupler": 1.0, "rocker": 0.8}
START = [1.2, -0.5, 1.9], [2.0, 0.0, 0.0]


def rod(name):
    length = LENGTHS[name]
    return da.Body(name, length, (length / 2, 0, 0), (0, 0, length ** 3 / 12, 0, 0, length ** 3 / 12))


def tree():
    joints = (da.Joint("a", Z, "base", "crank"), da.Joint("b", Z, "crank", "coupler", da.Origin((0.4, 0, 0))),
              da.Joint("d", Z, "base", "rocker", da.Origin((1, 0, 0))))
    return da.Mechanism("four-bar", (da.Body("base"), *map(rod, LENGTHS)), joints, gravity=(0, -9.81, 0))


PIN = constraints.Closure("pin", da.Spherical(), ("coupler", (1, 0, 0)), ("rocker", (0.8, 0, 0)))


def gap(q, t):
    at = [0.4 * f(q[0]) + f(q[0] + q[1]) - 0.8 * f(q[2]) for f in (da.cos, da.sin)]
    return [at[0] - 1, at[1]]


@pytest.fixture(scope="module")
def four_bar():
    return tree().constrained(PIN)


def start(four_bar):
    from dalembert.systems.kinds import system_of

    return system_of(four_bar).project(*START)


def end(mechanism, state, **options):
    run = da.simulate(mechanism, *state, 0.2, method="dop853", rtol=1e-10, atol=1e-12, **options)
    return np.concatenate([run.q[-1], run.qd[-1]])


def test_a_loop_moves_as_its_function_of_the_coordinates_says(four_bar):
    state = start(four_bar)
    by_function = tree().constrained(constraints.Holonomic("gap", gap, "m"))
    assert np.abs(end(four_bar, state) - end(by_function, state)).max() < 1e-10


@pytest.mark.parametrize("formulation", ["lagrange", "elementary_motions"])
def test_every_formulation_of_the_tree_moves_it_alike(four_bar, formulation):
    state = start(four_bar)
    assert np.abs(end(four_bar, state) - end(four_bar, state, formulation=formulation)).max() < 1e-10


def test_numbers_of_constraints_have_paths_and_are_inputs(four_bar):
    longer = four_bar.replace({"pin.second_origin[0]": 0.9})
    assert longer.number("pin.second_origin[0]") == 0.9 and longer.identity() != four_bar.identity()
    dyn = da.compile(four_bar, parameters=["pin.second_origin[0]", "coupler.mass"])
    q, qd = start(longer)
    found = dyn.forward_dynamics(q, qd, np.zeros(3), parameters=[0.9, 1.0])
    assert np.allclose(found, da.compile(longer).forward_dynamics(q, qd, np.zeros(3)), atol=1e-12)


def test_edits_carry_constraints(four_bar):
    assert four_bar.floating().constraints == four_bar.constraints
    two = four_bar.attach(four_bar, "crank", name="second", origin=(0, 0, 1))
    assert [c.name for c in two.constraints] == ["pin", "second_pin"]
    assert two.constraints[1].frames == ("second_coupler", "second_rocker") and two.principles == ("chetaev",) * 2


def test_locked_joints_are_driven_no_more(four_bar):
    driven = tree().constrained(PIN, actuated=["a", "b"])
    assert driven.lock(["a"]).actuated == ("b",) and driven.lock(["a"]).constraints == (PIN,)


@pytest.mark.parametrize("edit", [
    lambda m: m.floating(), lambda m: m.lock(["a"]), lambda m: m.attach(da.planar_chain(1), "crank", name="tool"),
    lambda m: da.planar_chain(1).attach(m, "tip", name="loop"),
], ids=["floating", "lock", "attach to", "attach"])
def test_functions_of_coordinates_refuse_other_coordinates(edit):
    by_function = tree().constrained(constraints.Holonomic("gap", gap, "m"))
    with pytest.raises(da.ModelError, match="constraint 'gap' is a function of the coordinates of 'four-bar', which change"):
        edit(by_function)
    assert edit(by_function.without("constraints")).constraints == ()


def test_edits_that_leave_the_coordinates_keep_functions():
    by_function = tree().constrained(constraints.Holonomic("gap", gap, "m"))
    for edited in (by_function.attach(da.Body("load", 1.0, (0, 0, 0), (1, 0, 1, 0, 0, 1)), "crank"), by_function.without("friction"),
                   by_function.independent(), by_function.replace(gravity=(0, 0, 0))):
        assert [c.name for c in edited.constraints] == ["gap"]


def test_a_coupling_of_a_locked_joint_is_a_fault():
    geared = tree().constrained(constraints.Coupling("gear", {"a": 1, "d": -2}))
    with pytest.raises(da.ModelError, match="constraint 'gear': it is about joint 'd', which is fixed and has no coordinate"):
        geared.lock(["d"])


def test_a_surface_of_a_base_that_moves_is_refused():
    rolling = constraints.PointContact("foot", "crank", ((0, 0, 0), (0, 1, 0)))
    legged = tree().constrained(rolling)
    assert da.planar_chain(1).attach(legged, "base", name="leg").constraints[0].frames == ("leg_crank",)
    with pytest.raises(da.ModelError, match="constraint 'foot' of 'four-bar' keeps to a surface in the axes of its base"):
        da.planar_chain(1).attach(legged, "tip", name="leg")


def test_faults_of_constraints_are_named(four_bar):
    with pytest.raises(da.ModelError, match="constraint 'pin': the name is used 2 times"):
        four_bar.constrained(PIN)
    lost = constraints.Closure("lost", da.Spherical(), "copler", "rocker")
    with pytest.raises(da.ModelError, match="it names the frame 'copler', which does not exist. Did you mean 'coupler'"):
        tree().constrained(lost)
    with pytest.raises(da.UnknownNameError, match="principle"):
        tree().constrained(PIN, principle="newton")
    with pytest.raises(da.UnknownNameError, match="constraint"):
        tree().constrained(PIN, principle={"pn": "chetaev"})
