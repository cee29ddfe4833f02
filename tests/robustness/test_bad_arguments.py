"""Arguments of another kind: the message names the argument, says what it is and what was expected."""

import ast
import functools
import traceback
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert import controllers, generators

PACKAGE = Path(da.__file__).parent

ARM = da.planar_chain(1)
OTHERS = [None, True, 3, 1.5, 1j, np.array(1.0), object()]


def refused(call, *parts):
    with pytest.raises(TypeError) as caught:
        call()
    said = str(caught.value)
    assert all(part in said for part in parts) and "is not iterable" not in said and "attribute" not in said, said


@pytest.mark.parametrize("other", [*OTHERS, "xyz", b"xyz"], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("make, name", [
    (lambda x: da.Body("a", 1, x), "com of body 'a'"), (lambda x: da.Body("a", 1, (0, 0, 0), x), "inertia of body 'a'"),
    (lambda x: da.Origin(x), "origin"), (lambda x: da.Origin((0, 0, 0), [(1, 0)] if isinstance(x, str) else [(x, 0)]), "rotation axis"),
    (lambda x: da.Revolute(x), "axis"), (lambda x: da.planar_chain(1, gravity=x), "gravity"),
    (lambda x: da.from_motions("Rz(q1)", gravity=x), "gravity"), (lambda x: da.Mechanism("m", x, []), "bodies"),
    (lambda x: da.Mechanism("m", [da.Body("a")], x), "joints"), (lambda x: da.Mechanism("m", [da.Body("a")], [], x), "frames"),
    (lambda x: da.from_dh(x), "the table"), (lambda x: da.from_dh([3 if isinstance(x, (str, bytes)) else x]), "row 1"),
], ids=["com", "inertia", "origin", "rotation", "axis", "gravity", "gravity of motions", "bodies", "joints", "frames", "rows", "row"])
def test_what_is_no_vector_or_list_is_named(make, name, other):
    refused(lambda: make(other), name, "expected")


@pytest.mark.parametrize("other", OTHERS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("call, name", [
    (da.symbols, "names of symbols"), (da.equations(ARM).text, "the quantity"), (lambda x: ARM.replace(3 if x is None else x), "by path"),
    (lambda x: ARM.lock(x), "lock"), (lambda x: da.from_motions(x), "the chain"),
    (lambda x: da.equations(ARM, symbols=[x]), "symbols"),
    (lambda x: da.simulate(ARM, [0], [0], 0.1, parameters=3 if x is None else x), "parameters"),
    (lambda x: da.Mechanism("m", [x], []), "bodies"), (lambda x: da.Mechanism("m", [da.Body("a")], [x]), "joints"),
], ids=["symbols", "text", "replace", "lock", "chain", "symbols of equations", "parameters", "a body", "a joint"])
def test_what_has_no_names_is_refused(call, name, other):
    refused(lambda: call(other), name, "expected")


@pytest.mark.parametrize("options", [{"budget": x} for x in (None, "1", -1, np.nan, 1e4, True)]
                         + [{"digits": x} for x in (None, "x", 0, 2.5)], ids=lambda x: type(x).__name__)
def test_budget_and_digits_of_equations_are_whole_numbers(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))}=.*expected a whole number"):
        da.equations(ARM, **options)


# --- every argument of public functions against every odd value ---

ODD = [None, 3, -1, 1.5, np.nan, 10**400, "x", "", "a\0b", "\ud800", b"x", True, 1j, {}, [], {"a": 1}, [None], {1, 2}, object(),
       [[1], [2, 3]], ["a", "b"], [True, False], np.zeros(2), np.zeros((2, 2, 2)), np.array(["a", "b"]), np.array([None, 1j]),
       np.array(["2020-01-01"], dtype="M8[D]"), np.ma.masked_array([1.0, 2.0], [True, False]), lambda: 0]
LINK = da.Body("b", 1, (0, 0, 0), (1, 0, 1, 0, 0, 1))
FILE = b"<robot name='r'><link name='a'/></robot>"
CALLS = {
    "simulate": (da.simulate, {"mechanism": ARM, "q": [0.1], "qd": [0], "t": 0.01, "control": None, "forces": None, "method": "rk4",
                               "h": 1e-3, "record": None, "threads": 1, "formulation": None, "friction": "stick", "stops": None,
                               "events": None, "parameters": None, "progress": None, "resume": False}),
    "tolerances": (da.simulate, {"mechanism": ARM, "q": [0.1], "qd": [0], "t": 0.01, "rtol": None, "atol": None, "longest_step": None}),
    "from_dh": (da.from_dh, {"rows": [(1, 0, 0, 0)], "convention": "standard", "inertia": None, "name": "x", "gravity": (0, 0, -1)}),
    "from_motions": (da.from_motions, {"chain": "Rz(q1) Tx(1)", "inertia": None, "name": "x"}),
    "planar_chain": (da.planar_chain, {"n": 2, "mass": 1, "length": 1, "com": None, "inertia": None, "name": "x"}),
    "random_tree": (da.random_tree, {"seed": 1, "n": 2, "joints": "every"}),
    "load": (da.load, {"source": FILE, "base": "fixed", "mimic": "exact", "passive": True, "lock": None, "exact_angles": True,
                       "strict": False, "angle_tolerance": 1e-9}),
    "Joint": (da.Joint, {"name": "j", "type": da.Revolute(), "parent": "a", "child": "b", "origin": da.Origin(), "limits": da.Limits(),
                         "viscous": 0, "coulomb": 0, "rotor_inertia": 0, "mimic": None}),
    "Body": (da.Body, {"name": "b", "mass": 1, "com": (0, 0, 0), "inertia": (1, 0, 1, 0, 0, 1)}),
    "Origin": (da.Origin, {"xyz": (0, 0, 0), "rotations": ()}), "Mimic": (da.Mimic, {"joint": "a", "multiplier": 1, "offset": 0}),
    "Frame": (da.Frame, {"name": "f", "body": "b", "origin": da.Origin()}),
    "Mechanism": (da.Mechanism, {"name": "m", "bodies": [da.Body("base"), LINK], "joints": [da.Joint("j", da.Revolute(), "base", "b")],
                                 "frames": (), "gravity": (0, 0, -1), "file": "", "remarks": ()}),
    "ExternalForce": (da.ExternalForce, {"frame": "b", "expressed_in": "aligned"}),
    "jacobian": (da.jacobian, {"mechanism": ARM, "q": [0], "frame": "tip", "expressed_in": "aligned"}),
    "compile": (da.compile, {"mechanism": ARM, "formulation": "newton_euler", "parameters": (), "dtype": float}),
    "lagrangian_system": (da.lagrangian_system, {"L": lambda q, qd, t: qd[0]**2 / 2, "coordinates": "x", "forces": None, "name": "s"}),
    "text": (da.text, {"expression": da.symbol("x"), "coordinates": None, "digits": 6}),
    "symbols": (da.symbols, {"names": "x", "shape": None}),
    "PD": (controllers.PD, {"mechanism": ARM, "q_ref": [0], "K_p": 1, "K_d": 1}),
    "ComputedTorque": (controllers.ComputedTorque, {"mechanism": ARM, "reference": controllers.Hold([0]), "k_p": 1, "k_d": 1}),
    "AdaptivePassivity": (controllers.AdaptivePassivity, {"mechanism": ARM, "reference": controllers.Hold([0]), "K": 1, "L": 1, "G": 1}),
    "Hold": (controllers.Hold, {"q": [0]}), "Limited": (controllers.Limited, {"controller": lambda t, q, qd: -q, "limits": [1]}),
    "Quintic": (controllers.Quintic, {"points": [[0], [1]], "times": [0, 1]}),
    "Samples": (controllers.Samples, {"times": [0, 1], "values": [[0], [1]], "between": "linear"}),
    "Sinusoids": (controllers.Sinusoids, {"center": [0], "amplitude": [1], "frequency": 1.0, "phase": 0.0}),
    "Sampled": (controllers.Sampled, {"law": lambda k, t, q, qd, m: (-q, m), "period": 0.1, "delay": 0.0, "memory": ()}),
    "Polynomial": (generators.Polynomial, {"start": [0], "end": [1], "duration": 1, "degree": 5, "begin": 0.0}),
    "Trapezoid": (generators.Trapezoid, {"start": [0], "end": [1], "velocity": 1, "acceleration": 1, "deceleration": 1, "duration": 5,
                                         "begin": 0.0}),
    "SCurve": (generators.SCurve, {"start": [0], "end": [1], "velocity": 1, "acceleration": 1, "jerk": 1, "duration": 9, "begin": 0.0}),
    "Spline": (generators.Spline, {"points": [[0], [1]], "times": [0, 1], "degree": 3, "ends": "clamped", "start": [0], "end": [0]}),
    "Hermite": (generators.Hermite, {"values_at": [[[0]], [[1]]], "times": [0, 1]}),
    "Fourier": (generators.Fourier, {"center": [0], "cosines": [[1]], "sines": [[1]], "frequency": 1}),
    "excitation": (generators.Fourier.excitation, {"center": [0], "amplitude": 1, "period": 1, "harmonics": 3, "seed": 0}),
    "SteadyAcceleration": (generators.SteadyAcceleration, {"value": [1], "position": 0, "velocity": 0}),
    "Harmonic": (generators.Harmonic, {"frequency": 1, "amplitude": 1, "phase": 0, "center": 0, "attraction": 0, "initial": [0, 1]}),
    "LimitCycle": (generators.LimitCycle, {"curve": 1, "center": [0, 0], "attraction": 1, "speed": 1, "clockwise": True,
                                           "initial": [1, 0]}),
    "Superellipse": (generators.Superellipse, {"semi_axes": [1, 1], "exponent": 4, "center": [0, 0], "initial": [1, 0]}),
    "PathWithTimeLaw": (generators.PathWithTimeLaw, {"path": generators.Hold([0]), "law": generators.Hold([0])}),
    "effort_limits": (controllers.effort_limits, {"mechanism": ARM}),
    "save": (da.save, {"mechanism": ARM}),
}


@functools.cache
def raising_lines(file):
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    return {k for node in ast.walk(tree) if isinstance(node, ast.Raise) for k in range(node.lineno, node.end_lineno + 1)}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore::dalembert.DalembertWarning")
def test_an_argument_of_another_kind_is_accepted_or_refused_on_purpose(call, tmp_path, monkeypatch):
    """Each error is one that this package raises, not one of Python or NumPy from within it, and is no wall of text."""
    monkeypatch.chdir(tmp_path)
    function, arguments = CALLS[call]
    for name in arguments:
        for odd in ODD:
            try:
                function(**arguments | {name: odd})
            except (da.DalembertError, TypeError, ValueError) as error:
                last = traceback.extract_tb(error.__traceback__)[-1]
                own = last.filename.startswith(str(PACKAGE)) and last.lineno in raising_lines(last.filename)
                assert own or f"{name}[" in str(error), (name, odd, error, last)
                assert 10 < len(str(error)) < 1000, (name, odd, error)


@pytest.mark.parametrize("other", [3, None, 1.5, b"x", ["a"], object(), np.zeros(2)], ids=lambda x: type(x).__name__)
def test_what_is_no_path_is_refused(other, tmp_path):
    run, dyn = da.simulate(ARM, [0.1], [0], 0.01, h=1e-2), da.compile(ARM)
    for write in (run.to_csv, run.to_netcdf, run.to_zarr, run.animate, lambda x: da.save(ARM, x), da.equations(ARM).write,
                  lambda x: dyn.write(x, "c", ["mass_matrix"]), lambda x: da.Run.load(ARM, x), lambda x: da.resume(ARM, x)):
        refused(functools.partial(write, other), "expected a path")
    if other is not None:
        refused(lambda: da.simulate(ARM, [0.1], [0], 0.01, store=other), "store=", "expected a path")
        refused(lambda: da.sweep(ARM, {"q[q1]": [0.1]}, t=0.01, store=other), "store=", "expected a path")
    for text in ("", "a\0b", "\ud800"):
        with pytest.raises(ValueError, match=r"expected a(nother)? path"):
            da.simulate(ARM, [0.1], [0], 0.01, store=text)


def test_an_ending_or_a_solver_that_is_unknown_is_refused_by_name(tmp_path):
    run = da.simulate(ARM, [0.1], [0], 0.01, h=1e-2)
    with pytest.raises(ValueError, match=r"run.xyz': the name of a diagram ends in .*\.png"):
        run.plot(tmp_path / "run.xyz")
    with pytest.raises(da.UnknownNameError, match="unknown iteration 'x' .known: minimal_residuals"):
        da.hamilton.solve(ARM, [0], [0], "x")
    refused(lambda: da.hamilton.solve(ARM, [0], [0], 3), "solver=3", "expected")
    with pytest.raises(da.DalembertError, match="cannot be read as a run.*it has no group of Zarr"):
        da.Run.load(ARM, tmp_path)
