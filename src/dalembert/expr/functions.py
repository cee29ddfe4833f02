"""Functions over any scalar: float, int, Fraction, expression, and arrays of them.

Numbers give exact results where there are any (sin(0) is 0, sqrt(Fraction(1, 4)) is 1/2) and floats
elsewhere, with the errors of `math`; float arrays follow NumPy; arrays of dtype object are taken
entry by entry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from dalembert.expr.constants import number, value_of
from dalembert.expr.entrywise import entrywise
from dalembert.expr.expression_errors import ExpressionTypeError
from dalembert.expr.graph import LEAVES, topological
from dalembert.expr.node import BUILD, Expr, object_array
from dalembert.expr.node import select as _select

if TYPE_CHECKING:
    from dalembert.expr.signatures import Binary, Number, Unary


HELP = """{text}

Parameters
----------
*operands : number, Expr, or array of these
    Taken entry by entry, the entries of two arrays in pairs.

Returns
-------
number, Expr or array
    Exact where there is an exact number; of expressions, an expression.

Raises
------
ExpressionTypeError
    An operand is none of these.

Examples
--------
>>> import dalembert as da
>>> da.{name}({arguments})
{shown}
"""


def _number(name: str, x: Any) -> Any:
    value = number(x)
    if value is NotImplemented:
        raise ExpressionTypeError(
            f"{name} needs a number, an expression or an array, not {type(x).__name__}."
        )
    return value


def _function(
    op: str, name: str, numpy_function: Callable[..., Any], text: str, example: str
) -> Any:
    """The function of an operation over any scalar and over arrays; example: arguments, and the
    result of these.
    """

    def function(*operands: Any) -> Any:
        """The function of numbers, arrays or expressions."""
        arrays = [x for x in operands if isinstance(x, np.ndarray)]
        if any(type(x) is Expr for x in operands) and not arrays:
            result = BUILD[op](*operands)
            if result is NotImplemented:
                result = entrywise(function, *operands)
            if result is None:
                raise ExpressionTypeError(
                    f"{name} needs numbers and expressions, not {operands!r}."
                )
            return result
        if not arrays:
            if (vector := entrywise(function, *operands)) is not None:
                return vector
            return value_of(op, tuple(_number(name, x) for x in operands))
        if any(type(x) is Expr for x in operands) or any(x.dtype == object for x in arrays):
            return np.frompyfunc(function, len(operands), 1)(*operands)
        return numpy_function(*operands)

    arguments, shown = example.split(" -> ")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = HELP.format(text=text, name=name, arguments=arguments, shown=shown)
    return function


sqrt: Unary = _function("sqrt", "sqrt", np.sqrt, "Square root.", "4 -> 2")
sin: Unary = _function("sin", "sin", np.sin, "Sine of an angle [rad].", "0 -> 0")
cos: Unary = _function("cos", "cos", np.cos, "Cosine of an angle [rad].", "0 -> 1")
tan: Unary = _function("tan", "tan", np.tan, "Tangent of an angle [rad].", "0 -> 0")
asin: Unary = _function("asin", "asin", np.arcsin, "Arc sine [rad].", "0 -> 0")
acos: Unary = _function("acos", "acos", np.arccos, "Arc cosine [rad].", "1 -> 0")
atan2: Binary = _function(
    "atan2",
    "atan2",
    np.arctan2,
    "atan2(y, x): angle of the vector (x, y), in (-pi, pi] [rad].",
    "0, 1 -> 0",
)
exp: Unary = _function("exp", "exp", np.exp, "Exponential function.", "0 -> 1")
log: Unary = _function("log", "log", np.log, "Natural logarithm.", "1 -> 0")
sinh: Unary = _function("sinh", "sinh", np.sinh, "Hyperbolic sine.", "0 -> 0")
cosh: Unary = _function("cosh", "cosh", np.cosh, "Hyperbolic cosine.", "0 -> 1")
tanh: Unary = _function("tanh", "tanh", np.tanh, "Hyperbolic tangent.", "0 -> 0")
hypot: Binary = _function(
    "hypot", "hypot", np.hypot, "sqrt(a**2 + b**2) without overflow.", "3.0, 4.0 -> 5.0"
)
power: Binary = _function("power", "power", np.power, "a to the power b.", "2, 10 -> 1024")
absolute: Unary = _function(
    "abs", "absolute", np.abs, "Absolute value; its derivative at 0 is 0.", "-3 -> 3"
)
sign: Unary = _function(
    "sign", "sign", np.sign, "-1, 0 or 1; sign(0) = 0, and its derivative is 0.", "-3 -> -1"
)
minimum: Binary = _function(
    "min",
    "minimum",
    np.minimum,
    "The smaller of two; its derivative at a tie is their mean.",
    "2, 3 -> 2",
)
maximum: Binary = _function(
    "max",
    "maximum",
    np.maximum,
    "The larger of two; its derivative at a tie is their mean.",
    "2, 3 -> 3",
)
equal: Binary = _function(
    "equal",
    "equal",
    np.equal,
    "The condition a = b (`==` between expressions is identity).",
    "1, 1 -> True",
)

# Operations that are not finite, or have no finite derivative, for some arguments: (argument,
# harmless value).
_GUARDED = {
    "div": (1, 1),
    "sqrt": (0, 1),
    "log": (0, 1),
    "asin": (0, 0),
    "acos": (0, 0),
    "atan2": (1, 1),
    "hypot": (0, 1),
    "power": (0, 1),
    "exp": (0, 0),
    "sinh": (0, 0),
    "cosh": (0, 0),
}


def _guarded(branch: Any, nodes: list[Expr], condition: Expr, shared: set[Expr]) -> Any:
    """The branch, of these nodes, with harmless arguments of dangerous operations wherever the
    condition fails.

    Shared nodes are needed in any case and stay as they are; so does what holds no dangerous
    operation.
    """
    changed: dict[Any, Any] = {}
    for node in nodes:
        if node in shared or node.op in LEAVES:
            continue
        args = [changed.get(arg, arg) for arg in node.args]
        if node.op in _GUARDED:
            i, harmless = _GUARDED[node.op]
            if args[i].op not in ("exact", "float"):
                args[i] = _select(condition, args[i], harmless)
        if any(new is not old for new, old in zip(args, node.args, strict=True)):
            changed[node] = BUILD[node.op](*args)
    return changed.get(branch, branch)


@overload
def where(condition: Expr, a: Expr | Number, b: Expr | Number) -> Expr: ...
@overload
def where(condition: bool, a: Number, b: Number) -> float: ...
@overload
def where(condition: Any, a: Any, b: Any) -> Any: ...
def where(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds and b elsewhere, over any scalar and over arrays.

    On expressions, each branch is guarded: inside it, arguments of divisions, roots, logarithms and
    the like are replaced by harmless ones when the other branch is chosen, so that neither values
    nor derivatives become NaN. What the condition or both branches need is computed in any case and
    left alone: a chain of n choices, each made on the result of the one before, grows with n and
    not with 2**n.

    Parameters
    ----------
    condition : condition (as x < y), bool or array of either
    a, b : scalar, array, or a function without arguments that returns one
        A function is called only if its branch is needed: floats then divide by zero in neither
        branch.

    Raises
    ------
    ExpressionTypeError
        The condition is none.

    Examples
    --------
    >>> import dalembert as da
    >>> x = da.symbol("x")
    >>> da.evaluate(da.where(x > 0, da.sqrt(x), 0), {x: 4.0})
    2.0
    """
    if isinstance(condition, (bool, np.bool_)):
        chosen = a if condition else b
        return chosen() if callable(chosen) else chosen
    with np.errstate(all="ignore"):
        a, b = (branch() if callable(branch) else branch for branch in (a, b))
    if isinstance(condition, np.ndarray) and condition.dtype != object:
        return np.where(condition, a, b)
    if any(isinstance(x, np.ndarray) for x in (condition, a, b)):
        return np.frompyfunc(where, 3, 1)(condition, a, b)
    if type(condition) is not Expr:
        raise ExpressionTypeError(f"where needs a condition such as x < y, not {condition!r}.")
    in_condition, in_a, in_b = (
        topological([x]) if type(x) is Expr else [] for x in (condition, a, b)
    )
    shared = {*in_condition, *set(in_a).intersection(in_b)}
    return _select(
        condition,
        _guarded(a, in_a, condition, shared),
        _guarded(b, in_b, BUILD["not"](condition), shared),
    )


def array(values: Any) -> np.ndarray:
    """A nested list of scalars as an array: expressions and numbers together become an object array
    of nodes.

    Without any expression, the result is a float array, or an object array of exact numbers where
    there is a Fraction. NumPy's functions work on the result; on an object array with plain floats
    among the nodes, np.sin and its like would not.

    Raises
    ------
    ExpressionTypeError
        An entry is neither a number nor an expression.

    Examples
    --------
    >>> import dalembert as da
    >>> da.array([da.symbol("x"), 1])
    array([x, 1], dtype=object)
    """
    result = np.array(values, dtype=object)
    node = next((item for item in result.flat if type(item) is Expr), None)
    if node is not None:
        return np.asarray(
            object_array([node.like(item) for item in result.flat], result.shape), dtype=object
        )
    numbers = [_number("array", item) for item in result.flat]
    if all(isinstance(item, (int, float)) for item in numbers):
        return np.array(numbers, dtype=float).reshape(result.shape)
    return np.asarray(object_array(numbers, result.shape))
