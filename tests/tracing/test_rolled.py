"""Quantities as scans over bodies: equal to the plain functions on every joint type, for long chains, at linear cost."""

import pickle
import re
import shutil
import subprocess
from functools import cache

import llvmlite.binding as llvm
import numpy as np
import pytest

import dalembert as da
from dalembert.codegen.program import Scan
from dalembert.codegen.targets import c, numpy_source
from dalembert.codegen.targets.llvm import Machine, assembly
from dalembert.codegen.verifier import verify
from dalembert.compiled import dynamics
from dalembert.model.joints import JOINT_TYPES, Prismatic
from dalembert.model.origins import Origin
from dalembert.model.parts import Body, Joint
from dalembert.native import cache as entries
from dalembert.native.kernel import Kernel, host, object_code
from dalembert.tracing import quantities, rolled
from dalembert.tracing.passes import ALGORITHMS
from dalembert.tracing.quantities import QUANTITIES, traced
from processors import PROCESSORS, all_targets  # noqa: F401

OWN = 1e-12                    # of the largest entry (conventions.md)
SORTINGS = {"fine": (1000, 1000), "coarse": (0, 1000), "coarsest": (0, 0)}      # MAX_STEPS and MAX_KINDS


@pytest.fixture
def always(monkeypatch):
    """Scans for any number of bodies; nothing from the cache."""
    monkeypatch.setattr(quantities, "ROLLED_FROM", 0)
    monkeypatch.setattr(entries, "folder", lambda: None)


def sort(monkeypatch, sorting):
    for name, most in zip(("MAX_STEPS", "MAX_KINDS"), SORTINGS[sorting], strict=True):
        monkeypatch.setattr(rolled, name, most)


@cache
def tree(seed, n=16, joints="every"):
    return da.random_tree(seed, n, joints if joints == "every" else list(joints)).independent()


def arguments(m, quantity, n, seed=0):
    """n random states: the vectors that a quantity takes."""
    q, qd = (np.array(x) for x in zip(*(m.random_state([seed, k]) for k in range(n)), strict=True))
    last = np.random.default_rng(seed).standard_normal((n, m.nv))
    vectors = {"q": q, "qd": qd, "qdd": last, "tau": last}
    return [vectors[i] for i in QUANTITIES[quantity].inputs]


def assert_close(found, right, tolerance=OWN):
    assert found.shape == right.shape
    assert np.abs(found - right).max(initial=0) <= tolerance * max(np.abs(right).max(initial=0), 1e-300)


# --- equality -----------------------------------------------------------------------------------------------------------

def test_the_tree_of_these_tests_has_every_joint_type_with_springs_friction_and_rotors():
    assert {j.type.name for j in tree(0).joints} >= {*JOINT_TYPES, "custom"}
    for numbers in ("viscous", "coulomb", "rotor_inertia", "stiffness"):
        assert any(any(getattr(j, numbers)) for j in tree(0).joints)


@pytest.mark.parametrize(("sorting", "quantity", "seed"), [
    pytest.param(sorting, quantity, seed, marks=() if seed == 0 and (
        sorting == "coarsest" or quantity in ("inverse_dynamics", "forward_dynamics")) else pytest.mark.slow)
    for sorting in SORTINGS for quantity in ALGORITHMS for seed in range(3)])
def test_numpy_target_equals_plain_on_every_joint_type(monkeypatch, always, sorting, quantity, seed):
    sort(monkeypatch, sorting)
    m = tree(seed)
    program, given = traced(m, [quantity]), arguments(m, quantity, 5)
    assert program.block is None
    verify(program)
    found, *status = numpy_source.compiled(program)(*given)
    # solutions with M: condition number of M beyond the 1e-12 of the others
    assert_close(found, getattr(da, quantity)(m, *given), 1e-11 if quantity == "forward_dynamics" else OWN)
    assert not np.any(status)


@pytest.mark.parametrize("sorting", SORTINGS)
@pytest.mark.parametrize("quantity", ["inverse_dynamics", pytest.param("forward_dynamics", marks=pytest.mark.slow), "kinetic_energy"])
def test_machine_code_equals_plain_on_every_joint_type(monkeypatch, always, sorting, quantity):
    sort(monkeypatch, sorting)
    m = tree(0)
    compiled, given = getattr(da.compile(m), quantity), arguments(m, quantity, 13)
    right = getattr(da, quantity)(m, *given)
    assert_close(compiled(*given), right, 1e-11 if quantity == "forward_dynamics" else OWN)
    single = compiled(*(x[3] for x in given))
    assert type(single) is type(getattr(da, quantity)(m, *(x[3] for x in given)))
    np.testing.assert_array_equal(single, compiled(*given)[3])


@pytest.mark.parametrize("sorting", ["coarsest", "fine"])
def test_machine_code_of_forward_dynamics_equals_plain(monkeypatch, always, sorting):
    sort(monkeypatch, sorting)
    m = tree(0, 8)
    given = arguments(m, "forward_dynamics", 13)
    assert_close(da.compile(m).forward_dynamics(*given), da.forward_dynamics(m, *given), 1e-11)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_short_chains(always, n):
    for m in (da.planar_chain(n), da.random_tree(n, n, ["revolute", "prismatic"])):
        given = arguments(m, "forward_dynamics", 5)
        assert_close(da.compile(m).forward_dynamics(*given), da.forward_dynamics(m, *given))
        assert_close(da.compile(m).inverse_dynamics(*given), da.inverse_dynamics(m, *given))


def test_single_precision(always):
    m = tree(3, 12, ("revolute", "prismatic", "spherical", "universal"))
    given = arguments(m, "inverse_dynamics", 11)
    found = da.compile(m, dtype=np.float32).inverse_dynamics(*given)
    assert found.dtype == np.float32
    assert_close(found.astype(float), da.inverse_dynamics(m, *given), 1e-5)


def test_several_quantities_at_once(always):
    m = tree(0)
    q, qd, qdd = arguments(m, "inverse_dynamics", 9)
    names = ["inverse_dynamics", "gravity_vector", "kinetic_energy", "momenta"]
    found = da.compile(m).function(names)(q, qd, qdd)
    for name, result in zip(names, found, strict=True):
        vectors = {"q": q, "qd": qd, "qdd": qdd}
        assert_close(result, getattr(da, name)(m, *(vectors[i] for i in QUANTITIES[name].inputs)))


def test_numbers_that_some_bodies_of_a_kind_share(always, monkeypatch):
    """Equal masses on prismatic joints: the pivot of a leaf is a number beside an inertia that is a symbol."""
    sort(monkeypatch, "coarse")
    bodies, joints = [Body("base")], []
    for k in range(6):
        bodies.append(Body(f"b{k}", 2.0, (0.1 * k, 0.2, 0), (0.1 + 0.01 * k, 0, 0.1, 0, 0, 0.1)))
        joints.append(Joint(f"j{k}", Prismatic((0, 0, 1)), bodies[k // 2].name, f"b{k}", Origin.rpy((0.1 * k, 0, 0), 0.3 * k)))
    m = da.Mechanism("equal masses", bodies, joints)
    given = arguments(m, "forward_dynamics", 5)
    assert_close(da.compile(m).forward_dynamics(*given), da.forward_dynamics(m, *given))


# --- bits ---------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
def test_a_states_result_depends_neither_on_number_nor_place_nor_threads(quantity):
    m = da.planar_chain(quantities.ROLLED_FROM)
    compiled, given = getattr(da.compile(m), quantity), arguments(m, quantity, 200)
    whole = compiled(*given)
    for threads in (2, 7):
        assert compiled(*given, threads=threads).tobytes() == whole.tobytes()
    for n in (1, 2, 3, 4, 5, 8, 9, 63, 65, 199):
        assert compiled(*(x[:n] for x in given)).tobytes() == whole[:n].tobytes()
        assert compiled(*(x[200 - n:] for x in given)).tobytes() == whole[200 - n:].tobytes()
    assert compiled(given[0], given[1], given[2][7]).tobytes() == compiled(given[0], given[1], given[2][[7] * 200]).tobytes()
    out = given[2]                                             # the result may overwrite an input
    compiled(given[0], given[1], out, out=out)
    assert out.tobytes() == whole.tobytes()


# --- size ---------------------------------------------------------------------------------------------------------------

def test_scans_are_chosen_by_the_number_of_moving_bodies(monkeypatch):
    monkeypatch.setattr(quantities, "ROLLED_FROM", 24)
    monkeypatch.setattr(entries, "folder", lambda: None)
    few, many = da.planar_chain(23), da.planar_chain(24)
    assert traced(few, ["gravity_vector"]).block
    assert traced(many, ["gravity_vector"]).block is None
    given = [arguments(m, "forward_dynamics", 6) for m in (few, many)]
    for m, vectors in zip((few, many), given, strict=True):
        qdd = da.compile(m).forward_dynamics(*vectors)
        assert_close(da.compile(m).inverse_dynamics(*vectors[:2], qdd), vectors[2], 1e-9)      # condition of M: 1e4


def test_long_chain_equals_plain():
    m = da.planar_chain(1000)
    given = [x[:2] for x in arguments(m, "inverse_dynamics", 2)]
    dyn = da.compile(m)
    assert_close(dyn.inverse_dynamics(*given), da.inverse_dynamics(m, *given))
    qdd = dyn.forward_dynamics(*given)
    back = dyn.inverse_dynamics(*given[:2], qdd)
    size = np.abs(da.forward_dynamics(m, *(x[0] for x in given))).max()
    assert np.abs(qdd[0] - da.forward_dynamics(m, *(x[0] for x in given))).max() <= 1e-8 * size     # condition of M
    bias = np.abs(dyn.bias_force(*given[:2])).max()
    assert np.abs(back - given[2]).max() <= OWN * (bias + np.abs(given[2]).max() + 1e5 * np.abs(qdd).max())      # |M| = 1e8


def test_cost_and_code_do_not_grow_with_the_chain():
    programs = {n: [rolled.rolled(da.planar_chain(n), [q], 1e-12) for q in ("inverse_dynamics", "forward_dynamics")] for n in (100, 400)}
    for short, long, most in zip(programs[100], programs[400], (36, 84), strict=True):
        assert len(short.tables) == len(long.tables)
        assert long.operations() / 400 <= most                  # 34 and 82; Newton-Euler in space takes 300
        assert long.size / 400 <= 12                           # numbers in the memory per body
        texts = [assembly(program, host()[0]) for program in (short, long)]
        functions = [{*re.findall(r"define [^@]*@(\w+)", text)} for text in texts]
        assert functions[1] - functions[0] <= {"work_bytes"}    # of memory of the caller, where lanes are wide


def test_branched_tree_of_many_bodies_has_few_kinds():
    m = da.random_tree(5, 150, ["revolute", "prismatic"])
    program = traced(m, ["inverse_dynamics"])
    assert all(len({table for table, _, _ in scan.runs}) <= 40 for scan in program.items if isinstance(scan, Scan))
    given = arguments(m, "inverse_dynamics", 7)
    outputs = [np.empty((7, *p.shape)) for p in program.outputs]
    Kernel.of(program).run(given, outputs, 7)
    assert_close(outputs[0], da.inverse_dynamics(m, *given))


# --- what is not rolled, and errors ---------------------------------------------------------------------------------------

def test_what_scans_do_not_cover_stays_straight(always):
    followed = da.random_tree(1, 8, ["revolute", "follower"])
    assert any(j.mimic for j in followed.joints)
    chain = da.planar_chain(4)
    given = arguments(followed, "inverse_dynamics", 5)
    assert traced(followed, ["inverse_dynamics"]).block
    assert_close(da.compile(followed).inverse_dynamics(*given), da.inverse_dynamics(followed, *given))
    assert traced(chain, ["inverse_dynamics", "mass_matrix"]).block
    assert traced(chain, ["inverse_dynamics"], parameters=["link1.mass"]).block
    assert traced(chain, ["inverse_dynamics"], loads=(("tip", "world"),)).block
    load = [da.ExternalForce("tip", (1, 2, 3))]
    q, qd, qdd = arguments(chain, "inverse_dynamics", 1)
    assert_close(da.compile(chain).inverse_dynamics(q[0], qd[0], qdd[0], load), da.inverse_dynamics(chain, q[0], qd[0], qdd[0], load))
    with pytest.raises(da.codegen.blocks.ProgramError, match="link1"):
        da.compile(chain.replace({"link1.mass": da.symbol("link1 m")})).inverse_dynamics(q[0], qd[0], qdd[0])


def test_singular_mass_matrix_names_joint_and_row(always):
    m = da.planar_chain(5)
    bodies = [b if b.name != "link5" else Body("link5") for b in m.bodies]
    massless = da.Mechanism("chain", bodies, m.joints)
    q, qd, tau = arguments(massless, "forward_dynamics", 6)
    with pytest.raises(da.SingularMassMatrixError, match="joint 'q5'"):
        da.compile(massless).forward_dynamics(q, qd, tau)


def test_a_pivot_in_doubt_is_looked_at_again(always):
    """A payload that is 1e14 times heavier than the links: rounding error could be all that is left of a pivot."""
    chain = da.planar_chain(4).replace({"link4.mass": 1e14, "link2.inertia[1,1]": 0, "link2.mass": 1e-9})
    state = [np.array([0.0, 0.0, 0.0, 0.0]), np.zeros(4), np.ones(4)]
    program = traced(chain, ["forward_dynamics"])
    outputs = [np.empty((1, *p.shape)) for p in program.outputs]
    assert Kernel.of(program).run([x[None] for x in state], outputs, 1) == -2
    assert 1 <= outputs[1][0] <= 4                             # 1 + the entry


def test_bad_inputs_are_refused(always):
    m = tree(0)
    dyn = da.compile(m)
    q, qd, qdd = arguments(m, "inverse_dynamics", 9)
    broken = q.copy()
    broken[4, next(iter(m.quaternions.values()))] += 0.1
    with pytest.raises(da.QuaternionError, match="row 4"):
        dyn.inverse_dynamics(broken, qd, qdd)
    qd[8, 2] = np.nan
    with pytest.raises(ValueError, match=r"qd has the entry nan at index 2 in row 8"):
        dyn.inverse_dynamics(q, qd, qdd)
    with pytest.raises(da.ShapeError):
        dyn.inverse_dynamics(q, qd, qdd[:, 1:])


def test_pickled_and_read_from_the_cache(monkeypatch, tmp_path):
    monkeypatch.setattr(entries, "folder", lambda: tmp_path)
    m = da.planar_chain(quantities.ROLLED_FROM)
    given = arguments(m, "inverse_dynamics", 5)
    whole = da.compile(m).inverse_dynamics(*given)
    monkeypatch.setattr(dynamics, "traced", None)               # from now on nothing is traced
    again = pickle.loads(pickle.dumps(da.compile(m)))
    assert again.inverse_dynamics(*given).tobytes() == whole.tobytes()


# --- targets ------------------------------------------------------------------------------------------------------------

@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
@pytest.mark.parametrize("sorting", ["coarsest", *(pytest.param(s, marks=pytest.mark.slow) for s in ("fine", "coarse"))])
def test_c_compiles_without_a_warning_and_runs_its_vectors(monkeypatch, tmp_path, always, sorting):
    sort(monkeypatch, sorting)
    m = tree(4, 8, ("revolute", "planar", "free", "custom", "universal"))
    for name, text in c.files(traced(m, ["forward_dynamics"]), "fd", vectors=arguments(m, "forward_dynamics", 5)).items():
        (tmp_path / name).write_text(text)
    command = ["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-std=c99", "fd.c", "fd_test.c", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert subprocess.run(["./a.out"], cwd=tmp_path, capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def scans_of_forward_dynamics():
    """Traced once for all processors."""
    return rolled.rolled(tree(4, 6, ("revolute", "prismatic", "spherical")), ["forward_dynamics"], 1e-12)


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("real", ["double", "float"])
def test_kernels_assemble_for_every_processor_and_call_nothing_but_their_parts(
        all_targets, scans_of_forward_dynamics, processor, real):      # noqa: F811
    triple, cpu, lanes, fused = PROCESSORS[processor]
    module = llvm.parse_assembly(assembly(scans_of_forward_dynamics, Machine(lanes if real == "double" else 2 * lanes, fused, True, real)))
    module.verify()
    target = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, opt=2, reloc="pic", codemodel="small")
    module.triple = triple
    text = target.emit_assembly(module)
    own = {"slow_sin", "slow_cos", "turns", *re.findall(r"^\.?L?((?:scan\d+|table\d+_chunk\d+|read|write)):", text, re.M)}
    called = {name.removesuffix("@PLT").removeprefix(".L") for name in re.findall(
        r"^\s+(?:callq?|bl|jmp|b)\s+\*?([A-Za-z_][\w@.]*)", text, re.M)}
    assert {name for name in called if name not in own and not name.startswith("LBB")} <= {"sin", "cos", "memset"}


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_every_number_of_lanes_gives_the_same(always, lanes):
    m = tree(6, 10, ("revolute", "cylindrical", "helical"))
    program, given = traced(m, ["inverse_dynamics"]), arguments(m, "inverse_dynamics", 11)
    outputs = [np.empty((11, *p.shape)) for p in program.outputs]
    assert Kernel(object_code(program, Machine(lanes, host()[0].fused))).run(given, outputs, 11) == -1
    assert_close(outputs[0], da.inverse_dynamics(m, *given))
