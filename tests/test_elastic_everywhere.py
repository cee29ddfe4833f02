"""Every public function of a mechanism takes elastic links and flexible joints, or refuses them by name."""

import inspect
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import numpy as np
import pytest

import dalembert as da
from dalembert.model.paths import numbers
from dalembert.systems.kinds import system_of

BEAM = da.Beam(0.8, EIy=120.0, EIz=90.0, mass_per_length=0.25, damping=da.Rayleigh(0.1, 2e-4))
NOT_HERE = {      # with tests of their own, beside what they need
    "da.resume": "a store of a run", "da.hamilton.NonNatural": "made by nonnatural", "da.hamilton.solve": "a solver by its own interface",
    "da.lagrange.FlexibleJoints": "made by flexible_joints", "da.controllers.AdaptivePassivity": "refused as Passivity", "da.controllers.TipInversion": "made by tip_inversion",
    "da.stability_map": "servo constraints", "da.stable_multipliers": "servo constraints"}


def arm():
    """Two bent links in a plane, the first on a flexible joint, and a load."""
    bodies = [da.Body("base"), *(da.Body(name, beam=BEAM, modes={"bend_y": 1}) for name in ("upper", "lower")),
              da.Body("load", 2.0, (0.05, 0, 0), (0.002, 0, 0.003, 0, 0, 0.004))]
    joints = [da.Joint("shoulder", da.Revolute((0, 0, 1)), "base", "upper", da.Origin((0, 0, 0), (("x", 0.3),)), da.Limits(-2, 2, 5, 50), rotor_inertia=1e-4, gear_ratio=50),
              da.Joint("elbow", da.Revolute((0, 0, 1)), "upper", "lower", da.Origin((0.8, 0, 0)), viscous=0.2),
              da.Joint("grip", da.Fixed(), "lower", "load", da.Origin((0.8, 0, 0)))]
    return da.Mechanism("arm", bodies, joints, [da.Frame("middle", "lower", da.Origin((0.4, 0.01, 0)))]).with_flexible_joints({"shoulder": 400.0}, 0.3)


ARM = arm()
Q, QD = ARM.random_state(1)
TAU = np.ones(ARM.nv)
VALUES = {"q": Q, "qd": QD, "qdd": QD, "tau": TAU, "frame": "load", "body": "lower", "p": TAU, "z": TAU, "q_ref": Q, "stiffness": 1.0, "K_p": 1.0, "K_d": 1.0, "K": 1.0, "L": 1.0,
          "k_p": 1.0, "velocities": "world", "joint": "elbow", "x": 0.4, "input": "shoulder.motor", "output": "lower.bend_y1", "w": 1.0, "inputs": "shoulder.motor", "outputs": ["elbow"], "name": "lower", "reference": da.controllers.Hold(Q), "program": da.generators.Polynomial([0.0], [0.1], 1.0, degree=7), "t": 0.0}


def functions(module, prefix="da"):
    """Public functions and classes whose first argument is a mechanism: (name, function, names of required arguments)."""
    for name in dir(module):
        value = getattr(module, name)
        if name.startswith("_"):
            continue
        if inspect.ismodule(value) and value.__name__.startswith("dalembert.") and prefix == "da":
            yield from functions(value, f"da.{name}")
        elif callable(value) and not inspect.ismodule(value):
            try:
                first, *others = inspect.signature(value).parameters.values()
            except (TypeError, ValueError):
                continue
            if first.name in ("mechanism", "system"):
                yield f"{prefix}.{name}", value, [p.name for p in others if p.default is p.empty and p.kind is not p.VAR_POSITIONAL and p.kind is not p.VAR_KEYWORD]


RECORDS = {"da.Run", "da.Equations", "da.SectionForces", "da.StaticDeflection"}      # results, which functions make
FUNCTIONS = {name: (f, required) for name, f, required in functions(da) if name not in RECORDS | NOT_HERE.keys()}


def special(name):
    """Arguments of functions that need others than a state."""
    times = np.linspace(0, 0.1, 6)
    return {"da.simulate": (Q, QD, 0.002), "da.lagrange.passivity_balance": (times, np.tile(Q, (6, 1)), np.tile(QD, (6, 1)), np.tile(TAU, (6, 1))),
            "da.elastic_line": (Q[:2], QD[:2], 0.01), "da.frequency_map": (np.tile(Q, (2, 1)),)}.get(name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_works_or_refuses_by_name(name, tmp_path):
    function, required = FUNCTIONS[name]
    arguments = special(name)
    if name == "da.save":
        arguments = (tmp_path / "arm.toml",)
    if arguments is None:
        missing = [argument for argument in required if argument not in VALUES]
        if missing:
            pytest.skip(f"{name} needs {missing}: add values, or the function to NOT_HERE with a reason")
        arguments = [VALUES[argument] for argument in required]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", da.DalembertWarning)
        try:
            function(ARM, *arguments)
        except da.DalembertError as error:
            assert len(str(error)) > 20      # in words


def test_compiled_quantities_equal_plain_functions():
    dynamics = da.compile(ARM)
    vectors = {"q": Q, "qd": QD, "qdd": QD, "tau": TAU}
    for name, inputs, _, _ in system_of(ARM).table():
        given = [vectors[x] for x in inputs.split(", ")]
        name, frame = name.split(":")[0], ["load"] * name.endswith(":FRAME")
        if name == "regressor":
            continue      # elastic links have none
        results = getattr(dynamics, name)(*given, *frame), getattr(da, name)(ARM, *given, *frame)
        for found, plain in zip(*(x if isinstance(x, tuple) else (x,) for x in results), strict=True):
            np.testing.assert_allclose(found, plain, atol=1e-9 * max(1.0, np.abs(plain).max()), err_msg=name)


@pytest.mark.parametrize("formulation", ["lagrange", "hamilton", "elementary_motions"])
def test_formulations_agree(formulation):
    module = import_module(f"dalembert.formulations.{formulation}")
    for name, given in (("mass_matrix", (Q,)), ("inverse_mass_matrix", (Q,)), ("coriolis_vector", (Q, QD)), ("gravity_vector", (Q,)), ("bias_force", (Q, QD)), ("inverse_dynamics", (Q, QD, QD)),
                        ("forward_dynamics", (Q, QD, TAU)), ("kinetic_energy", (Q, QD)), ("potential_energy", (Q,)), ("momenta", (Q, QD))):
        if function := getattr(module, name, None):
            plain = np.asarray(getattr(da, name)(ARM, *given))
            np.testing.assert_allclose(function(ARM, *given), plain, atol=1e-10 * abs(plain).max(), err_msg=name)


def test_methods_of_a_mechanism():
    step = np.full(ARM.nv, 0.01)
    np.testing.assert_allclose(ARM.difference(ARM.integrate(Q, step), Q), step, atol=1e-14)
    np.testing.assert_allclose(ARM.rate(Q, QD), QD)
    np.testing.assert_array_equal(ARM.normalize(Q), Q)
    assert ARM.neutral().tolist() == [0] * 5 and ARM.independent() == ARM and len(list(ARM.values())) == len({path for path, _ in numbers(ARM)})
    for kind in ("friction", "springs", "limits", "constraints", "elasticity"):
        assert da.mass_matrix(ARM.without(kind), ARM.without(kind).neutral()).shape[0] == (2 if kind == "elasticity" else 5)
    assert repr(ARM) == "<Mechanism 'arm': 5 bodies, 4 joints, nq = 5, nv = 5>"


def test_tables_name_their_columns():
    frame = pytest.importorskip("pandas").DataFrame([Q], columns=ARM.coordinate_names)
    np.testing.assert_allclose(da.mass_matrix(ARM, frame[list(reversed(ARM.coordinate_names))])[0], da.mass_matrix(ARM, Q))


def test_records_have_names_and_units():
    pytest.importorskip("xarray")
    run = da.simulate(ARM, Q, QD, 0.002, record=0.001)
    data = run.to_xarray()
    assert list(data["coordinate"].values) == ["shoulder", "elbow", "shoulder.motor", "upper.bend_y1", "lower.bend_y1"]
    assert list(data["coordinate_unit"].values) == ["rad", "rad", "rad", "m", "m"] and list(data["velocity_unit"].values) == ["rad/s"] * 3 + ["m/s"] * 2
    again = pickle.loads(pickle.dumps(run))
    np.testing.assert_array_equal(again.q, run.q)


def test_sweeps_over_stiffness_are_runs_one_by_one():
    grid = {"lower.EIz": [60.0, 120.0], "shoulder.transmission_stiffness": [300.0, 500.0], "q[lower.bend_y1]": [0.0, 0.01]}
    start = np.zeros(5)
    with ThreadPoolExecutor(1) as thread:
        found = da.sweep(ARM, grid, thread, t=0.01, q=start, friction="sign")
    assert not found.errors
    for at in ((0, 0, 1), (1, 0, 1)):
        stiffness, spring, bent = (values[k] for values, k in zip(grid.values(), at, strict=True))
        changed = ARM.replace({"lower.EIz": stiffness, "shoulder.transmission_stiffness": spring})
        run = da.simulate(changed, [0, 0, 0, 0, bent], np.zeros(5), 0.01, friction="sign")
        np.testing.assert_allclose(found["q"][at], run.q[-1], rtol=1e-10, atol=1e-13)
    assert np.ptp(found["q"][:, 0, 1], axis=0).max() > 1e-4      # the numbers count


def test_numbers_are_inputs_of_compiled_code():
    soft = da.compile(ARM, parameters=["lower.EIz", "shoulder.transmission_stiffness"])
    for numbers_given in ((60.0, 300.0), (120.0, 500.0)):
        changed = ARM.replace(dict(zip(("lower.EIz", "shoulder.transmission_stiffness"), numbers_given, strict=True)))
        np.testing.assert_allclose(soft.passive_force(Q, QD, parameters=list(numbers_given)), da.passive_force(changed, Q, QD), atol=1e-9)
