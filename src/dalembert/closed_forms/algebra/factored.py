"""Large expressions as short lines: parts that are repeated or long get names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dalembert.closed_forms.algebra.fingerprints import Fingerprints
from dalembert.closed_forms.algebra.ring import plain
from dalembert.closed_forms.algebra.sharing import (
    LINE,
    NAME,
    PatternTable,
    Reference,
    in_order,
    width,
)
from dalembert.closed_forms.algebra.sums import (
    Call,
    Cosine,
    Name,
    Sum,
    Term,
    content,
    factors_in,
    names_in,
    opposite,
    sole_factor,
)
from dalembert.expr import Expr

SHORT = 3  # factors of a shared expression that is written out each time
LEAVES = ("exact", "float", "symbol")
LONG = 12  # factors of an expression that becomes a part of its own although it occurs once
WIDEST = 100  # characters of a sum in which no sum is written out that could have a name
DRAFT = "\ue001"  # begins names that are not final


class Parts:
    """Named parts of expressions in factored form.

    What occurs more than once, or is long, is a part; so are the sums that several sums have in
    common, where that shortens the print. A part is used again for whatever equals it up to its
    sign, also when further expressions come.

    definitions: name -> form in terms of earlier parts, in the order of their use.
    """

    def __init__(self, prefix: str, coordinates: Iterable[str], first: int = 1):
        self.prefix, self.angles, self.first = prefix, set(coordinates), first
        self.definitions: dict[str, Sum] = {}
        self._count = 0  # of names with the prefix
        self._fingerprints = Fingerprints()
        self._named: dict[
            int, Sum
        ] = {}  # fingerprint up to sign -> form with a name, of the positive

    def forms(self, outputs: Sequence[Any], labels: Mapping[int, str] | None = None) -> list[Sum]:
        """Forms of expressions and numbers in terms of the parts.

        labels: places of outputs -> names that these have anyway, first those to be used: an output
        that is a part of others has no other name.
        """
        drafts = _Drafts(self._named, self._fingerprints, self.angles)
        found = drafts.forms(outputs)
        sheet = _Written(self, drafts.definitions, found, labels or {})
        for key, form in drafts.named.items():
            if (name := sheet.named(form)) is not None:
                self._named[key] = name
        for k, label in (labels or {}).items():
            if isinstance(outputs[k], Expr) and label in self.definitions:
                key, sign = self._fingerprints.key(outputs[k]), self._fingerprints.sign(outputs[k])
                self._named.setdefault(key, Sum((Term(sign, ((Name(label), 1),)),)))
        return sheet.outputs

    def new_name(self) -> str:
        """A name for a part."""
        self._count += 1
        return f"{self.prefix}{self.first + self._count - 1}"

    def needed(self, forms: Iterable[Sum]) -> dict[str, Sum]:
        """Definitions of the parts in forms, and of the parts in these."""
        names = {name for form in forms for name in names_in(form)}
        found: dict[str, Sum] = {}
        for name, form in reversed(self.definitions.items()):  # a part needs earlier parts alone
            if name in names:
                found[name] = form
                names.update(names_in(form))
        return dict(reversed(found.items()))


class _Drafts:
    """Forms of expressions in which each function that occurs more than once, or is long, has a
    draft name.

    named: fingerprint up to sign -> form with a name, of the positive; definitions: draft name ->
    form.
    """

    def __init__(self, known: Mapping[int, Sum], fingerprints: Fingerprints, angles: set[str]):
        self.known, self.fingerprints, self.angles = known, fingerprints, angles
        self.definitions: dict[str, Sum] = {}
        self.named: dict[int, Sum] = {}

    def forms(self, outputs: Sequence[Any]) -> list[Sum]:
        """Forms in terms of names that are known, and of draft names."""
        wanted = dict.fromkeys(x for x in outputs if isinstance(x, Expr))
        chosen, uses = self._chosen(wanted)
        last = {self.fingerprints.key(x) for x in wanted}
        forms: dict[int, Sum] = {}

        def of(node: Expr) -> Sum:
            """Form of a node, with its sign."""
            form = forms[self.fingerprints.key(node)]
            return form if self.fingerprints.sign(node) > 0 else opposite(form)

        for node in chosen:
            key, sign = self.fingerprints.key(node), self.fingerprints.sign(node)
            if key in self.known:
                forms[key] = self.known[key]
                continue
            form = _form(node, of, self.angles) if key else _number(0)
            size = factors_in(form)
            if uses[key] > 1 and size > SHORT or size > LONG and key not in last:
                name = f"{DRAFT}{len(self.definitions)}"
                self.definitions[name], form = form, Sum((Term(1, ((Name(name), 1),)),))
                self.named[key] = form if sign > 0 else opposite(form)
            forms[key] = form if sign > 0 else opposite(form)
        return [of(x) if isinstance(x, Expr) else _number(x) for x in outputs]

    def _chosen(self, wanted: Iterable[Expr]) -> tuple[list[Expr], Counter[int]]:
        """The first of all nodes that are equal up to sign, where it is needed, and how often it
        is.
        """
        first: dict[int, Expr] = {}
        for node in self.fingerprints.add(wanted):
            first.setdefault(self.fingerprints.key(node), node)
        keys = [self.fingerprints.key(x) for x in wanted]
        uses = Counter(keys)
        needed, stack = set(keys), list(dict.fromkeys(keys))
        while stack:
            key = stack.pop()
            node = first[key]
            if not key or node.op in LEAVES or key in self.known:
                continue
            for arg in node.args:
                inner = self.fingerprints.key(arg)
                uses[inner] += 1
                if inner not in needed:
                    needed.add(inner)
                    stack.append(inner)
        return [node for key, node in first.items() if key in needed], uses


class _Written:
    """Drafts as they are printed: common sums found, and what is short, or used once, written out
    where it stands.

    outputs: their forms; `parts` has the new definitions.
    """

    def __init__(
        self,
        parts: Parts,
        drafts: Mapping[str, Sum],
        outputs: Sequence[Sum],
        labels: Mapping[int, str],
    ):
        self.parts, self.table = parts, PatternTable()
        self._rows: dict[str, Term] = {}  # draft name -> its row, with a sign
        self._forms: dict[int, Sum] = {}
        self._names: dict[int, Term] = {}  # row -> its name, with a sign
        old = {
            self.table.add(form, {}).factors[0][0].number: name
            for name, form in parts.definitions.items()
        }
        for name, form in drafts.items():
            self._rows[name] = self.table.add(form, self._rows)
        roots = [self.table.alias(form, self._rows) for form in outputs]
        self.table.share(old)
        self._names |= {k: Term(1, ((Name(name), 1),)) for k, name in old.items()}
        roots = [self.table.resolved(root) for root in roots]
        labelled: dict[int, Term] = {}
        for k, label in labels.items():
            row = roots[k].factors
            if row and row[0][0].number not in self._names:
                labelled.setdefault(row[0][0].number, Term(roots[k].number, ((Name(label), 1),)))
        order, uses = self.table.used(roots, self._names)
        uses.update(
            root.factors[0][0].number
            for k, root in enumerate(roots)
            if k not in labels and root.factors
        )
        for k in order:
            self._write(k, uses[k], labelled.get(k))
        self.outputs = [self._output(root, k in labels) for k, root in enumerate(roots)]

    def _write(self, k: int, uses: int, label: Term | None) -> None:
        """The form of a row, and its name if it gets one."""
        form = self._forms[k] = self._fitted(k)
        size, several = width(form.terms), len(form.terms) > 1
        if label is not None:
            if size > NAME and factors_in(form) > 1:
                self._define(k, label)
                if not uses:
                    del self._names[k]
            return
        spared = uses * (size + 2 * several - NAME) - size - NAME - LINE - len(" = ")
        if uses > 1 and spared > 0 or factors_in(form) > LONG:
            self._define(k)

    def _define(self, k: int, label: Term | None = None) -> None:
        """Give a row a name, with its sign; a name of ours where it has no label."""
        form = self._forms[k]
        sign = label.number if label else -1 if form.terms[0].number < 0 else 1
        name = label.factors[0][0] if label else Name(self.parts.new_name())
        self.parts.definitions[name.name] = form if sign > 0 else opposite(form)
        self._names[k] = Term(sign, ((name, 1),))

    def _fitted(self, k: int) -> Sum:
        """The form of a row; where it is too wide for a line, sums in it get names, the widest
        first.
        """
        inner = {
            f.number for t in self.table.rows[k] for f, _ in t.factors if isinstance(f, Reference)
        }
        form = _collected(self._expanded(self.table.rows[k]))
        while width(form.terms) > WIDEST:
            sums = [x for x in inner if x not in self._names and len(self._forms[x].terms) > 1]
            if not sums:
                break
            self._define(max(sums, key=lambda x: (width(self._forms[x].terms), -x)))
            form = _collected(self._expanded(self.table.rows[k]))
        return form

    def _expanded(self, terms: Iterable[Term]) -> Iterator[Term]:
        """Terms with names or forms in place of rows."""
        for number, factors in terms:
            product = Term(number, ())
            for factor, e in factors:
                inner = (
                    Term(1, ((factor, 1),))
                    if not isinstance(factor, Reference)
                    else (self._names.get(factor.number) or _as_term(self._forms[factor.number]))
                )
                product = _product(product, inner, e)
            sole = sole_factor(Sum((product._replace(number=1),)))
            if isinstance(sole, Sum) and product.number in (1, -1):
                yield from (t._replace(number=t.number * product.number) for t in sole.terms)
            elif product.number:
                yield product

    def _output(self, root: Term, has_label: bool) -> Sum:
        """The form of an output: of one with a label in full."""
        if not root.factors:
            return Sum(())
        row = root.factors[0][0].number
        name = self._names.get(row)
        form = (
            Sum((name,))
            if name is not None and not (has_label and row in self._forms)
            else self._forms[row]
        )
        return form if root.number > 0 else opposite(form)

    def named(self, draft: Sum) -> Sum | None:
        """The name that a draft name, with a sign, has got."""
        ((number, ((name, _),)),) = draft.terms
        row = self.table.resolved(self._rows[name.name])
        final = self._names.get(row.factors[0][0].number) if row.factors else None
        return (
            None
            if final is None
            else Sum((final._replace(number=final.number * row.number * number),))
        )


def factored(
    outputs: Sequence[Any], prefix: str, coordinates: Iterable[str], first: int = 1
) -> tuple[dict[str, Sum], list[Sum]]:
    """Named parts in the order of their use, and the forms of some expressions and numbers in terms
    of them.
    """
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
                twin = in_order((other if f == factor else f, e) for f, e in factors)
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
    product = _product(a, b, 1)
    return Sum((product,)) if product.number else Sum(())


def _product(a: Term, b: Term, power: int) -> Term:
    """a times a power of b."""
    number = (
        b.number
        if power == 1
        else b.number**power
        if power > 0
        else plain(Fraction(b.number) ** power)
    )
    return Term(a.number * number, in_order((*a.factors, *((f, e * power) for f, e in b.factors))))


def _angle(form: Sum, angles: set[str]) -> tuple[tuple[str, int], ...] | None:
    """A sum of coordinates with whole factors, else None."""
    found = [
        (f.name, t.number)
        for t in form.terms
        for f, e in t.factors
        if isinstance(f, Name) and f.name in angles and e == 1 and isinstance(t.number, int)
    ]
    whole = len(found) == len(form.terms) == sum(len(t.factors) for t in form.terms)
    return tuple(sorted(found, key=lambda x: (len(x[0]), x[0]))) if found and whole else None
