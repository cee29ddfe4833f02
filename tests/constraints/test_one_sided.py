"""One-sided constraints by Gauss's principle: a quadratic program at a state, contacts that open and close in a run."""

import numpy as np
import pytest

import dalembert as da
from masses import PRECISE, Masses

pytestmark = pytest.mark.usefixtures("quickly_compiled")
G = 9.81


class Falling(Masses):
    """Points that fall along -y: coordinates (x, y) or heights."""

    name = "falling"

    def bias_force(self, q, qd, t=0.0):
        return np.array([G * m * w for m, w in zip(self.masses, self.weights)])

    def potential_energy(self, q, t=0.0):
        return sum(G * m * w * x for m, w, x in zip(self.masses, self.weights, q))

    @property
    def weights(self):
        return (0.0, 1.0) if len(self.masses) == 2 else (1.0,)


def floor(height=0.0):
    return da.constraints.Holonomic("floor", lambda q, t: [q[-1] - height], one_sided=True)


@pytest.mark.parametrize("seed", range(5))
def test_accelerations_meet_the_conditions_of_kuhn_and_tucker_and_are_least(seed):
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(3, 4))
    walls = da.constraints.Holonomic("walls", lambda q, t: J @ q, one_sided=True)
    equal = da.constraints.Holonomic("line", lambda q, t: [q[0] - q[3]])
    system = Masses(walls, equal, masses=tuple(rng.uniform(0.5, 2, 4)), principles=("gauss", "chetaev"))
    tau = rng.normal(size=4)
    found = da.least_constraint(system, np.zeros(4), np.zeros(4), tau)
    M, E = np.diag(system.masses), np.array([[1.0, 0, 0, -1]])
    away, lam = J @ found.accelerations, found.contact_forces
    np.testing.assert_allclose(M @ found.accelerations, tau + J.T @ lam + E.T @ found.multipliers, atol=1e-12)
    assert (lam >= 0).all() and (away >= -1e-12).all() and np.abs(lam * away).max() < 1e-12
    a = np.linalg.solve(M, tau)
    for _ in range(200):                                  # of all that is allowed, none is nearer to the free motion
        other = found.accelerations + rng.normal(size=4)
        other[3] = other[0]
        if (J @ other >= 0).all():
            assert (other - a) @ M @ (other - a) / 2 >= found.constraint - 1e-12


def test_equality_rows_are_chetaevs():
    """Gauss's principle without one-sided rows has the accelerations and multipliers of Chetaev's."""
    rod = da.constraints.Holonomic("rod", lambda q, t: [q @ q - 1.0])
    q, qd, tau = np.array([0.6, -0.8]), np.array([0.8, 0.6]), np.array([0.3, 0.1])
    gauss, chetaev = (Falling(rod, masses=(1.0, 2.0), principles=(p,)) for p in ("gauss", "chetaev"))
    found = da.least_constraint(gauss, q, qd, tau)
    np.testing.assert_allclose(found.accelerations, chetaev.forward_dynamics(q, qd, tau), rtol=1e-13)
    np.testing.assert_allclose(found.multipliers, chetaev.multipliers(q, qd, tau), rtol=1e-13)


def test_a_point_falls_and_stays_on_the_floor():
    system = Falling(floor(), masses=(2.0,))
    times = np.linspace(0, 1.0, 21)
    run = da.simulate(system, [1.0], [0.0], times, **PRECISE)
    landed = np.sqrt(2 / G)
    free = times < landed
    np.testing.assert_allclose(run.q[free, 0], 1 - G * times[free] ** 2 / 2, atol=1e-12)
    np.testing.assert_allclose(run.q[~free, 0], 0, atol=1e-12)
    np.testing.assert_allclose(run.observables["contact_forces"][:, 0], np.where(free, 0, 2 * G), atol=1e-9)
    assert np.abs(run.power_balance).max() < 1e-11                  # the blow takes 2 G, which is booked
    assert run.work[-1] == pytest.approx(-2 * G) and run.reason == "finished"


def test_a_bead_leaves_a_hemisphere_where_its_force_is_0():
    """cos(angle) = 2/3 for a start from rest at the top, here slightly beside it."""
    dome = da.constraints.Holonomic("dome", lambda q, t: [q @ q - 1.0], one_sided=True)
    angle = 1e-3
    system = Falling(dome, masses=(1.0, 1.0), principles=("gauss",))
    start = [np.sin(angle), np.cos(angle)]
    run = da.simulate(system, start, [0, 0], np.linspace(0, 3.0, 601), **PRECISE)
    away = (run.q ** 2).sum(axis=1) - 1
    left = np.argmax(run.observables["contact_forces"][1:, 0] == 0)
    assert away[: left + 1].max() < 1e-12 and (np.diff(away[left + 2:]) > 0).all()
    assert run.q[left, 1] == pytest.approx(2 / 3 * np.cos(angle), abs=0.02)
    assert np.abs(run.power_balance).max() < 1e-9


def test_a_contact_opens_under_a_force_and_closes_again():
    """Lifted by a force of 30 sin(pi t): it leaves where the force is the weight, and comes back."""
    system = Falling(floor(), masses=(2.0,))

    def lift(t, q, qd):
        return [30.0 * da.sin(np.pi * t)]

    run = da.simulate(system, [0.0], [0.0], np.linspace(0, 2.0, 201), control=lift, **PRECISE)
    force = run.observables["contact_forces"][:, 0]
    leaves = np.arcsin(2 * G / 30) / np.pi
    on = run.times < leaves
    np.testing.assert_allclose(force[on], 2 * G - 30 * np.sin(np.pi * run.times[on]), atol=1e-9)
    assert run.q[:, 0].max() > 0.02 and run.q.min() > -1e-12 and force[-1] > 2 * G and (force >= 0).all()
    t = run.times[run.times < 0.9] - leaves
    flying = t > 0
    exact = -G * t ** 2 / 2 + 15 * (np.cos(np.pi * leaves) * t / np.pi - (np.sin(np.pi * (t + leaves)) - np.sin(np.pi * leaves)) / np.pi ** 2)
    np.testing.assert_allclose(run.q[: len(t), 0][flying], exact[flying], atol=1e-9)
    assert np.abs(run.power_balance).max() < 1e-9


def test_a_pendulum_hits_a_wall_as_a_mechanism():
    wall = da.constraints.Holonomic("wall", lambda q, t: [q[0] + 2.0], one_sided=True)
    arm = da.planar_chain(1).constrained(wall, principle="gauss")
    run = da.simulate(arm, [-1.0], [0.0], np.linspace(0, 2.0, 41), **PRECISE)
    assert run.q.min() > -2.0 - 1e-12 and run.reason == "finished"
    resting = run.observables["contact_forces"][:, 0] > 0
    assert not resting.any()                                     # it comes to the wall from above, and falls back from it
    assert np.abs(run.power_balance).max() < 1e-9


def test_what_does_not_go_with_contacts_is_refused():
    system = Falling(floor(), masses=(2.0,))
    for options, message in (({"method": "rk4"}, "fixed step"), ({"events": lambda t, q, qd: q[0]}, "events="), ({"store": "x"}, "store=")):
        with pytest.raises(da.DalembertError, match=f"one-sided constraints, which do not go with .*{message}"):
            da.simulate(system, [1.0], [0.0], 1.0, **options)
    with pytest.raises(da.ConstraintError, match="'floor' of 'falling' is -0.1 at t = 0 s, expected 0 or more"):
        da.simulate(system, [-0.1], [0.0], 1.0)
    with pytest.raises(da.ConstraintError, match="the rate of 'floor'"):
        da.least_constraint(system, [0.0], [-1.0], [0.0])
    with pytest.raises(da.DalembertError, match="one-sided constraints .floor., whose accelerations are no smooth function"):
        system.forward_dynamics(np.zeros(1), np.zeros(1), np.zeros(1))
    twice = da.constraints.Holonomic("twice", lambda q, t: [q[0], 2 * q[0]], one_sided=True)
    with pytest.raises(da.ConstraintError, match="contacts of 'falling' depend on each other"):
        da.least_constraint(Falling(twice, masses=(2.0,)), [0.0], [0.0], [0.0])


def test_forces_of_contacts_are_not_left_out_in_silence():
    wall = da.constraints.Holonomic("wall", lambda q, t: [q[0] + 2.0], one_sided=True)
    arm = da.planar_chain(1).constrained(wall, principle="gauss")
    for call in (lambda: da.inverse_dynamics(arm, [0.0], [0.0], [0.0]), lambda: da.linearize(arm, [0.0], [0.0], [0.0]),
                 lambda: da.forward_dynamics(arm, [0.0], [0.0], [0.0]), lambda: da.equations(arm),
                 lambda: da.compile(arm).forward_dynamics([0.0], [0.0], [0.0])):
        with pytest.raises(da.DalembertError, match="one-sided"):
            call()
