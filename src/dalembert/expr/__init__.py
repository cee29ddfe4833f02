"""Expression graph: immutable shared nodes, simplified at construction, with derivatives in both
modes.

Nodes belong to a `Graph` (`with Graph(): ...`), never to the module. Operators, the functions below
and NumPy's functions on object arrays build them.
"""

from dalembert.expr.differentiation import derivative, directional, gradient, jacobian
from dalembert.expr.evaluation import count_operations, evaluate, free_symbols, substitute
from dalembert.expr.expression_errors import (
    ExpressionTypeError,
    GraphMixError,
    MissingValueError,
    NonFiniteError,
    TextTooLongError,
)
from dalembert.expr.functions import (
    absolute,
    acos,
    array,
    asin,
    atan2,
    cos,
    cosh,
    equal,
    exp,
    hypot,
    log,
    maximum,
    minimum,
    power,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    where,
)
from dalembert.expr.graph import Graph, current_graph, topological
from dalembert.expr.node import (
    Expr,
    comparing,
    constant,
    import_nodes,
    known_zero,
    pack,
    symbol,
    symbols,
    unpack,
)
from dalembert.expr.python_text import to_text

__all__ = [
    "Expr",
    "ExpressionTypeError",
    "Graph",
    "GraphMixError",
    "MissingValueError",
    "NonFiniteError",
    "TextTooLongError",
    "absolute",
    "acos",
    "array",
    "asin",
    "atan2",
    "comparing",
    "constant",
    "cos",
    "cosh",
    "count_operations",
    "current_graph",
    "derivative",
    "directional",
    "equal",
    "evaluate",
    "exp",
    "free_symbols",
    "gradient",
    "hypot",
    "import_nodes",
    "jacobian",
    "known_zero",
    "log",
    "maximum",
    "minimum",
    "pack",
    "power",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "substitute",
    "symbol",
    "symbols",
    "tan",
    "tanh",
    "to_text",
    "topological",
    "unpack",
    "where",
]


def __dir__() -> list[str]:
    return __all__
