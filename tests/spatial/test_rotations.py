"""Rotations: group axioms, agreement of the descriptions, smooth logarithm."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dalembert as da
from dalembert.spatial import rotations as rot
from dalembert.spatial.angles import PiMultiple, cos_sin, snapped
from dalembert.spatial.vectors import AXES, Matrix, Vector

RNG = np.random.default_rng(0)
ANGLES = [0.0, 0.3, -2.1, math.pi, 1e-9]


def full(R):
    return np.array(R.matrix(), float)


def some_rotations():
    oblique = Vector(RNG.standard_normal(3))
    oblique = oblique * (1 / math.sqrt(oblique.dot(oblique)))
    yield rot.NO_ROTATION
    for angle in ANGLES:
        yield from (rot.about_axis(axis, angle) for axis in (*AXES, (0, 0, -1), oblique))
    yield rot.roll_pitch_yaw(0.2, -0.4, 1.3)
    yield rot.from_quaternion(0.5, -0.5, 0.5, 0.5)


ROTATIONS = list(some_rotations())


@pytest.mark.parametrize("R", ROTATIONS)
def test_rotations_are_orthogonal_and_carry_vectors_both_ways(R):
    M, v = full(R), Vector(RNG.standard_normal(3))
    assert np.allclose(M @ M.T, np.eye(3), atol=1e-15) and np.linalg.det(M) == pytest.approx(1)
    assert np.allclose(R.to_parent(v), M @ np.array(v), atol=1e-15)
    assert np.allclose(R.to_child(v), M.T @ np.array(v), atol=1e-15)


@pytest.mark.parametrize("R", ROTATIONS)
def test_conjugation_is_R_A_Rt(R):
    A = RNG.standard_normal((3, 3))
    M, S = full(R), A + A.T
    assert np.allclose(np.array(R.conjugate(Matrix(A.tolist())), float), M @ A @ M.T, atol=1e-14)
    assert np.allclose(np.array(R.conjugate_symmetric(Matrix(S.tolist())), float), M @ S @ M.T, atol=1e-14)


def test_products_are_associative_and_identity_is_neutral():
    for P, Q, R in itertools.islice(itertools.product(ROTATIONS, repeat=3), 0, None, 577):
        assert np.allclose(full((P * Q) * R), full(P) @ full(Q) @ full(R), atol=1e-14)
        assert np.allclose(full(P * (Q * R)), full(P) @ full(Q) @ full(R), atol=1e-14)
        assert (rot.NO_ROTATION * P) is P and (P * rot.NO_ROTATION) is P


@pytest.mark.parametrize("R", ROTATIONS)
def test_descriptions_lead_back_to_the_rotation(R):
    M = full(R)
    assert np.allclose(full(rot.from_quaternion(*rot.quaternion_of(M))), M, atol=1e-14)
    axis, angle = rot.axis_angle_of(M)
    assert np.allclose(full(rot.about_axis(axis, angle)), M, atol=1e-14) and 0 <= angle <= math.pi


def test_a_turn_about_an_opposite_axis_is_the_opposite_turn():
    assert np.array_equal(full(rot.about_axis((0, -1, 0), 0.7)), full(rot.about_axis((0, 1, 0), -0.7)))
    assert isinstance(rot.about_axis((0, -1.0, 0), 0.7), rot.AxisTurn)


def test_quaternions_multiply_as_their_rotations():
    p, q = (RNG.standard_normal(4) for _ in range(2))
    p, q = p / np.linalg.norm(p), q / np.linalg.norm(q)
    assert np.allclose(full(rot.from_quaternion(*rot.quaternion_product(p, q))),
                       full(rot.from_quaternion(*p)) @ full(rot.from_quaternion(*q)), atol=1e-15)


@pytest.mark.parametrize("length", [0.0, 1e-300, 1e-9, 9.9e-5, 2.1e-4, 1.0, math.pi - 1e-9])
def test_quaternion_logarithm_inverts_the_exponential(length):
    direction = Vector((2 / 3, -1 / 3, 2 / 3))
    v = direction * length
    q = rot.quaternion_exponential(v)
    assert sum(c * c for c in q) == pytest.approx(1, abs=1e-15)
    assert np.allclose(rot.quaternion_logarithm(q), v, rtol=1e-12, atol=1e-300)
    assert np.allclose(rot.quaternion_logarithm(tuple(-c for c in q)), v, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("q", [(1, 0, 0, 0), (0.6, 0.8, 0, 0), (0, 1, 0, 0), (1e-12, 0, 0, 1), (-0.8, 0, 0.6, 0)])
def test_derivatives_of_the_quaternion_logarithm_are_finite_and_right(q):
    with da.Graph():
        s = da.symbols("q", 4)
        logarithm = rot.quaternion_logarithm(tuple(s))
        at = dict(zip(s, map(float, q), strict=True))
        rows = np.array([[da.evaluate(da.derivative(e, x), at) for x in s] for e in logarithm], float)
        reverse = np.array([[da.evaluate(g, at) for g in da.gradient(e, s)] for e in logarithm], float)
    assert np.isfinite(rows).all()
    assert np.allclose(rows, reverse, rtol=1e-12, atol=1e-12)
    h, numeric = 1e-6, []
    if abs(q[0]) > 1e-6:
        for e in np.eye(4):
            ahead, behind = (np.array(rot.quaternion_logarithm(tuple(q + sign * h * e)), float) for sign in (1, -1))
            numeric.append((ahead - behind) / (2 * h))
        assert np.allclose(rows, np.array(numeric).T, atol=1e-7)


def test_batches_run_through_the_same_text():
    angles = np.array([0.1, 1.0, -2.0])
    R = rot.about_axis((0, 0.6, 0.8), angles)
    batch = R.to_parent(Vector((1.0, 2.0, 3.0)))
    for k, angle in enumerate(angles):
        one = rot.about_axis((0, 0.6, 0.8), float(angle)).to_parent(Vector((1.0, 2.0, 3.0)))
        assert np.allclose([c[k] for c in batch], one, atol=1e-15)


# --- exact angles -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("steps", range(-25, 26))
def test_multiples_of_pi_over_12_have_exact_sines(steps):
    angle = PiMultiple(Fraction(steps, 12))
    c, s = cos_sin(angle)
    assert float(c) == pytest.approx(math.cos(steps * math.pi / 12), abs=1e-15)
    assert float(s) == pytest.approx(math.sin(steps * math.pi / 12), abs=1e-15)
    if steps % 6 == 0:
        assert {c, s} <= {-1, 0, 1} and isinstance(c, int)
    with da.Graph():
        exact_c, exact_s = cos_sin(angle, exact=True)
        for exact, value in ((exact_c, c), (exact_s, s)):
            value_of = float(da.evaluate(exact, {})) if isinstance(exact, da.Expr) else float(exact)
            assert value_of == pytest.approx(float(value), abs=1e-15)
            assert not isinstance(exact, float)


def test_angles_snap_within_a_nanoradian_only():
    assert snapped(1.57079632679) == PiMultiple("1/2")
    assert snapped(-3.1415926535) == PiMultiple(-1)
    assert snapped(1.5708) is None and snapped(0.0) is None and snapped(1e-10) is None
    assert repr(PiMultiple("-1/2")) == "-pi/2" and repr(PiMultiple("2/3")) == "2*pi/3" and repr(PiMultiple(1)) == "pi"


def test_the_exact_tree_of_a_mechanism_keeps_roots_as_expressions():
    m = da.Mechanism("m", [da.Body("base"), da.Body("b", 1, (1, 0, 0))],
                     [da.Joint("j", da.Revolute(), "base", "b", da.Origin.rpy((0, 0, 0), PiMultiple("1/3"), 0, 0))])
    with da.Graph() as graph:
        R = m.tree(graph, exact=True).joint[1].origin.R.matrix()
        assert str(R[1][2]) in ("-(sqrt(3)/2)", "-sqrt(3)/2", "-(1/2*sqrt(3))", "-1/2*sqrt(3)"), str(R[1][2])
        assert not isinstance(R[1][1], float) and float(R[1][1]) == 0.5
