"""Calls by a generated built-in: what it takes itself, what it hands on, references, lifetime."""

import array
import gc
import inspect
import pickle
import sys
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import dalembert as da
from dalembert.compiled import dynamics as dynamics_module
from dalembert.native.builtin import supported

pytestmark = pytest.mark.skipif(not supported(), reason="the interpreter is not a 64-bit CPython")


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
    ((0, 1), {}, TypeError, "missing 1 required positional argument: 'qdd'"),
    ((0, 1, 2, 2), {}, TypeError, "external_forces is a sequence"),
    ((0, 1, "nan"), {}, ValueError, "qdd has the entry nan at index 1"),
    ((0, 1, 2), {"output": None}, TypeError, "got an unexpected keyword argument 'output'"),
    ((0, 1, "complex"), {}, TypeError, "qdd holds complex numbers"),
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


def test_the_built_in_of_a_floating_base_checks_its_quaternion():
    m = da.random_tree(1, 2, ["free", "revolute"])
    dyn = da.compile(m)
    q, qd = m.random_state(0)
    f = compiled_builtin(dyn, "gravity_vector", q)
    assert np.allclose(f(q), da.gravity_vector(m, q), rtol=1e-12)
    batch = np.tile(q, (20, 1))
    batch[13] *= 1.1
    for bad in (1.1 * q, batch):
        with pytest.raises(da.QuaternionError):
            f(bad)


def compiled_builtin(dyn, name, *vectors):
    """The method of a quantity, which must be a built-in after its first call."""
    getattr(dyn, name)(*vectors)
    assert inspect.isbuiltin(getattr(dyn, name))
    return getattr(dyn, name)


def no_python(monkeypatch):
    """From here on the Python path of compiled functions fails."""
    def refuse(*_, **__):
        raise AssertionError("the call went through Python")

    monkeypatch.setattr(dynamics_module.Function, "_call", refuse)


@pytest.mark.parametrize("rows", [1, 2, 3, 17, 100])
def test_batches_go_through_the_built_in(monkeypatch, rows):
    m = da.random_tree(3, 4, ["revolute", "free", "prismatic"])
    states = [m.random_state(k) for k in range(rows)]
    q, qd = (np.array(x) for x in zip(*states, strict=True))
    wide = np.zeros((rows, m.nv + 3))
    dyn = da.compile(m)
    expected = {"mass_matrix": da.mass_matrix(m, q), "bias_force": da.bias_force(m, q, qd),
                "kinetic_energy": da.kinetic_energy(m, q, qd)}
    f = compiled_builtin(dyn, "bias_force", q, qd)
    energy, matrix = compiled_builtin(dyn, "kinetic_energy", q, qd), compiled_builtin(dyn, "mass_matrix", q)
    no_python(monkeypatch)
    out = wide[:, 2:-1]
    assert f(q, qd, out=out) is out
    assert not wide[:, :2].any() and not wide[:, -1:].any()
    for found in (f(q, qd), out, f(q, np.asfortranarray(qd).copy("C"))):
        assert np.allclose(found, expected["bias_force"], rtol=1e-12, atol=1e-12)
    assert np.array_equal(f(q, qd)[0], f(q[0], qd[0]))
    assert np.allclose(f(q, qd[0]), da.bias_force(m, q, qd[0]), rtol=1e-12, atol=1e-12)
    assert np.allclose(energy(q, qd), expected["kinetic_energy"], rtol=1e-12)
    assert isinstance(energy(q[0], qd[0]), float)
    assert np.allclose(matrix(q), expected["mass_matrix"], rtol=1e-12, atol=1e-12)


def test_several_results_come_as_the_plain_functions_give_them(monkeypatch):
    m = da.planar_chain(3)
    q, qd = (np.array(x) for x in zip(*(m.random_state(k) for k in range(20)), strict=True))
    dyn = da.compile(m)
    both = dyn.function(["mass_matrix", "bias_force"])
    both(q, qd)
    f = compiled_builtin(dyn, "inverse_dynamics_derivatives", q, qd, qd)
    no_python(monkeypatch)
    found, expected = f(q, qd, qd), da.inverse_dynamics_derivatives(m, q, qd, qd)
    assert type(found) is type(expected)
    for field in found._fields:
        assert np.allclose(getattr(found, field), getattr(expected, field), rtol=1e-12, atol=1e-12)
    given = tuple(np.zeros_like(x) for x in found)
    again = f(q, qd, qd, out=given)
    assert all(x is y for x, y in zip(again, given, strict=True))
    matrix, bias = both(q, qd)
    assert np.allclose(matrix, da.mass_matrix(m, q)) and np.allclose(bias, da.bias_force(m, q, qd))


def test_what_the_built_in_does_not_take_goes_through_python_with_the_same_result():
    m = da.planar_chain(3)
    q, qd = (np.array(x) for x in zip(*(m.random_state(k) for k in range(20)), strict=True))
    dyn = da.compile(m)
    f, expected = compiled_builtin(dyn, "bias_force", q, qd), da.bias_force(m, q, qd)
    both = dyn.function(["mass_matrix", "bias_force"])
    for vectors in ((q[::-1][::-1], qd), (q.tolist(), qd), (np.asfortranarray(q), qd), (q.astype(np.float32), qd),
                    (q[:1], qd), (q[::-1], qd)):
        right = da.bias_force(m, *(np.array(x, dtype=float) for x in vectors))
        assert np.allclose(f(*vectors), right, rtol=1e-12, atol=1e-12)
    assert np.array_equal(f(qd=qd, q=q), f(q, qd)) and np.array_equal(f(q, qd, threads=2), f(q, qd))
    shared = qd.copy()
    assert np.allclose(f(q, shared, out=shared), expected, rtol=1e-12)
    for bad, error in (((q[:3], qd), da.ShapeError), ((q[:, :2], qd), da.ShapeError), ((q * np.nan, qd), ValueError)):
        with pytest.raises(error):
            f(*bad)
    with pytest.raises(da.ShapeError):
        f(q, qd, out=np.zeros((3, 3)))
    with pytest.raises(TypeError):
        both(q, qd, out=7)
    assert f(q[:0], qd[:0]).shape == (0, 3)


def test_refused_calls_leave_no_reference_behind():
    m = da.planar_chain(3)
    q, qd = (np.array(x) for x in zip(*(m.random_state(k) for k in range(20)), strict=True))
    dyn = da.compile(m)
    f, out = compiled_builtin(dyn, "bias_force", q, qd), np.zeros((20, 3))
    both = dyn.function(["mass_matrix", "bias_force"])
    both(q, qd)
    bad = qd.copy()
    bad[7, 1] = np.inf

    def calls():
        for _ in range(20):
            f(q, qd), f(q, qd, out=out), both(q, qd), f(q[0], qd[0])
            for arguments in ((q, bad), (q, qd[:3])):
                with pytest.raises(ValueError):
                    f(*arguments)
    calls()
    before = [sys.getrefcount(x) for x in (q, qd, bad, out)]
    tracemalloc.start()
    memory = []
    for _ in range(6):
        calls()
        gc.collect()
        memory.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert [sys.getrefcount(x) for x in (q, qd, bad, out)] == before
    assert np.diff(memory).min() < 3000                    # 20 lost results would take 12 000 bytes


def test_single_precision():
    m = da.random_tree(3, 4, ["revolute", "free", "prismatic", "spherical"])
    q, qd = (np.array(x) for x in zip(*(m.random_state(k) for k in range(37)), strict=True))
    dyn = da.compile(m, dtype=np.float32)
    for name, vectors in (("bias_force", (q, qd)), ("forward_dynamics", (q, qd, qd)), ("mass_matrix", (q,))):
        expected = getattr(da, name)(m, *vectors)
        narrow = [x.astype(np.float32) for x in vectors]
        for given in (vectors, narrow):
            found = getattr(dyn, name)(*given)
            assert found.dtype == np.float32
            assert np.abs(found - expected).max() <= 2e-3 * np.abs(expected).max()
        assert np.array_equal(getattr(dyn, name)(*(x[5] for x in narrow)), getattr(dyn, name)(*narrow)[5])
    out = np.zeros((37, m.nv), dtype=np.float32)
    assert dyn.bias_force(q, qd, out=out) is out and out.any()
    with pytest.raises(TypeError, match="float32"):
        dyn.bias_force(q, qd, out=np.zeros((37, m.nv)))
    with pytest.raises(ValueError, match="finite"):
        dyn.bias_force(q, qd * 1e300)
    with pytest.raises(TypeError, match="float64 or float32"):
        da.compile(m, dtype=int)
    assert pickle.loads(pickle.dumps(dyn)).dtype == np.float32


def test_sine_and_cosine_in_single_precision_are_rounded_once():
    f = da.compile(da.planar_chain(1), dtype=np.float32).placement
    q = np.concatenate([np.linspace(-9, 9, 1001), np.linspace(-1e6, 3e6, 1001)]).astype(np.float32)[:, None]
    turned, angle = f(q, "link1"), q[:, 0].astype(float)
    rotation = np.array([da.placement(da.planar_chain(1), [x], "link1") for x in angle])
    assert (np.abs(turned - rotation)[:, :3, :3] <= np.spacing(np.abs(turned[:, :3, :3]).astype(np.float32))).all()


def test_numbers_that_become_too_large_are_reported():
    m = da.planar_chain(2)
    dyn = da.compile(m)
    q, huge = np.zeros((20, 2)), np.zeros((20, 2))
    huge[11] = 1e200
    with pytest.raises(da.OverflowedError):
        dyn.bias_force(q + 0.5, huge)
    with pytest.raises(da.OverflowedError):
        dyn.bias_force(q[0] + 0.5, huge[11])


def test_functions_and_their_methods_pickle():
    m = da.planar_chain(2)
    q = np.array([0.1, 0.2])
    dyn = da.compile(m)
    for f in (compiled_builtin(dyn, "gravity_vector", q), dyn.function(["gravity_vector", "mass_matrix"])):
        again = pickle.loads(pickle.dumps(f))
        assert again is not f
        for x, y in zip(again(q), f(q), strict=True):
            assert np.array_equal(x, y)


def test_a_users_own_function_is_called_directly_too(monkeypatch):
    f = da.function(lambda q, k: (da.sin(q) * k[0], (q * q).sum()), q=(3,), k=(1,))
    q, k = np.array([0.1, 0.2, 0.3]), np.array([2.0])
    expected = np.sin(q) * 2, float((q * q).sum())
    f(q, k)
    monkeypatch.setattr(type(f), "_named", None)
    for vectors in ((q, k), (np.tile(q, (20, 1)), k), (np.tile(q, (20, 1)), np.tile(k, (20, 1)))):
        sines, square = f(*vectors)
        assert np.allclose(sines, expected[0], rtol=1e-15) and np.allclose(square, expected[1], rtol=1e-15)
    assert np.isnan(f(q * np.nan, k)[1])
