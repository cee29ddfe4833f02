"""Closed forms as Python source and as SymPy expressions."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dalembert.equations.forms import Call, Cosine, Name, Sum, Term, angle_sum
from dalembert.equations.printing import RELATIONS
from dalembert.errors import DalembertError
from dalembert.expr import Expr, topological
from dalembert.expr.identifiers import safe_identifiers

WIDTH = 118
PYTHON = {"select": "({1} if {0} else {2})", "sign": "(({0} > 0) - ({0} < 0))", "not": "(not {})", "power": "({})**({})",
          **{op: f"({{}} {mark} {{}})" for op, mark in RELATIONS.items()}, "equal": "({} == {})"}


class PythonWriter:
    """Forms as Python text; names as identifiers, cosines and sines as variables."""

    def __init__(self, eom: Any):
        self.eom = eom
        names = [*eom.coordinates, *eom.velocities, *eom.accelerations, *eom.symbols]
        self.identifiers = safe_identifiers(dict.fromkeys(names))
        self._taken = {x.lower() for x in self.identifiers.values()}
        self.cosines: dict[Cosine, str] = {}
        self.used: dict[str, None] = {}

    def sum(self, form: Sum) -> str:
        """A form as an expression."""
        text = " ".join(("- " if t.number < 0 else "+ ") + self.term(t) for t in form.terms) or "0"
        return text[2:] if text.startswith("+ ") else "-" + text[2:] if text.startswith("- ") else text

    def term(self, term: Term) -> str:
        """A term without its sign."""
        size = abs(term.number)
        over = [self.factor(f, e) for f, e in term.factors if e > 0]
        under = [self.factor(f, -e) for f, e in term.factors if e < 0]
        if isinstance(size, Fraction):
            numerator, denominator = size.as_integer_ratio()
            over, under = [str(numerator), *over] if numerator != 1 or not over else over, [str(denominator), *under]
        elif size != 1 or not over:
            over = [repr(size), *over]
        return "*".join(over) + "".join(f"/{x}" for x in under)

    def factor(self, factor: Any, power: int) -> str:
        """A power of a factor."""
        text = self.atom(factor)
        return text if power == 1 else f"{text}**{power}"

    def atom(self, factor: Any) -> str:
        """A factor; names in it count as used."""
        if isinstance(factor, Name):
            self.used[factor.name] = None
            return self.identifiers.get(factor.name, factor.name.replace(":", "_"))
        if isinstance(factor, Sum):
            return f"({self.sum(factor)})"
        if isinstance(factor, Cosine):
            self.sum(angle_sum(factor.angle))                                # the names in it are used
            if factor not in self.cosines:
                parts = [("" if k == 1 else f"{k}x".replace("-", "m")) + (
                    self.identifiers.get(x, x).removeprefix("q") if isinstance(x, str) else "") for x, k in factor.angle]
                name = factor.kind + "_".join(parts)
                while name.lower() in self._taken or len(name) < 2:
                    name += "_"
                self._taken.add(name.lower())
                self.cosines[factor] = name
            return self.cosines[factor]
        assert isinstance(factor, Call)
        args = [self.sum(a) for a in factor.args]
        return PYTHON[factor.op].format(*args) if factor.op in PYTHON else f"{factor.op}({', '.join(args)})"


def python(eom: Any, quantities: Sequence[str]) -> str:
    """One function per quantity: vectors in, nested lists out; symbols as keywords with the mechanism's numbers."""
    functions = [_function(eom, name) for name in quantities]
    head = f'"""Equations of motion of {eom.name!r}, written by dalembert."""\n\n'.replace("\\", "\\\\")
    return head + "from math import *\n\n\n" + "\n\n".join(functions)


def _function(eom: Any, quantity: str) -> str:
    writer = PythonWriter(eom)
    sheet = eom.sheet(quantity)
    parts = [(name, form) for name, form in (*eom._desk.names_of_groups(), *sheet.parts)]
    entries = np.empty(sheet.forms.shape, dtype=object)
    for at in np.ndindex(sheet.forms.shape):
        entries[at] = writer.sum(sheet.forms[at])
    needed, lines = set(writer.used), []
    for name, form in reversed(parts):
        if name in needed:
            lines.append(f"{writer.atom(Name(name))} = {writer.sum(form)}")
            needed |= set(writer.used)
    body = lines[::-1]
    vectors = (eom.coordinates, eom.velocities, eom.accelerations)
    groups = [(names, [n for n in names if n in writer.used]) for names in vectors]
    arguments = [label for label, (_, used) in zip(("q", "qd", "qdd"), groups, strict=True) if used or label == "q"]
    unpack = [f"{', '.join(writer.identifiers[n] for n in names)}, = {label}" for label, (names, used) in
              zip(("q", "qd", "qdd"), groups, strict=True) if used]
    inner = {name for name, _ in parts} | {n for names, _ in groups for n in names}
    keywords = [writer.identifiers[n] + _default(eom, n) for n in eom.symbols if n in writer.used and n not in inner]
    trig = [f"{name} = {'cos' if c.kind == 'c' else 'sin'}({_angle(c, writer)})" for c, name in writer.cosines.items()]
    lines = [*unpack, *trig, *body, f"return {_nested(entries)}"]
    signature = ", ".join([*arguments, *(["*", *keywords] if keywords else [])])
    wrapped = [_wrapped(line, "    ") if line.startswith("return") else f"    {line}" for line in lines]
    return "\n".join([_wrapped(f"def {quantity}({signature}):", ""), *wrapped]) + "\n"


def _wrapped(line: str, indent: str) -> str:
    return "\n".join(textwrap.wrap(line, WIDTH, initial_indent=indent, subsequent_indent="        ", break_long_words=False,
                                   break_on_hyphens=False))


def _default(eom: Any, name: str) -> str:
    value = eom.values.get(name)
    return "" if value is None else f"={float(value)!r}"


def _angle(c: Cosine, writer: PythonWriter) -> str:
    return writer.sum(angle_sum(c.angle))


def _nested(entries: np.ndarray) -> str:
    if entries.ndim == 0:
        return f"({entries[()]})"
    return "[" + ", ".join(_nested(x) if isinstance(x, np.ndarray) else str(x) for x in entries) + "]"


# --- SymPy -----------------------------------------------------------------------------------------------------------

def sympy_of(expressions: Any) -> Any:
    """An expression, or an array of them as Matrix (of one or two axes) or Array; exact numbers stay exact."""
    try:
        import sympy
    except ImportError:
        raise DalembertError("to_sympy needs SymPy: pip install sympy.") from None
    array = np.array(expressions, dtype=object)
    made: dict[Any, Any] = {}
    for node in topological([x for x in array.flat if isinstance(x, Expr)]):
        made[node] = _sympy_node(sympy, node, made)
    entries = [made[x] if isinstance(x, Expr) else sympy.sympify(x) for x in array.flat]
    if array.ndim == 0:
        return entries[0]
    return sympy.Matrix(*array.shape, entries) if array.ndim == 2 else (
        sympy.Matrix(entries) if array.ndim == 1 else sympy.Array(entries, array.shape))


def _sympy_node(sympy: Any, node: Expr, made: dict[Any, Any]) -> Any:
    if node.op == "exact":
        return sympy.Rational(*node.value.as_integer_ratio())
    if node.op == "float":
        return sympy.Float(node.value, 17)
    if node.op == "symbol":
        return sympy.Symbol(node.name, real=True)
    args = [made[a] for a in node.args]
    infix = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
             "neg": lambda a: -a, "power": lambda a, b: a**b, "hypot": lambda a, b: sympy.sqrt(a * a + b * b),
             "select": lambda c, a, b: sympy.Piecewise((a, c), (b, True)), "less": sympy.Lt, "less_equal": sympy.Le,
             "equal": sympy.Eq, "and": sympy.And, "or": sympy.Or, "not": sympy.Not}
    names = {"abs": "Abs", "min": "Min", "max": "Max"}
    function = infix.get(node.op) or getattr(sympy, names.get(node.op, node.op))
    return function(*args)
