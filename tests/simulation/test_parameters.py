"""Numbers of the mechanism as inputs: each trajectory is that of its own mechanism, and other values compile nothing."""

import dataclasses

import numpy as np
import pytest

import dalembert as da
from dalembert.compiled import propagation
from dalembert.native import cache
from dalembert.views.figures.stick_figure import figure_of

ARM = da.planar_chain(2)
STATE = ([0.3, -0.5], [0.4, 0.1], 0.3)
MASSES = np.array([0.5, 1.0, 2.5])
RECORDED = ("q", "qd", "kinetic_energy", "potential_energy", "work", "power_balance", "momenta", "tau", "reactions")


def same_as_alone(mechanism, q, qd, t, given, rtol=1e-12, **options):
    """Compare every trajectory with that of the mechanism with its numbers in the code."""
    run = da.simulate(mechanism, q, qd, t, parameters=given, **options)
    for k in range(len(run.q)):
        own = mechanism.replace({path: float(np.broadcast_to(v, len(run.q))[k]) for path, v in given.items()})
        states = [np.asarray(v)[k] if np.ndim(v) == 2 else v for v in (q, qd)]
        alone = da.simulate(own, *states, t, **options)
        assert run.reasons[k] == alone.reason == "finished"
        for name in RECORDED:
            expected, scale = getattr(alone, name), 1 + np.abs(alone.potential_energy).max()
            np.testing.assert_allclose(getattr(run, name)[k], expected, rtol=rtol, atol=rtol * scale, err_msg=name)
        assert run.own_mechanism(k) == own
    return run


@pytest.mark.parametrize("method, formulation", [
    ("rk4", "newton_euler"), ("dopri5", "newton_euler"), ("gauss4", "hamilton"), ("rk4", "lagrange"), ("symplectic_euler", "hamilton")])
def test_each_trajectory_is_that_of_its_own_mechanism(method, formulation):
    given = {"link2.mass": MASSES, "q2.viscous": 0.1, "q2.origin[0]": [1.0, 0.8, 1.3], "gravity[1]": [0.0, -3.0, 1.0]}
    same_as_alone(ARM, *STATE, given, method=method, formulation=formulation, control=[1.0, -0.5], forces=lambda t, q, qd: -0.3 * qd)


def test_every_kind_of_number_but_axes_can_be_an_input():
    """On a random tree with quaternions, cylinders, springs, rotors; each number moves by a tenth."""
    tree = da.random_tree(3, 6)
    paths = ["gravity[0]"]
    for kind in ("mass", "com[1]", "inertia[0,2]", "origin[2]", "rotation[0]", "viscous", "stiffness", "rest", "rotor_inertia", "gear_ratio"):
        names = [part.name for part in (*tree.bodies[1:], *tree.joints)]
        paths += next(([f"{n}.{kind}"] for n in reversed(names) if _has(tree, f"{n}.{kind}")), [])
    assert len(paths) >= 9, paths
    q, qd = tree.random_state(1)
    given = {path: float(tree.number(path)) * np.array([0.9, 1.1]) + [0.01, 0.02] for path in paths}
    same_as_alone(tree, q, 0.1 * qd, 0.02, given, rtol=1e-11, friction="sign")


def _has(tree, path):
    try:
        tree.number(path)
    except da.UnknownNameError:
        return False
    return True


def test_friction_without_sticking_can_be_an_input():
    run = same_as_alone(ARM, *STATE, {"q1.coulomb": [0.0, 0.4]}, friction="sign")
    assert run.friction == "sign" and np.abs(run.reactions[1]).max() == 0.4


def test_called_forces_controllers_with_states_events_and_a_library_take_them_too():
    def switched(t, q, qd):
        return np.array([1.0, 0.0]) if t < 0.15 else np.zeros(2)

    same_as_alone(ARM, *STATE, {"link2.mass": MASSES}, control=switched, h=5e-3)

    def falling(t, q, qd):
        return q[0]

    for formulation in ("newton_euler", "hamilton"):
        options = {"events": falling, "formulation": formulation}
        run = da.simulate(ARM, [0.3, -0.5], [0, 0], 1.0, parameters={"link2.mass": MASSES}, **options)
        alone = [da.simulate(ARM.replace({"link2.mass": m}), [0.3, -0.5], [0, 0], 1.0, **options).events[0] for m in MASSES]
        np.testing.assert_allclose([e.t for e in run.events], [e.t for e in alone], rtol=1e-12)
        np.testing.assert_allclose([e.qd for e in run.events], [e.qd for e in alone], rtol=1e-10)


@pytest.mark.parametrize("options", [{}, *(pytest.param(more, marks=pytest.mark.slow) for more in (
    {"stops": {"q1": 0.5, "q2": 0.0}}, {"stops": True, "method": "dopri5"}))])
def test_joints_that_stick_and_stop_do_so_with_the_numbers_of_their_trajectory(options):
    rubbing = dataclasses.replace(ARM, joints=tuple(dataclasses.replace(
        j, coulomb=(0.8,), limits=da.Limits((-1.2,), (1.2,))) for j in ARM.joints))
    run = same_as_alone(rubbing, [0.3, -0.5], [0, 0], 0.8, {"link2.mass": MASSES[:2], "q2.viscous": 0.1}, rtol=1e-10, **options)
    for k, mass in enumerate(MASSES[:2]):
        alone = da.simulate(rubbing.replace({"link2.mass": mass, "q2.viscous": 0.1}), [0.3, -0.5], [0, 0], 0.8, **options)
        changes = [c for c in run.changes if c.trajectory == k]
        assert len(changes) > 2 and [c[2:4] for c in changes] == [c[2:4] for c in alone.changes]
        np.testing.assert_allclose([c.t for c in changes], [c.t for c in alone.changes], atol=1e-11)


def test_radau5_takes_them():
    run = da.simulate(da.planar_chain(1), [0.3], [0.0], 0.2, parameters={"link1.mass": 2.0, "q1.viscous": [0.1, 0.5]}, method="radau5")
    for k, viscous in enumerate((0.1, 0.5)):
        own = da.planar_chain(1).replace({"link1.mass": 2.0, "q1.viscous": viscous})
        np.testing.assert_allclose(run.q[k], da.simulate(own, [0.3], [0.0], 0.2, method="radau5").q, atol=1e-8)


def test_one_set_of_numbers_leaves_one_trajectory_and_rows_go_with_rows():
    run = da.simulate(ARM, *STATE, parameters={"link2.mass": 2.0})
    assert run.q.ndim == 2 and run.parameters == {"link2.mass": 2.0}
    states = np.array([[0.3, -0.5], [0.1, 0.2], [1.0, 0.0]])
    several = same_as_alone(ARM, states, [0, 0], 0.3, {"link2.mass": MASSES, "link1.mass": 1.5})
    assert np.array_equal(several.parameters["link2.mass"], MASSES)
    pushed = da.simulate(ARM, *STATE, control=np.eye(3)[:, :2], parameters={"link2.mass": MASSES})
    alone = da.simulate(ARM, *STATE, control=[0.0, 1.0], parameters={"link2.mass": MASSES[1]})
    assert np.array_equal(pushed.q[1], alone.q) and np.array_equal(pushed.tau[1], alone.tau)      # lanes change nothing


def test_other_values_compile_nothing(monkeypatch):
    def quantities(masses):
        run = da.simulate(ARM, *STATE, parameters={"link2.mass": masses})
        return run.q[0], run.kinetic_energy, run.momenta

    quantities(MASSES)

    def refuse(*_):
        raise AssertionError("it compiles")

    monkeypatch.setattr(cache, "kept", refuse)
    monkeypatch.setattr(propagation, "propagation_of", refuse)
    first, other = quantities(MASSES)[0], quantities(2 * MASSES)[0]
    assert np.abs(first - other).max() > 1e-3


def test_a_mechanism_whose_numbers_are_symbols_is_simulated_with_values():
    symbolic = ARM.replace({"link2.mass": da.symbol("m")})
    run = da.simulate(symbolic, *STATE, parameters={"link2.mass": MASSES})
    assert np.array_equal(run.q, da.simulate(ARM, *STATE, parameters={"link2.mass": MASSES}).q)


@pytest.mark.parametrize("given, options, error, says", [
    ({"q1.axis[0]": 1.0}, {}, da.ParameterError, r"q1.axis\[0\] cannot be an input of a simulation, as axes are scaled"),
    ({"link2.mass": 1.0}, {"method": "discrete_gradient"}, da.ParameterError, "discrete_gradient keeps the energy of one mechanism"),
    ({"q1.coulomb": 1.0}, {}, da.ParameterError, "q1.coulomb cannot be inputs of a simulation in which joints stick or stop"),
    ({"link2.mas": 1.0}, {}, da.UnknownNameError, "Did you mean 'mass'"),
    ({"link2.mass": [[1.0]]}, {}, da.ShapeError, r"parameters have shapes 'link2.mass' \(1, 1\)"),
    ({"link2.mass": [1.0, 2.0], "link1.mass": [1.0, 2.0, 3.0]}, {}, da.ShapeError, r"'link2.mass' \(2,\), 'link1.mass' \(3,\)"),
    ({"link2.mass": [1.0, 2.0]}, {"control": np.ones((3, 2))}, da.ShapeError, "given for 3 and 2 trajectories"),
    ({"link2.mass": np.nan}, {}, ValueError, "link2.mass is nan"),
    ({"q1.viscous": [0.1, -0.1]}, {}, da.ModelError, "viscous is -0.1, below 0"),
    ({"link2.mass": [1.0, -3.0]}, {}, da.SingularMassMatrixError, "'q2' in row 1: the inertia of body 'link2'")])
def test_what_cannot_be_an_input_is_refused_with_a_reason(given, options, error, says):
    with pytest.raises(error, match=says):
        da.simulate(ARM, *STATE, parameters=given, **options)


def test_other_refusals():
    ball = da.random_tree(1, 1, ["spherical"])
    with pytest.raises(da.ParameterError, match="a spherical joint has no single coordinate for a spring"):
        da.simulate(ball, *ball.random_state(1), 0.1, parameters={f"{ball.joints[0].name}.stiffness[0]": 0.0})
    system = da.lagrangian_system(lambda q, qd, t: qd[0] ** 2 / 2, "x", name="particle")
    with pytest.raises(da.ParameterError, match="'particle' has no parameters"):
        da.simulate(system, [0.0], [1.0], 1.0, parameters={"m": 1.0})


def test_files_keep_the_numbers(tmp_path):
    for given in ({"link2.mass": MASSES, "link1.mass": 1.5}, {"link2.mass": 2.5}):
        run = da.simulate(ARM, *STATE, parameters=given)
        run.to_netcdf(tmp_path / "run.nc")
        back = da.Run.load(ARM, tmp_path / "run.nc")
        np.testing.assert_array_equal(back.kinetic_energy, run.kinetic_energy)
        np.testing.assert_array_equal(back.numbers, run.numbers)
        assert list(back.parameters) == list(given)
        (tmp_path / "run.nc").unlink()


def test_a_stored_run_keeps_them_and_goes_on_with_them_alone(tmp_path):
    given = {"link2.mass": MASSES}
    plain = da.simulate(ARM, *STATE, parameters=given)
    stored = da.simulate(ARM, *STATE, parameters=given, store=tmp_path / "run.zarr")
    np.testing.assert_array_equal(np.asarray(stored.q), plain.q)
    np.testing.assert_array_equal(stored.kinetic_energy, plain.kinetic_energy)
    again = da.resume(ARM, tmp_path / "run.zarr")
    np.testing.assert_array_equal(again.parameters["link2.mass"], MASSES)
    with pytest.raises(da.DalembertError, match="simulated with another parameters"):
        da.simulate(ARM, *STATE, parameters={"link2.mass": 2 * MASSES}, store=tmp_path / "run.zarr", resume=True)


def test_figures_have_the_lengths_of_each_trajectory():
    run = da.simulate(ARM, *STATE, parameters={"q2.origin[0]": [1.0, 2.0]})
    frames = figure_of(run, run.times[[0]]).frames[:, 0, :, :3]
    at = list(ARM.frame_names).index("link2")
    np.testing.assert_allclose(np.linalg.norm(frames[:, at], axis=-1), [1.0, 2.0], rtol=1e-12)


def test_a_run_may_be_pickled_with_its_numbers():
    import pickle

    run = da.simulate(ARM, *STATE, parameters={"link2.mass": MASSES})
    back = pickle.loads(pickle.dumps(dataclasses.replace(run)))
    np.testing.assert_array_equal(back.kinetic_energy, run.kinetic_energy)


@pytest.mark.parametrize("path", ["link1.mass", "q1.coulomb[0]", "q1.viscous[0]", "gravity[1]"])
def test_symbols_without_values_are_named_before_a_run(path):
    chain = da.planar_chain(2)
    with da.Graph():
        mechanism = chain.replace({path: da.symbol("s"), "link2.mass": da.symbol("r")})
        state = [0.5, 0.1], [0.0, 0.0]
        for given, missing in (({}, "r, s"), ({"r": 1.0}, "s"), ({path: 0.3}, "r")):
            with pytest.raises(ValueError, match=rf"parameters without values: {missing}\. .*mechanism\.replace"):
                da.simulate(mechanism, *state, 0.01, parameters=given)
