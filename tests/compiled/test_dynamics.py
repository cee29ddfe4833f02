"""Compiled quantities equal the plain functions, for any batch and layout; what is wrong is an error, never a crash."""

import copy
import functools
import gc
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import dalembert as da
import oracles
from dalembert.codegen.blocks import ProgramError
from dalembert.tracing.quantities import QUANTITIES
from formulations.test_derivatives import assert_agrees
from model.test_validation import wrist

OWN = 1e-12                      # of the largest entry between our own paths (conventions.md)
LEAST = 1e-3                     # largest entries below it are rounding errors of zeros
SIZES = (0, 1, 3, 4, 5, 63, 64, 65)
ALL_DERIVATIVES = ("tree 0", "scara")      # the others: of forward dynamics, in which the others' are
DERIVATIVES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives", "linearize")
SOLVING = ("forward_dynamics", "inverse_mass_matrix", "forward_dynamics_derivatives", "linearize")
JOINTS = (("free", "revolute"), ("spherical", "universal"), ("planar", "helical", "custom"),
          ("cylindrical", "prismatic", "follower"), ("continuous", "fixed", "follower", "revolute"))
MECHANISMS = [*(f"tree {k}" for k in range(len(JOINTS))), "scara", "ur5", "kinova", "panda"]
FEW = MECHANISMS[:6]             # every joint type, and a small arm: all quantities by default
slow = pytest.mark.slow


@functools.cache
def mechanism(name):
    if name.startswith("tree"):
        k = int(name.split()[1])
        return da.random_tree(k, len(JOINTS[k]), JOINTS[k])
    return oracles.robot(name)


@functools.cache
def dynamics(name):
    return da.compile(mechanism(name))


def place_of(m, quantity):
    """Frame and axes of a framed quantity."""
    return () if not QUANTITIES[quantity].framed else (m.frame_names[-1],) if quantity == "placement" else (m.frame_names[-1], "world")


@functools.lru_cache(maxsize=8)
def states(name, n):
    """n random states: name of the vector -> array."""
    m, rng = mechanism(name), np.random.default_rng(n)
    q = np.array([m.random_state(rng)[0] for _ in range(n)]).reshape(n, m.nq)
    return {"q": q} | {x: rng.standard_normal((n, m.nv)) for x in ("qd", "qdd", "tau")}


def arguments(name, quantity, n):
    return [states(name, n)[x] for x in QUANTITIES[quantity].inputs]


def parts(result):
    return result if isinstance(result, tuple) else (result,)


def assert_close(found, expected, quantity="", scale=1.0):
    for a, b in zip(parts(found), parts(expected), strict=True):
        assert np.shape(a) == np.shape(b), quantity
        assert np.abs(np.subtract(a, b)).max(initial=0) <= OWN * scale * np.abs(b).max(initial=LEAST), quantity


def condition(m, q):
    """How much solutions with M may differ: the largest condition number of M."""
    return max([1.0, *np.linalg.cond(da.mass_matrix(m, q).reshape(-1, m.nv, m.nv))])


def cases():
    """The dynamics of the small mechanisms, each other quantity of every second, a few of the Panda; all of them, and a
    humanoid, in the slow form."""
    for k, name in enumerate([*MECHANISMS, "g1_floating"]):
        for i, quantity in enumerate(QUANTITIES):
            within = quantity in ("inverse_dynamics_derivatives", "linearize") and name not in ALL_DERIVATIVES
            every = (i + k) % 2 == 0 or quantity in ("mass_matrix", "inverse_dynamics", "forward_dynamics")
            quick = name in FEW and every and not within or name == "panda" and quantity in (
                "inverse_dynamics", "forward_dynamics", "jacobian_rate")
            if name in MECHANISMS or quantity not in DERIVATIVES:
                yield pytest.param(name, quantity, marks=() if quick else slow)


@pytest.mark.parametrize("name, quantity", list(cases()))
def test_compiled_equals_plain(name, quantity):
    m, compiled, place = mechanism(name), getattr(dynamics(name), quantity), place_of(mechanism(name), quantity)
    plain = getattr(da, quantity)
    given = arguments(name, quantity, 65)
    expected, scale = plain(m, *given, *place), condition(m, given[0]) if quantity in SOLVING else 1.0
    for n in SIZES:
        found = compiled(*(x[:n] for x in given), *place)
        assert type(found) is type(expected) or n == 0
        assert_close(found, type(expected)(*(x[:n] for x in expected)) if isinstance(expected, tuple) else expected[:n], quantity, scale)
    single, right = compiled(*(x[2] for x in given), *place), plain(m, *(x[2] for x in given), *place)
    assert [type(x) for x in parts(single)] == [type(x) for x in parts(right)]
    assert_close(single, right, quantity, scale)


@pytest.mark.parametrize("name", FEW)
def test_forward_dynamics_has_a_small_backward_error(name):
    m, (q, qd, tau) = mechanism(name), arguments(name, "forward_dynamics", 200)
    qdd = dynamics(name).forward_dynamics(q, qd, tau)
    M, bias = da.mass_matrix(m, q), da.bias_force(m, q, qd) - da.passive_force(m, q, qd)
    residual = (M @ qdd[..., None])[..., 0] + bias - tau
    scale = np.abs(M).max((1, 2)) * np.abs(qdd).max(1) + np.abs(bias).max(1) + np.abs(tau).max(1)
    assert (np.abs(residual).max(1) <= OWN * scale).all()


# --- bits ---------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "kinetic_energy"])
def test_a_states_result_depends_neither_on_number_nor_place_nor_threads(quantity):
    compiled, given = getattr(dynamics("scara"), quantity), arguments("scara", quantity, 1000)
    whole = compiled(*given)
    assert compiled(*given, threads=2).tobytes() == whole.tobytes()
    assert compiled(*given, threads=7).tobytes() == whole.tobytes()
    for n in (1, 2, 3, 4, 5, 8, 9, 63, 64, 65, 257, 999):
        assert compiled(*(x[:n] for x in given)).tobytes() == whole[:n].tobytes()
        assert compiled(*(x[1000 - n:] for x in given)).tobytes() == whole[1000 - n:].tobytes()
    for row in range(20):
        assert np.asarray(compiled(*(x[row] for x in given))).tobytes() == whole[row].tobytes()


@pytest.mark.parametrize("threads", [1, 2, 100])
def test_any_number_of_threads_computes_all_rows(threads):
    given = arguments("scara", "mass_matrix", 1000)
    np.testing.assert_array_equal(dynamics("scara").mass_matrix(*given, threads=threads), dynamics("scara").mass_matrix(*given))


# --- layouts ------------------------------------------------------------------------------------------------------------

def layouts(a):
    """The same numbers in other memory."""
    wide = np.full((2 * len(a), 2 * a.shape[1]), np.nan)
    wide[::2, ::2] = a
    rows = np.full((len(a), a.shape[1] + 3), np.nan)
    rows[:, 1:-2] = a
    odd = np.zeros(a.nbytes + 1, dtype=np.uint8)[1:].view(float).reshape(a.shape)
    odd[:] = a
    frozen = a.copy()
    frozen.flags.writeable = False
    return {"strided": wide[::2, ::2], "rows of a wider array": rows[:, 1:-2], "transposed": a.T.copy().T, "unaligned": odd,
            "reversed": a[::-1].copy()[::-1], "read-only": frozen, "swapped": a.astype(">f8"), "list": a.tolist(),
            "long": a.astype(np.longdouble), "columns reversed": a[:, ::-1].copy()[:, ::-1]}


@pytest.mark.parametrize("layout", layouts(np.zeros((1, 1))))
@pytest.mark.parametrize("single", [False, True])
def test_layout_and_type_of_inputs_do_not_matter(layout, single):
    arm, given = dynamics("scara"), arguments("scara", "inverse_dynamics", 9)
    other = [layouts(x)[layout] for x in given]
    if single:
        given, other = [x[4] for x in given], [x[4] for x in other]
    assert arm.inverse_dynamics(*other).tobytes() == arm.inverse_dynamics(*given).tobytes()


@pytest.mark.parametrize("kind", ["f4", "f2", "i8", "i1", "u2", object])
@pytest.mark.parametrize("shape", [(4,), (6, 4)])
def test_numbers_of_other_types_are_converted(kind, shape):
    arm, x = dynamics("scara"), np.random.default_rng(0).integers(0, 4, shape)
    as_float = x.astype(float)
    assert arm.inverse_dynamics(*[x.astype(kind)] * 3).tobytes() == arm.inverse_dynamics(*[as_float] * 3).tobytes()


@pytest.mark.parametrize("n", [0, 1, 2, 4, 5])
def test_one_row_goes_with_many_also_where_its_length_is_their_number(n):
    """SCARA has four coordinates: a vector (4,) with a batch of four is still one state."""
    arm, given = dynamics("scara"), arguments("scara", "inverse_dynamics", n)
    one = [x[0] for x in arguments("scara", "inverse_dynamics", 3)]
    for k in range(3):
        for row in (one[k], one[k][None]):
            mixed = [*given[:k], row, *given[k + 1:]]
            full = [np.broadcast_to(x, (n, 4)) for x in mixed]
            assert arm.inverse_dynamics(*mixed).tobytes() == arm.inverse_dynamics(*full).tobytes()


def test_batches_of_different_length_are_refused():
    with pytest.raises(da.ShapeError, match="different numbers of rows: q 2, qd 3"):
        dynamics("scara").bias_force(np.zeros((2, 4)), np.zeros((3, 4)))


# --- out ----------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("n", [None, 0, 1, 5])
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix", "kinetic_energy"])
def test_out_is_filled_and_returned(n, quantity):
    given = [x[2] if n is None else x[:n] for x in arguments("scara", quantity, 5)]
    right = getattr(dynamics("scara"), quantity)(*given)
    out = np.full(np.shape(right), np.nan)
    found = getattr(dynamics("scara"), quantity)(*given, out=out)
    assert found is out or out.ndim == 0
    np.testing.assert_array_equal(out, right)


@pytest.mark.parametrize("make", [
    lambda shape: np.full((shape[0], *shape[1:-1], 9), 7.0)[..., 2:6] if len(shape) == 2 else np.full((shape[0], 9, 4), 7.0)[:, 3:7],
    lambda shape: np.full((3 * shape[0], *shape[1:]), 7.0)[::-3],
], ids=["part of wider rows", "every third row from the end"])
@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix"])
def test_out_may_be_a_view_with_contiguous_rows(make, quantity):
    given = arguments("scara", quantity, 6)
    right = getattr(dynamics("scara"), quantity)(*given)
    out = make(right.shape)
    getattr(dynamics("scara"), quantity)(*given, out=out)
    np.testing.assert_array_equal(out, right)
    assert (out.base == 7.0).sum() == out.base.size - out.size


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("k", range(3))
def test_out_may_overlap_an_input(batch, k):
    given = [x if batch else x[0] for x in arguments("scara", "inverse_dynamics", 9)]
    right = dynamics("scara").inverse_dynamics(*given)
    memory = np.zeros((*right.shape[:-1], 8))
    for at in range(5):                                      # from the same place to side by side
        mine = list(given)
        mine[k] = memory[..., at:at + 4]
        mine[k][:] = given[k]
        out = memory[..., :4]
        dynamics("scara").inverse_dynamics(*mine, out=out)
        np.testing.assert_array_equal(out, right)
    shifted = np.concatenate([given[k], given[k][:1]]) if batch else None
    if batch:
        out, mine[k] = shifted[1:], shifted[:-1]
        dynamics("scara").inverse_dynamics(*mine, out=out)
        np.testing.assert_array_equal(out, right)


def read_only(shape):
    a = np.zeros(shape)
    a.flags.writeable = False
    return a


WRONG_OUT = {
    "float32": (lambda s: np.zeros(s, "f4"), TypeError), "complex": (lambda s: np.zeros(s, complex), TypeError),
    "integers": (lambda s: np.zeros(s, int), TypeError), "objects": (lambda s: np.zeros(s, object), TypeError),
    "swapped": (lambda s: np.zeros(s, ">f8"), TypeError), "read-only": (read_only, TypeError),
    "a list": (lambda s: [0.0] * 4, (TypeError, da.ShapeError)), "a number": (lambda s: 1.0, TypeError),
    "unaligned": (lambda s: np.zeros(8 * int(np.prod(s)) + 1, "u1")[1:].view(float).reshape(s), TypeError),
    "strided": (lambda s: np.zeros((*s[:-1], 2 * s[-1]))[..., ::2], TypeError),
    "reversed": (lambda s: np.zeros(s)[..., ::-1], TypeError),
    "too short": (lambda s: np.zeros((*s[:-1], s[-1] - 1)), da.ShapeError),
    "too many axes": (lambda s: np.zeros((1, *s)), da.ShapeError), "one row": (lambda s: np.zeros((4,) if len(s) > 1 else ()), da.ShapeError),
}


@pytest.mark.parametrize("case", WRONG_OUT)
@pytest.mark.parametrize("batch", [False, True])
def test_a_wrong_out_is_refused_and_left_alone(case, batch):
    make, error = WRONG_OUT[case]
    given = [x if batch else x[0] for x in arguments("scara", "inverse_dynamics", 3)]
    out = make(given[0].shape)
    before = copy.deepcopy(out)
    with pytest.raises(error):
        dynamics("scara").inverse_dynamics(*given, out=out)
    np.testing.assert_array_equal(out, before)


@pytest.mark.parametrize("view", [lambda: np.zeros((4, 9))[:, 2:6], lambda: np.zeros((4, 4))[::-1], lambda: np.zeros((4, 4)).T],
                         ids=["rows apart", "rows reversed", "transposed"])
def test_a_matrix_of_one_state_must_be_contiguous(view):
    out = view()
    with pytest.raises(TypeError, match="contiguous"):
        dynamics("scara").mass_matrix(states("scara", 3)["q"][0], out=out)
    assert not out.any()


# --- wrong inputs -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_input_that_is_not_finite_is_named_with_row_and_entry(bad, threads):
    given = [x.copy() for x in arguments("scara", "inverse_dynamics", 1000)]
    given[1][777, 2] = given[1][900, 0] = bad
    with pytest.raises(ValueError, match=f"^qd has the entry {bad} at index 2 in row 777; expected finite numbers"):
        dynamics("scara").inverse_dynamics(*given, threads=threads)
    with pytest.raises(ValueError, match=f"^qd has the entry {bad} at index 2; expected finite"):
        dynamics("scara").inverse_dynamics(*(x[777] for x in given))


WRONG_CALLS = {
    "too short": (lambda d, z: d.inverse_dynamics(z[:3], z, z), da.ShapeError, r"q has shape \(3,\), expected \(4,\) or \(N, 4\)"),
    "three axes": (lambda d, z: d.mass_matrix(z[None, None]), da.ShapeError, r"q has shape \(1, 1, 4\)"),
    "missing": (lambda d, z: d.inverse_dynamics(z, z), TypeError, "qdd"),
    "too many": (lambda d, z: d.mass_matrix(z, z), TypeError, "takes 2 positional arguments"),
    "twice": (lambda d, z: d.mass_matrix(z, q=z), TypeError, "multiple values"),
    "unknown": (lambda d, z: d.mass_matrix(z, qq=z), TypeError, "qq"),
    "none": (lambda d, z: d.mass_matrix(None), da.ShapeError, r"q is None"),
    "complex": (lambda d, z: d.mass_matrix(z + 0j), TypeError, "complex numbers"),
    "text": (lambda d, z: d.mass_matrix(["a"] * 4), TypeError, "texts"),
    "ragged": (lambda d, z: d.mass_matrix([[0], [0, 1]]), da.ShapeError, "different lengths"),
    "forces where none act": (lambda d, z: d.mass_matrix(z, external_forces=[]), TypeError, "external_forces"),
    "a force alone": (lambda d, z: d.inverse_dynamics(z, z, z, external_forces=da.ExternalForce("x")), TypeError, "sequence of"),
    "parameters": (lambda d, z: d.mass_matrix(z, parameters=[1]), TypeError, "parameters are given"),
    "no frame": (lambda d, z: d.jacobian(z), TypeError, "frame"),
    "unknown frame": (lambda d, z: d.jacobian(z, "nowhere"), da.UnknownNameError, "nowhere"),
    "unknown axes": (lambda d, z: d.jacobian(z, d.mechanism.frame_names[-1], "sideways"), da.UnknownNameError, "sideways"),
    "axes of a placement": (lambda d, z: d.placement(z, d.mechanism.frame_names[-1], "world"), TypeError, "takes 3 positional arguments"),
    "unknown quantity": (lambda d, z: d.function(["mass_matrx"]), da.UnknownNameError, "Did you mean 'mass_matrix'"),
    "a text for a list": (lambda d, z: d.function("mass_matrix"), da.UnknownNameError, r"\['mass_matrix'\]"),
    "a quantity twice": (lambda d, z: d.function(["mass_matrix", "mass_matrix"]), ValueError, "twice"),
    "loads on nothing": (lambda d, z: d.function(["mass_matrix"], [("x", "world")]), TypeError, "external forces"),
    "vectors of a function": (lambda d, z: d.function(["mass_matrix"])(z, z), da.ShapeError, "2 vectors given, expected 1: q"),
}


@pytest.mark.parametrize("case", WRONG_CALLS)
def test_wrong_calls_are_errors_that_say_what(case):
    call, error, message = WRONG_CALLS[case]
    for _ in range(2):                                       # also once the quantity is compiled
        with pytest.raises(error, match=message):
            call(dynamics("scara"), np.zeros(4))
        dynamics("scara").mass_matrix(np.zeros(4))


def test_frame_and_axes_by_position_and_by_name_are_the_same():
    m, d, q = mechanism("scara"), dynamics("scara"), states("scara", 3)["q"]
    frame = m.frame_names[-1]
    for axes in ("world", "local", "aligned"):
        right = da.jacobian(m, q, frame, axes)
        for found in (d.jacobian(q, frame, axes), d.jacobian(q, frame, expressed_in=axes),
                      d.jacobian(q, expressed_in=axes, frame=frame), d.function([f"jacobian:{frame}:{axes}"])(q)[0]):
            assert_close(found, right)
    assert_close(d.jacobian(q, frame), da.jacobian(m, q, frame))


def test_frames_with_colons_and_dots_in_their_names():
    m = da.Mechanism("m", [da.Body("base"), da.Body("a::b", 1, (0, 0, 1)), da.Body("a::b.mass", 1, (0, 1, 0))],
                     [da.Joint("j", da.Revolute((1, 0, 0)), "base", "a::b"), da.Joint("k", da.Revolute(), "a::b", "a::b.mass")])
    d, q = da.compile(m), [0.3, 0.4]
    for frame in m.frame_names:
        assert_close(d.placement(q, frame), da.placement(m, q, frame))
        assert_close(d.jacobian(q, frame, "world"), da.jacobian(m, q, frame, "world"))
    both = d.function(["jacobian:a::b", "jacobian:a::b.mass"])(q)
    assert_close(both, tuple(da.jacobian(m, q, frame) for frame in m.frame_names[1:]))


def test_a_quaternion_that_is_not_of_unit_length_is_refused():
    m, q = mechanism("tree 1"), states("tree 1", 5)["q"].copy()
    at = next(m.entries[j.name].at_q.start for j in m.joints if j.type.name == "spherical")
    q[3, at:at + 4] *= 1.1
    with pytest.raises(da.QuaternionError, match="in row 3.*has norm 1.1"):
        dynamics("tree 1").mass_matrix(q)
    with pytest.raises(da.QuaternionError, match="has norm 1.1"):
        dynamics("tree 1").mass_matrix(q[3])


def straight_wrist():
    return wrist().replace({"c.inertia[0,0]": 0.01, "c.inertia[1,1]": 0.01, "c.inertia[2,2]": 0.005})


@pytest.mark.parametrize("quantity", SOLVING)
def test_a_singular_mass_matrix_is_an_error_with_joint_and_row(quantity):
    ghost = da.compile(da.Mechanism("m", [da.Body("base"), da.Body("link")], [da.Joint("j", da.Revolute(), "base", "link")]))
    vectors = [[0.0]] * len(QUANTITIES[quantity].inputs)
    with pytest.raises(da.SingularMassMatrixError, match="joint 'j': the inertia of body 'link'.*is 0, not positive") as error:
        getattr(ghost, quantity)(*vectors)
    assert (error.value.joint, error.value.pivot, error.value.row) == ("j", 0, None)

    compiled = getattr(da.compile(straight_wrist()), quantity)
    q = np.tile([0.3, 0.5, 0.1], (7, 1))
    others = [np.ones(3)] * (len(vectors) - 1)
    compiled(q, *others)
    q[5, 1] = 0.0
    with pytest.raises(da.SingularMassMatrixError, match="joint 'j0' in row 5") as error:
        compiled(q, *others)
    assert (error.value.joint, error.value.row) == ("j0", 5)
    with pytest.raises(da.SingularMassMatrixError, match="joint 'j0': "):
        compiled(q[5], *others)
    with pytest.raises(da.SingularMassMatrixError, match="joint 'j2'"):
        getattr(da.compile(wrist()), quantity)(q[0], *others)


def test_an_empty_batch_is_never_singular():
    d = da.compile(straight_wrist())
    for _ in range(20):
        assert d.forward_dynamics(*[np.zeros((0, 3))] * 3).shape == (0, 3)
        assert (np.full(1, -1.0) < 0).all()                  # memory that an empty margin could find again


# --- parameters, external forces, several quantities --------------------------------------------------------------------

def test_parameters_are_inputs_also_per_state():
    m, paths = mechanism("scara"), ["gravity[2]", f"{mechanism('scara').bodies[-1].name}.mass"]
    d, (q, qd, tau) = da.compile(m, parameters=paths), arguments("scara", "forward_dynamics", 5)
    assert_close(d.forward_dynamics(q, qd, tau), da.forward_dynamics(m, q, qd, tau), scale=condition(m, q))
    values = np.column_stack([np.linspace(-9, -1, 5), np.linspace(1, 3, 5)])
    for quantity, given in (("forward_dynamics", (q, qd, tau)), ("potential_energy", (q,)), ("mass_matrix", (q,))):
        right = np.array([getattr(da, quantity)(m.replace(dict(zip(paths, map(float, row)))), *(x[k] for x in given))
                          for k, row in enumerate(values)])
        found = getattr(d, quantity)(*given, parameters=values)
        assert np.abs(found - right).max() <= 1e-11 * np.abs(right).max()
        np.testing.assert_array_equal(getattr(d, quantity)(*(x[2] for x in given), parameters=values[2]), found[2])
        np.testing.assert_array_equal(getattr(d, quantity)(*(x[2] for x in given), parameters=values), np.array(
            [getattr(d, quantity)(*(x[2] for x in given), parameters=row) for row in values]))
    with pytest.raises(da.ShapeError, match=r"parameters has shape \(3,\).*one number per parameter \(gravity\[2\]"):
        d.mass_matrix(q, parameters=[1, 2, 3])
    with pytest.raises(ValueError, match="parameters has the entry nan at index 1"):
        d.mass_matrix(q, parameters=[1, np.nan])
    with pytest.raises(da.UnknownNameError, match="nobody"):
        da.compile(m, parameters=["nobody.mass"])
    with pytest.raises(da.ParameterError, match=r"joint1.axis\[0\] cannot be an input of compiled code, as axes are scaled"):
        da.compile(m, parameters=["joint1.axis[0]"])


def test_as_many_states_as_parameters_are_not_mistaken_for_them():
    m = da.planar_chain(2)
    d, q = da.compile(m, parameters=["link1.mass", "link2.mass"]), np.array([[0.1, 0.2], [0.3, 0.4]])
    assert_close(d.mass_matrix(q), da.mass_matrix(m, q))
    assert_close(d.mass_matrix(q, parameters=[1, 1]), da.mass_matrix(m, q))


def test_a_singular_state_is_found_with_the_parameters_of_its_row():
    d = da.compile(straight_wrist(), parameters=["c.mass"])
    q = np.tile([0.3, 0.5, 0.1], (4, 1))
    q[2, 1] = 0
    with pytest.raises(da.SingularMassMatrixError, match="in row 2"):
        d.inverse_mass_matrix(q, parameters=[[1.0], [2.0], [3.0], [4.0]])


def test_symbols_that_are_left_are_named():
    m = da.planar_chain(2).replace({"link2.mass": da.symbol("payload")})
    with pytest.raises(ProgramError, match=r"'planar chain': the symbol 'payload' is not among the inputs q\. .*parameters="):
        da.compile(m).mass_matrix([0, 0])
    d = da.compile(m, parameters=["link2.mass"])
    with pytest.raises(TypeError, match="no value of link2.mass"):
        d.mass_matrix([0, 0])
    assert_close(d.mass_matrix([0.1, 0.2], parameters=[3]), da.mass_matrix(da.planar_chain(2).replace({"link2.mass": 3}), [0.1, 0.2]))


@pytest.mark.parametrize("name", ["scara", "tree 0"])
@pytest.mark.parametrize("rows", [None, 1, 6])
def test_external_forces_equal_those_of_the_plain_functions(name, rows):
    m, rng = mechanism(name), np.random.default_rng(1)
    shape = (3,) if rows is None else (rows, 3)
    loads = [da.ExternalForce(m.frame_names[k], *rng.standard_normal((3, *shape)), expressed_in=axes)
             for k, axes in ((1, "world"), (-1, "local"), (2, "aligned"))]
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        given = arguments(name, quantity, 6)
        found = getattr(dynamics(name), quantity)(*given, external_forces=loads)
        scale = condition(m, given[0]) if quantity in SOLVING else 1.0
        assert_close(found, getattr(da, quantity)(m, *given, external_forces=loads), quantity, scale)
    with pytest.raises(ValueError, match="nan"):
        dynamics(name).inverse_dynamics(*arguments(name, "inverse_dynamics", 6), external_forces=[da.ExternalForce(
            m.frame_names[1], (0, np.nan, 0))])


def test_several_quantities_share_work_and_equal_the_single_ones():
    m, d = mechanism("panda"), dynamics("panda")
    tip = m.frame_names[-1]
    names = ["mass_matrix", "bias_force", f"jacobian:{tip}", "kinetic_energy", f"placement:{tip}"]
    together, (q, qd) = d.function(names), arguments("panda", "bias_force", 6)
    assert d.function(names) is together
    right = (da.mass_matrix(m, q), da.bias_force(m, q, qd), da.jacobian(m, q, tip), da.kinetic_energy(m, q, qd), da.placement(m, q, tip))
    assert_close(together(q, qd), right)
    assert_close(together(q[0], qd[0]), tuple(x[0] for x in right))
    out = [np.empty_like(x) for x in right]
    found = together(q, qd, out=out)
    assert all(a is b for a, b in zip(found, out))
    assert_close(tuple(out), right)


def test_named_tuples_stay_named_tuples_in_company():
    m, d, s = mechanism("scara"), dynamics("scara"), states("scara", 5)
    found = d.function(["forward_dynamics_derivatives", "mass_matrix", "linearize"])(s["q"], s["qd"], s["tau"])
    for a, b in zip(found, (da.forward_dynamics_derivatives(m, s["q"], s["qd"], s["tau"]), da.mass_matrix(m, s["q"]),
                            da.linearize(m, s["q"], s["qd"], s["tau"]))):
        assert type(a) is type(b)
        assert_close(a, b, scale=condition(m, s["q"]))


# --- life ---------------------------------------------------------------------------------------------------------------

def test_dynamics_pickles_and_copies():
    m = mechanism("scara")
    d = da.compile(m, parameters=["gravity[2]"])
    q = states("scara", 3)["q"]
    right = d.gravity_vector(q)
    for twin in (pickle.loads(pickle.dumps(d)), copy.copy(d), copy.deepcopy(d)):
        assert twin.parameters == d.parameters
        np.testing.assert_array_equal(twin.gravity_vector(q), right)


def test_a_method_keeps_its_code_alive():
    given = arguments("scara", "inverse_dynamics", 3)
    right = dynamics("scara").inverse_dynamics(*given)
    for first in (False, True):
        d = da.compile(mechanism("scara"))
        if first:
            d.inverse_dynamics(*given)
        kept = [d.inverse_dynamics, d.function(["mass_matrix"])]
        del d
        gc.collect()
        np.testing.assert_array_equal(kept[0](*given), right)
        np.testing.assert_array_equal(kept[0](*(x[1] for x in given)), right[1])
        kept[1](given[0])


def test_many_dynamics_come_and_go():
    m, q = da.planar_chain(1), np.zeros(1)
    for k in range(4):
        d = da.compile(m)
        d.mass_matrix(q)
        method = d.mass_matrix
        assert method(q) == d.mass_matrix(q)
        del d
        if k % 2:
            del method
        gc.collect()


def test_two_threads_call_and_compile_at_once():
    d, given = da.compile(mechanism("scara")), arguments("scara", "inverse_dynamics", 600)
    right, wrong = dynamics("scara").inverse_dynamics(*given), []

    def work():
        for k in range(60):
            batch = d.inverse_dynamics(*given, threads=1 + k % 2)
            single = d.inverse_dynamics(*(x[k] for x in given))
            if batch.tobytes() != right.tobytes() or single.tobytes() != right[k].tobytes():
                wrong.append(k)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


FORK = """
import os, sys, warnings
import numpy as np, dalembert as da
arm = da.compile(da.planar_chain(3))
x = np.random.default_rng(0).standard_normal((3, 5000, 3))
right = arm.inverse_dynamics(*x, threads=2)
warnings.simplefilter("ignore")
children = []
for _ in range(3):
    child = os.fork()
    if not child:
        same = np.array_equal(arm.inverse_dynamics(*x, threads=2), right)
        same &= np.array_equal(arm.mass_matrix(x[0], threads=2), da.compile(da.planar_chain(3)).mass_matrix(x[0]))
        os._exit(0 if same else 1)
    children.append(child)
assert [os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) for c in children] == [0, 0, 0]
assert np.array_equal(arm.inverse_dynamics(*x, threads=2), right)
print("done")
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork")
def test_threads_work_after_a_fork():
    run = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=100)
    assert run.stdout.strip() == "done", run.stderr


# --- other engines ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["scara", pytest.param("ur5", marks=slow), pytest.param("kinova", marks=slow),
                                  pytest.param("panda", marks=slow), "double_pendulum", "cartpole"])
def test_compiled_quantities_are_the_oracles(name):
    d, o, k = dynamics(name), oracles.values(name), oracles.order(name)
    q, v, a, tau = oracles.coordinates(name, o["q"]), o["v"][:, k], o["a"][:, k], o["tau"][:, k]
    square = np.ix_(range(len(q)), k, k)
    assert_agrees(d.inverse_dynamics(q, v, a), o["tau_id"][:, k])
    assert_agrees(d.forward_dynamics(q, v, tau), da.forward_dynamics(d.mechanism, q, v, tau))
    assert_agrees(d.mass_matrix(q), o["M"][square])
    assert_agrees(d.coriolis_matrix(q, v), o["C"][square])
    assert_agrees(d.regressor(q, v, a) @ da.regressor_parameters(d.mechanism)[1], o["tau_id"][:, k])
    found = (*d.inverse_dynamics_derivatives(q, v, a), *d.forward_dynamics_derivatives(q, v, tau))
    for part, key in zip(found, ("dtau_dq", "dtau_dv", "M", "dqdd_dq", "dqdd_dv", "Minv"), strict=True):
        assert_agrees(part, o[key][square])


@pytest.mark.parametrize("formulation", ["newton_euler", "lagrange", "elementary_motions"])
def test_every_formulation_compiles_to_the_same_results(formulation):
    m = da.random_tree(1, 3, ["revolute", "spherical", "prismatic"])
    q, qd = m.random_state(0)
    x = np.linspace(-1, 1, m.nv)
    dyn = da.compile(m, formulation=formulation)
    for name, vectors in (("mass_matrix", (q,)), ("gravity_vector", (q,)), ("coriolis_matrix", (q, qd)),
                          ("inverse_dynamics", (q, qd, x)), ("forward_dynamics", (q, qd, x))):
        found, right = getattr(dyn, name)(*vectors), getattr(da, name)(m, *vectors)
        assert np.abs(found - right).max() <= 1e-12 * np.abs(right).max()
    massless = da.planar_chain(2).replace({"link2.mass": 0, **{f"link2.inertia[{i},{i}]": 0 for i in range(3)}})
    with pytest.raises(da.SingularMassMatrixError, match="q2"):
        da.compile(massless, formulation=formulation).forward_dynamics([0, 1], [0, 0], [0, 0])


def test_a_formulation_says_what_it_has():
    with pytest.raises(da.UnknownNameError, match="lagrange.*regressor"):
        da.compile(da.planar_chain(1), formulation="lagrange").regressor([0], [0], [0])
    with pytest.raises(da.UnknownNameError, match="newton_euler, lagrange"):
        da.compile(da.planar_chain(1), formulation="euler")
