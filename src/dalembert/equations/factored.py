"""Large expressions as short lines: what occurs more than once, or is long, becomes a named part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dalembert.equations.chain import Angle
from dalembert.equations.forms import Call, Cosine, Name, Sum, Term, content, factors_in
from dalembert.expr import Expr, Graph, cos, sin, symbol, topological

SHORT = 3          # factors of a shared expression that is written out each time
LEAVES = ("exact", "float", "symbol")
LONG = 12          # factors of an expression that becomes a part of its own although it occurs once


class Expressions:
    """The algebra of expression graphs: what a chain is written in when closed forms are too long."""

    def __init__(self, graph: Graph, coordinates: Sequence[str]):
        self.q = [symbol(name, graph) for name in coordinates]

    def scalar(self, x: Any) -> Any:
        return x

    def coordinate(self, k: int) -> Expr:
        return self.q[k]

    def cos_sin(self, angle: Angle) -> tuple[Any, Any]:
        total: Any = 0
        for k, factor in angle:
            total = total + (self.q[k] if factor == 1 else self.q[k] * factor)
        return cos(total), sin(total)

    def quaternion(self, k: int) -> list[Expr]:
        return self.q[k:k + 4]


def factored(outputs: Sequence[Any], prefix: str, coordinates: Iterable[str],
             first: int = 1) -> tuple[dict[str, Sum], list[Sum]]:
    """Named parts in the order of their use, and the forms of some expressions and numbers in terms of them."""
    angles = set(coordinates)
    wanted = dict.fromkeys(x for x in outputs if isinstance(x, Expr))
    order = topological(wanted)
    uses = _uses(order, wanted)
    last = {*wanted, *(x.args[0] for x in wanted if x.op == "neg")}
    parts: dict[str, Sum] = {}
    forms: dict[Any, Sum] = {}
    for node in order:
        form = _form(node, forms, angles)
        size = factors_in(form)
        if uses[node] > 1 and size > SHORT or size > LONG and node not in last:
            number, factors, rest = content(form.terms) if len(form.terms) > 1 else (1, (), form.terms)
            inner = Sum(rest) if number == -1 and not factors else form       # the sign stays outside
            name = f"{prefix}{first + len(parts)}"
            parts[name] = inner
            form = Sum((Term(-1 if inner is not form else 1, ((Name(name), 1),)),))
        forms[node] = form
    return parts, [forms[x] if isinstance(x, Expr) else _number(x) for x in outputs]


def _uses(order: Sequence[Expr], wanted: Iterable[Expr]) -> Counter[Expr]:
    """How often each node is an operand or a result."""
    return Counter(arg for node in order if node.op not in LEAVES for arg in node.args) + Counter([*wanted])


def _number(x: Any) -> Sum:
    return Sum((Term(x, ()),)) if x else Sum(())


def _form(node: Expr, forms: Mapping[Any, Sum], angles: set[str]) -> Sum:
    """The form of a node from those of its operands."""
    op = node.op
    if op in ("exact", "float"):
        return _number(node.value)
    if op == "symbol":
        return Sum((Term(1, ((Name(node.name), 1),)),))
    args = [forms[a] for a in node.args]
    if op == "add":
        return _collected(args[0].terms + args[1].terms)
    if op == "sub":
        return _collected(args[0].terms + _negative(args[1]).terms)
    if op == "neg":
        return _negative(args[0])
    if op == "mul":
        return _multiplied(_as_term(args[0]), _as_term(args[1]))
    if op == "div":
        number, factors = _as_term(args[1])
        inverse = 1 / number if number != 1 else 1
        return _multiplied(_as_term(args[0]), Term(inverse, tuple((f, -e) for f, e in factors)))
    if op == "power" and node.args[1].op == "exact" and isinstance(node.args[1].value, int):
        number, factors = _as_term(args[0])
        e = node.args[1].value
        return Sum((Term(number**e, tuple((f, k * e) for f, k in factors)),))
    if op in ("cos", "sin"):
        angle = _angle(args[0], angles)
        if angle is not None:
            sign = -1 if op == "sin" and angle[0][1] < 0 else 1
            turned = tuple((n, k * (-1 if angle[0][1] < 0 else 1)) for n, k in angle)
            return Sum((Term(sign, ((Cosine(op[0], turned), 1),)),))
    return Sum((Term(1, ((Call(op, tuple(args)), 1),)),))


def _collected(terms: Iterable[Term]) -> Sum:
    """Sum with equal terms added up, and x c^2 + x s^2 = x."""
    found: dict[Any, Any] = {}
    work = [(t.factors, t.number) for t in terms][::-1]
    while work:
        factors, number = work.pop()
        number = number + found.pop(factors, 0)
        if not number:
            continue
        for factor, power in factors:
            if isinstance(factor, Cosine) and power == 2:
                other = Cosine("s" if factor.kind == "c" else "c", factor.angle)
                twin = tuple(sorted(((other if f == factor else f, e) for f, e in factors), key=lambda x: _kind(x[0])))
                if found.get(twin) == number:
                    del found[twin]
                    work.append((tuple((f, e) for f, e in factors if f != factor), number))
                    break
        else:
            found[factors] = number
    return Sum(tuple(Term(number, factors) for factors, number in found.items()))


def _negative(form: Sum) -> Sum:
    return Sum(tuple(Term(-t.number, t.factors) for t in form.terms))


def _as_term(form: Sum) -> Term:
    """A form as one term: itself, or in parentheses."""
    if len(form.terms) == 1:
        return form.terms[0]
    if not form.terms:
        return Term(0, ())
    if form.terms[0].number < 0:
        return Term(-1, ((_negative(form), 1),))
    return Term(1, ((form, 1),))


def _multiplied(a: Term, b: Term) -> Sum:
    powers = dict(a.factors)
    for f, e in b.factors:
        powers[f] = powers.get(f, 0) + e
    number = a.number * b.number
    factors = sorted(((f, e) for f, e in powers.items() if e), key=lambda x: _kind(x[0]))
    return Sum((Term(number, tuple(factors)),)) if number else Sum(())


def _kind(factor: Any) -> Any:
    """Names, then sums, functions, cosines."""
    if isinstance(factor, Name):
        return 0, factor.name[:1].islower(), len(factor.name), factor.name
    if isinstance(factor, Call) and factor.op == "sqrt" and not factor.args[0].terms[0].factors:
        return (-1, str(factor.args[0].terms[0].number))                    # the root of a number stays with numbers
    return (1,) if isinstance(factor, Sum) else (3, str(factor.angle), factor.kind) if isinstance(factor, Cosine) else (2,)


def _angle(form: Sum, angles: set[str]) -> tuple[tuple[str, int], ...] | None:
    """A sum of coordinates with whole factors, else None."""
    found = [(f.name, t.number) for t in form.terms for f, e in t.factors
             if isinstance(f, Name) and f.name in angles and e == 1 and isinstance(t.number, int)]
    whole = len(found) == len(form.terms) == sum(len(t.factors) for t in form.terms)
    return tuple(sorted(found, key=lambda x: (len(x[0]), x[0]))) if found and whole else None
