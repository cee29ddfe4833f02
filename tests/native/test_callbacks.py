"""Functions called from a program: against the methods in Python, what they are given, what they return, what they raise."""

import gc
import sys
import tracemalloc

import numpy as np
import pytest

import dalembert as da
from dalembert.codegen.blocks import ProgramError
from dalembert.codegen.interpreter import evaluated
from dalembert.codegen.targets import llvm
from dalembert.compiled.propagation import propagator
from dalembert.integrators import METHODS, Adaptive, FixedStep, method, records
from dalembert.integrators.fixed_point import HUGE
from dalembert.integrators.method_kinds import LinearlyImplicit
from dalembert.native import builtin, callbacks
from dalembert.native.kernel import machine_for

NONE = np.zeros(0)
# of functions that are called, `LinearlyImplicit` methods know no derivatives
COMPILED = [name for name, m in METHODS.items() if isinstance(m, FixedStep | Adaptive) and not isinstance(m, LinearlyImplicit)]
pytestmark = pytest.mark.skipif(not builtin.supported(), reason="another interpreter or NumPy")


def swing(t, x, p, outside):
    """Two driven pendula: q'' = -sin q + u(t, q, qd), and z' = r(t, q, qd, z); unknowns of a method have no rates."""
    q, qd, z, unknowns = x[:2], x[2:4], x[4:5], x[5:]
    control, rate = outside
    return np.concatenate([qd, np.array([-da.sin(q[0]), -da.sin(q[1])]) + control(t, q, qd), rate(t, q, qd, z), 0 * unknowns])


def energy(x):
    return x[2] * x[2] + x[3] * x[3]


class Spy:
    """A function that notes what it is called with."""

    def __init__(self, function):
        self.function, self.seen = function, []

    def __call__(self, t, *vectors):
        assert type(t) is float and all(type(v) is np.ndarray and v.flags.writeable for v in vectors)
        self.seen.append((t, *vectors))
        return self.function(t, *vectors)


def control(t, q, qd):
    return np.array([np.cos(t) - q[0], 0.3 * q[1] - 0.1 * qd[0]])


def rate(t, q, qd, z):
    return np.array([q[0] - z[0]])


def floats(found):
    return np.asarray(found, dtype=float)


def known(name):
    return method(name, nq=2, energy=energy, unknowns={"accelerations": slice(5, 7)} if name == "generalized_alpha" else None)


@pytest.mark.parametrize("name", COMPILED)
def test_calls_are_those_of_the_method_in_python_one_for_each_value_of_f(name):
    x = np.array([0.3, -0.2, 0.1, 0.4, 0.0] + 2 * [0.0] * (name == "generalized_alpha"))
    times, fixed = np.array([0, 0.3, 0.6]), isinstance(METHODS[name], FixedStep)
    marching = propagator(swing, len(x), 0, known(name), calls=(2, 1))
    first, second = [Spy(control), Spy(rate)], [Spy(control), Spy(rate)]
    found = marching.run(x[None], times, 0.05, NONE, 6 if fixed else 1000, 1e-7, 1e-7, functions=[(f, floats) for f in first])
    plain = list(records(known(name), lambda t, x: np.asarray(swing(t, x, NONE, second), float), x, times, 0.05,
                         6 if fixed else 1000, 1e-7, 1e-7))
    assert np.abs(found.x[0] - [r.x for r in plain]).max() < 1e-14 and found.steps[0].tolist() == [r.steps for r in plain]
    for ours, theirs in zip(first, second, strict=True):
        assert len(ours.seen) == len(theirs.seen) >= 12
        for one, other in zip(ours.seen, theirs.seen, strict=True):
            assert all(np.allclose(a, b, rtol=0, atol=1e-14 if fixed else 1e-9) for a, b in zip(one, other, strict=True))
    values = {"x": x, "h": [0.05], "rtol": [1e-7], "atol": [1e-7], "end": [0.6], "way": [1.0], "longest": [HUGE]}
    inputs = [values.get(r.name, np.zeros(r.size)) for r in marching.program.inputs]
    right = evaluated(marching.program, *inputs, goals=times[1:], repeats=6 if fixed else 1000, functions=[control, rate])
    assert np.abs(found.x[0] - right[1]).max() < 1e-14


def test_several_trajectories_run_one_after_the_other_and_those_that_end_are_not_called_again():
    calls = []

    def sinking(t, x):
        calls.append((t, x[0]))
        return -1 / np.sqrt(x) if x[0] > 0 else np.array([np.nan])

    marching = propagator(lambda t, x, p, outside: outside[0](t, x), 1, 0, METHODS["rk4"], calls=(1,))
    found = marching.run(np.array([[1.0], [0.1], [2.0]]), np.linspace(0, 0.5, 6), 0.01, NONE, 10, functions=[(sinking, floats)])
    steps = [50, found.steps[1, -1] + 1, 50]
    assert (found.failed[:, -1] > 0).tolist() == [False, True, False] and len(calls) == 4 * sum(steps)
    assert np.allclose(found.x[[0, 2], -1, 0], (np.array([1, 2]) ** 1.5 - 0.75) ** (2 / 3), rtol=1e-6)
    assert [x for t, x in calls if t == 0] == [1.0, 0.1, 2.0] and calls[-200] == (0, 2.0) and calls[200] == (0, 0.1)


def one_call(function, convert=floats, steps=1):
    marching = propagator(lambda t, x, p, outside: outside[0](t, x), 2, 0, METHODS["explicit_euler"], calls=(2,))
    return marching.run(np.array([[1.0, 2.0]]), np.array([0.0, steps * 0.5]), 0.5, NONE, steps,
                        functions=[(function, convert)]).x[0, -1]


@pytest.mark.parametrize("result", [
    np.array([1.0, 2.0]), [1, 2], (1.0, 2), np.array([1, 2]), np.array([1, 2], dtype=np.float32), np.array([[1.0, 2.0]])[0],
    np.array([0, 2.0, 0, 1.0])[::-2], np.array([1.0, 2.0], dtype=">f8"), np.frombuffer(b"\0" + np.array([1.0, 2.0]).tobytes(),
                                                                                  offset=1)])
def test_whatever_a_function_returns_is_read_or_converted(result):
    wanted = [1.5, 3.0] if np.asarray(result)[0] == 1 else [1.0, 3.0]
    assert one_call(lambda t, x: result).tolist() == wanted


def test_what_a_function_keeps_stays_what_it_was():
    kept = []

    def function(t, x):
        kept.append(x)
        return x if len(kept) < 3 else -x

    one_call(function, steps=4)
    assert [x.tolist() for x in kept] == [[1, 2], [1.5, 3], [2.25, 4.5], [1.125, 2.25]]

    def changes(t, x):
        x[:] = 7
        return x

    assert one_call(changes, steps=2).tolist() == [8, 9]


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, StopIteration])
def test_what_a_function_raises_ends_the_run_at_once_and_is_raised(error):
    calls = []

    def function(t, x):
        calls.append(t)
        if len(calls) == 7:
            raise error("here")
        return x

    for name in ("rk4", "dopri5", "gauss4"):
        calls.clear()
        marching = propagator(lambda t, x, p, outside: outside[0](t, x), 2, 0, METHODS[name], calls=(2,))
        with pytest.raises(error, match="here"):
            marching.run(np.ones((3, 2)), np.linspace(0, 1, 11), 0.01, NONE, 10, 1e-6, 1e-6, functions=[(function, floats)])
        assert len(calls) == 7
    assert one_call(lambda t, x: x).tolist() == [1.5, 3]


def test_what_cannot_be_converted_is_raised():
    def convert(found):
        raise da.ShapeError(f"wrong: {found}")

    for result in (None, np.zeros(3), "text"):
        with pytest.raises(da.ShapeError, match="wrong: "):
            one_call(lambda t, x, result=result: result, convert)
    with pytest.raises(TypeError):
        one_call(lambda t: np.zeros(2))


def test_no_reference_is_lost_or_kept_over_many_calls():
    """30 000 calls each of a function that gives the same array, fresh ones, and a list, and 1000 of one that raises."""
    same, owner = np.array([1e-9, 0.0]), []

    def raising(t, x):
        raise ZeroDivisionError

    functions = [lambda t, x: same, lambda t, x: x * 0, lambda t, x: owner or [0, 0]]
    marching = propagator(lambda t, x, p, outside: outside[0](t, x), 2, 0, METHODS["explicit_euler"], calls=(2,))

    def ends_with_the_error():
        with pytest.raises(ZeroDivisionError):
            marching.run(np.zeros((1, 2)), np.array([0.0, 0.5]), 0.5, NONE, 1, functions=[(raising, floats)])

    for function in functions:
        one_call(function)
    ends_with_the_error()
    gc.collect()
    counted = (same, np.empty, np.ndarray, np.dtype(float), floats, *functions)      # NumPy's own np.zeros(n) loses dtypes
    before = [sys.getrefcount(o) for o in counted]
    tracemalloc.start()
    start = tracemalloc.get_traced_memory()[0]
    for function in functions:
        one_call(function, steps=30_000)
    after = [sys.getrefcount(o) for o in counted]
    for _ in range(1000):
        ends_with_the_error()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - start
    tracemalloc.stop()
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) < 100 and grown < 50_000


def test_calls_need_a_kernel_of_one_lane():
    made = propagator(swing, 5, 0, METHODS["rk4"], calls=(2, 1)).program
    with pytest.raises(ProgramError, match="made for one lane"):
        llvm.assembly(made, machine_for(), callbacks.definitions(made))
