"""What no constraint can be is refused by name, when it is made or when its function is first asked, and never lost."""

import pytest

import dalembert as da

ARM = da.planar_chain(2)
FLAT = ((0, 0, 0), (0, 0, 1))
Closure, Distance, Holonomic, Velocity = da.constraints.Closure, da.constraints.Distance, da.constraints.Holonomic, da.constraints.Velocity


@pytest.mark.parametrize("make, message", [
    (lambda: Holonomic("bent", 3), r"phi of constraint 'bent' is 3 \(int\); expected a function of \(q, t\)"),
    (lambda: Holonomic("bent", lambda q: [q[0]]), r"phi of constraint 'bent' takes \(q\), but is called"),
    (lambda: Velocity("slip", lambda q, t: [q[0]]), r"psi of constraint 'slip' takes \(q, t\), but is called"),
    (lambda: ARM.constrained(Holonomic("bent", lambda q, t: [q[0]]), actuated=["q1", "q1"]), "a joint is named twice"),
])
def test_functions_and_drives_of_another_kind(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


@pytest.mark.parametrize("name", ["", "  ", None, 7])
def test_a_constraint_has_a_name(name):
    with pytest.raises(da.ModelError, match="a constraint without a name"):
        ARM.constrained(Holonomic(name, lambda q, t: [q[0]]))
    free = da.lagrangian_system(lambda q, qd, t: qd @ qd / 2, "x y")
    with pytest.raises(da.DalembertError, match="a constraint of 'system' has the name .*, by which runs record multipliers"):
        free.constrained(Holonomic(name, lambda q, t: [q[0]]))


@pytest.mark.parametrize("constraint", [
    Distance("rod", "link2", ("link2", (1, 0, 0)), 1.0),
    Closure("pin", da.Spherical(), "base", ("base", (1, 0, 0))),
    Closure("pin", da.Spherical(), "tip", "link2"),
])
def test_a_body_is_not_joined_with_itself(constraint):
    arm = da.Mechanism("arm", ARM.bodies, ARM.joints, (da.Frame("tip", "link2", da.Origin((1, 0, 0))),))
    with pytest.raises(da.ModelError, match=f"constraint '{constraint.name}': it joins body '(link2|base)' with itself"):
        arm.constrained(constraint)


@pytest.mark.parametrize("phi, message", [
    (lambda q, t: None, r"the result of the function of constraint 'bent' is None \(NoneType\); expected its rows"),
    (lambda q, t: ["q"], r"the result of the function of constraint 'bent' is \['q'\] \(list\); expected its rows"),
    (lambda q, t: [q[5]], "the function of constraint 'bent' has no value at a state: index 5 is out of bounds"),
    (lambda q, t: [da.log(q[0])], "the function of constraint 'bent' has no value at a state: math domain error"),
    (lambda q, t: [q[0] * float("nan")], "the function of constraint 'bent' has no value at a state: operand nan"),
    (lambda q, t: [[q[0]]], r"the function of constraint 'bent' gives shape \(1, 1\), expected rows"),
])
def test_results_that_are_no_rows(phi, message):
    with pytest.raises((da.DalembertError, TypeError), match=message):
        da.simulate(ARM.constrained(Holonomic("bent", phi)), [0.0, 0.2], [0.0, 0.0], 0.1)


def test_rows_without_velocities_are_no_constraint_on_velocities():
    """No force along psi_qd keeps them: they would be left without a word."""
    mixed = ARM.constrained(Velocity("slip", lambda q, qd, t: [qd[0] - qd[1], q[0] - 0.3]))
    for ask in (lambda: da.simulate(mixed, [0.3, 0.2], [0, 0], 0.1), lambda: da.degrees_of_freedom(mixed)):
        with pytest.raises(da.ConstraintError, match="row 1 of constraint 'slip' does not depend on velocities.*Holonomic"):
            ask()
    idle = ARM.constrained(Velocity("idle", lambda q, qd, t: [0.0]))
    assert int(da.degrees_of_freedom(idle)) == 2


def test_a_disc_that_lies_flat_has_no_contact_point():
    coin = da.Body("coin", 0.01, inertia=(1e-6, 0, 1e-6, 0, 0, 2e-6))
    free = da.Mechanism("coin", (da.Body("base"), coin), (da.Joint("free", da.Free(), "base", "coin"),))
    rolling = free.constrained(da.constraints.Rolling("table", "coin", 0.02, FLAT))
    for ask in (lambda: da.constraint_residual(rolling, free.neutral()), lambda: da.simulate(rolling, free.neutral(), [0] * 6, 0.1)):
        with pytest.raises(da.ConstraintError, match="'table' touches its surface in more than a point: a disc lies flat"):
            ask()


def test_an_unknown_joint_is_told_the_known_ones_once():
    mechanism, q = da.loops.four_bar()
    with pytest.raises(da.UnknownNameError, match=r"unknown joint 'wheel' \(known: \w+, \w+, \w+\)"):
        da.minimal_form(mechanism, q, [0, 0, 0], independent=["wheel"])


def test_forces_that_keep_a_program_have_to_be_there():
    """Driven joints of a servo constraint, and the generator's velocities in a coupling."""
    bent = Holonomic("bent", lambda q, t: [q[0]])
    with pytest.raises(da.ConstraintError, match=r"'bent' of 'planar chain' is kept by driven joints .* actuated=\[\] says that there are none"):
        da.simulate(ARM.constrained(bent, principle="servo", actuated=[]), [0, 0.2], [0, 0], 0.1)
    coupling = da.constraints.TwoWay("tied", lambda q, s, t: [q[0] - s[0]], da.generators.SteadyAcceleration(1.0))
    with pytest.raises(da.ConstraintError, match="row 0 of coupling 'tied' does not depend on velocities of its generator"):
        da.simulate(ARM.constrained(coupling), [0, 0.2], [0, 0], 0.1, multipliers0=[0.0])
