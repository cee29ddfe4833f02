"""Vectors, names and paths that do not fit a mechanism: one error that names what, where and what was expected."""

import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest

import dalembert as da

ARM = da.Mechanism(
    "arm",
    [da.Body("base"), *(da.Body(name, 1, (0.1, 0, 0), (1, 0, 1, 0, 0, 1)) for name in ("upper", "fore", "hand"))],
    [da.Joint("shoulder", da.Revolute((0, 1, 0)), "base", "upper"),
     da.Joint("ball", da.Spherical(), "upper", "fore", da.Origin((1, 0, 0))),
     da.Joint("slide", da.Prismatic((1, 0, 0)), "fore", "hand", da.Origin((1, 0, 0)))],
    [da.Frame("tip", "hand", da.Origin((0.1, 0, 0)))])
Q, ZERO = ARM.neutral(), np.zeros(ARM.nv)


def entry(values, at, value):
    changed = np.array(values, dtype=float)
    changed[at] = value
    return changed


# what stands for qd in inverse_dynamics: (value, error, message)
VELOCITIES = {
    "too short": (np.zeros(3), da.ShapeError, r"qd has shape \(3,\), expected \(5,\) or \(N, 5\): mechanism 'arm' "
                                              r"has 5 \(shoulder, ball.angular x, ..., slide\)"),
    "too long": (np.zeros(6), da.ShapeError, r"qd has shape \(6,\), expected \(5,\)"),
    "empty": ([], da.ShapeError, r"shape \(0,\), expected \(5,\)"),
    "a number": (0.0, da.ShapeError, r"qd is 0.0 \(float\), expected \(5,\)"),
    "a column": (np.zeros((5, 1)), da.ShapeError, r"shape \(5, 1\), expected \(5,\) or \(N, 5\)"),
    "three-dimensional": (np.zeros((1, 1, 5)), da.ShapeError, r"shape \(1, 1, 5\)"),
    "ragged": ([[0, 0], [1]], da.ShapeError, r"rows of different lengths, expected \(5,\)"),
    "None": (None, da.ShapeError, r"qd is None \(NoneType\), expected"),
    "a mapping": ({"shoulder": 1}, da.ShapeError, "these are missing"),
    "a set": ({1, 2, 3, 4, 5}, da.ShapeError, r"qd is {1, 2, 3, 4, 5} \(set\)"),
    "a generator": ((0 for _ in range(5)), da.ShapeError, r"qd is <generator .* \(generator\)"),
    "a text": ("00000", da.ShapeError, r"qd is '00000' \(str\)"),
    "complex": (ZERO + 1j, TypeError, "qd holds complex numbers, expected real numbers"),
    "complex with zero imaginary part": (ZERO.astype(complex), TypeError, "complex numbers"),
    "texts": (["0"] * 5, TypeError, "qd holds texts"),
    "bytes": ([b"0"] * 5, TypeError, "qd holds bytes"),
    "bool": (ZERO > 0, TypeError, "qd holds truth values"),
    "a bool among objects": (np.array([0, True, 0, 0, 0], dtype=object), TypeError, r"qd holds True \(bool\)"),
    "a None among numbers": ([0, None, 0, 0, 0], TypeError, r"qd holds None \(NoneType\)"),
    "a text among objects": (np.array([0, "1", 0, 0, 0], dtype=object), TypeError, r"qd holds '1' \(str\)"),
    "objects": ([object()] * 5, TypeError, "qd holds values that are not real numbers"),
    "huge integer": ([10**400, 0, 0, 0, 0], TypeError, "not real numbers .*too large"),
    "dates": (np.zeros(5, "M8[s]"), TypeError, "qd holds dates"),
    "a structured array": (np.zeros(5, [("a", "f8")]), TypeError, "expected real numbers"),
    "NaN": (entry(ZERO, 3, np.nan), ValueError, "qd has the entry nan at index 3; expected finite numbers"),
    "infinity": (entry(ZERO, 0, -np.inf), ValueError, "qd has the entry -inf at index 0"),
    "NaN in a row": (entry(np.zeros((3, 5)), (2, 4), np.nan), ValueError, "qd has the entry nan at index 4 in row 2"),
    "masked": (np.ma.array(ZERO, mask=[0, 1, 0, 0, 0]), ValueError, "qd has the entry nan at index 1"),
    "beyond double": (np.full(5, np.longdouble("1e4000")) if np.finfo(np.longdouble).max > 1e308 * 10 else [1e999] * 5,
                      ValueError, "qd has the entry inf"),
}


@pytest.mark.parametrize("case", VELOCITIES)
def test_wrong_velocities_are_named(case):
    value, kind, message = VELOCITIES[case]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(kind, match=message) as caught:
            da.inverse_dynamics(ARM, Q, value, ZERO)
    said = str(caught.value)
    assert "\n" not in said and len(said) < 300
    assert str(pickle.loads(pickle.dumps(caught.value))) == said


def test_error_carries_its_data():
    with pytest.raises(da.ShapeError) as caught:
        da.inverse_dynamics(ARM, Q[:2], ZERO, ZERO)
    assert (caught.value.name, caught.value.shape, caught.value.expected) == ("q", (2,), (6,))
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, da.DalembertError)


QUANTITIES = {      # name: arguments after the mechanism
    "mass_matrix": "q", "inverse_mass_matrix": "q", "gravity_vector": "q", "potential_energy": "q",
    "center_of_mass": "q", "center_of_mass_jacobian": "q", "centroidal_momentum_matrix": "q",
    "coriolis_matrix": "q qd", "coriolis_vector": "q qd", "bias_force": "q qd", "passive_force": "q qd",
    "kinetic_energy": "q qd", "momenta": "q qd", "centroidal_momentum": "q qd",
    "inverse_dynamics": "q qd qdd", "forward_dynamics": "q qd tau",
}


@pytest.mark.parametrize("name", QUANTITIES)
def test_every_quantity_checks_each_vector(name):
    """A wrong length and a NaN in each argument in turn are named; so are batches of different sizes."""
    function, names = getattr(da, name), QUANTITIES[name].split()
    good = {n: Q if n == "q" else ZERO for n in names}
    function(ARM, *good.values())
    for n in names:
        with pytest.raises(da.ShapeError, match=rf"^{n} has shape"):
            function(ARM, *(good | {n: good[n][:-1]}).values())
        with pytest.raises(ValueError, match=rf"^{n} has the entry nan at index 0"):
            function(ARM, *(good | {n: good[n] * np.nan}).values())
    if len(names) > 1:
        rows = {n: np.tile(v, (2 + k, 1)) for k, (n, v) in enumerate(good.items())}
        with pytest.raises(da.ShapeError, match="different numbers of rows: q 2, qd 3"):
            function(ARM, *rows.values())


@pytest.mark.parametrize("name", QUANTITIES)
def test_batches_of_no_row_and_of_one_row(name):
    function, names = getattr(da, name), QUANTITIES[name].split()
    single = function(ARM, *(Q if n == "q" else ZERO for n in names))
    for n_rows in (0, 1, 2):
        rows = [np.tile(Q if n == "q" else ZERO, (n_rows, 1)) for n in names]
        batch = function(ARM, *rows)
        assert batch.shape == (n_rows, *np.shape(single)) and batch.dtype == float
        np.testing.assert_array_equal(batch, np.broadcast_to(single, batch.shape))
    if len(names) > 1:      # one row goes with any number of rows
        assert function(ARM, Q[None], *[np.zeros((4, ARM.nv))] * (len(names) - 1)).shape == (4, *np.shape(single))
        assert function(ARM, np.zeros((0, ARM.nq)), *[ZERO] * (len(names) - 1)).shape == (0, *np.shape(single))


def test_empty_batches_of_frames_and_of_the_manifold():
    none, no_steps = np.zeros((0, ARM.nq)), np.zeros((0, ARM.nv))
    assert da.placement(ARM, none, "tip").shape == (0, 4, 4)
    assert da.jacobian(ARM, none, "tip").shape == (0, 6, ARM.nv)
    assert ARM.rate(none, no_steps).shape == ARM.integrate(none, no_steps).shape == (0, ARM.nq)
    assert ARM.difference(none, none).shape == (0, ARM.nv)
    assert ARM.normalize(none).shape == (0, ARM.nq)


def test_other_number_types_give_equal_results():
    rng = np.random.default_rng(1)
    qd = rng.integers(-3, 4, 5)
    expected = da.inverse_dynamics(ARM, Q, qd.astype(float), ZERO)
    wide = np.zeros((5, 3))
    wide[:, 1] = qd
    read_only = qd.astype(float)
    read_only.flags.writeable = False
    for same in (qd, qd.tolist(), tuple(qd.tolist()), qd.astype("i1"), qd.astype("f4"), qd.astype("f2"), wide[:, 1],
                 qd.astype(">f8"), qd.astype(np.longdouble), [Fraction(int(x)) for x in qd], read_only,
                 memoryview(qd.astype(float)), qd.astype(float)[::-1][::-1], np.ma.array(qd)):
        np.testing.assert_array_equal(da.inverse_dynamics(ARM, Q, same, ZERO), expected)


def test_mechanism_without_freedom_takes_empty_vectors():
    post = da.Mechanism("post", [da.Body("base"), da.Body("a", 1)], [da.Joint("j", da.Fixed(), "base", "a")])
    assert da.mass_matrix(post, []).shape == (0, 0)
    assert da.inverse_dynamics(post, [], [], []).shape == (0,)
    assert da.forward_dynamics(post, np.zeros((3, 0)), [], []).shape == (3, 0)
    with pytest.raises(da.ShapeError, match=r"q has shape \(1,\), expected \(0,\)"):
        da.mass_matrix(post, [0.0])


# --- quaternions ----------------------------------------------------------------------------------------------------

def test_quaternion_off_unit_length_names_joint_norm_and_row():
    with pytest.raises(da.QuaternionError, match=r"q: the quaternion of joint 'ball' has norm 1.1, expected 1. "
                                                 r"mechanism.normalize\(q\) scales it") as caught:
        da.mass_matrix(ARM, entry(Q, 1, 1.1))
    assert caught.value.joint == "ball" and caught.value.norm == pytest.approx(1.1)
    with pytest.raises(da.QuaternionError, match="q in row 1: the quaternion of joint 'ball' has norm 2"):
        da.mass_matrix(ARM, entry(np.tile(Q, (3, 1)), (1, 1), 2.0))
    with pytest.raises(da.QuaternionError, match="has norm 0"):
        da.mass_matrix(ARM, np.zeros(ARM.nq))
    with pytest.raises(da.QuaternionError, match="q_0: the quaternion"):
        ARM.difference(Q, entry(Q, 1, 1.1))
    with pytest.raises(da.QuaternionError, match="is zero and has no direction"):
        ARM.normalize(np.zeros(ARM.nq))


def test_quaternion_within_tolerance_passes():
    da.mass_matrix(ARM, entry(Q, 1, 1 + 0.9e-6))
    da.mass_matrix(ARM, -Q)                                     # the same attitude
    with pytest.raises(da.QuaternionError):
        da.mass_matrix(ARM, entry(Q, 1, 1 + 1.1e-6))
    da.mass_matrix(ARM, ARM.normalize(entry(Q, 1, 7.0)))


# --- names ----------------------------------------------------------------------------------------------------------

def test_wrong_frame_and_axes_have_a_hint():
    for frame, message in (("tipp", "unknown frame 'tipp' .known: base, upper, fore, hand, tip.. Did you mean 'tip'"),
                           ("", "unknown frame ''"), (None, "unknown frame None"), (3, "unknown frame 3")):
        for call in (lambda f: da.placement(ARM, Q, f), lambda f: da.jacobian(ARM, Q, f),
                     lambda f: da.inverse_dynamics(ARM, Q, ZERO, ZERO, [da.ExternalForce(f, (1, 0, 0))])):
            with pytest.raises(da.UnknownNameError, match=message):
                call(frame)
    for axes in ("locl", "World", None, "body"):
        with pytest.raises(da.UnknownNameError, match="unknown axes .*known: world, local, aligned"):
            da.jacobian(ARM, Q, "tip", expressed_in=axes)
        with pytest.raises(da.UnknownNameError, match="unknown axes .*known: world, local, aligned"):
            da.ExternalForce("tip", (1, 0, 0), expressed_in=axes)
    with pytest.raises(KeyError, match="Did you mean 'hand'"):
        ARM.body("hnd")
    with pytest.raises(da.UnknownNameError, match="unknown joint 'sholder' .*Did you mean 'shoulder'"):
        ARM.joint("sholder")
    with pytest.raises(da.UnknownNameError, match="unknown kind 'frition' .*Did you mean 'friction'"):
        ARM.without("frition")


# --- external forces ------------------------------------------------------------------------------------------------

FORCES = {
    "two entries": (dict(force=(1, 0)), da.ShapeError, r"force at frame 'tip' has shape \(2,\), expected \(3,\) or "),
    "four entries": (dict(moment=np.zeros(4)), da.ShapeError, r"moment at frame 'tip' has shape \(4,\)"),
    "point in a plane": (dict(point=[[1, 2]]), da.ShapeError, r"point at frame 'tip' has shape \(1, 2\)"),
    "NaN": (dict(force=(1, np.nan, 0)), ValueError, "force at frame 'tip' has the entry nan at index 1"),
    "complex": (dict(force=(1j, 0, 0)), TypeError, "force at frame 'tip' holds complex numbers"),
    "text": (dict(force="100"), da.ShapeError, "force at frame 'tip' is '100'"),
    "None": (dict(force=None), da.ShapeError, "force at frame 'tip' is None"),
    "rows": (dict(force=np.zeros((2, 3))), da.ShapeError, "different numbers of rows: q 4, external_forces 2"),
    "rows of its own": (dict(force=np.zeros((2, 3)), moment=np.zeros((3, 3))), da.ShapeError,
                        "different numbers of rows"),
}


@pytest.mark.parametrize("case", FORCES)
def test_wrong_external_force_is_named(case):
    arguments, kind, message = FORCES[case]
    q = np.tile(Q, (4, 1))
    for function in (da.inverse_dynamics, da.forward_dynamics):
        with pytest.raises(kind, match=message):
            function(ARM, q, ZERO, ZERO, external_forces=[da.ExternalForce("tip", **arguments)])


def test_external_forces_are_a_sequence_of_external_forces():
    for wrong in (da.ExternalForce("tip"), np.zeros(6), [(1, 2, 3)], "tip", {"tip": (1, 0, 0)}):
        with pytest.raises(TypeError, match="external_forces .*ExternalForce"):
            da.inverse_dynamics(ARM, Q, ZERO, ZERO, external_forces=wrong)


def test_force_on_the_base_moves_nothing():
    force = [da.ExternalForce("base", (1, 2, 3), (4, 5, 6))]
    np.testing.assert_array_equal(da.inverse_dynamics(ARM, Q, ZERO, ZERO, force), da.gravity_vector(ARM, Q))


# --- values of locked joints, paths of numbers ----------------------------------------------------------------------

LOCKS = {
    "unknown joint": ({"slid": 0}, da.UnknownNameError, "unknown joint 'slid' .*Did you mean 'slide'"),
    "too few values": ({"ball": [1, 0]}, da.ModelError, r"joint 'ball' has 2 values, expected 4 \(w, x, y, z\)"),
    "too many values": ({"slide": [1, 0]}, da.ModelError, "lock of joint 'slide' has 2 values, expected 1"),
    "NaN": ({"slide": float("nan")}, ValueError, "lock of joint 'slide'.* is nan; expected a finite number"),
    "text": ({"slide": "1"}, TypeError, "lock of joint 'slide'.* is '1' .str.; expected a number"),
    "bool": ({"slide": True}, TypeError, "lock of joint 'slide'.* is True"),
    "complex": ({"slide": 1j}, TypeError, "lock of joint 'slide'.* is 1j"),
    "nested": ({"slide": [[1]]}, TypeError, r"lock of joint 'slide'.* is \[1\]"),
    "quaternion": ({"ball": [1, 1, 0, 0]}, da.QuaternionError, "lock: the quaternion of joint 'ball' has norm 1.414"),
    "zero quaternion": ({"ball": np.zeros(4)}, da.QuaternionError, "lock: the quaternion of joint 'ball' has norm 0"),
}


@pytest.mark.parametrize("case", LOCKS)
def test_wrong_lock_values_are_named(case):
    joints, kind, message = LOCKS[case]
    with pytest.raises(kind, match=message):
        ARM.lock(joints)


def test_lock_of_a_follower_names_its_leader():
    pair = da.Mechanism("pair", [da.Body("base"), da.Body("a", 1, (1, 0, 0)), da.Body("b", 1, (1, 0, 0))],
                        [da.Joint("j", da.Revolute(), "base", "a"),
                         da.Joint("k", da.Revolute(), "a", "b", mimic=da.Mimic("j", 2))])
    with pytest.raises(da.ModelError, match="joint 'k' follows 'j': lock that one"):
        pair.lock({"k": 0})
    assert pair.lock({"j": 0.1}).nv == 0


PATHS = {
    "misspelt number": ("hand.mas", "'mas' .known: mass, .*Did you mean 'mass'"),
    "misspelt part": ("hnd.mass", "unknown path 'hnd.mass' .*Did you mean 'hand.mass'"),
    "index": ("hand.com[3]", r"'com\[3\]' .*known: .*com\[2\]"),
    "no index": ("hand.com", r"'com' .*known: .*com\[0\]"),
    "index of a tensor": ("hand.inertia[3,0]", r"'inertia\[3,0\]'"),
    "gravity": ("gravity[3]", r"unknown path 'gravity\[3\]'"),
    "no number": ("hand", "unknown path 'hand'"),
    "empty": ("", "unknown path ''"),
    "friction of a spherical joint": ("ball.viscous", r"known: .*viscous\[0\]"),
    "not a text": (3, "unknown path 3"),
    "code": ("hand.__class__", "'__class__'"),
}


@pytest.mark.parametrize("case", PATHS)
def test_wrong_path_of_a_number_has_a_hint(case):
    path, message = PATHS[case]
    with pytest.raises(da.UnknownNameError, match=message):
        ARM.number(path)
    with pytest.raises(da.UnknownNameError, match=message):
        ARM.replace({path: 1})


def test_wrong_replacement_is_named():
    for value, kind, message in ((float("nan"), ValueError, "hand.mass is nan; expected a finite number"),
                                 ("1", TypeError, "hand.mass is '1' .str.; expected a number"),
                                 (None, TypeError, "hand.mass is None"), (True, TypeError, "hand.mass is True"),
                                 (1j, TypeError, "hand.mass is 1j"), (np.ones(2), TypeError, "hand.mass is array")):
        with pytest.raises(kind, match=message):
            ARM.replace({"hand.mass": value})
    with pytest.raises(da.ModelError, match="joint 'shoulder': axis has length 0"):
        ARM.replace({"shoulder.axis[1]": 0})
    with pytest.raises(da.ModelError, match="joint 'slide': viscous is -1, below 0"):
        ARM.replace({"slide.viscous": -1})
    with pytest.raises(ValueError, match=r"inertia\[1,0\] names a number that is already replaced"):
        ARM.replace({"hand.inertia[0,1]": 1, "hand.inertia[1,0]": 2})
    assert ARM.replace({"hand.mass": np.float32(2)}).number("hand.mass") == 2


def test_wrong_parts_are_named():
    for make, kind, message in (
            (lambda: da.Body("a", float("inf")), ValueError, "mass of body 'a' is inf"),
            (lambda: da.Body("a", 1, (0, 0)), ValueError, "com of body 'a' has 2 entries, expected 3"),
            (lambda: da.Body("a", 1, (0, 0, 0), (1, 1, 1)), ValueError, "inertia of body 'a' has 3 entries"),
            (lambda: da.Body("a", "1"), TypeError, "mass of body 'a' is '1'"),
            (lambda: da.Joint("j", da.Revolute(), "a", "b", viscous=(1, 2)), ValueError, "viscous of joint 'j' has 2"),
            (lambda: da.Origin((0, 0)), ValueError, "origin has 2 entries"),
            (lambda: da.Origin((0, 0, 0), (("w", 1),)), ValueError, "rotation axis 'w'"),
            (lambda: da.Revolute((0, 1)), ValueError, "axis has 2 entries"),
            (lambda: da.Mechanism("m", [], []), da.ModelError, "mechanism 'm': it has no body"),
            (lambda: da.Mechanism("m", [da.Body("a")], [], gravity=(0, 0)), ValueError, "gravity has 2 entries"),
            (lambda: da.Mechanism("m", [da.Body("")], []), da.ModelError, "a body without a name"),
            (lambda: da.Mechanism("m", [da.Body("a")], [], [da.Frame("a", "a")]), da.ModelError, "frame 'a': a body"),
            (lambda: da.Mechanism("m", [da.Body("a")], [], [da.Frame("f", "b")]), da.ModelError, "frame 'f'.*'b'")):
        with pytest.raises(kind, match=message):
            make()
