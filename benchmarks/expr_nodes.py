"""Speed and memory of building expression nodes with all rules: `python benchmarks/expr_nodes.py
[nodes]`.
"""

import sys
import time
import tracemalloc

from dalembert.expr import Graph, symbols


def build(count):
    """A graph of about `count` nodes: sums, differences and products of recent nodes and constants."""
    with Graph() as graph:
        recent = list(symbols("x", 64))
        i = 0
        while len(graph) < count:
            for _ in range(100):
                a, b = recent[i % 64], recent[(7 * i + 3) % 64]
                recent[i % 64] = a * b + 0.5
                recent[(i + 1) % 64] = 2 * a - b
                recent[(i + 2) % 64] = (a + b) * (a - b)
                recent[(i + 3) % 64] = b - (a - 3) * -b
                i += 5
    return graph


def main(count):
    best = min(_seconds(count) for _ in range(3))
    tracemalloc.start()
    graph = build(count)
    size = tracemalloc.get_traced_memory()[0]
    print(
        f"{len(graph)} nodes in {best:.2f} s: {len(graph) / best / 1e6:.2f} million nodes/s, "
        f"{size / len(graph):.0f} bytes per node"
    )


def _seconds(count):
    start = time.perf_counter()
    build(count)
    return time.perf_counter() - start


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000)
