"""Nodes of the expression graph and the operations that build them."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, overload

import numpy as np

try:
    from _blake2 import blake2b  # hashlib would load OpenSSL as well
except ImportError:
    from hashlib import blake2b

from dalembert.arguments import check_whole, shown
from dalembert.displays import in_notebook
from dalembert.expr import rules
from dalembert.expr.constants import FLOAT, Number, exact_value, number
from dalembert.expr.expression_errors import ExpressionTypeError, GraphMixError, NonFiniteError
from dalembert.expr.graph import COMMUTATIVE, LEAVES, OPERATIONS, Graph, current_graph, topological
from dalembert.expr.python_text import to_text

_comparisons: ContextVar[list[tuple[Any, Any]] | None] = ContextVar("comparisons", default=None)
MOST_SYMBOLS = 10_000_000  # of one array
Nodes: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.object_]]  # expressions and numbers
_MASK = (1 << 60) - 1  # two digits of a Python integer: a digest takes 32 bytes
_TOP = 1 << 59  # set in the digest of all but constants, which therefore come first
_FACTORS = (
    0x9E3779B97F4A7C1,
    0xBF58476D1CE4E5B,
    0x94D049BB133111E | 1,
)  # odd; digits of SplitMix64


def _digest(text: str) -> int:
    return (
        int.from_bytes(
            blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
        )
        & _MASK
    )


_SEED = {op: _digest(op) for op in OPERATIONS}
_KIND = {op: rules.KIND_OF_OPERATION.get(op, rules.OTHER) for op in OPERATIONS}


class _Unfrozen:
    """A node while it is being filled; it then becomes an `Expr`, whose attributes cannot be set.

    Operands lie in slots, unused ones None: a tuple would double the objects that the garbage
    collector visits.
    """

    __slots__ = ("graph", "op", "a", "b", "c", "digest", "kind")
    graph: Graph
    op: str
    a: Any
    b: Any
    c: Any
    digest: int
    kind: int


def intern(graph: Graph, op: str, a: Expr, b: Expr | None = None, c: Expr | None = None) -> Expr:
    """The one node of the graph with this operation and these operands, already simplified and in
    order.
    """
    digest = _SEED[op] + a.digest * _FACTORS[0]
    if b is not None:
        digest += b.digest * _FACTORS[1]
        if c is not None:
            digest += c.digest * _FACTORS[2]
    digest &= _MASK
    key = digest = (digest ^ digest >> 31) | _TOP
    nodes = graph.nodes
    while True:
        node = nodes.get(key)
        if node is None:
            new: Any = _Unfrozen()
            new.graph, new.op, new.a, new.b, new.c, new.digest = graph, op, a, b, c, digest
            new.kind = _KIND[op] if op != "mul" or a.kind > rules.MINUS else rules.SCALED
            new.__class__ = Expr
            node = nodes.setdefault(key, new)  # atomic: of two threads, the first one's node stays
            if node is new:
                return node
        if node.a is a and node.b is b and node.c is c and node.op == op:
            return node
        key += 1  # another structure with this digest


def _leaf(graph: Graph, op: str, value: Any, digest: int, kind: int) -> Expr:
    new: Any = _Unfrozen()
    new.graph = graph
    new.op = op
    new.a = value
    new.b = None
    new.c = None
    new.digest = digest
    new.kind = kind
    new.__class__ = Expr  # type: ignore[assignment]
    return graph.leaves[op].setdefault(value, new)


def constant(value: Any, graph: Graph | None = None) -> Expr:
    """A number as a node: int and Fraction exactly, float by its bits; a constant of the same graph
    is returned.

    Raises
    ------
    ExpressionTypeError
        The value is a bool or not a real number.
    NonFiniteError
        The value is NaN or infinite.

    Examples
    --------
    >>> import dalembert as da
    >>> from fractions import Fraction
    >>> da.constant(Fraction(1, 3)) * 3
    1
    """
    graph = current_graph() if graph is None else graph
    if type(value) is Expr:
        require_same_graph("constant", (graph, value.graph))
        return value
    value = number(value)
    if value is NotImplemented:
        raise ExpressionTypeError("a constant must be an int, a Fraction or a float.")
    op = "float" if isinstance(value, float) else "exact"
    node = graph.leaves[op].get(value)
    if node is None:
        if op == "float" and not math.isfinite(value):
            raise NonFiniteError(f"a constant must be finite, not {value}.", "constant", (value,))
        kind = (
            rules.MINUS
            if value < 0
            else rules.ZERO
            if value == 0
            else rules.ONE
            if value == 1
            else rules.POSITIVE
        )
        node = _leaf(graph, op, value, _digest(f"{op} {value!r}") & ~_TOP, kind)
    return node


def known_zero(x: Any) -> bool:
    """Whether a scalar is 0 by structure: the number 0 or a constant expression 0; a batch (N,)
    never is.
    """
    kind = x.__class__
    if kind is Expr:
        return x.kind == rules.ZERO
    return x == 0 if kind is float or kind is int else isinstance(x, Real) and bool(x == 0)


def symbol(name: str, graph: Graph | None = None) -> Expr:
    """The symbol of this name, any text but the empty one, in the graph or the current graph.

    Raises
    ------
    ExpressionTypeError
        The name is empty, or no text.

    Examples
    --------
    >>> import dalembert as da
    >>> x = da.symbol("x")
    >>> x + x
    x + x
    """
    if not isinstance(name, str) or not name:
        raise ExpressionTypeError(f"a symbol needs a name, a text that is not empty, not {name!r}.")
    graph = current_graph() if graph is None else graph
    known = graph.leaves["symbol"].get(name)
    return (
        _leaf(graph, "symbol", name, _digest(f"symbol {name}") | _TOP, rules.OTHER)
        if known is None
        else known
    )


def symbols(
    names: str, shape: int | tuple[int, ...] | None = None, graph: Graph | None = None
) -> Nodes:
    """An object array of symbols: symbols("x y z"), or symbols("q", 7) for q[0] ... q[6],
    symbols("R", (3, 3)).

    Raises
    ------
    TypeError
        The names are no text.

    Examples
    --------
    >>> import dalembert as da
    >>> x, y = da.symbols("x y")
    >>> x * y
    x*y
    >>> da.symbols("q", 2)
    array([q[0], q[1]], dtype=object)
    """
    if not isinstance(names, str):
        raise TypeError(
            f"names of symbols are {names!r} ({type(names).__name__}); expected a text such as 'x "
            "y z'."
        )
    graph = current_graph() if graph is None else graph
    if shape is None:
        listed = names.replace(",", " ").split()
        return object_array([symbol(name, graph) for name in listed], (len(listed),))
    lengths = shape if isinstance(shape, tuple) else (shape,)
    for length in lengths:
        check_whole("a length in shape", length, 0)
    if math.prod(lengths) > MOST_SYMBOLS:
        raise ValueError(f"shape={shown(shape)}: expected at most {MOST_SYMBOLS} symbols.")
    indices = [", ".join(map(str, index)) for index in np.ndindex(lengths)]
    return np.asarray(
        object_array([symbol(f"{names}[{index}]", graph) for index in indices], lengths)
    )


def require_same_graph(op: str, graphs: tuple[Graph, Graph]) -> None:
    """Raise a GraphMixError where the operands of an operation are of two graphs."""
    if graphs[0] is not graphs[1]:
        raise GraphMixError(
            f"{op} of expressions of two graphs, {graphs[0].name!r} with {len(graphs[0])} nodes "
            f"and {graphs[1].name!r} with {len(graphs[1])}: expressions live where their symbols "
            "were made. Make all symbols in one `with da.Graph():`, or bring one operand over "
            "with da.import_nodes(expression, graph).",
            graphs,
        )


def _fold(op: str) -> Callable[..., Any]:
    """The operation on constants: a constant, a truth value, or None where an exact result does not
    exist.
    """

    def fold(f: Any, *operands: Expr) -> Any:
        """The constant that an operation on constants gives, if it is exact; None if it is not."""
        values = tuple(operand.value for operand in operands)
        problem: Any = None
        try:
            result = exact_value(op, values)
            approximate = FLOAT[op](*map(float, values)) if result is None else 0.0
            problem = None if math.isfinite(approximate) else approximate
        except (ArithmeticError, ValueError) as error:
            problem = error
        if problem is not None:
            raise NonFiniteError(
                f"{op}({', '.join(map(str, operands))}) is not a finite number ({problem}).",
                op,
                operands,
            )
        if result is None and any(isinstance(value, float) for value in values):
            result = approximate
        return result if result is None or isinstance(result, bool) else operands[0].like(result)

    return fold


def _not_a_number(f: Any, *operands: Expr) -> NoReturn:
    condition = next(operand for operand in operands if operand.kind == rules.CONDITION)
    raise ExpressionTypeError(
        f"the condition {condition} is not a number: write da.where({condition}, 1, 0)."
    )


def precedes(a: Expr, b: Expr) -> bool:
    """Whether a comes before b as operand of a commutative operation; decided by structure, for
    ties of digests.
    """
    stack = [(a, b)]
    seen = set()
    while stack:
        a, b = stack.pop()
        if a is b or (a, b) in seen:
            continue
        seen.add((a, b))
        if a.op in LEAVES or (a.digest, a.op) != (b.digest, b.op):
            return (a.digest, a.op, a.args) < (b.digest, b.op, b.args)
        stack.extend(zip(reversed(a.args), reversed(b.args), strict=True))
    return True


def _lifted(op: str, build: Callable[..., Any], a: Any, b: Any) -> Any:
    """Two nodes of one graph from a node and a number; the result itself for an array; else
    NotImplemented.
    """
    node, other = (a, b) if type(a) is Expr else (b, a)
    leaves = "float" if isinstance(other, float) else "exact" if type(other) is int else "symbol"
    known = node.graph.leaves[leaves].get(other) if leaves != "symbol" else None  # the fast way
    if known is None:
        if isinstance(other, np.ndarray):
            return np.frompyfunc(build, 2, 1)(a, b)
        if type(other) is Expr:
            require_same_graph(op, (a.graph, b.graph))
        value = number(other)
        if value is NotImplemented:
            return NotImplemented
        if isinstance(value, float) and not math.isfinite(value):
            raise NonFiniteError(f"operand {value} of {op}({a}, {b}) is not finite.", op, (a, b))
        known = constant(value, node.graph)
    return (a, known) if node is a else (known, b)


def _binary(op: str) -> Callable[[Any, Any], Any]:
    """Builder of an operation on two operands, at least one of them a node."""
    table = rules.binary_rules(op, _fold(op), _not_a_number)
    same = rules.SAME.get(op)
    commutative = op in COMMUTATIVE

    def build(a: Any, b: Any) -> Any:
        """The node of the operation, after the rules."""
        if type(a) is not Expr or type(b) is not Expr or a.graph is not b.graph:
            lifted = _lifted(op, build, a, b)
            if type(lifted) is not tuple:
                return lifted
            a, b = lifted
        rule = table[a.kind][b.kind]
        if rule is not None and (result := rule(build, a, b)) is not None:
            return result
        if a is b and same is not None:
            return same(a)
        if commutative and a.digest >= b.digest and (a.digest > b.digest or not precedes(a, b)):
            a, b = b, a
        return intern(a.graph, op, a, b)

    build.__name__ = op
    return build


def _unary(op: str) -> Callable[[Any], Any]:
    """Builder of an operation on one node."""
    table = rules.unary_rules(op, _fold(op), _not_a_number)

    def build(x: Any) -> Any:
        """The node of the operation, after the rules."""
        rule = table[x.kind]
        if rule is not None and (result := rule(build, x)) is not None:
            return result
        return intern(x.graph, op, x)

    build.__name__ = op
    return build


def _require_condition(op: str, operand: Any) -> None:
    if type(operand) is not Expr or operand.kind != rules.CONDITION:
        raise ExpressionTypeError(f"{op} needs conditions such as x < y, not {operand}.")


def _logical(op: str, neutral: bool) -> Callable[[Any, Any], Any]:
    """Builder of `and`, `or`; a plain truth value decides or drops out."""

    def build(a: Any, b: Any) -> Any:
        """The node of the connective, after the rules."""
        if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
            return np.frompyfunc(build, 2, 1)(a, b)
        for plain, other in ((a, b), (b, a)):
            if isinstance(plain, (bool, np.bool_)):
                return other if bool(plain) is neutral else not neutral
        for operand in (a, b):
            _require_condition(op, operand)
        require_same_graph(op, (a.graph, b.graph))
        if a is b:
            return a
        if a.digest >= b.digest and (a.digest > b.digest or not precedes(a, b)):
            a, b = b, a
        return intern(a.graph, op, a, b)

    build.__name__ = op
    return build


def _negated(condition: Any) -> Any:
    """Builder of `not`."""
    if isinstance(condition, (bool, np.bool_)):
        return not condition
    _require_condition("not", condition)
    return condition.a if condition.op == "not" else intern(condition.graph, "not", condition)


def select(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, b elsewhere, without guards: `where` is the function for users."""
    if isinstance(condition, (bool, np.bool_)):
        return a if condition else b
    _require_condition("select", condition)
    if condition.op == "not":
        return select(condition.a, b, a)
    a, b = condition.like(a), condition.like(b)
    for operand in (a, b):
        if operand.kind == rules.CONDITION:
            _not_a_number(select, operand)
    if a.op == "select" and a.a is condition:
        a = a.b
    if b.op == "select" and b.a is condition:
        b = b.c
    return a if a is b else intern(condition.graph, "select", condition, a, b)


# Builder of every operation: arguments that are nodes (one may be a number), result simplified.
BUILD: dict[str, Callable[..., Any]] = {
    **{op: _unary(op) for op in rules.UNARY},
    **{op: _binary(op) for op in rules.BINARY},
    "and": _logical("and", True),
    "or": _logical("or", False),
    "not": _negated,
    "select": select,
}
assert set(BUILD) == set(OPERATIONS), "every operation has a builder"


def _reflected(op: str) -> Callable[[Any, Any], Any]:
    build = BUILD[op]
    return lambda self, other: build(other, self)


class Expr(_Unfrozen):
    """An immutable node: an operation on other nodes of the same graph, a constant or a symbol.

    Operators and the functions of `dalembert.expr` (or of NumPy) build expressions; `<`, `<=`, `>`,
    `>=` and `equal` build conditions for `where`. `==` is identity, which within one graph is
    equality of structure.

    Attributes
    ----------
    graph : Graph
        The owner.
    op : str
        Name of the operation, "exact", "float" or "symbol".
    args : tuple
        The operands, also one by one as a, b, c; the value of a constant, the name of a symbol.
    digest : int
        Digest of the structure: the same in every process.

    Examples
    --------
    >>> import dalembert as da
    >>> x = da.symbol("x")
    >>> x * x + 1
    1 + x*x
    """

    __slots__ = ()
    __array_priority__ = 1000  # arrays leave mixed operations to the node

    @property
    def args(self) -> tuple[Any, ...]:
        """The operands; of a leaf its value or name."""
        if self.b is None:
            return (self.a,)
        return (self.a, self.b) if self.c is None else (self.a, self.b, self.c)

    @property
    def value(self) -> Number:
        """The number of a constant; AttributeError for other nodes."""
        if self.kind in rules.NUMBER:
            return self.a
        raise AttributeError(
            f"{self} is not a constant and has no value; da.evaluate gives it one."
        )

    @property
    def name(self) -> str:
        """The name of a symbol; AttributeError for other nodes."""
        if self.op == "symbol":
            return self.a
        raise AttributeError(f"{self} is not a symbol and has no name.")

    def like(self, value: Any) -> Expr:
        """The number as a constant of this node's graph.

        Examples
        --------
        >>> import dalembert as da
        >>> x = da.symbol("x")
        >>> x.like(2) + x
        2 + x
        """
        return constant(value, self.graph)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"expressions are immutable: cannot set {name!r}.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"expressions are immutable: cannot delete {name!r}.")

    def __repr__(self) -> str:
        return to_text(self, truncate=True)

    def _repr_latex_(self) -> str | None:
        return in_notebook("expression_latex", self)

    def __eq__(self, other: object) -> Any:
        """Identity, which within one graph is equality of structure; inside `comparing` it is noted
        who asks.
        """
        noted = _comparisons.get()
        if noted is not None and not sys._getframe(1).f_globals.get("__name__", "").startswith(
            __package__.split(".")[0]
        ):
            noted.append((self, other))
        return NotImplemented  # then of two objects Python compares the identity

    __hash__ = object.__hash__

    def __bool__(self) -> NoReturn:
        raise ExpressionTypeError(
            f"{self} has no truth value until its symbols have values. Instead of if, np.where, "
            "max or np.maximum, min or np.minimum and np.sign use da.where, da.maximum, "
            "da.minimum and da.sign."
        )

    def __float__(self) -> float:
        if self.kind in rules.NUMBER:
            return float(self.value)
        raise ExpressionTypeError(
            f"{self} has no value until its symbols have values: use da.evaluate; instead of the "
            "functions of math use those of dalembert, and arrays of dtype object."
        )

    def __copy__(self) -> Expr:
        return self

    def __deepcopy__(self, memo: dict) -> Expr:
        return self

    def __reduce__(self) -> tuple:
        return _unpickle, (pack([self]),)

    def conjugate(self) -> Expr:
        """The expression itself, which is real.

        Examples
        --------
        >>> import dalembert as da
        >>> x = da.symbol("x")
        >>> x.conjugate() is x
        True
        """
        return self

    def __pos__(self) -> Expr:
        return self

    if TYPE_CHECKING:  # operators build nodes, conditions among them

        def __neg__(self) -> Expr: ...
        def __abs__(self) -> Expr: ...
        def __invert__(self) -> Expr: ...
        def __add__(self, other: Expr | Fraction | float, /) -> Expr: ...
        def __radd__(self, other: Fraction | float, /) -> Expr: ...
        def __sub__(self, other: Expr | Fraction | float, /) -> Expr: ...
        def __rsub__(self, other: Fraction | float, /) -> Expr: ...
        def __mul__(self, other: Expr | Fraction | float, /) -> Expr: ...
        def __rmul__(self, other: Fraction | float, /) -> Expr: ...
        def __truediv__(self, other: Expr | Fraction | float, /) -> Expr: ...
        def __rtruediv__(self, other: Fraction | float, /) -> Expr: ...
        def __pow__(self, other: Expr | Fraction | float, /) -> Expr: ...
        def __rpow__(self, other: Fraction | float, /) -> Expr: ...
        def __lt__(self, other: Expr | Fraction | float, /) -> Expr: ...
        def __gt__(self, other: Expr | Fraction | float, /) -> Expr: ...
        def __le__(self, other: Expr | Fraction | float, /) -> Expr: ...
        def __ge__(self, other: Expr | Fraction | float, /) -> Expr: ...
        def __and__(self, other: Expr | bool, /) -> Expr: ...
        def __rand__(self, other: bool, /) -> Expr: ...
        def __or__(self, other: Expr | bool, /) -> Expr: ...
        def __ror__(self, other: bool, /) -> Expr: ...
    else:
        __neg__ = BUILD["neg"]
        __abs__ = BUILD["abs"]
        __invert__ = BUILD["not"]
        __add__ = BUILD["add"]
        __radd__ = _reflected("add")
        __sub__ = BUILD["sub"]
        __rsub__ = _reflected("sub")
        __mul__ = BUILD["mul"]
        __rmul__ = _reflected("mul")
        __truediv__ = BUILD["div"]
        __rtruediv__ = _reflected("div")
        __pow__ = BUILD["power"]
        __rpow__ = _reflected("power")
        __lt__ = BUILD["less"]
        __gt__ = _reflected("less")
        __le__ = BUILD["less_equal"]
        __ge__ = _reflected("less_equal")
        __and__ = BUILD["and"]
        __rand__ = _reflected("and")
        __or__ = BUILD["or"]
        __ror__ = _reflected("or")

    # NumPy's loops over object arrays look for functions under its own names.
    sqrt = BUILD["sqrt"]
    exp = BUILD["exp"]
    log = BUILD["log"]
    hypot = BUILD["hypot"]
    sin = BUILD["sin"]
    cos = BUILD["cos"]
    tan = BUILD["tan"]
    arcsin = BUILD["asin"]
    arccos = BUILD["acos"]
    arctan2 = BUILD["atan2"]
    sinh = BUILD["sinh"]
    cosh = BUILD["cosh"]
    tanh = BUILD["tanh"]


@contextmanager
def comparing() -> Iterator[list[tuple[Expr, Any]]]:
    """Notes expressions that code outside of this package compares by `==`: `t == 0.5` is False
    whatever t will be.
    """
    noted: list[tuple[Expr, Any]] = []
    token = _comparisons.set(noted)
    try:
        yield noted
    finally:
        _comparisons.reset(token)


def pack(nodes: list[Expr]) -> tuple[list[tuple], list[int]]:
    """A flat program that rebuilds the nodes: (op, argument or indices of earlier lines), and their
    indices.

    Holders of many nodes pickle the program of all of them at once, so that what they share is
    stored once.
    """
    order = topological(nodes)
    index = {node: i for i, node in enumerate(order)}
    lines = [
        (node.op, *(node.args if node.op in LEAVES else [index[arg] for arg in node.args]))
        for node in order
    ]
    return lines, [index[node] for node in nodes]


def unpack(program: tuple[list[tuple], list[int]], graph: Graph | None = None) -> list[Any]:
    """The nodes of a program of `pack`, in the graph or the current graph."""
    graph = current_graph() if graph is None else graph
    lines, wanted = program
    built: list[Any] = []
    for op, *args in lines:
        if op in ("exact", "float"):
            built.append(constant(args[0], graph))
        elif op == "symbol":
            built.append(symbol(args[0], graph))
        else:
            built.append(BUILD[op](*[built[i] for i in args]))
    return [built[i] for i in wanted]


def _unpickle(program: tuple[list[tuple], list[int]]) -> Any:
    return unpack(program)[0]


@overload
def import_nodes(expressions: Expr, graph: Graph | None = None) -> Expr: ...
@overload
def import_nodes(
    expressions: np.ndarray[Any, Any] | Sequence[Any], graph: Graph | None = None
) -> Nodes: ...
def import_nodes(expressions: Any, graph: Graph | None = None) -> Any:
    """The same expressions, a node or a nested list or array of nodes, in another graph (default:
    the current).

    Examples
    --------
    >>> import dalembert as da
    >>> with da.Graph("theirs"):
    ...     x = da.symbol("x")
    >>> with da.Graph("mine"):
    ...     da.import_nodes(x + 1) + da.symbol("y")
    1 + x + y
    """
    array = np.array(expressions, dtype=object)
    nodes = [node for node in array.flat if type(node) is Expr]
    copies = iter(unpack(pack(nodes), graph))
    return object_array(
        [next(copies) if type(item) is Expr else item for item in array.flat], array.shape
    )


def object_array(entries: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """The entries as an array of this shape; the entry itself for shape ()."""
    result = np.empty(len(entries), dtype=object)
    result[:] = entries
    return result.reshape(shape)[()]
