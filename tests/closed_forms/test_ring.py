"""Polynomials: relations inside products, guards, derivatives; compaction keeps values and shortens."""

import math
from fractions import Fraction

import pytest

from dalembert.closed_forms.algebra.compaction import Compactor
from dalembert.closed_forms.algebra.ring import LieDerivative, NotPolynomial, Poly, Ring, TooLarge

A, B = ((0, 1),), ((0, 1), (1, 1))      # q1 and q1 + q2


def value(ring, p, q):
    """A polynomial at coordinates q; symbols are 2."""
    total = 0.0
    for m, c in p.terms.items():
        x = float(c)
        for (kind, name), e in ring.exponents(m):
            angle = 0.0 if kind in ("x", "root") else sum(f * q[k] for k, f in name)
            x *= {"cos": math.cos(angle), "sin": math.sin(angle), "x": 2.0, "root": math.sqrt(name) if kind == "root" else 0}[kind] ** e
        total += x
    return total


def test_the_theorem_of_pythagoras_holds_inside_products():
    ring = Ring()
    c, s = ring.cos_sin(A)
    assert (c * c + s * s).terms == {0: 1}
    assert (s * s * s * s - (1 - c * c) * (1 - c * c)) == 0
    r = ring.root(3)
    assert (r * r * r - r * 3) == 0


def test_quaternions_are_of_unit_length():
    ring = Ring()
    w, x, y, z = ring.unit_quaternion("wxyz")
    assert (w * w + x * x + y * y + z * z).terms == {0: 1}


def test_products_are_products_of_values():
    ring = Ring()
    (c, s), (C, S), l = ring.cos_sin(A), ring.cos_sin(B), ring.variable("l")
    p, q = c * S * 3 - s * l + Fraction(1, 2), C * C * l + s * S - 2
    at = (0.7, -1.9)
    assert value(ring, p * q, at) == pytest.approx(value(ring, p, at) * value(ring, q, at), rel=1e-14)


def test_derivation_is_the_derivative():
    ring = Ring()
    (c, s), (C, S) = ring.cos_sin(A), ring.cos_sin(B)
    p = c * c * S - s * C * 3 + c * S * S
    along = LieDerivative(ring, [(("cos", A), -s), (("sin", A), c), (("cos", B), -S), (("sin", B), C)])      # by q1
    h = 1e-6
    slope = (value(ring, p, (0.4 + h, 1.1)) - value(ring, p, (0.4 - h, 1.1))) / (2 * h)
    assert value(ring, along(p), (0.4, 1.1)) == pytest.approx(slope, rel=1e-8)


def test_exponents_parameters_and_sizes_are_guarded():
    ring = Ring(limit=10)
    x = ring.variable("x")
    power = x
    for _ in range(4):
        power = power * power
    with pytest.raises(TooLarge, match="an exponent passes 31"):
        _ = power * power
    m = ring.parameter("m1")
    with pytest.raises(NotPolynomial, match="two inertial parameters"):
        _ = m * m
    many = sum((ring.variable(f"y{k}") for k in range(4)), start=x)
    with pytest.raises(TooLarge, match="15 terms, more than 10"):
        _ = many * many


def test_zero_is_the_number_zero():
    ring = Ring()
    x = ring.variable("x")
    assert x - x == 0 and x * 0 == 0 and isinstance(x + 0, Poly)


@pytest.mark.parametrize("build, terms", [
    (lambda c, s, C, S: c * C + s * S, {(((1,), "c", 1),)}),                               # cos q2
    (lambda c, s, C, S: c * c * 5 + s * s * 5, {()}),
    (lambda c, s, C, S: s * C - c * S, {(((1,), "s", 1),)})])
def test_compaction_finds_angle_sums(build, terms):
    ring = Ring()
    (c, s), (C, S) = ring.cos_sin(A), ring.cos_sin(B)
    p = build(c, s, C, S)
    found = Compactor(ring)
    (D,), = [found.terms(p).values()]
    group = found.groups[0]
    assert {tuple((v[1:], kind, e) for v, kind, e in group.table[f]) for (f,) in D} == terms
    assert all(v[0] == 0 for (f,) in D for v, _, _ in group.table[f])                    # q1 is gone


def test_compaction_keeps_values_and_shortens():
    ring = Ring()
    (c, s), (C, S), (d, e) = ring.cos_sin(A), ring.cos_sin(B), ring.cos_sin(((2, 1),))
    p = (c * C + s * S) * (3 - d * d * 3) + (c * S - s * C) * d * e * 2 + C * C * Fraction(5, 3) + S * S * d * d
    found, total, q = Compactor(ring), 0.0, (0.3, 1.2, -0.8)
    count = 0
    for D in found.terms(p).values():
        for t, v in D.items():
            x = float(v)
            for group, factor in zip(found.groups, found.factors(t)):
                for vector, kind, power in factor:
                    angle = sum(f * q[k] for f, k in zip(vector, group.coordinates))
                    x *= (math.cos(angle) if kind == "c" else math.sin(angle)) ** power
            total, count = total + x, count + 1
    assert total == pytest.approx(value(ring, p, q), rel=1e-13) and count < len(p)
