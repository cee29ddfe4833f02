"""Every call computes every row, or raises: inputs at the ends of the numbers, whatever way a call takes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dalembert as da
from dalembert.codegen.blocks import Port
from dalembert.native import builtin
from dalembert.native.calls import results_for

LARGEST, SINGLE = np.finfo(float).max, float(np.finfo(np.float32).max)
# Squares and products of these overflow or do not whatever the order of operations, in which the two ways differ.
NUMBERS = (0.0, -0.0, 1.0, -2.5, 1e6, 5e-324, -1e-310, 1e-160, 1e100, -1e100, 1e200, 1e308, -1e308, LARGEST, -LARGEST)
EDGE = 1e300             # from here on, the order of a few operations decides as well
BEYOND = (np.inf, -np.inf, np.nan)
ARM = da.planar_chain(2)
TREE = da.random_tree(3, 3, ["spherical", "revolute", "prismatic"])
QUANTITIES = {"mass_matrix": "q", "inverse_dynamics": "q qd qdd", "forward_dynamics": "q qd tau", "kinetic_energy": "q qd"}
SENTINEL = 7.25
WAYS = ("fresh", "out", "strided out", "reversed out", "threads", "list", "single state", "fortran", "one row for all")


@pytest.fixture(scope="module")
def compiled():
    made = {"plain": (ARM, da.compile(ARM), np.float64), "tree": (TREE, da.compile(TREE), np.float64),
            "parameters": (ARM, da.compile(ARM, parameters=["link2.mass"]), np.float64),
            "single precision": (ARM, da.compile(ARM, dtype=np.float32), np.float32)}
    for name, arguments in QUANTITIES.items():
        for mechanism, dynamics, _ in made.values():
            q, qd = mechanism.random_state()
            getattr(dynamics, name)(*(q if a == "q" else qd for a in arguments.split()))
    return made


def given_out(shape, dtype, way):
    """An array to write to, full of a number that no result is."""
    full = np.full((shape[0], 2 * int(np.prod(shape[1:])) + 3), SENTINEL, dtype)
    if way == "out":
        return np.full(shape, SENTINEL, dtype)
    part = full[:, :int(np.prod(shape[1:]))].reshape(shape) if shape[0] == 0 else np.lib.stride_tricks.as_strided(
        full, shape, (full.strides[0], *np.empty(shape[1:], dtype).strides))
    return part[::-1] if way == "reversed out" else part


def called(method, vectors, shape, dtype, way):
    if way in ("out", "strided out", "reversed out"):
        return method(*vectors, out=given_out((len(vectors[0]), *shape), dtype, way))
    if way == "threads":
        return method(*vectors, threads=3)
    if way == "list":
        return method(*(v.tolist() if len(v) else v for v in vectors))
    if way == "fortran":
        return method(*map(np.asfortranarray, vectors))
    return method(*vectors)


def outcome(function):
    """The results of a call, or its error."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(function()), None
    except (ValueError, da.DalembertError) as error:
        return None, error


@settings(max_examples=80, deadline=None, derandomize=True)
@given(data=st.data())
def test_extreme_inputs_give_the_results_of_the_plain_function_or_its_error(compiled, data):
    mechanism, dynamics, dtype = compiled[data.draw(st.sampled_from(sorted(compiled)))]
    name, way = data.draw(st.sampled_from(sorted(QUANTITIES))), data.draw(st.sampled_from(WAYS))
    rows = data.draw(st.integers(0, 50))
    vectors = []
    for argument in QUANTITIES[name].split():
        states = [mechanism.random_state(k) for k in range(max(rows, 1))]
        vectors.append(np.array([s[argument != "q"] for s in states])[:rows])
    for _ in range(data.draw(st.integers(0, 4)) if rows else 0):
        a = data.draw(st.sampled_from(vectors))
        count = data.draw(st.integers(1, a.shape[1]))
        a[data.draw(st.integers(0, rows - 1)), :count] = data.draw(st.sampled_from(NUMBERS + BEYOND))
    if way == "single state" and rows:
        vectors = [v[-1] for v in vectors]
    if way == "one row for all" and rows:
        vectors[0] = vectors[0][:1]
    if dtype == np.float32:
        vectors = [np.where(np.abs(v) > SINGLE, np.copysign(np.inf, v), v).astype(dtype) for v in vectors]
    shape = {"mass_matrix": (mechanism.nv, mechanism.nv), "kinetic_energy": ()}.get(name, (mechanism.nv,))
    found, error = outcome(lambda: called(getattr(dynamics, name), vectors, shape, dtype, way))
    right, reason = outcome(lambda: getattr(da, name)(mechanism, *(v.astype(float) for v in vectors)))
    near = dtype == np.float32 or any((np.abs(v) > EDGE).any() for v in vectors)
    if near and (error is None) != (reason is None):      # within some factors of the largest number
        assert isinstance(error or reason, (da.OverflowedError, da.SingularMassMatrixError))
        return
    assert (error is None) == (reason is None), (error, reason)      # of several faults, another may be named first
    if found is not None:
        tolerance = 2e-4 if dtype == np.float32 else 1e-10
        scale = np.abs(right).max(axis=tuple(range(1, right.ndim)), keepdims=True, initial=1e-30)
        assert found.shape == right.shape and np.all(np.abs(found / scale - right / scale) <= tolerance)


@pytest.mark.parametrize("largest", [1e308, LARGEST])
@pytest.mark.parametrize("rows", [None, 1, 2, 7, 8, 9, 40])
def test_finite_numbers_whose_sum_is_not_are_computed(compiled, largest, rows):
    _, dynamics, _ = compiled["plain"]
    q = np.full((rows or 1, 2), 0.3)
    q[-1] = largest
    q = q if rows else q[0]
    out = np.full((*q.shape, 2), SENTINEL)
    assert np.allclose(dynamics.mass_matrix(q, out=out), da.mass_matrix(ARM, q), rtol=1e-12) and out[..., 1, 1].min() > 0


def test_an_input_that_is_not_finite_is_named_with_row_and_value(compiled):
    _, dynamics, _ = compiled["plain"]
    qd = np.zeros((30, 2))
    qd[17, 1] = -np.inf
    with pytest.raises(ValueError, match="qd has the entry -inf at index 1 in row 17"):
        dynamics.kinetic_energy(np.zeros((30, 2)), qd)


def test_an_input_too_large_for_single_precision_is_named_with_its_value(compiled):
    _, dynamics, _ = compiled["single precision"]
    with pytest.raises(ValueError, match=r"q has the entry 1e\+39 at index 1 in row 2; expected finite numbers of float32"):
        dynamics.mass_matrix([[0, 0], [0, 0], [0, 1e39]])


def test_results_that_overflow_are_an_error_as_those_of_the_plain_function_are(compiled):
    _, dynamics, _ = compiled["plain"]
    for function in (dynamics.kinetic_energy, lambda *state: da.kinetic_energy(ARM, *state)):
        with pytest.raises(da.OverflowedError, match="the result is inf: numbers became too large"):
            function([0.1, 0.2], [1e200, 0.0])


def test_scans_over_bodies_look_at_each_number_by_itself():
    chain = da.planar_chain(120)
    dynamics, q = da.compile(chain), np.full((11, 120), 0.01)
    q[3] = 1e308
    zeros = np.zeros_like(q)
    assert np.allclose(dynamics.gravity_vector(q), da.gravity_vector(chain, q), rtol=1e-9, atol=1e-9)
    tau = np.full_like(q, SENTINEL)
    assert np.isfinite(dynamics.inverse_dynamics(q, zeros, zeros, out=tau)).all() and not (tau == SENTINEL).any()
    q[9, 119] = np.nan
    with pytest.raises(ValueError, match="q has the entry nan at index 119 in row 9"):
        dynamics.gravity_vector(q)


def overlapping():
    memory = np.zeros(64)
    as_strided = np.lib.stride_tricks.as_strided
    return {"one row for all": as_strided(memory, (5, 2), (0, 8)), "half a row further": as_strided(memory, (5, 2), (8, 8)),
            "backwards": as_strided(memory[20:], (5, 2), (-8, 8))}


@pytest.mark.parametrize("name", overlapping())
@pytest.mark.parametrize("fast", [True, False])
def test_rows_of_out_that_overlap_are_refused(compiled, name, fast, monkeypatch):
    _, dynamics, _ = compiled["plain"]
    if not fast:
        monkeypatch.setattr(builtin, "supported", lambda: False)
        dynamics = da.compile(ARM)
    with pytest.raises(ValueError, match="out for gravity_vector has rows that overlap in memory .*memory of its own"):
        dynamics.gravity_vector(np.zeros((5, 2)), out=overlapping()[name])
    square = da.function(lambda x: x * x, x=2)
    with pytest.raises(ValueError, match="out for result has rows that overlap"):
        square(np.zeros((5, 2)), out=overlapping()[name])


def test_results_that_overlap_each_other_are_refused_and_results_side_by_side_are_not(compiled):
    _, dynamics, _ = compiled["plain"]
    both = dynamics.function(["gravity_vector", "coriolis_vector"])
    q, qd, memory = np.ones((4, 2)), np.ones((4, 2)), np.zeros((4, 4))
    both(q, qd, out=(memory[:, :2], memory[:, 2:]))
    assert np.array_equal(memory, np.hstack(both(q, qd)))
    with pytest.raises(ValueError, match="out for coriolis_vector overlaps out for gravity_vector"):
        both(q, qd, out=(memory[:, :2], memory[:, 1:3]))
    results_for([Port("a", (2,))], 1, np.lib.stride_tricks.as_strided(memory, (1, 2), (0, 8)))      # a single row is apart


def test_out_may_overlap_the_inputs(compiled):
    _, dynamics, _ = compiled["plain"]
    memory = np.linspace(0, 1, 20)
    q, out = memory[:10].reshape(5, 2), memory[3:13].reshape(5, 2)
    right = dynamics.gravity_vector(q.copy())
    assert np.array_equal(dynamics.gravity_vector(q, out=out), right)


@pytest.mark.parametrize("threads, error", [(0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError), ("2", TypeError)])
def test_a_number_of_threads_that_makes_no_sense_is_refused(compiled, threads, error):
    square = da.function(lambda x: x * x, x=2)
    for function in (compiled["plain"][1].gravity_vector, square, lambda q, threads: da.simulate(ARM, q, q, 0.1, threads=threads)):
        with pytest.raises(error, match="threads="):
            function(np.zeros((5, 2)), threads=threads)
    assert square(np.zeros((5, 2)), threads=np.int64(2)).shape == (5, 2)


def test_an_out_that_is_no_array_is_named(compiled):
    with pytest.raises(TypeError, match="out is a int: expected an array"):
        compiled["plain"][1].gravity_vector(np.zeros(2), out=5)
