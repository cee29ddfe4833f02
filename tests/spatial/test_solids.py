"""Inertias of solids against quadrature over their volume, against each other and against meshes; Steiner's theorem."""

import json
from fractions import Fraction

import numpy as np
import pytest

import dalembert as da
import oracles
from dalembert import solids

BOX = json.loads((oracles.DATA / "reference" / "euler_lagrange.json").read_text())["box"]


def tensor(properties):
    xx, xy, yy, xz, yz, zz = (float(x) for x in properties.inertia)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def of_points(weights, points):
    """Inertia of mass 1 spread over points with weights, about their centre."""
    weights = weights / weights.sum()
    r = points - weights @ points
    second = (r * weights[:, None]).T @ r
    return np.trace(second) * np.eye(3) - second


def of_revolution(radius_at, ends, inner=0.0, n=24):
    """A body of revolution about z by Gauss quadrature: radii up to radius_at(z), z between each pair of ends."""
    x, w = np.polynomial.legendre.leggauss(n)
    points, weights = [], []
    for a, b in zip(ends[:-1], ends[1:]):
        for z, wz in zip((a + b) / 2 + (b - a) / 2 * x, w * (b - a) / 2):
            for t, wr in zip(x, w):
                outer = radius_at(z)
                r = inner + (outer - inner) * (t + 1) / 2
                for angle in np.arange(8) * np.pi / 4:                   # exact for the squares that matter
                    points.append((r * np.cos(angle), r * np.sin(angle), z))
                    weights.append(wz * wr * (outer - inner) * r)
    return of_points(np.array(weights), np.array(points))


@pytest.mark.parametrize("solid, radius_at, ends, inner", [
    (solids.cylinder(1, 0.3, 0.8), lambda z: 0.3, (-0.4, 0.4), 0.0),
    (solids.tube(1, 0.2, 0.3, 0.8), lambda z: 0.3, (-0.4, 0.4), 0.2),
    (solids.sphere(1, 0.3), lambda z: np.sqrt(0.09 - z * z), (-0.3, 0.3), 0.0),
    (solids.ellipsoid(1, 0.3, 0.3, 0.5), lambda z: 0.3 * np.sqrt(1 - 4 * z * z), (-0.5, 0.5), 0.0),
    (solids.capsule(1, 0.3, 0.8), lambda z: np.sqrt(0.09 - max(abs(z) - 0.4, 0)**2), (-0.7, -0.4, 0.4, 0.7), 0.0),
])
def test_bodies_of_revolution_against_quadrature(solid, radius_at, ends, inner):
    assert np.allclose(tensor(solid), of_revolution(radius_at, ends, inner), rtol=1e-12, atol=1e-15)


def test_box_of_the_source_and_steiner_there_and_back():
    """Kolyubin: box, and (15); his (14), m d^2 on every entry, would be wrong by 1.635."""
    box = solids.box(Fraction(6), *(Fraction(str(BOX[k])) for k in "abc"))
    assert np.allclose(tensor(box), BOX["inertia_com"], atol=1e-16)
    moved = solids.steiner(tensor(box), 6, BOX["shift"])
    assert np.allclose(moved, BOX["inertia_shifted"], atol=1e-15)
    assert np.allclose(solids.steiner(tensor(box), 6, [-x for x in BOX["shift"]]), moved, atol=1e-15)      # r enters squared
    assert np.allclose(solids.steiner(moved, -6, BOX["shift"]), BOX["inertia_com"], atol=1e-15)
    scalar_rule = tensor(box) + 6 * np.dot(BOX["shift"], BOX["shift"])
    assert np.abs(scalar_rule - moved).max() == pytest.approx(BOX["scalar_rule_applied_to_every_entry_is_wrong_by"])


def test_steiner_of_an_oblique_tensor_against_points():
    rng = np.random.default_rng(0)
    points, masses, r = rng.standard_normal((9, 3)), rng.uniform(0.1, 1, 9), rng.standard_normal(3)
    points -= masses @ points / masses.sum()
    second = (points * masses[:, None]).T @ points
    away = points + r
    second_away = (away * masses[:, None]).T @ away
    assert np.allclose(solids.steiner(np.trace(second) * np.eye(3) - second, masses.sum(), r),
                       np.trace(second_away) * np.eye(3) - second_away, atol=1e-13)


def test_limits_of_solids_agree():
    assert solids.capsule(2, 0.3, 0.0).inertia == pytest.approx(solids.sphere(2, 0.3).inertia)
    assert solids.capsule(2, 0.0, 0.5).inertia == pytest.approx(solids.cylinder(2, 0.0, 0.5).inertia)
    assert solids.tube(2, 0.0, 0.3, 0.5) == solids.cylinder(2, 0.3, 0.5)
    assert solids.cylinder(12, 0, 1).inertia == (1, 0, 1, 0, 0, 0)                  # thin rod m l^2 / 12
    assert solids.point(2).inertia == (0,) * 6


CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
FACES = [(0, 2, 3), (0, 3, 1), (4, 5, 7), (4, 7, 6), (0, 1, 5), (0, 5, 4), (2, 6, 7), (2, 7, 3), (0, 4, 6), (0, 6, 2),
         (1, 3, 7), (1, 7, 5)]                                                       # not all turned outward: see below


def cube_faces():
    """Faces of the cube, each turned outward."""
    faces = []
    for face in FACES:
        a, b, c = CUBE[list(face)]
        outward = np.cross(b - a, c - a) @ (a - 0.5) > 0
        faces.append(face if outward else face[::-1])
    return np.array(faces)


def test_mesh_of_a_box_turned_and_moved():
    rng = np.random.default_rng(1)
    R, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    R *= np.linalg.det(R)
    at = np.array([3.0, -2.0, 5.0])
    vertices = (CUBE - 0.5) * (0.4, 0.3, 0.2) @ R.T + at
    for faces in (cube_faces(), cube_faces()[:, ::-1]):
        mesh = solids.mesh(6, vertices, faces)
        assert mesh.com == pytest.approx(tuple(at))
        assert np.allclose(tensor(mesh), R @ tensor(solids.box(6, 0.4, 0.3, 0.2)) @ R.T, atol=1e-14)


def test_mesh_of_a_body_that_is_not_convex():
    """An L of three cubes, joined: the mesh of its surface against its boxes by Steiner."""
    outline = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    vertices = [(x, y, z) for z in (0, 1) for x, y in outline]
    caps = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    sides = [f for k in range(6) for f in ((k, (k + 1) % 6, (k + 1) % 6 + 6), (k, (k + 1) % 6 + 6, k + 6))]
    faces = [c[::-1] for c in caps] + [tuple(i + 6 for i in c) for c in caps] + sides
    mesh = solids.mesh(3, vertices, faces)
    centers = np.array([(0.5, 0.5, 0.5), (1.5, 0.5, 0.5), (0.5, 1.5, 0.5)])
    com = centers.mean(axis=0)
    expected = sum(solids.steiner(tensor(solids.box(1, 1, 1, 1)), 1, c - com) for c in centers)
    assert mesh.com == pytest.approx(tuple(com)) and np.allclose(tensor(mesh), expected, atol=1e-14)


def test_solids_are_bodies_and_may_hold_symbols():
    with da.Graph():
        m, r, l = da.symbols("m r l")
        symbolic = solids.capsule(m, r, l)
        values = [da.evaluate(x, {m: 2.0, r: 0.1, l: 0.4}) if isinstance(x, da.Expr) else x for x in symbolic.inertia]
        assert values == pytest.approx(solids.capsule(2.0, 0.1, 0.4).inertia)
        body = da.Body("rod", *solids.cylinder(m, 0, l))
        assert {s.name for s in da.free_symbols(body.inertia[0])} == {"m", "l"}
    arm = da.from_motions("Rz(q1) Tx(1) Rz(q2)", [solids.box(1, 1, 0.1, 0.1), solids.sphere(2, 0.1)])
    assert da.mass_matrix(arm, [0.1, 0.2])[1, 1] == pytest.approx(2 / 5 * 2 * 0.01)


@pytest.mark.parametrize("make, message", [
    (lambda: solids.box(1, -0.1, 1, 1), "a is -0.1; expected a number that is not negative"),
    (lambda: solids.point(-1), "mass is -1"),
    (lambda: solids.tube(1, 0.3, 0.2, 1), "inner_radius 0.3 m is larger than outer_radius 0.2 m"),
    (lambda: solids.mesh(1, CUBE, cube_faces()[1:]), r"not a closed surface .* edge \(\d, \d\), of 3, has not one face on each side"),
    (lambda: solids.mesh(1, CUBE, [[0, 1, 9]]), "faces name vertex 9 or 0; there are 0 to 7"),
    (lambda: solids.mesh(1, CUBE, [[0, 1, 2], [0, 2, 1]]), "encloses a volume of 0 m"),
    (lambda: solids.mesh(1, CUBE, []), "expected"),
])
def test_impossible_solids_are_errors_that_say_why(make, message):
    with pytest.raises(ValueError, match=message):
        make()
