"""One basis per entry: an angle never stands beside a multiple of it, in short entries and in long ones."""

import math
import re

import pytest

import dalembert as da
from dalembert.closed_forms.algebra.bases import MULTIPLES, POWERS, direction, mixed, rewriter
from dalembert.closed_forms.algebra.sums import Cosine, inner_forms

from . import robots

FACTOR = (((1, -1), "c", 3), ((1, -1), "s", 1), ((2, -2), "c", 1), ((3, -3), "s", 1), ((0, 1), "s", 2))
QUANTITIES = ("mass_matrix", "gravity_vector", "christoffel", "coriolis_vector", "kinetic_energy", "potential_energy",
              "equations_of_motion")


def value(factor, q):
    """A product of powers of cosines and sines at coordinates q."""
    return math.prod({"c": math.cos, "s": math.sin}[kind](sum(k * x for k, x in zip(v, q, strict=True)))**e
                     for v, kind, e in factor)


@pytest.mark.parametrize("basis", [*POWERS, MULTIPLES])
def test_a_factor_in_another_basis_has_the_same_value(basis):
    found = rewriter((1, -1), basis)(FACTOR)
    for q in ((0.3, 1.9), (-2.2, 0.7)):
        assert sum(float(x) * value(f, q) for f, x in found.items()) == pytest.approx(value(FACTOR, q), abs=1e-14)
    angles = {v for f in found for v, _, _ in f if direction(v) == (1, -1)}
    assert angles == {(1, -1)} if basis in POWERS else all(e == 1 for f in found for v, _, e in f if v in angles)


def test_a_fourier_series_is_one_basis():
    one, two, three = ((((k,), "c", 1),) for k in (1, 2, 3))
    assert mixed([one, two]) == [(1,)] and mixed([one, two, three]) == [] and mixed([two, three]) == []
    assert mixed([one, three, (((1,), "c", 1), ((1,), "s", 1))]) == [(1,)] and mixed([two]) == mixed([one]) == []


def angles_in(form):
    """All angles of the cosines and sines in a form."""
    for term in form.terms:
        for factor, _ in term.factors:
            if isinstance(factor, Cosine):
                yield factor.angle
            else:
                for inner in inner_forms(factor):
                    yield from angles_in(inner)


def multiples_side_by_side(form):
    found = set(angles_in(form))
    return [a for a in found for k in (2, 3, 4) if tuple((name, k * x) for name, x in a) in found]


def check(eom, *quantities):
    for quantity in quantities:
        for at, form in (*eom.sheet(quantity).lines, *eom.sheet(quantity).parts):
            assert not multiples_side_by_side(form), (quantity, at)
    for line in eom.text(*quantities).splitlines():
        for k in re.findall(r"(?:sin|cos)\(2 q(\d)\)", line):
            assert not re.search(rf"\b[cs]{k}\b", line), line


@pytest.mark.parametrize("chain", [robots.UR5, pytest.param(robots.STANFORD, marks=pytest.mark.slow), robots.SCARA, "Rz(q1) Tx(0.3) Ry(q2) Tz(q3) Rx(q4)",
                                   "Rz(q1) Tz(0.2) Rx(pi/2) Rz(q2) Tx(0.3)"])
def test_no_entry_has_an_angle_beside_its_double(chain):
    check(da.equations(robots.arm(chain), "all", budget=10**6), *QUANTITIES)


def test_long_entries_have_one_basis():
    """Entries of up to 430 terms, which stayed in two bases."""
    eom = da.equations(robots.spatial(5), "all", grouped=False, budget=10**6)
    assert max(len(p) for row in eom._context.derived.M for p in row) > 300
    check(eom, "mass_matrix", "gravity_vector")


def test_energies_and_equations_by_rates_have_one_basis():
    """Each product of rates has a coefficient of its own: all of these together are in one basis."""
    eom = da.equations(robots.spatial(2))
    check(eom, "kinetic_energy", "equations_of_motion", "coriolis_vector")
    with da.Graph():
        a, b, x = da.symbols("a b x")
        system = da.lagrangian_system(lambda q, qd, t: a * qd[0]**2 * da.cos(q[0])**2 / 2 + b * da.sin(2 * q[0]) * qd[0], "x")
        check(da.equations(system), "lagrangian", "momenta", "energy", "equations_of_motion")
        assert da.text(da.sin(2 * x) + da.cos(x) * da.sin(x), "x") in ("3 cos(x) sin(x)", "3/2 sin(2 x)")
        assert da.text(a * da.cos(x) + b * da.cos(3 * x), "x") == "a cos(x) + b cos(3 x)"


def test_accelerations_have_one_basis():
    lines = da.equations(da.planar_chain(2)).text("accelerations").splitlines()[1:]
    assert lines[:2] == ["Delta = YY1 YY2 - MX2^2 c2^2", (
        "qdd1 = (YY2 tau1 - YY2 tau2 - MX1 YY2 g c1 - MX2 tau2 c2 + YY2 MX2 (qd1 + qd2)^2 s2 + MX2^2 g c12 c2 "
        "+ MX2^2 qd1^2 c2 s2)/Delta")]
    with da.Graph():
        m, l, g = da.symbols("m l g")
        eom = da.equations(da.planar_chain(2, mass=m, length=l, gravity=(0, 0, -g)))
        assert "Delta = 7/9 + s2^2\n" in eom.text("accelerations")             # the determinant in the numerators' basis
        check(eom, "accelerations")
        check(eom.linearize(tau="hold"), "state_matrix", "input_matrix")
