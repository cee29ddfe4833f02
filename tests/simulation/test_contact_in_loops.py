"""Friction that sticks and stops, together with constraints: what the loop leaves them, to closed forms."""

import numpy as np
import pytest

import dalembert as da
from dalembert import constraints

X = da.Prismatic((1, 0, 0))
MASSES, FRICTION, G = (1.5, 0.5), (3.0, 1.0), 9.81
pytestmark = pytest.mark.usefixtures("quickly_compiled")


def carts(friction=FRICTION, limits=None, **numbers):
    """Two carts on a line that a rod keeps 1 m apart: one freedom, of 2 kg, whose friction of 4 N is shared."""
    bodies = (da.Body("ground"), da.Body("left", MASSES[0]), da.Body("right", MASSES[1]))
    joints = (da.Joint("l", X, "ground", "left", coulomb=friction[0]),
              da.Joint("r", X, "ground", "right", coulomb=friction[1], limits=limits or da.Limits()))
    rod = constraints.Holonomic("rod", lambda q, t: [q[1] - q[0] - 1.0], "m")
    return da.Mechanism("carts", bodies, joints).constrained(rod)


def push(force):
    return lambda t, q, qd: [force(t), 0.0]


@pytest.mark.parametrize("method", ["rk4", "dop853", "dopri5"])
def test_coupled_carts_stop_when_and_where_one_cart_would(method):
    run = da.simulate(carts(), [0.0, 1.0], [1.0, 1.0], 3.0, forces=push(lambda t: 2.0), method=method, h=0.01)
    stopped = run.times > 1.0 + 1e-9                                   # 2 kg, (4 - 2) N: after 1 s and 0.5 m
    assert np.abs(run.qd[stopped]).max() == 0.0
    assert np.abs(run.q[-1] - [0.5, 1.5]).max() < 1e-9
    r = run.observables["reactions"][-1]
    assert abs(r.sum() + 2.0) < 1e-9 and (np.abs(r) <= np.array(FRICTION) + 1e-9).all()
    assert abs(run.observables["multipliers"][-1, 0]) < 4.0


def test_they_break_loose_at_the_friction_of_both():
    run = da.simulate(carts(), [0.0, 1.0], [0.0, 0.0], 5.0, forces=push(lambda t: t), method="dop853", rtol=1e-10, atol=1e-12)
    moved = [c.t for c in run.changes if c.mode == "slides forward"]
    assert moved and max(abs(t - 4.0) for t in moved) < 1e-7           # 3 N, then 1 N
    assert np.abs(run.q[-1] - [1 / 12, 1 + 1 / 12]).max() < 1e-8       # x = (t - 4)^3 / 12


def test_a_cart_that_rubs_little_carries_its_bound_and_the_other_the_rest():
    run = da.simulate(carts(), [0.0, 1.0], [0.0, 0.0], 0.1, forces=push(lambda t: 3.5), method="rk4", h=0.01)
    assert np.abs(run.observables["reactions"] - [-2.5, -1.0]).max() < 1e-9
    assert (run.qd == 0).all() and (np.abs(run.modes[-1]) == [0, 3]).all()


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_stop_of_one_stops_both(e):
    mechanism = carts((0, 0), da.Limits(0.0, 2.0))
    run = da.simulate(mechanism, [0.0, 1.0], [1.0, 1.0], 1.5, stops={"r": e}, method="dop853", rtol=1e-10, atol=1e-12)
    assert np.abs(run.q[-1] - [1 - 0.5 * e, 2 - 0.5 * e]).max() < 1e-9
    assert np.abs(run.qd[-1] + e).max() < 1e-9
    assert abs(run.work[-1] + (1 - e ** 2)) < 1e-9                     # 2 kg at 1 m/s have 1 J


def test_a_pushed_cart_stays_at_its_stop_and_its_reaction_holds_both():
    mechanism = carts((0, 0), da.Limits(0.0, 2.0))
    run = da.simulate(mechanism, [1.0, 2.0], [0.0, 0.0], 1.0, stops={"r": 0.0}, forces=push(lambda t: 5.0), method="rk4", h=0.01)
    assert (run.qd == 0).all() and np.abs(run.q - [1.0, 2.0]).max() < 1e-15
    assert np.abs(run.observables["reactions"][-1] - [0.0, -5.0]).max() < 1e-9
    assert abs(run.observables["multipliers"][-1, 0] - 5.0) < 1e-9


def test_a_rod_that_grows_drags_the_carts_and_its_work_is_booked():
    mechanism = carts()
    moving = constraints.Holonomic("rod", lambda q, t: [q[1] - q[0] - 1.0 - 0.1 * t * t], "m")
    grown = da.Mechanism("carts", mechanism.bodies, mechanism.joints).constrained(moving)
    run = da.simulate(grown, [0.0, 1.0], [0.0, 0.0], 2.0, method="dop853", rtol=1e-10, atol=1e-12)
    # 1 N holds the right one less than 3 N the left: it alone moves
    assert np.abs(run.q[-1] - [0.0, 1.4]).max() < 1e-9 and (run.qd[:, 0] == 0).all()
    kinetic = 0.5 * MASSES[1] * 0.4 ** 2
    assert abs(run.work[-1] - kinetic) < 1e-8 and run.energy_drift < 1e-8


def four_bar(**friction):
    rods = {"crank": 0.4, "coupler": 1.0, "rocker": 0.8}
    bodies = [da.Body("base")] + [da.Body(n, l, (l / 2, 0, 0), (0, 0, l ** 3 / 12, 0, 0, l ** 3 / 12)) for n, l in rods.items()]
    Z = da.Revolute((0, 0, 1))
    joints = (da.Joint("a", Z, "base", "crank", coulomb=friction.get("a", 0)),
              da.Joint("b", Z, "crank", "coupler", da.Origin((0.4, 0, 0)), coulomb=friction.get("b", 0)),
              da.Joint("d", Z, "base", "rocker", da.Origin((1, 0, 0)), coulomb=friction.get("d", 0)))
    pin = constraints.Closure("pin", da.Spherical(), ("coupler", (1, 0, 0)), ("rocker", (0.8, 0, 0)))
    return da.Mechanism("four-bar", tuple(bodies), joints, gravity=(0, -G, 0)).constrained(pin)


def test_a_four_bar_with_friction_in_every_joint_comes_to_rest_in_balance():
    from dalembert.systems.kinds import system_of

    mechanism = four_bar(a=0.5, b=0.2, d=0.3)
    state = system_of(mechanism).project([1.2, -0.5, 1.9], [2.0, 0.0, 0.0])
    runs = [da.simulate(mechanism, *state, 6.0, method=m, rtol=1e-9, atol=1e-11) for m in ("dop853", "dopri5")]
    run = runs[0]
    assert np.abs(run.q[-1] - runs[1].q[-1]).max() < 1e-6 and run.energy_drift < 1e-8
    assert (run.qd[-1] == 0).all() and len(run.changes) > 10
    r = run.observables["reactions"][-1]
    assert (np.abs(r) <= np.array([0.5, 0.2, 0.3]) * (1 + 1e-9)).all()
    J = system_of(mechanism).constraints[0].rates(system_of(mechanism), run.q[-1], np.zeros(3)).jacobian
    tangent = np.linalg.svd(J)[2][-1]
    bias = da.gravity_vector(mechanism, run.q[-1])
    assert abs(tangent @ (r - bias)) < 1e-8 < np.abs(tangent @ bias)
