"""Springs, friction and external forces on joints."""

import numpy as np
import pytest

import dalembert as da
from trees import close, derivative, seeds, tree


def test_a_spring_with_friction_pulls_as_its_law_says():
    """-k (q - q_rest) - d qd - f_c sign(qd), and 0 of dry friction at rest."""
    slider = da.Mechanism("slider", (da.Body("base"), da.Body("block", 2.0)), (da.Joint(
        "slide", da.Prismatic((1, 0, 0)), "base", "block", stiffness=(50.0,), rest=(0.1,), viscous=(0.7,), coulomb=(3.0,)),))
    np.testing.assert_allclose(da.passive_force(slider, [[0.3], [0.3], [0.1]], [[2.0], [-2.0], [0.0]]),
                               [[-10 - 1.4 - 3], [-10 + 1.4 + 3], [0]], atol=1e-14)
    assert (da.passive_force(slider.without("friction", "springs"), [0.3], [2.0]) == 0).all()


def test_forces_of_a_follower_act_on_its_leader():
    """q2 = -2 q1 + 0.1 with 3 N and 5 N s/m: 2 (3 + 5 * 2 qd1) on q1."""
    pair = da.Mechanism("pair", (da.Body("base"), da.Body("a", 1), da.Body("b", 1)), (
        da.Joint("one", da.Prismatic((1, 0, 0)), "base", "a"),
        da.Joint("two", da.Prismatic((0, 1, 0)), "base", "b", coulomb=(3,), viscous=(5,), mimic=da.Mimic("one", -2, 0.1))))
    np.testing.assert_allclose(da.passive_force(pair, [0.4], [1.5]), [-2 * (3 + 5 * 3)], rtol=1e-15)


@pytest.mark.parametrize("seed", seeds(6, 12))
def test_friction_takes_energy_and_springs_have_a_potential(seed):
    m, q, qd, _ = tree(seed)
    rubbing = m.without("springs")
    assert da.passive_force(rubbing, q, qd) @ qd <= 0
    springs = m.without("friction").replace(gravity=(0, 0, 0))
    slope = derivative(lambda t: da.potential_energy(springs, m.integrate(q, t * qd)))
    assert close(-da.passive_force(springs, q, qd) @ qd, slope, 1 + abs(slope), 1e-8)


@pytest.mark.parametrize("seed", seeds(4, 12))
def test_an_external_force_has_the_power_of_the_point_that_it_acts_on(seed):
    m, q, qd, qdd = tree(seed)
    frame, force, point = m.bodies[-1].name, np.array([1.0, -2.0, 3.0]), np.array([0.1, 0.2, -0.3])
    load = da.ExternalForce(frame, force, point=point, expressed_in="aligned")
    tau = da.inverse_dynamics(m, q, qd, qdd) - da.inverse_dynamics(m, q, qd, qdd, [load])

    def moved(t):
        return da.placement(m, m.integrate(q, t * qd), frame)

    velocity = derivative(lambda t: moved(t)[:3, 3] + moved(t)[:3, :3] @ moved(0)[:3, :3].T @ point)
    assert abs(tau @ qd - force @ velocity) < 1e-7 * (1 + abs(force @ velocity))
