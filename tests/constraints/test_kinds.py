"""Rows of every kind of constraint: derivatives of its residuals, whose forces do the work that the reaction does."""

import numpy as np
import pytest

import dalembert as da
from dalembert import constraints as kinds
from dalembert.codegen.symbols import vector_of_symbols
from dalembert.expr import evaluate
from dalembert.systems.kinds import system_of

H = 1e-6                                  # s, of central differences: errors of 1e-10 to 1e-8
TREE = da.random_tree(3, 10)              # every joint type, followers, oblique axes
TYPES = [da.Fixed(), da.Revolute((1, 2, 3)), da.Revolute((0, 1, 0)), da.Continuous((0, 0, -1)), da.Prismatic((1, -1, 2)),
         da.Helical((0.3, 1, 0.2), pitch=0.2), da.Cylindrical((0, 1, 0)), da.Universal((1, 0, 0), (0.2, 1, 0)), da.Planar((1, 1, 0)),
         da.Spherical()]
FIRST = "body10", (0.4, -1.1, 0.3), (0.2, -0.7, 1.9)
SECOND = "body8", (-0.8, 0.1, 0.6), (-1.2, 0.5, 0.3)
PLANE = (0, 0, 0.1), (1, 2, 3)


def hills(p):
    return 2 * (p[2] - 0.3 * p[0] * p[0] - 0.2 * da.sin(p[1]) * p[0])


SINGLE = [j.name for j in TREE.joints if j.type.nq == 1]
KINDS = [*(kinds.Closure(f"{t.name}{k}", t, FIRST, SECOND) for k, t in enumerate(TYPES)),
         kinds.Distance("rod", FIRST, SECOND, 0.7), kinds.PointContact("point", FIRST, PLANE), kinds.PointContact("on hills", FIRST, hills),
         kinds.Knife("knife", FIRST, (1, 2, 0)), kinds.Rolling("coin", FIRST, 0.3, PLANE), kinds.Rolling("egg", FIRST, (0.3, 0.2, 0.5), PLANE),
         kinds.Rolling("ball", FIRST, (0.3, 0.3, 0.3), PLANE), kinds.Rolling("ball on hills", FIRST, (0.1, 0.1, 0.1), hills),
         kinds.Rolling("coin on hills", FIRST, 0.1, hills), kinds.Rolling("egg on hills", FIRST, (0.2, 0.1, 0.15), hills),
         kinds.Coupling("belt", {SINGLE[0]: 2, SINGLE[1]: -3.0}, 0.3), kinds.Cam("cam", SINGLE[0], SINGLE[1], lambda x: da.sin(x) + x * x)]


def least(J, b):
    return np.linalg.pinv(J, rcond=1e-10) @ b


def consistent(constraint, seed=1):
    """The mechanism with the constraint, and a state that meets it."""
    mechanism = TREE.constrained(constraint)
    system = system_of(mechanism)
    q, qd = mechanism.random_state(seed)
    for _ in range(60):
        residual = constraint.position(system, q)
        if not constraint.has_position or np.abs(residual).max() < 1e-13:
            break
        J = constraint.rates(system, q, np.zeros(mechanism.nv)).jacobian[:len(residual)]
        step = -least(J, residual)
        q = mechanism.normalize(mechanism.integrate(q, step * min(1, 0.7 / np.abs(step).max())))
    rows = constraint.rates(system, q, qd)
    return mechanism, system, q, qd - least(rows.jacobian, rows.velocity)


@pytest.fixture(scope="module", params=KINDS, ids=lambda c: c.name)
def case(request):
    return request.param, *consistent(request.param)


def test_residuals_rates_and_accelerations_are_derivatives_of_each_other(case):
    constraint, mechanism, system, q, qd = case
    rows = constraint.rates(system, q, qd)
    assert np.abs(rows.jacobian @ qd - rows.velocity).max() < 1e-12
    if constraint.has_position:
        direction = np.random.default_rng(2).standard_normal(mechanism.nv)
        after, before = (constraint.position(system, mechanism.integrate(q, h * direction)) for h in (H, -H))
        assert np.abs(before).max() < 1e-3
        assert np.abs((after - before) / (2 * H) - (rows.jacobian @ direction)[:len(after)]).max() < 1e-7
    qdd = least(rows.jacobian, rows.bias)

    def velocity(h):
        return constraint.rates(system, mechanism.integrate(q, h * qd + h * h / 2 * qdd), qd + h * qdd).velocity

    assert np.abs(velocity(H) - velocity(-H)).max() / (2 * H) < 1e-7


def test_rows_on_expressions_are_those_on_numbers(case):
    constraint, mechanism, system, q, qd = case
    with da.Graph():
        inputs = vector_of_symbols("q", mechanism.nq), vector_of_symbols("qd", mechanism.nv)
        rows = constraint.rates(system, *inputs)
        values = dict(zip(np.concatenate(inputs), [*q, *qd], strict=True))
        traced = [evaluate(np.asarray(part, dtype=object), values) for part in rows]
    assert len(rows.velocity) == (constraint.count or len(rows.velocity))
    for one, other in zip(traced, constraint.rates(system, q, qd), strict=True):
        assert np.allclose(one, other, atol=1e-10)


def test_the_reaction_does_the_work_of_the_multipliers(case):
    constraint, mechanism, system, q, qd = case
    J = constraint.rates(system, q, qd).jacobian
    multipliers = np.random.default_rng(3).standard_normal(len(J))
    reaction = constraint.reaction(system, q, qd, 0.0, multipliers)
    if constraint.acts_on is None:
        assert np.allclose(reaction, J.T @ multipliers)
        return
    probed = TREE.attach(da.Body("probe"), constraint.acts_on.body, origin=constraint.acts_on.origin)
    motion, place = da.jacobian(probed, q, "probe"), da.placement(probed, q, "probe")[:3, 3]
    if hasattr(constraint, "first"):             # the opposite wrench acts on the first body, at the same point
        probed = TREE.attach(da.Body("probe"), constraint.first.body, origin=constraint.first.origin)
        first = da.jacobian(probed, q, "probe")
        arm = place - da.placement(probed, q, "probe")[:3, 3]
        first[3:] += np.cross(first[:3].T, arm).T
        motion = motion - first
    assert np.abs(motion.T @ reaction - J.T @ multipliers).max() < 1e-12


@pytest.mark.parametrize("joint", [t for t in TYPES if t.name != "universal"], ids=lambda t: t.name)
def test_a_closure_holds_where_its_joint_places_the_second_frame_and_not_at_half_turns(joint):
    """A closure of a joint that the tree has too: its residual is 0 at every q of that joint, and never after a half turn."""
    turns = [da.Joint(name, da.Revolute(axis), parent, name) for name, axis, parent in (
        ("about x", (1, 0, 0), "child"), ("about y", (0, 1, 0), "about x"), ("about z", (0, 0, 1), "about y"))]
    bodies = [da.Body(name) for name in ("base", "child", "about x", "about y", "about z")]
    tree = da.Mechanism("joint", tuple(bodies), (da.Joint("joint", joint, "base", "child", da.Origin.rpy((1, 2, 3), 0.4, 0.5, 0.6)), *turns))
    closure = kinds.Closure("closure", joint, ("base", (1, 2, 3), (0.4, 0.5, 0.6)), "about z")
    system = system_of(tree.constrained(closure))
    q = tree.random_state(4)[0]
    q[-3:] = 0
    assert np.abs(closure.position(system, q)).max() < 1e-14
    turns_about = tuple(np.abs(joint.axis)) if joint.name in ("revolute", "continuous", "cylindrical", "planar") else None
    for k in range(3):
        turned = q.copy()
        turned[-3 + k] = np.pi
        free = joint.name == "spherical" or turns_about == tuple(np.eye(3)[k])
        assert (np.abs(closure.position(system, turned)).max() < 1e-14) == free


def test_a_universal_closure_holds_the_angle_of_its_axes():
    joint = da.Universal((1, 0, 0), (0, 1, 0))
    tree = da.Mechanism("joint", (da.Body("base"), da.Body("cross")), (da.Joint("joint", joint, "base", "cross"),))
    closure = kinds.Closure("closure", joint, "base", "cross")
    system = system_of(tree.constrained(closure))
    assert np.abs(closure.position(system, [0.7, -2.0])).max() < 1e-15
    assert np.abs(closure.rates(system, [0.7, -2.0], [1.0, 2.0]).jacobian).max() < 1e-15


def test_a_weld_of_a_body_turned_by_exactly_half_a_turn_is_not_met():
    tree = da.Mechanism("hinge", (da.Body("base"), da.Body("rod")), (da.Joint("hinge", da.Revolute((0, 0, 1)), "base", "rod"),))
    for joint in (da.Fixed(), da.Revolute((1, 0, 0))):
        closure = kinds.Closure("weld", joint, "base", ("rod", (0, 0, 0), (0, 0, np.pi)))
        residual = closure.position(system_of(tree.constrained(closure)), [0.0])
        assert np.isclose(np.linalg.norm(residual), np.pi)
        assert np.abs(closure.position(system_of(tree.constrained(closure)), [np.pi])).max() < 1e-15


def test_numbers_of_constraints_may_be_symbols_of_any_graph():
    with da.Graph():
        a, h = da.symbols("a h")
    screw = kinds.Closure("screw", da.Helical((0, 0, 1), pitch=h), ("body3", (a, 0, 0.2)), ("body7", (0, a, 0)))
    numbers = kinds.Closure("screw", da.Helical((0, 0, 1), pitch=0.3), ("body3", (0.7, 0, 0.2)), ("body7", (0, 0.7, 0)))
    symbolic, plain = TREE.constrained(screw), TREE.constrained(numbers)
    assert symbolic.symbols == ("a", "h") and symbolic.replace({"a": 0.7, "h": 0.3}).number("screw.pitch") == 0.3
    q, qd = plain.random_state(5)
    with da.Graph():
        inputs = vector_of_symbols("q", TREE.nq), vector_of_symbols("qd", TREE.nv)
        rows = screw.rates(system_of(symbolic), *inputs)
        values = dict(zip(np.concatenate(inputs), [*q, *qd], strict=True)) | {"a": 0.7, "h": 0.3}
        found = [evaluate(np.asarray(part, dtype=object), values) for part in rows]
    for one, other in zip(found, numbers.rates(system_of(plain), q, qd), strict=True):
        assert np.allclose(one, other, atol=1e-12)


def test_numbers_are_paths_and_identity_tells_constraints_apart():
    for constraint in KINDS:
        for name, value in constraint.numbers().items():
            other = constraint.with_numbers({name: value + 0.25})
            assert other.numbers()[name] == value + 0.25
            assert constraint.identity() is None or other.identity() != constraint.identity()
            assert other.with_numbers({name: value}).identity() == constraint.identity()


def test_constraints_are_refused_in_a_sentence():
    with pytest.raises(ValueError, match="'loop': type 'free' holds nothing, so that it closes no loop"):
        kinds.Closure("loop", da.Free(), "a", "b")
    with pytest.raises(ValueError, match="'loop': type 'custom' is a function .* cut the loop at another joint"):
        kinds.Closure("loop", da.Custom(lambda q: (np.eye(3).tolist(), [q[0], 0, 0]), ("slide",)), "a", "b")
    with pytest.raises(ValueError, match="has pitch 0 and turns only: take da.Revolute"):
        kinds.Closure("loop", da.Helical((0, 0, 1)), "a", "b")
    with pytest.raises(ValueError, match="length of distance 'rod' is 0, expected a positive number"):
        kinds.Distance("rod", "a", "b", 0)
    with pytest.raises(ValueError, match="axis of knife 'skate' has length 0"):
        kinds.Knife("skate", "a", (0, 0, 0))
    with pytest.raises(ValueError, match="radius of constraint 'wheel' is -1, expected a positive number"):
        kinds.Rolling("wheel", "a", -1, PLANE)
    with pytest.raises(TypeError, match="surface of constraint 'foot' .* expected \\(point, normal\\), or a function"):
        kinds.PointContact("foot", "a", 3)
    with pytest.raises(TypeError, match="factors of coupling 'belt' .* expected {joint: factor}"):
        kinds.Coupling("belt", 3)
    with pytest.raises(da.UnknownNameError, match="coordinate 'j.angl'"):
        tree = da.Mechanism("m", (da.Body("base"), da.Body("b", 1)), (da.Joint("j", da.Planar(), "base", "b"),))
        da.constraint_residual(tree.constrained(kinds.Coupling("belt", {"j.angl": 1})), [0, 0, 0])
    with pytest.raises(da.ConstraintError, match="the surface of constraint 'bowl' has no normal at \\(0.0, 0.0, 0.0\\)"):
        tree = da.Mechanism("m", (da.Body("base"), da.Body("b", 1)), (da.Joint("j", da.Planar(), "base", "b"),))
        da.constraint_residual(tree.constrained(kinds.PointContact("bowl", "b", lambda p: p[0] * p[0])), [0, 0, 0])
