"""Values, substitution, symbols and operation counts of expressions; nothing here recurses over the
graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, overload

import numpy as np

from dalembert.errors import nearest
from dalembert.expr.expression_errors import ExpressionTypeError, MissingValueError
from dalembert.expr.graph import LEAVES, topological
from dalembert.expr.node import BUILD, Expr, Nodes, constant, object_array

Array: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
NUMPY: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "power": np.power,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan2": np.arctan2,
    "exp": np.exp,
    "log": np.log,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "hypot": np.hypot,
    "abs": np.abs,
    "sign": np.sign,
    "min": np.minimum,
    "max": np.maximum,
    "less": np.less,
    "less_equal": np.less_equal,
    "equal": np.equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "select": np.where,
}


def nodes_in(expressions: Any) -> list[Expr]:
    """The nodes in an expression or a nested list or array of expressions and numbers."""
    return [item for item in np.array(expressions, dtype=object).flat if type(item) is Expr]


def map_nodes(function: Callable[[Expr], Any], expressions: Any) -> Any:
    """The function applied to every node of a scalar, nested list or array; numbers stay as they
    are.
    """
    array = np.array(expressions, dtype=object)
    return object_array(
        [function(item) if type(item) is Expr else item for item in array.flat], array.shape
    )


def free_symbols(expressions: Any) -> tuple[Expr, ...]:
    """The symbols that occur in the expressions, ordered by name.

    Examples
    --------
    >>> import dalembert as da
    >>> x, y = da.symbols("x y")
    >>> da.free_symbols(y + 2 * x)
    (x, y)
    """
    order = topological(nodes_in(expressions))
    return tuple(
        sorted((node for node in order if node.op == "symbol"), key=lambda node: node.name)
    )


def count_operations(expressions: Any) -> Counter[str]:
    """Number of operations by name, shared ones once; "add" counts sums and differences.

    Examples
    --------
    >>> import dalembert as da
    >>> x, y = da.symbols("x y")
    >>> da.count_operations([x * y, da.sin(x * y) - x])
    Counter({'mul': 1, 'sin': 1, 'add': 1})
    """
    order = topological(nodes_in(expressions))
    return Counter(
        "add" if node.op == "sub" else node.op for node in order if node.op not in LEAVES
    )


@overload
def evaluate(expressions: Expr, values: Mapping[Any, float] | None = None) -> float: ...
@overload
def evaluate(
    expressions: np.ndarray[Any, Any] | Sequence[Any], values: Mapping[Any, Any] | None = None
) -> Array: ...
@overload
def evaluate(expressions: Any, values: Mapping[Any, Any] | None = None) -> Any: ...
def evaluate(expressions: Any, values: Mapping[Any, Any] | None = None) -> Any:
    """The expressions in IEEE double precision.

    Division by zero and its like give infinities and NaN as in NumPy, without a warning.

    Parameters
    ----------
    expressions : Expr, or nested list or array of expressions and numbers, shape S
    values : mapping
        Number or array for each symbol; keys are symbols or their names. Arrays broadcast to one
        shape B.

    Returns
    -------
    float for one expression of scalars, else array of shape (*B, *S): the batch is leading.
    Conditions give bools.

    Raises
    ------
    MissingValueError
        Symbols have no value; the message names them.

    Examples
    --------
    >>> import dalembert as da
    >>> x = da.symbol("x")
    >>> da.evaluate(x * x, {x: 3.0})
    9.0
    >>> da.evaluate([x, x * x], {x: [1.0, 2.0]})
    array([[1., 1.],
           [2., 4.]])
    """
    given = {key.name if type(key) is Expr else key: value for key, value in (values or {}).items()}
    array = np.array(expressions, dtype=object)
    order = topological(nodes_in(array))
    _require_values([node.name for node in order if node.op == "symbol"], given)

    result: dict[Expr, Any] = {}
    with np.errstate(all="ignore"):
        for node in order:
            if node.op in LEAVES:
                value = given[node.name] if node.op == "symbol" else node.value
                result[node] = np.asarray(value, dtype=float)[()]
            else:
                result[node] = NUMPY[node.op](*[result[arg] for arg in node.args])
    entries = [result[item] if type(item) is Expr else float(item) for item in array.flat]
    if not array.ndim:
        entry = np.asarray(entries[0])
        return entry.item() if entry.ndim == 0 else entry
    if not entries:
        return np.zeros(array.shape)
    stacked = np.stack(np.broadcast_arrays(*entries), axis=-1)
    return stacked.reshape(*stacked.shape[:-1], *array.shape)


def _require_values(names: Iterable[str], given: Mapping[str, Any]) -> None:
    missing = sorted(set(names) - set(given))
    if not missing:
        return
    text = ", ".join(missing[:12]) + (", ..." if len(missing) > 12 else "")
    unused = [name for name in given if name not in names]
    near = nearest(missing[0], unused)
    hint = f" Did you mean {missing[0]!r} where you wrote {near!r}?" if near else ""
    raise MissingValueError(f"no value for {text}.{hint}", missing, sorted(given))


@overload
def substitute(expressions: Expr, replacements: Mapping[Expr, Any]) -> Expr: ...
@overload
def substitute(
    expressions: np.ndarray[Any, Any] | Sequence[Any], replacements: Mapping[Expr, Any]
) -> Nodes: ...
@overload
def substitute(expressions: Any, replacements: Mapping[Expr, Any]) -> Any: ...
def substitute(expressions: Any, replacements: Mapping[Expr, Any]) -> Any:
    """The expressions with nodes replaced by expressions of the same graph or by numbers, all at
    once.

    Parameters
    ----------
    expressions : Expr, or nested list or array of expressions and numbers
    replacements : mapping of symbols, or of other nodes, to expressions or numbers
        Numbers keep their exactness. What replaces is not searched again.

    Raises
    ------
    ExpressionTypeError, GraphMixError
        A key is no expression; an expression that replaces is of another graph.

    Examples
    --------
    >>> import dalembert as da
    >>> x, y = da.symbols("x y")
    >>> da.substitute(x * x + y, {y: 2})
    2 + x*x
    """
    new: dict[Any, Any] = {}
    for old, replacement in replacements.items():
        if type(old) is not Expr:
            raise ExpressionTypeError(
                f"substitute replaces symbols and other expressions, not {old!r}."
            )
        new[old] = constant(replacement, old.graph)
    for node in topological(nodes_in(expressions)):
        if node in new or node.op in LEAVES:
            continue
        if any(arg in new for arg in node.args):
            new[node] = BUILD[node.op](*[new.get(arg, arg) for arg in node.args])
    return map_nodes(lambda node: new.get(node, node), expressions)
