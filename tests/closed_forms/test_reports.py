"""The derivation report follows the chosen formulation, and nothing in it is shown that its functions do not confirm."""

import re

import numpy as np
import pytest

import dalembert as da
from dalembert.closed_forms.quantities.verification import VerificationError
from dalembert.formulations import elementary_motions, hamilton, lagrange, newton_euler

from . import robots

FORMULATIONS = ("newton_euler", "lagrange", "elementary_motions", "hamilton")
SYMBOLS = ["*.mass", "*.com[0]", "link?.inertia[1,1]", "q2.origin[0]", "gravity"]


def planar(formulation):
    return da.equations(da.planar_chain(2), SYMBOLS, formulation=formulation).report()


def formulas(text):
    return dict(line.strip("$").split(" = ", 1) for line in text.splitlines() if line.startswith("$$") and " = " in line)


def test_newton_euler_report_shows_the_recursion_of_a_planar_arm():
    """By hand: in the axes of link 2 its origin accelerates with a_1 + (-px qd1^2, 0, px qdd1), turned by q2 about -y."""
    found = formulas(planar("newton_euler"))
    assert found[r"\omega_{2y}"] == r"-\dot{q}_{1} - \dot{q}_{2}" and found["a_{1x}"] == r"g \, s_{1}"
    assert found["a_{2x}"] == (r"(a_{1x} - p_{x2} \, \dot{q}_{1}^{2}) \, c_{2} + (a_{1z} + p_{x2} \, \ddot{q}_{1}) \, s_{2}")
    assert found["f_{2x}"] == r"m_{2} \, (a_{2x} - c_{x2} \, \omega_{2y}^{2})"
    assert found[r"\tau_{1}"] == "-n_{1y}" and found[r"\tau_{2}"] == "-n_{2y}"


def test_lagrange_report_shows_positions_and_jacobians():
    found = formulas(planar("lagrange"))
    assert found["c_{2}"].startswith(r"\begin{pmatrix} p_{x2} \, c_{1} + c_{x2} \, c_{12} \\ 0 \\")
    assert r"-p_{x2} \, s_{1} - c_{x2} \, s_{12} & -c_{x2} \, s_{12}" in found["J_{v,2}"]
    assert found["M_{22}"] == r"I_{yy2} + m_{2} \, c_{x2}^{2}" and "c_{112}" in found


def test_elementary_motions_report_shows_matrices_and_coefficients():
    found = formulas(planar("elementary_motions"))
    assert found["B_{2}"].startswith(r"\begin{pmatrix} c_{12} & 0 & -s_{12} & p_{x2} \, c_{1} \\")
    assert found["B_{2}^{12}"].startswith(r"\begin{pmatrix} -c_{12} & 0 & s_{12} & 0 \\") and "I_{2}" in found
    assert found["a_{0,22}"] == r"I_{yy2} + m_{2} \, c_{x2}^{2}" and found["a_{2,2}"] == r"m_{2} \, c_{x2} \, g \, c_{12}"


def test_hamilton_report_shows_momenta_and_derivatives():
    found = formulas(planar("hamilton"))
    assert found["p_{1}"] == r"M_{11} \, \dot{q}_{1} + M_{12} \, \dot{q}_{2}"
    assert found[r"\Delta"] == r"M_{11} \, M_{22} - M_{12}^{2}" and found["W_{12}"] == r"-\frac{M_{12}}{\Delta}"
    assert found[r"\dot q_{2}"] == "W_{12} \\, p_{1} + W_{22} \\, p_{2}"
    assert found[r"\partial H / \partial q_{2}"].endswith(r"\dot{q}_{1} \, (\dot{q}_{1} + \dot{q}_{2}) \, s_{2})")


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_reports_of_arms_with_all_symbols_are_confirmed_and_the_same_on_every_run(formulation):
    texts = {da.equations(robots.dense("scara"), "all", formulation=formulation).report() for _ in range(2)}
    (text,) = texts
    assert re.search(r"largest relative difference \de-1[4-9]", text) and f"Derivation by {formulation}" in text
    assert not re.search(r"[_^]\{[^{}]*\}[_^]\{[^{}]*\}_", text)                  # no double subscripts


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("seed, joints", [(1, ["revolute", "prismatic"]), *(pytest.param(*more, marks=pytest.mark.slow) for more in (
    (0, ["spherical", "revolute"]), (3, ["follower"])))])
def test_reports_of_trees_of_other_joints_are_confirmed(formulation, seed, joints):
    m = da.random_tree(seed, 3, joints=joints)
    assert "largest relative difference" in da.equations(m, formulation=formulation).report()


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("name", ["puma", "stanford", "panda"])
def test_reports_of_arms_of_six_and_seven_joints_are_confirmed(formulation, name):
    assert "largest relative difference" in da.equations(robots.dense(name), "all", formulation=formulation).report()


@pytest.mark.parametrize("module, name, formulation", [
    (newton_euler, "inverse_dynamics", "newton_euler"), (lagrange, "mass_centers", "lagrange"), (lagrange, "mass_matrix", "lagrange"),
    (elementary_motions, "joint_matrices", "elementary_motions"), (elementary_motions, "gravity_coefficients", "elementary_motions"),
    (hamilton, "momenta", "hamilton"), (hamilton, "lagrangian_gradient", "hamilton")])
def test_a_step_that_its_formulation_does_not_confirm_is_refused(module, name, formulation, monkeypatch):
    right = getattr(module, name)

    def wrong(mechanism, *vectors, **named):
        found = right(mechanism, *vectors, **named)
        return found if np.asarray(found).dtype == object else np.asarray(found) * (1 + 1e-6)

    monkeypatch.setattr(module, name, wrong)
    with pytest.raises(VerificationError):
        planar(formulation)
