"""Friction that is larger at rest than where it slides, beside closed forms and beside SciPy on each sliding stretch."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.errors import UnknownNameError
from dalembert.model.joints import Prismatic
from dalembert.model.mechanism import Mechanism
from dalembert.model.parts import Body, Joint

BLOCK = Mechanism("block", (Body("base"), Body("block", 1.0)), (
    Joint("x", Prismatic((1, 0, 0)), "base", "block", coulomb=2.0),))
LAW = da.Stribeck(static=1.5, velocity=0.2)


def ramp(t, q, qd):
    return [t]


@pytest.mark.parametrize(("method", "traced", "start"), [("rk4", True, 0.0), ("dop853", True, 0.0), ("rk4", False, 2.5)])
def test_a_block_breaks_loose_at_the_friction_of_rest_and_slides_with_less(method, traced, start):
    """A force t against 3 N at rest and 2 N sliding: x'' = t - 2 from t = 3 s on."""
    def force(t, q, qd):
        return [t]

    force.traced = traced
    options = {"rtol": 1e-10} if method == "dop853" else {"h": 0.01}
    times = np.arange(start, 3.6, 0.5)
    run = da.simulate(BLOCK, [0.0], [0.0], times, control=force, method=method, friction=da.Stribeck(static=1.5), **options)
    begins = [c for c in run.changes if c.t > start]
    assert len(begins) == 1 and abs(begins[0].t - 3) < 1e-8 and begins[0].mode == "slides forward"
    s = run.times[-1] - 3
    assert abs(run.q[-1, 0] - (s**3 / 6 + s**2 / 2)) < 1e-8 and abs(run.reactions[-1, 0] + 2.0) < 1e-12
    rests = run.times < 3
    assert np.abs(run.reactions[rests, 0] + run.times[rests]).max() < 1e-12 and run.energy_drift < 1e-6


def test_slow_sliding_rubs_more_and_comes_to_rest_as_the_equation_says():
    run = da.simulate(BLOCK, [0.0], [1.0], 1.0, method="dop853", rtol=1e-11, friction=LAW)
    right = solve_ivp(lambda t, y: [y[1], -2 - np.exp(-((y[1] / 0.2) ** 2))], (0, 1), [0.0, 1.0], rtol=1e-11, atol=1e-13,
                      events=[lambda t, y: y[1]])
    (stop,) = [c for c in run.changes if c.mode == "sticks"]
    end = right.t_events[0][0]
    assert abs(stop.t - end) < 1e-9 and abs(run.q[-1, 0] - right.y_events[0][0][0]) < 1e-9 and run.qd[-1, 0] == 0
    sliding = run.times < stop.t - 1e-3
    assert np.abs(run.reactions[sliding, 0] + 2 + np.exp(-((run.qd[sliding, 0] / 0.2) ** 2))).max() < 1e-12


def test_a_block_on_a_spring_that_is_pulled_sticks_and_slips():
    """A spring of 10 N/m pulled at 0.1 m/s: it slips once it is 0.3 m long, and each time again where it is."""
    run = da.simulate(BLOCK, [0.0], [0.0], 12.0, control=lambda t, q, qd: [10 * (0.1 * t - q[0])], friction=LAW)
    slips = [c.t for c in run.changes if c.mode == "slides forward" and c.t > 0]
    rests = [c for c in run.changes if c.mode == "sticks" and c.t > 0]
    assert len(slips) > 2 and abs(slips[0] - 3) < 1e-8 and len(rests) >= len(slips) - 1
    for t in slips:
        k = np.searchsorted(run.times, t)
        assert abs(10 * (0.1 * t - run.q[k - 1, 0]) - 3) < 0.02      # of the record before
    plain = da.simulate(BLOCK, [0.0], [0.0], 12.0, control=lambda t, q, qd: [10 * (0.1 * t - q[0])])
    assert len([c for c in plain.changes if c.mode == "slides forward" and c.t > 0]) != len(slips)


def test_joints_may_have_ratios_of_their_own_and_a_ratio_of_1_changes_no_bit():
    chain = da.planar_chain(2)
    m = replace(chain, joints=tuple(replace(j, coulomb=0.5) for j in chain.joints))
    plain = da.simulate(m, [0.3, -0.2], [0, 0], 0.5)
    same = da.simulate(m, [0.3, -0.2], [0, 0], 0.5, friction=da.Stribeck(velocity=0.1))
    other = da.simulate(m, [0.3, -0.2], [0, 0], 0.5, friction=da.Stribeck({"q2": 2.0}, 0.5))
    assert np.array_equal(plain.q, same.q) and not np.array_equal(plain.q, other.q)


def test_a_stored_run_goes_on_with_its_law(tmp_path):
    pytest.importorskip("zarr")
    run = da.simulate(BLOCK, [0.0], [1.0], 0.1, friction=LAW, store=tmp_path / "run.zarr")
    again = da.resume(BLOCK, tmp_path / "run.zarr")
    assert np.array_equal(run.q[...], again.q[...])


@pytest.mark.parametrize(("law", "error", "message"), [
    (da.Stribeck(0.5), ValueError, "static of joint 'x' is 0.5, expected a number of at least 1"),
    (da.Stribeck(1.5, -1.0), ValueError, "velocity of joint 'x' is -1.0"),
    (da.Stribeck("much"), TypeError, "static of joint 'x' is 'much'"),
    (da.Stribeck({"knee": 1.5}), UnknownNameError, "knee")])
def test_laws_that_are_none_are_refused_by_name(law, error, message):
    with pytest.raises(error, match=message):
        da.simulate(BLOCK, [0.0], [1.0], 0.1, friction=law)


def test_a_law_that_changes_nothing_is_told():
    with pytest.warns(da.DalembertWarning, match="no joint of 'planar chain' has Coulomb friction"):
        da.simulate(da.planar_chain(1), [0.1], [0.0], 0.01, friction=LAW)
    with pytest.raises(ValueError, match="needs the formulation 'newton_euler', not 'hamilton'"):
        da.simulate(BLOCK, [0.1], [0.0], 0.01, friction=LAW, formulation="hamilton")


def test_a_joint_has_a_law_of_its_own_with_the_bits_of_the_same_law_for_all():
    joint = replace(BLOCK.joints[0], friction=LAW)
    m = replace(BLOCK, joints=(joint,))
    options = {"control": lambda t, q, qd: [10 * (0.1 * t - q[0])], "h": 0.01}
    own, given = da.simulate(m, [0.0], [0.0], 5.0, **options), da.simulate(BLOCK, [0.0], [0.0], 5.0, friction=LAW, **options)
    assert np.array_equal(own.q, given.q) and own.changes == given.changes and len(own.changes) > 2
    plain = da.simulate(BLOCK, [0.0], [0.0], 5.0, **options)
    for over in (da.simulate(m, [0.0], [0.0], 5.0, friction=da.Stribeck(), **options), da.simulate(m.without("friction").replace({"x.coulomb": 2.0}), [0.0], [0.0], 5.0, **options)):
        assert np.array_equal(over.q, plain.q)


def test_numbers_of_a_law_are_numbers_of_its_joint():
    m = replace(BLOCK, joints=(replace(BLOCK.joints[0], friction=LAW),))
    assert m.number("x.static_ratio") == 1.5 and m.number("x.stribeck_velocity") == 0.2
    other = m.replace({"x.static_ratio": 2.0})
    assert other.joints[0].friction == da.Stribeck(2.0, 0.2) and len({other.identity(), m.identity(), BLOCK.identity()}) == 3
    assert BLOCK.joints[0].numbers().keys() == m.joints[0].numbers().keys() - {"x.static_ratio", "static_ratio", "stribeck_velocity"}
    with pytest.raises(da.ParameterError, match="x.static_ratio cannot be inputs"):
        da.simulate(m, [0.0], [0.0], 0.1, parameters={"x.static_ratio": 2.0})


@pytest.mark.parametrize(("friction", "message"), [
    (da.Stribeck(0.5), "joint 'x': static of its law of friction is 0.5, below 1. Friction at rest"),
    (da.Stribeck(1.5, -1), "velocity of its law of friction is -1, below 0. Give its magnitude")])
def test_laws_of_joints_that_are_none_are_faults(friction, message):
    with pytest.raises(da.ModelError, match=message):
        replace(BLOCK, joints=(replace(BLOCK.joints[0], friction=friction),))
    with pytest.raises(TypeError, match="friction of joint 'x'"):
        replace(BLOCK.joints[0], friction="stribeck")


def test_a_law_in_a_file_is_written_read_and_simulated(tmp_path):
    m = replace(BLOCK, joints=(replace(BLOCK.joints[0], friction=LAW),))
    da.save(m, tmp_path / "block.toml")
    assert 'friction = { law = "stribeck", static = 1.5, velocity = 0.2 }' in (tmp_path / "block.toml").read_text()
    read = da.load(tmp_path / "block.toml")
    assert read.joints[0].friction == LAW and read == m
    text = (tmp_path / "block.toml").read_text()
    (tmp_path / "wrong.toml").write_text(text.replace('"stribeck"', '"stribek"'))
    with pytest.raises(da.ReadError, match="unknown law 'stribek'.*Did you mean 'stribeck'"):
        da.load(tmp_path / "wrong.toml")
    (tmp_path / "wrong.toml").write_text(text.replace("static = 1.5", "statik = 1.5"))
    with pytest.raises(da.ReadError, match="unknown key 'statik'"):
        da.load(tmp_path / "wrong.toml")
    assert np.array_equal(da.simulate(read, [0.0], [0.3], 0.2).q, da.simulate(BLOCK, [0.0], [0.3], 0.2, friction=LAW).q)


def test_a_follower_has_no_law_of_its_own():
    m = da.planar_chain(2)
    follower = replace(m.joints[1], mimic=da.Mimic("q1"), friction=LAW)
    with pytest.raises(da.ModelError, match="it follows another joint and has a law of friction"):
        replace(m, joints=(m.joints[0], follower))
