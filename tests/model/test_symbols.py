"""Symbols of a mechanism get values by name, wherever they stand; payloads and mechanisms are attached to frames."""

import numpy as np
import pytest

import dalembert as da
from dalembert.formulations import lagrange

M1, M2, L1, L2 = da.symbols("m1 m2 l1 l2")
VALUES = {"m1": 2, "m2": 1.5, "l1": 1, "l2": 0.4}


def arm():
    return da.planar_chain(2, mass=[M1, M2], length=[L1, L2])


def numeric():
    return da.planar_chain(2, mass=[2, 1.5], length=[1, 0.4])


def test_symbols_are_listed_and_get_their_values_within_expressions():
    assert arm().symbols == ("m1", "l1", "m2", "l2") and numeric().symbols == ()
    m = arm().replace(VALUES)
    assert m.symbols == () and m.replace({}) == m
    for path in ("link2.inertia[2,2]", "link2.com[0]", "q2.origin[0]", "tip.origin[0]"):
        assert float(m.number(path)) == pytest.approx(float(numeric().number(path)), rel=1e-15)
    np.testing.assert_allclose(da.mass_matrix(m, [0.3, 0.4]), da.mass_matrix(numeric(), [0.3, 0.4]), rtol=1e-15)
    exact = da.planar_chain(1, mass=M1, length=L1).replace({M1: 3, "l1": 2})
    assert exact.number("link1.inertia[2,2]") == 1 and not isinstance(exact.number("link1.inertia[2,2]"), float)


def test_some_symbols_at_a_time_and_by_other_symbols():
    half = arm().replace({"m1": 2, "l1": 1})
    assert half.symbols == ("m2", "l2") and half.replace({"m2": 1.5, "l2": 0.4}) == arm().replace(VALUES)
    x = da.symbol("x")
    assert arm().replace({"m1": 2, "m2": x + 1, "l1": x, "l2": x}).symbols == ("x",)
    swapped = arm().replace({"m1": M2, "m2": M1})
    assert swapped.number("link1.mass") is M2 and swapped.number("link2.mass") is M1


def test_symbols_in_gravity_angles_axes_types_and_followers():
    from dalembert.model.parts import Frame

    g, angle, pitch, k = da.symbols("g angle pitch k")
    joints = (da.Joint("a", da.Helical((0, 0, 1), pitch), "base", "one", da.Origin((0, 0, 0), (("x", angle),)), stiffness=k),
              da.Joint("b", da.Revolute(), "one", "two", mimic=da.Mimic("a", 2 * k, angle)))
    m = da.Mechanism("odd", (da.Body("base"), da.Body("one", 1), da.Body("two", 1)), joints,
                     (Frame("f", "two", da.Origin((pitch, 0, 0))),), gravity=(0, 0, -g))
    assert set(m.symbols) == {"g", "angle", "pitch", "k"}
    done = m.replace({"g": 9, "angle": 0.5, "pitch": 0.1, "k": 3})
    numbers = [done.number(p) for p in ("gravity[2]", "a.rotation[0]", "a.pitch", "a.stiffness", "b.multiplier", "b.offset",
                                        "f.origin[0]")]
    assert numbers == [-9, 0.5, 0.1, 3, 6, 0.5, 0.1] and done.symbols == ()


def test_a_key_that_is_a_path_and_a_symbol_is_a_path():
    odd = da.symbol("link2.mass")
    m = da.planar_chain(2, mass=[odd, 1])
    changed = m.replace({"link2.mass": 5})
    assert changed.number("link2.mass") == 5 and changed.number("link1.mass") is odd
    assert arm().replace({"m1": 3, "link2.mass": M1}).number("link2.mass") is M1      # as it is given


def test_gravity_is_replaced_whole():
    m = numeric()
    assert m.replace(gravity=(0, 0, 0)).gravity == (0, 0, 0)
    assert m.replace({"link1.mass": 7}, gravity=[0, 1, 2]).number("gravity[2]") == 2
    np.testing.assert_array_equal(da.gravity_vector(m.replace(gravity=(0, 0, 0)), [0.3, 0.4]), 0)


@pytest.mark.parametrize("call, error, says", [
    (lambda m: m.replace({"m3": 1}), da.UnknownNameError, r"unknown path 'm3' \(known: m1, l1"),
    (lambda m: m.replace({"m1": "heavy"}), TypeError, "m1='heavy'"),
    (lambda m: m.replace({"m1": float("nan")}), ValueError, "m1 is nan"),
    (lambda m: m.replace({"m1": 1, M1: 2}), ValueError, "a symbol has two values"),
    (lambda m: m.replace({"gravity[0]": 1}, gravity=(0, 0, 0)), ValueError, r"gravity\[0\] is replaced twice"),
    (lambda m: m.replace(gravity=(0, 0)), ValueError, "gravity has 2 entries, expected 3"),
    (lambda m: m.replace({"link1.mass": 1 / L1}).replace({"l1": 0}), ValueError, "link1.mass = 1/l1 has no value at l1 = 0"),
    (lambda m: m.replace(["m1"]), TypeError, "has no numbers by path"),
])
def test_what_has_no_place_or_no_value_is_refused_by_name(call, error, says):
    with pytest.raises(error, match=says):
        call(arm())


def test_compiled_code_and_simulations_take_symbols_as_inputs():
    m, expected = arm().replace({"l1": 1, "l2": 0.4}), numeric()
    compiled = da.compile(m, parameters=["m2", "m1"])
    with pytest.raises(TypeError, match="has no value of m2, m1"):
        compiled.mass_matrix([0.3, 0.4])
    M = compiled.mass_matrix([0.3, 0.4], parameters=[1.5, 2])
    np.testing.assert_allclose(M, da.mass_matrix(expected, [0.3, 0.4]), rtol=1e-14)
    m = m.replace({"m1": 2})
    run = da.simulate(m, [0.3, 0.4], [0, 0], 0.2, parameters={"m2": [1.0, 1.5]})
    alone = da.simulate(expected, [0.3, 0.4], [0, 0], 0.2)
    np.testing.assert_allclose(run.q[1], alone.q, atol=1e-13)
    np.testing.assert_allclose(run.energy[1], alone.energy, atol=1e-12)
    with pytest.raises(ValueError, match=r"parameters without values: m2\. .*mechanism\.replace"):
        da.simulate(m, [0.3, 0.4], [0, 0], 0.2)


def test_parameters_of_a_lagrangian_are_inputs_of_code_and_simulations_in_any_order():
    system = da.lagrangian_system(lambda q, qd, t: M1 * L1**2 * qd[0]**2 / 2 + M1 * 9.81 * L1 * da.cos(q[0]), "angle")
    ready = system.replace({"m1": 1.5, "l1": 0.5})
    assert set(system.parameters) == {"m1", "l1"} and ready.parameters == ()
    for names, values in ((["m1", "l1"], [1.5, 0.5]), (["l1", "m1"], [0.5, 1.5])):
        assert da.compile(system, parameters=names).mass_matrix([0.3], [0.0], 0.0, values) == pytest.approx(0.375)
    with pytest.raises(da.ParameterError, match="has no values of l1"):
        da.compile(system, parameters=["m1"])
    with pytest.raises(da.UnknownNameError, match="unknown parameter 'm9'"):
        da.compile(system, parameters=["m9"])
    alone = da.simulate(ready, [0.3], [0.0], 0.2)
    for formulation in ("lagrange", "hamilton"):
        run = da.simulate(system, [0.3], [0.0], 0.2, parameters={"l1": [0.7, 0.5], "m1": 1.5}, formulation=formulation)
        np.testing.assert_allclose(run.q[1], alone.q, atol=1e-9)
        np.testing.assert_allclose(run.energy[1], alone.energy, atol=1e-8)
    with pytest.raises(ValueError, match="parameters without values: l1"):
        da.simulate(system, [0.3], [0.0], 0.2, parameters={"m1": 1.5})
    with pytest.raises(da.UnknownNameError, match="unknown parameter 'm9'"):
        da.simulate(system, [0.3], [0.0], 0.2, parameters={"m9": 1.5})


# --- attach ----------------------------------------------------------------------------------------------------------

def test_a_payload_on_a_frame_is_a_body_fixed_there():
    m = numeric()
    origin = da.Origin((0.1, 0.2, 0.3), (("z", 0.4), ("x", 0.5)))
    box = da.Body("box", 2, (0.1, 0, 0.2), (0.1, 0.01, 0.2, 0, 0.02, 0.3))
    q, qd = [0.3, 0.4], [0.5, -0.6]
    on_frame, on_body = m.attach(box, "tip", origin=origin), m.attach(box, "link2", origin=(0.4, 0, 0)).attach(
        da.Body("massless"), "box", origin=origin)
    assert on_frame.frame_names == ("base", "link1", "link2", "box", "tip") and on_frame.joint("box_mount").parent == "link2"
    np.testing.assert_allclose(da.placement(on_frame, q, "box"),
                               da.placement(m, q, "tip") @ da.placement(m.attach(box, "base", origin=origin), q, "box"), atol=1e-15)
    np.testing.assert_allclose(da.placement(on_frame, q, "box"), da.placement(on_body, q, "massless"), atol=1e-15)
    J, C = da.jacobian(on_frame, q, "box", "local"), np.zeros((6, 6))
    x, y, z = np.array(box.com, dtype=float)
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    C[:3, :3] = np.array([[0.1, 0.01, 0], [0.01, 0.2, 0.02], [0, 0.02, 0.3]]) - 2 * skew @ skew
    C[:3, 3:], C[3:, :3], C[3:, 3:] = 2 * skew, -2 * skew, 2 * np.eye(3)
    np.testing.assert_allclose(da.mass_matrix(on_frame, q), da.mass_matrix(m, q) + J.T @ C @ J, rtol=1e-13)
    assert da.kinetic_energy(on_frame, q, qd) > da.kinetic_energy(m, q, qd)
    assert m.attach(box, "tip", name="crate").body("crate").mass == 2


def test_a_chain_on_a_chain_is_the_longer_chain():
    m, whole = numeric(), da.planar_chain(4, mass=[2, 1.5] * 2, length=[1, 0.4] * 2)
    q, qd = [0.1, 0.2, 0.3, 0.4], [1, -1, 0.5, 2]
    twins = m.attach(m, "tip", name="second")
    assert twins.coordinate_names == ("q1", "q2", "second_q1", "second_q2")
    for function, vectors in ((da.mass_matrix, (q,)), (da.bias_force, (q, qd)), (lagrange.gravity_vector, (q,))):
        np.testing.assert_allclose(function(twins, *vectors), function(whole, *vectors), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(da.placement(twins, q, "second_tip"), da.placement(whole, q, "tip"), atol=1e-14)
    three = twins.attach(arm(), "second_tip", name="third")
    assert three.symbols == ("m1", "l1", "m2", "l2") and three.replace(VALUES).nq == 6


def test_followers_follow_under_their_new_names_and_foreign_gravity_is_noted():
    gripper = da.Mechanism("gripper", (da.Body("palm", 0.5), da.Body("left", 0.1), da.Body("right", 0.1)),
                           (da.Joint("open", da.Prismatic((0, 1, 0)), "palm", "left"),
                            da.Joint("close", da.Prismatic((0, 1, 0)), "palm", "right", mimic=da.Mimic("open", -1))))
    m = numeric().attach(gripper, "tip", name="hand")
    assert m.joint("hand_close").mimic.joint == "hand_open" and m.nv == 3
    assert not [f for f in m.check() if "gravity" in f.why]
    noted = numeric().attach(gripper.replace(gravity=(0, 0, -1.62)), "tip")
    assert [f.severity for f in noted.check() if "its gravity (0, 0, -1.62) is not used" in f.why] == ["note"]


@pytest.mark.parametrize("call, error, says", [
    (lambda m: m.attach(m, "tip"), da.ModelError, r"frames named 'base', 'link1', 'link2' are in both: attach\(..., name='tool'\)"),
    (lambda m: m.attach(da.Body("link1"), "tip"), da.ModelError, "frames named 'link1'"),
    (lambda m: m.attach(da.Body("box"), "tipp"), da.UnknownNameError, "unknown frame 'tipp'"),
    (lambda m: m.attach("box", "tip"), TypeError, "'box' .str. cannot be attached: expected a Body or a Mechanism"),
    (lambda m: m.attach(da.Body("box"), "tip", origin=(1, 2)), ValueError, "origin has 2 entries"),
])
def test_what_cannot_be_attached_is_refused_by_name(call, error, says):
    with pytest.raises(error, match=says):
        call(numeric())
