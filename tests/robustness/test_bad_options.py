"""Options and arguments that make no sense: one error that names what, where and what was expected."""

import pickle
import re
import warnings

import numpy as np
import pytest

import dalembert as da
from dalembert import controllers, lagrange

ARM = da.planar_chain(2)
Q, ZERO = [0.1, 0.2], [0.0, 0.0]


def pair(t, q, qd):
    return q


def nothing(t, q, qd):
    return None


def text(t, q, qd):
    return "0"


def truth(t, q, qd):
    return float(q[0]) > 0


# --- options of simulate ---

EVENTS = {
    "a vector": (pair, da.ShapeError, r"the event 'pair' returned an array of shape \(2,\), expected one number: .*events=\["),
    "an empty list": (lambda *_: [], da.ShapeError, r"returned an array of shape \(0,\)"),
    "None": ([lambda t, q, qd: q[0], nothing], TypeError, r"the event 'nothing' returned None \(NoneType\), expected a number"),
    "a text": (text, TypeError, r"the event 'text' returned '0' \(str\), expected a number"),
    "a truth": (truth, TypeError, r"the event 'truth' returned (True|False) \(bool\)"),
    "a number": (5, TypeError, r"events=5: expected a function g\(t, q, qd\) -> number, or a sequence"),
    "numbers": ([5], TypeError, r"expected functions g\(t, q, qd\) -> number")}


@pytest.mark.parametrize("method", ["rk4", "dopri5", "radau5"])
@pytest.mark.parametrize("events, error, message", EVENTS.values(), ids=EVENTS)
def test_events_that_are_no_numbers_are_refused(events, error, message, method):
    with pytest.raises(error, match=message):
        da.simulate(ARM, Q, ZERO, 0.01, events=events, method=method)


def test_an_array_of_one_number_is_an_event():
    run = da.simulate(ARM, Q, [1.0, 0.0], 0.1, events=lambda t, q, qd: q[:1] - 0.12)
    assert len(run.events) == 1 and abs(run.events[0].q[0] - 0.12) < 1e-12


TIMES = {
    "no times": ({"t": []}, da.ShapeError, r"t has shape \(0,\), no times: expected a duration"),
    "a text": ({"t": "1"}, TypeError, r"t='1' \(str\): expected a duration, or times"),
    "texts": ({"t": ["0", "1"]}, TypeError, r"t=\['0', '1'\] \(list\): expected a duration"),
    "None": ({"t": None}, TypeError, r"t=None \(NoneType\)"), "a truth": ({"t": True}, TypeError, r"t=True \(bool\)"),
    "a complex number": ({"t": 1j}, TypeError, r"t=1j \(complex\)"),
    **{f"{name} {value!r}": ({name: value}, TypeError, rf"^{name}={shown} .*: expected one number")
       for name in ("h", "rtol", "atol", "record", "threads")
       for value, shown in (("0.1", "'0.1'"), ([0.1, 0.2], r"\[0.1, 0.2\]"), (False, "False"))}}


@pytest.mark.parametrize("given, error, message", TIMES.values(), ids=TIMES)
def test_times_and_steps_that_are_no_numbers_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        da.simulate(ARM, Q, ZERO, **({"t": 0.01, "method": "dopri5"} | given))


@pytest.mark.parametrize("method", ["rk4", "radau5"])
@pytest.mark.parametrize("q, qd, options", [(np.zeros((0, 2)), ZERO, {}), (Q, np.zeros((0, 2)), {}),
                                            (Q, ZERO, {"control": np.zeros((0, 2))})])
def test_no_trajectories_are_refused(q, qd, options, method):
    with pytest.raises(da.ShapeError, match=r"there are 0 trajectories: q has shape \(.*2,?\), qd .* N of at least 1"):
        da.simulate(ARM, q, qd, 0.01, method=method, **options)


STOPS = {
    "an unknown joint": ({"q9": 0.5}, ValueError, "joint 'q9' has no limits to stop at: no joint of mechanism 'planar chain' has limits"),
    "a joint without limits": ({"q1": 0.5}, ValueError, r"joint 'q1' has no limits to stop at: no joint .*da.Limits\(lower="),
    "a list": (["q1"], TypeError, r"stops=\['q1'\]: expected True, or \{joint name: restitution"),
    "a text": ("q1", TypeError, "stops='q1': expected True")}


@pytest.mark.parametrize("stops, error, message", STOPS.values(), ids=STOPS)
def test_stops_that_are_none_are_refused(stops, error, message):
    with pytest.raises(error, match=message):
        da.simulate(ARM, Q, ZERO, 0.01, stops=stops)


def limited():
    joint = da.Joint("slide", da.Prismatic((1, 0, 0)), "base", "cart", limits=da.Limits((-1,), (1,)))
    return da.Mechanism("cart", (da.Body("base"), da.Body("cart", 1)), (joint,))


def test_stops_name_the_joints_with_limits_where_there_are_some():
    with pytest.raises(da.UnknownNameError, match=r"unknown joint 'q9' \(known: slide\)"):
        da.simulate(limited(), [0.0], [0.0], 0.01, stops={"q9": 0.5})
    with pytest.raises(ValueError, match="restitution of joint 'slide' is '0.5', expected a number from 0 to 1"):
        da.simulate(limited(), [0.0], [0.0], 0.01, stops={"slide": "0.5"})


@pytest.mark.parametrize("coulomb", [0.0, 0.1])
def test_stops_of_joints_without_limits_are_a_warning_each_time(coulomb):
    arm = ARM.replace({"q1.coulomb": coulomb})
    for _ in range(2):
        with pytest.warns(da.DalembertWarning, match="stops=True stops nothing: no joint of mechanism") as found:
            da.simulate(arm, Q, ZERO, 0.01, stops=True)
        assert [w.filename for w in found] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        da.simulate(limited(), [0.0], [0.0], 0.01, stops=True)
        da.simulate(arm, Q, ZERO, 0.01, stops=False)


# --- controllers ---

TRACKING = {"ComputedTorque": (), "FeedForward": (1.0, 1.0), "Passivity": (1.0, 1.0), "AdaptivePassivity": (1.0, 1.0, 1.0)}


@pytest.mark.parametrize("name", TRACKING)
def test_a_reference_is_a_function(name):
    make = getattr(controllers, name)
    with pytest.raises(TypeError, match=rf"{name}: the reference is \[0, 0\] \(list\), expected a function t -> .*Hold\(\["):
        make(ARM, [0, 0], *TRACKING[name])
    with pytest.raises(TypeError, match=r"the reference returned None \(NoneType\), expected q, qd, qdd"):
        make(ARM, lambda t: None, *TRACKING[name])


@pytest.mark.parametrize("name", [*TRACKING, "PD", "GravityPD"])
def test_a_controller_takes_the_mechanism_first(name):
    with pytest.raises(TypeError, match=f"{name}: the mechanism comes first, expected a Mechanism, .* not a list"):
        getattr(controllers, name)([0, 0], ARM, *TRACKING.get(name, (1.0, 1.0)))


# --- functions of a mechanism ---

@pytest.mark.parametrize("rows, wrong", [((9,), "9"), ((3, -1), "-1"), ((0.5,), "0.5")])
def test_rows_of_the_operational_space_are_directions(rows, wrong):
    with pytest.raises(ValueError, match=rf"has the entry {wrong}, expected some of 0 angular x, .*, 5 linear z"):
        lagrange.operational_space(ARM, Q, ZERO, "link2", rows=rows)


OF_MECHANISMS = [name for name in da.__all__ if da._HOME.get(name, "").startswith(da._OF_MECHANISMS)]


@pytest.mark.parametrize("name", [*OF_MECHANISMS, "save"])
def test_the_mechanism_comes_first(name):
    for first in (Q, None, da.lagrangian_system):
        with pytest.raises(TypeError, match=rf"^{name}\(mechanism, ...\): the mechanism comes first, expected a Mechanism, .* "
                                            rf"not a {type(first).__name__}"):
            getattr(da, name)(first, ARM)


def test_public_functions_are_pickled_and_documented_as_such():
    from dalembert.formulations import newton_euler

    assert pickle.loads(pickle.dumps(da.mass_matrix)) is da.mass_matrix and len(OF_MECHANISMS) > 20
    assert da.mass_matrix.__doc__ == newton_euler.mass_matrix.__doc__ and da.mass_matrix.__module__ == "dalembert"
    assert np.array_equal(da.mass_matrix(mechanism=ARM, q=Q), newton_euler.mass_matrix(ARM, Q))


# --- controls that give no numbers, or other arguments ---

def late(t, q, qd):
    return [float("nan") if t > 0.05 else 0.0, 0.0]


def late_traced(t, q, qd):
    return [da.sqrt(0.05 - t), 0.0]


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
@pytest.mark.parametrize("control, message", [(late, r"^control gave \[nan, 0.0\] at t = 0.05\d+ s, with q = \[0.0"),
                                              (late_traced, r"^control (gave \[nan|has no value at t = 0.05)")])
def test_a_run_that_a_control_ends_says_so_with_the_state(control, message, method):
    for q in (Q, [Q, Q]):
        run = da.simulate(ARM, q, ZERO, 0.1, control=control, method=method)
        assert re.search(message, run.reason), run.reason


CONTROLS = {
    "nan": (lambda t, q, qd: [float("nan"), 0], ValueError, r"control gave \[nan, 0.0\] at t = 0 s, with q = \[0.1, 0.2\]"),
    "a text": ("pd", da.ShapeError, "control has shape .*str of .*expected a function of t, q, qd, or numbers"),
    "two arguments": (lambda t, q: q, TypeError, r"control takes \(t, q\), but is called as control\(t, q, qd\)"),
    "four": (lambda t, q, qd, u: q, TypeError, r"control takes \(t, q, qd, u\), but is called as"),
    "complex": (lambda t, q, qd: -q * 1j, TypeError, r"control returned complex numbers: .*expected \(2,\) real numbers"),
    "complex later": (lambda t, q, qd: -q * (1j if 0.0555 < t < 0.2 else 1), TypeError, "control returned complex numbers"),
    "texts": (lambda t, q, qd: ["1", "2"], TypeError, r"control returned no real numbers: \['1', '2'\]"),
    "None": (lambda t, q, qd: None, TypeError, r"control returned None, expected \(2,\) real numbers")}


@pytest.mark.parametrize("control, error, message", CONTROLS.values(), ids=CONTROLS)
def test_controls_that_are_none_are_refused(control, error, message):
    with pytest.raises(error, match=message):
        da.simulate(ARM, Q, ZERO, 0.1, control=control)


def test_states_of_which_there_are_no_energies_are_refused():
    for q, qd, message in (([1e308, 0], ZERO, r"q\[0\] is 1e\+308"), (Q, [0, 1e150], r"qd\[1\] is 1e\+150")):
        with pytest.raises(ValueError, match=message + ".*radians"):
            da.simulate(ARM, q, qd, 0.1)


ATTRIBUTES = [("terminal", -2), ("terminal", "no"), ("terminal", 1.5), ("terminal", [1]), ("direction", 2), ("direction", "up"),
              ("direction", True), ("direction", None), ("direction", [1, 1])]


@pytest.mark.parametrize("name, value", ATTRIBUTES)
def test_attributes_of_events_that_make_no_sense_are_refused(name, value):
    def g(t, q, qd):
        return q[0]

    setattr(g, name, value)
    with pytest.raises(ValueError, match=rf"{name} of the event 'g' is .*: expected"):
        da.simulate(ARM, Q, ZERO, 0.01, events=g)


def test_controllers_tell_stiffness_from_frequency():
    with pytest.raises(TypeError, match=r"PD has no argument 'k_p' .*Did you mean K_p: K_p, K_d are stiffness \[N m/rad\]"):
        controllers.PD(ARM, [0, 0], k_p=10, k_d=1)
    with pytest.raises(TypeError, match=r"ComputedTorque has no argument 'K_p' .*Did you mean k_p"):
        controllers.ComputedTorque(ARM, controllers.Hold([0, 0]), K_p=10)
    with pytest.raises(TypeError, match="GravityPD: q_ref is a Hold, a function of time; it goes to a posture"):
        controllers.GravityPD(ARM, controllers.Hold([0, 0]), 10, 1)


def test_too_many_steps_are_told_as_such(monkeypatch):
    from dalembert.simulation import options, outcome

    for module in (options, outcome):
        monkeypatch.setattr(module, "ATTEMPTS", 50)
    run = da.simulate(ARM, Q, ZERO, 3.0, control=lambda t, q, qd: [da.sign(da.sin(1e4 * t)), 0], method="dopri5", record=3.0)
    assert run.reason.startswith("after t = 0") and "50 steps did not reach the next record" in run.reason
