"""Closed forms with values put in, or to some order in small quantities."""

import math
import pickle

import numpy as np
import pytest

import dalembert as da

from . import robots


def pendulum():
    m, l, g = da.symbols("m l g")
    links = [(m, (l, 0, 0), (0,) * 6), (m, (l, 0, 0), (0,) * 6)]
    return da.equations(da.from_motions("Rz(q1) Tx(2) Rz(q2)", inertia=links, gravity=(0, -g, 0)))


def lines(text):
    return dict(line.split(" = ", 1) for line in text.splitlines() if " = " in line and "(at " not in line)


def test_values_are_put_in():
    with da.Graph():
        eom = pendulum()
        at = eom.at(q2=0)
        assert at.text("gravity_vector").splitlines()[0] == "Gravity vector (at q2 = 0)"
        assert lines(at.text("gravity_vector")) == {"g1": "2 m g (1 + l) c1", "g2": "m l g c1"}
        assert lines(eom.at(q2=math.pi / 2).text("gravity_vector")) == {"g1": "m g ((2 + l) c1 - l s1)", "g2": "-m l g s1"}
        assert "at q2 = pi/2" in eom.at(q2=math.pi / 2).latex("gravity_vector")
        l = da.symbol("l")
        assert lines(eom.substitute({"m": 3 * l, l: 2}).text("mass_matrix"))["M22"] == "12 l"      # all at once
        assert eom.at(q2=0).at(q1=0).text("gravity_vector").count("c1") == 0


def test_a_model_s_own_names_and_symbols_are_keys():
    arm = da.planar_chain(2)
    eom = da.equations(arm.replace({"gravity[2]": -10}), ["*.mass"])
    assert "at q1 = 0" in eom.substitute({"q1": 0}).text("gravity_vector")
    scara = robots.dense("scara")
    name = scara.coordinate_names[0]
    assert "at q1 = 1/2" in da.equations(scara).substitute({name: 0.5}).text("mass_matrix")


@pytest.mark.parametrize("q2", [0, math.pi / 3, *(pytest.param(x, marks=pytest.mark.slow) for x in (1.2345, -3 * math.pi / 4, 0.1))])
def test_changed_entries_are_those_of_the_state(q2):
    m = robots.dense("puma")
    eom = da.equations(m)
    at = eom.at(q2=q2, q5=math.pi)
    q, qd = m.random_state(2)
    q[1], q[4] = q2, math.pi
    point = dict(zip((*eom.coordinates, *eom.velocities), (*q, *qd))) | eom.values
    for quantity, right in (("mass_matrix", da.mass_matrix(m, q)), ("gravity_vector", da.gravity_vector(m, q)),
                            ("placement:link6", da.placement(m, q, "link6"))):
        assert np.abs(da.evaluate(at.entries(quantity), point) - right).max() < 1e-12 * max(1, np.abs(right).max())
        assert not {"q2", "q5"} & {s.name for x in at.entries(quantity).flat for s in da.free_symbols(x)}
    assert max(at.verified.values()) < 1e-12


def test_small_quantities_by_hand():
    with da.Graph():
        eom = pendulum()
        first = eom.substitute({"g": 1, "l": 1, "m": 1}).small_angles("q1", "q2")
        assert lines(first.text("potential_energy", "gravity_vector")) == {"U": "4 q1 + q2", "g1": "4", "g2": "1"}
        second = eom.substitute({"g": 1, "l": 1, "m": 1}).small_angles(order=2)
        assert lines(second.text("gravity_vector")) == {"g1": "4 - 2 q1^2 - q1 q2 - 1/2 q2^2", "g2": "1 - 1/2 q1^2 - q1 q2 - 1/2 q2^2"}
        assert first.text("gravity_vector").startswith("Gravity vector (at g = 1, l = 1, m = 1, then to first order in q1, q2)")
        small = eom.small_angles("q2", "qd1", "qd2")
        assert small.text("coriolis_vector").splitlines()[1:] == ["0"]
        zeroth = eom.small_angles("q2", order=0)
        assert zeroth.text("mass_matrix").splitlines()[1:] == eom.at(q2=0).text("mass_matrix").splitlines()[1:]


def test_small_angles_of_a_lagrangian():
    with da.Graph():
        m, l, g = da.symbols("m l g")
        system = da.lagrangian_system(lambda q, qd, t: m * l**2 * qd[0]**2 / 2 + m * g * l * da.cos(q[0]), "theta")
        small = da.equations(system).small_angles("theta")
        assert lines(small.text("equations_of_motion")) == {"tau1": "m l^2 theta_ddot + m l g theta"}
        assert r"m \, l^{2} \, \ddot{\theta} + m \, l \, g \, \theta" in small.latex("equations_of_motion")


def test_changed_forms_do_all_that_closed_forms_do(tmp_path):
    eom = da.equations(da.planar_chain(2), "all").small_angles("q2").at(q1=0)
    assert pickle.loads(pickle.dumps(eom)).text("mass_matrix") == eom.text("mass_matrix")
    code = {}
    exec(eom.python("gravity_vector"), code)
    assert np.allclose(code["gravity_vector"]([9, 0.1]), da.evaluate(eom.gravity_vector, {"q2": 0.1, **eom.values}))
    for ending in ("html", "tex", "md", "txt"):
        page = eom.write(tmp_path / f"x.{ending}").read_text(encoding="utf-8")
        assert "o first order in q2" in page and "at q1 = 0" in page


@pytest.mark.parametrize("change, error, message", [
    (lambda e: e.at(q7=0), da.UnknownNameError, "unknown name 'q7' .known: q1, q2, qd1"), (lambda e: e.at(q1="0"), TypeError, "value of 'q1' is a str"),
    (lambda e: e.at(q1=math.nan), ValueError, "nan is not finite"), (lambda e: e.small_angles("q9"), da.UnknownNameError, "unknown name 'q9'"),
    (lambda e: e.small_angles(order=7), ValueError, "order = 7: expected a whole number from 0 to 4"),
    (lambda e: e.small_angles(order=True), ValueError, "order = True")])
def test_wrong_changes_are_errors(change, error, message):
    with pytest.raises(error, match=message):
        change(da.equations(da.planar_chain(2)))
