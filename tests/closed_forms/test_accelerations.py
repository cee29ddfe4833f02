"""Accelerations in closed form: beside textbooks, compiled and plain functions, and refusals."""

import re

import numpy as np
import pytest

import dalembert as da


def cart():
    M, m, l, g = da.symbols("M m l g")

    def L(q, qd, t):
        (_, theta), (v, w) = q, qd
        return (M + m) * v**2 / 2 + m * l * v * w * da.cos(theta) + m * l**2 * w**2 / 2 - m * g * l * da.cos(theta)

    return da.lagrangian_system(L, "x theta")


def lines(eom):
    return dict(line.split(" = ", 1) for line in eom.text("accelerations").splitlines()[1:])


def test_cart_with_a_pendulum():
    """Tedrake, Underactuated Robotics, 3.2.1, with the angle from the upright position: the determinant over m l^2 is
    M + m sin^2."""
    with da.Graph():
        found = lines(da.equations(cart()))
        assert found["Delta"] == "M + m sin(theta)^2"
        assert found["x_ddot"] == (
            "(m l^2 theta_dot^2 sin(theta) + l tau1 - tau2 cos(theta) - m l g cos(theta) sin(theta))/(l Delta)")
        assert found["theta_ddot"].endswith("/(m l^2 Delta)")


def test_one_freedom_needs_no_determinant():
    assert lines(da.equations(da.planar_chain(1))) == {"qdd1": "(tau1 - MX1 g c1)/YY1"}


def test_freedoms_that_do_not_act_on_each_other_are_solved_apart():
    m, g = da.symbols("m g")
    bodies = [da.Body("base"), da.Body("x", m, (0, 0, 0), (0,) * 6), da.Body("y", m, (0, 0, 0), (0,) * 6)]
    joints = [da.Joint("x", da.Prismatic((1, 0, 0)), "base", "x"), da.Joint("y", da.Prismatic((0, 0, 1)), "x", "y")]
    eom = da.equations(da.Mechanism("plotter", bodies, joints, gravity=(0, 0, -g)))
    assert lines(eom) == {"qdd1": "tau1/(2 m)", "qdd2": "-(m g - tau2)/m"}


@pytest.mark.parametrize("mechanism", [
    da.planar_chain(2), da.planar_chain(3), da.planar_chain(2).replace({"q1.viscous": 0.3, "q2.stiffness": 2, "q2.coulomb": 0.1}),
    da.random_tree(4, 2, joints=["revolute", "prismatic"]), da.random_tree(5, 1, joints=["spherical"])],
    ids=lambda m: m.name)
def test_accelerations_are_those_of_forward_dynamics(mechanism):
    """By the printed Python, at a state that verification does not use."""
    code = {}
    exec(da.equations(mechanism).python("accelerations"), code)
    q, qd = mechanism.random_state(77)
    tau = np.linspace(0.3, -0.8, mechanism.nv)
    given = {"q": q.tolist(), "qd": qd.tolist(), "tau": tau.tolist()}
    names = code["accelerations"].__code__.co_varnames[:code["accelerations"].__code__.co_argcount]
    found = code["accelerations"](*(given[name] for name in names))
    assert found == pytest.approx(da.forward_dynamics(mechanism, q, qd, tau), rel=1e-11)


def test_long_numerators_are_in_terms_of_entries():
    eom = da.equations(da.planar_chain(3))
    assert lines(eom)["Delta"] == "M11 M22 M33 - M11 M23^2 + 2 M12 M13 M23 - M12^2 M33 - M13^2 M22"
    assert lines(eom)["qdd1"].startswith("((M22 M33 - M23^2) (tau1 - h1 - g1) - ")
    assert "M_ij: entries of the mass matrix" in eom.text("accelerations")
    assert not {s.name for x in eom.entries("accelerations") for s in da.free_symbols(x)} - {
        *eom.symbols, *eom.coordinates, *eom.velocities, *eom.forces}


def test_four_freedoms_are_refused():
    with pytest.raises(da.DalembertError, match="Accelerations in closed form are for one to 3 freedoms; here are 4"):
        da.equations(da.planar_chain(4)).text("accelerations")


def test_forces_have_names_that_are_free():
    tau = da.symbol("tau1")
    eom = da.equations(da.planar_chain(1, mass=tau))
    assert eom.forces == ("tau_1",) and eom.verified.get("accelerations", 0) == 0
    assert re.search(r"def accelerations\(q, tau, \*, tau1", eom.python("accelerations"))


def test_every_format_has_accelerations(tmp_path):
    with da.Graph():
        eom = da.equations(cart())
        latex = eom.latex("accelerations")
        assert r"\ddot{\theta} &= " in latex and r"\Delta &= M + m \, \sin^{2}" in latex and r"\frac{(" not in latex
        assert eom.mathml("accelerations").count("<math") == 3
        assert eom.to_sympy("accelerations").shape == (2, 1)
        eom.write(tmp_path / "cart.html", "accelerations")
