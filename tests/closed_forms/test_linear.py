"""Linear equations about an equilibrium: beside textbooks and `da.linearize`, and what is no equilibrium."""

import copy
import math

import numpy as np
import pytest

import dalembert as da

from .test_accelerations import cart


def lines(linear, quantity):
    return dict(line.split(" = ", 1) for line in linear.text(quantity).splitlines()[1:] if " = " in line)


def test_cart_with_a_pendulum_upright():
    """Tedrake, Underactuated Robotics, 3.5.1: x'' = -m g theta / M, theta'' = (M + m) g theta / (M l) with no force."""
    with da.Graph():
        linear = da.equations(cart()).linearize([0, 0])
        assert lines(linear, "stiffness_matrix") == {"K22": "-m l g"}
        assert lines(linear, "state_matrix") == {"A13": "1", "A24": "1", "A32": "-m g/M", "A42": "g (M + m)/(l M)"}
        assert lines(linear, "input_matrix")["B31"] == "1/M" and not linear.sheet("damping_matrix").lines
        assert linear.shown == ("mass_matrix", "stiffness_matrix", "state_matrix", "input_matrix")


def test_double_pendulum_that_hangs():
    """Two equal point masses, Landau and Lifshitz, Mechanics, section 23, problem 2, in relative angles."""
    m, l, g = da.symbols("m l g")
    eom = da.equations(da.planar_chain(2, mass=m, length=l, gravity=(0, 0, -g)))
    linear = eom.linearize([-math.pi / 2, 0])
    K = lines(linear, "stiffness_matrix")
    assert K["K12"] == K["K21"] == K["K22"] and "sqrt" not in linear.text() and "cos" not in linear.text()
    values = {"m": 1.2, "l": 0.7, "g": 9.81}
    M, K = (da.evaluate(linear.entries(name), values) for name in ("mass_matrix", "stiffness_matrix"))
    rods = da.planar_chain(2, mass=1.2, length=0.7, gravity=(0, 0, -9.81))
    A, B = da.linearize(rods, [-math.pi / 2, 0], [0, 0], [0, 0])
    assert np.allclose(-np.linalg.solve(M, K), A[2:, :2], atol=1e-12) and np.allclose(np.linalg.inv(M), B[2:], atol=1e-12)


@pytest.mark.parametrize("mechanism", [
    da.planar_chain(2).replace({"q1.viscous": 0.3, "q2.stiffness": 2, "q2.rest": 0.2}),
    da.random_tree(4, 3, joints=["revolute", "prismatic"]), da.planar_chain(4)], ids=["springs", "tree", "four"])
def test_matrices_are_those_of_linearize(mechanism):
    """By the printed Python, at a posture held by forces."""
    n = mechanism.nv
    q = np.round(np.linspace(0.3, -0.7, n), 3)
    linear = da.equations(mechanism).linearize(q, "hold")
    code = {}
    exec(linear.python("mass_matrix", "stiffness_matrix", "damping_matrix", "equilibrium_forces"), code)
    M, K, D, tau = (np.array(code[name](list(q)), dtype=float) for name in (
        "mass_matrix", "stiffness_matrix", "damping_matrix", "equilibrium_forces"))
    assert np.allclose(tau, da.inverse_dynamics(mechanism, q, [0] * n, [0] * n), atol=1e-11)
    A, _ = da.linearize(mechanism, q, [0] * n, tau)
    assert np.allclose(-np.linalg.solve(M, np.hstack([K, D])), A[n:], atol=1e-9)
    if n <= 3:
        assert np.allclose(np.array([[float(x) for x in row] for row in da.evaluate(
            linear.entries("state_matrix"), linear.values)]), A, atol=1e-9)


def test_coordinates_that_are_not_given_stay_symbols():
    eom = da.equations(da.planar_chain(2))
    linear = eom.linearize({"q2": 0}, "hold")
    assert lines(linear, "stiffness_matrix")["K22"] == "-MX2 g s1"
    assert lines(linear, "equilibrium_forces") == {"tau1": "g (MX1 + MX2) c1", "tau2": "MX2 g c1"}


def test_multiples_of_pi_are_exact():
    eom = da.equations(da.planar_chain(2))
    assert lines(eom.linearize([math.pi / 2, -math.pi / 3], "hold"), "mass_matrix")["M12"] == "1/2 MX2 + YY2"
    assert lines(eom.linearize([math.pi / 4, 0], "hold"), "equilibrium_forces")["tau2"] == "1/2 MX2 g sqrt(2)"
    near = eom.linearize([math.pi / 2 + 1e-4, 0.1], "hold")
    assert "cos" not in near.text() and near.entries("mass_matrix")[0, 0] is not None


@pytest.mark.parametrize("q, tau, needed", [([0, 0], None, r"joint force 1 has to be .*MX1.*, not 0"),
                                            ([0, math.pi / 2], [7, 0], "joint force 1 has to be"),
                                            (None, None, "tau='hold'")])
def test_what_is_no_equilibrium_is_an_error_that_says_which_forces_it_takes(q, tau, needed):
    eom = da.equations(da.planar_chain(2))
    with pytest.raises(da.DalembertError, match=needed):
        eom.linearize(q, tau)


def test_forces_that_hold_are_accepted():
    eom = da.equations(da.planar_chain(1))
    eom.linearize([0.4], da.gravity_vector(da.planar_chain(1), [0.4]))
    eom.linearize(None, eom.gravity_vector)
    eom.linearize([-math.pi / 2])


def test_wrong_arguments_are_refused():
    eom = da.equations(da.planar_chain(2))
    with pytest.raises(da.ShapeError, match="q has 3 values, expected 2: q1, q2"):
        eom.linearize([0, 0, 0])
    with pytest.raises(da.ShapeError, match="tau has 1 values, expected 2"):
        eom.linearize([0, 0], [1])
    with pytest.raises(da.UnknownNameError, match="q9"):
        eom.linearize({"q9": 0})
    with pytest.raises(TypeError, match="expected a number or an expression"):
        eom.linearize(["pi", 0])
    with pytest.raises(da.DalembertError, match="one to 3 freedoms; here are 4"):
        da.equations(da.planar_chain(4)).linearize(None, "hold").text("state_matrix")
    with pytest.raises(da.DalembertError, match="quasi-velocities"):
        da.equations(da.random_tree(5, 1, joints=["spherical"])).linearize()


def test_a_lagrangian_of_time_has_no_equilibrium():
    with da.Graph():
        eom = da.equations(da.lagrangian_system(lambda q, qd, t: qd[0]**2 / 2 - q[0]**2 * da.cos(t), "x"))
        with pytest.raises(da.DalembertError, match="stiffness_matrix depend on time"):
            eom.linearize([0])


def test_gyroscopic_terms_and_forces_of_a_lagrangian_are_in_the_damping_matrix():
    """A mass on a turning table, Coriolis forces 2 m w, held by springs k: D is skew."""
    with da.Graph():
        m, w, k, d = da.symbols("m w k d")

        def L(q, qd, t):
            (x, y), (u, v) = q, qd
            return m * ((u - w * y)**2 + (v + w * x)**2) / 2 - k * (x**2 + y**2) / 2

        system = da.lagrangian_system(L, "x y", forces=lambda q, qd, t: [-d * qd[0], 0])
        linear = da.equations(system).linearize([0, 0])
        assert lines(linear, "damping_matrix") == {"D11": "d", "D12": "-2 m w", "D21": "2 m w"}
        assert lines(linear, "stiffness_matrix") == {"K11": "k - m w^2", "K22": "k - m w^2"}


def test_every_format_and_pickles(tmp_path):
    eom = da.equations(da.planar_chain(2))
    linear = eom.linearize([-math.pi / 2, 0])
    assert r"K = \begin{pmatrix}" in linear.latex("stiffness_matrix")
    assert linear.mathml("stiffness_matrix") and linear.to_sympy("stiffness_matrix").shape == (2, 2)
    assert copy.deepcopy(linear).text() == linear.text()
    for ending in ("html", "tex", "md", "txt"):
        assert "K" in linear.write(tmp_path / f"x.{ending}").read_text(encoding="utf-8")
