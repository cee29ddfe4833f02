"""The mechanism as frozen data: order, names, lumping, followers, edits, copies."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

import dalembert as da
from dalembert.spatial.angles import PiMultiple


def arm():
    """Shoulder - upper - elbow - fore, a bracket fixed on the forearm, a finger that follows the elbow."""
    return da.Mechanism(
        "arm",
        [da.Body("base"), da.Body("upper", 2, (0.2, 0, 0), (0.01, 0, 0.03, 0, 0, 0.03)),
         da.Body("fore", 1, (0.1, 0, 0), (0.005, 0, 0.01, 0, 0, 0.01)), da.Body("bracket", Fraction(1, 2), (0, 0, 0.1)),
         da.Body("finger", 0.1, (0.05, 0, 0), (1e-4, 0, 1e-4, 0, 0, 1e-4))],
        [da.Joint("shoulder", da.Revolute((0, 0, 1)), "base", "upper", rotor_inertia=1e-4, gear_ratio=100),
         da.Joint("elbow", da.Revolute((0, 1, 0)), "upper", "fore", da.Origin((0.5, 0, 0)), viscous=0.3, coulomb=0.1,
                  stiffness=4, rest=0.2),
         da.Joint("mount", da.Fixed(), "fore", "bracket", da.Origin.rpy((0.3, 0, 0), 0, PiMultiple("1/2"), 0)),
         da.Joint("grip", da.Revolute((1, 0, 0)), "bracket", "finger", da.Origin((0, 0.05, 0)),
                  mimic=da.Mimic("elbow", -2, 0.3))],
        [da.Frame("tool", "bracket", da.Origin((0, 0, 0.2)))])


def test_joints_are_in_topological_order_with_ties_by_the_order_given():
    m = arm()
    for permutation in ([3, 2, 1, 0], [1, 3, 0, 2]):
        shuffled = da.Mechanism("arm", m.bodies[::-1], [m.joints[k] for k in permutation], m.frames)
        assert [j.name for j in shuffled.joints] == ["shoulder", "elbow", "mount", "grip"]
        assert shuffled.bodies[0].name == "base"


def test_followers_and_fixed_joints_have_no_entry():
    m = arm()
    assert (m.nq, m.nv) == (2, 2)
    assert m.coordinate_names == ("shoulder", "elbow")


def test_a_follower_equals_the_independent_joint_under_its_constraint():
    """M = G^T M' G and the like with q' = (q1, q2, -2 q2 + 0.3)."""
    m, free = arm(), arm().independent()
    G, q, qd = np.array([[1, 0], [0, 1], [0, -2]]), np.array([0.4, -0.7]), np.array([0.3, 0.9])
    full, full_rate = G @ q + [0, 0, 0.3], G @ qd
    assert np.allclose(da.mass_matrix(m, q), G.T @ da.mass_matrix(free, full) @ G, rtol=1e-13)
    assert np.allclose(da.gravity_vector(m, q), G.T @ da.gravity_vector(free, full), rtol=1e-13)
    assert np.allclose(da.coriolis_matrix(m, q, qd), G.T @ da.coriolis_matrix(free, full, full_rate) @ G, atol=1e-15)
    assert np.allclose(da.jacobian(m, q, "finger"), da.jacobian(free, full, "finger") @ G, atol=1e-15)
    assert da.potential_energy(m, q) == pytest.approx(da.potential_energy(free, full))
    tau = da.inverse_dynamics(m, q, qd, [1, 2])
    assert np.allclose(da.forward_dynamics(m, q, qd, tau), [1, 2], rtol=1e-12)


def test_chains_of_followers_compose_whatever_their_order_in_the_file():
    m = arm().independent()
    joints = [m.joints[0], m.joints[1], m.joints[2], m.joints[3]]
    chained = [da.Joint(j.name, j.type, j.parent, j.child, j.origin, mimic=mimic) for j, mimic in
               zip(joints, (da.Mimic("elbow", 3, 1), da.Mimic("grip", -2, Fraction(1, 2)), None, None), strict=True)]
    chain = da.Mechanism("chain", m.bodies, chained)
    entry = chain.entries["shoulder"]                              # 3 (-2 q + 1/2) + 1
    assert (entry.factor, entry.offset) == (-6, Fraction(5, 2))
    assert chain.coordinate_names == ("grip",)


def test_links_on_fixed_joints_are_lumped_exactly_and_their_frames_kept():
    m = arm()
    T = da.placement(m, [0, 0], "tool")
    assert np.array_equal(T, [[0, 0, 1, 1.0], [0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1]])     # exact quarter turn
    tree = m.tree()
    inertia = tree.inertia[2]                                      # forearm and bracket
    assert inertia.m == 1.5
    assert tuple(inertia.h) == pytest.approx((0.1 + 0.5 * 0.4, 0, 0))
    exact = m.tree(exact=True).inertia[2]
    assert exact.m == Fraction(3, 2) and isinstance(exact.m, Fraction)


def test_rotor_inertia_enters_the_mass_matrix_and_a_rotor_may_carry_a_massless_link():
    m = arm()
    assert da.mass_matrix(m, [0, 0])[0, 0] - da.mass_matrix(m.without("rotors"), [0, 0])[0, 0] == pytest.approx(1.0)
    ghost = da.Mechanism("motor", [da.Body("base"), da.Body("ghost")],
                         [da.Joint("j", da.Revolute(), "base", "ghost", rotor_inertia=0.5)])
    assert da.forward_dynamics(ghost, [0], [0], [1.0])[0] == pytest.approx(2.0)


def test_passive_force_is_spring_and_friction_as_forces_on_the_joint():
    m = arm()
    q, qd = [0.1, 0.7], [0.2, -0.5]
    assert da.passive_force(m, q, qd) == pytest.approx([0, -4 * 0.5 + 0.3 * 0.5 + 0.1])
    assert not da.passive_force(m.without("springs", "friction"), q, qd).any()
    assert da.passive_force(m, q, [0, 0])[1] == pytest.approx(-2.0)          # Coulomb friction at rest is 0 here


@pytest.mark.parametrize("path, value", [("upper.mass", 2), ("bracket.com[2]", 0.1), ("fore.inertia[1,1]", 0.01),
                                         ("elbow.origin[0]", 0.5), ("mount.rotation[0]", PiMultiple("1/2")),
                                         ("elbow.axis[1]", 1), ("elbow.viscous", 0.3), ("shoulder.gear_ratio[0]", 100),
                                         ("grip.multiplier", -2), ("tool.origin[2]", 0.2), ("gravity[0]", 0)])
def test_numbers_are_read_and_replaced_by_path(path, value):
    m = arm()
    assert m.number(path) == value
    changed = m.replace({path: 5})
    assert changed.number(path) == 5 and m.number(path) == value
    assert changed.replace({path: value}) == m


def test_an_inertia_path_knows_its_transposed():
    assert arm().replace({"fore.inertia[1,0]": 0.125}).number("fore.inertia[0,1]") == 0.125


def test_unknown_paths_are_named_with_a_proposal():
    with pytest.raises(da.UnknownNameError, match=r"unknown number of 'fore' 'mas' .*Did you mean 'mass'\?"):
        arm().number("fore.mas")
    with pytest.raises(da.UnknownNameError, match="unknown path 'forearm.mass'.*Did you mean 'fore.mass'"):
        arm().replace({"forearm.mass": 1})
    with pytest.raises(TypeError, match="type of joint 'j' is 'revolute'; expected a type, as da.Revolute"):
        da.Joint("j", "revolute", "a", "b")
    with pytest.raises(TypeError, match="upper.mass is 'heavy'"):
        arm().replace({"upper.mass": "heavy"})
    with pytest.raises(ValueError, match="upper.mass is nan"):
        arm().replace({"upper.mass": float("nan")})


@pytest.mark.parametrize("seed", range(12))
def test_a_locked_joint_stays_where_its_coordinates_place_it(seed):
    m = da.random_tree(seed, 12)
    q, _ = m.random_state(seed)
    joint = m.independent_joints[seed % len(m.independent_joints)]
    at = m.entries[joint.name].at_q
    locked = m.lock({joint.name: list(q[at])})
    rest = np.delete(q, np.arange(at.start, at.stop))
    assert locked.nq == m.nq - joint.type.nq
    for name in (m.bodies[-1].name, m.frames[0].name):
        assert np.allclose(da.placement(locked, rest, name), da.placement(m, q, name), atol=1e-13)


def test_locking_takes_followers_along_and_refuses_to_lock_a_follower():
    m = arm()
    locked = m.lock({"elbow": 0.25})
    assert np.allclose(da.placement(locked, [0.1], "finger"), da.placement(m, [0.1, 0.25], "finger"), atol=1e-15)
    assert m.lock(["elbow"]).nv == 1
    with pytest.raises(da.ModelError, match="joint 'grip' follows 'elbow': lock that one"):
        m.lock({"grip": 0})
    with pytest.raises(da.ModelError, match="joint 'mount' is fixed already"):
        m.lock(["mount"])
    with pytest.raises(da.UnknownNameError, match="unknown joint 'elbo'.*Did you mean 'elbow'"):
        m.lock({"elbo": 0})
    with pytest.raises(da.ModelError, match="lock of joint 'elbow' has 2 values, expected 1"):
        m.lock({"elbow": [0, 1]})


@pytest.mark.parametrize("how", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, copy.copy])
def test_mechanisms_pickle_and_copy(how):
    m = da.random_tree(11, 14)
    q, _ = m.random_state(1)
    M = da.mass_matrix(m, q)                                       # caches are filled, and left behind
    twin = how(m)
    assert twin == m
    assert np.array_equal(da.mass_matrix(twin, q), M)


def test_a_mechanism_with_symbols_pickles():
    with da.Graph():
        m = arm().replace({"upper.mass": da.symbol("m1"), "elbow.origin[0]": da.symbol("l") * 2})
        twin = pickle.loads(pickle.dumps(m))
        assert str(twin.number("elbow.origin[0]")) == str(m.number("elbow.origin[0]"))


def test_mechanisms_are_immutable():
    with pytest.raises(AttributeError):
        arm().name = "other"


def test_quaternions_are_checked_and_normalised():
    m = da.Mechanism("ball", [da.Body("base"), da.Body("b", 1, (0, 0, 1), (1, 0, 1, 0, 0, 1))],
                     [da.Joint("socket", da.Spherical(), "base", "b")])
    da.mass_matrix(m, [1 + 1e-7, 0, 0, 0])
    with pytest.raises(da.QuaternionError, match=r"quaternion of joint 'socket' has norm 1.00001, expected 1. mechanism.norm"):
        da.mass_matrix(m, [1.00001, 0, 0, 0])
    with pytest.raises(da.QuaternionError, match="q in row 2: the quaternion of joint 'socket' has norm 2"):
        da.mass_matrix(m, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 2, 0]])
    assert np.allclose(m.normalize([[2, 0, 0, 0], [0, 3, 4, 0]]), [[1, 0, 0, 0], [0, 0.6, 0.8, 0]])
    with pytest.raises(da.QuaternionError, match="is zero"):
        m.normalize([0, 0, 0, 0])


def test_shape_errors_name_vector_length_and_mechanism():
    with pytest.raises(da.ShapeError, match=r"q has shape \(3,\), expected \(2,\) or \(N, 2\): mechanism 'arm' has 2 "
                                            r"\(shoulder, elbow, and followers have no entry: grip\)\."):
        da.mass_matrix(arm(), [0, 0, 0])
    with pytest.raises(da.ShapeError, match=r"q has shape \(2, 5\), .* States are rows: did you mean q\.T\?"):
        da.mass_matrix(arm(), np.zeros((2, 5)))
    with pytest.raises(da.ShapeError, match="different numbers of rows: q 3, qd 2"):
        da.bias_force(arm(), np.zeros((3, 2)), np.zeros((2, 2)))


def test_a_mechanism_without_moving_joints_has_empty_dynamics():
    m = da.Mechanism("stone", [da.Body("base", 5)], [])
    assert da.mass_matrix(m, []).shape == (0, 0)
    assert da.inverse_dynamics(m, [], [], []).shape == (0,)
    assert da.kinetic_energy(m, [], []) == 0


def test_limits_are_checked_like_other_numbers():
    with pytest.raises(ValueError, match=r"upper limit of joint 'j'\[0\] is inf; expected a finite number"):
        da.Joint("j", da.Revolute(), "a", "b", limits=da.Limits(upper=(float("inf"),)))
    with pytest.raises(ValueError, match="lower limit of joint 'j' has 2 entries, expected 1"):
        da.Joint("j", da.Revolute(), "a", "b", limits=da.Limits(lower=(0, 0)))


def test_multiples_of_pi_are_kept_as_angles_and_floats_elsewhere():
    half = PiMultiple("1/2")
    joint = da.Joint("j", da.Revolute(), "a", "b", da.Origin((half, 0, 0), (("x", half),)), rest=half)
    assert joint.origin.rotations == (("x", half),)
    assert joint.origin.xyz[0] == joint.rest[0] == float(half)


def test_a_result_that_overflows_is_an_error_not_an_infinity():
    heavy = arm().replace({"upper.mass": 1e300})
    with pytest.raises(da.OverflowedError, match="^the result is inf: numbers became too large"):
        da.kinetic_energy(da.planar_chain(2), [1e308, 0], [1e308, 1])
    with pytest.raises(da.OverflowedError, match=r"entry \(0,\) of the result is .*SI units"):
        da.bias_force(heavy, [0.1, 0.2], [1e10, 1e10])


def test_a_mechanism_is_shown_in_a_line():
    text = repr(da.planar_chain(30))
    assert text == f"<Mechanism {da.planar_chain(30).name!r}: 31 bodies, 30 joints, nq = 30, nv = 30>"


def test_names_of_frames_are_in_the_order_of_bodies():
    """Wherever the base stands in the list that is given."""
    bodies = [da.Body("tip", 1.0), da.Body("base"), da.Body("arm", 1.0)]
    joints = [da.Joint("b", da.Revolute((0, 1, 0)), "arm", "tip"), da.Joint("a", da.Revolute((0, 1, 0)), "base", "arm")]
    arm = da.Mechanism("arm", bodies, joints, [da.Frame("tool", "tip")])
    assert arm.frame_names == (*(body.name for body in arm.bodies), "tool") == ("base", "arm", "tip", "tool")
