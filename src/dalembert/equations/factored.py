"""Large expressions as short lines: what occurs more than once, or is long, becomes a named part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dalembert.equations.chain import Angle
from dalembert.equations.fingerprints import Fingerprints
from dalembert.equations.forms import Call, Cosine, Name, Sum, Term, content, factors_in, names_in, opposite
from dalembert.expr import Expr, Graph, cos, sin, symbol

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


class Parts:
    """Named parts of expressions in factored form.

    What occurs more than once, or is long, is a part; a part is used again for whatever equals it up to its sign, also
    when further expressions come.

    definitions: name -> form in terms of earlier parts, in the order of their use.
    """

    def __init__(self, prefix: str, coordinates: Iterable[str], first: int = 1):
        self.prefix, self.angles, self.first = prefix, set(coordinates), first
        self.definitions: dict[str, Sum] = {}
        self._fingerprints = Fingerprints()
        self._named: dict[int, Sum] = {}                       # fingerprint up to sign -> form with a name, of the positive

    def forms(self, outputs: Sequence[Any]) -> list[Sum]:
        """Forms of expressions and numbers in terms of the parts."""
        wanted = dict.fromkeys(x for x in outputs if isinstance(x, Expr))
        chosen, uses = self._chosen(wanted)
        last = {self._fingerprints.key(x) for x in wanted}
        forms: dict[int, Sum] = {}

        def of(node: Expr) -> Sum:
            form = forms[self._fingerprints.key(node)]
            return form if self._fingerprints.sign(node) > 0 else opposite(form)

        for node in chosen:
            key, sign = self._fingerprints.key(node), self._fingerprints.sign(node)
            if key in self._named:
                forms[key] = self._named[key]
                continue
            form = _form(node, of, self.angles) if key else _number(0)
            size = factors_in(form)
            if uses[key] > 1 and size > SHORT or size > LONG and key not in last:
                form = self._name(form)
                self._named[key] = form if sign > 0 else opposite(form)
            forms[key] = form if sign > 0 else opposite(form)
        return [of(x) if isinstance(x, Expr) else _number(x) for x in outputs]

    def _chosen(self, wanted: Iterable[Expr]) -> tuple[list[Expr], Counter[int]]:
        """Of all nodes that are equal up to sign the first, where it is needed, and how often it is."""
        first: dict[int, Expr] = {}
        for node in self._fingerprints.add(wanted):
            first.setdefault(self._fingerprints.key(node), node)
        keys = [self._fingerprints.key(x) for x in wanted]
        uses = Counter(keys)
        needed, stack = set(keys), list(dict.fromkeys(keys))
        while stack:
            key = stack.pop()
            node = first[key]
            if not key or node.op in LEAVES or key in self._named:
                continue
            for arg in node.args:
                inner = self._fingerprints.key(arg)
                uses[inner] += 1
                if inner not in needed:
                    needed.add(inner)
                    stack.append(inner)
        return [node for key, node in first.items() if key in needed], uses

    def _name(self, form: Sum) -> Sum:
        """A new part for a form: its name, with a sign where the part begins with a negative term."""
        number, factors, rest = content(form.terms) if len(form.terms) > 1 else (1, (), form.terms)
        turned = number == -1 and not factors                              # the sign stays outside
        name = f"{self.prefix}{self.first + len(self.definitions)}"
        self.definitions[name] = Sum(rest) if turned else form
        return Sum((Term(-1 if turned else 1, ((Name(name), 1),)),))

    def needed(self, forms: Iterable[Sum]) -> dict[str, Sum]:
        """Definitions of the parts in forms, and of the parts in these."""
        names = {name for form in forms for name in names_in(form)}
        found: dict[str, Sum] = {}
        for name, form in reversed(self.definitions.items()):              # a part needs earlier parts alone
            if name in names:
                found[name] = form
                names.update(names_in(form))
        return dict(reversed(found.items()))


def factored(outputs: Sequence[Any], prefix: str, coordinates: Iterable[str],
             first: int = 1) -> tuple[dict[str, Sum], list[Sum]]:
    """Named parts in the order of their use, and the forms of some expressions and numbers in terms of them."""
    parts = Parts(prefix, coordinates, first)
    forms = parts.forms(outputs)
    return parts.definitions, forms


def _number(x: Any) -> Sum:
    return Sum((Term(x, ()),)) if x else Sum(())


def _form(node: Expr, of: Callable[[Expr], Sum], angles: set[str]) -> Sum:
    """The form of a node from those of its operands."""
    op = node.op
    if op in ("exact", "float"):
        return _number(node.value)
    if op == "symbol":
        return Sum((Term(1, ((Name(node.name), 1),)),))
    args = [of(a) for a in node.args]
    if op == "add":
        return _collected(args[0].terms + args[1].terms)
    if op == "sub":
        return _collected(args[0].terms + opposite(args[1]).terms)
    if op == "neg":
        return opposite(args[0])
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


def _as_term(form: Sum) -> Term:
    """A form as one term: itself, or in parentheses."""
    if len(form.terms) == 1:
        return form.terms[0]
    if not form.terms:
        return Term(0, ())
    number, factors, rest = content(form.terms)
    return Term(number, (*factors, (Sum(rest), 1)))


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
