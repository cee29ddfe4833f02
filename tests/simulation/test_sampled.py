"""Controllers that run once every period: held forces, delays, memory, beside exact solutions and runs begun anew."""

import collections
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.linalg import expm

import dalembert as da
from dalembert.controllers import Limited, Sampled
from methods import each

CART = da.Mechanism("cart", (da.Body("base"), da.Body("cart", 2.0)), (
    da.Joint("x", da.Prismatic((1, 0, 0)), "base", "cart", viscous=0.7, stiffness=3.0),))
FREE = CART.replace({"x.viscous": 0, "x.stiffness": 0})
ARM = da.planar_chain(2)
METHODS = ["rk4", "gauss4", "dopri5", "dop853", "radau5"]


def law(k, t, q, qd, memory):
    return -40 * q - 8 * qd, memory


def held(mechanism, period, delay, t, u, memory=0.0, x0=(1.0, 0.0)):
    """x(t) and memory by the matrix exponential: x' = A x + B tau, tau held; u(k, x, memory) -> (tau, memory)."""
    m, c, s = (mechanism.number(p) for p in ("cart.mass", "x.viscous", "x.stiffness"))
    A = np.array([[0, 1, 0], [-s / m, -c / m, 1 / m], [0, 0, 0]], dtype=float)
    x, now, tau, outputs, k, e = np.array(x0), 0.0, 0.0, [], 0, 0
    while True:
        soon = min(k * period, e * period + delay, t)
        x, now = (expm(A * (soon - now)) @ [*x, tau])[:2], soon
        if abs(k * period - now) < 1e-12:
            output, memory = u(k, x, memory)
            outputs, k = [*outputs, output], k + 1
        while e < k and e * period + delay < now + 1e-12:
            tau, e = outputs[e], e + 1
        if now >= t - 1e-12:
            return x, memory


def test_a_held_spring_and_damper_has_the_known_state():
    run = da.simulate(FREE, [1.0], [0.0], 2.0, control=Sampled(law, 0.05), h=0.01)
    assert abs(run.q[-1, 0] - -0.00684559) < 5e-9 and run.forces["control"] == "sampled"
    fine = da.simulate(FREE, [1.0], [0.0], 2.0, control=Sampled(law, 0.05), h=1e-4, record=0.5)
    assert abs(run.q[-1, 0] - fine.q[-1, 0]) < 1e-14      # a constant force is integrated exactly


@pytest.mark.parametrize("method", each(METHODS, ("rk4", "dopri5", "radau5")))
@pytest.mark.parametrize("delay", [0.0, 0.3, 1.0, 2.5])
def test_held_and_late_forces_are_those_of_the_matrix_exponential(method, delay):
    tight = {} if method in ("rk4", "gauss4") else {"rtol": 1e-12, "atol": 1e-14}
    control = Sampled(law, 0.05, delay=delay * 0.05)
    for t, record in ((0.6, 0.05), (0.43, 0.43), (0.2, 0.007))[:1 if method == "radau5" else 3]:
        run = da.simulate(CART, [1.0], [0.0], t, control=control, method=method, h=2e-3, record=record, **tight)
        x, _ = held(CART, 0.05, delay * 0.05, t, lambda k, x, m: (-40 * x[0] - 8 * x[1], m))
        assert run.reason == "finished" and run.times[-1] == t
        np.testing.assert_allclose([run.q[-1, 0], run.qd[-1, 0]], x, rtol=0, atol=2e-10)


def begun_anew(mechanism, q, qd, t, sampled, u, **options):
    """q, qd, work and steps at t of runs under constant forces, each begun where the one before ended.

    u(k, q, qd, memory) -> (tau, memory) on numbers.
    """
    now, tau, outputs, memory, work, steps, e = 0.0, np.zeros(len(qd)), [], sampled.memory, 0.0, 0, 0
    while True:
        if abs(len(outputs) * sampled.period - now) < 1e-12:
            output, memory = u(len(outputs), q, qd, memory)
            outputs.append(output)
        while e < len(outputs) and e * sampled.period + sampled.delay < now + 1e-12:
            tau, e = outputs[e], e + 1
        if now >= t - 1e-12:
            return q, qd, work, steps
        soon = min(len(outputs) * sampled.period, e * sampled.period + sampled.delay, t)
        part = da.simulate(mechanism, q, qd, [now, soon], control=tau, **options)
        q, qd, work, steps, now = part.q[-1], part.qd[-1], work + part.work[-1], steps + part.steps, soon


def remembering_law(k, t, q, qd, memory):
    return -30 * q - 4 * qd + 5 * memory + da.sin(k), memory + 0.1 * (0.3 - q)


def called_law(k, t, q, qd, memory):
    return remembering_law(k, float(t), q, qd, memory)


def drag(t, q, qd):
    return -qd * da.sin(5 * t)


def called_drag(t, q, qd):
    return -qd * np.sin(5 * float(t))


def check_begun_anew(method, function=remembering_law, forces=None, delay=0.0, t=0.17, **options):
    """See that a run of two trajectories is the runs begun anew at each sample, to rounding."""
    control, close = Sampled(function, 0.05, delay, np.zeros(2)), 1e-13
    if method == "radau5" and forces is called_drag:      # df/dx by differences, which rounding changes by some 1e-8
        close = max(close, 1e-7 * options["rtol"])
    begin, options = np.array([[0.4, -0.3], [-1.0, 0.6]]), {"method": method, "forces": forces, **options}
    run = da.simulate(ARM, begin, [0, 0], t, control=control, record=t, **options)
    for k, q in enumerate(begin):
        q, qd, work, steps = begun_anew(ARM, q, np.zeros(2), t, control, lambda *x: called_law(x[0], 0, *x[1:]), **options)
        assert run.reasons[k] == "finished" and (run.steps[k] == steps or method == "radau5")
        np.testing.assert_allclose(run.q[k, -1], q, rtol=0, atol=close)
        np.testing.assert_allclose(run.qd[k, -1], qd, rtol=0, atol=10 * close)
        np.testing.assert_allclose(run.work[k, -1], work, rtol=0, atol=100 * close)


@pytest.mark.parametrize("method", each(METHODS, ("rk4", "dopri5")))
@pytest.mark.parametrize("delay", [0.0, 0.085])
def test_a_run_is_that_of_constant_forces_begun_anew_at_each_sample(method, delay):
    check_begun_anew(method, delay=delay, t=0.173, h=0.01)      # divides the period, not the run


@pytest.mark.parametrize("method, given", [("rk4", {}), ("dopri5", {}), ("radau5", {"rtol": 1e-6, "atol": 1e-9})])
def test_laws_and_forces_that_are_called_are_begun_anew_likewise(method, given):
    check_begun_anew(method, called_law, called_drag, 0.02, 0.123, h=0.025, **given)


@pytest.mark.slow
@pytest.mark.parametrize("method", [*METHODS, "lie_rk4", "gauss6"])
def test_runs_of_many_options_are_runs_begun_anew(method):
    tolerances = [{}] if method in ("rk4", "gauss4", "lie_rk4", "gauss6") else [
        {"rtol": tol, "atol": 1e-3 * tol} for tol in (1e-4, 1e-6, 1e-9, 1e-12)[:2 if method == "radau5" else 4]]
    for h in (1e-3, 0.02):
        for delay in (0.0, 0.015, 0.05, 0.11):
            for function, forces in ((remembering_law, drag), (called_law, None), (remembering_law, called_drag)):
                for given in tolerances:
                    check_begun_anew(method, function, forces, delay, 0.13, h=h, **given)


# --- memory ---

def pi(k, t, q, qd, memory):
    """A discrete PI with anti-windup: the integral stands still where the force is limited."""
    error = 0.5 - q[0]
    tau = 30 * error - 6 * qd[0] + memory["integral"]
    limited = da.maximum(da.minimum(tau, 8.0), -8.0)
    return [limited], {"integral": memory["integral"] + 2.0 * error + 0.5 * (limited - tau), "count": memory["count"] + 1}


def pi_called(k, t, q, qd, memory):
    assert isinstance(k, int) and isinstance(t, float)
    return pi(k, float(t), q, qd, memory)


def test_what_a_law_remembers_goes_from_sample_to_sample():
    def u(k, x, memory):
        tau, memory = pi(k, 0, x[:1], x[1:], memory)
        return tau[0], memory

    x, _ = held(CART, 0.02, 0.013, 1.0, u, {"integral": 0.0, "count": 0.0}, (-0.5, 0.0))
    begin = {"integral": 0.0, "count": 0}
    for function in (pi, pi_called):
        run = da.simulate(CART, [-0.5], [0.0], 1.0, control=Sampled(function, 0.02, 0.013, begin), h=1e-3)
        np.testing.assert_allclose([run.q[-1, 0], run.qd[-1, 0]], x, rtol=0, atol=1e-11)
        assert np.abs(run.tau).max() == 8.0
    assert begin == {"integral": 0.0, "count": 0}


@pytest.mark.parametrize("memory", [0.0, [1.0, 2.0], (0.5, (np.zeros((2, 2)), 1)), {"a": (), "b": np.ones(3)},
                                    collections.namedtuple("Pair", "x y")(1.0, np.zeros(2))], ids=str)
def test_a_memory_has_any_form_and_keeps_it(memory):
    seen = []

    def called(k, t, q, qd, memory):
        seen.append(memory)
        return -float(q[0]) * np.ones(1), memory

    run = da.simulate(CART, [1.0], [0.0], 0.1, control=Sampled(called, 0.05, memory=memory))
    assert run.reason == "finished" and type(seen[-1]) in (type(memory), np.ndarray) and str(seen[0]) == str(seen[-1])
    traced = da.simulate(CART, [1.0], [0.0], 0.1, control=Sampled(lambda k, t, q, qd, m: (-q, m), 0.05, memory=memory))
    np.testing.assert_allclose(traced.q, run.q, atol=1e-15)


def test_a_filter_and_a_counter_of_samples_are_laws():
    def low_pass(k, t, q, qd, memory):
        filtered, last = memory
        new = filtered + 0.2 * (q - filtered)
        return -40 * new - 8 * (new - last) / 0.05, (new, new)

    def one_late(k, t, q, qd, memory):
        return memory, -40 * q - 8 * qd

    run = da.simulate(FREE, [1.0], [0.0], 1.0, control=Sampled(low_pass, 0.05, memory=(np.zeros(1), np.zeros(1))), h=0.01)

    def u(k, x, m):
        new = m + 0.2 * (x[0] - m)
        return -40 * new - 8 * (new - m) / 0.05, new

    np.testing.assert_allclose(run.q[-1, 0], held(FREE, 0.05, 0, 1.0, u)[0][0], atol=1e-13)
    late = da.simulate(FREE, [1.0], [0.0], 1.0, control=Sampled(one_late, 0.05, memory=np.zeros(1)), h=0.01)
    same = da.simulate(FREE, [1.0], [0.0], 1.0, control=Sampled(law, 0.05, delay=0.05), h=0.01)
    np.testing.assert_allclose(late.q, same.q, atol=1e-14)


# --- several trajectories, parts, files ---

def stateful(k, t, q, qd, memory):
    return -20 * q - 3 * qd + memory, memory + 0.5 * (0.2 - q)


def stateful_called(k, t, q, qd, memory):
    return stateful(k, float(t), q, qd, memory)


@pytest.mark.parametrize("method", ["rk4", "dopri5", "radau5"])
@pytest.mark.parametrize("function", [stateful, stateful_called])
def test_each_trajectory_has_a_memory_of_its_own(method, function):
    q = np.random.default_rng(0).normal(size=(5, 2))
    control = Sampled(function, 0.02, 0.03, memory=np.zeros(2))
    options = {"control": control, "method": method, "record": 0.025, "h": 5e-3}
    many = da.simulate(ARM, q, [0, 0], 0.2 if method != "radau5" else 0.05, **options)
    for k in (0, 3):
        alone = da.simulate(ARM, q[k], [0, 0], many.times[-1], **options)
        assert np.array_equal(many.q[k], alone.q) and np.array_equal(many.tau[k], alone.tau)
        assert many.steps[k] == alone.steps


@pytest.mark.parametrize(("method", "function"), [("rk4", stateful_called), ("dop853", stateful), *(
    pytest.param(*more, marks=pytest.mark.slow) for more in (("rk4", stateful), ("dop853", stateful_called)))])
def test_a_run_in_a_folder_goes_on_with_the_same_bits(tmp_path, monkeypatch, method, function):
    pytest.importorskip("zarr")
    from dalembert.results import streaming

    monkeypatch.setattr(streaming, "WORK", 500)
    control, begin = Sampled(function, 0.02, 0.05, memory=np.zeros(2)), [[0.4, -0.3], [0.1, 0.2]]
    options = {"control": control, "method": method, "record": 0.005, "h": 1e-3}
    whole = da.simulate(ARM, begin, [0, 0], 0.4, **options)

    class Cut(Exception):
        pass

    def cut(part, t):
        if part > 0.4:
            raise Cut

    once = da.simulate(ARM, begin, [0, 0], 0.4, store=tmp_path / "once.zarr", **options)
    with pytest.raises(Cut):
        da.simulate(ARM, begin, [0, 0], 0.4, store=tmp_path / "cut.zarr", progress=cut, **options)
    run = da.resume(ARM, tmp_path / "cut.zarr", control=control)
    for name in ("q", "qd", "tau", "work"):
        assert np.array_equal(getattr(run, name), getattr(once, name)), name
        np.testing.assert_allclose(np.asarray(getattr(run, name)), getattr(whole, name), rtol=0, atol=1e-9)
    assert np.array_equal(np.asarray(da.Run.load(ARM, tmp_path / "cut.zarr").tau), np.asarray(once.tau))
    with pytest.raises(da.DalembertError, match="another.*sampled|sampled"):
        da.simulate(ARM, begin, [0, 0], 0.4, store=tmp_path / "cut.zarr", resume=True,
                    **(options | {"control": Sampled(function, 0.03, 0.05, memory=np.zeros(2))}))


def test_forces_at_records_are_those_that_acted():
    run = da.simulate(FREE, [1.0], [0.0], 0.2, control=Sampled(law, 0.05, delay=0.02), h=0.01, record=0.01)
    samples = run.q[::5, 0] * -40 - 8 * run.qd[::5, 0]
    expected = np.concatenate([[0, 0], np.repeat(samples, 5)])[:21]
    np.testing.assert_allclose(run.tau[:, 0], expected, rtol=0, atol=1e-12)
    both = da.simulate(FREE, [1.0], [0.0], 0.2, control=Sampled(law, 0.05, delay=0.02), forces=lambda t, q, qd: -qd, h=0.01)
    np.testing.assert_allclose(both.tau, both.held - both.qd, atol=1e-14)
    assert np.array_equal(pickle.loads(pickle.dumps(run)).tau, run.tau)
    assert np.abs(run.power_balance).max() < 1e-13


# --- with all the rest ---

def test_time_begins_with_the_run():
    times = []

    def clock(k, t, q, qd, memory):
        times.append((k, float(t)))
        return [float(np.sin(t))], memory

    da.simulate(FREE, [1.0], [0.0], [3.0, 3.1, 3.2], control=Sampled(clock, 0.04), h=0.01)
    assert times == [(k, 3.0 + k * 0.04) for k in range(6)]
    at_zero, late = (da.simulate(FREE, [1.0], [0.0], t0 + np.linspace(0, 1, 11), control=Sampled(law, 0.05), h=0.01)
                     for t0 in (0.0, 1024.0))
    np.testing.assert_allclose(late.q, at_zero.q, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
@pytest.mark.parametrize("traced", [True, False])
def test_events_stops_and_friction_go_on_under_held_forces(method, traced):
    block = da.Mechanism("block", (da.Body("base"), da.Body("block", 2.0)), (
        da.Joint("x", da.Prismatic((1, 0, 0)), "base", "block", coulomb=3.0, limits=da.Limits((0,), (0.3,))),))

    def steps(k, t, q, qd, memory):      # less than friction, then more, then back
        tau = [da.where(t < 0.099, 2.0, da.where(t < 0.6, 8.0, -8.0))]
        return (tau, memory) if traced else ([float(tau[0])], memory)

    def passes(t, q, qd):
        return q[0] - 0.1

    run = da.simulate(block, [0.0], [0.0], 1.0, control=Sampled(steps, 0.05), stops={"x": 0.5}, events=passes, method=method,
                      h=1e-3, record=0.05)
    a = (8.0 - 3.0) / 2
    found = [(e.t, e.qd[0]) for e in run.events]
    assert abs(found[0][0] - (0.1 + np.sqrt(2 * 0.1 / a))) < 1e-9 and np.array_equal(run.q[:3, 0], np.zeros(3))
    first = next(c for c in run.changes if c.impact)
    assert abs(first.t - (0.1 + np.sqrt(2 * 0.3 / a))) < 1e-9
    moved = [c for c in run.changes if c.mode == "slides forward" and c.t < 0.2]
    assert len(moved) == 1 and abs(moved[0].t - 0.1) < 1e-9
    assert np.abs(run.power_balance).max() < 1e-9 and run.q[-1, 0] < 0.1


def test_a_terminal_event_ends_a_trajectory_under_held_forces():
    def half(t, q, qd):
        return q[0] - 0.5

    half.terminal = True
    run = da.simulate(FREE, [[1.0], [0.4]], [0.0], 1.0, control=Sampled(law, 0.05), events=half, h=0.01, record=0.1)
    assert "event 'half'" in run.reasons[0] and run.reasons[1] == "finished"
    plain = da.simulate(FREE, [1.0], [0.0], 1.0, control=Sampled(law, 0.05), h=1e-3, record=1e-3)
    assert abs(np.interp(run.events[0].t, plain.times, plain.q[:, 0]) - 0.5) < 1e-5


def test_numbers_as_inputs_and_other_formulations_take_sampled_controllers():
    control = Sampled(law, 0.05, delay=0.02)
    many = da.simulate(FREE, [1.0], [0.0], 0.5, control=control, parameters={"cart.mass": [1.0, 2.0]}, h=0.01)
    plain = da.simulate(FREE, [1.0], [0.0], 0.5, control=control, h=0.01)
    np.testing.assert_allclose(many.q[1], plain.q, atol=1e-13)
    momenta = da.simulate(FREE, [1.0], [0.0], 0.5, control=control, h=0.01, formulation="hamilton")
    np.testing.assert_allclose(momenta.q, plain.q, atol=1e-13)
    system = da.lagrangian_system(lambda q, qd, t: qd[0]**2, "x")
    np.testing.assert_allclose(da.simulate(system, [1.0], [0.0], 0.5, control=control, h=0.01).q, plain.q, atol=1e-13)


def force(run):
    return {"held": run.held[-1], "tau": run.tau[-1], "count": len(run.tau)}


def half(t, q, qd):
    return q[0] - 0.2


half.terminal = True


@pytest.mark.parametrize("function", [stateful, stateful_called])
def test_a_sweep_of_sampled_runs_is_these_runs(function, tmp_path):
    samples, periods = {"q[q1]": [0.1, 0.5, -0.4]}, [0.01, 0.02, 0.05]
    controls = [Sampled(function, period, 0.033, np.zeros(2)) for period in periods]
    with ThreadPoolExecutor(2) as executor:
        found = {collect: da.sweep(ARM, samples, executor, t=0.2, record=0.03, control=controls[1], events=half,
                                   collect=collect) for collect in ("final", "records", force)}
        numbers = da.sweep(ARM, {"control": controls}, executor, t=0.1, q=[0.5, 0.0])
        masses = da.sweep(ARM, {"link2.mass": [0.5, 1.0]}, executor, t=0.1, q=[0.5, 0.0], control=controls[0])
        stored = da.sweep(ARM, {"control": controls[:2]}, executor, t=0.1, q=[0.5, 0.0], store=tmp_path / "sweep")
    for k, angle in enumerate(samples["q[q1]"]):
        run = da.simulate(ARM, [angle, 0.0], [0, 0], 0.2, record=0.03, control=controls[1], events=half)
        for name, right in (("q", run.end.q), ("work", run.end.work), ("steps", run.steps), ("reason", run.reason)):
            assert np.array_equal(found["final"][name][k], right), name
        whole = len(run.times) - (run.reason != "finished")      # all but the end
        assert np.array_equal(found["records"]["q"][k, :whole], run.q[:whole])
        assert found[force]["count"][k] == len(run.times) and np.array_equal(found[force]["held"][k], run.held[-1])
        assert np.array_equal(found[force]["tau"][k], run.tau[-1])
    for k, control in enumerate(controls):
        assert np.array_equal(numbers["q"][k], da.simulate(ARM, [0.5, 0.0], [0, 0], 0.1, control=control).q[-1])
    assert np.array_equal(stored["q"], numbers["q"][:2])
    last = da.simulate(ARM, [0.5, 0.0], [0, 0], 0.1, control=controls[0], parameters={"link2.mass": 1.0})
    assert np.array_equal(masses["q"][1], last.q[-1])


def test_a_trajectory_that_ends_takes_nothing_from_others_of_a_library_s_method():
    def passes(t, q, qd):
        return q[0] - 0.3

    def leaves(t, q, qd):
        return q[0] - 2

    passes.terminal, leaves.terminal = 2, True
    control = Sampled(lambda k, t, q, qd, memory: (-0.2 * q, memory), 0.5)
    options = {"control": control, "method": "radau5", "events": [passes, leaves], "rtol": 1e-3, "atol": 1e-4, "record": 0.5, "h": 0.1}
    many = da.simulate(CART, [[1.9], [1.0]], [[1.0], [0.0]], 5.0, **options)
    alone = da.simulate(CART, [1.0], [0.0], 5.0, **options)
    assert many.end.t[0] < many.end.t[1] == alone.times[-1] and many.reasons[1] == alone.reason
    assert [e.t for e in many.events if e.trajectory == 1] == [e.t for e in alone.events] and len(alone.events) == 2
    assert many.steps[1] == alone.steps and np.array_equal(many.end.q[1], alone.q[-1])


def test_a_controller_of_the_package_runs_once_every_period():
    pd = da.controllers.PD(ARM, [0.3, 0.1], 40.0, 6.0)
    first = da.simulate(ARM, [0, 0], [0, 0], 0.3, control=Sampled.of(pd, 0.01), h=1e-3)
    other = da.simulate(ARM, [0, 0], [0, 0], 0.3, control=Sampled(lambda k, t, q, qd, m: (pd(t, q, qd), m), 0.01), h=1e-3)
    assert np.array_equal(first.q, other.q)
    limited = Limited(pd, [5.0, 5.0])
    assert np.abs(da.simulate(ARM, [0, 0], [0, 0], 0.3, control=Sampled.of(limited, 0.01), h=1e-3).tau).max() == 5.0


# --- errors ---

def test_a_law_that_gives_no_numbers_ends_the_trajectory_and_says_so():
    def bad(k, t, q, qd, memory):
        return [float("nan") if k == 3 and q[0] > 0.5 else 0.0], memory

    run = da.simulate(FREE, [[1.0], [0.2]], [0.0], 0.5, control=Sampled(bad, 0.05), h=0.01, record=0.05)
    assert run.reasons[0].startswith("the law of Sampled gave tau = [nan] at sample 3, t = 0.15 s, with q = [1.0]")
    assert run.reasons[1] == "finished" and np.isfinite(run.q[0, :3]).all() and np.isfinite(run.q[1]).all()
    with pytest.raises(ValueError, match=r"the law of Sampled gave tau = \[inf\] at sample 0, t = 0 s"):
        da.simulate(FREE, [1.0], [0.0], 0.5, control=Sampled(lambda k, t, q, qd, m: ([np.inf if q[0] == 1.0 else 0.0], m), 0.05))


ERRORS = {
    "no law": ({"law": [1.0]}, TypeError, r"the law is \[1.0\] \(list\), expected a function \(k, t, q, qd, memory\)"),
    "arguments": ({"law": lambda t, q, qd: q}, TypeError, r"the law of Sampled takes \(t, q, qd\), but is called as .*\(k, t, q"),
    "period": ({"period": 0.0}, ValueError, "period=0, expected a positive time"),
    "negative period": ({"period": -0.1}, ValueError, "period=-0.1, expected a time"),
    "text": ({"period": "0.1"}, ValueError, "period='0.1', expected a time"),
    "delay": ({"delay": -1.0}, ValueError, "delay=-1.0, expected a time"),
    "infinite": ({"delay": np.inf}, ValueError, "delay=inf, expected a time"),
    "memory": ({"memory": "0"}, TypeError, "has memory of .* expected real ones"),
    "none": ({"memory": (0.0, None)}, TypeError, r"has memory\[1\] of"),
    "nan": ({"memory": np.nan}, ValueError, "memory is nan, expected finite numbers")}


@pytest.mark.parametrize("given, error, message", ERRORS.values(), ids=ERRORS)
def test_arguments_that_make_no_sense_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        Sampled(**({"law": law, "period": 0.05} | given))


RESULTS = {
    "no pair": (lambda k, t, q, qd, m: -q, TypeError, r"returned a ndarray, expected two things, \(tau, memory\)"),
    "tau": (lambda k, t, q, qd, m: ([1.0, 2.0], m), da.ShapeError, r"returned tau of shape \(2,\), expected \(1,\)"),
    "memory": (lambda k, t, q, qd, m: (-q, 0.0), da.ShapeError, r"returned memory of shape \(\), expected \(2,\)"),
    "complex": (lambda k, t, q, qd, m: (-q * 1j, m), TypeError, "has tau of complex128 numbers"),
    "text": (lambda k, t, q, qd, m: (["1"], m), TypeError, "has tau of "),
    "None": (lambda k, t, q, qd, m: (None, m), da.ShapeError, "tau of shape")}


@pytest.mark.parametrize("function, error, message", RESULTS.values(), ids=RESULTS)
def test_results_of_another_form_are_refused(function, error, message):
    with pytest.raises(error, match=message):
        da.simulate(FREE, [1.0], [0.0], 0.1, control=Sampled(function, 0.05, memory=np.zeros(2)))


def test_a_law_that_remembers_otherwise_is_refused():
    sum_of = [0.0]

    def remembers(k, t, q, qd, memory):
        sum_of[0] += q[0]
        return [-sum_of[0]], memory

    with pytest.raises(da.RememberingError, match=r"^the law of Sampled changes .*sum_of.* `return tau, memory`"):
        da.simulate(FREE, [1.0], [0.0], 0.1, control=Sampled(remembers, 0.05))
    assert sum_of == [0.0]


def test_sampled_controllers_are_given_as_control():
    with pytest.raises(TypeError, match="forces is a Sampled controller: give it as control="):
        da.simulate(FREE, [1.0], [0.0], 0.1, forces=Sampled(law, 0.05))
    with pytest.raises(TypeError, match="runs at samples alone"):
        da.simulate(FREE, [1.0], [0.0], 0.1, control=Limited(Sampled(law, 0.05), [1.0]))
    with pytest.raises(TypeError, match="has states with a rate"):
        Sampled.of(da.controllers.AdaptivePassivity(ARM, da.controllers.Hold([0, 0]), 1, 1, 1), 0.05)


def test_a_trajectory_that_is_lost_leaves_others_under_held_forces():
    q = [[0.1, 0.0], [0.2, 0.0]]
    run = da.simulate(ARM, q, [0, 0], 0.5, control=Sampled(lambda k, t, q, qd, m: (1e9 * (q - 0.2) * k, m), 0.01),
                      forces=lambda t, q, qd: 1e7 * (q[0] - 0.2) * qd, h=1e-2, record=0.1)
    assert "number" in run.reasons[0] or "gave" in run.reasons[0]


def test_machine_code_from_moment_to_moment_goes_the_same_way(monkeypatch):
    from dalembert.simulation.sampled_loop import SampledLoop

    control, q = Sampled(stateful, 0.02, 0.033, memory=np.zeros(2)), [[0.4, -0.3], [0.1, 0.2]]
    options = {"control": control, "h": 1e-3, "record": 0.007}
    quick, threaded = (da.simulate(ARM, q, [0, 0], 0.2, threads=n, **options) for n in (1, 2))
    assert np.array_equal(quick.q, threaded.q)
    begun = SampledLoop.__init__

    def slow(self, *arguments):
        begun(self, *arguments)
        self.quick = False

    monkeypatch.setattr(SampledLoop, "__init__", slow)
    general = da.simulate(ARM, q, [0, 0], 0.2, **options)
    for name in ("q", "qd", "work", "tau"):
        np.testing.assert_allclose(getattr(quick, name), getattr(general, name), rtol=0, atol=1e-11)
    assert np.array_equal(quick.steps, general.steps)


def test_a_law_that_begins_to_remember_in_the_run_is_found_at_its_end():
    class Latch:
        on = False

        def __call__(self, k, t, q, qd, memory):
            if 0.517 < q[0] < 0.853:
                self.on = True
            return [5.0 if self.on else -1.0], memory

    latch = Latch()
    with pytest.raises(da.RememberingError, match="the law of Sampled changes the law of Sampled.on"):
        da.simulate(FREE, [1.0], [0.0], 2.0, control=Sampled(latch, 0.05), h=0.01)
    assert not vars(latch)
