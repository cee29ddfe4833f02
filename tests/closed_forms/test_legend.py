"""The legend explains every name; names of velocities are those of what they are; equations of motion are whole."""

import re

import numpy as np
import pytest

import dalembert as da
from dalembert.closed_forms.printing.naming import latex_symbol

from . import robots

UNITS = {"", "rad", "m", "rad/s", "m/s", "rad/s²", "m/s²", "kg", "kg m", "kg m²", "m/rad", "N m/rad", "N/m"}


def drone():
    """A free body that carries an arm."""
    bodies = (da.Body("world"), da.Body("hull", 2, (0, 0, 0.1), (1, 0, 0, 2, 0, 3)), da.Body("arm", 1, (0.5, 0, 0), (1, 0, 0, 1, 0, 1)))
    return da.Mechanism("drone", bodies, (da.Joint("float", da.Free(), "world", "hull"), da.Joint(
        "hinge", da.Revolute((0, 0, 1)), "hull", "arm", da.Origin((0.3, 0, 0)))))


def top():
    return da.Mechanism("top", (da.Body("world"), da.Body("b", 1, (0, 0, 0.5), (1, 0, 0, 2, 0, 3))),
                        (da.Joint("ball", da.Spherical(), "world", "b"),))


def sprung():
    """A cart on a spring with friction, and a pendulum with a follower."""
    bodies = (da.Body("w"), da.Body("b", 2), da.Body("c", 1, (0.2, 0, 0)), da.Body("d", 1, (0.1, 0, 0.1)))
    return da.Mechanism("sprung", bodies, (
        da.Joint("x", da.Prismatic((1, 0, 0)), "w", "b", stiffness=40, rest=0.25, viscous=3, coulomb=0.5),
        da.Joint("th", da.Revolute((0, 1, 0)), "b", "c", viscous=0.1, stiffness=2),
        da.Joint("copy", da.Revolute((0, 1, 0)), "c", "d", da.Origin((0.5, 0, 0)), mimic=da.Mimic("th", -2, 0), viscous=0.3)))


def planar_with_symbols():
    m, l, g = da.symbols("m l g")
    return da.planar_chain(2, mass=m, length=l, gravity=(0, 0, -g))


MODELS = {"drone": drone, "top": top, "sprung": sprung, "planar": planar_with_symbols, "scara": lambda: robots.dense("scara"),
          "panda": lambda: robots.dense("panda"), "3R": lambda: robots.planar(3)}


@pytest.mark.parametrize("model", [pytest.param(m, marks=pytest.mark.slow) if m == "panda" else m for m in MODELS])
def test_every_name_that_is_printed_is_explained(model):
    with da.Graph():
        eom = da.equations(MODELS[model](), "all")
        text = eom.text(*eom.shown)
        lines = [x for x in text.splitlines() if " = " in x]
        defined = {x.partition(" = ")[0] for x in lines}
        rows = [re.split(r"  +", line) for line in eom.legend().splitlines()[1:]]
        legend = {row[0] for row in rows if " = " not in row[0]}
        angles = {x[0] + r"\d+" for x in eom.legend().splitlines() if re.match(r"[cs][\d_.]+ = ", x)}
        for name in {n for x in lines for n in re.findall(r"[^\W\d][\w.]*", x.partition(" = ")[2])} - {"cos", "sin", "sign", "sqrt"}:
            assert name in legend | defined or any(re.fullmatch(a, name) for a in angles), (name, legend)
        assert {*eom.velocities} <= legend and all(row[2] in UNITS for row in rows if len(row) > 3)


def test_velocities_of_a_free_body_are_no_rates_of_its_coordinates():
    eom = da.equations(drone())
    assert eom.velocities == ("wx1", "wy1", "wz1", "vx1", "vy1", "vz1", "qd8") and eom.coordinates[-1] == "q8"
    latex = eom.latex("kinetic_energy", "equations_of_motion")
    assert r"\omega_{x1}" in latex and "v_{z1}" in latex and r"\dot{\omega}_{y1}" in latex and r"\dot{v}_{x1}" in latex
    assert {*re.findall(r"\\d?dot\{q\}_\{\d\}", latex)} == {r"\dot{q}_{8}", r"\ddot{q}_{8}"}
    assert "velocity float.angular x" in eom.legend() and "velocity hinge, rate of q8" in eom.legend()
    with da.Graph():
        m = top().replace({"b.mass": da.symbol("wx1"), "b.com[2]": da.symbol("omega_x1")})
        other = da.equations(m)
        assert "wx1" not in other.velocities and len({*other.names("latex").values()}) == len(other.names("latex"))


def test_gravity_is_explained_with_its_sign():
    with da.Graph():
        m, g = da.symbols("m g")
        eom = da.equations(da.from_motions("Rz(q1)", inertia=[(m, (1, 0, 0), (0, 0, m * g, 0, 0, 0))], gravity=(0, -g, 0)))
        assert eom.symbols["g"] == "-gravity[1]" and eom.symbols["m"].endswith(".mass")
        l = da.symbol("l")
        eom = da.equations(da.from_motions("Rz(q1)", inertia=[(2, (l / 2, 0, 0), (0,) * 6)], gravity=(0, -1, 0)))
        assert re.fullmatch(r"in \S+\.com\[0\] = l/2", eom.symbols["l"])


def test_remarks_are_formulas_in_documents(tmp_path):
    eom = da.equations(robots.dense("puma"))
    page = eom.write(tmp_path / "x.html", "kinetic_energy").read_text(encoding="utf-8")
    assert "_ij" not in page and "entries of the mass matrix" in page and "<mrow><mi>i</mi><mi>j</mi></mrow>" in page
    assert "$M_{ij}$: entries of the mass matrix" in eom.write(tmp_path / "x.tex", "kinetic_energy").read_text(encoding="utf-8")
    assert "(M_ij: entries of the mass matrix)" in eom.text("kinetic_energy")


def test_symbols_of_base_parameters_are_explained():
    eom = da.equations(da.planar_chain(2), "all")
    for p in eom.base_parameters:
        assert {s.name for s in da.free_symbols(p.grouping)} <= {*eom.symbols}
        assert da.evaluate(p.grouping, eom.values) == pytest.approx(p.value, rel=1e-14, abs=1e-14) == eom.values[p.name]
    assert eom.symbols["mx2"] == "link2: m cx about the joint frame's origin" and eom.values["m2"] == 1


def test_base_parameters_that_are_zero_are_not_printed(tmp_path):
    eom = da.equations(da.planar_chain(2), "all")
    page = eom.write(tmp_path / "x.txt", "mass_matrix").read_text(encoding="utf-8")
    assert "zero here: MZ1, MZ2" in page and "MZ1 = " not in page and "mz1" not in page and "MX1 = mx1 + m2 px2" in page
    assert [p.name for p in eom.base_parameters] == ["YY1", "MX1", "MZ1", "YY2", "MX2", "MZ2"]


@pytest.mark.parametrize("model, symbols", [
    *((model, symbols) for model in ("drone", "top", "sprung") for symbols in ("all", "gravity")),
    ("panda", "all"), pytest.param("panda", "gravity", marks=pytest.mark.slow)])
def test_equations_of_motion_are_those_of_inverse_dynamics(model, symbols):
    m = MODELS[model]()
    eom = da.equations(m, symbols)
    q, qd = m.random_state(3)
    qdd = np.linspace(-1, 1, m.nv)
    point = dict(zip((*eom.coordinates, *eom.velocities, *eom.accelerations), (*q, *qd, *qdd))) | eom.values
    tau = da.inverse_dynamics(m, q, qd, qdd)
    assert np.allclose(da.evaluate(eom.entries("equations_of_motion"), point), tau, rtol=1e-11, atol=1e-11 * np.abs(tau).max())
    assert np.allclose(da.evaluate(eom.entries("passive_force"), point), da.passive_force(m, q, qd), rtol=1e-13, atol=1e-14)
    assert ("passive_force" in eom.shown) == (model == "sprung")


def test_equations_of_motion_by_hand():
    with da.Graph():
        m, l, g, k, d = da.symbols("m l g k d")
        hinge = da.Joint("hinge", da.Revolute((0, 1, 0)), "wall", "bob", stiffness=k, viscous=d)
        pendulum = da.Mechanism("pendulum", (da.Body("wall"), da.Body("bob", m, (0, 0, -l))), (hinge,), (), (0, 0, -g))
        eom = da.equations(pendulum)
        assert eom.text("equations_of_motion").splitlines()[1] == "tau1 = m l^2 qdd1 + m l g s1 + d qd1 + k q1"
        assert eom.latex("equations_of_motion") == (
            "% Equations of motion\n\\[ \\tau_{1} = m \\, l^{2} \\, \\ddot{q}_{1} + m \\, l \\, g \\, s_{1} + d \\, \\dot{q}_{1} + k \\, q_{1} \\]\n")
        assert latex_symbol(eom.printed_names.whole(r"\tau")) == r"\boldsymbol{\tau}"            # g is a symbol
