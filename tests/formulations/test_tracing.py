"""The same text on expressions: equal values, few operations, one program whatever was traced before, no leaks."""

import gc
import hashlib
import subprocess
import sys
import threading

import numpy as np
import pytest

import dalembert as da
import oracles
from trees import seeds


def locked_panda():
    return da.load("panda", mimic="independent", passive=False, lock={"panda_finger_joint1": 0, "panda_finger_joint2": 0})


def traced(m, quantity):
    """Outputs and inputs of a quantity traced in a graph of its own."""
    with da.Graph():
        q, qd, other = da.symbols("q", m.nq), da.symbols("qd", m.nv), da.symbols("x", m.nv)
        f, arguments = getattr(da, quantity), {"inverse_dynamics": (q, qd, other), "forward_dynamics": (q, qd, other),
                                               "mass_matrix": (q,), "gravity_vector": (q,)}.get(quantity, (q, qd))
        return f(m, *arguments), (q, qd, other)


@pytest.mark.parametrize("quantity, multiplications, additions", [
    ("inverse_dynamics", 381, 355), ("mass_matrix", 194, 227), ("forward_dynamics", 772, 711)])
def test_operation_gate_of_the_panda(quantity, multiplications, additions):
    """The issue's gate is 460 + 380, 290 + 230, 1050 + 820; these are the counts reached, so that none is lost."""
    count = da.count_operations(traced(locked_panda(), quantity)[0])
    assert count["mul"] <= multiplications and count["add"] <= additions
    assert count["sin"] + count["cos"] == 12      # the first joint turns about the vertical: its angle does not enter


QUANTITIES = ["inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_vector", "bias_force", "coriolis_matrix",
              "kinetic_energy", "momenta", "centroidal_momentum", "passive_force"]


@pytest.mark.parametrize("seed", seeds(4, 6))
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_expressions_evaluate_to_the_floats(seed, quantity):
    m = da.random_tree(seed, 6)
    q, qd = m.random_state(seed)
    x = np.random.default_rng(seed).standard_normal(m.nv)
    expressions, inputs = traced(m, quantity)
    values = dict(zip(np.concatenate(inputs), np.concatenate([q, qd, x]), strict=True))
    found = np.array(da.evaluate(expressions, values), dtype=float)
    f = getattr(da, quantity)
    expected = f(m, *{"inverse_dynamics": (q, qd, x), "forward_dynamics": (q, qd, x), "mass_matrix": (q,),
                      "gravity_vector": (q,)}.get(quantity, (q, qd)))
    assert np.abs(found - expected).max() <= 1e-11 * np.abs(expected).max()


def test_gravity_vector_is_the_gradient_of_the_traced_potential():
    m = da.random_tree(2, 6, ["revolute", "prismatic", "universal", "helical", "cylindrical"]).without("springs")
    with da.Graph():
        q = da.symbols("q", m.nq)
        gradient = da.gradient(da.potential_energy(m, q), q)
        at = dict(zip(q, m.random_state(1)[0], strict=True))
        expected = np.array(da.evaluate(da.gravity_vector(m, q), at), dtype=float)
        assert np.allclose(np.array(da.evaluate(gradient, at), dtype=float), expected, rtol=1e-11, atol=1e-11)


def test_mass_matrix_is_the_hessian_of_the_traced_kinetic_energy():
    m = da.random_tree(5, 4, ["revolute", "prismatic", "spherical"])
    with da.Graph():
        q, qd = da.symbols("q", m.nq), da.symbols("qd", m.nv)
        hessian = [da.derivative(g, list(qd)) for g in da.gradient(da.kinetic_energy(m, q, qd), qd)]
        at = dict(zip([*q, *qd], np.concatenate(m.random_state(1)), strict=True))
        found = np.array(da.evaluate(np.array(hessian, dtype=object), at), dtype=float)
        expected = np.array(da.evaluate(da.mass_matrix(m, q), at), dtype=float)
        assert np.allclose(found, expected, rtol=1e-11, atol=1e-11)


def test_any_number_of_a_mechanism_may_be_a_symbol():
    m = da.planar_chain(2)
    with da.Graph():
        mass, length, g = da.symbol("m2"), da.symbol("l1"), da.symbol("g")
        symbolic = m.replace({"link2.mass": mass, "q2.origin[0]": length, "gravity[2]": -g})
        M = da.mass_matrix(symbolic, [0.3, -0.8])
        at = {mass: 2.5, length: 0.7, g: 9.0}
        plain = m.replace({"link2.mass": 2.5, "q2.origin[0]": 0.7, "gravity[2]": -9.0})
        assert np.allclose(np.array(da.evaluate(M, at), float), da.mass_matrix(plain, [0.3, -0.8]), rtol=1e-13)
        q = da.symbols("q", 2)
        tau = da.inverse_dynamics(symbolic, q, q, q)
    at |= {q[0]: 0.3, q[1]: -0.8}
    assert np.allclose(np.array(da.evaluate(tau, at), float),
                       da.inverse_dynamics(plain, [0.3, -0.8], [0.3, -0.8], [0.3, -0.8]), rtol=1e-12)


def test_symbols_of_a_mechanism_come_along_into_the_graph_of_the_state():
    symbolic = da.planar_chain(2).replace({"link2.mass": da.symbol("m2")})
    with da.Graph():
        q = da.symbols("q", 2)
        M = da.mass_matrix(symbolic, q)
        assert M[0, 0].graph is q[0].graph
        assert {s.args[0] for s in da.free_symbols(M)} == {"m2", "q[1]"}


PROGRAM = """
import sys
sys.path.insert(0, {tests!r})
from formulations.test_tracing import digest
print(digest())
"""


def program(expressions):
    """A program as text: every node once, children before parents, in the order the graph gives."""
    from dalembert.expr import topological

    order = topological([e for e in np.ravel(expressions) if isinstance(e, da.Expr)])
    place = {node: k for k, node in enumerate(order)}
    return "\n".join(f"{node.op} " + " ".join(str(place[a]) if a in place else repr(a) for a in node.args) for node in order)


def digest():
    return hashlib.sha256(program(traced(locked_panda(), "forward_dynamics")[0]).encode()).hexdigest()


def test_the_program_is_the_same_after_other_work_in_a_thread_and_under_another_hash_seed(tmp_path):
    first, in_thread = digest(), []
    traced(da.random_tree(1, 5), "inverse_dynamics")
    assert digest() == first
    thread = threading.Thread(target=lambda: in_thread.append(digest()))
    thread.start()
    thread.join()
    assert in_thread == [first]
    for seed in ("0", "12345"):
        run = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM.format(tests=str(oracles.DATA.parent))],
                             env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)}, capture_output=True, text=True)
        assert run.stdout.strip() == first, run.stderr


@pytest.mark.parametrize("arms", [25, pytest.param(200, marks=pytest.mark.slow)])
def test_traced_arms_leave_no_memory_behind(arms):
    resource = pytest.importorskip("resource")
    for seed in range(5):
        traced(da.random_tree(seed, 7, ["revolute", "prismatic"]), "inverse_dynamics")
    gc.collect()
    before = resident()
    for seed in range(arms):
        traced(da.random_tree(seed, 7, ["revolute", "prismatic"]), "inverse_dynamics")
    assert resident() - before < 20e6, resource.getpagesize()


def resident():
    """Resident memory now [bytes]."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
