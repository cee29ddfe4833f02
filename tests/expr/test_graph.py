"""Ownership of nodes: sharing, ambient graphs, lifetime, threads, independence of history and hash seed."""

import contextvars
import gc
import subprocess
import sys
import threading
import tracemalloc
import weakref
from pathlib import Path

import pytest

from dalembert.expr import (
    Graph,
    GraphMixError,
    cos,
    count_operations,
    current_graph,
    import_nodes,
    sin,
    symbol,
    symbols,
    to_text,
    topological,
)


def test_equal_structure_is_one_node():
    with Graph():
        x, y = symbols("x y")
        assert sin(x + y) * 2 is 2 * sin(y + x)
        assert symbol("x") is x
        assert x - y is not y - x


def test_symbols_go_to_the_innermost_open_graph():
    with Graph("outer") as outer:
        assert symbol("x").graph is outer
        with Graph("inner") as inner:
            assert symbol("x").graph is inner
        with outer:
            assert current_graph() is outer
        assert current_graph() is outer
    assert current_graph() is not outer


def test_operations_stay_in_the_graph_of_their_nodes():
    with Graph() as graph:
        x = symbol("x")
    with Graph():
        assert (2 * x + 1).graph is graph


def test_nodes_of_two_graphs_meet_only_by_import():
    with Graph("first") as first:
        x = symbol("x")
    with Graph("second") as second:
        y = symbol("y")
    with pytest.raises(GraphMixError, match=r"'first'.*'second'.*import_nodes") as error:
        x + y
    assert error.value.graphs == (first, second)
    copy = import_nodes(sin(x) * 3, second)
    assert copy.graph is second
    assert str(copy + y) == str(import_nodes(sin(x) * 3 + import_nodes(y, first), second))
    with first:
        assert import_nodes([x, 2.0])[0] is x


def test_a_graph_dies_with_its_last_node():
    def check():
        x = symbol("x")
        graph = weakref.ref(x.graph)
        y = sin(x) + 1
        del x
        gc.collect()
        assert graph() is y.graph
        del y
        gc.collect()
        assert graph() is None

    contextvars.Context().run(check)      # with an implicit graph of its own


def test_threads_share_the_nodes_of_one_graph(random_function):
    function = random_function(seed=3, size=400)
    results = {}
    with Graph() as graph:
        x = symbols("x", 4)
        start = threading.Barrier(4)

        def trace(k):
            start.wait()
            results[k] = function(*x)

        threads = [threading.Thread(target=trace, args=(k,)) for k in range(4)]
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-4)          # provoke switches between look-up and insertion
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(interval)
    assert all(a is b for k in range(1, 4) for a, b in zip(results[0], results[k]))
    assert len(graph) == len(set(map(id, (node for table in (graph.nodes, *graph.leaves.values())
                                          for node in table.values()))))


def test_threads_have_their_own_ambient_graph():
    found = []
    with Graph():
        thread = threading.Thread(target=lambda: found.append(symbol("x")))
        thread.start()
        thread.join()
        assert found[0].graph is not current_graph()


def test_expressions_in_their_own_graphs_leave_no_memory_behind(random_function):
    def work(seed):
        with Graph():
            y = random_function(seed, size=120, smooth=True)(*symbols("x", 4))
            return sum(count_operations(y).values())

    assert sum(map(work, range(5))) > 500
    gc.collect()
    tracemalloc.start()
    try:
        for seed in range(60):
            work(seed)
        gc.collect()
        growth, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert growth < 3e5          # 6 MB are allowed; nothing should stay


def test_a_node_takes_at_most_300_bytes():
    with Graph() as graph:
        recent = list(symbols("x", 16))
        tracemalloc.start()
        try:
            for i in range(5_000):
                a, b = recent[i % 16], recent[(3 * i + 1) % 16]
                recent[i % 16] = (a + b) * (a - 0.5 * b)
            size, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert len(graph) > 15_000
        assert size / len(graph) < 300


PROGRAM_SCRIPT = """
import sys, threading
sys.path.insert(0, sys.argv[1])
from conftest import RandomFunction
from dalembert.expr import Graph, pack, symbols

def trace():
    print(repr(pack(RandomFunction(seed=5, size=300)(*symbols("x", 4)))))

if "after work" in sys.argv:
    with Graph():
        x = symbols("x", 4)[::-1]
        other = RandomFunction(seed=6, size=300)(*x)
        if "same graph" in sys.argv:
            trace()
        else:
            with Graph():
                trace()
elif "thread" in sys.argv:
    thread = threading.Thread(target=trace)
    thread.start()
    thread.join()
else:
    trace()
"""


def test_a_program_depends_neither_on_history_nor_on_thread_nor_on_hash_seed():
    here = str(Path(__file__).parent)
    programs = set()
    for seed, options in (("0", []), ("1", ["after work"]), ("77", ["after work", "same graph"]), ("random", ["thread"])):
        done = subprocess.run([sys.executable, "-c", PROGRAM_SCRIPT, here, *options], capture_output=True, text=True,
                              check=True, env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))})
        programs.add(done.stdout)
    assert len(programs) == 1
    assert len(programs.pop()) > 5000


def test_topological_order_has_children_before_parents_once():
    x, y = symbols("x y")
    roots = [sin(x * y) + x, cos(x * y)]
    order = topological(roots)
    assert len(order) == len(set(order))
    for i, node in enumerate(order):
        if node.op not in ("symbol", "exact"):
            assert all(child in order[:i] for child in node.args)
    assert [to_text(node) for node in order] == [to_text(node) for node in topological(roots)]
