"""Compiled quantities of mechanisms with constraints: all that those of trees have."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import dalembert as da
from four_bars import pinned, state

TAU = np.array([0.3, 0.0, 0.1])


@pytest.fixture(scope="module")
def bar():
    return pinned(actuated=["a"])


@pytest.fixture(scope="module")
def compiled(bar):
    return da.compile(bar)


@pytest.fixture(scope="module")
def at(bar):
    return state(bar)


def test_quantities_of_motion_are_the_plain_functions(bar, compiled, at):
    qdd = da.forward_dynamics(bar, *at, TAU)
    assert np.abs(compiled.forward_dynamics(*at, TAU) - qdd).max() < 1e-12
    assert np.abs(compiled.inverse_dynamics(*at, qdd) - da.inverse_dynamics(bar, *at, qdd)).max() < 1e-12
    for found, expected in zip(compiled.forward_dynamics_derivatives(*at, TAU), da.forward_dynamics_derivatives(bar, *at, TAU)):
        assert np.abs(found - expected).max() < 1e-11
    assert "dqdd_dq" in type(compiled.forward_dynamics_derivatives(*at, TAU))._fields


def test_quantities_of_the_tree_are_those_of_a_tree(bar, compiled, at):
    q, qd = at
    assert np.abs(compiled.placement(q, "rocker") - da.placement(bar, q, "rocker")).max() < 1e-15
    assert np.abs(compiled.jacobian(q, "rocker", expressed_in="local") - da.jacobian(bar, q, "rocker", "local")).max() < 1e-15
    assert np.abs(compiled.bias_force(q, qd) - da.bias_force(bar, q, qd)).max() < 1e-14
    J, qdd = compiled.function(["jacobian:rocker", "forward_dynamics"])(q, qd, TAU)
    assert J.shape == (6, 3) and np.array_equal(qdd, compiled.forward_dynamics(q, qd, TAU))
    assert "kg m^2" in compiled.mass_matrix.__doc__ and "qdd that tau gives" in compiled.forward_dynamics.__doc__


def test_a_batch_is_its_rows_and_a_copy_is_the_same(compiled, at):
    q, qd = np.stack([at[0]] * 5), np.outer([1.0, 0.5, -1.0, 0.0, 2.0], at[1])
    found = pickle.loads(pickle.dumps(compiled)).forward_dynamics(q, qd, TAU)
    assert np.allclose(found, [compiled.forward_dynamics(*row, TAU) for row in zip(q, qd)], rtol=1e-14)


def test_parameters_are_those_of_the_mechanism_unless_given(bar, at):
    dyn = da.compile(bar, parameters=["coupler.mass", "pin.second_origin[0]"])
    assert np.allclose(dyn.forward_dynamics(*at, TAU), da.forward_dynamics(bar, *at, TAU), atol=1e-12)
    heavy = bar.replace({"coupler.mass": 2.0})
    assert np.allclose(dyn.forward_dynamics(*at, TAU, parameters=[2.0, 0.8]), da.forward_dynamics(heavy, *at, TAU), atol=1e-12)
    assert np.allclose(dyn.mass_matrix(at[0], parameters=[2.0, 0.8]), da.mass_matrix(heavy, at[0]), atol=1e-14)


@pytest.mark.parametrize("formulation", ["lagrange", "elementary_motions"])
def test_every_formulation_of_the_tree_compiles(bar, at, formulation):
    found = da.compile(bar, formulation).forward_dynamics(*at, TAU)
    assert np.abs(found - da.forward_dynamics(bar, *at, TAU)).max() < 1e-11


def test_external_forces_act_on_loops_as_their_share_of_tau(bar, at, compiled):
    """Plain functions and runs take them; compiled ones say how, and give the same."""
    q, qd = at
    forces, tree = [da.ExternalForce(bar.bodies[2].name, (3.0, 1.0, -2.0))], bar.without("constraints")
    share = da.inverse_dynamics(tree, q, qd, TAU) - da.inverse_dynamics(tree, q, qd, TAU, forces)
    for call in (lambda: compiled.forward_dynamics(q, qd, TAU, forces), lambda: compiled.multipliers(q, qd, TAU, external_forces=forces)):
        with pytest.raises(TypeError, match="takes no external forces: add what they do to tau. It is the inverse_dynamics of the tree"):
            call()
    assert np.abs(share).max() > 0.1
    assert np.abs(da.forward_dynamics(bar, q, qd, TAU, forces) - compiled.forward_dynamics(q, qd, TAU + share)).max() < 1e-11
    pushed = da.simulate(bar, q, qd, 0.2, method="rk4", h=1e-3, external_forces=forces)
    def control(t, q, qd):
        return da.inverse_dynamics(tree, q, qd, np.zeros(tree.nv)) - da.inverse_dynamics(tree, q, qd, np.zeros(tree.nv), forces)
    shared = da.simulate(bar, q, qd, 0.2, method="rk4", h=1e-3, control=control)
    assert np.abs(pushed.q[-1] - shared.q[-1]).max() < 1e-12 < np.abs(pushed.q[-1] - da.simulate(bar, q, qd, 0.2, method="rk4", h=1e-3).q[-1]).max()


def test_what_is_not_there_is_refused(bar):
    with pytest.raises(TypeError, match="which has constraints, compute in float64"):
        da.compile(bar, dtype=np.float32)
    with pytest.raises(da.DalembertError, match=r"forward_dynamics of 'four-bar' depends on its constraints: da.compile\(mechanism\) has it"):
        assert da.Dynamics(bar).forward_dynamics
    with pytest.raises(AttributeError, match="linearize"):
        assert da.compile(bar).linearize


def test_sources_hold_the_multipliers(compiled, at, tmp_path):
    compiled.write(tmp_path, "numpy", ["forward_dynamics"], prefix="bar")
    call = f"import numpy as np, bar_forward_dynamics as m; print(m.forward_dynamics(*map(np.array, {[x.tolist() for x in (*at, TAU)]}), np.zeros(1))[0].ravel().tolist())"
    text = (tmp_path / "bar_forward_dynamics.py").read_text()
    name = next(line.split("(")[0][4:] for line in text.splitlines() if line.startswith("def ") and not line.startswith("def _"))
    done = subprocess.run([sys.executable, "-c", call.replace("m.forward_dynamics", f"m.{name}")], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + text[:600]
    assert np.abs(np.array(eval(done.stdout)) - compiled.forward_dynamics(*at, TAU)).max() < 1e-12


def test_redundant_loops_in_space_are_as_the_plain_functions():
    """Bricard's loop: five rows of the rank 4, by the null space and by pivots that are left out."""
    mechanism, q = da.loops.bricard()
    q, qd = da.project(mechanism, q, np.linspace(-1, 1, mechanism.nv))
    dyn, tau = da.compile(mechanism), np.linspace(0.5, -1, mechanism.nv)
    qdd = da.forward_dynamics(mechanism, q, qd, tau)
    assert np.abs(dyn.forward_dynamics(q, qd, tau) - qdd).max() < 1e-11
    assert np.abs(dyn.inverse_dynamics(q, qd, qdd) - da.inverse_dynamics(mechanism, q, qd, qdd)).max() < 1e-11
    form = da.minimal_form(mechanism, q, qd)
    v = np.linalg.solve(form.M, form.B.T @ tau - form.bias)
    assert np.abs(form.B @ v + form.drift - qdd).max() < 1e-10
    found, plain = dyn.forward_dynamics_derivatives(q, qd, tau), da.forward_dynamics_derivatives(mechanism, q, qd, tau)
    assert all(np.abs(a - b).max() < 1e-9 for a, b in zip(found, plain))
