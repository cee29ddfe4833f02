"""Parts of a user's own are told apart by all that they do and hold, never by their names."""

import functools
import os
import pickle
import subprocess
import sys
import types
from dataclasses import dataclass

import numpy as np
import pytest

import dalembert as da
from dalembert.formulations import elementary_motions, lagrange
from dalembert.model.content import content
from dalembert.spatial.motion_force import Motion
from dalembert.spatial.rotations import NO_ROTATION
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import ZERO, Vector

UNIT = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


@dataclass
class Geared(da.JointType):
    """Displacement gain q along x; the gain is no parameter, and may be changed."""

    gain: float = 1.0
    name = "geared"
    coordinates = ("slide",)
    velocities = ("rate",)

    def placement(self, q):
        return Transform(Vector((self.gain * q[0], 0, 0)), NO_ROTATION)

    def subspace(self, q):
        return (Motion(ZERO, Vector((self.gain, 0, 0))),)


def slider(joint_type):
    return da.Mechanism("slider", (da.Body("base"), da.Body("load", 1.0)), (da.Joint("j", joint_type, "base", "load"),))


def inertia(m):
    plain, compiled = da.mass_matrix(m, [0.3])[0, 0], da.compile(m).mass_matrix([0.3])[0, 0]
    assert plain == pytest.approx(compiled)
    return compiled


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    from dalembert.native import cache

    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    cache.folder.cache_clear()
    yield tmp_path
    cache.folder.cache_clear()


def test_a_type_of_ones_own_has_no_identity_and_those_of_the_package_have():
    assert Geared().identity() is None and slider(Geared()).identity() is None
    assert da.Revolute((0, 0, 1)).identity() == da.Revolute((0, 0, 1)).identity() != da.Revolute((0, 0, 1.0)).identity()
    assert da.Revolute().identity() != da.Continuous().identity()
    assert da.planar_chain(2).identity() == da.planar_chain(2).identity() != da.planar_chain(3).identity()

    class Turned(da.Revolute):
        def placement(self, q):
            return super().placement([2 * q[0]])

    assert Turned().identity() is None


def test_a_field_that_is_no_parameter_changes_compiled_code(own_cache):
    assert [inertia(slider(Geared(gain))) for gain in (1.0, 3.0)] == pytest.approx([1, 9])


def test_two_classes_of_one_name_are_two(own_cache):
    def made(factor):
        class Same(da.JointType):
            name, coordinates, velocities = "same", ("slide",), ("rate",)

            def placement(self, q):
                return Transform(Vector((factor * q[0], 0, 0)), NO_ROTATION)

            def subspace(self, q):
                return (Motion(ZERO, Vector((factor, 0, 0))),)

        return Same()

    assert [inertia(slider(made(k))) for k in (1, 2, 5)] == pytest.approx([1, 4, 25])
    assert content(made(1)) == content(made(1)) != content(made(2))


def test_a_type_that_calls_itself_revolute_is_not_taken_for_one(own_cache):
    class Screwed(Geared):
        name, axis = "revolute", (0, 0, 1)

    assert inertia(slider(Screwed(2.0))) == pytest.approx(4)


class Doubled(da.Revolute):
    """Turns twice as far as its coordinate says."""

    def placement(self, q):
        return super().placement([2 * q[0]])

    def subspace(self, q):
        return tuple(Motion(column.angular * 2, column.linear * 2) for column in super().subspace(q))


def test_a_subclass_of_a_known_type_is_what_its_methods_say():
    body = da.Body("load", 1.0, (1.0, 0.0, 0.0), (0, 0.2, 0, 0, 0, 0.5))
    m = da.Mechanism("doubled", (da.Body("base"), body), (da.Joint("j", Doubled((0, 0, 1)), "base", "load"),))
    assert inertia(m) == pytest.approx(4 * 1.5)
    for formulation in (lagrange, elementary_motions):
        assert formulation.mass_matrix(m, [0.3])[0, 0] == pytest.approx(4 * 1.5)
    assert "M11 = 4 " in da.equations(m).text("mass_matrix")


def test_a_subclass_of_mechanism_is_what_its_methods_say(own_cache):
    class Heavier(da.Mechanism):
        def tree(self, *options, **more):
            plain = da.Mechanism(self.name, self.bodies, self.joints)
            return plain.replace({"load.mass": 5.0}).tree(*options, **more)

    plain = slider(da.Prismatic((1, 0, 0)))
    heavier = Heavier(plain.name, plain.bodies, plain.joints)
    assert [inertia(m) for m in (plain, heavier)] == pytest.approx([1, 5]) and heavier.identity() is None
    moved = [da.simulate(m, [0.0], [0.0], 1.0, control=[1.0], h=0.5).q[-1, 0] for m in (plain, heavier)]
    assert moved == pytest.approx([0.5, 0.1])


def test_a_type_changed_between_two_simulations_is_another(own_cache):
    joint_type = Geared(1.0)
    m, options = slider(joint_type), {"control": [1.0], "h": 0.1}
    first = da.simulate(m, [0.0], [0.0], 1.0, **options)
    joint_type.gain = 2.0
    assert da.simulate(m, [0.0], [0.0], 1.0, **options).q[-1] == pytest.approx(first.q[-1] / 4)


def test_a_type_changed_between_two_calls_of_plain_functions_is_another():
    joint_type = Geared(1.0)
    m = slider(joint_type)
    assert da.mass_matrix(m, [0.3])[0, 0] == 1
    joint_type.gain = 2.0
    assert da.mass_matrix(m, [0.3])[0, 0] == elementary_motions.mass_matrix(m, [0.3])[0, 0] == 4


TYPE = """
import sys, dalembert as da
from dalembert.spatial.motion_force import Motion
from dalembert.spatial.rotations import NO_ROTATION
from dalembert.spatial.transforms import Transform
from dalembert.spatial.vectors import ZERO, Vector
GAIN = float(sys.argv[1])

class Mine(da.JointType):
    name, coordinates, velocities = "mine", ("slide",), ("rate",)
    def placement(self, q):
        return Transform(Vector((FACTOR * q[0], 0, 0)), NO_ROTATION)
    def subspace(self, q):
        return (Motion(ZERO, Vector((FACTOR, 0, 0))),)

lever = da.Custom(lambda q: (((1, 0, 0), (0, 1, 0), (0, 0, 1)), (FACTOR * q[0], 0, 0)), ("slide",))
for joint_type in (Mine(), lever):
    m = da.Mechanism("m", (da.Body("base"), da.Body("load", 1.0)), (da.Joint("j", joint_type, "base", "load"),))
    print(da.compile(m).mass_matrix([0.3])[0, 0])
"""


@pytest.mark.parametrize("edited", [("3.0", "5.0"), ("GAIN", "GAIN")])
def test_code_edited_between_two_processes_is_compiled_again(tmp_path, edited):
    environment = os.environ | {"DALEMBERT_CACHE": str(tmp_path / "kept"), "PYTHONPATH": os.pathsep.join(sys.path)}
    found = []
    for factor, argument in zip(edited, ("3.0", "5.0"), strict=True):
        (tmp_path / "script.py").write_text(TYPE.replace("FACTOR", factor))
        run = subprocess.run([sys.executable, str(tmp_path / "script.py"), argument], env=environment, text=True,
                             capture_output=True, check=True)
        found.append([float(x) for x in run.stdout.split()])
    assert found == [pytest.approx([k * k] * 2) for k in (3, 5)]


def test_a_custom_joint_is_what_its_function_gave_when_it_was_made(own_cache):
    length = 1.0

    def lever(q):
        return UNIT, (length * q[0], 0, 0)

    before = slider(da.Custom(lever, ("slide",)))
    length = 3.0
    after = slider(da.Custom(lever, ("slide",)))
    assert [inertia(m) for m in (before, after, before)] == pytest.approx([1, 9, 1])
    assert before != after and before.joints[0].type != after.joints[0].type
    assert before.identity() != after.identity()


def planar(q):
    return UNIT, (da.sin(q[0]), q[1] * FACTOR, 0)


FACTOR = 2.0


def test_a_custom_joint_that_is_pickled_is_the_same_whatever_its_function_has_become(monkeypatch):
    joint_type = da.Custom(planar, ("slide", "other"))
    data = pickle.dumps(joint_type)
    monkeypatch.setitem(globals(), "FACTOR", 7.0)
    again = pickle.loads(data)
    assert again == joint_type != da.Custom(planar, ("slide", "other"))
    assert again.placement([0.1, 0.2]).p == joint_type.placement([0.1, 0.2]).p
    assert again.identity() == joint_type.identity()


class Holder:
    def __init__(self, gain):
        self.gain = gain

    def force(self, t, q, qd):
        return [-self.gain * q[0]]


def test_controls_and_events_are_what_they_refer_to_when_the_run_begins(own_cache):
    m, holder, gains = slider(da.Prismatic((1, 0, 0))), Holder(1.0), {"k": 1.0}
    module = types.ModuleType("settings")
    module.gain = 1.0

    def by_module(t, q, qd):
        return [-module.gain * q[0]]

    def by_dict(t, q, qd):
        return [-gains["k"] * q[0]]

    def energy(run):
        return run.q[-1, 0]

    for control in (holder.force, by_module, by_dict, functools.partial(Holder.force, holder)):
        holder.gain = module.gain = gains["k"] = 1.0
        first = energy(da.simulate(m, [1.0], [0.0], 1.0, control=control, h=0.01))
        holder.gain = module.gain = gains["k"] = 4.0
        again = energy(da.simulate(m, [1.0], [0.0], 1.0, control=control, h=0.01))
        assert (first, again) == pytest.approx((np.cos(1), np.cos(2)), abs=1e-6)
    level = [0.5]
    for level[0] in (0.5, 1.5):
        run = da.simulate(m, [0.0], [1.0], 2.0, events=[lambda t, q, qd: q[0] - level[0]], h=0.1)
        assert [event.t for event in run.events] == pytest.approx(level)


def test_a_traced_function_and_a_lagrangian_are_what_they_gave_when_they_were_made(own_cache):
    scale = [1.0]
    functions, systems = [], []
    for k in (1.0, 2.0):
        scale[0] = k
        functions.append(da.function(lambda x: scale[0] * x, x=1))
        systems.append(da.lagrangian_system(lambda q, qd, t: scale[0] * qd[0]**2 / 2, ["x"]))
    assert [f([1.0])[0] for f in functions] == [1.0, 2.0]
    assert [da.compile(s).mass_matrix([0.0], [0.0], [0.0])[0, 0] for s in systems] == [1.0, 2.0]
    assert systems[0].identity() != systems[1].identity()


def test_content_follows_code_defaults_closures_globals_and_state():
    def made(source, **names):
        space = {"np": np, "da": da, **names}
        exec(source, space)
        return space["f"]

    one = "def f(q):\n    return g * q + 1"
    same = [content(made(one, g=1.0)) for _ in range(2)]
    assert same[0] == same[1] is not None
    other = [content(made(s, **names)) for s, names in (
        (one, {"g": 2.0}), (one.replace("+ 1", "+ 2"), {"g": 1.0}), (one.replace("(q)", "(q, a=1)"), {"g": 1.0}),
        (one, {"g": np.array([1.0])}), ("def f(q):\n    return da.sin(q)", {}), ("def f(q):\n    return da.cos(q)", {}),
        ("def f(q):\n    return h(q)", {"h": made(one, g=1.0)}), ("def f(q):\n    return h(q)", {"h": made(one, g=3.0)}),
        ("def f(q):\n    return [x + 1 for x in q]", {}), ("def f(q):\n    return [x + 2 for x in q]", {}))]
    assert None not in other and len({*same, *other}) == 1 + len(other)
    assert content(Holder(1).force) == content(Holder(1).force) != content(Holder(2).force)
    assert content([Holder(1)]) != content([Holder(1.0)]) and content({"a": 1}) != content({"b": 1})


def test_functions_of_installed_packages_are_told_by_name():
    from dalembert import sin, where

    def f(q):
        return where(q > 0, sin(q), np.linalg.norm(q))

    found = [content(x) for x in (sin, where, da.cos, np.sin, np.linalg.norm, f)]
    assert None not in found and len(set(found)) == len(found)


def test_what_a_custom_joint_returns_is_checked_when_it_is_made():
    with pytest.raises(da.ShapeError, match=r"returned p of shape \(2,\), expected \(3,\)"):
        da.Custom(lambda q: (UNIT, (q[0], 0)))
    with pytest.raises(da.ShapeError, match=r"returned R of shape \(9,\)"):
        da.Custom(lambda q: ([1, 0, 0, 0, 1, 0, 0, 0, 1], (q[0], 0, 0)))
    with pytest.raises(TypeError, match="expected the names of one to six"):
        da.Custom(lambda q: (UNIT, (0, 0, 0)), ())


def test_content_that_cannot_be_told_is_none(tmp_path):
    def reads(q):
        return open("numbers.txt").read()

    assert content(reads) is None and content(iter([1])) is not None and content(x for x in "ab") is None
    with (tmp_path / "file").open("w") as file:
        assert content(file) is None and content([1, file]) is None


def test_content_of_things_that_refer_to_themselves_ends():
    loop = [1]
    loop.append(loop)

    def again(n):
        return again(n - 1) if n else loop

    assert content(loop) is not None and content(again) is not None
    deep = []
    for _ in range(5000):
        deep = [deep]
    assert content(deep) is None or isinstance(content(deep), str)
