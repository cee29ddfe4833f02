"""Servo constraints and their programs in TOML files: read as in Python, written back equal, faults with their lines."""

import numpy as np
import pytest

import dalembert as da
from dalembert import generators
from dalembert.readers.program_tables import PROGRAMS
from dalembert.readers.toml import read_toml, write_toml

ARM = """\
name = "arm"
[[body]]
name = "base"
[[body]]
name = "link"
mass = 1.0
com = [0.5, 0, 0]
inertia = { xx = 0.0, yy = 0.1, zz = 0.1 }
[[joint]]
name = "q1"
type = "revolute"
axis = [0, -1, 0]
parent = "base"
child = "link"
[[constraint]]
name = "swing"
kind = "servo"
"""
REST = 'actuators = ["q1"]\nfrequency = 10.0\n'
CASES = {
    "fourier": ("center = [0.5], cosines = [[0.1], [0.2]], sines = [[0], [0.3]], frequency = 2.0", generators.Fourier([0.5], [[0.1], [0.2]], [[0], [0.3]], 2.0)),
    "harmonic": ("frequency = 2.0, amplitude = 0.5", generators.Harmonic(2.0, 0.5)),
    "limit_cycle": ("curve = [0.4, 0.3], center = [1.2, 0], clockwise = false", generators.LimitCycle(curve=[0.4, 0.3], center=(1.2, 0), clockwise=False)),
    "polynomial": ("start = 0.0, end = 1.0, duration = 2.0", generators.Polynomial(0.0, 1.0, 2.0)),
    "s_curve": ("start = 0, end = 1, velocity = 1, acceleration = 2, jerk = 9", generators.SCurve(0, 1, 1, 2, 9)),
    "spline": ("points = [[0], [1], [0.5]], times = [0, 1, 2]", generators.Spline([[0], [1], [0.5]], [0, 1, 2])),
    "steady_acceleration": ("value = 2.0, velocity = 1.0", generators.SteadyAcceleration(2.0, velocity=1.0)),
    "superellipse": ("semi_axes = [0.4, 0.3], exponent = 6", generators.Superellipse((0.4, 0.3), 6)),
    "trapezoid": ("start = 0, end = 1, velocity = 1, acceleration = 2", generators.Trapezoid(0, 1, 1, 2)),
}


def text(kind, output='"q1"'):
    return f'{ARM}output = {output}\nprogram = {{ type = "{kind}", {CASES[kind][0]} }}\n{REST}'


def test_every_type_of_program_has_a_case():
    assert CASES.keys() == PROGRAMS.keys()


@pytest.mark.parametrize("kind", CASES)
def test_a_program_is_read_as_in_python_and_written_back(kind):
    mechanism = read_toml(text(kind), "arm.toml")
    program, expected = mechanism.constraints[0].program, CASES[kind][1]
    again = read_toml(write_toml(mechanism)).constraints[0].program
    for found in (program, again):
        assert type(found) is type(expected)
        np.testing.assert_allclose(found.state, expected.state, atol=1e-15)
        for y, right in zip(found.derivatives(found.state, 2), expected.derivatives(expected.state, 2)):
            np.testing.assert_allclose(y, right, atol=1e-14)


def test_a_servo_of_a_file_is_led_and_has_its_own_principle():
    mechanism = read_toml(text("harmonic"), "arm.toml")
    assert mechanism.principles == ("servo",)
    run = da.simulate(mechanism, [0.0], [1.0], 1.0)
    assert np.abs(run.observables["program_residual"]).max() < 1e-9
    point = read_toml(text("harmonic", '{ frame = "link", point = [1, 0, 0], axes = "x" }'), "arm.toml").constraints[0].output
    assert point == da.constraints.FramePoint("link", (1.0, 0.0, 0.0), "x")
    assert read_toml(write_toml(read_toml(text("harmonic", '["q1"]')))).constraints[0].output == ("q1",)


@pytest.mark.parametrize(("old", "new", "message"), [
    ("amplitude", "amplitud", "line 19: constraint 'swing', program: unknown key 'amplitud' for a program of type harmonic"),
    ('"harmonic"', '"harmonik"', "constraint 'swing', program: unknown type 'harmonik'"),
    ("frequency = 10.0", "frequency = -1", "constraint 'swing': frequency of 'swing' is -1"),
    ("amplitude = 0.5", 'amplitude = "wide"', "constraint 'swing', program:"),
    ("frequency = 2.0", "frequency = true", "constraint 'swing', program: frequency is true; expected a number"),
    ('frequency = 10.0', 'frequency = 10.0\nallow_unstable = 1', "allow_unstable is 1; expected true or false"),
    ("frequency = 2.0, ", "", "constraint 'swing', program: the key 'frequency' is missing"),
    ('actuators = ["q1"]\n', "", "constraint 'swing': the key 'actuators' is missing"),
])
def test_faults_are_told_with_their_lines(old, new, message):
    with pytest.raises((da.ModelError, da.ReadError)) as caught:
        read_toml(text("harmonic").replace(old, new, 1), "arm.toml")
    assert message in str(caught.value)


def test_all_that_a_servo_says_is_written():
    given = text("harmonic") + "damping = 0.7\nallow_unstable = true\ninitial = [0.1, 0.2]\n"
    again = read_toml(write_toml(read_toml(given))).constraints[0]
    assert (float(again.damping), again.allow_unstable, tuple(map(float, again.initial))) == (0.7, True, (0.1, 0.2))


def test_functions_are_refused_by_name():
    swing = generators.Harmonic(2.0, 0.5)
    servo = da.constraints.Servo("swing", lambda q, t: [q[0]], swing, ["q1"], frequency=10.0)
    with pytest.raises(da.ReadError, match="constraint 'swing' cannot be written: its output is a Python function"):
        write_toml(da.planar_chain(1).constrained(servo))
