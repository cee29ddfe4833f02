"""Single calls by a generated built-in: what it takes itself, what it hands on, references, lifetime."""

import array
import gc
import inspect
import sys
import threading
import weakref

import numpy as np
import pytest

import dalembert as da
from dalembert.compiled.builtin import SUPPORTED

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="the interpreter is not a 64-bit CPython")


@pytest.fixture(scope="module")
def dynamics():
    dyn = da.compile(da.planar_chain(3))
    q = np.zeros(3)
    dyn.inverse_dynamics(q, q, q), dyn.forward_dynamics(q, q, q), dyn.mass_matrix(q)
    return dyn


@pytest.fixture
def vectors():
    return [np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, -1.0]), np.array([0.5, 0.0, -0.5])]


def test_a_method_is_a_built_in_with_its_own_name(dynamics):
    assert inspect.isbuiltin(dynamics.inverse_dynamics) and dynamics.inverse_dynamics.__name__ == "inverse_dynamics"
    assert "Joint forces that produce the given accelerations" in dynamics.inverse_dynamics.__doc__


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_it_computes_what_the_batch_computes_to_the_last_bit(dynamics, vectors, name):
    f = getattr(dynamics, name)
    batch = f(*(np.stack([v, 2 * v, -v]) for v in vectors))
    out = np.empty(3)
    assert np.array_equal(f(*vectors), batch[0])
    assert f(*vectors, out=out) is out and np.array_equal(out, batch[0])


def test_results_of_several_axes(dynamics, vectors):
    out = np.empty((3, 3))
    assert dynamics.mass_matrix(vectors[0], out=out) is out
    assert np.allclose(out, da.mass_matrix(dynamics.mechanism, vectors[0]), rtol=1e-14)
    assert np.array_equal(dynamics.mass_matrix(vectors[0]), out)
    fortran = np.empty((3, 3), order="F")
    with pytest.raises(TypeError, match="contiguous"):
        dynamics.mass_matrix(vectors[0], out=fortran)


@pytest.mark.parametrize("convert", [list, tuple, lambda v: array.array("d", v), lambda v: memoryview(v), np.float32,
                                     lambda v: v.astype(">f8"), lambda v: np.stack([v, v], axis=1)[:, 0], lambda v: v[::-1][::-1],
                                     lambda v: np.frombuffer(b"x" + v.tobytes(), dtype=np.uint8)[1:].view(float), np.ma.array])
def test_every_kind_of_vector_gives_the_same(dynamics, vectors, convert):
    found = dynamics.inverse_dynamics(convert(vectors[0]), vectors[1], convert(vectors[2]))
    assert np.allclose(found, dynamics.inverse_dynamics(*vectors), rtol=1e-6)


@pytest.mark.parametrize("arguments, keywords, error, message", [
    (("short", 1, 2), {}, da.ShapeError, r"q has shape \(2,\), expected \(3,\)"),
    ((0, 1), {}, TypeError, "missing a required argument: 'qdd'"),
    ((0, 1, 2, 2), {}, TypeError, "external_forces is a sequence"),
    ((0, 1, "nan"), {}, ValueError, "qdd has the entry nan at index 1"),
    ((0, 1, 2), {"output": None}, TypeError, "got an unexpected keyword argument 'output'"),
    ((0, 1, "complex"), {}, TypeError, "qdd holds complex128"),
    ((0, 1, "text"), {}, (TypeError, ValueError), "qdd"),
    ((0, 1, None), {}, (TypeError, ValueError), "qdd"),
])
def test_what_is_wrong_is_an_error_never_a_crash(dynamics, vectors, arguments, keywords, error, message):
    special = {"short": np.zeros(2), "nan": np.array([0, np.nan, 0]), "complex": np.zeros(3, complex), "text": "abc", None: None}
    given = [special[a] if a in special else vectors[a] for a in arguments]
    with pytest.raises(error, match=message):
        dynamics.inverse_dynamics(*given, **keywords)


@pytest.mark.parametrize("out", [np.empty(3, np.float32), np.empty(3, complex), np.empty(3, ">f8"), [0.0] * 3, "abc"])
def test_an_out_of_another_type_is_a_type_error(dynamics, vectors, out):
    with pytest.raises((TypeError, da.ShapeError)):
        dynamics.inverse_dynamics(*vectors, out=out)


def test_a_read_only_out_is_refused_and_read_only_inputs_are_taken(dynamics, vectors):
    frozen = np.empty(3)
    frozen.flags.writeable = False
    for v in vectors:
        v.flags.writeable = False
    assert np.isfinite(dynamics.inverse_dynamics(*vectors)).all()
    with pytest.raises(TypeError, match="writeable"):
        dynamics.inverse_dynamics(*vectors, out=frozen)


def test_out_may_be_an_input(dynamics, vectors):
    expected = dynamics.inverse_dynamics(*vectors)
    assert np.array_equal(dynamics.inverse_dynamics(*vectors, out=vectors[2]), expected)
    both = np.zeros(5)
    both[:3] = vectors[0]
    assert np.array_equal(dynamics.inverse_dynamics(both[:3], both[:3], both[:3], out=both[2:]),
                          dynamics.inverse_dynamics(vectors[0], vectors[0], vectors[0]))


def test_a_singular_state_is_named():
    """Axes z, y, z through a point: with the middle joint at 0 the first moves nothing that the last does not."""
    bodies = [da.Body("base"), da.Body("a"), da.Body("b"), da.Body("c", 1, (0, 0, 0.2), (0.01, 0, 0.01, 0, 0, 0.005))]
    m = da.Mechanism("wrist", bodies, [da.Joint(f"j{k}", da.Revolute(axis), bodies[k].name, bodies[k + 1].name)
                                       for k, axis in enumerate(((0, 0, 1), (0, 1, 0), (0, 0, 1)))])
    f, zeros = da.compile(m).forward_dynamics, np.zeros(3)
    assert np.isfinite(f(np.array([0.3, 0.5, 0.1]), zeros, zeros)).all()
    with pytest.raises(da.SingularMassMatrixError, match="joint 'j0': the inertia of body 'a'"):
        f(np.array([0.3, 0.0, 0.1]), zeros, zeros)


def test_a_mechanism_that_is_always_singular_has_no_forward_dynamics_but_all_else():
    m = da.Mechanism("m", [da.Body("base"), da.Body("a", 1, (0.1, 0, 0)), da.Body("ghost")],
                     [da.Joint("j1", da.Revolute((0, 1, 0)), "base", "a"), da.Joint("j2", da.Revolute((0, 1, 0)), "a", "ghost")])
    dynamics = da.compile(m)
    assert np.isfinite(dynamics.inverse_dynamics(*[np.zeros(2)] * 3)).all()
    with pytest.raises(da.SingularMassMatrixError, match="joint 'j2': the inertia of body 'ghost'"):
        dynamics.forward_dynamics(*[np.zeros(2)] * 3)


def test_references_do_not_leak_and_are_not_lost(dynamics, vectors):
    f, out, bad = dynamics.inverse_dynamics, np.empty(3), np.zeros(2)
    objects = [*vectors, out, bad]

    def calls():
        f(*vectors)
        f(*vectors, out=out)
        f(list(vectors[0]), *vectors[1:])
        f(*vectors, out=vectors[0].copy())
        for wrong in ((bad, *vectors[1:]), vectors[:2], (None, *vectors[1:])):
            with pytest.raises((TypeError, ValueError)):
                f(*wrong)

    calls()
    before = [sys.getrefcount(x) for x in objects]
    for _ in range(50):
        calls()
    gc.collect()
    assert [sys.getrefcount(x) for x in objects] == before
    f(*vectors)
    result = f(*vectors)
    assert sys.getrefcount(result) == 2


def test_the_code_lives_as_long_as_the_function_and_goes_with_it(vectors):
    dyn = da.compile(da.planar_chain(3, mass=1.25))
    dyn.inverse_dynamics(*vectors)
    f, alive = dyn.inverse_dynamics, weakref.ref(dyn.function(["inverse_dynamics"]).kernel)
    expected = f(*vectors)
    del dyn
    gc.collect()
    results = [None, None]

    def many(k, call=f):
        for _ in range(2000):
            results[k] = call(*vectors)

    threads = [threading.Thread(target=many, args=(k,)) for k in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert np.array_equal(results[0], expected) and np.array_equal(results[1], expected)
    del f, threads, many
    gc.collect()
    assert alive() is None


def test_a_floating_base_keeps_the_method_that_checks_its_quaternion():
    m = da.random_tree(1, 2, ["free", "revolute"])
    dyn = da.compile(m)
    q, qd = m.random_state(0)
    dyn.gravity_vector(q)
    assert not inspect.isbuiltin(dyn.gravity_vector)
    with pytest.raises(da.QuaternionError):
        dyn.gravity_vector(1.1 * q)
