"""Every method on numbers: order, invariants, tolerance, failures; coefficients against SciPy's."""

import numpy as np
import pytest
from scipy.integrate import DOP853, RK45, solve_ivp
from scipy.integrate._ivp import dop853_coefficients as hairer

from dalembert.errors import UnknownNameError
from dalembert.expr import cos, sin
from dalembert.integrators import (
    METHODS,
    REASONS,
    Adaptive,
    FixedStep,
    dop853,
    dopri5,
    gauss4,
    gauss6,
    method,
    records,
)
from dalembert.integrators.methods import NOT_FINITE, NOT_SETTLED, TOO_SMALL

BY_THEMSELVES = {name: m for name, m in METHODS.items() if name != "generalized_alpha"}      # whose x has accelerations too
FIXED = [name for name, m in BY_THEMSELVES.items() if isinstance(m, FixedStep)]
ADAPTIVE = [name for name, m in METHODS.items() if isinstance(m, Adaptive)]
ENOUGH = 100_000


def pendulum(t, x):
    """q'' = -sin q + 0.3 cos t: not autonomous, so that the nodes of a method count."""
    return np.array([x[1], -sin(x[0]) + 0.3 * cos(t)])


def energy(x):
    return x[1] * x[1] / 2 - cos(x[0])


def known(name):
    return method(name, nq=1, energy=energy)


def final(name, f, x, end, h, rtol=1e-9, start=0.0):
    m = known(name)
    repeats = round((end - start) / h) if isinstance(m, FixedStep) else ENOUGH
    *_, last = records(m, f, np.array(x), np.array([start, end]), h, repeats, rtol, rtol)
    return last


@pytest.fixture(scope="module")
def exact():
    return solve_ivp(pendulum, (0, 2), [1.0, 0.5], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]


@pytest.mark.parametrize("name", FIXED)
def test_error_falls_with_the_order_of_the_method(name, exact):
    steps = (10, 20) if METHODS[name].order > 4 else (40, 80) if METHODS[name].order > 1 else (1000, 2000)
    coarse, fine = (np.abs(final(name, pendulum, [1.0, 0.5], 2.0, 2 / n).x - exact).max() for n in steps)
    assert fine < 1e-3 and abs(np.log2(coarse / fine) - METHODS[name].order) < 0.15


@pytest.mark.parametrize("name", ADAPTIVE)
def test_one_step_of_a_pair_has_an_error_of_its_order_plus_one(name, exact):
    step, errors = known(name).step, []
    for h in (0.4, 0.2):
        right = solve_ivp(pendulum, (0, h), [1.0, 0.5], method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
        x, estimates, (*_, last) = step(pendulum, 0.0, np.array([1.0, 0.5]), h, pendulum(0.0, [1.0, 0.5]))
        errors.append(np.abs(x - right).max())
        assert np.array_equal(last, pendulum(h, x)) and all(np.abs(e).max() > errors[-1] / 5 for e in estimates)
    assert np.log2(errors[0] / errors[1]) > METHODS[name].order + 0.5


@pytest.mark.parametrize("name", [*ADAPTIVE, "radau5"])
def test_error_follows_the_tolerance(name, exact):
    for rtol in (1e-5, 1e-8, 1e-11) if name != "radau5" else (1e-4, 1e-7):
        last = final(name, pendulum, [1.0, 0.5], 2.0, 1e-2, rtol)
        assert last.t == 2.0 and rtol / 1000 < np.abs(last.x - exact).max() < 20 * rtol


@pytest.mark.parametrize(("name", "scipys"), [("dopri5", "RK45"), ("dop853", "DOP853")])
def test_work_and_error_are_those_of_scipys_implementation(name, scipys):
    """The same pairs under the same norm; only the first step, shortened ones and growth after a rejection differ."""
    other = solve_ivp(pendulum, (0, 20), [1.0, 0.5], method=scipys, rtol=1e-8, atol=1e-8, first_step=0.1)
    right = solve_ivp(pendulum, (0, 20), [1.0, 0.5], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    last = final(name, pendulum, [1.0, 0.5], 20.0, 0.1, 1e-8)
    assert abs(last.steps / (len(other.t) - 1) - 1) < 0.1
    assert np.abs(last.x - right).max() < 2 * np.abs(other.y[:, -1] - right).max()


def test_coefficients_are_hairers_and_scipys():
    full = np.zeros((16, 16))
    for i, row in enumerate((*dop853.A, dop853.B, *dop853.A_MORE)):
        full[i, :len(row)] = row
    assert np.array_equal(full, hairer.A) and np.array_equal((*dop853.C, 1, *dop853.C_MORE), hairer.C)
    assert np.array_equal(dop853.D, hairer.D)
    assert np.array_equal(dop853.B, hairer.B) and np.array_equal(dop853.E3, hairer.E3[:12])
    assert np.array_equal(dop853.E5, hairer.E5[:12])
    assert np.allclose(dopri5.E, -RK45.E, rtol=0, atol=1e-16) or np.allclose(dopri5.E, RK45.E, rtol=0, atol=1e-16)
    assert np.allclose(dopri5.A[6], RK45.B, rtol=1e-15)


@pytest.mark.parametrize("rule", [gauss4, gauss6], ids=["gauss4", "gauss6"])
def test_gauss_collocation_meets_its_conditions(rule):
    """sum_j A_ij c_j^(k-1) = c_i^k / k, sum_j b_j c_j^(k-1) = 1/k up to k = 2 s, and symplecticity."""
    A, b, c = np.array(rule.A), np.array(rule.B), np.array(rule.C)
    for k in range(1, len(c) + 1):
        assert np.allclose(A @ c ** (k - 1), c**k / k, rtol=0, atol=1e-15)
    for k in range(1, 2 * len(c) + 1):
        assert abs(b @ c ** (k - 1) - 1 / k) < 1e-15
    assert np.abs(b[:, None] * A + (b[:, None] * A).T - np.outer(b, b)).max() < 1e-16


def test_energy_of_a_pendulum_behaves_as_each_method_promises():
    def swinging(t, x):
        return np.array([x[1], -sin(x[0])])

    drift = {}
    for name in FIXED:
        times = np.arange(0, 101.0)
        x = [r.x for r in records(known(name), swinging, np.array([2.0, 0.0]), times, 0.1, 10)]
        drift[name] = np.array([energy(y) for y in x]) - energy([2.0, 0.0])
    assert drift["explicit_euler"][-1] > 1
    for name, bound in (("symplectic_euler", 0.1), ("semi_implicit_euler", 0.1), ("implicit_midpoint", 3e-3), ("gauss4", 1e-6), ("gauss6", 1e-8)):
        early, late = (np.abs(part).max() for part in (drift[name][:50], drift[name][50:]))
        assert 1e-16 < late < bound and late < 1.5 * early, name
    assert np.abs(drift["rk4"]).max() < 1e-3 and abs(drift["rk4"][-1]) > 1.5 * abs(drift["rk4"][49])
    assert np.abs(drift["discrete_gradient"]).max() < 1e-13


def test_energy_changes_by_the_power_of_friction_at_the_midpoint():
    def damped(t, x):
        return np.array([x[1], -sin(x[0]) - 0.2 * x[1]])

    x, h = np.array([1.0, 0.5]), 0.1
    new = method("discrete_gradient", energy=energy).step(damped, 0.0, x, h)
    middle = (x + new) / 2
    power = np.array([sin(middle[0]), middle[1]]) @ damped(0, middle)
    assert power < -1e-3 and abs(energy(new) - energy(x) - h * power) < 1e-15


@pytest.mark.parametrize("name", BY_THEMSELVES)
def test_motion_goes_back_to_where_it_came_from(name):
    error = {"explicit_euler": 1e-2, "semi_implicit_euler": 1e-2, "symplectic_euler": 1e-2, "radau5": 1e-6}.get(name, 1e-5)
    h = 1e-3 if isinstance(METHODS[name], FixedStep) else 1e-2
    there = final(name, pendulum, [1.0, 0.5], 1.0, h)
    back = final(name, pendulum, there.x, 0.0, -h if isinstance(METHODS[name], FixedStep) else h, start=1.0)
    assert back.t == pytest.approx(0, abs=1e-15) and np.abs(back.x - [1.0, 0.5]).max() < error


@pytest.mark.parametrize("name", [*ADAPTIVE, "radau5"])
def test_a_step_that_collapses_ends_the_trajectory_with_a_reason(name):
    found = list(records(known(name), lambda t, x: x * x, np.array([1.0]), np.array([0, 0.5, 2, 3]), 0.1, ENOUGH, 1e-6, 1e-6))
    assert [r.failed > 0 for r in found] == [False, True] and found[0].t == 0.5       # x = 1/(1 - t)
    assert abs(found[0].x[0] - 2) < 1e-4 and found[1].t == pytest.approx(1, abs=1e-3) and "small" in REASONS[TOO_SMALL]


@pytest.mark.parametrize("name", [n for n in BY_THEMSELVES if n != "discrete_gradient"])
def test_numbers_that_are_not_finite_end_the_trajectory_before_the_goal(name):
    def broken(t, x):
        return np.array([x[1], np.nan if t > 0.55 else -x[0]])

    m = known(name)
    repeats = 10 if isinstance(m, FixedStep) else ENOUGH
    found = list(records(m, broken, np.array([1.0, 0.0]), np.array([0, 0.3, 1.3, 2.3]), 0.03, repeats, 1e-4, 1e-4))
    assert len(found) == 2 and not found[0].failed and found[1].failed in (NOT_FINITE, TOO_SMALL)
    assert found[1].t < 0.65 and found[1].steps < 60
    if name in ADAPTIVE:
        assert found[1].failed == NOT_FINITE and np.isfinite(found[1].x).all()


@pytest.mark.parametrize("name", ["implicit_midpoint", "gauss4", "gauss6"])
def test_an_implicit_step_that_does_not_settle_is_reported_and_not_made(name):
    last = final(name, lambda t, x: np.array([x[1], -400 * x[0]]), [1.0, 0.0], 10.0, 0.5)
    assert last.failed == NOT_SETTLED and last.t == 0 and last.x.tolist() == [1, 0] and last.steps == 0


def test_attempts_that_run_out_leave_the_trajectory_on_its_way():
    last, = records(METHODS["dopri5"], pendulum, np.array([1.0, 0.5]), np.array([0, 10.0]), 1e-3, 5, 1e-9, 1e-9)
    assert 0 < last.t < 10 and last.steps + last.rejected == 5 and last.failed == 0


def test_a_stiff_system_takes_radau5_few_steps():
    """Prothero and Robinson's x' = -1e6 (x - cos t) - sin t, whose solution is cos t."""
    stiff = lambda t, x: -1e6 * (x - np.cos(t)) - np.sin(t)      # noqa: E731
    last = final("radau5", stiff, [1.0], 1.0, 1e-2, 1e-6)
    assert abs(last.x[0] - np.cos(1)) < 1e-6 and last.steps < 100


@pytest.mark.parametrize("name", ["dopri5", "dop853"])
def test_records_cost_no_steps_and_agree_with_scipys_interpolant(name):
    x, scipys = np.array([1.0, 0.5]), {"dopri5": RK45, "dop853": DOP853}[name]
    few, many = (list(records(METHODS[name], pendulum, x, np.linspace(0, 10, n + 1), 0.1, ENOUGH, 1e-6, 1e-6)) for n in (10, 1000))
    assert many[-1].steps == few[-1].steps and np.array_equal(many[-1].x, few[-1].x)
    step = known(name).step(pendulum, 0.0, x, 0.3, pendulum(0.0, x))
    other = scipys(pendulum, 0.0, x, 10.0, first_step=0.3, rtol=1, atol=1)
    other.step()
    k = [*step[2], *(METHODS[name].extra(pendulum, 0.0, x, 0.3, step[2]) if METHODS[name].extra else ())]
    for part in (0.2, 0.5, 0.9):
        y, right = METHODS[name].between(x, step[0], 0.3, k, part), other.dense_output()(0.3 * part)
        assert np.abs(y - right).max() < (1e-14 if name == "dop853" else 3e-6)      # RK45 has Shampine's, of the same order


def test_messages_say_what_is_missing():
    with pytest.raises(UnknownNameError, match="Did you mean 'dopri5'"):
        method("dopri")
    for name in ("symplectic_euler", "semi_implicit_euler"):
        with pytest.raises(ValueError, match="give nq="):
            method(name)
    with pytest.raises(ValueError, match="7 coordinates and 6 velocities: give move="):
        method("semi_implicit_euler", nq=7, nv=6)
    with pytest.raises(ValueError, match="give energy="):
        method("discrete_gradient")
