"""A function of known code is not tried again where it holds the same, and is where anything is another."""

import numpy as np
import pytest

import dalembert as da
from dalembert.purity import examine as examination
from dalembert.simulation.trial_states import trial_states

ARM = da.planar_chain(2)
shared = {"gain": 2.0}


@pytest.fixture
def tried(monkeypatch):
    """How often functions were tried, none of which is known."""
    monkeypatch.setattr(examination, "_known", {})
    monkeypatch.setattr(examination, "_of_code", {})
    count, judged = [], examination.judged
    monkeypatch.setattr(examination, "judged", lambda *arguments: count.append(1) or judged(*arguments))
    return count


def look(f):
    return examination.examine(f, "control", trial_states(ARM, f))


def law(held, default=None):
    def control(t, q, qd, default=default):
        if isinstance(held, list) and held and held[0] is None:      # remembers
            held.append(t)
        if isinstance(default, list):
            default.append(t)
        return -shared["gain"] * q + (0.0 if held is None else sum(map(float, np.ravel(held)))) + len(default or ())

    return control


@pytest.mark.parametrize("make", [
    lambda: law(None), lambda: law(2.5), lambda: law(np.array([1.0, 2.0])), lambda: law([1.0, [2.0]][:1]),
    lambda: law([np.array([1.0]), np.array([2.0])]), lambda: law(None, tuple([1, 2]))], ids=range(6))
def test_functions_made_anew_that_hold_the_same_are_tried_once(make, tried):
    first, again = look(make()), look(make())
    assert again.traced == first.traced and not again.verdict.remembers
    assert len(tried) == (2 if make().__defaults__[0] else 1)      # a tuple is told apart by identity
    assert again.verdict.memory is not first.verdict.memory


@pytest.mark.parametrize("one, other", [
    (law(None), law(1.0)), (law(1.0), law(2.0)), (law(1.0), law(True)), (law(0.0), law(-0.0)),
    (law(np.array([1.0, 2.0])), law(np.array([1.0, 2.5]))), (law(np.array([1.0])), law(np.array([1], dtype=int))),
    (law([1.0]), law([1.0, 1.0])), (law([1.0]), law((1.0,))), (law(None), law(None, []))], ids=range(9))
def test_functions_that_hold_something_else_are_tried_again(one, other, tried):
    look(one), look(other)
    assert len(tried) == 2


def test_functions_of_one_code_of_which_one_remembers_are_told_apart():
    assert not look(law([1.0])).verdict.remembers and look(law([None])).verdict.remembers
    assert not look(law(None)).verdict.remembers and look(law(None, [])).verdict.remembers
    assert look(law([None])).verdict.remembers and not look(law([1.0])).verdict.remembers


def test_values_that_changed_since_are_met(tried):
    look(law(None))
    shared["gain"] = 3.0
    found = look(law(None))
    shared["gain"] = 2.0
    assert len(tried) == 2
    expected = [law(None)(*state) - state[1] for state in trial_states(ARM)]      # of gain 2
    np.testing.assert_allclose(found.results[: len(expected)], expected)


def test_lists_held_twice_are_not_two_lists(tried):
    def pair(a, b):
        return lambda t, q, qd: q * (a is b)

    one = [1.0]
    assert look(pair(one, one)).results[1].any() and not look(pair([1.0], [1.0])).results[1].any() and len(tried) == 2


def test_methods_of_two_objects_are_told_apart(tried):
    class Law:
        def __init__(self, memory):
            self.memory = memory

        def control(self, t, q, qd):
            if self.memory is not None:
                self.memory.append(t)
            return -q * len(self.memory or "1")

    first = Law(None)
    assert not look(first.control).verdict.remembers and not look(first.control).verdict.remembers and len(tried) == 1
    assert look(Law([1.0]).control).verdict.remembers


def test_a_helper_with_other_code_is_met(tried):
    class Gains:
        def gain(self):
            return 1.0

    gains = Gains()
    f = lambda: lambda t, q, qd: -gains.gain() * q      # noqa: E731
    look(f())

    def gain(self, log=[]):      # noqa: B006
        log.append(0.0)
        return float(len(log))

    Gains.gain = gain
    assert look(f()).verdict.remembers and len(tried) == 2
