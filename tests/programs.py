"""Programs that exercise targets: every operation on special values, long random ones, hostile names."""

import functools
import itertools

import numpy as np

import dalembert as da
from dalembert.codegen.blocks import CONDITIONS
from dalembert.codegen.program import program_of
from dalembert.expr.graph import OPERATIONS
from dalembert.expr.node import BUILD

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 1e200, 1e-200, np.inf, -np.inf, np.nan]
PAIRS = np.array(list(itertools.product(SPECIAL, SPECIAL)))
HOSTILE = ['"; system("', "*/ int x; /*", "q-1", "q 1", "lambda", "double", "плечо 1", 'a"""', "new\nline", "??/", "M_PI", "v0", "v12",
           "scratch", "minimum", "part_1", "np", "batch", "new", "isnan", "\\", "\udc80", "", "k", "found", "EOF", "I"]


def every_operation(x, y):
    """One expression per operation, and some whose value tells 0 from -0."""
    condition = x < y
    few = {"neg": [-x], "not": [~condition], "and": [condition & (y < 1)], "or": [condition | (y < 1)],
           "select": [da.where(condition, x, y)]}
    values = {}
    for op in OPERATIONS:
        try:
            values[op] = few[op][0] if op in few else BUILD[op](x, y)
        except TypeError:
            values[op] = BUILD[op](x)
    values |= {f"1/{op}": 1 / values[op] for op in ("neg", "sign", "abs", "mul")} | {"root": da.sqrt(da.constant(2)) * x}
    return {name: da.where(v, 1, 0) if v.op in CONDITIONS else v for name, v in values.items()}


@functools.cache
def operations_program():
    """x -> every operation on x[0] and x[1], and the same as expressions."""
    with da.Graph():
        x = da.symbols("x", 2)
        outputs = every_operation(*x)
        return program_of({"x": x}, outputs), list(outputs.values()), x


@functools.cache
def long_program(seed, size):
    """A random program of bounded values, conditions among them, that reach far back."""
    rng = np.random.default_rng(seed)
    with da.Graph():
        x = da.symbols("x", 4)
        values, conditions = list(x), [x[0] < x[1]]
        for _ in range(size):
            a, b = (values[k] for k in rng.integers(0, len(values), 2))
            new = rng.choice([a < b, conditions[0] & ~conditions[-1], conditions[-1] | (a <= b)])
            conditions += [new] if isinstance(new, da.Expr) else []      # a < a is False
            condition = conditions[rng.integers(0, len(conditions))]
            values.append(rng.choice([da.sin(a) - 0.3 * b, da.cos(a * b), da.hypot(a, b) / 3, da.minimum(a, -b),
                                      da.where(condition, a, b), da.tanh(a + b), a / (2 + b * b)]))
        return program_of({"x": x}, {"y": np.array(values[-20:])}), values[-20:], x


def hostile_program():
    """Ports with names that no target may take literally; every output is another combination of all inputs."""
    with da.Graph():
        inputs = {name: da.symbols(f"input {k}", 2) for k, name in enumerate(HOSTILE)}
        total = sum(da.sin(x[0]) * x[1] for x in inputs.values())
        outputs = {name: da.minimum(total * (k + 2), x[1]) for k, (name, x) in enumerate(inputs.items())}
        return program_of(inputs, outputs)


def mechanism_program(mechanism, quantity):
    """The program of a quantity, and the names of its inputs."""
    names = {"inverse_dynamics": ("q", "qd", "qdd"), "forward_dynamics": ("q", "qd", "tau"), "mass_matrix": ("q",)}[quantity]
    with da.Graph():
        inputs = {n: da.symbols(n, mechanism.nq if n == "q" else mechanism.nv) for n in names}
        return program_of(inputs, {quantity: getattr(da, quantity)(mechanism, *inputs.values())})


def states(mechanism, quantity, n, seed=0):
    """n random states, one array per input."""
    pairs = [mechanism.random_state(seed + k) for k in range(n)]
    q, qd = (np.array(v) for v in zip(*pairs, strict=True))
    last = np.random.default_rng(seed).standard_normal((n, mechanism.nv))
    return [q] if quantity == "mass_matrix" else [q, qd, last]
