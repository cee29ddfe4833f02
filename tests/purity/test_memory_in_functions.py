"""Functions that remember something are refused by name and left as they were; functions of their arguments alone are not."""

import collections
import contextvars
import copy
import dataclasses
import datetime
import functools
import itertools
import logging
import math
import os
import queue
import random
import re
import threading
import time
import types
import uuid
from time import perf_counter as stopwatch

import numpy as np
import pytest

import dalembert as da
from dalembert import controllers
from dalembert.purity.examine import examine
from dalembert.purity.reachable import Memory
from dalembert.simulation.trial_states import trial_states

ARM = da.planar_chain(2)
u0 = [0.0, 0.0]
count = 0
history = []
table = {"gain": 3.0}
config = types.SimpleNamespace(calls=0)
module = types.ModuleType("settings_of_a_user")
module.last = 0.0
current = contextvars.ContextVar("current", default=0.0)
local = threading.local()
local.u = 0.0
GRID, VALUES = np.linspace(-10, 10, 100_001), np.sin(np.linspace(-10, 10, 100_001))


# --- functions that remember ---

def remembering():
    found = {}

    def add(f):
        found[getattr(f, "__name__", type(f).__name__)] = f
        return f

    @add
    def counter_in_a_global(t, q, qd):
        global count
        count += 1
        return [count * 1e-3, 0.0]

    @add
    def counter_in_a_global_list(t, q, qd):
        history.append(t)
        return [len(history) * 1e-3, 0.0]

    n = 0

    @add
    def counter_in_a_closure(t, q, qd):
        nonlocal n
        n += 1
        return [0.0, n]

    @add
    def threshold_of_a_counter(t, q, qd):
        config.calls += 1
        return [1.0, 0.0] if config.calls > 10_000 else [0.0, 0.0]

    @add
    def every_tenth_call(t, q, qd):
        config.calls += 1
        if config.calls % 10 == 0:
            config.u = -q
        return getattr(config, "u", 0 * q)

    @add
    def attribute_of_the_function(t, q, qd):
        attribute_of_the_function.u = 0.9 * getattr(attribute_of_the_function, "u", 0.0) + q
        return -attribute_of_the_function.u

    @add
    def default_argument(t, q, qd, seen=[]):      # noqa: B006
        seen.append(q[0])
        return [-sum(seen), 0.0]

    @add
    def default_by_keyword(t, q, qd, *, last={"u": 0.0}):      # noqa: B006
        out, last["u"] = last["u"], -q[0]
        return [out, 0.0]

    @add
    def attribute_of_a_module(t, q, qd):
        out, module.last = module.last, -3 * q[0]
        return [out, 0.0]

    @add
    def one_delay_in_a_list(t, q, qd):
        out = list(u0)
        u0[:] = [-q[0], -q[1]]
        return out

    line = collections.deque([np.zeros(2)] * 50, maxlen=50)

    @add
    def long_delay_in_a_deque(t, q, qd):
        line.append(-q)
        return line[0]

    past = collections.deque()

    @add
    def dead_time_by_times(t, q, qd):
        past.append((t, -q))
        while len(past) > 1 and past[1][0] <= t - 0.1:
            past.popleft()
        return past[0][1]

    buffer = np.zeros(2)

    @add
    def low_pass_in_an_array(t, q, qd):
        buffer[:] += 0.01 * (q - buffer)
        return -buffer

    @add
    def low_pass_in_a_big_array(t, q, qd, state=np.zeros(100_000)):      # noqa: B008
        state[:-1] = state[1:]
        state[-1] = q[0]
        return [-state.mean(), 0.0]

    @add
    def keys_of_a_dict(t, q, qd):
        table["u"] = 0.5 * table.get("u", 0.0) + q[0]
        return [-table["u"], 0.0]

    @add
    def history_by_time(t, q, qd, past={}):      # noqa: B006
        past[t] = -q[0]
        return [past[max(s for s in past if s <= t and (s <= t - 0.05 or s == min(past)))], 0.0]

    reached = set()

    @add
    def members_of_a_set(t, q, qd):
        reached.add(round(float(q[0]), 1))
        return [float(len(reached)), 0.0]

    @add
    def context_variable(t, q, qd):
        out = current.get()
        current.set(-float(q[0]))
        return [out, 0.0]

    @add
    def attribute_of_a_thread(t, q, qd):
        out, local.u = local.u, -float(q[0])
        return [out, 0.0]

    pipe = queue.Queue()
    pipe.put([0.0, 0.0])

    @add
    def values_in_a_queue(t, q, qd):
        pipe.put([-q[0], 0.0])
        return pipe.get()

    def noise():
        k = 0.0
        while True:
            yield k
            k += 0.1

    source, numbers, listed = noise(), itertools.count(), iter([0.1] * 1000)

    @add
    def generator(t, q, qd):
        return [next(source), 0.0]

    @add
    def iterator_of_counts(t, q, qd):
        return [float(next(numbers)), 0.0]

    @add
    def iterator_of_a_list(t, q, qd):
        return [next(listed), next(listed)]

    step = itertools.cycle([0.0, 1.0]).__next__
    found["bound next"] = lambda t, q, qd: [step(), 0.0]
    rng, old, own = np.random.default_rng(0), np.random.RandomState(0), random.Random(0)
    found["generator of NumPy"] = lambda t, q, qd: rng.normal(size=2)
    found["old generator of NumPy"] = lambda t, q, qd: old.randn(2)
    found["generator of random"] = lambda t, q, qd: [own.gauss(0, 1), 0.0]
    found["np.random"] = lambda t, q, qd: -q + 1e-3 * np.random.randn(2)
    found["random"] = lambda t, q, qd: [random.uniform(-1, 1), 0.0]
    found["rare noise"] = lambda t, q, qd: [1.0 if rng.random() < 1e-9 else 0.0, 0.0]
    found["new generators"] = lambda t, q, qd: np.random.default_rng().normal(size=2)
    found["os.urandom"] = lambda t, q, qd: [os.urandom(1)[0] / 255, 0.0]
    found["uuid"] = lambda t, q, qd: [uuid.uuid4().int % 7, 0.0]
    found["time.time"] = lambda t, q, qd: [0.0 if time.time() < 4e9 else 1.0, 0.0]
    found["time.strftime"] = lambda t, q, qd: [float(time.strftime("%S")), 0.0]
    found["time.monotonic"] = lambda t, q, qd: [time.monotonic() % 1, 0.0]
    found["perf_counter by another name"] = lambda t, q, qd: [0.0 * stopwatch(), 0.0]
    found["datetime.now"] = lambda t, q, qd: [datetime.datetime.now().second, 0.0]

    @add
    def clock_imported_inside(t, q, qd):
        import time as clock
        return [1.0 if clock.time() < 0 else 0.0, 0.0]

    class PI:
        def __init__(self):
            self.i = np.zeros(2)

        def __call__(self, t, q, qd):
            self.i = self.i + 1e-3 * q
            return -3 * q - self.i

    class InPlace(PI):
        def __call__(self, t, q, qd):
            self.i += 1e-3 * q
            return -3 * q - self.i

    class Delay:
        def __init__(self):
            self.u = [0.0, 0.0]

        def __call__(self, t, q, qd):
            out, self.u = self.u, [-40 * q[0] - 8 * qd[0], 0.0]
            return out

    class SampleAndHold:
        t, u = -1.0, (0.0, 0.0)

        def __call__(self, t, q, qd):
            if t - self.t >= 0.05:
                self.t, self.u = t, tuple(-40 * q - 8 * qd)
            return self.u

    class Latch:
        on = False

        def __call__(self, t, q, qd):
            self.on = self.on or abs(q[0]) > 0.9
            return [1.0, 0.0] if self.on else [0.0, 0.0]

    class FirstState:
        q0 = None

        def __call__(self, t, q, qd):
            if self.q0 is None:
                self.q0 = q.copy()
            return -5 * (q - self.q0)

    class Slots:
        __slots__ = ("last",)

        def __init__(self):
            self.last = 0.0

        def __call__(self, t, q, qd):
            d, self.last = q[0] - self.last, q[0]
            return [-d, 0.0]

    class OfTheClass:
        total = 0.0

        def __call__(self, t, q, qd):
            type(self).total = type(self).total + q[0]
            return [-self.total, 0.0]

    @dataclasses.dataclass
    class Inner:
        e: float = 0.0

    class Nested:
        def __init__(self):
            self.parts = {"filters": [Inner(), Inner()]}

        def __call__(self, t, q, qd):
            for part, x in zip(self.parts["filters"], q):
                part.e += 0.1 * (x - part.e)
            return [-part.e for part in self.parts["filters"]]

    class Counted(collections.Counter):
        def __call__(self, t, q, qd):
            self["calls"] += 1
            return [float(self["calls"]), 0.0]

    class Setter:
        def __init__(self):
            self.k = 0

        def __call__(self, t, q, qd):
            setattr(self, "k", self.k + 1)      # noqa: B010
            return [math.sin(self.k), 0.0]

    class Coroutine:
        def __init__(self):
            def law():
                out, total = None, 0.0
                while True:
                    q = yield out
                    total += q[0]
                    out = [-total, 0.0]
            self.law = law()
            next(self.law)

        def __call__(self, t, q, qd):
            return self.law.send(q)

    @functools.cache
    def first_time():
        return []

    @add
    def list_in_a_cache(t, q, qd):
        kept = first_time()
        if not kept:
            kept.append(q.copy())
        return -5 * (q - kept[0])

    @functools.lru_cache
    def number_of(key):
        config.calls += 1
        return float(config.calls)

    @add
    def counter_behind_a_cache(t, q, qd):
        return [number_of(float(q[0])), 0.0]

    @add
    def sleepy(t, q, qd):
        begun = time.perf_counter()
        u = -3 * q
        return u if time.perf_counter() - begun < 1e3 else 0 * u

    found["times of the process"] = lambda t, q, qd: [os.times().user, 0.0]

    for kind in (PI, InPlace, Delay, SampleAndHold, Latch, FirstState, Slots, OfTheClass, Nested, Counted, Setter, Coroutine):
        found[kind.__name__] = kind()

    class Robot:
        def __init__(self):
            self.error = 0.0

        def law(self, t, q, qd):
            self.error += q[0]
            return [-self.error, 0.0]

        def _helper(self, q):
            self.error = 0.5 * self.error + q[0]
            return self.error

        def through_a_helper(self, t, q, qd):
            return [-self._helper(q), 0.0]

    found["method"], found["method with a helper"] = Robot().law, Robot().through_a_helper
    found["partial of a method"] = functools.partial(lambda robot, t, q, qd: robot.law(t, q, qd), Robot())
    found["argument of a partial"] = functools.partial(lambda t, q, qd, kept: (kept.append(q[0]), [-sum(kept), 0.0])[1], kept=[])

    def rate_limited(f):
        last = [0.0]

        @functools.wraps(f)
        def limited(t, q, qd):
            u = f(t, q, qd)
            last[0] += np.clip(u[0] - last[0], -0.1, 0.1)
            return [last[0], 0.0]
        return limited

    found["decorated"] = rate_limited(lambda t, q, qd: -9 * q)
    integral = PI()
    found["limited"] = controllers.Limited(PI(), [5.0, 5.0])
    found["lambda of an object"] = lambda t, q, qd: 2 * np.asarray(integral(t, q, qd))
    found["reference"] = controllers.ComputedTorque(ARM, reference_that_counts())
    return found


def reference_that_counts():
    calls = [0]

    def reference(t):
        calls[0] += 1
        return np.full(2, 1e-3 * calls[0]), np.zeros(2), np.zeros(2)
    return reference


# --- functions of their arguments alone ---

def pure():
    found = {}
    K, big = np.diag([9.0, 4.0]), np.arange(1_000_000.0)
    found["lambda"] = lambda t, q, qd: -3 * q - qd
    found["matrix"] = lambda t, q, qd: -K @ q
    found["big array"] = lambda t, q, qd: -q * big[7]
    found["table"] = lambda t, q, qd: -np.interp(q.astype(float), GRID, VALUES)
    found["branch"] = lambda t, q, qd: -q if t < 1 else 0 * q
    found["branch at one time"] = lambda t, q, qd: q + 1 if t == 2.25 else -q
    found["conversion"] = lambda t, q, qd: [math.sin(t) * float(q[0]), 0.0]
    found["strings and sets"] = lambda t, q, qd: [{"a": 1.0}["a"], float(len({1, 2}))]
    found["partial"] = functools.partial(lambda k, t, q, qd: -k * q, 4.0)
    found["global dict"] = lambda t, q, qd: [-table["gain"] * q[0], 0.0]
    found["seeded inside"] = lambda t, q, qd: np.random.default_rng(3).normal(size=2) - q
    found["random number before"] = functools.partial(lambda bias, t, q, qd: bias - q, np.random.default_rng(0).normal(size=2))
    found["name of a clock"] = lambda t, q, qd: [-q[0] * len("time"), 0.0]
    found["constants"] = lambda t, q, qd: np.zeros(2)
    found["own arguments changed"] = own_arguments_changed
    found["attribute called time"] = functools.partial(lambda s, t, q, qd: -q * s.time, types.SimpleNamespace(time=2.0))

    def lists(t, q, qd):
        terms = []
        for x in q:
            terms.append(-x)
        seen = {k: x for k, x in enumerate(terms)}
        return [sum(terms), seen[1]]
    found["local lists"] = lists

    def generators(t, q, qd):
        squares = (x * x for x in q)
        return [next(squares), sum(squares)]
    found["local generators"] = generators

    @functools.lru_cache
    def slow(n):
        return math.factorial(n)
    found["helper with lru_cache"] = lambda t, q, qd: -q * slow(3)

    class Gains:
        def __init__(self):
            self.K, self.names, self.limit = [9.0, 4.0, 0.0], {"q1": 0}, 20.0
            self.work = np.zeros(2)
            self.line = collections.deque([1.0, 2.0])
            self._table = None
            self.cache, self.calls, self.log = {}, 0, []
            self.rng = np.random.default_rng(0)
            self.ids, self.logger = itertools.count(), logging.getLogger("gains")

        def __call__(self, t, q, qd):
            return np.clip([-k * x for k, x in zip(self.K, q)], -self.limit, self.limit)

        def in_a_work_array(self, t, q, qd):
            self.work[:] = -q
            self.work *= 3
            return self.work

        def with_a_property(self, t, q, qd):
            return -self.stiffness * q

        @property
        def stiffness(self):
            return self.K[0]

        @functools.cached_property
        def matrix(self):
            return np.diag(self.K[:2])

        def with_a_cached_property(self, t, q, qd):
            return -self.matrix @ q

        def with_a_lazy_table(self, t, q, qd):
            if self._table is None:
                self._table = np.linspace(0, 1, 5)
            return -q * self._table[2]

        def with_a_cache(self, t, q, qd):
            key = round(float(q[0]), 6)
            if key not in self.cache:
                self.cache[key] = math.exp(-key)
            return [self.cache[key], 0.0]

        def with_a_counter(self, t, q, qd):
            self.calls += 1
            return -q

        def with_a_log(self, t, q, qd):
            self.log.append((t, q.copy()))
            return -q

        def with_a_note_of_the_last(self, t, q, qd):
            self.last = tau = -2 * q
            self.history = getattr(self, "history", 0)
            return tau

        def with_a_note_in_a_list(self, t, q, qd):
            self.K[2] = float(q[0])
            return -q

        def with_messages(self, t, q, qd):
            self.logger.debug("called at %s", t)
            return -q

        @staticmethod
        def static(t, q, qd):
            return -q

        @classmethod
        def of_the_class(cls, t, q, qd):
            return -q

    gains = Gains()
    found["object"] = gains
    found |= {name: getattr(gains, name) for name in vars(Gains) if name.startswith(("in_", "with_", "static", "of_"))}
    found["controller"] = controllers.PD(ARM, [0, 0], 5, 1)
    found["limited"] = controllers.Limited(lambda t, q, qd: -100 * q, [1.0, 1.0])
    found["computed torque"] = controllers.ComputedTorque(ARM, lambda t: (np.zeros(2) + da.sin(t), np.zeros(2), np.zeros(2)))
    found["samples"] = controllers.Samples([0, 1], [[0, 0], [1, 1]])
    found["mechanism"] = lambda t, q, qd: da.gravity_vector(ARM, q)
    compiled = da.compile(ARM)
    found["compiled"] = lambda t, q, qd: compiled.gravity_vector(q)

    durations, clock = [], time.perf_counter

    @functools.wraps(own_arguments_changed)
    def timed(t, q, qd):
        begun = clock()
        tau = own_arguments_changed(t, q, qd)
        durations.append(time.perf_counter() - begun)
        timed.spent = getattr(timed, "spent", 0.0) + durations[-1]
        return tau
    found["timed"] = timed

    class Timed:
        last = datetime.datetime(2020, 1, 1)

        def __call__(self, t, q, qd):
            self.last = datetime.datetime.now()
            return -q
    found["note of the day"] = Timed()

    @functools.singledispatch
    def stiffness(x):
        return 1.0
    stiffness.register(float, lambda x: 2.0)
    found["dispatched"] = lambda t, q, qd: [-stiffness(1.0) * float(q[0]), 0.0]
    spline = pytest.importorskip("scipy.interpolate").CubicSpline([0, 1, 2], [[0, 0], [1, 1], [0, 0]])
    found["spline of SciPy"] = lambda t, q, qd: spline(t)
    line = pytest.importorskip("scipy.interpolate").interp1d(GRID[::100], VALUES[::100])
    found["interpolation of SciPy"] = lambda t, q, qd: line(np.clip(q.astype(float), -9, 9))
    return found


def own_arguments_changed(t, q, qd):
    q *= 2
    qd[0] = 0.0
    return -q - qd


def look(f):
    return examine(f, "control", trial_states(ARM, f), np.asarray)


def state_of(f):
    """All that a function can change, copied as deep as it can be."""
    def copied(x):
        try:
            return copy.deepcopy(x)
        except TypeError:      # generators
            return x
    return re.sub("0x[0-9A-Fa-f]+", "", str([copied(contents) for contents in Memory(f, "f").read()]))


@pytest.mark.parametrize("name, f", remembering().items(), ids=lambda x: x if isinstance(x, str) else "")
def test_functions_that_remember_are_found_and_left_as_they_were(name, f):
    before = state_of(f)
    verdict = look(f).verdict
    assert verdict.remembers, name
    np.testing.assert_equal(state_of(f), before)


@pytest.mark.parametrize("name, f", pure().items(), ids=lambda x: x if isinstance(x, str) else "")
def test_functions_of_their_arguments_alone_are_not_refused(name, f):
    before = state_of(f)
    verdict = look(f).verdict
    assert not verdict.remembers, verdict
    np.testing.assert_equal(state_of(f), before)


def test_what_a_function_changes_without_reading_it_is_kept_and_the_function_is_called():
    log = []

    def control(t, q, qd):
        log.append(t)
        return -q

    run = da.simulate(ARM, [0.1, 0.2], [0, 0], 0.1, control=control, h=1e-2, record=0.1)
    assert run.forces["control"] == "called" and len(log) == 41      # the start, then 10 steps of 4 stages


def test_an_expression_stands_for_a_function_only_where_it_has_its_values():
    def by_type(t, q, qd):      # what depends on the state is a constant of symbols
        return [1.0, 0.0] if not isinstance(q[0], float) or q[0] > 0 else [-1.0, 0.0]

    def at_one_time(t, q, qd):
        return q + 1 if t == 2.25 else -q      # `==` of a symbol is never true

    rare = (lambda t, q, qd: q if t == 7.125 and q[0] > 0.97 else -q, lambda t, q, qd: q if q[0] != t else -q,
            lambda t, q, qd: q if t in (3.5, 4.5) and q[1] > 5 else -q)
    for f in (by_type, at_one_time, lambda t, q, qd: {0.5: q}.get(t, -q), *rare):
        assert not look(f).traced
    assert look(lambda t, q, qd: da.where(t > 2.25, q, -q)).traced


class LateLatch:
    """It changes beyond a state that is reached in the run alone."""

    on = False

    def __call__(self, t, q, qd):
        if 0.037 < abs(q[0]) < 0.045:
            self.on = True
        return np.array([5.0 if self.on else 1.0, 0.0])


def test_what_changes_in_the_run_alone_is_found_at_its_end():
    control = LateLatch()
    with pytest.raises(da.RememberingError, match=r"control changes control.on .* da.controllers.Sampled"):
        da.simulate(ARM, [0.0, 0], [0, 0], 1.0, control=control, h=1e-3)
    assert "on" not in vars(control)


@pytest.mark.parametrize("traced", [True, False])
def test_what_another_function_or_a_thread_changes_in_the_run_is_found(traced):
    box = [1.0]

    def control(t, q, qd):
        box[0] = float(q[0])
        return -q

    def forces(t, q, qd):
        return [box[0] if traced else box[0] * float(t > -1), 0.0]

    with pytest.raises(da.RememberingError, match=r"^forces reads .*box.*\[0\], which something else changed while the run went on"):
        da.simulate(ARM, [0.1, 0.2], [0, 0], 0.1, control=control, forces=forces, h=1e-2)
    with pytest.raises(da.RememberingError, match=r"^the event 'late' reads .*box"):
        da.simulate(ARM, [0.1, 0.2], [0, 0], 0.1, control=control, events=late_event(box), h=1e-2)

    stop = threading.Event()

    def work():
        while not stop.wait(1e-4):
            box[0] += 1.0

    thread = threading.Thread(target=work, daemon=True)

    def starts_it(done, t):
        if not thread.is_alive() and not stop.is_set():
            thread.start()
            time.sleep(0.01)

    try:
        with pytest.raises(da.RememberingError, match="^forces reads"):
            da.simulate(ARM, [0.1, 0.2], [0, 0], 0.1, forces=forces, h=1e-2, progress=starts_it)
    finally:
        stop.set()
        thread.join()
    da.simulate(ARM, [0.1, 0.2], [0, 0], 0.1, control=control, forces=lambda t, q, qd: -qd, h=1e-2)


def late_event(box):
    def late(t, q, qd):
        return t - 10 - box[0]
    return late


def test_errors_name_what_is_remembered_and_what_to_do():
    class PI:
        def __init__(self):
            self.i = 0.0

        def __call__(self, t, q, qd):
            self.i += 1e-3 * (0.5 - q[0])
            return [10 * self.i, 0.0]

    law = PI()
    with pytest.raises(da.RememberingError, match=r"^control changes control.i and uses it in later calls.*"
                       r"da.controllers.Sampled\(law, period, memory=...\).*`states`.*control.traced = False") as error:
        da.simulate(ARM, [0.1, 0.2], [0, 0], 0.1, control=law)
    assert error.value.name == "control" and "control.i" in error.value.remembers
    assert vars(law) == {"i": 0.0}


class RateThatRemembers:
    states, last = np.zeros(1), 0.0

    def __call__(self, t, q, qd, states):
        return -q - states

    def rate(self, t, q, qd, states):
        change, self.last = q[0] - self.last, q[0]
        return [change]


def test_rates_of_controllers_must_not_remember_either():
    with pytest.raises(da.RememberingError, match=r"^rate changes rate.last"):
        da.simulate(ARM, [0.1, 0.2], [0, 0], 0.1, control=RateThatRemembers())


def test_a_user_who_insists_is_warned_and_has_one_trajectory():
    class Delay:
        traced = False

        def __init__(self):
            self.u = np.zeros(2)

        def __call__(self, t, q, qd):
            out, self.u = self.u, -q
            return out

    with pytest.warns(da.DalembertWarning, match=r"control changes control.u .*Sampled") as found:
        da.simulate(ARM, [0.1, 0.2], [0, 0], 0.1, control=Delay())
    assert found[0].filename == __file__
    with pytest.raises(da.RememberingError, match="3 trajectories would share its memory.*Sampled"):
        da.simulate(ARM, [[0.1, 0.2]] * 3, [0, 0], 0.1, control=Delay())


def test_events_that_remember_are_refused():
    calls = [0]

    def counts(t, q, qd):
        calls[0] += 1
        return calls[0] - 100.5

    for g in (counts, lambda t, q, qd: time.time() - 1e9, lambda t, q, qd: random.random() - 0.5):
        with pytest.raises(da.RememberingError, match=r"the event '.*Sampled.*t - 0.5"):
            da.simulate(ARM, [0.1, 0.2], [0, 0], 1.0, events=g)
    assert calls == [0]


def test_functions_of_a_lagrangian_are_looked_at_in_the_same_way():
    calls = [0]

    def counts(q, qd, t):
        calls[0] += 1
        return qd[0]**2 / 2 - calls[0] * q[0]

    with pytest.raises(da.RememberingError, match=r"^L changes the variable 'calls' of the function around\[0\] and uses it"):
        da.lagrangian_system(counts, "x")
    with pytest.raises(da.RememberingError, match=r"^forces draws random numbers"):
        da.lagrangian_system(lambda q, qd, t: qd[0]**2 / 2, "x", forces=lambda q, qd, t: [random.random()])
    with pytest.raises(ValueError, match=r"^forces has other values than its expressions.*da.where"):
        da.lagrangian_system(lambda q, qd, t: qd[0]**2 / 2, "x", forces=lambda q, qd, t: [1.0 if t == 0.7 else q[0]])
    with pytest.raises(TypeError, match=r"L takes \(q, qd\), but is called as L\(q, qd, t\)"):
        da.lagrangian_system(lambda q, qd: qd[0]**2 / 2, "x")
    da.lagrangian_system(lambda q, qd, t: da.symbol("m") * qd[0]**2 / 2 - da.cos(q[0]), "x")
    assert calls == [0]
