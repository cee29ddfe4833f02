"""Closed forms of a user's own Lagrangian: printed term by term as in books, verified, and in every target."""

import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

import dalembert as da
from dalembert.closed_forms.algebra.sums import Sum, Term
from dalembert.closed_forms.quantities.system_equations import SystemEquations
from dalembert.closed_forms.quantities.verification import VerificationError


@pytest.fixture(autouse=True)
def graph():
    with da.Graph():
        yield


def lines(eom, *quantities):
    return dict(line.split(" = ", 1) for line in eom.text(*quantities).splitlines() if " = " in line)


def cart(friction=False):
    M, m, l, g = da.symbols("M m l g")

    def L(q, qd, t):
        (_, theta), (v, w) = q, qd
        bob = v + l * da.cos(theta) * w, l * da.sin(theta) * w
        return M * v * v / 2 + m * (bob[0] ** 2 + bob[1] ** 2) / 2 + m * g * l * da.cos(theta)

    d = da.symbol("d")
    return da.lagrangian_system(L, "x theta", name="cart", forces=(lambda q, qd, t: [-d * qd[0], 0]) if friction else None)


def test_pendulum_on_a_cart():
    """Landau and Lifshitz, Mechanics, section 5, problem 2: L = (m1 + m2)/2 x'^2 + m2/2 (l^2 p'^2 + 2 l x' p' cos p) + m2 g l cos p."""
    eom = da.equations(cart(friction=True))
    assert lines(eom) == {
        "M11": "M + m", "M12": "m l cos(theta)", "M22": "m l^2", "c221": "-m l sin(theta)",
        "h1": "-m l theta_dot^2 sin(theta)", "g2": "m l g sin(theta)", "Q1": "-d x_dot", "U": "-m l g cos(theta)",
        "T": "1/2 (M + m) x_dot^2 + m l x_dot theta_dot cos(theta) + 1/2 m l^2 theta_dot^2",
        "tau1": "(M + m) x_ddot + m l theta_ddot cos(theta) + d x_dot - m l theta_dot^2 sin(theta)",
        "tau2": "m l x_ddot cos(theta) + m l^2 theta_ddot + m l g sin(theta)"}
    assert lines(eom, "momenta")["p1"] == "(M + m) x_dot + m l theta_dot cos(theta)"
    assert eom.symbols == {"M": "parameter", "m": "parameter", "l": "parameter", "g": "parameter", "d": "parameter", "t": "time"}
    assert max(eom.verified.values()) < 1e-14 and set(eom.verified) >= {"christoffel", "equations_of_motion", "potential_energy"}


def test_foucault_pendulum_has_gyroscopic_terms():
    """Small oscillations in the rotating frame: x'' - 2 Omega y' + g/l x = 0, y'' + 2 Omega x' + g/l y = 0 (Landau, section 39)."""
    m, l, g, w = da.symbols("m l g Omega")
    found = lines(da.equations(da.lagrangian_system(
        lambda q, qd, t: m * (qd @ qd) / 2 + m * w * (q[0] * qd[1] - q[1] * qd[0]) - m * g / (2 * l) * (q @ q), "x y")))
    assert found == {
        "M11": "m", "M22": "m", "b1": "-m Omega y", "b2": "m Omega x", "N12": "-2 m Omega", "N21": "2 m Omega",
        "g1": "m g x/l", "g2": "m g y/l", "T": "1/2 m x_dot^2 + 1/2 m y_dot^2", "U": "m g (x^2 + y^2)/(2 l)",
        "tau1": "m x_ddot - 2 m Omega y_dot + m g x/l", "tau2": "m y_ddot + 2 m Omega x_dot + m g y/l"}


def test_spherical_pendulum():
    """Landau and Lifshitz, section 14, problem 1, with the angle from the upward vertical."""
    m, l, g = da.symbols("m l g")
    found = lines(da.equations(da.lagrangian_system(
        lambda q, qd, t: m * l * l * (qd[0] ** 2 + da.sin(q[0]) ** 2 * qd[1] ** 2) / 2 - m * g * l * da.cos(q[0]), "theta phi")))
    assert found["M22"] == "m l^2 sin(theta)^2" and found["c221"] == "-m l^2 cos(theta) sin(theta)"
    assert found["c122"] == "-c221" and "c211" not in found
    assert found["tau1"] == "m l^2 theta_ddot - m l^2 phi_dot^2 cos(theta) sin(theta) - m l g sin(theta)"
    assert found["tau2"] == "m l^2 phi_ddot sin(theta)^2 + 2 m l^2 theta_dot phi_dot cos(theta) sin(theta)"


def test_rheonomic_pendulum_on_a_support_that_moves():
    """Landau and Lifshitz, section 5, problem 3b: support at x = a cos(omega t): the force is -m l a omega^2 cos(omega t) cos(theta)."""
    m, l, g, a, w = da.symbols("m l g a omega")

    def L(q, qd, t):
        (theta,), (rate,) = q, qd
        v = l * da.cos(theta) * rate - a * w * da.sin(w * t), l * da.sin(theta) * rate
        return m * (v[0] ** 2 + v[1] ** 2) / 2 + m * g * l * da.cos(theta)

    found = lines(da.equations(da.lagrangian_system(L, "theta")))
    assert found["b1"] == "-m l a omega cos(theta) sin(omega t)" and found["r1"] == "-m l a omega^2 cos(theta) cos(omega t)"
    assert found["g1"] == "m l g sin(theta)"
    assert found["tau1"] == "m l^2 theta_ddot + m l (g sin(theta) - a omega^2 cos(theta) cos(omega t))"


def test_double_pendulum_in_absolute_angles_has_the_cosine_of_their_difference():
    """Landau and Lifshitz, section 5, problem 1."""
    m1, m2, l1, l2, g = da.symbols("m1 m2 l1 l2 g")

    def L(q, qd, t):
        u = [l1 * f(q[0]) * qd[0] for f in (da.cos, da.sin)]
        v = [x + l2 * f(q[1]) * qd[1] for x, f in zip(u, (da.cos, da.sin))]
        return (m1 * (u[0] ** 2 + u[1] ** 2) + m2 * (v[0] ** 2 + v[1] ** 2)) / 2 + (
            (m1 + m2) * g * l1 * da.cos(q[0]) + m2 * g * l2 * da.cos(q[1]))

    found = lines(da.equations(da.lagrangian_system(L, 2)))
    assert found["M12"] == "m2 l1 l2 cos(q1 - q2)" and found["c221"] == "m2 l1 l2 sin(q1 - q2)"
    assert found["h2"] == "-m2 l1 l2 q1_dot^2 sin(q1 - q2)" and found["g2"] == "m2 l2 g s2"


def test_what_is_no_polynomial_is_printed_as_it_is():
    m, k, D, a = da.symbols("m k D a")
    system = da.lagrangian_system(lambda q, qd, t: m * da.exp(-k * q[0]) * qd[0] ** 2 / 2 + m * qd[0] * qd[1] / da.sqrt(1 + q[1] ** 2)
                                  + m * qd[1] ** 2 - D * (1 - da.exp(-a * q[0])) ** 2 - da.where(q[1] > 0, q[1], -q[1] * k), "u v")
    eom = da.equations(system)
    found = lines(eom)
    assert found["M11"] == "m exp(-k u)" and found["M12"] == "m/sqrt(1 + v^2)" and found["c111"] == "-1/2 m k exp(-k u)"
    assert found["U"] == "D - 2 D exp(-a u) + D exp(-a u)^2 + where(0 < v, v, -k v)"
    q, qd = np.array([0.3, -0.4]), np.array([1.1, 0.7])
    values = {"m": 1.3, "k": 0.7, "D": 2.0, "a": 0.9}
    point = values | dict(zip((*eom.coordinates, *eom.velocities), (*q, *qd)))
    numeric = system.replace(values)
    assert np.allclose(da.evaluate(eom.mass_matrix, point), numeric.mass_matrix(q), rtol=1e-14)
    assert np.allclose(da.evaluate(eom.entries("bias_force"), point), numeric.bias_force(q, qd), rtol=1e-13)
    assert np.allclose(da.evaluate(eom.christoffel, point), numeric.christoffel_symbols(q), rtol=1e-13)


def test_a_lagrangian_that_is_not_quadratic_has_no_christoffel_symbols():
    m, c, k = da.symbols("m c k")
    eom = da.equations(da.lagrangian_system(lambda q, qd, t: -m * c**2 * da.sqrt(1 - qd[0] ** 2 / c**2) - k * q[0] ** 2 / 2, "x"))
    found = lines(eom)
    assert found["p1"] == "m x_dot/sqrt(1 - x_dot^2/c^2)" and found["h1"] == "k x"
    with pytest.raises(da.DalembertError, match="not quadratic in qd"):
        _ = eom.christoffel


def test_every_target_has_the_equations(tmp_path):
    eom = da.equations(cart())
    assert r"\boldsymbol{M} = \begin{pmatrix} M + m & m \, l \, \cos \theta \\ m" in eom.latex("mass_matrix")
    assert r"\ddot{\theta}" in eom.latex("equations_of_motion") and r"\tau_{2}" in eom.latex("equations_of_motion")
    for line in eom.mathml().splitlines():
        ElementTree.fromstring(line)
    for ending in ("html", "tex", "md", "txt", "py"):
        assert eom.write(tmp_path / f"cart.{ending}").stat().st_size > 200
    page = (tmp_path / "cart.html").read_text(encoding="utf-8")
    assert "<mi>𝒉</mi>" in page and "<mi>𝑵</mi>" not in page          # the law shows only what there is
    code = {}
    exec(eom.python("mass_matrix", "bias_force"), code)
    values = dict(M=2.0, m=0.5, l=0.7, g=9.81)
    numeric = cart().replace(values)
    q, qd = [0.1, 0.6], [0.3, -1.2]
    assert np.allclose(code["mass_matrix"](q, M=2.0, m=0.5, l=0.7), numeric.mass_matrix(q), rtol=1e-14)
    assert np.allclose(code["bias_force"](q, qd, m=0.5, l=0.7, g=9.81), numeric.bias_force(q, qd), rtol=1e-14)


def test_sympy_derives_the_same_equations():
    sympy = pytest.importorskip("sympy")
    mechanics = pytest.importorskip("sympy.physics.mechanics")
    found = da.equations(cart()).to_sympy("equations_of_motion")
    x, p = mechanics.dynamicsymbols("x theta")
    M, m, l, g, t = *sympy.symbols("M m l g", real=True), mechanics.dynamicsymbols._t
    L = (M + m) * x.diff(t) ** 2 / 2 + m * (l * l * p.diff(t) ** 2 + 2 * l * x.diff(t) * p.diff(t) * sympy.cos(p)) / 2 + (
        m * g * l * sympy.cos(p))
    theirs = mechanics.LagrangesMethod(L, [x, p]).form_lagranges_equations()
    named = {x.diff(t, 2): "x_ddot", p.diff(t, 2): "theta_ddot", x.diff(t): "x_dot", p.diff(t): "theta_dot", x: "x", p: "theta"}
    theirs = theirs.subs({old: sympy.Symbol(new, real=True) for old, new in named.items()})
    assert sympy.simplify(theirs - found) == sympy.zeros(2, 1)


def test_names_of_any_script_survive():
    m = da.symbol("масса %")
    eom = da.equations(da.lagrangian_system(lambda q, qd, t: m * qd[0] ** 2 / 2 - da.cos(q[0]), ["угол_1"]))
    assert r"\ddot{\text{угол\_1}}" in eom.latex("equations_of_motion") and r"\text{'масса \%'}" in eom.latex()
    assert ElementTree.fromstring(eom.mathml("kinetic_energy")) is not None


def test_long_forms_are_factored():
    """A budget of one term: everything in named parts, still equal to the compiled functions."""
    eom = da.equations(cart(), budget=1)
    assert "terms" in eom.why_factored and "factored form" in eom.text("equations_of_motion")
    assert max(eom.verified.values()) < 1e-12


@pytest.mark.parametrize("quantity", ["mass_matrix", "gyroscopic_matrix", "time_terms", "gravity_vector", "equations_of_motion"])
def test_a_wrong_term_is_refused(quantity, monkeypatch):
    right = SystemEquations._made

    def wrong(eom, name):
        sheet = right(eom, name)
        if name == quantity:
            entry = next(at for at in np.ndindex(sheet.forms.shape) if sheet.forms[at].terms)
            first, *rest = sheet.forms[entry].terms
            sheet.forms[entry] = Sum((Term(first.number * 1.000001, first.factors), *rest))
        return sheet

    monkeypatch.setattr(SystemEquations, "_made", wrong)
    w = da.symbol("w")
    system = da.lagrangian_system(lambda q, qd, t: (qd @ qd) / 2 + w * t * (q[0] * qd[1] - q[1] * qd[0]) + q[0] * da.cos(w * t), "x y")
    with pytest.raises(VerificationError, match=re.escape(f"{quantity}[")):
        da.equations(system).text(quantity)


def test_quantities_with_one_letter_are_told_apart():
    """Coriolis and bias forces are both h: with everything in named parts, neither is written by the other's names."""
    eom = da.equations(cart(friction=True), budget=0)
    for quantity in eom.titles:
        assert eom.text(quantity) and eom.python(quantity)
    assert max(eom.verified.values()) < 1e-12 and "mass matrix has 4 terms" in eom.text("mass_matrix")


def test_options_of_mechanisms_are_refused():
    with pytest.raises(TypeError, match="its symbols are its parameters"):
        da.equations(cart(), "all")


def test_output_does_not_depend_on_the_hash_seed(tmp_path):
    code = ("import dalembert as da\nm, l, g, w = da.symbols('m l g w')\n"
            "s = da.lagrangian_system(lambda q, qd, t: m * (l * l * qd[0]**2 + qd[1]**2 + 2 * l * da.cos(q[0] - q[1]) * qd[0] * qd[1])"
            " / 2 + m * g * l * da.cos(q[0]) * da.exp(-q[1] * w) * da.sin(w * t), 2)\nprint(da.equations(s).text())")
    texts = {subprocess.run([sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PATH": ""}, capture_output=True, text=True,
                            check=True, timeout=120).stdout for seed in ("0", "17")}
    assert len(texts) == 1 and "cos(q1 - q2)" in texts.pop()
