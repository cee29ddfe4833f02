"""RATTLE in (q, p): symplectic on loops whose mass matrix is not constant, its energy bounded, its loop closed to rounding."""

import numpy as np
import pytest

import dalembert as da
from dalembert.systems.kinds import system_of

Z = da.Revolute((0, 0, 1))


def rod(name, length):
    return da.Body(name, length, (length / 2, 0, 0), (0, 0, length**3 / 12, 0, 0, length**3 / 12))


def loop(rods, joints, gap):
    tree = da.Mechanism("loop", (da.Body("base"), *(rod(*one) for one in rods)), joints, gravity=(0, -9.81, 0))
    return tree.constrained(da.constraints.Holonomic("gap", gap, "m"))


@pytest.fixture(scope="module")
def four_bar():
    def gap(q, t):
        x, y = [0.4 * f(q[0]) + 0.9 * f(q[0] + q[1]) - 0.7 * f(q[2]) for f in (da.cos, da.sin)]
        return [x - 1, y]

    joints = (da.Joint("a", Z, "base", "crank"), da.Joint("b", Z, "crank", "coupler", da.Origin((0.4, 0, 0))),
              da.Joint("d", Z, "base", "rocker", da.Origin((1, 0, 0))))
    return loop([("crank", 0.4), ("coupler", 0.9), ("rocker", 0.7)], joints, gap)


@pytest.fixture(scope="module")
def five_bar():
    """Two double pendulums joined at their ends: chaotic, with two degrees of freedom."""

    def gap(q, t):
        x, y = [0.5 * f(q[0]) + 0.7 * f(q[0] + q[1]) - 0.5 * f(q[2]) - 0.7 * f(q[2] + q[3]) for f in (da.cos, da.sin)]
        return [x - 0.3, y]

    joints = [da.Joint(f"{side}1", Z, "base", f"upper {side}", da.Origin((at, 0, 0))) for side, at in (("a", 0), ("b", 0.3))]
    joints += [da.Joint(f"{side}2", Z, f"upper {side}", f"lower {side}", da.Origin((0.5, 0, 0))) for side in "ab"]
    order = joints[0], joints[2], joints[1], joints[3]
    return loop([("upper a", 0.5), ("lower a", 0.7), ("upper b", 0.5), ("lower b", 0.7)], order, gap)


def form_after(mechanism, states, h, **options):
    """dq_1 . dp_2 - dq_2 . dp_1 of two tangent vectors, from states on both sides along each, before and after a step."""
    q, qd = map(np.array, zip(*states))
    run = da.simulate(mechanism, q, qd, h, method="rattle", h=h, record=h, **options)
    q, p = run.q, run.momenta
    first, second = (([(q[k] - q[k + 1]) / 2, (p[k] - p[k + 1]) / 2]) for k in (0, 2))
    return (first[0] * second[1] - second[0] * first[1]).sum(axis=-1)


def test_a_step_keeps_areas_on_the_constraints(four_bar):
    """Areas between neighbouring motions of a four-bar, in (q, p): kept by RATTLE with momenta, and not with velocities."""
    system = system_of(four_bar)
    base = [0.9, 0.4406286981 - 0.9, 1.4811343608], [2, -2.5656636963, 0.5873986104]
    eps = 1e-4
    shifts = [(eps, 0), (-eps, 0), (0, eps), (0, -eps)]
    states = [system.project([base[0][0] + a, *base[0][1:]], [base[1][0] + b, *base[1][1:]]) for a, b in shifts]
    before, after = form_after(four_bar, states, 0.05, formulation="hamilton")
    assert abs(after - before) < 1e-6 * abs(before)
    before, after = form_after(four_bar, states, 0.05)
    assert abs(after - before) > 1e-4 * abs(before)


def test_its_order_is_two_and_where_m_is_constant_it_is_rattle_with_velocities(four_bar):
    start = system_of(four_bar).project([0.9, 0.4406286981 - 0.9, 1.4811343608], [2, -2.5656636963, 0.5873986104])
    exact = da.simulate(four_bar, *start, 1.0, rtol=1e-12, atol=1e-13, record=1.0).q[-1]
    errors = [np.abs(da.simulate(four_bar, *start, 1.0, method="rattle", formulation="hamilton", h=h, record=1.0).q[-1] - exact).max()
              for h in (0.004, 0.002)]
    assert 1e-7 < errors[1] < 1e-3 and abs(np.log2(errors[0] / errors[1]) - 2) < 0.05

    class Pendulum(da.System):
        name, coordinate_names = "pendulum", ("x", "y")
        constraints = (da.constraints.Holonomic("rod", lambda q, t: [q @ q - 0.49], "m^2"),)

        def mass_matrix(self, q, t=0.0):
            return [[1.3, 0], [0, 1.3]]

        def bias_force(self, q, qd, t=0.0):
            return np.array([0, 9.81 * 1.3])

        def potential_energy(self, q, t=0.0):
            return 9.81 * 1.3 * q[1]

    state = [0.7 * np.sin(1), -0.7 * np.cos(1)], [0, 0]
    runs = [da.simulate(Pendulum(), *state, 2.0, method="rattle", h=0.01, formulation=form) for form in (None, "hamilton")]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-11)
    np.testing.assert_allclose(runs[0].multipliers, runs[1].multipliers, atol=1e-10)


@pytest.mark.parametrize("steps", [20_000, pytest.param(400_000, marks=pytest.mark.slow)])
def test_energy_of_a_chaotic_loop_stays_in_bounds_without_trend(five_bar, steps):
    start = system_of(five_bar).project([-2.2, 0.8, -0.9, -0.8], [0, 0, 0, 0])
    run = da.simulate(five_bar, *start, 0.002 * steps, method="rattle", formulation="hamilton", h=0.002, record=0.02)
    assert run.steps == steps and np.ptp(run.q, axis=0).min() > 1.0                # it does swing
    assert run.residual.max() < 1e-13 and run.velocity_residual.max() < 1e-13
    early, late = np.array_split(run.power_balance, 2)
    assert np.abs(late).max() < 0.02 and abs(late.mean() - early.mean()) < 1e-3


def test_other_methods_go_on_in_momenta_too(four_bar):
    start = system_of(four_bar).project([0.9, 0.4406286981 - 0.9, 1.4811343608], [2, -2.5656636963, 0.5873986104])
    exact = da.simulate(four_bar, *start, 1.0, rtol=1e-11, atol=1e-13, record=1.0)
    for method in ("dop853", "rk4", "gauss4"):
        run = da.simulate(four_bar, *start, 1.0, method=method, formulation="hamilton", record=1.0)
        assert np.abs(run.q - exact.q).max() < 1e-8 and run.residual.max() < 1e-14 and run.velocity_residual.max() < 1e-13
    with pytest.raises(da.ConstraintError, match="begin at a state that meets it"):
        da.simulate(four_bar, [0.9, -0.4, 1.5], [0, 0, 0], 0.1, formulation="hamilton")
