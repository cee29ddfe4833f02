"""Expressions, placements and Jacobians print as matrices do."""

import operator
import re

import numpy as np
import pytest

import dalembert as da

from . import robots
from .test_names import value


@pytest.fixture
def symbols():
    with da.Graph():
        yield da.symbols("q1 q2 l1 l2 m q12 theta1 theta2")


def test_expressions_print_as_in_a_textbook(symbols):
    q1, q2, l1, l2, m, q12, a, b = symbols
    for x, text, latex in [
            (l1 * da.cos(q1) + l2 * da.cos(q1 + q2), "l1 c1 + l2 c12", r"l_{1} \, c_{1} + l_{2} \, c_{12}"),
            (da.cos(q1) * da.cos(q2) - da.sin(q1) * da.sin(q2), "c12", "c_{12}"),
            (da.cos(q12), "cos(q12)", r"\cos q_{12}"), (m**2 / l1, "m^2/l1", r"\frac{m^{2}}{l_{1}}"), (m / 2, "1/2 m", r"\tfrac{1}{2} \, m"),
            (da.sqrt(m) + da.exp(-l1), "exp(-l1) + sqrt(m)", r"\exp(-l_{1}) + \sqrt{m}"),
            (da.absolute(l1), "abs(l1)", r"\lvert l_{1} \rvert"), (1e-7 * m, "1e-7 m", r"1 \cdot 10^{-7} \, m"), (3, "3", "3"), (-m, "-m", "-m"),
            (da.where(l1 < 0, m, l2), "where(l1 < 0, m, l2)", r"\begin{cases} m & l_{1} < 0 \\ l_{2} & \text{otherwise} \end{cases}"),
            (da.cos(a + b), "cos(theta1 + theta2)", r"\cos(\theta_{1} + \theta_{2})"), (m - m, "0", "0")]:
        assert (da.text(x), da.latex(x)) == (text, latex)
    assert da.text(da.cos(a + b), "theta1 theta2") == da.text(da.cos(a + b), [a, b]) == "c12"
    assert da.text(q1 * 0.123456789, digits=3) == "0.123 q1"


def test_powers_and_quotients_have_the_parentheses_that_they_need(symbols):
    q1, q2, l1, l2, m, *_ , a, b = symbols
    inner = da.power(l1, l2)
    for x, text, latex in [(l1 / (m + l2) / 2, "l1/(2 (l2 + m))", r"\frac{l_{1}}{2 \, (l_{2} + m)}"),
                           (da.power(inner, m), "(l1^l2)^m", r"(l_{1}^{l_{2}})^{m}"), (inner * inner, "(l1^l2)^2", r"(l_{1}^{l_{2}})^{2}"),
                           (da.power(da.cos(a), m), "(cos(theta1))^m", r"(\cos \theta_{1})^{m}")]:
        assert (da.text(x), da.latex(x)) == (text, latex)
    system = da.lagrangian_system(lambda q, qd, t: qd[0]**2 * inner * inner / 2 - m * q[0], "x")
    code = {}
    exec(da.equations(system).python("mass_matrix"), code)
    assert code["mass_matrix"]([0.1], l1=1.5, l2=2.5)[0][0] == pytest.approx(1.5**5, rel=1e-14)


def test_matrices_are_laid_out(symbols):
    q1, q2, *_ = symbols

    def R(q):
        return np.array([[da.cos(q), -da.sin(q), 0], [da.sin(q), da.cos(q), 0], [0, 0, 1]], dtype=object)

    assert da.text(R(q1) @ R(q2)) == "[ c12  -s12  0 ]\n[ s12  c12   0 ]\n[ 0    0     1 ]"
    assert da.latex(R(q1) @ R(q2)) == r"\begin{pmatrix} c_{12} & -s_{12} & 0 \\ s_{12} & c_{12} & 0 \\ 0 & 0 & 1 \end{pmatrix}"
    assert da.latex([q1, 2]) == r"\begin{pmatrix} q_{1} \\ 2 \end{pmatrix}" and da.text([]) == "[ ]"
    wide = da.text(np.array([[q1 * 10**30, 0], [0, q2 * 10**31]]) + 10**70)
    assert wide.startswith("[1,1] = ") and wide.count("\n") == 3
    with pytest.raises(da.ShapeError, match="an expression with 3 axes cannot be printed"):
        da.text(np.full((1, 1, 1), q1, dtype=object))


def test_long_expressions_have_named_parts(symbols):
    q1, _, l1, l2, m, *_ = symbols
    x = sum((da.cos(k * q1 + l1) + m + l2 * k)**4 * (l2 + k)**3 for k in range(1, 9))
    text, latex = da.text(x), da.latex(x)
    assert text.startswith("p1 = ") and r"\begin{aligned}" in latex and len(text) < 2000
    point = {"q1": 0.3, "l1": 0.4, "l2": 0.7, "m": 1.1}
    for line in text.splitlines():
        name, _, right = line.rpartition(" = ")
        point[name or "whole"] = value(right, point)
    assert point["whole"] == pytest.approx(float(da.evaluate(x, point)), rel=1e-12)


def test_text_of_random_expressions_reads_back(symbols):
    q1, q2, l1, l2, m, *_ = symbols
    rng = np.random.default_rng(1)
    point = {"q1": 0.3, "q2": -0.8, "l1": 0.4, "l2": 0.7, "m": 1.1}
    read = point | {f"{kind}{k}": f(x) for kind, f in (("c", np.cos), ("s", np.sin)) for k, x in (("1", 0.3), ("2", -0.8), ("12", -0.5))}
    leaves = [q1, q2, l1, l2, m, da.cos(q1), da.sin(q2), da.cos(q1 + q2), da.sin(q1 - 2 * q2), 2, 0.35, da.sqrt(m), da.sqrt(l1 + l2)]
    for _ in range(60):
        x = leaves[rng.integers(len(leaves))]
        for _ in range(rng.integers(1, 9)):
            y = leaves[rng.integers(len(leaves))]
            x = (operator.add, operator.sub, operator.mul, lambda x, y: x / (y + 3))[rng.integers(4)](x, y)
        text = da.text(x, digits=15)
        right = float(da.evaluate(x, point)) if isinstance(x, da.Expr) else x
        assert value(text, read) == pytest.approx(right, rel=1e-9, abs=1e-9), text


# --- placements and Jacobians ---

def test_placement_of_a_planar_arm_by_hand():
    with da.Graph():
        l = da.symbol("l")
        eom = da.equations(da.planar_chain(2, length=l))
        assert eom.text("placement:tip").splitlines() == [
            "Placement of tip", "T_tip =", "[ c12  0  -s12  l c1 + l c12 ]", "[ 0    1  0     0            ]",
            "[ s12  0  c12   l s1 + l s12 ]", "[ 0    0  0     1            ]"] or "l (c1 + c12)" in eom.text("placement:tip")
        latex = eom.latex("jacobian:tip")
        assert r"J^{\text{tip}} = \begin{pmatrix} 0 & 0 \\ -1 & -1" in latex and "s_{12}" in latex and not re.search(r"s_\{1\}[^&+]*c_\{2\}", latex)


@pytest.mark.parametrize("name", ["puma", "scara", "panda"])
def test_placements_and_jacobians_are_the_compiled_ones(name):
    m = robots.dense(name)
    eom, frame = da.equations(m), m.frame_names[-1]
    q, _ = m.random_state(4)
    point = dict(zip(eom.coordinates, q)) | eom.values
    for quantity, right in ((f"placement:{frame}", da.placement(m, q, frame)), (f"jacobian:{frame}", da.jacobian(m, q, frame)),
                            (f"jacobian:{frame}:local", da.jacobian(m, q, frame, "local"))):
        assert np.abs(da.evaluate(eom.entries(quantity), point) - right).max() < 1e-13
        assert eom.verified.keys() >= {"mass_matrix"} & {*eom.verified} and eom.sheet(quantity).quantity == quantity
    code = {}
    exec(eom.python(f"jacobian:{frame}"), code)
    assert np.abs(np.array(code[f"jacobian_{frame}"](q)) - da.jacobian(m, q, frame)).max() < 1e-13
    if name == "puma":
        text = eom.text(f"placement:{frame}")
        assert f"T_{frame}[3,3] = c23 c5 - s23 c4 s5\n" in text                            # Craig, Introduction to Robotics, (3.14)


def test_frames_that_do_not_exist_are_errors_that_list_those_that_do(capsys):
    eom = da.equations(robots.planar(2))
    for quantity, message in [("placement:tol", "unknown frame 'tol' .known: base, link1, link2"), ("jacobian:link2:loca", "Did you mean 'local'"),
                              ("placement", "unknown quantity 'placement' .known: placement:base")]:
        with pytest.raises(da.UnknownNameError, match=message):
            eom.text(quantity)


def test_names_of_frames_are_told_apart(tmp_path):
    with da.Graph():
        m = robots.planar(2)
        m = da.Mechanism("m", m.bodies, m.joints, (da.Frame("my tool", "link2", da.Origin((1, 0, 0))), da.Frame("a:b", "link2", da.Origin((2, 0, 0)))),
                         m.gravity)
        eom = da.equations(m)
        text = eom.text("placement:my tool", "placement:a:b", "jacobian:a:b:world")
        assert "T_'my tool' =" in text and "T_'a:b' =" in text and "Jacobian of a:b, angular rows first, in world axes" in text
        assert r"T^{\text{my tool}}" in eom.latex("placement:my tool").replace(r"\boldsymbol{T}", "T")
        page = eom.write(tmp_path / "x.html", "placement:a:b").read_text(encoding="utf-8")
        assert "<mtext>a:b</mtext>" in page and '<section id="placement:a:b">' in page
