"""Motion and force vectors, inertias, transforms: adjointness, Steiner's rule, equality with 6x6 matrices."""

import json
from fractions import Fraction

import numpy as np
import pytest

import oracles
from dalembert.spatial.inertias import ArticulatedInertia, Inertia, rotational
from dalembert.spatial.motion_force import Force, Motion
from dalembert.spatial.rotations import roll_pitch_yaw
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import Matrix, Vector

RNG = np.random.default_rng(1)


def vector():
    return Vector(RNG.standard_normal(3))


def motion():
    return Motion(vector(), vector())


def force():
    return Force(vector(), vector())


def flat(pair):
    return np.array([*pair[0], *pair[1]], float)


def skew(v):
    return np.array(Vector(v).matrix(), float)


def inertia():
    points, masses = RNG.uniform(-1, 1, (6, 3)), RNG.uniform(0.1, 1, 6)
    return Inertia(masses.sum(), Vector(masses @ points), Matrix(((points * masses[:, None]).T @ points).tolist()))


def dense(I):
    h, m = skew(I.h), float(I.m)
    return np.block([[np.array(I.tensor(), float), h], [-h, m * np.eye(3)]])


def transform():
    return Transform(vector(), roll_pitch_yaw(*RNG.uniform(-3, 3, 3)))


def matrix_of(X):
    """6x6 motion transform, parent to child."""
    R, p = np.array(X.R.matrix(), float), skew(X.p)
    return np.block([[R.T, np.zeros((3, 3))], [-R.T @ p, R.T]])


@pytest.mark.parametrize("_", range(5))
def test_motions_and_forces_transform_as_their_matrices(_):
    X, v, f = transform(), motion(), force()
    assert np.allclose(flat(X.motion_to_child(v)), matrix_of(X) @ flat(v), atol=1e-13)
    assert np.allclose(flat(X.motion_to_parent(X.motion_to_child(v))), flat(v), atol=1e-13)
    assert np.allclose(flat(X.force_to_parent(f)), matrix_of(X).T @ flat(f), atol=1e-13)
    assert X.force_to_parent(f).dot(v) == pytest.approx(f.dot(X.motion_to_child(v)))       # power is invariant


def test_cross_products_are_adjoint_and_satisfy_jacobi():
    u, v, w, f = motion(), motion(), motion(), force()
    assert u.cross_force(f).dot(v) == pytest.approx(-f.dot(u.cross(v)))
    jacobi = u.cross(v.cross(w)) + v.cross(w.cross(u)) + w.cross(u.cross(v))
    assert np.allclose(flat(jacobi), 0, atol=1e-14)
    assert np.allclose(flat(u.cross(u)), 0, atol=1e-15)


def test_composition_is_that_of_the_matrices():
    X, Y = transform(), transform()
    assert np.allclose(matrix_of(X * Y), matrix_of(Y) @ matrix_of(X), atol=1e-13)


def test_momentum_is_that_of_the_dense_inertia_and_transforms_with_it():
    I, X, v = inertia(), transform(), motion()
    assert np.allclose(flat(I.momentum(v)), dense(I) @ flat(v), atol=1e-13)
    assert np.allclose(dense(I.to_parent(X)), matrix_of(X).T @ dense(I) @ matrix_of(X), atol=1e-12)


def test_articulated_inertia_transforms_and_reduces_as_its_matrix():
    I, X, s = inertia(), transform(), motion()
    A = ArticulatedInertia.of(I)

    def full(A):
        I, H, M = (np.array(block, float) for block in A)
        return np.block([[I, H], [H.T, M]])

    assert np.allclose(full(A.to_parent(X)), matrix_of(X).T @ dense(I) @ matrix_of(X), atol=1e-12)
    U = A.apply(s)
    D = U.dot(s)
    reduced = A.minus((U,), (U.scaled(1 / D),), ())
    assert np.allclose(full(reduced), dense(I) - np.outer(flat(U), flat(U)) / D, atol=1e-13)
    assert np.allclose(flat(reduced.apply(s)), 0, atol=1e-13)


def test_wrench_of_a_field_is_its_integral_over_the_body():
    points, masses = RNG.uniform(-1, 1, (6, 3)), RNG.uniform(0.1, 1, 6)
    I = Inertia(masses.sum(), Vector(masses @ points), Matrix(((points * masses[:, None]).T @ points).tolist()))
    a, W = RNG.standard_normal(3), RNG.standard_normal((3, 3))
    accelerations = a + points @ W.T
    moment = np.cross(points, accelerations * masses[:, None]).sum(axis=0)
    found = I.wrench(Vector(a), Matrix(W.tolist()))
    assert np.allclose(flat(found), [*moment, *(masses @ accelerations)], atol=1e-13)


def test_second_moments_and_tensor_lead_to_each_other():
    J = inertia().J
    I = rotational(J)
    half = I.trace / 2
    assert np.allclose(np.eye(3) * half - np.array(I), np.array(J), atol=1e-14)


def test_steiner_of_the_box_of_the_source():
    """Kolyubin (15), also for the off-diagonal entries the printed rule gets wrong; there and back, exactly."""
    box = json.loads((oracles.DATA / "reference" / "euler_lagrange.json").read_text())["box"]
    sides = [Fraction(str(box[k])) for k in "abc"]
    mass, shift = Fraction(6), Vector(Fraction(str(x)) for x in box["shift"])
    a, b, c = (s * s * mass / 12 for s in sides)
    tensor = Matrix.diagonal(b + c, a + c, a + b)
    assert np.allclose(np.array(tensor, float), box["inertia_com"], atol=1e-16)
    moved = Inertia.of(mass, shift, tensor)
    assert np.allclose(np.array(moved.tensor(), float), box["inertia_shifted"], atol=1e-15)
    back = moved.to_parent(Transform(-shift))
    assert back.tensor() == tensor and tuple(back.h) == (0, 0, 0)      # exact numbers stay exact


def test_inertia_turns_as_a_tensor():
    data = json.loads((oracles.DATA / "reference" / "euler_lagrange.json").read_text())["box"]
    turned = Inertia.of(6.0, Vector((0, 0, 0)), Matrix(data["inertia_com"])).to_parent(
        Transform(R=roll_pitch_yaw(1.2, -0.8, 0.3)))
    assert np.allclose(np.array(turned.tensor(), float), data["inertia_rotated"], atol=1e-15)
