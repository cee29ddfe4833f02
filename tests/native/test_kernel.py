"""Kernels: every operation, sine and cosine to 2 ulp, no access beyond the arrays, the same text for every processor."""

import ctypes
import functools
import math
import mmap
import re
import subprocess
import sys

import llvmlite.binding as llvm
import mpmath
import numpy as np
import pytest

import dalembert as da
from dalembert.codegen.program import program_of
from dalembert.codegen.targets.llvm import BOUND, Machine, assembly, streams
from dalembert.native.kernel import Kernel, host, machine_for, object_code
from dalembert.tracing.quantities import traced
from processors import PROCESSORS, all_targets  # noqa: F401
from programs import PAIRS, long_program, operations_program

MACHINES = [Machine(lanes, fused, False) for lanes in (2, 4, 8) for fused in (True, False)]
names = [f"{m.lanes} lanes, {'fused' if m.fused else 'split'}" for m in MACHINES]
machines = pytest.mark.parametrize("machine", MACHINES, ids=names)

LARGEST = 636619                  # of k with k pi/2 <= 1e6
ULPS = 2                          # what sine and cosine may be off
LIBRARY_ULPS = 4                  # of the C library's other functions against NumPy's
WIDE = 10.0 ** np.arange(-20, 6)  # factors of random angles [rad]


def able(machine):
    """Skip what this processor cannot run: fused operations would be library calls."""
    if machine.fused and not host()[0].fused:
        pytest.skip("no fused multiply-add")


@functools.cache
def sine_cosine(machine):
    with da.Graph():
        x = da.symbols("x", 1)
        return Kernel(object_code(program_of({"x": x}, {"s": da.sin(x[0]), "c": da.cos(x[0])}), machine))


def sines_cosines(machine, x):
    """Sine and cosine of each angle by the kernel of a machine."""
    x = np.ascontiguousarray(x, dtype=float)
    s, c = np.empty_like(x), np.empty_like(x)
    sine_cosine(machine).run([x[:, None]], [s, c], len(x))
    return s, c


def exact(x):
    """Sines and cosines of doubles, each as the nearest double and the rest: (2 functions, 2 parts, N)."""
    with mpmath.workprec(200):
        values = [[f(mpmath.mpf(v)) for v in np.asarray(x).tolist()] for f in (mpmath.sin, mpmath.cos)]
        return np.array([[[float(v) for v in row], [float(v - float(v)) for v in row]] for row in values])


def ulps(found, right):
    """Largest error in units of the last place of the exact value."""
    heads, rests = right[:, 0], right[:, 1]
    return float((np.abs((np.array(found) - heads) - rests) / np.spacing(np.abs(heads))).max())


def near_multiples(step):
    """The doubles beside k pi/2 on both sides: where the reduction has the least left."""
    k = np.arange(1, LARGEST + 1, step)
    x = np.concatenate([k * (np.pi / 2), -k[::7] * (np.pi / 2)])
    return np.concatenate([x, np.nextafter(x, np.inf), np.nextafter(x, -np.inf)])


def random_angles():
    rng = np.random.default_rng(3)
    return (rng.uniform(-10, 10, (100, 1)) * WIDE).ravel()[:3000].clip(-BOUND, BOUND)


TINY = np.finfo(float).smallest_subnormal
SPECIAL = np.array([0.0, TINY, -TINY, 1e-310, np.finfo(float).tiny, 1e-30, np.pi, -np.pi, np.pi / 2, np.pi / 4, 0.785, 1.0,
                    1e6, -1e6, np.nextafter(1e6, 0), 999999.9999, 205037.74047436193, 44048.772576708696, 67093.67468113848])


@pytest.fixture(scope="module")
def angles():
    """Angles within the bound, and their exact sines and cosines."""
    x = np.concatenate([near_multiples(97), random_angles(), SPECIAL])
    return x, exact(x)


@machines
def test_sine_and_cosine_are_within_two_ulp(machine, angles):
    able(machine)
    x, right = angles
    assert ulps(sines_cosines(machine, x), right) <= ULPS


@pytest.mark.slow
def test_sine_and_cosine_beside_every_multiple_of_half_pi():
    for x in np.array_split(near_multiples(1), 100):
        right = exact(x)
        for machine in MACHINES:
            if host()[0].fused or not machine.fused:
                assert ulps(sines_cosines(machine, x), right) <= ULPS, machine


@machines
def test_sine_of_zero_is_zero_of_the_same_sign(machine):
    able(machine)
    s, c = sines_cosines(machine, [0.0, -0.0])
    assert s.tolist() == [0, 0] and c.tolist() == [1, 1]
    assert np.signbit(s).tolist() == [False, True]


@machines
def test_angles_beyond_the_bound_are_the_librarys(machine):
    able(machine)
    x = [np.nextafter(1e6, 2e6), -1e7, 1e22, -1e22, 1.7e308, 6381956970095103 * 2.0**797]      # the last: nearest to pi/2
    s, c = sines_cosines(machine, x)
    assert s.tolist() == [math.sin(v) for v in x] and c.tolist() == [math.cos(v) for v in x]


@machines
def test_angles_that_are_not_finite_give_nan(machine):
    able(machine)
    found = sines_cosines(machine, [np.inf, 1.0, -np.inf, np.nan])
    np.testing.assert_array_equal(np.isnan(found), [[True, False, True, True]] * 2)


@machines
@pytest.mark.parametrize("beyond", [1.5e6, 1e22, np.inf, -np.inf, np.nan])
def test_a_lane_beyond_the_bound_does_not_change_its_neighbours(machine, beyond):
    able(machine)
    x = random_angles()[:64]
    alone = np.array(sines_cosines(machine, x))
    for lane in range(machine.lanes):
        mixed = x.copy()
        mixed[lane::machine.lanes] = beyond
        kept = mixed == x
        found = np.array(sines_cosines(machine, mixed))
        assert found[:, kept].tobytes() == alone[:, kept].tobytes()


@machines
def test_results_do_not_depend_on_neighbours_place_or_number(machine):
    able(machine)
    x = np.concatenate([random_angles()[:50], [1e7, np.nan, -0.0]])
    whole = np.array(sines_cosines(machine, x))
    for k, value in enumerate(x):
        assert np.array(sines_cosines(machine, [value]))[:, 0].tobytes() == whole[:, k].tobytes()
    for shift in range(1, 9):
        assert np.array(sines_cosines(machine, x[shift:])).tobytes() == whole[:, shift:].tobytes()


# --- every operation ----------------------------------------------------------------------------------------------------

def assert_same(found, expected, name, places):
    """Equal including infinities and NaN, to some units of the last place; the sign of zero counts."""
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected), err_msg=name)
    ok = np.isfinite(expected)
    np.testing.assert_array_equal(found[~ok], expected[~ok], err_msg=name)
    error = np.abs(found[ok] - expected[ok]) / np.spacing(np.abs(expected[ok]))
    assert error.max(initial=0) <= places, f"{name}: {error.max()} ulp"


@machines
def test_every_operation_is_numpys(machine):
    able(machine)
    program, expressions, x = operations_program()
    kernel = Kernel(object_code(program, machine))
    for at in (PAIRS, np.random.default_rng(0).uniform(-1, 1, (200, 2)), np.random.default_rng(1).uniform(0, 30, (200, 2))):
        found = [np.empty(len(at)) for _ in program.outputs]
        assert kernel.run([np.ascontiguousarray(at)], found, len(at)) == -1
        expected = da.evaluate(expressions, dict(zip(x, at.T)))
        for port, y, right in zip(program.outputs, found, expected.T, strict=True):
            assert_same(y, right, port.name, LIBRARY_ULPS)


@machines
@pytest.mark.parametrize("size", [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_programs_of_several_chunks_equal_evaluate(machine, size):
    """Values and conditions cross from chunk to chunk through scratch memory."""
    able(machine)
    program, expressions, x = long_program(5, size)
    assert assembly(program, machine).count("define internal void @chunk") > size // 200
    at = np.random.default_rng(2).standard_normal((37, 4))
    found, expected = np.empty((37, 20)), da.evaluate(expressions, dict(zip(x, at.T)))
    assert Kernel(object_code(program, machine)).run([at], [found], 37) == -1
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)      # conditions amplify rounding


def test_long_code_is_made_quickly_and_computes_the_same(monkeypatch):
    machine = machine_for()
    program, _, _ = long_program(5, 300)
    at = np.random.default_rng(2).standard_normal((37, 4))
    results = []
    for longest in (1e9, 0):
        monkeypatch.setattr("dalembert.native.kernel.LONG", longest)
        results.append(np.empty((37, 20)))
        code = object_code(program, machine)
        assert Kernel(code).run([at], [results[-1]], 37) == -1
    np.testing.assert_array_equal(*results)


def test_outputs_that_are_inputs_or_constants_are_copied():
    with da.Graph():
        x = da.symbols("x", 3)
        program = program_of({"x": x, "unused": []}, {"y": [x[2], 2.5, x[2]], "z": np.zeros((0, 2)), "w": 1.5})
    for machine in MACHINES:
        y, z, w = np.empty((5, 3)), np.empty((5, 0, 2)), np.empty(5)
        at = np.random.default_rng(0).standard_normal((5, 3))
        Kernel(object_code(program, machine)).run([at, np.empty((5, 0))], [y, z, w], 5)
        np.testing.assert_array_equal(y, np.stack([at[:, 2], np.full(5, 2.5), at[:, 2]], axis=1))
        assert (w == 1.5).all()


@machines
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_an_input_that_is_not_finite_stops_the_kernel_at_its_block(machine, value):
    able(machine)
    with da.Graph():
        x, y = da.symbols("x", 3), da.symbols("y", 2)
        program = program_of({"x": x, "y": y}, {"sum": x[0] + y[1]})      # x[1], x[2], y[0] are not used
    kernel = Kernel(object_code(program, Machine(machine.lanes, machine.fused)))
    for n in (1, 2, 7, 8, 9, 23):
        arrays = [np.zeros((n, 3)), np.zeros((n, 2))]
        assert kernel.run(arrays, [np.empty(n)], n) == -1
        for row in range(n):
            for k, entry in ((0, 1), (1, 0), (1, 1)):
                wrong = [a.copy() for a in arrays]
                wrong[k][row:, entry] = value
                assert 0 <= row - kernel.run(wrong, [np.empty(n)], n) < machine.lanes      # first of the block


# --- memory -------------------------------------------------------------------------------------------------------------

class Guarded:
    """An array that ends where unreadable memory begins, or begins where it ends."""

    libc = ctypes.CDLL(None, use_errno=True)

    def __init__(self, n, entries, at_end):
        page = mmap.PAGESIZE
        pages = -(-8 * n * entries // page) or 1
        self.memory = mmap.mmap(-1, (pages + 2) * page)
        whole = np.frombuffer(self.memory, dtype=np.uint8)
        self.guards = [whole.ctypes.data, whole.ctypes.data + (pages + 1) * page]
        start = (pages + 1) * page - 8 * n * entries if at_end else page
        self.array = whole[start:start + 8 * n * entries].view(float).reshape(n, entries)
        for address in self.guards:
            self.protect(address, mmap.PROT_READ & 0)

    def protect(self, address, rights):
        assert self.libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), rights) == 0

    def release(self):
        for address in self.guards:
            self.protect(address, mmap.PROT_READ | mmap.PROT_WRITE)


@pytest.mark.skipif(not hasattr(Guarded.libc, "mprotect"), reason="no mprotect")
@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("at_end", [True, False])
@pytest.mark.parametrize("streamed", [True, False])
def test_nothing_beyond_the_arrays_is_touched(lanes, at_end, streamed, monkeypatch):
    """Pages before the first and after the last entry of each array are unreadable: a stray access ends the process."""
    monkeypatch.setattr(streams, "FROM", 0 if streamed else streams.FROM)
    program = traced(da.planar_chain(5), ["inverse_dynamics", "mass_matrix", "kinetic_energy"])
    kernel = Kernel(object_code(program, Machine(lanes, host()[0].fused)))
    ports = (*program.inputs, *program.outputs)
    for n in range(21):
        held = [Guarded(n, p.size, at_end) for p in ports]
        try:
            arrays = [h.array for h in held]
            for a in arrays:
                a[:] = np.arange(a.size).reshape(a.shape) / 100
            assert kernel.run(arrays[:3], arrays[3:], n) == -1
            free = [np.array(a) for a in arrays]
            assert kernel.run(free[:3], free[3:], n) == -1
            for a, b in zip(arrays, free, strict=True):
                np.testing.assert_array_equal(a, b)
        finally:
            for h in held:
                h.release()


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("real", ["double", "float"])
def test_results_that_go_to_memory_past_the_caches_are_the_same(lanes, real, monkeypatch):
    """Wherever an array begins in a line of memory, with and without room between its rows."""
    program = traced(da.planar_chain(3), ["mass_matrix", "inverse_dynamics", "regressor"])
    machine = Machine(lanes if real == "double" else 2 * lanes, host()[0].fused, real=real)
    usual = Kernel(object_code(program, machine))
    monkeypatch.setattr(streams, "FROM", 0)
    assert assembly(program, machine).count("call void @move") > 2
    kernel = Kernel(object_code(program, machine))
    number = np.float64 if real == "double" else np.float32
    for n in (0, 1, 9, 33):
        inputs = [np.random.default_rng(k).standard_normal((n, 3)).astype(number) for k in range(3)]
        right = [np.zeros((n, p.size), number) for p in program.outputs]
        usual.run(inputs, right, n)
        for start in range(0, 64, number().itemsize):
            for room in (0, 3):
                wide = [np.full(64 + n * (p.size + room) + 64, 7e7, number) for p in program.outputs]
                found = []
                for a, p in zip(wide, program.outputs, strict=True):
                    first = (start - a.ctypes.data) % 64 // a.itemsize
                    found.append(a[first:first + n * (p.size + room)].reshape(n, p.size + room)[:, :p.size])
                kernel.run(inputs, found, n)
                for a, b, r in zip(wide, found, right, strict=True):
                    np.testing.assert_array_equal(b, r)
                    b[:] = 7e7
                    assert (a == number(7e7)).all()


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_only_the_columns_of_a_row_are_written(lanes):
    program = traced(da.planar_chain(2), ["inverse_dynamics"])
    kernel = Kernel(object_code(program, Machine(lanes, host()[0].fused)))
    for n in range(1, 20):
        inputs = [np.random.default_rng(k).standard_normal((n, 2)) for k in range(3)]
        wide, tight = np.full((n + 2, 7), 7e77), np.empty((n, 2))
        kernel.run(inputs, [tight], n)
        kernel.run(inputs, [wide[1:-1, 3:5]], n)
        np.testing.assert_array_equal(wide[1:-1, 3:5], tight)
        wide[1:-1, 3:5] = 7e77
        assert (wide == 7e77).all()


def test_one_row_serves_all_states_also_where_its_length_is_their_number():
    with da.Graph():
        x, y = da.symbols("x", 3), da.symbols("y", 3)
        kernel = Kernel.of(program_of({"x": x, "y": y}, {"z": x + 10 * y}))
    many, one, z = np.arange(9.0).reshape(3, 3), np.array([1.0, 2.0, 3.0]), np.empty((3, 3))
    for row in (one, one[None]):
        kernel.run([many, row], [z], 3)
        np.testing.assert_array_equal(z, many + 10 * one)
        kernel.run([row, many], [z], 3)
        np.testing.assert_array_equal(z, one + 10 * many)


# --- other processors ---------------------------------------------------------------------------------------------------

KINDS = {      # program and what it may call besides its own parts
    "mechanism": (lambda: traced(da.planar_chain(3), ["forward_dynamics", "coriolis_matrix", "potential_energy"]), set()),
    "chunks": (lambda: traced(da.planar_chain(9), ["inverse_dynamics", "mass_matrix"]), set()),
    "operations": (lambda: operations_program()[0], {"tan", "asin", "acos", "atan2", "exp", "log", "sinh", "cosh", "tanh",
                                                     "hypot", "pow"}),
    "no library": (lambda: free_program(), set()),
}


def free_program():
    """Roots, choices, signs: nothing that the library computes."""
    with da.Graph():
        x = da.symbols("x", 2)
        y = da.sqrt(da.absolute(x[0])) / (1 + x[1] * x[1])
        return program_of({"x": x}, {"y": [da.minimum(y, x[1]), da.sign(y), da.where((x[0] < y) & ~(y <= x[1]), y, -y)]})


@functools.cache
def program_of_kind(kind):
    """Traced once for all processors."""
    make, _ = KINDS[kind]
    return make()


@pytest.mark.parametrize(("kind", "checked", "real", "processor"), [
    pytest.param(kind, checked, real, processor,
                 marks=() if kind == "operations" or (checked, real) == (True, "double") and (kind, processor) != ("chunks", "x86-64")
                 else pytest.mark.slow)
    for kind in KINDS for checked, real in ((True, "double"), (False, "double"), (True, "float")) for processor in PROCESSORS])
def test_kernels_assemble_for_every_processor_and_call_the_library_only_where_stated(
        all_targets, processor, kind, checked, real):      # noqa: F811
    triple, cpu, lanes, fused = PROCESSORS[processor]
    _, library = KINDS[kind]
    machine = Machine(lanes if real == "double" else 2 * lanes, fused, checked, real)
    module = llvm.parse_assembly(assembly(program_of_kind(kind), machine))
    module.verify()
    target = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=2, reloc="pic", codemodel="small")
    module.triple = triple
    text = target.emit_assembly(module)
    own = {"slow_sin", "slow_cos", "turns", "alone_turns", "alone_kernel", "follow", "move", *re.findall(r"^\.?L?([a-z_]+\d+):", text, re.M)}
    called = {name.removesuffix("@PLT").removeprefix(".L") for name in re.findall(
        r"^\s+(?:callq?|bl|jmp|b)\s+\*?([A-Za-z_][\w@.]*)", text, re.M)}
    assert {name for name in called if name not in own and not name.startswith("LBB")} <= library | {"sin", "cos"}
    assert "sincos" not in text


# --- large processes ----------------------------------------------------------------------------------------------------

HOLES = """
import mmap
import dalembert as da

def one_more():
    f = da.function(lambda x: x[0] / 3 + da.sin(x[1]), x=2)
    assert abs(f([3.0, 0.0]) - 1) < 1e-15
    return f

made = [one_more()]
pages = [mmap.mmap(-1, mmap.PAGESIZE) for _ in range(4000)]      # one beside the other
far = [mmap.mmap(-1, 1 << 30) for _ in range(4)]                 # 4 GB below them, of which nothing is used
del pages[::2]
made += [one_more() for _ in range(10)]
"""


@pytest.mark.skipif(sys.platform != "linux", reason="holes of memory are filled as Linux does")
def test_code_and_constants_stay_near_each_other_in_a_large_process():
    """With single free pages above 4 GB: a section goes into them, the next does not."""
    done = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
