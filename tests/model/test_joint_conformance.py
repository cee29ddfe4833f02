"""What every joint type does, for all that are listed; a new one is a file and a line."""

import numpy as np
import pytest
from crank import Crank

import dalembert as da
from dalembert.model import joints
from dalembert.model.joints import JOINT_TYPES
from dalembert.model.numbers import as_float
from dalembert.readers import generators
from dalembert.readers.generators import knee
from dalembert.spatial.rotations import about_axis
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import axial
from trees import derivative

AXES, NUMBER = ((1, -2, 2), (0, 3, 4)), 0.3      # oblique; of types with numbers, the usual ones besides
OWN = 1e-12                                      # of the largest entry between our own paths (conventions.md)


def samples():
    """Each type as it is without numbers, and with oblique axes and other numbers: by what is listed alone."""
    for kind in dict.fromkeys([*JOINT_TYPES.values(), Crank]):
        yield kind()
        axes = iter(AXES)
        given = {name: next(axes) if isinstance(value, tuple) else NUMBER
                 for name, value in ((name, getattr(kind(), name)) for name in kind.parameters)}
        if given:
            yield kind(**given)
    yield da.Custom(knee, ("angle", "slide"))


@pytest.fixture(params=samples(), ids=lambda j: "-".join([j.name, *map(str, j.numbers().values())]))
def kind(request, monkeypatch):
    """A joint type with its numbers: those of the package, and one that only the line below makes known."""
    monkeypatch.setitem(JOINT_TYPES, "crank", Crank)
    return request.param


@pytest.fixture
def joint(kind):
    return kind.converted(as_float)


def test_types_that_the_package_exports_are_listed_but_those_of_functions():
    exported = {t for t in vars(joints).values() if isinstance(t, type) and issubclass(t, da.JointType)}
    assert exported == {da.JointType, da.Custom, *JOINT_TYPES.values()}


def link(kind):
    """A body on such a joint, on an arm that turns."""
    bodies = (da.Body("base"), da.Body("arm", 1.0, (0.3, 0, 0), (0.02, 0, 0.02, 0, 0, 0.02)),
              da.Body("link", 2.0, (0.1, -0.2, 0.3), (0.1, 0.01, 0.2, 0, 0.02, 0.25)))
    return da.Mechanism("link", bodies, (da.Joint("turn", da.Revolute((0, 1, 0)), "base", "arm"),
                                         da.Joint("moves", kind, "arm", "link", da.Origin((0.5, 0.1, 0)))))


def matrices(X):
    return np.array(X.p, float), np.array(X.R.matrix(), float)


# --- motion: derivatives of the placement ---


def test_subspace_is_the_derivative_of_the_placement(joint):
    q = joint.random(np.random.default_rng(1))
    columns = joint.subspace(q)
    assert len(columns) == joint.nv
    _, R = matrices(joint.placement(q))
    assert np.allclose(R @ R.T, np.eye(3), atol=1e-14) and np.linalg.det(R) == pytest.approx(1)
    for e, column in zip(np.eye(joint.nv), columns, strict=True):
        def moved(t, part, e=e):
            return matrices(joint.placement(joint.integrate(q, list(t * e))))[part]

        rotation_rate = R.T @ derivative(lambda t: moved(t, 1))
        assert np.allclose(np.array(axial(rotation_rate)) / 2, np.array(column.angular, float), atol=1e-10)
        assert np.allclose(R.T @ derivative(lambda t: moved(t, 0)), np.array(column.linear, float), atol=1e-10)


def test_subspace_rate_is_the_derivative_of_the_subspace(joint):
    rng = np.random.default_rng(2)
    q, v = joint.random(rng), list(rng.standard_normal(joint.nv))

    def flat(t):
        columns = joint.subspace(joint.integrate(q, [t * x for x in v]))
        return np.array([[*c.angular, *c.linear] for c in columns], float)

    found = np.array([[*c.angular, *c.linear] for c in joint.subspace_rate(q, v)], float)
    assert np.allclose(found, derivative(flat), atol=1e-9)


def test_subspace_rate_derivatives_are_those_of_the_rate_times_velocity(joint):
    rng = np.random.default_rng(7)
    q, v = joint.random(rng), list(rng.standard_normal(joint.nv))

    def bias(t, e):
        columns = joint.subspace_rate(joint.integrate(q, list(t * e)), v)
        return sum((x * np.array([*c.angular, *c.linear], float) for x, c in zip(v, columns, strict=True)), np.zeros(6))

    found = joint.subspace_rate_derivatives(q, v)
    assert len(found) == joint.nv
    for e, column in zip(np.eye(joint.nv), found, strict=True):
        expected = derivative(lambda t, e=e: bias(t, e))
        assert np.allclose(np.array([*column.angular, *column.linear], float), expected, atol=1e-8)


def test_rate_is_the_derivative_of_the_coordinates_along_integrate(joint):
    rng = np.random.default_rng(3)
    q, v = joint.random(rng), list(rng.standard_normal(joint.nv))
    expected = derivative(lambda t: np.array(joint.integrate(q, [t * x for x in v]), float))
    assert np.allclose(np.array(joint.rate(q, v), float), expected, atol=1e-9)


def test_difference_inverts_integrate(joint):
    rng = np.random.default_rng(4)
    for scale in (1e-12, 1e-3, 1.0):
        q, step = joint.random(rng), [scale * x for x in rng.uniform(-1, 1, joint.nv)]
        assert np.allclose(joint.difference(joint.integrate(q, step), q), step, rtol=1e-9, atol=1e-15)


def test_at_neutral_coordinates_the_frames_coincide(joint):      # a user's function decides where they do, knee here
    p, R = matrices(joint.placement(joint.neutral()))
    assert np.array_equal(p, [0, 0, 0]) and np.array_equal(R, np.eye(3))


def test_freed_coordinates_are_those_the_subspace_spans(joint):
    if joint.freed:
        spanned = np.array([[*c.angular, *c.linear] for c in joint.subspace(joint.neutral())], float)
        assert sorted(np.abs(spanned).argmax(axis=1)) == sorted(joint.freed)
        assert np.array_equal(np.abs(spanned).sum(axis=1), np.ones(joint.nv))


def product(row, q):
    """exp(s_1 q_at1) exp(s_2 q_at2) ..."""
    X = Transform()
    for s in row:
        slide = s.pitch * q[s.at] if s.turns else q[s.at]
        X = X * (Transform(s.axis * slide, about_axis(s.axis, q[s.at])) if s.turns else Transform(s.axis * slide))
    return X


def test_a_row_of_screws_is_the_placement_and_the_subspace(joint):
    q, row = [0.3 + 0.4 * k for k in range(joint.nq)], joint.screws()
    if row is None:
        return
    expected = joint.placement(q)
    assert sorted(s.at for s in row) == [*range(joint.nv)]
    np.testing.assert_allclose(product(row, q).R.matrix(), expected.R.matrix(), atol=1e-15)
    np.testing.assert_allclose(product(row, q).p, expected.p, atol=1e-15)
    S = joint.subspace(q)
    for k, screw in enumerate(row):                      # carried from its place in the row to the child
        seen = product(row[k + 1:], q).motion_to_child(screw.motion)
        np.testing.assert_allclose([*seen.angular, *seen.linear], [*S[screw.at].angular, *S[screw.at].linear], atol=1e-15)


# --- in a mechanism ---


def test_a_mechanism_with_it_keeps_its_energy_and_forward_is_the_inverse_of_inverse_dynamics(kind):
    m = link(kind)
    q, qd = m.random_state(3)
    qdd = np.random.default_rng(4).standard_normal(m.nv)
    tau = da.inverse_dynamics(m, q, qd, qdd)
    np.testing.assert_allclose(da.forward_dynamics(m, q, qd, tau), qdd, rtol=1e-10, atol=1e-10)
    M = da.mass_matrix(m, q)
    assert np.abs(M - M.T).max() <= OWN * np.abs(M).max() and np.linalg.eigvalsh(M).min() > 0
    assert qd @ M @ qd / 2 == pytest.approx(da.kinetic_energy(m, q, qd), rel=OWN)
    if set(kind.numbers().values()) <= {0, 1, 0.2}:      # each type once, as it is
        assert da.simulate(m, q, 0.3 * qd, 0.1, method="dop853", rtol=1e-10, record=0.05).energy_drift < 1e-8


def test_compiled_is_plain(kind):
    m = link(kind)
    q, qd = m.random_state(3)
    found = da.compile(m).function(["mass_matrix", "bias_force"])(q, qd)
    for a, b in zip(found, (da.mass_matrix(m, q), da.bias_force(m, q, qd)), strict=True):
        assert np.abs(a - b).max() <= OWN * np.abs(b).max()


def test_its_numbers_are_replaced_by_path_and_tell_mechanisms_apart(kind):
    m = link(kind)
    q, _ = m.random_state(3)
    changes = []
    for name, value in kind.numbers().items():
        number = float(value) + 0.125
        other = m.replace({f"moves.{name}": number})
        assert other.identity() != m.identity() and other.joints[-1].type.numbers()[name] == number
        changes.append(np.abs(da.mass_matrix(other, q) - da.mass_matrix(m, q)).max())
    assert not changes or max(changes) > 1e-3


def test_it_goes_through_a_file(kind, tmp_path):
    if kind.name == "custom":
        with pytest.raises(da.ReadError, match="is given by a Python function and cannot be written"):
            da.save(link(kind), tmp_path / "link.toml")
        return
    da.save(link(kind), tmp_path / "link.toml")
    assert da.load(tmp_path / "link.toml") == link(kind)


def test_random_trees_draw_it(kind, monkeypatch):
    monkeypatch.setattr(generators, "EVERY", (*JOINT_TYPES, "custom"))      # made of the list when it is imported
    m = da.random_tree(2, 3, [kind.name, "revolute"])
    assert kind.name in {j.type.name for j in m.joints}
