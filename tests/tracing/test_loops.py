"""Long registers in loops over rows of entries: against the same text entry by entry."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dalembert as da
from dalembert.codegen.blocks import ProgramError
from dalembert.codegen.interpreter import evaluated
from dalembert.codegen.program import Scan
from dalembert.codegen.verifier import verify
from dalembert.expr import absolute, maximum, sin
from dalembert.integrators import METHODS, Adaptive, FixedStep, method
from dalembert.integrators.choice import chosen
from dalembert.integrators.norms import largest, total
from dalembert.tracing import loops
from dalembert.tracing.integration import propagation_of
from dalembert.tracing.loops import LoopTrace
from dalembert.tracing.trace import Trace

N = 27      # entries: rows of eight, and a rest
SIZES = {"x": N, "y": N, "h": 1, "n": 1}


@pytest.fixture(autouse=True)
def short_loops(monkeypatch):
    """Vectors of a few entries are long."""
    monkeypatch.setattr(loops, "FROM", 10)


def program(kind, of, whole):
    """The program of what `of` makes of registers, and gives to them."""
    with da.Graph():
        trace = kind(SIZES, whole) if kind is LoopTrace else kind(SIZES)
        for results in of(*(trace.registers[name] for name in SIZES)):
            trace.give(results)
        return trace.program(tuple(SIZES), tuple(SIZES))


def results(made, rng):
    verify(made)
    return np.concatenate(evaluated(made, *(rng.uniform(0.5, 2, n) for n in SIZES.values())))


def check(of, tolerance=0.0, most=1000):
    """The same results as of straight code, of whole vectors and of entries that are alike; in loops, with `most` operations in a row."""
    right = results(program(Trace, of, False), np.random.default_rng(3))
    for whole in (True, False):
        made = program(LoopTrace, of, whole)
        assert any(len(item.order) > 1 for item in made.every_item if isinstance(item, Scan))
        assert max(table.block.operations() for table in made.tables) <= most
        np.testing.assert_allclose(results(made, np.random.default_rng(3)), right, rtol=tolerance, atol=tolerance)


UNARY = [lambda v, h: -v, lambda v, h: v * h, lambda v, h: h / 2 * v, lambda v, h: 1 - v, lambda v, h: v / (1 + h * h),
         lambda v, h: sin(v), lambda v, h: absolute(v), lambda v, h: np.concatenate([v[5:], v[:5]]),
         lambda v, h: chosen(h > 1, v, 2 * v), lambda v, h: v + total(v), lambda v, h: v / (1 + largest(v)), lambda v, h: 0 * v]
BINARY = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: maximum(a, b),
          lambda a, b: sum([a, b, a]), lambda a, b: np.concatenate([a[:9], b[9:]])]


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_random_programs_equal_straight_code(data):
    """Vectors shared by registers, registers that are read behind their change, sums, choices, pieces."""
    some = [st.integers(0, 100)] * 3
    choices = data.draw(st.lists(st.tuples(st.booleans(), *some), min_size=1, max_size=8))
    last = data.draw(st.lists(st.integers(0, 100), min_size=6, max_size=6))

    def of(x, y, h, n):
        vectors = [x, y]
        for binary, k, a, b in choices:
            a, b = vectors[a % len(vectors)], vectors[b % len(vectors)]
            vectors.append(BINARY[k % len(BINARY)](a, b) if binary else UNARY[k % len(UNARY)](a, h[0]))
        pick = [vectors[k % len(vectors)] for k in last]
        yield {"x": pick[0], "h": [h[0] + x[3]], "y": pick[1], "n": [n[0] + total(pick[2])]}
        yield {"y": x * h[0] + y, "x": y[::1] - n[0], "h": [x[0]]}

    check(of, 1e-13)


def test_entries_that_are_alike_are_found():
    """Copies, shifts, long sums in one entry, and a choice of registers by place; the rest one by one."""
    def of(x, y, h, n):
        yield {"x": [*x[2:], sum(x[k] * y[k] for k in range(N)), h[0]],
               "y": [*(y[k + 1] * h[0] - x[k] for k in range(N - 1)), 1.0], "n": [x[0]]}
        yield {"x": [3 * x[k] + y[k] * (x[k] + h[0]) for k in range(N)], "y": [-sum(y), *x[1:]]}

    check(of, 1e-14, 8 * 4)


def test_what_is_read_later_is_kept_apart():
    def of(x, y, h, n):
        yield {"x": y, "y": x}
        yield {"x": np.concatenate([x[1:], x[:1]]), "h": [h[0] + x[0]], "n": [x[N - 1]]}
        yield {"y": x * h[0] * n[0], "h": [2 * n[0]], "n": [h[0]]}

    check(of)


def test_values_that_do_not_fit_are_refused():
    with pytest.raises(ProgramError, match="20 values do not fit"):
        program(LoopTrace, lambda x, y, h, n: [{"y": x[:20]}], True)


def pendula(t, x, p):
    """Ten pendula with springs between neighbours, x = (q, qd, energy of a damper)."""
    q, qd = x[:10], x[10:20]
    bend = np.concatenate([q[1:], q[:1]]) - 2 * q + np.concatenate([q[-1:], q[:-1]])
    return np.concatenate([qd, bend - p[0] * sin(q) - 0.1 * qd, [sum(0.1 * qd * qd) + 0 * t]])


@pytest.mark.parametrize("name", [name for name, m in METHODS.items() if isinstance(m, FixedStep | Adaptive)])
def test_methods_in_loops_go_where_straight_code_goes(monkeypatch, name):
    unknowns = {"accelerations": slice(21, 31)} if name == "generalized_alpha" else {}
    n = 21 + 10 * len(unknowns)
    way = method(name, nq=10, nv=10, unknowns=unknowns,
                 energy=lambda x: sum(x[10:20] * x[10:20]) / 2 - sum(da.cos(q) for q in x[:10]))

    def f(t, x, p):
        return np.concatenate([pendula(t, x[:21], p), 0 * x[21:]])

    values = {"x": np.random.default_rng(1).uniform(-1, 1, n), "h": [0.01], "p": [2.0], "end": [0.05], "way": [1.0],
              "rtol": [1e-6], "atol": [1e-6], "longest": [1.0]}
    found = []
    for start in (10, 1000):
        monkeypatch.setattr(loops, "FROM", start)
        made = propagation_of(f, n, 1, way)
        given = [np.asarray(values.get(r.name, np.zeros(r.size)), dtype=float) for r in made.inputs]
        records = evaluated(made, *given, goals=[0.03, 0.05], repeats=3 if isinstance(way, FixedStep) else 20)
        found.append(np.concatenate([np.ravel(r) for r in records]))
    np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-12)
