"""Integrators as machine code: against the interpreter, the methods in Python, closed forms and invariants."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj

import dalembert as da
from dalembert.codegen.blocks import ProgramError
from dalembert.codegen.interpreter import evaluated
from dalembert.codegen.program import Scan
from dalembert.codegen.targets.llvm import in_memory
from dalembert.compiled.propagation import propagator
from dalembert.errors import ShapeError
from dalembert.integrators import METHODS as ALL_METHODS
from dalembert.integrators import Adaptive, FixedStep, method, records
from dalembert.integrators.methods import NOT_FINITE, NOT_SETTLED, TOO_SMALL
from dalembert.native import cache
from dalembert.tracing import regrouping
from dalembert.tracing.regrouping import accelerations
from dalembert.tracing.trace import Trace

# states of generalized_alpha have accelerations, which a plain f(t, x) does not: tests/tracing/test_loops.py has it
METHODS = {name: m for name, m in ALL_METHODS.items() if name != "generalized_alpha"}
COMPILED = [name for name, m in METHODS.items() if isinstance(m, FixedStep | Adaptive)]
ENOUGH = 100_000
NONE = np.zeros(0)


def swing(t, x, p):
    """Two coupled pendula, driven: q1'' = -p sin q1 + (q2 - q1), q2'' = -sin q2 + (q1 - q2) + 0.3 cos t."""
    return np.array([x[2], x[3], -p[0] * da.sin(x[0]) + x[1] - x[0], -da.sin(x[1]) + x[0] - x[1] + 0.3 * da.cos(t)])


def energy(x):
    """Of `swing` without its drive, p = 1."""
    return (x[2] * x[2] + x[3] * x[3]) / 2 - da.cos(x[0]) - da.cos(x[1]) + (x[1] - x[0]) * (x[1] - x[0]) / 2


def known(name):
    return method(name, nq=2, energy=energy)


@pytest.fixture(scope="module")
def marchings():
    return {name: propagator(swing, 4, 1, known(name)) for name in METHODS}


@pytest.fixture(scope="module")
def starts():
    return np.random.default_rng(7).uniform(-1.5, 1.5, (37, 4))


def run(marching, x, times=(0.0, 0.5, 1.0), h=0.05, p=(1.0,), threads=1, tolerance=1e-8):
    repeats = round((times[1] - times[0]) / h) if isinstance(marching.method, FixedStep) else ENOUGH
    return marching.run(x, np.array(times), h, np.array(p), repeats, tolerance, tolerance, threads)


CHAIN = da.planar_chain(4)


def falling(t, x, p):
    """A chain under gravity and a damper, x = (q, qd); its accelerations are scans where these may be called."""
    return np.concatenate([x[4:], accelerations(CHAIN, x[:4], x[4:], -p[0] * x[4:])])


def arrays(found):
    """All that a run gives."""
    return [*(a for a in found if isinstance(a, np.ndarray)), *found.state.values()]


@pytest.mark.parametrize("name", METHODS)
def test_machine_code_the_interpreter_and_the_method_in_python_agree(marchings, starts, name):
    found = run(marchings[name], starts[:3])
    assert not found.failed.any() and np.allclose(found.t, [0.5, 1.0], rtol=1e-15)
    fixed = isinstance(METHODS[name], FixedStep)
    for k, x in enumerate(starts[:3]):
        plain = list(records(known(name), lambda t, x: np.asarray(swing(t, x, [1.0]), float), x, np.array([0, 0.5, 1.0]), 0.05,
                             10 if fixed else ENOUGH, 1e-8, 1e-8))
        assert np.abs([r.x for r in plain] - found.x[k]).max() < 1e-13 * (1e3 if name == "radau5" else 1)
        assert [r.steps for r in plain] == found.steps[k].tolist() and [r.rejected for r in plain] == found.rejected[k].tolist()
        if name in COMPILED:
            program = marchings[name].program
            values = {"t": [0.0], "x": x, "h": [0.05], "p": [1.0], "rtol": [1e-8], "atol": [1e-8], "end": [1.0], "way": [1.0],
                      "longest": [1e300]}
            inputs = [values.get(r.name, np.zeros(r.size)) for r in program.inputs]
            right = evaluated(program, *inputs, goals=[0.5, 1.0], repeats=10 if fixed else ENOUGH)
            assert np.abs(right[1] - found.x[k]).max() < 1e-14
            left = zip(program.outputs, right[len(program.records):], strict=True)
            assert all(np.allclose(a, found.state[r.name][k], rtol=1e-6, atol=0) for r, a in left)


@pytest.mark.parametrize("name", COMPILED)
def test_a_trajectory_does_not_depend_on_its_neighbours_to_the_last_bit(marchings, starts, name):
    """Lanes take different numbers of steps and iterations; those that are ready wait."""
    p = np.linspace(0.5, 40, len(starts))[:, None]
    whole = run(marchings[name], starts, p=p)
    split = run(marchings[name], np.repeat(starts, 4, axis=0), p=np.repeat(p, 4, axis=0), threads=2)
    assert all(np.array_equal(np.repeat(a, 4, axis=0), b) for a, b in zip(arrays(whole), arrays(split), strict=True))
    for k in (0, 5, 8, 36):
        alone = run(marchings[name], starts[k:k + 1], p=p[k])
        assert all(np.array_equal(a[k:k + 1], b) for a, b in zip(arrays(whole), arrays(alone), strict=True))
    if isinstance(METHODS[name], Adaptive):
        assert len(set(whole.steps[:8, -1])) > 1


@pytest.mark.parametrize("name", [n for n in COMPILED if isinstance(METHODS[n], FixedStep)])
def test_error_falls_with_the_order_of_the_method(marchings, starts, name):
    right = run(marchings["dop853"], starts[:8], (0.0, 1.0), tolerance=1e-14).x
    steps = (5, 10) if METHODS[name].order > 4 else (20, 40) if METHODS[name].order > 1 else (1000, 2000)
    coarse, fine = (np.abs(run(marchings[name], starts[:8], (0.0, 1.0), 1 / n).x - right).max() for n in steps)
    assert fine < 2e-3 and abs(np.log2(coarse / fine) - METHODS[name].order) < 0.25


@pytest.mark.parametrize(("name", "scipys"), [("dopri5", "RK45"), ("dop853", "DOP853")])
def test_error_and_work_follow_the_tolerance_as_scipys(marchings, starts, name, scipys):
    x = starts[0]
    right = solve_ivp(lambda t, x: swing(t, x, [1.0]), (0, 10), x, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    for rtol in (1e-5, 1e-8, 1e-11):
        other = solve_ivp(lambda t, x: swing(t, x, [1.0]), (0, 10), x, method=scipys, rtol=rtol, atol=rtol, first_step=0.05)
        found = run(marchings[name], x[None], (0.0, 10.0), tolerance=rtol)
        assert np.abs(found.x[0, 0] - right).max() < max(3 * np.abs(other.y[:, -1] - right).max(), 1e-11)
        assert found.steps[0, 0] < 1.15 * (len(other.t) - 1)


def test_equal_steps_back_in_time_lead_to_the_start(marchings, starts):
    for name in METHODS:
        fixed = isinstance(METHODS[name], FixedStep)
        there = run(marchings[name], starts[:8], (0.0, 1.0), 1e-3 if fixed else 0.05)
        repeats = 1000 if fixed else ENOUGH
        back = marchings[name].run(there.x[:, 0], np.array([1.0, 0.0]), -1e-3 if fixed else 0.05, np.ones(1), repeats, 1e-8, 1e-8)
        assert np.abs(back.t).max() < 1e-15 and np.abs(back.x[:, 0] - starts[:8]).max() < (2e-2 if "euler" in name else 2e-6)


@pytest.mark.parametrize("name", COMPILED)
def test_a_run_goes_on_in_parts_to_the_last_bit(marchings, starts, name):
    """Steps cross the ends of the parts, and so do the first guesses of implicit methods."""
    m, times = marchings[name], np.linspace(0, 1, 11)
    repeats = 4 if isinstance(m.method, FixedStep) else ENOUGH

    def part(first, last, state=None):
        return m.run(starts, times[first:last + 1], 0.025, np.ones(1), repeats, 1e-6, 1e-6, end=1.0, state=state)

    whole, early = part(0, 10), part(0, 3)
    middle = part(3, 4, early.state)
    late = part(4, 10, middle.state)
    for name in ("t", "x", "steps", "rejected", "failed", "h"):
        parts = np.concatenate([getattr(p, name) for p in (early, middle, late)], axis=1)
        assert np.array_equal(parts, getattr(whole, name)), name
    assert all(np.array_equal(late.state[n], a) for n, a in whole.state.items())


@pytest.mark.parametrize("name", ["dopri5", "dop853"])
def test_steps_do_not_depend_on_the_records(marchings, starts, name):
    """Nor does what is recorded: the same times have the same states, to the last bit; the end is an end of a step."""
    found = {k: run(marchings[name], starts, np.linspace(0, 2, k + 1), tolerance=1e-7) for k in (1, 10, 1000)}
    for few in (1, 10):
        at = slice(1000 // few - 1, None, 1000 // few)
        assert np.array_equal(found[few].steps[:, -1], found[1000].steps[:, -1]) and found[few].steps[:, -1].max() < 100
        assert np.array_equal(found[few].rejected, found[1000].rejected[:, at])
        assert np.array_equal(found[few].x[:, -1], found[1000].x[:, -1])
        assert np.abs(found[few].x - found[1000].x[:, at]).max() < 1e-14      # np.linspace rounds its times


@pytest.mark.parametrize(("name", "order"), [("dopri5", 4), ("dop853", 7)])
def test_what_lies_between_the_ends_of_steps_has_the_order_of_the_interpolant(name, order):
    """Errors within one step of length h fall as h^(order + 1); at a given tolerance they are as those of the steps."""
    m, x = METHODS[name], np.array([1.0, 0.5])
    f = lambda t, x: np.array([x[1], -np.sin(x[0]) + 0.3 * np.cos(t)])      # noqa: E731
    parts, errors = np.array([0.1, 0.3, 0.5, 0.7, 0.9]), []
    for h in (0.2, 0.1):
        right = solve_ivp(f, (0, h), x, t_eval=parts * h, method="DOP853", rtol=1e-13, atol=1e-15).y.T
        new, _, k = m.step(f, 0.0, x, h, f(0.0, x))
        k = [*k, *(m.extra(f, 0.0, x, h, k) if m.extra else ())]
        errors.append(max(np.abs(m.between(x, new, h, k, part) - y).max() for part, y in zip(parts, right, strict=True)))
        assert np.abs(m.between(x, new, h, k, 0.0) - x).max() == 0 and np.abs(m.between(x, new, h, k, 1.0) - new).max() < 1e-15
    assert abs(np.log2(errors[0] / errors[1]) - (order + 1)) < 0.5


@pytest.mark.parametrize("name", ["dopri5", "dop853"])
def test_records_between_steps_are_as_good_as_the_steps(marchings, starts, name):
    times = np.linspace(0, 2, 201)
    right = run(marchings["dop853"], starts, (0.0, *times[1:]), tolerance=1e-13).x
    for tolerance in (1e-6, 1e-9):
        error = np.abs(run(marchings[name], starts, times, tolerance=tolerance).x - right).max(axis=(0, 2))
        assert error[:-1].max() < 30 * max(error[-1], tolerance)


def explosive(t, x, p):
    """x' = p x^2: x = 1/(1/x0 - p t)."""
    return np.array([p[0] * x[0] * x[0]])


@pytest.mark.parametrize("name", ["dopri5", "dop853", "radau5"])
def test_a_step_that_collapses_stops_one_trajectory_and_no_other(name):
    found = propagator(explosive, 1, 1, METHODS[name]).run(np.ones((9, 1)), np.array([0, 0.5, 2.0, 3.0]), 0.1,
                                                         np.array([[0.1]] * 4 + [[1.0]] + [[0.1]] * 4), ENOUGH, 1e-8, 1e-8)
    assert found.failed[4].tolist() == [0, TOO_SMALL, TOO_SMALL] and (found.t[4, 1:] < 1.01).all()
    good = np.delete(np.arange(9), 4)
    assert not found.failed[good].any() and (found.t[good] == [0.5, 2, 3]).all()
    assert np.allclose(found.x[good, :, 0], 1 / (1 - 0.1 * np.array([0.5, 2, 3])), rtol=1e-6, atol=0)


NEEDING_MORE = ("discrete_gradient", "lie_rk4", "symplectic_euler", "semi_implicit_euler", "rattle")      # than one number


@pytest.mark.parametrize("name", [n for n in COMPILED if n not in NEEDING_MORE])
def test_numbers_that_are_not_finite_stop_one_trajectory_before_its_goal(name):
    def sinking(t, x, p):
        return np.array([-p[0] / da.sqrt(x[0])])      # x^(3/2) = x0^(3/2) - 3/2 p t

    p = np.full((9, 1), 0.1)
    p[3] = 1.0
    repeats = 100 if isinstance(METHODS[name], FixedStep) else ENOUGH
    found = propagator(sinking, 1, 1, known(name)).run(np.ones((9, 1)), np.array([0, 0.5, 1.0]), 0.005, p, repeats, 1e-6, 1e-6)
    assert found.failed[3, 0] == 0 and found.failed[3, 1] > 0 and found.t[3, 1] < 0.7
    assert isinstance(METHODS[name], FixedStep) or np.isfinite(found.x[3]).all()
    good = np.delete(np.arange(9), 3)
    assert not found.failed[good].any() and np.allclose(found.x[good, 1, 0], 0.85 ** (2 / 3), rtol=1e-3)


@pytest.mark.parametrize("name", ["implicit_midpoint", "gauss4", "gauss6"])
def test_an_implicit_step_that_does_not_settle_stops_one_trajectory(name):
    def spring(t, x, p):
        return np.array([x[1], -p[0] * x[0]])

    p = np.ones((9, 1))
    p[2] = 1e4
    marching = propagator(spring, 2, 1, METHODS[name])
    found = marching.run(np.tile([1.0, 0.0], (9, 1)), np.array([0, 1.0, 2.0]), 0.1, p, 10)
    assert (found.failed[2] == NOT_SETTLED).all() and (found.t[2] == 0).all() and (found.x[2] == [1, 0]).all()
    alone = marching.run(np.array([[1.0, 0.0]]), np.array([0, 1.0, 2.0]), 0.1, np.ones(1), 10)
    assert np.array_equal(found.x[8], alone.x[0]) and np.abs(alone.x[0, :, 0] - np.cos([1, 2])).max() < 2e-3


def test_nothing_moves_where_f_is_never_a_number():
    marching = propagator(lambda t, x, p: np.array([da.sqrt(x[0] - 2)]), 1, 0, METHODS["dopri5"])
    found = marching.run(np.array([[1.0], [3.0]]), np.array([0, 1.0]), 0.1, NONE, ENOUGH, 1e-6, 1e-6)
    assert found.failed[:, 0].tolist() == [NOT_FINITE, 0] and found.t[:, 0].tolist() == [0, 1] and found.x[0, 0, 0] == 1


def test_a_double_pendulum_keeps_energy_as_each_method_promises():
    chain = da.planar_chain(2)

    def f(t, x, p):
        return np.concatenate([x[2:], da.forward_dynamics(chain, x[:2], x[2:], np.zeros(2))])

    def total(x):
        return da.kinetic_energy(chain, x[:2], x[2:]) + da.potential_energy(chain, x[:2])

    dynamics = da.compile(chain)
    x, times, drift = np.array([[0.4, 0.3, 0.0, 0.0]]), np.linspace(0, 40, 401), {}
    for name in ("explicit_euler", "rk4", "implicit_midpoint", "gauss4", "gauss6", "discrete_gradient"):
        found = propagator(f, 4, 0, method(name, energy=total)).run(x, times, 0.005, NONE, 20).x[0]
        energies = (dynamics.kinetic_energy(found[:, :2], found[:, 2:]) + dynamics.potential_energy(found[:, :2]))
        drift[name] = np.abs(energies - total(x[0])) / (energies.max() - dynamics.potential_energy(np.array([-np.pi / 2, 0])))
    early, late = {n: d[:200].max() for n, d in drift.items()}, {n: d[200:].max() for n, d in drift.items()}
    assert drift["explicit_euler"][-1] > 0.1
    assert late["rk4"] < 1e-4
    for name, bound in (("implicit_midpoint", 1e-2), ("gauss4", 1e-5), ("gauss6", 1e-8)):
        assert late[name] < min(bound, 20 * early[name]), name
    assert late["gauss4"] < late["rk4"] and drift["discrete_gradient"].max() < 2e-11      # rounding: fast whirls


@pytest.mark.parametrize("steps", [10_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_the_midpoint_rule_bounds_the_energy_and_the_discrete_gradient_keeps_it(steps):
    def pendulum(t, x, p):
        return np.array([x[1], -da.sin(x[0])])

    def total(x):
        return x[1] * x[1] / 2 - da.cos(x[0])

    times = 0.1 * np.linspace(0, steps, 101)
    x = np.column_stack([np.linspace(0.5, 2.5, 8), np.zeros(8)])
    for name, bound in (("implicit_midpoint", 3e-3), ("discrete_gradient", 1e-11)):
        found = propagator(pendulum, 2, 0, method(name, energy=total)).run(x, times, 0.1, NONE, steps // 100)
        error = np.abs(found.x[..., 1] ** 2 / 2 - np.cos(found.x[..., 0]) + np.cos(x[:, :1]))
        assert not found.failed.any() and error.max() < bound, name


def test_eulers_top_turns_as_jacobis_functions_say():
    """Torque-free: w1 = a cn, w2 = -b sn, w3 = c dn (Landau, Lifshitz, Mechanics, section 37); here I = (1, 2, 3)."""
    def top(t, x, p):
        return np.array([(2 - 3) * x[1] * x[2] / 1, (3 - 1) * x[2] * x[0] / 2, (1 - 2) * x[0] * x[1] / 3])

    x = np.array([[0.4, 0.0, 1.0]])
    M2, E2 = 0.4**2 + 9, 0.4**2 + 3                     # squares of the momentum, twice the energy; M2 > 2 E2
    rate, k2 = np.sqrt((3 - 2) * (M2 - E2) / 6), (2 - 1) * (3 * E2 - M2) / ((3 - 2) * (M2 - E2))
    times = np.linspace(0, 10, 21)
    sn, cn, dn, _ = ellipj(rate * times[1:], k2)
    for name, h, error in (("dop853", 0.05, 1e-10), ("gauss6", 0.02, 1e-10), ("rk4", 0.01, 1e-8)):
        found = run(propagator(top, 3, 0, METHODS[name]), x, times, h, NONE, tolerance=1e-12).x[0]
        right = np.column_stack([0.4 * cn, np.sqrt((3 * E2 - M2) / 2) * sn, dn])
        assert np.abs(found - right).max() < error, name


@pytest.mark.parametrize("h", [1e-3, 2.5e-4])
def test_a_free_body_keeps_its_spatial_momentum_in_the_lie_group_form(h):
    """10^5 steps: with 1 ms, 100 s in which the body turns 8 times and goes 50 m; the momenta are those about the origin."""
    body = da.random_tree(5, 1, ["free"]).without("friction").replace({f"gravity[{k}]": 0 for k in range(3)})
    way = method("lie_rk4", quaternions=[(0, 7)])

    def f(t, x, p):
        return np.concatenate([body.rate(x[:7], x[7:]), da.forward_dynamics(body, x[:7], x[7:], np.zeros(6))])

    q, qd = body.random_state(2)
    steps = 100_000
    times = h * np.linspace(0, steps, 11)
    found = propagator(f, 13, 0, way).run(np.concatenate([q, 0.5 * qd])[None], times, h, NONE, steps // 10).x[0]
    q, qd = found[:, :7], found[:, 7:]
    X, momenta = da.placement(body, q, body.bodies[-1].name), da.momenta(body, q, qd)
    linear = np.einsum("kij,kj->ki", X[:, :3, :3], momenta[:, 3:])
    angular = np.einsum("kij,kj->ki", X[:, :3, :3], momenta[:, :3]) + np.cross(X[:, :3, 3], linear)
    assert np.abs(np.linalg.norm(q[:, :4], axis=1) - 1).max() < 1e-13
    assert np.linalg.norm(qd[:, :3], axis=1).mean() * times[-1] > 2 * 2 * np.pi
    for momentum in (linear, angular):
        assert np.abs(momentum - momentum[0]).max() < 1e-12 * np.linalg.norm(momentum[0])


def test_the_lie_group_form_has_order_4_on_quaternions():
    body = da.random_tree(3, 2, ["free", "spherical"]).without("friction")
    nq, nv = body.nq, body.nv
    ways = [(body.entries[name].at_q.start, nq + body.entries[name].at_v.start) for name in body.quaternions]
    way = method("lie_rk4", quaternions=ways)

    def f(t, x, p):
        return np.concatenate([body.rate(x[:nq], x[nq:]), da.forward_dynamics(body, x[:nq], x[nq:], np.zeros(nv))])

    x, times = np.concatenate(body.random_state(4))[None], np.array([0, 0.5])
    right = propagator(f, nq + nv, 0, METHODS["dop853"]).run(x, times, 1e-2, NONE, ENOUGH, 1e-13, 1e-13).x
    marching = propagator(f, nq + nv, 0, way)
    coarse, fine = (np.abs(marching.run(x, times, 0.5 / n, NONE, n).x - right).max() for n in (50, 100))
    assert abs(np.log2(coarse / fine) - 4) < 0.3


def test_wrong_arguments_are_named(marchings, starts):
    with pytest.raises(ValueError, match=r"x\[1, 2\] is nan"):
        bad = starts[:3].copy()
        bad[1, 2] = np.nan
        run(marchings["rk4"], bad)
    with pytest.raises(ShapeError, match=r"x has shape \(4,\), expected \(N, 4\)"):
        run(marchings["rk4"], starts[0])
    with pytest.raises(ShapeError, match=r"p has shape \(2,\), expected \(1,\) or \(37, 1\)"):
        run(marchings["rk4"], starts, p=(1, 2))
    with pytest.raises(ValueError, match="'dopri5' needs a step that is positive, and tolerances"):
        run(marchings["dopri5"], starts, h=-0.1)
    with pytest.raises(ValueError, match="tolerances of which one is positive"):
        run(marchings["dopri5"], starts, tolerance=0.0)


def test_values_that_do_not_fit_their_register_are_refused():
    with da.Graph():
        trace = Trace({"x": 2, "y": 3})
        with pytest.raises(ProgramError, match="2 values do not fit the register 'y'"):
            trace.give({"y": trace.registers["x"]})


# --- loops over bodies in loops over steps ------------------------------------------------------------------------------

@pytest.mark.parametrize("on_stack", [True, False])
@pytest.mark.parametrize("name", ["rk4", "dopri5", "implicit_midpoint"])
def test_scans_within_loops_over_steps_equal_straight_code(monkeypatch, name, on_stack):
    straight = propagator(falling, 8, 1, METHODS[name])
    monkeypatch.setattr(regrouping, "ROLLED_FROM", 2)
    scanned = propagator(falling, 8, 1, METHODS[name])
    if not on_stack:
        monkeypatch.setattr(in_memory, "MOST_ON_STACK", 0)
        monkeypatch.setattr(cache, "kept", lambda key, make: make())
    longest = [max(len(i.order) for i in m.program.every_item if isinstance(i, Scan)) for m in (straight, scanned)]
    assert longest == [1, 4]
    x = np.random.default_rng(3).uniform(-0.1, 0.1, (19, 8))
    right, found = run(straight, x, h=0.02), run(scanned, x, h=0.02)
    assert (scanned.kernel(len(x)).work_bytes > 0) == (not on_stack)
    np.testing.assert_allclose(found.x, right.x, rtol=0, atol=1e-11)
    assert (found.steps == right.steps).all() and not found.failed.any()
    for a, b in zip(arrays(run(scanned, x, h=0.02, threads=2)), arrays(found), strict=True):
        np.testing.assert_array_equal(a, b)                    # neither on threads nor on neighbours
    np.testing.assert_array_equal(run(scanned, x[4:5], h=0.02).x[0], found.x[4])


@pytest.mark.parametrize("name", ["rk4", "dopri5"])
def test_scans_within_loops_over_steps_do_what_the_interpreter_says(monkeypatch, name):
    monkeypatch.setattr(regrouping, "ROLLED_FROM", 2)
    scanned = propagator(falling, 8, 1, METHODS[name])
    m, x = scanned.program, np.random.default_rng(3).uniform(-1, 1, 8)
    found, fixed = run(scanned, x[None]), isinstance(METHODS[name], FixedStep)
    values = {"t": [0.0], "start": [0.0], "x": x, "h": [0.05], "p": [1.0], "rtol": [1e-8], "atol": [1e-8], "end": [1.0],
              "longest": [1e300], "way": [1.0]}
    inputs = [values.get(r.name, np.zeros(r.size)) for r in m.inputs]
    right = evaluated(m, *inputs, goals=[0.5, 1.0], repeats=10 if fixed else ENOUGH)
    at = [r.name for r in m.records].index("x" if fixed else "there")
    np.testing.assert_allclose(found.x[0], right[at], rtol=0, atol=1e-13)
